/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Episodes: which firing chains recur in a recording, how often given ones occur, when, and what such counts
 * are worth.
 *
 * The count of an episode is the size of the largest set of its occurrences of which none begins before
 * another has ended. Occurrences pick one spike per unit with low < dt <= high for each delay; other spikes
 * may lie between. It is the same by every engine, on every device and on any number of threads.
 */
#ifndef SYNFIRE_MINE_H
#define SYNFIRE_MINE_H

#include <synfire/device.h>
#include <synfire/recording.h>
#include <synfire/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- episodes ---- */

/** A delay interval, open below and closed above: low_ns < dt <= high_ns, low_ns >= 0. */
typedef struct sf_delay {
    int64_t low_ns;
    int64_t high_ns;
} sf_delay;

#define SF_EPISODE_MAX_SIZE 16

/** Where a count is not known or there is none. */
#define SF_NO_COUNT UINT64_MAX

/** A serial episode units[0] -delays[0]-> units[1] ... ; delays has size - 1 entries. */
typedef struct sf_episode {
    uint32_t size;
    uint32_t units[SF_EPISODE_MAX_SIZE];
    sf_delay delays[SF_EPISODE_MAX_SIZE - 1];
} sf_episode;

/**
 * Reads an episode as people write it: `A -(0,5]-> B -(5,10]-> #2`, bounds in ms, names with odd characters
 * in double quotes, `#2` for unit index 2. SF_USAGE; the sentence gives the 1-based column. From any thread,
 * as all that takes a const recording.
 */
SF_API int sf_recording_parse_episode(const sf_recording *recording, const char *text, sf_episode *episode,
                                      sf_error *error);

/** Checks its size, that its units are the recording's, and 0 <= low < high for every delay. SF_DATA. */
SF_API int sf_recording_check_episode(const sf_recording *recording, const sf_episode *episode,
                                      sf_error *error);

/**
 * Writes the episode as sf_recording_parse_episode reads it into `size` bytes, cut to fit and NUL-terminated
 * where size is not 0. Returns its whole length without the NUL; 0: no memory.
 */
SF_API size_t sf_recording_print_episode(const sf_recording *recording, const sf_episode *episode, char *text,
                                         size_t size);

#define SF_EPISODE_ID_SIZE 17

/**
 * The id that all output carries: 16 hexadecimal digits of FNV-1a 64 over unit indices, names and delays.
 * Equal episodes of equally named units have equal ids in every run and on every machine.
 */
SF_API void sf_recording_episode_id(const sf_recording *recording, const sf_episode *episode,
                                    char id[SF_EPISODE_ID_SIZE]);

/**
 * Reads `LO:HI[,LO:HI...]` in ms into at most `most` intervals, in the order given; refuses repeats.
 * `LO:HI/4` is the interval, its halves and its quarters, in this order; 2, 8 and 16 likewise: sf_mine then
 * searches the delay. SF_USAGE.
 */
SF_API int sf_delays_parse(sf_delay *delays, size_t most, size_t *count, const char *text, sf_error *error);

/* ---- what a count is worth ---- */

/**
 * How counts are tested. Surrogates are the recording with the last unit of an episode moved, or the first:
 * by segment-shift as a whole within each segment, by jitter spike by spike, by shift as a whole, by dither
 * and joint-isi spike by spike with its dead time kept (uniform dithering with dead time, joint-ISI
 * dithering). p is the share of surrogates that count as much or more. A chain has the largest p and q of its
 * two ends and of its consecutive links, each tested as a pair, so that a low one says that every link is
 * real (an intersection-union test: Berger, Technometrics 24, 1982); docs/episodes.md says what that assumes
 * and when not to trust it. The analytic test (Sastry and Unnikrishnan 2010) ranks and does not decide.
 */
