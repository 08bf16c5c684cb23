/* Every mode of the saddle-point solver against Gaussian elimination in long double, on random dense
 * systems, random trees of bodies, loops, massless bodies and unsymmetric systems. */
#include "test.h"

#include "core/arena.h"
#include "linalg/saddle.h"

#define MOST 400 /* unknowns */

static uint64_t seed;

static double uniform(void) /* in (-1, 1) */
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 11) / 4503599627370496.0 - 1;
}

static int below(int n)
{
    return (int)((uniform() + 1) / 2 * n) % n;
}

/* ---- Systems ------------------------------------------------------------------------------------- */

typedef struct example {
    dae_saddle_spec spec;
    int block[64], parent[64], row_joint[MOST];
    int colptr[MOST + 1], rowind[8 * MOST];
    double M[20000], G[20000], U[20000];
    double f[MOST], g[MOST];
} example;

static example ex; /* large: one for all tests */

static void random_mass(double *M, int n)
{
    double A[MOST];
    for (int i = 0; i < n * n; i++) M[i] = 0;
    for (int k = 0; k < n + 2; k++) {
        for (int i = 0; i < n; i++) A[i] = uniform();
        for (int j = 0; j < n; j++) {
            for (int i = 0; i < n; i++) M[i + j * n] += A[i] * A[j];
        }
    }
}

static void random_right_side(example *e)
{
    for (int i = 0; i < e->spec.nv; i++) e->f[i] = uniform();
    for (int i = 0; i < e->spec.nl; i++) e->g[i] = uniform();
}

static example *dense_example(int nv, int nl)
{
    example *e = &ex;
    memset(e, 0, sizeof *e);
    seed = (uint64_t)(nv * 1000 + nl);
    e->spec.nv = nv;
    e->spec.nl = nl;
    random_mass(e->M, nv);
    for (int i = 0; i < nv * nl; i++) e->G[i] = uniform();
    for (int i = 0; i < nv * nl; i++) e->U[i] = e->G[i] + 0.1 * uniform();
    random_right_side(e);
    return e;
}

/* A random tree of bodies with 1 to 6 velocities; every joint has up to as many rows; loops: rows
 * between two random bodies. massless: leaves without mass, held by full joints. */
static example *tree_example(int bodies, int loops, int massless)
{
    example *e = &ex;
    int first[65] = {0}, son[64] = {0}, rows = 0, touch[MOST][2];
    memset(e, 0, sizeof *e);
    seed = (uint64_t)(bodies * 100 + loops * 10 + massless);
    for (int k = 0; k < bodies; k++) { /* body k hangs on a later one: not monotone on purpose */
        e->parent[k] = k == bodies - 1 ? -1 : k + 1 + below(bodies - k - 1);
        if (e->parent[k] >= 0 && below(5) == 0) e->parent[k] = -1;
        if (e->parent[k] >= 0) son[e->parent[k]] = 1;
        e->block[k] = 1 + below(6);
    }
    double *M = e->M;
    for (int k = 0; k < bodies; k++) {
        int n = e->block[k], leaf = massless && !son[k] && e->parent[k] >= 0;
        first[k + 1] = first[k] + n;
        if (!leaf) random_mass(M, n);
        M += n * n;
        int m = leaf ? n : below(n + 1);
        for (int i = 0; i < m; i++) {
            e->row_joint[rows] = k;
            touch[rows][0] = k;
            touch[rows++][1] = e->parent[k];
        }
    }
    for (int i = 0; i < loops; i++) {
        e->row_joint[rows] = -1;
        touch[rows][0] = below(bodies);
        touch[rows++][1] = below(bodies);
    }
    e->spec = (dae_saddle_spec){.nv = first[bodies],
                                .nl = rows,
                                .block = e->block,
                                .nblock = bodies,
                                .colptr = e->colptr,
                                .rowind = e->rowind,
                                .parent = e->parent,
                                .row_joint = e->row_joint};
    int nz = 0;
    for (int b = 0; b < bodies; b++) {
        for (int j = first[b]; j < first[b + 1]; j++) {
            e->colptr[j] = nz;
            for (int i = 0; i < rows; i++) {
                if (touch[i][0] != b && touch[i][1] != b) continue;
                e->G[nz] = uniform();
                e->U[nz] = e->G[nz] + 0.1 * uniform();
                e->rowind[nz++] = i;
            }
        }
    }
    e->colptr[e->spec.nv] = nz;
    random_right_side(e);
    return e;
}

/* ---- Reference ----------------------------------------------------------------------------------- */

static double full[MOST * MOST]; /* [M U^T; G 0] */

