/* The DETEST collections: 30 nonstiff and 30 stiff initial value problems.
 *
 * Definitions, weights of the scaled form and end values: Enright, Pryce: Two FORTRAN packages for assessing initial
 * value methods, ACM TOMS 13 (1987) 1-27 (algorithm 648); Hull, Enright, Fellen, Sedgwick: Comparing numerical
 * methods for ordinary differential equations, SIAM J. Numer. Anal. 9 (1972) 603-637 (nonstiff); Enright, Hull,
 * Lindberg: Comparing numerical methods for stiff systems of O.D.E.s, BIT 15 (1975) 10-48 (stiff). The scaled form of
 * a problem is that of z_i = y_i / w_i, where w_i is about the largest |y_i|. */
#ifndef DAE_BENCH_DETEST_H
#define DAE_BENCH_DETEST_H

#include <daedalus/integrator.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DETEST_SIZE = 51, DETEST_JUMPS = 20 };

typedef void detest_f(double t, const double *y, double *f, double parameter);

typedef struct detest_problem {
    const char *name; /* "A1" */
    int n, stiff;
    double t_end;
    detest_f *f;
    double parameter;
    double y0[DETEST_SIZE], weight[DETEST_SIZE], published[DETEST_SIZE]; /* of the unscaled form */
    int jumps;   /* f or one of its derivatives jumps at t = 1, 2, .., jumps ... */
    double jump; /* ... times this */
} detest_problem;

/* ---- Nonstiff ------------------------------------------------------------------------------------ */

#define DETEST_F(name) static void name(double t, const double *y, double *f, double p)
#define DETEST_UNUSED (void)t, (void)p

DETEST_F(detest_na1)
{
    DETEST_UNUSED;
    f[0] = -y[0];
}

DETEST_F(detest_na2)
{
    DETEST_UNUSED;
    f[0] = -0.5 * y[0] * y[0] * y[0];
}

DETEST_F(detest_na3)
{
    (void)p;
    f[0] = y[0] * cos(t);
}

DETEST_F(detest_na4)
{
    DETEST_UNUSED;
    f[0] = y[0] / 4 * (1 - y[0] / 20);
}

DETEST_F(detest_na5)
{
    (void)p;
    f[0] = (y[0] - t) / (y[0] + t);
}

DETEST_F(detest_nb1)
{
    DETEST_UNUSED;
    f[0] = 2 * (y[0] - y[0] * y[1]);
    f[1] = -(y[1] - y[0] * y[1]);
}

DETEST_F(detest_nb2)
{
    DETEST_UNUSED;
    f[0] = -y[0] + y[1];
    f[1] = y[0] - 2 * y[1] + y[2];
    f[2] = y[1] - y[2];
}

DETEST_F(detest_nb3)
{
    DETEST_UNUSED;
    f[0] = -y[0];
    f[1] = y[0] - y[1] * y[1];
    f[2] = y[1] * y[1];
}

DETEST_F(detest_nb4)
{
    DETEST_UNUSED;
    double r = sqrt(y[0] * y[0] + y[1] * y[1]);
    f[0] = -y[1] - y[0] * y[2] / r;
    f[1] = y[0] - y[1] * y[2] / r;
    f[2] = y[0] / r;
}

DETEST_F(detest_nb5)
{
    DETEST_UNUSED;
    f[0] = y[1] * y[2];
    f[1] = -y[0] * y[2];
    f[2] = -0.51 * y[0] * y[1];
}

/* A radioactive decay chain: constant rates (p = 0), or rates 1 .. 9. */
DETEST_F(detest_chain)
{
    (void)t;
    for (int i = 0; i < 10; i++) {
        double in = p > 0 ? i : 1, out = p > 0 ? i + 1 : 1;
        f[i] = (i > 0 ? in * y[i - 1] : 0) - (i < 9 ? out * y[i] : 0);
    }
}

/* Heat conduction, p points. */
DETEST_F(detest_heat)
{
    (void)t;
    int n = (int)p;
    for (int i = 0; i < n; i++) f[i] = (i > 0 ? y[i - 1] : 0) - 2 * y[i] + (i < n - 1 ? y[i + 1] : 0);
}

/* C5: the five outer planets; positions (15), velocities (15). */
DETEST_F(detest_planets)
{
    DETEST_UNUSED;
    static const double k2 = 2.95912208286, m0 = 1.00000597682,
                        m[5] = {.954786104043e-3, .285583733151e-3, .437273164546e-4, .517759138449e-4,
                                .277777777778e-5};
    double r[5];
    for (int i = 0; i < 5; i++) {
        const double *a = y + 3 * i;
        r[i] = pow(a[0] * a[0] + a[1] * a[1] + a[2] * a[2], -1.5);
    }
    for (int i = 0; i < 5; i++) {
        const double *a = y + 3 * i;
        for (int k = 0; k < 3; k++) {
            f[3 * i + k] = y[15 + 3 * i + k];
            f[15 + 3 * i + k] = -(m0 + m[i]) * a[k] * r[i];
        }
        for (int j = 0; j < 5; j++) {
            const double *b = y + 3 * j;
            if (j == i) continue;
            double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
            double q = pow(d[0] * d[0] + d[1] * d[1] + d[2] * d[2], -1.5);
            for (int k = 0; k < 3; k++) f[15 + 3 * i + k] += m[j] * (d[k] * q - b[k] * r[j]);
        }
        for (int k = 0; k < 3; k++) f[15 + 3 * i + k] *= k2;
    }
}

