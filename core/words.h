/* SPDX-License-Identifier: Apache-2.0 */
/** Distinct texts, each with a number: the same text gets the same number again. */
#ifndef SF_CORE_WORDS_H
#define SF_CORE_WORDS_H

#include <synfire/error.h>

#define SF_NO_WORD UINT32_MAX

/** Zero-initialise. items[i] is the text with number i. */
typedef struct sf_words {
    char **items;
    size_t count, capacity;
    uint32_t *slots; /**< an open hash table of numbers plus one */
    size_t slot_count;
} sf_words;

/** The number of a text, which is copied when it is new: then *number was words->count before. */
int sf_words_add(sf_words *words, const char *text, uint32_t *number, sf_error *error);

/** The number of a text, or SF_NO_WORD. */
uint32_t sf_words_find(const sf_words *words, const char *text);

void sf_words_free(sf_words *words);

#endif
