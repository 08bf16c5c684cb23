#!/usr/bin/env python3
"""Prints the tables of src/core/number.c: 10^(28 i), i = -12 .. 12, and 10^i, i < 28, as 128 leading bits (hi, lo) and the exponent of
two of the last bit, 10^k ~ (hi 2^64 + lo) 2^e, truncated (the small ones are exact)."""
from fractions import Fraction


def show(k):
    x, e = Fraction(10) ** k, 0
    while x >= 2 ** 128:
        x, e = x / 2, e + 1
    while x < 2 ** 127:
        x, e = x * 2, e - 1
    return "    {0x%016xu, 0x%016xu, %d}," % (int(x) >> 64, int(x) & (2 ** 64 - 1), e)


print("\n".join(show(28 * i) for i in range(-12, 13)), end="\n\n")
print("\n".join(show(i) for i in range(28)))
