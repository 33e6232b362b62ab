/* bind_note.c: implied sums that may have been meant otherwise.
 *
 * An index that isn't on the left is summed over the whole term. Where all of its
 * occurrences stand inside a denominator, an exponent, a comparison or a function that
 * isn't linear, a book's notation would sum there: that gets a note. Which operands of
 * the built-in functions are so is said in vm/fn/functions.def; of a user's function
 * nothing is known. One that is itself an operand, as in `sum(j, A(i,j))`, was most likely
 * to be reduced over, and gets a note, too. Takes a bound term, gives notes (notes.c);
 * nothing depends on them.
 */
#include "bind.h"

#include <ctype.h>
#include <string.h>

/* Where an index was seen: by itself, or inside of which call first. */
typedef struct seen {
    int index;
    bool outside;
    const bexpr *inside;
} seen;

static bool sums_outside(const bexpr *e, int operand)
{
    if (e->kind == B_CALL) return fn_sums_outside(e->fn, operand);
    if (e->kind == B_REDUCE) return e->fn == FN_ADD;
    return e->kind != B_USER;
}

/* Whether the call e is written as a function's name and its operands, not as an operator.
 */
static bool by_name(const binder *b, const bexpr *e)
{
    const char *text = b->src->text + e->at.begin;
    if (!e->nargs || e->at.begin >= e->args[0]->at.begin || !isalpha((unsigned char)*text))
        return false;
    while (isalnum((unsigned char)*text) || *text == '_')
        text++;
    return *text == '(';
}

/* Whether e is such a call that has the index itself as an operand. */
static bool takes_index(const binder *b, const bexpr *e, int index)
{
    bool takes = false;
    for (int k = 0; e->kind == B_CALL && k < e->nargs; k++) {
        const bexpr *x = e->args[k];
        while (x->kind == B_CONV)
            x = x->args[0];
        takes |= x->kind == B_INDEX && x->index == index;
    }
    return takes && by_name(b, e);
}

static void look(const binder *b, seen *s, const bexpr *e, const bexpr *inside)
{
    const int order = e->kind == B_ACCESS ? b->p->tensor[e->tensor].order : 0;
    bool here = e->kind == B_INDEX && e->index == s->index;
    for (int k = 0; k < order; k++)
        for (int t = 0; t < e->sub[k].terms; t++)
            here |= e->sub[k].term[t].index == s->index;
    if (here && inside && !s->inside) s->inside = inside;
    s->outside |= here && !inside;
    const bool takes = takes_index(b, e, s->index);
    for (int k = 0; k < e->nargs && !s->outside; k++)
        look(b, s, e->args[k], inside || (sums_outside(e, k) && !takes) ? inside : e);
}

/* What stands in the text for e: an operator's sign, a function's name. */
static const char *word(const binder *b, const bexpr *e, char *buf, size_t size)
{
    const fn_info *const f = e->kind == B_CALL ? fn_at(e->fn) : NULL;
    if (f && !by_name(b, e)) return f->symbol ? f->symbol : f->name;
    const char *const text = b->src->text + e->at.begin;
    size_t n = 0;
    while (n + 1 < size && (isalnum((unsigned char)text[n]) || text[n] == '_'))
        n++;
    memcpy(buf, text, n);
    buf[n] = 0;
    return buf;
}

static void add_name(char *list, size_t size, const char *separator, const char *name)
{
    const size_t n = strlen(list);
    snprintf(list + n, size - n, "%s%s", n ? separator : "", name);
}

void bind_note_sum(binder *b, const bexpr *term, const int *index, int n)
{
    seen s[BIND_MAX_INDEX];
    for (int i = 0; i < n; i++) {
        s[i] = (seen){.index = index[i]};
        look(b, &s[i], term, NULL);
        if (s[i].outside) s[i].inside = NULL;
    }
    for (int i = 0; i < n; i++) {
        const bexpr *const in = s[i].inside;
        char names[100] = "", bound[100] = "", name[64];
        int count = 0;
        for (int k = i; in && k < n; k++) {
            if (s[k].inside != in) continue;
            add_name(names, sizeof names, ", ", b->index[s[k].index].name);
            add_name(bound, sizeof bound, ",", b->index[s[k].index].name);
            s[k].inside = NULL; /* told */
            count++;
        }
        if (count && takes_index(b, in, index[i]))
            notes_add(b->src, in->at,
                      "%s itself is an operand of %s, and summed over the whole term; "
                      "%s(%s: …) reduces over it",
                      bound, word(b, in, name, sizeof name), name, bound);
        else if (count)
            notes_add(b->src, in->at,
                      "%s %s summed over the whole term, outside %s; sum(%s: …) inside it "
                      "says otherwise",
                      names, count > 1 ? "are" : "is", word(b, in, name, sizeof name),
                      bound);
    }
}
