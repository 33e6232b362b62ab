/* main.c: stcvm, the tool: from a command line to a command.
 *
 * One table (COMMANDS in cli.h) names the commands, checks their operands and
 * prints the usage. Without a command there is the REPL; a word that ends in
 * .stc, or has a slash, is a script.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct command {
    const char *name;
    int least, most;
    bool outs;
    const char *usage;
    int (*run)(cli *c, const args *a);
} command;

static const command commands[] = {
#define C(name, least, most, outs, usage) {#name, least, most, outs, usage, cmd_##name},
    COMMANDS(C)
#undef C
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static const char options_text[] =
    "common options:\n"
    "  --threads N       run on N threads; N may change how sums of floats are rounded\n"
    "  --deterministic   the same bits whatever N is\n"
    "  --time            `time STAGE MICROSECONDS` for each stage, on standard error\n"
    "  --repeat N        run N times from the same inputs; --time gives the median\n"
    "  --profile         time by statement, and by instruction, on standard error\n"
    "  --max-memory 2G   stop when more memory than this would be held\n"
    "  --max-steps N     stop what runs after N steps, as rounds of loops\n"
    "  --no-super        run base operations only\n"
    "  --as-written      sums are taken where they stand in the text, none earlier\n"
    "  --no-files        texts may name no files; operands and -o still may\n"
    "  --spill FOLDER    arrays too large for memory lie in files there, and don't count;\n"
    "                    with --max-memory and a result that goes to F.stt, beside that\n"
    "  --trust           .stt files are ours and whole: they aren't checked\n"
    "  --quiet           no progress, no greeting, no notes\n"
    "  --stage=NAME      explain: ast, bound, plan, lattice or code; else plan and code\n"
    "  --run             explain: runs it; what steps gave and took beside what was "
    "thought\n"
    "  --like NAME=SOURCE build: planned for that, all else being ones; a NAME's second "
    "source\n"
    "                    gives the file a second plan, up to 8; a run takes the one for "
    "its "
    "data\n"
    "  -o …              eval, run: a result to print or write; build, asm, spy: the file\n"
    "  --help, --version\n"
    "\n"
    "SOURCE is a file, ones, zeros, random, random(DENSITY), or a number. A file's path\n"
    "ends in one of %s;\n"
    "`-` is standard input or output, `-.tns` says its type. FORMAT is csr, csc, coo, csf, "
    "dense, ds:1,0, (i,j) -> (…), and so on;\n"
    "TYPE is bool, i8 … i64, u8 … u64, f32, f64, c64, c128. In the REPL, :help tells "
    "more.\n"
    "\n"
    "example:\n"
    "  stcvm eval 'y(i) = A(i,j) * x(j)' A=matrix.mtx:csr x=ones -o y=y.npy\n";

static void print_usage(FILE *out)
{
    fputs("stcvm evaluates sparse array expressions.\n\n"
          "usage:\n"
          "  stcvm                 the REPL (:help lists its topics)\n"
          "  stcvm SCRIPT.stc      run a script\n",
          out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  stcvm %-7s %s\n", commands[i].name, commands[i].usage);
    fputs("\n", out);
    fprintf(out, options_text, stc_file_types());
}

static void print_command_usage(const command *k)
{
    printf("usage: stcvm %s %s\n\n", k->name, k->usage);
    printf(options_text, stc_file_types());
}

static const command *find_command(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(commands[i].name, name)) return &commands[i];
    return NULL;
}

static bool ends_in_stc(const char *word)
{
    const size_t n = strlen(word);
    return n > 4 && !strcmp(word + n - 4, ".stc");
}

static bool is_script(const char *word)
{
    return strchr(word, '/') || ends_in_stc(word);
}

static int unknown_command(const char *word)
{
    const char *names[COMMAND_COUNT + 1] = {NULL};
    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    const char *near = near_name(word, names);
    if (near) return usage_error("unknown command '%s'; did you mean %s?", word, near);
    return usage_error("unknown command '%s' (a script's name ends in .stc); "
                       "`stcvm --help` lists them",
                       word);
}

/* What the table and the options alone show to be wrong. */
static int check_usage(const command *k, const args *a)
{
    if (a->stage && !(k && !strcmp(k->name, "explain")))
        return usage_error("--stage goes with `stcvm explain`");
    if (a->opt.run && !(k && !strcmp(k->name, "explain")))
        return usage_error("--run goes with `stcvm explain`");
    if (a->likes && !(k && !strcmp(k->name, "build")))
        return usage_error("--like goes with `stcvm build`");
    if (a->outs && !(k && k->outs))
        return usage_error("-o goes with eval, build, run, asm and spy");
    if (!k)
        return a->operands ? usage_error("a script takes no operands, but '%s' follows it",
                                         a->operand[0])
                           : STATUS_OK;
    if (a->operands < k->least) return usage_error("usage: stcvm %s %s", k->name, k->usage);
    if (k->run == cmd_run && ends_in_stc(a->operand[0]))
        return usage_error("run takes bytecode; a script is run by `stcvm %s`",
                           a->operand[0]);
    if (k->most >= 0 && a->operands > k->most)
        return usage_error("'%s' is one operand too many\nusage: stcvm %s %s",
                           a->operand[k->most], k->name, k->usage);
    return STATUS_OK;
}

