/* The common part of the saddle-point solvers: creation, the automatic choice, products. The modes are
 * one file each. */
#include "linalg/saddle/internal.h"

#include <math.h>

#include "core/vector.h"

static const mode *const modes[] = {&dae_saddle_dense_lu,
                                    &dae_saddle_dense_ldlt,
                                    &dae_saddle_range_space,
                                    &dae_saddle_null_space,
                                    &dae_saddle_block_elimination,
                                    &dae_saddle_sparse_lu,
                                    &dae_saddle_recursive_constraint,
                                    &dae_saddle_recursive_joint,
                                    &dae_saddle_pcg};

/* ---- The automatic choice ------------------------------------------------------------------------ */

/* Measured cross-overs, bench_mechanics. Where the pattern of G is known sparse_lu is the fastest from the smallest
 * mechanisms on; the recursion over a tree, which pays where blocks are larger than those of planar bodies, takes
 * 1.6 times as long on chains. Without a pattern: block elimination below SMALL unknowns, a tree recursively,
 * else dense LU. */
#define SMALL 30

static int loop_rows(const dae_saddle_spec *spec)
{
    int count = 0;
    for (int i = 0; i < spec->nl; i++) count += spec->row_joint[i] < 0;
    return count;
}

static const mode *choose(const dae_saddle_spec *spec)
{
    if (spec->colptr) return &dae_saddle_sparse_lu;
    int small = spec->nv + spec->nl < SMALL;
    if (small && !spec->unsymmetric && spec->nl <= spec->nv) return &dae_saddle_block_elimination;
    if (!small && spec->parent && spec->nblock > 1 && 4 * loop_rows(spec) <= spec->nl)
        return &dae_saddle_recursive_constraint;
    return &dae_saddle_dense_lu;
}

static const mode *find(const char *name)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (!strcmp(modes[i]->name, name)) return modes[i];
    }
    return NULL;
}

static dae_status select_mode(dae_saddle *s, dae_error *err)
{
    const char *name = s->spec.mode ? s->spec.mode : "auto";
    s->mode = strcmp(name, "auto") ? find(name) : choose(&s->spec);
    if (!s->mode) {
        char near[64];
        dae_nearest_word(name, DAE_SADDLE_MODES, near, sizeof near);
        return dae_fail(err, DAE_ERR_INPUT, NAN, "there is no saddle-point mode \"%s\"%s%s; known: %s", name,
                        near[0] ? "; nearest: " : "", near, DAE_SADDLE_MODES);
    }
    if (s->spec.unsymmetric && !s->mode->unsymmetric) {
        return dae_fail(
            err, DAE_ERR_UNSUPPORTED, NAN,
            "saddle-point mode %s is for symmetric systems; this one (friction, or a half-explicit "
            "Runge-Kutta method) needs dense_lu, sparse_lu or recursive_constraint",
            name);
    }
    return DAE_OK;
}

/* ---- Life ---------------------------------------------------------------------------------------- */

static void lay_out_blocks(dae_saddle *s)
{
    int one = s->spec.block == NULL;
    int count = one ? 1 : s->spec.nblock;
    s->spec.nblock = count;
    s->block = dae_arena_ints(s->arena, (size_t)count);
    s->first = dae_arena_ints(s->arena, (size_t)count + 1);
    s->offset = dae_arena_ints(s->arena, (size_t)count + 1);
    s->state = dae_arena_take(s->arena, 1, sizeof *s->state);
    if (dae_arena_failed(s->arena)) return;
    for (int k = 0; k < count; k++) {
        s->block[k] = one ? s->spec.nv : s->spec.block[k];
        s->first[k + 1] = s->first[k] + s->block[k];
        s->offset[k + 1] = s->offset[k] + s->block[k] * s->block[k];
    }
}

dae_saddle *dae_saddle_create(const dae_saddle_spec *spec, dae_arena *arena, dae_error *err)
{
    dae_saddle *s = calloc(1, sizeof *s);
    if (!s) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "saddle-point solver: out of memory");
        return NULL;
    }
    s->spec = *spec;
    s->arena = arena;
    if (select_mode(s, err)) goto fail;
    lay_out_blocks(s);
    if (saddle_memory(s, err) || s->mode->create(s, err) || saddle_memory(s, err)) goto fail;
    if (!s->text[0]) snprintf(s->text, sizeof s->text, "%s %d", s->mode->name, spec->nv + spec->nl);
    return s;
fail:
    dae_saddle_destroy(s);
    return NULL;
}

void dae_saddle_destroy(dae_saddle *s)
{
    if (!s) return;
    if (s->data) {
        if (s->mode->destroy) s->mode->destroy(s->data);
        else free(s->data);
    }
    free(s);
}

int dae_saddle_anchor(dae_saddle *s, const double *M, const double *G, const double *U)
{
    int bad = s->mode->anchor ? s->mode->anchor(s, M, G, U ? U : G) : 0;
    if (bad) return bad;
    s->state->anchored = 1;
    s->state->stale = 0;
    return 0;
}

