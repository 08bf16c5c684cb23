#include "linalg/saddle/tree.h"
#include "linalg/saddle/kernel.h"

/* ours: a loop row is redundant if its pivot falls below this part of its diagonal */
#define DEPENDENT 1e-12

/* ---- Structure ----------------------------------------------------------------------------------- */

/* Bodies ordered by falling depth: sons before fathers. */
static void order_bodies(tree *t)
{
    int deepest = 0, count = 0;
    for (int k = 0; k < t->bodies; k++) { /* m as scratch: depth */
        int depth = 0;
        for (int j = t->father[k]; j >= 0; j = t->father[j]) depth++;
        t->m[k] = depth;
        if (depth > deepest) deepest = depth;
    }
    for (int depth = deepest; depth >= 0; depth--) {
        for (int k = 0; k < t->bodies; k++) {
            if (t->m[k] == depth) t->order[count++] = k;
        }
    }
    for (int k = 0; k < t->bodies; k++) t->m[k] = 0;
}

/* Place of element (row, col) in the values of G, -1 if it is not in the pattern. */
static int place(const dae_saddle_spec *spec, int row, int col)
{
    if (!spec->colptr) return row + col * spec->nl;
    for (int k = spec->colptr[col]; k < spec->colptr[col + 1]; k++) {
        if (spec->rowind[k] == row) return k;
    }
    return -1;
}

static void map_block(const dae_saddle *s, const tree *t, int k, int body, int *map)
{
    const int *row = t->rows + t->row_at[k];
    for (int j = 0; j < t->n[body]; j++) {
        for (int i = 0; i < t->m[k]; i++) *map++ = place(&s->spec, row[i], s->first[body] + j);
    }
}

static dae_status check_pattern(const dae_saddle *s, const tree *t, dae_error *err)
{
    const dae_saddle_spec *spec = &s->spec;
    for (int b = 0; spec->colptr && b < t->bodies; b++) {
        for (int j = s->first[b]; j < s->first[b + 1]; j++) {
            for (int k = spec->colptr[j]; k < spec->colptr[j + 1]; k++) {
                int joint = spec->row_joint[spec->rowind[k]];
                if (joint < 0 || joint == b || t->father[joint] == b) continue;
                return dae_fail(err, DAE_ERR_INPUT, NAN,
                                "kinematic tree: row %d of G belongs to the joint of bodies %d and %d, but "
                                "touches body %d",
                                spec->rowind[k], joint, t->father[joint], b);
            }
        }
    }
    return DAE_OK;
}

static void list_rows(const dae_saddle *s, tree *t)
{
    const dae_saddle_spec *spec = &s->spec;
    for (int i = 0; i < spec->nl; i++) {
        if (spec->row_joint[i] >= 0) t->m[spec->row_joint[i]]++;
        else t->loop_row[t->nloop++] = i;
    }
    for (int k = 0; k < t->bodies; k++) {
        int up = t->father[k] >= 0 ? t->n[t->father[k]] : 0;
        t->row_at[k + 1] = t->row_at[k] + t->m[k];
        t->G_at[k + 1] = t->G_at[k] + t->m[k] * t->n[k];
        t->C_at[k + 1] = t->C_at[k] + t->m[k] * up;
        if (t->n[k] > t->n_max) t->n_max = t->n[k];
        if (t->m[k] > t->m_max) t->m_max = t->m[k];
        t->m[k] = 0;
    }
    for (int i = 0; i < spec->nl; i++) {
        int k = spec->row_joint[i];
        if (k >= 0) t->rows[t->row_at[k] + t->m[k]++] = i;
    }
}

static void list_loops(const dae_saddle *s, tree *t)
{
    for (int i = 0, count = 0; i < t->nloop; i++) {
        for (int j = 0; j < s->spec.nv; j++) {
            int at = place(&s->spec, t->loop_row[i], j);
            if (at < 0) continue;
            t->loop_col[count] = j;
            t->loop_map[count++] = at;
        }
        t->loop_at[i + 1] = count;
    }
}

