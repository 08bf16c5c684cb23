/* Stick, slip and rest against closed solutions. */
#include "mechanics.h"
#include "slider_crank.h"

#include "multibody/mechanism.h"

#define G 9.81
#define PI 3.14159265358979323846

/* A model as text, run to its end; the result has a point every 0.01 s and at the end. */
typedef struct motion {
    dae_problem *p;
    dae_run_result *r;
    double t;
    const double *y; /* at the end */
} motion;

static motion run(const char *json, const char *method)
{
    dae_error err = {0};
    mbs_model *m = mbs_model_parse(json, strlen(json), NULL, 0, &err);
    if (!m) fail_msg("%s", err.text);
    motion o = {.p = mbs_problem_create(m, &err)};
    if (!o.p) fail_msg("%s", err.text);
    mbs_model_destroy(m);
    dae_run_options options = dae_run_options_default(o.p);
    options.options.method = method;
    options.trajectory = DAE_TRAJECTORY_STEPS;
    o.r = dae_run(o.p, &options, &err);
    if (!o.r || o.r->status < 0) fail_msg("%s", o.r ? o.r->error.text : err.text);
    o.t = o.r->point_t[o.r->npoint - 1];
    o.y = o.r->point_y + (size_t)(o.r->npoint - 1) * (size_t)o.r->n;
    return o;
}

static void done(motion *o)
{
    dae_run_destroy(o->r);
    dae_problem_destroy(o->p);
}

static int count(const motion *o, const char *name)
{
    int n = 0;
    for (int k = 0; k < o->r->nevent; k++) n += !strcmp(o->r->event_name[o->r->event[k].index], name);
    return n;
}

static double time_of(const motion *o, const char *name, int which)
{
    for (int k = 0; k < o->r->nevent; k++) {
        if (!strcmp(o->r->event_name[o->r->event[k].index], name) && which-- == 0) return o->r->event[k].t;
    }
    fail_msg("there is no event %s", name);
    return NAN;
}

/* A block on an incline of 30 degrees, friction mu, first speed v up the incline (along the axis, x). */
static motion incline(double mu, double mu_static, double v, const char *force, const char *method)
{
    char json[2000];
    snprintf(json, sizeof json,
             "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"incline\",\"dimension\":2,"
             "\"gravity\":[%.17g,%.17g],"
             "\"bodies\":[{\"name\":\"block\",\"mass\":3,\"inertia\":1,\"v\":[%.17g,0]}],"
             "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},{\"name\":\"S\",\"body\":"
             "\"block\",\"r\":[0,0]}],"
             "\"joints\":[{\"name\":\"slide\",\"type\":\"prismatic\",\"a\":\"O\",\"b\":\"S\","
             "\"friction\":{\"mu\":%.17g,\"mu_static\":%.17g,\"stick\":\"1000[1/s]\"}}]%s,"
             "\"simulation\":{\"t1\":2,\"rtol\":1e-9,\"atol\":1e-11}}",
             -G * sin(PI / 6), -G * cos(PI / 6), v, mu, mu_static > 0 ? mu_static : mu, force);
    return run(json, method);
}

static void block_sticks_if_mu_exceeds_the_slope(void **state)
{
    (void)state;
    static const char *const methods[] = {"mexx", "dopri5", "radau5"};
    for (int k = 0; k < 3; k++) { /* tan(30 deg) = 0.577 */
        motion o = incline(0.6, 0, 0, "", methods[k]);
        assert_near(o.t, 2, 1e-12);
        assert_near(o.y[0], 0, 1e-12); /* not even creep: the anchor takes the load from the first moment */
        assert_near(o.y[3], 0, 1e-11); /* atol: an explicit method stands on its grip of 1000 1/s within it */
        assert_int_equal(o.r->nevent, 0);
        done(&o);
    }
}

static void block_slides_if_it_does_not(void **state)
{
    (void)state;
    motion o = incline(0.5, 0, 0, "", "mexx");
    double a = -G * (sin(PI / 6) - 0.5 * cos(PI / 6));
    assert_near(o.y[3], 2 * a, 1e-8);
    assert_near(o.y[0], 2 * a, 1e-8); /* a t^2/2 */
    done(&o);
}