typedef enum sf_significance_kind {
    SF_SIGNIFICANCE_SEGMENT_SHIFT = 1,
    SF_SIGNIFICANCE_JITTER = 2,
    SF_SIGNIFICANCE_SHIFT = 3,
    SF_SIGNIFICANCE_ANALYTIC = 4,
    SF_SIGNIFICANCE_DITHER = 5,
    SF_SIGNIFICANCE_JOINT_ISI = 6
} sf_significance_kind;

static inline const char *sf_significance_name(sf_significance_kind kind)
{
    switch (kind) {
    case SF_SIGNIFICANCE_SEGMENT_SHIFT:
        return "segment-shift";
    case SF_SIGNIFICANCE_JITTER:
        return "jitter";
    case SF_SIGNIFICANCE_SHIFT:
        return "shift";
    case SF_SIGNIFICANCE_ANALYTIC:
        return "analytic";
    case SF_SIGNIFICANCE_DITHER:
        return "dither";
    case SF_SIGNIFICANCE_JOINT_ISI:
        return "joint-isi";
    default:
        return "unknown";
    }
}

/** The kind with that name: SF_USAGE lists the names. */
SF_API int sf_significance_find(sf_significance_kind *kind, const char *name, sf_error *error);

/** Findings with a q of no more than this are called significant. */
#define SF_SIGNIFICANT_Q 0.05

/** How q corrects for all candidates of the same size. */
typedef enum sf_correction {
    SF_CORRECTION_MAXIMUM, /**< family-wise error, by the maximum in each surrogate (Westfall, Young 1993) */
    SF_CORRECTION_RATE     /**< false-discovery rate (Benjamini, Hochberg 1995), by fitted tails */
} sf_correction;

typedef struct sf_significance_options {
    size_t size;
    sf_significance_kind kind; /**< segment-shift */
    uint32_t surrogates;       /**< 1 or more; 1000 */
    uint64_t seed;             /**< 1 */
    /** How far surrogates move; 0: half more than the largest delay bound, or three times as far as it by
     * segment-shift where what units share is smooth as far as that. */
    int64_t width_ns;
    int64_t segment_ns;       /**< of segment-shift; 0: a 360th of the recording, a second or more; longer
                                   where units are fast for the delays */
    sf_correction correction; /**< the maximum */
    bool found_only; /**< corrects for the frequent episodes alone, as if nothing else had been looked at */
    /** p and q also where the recording as a whole cannot be tested: to measure how wrong they are. */
    bool always;
    double link;        /**< of the analytic test: the probability of a link under the null; 0.2 */
    const char *device; /**< as in sf_mining_options */
    unsigned threads;   /**< 0: all cores */
    /** Given chains of 3 to 5 units alone, by segment-shift or shift: each by every split of its units into
     * two groups, one of them shifted as a whole, in place of its ends and links; p and q are the largest.
     * For chains whose links are weak alone. No devices. */
    bool splits;
} sf_significance_options;

/** Fills `size` bytes with the defaults, which the comments above end with: use the function below. */
SF_API void sf_significance_options_init(void *options, size_t size);

static inline sf_significance_options sf_significance_options_default(void)
{
    sf_significance_options options;
    sf_significance_options_init(&options, sizeof options);
    return options;
}

/** Why surrogates can say nothing of an episode. */
typedef enum sf_not_tested {
    SF_TESTABLE,
    SF_UNIT_RETURNS,     /**< a unit occurs twice: shifted, its spikes move against its own others */
    SF_DELAYS_TOO_LONG,  /**< shifts beyond these delays do not fit into a segment */
    SF_BURSTS_TOO_SHARP, /**< as sf_sharpness has it */
    SF_PAIRS_TOO_UNLIKE, /**< the same, where it is of each pair its own and nothing that all share */
    SF_SHARED_EVENTS,    /**< two units are of a group that shares events which the others do not */
    /** B -> A of a link A -> B (q < 0.05), if it is none itself: shifting moves a part of the link into its
     * delay, so that its p is high whatever there is. */
    SF_REVERSE_OF_LINK,
    SF_LINK_NOT_TESTABLE /**< a chain, one link of which cannot be tested as a pair */
} sf_not_tested;

