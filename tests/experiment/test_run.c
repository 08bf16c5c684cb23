/* One run and what is said about it: result, JSON, report, CSV, plot script, failure text. */
#include "test.h"

#include <daedalus/experiment.h>

#include <jansson.h>

/* ---- A plain user system: y' = (-y0, t), y(0) = (1, 0) --------------------------------------------- */

static int decay(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = -y[0];
    f[1] = t;
    return 0;
}

/* Cannot be evaluated beyond t = 0.5. */
static int wall(double t, const double *y, double *f, void *user)
{
    (void)user;
    if (t > 0.5) return 1;
    f[0] = -y[0];
    return 0;
}

/* y' = y^2 from 1: the solution ends at t = 1. */
static int blow_up(double t, const double *y, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = y[0] * y[0];
    return 0;
}

static const double ones[] = {1, 0};

static dae_problem plain(dae_rhs *f, int n, double t_end)
{
    dae_problem p = {.t_end = t_end, .y0 = ones, .rtol = 1e-9, .atol = 1e-9};
    p.system.kind = DAE_KIND_ODE;
    p.system.ode.n = n;
    p.system.ode.f = f;
    return p;
}

/* ---- Text in memory --------------------------------------------------------------------------------- */

typedef struct memory {
    char *text;
    size_t length;
} memory;

static int remember(const char *text, size_t length, void *user)
{
    memory *m = user;
    m->text = realloc(m->text, m->length + length + 1);
    assert_non_null(m->text);
    memcpy(m->text + m->length, text, length);
    m->length += length;
    m->text[m->length] = 0;
    return 0;
}

static int refuse(const char *text, size_t length, void *user)
{
    (void)text;
    (void)length;
    (void)user;
    return -1;
}

