/* report.c: what a machine runs, for people: the code with the tier that each
 * loop got, and the profile of the last run.
 */
#include "../super/super_tally.h"
#include "../threads/parallel_job.h"
#include "../work/ws.h"
#include "../code/text.h"

typedef struct report {
    const machine *mc;
    const loop **of; /* per instruction: the loop that begins there */
} report;

/* The shared loop that begins at lop i; NULL: none does. */
static const parallel_loop *was_shared(const machine *mc, int i)
{
    const struct parallel *par = mc->parallel;
    for (int k = 0; par && k < par->nloop; k++)
        if (par->loop[k].first == i) return &par->loop[k];
    return NULL;
}

static void note_tier(void *context, int pc, textbuf *out)
{
    const report *r = context;
    const loop *l = r->of[pc];
    if (!l) return;
    if (was_shared(r->mc, l->first)) text_add(out, "  ; shared by threads\n");
    if (l->super) {
        text_add(out, "  ; tier %d: ", l->super->tier);
        l->super->describe(l->super, out);
        text_add(out, "\n");
        return;
    }
    for (int i = 0; i < r->mc->nloop; i++) /* inside a loop that is taken over */
        if (r->mc->loops[i].super && r->mc->loops[i].first < l->first &&
            l->last < r->mc->loops[i].last)
            return;
    text_add(out, "  ; tier 1\n");
}

static stc_status loops_by_instruction(const machine *mc, report *r)
{
    *r = (report){.mc = mc, .of = mem_zero(mc->cx, mc->p->ncode + 1, sizeof *r->of)};
    if (!r->of) return mc->cx->diag.status;
    for (int i = 0; i < mc->nloop; i++)
        r->of[mc->origin[mc->loops[i].first]] = &mc->loops[i];
    return STC_OK;
}

stc_status machine_dump(const machine *mc, textbuf *out)
{
    report r;
    if (loops_by_instruction(mc, &r)) return mc->cx->diag.status;
    tables_print(mc->p, out);
    code_print(mc->p, out, note_tier, &r);
    mem_free(mc->cx, r.of, (size_t)(mc->p->ncode + 1) * sizeof *r.of);
    return out->failed ? mc->cx->diag.status : STC_OK;
}

/* How the workspace of slot k was kept, here and on other threads: the first one that there
 * is, with what all of them counted. */
static void note_workspace(const machine *mc, int k, textbuf *out)
{
    const struct parallel *par = mc->parallel;
    const workspace *w = NULL;
    long long listed = 0, batches = 0;
    for (int n = -1; n < (par ? par->nworker : 0); n++) {
        const workspace *x = (n < 0 ? mc : par->worker[n]->mc)->slot[k].ws;
        if (!x || !x->why) continue;
        if (!w) w = x;
        listed += x->listed;
        batches += x->batches;
    }
    if (!w) return;
    text_add(out, "workspace t%d: %s, %s", k, w->policy ? w->policy->name : w->kind->name,
             w->why);
    if (listed) text_add(out, "; %lld rows listed", listed);
    if (batches)
        text_add(out, "; %lld merges, %s", batches,
                 w->pipe ? "on a second thread" : "in turn");
    text_add(out, "\n");
}

/* The subsections that a loop visited, and the loops inside it that its tier took over. */
static void note_visits(const machine *mc, const loop *l, textbuf *out)
{
    uint64_t n = 0;
    for (int k = 0; k < mc->nloop; k++) {
        const loop *in = &mc->loops[k];
        if (!in->subsections) continue;
        const loop *by = in;
        while (by && !mc->profile[by->first].count)
            by = by->outer;
        if (by == l) n += in->visited;
    }
    if (n) text_add(out, " ; %llu subsections visited", (unsigned long long)n);
}

static void note_seen(const profile_row *row, textbuf *out)
{
    static const char *const kinds[] = {"runs", "blocks", "fibers"};
    for (int k = 0; k < SEEN_KINDS; k++)
        if (row->seen[k])
            text_add(out, " ; %llu %s visited", (unsigned long long)row->seen[k], kinds[k]);
}

double machine_spent(const machine *mc, int which)
{
    double ns = 0;
    for (int i = 0; mc->profile && i < mc->ncode; i++) {
        const insn *at = &mc->p->code[mc->origin[i]];
        ns += (double)mc->profile[i].nanoseconds;
        if (at->op != OP_FINISH) continue;
        if (at->arg[0] == which) return ns;
        ns = 0;
    }
    return -1;
}

stc_status machine_profile(const machine *mc, textbuf *out)
{
    if (!mc->profile)
        return fail(mc->cx, STC_ERR_ARGUMENT,
                    "there is no profile: the machine was opened without it");
    text_add(out, "%12s %12s  %s\n", "executions", "ns each", "instruction");
    for (int i = 0; i < mc->ncode; i++) {
        const profile_row *row = &mc->profile[i];
        if (!row->count) continue;
        text_add(out, "%12llu %12.1f  ", (unsigned long long)row->count,
                 (double)row->nanoseconds / (double)row->count);
        insn_print(&mc->p->code[mc->origin[i]], out);
        const parallel_loop *shared = was_shared(mc, i);
        if (shared && shared->ran) text_add(out, " ; shared by threads");
        if ((shared ? shared->op : row->op) == LOP_SUPER) {
            const super *s = mc->code[i].u.super;
            text_add(out, " ; %llu rounds, tier %d: ", (unsigned long long)row->rounds,
                     s->tier);
            s->describe(s, out);
            note_seen(row, out);
            note_visits(mc, s->loop, out);
        }
        if ((shared ? shared->op : row->op) == LOP_LOOP) {
            note_seen(row, out);
            note_visits(mc, mc->code[i].u.loop, out);
        }
        text_add(out, "\n");
    }
    for (int k = 0; k < mc->p->ntensor; k++) /* of the last run */
        note_workspace(mc, k, out);
    tally_print(mc, out);
    return out->failed ? mc->cx->diag.status : STC_OK;
}
