/* Consistent start: positions and velocities.
 *
 * Positions: Gauss-Newton steps of least size, G d = -g, in small rotations and translations of the bodies; what
 * is fixed has no column. Velocities: the least change with G v = -gI. Both are least-squares problems of least
 * norm, so that redundant constraints and singular poses do no harm. */
#include "multibody/analyses.h"

#include "core/number.h"
#include "linalg/least_squares.h"
#include "multibody/sparse_least.h"

#include <stdlib.h>
#include <string.h>

enum { max_iterations = 60 };
#define TOLERANCE 1e-12  /* of residuals, absolute in SI units; ours */
#define ACCEPTABLE 1e-9  /* if rounding stops the iteration before; ours */
#define LARGEST_MOVE 0.3 /* of one step, m and rad; ours */
#define CHANGED 1e-9     /* relative to max(1, |v|): a velocity that changes by more is told; ours */
#define RANK 1e-10       /* relative size of a pivot that counts as zero */

typedef struct assembly {
    const mbs_mechanism *m;
    double t;
    const unsigned char *fixed; /* 2*nv: positions, velocities; NULL: none */
    double *g, *G, *A, *b;
    int starved; /* 1: memory ran out in a step */
} assembly;

/* ---- Small steps ------------------------------------------------------------------------------------- */

void mbs_move(const mbs_mechanism *m, const double *d, double factor, double *p)
{
    for (int k = 0; k < m->nbody; k++, p += m->bp, d += m->bv) {
        for (int i = 0; i < 3; i++) p[i] += factor * d[i];
        if (m->planar) continue;
        const double w[3] = {factor * d[3], factor * d[4], factor * d[5]};
        double e[4] = {p[3], p[4], p[5], p[6]}, half = mbs_norm(w) / 2,
               s = half > 1e-8 ? sin(half) / (2 * half) : 0.5;
        double q[4] = {cos(half), s * w[0], s * w[1], s * w[2]};
        double out[4] = {e[0] * q[0] - e[1] * q[1] - e[2] * q[2] - e[3] * q[3],
                         e[0] * q[1] + e[1] * q[0] + e[2] * q[3] - e[3] * q[2],
                         e[0] * q[2] - e[1] * q[3] + e[2] * q[0] + e[3] * q[1],
                         e[0] * q[3] + e[1] * q[2] - e[2] * q[1] + e[3] * q[0]};
        double n = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2] + out[3] * out[3]);
        for (int i = 0; i < 4; i++) p[3 + i] = out[i] / n;
    }
}

/* Least d with G d = b, fixed columns left at 0; b (nrow) -> d (nv). */
static int least_step(assembly *x, int part, double *d)
{
    const mbs_mechanism *m = x->m;
    int nrow = m->nrow, nv = m->nv, n = 0;
    for (int c = 0; c < nv; c++) {
        if (x->fixed && x->fixed[part * nv + c]) continue;
        memcpy(x->A + (size_t)n++ * (size_t)nrow, x->G + (size_t)c * (size_t)nrow,
               (size_t)nrow * sizeof *x->A);
    }
    if (n == 0) return -1;
    if (mbs_sparse_least(nrow, n, x->A, x->b)) {
        int rank = dae_least_squares(nrow, n, x->A, x->b, RANK);
        if (rank == -1) x->starved = 1;
        if (rank < 0) return -1;
    }
    n = 0;
    for (int c = 0; c < nv; c++) d[c] = x->fixed && x->fixed[part * nv + c] ? 0 : x->b[n++];
    return 0;
}

/* g, G and, if wanted, gI at (t, p); the largest |g|. */
static double rows_at(const assembly *x, const double *p, double *gI)
{
    mbs_context c = mbs_begin(x->m, x->t, p, NULL);
    memset(x->G, 0, (size_t)x->m->nrow * (size_t)x->m->nv * sizeof *x->G);
    mbs_all_rows(&c, x->g, x->G, gI, NULL);
    mbs_end(&c);
    double worst = 0;
    for (int i = 0; i < x->m->nrow; i++) worst = fabs(x->g[i]) > worst ? fabs(x->g[i]) : worst;
    return worst;
}

/* The row with the largest residual, for the message. */
static const char *worst_joint(const mbs_mechanism *m, const double *g, double *value)
{
    const char *name = "";
    *value = -1;
    for (int k = 0; k < m->nrows; k++) {
        const mbs_row *r = &m->row[k];
        for (int i = 0; i < r->count; i++) {
            if (!(fabs(g[r->first + i]) > *value)) continue;
            *value = fabs(g[r->first + i]);
            name = r->joint >= 0 ? m->joint[r->joint].model->name : m->model->driver[r->driver].name;
        }
    }
    return name;
}