static json_t *json_of(const dae_run_result *r)
{
    memory m = {0};
    assert_int_equal(dae_run_json(r, remember, &m), DAE_OK);
    json_t *o = json_loads(m.text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(o);
    free(m.text);
    return o;
}

/* ---- Results ---------------------------------------------------------------------------------------- */

static void run_of_plain_system_gives_samples_and_end(void **state)
{
    (void)state;
    dae_problem p = plain(decay, 2, 2);
    dae_run_options o = dae_run_options_default(&p);
    double at[] = {1.5, 0, 0.5, 2}; /* any order */
    o.at = at;
    o.nat = 4;
    dae_run_result *r = dae_run(&p, &o, NULL);
    assert_non_null(r);
    assert_int_equal(r->status, DAE_OK);
    assert_near(r->last.t, 2, 0);
    assert_near(r->last.y[0], exp(-2), 1e-7);
    assert_near(r->last.y[1], 2, 1e-7);
    assert_int_equal(r->nat, 4);
    double sorted[] = {0, 0.5, 1.5, 2};
    for (int i = 0; i < 4; i++) {
        assert_near(r->at[i].t, sorted[i], 0);
        assert_near(r->at[i].y[0], exp(-sorted[i]), 1e-6);
    }
    assert_true(isnan(r->scd));
    assert_string_equal(r->name, "system");
    assert_true(r->reason[0] != 0);
    assert_true(r->stats.accepted > 0);
    dae_run_destroy(r);
}

static void run_refuses_times_outside_the_interval(void **state)
{
    (void)state;
    dae_problem p = plain(decay, 2, 2);
    dae_run_options o = dae_run_options_default(&p);
    o.at = (double[]){3};
    o.nat = 1;
    dae_run_result *r = dae_run(&p, &o, NULL);
    assert_int_equal(r->status, DAE_ERR_INPUT);
    assert_non_null(strstr(r->error.text, "3"));
    dae_run_destroy(r);
}

static void run_trajectory_is_ordered_and_accurate(void **state)
{
    (void)state;
    dae_problem p = plain(decay, 2, 2);
    dae_run_options o = dae_run_options_default(&p);
    o.trajectory = DAE_TRAJECTORY_STEPS;
    dae_run_result *r = dae_run(&p, &o, NULL);
    assert_int_equal(r->npoint, 1 + o.points * (int)r->stats.accepted);
    assert_near(r->point_t[0], 0, 0);
    assert_near(r->point_t[r->npoint - 1], 2, 0);
    for (int k = 1; k < r->npoint; k++) {
        assert_true(r->point_t[k] > r->point_t[k - 1]);
        assert_near(r->point_y[2 * k], exp(-r->point_t[k]), 1e-5);
    }
    dae_run_destroy(r);
}

static void run_equidistant_trajectory_hits_its_grid(void **state)
{
    (void)state;
    dae_problem p = plain(decay, 2, 2);
    dae_run_options o = dae_run_options_default(&p);
    o.trajectory = DAE_TRAJECTORY_EQUIDISTANT;
    o.points = 21;
    dae_run_result *r = dae_run(&p, &o, NULL);
    assert_int_equal(r->npoint, 21);
    for (int k = 0; k < 21; k++) assert_near(r->point_t[k], 0.1 * k, 1e-15 * 4);
    dae_run_destroy(r);
}

static void run_long_trajectory_is_thinned(void **state)
{
    (void)state;
    dae_problem p = plain(decay, 2, 2);
    dae_run_options o = dae_run_options_default(&p);
    o.options.h_max = 0.001;
    o.trajectory = DAE_TRAJECTORY_STEPS;
    o.max_values = 3 * 500;
    dae_run_result *r = dae_run(&p, &o, NULL);
    assert_true(r->stats.accepted >= 2000);
    assert_between(r->npoint, 200, 501);
    assert_true(r->thinned >= 16);
    assert_near(r->point_t[r->npoint - 1], 2, 0);
    for (int k = 1; k < r->npoint; k++) assert_true(r->point_t[k] > r->point_t[k - 1]);
    dae_run_destroy(r);
}

static void run_backwards_reaches_its_end(void **state)
{
    (void)state;
    dae_problem p = plain(decay, 2, -1);
    dae_run_options o = dae_run_options_default(&p);
    o.at = (double[]){-0.25, -0.75};
    o.nat = 2;
    o.trajectory = DAE_TRAJECTORY_EQUIDISTANT;
    o.points = 5;
    dae_run_result *r = dae_run(&p, &o, NULL);
    assert_int_equal(r->status, DAE_OK);
    assert_near(r->last.y[0], exp(1), 1e-6);
    assert_int_equal(r->nat, 2);
    assert_near(r->at[0].t, -0.25, 0);
    assert_int_equal(r->npoint, 5);
    dae_run_destroy(r);
}

static void run_scores_a_problem_at_its_own_end_only(void **state)
{
    (void)state;
    dae_problem *p = dae_problem_create("hires", NULL, 0, NULL);
    assert_non_null(p);
    dae_run_options o = dae_run_options_default(p);
    o.options.method = "radau5";
    dae_run_result *r = dae_run(p, &o, NULL);
    assert_int_equal(r->status, DAE_OK);
    dae_score score = dae_problem_score(p, &o.options, p->reference, r->last.y);
    assert_near(r->scd, score.scd, 0);
    assert_near(r->mescd, score.mescd, 0);
    assert_between(r->scd, 3, 12);
    dae_run_destroy(r);
    o.t_end = 100;
    r = dae_run(p, &o, NULL);
    assert_true(isnan(r->scd) && isnan(r->mescd));
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

static int stop_at_one(const dae_integrator *it, double t, double t_end, void *user)
{
    (void)it;
    (void)t_end;
    (void)user;
    return t > 1;
}

static void run_cancelled_by_progress_keeps_its_state(void **state)
{
    (void)state;
    dae_problem p = plain(decay, 2, 2);
    dae_run_options o = dae_run_options_default(&p);
    o.options.h_max = 0.01;
    o.progress = stop_at_one;
    dae_run_result *r = dae_run(&p, &o, NULL);
    assert_int_equal(r->status, DAE_CANCELLED);
    assert_between(r->last.t, 1, 1.02);
    assert_near(r->last.y[0], exp(-r->last.t), 1e-7);
    assert_string_equal(dae_run_status_word(r->status), "cancelled");
    dae_run_destroy(r);
}

static void run_resumed_from_checkpoint_gives_same_bits(void **state)
{
    (void)state;
    dae_problem *p = dae_problem_create("rober", NULL, 0, NULL);
    dae_run_options o = dae_run_options_default(p);
    o.options.method = "radau5";
    dae_run_result *whole = dae_run(p, &o, NULL);
    o.options.max_steps = 25;
    o.checkpoint = 1;
    dae_run_result *first = dae_run(p, &o, NULL);
    assert_int_equal(first->status, DAE_ERR_MAX_STEPS);
    assert_true(first->checkpoint_size > 0);
    o.options.max_steps = 0;
    o.resume = first->checkpoint;
    o.resume_size = first->checkpoint_size;
    dae_run_result *second = dae_run(p, &o, NULL);
    assert_int_equal(second->status, DAE_OK);
    assert_memory_equal(whole->last.y, second->last.y, 3 * sizeof(double));
    assert_int_equal(whole->stats.f, second->stats.f);
    dae_run_destroy(whole);
    dae_run_destroy(first);
    dae_run_destroy(second);
    dae_problem_destroy(p);
}

static void run_repeated_reports_how_often(void **state)
{
    (void)state;
    dae_problem p = plain(decay, 2, 2);
    dae_run_options o = dae_run_options_default(&p);
    o.repeat = 4;
    dae_run_result *r = dae_run(&p, &o, NULL);
    assert_int_equal(r->repeat, 4);
    assert_true(r->cpu_seconds >= 0);
    dae_run_destroy(r);
}

/* ---- Failures --------------------------------------------------------------------------------------- */

static void run_failure_names_place_and_remedy(void **state)
{
    (void)state;
    dae_problem p = plain(blow_up, 1, 2);
    static const char *const names[] = {"height"};
    p.component = names;
    dae_run_options o = dae_run_options_default(&p);
    o.options.method = "radau5";
    o.trajectory = DAE_TRAJECTORY_STEPS;
    dae_run_result *r = dae_run(&p, &o, NULL);
    assert_true(r->status < 0);
    assert_string_equal(dae_run_status_word(r->status), "failed");
    assert_between(r->last.t, 0.9, 1.1);
    assert_true(r->npoint > 1);
    memory m = {0};
    assert_int_equal(dae_run_failure(r, "r.csv", remember, &m), DAE_OK);
    const char *parts[] = {
        dae_status_name(r->status), "  what  ", "  where ", "height", "  why   ", "  try   ",
        "  kept    r.csv"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!strstr(m.text, parts[i])) fail_msg("\"%s\" is not in:\n%s", parts[i], m.text);
    }
    free(m.text);
    dae_run_destroy(r);
}

/* A bead pulled along x = 0.5 + t beyond the end of its wire x^2 + y^2 = 1; z moves freely. */
static int wire(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)user;
    if (g) g[0] = 0.5 * (x->p[0] * x->p[0] + x->p[1] * x->p[1] - 1), g[1] = x->p[0] - 0.5 - x->t;
    if (G) G[0] = x->p[0], G[1] = 1, G[2] = x->p[1];
    return 0;
}

