/* stcvm.h: evaluate sparse array expressions at once.
 *
 * The one public header. An embedding program opens a machine, makes or
 * borrows tensors, compiles a text into a program, binds tensors to the
 * program's names, and runs it as often as it likes:
 *
 *     stc_machine *m;  stc_open(NULL, &m);
 *     stc_program *p;  stc_compile(m, "y(i) = A(i,j) * x(j)", decls, 2, &p);
 *     stc_bind(p, "A", A);  stc_bind(p, "x", x);
 *     stc_run(p);
 *     const stc_tensor *y;  stc_result(p, "y", &y);
 *
 * Conventions. Every function that can fail returns a stc_status, leaves its
 * outputs untouched on failure, never prints and never exits; stc_error() on
 * the machine then tells where and why, until the machine's next call. Shapes
 * count elements, coordinates count from 0, sizes of memory are bytes. Who
 * creates an object frees it; stc_*_free(NULL) does nothing. A machine and
 * all that belongs to it are used by one thread at a time (stc_interrupt
 * excepted); two machines are independent of each other.
 *
 * Structs that may grow begin with their size, sizeof as the host knows it, so that a
 * library of another age knows which fields there are: fields that the host doesn't know
 * of have their defaults; fields that the library doesn't know of have to be zeros, or the
 * call fails with STC_ERR_ARGUMENT. In what is handed in, zero is the default of each field
 * unless it says otherwise, and a size of 0 is that of the struct in version 0.2, which is
 * right for as long as a host sets no field that came later. In what is handed out
 * the size says, before the call, how much may be written.
 *
 * While a machine is in a call, the host's own code that it calls (functions,
 * level kinds, progress, the allocator) can't make other calls of that machine,
 * its programs, sessions and tensors: those that give a status fail with
 * STC_ERR_ARGUMENT, which stc_error then tells, those that free do nothing, and
 * the call under way goes on unharmed. What only looks (stc_tensor_shape, …) and
 * stc_interrupt may be called; so may everything from the function that
 * stc_tensor_visit calls, except for what changes or frees the tensor visited.
 */
#ifndef STCVM_H
#define STCVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define STC_API __attribute__((visibility("default")))
#else
#define STC_API
#endif

/* The version of this header. The number is for `#if`: 1002003 is 1.2.3. The
 * Makefile takes VERSION from here. */
#define STC_VERSION "0.2.0"
#define STC_VERSION_MAJOR 0
#define STC_VERSION_MINOR 2
#define STC_VERSION_PATCH 0
#define STC_VERSION_NUMBER                                                                 \
    (STC_VERSION_MAJOR * 1000000 + STC_VERSION_MINOR * 1000 + STC_VERSION_PATCH)
/* The same of the library that is linked, which may be another one than was compiled for:
 * "0.2.0", a text for as long as the library is there; and its STC_VERSION_NUMBER. */
STC_API const char *stc_version(void);
STC_API int stc_version_number(void);

/* The largest order of a tensor, and the largest number of levels of one. */
#define STC_MAX_ORDER 16

/* ---- status and errors ------------------------------------------------ */

typedef enum stc_status {
    STC_OK = 0,
    STC_ERR_ARGUMENT,   /* the call itself is wrong: a null, an unknown name   */
    STC_ERR_SYNTAX,     /* program text that does not parse                    */
    STC_ERR_PROGRAM,    /* program text that parses and makes no sense         */
    STC_ERR_SHAPE,      /* extents that do not agree, an access out of bounds  */
    STC_ERR_DATA,       /* a tensor or data file that breaks its format        */
    STC_ERR_IO,         /* a file that can't be opened, read or written        */
    STC_ERR_CORRUPT,    /* bytecode that is damaged, unknown or unsafe         */
    STC_ERR_ARITHMETIC, /* a division by zero, a negative integer power        */
    STC_ERR_MEMORY,     /* no memory, or over the machine's cap                */
    STC_ERR_STEPS,      /* over the machine's step limit                       */
    STC_ERR_INTERRUPT,  /* stc_interrupt was called, or progress asked to stop */
    STC_ERR_OVERFLOW,   /* a size or coordinate beyond 64 bits                 */
} stc_status;

/* Where and why the last call failed. line and column count from 1, and are 0
 * where the fault has no place in a text. `text` is the offending line (or
 * ""). Strings belong to the machine and live until its next call; a terminal may
 * show them, whatever the input was (stc_text_show). */
typedef struct stc_error_info {
    stc_status status;
    const char *file; /* a path, or "eval", "stdin", … as given to the call */
    int line, column;
    int length;          /* how many columns the caret should underline, >= 1 */
    const char *message; /* one sentence: what was found and what was expected */
    const char *text;    /* the source line, without its newline               */
} stc_error_info;

/* ---- element types ---------------------------------------------------- */

typedef enum stc_type {
    STC_BOOL,
    STC_I8,
    STC_I16,
    STC_I32,
    STC_I64,
    STC_U8,
    STC_U16,
    STC_U32,
    STC_U64,
    STC_F32,
    STC_F64,
    STC_C64,
    STC_C128,
} stc_type;

/* One element of any type, in its widest form: .i for bool and signed, .u for
 * unsigned, .f for f32 and f64, .c (real, imaginary) for complex. */
typedef union stc_value {
    int64_t i;
    uint64_t u;
    double f;
    double c[2];
} stc_value;

/* The words that a text can use without defining them, for completion and
 * highlighting: reserved words, types, built-in formats and functions. NULL
 * past the end. */