/* ---- Positions and velocities -------------------------------------------------------------------------- */

static dae_status positions(assembly *x, double *p, dae_error *err)
{
    const mbs_mechanism *m = x->m;
    double worst = rows_at(x, p, NULL), last = INFINITY, *d = x->b + m->nrow + m->nv;
    for (int k = 0; k < max_iterations && worst > TOLERANCE; k++) {
        if (worst <= ACCEPTABLE && worst > 0.5 * last) break; /* rounding */
        for (int i = 0; i < m->nrow; i++) x->b[i] = -x->g[i];
        if (least_step(x, 0, d)) break;
        double largest = 0;
        for (int c = 0; c < m->nv; c++) largest = fabs(d[c]) > largest ? fabs(d[c]) : largest;
        if (!isfinite(largest)) break;
        if (largest > LARGEST_MOVE) {
            for (int c = 0; c < m->nv; c++) d[c] *= LARGEST_MOVE / largest;
        }
        mbs_move(m, d, 1, p);
        last = worst;
        worst = rows_at(x, p, NULL);
    }
    if (worst <= ACCEPTABLE) return DAE_OK;
    double value;
    const char *name = worst_joint(m, x->g, &value);
    return dae_fail(err, DAE_ERR_INCONSISTENT, x->t,
                    "the mechanism cannot be assembled: \"%s\" stays open by %.3g; check lengths and the "
                    "described poses, or "
                    "free what is fixed",
                    name, value);
}

/* Velocities that are given: rows of G, then one row for each joint whose speed is given. */
static int speed_count(const assembly *x)
{
    const mbs_mechanism *m = x->m;
    int n = 0;
    for (int k = 0; x->fixed && k < m->njoint; k++) /* only of the start */
        n += m->joint[k].model->has_speed != 0;
    return n;
}

static const mbs_coordinate *main_coordinate(const mbs_joint_data *j)
{
    return j->main == MBS_ANGLE ? &j->angle : j->main == MBS_SLIDE ? &j->slide : &j->length;
}

/* All rows at p: B v = c, (nrow + speeds) x nv column-major. */
static void velocity_rows(assembly *x, const double *p, double *B, double *c)
{
    const mbs_mechanism *m = x->m;
    size_t rows = (size_t)(m->nrow + speed_count(x)), at = (size_t)m->nrow;
    double *gI = c, *row = B + rows * (size_t)m->nv;
    rows_at(x, p, gI);
    for (int i = 0; i < m->nrow; i++) {
        c[i] = -gI[i];
        for (int k = 0; k < m->nv; k++)
            B[(size_t)k * rows + (size_t)i] = x->G[(size_t)k * (size_t)m->nrow + (size_t)i];
    }
    mbs_context y = mbs_begin(m, x->t, p, NULL);
    for (int k = 0; x->fixed && k < m->njoint; k++) {
        if (!m->joint[k].model->has_speed) continue;
        memset(row, 0, (size_t)m->nv * sizeof *row);
        mbs_coordinate_vector(&y, main_coordinate(&m->joint[k]), row);
        for (int i = 0; i < m->nv; i++) B[(size_t)i * rows + at] = row[i];
        c[at++] = m->joint[k].model->speed;
    }
    mbs_end(&y);
}

/* v becomes the nearest that satisfies the rows; fixed columns stay (NULL: none). The largest residual, its row in *worst. */
static double nearest(assembly *x, const double *B, const double *c, const unsigned char *fixed, double *work,
                      double *v, int *worst)
{
    const mbs_mechanism *m = x->m;
    int rows = m->nrow + speed_count(x), n = 0;
    double *A = work, *b = A + (size_t)rows * (size_t)m->nv, largest = 0;
    for (int pass = 0; pass < 2; pass++) {
        largest = *worst = 0;
        for (int i = 0; i < rows; i++) {
            b[i] = c[i];
            for (int k = 0; k < m->nv; k++) b[i] -= B[(size_t)k * (size_t)rows + (size_t)i] * v[k];
            if (fabs(b[i]) > largest) largest = fabs(b[i]), *worst = i;
        }
        if (pass == 1 || largest <= TOLERANCE) break;
        n = 0;
        for (int k = 0; k < m->nv; k++) {
            if (fixed && fixed[m->nv + k]) continue;
            memcpy(A + (size_t)n++ * (size_t)rows, B + (size_t)k * (size_t)rows, (size_t)rows * sizeof *A);
        }
        if (n == 0) break;
        int rank = mbs_sparse_least(rows, n, A, b) ? dae_least_squares(rows, n, A, b, RANK) : n;
        x->starved |= rank == -1;
        if (rank < 0) break;
        n = 0;
        for (int k = 0; k < m->nv; k++) v[k] += fixed && fixed[m->nv + k] ? 0 : b[n++];
    }
    return largest;
}

