/* SPDX-License-Identifier: Apache-2.0 */
/** What the ways of searching on a device share. */
#ifndef SF_GPU_SEARCH_SEARCH_CUH
#define SF_GPU_SEARCH_SEARCH_CUH

#include "gpu/search/arranged.cuh"

extern "C" {
#include "core/backend/bfs.h"
}

#define SF_GPU_LOG 4096u /* levels of which size and time are kept */

/** Written by a search on the device; `found` of level 0 is the source. */
typedef struct sf_gpu_level {
    uint32_t found, bottom_up;
    unsigned long long stamp; /**< ns of the device's clock when the level was done */
} sf_gpu_level;

typedef struct sf_gpu_summary {
    unsigned long long reached, edges;
    uint32_t depth, logged;
    unsigned long long begin; /**< ns of the device's clock */
} sf_gpu_summary;

typedef struct sf_gpu_persistent sf_gpu_persistent;

/** persistent.cu: the search in one kernel. `levels` and `parents` are device arrays by vertex. */
int sf_gpu_persistent_open(sf_gpu_persistent **search, const sf_backend_graph *graph,
                           sf_bfs_direction direction, sf_error *error);
void sf_gpu_persistent_close(sf_gpu_persistent *search);
/** Queues a search; the log and summary->depth, logged, begin are written on the device. */
int sf_gpu_persistent_run(sf_gpu_persistent *search, uint32_t source, uint32_t *levels, uint32_t *parents,
                          sf_gpu_level *log, sf_gpu_summary *summary, sf_error *error);

typedef struct sf_gpu_enterprise sf_gpu_enterprise;

/** enterprise.cu: the search as Enterprise does it, with those of its techniques that are named, for the
 * vertices first .. last - 1; of the others the graph needs no targets. `levels` and `parents` are device
 * arrays by vertex, of all. */
int sf_gpu_enterprise_open(sf_gpu_enterprise **search, const sf_backend_graph *graph, uint32_t first,
                           uint32_t last, const sf_backend_search_options *options, uint32_t *levels,
                           uint32_t *parents, sf_error *error);
void sf_gpu_enterprise_close(sf_gpu_enterprise *search);
/** Runs a search by one for all vertices, or by several that have them all; each has parents of its own in
 * the end. `log` has room for SF_GPU_LOG levels and, like `summary`, is on the host. */
int sf_gpu_enterprise_run(sf_gpu_enterprise *const *parts, uint32_t count, uint32_t source, sf_gpu_level *log,
                          sf_gpu_summary *summary, const sf_progress *progress, sf_error *error);

/** many.cu */
int sf_gpu_search_many(sf_backend_graph *graph, const uint32_t *sources, size_t count, uint32_t *levels,
                       uint32_t *parents, const sf_progress *progress, sf_error *error);

/** count.cu */
int sf_gpu_search_count(sf_backend_device *device, const sf_backend_lists *out, uint32_t vertex_count,
                        uint32_t most_levels, uint32_t *reached, uint32_t *depth, const sf_progress *progress,
                        sf_error *error);

/** parts.cu: a search on several devices. */
int sf_gpu_part_open(sf_backend_part **part, sf_backend_device *device, const sf_backend_arrays *arrays,
                     const sf_backend_cut *cut, uint32_t index, const sf_backend_search_options *options,
                     sf_error *error);
int sf_gpu_part_take(sf_backend_part **part, const sf_backend_graph *graph, const sf_backend_cut *cut,
                     uint32_t index, const sf_backend_search_options *options, sf_error *error);
void sf_gpu_part_close(sf_backend_part *part);
int sf_gpu_run_parts(sf_backend_part *const *parts, uint32_t count, sf_backend_bfs_job *job, sf_error *error);

typedef struct sf_gpu_enterprise_part sf_gpu_enterprise_part;

/** enterprise/parts.cu: the same as Enterprise. */
int sf_gpu_enterprise_part_open(sf_gpu_enterprise_part **part, const sf_backend_graph *graph,
                                const sf_backend_cut *cut, uint32_t index,
                                const sf_backend_search_options *options, sf_error *error);
void sf_gpu_enterprise_part_close(sf_gpu_enterprise_part *part);
int sf_gpu_enterprise_run_parts(sf_gpu_enterprise_part *const *parts, uint32_t count, sf_backend_bfs_job *job,
                                sf_error *error);

/** search.cu: adds vertices that have a level, and their edges, to a summary on the device. Of `out` the
 * offsets are looked at. */
int sf_gpu_sum_reached(sf_backend_device *device, sf_gpu_summary *summary, const uint32_t *levels,
                       sf_gpu_lists out, uint32_t count, sf_error *error);
/** The levels of a search into the job's log as far as it has room. */
void sf_gpu_tell_log(const sf_gpu_level *levels, const sf_gpu_summary *summary, sf_backend_bfs_job *job);
/** The same of levels as they are on the device. */
int sf_gpu_read_log(sf_backend_device *device, const sf_gpu_array *log, const sf_gpu_summary *summary,
                    sf_backend_bfs_job *job, sf_error *error);

#endif