/* Up with deceleration g (sin + mu cos); at the top it stays or comes down with g (sin - mu cos). */
static void block_thrown_up_stays_or_returns(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        double mu = k ? 0.3 : 0.7, up = G * (sin(PI / 6) + mu * cos(PI / 6)), top = 4 / up;
        double down = G * (sin(PI / 6) - mu * cos(PI / 6)), height = 16 / (2 * up), rest = 2 - top;
        motion o = incline(mu, 0, 4, "", k ? "radau5" : "mexx");
        assert_near(time_of(&o, "slide.stops", 0), top, 1e-8);
        assert_near(o.y[0], k ? height - down * rest * rest / 2 : height, 1e-7);
        assert_near(o.y[3], k ? -down * rest : 0, 1e-7);
        assert_int_equal(o.r->nevent, 1);
        done(&o);
    }
}

/* A force F = 30 t up the incline: the block sticks until F - m g sin = mu_s m g cos, then slides with mu. While it sticks
 * it yields by F/k, k = m 1e6: the bound of the break-away time. */
static void block_breaks_loose_at_the_static_limit(void **state)
{
    (void)state;
    static const char *const methods[] = {"mexx", "dopri5", "radau5"};
    for (int k = 0; k < 3; k++) {
        motion o =
            incline(0.2, 0.4, 0,
                    ",\"forces\":[{\"name\":\"pull\",\"type\":\"force\",\"b\":\"S\",\"value\":[\"30*t\",0]}]",
                    methods[k]);
        /* it slides down first: sin 30 > 0.4 cos 30? 0.5 > 0.346: yes, until the pull has stopped it */
        double down = G * sin(PI / 6), N = G * cos(PI / 6);
        /* downhill v' = -down + mu N + 10 t, v = 0 again at t1 = 2 (down - mu N)/10 */
        double t1 = 2 * (down - 0.2 * N) / 10;
        assert_near(time_of(&o, "slide.stops", 0), t1, 1e-8);
        /* the pull exceeds the weight by less than mu_s N then: it sticks, and breaks loose at */
        double t2 = (down + 0.4 * N) / 10;
        assert_true(t2 > t1 && 10 * t1 - down < 0.4 * N);
        assert_near(time_of(&o, "slide.slips", 0), t2,
                    5e-6); /* damping lags 2/w behind the load, 2e-3 * F'/(F' w) */
        double s = 2 - t2, a2 = 10 * t2 - down - 0.2 * N; /* v' = a2 + 10 s */
        assert_near(o.y[3], a2 * s + 5 * s * s, 1e-3);
        done(&o);
    }
}

/* A mass on a spring with dry friction: each half swing is harmonic about -+ mu N/k, so turning points shrink by 2 mu N/k
 * until the spring is weaker than friction; then it sticks. */
static void oscillator_stops_after_known_half_swings(void **state)
{
    (void)state;
    const char json[] =
        "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"oscillator\",\"dimension\":2,\"gravity\":[0,-10],"
        "\"bodies\":[{\"name\":\"block\",\"mass\":1,\"inertia\":1,\"r\":[1,0]}],"
        "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},{\"name\":\"S\",\"body\":\"block\","
        "\"r\":[0,0]}],"
        "\"joints\":[{\"name\":\"slide\",\"type\":\"prismatic\",\"a\":\"O\",\"b\":\"S\","
        "\"friction\":{\"mu\":0.3,\"stick\":2000}}],"
        "\"forces\":[{\"name\":\"spring\",\"type\":\"torsion\",\"joint\":\"slide\",\"k\":25}],"
        "\"simulation\":{\"t1\":5,\"rtol\":1e-9,\"atol\":1e-11}}";
    /* mu N/k = 0.12: turning points 1, -0.76, 0.52, -0.28, 0.04; there 25*0.04 = 1 < 3: sticks after 4 half swings */
    motion o = run(json, "mexx");
    assert_int_equal(count(&o, "slide.stops"), 4);
    assert_int_equal(count(&o, "slide.slips"), 0);
    for (int k = 0; k < 4; k++) assert_near(time_of(&o, "slide.stops", k), (k + 1) * PI / 5, 1e-7);
    assert_near(o.y[0], 0.04, 1e-7);
    assert_near(o.y[3], 0, 1e-9);
    done(&o);
}