/** In words, as all output has them; NULL of SF_TESTABLE. */
static inline const char *sf_not_tested_text(sf_not_tested reason)
{
    switch (reason) {
    case SF_UNIT_RETURNS:
        return "a unit returns";
    case SF_DELAYS_TOO_LONG:
        return "delays too long";
    case SF_BURSTS_TOO_SHARP:
        return "bursts too sharp";
    case SF_PAIRS_TOO_UNLIKE:
        return "pairs too unlike";
    case SF_SHARED_EVENTS:
        return "shared events";
    case SF_REVERSE_OF_LINK:
        return "reverse of a link";
    case SF_LINK_NOT_TESTABLE:
        return "a link cannot be tested";
    default:
        return NULL;
    }
}

/** What was seen in the data that makes p of a test less sure: bits of sf_significance.cautions. */
typedef enum sf_caution {
    SF_CAUTION_FEW_PAIRS = 1,    /**< too few pairs to measure what units share: it was taken for smooth */
    SF_CAUTION_STANDING_OUT = 2, /**< 7 % or more of unlinked pairs will have p < 0.05 */
    SF_CAUTION_REGULAR = 4,      /**< most units fire at regular intervals: p is a little too small */
    SF_CAUTION_JITTER = 8,       /**< jitter takes the bursts that units share for links */
    SF_CAUTION_SHARED = 16,      /**< groups of units share events: they have no verdict among themselves */
    SF_CAUTION_AFTER_LAST = 32
} sf_caution;

/** In words, as all output has them. */
static inline const char *sf_caution_text(sf_caution caution)
{
    switch (caution) {
    case SF_CAUTION_FEW_PAIRS:
        return "too few pairs to tell how sharp bursts are";
    case SF_CAUTION_STANDING_OUT:
        return "unlinked pairs stand out";
    case SF_CAUTION_REGULAR:
        return "regular units";
    case SF_CAUTION_JITTER:
        return "jitter on bursts";
    case SF_CAUTION_SHARED:
        return "groups share events";
    default:
        return NULL;
    }
}

/** How sharp the bursts are that units share, against the shifts of a test; mine/sharpness.h derives it. */
typedef struct sf_sharpness {
    sf_delay delay;
    int64_t width_ns;     /**< of the shifts */
    size_t pairs;         /**< ordered pairs of the busiest units that were looked at */
    double sharpness;     /**< by how many standard deviations unlinked pairs are nearer to p = 0.05 */
    double shared, error; /**< by how many they stand out before anything is taken off; its standard error */
    double left;          /**< and after */
    double common;        /**< of that what chance does not explain */
    double spread;        /**< how much it scatters then: 1 of unrelated pairs */
    double low_share;     /**< of unlinked pairs so many will have p < 0.05; NaN: too few pairs to tell */
    double divisor; /**< what shifting takes off counts, as one in so many parts; 54 where it is smooth */
    size_t groups;  /**< of units that share events which the others do not */
    size_t grouped; /**< units in them */
    bool bursts;    /**< units share something: counts fall off by three widths */
    bool testable;  /**< surrogates can tell a link from what these bursts do */
} sf_sharpness;

/** The sharpness up to which links can be told from bursts: 7 % of unlinked pairs have p < 0.05. */
#define SF_SHARPNESS_MOST 0.17
#define SF_LOW_SHARE_MOST 0.07
#define SF_SHARPNESS_LEAST_PAIRS 6

/** Why surrogates of this width give no p; SF_TESTABLE: they do. */
static inline sf_not_tested sf_sharpness_verdict(const sf_sharpness *sharpness)
{
    if (sharpness->testable) return SF_TESTABLE;
    return sharpness->common > SF_SHARPNESS_MOST ? SF_BURSTS_TOO_SHARP : SF_PAIRS_TOO_UNLIKE;
}

