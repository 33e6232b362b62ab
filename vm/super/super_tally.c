/* super_tally.c: prints which rows of super.def and scatter.def ran, and how often. */
#include "super_tally.h"
#include "../code/text.h"

static const char *const names[] = {
#define SUPER(kernel, TYPE, body, index) #kernel " " #TYPE " " #body ", " #index " bits",
#include "super.def"
#define NAME(template, TYPE, index, TERM, FOLD)                                            \
    template " " #TYPE " " #TERM " " #FOLD ", " #index " bits",
#define SCATTER(TYPE, index, TERM, FOLD) NAME("scatter", TYPE, index, TERM, FOLD)
#include "scatter.def"
#define SCATTER(TYPE, index, TERM, FOLD) NAME("list", TYPE, index, TERM, FOLD)
#include "scatter.def"
#define SCATTER(TYPE, index, TERM, FOLD) NAME("window", TYPE, index, TERM, FOLD)
#include "scatter.def"
};

void tally_print(const machine *mc, textbuf *out)
{
    for (int k = 0; k < TALLY_COUNT; k++)
        if (mc->tally[k])
            text_add(out, "superinstruction %s: %llu calls\n", names[k],
                     (unsigned long long)mc->tally[k]);
}
