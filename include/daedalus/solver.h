/* Solvers as studies name them: "radau5", "dop853/index1", "dop853/index1+project"; lists of them. */
#ifndef DAEDALUS_SOLVER_H
#define DAEDALUS_SOLVER_H

#include <daedalus/problem.h>

DAE_BEGIN_DECLS

enum { DAE_MAX_SOLVERS = 40 }; /* in one study */

typedef struct dae_solver {
    char label[64]; /* as it was given */
    const dae_method_info *method;
    const char *formulation;             /* NULL: auto */
    int project;                         /* 1: with projections */
    const struct dae_method *const *own; /* methods of the caller, as in dae_options; or NULL */
} dae_solver;

/* The first `length` letters as one solver. DAE_ERR_INPUT: *err names what is wrong and what is near. */
DAE_API dae_status dae_solver_parse(const char *label, size_t length, const struct dae_method *const *own,
                                    dae_solver *out, dae_error *err);
/* "a,b,c", or "all": those that take the problem without being told a form, but for SUNDIALS, which distributions compile
 * without optimization. out has room for DAE_MAX_SOLVERS. */
DAE_API dae_status dae_solvers_parse(const char *list, const dae_problem *p,
                                     const struct dae_method *const *own, dae_solver *out, int *count,
                                     dae_error *err);
/* Every solver of a list in every form of the other that it can take, as such a list: "radau5,dopri5", "index3,index1+project". A
 * solver that has a form keeps it. */
DAE_API dae_status dae_solvers_cross(const char *solvers, const char *forms,
                                     const struct dae_method *const *own, char *list, size_t size,
                                     dae_error *err);
/* Whether the method takes the problem, a mechanism in the form that it gets by itself. */
DAE_API int dae_solver_takes(const dae_method_info *method, const dae_problem *p,
                             const struct dae_method *const *own);
/* Sets method, formulation and the setting of the projection. */
DAE_API void dae_solver_apply(const dae_solver *s, dae_options *o);

DAE_END_DECLS

#endif
