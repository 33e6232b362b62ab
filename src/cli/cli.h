/* cli.h: what the files of the tool share.
 *
 * The tool is an ordinary client of include/stcvm.h: it parses a command line,
 * calls the library, prints. Results go to standard output, all else to
 * standard error. Every command returns the exit status: STATUS_OK,
 * STATUS_FAULT for a fault in program or data, STATUS_USAGE only for what the
 * command line alone shows to be wrong. Memory of the tool's own comes from
 * the C library; running out of it ends the tool with STATUS_FAULT.
 */
#ifndef STCVM_CLI_H
#define STCVM_CLI_H

#include <stcvm.h>
#include <stdarg.h>

enum { STATUS_OK = 0, STATUS_FAULT = 1, STATUS_USAGE = 2 };

/* ---- the command line (options.c) --------------------------------------- */

typedef struct options {
    int threads;         /* 0: not given                                      */
    int repeat;          /* >= 1                                              */
    uint64_t max_memory; /* bytes; 0: no cap                                  */
    uint64_t max_steps;  /* 0: no limit                                       */
    const char *spill;   /* argv's, or NULL                                   */
    bool time, profile, no_super, quiet, no_files, deterministic, as_written, run, trust;
} options;

/* A command line taken apart. Strings are argv's own. */
typedef struct args {
    options opt;
    const char *command; /* the first operand; NULL: none                     */
    const char **operand;
    int operands; /* those after the command                                  */
    const char **out;
    int outs; /* the values of -o, as given                          */
    const char **like;
    int likes;         /* the values of --like                                */
    const char *stage; /* of --stage, or NULL                                 */
    bool help, version;
} args;

/* Fills *a (freed by args_free) or says on standard error what is wrong. */
int args_parse(int argc, char **argv, args *a);
void args_free(args *a);
/* Says what is wrong with the command line, and returns STATUS_USAGE. */
__attribute__((format(printf, 1, 2))) int usage_error(const char *format, ...);
/* One of names (NULL at the end) that is close to word, or NULL. */
const char *near_name(const char *word, const char *const *names);

/* ---- one run of the tool (report.c, progress.c, signals.c) --------------- */

typedef struct progress {
    bool on;    /* standard error is a terminal                        */
    bool shown; /* a line is on the screen                             */
    const char *what;
    double since, last; /* seconds: when `what` began, when last drawn         */
    uint64_t done;
} progress;

typedef struct cli {
    options opt;
    stc_machine *machine;
    const char *subject; /* FILE of messages that have none of their own       */
    progress progress;
} cli;

/* Opens the machine as the options want it, and routes Ctrl-C to it. */
int cli_open(cli *c, const options *opt, const char *subject);
int cli_close(cli *c, int status);
/* What was printed, to standard output; STATUS_FAULT if it couldn't be written. */
int output_flush(int status);

/* The machine's last failure with its line and a caret; `first` is the number
 * of the line of `stdin` at which the failing text began, 0 where that isn't
 * counted. Returns STATUS_FAULT. */
int report_error(cli *c, int first);
/* What the last call noted; first: as for report_error. */
void report_notes(cli *c, int first);
/* A fault that the tool itself found: `stcvm: FILE: error: …`. */
__attribute__((format(printf, 2, 3))) int report_fault(const char *file, const char *format,
                                                       ...);
/* A line of standard error that may quote anything. */
void print_shown(const char *format, va_list list);
/* How a text is planned, and with --run what came of it; other than STATUS_OK: the library
 * says why not. Runs a program of one statement with the session's tensors. (cmd_build.c)
 */
int print_explained(cli *c, stc_session *s, const char *text, const char *file, FILE *out);
stc_status run_in_session(stc_session *s, stc_program *p);
stc_times program_times(const stc_program *p);
stc_times session_times(const stc_session *s);
void report_times(const stc_times *t); /* the lines of --time                 */

double now_us(void);
void *xrealloc(void *block, size_t size); /* ends the tool when there is none */
char *xstrndup(const char *text, size_t length);
/* The whole of a file as a string; NULL after a message. */
char *read_text(const cli *c, const char *path);
/* "1.5 MB"; out has room for 16. */
const char *format_bytes(uint64_t bytes, char out[16]);
/* "csr f64 [4,4], 7 stored, 128 B", as notes and lists show a tensor. */
void print_summary(const stc_tensor *t, FILE *out);
void print_info(const stc_tensor *t, FILE *out); /* a line each: shape, type, … */
/* More lines: the bytes of the levels, and where the entries are (info.c). */
int print_survey(cli *c, const stc_tensor *t, FILE *out);
/* What is printed between these two goes to a terminal with its lines broken where
 * the window ends, and anywhere else as it is (fold.c). If `pages` is set before the
 * end, and a person is there to press a key, a window is filled at a time. */
typedef struct folding {
    FILE *to;
    bool pages;
    char *text;
    size_t size;
} folding;
FILE *fold_begin(folding *f, FILE *to);
void fold_end(folding *f, FILE *out);
int terminal_columns(int fd);
int terminal_rows(int fd);

int progress_show(void *context, const char *what, uint64_t done, uint64_t total);
void progress_end(progress *p); /* wipes the line, if there is one           */