/**
 * Measures how sharp bursts are at delays in each of these intervals, for the shifts that a test would make:
 * whether one may ask for them; sharpness[i] is that of delays[i]. Of all units of the recording, those too
 * that a selection left out. Linear in the spikes, and at most about 40 million steps for each interval.
 * progress may be NULL. SF_USAGE, SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_recording_sharpness(const sf_recording *recording, const sf_delay *delays, size_t count,
                                  sf_sharpness *sharpness, const sf_progress *progress, sf_error *error);

#define SF_POWER_QUARTERS 3
#define SF_POWER_LEAST 1 /**< of pairs of which less is expected nothing is told */

typedef struct sf_power {
    double expected_given_rest; /**< 0 and `needed` 0: no pair was looked at */
    uint64_t needed;            /**< SF_NO_COUNT: no count was enough with so few surrogates */
} sf_power;

/** What a test did, for the methods of a paper. */
typedef struct sf_significance {
    sf_ran ran;
    sf_not_tested not_tested; /**< of all episodes; the other reasons are of single ones alone */
    int64_t longest_delay_ns; /**< that fits into the segments */
    sf_sharpness sharpness;   /**< of the delays from the lowest bound to the largest; surrogates only */
    /** The analytic test: episodes with a unit that fires within its delay by chance more often than the null
     * allows a link. Their p means nothing. */
    size_t by_chance;
    /** By size: candidates corrected for, and the standardised count that 5 % of surrogates exceed somewhere:
     * the last unit shifted, then the first. NaN where nothing was frequent in that many, and of chains of a
     * size of which none is frequent. Of sizes that are tested together either is of all of them: 5 % of
     * surrogates exceed it in one size or another. */
    uint64_t candidates[SF_EPISODE_MAX_SIZE + 1];
    double critical[SF_EPISODE_MAX_SIZE + 1][2];
    sf_significance_options options; /**< with width_ns and segment_ns as used; device is not kept */
    /** What a pair had to count for a q below SF_SIGNIFICANT_Q, where as much is expected as of a quarter of
     * the pairs that chance gives SF_POWER_LEAST counts or more, of half, and of three quarters; and how many
     * these pairs are. SF_CORRECTION_MAXIMUM only. */
    sf_power power[SF_POWER_QUARTERS];
    uint64_t power_pairs;
    unsigned cautions; /**< sf_caution; of tests by surrogates */
} sf_significance;

/* ---- finding episodes ---- */

/** What the threshold is a number of. */
typedef enum sf_threshold_kind {
    SF_THRESHOLD_COUNT,   /**< occurrences */
    SF_THRESHOLD_RATE,    /**< occurrences a second of recorded time */
    SF_THRESHOLD_FRACTION /**< occurrences for each spike */
} sf_threshold_kind;

/** What comes first among the episodes of a size, and by SF_ORDER_STANDING among all; what is equal in it, by
 * sf_mine's own order. */
typedef enum sf_order {
    SF_ORDER_COUNT, /**< the greatest count */
    SF_ORDER_Q,     /**< the least q, and of the same q, or where there is none, as the next */
    SF_ORDER_RATIO, /**< the greatest count / expected, by the lower end of its interval */
    SF_ORDER_STRENGTH,
    /** What stands out most: first what has a q of SF_SIGNIFICANT_Q or less, then what is folded under no
     * other (where that is known: `parents`), then what counts more than by chance, then the longer one, then
     * the one furthest above it, by (count - expected) / sqrt(expected) with at least 1 for the root. */
    SF_ORDER_STANDING
} sf_order;

