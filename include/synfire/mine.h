/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Episodes: find the firing chains that recur in a recording, count given ones, list when they occur, and
 * test whether such counts exceed chance.
 *
 * An occurrence of an episode picks one spike per unit, with low < dt <= high for each delay; other spikes
 * may lie between. The count of an episode is the size of the largest set of its occurrences in which none
 * begins before another has ended. Every engine, device and number of threads gives the same count.
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

/** The count is unknown, or there is none. */
#define SF_NO_COUNT UINT64_MAX

/** A serial episode units[0] -delays[0]-> units[1] ... ; delays has size - 1 entries. */
typedef struct sf_episode {
    uint32_t size;
    uint32_t units[SF_EPISODE_MAX_SIZE];
    sf_delay delays[SF_EPISODE_MAX_SIZE - 1];
} sf_episode;

/**
 * Reads an episode as people write it: `A -(0,5]-> B -(5,10]-> #2`, bounds in ms, names with odd characters
 * in double quotes, `#2` for unit index 2. SF_USAGE; the error text gives the 1-based column. Like every
 * function that takes a const recording, it may be called from any thread.
 */
SF_API int sf_recording_parse_episode(const sf_recording *recording, const char *text, sf_episode *episode,
                                      sf_error *error);

/** Checks that the size is valid, that the units exist in the recording, and 0 <= low < high for every delay.
 * SF_DATA. */
SF_API int sf_recording_check_episode(const sf_recording *recording, const sf_episode *episode,
                                      sf_error *error);

/**
 * Writes the episode into `text`, in the form that sf_recording_parse_episode reads. At most `size` bytes are
 * written, cut to fit, NUL-terminated unless size is 0. Returns the full length without the NUL; 0: out of
 * memory.
 */
SF_API size_t sf_recording_print_episode(const sf_recording *recording, const sf_episode *episode, char *text,
                                         size_t size);

#define SF_EPISODE_ID_SIZE 17

/**
 * The id that identifies an episode in all output: 16 hexadecimal digits of FNV-1a 64 over unit indices,
 * names and delays. Equal episodes of units with equal names have equal ids in every run and on every
 * machine.
 */
SF_API void sf_recording_episode_id(const sf_recording *recording, const sf_episode *episode,
                                    char id[SF_EPISODE_ID_SIZE]);

/**
 * Reads `LO:HI[,LO:HI...]` in ms into at most `most` intervals, in the order given; rejects repeats.
 * `LO:HI/4` stands for the interval, its halves and its quarters, in this order; /2, /8 and /16 likewise:
 * sf_mine then chooses the delay of each pair among them. SF_USAGE.
 */
SF_API int sf_delays_parse(sf_delay *delays, size_t most, size_t *count, const char *text, sf_error *error);

/* ---- testing counts ---- */

/**
 * How counts are tested. A surrogate is the recording with the last (or the first) unit of an episode moved:
 * segment-shift moves all its spikes of a segment together, jitter moves each spike, shift moves the whole
 * train, dither and joint-isi move each spike and keep its dead time (uniform dithering with dead time,
 * joint-ISI dithering). p is the share of surrogates whose count is as high or higher. The p and q of a chain
 * are the largest of its two ends and of its consecutive links, each tested as a pair, so a low value means
 * that every link is real (an intersection-union test: Berger, Technometrics 24, 1982); docs/episodes.md says
 * what that assumes and when not to trust it. The analytic test (Sastry and Unnikrishnan 2010) only ranks; it
 * does not decide.
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

/** Finds a kind by its name. SF_USAGE for an unknown name; the error lists the names. */
SF_API int sf_significance_find(sf_significance_kind *kind, const char *name, sf_error *error);

