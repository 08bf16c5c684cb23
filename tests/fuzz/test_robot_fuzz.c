/* Robot files, mutated: no crash, no hang, and every refusal has a message (the sanitizers tell the rest). */
#include "test.h"

#include <daedalus/daedalus.h>

static unsigned next(unsigned long long *seed)
{
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(*seed >> 33);
}

static int drop(const char *text, size_t length, void *user)
{
    (void)text;
    *(size_t *)user += length;
    return 0;
}

static const char mjcf[] = "<mujoco><compiler angle='degree'/><default><geom density='500'/><default "
                           "class='a'><joint damping='1'/></default></default>"
                           "<worldbody><geom type='plane' size='1 1 1'/><body name='b' pos='0 0 1' euler='0 "
                           "20 0' childclass='a'><freejoint/><geom size='.1'/>"
                           "<body name='c' pos='0 0 .3'><joint name='j' axis='1 0 0' range='-30 30'/><joint "
                           "type='slide' pos='0 .1 0'/><geom type='capsule' "
                           "fromto='0 0 0 0 0 .4' size='.05'/></body></body></worldbody><equality><connect "
                           "body1='c' anchor='0 0 .4'/></equality></mujoco>";

static void reader_survives_mutated_robots(void **state)
{
    (void)state;
    static const char *const files[] = {"kr5", "ur10", NULL};
    static const char *const words[] = {"<",     ">",   "/>",   "</link>", "\"",     "0",     "-1",
                                        "1e308", "nan", "&lt;", "<!--",    "<joint", "world", "fixed"};
    unsigned long long seed = 19;
    long each = fuzz_inputs(1200) / 3, taken = 0, refused = 0;
    for (int k = 0; k < 3; k++) {
        static char original[20000], text[20100];
        size_t length = sizeof mjcf - 1;
        memcpy(original, mjcf, length);
        if (files[k]) {
            char path[100];
            snprintf(path, sizeof path, "tests/multibody/robots/%s.urdf", files[k]);
            FILE *file = fopen(path, "rb");
            assert_non_null(file);
            length = fread(original, 1, sizeof original, file);
            fclose(file);
        }
        for (long round = 0; round < each; round++) {
            size_t n = length, written = 0;
            dae_error err = {0};
            memcpy(text, original, n);
            for (unsigned i = next(&seed) % 4; i; i--) {
                size_t at = next(&seed) % n;
                const char *word = words[next(&seed) % (sizeof words / sizeof *words)];
                if (next(&seed) % 3 == 0) n = at + 1; /* cut off */
                else if (at + strlen(word) < n) memcpy(text + at, word, strlen(word));
            }
            dae_status s = mbs_import(text, n, NULL, NULL, drop, &written, &err);
            if (s < 0 && !err.text[0]) fail_msg("refused without a word");
            if (s >= 0 && !written) fail_msg("taken, and nothing was written");
            dae_problem *p = s < 0 ? NULL : mbs_import_problem(text, n, NULL, NULL, 0, &err);
            dae_problem_destroy(p);
            taken += s >= 0;
            refused += s < 0;
        }
    }
    assert_true(taken > each / 4 && refused > each / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reader_survives_mutated_robots)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