typedef struct sf_mining_options {
    size_t size;
    /** The intervals that links may have, at least one: (0.5,5] ms. Of intervals that overlap, or that others
     * join by overlapping both, each pair of units keeps the one in which it stands out most, by (count -
     * expected) / sqrt(expected) with at least 1 for the root; `expected` is of a test where one is asked
     * for. Longer episodes grow from these pairs. q corrects for all pairs in all intervals, and p for those
     * of the pair. */
    const sf_delay *delays;
    size_t delay_count;
    sf_threshold_kind threshold_kind;
    /** An episode is frequent with this or more; may be fractional. 0, as at first: a count of a fortieth of
     * what a mean unit fires, of those that fire; where that is more, of a quarter of the way from what
     * chance gives three such units in a row to what it gives two; and of 20 at least. */
    double threshold;
    uint32_t max_size;      /**< 2 .. SF_EPISODE_MAX_SIZE; 4 */
    bool repeats;           /**< a unit may follow itself directly: A -> A; A -> B -> A always may */
    bool closed;            /**< leave out episodes that a longer one contains with the same count */
    bool details;           /**< tell what sf_episodes_columns has under details */
    double min_distance_um; /**< different units closer than this do not follow each other; 0: any do */
    const char *engine;     /**< interval, ptpe, mtpe, hybrid, two-pass, reference; NULL or "auto" */
    const char *device;     /**< as <synfire/device.h> says; NULL or "auto": by the size of the job */
    unsigned threads;       /**< 0: all cores */
    uint64_t most;          /**< SF_DATA where more episodes than this are frequent; 5,000,000 */
    uint64_t top;           /**< the result tells of so many of each size; 0: of all */
    uint64_t top_worth; /**< with `top`: and of so many that are worth showing, be they among those or not */
    const sf_span *spans; /**< each is counted as if it were all there is */
    size_t span_count;
    const sf_significance_options *significance; /**< NULL: no test is made */
    /** The result tells of no episodes but those that a test gave a p, and a q, of no more than this; 0: of
     * any. SF_USAGE without a test, or one that gives no q. */
    double max_p, max_q;
    sf_order order;    /**< by count */
    bool keep_stopped; /**< what is stopped by its progress hands over what it has: see sf_mine */
} sf_mining_options;

/** As sf_significance_options_init. */
SF_API void sf_mining_options_init(void *options, size_t size);

static inline sf_mining_options sf_mining_options_default(void)
{
    sf_mining_options options;
    sf_mining_options_init(&options, sizeof options);
    return options;
}

/** Episodes of a recording and what is told of them. */
typedef struct sf_episodes sf_episodes;

/**
 * Finds every episode of two or more units that meets the threshold, in order of size ascending, count
 * descending, then units, then delays, or by the option `order`. NULL for options: the defaults. The result
 * is freed by sf_episodes_free and refers to the recording, which has to outlive it. SF_USAGE for options
 * that make no sense, with the option as the place; SF_DATA for too many episodes; SF_UNAVAILABLE where a
 * named device is missing; SF_CANCELLED. What a device refuses or fails at is done by others, and the result
 * says so.
 *
 * With the option `keep_stopped`, SF_CANCELLED comes with a result once there is one, else with NULL: every
 * count in it is right, and its column `stopped` and the `complete` of its levels tell what is missing.
 */
SF_API int sf_mine(sf_episodes **episodes, const sf_recording *recording, const sf_mining_options *options,
                   const sf_progress *progress, sf_error *error);

/**
 * Tests all that sf_mine found or sf_count was given, as the option `significance` of either does: p, q,
 * expected_given_rest and what follows from them become those of this test, and columns that were asked for
 * before are no longer valid. q corrects for all that the search looked at, or for the given episodes alone.
 * The same seed gives the same numbers on every device and on any number of threads. SF_USAGE;
 * SF_UNAVAILABLE; SF_CANCELLED. After a failure the result can only be freed.
 */
SF_API int sf_episodes_test(sf_episodes *episodes, const sf_significance_options *options,
                            const sf_progress *progress, sf_error *error);

/**
 * What was done as a paper prints it: version, delays, threshold, what of the recording was looked at, its
 * hash, the test and its seed. `preset` is the name of the defaults that were used, or NULL. *words is
 * released by sf_release. SF_NO_MEMORY.
 */
SF_API int sf_episodes_methods(const sf_episodes *episodes, const char *preset, char **words,
                               sf_error *error);

