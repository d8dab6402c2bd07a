/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The edges of Kronecker graphs with the parameters of Graph500 (A = 0.57, B = C = 0.19, D = 0.05), or with
 * others, as R-MAT has them (Chakrabarti, Zhan and Faloutsos 2004): 0.45, 0.15, 0.15 (and 0.25). Edge i comes
 * from the counter i of Philox under the seed, and vertices are scrambled by a bijection of the seed: the
 * same graph on every machine, device and number of threads.
 */
#ifndef SF_CORE_BACKEND_KRONECKER_H
#define SF_CORE_BACKEND_KRONECKER_H

#include "core/edge.h"
#include "core/random.h"

typedef struct sf_kronecker {
    unsigned scale;       /**< 2^scale vertices, 1..31 */
    uint64_t edge_factor; /**< edge_factor * 2^scale edges are drawn, loops and repeats among them */
    uint64_t seed;
    double a, b, c; /**< chances of three of the quadrants; a = 0: those of Graph500 */
} sf_kronecker;

/** What a 32-bit uniform number is compared with: sums of chances. */
SF_RANDOM_INLINE uint32_t sf_kronecker_below(double chance)
{
    return (uint32_t)(chance * 0x1p32);
}

/* A bijection of 0..2^scale-1: odd multiplications and shifts to the right can each be undone. */
SF_RANDOM_INLINE uint32_t sf_kronecker_scramble(uint32_t vertex, const sf_kronecker *graph)
{
    uint32_t mask = (uint32_t)((UINT64_C(1) << graph->scale) - 1);
    unsigned half = (graph->scale + 1) / 2;
    uint64_t key = graph->seed * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0xbf58476d1ce4e5b9);
    for (int round = 0; round < 4; round++) {
        vertex = (vertex * ((uint32_t)(key >> 32) | 1) + (uint32_t)key) & mask;
        vertex ^= vertex >> half;
        key *= UINT64_C(0x94d049bb133111eb);
    }
    return vertex;
}

/** Edge `index`. One bit of both ends a level: the quadrant falls to A, B, C, D by a 32-bit uniform number.
 */
SF_RANDOM_INLINE sf_edge sf_kronecker_edge(const sf_kronecker *graph, uint64_t index)
{
    const int own = graph->a > 0;
    const uint32_t a = sf_kronecker_below(own ? graph->a : 0.57),
                   ab = sf_kronecker_below(own ? graph->a + graph->b : 0.76),
                   abc = sf_kronecker_below(own ? graph->a + graph->b + graph->c : 0.95);
    uint32_t from = 0, to = 0;
    for (uint32_t block = 0; 4 * block < graph->scale; block++) {
        uint64_t words[2];
        sf_random_block(words, graph->seed, block, index);
        for (uint32_t bit = 4 * block; bit < 4 * block + 4 && bit < graph->scale; bit++) {
            uint32_t u = (uint32_t)(words[bit / 2 % 2] >> 32 * (bit % 2));
            from = from << 1 | (u >= ab);
            to = to << 1 | ((u >= a && u < ab) || u >= abc);
        }
    }
    sf_edge edge = {sf_kronecker_scramble(from, graph), sf_kronecker_scramble(to, graph)};
    return edge;
}

#endif
