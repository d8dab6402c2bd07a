/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Live analysis: spikes go in as they happen, and counts, triggers, graphs and densities come out
 * (docs/messages.md says what each message holds, configs/reference.yaml what each option does). A decoder
 * turns the byte stream of a live system into spikes. Neither has a socket: the caller pushes input until
 * SF_AGAIN, and takes output until SF_AGAIN or SF_END.
 */
#ifndef SYNFIRE_LIVE_H
#define SYNFIRE_LIVE_H

#include <synfire/density.h>
#include <synfire/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- options ---- */

/** What a producer does when a ring is full. */
typedef enum sf_ring_policy {
    SF_RING_BLOCK,       /**< the caller waits and tries again: only for sources that can wait */
    SF_RING_DROP_OLDEST, /**< the consumer discards down to `limit`; the room beyond it takes the new items */
    SF_RING_DROP_NEWEST
} sf_ring_policy;

typedef struct sf_live_merge {
    double lateness_ms; /**< how long a source's newest spike waits for older ones */
    double stall_ms;    /**< a silent source without a clock holds the others at most this long */
    double leap_s; /**< live source: a time further ahead than this, or behind by more than lateness_ms and
                      100 ms, is held until the stream continues from it; 0: every time is accepted */
    bool drop_duplicates; /**< drop spikes of one unit at one instant (they are counted either way) */
} sf_live_merge;

typedef struct sf_live_window {
    double length_s; /**< a whole number of hops */
    double hop_s;
    double silence_s; /**< empty windows are left out of silences longer than this; 0: none are left out */
} sf_live_window;

typedef struct sf_live_mine {
    uint32_t every;        /**< hops between discoveries; 0: no discovery, only the episodes in `track` */
    const char *delays_ms; /**< "0.5:5,5:10" */
    double min_count;      /**< set at most one of these three; min_rate_hz 0.5 if none is positive */
    double min_rate_hz;
    double min_fraction;
    uint32_t max_size;
    bool repeats;       /**< units may repeat in an episode */
    const char *engine; /**< as `synfire mine --engine` takes it */
    uint32_t threads;   /**< 0: all cores */
    /** maximum number of discovered episodes that are tracked, the most significant first */
    uint32_t track_most;
} sf_live_mine;

typedef enum sf_live_metric { SF_LIVE_EPISODES, SF_LIVE_STTC } sf_live_metric;

/** Which units a unit reaches. */
typedef struct sf_live_reach {
    const char *from; /**< a unit's name or #index */
    uint32_t hops;
} sf_live_reach;

typedef struct sf_live_pattern {
    /** as `synfire match` takes it: a name, the motif language, or a file (motif_new) */
    const char *pattern;
    uint32_t limit; /**< maximum number of embeddings published */
} sf_live_pattern;

typedef struct sf_live_graph {
    bool enabled;
    sf_live_metric metric;
    double dt_ms; /**< SF_LIVE_STTC: maximum distance of two spikes that count as together */
    /** SF_LIVE_STTC: shifts, of which a pair must exceed 95 %; 0: all pairs are edges */
    uint32_t surrogates;
    const sf_live_reach *reach;
    uint32_t reach_count;
    uint32_t reach_all; /**< maximum number of hops, for every unit as source; 0: not computed */
    bool components;
    const sf_live_pattern *patterns;
    uint32_t pattern_count;
    bool census;
    uint32_t measures; /**< windows from one measurement of all units in the network to the next; 0: never */
    uint32_t rewired;  /**< number of rewired graphs that pattern counts are compared with; 0: none */
    uint32_t seed;     /**< for surrogates and rewired graphs */
} sf_live_graph;

/** The background test of what is counted. It tests one stretch of the stream after another; an episode is
 * tested only on stretches after those in which it was found. */
typedef struct sf_live_significance {
    sf_significance_kind kind; /**< segment-shift; 0: no test */
    /** Length of a stretch, a whole number of hops; 0: the window's, at least 30 s. Stretches with too few
     * expected occurrences are joined, up to 600 s. */
    double length_s;
    uint32_t surrogates;
    uint32_t most; /**< maximum number of episodes and edges tested per stretch: watched, then tracked, then
                      the edges furthest above chance */
    uint32_t seed;
    /** Publish only episodes, and edges by episodes, whose p and q are at most this; 0: no limit. Everything
     * is counted and tested alike. */
    double max_p, max_q;
} sf_live_significance;

typedef struct sf_live_density {
    sf_quantity quantity; /**< isi and rate are of `unit`; delay is that of the last link of `episode` */
    const char *unit;     /**< "*": every unit */
    const char *episode;  /**< "*": every episode under `track` */
    const char *method;   /**< how to choose the bandwidth */
    double reselect;      /**< the bandwidth is chosen again once this share of the samples has changed */
    uint32_t grid;        /**< bins; for position in x and in y */
} sf_live_density;

typedef struct sf_live_unit {
    const char *name;  /**< NULL: e1, e2, ... by index */
    double x_um, y_um; /**< position on the array; NaN: not known */
} sf_live_unit;

/** A source that the program pushes itself. A zeroed one is a real-time source without units. */
typedef struct sf_live_source {
    const char *name; /**< shown in the status; NULL: "push" */
    /** a run with several sources numbers units source after source, as "name/unit" */
    const sf_live_unit *units;
    uint32_t unit_count;
    uint32_t ring;         /**< capacity in spikes between sf_live_push and the merge; 0: 65536 */
    sf_ring_policy policy; /**< when the ring is full; SF_RING_BLOCK: sf_live_push returns SF_AGAIN */
    bool virtual_clock; /**< time is the stream's own: it runs as fast as spikes are pushed, and results are
                           always the same */
} sf_live_source;

/** Predicts a label for each window from the count of one episode in it, as `synfire rules` learns it. */
typedef struct sf_live_rule {
    const char *name;    /**< published with each prediction */
    const char *episode; /**< as people write it; counted every hop */
    double window_s;     /**< length of the windows it was learnt on: must be that of the run's windows */
    const char *const *labels; /**< label_count labels, that of the lowest counts first */
    const double *thresholds;  /**< label_count - 1, ascending: counts up to the first have the first label */
    uint32_t label_count;
} sf_live_rule;

