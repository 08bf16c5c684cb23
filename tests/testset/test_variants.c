/* Problems with parameters away from their defaults: created, consistent at the start, exact Jacobians. */
#include "test.h"

#include <daedalus/daedalus.h>
#include <daedalus/problem.h>

#include "core/matrix.h"

static dae_problem *create(const char *name, const char *settings)
{
    char text[200];
    dae_setting setting[8];
    int n = 0;
    dae_error err = {0};
    snprintf(text, sizeof text, "%s", settings);
    for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
        char *value = strchr(word, '=');
        *value = 0;
        setting[n++] = (dae_setting){word, value + 1};
    }
    dae_problem *p = dae_problem_create(name, setting, n, &err);
    if (!p) fail_msg("%s (%s): %s", name, settings, err.text);
    return p;
}

/* f, or the residual with y' = yp. */
static void evaluate(const dae_problem *p, double t, const double *y, const double *yp, double *f)
{
    const dae_system *s = &p->system;
    int r = s->kind == DAE_KIND_ODE   ? s->ode.f(t, y, f, s->ode.user)
            : s->kind == DAE_KIND_DAE ? s->dae.f(t, y, f, s->dae.user)
                                      : s->ide.residual(t, y, yp, f, s->ide.user);
    assert_int_equal(r, 0);
}

/* max |M y' - f| or |F| at the start */
static double start_residual(const dae_problem *p)
{
    int n = dae_system_size(&p->system);
    double *f = calloc((size_t)n, sizeof *f), *My = calloc((size_t)n, sizeof *My), most = 0;
    evaluate(p, p->t0, p->y0, p->yp0, f);
    if (p->system.kind == DAE_KIND_DAE) dae_matrix_multiply(&p->system.dae.mass, n, p->yp0, My);
    for (int i = 0; i < n; i++) most = fmax(most, fabs(f[i] - My[i]));
    free(f);
    free(My);
    return most;
}

/* The Jacobian near the start, times a vector, against a difference of fourth order in its direction. */
static void check_jacobian(const dae_problem *p, double t, double scale, const char *what)
{
    const dae_system *s = &p->system;
    int n = dae_system_size(s);
    size_t count = (size_t)dae_pattern_count(&s->structure.jacobian, n), size = (size_t)n;
    double *jac = calloc(count, sizeof *jac), *w = calloc(9 * size, sizeof *w);
    double *y = w, *v = w + size, *yp = w + 2 * size, *x = w + 3 * size, *Jv = w + 4 * size;
    double *f = w + 5 * size;
    unsigned seed = 11;
    for (int i = 0; i < n; i++) {
        double r[2];
        for (int k = 0; k < 2; k++) {
            seed = seed * 1103515245u + 12345u;
            r[k] = (double)(seed >> 16 & 0x7fff) / 0x7fff - 0.5;
        }
        double unit = fabs(p->y0[i]) + scale;
        y[i] = p->y0[i] + 0.02 * unit * r[0];
        v[i] = unit * r[1];
        yp[i] = p->yp0 ? p->yp0[i] : 0;
    }
    int r = s->kind == DAE_KIND_ODE   ? s->ode.jac(t, y, jac, s->ode.user)
            : s->kind == DAE_KIND_DAE ? s->dae.jac(t, y, jac, s->dae.user)
                                      : s->ide.dfdy(t, y, yp, jac, s->ide.user);
    assert_int_equal(r, 0);
    dae_matrix J = {.n = n, .pattern = s->structure.jacobian, .a = jac};
    dae_matrix_multiply(&J, n, v, Jv);
    static const double at[4] = {-2, -1, 1, 2};
    double h = 1e-4;
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < n; i++) x[i] = y[i] + at[k] * h * v[i];
        evaluate(p, t, x, yp, f + (size_t)k * size);
    }
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(Jv[i]));
    for (int i = 0; i < n; i++) {
        double d = (8 * (f[2 * n + i] - f[n + i]) - (f[3 * n + i] - f[i])) / (12 * h);
        if (!(fabs(d - Jv[i]) <= 1e-7 * fabs(Jv[i]) + 1e-11 * most)) {
            fail_msg("%s: component %d of J v is %.12g, differences say %.12g", what, i + 1, Jv[i], d);
        }
    }
    free(jac);
    free(w);
}

