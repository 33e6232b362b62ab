/* info.c: what `stcvm info` shows of a tensor besides its summary: the bytes of each level,
 * and of a matrix how its entries lie: row degrees, band, symmetry.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* Rows are counted where they are few, or so many entries are there: a small file may claim
 * any size. */
enum { ROWS_FEW = 1 << 16, ROWS_AN_ENTRY = 16, BUCKETS = 64 };

typedef struct survey {
    const stc_tensor *t;
    int64_t entries, fills, twice;
    int64_t below, above; /* how far from the diagonal */
    int64_t last[STC_MAX_ORDER];
    int64_t *degree; /* of a matrix' rows; NULL: too many of them */
} survey;

static bool is_fill(const survey *s, stc_value v)
{
    const stc_value f = stc_tensor_fill(s->t);
    switch (stc_tensor_type(s->t)) {
    case STC_F32:
    case STC_F64:
        return v.f == f.f || (v.f != v.f && f.f != f.f);
    case STC_C64:
    case STC_C128:
        return v.c[0] == f.c[0] && v.c[1] == f.c[1];
    default:
        return v.i == f.i;
    }
}

static int look_at(void *context, const int64_t *coords, stc_value v)
{
    survey *s = context;
    const int order = stc_tensor_order(s->t);
    s->twice += s->entries && !memcmp(s->last, coords, (size_t)order * sizeof *coords);
    memcpy(s->last, coords, (size_t)order * sizeof *coords);
    s->entries++;
    s->fills += is_fill(s, v);
    if (order != 2) return 0;
    const int64_t off = coords[1] - coords[0];
    if (off > s->above) s->above = off;
    if (-off > s->below) s->below = -off;
    if (s->degree) s->degree[coords[0]]++;
    return 0;
}

/* ---- rows ---------------------------------------------------------------------------- */

/* 0, 1, 2 to 3, 4 to 7, … */
static int bucket_of(int64_t degree)
{
    int b = 0;
    for (; degree; degree >>= 1)
        b++;
    return b;
}

static void print_degrees(const survey *s, FILE *out)
{
    const int64_t rows = stc_tensor_shape(s->t)[0];
    int64_t count[BUCKETS] = {0}, most = 0, least = INT64_MAX;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t d = s->degree[i];
        if (d > most) most = d;
        if (d < least) least = d;
        count[bucket_of(d)]++;
    }
    fprintf(out, "rows     %lld to %lld entries, %.3g on average\n", (long long)least,
            (long long)most, (double)s->entries / (double)rows);
    for (int b = 0; b < BUCKETS - 1; b++) {
        const long long lo = b ? 1LL << (b - 1) : 0, hi = b ? (1LL << (b - 1)) * 2 - 1 : 0;
        if (!count[b]) continue;
        if (lo == hi)
            fprintf(out, "         %lld in each: %lld rows\n", lo, (long long)count[b]);
        else
            fprintf(out, "         %lld to %lld in each: %lld rows\n", lo, hi,
                    (long long)count[b]);
    }
}

/* ---- symmetry ------------------------------------------------------------------- */

static bool same_array(const stc_tensor *a, const stc_tensor *b, stc_array_role role)
{
    stc_array x, y;
    return stc_tensor_array(a, 1, role, &x) == STC_OK &&
           stc_tensor_array(b, 1, role, &y) == STC_OK && x.length == y.length &&
           x.width == y.width &&
           (!x.length || !memcmp(x.data, y.data, (size_t)x.length * (size_t)x.width));
}

/* By rows and by columns a symmetric matrix is the same. */
static int print_symmetry(cli *c, const stc_tensor *t, FILE *out)
{
    stc_tensor *rows = NULL, *columns = NULL;
    const void *x, *y;
    int64_t n, m;
    int status = STATUS_OK;
    if (stc_tensor_convert(t, "csr", -1, &rows) != STC_OK ||
        stc_tensor_convert(t, "csc", -1, &columns) != STC_OK ||
        stc_tensor_values(rows, &x, &n) != STC_OK ||
        stc_tensor_values(columns, &y, &m) != STC_OK) {
        status = report_error(c, 0);
    } else {
        const bool places =
            same_array(rows, columns, STC_POS) && same_array(rows, columns, STC_CRD);
        const size_t size = (size_t)n * stc_type_size(stc_tensor_type(t));
        const bool values = places && (!n || !memcmp(x, y, size));
        fprintf(out, "symmetry %s\n",
                values   ? "places and values"
                : places ? "places, not values"
                         : "none");
    }
    stc_tensor_free(rows);
    stc_tensor_free(columns);
    return status;
}

/* ---- the whole ------------------------------------------------------------------ */

static void print_levels(const stc_tensor *t, FILE *out)
{
    static const char *const names[] = {"positions", "coordinates", "auxiliary"};
    char bytes[16];
    const int64_t size = (int64_t)stc_type_size(stc_tensor_type(t));
    const void *vals;
    int64_t n;
    stc_array a;
    for (int l = 0; l < stc_tensor_levels(t); l++) {
        fprintf(out, "level %d ", l);
        int any = 0;
        for (int r = 0; r < 3; r++) {
            if (stc_tensor_array(t, l, (stc_array_role)r, &a) != STC_OK) continue;
            fprintf(out, "%s %s in %lld %s of %d bits", any++ ? "," : "",
                    format_bytes((uint64_t)(a.length * a.width), bytes),
                    (long long)a.length, names[r], 8 * (int)a.width);
        }
        fputs(any ? "\n" : " no arrays\n", out);
    }
    if (stc_tensor_values(t, &vals, &n) == STC_OK)
        fprintf(out, "values   %s in %lld\n", format_bytes((uint64_t)(n * size), bytes),
                (long long)n);
}

int print_survey(cli *c, const stc_tensor *t, FILE *out)
{
    const int64_t *shape = stc_tensor_shape(t);
    const bool matrix = stc_tensor_order(t) == 2 && shape[0] > 0 && shape[1] > 0;
    survey s = {.t = t};
    int status = STATUS_OK;
    print_levels(t, out);
    if (matrix && shape[0] / ROWS_AN_ENTRY <= stc_tensor_stored(t) + ROWS_FEW) {
        s.degree = xrealloc(NULL, (size_t)shape[0] * sizeof *s.degree);
        memset(s.degree, 0, (size_t)shape[0] * sizeof *s.degree);
    }
    if (stc_tensor_visit(t, look_at, &s) != STC_OK) {
        status = report_error(c, 0);
    } else {
        fprintf(out, "entries  %lld, of which %lld are the fill and %lld duplicates\n",
                (long long)s.entries, (long long)s.fills, (long long)s.twice);
        if (s.degree) print_degrees(&s, out);
        if (matrix)
            fprintf(out, "band     %lld below the diagonal, %lld above\n",
                    (long long)s.below, (long long)s.above);
        if (matrix && shape[0] == shape[1]) status = print_symmetry(c, t, out);
    }
    free(s.degree);
    return status;
}
