/* SPDX-License-Identifier: Apache-2.0 */
/** A family of jobs of backends: spikes on a device, counting episodes in them, and finding the frequent
 * ones. */
#ifndef SF_CORE_BACKEND_EPISODES_H
#define SF_CORE_BACKEND_EPISODES_H

#include "core/backend/job.h"

#include <synfire/mine.h>

typedef enum sf_operation {
    SF_OPERATION_COUNT, /**< counting given episodes */
    SF_OPERATION_MINE   /**< finding the frequent episodes */
} sf_operation;

/** Spikes in stream order and by unit, as sf_events lays them out (mine/events.h). Times are ns since the
 * first spike, never negative. */
typedef struct sf_stream {
    uint32_t unit_count, count;
    const int64_t *times;      /**< by position */
    const uint32_t *owner;     /**< by position: the unit */
    const uint32_t *first;     /**< unit_count + 1: unit u's spikes are places first[u] .. first[u + 1] - 1 */
    const uint32_t *positions; /**< by place: ascending positions of each unit */
} sf_stream;

/** Episodes of one size, one after the other in flat arrays. Engines gain where neighbours share a prefix. */
typedef struct sf_candidates {
    uint32_t size; /**< 1 .. SF_EPISODE_MAX_SIZE */
    size_t count;
    const uint32_t *units;  /**< count * size, units of the stream */
    const uint32_t *delays; /**< count * (size - 1), indices into `intervals` */
    const sf_delay *intervals;
    size_t interval_count;
} sf_candidates;

/** What a job tells beside its counts; added to. */
typedef struct sf_count_tally {
    uint64_t culled;    /**< candidates that a bound ruled out */
    uint64_t segmented; /**< candidates that were counted in more than one segment of the stream */
    uint64_t shared; /**< prefixes of candidates that were found with the candidate before; 0 on a device */
    uint64_t recounted; /**< of those, segments that no machine had entered right; 0 on a device */
} sf_count_tally;

/** counts[i] = count of candidate i among the spikes at positions first <= p < last, as if there were no
 * others. */
typedef struct sf_backend_count {
    const char *engine; /**< a name the backend lists */
    uint32_t first, last;
    const sf_candidates *candidates;
    uint32_t least; /**< of a count below it only that it is below matters; 0: every count matters */
    /** hybrid, two-pass: from how many episodes on ptpe is faster than mtpe; 0: always */
    uint32_t crossover;
    uint32_t *counts;
    sf_count_tally *tally;
} sf_backend_count;

/** A frequent episode: the episode without its last unit, in the level before, and what follows it. */
typedef struct sf_found {
    uint32_t parent; /**< size 2: the first unit */
    uint32_t step;   /**< delay index * unit_count + unit */
    uint32_t count;
} sf_found;

/**
 * Finds every frequent episode of two and more units over the stream, all of whose units are frequent. An
 * episode is frequent with `least` or more occurrences and if each unit may follow the one before.
 */
typedef struct sf_backend_mine {
    const char *engine;
    const sf_delay *delays;
    uint32_t delay_count;           /**< delay_count * unit_count fits into 32 bits */
    uint32_t least;                 /**< at least 1 */
    uint32_t max_size;              /**< 2 .. SF_EPISODE_MAX_SIZE */
    uint32_t first_unit, last_unit; /**< only episodes that begin with unit first_unit <= u < last_unit */
    uint64_t most; /**< stop once more episodes than this are found: the last level taken shows it */
    bool self;     /**< a unit may follow itself directly */
    /** Or NULL: bit `to & 31` of word from * ((unit_count + 31) / 32) + to / 32 forbids that unit `to`
     * follows unit `from`. */
    const uint32_t *forbidden;
    /** Or NULL: all frequent pairs, in the order of their level, known with their counts; some begin with
     * first units of the job. They are neither counted nor told of, parents of size 3 are numbered among
     * those of the job, and spikes of units that are in no chain of two pairs may be missing from the stream.
     */
    const sf_found *pairs;
    size_t pair_count;
    const sf_progress *progress; /**< asked between levels */
    /**
     * Takes a level, in order of parent, then step; called for size 2, or 3 where pairs are known, and up
     * until a level is empty or max_size is done. Borrowed for the call. Anything but SF_OK stops the mining
     * with that status.
     */
    int (*take)(void *user, uint32_t size, const sf_found *found, size_t count, double seconds);
    void *user;
} sf_backend_mine;

typedef struct sf_backend_stream sf_backend_stream;

typedef struct sf_backend_episodes {
    bool (*supports)(const sf_backend_device *device, sf_operation operation, const char *engine);

    /** Copies the spikes to the device: one stream serves any number of jobs. */
    int (*stream_open)(sf_backend_stream **stream, sf_backend_device *device, const sf_stream *spikes,
                       sf_error *error);
    void (*stream_close)(sf_backend_stream *stream); /**< NULL is allowed */
    int (*count)(sf_backend_stream *stream, const sf_backend_count *job, sf_error *error);
    int (*mine)(sf_backend_stream *stream, const sf_backend_mine *job, sf_error *error);
} sf_backend_episodes;

#endif
