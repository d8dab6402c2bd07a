/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Subgraph matching on a device: the search of engine auto, in plain arrays.
 *
 * A pattern vertex becomes a step, and its candidates are numbered by their place in an ascending set of data
 * vertices. All that the pattern says of two vertices becomes lists: for each candidate of an earlier step
 * the ascending places of those candidates of a later step that go with it (or, of what must be absent, that
 * do not). So a device knows no graph, no labels and no attributes: it intersects sorted lists.
 */
#ifndef SF_CORE_BACKEND_MATCH_H
#define SF_CORE_BACKEND_MATCH_H

#include "core/backend.h"

#define SF_BACKEND_MATCH_MOST 16  /**< steps; sets of steps are words, bit i is step i */
#define SF_BACKEND_MATCH_GROUP 3u /**< steps in a group that are not alike */

/** List of row r: values[offsets[r]] .. values[offsets[r + 1] - 1], ascending. */
typedef struct sf_backend_match_lists {
    const uint64_t *offsets; /**< rows + 1; the first is 0 */
    const uint32_t *values;
    uint32_t rows;
} sf_backend_match_lists;

/** What a candidate of a step must be, given the candidates chosen for earlier steps. */
typedef struct sf_backend_match_step {
    uint32_t set;                          /**< its candidates */
    uint32_t joined;                       /**< earlier steps in whose list it must be; none: any candidate */
    uint32_t excluded;                     /**< earlier steps in whose list it must not be */
    uint32_t greater;                      /**< earlier steps whose data vertex must be smaller */
    uint32_t different;                    /**< earlier steps whose data vertex must be another */
    uint16_t lists[SF_BACKEND_MATCH_MOST]; /**< of a step in joined or excluded: which lists */
} sf_backend_match_step;

/**
 * Steps after the core of which nothing is said together, but that their data vertices differ. Those that are
 * alike have the same candidates whatever is chosen before; else there are at most SF_BACKEND_MATCH_GROUP.
 */
typedef struct sf_backend_match_group {
    uint32_t steps;
    bool alike;
} sf_backend_match_group;

/** What a device found. */
typedef struct sf_backend_match_answer {
    uint64_t count; /**< of embeddings; UINT64_MAX where it does not fit */
    uint64_t tried; /**< data vertices */
    size_t listed;  /**< rows written */
    double seconds; /**< of the search alone, when everything is on the device */
    bool stopped;   /**< `most` or the deadline: count is a lower bound, and rows are any of them */
} sf_backend_match_answer;

typedef struct sf_backend_match_job {
    uint32_t step_count; /**< 1 .. SF_BACKEND_MATCH_MOST */
    uint32_t core; /**< steps that are searched, at least 1; embeddings of the rest are multiplied out */
    const sf_backend_match_step *steps;
    const sf_backend_match_group *groups; /**< every step after the core is in one */
    uint32_t group_count;
    const uint32_t *const *sets; /**< data vertices, ascending */
    const uint32_t *set_sizes;
    uint32_t set_count;
    const sf_backend_match_lists *lists;
    uint32_t list_count;
    uint64_t most;   /**< stop beyond so many embeddings; UINT64_MAX: never */
    double deadline; /**< sf_clock_seconds at which to stop; 0: never */
    const sf_progress *progress;
    uint32_t *rows; /**< or NULL. Where core == step_count: room for `most` rows of data vertices by step, in
                       no order; `most` is then below 2^31 */
} sf_backend_match_job;

/** SF_UNAVAILABLE where the job is too large, SF_CANCELLED. */
typedef struct sf_backend_match {
    int (*run)(sf_backend_device *device, const sf_backend_match_job *job, sf_backend_match_answer *answer,
               sf_error *error);
} sf_backend_match;

#endif
