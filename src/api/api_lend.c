/* api_lend.c: results that later runs store in the host's memory.
 */
#include "api.h"

/* Whether the values are all elements, row-major. */
static bool is_row_major(const format *f)
{
    bool is = format_is_dense(f);
    for (int l = 0; l < f->levels && is; l++)
        is = f->level[l].map.mode == l;
    return is;
}

/* The slot of a result; -1: told. */
static int result_slot(stc_program *w, const char *name)
{
    ctx *cx = &w->m->cx;
    const int i = name ? program_output(w->p, name) : -1;
    if (!name)
        fail_null(cx, "name");
    else if (i < 0)
        fail(cx, STC_ERR_ARGUMENT, "the program has no result named %s", name);
    return i;
}

/* It runs as it was compiled from now on, in slots that stay. */
static void keep_plan(stc_program *w)
{
    w->lent = true;
    machine_look(w->mc, false);
    w->now = NULL;
    w->ran = w->ready = false;
}

stc_status stc_lend_result(stc_program *w, const char *name, void *values, int64_t length)
{
    API_CALL(w, &w->m->cx);
    if (length < 0) return fail(cx, STC_ERR_ARGUMENT, "the length is negative");
    const int i = result_slot(w, name);
    if (i < 0) return cx->diag.status;
    const prog_tensor *row = &w->p->tensor[i];
    const bool dense = is_row_major(&row->fmt);
    if (row->role != ROLE_OUTPUT && !dense)
        return fail(cx, STC_ERR_ARGUMENT,
                    "%s is an operand, too, and not dense in the order of its modes: only "
                    "such a one is updated in the host's memory",
                    name);
    machine_lend(w->mc, i, values, length, dense && row->role == ROLE_OUTPUT);
    w->bind[i].lent = values;
    keep_plan(w);
    return STC_OK;
}

stc_status stc_lend_result_array(stc_program *w, const char *name, int l,
                                 stc_array_role role, stc_array array)
{
    API_CALL(w, &w->m->cx);
    const int i = result_slot(w, name);
    if (i < 0) return cx->diag.status;
    const prog_tensor *row = &w->p->tensor[i];
    if (l < 0 || l >= row->fmt.levels)
        return fail(cx, STC_ERR_ARGUMENT, "level %d of result %s, which has %d levels", l,
                    name, row->fmt.levels);
    const level_kind *kind = row->fmt.level[l].kind;
    if ((unsigned)role > STC_AUX || !(kind->arrays & (1u << role)))
        return fail(cx, STC_ERR_ARGUMENT, "%s: a %s level has no array of role %d", name,
                    kind->name, (int)role);
    if (row->role != ROLE_OUTPUT)
        return fail(cx, STC_ERR_ARGUMENT, "%s is an operand, too: expected a result alone",
                    name);
    index_array room;
    const stc_status st = array_of_host(cx, array, &room);
    if (st) return st;
    if (!array.data) room = (index_array){0};
    const stc_status made = machine_lend_array(w->mc, i, l, role, room);
    if (!made) keep_plan(w);
    return made;
}
