/* The registry, parameters, scores, and what must hold for every problem. */
#include "test.h"

#include <daedalus/problem.h>

#include "core/matrix.h"
#include "testset/testset.h"

static dae_problem *create(const char *name)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_create(name, NULL, 0, &err);
    if (!p) fail_msg("%s: %s", name, err.text);
    return p;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void problem_find_takes_names_and_aliases(void **state)
{
    (void)state;
    assert_string_equal(dae_problem_find("hires")->name, "hires");
    assert_string_equal(dae_problem_find("vdpol")->name, "vdpol-mu");
    assert_string_equal(dae_problem_find("vdpolm")->name, "vdpol-mu");
    assert_string_equal(dae_problem_find("pleiades")->name, "plei");
    assert_string_equal(dae_problem_find("transistor")->name, "transamp");
    assert_null(dae_problem_find("vdpo"));
    assert_null(dae_problem_find("vdpol vdpolm"));
    assert_null(dae_problem_find(""));
    assert_null(dae_problem_find(NULL));
    assert_null(dae_problem_get(-1));
    assert_null(dae_problem_get(dae_problem_count()));
}

static void problem_names_are_unique(void **state)
{
    (void)state;
    for (int i = 0; i < dae_problem_count(); i++) {
        assert_ptr_equal(dae_problem_find(dae_problem_get(i)->name), dae_problem_get(i));
    }
}

static void problem_create_hints_at_the_nearest_name(void **state)
{
    dae_error err = {0};
    (void)state;
    assert_null(dae_problem_create("hirse", NULL, 0, &err));
    assert_int_equal(err.status, DAE_ERR_INPUT);
    assert_string_equal(err.text, "there is no problem \"hirse\"; did you mean \"hires\"?");
    assert_null(dae_problem_create("qqqqqqqqqqqqqqqq", NULL, 0, &err));
    assert_non_null(strstr(err.text, "known: hires|"));
    assert_null(dae_problem_create(NULL, NULL, 0, NULL));
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static void refused(const char *problem, const char *name, const char *value, const char *text)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_create(problem, &(dae_setting){name, value}, 1, &err);
    assert_null(p);
    assert_int_equal(err.status, DAE_ERR_INPUT);
    assert_string_equal(err.text, text);
}

static void problem_parameters_are_checked(void **state)
{
    (void)state;
    refused("emep", "T", "1000", "problem emep: parameter T = 1000 is outside its range 200 .. 400");
    refused("vdpol", "my", "1", "problem vdpol-mu has no parameter \"my\"; did you mean \"mu\"? It has: mu");
    refused("rober", "zzzzzz", "1", "problem rober has no parameter \"zzzzzz\"; it has: k1, k2, k3");
    refused("vdpol-mu", "mu", "-5",
            "problem vdpol-mu: parameter mu = -5 is outside its range 0.001 .. 1e+06");
    refused("vdpol-mu", "mu", "12x", "problem vdpol-mu: parameter mu = \"12x\" is not a number");
    refused("vdpol-mu", "mu", "", "problem vdpol-mu: parameter mu = \"\" is not a number");
    refused("vdpol-mu", "mu", "nan", "problem vdpol-mu: parameter mu = \"nan\" is not a number");
    refused("andrews", "index", "2.5", "problem andrews: parameter index = 2.5 must be a whole number");
    refused("andrews", "index", "4", "problem andrews: parameter index = 4 is outside its range 1 .. 3");
}

static void problem_parameters_change_the_system(void **state)
{
    dae_error err = {0};
    double y[2] = {2, 1}, f[2];
    (void)state;
    dae_setting twice[] = {{"mu", "7"}, {"mu", "10"}};
    dae_problem *p = dae_problem_create("vdpol-mu", twice, 2, &err);
    assert_non_null(p);
    assert_true(p->parameter[0] == 10 && dae_problem_parameter(p, "mu") == 10);
    assert_true(p->t_end == 20);
    assert_null(p->reference);
    p->system.ode.f(0, y, f, p->system.ode.user);
    assert_near(f[1], -32, 1e-13);
    dae_problem_destroy(p);

    p = dae_problem_create("vdpol-mu", &(dae_setting){"mu", "1e3"}, 1, &err);
    assert_non_null(p->reference);
    dae_problem_destroy(p);
}

