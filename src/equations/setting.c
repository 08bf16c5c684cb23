/* Values from outside: --set mu=500, --set L=200[mm], --set beam=nonlinear. */
#include "equations/reader.h"

#include "language/dimension.h"

#include <stdio.h>
#include <string.h>

static const dae_place nowhere = {0, 0};

static int word_position(const char *choices, const char *word)
{
    size_t n = strlen(word);
    int k = 0;
    for (const char *at = choices; *at; k++) {
        size_t length = strcspn(at, "|");
        if (length == n && !memcmp(at, word, n)) return k;
        at += length + (at[length] == '|');
    }
    return -1;
}

static int set_number(reader *r, const char *name, const dae_model_parameter *p, const char *text,
                      double *out)
{
    dae_expression_error err;
    double x;
    dae_expression *e = dae_expression_create(text, NULL, NULL, &err);
    if (!e || !dae_expression_constant(e, &x)) {
        dae_expression_destroy(e);
        if (!e && !strcmp(err.text, DAE_EXPRESSION_STARVED)) return dae_reader_starved(r), 0;
        dae_reader_wrong(r, nowhere, "--set %s=%.60s: %s", name, text, e ? "expected a number" : err.text);
        return 0;
    }
    dae_dimension d = dae_expression_dimension(e), agreed;
    char unit[48];
    dae_expression_destroy(e);
    dae_dimension_text(&p->dimension, unit, sizeof unit);
    if (p->needs_unit && d.soft) {
        dae_reader_wrong(r, nowhere,
                         "--set %s=%.60s needs a unit, because the file gives %s one: write %s=%.40s[...], "
                         "in SI %s=%.40s[%s]",
                         name, text, name, name, text, name, text, unit);
        return 0;
    }
    if (!dae_dimension_agree(&p->dimension, &d, &agreed)) {
        char other[48];
        dae_dimension_text(&d, other, sizeof other);
        dae_reader_wrong(r, nowhere, "--set %s=%.60s: units do not fit: [%s] for [%s]", name, text, other,
                         unit);
        return 0;
    }
    *out = x;
    return 1;
}

int dae_setting_number(reader *r, const char *name, const dae_model_parameter *p, double *out)
{
    for (int k = 0; k < r->nsetting; k++) {
        const char *text = r->setting[k].value;
        if (strcmp(r->setting[k].name, name) != 0 || text[0] == '=' || text[0] == '~') continue;
        r->setting_used[k] = 1;
        if (p->choices) {
            int at = word_position(p->choices, text);
            if (at < 0) {
                dae_reader_wrong(r, nowhere, "--set %s=%.60s: expected one of %s", name, text, p->choices);
                return 0;
            }
            *out = at;
        } else if (!set_number(r, name, p, text, out)) {
            return 0;
        }
        r->m->parameter[p - r->m->parameter].set = 1;
    }
    return 1;
}
