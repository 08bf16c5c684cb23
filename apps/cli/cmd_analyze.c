/* daedalus analyze: what a model does without integrating it. Equilibrium, small motions, kinematics, forces of drivers.
 *
 * An analysis gives an object whose arrays are tables: lists of flat objects with the same keys. JSON shows it as it
 * is; text and CSV are printed from it. */
#include "cli.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { most_points = 1000000 };
#define TURN 0.05  /* how far a body goes between two poses when a motion is followed, m or rad; ours */
#define NOISE 1e-8 /* of an eigenvalue: parts below are those of the differences; ours */
#define SHOWN 1e-9 /* of the largest number of a table: smaller ones are 0 in text; ours */
#define PI 3.14159265358979323846

typedef struct analysis {
    const mbs_mechanism *c;
    const dae_mech *s;
    int spatial, about_start;
    double t0, t_end;
    const double *y0, *time; /* times of --at or --points */
    int count, given;        /* given: 1: --at */
    double *y, *rate, *a, *lambda, *re, *im, *force, *sensor;
    dae_error err;
} analysis;

/* ---- Tables ---------------------------------------------------------------------------------------- */

static void put(json_t *row, const char *key, double value)
{
    json_object_set_new(row, key, isfinite(value) ? json_real(value) : json_null());
}

static json_t *add_row(json_t *table, double t, const char *key, const char *name)
{
    json_t *row = json_object();
    put(row, "t", t);
    if (key) json_object_set_new(row, key, json_string(name));
    json_array_append_new(table, row);
    return row;
}

/* n numbers of each body, from those of all. */
static void add_bodies(const analysis *x, json_t *table, double t, const char *const *key,
                       const double *value)
{
    for (int b = 1; b <= mbs_mechanism_body_count(x->c); b++) {
        json_t *row = add_row(table, t, "body", mbs_mechanism_body_name(x->c, b));
        for (int k = 0; key[k]; k++) put(row, key[k], *value++);
    }
}

static const char *const plane_pose[] = {"x", "y", "angle", NULL},
                         *const plane_speed[] = {"vx", "vy", "omega", NULL},
                         *const plane_acceleration[] = {"ax", "ay", "alpha", NULL},
                         *const space_pose[] = {"x", "y", "z", "q0", "q1", "q2", "q3", NULL},
                         *const space_speed[] = {"vx", "vy", "vz", "omega_x", "omega_y", "omega_z", NULL},
                         *const space_acceleration[] = {"ax",      "ay",      "az", "alpha_x",
                                                        "alpha_y", "alpha_z", NULL};

static const char *unit_of(const char *key)
{
    static const char *const unit[][2] = {
        {"t", "s"},   {"x", "m"},         {"y", "m"},           {"z", "m"},          {"angle", "rad"},
        {"v", "m/s"}, {"omega", "rad/s"}, {"alpha", "rad/s^2"}, {"a", "m/s^2"},      {"f", "N"},
        {"m", "N m"}, {"re", "1/s"},      {"im", "1/s"},        {"frequency", "Hz"}, {"force", "N, N m"},
    };
    char stem[16];
    size_t n = strlen(key);
    if (n == 2 && strchr("xyz", key[1])) n = 1;
    else n = strcspn(key, "_");
    snprintf(stem, sizeof stem, "%.*s", (int)n, key);
    for (size_t i = 0; i < sizeof unit / sizeof unit[0]; i++) {
        if (!strcmp(unit[i][0], stem)) return unit[i][1];
    }
    return "";
}

/* In text, numbers below `least` are 0. */
static void cell(const json_t *v, double least, char *out, size_t size)
{
    if (json_is_string(v)) snprintf(out, size, "%s", json_string_value(v));
    else if (!json_is_real(v)) snprintf(out, size, "%s", least > 0 ? "-" : "nan");
    else if (least > 0)
        snprintf(out, size, "%.6g", fabs(json_real_value(v)) < least ? 0 : json_real_value(v));
    else snprintf(out, size, "%.17g", json_real_value(v));
}