static void andrews_forms_share_the_reference(void **state)
{
    (void)state;
    for (int index = 1; index <= 3; index++) {
        char text[2] = {(char)('0' + index), 0};
        dae_problem *p = dae_problem_create("andrews", &(dae_setting){"index", text}, 1, NULL);
        assert_int_equal(dae_system_index(&p->system), index);
        assert_non_null(p->reference);
        /* consistent on every level at both ends */
        double f[27];
        p->system.dae.f(0, p->y0, f, p->system.dae.user);
        for (int i = 14; i < 27; i++) assert_near(f[i], 0, index == 1 ? 2e-11 : 1e-15);
        p->system.dae.f(0.03, p->reference, f, p->system.dae.user);
        for (int i = 14; i < 21; i++) assert_near(f[i], 0, 1e-9);
        for (int i = 21; i < 27; i++) assert_near(f[i], 0, index == 1 ? 1e-5 : index == 2 ? 1e-9 : 1e-14);
        dae_problem_destroy(p);
    }
}

/* ---- Refused states -------------------------------------------------------------------------- */

static void transamp_refuses_large_exponents(void **state)
{
    (void)state;
    dae_problem *p = create("transamp");
    double y[8] = {0, 10.8, 3, 6, 3, 3, 6, 0}, f[8], jac[32] = {0}; /* 7.8/0.026 = 300 */
    y[1] = 10.79;
    assert_int_equal(p->system.dae.f(0, y, f, p->system.dae.user), 0);
    y[1] = 10.81;
    assert_int_equal(p->system.dae.f(0, y, f, p->system.dae.user), 1);
    assert_int_equal(p->system.dae.jac(0, y, jac, p->system.dae.user), 1);
    y[1] = NAN;
    assert_int_equal(p->system.dae.f(0, y, f, p->system.dae.user), 1);
    dae_problem_destroy(p);
}

static void nand_refuses_bulk_voltages_above_phi(void **state)
{
    (void)state;
    dae_problem *p = create("nand");
    double y[14], F[14], jac[14 * 9] = {0};
    memcpy(y, p->y0, sizeof y);
    y[1] = y[0] + 0.1; /* U_DS > 0: U_BS = y3 - y5 counts, Phi = 1.28 */
    y[2] = y[4] + 1.27;
    assert_int_equal(p->system.ide.residual(0, y, p->yp0, F, p->system.ide.user), 0);
    y[2] = y[4] + 1.29;
    assert_int_equal(p->system.ide.residual(0, y, p->yp0, F, p->system.ide.user), 1);
    assert_int_equal(p->system.ide.dfdy(0, y, p->yp0, jac, p->system.ide.user), 1);
    dae_problem_destroy(p);
}

/* The inputs are continuous with the slopes of the segment one rounding unit inside of its ends. */
static void nand_input_slopes_at_segment_ends(void **state)
{
    (void)state;
    static const double slope1[] = {0, 1, 0, -1}, slope2[] = {0, 0, 0, 1, 0, 0, 0, -1};
    dae_problem *p = create("nand");
    const dae_ide *ide = &p->system.ide;
    for (int k = 0; k < 16; k++) {
        double ends[2] = {nextafter(5 * k, 100), nextafter(5 * k + 5, -1)}, F[14], mid[14];
        ide->residual(5 * k + 2.5, p->y0, p->yp0, mid, ide->user);
        for (int e = 0; e < 2; e++) {
            ide->residual(ends[e], p->y0, p->yp0, F, ide->user);
            /* rows 6+7 and 11+12: the drain currents cancel, what is left is -2 C_G V' + resistors */
            double resistors1 = (p->y0[5] - p->y0[9] + p->y0[6] - p->y0[4]) / 4;
            double resistors2 = (p->y0[10] + p->y0[11] - p->y0[9]) / 4;
            assert_near(F[5] + F[6], resistors1 - 1.2e-4 * slope1[k % 4], 1e-15);
            assert_near(F[10] + F[11], resistors2 - 1.2e-4 * slope2[k % 8], 1e-15);
        }
    }
    dae_problem_destroy(p);
}

