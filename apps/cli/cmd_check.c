/* daedalus check: what is in a model file, and what is wrong with it. */
#include "cli.h"

#include <daedalus/equations.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far assembly moved a coordinate at most, and which. */
static double largest_move(const dae_problem *p, const mbs_mechanism *c, int *which)
{
    double worst = 0;
    int n = p->system.mech.np;
    double *described = calloc((size_t)dae_system_size(&p->system), sizeof *described);
    *which = 0;
    if (!described) return 0;
    mbs_mechanism_described(c, described);
    for (int i = 0; i < n; i++) {
        double moved = fabs(p->y0[i] - described[i]);
        if (moved > worst) {
            worst = moved;
            *which = i;
        }
    }
    free(described);
    return worst;
}

static json_t *json_of(const dae_problem *q, double moved, const char *which, const char *method,
                       const char *form, const char *reason)
{
    const mbs_mechanism *c = mbs_problem_mechanism(q);
    mbs_topology top = mbs_mechanism_topology(c);
    json_t *redundant = json_array(), *warnings = json_array();
    for (int i = 0, row; i < top.redundant; i++) {
        const char *name = mbs_mechanism_redundant(c, i, &row);
        json_array_append_new(redundant, json_pack("{s:s,s:i}", "joint", name, "row", row));
    }
    for (int i = 0; q->warning && q->warning[i]; i++)
        json_array_append_new(warnings, json_string(q->warning[i]));
    return json_pack("{s:s,s:s,s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:o,s:o,s:f,s:s,s:s,s:s,s:s}", "status", "ok",
                     "model", q->info->name, "bodies", top.bodies, "joints", top.joints, "loops", top.loops,
                     "coordinates", top.coordinates, "constraints", top.constraints, "independent",
                     top.independent, "freedom", top.freedom, "redundant", redundant, "warnings", warnings,
                     "moved", moved, "moved_most", which, "solver", method, "formulation", form, "reason",
                     reason);
}

static void print_text(const cli_args *args, const dae_problem *p, double moved, const char *which,
                       const char *method, const char *form, const char *reason)
{
    const mbs_mechanism *c = mbs_problem_mechanism(p);
    mbs_topology top = mbs_mechanism_topology(c);
    printf("%s: %s, %d bod%s, %d joint%s, %s\n", args->argument[0], p->info->name, top.bodies,
           top.bodies == 1 ? "y" : "ies", top.joints, top.joints == 1 ? "" : "s",
           p->system.mech.nquaternion ? "spatial" : "planar");
    printf("  mobility      %d coordinates - %d independent constraints = %d degree%s of freedom\n",
           top.coordinates, top.independent, top.freedom, top.freedom == 1 ? "" : "s");
    if (!top.redundant) printf("  redundant     none\n");
    for (int i = 0, row; i < top.redundant; i++) {
        const char *name = mbs_mechanism_redundant(c, i, &row);
        printf(
            "  redundant     row %d of joint %s follows from the others; reactions are those of least norm\n",
            row + 1, name);
    }
    printf("  structure     %d loop%s%s\n", top.loops, top.loops == 1 ? "" : "s",
           p->system.mech.nlambda ? ", index 3" : "");
    if (moved < 1e-12) printf("  initial       consistent as described\n");
    else printf("  initial       assembled; %s moved most, by %.3g\n", which, moved);
    printf("  suggestion    solver %s, formulation %s%s%s\n", method, form, reason[0] ? ": " : "", reason);
    for (int i = 0; p->warning && p->warning[i]; i++) printf("  warning       %s\n", p->warning[i]);
}

