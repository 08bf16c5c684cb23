/* SHA-256 [FIPS 180-4], for content security policies of pages and fingerprints of checkpoints. */
#ifndef DAE_CORE_SHA256_H
#define DAE_CORE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { DAE_SHA256_BYTES = 32 };

typedef struct dae_sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    unsigned char block[64];
} dae_sha256;

void dae_sha256_begin(dae_sha256 *h);
void dae_sha256_add(dae_sha256 *h, const void *bytes, size_t length);
void dae_sha256_end(dae_sha256 *h, unsigned char sum[DAE_SHA256_BYTES]);
/* The sum in base64, as a policy names a script: 44 letters and 0. */
void dae_sha256_base64(const unsigned char sum[DAE_SHA256_BYTES], char text[45]);

#endif
