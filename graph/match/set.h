/* SPDX-License-Identifier: Apache-2.0 */
/** Sets of up to 64 vertices of a pattern, or of steps or blocks, in one word. */
#ifndef SF_GRAPH_MATCH_SET_H
#define SF_GRAPH_MATCH_SET_H

#include <stdint.h>

/** The set of one. */
static inline uint64_t sf_bit(uint32_t member)
{
    return UINT64_C(1) << member;
}

/** The first of a set, which is not empty. */
static inline uint32_t sf_lowest(uint64_t set)
{
    return (uint32_t)__builtin_ctzll(set);
}

#endif