/* The left limit of the pump's input at the end of a period is 0 in spite of the rounding of t. */
static void pump_input_ends_at_zero(void **state)
{
    (void)state;
    dae_problem *p = create("pump");
    double f[9];
    for (int k = 1; k <= 10; k++) {
        double end = p->discontinuity[4 * k - 1];
        p->system.dae.f(nextafter(end, 0), p->y0, f, p->system.dae.user);
        assert_true(f[3] == 0);
        p->system.dae.f(end - 1e-9, p->y0, f, p->system.dae.user);
        assert_near(f[3], 2, 1e-11);
    }
    dae_problem_destroy(p);
}

/* ---- Invariants ------------------------------------------------------------------------------ */

static void kinetics_keep_their_invariants(void **state)
{
    (void)state;
    double y[8] = {0.3, 0.2, 0.1, 0.4, 0.5, 0.7, 0.6, 0.8}, f[8];
    dae_problem *p = create("rober");
    p->system.ode.f(0, y, f, p->system.ode.user);
    assert_true(f[0] + f[1] + f[2] == 0);
    dae_problem_destroy(p);
    p = create("e5");
    p->system.ode.f(0, y, f, p->system.ode.user);
    assert_near(f[1] - f[2] - f[3], 0, 1e-9 * fabs(f[1]) + 1e-9);
    dae_problem_destroy(p);
    p = create("hires");
    p->system.ode.f(0, y, f, p->system.ode.user);
    assert_true(f[6] + f[7] == 0);
    dae_problem_destroy(p);
}

static void plei_conserves_momentum(void **state)
{
    (void)state;
    dae_problem *p = create("plei");
    double f[28], px = 0, py = 0;
    p->system.ode.f(0, p->y0, f, p->system.ode.user);
    for (int i = 0; i < 7; i++) {
        px += (i + 1) * f[14 + i];
        py += (i + 1) * f[21 + i];
    }
    assert_near(px, 0, 1e-14);
    assert_near(py, 0, 1e-14);
    dae_problem_destroy(p);
}

/* ---- Scores ---------------------------------------------------------------------------------- */

static void score_of_hand_made_numbers(void **state)
{
    (void)state;
    static const double ref[4] = {1, -100, 0, 1e-250};
    static const unsigned char flags[4] = {1, 0, 1, 1};
    double y[4] = {1.001, -99, 1e-4, 0};
    dae_problem p = {
        .system = {.kind = DAE_KIND_ODE, .ode = {.n = 4}}, .rtol = 1e-4, .atol = 1e-6, .reference = ref};
    dae_options opt = dae_options_default();
    opt.rtol = 1e-2;
    opt.atol = 1e-3;
    dae_score s = dae_problem_score(&p, &opt, NULL, y);
    assert_near(s.scd, 2, 1e-12);                         /* 1/100 in y2; y3, y4 are skipped */
    assert_near(s.mescd, -log10(1 / (0.1 + 100)), 1e-12); /* y2; y3 gives 1e-4/0.1 */
    p.scored = flags;
    s = dae_problem_score(&p, &opt, NULL, y);
    assert_near(s.scd, 3, 1e-9);                          /* y2 does not count */
    assert_near(s.mescd, -log10(1 / (0.1 + 100)), 1e-12); /* but for mescd it does */
    p.absolute_scd = 1;
    p.scored = NULL;
    assert_near(dae_problem_score(&p, &opt, NULL, y).scd, 0, 1e-12); /* |-99 + 100| = 1 */

    /* without options the problem's own tolerances: ratio 0.01, times the factors */
    static const double factor[4] = {1, 1, 1e-4, 1};
    p.atol_factor = factor;
    assert_near(dae_problem_score(&p, NULL, NULL, y).mescd, -log10(1e-4 / 1e-6), 1e-12);
    /* vectors in the options win */
    opt.atol_vec = (double[]){1e-2, 1e-2, 1e-8, 1e-2};
    opt.rtol_vec = (double[]){1e-2, 1e-2, 1e-1, 1e-2};
    assert_near(dae_problem_score(&p, &opt, NULL, y).mescd, -log10(1e-4 / 1e-7), 1e-12);
    /* another reference */
    assert_near(dae_problem_score(&p, &opt, (double[]){1.001, -99, 1e-4, 1e-3}, y).scd, 3, 1e-12);
}

