/* How a problem file enters the test set: one dae_problem_entry, one line in registry.c.
 *
 * setup fills the instance (parameters are set already): system, initial values, interval, tolerances,
 * reference. Memory that the instance owns comes from dae_problem_reals and its like and is freed with
 * it; static arrays may be used directly. */
#ifndef DAE_TESTSET_TESTSET_H
#define DAE_TESTSET_TESTSET_H

#include <daedalus/problem.h>

#include "core/error.h"

typedef struct dae_problem_entry {
    dae_problem_info info;
    dae_status (*setup)(dae_problem *p, dae_error *err);
} dae_problem_entry;

const dae_problem_entry *dae_problem_entry_at(int i); /* the registry, NULL past its end */

/* Memory of the instance, zeroed; NULL: out of memory (create reports it after setup). */
void *dae_problem_take(dae_problem *p, size_t count, size_t size);
double *dae_problem_reals(dae_problem *p, int n);
int *dae_problem_ints(dae_problem *p, int n);
/* Gives one object to the instance, which destroys it in the end. */
void dae_problem_own(dae_problem *p, void *object, void (*destroy)(void *object));
/* The value of a parameter by name (the name must exist). */
double dae_problem_parameter(const dae_problem *p, const char *name);
/* 1 if every parameter has its default value: only then the published reference holds. */
int dae_problem_is_default(const dae_problem *p);
/* Names made by a pattern for components first .. first+count-1 (from 0), numbered from 1: "q%d" gives
 * q1, q2, ... Components that no call names are y1, y2, ... The system must be set before. */
void dae_problem_names(dae_problem *p, int first, int count, const char *pattern);
/* The same unit for components first .. first+count-1; "" where no call gives one. */
void dae_problem_units(dae_problem *p, int first, int count, const char *unit);

#endif
