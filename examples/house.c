/* Three problems of three sources, opened, run with their events, stepped, swept and measured through the public headers alone:
 *     house [FILE of the second one] */
#include <daedalus/daedalus.h>

#include <stdio.h>
#include <stdlib.h>

static const char pendulum[] =
    "{\"daedalus\":1, \"kind\":\"mechanism\", \"name\":\"pendulum\", \"dimension\":2, \"gravity\":[0,-9.81],"
    " \"parameters\":{\"L\":\"1[m]\"}, \"simulation\":{\"t1\":2, \"rtol\":1e-9},"
    " \"bodies\":[{\"name\":\"bob\", \"mass\":1, \"inertia\":1e-9, \"r\":[\"L\",0]}],"
    " \"points\":[{\"name\":\"O\", \"body\":\"ground\", \"r\":[0,0]}, {\"name\":\"A\", \"body\":\"bob\", "
    "\"r\":[\"-L\",0]}],"
    " \"joints\":[{\"name\":\"pin\", \"type\":\"revolute\", \"a\":\"O\", \"b\":\"A\"}],"
    " \"events\":[{\"name\":\"lowest\", \"when\":\"bob.x\", \"do\":[{\"stop\":true}]}]}";

static dae_error err;

static void check(int fine, const char *what)
{
    if (fine) return;
    fprintf(stderr, "%s: %s\n", what, err.text);
    exit(1);
}

static dae_problem *open(const char *what)
{
    dae_problem *p = dae_problem_open(what, NULL, 0, &err);
    check(p != NULL, what);
    return p;
}

/* A table in three formats. */
static void save(dae_table *t, const char *name)
{
    static const char *const format[] = {"house-%s.csv", "house-%s.json", "house-%s.h5"};
    check(t != NULL, name);
    dae_provenance_stamp(t);
    for (int k = 0; k < 3; k++) {
        char path[64];
        snprintf(path, sizeof path, format[k], name);
        dae_status s = dae_table_save(t, path, &err);
        check(s >= 0 || s == DAE_ERR_UNSUPPORTED, path); /* HDF5 may not be installed */
    }
    dae_table_destroy(t);
}

/* A run with all events of the problem. */
static void run(dae_problem *p, const char *name)
{
    dae_run_options o = dae_run_options_default(p);
    o.trajectory = DAE_TRAJECTORY_STEPS;
    dae_run_result *r = dae_run(p, &o, &err);
    if (r) err = r->error;
    check(r && r->status >= 0, name);
    printf("%s: %s, %d events, t = %.6f\n", name, r->solver, r->nevent, r->last.t);
    save(dae_run_table(r, &err), name);
    dae_run_destroy(r);
}

/* Steps by hand with dense output, to the event that ends them. */
static void step(const dae_problem *p)
{
    dae_simulation *s = dae_simulation_open(p, NULL, &err);
    check(s && dae_simulation_start(s, &err) >= 0, "start");
    dae_status status = DAE_OK;
    for (double t = 0.1, y[6]; status == DAE_OK;) {
        check((status = dae_simulation_step(s, &err)) >= 0, "step");
        for (; t <= dae_simulation_time(s); t += 0.1) {
            check(dae_simulation_interpolate(s, t, y, NULL, &err) >= 0, "interpolate");
            printf("  t = %.1f: bob at %+.6f %+.6f\n", t, y[0], y[1]);
        }
    }
    printf("stepped by %s to the lowest point at t = %.6f\n", dae_simulation_choice(s).method,
           dae_simulation_time(s));
    dae_simulation_close(s);
}

/* The time to the lowest point grows with the root of the length. */
static int swept(long k, long count, dae_status status, void *user)
{
    (void)user;
    printf("  run %ld of %ld: %s\n", k + 1, count, dae_run_status_word(status));
    return k == 2; /* that is enough: cancel */
}

static int measured(const dae_measurement *m, void *left)
{
    printf("  %-8s rtol %.1e: %.2f digits\n", m->solver, m->rtol, m->scd);
    return --*(int *)left == 0; /* that is enough: cancel */
}

int main(int argc, char **argv)
{
    static const char *const solver[] = {"radau5", "rodas4p2", "bimd"}, *const length = "L=1,2,4,8";
    const dae_sweep_options lengths = {.model = pendulum, .record = "bob.y"};
    dae_problem *hires = open("hires"), *cradle = open(argc > 1 ? argv[1] : "models/newtons_cradle.json"),
                *bob = open(pendulum);
    run(hires, "hires");
    run(cradle, "cradle");
    run(bob, "pendulum");
    step(bob);
    save(dae_sweep_over(&lengths, &length, 1, &(dae_sweep_all){.done = swept}, &err), "sweep");
    int left = 5;
    dae_status s =
        dae_workprec_run(hires, solver, 3, &(dae_workprec_options){.done = measured, .user = &left}, &err);
    check(s == DAE_CANCELLED, "work-precision");
    dae_problem_destroy(hires);
    dae_problem_destroy(cradle);
    dae_problem_destroy(bob);
    return 0;
}
