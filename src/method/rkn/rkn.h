/* The tables of the Nystrom pairs. */
#ifndef DAE_METHOD_RKN_RKN_H
#define DAE_METHOD_RKN_RKN_H

#include "method/method.h"

enum { DAE_RKN_STAGES = 17 };

typedef struct dae_rkn_table {
    int stages, order;
    int estimate; /* the error estimate behaves like h^estimate */
    int fsal;     /* 1: the last stage is the first of the next step, its argument the new position */
    int levels;   /* of dense output: error O(h^(6 + 2 levels)), for levels (levels + 1) evaluations */
    double c[DAE_RKN_STAGES], a[DAE_RKN_STAGES][DAE_RKN_STAGES];
    double b[DAE_RKN_STAGES], bp[DAE_RKN_STAGES]; /* new positions, new velocities */
    double e[DAE_RKN_STAGES], ep[DAE_RKN_STAGES]; /* their errors */
} dae_rkn_table;

extern const dae_rkn_table dae_rkn8_table, dae_rkn12_table;

#endif
