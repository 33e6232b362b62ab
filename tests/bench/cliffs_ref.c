/* cliffs_ref.c: the loops that a sparse compiler would emit for the rows of cliffs.def: a
 * walk over the entries of a format (CSR, CSC …), and what is done for each of them (MXV,
 * MM …). Integers are summed in their own type, which gives what summing wider ones and
 * storing narrow ones does.
 */
#include "cliffs.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define OR(a, b) ((a) | (b))
#define AND(a, b) ((a) & (b))
#define ABS(a) _Generic((a), float : fabsf, double : fabs, default : abs)(a)
#define TANH_OF(a) _Generic((a), float : tanhf, default : tanh)(a)
/* C's own product looks for infinities behind each NaN. */
#define CMUL(a, b)                                                                         \
    __builtin_complex(__real__(a) * __real__(b) - __imag__(a) * __imag__(b),               \
                      __real__(a) * __imag__(b) + __imag__(a) * __real__(b))

/* ---- walks: BEGIN and END for each row i, EACH for each entry p at (i, j) ------- */

#define CSR(BEGIN, EACH, END)                                                              \
    for (int64_t i = 0; i < m->n; i++) {                                                   \
        BEGIN;                                                                             \
        for (int32_t p = m->pos[1][i]; p < m->pos[1][i + 1]; p++) {                        \
            const int64_t j = m->crd[1][p];                                                \
            EACH;                                                                          \
        }                                                                                  \
        END;                                                                               \
    }
/* Order 3, summed over the mode in the middle. */
#define CSF(BEGIN, EACH, END)                                                              \
    memset(y, 0, (size_t)c->length * sizeof *y);                                           \
    for (int32_t r = 0; r < m->pos[0][1]; r++) {                                           \
        const int64_t i = m->crd[0][r];                                                    \
        BEGIN;                                                                             \
        for (int32_t q = m->pos[1][r]; q < m->pos[1][r + 1]; q++)                          \
            for (int32_t p = m->pos[2][q]; p < m->pos[2][q + 1]; p++) {                    \
                const int64_t j = m->crd[2][p];                                            \
                EACH;                                                                      \
            }                                                                              \
        END;                                                                               \
    }
#define RLE(BEGIN, EACH, END)                                                              \
    for (int64_t i = 0; i < m->n; i++) {                                                   \
        const int32_t end = m->pos[1][i + 1];                                              \
        BEGIN;                                                                             \
        for (int32_t p = m->pos[1][i]; p < end; p++) {                                     \
            const int64_t to = p + 1 < end ? m->crd[1][p + 1] : m->m;                      \
            for (int64_t j = m->crd[1][p]; j < to; j++) {                                  \
                EACH;                                                                      \
            }                                                                              \
        }                                                                                  \
        END;                                                                               \
    }

/* ---- walks that come to a row of the result again and again --------------------- */

/* A csc matrix, or the columns of a csr one: rows are J, columns are I. */
#define ACROSS(I, J, N, EACH)                                                              \
    for (int64_t J = 0; J < (N); J++)                                                      \
        for (int32_t p = m->pos[1][J]; p < m->pos[1][J + 1]; p++) {                        \
            const int64_t I = m->crd[1][p];                                                \
            EACH;                                                                          \
        }
#define CSC(EACH) ACROSS(i, j, m->m, EACH)
#define TCSR(EACH) ACROSS(i, j, m->n, EACH)
#define BCSR(EACH)                                                                         \
    for (int64_t bi = 0; bi < m->n / BLOCK; bi++)                                          \
        for (int32_t q = m->pos[1][bi]; q < m->pos[1][bi + 1]; q++)                        \
            for (int32_t s = 0; s < BLOCK * BLOCK; s++) {                                  \
                const int64_t p = (int64_t)q * BLOCK * BLOCK + s;                          \
                const int64_t i = bi * BLOCK + s / BLOCK;                                  \
                const int64_t j = (int64_t)m->crd[1][q] * BLOCK + s % BLOCK;               \
                EACH;                                                                      \
            }

/* ---- what is done --------------------------------------------------------------- */

#define ARRAYS(TA, TX, TY)                                                                 \
    const packed *m = &c->in[0];                                                           \
    const TA *restrict av = m->val;                                                        \
    const TX *restrict xv = c->in[1].val, *restrict z = c->in[2].val;                      \
    TY *restrict y = c->out;                                                               \
    (void)xv, (void)z;
#define ENTRY(TA)                                                                          \
    const TA a = av[p];                                                                    \
    (void)(i + j)

/* y(i) is the sum of TERM. */
#define MXV(...) MXV_OF(__VA_ARGS__)
#define MXV_OF(WALK, TA, TX, TY, PLUS, TERM)                                               \
    ARRAYS(TA, TX, TY)                                                                     \
    const TX *restrict x = xv;                                                             \
    (void)x;                                                                               \
    WALK(TY sum = 0, ENTRY(TA); sum = (TY)PLUS(sum, TERM), y[i] = sum)