static int loop_entries(const dae_saddle_spec *spec)
{
    int count = 0;
    for (int j = 0; j < spec->nv; j++) {
        if (!spec->colptr) {
            for (int i = 0; i < spec->nl; i++) count += spec->row_joint[i] < 0;
        } else {
            for (int k = spec->colptr[j]; k < spec->colptr[j + 1]; k++)
                count += spec->row_joint[spec->rowind[k]] < 0;
        }
    }
    return count;
}

dae_status dae_tree_create(dae_saddle *s, tree *t, dae_error *err)
{
    const dae_saddle_spec *spec = &s->spec;
    dae_arena *a = s->arena;
    if (!spec->parent || !spec->row_joint) {
        return dae_fail(
            err, DAE_ERR_UNSUPPORTED, NAN,
            "mode %s needs the kinematic tree (parent, row_joint); without it dense_lu and sparse_lu serve",
            s->mode->name);
    }
    size_t nb = (size_t)spec->nblock, nl = (size_t)spec->nl;
    t->bodies = spec->nblock;
    t->order = dae_arena_ints(a, nb);
    t->father = dae_arena_copy(a, spec->parent, nb, sizeof(int));
    t->n = dae_arena_copy(a, s->block, nb, sizeof(int));
    t->m = dae_arena_ints(a, nb);
    t->rows = dae_arena_ints(a, nl);
    t->row_at = dae_arena_ints(a, nb + 1);
    t->G_at = dae_arena_ints(a, nb + 1);
    t->C_at = dae_arena_ints(a, nb + 1);
    t->loop_row = dae_arena_ints(a, nl);
    if (saddle_memory(s, err)) return DAE_ERR_MEMORY;
    order_bodies(t);
    if (check_pattern(s, t, err)) return DAE_ERR_INPUT;
    list_rows(s, t);

    size_t entries = t->nloop ? (size_t)loop_entries(spec) : 0, loops = (size_t)t->nloop;
    t->G_map = dae_arena_ints(a, (size_t)t->G_at[nb]);
    t->C_map = dae_arena_ints(a, (size_t)t->C_at[nb]);
    t->loop_at = dae_arena_ints(a, loops + 1);
    t->loop_col = dae_arena_ints(a, entries);
    t->loop_map = dae_arena_ints(a, entries);
    t->Zw = dae_arena_reals(a, loops * (size_t)spec->nv);
    t->Zl = dae_arena_reals(a, loops * nl);
    t->S = dae_arena_reals(a, loops * loops);
    t->piv = dae_arena_ints(a, loops);
    t->mu = dae_arena_reals(a, loops);
    t->rank = dae_arena_ints(a, 1);
    if (saddle_memory(s, err)) return DAE_ERR_MEMORY;
    for (int k = 0; k < t->bodies; k++) {
        map_block(s, t, k, k, t->G_map + t->G_at[k]);
        if (t->father[k] >= 0) map_block(s, t, k, t->father[k], t->C_map + t->C_at[k]);
    }
    list_loops(s, t);
    snprintf(s->text, sizeof s->text, "%s %d, %d bodies, %d loop rows", s->mode->name, spec->nv + spec->nl,
             t->bodies, t->nloop);
    return DAE_OK;
}

int dae_tree_check(const dae_saddle *s, const tree *t, const double *G)
{
    const dae_saddle_spec *spec = &s->spec;
    for (int b = 0; !spec->colptr && b < t->bodies; b++) {
        for (int j = s->first[b]; j < s->first[b + 1]; j++) {
            for (int i = 0; i < spec->nl; i++) {
                int joint = spec->row_joint[i];
                if (joint < 0 || joint == b || t->father[joint] == b) continue;
                if (G[AT(i, j, spec->nl)] != 0) return i + 1;
            }
        }
    }
    return 0;
}

void dae_tree_gather(const int *map, int count, const double *G, double *out)
{
    for (int k = 0; k < count; k++) out[k] = map[k] >= 0 ? G[map[k]] : 0;
}

/* ---- Loops --------------------------------------------------------------------------------------- */

static double loop_product(const tree *t, int i, const double *G, const double *w)
{
    double sum = 0;
    for (int k = t->loop_at[i]; k < t->loop_at[i + 1]; k++) sum += G[t->loop_map[k]] * w[t->loop_col[k]];
    return sum;
}

