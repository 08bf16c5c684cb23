/* Tables that are filled, written and read again in every text format; provenance. */
#include "test.h"

#include <daedalus/provenance.h>
#include <daedalus/table.h>

#include <stdlib.h>
#include <string.h>

typedef struct buffer {
    char text[8192];
    size_t used;
} buffer;

static int collect(const char *text, size_t length, void *user)
{
    buffer *b = user;
    assert_true(b->used + length < sizeof b->text);
    memcpy(b->text + b->used, text, length);
    b->used += length;
    b->text[b->used] = 0;
    return 0;
}

static dae_table *sample(void)
{
    dae_table *t = dae_table_create(3, 2);
    assert_non_null(t);
    dae_table_column(t, 0, "t", "s");
    dae_table_column(t, 1, "x, y", "m");
    dae_table_column(t, 2, "status", NULL);
    dae_table_set(t, 0, 0, 0.1);
    dae_table_set(t, 1, 0, 1e-300);
    dae_table_set(t, 0, 1, -2.5);
    dae_table_set_text(t, 0, 2, "say \"ok\"");
    dae_table_set_text(t, 1, 2, "");
    dae_table_note(t, "problem", "none", 0);
    dae_table_note(t, "rtol", NULL, 1e-7);
    dae_table_note(t, "problem", "a\nb", 0); /* replaces */
    return t;
}

static void check_sample(const dae_table *t)
{
    assert_int_equal(t->ncol, 3);
    assert_int_equal(t->nrow, 2);
    assert_string_equal(t->name[1], "x, y");
    assert_string_equal(t->unit[0], "s");
    assert_string_equal(t->unit[2], "");
    assert_true(t->value[0] == 0.1 && t->value[1] == 1e-300 && t->value[2] == -2.5);
    assert_true(isnan(t->value[3]) && isnan(t->value[4]));
    assert_string_equal(t->text[4], "say \"ok\"");
    assert_int_equal(t->nattribute, 2);
    assert_string_equal(t->attribute[0].name, "problem");
    assert_null(t->attribute[1].text);
    assert_true(t->attribute[1].value == 1e-7);
}

static void csv_is_names_units_attributes_values(void **state)
{
    (void)state;
    dae_table *t = sample();
    buffer b = {.used = 0};
    assert_int_equal(dae_table_csv(t, collect, &b), DAE_OK);
    assert_string_equal(b.text, "t,\"x, y\",status\n# s,m,\n# problem: a b\n# rtol: 9.9999999999999995e-08\n"
                                "0.10000000000000001,-2.5,\"say \"\"ok\"\"\"\n1e-300,nan,\n");
    dae_table *back = dae_table_read(b.text, b.used, NULL);
    assert_non_null(back);
    check_sample(back);
    assert_string_equal(back->attribute[0].text, "a b");
    dae_table_destroy(back);
    t->no_units = 1;
    t->nattribute = 0;
    b.used = 0;
    assert_int_equal(dae_table_csv(t, collect, &b), DAE_OK);
    assert_memory_equal(b.text, "t,\"x, y\",status\n0.1", 19);
    dae_table_destroy(t);
}

static void json_reads_back(void **state)
{
    (void)state;
    dae_table *t = sample();
    buffer b = {.used = 0};
    dae_error err = {0};
    assert_int_equal(dae_table_json(t, collect, &b), DAE_OK);
    dae_table *back = dae_table_read(b.text, b.used, &err);
    assert_non_null(back);
    check_sample(back);
    assert_string_equal(back->attribute[0].text, "a\nb");
    dae_table_destroy(back);
    dae_table_destroy(t);
    static const char *const wrong[] = {
        "{\"columns\":[{\"name\":\"a\",\"values\":[1]},{\"name\":\"b\",\"values\":[]}]}", "{\"columns\":[]}",
        "{\"columns\":[{\"values\":[1]}]}", "{"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        err = (dae_error){0};
        assert_null(dae_table_read(wrong[i], strlen(wrong[i]), &err));
        assert_int_equal(err.status, DAE_ERR_INPUT);
    }
}

