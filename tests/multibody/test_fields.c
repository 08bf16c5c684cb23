/* Tables of fields: what they promise is readable, and docs/modelling.md shows it. */
#include "mechanics.h"

#include "language/expression.h"
#include "multibody/field.h"
#include "multibody/mechanism.h"

#include <stdio.h>

typedef struct text {
    char s[20000];
    size_t n;
} text;

static int keep(const char *s, size_t length, void *user)
{
    text *t = user;
    assert_true(t->n + length < sizeof t->s);
    memcpy(t->s + t->n, s, length);
    t->n += length;
    t->s[t->n] = 0;
    return 0;
}

/* Every part of "N m|N/m" is a unit; names once; as many fields as the public structs have room for. */
static void check_table(const char *type, const mbs_field *table, size_t size, int room)
{
    int count = 0;
    for (const mbs_field *f = table; f && f->name; f++, count++) {
        assert_true(f->doc && f->doc[0]);
        assert_ptr_equal(mbs_field_find(table, f->name), f);
        assert_true(f->offset < size);
        for (const char *u = f->unit; u; u = strchr(u, '|') ? strchr(u, '|') + 1 : NULL) {
            double factor;
            dae_dimension d;
            size_t n = strcspn(u, "|");
            if (n && dae_unit_read(u, n, &factor, &d)) fail_msg("%s.%s: no unit: %s", type, f->name, u);
        }
    }
    assert_true(count <= room);
}

static void tables_of_all_types_are_sound(void **state)
{
    (void)state;
    const mbs_joint_type *j;
    const mbs_force_type *f;
    for (int i = 0; (j = mbs_joint_type_at(i)) != NULL; i++) {
        assert_true(j->doc && (j->planar_rows || j->spatial_rows));
        check_table(j->name, j->field, j->size, MBS_JOINT_FIELDS);
    }
    for (int i = 0; (f = mbs_force_type_at(i)) != NULL; i++) {
        assert_true(f->doc && (f->acts || f->output)); /* blocks act on nothing */
        check_table(f->name, f->field, f->size, MBS_FORCE_FIELDS);
    }
}

/* The page is made of `daedalus info joints`, `daedalus info forces` and `daedalus info blocks`. */
static void modelling_page_shows_all_types(void **state)
{
    (void)state;
    static char page[200000];
    FILE *file = fopen("docs/modelling.md", "r");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = 0;
    fclose(file);
    static const char *const name[] = {"joints", "forces", "blocks"};
    for (int section = 0; section < 3; section++) {
        static text t;
        t.n = 0;
        assert_int_equal(mbs_write_types(section, 0, keep, &t), DAE_OK);
        for (char *line = strtok(t.s, "\n"); line; line = strtok(NULL, "\n")) {
            if (!strstr(page, line))
                fail_msg("docs/modelling.md does not have this line of `daedalus info %s`:\n%s",
                         name[section], line);
        }
    }
}

/* Values of C are checked as those of files are. */
static void values_are_checked_by_the_table(void **state)
{
    (void)state;
    const struct {
        mbs_value value;
        const char *text;
    } bad[] = {{{"k", .number = 0}, "k: must be positive"},
               {{.name = NULL}, "k: missing"},
               {{"mu", .number = -1}, "mu: must not be negative"},
               {{"kk", .number = 1}, "kk: a contact has no such field"}};
    const mbs_force_type *type = mbs_force_type_find("contact");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unsigned char own[256];
        char wrong[200] = "";
        mbs_value v[2] = {{"k", .number = 5}, bad[i].value};
        int only = i < 2;
        assert_true(
            mbs_fields_fill(type->field, "contact", v + only, only ? 1 : 2, own, wrong, sizeof wrong));
        if (!strstr(wrong, bad[i].text)) fail_msg("\"%s\" instead of \"%s\"", wrong, bad[i].text);
    }
    unsigned char own[256];
    char wrong[200] = "";
    mbs_value v = {"k", .number = 5};
    assert_int_equal(mbs_fields_fill(type->field, "contact", &v, 1, own, wrong, sizeof wrong), 0);
    assert_true(mbs_field_number(type->field, own, "k", -1) == 5);
    assert_true(mbs_field_number(type->field, own, "v_s", -1) == 1e-3);
    assert_true(mbs_field_number(type->field, own, "pitch", -1) == -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_of_all_types_are_sound),
                                       cmocka_unit_test(modelling_page_shows_all_types),
                                       cmocka_unit_test(values_are_checked_by_the_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
