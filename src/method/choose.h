/* The policy: what is known of a system, and which method and form that leads to. */
#ifndef DAE_METHOD_CHOOSE_H
#define DAE_METHOD_CHOOSE_H

#include "method/method.h"

typedef struct dae_features {
    dae_kind kind;
    int index;
    double rtol; /* the sharpest */
    /* fast time constants in the interval; mechanisms: of motions that decay; NAN: not known */
    double constants;
    int as_it_stands; /* 1: a mechanism that is integrated in no other form */
    int has;          /* what of its structure rules can need; choose.c */
} dae_features;

/* All but as_it_stands; constants of a mechanism are not measured here. */
dae_features dae_features_of(const dae_system *sys, const dae_options *opt, double t0, double t_end,
                             const double *y0);
/* The method, the form of a mechanism (*form, unless NULL) and the reason in words; NULL: there is none. */
const dae_method_info *dae_choose(const dae_features *x, const char **form, char *reason, size_t size);
/* The rate of the fastest motion of a second-order system at (t, y), if it decays; 0: it oscillates, or is not known. */
double dae_fastest_decay(const dae_ode *ode, double t, const double *y);

#endif
