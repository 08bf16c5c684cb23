/* Reference solutions. */
#ifndef DAEDALUS_REFERENCE_H
#define DAEDALUS_REFERENCE_H

#include <daedalus/integrator.h>
#include <daedalus/problem.h>
#include <daedalus/store.h>

DAE_BEGIN_DECLS

/* The solution at the problem's end by two methods that have nothing in common, at tolerances tightened until they
 * agree. How far they agree, and how far each moved with its last tightening, says which digits can be trusted. */
typedef struct dae_reference {
    int n;
    double t;
    const double *y;      /* n, of the method that moved less */
    const double *digits; /* n: significant digits that can be trusted, 0 .. 16 */
    double least;         /* the fewest of them over the components that count for scd */
    int worst;            /* the component that has so few */
    char method[2][24];   /* that of y first */
    double rtol;          /* at which they agreed best */
    int levels;           /* tolerances that were tried */
    char stopped[256];    /* why not more of them, in words */
} dae_reference;

typedef struct dae_reference_options {
    double digits;                                   /* enough: stop when all have as many, default 11 */
    double max_seconds;                              /* CPU time of one run, default 60; 0: no limit */
    const char *method[2];                           /* NULL: chosen by the kind of the system */
    void (*running)(dae_integrator *it, void *user); /* as in dae_run_options, with user; NULL: nothing */
    /* Called after each tolerance with the fewest digits so far; 0 to go on. NULL: nothing. */
    int (*level)(double rtol, double least, void *user);
    void (*computing)(void *user); /* dae_reference_obtain: the store has none; NULL: nothing */
    void *user;
} dae_reference_options;
DAE_API dae_reference_options dae_reference_options_default(void);
/* NULL: fewer than two methods take the problem, or a method failed at the first tolerance; see *err. */
DAE_API dae_reference *dae_reference_compute(const dae_problem *p, const dae_reference_options *opt,
                                             dae_error *err);
DAE_API void dae_reference_destroy(dae_reference *r);

/* What a reference solution depends on, in words: problem, parameters, interval, version. */
DAE_API void dae_reference_key(const dae_problem *p, char *key, size_t size);
/* As one JSON object with the key; reading checks the key. NULL: it is another problem's, or damaged; see *err. */
DAE_API dae_status dae_reference_write(const dae_reference *r, const dae_problem *p, dae_write_fn *write,
                                       void *user);
DAE_API dae_reference *dae_reference_read(const dae_problem *p, const char *text, size_t length,
                                          dae_error *err);
/* The name of the problem's reference in a store: "vdpol-mu-0123456789abcdef.json". */
DAE_API void dae_reference_name(const dae_problem *p, char *name, size_t size);
/* That of the store. NULL: it has none (err->status is DAE_OK), or one that is not taken, and why. */
DAE_API dae_reference *dae_reference_find(const dae_problem *p, const dae_store *store, dae_error *err);
DAE_API dae_status dae_reference_keep(const dae_reference *r, const dae_problem *p, const dae_store *store,
                                      dae_error *err);
/* That of the store, else one that is computed now and kept there (where it cannot be kept it is handed out all the same). opt
 * NULL: the defaults. NULL: see *err. */
DAE_API dae_reference *dae_reference_obtain(const dae_problem *p, const dae_store *store,
                                            const dae_reference_options *opt, dae_error *err);
/* Runs of the problem are scored against r, which must live as long. */
DAE_API void dae_reference_use(const dae_reference *r, dae_problem *p);

DAE_END_DECLS

#endif