/** Findings with q at or below this are called significant. */
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
    /** How far surrogates move. 0: 1.5 times the largest delay bound; for segment-shift 3 times the bound, if
     * what units share is smooth over that distance. */
    int64_t width_ns;
    int64_t segment_ns; /**< for segment-shift; 0: 1/360 of the recording, at least a second; longer if units
                           fire fast for the delays */
    sf_correction correction; /**< the maximum */
    bool found_only;          /**< corrects for the frequent episodes only, as if no others had been tested */
    /** Also compute p and q if the recording as a whole cannot be tested: to measure how wrong they are. */
    bool always;
    double link;        /**< analytic test: the probability of a link under the null; 0.2 */
    const char *device; /**< as in sf_mining_options */
    unsigned threads;   /**< 0: all cores */
    /** Only for given chains of 3 to 5 units, with segment-shift or shift. Instead of ends and links, tests
     * every split of the units into two groups by shifting one group as a whole; p and q are the largest over
     * the splits. For chains whose single links are weak. Runs on the CPU only. */
    bool splits;
} sf_significance_options;

/** Fills `size` bytes with the defaults, which the comments above end with. Call the inline function below
 * instead. */
SF_API void sf_significance_options_init(void *options, size_t size);

static inline sf_significance_options sf_significance_options_default(void)
{
    sf_significance_options options;
    sf_significance_options_init(&options, sizeof options);
    return options;
}

/** Why surrogates cannot test an episode. */
typedef enum sf_not_tested {
    SF_TESTABLE,
    SF_UNIT_RETURNS,     /**< a unit occurs twice: shifted, its spikes move against its own others */
    SF_DELAYS_TOO_LONG,  /**< shifts beyond these delays do not fit into a segment */
    SF_BURSTS_TOO_SHARP, /**< as sf_sharpness measures */
    SF_PAIRS_TOO_UNLIKE, /**< the same, but what is too sharp differs from pair to pair instead of being
                            shared by all */
    SF_SHARED_EVENTS,    /**< two units are in a group that shares events which other units do not */
    /** The episode is B -> A, A -> B is a link (q < 0.05), and B -> A is not. Shifting moves part of the link
     * into the reverse delay, so p is high whether or not B -> A is real. */
    SF_REVERSE_OF_LINK,
    SF_LINK_NOT_TESTABLE /**< a chain with a link that cannot be tested as a pair */
} sf_not_tested;

/** The reason in words, as all output shows it; NULL for SF_TESTABLE. */
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

/** Properties of the data that make the p of a test less certain: bits of sf_significance.cautions. */
typedef enum sf_caution {
    SF_CAUTION_FEW_PAIRS = 1, /**< too few pairs to measure what units share: it was assumed to be smooth */
    SF_CAUTION_STANDING_OUT = 2, /**< 7 % or more of unlinked pairs will have p < 0.05 */
    SF_CAUTION_REGULAR = 4,      /**< most units fire at regular intervals: p is a little too small */
    SF_CAUTION_JITTER = 8,       /**< jitter takes the bursts that units share for links */
    SF_CAUTION_SHARED = 16,      /**< groups of units share events: pairs within a group get no verdict */
    SF_CAUTION_AFTER_LAST = 32
} sf_caution;

/** The caution in words, as all output shows it. */
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

/** How sharp shared bursts are compared with the shifts of a test; mine/sharpness.h derives the formulas. */
typedef struct sf_sharpness {
    sf_delay delay;
    int64_t width_ns; /**< of the shifts */
    size_t pairs;     /**< ordered pairs of the busiest units that were measured */
    double sharpness; /**< number of standard deviations by which unlinked pairs are closer to p = 0.05 than
                         they should be */
    double shared, error; /**< how many standard deviations unlinked pairs stand out before correction, and
                             the standard error */
    double left;          /**< the same after correction by `divisor` */
    double common;        /**< the part of |left| that chance does not explain */
    double spread;        /**< standard deviation of what is left, over pairs; 1 for unrelated pairs */
    double low_share;     /**< share of unlinked pairs that will have p < 0.05; NaN: too few pairs to tell */
    double divisor; /**< shifting takes 1/divisor of the fall of counts within three widths off them; 54 if
                       smooth */
    size_t groups;  /**< number of groups of units that share events which other units do not */
    size_t grouped; /**< units in them */
    bool bursts;    /**< units share something: counts fall off by three widths */
    bool testable;  /**< surrogates can tell a link from these bursts */
} sf_sharpness;

