/* Coefficients of phem56, [Mur97]; rows from 0. a: the motion (Dormand, Prince); abar: the constraint. */
#ifndef DAE_METHOD_PHEM56_COEFFICIENTS_H
#define DAE_METHOD_PHEM56_COEFFICIENTS_H

enum { STAGES = 6, END = 6 }; /* END: the derivatives at the end of the step, stage 7 */

static const double phem56_c[STAGES] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1};
static const double phem56_a[STAGES][STAGES] = {
    {0},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656}};
static const double phem56_cbar[STAGES + 1] = {0, 3.0 / 10, 3.0 / 8, 5.0 / 7, 1, 1, 19.0 / 30};
static const double phem56_abar[STAGES + 1][STAGES + 1] = {
    {0},
    {3.0 / 40, 9.0 / 40},
    {21.0 / 256, 45.0 / 256, 15.0 / 128},
    {19235.0 / 98784, -225.0 / 392, 6235.0 / 6174, 2755.0 / 32928},
    {-293.0 / 1152, 85.0 / 48, -2275.0 / 1908, 35.0 / 32, -2835.0 / 6784},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}, /* b */
    {10752038939.0 / 66307507200, -19259.0 / 50160, 19581770468.0 / 24023520675, 9941999.0 / 650073600,
     180060831.0 / 4820710400, -11331659.0 / 439538400, 1.0 / 76}};
static const double phem56_embedded[STAGES + 1] = {
    5179.0 / 57600, 0, 7571.0 / 16695, 393.0 / 640, -92097.0 / 339200, 187.0 / 2100, 1.0 / 40}; /* order 4 */
/* Weights of the value at theta = PHEM56_MIDDLE, order 4, for the dense output. */
#define PHEM56_MIDDLE (19.0 / 30)
static const double phem56_middle[STAGES + 1] = {
    1812923.0 / 20736000, 0, 45847.0 / 100170, 56677.0 / 414720, -289161.0 / 13568000, -67507.0 / 4536000,
    -3971.0 / 324000};

/* The quintic through both ends with the slopes f_i at PHEM56_FINE and at both ends: y_n + D (y_(n+1) - y_n) + h sum_i L_i f_i, where with
 * the cubic Lagrange polynomials l_i of 0, 1/5, 4/5, 1 and z = x (1 - x)
 *     D' = 150 z^2 - 24 z,     L_i' = l_i - D' int l_i,     zero at 0.
 * Coefficients of x .. x^5. Of all pairs 1/5, 4/5 give nearly the least error for y' = x^5 (2.97e-4 at best, 3.4e-4; ours). */
enum { FINE = 2 };
static const double phem56_fine_at[FINE] = {1.0 / 5, 4.0 / 5};
static const double phem56_fine[FINE + 3][5] = {
    {0, -12, 58, -75, 30},                                /* D */
    {1, -31.0 / 8, 43.0 / 8, -25.0 / 8, 5.0 / 8},         /* 0 */
    {0, 125.0 / 12, -875.0 / 24, 125.0 / 3, -125.0 / 8},  /* 1/5 */
    {0, 125.0 / 24, -625.0 / 24, 875.0 / 24, -125.0 / 8}, /* 4/5 */
    {0, 1.0 / 4, -7.0 / 8, 0, 5.0 / 8}};                  /* 1 */

#endif
