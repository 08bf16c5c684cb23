/* What is integrated for sensitivities: a system of its own, whose state holds that of the problem's form, z, and what goes
 * along with it. The handle (forward.c) runs it and asks for the state of the problem with one parameter a little
 * larger or smaller. */
#ifndef DAE_SENSITIVITY_ENGINE_H
#define DAE_SENSITIVITY_ENGINE_H

#include "method/driver.h"
#include "sensitivity/family.h"
#include "sensitivity/layout.h"

typedef struct dae_engine dae_engine;

struct dae_engine {
    const dae_family *f;
    dae_arena *arena;
    dae_layout layout; /* copy 0: z */
    int size;          /* of all */
    dae_system sys;
    dae_lead lead; /* columns: evaluations of z alone */
    int columns; /* 1: copy 1+j is s_j = dz/dp_j; 0: copies 1+2j and 2+2j are z with smaller and larger p_j */
    int *side;   /* last sides of the switches, or NULL */
    const double *floor; /* columns: nz sizes below which a component counts as this */
    double *z, *zp;      /* nz each: work of the callbacks */
    double *w[6];        /* nz each: work of the jumps */
    void *self;
};

/* Fills e->sys; e->f, arena are set. */
dae_status dae_abreast_create(dae_engine *e, dae_error *err);
dae_status dae_columns_create(dae_engine *e, const dae_parameter_products *products, dae_error *err);
/* Why columns cannot be used with this family; NULL: they can. */
const char *dae_columns_refuse(const dae_family *f, const dae_parameter_products *products);

/* What copy c of an engine that is abreast integrates: a system bound to its own run. */
static inline dae_simulation *dae_engine_member(const dae_engine *e, int c)
{
    return c == 0 ? e->f->sim : dae_family_side(e->f, (c - 1) / 2, (c - 1) % 2);
}

/* Parts of a state by which differences of eighth order move it, as WIDE of family.c */
#define DAE_WIDE_MOVE (1.0 / 256)
/* How far z moves for one unit in direction s, in parts of itself. */
double dae_engine_size(const dae_engine *e, const double *z, const double *s);

/* The rows y'[i] = y[m+i] of the Jacobian of a system of second order, which it need not fill: 1 at (i, m+i). 0: the pattern has no
 * room for them. J NULL: only looks. */
int dae_engine_complete(const dae_structure *s, int n, double *J);
/* z with parameter j smaller (side 0) or larger (1) by its step. */
void dae_engine_relative(const dae_engine *e, const double *all, int j, int side, double *z);
/* And back into the state of all; side 0 first, then 1. */
void dae_engine_put_relative(dae_engine *e, double *all, int j, int side, const double *z);
/* Asks the form of z for other variables; all change with it. As dae_chart_fn. */
int dae_engine_chart(dae_engine *e, double t, double *all);

#endif