int dae_saddle_factor(dae_saddle *s, const double *M, const double *G, const double *U)
{
    if (!s->state->anchored) {
        int bad = dae_saddle_anchor(s, M, G, U);
        if (bad) return bad;
    }
    return s->mode->factor(s, M, G, U ? U : G);
}

void dae_saddle_solve(dae_saddle *s, double *w, double *l)
{
    s->mode->solve(s, w, l);
}

int dae_saddle_factor_solve(dae_saddle *s, const double *M, const double *G, const double *U, double *w,
                            double *l)
{
    if (s->mode->factor_solve && s->state->anchored) return s->mode->factor_solve(s, M, G, U ? U : G, w, l);
    int bad = dae_saddle_factor(s, M, G, U);
    if (!bad) dae_saddle_solve(s, w, l);
    return bad;
}

int dae_saddle_stale(const dae_saddle *s)
{
    return s->state->stale || !s->state->anchored || s->mode->renew;
}

int dae_saddle_mark(dae_saddle *s, int stale)
{
    int old = s->state->stale;
    s->state->stale = stale;
    return old;
}

const char *dae_saddle_mode(const dae_saddle *s)
{
    return s->mode->name;
}

const char *dae_saddle_describe(const dae_saddle *s)
{
    return s->text;
}

long dae_saddle_analyses(const dae_saddle *s)
{
    return s->state->analyses;
}

size_t dae_saddle_save(const dae_saddle *s, void *buffer)
{
    return s->mode->save ? s->mode->save(s, buffer) : 0;
}

int dae_saddle_load(dae_saddle *s, const void *buffer, size_t size)
{
    return s->mode->load ? s->mode->load(s, buffer, size) : size != 0;
}

/* ---- Products and layouts ------------------------------------------------------------------------ */

void dae_saddle_multiply_mass(int nv, const int *block, int nblock, const double *M, double sign,
                              const double *x, double *y)
{
    for (int k = 0, done = 0; done < nv && (!block || k < nblock); k++) {
        int n = block ? block[k] : nv;
        if (n == 1) {
            y[done] += sign * *M * x[done];
        } else {
            for (int j = 0; j < n; j++) dae_axpy(n, sign * x[done + j], M + (size_t)j * (size_t)n, y + done);
        }
        M += (size_t)n * (size_t)n;
        done += n;
    }
}

void dae_saddle_multiply(const dae_saddle_spec *spec, const double *G, double sign, const double *x,
                         double *y)
{
    const int *colptr = spec->colptr, *row = spec->rowind;
    for (int j = 0; j < spec->nv; j++) {
        double a = sign * x[j];
        if (!colptr) {
            dae_axpy(spec->nl, a, G + (size_t)j * (size_t)spec->nl, y);
            continue;
        }
        int left = colptr[j + 1] - colptr[j];
        for (; left >= 2;
             left -= 2, row += 2, G += 2) { /* constraints of points in the plane come in pairs */
            y[row[0]] += a * G[0];
            y[row[1]] += a * G[1];
        }
        if (left) y[*row++] += a * *G++;
    }
}

void dae_saddle_multiply_transposed(const dae_saddle_spec *spec, const double *G, double sign,
                                    const double *y, double *x)
{
    for (int j = 0; j < spec->nv; j++) {
        double sum = 0;
        if (!spec->colptr) {
            const double *col = G + (size_t)j * (size_t)spec->nl;
            for (int i = 0; i < spec->nl; i++) sum += col[i] * y[i];
        } else {
            for (int k = spec->colptr[j]; k < spec->colptr[j + 1]; k++) sum += G[k] * y[spec->rowind[k]];
        }
        x[j] += sign * sum;
    }
}

void dae_saddle_expand_mass(const dae_saddle *s, const double *M, double *a, int ld)
{
    for (int k = 0; k < s->spec.nblock; k++) {
        int n = s->block[k];
        const double *from = M + s->offset[k];
        double *to = a + (size_t)s->first[k] * ((size_t)ld + 1);
        for (int j = 0; j < n; j++) dae_copy(n, from + (size_t)j * (size_t)n, to + (size_t)j * (size_t)ld);
    }
}

void dae_saddle_expand(const dae_saddle *s, const double *G, double *a, int ld, int transposed)
{
    const dae_saddle_spec *spec = &s->spec;
    size_t down = transposed ? (size_t)ld : 1, right = transposed ? 1 : (size_t)ld;
    for (int j = 0; j < spec->nv; j++) {
        double *to = a + (size_t)j * right;
        if (!spec->colptr) {
            const double *col = G + (size_t)j * (size_t)spec->nl;
            for (int i = 0; i < spec->nl; i++) to[(size_t)i * down] = col[i];
        } else {
            for (int k = spec->colptr[j]; k < spec->colptr[j + 1]; k++)
                to[(size_t)spec->rowind[k] * down] = G[k];
        }
    }
}
