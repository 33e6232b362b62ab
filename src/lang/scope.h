/* scope.h: what lang's own parts see of a scope: definitions. */
#ifndef STC_LANG_SCOPE_H
#define STC_LANG_SCOPE_H

#include "lang.h"
#include "suggest.h"

/* A `format`, `fn` or `def` statement. It lives as long as the scope, or until its
 * name is defined again; its tree was parsed from its own copy of the text, in
 * which places have the line and column of the original. */
typedef struct definition {
    char *name;
    source src;
    arena a;
    const ast *node;
    const host_fn *host; /* what computes it, NULL: its body */
    bool busy; /* a function being specialised (meeting it again is recursion), or a def
                  being called (its text is needed until it ends)                       */
} definition;

definition *scope_find(const scope *s, const char *name, ast_kind kind);
definition *scope_definition_at(const scope *s, ast_kind kind,
                                int i); /* NULL past the end */
#define FN_MAX_PARAMS 8
#define DEF_MAX_NAMES 64 /* parameters of a def, and its results */
/* Checks of a function's syntax tree that need no types (fn_check.c). */
stc_status fn_check_definition(const source *src, const ast *node);
/* An error where a function contradicts its algebra both with integers and with reals: the
 * types of operands are seen only when it is called (fn_algebra.c). */
stc_status fn_check_algebra(scope *s, definition *d);
/* FP_ of a property without a value; 0 of others. */
unsigned fn_property_flag(const ast *prop);
int fn_param_named(const ast *params, const char *name); /* -1: none */

#endif
