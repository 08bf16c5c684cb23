/* What is told of the types of joints and forces, from their tables: the tables of docs/modelling.md, and the JSON Schema of
 * the items of "joints" and "forces". */
#include "multibody/field.h"
#include "multibody/scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "N m|N/m" as "N m or N/m". */
static void put_unit(mbs_writer *w, const char *unit)
{
    for (const char *u = unit;; u++) {
        int n = (int)strcspn(u, "|");
        mbs_put(w, "%s%.*s", u == unit ? "" : " or ", n ? n : 1, n ? u : "1");
        u += n;
        if (!*u) return;
    }
}

static void put_fields(mbs_writer *w, const mbs_field *f)
{
    int first = 1;
    for (; f && f->name; f++, first = 0) {
        mbs_put(w, "%s`%s`", first ? "" : "; ", f->name);
        if (f->unit && f->unit[0]) {
            mbs_put_text(w, " [");
            put_unit(w, f->unit);
            mbs_put_text(w, "]");
        }
        if (f->choice && f->kind == MBS_FIELD_CHOICE) {
            mbs_put_text(w, " ");
            put_unit(w, f->choice);
        }
        mbs_put(w, ": %s", f->doc);
        if (f->required) mbs_put_text(w, ", needed");
        else if (f->kind == MBS_FIELD_NUMBER && isfinite(f->missing) && f->missing != 0)
            mbs_put(w, ", default %g", f->missing);
    }
}

static void put_rows(mbs_writer *w, int rows)
{
    if (rows) mbs_put(w, "%d", rows);
    else mbs_put_text(w, "-");
}

static void joints_table(mbs_writer *w)
{
    mbs_put_text(w, "| type | rows planar/spatial | what it does | fields |\n|---|---|---|---|\n");
    const mbs_joint_type *t;
    for (int i = 0; (t = mbs_joint_type_at(i)) != NULL; i++) {
        mbs_put(w, "| `%s` | ", t->name);
        put_rows(w, t->planar_rows);
        mbs_put_text(w, " / ");
        put_rows(w, t->spatial_rows);
        mbs_put_text(w, " | ");
        mbs_put_text(w, t->doc);
        mbs_put_text(w, " | ");
        put_fields(w, t->field);
        mbs_put_text(w, " |\n");
    }
}

static void blocks_table(mbs_writer *w)
{
    mbs_put_text(w, "| type | what it does | fields |\n|---|---|---|\n");
    const mbs_force_type *t;
    for (int i = 0; (t = mbs_force_type_at(i)) != NULL; i++) {
        if (t->acts) continue;
        mbs_put(w, "| `%s` | ", t->name);
        mbs_put_text(w, t->doc);
        mbs_put_text(w, " | ");
        put_fields(w, t->field);
        mbs_put_text(w, " |\n");
    }
}

static void forces_table(mbs_writer *w)
{
    static const char *const on[] = {"points a, b", "point b (and the opposite on a)", "`joint`", "`body`",
                                     "all bodies"};
    mbs_put_text(w, "| type | acts on | what it does | fields |\n|---|---|---|---|\n");
    const mbs_force_type *t;
    for (int i = 0; (t = mbs_force_type_at(i)) != NULL; i++) {
        if (!t->acts) continue;
        mbs_put(w, "| `%s` | ", t->name);
        for (unsigned k = 0, any = 0; k < 5; k++) {
            if (!(t->acts >> k & 1)) continue;
            mbs_put(w, "%s%s", any ? " or " : "", on[k]);
            any = 1;
        }
        mbs_put_text(w, " | ");
        mbs_put_text(w, t->doc);
        mbs_put_text(w, " | ");
        put_fields(w, t->field);
        mbs_put_text(w, " |\n");
    }
}

/* ---- Schema -------------------------------------------------------------------------------------------------- */