/** The event that fires a trigger. */
typedef enum sf_live_trigger_on {
    SF_LIVE_ON_EPISODE,  /**< its episode completes */
    SF_LIVE_ON_TRIGGER,  /**< the trigger that it follows is sent: a yoked control */
    SF_LIVE_ON_RULE,     /**< its rule predicts another label than in the last full window */
    SF_LIVE_ON_BURST,    /**< a network burst reaches its `spike`-th spike and is known */
    SF_LIVE_ON_BURST_END /**< a network burst is over */
} sf_live_trigger_on;

/**
 * A named trigger, which may act on tissue, and the conditions that withhold it. Times are on the monotonic
 * clock, or on the stream's clock if that is virtual; `within_s` is always stream time. A trigger that comes
 * too late, or whose sources have a fault, is disarmed.
 */
typedef struct sf_live_trigger {
    sf_live_trigger_on on;
    const char *name;    /**< letters, digits, - and _; at most 63 */
    const char *episode; /**< as people write it */
    const char *follows; /**< name of a trigger earlier in the list */
    bool armed;          /**< from the start */
    double arm_s;        /**< arming lasts this long unless renewed; 0: to the end */
    /** maximum time since its last spike was due, or since its delay ended; 0: no limit */
    double max_age_ms;
    double refractory_ms; /**< minimum time between two */
    uint32_t most;        /**< maximum number in any most_s; 0: no limit */
    double most_s;
    uint32_t min_count; /**< number of completions within within_s that it takes, the current one included */
    double within_s;
    double max_q;                 /**< 1: tests are ignored */
    double delay_ms, delay_to_ms; /**< after the completion, drawn between these for each; delay_to_ms 0:
                                     always delay_ms */
    double sham;                  /**< this share is handled as if sent, but is not sent */
    uint32_t seed;                /**< for delays and shams */
    const char *rule;             /**< name of one of the rules */
    const char *label;            /**< fire only if the rule now predicts this label; "*" or NULL: any */
    double blank_ms; /**< length of the stream that is not analysed after it was sent, sham or not; 0: none */
    uint32_t spike;  /**< network bursts: the number of the spike that fires it; at least the one by which the
                        burst is known (bursts.spikes) */
} sf_live_trigger;

/** Armed, and sent within 100 ms or not at all. Set `name`, and `episode` or `follows`. */
#define SF_LIVE_TRIGGER_DEFAULTS                                                                             \
    {                                                                                                        \
        SF_LIVE_ON_EPISODE, NULL, NULL, NULL, true, 0, 100, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, NULL, NULL, 0, 1   \
    }

/** What is counted in each bin of the stream, as input of decoders. */
typedef struct sf_live_features {
    double bin_ms;            /**< 1 to 100; 0: no features */
    const char *const *units; /**< names or #index; "*": all */
    uint32_t unit_count;
    const char *const *episodes; /**< as people write them, or names of triggers; "*": all that are watched */
    uint32_t episode_count;
    const char *const *edges; /**< episodes of two units */
    uint32_t edge_count;
} sf_live_features;

/** Network bursts by ISI_N (Bakkum et al. 2014): runs of spikes of any units in which every `spikes`
 * consecutive ones lie within within_ms. `synfire bursts --network-method isi-n` applies the same rule to a
 * recording. */
typedef struct sf_live_bursts {
    uint32_t spikes;  /**< 2 to 4096 */
    double within_ms; /**< 0: bursts are not detected */
    bool in_features; /**< features also count the spikes of bursts, from the spike by which each burst is
                         known */
} sf_live_bursts;

#define SF_LIVE_NO_MARKER "none"

/** Responses to stimuli, published as trials come: a response window after each marker, compared with windows
 * of the same length before it. `synfire responses` computes the same from a recording, by the same rules,
 * and tests it. */
typedef struct sf_live_responses {
    const char *marker;    /**< its text, or ttl3 for a rising edge of line 3; "none": no responses */
    double from_ms, to_ms; /**< start and end of the window, after the marker */
    uint32_t baseline;     /**< number of windows before the marker, 1 to 100 */
    double bin_ms;         /**< of histograms */
    uint32_t every;        /**< number of trials from one message to the next */
} sf_live_responses;

/** The branching ratio of the newest part of the stream, by multistep regression, with its interval and
 * cautions. `synfire criticality` computes the same from that part of a recording. */
typedef struct sf_live_criticality {
    double every_s;  /**< interval of stream time, from its first spike on; 0.1 or more; 0: not estimated */
    double length_s; /**< length of the part it is estimated from: at least four times the longest lag */
    double bin_ms;   /**< 0.1 to 1000 */
    uint32_t lags;   /**< of the fit, in these bins */
} sf_live_criticality;

/** Times around markers that are not analysed: stimulus artefacts. */
typedef struct sf_live_blank {
    const char *marker;    /**< its text, or ttl3 for a rising edge of line 3 */
    double from_ms, to_ms; /**< relative to the marker */
} sf_live_blank;

/** Duplicates: of spikes at most `ms` apart, on one unit or on two at most `um` apart, only the first is
 * analysed. */
typedef struct sf_live_dedup {
    double ms; /**< 0: all are analysed */
    double um;
} sf_live_dedup;

/** Which losses of a source disarm the triggers on its units, by the counts of sf_source_status. All except
 * the last are holes in the stream of known units: feature bins report them, and no test uses the stretch. */
typedef struct sf_live_safe_loss {
    bool gaps;         /**< frames missing by the sender's numbering */
    bool malformed;    /**< frames with a fault: truncated, overlong, unordered */
    bool late;         /**< spikes older than the allowed lateness */
    bool dropped;      /**< spikes that found the ring full */
    bool leaps;        /**< spikes with times that were rejected */
    bool out_of_range; /**< spikes of unknown units; if set, they count as holes, too */
} sf_live_safe_loss;

/** How the stages of a hop are scheduled. Results are the same. */
typedef enum sf_live_schedule {
    SF_LIVE_DERIVED,   /**< concurrently where their inputs and outputs allow, as `synfire plan` prints it */
    SF_LIVE_SEQUENTIAL /**< one after the other */
} sf_live_schedule;

