#include "core/sha256.h"

#include <string.h>

/* [FIPS 180-4] 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
/* clang-format off */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
/* clang-format on */

static uint32_t turn(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* 6.2.2 */
static void take_block(dae_sha256 *h, const unsigned char *b)
{
    uint32_t w[64], v[8];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)b[4 * t] << 24 | (uint32_t)b[4 * t + 1] << 16 | (uint32_t)b[4 * t + 2] << 8 |
               b[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        uint32_t x = w[t - 15], y = w[t - 2];
        w[t] = w[t - 16] + (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + w[t - 7] +
               (turn(y, 17) ^ turn(y, 19) ^ y >> 10);
    }
    memcpy(v, h->state, sizeof v);
    for (int t = 0; t < 64; t++) {
        uint32_t a = v[0], e = v[4];
        uint32_t one =
            v[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & v[5]) ^ (~e & v[6])) + K[t] + w[t];
        uint32_t two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < 8; i++) h->state[i] += v[i];
}

void dae_sha256_begin(dae_sha256 *h)
{
    /* 5.3.3: of the square roots of the first eight primes */
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(h->state, start, sizeof start);
    h->length = 0;
}

void dae_sha256_add(dae_sha256 *h, const void *bytes, size_t length)
{
    const unsigned char *b = bytes;
    while (length > 0) {
        size_t at = (size_t)(h->length % 64), n = 64 - at < length ? 64 - at : length;
        memcpy(h->block + at, b, n);
        h->length += n;
        b += n;
        length -= n;
        if (at + n == 64) take_block(h, h->block);
    }
}

void dae_sha256_end(dae_sha256 *h, unsigned char sum[DAE_SHA256_BYTES])
{
    uint64_t bits = 8 * h->length;
    unsigned char last[8];
    for (int i = 0; i < 8; i++) last[i] = (unsigned char)(bits >> (56 - 8 * i));
    dae_sha256_add(h, "\x80", 1);
    while (h->length % 64 != 56) dae_sha256_add(h, "", 1);
    dae_sha256_add(h, last, 8);
    for (int i = 0; i < DAE_SHA256_BYTES; i++)
        sum[i] = (unsigned char)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}

void dae_sha256_base64(const unsigned char sum[DAE_SHA256_BYTES], char text[45])
{
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0, k = 0; i < DAE_SHA256_BYTES; i += 3, k += 4) {
        uint32_t v =
            (uint32_t)sum[i] << 16 | (uint32_t)sum[i + 1] << 8 | (i + 2 < DAE_SHA256_BYTES ? sum[i + 2] : 0u);
        for (int j = 0; j < 4; j++) text[k + j] = letter[v >> (18 - 6 * j) & 63];
    }
    text[43] = '='; /* 32 = 10 * 3 + 2 */
    text[44] = 0;
}