/* Rows of objects with the same keys as a table. NULL: out of memory. */
static dae_table *table_of(const json_t *rows)
{
    json_t *row, *v, *first = json_array_get(rows, 0);
    const char *key;
    size_t i;
    int k = 0;
    dae_table *t = dae_table_create((int)json_object_size(first), (long)json_array_size(rows));
    if (!t) return NULL;
    json_object_foreach(first, key, v) dae_table_column(t, k++, key, unit_of(key));
    json_array_foreach(rows, i, row)
    {
        k = 0;
        json_object_foreach(row, key, v)
        {
            if (k == t->ncol) break;
            if (json_is_string(v)) dae_table_set_text(t, (long)i, k, json_string_value(v));
            else if (json_is_number(v)) dae_table_set(t, (long)i, k, json_number_value(v));
            k++;
        }
    }
    return t;
}

static void print_csv(const json_t *rows)
{
    dae_table *t = table_of(rows);
    if (!t || dae_table_csv(t, cli_write_file, stdout) < 0) cli_starved(2);
    dae_table_destroy(t);
}

/* FILE.csv, and FILE-modes-eigenvalues.csv where there are several tables. */
static int write_table(const cli_args *args, const char *path, const char *kind_name, const char *name,
                       const json_t *rows, int several)
{
    char file[1024];
    const char *dot = strrchr(path, '.');
    dae_table *t = table_of(rows);
    if (several) snprintf(file, sizeof file, "%.*s-%s-%s%s", (int)(dot - path), path, kind_name, name, dot);
    else snprintf(file, sizeof file, "%s", path);
    if (t) dae_table_note(t, "problem", args->argument[0], 0);
    if (t) dae_table_note(t, "analysis", kind_name, 0);
    int status = cli_table_write(args, file, t);
    dae_table_destroy(t);
    if (!status) fprintf(stderr, "wrote %s\n", file);
    return status;
}

static double largest_of(const json_t *table)
{
    const char *key;
    json_t *row, *v;
    size_t i;
    double largest = 0;
    json_array_foreach(table, i, row)
    {
        json_object_foreach(row, key, v)
        {
            if (strcmp(key, "t") != 0) largest = fmax(largest, fabs(json_real_value(v)));
        }
    }
    return largest;
}

/* Columns as wide as their widest cell. Line 0 is the head. */
static void print_table(const json_t *table)
{
    enum { columns = 16 };
    const char *key;
    json_t *v, *first = json_array_get(table, 0);
    int width[columns] = {0}, lines = (int)json_array_size(table);
    double least = fmax(SHOWN * largest_of(table), 1e-300);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i <= lines; i++) {
            int k = 0;
            json_object_foreach(i ? json_array_get(table, (size_t)i - 1) : first, key, v)
            {
                char text[128];
                const char *unit = unit_of(key);
                if (i) cell(v, least, text, sizeof text);
                else snprintf(text, sizeof text, unit[0] ? "%s [%s]" : "%s", key, unit);
                if (pass) printf(json_is_string(v) ? "  %-*s" : "  %*s", width[k], text);
                else if ((int)strlen(text) > width[k]) width[k] = (int)strlen(text);
                if (++k == columns) break;
            }
            if (pass) putchar('\n');
        }
    }
}

static void print(const char *title, const json_t *result, int csv, int *printed)
{
    const char *name, *message = json_string_value(json_object_get(result, "message"));
    json_t *table;
    if (message && !csv) printf("%s%s\n  %s\n", (*printed)++ ? "\n" : "", title, message);
    json_object_foreach((json_t *)result, name, table)
    {
        if (!json_is_array(table) || !json_array_size(table)) continue;
        if ((*printed)++) putchar('\n');
        if (csv) {
            print_csv(table);
        } else {
            printf("%s: %s\n", title, name);
            print_table(table);
        }
    }
}

/* ---- Analyses -------------------------------------------------------------------------------------- */

static dae_status fails(analysis *x, dae_status s, const char *text)
{
    x->err.status = s;
    snprintf(x->err.text, sizeof x->err.text, "%s", s == DAE_ERR_MEMORY ? "out of memory" : text);
    return s;
}

/* The times at which a state of rest is wanted: those of --at, else the start. */
static int rest_times(const analysis *x, const double **t)
{
    *t = x->given ? x->time : &x->t0;
    return x->given ? x->count : 1;
}

static void start(analysis *x)
{
    memcpy(x->y, x->y0, (size_t)(x->s->np + x->s->nv + x->s->nu) * sizeof *x->y);
}

static void add_drivers(const analysis *x, json_t *table, double t)
{
    for (int k = 0; k < mbs_mechanism_driver_count(x->c); k++)
        put(add_row(table, t, "driver", mbs_mechanism_driver_name(x->c, k)), "force", x->force[k]);
}

