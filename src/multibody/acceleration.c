/* Accelerations and multipliers at a state:
 *
 *     [ M  G^T ] [ a      ]   [ f      ]
 *     [ G  0   ] [ lambda ] = [ -gamma ]
 *
 * by the sparse saddle-point solver, whose cost grows with the number of bodies. Where the matrix is singular (change
 * points, bodies without mass that move freely) and where friction makes f depend on lambda, by a dense least-squares
 * solution of least norm. */
#include "multibody/acceleration.h"
#include "multibody/joint_coordinates.h"

#include "linalg/least_squares.h"
#include "linalg/saddle.h"
#include "linalg/square.h"

#include <stdlib.h>
#include <string.h>

#define RANK 1e-13     /* relative size of a pivot that counts as zero */
#define REGULAR 1e-9   /* the same, where there is no doubt that all rows are independent; ours */
#define UNCERTAIN 1e-5 /* error of a known solution from which on a matrix is taken to be singular; ours */
#define SETTLES 1e-9   /* relative correction of a solution that leaves no doubt of the factors; ours */
#define SETTLED 1e-11  /* relative change of the multipliers that ends the iteration with friction; ours */
enum { friction_tries = 30 };
#define LOOP_ROWS 40 /* ours: above it sparse factors take loops better than a dense Schur complement */

struct mbs_acceleration_solver {
    const mbs_mechanism *m;
    dae_arena *arena;
    dae_saddle_spec spec;
    dae_saddle *saddle; /* NULL: dense only */
    int anchored;       /* 1: it has pivots */
    int kept;           /* 1: they are those of the described pose, and stay */
    double *G, *x, *b,
        *r;       /* values of the pattern; solution, right-hand side and residual, nv+nlambda each */
    double *none; /* nlambda zeros */
};

/* ---- Life -------------------------------------------------------------------------------------------- */

/* once: for one state, so that choosing pivots (a hundred factorizations) is not worth it: along the tree, where few rows
 * close loops. */
static mbs_acceleration_solver *create(const mbs_mechanism *m, int once, dae_error *err)
{
    const dae_mech *s = &m->system.mech;
    size_t n = (size_t)(m->nv + m->nlambda);
    mbs_acceleration_solver *c = calloc(1, sizeof *c);
    if (!c || !(c->arena = dae_arena_create())) goto fail;
    c->m = m;
    c->x = dae_arena_reals(c->arena, n + 1);
    c->b = dae_arena_reals(c->arena, n + 1);
    c->r = dae_arena_reals(c->arena, n + 1);
    c->none = dae_arena_reals(c->arena, (size_t)m->nlambda + 1);
    if (s->G_colptr && s->mass_block) {
        int tree = once && s->parent && s->row_joint, loops = 0;
        for (int i = 0; tree && i < m->nlambda; i++) loops += s->row_joint[i] < 0;
        if (loops > LOOP_ROWS) tree = 0;
        c->spec = (dae_saddle_spec){.mode = tree ? "recursive_constraint" : "sparse_lu",
                                    .nv = m->nv,
                                    .nl = m->nlambda,
                                    .block = s->mass_block,
                                    .nblock = s->nblock,
                                    .colptr = s->G_colptr,
                                    .rowind = s->G_rowind,
                                    .parent = tree ? s->parent : NULL,
                                    .row_joint = tree ? s->row_joint : NULL};
        c->G = dae_arena_reals(c->arena, (size_t)s->G_colptr[m->nv] + 1);
    }
    if (dae_arena_failed(c->arena)) goto fail;
    dae_error own = {0};
    if (c->G) c->saddle = dae_saddle_create(&c->spec, c->arena, &own);
    if (c->G && !c->saddle && own.status == DAE_ERR_MEMORY) goto fail;
    return c;
fail:
    mbs_acceleration_destroy(c);
    dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    return NULL;
}

