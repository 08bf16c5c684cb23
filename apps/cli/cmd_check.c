/* daedalus check: what is in a problem or a model file, what is wrong with it, and what a run will do. */
#include "cli.h"

#include <daedalus/equations.h>

#include <errno.h>
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
    if (!described) {
        cli_starved(2);
        return 0;
    }
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

static void print_mechanism(const dae_problem *p, const mbs_mechanism *c)
{
    mbs_topology top = mbs_mechanism_topology(c);
    char buffer[16];
    int which;
    double moved = largest_move(p, c, &which);
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
    if (moved < 1e-12) printf("  initial       pose consistent as described\n");
    else
        printf("  initial       assembled; %s moved most, by %.3g\n",
               dae_component_name(p, which, buffer, sizeof buffer), moved);
}

static void print_text(const cli_args *args, const dae_problem *p, const dae_choice *choice)
{
    const mbs_mechanism *c = mbs_problem_mechanism(p);
    int n = dae_system_size(&p->system);
    if (c) {
        mbs_topology top = mbs_mechanism_topology(c);
        printf("%s: %s, %d bod%s, %d joint%s, %s\n", args->argument[0], p->info->name, top.bodies,
               top.bodies == 1 ? "y" : "ies", top.joints, top.joints == 1 ? "" : "s",
               p->system.mech.nquaternion ? "spatial" : "planar");
        print_mechanism(p, c);
    } else {
        printf("%s: %s, %d equation%s of kind %s, index %d\n", args->argument[0], p->info->title, n,
               n == 1 ? "" : "s", dae_kind_name(p->system.kind), dae_system_index(&p->system));
    }
    printf("  choice        solver %s", choice->method);
    if (choice->formulation[0]) printf(", formulation %s", choice->formulation);
    printf("%s%s\n", choice->reason[0] ? ": " : "", choice->reason);
    for (int i = 0; p->warning && p->warning[i]; i++) printf("  warning       %s\n", p->warning[i]);
    for (int i = 0; p->note && p->note[i]; i++) printf("  note          %s\n", p->note[i]);
}

/* What `run` will do: it opens the same simulation. */
static int look(cli_args *args, const dae_problem *p)
{
    dae_error err = {0};
    dae_simulation_options o = dae_simulation_options_default(p);
    if (args->json && dae_check_json(p, &o, cli_write_file, stdout, &err) < 0)
        return cli_wrong(args, "%s", err.text);
    if (args->json) return EXIT_DONE;
    dae_simulation *s = dae_simulation_open(p, &o, &err);
    if (!s || dae_simulation_start(s, &err) < 0) {
        dae_simulation_close(s);
        return cli_wrong(args, "%s: %s", args->argument[0], err.text);
    }
    dae_choice choice = dae_simulation_choice(s);
    print_text(args, p, &choice);
    dae_simulation_close(s);
    return EXIT_DONE;
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
    if (!text) return file ? cli_wrong(args, "%s cannot be read (%s)", file, strerror(errno)) : EXIT_USAGE;
    if (cli_all_settings(args, &setting, &count)) {
        free(own);
        return EXIT_USAGE;
    }
    dae_status s =
        dae_equations_check(text, length, file, setting, count, args->json, cli_write_file, stdout, &err);
    free(setting);
    free(own);
    if (s == DAE_ERR_MEMORY || err.status == DAE_ERR_MEMORY) return cli_wrong(args, "out of memory");
    return s >= 0 ? EXIT_DONE : s == DAE_ERR_INCONSISTENT ? EXIT_INCONSISTENT : EXIT_USAGE;
}

static int run(cli_args *args)
{
    if (is_equation_file(args->argument[0])) return check_equations(args);
    dae_problem *p = cli_open_problem(args);
    if (!p) return args->status;
    int status = look(args, p);
    dae_problem_destroy(p);
    return status;
}

static const cli_option options[] = {
    {"set", "NAME=VALUE", NULL, "a parameter of the problem; can be given more than once"},
    CLI_START,
    CLI_TOLERANCES,
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
                               "look at a problem, model or equation file without running it",
                               "PROBLEM|MODEL.json|FILE.deq",
                               "problems",
                               1,
                               1,
                               options,
                               examples,
                               notes,
                               run};
