/* Work arrays for functions that several threads call at once: each call borrows one that is free. */
#ifndef DAE_EQUATIONS_WORK_H
#define DAE_EQUATIONS_WORK_H

#include <stddef.h>

typedef struct dae_work dae_work;

/* Arrays of `size` numbers; fresh ones are filled by prepare. NULL: no memory (one array is made at once). */
dae_work *dae_work_create(size_t size, void (*prepare)(double *array, void *user), void *user);
void dae_work_destroy(dae_work *w); /* NULL allowed */
/* NULL: no memory. Only the first call of each thread that runs beside others takes memory. */
double *dae_work_borrow(dae_work *w, int *slot);
void dae_work_return(dae_work *w, int slot);

#endif
