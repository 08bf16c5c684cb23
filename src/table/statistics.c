/* Statistics of the columns of tables. */
#include <daedalus/table.h>

#include <math.h>
#include <stdlib.h>

static int compare_up(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Linear between order statistics: rank p (n - 1). */
static double quantile(const double *sorted, long n, double p)
{
    double rank = p * (double)(n - 1);
    long i = (long)floor(rank);
    return i + 1 < n ? sorted[i] + (rank - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

dae_status dae_statistics_of(const double *x, long n, dae_statistics *out)
{
    static const double p[5] = {0.05, 0.25, 0.5, 0.75, 0.95};
    double *sorted = malloc((size_t)(n + 1) * sizeof *sorted), sum = 0, square = 0;
    long count = 0;
    *out = (dae_statistics){0, NAN, NAN, NAN, NAN, {NAN, NAN, NAN, NAN, NAN}};
    if (!sorted) return DAE_ERR_MEMORY;
    for (long i = 0; i < n; i++) {
        if (isfinite(x[i])) sorted[count++] = x[i];
    }
    out->count = count;
    if (count > 0) {
        long ordered = 1; /* often they are: counts and constants */
        while (ordered < count && sorted[ordered - 1] <= sorted[ordered]) ordered++;
        if (ordered < count) qsort(sorted, (size_t)count, sizeof *sorted, compare_up);
        for (long i = 0; i < count; i++) sum += sorted[i];
        out->mean = sum / (double)count;
        for (long i = 0; i < count; i++) square += (sorted[i] - out->mean) * (sorted[i] - out->mean);
        out->sd = count > 1 ? sqrt(square / (double)(count - 1)) : 0;
        out->min = sorted[0];
        out->max = sorted[count - 1];
        for (int k = 0; k < 5; k++) out->percentile[k] = quantile(sorted, count, p[k]);
    }
    free(sorted);
    return DAE_OK;
}