static void expand(const example *e, const double *U)
{
    const dae_saddle_spec *s = &e->spec;
    int n = s->nv + s->nl, at = 0;
    memset(full, 0, sizeof full);
    const double *M = e->M;
    for (int k = 0; k < (s->block ? s->nblock : 1); k++) {
        int m = s->block ? s->block[k] : s->nv;
        for (int j = 0; j < m; j++) {
            for (int i = 0; i < m; i++) full[at + i + (at + j) * n] = *M++;
        }
        at += m;
    }
    for (int j = 0; j < s->nv; j++) {
        int begin = s->colptr ? s->colptr[j] : j * s->nl,
            end = s->colptr ? s->colptr[j + 1] : (j + 1) * s->nl;
        for (int k = begin; k < end; k++) {
            int i = s->colptr ? s->rowind[k] : k - begin;
            full[s->nv + i + j * n] = e->G[k];
            full[j + (s->nv + i) * n] = U[k];
        }
    }
}

static void reference(const example *e, const double *U, double *w, double *l)
{
    int nv = e->spec.nv, nl = e->spec.nl, n = nv + nl;
    static long double a[MOST][MOST + 1];
    expand(e, U);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) a[i][j] = full[i + j * n];
        a[i][n] = i < nv ? e->f[i] : e->g[i - nv];
    }
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++) {
            if (fabsl(a[i][k]) > fabsl(a[p][k])) p = i;
        }
        for (int j = k; j <= n; j++) {
            long double x = a[k][j];
            a[k][j] = a[p][j];
            a[p][j] = x;
        }
        assert_true(fabsl(a[k][k]) > 1e-12L);
        for (int i = k + 1; i < n; i++) {
            long double r = a[i][k] / a[k][k];
            if (r == 0) continue;
            for (int j = k; j <= n; j++) a[i][j] -= r * a[k][j];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) a[k][n] -= a[k][j] * a[j][n];
        a[k][n] /= a[k][k];
        if (k < nv) w[k] = (double)a[k][n];
        else l[k - nv] = (double)a[k][n];
    }
}

static double difference(int n, const double *x, const double *y)
{
    double d = 0, scale = 0;
    for (int i = 0; i < n; i++) {
        d = fmax(d, fabs(x[i] - y[i]));
        scale = fmax(scale, fabs(y[i]));
    }
    return n ? d / scale : 0;
}

/* f and g, l right behind w. */
static double *join_sides(const example *e)
{
    static double x[2 * MOST];
    memcpy(x, e->f, (size_t)e->spec.nv * sizeof *x);
    memcpy(x + e->spec.nv, e->g, (size_t)e->spec.nl * sizeof *x);
    return x;
}

/* Solves with a mode, also while it factors; returns the largest difference from the reference, relative to the largest entry. */
static double error_of(const example *e, const char *mode, int unsymmetric)
{
    static double w[MOST], l[MOST], rw[MOST], rl[MOST];
    dae_error err = {0};
    dae_arena *arena = dae_arena_create();
    dae_saddle_spec spec = e->spec;
    spec.mode = mode;
    spec.unsymmetric = unsymmetric;
    const double *U = unsymmetric ? e->U : NULL;
    dae_saddle *s = dae_saddle_create(&spec, arena, &err);
    if (!s) fail_msg("%s: %s", mode, err.text);
    reference(e, U ? U : e->G, rw, rl);
    double worst = 0;
    for (int again = 0; again < 4; again++) { /* the second time on the anchor of the first */
        if (again < 2) {
            assert_int_equal(dae_saddle_factor(s, e->M, e->G, U), 0);
        } else {
            double *x = again == 2 ? join_sides(e) : memcpy(w, e->f, sizeof w);
            double *y = again == 2 ? x + spec.nv : memcpy(l, e->g, sizeof l);
            assert_int_equal(dae_saddle_factor_solve(s, e->M, e->G, U, x, y), 0);
            worst = fmax(worst, fmax(difference(spec.nv, x, rw), difference(spec.nl, y, rl)));
        }
        for (int k = 0; k < 2; k++) {
            memcpy(w, e->f, sizeof w);
            memcpy(l, e->g, sizeof l);
            dae_saddle_solve(s, w, l);
            worst = fmax(worst, fmax(difference(spec.nv, w, rw), difference(spec.nl, l, rl)));
        }
    }
    dae_saddle_destroy(s);
    dae_arena_destroy(arena);
    return worst;
}

/* ---- Tests --------------------------------------------------------------------------------------- */

static const char *const dense_modes[] = {"dense_lu",          "dense_ldlt", "range_space", "null_space",
                                          "block_elimination", "sparse_lu",  "pcg"};

