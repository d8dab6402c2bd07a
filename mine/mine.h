/* SPDX-License-Identifier: Apache-2.0 */
/** Finding the frequent episodes of a stream of spikes, and counting given ones. */
#ifndef SF_MINE_MINE_H
#define SF_MINE_MINE_H

#include "core/progress.h"
#include "core/recording.h"

#include <synfire/device.h>
#include <synfire/mine.h>

/** A threshold of any kind as a count, given the number of spikes and the recorded time. */
double sf_threshold_count(sf_threshold_kind kind, double threshold, int64_t duration_ns, size_t spike_count);

/** The least whole count that meets it, at least 1. */
uint32_t sf_threshold_least(double count);

/** What is mined. */
typedef struct sf_mine_input {
    const sf_spike *spikes; /**< ordered by (time_ns, unit) */
    size_t spike_count;
    const sf_units *units;
    int64_t duration_ns; /**< recorded time: rates and expected counts refer to it */

    /** Or NULL: holds the very spikes (sf_resident_hold), for its device to lay out if it is the one that
     * mines them. */
    struct sf_resident *resident;
    const uint64_t *unit_spikes; /**< with `resident` or `pairs`: how many spikes each unit has */
    /** Or NULL: pairs of units with their counts in these spikes, in any order (window/pair_counts.h; delays
     * as the options number them). The result has those that reach the threshold and no other pairs, and what
     * grows from them. The interval engine then counts no pairs, and reads `unit_spikes`; on one device at
     * most. */
    const struct sf_pair_count *pairs;
    size_t pair_count;
    /** Upper bound on the pair occurrences per device job when longer episodes are grown from these pairs,
     * each weighted by how often its pair may go on; others may use the device between jobs. Pairs that are
     * mined anew are searched before, in one job. 0: one job. */
    double piece;
    /** Or NULL: the spikes, surveyed, which are not held (core/pieces.h); `spikes` is NULL. */
    const struct sf_pieces *pieces;
    /** Of a test only: spikes of units that were left out, ordered, or NULL. What all units share is looked
     * for in them, too. */
    const sf_spike *others;
    size_t other_count;
} sf_mine_input;

/** What sf_mine_spikes refuses of options whatever the spikes: SF_USAGE with the member for its place. */
int sf_mining_options_check(const sf_mining_options *options, sf_error *error);

/** A frequent episode of two or more units; sf_mine_result_episode spells it out. */
typedef struct sf_mine_item {
    uint32_t size, node;
    uint32_t count;
    double expected; /**< by rates: sf_expected_count at the observed ones; NaN: not computed */
    double p, q;     /**< of sf_significance_test (mine/significance.h), as the next; NaN before it */
    /** p_last: of the last unit, given the episode without it. Chains also have p_first, of the first unit,
     * and p_links, the largest of their links, each tested as a pair. p is the maximum of the three. NaN: not
     * tested. */
    double p_last, p_first, p_links;
    double expected_given_rest; /**< the mean count in surrogates; NaN where none were made of it */
    uint64_t needed;            /**< the least count for a q below SF_SIGNIFICANT_Q; SF_NO_COUNT: not known */
    double strength;            /**< sf_analytic_strength; NaN where no time was recorded */
    sf_not_tested not_tested;   /**< of a test by surrogates: then p, q and expected_given_rest are NaN */
} sf_mine_item;

/** Before a test, in an initialiser of an item. */
#define SF_NO_VERDICT                                                                                        \
    .p = NAN, .q = NAN, .p_last = NAN, .p_first = NAN, .p_links = NAN, .expected_given_rest = NAN,           \
    .needed = SF_NO_COUNT

typedef struct sf_mine_result {
    sf_ran ran;       /**< seconds: the mining alone */
    double threshold; /**< as a count */
    uint32_t least;   /**< the least whole count that meets it */
    uint32_t level_count;
    /** from size 1; the last has frequent episodes or candidates */
    sf_mine_level levels[SF_EPISODE_MAX_SIZE];
    size_t count;
    sf_mine_item *items; /**< size ascending, count descending, then units, then delays */
    struct sf_mine_found *found;
} sf_mine_result;