/* Cholesky with diagonal pivoting of the symmetric S; stops at the numerical rank. */
static void factor_loops(tree *t)
{
    int n = t->nloop;
    double *S = t->S;
    for (int i = 0; i < n; i++) t->piv[i] = i;
    for (int k = 0; k < n; k++) t->mu[k] = S[k + k * n]; /* original diagonal */
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++) {
            if (S[i + i * n] > S[p + p * n]) p = i;
        }
        if (!(S[p + p * n] > DEPENDENT * t->mu[t->piv[p]])) return;
        if (p != k) {
            int q = t->piv[k];
            t->piv[k] = t->piv[p];
            t->piv[p] = q;
            for (int i = 0; i < n; i++) { /* rows, then columns */
                double x = S[k + i * n];
                S[k + i * n] = S[p + i * n];
                S[p + i * n] = x;
            }
            for (int i = 0; i < n; i++) {
                double x = S[i + k * n];
                S[i + k * n] = S[i + p * n];
                S[i + p * n] = x;
            }
        }
        double l = sqrt(S[k + k * n]);
        S[k + k * n] = l;
        for (int i = k + 1; i < n; i++) S[i + k * n] /= l;
        for (int j = k + 1; j < n; j++) {
            for (int i = k + 1; i < n; i++) S[i + j * n] -= S[i + k * n] * S[j + k * n];
        }
        *t->rank = k + 1;
    }
}

int dae_tree_close_loops(dae_saddle *s, tree *t, tree_solver *solve, const double *G, const double *U)
{
    int n = t->nloop, nv = s->spec.nv, nl = s->spec.nl;
    if (!n) return 0;
    for (int i = 0; i < n; i++) {
        double *w = t->Zw + (size_t)i * (size_t)nv, *l = t->Zl + (size_t)i * (size_t)nl;
        dae_zero(nv, w);
        dae_zero(nl, l);
        for (int k = t->loop_at[i]; k < t->loop_at[i + 1]; k++) w[t->loop_col[k]] = U[t->loop_map[k]];
        solve(s, w, l);
        for (int j = 0; j < n; j++) t->S[j + i * n] = loop_product(t, j, G, w);
    }
    if (s->spec.unsymmetric) {
        *t->rank = n;
        int info = kernel_lu(n, t->S, t->piv);
        return info ? 1 + t->loop_row[info - 1] : 0;
    }
    *t->rank = 0;
    factor_loops(t);
    return *t->rank ? 0 : 1 + t->loop_row[0];
}

/* S mu = mu. Redundant rows get no force; they hold because they follow from the others. */
static void solve_loops(tree *t)
{
    int n = t->nloop, rank = *t->rank;
    double *mu = t->mu;
    for (int k = 0; k < rank; k++) {
        double y = mu[t->piv[k]];
        for (int i = 0; i < k; i++) y -= t->S[k + i * n] * mu[t->piv[i]];
        mu[t->piv[k]] = y / t->S[k + k * n];
    }
    for (int k = rank - 1; k >= 0; k--) {
        double y = mu[t->piv[k]];
        for (int i = k + 1; i < rank; i++) y -= t->S[i + k * n] * mu[t->piv[i]];
        mu[t->piv[k]] = y / t->S[k + k * n];
    }
    for (int k = rank; k < n; k++) mu[t->piv[k]] = 0;
}

void dae_tree_solve(dae_saddle *s, tree *t, tree_solver *solve, const double *G, double *w, double *l)
{
    int n = t->nloop, nv = s->spec.nv, nl = s->spec.nl;
    double *mu = t->mu;
    if (!n) {
        solve(s, w, l);
        return;
    }
    for (int i = 0; i < n; i++) mu[i] = -l[t->loop_row[i]];
    solve(s, w, l);
    for (int i = 0; i < n; i++) mu[i] += loop_product(t, i, G, w); /* S mu = C t - c */
    if (s->spec.unsymmetric) {
        kernel_lu_solve(n, t->S, t->piv, mu);
    } else {
        solve_loops(t);
    }
    for (int i = 0; i < n; i++) {
        dae_axpy(nv, -mu[i], t->Zw + (size_t)i * (size_t)nv, w);
        dae_axpy(nl, -mu[i], t->Zl + (size_t)i * (size_t)nl, l);
    }
    for (int i = 0; i < n; i++) l[t->loop_row[i]] = mu[i];
}
