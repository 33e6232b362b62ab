/* structs.h: structs of the public header that begin with their size, between a host and a
 * library that may not be of one age. What the sizes mean stands at the header's top.
 */
#ifndef STC_API_STRUCTS_H
#define STC_API_STRUCTS_H

#include "api.h"

/* The size of a struct whose last field is `last`: with it, what a size of 0 means stays
 * what it was when the struct grows. */
#define SIZE_UP_TO(type, last)                                                             \
    ((offsetof(type, last) + sizeof(((type *)0)->last) + _Alignof(type) - 1) /             \
     _Alignof(type) * _Alignof(type))
enum {
    CONFIG_0_2 = SIZE_UP_TO(stc_config, spill),
    DECL_0_2 = SIZE_UP_TO(stc_decl, order),
    SOURCE_0_2 = SIZE_UP_TO(stc_source, fill_type),
    TIMES_0_2 = SIZE_UP_TO(stc_times, save),
    LEVEL_KIND_0_2 = SIZE_UP_TO(stc_level_kind, check),
    POLICY_0_2 = SIZE_UP_TO(stc_workspace_policy, end),
    FUNCTION_0_2 = SIZE_UP_TO(stc_function, context),
};

/* A copy in *to, of `ours` bytes, of a struct that the host handed in; `first` is the size
 * that 0 stands for. False: it has fields that aren't known here. */
bool struct_taken(const void *from, size_t first, void *to, size_t ours);
/* The same, telling what is wrong. */
stc_status struct_take(ctx *cx, const char *what, const void *from, size_t first, void *to,
                       size_t ours);
/* What the host has room for of `ours` bytes; its size stays. */
void struct_give(void *to, size_t first, const void *from, size_t ours);
/* The host's decls: as they are, or copied to *made (else NULL), which decls_drop frees. */
stc_status decls_take(ctx *cx, const stc_decl **decls, int count, stc_decl **made);
void decls_drop(ctx *cx, stc_decl *made, int count);

#endif
