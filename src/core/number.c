#include "core/number.h"

#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The C locale is a constant of the C library: newlocale neither allocates nor fails for it. uselocale is the calling thread's
 * own, so that nobody else sees the change. */
static locale_t begin(void)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return plain ? uselocale(plain) : (locale_t)0;
}

static void end(locale_t before)
{
    if (before) uselocale(before);
}

double dae_strtod(const char *text, char **rest)
{
    locale_t before = begin();
    double x = strtod(text, rest);
    end(before);
    return x;
}

int dae_vsnprintf(char *out, size_t size, const char *format, va_list args)
{
    locale_t before = begin();
    int n = vsnprintf(out, size, format, args);
    end(before);
    return n;
}

int dae_snprintf(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = dae_vsnprintf(out, size, format, args);
    va_end(args);
    return n;
}

/* ---- 17 digits fast --------------------------------------------------------------------------------- */

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

typedef struct power {
    uint64_t hi, lo;
    int exponent;
} power;

enum { STEP = 28, FIRST = -12 };
/* 10^(STEP (FIRST + i)) = (hi 2^64 + lo) 2^exponent, truncated; tools/gen_powers.py */
static const power large[] = {
    {0xe3e27a444d8d98b7u, 0xfd1b1b2308169b25u, -1244}, {0xe61acf033d1a45dfu, 0x6fb92487298e33bdu, -1151},
    {0xe858ad248f5c22c9u, 0xd1b3400f8f9cff68u, -1058}, {0xea9c227723ee8bcbu, 0x465e15a979c1cadcu, -965},
    {0xece53cec4a314ebdu, 0xa4f8bf5635246428u, -872},  {0xef340a98172aace4u, 0x86fb897116c87c34u, -779},
    {0xf18899b1bc3f8ca1u, 0xdc44e6c3cb279ac1u, -686},  {0xf3e2f893dec3f126u, 0x5a89dba3c3efccfau, -593},
    {0xf64335bcf065d37du, 0x4d4617b5ff4a16d5u, -500},  {0xf8a95fcf88747d94u, 0x75a44c6397ce912au, -407},
    {0xfb158592be068d2eu, 0xeed6e2f0f0d56712u, -314},  {0xfd87b5f28300ca0du, 0x8bca9d6e188853fcu, -221},
    {0x8000000000000000u, 0x0000000000000000u, -127},  {0x813f3978f8940984u, 0x4000000000000000u, -34},
    {0x82818f1281ed449fu, 0xbff8f10e7a8921a4u, 59},    {0x83c7088e1aab65dbu, 0x792667c6da79e0fau, 152},
    {0x850fadc09923329eu, 0x03e2cf6bc604ddb0u, 245},   {0x865b86925b9bc5c2u, 0x0b8a2392ba45a9b2u, 338},
    {0x87aa9aff79042286u, 0x90fb44d2f05d0842u, 431},   {0x88fcf317f22241e2u, 0x441fece3bdf81f03u, 524},
    {0x8a5296ffe33cc92fu, 0x82bd6b70d99aaa6fu, 617},   {0x8bab8eefb6409c1au, 0x1ad089b6c2f7548eu, 710},
    {0x8d07e33455637eb2u, 0xdb0b487b6423e1e8u, 803},   {0x8e679c2f5e44ff8fu, 0x570f09eaa7ea7648u, 896},
    {0x8fcac257558ee4e6u, 0x213a4f0aa5e8a7b1u, 989},
};

/* 10^i, i < STEP: exact */
static const power small[] = {
    {0x8000000000000000u, 0x0000000000000000u, -127}, {0xa000000000000000u, 0x0000000000000000u, -124},
    {0xc800000000000000u, 0x0000000000000000u, -121}, {0xfa00000000000000u, 0x0000000000000000u, -118},
    {0x9c40000000000000u, 0x0000000000000000u, -114}, {0xc350000000000000u, 0x0000000000000000u, -111},
    {0xf424000000000000u, 0x0000000000000000u, -108}, {0x9896800000000000u, 0x0000000000000000u, -104},
    {0xbebc200000000000u, 0x0000000000000000u, -101}, {0xee6b280000000000u, 0x0000000000000000u, -98},
    {0x9502f90000000000u, 0x0000000000000000u, -94},  {0xba43b74000000000u, 0x0000000000000000u, -91},
    {0xe8d4a51000000000u, 0x0000000000000000u, -88},  {0x9184e72a00000000u, 0x0000000000000000u, -84},
    {0xb5e620f480000000u, 0x0000000000000000u, -81},  {0xe35fa931a0000000u, 0x0000000000000000u, -78},
    {0x8e1bc9bf04000000u, 0x0000000000000000u, -74},  {0xb1a2bc2ec5000000u, 0x0000000000000000u, -71},
    {0xde0b6b3a76400000u, 0x0000000000000000u, -68},  {0x8ac7230489e80000u, 0x0000000000000000u, -64},
    {0xad78ebc5ac620000u, 0x0000000000000000u, -61},  {0xd8d726b7177a8000u, 0x0000000000000000u, -58},
    {0x878678326eac9000u, 0x0000000000000000u, -54},  {0xa968163f0a57b400u, 0x0000000000000000u, -51},
    {0xd3c21bcecceda100u, 0x0000000000000000u, -48},  {0x84595161401484a0u, 0x0000000000000000u, -44},
    {0xa56fa5b99019a5c8u, 0x0000000000000000u, -41},  {0xcecb8f27f4200f3au, 0x0000000000000000u, -38},
};