STC_API const char *stc_word(int i);
STC_API const char *stc_type_name(stc_type type);
STC_API bool stc_type_parse(const char *name, stc_type *type);
STC_API size_t stc_type_size(stc_type type);

/* ---- machines --------------------------------------------------------- */

typedef struct stc_machine stc_machine;

/* The host's allocator: like realloc with a context. size 0 frees; a null
 * result for a nonzero size is a failure. old_size is what was asked for. */
typedef void *(*stc_alloc_fn)(void *context, void *block, size_t old_size, size_t size);

/* Called now and then during long work (reading, running, writing), with what
 * is done and what there is in all (0: unknown), in the units of `what`. Passes over a
 * file, from reading to packing, are told of as one.
 * Returning nonzero stops the work with STC_ERR_INTERRUPT. It can't call the
 * machine (see above). */
typedef int (*stc_progress_fn)(void *context, const char *what, uint64_t done,
                               uint64_t total);

/* Zero is the default of each field, and a config of zeros the same as none: the C
 * library's memory without a cap, no limit of steps, one thread, superinstructions, no
 * profile, no progress, files may be touched and are checked, nothing is spilled. */
typedef struct stc_config {
    size_t size;        /* sizeof(stc_config), see the top */
    stc_alloc_fn alloc; /* NULL: the C library, huge pages for large blocks */
    void *alloc_context;
    /* Bytes held at any time, counted as asked for; with the default allocator also its
     * headers and whole pages, and threads, as what they take. 0: no cap. */
    uint64_t max_memory;
    uint64_t max_steps; /* steps of one call, see below; 0: no limit        */
    int threads;        /* 0 and 1: sequential. Sums of floats may be rounded otherwise
                           with another number of threads; see `deterministic` */
    bool no_super;      /* run base operations only                         */
    bool profile;       /* count executions and time per instruction        */
    stc_progress_fn progress;
    void *progress_context;
    /* No text of a session may touch files: `include`, `save` and `tensor A = "path"`
     * are errors. What the host itself names is read and written as ever:
     * stc_tensor_read, stc_tensor_write, STC_SOURCE_FILE, stc_program_save … */
    bool no_files;
    /* Results have the same bits whatever the number of threads is, 1 too: loops that
     * could be shared are cut as the data alone decide, and the pieces joined in order. */
    bool deterministic;
    /* Reductions are done where they stand in the text. Otherwise those over products
     * are taken apart, and done before what they don't need: integers are the same, sums
     * of floats are rounded otherwise. */
    bool as_written;
    /* .stt files are taken at their word: what their arrays hold isn't checked. Only for
     * files that this library wrote, unchanged since: others could crash the host. */
    bool trust_files;
    /* A folder: large arrays (from a 32nd of max_memory on, without a cap from 64 MB) lie
     * in nameless files there, unless they leave half of it, and don't count; so results
     * and what is between may be larger. Their room is taken from the disk when they are
     * made. Not with an allocator of the host's. NULL: all arrays are in memory. */
    const char *spill;
} stc_config;

/* Steps. A round of a loop of a program is a step, and so is every other piece of
 * work that takes about as long: a statement or a round of a script's loop, an
 * element that is converted, sorted, generated, filled in or printed, 16 bytes of a
 * file. `max_steps` bounds them for each call that does what a text, a program or a
 * file says: stc_compile, stc_run, stc_bind_source, stc_session_exec, _compile and
 * _get, stc_program_load, _decode, _assemble and _explain, stc_tensor_read. It fails
 * with STC_ERR_STEPS. The same work without any of these isn't limited. */

/* Opens a machine; config may be NULL for the defaults. */
STC_API stc_status stc_open(const stc_config *config, stc_machine **machine);
/* Closes it, with all programs and sessions; free its tensors first. */
STC_API void stc_close(stc_machine *machine);
/* The last failure; status STC_OK if there was none. Never NULL. */
STC_API const stc_error_info *stc_error(const stc_machine *machine);
/* What the last stc_compile, stc_session_exec or stc_session_compile found worth saying of
 * a text that isn't wrong: lines `FILE:LINE:COLUMN: note: …`, each once; "" if nothing.
 * Valid until the next such call. */
STC_API const char *stc_notes(const stc_machine *machine);
STC_API const char *stc_status_name(stc_status status);
/* Writes `from` as messages quote it: control characters (which could be commands to
 * a terminal) and what isn't UTF-8 as \xNN, cut to `size` bytes with the final 0. */
STC_API void stc_text_show(char *to, size_t size, const char *from);
/* Ends the call that is under way, whatever it does, within some 50 milliseconds with
 * STC_ERR_INTERRUPT, unless it is through by then. Between calls it does nothing: each
 * call begins without an interrupt. May be called from any thread or a signal. */
STC_API void stc_interrupt(stc_machine *machine);
/* The threads of all later runs, the caller's among them; 1: sequential. They are
 * started when first needed and joined by stc_close. */
STC_API stc_status stc_set_threads(stc_machine *m, int threads);
/* Whether reductions of what is compiled from now on are done where they stand in the
 * text (stc_config.as_written): 0 or 1. */
STC_API stc_status stc_set_as_written(stc_machine *m, int on);
/* Whether later runs give the same bits on any number of threads (stc_config). */
STC_API stc_status stc_set_deterministic(stc_machine *m, bool on);
/* How many significant digits of real numbers are printed from now on, at most: 1 to 17; 0:
 * 6 in tables, and elsewhere as many as it takes to read the same number back. */