/* ---- counting given episodes ---- */

typedef struct sf_counting_options {
    size_t size;
    const char *engine; /**< as in sf_mining_options, as the next two */
    const char *device;
    unsigned threads;
    bool details;         /**< tell what sf_episodes_columns has under details */
    bool correlograms;    /**< of the two units of every link */
    int64_t window_ns;    /**< more than 0: count in windows of this length too */
    int64_t hop_ns;       /**< from the start of one window to the start of the next; 0: their length */
    int64_t from_ns;      /**< where the first begins; INT64_MIN: at the first spike */
    int64_t to_ns;        /**< where the last ends; INT64_MAX: after the last spike */
    const sf_span *spans; /**< each is counted as if it were all there is */
    size_t span_count;
    bool keep_stopped; /**< as in sf_mining_options, once the counts in all are known */
    const sf_significance_options *significance; /**< corrects for these episodes alone; NULL: no test */
    double max_p, max_q;                         /**< as in sf_mining_options */
    /** SHA-256, 64 hexadecimal digits, of the file in which the episodes were written down before the
     * recording was looked at: methods say so, and what q corrects for. NULL: they were not. */
    const char *registered;
} sf_counting_options;

/** As sf_significance_options_init. */
SF_API void sf_counting_options_init(void *options, size_t size);

static inline sf_counting_options sf_counting_options_default(void)
{
    sf_counting_options options;
    sf_counting_options_init(&options, sizeof options);
    return options;
}

/** More windows than this: SF_USAGE. */
#define SF_MOST_WINDOWS 10000000

/**
 * Counts these episodes, which are copied, in the whole recording. NULL for options: the defaults. The result
 * is as that of sf_mine. SF_USAGE; SF_DATA for an episode that is none, or of units that there are not;
 * SF_UNAVAILABLE; SF_CANCELLED.
 */
SF_API int sf_count(sf_episodes **counted, const sf_recording *recording, const sf_episode *episodes,
                    size_t count, const sf_counting_options *options, const sf_progress *progress,
                    sf_error *error);

/* ---- what is told of episodes ---- */

/** How a level of the search went; size 1 is the units. */
typedef struct sf_mine_level {
    uint32_t size;
    /** Of the plain join of frequent prefixes and suffixes; size 1: all units. SF_NO_COUNT where these are
     * not all known. */
    uint64_t candidates;
    int64_t culled; /**< candidates that a bound ruled out; -1: not known */
    uint64_t frequent;
    double seconds;
    bool complete; /**< all frequent episodes of this size were found; false only of what was stopped */
} sf_mine_level;

/** Where work was stopped that keeps what it has, and so what is missing. */
typedef enum sf_stopped {
    SF_NOT_STOPPED,
    SF_STOPPED_SEARCHING, /**< episodes, of the sizes that are not complete; the test; what is told beside
                             counts */
    SF_STOPPED_TESTING,   /**< the test; what is told beside counts */
    SF_STOPPED_TELLING /**< what is told beside counts: details, counts in spans and windows, correlograms */
} sf_stopped;

#define SF_DELAY_BINS 10

/** The delays of one link in the counted occurrences. */
typedef struct sf_link_delays {
    int64_t quantiles_ns[5];           /**< least, lower quarter, median, upper quarter, greatest */
    uint64_t histogram[SF_DELAY_BINS]; /**< equal parts of the link's interval, open below as it is */
    double by_chance[SF_DELAY_BINS];   /**< the share of each that chance gives; adds up to 1 */
} sf_link_delays;

/** What the occurrences of an episode tell beside their number. */
typedef struct sf_details {
    uint64_t occurrences;
    uint64_t bursts;                               /**< that an occurrence begins in */
    uint64_t in_bursts;                            /**< occurrences that begin in one */
    sf_link_delays links[SF_EPISODE_MAX_SIZE - 1]; /**< quantiles are 0 without occurrences */
} sf_details;

