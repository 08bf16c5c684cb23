/* Checks of arguments, the log and spelling hints; dae_fail is in <daedalus/status.h>. */
#ifndef DAE_CORE_ERROR_H
#define DAE_CORE_ERROR_H

#include <daedalus/options.h>
#include <daedalus/status.h>

/* DAE_OK, or DAE_ERR_INPUT where p is NULL: "y is NULL". */
dae_status dae_need(const void *p, const char *what, dae_error *err);

/* Logs if the level is wanted: dae_log(opt, DAE_LOG_STEP, "t=%.6g h=%.3g", t, h). */
void dae_log_text(const dae_options *opt, dae_log_level level, const char *format, ...) DAE_PRINTF(3, 4);
#define dae_log(opt, level, ...)                                                              \
    do {                                                                                      \
        if ((opt)->log && (opt)->log_level >= (level)) dae_log_text(opt, level, __VA_ARGS__); \
    } while (0)

/* The word of a '|'-separated list that is nearest to `word` in spelling (a spelling hint), copied to
 * out; "" if none is near. */
void dae_nearest_word(const char *word, const char *list, char *out, size_t size);

/* What a message says of it, for a "%s%s%s" in its format: nothing, or `; did you mean "word"?`. */
#define DAE_DID_YOU_MEAN(near) (near)[0] ? "; did you mean \"" : "", (near), (near)[0] ? "\"?" : ""

#endif
