/* Formulations: a mechanical system seen as an ODE or DAE, so that every method can take it.
 *
 * With what "dae_solve" does in one call:
 *
 *     dae_options inner;
 *     dae_formulation *f = dae_formulation_open(&mech, &opt, &inner, &err);
 *     dae_integrator *it = dae_integrator_create(dae_formulation_system(f), &inner, &err);
 *     dae_formulation_attach(f, it, &err);
 *     dae_formulation_lift(f, t0, pvu, y, &err);
 *     dae_integrator_start(it, t0, t1, y, NULL, &err);
 *     dae_integrator_advance(it, t1, &err);
 *     dae_formulation_lower(f, t1, dae_integrator_state(it), pvu, a, lambda, &err); */
#ifndef DAEDALUS_FORMULATION_H
#define DAEDALUS_FORMULATION_H

#include <daedalus/integrator.h>

DAE_BEGIN_DECLS

typedef struct dae_formulation dae_formulation; /* opaque; one per integrator */

typedef struct dae_formulation_info {
    const char *name, *title, *summary;
    dae_kind kind;             /* of the system that comes out */
    int index;                 /* highest index of a variable in it */
    const dae_option *options; /* its own options, ended by name NULL; NULL: none */
} dae_formulation_info;

DAE_API int dae_formulation_count(void);
DAE_API const dae_formulation_info *dae_formulation_get(int i);
DAE_API const dae_formulation_info *dae_formulation_find(const char *name);

/* DAE_OK if the method can take a mechanical system in this form; else DAE_ERR_UNSUPPORTED (or _INPUT for
 * names that do not exist) with a text that names the combinations that work. "auto" goes with everything. */
DAE_API dae_status dae_formulation_check(const char *formulation, const char *method, dae_error *err);
/* The form that "auto" stands for with this method (NULL or "auto": the method is open too). */
DAE_API const dae_formulation_info *dae_formulation_choose(const char *method);

/* ---- Life ------------------------------------------------------------------------------------ */

/* The mechanical system in the given form. The formulation owns the resulting system. */
DAE_API dae_formulation *dae_formulation_create(const dae_system *mech, const char *name,
                                                const dae_setting *setting, int nsetting, dae_error *err);
/* The same from the options of a run: opt->formulation and opt->method in all combinations ("auto": chosen;
 * explicit one-step methods then get index1 with projection), those of opt->setting that belong to the
 * formulation. *inner becomes what dae_integrator_create needs: the other settings, and tolerances for every
 * variable from those given for (p, v, u). Its arrays live as long as f. */
DAE_API dae_formulation *dae_formulation_open(const dae_system *mech, const dae_options *opt,
                                              dae_options *inner, dae_error *err);
DAE_API void dae_formulation_destroy(dae_formulation *f); /* NULL allowed; after the integrator */

DAE_API const dae_formulation_info *dae_formulation_type_of(const dae_formulation *f);
DAE_API const dae_system *dae_formulation_system(const dae_formulation *f); /* lives as long as f */
/* What it decided, in words; "" if nothing. Complete after the first lift. */
DAE_API const char *dae_formulation_describe(const dae_formulation *f);

/* ---- States ---------------------------------------------------------------------------------- */

/* The state of the formulated system from (p, v, u): consistent accelerations and multipliers. */
DAE_API dae_status dae_formulation_lift(dae_formulation *f, double t, const double *pvu, double *y,
                                        dae_error *err);
/* And back; a (nv) and lambda (nlambda) may be NULL. */
DAE_API dae_status dae_formulation_lower(dae_formulation *f, double t, const double *y, double *pvu,
                                         double *a, double *lambda, dae_error *err);
/* Moves (p, v, u) onto the position and velocity constraints by least corrections in the metric of M. */
DAE_API dae_status dae_formulation_project(dae_formulation *f, double t, double *pvu, dae_error *err);
/* Largest residuals of the position, velocity and (where a is not NULL) acceleration constraints. */
DAE_API dae_status dae_formulation_residuals(dae_formulation *f, double t, const double *pvu, const double *a,
                                             double residual[3], dae_error *err);

/* ---- With an integrator ------------------------------------------------------------------------ */

/* Tells an integrator of this formulation's system to project (option "project"), to change coordinates where the
 * form does, and what belongs into checkpoints. Before start. */
DAE_API dae_status dae_formulation_attach(dae_formulation *f, dae_integrator *it, dae_error *err);

DAE_END_DECLS

#endif
