/* schedule.h: what the files of schedule commands share. */
#ifndef STC_PLAN_SCHEDULE_H
#define STC_PLAN_SCHEDULE_H

#include "build.h"

/* An error at a command or at one of its arguments. */
stc_status command_fail(const plan *pl, const ast *at, const char *what, ...)
    ERROR_LIKE(3, 4);

/* Argument k of a command, the name of an index: its indices; 0: none, told. */
uint64_t schedule_argument(const plan *pl, const ast *command, int k, const char *usage);
/* Takes `from` out of the order of loops, and puts the names (NULL: none) there. */
void schedule_replace(plan *pl, const char *from, const char *a, const char *b);
/* The place of a name in the order, -1: anywhere. */
int schedule_place(const plan *pl, const char *name);

/* relation.c: the commands; afterwards, what follows from them together. */
stc_status schedule_split(plan *pl, const ast *command);
stc_status schedule_fuse(plan *pl, const ast *command);
stc_status schedule_pos(plan *pl, const ast *command);
stc_status relation_settle(plan *pl);
/* Whether `at` may be the name of a new index; adds it, -1 told. */
stc_status schedule_new_name(const plan *pl, const ast *command, const ast *at);
int schedule_add_index(plan *pl, const ast *at, bindex like);

/* Where a part of the right side stands: the nodes from all of it down to that part. */
enum { WAY_MAX = 64 };
typedef struct way {
    bexpr **at[WAY_MAX];
    int n;
} way;
bool way_down(way *w, bexpr **at); /* false: that is too far down */

/* precompute.c: the command; and what stands at the end of a way is computed first: p
 * begins there, its indices in W are added, and W has like's name and policy. */
stc_status schedule_precompute(plan *pl, const ast *command);
void precompute_begin(precomputed *p, const way *w, const ast *at);
stc_status precompute_part(plan *pl, way *w, prog_tensor *like, precomputed *p);
/* precompute_inner.c: reductions inside of functions whose loops are to be outside. */
stc_status precompute_inner(plan *pl);
/* The relation that takes an index apart or replaces it; NULL: none. */
const relation *relation_user(const plan *pl, int index);
/* The statement's own index, the outermost that an index is made of. */
int relation_first(const plan *pl, int index);
/* The first or last of the nested loops that an index stands for: itself, or those
 * of a relation that isn't real. */
int relation_loop(const plan *pl, int index, bool last);

/* The number of a policy, -1: no such. */
int schedule_policy(const ctx *cx, const ast *at);

#endif
