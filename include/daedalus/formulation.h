/* Formulations: a mechanical system seen as an ODE, DAE or IDE, so that every method can take it. */
#ifndef DAEDALUS_FORMULATION_H
#define DAEDALUS_FORMULATION_H

#include <daedalus/integrator.h>

DAE_BEGIN_DECLS

typedef struct dae_formulation dae_formulation; /* opaque */

typedef struct dae_formulation_info {
    const char *name, *title, *summary;
    dae_kind kind; /* of the system that comes out */
    int index;     /* highest index of a variable in it */
} dae_formulation_info;

DAE_API int dae_formulation_count(void);
DAE_API const dae_formulation_info *dae_formulation_get(int i);
DAE_API const dae_formulation_info *dae_formulation_find(const char *name);

/* The mechanical system in the given form. The formulation owns the resulting system. */
DAE_API dae_formulation *dae_formulation_create(const dae_system *mech, const char *name,
                                                const dae_setting *setting, int nsetting, dae_error *err);
DAE_API void dae_formulation_destroy(dae_formulation *f);
DAE_API const dae_system *dae_formulation_system(const dae_formulation *f); /* lives as long as f */
/* The state of the formulated system from (p, v, u): consistent accelerations and multipliers. */
DAE_API dae_status dae_formulation_lift(dae_formulation *f, double t, const double *pvu, double *y, dae_error *err);
/* And back; a (nv) and lambda (nlambda) may be NULL. */
DAE_API dae_status dae_formulation_lower(dae_formulation *f, double t, const double *y, double *pvu, double *a,
                                         double *lambda, dae_error *err);

DAE_END_DECLS

#endif
