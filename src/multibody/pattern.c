/* Numbers of rows and states; patterns and values of G and M. */
#include "multibody/build.h"

#include <stdlib.h>
#include <string.h>

/* States of what sticks, slips and rests: four numbers each, after all others of u. */
void mbs_number_grips(mbs_mechanism *m)
{
    for (int k = 0; k < m->njoint; k++) {
        if (!(m->joint[k].model->friction.mu > 0 && m->joint[k].model->friction.stick > 0)) continue;
        m->joint[k].grip = m->nu;
        m->nu += 4;
    }
    for (int k = 0; k < m->nforce; k++) {
        if (!m->force[k].type->sticks || !m->force[k].type->sticks(&m->force[k])) continue;
        m->force[k].grip = m->nu;
        m->nu += 4;
    }
    for (int k = 0; k < m->model->nevent; k++) {
        m->rest[k] = -1;
        if (m->impact[k].kind == MBS_NO_COORDINATE || !(m->model->event[k].restitution < 1)) continue;
        m->rest[k] = m->nu;
        m->nu += 4;
    }
}

/* Holonomic rows first, [MEXX]; redundant ones are left out. */
void mbs_number_rows(mbs_mechanism *m, const unsigned char *left_out)
{
    int all = 0, row = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < m->nrows; k++) {
            mbs_row *r = &m->row[k];
            if (r->type->holonomic != !pass) continue;
            r->first = all;
            for (int i = 0; i < r->count; i++, all++) r->system[i] = left_out && left_out[all] ? -1 : row++;
        }
        if (pass == 0) m->ng = row;
    }
    m->nrow = all;
    m->nlambda = row;
}

/* The pattern of G in compressed columns and the place of every value in it. */
dae_status mbs_make_pattern(mbs_builder *b)
{
    mbs_mechanism *m = b->m;
    dae_mech *s = &m->system.mech;
    int *count = calloc((size_t)m->nv + 1, sizeof *count),
        *colptr = dae_arena_ints(m->arena, (size_t)m->nv + 1);
    size_t places = 0;
    if (!count || !colptr) goto fail;
    /* rows of the system in ascending order, each with its slots once */
    for (int pass = 0; pass < 2; pass++) {
        int *rowind = (int *)s->G_rowind;
        for (int half = 0; half < 2; half++) {
            for (int k = 0; k < m->nrows; k++) {
                mbs_row *r = &m->row[k];
                if (r->type->holonomic != !half) continue;
                int *place = r->place;
                for (int i = 0; i < r->count; i++) {
                    for (int n = 0; n < r->nbody; n++) {
                        for (int c = 0; c < m->bv; c++) {
                            int slot = r->body[n] ? (r->body[n] - 1) * m->bv + c : -1, before = -1;
                            for (int e = 0; e < n; e++) {
                                if (r->body[e] == r->body[n]) before = e;
                            }
                            int here = slot >= 0 && r->system[i] >= 0;
                            if (pass == 0) {
                                if (here && before < 0) colptr[slot + 1]++;
                                if (n == 0 && c == 0 && i == 0)
                                    places += (size_t)(r->count * r->nbody * m->bv);
                                continue;
                            }
                            int at = -1;
                            if (here && before < 0) {
                                at = colptr[slot] + count[slot]++;
                                rowind[at] = r->system[i];
                            } else if (here) {
                                at = r->place[(i * r->nbody + before) * m->bv + c];
                            }
                            *place++ = at;
                        }
                    }
                }
            }
        }
        if (pass == 1) break;
        for (int j = 0; j < m->nv; j++) colptr[j + 1] += colptr[j];
        s->G_rowind = dae_arena_ints(m->arena, (size_t)colptr[m->nv] + 1);
        int *all = dae_arena_ints(m->arena, places + 1);
        if (!s->G_rowind || !all) goto fail;
        for (int k = 0; k < m->nrows; k++) {
            m->row[k].place = all;
            all += m->row[k].count * m->row[k].nbody * m->bv;
        }
    }
    s->G_colptr = colptr;
    free(count);
    return DAE_OK;
fail:
    free(count);
    return mbs_no_memory(b);
}

/* M as a sparse matrix of its blocks (planar: a diagonal), which are symmetric. */
dae_status mbs_make_mass(mbs_builder *b)
{
    mbs_mechanism *m = b->m;
    dae_mech *s = &m->system.mech;
    int n = m->bv, *block = dae_arena_ints(m->arena, (size_t)m->nbody);
    int *quaternion = dae_arena_ints(m->arena, (size_t)m->nbody);
    size_t stored = (size_t)(m->planar ? 3 : 12) * (size_t)m->nbody, used = 0;
    double *a = dae_arena_reals(m->arena, stored);
    int *colptr = dae_arena_ints(m->arena, (size_t)m->nv + 1), *rowind = dae_arena_ints(m->arena, stored);
    if (dae_arena_failed(m->arena)) return mbs_no_memory(b);
    for (int k = 0; k < m->nbody; k++) {
        const double *M = m->blocks + k * n * n;
        block[k] = n;
        quaternion[k] = 7 * k + 3;
        for (int c = 0; c < n; c++) {
            if (m->planar) {
                a[3 * k + c] = M[4 * c];
                continue;
            }
            for (int r = 0; r < n; r++) {
                if (r != c && (r < 3 || c < 3)) continue;
                rowind[used] = 6 * k + r;
                a[used++] = M[6 * c + r];
            }
            colptr[6 * k + c + 1] = (int)used;
        }
    }
    s->mass = m->planar ? dae_diagonal(m->nv, a) : dae_sparse(m->nv, colptr, rowind, a);
    s->mass_block = block;
    s->nblock = m->nbody;
    if (!m->planar) {
        s->quaternion = quaternion;
        s->nquaternion = m->nbody;
    }
    return DAE_OK;
}