/* Two bodies. */
DETEST_F(detest_orbit)
{
    DETEST_UNUSED;
    double r = sqrt(y[0] * y[0] + y[1] * y[1]), c = 1 / (r * r * r);
    f[0] = y[2];
    f[1] = y[3];
    f[2] = -y[0] * c;
    f[3] = -y[1] * c;
}

DETEST_F(detest_ne1)
{
    (void)p;
    double x = t + 1;
    f[0] = y[1];
    f[1] = -(y[1] / x + (1 - 0.25 / (x * x)) * y[0]);
}

/* Van der Pol; stiff E2 with p = 5. */
DETEST_F(detest_vanderpol)
{
    (void)t;
    f[0] = y[1];
    f[1] = p * (1 - y[0] * y[0]) * y[1] - y[0];
}

DETEST_F(detest_ne3)
{
    (void)p;
    f[0] = y[1];
    f[1] = y[0] * y[0] * y[0] / 6 - y[0] + 2 * sin(2.78535 * t);
}

DETEST_F(detest_ne4)
{
    DETEST_UNUSED;
    f[0] = y[1];
    f[1] = 0.032 - 0.4 * y[1] * y[1];
}

DETEST_F(detest_ne5)
{
    (void)p;
    f[0] = y[1];
    f[1] = sqrt(1 + y[1] * y[1]) / (25 - t);
}

DETEST_F(detest_nf1)
{
    (void)p;
    const double pi = 3.14159265358979323846, a = 0.1;
    f[0] = y[1];
    f[1] = 2 * a * y[1] - (pi * pi + a * a) * y[0] + ((long)floor(t) % 2 == 0 ? 1 : -1);
}

DETEST_F(detest_nf2)
{
    (void)p;
    f[0] = 55 - ((long)floor(t) % 2 == 0 ? 1.5 : 0.5) * y[0];
}

DETEST_F(detest_nf3)
{
    (void)p;
    f[0] = y[1];
    f[1] = 0.01 * y[1] * (1 - y[0] * y[0]) - y[0] - fabs(sin(3.14159265358979323846 * t));
}

DETEST_F(detest_nf4)
{
    (void)p;
    double x = t - 5;
    f[0] = t <= 10 ? -2.0 / 21 - 120 * x / pow(1 + 4 * x * x, 16) : -2 * y[0];
}

DETEST_F(detest_nf5)
{
    double sum = 0, c = 0;
    (void)p;
    for (int i = 1; i <= 19; i++) {
        sum += cbrt(t - i);
        c += pow(i, 4.0 / 3);
    }
    f[0] = 4.0 / 3 / c * sum * y[0];
}

/* ---- Stiff --------------------------------------------------------------------------------------- */

DETEST_F(detest_sa1)
{
    DETEST_UNUSED;
    static const double rate[] = {0.5, 1, 100, 90};
    for (int i = 0; i < 4; i++) f[i] = -rate[i] * y[i];
}

DETEST_F(detest_sa2)
{
    DETEST_UNUSED;
    f[0] = -1800 * y[0] + 900 * y[1];
    for (int i = 1; i < 8; i++) f[i] = y[i - 1] - 2 * y[i] + y[i + 1];
    f[8] = 1000 * y[7] - 2000 * y[8] + 1000;
}

DETEST_F(detest_sa3)
{
    DETEST_UNUSED;
    f[0] = -1e4 * y[0] + 100 * y[1] - 10 * y[2] + y[3];
    f[1] = -1e3 * y[1] + 10 * y[2] - 10 * y[3];
    f[2] = -y[2] + 10 * y[3];
    f[3] = -0.1 * y[3];
}

DETEST_F(detest_sa4)
{
    DETEST_UNUSED;
    for (int i = 0; i < 10; i++) f[i] = -pow(i + 1, 5) * y[i];
}

DETEST_F(detest_sb1)
{
    DETEST_UNUSED;
    f[0] = -y[0] + y[1];
    f[1] = -100 * y[0] - y[1];
    f[2] = -100 * y[2] + y[3];
    f[3] = -10000 * y[2] - 100 * y[3];
}

DETEST_F(detest_sb2)
{
    static const double rate[] = {4, 1, 0.5, 0.1};
    (void)t;
    f[0] = -10 * y[0] + p * y[1];
    f[1] = -p * y[0] - 10 * y[1];
    for (int i = 0; i < 4; i++) f[2 + i] = -rate[i] * y[2 + i];
}

