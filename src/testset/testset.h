/* How a problem file enters the test set: one dae_problem_entry, one line in problems.def.
 *
 * setup fills the instance (parameters are set already): system, initial values, interval, tolerances,
 * reference. Memory that the instance owns comes from dae_problem_reals and its like and is freed with
 * it; static arrays may be used directly. */
#ifndef DAE_TESTSET_TESTSET_H
#define DAE_TESTSET_TESTSET_H

#include "problem/problem.h"

typedef struct dae_problem_entry {
    dae_problem_info info;
    dae_status (*setup)(dae_problem *p, dae_error *err);
} dae_problem_entry;

const dae_problem_entry *dae_problem_entry_at(int i); /* the registry, NULL past its end */

/* The value of a parameter by name (the name must exist). */
double dae_problem_parameter(const dae_problem *p, const char *name);
/* Copies the values of the parameters from position `first` on to a struct of doubles that are in the order of the table;
 * size in bytes. */
void dae_problem_constants(const dae_problem *p, int first, void *to, size_t size);
/* x, the result of a few operations on decimal numbers, rounded to 15 digits: 1 - 0.99 becomes 0.01. */
double dae_problem_decimal(double x);
/* 1 if every parameter has its default value: only then the published reference holds. */
int dae_problem_is_default(const dae_problem *p);
/* The same for the parameters from position `first` on: those before it are forms that share the reference, or have their own. */
int dae_problem_is_default_from(const dae_problem *p, int first);

#endif