static void put_property(mbs_writer *w, const mbs_field *f)
{
    static const char *const type[] = {"{\"$ref\":\"#/$defs/num\"", "{\"type\":\"boolean\"",
                                       "{\"$ref\":\"#/$defs/vec\"", "{\"enum\":[",
                                       "{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/id\"}"};
    mbs_put(w, ",\"%s\":%s", f->name, type[f->kind]);
    if (f->kind == MBS_FIELD_CHOICE) {
        for (const char *c = f->choice;; c++) {
            int n = (int)strcspn(c, "|");
            mbs_put(w, "%s\"%.*s\"", c == f->choice ? "" : ",", n, c);
            c += n;
            if (!*c) break;
        }
        mbs_put_text(w, "]");
    }
    mbs_put(w, ",\"description\":\"%s", f->doc);
    if (f->unit && f->unit[0]) {
        mbs_put_text(w, " [");
        put_unit(w, f->unit);
        mbs_put_text(w, "]");
    }
    mbs_put_text(w, "\"}");
}

/* One type: its name, properties that all have (text), and its fields. */
static void put_type(mbs_writer *w, int first, const char *name, const char *doc, const char *properties,
                     const char *required, const mbs_field *field)
{
    mbs_put_text(w, first ? "" : ",");
    mbs_put_text(w, "{\"type\":\"object\",\"description\":\"");
    mbs_put_text(w, doc);
    mbs_put(w, "\",\"properties\":{\"type\":{\"const\":\"%s\"},", name);
    mbs_put_text(w, "\"name\":{\"$ref\":\"#/$defs/"
                    "id\"},\"doc\":{\"type\":\"string\"},\"repeat\":{\"$ref\":\"#/$defs/repeat\"}");
    mbs_put_text(w, properties);
    for (const mbs_field *f = field; f && f->name; f++) put_property(w, f);
    mbs_put_text(w, "},\"additionalProperties\":false,\"required\":[\"name\",\"type\"");
    mbs_put_text(w, required);
    for (const mbs_field *f = field; f && f->name; f++) {
        if (f->required) mbs_put(w, ",\"%s\"", f->name);
    }
    mbs_put_text(w, "]}");
}

#define POINTS ",\"a\":{\"$ref\":\"#/$defs/id\"},\"b\":{\"$ref\":\"#/$defs/id\"}"

static void joints_schema(mbs_writer *w)
{
    const mbs_joint_type *t;
    for (int i = 0; (t = mbs_joint_type_at(i)) != NULL; i++) {
        put_type(w, i == 0, t->name, t->doc,
                 t->without_points ? ""
                                   : POINTS
                     ",\"axis\":{\"$ref\":\"#/$defs/vec\"},\"friction\":{\"$ref\":\"#/$defs/friction\"}",
                 t->without_points ? "" : ",\"a\",\"b\"", t->field);
    }
}

static void elements_schema(mbs_writer *w, int blocks)
{
    const mbs_force_type *t;
    for (int i = 0, first = 1; (t = mbs_force_type_at(i)) != NULL; i++) {
        char properties[400];
        if (blocks != !t->acts) continue;
        unsigned points = t->acts & (MBS_ACTS_BETWEEN | MBS_ACTS_AT);
        snprintf(properties, sizeof properties, "%s%s%s%s", points ? POINTS : "",
                 t->acts & MBS_ACTS_JOINT ? ",\"joint\":{\"$ref\":\"#/$defs/id\"}" : "",
                 t->acts & MBS_ACTS_BODY ? ",\"body\":{\"$ref\":\"#/$defs/id\"}" : "",
                 t->value != MBS_NO_VALUE ? ",\"value\":{\"$ref\":\"#/$defs/law\"}" : "");
        put_type(w, first, t->name, t->doc, properties,
                 t->acts == MBS_ACTS_BETWEEN ? ",\"a\",\"b\""
                 : t->acts == MBS_ACTS_JOINT ? ",\"joint\""
                 : blocks                    ? ",\"value\""
                                             : "",
                 t->field);
        first = 0;
    }
}

dae_status mbs_write_types(int section, int schema, mbs_write_fn *write, void *user)
{
    mbs_writer w = {.write = write, .user = user};
    if (schema) mbs_put_text(&w, "{\"oneOf\":[");
    if (schema && section) elements_schema(&w, section == 2);
    else if (schema) joints_schema(&w);
    else (section == 2 ? blocks_table : section ? forces_table : joints_table)(&w);
    if (schema) mbs_put_text(&w, "]}\n");
    return w.bad ? DAE_ERR_FILE : DAE_OK;
}