mbs_acceleration_solver *mbs_acceleration_create(const mbs_mechanism *m, dae_error *err)
{
    return create(m, 0, err);
}

void mbs_acceleration_destroy(mbs_acceleration_solver *c)
{
    if (!c) return;
    dae_saddle_destroy(c->saddle);
    dae_arena_destroy(c->arena);
    free(c);
}

/* ---- Sparse ------------------------------------------------------------------------------------------- */

/* r -= K x. */
static void subtract_product(const mbs_acceleration_solver *c, const double *x, double *r)
{
    const mbs_mechanism *m = c->m;
    dae_saddle_multiply_mass(m->nv, c->spec.block, c->spec.nblock, m->blocks, -1, x, r);
    dae_saddle_multiply_transposed(&c->spec, c->G, -1, x + m->nv, r);
    dae_saddle_multiply(&c->spec, c->G, -1, x, r + m->nv);
}

/* 1: the factors give a known solution back, so that the matrix is far enough from a singular one. */
static int factors_are_good(const mbs_acceleration_solver *c)
{
    int n = c->m->nv + c->m->nlambda;
    double worst = 0;
    memset(c->r, 0, (size_t)n * sizeof *c->r);
    for (int i = 0; i < n; i++) c->x[i] = (i * 7 % 11 < 5 ? -1.0 : 1.0) * (1 + i % 3 * 0.5);
    subtract_product(c, c->x, c->r);
    dae_saddle_solve(c->saddle, c->r, c->r + c->m->nv);
    for (int i = 0; i < n; i++) {
        double off = fabs(c->r[i] + c->x[i]);
        if (!(off <= worst)) worst = off;
    }
    return worst <= UNCERTAIN;
}

/* K x = b by the factors, with one correction. 1: that was so small, of a and of the multipliers, that the factors are good. */
static int correct(mbs_acceleration_solver *c)
{
    int nv = c->m->nv, n = nv + c->m->nlambda;
    double size[2] = {0, 0}, change[2] = {0, 0};
    memcpy(c->x, c->b, (size_t)n * sizeof *c->x);
    dae_saddle_solve(c->saddle, c->x, c->x + nv);
    memcpy(c->r, c->b, (size_t)n * sizeof *c->r);
    subtract_product(c, c->x, c->r);
    dae_saddle_solve(c->saddle, c->r, c->r + nv);
    for (int i = 0; i < n; i++) {
        int part = i >= nv;
        c->x[i] += c->r[i];
        size[part] = fmax(size[part], fabs(c->x[i]));
        if (!(fabs(c->r[i]) <= change[part])) change[part] = fabs(c->r[i]);
    }
    return change[0] <= SETTLES * size[0] && change[1] <= SETTLES * size[1];
}

/* 0: factored with pivots of its own; > 0: singular; < 0: out of memory. */
static int factor_anew(mbs_acceleration_solver *c)
{
    const mbs_mechanism *m = c->m;
    int r = dae_saddle_anchor(c->saddle, m->blocks, c->G, NULL);
    if (!r) r = dae_saddle_factor(c->saddle, m->blocks, c->G, NULL);
    c->anchored = !r;
    return r;
}

/* G, and 0: factored with the pivots that are there. Neighboring points share them: choosing them costs a hundred factorizations. */
static int factor_again(mbs_acceleration_solver *c, const dae_mech_point *at)
{
    const mbs_mechanism *m = c->m;
    if (m->nlambda) m->system.mech.constraint_sparse(at, NULL, c->G, m->system.mech.user);
    if (!c->kept && (!c->anchored || dae_saddle_stale(c->saddle))) return 1;
    return dae_saddle_factor(c->saddle, m->blocks, c->G, NULL) != 0;
}

/* 0: factored; > 0: the matrix is (nearly) singular; < 0: out of memory. */
static int factor(mbs_acceleration_solver *c, const dae_mech_point *at)
{
    if (!factor_again(c, at) && factors_are_good(c)) return 0;
    if (c->kept) return 1;
    int r = factor_anew(c);
    return r ? r : !factors_are_good(c);
}

