/* decl.h: `tensor …` statements: what they declare, and the data they give. */
#ifndef STC_DECL_H
#define STC_DECL_H

#include "api.h"

/* The children of an N_TENSOR node. */
enum { DECL_FORMAT, DECL_TYPE, DECL_SHAPE, DECL_FILL, DECL_DATA };

/* What the statement declares, its data aside: format (perhaps open), type,
 * shape, fill. Name and slot of *out are left alone. */
stc_status decl_read(const scope *sc, const source *src, const ast *n, scope_tensor *out);
/* The tensor that the data after `=` makes; `d` gains what it settles:
 * order, format, type, fill. dir: of the script, for files that
 * aren't found as named; may be NULL. */
stc_status decl_data(const source *src, const ast *n, const char *dir, scope_tensor *d,
                     tensor **out);
/* An error at the node if the text may touch no files. */
stc_status files_allowed(const source *src, const ast *n);
/* A path as named if it is there, else beside the script. */
stc_status find_path(ctx *cx, const char *path, const char *dir, char *out, size_t size);

#endif