/* A wheel with friction in its bearing (radius 0.1, space): torque mu r N, stops after known angle and stays. */
static void bearing_stops_a_wheel_in_space(void **state)
{
    (void)state;
    const char json[] =
        "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"wheel\",\"dimension\":3,\"gravity\":[0,0,-10],"
        "\"bodies\":[{\"name\":\"wheel\",\"mass\":2,\"inertia\":[0.4,0.3,0.3],\"omega\":[5,0,0]}],"
        "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0,0]},{\"name\":\"S\",\"body\":\"wheel\","
        "\"r\":[0,0,0]}],"
        "\"joints\":[{\"name\":\"axle\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"S\",\"axis\":[1,0,0],"
        "\"friction\":{\"mu\":0.5,\"radius\":0.1,\"stick\":1000}}],"
        "\"simulation\":{\"t1\":3,\"rtol\":1e-9,\"atol\":1e-11}}";
    motion o = run(json, "mexx"); /* torque 0.5*0.1*20 = 1, deceleration 2.5: 2 s, 5 rad */
    assert_near(time_of(&o, "axle.stops", 0), 2, 1e-8);
    assert_near(remainder(2 * atan2(o.y[4], o.y[3]) - 5, 2 * PI), 0, 1e-7);
    assert_near(o.y[10], 0, 1e-9);
    done(&o);
}

/* Where the slider of a slider-crank turns no force moves it, so none can hold it there: friction changes its direction and goes on
 * braking. The reference is one equation for the crank angle (slider_crank.h). */
static void slider_slips_on_behind_dead_centers(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto", "dop853", "radau5", "vode", "pside"};
    slider_crank s = crank_plain;
    s.mu = 0.2;
    s.v_s = 1e-300;
    double right[2], finer[2], conditioning = crank_conditioning(&s, 50000);
    crank_reference(&s, 200000, right);
    crank_reference(&s, 400000, finer);
    assert_near(right[1], finer[1], 1e-7);
    s.v_s = 0;
    s.stick = 1000;
    for (int k = 0; k < 5; k++) {
        for (double tol = 1e-4; tol > 1e-9; tol /= 1e2) {
            dae_error err = {0};
            mbs_model *m = crank_model(&s);
            dae_problem *p = mbs_problem_create(m, &err);
            if (!p) fail_msg("%s", err.text);
            mbs_model_destroy(m);
            dae_run_options options = dae_run_options_default(p);
            options.options.method = methods[k];
            options.options.rtol = options.options.atol = tol;
            options.t_end = s.t1;
            dae_run_result *r = dae_run(p, &options, &err);
            if (!r || r->status < 0) fail_msg("%s", r ? r->error.text : err.text);
            double off = fmax(fabs(r->last.y[2] - finer[0]), fabs(r->last.y[11] - finer[1]));
            if (!(off < 100 * tol * conditioning))
                fail_msg("%s at %g: %.3g x rtol x conditioning off", methods[k], tol,
                         off / (tol * conditioning));
            dae_run_destroy(r);
            dae_problem_destroy(p);
        }
    }
}

/* A ball dropped from 1 m with restitution 0.6: impacts at t0 (1 + 2 (e + e^2 + ...)), at rest from
 * t0 (1 + e)/(1 - e) on; it stays there. The floor then goes down with 20 m/s^2: the ball leaves it. */