static int pulled(const dae_mech_point *x, double *gI, void *user)
{
    (void)x, (void)user;
    gI[0] = 0;
    gI[1] = -1;
    return 0;
}

static int no_force(const dae_mech_point *x, double *f, void *user)
{
    (void)x, (void)user;
    f[0] = f[1] = f[2] = 0;
    return 0;
}

static void run_failure_names_the_pose(void **state)
{
    (void)state;
    static const double y0[6] = {0.5, 0.8660254037844386, 0, 1, -0.5773502691896258, 0.1};
    static const char *const names[] = {"bead.x", "bead.y", "bead.z", "vx", "vy", "vz"};
    dae_problem p = {.t_end = 1, .y0 = y0, .rtol = 1e-6, .atol = 1e-6, .component = names};
    p.system.kind = DAE_KIND_MECH;
    p.system.mech = (dae_mech){
        .np = 3, .nv = 3, .ng = 2, .nlambda = 2, .force = no_force, .constraint = wire, .velocity = pulled};
    dae_run_options o = dae_run_options_default(&p);
    o.options.method = "dopri5";
    o.options.formulation = "statespace";
    dae_run_result *r = dae_run(&p, &o, NULL);
    assert_true(r->status < 0);
    assert_non_null(strstr(r->form_text, "independent coordinates 3"));
    memory m = {0};
    assert_int_equal(dae_run_failure(r, NULL, remember, &m), DAE_OK);
    const char *parts[] = {"  pose    bead.x = 1, bead.y = ", ", bead.z = 0.05\n",
                           "singular configuration: constraint 1 depends", "--tend 0.4995"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!strstr(m.text, parts[i])) fail_msg("\"%s\" is not in:\n%s", parts[i], m.text);
    }
    free(m.text);
    dae_run_destroy(r);
}

