/* Opening the problem that a command line names. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int has_parameter(const dae_problem_info *info, const char *name)
{
    for (const dae_parameter *q = info->parameter; q && q->name; q++) {
        if (!strcmp(q->name, name)) return 1;
    }
    return 0;
}

/* --index K is the parameter "index" of problems that can be stated with several. */
static int add_index(cli_args *args, const dae_problem_info *info, dae_setting *extra, int *count)
{
    const char *index = cli_value(args, "index");
    if (!index) return 0;
    if (has_parameter(info, "index")) {
        extra[(*count)++] = (dae_setting){"index", index};
        return 0;
    }
    char *end;
    long k = strtol(index, &end, 10);
    if (*end || end == index || k < 0 || k > 3)
        return cli_wrong(args, "--index %s: expected 0, 1, 2 or 3", index);
    return 0;
}

/* Of the others it is the index that the problem has with these parameters (ringmod: 2 if Cs = 0). */
static int check_index(const cli_args *args, const dae_problem *p)
{
    const char *index = cli_value(args, "index");
    int has = dae_system_index(&p->system);
    if (!index || has_parameter(p->info, "index") || strtol(index, NULL, 10) == has) return 0;
    if (!p->info->parameter || !p->info->parameter->name)
        return cli_wrong(args, "--index %s: %s is stated with index %d only", index, p->info->name, has);
    return cli_wrong(
        args,
        "--index %s: %s is stated with index %d only, with these parameters (`daedalus info %s` tells more)",
        index, p->info->name, has, p->info->name);
}

/* --formulation F is the parameter "formulation" of problems that have one. */
static void add_formulation(cli_args *args, const dae_problem_info *info, dae_setting *extra, int *count)
{
    const char *f = cli_value(args, "formulation");
    if (f && has_parameter(info, "formulation")) extra[(*count)++] = (dae_setting){"formulation", f};
}

static mbs_model *load(cli_args *args, const char *name)
{
    dae_setting *setting;
    int count;
    dae_error err = {0};
    args->status = EXIT_USAGE;
    if (cli_settings(args, "set", &setting, &count)) return NULL;
    mbs_model *m = mbs_model_load_with(name, setting, count, &err);
    free(setting);
    if (!m) {
        if (err.status == DAE_ERR_FILE) cli_wrong(args, "%s", err.text);
        else cli_wrong(args, "%s: %s", name, err.text);
    }
    return m;
}

mbs_model *cli_load_model(cli_args *args)
{
    return load(args, args->argument[0]);
}

/* name=value or name~value; the second keeps its sign where `keep` says so. The place behind the copy. */
static char *split_setting(const char *v, const char *signs, int keep, char *text, dae_setting *out)
{
    size_t n = strcspn(v, signs);
    memcpy(text, v, n);
    text[n] = 0;
    strcpy(text + n + 1, v + n + !keep);
    *out = (dae_setting){text, text + n + 1};
    return text + n + 2 + strlen(v + n);
}

/* --t0; nothing changes where it was not given. */
static int start_time(const cli_args *args, double *t0)
{
    const char *text = cli_value(args, "t0");
    return text ? cli_number(args, "t0", text, t0) : 0;
}

int cli_all_settings(cli_args *args, dae_setting **list, int *count)
{
    static const struct {
        const char *option, *signs, *expected;
        int keep;
    } kind[] = {{"set", "=", "name=value", 0}, {"init", "=~", "name=value, or name~guess", 1}};
    size_t bytes = 0;
    int n = 0;
    *list = NULL;
    *count = 0;
    for (int k = 0; k < 2; k++) {
        const char *v;
        for (int i = 0; (v = cli_value_at(args, kind[k].option, i)); i++, n++) {
            size_t length = strcspn(v, kind[k].signs);
            if (!length || !v[length] || !v[length + 1])
                return cli_wrong(args, "--%s %s: expected %s", kind[k].option, v, kind[k].expected);
            bytes += strlen(v) + 3;
        }
    }
    const char *t0 = cli_value(args, "t0"); /* --t0 5 is the setting t of value "=5" */
    double ignored;
    if (start_time(args, &ignored)) return EXIT_USAGE;
    if (t0) n++, bytes += strlen(t0) + 2;
    if (!n) return 0;
    *list = malloc((size_t)n * sizeof **list + bytes);
    if (!*list) return cli_wrong(args, "out of memory");
    char *text = (char *)(*list + n);
    for (int k = 0; k < 2; k++) {
        const char *v;
        for (int i = 0; (v = cli_value_at(args, kind[k].option, i)); i++)
            text = split_setting(v, kind[k].signs, kind[k].keep, text, &(*list)[(*count)++]);
    }
    if (t0) {
        text[0] = '=';
        strcpy(text + 1, t0);
        (*list)[(*count)++] = (dae_setting){"t", text};
    }
    return 0;
}

