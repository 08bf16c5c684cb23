/* The reader of comma-separated tables on any bytes: it reads nothing it should not (the sanitizers tell), and what it read
 * is written and read again as the same table. FUZZ_INPUTS sets how many inputs are made. */
#include "test.h"

#include "core/error.h"

#include <daedalus/study.h>

static unsigned next(unsigned long long *seed)
{
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(*seed >> 33);
}

/* Counted by the rules and not by the reader: a quote opens a cell as its first letter, else it is a letter. */
static void check_shape(const dae_table *t)
{
    for (int k = 0; k < t->ncol; k++) {
        assert_non_null(t->name[k]);
        assert_non_null(t->unit[k]);
        for (long i = 0; i < t->nrow; i++) assert_non_null(t->text[k * t->nrow + i]);
    }
}

static void one_stray_quote_is_a_letter(void **state)
{
    static const char text[] = "a,b\n1\",2\n3,4\"\n5,6\n7,8\n9,10\n";
    dae_error err = {0};
    (void)state;
    dae_table *t = dae_table_read(text, strlen(text), &err);
    assert_non_null(t);
    assert_int_equal(t->nrow, 5);
    assert_int_equal(t->ncol, 2);
    assert_string_equal(t->text[0], "1\"");
    assert_string_equal(t->text[5 + 1], "4\"");
    assert_near(t->value[5 + 4], 10, 0);
    dae_table_destroy(t);
}

/* The units behind '#' may be quoted: there too both see the same lines. */
static void quoted_units_end_where_they_are_read(void **state)
{
    static const char text[] = "a\n# \"m\n\"s\n\"1\n2\"\n3\n4\n5\n6\n";
    dae_error err = {0};
    (void)state;
    dae_table *t = dae_table_read(text, strlen(text), &err);
    assert_non_null(t);
    assert_string_equal(t->unit[0], "m\ns");
    assert_int_equal(t->nrow, 5);
    assert_string_equal(t->text[0], "1\n2");
    dae_table_destroy(t);
}

static void a_byte_order_mark_is_skipped(void **state)
{
    dae_error err = {0};
    (void)state;
    dae_table *t = dae_table_read("\xEF\xBB\xBFt,x\n1,2\n", 11, &err);
    assert_non_null(t);
    assert_int_equal(dae_table_find(t, "t"), 0);
    dae_table_destroy(t);
}

static void any_bytes(void **state)
{
    static const char *const piece[] = {"\"", "\"\"",   ",", "\n",  "\r\n", "#",           "# ",
                                        "1",  "-2.5e3", "a", "nan", " ",    "\xEF\xBB\xBF"};
    long rounds = fuzz_inputs(200000), good = 0;
    unsigned long long seed = 20;
    (void)state;
    for (long round = 0; round < rounds; round++) {
        char text[256];
        size_t n = 0;
        for (unsigned left = next(&seed) % 40; left > 0; left--) {
            if (next(&seed) % 20 == 0) {
                text[n++] = (char)(1 + next(&seed) % 255);
            } else {
                const char *p = piece[next(&seed) % (sizeof piece / sizeof *piece)];
                memcpy(text + n, p, strlen(p));
                n += strlen(p);
            }
        }
        char *exact = malloc(n + 1); /* so that the sanitizer sees its end */
        assert_non_null(exact);
        memcpy(exact, text, n);
        dae_error err = {0};
        dae_table *t = dae_table_read(exact, n, &err);
        free(exact);
        if (t) {
            good++;
            check_shape(t);
        } else {
            assert_true(err.status < 0 && err.text[0]);
        }
        dae_table_destroy(t);
    }
    assert_true(good > rounds / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_stray_quote_is_a_letter),
        cmocka_unit_test(quoted_units_end_where_they_are_read),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
