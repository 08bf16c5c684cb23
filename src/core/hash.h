/* FNV-1a: texts told apart, not protected. */
#ifndef DAE_CORE_HASH_H
#define DAE_CORE_HASH_H

#include <stddef.h>

#define DAE_HASH_BEGIN 14695981039346656037u /* the hash of nothing [FNV] */
#define DAE_HASH_PRIME 1099511628211u

/* Goes on from h over the bytes of a text. */
static inline unsigned long long dae_hash(unsigned long long h, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)text[i]) * DAE_HASH_PRIME;
    return h;
}

#endif
