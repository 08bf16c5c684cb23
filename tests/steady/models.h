/* Small systems whose steady states and cycles are known in closed form. */
#ifndef TESTS_STEADY_MODELS_H
#define TESTS_STEADY_MODELS_H

#include <daedalus/daedalus.h>

#include "test.h"

/* y = (A, B/A); Hopf at B = 1 + A^2 with frequency A */
static const char brusselator[] = "model brusselator\nparam A = 1.2, B = 2\nvar x = 1, y = 1\n"
                                  "x' = A + x^2*y - (B + 1)*x\ny' = B*x - x^2*y\nsolve t = 0 .. 50\n";
/* folds at a = +-2/(3 sqrt(3)), y = -+1/sqrt(3) */
static const char cusp[] = "model cusp\nparam a = 0\nvar y = 1.3\ny' = a + y - y^3\nsolve t = 0 .. 20\n";

/* A mass on a vertical guide, held up by a spring to a point at the side: it snaps through. */
static const char truss[] =
    "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"truss\", \"dimension\": 2,\n"
    "  \"parameters\": { \"m\": \"1[kg]\", \"k\": \"2000[N/m]\" }, \"gravity\": [0, \"-9.81[m/s^2]\"],\n"
    "  \"bodies\": [ { \"name\": \"load\", \"mass\": \"m\", \"inertia\": 1, \"r\": [0, 0.3] } ],\n"
    "  \"points\": [ { \"name\": \"O\", \"body\": \"ground\", \"r\": [1, 0] }, { \"name\": \"A\", \"body\": "
    "\"load\", \"r\": "
    "[0, 0] }, { \"name\": \"S\", \"body\": \"ground\", \"r\": [0, 0.3] } ],\n"
    "  \"joints\": [ { \"name\": \"guide\", \"type\": \"prismatic\", \"a\": \"S\", \"b\": \"A\", \"axis\": "
    "[0, 1] } ],\n"
    "  \"forces\": [ { \"name\": \"spring\", \"type\": \"spring\", \"a\": \"O\", \"b\": \"A\", \"k\": \"k\", "
    "\"c\": 20, "
    "\"l0\": \"sqrt(1.09)*1[m]\" } ],\n"
    "  \"simulation\": { \"t1\": 5 } }\n";

static inline dae_problem *opened(const char *what)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open(what, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

#endif
