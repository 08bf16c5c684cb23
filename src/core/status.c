#include <daedalus/status.h>
#include <daedalus/version.h>

#include "core/error.h"
#include "core/number.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct entry {
    dae_status status;
    const char *name, *sentence, *hint;
} entry;

static const entry list[] = {
#define X(name, value, sentence, hint) {name, #name, sentence, hint},
    DAE_STATUS_LIST(X)
#undef X
};

static const entry *find(dae_status s)
{
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (list[i].status == s) return &list[i];
    }
    return NULL;
}

const char *dae_status_name(dae_status s)
{
    const entry *e = find(s);
    return e ? e->name : "unknown status";
}

const char *dae_status_text(dae_status s)
{
    const entry *e = find(s);
    return e ? e->sentence : "unknown status";
}

const char *dae_status_hint(dae_status s)
{
    const entry *e = find(s);
    return e ? e->hint : "";
}

const char *dae_version(void)
{
    return DAE_VERSION;
}

dae_status dae_fail(dae_error *err, dae_status s, double t, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->status = s;
        err->t = t;
        dae_vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return s;
}

dae_status dae_need(const void *p, const char *what, dae_error *err)
{
    return p ? DAE_OK : dae_fail(err, DAE_ERR_INPUT, NAN, "%s is NULL", what);
}

void dae_log_text(const dae_options *opt, dae_log_level level, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    dae_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    opt->log(level, text, opt->log_user);
}

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

/* Edit distance of two words of at most 31 letters (Levenshtein), in halves: a letter in the other case is half an edit, two neighbours
 * exchanged as well (both are slips of the fingers). */
static int distance(const char *a, size_t na, const char *b, size_t nb)
{
    int row[32], above[32] = {0}, before[32] = {0}; /* of the letters of a up to i, i-1, i-2 */
    if (na > 31 || nb > 31) return 99;
    for (size_t j = 0; j <= nb; j++) row[j] = 2 * (int)j;
    for (size_t i = 1; i <= na; i++) {
        memcpy(before, above, sizeof before);
        memcpy(above, row, sizeof above);
        row[0] = 2 * (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int best = above[j - 1] + (a[i - 1] != b[j - 1]) + (lower(a[i - 1]) != lower(b[j - 1]));
            if (above[j] + 2 < best) best = above[j] + 2;
            if (row[j - 1] + 2 < best) best = row[j - 1] + 2;
            int exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (exchanged && before[j - 2] + 1 < best) best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return row[nb];
}

void dae_nearest_word(const char *word, const char *words, char *out, size_t size)
{
    int best = 5; /* at most two edits away */
    out[0] = 0;
    for (const char *w = words; w && *w;) {
        size_t n = strcspn(w, "|");
        int d = distance(word, strlen(word), w, n);
        if (d < best && n < size) {
            best = d;
            memcpy(out, w, n);
            out[n] = 0;
        }
        w += n + (w[n] == '|');
    }
}
