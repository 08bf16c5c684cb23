/* KLU's pivots as a list of operations (fixed.h): for the files that call KLU. */
#ifndef DAE_LINALG_KLU_LIST_H
#define DAE_LINALG_KLU_LIST_H

#include "linalg/fixed.h"

#include <klu.h>
#include <stdlib.h>

/* value: the matrix that numeric belongs to. NULL: no memory for it, or too long; then KLU's factors serve. */
static inline dae_fixed *dae_klu_list(klu_numeric *numeric, klu_symbolic *symbolic, klu_common *common,
                                      int size, const int *colptr, const int *rowind, const double *value,
                                      int is_complex)
{
    size_t n = (size_t)size, lnz = (size_t)numeric->lnz, unz = (size_t)numeric->unz;
    dae_fixed *list = NULL;
    int *ints = calloc(5 * n + 5 + lnz + unz, sizeof *ints);
    double *unused =
        calloc(lnz + unz + 1, sizeof *unused); /* klu_extract gives patterns only with the values */
    if (ints && unused) {
        int *Lp = ints, *Up = Lp + n + 1, *P = Up + n + 1, *Q = P + n, *R = Q + n, *Li = R + n + 1,
            *Ui = Li + lnz;
        int ok = is_complex ? klu_z_extract(numeric, symbolic, Lp, Li, unused, unused, Up, Ui, unused, unused,
                                            NULL, NULL, NULL, NULL, P, Q, NULL, R, common)
                            : klu_extract(numeric, symbolic, Lp, Li, unused, Up, Ui, unused, NULL, NULL, NULL,
                                          P, Q, NULL, R, common);
        dae_fixed_order order = {P, Q, R, symbolic->nblocks, Lp, Li, Up, Ui};
        if (ok) list = dae_fixed_create(size, colptr, rowind, value, is_complex, &order);
    }
    free(ints);
    free(unused);
    return list;
}

#endif