static dae_status add_reactions(analysis *x, json_t *table, double t)
{
    dae_status s = DAE_OK;
    for (int k = 0; k < mbs_mechanism_joint_count(x->c) && !s; k++) {
        double f[3], m[3];
        s = mbs_mechanism_reaction(x->c, k, t, x->y, x->lambda, f, m);
        if (s) break;
        json_t *row = add_row(table, t, "joint", mbs_mechanism_joint_name(x->c, k));
        put(row, "fx", f[0]);
        put(row, "fy", f[1]);
        if (x->spatial) {
            put(row, "fz", f[2]);
            put(row, "mx", m[0]);
            put(row, "my", m[1]);
        }
        put(row, "mz", m[2]);
    }
    if (!s) s = mbs_mechanism_driver_forces(x->c, t, x->y, x->lambda, x->force);
    return s ? fails(x, s, "the reactions cannot be computed") : DAE_OK;
}

static dae_status equilibrium(analysis *x, json_t *out)
{
    json_t *bodies = json_array(), *reactions = json_array(), *drivers = json_array();
    const double *t;
    int n = rest_times(x, &t);
    dae_status s = DAE_OK;
    json_object_set_new(out, "bodies", bodies);
    json_object_set_new(out, "reactions", reactions);
    json_object_set_new(out, "drivers", drivers);
    start(x);
    for (int k = 0; k < n && !s; k++) {
        s = mbs_mechanism_equilibrium(x->c, t[k], x->y, &x->err);
        if (!s) s = mbs_mechanism_static_multipliers(x->c, t[k], x->y, x->lambda, &x->err);
        if (s) break;
        add_bodies(x, bodies, t[k], x->spatial ? space_pose : plane_pose, x->y);
        s = add_reactions(x, reactions, t[k]);
        if (!s) add_drivers(x, drivers, t[k]);
    }
    return s;
}

/* Eigenvalues with im >= 0, slow ones first; what is below the noise of differences is zero. */
static void add_eigenvalues(const analysis *x, json_t *table, double t, int n)
{
    for (int i = 0; i < n; i++) {
        double size = hypot(x->re[i], x->im[i]);
        if (fabs(x->re[i]) < NOISE * size) x->re[i] = 0;
        if (fabs(x->im[i]) < NOISE * size) x->im[i] = 0;
        for (int k = i; k > 0 && hypot(x->re[k], x->im[k]) < hypot(x->re[k - 1], x->im[k - 1]); k--) {
            double re = x->re[k], im = x->im[k];
            x->re[k] = x->re[k - 1];
            x->im[k] = x->im[k - 1];
            x->re[k - 1] = re;
            x->im[k - 1] = im;
        }
    }
    for (int i = 0; i < n; i++) {
        double size = hypot(x->re[i], x->im[i]);
        if (x->im[i] < 0) continue;
        json_t *row = add_row(table, t, NULL, NULL);
        put(row, "re", x->re[i]);
        put(row, "im", x->im[i]);
        put(row, "frequency", x->im[i] / (2 * PI));
        put(row, "damping_ratio", size > 0 ? -x->re[i] / size + 0.0 : NAN);
    }
}

static dae_status modes(analysis *x, json_t *out)
{
    json_t *table = json_array();
    const double *t;
    int n = rest_times(x, &t), size = 0;
    dae_status s = DAE_OK;
    json_object_set_new(out, "about", json_string(x->about_start ? "start" : "equilibrium"));
    json_object_set_new(out, "eigenvalues", table);
    start(x);
    if (x->about_start) {
        n = 1;
        t = &x->t0;
    }
    for (int k = 0; k < n && !s; k++) {
        if (!x->about_start) s = mbs_mechanism_equilibrium(x->c, t[k], x->y, &x->err);
        if (!s) s = mbs_mechanism_eigenvalues(x->c, t[k], x->y, x->re, x->im, &size, &x->err);
        if (!s && !size)
            s = fails(x, DAE_ERR_INPUT,
                      "the mechanism has no degree of freedom of its own, hence no small motions");
        if (!s) add_eigenvalues(x, table, t[k], size);
    }
    return s;
}

