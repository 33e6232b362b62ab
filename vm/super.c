/* super.c: the tables of super.def, and the choice of a row for a matched nest. */
#include "super.h"

typedef enum kernel_id {
#define KERNEL(name, shape, sink, meaning) KERNEL_##name,
#include "super.def"
    KERNEL_COUNT
} kernel_id;

static const struct kernel_row {
    uint8_t shape, sink;
} kernels[] = {
#define KERNEL(name, shape, sink, meaning) {NEST_##shape, SINK_##sink},
#include "super.def"
};

static const struct super_row {
    uint8_t kernel, cls, width;
    nest_kernel run;
} supers[] = {
#define SUPER(name, CLASS, ctype, index, ictype)                                           \
    {KERNEL_##name, CLASS_##CLASS, index, super_##name##_##CLASS##_##index},
#include "super.def"
};

/* What a kernel can't do, though shape and sink fit. */
static bool fits(const nest *ns, kernel_id kernel)
{
    int walked = 0;
    for (int k = 0; k < ns->nload; k++)
        for (int w = 0; w < ns->nwalk; w++)
            walked += ns->load[k].node < NODE_MAX &&
                      ns->in.node[ns->load[k].node].b == ns->walk[w].place;
    switch (kernel) {
    case KERNEL_dot_merge:
        return !ns->only[0] && !ns->only[1] && walked == ns->nload;
    case KERNEL_merge_fibers:
        return walked == 2 && (ns->fn == FN_ADD || ns->fn == FN_SUB || ns->fn == FN_MUL) &&
               ns->in.node[ns->load[0].node].b != ns->in.node[ns->load[1].node].b;
    case KERNEL_axpy_fiber:
        return walked == ns->nload && ns->nload <= 1;
    default:
        return ns->nload > 0;
    }
}

bool super_choose(nest *ns)
{
    const int to = ns->in.sink[0].kind;
    for (size_t k = 0; k < sizeof supers / sizeof *supers; k++) {
        const struct super_row *r = &supers[k];
        if (kernels[r->kernel].shape != ns->shape || kernels[r->kernel].sink != to ||
            r->cls != ns->cls || !fits(ns, (kernel_id)r->kernel))
            continue;
        if (r->width == 32) ns->narrow = r->run;
        if (r->width == 64) ns->wide = r->run;
    }
    ns->avx2 = SUPER_HAS_AVX2;
    if (ns->shape == NEST_RANGE) ns->wide = ns->narrow; /* no indices at all */
    return ns->narrow || ns->wide;
}