static void crank_starts_consistently_in_all_forms(void **state)
{
    (void)state;
    for (int k = 0; k < 24; k++) {
        char settings[100];
        snprintf(settings, sizeof settings, "index=%d,beam=%s,damping=%d,initial=%s", 1 + k % 3,
                 k / 3 % 2 ? "nonlinear" : "linear", k / 6 % 2, k / 12 ? "rigid" : "smooth");
        dae_problem *p = create("crank", settings);
        double residual = start_residual(p);
        /* the given accelerations were made with another pi: 2.3e-7 in row 20 */
        if (!(residual < 3e-7)) fail_msg("crank %s: residual %g at the start", settings, residual);
        assert_int_equal(dae_system_index(&p->system), 1 + k % 3);
        check_jacobian(p, 0.03, 1e-3, settings);
        dae_problem_destroy(p);
    }
}

/* Another motion of the crank: the same in all three forms, and as a mechanism. */
static void crank_follows_another_motion(void **state)
{
    (void)state;
    double end[4][24], t = 0.02, phi1 = 150 * t + 300 * t * t / 2 + 0.05 * (1 - cos(200 * t));
    for (int k = 0; k < 4; k++) {
        char settings[100];
        snprintf(settings, sizeof settings, "index=%d,alpha=300,ripple=0.05,nu=200", k < 3 ? 1 + k : 3);
        dae_problem *p = create("crank", settings);
        assert_true(start_residual(p) < 1e-9);
        assert_null(p->reference);
        if (k < 3) check_jacobian(p, 0.013, 1e-3, settings);
        dae_options o = dae_options_default();
        dae_error err = {0};
        o.method = k < 3 ? "radau" : "phem56";
        o.rtol = o.atol = 1e-9;
        const dae_system *s = k < 3 ? &p->system : p->mechanism;
        memcpy(end[k], p->y0, sizeof end[k]);
        if (dae_solve(s, &o, 0, t, end[k], NULL, &err) < 0) fail_msg("%s: %s", settings, err.text);
        assert_near(end[k][0], phi1, 1e-8);
        for (int i = 0; i < 3; i++) assert_near(end[k][i], end[0][i], 1e-7);
        dae_problem_destroy(p);
    }
}

static void ringmod_without_capacitance_is_a_dae_of_index_2(void **state)
{
    (void)state;
    dae_problem *p = create("ringmod", "Cs=0");
    assert_int_equal(p->system.kind, DAE_KIND_DAE);
    assert_int_equal(dae_system_index(&p->system), 2);
    for (int i = 0; i < 15; i++) {
        assert_true(dae_matrix_get(&p->system.dae.mass, i, i) == (i < 2 || i > 5 ? 1 : 0));
    }
    assert_null(p->reference);
    check_jacobian(p, 1e-4, 0.1, "ringmod");
    dae_problem_destroy(p);
}

static void sizes_can_be_chosen(void **state)
{
    (void)state;
    static const struct {
        const char *name, *settings;
        int n;
        double t, scale;
    } sizes[] = {{"medakzo", "N=3", 6, 1, 0.1},  {"medakzo", "N=37", 74, 6, 0.1},
                 {"beam", "n=3", 6, 1, 0.1},     {"beam", "n=17", 34, 4, 0.1},
                 {"fekete", "N=2", 16, 1, 0.01}, {"fekete", "N=7", 56, 1, 0.01}};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        dae_problem *p = create(sizes[k].name, sizes[k].settings);
        assert_int_equal(dae_system_size(&p->system), sizes[k].n);
        assert_null(p->reference);
        if (p->system.kind == DAE_KIND_DAE) assert_true(start_residual(p) < 1e-12);
        for (int i = 0; i < p->nplot; i++) assert_in_range(p->plot[i], 0, sizes[k].n - 1);
        check_jacobian(p, sizes[k].t, sizes[k].scale, sizes[k].name);
        dae_problem_destroy(p);
    }
}

