/* The fuzz entry of model files on mutations of the models of the library: no crash, no hang (the sanitizers tell). */
#include "test.h"

#include "model_entry.h"

#include <dirent.h>

static unsigned next(unsigned long long *seed)
{
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(*seed >> 33);
}

static void reader_survives_mutated_models(void **state)
{
    (void)state;
    static const char *const names[] = {"pendulum", "slider_crank",   "spinning_top",
                                        "robot",    "newtons_cradle", "rolling_disc"};
    static const char *const words[] = {"0",
                                        "-1",
                                        "1e300",
                                        "1e-300",
                                        "\"\"",
                                        "[]",
                                        "{}",
                                        "null",
                                        "true",
                                        "\"t\"",
                                        "\"1/0\"",
                                        "[0,0,0]",
                                        "\"revolute\"",
                                        "\"gear\"",
                                        "\"ground\"",
                                        "3",
                                        "2",
                                        "\"sum(i in 1..9,i)\""};
    unsigned long long seed = 17;
    enum { count = sizeof names / sizeof *names };
    long each = fuzz_inputs(1500) / count, read = 0;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char path[100];
        snprintf(path, sizeof path, "models/%s.json", names[k]);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        char original[8192], text[9000];
        size_t length = fread(original, 1, sizeof original, file);
        fclose(file);
        for (long round = each; round > 0; round--) {
            size_t n = length;
            memcpy(text, original, n);
            for (unsigned i = 1 + next(&seed) % 3; i; i--) {
                size_t at = next(&seed) % n, span = next(&seed) % 8;
                if (next(&seed) % 2) { /* a value becomes a word: from ':' to ',' */
                    while (at < n && text[at] != ':') at++;
                    const char *word = words[next(&seed) % (sizeof words / sizeof *words)];
                    size_t end = at + 1, w = strlen(word);
                    while (end < n && !strchr(",}]", text[end])) end++;
                    if (at + 1 >= n || n + w > sizeof text - 2) continue;
                    memmove(text + at + 1 + w, text + end, n - end);
                    memcpy(text + at + 1, word, w);
                    n = n - (end - at - 1) + w;
                } else if (at + span < n) { /* letters are dropped or changed */
                    if (next(&seed) % 2) {
                        memmove(text + at, text + at + span, n - at - span);
                        n -= span;
                    } else {
                        text[at] = (char)(32 + next(&seed) % 95);
                    }
                }
            }
            char *exact = malloc(n + 1); /* so that the sanitizer sees its end */
            assert_non_null(exact);
            memcpy(exact, text, n);
            read += LLVMFuzzerTestOneInput((const uint8_t *)exact, n) == 0;
            free(exact);
        }
    }
    assert_int_equal(read, count * each);
}

/* Inputs of coverage-guided runs that reached new code: small files that each take another way through the reader. */
static void reader_survives_the_corpus(void **state)
{
    (void)state;
    DIR *folder = opendir("tests/fuzz/corpus");
    assert_non_null(folder);
    int count = 0;
    for (struct dirent *e = readdir(folder); e; e = readdir(folder)) {
        char path[400], text[8192];
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "tests/fuzz/corpus/%s", e->d_name);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        size_t n = fread(text, 1, sizeof text, file);
        fclose(file);
        count += LLVMFuzzerTestOneInput((const uint8_t *)text, n) == 0;
    }
    closedir(folder);
    assert_true(count >= 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reader_survives_the_corpus),
                                       cmocka_unit_test(reader_survives_mutated_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
