/* Texts of problems are read without memory at any point: a problem, or DAE_ERR_MEMORY. Another status would be believed: of a variant
 * with another parameter that it does not exist (a derivative becomes one-sided), of a run of a study that it has failed for ever. */
#include "test.h"

#include <daedalus/daedalus.h>

#include <jansson.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static long count, at; /* allocation number `at` fails; 0: none */

static int fails(void)
{
    return at > 0 && ++count == at;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return fails() ? NULL : __real_realloc(p, n);
}

static void texts_without_memory_are_not_wrong(void **state)
{
    static const char *const file[] = {"models/slider_crank.json",
                                       "models/four_bar.json",
                                       "models/web_cutter.json",
                                       "models/carousel.json",
                                       "models/hmmwv.json",
                                       "models/pendulum.deq",
                                       "models/heater.deq",
                                       "models/amplifier.deq",
                                       "models/ball.deq",
                                       "examples/equations/crane.deq",
                                       "examples/equations/chemostat.deq"};
    (void)state;
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        dae_problem *whole = dae_problem_open(file[i], NULL, 0, NULL);
        assert_non_null(whole);
        for (long k = 1;; k += sanitized_stride) {
            dae_error err = {0};
            count = 0;
            at = k;
            dae_problem *p = dae_problem_open(file[i], NULL, 0, &err);
            at = 0;
            if (!p && err.status != DAE_ERR_MEMORY) fail_msg("%s, allocation %ld: %s", file[i], k, err.text);
            if (p && (p->derived.ncolumn != whole->derived.ncolumn || p->ndrawn != whole->ndrawn ||
                      p->hash != whole->hash || !p->derived.energy != !whole->derived.energy))
                fail_msg("%s, allocation %ld: a part of it is missing", file[i], k);
            dae_problem_destroy(p);
            if (count < k) break;
        }
        dae_problem_destroy(whole);
    }
}

static void *counted(size_t size)
{
    return malloc(size);
}

int main(void)
{
    json_set_alloc_funcs(counted, free); /* those of jansson may fail, too */
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_without_memory_are_not_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