static void score_of_exact_and_missing_values(void **state)
{
    (void)state;
    dae_problem *p = create("hires");
    dae_score s = dae_problem_score(p, NULL, NULL, p->reference);
    assert_true(s.scd == 16 && s.mescd == 16);
    double y[8] = {NAN};
    s = dae_problem_score(p, NULL, NULL, y);
    assert_true(isnan(s.scd) && isnan(s.mescd));
    p->reference = NULL;
    s = dae_problem_score(p, NULL, NULL, p->y0);
    assert_true(isnan(s.scd) && isnan(s.mescd));
    dae_problem_destroy(p);

    p = create("e5"); /* only mescd means something */
    s = dae_problem_score(p, NULL, NULL, p->reference);
    assert_true(isnan(s.scd) && s.mescd == 16);
    dae_problem_destroy(p);
}

/* ---- What holds for every problem ------------------------------------------------------------ */

static void every_problem_is_complete(void **state)
{
    (void)state;
    for (int i = 0; i < dae_problem_count(); i++) {
        dae_problem *p = create(dae_problem_get(i)->name);
        const dae_problem_info *info = p->info;
        int n = dae_system_size(&p->system);
        assert_non_null(info->title);
        assert_non_null(info->origin);
        assert_int_equal(info->n, n);
        assert_int_equal(info->kind, p->system.kind);
        assert_int_equal(info->index, dae_system_index(&p->system));
        assert_int_equal(dae_system_check(&p->system, NULL), DAE_OK);
        assert_non_null(p->y0);
        assert_true(p->t_end > p->t0 && p->rtol > 0 && p->atol >= 0 && p->h0 >= 0);
        for (int k = 0; k < p->ndiscontinuity; k++) {
            if (k) assert_true(p->discontinuity[k] > p->discontinuity[k - 1]);
            assert_true(p->discontinuity[k] >= p->t0 &&
                        p->discontinuity[k] <= p->t_end); /* one-sided there */
        }
        if (p->reference) assert_true(p->reference_digits > 0 && p->reference_source);
        for (int k = 0; k < p->nplot; k++) assert_in_range(p->plot[k], 0, n - 1);
        for (int k = 0; p->component && k < n; k++) assert_true(p->component[k] && p->component[k][0]);
        for (int k = 0; p->unit && k < n; k++) {
            assert_non_null(p->unit[k]);
            if (strstr(p->unit[k], "/s"))
                assert_true(p->time_unit && strchr(p->time_unit, 's')); /* of time, too */
        }
        const dae_parameter *par = info->parameter;
        for (int k = 0; par && par[k].name; k++) {
            assert_true(par[k].help && p->parameter[k] == par[k].value);
            assert_true(par[k].min > par[k].max ||
                        (par[k].value >= par[k].min && par[k].value <= par[k].max));
        }
        dae_problem_destroy(p);
    }
    dae_problem_destroy(NULL);
}

static void every_problem_has_a_page(void **state)
{
    (void)state;
    for (int i = 0; i < dae_problem_count(); i++) {
        const char *name = dae_problem_get(i)->name, *page = dae_problem_doc(name);
        if (!page) fail_msg("%s has no page in docs/problems", name);
        if (strncmp(page, "# ", 2)) fail_msg("the page of %s does not begin with a title", name);
        assert_true(strlen(page) > 500);
    }
    assert_ptr_equal(dae_problem_doc("vdpol"), dae_problem_doc("vdpol-mu"));
    assert_null(dae_problem_doc("no such problem"));
}

static double *zeros(long n)
{
    double *x = calloc((size_t)n, sizeof *x);
    assert_non_null(x);
    return x;
}

