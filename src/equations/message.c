/* Messages about a text: at most ten errors are kept, the others counted. */
#include "equations/model.h"

#include "core/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add(dae_message *list, int *count, dae_place place, const char *format, va_list args)
{
    if (*count < DAE_MODEL_MAX_ERRORS) {
        dae_message *m = &list[*count];
        m->place = place;
        dae_vsnprintf(m->text, sizeof m->text, format, args);
    }
    ++*count;
}

void dae_messages_error(dae_messages *m, dae_place place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(m->error, &m->count, place, format, args);
    va_end(args);
}

int dae_messages_told(const dae_messages *m, const char *begin)
{
    for (int k = 0; k < m->count && k < DAE_MODEL_MAX_ERRORS; k++) {
        if (!strncmp(m->error[k].text, begin, strlen(begin))) return 1;
    }
    return 0;
}

void dae_messages_note(dae_messages *m, dae_place place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(m->note, &m->nnote, place, format, args);
    va_end(args);
}

void dae_messages_starved(dae_messages *m)
{
    m->starved = 1;
    m->count = 0;
    dae_messages_error(m, (dae_place){0, 0}, "out of memory");
}
