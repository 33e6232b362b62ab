/* lang.h: from text to typed index notation.
 *
 *     parse   text → syntax tree (ast.h), whole script or a single statement
 *     bind    assignment + scope → bstmt (bound.h), names entered in a program
 *
 * A scope is the table of names a text can see. Its owner (a compile, or a
 * session) fills it; binding looks names up and adds tensors to the program's
 * table as they are used, never executes anything, and leaves scope and
 * program as they were when it fails.
 */
#ifndef STC_LANG_LANG_H
#define STC_LANG_LANG_H

#include "ast.h"
#include "bound.h"

typedef struct source {
    ctx *cx;
    const char *file; /* as shown in errors */
    const char *text;
    int line, column; /* what comes before it where it was taken from: lines, and columns
                         of its first line */
} source;

/* An error in a source's text. */
stc_status fail_source(const source *src, stc_status status, span at, const char *format,
                       ...) ERROR_LIKE(4, 5);

/* The statements of a text, in an arena that outlives the tree. */
stc_status parse_script(arena *a, const source *src, ast **out);
/* The same from a place on, with nothing before it but blanks. */
stc_status parse_script_from(arena *a, const source *src, int32_t from, ast **out);
/* notes.c: a note on a place of a text; what this call's are, each a line; none. */
void notes_add(const source *src, span at, const char *message, ...) PRINTF_LIKE(3, 4);
const char *notes_text(const ctx *cx);
void notes_clear(ctx *cx);
/* bind_type.c: whether values go from one type to the other within NumPy's same_kind. */
bool type_keeps_kind(stc_type to, stc_type from);
/* The head of a function that the host computes: NAME(params) [with …] [over …],
 * as an N_FN without a body. */
stc_status parse_host_function(arena *a, const source *src, ast **out);
/* True if the text ends inside a bracket, right after a binary operator, or with
 * a backslash: the statement goes on in the next line. */
bool parse_incomplete(const char *text);
void ast_print(const ast *tree, textbuf *out);
/* An expression or an assignment as text of the language (write_ast.c). */
void ast_write(const ast *e, textbuf *out);

typedef struct scope_tensor {
    char *name;
    int order;  /* -1: not known yet (declared without shape)          */
    format fmt; /* valid if has_format or has_data; may be open        */
    stc_type type;
    value fill; /* in the type's class                                 */
    bool has_format, has_type, has_fill; /* declared; else free to change       */
    bool has_data;  /* it can be read; false: only assigned to              */
    bool has_shape; /* shape is known and kept                              */
    int64_t shape[STC_MAX_ORDER];
    int slot;     /* in the current program, -1 if not used by it         */
    uint8_t said; /* SAID_ bits of a declaration that isn't in the text   */
} scope_tensor;

typedef struct scope scope; /* tensors, formats, functions by name */

scope *scope_new(ctx *cx);
void scope_free(scope *s);
/* One with tensors of its own and the definitions of `outer`, which outlives it. */
scope *scope_inner(scope *outer);
/* Adds or replaces; the scope copies the name. Pointers stay valid until the
 * next put. NULL: no memory. */
scope_tensor *scope_put_tensor(scope *s, const char *name);
scope_tensor *scope_find_tensor(const scope *s, const char *name);
void scope_drop_tensor(scope *s, const char *name);
int scope_tensor_count(const scope *s);
scope_tensor *scope_tensor_at(scope *s, int i);
/* p is compiled, or isn't to be: no tensor has a slot in it any more. */
void scope_clear_slots(scope *s, const program *p);
/* Definitions: `format …` and `fn …` statements (the scope keeps their text). */
stc_status scope_define(scope *s, const source *src, const ast *definition);
/* A function of the host's by its head: it is registered with the machine
 * (vm/fn/host.h), and seen by all scopes that don't define its name themselves. */
stc_status scope_define_host(ctx *cx, const stc_function *f);
/* A format as written: name, name(args), short string or map. A name that fits
 * any order (dense, coo, …) gives an open format if order is -1: its order is
 * -1, and format_close makes it one of a given order, when that is known. */
stc_status scope_format(const scope *s, const source *src, const ast *node, int order,
                        format *out);
bool format_is_open(const format *f);
bool format_close(format *f, int order);
/* The same from a text of its own ("csr", "ds:1,0", "(i,j) -> (…)"). */
stc_status format_parse(ctx *cx, const scope *s, const char *text, int order, format *out);
/* The value of a literal (INT, REAL, IMAG, BOOL, signs and operators on them) as
 * an element of type t; and the type it has by itself: i64, f64, c128, bool. */
stc_status literal_value(const source *src, const ast *node, stc_type t, value *out);
stc_status literal_type(const source *src, const ast *node, stc_type *out);

/* Binds an assignment. `p->tensor` gains the operands (ROLE_INPUT, or ROLE_INOUT
 * when assigned later) and the target. The target's format, type and fill are
 * set in the table as far as they are declared; type is inferred where it
 * isn't. On success the target is in the scope, with its slot, order and type,
 * and can be read from then on (has_data): its format is the program's. Who
 * then fails to compile or run it undoes that. An undeclared name that is
 * assigned anew gets a new slot; reads on the right side are of the old one. */
stc_status bind_assignment(arena *a, scope *s, const source *src, program *p,
                           const ast *statement, bstmt **out);
/* An expression by itself: a value. Its free indices, in order of appearance, are those
 * of an anonymous tensor; no sum is implied. Of a scalar (conditions of if and while) there
 * are none. */
stc_status bind_value(arena *a, scope *s, const source *src, program *p,
                      const ast *expression, bool scalar, bstmt **out);
/* Whether an operand's name says what the session is to be asked for: "clock()",
 * "size(A,1)", "stored(A)". */
