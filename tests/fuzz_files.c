/* fuzz_files.c: damaged data files of every type that is read: the bytes of
 * good ones (written by stcvm itself, and those of tests/bad) are changed at
 * random, sums in them mostly put right, and read again. What is accepted passes the
 * full check, is converted, printed and read back, and written and read again; what is
 * refused says why, and in which file. `stcvm head`, `info` and `spy` are told to look at
 * it, too, which read it anew and check less. What was tried is counted for each type, and
 * told when time is over or at SIGTERM.
 *
 *     fuzz_files [SECONDS [SEED]] [--seconds N] [--seed N]
 */
#include "fuzzing.h"
#include "../src/cli/cli.h"
#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

enum { CORPUS = 256, FILE_MAX = 4096, PARTS = 4 };

static const char *const endings[] = {".mtx.gz", ".tns.gz", ".csv", ".tsv",   ".bsp.npz",
                                      ".npz",    ".mtx",    ".ttx", ".tns",   ".npy",
                                      ".pgm",    ".ppm",    ".stt", ".bspnpy"};
enum { ENDINGS = sizeof endings / sizeof *endings, FOLDER = ENDINGS - 1 };

/* A folder's files lie one behind the other. */
static const char *const parts[PARTS] = {"binsparse.json", "indices_1.npy",
                                         "pointers_to_1.npy", "values.npy"};

typedef struct sample {
    int ending;
    unsigned char bytes[FILE_MAX];
    size_t size, part[PARTS]; /* all; those of a folder's files */
} sample;

typedef struct corpus {
    sample file[CORPUS];
    int count, whole; /* files; how many of them, the first ones, can be read */
} corpus;

typedef struct tally {
    uint64_t tried[ENDINGS], accepted[ENDINGS];
    int wrong;
} tally;

static volatile sig_atomic_t ended;

static void on_end(int signal)
{
    (void)signal;
    ended = 1;
}

/* Behind what s has already; gives how much it was, 0: nothing, or too much. */
static size_t slurp(const char *path, sample *s)
{
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    const size_t n = fread(s->bytes + s->size, 1, sizeof s->bytes - s->size, f);
    fclose(f);
    s->size += n;
    return s->size < sizeof s->bytes ? n : 0;
}

static bool spill(const char *path, const unsigned char *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (!f) return false;
    const bool ok = fwrite(bytes, 1, size, f) == size;
    return fclose(f) == 0 && ok;
}

static int ending_of(const char *path)
{
    const size_t n = strlen(path);
    for (int k = 0; k < ENDINGS; k++) {
        const size_t len = strlen(endings[k]);
        if (n >= len && strcmp(path + n - len, endings[k]) == 0) return k;
    }
    return -1;
}

static void take(corpus *c, const char *path)
{
    char name[768];
    const int ending = ending_of(path);
    if (ending < 0 || c->count == CORPUS) return;
    sample *const s = &c->file[c->count];
    *s = (sample){.ending = ending};
    if (ending != FOLDER && !slurp(path, s)) return;
    for (int k = 0; k < PARTS && ending == FOLDER; k++) {
        snprintf(name, sizeof name, "%s/%s", path, parts[k]);
        if (!(s->part[k] = slurp(name, s))) return;
    }
    c->count++;
}