STC_API stc_status stc_set_digits(stc_machine *m, int digits);
/* How wide a window is in which tables are printed from now on: columns of a matrix that go
 * beyond its edge are left out, with `…` in their place; 0: there is no edge. */
STC_API stc_status stc_set_width(stc_machine *m, int columns);
/* Bytes held now, and the most that were ever held. */
STC_API uint64_t stc_memory_used(const stc_machine *machine);
STC_API uint64_t stc_memory_peak(const stc_machine *machine);

/* ---- tensors ---------------------------------------------------------- */

typedef struct stc_tensor stc_tensor;

/* Which array of a level: bounds per parent, coordinates, or a third one of
 * the kind's own. formats/README.md lists what each level kind stores. */
typedef enum stc_array_role { STC_POS, STC_CRD, STC_AUX } stc_array_role;

/* An array of integers or values. width is bytes an element (4 or 8 for
 * indices), stride the bytes from one to the next (0: width). */
typedef struct stc_array {
    void *data;
    int64_t length;
    int32_t width;
    int32_t stride;
} stc_array;

/* A tensor without entries. format: a name or a map as in the language,
 * "csr", "bcsr(4,4)", "(i,j) -> (i : dense, j : compressed)". fill may be
 * NULL for 0. The elements of a dense one are made when they are first asked for: what is
 * lent before that allocates nothing. */
STC_API stc_status stc_tensor_new(stc_machine *m, const char *format, stc_type type,
                                  int order, const int64_t *shape, const stc_value *fill,
                                  stc_tensor **out);
/* From n entries in any order; coords[k*n + e] is mode k of entry e; values
 * are n elements of `type`. Duplicates are summed. */
STC_API stc_status stc_tensor_from_coords(stc_machine *m, const char *format, stc_type type,
                                          int order, const int64_t *shape,
                                          const stc_value *fill, int64_t n,
                                          const int64_t *coords, const void *values,
                                          stc_tensor **out);
/* From a dense row-major array; what equals fill isn't stored in a sparse format. */
STC_API stc_status stc_tensor_from_dense(stc_machine *m, const char *format, stc_type type,
                                         int order, const int64_t *shape,
                                         const stc_value *fill, const void *values,
                                         stc_tensor **out);
/* Borrows the host's arrays, zero copy: give the levels' arrays by
 * stc_tensor_lend, the values by stc_tensor_lend_values, then use it. The host
 * keeps them alive and unchanged, or says so after a change: stc_tensor_touch
 * if any array may differ (all are checked again when next used), or
 * stc_tensor_touch_values if only values do, which costs nothing. */
STC_API stc_status stc_tensor_lend(stc_tensor *t, int level, stc_array_role role,
                                   stc_array array);
STC_API stc_status stc_tensor_lend_values(stc_tensor *t, void *values, int64_t length);
/* Hands over what was lent: release(context) is called once, when the tensor and all that
 * share its arrays have been freed, to free them. It can't call the machine. A tensor has
 * one such function; NULL takes it back. */
typedef void (*stc_release_fn)(void *context);
STC_API stc_status stc_tensor_hand_over(stc_tensor *t, stc_release_fn release,
                                        void *context);
STC_API void stc_tensor_touch(stc_tensor *t);
STC_API void stc_tensor_touch_values(stc_tensor *t);
/* The host vouches for the arrays: they aren't checked when bound. */
STC_API void stc_tensor_vouch(stc_tensor *t);
/* Checks every claim of the format: positions monotone, coordinates in range,
 * sorted and unique where claimed. Runs by itself once per generation of data. */
STC_API stc_status stc_tensor_check(stc_tensor *t);
STC_API void stc_tensor_free(stc_tensor *t);

/* The machine that it was made with, to ask for errors; NULL for NULL. */
STC_API stc_machine *stc_tensor_machine(const stc_tensor *t);
STC_API int stc_tensor_order(const stc_tensor *t);
STC_API const int64_t *stc_tensor_shape(const stc_tensor *t);
STC_API stc_type stc_tensor_type(const stc_tensor *t);
STC_API stc_value stc_tensor_fill(const stc_tensor *t);
STC_API int64_t stc_tensor_stored(const stc_tensor *t); /* entries, explicit fills too */
STC_API uint64_t stc_tensor_bytes(const stc_tensor *t); /* all arrays                 */
/* "csr", or the whole map; "" where there is no memory for the text. */
STC_API const char *stc_tensor_format(const stc_tensor *t);
STC_API int stc_tensor_levels(const stc_tensor *t);
/* The arrays themselves, for reading; valid until the tensor changes. */
STC_API stc_status stc_tensor_array(const stc_tensor *t, int level, stc_array_role role,
                                    stc_array *out);
STC_API stc_status stc_tensor_values(const stc_tensor *t, const void **values,
                                     int64_t *length);
STC_API bool stc_tensor_shares(const stc_tensor *t); /* arrays: nobody may write there */
/* One element, stored or not; coords has the order's length. */
STC_API stc_status stc_tensor_get(const stc_tensor *t, const int64_t *coords,
                                  stc_value *out);
/* Calls visit for each stored entry in storage order until it returns
 * nonzero. Duplicates come as they are stored. */