static void saddle_dense_modes_match_elimination(void **state)
{
    static const int size[][2] = {{1, 0}, {2, 1}, {7, 6}, {13, 4}, {20, 20}, {90, 70}, {120, 5}};
    (void)state;
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        for (size_t m = 0; m < sizeof dense_modes / sizeof *dense_modes; m++) {
            double d = error_of(dense_example(size[k][0], size[k][1]), dense_modes[m], 0);
            if (!(d < 1e-9)) fail_msg("%s %d %d: %g", dense_modes[m], size[k][0], size[k][1], d);
        }
    }
}

static void saddle_tree_modes_match_elimination(void **state)
{
    static const char *const mode[] = {
        "recursive_constraint", "recursive_joint", "sparse_lu", "dense_lu", "pcg", "auto"};
    static const int size[] = {1, 2, 5, 12, 30};
    (void)state;
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        for (size_t m = 0; m < sizeof mode / sizeof *mode; m++) {
            double d = error_of(tree_example(size[k], 0, 0), mode[m], 0);
            if (!(d < 1e-9)) fail_msg("%s, %d bodies: %g", mode[m], size[k], d);
        }
    }
}

static void saddle_recursion_closes_loops(void **state)
{
    static const char *const mode[] = {"recursive_constraint", "recursive_joint"};
    (void)state;
    for (int m = 0; m < 2; m++) {
        for (int loops = 1; loops < 5; loops++) {
            double d = error_of(tree_example(12, loops, 0), mode[m], 0);
            if (!(d < 1e-9)) fail_msg("%s, %d loops: %g", mode[m], loops, d);
        }
    }
    assert_true(error_of(tree_example(12, 3, 0), "recursive_constraint", 1) < 1e-9);
}

static void saddle_recursion_takes_massless_leaves(void **state)
{
    static const char *const mode[] = {"recursive_constraint", "recursive_joint", "null_space",
                                       "block_elimination",    "sparse_lu",       "dense_ldlt"};
    (void)state;
    for (size_t m = 0; m < sizeof mode / sizeof *mode; m++) {
        double d = error_of(tree_example(9, 0, 1), mode[m], 0);
        if (!(d < 1e-9)) fail_msg("%s: %g", mode[m], d);
    }
}

static void saddle_unsymmetric_modes_match_elimination(void **state)
{
    (void)state;
    assert_true(error_of(dense_example(13, 6), "dense_lu", 1) < 1e-10);
    assert_true(error_of(dense_example(90, 30), "dense_lu", 1) < 1e-10);
    assert_true(error_of(dense_example(13, 6), "sparse_lu", 1) < 1e-10);
    assert_true(error_of(tree_example(15, 0, 0), "sparse_lu", 1) < 1e-9);
    assert_true(error_of(tree_example(15, 0, 0), "recursive_constraint", 1) < 1e-9);
    assert_true(error_of(tree_example(9, 0, 1), "recursive_constraint", 1) < 1e-9);
}

/* The last loop row twice: the solution exists, the two share the force, w is unique. Masses in another unit, forces with them, change
 * the forces l only. */
static void check_redundant_rows(double unit)
{
    static double w[MOST], l[MOST], rw[MOST], rl[MOST], G2[20000];
    static int colptr[MOST + 1], rowind[8 * MOST];
    example *e = tree_example(8, 1, 0);
    int nv = e->spec.nv, nl = e->spec.nl, nz = 0;
    reference(e, e->G, rw, rl);
    for (size_t i = 0; i < sizeof e->M / sizeof *e->M; i++) e->M[i] *= unit;
    for (int i = 0; i < nv; i++) e->f[i] *= unit;
    for (int j = 0; j < nv; j++) {
        colptr[j] = nz;
        for (int k = e->colptr[j]; k < e->colptr[j + 1]; k++) {
            G2[nz] = e->G[k];
            rowind[nz++] = e->rowind[k];
            if (e->rowind[k] != nl - 1) continue;
            G2[nz] = e->G[k];
            rowind[nz++] = nl;
        }
    }
    colptr[nv] = nz;
    e->row_joint[nl] = -1;
    e->g[nl] = e->g[nl - 1];
    dae_saddle_spec spec = e->spec;
    spec.nl++;
    spec.colptr = colptr;
    spec.rowind = rowind;
    for (int m = 0; m < 2; m++) {
        spec.mode = m ? "recursive_joint" : "recursive_constraint";
        dae_arena *arena = dae_arena_create();
        dae_saddle *s = dae_saddle_create(&spec, arena, NULL);
        assert_non_null(s);
        assert_int_equal(dae_saddle_factor(s, e->M, G2, NULL), 0);
        memcpy(w, e->f, sizeof w);
        memcpy(l, e->g, sizeof l);
        dae_saddle_solve(s, w, l);
        assert_true(difference(nv, w, rw) < 1e-10);
        assert_near((l[nl - 1] + l[nl]) / unit, rl[nl - 1], 1e-8);
        dae_saddle_destroy(s);
        dae_arena_destroy(arena);
    }
}