DETEST_F(detest_sc1)
{
    DETEST_UNUSED;
    double b = y[1] * y[1], c = y[2] * y[2], d = y[3] * y[3];
    f[0] = -y[0] + b + c + d;
    f[1] = -10 * y[1] + 10 * (c + d);
    f[2] = -40 * y[2] + 40 * d;
    f[3] = -100 * y[3] + 2;
}

DETEST_F(detest_sc2)
{
    double a = y[0] * y[0], b = y[1] * y[1], c = y[2] * y[2];
    (void)t;
    f[0] = -y[0] + 2;
    f[1] = -10 * y[1] + p * a;
    f[2] = -40 * y[2] + 4 * p * (a + b);
    f[3] = -100 * y[3] + 10 * p * (a + b + c);
}

DETEST_F(detest_sd1)
{
    DETEST_UNUSED;
    f[0] = 0.2 * (y[1] - y[0]);
    f[1] = 10 * y[0] - (60 - 0.125 * y[2]) * y[1] + 0.125 * y[2];
    f[2] = 1;
}

DETEST_F(detest_sd2)
{
    DETEST_UNUSED;
    f[0] = -0.04 * y[0] + 0.01 * y[1] * y[2];
    f[1] = 400 * y[0] - 100 * y[1] * y[2] - 3000 * y[1] * y[1];
    f[2] = 30 * y[1] * y[1];
}

DETEST_F(detest_sd3)
{
    DETEST_UNUSED;
    double a = y[2] - 100 * y[0] * y[1], b = 1e4 * y[1] * y[1];
    f[0] = a;
    f[1] = a + 2 * y[3] - 2 * b;
    f[2] = -a;
    f[3] = -y[3] + b;
}

DETEST_F(detest_sd4)
{
    DETEST_UNUSED;
    f[0] = -0.013 * y[0] - 1000 * y[0] * y[2];
    f[1] = -2500 * y[1] * y[2];
    f[2] = f[0] + f[1];
}

DETEST_F(detest_sd5)
{
    DETEST_UNUSED;
    double s = 0.01 + y[0] + y[1];
    f[0] = 0.01 - s * (1 + (y[0] + 1000) * (y[0] + 1));
    f[1] = 0.01 - s * (1 + y[1] * y[1]);
}

DETEST_F(detest_sd6)
{
    DETEST_UNUSED;
    f[0] = -y[0] + 1e8 * y[2] * (1 - y[0]);
    f[1] = -10 * y[1] + 3e7 * y[2] * (1 - y[1]);
    f[2] = -f[0] - f[1];
}

DETEST_F(detest_se1)
{
    DETEST_UNUSED;
    f[0] = y[1];
    f[1] = y[2];
    f[2] = y[3];
    f[3] = (y[0] * y[0] - sin(y[0]) - 1e8) * y[0] + (y[1] * y[2] / (y[0] * y[0] + 1) - 4e6) * y[1] +
           (1 - 6e4) * y[2] + (10 * exp(-y[3] * y[3]) - 400) * y[3] + 1;
}

DETEST_F(detest_se3)
{
    DETEST_UNUSED;
    f[0] = -(55 + y[2]) * y[0] + 65 * y[1];
    f[1] = 0.0785 * (y[0] - y[1]);
    f[2] = 0.1 * y[0];
}

/* y = U z, U = (sum of all)/2 - identity, z' = B z - g(z). */
DETEST_F(detest_se4)
{
    DETEST_UNUSED;
    double half = (y[0] + y[1] + y[2] + y[3]) / 2, z[4], d[4];
    for (int i = 0; i < 4; i++) z[i] = half - y[i];
    d[0] = -10 * z[0] - 10 * z[1] - (z[0] * z[0] - z[1] * z[1]) / 2;
    d[1] = 10 * z[0] - 10 * z[1] - z[0] * z[1];
    d[2] = 1000 * z[2] - z[2] * z[2];
    d[3] = 0.01 * z[3] - z[3] * z[3];
    half = (d[0] + d[1] + d[2] + d[3]) / 2;
    for (int i = 0; i < 4; i++) f[i] = d[i] - half;
}

DETEST_F(detest_se5)
{
    DETEST_UNUSED;
    double a = 7.89e-10 * y[0], b = 1.1e7 * y[0] * y[2], c = 1.13e9 * y[1] * y[2], d = 1.13e3 * y[3];
    f[0] = -a - b;
    f[1] = a - c;
    f[3] = b - d;
    f[2] = f[1] - f[3];
}

DETEST_F(detest_sf1)
{
    DETEST_UNUSED;
    double k = 0.006 * exp(20.7 - 15000 / y[0]);
    f[0] = 1.3 * (y[2] - y[0]) + 10400 * k * y[1];
    f[1] = 1880 * (y[3] - y[1] * (1 + k));
    f[2] = 1752 - 269 * y[2] + 267 * y[0];
    f[3] = 0.1 + 320 * y[1] - 321 * y[3];
}

DETEST_F(detest_sf2)
{
    DETEST_UNUSED;
    f[0] = -y[0] - y[0] * y[1] + 294 * y[1];
    f[1] = y[0] * (1 - y[1]) / 98 - 3 * y[1];
}

