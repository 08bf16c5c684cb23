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
    double limit;     /* ODEs: dae_stiff_limit */
    double decaying;  /* ODEs: the same of a motion that decays, 0: the fastest oscillates or grows */
    int as_it_stands; /* 1: a mechanism that is integrated in no other form */
    int has;          /* what of its structure rules can need; choose.c */
    int n;            /* equations */
} dae_features;

/* What a choice was made from, and the rule that decided; no pointers. */
typedef struct dae_evidence {
    dae_features seen;
    int rule;    /* -1: none holds */
    int given;   /* 0: nothing was left open */
    int changed; /* another method went on; the reason of the integrator tells */
} dae_evidence;

/* All but as_it_stands; constants of a mechanism are not measured here. */
enum { DAE_EVENTS_BY_TIME = 1, DAE_EVENTS_BY_STATE }; /* 0: none */
dae_features dae_features_of(const dae_system *sys, const dae_options *opt, double t0, double t_end,
                             const double *y0, int events);
/* The method and the form of a mechanism (*form, unless NULL); NULL: there is none. */
const dae_method_info *dae_choose(const dae_features *x, const char **form, dae_evidence *e);
/* For what turned out to be stiff. */
const dae_method_info *dae_choose_stiff(const dae_features *x);
/* Decaying time constants in what is left of the interval above which an ODE whose steps they bound is stiff. */
double dae_stiff_limit(const dae_features *x);
/* The same for a system that stays as it is; NULL also where memory ran out, e->seen.constants < 0. */
const dae_method_info *dae_choose_as_it_stands(const dae_system *sys, const dae_options *opt, double t0,
                                               double t_end, const double *y0, int events, dae_evidence *e);
/* The reason in one sentence, and all of it in lines: what was measured, the rules of its kind and why they do not hold.
 * Returns the bytes needed without the 0 at the end. */
void dae_choose_reason(const dae_evidence *e, char *reason, size_t size);
size_t dae_choose_explain(const dae_evidence *e, char *out, size_t size);
const dae_evidence *dae_integrator_evidence(const dae_integrator *it); /* of the driver's own choice */
/* The rate of the fastest motion of a second-order system at (t, y), if it decays; 0: it oscillates, or is not
 * known, < 0: out of memory. */
double dae_fastest_decay(const dae_ode *ode, double t, const double *y);

#endif
