/* Status codes, errors and log levels. One list holds code, sentence and hint: the enum, the texts and
 * the manual come from it. */
#ifndef DAEDALUS_STATUS_H
#define DAEDALUS_STATUS_H

#include <daedalus/export.h>

#include <stddef.h>

DAE_BEGIN_DECLS

/* X(name, value, sentence, hint) */
#define DAE_STATUS_LIST(X)                                                                                   \
    X(DAE_OK, 0, "done", "")                                                                                 \
    X(DAE_EVENT, 1, "a terminal event ended the run", "")                                                    \
    X(DAE_CANCELLED, 2, "the run was cancelled", "resume it from the last state or a checkpoint")            \
    X(DAE_STIFF, 3, "the problem looks stiff for this method", "try an implicit method such as radau5")      \
    X(DAE_ERR_INPUT, -1, "wrong input", "the message says what was expected")                                \
    X(DAE_ERR_MEMORY, -2, "out of memory", "use a sparse or banded structure, or a smaller problem")         \
    X(DAE_ERR_CALLBACK, -3, "a user function asked to stop", "see the user function's own message")          \
    X(DAE_ERR_STEP_TOO_SMALL, -4, "the step size became too small",                                          \
      "check for a singularity or a discontinuity; try another method or other tolerances")                  \
    X(DAE_ERR_SINGULAR, -5, "the iteration matrix is singular",                                              \
      "check the index of the system, redundant constraints and the mass matrix")                            \
    X(DAE_ERR_UNDEFINED, -6, "the system cannot be evaluated here",                                          \
      "check the initial values and the domain of the equations")                                            \
    X(DAE_ERR_INCONSISTENT, -7, "no consistent initial values were found",                                   \
      "check the constraints at the start, or give better initial values")                                   \
    X(DAE_ERR_MAX_STEPS, -8, "the limit on the number of steps was hit", "raise max_steps")                  \
    X(DAE_ERR_MAX_SECONDS, -9, "the limit on CPU time was hit", "raise max_seconds")                         \
    X(DAE_ERR_UNSUPPORTED, -10, "this combination is not supported", "the message names one that is")        \
    X(DAE_ERR_CONVERGENCE, -11, "an iteration did not converge", "check the Jacobian; try other tolerances") \
    X(DAE_ERR_EVENT, -12, "an event could not be handled", "see the message")                                \
    X(DAE_ERR_FILE, -13, "a file could not be read or written", "check the path and the permissions")        \
    X(DAE_ERR_INTERNAL, -14, "internal error", "please report it with the command that led here")

/* 0 done; > 0 done, with news; < 0 failed. */
typedef enum dae_status {
#define X(name, value, sentence, hint) name = value,
    DAE_STATUS_LIST(X)
#undef X
} dae_status;

/* Filled by a failing call: what, where (t), in words that name the cause and what helps. */
typedef struct dae_error {
    dae_status status;
    double t; /* NAN where there is no time */
    char text[512];
} dae_error;

DAE_API const char *dae_status_name(dae_status s); /* "DAE_OK" */
DAE_API const char *dae_status_text(dae_status s); /* one sentence */
DAE_API const char *dae_status_hint(dae_status s); /* what to try, "" if nothing */

/* Fills *err (NULL allowed) and returns s, so that a failing function ends with
 *     return dae_fail(err, DAE_ERR_INPUT, NAN, "rtol = %g must be positive", rtol); */
DAE_API dae_status dae_fail(dae_error *err, dae_status s, double t, const char *format, ...) DAE_PRINTF(4, 5);

/* Log: a level and "key=value" text. Levels as in [MEXX] section 4.2, coarse to fine. */
typedef enum dae_log_level {
    DAE_LOG_NONE = 0,
    DAE_LOG_ERROR,
    DAE_LOG_WARN,
    DAE_LOG_INFO, /* choices made, restarts, events */
    DAE_LOG_STEP, /* one line per step attempt */
    DAE_LOG_ITER  /* one line per iteration or tableau row */
} dae_log_level;
typedef void dae_log_fn(dae_log_level level, const char *text, void *user);

/* Receives text in pieces (not ended by 0). Returns 0, or < 0 to stop (then DAE_ERR_FILE). */
typedef int dae_write_fn(const char *text, size_t length, void *user);

DAE_END_DECLS

#endif
