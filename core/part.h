/* SPDX-License-Identifier: Apache-2.0 */
/** Bytes that somebody else owns: a part of a message. */
#ifndef SF_CORE_PART_H
#define SF_CORE_PART_H

#include <stddef.h>

typedef struct sf_part {
    const void *data;
    size_t size;
} sf_part;

#endif
