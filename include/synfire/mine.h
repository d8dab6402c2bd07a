/* SPDX-License-Identifier: Apache-2.0 */
/** Episodes of spikes: finding those that recur, and counting them. */
#ifndef SYNFIRE_MINE_H
#define SYNFIRE_MINE_H

#include <synfire/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A delay interval, open below and closed above: low_ns < dt <= high_ns, low_ns >= 0. */
typedef struct sf_delay {
    int64_t low_ns;
    int64_t high_ns;
} sf_delay;

#define SF_EPISODE_MAX_SIZE 16

/** A serial episode units[0] -delays[0]-> units[1] ... ; delays has size - 1 entries. */
typedef struct sf_episode {
    uint32_t size;
    uint32_t units[SF_EPISODE_MAX_SIZE];
    sf_delay delays[SF_EPISODE_MAX_SIZE - 1];
} sf_episode;

/** Reads an episode as people write it: `A -(0,5]-> B`, bounds in ms, `#2` for unit index 2. SF_USAGE. */
SF_API int sf_recording_parse_episode(const sf_recording *recording, const char *text, sf_episode *episode,
                                      sf_error *error);

/**
 * The count of an episode is the size of the largest set of its occurrences of which none begins before
 * another has ended. Occurrences pick one spike per unit with low < dt <= high for each delay; other spikes
 * may lie between.
 */
typedef struct sf_mining {
    const sf_delay *delays; /**< the intervals that links may have; at least one */
    size_t delay_count;
    double min_count;  /**< an episode is frequent with this count or more; > 0 */
    uint32_t max_size; /**< 2 .. SF_EPISODE_MAX_SIZE; 0 means 4 */
    bool self;         /**< a unit may follow itself directly */
    unsigned threads;  /**< 0: all cores */
} sf_mining;

typedef struct sf_frequent_episode {
    sf_episode episode;
    uint64_t count;
    double expected; /**< of independent Poisson trains at the observed rates */
} sf_frequent_episode;

/**
 * Finds every frequent episode of two or more units: size ascending, count descending, then units, then
 * delays. *episodes is released by sf_release. The result is the same on any number of threads.
 */
SF_API int sf_find_episodes(sf_frequent_episode **episodes, size_t *count, const sf_recording *recording,
                            const sf_mining *mining, sf_error *error);

/** counts[i] becomes the count of episodes[i] among the spikes with start_ns <= time < stop_ns. */
SF_API int sf_count_episodes(uint64_t *counts, const sf_recording *recording, const sf_episode *episodes,
                             size_t count, int64_t start_ns, int64_t stop_ns, sf_error *error);

#ifdef __cplusplus
}
#endif
#endif