/* What messages that have no place of their own are about. */
static const char *subject(const command *k, const args *a)
{
    if (!a->command) return "stdin";
    if (!k) return a->command;
    const bool text = k->run == cmd_eval || k->run == cmd_build || k->run == cmd_explain;
    return text ? "eval" : a->operand[0];
}

/* The folder of a path that ends in .stt, which may be a device's; NULL: it doesn't. */
static char *stt_folder(const char *path)
{
    const size_t n = strlen(path);
    const char *const slash = strrchr(path, '/');
    if (n < 5 || strcmp(path + n - 4, ".stt") != 0) return NULL;
    if (!slash) return xstrndup(".", 1);
    return xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* Under a cap, large arrays of who writes a .stt file lie beside it: those of the result
 * will need the room there anyway. NULL: there is no such file. */
static char *folder_of_results(const command *k, const args *a)
{
    char *folder = k && k->run == cmd_convert ? stt_folder(a->operand[1]) : NULL;
    for (int i = 0; i < a->outs && !folder; i++) {
        const char *const path = strchr(a->out[i], '=');
        if (path) folder = stt_folder(path + 1);
    }
    return folder;
}

static int run_command(const command *k, const args *a)
{
    cli c;
    options opt = a->opt;
    char *folder = NULL;
    if (opt.max_memory && !opt.spill) opt.spill = folder = folder_of_results(k, a);
    int status = cli_open(&c, &opt, subject(k, a));
    if (status == STATUS_OK) {
        status = k ? k->run(&c, a) : a->command ? cmd_script(&c, a) : cmd_repl(&c, a);
        status = cli_close(&c, status);
    }
    free(folder);
    return status;
}

static int dispatch(const args *a)
{
    const command *k = a->command ? find_command(a->command) : NULL;
    if (a->version) {
        puts("stcvm " STC_VERSION);
        return STATUS_OK;
    }
    if (a->help && k)
        print_command_usage(k);
    else if (a->help)
        print_usage(stdout);
    if (a->help) return STATUS_OK;
    if (a->command && !k && !is_script(a->command)) return unknown_command(a->command);
    const int status = check_usage(k, a);
    return status == STATUS_OK ? run_command(k, a) : status;
}

int main(int argc, char **argv)
{
    args a;
    int status = args_parse(argc, argv, &a);
    if (status != STATUS_OK) return status;
    status = output_flush(dispatch(&a));
    args_free(&a);
    return status;
}