#define MXV_ADD(WALK, T, PLUS, TERM)                                                       \
    ARRAYS(T, T, T)                                                                        \
    const T *restrict x = xv;                                                              \
    (void)x;                                                                               \
    memset(y, 0, (size_t)c->length * sizeof *y);                                           \
    WALK(ENTRY(T); y[i] = (T)PLUS(y[i], TERM))

/* The same as a list of those that had a term. */
#define MXV_LIST(WALK, T, PLUS, TERM)                                                      \
    ARRAYS(T, T, T)                                                                        \
    const T *restrict x = xv;                                                              \
    T *restrict sum = calloc((size_t)m->m, sizeof *sum);                                   \
    bool *restrict set = calloc((size_t)m->m, sizeof *set);                                \
    (void)x;                                                                               \
    WALK(ENTRY(T); set[i] = true; sum[i] = (T)PLUS(sum[i], TERM))                          \
    int64_t n = 0;                                                                         \
    for (int32_t i = 0; i < m->m; i++)                                                     \
        if (set[i]) c->crd[n] = i, y[n++] = sum[i];                                        \
    free(sum);                                                                             \
    free(set);

#define EACH_COLUMN for (int64_t k = 0; k < COLUMNS; k++)
/* Y(i,k) is LAST of s, the sum of TERM. */
#define MM(WALK, TA, TX, TY, PLUS, TERM, LAST)                                             \
    ARRAYS(TA, TX, TY)                                                                     \
    WALK(                                                                                  \
        TY *restrict row = y + i * COLUMNS;                                                \
        memset(row, 0, COLUMNS * sizeof *row), ENTRY(TA);                                  \
        const TX *restrict x = xv + j * COLUMNS;                                           \
        EACH_COLUMN row[k] = (TY)PLUS(row[k], TERM), EACH_COLUMN {                         \
            const TY s = row[k];                                                           \
            row[k] = LAST;                                                                 \
        })
#define MM_ADD(WALK, T, PLUS, TERM)                                                        \
    ARRAYS(T, T, T)                                                                        \
    memset(y, 0, (size_t)c->length * sizeof *y);                                           \
    WALK(ENTRY(T); const T *restrict x = xv + j * COLUMNS; T *row = y + i * COLUMNS;       \
         EACH_COLUMN row[k] = (T)PLUS(row[k], TERM))
/* The same with X(k,j): of the orders of the loops the one whose sums stay in registers. */
#define MM_TURNED(T)                                                                       \
    ARRAYS(T, T, T)                                                                        \
    const int64_t columns = m->m;                                                          \
    for (int64_t i = 0; i < m->n; i++)                                                     \
        EACH_COLUMN                                                                        \
        {                                                                                  \
            T sum = 0;                                                                     \
            for (int32_t p = m->pos[1][i]; p < m->pos[1][i + 1]; p++)                      \
                sum = (T)(sum + av[p] * xv[k * columns + m->crd[1][p]]);                   \
            y[i * COLUMNS + k] = sum;                                                      \
        }
/* A csr result with the places of the operand. */
#define EACH_ENTRY(TA, TY, VALUE)                                                          \
    ARRAYS(TA, TY, TY)                                                                     \
    const TY *restrict x = xv;                                                             \
    (void)x;                                                                               \
    c->pos[0] = 0;                                                                         \
    for (int64_t i = 0; i < m->n; i++) {                                                   \
        for (int32_t p = m->pos[1][i]; p < m->pos[1][i + 1]; p++) {                        \
            const int32_t j = m->crd[1][p];                                                \
            ENTRY(TA);                                                                     \
            c->crd[p] = j;                                                                 \
            y[p] = VALUE;                                                                  \
        }                                                                                  \
        c->pos[i + 1] = m->pos[1][i + 1];                                                  \
    }
/* A matrix turned round, by counting its columns. */
#define TURN(T)                                                                            \
    ARRAYS(T, T, T)                                                                        \
    int32_t *at = c->pos;                                                                  \
    memset(at, 0, (size_t)(m->m + 1) * sizeof *at);                                        \
    for (int32_t p = 0; p < m->pos[1][m->n]; p++)                                          \
        at[m->crd[1][p] + 1]++;                                                            \
    for (int64_t j = 0; j < m->m; j++)                                                     \
        at[j + 1] += at[j];                                                                \
    for (int64_t i = m->n; i-- > 0;)                                                       \
        for (int32_t p = m->pos[1][i + 1]; p-- > m->pos[1][i];) {                          \
            const int32_t q = --at[m->crd[1][p] + 1];                                      \
            c->crd[q] = (int32_t)i;                                                        \
            y[q] = av[p];                                                                  \
        }                                                                                  \
    memmove(at, at + 1, (size_t)m->m * sizeof *at);                                        \
    at[m->m] = m->pos[1][m->n];

#define ROW(name, input, text, operands, loop)                                             \
    void cliff_##name(cliff *c)                                                            \
    {                                                                                      \
        loop                                                                               \
    }
#include "cliffs.def"
