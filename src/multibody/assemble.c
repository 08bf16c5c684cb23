/* Consistent start: positions and velocities.
 *
 * Positions: Gauss-Newton steps of least size, G d = -g, in small rotations and translations of the bodies; what
 * is fixed has no column. Velocities: the least change with G v = -gI. Both are least-squares problems of least
 * norm, so that redundant constraints and singular poses do no harm. */
#include "multibody/analyses.h"

#include "core/number.h"
#include "linalg/least_squares.h"
#include "multibody/sparse_least.h"
#include "multibody/sparse_rows.h"

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
    mbs_sparse_rows G;
    double *g, *c, *b, *d, *work; /* nrow; rows; rows+nv; nv; nv: other velocities */
    int *colptr, *rowind;         /* the columns of G that are not fixed, */
    double *value;                /* and their values */
    int starved;                  /* 1: memory ran out in a step */
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

/* The first `rows` rows of G by columns, without fixed ones; how many columns. */
static int free_columns(assembly *x, int rows, const unsigned char *fixed)
{
    const mbs_sparse_rows *G = &x->G;
    int n = 0, nv = x->m->nv, *number = x->rowind + G->room, *next = x->colptr + 1;
    for (int c = 0; c < nv; c++) number[c] = fixed && fixed[c] ? -1 : n++;
    memset(x->colptr, 0, (size_t)(nv + 2) * sizeof *x->colptr);
    for (int k = 0; k < G->first[rows]; k++) {
        if (number[G->column[k]] >= 0) next[number[G->column[k]] + 1]++;
    }
    for (int c = 0; c < n; c++) next[c + 1] += next[c];
    for (int i = 0; i < rows; i++) {
        for (int k = G->first[i]; k < G->first[i + 1]; k++) {
            int c = number[G->column[k]];
            if (c < 0) continue;
            x->rowind[next[c]] = i;
            x->value[next[c]++] = G->value[k];
        }
    }
    return n; /* every `next` has arrived where the next column begins */
}

/* b -> d by dense factors: few rows, or rows that depend on each other. */
static int dense_step(assembly *x, int rows, int n)
{
    double *A = calloc((size_t)rows * (size_t)n, sizeof *A);
    int rank = -1;
    for (int c = 0; A && c < n; c++) {
        for (int k = x->colptr[c]; k < x->colptr[c + 1]; k++)
            A[(size_t)c * (size_t)rows + (size_t)x->rowind[k]] = x->value[k];
    }
    if (A) rank = dae_least_squares(rows, n, A, x->b, RANK);
    free(A);
    if (rank == -1) x->starved = 1;
    return rank < 0;
}

/* x->d: least with the first `rows` rows of G d = x->b, 0 in fixed columns (nv; NULL: none). != 0: there is none. */
static int least_step(assembly *x, int rows, const unsigned char *fixed)
{
    int n = free_columns(x, rows, fixed);
    if (n == 0) return -1;
    if (mbs_sparse_least(rows, n, x->colptr, x->rowind, x->value, x->b) && dense_step(x, rows, n)) return -1;
    n = 0;
    for (int c = 0; c < x->m->nv; c++) x->d[c] = fixed && fixed[c] ? 0 : x->b[n++];
    return 0;
}

/* g, G and, if wanted, gI at (t, p); the largest |g|. */
static double rows_at(assembly *x, const double *p, double *gI)
{
    mbs_context c = mbs_begin(x->m, x->t, p, NULL);
    mbs_all_rows(&c, x->g, NULL, gI, NULL);
    mbs_sparse_rows_set(&c, &x->G);
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
    double worst = rows_at(x, p, NULL), last = INFINITY, *d = x->d;
    for (int k = 0; k < max_iterations && worst > TOLERANCE; k++) {
        if (worst <= ACCEPTABLE && worst > 0.5 * last) break; /* rounding */
        for (int i = 0; i < m->nrow; i++) x->b[i] = -x->g[i];
        if (least_step(x, m->nrow, x->fixed)) break;
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

/* All rows at p: G v = c. */
static void velocity_rows(assembly *x, const double *p)
{
    const mbs_mechanism *m = x->m;
    int at = m->nrow;
    rows_at(x, p, x->c);
    for (int i = 0; i < m->nrow; i++) x->c[i] = -x->c[i];
    mbs_context y = mbs_begin(m, x->t, p, NULL);
    for (int k = 0; x->fixed && k < m->njoint; k++) {
        if (!m->joint[k].model->has_speed) continue;
        mbs_sparse_rows_add(&y, main_coordinate(&m->joint[k]), &x->G);
        x->c[at++] = m->joint[k].model->speed;
    }
    mbs_end(&y);
}

/* v becomes the nearest that satisfies the rows; fixed ones (nv; NULL: none) stay. The largest residual, its row in *worst. */
static double nearest(assembly *x, const unsigned char *fixed, double *v, int *worst)
{
    double largest = 0;
    for (int pass = 0; pass < 2; pass++) {
        largest = *worst = 0;
        for (int i = 0; i < x->G.rows; i++) {
            x->b[i] = mbs_sparse_rows_subtract(&x->G, i, v, x->c[i]);
            if (fabs(x->b[i]) > largest) largest = fabs(x->b[i]), *worst = i;
        }
        if (pass == 1 || largest <= TOLERANCE || least_step(x, x->G.rows, fixed)) break;
        for (int k = 0; k < x->m->nv; k++) v[k] += x->d[k];
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
static dae_status contradiction(assembly *x, const double *v, double residual, int worst, dae_error *err)
{
    const mbs_mechanism *m = x->m;
    int which = -1, row;
    double *free = memcpy(x->work, v, (size_t)m->nv * sizeof *v);
    int still = nearest(x, NULL, free, &row) > ACCEPTABLE;
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
    double size = 1;
    int worst;
    velocity_rows(x, p);
    double residual = nearest(x, x->fixed ? x->fixed + m->nv : NULL, v, &worst);
    for (int k = 0; k < m->nv; k++) size = fabs(v[k]) > size ? fabs(v[k]) : size;
    return residual <= ACCEPTABLE * size ? DAE_OK : contradiction(x, v, residual, worst, err);
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

static int create(assembly *x)
{
    int speeds = speed_count(x);
    size_t nrow = (size_t)x->m->nrow, nv = (size_t)x->m->nv, rows = nrow + (size_t)speeds;
    if (!mbs_sparse_rows_create(x->m, speeds, &x->G)) return 0;
    size_t room = (size_t)x->G.room;
    x->g = malloc((nrow + 2 * rows + 3 * nv + room) * sizeof *x->g);
    x->colptr = malloc((2 * nv + room + 2) * sizeof *x->colptr);
    if (!x->g || !x->colptr) return 0;
    x->c = x->g + nrow;
    x->d = x->c + rows;
    x->work = x->d + nv;
    x->value = x->work + nv;
    x->b = x->value + room; /* rows+nv */
    x->rowind = x->colptr + nv + 2;
    return 1;
}

dae_status mbs_assemble(const mbs_mechanism *m, double t, double *y, const unsigned char *fixed,
                        dae_error *err)
{
    assembly x = {.m = m, .t = t, .fixed = fixed};
    if (!speed_count(&x) && (!m->nrow || is_assembled(m, t, y))) return DAE_OK;
    dae_status s = create(&x) ? DAE_OK : dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (!s) s = positions(&x, y, err);
    if (!s) s = velocities(&x, y, y + m->np, err);
    if (x.starved) s = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    mbs_sparse_rows_destroy(&x.G);
    free(x.g);
    free(x.colptr);
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
