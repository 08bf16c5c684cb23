/* Equation files of the tests: tests/equations/models. */
#ifndef DAE_TESTS_EQUATIONS_FILES_H
#define DAE_TESTS_EQUATIONS_FILES_H

#include "test.h"

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

#endif