/* f, or the residual with y' fixed */
static int evaluate(const dae_system *s, double t, const double *y, const double *yp, double *f)
{
    switch (s->kind) {
    case DAE_KIND_ODE: return s->ode.f(t, y, f, s->ode.user);
    case DAE_KIND_DAE: return s->dae.f(t, y, f, s->dae.user);
    case DAE_KIND_IDE: return s->ide.residual(t, y, yp, f, s->ide.user);
    case DAE_KIND_MECH: break;
    }
    return 1;
}

static int has_jacobian(const dae_system *s)
{
    if (s->kind == DAE_KIND_ODE) return s->ode.jac != NULL;
    if (s->kind == DAE_KIND_DAE) return s->dae.jac != NULL;
    return s->kind == DAE_KIND_IDE && s->ide.dfdy && s->ide.dfdyp;
}

/* by: 0 df/dy, 1 dF/dy' */
static int jacobian(const dae_system *s, double t, const double *y, const double *yp, int by, double *jac)
{
    if (s->kind == DAE_KIND_ODE) return s->ode.jac(t, y, jac, s->ode.user);
    if (s->kind == DAE_KIND_DAE) return s->dae.jac(t, y, jac, s->dae.user);
    return (by ? s->ide.dfdyp : s->ide.dfdy)(t, y, yp, jac, s->ide.user);
}

/* Compares with differences at one point; a kink may make the two one-sided ones differ: one of the
 * three has to match. scale[j]: size of variable j. Returns 0 if the point cannot be evaluated. */
static int compare(const dae_problem *p, double t, const double *y, const double *yp, int by,
                   const double *scale)
{
    const dae_system *s = &p->system;
    int n = dae_system_size(s), ok;
    double *a = zeros(dae_pattern_count(&s->structure.jacobian, n)), *f = zeros(n), *fp = zeros(n),
           *fm = zeros(n);
    double *row = zeros(n), *x = zeros(n);
    dae_matrix A = {.n = n, .pattern = s->structure.jacobian, .a = a};
    ok = !evaluate(s, t, y, yp, f) && !jacobian(s, t, y, yp, by, a);
    for (int i = 0; ok && i < n; i++) {
        row[i] = fabs(f[i]);
        for (int j = 0; j < n; j++) row[i] += fabs(dae_matrix_get(&A, i, j)) * scale[j];
    }
    memcpy(x, by ? yp : y, (size_t)n * sizeof *x);
    for (int j = 0; ok && j < n; j++) {
        double delta = 6e-6 * scale[j], keep = x[j];
        x[j] = keep + delta;
        int bad = evaluate(s, t, by ? y : x, by ? x : yp, fp);
        x[j] = keep - delta;
        bad |= evaluate(s, t, by ? y : x, by ? x : yp, fm);
        x[j] = keep;
        for (int i = 0; !bad && i < n; i++) {
            double e = dae_matrix_get(&A, i, j), tol = 1e-5 * fabs(e) + 3e-7 * row[i] / scale[j];
            double d[3] = {(fp[i] - fm[i]) / (2 * delta), (fp[i] - f[i]) / delta, (f[i] - fm[i]) / delta};
            double one_sided = 30 * tol;
            if (!(fabs(d[0] - e) <= tol || fabs(d[1] - e) <= one_sided || fabs(d[2] - e) <= one_sided)) {
                fail_msg("%s: df%d/dy%s%d = %.12g, differences give %.12g", p->info->name, i + 1,
                         by ? "'" : "", j + 1, e, d[0]);
            }
        }
    }
    free(a);
    free(f);
    free(fp);
    free(fm);
    free(row);
    free(x);
    return ok;
}

/* Repeatable numbers in -1 .. 1. */
static double noise(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*seed >> 11) / (double)((int64_t)1 << 52) - 1;
}

