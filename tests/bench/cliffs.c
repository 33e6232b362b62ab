/* cliffs.c: what lies beside the ten kernels, where nobody looks: the same statements in
 * every type, with one function more, in another order of the modes, in other formats.
 * Whoever writes these expects them to take what their neighbours take. The rows are in
 * cliffs.def.
 *
 * Inputs: "uni" has 100 000 rows of 10, "band" 25 000 of 40 next to the diagonal, "ten"
 * 10^6 entries in 1000 x 1000 x 1000, "runs" 10 000 rows of 1000 elements in runs of 1
 * … 64. Dense operands with two modes have 32 columns. Values are small integers, so that
 * sums are exact in every type.
 */
#include "cliffs.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 5 };

typedef struct row {
    const char *name, *input, *text, *operands;
    cliff_loop *loop;
} row;

#define ROW(name, input, text, operands, loop) {#name, input, text, operands, cliff_##name},
static const row rows[] = {
#include "cliffs.def"
};
#undef ROW

/* ---- values of every type ------------------------------------------------------------ */

#define INTEGER_TYPES(T)                                                                   \
    T(BOOL, bool)                                                                          \
    T(I8, int8_t)                                                                          \
    T(I16, int16_t)                                                                        \
    T(I32, int32_t)                                                                        \
    T(I64, int64_t)                                                                        \
    T(U8, uint8_t)                                                                         \
    T(U16, uint16_t)                                                                       \
    T(U32, uint32_t)                                                                       \
    T(U64, uint64_t)
#define REAL_TYPES(T)                                                                      \
    INTEGER_TYPES(T)                                                                       \
    T(F32, float)                                                                          \
    T(F64, double)

/* Complex elements are two real ones. */
static stc_type part_type(stc_type t)
{
    return t == STC_C64 ? STC_F32 : t == STC_C128 ? STC_F64 : t;
}

static bool is_unsigned(stc_type t)
{
    return t == STC_BOOL || (t >= STC_U8 && t <= STC_U64);
}

/* n elements of 1 … 3 or, where the type has them, -3 … -1; of bool some are false. */
static void *make_values(stc_type type, int64_t n)
{
    const stc_type part = part_type(type);
    const int64_t parts = part == type ? n : 2 * n;
    void *p = xalloc((size_t)n * stc_type_size(type));
    uint64_t random = 17;
    for (int64_t k = 0; k < parts; k++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        int v = (int)(random >> 40) % 3 + (type != STC_BOOL);
        if (!is_unsigned(type) && random >> 63) v = -v;
        switch (part) {
#define T(NAME, type)                                                                      \
    case STC_##NAME:                                                                       \
        ((type *)p)[k] = (type)v;                                                          \
        break;
            REAL_TYPES(T)
#undef T
        default:
            break;
        }
    }
    return p;
}

static double part_at(stc_type part, const void *p, int64_t k)
{
    switch (part) {
#define T(NAME, type)                                                                      \
    case STC_##NAME:                                                                       \
        return (double)((const type *)p)[k];
        REAL_TYPES(T)
#undef T
    default:
        return NAN;
    }
}

/* ---- operands ------------------------------------------------------------------------ */

/* The places of a row's first operand: kept while rows have the same input. */
typedef struct places {
    const char *input;
    int order;
    int64_t extent[3], n;
    int64_t *coords; /* of mode m from m * n on; NULL: all of them */
} places;

static void places_of_matrix(places *s, csr a)
{
    s->extent[0] = a.rows, s->extent[1] = a.cols, s->n = a.nnz;
    s->coords = xalloc((size_t)a.nnz * 2 * sizeof *s->coords);
    for (int64_t i = 0; i < a.rows; i++)
        for (int32_t p = a.pos[i]; p < a.pos[i + 1]; p++)
            s->coords[p] = i, s->coords[a.nnz + p] = a.crd[p];
    csr_free(&a);
}

static void places_of_tensor(places *s, csf a)
{
    const int64_t n = a.n[2];
    s->order = 3, s->n = n;
    s->extent[0] = s->extent[1] = s->extent[2] = a.dim;
    s->coords = xalloc((size_t)n * 3 * sizeof *s->coords);
    for (int64_t r = 0; r < a.n[0]; r++)
        for (int32_t q = a.pos[1][r]; q < a.pos[1][r + 1]; q++)
            for (int32_t p = a.pos[2][q]; p < a.pos[2][q + 1]; p++) {
                s->coords[p] = a.crd[0][r];
                s->coords[n + p] = a.crd[1][q];
                s->coords[2 * n + p] = a.crd[2][p];
            }
    csf_free(&a);
}

