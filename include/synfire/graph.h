/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Graphs: the functional connectivity graph of a recording, graphs of files and of memory; what a vertex
 * reaches, where a pattern of connections occurs, and how often beside rewired graphs.
 *
 * A graph is read-only once made and may be used by several threads at once. Vertices are numbered from 0. An
 * undirected graph holds every edge in both directions (a loop once), and "directed edges" is what every
 * number of edges here means.
 */
#ifndef SYNFIRE_GRAPH_H
#define SYNFIRE_GRAPH_H

#include <string.h>
#include <synfire/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- searching ---- */

#define SF_UNREACHED UINT32_MAX

typedef enum sf_bfs_direction {
    SF_BFS_AUTO,     /**< bottom-up while the frontier is a large part of the graph */
    SF_BFS_TOP_DOWN, /**< every vertex of the frontier looks for unvisited neighbours */
    SF_BFS_BOTTOM_UP /**< every unvisited vertex looks for a neighbour in the frontier */
} sf_bfs_direction;

/** The techniques of Enterprise (Liu and Huang, SC 2015), each of which can be left out. */
typedef enum sf_bfs_feature {
    SF_BFS_TS = 1,   /**< frontier queues made by scanning the status array, without atomics */
    SF_BFS_WB = 2,   /**< four queues by out-degree: thread, warp, block, grid */
    SF_BFS_HC = 4,   /**< hubs of the frontier in shared memory, bottom-up */
    SF_BFS_GAMMA = 8 /**< bottom-up when over 30 % of the hubs are in the frontier */
} sf_bfs_feature;

/* ---- patterns ---- */

typedef enum sf_semantics {
    SF_ISOMORPHISM, /**< different pattern vertices have different data vertices */
    SF_INDUCED,     /**< and no edge joins those but the pattern's */
    SF_HOMOMORPHISM /**< pattern vertices may share one */
} sf_semantics;

/** Techniques of the engine gvsm; without any of them the counts are the same. */
typedef enum sf_gvsm_feature {
    SF_GVSM_BLACKLIST = 1,
    SF_GVSM_IMPLICATION = 2,
    SF_GVSM_TWINS = 4,
    SF_GVSM_ORDER = 8,
    SF_GVSM_TWIGS = 16,
    SF_GVSM_PIPELINE = 32, /**< on a device: three pieces of a layer under way at once */
    SF_GVSM_STAY = 64,     /**< on a device: small layers are joined there too */
    SF_GVSM_PAIRS = 128    /**< on a device: two twigs in a kernel while layers stay */
} sf_gvsm_feature;

/** Zeroed, every field but the size is its default. */
typedef struct sf_match_options {
    size_t size;
    sf_semantics semantics;
    bool distinct;       /**< divide by the automorphisms of the pattern; not with homomorphism */
    uint64_t limit;      /**< stop after so many embeddings; 0: none */
    double time_limit_s; /**< stop after so long; 0: never */
    size_t keep;         /**< embeddings to hand back, at most; 0: count only, which is faster */
    unsigned threads;    /**< 0: all cores */
    const char *engine;  /**< "auto", "gvsm"; NULL: "auto" */
    const char *device;  /**< "cpu", "cuda", "cuda:1", ...; NULL or "auto": by the estimated work */
    unsigned without;    /**< sf_gvsm_feature bits that the engine gvsm does without */
} sf_match_options;

static inline sf_match_options sf_match_options_default(void)
{
    sf_match_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}

/* ---- triads, and rewired graphs ---- */

#define SF_TRIADS 16

/** A triad in the notation of Holland and Leinhardt: numbers of mutual, one-way and missing edges, a letter.
 */
typedef struct sf_triad {
    const char *name;
    uint8_t edges; /**< of the vertices 0, 1, 2; bits 0 to 5: 0->1, 1->0, 1->2, 2->1, 0->2, 2->0 */
} sf_triad;

typedef struct sf_rewired_options {
    size_t size;
    uint32_t graphs;    /**< 100, at least 1 */
    uint64_t seed;      /**< 1 */
    unsigned threads;   /**< 0: all cores; the numbers do not depend on it */
    const char *device; /**< "cpu", "cuda", ...; NULL or "auto": by how much there is to do */
} sf_rewired_options;

/** How often something is found in rewired graphs, and how far from that it is in the graph itself. */
typedef struct sf_spread {
    double mean;
    double sd; /**< of a sample; NaN for one graph */
    double z;  /**< (count - mean) / sd; NaN where sd is 0 or NaN */
} sf_spread;

/** Where graphs were rewired. */
typedef struct sf_spread_place {
    char device[32]; /**< "cpu", "cuda:0" */
    char note[256];  /**< or empty: why the device asked for or chosen did not do it, and the CPU did */
} sf_spread_place;

#ifdef __cplusplus
}
#endif
#endif