/**
 * Finds every episode over the units and delays that meets the threshold. SF_USAGE for options that make no
 * sense, SF_DATA for spikes out of order or too many episodes, SF_UNAVAILABLE where a named device is
 * missing, SF_CANCELLED. With the same input the result is the same on every device and on any number of
 * threads. What a device refuses or fails at is done by the others of "cuda:all", or on the CPU, and
 * the note says so. In pieces the interval engine counts, on the CPU: SF_USAGE for another.
 */
int sf_mine_spikes(sf_mine_result **result, const sf_mine_input *input, const sf_mining_options *options,
                   const sf_progress *progress, sf_error *error);

/** Item i of the result with the recording's units. */
void sf_mine_result_episode(const sf_mine_result *result, size_t i, sf_episode *episode);

/** The spikes of the unit at node `node` of item i. */
uint32_t sf_mine_result_spikes(const sf_mine_result *result, size_t i, uint32_t node);

void sf_mine_result_free(sf_mine_result *result);

/* ---- counting given episodes ---- */

typedef struct sf_counter sf_counter;

/**
 * Prepares to count these episodes (borrowed until close), in the whole stream or in parts of it. Engine and
 * threads as in sf_mining_options. SF_USAGE, SF_DATA.
 */
int sf_counter_open(sf_counter **counter, const sf_spike *spikes, size_t spike_count, size_t unit_count,
                    const sf_episode *episodes, size_t episode_count, const char *engine, unsigned threads,
                    sf_error *error);

/**
 * Counts on this device from now on: named as in sf_mining_options; "auto" takes one for large jobs only.
 * Without this call, and after the device has failed or refused, the CPU counts. SF_UNAVAILABLE, SF_USAGE.
 */
int sf_counter_use(sf_counter *counter, const char *device, sf_error *error);

/** From now on, of a count below `least` it only matters that it is below; 0, as at first: every count
 * matters. */
void sf_counter_at_least(sf_counter *counter, uint32_t least);

/** From now on counting tells how far it is (NULL: no longer) and can be stopped: SF_CANCELLED. */
void sf_counter_tell(sf_counter *counter, const sf_progress *progress);

/** "cpu", "cuda:0", "cuda:all (2)": where the last count was made; *note (may be NULL) as in sf_mine_result,
 * until close. */
const char *sf_counter_device(const sf_counter *counter, const char **note);

/** The engine used; a literal. */
const char *sf_counter_engine(const sf_counter *counter);

/** counts[i] = count of episode i in the spikes with start_ns <= time < stop_ns, as if there were no others;
 * span NULL: in all. */
int sf_counter_count(sf_counter *counter, const sf_span *span, uint64_t *counts, sf_error *error);

/**
 * The occurrences that the count of episode i in the whole stream counts, in order: *times holds count * size
 * times in ns, from sf_alloc, to be freed by sf_free. Of all occurrences with the same end it is the one
 * whose spikes are the latest. SF_NO_MEMORY.
 */
int sf_counter_occurrences(const sf_counter *counter, size_t i, int64_t **times, size_t *count,
                           sf_error *error);

void sf_counter_close(sf_counter *counter);

/* ---- what to expect ---- */

/**
 * What is expected by rates: the count of independent Poisson trains; rates_hz[i] is the rate of node i's
 * unit. Formula, derivation and accuracy are in expected.c.
 */
double sf_expected_count(uint32_t size, const double *rates_hz, const sf_delay *delays, double seconds);

/** The same of an episode, with every unit's rate its number of spikes over the recorded time. */
double sf_expected_episode(const sf_episode *episode, const uint64_t *unit_spikes, int64_t duration_ns);

/** The expected count of a pair, given the number of spikes of both units. */
double sf_expected_pair(uint64_t first_spikes, uint64_t second_spikes, sf_delay delay, int64_t duration_ns);

#endif
