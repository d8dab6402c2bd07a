/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A graph, or a part of one, arranged for searching. Vertices without an edge are left out; the others have
 * inner numbers: first the hubs, the vertices of greatest out-degree, by falling degree; then the rest in
 * their order. So the hubs' bits of a bitmap are its beginning, which fits into shared memory, and what a
 * search finds is written out in nearly the order it lies in. The hubs and the rest of every part begin at a
 * multiple of SF_GPU_ROOM, so that no word of a bitmap has vertices of two parts but those of the hubs; the
 * numbers that are left over have no edges.
 *
 * What is kept for each vertex of a part is by local number: the hubs of all parts, then the rest of this
 * one. The lists of hubs that are another part's are empty here. Of a whole graph, local is inner.
 *
 * Neighbour lists are sorted by falling degree: a bottom-up vertex mostly
 * finds its parent at once. Lists begin at pieces of four targets, which a thread reads at a time; the last
 * target fills up the last piece.
 */
#ifndef SF_GPU_SEARCH_ARRANGED_CUH
#define SF_GPU_SEARCH_ARRANGED_CUH

#include "gpu/search/graph.cuh"

extern "C" {
#include "core/backend/bfs.h"
}

#define SF_GPU_ROOM 1024u

#define SF_GPU_MOST_HUBS 0x10000u
#define SF_GPU_ONLY 0x80000000u    /**< in sf_gpu_arranged.greatest: there is no other neighbour */
#define SF_GPU_ALONE 0xffffffffu   /**< instead of it: there is none at all */
#define SF_GPU_MORE 0x80000000u    /**< in w of a head: the list has more pieces */
#define SF_GPU_OUTSIDE 0xffffffffu /**< inner number of a vertex without an edge */

typedef struct sf_gpu_pieces {
    const uint32_t *starts; /**< by local number, local_count + 1, in pieces */
    const uint4 *targets;   /**< inner numbers */
} sf_gpu_pieces;

/** Where 32 vertices in the order of the user lie: bits of those with a number that counts up from `base`,
 * and of hubs. */
typedef struct sf_gpu_place {
    uint32_t ordinary, hubs, base, padding;
} sf_gpu_place;

typedef struct sf_gpu_arranged {
    uint32_t first_vertex, last_vertex; /**< the vertices whose lists are here: first .. last - 1 */
    uint32_t hub_count, hub_room;       /**< hubs, of all parts; the number of the first that is none */
    uint32_t inner_count, with_edges;   /**< inner numbers, of all parts; how many of them are in use */
    uint32_t local_count, shift;        /**< local numbers; beyond the hubs, inner less local */
    sf_gpu_pieces in, out;              /**< the same of an undirected graph */
    /** by local number: the in-neighbour of greatest out-degree, an inner number */
    const uint32_t *greatest;
    const uint32_t *greatest_vertex; /**< and its vertex */
    const uint4 *heads;              /**< by local number: the first piece of the in-list, if it has one */
    const uint32_t *original;        /**< by inner number, of all parts */
    const uint32_t *inner;           /**< by vertex: its inner number, or SF_GPU_OUTSIDE */
    const sf_gpu_place *places;
} sf_gpu_arranged;

/** What arranging took from the device. Zero-initialise. */
typedef struct sf_gpu_arrangement {
    sf_gpu_arranged view;
    sf_gpu_array original, inner, places, greatest, greatest_vertex, heads;
    sf_gpu_array in_starts, in_targets, out_starts, out_targets;
} sf_gpu_arrangement;

/** Bits that hold the numbers 0 .. count - 1, at least 1. */
int sf_gpu_bits_for(uint64_t count);

/**
 * Sorts part `index` of a graph once, in O(vertices + edges of the part). The graph needs the targets of that
 * part only, but all offsets. SF_UNAVAILABLE where the part does not fit.
 */
int sf_gpu_arrange(sf_gpu_arrangement *arrangement, const sf_backend_graph *graph, const sf_backend_cut *cut,
                   uint32_t index, sf_error *error);
void sf_gpu_arrangement_close(sf_backend_device *device, sf_gpu_arrangement *arrangement);

#endif
