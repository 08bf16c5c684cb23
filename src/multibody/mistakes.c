/* What is allowed but looks like a mistake. */
#include "multibody/acceleration.h"

#include "multibody/build.h"

#include <stdio.h>
#include <stdlib.h>

static void warn(mbs_mechanism *m, const char *format, const char *name)
{
    char text[200];
    if (m->nwarning == (int)(sizeof m->warning / sizeof *m->warning)) return;
    snprintf(text, sizeof text, format, name);
    const char *copy = mbs_copy_text(m->owned, text);
    if (copy) m->warning[m->nwarning++] = copy;
}

/* Bodies without mass are frames as long as joints hold them. */
static void look_for_mass(mbs_mechanism *m)
{
    int first = -1;
    for (int k = m->nbody; k > 0; k--) {
        if (m->mass[k - 1] == 0) first = k - 1;
    }
    double *y = first < 0 ? NULL : malloc((size_t)(m->np + m->nv + m->nu) * sizeof *y);
    if (y && m->singular < 0 && mbs_mechanism_initial(m, y, NULL) == DAE_OK &&
        !mbs_acceleration_unique(m, m->model->simulation.t0, y))
        warn(m, "body \"%s\" has no mass, and no joint holds it", m->model->body[first].name);
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
