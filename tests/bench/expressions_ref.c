/* expressions_ref.c: the loops that a sparse compiler would emit for the rows of
 * expressions.c: merges of two with a loop for what is left of either, of three by
 * the smallest coordinate.
 */
#include "expressions.h"
#include <math.h>
#include <stdlib.h>

#define BOUNDS(x, p, pe) int32_t p = (x).pos[i], pe = (x).pos[i + 1]

/* Rows of a and b into the result; p and q are positions, j the coordinate. */
#define UNION_ROWS(s, A, B, BOTH, A_ONLY, B_ONLY)                                          \
    do {                                                                                   \
        const csr *a = &(s)->A, *b = &(s)->B;                                              \
        for (int64_t i = 0; i < a->rows; i++) {                                            \
            BOUNDS(*a, p, pe);                                                             \
            BOUNDS(*b, q, qe);                                                             \
            while (p < pe && q < qe) {                                                     \
                const int32_t ja = a->crd[p], jb = b->crd[q], j = ja < jb ? ja : jb;       \
                if (ja == j && jb == j) {                                                  \
                    BOTH;                                                                  \
                } else if (ja == j) {                                                      \
                    A_ONLY;                                                                \
                } else {                                                                   \
                    B_ONLY;                                                                \
                }                                                                          \
                p += ja == j;                                                              \
                q += jb == j;                                                              \
            }                                                                              \
            for (; p < pe; p++) {                                                          \
                const int32_t j = a->crd[p];                                               \
                (void)j;                                                                   \
                A_ONLY;                                                                    \
            }                                                                              \
            for (; q < qe; q++) {                                                          \
                const int32_t j = b->crd[q];                                               \
                (void)j;                                                                   \
                B_ONLY;                                                                    \
            }                                                                              \
            ROW_END;                                                                       \
        }                                                                                  \
    } while (0)

/* The same for what two matrices share. */
#define BOTH_ROWS(s, A, B, BODY)                                                           \
    do {                                                                                   \
        const csr *a = &(s)->A, *b = &(s)->B;                                              \
        for (int64_t i = 0; i < a->rows; i++) {                                            \
            BOUNDS(*a, p, pe);                                                             \
            BOUNDS(*b, q, qe);                                                             \
            while (p < pe && q < qe) {                                                     \
                const int32_t ja = a->crd[p], jb = b->crd[q], j = ja < jb ? ja : jb;       \
                if (ja == j && jb == j) {                                                  \
                    BODY;                                                                  \
                }                                                                          \
                p += ja == j;                                                              \
                q += jb == j;                                                              \
            }                                                                              \
            ROW_END;                                                                       \
        }                                                                                  \
    } while (0)

/* All of three; va, vb and vd are their values, 0 where absent. */
#define THREE_ROWS(s, BODY)                                                                \
    do {                                                                                   \
        const csr *a = &(s)->a, *b = &(s)->b, *d = &(s)->d;                                \
        for (int64_t i = 0; i < a->rows; i++) {                                            \
            BOUNDS(*a, p, pe);                                                             \
            BOUNDS(*b, q, qe);                                                             \
            BOUNDS(*d, r, re);                                                             \
            while (p < pe || q < qe || r < re) {                                           \
                const int32_t ja = p < pe ? a->crd[p] : INT32_MAX;                         \
                const int32_t jb = q < qe ? b->crd[q] : INT32_MAX;                         \
                const int32_t jd = r < re ? d->crd[r] : INT32_MAX;                         \
                int32_t j = ja < jb ? ja : jb;                                             \
                j = jd < j ? jd : j;                                                       \
                const bool in_a = ja == j, in_b = jb == j, in_d = jd == j;                 \
                const double va = in_a ? a->val[p] : 0, vb = in_b ? b->val[q] : 0;         \
                const double vd = in_d ? d->val[r] : 0;                                    \
                BODY;                                                                      \
                p += in_a;                                                                 \
                q += in_b;                                                                 \
                r += in_d;                                                                 \
            }                                                                              \
            ROW_END;                                                                       \
        }                                                                                  \
    } while (0)

#define A_ROWS(s, BODY)                                                                    \
    do {                                                                                   \
        const csr *a = &(s)->a;                                                            \
        for (int64_t i = 0; i < a->rows; i++) {                                            \
            for (int32_t p = a->pos[i]; p < a->pos[i + 1]; p++) {                          \
                const int32_t j = a->crd[p];                                               \
                BODY;                                                                      \
            }                                                                              \
            ROW_END;                                                                       \
        }                                                                                  \
    } while (0)

#define PUT(field, v) (s->crd[n] = j, s->val.field[n++] = (v))

/* ---- matrices ------------------------------------------------------------------------ */

#define MATRIX(name, ROWS)                                                                 \
    void expr_##name(expr_data *s)                                                         \
    {                                                                                      \
        int32_t n = 0;                                                                     \
        ROWS;                                                                              \
        s->n = n;                                                                          \
    }
#define ROW_END s->pos[i + 1] = n
#define VA a->val[p]
#define VB b->val[q]