DETEST_F(detest_sf3)
{
    DETEST_UNUSED;
    double a = 1e7 * y[1] * y[0], b = 1e7 * y[1] * y[4];
    f[0] = -a + 10 * y[2];
    f[1] = -a - b + 10 * y[2] + 10 * y[3];
    f[2] = a - 1.001e4 * y[2] + 1e-3 * y[3];
    f[3] = 1e4 * y[2] - 1.0001e1 * y[3] + b;
    f[4] = 10 * y[3] - b;
}

DETEST_F(detest_sf4)
{
    DETEST_UNUSED;
    f[0] = 77.27 * (y[1] - y[0] * y[1] + y[0] - 8.375e-6 * y[0] * y[0]);
    f[1] = (-y[1] - y[0] * y[1] + y[2]) / 77.27;
    f[2] = 0.161 * (y[0] - y[2]);
}

DETEST_F(detest_sf5)
{
    DETEST_UNUSED;
    double a = 3e11 * y[0] * y[1], b = 9e11 * y[0] * y[2];
    f[0] = -a + 1.2e8 * y[3] - b;
    f[1] = -a + 2e7 * y[3];
    f[2] = -b + 1e8 * y[3];
    f[3] = a - 1.2e8 * y[3] + b;
}

/* ---- The table ----------------------------------------------------------------------------------- */