typedef int (*stc_visit_fn)(void *context, const int64_t *coords, stc_value value);
STC_API stc_status stc_tensor_visit(const stc_tensor *t, stc_visit_fn visit, void *context);
/* The same by blocks that the host asks for, with arrays in place of unions: entry e has
 * coordinate coord[k][e] in mode k, and element e of `values`, an array of the tensor's
 * type. Arrays are the iterator's, and hold until its next call. */
typedef struct stc_iter stc_iter;
typedef struct stc_block {
    int64_t count;
    const int64_t *coord[STC_MAX_ORDER]; /* NULL from the order on */
    const void *values;
} stc_block;
/* Blocks of up to `most` entries, 1 or more; 0: some thousands. Nothing is copied but one
 * block, and nothing allocated after this. The tensor must not be freed before the
 * iterator; if it has changed, stc_iter_next is STC_ERR_ARGUMENT. */
STC_API stc_status stc_iter_open(const stc_tensor *t, int64_t most, stc_iter **out);
/* The next block; count 0: there are no more, then and ever after. Blocks may be smaller
 * than asked for. After an interrupt there are no more. */
STC_API stc_status stc_iter_next(stc_iter *it, stc_block *out);
STC_API void stc_iter_free(stc_iter *it);
/* For every element of the shape, row-major, into a dense array. */
STC_API stc_status stc_tensor_to_dense(const stc_tensor *t, void *values);
/* The part with coordinates lo[k] to hi[k] - 1 in each mode k, which count from 0 in it;
 * format, type and fill are t's. It takes what it takes to read t once. */
STC_API stc_status stc_tensor_part(const stc_tensor *t, const int64_t *lo,
                                   const int64_t *hi, stc_tensor **out);
/* A copy in another format and type; NULL and -1 keep what there is. */
STC_API stc_status stc_tensor_convert(const stc_tensor *t, const char *format, int type,
                                      stc_tensor **out);

/* Prints as the language's `print`: an order 0 its value alone, a small dense
 * one a table, others a header and a line `(i,j) value` for each entry, numbers
 * so that reading them gives the same value back. At most `limit` entries, then
 * a line that tells how many more there are; 0: all of them. A failing write
 * is STC_ERR_IO. */
STC_API stc_status stc_tensor_print(const stc_tensor *t, FILE *out, int64_t limit);

/* ---- builders -------------------------------------------------------------- */

/* A builder: a tensor from entries that come one after the other, in any order and from
 * a source of unknown length. It holds them until the end: 8 bytes a mode and one element
 * each, counted as memory of the machine, and at stc_builder_finish once more. A put or a
 * finish that fails leaves it as it was. Free it before the machine is closed. */
typedef struct stc_builder stc_builder;

/* format, type, order, shape and fill as for stc_tensor_new, but that a mode's size may be
 * -1: it becomes the largest coordinate + 1 (0 without entries); shape NULL: all are so.
 * combine: what becomes of entries at one place, in the order in which they came: NULL or
 * "add", as everywhere else; "first", "last"; or the name of a function of two elements
 * of the type that gives one: "min", "max", "mul", "bitor", "or" (of bool), …, or one
 * registered by stc_function_register, with that signature, which stc_builder_finish
 * calls. A function is called f(f(a, b), c). Anything else is STC_ERR_ARGUMENT. */
STC_API stc_status stc_builder_open(stc_machine *m, const char *format, stc_type type,
                                    int order, const int64_t *shape, const stc_value *fill,
                                    const char *combine, stc_builder **out);
/* One entry: coords has the order's length, *one is an element of the type. A
 * coordinate outside of the shape is STC_ERR_DATA. */
STC_API stc_status stc_builder_put(stc_builder *b, const int64_t *coords, const void *one);
/* n entries, copied: coords[k] are n coordinates of mode k, of `width` bytes each (4 or 8,
 * signed); values n elements of the type. All of them go in, or none. */
STC_API stc_status stc_builder_put_block(stc_builder *b, int64_t n, int width,
                                         const void *const *coords, const void *values);
/* How many have been put since it was opened, or finished last. */
STC_API int64_t stc_builder_count(const stc_builder *b);
/* The tensor of what was put; the caller frees it. The builder is empty then, and can
 * be filled anew. */
STC_API stc_status stc_builder_finish(stc_builder *b, stc_tensor **out);
STC_API void stc_builder_free(stc_builder *b);

/* ---- files and sources ----------------------------------------------------- */

/* Files. format and type may be NULL and -1 for the file's own (csr for a
 * sparse matrix, csf for .tns, else dense). The path's ending tells the type, see
 * stc_file_types; `-` and `-.tns` are standard input and output. A file written is
 * complete, or isn't there. */
STC_API stc_status stc_tensor_read(stc_machine *m, const char *path, const char *format,
                                   int type, const stc_value *fill, stc_tensor **out);
STC_API stc_status stc_tensor_write(const stc_tensor *t, const char *path);
/* The endings of files that can be read, ".mtx .ttx .tns …"; and whether the first n
 * bytes of a text are a path that can be read (written). */
STC_API const char *stc_file_types(void);
STC_API bool stc_file_known(const char *text, size_t n, bool written);

/* What a tensor can be made from, whose shape (of all but files), and whose
 * format, type and fill where they aren't given, come from its use. */
typedef enum stc_source_kind {
    STC_SOURCE_FILE,   /* path: its ending tells the type                       */
    STC_SOURCE_VALUE,  /* every element is `value`; order 0: a scalar           */
    STC_SOURCE_RANDOM, /* `density` of the places have a number in [0, 1)       */
} stc_source_kind;

