/* SPDX-License-Identifier: Apache-2.0 */
/** The head of a record, shared by the writer and the reader of journals (io/journal.h). */
#ifndef SF_IO_JOURNAL_HEAD_H
#define SF_IO_JOURNAL_HEAD_H

#include "io/crc32c.h"

#include <stddef.h>
#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "journals are little-endian, and written as they are in memory"
#endif

#define SF_JOURNAL_MAGIC UINT32_C(0x314a4653) /* "SFJ1" */

typedef struct sf_journal_head {
    uint32_t magic;
    uint16_t kind, table;
    uint32_t length, sum; /* of what it holds */
    uint64_t number, first;
    uint32_t id, head_sum;
} sf_journal_head;

_Static_assert(sizeof(sf_journal_head) == 40, "as in docs/formats.md");

static inline uint32_t sf_journal_head_sum(const sf_journal_head *head)
{
    return sf_crc32c(0, head, offsetof(sf_journal_head, head_sum));
}

static inline size_t sf_journal_padded(size_t length)
{
    return (length + 7) & ~(size_t)7;
}

#endif
