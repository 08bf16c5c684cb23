/* The fuzz entry of expressions on mutated texts: no crash, no endless reading (the sanitizers tell). */
#include "test.h"

#include "expression_entry.h"

static unsigned next(unsigned long long *seed)
{
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(*seed >> 33);
}

static void reader_survives_mutated_texts(void **state)
{
    (void)state;
    static const char *const seeds[] = {"k*(1-exp(-t/0.05))",
                                        "150[mm]",
                                        "if(x < 0 && y >= 1, x^2, sqrt(y))",
                                        "table(x, 0,0, 1,2, 3,4)",
                                        "sum(i in 1..5, sin(i*x)/i)",
                                        "atan2(y,x)+9.81[m/s^2]*t^2/2",
                                        "-x^-2^3 || !y",
                                        "smoothstep(t,0,1[s])*1e-3"};
    static const char letters[] = "0123456789.eE+-*/^()[]<>=!&|,xytki smkgN%sincopwtablu\t\"'#\x80\xff";
    unsigned long long seed = 11;
    for (long round = fuzz_inputs(20000); round > 0; round--) {
        char text[256];
        size_t n =
            (size_t)snprintf(text, sizeof text, "%s", seeds[next(&seed) % (sizeof seeds / sizeof *seeds)]);
        for (unsigned k = next(&seed) % 6; k; k--) {
            size_t at = next(&seed) % (n + 1);
            char c = letters[next(&seed) % (sizeof letters - 1)];
            if (next(&seed) % 3 == 0 && at < n) { /* delete */
                memmove(text + at, text + at + 1, n - at);
                n--;
            } else if (next(&seed) % 2 && n + 2 < sizeof text) { /* insert */
                memmove(text + at + 1, text + at, n - at + 1);
                text[at] = c;
                n++;
            } else if (at < n) {
                text[at] = c;
            }
        }
        assert_int_equal(LLVMFuzzerTestOneInput((const uint8_t *)text, n), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reader_survives_mutated_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
