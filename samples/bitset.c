/* bitset.c: a program that brings a level kind of its own.
 *
 * A fiber is a set of bits, 64 to a word; a stored coordinate's position is the
 * number of bits before it, which each word's rank gives with one popcount:
 * STC_AUX has the words of all fibers, STC_POS the bits before each word, and
 * their total. One bit a place instead of 32 a coordinate: smaller from a
 * density of 1/20 on, and it locates, which compressed levels don't.
 *
 * A matrix in `(i,j) -> (i : dense, j : bitset)` then takes part in any
 * expression, and its programs can be saved and loaded.
 */
#include <math.h>
#include <stcvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the kind ---------------------------------------------------------------------- */

static int64_t words_of(const stc_level *lv)
{
    return lv->extent / 64 + (lv->extent % 64 != 0);
}

static int64_t rank_of(const stc_level *lv, int64_t word, int bit)
{
    const uint64_t *bits = lv->array[STC_AUX].data;
    const int64_t *before = lv->array[STC_POS].data;
    const uint64_t below = bits[word] & ((UINT64_C(1) << bit) - 1);
    return before[word] + __builtin_popcountll(below);
}

static int bitset_seek(void *context, const stc_level *lv, int64_t parent, int64_t i,
                       stc_interval *out)
{
    (void)context;
    const int64_t first = parent * words_of(lv), from = i - lv->base;
    if (from >= lv->extent) return 0;
    const uint64_t *bits = lv->array[STC_AUX].data;
    int64_t word = from / 64;
    uint64_t rest = bits[first + word] & (~UINT64_C(0) << from % 64);
    while (!rest && ++word < words_of(lv))
        rest = bits[first + word];
    if (!rest) return 0;
    const int bit = __builtin_ctzll(rest);
    out->lo = lv->base + word * 64 + bit;
    out->hi = out->lo + 1;
    out->position = rank_of(lv, first + word, bit);
    return 1;
}

static int64_t bitset_locate(void *context, const stc_level *lv, int64_t parent, int64_t i)
{
    (void)context;
    const int64_t at = i - lv->base, word = parent * words_of(lv) + at / 64;
    const uint64_t *bits = lv->array[STC_AUX].data;
    return bits[word] >> at % 64 & 1 ? rank_of(lv, word, (int)(at % 64)) : -1;
}

static stc_status bitset_pack(void *context, stc_level *lv, int64_t n, const int64_t *coord,
                              int64_t *pos)
{
    (void)context;
    int64_t words;
    if (__builtin_mul_overflow(lv->parents, words_of(lv), &words) || words == INT64_MAX)
        return stc_level_fail(lv, STC_ERR_OVERFLOW, "the bit set is too large");
    uint64_t *bits = stc_level_array(lv, STC_AUX, 8, words);
    int64_t *before = stc_level_array(lv, STC_POS, 8, words + 1);
    if (!bits || !before) return STC_ERR_MEMORY;
    memset(bits, 0, (size_t)words * sizeof *bits);
    for (int64_t e = 0; e < n; e++) {
        const int64_t at = coord[e] - lv->base;
        bits[pos[e] * words_of(lv) + at / 64] |= UINT64_C(1) << at % 64;
        pos[e] = e; /* sorted by parent and coordinate: its rank */
    }
    before[0] = 0;
    for (int64_t w = 0; w < words; w++)
        before[w + 1] = before[w] + __builtin_popcountll(bits[w]);
    lv->size = n;
    return STC_OK;
}

static stc_status bitset_check(void *context, stc_level *lv)
{
    (void)context;
    const stc_array *aux = &lv->array[STC_AUX], *pos = &lv->array[STC_POS];
    int64_t words;
    if (__builtin_mul_overflow(lv->parents, words_of(lv), &words) || words == INT64_MAX)
        return stc_level_fail(lv, STC_ERR_OVERFLOW, "the bit set is too large");
    if (aux->width != 8 || aux->stride != 8 || pos->width != 8 || pos->stride != 8)
        return stc_level_fail(lv, STC_ERR_DATA, "words and ranks must have 8 bytes");
    if (aux->length != words || pos->length != words + 1)
        return stc_level_fail(lv, STC_ERR_DATA, "words or ranks are missing");
    const uint64_t *bits = aux->data;
    const int64_t *before = pos->data;
    int64_t n = 0;
    for (int64_t w = 0; w < words; w++) {
        if (before[w] != n) return stc_level_fail(lv, STC_ERR_DATA, "a rank is wrong");
        n += __builtin_popcountll(bits[w]);
        const bool last = (w + 1) % words_of(lv) == 0 && lv->extent % 64;
        if (last && bits[w] >> lv->extent % 64)
            return stc_level_fail(lv, STC_ERR_DATA, "a bit lies outside the extent");
    }
    if (before[words] != n) return stc_level_fail(lv, STC_ERR_DATA, "a rank is wrong");
    lv->size = n;
    return STC_OK;
}