/* What stcvm reads and doesn't write. */
static void spelled(corpus *c)
{
    static const char *const texts[][2] = {
        {".ttx", "%%MatrixMarket tensor coordinate real general\n3 4 2 2\n"
                 "1 2 1 1.5\n3 4 2 -2e3\n"},
        {".mtx", "%%MatrixMarket matrix coordinate real symmetric\n% a note\n\n3 3 3\n"
                 "1 1 2\n2 1 .5\n3 2 -1\n"},
        {".mtx", "%%MatrixMarket matrix coordinate integer skew-symmetric\r\n3 3 2\r\n"
                 "2 1 7\r\n3 1 -9\r\n"},
        {".mtx", "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 3 0\n"
                 "2 1 1.5 -1\n"},
        {".mtx", "%%MatrixMarket matrix coordinate pattern general\n3 2 3\n1 1\n3 2\n"
                 "2 1\n"},
        {".mtx", "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2e-3\n3\n"},
        {".mtx", "%%MatrixMarket matrix array complex general\n1 2\n1 2\n3 4\n"},
        {".tns", "# a note\n1 1 2 0.25\n3 2 1 1e300\n3 2 2 -7\n"},
        {".csv", "row,col,value\n0,1,2.5\n3,2,\n1,1,-4e2\n"},
        {".csv", "\"a\",\"b, \"\"c\"\"\"\n1,2\n,NaN\n\"3\",-inf\n"},
        {".tsv", "i\tj\tk\tvalue\n0\t1\t1\ttrue\n2\t0\t1\tfalse\n"},
        {".pgm", "P2\n# a note\n3 2\n300\n0 1 2\n100 200 300\n"},
        {".ppm", "P3 1 2 15 0 1 2 13 14 15\n"},
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts && c->count < CORPUS; k++) {
        sample *const s = &c->file[c->count++];
        *s = (sample){.ending = ending_of(texts[k][0]), .size = strlen(texts[k][1])};
        memcpy(s->bytes, texts[k][1], s->size);
    }
}

