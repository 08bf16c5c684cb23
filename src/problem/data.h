/* What an instance of a problem owns. */
#ifndef DAE_PROBLEM_DATA_H
#define DAE_PROBLEM_DATA_H

#include "core/arena.h"
#include "problem/problem.h"

/* Where it came from, for its variants. */
struct dae_problem_origin {
    dae_problem_open_fn *open; /* NULL: not known */
    const char *text, *file;   /* or NULL */
    size_t length;
    const dae_setting *setting;
    int nsetting;
    int started; /* dae_problem_start was called, with: */
    double t0;
    const dae_setting *init;
    int ninit;
    const dae_setting *tolerance; /* of dae_problem_tolerate */
    int ntolerance;
};

struct dae_problem_data {
    dae_arena *arena;
    const char **component, **unit; /* n of each, or NULL */
    void *object;                   /* what dae_problem_own gave it */
    void (*destroy)(void *object);
    const char *const *watch; /* dae_problem_watch */
    dae_switching *switching; /* what became of it, or NULL */
    struct dae_problem_origin origin;
    int no_rtol, no_atol; /* 1: asked for as 0; else 0 means that the problem has none of its own */
};

dae_status dae_problem_remember_start(dae_problem *p, double t0, const dae_setting *init, int ninit);
dae_status dae_problem_remember_tolerances(dae_problem *p, const dae_setting *tolerance, int count);

#endif
