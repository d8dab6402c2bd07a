/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts, for each of the 64 bits at once, in how many words the bit is set: bit-sliced counters. planes[i]
 * holds bit i of every lane's count, so adding a word is a carry that ripples through the planes, and eight
 * words cost little more than one, since carry-save adders take three words in and give two out.
 */
#ifndef SF_MINE_LANES_H
#define SF_MINE_LANES_H

#include <stdint.h>

#define SF_LANE_PLANES 32

/** Zero-initialise. A lane counts up to 2^32 - 1. */
typedef struct sf_lanes {
    uint64_t planes[SF_LANE_PLANES];
} sf_lanes;

static inline void sf_lanes_carry(sf_lanes *lanes, int plane, uint64_t carry)
{
    for (; carry != 0; plane++) {
        uint64_t next = lanes->planes[plane] & carry;
        lanes->planes[plane] ^= carry;
        carry = next;
    }
}

static inline void sf_lanes_add(sf_lanes *lanes, uint64_t word)
{
    sf_lanes_carry(lanes, 0, word);
}

/* Adds two words to a plane; returns the carry to the next. */
static inline uint64_t sf_lanes_save(uint64_t *plane, uint64_t a, uint64_t b)
{
    uint64_t odd = *plane ^ a;
    uint64_t carry = (*plane & a) | (odd & b);
    *plane = odd ^ b;
    return carry;
}

static inline void sf_lanes_add_8(sf_lanes *lanes, const uint64_t words[8])
{
    uint64_t *planes = lanes->planes;
    uint64_t twos[4], fours[2];
    for (int i = 0; i < 4; i++)
        twos[i] = sf_lanes_save(&planes[0], words[2 * i], words[2 * i + 1]);
    for (int i = 0; i < 2; i++)
        fours[i] = sf_lanes_save(&planes[1], twos[2 * i], twos[2 * i + 1]);
    sf_lanes_carry(lanes, 3, sf_lanes_save(&planes[2], fours[0], fours[1]));
}

/** The lanes that counted `least` or more, compared from the highest bit down in all lanes at once. */
static inline uint64_t sf_lanes_at_least(const sf_lanes *lanes, uint32_t least)
{
    uint64_t greater = 0, equal = UINT64_MAX;
    for (int i = SF_LANE_PLANES - 1; i >= 0; i--) {
        if (least >> i & 1) {
            equal &= lanes->planes[i];
        } else {
            greater |= equal & lanes->planes[i];
            equal &= ~lanes->planes[i];
        }
    }
    return greater | equal;
}

#endif
