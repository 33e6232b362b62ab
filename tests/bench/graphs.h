/* graphs.h: what the three sides of graphs.c share: stcvm's scripts (graphs.c), loops in C
 * (graphs_ref.c) and SuiteSparse:GraphBLAS (graphs_grb.c, where it is installed).
 */
#ifndef STC_TESTS_BENCH_GRAPHS_H
#define STC_TESTS_BENCH_GRAPHS_H

#include "bench.h"

enum { RANK_ROUNDS = 20 };

/* The algorithms, in the order of graphs.c's table. */
enum { BFS, PUSHED, PULLED, TRIANGLES, FORD, COMPONENTS, ALGORITHMS };

/* A graph in the forms that the algorithms take. */
typedef struct graph {
    csr g;      /* as it was made; the values are lengths                     */
    csr p, pt;  /* its edges by 1 / how many leave their source; that turned   */
    csr s, l;   /* edges in both directions, no loops; their lower half        */
    bool *some; /* as many true as any of them has entries                     */
    int64_t source;
} graph;

graph graph_of(csr g);
void graph_free(graph *g);

/* Each gives a number by which the sides' results are compared. */
double graph_ref(int algorithm, const graph *g);

/* NULL: it isn't installed. What is made of the graph ahead isn't timed. */
typedef struct grb_side grb_side;
grb_side *grb_open(const graph *g);
double grb_run(const grb_side *s, int algorithm);
void grb_close(grb_side *s);

#endif