static void ball_comes_to_rest(void **state)
{
    (void)state;
    const char json[] =
        "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"ball\",\"dimension\":2,\"gravity\":[0,-9.81],"
        "\"bodies\":[{\"name\":\"ball\",\"mass\":2,\"inertia\":1,\"r\":[0,1]}],"
        "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},{\"name\":\"S\",\"body\":\"ball\","
        "\"r\":[0,0]}],"
        "\"events\":[{\"name\":\"hit\",\"when\":\"ball.y\",\"direction\":\"falling\",\"do\":[{\"impact\":"
        "{\"a\":\"O\",\"b\":\"S\",\"axis\":[0,1],\"restitution\":0.6}}]}],"
        "\"simulation\":{\"t1\":4,\"rtol\":1e-9,\"atol\":1e-11}}";
    motion o = run(json, "phem56");
    double t0 = sqrt(2 / G), e = 0.6, last = time_of(&o, "hit", count(&o, "hit") - 1);
    assert_near(time_of(&o, "hit", 0), t0, 1e-8);
    assert_near(time_of(&o, "hit", 1), t0 * (1 + 2 * e), 1e-7);
    /* v0 e^n < 1e-4 ends it: n = 21 */
    assert_int_equal(count(&o, "hit"), 21);
    assert_near(last, t0 * (1 + 2 * e * (1 - pow(e, 20)) / (1 - e)), 1e-6);
    assert_near(o.t, 4, 1e-12);
    assert_near(o.y[1], 0, 1e-8);
    assert_near(o.y[4], 0, 1e-9);
    done(&o);
}

/* A driver tells how the block moves: an impact along its rail cannot change that. The block passes the wall at 0.5. */
static void impact_of_what_is_driven_is_a_mistake(void **state)
{
    (void)state;
    const char json[] =
        "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"driven\",\"dimension\":2,\"gravity\":[0,0],"
        "\"bodies\":[{\"name\":\"block\",\"mass\":1,\"inertia\":1}],"
        "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},{\"name\":\"A\",\"body\":\"block\","
        "\"r\":[0,0]}],"
        "\"joints\":[{\"name\":\"rail\",\"type\":\"prismatic\",\"a\":\"O\",\"b\":\"A\",\"axis\":[1,0]}],"
        "\"drivers\":[{\"name\":\"push\",\"joint\":\"rail\",\"value\":\"t-0.5\"}],"
        "\"events\":[{\"name\":\"wall\",\"when\":\"block.x\",\"direction\":\"rising\",\"do\":[{\"impact\":"
        "{\"joint\":\"rail\",\"restitution\":0.5}}]}],\"simulation\":{\"t1\":1}}";
    static const char *const methods[] = {"vern9", "mexx", "phem56"};
    for (int k = 0; k < 3; k++) {
        dae_error err = {0};
        dae_problem *p = dae_problem_open_text(json, strlen(json), NULL, NULL, 0, &err);
        if (!p) fail_msg("%s", err.text);
        dae_run_options o = dae_run_options_default(p);
        o.options.method = methods[k];
        dae_run_result *r = dae_run(p, &o, &err);
        assert_non_null(r);
        assert_int_equal(r->status, DAE_ERR_SINGULAR);
        assert_near(r->error.t, 0.5, 1e-12);
        assert_non_null(strstr(r->error.text, "event wall would change the speed of what cannot move"));
        dae_run_destroy(r);
        dae_problem_destroy(p);
    }
}

/* Resting on a stop without rebound, then pulled off: leaves where the pull equals the weight. */
static void resting_body_leaves_when_it_is_lifted(void **state)
{
    (void)state;
    const char json[] =
        "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"lift\",\"dimension\":3,\"gravity\":[0,0,-10],"
        "\"bodies\":[{\"name\":\"box\",\"mass\":2,\"inertia\":[1,1,1],\"r\":[0,0,0.2]}],"
        "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0,0]},{\"name\":\"S\",\"body\":\"box\","
        "\"r\":[0,0,0]}],"
        "\"forces\":[{\"name\":\"pull\",\"type\":\"force\",\"b\":\"S\",\"value\":[0,0,\"if(t>1,20*(t-1),0)\"]"
        "}],"
        "\"events\":[{\"name\":\"land\",\"when\":\"box.z\",\"direction\":\"falling\",\"do\":[{\"impact\":"
        "{\"a\":\"O\",\"b\":\"S\",\"axis\":[0,0,1]}}]}],"
        "\"simulation\":{\"t1\":3,\"rtol\":1e-8,\"atol\":1e-10}}";
    motion o = run(json, "mexx");
    assert_near(time_of(&o, "land", 0), 0.2, 1e-8);
    assert_near(time_of(&o, "land.leaves", 0), 2, 3e-3); /* the spring of 1e3/s follows the load */
    assert_near(o.y[2], 10.0 / 6, 5e-3);                 /* z'' = 10 (t-2): z = 10 (t-2)^3/6 */
    assert_int_equal(o.r->nevent, 2);
    done(&o);
}

