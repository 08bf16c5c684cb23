#include "method/dassl/coefficients.h"

#include <math.h>

/* 1 + 1/2 + .. + 1/k */
static const double harmonic[DAE_DASSL_ORDER_MAX + 1] = {0, 1, 1.5, 11.0 / 6, 25.0 / 12, 137.0 / 60};

void dae_dassl_coefficients(int k, int same, double h, const double *old, dae_dassl_formula *out)
{
    if (same <= k + 1) {
        double psi = h, gamma = 0;
        out->psi[0] = h;
        out->alpha[0] = out->beta[0] = out->sigma[0] = 1;
        out->slope[0] = 0;
        for (int i = 1; i <= k; i++) {
            out->beta[i] = out->beta[i - 1] * psi / old[i - 1];
            psi = old[i - 1] + h;
            gamma += out->alpha[i - 1] / h;
            out->psi[i] = psi;
            out->alpha[i] = h / psi;
            out->sigma[i] = i * out->sigma[i - 1] * out->alpha[i];
            out->slope[i] = gamma;
        }
        for (int i = 0; i < same && i <= k; i++) out->beta[i] = 1; /* but for rounding they are */
        for (int i = 1; i <= k; i++) out->slope[i] *= out->beta[i];
    }
    double alpha0 = 0;
    for (int i = 0; i < k; i++) alpha0 -= out->alpha[i];
    out->cj = harmonic[k] / h;
    out->ck = fmax(fabs(out->alpha[k] - harmonic[k] - alpha0), out->alpha[k]);
}