/* The 128 leading bits of a b. */
static wide upper_half(wide a, wide b)
{
    uint64_t a1 = (uint64_t)(a >> 64), a0 = (uint64_t)a, b1 = (uint64_t)(b >> 64), b0 = (uint64_t)b;
    wide middle = (wide)a1 * b0, other = (wide)a0 * b1, low = (wide)a0 * b0;
    wide carry = (wide)(uint64_t)middle + (uint64_t)other + (uint64_t)(low >> 64);
    return (wide)a1 * b1 + (middle >> 64) + (other >> 64) + (carry >> 64);
}

static wide bits_of(const power *p)
{
    return (wide)p->hi << 64 | p->lo;
}

/* 10^p = result 2^exponent with 128 bits, too small by less than four of its last. */
static wide ten_to(int p, int *exponent)
{
    int i = (p >= 0 ? p : p - (STEP - 1)) / STEP;
    const power *l = &large[i - FIRST], *s = &small[p - STEP * i];
    *exponent = s->exponent;
    if (i == 0) return bits_of(s);
    wide product = upper_half(bits_of(l), bits_of(s));
    *exponent = l->exponent + s->exponent + 128;
    if (!(product >> 127)) {
        product <<= 1;
        --*exponent;
    }
    return product;
}

/* x 10^p rounded to a whole number, x > 0; 0: it stands so near to the middle between two that its last digit is not sure. */
static uint64_t scaled(double x, int p)
{
    int e = 0, exponent;
    uint64_t m;
    memcpy(&m, &x, sizeof m); /* 1 bit of sign, 11 of the exponent, 52 of the mantissa without its first */
    e = (int)(m >> 52 & 2047) - 1022;
    m = (m << 11) | (uint64_t)1 << 63;
    wide ten = ten_to(p, &exponent),
         product = (wide)m * (uint64_t)(ten >> 64) + ((wide)m * (uint64_t)ten >> 64);
    int down =
        -(e - 64 + exponent + 64); /* product 2^-down is the number, product too small by less than 6 */
    if (down < 8 || down > 126) return 0;
    wide whole = product >> down, rest = product - (whole << down), half = (wide)1 << (down - 1);
    if (rest + 8 > half && rest < half + 8) return 0;
    if (rest + 8 > half << 1) return 0; /* or the next whole number */
    return (uint64_t)whole + (rest > half);
}

/* The digits (17 of them) of a finite x > 0 and its exponent of ten, or 0. With x = 2^e (1 + f) the bits of x hold e + f, which
 * is at most log2 x and 0.0861 less at the most: one power of ten is enough in all but 2.6 % of the numbers. log10(2) = 78913/2^18
 * rounded down, exact enough for all e. */
static uint64_t digits17(double x, int *ten)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int64_t log2x = (int64_t)(bits >> 32) - ((int64_t)1023 << 20);
    *ten = (int)(log2x * 78913 >> 38);
    uint64_t d = scaled(x, 16 - *ten);
    if (d >= 100000000000000000u) d = scaled(x, 16 - ++*ten);
    return d >= 10000000000000000u && d < 100000000000000000u ? d : 0;
}

/* Eight digits, as four pairs that do not wait for each other. */
static void eight(uint32_t x, char *d)
{
    static const char pair[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
        "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
        "8081828384858687888990919293949596979899";
    uint32_t upper = x / 10000, lower = x % 10000;
    memcpy(d, pair + 2 * (upper / 100), 2);
    memcpy(d + 2, pair + 2 * (upper % 100), 2);
    memcpy(d + 4, pair + 2 * (lower / 100), 2);
    memcpy(d + 6, pair + 2 * (lower % 100), 2);
}

/* %.17g of digits and exponent: without zeros at the end, with an exponent below -4 and from 17 on. What is copied beyond the
 * last digit is written over: copies of a constant length are single moves. */
static int lay_out(uint64_t digits, int ten, char out[DAE_REAL_TEXT - 1])
{
    char d[33] = {0}, *c = out;
    int count = 17;
    uint64_t upper = digits / 100000000;
    d[0] = (char)('0' + upper / 100000000);
    eight((uint32_t)(upper % 100000000), d + 1);
    eight((uint32_t)(digits % 100000000), d + 9);
    while (count > 1 && d[count - 1] == '0') count--;
    int point = ten < -4 || ten >= 17 ? 0 : ten; /* the digit before the point */
    if (point < 0) {
        memcpy(c, "0.000", 5);
        memcpy(c + 1 - point, d, 17);
        c += 1 - point + count;
    } else {
        memcpy(c, d, 17);
        c += point + 1;
        if (count > point + 1) {
            memcpy(c + 1, d + point + 1, 16);
            *c = '.';
            c = out + count + 1;
        }
    }
    if (ten < -4 || ten >= 17) {
        int e = ten < 0 ? -ten : ten;
        *c++ = 'e';
        *c++ = ten < 0 ? '-' : '+';
        if (e >= 100) *c++ = (char)('0' + e / 100);
        *c++ = (char)('0' + e / 10 % 10);
        *c++ = (char)('0' + e % 10);
    }
    return (int)(c - out);
}
#endif

size_t dae_real_text(double x, char out[DAE_REAL_TEXT])
{
#ifdef __SIZEOF_INT128__
    int ten;
    uint64_t digits = isfinite(x) && fabs(x) > 1e-290 && fabs(x) < 1e290 ? digits17(fabs(x), &ten) : 0;
    if (digits) {
        int negative = x < 0, n;
        out[0] = '-';
        n = negative + lay_out(digits, ten, out + negative);
        out[n] = 0;
        return (size_t)n;
    }
#endif
    if (x == 0) {
        memcpy(out, signbit(x) ? "-0" : "0", signbit(x) ? 3 : 2);
        return signbit(x) ? 2 : 1;
    }
    return (size_t)dae_snprintf(out, DAE_REAL_TEXT, "%.17g", x);
}