/** Maximum sharpness at which links can be told from bursts: 7 % of unlinked pairs then have p < 0.05. */
#define SF_SHARPNESS_MOST 0.17
#define SF_LOW_SHARE_MOST 0.07
#define SF_SHARPNESS_LEAST_PAIRS 6

/** Why surrogates of this width give no p; SF_TESTABLE: they give one. */
static inline sf_not_tested sf_sharpness_verdict(const sf_sharpness *sharpness)
{
    if (sharpness->testable) return SF_TESTABLE;
    return sharpness->common > SF_SHARPNESS_MOST ? SF_BURSTS_TOO_SHARP : SF_PAIRS_TOO_UNLIKE;
}

/**
 * Measures how sharp shared bursts are for each delay interval, with the shifts that a test would make: tells
 * in advance whether that delay can be tested. sharpness[i] belongs to delays[i]. All units of the recording
 * count, also those that a selection left out. Time is linear in the spikes, plus at most about 40 million
 * steps per interval. progress may be NULL. SF_USAGE, SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_recording_sharpness(const sf_recording *recording, const sf_delay *delays, size_t count,
                                  sf_sharpness *sharpness, const sf_progress *progress, sf_error *error);

#define SF_POWER_QUARTERS 3
#define SF_POWER_LEAST 1 /**< pairs with a lower expected count are left out of sf_power */

typedef struct sf_power {
    double expected_given_rest; /**< 0, with `needed` 0: no pair was measured */
    uint64_t needed;            /**< SF_NO_COUNT: no count suffices with so few surrogates */
} sf_power;

/** What a test did, for the methods section of a paper. */
typedef struct sf_significance {
    sf_ran ran;
    /** a reason that holds for all episodes; other reasons hold for single episodes only */
    sf_not_tested not_tested;
    int64_t longest_delay_ns; /**< the longest delay that fits into the segments */
    sf_sharpness sharpness;   /**< for delays from the lowest to the largest bound; surrogates only */
    /** Analytic test: number of episodes with a unit that fires within its delay by chance more often than
     * the null allows a link. Their p means nothing. */
    size_t by_chance;
    /** Indexed by episode size: the number of candidates that q corrects for, and the standardised count that
     * 5 % of surrogates exceed in some candidate, with the last unit shifted ([0]) and the first ([1]). NaN
     * if nothing was frequent in that many surrogates, and for chain sizes without a frequent episode. If
     * several sizes are tested together, both values are joint: 5 % of surrogates exceed `critical` in one
     * size or another. */
    uint64_t candidates[SF_EPISODE_MAX_SIZE + 1];
    double critical[SF_EPISODE_MAX_SIZE + 1][2];
    sf_significance_options options; /**< width_ns and segment_ns are those used; device is not kept */
    /** The count that a pair needs for q < SF_SIGNIFICANT_Q, if its expected count lies at the lower
     * quartile, the median and the upper quartile of the pairs whose expected count is SF_POWER_LEAST or
     * more; power_pairs is the number of these pairs. SF_CORRECTION_MAXIMUM only. */
    sf_power power[SF_POWER_QUARTERS];
    uint64_t power_pairs;
    unsigned cautions; /**< sf_caution bits; for tests by surrogates */
} sf_significance;

/* ---- finding episodes ---- */

/** The unit of the threshold. */
typedef enum sf_threshold_kind {
    SF_THRESHOLD_COUNT,   /**< occurrences */
    SF_THRESHOLD_RATE,    /**< occurrences a second of recorded time */
    SF_THRESHOLD_FRACTION /**< occurrences for each spike */
} sf_threshold_kind;

/** How the episodes of one size are ordered; SF_ORDER_STANDING orders all sizes together. Ties keep the
 * default order of sf_mine. */
typedef enum sf_order {
    SF_ORDER_COUNT, /**< highest count first */
    SF_ORDER_Q,     /**< lowest q first; ties, and episodes without q, as SF_ORDER_RATIO */
    SF_ORDER_RATIO, /**< highest count / expected first, by the lower end of its interval */
    SF_ORDER_STRENGTH,
    /** What stands out most: first episodes with q <= SF_SIGNIFICANT_Q, then those folded under no other
     * (where `parents` is known), then those that occur more often than by chance, then the longer ones, then
     * by (count - expected) / sqrt(expected), with at least 1 for the root. */
    SF_ORDER_STANDING
} sf_order;