/* Files that stcvm writes, by a script that saves one of each type. */
static void written(corpus *c, const char *dir)
{
    static const char *const names[] = {"a.mtx", "b.mtx", "c.tns", "d.npy", "e.npy",
                                        "f.pgm", "g.ppm", "h.mtx", "a.stt", "i.stt",
                                        "j.stt", "k.stt", "l.stt", "a.csv", "d.csv"};
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
        "tensor l (i,j) -> (i : hashed(3), j : hashed(5)) i16 [4,9] = { (1,7): 3, (1,2): 4 "
        "}\nsave l \"%s/l.stt\"\n"
        "save a \"%s/a.csv\"\nsave d \"%s/d.csv\"\n";
    char script[4096], path[512];
    stc_machine *m;
    stc_session *s;
    snprintf(script, sizeof script, text, dir, dir, dir, dir, dir, dir, dir, dir, dir, dir,
             dir, dir, dir, dir, dir);
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
static const char *written_again(gen *g, stc_machine *m, const stc_tensor *t,
                                 const char *dir)
{
    const bool own = gen_chance(g, 50); /* the type that holds all, or one for all others */
    char path[512];
    stc_tensor *again = NULL, *dense = NULL;
    const char *wrong = NULL;
    snprintf(path, sizeof path, "%s/again%s", dir, own ? ".stt" : ".npy");
    if ((own || stc_tensor_convert(t, "dense", -1, &dense) == STC_OK) &&
        stc_tensor_write(own ? t : dense, path) == STC_OK) {
        if (stc_tensor_read(m, path, NULL, -1, NULL, &again) == STC_OK)
            wrong = fuzzing_differ(own ? t : dense, again, false, 0);
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

/* A damaged file of these bytes. */
static bool put_damaged(gen *g, const unsigned char *from, size_t n, const char *path)
{
    unsigned char bytes[FILE_MAX];
    memcpy(bytes, from, n);
    const size_t size = fuzzing_damage(g, bytes, n, sizeof bytes);
    if (!gen_chance(g, 25)) fuzzing_sums(bytes, size);
    return spill(path, bytes, size);
}

/* A folder, one of whose files is damaged. */
static bool put_folder(gen *g, const sample *from, const char *path)
{
    const int damaged = gen_below(g, PARTS);
    const unsigned char *bytes = from->bytes;
    char name[768];
    bool ok = mkdir(path, 0777) == 0;
    for (int k = 0; k < PARTS && ok; bytes += from->part[k++]) {
        snprintf(name, sizeof name, "%s/%s", path, parts[k]);
        ok = k == damaged ? put_damaged(g, bytes, from->part[k], name)
                          : spill(name, bytes, from->part[k]);
    }
    return ok;
}

static void take_away(const char *path)
{
    char name[768];
    for (int k = 0; k < PARTS && remove(path) != 0; k++) {
        snprintf(name, sizeof name, "%s/%s", path, parts[k]);
        remove(name);
    }
    remove(path);
}

/* What is wrong with a refusal, or NULL. */
static const char *refused_well(const stc_error_info *e)
{
    if (!e->message[0]) return "a refusal without a message";
    const bool named =
        (e->file && strstr(e->file, "/x.")) || strstr(e->message, "/x.") != NULL;
    return named || e->status == STC_ERR_MEMORY ? NULL
                                                : "a refusal that doesn't name the file";
}

/* What is wrong with how the library takes the file, or NULL. */
static const char *reads_well(gen *g, const char *path, const char *dir, bool *accepted,
                              FILE *said)
{
    int64_t held = 0;
    const stc_config config = {
        .alloc = fuzzing_alloc, .alloc_context = &held, .max_memory = 1 << 24};
    const char *what = NULL;
    stc_machine *m;
    stc_tensor *t = NULL;
    if (stc_open(&config, &m) != STC_OK) return "no machine";
    *accepted = stc_tensor_read(m, path, NULL, -1, NULL, &t) == STC_OK &&
                stc_tensor_check(t) == STC_OK; /* some are checked when they are used */
    if (*accepted) {
        what = fuzzing_unsound(g, t);
        if (!what) what = written_again(g, m, t, dir);
    } else {
        what = refused_well(stc_error(m));
        if (what)
            fprintf(said, "fuzz_files: %s: %s\n", stc_status_name(stc_error(m)->status),
                    stc_error(m)->message);
    }
    if (t) stc_tensor_free(t);
    stc_close(m);
    return held ? "bytes are still held" : what;
}

static void one(gen *g, const corpus *c, const char *dir, tally *n, FILE *said)
{
    const sample *from = &c->file[gen_below(g, gen_chance(g, 60) ? c->whole : c->count)];
    char path[512];
    bool accepted = false;
    int ending = from->ending;
    /* now and then under another type's name */
    if (ending != FOLDER && gen_chance(g, 3)) ending = gen_below(g, FOLDER);
    snprintf(path, sizeof path, "%s/x%s", dir, endings[ending]);
    if (ending == FOLDER ? !put_folder(g, from, path)
                         : !put_damaged(g, from->bytes, from->size, path)) {
        fprintf(said, "fuzz_files: %s can't be written\n", path);
        n->wrong++;
        return;
    }
    n->tried[ending]++;
    const char *what = reads_well(g, path, dir, &accepted, said);
    n->accepted[ending] += accepted;
    if (!what && !looked_at(g, path)) what = "a command of the tool";
    if (what) {
        fprintf(said, "fuzz_files: %s: %s is kept\n", what, path);
        n->wrong++;
    } else {
        take_away(path);
    }
}

static void tell(const fuzzing *f, const corpus *c, const tally *n, FILE *said)
{
    uint64_t tried = 0, accepted = 0;
    for (int k = 0; k < ENDINGS; k++) {
        tried += n->tried[k];
        accepted += n->accepted[k];
        fprintf(said, "%10" PRIu64 " %s, %" PRIu64 " accepted\n", n->tried[k], endings[k],
                n->accepted[k]);
    }
    fprintf(said,
            "fuzz_files: seed %" PRIu64 ": %d files, %" PRIu64 " tried, %" PRIu64
            " accepted, %" PRIu64 " refused\n",
            f->seed, c->count, tried, accepted, tried - accepted);
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
    spelled(&c);
    c.whole = c.count;
    kept(&c, "tests/bad");
    signal(SIGTERM, on_end);
    while (fuzzing_on(&f) && !ended && n.wrong == 0 && c.count > 0)
        one(&f.g, &c, dir, &n, said);
    if (!n.wrong) rmdir(dir);
    tell(&f, &c, &n, said);
    return n.wrong || c.count < 8;
}