/* clang-format off */
#define DETEST_ONES {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
static const detest_problem detest_problems[] = {
    {"A1", 1, 0, 20, detest_na1, 0, {1}, {1}, {2.061153353012535e-09}, 0, 0},
    {"A2", 1, 0, 20, detest_na2, 0, {1}, {1}, {2.182178902359887e-01}, 0, 0},
    {"A3", 1, 0, 20, detest_na3, 0, {1}, {2.71}, {2.491650271850414}, 0, 0},
    {"A4", 1, 0, 20, detest_na4, 0, {1}, {17.7}, {1.773016648131483e+01}, 0, 0},
    {"A5", 1, 0, 20, detest_na5, 0, {4}, {6.20}, {-7.887826688964196e-01}, 0, 0},
    {"B1", 2, 0, 20, detest_nb1, 0, {1, 3}, {4.25, 3}, {6.761876008576667e-01, 1.860816099640036e-01}, 0, 0},
    {"B2", 3, 0, 20, detest_nb2, 0, {2, 0, 1}, {2, 1, 1}, {1.000000001030576, 1, 9.999999989694235e-01}, 0, 0},
    {"B3", 3, 0, 20, detest_nb3, 0, {1, 0, 0}, {1, 0.519, 0.947},
     {2.061153488557776e-09, 5.257228022048349e-02, 9.474277177183630e-01}, 0, 0},
    {"B4", 3, 0, 20, detest_nb4, 0, {3, 0, 0}, {3, 2.2, 1},
     {9.826950928005993e-01, 2.198447081694832, 9.129452507276399e-01}, 0, 0},
    {"B5", 3, 0, 20, detest_nb5, 0, {0, 1, 1}, {1, 1, 1},
     {-9.396570798729192e-01, -3.421177754000779e-01, 7.414126596199957e-01}, 0, 0},
    {"C1", 10, 0, 20, detest_chain, 0, {1}, {1, .368, .271, .224, .195, .175, .161, .149, .139, .998},
     {2.061153622240064e-09, 4.122307244619555e-08, 4.122307244716968e-07, 2.748204829855288e-06,
      1.374102414941961e-05, 5.496409659803266e-05, 1.832136553274552e-04, 5.234675866508716e-04,
      1.308668966628220e-03, 9.979127409508656e-01}, 0, 0},
    {"C2", 10, 0, 20, detest_chain, 1, {1}, {1, .25, .148, .105, .0818, .0669, .0566, .0491, .0433, 1},
     {2.061153577984930e-09, 2.061153573736588e-09, 2.061153569488245e-09, 2.061153565239902e-09,
      2.061153560991560e-09, 2.061153556743217e-09, 2.061153552494874e-09, 2.061153548246532e-09,
      2.061153543998189e-09, 9.999999814496180e-01}, 0, 0},
    {"C3", 10, 0, 20, detest_heat, 10, {1}, {1, .204, .0955, .0553, .0359, .0252, .0184, .0133, .00874, .00435},
     {2.948119211022058e-03, 5.635380154844266e-03, 7.829072515926013e-03, 9.348257908594937e-03,
      1.007943610301970e-02, 9.982674171429909e-03, 9.088693332766085e-03, 7.489115195185912e-03,
      5.322964130953349e-03, 2.762434379029886e-03}, 0, 0},
    {"C4", 51, 0, 20, detest_heat, 51, {1},
     {1, .204, .0955, .0553, .0359, .0252, .0186, .0143, .0113, .918e-2, .760e-2, .622e-2, .494e-2, .380e-2, .284e-2,
      .207e-2, .146e-2, .101e-2, .678e-3, .444e-3, .283e-3, .177e-3, .107e-3, .637e-4, .370e-4, .210e-4, .116e-4,
      .631e-5, .335e-5, .174e-5, .884e-6, .440e-6, .215e-6, .103e-6, .481e-7, .221e-7, .996e-8, .440e-8, .191e-8,
      .814e-9, .340e-9, .140e-9, .564e-10, .224e-10, .871e-11, .334e-11, .126e-11, .465e-12, .169e-12, .600e-13,
      .189e-13},
     {3.124111453721466e-03, 6.015416842150318e-03, 8.470021834842650e-03, 1.033682931733337e-02,
      1.153249572873923e-02, 1.204549525737964e-02, 1.192957068015293e-02, 1.128883207111195e-02,
      1.025804501391024e-02, 8.982017581934167e-03, 7.597500902492453e-03, 6.219920556824985e-03,
      4.935916341009131e-03, 3.801432544256119e-03, 2.844213677587894e-03, 2.069123394222672e-03,
      1.464687282843915e-03, 1.009545263941126e-03, 6.779354330227017e-04, 4.437815269118510e-04,
      2.833264542938954e-04, 1.765005798796805e-04, 1.073342592697238e-04, 6.374497601777217e-05,
      3.698645309704183e-05, 2.097466832643746e-05, 1.162956710412555e-05, 6.306710405783322e-06,
      3.346286430868515e-06, 1.737760074184334e-06, 8.835366904275847e-07, 4.399520411127637e-07,
      2.146181897152360e-07, 1.025981211654928e-07, 4.807864068784215e-08, 2.209175152474847e-08,
      9.956251263138180e-09, 4.402193653748924e-09, 1.910149382204028e-09, 8.135892921473050e-10,
      3.402477118549235e-10, 1.397485617545782e-10, 5.638575303049199e-11, 2.235459707956947e-11,
      8.710498036398032e-12, 3.336554275346643e-12, 1.256679567784939e-12, 4.654359053128788e-13,
      1.693559145599857e-13, 5.996593816663054e-14, 1.891330702629865e-14}, 0, 0},
    {"C5", 30, 0, 20, detest_planets, 0,
     {3.42947415189, 3.35386959711, 1.35494901715, 6.64145542550, 5.97156957878, 2.18231499728, 11.2630437207,
      14.6952576794, 6.27960525067, -30.1552268759, 1.65699966404, 1.43785752721, -21.1238353380, 28.4465098142,
      15.3882659679, -.557160570446, .505696783289, .230578543901, -.415570776342, .365682722812, .169143213293,
      -.325325669158, .189706021964, .0877265322780, -.0240476254170, -.287659532608, -.117219543175, -.176860753121,
      -.216393453025, -.0148647893090},
     {5.45, 4.71, 2.03, 6.64, 8.34, 3.46, 11.3, 17.2, 7.48, 30.2, 4.11, 1.44, 24.4, 28.4, 15.4, .764, .661, .284,
      .588, .366, .169, .388, .190, .0877, .0413, .289, .119, .177, .246, .0319},
     {-4.792730224323733, -2.420550725448973, -9.212509306014886e-01, -4.217310404035213, 7.356202947498970,
      3.223785985421212, 4.035559443262270, 1.719865528670555e+01, 7.478910794233703, -2.998759326324844e+01,
      -4.107310937550929, -9.277008321754407e-01, -2.442125302518482e+01, 2.381459045746554e+01,
      1.492096306951359e+01, 3.499208963063806e-01, -5.748487687912825e-01, -2.551694020879149e-01,
      -5.237040978903326e-01, -2.493000463579661e-01, -8.045341642044464e-02, -3.875289237334110e-01,
      5.648603288767891e-02, 3.023606472143342e-02, 4.133856546712445e-02, -2.862393029841379e-01,
      -1.183032405136207e-01, -1.511986457359206e-01, -2.460068894318766e-01, -3.189687411323877e-02}, 0, 0},
#define DETEST_ORBIT(name, e, speed, ...) {name, 4, 0, 20, detest_orbit, 0, {1 - (e), 0, 0, speed}, __VA_ARGS__, 0, 0}
    DETEST_ORBIT("D1", 0.1, 1.1055415967851332, {1.10, 0.995, 1.01, 1.11}, /* sqrt((1+e)/(1-e)) */
     {2.198835352008397e-01, 9.427076846341813e-01, -9.787659841058176e-01, 3.287977990962036e-01}),
    DETEST_ORBIT("D2", 0.3, 1.3627702877384937, {1.30, 0.954, 1.05, 1.36},
     {-1.777027357140412e-01, 9.467784719905892e-01, -1.030294163192969, 1.211074890053952e-01}),
    DETEST_ORBIT("D3", 0.5, 1.7320508075688773, {1.50, 0.866, 1.15, 1.73},
     {-5.780432953035361e-01, 8.633840009194193e-01, -9.595083730380727e-01, -6.504915126712089e-02}),
    DETEST_ORBIT("D4", 0.7, 2.3804761428476167, {1.70, 0.714, 1.40, 2.38},
     {-9.538990293416394e-01, 6.907409024219432e-01, -8.212674270877433e-01, -1.539574259125825e-01}),
    DETEST_ORBIT("D5", 0.9, 4.3588989435406736, {1.90, 0.436, 2.29, 4.36},
     {-1.295266250987574, 4.003938963792321e-01, -6.775390924707566e-01, -1.270838154278686e-01}),
    {"E1", 2, 0, 20, detest_ne1, 0, {0.6713967071418030, 0.09540051444747446}, {0.679, 0.478}, /* J_1/2(1) and its derivative */
     {1.456723600728308e-01, -9.883500195574063e-02}, 0, 0},
    {"E2", 2, 0, 20, detest_vanderpol, 1, {2, 0}, {2.01, 2.68}, {2.008149762174948, -4.250887527320057e-02}, 0, 0},
    {"E3", 2, 0, 20, detest_ne3, 0, {0, 0}, {1.16, 1.28}, {-1.004178858647128e-01, 2.411400132095954e-01}, 0, 0},
    {"E4", 2, 0, 20, detest_ne4, 0, {30, 0}, {34.0, 0.277}, {3.395091444646555e+01, 2.767822659672869e-01}, 0, 0},
    {"E5", 2, 0, 20, detest_ne5, 0, {0, 0}, {14.1, 2.40}, {1.411797390542629e+01, 2.4}, 0, 0},
    {"F1", 2, 0, 20, detest_nf1, 0, {0, 0}, {12.9, 38.4}, {-1.294460621213470e1, 0}, 20, 1},
    {"F2", 1, 0, 20, detest_nf2, 0, {110}, {110}, {70.03731057008607}, 20, 1},
    {"F3", 2, 0, 20, detest_nf3, 0, {0, 0}, {1.31, 0.737}, {-3.726957553088175e-1, -6.230137949234190e-1}, 20, 1},
    {"F4", 1, 0, 20, detest_nf4, 0, {1}, {1.52}, {9.815017249707434e-11}, 1, 10},
    {"F5", 1, 0, 20, detest_nf5, 0, {1}, {1}, {1}, 19, 1},

    {"A1", 4, 1, 20, detest_sa1, 0, DETEST_ONES, DETEST_ONES, {4.539992969929191e-05, 2.061153036149920e-09, 0, 0}, 0, 0},
    {"A2", 9, 1, 120, detest_sa2, 0, {0}, {.1, .2, .3, .4, .5, .6, .7, .8, .9},
     {9.999912552999704e-02, 1.999982511586291e-01, 2.999975543202422e-01, 3.999971057541257e-01,
      4.999969509963023e-01, 5.999971057569546e-01, 6.999975543256127e-01, 7.999982511659962e-01,
      8.999991255386128e-01}, 0, 0},
    {"A3", 4, 1, 20, detest_sa3, 0, DETEST_ONES, {1, 1, 7.82, 1},
     {-1.353352661867235e-03, 1.368526917891521e-02, 1.503725348455117, 1.353352832366099e-01}, 0, 0},
    {"A4", 10, 1, 1, detest_sa4, 0, DETEST_ONES, DETEST_ONES, {3.678794411714325e-01, 1.265870722340194e-14}, 0, 0},
    {"B1", 4, 1, 20, detest_sb1, 0, {1, 0, 1, 0}, {1, 8.59, 1, 32.2}, {1.004166730990124e-09, 1.800023280346500e-08, 0, 0}, 0, 0},
    {"B2", 6, 1, 20, detest_sb2, 3, DETEST_ONES, DETEST_ONES,
     {0, 0, 0, 2.061153063164016e-09, 4.539992973654118e-05, 1.353352832365270e-01}, 0, 0},
    {"B3", 6, 1, 20, detest_sb2, 8, DETEST_ONES, DETEST_ONES,
     {0, 0, 0, 2.061153071123456e-09, 4.539992974611305e-05, 1.353352832365675e-01}, 0, 0},
    {"B4", 6, 1, 20, detest_sb2, 25, DETEST_ONES, {1.12, 1, 1, 1, 1, 1},
     {0, 0, 0, 2.061152428936651e-09, 4.539992963392291e-05, 1.353352832363442e-01}, 0, 0},
    {"B5", 6, 1, 20, detest_sb2, 100, DETEST_ONES, {1.31, 1.12, 1, 1, 1, 1},
     {0, 0, 0, 2.061153622425655e-09, 4.539992976246673e-05, 1.353352832366126e-01}, 0, 0},
    {"C1", 4, 1, 20, detest_sc1, 0, DETEST_ONES, {1.02, 1.03, 1, 1},
     {4.003223925456179e-04, 4.0016e-04, 4e-04, 2e-02}, 0, 0},
    {"C2", 4, 1, 20, detest_sc2, 0.1, DETEST_ONES, {2, 1, 1, 1},
     {1.999999997938994, 3.999999990839974e-02, 4.001599991537078e-02, 4.003201271914461e-02}, 0, 0},
    {"C3", 4, 1, 20, detest_sc2, 1, DETEST_ONES, {2, 1, 1, 1},
     {1.999999997939167, 3.999999990840744e-01, 4.159999990793773e-01, 4.333055990159567e-01}, 0, 0},
    {"C4", 4, 1, 20, detest_sc2, 10, DETEST_ONES, {2, 4, 20, 420},
     {1.999999997938846, 3.999999990839318, 1.999999991637941e+01, 4.199999965390368e+02}, 0, 0},
    {"C5", 4, 1, 20, detest_sc2, 20, DETEST_ONES, {2, 8, 136, 3.71e4},
     {1.999999997938846, 7.999999981678634, 1.359999993817714e+02, 3.712799965967762e+04}, 0, 0},
    {"D1", 3, 1, 400, detest_sd1, 0, {0, 0, 0}, {22.3, 27.1, 400}, {2.224222010616901e+01, 2.711071334484136e+01, 400}, 0, 0},
    {"D2", 3, 1, 40, detest_sd2, 0, {1, 0, 0}, {1, 0.365, 28.5},
     {7.158270687193941e-01, 9.185534764557338e-02, 2.841637457458413e+01}, 0, 0},
    {"D3", 4, 1, 20, detest_sd3, 0, {1, 1, 0, 0}, {1, 1, 0.36, 0.485},
     {6.397604446889910e-01, 5.630850708287990e-03, 3.602395553110090e-01, 3.170647969903515e-01}, 0, 0},
    {"D4", 3, 1, 50, detest_sd4, 0, {1, 1, 0}, {1, 1.42, 3.71e-6},
     {5.976546980673215e-01, 1.402343408546138, -1.893386540441913e-06}, 0, 0},
    {"D5", 2, 1, 100, detest_sd5, 0, {0, 0}, {0.992, 0.984}, {-9.916420698713913e-01, 9.833363588544478e-01}, 0, 0},
    {"D6", 3, 1, 1, detest_sd6, 0, {1, 0, 0}, {1, 0.148, 5.77e-8},
     {8.523995440749948e-01, 1.476003981941319e-01, 5.773087333950041e-08}, 0, 0},
    {"E1", 4, 1, 1, detest_se1, 0, {0, 0, 0, 0}, {1e-8, 2.23e-7, 1.32e-5, 1.71e-3},
     {1.000000000000012e-08, -1.625323873316817e-19, 2.025953375595861e-17, -1.853149807630002e-15}, 0, 0},
    {"E2", 2, 1, 10, detest_vanderpol, 5, {2, 0}, {2.02, 7.64}, {-1.158701266031984, 4.304698089780476e-01}, 0, 0},
    {"E3", 3, 1, 500, detest_se3, 0, {1, 1, 0}, {1.63, 1.60, 26.3},
     {4.253052197643089e-03, 5.317019548450387e-03, 2.627647748753926e+01}, 0, 0},
    {"E4", 4, 1, 1000, detest_se4, 0, {0, -2, -1, -1}, {28.8, 29.5, 15.5, 16.3},
     {1.999999977523654e+01, -2.000000022476345e+01, -2.247634567084293e-07, 2.247634567084293e-07}, 0, 0},
    {"E5", 4, 1, 1000, detest_se5, 0, {1.76e-3, 0, 0, 0}, {1.76e-3, 1.46e-10, 8.27e-12, 1.38e-10},
     {1.618076919919600e-03, 1.382236955418478e-10, 8.251573436034144e-12, 1.299721221058136e-10}, 0, 0},
    {"F1", 4, 1, 1000, detest_sf1, 0, {761, 0, 600, 0.1}, {1210, 0.0835, 1210, 0.1},
     {1.211129474696585e+03, 1.271123619113051e-05, 1.208637804660361e+03, 3.241981171933418e-04}, 0, 0},
    {"F2", 2, 1, 240, detest_sf2, 0, {1, 0}, {1, 2.53e-3}, {3.912699122292088e-01, 1.329964166084866e-03}, 0, 0},
    {"F3", 5, 1, 100, detest_sf3, 0, {4e-6, 1e-6, 0, 0, 0}, {4e-6, 1e-6, 3.74e-9, 7.65e-7, 3.24e-6},
     {3.235910070806680e-13, 2.360679774997897e-07, 7.639319089351045e-14, 7.639319461070194e-07,
      3.236067653908783e-06}, 0, 0},
    {"F4", 3, 1, 300, detest_sf4, 0, {4, 1.1, 4}, {1.18e5, 1.77e3, 3.13e4},
     {4.418303324022590, 1.290244712916425, 3.019282584050490}, 0, 0},
    {"F5", 4, 1, 100, detest_sf5, 0, {3.365e-7, 8.261e-3, 1.642e-3, 9.380e-6}, {3.36e-7, 8.26e-3, 6.19e-3, 9.55e-6},
     {1.713564284690712e-07, 3.713563071160676e-03, 6.189271785267793e-03, 9.545143571530929e-06}, 0, 0},
};
/* clang-format on */
enum { DETEST_COUNT = sizeof detest_problems / sizeof *detest_problems };

