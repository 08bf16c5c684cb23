/* Where the copies of a state stand in the state of all: block after block, or, where the first variables have a meaning of their
 * own (positions, then velocities, ...), segment by segment, each with all copies:
 *
 *     (z_0, z_1, ...)      or      (q_0, q_1, ..., v_0, v_1, ...)                                                     */
#ifndef DAE_SENSITIVITY_LAYOUT_H
#define DAE_SENSITIVITY_LAYOUT_H

#include "core/vector.h"

typedef struct dae_layout {
    int n, copies;
    int segments;
    int begin[4]; /* segment g: begin[g] .. begin[g+1]-1 of a copy */
} dae_layout;

static inline dae_layout dae_layout_of(int n, int copies, int first, int second)
{
    dae_layout l = {.n = n, .copies = copies};
    int end[3] = {first, second, n};
    for (int k = 0; k < 3; k++) {
        if (end[k] > l.begin[l.segments] && end[k] <= n) l.begin[++l.segments] = end[k];
    }
    return l;
}

/* Place of component i of copy c. */
static inline int dae_layout_at(const dae_layout *l, int c, int i)
{
    int g = 0;
    while (i >= l->begin[g + 1]) g++;
    return l->copies * l->begin[g] + c * (l->begin[g + 1] - l->begin[g]) + i - l->begin[g];
}

static inline void dae_gather(const dae_layout *l, int c, const double *all, double *one)
{
    for (int g = 0; g < l->segments; g++) {
        int length = l->begin[g + 1] - l->begin[g];
        dae_copy(length, all + l->copies * l->begin[g] + c * length, one + l->begin[g]);
    }
}

static inline void dae_scatter(const dae_layout *l, int c, const double *one, double *all)
{
    for (int g = 0; g < l->segments; g++) {
        int length = l->begin[g + 1] - l->begin[g];
        dae_copy(length, one + l->begin[g], all + l->copies * l->begin[g] + c * length);
    }
}

#endif
