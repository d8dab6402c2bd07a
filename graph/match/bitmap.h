/* SPDX-License-Identifier: Apache-2.0 */
/** Sets as bits in 64-bit words; their number is rounded up to fill whole vectors. */
#ifndef SF_GRAPH_MATCH_BITMAP_H
#define SF_GRAPH_MATCH_BITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Words of a set of `bits` bits: a multiple of 8, which functions rely on. */
static inline uint32_t sf_bitmap_words(uint32_t bits)
{
    return (bits + 511) / 512 * 8;
}

/** What is done to every word, compiled for what the processor has. */
typedef struct sf_bitmap_loops {
    /** out = a & b; false where that is empty. */
    bool (*cut)(uint64_t *out, const uint64_t *a, const uint64_t *b, uint32_t words);
    /** Bits of a & b. */
    uint32_t (*count)(const uint64_t *a, const uint64_t *b, uint32_t words);
    /** Bits of a & row, over the rows (of `words` each) of the bits of `places` from `first` on, below `end`;
     * *steps grows by their number. */
    uint64_t (*count_rows)(const uint64_t *a, const uint64_t *rows, uint32_t words, const uint64_t *places,
                           uint32_t first, uint32_t end, uint64_t *steps);
} sf_bitmap_loops;

/** The best for this processor, within sf_vector_limit. */
const sf_bitmap_loops *sf_bitmap_best(void);

/** The first bit from `from` on, below `end`; `end` where there is none. */
static inline uint32_t sf_bitmap_next(const uint64_t *a, uint32_t from, uint32_t end)
{
    if (from >= end) return end;
    uint64_t word = a[from / 64] & ~UINT64_C(0) << from % 64;
    uint32_t i = from / 64;
    while (word == 0 && ++i * 64 < end)
        word = a[i];
    uint32_t found = word != 0 ? i * 64 + (uint32_t)__builtin_ctzll(word) : end;
    return found < end ? found : end;
}

static inline bool sf_bitmap_has(const uint64_t *a, uint32_t i)
{
    return (a[i / 64] >> i % 64 & 1) != 0;
}

static inline void sf_bitmap_set(uint64_t *a, uint32_t i)
{
    a[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void sf_bitmap_clear(uint64_t *a, uint32_t i)
{
    a[i / 64] &= ~(UINT64_C(1) << i % 64);
}

#endif