/* ---- Runs ---------------------------------------------------------------------------------------- */

typedef struct detest_run {
    const detest_problem *problem;
    int scaled, declared; /* z = y/w; the jumps are told to the run */
    const char *method;
    double rtol, atol;
    long max_steps;
    double z[DETEST_SIZE]; /* the result */
    dae_status status;
    dae_error error;
    dae_stats stats;
} detest_run;

static double detest_weight(const detest_run *r, int i)
{
    return r->scaled ? r->problem->weight[i] : 1;
}

static int detest_rhs(double t, const double *z, double *f, void *user)
{
    const detest_run *r = user;
    double y[DETEST_SIZE];
    for (int i = 0; i < r->problem->n; i++) y[i] = z[i] * detest_weight(r, i);
    r->problem->f(t, y, f, r->problem->parameter);
    for (int i = 0; i < r->problem->n; i++) f[i] /= detest_weight(r, i);
    return 0;
}

static int detest_residual(double t, const double *z, const double *zp, double *F, void *user)
{
    const detest_run *r = user;
    detest_rhs(t, z, F, user);
    for (int i = 0; i < r->problem->n; i++) F[i] = zp[i] - F[i];
    return 0;
}

/* Methods that do not take ODEs get F = y' - f(t, y). */
static dae_system detest_system(detest_run *r)
{
    const dae_method_info *m = dae_method_find(r->method);
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = r->problem->n, .f = detest_rhs, .user = r}};
    if (m && !(m->kinds & 1u << DAE_KIND_ODE))
        sys = (dae_system){.kind = DAE_KIND_IDE,
                           .ide = {.n = r->problem->n, .residual = detest_residual, .user = r}};
    return sys;
}

