/* What is allowed but looks like a mistake. */
#include "multibody/acceleration.h"

#include "multibody/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_INERTIA 1e-15 /* of the cube of the trace: rounding of a rod along any direction; ours */

static void warn(mbs_mechanism *m, const char *format, const char *name)
{
    char text[200];
    if (m->nwarning == (int)(sizeof m->warning / sizeof *m->warning)) return;
    snprintf(text, sizeof text, format, name);
    const char *copy = mbs_copy_text(m->owned, text);
    if (copy) m->warning[m->nwarning++] = copy;
}

/* 1: the block of the body in the mass matrix is singular: no mass, or no inertia about some axis. */
static int light(const mbs_mechanism *m, int k)
{
    const double *J = m->inertia + 9 * k;
    if (m->mass[k] == 0) return 1;
    if (m->planar) return J[8] == 0;
    double det = J[0] * (J[4] * J[8] - J[5] * J[5]) - J[1] * (J[1] * J[8] - J[5] * J[2]) +
                 J[2] * (J[1] * J[5] - J[4] * J[2]),
           size = J[0] + J[4] + J[8];
    return det <= NO_INERTIA * size * size * size;
}

/* The light body that no joint holds, or -1: with the identity added to the blocks of light bodies one after another, the one that
 * makes the accelerations unique. */
static int not_held(mbs_mechanism *m, const double *y, double *kept)
{
    size_t block = (size_t)m->bv * (size_t)m->bv, n = (size_t)m->nbody * block;
    double t = m->model->simulation.t0;
    int found = -1;
    if (m->nlambda && mbs_acceleration_unique(m, t, y)) return -1;
    memcpy(kept, m->blocks, n * sizeof *kept);
    for (int k = 0; k < m->nbody && found < 0; k++) {
        if (!light(m, k)) continue;
        for (int i = 0; i < m->bv; i++) m->blocks[(size_t)k * block + (size_t)(i * (m->bv + 1))] += 1;
        if (!m->nlambda || mbs_acceleration_unique(m, t, y)) found = k;
    }
    memcpy(m->blocks, kept, n * sizeof *kept);
    return found;
}

/* Bodies without mass, and rods without inertia about their axis, are fine as long as joints hold them. */
static void look_for_mass(mbs_mechanism *m)
{
    int any = 0;
    for (int k = 0; k < m->nbody; k++) any |= light(m, k);
    if (!any || m->singular >= 0) return;
    size_t n = (size_t)(m->np + m->nv + m->nu);
    double *y = malloc((n + (size_t)(m->nbody * m->bv * m->bv)) * sizeof *y);
    int k = y && mbs_mechanism_initial(m, y, NULL) == DAE_OK ? not_held(m, y, y + n) : -1;
    if (k >= 0)
        warn(m,
             m->mass[k] == 0
                 ? "body \"%s\" has no mass, and no joint holds it"
                 : "body \"%s\" has no inertia about an axis about which it can turn freely; give it a small "
                   "one, or a joint that holds it",
             m->model->body[k].name);
    free(y);
}

/* What is allowed but looks like a mistake. */
dae_status mbs_look_for_mistakes(mbs_mechanism *m)
{
    for (int k = 0; k < m->model->nparameter; k++) {
        if (!m->model->parameter[k].used)
            warn(m, "parameter \"%s\" is not used", m->model->parameter[k].name);
    }
    unsigned char *held = calloc((size_t)m->nbody + 1, 1);
    if (!held) return DAE_ERR_MEMORY;
    for (int r = 0; r < m->nrows; r++) {
        for (int i = 0; i < m->row[r].nbody; i++) held[m->row[r].body[i]] = 1;
    }
    for (int f = 0; f < m->nforce; f++) {
        held[m->force[f].i.body] = held[m->force[f].j.body] = 1;
        for (int k = 0; m->force[f].type->acts & MBS_ACTS_ALL && k < m->model->nshape; k++)
            held[m->model->shape[k].body] = 1;
    }
    for (int e = 0; e < m->model->nevent; e++) /* impacts */
        held[m->impact[e].i.body] = held[m->impact[e].j.body] = 1;
    for (int k = 1; k <= m->nbody; k++) {
        if (!held[k] && m->nbody > 1)
            warn(m, "body \"%s\" is connected to nothing", m->model->body[k - 1].name);
        int which;
        if (!m->planar && mbs_lopsided(m->inertia + 9 * (k - 1), 1 + 1e-9, &which))
            warn(m, "body \"%s\": one moment of inertia is larger than the sum of the other two",
                 m->model->body[k - 1].name);
    }
    look_for_mass(m);
    if (m->singular >= 0)
        warn(m,
             "the starting pose is singular: there joint \"%s\" holds what others hold already, and the "
             "motion can "
             "go on in several ways; start beside it",
             mbs_row_name(m, m->singular, NULL));
    free(held);
    return dae_arena_failed(m->owned->arena) ? DAE_ERR_MEMORY : DAE_OK;
}

const char *mbs_mechanism_warning(const mbs_mechanism *m, int i)
{
    return i >= 0 && i < m->nwarning ? m->warning[i] : NULL;
}
