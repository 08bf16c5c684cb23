/* Equation files: ODEs, DAEs and implicit systems as text (docs/equations.md).
 *
 *     model pendulum
 *     param g = 9.81 [m/s^2], L = 1 [m]
 *     var x = 1 [m], y ~ 0 [m], vx = 0 [m/s], vy = 0 [m/s], lam
 *     x' = vx
 *     ...
 *     solve t = 0 .. 10 [s], rtol = 1e-8 */
#ifndef DAEDALUS_EQUATIONS_H
#define DAEDALUS_EQUATIONS_H

#include <daedalus/formulation.h>
#include <daedalus/problem.h>

DAE_BEGIN_DECLS

/* The problem that a text describes. file: its name, for messages and as the place that tables are read from (NULL: tables
 * cannot be read). Settings are {"mu", "500"}, {"L", "200[mm]"}; a value that begins with = or ~ is an initial value or
 * guess: {"x", "=2"}. NULL: *err holds the first error as FILE:LINE:COLUMN: text, with the line and a mark. */
DAE_API dae_problem *dae_equations_problem(const char *text, size_t length, const char *file,
                                           const dae_setting *setting, int nsetting, dae_error *err);

/* What is wrong with a text. */
typedef struct dae_text_error {
    int line, column; /* from 1; line 0: of the whole text */
    char text[400];
} dae_text_error;

/* Up to max errors, at most 10; their number is returned, 0: the text can be read. */
DAE_API int dae_equations_errors(const char *text, size_t length, const char *file,
                                 const dae_setting *setting, int nsetting, dae_text_error *out, int max);
/* "FILE:LINE:COLUMN: text", the line and a mark below the column; as much as fits. */
DAE_API void dae_text_error_format(const dae_text_error *e, const char *text, size_t length, const char *file,
                                   char *out, size_t size);

/* What the analysis finds, without a run: counts, index, degrees of freedom, blocks, start, states, the route and the method that a run
 * takes, notes; or all errors. As lines for people, or one JSON object (json = 1). DAE_OK; DAE_ERR_INPUT, DAE_ERR_INCONSISTENT: the text
 * is wrong, and the report says how. */
typedef int dae_write_text_fn(const char *text, size_t length, void *user); /* < 0: stop */
DAE_API dae_status dae_equations_check(const char *text, size_t length, const char *file,
                                       const dae_setting *setting, int nsetting, int json,
                                       dae_write_text_fn *write, void *user, dae_error *err);

/* The text as a C source for this interface: a dae_problem with f, its Jacobian, switches, events, start and names, and a main that runs it.
 * DAE_ERR_UNSUPPORTED: what needs the analysis while it runs (see *err). */
DAE_API dae_status dae_equations_write_c(const char *text, size_t length, const char *file,
                                         const dae_setting *setting, int nsetting, dae_write_text_fn *write,
                                         void *user, dae_error *err);

/* The forms that equations can be integrated in (dae_options.formulation), besides "auto": explicit, mass, labels (what the equations
 * are as they stand: a model has one of these or residual), descriptor (mechanical systems), statespace, index1, projected, residual. */
DAE_API int dae_equations_form_count(void);
DAE_API const dae_formulation_info *dae_equations_form(int i);

DAE_END_DECLS

#endif
