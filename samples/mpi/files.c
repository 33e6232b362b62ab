/* files.c: tensors that come in parts: files whose lines ranks share, and, alone, own rows
 * of random matrices.
 *
 * A file is read by the library, from a copy of the rank's own lines below a head that says
 * how many they are. Then each rank is sent the entries of its own range of the first mode.
 */
#include "variables.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 1024, PATH = 1024 };

/* A declaration `tensor NAME … = "….mtx"`: its name, and where its path begins and ends. */
static bool names_file(const char *text, char *name, const char **path, const char **end)
{
    if (sscanf(text, "tensor %63[A-Za-z0-9_]", name) != 1) return false;
    const char *eq = strchr(text, '=');
    if (!eq || eq[1 + strspn(eq + 1, " ")] != '"') return false;
    *path = strchr(eq, '"') + 1;
    *end = strchr(*path, '"');
    return *end && *end - *path > 4 && strncmp(*end - 4, ".mtx", 4) == 0 &&
           (*end)[1 + strspn(*end + 1, " \t\n")] == 0;
}

/* Reads the head of a file of coordinates, up to its sizes. */
static bool read_head(FILE *f, char *first, char *sizes)
{
    if (!fgets(first, LINE, f) || !strstr(first, "coordinate")) return false;
    while (fgets(sizes, LINE, f))
        if (sizes[0] != '%' && sizes[strspn(sizes, " \t\r\n")]) return true;
    return false;
}

/* Bytes from the first line that begins at or after `at`. */
static long line_after(FILE *f, long begin, long at)
{
    int c;
    if (at <= begin) return begin;
    fseek(f, at - 1, SEEK_SET);
    while ((c = getc(f)) != EOF && c != '\n')
        ;
    return ftell(f);
}

/* Lines of the bytes [at, end), copied to `to` if there is one. */
static int64_t copy_lines(FILE *f, long at, long end, FILE *to)
{
    char line[LINE];
    int64_t n = 0;
    fseek(f, at, SEEK_SET);
    while (at < end && fgets(line, sizeof line, f)) {
        at += (long)strlen(line);
        if (!line[strspn(line, " \t\r\n")]) continue;
        if (!strchr(line, '\n') && at < end) die("a line of a file is too long");
        if (to) fputs(line, to);
        n++;
    }
    return n;
}

/* The rank's own lines as a file of their own, whose name is put into `copy`. */
static bool copy_own(const char *path, char *copy)
{
    char first[LINE], sizes[LINE];
    long long rows, columns, entries;
    FILE *f = fopen(path, "r"), *to = NULL;
    const bool fits = f && read_head(f, first, sizes) &&
                      sscanf(sizes, "%lld %lld %lld", &rows, &columns, &entries) == 3;
    const int64_t all_fit = total(fits);
    if (all_fit < ranks) { /* each of them finds out the usual way */
        if (f) fclose(f);
        return false;
    }
    const long begin = ftell(f);
    fseek(f, 0, SEEK_END);
    const long size = ftell(f) - begin;
    const long at = line_after(f, begin, begin + size / ranks * rank);
    const long end = rank + 1 < ranks
                         ? line_after(f, begin, begin + size / ranks * (rank + 1))
                         : begin + size;
    const int64_t lines = copy_lines(f, at, end, NULL);
    if (total(lines) != entries) die("a file has other lines than its head says");
    const int fd = mkstemps(strcpy(copy, "/tmp/stcvm-mpi-XXXXXX.mtx"), 4);
    if (fd < 0 || !(to = fdopen(fd, "w"))) die("a file in /tmp can't be made");
    fprintf(to, "%s%lld %lld %lld\n", first, rows, columns, (long long)lines);
    copy_lines(f, at, end, to);
    if (fclose(to)) die("a file in /tmp can't be written");
    fclose(f);
    return true;
}

/* Blocks lie across ranges; such tensors stay as they are. */
static bool in_blocks(const stc_tensor *t)
{
    const char *format = stc_tensor_format(t);
    return strstr(format, "bcs") || strstr(format, "csb") || strchr(format, '/');
}