/* Solves K x = b with one correction, which mostly tells that the factors are good; 0: done, > 0: the matrix is (nearly) singular, < 0: out of
 * memory. */
static int solve_sparse(mbs_acceleration_solver *c, const dae_mech_point *at)
{
    int n = c->m->nv + c->m->nlambda, r = factor_again(c, at);
    if (r || !correct(c)) {
        if (r || !factors_are_good(c)) {
            if (c->kept) return 1;
            r = factor_anew(c);
            if (r || !factors_are_good(c)) return r ? r : 1;
        }
        correct(c);
    }
    for (int i = 0; i < n; i++) {
        if (!isfinite(c->x[i])) return 1;
    }
    return 0;
}

/* ---- Dense -------------------------------------------------------------------------------------------- */

/* The blocks of M into the upper left corner of K, n by n. */
static void put_blocks(const mbs_mechanism *m, size_t n, double *K)
{
    for (int k = 0; k < m->nbody; k++) {
        for (int i = 0; i < m->bv * m->bv; i++) {
            size_t row = (size_t)(k * m->bv + i % m->bv), c = (size_t)(k * m->bv + i / m->bv);
            K[c * n + row] = m->blocks[k * m->bv * m->bv + i];
        }
    }
}

/* Row of coordinate q' as a vector of all velocities. */
void mbs_coordinate_vector(const mbs_context *x, const mbs_coordinate *q, double *r)
{
    double rows[12] = {0};
    memset(r, 0, (size_t)x->m->nv * sizeof *r);
    mbs_coordinate_row(x, q, 1, rows, rows + 6);
    for (int c = 0; c < 6; c++) {
        int i = mbs_slot_of(x->m, q->i.body, c), j = mbs_slot_of(x->m, q->j.body, c);
        if (i >= 0) r[i] += rows[c];
        if (j >= 0) r[j] += rows[6 + c];
    }
}

/* [M G^T; G 0] (w; .) = (r^T; 0), r the row of q', dense and of least norm: where the sparse factors do not serve. */
static dae_status respond_dense(const mbs_mechanism *m, double t, const double *y, const double *r, double *w)
{
    size_t nv = (size_t)m->nv, nl = (size_t)m->nlambda, n = nv + nl;
    double *K = calloc(n * n, sizeof *K), *room = malloc((n * n + n) * sizeof *room),
           *b = calloc(n, sizeof *b), *G = calloc(nl * nv + 1, sizeof *G);
    dae_status status = K && room && b && G ? DAE_OK : DAE_ERR_MEMORY;
    if (!status) {
        dae_mech_point point = {.t = t, .p = y};
        memcpy(b, r, nv * sizeof *b);
        if (nl) m->system.mech.constraint(&point, NULL, G, m->system.mech.user);
        put_blocks(m, n, K);
        for (size_t c = 0; c < nv; c++) {
            for (size_t i = 0; i < nl; i++) K[c * n + nv + i] = K[(nv + i) * n + c] = G[c * nl + i];
        }
        int rank = (int)n;
        if (dae_square_solve((int)n, K, b, room, REGULAR))
            rank = dae_least_squares((int)n, (int)n, K, b, RANK);
        if (rank < 0) status = rank == -1 ? DAE_ERR_MEMORY : DAE_ERR_SINGULAR;
        memcpy(w, b, nv * sizeof *w);
    }
    free(K);
    free(room);
    free(b);
    free(G);
    return status;
}

/* The same by the sparse factors; c->x has w and the multipliers. 0: done, > 0: singular, < 0: out of memory. */
static int respond_sparse(mbs_acceleration_solver *c, double t, const double *y, const double *r)
{
    const mbs_mechanism *m = c->m;
    dae_mech_point at = {.t = t, .p = y, .v = y + m->np, .u = y + m->np + m->nv, .lambda = c->none};
    if (!c->saddle) return 1;
    memset(c->b, 0, (size_t)(m->nv + m->nlambda) * sizeof *c->b);
    memcpy(c->b, r, (size_t)m->nv * sizeof *r);
    return solve_sparse(c, &at);
}

