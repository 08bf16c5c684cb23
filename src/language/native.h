/* Programs as code of the machine that runs them, where processor and system allow it: x86-64 (memory that is first writable, then
 * executable, never both), and WebAssembly in a page (a module beside the library's own, in the same memory). The levels stay as
 * fallback and as oracle: code is used only if it gives the same numbers on random points. */
#ifndef DAE_LANGUAGE_NATIVE_H
#define DAE_LANGUAGE_NATIVE_H

#include "language/program_parts.h"

#if defined(__x86_64__) && defined(__unix__)
#define DAE_NATIVE_AT_ONCE 1 /* code is there as soon as a program is made, as a rule */
#else
#define DAE_NATIVE_AT_ONCE 0
#endif

typedef struct dae_native dae_native;

/* NULL: not here (another processor, refused by the system, too long, or not the same numbers). The program must stay where it is. */
dae_native *dae_native_create(const dae_program *p);
void dae_native_destroy(dae_native *n); /* NULL allowed */
/* Inputs but time and y from work, which is read only; outputs at their places. 0: nothing was done, the levels have to (in a page
 * code is written once a program has run for as long as that takes, and may be refused then). */
int dae_native_run(dae_native *n, const double *work, double t, const double *y, double *out);
int dae_native_is_there(const dae_native *n); /* 1: the next run is by code; NULL allowed */

#endif
