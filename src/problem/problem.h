/* How a problem is made: dae_problem_new, then the fields of dae_problem are filled by whoever makes it (the test set, a
 * model). Memory that the instance owns comes from here and is freed with it; static arrays may be used directly. */
#ifndef DAE_PROBLEM_PROBLEM_H
#define DAE_PROBLEM_PROBLEM_H

#include <daedalus/problem.h>

#include "core/error.h"

/* An empty one, or NULL with *err set; name: for the message. */
dae_problem *dae_problem_new(const char *name, dae_error *err);
int dae_problem_exhausted(const dae_problem *p); /* 1: memory ran out in one of the calls below */

/* Memory of the instance, zeroed; NULL: out of memory (create reports it after setup). */
void *dae_problem_take(dae_problem *p, size_t count, size_t size);
double *dae_problem_reals(dae_problem *p, int n);
int *dae_problem_ints(dae_problem *p, int n);
const char *dae_problem_copy(dae_problem *p, const char *text); /* into that memory */
/* Gives one object to the instance, which destroys it in the end. */
void dae_problem_own(dae_problem *p, void *object, void (*destroy)(void *object));
/* That object if it was given with this function, else NULL. */
void *dae_problem_object(const dae_problem *p, void (*destroy)(void *object));
/* Names made by a pattern for components first .. first+count-1 (from 0), numbered from 1: "q%d" gives
 * q1, q2, ... Components that no call names are y1, y2, ... The system must be set before. */
void dae_problem_names(dae_problem *p, int first, int count, const char *pattern);
/* The same unit for components first .. first+count-1; "" where no call gives one. */
void dae_problem_units(dae_problem *p, int first, int count, const char *unit);
/* What opens the text of a problem, or finds what it names. */
typedef dae_problem *dae_problem_open_fn(const char *text, size_t length, const char *file,
                                         const dae_setting *setting, int nsetting, dae_error *err);
/* Where it came from, for dae_problem_variant; all is copied. */
dae_status dae_problem_remember(dae_problem *p, dae_problem_open_fn *open, const char *text, size_t length,
                                const char *file, const dae_setting *setting, int nsetting, dae_error *err);
/* Functions in words (dae_switching_create), ended by NULL, that are told along a run: dae_problem_watched makes
 * p->events of them when everything else is filled. */
void dae_problem_watch(dae_problem *p, const char *const *text);
dae_status dae_problem_watched(dae_problem *p, dae_error *err);

/* What it derives from the state at one point. */
dae_status dae_problem_columns(const dae_problem *p, double t, const double *y, double *column,
                               dae_error *err);

/* dae_problem_tolerate, as part of what the problem itself says: variants are told by their own text. */
dae_status dae_problem_set_tolerances(dae_problem *p, const dae_setting *tolerance, int count,
                                      dae_error *err);

/* The tolerances that a run takes when nothing else is said; what the problem does not have stays. */
void dae_problem_tolerances(const dae_problem *p, dae_options *opt);

/* Starts and tolerates p as dae_problem_start and dae_problem_tolerate told `like` to. */
dae_status dae_problem_follow(dae_problem *p, const dae_problem *like, dae_error *err);
/* 1: dae_problem_start gave it another start. */
int dae_problem_restarted(const dae_problem *p);

/* What a name that can vary means: a parameter, else ("x(0)" or "x") the initial value of component x; what it is not is -1. 1: it
 * means one of both. */
int dae_problem_variable(const dae_problem *p, const char *name, int *parameter, int *component);

#endif