static void pick(places *s, const char *input)
{
    if (s->input && !strcmp(s->input, input)) return;
    free(s->coords);
    *s = (places){.input = input, .order = 2};
    if (!strcmp(input, "uni"))
        places_of_matrix(s, gen_uni(100000, 10, 11));
    else if (!strcmp(input, "band"))
        places_of_matrix(s, gen_band(25000, -20, 19, 31));
    else if (!strcmp(input, "ten"))
        places_of_tensor(s, gen_ten(1000, 1000000, 1, 41));
    else
        s->extent[0] = 10000, s->extent[1] = 1000, s->n = 10000 * 1000;
}

/* Neighbours become equal: runs of 1 … 64. */
static void make_runs(void *values, size_t size, int64_t n)
{
    uint64_t random = 5;
    for (int64_t k = 0; k < n;) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const int64_t to = k + 1 + (int64_t)(random >> 40) % 64;
        for (int64_t q = k + 1; q < to && q < n; q++)
            memcpy((char *)values + (size_t)q * size, (char *)values + (size_t)k * size,
                   size);
        k = to;
    }
}

/* "A", of any format, has the input's places; others are dense: X (j, 32), W (32, j), b
 * (32), x and z (j). */
static bool make_operand(stc_machine *m, const places *s, const stc_decl *d,
                         stc_tensor **out)
{
    const stc_type type = (stc_type)d->type;
    const int64_t wide = s->extent[s->order - 1];
    int64_t shape[2] = {wide, COLUMNS};
    bool ok;
    if (*d->name == 'A') {
        void *v = make_values(type, s->n);
        if (!s->coords) make_runs(v, stc_type_size(type), s->n);
        ok = s->coords ? !stc_tensor_from_coords(m, d->format, type, s->order, s->extent,
                                                 NULL, s->n, s->coords, v, out)
                       : !stc_tensor_from_dense(m, d->format, type, s->order, s->extent,
                                                NULL, v, out);
        free(v);
        return ok;
    }
    const int order = *d->name == 'X' || *d->name == 'W' ? 2 : 1;
    if (*d->name == 'b') shape[0] = COLUMNS;
    if (*d->name == 'W') shape[0] = COLUMNS, shape[1] = wide;
    void *v = make_values(type, shape[0] * (order == 2 ? shape[1] : 1));
    ok = !stc_tensor_from_dense(m, d->format, type, order, shape, NULL, v, out);
    free(v);
    return ok;
}

static packed arrays_of(const stc_tensor *t)
{
    packed r = {.n = stc_tensor_shape(t)[0]};
    r.m = stc_tensor_order(t) > 1 ? stc_tensor_shape(t)[1] : 1;
    for (int l = 0; l < stc_tensor_levels(t) && l < 4; l++) {
        stc_array a;
        if (!stc_tensor_array(t, l, STC_POS, &a) && a.width == 4) r.pos[l] = a.data;
        if (!stc_tensor_array(t, l, STC_CRD, &a) && a.width == 4) r.crd[l] = a.data;
    }
    if (stc_tensor_values(t, &r.val, &r.stored)) r.val = NULL;
    return r;
}

/* ---- one row ------------------------------------------------------------------------- */

typedef struct bench {
    stc_machine *m;
    stc_program *p;
    stc_tensor *t[CLIFF_OPERANDS];
    stc_decl decl[CLIFF_OPERANDS];
    char words[CLIFF_OPERANDS][3][16]; /* name, format, type */
    int n;                             /* of operands; decl[n] is the result */
    cliff c;
} bench;

/* "A csr f64, x dense f64, y dense f64" */
static bool read_operands(bench *b, const char *text)
{
    int n = 0, length = 0;
    for (; n < CLIFF_OPERANDS && *text; n++) {
        char(*w)[16] = b->words[n];
        stc_type type;
        if (sscanf(text, " %15s %15s %15[a-z0-9]%n", w[0], w[1], w[2], &length) != 3 ||
            !stc_type_parse(w[2], &type))
            return false;
        text += length + (text[length] == ',');
        b->decl[n] = (stc_decl){0, w[0], w[1], (int)type, NULL, -1};
    }
    b->n = n - 1;
    return n > 0 && !*text;
}

static const stc_tensor *result_of(const bench *b)
{
    const stc_tensor *t = NULL;
    return stc_result(b->p, b->decl[b->n].name, &t) ? NULL : t;
}

/* Everything is there, and the program ran once: the C loop's result has that one's size.
 */