static void formats_go_by_the_ending(void **state)
{
    (void)state;
    assert_int_equal(dae_table_format_of("a.csv"), DAE_TABLE_CSV);
    assert_int_equal(dae_table_format_of("a.b/c.json"), DAE_TABLE_JSON);
    assert_int_equal(dae_table_format_of("x.hdf5"), DAE_TABLE_HDF5);
    assert_int_equal(dae_table_format_of("x.gp"), DAE_TABLE_GNUPLOT);
    assert_int_equal(dae_table_format_of("x.jsonl"), DAE_TABLE_UNKNOWN);
    assert_int_equal(dae_table_format_of(".csv"), DAE_TABLE_UNKNOWN);
    dae_table *t = sample();
    buffer b = {.used = 0};
    dae_error err = {0};
    assert_int_equal(dae_table_write(t, DAE_TABLE_UNKNOWN, collect, &b, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, ".json"));
    dae_table_set(t, 1, 1, 3);
    assert_int_equal(dae_table_write(t, DAE_TABLE_GNUPLOT, collect, &b, &err), DAE_OK);
    assert_non_null(strstr(b.text, "plot $data"));
    dae_table_destroy(t);
}

static void columns_are_chosen_by_name(void **state)
{
    (void)state;
    dae_table *t = sample();
    dae_error err = {0};
    dae_table *some = dae_table_choose(t, "status", &err);
    assert_non_null(some);
    assert_int_equal(some->ncol, 2);
    assert_string_equal(some->name[1], "status");
    assert_string_equal(some->text[2], "say \"ok\"");
    assert_int_equal(some->nattribute, 2);
    dae_table_destroy(some);
    assert_null(dae_table_choose(t, "status,nothing", &err));
    assert_non_null(strstr(err.text, "1 of these is no column"));
    t->failed = 1; /* a name that is not there may be one that memory was missing for */
    assert_null(dae_table_choose(t, "status,nothing", &err));
    assert_int_equal(err.status, DAE_ERR_MEMORY);
    t->failed = 0;
    dae_table_destroy(t);
}

static void provenance_tells_machine_and_build(void **state)
{
    (void)state;
    dae_provenance p;
    buffer b = {.used = 0};
    dae_provenance_now(&p);
    assert_true(p.cores >= 1);
    assert_int_equal(strlen(p.date), 20);
    assert_int_equal(p.date[19], 'Z');
    assert_true(p.version[0] && p.compiler[0] && p.system[0] && p.libraries[0]);
    assert_non_null(strstr(p.flags, "-ffp-contract=off"));
    assert_int_equal(dae_provenance_json(&p, collect, &b), DAE_OK);
    assert_memory_equal(b.text, "{\"cores\":", 9);
    assert_non_null(strstr(b.text, p.date));
    dae_table *t = sample();
    dae_provenance_note(&p, t);
    for (int i = 0, found = 0; i <= t->nattribute; i++) {
        if (i == t->nattribute) assert_int_equal(found, 3);
        else
            found += !strcmp(t->attribute[i].name, "processor") || !strcmp(t->attribute[i].name, "cores") ||
                     !strcmp(t->attribute[i].name, "compiler");
    }
    dae_table_destroy(t);
}

/* What is saved reads back; a folder that is not there and an ending that says nothing are told, and nothing is left over. */
static void a_table_is_saved_by_its_ending(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_table *t = dae_table_create(2, 2), *back;
    dae_table_column(t, 0, "t", "s");
    dae_table_column(t, 1, "x", "m");
    for (int i = 0; i < 4; i++) dae_table_set(t, i % 2, i / 2, 0.1 * (i + 1));
    assert_int_equal(dae_table_save(t, "test_table_saved.json", &err), DAE_OK);
    assert_int_equal(dae_table_save(t, "test_table_saved.json", &err),
                     DAE_OK); /* in the place of the old one */
    FILE *file = fopen("test_table_saved.json", "rb");
    assert_non_null(file);
    char text[1024];
    size_t n = fread(text, 1, sizeof text, file);
    fclose(file);
    assert_non_null(back = dae_table_read(text, n, &err));
    for (int i = 0; i < 4; i++) assert_true(back->value[i] == t->value[i]);
    dae_table_destroy(back);
    remove("test_table_saved.json");
    assert_int_equal(dae_table_save(t, "nowhere/at/all.csv", &err), DAE_ERR_FILE);
    assert_non_null(strstr(err.text, "nowhere/at/all.csv"));
    assert_int_equal(dae_table_save(t, "table.txt", &err), DAE_ERR_INPUT);
    assert_null(fopen("test_table_saved.json.part", "rb"));
    dae_table_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_table_is_saved_by_its_ending),
                                       cmocka_unit_test(csv_is_names_units_attributes_values),
                                       cmocka_unit_test(json_reads_back),
                                       cmocka_unit_test(formats_go_by_the_ending),
                                       cmocka_unit_test(columns_are_chosen_by_name),
                                       cmocka_unit_test(provenance_tells_machine_and_build)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
