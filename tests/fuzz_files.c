/* fuzz_files.c: damaged data files of every type that is read: the bytes of
 * good ones (written by stcvm itself, and those of tests/bad) are changed at
 * random, sums in them mostly put right, and read again. What is accepted passes the
 * full check, is converted, printed and read back, and written and read again; what is
 * refused says why, and in which file. `stcvm head`, `info` and `spy` are told to look at
 * it, too, which read it anew and check less.
 *
 *     fuzz_files [SECONDS [SEED]] [--seconds N] [--seed N]
 */
#include "fuzzing.h"
#include "../src/cli/cli.h"
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

enum { CORPUS = 192, FILE_MAX = 4096 };

typedef struct sample {
    char ending[8];
    unsigned char bytes[FILE_MAX];
    size_t size;
} sample;

typedef struct corpus {
    sample file[CORPUS];
    int count, whole; /* files; how many of them, the first ones, can be read */
} corpus;

typedef struct tally {
    uint64_t tried, accepted, refused;
    int wrong;
} tally;

static bool slurp(const char *path, sample *s)
{
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    s->size = fread(s->bytes, 1, sizeof s->bytes, f);
    fclose(f);
    return s->size > 0 && s->size < sizeof s->bytes;
}

static bool spill(const char *path, const unsigned char *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (!f) return false;
    const bool ok = fwrite(bytes, 1, size, f) == size;
    return fclose(f) == 0 && ok;
}

static const char *ending_of(const char *path)
{
    static const char *const endings[] = {".mtx.gz", ".tns.gz", ".csv", ".tsv",
                                          ".npz",    ".mtx",    ".tns", ".npy",
                                          ".pgm",    ".ppm",    ".stt"};
    const size_t n = strlen(path);
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
        const size_t len = strlen(endings[k]);
        if (n > len && strcmp(path + n - len, endings[k]) == 0) return endings[k];
    }
    return NULL;
}

static void take(corpus *c, const char *path)
{
    const char *ending = ending_of(path);
    if (!ending || c->count == CORPUS || !slurp(path, &c->file[c->count])) return;
    snprintf(c->file[c->count++].ending, sizeof c->file->ending, "%s", ending);
}

/* Files that stcvm writes, by a script that saves one of each type. */
static void written(corpus *c, const char *dir)
{
    static const char *const names[] = {"a.mtx", "b.mtx", "c.tns", "d.npy", "e.npy",
                                        "f.pgm", "g.ppm", "h.mtx", "a.stt", "i.stt",
                                        "j.stt", "k.stt", "a.csv", "d.csv"};
    enum { NAMES = sizeof names / sizeof *names };
    static const char text[] =
        "tensor a csr f64 [5,4] = { (0,1): 1.5, (4,3): -2e-300 }\nsave a \"%s/a.mtx\"\n"
        "tensor b dense i32 = [[1,2],[3,4]]\nsave b \"%s/b.mtx\"\n"
        "tensor c csf f64 [3,3,3] = { (0,1,2): 1, (2,2,2): 0.1 }\nsave c \"%s/c.tns\"\n"
        "tensor d dense f32 = [[1,2],[3,4.5]]\nsave d \"%s/d.npy\"\n"
        "tensor e dense c128 = [1+2j, 3]\nsave e \"%s/e.npy\"\n"
        "tensor f dense u8 = [[0,255],[3,4]]\nsave f \"%s/f.pgm\"\n"
        "tensor g dense u8 [2,2,3] = { (0,0,0): 7 }\nsave g \"%s/g.ppm\"\n"
        "tensor h csr bool [3,3] = { (1,1): true }\nsave h \"%s/h.mtx\"\n"
        "save a \"%s/a.stt\"\n"
        "tensor i lz77 u8 [3,9] = { (1,1): 2, (1,3): 2, (1,5): 2 }\nsave i \"%s/i.stt\"\n"
        "tensor j bcsr(2,2) f32 [5,5] fill 1 = { (4,4): 3 }\nsave j \"%s/j.stt\"\n"
        "tensor k hash i16 [4,9] = { (1,7): 3, (1,2): 4 }\nsave k \"%s/k.stt\"\n"
        "save a \"%s/a.csv\"\nsave d \"%s/d.csv\"\n";
    char script[4096], path[512];
    stc_machine *m;
    stc_session *s;
    snprintf(script, sizeof script, text, dir, dir, dir, dir, dir, dir, dir, dir, dir, dir,
             dir, dir, dir, dir);
    if (stc_open(NULL, &m) != STC_OK) return;
    if (stc_session_open(m, &s) == STC_OK) {
        if (stc_session_exec(s, script, "corpus") != STC_OK)
            printf("fuzz_files: %s\n", stc_error(m)->message);
        stc_session_close(s);
    }
    stc_close(m);
    for (int k = 0; k < NAMES; k++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[k]);
        take(c, path);
        remove(path);
    }
}

static void kept(corpus *c, const char *dir)
{
    DIR *d = opendir(dir);
    char path[512];
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        take(c, path);
    }
    closedir(d);
}

