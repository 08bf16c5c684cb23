/* What a mechanism does without being integrated: where it comes to rest, how it moves there, where its drivers lead it and what
 * forces they need. */
#ifndef DAEDALUS_ANALYSIS_H
#define DAEDALUS_ANALYSIS_H

#include <daedalus/problem.h>
#include <daedalus/table.h>

DAE_BEGIN_DECLS

/* Told after every step towards an equilibrium: its number, and how far forces are out of balance, relative to their size. */
typedef struct mbs_watch {
    void (*step)(int k, double off, void *user);
    void *user;
} mbs_watch;

typedef struct mbs_analysis_options {
    const char *what; /* one of mbs_analysis_kind; NULL or "all": all that the model allows */
    const double
        *time; /* count times; NULL: the start for equilibrium and modes, equidistant ones for the others */
    int count;
    int points;      /* so many equidistant ones; 0: 11 */
    int about_start; /* modes: 1: about the start of the model instead of its equilibrium */
    int about_turning; /* equilibrium and modes: 1: all bodies turn together, as the fastest one does at the start */
    const mbs_watch *watch; /* NULL: nobody looks on */
} mbs_analysis_options;

/* "equilibrium", "modes", "kinematics", "inverse"; NULL past the end. */
DAE_API const char *mbs_analysis_kind(int i);

typedef struct mbs_analysis mbs_analysis; /* opaque: its results */
/* opt NULL: all. NULL: see *err; of all analyses those that do not fit the model have a message in the result instead. */
DAE_API mbs_analysis *mbs_analysis_create(const dae_problem *p, const mbs_analysis_options *opt,
                                          dae_error *err);
DAE_API void mbs_analysis_destroy(mbs_analysis *a); /* NULL allowed */
/* One JSON object: an object per analysis, with lists of rows. */
DAE_API dae_status mbs_analysis_json(const mbs_analysis *a, dae_write_fn *write, void *user);
/* For people, numbers below 1e-9 of their table as 0; or csv: tables separated by empty lines. */
DAE_API dae_status mbs_analysis_text(const mbs_analysis *a, int csv, dae_write_fn *write, void *user);
/* Table k (from 0) of all analyses, with the names of its analysis ("modes") and of its own ("eigenvalues"), which live as long as the
 * result. Destroy it. NULL: there are no more (err->status is DAE_OK), or memory ran out. */
DAE_API dae_table *mbs_analysis_table(const mbs_analysis *a, int k, const char **kind, const char **name,
                                      dae_error *err);

DAE_END_DECLS

#endif