bool read_in_ranges(const char *text)
{
    char name[64], copy[PATH], whole[PATH], line[4 * PATH];
    const char *path, *end;
    if (ranks == 1 || alone || !names_file(text, name, &path, &end)) return false;
    const char *slash = *path == '/' ? NULL : strrchr(script, '/');
    if (end - path > PATH / 2 || (slash && slash - script > PATH / 4)) return false;
    snprintf(whole, sizeof whole, "%.*s%.*s", slash ? (int)(slash + 1 - script) : 0, script,
             (int)(end - path), path);
    if (!copy_own(whole, copy)) return false;
    snprintf(line, sizeof line, "%.*s%s%.2000s", (int)(path - text), text, copy, end);
    const stc_status st = stc_session_exec(s, line, script);
    unlink(copy);
    must(m, st);
    const stc_tensor *t = variable(name);
    ranges_of all = {.mode = -1}, want = all;
    const int64_t *bound = bounds_of(stc_tensor_shape(t)[0]);
    if (!in_blocks(t) && !bound) bound = make_bounds(t, 0, 1, true);
    if (!in_blocks(t) && bound) want = by_bounds(0, bound);
    bytes_told += outgoing(t, &all, &want);
    hold(name, exchange(t, &all, &want, NULL), want.mode, want.mode < 0 ? NULL : bound);
    definitions++;
    return true;
}

/* ---- own rows ---------------------------------------------------------------------------
 */

/* A dcsr matrix of `shape` with the rows of a csr one from row lo on; it owns them. */
static stc_tensor *placed(stc_tensor *rows, const int64_t *shape, int64_t lo)
{
    const int64_t n = stc_tensor_shape(rows)[0];
    int64_t *own = room((size_t)(n + 2) * sizeof *own);
    const void *values;
    int64_t stored;
    stc_tensor *t;
    own[n] = 0; /* behind the rows' numbers: where they begin and end */
    own[n + 1] = n;
    for (int64_t i = 0; i < n; i++)
        own[i] = lo + i;
    must(m, stc_tensor_new(m, "dcsr", stc_tensor_type(rows), 2, shape, NULL, &t));
    must(m, stc_tensor_lend(t, 0, STC_POS, (stc_array){own + n, 2, 8, 0}));
    must(m, stc_tensor_lend(t, 0, STC_CRD, (stc_array){own, n, 8, 0}));
    for (int k = 0; k < 2; k++) {
        stc_array a;
        const stc_array_role role = k ? STC_CRD : STC_POS;
        must(m, stc_tensor_array(rows, 1, role, &a));
        must(m, stc_tensor_lend(t, 1, role, a));
    }
    must(m, stc_tensor_values(rows, &values, &stored));
    must(m, stc_tensor_lend_values(t, (void *)values, stored));
    return t; /* `rows` and `own` are there until the end of this program */
}

bool make_own_rows(const char *text)
{
    char name[64], type[16] = "f64", how[LINE], line[2 * LINE];
    long long shape[2];
    if (sscanf(text, "tensor %63[A-Za-z0-9_] dcsr [%lld , %lld] = random%1000[^\n]", name,
               &shape[0], &shape[1], how) != 4 &&
        sscanf(text,
               "tensor %63[A-Za-z0-9_] dcsr %15[a-z0-9] [%lld , %lld] = random%1000[^\n]",
               name, type, &shape[0], &shape[1], how) != 5)
        return false;
    const int64_t whole[2] = {shape[0], shape[1]};
    const int64_t lo = whole[0] / ranks * rank, n = whole[0] / ranks;
    if (whole[0] % ranks) die("--share: rows that ranks can't share evenly");
    snprintf(line, sizeof line, "tensor _own_%s csr %s [%lld,%lld] = random%s", name, type,
             (long long)n, (long long)whole[1], how);
    must(m, stc_session_exec(s, line, script));
    snprintf(line, sizeof line, "_own_%s", name);
    stc_tensor *t = placed(variable(line), whole, lo);
    const int64_t *bound = bounds_of(whole[0]);
    hold(name, t, 0, bound ? bound : make_bounds(t, 0, 1, false));
    definitions++;
    return true;
}
