/* SPDX-License-Identifier: Apache-2.0 */
/** Bytes that somebody else owns: a part of a message. */
#ifndef SF_CORE_PART_H
#define SF_CORE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct sf_part {
    const void *data;
    size_t size;
} sf_part;

static inline bool sf_part_is(sf_part part, const char *word)
{
    return part.size == strlen(word) && memcmp(part.data, word, part.size) == 0;
}

#endif