typedef struct sf_message sf_message; /* below */

/**
 * What a run analyses. Start from sf_live_options_default(); strings and arrays are borrowed until the run is
 * closed. The nested structs do not change while the library's soname stays; new fields are appended to this
 * struct.
 */
typedef struct sf_live_options {
    size_t size;
    const char *stream; /**< the name that every message carries */
    sf_live_merge merge;
    sf_live_window window;
    const char *device;        /**< auto, cpu, cuda, cuda:N, cuda:all */
    const char *device_memory; /**< device memory that jobs may take, as 8G; auto: most of what is free */
    sf_live_mine mine;
    const char *const
        *track; /**< episodes as people write them: counted every hop, whatever discovery finds */
    uint32_t track_count;
    const char *const *watch; /**< episodes that cause a trigger as soon as one completes */
    uint32_t watch_count;
    sf_live_graph graph;
    const sf_live_density *density;
    uint32_t density_count;
    const sf_live_source *sources; /**< sources that sf_live_push feeds; at least one */
    uint32_t source_count;
    uint32_t topics; /**< topics that sf_live_next returns: the sum of 1u << sf_topic of each; all */
    uint32_t queue;  /**< maximum number of messages waiting for sf_live_next, and of triggers; 1024 */
    sf_ring_policy queue_policy; /**< SF_RING_BLOCK: the analysis waits for sf_live_next, and finally so does
                                    sf_live_push */
    /**
     * NULL, or called as soon as a watched episode completes, on the watch thread or, with watch_at_once, the
     * thread that pushes. It must be real-time safe: it may not wait, lock, allocate, or call the library; it
     * copies what it keeps of the message.
     */
    void (*on_trigger)(void *user, const sf_message *trigger);
    void *user; /**< passed to on_trigger */
    /** Reads the patterns under graph. NULL: names and the motif language only; sf_motif_new: files, too. */
    int (*motif_new)(sf_motif **motif, const char *text, bool directed, sf_error *error);
    sf_live_significance significance;
    const sf_live_rule *rules;
    uint32_t rule_count;
    const sf_live_trigger *triggers;
    uint32_t trigger_count;
    sf_live_schedule schedule;
    sf_live_features features;
    sf_live_dedup dedup;
    const sf_live_blank *blank;
    uint32_t blank_count;
    sf_live_safe_loss safe_loss; /**< all except out_of_range */
    sf_live_bursts bursts;
    sf_live_responses responses;
    /**
     * sf_live_push merges and watches the pushed spikes itself, unless another thread is just doing so: when
     * it returns, a trigger waits for sf_live_next, and on_trigger was called. For loops that respond within
     * one tick; large pushes delay the caller. Not on a virtual clock, and only with a queue_policy that does
     * not wait for sf_live_next.
     */
    bool watch_at_once;
    sf_live_criticality criticality;
} sf_live_options;

SF_API void sf_live_options_init(void *options, size_t size);

static inline sf_live_options sf_live_options_default(void)
{
    sf_live_options options;
    sf_live_options_init(&options, sizeof options);
    return options;
}

/** A density of this quantity with all defaults; set `unit` or `episode`. sf_live_open rejects one with an
 * unknown quantity. */
SF_API sf_live_density sf_live_density_default(sf_quantity quantity);

/* ---- messages: rows and columns, read-only, valid as long as their message ---- */

typedef enum sf_topic {
    SF_TOPIC_EPISODES, /**< per hop: counts of the tracked episodes in the window */
    SF_TOPIC_TRIGGER,  /**< a watched episode completed */
    SF_TOPIC_DENSITY,
    SF_TOPIC_GRAPH,
    SF_TOPIC_STATUS,
    SF_TOPIC_DECISION,       /**< what became of a completion of a named trigger */
    SF_TOPIC_DELIVERY,       /**< what a sink on which someone may act did with a named trigger */
    SF_TOPIC_FEATURES,       /**< counts in one bin */
    SF_TOPIC_FEATURES_NAMES, /**< the names of the features */
    SF_TOPIC_BURST,          /**< a network burst is known, or over */
    SF_TOPIC_RESPONSE,       /**< a trial around a stimulus is over */
    SF_TOPIC_CRITICALITY,    /**< the branching ratio of the newest part of the stream */
    SF_TOPIC_COUNT
} sf_topic;

#define SF_TRIGGER_NAME_SIZE 128

/** Name of a source or sink: its kind and its endpoint or file name, which have at most 255 bytes. */
#define SF_STATUS_NAME_SIZE 272

typedef struct sf_episode_count {
    sf_episode episode;
    char id[SF_EPISODE_ID_SIZE];
    uint64_t count;
    double expected; /**< by rates in the window; NaN: not computed */
    /** From the newest stretch of the stream in which it was tested; NaN, like the next two: not tested. */
    double p;
    double q;               /**< corrected for everything the run has tested, over all stretches */
    double p_age_s;         /**< from the end of that stretch to the end of the window */
    uint32_t tests;         /**< number of stretches that q is based on */
    double least_q;         /**< the lowest possible q after this number of tests */
    const char *not_tested; /**< why there is no p, a literal; else NULL */
    uint32_t standing;      /**< rank among the published episodes by what stands out most, from 1 */
    /** Id of the longer episode that, with chance, accounts for this one, as sf_mine folds; empty: none. */
    char folded_under[SF_EPISODE_ID_SIZE];
} sf_episode_count;

/** What is frequent but beyond the limits under significance: counted, and not published. */
typedef struct sf_left_out {
    double max_p, max_q; /**< the limits; 0: none */
    uint64_t count;
    uint64_t untested; /**< number of these without a p: no test has reached them so far */
} sf_left_out;

/** What a rule predicts for a window. */
typedef struct sf_prediction {
    char rule[64]; /**< its name */
    char id[SF_EPISODE_ID_SIZE];
    uint64_t count;  /**< of its episode */
    char label[64];  /**< empty for a partial window, which gets no prediction */
    bool changed;    /**< the last full window had another label, */
    char before[64]; /**< which is this one; else empty */
} sf_prediction;