/* What was read is written and read again: the same. */
static const char *written_again(stc_machine *m, const stc_tensor *t, const char *dir)
{
    char path[512];
    stc_tensor *again = NULL, *dense = NULL;
    const char *wrong = NULL;
    snprintf(path, sizeof path, "%s/again.npy", dir);
    if (stc_tensor_convert(t, "dense", -1, &dense) == STC_OK &&
        stc_tensor_write(dense, path) == STC_OK) {
        if (stc_tensor_read(m, path, NULL, -1, NULL, &again) == STC_OK)
            wrong = fuzzing_differ(dense, again, false, 0);
        else if (stc_error(m)->status != STC_ERR_MEMORY)
            wrong = "what was written can't be read";
    }
    stc_tensor_free(again);
    stc_tensor_free(dense);
    remove(path);
    return wrong;
}

/* One of the tool's commands, on a machine of its own; false: the tool would say nothing,
 * or bytes are held. What it prints is lost. */
static bool looked_at(gen *g, const char *path)
{
    static int (*const commands[])(cli *, const args *) = {cmd_head, cmd_info, cmd_spy};
    int64_t held = 0;
    const stc_config config = {
        .alloc = fuzzing_alloc, .alloc_context = &held, .max_memory = 1 << 24};
    const args a = {.command = "", .operand = &path, .operands = 1};
    cli c = {.subject = path};
    if (stc_open(&config, &c.machine) != STC_OK) return true;
    const int status = commands[gen_below(g, 3)](&c, &a);
    const bool said = status == STATUS_OK || stc_error(c.machine)->message[0];
    stc_close(c.machine);
    return said && !held;
}

static void one(gen *g, const corpus *c, const char *dir, tally *n, FILE *said)
{
    const sample *from = &c->file[gen_below(g, gen_chance(g, 60) ? c->whole : c->count)];
    unsigned char bytes[FILE_MAX];
    char path[512];
    int64_t held = 0;
    const stc_config config = {
        .alloc = fuzzing_alloc, .alloc_context = &held, .max_memory = 1 << 24};
    stc_machine *m;
    stc_tensor *t;
    memcpy(bytes, from->bytes, from->size);
    const size_t size = fuzzing_damage(g, bytes, from->size, sizeof bytes);
    if (!gen_chance(g, 25)) fuzzing_sums(bytes, size);
    /* now and then under another type's name */
    const char *ending = gen_chance(g, 3) ? ".npy" : from->ending;
    snprintf(path, sizeof path, "%s/x%s", dir, ending);
    if (!spill(path, bytes, size) || stc_open(&config, &m) != STC_OK) return;
    n->tried++;
    const char *what = NULL;
    if (stc_tensor_read(m, path, NULL, -1, NULL, &t) != STC_OK) {
        t = NULL;
    } else if (stc_tensor_check(t) != STC_OK) { /* some are checked when they are used */
        stc_tensor_free(t);
        t = NULL;
    }
    if (t) {
        n->accepted++;
        what = fuzzing_unsound(g, t);
        if (!what) what = written_again(m, t, dir);
        stc_tensor_free(t);
    } else {
        n->refused++;
        const stc_error_info *e = stc_error(m);
        if (!e->message[0]) what = "a refusal without a message";
        if (e->status != STC_ERR_MEMORY && !(e->file && strstr(e->file, "/x.")) &&
            !strstr(e->message, "/x."))
            what = "a refusal that doesn't name the file";
        if (what)
            fprintf(said, "fuzz_files: %s: %s\n", stc_status_name(e->status), e->message);
    }
    stc_close(m);
    if (held) what = "bytes are still held";
    if (!what && !looked_at(g, path)) what = "a command of the tool";
    if (what) {
        fprintf(said, "fuzz_files: %s: %s is kept\n", what, path);
        n->wrong++;
    } else {
        remove(path);
    }
}

/* What is said from now on, and what a sanitizer says, goes where it went; what the tool
 * prints goes nowhere. */
static FILE *hush(void)
{
    FILE *said = fdopen(dup(STDOUT_FILENO), "w");
    const int errors = dup(STDERR_FILENO);
    if (!said || errors < 0) return NULL;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_set_report_fd((void *)(intptr_t)errors);
#endif
    return freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr) ? said
                                                                                  : NULL;
}

int main(int argc, char **argv)
{
    static corpus c;
    fuzzing f;
    tally n = {0};
    char dir[64]; /* in memory, where the system has files there */
    fuzzing_begin(&f, argc, argv);
    snprintf(dir, sizeof dir, "%s/stcvm-files-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(dir)) return 1;
    written(&c, dir);
    FILE *const said = hush();
    if (!said) return 1;
    kept(&c, "tests/files");
    c.whole = c.count;
    kept(&c, "tests/bad");
    while (fuzzing_on(&f) && n.wrong == 0 && c.count > 0)
        one(&f.g, &c, dir, &n, said);
    if (!n.wrong) rmdir(dir);
    fprintf(said,
            "fuzz_files: seed %" PRIu64 ": %d files, %" PRIu64 " tried, %" PRIu64
            " accepted, %" PRIu64 " refused\n",
            f.seed, c.count, n.tried, n.accepted, n.refused);
    return n.wrong || c.count < 8;
}