static void run_failure_tells_of_undefined_equations(void **state)
{
    (void)state;
    dae_problem p = plain(wall, 1, 2);
    dae_run_options o = dae_run_options_default(&p);
    o.options.method = "radau5";
    dae_run_result *r = dae_run(&p, &o, NULL);
    assert_true(r->status < 0);
    assert_true(r->last.t <= 0.5);
    assert_true(r->stats.undefined > 0);
    json_t *j = json_of(r);
    assert_true(json_integer_value(json_object_get(j, "undefined")) == r->stats.undefined);
    assert_string_equal(json_string_value(json_object_get(j, "status")), "failed");
    assert_true(json_is_null(json_object_get(j, "scd")));
    json_decref(j);
    dae_run_destroy(r);
}

static void run_with_unknown_method_says_so(void **state)
{
    (void)state;
    dae_problem p = plain(decay, 2, 2);
    dae_run_options o = dae_run_options_default(&p);
    o.options.method = "radau6";
    dae_run_result *r = dae_run(&p, &o, NULL);
    assert_int_equal(r->status, DAE_ERR_INPUT);
    assert_int_equal(r->started, 0);
    json_t *j = json_of(r);
    assert_true(json_is_null(json_object_get(j, "y")));
    assert_string_equal(json_string_value(json_object_get(j, "status")), "input");
    json_decref(j);
    dae_run_destroy(r);
}

static void run_refuses_formulation_of_plain_system(void **state)
{
    (void)state;
    dae_problem p = plain(decay, 2, 2);
    dae_run_options o = dae_run_options_default(&p);
    o.options.formulation = "ggl";
    dae_run_result *r = dae_run(&p, &o, NULL);
    assert_int_equal(r->status, DAE_ERR_INPUT);
    dae_run_destroy(r);
}

/* ---- Forms ------------------------------------------------------------------------------------------ */

static void json_reads_back_bit_for_bit(void **state)
{
    (void)state;
    dae_problem *p = dae_problem_create("hires", NULL, 0, NULL);
    dae_run_options o = dae_run_options_default(p);
    o.at = (double[]){0.1, 100.0 / 3};
    o.nat = 2;
    dae_run_result *r = dae_run(p, &o, NULL);
    json_t *j = json_of(r), *y = json_object_get(j, "y"), *at = json_object_get(j, "at");
    static const char *const keys[] = {
        "problem",        "solver",      "formulation", "rtol", "atol",   "h0",
        "status",         "message",     "t",           "y",    "scd",    "mescd",
        "steps",          "accepted",    "rejected",    "f",    "jac",    "lu",
        "solves",         "cpu_seconds", "events",      "at",   "newton", "user_seconds",
        "linalg_seconds", "reason",      "undefined",   "t0"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!json_object_get(j, keys[i])) fail_msg("key %s is missing", keys[i]);
    }
    for (size_t i = 0; i < 8; i++) {
        double y_i = json_real_value(json_array_get(y, i));
        assert_memory_equal(&y_i, &r->last.y[i], sizeof y_i);
        double s = json_real_value(json_array_get(json_object_get(json_array_get(at, 1), "y"), i));
        assert_memory_equal(&s, &r->at[1].y[i], sizeof s);
    }
    double t1 = json_real_value(json_object_get(json_array_get(at, 1), "t")),
           rtol = json_real_value(json_object_get(j, "rtol"));
    assert_true(t1 == 100.0 / 3 && rtol == r->rtol);
    assert_true(json_is_null(json_object_get(j, "formulation")));
    json_decref(j);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