/** Windows are from <= time < to. A window is partial if the stream began or ended inside it. */
typedef struct sf_episodes_message {
    uint64_t hop; /**< 0-based number of the hop */
    sf_span window;
    bool partial;
    uint64_t spikes; /**< in the window */
    size_t count;
    sf_episode_count *items;
    size_t counted; /**< number of episodes within the limits: `count`, or more if a sink gets only the top
                       ones */
    /** Of the episodes with q <= SF_SIGNIFICANT_Q, published or not: `chains` are not part of another,
     * `parts` are folded under a chain, directly or through others. */
    size_t chains, parts;
    size_t rule_count;
    sf_prediction *rules; /**< in the order of the options */
    sf_left_out left_out;
    double list_age_s; /**< stream time from the end of the window in which discovery found the episodes to
                          the end of this one; NaN: discovery has found nothing yet */
} sf_episodes_message;

typedef struct sf_trigger_message {
    char id[SF_EPISODE_ID_SIZE];
    uint32_t size;
    int64_t spike_times_ns[SF_EPISODE_MAX_SIZE];
    uint64_t occurrence; /**< 1-based number of this completion of the episode in the run */
    double p, q;         /**< as in sf_episode_count, now: the test covers earlier stretches */
    double p_age_s;      /**< from the end of the stretch to the last spike */
    uint32_t tests;
    double least_q; /**< as in sf_episode_count */
    const char *not_tested;
    char name[SF_TRIGGER_NAME_SIZE]; /**< for an episode that is only watched: as configured, cut to fit */
    /** monotonic clock when it was decided to send it; on a virtual clock, stream time */
    int64_t decided_ns;
    int64_t expires_ns; /**< monotonic clock at which it becomes too old to act on; INT64_MAX: never */
    bool is_named;      /**< from a named trigger, not from an episode that is only watched */
} sf_trigger_message;

/** What a sink did with a named trigger. time_ns of the message is that of the last spike. */
typedef struct sf_delivery_message {
    char name[SF_TRIGGER_NAME_SIZE]; /**< of the trigger */
    char sink[SF_STATUS_NAME_SIZE];
    uint64_t trigger_seq;
    /** a literal: "sent"; "failed"; "too old": it was held back, and the trigger disarmed */
    const char *outcome;
    int64_t sent_ns;   /**< monotonic clock when it was passed to the socket or line */
    double latency_ms; /**< since its last spike was due */
} sf_delivery_message;

/** What became of a completion. time_ns of the message is that of the last spike. */
typedef struct sf_decision_message {
    char name[SF_TRIGGER_NAME_SIZE]; /**< of the trigger */
    char id[SF_EPISODE_ID_SIZE];
    uint64_t occurrence;  /**< as in the trigger's message */
    const char *outcome;  /**< a literal: "sent"; "sham": as if it were sent; "withheld" */
    const char *reason;   /**< a literal, why it was withheld: "disarmed", "refractory", ...; else NULL */
    uint64_t trigger_seq; /**< of the trigger's message; 0: none */
    int64_t decided_ns;   /**< monotonic clock; on a virtual clock, stream time */
    double wait_ms;       /**< from the time its last spike was due to the decision */
} sf_decision_message;

typedef struct sf_density_message {
    sf_span window;
    char quantity[64];            /**< "isi", "delay <id> <link>", ... */
    double h;                     /**< bandwidth, in the unit of the axis */
    bool log_axis;                /**< the axis is the natural logarithm of the quantity */
    double outside;               /**< share of the samples' density outside the grid */
    double grid_start, grid_step; /**< middle of the first bin, width of each */
    size_t rows;                  /**< for a density over a plane: values are row after row; 0: over a line */
    double row_start, row_step;
    size_t count;   /**< number of values */
    double *values; /**< averages over the bins: their sum times the step is 1 - outside */
} sf_density_message;

typedef struct sf_edge_change {
    uint32_t from, to;
    sf_delay delay;
    uint64_t count; /**< 0 for an edge by tiling */
    double expected, p;
    double weight;          /**< count - expected, by rates; or the tiling coefficient */
    bool removed;           /**< the edge was in the last snapshot but is not in this one */
    double q, p_age_s;      /**< as in sf_episode_count; p_age_s and least_q are NaN for a tiling */
    double least_q;         /**< as in sf_episode_count */
    const char *not_tested; /**< why there is no p, a literal; or NULL */
} sf_edge_change;

/**
 * Result of a configured breadth-first query: units reached within the configured number of hops. The parent
 * of a unit is, among the units that lead to it in the fewest hops, the one whose path has the smallest
 * delay: by the sum of the upper bounds of its edges' delays, then of the lower bounds, then by the smallest
 * index.
 */
typedef struct sf_reach_result {
    uint32_t source;
    size_t count;
    uint32_t *units;
    uint32_t *levels;
    uint32_t *parents; /**< UINT32_MAX for the source */
    sf_delay *delays;  /**< from the source along the parents: sums of lower and of upper bounds */
} sf_reach_result;

/** The number of units that each unit reaches, itself included, and the number of hops to the farthest of
 * them. */
typedef struct sf_reach_counts {
    uint32_t *reached, *depth; /**< by unit; NULL: not configured */
} sf_reach_counts;

/** Weakly connected components: units joined by edges in either direction. */
typedef struct sf_components_result {
    uint32_t count, largest; /**< number of components (a single unit is one), and of units in the largest */
    uint32_t *of_unit;       /**< by unit: the smallest unit of its component; NULL: not configured */
} sf_components_result;

/** A count compared with those in rewired graphs. May belong to an earlier window, because rewiring takes
 * time. */
typedef struct sf_motif_spread {
    uint32_t graphs; /**< 0: none yet */
    sf_span window;
    uint64_t count; /**< in this window's own graph */
    double mean, sd, z;
} sf_motif_spread;

/** Result of a configured pattern. */
typedef struct sf_motif_result {
    char *pattern; /**< as the configuration has it */
    uint64_t count;
    bool truncated; /**< the search ran out of time: count is a lower bound */
    uint32_t size;  /**< number of units in an embedding */
    size_t kept;
    uint32_t *embeddings; /**< kept * size */
    sf_motif_spread spread;
} sf_motif_result;

