/* Coefficients of the modified extended BDF, k = 1 .. 7 steps ([CASH83]; the fractions were derived from the
 * order conditions: stage 3 is exact for polynomials of degree k+1 when the two BDF stages are). */
#ifndef DAE_METHOD_MEBDF_COEFFICIENTS_H
#define DAE_METHOD_MEBDF_COEFFICIENTS_H

enum { K_MAX = 7 };

struct formula {
    double beta;              /* of the two BDF stages: h beta f */
    double e[K_MAX];          /* BDF: weights of nabla^j y_n, j < k */
    double m[K_MAX];          /* MEBDF: weights of nabla^j y_n, j < k */
    double b1, b2;            /* MEBDF: weights of h f_(n+1) (from stage 1 and implicit) and of h f_(n+2) */
};

static const struct formula formulas[K_MAX + 1] = {
    [1] = {1, {1}, {1}, 3.0 / 2, -1.0 / 2},
    [2] = {2.0 / 3, {1, 1.0 / 3}, {1, 5.0 / 23}, 22.0 / 23, -4.0 / 23},
    [3] = {6.0 / 11, {1, 5.0 / 11, 2.0 / 11}, {1, 65.0 / 197, 17.0 / 197}, 150.0 / 197, -18.0 / 197},
    [4] = {12.0 / 25, {1, 13.0 / 25, 7.0 / 25, 3.0 / 25}, {1, 1001.0 / 2501, 395.0 / 2501, 111.0 / 2501},
           1644.0 / 2501, -144.0 / 2501},
    [5] = {60.0 / 137, {1, 77.0 / 137, 47.0 / 137, 27.0 / 137, 12.0 / 137},
           {1, 2233.0 / 4973, 1063.0 / 4973, 1349.0 / 14919, 394.0 / 14919}, 2940.0 / 4973, -200.0 / 4973},
    [6] = {20.0 / 49, {1, 29.0 / 49, 19.0 / 49, 37.0 / 147, 22.0 / 147, 10.0 / 147},
           {1, 6467.0 / 13327, 3437.0 / 13327, 5251.0 / 39981, 2306.0 / 39981, 230.0 / 13327}, 7260.0 / 13327,
           -400.0 / 13327},
    [7] = {140.0 / 363, {1, 223.0 / 363, 51.0 / 121, 29.0 / 99, 214.0 / 1089, 130.0 / 1089, 20.0 / 363},
           {1, 107263.0 / 208903, 61343.0 / 208903, 34813.0 / 208903, 55159.0 / 626709, 24800.0 / 626709,
            2515.0 / 208903},
           106540.0 / 208903, -4900.0 / 208903},
};

/* Inverse error constants of the BDF of order k, (k+1)(1 + 1/2 + .. + 1/k), rounded as in [MEBDFDAE]. */
static const double inverse_error[K_MAX + 2] = {1, 2, 4.5, 7.333, 10.42, 13.7, 17.15, 20.74, 24.46};

#endif