/* Seconds of a profile are told where one of the two was measured: explicit methods solve nothing. */
static void json_tells_profiles(void **state)
{
    static const double seconds[][2] = {{0, 0}, {3, 0}, {0, 2}, {0.5, 0.25}};
    (void)state;
    dae_problem *p = dae_problem_create("hires", NULL, 0, NULL);
    dae_run_options o = dae_run_options_default(p);
    dae_run_result *r = dae_run(p, &o, NULL);
    for (size_t k = 0; k < 4; k++) {
        r->stats.user_seconds = seconds[k][0], r->stats.linalg_seconds = seconds[k][1];
        json_t *j = json_of(r), *user = json_object_get(j, "user_seconds"),
               *linalg = json_object_get(j, "linalg_seconds");
        assert_int_equal(json_is_null(user), k == 0);
        assert_int_equal(json_is_null(linalg), k == 0);
        if (k > 0) assert_near(json_number_value(user), seconds[k][0], 0);
        if (k > 0) assert_near(json_number_value(linalg), seconds[k][1], 0);
        json_decref(j);
    }
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

static void csv_has_names_units_and_exact_numbers(void **state)
{
    (void)state;
    dae_problem p = plain(decay, 2, 2);
    static const char *const names[] = {"mass, total", "x"}, *const units[] = {"kg", "m"};
    p.component = names;
    p.unit = units;
    p.time_unit = "s";
    dae_run_options o = dae_run_options_default(&p);
    o.trajectory = DAE_TRAJECTORY_EQUIDISTANT;
    o.points = 11;
    dae_run_result *r = dae_run(&p, &o, NULL);
    memory m = {0};
    assert_int_equal(dae_run_csv(r, remember, &m), DAE_OK);
    static const char head[] = "t,\"mass, total\",x\n# s,kg,m\n";
    assert_memory_equal(m.text, head, strlen(head));
    const char *line = m.text + strlen(head);
    for (int k = 0; k < 11; k++) {
        double t, a, b;
        assert_int_equal(sscanf(line, "%lf,%lf,%lf", &t, &a, &b), 3);
        assert_true(t == r->point_t[k] && a == r->point_y[2 * k] && b == r->point_y[2 * k + 1]);
        line = strchr(line, '\n') + 1;
    }
    assert_int_equal(*line, 0);
    assert_int_equal(dae_run_csv(r, refuse, NULL), DAE_ERR_FILE);
    free(m.text);
    dae_run_destroy(r);
}

static void report_has_the_layout_of_the_test_set(void **state)
{
    (void)state;
    dae_problem *p = dae_problem_create("hires", NULL, 0, NULL);
    dae_run_options o = dae_run_options_default(p);
    o.at = (double[]){0, 12.5};
    o.nat = 2;
    dae_run_result *r = dae_run(p, &o, NULL);
    memory m = {0};
    assert_int_equal(dae_run_report(r, 0, remember, &m), DAE_OK);
    assert_non_null(strstr(m.text, "                 12.5\n"));
    char scd[64];
    snprintf(scd, sizeof scd, "%.2f\n", r->scd);
    const char *parts[] = {"Solving Problem hires using",
                           "solution component",
                           "mixed      abs      rel   mix - abs,rel",
                           "used components for scd",
                           "scd of Y (maximum norm)",
                           "using mixed error yields mescd",
                           "using relative error yields scd",
                           scd,
                           "Integration characteristics:",
                           "number of integration steps",
                           "number of accepted steps",
                           "number of f evaluations",
                           "number of Jacobian evaluations",
                           "number of LU decompositions",
                           "CPU-time used:"};
    const char *from = m.text;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        from = strstr(from, parts[i]);
        if (!from) fail_msg("\"%s\" is not in its place in:\n%s", parts[i], m.text);
    }
    free(m.text);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

static void report_of_many_components_shows_the_worst(void **state)
{
    (void)state;
    dae_problem *p = dae_problem_create("plei", NULL, 0, NULL);
    dae_run_options o = dae_run_options_default(p);
    dae_run_result *r = dae_run(p, &o, NULL);
    memory m = {0};
    dae_run_report(r, 5, remember, &m);
    assert_non_null(strstr(m.text, "and 23 more components"));
    char mescd[32];
    snprintf(mescd, sizeof mescd, "%.2f ",
             r->mescd); /* of the worst component, which must be among the five */
    assert_non_null(strstr(strstr(m.text, "-----    -----"), mescd));
    free(m.text);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

/* Sensors first; the slider's height and angle, rounding errors and zeros, are not drawn. */
static void plot_of_a_mechanism_shows_what_moves(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_open("models/slider_crank.json", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    dae_run_options o = dae_run_options_default(p);
    o.trajectory = DAE_TRAJECTORY_EQUIDISTANT;
    o.points = 51;
    dae_run_result *r = dae_run(p, &o, &err);
    assert_non_null(r);
    memory m = {0};
    assert_int_equal(dae_run_plot(r, "svg", remember, &m), DAE_OK);
    const char *sensor = strstr(m.text, "x_slider"), *crank = strstr(m.text, "crank.x");
    assert_true(sensor && crank && sensor < crank);
    assert_non_null(strstr(m.text, "Fy"));
    free(m.text);
    dae_run_destroy(r);
    dae_problem_destroy(p);
    p = dae_problem_open("models/rope.json", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    o = dae_run_options_default(p);
    o.trajectory = DAE_TRAJECTORY_EQUIDISTANT;
    o.points = 51;
    r = dae_run(p, &o, &err);
    assert_non_null(r);
    m = (memory){0};
    assert_int_equal(dae_run_plot(r, "svg", remember, &m), DAE_OK);
    assert_non_null(strstr(m.text, "bob.x"));
    assert_null(strstr(m.text, "bob.angle"));
    free(m.text);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

static void plot_groups_by_unit_and_size_and_quotes_names(void **state)
{
    (void)state;
    dae_problem p = plain(decay, 2, 2);
    static const char *const names[] = {"a\"b`c", "x"}, *const units[] = {"kg", "m"};
    p.component = names;
    p.unit = units;
    dae_run_options o = dae_run_options_default(&p);
    o.trajectory = DAE_TRAJECTORY_STEPS;
    dae_run_result *r = dae_run(&p, &o, NULL);
    memory m = {0};
    assert_int_equal(dae_run_plot(r, "svg", remember, &m), DAE_OK);
    assert_non_null(strstr(m.text, "layout 2,1"));
    assert_non_null(strstr(m.text, "a\\\"b\\`c [kg]"));
    assert_non_null(strstr(m.text, "set terminal svg"));
    free(m.text);
    dae_run_destroy(r);
    o.trajectory = DAE_TRAJECTORY_NONE;
    r = dae_run(&p, &o, NULL);
    m = (memory){0};
    assert_int_equal(dae_run_plot(r, "svg", remember, &m), DAE_ERR_INPUT);
    free(m.text);
    dae_run_destroy(r);
}

/* "auto" takes the mechanism behind andrews; the answer has the components of the DAE, consistent at all outputs. */
static void andrews_is_run_as_a_mechanism(void **state)
{
    static const struct {
        double rtol;
        const char *solver;
        double scd;
    } row[] = {{1e-3, "vern8", 2}, {1e-5, "vern8", 4}, {1e-7, "vern8", 6}, {1e-11, "vern9", 9.5}};
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_create("andrews", NULL, 0, &err);
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        dae_run_options o = dae_run_options_default(p);
        o.options.rtol = o.options.atol = row[k].rtol;
        o.at = (double[]){0, 0.011, 0.03};
        o.nat = 3;
        o.trajectory = DAE_TRAJECTORY_STEPS;
        dae_run_result *r = dae_run(p, &o, &err);
        assert_int_equal(r->status, DAE_OK);
        assert_string_equal(r->solver, row[k].solver);
        assert_string_equal(r->formulation, "index1");
        assert_int_equal(r->n, 27);
        assert_true(r->scd > row[k].scd);
        for (int i = 0; i < 27; i++) assert_near(r->at[0].y[i], p->y0[i], 1e-7 * (1 + fabs(p->y0[i])));
        for (int j = 0; j < 3; j++) { /* the DAE itself: all rows but q' and v' vanish */
            double f[27];
            p->system.dae.f(r->at[j].t, r->at[j].y, f, p->system.dae.user);
            for (int i = 14; i < 21; i++) assert_near(f[i], 0, row[k].rtol + 1e-9);
            for (int i = 21; i < 27; i++) assert_near(f[i], 0, row[k].rtol);
        }
        assert_near(r->point_y[(r->npoint - 1) * 27 + 26], r->last.y[26], 0);
        dae_run_destroy(r);
    }
    dae_problem_destroy(p);
    p = dae_problem_create("andrews", &(dae_setting){"index", "2"}, 1, &err);
    assert_null(p->mechanism); /* the form was asked for */
    dae_problem_destroy(p);
}

/* The error test of dassl and ida ends at index 1 (2): on systems of index 3 they say OK with no digit right. The result says so, and what it
 * names has digits and no warning. */
static void methods_above_their_index_warn_and_name_what_works(void **state)
{
    static const struct {
        const char *problem, *method, *form;
        double tol;
        double digits; /* 0: it warns */
    } c[] = {{"andrews", "dassl", NULL, 1e-4, 0},     {"andrews", "ida", NULL, 1e-4, 0},
             {"caraxis", "dassl", NULL, 1e-4, 0},     {"caraxis", "ida", NULL, 1e-4, 0},
             {"andrews", "bimd", NULL, 1e-4, 2},      {"caraxis", "bimd", NULL, 1e-4, 2},
             {"andrews", "gamd", NULL, 1e-4, 2},      {"caraxis", "gamd", NULL, 1e-4, 2},
             {"andrews", "radau5", NULL, 1e-5, 2},    {"caraxis", "radau5", NULL, 1e-5, 2},
             {"andrews", "radau", NULL, 1e-5, 2},     {"caraxis", "radau", NULL, 1e-5, 2},
             {"andrews", "mebdfi", NULL, 1e-5, 2},    {"caraxis", "mebdfi", NULL, 1e-5, 2},
             {"andrews", "dassl", "ggl", 1e-4, 1},    {"andrews", "ida", "ggl", 1e-4, 1},
             {"andrews", "dassl", "index2", 1e-4, 1}, {"andrews", "ida", "index2", 1e-4, 1},
             {"andrews", "dassl", "index1", 1e-4, 1}};
    (void)state;
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        if (!dae_method_find(c[k].method)) continue; /* a build without SUNDIALS */
        dae_error err = {0};
        dae_problem *p = dae_problem_create(c[k].problem, NULL, 0, &err);
        assert_non_null(p);
        dae_run_options o = dae_run_options_default(p);
        o.options.method = c[k].method;
        o.options.formulation = c[k].form;
        o.options.rtol = o.options.atol = c[k].tol;
        dae_run_result *r = dae_run(p, &o, &err);
        if (!r) fail_msg("%s", err.text);
        if (c[k].digits == 0) {
            assert_non_null(strstr(r->warnings, "index 3"));
            assert_non_null(strstr(r->warnings, "bimd or gamd, or radau5, radau or mebdfi"));
            assert_non_null(strstr(r->warnings, "ggl, index2 or index1"));
        } else {
            if (r->warnings[0]) fail_msg("%s by %s: %s", c[k].problem, c[k].method, r->warnings);
            assert_int_equal(r->status, DAE_OK);
            double digits = fmax(r->scd, r->mescd); /* positions of andrews, all of caraxis */
            if (!(digits > c[k].digits)) fail_msg("%s by %s: %g digits", c[k].problem, c[k].method, digits);
        }
        dae_run_destroy(r);
        dae_problem_destroy(p);
    }
}

static void a_run_without_options_has_the_default_ones(void **state)
{
    dae_error err = {0};
    (void)state;
    assert_null(dae_run(NULL, NULL, &err));
    assert_int_equal(err.status, DAE_ERR_INPUT);
    dae_problem *p = dae_problem_create("hires", NULL, 0, &err);
    dae_run_options o = dae_run_options_default(p);
    dae_run_result *r = dae_run(p, NULL, &err), *same = dae_run(p, &o, &err);
    assert_int_equal(r->status, DAE_OK);
    assert_int_equal(r->stats.steps, same->stats.steps);
    assert_true(r->scd == same->scd);
    dae_run_destroy(r);
    dae_run_destroy(same);
    dae_problem_destroy(p);
}

/* Seconds since 1970 are resolved to 4e-7: an hour at 1e-6 is fine, two seconds at 1e-9 are not, and the same from 0 are. */
static void clocks_that_are_too_coarse_warn(void **state)
{
    static const struct {
        double t0, length, rtol;
        int warns;
    } c[] = {{1.7e9, 2, 1e-9, 1},
             {1.7e9, 3600, 1e-6, 0},
             {0, 2, 1e-9, 0},
             {-1.7e9, 2, 1e-9, 1},
             {100, -2, 1e-9, 0}};
    (void)state;
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        char text[200];
        dae_error err = {0};
        snprintf(text, sizeof text,
                 "model clock\nvar y = 1\ny' = -y/3\nsolve t = %.17g .. %.17g, rtol = %g\n", c[k].t0,
                 c[k].t0 + c[k].length, c[k].rtol);
        dae_problem *p = dae_problem_open_text(text, strlen(text), "clock.deq", NULL, 0, &err);
        if (!p) fail_msg("%s", err.text);
        dae_run_result *r = dae_run(p, NULL, &err);
        if (!r) fail_msg("%s", err.text);
        assert_int_equal(r->status, DAE_OK);
        if (c[k].warns) assert_non_null(strstr(r->warnings, "let t begin near 0"));
        else assert_string_equal(r->warnings, "");
        dae_run_destroy(r);
        dae_problem_destroy(p);
    }
}

/* Sensors and reactions, and energies, are solved for at every point: for no column they are not. */
static int counted_columns, counted_energies;
static dae_derived real;

static int count_columns(const dae_problem *p, int count, const double *t, const double *y, const double *a,
                         const double *lambda, double *value)
{
    counted_columns++;
    return real.columns(p, count, t, y, a, lambda, value);
}

static int count_energies(const dae_problem *p, int count, const double *t, const double *y, dae_energy *out)
{
    counted_energies++;
    return real.energy(p, count, t, y, out);
}

static void only_columns_that_are_written_are_evaluated(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_open("models/slider_crank.json", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    real = p->derived;
    dae_run_options o = dae_run_options_default(p);
    o.trajectory = DAE_TRAJECTORY_EQUIDISTANT;
    o.points = 50;
    dae_run_result *r = dae_run(p, &o, &err);
    assert_non_null(r);
    dae_table *whole = dae_run_table_drift(r, &err);
    assert_non_null(whole);
    p->derived.columns = count_columns;
    p->derived.energy = count_energies;
    const char *sensor = real.column[0], *both[] = {p->component[3], sensor};
    char list[200];
    for (int k = 0; k < 3; k++) {
        snprintf(list, sizeof list, "%s%s%s", p->component[3], k ? "," : "",
                 k == 1 ? sensor
                 : k    ? "energy.total"
                        : "");
        counted_columns = counted_energies = 0;
        dae_table *t = dae_run_table_of(r, list, 1, &err);
        if (!t) fail_msg("%s", err.text);
        assert_int_equal(counted_columns, k == 1);
        assert_int_equal(counted_energies, k == 2);
        assert_int_equal(t->ncol, k ? 3 : 2);
        assert_int_equal(t->nrow, whole->nrow);
        for (int c = 0; c < t->ncol; c++) {
            int from = dae_table_find(whole, t->name[c]);
            assert_true(from >= 0);
            assert_string_equal(t->unit[c], whole->unit[from]);
            assert_memory_equal(t->value + c * t->nrow, whole->value + from * whole->nrow,
                                (size_t)t->nrow * sizeof *t->value);
        }
        if (k < 2) assert_string_equal(t->name[1 + k], both[k]);
        dae_table_destroy(t);
    }
    assert_null(dae_run_table_of(r, "no such column", 0, &err));
    assert_int_equal(err.status, DAE_ERR_INPUT);
    p->derived = real;
    dae_table_destroy(whole);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_of_plain_system_gives_samples_and_end),
        cmocka_unit_test(run_refuses_times_outside_the_interval),
        cmocka_unit_test(run_trajectory_is_ordered_and_accurate),
        cmocka_unit_test(run_equidistant_trajectory_hits_its_grid),
        cmocka_unit_test(run_long_trajectory_is_thinned),
        cmocka_unit_test(run_backwards_reaches_its_end),
        cmocka_unit_test(run_scores_a_problem_at_its_own_end_only),
        cmocka_unit_test(run_cancelled_by_progress_keeps_its_state),
        cmocka_unit_test(run_resumed_from_checkpoint_gives_same_bits),
        cmocka_unit_test(run_repeated_reports_how_often),
        cmocka_unit_test(run_failure_names_place_and_remedy),
        cmocka_unit_test(run_failure_names_the_pose),
        cmocka_unit_test(run_failure_tells_of_undefined_equations),
        cmocka_unit_test(run_with_unknown_method_says_so),
        cmocka_unit_test(run_refuses_formulation_of_plain_system),
        cmocka_unit_test(json_reads_back_bit_for_bit),
        cmocka_unit_test(json_tells_profiles),
        cmocka_unit_test(csv_has_names_units_and_exact_numbers),
        cmocka_unit_test(only_columns_that_are_written_are_evaluated),
        cmocka_unit_test(report_has_the_layout_of_the_test_set),
        cmocka_unit_test(report_of_many_components_shows_the_worst),
        cmocka_unit_test(plot_of_a_mechanism_shows_what_moves),
        cmocka_unit_test(plot_groups_by_unit_and_size_and_quotes_names),
        cmocka_unit_test(andrews_is_run_as_a_mechanism),
        cmocka_unit_test(methods_above_their_index_warn_and_name_what_works),
        cmocka_unit_test(clocks_that_are_too_coarse_warn),
        cmocka_unit_test(a_run_without_options_has_the_default_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
