#include "multibody/words.h"

#include <string.h>

size_t mbs_word_length(const char *c)
{
    static const char letter[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    size_t n = 0;
    while (c[n] && (strchr(letter, c[n]) || (n > 0 && c[n] >= '0' && c[n] <= '9'))) n++;
    return n;
}

/* 1e3, 0x10 and so on hold letters. */
size_t mbs_no_word_length(const char *c)
{
    if (*c == '[') return strcspn(c, "]");
    if ((*c < '0' || *c > '9') && *c != '.') return 0;
    return strspn(c, "0123456789.abcdefghijklmnopqrstuvwxyzE_");
}

int mbs_word_of(const char *list, const char *word)
{
    size_t length = word ? strlen(word) : 0;
    for (int k = 0; list; k++) {
        size_t n = strcspn(list, "|");
        if (n == length && !memcmp(list, word, n)) return k;
        list = list[n] ? list + n + 1 : NULL;
    }
    return -1;
}