const char *cli_input(cli_args *args, size_t *length)
{
    if (!args->input) args->input = cli_read_open(stdin, &args->input_length);
    if (!args->input) cli_wrong(args, "standard input cannot be read");
    *length = args->input_length;
    return args->input;
}

/* --compile FILE.c: the equations as C, compiled to FILE.so, which is what runs. */
static dae_problem *open_compiled(cli_args *args, const char *source)
{
    char object[4096];
    dae_error err = {0};
    size_t n = strlen(source);
    if (n < 3 || strcmp(source + n - 2, ".c") != 0 || n > sizeof object - 10) {
        cli_wrong(args, "--compile %s: the name must end with .c", source);
        return NULL;
    }
    snprintf(object, sizeof object, "%s%.*s.so", strchr(source, '/') ? "" : "./", (int)(n - 2), source);
    args->status = cli_export_c(args, "--compile", source);
    if (!args->status) args->status = cli_compile(args, source, object);
    if (args->status) return NULL;
    dae_problem *p = dae_problem_open(object, NULL, 0, &err);
    if (!p) args->status = cli_wrong(args, "%s", err.text);
    if (p && cli_tolerate(args, p)) {
        args->status = EXIT_USAGE;
        dae_problem_destroy(p);
        p = NULL;
    }
    return p;
}

/* --init and --t0 of a problem of the test set, and of one in compiled code. */
static int set_initial(cli_args *args, dae_problem *p)
{
    dae_setting *init = NULL;
    int count = 0;
    double t0 = p->t0;
    dae_error err = {0};
    if (!cli_has(args, "init") && !cli_has(args, "t0")) return 0;
    if (start_time(args, &t0) || cli_settings(args, "init", &init, &count)) return EXIT_USAGE;
    int status = 0;
    if (dae_problem_start(p, t0, init, count, &err) < 0)
        status = cli_wrong(args, "--%s: %s", count ? "init" : "t0", err.text);
    free(init);
    return status;
}

/* ---- Signals that no sensor declares ------------------------------------------------------------------ */

enum { most_shown = 32, longest_signal = 80 };

typedef struct signals {
    char name[most_shown][longest_signal];
    dae_setting shown[most_shown];
    int count;
} signals;

/* 1: a component or column of the problem has this name. */
static int is_known(const dae_problem *p, const char *name)
{
    char buffer[24];
    for (int i = 0; i < dae_system_size(&p->system); i++) {
        if (!strcmp(dae_component_name(p, i, buffer, sizeof buffer), name)) return 1;
    }
    for (int i = 0; i < p->derived.ncolumn; i++) {
        if (!strcmp(p->derived.column[i], name)) return 1;
    }
    return 0;
}

static void note_signal(const dae_problem *p, const char *text, size_t length, signals *s)
{
    char *name = s->name[s->count];
    if (length >= longest_signal || !memchr(text, '.', length)) return;
    snprintf(name, longest_signal, "%.*s", (int)length, text);
    if (is_known(p, name)) return;
    s->shown[s->count] = (dae_setting){name, "?"};
    s->count++;
}

/* The signals of a model that options name become sensors: p, or in its place one that has them; NULL: told why not. */
static dae_problem *show_signals(cli_args *args, dae_problem *p)
{
    static const char *const lists[] = {"record", "components"};
    signals s = {.count = 0};
    const char *v, *option = "event";
    dae_error err = {0};
    if (strcmp(p->source, "model") != 0) return p;
    for (int k = 0; (v = cli_value_at(args, "event", k)) && s.count < most_shown; k++)
        note_signal(p, v, strcspn(v, "=:'"), &s);
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        int before = s.count;
        for (v = cli_value(args, lists[k]); v && *v && s.count < most_shown; v += *v == ',') {
            note_signal(p, v, strcspn(v, ","), &s);
            v += strcspn(v, ",");
        }
        if (s.count > before) option = lists[k];
    }
    dae_problem *with = s.count ? dae_problem_variant(p, s.shown, s.count, &err) : p;
    if (with != p) dae_problem_destroy(p);
    if (!with) cli_wrong(args, "--%s: %s", option, err.text);
    return with;
}

