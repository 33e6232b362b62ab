/* slopes.c: derivatives along random directions against central differences, improved once
 * by Richardson's extrapolation.
 */
#include "slopes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 4096 };

/* The stored entries of a tensor, and a direction. */
typedef struct entries {
    int64_t n, coord[STC_MAX_ORDER][ENTRIES];
    int order;
    double value[ENTRIES], along[ENTRIES];
} entries;

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int add_entry(void *context, const int64_t *coords, stc_value v)
{
    entries *const e = context;
    if (e->n == ENTRIES) return 1;
    for (int k = 0; k < e->order; k++)
        e->coord[k][e->n] = coords[k];
    e->value[e->n++] = v.f;
    return 0;
}

static bool read_entries(const stc_tensor *t, entries *e)
{
    e->n = 0;
    e->order = stc_tensor_order(t);
    return stc_tensor_visit(t, add_entry, e) == STC_OK;
}

/* Gives the session the tensor with its values moved along the direction. */
static bool put_moved(stc_machine *m, stc_session *s, const char *name,
                      const stc_tensor *like, const entries *e, double h)
{
    static int64_t coord[STC_MAX_ORDER * ENTRIES];
    static double value[ENTRIES];
    static float narrow[ENTRIES];
    const stc_value fill = stc_tensor_fill(like);
    const bool single = stc_tensor_type(like) == STC_F32;
    stc_tensor *t;
    for (int k = 0; k < e->order; k++)
        memcpy(coord + k * e->n, e->coord[k], (size_t)e->n * sizeof *coord);
    for (int64_t i = 0; i < e->n; i++) {
        value[i] = e->value[i] + h * e->along[i];
        narrow[i] = (float)value[i];
    }
    if (stc_tensor_from_coords(m, stc_tensor_format(like), stc_tensor_type(like), e->order,
                               stc_tensor_shape(like), &fill, e->n, coord,
                               single ? (void *)narrow : value, &t))
        return false;
    return stc_session_put(s, name, t) == STC_OK;
}

/* s with the tensor moved by h. */
static bool scalar_at(stc_machine *m, stc_session *in, const slopes *s, const char *name,
                      const stc_tensor *like, const entries *e, double h, double *out)
{
    const stc_tensor *t;
    stc_value v;
    if (!put_moved(m, in, name, like, e, h) || stc_session_exec(in, s->script, "script") ||
        stc_session_get(in, "s", &t) || stc_tensor_get(t, NULL, &v))
        return false;
    *out = v.f;
    return true;
}

static bool same_shape(const stc_tensor *a, const stc_tensor *b)
{
    if (stc_tensor_order(a) != stc_tensor_order(b)) return false;
    for (int k = 0; k < stc_tensor_order(a); k++)
        if (stc_tensor_shape(a)[k] != stc_tensor_shape(b)[k]) return false;
    return !strcmp(stc_tensor_format(a), stc_tensor_format(b)) &&
           stc_tensor_type(a) == stc_tensor_type(b) &&
           stc_tensor_stored(a) == stc_tensor_stored(b);
}

/* What differences over steps of h along a direction say of the derivative along it. */
static slope differences(stc_machine *m, stc_session *in, slopes *s, const char *name,
                         stc_tensor *like, entries *e, double given, double size, double h)
{
    static const double step[5] = {0, 1, -1, 0.5, -0.5};
    double at[5];
    for (int k = 4; k >= 0; k--)
        if (!scalar_at(m, in, s, name, like, e, h * step[k], &at[k])) return SLOPE_REFUSED;
    const bool infinite = strstr(s->script, "min(") || strstr(s->script, "max(") ||
                          strstr(s->script, "norm("); /* of nothing, or at a point */
    if (!isfinite(given) && infinite) return SLOPE_ROUGH;
    const double far = (at[1] - at[2]) / (2 * h), near = (at[3] - at[4]) / h;
    const double best = (4 * near - far) / 3, scale = 1 + size + fabs(best);
    const double noise = 1e-12 * (1 + fabs(at[0])) / h;
    if (!isfinite(best) || fabs(far - near) > 1e-4 * (1 + fabs(best)) + noise)
        return SLOPE_ROUGH;
    if (fabs(best - given) <= 2 * fabs(far - near) + 1e-6 * scale + 20 * noise)
        return SLOPE_AGREES;
    snprintf(s->why, sizeof s->why,
             "by %s: %.12g, and differences say %.12g (%.12g, %.12g)", name, given, best,
             far, near);
    return SLOPE_WRONG;
}