typedef struct stc_source {
    size_t size; /* sizeof(stc_source), see the top */
    stc_source_kind kind;
    const char *path;
    stc_value value;       /* VALUE: as an element of value_type                 */
    stc_type value_type;   /* VALUE: its own type, taken if `type` is -1          */
    bool scalar;           /* VALUE: only for a tensor of order 0                 */
    double density;        /* RANDOM: 0 to 1                                      */
    uint64_t seed;         /* RANDOM: the same seed, the same tensor              */
    const char *format;    /* NULL: by kind and order: csr, csf, dense …          */
    int type;              /* -1, and 0: the file's; VALUE's own; else f64        */
    bool has_type;         /* type counts though it is 0, which is STC_BOOL       */
    const stc_value *fill; /* as an element of fill_type, converted; NULL: 0      */
    stc_type fill_type;
} stc_source;

/* ---- programs --------------------------------------------------------- */

typedef struct stc_program stc_program;

/* What a name of the program's text stands for: format, type and fill of an
 * operand (or of a result that should not be chosen).
 *
 * Zero means not given, and a decl of zeros but for its name is an operand as the text
 * uses it, dense and f64. STC_BOOL is 0, too. It counts as given where a format or an
 * order is given that fits what the text has, so that it can be no accident:
 *
 *     {0, "A", "csr", STC_BOOL, NULL, 2}      bool
 *     {0, "A", "csr", STC_BOOL, NULL, -1}     bool, of the order that A(i,j) has
 *     {0, "s", "dense", STC_BOOL, NULL, 0}    bool, of a name without subscripts
 *     {.name = "A", .format = "csr"}       f64, of the order that A(i,j) has
 *     {.name = "s"}                        f64, of a name without subscripts
 *
 * Who gives an order gives the type, too: {.name = "A", .order = -1} is bool. */
typedef struct stc_decl {
    size_t size;        /* sizeof(stc_decl), see the top; in an array all have one size */
    const char *name;   /* may not be NULL                                        */
    const char *format; /* NULL: dense; a result's is chosen                      */
    int type;           /* an stc_type; -1, and 0 as above: f64; a result's: chosen */
    const stc_value *fill; /* NULL: 0; a result's is what the text makes of absence  */
    int order;             /* -1 and 0: as the text uses it                          */
} stc_decl;

/* A program of a text: statements of the language, one a line or parted by `;`, with
 * comments. It holds assignments (=, op=), one at least, which run in their order, and what
 * they need: definitions (`format`, `fn`) and declarations without data (`tensor A csr`).
 * What only a session does (print, loops, defs, files, data in the text) is
 * STC_ERR_PROGRAM. Its operands, to be bound, are those that `decls` or its declarations
 * name and no assignment has given a value before; decls may have names that the text
 * doesn't use, and results. The text and the decls are copied. stc_error names the text
 * "eval". */
STC_API stc_status stc_compile(stc_machine *m, const char *text, const stc_decl *decls,
                               int count, stc_program **out);
/* The text of a program that computes derivatives, for stc_compile with the same decls: the
 * text itself, and then assignments that give d_A for each A of `by`, the derivatives of
 * the scalar `of` by A's elements. The text is made of what stc_compile takes; `of` has no
 * modes, and `by` are operands or what the text computes (then the derivative by its
 * value), of f32 or f64. d_A has A's shape, format and type; where A is sparse, it has A's
 * stored places. A text that uses the name d_A, a scalar that doesn't depend on A, and what
 * has no derivative (src/lang/README.md, "Derivatives") are errors. *out is freed by
 * stc_text_free. */
STC_API stc_status stc_gradient(stc_machine *m, const char *text, const stc_decl *decls,
                                int count, const char *of, const char *const *by, int nby,
                                char **out);
STC_API void stc_program_free(stc_program *p);
/* The machine that it was compiled or loaded with; NULL for NULL. */
STC_API stc_machine *stc_program_machine(const stc_program *p);
/* Binds an operand; the tensor must outlive the binding. NULL unbinds. */
STC_API stc_status stc_bind(stc_program *p, const char *name, stc_tensor *t);
/* The same by number, without looking for the name: that of an operand, which holds for as
 * long as the program does; -1: it has none of that name. */
STC_API int stc_program_slot(const stc_program *p, const char *name);
STC_API stc_status stc_bind_slot(stc_program *p, int slot, stc_tensor *t);
/* Binds what a source describes, in the format, type and fill the program has
 * for the name (the source's own must be unset). Files are read now; what has
 * its shape from other operands is made by stc_run. The program owns it. A
 * name that the program doesn't use is allowed, and nothing is read then. */
STC_API stc_status stc_bind_source(stc_program *p, const char *name,
                                   const stc_source *source);
/* Plans it for what is bound, as stc_run does before it runs: what is saved then
 * (stc_program_save) has that plan. */
STC_API stc_status stc_program_plan(stc_program *p);
/* Runs with what is bound. Results belong to the program until its next run. */
STC_API stc_status stc_run(stc_program *p);
STC_API stc_status stc_result(const stc_program *p, const char *name,
                              const stc_tensor **out);