static void saddle_redundant_loop_rows_are_found(void **state)
{
    (void)state;
    check_redundant_rows(1);
    check_redundant_rows(ldexp(1, 30));
    check_redundant_rows(ldexp(1, -30));
}

/* The anchor's pivots vanish in the next matrix: KLU factors it afresh and asks for a new anchor. */
static void sparse_lu_survives_bad_pivots(void **state)
{
    (void)state;
    for (int together = 0; together < 2; together++) {
        example *e = dense_example(8, 4);
        dae_saddle_spec spec = e->spec;
        spec.mode = "sparse_lu";
        dae_arena *arena = dae_arena_create();
        dae_saddle *s = dae_saddle_create(&spec, arena, NULL);
        assert_int_equal(dae_saddle_factor(s, e->M, e->G, NULL), 0);
        assert_false(dae_saddle_stale(s));
        for (int i = 0; i < 64; i++) e->M[i] = i % 9 == 0 ? 1e-14 : 0; /* all former pivots are gone ... */
        for (int i = 0; i < 4; i++) e->M[9 * i] = 1;
        for (int i = 0; i < 32; i++) e->G[i] = i % 4 == (31 - i) / 4 % 4 ? 1 + 0.1 * i : 0; /* ... here too */
        double *w = join_sides(e), *l = w + 8;
        if (together) {
            assert_int_equal(dae_saddle_factor_solve(s, e->M, e->G, NULL, w, l), 0);
        } else {
            assert_int_equal(dae_saddle_factor(s, e->M, e->G, NULL), 0);
            dae_saddle_solve(s, w, l);
        }
        for (int i = 0; i < 4; i++) {
            double sum = 0;
            for (int j = 0; j < 8; j++) sum += e->G[i + 4 * j] * w[j];
            assert_near(sum, e->g[i], 1e-9);
        }
        assert_true(dae_saddle_stale(s));
        assert_int_equal(dae_saddle_analyses(s), 2);
        dae_saddle_destroy(s);
        dae_arena_destroy(arena);
    }
}

/* Saved after some factorizations, loaded into a fresh solver: the same bits. */
static void sparse_lu_checkpoint_gives_the_same_bits(void **state)
{
    static double wa[MOST], la[MOST], wb[MOST], lb[MOST], G2[20000];
    (void)state;
    example *e = tree_example(10, 0, 0);
    dae_saddle_spec spec = e->spec;
    spec.mode = "sparse_lu";
    dae_arena *aa = dae_arena_create(), *ab = dae_arena_create();
    dae_saddle *a = dae_saddle_create(&spec, aa, NULL), *b = dae_saddle_create(&spec, ab, NULL);
    assert_int_equal(dae_saddle_factor(a, e->M, e->G, NULL), 0);
    for (int k = 0; k < e->colptr[spec.nv]; k++) G2[k] = e->G[k] + 0.3 * uniform();
    assert_int_equal(dae_saddle_factor(a, e->M, G2, NULL), 0);
    assert_int_equal(dae_arena_bytes(aa), dae_arena_bytes(ab));
    void *copy = malloc(dae_arena_bytes(aa));
    dae_arena_write(aa, copy);
    dae_arena_read(ab, copy);
    assert_int_equal(dae_saddle_load(b, NULL, 0), 0);
    for (int k = 0; k < 2; k++) {
        memcpy(wa, e->f, sizeof wa);
        memcpy(la, e->g, sizeof la);
        memcpy(wb, e->f, sizeof wb);
        memcpy(lb, e->g, sizeof lb);
        dae_saddle_solve(a, wa, la);
        dae_saddle_solve(b, wb, lb);
        assert_memory_equal(wa, wb, sizeof wa);
        assert_memory_equal(la, lb, sizeof la);
        for (int i = 0; i < e->colptr[spec.nv]; i++) G2[i] += 0.1 * uniform();
        assert_int_equal(dae_saddle_factor(a, e->M, G2, NULL), dae_saddle_factor(b, e->M, G2, NULL));
    }
    free(copy);
    dae_saddle_destroy(a);
    dae_saddle_destroy(b);
    dae_arena_destroy(aa);
    dae_arena_destroy(ab);
}

