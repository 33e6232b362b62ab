/* super.c: the tables of super.def, and the choice of a row for a matched nest. */
#include "super.h"

typedef enum kernel_id {
#define KERNEL(name, shape, sink, meaning) KERNEL_##name,
#include "super.def"
    KERNEL_COUNT
} kernel_id;

typedef enum body_id {
#define BODY(name, PLUS, TIMES) BODY_##name,
#include "super.def"
    BODY_COUNT
} body_id;

static const struct kernel_row {
    uint8_t shape, sink;
} kernels[] = {
#define KERNEL(name, shape, sink, meaning) {NEST_##shape, SINK_##sink},
#include "super.def"
};

static const struct body_row {
    int16_t plus, times;
} bodies[] = {
#define BODY(name, PLUS, TIMES) {PLUS, TIMES},
#include "super.def"
};

static const super_instance supers[] = {
#define SUPER(kernel, TYPE, body, index)                                                   \
    {KERNEL_##kernel,                                                                      \
     STC_##TYPE,                                                                           \
     BODY_##body,                                                                          \
     index,                                                                                \
     TALLY_##kernel##_##TYPE##_##body##_##index,                                           \
     super_##kernel##_##TYPE##_##body##_##index},
#include "super.def"
};

static int walked_loads(const nest *ns)
{
    int walked = 0;
    for (int k = 0; k < ns->nload; k++)
        for (int w = 0; w < ns->nwalk; w++)
            walked += nest_load_walked(ns, k, w);
    return walked;
}

/* What a kernel can't do, though shape and sink fit. */
static bool fits(const nest *ns, kernel_id kernel)
{
    const int walked = walked_loads(ns);
    if (ns->by_lane != (kernel == KERNEL_dot_into)) return false;
    switch (kernel) {
    case KERNEL_dot_into:
        return walked == 1 && ns->nload <= 2;
    case KERNEL_fold_chosen:
        return ns->chooses && walked == 1 &&
               ns->in.node[ns->load[0].node].b == ns->walk[0].place;
    case KERNEL_dot_merge:
        return !ns->only[0] && !ns->only[1] && walked == ns->nload;
    case KERNEL_merge_fibers:
        return walked == 2 &&
               ns->in.node[ns->load[0].node].b != ns->in.node[ns->load[1].node].b;
    case KERNEL_scatter_fiber:
        return walked == ns->nload && ns->nload <= 1;
    default:
        return ns->nload > 0;
    }
}

/* A value of one factor goes with any body that reduces alike. */
static bool same_body(const nest *ns, const struct body_row *b)
{
    return b->plus == ns->plus && (b->times == ns->times || ns->times == FN_NONE);
}

/* Whether the low bits of what it gives go by those of what it takes. */
static bool wraps(int16_t fn)
{
    return fn == FN_NONE || fn_at(fn)->flags & FP_WRAPS;
}

/* What is accumulated in a result keeps its elements' width, in which integers wrap alike;
 * the widest ones do anywhere. */
static bool same_type(const nest *ns, const super_instance *r)
{
    const bool keeps = kernels[r->kernel].sink == SINK_ACC ||
                       type_size((stc_type)ns->type) == sizeof(int64_t);
    return r->type == ns->type || (keeps && wraps(ns->plus) && wraps(ns->times) &&
                                   types_wrap_alike((stc_type)r->type, (stc_type)ns->type));
}

bool super_choose(const machine *mc, nest *ns)
{
    const int to = ns->in.sink[0].kind;
    bool any = false;
    ns->narrow = ns->wide = NULL;
    for (size_t k = 0; k < sizeof supers / sizeof *supers; k++) {
        const super_instance *r = &supers[k];
        if (kernels[r->kernel].shape != ns->shape || kernels[r->kernel].sink != to ||
            !same_type(ns, r) || !same_body(ns, &bodies[r->body]) ||
            !fits(ns, (kernel_id)r->kernel))
            continue;
        ns->probes =
            r->kernel == KERNEL_dot_fiber && ns->nload == 2 && walked_loads(ns) == 1;
        *(r->width == 32 ? &ns->narrow : &ns->wide) = r;
        any = true;
    }
    ns->vectors = super_wide(mc);
    if (ns->shape == NEST_RANGE) ns->wide = ns->narrow; /* no indices at all */
    return any;
}

bool super_units(machine *mc, const nest *ns)
{
    bool all = ns->kernel->kernel == KERNEL_dot_merge;
    for (int k = 0; all && k < ns->nload; k++)
        all = !ns->load[k].made && machine_units(mc, ns->in.node[ns->load[k].node].a,
                                                 bodies[ns->kernel->body].times);
    return all;
}
