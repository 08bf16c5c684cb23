/* A mechanism inside equations: use car = mechanism("car.json", L = 2[m]).
 *
 * Its signals (car.wheel.x, car.J1.speed, sensors) are discrete values of the model from `first` on, known numbers for the analysis; its
 * inputs (car.torque) are variables, which the equations determine. */
#ifndef DAE_EQUATIONS_MECHANISM_H
#define DAE_EQUATIONS_MECHANISM_H

#include "equations/model.h"

#include "multibody/mechanism.h"

typedef struct dae_model_input {
    int parameter; /* of the mechanism */
    int variable;  /* of the equations */
} dae_model_input;

typedef struct dae_model_mechanism {
    const char *name; /* "car" */
    dae_place place;
    mbs_model *model;
    mbs_mechanism *alone; /* without equations: what its names mean, how it starts */
    int first;            /* discrete value of the first signal */
    DAE_MODEL_LIST(mbs_signal, signal);
    DAE_MODEL_LIST(dae_model_input, input);
} dae_model_mechanism;

void dae_model_mechanism_destroy(dae_model_mechanism *x); /* NULL allowed */

#endif