MATRIX(sum3, THREE_ROWS(s, PUT(f64, va + vb + vd)))
MATRIX(mul_add, THREE_ROWS(s, if ((in_a && in_b) || in_d) PUT(f64, va *vb + vd)))
MATRIX(scaled_sum, UNION_ROWS(s, a, b, PUT(f64, VA * s->x[j] + VB * s->z[i]),
                              PUT(f64, VA * s->x[j]), PUT(f64, VB * s->z[i])))
MATRIX(mul_of_sum, THREE_ROWS(s, if (in_a && (in_b || in_d)) PUT(f64, va *(vb + vd))))
MATRIX(expm1, A_ROWS(s, PUT(f64, 1 - exp(-VA))))
MATRIX(threshold, A_ROWS(s, PUT(f64, VA > 0.5 ? VA : 0)))
MATRIX(relu, UNION_ROWS(s, a, b, PUT(f64, fmax(VA - VB, 0) * s->x[j]),
                        PUT(f64, fmax(VA, 0) * s->x[j]), PUT(f64, fmax(-VB, 0) * s->x[j])))
MATRIX(larger, UNION_ROWS(s, a, b, PUT(f64, VA > VB ? VA : VB), PUT(f64, VA > 0 ? VA : 0),
                          PUT(f64, 0 > VB ? 0 : VB)))
MATRIX(f32_sum, UNION_ROWS(s, a, b, PUT(f32, s->a32[p] * 2 + s->b32[q]),
                           PUT(f32, s->a32[p] * 2), PUT(f32, s->b32[q])))
MATRIX(i32_mul_add, UNION_ROWS(s, a, b, PUT(i32, s->ai[p] * s->bi[q] + s->ai[p]),
                               PUT(i32, s->ai[p]), (void)0))
MATRIX(bool_or, UNION_ROWS(s, a, d, PUT(b, s->ab[p] || s->db[q]), PUT(b, s->ab[p]),
                           PUT(b, s->db[q])))
MATRIX(dcsr_mul, BOTH_ROWS(s, a, b, PUT(f64, VA *VB * s->x[j])))
MATRIX(coo_sum, UNION_ROWS(s, a, d, PUT(f64, VA + VB), PUT(f64, VA), PUT(f64, VB)))
MATRIX(hypot_less, THREE_ROWS(s, PUT(f64, sqrt(va *va + vb * vb) - vd)))

#undef ROW_END

/* ---- vectors ------------------------------------------------------------------------- */

#define VECTOR(name, T, field, ROWS)                                                       \
    void expr_##name(expr_data *s)                                                         \
    {                                                                                      \
        T sum = 0;                                                                         \
        ROWS;                                                                              \
        s->n = s->a.rows;                                                                  \
    }
#define ROW_END s->val.f64[i] = sum, sum = 0

void expr_two_mxv(expr_data *s)
{
    for (int64_t i = 0; i < s->a.rows; i++) {
        double sum = 0, other = 0;
        for (int32_t p = s->a.pos[i]; p < s->a.pos[i + 1]; p++)
            sum += s->a.val[p] * s->x[s->a.crd[p]];
        for (int32_t p = s->b.pos[i]; p < s->b.pos[i + 1]; p++)
            other += s->b.val[p] * s->z[s->b.crd[p]];
        s->val.f64[i] = sum + other;
    }
    s->n = s->a.rows;
}

void expr_picked_mxv(expr_data *s)
{
    for (int64_t i = 0; i < s->a.rows; i++)
        s->val.f64[i] = 0;
    for (int32_t v = s->v_pos[0]; v < s->v_pos[1]; v++) {
        const int32_t i = s->v_crd[v];
        double sum = 0;
        for (int32_t p = s->a.pos[i]; p < s->a.pos[i + 1]; p++)
            sum += s->a.val[p] * s->x[s->a.crd[p]] * s->v_val[v];
        s->val.f64[i] = sum;
    }
    s->n = s->a.rows;
}

VECTOR(sigmoid, double, f64,
       UNION_ROWS(s, a, b, sum += VA / (1 + exp(-VB)), sum += VA / 2, (void)0))
VECTOR(distance, double, f64,
       UNION_ROWS(s, a, b, sum += fabs(VA - VB) * s->x[j], sum += fabs(VA) * s->x[j],
                  sum += fabs(VB) * s->x[j]))
#undef ROW_END
#define ROW_END s->val.f32[i] = sum, sum = 0
VECTOR(f32_mxv, float, f32, A_ROWS(s, sum += s->a32[p] * s->x32[j]))
#undef ROW_END
#define ROW_END s->val.i32[i] = sum, sum = 0
VECTOR(i32_and, int32_t, i32, BOTH_ROWS(s, a, b, sum += s->ai[p] & s->bi[q]))
#undef ROW_END
#define ROW_END (void)0

void expr_inner(expr_data *s)
{
    double sum = 0;
    BOTH_ROWS(s, a, b, sum += VA * VB * s->x[j] * s->z[i]);
    s->val.f64[0] = sum;
    s->n = 1;
}
