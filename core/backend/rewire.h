/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Rewiring graphs on an accelerator: many chains of swaps at once, each the same as on the CPU.
 *
 * A try draws two edges a -> b and c -> d, which become a -> d and c -> b unless that makes a loop or an edge
 * that is there. What it draws follows from (seed, graph, try) alone, so tries that touch different edges can
 * be done together, in any order.
 */
#ifndef SF_CORE_BACKEND_REWIRE_H
#define SF_CORE_BACKEND_REWIRE_H

#include "core/backend/job.h"
#include "core/edge.h"
#include "core/random.h"

#define SF_REWIRE_STREAM 0x3e317e /**< keeps these numbers apart from others of the seed */

/** What a try draws of `count` edges: two of them, and whether an undirected second one is turned round. */
typedef struct sf_rewire_draw {
    uint32_t one, other;
    bool turned;
} sf_rewire_draw;

SF_RANDOM_INLINE sf_rewire_draw sf_rewire_drawn(uint64_t seed, uint32_t graph, uint64_t number,
                                                uint32_t count)
{
    uint64_t words[2];
    sf_random_block(words, seed, (uint64_t)SF_REWIRE_STREAM << 32 | graph, number);
    sf_rewire_draw draw;
    draw.one = (uint32_t)((words[0] & UINT32_MAX) * count >> 32);
    draw.other = (uint32_t)((words[0] >> 32) * count >> 32);
    draw.turned = (words[1] & 1) != 0;
    return draw;
}

#define SF_BACKEND_TRIADS 16 /**< ways in which three vertices are joined */

typedef struct sf_backend_rewire_job {
    uint32_t vertex_count;
    bool directed;
    const sf_edge *edges; /**< no loops, no two alike; undirected: each once, in either direction */
    uint32_t edge_count;
    uint64_t seed, tries;   /**< tries of each graph */
    uint32_t first, graphs; /**< makes graphs first .. first + graphs - 1 */
    sf_edge *rewired;       /**< or NULL: graphs * edge_count, in the places of `edges` */
    /**
     * Or NULL: graphs * SF_BACKEND_TRIADS. How many sets of three vertices, of which at least two are joined,
     * are of each of the 16 classes: that of vertices A, B, C is classes[code], where bits 0 to 5 of the code
     * are A -> B, B -> A, B -> C, C -> B, A -> C, C -> A. An undirected edge joins both ways.
     */
    uint64_t *triads;
    const uint8_t *classes;      /**< 64 */
    const sf_progress *progress; /**< asked now and then; false: SF_CANCELLED */
} sf_backend_rewire_job;

/** Called while the device is held. SF_UNAVAILABLE where a graph is too large, SF_CANCELLED. */
typedef struct sf_backend_rewire {
    int (*run)(sf_backend_device *device, const sf_backend_rewire_job *job, sf_error *error);
} sf_backend_rewire;

#endif