/* Lengths, masses, spring and motor of the seven bodies: the start is assembled anew, the Jacobian stays exact, and the form of
 * the MEXX report, which is code of its own, comes to the same end. */
static void andrews_takes_other_constants(void **state)
{
    (void)state;
    static const char other[] = "d=0.0285,m3=0.03,c0=4000,I5=1.3e-5,ea=0.0135,mom=0.03";
    char settings[200];
    for (int index = 1; index <= 3; index++) {
        snprintf(settings, sizeof settings, "index=%d,%s", index, other);
        dae_problem *p = create("andrews", settings);
        assert_null(p->reference);
        assert_true(start_residual(p) < 1e-11);
        assert_true(fabs(p->y0[14] - 14222.44) > 100);
        check_jacobian(p, 0, 0.1, settings);
        dae_problem_destroy(p);
    }
    dae_problem *p = create("andrews", other), *q = create("seven-body", other);
    dae_options o = dae_options_default();
    dae_error err = {0};
    double y[27], z[14];
    memcpy(y, p->y0, sizeof y);
    memcpy(z, q->y0, sizeof z);
    o.rtol = o.atol = 1e-11;
    o.method = "radau";
    assert_int_equal(dae_solve(&p->system, &o, 0, 0.01, y, NULL, &err), DAE_OK);
    o.method = "mexx";
    assert_int_equal(dae_solve(&q->system, &o, 0, 0.01, z, NULL, &err), DAE_OK);
    for (int i = 0; i < 7; i++) assert_near(y[i], z[i], 1e-8); /* radau at index 3: some hundred tolerances */
    dae_problem_destroy(p);
    dae_problem_destroy(q);
    assert_null(dae_problem_create("andrews", &(dae_setting){"d", "0.2"}, 1, &err));
    assert_int_equal(err.status, DAE_ERR_INCONSISTENT);
}

/* The assembled start of nearly the given constants is the printed one, to 15 digits. */
static void andrews_start_is_the_published_one(void **state)
{
    (void)state;
    dae_problem *p = create("andrews", ""), *q = create("andrews", "c0=4530.0000000001");
    for (int i = 0; i < 27; i++) assert_near(q->y0[i], p->y0[i], 2e-13 * fabs(p->y0[i]) + 1e-10);
    dae_problem_destroy(p);
    dae_problem_destroy(q);
}

/* The wheels are set on the rails anew, and what was printed comes out for constants that are nearly the given ones: to the
 * digits that it has. */
static void wheel_takes_other_constants(void **state)
{
    (void)state;
    static const char *const other[] = {"mR=20,I1=0.05,mu=0.3,delta0=0.04,rho0=0.12,rho1=0.08,a0=0.16",
                                        "kappa=0.02,alpha=0.05,v0=20,mA=5,FA=10,LA=0.3",
                                        "kappa=-0.05,alpha=-0.1,mA=2,hA=0.5,C=1e3,cz=3000"};
    for (int k = 0; k < 6; k++) {
        char settings[200];
        snprintf(settings, sizeof settings, "index=%d,%s", 2 + k % 2, other[k / 2]);
        dae_problem *p = create("wheel", settings);
        assert_null(p->reference);
        assert_true(start_residual(p) < 1e-10);
        check_jacobian(p, 0, 1e-6, settings);
        dae_problem_destroy(p);
    }
    dae_problem *p = create("wheel", ""), *q = create("wheel", "mR=16.0800000000001");
    assert_non_null(p->reference);
    for (int i = 0; i < 17; i++) assert_near(q->y0[i], p->y0[i], 5e-5 * fabs(p->y0[i]) + 1e-12);
    for (int i = 5; i < 11; i++)
        assert_near(q->yp0[i], p->yp0[i], 4e-3 * fabs(p->yp0[i]) + 2e-4); /* lambda has five */
    dae_problem_destroy(p);
    dae_problem_destroy(q);
    dae_error err = {0};
    assert_null(dae_problem_create("wheel", &(dae_setting){"a0", "5"}, 1, &err));
    assert_non_null(strstr(err.text, "no place on the rails"));
}

