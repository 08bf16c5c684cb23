/* The fuzz entry of equation files on mutated models: no crash, no endless reading (the sanitizers tell). */
#include "test.h"

#include "equations_entry.h"

#include <dirent.h>

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static const char *const pieces[] = {"(",
                                     ")",
                                     "[",
                                     "]",
                                     "'",
                                     "''",
                                     " = ",
                                     " ~ ",
                                     ":=",
                                     "..",
                                     ",",
                                     "\n",
                                     "end\n",
                                     "for i in 1..3\n",
                                     "if ",
                                     " then ",
                                     " else ",
                                     "when ",
                                     "every 1\n",
                                     "der(",
                                     "sum(i in 1..4, ",
                                     "1e9",
                                     "0",
                                     "-",
                                     "^",
                                     "x",
                                     "t",
                                     "[m]",
                                     "\"",
                                     "component c\n",
                                     "use a = c\n",
                                     "let u[0] = ",
                                     "mod(",
                                     "abs(",
                                     "noevent(",
                                     "solve t = 0 .. 1",
                                     "param ",
                                     "var ",
                                     "fn f(x) = ",
                                     "table r = [(0,1),(1,2)]\n",
                                     "init ",
                                     "#",
                                     ";",
                                     "int N = 3\n",
                                     "use car = mechanism(\"cart.json\")\n",
                                     "car.push",
                                     "car.lean",
                                     "car.hinge.speed",
                                     "car.",
                                     "\x80",
                                     "%"};

/* Bytes changed, cut out, doubled, and words put in. */
static size_t mutate(unsigned *seed, char *text, size_t n, size_t room)
{
    int count = 1 + (int)(next(seed) % 6);
    for (int k = 0; k < count && n > 4; k++) {
        size_t at = next(seed) % n, length = 1 + next(seed) % 12;
        const char *word = pieces[next(seed) % (sizeof pieces / sizeof *pieces)];
        size_t w = strlen(word);
        switch (next(seed) % 4) {
        case 0: text[at] = (char)(next(seed) % 96 + 32); break;
        case 1:
            if (at + length > n) length = n - at;
            memmove(text + at, text + at + length, n - at - length);
            n -= length;
            break;
        case 2:
            if (n + w >= room) break;
            memmove(text + at + w, text + at, n - at);
            memcpy(text + at, word, w);
            n += w;
            break;
        default:
            if (at + length > n) length = n - at;
            if (n + length >= room) break;
            memmove(text + at + length, text + at, n - at);
            n += length;
        }
    }
    return n;
}

static void mutated_models_do_no_harm(void **state)
{
    (void)state;
    enum { room = 20000 };
    long rounds = fuzz_inputs(25 * 60) / 25; /* of each file */
    static const char folder[] = "tests/equations/models";
    char *text = malloc(room), *copy = malloc(room), path[400];
    unsigned seed = 20261117;
    int files = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        FILE *f = strstr(e->d_name, ".deq") ? fopen(path, "rb") : NULL;
        if (!f) continue;
        size_t n = fread(text, 1, room / 2, f);
        fclose(f);
        files++;
        if (strstr(e->d_name, "fekete") || strstr(e->d_name, "medakzo")) continue; /* long to write out */
        for (long k = 0; k < rounds; k++) {
            memcpy(copy, text, n);
            LLVMFuzzerTestOneInput((const uint8_t *)copy, mutate(&seed, copy, n, room));
        }
    }
    closedir(d);
    assert_true(files > 20);
    free(text);
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mutated_models_do_no_harm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
