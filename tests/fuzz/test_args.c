/* The option parser of the command line program on random words: it answers 0 or 2 and reads nothing it
 * should not (the sanitizers tell). */
#include "test.h"

#include "../../apps/cli/args.c"
#include "../../apps/cli/plugin.c" /* names of solvers */
#include "../../apps/cli/text.c"   /* cli_write_file */

#include <fcntl.h>
#include <unistd.h>

static const cli_option options[] = {
    {"rtol", "R", NULL, ""},   {"set", "NAME=VALUE", NULL, ""}, {"json", NULL, NULL, ""},
    {"quiet", NULL, NULL, ""}, {"out", "F", NULL, ""},          {NULL, NULL, NULL, NULL},
};
static const cli_command command = {"run", "", "PROBLEM", NULL, 1, 1, options, NULL, NULL, NULL};

static unsigned next(unsigned long long *seed)
{
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(*seed >> 33);
}

static void parser_survives_any_words(void **state)
{
    (void)state;
    static const char *const words[] = {"--rtol", "--rtol=", "--rtol=1", "--set", "a=b",     "--set=a=b",
                                        "=",      "-",       "--",       "---",   "",        "-q",
                                        "-o",     "--json",  "--json=1", "hires", "--quite", "-x",
                                        "--=",    "a=",      "=b",       "1e-5",  "-5"};
    unsigned long long seed = 7;
    int fine = 0, out = dup(1), err = dup(2), null = open("/dev/null", O_WRONLY);
    assert_true(out >= 0 && err >= 0 && null >= 0);
    fflush(stdout);
    dup2(null, 1); /* 50000 complaints */
    dup2(null, 2);
    long rounds = fuzz_inputs(50000);
    for (long round = rounds; round > 0; round--) {
        char noise[8][12], *argv[8];
        int argc = (int)(next(&seed) % 8);
        for (int i = 0; i < argc; i++) {
            argv[i] = noise[i];
            if (next(&seed) % 4) {
                snprintf(noise[i], sizeof noise[i], "%s",
                         words[next(&seed) % (sizeof words / sizeof *words)]);
            } else {
                size_t n = next(&seed) % sizeof noise[i];
                for (size_t k = 0; k < n; k++) noise[i][k] = (char)(1 + next(&seed) % 255);
                noise[i][n < sizeof noise[i] ? n : sizeof noise[i] - 1] = 0;
            }
        }
        cli_args args;
        int status = cli_parse(&args, &command, argc, argv);
        assert_true(status == 0 || status == EXIT_USAGE);
        if (!status) {
            dae_setting *list;
            int count;
            double x;
            fine++;
            assert_int_equal(args.count, 1);
            if (cli_value(&args, "rtol")) cli_number(&args, "rtol", cli_value(&args, "rtol"), &x);
            int bad = cli_settings(&args, "set", &list, &count);
            for (int i = 0; i < count; i++)
                assert_true(list[i].name[0] && list[i].value[0] && !strchr(list[i].name, '='));
            assert_true(bad == 0 || count == 0);
            free(list);
        }
        cli_args_free(&args);
    }
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    close(null);
    assert_true(fine > rounds / 100);
}

static const char *name_at(int i)
{
    static const char *const names[] = {"hires", "andrews", "rober", "vdpol-mu", "vdpol-eps"};
    return i < 5 ? names[i] : NULL;
}

static void nearest_names_are_found(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"hirse", "hires"},  {"andrws", "andrews"}, {"vdpol", "vdpol-mu, vdpol-eps"},
        {"robber", "rober"}, {"elephant", ""},      {"", ""}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char near[64];
        cli_nearest(pairs[i][0], name_at, near, sizeof near);
        assert_string_equal(near, pairs[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nearest_names_are_found),
                                       cmocka_unit_test(parser_survives_any_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