/** More episodes than this get no sf_details. */
#define SF_MOST_DETAILED 5000

#define SF_NO_PARENT SIZE_MAX

/** The cross-correlogram of two units: bins cover the lags k * bin < t(to) - t(from) <= (k + 1) * bin for k =
 * -half .. half - 1. Of all pairs of spikes, whatever episode is meant. */
typedef struct sf_correlogram {
    uint32_t from, to;
    int64_t bin_ns;
    uint32_t half;
    uint64_t *counts; /**< 2 * half, from k = -half */
    double *expected; /**< 2 * half, by rates: of independent units at constant rates */
    double mean;      /**< what would be expected in each bin if the recording had no ends and no gaps */
    /** 2 * half, of episodes that surrogates can test: the mean of at most SF_CORRELOGRAM_SURROGATES of them
     * with the second train moved, and what the middle 95 % of them lie in; else NULL. */
    double *surrogate_mean, *surrogate_low, *surrogate_high;
} sf_correlogram;

#define SF_CORRELOGRAM_SURROGATES 200

/** Arrays are by episode where nothing else is said; those not asked for are NULL, and numbers not known NaN.
 */
typedef struct sf_episodes_columns {
    size_t size; /**< set by the caller: sizeof(sf_episodes_columns) */
    size_t count;
    const sf_episode *episodes;
    const uint64_t *counts;
    /** By rates, tested or not: the count of independent Poisson trains at the units' rates over the recorded
     * time. count / expected, its interval and every `ratio` are of this. */
    const double *expected;

    /* Of episodes that were found, and of tested ones that were given, but for the strength: */
    const double *strength; /**< the probability of a link at which the count would be expected */
    const double *p, *q;    /**< before a test NaN, as the next three */
    const double *p_last;   /**< of the last unit given the episode without it, */
    const double *p_first;  /**< and of the first; */
    const double *p_links;  /**< the largest of the links, each as a pair: p is the largest of the three */
    const sf_not_tested *not_tested;
    /** A count of 20 or more, q below 0.05, all units over 0.1 Hz. */
    const bool *worth_showing;

    /* Details. Of a recording whose spikes are read in pieces: no `details`, bursts and counts of reverses.
     */
    const sf_details *details; /**< NULL also of more than SF_MOST_DETAILED episodes */
    const uint64_t *reverse;   /**< the count of B -> A for A -> B, two different units; else SF_NO_COUNT */
    const double *asymmetry;   /**< (forth - back) / (forth + back) of those: 1 all one way, 0 alike */
    /** Bit k: one electrode saw both units of link k, or their spikes look like one neuron's. */
    const uint16_t *one_electrode;
    /** The episode with one unit more, at either end, that with chance accounts for this one; SF_NO_PARENT.
     * Of a significant one (a q of SF_SIGNIFICANT_Q or less) only one that is significant, too. It comes
     * later in the order of sf_mine. Of tested episodes it is known without details. */
    const size_t *parents;
    const uint64_t *stretches; /**< bursts or spans it occurs in, whichever are more; SF_NO_COUNT */
    const sf_span *bursts;     /**< of the network, in order; mine/bursts.h defines them */
    size_t burst_count;

    const uint64_t *span_counts; /**< span_count rows of `count` */
    size_t span_count;

    /* Windows: each counted as if it were all there is. */
    const sf_span *windows;
    size_t window_count;
    const uint64_t *window_counts; /**< window_count rows of `count` */
    bool last_is_partial;          /**< the last ends with the recording; the others are full */

    const sf_correlogram *correlograms; /**< of every link of every episode in turn */
    size_t correlogram_count;

    /* How it went: */
    sf_ran ran;                  /**< its seconds are those of the mining or counting alone */
    double threshold;            /**< as a count */
    const sf_mine_level *levels; /**< from size 1 */
    size_t level_count;
    size_t found;                        /**< frequent episodes, told of or not; */
    size_t worth;                        /**< of them worth showing, */
    size_t returning;                    /**< and of them with a unit that returns, if there was a test */
    const sf_significance *significance; /**< NULL: no test was made */
    /** The step of the recording's clock, where it comes again; else 0. Delays narrower than two of them
     * count by where they fall. */
    int64_t tick_ns;
    /** By episode, the 95 % confidence interval of count / expected, the count being one Poisson number
     * (Byar's approximation); NaN where nothing is expected. */
    const double *ratio_low, *ratio_high;
    size_t passing;         /**< of those found: with p and q within the options' limits, told of or not */
    sf_stopped stopped;     /**< before it was whole, with the option `keep_stopped` */
    const uint64_t *needed; /**< by episode: the least count for a q below SF_SIGNIFICANT_Q, or SF_NO_COUNT */
    const char
        *threshold_why; /**< of which rule the threshold is where none was asked for, a literal; or NULL */
    /** By episode, what is expected given the rest of the chain: the mean count in the surrogates of the
     * test, of both ends the larger. They keep bursts, the other links and a part of the tested one. NaN
     * where an episode has no verdict of surrogates; NULL as p. */
    const double *expected_given_rest;
    /** By window, how much of it was recorded: what rates are over. 0: nothing is known of it. */
    const int64_t *window_recorded_ns;
    /** Of those found with a q of SF_SIGNIFICANT_Q or less, told of or not: `chains` are no part of another,
     * `parts` are folded under one of them, directly or by way of others. Each is counted once: chains +
     * parts are all. */
    size_t chains, parts;
} sf_episodes_columns;

