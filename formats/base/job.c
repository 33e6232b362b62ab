/* job.c: several passes as one (job.h).
 *
 * A pass begins when progress comes under another name, or from further behind. Which part
 * of what is left it has is a guess: about what it took of the time with large files, from
 * where it began on.
 */
#include "job.h"
#include <string.h>

static const struct {
    const char *what;
    double part;
} passes[] = {{"bytes unpacked", 0.4}, {"bytes parsed", 0.7}};
enum { PASSES = sizeof passes / sizeof *passes };

#define STEPS "steps" /* as work_tell calls them */

typedef struct job {
    const char *what; /* NULL: there is none                                     */
    double total;
    const char *pass;   /* what the pass that goes on tells; NULL: none has begun */
    double from, share; /* of the total: where it began, what it is               */
    uint64_t done;      /* of the pass                                            */
    double told;        /* of the total                                           */
    double steps, part; /* that are expected; no steps: they tell nothing         */
    uint64_t worked;    /* the context's when they were                           */
} job;

static void no_end(ctx *cx, void *part)
{
    (void)cx, (void)part;
}

static const part_kind job_kind = {sizeof(job), no_end};

static job *job_of(ctx *cx)
{
    job *const j = ctx_has_part(cx, &job_kind);
    return j && j->what ? j : NULL;
}

bool job_begin(ctx *cx, const char *what, int64_t total)
{
    if (!cx->progress || total <= 0 || job_of(cx)) return false;
    job *const j = ctx_part(cx, &job_kind);
    if (!j) { /* only progress reports suffer */
        diag_clear(cx);
        return false;
    }
    *j = (job){.what = what, .total = (double)total, .part = 1};
    return true;
}

void job_end(ctx *cx)
{
    job *const j = job_of(cx);
    if (j) j->what = NULL;
}

void job_expect(ctx *cx, int64_t steps, double part)
{
    job *const j = job_of(cx);
    if (!j) return;
    j->steps = (double)steps;
    j->part = part;
    j->worked = cx->worked;
    j->pass = NULL;
}

static void begin_pass(job *j, const char *what)
{
    double part = j->part;
    for (int k = 0; k < PASSES; k++)
        if (!strcmp(passes[k].what, what)) part = passes[k].part;
    j->pass = what;
    j->from = j->told;
    j->share = (j->total - j->told) * part;
}

int job_tell(ctx *cx, const char *what, uint64_t done, uint64_t total)
{
    job *const j = job_of(cx);
    if (!cx->progress) return 0;
    if (!j) return cx->progress(cx->progress_context, what, done, total);
    double whole = (double)total, now = (double)done;
    if (!strcmp(what, STEPS)) {
        whole = j->steps;
        now = (double)(cx->worked - j->worked);
    }
    if (whole > 0) {
        if (!j->pass || strcmp(j->pass, what) != 0 || done < j->done) begin_pass(j, what);
        j->done = done;
        const double at = j->from + j->share * (now < whole ? now / whole : 1);
        if (at > j->told) j->told = at;
    }
    return cx->progress(cx->progress_context, j->what, (uint64_t)j->told,
                        (uint64_t)j->total);
}
