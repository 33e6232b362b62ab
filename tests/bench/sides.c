/* sides.c: what a row of the benchmark runs on: inputs, the program with operands lent to
 * it, room for the C side's result, and whether both came to the same.
 */
#include "rows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 1000000 /* rows of the largest matrix */

/* ---- inputs ---------------------------------------------------------------- */

static void need(csr *m, csr made)
{
    *m = made;
}

/* The tensors of a name: made only when a row needs them. */
static bool pick_tensors(state *s, const char *name)
{
    inputs *in = &s->in;
    const struct {
        const char *name;
        csf *p, *q;
        int64_t dim, nnz;
        int skew;
    } all[] = {
        {"ten", &in->ten_a, &in->ten_b, 1000, 1000000, 1},
        {"box", &in->box_a, &in->box_b, 256, 2000000, 1},
        {"skew", &in->skew_a, &in->skew_b, 2000, 1000000, 3},
    };
    s->p = s->q = NULL;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (strcmp(name, all[k].name)) continue;
        if (!all[k].p->val) {
            *all[k].p = gen_ten(all[k].dim, all[k].nnz, all[k].skew, 41);
            *all[k].q = gen_ten(all[k].dim, all[k].nnz, all[k].skew, 42);
        }
        s->p = all[k].p;
        s->q = all[k].q;
    }
    return s->p != NULL;
}

void pick_inputs(state *s, const char *name)
{
    inputs *in = &s->in;
    csr *a = NULL, *b = NULL;
    if (pick_tensors(s, name)) {
        a = b = NULL;
    } else if (!strcmp(name, "lap")) {
        a = &in->lap_a, b = &in->lap_b;
        if (!a->pos) need(a, gen_lap(1000, 1)), need(b, gen_lap(1000, 2));
    } else if (!strcmp(name, "uni")) {
        a = &in->uni_a, b = &in->uni_b;
        if (!a->pos) need(a, gen_uni(100000, 10, 11)), need(b, gen_uni(100000, 10, 12));
    } else if (!strcmp(name, "rmat")) {
        a = &in->rmat_a, b = &in->rmat_b;
        if (!a->pos) need(a, gen_rmat(17, 16, 21)), need(b, gen_rmat(17, 16, 22));
    } else if (!strcmp(name, "rmats")) {
        a = b = &in->rmats_a;
        if (!a->pos) need(a, gen_rmat(14, 16, 23));
    } else if (!strcmp(name, "pic")) {
        a = b = &in->picture;
        if (!a->pos) need(a, gen_uni(2000, 100, 51));
    } else {
        a = &in->band_a, b = &in->band_b;
        if (!a->pos)
            need(a, gen_band(100000, -50, 49, 31)), need(b, gen_band(100000, 0, 99, 32));
    }
    s->a = a;
    s->b = b;
    if (!in->x) {
        in->x = gen_dense(LARGEST, 7);
        in->factor_c = gen_dense(131072 * RANK, 8);
        in->factor_d = gen_dense(131072 * RANK, 9);
        in->mask = xalloc(LARGEST / 4 * sizeof(int32_t));
        for (int32_t i = 0; i < LARGEST / 4; i++)
            in->mask[i] = 4 * i;
    }
    in->mask_pos[1] = a ? (int32_t)((a->rows + 3) / 4) : 0;
}

void free_inputs(inputs *in)
{
    csr *all[] = {&in->lap_a,  &in->lap_b,   &in->uni_a,  &in->uni_b,  &in->rmat_a,
                  &in->rmat_b, &in->rmats_a, &in->band_a, &in->band_b, &in->picture};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        csr_free(all[i]);
    csf *tensors[] = {&in->ten_a, &in->ten_b,  &in->box_a,
                      &in->box_b, &in->skew_a, &in->skew_b};
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        csf_free(tensors[i]);
    free(in->x);
    free(in->factor_c);
    free(in->factor_d);
    free(in->mask);
}

/* ---- stcvm's side ------------------------------------------------------------ */

static stc_array indices(int32_t *data, int64_t n)
{
    return (stc_array){.data = data, .length = n, .width = 4, .stride = 4};
}

static stc_tensor *lend_csr(stc_machine *m, const csr *a)
{
    stc_tensor *t = NULL;
    int64_t shape[2] = {a->rows, a->cols};
    if (stc_tensor_new(m, "csr", STC_F64, 2, shape, NULL, &t) ||
        stc_tensor_lend(t, 1, STC_POS, indices(a->pos, a->rows + 1)) ||
        stc_tensor_lend(t, 1, STC_CRD, indices(a->crd, a->nnz)) ||
        stc_tensor_lend_values(t, a->val, a->nnz))
        return NULL;
    return t;
}

static stc_tensor *lend_csf(stc_machine *m, const csf *a)
{
    stc_tensor *t = NULL;
    int64_t shape[3] = {a->dim, a->dim, a->dim};
    if (stc_tensor_new(m, "csf", STC_F64, 3, shape, NULL, &t)) return NULL;
    for (int l = 0; l < 3; l++) {
        if (stc_tensor_lend(t, l, STC_POS, indices(a->pos[l], l ? a->n[l - 1] + 1 : 2)) ||
            stc_tensor_lend(t, l, STC_CRD, indices(a->crd[l], a->n[l])))
            return NULL;
    }
    return stc_tensor_lend_values(t, a->val, a->n[2]) ? NULL : t;
}