/* Later runs store a result's values in the host's array of `length` elements of the
 * result's type (stc_program_decl). It has to have room for as many as the result has, or
 * the run is STC_ERR_SHAPE; what a run that fails leaves there is undefined. The array is
 * the program's until it is freed, or another array, or NULL, is lent: the results of
 * earlier runs are forgotten then. It may not overlap an operand, but for the one below. A
 * program that is run again on one thread, on operands of the same sizes, allocates
 * nothing.
 *
 * A dense result, row-major, is made there without a copy, where the plan allows it, and
 * stc_result and stc_take give a tensor that has the array. The host may change the array
 * between runs.
 *
 * What is an operand, too, as y of `y(i) += A(i,j) * x(j)`: if a dense tensor is bound to
 * which the same array was lent (stc_tensor_lend_values), each run updates it in place.
 *
 * A sparse result is made in memory of the program's, and copied. stc_lend_result_array
 * lends room for the levels' arrays, of array.length elements, 4 or 8 bytes wide: of csr
 * level 1, STC_POS with a row more than there are, STC_CRD with as many as values. Numbers
 * that don't fit 4 bytes are STC_ERR_OVERFLOW. How much came is what stc_tensor_array and
 * stc_tensor_values say of the result. */
STC_API stc_status stc_lend_result(stc_program *p, const char *name, void *values,
                                   int64_t length);
STC_API stc_status stc_lend_result_array(stc_program *p, const char *name, int level,
                                         stc_array_role role, stc_array array);
/* Moves a result out of the program; the caller frees it. */
STC_API stc_status stc_take(stc_program *p, const char *name, stc_tensor **out);
/* The program's names: operands first, then results. NULL past the end. */
STC_API const char *stc_program_name(const stc_program *p, int i, bool *is_result);
/* What the program has for a name: format, type and order; out->size is set before the
 * call. The strings are the program's own. A fill that is only known when it runs is given
 * as NULL. */
STC_API stc_status stc_program_decl(const stc_program *p, const char *name, stc_decl *out);

/* Bytecode files and their text. If plans of the program depend on data, files hold the
 * plan that runs, up to 8 made for other data, and what they were compiled from: a program
 * that is loaded takes the one for what is bound to it, or is planned anew. Texts are
 * allocated by the machine's allocator and freed with stc_text_free. */
STC_API stc_status stc_program_save(const stc_program *p, const char *path);
STC_API stc_status stc_program_load(stc_machine *m, const char *path, stc_program **out);
STC_API stc_status stc_program_encode(const stc_program *p, void **bytes, size_t *size);
STC_API stc_status stc_program_decode(stc_machine *m, const void *bytes, size_t size,
                                      stc_program **out);
STC_API stc_status stc_program_dump(const stc_program *p, char **text);
STC_API stc_status stc_program_assemble(stc_machine *m, const char *text, const char *file,
                                        stc_program **out);
/* stage: "ast", "bound", "plan", "lattice" or "code". */
STC_API stc_status stc_program_explain(const stc_program *p, const char *stage,
                                       char **text);
STC_API void stc_text_free(stc_machine *m, void *text);

/* Microseconds spent in each stage of the last compile, load and run. Of runs of a few
 * microseconds, only one in 16 is timed: `run` is then that of the last that was. */
typedef struct stc_times {
    size_t size; /* sizeof(stc_times), set before the call; see the top */
    double parse, bind, plan, lower, verify, load, run, save;
} stc_times;
STC_API void stc_program_times(const stc_program *p, stc_times *out);
/* The profile of the last run, if the machine was opened with `profile`. */
STC_API stc_status stc_program_profile(const stc_program *p, char **text);

/* ---- programs in parts -------------------------------------------------- */

/* For hosts that run a program on several machines which share no memory: parts run it with
 * one index limited to a range each. Coordinates stay those of the whole; a part's operands
 * and results have the whole shapes. */

/* Of an operand, what a part needs; of a result, what it makes. */
typedef enum stc_split_how {
    STC_SPLIT_WHOLE,  /* all of it; of a result: every part makes the same       */
    STC_SPLIT_CUT,    /* the entries in a range of one mode; results come together one
                         after the other                                         */
    STC_SPLIT_REDUCE, /* results alone: all of its places, reduced by `fn`       */
} stc_split_how;

/* For the part [lo, hi), coordinates of `mode` from coef * lo + before to
 * coef * (hi - 1) + after, both included. coef is 1, but of formats in blocks. Where parts
 * are reduced, what only one of them has stored stays as it is. Of an operand that is
 * needed whole, less may do: if `along` isn't NULL, its coordinates of `mode` that operand
 * `along`, as the part has it, stores in its mode `along_mode`; and, if coef isn't 0, that
 * range. */
typedef struct stc_split {
    const char *name; /* the program's own text                                */
    bool is_result;
    stc_split_how how;
    int mode;
    int64_t coef, before, after;
    const char *fn; /* "add", "min", …; NULL                                   */
    const char *along;
    int along_mode;
} stc_split;

/* How the program is split by the index that runs over `mode` of its operand or result
 * `name`: a row for each of its names, as stc_program_name has them. `rows` has room for as
 * many as there are; NULL: only *count is told. STC_ERR_PROGRAM where parts would need each
 * other's results: why, and where in the text. It is read off the verified program by the
 * analysis that threads use. */
STC_API stc_status stc_program_split(const stc_program *p, const char *name, int mode,
                                     stc_split *rows, int room, int *count);
/* The program of the part [lo, hi) of that index, 0 <= lo <= hi (beyond its size there is
 * nothing): one like any other, to be bound, run, encoded and sent. */
STC_API stc_status stc_program_part(const stc_program *p, const char *name, int mode,
                                    int64_t lo, int64_t hi, stc_program **out);
/* Where to cut a mode, so that parts have about as many stored entries each: bound[0] = 0,
 * … bound[parts] = the mode's size. Multiples of `step`, but for the last. */