/** Number of sets of three units that form one of the 16 triads, named as `synfire match` does. */
typedef struct sf_triad_result {
    char name[8]; /**< "003" to "300" */
    uint64_t count;
    sf_motif_spread spread;
} sf_triad_result;

/** Network measures of a unit with an edge, as in the table `network_units`. */
typedef struct sf_unit_measures {
    uint32_t unit;
    uint64_t degree;
    double strength;
    uint64_t module; /**< by weights; numbers are valid in this window only */
} sf_unit_measures;

typedef struct sf_graph_message {
    sf_span window;
    bool is_tiling;    /**< edges are spike-time tiling coefficients, undirected, and have no counts */
    size_t unit_count; /**< length of arrays by unit */
    double threshold;  /**< minimum count of an edge; NaN for a tiling */
    size_t edges;      /**< in the whole snapshot */
    size_t change_count;
    sf_edge_change *changes;
    size_t reach_count;
    sf_reach_result *reach;
    sf_reach_counts reach_all;
    sf_components_result components;
    size_t motif_count;
    sf_motif_result *motifs;
    size_t triad_count; /**< 0: no census configured */
    sf_triad_result *triads;
    sf_left_out left_out;   /**< edges left out: neither counted in `edges` nor searched */
    size_t pairs_tested;    /**< as in sf_graph_columns */
    double pairs_by_chance; /**< likewise */
    bool measured;          /**< new measures of units since the last message */
    double modularity;      /**< of the modules; NaN if no unit has an edge, or nothing was measured */
    size_t measure_count;
    sf_unit_measures *measures;
    sf_span measured_in; /**< the window that the measures belong to: this one, or an earlier one */
} sf_graph_message;

typedef enum sf_source_state {
    SF_SOURCE_LIVE, /**< heard within the last second; a recording, or any source at the end of the run: not
                       ended */
    SF_SOURCE_STALLED, /**< silent for longer */
    SF_SOURCE_LOST,    /**< silent for longer than its timeout */
    SF_SOURCE_ENDED,
    SF_SOURCE_FAILED /**< ended with an error */
} sf_source_state;

/** Every spike in `spikes` has passed through, or is counted in one of `held` to `leaps`, or is still in the
 * ring or waiting for older ones. Duplicates are taken out only if the merge drops them. */
typedef struct sf_source_status {
    char name[SF_STATUS_NAME_SIZE];
    sf_source_state state;
    int64_t silent_ns; /**< by wall clock, for a live source; else 0 */
    int64_t behind_ns; /**< how late its newest spikes arrived after they were due; -1: not known, as for a
                          recording */
    uint64_t spikes;   /**< received */
    uint64_t held;     /**< spikes whose times are in doubt now */
    uint64_t late, duplicate, out_of_range, dropped; /**< spikes that were rejected, by cause */
    uint64_t leaps;         /**< spikes rejected because their time was not believed */
    int64_t missing_spikes; /**< spikes that the sender says it sent but that did not arrive; -1: not known
                               (yet) */
    uint64_t markers;       /**< passed through */
    uint64_t markers_late, markers_dropped,
        markers_left_out;    /**< rejected, by cause; the last: their time was not believed */
    int64_t missing_markers; /**< as missing_spikes */
    uint64_t gaps;           /**< breaks in the source's own sequence numbers */
    uint64_t gap_lost;       /**< batches lost in these gaps */
    uint64_t malformed;      /**< frames with a fault */
    uint64_t other_streams;  /**< events or datagrams of other streams of its sender, ignored */
    uint64_t restarts;       /**< number of times that the sender began a new run */
    uint64_t undone;         /**< number of doubted times that the stream did not continue from */
    uint64_t steps;          /**< number of forward steps of its clock that were accepted */
    uint64_t epochs;         /**< number of times that its clock restarted and was joined to the stream */
    int64_t shift_ns;        /**< stream time minus the source's own time, in this epoch */
    uint32_t ring_fill, ring_size;
    int64_t lateness_max_ns;
    bool ended;
    /** state of the pulses that sources share, a literal: "reference": its clock is the common one; else
     * "searching", "ambiguous", "locked", "lost"; NULL: shares no pulses */
    const char *pulses;
    /** time of the newest pulse seen by both, on the reference's clock; INT64_MIN: none yet */
    int64_t pulse_ns;
    int64_t offset_ns; /**< the reference's clock minus the source's own, at that pulse */
    double drift_ppm;  /**< how much faster the reference's clock runs; NaN before a lock, like residual_us */
    double residual_us; /**< root mean square deviation of the pulses from the fitted line */
    /** A literal: "curve": sender and receiver have authenticated each other by keys; "none": anyone at that
     * address is trusted; NULL: the source does not come over a network. */
    const char *authentication;
} sf_source_status;

/** Durations of a repeated operation since the start. */
typedef struct sf_took {
    uint64_t count;                /**< number of times it was done */
    double busy_ms;                /**< total duration */
    double p50_ms, p99_ms, max_ms; /**< p50 and p99 are accurate to 2 %; NaN: it was never done */
} sf_took;

typedef struct sf_sink_status {
    char name[SF_STATUS_NAME_SIZE];
    uint64_t published, dropped, failed;
    uint32_t ring_fill, ring_size;
    uint64_t spikes, markers;           /**< raw, written by a recorder; 0 for other sinks */
    uint64_t spikes_lost, markers_lost; /**< raw, that the recorder could not write */
    char state[16];                     /**< "ok", "failed": something could not be written or sent */
    char note[256];                     /**< what failed first; or empty */
    sf_took took;                       /**< time to publish a message, without its time in the ring */
    uint64_t journal_bytes, syncs;      /**< of all of a recorder's journals */
    double sync_max_ms;                 /**< the longest sync; NaN: none yet */
    /** time until the disk is full at the present rate; NaN: not known, or no recorder */
    double disk_left_s;
    int64_t refused; /**< connections refused for lack of an accepted key; -1: no key is required */
} sf_sink_status;

