/* grad.h: derivatives of a scalar by tensors, from statements to statements.
 *
 * Reverse mode (Griewank and Walther, Evaluating Derivatives, ch. 3), source to source in
 * index notation: takes bound assignments in the order in which they ran, the last of which
 * gives the scalar, and writes assignments that compute, from the tensors as they are then,
 * a tensor d_A for each A asked for. Every access A(p(i), j) on the way becomes one
 * statement d_A(p(i), j) += …, and is sampled where A is stored, if A is sparse. What comes
 * out is planned like any text: no kernel knows of derivatives.
 */
#ifndef STC_GRAD_H
#define STC_GRAD_H

#include "../lang/scope.h"

/* An assignment that ran: bound in a program of its own, or with others in one. */
typedef struct grad_step {
    const bstmt *st;
    const program *p;
    const source *src; /* its text, for errors */
    bool begins;       /* its target has no earlier value that matters */
} grad_step;

enum { GRAD_MAX = 64 }; /* tensors asked for */

typedef struct grad_job {
    arena *a;
    scope *sc; /* the names that the statements see and those made must not hide */
    const grad_step *step;
    int steps;
    const char *of;        /* the scalar; NULL: the last step's target          */
    const char *const *by; /* what is asked for; GRAD_MAX at most              */
    int nby;
    const char *result[GRAD_MAX]; /* out: the names of the derivatives         */
    bool used[GRAD_MAX];          /* out: the scalar depends on it             */
} grad_job;

/* Adds the text of statements, a line each. */
stc_status grad_write(ctx *cx, grad_job *job, textbuf *out);

#endif