/* Whether a method can be used at all; explicit ones only where the problem is not stiff. */
static inline int detest_takes(const dae_method_info *m, const detest_problem *p)
{
    unsigned kinds = 1u << DAE_KIND_ODE | 1u << DAE_KIND_IDE;
    return (m->kinds & kinds) && !m->no_velocities && (m->implicit || !p->stiff);
}

/* Where a run that says OK must be within 1000 tolerances: classes A, B, C, E of the nonstiff collection, the scaled stiff one.
 * wnys2 and rkc have order 2 and are not meant for tight tolerances; the error of rkc goes with tol^(2/3), besides. */
static inline int detest_promised(const char *method, const detest_problem *p, int scaled, double tol)
{
    int low = !strcmp(method, "rkc") || !strcmp(method, "wnys2");
    if (low && tol < 0.99e-6) return 0;
    return p->stiff ? scaled : !scaled && strchr("ABCE", p->name[0]) != NULL;
}

static inline void detest_solve(detest_run *r)
{
    const detest_problem *p = r->problem;
    double jump[DETEST_JUMPS];
    dae_options opt = dae_options_default();
    dae_system sys = detest_system(r);
    for (int i = 0; i < p->jumps; i++) jump[i] = p->jump * (i + 1);
    opt.method = r->method;
    opt.rtol = r->rtol;
    opt.atol = r->atol;
    opt.max_steps = r->max_steps;
    opt.discontinuity = jump;
    opt.ndiscontinuity = r->declared ? p->jumps : 0;
    for (int i = 0; i < p->n; i++) r->z[i] = p->y0[i] / detest_weight(r, i);
    r->status = dae_solve(&sys, &opt, 0, p->t_end, r->z, &r->stats, &r->error);
}

