/* A spatial chain of 40 links with stiff, damped hinges, 920 unknowns of the form ggl. Its axes are parallel at first, so that terms
 * cancel to 1e-20 where later there is nothing either: no reason to make the factors anew. */
#include "mechanics.h"

static const char chain[] =
    "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"chain\", \"dimension\": 3, \"gravity\": [0, "
    "-9.81, "
    "0],"
    "  \"bodies\": [ { \"repeat\": {\"i\": \"1..40\"}, \"name\": \"b{i}\", \"mass\": 1, \"inertia\": [0.01, "
    "0.08, 0.08],"
    "    \"r\": [\"({i} - 0.5)*cos(0.5)\", \"-({i} - 0.5)*sin(0.5)\", 0], \"q\": [\"cos(0.25)\", 0, 0, "
    "\"-sin(0.25)\"] } ],"
    "  \"points\": [ { \"name\": \"e0\", \"body\": \"ground\", \"r\": [0, 0, 0] },"
    "    { \"repeat\": {\"i\": \"1..40\"}, \"name\": \"a{i}\", \"body\": \"b{i}\", \"r\": [-0.5, 0, 0] },"
    "    { \"repeat\": {\"i\": \"1..40\"}, \"name\": \"e{i}\", \"body\": \"b{i}\", \"r\": [0.5, 0, 0] } ],"
    "  \"joints\": [ { \"repeat\": {\"i\": \"1..40\"}, \"name\": \"J{i}\", \"type\": \"revolute\", \"a\": "
    "\"e{i-1}\", \"b\": \"a{i}\","
    "    \"axis\": [0, \"1 - mod({i}, 2)\", \"mod({i}, 2)\"] } ],"
    "  \"forces\": [ { \"repeat\": {\"i\": \"1..40\"}, \"name\": \"k{i}\", \"type\": \"torsion\", \"joint\": "
    "\"J{i}\", \"k\": 1e5, \"c\": 1e3 } ],"
    "  \"initial\": { \"joint\": \"J40\", \"speed\": 0.5 },"
    "  \"simulation\": { \"t1\": 0.3 } }";

static void count_extensions(dae_log_level level, const char *text, void *user)
{
    (void)level;
    *(int *)user += strstr(text, "pattern=extended") != NULL;
}

static void factors_are_sparse_and_kept(void **state)
{
    (void)state;
    static const char *const method[] = {"radau5", "mebdfdae", "dassl"};
    dae_error err = {0};
    dae_problem *p = dae_problem_open_text(chain, sizeof chain - 1, "chain.json", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    int n = dae_system_size(&p->system), extended = 0;
    double *right = malloc((size_t)n * sizeof *right), *y = malloc((size_t)n * sizeof *y);
    assert_true(right && y);
    for (int k = -1; k < 3; k += sanitized_stride) {
        dae_options opt = dae_options_default();
        opt.method = k < 0 ? "radau" : method[k];
        opt.formulation = k < 0 ? "joint" : "ggl";
        opt.rtol = opt.atol = k < 0 ? 1e-8 : 1e-5;
        opt.log = count_extensions;
        opt.log_level = DAE_LOG_INFO;
        opt.log_user = &extended;
        double *to = k < 0 ? right : y;
        memcpy(to, p->y0, (size_t)n * sizeof *to);
        if (dae_solve(&p->system, &opt, p->t0, p->t_end, to, NULL, &err) < 0) fail_msg("%s", err.text);
        for (int i = 0; i < p->system.mech.np; i++) assert_near(to[i], right[i], 1e-3);
    }
    assert_int_equal(extended, 0);
    free(right), free(y);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(factors_are_sparse_and_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
