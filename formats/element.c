/* element.c: reading one element of a tensor of any format.
 *
 * At each level the coordinate follows from the map; it is located where the level can
 * and has it once, sought where it is in order, and searched for elsewhere. A level
 * that counts entries is walked whole: any of its coordinates may lead there.
 */
#include "internal.h"

typedef struct search {
    const tensor *t;
    int64_t coord[STC_MAX_ORDER]; /* of each level; not of those that count */
    bool drop;                    /* what equals the fill can't be told from padding */
    bool found;
    value sum;
} search;

static void search_level(search *s, int l, const cursor *up);

static void found_at(search *s, int l, const cursor *c)
{
    const tensor *t = s->t;
    if (l + 1 < t->fmt.levels) {
        cursor one = *c;
        const bool apart = level_apart(c->lv);
        for (; one.at < c->at_end; one.at = one.at_end) {
            one.at_end = apart ? one.at + 1 : c->at_end;
            search_level(s, l + 1, &one);
        }
        return;
    }
    for (int64_t p = c->at; p < c->at_end; p++) {
        const value v = type_load(t->type, t->vals, p);
        if (s->drop && class_equal(type_class(t->type), v, t->fill)) continue;
        s->sum = s->found ? value_add(t->type, s->sum, v) : v;
        s->found = true;
    }
}

static void search_level(search *s, int l, const cursor *up)
{
    const level *lv = &s->t->level[l];
    const int64_t i = s->coord[l];
    cursor c;
    if (s->t->fmt.level[l].map.op == MAP_COUNT) {
        for (cursor_open(&c, lv, up); c.lo != CURSOR_END; cursor_next(&c)) {
            for (int64_t k = c.lo; k < c.hi; k++) {
                if (cursor_stand(&c, k)) found_at(s, l, &c);
            }
        }
    } else if (lv->kind->caps & CAP_LOCATE && lv->props & PROP_UNIQUE) {
        lv->kind->locate(&c, lv, up, i);
        if (c.at != NONE) found_at(s, l, &c);
    } else if (lv->props & PROP_ORDERED) {
        cursor_open(&c, lv, up);
        cursor_seek(&c, i);
        if (cursor_stand(&c, i)) found_at(s, l, &c);
    } else {
        for (cursor_open(&c, lv, up); c.lo != CURSOR_END; cursor_next(&c)) {
            if (i >= c.lo && i < c.hi && cursor_stand(&c, i)) found_at(s, l, &c);
        }
    }
}

value tensor_get(const tensor *t, const int64_t *coords)
{
    if (!t->fmt.levels) return type_load(t->type, t->vals, 0);
    search s = {.t = t, .sum = t->fill, .drop = format_drops_fill(&t->fmt)};
    for (int l = 0; l < t->fmt.levels; l++) {
        s.coord[l] = map_coord(&t->fmt.level[l].map, t->shape, coords);
    }
    search_level(&s, 0, NULL);
    return type_round(t->type, s.sum);
}
