/* The record of a run: what it measured. Studies, tables, comparisons and sweeps keep this of a run, and write it. */
#ifndef DAEDALUS_MEASUREMENT_H
#define DAEDALUS_MEASUREMENT_H

#include <daedalus/run.h>

DAE_BEGIN_DECLS

/* One line of JSON in files. */
typedef struct dae_measurement {
    char problem[64];
    char settings[160];    /* "mu=500 index=2": parameters that are not the default */
    char solver[64];       /* as it was asked for: "radau5", "dop853/index1+project" */
    char formulation[24];  /* mechanical systems, else "" */
    double rtol, atol, h0; /* h0 0: the method chose */
    double max_seconds;    /* limit on the run */
    dae_status status;
    char message[512];                               /* "" if status is DAE_OK */
    double t;                                        /* how far it came */
    double scd, mescd;                               /* NAN: none */
    long steps, accepted, f, f_jac, jac, lu, solves; /* f_jac: those of f for Jacobians by differences */
    double cpu_seconds;
    int repeat;
    char provenance[1024]; /* where the numbers come from: the object of dae_provenance_json, or "" */
} dae_measurement;

/* problem, formulation and numbers of a run; settings and solver are the caller's to fill. */
DAE_API dae_measurement dae_measurement_of(const dae_run_result *r);
/* Its provenance is this program on this machine now. */
DAE_API void dae_measurement_stamp(dae_measurement *m);
/* One line with its end. Numbers read back exactly. */
DAE_API dae_status dae_measurement_json(const dae_measurement *m, dae_write_fn *write, void *user);
/* Also a line of dae_result_json. DAE_ERR_INPUT: the line is no measurement; *err says what is wrong. */
DAE_API dae_status dae_measurement_parse(const char *line, size_t length, dae_measurement *m, dae_error *err);
/* Of the same run: problem, settings, solver, tolerances, first step. */
DAE_API int dae_measurement_same(const dae_measurement *a, const dae_measurement *b);

typedef enum dae_work { DAE_WORK_SECONDS = 1, DAE_WORK_F = 2, DAE_WORK_BOTH = 3 } dae_work;

/* Digits of a measurement (scd, or mescd), NAN if the run failed. */
DAE_API double dae_measurement_digits(const dae_measurement *m, int mescd);
/* CPU seconds or evaluations of f. */
DAE_API double dae_measurement_work(const dae_measurement *m, dae_work work);

DAE_END_DECLS

#endif