/* Names of the velocities of a body. */
static const char *velocity_name(const mbs_mechanism *m, int c)
{
    static const char *const planar[] = {"vx", "vy", "omega"};
    static const char *const spatial[] = {"vx", "vy", "vz", "omega.x", "omega.y", "omega.z"};
    return m->planar ? planar[c % 3] : spatial[c % 6];
}

/* What is given and does not go together: a speed of a joint, or the fixed velocity that would move most if it were free. */
static dae_status contradiction(assembly *x, const double *B, const double *c, double *work, const double *v,
                                double *free, double residual, int worst, dae_error *err)
{
    const mbs_mechanism *m = x->m;
    int which = -1, row;
    memcpy(free, v, (size_t)m->nv * sizeof *free);
    int still = nearest(x, B, c, NULL, work, free, &row) > ACCEPTABLE;
    for (int k = 0; k < m->nv && !still; k++) {
        if (!x->fixed || !x->fixed[m->nv + k]) continue;
        if (which < 0 || fabs(free[k] - v[k]) > fabs(free[which] - v[which])) which = k;
    }
    if (which >= 0)
        return dae_fail(
            err, DAE_ERR_INCONSISTENT, x->t,
            "the given velocities contradict each other: %s.%s is fixed at %.6g, the joints and what else "
            "is given want %.6g",
            m->model->body[which / m->bv].name, velocity_name(m, which), v[which], free[which]);
    for (int k = 0, at = m->nrow; k < m->njoint; k++) {
        if (!m->joint[k].model->has_speed || at++ != (still ? row : worst)) continue;
        return dae_fail(
            err, DAE_ERR_INCONSISTENT, x->t,
            "the given velocities contradict each other: the speed of joint \"%s\" cannot be %.6g (it is "
            "off by %.3g)",
            m->joint[k].model->name, m->joint[k].model->speed, residual);
    }
    return dae_fail(err, DAE_ERR_INCONSISTENT, x->t,
                    "no consistent velocities: %s keeps a rate of %.3g; free a fixed velocity or "
                    "check the drivers",
                    mbs_row_name(m, worst < m->nrow ? worst : 0, NULL), residual);
}

static dae_status velocities(assembly *x, const double *p, double *v, dae_error *err)
{
    const mbs_mechanism *m = x->m;
    size_t rows = (size_t)(m->nrow + speed_count(x)), nv = (size_t)m->nv, most = rows > nv ? rows : nv;
    double *B = calloc(2 * rows * nv + nv + rows + most + nv + 8, sizeof *B), size = 1;
    if (!B) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    double *c = B + rows * nv + nv, *free_v = c + rows, *work = free_v + nv;
    int worst;
    velocity_rows(x, p, B, c);
    double residual = nearest(x, B, c, x->fixed, work, v, &worst);
    for (int k = 0; k < m->nv; k++) size = fabs(v[k]) > size ? fabs(v[k]) : size;
    dae_status s = DAE_OK;
    if (!(residual <= ACCEPTABLE * size)) s = contradiction(x, B, c, work, v, free_v, residual, worst, err);
    free(B);
    return s;
}

/* 1: y satisfies all rows as it is; found row by row, since large mechanisms are mostly described so. */
static int is_assembled(const mbs_mechanism *m, double t, const double *y)
{
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    double worst = 0;
    for (int k = 0; k < m->nrows && worst <= TOLERANCE; k++) {
        const mbs_row *r = &m->row[k];
        double rows[72] = {0}, g[3] = {0, 0, 0}, c[3] = {0, 0, 0};
        if (r->type->holonomic) r->type->residual(r, &x, g);
        if (r->motion >= 0) mbs_motion(&x, r->motion, c);
        r->type->jacobian(r, &x, rows);
        for (int i = 0; i < r->count; i++) {
            double rate = i == 0 ? -c[1] : 0;
            for (int b = 0; b < r->nbody; b++) {
                const mbs_pose *pose = &x.pose[r->body[b]];
                if (r->body[b] == 0) continue;
                rate += mbs_dot(rows + 24 * i + 6 * b, pose->v) + mbs_dot(rows + 24 * i + 6 * b + 3, pose->w);
            }
            worst = fmax(worst, fmax(fabs(g[i]), fabs(rate)));
            if (!isfinite(g[i] + rate)) worst = INFINITY;
        }
    }
    mbs_end(&x);
    return worst <= TOLERANCE;
}