static void check_jacobian(const dae_problem *p)
{
    int n = dae_system_size(&p->system), evaluated = 0;
    double *scale = zeros(n), *y = zeros(n), *yp = zeros(n);
    uint64_t seed = 12345;
    for (int j = 0; j < n; j++) {
        scale[j] = fmax(fabs(p->y0[j]), p->reference ? fabs(p->reference[j]) : 0);
        if (scale[j] < 1e-100) scale[j] = 1;
    }
    for (int point = 0; point < 4; point++) {
        double t = point == 0 ? p->t0 : p->t0 + (p->t_end - p->t0) * (0.513 + 0.4 * noise(&seed));
        for (int j = 0; j < n; j++) {
            double end = p->reference ? p->reference[j] : p->y0[j];
            y[j] = point < 2 ? p->y0[j] : end;
            yp[j] = p->yp0 ? p->yp0[j] : 0;
            if (point == 0) continue;
            y[j] += 1e-2 * scale[j] * noise(&seed);
            yp[j] += scale[j] * noise(&seed);
        }
        evaluated += compare(p, t, y, yp, 0, scale);
        if (p->system.kind == DAE_KIND_IDE) compare(p, t, y, yp, 1, scale);
    }
    if (evaluated < 2) fail_msg("%s: the test points cannot be evaluated", p->info->name);
    free(scale);
    free(y);
    free(yp);
}

static void every_jacobian_matches_differences(void **state)
{
    (void)state;
    for (int i = 0; i < dae_problem_count(); i++) {
        dae_problem *p = create(dae_problem_get(i)->name);
        if (has_jacobian(&p->system)) check_jacobian(p);
        else print_message("no analytic Jacobian: %s\n", p->info->name);
        dae_problem_destroy(p);
    }
}

/* Every index that a problem offers. */
static void every_index_form_has_a_right_jacobian(void **state)
{
    (void)state;
    for (int i = 0; i < dae_problem_count(); i++) {
        const dae_problem_info *info = dae_problem_get(i);
        const dae_parameter *par = info->parameter;
        while (par && par->name && strcmp(par->name, "index")) par++;
        if (!par || !par->name || par->choices) continue;
        for (int index = (int)par->min; index <= (int)par->max; index++) {
            char text[12];
            snprintf(text, sizeof text, "%d", index);
            dae_problem *p = dae_problem_create(info->name, &(dae_setting){"index", text}, 1, NULL);
            assert_non_null(p);
            assert_int_equal(dae_system_index(&p->system), index);
            if (has_jacobian(&p->system)) check_jacobian(p);
            dae_problem_destroy(p);
        }
    }
}

/* A value of the parameter that is not its default: 1 % more or less, or the next whole number. */
static void other_value(const dae_parameter *q, char *text, size_t size)
{
    double step = q->integer ? 1 : q->value != 0 ? 0.01 * q->value : 0.01;
    double x = q->value + step;
    if (q->min <= q->max && (x > q->max || x < q->min)) x = q->value - step;
    snprintf(text, size, "%.17g", x);
}

/* Everything that the functions of a mechanical system say at one point. */
static int evaluate_mech(const dae_mech *m, double t, const double *y, double *out)
{
    dae_mech_point x = {
        .t = t, .p = y, .v = y + m->np, .u = y + m->np + m->nv, .lambda = y + m->np + m->nv + m->nu};
    double *M = zeros((long)m->nv * m->nv), *G = zeros((long)m->nlambda * m->nv + 1), *w = zeros(m->nv);
    void *cache = m->cache_size ? calloc(1, m->cache_size) : NULL;
    x.cache = cache;
    int bad = m->force(&x, out, m->user);
    x.v = x.u = x.lambda = NULL;
    if (m->constraint) bad |= m->constraint(&x, m->ng ? out + m->nv : NULL, G, m->user);
    if (m->mass_fn) bad |= m->mass_fn(&x, M, m->user);
    for (int i = 0; i < m->nv; i++) w[i] = 1 + 0.1 * i;
    for (int i = 0; !m->mass_fn && i < m->nv; i++) M[0] += w[i] * dae_matrix_get(&m->mass, i, i);
    for (long i = 0; i < (long)m->nv * m->nv; i++) out[m->nv + m->ng] += M[i] * (1 + 1e-3 * (double)i);
    for (long i = 0; i < (long)m->nlambda * m->nv; i++)
        out[m->nv + m->ng + 1] += G[i] * (1 + 1e-3 * (double)i);
    free(M);
    free(G);
    free(w);
    free(cache);
    return bad;
}

