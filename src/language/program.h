/* A program: the values of many nodes of a graph at once, as a list of operations without jumps.
 *
 * Each operation writes one register. The registers are the inputs, the constants, the results: a work array that the
 * caller owns. Operations stand in levels (an operation needs only those of lower levels), inside a level sorted by kind: a run
 * of equal operations is one loop, so that nothing is decided per operation and compilers vectorize the frequent ones.
 *
 *     work = malloc(dae_program_work(p) * sizeof *work);
 *     dae_program_start(p, work);          once: the constants
 *     work[k] = ...                        value of leaf input[k], k < ninput; they stay until they are changed
 *     dae_program_run(p, work, out);       out[i] = value of node output[i]
 *
 * A program is constant after it was made and does not need the graph any more; threads share it, each with a work array. */
#ifndef DAE_LANGUAGE_PROGRAM_H
#define DAE_LANGUAGE_PROGRAM_H

#include "language/graph.h"

typedef struct dae_program dae_program;

/* input: leaf nodes (t, parameters, variables ...) that the caller gives values to, all leaves that the outputs need; output:
 * nodes, any number of times. NULL: no memory (or a leaf is missing, an error of the caller: *missing is its node, else -1;
 * NULL allowed). */
dae_program *dae_program_create(const dae_graph *g, int ninput, const int *input, int noutput,
                                const int *output, int *missing);
/* The same for callbacks: input `time` (-1: none) and the ny inputs from first_y on are handed over as they are, output i goes to
 * out[place[i]] (NULL: out[i]). */
dae_program *dae_program_create_split(const dae_graph *g, int ninput, const int *input, int time, int first_y,
                                      int ny, int noutput, const int *output, const int *place, int *missing);
void dae_program_destroy(dae_program *p);
size_t dae_program_work(const dae_program *p); /* numbers */
int dae_program_operations(const dae_program *p);
void dae_program_start(const dae_program *p, double *work);
void dae_program_constants(const dae_program *p, double *work); /* the constants alone */
void dae_program_run(const dae_program *p, double *work, double *out);
/* Without copies and work array, by machine code alone: inputs other than time and y are taken from `work`, which is not written to, so
 * that threads share it. 0: there is no machine code, nothing was done. */
int dae_program_evaluate(const dae_program *p, const double *work, double t, const double *y, double *out);
/* By the portable levels, whatever dae_program_run uses; the two give the same outputs, exactly. */
void dae_program_run_levels(const dae_program *p, double *work, double *out);
/* 1: sums and products alone, so that outputs are finite where the inputs are and nothing overflows. */
int dae_program_is_polynomial(const dae_program *p);
int dae_program_is_native(const dae_program *p); /* 1: dae_program_run is machine code */

#endif