/* The same where no joint binds the bodies: M w = r, block by block, of those that r has a part in. > 0: one has no mass. */
static int respond_free(const mbs_mechanism *m, const double *r, double *w)
{
    int b = m->bv;
    memset(w, 0, (size_t)m->nv * sizeof *w);
    for (int k = 0; k < m->nbody; k++) {
        double A[36], *x = w + k * b;
        int touched = 0;
        for (int i = 0; i < b; i++) touched |= r[k * b + i] != 0;
        if (!touched) continue;
        memcpy(A, m->blocks + k * b * b, (size_t)(b * b) * sizeof *A);
        memcpy(x, r + k * b, (size_t)b * sizeof *x);
        for (int j = 0; j < b; j++) { /* Cholesky: A = L L^T, L below */
            double d = A[j + j * b];
            for (int l = 0; l < j; l++) d -= A[j + l * b] * A[j + l * b];
            if (!(d > RANK * m->blocks[k * b * b + j + j * b])) return 1;
            A[j + j * b] = sqrt(d);
            for (int i = j + 1; i < b; i++) {
                for (int l = 0; l < j; l++) A[i + j * b] -= A[i + l * b] * A[j + l * b];
                A[i + j * b] /= A[j + j * b];
            }
        }
        for (int i = 0; i < b; i++) {
            for (int l = 0; l < i; l++) x[i] -= A[i + l * b] * x[l];
            x[i] /= A[i + i * b];
        }
        for (int i = b - 1; i >= 0; i--) {
            for (int l = i + 1; l < b; l++) x[i] -= A[l + i * b] * x[l];
            x[i] /= A[i + i * b];
        }
    }
    return 0;
}

dae_status mbs_response(const mbs_mechanism *m, double t, const double *y, const mbs_coordinate *q, double *w,
                        double *r)
{
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    mbs_coordinate_vector(&x, q, r);
    mbs_end(&x);
    if (!m->nlambda && !respond_free(m, r, w)) return DAE_OK;
    mbs_acceleration_solver *c = create(m, 1, NULL);
    if (!c) return DAE_ERR_MEMORY;
    int wrong = respond_sparse(c, t, y, r);
    if (!wrong) memcpy(w, c->x, (size_t)m->nv * sizeof *w);
    dae_status status = wrong < 0 ? DAE_ERR_MEMORY : wrong ? respond_dense(m, t, y, r, w) : DAE_OK;
    mbs_acceleration_destroy(c);
    return status;
}

/* The force that holds a coordinate: a = a0 + F w, r a = -bias. != 0: the dense way has to tell. */
static int hold_sparse(const mbs_mechanism *m, double t, const double *y, const mbs_coordinate *hold,
                       double *a, double *lambda, double *force)
{
    size_t nv = (size_t)m->nv, n = nv + (size_t)m->nlambda;
    mbs_acceleration_solver *c = create(m, 1, NULL);
    double *r = calloc(nv + n, sizeof *r), *x0 = r + nv, rw = 0, ra = 0;
    int wrong = !c || !r || m->friction;
    if (!wrong) {
        mbs_context x = mbs_begin(m, t, y, y + m->np);
        mbs_coordinate_vector(&x, hold, r);
        ra = mbs_coordinate_bias(&x, hold);
        mbs_end(&x);
        wrong = mbs_acceleration_at(c, t, y, x0, x0 + nv, NULL) || respond_sparse(c, t, y, r);
    }
    for (size_t i = 0; !wrong && i < nv; i++) rw += r[i] * c->x[i], ra += r[i] * x0[i];
    wrong |= !(rw > 0);
    if (!wrong) {
        double F = -ra / rw;
        for (size_t i = 0; i < n; i++) x0[i] += F * c->x[i];
        if (a) memcpy(a, x0, nv * sizeof *a);
        if (lambda) memcpy(lambda, x0 + nv, (n - nv) * sizeof *lambda);
        if (force) *force = F;
    }
    mbs_acceleration_destroy(c);
    free(r);
    return wrong;
}

