/* SPDX-License-Identifier: Apache-2.0 */
/** Breadth-first search on devices: graph/search/bfs.h says what levels and parents are. Statuses are as at
 * sf_backend. */
#ifndef SF_CORE_BACKEND_BFS_H
#define SF_CORE_BACKEND_BFS_H

#include "core/backend/graph.h"

#include <synfire/graph.h>

/** SF_BFS_GAMMA: whether a search goes on bottom-up, given this many hubs in the frontier of all hubs. */
static inline bool sf_bfs_gamma(uint32_t in_frontier, uint32_t hubs)
{
    return in_frontier * UINT64_C(10) > hubs * UINT64_C(3);
}

typedef struct sf_backend_search_options {
    sf_bfs_direction direction;
    bool enterprise;   /**< by the paper's kernels with these features; else by the fastest way there is */
    unsigned features; /**< of sf_bfs_feature */
} sf_backend_search_options;

/** A level of a search. */
typedef struct sf_backend_level {
    uint64_t found;
    double seconds;
    bool bottom_up;
} sf_backend_level;

typedef struct sf_backend_bfs_job {
    uint32_t source;       /**< less than the graph's vertices */
    uint32_t *levels;      /**< vertex_count, or NULL: they stay on the device */
    uint32_t *parents;     /**< vertex_count, or NULL */
    sf_backend_level *log; /**< of the levels as far as there is room; NULL where log_room is 0 */
    uint32_t log_room;
    /** or NULL: asked where the host is between two levels; false: SF_CANCELLED */
    const sf_progress *progress;

    uint64_t reached; /**< answer: vertices, the source included */
    uint64_t edges;   /**< answer: directed edges that leave them */
    uint32_t depth;   /**< answer: the greatest level */
    double seconds;   /**< answer: of the search on the device, levels and parents written there */
} sf_backend_bfs_job;

/** What repeated searches of one graph share; the graph must outlive it. */
typedef struct sf_backend_search sf_backend_search;

/** A graph cut into parts: part i has the vertices first[i] .. first[i + 1] - 1; each begins at a multiple of
 * 32, the first at 0, and first[count] is the end of the last. */
typedef struct sf_backend_cut {
    uint32_t count;
    uint32_t first[SF_MOST_DEVICES + 1];
} sf_backend_cut;

/** The lists of the vertices of one part on one device, for a search on several. */
typedef struct sf_backend_part sf_backend_part;

typedef struct sf_backend_bfs {
    int (*open)(sf_backend_search **search, sf_backend_graph *graph, const sf_backend_search_options *options,
                sf_error *error);
    void (*close)(sf_backend_search *search);               /**< NULL is allowed */
    double (*preparation)(const sf_backend_search *search); /**< seconds that open took */
    int (*run)(sf_backend_search *search, sf_backend_bfs_job *job, sf_error *error);

    /**
     * Searches from many vertices at once, 64 in a word of bits: the row levels[i * vertex_count ..] belongs
     * to sources[i]. parents may be NULL; progress is asked before every 64.
     */
    int (*many)(sf_backend_graph *graph, const uint32_t *sources, size_t count, uint32_t *levels,
                uint32_t *parents, const sf_progress *progress, sf_error *error);

    /**
     * Searches from every vertex along the lists `out` of host memory, no further than most_levels: how many
     * vertices each reaches, itself included, and the level of the farthest. progress is asked now and then.
     */
    int (*count)(sf_backend_device *device, const sf_backend_lists *out, uint32_t vertex_count,
                 uint32_t most_levels, uint32_t *reached, uint32_t *depth, const sf_progress *progress,
                 sf_error *error);

    /** Copies the lists of part `index`; all parts of a graph are opened with the same options. */
    int (*part_open)(sf_backend_part **part, sf_backend_device *device, const sf_backend_arrays *arrays,
                     const sf_backend_cut *cut, uint32_t index, const sf_backend_search_options *options,
                     sf_error *error);
    /** The same from a graph that lies on the part's device, which may be closed afterwards. */
    int (*part_take)(sf_backend_part **part, const sf_backend_graph *graph, const sf_backend_cut *cut,
                     uint32_t index, const sf_backend_search_options *options, sf_error *error);
    void (*part_close)(sf_backend_part *part); /**< NULL is allowed */
    /** Searches the graph that the parts are of, all of them in their order, on devices or one.
     * SF_UNAVAILABLE: the devices cannot read each other's memory, as the fastest way must, or the search
     * does not fit. */
    int (*run_parts)(sf_backend_part *const *parts, uint32_t count, sf_backend_bfs_job *job, sf_error *error);
} sf_backend_bfs;

#endif
