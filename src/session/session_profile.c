/* session_profile.c: what the statements of an exec took, with --profile.
 *
 * One row a statement, however often it ran: its place, how many times, the time in all,
 * and of its last run what the machine counted by instruction. Printed as a table, what
 * took longest first, with the instructions behind it.
 */
#include "session.h"

#include <string.h>

struct profiled {
    char *place;              /* "file:line: statement", on one line */
    int64_t runs, done, kept; /* it was done already; … without steps that are kept */
    double us;
    textbuf last; /* by instruction; empty for conditions and what is printed */
};

/* A statement's place and text; what goes over several lines is cut at the first. */
void session_place_print(const script *in, const ast *node, textbuf *out)
{
    const char *text = in->src.text + node->at.begin;
    int line = 1;
    for (const char *c = in->src.text; c < text; c++)
        line += *c == '\n';
    const int length = (int)strcspn(text, "\n"),
              whole = (int)(node->at.end - node->at.begin);
    text_add(out, "%s:%d: %.*s%s", in->src.file, in->src.line + line,
             length < whole ? length : whole, text, length < whole ? " …" : "");
}

static stc_status row_of(stc_session *s, const script *in, const ast *node, profiled **out)
{
    ctx *cx = &s->m->cx;
    textbuf place;
    text_init(&place, cx);
    session_place_print(in, node, &place);
    stc_status st = place.failed ? cx->diag.status : STC_OK;
    int64_t k = 0;
    while (!st && k < s->nprofiled && strcmp(s->profile[k].place, place.data))
        k++;
    if (!st && k == s->nprofiled) {
        st = mem_grow(cx, &s->profile, &s->profile_cap, k + 1, sizeof *s->profile);
        char *copy = st ? NULL : mem_strdup(cx, place.data);
        if (!st && !copy) st = cx->diag.status;
        if (copy) {
            s->profile[k] = (profiled){.place = copy};
            text_init(&s->profile[s->nprofiled++].last, cx);
        }
    }
    text_drop(&place);
    *out = st ? NULL : &s->profile[k];
    return st;
}

stc_status session_profiled(stc_session *s, const script *in, const ast *node,
                            const machine *mc, double us)
{
    profiled *row;
    stc_status st = row_of(s, in, node, &row);
    if (st) return st;
    row->done += !mc;
    if (!mc) return STC_OK;
    row->runs++;
    row->kept += machine_kept(mc);
    row->us += us;
    if (node->kind != N_ASSIGN) return STC_OK;
    text_drop(&row->last);
    return machine_profile(mc, &row->last);
}

void session_unprofile(stc_session *s)
{
    for (int64_t k = 0; k < s->nprofiled; k++) {
        mem_strfree(&s->m->cx, s->profile[k].place);
        text_drop(&s->profile[k].last);
    }
    mem_free(&s->m->cx, s->profile, (size_t)s->profile_cap * sizeof *s->profile);
    s->profile = NULL;
    s->nprofiled = s->profile_cap = 0;
}

static int longest_first(const void *a, const void *b)
{
    const profiled *const *x = a, *const *y = b;
    return ((*x)->us < (*y)->us) - ((*x)->us > (*y)->us);
}

stc_status session_profile_table(const stc_session *s, textbuf *out)
{
    ctx *cx = &s->m->cx;
    const int64_t n = s->nprofiled;
    const profiled **row = mem_array(cx, n, sizeof *row);
    if (!row) return cx->diag.status;
    double all = 0;
    for (int64_t k = 0; k < n; k++) {
        row[k] = &s->profile[k];
        all += row[k]->us;
    }
    const stc_status st = mem_sort(cx, row, n, sizeof *row, longest_first);
    text_add(out, "%10s %10s %10s %5s  statement\n", "runs", "ms", "us each", "%");
    for (int64_t k = 0; k < n; k++)
        text_add(out, "%10lld %10.3f %10.1f %5.1f  %s\n", (long long)row[k]->runs,
                 row[k]->us * 1e-3, row[k]->us / (double)row[k]->runs,
                 all > 0 ? 100 * row[k]->us / all : 0, row[k]->place);
    mem_free(cx, row, (size_t)n * sizeof *row);
    return st;
}

static void print_rows(const stc_session *s, textbuf *out)
{
    for (int64_t k = 0; k < s->nprofiled; k++) {
        const profiled *p = &s->profile[k];
        if (!p->last.len) continue;
        text_add(out, "# %s", strstr(p->place, ": ") + 2);
        if (p->runs > 1) text_add(out, " (the last of %lld runs)", (long long)p->runs);
        text_add(out, "\n");
        if (p->kept)
            text_add(out, "taken out of the loop: steps that %lld runs found done\n",
                     (long long)p->kept);
        if (p->done)
            text_add(out, "taken out of the loop: %lld rounds found it done\n",
                     (long long)p->done);
        text_add(out, "%s", p->last.data);
    }
}

stc_status session_profile_print(const stc_session *s, textbuf *out)
{
    const stc_status st = s->nprofiled > 1 ? session_profile_table(s, out) : STC_OK;
    if (!st) print_rows(s, out);
    return st;
}
