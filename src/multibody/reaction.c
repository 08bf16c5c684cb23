/* Reactions of joints, and how an overconstrained mechanism shares its load.
 *
 * Rows that follow from others are left out of the system, so that its multipliers are unique. The force that all
 * constraints put on the bodies is unique too; how the rows as described share it is not, since that depends on how
 * elastic the parts are. The reactions are those of least norm: over all rows
 *
 *     minimize  sum (lambda_i w_i)^2   with   G^T lambda = G_s^T lambda_s     (G: all rows, G_s: those of the system)
 *
 * w = 1 for rows that carry a force and 1/length for rows that carry a torque. length is the root mean square of the
 * distances of the joints' points from the centers of their bodies, so that the answer does not depend on the unit. */
#include "linalg/least_squares.h"
#include "multibody/mechanism.h"

#include <stdlib.h>
#include <string.h>

#define RANK 1e-9 /* relative size of a pivot that counts as zero; ours, as REDUNDANT of topology.c */

static double mean_lever(const mbs_mechanism *m)
{
    double sum = 0;
    int n = 0;
    for (int k = 0; k < m->njoint; k++) {
        const mbs_frame *f[2] = {&m->joint[k].i, &m->joint[k].j};
        for (int i = 0; i < 2; i++) {
            if (!f[i]->body) continue;
            sum += mbs_dot(f[i]->s, f[i]->s);
            n++;
        }
    }
    return sum > 0 ? sqrt(sum / n) : 1;
}

static int carries_torque(const mbs_row *r)
{
    if (r->type == &mbs_row_dot1) return 1;
    return (r->type == &mbs_row_coordinate || r->type == &mbs_row_coupling_rate) && r->q[0].kind == MBS_ANGLE;
}

dae_status mbs_all_multipliers(const mbs_context *x, const double *lambda, double *all)
{
    const mbs_mechanism *m = x->m;
    size_t nrow = (size_t)m->nrow, nv = (size_t)m->nv;
    memset(all, 0, nrow * sizeof *all);
    for (int k = 0; k < m->nrows; k++) {
        const mbs_row *r = &m->row[k];
        for (int i = 0; i < r->count; i++) {
            if (r->system[i] >= 0) all[r->first + i] = lambda[r->system[i]];
        }
    }
    if (!m->nredundant) return DAE_OK;
    double *G = calloc(nrow * nv, sizeof *G), *A = malloc(nrow * nv * sizeof *A);
    double *b = calloc(nrow > nv ? nrow : nv, sizeof *b), *scale = malloc(nrow * sizeof *scale);
    double length = mean_lever(m);
    int bad = !G || !A || !b || !scale;
    if (!bad) {
        mbs_all_rows(x, NULL, G, NULL, NULL);
        for (int k = 0; k < m->nrows; k++) {
            for (int i = 0; i < m->row[k].count; i++)
                scale[m->row[k].first + i] = carries_torque(&m->row[k]) ? length : 1;
        }
        for (size_t c = 0; c < nv; c++) {
            for (size_t r = 0; r < nrow; r++) {
                b[c] += G[c * nrow + r] * all[r];
                A[r * nv + c] = G[c * nrow + r] * scale[r];
            }
        }
        int rank = dae_least_squares(m->nv, m->nrow, A, b, RANK);
        bad = rank == -1 ? 1 : rank < 0 ? 2 : 0;
        for (size_t r = 0; r < nrow && !bad; r++) all[r] = b[r] * scale[r];
    }
    free(G);
    free(A);
    free(b);
    free(scale);
    return bad == 1 ? DAE_ERR_MEMORY : bad ? DAE_ERR_SINGULAR : DAE_OK;
}

/* ---- Joints and drivers ------------------------------------------------------------------------------- */

void mbs_joint_reaction(const mbs_context *x, const mbs_joint_data *j, double *out)
{
    double row6[6] = {0}, A0[3];
    for (int k = j->first; k < j->first + j->count; k++) {
        const mbs_row *r = &x->m->row[k];
        double G[72] = {0};
        r->type->jacobian(r, x, G);
        for (int i = 0; i < r->count; i++) {
            for (int n = 0; n < r->nbody; n++) {
                if (r->body[n] != j->j.body || (n == 0 && r->nbody > 1 && r->body[1] == j->j.body)) continue;
                for (int c = 0; c < 6; c++) row6[c] -= G[24 * i + 6 * n + c] * x->reaction[r->first + i];
            }
        }
    }
    mbs_rotate(x->pose[j->j.body].A, row6 + 3, out + 3); /* about the center */
    mbs_axis(x, j->j.body, j->j.s, A0);
    double moment[3];
    mbs_cross(A0, row6, moment);
    for (int k = 0; k < 3; k++) {
        out[k] = row6[k];
        out[3 + k] -= moment[k];
    }
}

double mbs_driver_force(const mbs_context *x, int driver)
{
    for (int k = 0; k < x->m->nrows; k++) {
        if (x->m->row[k].driver == driver) return -x->reaction[x->m->row[k].first];
    }
    return 0;
}

/* ---- Of a mechanism ------------------------------------------------------------------------------------ */

dae_status mbs_reactions(const mbs_mechanism *m, int first, int count, double t, const double *y,
                         const double *lambda, double *out)
{
    double *all = malloc(((size_t)m->nrow + 1) * sizeof *all);
    if (!all) return DAE_ERR_MEMORY;
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    dae_status bad = mbs_all_multipliers(&x, lambda, all);
    x.reaction = all;
    for (int k = 0; k < count && !bad; k++) mbs_joint_reaction(&x, &m->joint[first + k], out + 6 * k);
    mbs_end(&x);
    free(all);
    return bad;
}

dae_status mbs_mechanism_reaction(const mbs_mechanism *m, int i, double t, const double *y,
                                  const double *lambda, double force[3], double torque[3])
{
    double out[6];
    if (i < 0 || i >= m->njoint) return DAE_ERR_INPUT;
    dae_status s = mbs_reactions(m, i, 1, t, y, lambda, out);
    if (s) return s;
    mbs_set(force, out);
    mbs_set(torque, out + 3);
    return DAE_OK;
}

dae_status mbs_mechanism_multipliers(const mbs_mechanism *m, double t, const double *y, const double *lambda,
                                     double *all)
{
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    dae_status bad = mbs_all_multipliers(&x, lambda, all);
    mbs_end(&x);
    return bad;
}

dae_status mbs_mechanism_driver_forces(const mbs_mechanism *m, double t, const double *y,
                                       const double *lambda, double *force)
{
    double *all = malloc(((size_t)m->nrow + 1) * sizeof *all);
    if (!all) return DAE_ERR_MEMORY;
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    dae_status bad = mbs_all_multipliers(&x, lambda, all);
    x.reaction = all;
    for (int k = 0; k < m->model->ndriver && !bad; k++) force[k] = mbs_driver_force(&x, k);
    mbs_end(&x);
    free(all);
    return bad;
}
