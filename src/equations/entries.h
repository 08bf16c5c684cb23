/* The derivatives of all equations of an analysis, f_i^(m), by all values of X: which there are, and their nodes. */
#ifndef DAE_EQUATIONS_ENTRIES_H
#define DAE_EQUATIONS_ENTRIES_H

#include "equations/analysis.h"

typedef struct dae_entries {
    int count, capacity;
    int *row, *column, *node; /* number of the equation, place in X */
} dae_entries;

/* Adds nodes to the graph of the model. 0: no memory. */
int dae_entries_find(const dae_analysis *a, dae_entries *out);
void dae_entries_free(dae_entries *e);

#endif
