/* recipe.h: how logical coordinates follow from level coordinates, and back:
 * the arithmetic of a format's map.
 */
#ifndef STC_FORMATS_RECIPE_H
#define STC_FORMATS_RECIPE_H

#include "format.h"

/* One mode from levels: MODE: level a. PART: level a times k, and b != 0: what the steps
 * before have made of the mode, which is below. FLAT: a part of level a, which flattens
 * `modes` modes from b on. DIFF: mode b plus k times level a. */
typedef struct mode_recipe {
    map_op op;
    int mode, a, b, modes;
    int64_t k;
} mode_recipe;

typedef struct recipe {
    int count;
    mode_recipe step[2 * STC_MAX_ORDER]; /* in an order that can be computed */
} recipe;

/* Fills r; returns a mode that no level determines, or -1. */
int format_recipe(const format *f, recipe *r);
/* For a level computed from a difference above: the level that has it, and the
 * one that has the other mode (-1: none). False if there is no difference. */
bool format_implied(const format *f, int l, int *diff, int *other);
/* Logical from level coordinates; false if outside the shape (padding). */
bool recipe_apply(const recipe *r, const int64_t *shape, const int64_t *levels,
                  int64_t *coords);
/* Level coordinate of logical coordinates (not for COUNT). */
int64_t map_coord(const level_map *m, const int64_t *shape, const int64_t *coords);
/* Base and extent of a level's coordinates; false on overflow. COUNT: 0. */
bool map_bounds(const level_map *m, const int64_t *shape, int64_t *base, int64_t *extent);

#endif
