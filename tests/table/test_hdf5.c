/* Tables written as HDF5 files and read back. */
#include "test.h"

#include <daedalus/study.h>

typedef struct memory {
    char *data;
    size_t length;
} memory;

static int remember(const char *text, size_t length, void *user)
{
    memory *m = user;
    m->data = realloc(m->data, m->length + length);
    assert_non_null(m->data);
    memcpy(m->data + m->length, text, length);
    m->length += length;
    return 0;
}

static int refuse(const char *text, size_t length, void *user)
{
    (void)text, (void)length, (void)user;
    return -1;
}

static const char sweep_text[] = "run,mu,status,reason,t,x/y,t,x/y@0,z@0,x/y@0.5,z@0.5,x/y@1,z@1\n"
                                 "# ,,,,s,m,,m,rad,m,rad,m,rad\n"
                                 "0,0.10000000000000001,ok,,1,-1e-300,7,1,2,3,4,5,6\n"
                                 "1,0.5,failed,\"no, it did not\",,,8,7,8,,,,\n";

static dae_table *parse(const char *text, size_t length)
{
    dae_error err = {0};
    dae_table *t = dae_table_read(text, length, &err);
    if (!t) fail_msg("%s", err.text);
    return t;
}

static int setup(void **state)
{
    memory *m = calloc(1, sizeof *m);
    dae_table *t = parse(sweep_text, sizeof sweep_text - 1);
    dae_error err = {0};
    dae_table_note(t, "command", "daedalus sweep", 0);
    dae_table_note(t, "rtol", NULL, 1e-7);
    dae_table_mark_words(t, "status");
    dae_table_mark_words(t, "reason");
    dae_status s = dae_table_hdf5(t, remember, m, &err);
    dae_table_destroy(t);
    if (s == DAE_ERR_UNSUPPORTED) {
        print_message("%s\n", err.text);
        exit(0); /* built without */
    }
    assert_int_equal(s, DAE_OK);
    *state = m;
    return 0;
}

static int teardown(void **state)
{
    memory *m = *state;
    free(m->data);
    free(m);
    return 0;
}

static void hdf5_reads_back_what_was_written(void **state)
{
    const memory *m = *state;
    dae_table *a = parse(sweep_text, sizeof sweep_text - 1), *b = parse(m->data, m->length);
    assert_int_equal(b->ncol, a->ncol);
    assert_int_equal(b->nrow, a->nrow);
    for (int k = 0; k < a->ncol; k++) {
        assert_string_equal(b->unit[k], a->unit[k]);
        if (strchr(a->name[k], '@')) { /* a "/" cannot be in the name of a dataset */
            assert_string_equal(strchr(b->name[k], '@'), strchr(a->name[k], '@'));
            assert_int_equal(b->name[k][0], a->name[k][0]);
        } else {
            assert_string_equal(b->name[k], a->name[k]);
        }
        for (long i = 0; i < a->nrow; i++) {
            double x = a->value[k * a->nrow + i], y = b->value[k * a->nrow + i];
            assert_true(isnan(x) ? isnan(y) : x == y);
            assert_string_equal(b->text[k * a->nrow + i], a->text[k * a->nrow + i]);
        }
    }
    assert_int_equal(b->nattribute, 2);
    assert_string_equal(b->attribute[0].name, "command");
    assert_string_equal(b->attribute[0].text, "daedalus sweep");
    assert_null(b->attribute[1].text);
    assert_true(b->attribute[1].value == 1e-7);
    dae_table_destroy(a);
    dae_table_destroy(b);
}

static void hdf5_same_table_is_the_same_file(void **state)
{
    const memory *m = *state;
    memory again = {0};
    dae_table *t = parse(m->data, m->length);
    dae_table *u = parse(sweep_text, sizeof sweep_text - 1);
    u->attribute = t->attribute;
    u->nattribute = t->nattribute;
    dae_table_mark_words(u, "reason");
    assert_int_equal(dae_table_hdf5(u, remember, &again, NULL), DAE_OK);
    assert_int_equal(again.length, m->length);
    assert_memory_equal(again.data, m->data, m->length);
    free(again.data);
    dae_table_destroy(t);
    dae_table_destroy(u);
}

static void hdf5_table_without_rows_and_text(void **state)
{
    static const char *const name[] = {"t", "a", ".", ""}, *const unit[] = {"s", "", "", ""};
    memory out = {0};
    dae_table empty = {.ncol = 2, .nrow = 0, .name = name, .unit = unit, .value = (double[]){0}};
    (void)state;
    assert_int_equal(dae_table_hdf5(&empty, remember, &out, NULL), DAE_OK);
    dae_table *t = parse(out.data, out.length);
    assert_int_equal(t->ncol, 2);
    assert_int_equal(t->nrow, 0);
    assert_string_equal(t->unit[0], "s");
    dae_table_destroy(t);
    out.length = 0;
    dae_table numbers = {
        .ncol = 4, .nrow = 2, .name = name, .unit = unit, .value = (double[]){0, 1, 2, 3, 4, 5, 6, NAN}};
    assert_int_equal(dae_table_hdf5(&numbers, remember, &out, NULL), DAE_OK);
    t = parse(out.data, out.length);
    assert_string_equal(t->name[2], ".");
    assert_string_equal(t->name[3], "");
    assert_true(t->value[5] == 5 && isnan(t->value[7]));
    assert_string_equal(t->text[7], "");
    dae_table_destroy(t);
    free(out.data);
}

/* More names than an attribute has room for. */
static void hdf5_wide_table_keeps_the_order(void **state)
{
    enum { n = 3500 };
    static char text[n][8];
    static const char *name[n], *unit[n];
    static double value[n];
    memory out = {0};
    (void)state;
    for (int k = 0; k < n; k++) {
        snprintf(text[k], sizeof text[k], "c%d", n - k);
        name[k] = text[k];
        unit[k] = k % 2 ? "m" : "";
        value[k] = k;
    }
    dae_table wide = {.ncol = n, .nrow = 1, .name = name, .unit = unit, .value = value};
    assert_int_equal(dae_table_hdf5(&wide, remember, &out, NULL), DAE_OK);
    dae_table *t = parse(out.data, out.length);
    assert_int_equal(t->ncol, n);
    for (int k = 0; k < n; k++) {
        assert_string_equal(t->name[k], name[k]);
        assert_string_equal(t->unit[k], unit[k]);
        assert_true(t->value[k] == k);
    }
    dae_table_destroy(t);
    free(out.data);
}

static void hdf5_damaged_files_are_refused(void **state)
{
    const memory *m = *state;
    for (size_t n = 8; n < m->length; n += m->length / 7) {
        dae_error err = {0};
        assert_null(dae_table_read(m->data, n, &err));
        assert_int_equal(err.status, DAE_ERR_INPUT);
        assert_non_null(strstr(err.text, "HDF5"));
    }
}

static void hdf5_write_that_stops_is_an_error(void **state)
{
    dae_table *t = parse(sweep_text, sizeof sweep_text - 1);
    dae_error err = {0};
    (void)state;
    assert_int_equal(dae_table_hdf5(t, refuse, NULL, &err), DAE_ERR_FILE);
    assert_int_equal(err.status, DAE_ERR_FILE);
    dae_table_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hdf5_reads_back_what_was_written),
        cmocka_unit_test(hdf5_same_table_is_the_same_file),
        cmocka_unit_test(hdf5_table_without_rows_and_text),
        cmocka_unit_test(hdf5_damaged_files_are_refused),
        cmocka_unit_test(hdf5_wide_table_keeps_the_order),
        cmocka_unit_test(hdf5_write_that_stops_is_an_error),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