/* The largest |z - reference| / (atol + rtol |reference|). */
static inline double detest_error(const detest_run *r, const double *reference)
{
    double worst = 0;
    for (int i = 0; i < r->problem->n; i++) {
        double e = fabs(r->z[i] - reference[i]) / (r->atol + r->rtol * fabs(reference[i]));
        if (!(e <= worst)) worst = e;
    }
    return worst;
}

/* The solution of problem p in z at its end, from two methods that have nothing in common; returns their difference,
 * relative to 1 + |z|. */
static inline double detest_reference(const detest_problem *p, int scaled, double *z)
{
    detest_run a = {.problem = p,
                    .scaled = scaled,
                    .declared = 1,
                    .method = p->stiff ? "bimd" : "dop853",
                    .rtol = 1e-13,
                    .atol = 1e-14,
                    .max_steps = 100000};
    detest_run b = a;
    b.method = "radau";
    b.rtol = 1e-12;
    b.atol = 1e-13;
    detest_solve(&a);
    detest_solve(&b);
    if (a.status != DAE_OK || b.status != DAE_OK) return INFINITY;
    memcpy(z, a.z, sizeof a.z);
    double worst = 0;
    for (int i = 0; i < p->n; i++) worst = fmax(worst, fabs(a.z[i] - b.z[i]) / (1 + fabs(b.z[i])));
    return worst;
}

#endif
