/* A program around the library may have set a locale whose decimal point is a comma: models, options, expressions and tables are
 * read as ever, and what is written is the same, byte for byte. */
#include "test.h"

#include "core/number.h"

#include <daedalus/daedalus.h>

#include <locale.h>
#include <unistd.h>

/* de_DE where it is installed, else a locale of our own made by localedef; 0: there is none. */
static int set_comma(void)
{
    static const char *const known[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (setlocale(LC_ALL, known[i])) return 1;
    }
    char folder[] = "/tmp/daedalus_locale_XXXXXX", command[400];
    if (!mkdtemp(folder)) return 0;
    snprintf(command, sizeof command,
             "cd %s && printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \".\"\\ngrouping 3;3\\nEND "
             "LC_NUMERIC\\n' >comma && "
             "localedef -c -i comma ./xx_XX >/dev/null 2>&1; test -d xx_XX",
             folder);
    int made =
        system(command) == 0 && setenv("LOCPATH", folder, 1) == 0 && setlocale(LC_NUMERIC, "xx_XX") != NULL;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 && made;
}

typedef struct sink {
    char text[200000];
    size_t length;
} sink;

static int take(const char *text, size_t length, void *user)
{
    sink *s = user;
    if (s->length + length >= sizeof s->text) return -1;
    memcpy(s->text + s->length, text, length);
    s->length += length;
    s->text[s->length] = 0;
    return 0;
}

static const char model[] =
    "{\"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"p\", \"dimension\": 2, \"parameters\": {\"L\": "
    "\"1.5[m]\"},"
    "\"gravity\": [0, \"-9.81[m/s^2]\"],"
    "\"bodies\": [{\"name\": \"rod\", \"mass\": 1.25, \"inertia\": \"0.1*L^2\", \"r\": [\"L/2\", 0]}],"
    "\"points\": [{\"name\": \"O\", \"body\": \"ground\", \"r\": [0, 0]}, {\"name\": \"A\", \"body\": "
    "\"rod\", \"r\": [\"-L/2\", 0]}],"
    "\"joints\": [{\"name\": \"pin\", \"type\": \"revolute\", \"a\": \"O\", \"b\": \"A\"}],"
    "\"sensors\": [{\"name\": \"s\", \"value\": \"0.5*rod.omega\"}],"
    "\"simulation\": {\"t1\": 0.25, \"rtol\": 1.5e-6, \"atol\": 2.5e-8}}";

/* Everything that reads or writes a number. */
static void everything(sink *out)
{
    dae_error err = {0};
    dae_setting set[] = {{"L", "1.75"}}, k1[] = {{"mu", "500.5"}};
    mbs_model *m = mbs_model_parse(model, strlen(model), set, 1, &err);
    if (!m) fail_msg("%s", err.text);
    dae_problem *p = mbs_problem_create(m, &err);
    if (!p) fail_msg("%s", err.text);
    mbs_model_destroy(m);
    const dae_problem *q = p;
    dae_run_options o = dae_run_options_default(q);
    o.trajectory = DAE_TRAJECTORY_EQUIDISTANT;
    o.points = 11;
    dae_run_result *r = dae_run(q, &o, &err);
    if (!r) fail_msg("%s", err.text);
    assert_int_equal(r->status, DAE_OK);
    r->cpu_seconds = 0.125;
    assert_int_equal(dae_run_csv(r, take, out), DAE_OK);
    assert_int_equal(dae_run_json(r, take, out), DAE_OK);
    assert_int_equal(dae_run_report(r, 0, take, out), DAE_OK);
    assert_int_equal(dae_run_plot(r, "svg", take, out), DAE_OK);
    mbs_track track = {.n = r->npoint, .t = r->point_t, .y = r->point_y};
    assert_int_equal(mbs_write_motion(p, &track, MBS_SHOW_SMALL, take, out), DAE_OK);
    assert_int_equal(mbs_write_motion(p, &track, MBS_SHOW_SCENE, take, out), DAE_OK);
    dae_run_destroy(r);
    dae_problem_destroy(p);

    dae_options opt = dae_options_default();
    assert_int_equal(dae_options_set(&opt, "rtol", "2.5e-7", &err), DAE_OK);
    assert_near(opt.rtol, 2.5e-7, 0);
    assert_true(dae_options_set(&opt, "rtol", "2,5", &err) < 0);
    take(err.text, strlen(err.text), out);
    dae_problem *v = dae_problem_create("vdpol", k1, 1, &err);
    if (v) assert_near(v->parameter[0], 500.5, 0);
    dae_problem_destroy(v);
    static const char csv[] = "t,x\n0.5,1e-3\n0.1234567890123456789012,12345.678901234567890123\n";
    dae_table *t = dae_table_read(csv, strlen(csv), &err);
    assert_non_null(t);
    assert_near(t->value[1], 0.1234567890123456789012, 0);
    assert_near(t->value[3], 12345.678901234567890123, 0);
    dae_table_destroy(t);
}

static void the_same_in_every_locale(void **state)
{
    static sink plain, comma;
    char text[32];
    (void)state;
    everything(&plain);
    if (!set_comma()) skip();
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5"); /* the locale is one that matters */
    everything(&comma);
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5"); /* and it is left as it was */
    setlocale(LC_ALL, "C");
    assert_true(plain.length > 5000);
    assert_int_equal(plain.length, comma.length);
    assert_memory_equal(plain.text, comma.text, plain.length);
}

static void numbers_as_in_c(void **state)
{
    char text[32], *end;
    (void)state;
    set_comma();
    assert_near(dae_strtod("1.5e3x", &end), 1500, 0);
    assert_string_equal(end, "x");
    assert_int_equal(dae_snprintf(text, sizeof text, "%.3f", 1234.5), 8);
    assert_string_equal(text, "1234.500");
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_in_every_locale),
        cmocka_unit_test(numbers_as_in_c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
