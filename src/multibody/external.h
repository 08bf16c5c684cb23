/* Equations beside a mechanism (src/equations/coupled.c): they read its signals, give its inputs values and have states of their own,
 *
 *     x' = r(t, x, s(p, v, u)),   input_k = h_k(t, x, s(p, v, u)),
 *
 * which stand in u behind those of the forces: the mechanism with its equations is one mechanical system [MEXX] (1.1), for every form
 * and method. Signals s are of positions, velocities and states; what depends on accelerations, reactions or inputs would close a loop. */
#ifndef MBS_EXTERNAL_H
#define MBS_EXTERNAL_H

#include "multibody/dual.h"

struct mbs_external {
    int nstate, nsignal, ninput, nswitch;
    const mbs_signal *signal;
    const int *input;    /* ninput: the parameter that each sets */
    const double *start; /* nstate */
    /* side: of the switches of the equations, NULL: as the values say. All return 0, or other values where they cannot be evaluated. */
    int (*rates)(const mbs_external *e, double t, const double *state, const double *signal, const int *side,
                 double *rate);
    /* h_which and, unless NULL, its gradient by signals, states and t. */
    int (*input_at)(const mbs_external *e, int which, double t, const double *state, const double *signal,
                    const int *side, double *value, double *gradient);
    /* As dae_switch_fn. */
    int (*margins)(const mbs_external *e, double t, const double *state, const double *signal,
                   const int *side, double *margin, int *next);
    const char *(*switch_name)(const mbs_external *e, int i);
    void (*destroy)(mbs_external *e); /* frees it, too */
};

void mbs_external_destroy(mbs_external *e); /* NULL allowed */
/* The mechanism owns e from here on, also if it fails. */
mbs_mechanism *mbs_mechanism_create_with(const mbs_model *model, mbs_external *e, dae_error *err);
struct dae_problem *mbs_problem_create_with(const mbs_model *model, mbs_external *e, dae_error *err);

/* While the mechanism is built: states in u behind those of the forces; then work space, and switches of the sensors that are read. */
void mbs_external_number(mbs_mechanism *m);
void mbs_external_prepare(mbs_mechanism *m);

/* Can equations that set inputs read the signal? NULL: yes; else why not, in words. */
const char *mbs_external_refuses(const mbs_mechanism *m, const mbs_signal *s);

double mbs_input_value(mbs_context *x, int parameter);
mbs_dual mbs_input_dual(mbs_context *x, int parameter);
void mbs_external_signals(mbs_context *x, double *out);
mbs_dual mbs_energy_dual(mbs_context *x, const mbs_signal *s); /* without energies of forces */
/* A sensor inside of the equations. */
mbs_dual mbs_sensor_dual(mbs_context *x, int sensor);
/* Signals at a state y = (p, v, u) of the mechanism; 0, or -1: out of memory. */
int mbs_signals_at(const mbs_mechanism *m, double t, const double *y, int n, const mbs_signal *signal,
                   double *out);
void mbs_external_dynamics(mbs_context *x, double *rate);
void mbs_external_margins(mbs_context *x, double *margin, int *next);

#endif