/* [M G^T-F -r^T; G 0 0; r 0 0] (a; lambda; force) = (f - F lambda0; -gamma; -bias), r the row of the coordinate that is
 * held: once, or until the friction forces agree. */
dae_status mbs_accelerations(const mbs_mechanism *m, double t, const double *y, const mbs_coordinate *hold,
                             double *a, double *lambda, double *force, dae_error *err)
{
    const dae_mech *s = &m->system.mech;
    size_t nv = (size_t)m->nv, nl = (size_t)m->nlambda, n = nv + nl + (hold != NULL);
    if (hold && !hold_sparse(m, t, y, hold, a, lambda, force)) return DAE_OK;
    double *K = calloc(n * n, sizeof *K), *room = malloc((n * n + n) * sizeof *room),
           *b = calloc(n + 1, sizeof *b), *G = calloc(nl * nv + 1, sizeof *G);
    double *F = calloc(nl * nv + 1, sizeof *F), *l = calloc(nl + 1, sizeof *l), *r = calloc(nv, sizeof *r);
    double change = INFINITY, bias = 0;
    dae_mech_point x = {.t = t, .p = y, .v = y + m->np, .u = y + m->np + m->nv, .lambda = l};
    dae_status status = DAE_OK;
    if (!K || !room || !b || !G || !F || !l || !r)
        status = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (!status && nl) s->constraint(&x, NULL, G, s->user);
    if (!status && hold) {
        mbs_context c = mbs_begin(m, t, y, y + m->np);
        mbs_coordinate_vector(&c, hold, r);
        bias = mbs_coordinate_bias(&c, hold);
        mbs_end(&c);
    }
    for (int pass = 0; !status && pass < friction_tries && change > SETTLED; pass++) {
        memset(K, 0, n * n * sizeof *K);
        memset(b, 0, n * sizeof *b);
        s->force(&x, b, s->user);
        if (nl) s->gamma(&x, b + nv, s->user);
        if (m->friction && s->dfdlambda) s->dfdlambda(&x, F, s->user);
        for (size_t i = 0; i < nl; i++) b[nv + i] = -b[nv + i];
        put_blocks(m, n, K);
        for (size_t c = 0; c < nv; c++) {
            for (size_t i = 0; i < nl; i++) {
                K[c * n + nv + i] = G[c * nl + i];
                K[(nv + i) * n + c] = G[c * nl + i] - F[i * nv + c];
                b[c] -= F[i * nv + c] * l[i];
            }
            if (!hold) continue;
            K[c * n + n - 1] = r[c];
            K[(n - 1) * n + c] = -r[c];
        }
        if (hold) b[n - 1] = -bias;
        int rank = (int)n;
        if (dae_square_solve((int)n, K, b, room, REGULAR))
            rank = dae_least_squares((int)n, (int)n, K, b, RANK);
        if (rank == -1) {
            status = dae_fail(err, DAE_ERR_MEMORY, t, "out of memory");
            break;
        }
        if (rank < 0 || !isfinite(b[0])) {
            status = dae_fail(err, DAE_ERR_SINGULAR, t, "accelerations cannot be computed");
            break;
        }
        change = 0;
        for (size_t i = 0; i < nl; i++) {
            change = fmax(change, fabs(b[nv + i] - l[i]) / (1 + fabs(b[nv + i])));
            l[i] = b[nv + i];
        }
        if (!m->friction) change = 0;
    }
    if (!status) {
        if (a) memcpy(a, b, nv * sizeof *a);
        if (lambda) memcpy(lambda, l, nl * sizeof *l);
        if (hold && force) *force = b[n - 1];
    }
    free(K);
    free(room);
    free(b);
    free(G);
    free(F);
    free(l);
    free(r);
    return status;
}