/* Both ways of one tensor. */
static slope compare_one(stc_machine *m, stc_session *in, slopes *s, const char *name,
                         const stc_tensor *g, uint64_t *state)
{
    static entries e, d;
    const stc_tensor *now;
    stc_tensor *like;
    double given = 0, size = 0;
    const double h = s->smallest > 0 ? s->smallest : 1e-3;
    if (stc_session_get(in, name, &now) || !read_entries(now, &e) || !read_entries(g, &d) ||
        stc_tensor_convert(now, NULL, -1, &like))
        return SLOPE_REFUSED;
    if (!same_shape(now, g)) {
        snprintf(s->why, sizeof s->why,
                 "%s is %s with %lld stored, its derivative %s with %lld", name,
                 stc_tensor_format(now), (long long)stc_tensor_stored(now),
                 stc_tensor_format(g), (long long)stc_tensor_stored(g));
        stc_tensor_free(like);
        return SLOPE_WRONG;
    }
    for (int64_t i = 0; i < e.n; i++) {
        stc_value v;
        int64_t coords[STC_MAX_ORDER];
        for (int k = 0; k < e.order; k++)
            coords[k] = e.coord[k][i];
        e.along[i] = (double)(next(state) >> 11) / 9007199254740992.0 * 2 - 1;
        if (stc_tensor_get(g, coords, &v)) v.f = NAN;
        given += v.f * e.along[i];
        size += fabs(v.f * e.along[i]);
    }
    /* a kink that lies inside of the steps isn't seen by them: shorter ones don't reach it
     */
    slope out = differences(m, in, s, name, like, &e, given, size, h);
    if (out == SLOPE_WRONG)
        out = differences(m, in, s, name, like, &e, given, size, h / 100);
    stc_tensor_free(like);
    return out;
}

static slope compare_all(stc_machine *m, stc_session *in, slopes *s)
{
    char text[800] = "(";
    uint64_t state = s->seed * 2 + 88172645463325252u;
    slope out = SLOPE_AGREES;
    stc_tensor *g[16] = {NULL};
    for (int k = 0; k < s->n; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%sby_%s", k ? ", " : "",
                 s->by[k]);
    snprintf(text + strlen(text), sizeof text - strlen(text), ") = grad(%s", s->grad);
    for (int k = 0; k < s->n; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", %s", s->by[k]);
    strcat(text, ")");
    s->refused = false;
    if (stc_session_exec(in, s->given, "given") ||
        stc_session_exec(in, s->script, "script"))
        return SLOPE_REFUSED;
    if (stc_session_exec(in, text, "grad")) {
        s->refused = true;
        return SLOPE_REFUSED;
    }
    for (int k = 0; k < s->n && !out; k++) {
        char name[64];
        const stc_tensor *t;
        snprintf(name, sizeof name, "by_%s", s->by[k]);
        if (stc_session_get(in, name, &t) || stc_tensor_convert(t, NULL, -1, &g[k]))
            out = SLOPE_WRONG;
    }
    bool rough = false;
    for (int k = 0; k < s->n && (!out || out == SLOPE_ROUGH); k++) {
        out = compare_one(m, in, s, s->by[k], g[k], &state);
        rough |= out == SLOPE_ROUGH;
    }
    for (int k = 0; k < s->n; k++)
        stc_tensor_free(g[k]);
    return out == SLOPE_AGREES && rough ? SLOPE_ROUGH : out;
}

slope slopes_compare(slopes *s)
{
    case_heap h = {0};
    stc_machine *m;
    stc_session *in;
    *s->why = 0;
    if (case_machine(&h, s->how, &m)) return SLOPE_REFUSED;
    slope out = stc_session_open(m, &in) ? SLOPE_REFUSED : compare_all(m, in, s);
    if (out == SLOPE_REFUSED) {
        const stc_error_info *const e = stc_error(m);
        snprintf(s->why, sizeof s->why, "%s:%d:%d: %s\n%s", e->file, e->line, e->column,
                 e->message, e->text);
    }
    stc_session_close(in);
    stc_close(m);
    if (h.held && out != SLOPE_WRONG) {
        snprintf(s->why, sizeof s->why, "%lld bytes are held", (long long)h.held);
        out = SLOPE_WRONG;
    }
    return out;
}
