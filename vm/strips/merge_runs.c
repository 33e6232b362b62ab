/* merge_runs.c: merging keys that mostly follow each other: pictures, bands, blocks.
 *
 * A stretch is as many keys in a row, each one more than that before, as the same
 * lists have and the others haven't. It is found by doubling, and costs what its
 * columns cost to write.
 */
#include "merge_keys.h"
#include <stdbool.h>

enum { LISTS = 6, SAMPLES = 32 };

bool keys_run(const key_list *x, int lists)
{
    bool some = false;
    for (int w = 0; w < lists; w++) {
        if (x[w].n < 2 * SAMPLES) continue;
        some = true;
        const int stride = (x[w].n - 1) / SAMPLES;
        int follow = 0;
        for (int k = 0; k < SAMPLES; k++)
            follow += x[w].key[k * stride + 1] == x[w].key[k * stride] + 1;
        if (follow < SAMPLES * 7 / 8) return false;
    }
    return some;
}

/* How many of the n keys follow each other from the first on, if `most` are enough:
 * keys ascend, so that only the last of them has to be looked at. */
static int64_t following(const int64_t *key, int64_t n, int64_t most)
{
    int64_t have = 1, step = 1;
    if (most > n) most = n;
    while (have + step <= most && key[have + step - 1] == key[0] + have + step - 1) {
        have += step;
        step *= 2;
    }
    for (; step > 0; step /= 2)
        if (have + step <= most && key[have + step - 1] == key[0] + have + step - 1)
            have += step;
    return have;
}

static void write_keys(int64_t *restrict key, int64_t first, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        key[k] = first + k;
}

static void write_places(int64_t *restrict to, int64_t first, int64_t n, bool has)
{
    for (int64_t k = 0; k < n; k++)
        to[k] = has ? first + k : -1;
}

int keys_merge_runs(const key_list *x, int lists, uint64_t table, int64_t *key)
{
    int64_t p[LISTS] = {0};
    int64_t n = 0;
    for (;;) {
        int64_t least = KEY_END, most;
        uint64_t mask = 0;
        for (int w = 0; w < lists; w++) {
            const int64_t next = x[w].key[p[w]];
            mask = next < least ? 0 : mask;
            least = next < least ? next : least;
            mask |= (uint64_t)(next == least) << w;
        }
        if (least == KEY_END) return (int)n;
        most = KEY_END - least;
        for (int w = 0; w < lists; w++)
            if (!(mask >> w & 1) && x[w].key[p[w]] - least < most)
                most = x[w].key[p[w]] - least;
        for (int w = 0; w < lists; w++)
            if (mask >> w & 1) most = following(x[w].key + p[w], x[w].n - p[w], most);
        if (table >> mask & 1) {
            write_keys(key + n, least, most);
            for (int w = 0; w < lists; w++)
                write_places(x[w].to + n, x[w].base + p[w], most, mask >> w & 1);
            n += most;
        }
        for (int w = 0; w < lists; w++)
            p[w] += mask >> w & 1 ? most : 0;
    }
}