STC_API stc_status stc_tensor_bounds(const stc_tensor *t, int mode, int parts, int64_t step,
                                     int64_t *bound);
/* How many stored entries have coordinates in [bound[k], bound[k + 1]) of a mode. */
STC_API stc_status stc_tensor_counts(const stc_tensor *t, int mode, int parts,
                                     const int64_t *bound, int64_t *count);

/* ---- sessions: scripts and the REPL ----------------------------------- */

/* Named tensors, formats and functions, and statements executed one after another. */
typedef struct stc_session stc_session;

STC_API stc_status stc_session_open(stc_machine *m, stc_session **out);
STC_API void stc_session_close(stc_session *s);
/* The machine that it was opened with; NULL for NULL. */
STC_API stc_machine *stc_session_machine(const stc_session *s);
/* Where `print` goes; a session without output refuses to print. */
STC_API void stc_session_output(stc_session *s, FILE *out);
/* Whether an expression by itself prints its value, as at a prompt, and what it prints at
 * most: `limit` entries, 0: all. Without that it is an error, since it does nothing. The
 * value is the variable `_` then. */
STC_API void stc_session_echo(stc_session *s, bool on, int64_t limit);
/* Executes statements; `file` names the text in errors. What ran before an error stays; the
 * failing statement leaves all as it was. Texts executed again (up to 4 KB) keep plans. */
STC_API stc_status stc_session_exec(stc_session *s, const char *text, const char *file);
/* Tells whether text ends in the middle of a statement (an open bracket). */
STC_API bool stc_session_incomplete(const char *text);
/* Gives a tensor to the session under a name; the session takes it. */
STC_API stc_status stc_session_put(stc_session *s, const char *name, stc_tensor *t);
/* Gives a source: the tensor is made when a statement first uses the name, with
 * the order it is used with (a matrix file of one row or column serves as order
 * 1), and errors come then. Strings are copied. */
STC_API stc_status stc_session_put_source(stc_session *s, const char *name,
                                          const stc_source *source);
/* The first name that was given a source, and that no statement has used; NULL: none. */
STC_API const char *stc_session_unused(const stc_session *s);
STC_API stc_status stc_session_get(const stc_session *s, const char *name,
                                   const stc_tensor **out);
/* The i-th name in order of definition; the one that was assigned last. NULL: none. */
STC_API const char *stc_session_name(const stc_session *s, int i);
STC_API const char *stc_session_last(const stc_session *s);
/* Compiles a statement, without running it, for the tensors that the session has. */
STC_API stc_status stc_session_compile(stc_session *s, const char *text, stc_program **out);
/* How each statement of a text is planned. `run`: it is executed as by stc_session_exec,
 * and told beside that what steps stored and took. Else what it declares stays alone. */
STC_API stc_status stc_session_explain(stc_session *s, const char *text, const char *file,
                                       bool run, char **out);
/* Microseconds in each stage of the last stc_session_exec, over all of its
 * statements; load is the reading of sources and files. */
STC_API void stc_session_times(const stc_session *s, stc_times *out);
/* From now on each assignment runs n times from the same inputs; what the last
 * run gives is kept, and the times count the median run. n >= 1. */
STC_API void stc_session_repeat(stc_session *s, int n);
/* The profile of the last stc_session_exec, if the machine was opened with `profile`. Of
 * several statements first a table, what took longest in front: how often each ran, its
 * time in all, its place. Then as stc_program_profile what each assignment's last run did.
 */
STC_API stc_status stc_session_profile(const stc_session *s, char **text);

/* ---- functions of the host's own --------------------------------------- */

/* Computes n results at once, n >= 1: out[e] of args[0][e], args[1][e], …. The
 * arrays have the C type of their element's class: int64_t for bool (0 or 1),
 * uint64_t, float, double, float _Complex, double _Complex; `out` overlaps none of
 * them. What it gives may depend on nothing but the arguments: it is called as
 * often, in whatever order and for whatever elements that suits the machine, by
 * several threads at once if it has some, and while a text is compiled to learn
 * fills. Anything but STC_OK ends the statement with that status, and *why, if
 * set, is the message (copied); to tell which element failed, it may be called
 * for single ones again. It can't call the machine (see the top). */
typedef stc_status (*stc_call_fn)(void *context, int64_t n, const void *const *args,
                                  void *out, const char **why);

/* One way to call it: types of the parameters and of the result, each of
 * STC_BOOL, STC_I64, STC_U64, STC_F32, STC_F64, STC_C64, STC_C128. */
typedef struct stc_signature {
    stc_type param[8];
    stc_type result;
    stc_call_fn call;
} stc_signature;

/* A function: named in texts like the language's own, in reductions too, and by
 * name and types in bytecode files. `head` is its name, its parameters (at most
 * 8) and what is true of it, as in a definition of the language without a body:
 *
 *     "overlap(x, y) with commutative, annihilator(0) over {x != 0} & {y != 0}"
 *
 * Properties are taken at their word. A call takes the first signature whose
 * parameters have the arguments' classes, else the first that they promote to;
 * literals adapt to it. A text's own function of that name hides it. */
typedef struct stc_function {
    size_t size; /* sizeof(stc_function): the version of this struct */
    const char *head;
    int count; /* of signatures, no two with parameters of the same classes */
    const stc_signature *signature;
    void *context; /* handed to every call */
} stc_function;