/* c = a b for matrices of 3 x 3 by rows; the turn by an angle about axis 2 (yaw), 3 (roll). */
static void product(const double *a, const double *b, double *c)
{
    for (int i = 0; i < 9; i++) c[i] = 0;
    for (int i = 0; i < 27; i++)
        c[i / 3 / 3 * 3 + i % 3] += a[i / 3 / 3 * 3 + i / 3 % 3] * b[i / 3 % 3 * 3 + i % 3];
}

static void turn(int axis, double angle, double *r)
{
    double c = cos(angle), s = sin(angle);
    const double yaw[9] = {c, 0, s, 0, 1, 0, -s, 0, c}, roll[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
    memcpy(r, axis == 2 ? yaw : roll, sizeof yaw);
}

/* An axle that moves freely over a curved, tilted track: p(t), beta(t) are given polynomials. */
static const double V0 = 20, KAPPA = 0.02, ALPHA = 0.3, SPIN = 200, INERTIA[2] = {0.0605, 0.366};

static void motion(double t, double *u, double *up)
{
    static const double at[5] = {0.001, 0.0003, 0.002, 0.03, 0.02}, rate[5] = {0.3, -0.2, 0.4, 0.5, -0.7},
                        curve[5] = {2, -3, 1, 4, 5};
    for (int i = 0; i < 5; i++) {
        u[i] = at[i] + t * (rate[i] + t * curve[i] / 2);
        up[i] = u[5 + i] = rate[i] + t * curve[i];
        up[5 + i] = curve[i];
    }
    u[10] = 0.7 - 6 * t;
    up[10] = -6;
}

/* Place and angular momentum of the axle in a frame at rest, and the axes of track and axle there. The track runs on a
 * circle about an axis n and turns by -v0 kappa t. */
static void seen_from_rest(double t, double *place, double *momentum, double *track, double *axle)
{
    double u[17] = {0}, up[17], tilt[9], back[9], about[9], yaw[9], roll[9], h[9], Omega[3];
    motion(t, u, up);
    /* the axis n = (sin alpha, cos alpha, 0) becomes axis 2, about which the track turns */
    turn(3, ALPHA, tilt);
    turn(3, -ALPHA, back);
    turn(2, -V0 * KAPPA * t, about);
    product(about, tilt, h);
    product(back, h, track);
    turn(2, u[3], yaw);
    turn(3, u[4], roll);
    product(yaw, roll, h);
    product(track, h, axle);
    /* the origin of the track: a circle whose centre lies at -e/kappa, e = (cos alpha, -sin alpha, 0) */
    const double e[3] = {cos(ALPHA), -sin(ALPHA), 0}, n[3] = {sin(ALPHA), cos(ALPHA), 0};
    for (int i = 0; i < 3; i++) {
        double r = 0;
        for (int j = 0; j < 3; j++) r += track[3 * i + j] * (u[j] + e[j] / KAPPA);
        place[i] = r - e[i] / KAPPA;
    }
    const double w = -V0 * KAPPA;
    double spun[3] = {u[8] * sin(u[4]), u[8] * cos(u[4]), u[9]};
    for (int i = 0; i < 3; i++) { /* n in the axes of the axle: yaw and roll backwards */
        double in = 0;
        product(yaw, roll, h);
        for (int j = 0; j < 3; j++) in += h[3 * j + i] * n[j];
        Omega[i] = spun[i] + w * in;
    }
    for (int i = 0; i < 3; i++) {
        momentum[i] = axle[3 * i] * INERTIA[0] * (SPIN + u[10] + Omega[0]);
        for (int j = 1; j < 3; j++) momentum[i] += axle[3 * i + j] * INERTIA[1] * Omega[j];
    }
}

/* The terms of the curved track: mass times acceleration and the rate of the angular momentum, by differences in a frame at
 * rest, are the forces and moments that the problem is left with when friction, springs and weight are nearly gone. */
static void wheel_on_a_curve_obeys_newton_and_euler(void **state)
{
    (void)state;
    dae_problem *p = create("wheel", "kappa=0.02,alpha=0.3,v0=20,g=1e-3,cx=0,cz=0,mu=1e-9");
    double u[17], up[17] = {0}, F[17];
    memcpy(u, p->y0, sizeof u);
    motion(0, u, up);
    u[15] = u[16] = -1e-12; /* nearly no contact force */
    assert_int_equal(p->system.ide.residual(0, u, up, F, p->system.ide.user), 0);
    double place[5][3], momentum[5][3], track[9], axle[9], h = 1e-3, mR = 16.08;
    for (int k = 0; k < 5; k++) seen_from_rest((k - 2) * h, place[k], momentum[k], track, axle);
    seen_from_rest(0, place[2], momentum[2], track, axle);
    double a[3], dL[3];
    for (int i = 0; i < 3; i++) {
        a[i] = (-place[0][i] + 16 * place[1][i] - 30 * place[2][i] + 16 * place[3][i] - place[4][i]) /
               (12 * h * h);
        dL[i] = (momentum[0][i] - 8 * momentum[1][i] + 8 * momentum[3][i] - momentum[4][i]) / (12 * h);
    }
    for (int j = 0; j < 3; j++) {
        double force = 0, moment = 0;
        for (int i = 0; i < 3; i++) force += mR * a[i] * track[3 * i + j], moment += dL[i] * axle[3 * i + j];
        double weight = j == 0 ? -mR * 1e-3 * sin(ALPHA) : j == 1 ? -mR * 1e-3 * cos(ALPHA) : 0;
        assert_near(F[5 + j], force - weight, 1e-6 * mR * V0 * V0 * KAPPA);
        /* rows 8, 9, 10 are about the axes 2, 3, 1 of the axle */
        assert_near(F[j == 0 ? 10 : 7 + j], moment, 1e-6 * INERTIA[0] * SPIN);
    }
    dae_problem_destroy(p);
}

static void circuits_and_chemistry_take_other_constants(void **state)
{
    (void)state;
    static const struct {
        const char *name, *settings;
        double t, scale;
    } x[] = {{"tba", "VDD=4.5,COUT=3,IS=1e-9,gamma=0.04,beta=8,CGS=0.5", 7, 0.1},
             {"emep", "T=290,HMIX=1e5,k11=2e-12,J3=2e-5,latitude=45", 40000, 1e6}};
    for (size_t k = 0; k < sizeof x / sizeof *x; k++) {
        dae_problem *p = create(x[k].name, x[k].settings), *same = create(x[k].name, "");
        int n = dae_system_size(&p->system);
        double *f = calloc(2 * (size_t)n, sizeof *f), most = 0;
        assert_null(p->reference);
        assert_non_null(same->reference);
        evaluate(p, x[k].t, p->y0, NULL, f);
        evaluate(same, x[k].t, p->y0, NULL, f + n);
        for (int i = 0; i < n; i++) most = fmax(most, fabs(f[i] - f[n + i]));
        assert_true(most > 0);
        check_jacobian(p, x[k].t, x[k].scale, x[k].name);
        free(f);
        dae_problem_destroy(p);
        dae_problem_destroy(same);
    }
}

/* Statics hold for any masses: the truck stands still until the road moves. */
static void truck_rests_with_other_constants(void **state)
{
    (void)state;
    dae_problem *p = create("truck", "m_load=9000,k_seat=2e4,A_rear=0.14,xh=-1.9,g=9.7");
    const dae_mech *m = &p->system.mech;
    double f[11], G[11] = {0}, most = 0;
    dae_mech_point at = {.t = 0, .p = p->y0, .v = p->y0 + 11};
    assert_null(p->reference);
    assert_int_equal(m->force(&at, f, m->user), 0);
    assert_int_equal(m->constraint(&at, NULL, G, m->user), 0);
    double lambda = f[9] / G[9]; /* the load hangs on its spring and on the hinge */
    for (int i = 0; i < 11; i++) most = fmax(most, fabs(f[i] - lambda * G[i]));
    assert_true(fabs(lambda) > 1e4);
    assert_true(most < 1e-8);
    dae_problem_destroy(p);
}

/* The adder's and the gate's inputs, and what flows into the tubes, beside the solution. */
static void inputs_stand_beside_outputs(void **state)
{
    (void)state;
    static const struct {
        const char *name, *column;
        double t, value;
    } x[] = {{"nand", "V1", 7.5, 2.5}, {"nand", "V2", 17, 2},
             {"nand", "V2", 30, 5},    {"tba", "V1", 2.5, 2.5},
             {"tba", "V2", 12, 2},     {"tba", "Cin", 160, 5},
             {"water", "in_1", 0, 0},  {"water", "out_10", 3600, 631e-6}};
    for (size_t k = 0; k < sizeof x / sizeof *x; k++) {
        dae_problem *p = create(x[k].name, "");
        double value[8] = {0};
        int i = 0;
        while (i < p->derived.ncolumn && strcmp(p->derived.column[i], x[k].column) != 0) i++;
        assert_true(i < p->derived.ncolumn);
        assert_int_equal(p->derived.columns(p, 1, &x[k].t, p->y0, NULL, NULL, value), 0);
        assert_near(value[i], x[k].value, 1e-12);
        dae_problem_destroy(p);
    }
}

static void wheel_has_two_forms(void **state)
{
    (void)state;
    for (int index = 2; index <= 3; index++) {
        char settings[20];
        snprintf(settings, sizeof settings, "index=%d", index);
        dae_problem *p = create("wheel", settings);
        assert_int_equal(dae_system_index(&p->system), index);
        assert_true(start_residual(p) < 1e-12); /* index 3: 5e-10 as given */
        dae_problem_destroy(p);
    }
}

/* States outside the domain are refused, not computed. */
static void states_without_a_value_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int component;
        double value;
    } outside[] = {{"ringmod", 2, 50}, {"chemakzo", 1, -1e-9}, {"water", 20, -0.01},
                   {"wheel", 12, 5},   {"wheel", 0, 0.1},      {"pump", 6, -2}};
    for (size_t k = 0; k < sizeof outside / sizeof outside[0]; k++) {
        dae_problem *p = create(outside[k].name, "");
        const dae_system *s = &p->system;
        double y[64], f[64], jac[2500];
        memcpy(y, p->y0, (size_t)dae_system_size(s) * sizeof *y);
        y[outside[k].component] = outside[k].value;
        int r, rj;
        if (s->kind == DAE_KIND_IDE) {
            r = s->ide.residual(0, y, p->yp0, f, s->ide.user);
            rj = s->ide.dfdy(0, y, p->yp0, jac, s->ide.user);
        } else if (s->kind == DAE_KIND_DAE) {
            r = s->dae.f(0, y, f, s->dae.user);
            rj = s->dae.jac(0, y, jac, s->dae.user);
        } else {
            r = s->ode.f(0, y, f, s->ode.user);
            rj = s->ode.jac(0, y, jac, s->ode.user);
        }
        if (r != 1 || rj != 1) fail_msg("%s: returned %d and %d outside its domain", outside[k].name, r, rj);
        dae_problem_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(andrews_takes_other_constants),
        cmocka_unit_test(andrews_start_is_the_published_one),
        cmocka_unit_test(wheel_takes_other_constants),
        cmocka_unit_test(wheel_on_a_curve_obeys_newton_and_euler),
        cmocka_unit_test(circuits_and_chemistry_take_other_constants),
        cmocka_unit_test(truck_rests_with_other_constants),
        cmocka_unit_test(inputs_stand_beside_outputs),
        cmocka_unit_test(crank_starts_consistently_in_all_forms),
        cmocka_unit_test(crank_follows_another_motion),
        cmocka_unit_test(ringmod_without_capacitance_is_a_dae_of_index_2),
        cmocka_unit_test(sizes_can_be_chosen),
        cmocka_unit_test(wheel_has_two_forms),
        cmocka_unit_test(states_without_a_value_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