static bool open_row(bench *b, const row *r, places *s)
{
    pick(s, r->input);
    if (!read_operands(b, r->operands)) {
        fprintf(stderr, "bench: %s: operands are \"NAME FORMAT TYPE, …\"\n", r->name);
        exit(1);
    }
    if (stc_open(NULL, &b->m) || stc_compile(b->m, r->text, b->decl, b->n + 1, &b->p))
        return false;
    for (int k = 0; k < b->n; k++) {
        if (!make_operand(b->m, s, &b->decl[k], &b->t[k]) ||
            stc_bind(b->p, b->decl[k].name, b->t[k]))
            return false;
        b->c.in[k] = arrays_of(b->t[k]);
    }
    const stc_tensor *y;
    if (stc_run(b->p) || !(y = result_of(b))) return false;
    const packed got = arrays_of(y);
    b->c.length = got.stored;
    b->c.out = xalloc((size_t)got.stored * stc_type_size(stc_tensor_type(y)));
    b->c.pos = xalloc((size_t)(got.n + 1) * sizeof *b->c.pos);
    b->c.crd = xalloc((size_t)got.stored * sizeof *b->c.crd);
    return true;
}

static void close_row(bench *b)
{
    stc_program_free(b->p);
    for (int k = 0; k < CLIFF_OPERANDS; k++)
        stc_tensor_free(b->t[k]);
    stc_close(b->m);
    free(b->c.out);
    free(b->c.pos);
    free(b->c.crd);
}

static bool agree(const bench *b)
{
    const stc_tensor *y = result_of(b);
    if (!y) return false;
    const cliff *c = &b->c;
    const packed got = arrays_of(y);
    const stc_type type = stc_tensor_type(y), part = part_type(type);
    if (got.stored != c->length) return false;
    if (got.crd[1] && (memcmp(got.crd[1], c->crd, (size_t)got.stored * 4) != 0 ||
                       memcmp(got.pos[1], c->pos, (size_t)(got.n + 1) * 4) != 0))
        return false;
    const double tolerance = part == STC_F32 ? 1e-5 : part == STC_F64 ? 1e-12 : 0;
    const int64_t parts = part == type ? got.stored : 2 * got.stored;
    for (int64_t k = 0; k < parts; k++) {
        const double u = part_at(part, got.val, k), v = part_at(part, c->out, k);
        if (!(fabs(u - v) <= tolerance * (1 + fabs(v)))) return false;
    }
    return true;
}

/* What a run must at least read and write. */
static double traffic(const bench *b)
{
    double bytes = (double)stc_tensor_bytes(result_of(b));
    for (int k = 0; k < b->n; k++)
        bytes += (double)stc_tensor_bytes(b->t[k]);
    return bytes;
}

/* ours / theirs by the best runs; 0: it failed, or results differ. */
static double run_row(const row *r, places *s, bool csv)
{
    bench b = {0};
    double ours = INFINITY, theirs = INFINITY, ratio = 0;
    bool ok = open_row(&b, r, s);
    for (int k = 0; ok && k < runs_asked(RUNS); k++) {
        const double t0 = own_ns();
        ok = !stc_run(b.p);
        const double t1 = own_ns();
        r->loop(&b.c);
        const double t2 = own_ns();
        ours = fmin(ours, t1 - t0);
        theirs = fmin(theirs, t2 - t1);
    }
    if (ok && agree(&b)) {
        char tier[TIERS_ROOM];
        tiers_of(b.m, b.p, tier);
        ratio = ours / theirs;
        printf(csv ? "%s,%s,%.4f,%.4f,%.3f,%.2f,%s\n"
                   : "%-14s %-6s %10.3f %10.3f %7.2f %6.1f  %s\n",
               r->name, r->input, ours * 1e-6, theirs * 1e-6, ratio, traffic(&b) / ours,
               tier);
    } else {
        printf("%-14s %-6s %s\n", r->name, r->input,
               ok    ? "RESULTS DIFFER"
               : b.m ? stc_error(b.m)->message
                     : "no machine");
    }
    fflush(stdout);
    close_row(&b);
    return ratio;
}

/* Only what the filter names by "cliffs" or "cliffs NAME": the names of other groups are
 * the beginnings of these. */
int bench_cliffs(const char *filter, bool csv)
{
    static const char group[] = "cliffs";
    const size_t n = sizeof group - 1;
    if (filter && strncmp(filter, group, n) != 0) return 0;
    const char *part = filter ? filter + n + strspn(filter + n, " ") : "";
    places s = {0};
    mean all = {0};
    bool wrong = false;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (!strstr(rows[k].name, part)) continue;
        if (!s.input && !csv)
            printf("\n%-14s input    stcvm ms       C ms   ratio   GB/s  tiers\n", group);
        const double ratio = run_row(&rows[k], &s, csv);
        wrong |= ratio <= 0;
        mean_add(&all, rows[k].name, ratio);
    }
    mean_print(&all, "geometric mean, cliffs", csv);
    free(s.coords);
    return wrong;
}