/** Fills as much of the columns as their size tells; they live as long as the result. */
SF_API void sf_episodes_get_columns(const sf_episodes *episodes, sf_episodes_columns *columns);

/** The same as a table, one row an episode. */
SF_API void sf_episodes_get_table(const sf_episodes *episodes, sf_table *table);

SF_API void sf_episodes_free(sf_episodes *episodes); /**< NULL is allowed */

/* ---- occurrences ---- */

/** Every spike time of the occurrences that counts count. */
typedef struct sf_occurrences sf_occurrences;

typedef struct sf_occurrences_columns {
    size_t size;                   /**< set by the caller: sizeof(sf_occurrences_columns) */
    const sf_recording *recording; /**< whose units they are of; of a file, its units without any spikes */
    const char *counted_in;        /**< path of what they were counted in; NULL: not known */
    size_t count;
    const sf_episode *episodes;
    const double *expected;
    const uint64_t *counts;
    /** Occurrences in order, counts[i] * episodes[i].size times: of all with the same end the one whose
     * spikes are the latest. */
    const int64_t *const *times_ns;
} sf_occurrences_columns;

/**
 * Finds the occurrences that the counts of these episodes in the whole recording count. `expected` is told
 * on; NULL: by rates. The recording has to outlive the result. SF_DATA as sf_count,
 * SF_NO_MEMORY, SF_CANCELLED.
 */
SF_API int sf_occurrences_list(sf_occurrences **occurrences, const sf_recording *recording,
                               const sf_episode *episodes, const double *expected, size_t count,
                               const sf_progress *progress, sf_error *error);

/**
 * Writes them as an HDF5 file (docs/formats.md), replacing one that is there. `configuration` (YAML) and
 * `provenance` (JSON) go into it; either may be NULL. SF_CANNOT_CREATE, SF_IO; then no file is left.
 */
SF_API int sf_occurrences_write(const sf_occurrences *occurrences, const char *path,
                                const char *configuration, const char *provenance, sf_error *error);

/** Reads such a file. SF_NO_INPUT; SF_DATA where it is another kind of file, or damaged. */
SF_API int sf_occurrences_open(sf_occurrences **occurrences, const char *path, sf_error *error);

SF_API void sf_occurrences_get_columns(const sf_occurrences *occurrences, sf_occurrences_columns *columns);
SF_API void sf_occurrences_free(sf_occurrences *occurrences); /**< NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