static stc_tensor *lend_dense(stc_machine *m, double *v, int order, int64_t n, int64_t r)
{
    stc_tensor *t = NULL;
    int64_t shape[2] = {n, r};
    if (stc_tensor_new(m, "dense", STC_F64, order, shape, NULL, &t) ||
        stc_tensor_lend_values(t, v, order == 2 ? n * r : n))
        return NULL;
    return t;
}

static stc_tensor *lend_mask(stc_machine *m, state *s)
{
    stc_tensor *t = NULL;
    static double ones[LARGEST / 4];
    int64_t shape[1] = {s->a->rows}, n = s->in.mask_pos[1];
    for (int64_t i = 0; i < n; i++)
        ones[i] = 1;
    if (stc_tensor_new(m, "svec", STC_F64, 1, shape, NULL, &t) ||
        stc_tensor_lend(t, 0, STC_POS, indices(s->in.mask_pos, 2)) ||
        stc_tensor_lend(t, 0, STC_CRD, indices(s->in.mask, n)) ||
        stc_tensor_lend_values(t, ones, n))
        return NULL;
    return t;
}

static stc_tensor *operand(stc_machine *m, state *s, source from)
{
    int64_t n = s->a ? s->a->cols : s->p->dim;
    switch (from) {
    case S_A:
        return lend_csr(m, s->a);
    case S_B:
        return lend_csr(m, s->b);
    case S_X:
        return lend_dense(m, s->in.x, 1, n, 0);
    case S_C:
        return lend_dense(m, s->in.factor_c, 2, n, RANK);
    case S_D:
        return lend_dense(m, s->in.factor_d, 2, n, RANK);
    case S_FILTER:
        return lend_dense(m, s->in.factor_c, 2, FILTER, FILTER);
    case S_MASK:
        return lend_mask(m, s);
    case S_TEN_A:
        return lend_csf(m, s->p);
    case S_TEN_B:
        return lend_csf(m, s->q);
    default:
        return NULL;
    }
}

static const char *kinds_of(source from)
{
    switch (from) {
    case S_A:
    case S_B:
        return "csr";
    case S_MASK:
        return "svec";
    case S_TEN_A:
    case S_TEN_B:
        return "csf";
    default:
        return "dense";
    }
}

void side_close(side *d)
{
    stc_program_free(d->program);
    for (int i = 0; i < OPERANDS; i++)
        stc_tensor_free(d->bound[i]);
    stc_close(d->machine);
    *d = (side){0};
}

bool side_open(side *d, const row *r, state *s)
{
    stc_decl decl[OPERANDS + 1];
    int n = 0;
    *d = (side){0};
    if (stc_open(NULL, &d->machine)) return false;
    for (int i = 0; i < OPERANDS && r->operand[i].name; i++) {
        decl[n++] = (stc_decl){
            0, r->operand[i].name, kinds_of(r->operand[i].from), STC_F64, NULL, -1};
        d->bound[i] = operand(d->machine, s, r->operand[i].from);
        if (!d->bound[i]) return false;
    }
    decl[n++] = (stc_decl){0, r->result, r->result_format, STC_F64, NULL, -1};
    if (stc_compile(d->machine, r->text, decl, n, &d->program)) return false;
    for (int i = 0; i < OPERANDS && d->bound[i]; i++)
        if (stc_bind(d->program, r->operand[i].name, d->bound[i])) return false;
    return true;
}

/* ---- comparing ------------------------------------------------------------- */

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

static bool same_values(const stc_tensor *t, const double *want, int64_t n)
{
    const void *got;
    int64_t len;
    if (stc_tensor_values(t, &got, &len) || len < n) return false;
    const double *v = got;
    for (int64_t i = 0; i < n; i++)
        if (!near(v[i], want[i])) return false;
    return true;
}

static bool same_csr(const stc_tensor *t, const csr *want)
{
    stc_array crd;
    if (stc_tensor_stored(t) != want->nnz || stc_tensor_array(t, 1, STC_CRD, &crd) ||
        crd.length != want->nnz)
        return false;
    for (int64_t p = 0; p < want->nnz; p++) {
        const char *at = (const char *)crd.data + p * (crd.stride ? crd.stride : crd.width);
        int64_t j = crd.width == 4 ? *(const int32_t *)at : *(const int64_t *)at;
        if (j != want->crd[p]) return false;
    }
    return same_values(t, want->val, want->nnz);
}

bool side_same(const side *d, const row *r, const state *s)
{
    const stc_tensor *t;
    if (stc_result(d->program, r->result, &t)) return false;
    if (r->kind == R_CSR) return same_csr(t, &s->sparse.m);
    if (r->kind == R_SCALAR) return same_values(t, &s->scalar, 1);
    return same_values(t, s->out, s->out_len);
}

void prepare_out(state *s, const row *r)
{
    const int64_t n = s->a ? s->a->rows : s->p->dim;
    const int64_t columns = r->rank == SQUARE ? n : r->rank > 0 ? r->rank : 1;
    s->out = NULL;
    s->out_len = r->kind == R_VALUES ? s->p->n[1] * RANK : n * columns;
    if (r->kind == R_CSR) {
        ref_out_init(&s->sparse, s->a->rows, s->a->cols);
    } else {
        s->out = xalloc((size_t)s->out_len * sizeof *s->out);
        memset(s->out, 0, (size_t)s->out_len * sizeof *s->out);
    }
}
