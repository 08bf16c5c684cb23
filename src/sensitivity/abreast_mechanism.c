/* Mechanical systems side by side: one mechanism of all copies, which share nothing. State (p_0, p_1, ..., v_0, v_1, ..., u_0,
 * ...), multipliers segment by segment as well: those of the holonomic constraints of all copies, then the others. */
#include "sensitivity/abreast.h"

#include "core/matrix.h"

enum { ALIGN = 64 }; /* of the caches */

/* The point as copy c sees it; the rows of its multipliers are gathered. */
static dae_mech_point part(const dae_engine *e, const dae_mech_point *x, int c)
{
    const dae_abreast *a = e->self;
    const dae_mech *m = &a->sys[0]->mech;
    dae_mech_point at = {.t = x->t, .p = x->p + c * m->np};
    if (x->v) at.v = x->v + c * m->nv;
    if (x->u) at.u = x->u + c * m->nu;
    if (x->lambda) {
        dae_gather(&a->rows, c, x->lambda, a->zp);
        at.lambda = a->zp;
    }
    if (x->cache) at.cache = (char *)x->cache + (size_t)c * (e->sys.mech.cache_size / (size_t)a->copies);
    return at;
}

/* One function of every copy; what it gives stands one after another, `length` values each. */
#define IN_TURN(name, length)                                              \
    static int name(const dae_mech_point *x, double *out, void *user)      \
    {                                                                      \
        const dae_engine *e = user;                                        \
        const dae_abreast *a = e->self;                                    \
        int r = 0;                                                         \
        dae_abreast_same_sides(e);                                         \
        for (int c = 0; c < a->copies && !r; c++) {                        \
            const dae_mech *m = &a->sys[c]->mech;                          \
            dae_mech_point at = part(e, x, c);                             \
            r = m->name(&at, out + (size_t)c * (size_t)(length), m->user); \
        }                                                                  \
        return r;                                                          \
    }
IN_TURN(force, m->nv)
IN_TURN(kinematics, m->np)
IN_TURN(dynamics, m->nu)
IN_TURN(mass_blocks, a->block_count)

/* One value for each row of the constraints. */
#define BY_ROWS(name)                                                 \
    static int name(const dae_mech_point *x, double *out, void *user) \
    {                                                                 \
        const dae_engine *e = user;                                   \
        const dae_abreast *a = e->self;                               \
        int r = 0;                                                    \
        dae_abreast_same_sides(e);                                    \
        for (int c = 0; c < a->copies && !r; c++) {                   \
            const dae_mech *m = &a->sys[c]->mech;                     \
            dae_mech_point at = part(e, x, c);                        \
            r = m->name(&at, a->g, m->user);                          \
            dae_scatter(&a->rows, c, a->g, out);                      \
        }                                                             \
        return r;                                                     \
    }
BY_ROWS(velocity)
BY_ROWS(gamma)

/* A block of rows x columns of copy c into the matrix of all, which has `all` rows. */
static void put_block(int rows, int columns, int c, int all, const double *block, double *out)
{
    for (int j = 0; j < columns; j++) {
        for (int i = 0; i < rows; i++)
            out[(size_t)(c * rows + i) + (size_t)(c * columns + j) * (size_t)all] = block[i + rows * j];
    }
}

#define AS_BLOCKS(name, columns)                                                             \
    static int name(const dae_mech_point *x, double *out, void *user)                        \
    {                                                                                        \
        const dae_engine *e = user;                                                          \
        const dae_abreast *a = e->self;                                                      \
        int r = 0, nv = a->sys[0]->mech.nv;                                                  \
        dae_abreast_same_sides(e);                                                           \
        memset(out, 0, (size_t)e->sys.mech.nv *(size_t)((columns)*a->copies) * sizeof *out); \
        for (int c = 0; c < a->copies && !r; c++) {                                          \
            const dae_mech *m = &a->sys[c]->mech;                                            \
            dae_mech_point at = part(e, x, c);                                               \
            memset(a->block, 0, (size_t)nv *(size_t)(columns) * sizeof *a->block);           \
            r = m->name(&at, a->block, m->user);                                             \
            put_block(nv, columns, c, e->sys.mech.nv, a->block, out);                        \
        }                                                                                    \
        return r;                                                                            \
    }
AS_BLOCKS(mass_fn, nv)
AS_BLOCKS(dfdp, a->sys[0]->mech.np)
AS_BLOCKS(dfdv, nv)

