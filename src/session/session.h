/* session.h: what the session*.c files share.
 *
 * A session's variables are tensors by name. The scope that binding sees has
 * an entry for each of them, kept in step: format, type, fill and what was
 * declared. A variable may wait for its tensor: a source that is read or made
 * when a statement first uses the name, or a declaration that only an
 * assignment gives a shape to.
 */
#ifndef STC_SESSION_H
#define STC_SESSION_H

#include "../api/decl.h"
#include "../lang/names.h"

typedef struct variable {
    char *name;
    tensor *t;       /* NULL: not made yet, or never assigned               */
    bool has_origin; /* made from this when first used                      */
    origin from;
} variable;

/* A statement compiled once for all its rounds in a loop. */
typedef struct prepared {
    struct prepared *next;
    const ast *key;
    program *p;
    machine *mc;
    int target;
    scope_tensor before; /* the target's entry when it was compiled          */
    bool known_before;   /* … and whether there was one                      */
    uint64_t definitions;
} prepared;

struct stc_session {
    stc_machine *m;
    stc_session *next, *prev;
    scope *sc;
    names vars;  /* of variable                                           */
    int waiting; /* variables that have no tensor yet                     */
    char *last;  /* the name assigned last, NULL if none                  */
    FILE *out;
    int repeat;
    stc_times times;      /* as in stc_program                                 */
    uint64_t generation;  /* of the tensors it makes: never used twice       */
    uint64_t definitions; /* counts format and fn statements                 */
    prepared *cache;      /* of the running exec                             */
    char file[256];       /* names the last text executed, for errors        */
    textbuf profile;
};

/* A text being executed, and those that include it. */
typedef struct script {
    source src;
    const char *dir; /* where the text's file is, NULL if it has none     */
    arena *a;
    int loops; /* how many loops are around the statement            */
    int includes;
} script;

/* session.c */
variable *session_find(const stc_session *s, const char *name);
/* Finds or makes a variable; a new one has neither tensor nor scope entry. */
variable *session_var(stc_session *s, const char *name);
/* The variable's tensor is t (taken); the scope's entry follows. Can't fail:
 * variable and entry are there. */
void session_set(stc_session *s, variable *v, tensor *t);
/* The variable has no tensor and waits for none. */
void session_clear(stc_session *s, variable *v);
stc_status session_set_last(stc_session *s, const char *name);
void session_remove(stc_session *s, const char *name);
/* The variable's tensor, made now if it waits, or an error. */
stc_status session_tensor(stc_session *s, variable *v, tensor **out);
/* Readies the waiting variables that a statement uses: files are read, the
 * others get an order. */
stc_status session_resolve(stc_session *s, const ast *statement);

/* session_run.c */
stc_status session_assign(stc_session *s, const script *in, const ast *statement);
/* What a scalar expression gives: whether it isn't 0; how many rounds it asks for. */
stc_status session_condition(stc_session *s, const script *in, const ast *expression,
                             bool *out);
stc_status session_rounds(stc_session *s, const script *in, const ast *expression,
                          uint64_t *out);
void session_forget(stc_session *s); /* frees what was prepared              */

#endif