static int evaluate_any(const dae_system *s, double t, const double *y, const double *yp, double *out)
{
    return s->kind == DAE_KIND_MECH ? evaluate_mech(&s->mech, t, y, out) : evaluate(s, t, y, yp, out);
}

/* 1 if the two problems differ: in size, kind, interval, start, M y' or in f near the start of the first. */
static int problems_differ(const dae_problem *a, const dae_problem *b)
{
    int n = dae_system_size(&a->system), differ = 0;
    if (n != dae_system_size(&b->system) || a->system.kind != b->system.kind) return 1;
    if (a->t0 != b->t0 || a->t_end != b->t_end || memcmp(a->y0, b->y0, (size_t)n * sizeof *a->y0)) return 1;
    if (dae_system_index(&a->system) != dae_system_index(&b->system)) return 1;
    if (a->ndiscontinuity != b->ndiscontinuity) return 1;
    for (int k = 0; k < a->ndiscontinuity; k++) differ |= a->discontinuity[k] != b->discontinuity[k];
    int more =
        a->system.kind == DAE_KIND_MECH ? a->system.mech.nlambda : 0; /* multipliers, behind the state */
    double *y = zeros(n + more), *yp = zeros(n), *fa = zeros(2L * n + 2), *fb = zeros(2L * n + 2);
    uint64_t seed = 4711;
    for (int point = 0; point < 20 && !differ; point++) {
        double t = a->t0 + (a->t_end - a->t0) * (0.5 + 0.5 * noise(&seed)), size = 0.002 * point;
        for (int j = 0; j < n; j++) {
            double unit = fmax(fabs(a->y0[j]), a->reference ? fabs(a->reference[j]) : 0);
            if (unit < 1e-100 || point > 14) unit = 1; /* also where small components are large */
            y[j] = (point % 2 && a->reference ? a->reference[j] : a->y0[j]) + size * unit * noise(&seed);
            yp[j] = unit * noise(&seed);
        }
        for (int j = 0; j < more; j++) y[n + j] = 1 + noise(&seed);
        memset(fa, 0, (2 * (size_t)n + 2) * sizeof *fa);
        memset(fb, 0, (2 * (size_t)n + 2) * sizeof *fb);
        if (evaluate_any(&a->system, t, y, yp, fa) || evaluate_any(&b->system, t, y, yp, fb)) continue;
        differ = memcmp(fa, fb, (2 * (size_t)n + 2) * sizeof *fa) != 0;
        if (a->system.kind != DAE_KIND_DAE) continue;
        dae_matrix_multiply(&a->system.dae.mass, n, yp, fa);
        dae_matrix_multiply(&b->system.dae.mass, n, yp, fb);
        differ |= memcmp(fa, fb, (size_t)n * sizeof *fa) != 0;
    }
    free(y);
    free(yp);
    free(fa);
    free(fb);
    return differ;
}

/* Each number of each problem, alone: another value changes the problem and takes its reference away; its default,
 * written out, changes no bit. */
static void every_parameter_changes_its_problem(void **state)
{
    (void)state;
    int count = 0, with = 0;
    for (int i = 0; i < dae_problem_count(); i++) {
        const dae_problem_info *info = dae_problem_get(i);
        dae_problem *standard = create(info->name);
        with += info->parameter != NULL;
        for (const dae_parameter *q = info->parameter; q && q->name; q++) {
            char text[64];
            dae_error err = {0};
            if (q->choices) continue; /* words: forms of the same problem, tested where they are */
            count++;
            other_value(q, text, sizeof text);
            dae_problem *p = dae_problem_create(info->name, &(dae_setting){q->name, text}, 1, &err);
            if (!p) fail_msg("%s with %s = %s: %s", info->name, q->name, text, err.text);
            if (!problems_differ(standard, p))
                fail_msg("%s: %s = %s changes nothing", info->name, q->name, text);
            if (!dae_problem_is_default(standard) || dae_problem_is_default(p))
                fail_msg("%s: default", info->name);
            if (p->reference && !q->integer && /* a closed solution may follow its parameters */
                !memcmp(p->reference, standard->reference,
                        (size_t)dae_system_size(&p->system) * sizeof(double)))
                fail_msg("%s: the same reference with %s = %s", info->name, q->name, text);
            if (has_jacobian(&p->system) && dae_system_size(&p->system) <= 50) check_jacobian(p);
            dae_problem_destroy(p);
            snprintf(text, sizeof text, "%.17g", q->value);
            p = dae_problem_create(info->name, &(dae_setting){q->name, text}, 1, &err);
            if (!p || problems_differ(standard, p))
                fail_msg("%s: %s = %s is no default", info->name, q->name, text);
            assert_true(!p->reference == !standard->reference);
            dae_problem_destroy(p);
        }
        dae_problem_destroy(standard);
    }
    print_message("%d parameters of %d problems\n", count, with);
}

