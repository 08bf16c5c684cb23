/* Parts of texts about measurements. */
#ifndef DAE_STUDY_MEASUREMENT_H
#define DAE_STUDY_MEASUREMENT_H

#include <daedalus/measurement.h>

int dae_measurement_first(const dae_measurement *m, int i); /* 1: the first one of its solver */
/* "12.3 ms"; micro: the unit of what is less than one, "us" or "µs". */
void dae_seconds_text(double seconds, const char *micro, char *out, size_t size);

/* The time of a solver for from, from + 1, ... to digits, and whether it is the least of all solvers. */
enum { DAE_COST_DIGITS = 16 };
typedef struct dae_cost_line {
    double seconds[DAE_COST_DIGITS];
    int best[DAE_COST_DIGITS];
    int runs, failed;
} dae_cost_line;
dae_cost_line dae_workprec_line(const dae_measurement *m, int count, const char *solver, int mescd, int from,
                                int to);

#endif