typedef struct sf_mining_options {
    size_t size;
    /** The intervals that links may have, at least one; (0.5,5] ms. Where intervals overlap, directly or
     * through others that overlap both, each pair of units keeps the one in which it stands out most, by
     * (count - expected) / sqrt(expected) with at least 1 for the root; `expected` is that of the test if one
     * is requested. Longer episodes grow from these pairs. q corrects for all pairs in all intervals, p for
     * the intervals of the pair. */
    const sf_delay *delays;
    size_t delay_count;
    sf_threshold_kind threshold_kind;
    /** An episode is frequent if it reaches this; may be fractional. 0, the default, is the largest of three
     * counts: 1/40 of the mean spike count of the units that fire; the count that chance gives three such
     * units in a row plus a quarter of the difference to what it gives two; and 20. */
    double threshold;
    uint32_t max_size;      /**< 2 .. SF_EPISODE_MAX_SIZE; 4 */
    bool repeats;           /**< a unit may follow itself directly: A -> A; A -> B -> A always may */
    bool closed;            /**< leave out episodes that a longer one contains with the same count */
    bool details;           /**< compute the details of sf_episodes_columns */
    double min_distance_um; /**< different units closer than this do not follow each other; 0: no limit */
    const char *engine;     /**< interval, ptpe, mtpe, hybrid, two-pass, reference; NULL or "auto" */
    const char *device;     /**< as <synfire/device.h> says; NULL or "auto": by the size of the job */
    unsigned threads;       /**< 0: all cores */
    uint64_t most;          /**< SF_DATA if more episodes than this are frequent; 5,000,000 */
    uint64_t top;           /**< maximum number of episodes of each size in the result; 0: all */
    uint64_t top_worth;     /**< with `top`: also up to this number of episodes worth showing, whether or not
                               among those */
    const sf_span *spans;   /**< each span is counted separately, as if it were the whole recording */
    size_t span_count;
    const sf_significance_options *significance; /**< NULL: no test */
    /** The result holds only episodes whose p, and q, is at most this; 0: no limit. SF_USAGE without a test,
     * or with one that gives no q. */
    double max_p, max_q;
    sf_order order;    /**< by count */
    bool keep_stopped; /**< if progress stops the work, return what has been found: see sf_mine */
} sf_mining_options;

/** As sf_significance_options_init. */
SF_API void sf_mining_options_init(void *options, size_t size);

static inline sf_mining_options sf_mining_options_default(void)
{
    sf_mining_options options;
    sf_mining_options_init(&options, sizeof options);
    return options;
}

/** Episodes of a recording with their counts, tests and details. */
typedef struct sf_episodes sf_episodes;

/**
 * Finds every episode of two or more units that meets the threshold, ordered by size ascending, count
 * descending, units, delays, or by the option `order`. options NULL: the defaults. Free the result with
 * sf_episodes_free; it refers to the recording, which must outlive it. SF_USAGE for invalid options, with the
 * option as the place; SF_DATA for too many episodes; SF_UNAVAILABLE if a named device is missing;
 * SF_CANCELLED. Work that a device refuses or fails at moves to other devices or the CPU, and the result says
 * so.
 *
 * With the option `keep_stopped`, SF_CANCELLED returns a result as soon as there is one, else NULL: every
 * count in it is right; its column `stopped` and `complete` of its levels say what is missing.
 */
SF_API int sf_mine(sf_episodes **episodes, const sf_recording *recording, const sf_mining_options *options,
                   const sf_progress *progress, sf_error *error);

/**
 * Tests all episodes that sf_mine found or sf_count was given, as their option `significance` does: replaces
 * p, q, expected_given_rest and what follows from them; columns fetched earlier become invalid. q corrects
 * for all that the search tried, or for the given episodes only. The same seed gives the same numbers on
 * every device and any number of threads. SF_USAGE; SF_UNAVAILABLE; SF_CANCELLED. After a failure the result
 * can only be freed.
 */
SF_API int sf_episodes_test(sf_episodes *episodes, const sf_significance_options *options,
                            const sf_progress *progress, sf_error *error);