/* A cube's corner point on a plane of contact, tilted gravity: below the cone of friction it stays where it is. */
static void contact_sticks_inside_the_cone(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        char json[2000];
        double a = (k ? 30 : 20) * PI / 180, mu = tan(25 * PI / 180);
        snprintf(json, sizeof json,
                 "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"contact\",\"dimension\":3,"
                 "\"gravity\":[%.17g,0,%.17g],"
                 "\"bodies\":[{\"name\":\"b\",\"mass\":1,\"inertia\":[1,1,1],\"r\":[0,0,-1e-4]}],"
                 "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0,0]},{\"name\":\"S\",\"body\":"
                 "\"b\",\"r\":[0,0,0]}],"
                 "\"joints\":[{\"name\":\"upright\",\"type\":\"parallel\",\"a\":\"O\",\"b\":\"S\",\"axis\":["
                 "0,0,1]}],"
                 "\"forces\":[{\"name\":\"floor\",\"type\":\"contact\",\"a\":\"O\",\"b\":\"S\",\"k\":1e5,"
                 "\"c\":600,"
                 "\"mu\":%.17g,\"stick\":true}],"
                 "\"simulation\":{\"t1\":2,\"rtol\":1e-7,\"atol\":1e-10}}",
                 G * sin(a), -G * cos(a), mu);
        motion o = run(json, "radau5");
        double slide = G * (sin(a) - mu * cos(a));
        /* it sinks by m g sin/k = 3e-5 and stays; the law without sticking creeps by v_s t */
        assert_near(o.y[7], k ? 2 * slide : 0, k ? 3e-2 : 1e-8);
        assert_near(o.y[0], k ? 2 * slide : G * sin(a) / 1e5, k ? 3e-2 : 1e-5);
        done(&o);
    }
}

/* What is not smooth, and whose it is. */
static void switches_have_names(void **state)
{
    static const char model[] =
        "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"m\", \"dimension\": 2, \"gravity\": [0, "
        "-10],"
        " \"bodies\": [ { \"name\": \"b\", \"mass\": 2, \"inertia\": 1, \"r\": [0, 3] } ],"
        " \"points\": [ { \"name\": \"O\", \"body\": \"ground\", \"r\": [0, 0] },"
        " { \"name\": \"P\", \"body\": \"b\", \"r\": [0, 0] } ],"
        " \"forces\": [ { \"name\": \"the_floor\", \"type\": \"contact\", \"a\": \"O\", \"b\": \"P\", \"k\": "
        "100 },"
        " { \"name\": \"gusts_of_wind\", \"type\": \"force\", \"b\": \"P\", \"value\": [\"abs(b.x - 1)\", 0] "
        "} ] }";
    static const char *const expected[] = {"contact \"the_floor\"", "the value of force \"gusts_of_wind\""};
    int found[2] = {0};
    dae_error err = {0};
    (void)state;
    dae_problem *p = dae_problem_open(model, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    const dae_switches *s = &p->system.switches;
    assert_true(s->count >= 2);
    for (int i = 0; i < s->count; i++) {
        const char *name = s->name(i, s->user);
        for (int k = 0; k < 2; k++) found[k] += !strcmp(name, expected[k]);
    }
    assert_true(found[0] > 0 && found[1] > 0);
    assert_int_equal(found[0] + found[1], s->count);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(switches_have_names),
        cmocka_unit_test(block_sticks_if_mu_exceeds_the_slope),
        cmocka_unit_test(block_slides_if_it_does_not),
        cmocka_unit_test(block_thrown_up_stays_or_returns),
        cmocka_unit_test(block_breaks_loose_at_the_static_limit),
        cmocka_unit_test(oscillator_stops_after_known_half_swings),
        cmocka_unit_test(bearing_stops_a_wheel_in_space),
        cmocka_unit_test(slider_slips_on_behind_dead_centers),
        cmocka_unit_test(ball_comes_to_rest),
        cmocka_unit_test(impact_of_what_is_driven_is_a_mistake),
        cmocka_unit_test(resting_body_leaves_when_it_is_lifted),
        cmocka_unit_test(contact_sticks_inside_the_cone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
