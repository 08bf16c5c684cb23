/* Equation files of the tests: tests/equations/models. */
#ifndef DAE_TESTS_EQUATIONS_FILES_H
#define DAE_TESTS_EQUATIONS_FILES_H

#include "test.h"

#include <daedalus/daedalus.h>
#include <daedalus/simulation.h>

#include "equations/model.h"

/* The text of a file, to be freed. */
static inline char *read_text(const char *path, size_t *length)
{
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s cannot be read", path);
    char *text = malloc(1 << 20);
    *length = f && text ? fread(text, 1, 1 << 20, f) : 0;
    if (f) fclose(f);
    return text;
}

/* The model of tests/equations/models/NAME.deq, with settings {"N", "20"}. */
static inline dae_model *model_of(const char *name, const dae_setting *setting, int nsetting,
                                  dae_messages *messages)
{
    char path[200];
    size_t length;
    snprintf(path, sizeof path, "tests/equations/models/%s.deq", name);
    char *text = read_text(path, &length);
    dae_model *m = dae_model_read(text, length, path, setting, nsetting, messages);
    free(text);
    return m;
}

/* What a call writes. */
typedef struct buffer {
    char text[200000];
    size_t used;
} buffer;

static inline int collect(const char *text, size_t length, void *user)
{
    buffer *b = user;
    if (b->used + length >= sizeof b->text) return -1;
    memcpy(b->text + b->used, text, length);
    b->text[b->used += length] = 0;
    return 0;
}

/* Runs to the end; the state lives as long as *s. */
static inline const double *run_to_end(const dae_problem *p, const char *method, const char *form,
                                       double rtol, double atol, dae_simulation **s)
{
    dae_error err = {0};
    dae_simulation_options o = dae_simulation_options_default(p);
    o.options.method = method;
    o.options.formulation = form;
    o.options.rtol = rtol;
    o.options.atol = atol;
    *s = dae_simulation_open(p, &o, &err);
    if (!*s || dae_simulation_start(*s, &err) < 0 || dae_simulation_advance(*s, o.t_end, &err) != DAE_OK)
        fail_msg("%s by %s/%s: %s", p->info->name, method ? method : "auto", form ? form : "auto", err.text);
    return dae_simulation_state(*s);
}

#endif