/* ---- Use ----------------------------------------------------------------------------------------------- */

/* By the sparse factors. 0: done, > 0: the matrix is (nearly) singular, < 0: out of memory. */
static int sparse_at(mbs_acceleration_solver *c, double t, const double *y, double *a, double *lambda)
{
    const mbs_mechanism *m = c->m;
    const dae_mech *s = &m->system.mech;
    dae_mech_point at = {.t = t, .p = y, .v = y + m->np, .u = y + m->np + m->nv, .lambda = c->none};
    memset(c->b, 0, (size_t)(m->nv + m->nlambda) * sizeof *c->b);
    s->force(&at, c->b, s->user);
    if (m->nlambda) s->gamma(&at, c->b + m->nv, s->user);
    for (int i = 0; i < m->nlambda; i++) c->b[m->nv + i] = -c->b[m->nv + i];
    int r = solve_sparse(c, &at);
    if (!r && a) memcpy(a, c->x, (size_t)m->nv * sizeof *a);
    if (!r && lambda) memcpy(lambda, c->x + m->nv, (size_t)m->nlambda * sizeof *lambda);
    return r;
}

dae_status mbs_acceleration_at(mbs_acceleration_solver *c, double t, const double *y, double *a,
                               double *lambda, dae_error *err)
{
    const mbs_mechanism *m = c->m;
    int r = c->saddle && !m->friction ? sparse_at(c, t, y, a, lambda) : 1;
    if (r < 0) return dae_fail(err, DAE_ERR_MEMORY, t, "out of memory");
    return r ? mbs_accelerations(m, t, y, NULL, a, lambda, NULL, err) : DAE_OK;
}

/* A solver with the pivots of the described pose. NULL: there are none, or no memory. */
static mbs_acceleration_solver *create_kept(const mbs_mechanism *m)
{
    mbs_acceleration_solver *c = create(m, 0, NULL);
    dae_mech_point at = {.p = m->p0, .v = m->p0 + m->np};
    if (c && c->saddle && !factor(c, &at)) {
        c->kept = 1;
        return c;
    }
    mbs_acceleration_destroy(c);
    return NULL;
}

/* By a solver that lies with the data of evaluations. 0: done; else another way has to tell. */
static int kept_at(const mbs_mechanism *m, double t, const double *y, double *a, double *lambda)
{
    if (m->friction) return 1;
    mbs_data *d = mbs_take(m, 0);
    if (!d->tried) d->solver = create_kept(m);
    d->tried = 1;
    int other = !d->solver || sparse_at(d->solver, t, y, a, lambda);
    mbs_give(m, d);
    return other;
}

dae_status mbs_mechanism_acceleration(const mbs_mechanism *m, double t, const double *y, double *a,
                                      double *lambda, dae_error *err)
{
    int other = mbs_tree_acceleration(m, t, y, a, lambda);
    if (other < 0) return dae_fail(err, DAE_ERR_MEMORY, t, "out of memory");
    if (!other || !kept_at(m, t, y, a, lambda)) return DAE_OK;
    mbs_acceleration_solver *c = create(m, 1, err);
    if (!c) return DAE_ERR_MEMORY;
    dae_status status = mbs_acceleration_at(c, t, y, a, lambda, err);
    mbs_acceleration_destroy(c);
    return status;
}

int mbs_acceleration_unique(const mbs_mechanism *m, double t, const double *y)
{
    mbs_acceleration_solver *c = mbs_acceleration_create(m, NULL);
    dae_mech_point at = {.t = t, .p = y, .v = y + m->np, .u = y + m->np + m->nv};
    int unique = !c || !c->saddle || !factor(c, &at);
    mbs_acceleration_destroy(c);
    return unique;
}
