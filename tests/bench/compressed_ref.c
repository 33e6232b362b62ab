/* compressed_ref.c: inputs with repetition, and the loops over dense arrays
 * that computing on them compressed is measured against. */
#include "compressed.h"
#include <stdlib.h>
#include <string.h>

/* ---- inputs ----------------------------------------------------------------------- */

static uint32_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void *plane(const planes *p)
{
    return xalloc((size_t)(p->n * p->m) * (p->type == STC_I32 ? 4 : 1));
}

static int32_t *runs(const planes *p, int longest, uint64_t seed)
{
    int32_t *a = plane(p);
    for (int64_t k = 0; k < p->n * p->m;) {
        int64_t n = 1 + draw(&seed) % (uint32_t)longest;
        const int32_t v = (int32_t)(draw(&seed) % 256);
        for (; n > 0 && k < p->n * p->m; n--)
            a[k++] = v;
    }
    return a;
}

/* A thing in a hundred, anywhere. */
static int32_t *sparse(const planes *p, uint64_t seed)
{
    int32_t *a = plane(p);
    for (int64_t k = 0; k < p->n * p->m; k++)
        a[k] = draw(&seed) % 100 == 0;
    return a;
}

static void disc(uint8_t *a, const planes *p, int64_t y, int64_t x, int64_t r, uint8_t v)
{
    for (int64_t i = y - r; i <= y + r; i++)
        for (int64_t j = x - r; j <= x + r; j++)
            if (i >= 0 && i < p->n && j >= 0 && j < p->m &&
                (i - y) * (i - y) + (j - x) * (j - x) <= r * r)
                a[i * p->m + j] = v;
}

/* Black strokes on white, as people draw. */
static uint8_t *sketch(const planes *p, uint64_t seed)
{
    uint8_t *a = plane(p);
    memset(a, 255, (size_t)(p->n * p->m));
    for (int stroke = 0; stroke < 14; stroke++) {
        int64_t y = draw(&seed) % p->n, x = draw(&seed) % p->m;
        int64_t dy = draw(&seed) % 5 - 2, dx = draw(&seed) % 5 - 2;
        for (int step = 0; step < 200; step++) {
            disc(a, p, y, x, 2, 0);
            if (step % 20 == 0) dy = draw(&seed) % 5 - 2, dx = draw(&seed) % 5 - 2;
            y += dy, x += dx;
        }
    }
    return a;
}

/* Frames below each other: a ground of flat colours, and one that moves on it. */
enum { FRAMES = 12, FRAME_ROWS = 240 };
static uint8_t *cartoon(const planes *p)
{
    uint8_t *a = plane(p);
    for (int64_t f = 0; f < FRAMES; f++) {
        uint8_t *to = a + f * FRAME_ROWS * p->m;
        const planes one = {.n = FRAME_ROWS, .m = p->m};
        memset(to, 180, (size_t)(120 * p->m));
        memset(to + 120 * p->m, 90, (size_t)(120 * p->m));
        disc(to, &one, 40, 60, 24, 240);
        disc(to, &one, 150, 30 + 20 * f, 36, 60);
        disc(to, &one, 140, 40 + 20 * f, 5, 255);
    }
    return a;
}

/* A subtitle's letters: where the mask is 1, and how bright. */
static void subtitle(planes *p)
{
    uint64_t seed = 5;
    uint8_t *mask = plane(p), *text = plane(p);
    memset(mask, 0, (size_t)(p->n * p->m));
    memset(text, 0, (size_t)(p->n * p->m));
    for (int64_t f = 0; f < FRAMES; f++)
        for (int64_t j = 60; j < p->m - 60; j += 3 + draw(&seed) % 6)
            for (int64_t i = 200; i < 220; i++)
                for (int64_t k = j; k < j + 2; k++) {
                    mask[(f * FRAME_ROWS + i) * p->m + k] = 1;
                    text[(f * FRAME_ROWS + i) * p->m + k] = 250;
                }
    p->in[1] = mask;
    p->in[2] = text;
}

/* The top left part of a picture, white where it is too small. */
static uint8_t *picture(const planes *p, const char *name)
{
    char path[256];
    int w, h;
    snprintf(path, sizeof path, "../shared/data/images/pgm/%s.pgm", name);
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    uint8_t *a = NULL;
    if (fscanf(f, "P5 %d %d 255", &w, &h) == 2 && w > 0 && h > 0 && fgetc(f) != EOF) {
        uint8_t *row = xalloc((size_t)w);
        a = plane(p);
        memset(a, 255, (size_t)(p->n * p->m));
        for (int64_t i = 0; i < h && fread(row, 1, (size_t)w, f) == (size_t)w; i++)
            if (i < p->n) memcpy(a + i * p->m, row, (size_t)(w < p->m ? w : p->m));
        free(row);
    }
    fclose(f);
    return a;
}