/* What `run` would choose: the form "auto" stands for, and the method for that form. */
static const dae_method_info *suggestion(const dae_problem *p, const char **form, char *reason, size_t size,
                                         dae_error *err)
{
    dae_options o = dae_options_default(), inner;
    const dae_method_info *m = NULL;
    o.rtol = p->rtol > 0 ? p->rtol : o.rtol;
    dae_formulation *f = dae_formulation_open(&p->system, &o, &inner, err);
    if (!f) return NULL;
    const dae_system *sys = dae_formulation_system(f);
    double *y = calloc((size_t)dae_system_size(sys) + 1, sizeof *y);
    if (!y) err->status = DAE_ERR_MEMORY;
    if (y && dae_formulation_lift(f, p->t0, p->y0, y, err) >= 0)
        m = dae_method_choose(sys, &inner, p->t0, p->t_end, y, reason, size);
    *form = dae_formulation_type_of(f)->name;
    free(y);
    dae_formulation_destroy(f);
    return m;
}

static int is_equation_file(const char *name)
{
    size_t n = strlen(name);
    return !strcmp(name, "-") || (n > 4 && !strcmp(name + n - 4, ".deq"));
}

/* An equation file: the library says all of it, errors too. */
static int check_equations(cli_args *args)
{
    const char *file = strcmp(args->argument[0], "-") ? args->argument[0] : NULL;
    size_t length = 0;
    dae_setting *setting;
    int count;
    dae_error err = {0};
    char *own = file ? cli_read_file(file, &length) : NULL;
    const char *text = file ? own : cli_input(args, &length);
    if (!text) return file ? cli_wrong(args, "%s cannot be read", file) : EXIT_USAGE;
    if (cli_all_settings(args, &setting, &count)) {
        free(own);
        return EXIT_USAGE;
    }
    dae_status s =
        dae_equations_check(text, length, file, setting, count, args->json, cli_write_file, stdout, &err);
    free(setting);
    free(own);
    return s >= 0 ? EXIT_DONE : s == DAE_ERR_INCONSISTENT ? EXIT_INCONSISTENT : EXIT_USAGE;
}

static int run(cli_args *args)
{
    if (is_equation_file(args->argument[0])) return check_equations(args);
    dae_problem *p = cli_open_problem(args);
    if (!p) return args->status;
    if (!mbs_problem_mechanism(p)) {
        dae_problem_destroy(p);
        return cli_wrong(args, "%s is a problem of the test set; check is for model files",
                         args->argument[0]);
    }
    char reason[256] = "", buffer[16];
    int which;
    double moved = largest_move(p, mbs_problem_mechanism(p), &which);
    const char *form = "none";
    dae_error err = {0};
    const dae_method_info *m = suggestion(p, &form, reason, sizeof reason, &err);
    if (err.status == DAE_ERR_MEMORY) {
        dae_problem_destroy(p);
        return cli_wrong(args, "out of memory");
    }
    const char *name = dae_component_name(p, which, buffer, sizeof buffer), *method = m ? m->name : "none";
    if (args->json) {
        json_t *j = json_of(p, moved, name, method, form, reason);
        if (j) json_dumpf(j, stdout, JSON_REAL_PRECISION(17));
        putchar('\n');
        json_decref(j);
    } else {
        print_text(args, p, moved, name, method, form, reason);
    }
    dae_problem_destroy(p);
    return EXIT_DONE;
}

static const cli_option options[] = {
    {"set", "NAME=VALUE", NULL, "a parameter of the model; can be given more than once"},
    {"init", "NAME=VALUE", NULL,
     "equation files: an initial value, or a guess (NAME~VALUE); can be given more than once"},
    {"json", NULL, NULL, "one JSON object on standard output"},
    {NULL, NULL, NULL, NULL},
};
static const char notes[] =
    "A mistake is told with its place in the file (joints[2].type), what was expected and what was probably\n"
    "meant; exit status 2. A mechanism that cannot be assembled: exit status 3.\n";
static const char *const examples[] = {"check models/four_bar.json",
                                       "bodies, freedom, redundant constraints, start",
                                       "check models/pendulum.deq", "index, start, states, route", NULL};
const cli_command cli_check = {"check",
                               "look at a model or equation file without running it",
                               "MODEL.json|FILE.deq",
                               "file",
                               1,
                               1,
                               options,
                               examples,
                               notes,
                               run};
