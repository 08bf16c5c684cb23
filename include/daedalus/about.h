/* What there is, as JSON: one object in one line. */
#ifndef DAEDALUS_ABOUT_H
#define DAEDALUS_ABOUT_H

#include <daedalus/formulation.h>
#include <daedalus/method.h>
#include <daedalus/problem.h>

DAE_BEGIN_DECLS

/* what: "problems", "solvers", "formulations"; NULL: all three. index: problems of this one and solvers that take it; -1: all. own:
 * methods of the caller, or NULL. */
DAE_API dae_status dae_list_json(const char *what, int index, const struct dae_method *const *own,
                                 dae_write_fn *write, void *user);
/* All about one, its page as Markdown and as HTML in it. */
DAE_API dae_status dae_problem_json(const dae_problem *p, dae_write_fn *write, void *user);
DAE_API dae_status dae_method_json(const dae_method_info *m, dae_write_fn *write, void *user);
/* What is wrong with an input: status, code, message, and in errors the line and the column that the text names ("line 3, column 5"). */
DAE_API dae_status dae_error_json(const char *text, dae_write_fn *write, void *user);
DAE_API dae_status dae_formulation_json(const dae_formulation_info *f, dae_write_fn *write, void *user);

DAE_END_DECLS

#endif
