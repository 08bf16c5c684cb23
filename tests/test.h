/* What every test includes: cmocka with its prerequisites, and comparisons of numbers. */
#ifndef DAE_TESTS_TEST_H
#define DAE_TESTS_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* |a - b| <= tol, with both numbers in the message. */
#define assert_near(a, b, tol)                                                                 \
    do {                                                                                       \
        double a_ = (a), b_ = (b), tol_ = (tol);                                               \
        if (!(fabs(a_ - b_) <= tol_)) {                                                        \
            fail_msg("%s = %.17g, expected %.17g within %.3g (off by %.3g)", #a, a_, b_, tol_, \
                     fabs(a_ - b_));                                                           \
        }                                                                                      \
    } while (0)

/* lo <= a <= hi */
#define assert_between(a, lo, hi)                                                                      \
    do {                                                                                               \
        double a_ = (a), lo_ = (lo), hi_ = (hi);                                                       \
        if (!(a_ >= lo_ && a_ <= hi_)) fail_msg("%s = %.17g not in [%.10g, %.10g]", #a, a_, lo_, hi_); \
    } while (0)

/* How many inputs a fuzz test makes: FUZZ_INPUTS, or what it takes in `make test`. */
static inline long fuzz_inputs(long standard)
{
    const char *wanted = getenv("FUZZ_INPUTS");
    return wanted ? atol(wanted) : standard;
}

/* Loops over many cases that are alike take every so manieth with a sanitizer, which makes each about ten times slower. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { sanitized_stride = 7 };
#else
enum { sanitized_stride = 1 };
#endif

#endif