/* For this machine, until it is closed. A name can be given once. */
STC_API stc_status stc_function_register(stc_machine *m, const stc_function *f);

/* ---- level kinds of the host's own ------------------------------------- */

/* A level of a tensor, as the functions of its kind see it. It stores a fiber
 * for each of its parent positions: coordinates in [base, base+extent), each at
 * a position of its own in [0, size). */
typedef struct stc_level {
    int64_t base, extent;
    int64_t parents;    /* in pack and check: positions above; else -1           */
    int64_t size;       /* positions; set by pack and check                      */
    stc_array array[3]; /* by role                                            */
    void *internal;
} stc_level;

/* Coordinates lo … hi-1, at positions from `position` on, one each. */
typedef struct stc_interval {
    int64_t lo, hi, position;
} stc_interval;

enum {
    STC_KIND_FULL = 1,    /* every coordinate of a fiber is there              */
    STC_KIND_COMPACT = 2, /* every position has a coordinate                   */
};

/* The functions can't call the machine (see the top), except for the helpers below.
 *
 * A level kind: named in formats like the built-in ones, `(i) -> (i : NAME)`,
 * and by its name in bytecode files. The functions are trusted, the data isn't:
 * only what `check` (or `pack`) let pass is read by seek and locate. Fibers are
 * walked in ascending order, coordinates are unique. Results in such a format
 * are assembled by pack, conversions from and to any other format included. */
typedef struct stc_level_kind {
    size_t size;      /* sizeof(stc_level_kind): the version of this struct     */
    const char *name; /* a name of the language; copied                         */
    unsigned flags;   /* STC_KIND_ bits                                         */
    unsigned arrays;  /* bit r: it uses the array of role r; at least one       */
    void *context;    /* handed to every function                               */
    /* The first interval of fiber `parent` with hi > i; 0: there is none. */
    int (*seek)(void *context, const stc_level *lv, int64_t parent, int64_t i,
                stc_interval *out);
    /* The position of coordinate i below `parent`, -1: it isn't stored. NULL:
     * that isn't known in about constant time, and is sought. */
    int64_t (*locate)(void *context, const stc_level *lv, int64_t parent, int64_t i);
    /* Stores n coordinates, sorted by parent position and coordinate, each once:
     * pos[e] is entry e's parent position, and becomes its own. Sets lv->size. */
    stc_status (*pack)(void *context, stc_level *lv, int64_t n, const int64_t *coord,
                       int64_t *pos);
    /* Whether the arrays are what lv->parents fibers need, whatever bytes they
     * hold; sets lv->size. */
    stc_status (*check)(void *context, stc_level *lv);
} stc_level_kind;

/* For this machine, until it is closed. A name can be given once. */
STC_API stc_status stc_level_register(stc_machine *m, const stc_level_kind *kind);
/* In pack: makes the array of a role, `length` elements of 4 or 8 bytes, unset;
 * lv->array has it too. NULL: no memory (return STC_ERR_MEMORY). */
STC_API void *stc_level_array(stc_level *lv, stc_array_role role, int width,
                              int64_t length);
/* In pack and check: the reason of a failure; gives `status` back. */
STC_API stc_status stc_level_fail(stc_level *lv, stc_status status, const char *message);

/* ---- workspace policies of the host's own -------------------------------- */

/* What a policy sees of a workspace: the entries that it has collected and not yet merged,
 * by number. A label is `words` words, the most significant first, and has all coordinates
 * of an entry: labels ascend as entries are to be stored. */
typedef struct stc_workspace {
    int words;
    int64_t entries;
    const uint64_t *labels; /* of entry k from k * words on: hold until the call ends */
    int64_t capacity;       /* entries are merged when there are so many */
    void *state;            /* the policy's own; NULL until it sets it */
} stc_workspace;

/* A policy: how a workspace keeps what a statement scatters until it is sorted and merged.
 * Named in schedules like the built-in ones, `with workspace(NAME)`, and by its name in
 * bytecode files. Results don't depend on it: what `find` misses is merged later, what it
 * finds wrongly isn't taken, and an order that isn't one is an error. At least one of find
 * and sort is there; each of the others may be NULL. They can't call the machine (see the
 * top); threads call them at once, each for a workspace of its own. */
typedef struct stc_workspace_policy {
    size_t size;      /* sizeof(stc_workspace_policy): the version of this struct  */
    const char *name; /* a name of the language; copied                         */
    void *context;    /* handed to every function                               */
    /* The number of an entry that has the label; -1: there is none, or it wasn't looked
     * for. Asked where values may be merged at once. */
    int64_t (*find)(void *context, const stc_workspace *w, const uint64_t *label);
    /* Entry `number`, the last one, is new. May set w->state. */
    stc_status (*enter)(void *context, stc_workspace *w, int64_t number);
    /* Fills order[0 … entries): numbers of all entries by ascending labels, equal ones by
     * ascending numbers. NULL: the machine does, as where a thread of its own merges. */
    stc_status (*sort)(void *context, stc_workspace *w, int64_t *order);
    /* All entries are forgotten; the next one has the number 0. */
    void (*clear)(void *context, stc_workspace *w);
    /* The workspace ends: frees its state. Called if that is set. */
    void (*end)(void *context, void *state);
} stc_workspace_policy;

/* For this machine, until it is closed. A name can be given once. */
STC_API stc_status stc_workspace_register(stc_machine *m,
                                          const stc_workspace_policy *policy);

#ifdef __cplusplus
}
#endif
#endif