/* The preconditioner is the matrix of the anchor; a neighbor needs few iterations. */
static void pcg_converges_fast_near_the_anchor(void **state)
{
    static double w[MOST], l[MOST], rw[MOST], rl[MOST];
    (void)state;
    example *e = tree_example(20, 2, 0);
    dae_saddle_spec spec = e->spec;
    spec.mode = "pcg";
    dae_arena *arena = dae_arena_create();
    dae_saddle *s = dae_saddle_create(&spec, arena, NULL);
    assert_int_equal(dae_saddle_anchor(s, e->M, e->G, NULL), 0);
    for (int k = 0; k < e->colptr[spec.nv]; k++) e->G[k] *= 1 + 1e-3 * uniform();
    assert_int_equal(dae_saddle_factor(s, e->M, e->G, NULL), 0);
    memcpy(w, e->f, sizeof w);
    memcpy(l, e->g, sizeof l);
    dae_saddle_solve(s, w, l);
    reference(e, e->G, rw, rl);
    assert_true(difference(spec.nv, w, rw) < 1e-9);
    assert_true(difference(spec.nl, l, rl) < 1e-9);
    assert_between((double)dae_saddle_analyses(s), 2, 12);
    dae_saddle_destroy(s);
    dae_arena_destroy(arena);
}

static void saddle_singular_matrices_are_told(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof dense_modes / sizeof *dense_modes; m++) {
        example *e = dense_example(6, 3);
        for (int j = 0; j < 6; j++) e->G[2 + 3 * j] = 0; /* a constraint without velocities */
        dae_saddle_spec spec = e->spec;
        spec.mode = dense_modes[m];
        dae_arena *arena = dae_arena_create();
        dae_saddle *s = dae_saddle_create(&spec, arena, NULL);
        int bad = dae_saddle_factor(s, e->M, e->G, NULL);
        if (bad <= 0) fail_msg("%s took a singular matrix: %d", dense_modes[m], bad);
        dae_saddle_destroy(s);
        dae_arena_destroy(arena);
    }
}

static void saddle_create_names_what_is_wrong(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_arena *arena = dae_arena_create();
    dae_saddle_spec spec = {.mode = "dense_lv", .nv = 2, .nl = 1};
    assert_null(dae_saddle_create(&spec, arena, &err));
    assert_non_null(strstr(err.text, "dense_lu"));
    spec.mode = "recursive_joint";
    assert_null(dae_saddle_create(&spec, arena, &err));
    assert_non_null(strstr(err.text, "kinematic tree"));
    spec.mode = "range_space";
    spec.unsymmetric = 1;
    assert_null(dae_saddle_create(&spec, arena, &err));
    assert_int_equal(err.status, DAE_ERR_UNSUPPORTED);
    dae_arena_destroy(arena);
}

static void saddle_products_match_the_matrix(void **state)
{
    (void)state;
    example *e = tree_example(7, 1, 0);
    int nv = e->spec.nv, nl = e->spec.nl, n = nv + nl;
    double y[MOST] = {0}, x[MOST] = {0}, m[MOST] = {0};
    expand(e, e->G);
    dae_saddle_multiply(&e->spec, e->G, 2, e->f, y);
    dae_saddle_multiply_transposed(&e->spec, e->G, -1, e->g, x);
    dae_saddle_multiply_mass(nv, e->block, e->spec.nblock, e->M, 1, e->f, m);
    for (int i = 0; i < n; i++) {
        double low = 0, up = 0;
        for (int j = 0; j < nv; j++) low += full[i + j * n] * e->f[j];
        for (int j = 0; j < nl; j++) up += full[i + (nv + j) * n] * e->g[j];
        if (i < nv) {
            assert_near(m[i], low, 1e-13);
            assert_near(x[i], -up, 1e-13);
        } else {
            assert_near(y[i - nv], 2 * low, 1e-13);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saddle_dense_modes_match_elimination),
        cmocka_unit_test(saddle_tree_modes_match_elimination),
        cmocka_unit_test(saddle_recursion_closes_loops),
        cmocka_unit_test(saddle_recursion_takes_massless_leaves),
        cmocka_unit_test(saddle_unsymmetric_modes_match_elimination),
        cmocka_unit_test(saddle_redundant_loop_rows_are_found),
        cmocka_unit_test(sparse_lu_survives_bad_pivots),
        cmocka_unit_test(sparse_lu_checkpoint_gives_the_same_bits),
        cmocka_unit_test(pcg_converges_fast_near_the_anchor),
        cmocka_unit_test(saddle_singular_matrices_are_told),
        cmocka_unit_test(saddle_create_names_what_is_wrong),
        cmocka_unit_test(saddle_products_match_the_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