/* Ctrl-C stops the machine's work between these two; twice ends the tool,
 * unless `keep`. Without a machine, Ctrl-C only ends a waiting read. SIGTERM and
 * SIGHUP stop the work, and the second of these two then ends the tool. */
void signals_open(stc_machine *m, bool keep);
void signals_close(void);
/* Whether Ctrl-C was pressed since the last call. */
bool signals_taken(void);

/* ---- NAME=SOURCE[:FORMAT[:TYPE]][:fill=V] (sources.c) --------------------- */

typedef enum spec_kind {
    SPEC_SOURCE, /* eval: all of it                                           */
    SPEC_FORMAT, /* build, explain: no source                                 */
    SPEC_BOUND,  /* run: a source alone                                       */
} spec_kind;

typedef struct spec {
    char *text; /* the copy that all strings point into                       */
    const char *name;
    stc_source source;
    stc_value fill;
} spec;

/* Parses operand number `first` and all after it; *out is freed by
 * specs_free. STATUS_USAGE after a message. */
int specs_parse(const args *a, int first, spec_kind kind, spec **out, int *count);
/* Whether NAME=… names a file or says what values there are, rather than a format. */
bool spec_has_data(const char *operand);
void specs_free(spec *specs, int count);
/* Parses FORMAT[:TYPE] in place; format and type as stc_tensor_read wants them. */
int spec_format(char *text, const char **format, int *type);
/* A number as in the language, `2`, `-0.5`, `1+2j`, `inf`, `true`. */
bool value_parse(const char *text, stc_value *v, stc_type *type);
/* The same value as an element of another type, if it is one. */
bool value_convert(stc_value *v, stc_type from, stc_type to);
/* Whether a path ends in a type that the library reads (writes), or is `-`; what is said
 * if it isn't. */
bool path_known(const char *path, bool written);
int path_refused(const char *path);
bool name_valid(const char *name, size_t length);

/* -o NAME[=PATH] */
typedef struct output {
    char *name;
    const char *path; /* NULL: print                                          */
} output;
int outputs_parse(const args *a, output **out);
void outputs_free(output *o, int count);

/* ---- the commands ------------------------------------------------------- */

/* name, operands at least and at most (-1: any), takes -o, usage */
#define COMMANDS(C)                                                                        \
    C(eval, 1, -1, true,                                                                   \
      "'STATEMENT; …' NAME=SOURCE[:FORMAT[:TYPE]][:fill=V]… "                          \
      "[-o NAME[=PATH]]…")                                                                 \
    C(build, 1, -1, true,                                                                  \
      "'STATEMENT; …' NAME=FORMAT[:TYPE][:fill=V]… "                                   \
      "[--like NAME=SOURCE]… -o FILE.stb")                                                 \
    C(run, 1, -1, true, "FILE.stb NAME=SOURCE… [-o NAME[=PATH]]…")                         \
    C(dump, 1, 1, false, "FILE.stb")                                                       \
    C(asm, 1, 1, true, "FILE -o FILE.stb")                                                 \
    C(verify, 1, 1, false, "FILE.stb")                                                     \
    C(explain, 1, -1, false,                                                               \
      "'STATEMENT; …' | FILE.stc NAME=FORMAT… | NAME=SOURCE…; FILE.stb "             \
      "[--stage=ast|bound|plan|lattice|code]")                                             \
    C(convert, 2, 3, false, "IN OUT [FORMAT]")                                             \
    C(head, 1, 2, false, "FILE [N]")                                                       \
    C(info, 1, 2, false, "FILE [FORMAT]")                                                  \
    C(spy, 1, 1, true, "FILE [-o PICTURE.pgm]")

#define C(name, least, most, outs, usage) int cmd_##name(cli *c, const args *a);
COMMANDS(C)
#undef C
int cmd_script(cli *c, const args *a); /* the script is a->command          */
int cmd_repl(cli *c, const args *a);

/* Shared by eval and run: writes or prints one result; save gets the time of
 * writing added. */
int output_write(cli *c, const stc_tensor *t, const char *path, double *save);
/* Does that with the operands after the first one and what -o says. */
typedef int operands_job(cli *c, const args *a, const spec *specs, int n, const output *o);
int on_operands(cli *c, const args *a, spec_kind kind, operands_job *job);
/* Writes what a call gave as a text, or its error. */
int put_text(cli *c, stc_status st, char *text, FILE *out);
/* The -o FILE of build and asm: the one there has to be. */
int output_file(const args *a, const char **path);

/* The faults of a line of the REPL: as report_error, for what the tool says. */
int report_info(cli *c, const stc_error_info *e, int first);

/* ---- pictures and help ---------------------------------------------------- */

/* Draws where the stored entries of t are, in braille, at most columns wide and
 * rows high (the frame apart). */
stc_status spy_draw(const stc_tensor *t, int columns, int rows, FILE *out);
/* The same as an image, u8 [h,w] with neither beyond `most`: 0 where entries are,
 * 255 elsewhere. */
stc_status spy_pixels(stc_machine *m, const stc_tensor *t, int most, stc_tensor **out);
/* The text of a topic, what a command does, or the lines that mention a word; NULL:
 * the list of topics. False: nothing mentions it. */
bool help_print(const char *topic, FILE *out);
const char *help_topic(int i); /* NULL past the end                          */

#endif