dae_status mbs_assemble(const mbs_mechanism *m, double t, double *y, const unsigned char *fixed,
                        dae_error *err)
{
    size_t nrow = (size_t)m->nrow, nv = (size_t)m->nv;
    assembly x = {.m = m, .t = t, .fixed = fixed};
    if (!speed_count(&x) && (!nrow || is_assembled(m, t, y))) return DAE_OK;
    x.g = malloc((nrow + 1) * sizeof *x.g);
    x.G = malloc((nrow * nv + 1) * sizeof *x.G);
    x.A = malloc((nrow * nv + 1) * sizeof *x.A);
    x.b = malloc((2 * nrow + 2 * nv + nv) * sizeof *x.b);
    dae_status s;
    if (!x.g || !x.G || !x.A || !x.b) {
        s = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    } else {
        s = positions(&x, y, err);
        if (!s) s = velocities(&x, y, y + m->np, err);
        if (x.starved) s = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    }
    free(x.g);
    free(x.G);
    free(x.A);
    free(x.b);
    return s;
}

/* ---- What must not move -------------------------------------------------------------------------------- */

static int fix_word(const mbs_mechanism *m, int body, const char *w, size_t n, unsigned char *fixed)
{
    static const char *const planar[] = {"x", "y", "angle", "vx", "vy", "omega"};
    static const char *const spatial[] = {"x", "y", "z", "vx", "vy", "vz"};
    int base = body * m->bv;
    for (int k = 0; k < 6; k++) {
        const char *word = m->planar ? planar[k] : spatial[k];
        if (strlen(word) != n || memcmp(word, w, n) != 0) continue;
        fixed[k < 3 ? base + k : m->nv + base + k - 3] = 1;
        return 0;
    }
    if (!m->planar && n == 1 && *w == 'q') {
        for (int k = 3; k < 6; k++) fixed[base + k] = 1;
        return 0;
    }
    if (!m->planar && n == 5 && !memcmp(w, "omega", 5)) {
        for (int k = 3; k < 6; k++) fixed[m->nv + base + k] = 1;
        return 0;
    }
    return -1;
}

void mbs_mechanism_described(const mbs_mechanism *m, double *y)
{
    memcpy(y, m->p0, (size_t)(m->np + m->nv + m->nu) * sizeof *y);
}

dae_status mbs_mechanism_initial(const mbs_mechanism *m, double *y, dae_error *err)
{
    size_t n = (size_t)(m->np + m->nv + m->nu);
    unsigned char *fixed = calloc(2 * (size_t)m->nv, 1);
    if (!fixed) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    dae_status s = DAE_OK;
    memcpy(y, m->p0, n * sizeof *y);
    for (int k = 0; !s && k < m->nbody; k++) {
        for (const char *w = m->model->body[k].fix; w && *w && !s;) {
            size_t length = strcspn(w, " ");
            if (length && fix_word(m, k, w, length, fixed)) {
                s = dae_fail(err, DAE_ERR_INPUT, NAN, "bodies[%d].fix: \"%.*s\" cannot be fixed; expected %s",
                             k, (int)length, w,
                             m->planar ? "x, y, angle, vx, vy or omega" : "x, y, z, q, vx, vy, vz or omega");
            }
            w += length + (w[length] == ' ');
        }
    }
    if (!s) s = mbs_assemble(m, m->model->simulation.t0, y, fixed, err);
    if (!s && mbs_switch_start(m, m->model->simulation.t0, y))
        s = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    free(fixed);
    return s;
}

/* ---- What assembly changed -------------------------------------------------------------------------------- */

int mbs_mechanism_changed_velocity(const mbs_mechanism *m, const double *y, int from, char *text, size_t size)
{
    for (int k = from; k < m->nv; k++) {
        double old = m->p0[m->np + k], now = y[m->np + k];
        if (old == 0 || fabs(now - old) <= CHANGED * fmax(1, fabs(old))) continue;
        dae_snprintf(text, size,
                     "the initial velocity %s.%s = %.10g does not fit the joints and what else is given: it "
                     "starts with %.10g",
                     m->model->body[k / m->bv].name, velocity_name(m, k), old, now);
        return k + 1;
    }
    return 0;
}
