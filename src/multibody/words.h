/* Names in the laws of a model, and words of lists. */
#ifndef MBS_WORDS_H
#define MBS_WORDS_H

#include <stddef.h>

/* How long the name is that begins here; 0: none does. */
size_t mbs_word_length(const char *c);
/* What stands here and is no name: a unit in brackets, a number; 0: neither. */
size_t mbs_no_word_length(const char *c);
/* Which word of a list such as "world|body" it is, from 0; -1: none. */
int mbs_word_of(const char *list, const char *word);

#endif