static void every_time_derivative_matches_differences(void **state)
{
    (void)state;
    for (int i = 0; i < dae_problem_count(); i++) {
        dae_problem *p = create(dae_problem_get(i)->name);
        const dae_system *s = &p->system;
        dae_rhs *dfdt = s->kind == DAE_KIND_ODE ? s->ode.dfdt : s->kind == DAE_KIND_DAE ? s->dae.dfdt : NULL;
        void *user = s->kind == DAE_KIND_ODE ? s->ode.user : s->dae.user;
        int n = dae_system_size(s);
        double t = p->t0 + 0.3712 * (p->t_end - p->t0), delta = 1e-7 * (p->t_end - p->t0);
        double *f = zeros(n), *fp = zeros(n), *fm = zeros(n), size = 0;
        if (dfdt) {
            assert_int_equal(dfdt(t, p->y0, f, user) + evaluate(s, t + delta, p->y0, NULL, fp) +
                                 evaluate(s, t - delta, p->y0, NULL, fm),
                             0);
            for (int k = 0; k < n; k++) size = fmax(size, fabs(f[k]));
            for (int k = 0; k < n; k++) assert_near(f[k], (fp[k] - fm[k]) / (2 * delta), 1e-6 * size);
        }
        free(f);
        free(fp);
        free(fm);
        dae_problem_destroy(p);
    }
}

static void names_follow_the_pattern(void **state)
{
    (void)state;
    dae_problem *p = create("andrews");
    assert_string_equal(p->component[0], "q1");
    assert_string_equal(p->component[13], "v7");
    assert_string_equal(p->component[26], "lambda6");
    assert_string_equal(p->unit[7], "rad/s");
    dae_problem_destroy(p);
    p = create("caraxis");
    assert_string_equal(p->unit[3], "m");
    assert_string_equal(p->unit[9], "");
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(problem_find_takes_names_and_aliases),
        cmocka_unit_test(problem_names_are_unique),
        cmocka_unit_test(problem_create_hints_at_the_nearest_name),
        cmocka_unit_test(problem_parameters_are_checked),
        cmocka_unit_test(problem_parameters_change_the_system),
        cmocka_unit_test(every_parameter_changes_its_problem),
        cmocka_unit_test(andrews_forms_share_the_reference),
        cmocka_unit_test(transamp_refuses_large_exponents),
        cmocka_unit_test(nand_refuses_bulk_voltages_above_phi),
        cmocka_unit_test(nand_input_slopes_at_segment_ends),
        cmocka_unit_test(pump_input_ends_at_zero),
        cmocka_unit_test(kinetics_keep_their_invariants),
        cmocka_unit_test(plei_conserves_momentum),
        cmocka_unit_test(score_of_hand_made_numbers),
        cmocka_unit_test(score_of_exact_and_missing_values),
        cmocka_unit_test(every_problem_is_complete),
        cmocka_unit_test(every_problem_has_a_page),
        cmocka_unit_test(every_jacobian_matches_differences),
        cmocka_unit_test(every_index_form_has_a_right_jacobian),
        cmocka_unit_test(every_time_derivative_matches_differences),
        cmocka_unit_test(names_follow_the_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