/**
 * Writes the methods paragraph of a paper: version, delays, threshold, the part of the recording analysed and
 * its hash, the test and its seed. `preset` is the name of the defaults that were used, or NULL. Release
 * *words with sf_release. SF_NO_MEMORY.
 */
SF_API int sf_episodes_methods(const sf_episodes *episodes, const char *preset, char **words,
                               sf_error *error);

/* ---- counting given episodes ---- */

typedef struct sf_counting_options {
    size_t size;
    const char *engine; /**< this and the next two as in sf_mining_options */
    const char *device;
    unsigned threads;
    bool details;         /**< compute the details of sf_episodes_columns */
    bool correlograms;    /**< compute that of the two units of every link */
    int64_t window_ns;    /**< more than 0: also count in windows of this length */
    int64_t hop_ns;       /**< from the start of one window to the start of the next; 0: their length */
    int64_t from_ns;      /**< start of the first window; INT64_MIN: at the first spike */
    int64_t to_ns;        /**< end of the last window; INT64_MAX: after the last spike */
    const sf_span *spans; /**< each span is counted separately, as if it were the whole recording */
    size_t span_count;
    bool keep_stopped; /**< as in sf_mining_options, once the counts in the whole recording are known */
    const sf_significance_options *significance; /**< corrects for these episodes only; NULL: no test */
    double max_p, max_q;                         /**< as in sf_mining_options */
    /** If the episodes were fixed before anyone looked at the recording: the SHA-256 of their file, 64
     * hexadecimal digits, which methods then report together with what q corrects for. NULL: they were not.
     */
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

/** Maximum number of windows; SF_USAGE beyond it. */
#define SF_MOST_WINDOWS 10000000

/**
 * Counts these episodes in the whole recording; they are copied. options NULL: the defaults. The result is
 * like that of sf_mine. SF_USAGE; SF_DATA for an invalid episode or a unit that does not exist;
 * SF_UNAVAILABLE; SF_CANCELLED.
 */
SF_API int sf_count(sf_episodes **counted, const sf_recording *recording, const sf_episode *episodes,
                    size_t count, const sf_counting_options *options, const sf_progress *progress,
                    sf_error *error);

/* ---- results ---- */

/** Statistics of one level of the search; size 1 is the units. */
typedef struct sf_mine_level {
    uint32_t size;
    /** Candidates of the plain join of frequent prefixes and suffixes; size 1: all units. SF_NO_COUNT if
     * prefixes and suffixes are not all known. */
    uint64_t candidates;
    int64_t culled; /**< candidates that a bound ruled out; -1: not known */
    uint64_t frequent;
    double seconds;
    bool complete; /**< all frequent episodes of this size were found; false only if the search was stopped */
} sf_mine_level;

/** Where stopped work that keeps its results was stopped; the comments say what is missing. */
typedef enum sf_stopped {
    SF_NOT_STOPPED,
    SF_STOPPED_SEARCHING, /**< episodes of the sizes that are not complete; the test; everything beside counts
                           */
    SF_STOPPED_TESTING,   /**< the test; everything beside counts */
    SF_STOPPED_TELLING    /**< everything beside counts: details, counts in spans and windows, correlograms */
} sf_stopped;

#define SF_DELAY_BINS 10

/** The delays of one link in the counted occurrences. */
typedef struct sf_link_delays {
    int64_t quantiles_ns[5]; /**< least, lower quarter, median, upper quarter, greatest */
    /** equal parts of the link's interval, each open below and closed above */
    uint64_t histogram[SF_DELAY_BINS];
    double by_chance[SF_DELAY_BINS]; /**< share of each part that is expected by chance; adds up to 1 */
} sf_link_delays;

/** Details of the occurrences of an episode beside their number. */
typedef struct sf_details {
    uint64_t occurrences;
    uint64_t bursts;                               /**< number of bursts in which an occurrence begins */
    uint64_t in_bursts;                            /**< number of occurrences that begin in a burst */
    sf_link_delays links[SF_EPISODE_MAX_SIZE - 1]; /**< quantiles are 0 if there are no occurrences */
} sf_details;

/** Maximum number of episodes that get sf_details. */
#define SF_MOST_DETAILED 5000

#define SF_NO_PARENT SIZE_MAX

/** The cross-correlogram of two units: bin k = -half .. half - 1 counts the pairs of spikes with k * bin <
 * t(to) - t(from) <= (k + 1) * bin. All pairs of spikes count, whatever the episode. */
typedef struct sf_correlogram {
    uint32_t from, to;
    int64_t bin_ns;
    uint32_t half;
    uint64_t *counts; /**< 2 * half, from k = -half */
    double *expected; /**< 2 * half, by rates: for independent units with constant rates */
    double mean;      /**< the expected count of each bin if the recording had no ends and no gaps */
    /** 2 * half each, for episodes that surrogates can test: the mean, and the bounds of the middle 95 %,
     * over at most SF_CORRELOGRAM_SURROGATES surrogates with the second train moved; else NULL. */
    double *surrogate_mean, *surrogate_low, *surrogate_high;
} sf_correlogram;

#define SF_CORRELOGRAM_SURROGATES 200

/** Arrays have one entry per episode unless a comment says otherwise. Arrays that were not requested are
 * NULL, unknown numbers are NaN. */
typedef struct sf_episodes_columns {
    size_t size; /**< set by the caller: sizeof(sf_episodes_columns) */
    size_t count;
    const sf_episode *episodes;
    const uint64_t *counts;
    /** By rates, tested or not: the expected count of independent Poisson trains with the units' rates over
     * the recorded time. count / expected, its interval and every `ratio` use it. */
    const double *expected;

    /* For episodes that were found, and for given ones that were tested; those have no strength (NaN): */
    const double *strength; /**< the link probability at which the observed count would be expected */
    const double *p, *q;    /**< this and the next three: NaN before a test */
    const double *p_last;   /**< of the last unit, conditional on the episode without it */
    const double *p_first;  /**< of the first unit, conditional on the episode without it */
    /** the largest of the links, each tested as a pair; p is the largest of the three */
    const double *p_links;
    const sf_not_tested *not_tested;
    /** count >= 20, q < 0.05, and all units fire above 0.1 Hz */
    const bool *worth_showing;

    /* Details. A recording whose spikes are read in pieces has no `details`, bursts or counts of reverses. */
    const sf_details *details; /**< also NULL for more than SF_MOST_DETAILED episodes */
    /** count of B -> A if the episode is A -> B with two different units; else SF_NO_COUNT */
    const uint64_t *reverse;
    /** (forth - back) / (forth + back) of counts and reverse: 1 all one way, 0 balanced */
    const double *asymmetry;
    /** Bit k: one electrode recorded both units of link k, or their spikes look like those of one neuron. */
    const uint16_t *one_electrode;
    /** Index of the episode with one more unit at either end that, together with chance, accounts for this
     * one; or SF_NO_PARENT. The parent of a significant episode (q <= SF_SIGNIFICANT_Q) is itself
     * significant. It comes later in the order of sf_mine. Known without details if the episodes were tested.
     */
    const size_t *parents;
    const uint64_t *stretches; /**< number of bursts or of spans in which it occurs, whichever is larger;
                                  SF_NO_COUNT: unknown */
    const sf_span *bursts;     /**< of the network, in order; mine/bursts.h defines them */
    size_t burst_count;

    const uint64_t *span_counts; /**< span_count rows of `count` */
    size_t span_count;

    /* Windows: each is counted separately, as if it were the whole recording. */
    const sf_span *windows;
    size_t window_count;
    const uint64_t *window_counts; /**< window_count rows of `count` */
    bool last_is_partial;          /**< the last window ends with the recording; the others are full */

    const sf_correlogram *correlograms; /**< one per link of each episode, episode after episode */
    size_t correlogram_count;

    /* How the work went: */
    sf_ran ran;                  /**< its seconds cover the mining or counting only */
    double threshold;            /**< as a count */
    const sf_mine_level *levels; /**< the first is size 1 */
    size_t level_count;
    size_t found;     /**< number of frequent episodes, whether or not in the result */
    size_t worth;     /**< number of found ones that are worth showing */
    size_t returning; /**< number of found ones in which a unit occurs twice, if there was a test */
    const sf_significance *significance; /**< NULL: no test */
    /** The step of the recording's clock; 0: not known. Counts of delays narrower
     * than two ticks depend on where the bounds fall relative to them. */
    int64_t tick_ns;
    /** By episode, the 95 % confidence interval of count / expected, taking the count as one Poisson number
     * (Byar's approximation); NaN if nothing is expected. */
    const double *ratio_low, *ratio_high;
    size_t passing; /**< number of found episodes with p and q within the options' limits, whether or not in
                       the result */
    sf_stopped stopped;     /**< where the work was stopped, with the option `keep_stopped` */
    const uint64_t *needed; /**< the lowest count that would have q < SF_SIGNIFICANT_Q, or SF_NO_COUNT */
    /** the rule that set the threshold if the caller gave none, a literal; or NULL */
    const char *threshold_why;
    /** By episode, the expected count given the rest of the chain: the mean count in the surrogates of the
     * test, the larger of the two ends. Surrogates keep bursts, the other links and part of the tested one.
     * NaN if surrogates gave the episode no verdict; NULL where p is NULL. */
    const double *expected_given_rest;
    /** By window, how much of it was recorded: the time that rates divide by. 0: unknown. */
    const int64_t *window_recorded_ns;
    /** Of the found episodes with q <= SF_SIGNIFICANT_Q, whether or not in the result: `chains` are not part
     * of another, `parts` are folded under a chain, directly or through others. Each is counted once: chains
     * + parts are all of them. */
    size_t chains, parts;
} sf_episodes_columns;

/** Fills the columns up to their `size`; arrays live as long as the result. */
SF_API void sf_episodes_get_columns(const sf_episodes *episodes, sf_episodes_columns *columns);

/** The same as a table, one row per episode. */
SF_API void sf_episodes_get_table(const sf_episodes *episodes, sf_table *table);

SF_API void sf_episodes_free(sf_episodes *episodes); /**< NULL is allowed */

/* ---- occurrences ---- */

/** The spike times of all counted occurrences. */
typedef struct sf_occurrences sf_occurrences;

typedef struct sf_occurrences_columns {
    size_t size;                   /**< set by the caller: sizeof(sf_occurrences_columns) */
    const sf_recording *recording; /**< the recording whose units the episodes have; after sf_occurrences_open
                                      one with units but no spikes */
    const char *counted_in;        /**< path of the recording in which they were counted; NULL: not known */
    size_t count;
    const sf_episode *episodes;
    const double *expected;
    const uint64_t *counts;
    /** times_ns[i]: occurrences of episode i in order, counts[i] * episodes[i].size times. Of all occurrences
     * with the same end, the one with the latest spikes. */
    const int64_t *const *times_ns;
} sf_occurrences_columns;

/**
 * Finds the occurrences behind the counts of these episodes in the whole recording. `expected` is passed on
 * to the columns; NULL: computed by rates. The recording must outlive the result. SF_DATA as sf_count,
 * SF_NO_MEMORY, SF_CANCELLED.
 */
SF_API int sf_occurrences_list(sf_occurrences **occurrences, const sf_recording *recording,
                               const sf_episode *episodes, const double *expected, size_t count,
                               const sf_progress *progress, sf_error *error);

/**
 * Writes the occurrences as an HDF5 file (docs/formats.md), replacing an existing one. `configuration` (YAML)
 * and `provenance` (JSON) are stored in it; either may be NULL. SF_CANNOT_CREATE, SF_IO; then no file is
 * left.
 */
SF_API int sf_occurrences_write(const sf_occurrences *occurrences, const char *path,
                                const char *configuration, const char *provenance, sf_error *error);

/** Reads a file that sf_occurrences_write wrote. SF_NO_INPUT; SF_DATA if the file is of another kind or
 * damaged. */
SF_API int sf_occurrences_open(sf_occurrences **occurrences, const char *path, sf_error *error);

SF_API void sf_occurrences_get_columns(const sf_occurrences *occurrences, sf_occurrences_columns *columns);
SF_API void sf_occurrences_free(sf_occurrences *occurrences); /**< NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
