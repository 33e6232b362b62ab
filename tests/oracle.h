/* oracle.h: the naive evaluator: what a statement means, by dense loops.
 *
 * A world holds tensors as dense arrays of oracle values. oracle_exec parses a
 * text and carries its assignments out straight from the syntax tree: own name
 * resolution, promotion, implied sums, extents and function semantics, written
 * from the language's contract and sharing no code with bind, plan, lower or
 * vm. Formats and schedules are ignored: they never change values.
 */
#ifndef TESTS_ORACLE_H
#define TESTS_ORACLE_H

#include "../formats/base/context.h"
#include "../src/lang/ast.h"
#include "oracle_value.h"

/* Whether a place is stored. */
typedef enum oreach { REACH_NO, REACH_PERHAPS, REACH_YES } oreach;

typedef struct otensor {
    char name[32];
    int order;
    int64_t shape[STC_MAX_ORDER];
    int64_t count; /* elements: the product of the shape                */
    stc_type type;
    oval fill;
    oval *data;      /* count elements, row-major                         */
    uint8_t *stored; /* of each: an oreach; NULL: perhaps                   */
    bool has_data;   /* it can be read                                    */
    bool keeps_type, keeps_shape, keeps_fill; /* declared                     */
    bool fill_unknown; /* the oracle makes no claim about the fill          */
} otensor;

typedef enum overdict {
    ORACLE_OK,
    ORACLE_ERROR,  /* the statement is wrong: it must be refused              */
    ORACLE_UNSURE, /* the contract doesn't settle it: refusing is fine too    */
} overdict;

typedef struct ofunction ofunction;

typedef struct oworld {
    ctx *cx;
    otensor *tensor;
    int count, cap;
    ofunction *fn;      /* user functions, newest first                      */
    unsigned flags;     /* OV_FAULT …: what evaluation ran into              */
    int64_t points;     /* points of loops evaluated                         */
    bool empty;         /* some loop was over nothing                        */
    int64_t limit;      /* give up beyond so many: ORACLE_UNSURE; 0: none    */
    char why[200];      /* for ORACLE_ERROR and _UNSURE                      */
    const char *target; /* of the last assignment: a name in the tree's text */
    char target_name[32];
} oworld;

void oworld_init(oworld *w, ctx *cx);
void oworld_free(oworld *w);
/* Adds or replaces; data is cleared to fill. NULL: no memory. */
otensor *oworld_put(oworld *w, const char *name, stc_type type, int order,
                    const int64_t *shape, oval fill);
otensor *oworld_find(const oworld *w, const char *name);
overdict oracle_exec(oworld *w, const char *text);
/* A function of the host's that does what the definition says, on operands of this
 * type alone, and gives results of it. */
void oracle_define_host(oworld *w, const char *definition, stc_type type);

#endif