/* From the pose at time t to that at t1 in steps short enough to stay on the branch. */
static dae_status follow(analysis *x, double t, double t1)
{
    const dae_mech *s = x->s;
    const double least = 1e-6 * fabs(x->t_end - x->t0);
    while (t != t1) {
        double speed = 0, h = t1 - t, *v = x->y + s->np;
        dae_mech_point at = {.t = t, .p = x->y, .v = v, .u = v + s->nv, .lambda = x->lambda};
        for (int i = 0; i < s->nv; i++) speed = fmax(speed, fabs(v[i]));
        double bound = fmax(least, fmin(fabs(x->t_end - x->t0) / 200, TURN / speed));
        double next = fabs(h) > bound ? t + copysign(bound, h) : t1;
        if (s->kinematics) s->kinematics(&at, x->rate, s->user);
        else memcpy(x->rate, v, (size_t)s->nv * sizeof *v);
        for (int i = 0; i < s->np; i++) x->y[i] += (next - t) * x->rate[i];
        dae_status status = mbs_mechanism_kinematics(x->c, next, x->y, &x->err);
        if (status) return status;
        t = next;
    }
    return DAE_OK;
}

/* Calls add for the motion of a driven mechanism at every time. */
static dae_status along(analysis *x, json_t *out, dae_status (*add)(analysis *x, json_t *out, double t))
{
    double t = x->t0;
    mbs_topology top = mbs_mechanism_topology(x->c);
    if (!mbs_mechanism_driver_count(x->c)) {
        snprintf(x->err.text, sizeof x->err.text,
                 "the mechanism has no drivers (%d degree%s of freedom): kinematics and inverse dynamics "
                 "need a driver "
                 "for every one",
                 top.freedom, top.freedom == 1 ? "" : "s");
        return x->err.status = DAE_ERR_INPUT;
    }
    start(x);
    dae_status s = mbs_mechanism_kinematics(x->c, t, x->y, &x->err);
    for (int k = 0; k < x->count && !s; k++) {
        s = follow(x, t, x->time[k]);
        t = x->time[k];
        if (!s) s = mbs_mechanism_acceleration(x->c, t, x->y, x->a, x->lambda, &x->err);
        if (!s) s = add(x, out, t);
    }
    return s;
}

static dae_status add_motion(analysis *x, json_t *out, double t)
{
    const double *v = x->y + x->s->np;
    int n = mbs_mechanism_sensor_count(x->c);
    add_bodies(x, json_object_get(out, "poses"), t, x->spatial ? space_pose : plane_pose, x->y);
    add_bodies(x, json_object_get(out, "velocities"), t, x->spatial ? space_speed : plane_speed, v);
    add_bodies(x, json_object_get(out, "accelerations"), t,
               x->spatial ? space_acceleration : plane_acceleration, x->a);
    dae_status s = n ? mbs_mechanism_sensors(x->c, t, x->y, x->a, x->lambda, x->sensor, &x->err) : DAE_OK;
    for (int k = 0; k < n && !s; k++) {
        json_t *row =
            add_row(json_object_get(out, "sensors"), t, "sensor", mbs_mechanism_sensor_name(x->c, k));
        json_object_set_new(row, "unit", json_string(mbs_mechanism_sensor_unit(x->c, k)));
        put(row, "value", x->sensor[k]);
    }
    return s;
}

static dae_status kinematics(analysis *x, json_t *out)
{
    json_object_set_new(out, "poses", json_array());
    json_object_set_new(out, "velocities", json_array());
    json_object_set_new(out, "accelerations", json_array());
    json_object_set_new(out, "sensors", json_array());
    return along(x, out, add_motion);
}

static dae_status add_forces(analysis *x, json_t *out, double t)
{
    dae_status s = add_reactions(x, json_object_get(out, "reactions"), t);
    if (!s) add_drivers(x, json_object_get(out, "drivers"), t);
    return s;
}

static dae_status inverse(analysis *x, json_t *out)
{
    json_object_set_new(out, "drivers", json_array());
    json_object_set_new(out, "reactions", json_array());
    return along(x, out, add_forces);
}

static const struct {
    const char *name, *title;
    dae_status (*run)(analysis *x, json_t *out);
} kind[] = {
    {"equilibrium", "Static equilibrium", equilibrium},
    {"modes", "Small motions (one of each conjugate pair)", modes},
    {"kinematics", "Kinematics", kinematics},
    {"inverse", "Inverse dynamics", inverse},
};
enum { kinds = sizeof kind / sizeof kind[0] };

static const char *kind_name(int i)
{
    return i < kinds ? kind[i].name : NULL;
}

/* ---- The command ----------------------------------------------------------------------------------- */

