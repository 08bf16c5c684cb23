/* The reader of equation files: what it makes of 26 models, and what it says of wrong texts. */
#include "files.h"

static const struct {
    const char *name;
    int variables, equations, parameters, starts, bound, events;
} model[] = {
    {"amp", 13, 13, 7, 9, 5, 0},        {"andrews", 27, 27, 3, 27, 8, 0},
    {"ball", 2, 2, 2, 2, 2, 2},         {"caraxis", 6, 6, 7, 8, 6, 0},
    {"chemakzo", 6, 6, 9, 6, 5, 0},     {"crank", 24, 24, 56, 16, 8, 0},
    {"dpend", 6, 6, 5, 8, 6, 0},        {"dup", 4, 4, 1, 4, 3, 0},
    {"fekete", 160, 160, 1, 160, 0, 0}, {"fekete3", 80, 80, 1, 80, 0, 0},
    {"heater", 1, 1, 5, 1, 1, 1},       {"hires", 8, 8, 0, 8, 8, 0},
    {"matlab", 3, 3, 0, 3, 0, 0},       {"medakzo", 400, 400, 3, 400, 400, 0},
    {"over", 4, 4, 0, 1, 1, 0},         {"parallel", 6, 6, 5, 6, 5, 0},
    {"pendulum", 5, 5, 3, 4, 3, 0},     {"pump", 9, 9, 0, 9, 2, 0},
    {"ringmod0", 15, 15, 15, 15, 0, 0}, {"rober", 3, 3, 3, 2, 2, 0},
    {"scholz", 4, 4, 0, 4, 0, 0},       {"toomany", 5, 6, 1, 4, 3, 0},
    {"transamp", 8, 8, 11, 8, 8, 0},    {"vdpol", 2, 2, 1, 2, 2, 0},
    {"water", 49, 49, 36, 49, 20, 0},   {"wheel", 17, 17, 0, 17, 7, 0},
};

static void models_are_read(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof model / sizeof *model; k++) {
        dae_messages messages;
        dae_model *m = model_of(model[k].name, NULL, 0, &messages);
        if (!m)
            fail_msg("%s line %d: %s", model[k].name, messages.error[0].place.line, messages.error[0].text);
        int bound = 0;
        for (int i = 0; i < m->nstart; i++) bound += m->start[i].bound;
        int got[] = {m->nvariable, m->nequation, m->nparameter, m->nstart, bound, m->nevent};
        int want[] = {model[k].variables, model[k].equations, model[k].parameters,
                      model[k].starts,    model[k].bound,     model[k].events};
        for (int i = 0; i < 6; i++) {
            if (got[i] != want[i])
                fail_msg("%s: figure %d is %d, expected %d", model[k].name, i, got[i], want[i]);
        }
        dae_model_destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(models_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