int cli_shown_signals(const dae_problem *p, dae_setting *list, int most)
{
    const mbs_mechanism *m = mbs_problem_mechanism(p);
    int count = 0;
    for (int k = 0; m && count < most && k < mbs_mechanism_sensor_count(m); k++) {
        const char *name = mbs_mechanism_sensor_name(m, k);
        if (strchr(name, '.'))
            list[count++] = (dae_setting){name, "?"}; /* others have no dot in their names */
    }
    return count;
}

static dae_problem *open_file(cli_args *args, const char *name)
{
    if (cli_value(args, "compile")) return open_compiled(args, cli_value(args, "compile"));
    dae_setting *setting;
    int count;
    size_t length;
    dae_error err = {0};
    const char *text = strcmp(name, "-") ? NULL : cli_input(args, &length);
    if (!strcmp(name, "-") && !text) return NULL;
    int code = cli_has_ending(name, ".so"); /* starts as those of the test set do */
    if (code ? cli_settings(args, "set", &setting, &count) : cli_all_settings(args, &setting, &count))
        return NULL;
    dae_problem *p = text ? dae_problem_open_text(text, length, NULL, setting, count, &err)
                          : dae_problem_open(name, setting, count, &err);
    free(setting);
    if (!p) cli_wrong(args, "%s", err.text);
    if (p && ((code && set_initial(args, p)) || cli_tolerate(args, p))) {
        dae_problem_destroy(p);
        p = NULL;
    }
    if (err.status == DAE_ERR_INCONSISTENT) args->status = EXIT_INCONSISTENT;
    return p ? show_signals(args, p) : NULL;
}

int cli_check_solver(const cli_args *args, const char *name)
{
    char near[200];
    if (cli_method(name)) return 0;
    if (dae_method_absent(name)) return cli_wrong(args, "%s", dae_method_absent(name));
    cli_nearest(name, cli_solver_name, near, sizeof near);
    if (near[0]) return cli_wrong(args, "there is no solver \"%s\"; did you mean %s?", name, near);
    return cli_wrong(args, "there is no solver \"%s\"; `daedalus list solvers` shows them", name);
}

int cli_check_formulation(const cli_args *args, const char *name)
{
    char near[200];
    if (cli_formulation(name)) return 0;
    cli_nearest(name, cli_formulation_name, near, sizeof near);
    if (near[0]) return cli_wrong(args, "there is no formulation \"%s\"; did you mean %s?", name, near);
    return cli_wrong(args, "there is no formulation \"%s\"; `daedalus list formulations` shows them", name);
}

dae_problem *cli_open_problem(cli_args *args)
{
    return cli_open(args, args->argument[0]);
}

dae_problem *cli_open(cli_args *args, const char *name)
{
    args->status = EXIT_USAGE;
    if (dae_problem_is_file(name) || !strcmp(name, "-")) return open_file(args, name);
    return cli_open_named(args, name);
}

dae_problem *cli_open_named(cli_args *args, const char *name)
{
    const dae_problem_info *info = dae_problem_find(name);
    if (!info) {
        char near[200];
        struct stat what;
        cli_nearest(name, cli_problem_name, near, sizeof near);
        if (stat(name, &what) == 0 && S_ISREG(what.st_mode))
            cli_wrong(args, "there is no problem \"%s\"; the file of that name is opened by its path, ./%s",
                      name, name);
        else if (near[0]) cli_wrong(args, "there is no problem \"%s\"; did you mean %s?", name, near);
        else cli_wrong(args, "there is no problem \"%s\"; `daedalus list problems` shows them", name);
        return NULL;
    }
    dae_setting *setting, *all = NULL;
    int count;
    if (cli_settings(args, "set", &setting, &count)) return NULL;
    all = malloc(((size_t)count + 2) * sizeof *all);
    if (!all) {
        free(setting);
        cli_wrong(args, "out of memory");
        return NULL;
    }
    if (count) memcpy(all, setting, (size_t)count * sizeof *all);
    dae_problem *p = NULL;
    if (!add_index(args, info, all, &count)) {
        dae_error err = {0};
        add_formulation(args, info, all, &count);
        p = dae_problem_create(name, all, count, &err);
        if (!p) cli_wrong(args, "%s", err.text);
        if (p && (check_index(args, p) || set_initial(args, p) || cli_tolerate(args, p))) {
            dae_problem_destroy(p);
            p = NULL;
        }
    }
    free(all);
    free(setting);
    return p;
}