typedef struct sf_stage_status {
    /** A literal: "count", "discover", "test", "pairs", "graph", "density", "publish"; "hop" for all of them;
     * parts of "graph": "reach", "patterns", "census"; in the background, beside the hops: "mine" and
     * "rewire"; "watch", done as spikes arrive: merging, watching, deciding on triggers, passing on. */
    const char *name;
    double last_ms, max_ms;
    double share;    /**< last_ms as a share of a hop; NaN for "watch" */
    char device[32]; /**< where it ran last: "cpu", "cuda:0"; empty: not yet, or in several places */
    uint64_t missed; /**< number of hops in which it took longer than a hop */
    sf_took took;    /**< by hop, without the newest */
} sf_stage_status;

/** completed = sent + sham + withheld + waiting */
typedef struct sf_trigger_status {
    char name[SF_TRIGGER_NAME_SIZE];
    const char *not_armed; /**< why it is not armed, a literal; NULL: it is armed */
    double armed_s;        /**< how long it stays armed; NaN: to the end, or not armed */
    const char *armed_by; /**< who armed it, a literal: "configuration", "control", "page"; NULL: not armed */
    double armed_at_s;    /**< stream time when it was armed; NaN: before the first spike, or not armed */
    uint64_t completed, sent, sham, withheld;
    uint32_t waiting; /**< completions waiting for their delay */
    /** Completions per minute expected by rates: of its episode, if units fired independently at their rates
     * in the stream so far. For a trigger that follows another: how often the other would then be sent while
     * armed and with q within its limit. NaN: not known, as before the first hop, and for rules. */
    double chance_per_min;
} sf_trigger_status;

#define SF_STATUS_STAGES 14

typedef struct sf_status_message {
    uint64_t spikes; /**< since the start */
    double rate_hz;  /**< all units, over the observed part of the window; NaN: nothing was observed */
    size_t unit_count;
    double *unit_rates_hz; /**< likewise, over what was observed of the unit */
    size_t source_count;
    sf_source_status *sources;
    size_t sink_count;
    sf_sink_status *sinks;
    size_t stage_count;
    sf_stage_status stages[SF_STATUS_STAGES];
    size_t tracked, watched, edges;
    double list_age_s;   /**< of the tracked episodes, as in sf_episodes_message */
    double list_every_s; /**< stream time from the window of the previous list to that of this one; NaN: there
                            was no previous list */
    uint64_t lists_missed;     /**< windows that mine.every requests but that were not mined */
    uint64_t window_dropped;   /**< spikes dropped because the window path had no room */
    uint64_t watch_overflows;  /**< watched partial occurrences dropped for lack of room */
    char device[64];           /**< device of the run: "cpu", "cuda:0" */
    char device_state[32];     /**< "ok", "sick": the CPU does its work */
    char device_note[256];     /**< how the device failed, or why it refused the newest discovery; or empty */
    uint64_t device_memory;    /**< maximum bytes that its jobs took */
    char counting_device[32];  /**< where the tracked episodes were counted */
    char discovery_device[32]; /**< where the newest discovery ran; empty before the first */
    double discovery_ms;       /**< how long it took; NaN before the first */
    char test_device[32]; /**< where the surrogates of the newest test were counted; empty before the first */
    bool last;            /**< the run ends with this message */
    size_t tested;        /**< episodes and edges that got a p in the newest stretch */
    uint64_t tests, tests_missed; /**< stretches tested, and stretches skipped because the previous test was
                                     still running */
    double test_ms, test_share; /**< newest test: its duration, and that divided by the length of its stretch;
                                   NaN before the first */
    double test_length_s;       /**< of a stretch; NaN: no test is configured */
    const char *not_tested;     /**< why the newest stretch gave no p, a literal; or NULL */
    size_t trigger_count;       /**< named triggers, in the order of the options */
    sf_trigger_status *triggers;
    uint64_t decisions_lost; /**< decisions without a message, for lack of room */
    uint64_t features_lost;  /**< bins without a message, for lack of room */
    /** Spikes recorded but not analysed: duplicates, blanked after a marker, blanked after a trigger. */
    uint64_t dedup_dropped, blank_dropped, trigger_dropped;
    double run_s;  /**< monotonic time since the pipeline was opened */
    double hop_ms; /**< length of a hop */
    uint64_t window_fill,
        window_size; /**< spikes in the ring between watching and the windows, and its capacity */
    sf_took latency; /**< from the time a spike was due until it was watched: of the oldest of each group */
    /** like `refused` of a sink, for the control socket; also -1 if there is none */
    int64_t control_refused;
    /** From the newest criticality message; NaN: there was none, or the value is NaN in it. */
    double branching_ratio, branching_low, branching_high;
    double branching_at_s;        /**< end of the window that they belong to */
    char branching_cautions[128]; /**< why they may be wrong, in words, as "drift, long"; or empty */
    uint64_t branching_missed;    /**< current value of `missed` of sf_criticality_message */
} sf_status_message;

/** Features of one bin. Every bin number from 0 on comes once, except those lost or skipped in a silence. */
typedef struct sf_features_message {
    uint64_t bin;
    sf_span window;
    bool partial; /**< the last bin, in which the stream ended */
    bool lost; /**< in this bin a source lost something, fell silent, or its recording paused: spikes may be
                  missing */
    size_t count;
    uint32_t *values; /**< spikes of units, then completions of episodes, then completions of edges */
} sf_features_message;

typedef struct sf_features_names_message {
    int64_t bin_ns;
    size_t units, episodes, edges; /**< number of names of each, in this order */
    size_t count;
    char **names;
} sf_features_names_message;

/** time_ns of the message is that of the spike by which the burst is known, or for its end the last time at
 * which a spike could still have belonged to it. */
typedef struct sf_burst_message {
    const char *event; /**< "begin", "end" */
    uint64_t burst;    /**< number in the run, from 0 */
    int64_t first_ns;
    int64_t last_ns; /**< its last spike; this and the next two so far, if it only begins */
    uint64_t spikes;
    uint64_t units; /**< number of units that fire in it */
} sf_burst_message;