static bool pictures(planes *p, const char *a, const char *b)
{
    p->in[0] = picture(p, a);
    p->in[1] = picture(p, b);
    return p->in[0] && p->in[1];
}

/* Two thresholds of one picture, and four rectangles of interest. */
static bool thresholds(planes *p, const char *name)
{
    if (!pictures(p, name, name)) return false;
    uint8_t *a = p->in[0], *b = p->in[1], *roi = plane(p);
    memset(roi, 0, (size_t)(p->n * p->m));
    for (int64_t k = 0; k < p->n * p->m; k++) {
        a[k] = a[k] > 255 * 3 / 10;
        b[k] = b[k] > 255 * 4 / 10;
    }
    for (int64_t i = 0; i < 40; i++)
        for (int64_t k = 0; k < 4; k++)
            memset(roi + (p->n / 2 + (k / 2 ? 10 : -50) + i) * p->m + p->m / 2 +
                       (k % 2 ? 10 : -50),
                   1, 40);
    p->in[2] = roi;
    return true;
}

bool planes_make(const char *input, planes *p)
{
    bool ok = true;
    *p = (planes){.type = STC_U8};
    if (!strncmp(input, "runs ", 5)) {
        *p = (planes){.type = STC_I32, .n = 10000, .m = 1000}; /* the paper's size */
        p->in[0] = runs(p, atoi(input + 5), 1);
        p->in[1] = runs(p, atoi(input + 5), 2);
        p->in[2] = sparse(p, 3);
    } else if (!strcmp(input, "sketch")) {
        p->n = p->m = 1111;
        p->in[0] = sketch(p, 3);
        p->in[1] = sketch(p, 4);
    } else if (!strcmp(input, "cartoon")) {
        p->n = FRAMES * FRAME_ROWS;
        p->m = 426;
        p->in[0] = cartoon(p);
        subtitle(p);
    } else if (!strcmp(input, "clipart")) {
        p->n = 450, p->m = 310;
        ok = pictures(p, "clipart_reminder_hand_benji_park_01", "clipart_rnd_rectg_l");
    } else if (!strcmp(input, "omniglot")) {
        p->n = p->m = 105;
        ok = pictures(p, "omniglot_0251_11", "omniglot_0270_08");
    } else {
        p->n = 181, p->m = 217;
        ok = thresholds(p, "mri_ch2_ax2_90");
    }
    p->out = plane(p);
    p->nout = p->n * p->m;
    return ok;
}

void planes_free(planes *p)
{
    for (int k = 0; k < 3; k++)
        free(p->in[k]);
    free(p->out);
}

/* ---- loops ------------------------------------------------------------------------ */

#define DENSE(NAME, T, e)                                                                  \
    void dense_##NAME(planes *p)                                                           \
    {                                                                                      \
        const T *b = p->in[0], *c = p->in[1], *d = p->in[2];                               \
        T *restrict out = p->out;                                                          \
        const int64_t n = p->n * p->m;                                                     \
        (void)c, (void)d;                                                                  \
        for (int64_t k = 0; k < n; k++)                                                    \
            out[k] = (T)(e);                                                               \
    }
DENSE(scale, int32_t, b[k] * 3)
DENSE(multiply, int32_t, b[k] * c[k])
DENSE(mask, int32_t, b[k] * d[k])
DENSE(blend, uint8_t, 0.4 * b[k] + 0.6 * c[k])
DENSE(edges, uint8_t, (b[k] & d[k]) ^ (c[k] & d[k]))
DENSE(brighten, uint8_t, b[k] + 60 < 255 ? b[k] + 60 : 255)
DENSE(subtitle, uint8_t, b[k] * (1 - c[k]) + d[k] * c[k])

void dense_mxv(planes *p)
{
    const int32_t *b = p->in[0], *c = p->in[1];
    int32_t *restrict out = p->out;
    for (int64_t i = 0; i < p->n; i++) {
        int32_t sum = 0;
        for (int64_t j = 0; j < p->m; j++)
            sum += b[i * p->m + j] * c[j];
        out[i] = sum;
    }
    p->nout = p->n;
}
