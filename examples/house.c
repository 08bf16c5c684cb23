/* Three problems of three sources, opened, run with their events, stepped, swept and measured through the public headers alone:
 *     house [FILE of the second one] */
#include <daedalus/daedalus.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char pendulum[] =
    "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"pendulum\",\"dimension\":2,\"gravity\":[0,-9.81],\n"
    "\"parameters\":{\"L\":\"1[m]\"},\"bodies\":[{\"name\":\"bob\",\"mass\":1,\"inertia\":1e-9,\"r\":[\"L\","
    "0]}],\n"
    "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},{\"name\":\"A\",\"body\":\"bob\",\"r\":[\"-"
    "L\",0]}],\n"
    "\"joints\":[{\"name\":\"pin\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"A\"}],\n"
    "\"events\":[{\"name\":\"lowest\",\"when\":\"bob.x\",\"do\":[{\"stop\":true}]}],\"simulation\":{\"t1\":2,"
    "\"rtol\":1e-9}}\n";

static void check(int fine, const char *what, const dae_error *err)
{
    if (fine) return;
    fprintf(stderr, "%s: %s\n", what, err->text);
    exit(1);
}

static int to_file(const char *text, size_t length, void *file)
{
    return fwrite(text, 1, length, file) == length ? 0 : -1;
}

/* A table in three formats. */
static void write_files(dae_table *t, const char *name)
{
    static const char *const ending[] = {"csv", "json", "h5"};
    dae_error err = {0};
    dae_provenance from;
    dae_provenance_now(&from);
    dae_provenance_note(&from, t);
    for (int k = 0; k < 3; k++) {
        char path[64];
        snprintf(path, sizeof path, "house-%s.%s", name, ending[k]);
        FILE *file = fopen(path, "wb");
        check(file != NULL, path, &err);
        dae_status s = dae_table_write(t, dae_table_format_of(path), to_file, file, &err);
        check(s >= 0 || s == DAE_ERR_UNSUPPORTED, path, &err); /* HDF5 may not be installed */
        check(fclose(file) == 0, path, &err);
    }
    dae_table_destroy(t);
}

/* A run with all events of the problem, and its files. */
static void run(const char *what, const char *name)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open(what, NULL, 0, &err);
    check(p != NULL, name, &err);
    dae_run_options o = dae_run_options_default(p);
    o.trajectory = DAE_TRAJECTORY_STEPS;
    dae_run_result *r = dae_run(p, &o, &err);
    check(r && r->status >= 0, name, r ? &r->error : &err);
    printf("%s: %s, %d events, t = %.6f\n", name, r->solver, r->nevent, r->last.t);
    dae_table *t = dae_run_table(r, &err);
    check(t != NULL, name, &err);
    write_files(t, name);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

/* Steps by hand with dense output, to the event that ends them. */
static void step(void)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open(pendulum, NULL, 0, &err);
    check(p != NULL, "pendulum", &err);
    dae_simulation_options o = dae_simulation_options_default(p);
    dae_simulation *s = dae_simulation_open(p, &o, &err);
    check(s && dae_simulation_start(s, &err) >= 0, "pendulum", &err);
    double y[6];
    dae_status status = DAE_OK;
    for (double t = 0.1; status == DAE_OK;) {
        status = dae_simulation_step(s, &err);
        check(status >= 0, "step", &err);
        for (; t <= dae_simulation_time(s); t += 0.1) {
            check(dae_simulation_interpolate(s, t, y, NULL, &err) >= 0, "interpolate", &err);
            printf("  t = %.1f: bob at %+.6f %+.6f\n", t, y[0], y[1]);
        }
    }
    printf("stepped by %s to the lowest point at t = %.6f\n", dae_simulation_choice(s).method,
           dae_simulation_time(s));
    dae_simulation_close(s);
    dae_problem_destroy(p);
}

static int swept(long run, long count, dae_status status, void *user)
{
    (void)user;
    printf("  run %ld of %ld: %s\n", run + 1, count, dae_run_status_word(status));
    return run == 2; /* that is enough: cancel */
}

/* A sweep over the length: the time to the lowest point grows with its root. */
static void sweep(void)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open(pendulum, NULL, 0, &err);
    check(p != NULL, "pendulum", &err);
    dae_design *d = dae_design_create(p->info, 1);
    check(d && dae_design_vary(d, "L=1,2,4,8", &err) >= 0, "design", &err);
    dae_sweep_options o = {.problem = "pendulum", .model = pendulum, .record = "bob.y"};
    dae_sweep *s = dae_sweep_create(&o, d, &err);
    check(s != NULL, "sweep", &err);
    dae_table *t = dae_sweep_table(s, &(dae_sweep_all){.done = swept}, &err);
    check(t && t->nrow == 3, "sweep", &err);
    write_files(t, "sweep");
    dae_sweep_destroy(s);
    dae_design_destroy(d);
    dae_problem_destroy(p);
}

static int measured(const dae_measurement *m, void *user)
{
    int *left = user;
    printf("  %-8s rtol %.1e: %.2f digits\n", m->solver, m->rtol, m->scd);
    return --*left == 0; /* that is enough: cancel */
}

int main(int argc, char **argv)
{
    dae_error err = {0};
    int left = 5;
    run("hires", "hires");
    run(argc > 1 ? argv[1] : "models/newtons_cradle.json", "cradle");
    run(pendulum, "pendulum");
    step();
    sweep();
    const char *const solver[] = {"radau5", "rodas4p2", "bimd"};
    dae_problem *p = dae_problem_open("hires", NULL, 0, &err);
    check(p != NULL, "hires", &err);
    dae_workprec_options o = {.done = measured, .user = &left};
    dae_status s = dae_workprec_run(p, solver, 3, &o, &err);
    check(s == DAE_CANCELLED, "work-precision", &err);
    dae_problem_destroy(p);
    return 0;
}