/** The response of a unit over all trials so far. */
typedef struct sf_response_unit {
    uint32_t unit;
    uint64_t spikes;             /**< in response windows */
    uint64_t baseline_spikes;    /**< in all windows before markers */
    double reliability;          /**< share of trials with a spike in the response window */
    double baseline_reliability; /**< share of the windows before markers with a spike */
    double latency_ms;           /**< median time of the first spike after the marker; NaN: no spikes */
    double jitter_ms;            /**< standard deviation of these times; NaN for fewer than two */
    size_t bin_count;
    uint64_t *bins; /**< histogram around the marker; memory of the message */
} sf_response_unit;

/** The response of a watched episode: its occurrences, by their first spikes. */
typedef struct sf_response_chain {
    char id[SF_EPISODE_ID_SIZE];
    char name[SF_TRIGGER_NAME_SIZE]; /**< name of its trigger, or the episode as configured, cut to fit */
    sf_response_unit counts;         /**< as for a unit; its `unit` is meaningless */
} sf_response_chain;

/** time_ns of the message is when the windows and the histogram of the trial are over, and no watched episode
 * that began in them can complete any more. */
typedef struct sf_response_message {
    char marker[SF_MARKER_TEXT_SIZE]; /**< the stimulus, as in the options */
    int64_t marker_ns;                /**< of this trial */
    uint64_t trials,
        markers;    /**< so far: trials are the markers whose windows were recorded at some offset */
    double exposed; /**< share of this trial's windows that was recorded and not blanked */
    uint64_t spikes, baseline_spikes; /**< of all units in this trial */
    uint64_t answers;          /**< number of units with a spike in the response window of this trial */
    int64_t exposed_ns;        /**< of all response windows so far */
    uint64_t baseline_windows; /**< before each marker */
    int64_t first_ns, bin_ns;  /**< start of the first bin relative to the marker, and bin length */
    size_t bin_count;
    int64_t *bin_exposed_ns; /**< by bin, over all trials so far */
    size_t unit_count;
    sf_response_unit *units;
    size_t chain_count;
    sf_response_chain *chains; /**< all watched episodes */
    uint64_t *bins;            /**< the histograms of units and chains, in one block */
} sf_response_message;

/** Why a result may be wrong. */
typedef struct sf_live_caution {
    const char *caution; /**< one word, a literal */
    char text[200];      /**< one sentence */
} sf_live_caution;

/** As the tables `criticality` and `criticality_cautions` of that part of a recording. Unknown numbers are
 * NaN. */
typedef struct sf_criticality_message {
    sf_span window;
    bool partial; /**< the stream began in the window */
    uint64_t spikes;
    double duration_s; /**< recorded and not blanked time of the window */
    double branching_ratio, branching_low, branching_high;
    double branching_ratio_conventional;
    double timescale_s, timescale_low_s, timescale_high_s;
    double own_share;
    uint64_t lags,
        blocks;      /**< lags that the ratio was fitted to, and blocks that the interval was drawn from */
    uint64_t missed; /**< windows skipped so far because the previous one was still being analysed */
    size_t caution_count;
    sf_live_caution *cautions;
} sf_criticality_message;

struct sf_message {
    sf_topic topic;
    uint64_t seq;       /**< per topic, from 1 without gaps */
    int64_t time_ns;    /**< stream clock: the end of the window, or the time of the trigger's last spike */
    int64_t arrival_ns; /**< monotonic clock when its newest spike was due: for a live stream by the spike's
                           own time, else when it arrived; 0: no spike yet */
    int references;     /**< used by the library only */
    union {
        sf_episodes_message episodes;
        sf_trigger_message trigger;
        sf_decision_message decision;
        sf_delivery_message delivery;
        sf_features_message features;
        sf_features_names_message features_names;
        sf_burst_message burst;
        sf_response_message response;
        sf_criticality_message criticality;
        sf_density_message density;
        sf_graph_message graph;
        sf_status_message status;
    };
};

/* ---- a run ---- */

/**
 * A run of analyses, with its own threads. One thread at a time may call sf_live_push and sf_live_mark for
 * each source; one thread may call sf_live_next, possibly the same; any other call is made by one thread
 * while no other call is running.
 */
typedef struct sf_live sf_live;

/** Starts a run. SF_CONFIG with the wrong option as the place, such as "watch.0". */
SF_API int sf_live_open(sf_live **live, const sf_live_options *options, sf_error *error);

/**
 * Passes spikes of one source to the run, in time order, with the source's own unit numbers. watermark_ns: no
 * spike before it will follow; INT64_MIN: no promise, INT64_MAX: the source has ended. A window is published
 * once the watermarks of all sources have passed it. Real-time safe. SF_AGAIN if a blocking ring has no room:
 * nothing was accepted; call sf_live_next, or wait a little, and push the same again. SF_END if the run has
 * ended. SF_USAGE for more spikes at once than a blocking ring holds, or for a source that does not exist.
 */
SF_API int sf_live_push(sf_live *live, uint32_t source, const sf_spike *spikes, size_t count,
                        int64_t watermark_ns, sf_error *error);

/** The same with markers, which recorders receive; they must not be older than the spikes pushed before. */
SF_API int sf_live_mark(sf_live *live, uint32_t source, const sf_marker *markers, size_t count,
                        sf_error *error);

/**
 * Returns the next message, which the caller releases with sf_message_release; waits up to timeout_ms for
 * one. SF_AGAIN if none came, SF_END after the last. Messages of a topic are in order; triggers may overtake
 * others; a gap in `seq` shows what a full queue dropped. If a run fails it ends, and sf_live_close returns
 * the error.
 */
SF_API int sf_live_next(sf_live *live, sf_message **message, int timeout_ms, sf_error *error);

/**
 * Calls sf_live_push and then takes up to `most` waiting triggers, oldest first, in one call that allocates
 * nothing: for loops that respond within one tick. `triggers` is the caller's memory; do not release the
 * messages. *taken receives their number, 0 if the push failed. Returns what sf_live_push returns. Must be
 * called by the thread that calls sf_live_next, which still returns all other messages. With watch_at_once,
 * the triggers include what these spikes complete, unless another thread was just watching: then it comes
 * with a later call, which may push no spikes.
 */