/* df/dlambda: nv*nlambda, its columns as the multipliers stand. */
static int dfdlambda(const dae_mech_point *x, double *out, void *user)
{
    const dae_engine *e = user;
    const dae_abreast *a = e->self;
    int r = 0, nv = a->sys[0]->mech.nv, all = e->sys.mech.nv;
    dae_abreast_same_sides(e);
    memset(out, 0, (size_t)all * (size_t)e->sys.mech.nlambda * sizeof *out);
    for (int c = 0; c < a->copies && !r; c++) {
        const dae_mech *m = &a->sys[c]->mech;
        dae_mech_point at = part(e, x, c);
        memset(a->block, 0, (size_t)nv * (size_t)m->nlambda * sizeof *a->block);
        r = m->dfdlambda(&at, a->block, m->user);
        for (int j = 0; j < m->nlambda; j++)
            dae_copy(nv, a->block + j * nv,
                     out + (size_t)dae_layout_at(&a->rows, c, j) * (size_t)all + c * nv);
    }
    return r;
}

/* G dense of one copy; out NULL: only g. */
static int constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    const dae_engine *e = user;
    const dae_abreast *a = e->self;
    int r = 0, all = e->sys.mech.nlambda;
    dae_abreast_same_sides(e);
    for (int c = 0; c < a->copies && !r; c++) {
        const dae_mech *m = &a->sys[c]->mech;
        dae_mech_point at = part(e, x, c);
        if (G) memset(a->block, 0, (size_t)m->nlambda * (size_t)m->nv * sizeof *a->block);
        r = m->constraint(&at, g ? g + c * m->ng : NULL, G ? a->block : NULL, m->user);
        for (int j = 0; G && j < m->nv; j++)
            dae_scatter(&a->rows, c, a->block + j * m->nlambda, G + (size_t)(c * m->nv + j) * (size_t)all);
    }
    return r;
}

static int constraint_sparse(const dae_mech_point *x, double *g, double *G, void *user)
{
    const dae_engine *e = user;
    const dae_abreast *a = e->self;
    int r = 0, sparse = a->sys[0]->mech.constraint_sparse != NULL;
    dae_abreast_same_sides(e);
    for (int c = 0; c < a->copies && !r; c++) {
        const dae_mech *m = &a->sys[c]->mech;
        dae_mech_point at = part(e, x, c);
        if (G) memset(a->block, 0, (size_t)a->G_count * sizeof *a->block);
        r = (sparse ? m->constraint_sparse : m->constraint)(&at, g ? g + c * m->ng : NULL,
                                                            G ? a->block : NULL, m->user);
        if (G)
            dae_copy((int)a->G_count, a->block,
                     G + (long)c * a->G_count); /* columns of a copy stand together */
    }
    return r;
}

static int position_jacobian(const dae_mech_point *x, double *out, void *user)
{
    const dae_engine *e = user;
    const dae_abreast *a = e->self;
    int r = 0;
    for (int c = 0; c < a->copies && !r; c++) {
        const dae_mech *m = &a->sys[c]->mech;
        dae_mech_point at = part(e, x, c);
        memset(a->block, 0, (size_t)m->ng * (size_t)m->nv * sizeof *a->block);
        r = m->position_jacobian(&at, a->block, m->user);
        put_block(m->ng, m->nv, c, e->sys.mech.ng, a->block, out);
    }
    return r;
}

/* The pattern of G of all: that of a copy, or full blocks. */
static void pattern_of_G(dae_engine *e, dae_mech *to)
{
    dae_abreast *a = e->self;
    const dae_mech *m = &a->sys[0]->mech;
    long count = m->G_colptr ? m->G_colptr[m->nv] : (long)m->nlambda * m->nv;
    int *colptr = dae_arena_ints(e->arena, (size_t)to->nv + 1),
        *rowind = dae_arena_ints(e->arena, (size_t)(count * a->copies) + 1);
    a->G_count = count;
    if (dae_arena_failed(e->arena)) return;
    for (int c = 0, at = 0; c < a->copies; c++) {
        for (int j = 0; j < m->nv; j++) {
            int first = m->G_colptr ? m->G_colptr[j] : 0,
                last = m->G_colptr ? m->G_colptr[j + 1] : m->nlambda;
            for (int k = first; k < last; k++)
                rowind[at++] = dae_layout_at(&a->rows, c, m->G_colptr ? m->G_rowind[k] : k);
            colptr[c * m->nv + j + 1] = at;
        }
    }
    to->G_colptr = colptr;
    to->G_rowind = rowind;
    to->constraint_sparse = constraint_sparse;
}