static const stc_level_kind bitset = {
    .size = sizeof(stc_level_kind),
    .name = "bitset",
    .flags = STC_KIND_COMPACT,
    .arrays = 1u << STC_POS | 1u << STC_AUX,
    .seek = bitset_seek,
    .locate = bitset_locate,
    .pack = bitset_pack,
    .check = bitset_check,
};

/* ---- its use ------------------------------------------------------------------------- */

#define ROWS 300
#define COLUMNS 517
#define BITS "(i,j) -> (i : dense, j : bitset)"

static double matrix[ROWS][COLUMNS];

/* y of `text` with A in a format; saved and loaded again if `twice`. */
static stc_status evaluate(stc_machine *m, const char *format, const char *text, bool twice,
                           double *y)
{
    const int64_t shape[2] = {ROWS, COLUMNS};
    const stc_decl decl[] = {{.name = "A", .format = format},
                             {.name = "B", .format = "csr"},
                             {.name = "C", .format = format}};
    stc_tensor *A = NULL, *B = NULL;
    stc_program *p = NULL;
    const stc_tensor *result;
    stc_status st = stc_tensor_from_dense(m, format, STC_F64, 2, shape, NULL, matrix, &A);
    if (!st) st = stc_tensor_convert(A, "csr", -1, &B);
    if (!st) st = stc_compile(m, text, decl, 3, &p);
    if (!st && twice) {
        void *bytes;
        size_t size;
        st = stc_program_encode(p, &bytes, &size);
        stc_program_free(p);
        p = NULL;
        if (!st) {
            st = stc_program_decode(m, bytes, size, &p);
            stc_text_free(m, bytes);
        }
    }
    if (!st) st = stc_bind(p, "A", A);
    if (!st) st = stc_bind(p, "B", B);
    if (!st) st = stc_run(p);
    if (!st) st = stc_result(p, "y", &result);
    if (!st) st = stc_tensor_to_dense(result, y);
    if (!st && !strcmp(format, BITS) && !twice)
        printf("%-36s %llu bytes, csr %llu\n", text,
               (unsigned long long)stc_tensor_bytes(A),
               (unsigned long long)stc_tensor_bytes(B));
    stc_program_free(p);
    stc_tensor_free(A);
    stc_tensor_free(B);
    return st;
}

static int failed(const stc_machine *m)
{
    fprintf(stderr, "bitset: %s\n", stc_error(m)->message);
    return 1;
}

int main(void)
{
    static const char *const text[] = {
        "y(i) = A(i,j) * B(i,j)",
        "y(i) = max(j: A(i,j) + B(i,j))",
        "C(i,j) = B(i,j) * A(i,j); y(i) = C(i,j)",
        "C(i,j) = B(i,j); y(i) = C(i,j) + A(i,j)",
    };
    stc_machine *m;
    if (stc_open(NULL, &m) != STC_OK) return 1;
    if (stc_level_register(m, &bitset)) return failed(m);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            if ((i * 7 + j * j) % 5 == 0) matrix[i][j] = 1 + (i + j) % 9;
    for (int t = 0; t < 4; t++) {
        double want[ROWS], got[ROWS];
        if (evaluate(m, "csr", text[t], false, want)) return failed(m);
        for (int twice = 0; twice < 2; twice++) {
            if (evaluate(m, BITS, text[t], twice, got)) return failed(m);
            for (int i = 0; i < ROWS; i++) {
                if (fabs(got[i] - want[i]) <= 1e-9 * fabs(want[i])) continue;
                fprintf(stderr, "bitset: %s: row %d is %g, expected %g\n", text[t], i,
                        got[i], want[i]);
                return 1;
            }
        }
    }
    stc_close(m);
    return 0;
}