bool name_is_asked(const char *name);
bool call_is_asked(const ast *call);
/* What is known of a value before any data is seen: nothing, that it isn't v, or
 * that it is v. */
typedef struct fn_known {
    enum { FN_ANY, FN_OTHER, FN_EXACTLY } is;
    value v;
} fn_known;
enum { FN_EVAL_STEPS = 20000 };
/* f of constants, each in its parameter's class; false if that isn't known
 * before it runs: it faults, or takes long. The same of what is known of arguments. */
bool fn_evaluate(const bfunction *f, const value *args, value *out);
bool fn_evaluate_known(const bfunction *f, const fn_known *args, int *steps, fn_known *out);
/* What isn't v differs from v after the conversion, too. */
bool conv_keeps_apart(stc_type to, stc_type from, value v);
/* Whether an algebra holds where those parameters differ from their constants whose bits
 * are set. */
bool fn_algebra_holds(const bset *s, unsigned differ);

/* Of a call, built-in or a user's: its n-th annihilator in a position, and how many to
 * ask for; the class in which it takes operand k; v of operand k as its result. */
int call_annihilators(const bexpr *e);
bool call_annihilator(const bexpr *e, int n, int position, value *out);
vclass call_operand_class(const bexpr *e, int k);
/* Whether e, of two operands in any order, is a product under r, of that identity, so that
 * r may be taken of one of them first: it distributes, and the identity annihilates it. */
bool call_is_product(const bexpr *e, const bexpr *r, value identity);
value call_result(const bexpr *e, int k, value v);
/* A property of a built-in as it holds for this call; false: it doesn't. */
bool call_property(const fn_prop *p, const bexpr *e, int position, value *out);
value conv_value(stc_type to, stc_type from, value v);
/* The identity of what reduces: of a built-in function, a user's, a B_REDUCE's; its
 * flags (FP_). */
bool ufn_identity(const bfunction *f, value *out);
bool reduce_identity(const bexpr *e, value *out);
uint8_t reduce_flags(const bexpr *e);
/* The built-in function that combines the terms of which a call or a reduction makes
 * some (of a difference: `+`, in place of the call itself), -1: there is none. */
int expr_combiner(const bexpr *e);

/* The reductions around a place in a tree, innermost first; whether one binds that name. */
typedef struct around {
    const ast *reduction;
    const struct around *outer;
} around;
bool around_binds(const around *in, const char *name);

/* nodes.c: a node of a tree with room for its children; a copy with the same children. */
ast *ast_new(arena *a, ast_kind kind, span at, int count);
ast *ast_like(arena *a, const ast *n);
/* … nodes of typed expressions, NULL if there is no memory, or an operand is NULL.
 * One like e, its so many arguments to be filled in; a copy of all below e, that shares
 * subscripts and the lists of indices; x where `is` holds, else y. */
bexpr *expr_new(arena *a, bkind kind, stc_type type, span at, int nargs);
bexpr *expr_like(arena *a, const bexpr *e, int nargs);
bexpr *expr_copy(arena *a, const bexpr *e);
bexpr *expr_conv(arena *a, bexpr *x, stc_type type);
bexpr *expr_call1(arena *a, int fn, stc_type type, vclass cls, bexpr *x);
bexpr *expr_call(arena *a, int fn, stc_type type, vclass cls, bexpr *x, bexpr *y);
bexpr *expr_select(arena *a, bexpr *is, bexpr *x, bexpr *y, span at); /* x's type */
bexpr *expr_access(arena *a, const program *p, int slot, affine *sub, span at);
bexpr *expr_const(arena *a, stc_type type, value v, span at);
bexpr *expr_int(arena *a, int64_t k, span at);
bexpr *expr_index(arena *a, int index, span at);
bexpr *expr_extent(arena *a, int id, span at); /* its value */
affine *bare_subs(arena *a, const int *index, int n);
/* An access of tensor `slot` in e, a reduction in e; NULL: there is none. */
bexpr *expr_reading(bexpr *e, int slot);
const bexpr *expr_reduction(const bexpr *e);
const ast *ast_reduction(const ast *e);  /* e may be NULL */
uint64_t reduce_indices(const bexpr *r); /* that a reduction binds */

/* faults.c: evaluating e could fail, or not return; the call of a built-in function
 * that e is; an argument of e is evaluated only where it is taken. */
bool expr_may_fault(const bexpr *e);
bool expr_itself_faults(const bexpr *e); /* whatever its operands do */
bool expr_call_faults(const bexpr *e);
bool expr_side_waits(const bexpr *e, int side);
/* A call's accesses in sides that wait: note that they do. */
void expr_note_waits(bexpr *e);
/* Whether a node of that kind (B_REDUCE, …) is in e. */
bool expr_has(const bexpr *e, bkind kind);
/* Whether an access that e makes is at a computed subscript. */
bool expr_gathers(const bexpr *e);
/* Whether e is `none` but where its first argument holds, and there its second, as masks
 * and ranges are bound (bind_where.c); whether a mask, as that of a range to i + 1, surely
 * holds where one of the indices is 0. */
bool expr_is_masked(const bexpr *e, vclass cls, value none);
bool expr_mask_begins(const bstmt *s, const bexpr *mask, uint64_t reduced);

void bound_line(const bstmt *s, const program *p, textbuf *out); /* the statement alone */
void bound_print(const bstmt *s, const program *p, textbuf *out);
const char *bound_reducer(const bexpr *e); /* as a reduction by it is written */
void affine_print(const affine *f, const bindex *index, textbuf *out);
void subs_print(const affine *sub, int n, const bindex *index, textbuf *out); /* (i,j) */

#endif