SF_API int sf_live_tick(sf_live *live, uint32_t source, const sf_spike *spikes, size_t count,
                        int64_t watermark_ns, sf_message *triggers, size_t most, size_t *taken,
                        sf_error *error);

/** Drops one reference; the last frees the message. NULL is allowed. Any thread. */
SF_API void sf_message_release(sf_message *message);

/** Writes a message of this run as one JSON object (docs/messages.md); release it with sf_release.
 * SF_NO_MEMORY. Any thread. */
SF_API int sf_live_json(const sf_live *live, const sf_message *message, char **json, sf_error *error);

/** The name of a unit in the run's own numbering; NULL beyond the last unit. Any thread. */
SF_API const char *sf_live_unit_name(const sf_live *live, uint32_t unit);

/** Writes an episode of this run, as people write it, into `text`. At most `size` bytes are written, cut to
 * fit, NUL-terminated unless size is 0. Returns the full length without the NUL; 0: out of memory. Any
 * thread. */
SF_API size_t sf_live_print_episode(const sf_live *live, const sf_episode *episode, char *text, size_t size);

/** Ends all sources: the run processes what was pushed, and sf_live_next returns the resulting messages, then
 * SF_END. */
SF_API void sf_live_finish(sf_live *live);

/** Finishes the run, drops messages that were not taken, and frees it. Returns the first failure of the run,
 * if any. NULL is allowed. */
SF_API int sf_live_close(sf_live *live, sf_error *error);

/* ---- decoding: turns the bytes of a live system's stream into spikes, without a socket ---- */

/**
 * Decodes the stream of a live system into spikes. The caller gets the bytes by any means: ZeroMQ,
 * WebSockets, TCP, a file. Feed, then take until SF_AGAIN, then feed again; pass what was taken to
 * sf_live_push. One thread at a time.
 */
typedef struct sf_decoder sf_decoder;

/** Set `size`; zero fields mean what their comments say. Everything is copied. */
typedef struct sf_decoder_options {
    size_t size;
    const char *protocol; /**< "synfire" (docs/wire.md), or one of docs/rigs.md; NULL: "synfire" */
    const char *name;     /**< name of the stream in error texts and the log; NULL: "the stream" */
    /* For rigs: what their stream does not say itself. */
    double sample_rate_hz; /**< 0: as in the stream, or the usual rate of such rigs */
    const sf_unit *units;  /**< its electrodes; NULL: those heard from within learn_s */
    size_t unit_count;
    /** by unit: the rig's number of its channel; NULL: units are found by name only */
    const int32_t *channels;
    double learn_s;     /**< stream time; 0: 5 s */
    const char *stream; /**< which stream of a sender of several; NULL: the first that is heard */
    const char *layout; /**< for a rig with several layouts, as named in docs/rigs.md; NULL: detected */
} sf_decoder_options;

/** Opens a decoder. options NULL: synfire's own protocol. SF_USAGE for an unknown protocol; SF_NO_MEMORY. */
SF_API int sf_decoder_open(sf_decoder **out, const sf_decoder_options *options, sf_error *error);

/** What the bytes of one feed are. A decoder is fed either with messages or with a stream of bytes. */
typedef enum sf_feed {
    SF_FEED_MESSAGE, /**< a whole message, or its last part, as ZeroMQ and WebSockets deliver them */
    SF_FEED_PART,    /**< part of a message; the next part follows */
    SF_FEED_BYTES    /**< part of a byte stream (TCP, a file), cut anywhere */
} sf_feed;

/**
 * Passes bytes to the decoder, which copies them. SF_AGAIN if the previous feed has not been taken
 * completely: nothing was accepted; call sf_decoder_take, and feed the same again. SF_END after the stream's
 * end. SF_USAGE for a byte stream if the protocol comes in messages, or for switching between the two;
 * SF_NO_MEMORY. In a byte stream the decoder skips bytes that are no frame and finds the next one; messages
 * detect damage more reliably.
 */
SF_API int sf_decoder_feed(sf_decoder *decoder, const void *bytes, size_t size, sf_feed how, sf_error *error);

/** What sf_decoder_take returns. Set `size` before the call. Arrays and strings live until the next call;
 * those that describe the stream live as long as the decoder. */
typedef struct sf_decoded {
    size_t size;
    const sf_spike *spikes; /**< in time order, with unit numbers of `units` */
    size_t spike_count;
    const sf_marker *markers; /**< in time order */
    size_t marker_count;
    int64_t watermark_ns; /**< no spike before it will follow; INT64_MIN: no promise */
    /* Since the last sf_decoder_take: */
    uint64_t malformed;      /**< frames that could not be read and were skipped */
    const char *fault;       /**< what was wrong with the last of these, or NULL */
    uint64_t out_of_range;   /**< spikes of units that are not in the table, skipped */
    uint64_t gaps, gap_lost; /**< breaks in the stream's own numbering, and frames lost in them */
    uint64_t restarts;       /**< new runs of the sender, with the same units: times may start again */
    int64_t missing_spikes;  /**< spikes that the sender says it sent but that did not arrive; -1: not known
                                (yet) */
    int64_t missing_markers; /**< likewise */
    /* The stream, once its sender has described it; no spikes come before. */
    bool is_known;
    const char *name;
    size_t unit_count;
    const sf_unit *units;
    size_t metadata_count;
    const sf_metadata_entry *metadata;
    bool virtual_clock;     /**< its time is not real time: it runs as fast as possible */
    uint64_t other_streams; /**< events or datagrams of other streams, ignored; since the last call */
} sf_decoded;

/**
 * Takes the next part of what was fed; the first result describes the stream. SF_AGAIN: feed more. SF_END:
 * the stream has ended properly. Frames that cannot be read are skipped and counted. SF_DATA for a stream
 * that cannot be decoded further: another version of the protocol, or a sender that restarted with other
 * units; then close the decoder.
 */
SF_API int sf_decoder_take(sf_decoder *decoder, sf_decoded *decoded, sf_error *error);

SF_API void sf_decoder_close(sf_decoder *decoder); /**< NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
