/* Programs as machine code, where the processor and the system allow it (x86-64, memory that is first writable, then executable,
 * never both). The levels stay as fallback and as oracle: code is used only if it gives the same numbers on random points. */
#ifndef DAE_LANGUAGE_NATIVE_H
#define DAE_LANGUAGE_NATIVE_H

#include "language/program_parts.h"

typedef struct dae_native dae_native;

/* NULL: not here (another processor, refused by the system, too long, or not the same numbers). The program must stay where it is. */
dae_native *dae_native_create(const dae_program *p);
void dae_native_destroy(dae_native *n); /* NULL allowed */
/* Inputs but time and y from work, which is read only; outputs at their places. */
void dae_native_run(const dae_native *n, const double *work, double t, const double *y, double *out);

#endif