/* Times of --at, or of --points (11); *t is to be freed. */
static int wanted(const cli_args *args, const dae_problem *p, double **t, int *count)
{
    long n = 11;
    if (cli_has(args, "at") && cli_has(args, "points"))
        return cli_wrong(args, "give either --at or --points");
    if (cli_has(args, "at")) return cli_times(args, p->t0, p->t_end, t, count);
    if (cli_whole(args, "points", 2, most_points, &n)) return EXIT_USAGE;
    *t = calloc((size_t)n, sizeof **t);
    if (!*t) return cli_wrong(args, "out of memory");
    for (long k = 0; k < n; k++)
        (*t)[k] = k == n - 1 ? p->t_end : p->t0 + (p->t_end - p->t0) * (double)k / (double)(n - 1);
    *count = (int)n;
    return 0;
}

static int exit_status(dae_status s)
{
    if (s == DAE_ERR_INPUT) return EXIT_USAGE;
    return s == DAE_ERR_INCONSISTENT ? EXIT_INCONSISTENT : EXIT_FAILED;
}

/* All tables of all analyses to the files of --out. */
static int write_tables(const cli_args *args, const json_t *root)
{
    const char *path, *name;
    json_t *rows;
    int several = -1, status = 0;
    for (int i = 0; i < kinds; i++) {
        json_object_foreach(json_object_get(root, kind[i].name), name, rows) several +=
            json_is_array(rows) && json_array_size(rows) > 0;
    }
    for (int k = 0; !status && (path = cli_value_at(args, "out", k)); k++) {
        for (int i = 0; i < kinds; i++) {
            json_object_foreach(json_object_get(root, kind[i].name), name, rows)
            {
                if (!status && json_is_array(rows) && json_array_size(rows) > 0)
                    status = write_table(args, path, kind[i].name, name, rows, several > 0);
            }
        }
    }
    return status;
}

static int show(cli_args *args, const dae_problem *p, analysis *x, const char *what)
{
    int csv = cli_value(args, "format") && !strcmp(cli_value(args, "format"), "csv"), printed = 0,
        status = EXIT_DONE;
    int all = !strcmp(what, "all");
    json_t *root = json_object();
    json_object_set_new(root, "status", json_string("ok"));
    json_object_set_new(root, "model", json_string(p->info->name));
    json_object_set_new(root, "freedom", json_integer(mbs_mechanism_topology(x->c).freedom));
    for (int i = 0; i < kinds && !status; i++) {
        if (!all && strcmp(kind[i].name, what) != 0) continue;
        json_t *result = json_object();
        x->err = (dae_error){0};
        dae_status s = kind[i].run(x, result);
        if (s < 0 && (!all || s == DAE_ERR_MEMORY)) {
            cli_wrong(args, "%s: %s", args->argument[0], x->err.text[0] ? x->err.text : dae_status_text(s));
            status = exit_status(s);
        } else if (s < 0) {
            json_object_clear(result);
            json_object_set_new(result, "code", json_string(dae_status_name(s)));
            json_object_set_new(result, "message",
                                json_string(x->err.text[0] ? x->err.text : dae_status_text(s)));
        }
        json_object_set_new(root, kind[i].name, result);
    }
    if (!status && args->json) {
        json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
        putchar('\n');
    }
    for (int i = 0; i < kinds && !status && !args->json; i++)
        print(kind[i].title, json_object_get(root, kind[i].name), csv, &printed);
    if (!status) status = write_tables(args, root);
    json_decref(root);
    return status;
}

/* Words of the options; 0 or EXIT_USAGE after a message. */
static int check_words(const cli_args *args, const char *what)
{
    const char *format = cli_value(args, "format"), *about = cli_value(args, "about");
    int i = 0;
    while (kind_name(i) && strcmp(kind_name(i), what) != 0) i++;
    if (!kind_name(i) && strcmp(what, "all") != 0) {
        char near[100];
        cli_nearest(what, kind_name, near, sizeof near);
        return cli_wrong(args, "--what %s: expected equilibrium, modes, kinematics, inverse or all%s%s%s",
                         what, near[0] ? "; did you mean " : "", near, near[0] ? "?" : "");
    }
    if (format && strcmp(format, "text") != 0 && strcmp(format, "csv") != 0)
        return cli_wrong(args, "--format %s: expected text or csv", format);
    if (about && strcmp(about, "equilibrium") != 0 && strcmp(about, "start") != 0)
        return cli_wrong(args, "--about %s: expected equilibrium or start", about);
    return 0;
}

