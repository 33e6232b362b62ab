/* host.h: the functions of the host's own: a machine's list of them, and how
 * they are called. Typed by class as user functions are; a program names them by
 * name and classes, and linking looks them up here.
 */
#ifndef STC_VM_HOST_H
#define STC_VM_HOST_H

#include "../../formats/base/context.h"
#include "../../formats/base/types.h"

typedef struct host_fn host_fn;

/* A signature of one. */
typedef struct host_form {
    const host_fn *of;
    stc_signature sig;      /* what the host gave */
    uint8_t cls[8], result; /* its classes   */
    bool absorbs;           /* once a reduction has this value, nothing changes it */
    value annihilator;
} host_form;

struct host_fn {
    char *name;
    int params;
    unsigned flags; /* FP_ */
    void *context;
    int count;
    host_form *form;
    host_fn *next;
};

/* Enters f under a name; flags are its properties'. */
stc_status host_register(ctx *cx, const stc_function *f, const char *name, int params,
                         unsigned flags, host_fn **out);
/* The function of that name and these classes; NULL: it isn't registered. */
const host_form *host_find(const ctx *cx, const char *name, int params, const uint8_t *cls,
                           uint8_t result);
/* n results at once; and one. *why is the host's message or NULL. */
stc_status host_call(const host_form *f, int64_t n, const void *const *args, void *out,
                     const char **why);
stc_status host_call_one(const host_form *f, const value *args, value *out,
                         const char **why);

#endif