/* count numbers of every copy, shifted by `shift` from one to the next; negative ones stay. */
static const int *repeated(dae_engine *e, const int *x, int count, int shift)
{
    const dae_abreast *a = e->self;
    if (!x || count < 1) return NULL;
    int *out = dae_arena_ints(e->arena, (size_t)(count * a->copies));
    for (int k = 0; out && k < count * a->copies; k++)
        out[k] = x[k % count] < 0 ? x[k % count] : x[k % count] + k / count * shift;
    return out;
}

static void masses(dae_engine *e, dae_mech *to)
{
    dae_abreast *a = e->self;
    const dae_mech *m = &a->sys[0]->mech;
    int whole = m->nv;
    for (int k = 0; k < m->nblock && m->mass_block; k++) {
        a->block_count += (long)m->mass_block[k] * m->mass_block[k];
    }
    to->nblock = (m->mass_block ? m->nblock : 1) * a->copies;
    to->mass_block = repeated(e, m->mass_block ? m->mass_block : &whole, m->mass_block ? m->nblock : 1, 0);
    if (m->mass_fn) to->mass_fn = mass_fn;
    if (m->mass_blocks && m->mass_block) to->mass_blocks = mass_blocks;
    if (m->mass_fn || m->mass.n == 0) return;
    if (m->mass.pattern.storage == DAE_DIAGONAL) {
        double *d = dae_arena_reals(e->arena, (size_t)to->nv);
        for (int c = 0; d && c < a->copies; c++) dae_copy(m->nv, a->sys[c]->mech.mass.a, d + c * m->nv);
        to->mass = dae_diagonal(to->nv, d);
        return;
    }
    double *full = dae_arena_reals(e->arena, (size_t)to->nv * (size_t)to->nv);
    for (int c = 0; full && c < a->copies; c++) {
        for (int k = 0; k < m->nv * m->nv; k++)
            full[(size_t)(c * m->nv + k % m->nv) + (size_t)(c * m->nv + k / m->nv) * (size_t)to->nv] =
                dae_matrix_get(&a->sys[c]->mech.mass, k % m->nv, k / m->nv);
    }
    to->mass = dae_dense(to->nv, full);
}

static int larger(int x, int y)
{
    return x > y ? x : y;
}

void dae_abreast_mechanism(dae_engine *e)
{
    dae_abreast *a = e->self;
    const dae_mech *m = &a->sys[0]->mech;
    dae_mech *to = &e->sys.mech;
    int C = a->copies, widest = larger(larger(m->nlambda, m->nv), m->np);
    *to = (dae_mech){.np = C * m->np,
                     .nv = C * m->nv,
                     .nu = C * m->nu,
                     .ng = C * m->ng,
                     .nlambda = C * m->nlambda,
                     .force = force,
                     .user = e};
    a->rows = dae_layout_of(m->nlambda, C, m->ng, m->nlambda);
    a->g = dae_arena_reals(e->arena, (size_t)m->nlambda + 1);
    a->zp = dae_arena_reals(e->arena, (size_t)larger(m->nlambda, e->f->nz) + 1);
    a->block = dae_arena_reals(e->arena, (size_t)m->nv * (size_t)widest + 1);
    masses(e, to);
    if (m->constraint) to->constraint = constraint;
    if (m->position_jacobian) to->position_jacobian = position_jacobian;
    else if (m->constraint && m->nlambda && !m->dfdlambda) pattern_of_G(e, to);
    if (m->kinematics) to->kinematics = kinematics;
    if (m->velocity) to->velocity = velocity;
    if (m->gamma) to->gamma = gamma;
    if (m->dynamics) to->dynamics = dynamics;
    if (m->dfdlambda) to->dfdlambda = dfdlambda;
    if (m->dfdp) to->dfdp = dfdp;
    if (m->dfdv) to->dfdv = dfdv;
    to->quaternion = repeated(e, m->quaternion, m->nquaternion, m->np);
    to->nquaternion = C * m->nquaternion;
    if (m->parent && !m->position_jacobian) {
        int *joint = dae_arena_ints(e->arena, (size_t)to->nlambda + 1);
        for (int c = 0; joint && c < C; c++) {
            for (int i = 0; i < m->nlambda; i++)
                joint[dae_layout_at(&a->rows, c, i)] =
                    m->row_joint[i] < 0 ? -1 : m->row_joint[i] + c * m->nblock;
        }
        to->parent = repeated(e, m->parent, m->nblock, m->nblock);
        to->row_joint = joint;
    }
    to->cache_size = (m->cache_size + ALIGN - 1) / ALIGN * ALIGN * (size_t)C;
}