static int run(cli_args *args)
{
    const char *what = cli_value(args, "what"), *about = cli_value(args, "about");
    double *time = NULL;
    if (!what) what = "all";
    if (check_words(args, what) || cli_tables_check(args, 0)) return EXIT_USAGE;
    dae_problem *p = cli_open_problem(args);
    if (!p) return args->status;
    int status;
    if (!mbs_problem_mechanism(p)) {
        status =
            cli_wrong(args, "%s is a problem of the test set; analyze is for model files", args->argument[0]);
        dae_problem_destroy(p);
        return status;
    }
    analysis x = {.c = mbs_problem_mechanism(p),
                  .s = &p->system.mech,
                  .t0 = p->t0,
                  .t_end = p->t_end,
                  .y0 = p->y0,
                  .given = cli_has(args, "at")};
    const dae_mech *s = x.s;
    x.spatial = s->nquaternion > 0;
    x.about_start = about && !strcmp(about, "start");
    size_t np = (size_t)s->np, nv = (size_t)s->nv, nu = (size_t)s->nu, nl = (size_t)s->nlambda;
    size_t drivers = (size_t)mbs_mechanism_driver_count(x.c),
           sensors = (size_t)mbs_mechanism_sensor_count(x.c);
    x.y = calloc(2 * np + 2 * nv + nu + nl + 2 * (2 * nv + nu) + drivers + sensors + 1, sizeof *x.y);
    status = x.y ? wanted(args, p, &time, &x.count) : cli_wrong(args, "out of memory");
    if (!status) {
        x.time = time;
        x.rate = x.y + np + nv + nu;
        x.a = x.rate + np;
        x.lambda = x.a + nv;
        x.re = x.lambda + nl;
        x.im = x.re + 2 * nv + nu;
        x.force = x.im + 2 * nv + nu;
        x.sensor = x.force + drivers;
        status = show(args, p, &x, what);
    }
    free(time);
    free(x.y);
    dae_problem_destroy(p);
    return status;
}

static const cli_option options[] = {
    {"what", "W", "equilibrium|modes|kinematics|inverse|all",
     "equilibrium, modes, kinematics, inverse, or all that the model allows (default)"},
    {"at", "T1,T2,...", NULL, "at these times; equilibrium and modes: instead of the start"},
    {"points", "N", NULL, "kinematics and inverse: at N equidistant times (11)"},
    {"about", "STATE", "equilibrium|start",
     "modes: about the equilibrium (default) or the start of the model"},
    {"set", "NAME=VALUE", NULL, "a parameter of the model; can be given more than once"},
    {"format", "F", "text|csv", "text (default) or csv, tables separated by empty lines"},
    {"out", "FILE", "file",
     "the tables too: .csv, .json, .h5, .gp, .svg, .png or .pdf; of several each gets its name behind a "
     "dash"},
    {"json", NULL, NULL, "one JSON object on standard output"},
    {NULL, NULL, NULL, NULL},
};
static const char notes[] =
    "equilibrium  poses near the start in which all forces balance, reactions and forces of drivers there\n"
    "modes        eigenvalues of small motions, frequency in Hz, damping ratio -re/|eigenvalue|\n"
    "kinematics   poses, velocities, accelerations and sensors of a mechanism whose every freedom is driven\n"
    "inverse      forces and torques that its drivers need, and the reactions of the joints\n"
    "The equilibrium is searched downhill from the start; a start that balances stays, also where it is\n"
    "unstable. Where downhill leads nowhere the nearest balance is taken, stable or not.\n"
    "Currents of motors are those at rest. Text shows 0 for what is below 1e-9 of its table.\n"
    "Exit status 2: the analysis does not fit the model; 1: it found nothing; 3: a pose cannot be "
    "assembled.\n";
static const char *const examples[] = {"analyze models/pendulum.json",
                                       "where it comes to rest and how it swings there",
                                       "analyze models/web_cutter.json --what inverse --points 5",
                                       "torque of its motor",
                                       "analyze models/double_pendulum.json --what modes --json",
                                       "eigenvalues for a script",
                                       NULL};
const cli_command cli_analyze = {"analyze",
                                 "equilibrium, small motions, kinematics, forces of drivers",
                                 "MODEL.json",
                                 "file",
                                 1,
                                 1,
                                 options,
                                 examples,
                                 notes,
                                 run};
