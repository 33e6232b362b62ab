/* recipe.c: the arithmetic of maps: logical coordinates to level coordinates,
 * and back.
 */
#include "recipe.h"

bool recipe_apply(const recipe *r, const int64_t *shape, const int64_t *levels,
                  int64_t *coords)
{
    for (int s = 0; s < r->count; s++) {
        const mode_recipe *m = &r->step[s];
        int64_t i = levels[m->a];
        switch (m->op) {
        case MAP_PART:
            i = i * m->k + (m->b ? coords[m->mode] : 0);
            break;
        case MAP_FLAT:
            for (int t = m->b + m->modes - 1; t > m->mode; t--)
                i /= shape[t];
            i %= shape[m->mode];
            break;
        case MAP_DIFF:
            i = coords[m->b] + m->k * i;
            break;
        default:
            break;
        }
        if (i < 0 || i >= shape[m->mode]) return false;
        coords[m->mode] = i;
    }
    return true;
}

int64_t map_coord(const level_map *m, const int64_t *shape, const int64_t *coords)
{
    int64_t i = coords[m->mode];
    switch ((map_op)m->op) {
    case MAP_PART:
        return m->n ? i / m->k % m->n : i / m->k;
    case MAP_DIFF:
        return i - coords[m->mode2];
    case MAP_FLAT:
        for (int t = m->mode + 1; t < m->mode + m->modes; t++)
            i = i * shape[t] + coords[t];
        return i;
    default:
        return i;
    }
}

bool map_bounds(const level_map *m, const int64_t *shape, int64_t *base, int64_t *extent)
{
    const int64_t n = shape[m->mode];
    *base = 0;
    switch ((map_op)m->op) {
    case MAP_MODE:
        *extent = n;
        return true;
    case MAP_PART:
        *extent = m->n ? m->n : n / m->k + (n % m->k != 0);
        return true;
    case MAP_COUNT:
        *extent = 0;
        return true;
    case MAP_DIFF:
        *extent = 0;
        if (!n || !shape[m->mode2]) return true;
        *base = -(shape[m->mode2] - 1);
        return size_add(n, shape[m->mode2] - 1, extent);
    case MAP_FLAT:
        return size_product(shape + m->mode, m->modes, extent);
    }
    return false;
}
