/* States of the relatives out of the state of all, and into it. */
#include "sensitivity/engine.h"

#include <math.h>

double dae_engine_size(const dae_engine *e, const double *z, const double *s)
{
    double most = 0;
    for (int i = 0; i < e->layout.n; i++) most = fmax(most, fabs(s[i]) / (fabs(z[i]) + e->floor[i]));
    return most;
}

void dae_engine_relative(const dae_engine *e, const double *all, int j, int side, double *z)
{
    if (!e->columns) {
        dae_gather(&e->layout, 1 + 2 * j + side, all, z);
        return;
    }
    dae_gather(&e->layout, 1 + j, all, e->z);
    dae_gather(&e->layout, 0, all, z);
    dae_axpy(e->layout.n, e->f->direction[j].side[side].step, e->z, z);
}

void dae_engine_put_relative(dae_engine *e, double *all, int j, int side, const double *z)
{
    int n = e->layout.n;
    if (!e->columns) {
        dae_scatter(&e->layout, 1 + 2 * j + side, z, all);
    } else if (side == 0) {
        dae_copy(n, z, e->w[0]);
    } else { /* s = (z_1 - z_0) / width */
        for (int i = 0; i < n; i++) e->w[1][i] = (z[i] - e->w[0][i]) / dae_family_width(e->f, j);
        dae_scatter(&e->layout, 1 + j, e->w[1], all);
    }
}

int dae_engine_complete(const dae_structure *s, int n, double *J)
{
    const dae_pattern *p = &s->jacobian;
    int m = s->second_order;
    for (int j = 0; j < n && m > 0; j++) { /* column j: clears rows below m, sets row j - m */
        int found = j < m || j >= 2 * m;
        if (p->storage == DAE_SPARSE) {
            for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) {
                if (p->rowind[k] >= m) break;
                found |= p->rowind[k] == j - m;
                if (J) J[k] = p->rowind[k] == j - m;
            }
        } else {
            int banded = p->storage == DAE_BANDED, ld = banded ? p->lower + 1 + p->upper : n;
            for (int i = banded && j > p->upper ? j - p->upper : 0; i < m && (!banded || i - j <= p->lower);
                 i++) {
                size_t at = (size_t)(banded ? p->upper + i - j : i) + (size_t)j * (size_t)ld;
                found |= i == j - m;
                if (J) J[at] = i == j - m;
            }
        }
        if (!found) return 0;
    }
    return 1;
}
