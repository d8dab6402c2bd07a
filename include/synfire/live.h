/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Live analysis: spikes go in while they happen, and counts, triggers, graphs and densities come out
 * (docs/messages.md says what each message holds, configs/reference.yaml what each option does). A decoder
 * makes the spikes of what a live system sends. Neither has a socket: what they are given they take or
 * refuse with SF_AGAIN, and what they have to give is taken until SF_AGAIN or SF_END.
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
    double leap_s; /**< of a live source: a time further ahead, or behind by over lateness_ms and 100 ms, is
                      held until the stream goes on from there; 0: every time is believed */
    bool drop_duplicates; /**< drop spikes of one unit at one instant (they are counted either way) */
} sf_live_merge;

typedef struct sf_live_window {
    double length_s; /**< a whole number of hops */
    double hop_s;
    double silence_s; /**< of a longer silence the empty windows are left out; 0: none are */
} sf_live_window;

typedef struct sf_live_mine {
    uint32_t every;        /**< hops between discoveries; 0: no discovery, only what `track` names */
    const char *delays_ms; /**< "0.5:5,5:10" */
    double min_count;      /**< of these three at most one is positive; min_rate_hz 0.5 where none is */
    double min_rate_hz;
    double min_fraction;
    uint32_t max_size;
    bool repeats;        /**< units may repeat in an episode */
    const char *engine;  /**< as `synfire mine --engine` has it */
    uint32_t threads;    /**< 0: all cores */
    uint32_t track_most; /**< at most so many discovered episodes are tracked, the most significant first */
} sf_live_mine;

typedef enum sf_live_metric { SF_LIVE_EPISODES, SF_LIVE_STTC } sf_live_metric;

/** Which units a unit reaches. */
typedef struct sf_live_reach {
    const char *from; /**< a unit's name or #index */
    uint32_t hops;
} sf_live_reach;

typedef struct sf_live_pattern {
    const char
        *pattern;   /**< as `synfire match` takes it: a name, the motif language, or a file (motif_new) */
    uint32_t limit; /**< embeddings published at most */
} sf_live_pattern;

typedef struct sf_live_graph {
    bool enabled;
    sf_live_metric metric;
    double dt_ms;        /**< of SF_LIVE_STTC: spikes at most this far apart are together */
    uint32_t surrogates; /**< of SF_LIVE_STTC: shifts that a pair must exceed 95 % of; 0: all are edges */
    const sf_live_reach *reach;
    uint32_t reach_count;
    uint32_t reach_all; /**< hops; 0: not asked */
    bool components;
    const sf_live_pattern *patterns;
    uint32_t pattern_count;
    bool census;
    uint32_t
        measures;     /**< windows from one to the next whose units are measured in the network; 0: none is */
    uint32_t rewired; /**< graphs that counts of patterns are held against; 0: none */
    uint32_t seed;    /**< of surrogates and rewired graphs */
} sf_live_graph;

/** The test of what is counted, in the background: stretch by stretch, each after those it was found in. */
typedef struct sf_live_significance {
    sf_significance_kind kind; /**< segment-shift; 0: nothing is tested */
    /** Of a stretch, a whole number of hops; 0: as the window, and at least 30 s. Where too few occurrences
     * are expected several are taken together, up to 600 s. */
    double length_s;
    uint32_t surrogates;
    uint32_t most; /**< episodes and edges in a stretch: watched, tracked, then the edges most above chance */
    uint32_t seed;
    /** Only what has such a p and q is told of, of episodes and of edges by episodes; 0: whatever it has. All
     * is counted and tested alike. */
    double max_p, max_q;
} sf_live_significance;

typedef struct sf_live_density {
    sf_quantity
        quantity; /**< isi and rate are of `unit`, delay is first to last spike of `episode`'s last link */
    const char *unit;    /**< "*": every unit */
    const char *episode; /**< "*": every one under `track` */
    const char *method;  /**< of choosing the bandwidth */
    double reselect;     /**< the bandwidth is chosen again once this share of the samples has changed */
    uint32_t grid;       /**< bins, of position in x and in y */
} sf_live_density;

typedef struct sf_live_unit {
    const char *name;  /**< NULL: e1, e2, ... by index */
    double x_um, y_um; /**< position on the array; NaN: not known */
} sf_live_unit;

/** What a program pushes itself. A zeroed one is a source in real time without units. */
typedef struct sf_live_source {
    const char *name; /**< of status; NULL: "push" */
    const sf_live_unit
        *units; /**< with several sources those of a run are one after the other, as "name/unit" */
    uint32_t unit_count;
    uint32_t ring;         /**< spikes between sf_live_push and the merge; 0: 65536 */
    sf_ring_policy policy; /**< when it is full; SF_RING_BLOCK: sf_live_push says SF_AGAIN */
    bool virtual_clock;    /**< time is what the stream says: as fast as it is pushed, and always the same
                              results */
} sf_live_source;

/** What holds in a window, by the count of one episode in it: as `synfire rules` learns it. */
typedef struct sf_live_rule {
    const char *name;          /**< told with what it predicts */
    const char *episode;       /**< as people write it; it is counted every hop */
    double window_s;           /**< what it was learnt in: the length of the run's windows */
    const char *const *labels; /**< label_count of them: of the lowest counts first */
    const double *thresholds;  /**< one fewer, ascending: counts up to the first have the first label */
    uint32_t label_count;
} sf_live_rule;

/** What a trigger waits for. */
typedef enum sf_live_trigger_on {
    SF_LIVE_ON_EPISODE,  /**< its episode completes */
    SF_LIVE_ON_TRIGGER,  /**< the one that it follows is sent: a yoked control */
    SF_LIVE_ON_RULE,     /**< its rule predicts another label than of the full window before */
    SF_LIVE_ON_BURST,    /**< a network burst has `spike` spikes, and is known */
    SF_LIVE_ON_BURST_END /**< a network burst is over */
} sf_live_trigger_on;

/**
 * A trigger with a name, and when it is withheld: what may act on tissue. Times are by the monotonic clock,
 * on a virtual clock by that of the stream; `within_s` is of the stream. A trigger that comes too late or
 * whose sources have a fault is disarmed.
 */
typedef struct sf_live_trigger {
    sf_live_trigger_on on;
    const char *name;     /**< letters, digits, - and _; at most 63 */
    const char *episode;  /**< as people write it */
    const char *follows;  /**< the name of one that stands before it */
    bool armed;           /**< from the beginning */
    double arm_s;         /**< arming lasts so long unless it is renewed; 0: to the end */
    double max_age_ms;    /**< since its last spike was due, or since its delay was over; 0: any */
    double refractory_ms; /**< the least time between two */
    uint32_t most;        /**< at most so many in any most_s; 0: any number */
    double most_s;
    uint32_t min_count; /**< it takes so many completions within within_s, this one among them */
    double within_s;
    double max_q; /**< 1: whatever tests say */
    double delay_ms,
        delay_to_ms;   /**< after the completion, drawn anew for each; delay_to_ms 0: always delay_ms */
    double sham;       /**< this share is treated as if it were sent, and is not */
    uint32_t seed;     /**< of delays and shams */
    const char *rule;  /**< the name of one of the rules */
    const char *label; /**< only where it predicts this one from now on; "*" or NULL: any */
    double blank_ms;   /**< of the stream after it was sent, sham or not, nothing is analysed; 0: all is */
    uint32_t spike;    /**< of a network burst: its k-th, or where that is less than bursts.spikes, the one by
                          which it is known */
} sf_live_trigger;

/** Armed, and sent within 100 ms or not at all; `name` is to be set, and `episode` or `follows`. */
#define SF_LIVE_TRIGGER_DEFAULTS                                                                             \
    {                                                                                                        \
        SF_LIVE_ON_EPISODE, NULL, NULL, NULL, true, 0, 100, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, NULL, NULL, 0, 1   \
    }

/** What is counted in each bin of the stream, for decoders. */
typedef struct sf_live_features {
    double bin_ms;            /**< 1 to 100; 0: there are none */
    const char *const *units; /**< names or #index; "*": all */
    uint32_t unit_count;
    const char *const *episodes; /**< as people write them, or names of triggers; "*": all that are watched */
    uint32_t episode_count;
    const char *const *edges; /**< episodes of two units */
    uint32_t edge_count;
} sf_live_features;

/** Network bursts by ISI_N (Bakkum et al. 2014): runs of spikes of any units in which so many in a row last
 * no longer than this. `synfire bursts --network-method isi-n` tells what a recording has by the same rule.
 */
typedef struct sf_live_bursts {
    uint32_t spikes;  /**< 2 to 4096 */
    double within_ms; /**< 0: none are looked for */
    bool in_features; /**< bins of features count the spikes of bursts, too, from the one on by which each is
                         known */
} sf_live_bursts;

#define SF_LIVE_NO_MARKER "none"

/** Responses to stimuli, told as trials come: a response window after each marker beside windows of the same
 * length before it. `synfire responses` tells the same of a recording, by the same rules, and tests it. */
typedef struct sf_live_responses {
    const char *marker;    /**< its text, or ttl3 for a rising edge of line 3; "none": no
                                 responses are looked for */
    double from_ms, to_ms; /**< the window, after the marker */
    uint32_t baseline;     /**< windows before it, 1 to 100 */
    double bin_ms;         /**< of histograms */
    uint32_t every;        /**< a message each so many trials */
} sf_live_responses;

/** The branching ratio of the last spikes, by multistep regression, with its interval and when not to believe
 * it. `synfire criticality` tells the same of that part of a recording. */
typedef struct sf_live_criticality {
    double every_s;  /**< of the stream, from its first spike on; 0.1 or more; 0: it is not estimated */
    double length_s; /**< of what it is of: four times the longest lag at least */
    double bin_ms;   /**< 0.1 to 1000 */
    uint32_t lags;   /**< of its fit, in these bins */
} sf_live_criticality;

/** Times after markers of which nothing is analysed: stimulus artefacts. */
typedef struct sf_live_blank {
    const char *marker;    /**< its text, or ttl3 for a rising edge of line 3 */
    double from_ms, to_ms; /**< after it */
} sf_live_blank;

/** Of spikes that are at most `ms` apart, on one unit or on two at most `um` apart, the first is analysed. */
typedef struct sf_live_dedup {
    double ms; /**< 0: all are */
    double um;
} sf_live_dedup;

/** Which losses of a source disarm the triggers on its units, by the counts of sf_source_status. All but the
 * last are holes in the stream of known units: bins of features say so, and no test rests on the stretch. */
typedef struct sf_live_safe_loss {
    bool gaps;         /**< frames that the sender's numbering shows as missing */
    bool malformed;    /**< frames with a fault: truncated, overlong, unordered */
    bool late;         /**< spikes older than their lateness */
    bool dropped;      /**< spikes that found the ring full */
    bool leaps;        /**< spikes of times that were not believed */
    bool out_of_range; /**< spikes of unknown units; where it is set they count as holes, too */
} sf_live_safe_loss;

/** Of the stages of a hop. Results are the same. */
typedef enum sf_live_schedule {
    SF_LIVE_DERIVED,   /**< at once where what they read and change allows it, as `synfire plan` prints it */
    SF_LIVE_SEQUENTIAL /**< one after the other */
} sf_live_schedule;

typedef struct sf_message sf_message; /* below */

/**
 * What is analysed. Fill it by sf_live_options_default(); strings and arrays are borrowed until the run is
 * closed. The groups stay as they are while the library's soname does; what is new is added at the end of
 * this struct.
 */
typedef struct sf_live_options {
    size_t size;
    const char *stream; /**< the name that every message carries */
    sf_live_merge merge;
    sf_live_window window;
    const char *device;        /**< auto, cpu, cuda, cuda:N, cuda:all */
    const char *device_memory; /**< what jobs may take of it, as 8G; auto: most of what is free */
    sf_live_mine mine;
    const char *const
        *track; /**< episodes as people write them: counted every hop whatever discovery finds */
    uint32_t track_count;
    const char *const *watch; /**< episodes: a trigger the moment one completes */
    uint32_t watch_count;
    sf_live_graph graph;
    const sf_live_density *density;
    uint32_t density_count;
    const sf_live_source *sources; /**< that sf_live_push feeds; at least one */
    uint32_t source_count;
    uint32_t topics; /**< that sf_live_next gives: the sum of 1u << sf_topic of each; all */
    uint32_t queue;  /**< messages that may wait for sf_live_next, and as many triggers; 1024 */
    sf_ring_policy
        queue_policy; /**< block: the analysis waits for sf_live_next, and sf_live_push in the end */
    /**
     * Where not NULL: called the moment a watched episode completes, on the thread that watches or, with
     * watch_at_once, pushes. It must be
     * real-time safe: it may not wait, lock, allocate, or call the library, and copies what it keeps of the
     * message.
     */
    void (*on_trigger)(void *user, const sf_message *trigger);
    void *user; /**< of on_trigger */
    /** Reads the patterns under graph. NULL: those are names, or in the motif language; sf_motif_new: files,
     * too. */
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
    sf_live_safe_loss safe_loss; /**< all but out_of_range */
    sf_live_bursts bursts;
    sf_live_responses responses;
    /**
     * sf_live_push merges and watches what it was given by itself, where no other thread does at that moment:
     * a trigger waits for sf_live_next, and on_trigger was called, when it returns. For loops that answer
     * within their tick; large pushes hold up the caller. Not on a virtual clock, and only with a
     * queue_policy that does not wait for sf_live_next.
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

/** A density of this quantity with every default; `unit` or `episode` is to be set. Of a quantity that there
 * is not, sf_live_open refuses the density. */
SF_API sf_live_density sf_live_density_default(sf_quantity quantity);

/* ---- messages: rows and columns, read-only, which live as long as their message ---- */

typedef enum sf_topic {
    SF_TOPIC_EPISODES, /**< per hop: counts of the tracked episodes in the window */
    SF_TOPIC_TRIGGER,  /**< a watched episode completed */
    SF_TOPIC_DENSITY,
    SF_TOPIC_GRAPH,
    SF_TOPIC_STATUS,
    SF_TOPIC_DECISION,       /**< what became of the completion of a trigger with a name */
    SF_TOPIC_DELIVERY,       /**< what a sink that somebody may act on did with such a trigger */
    SF_TOPIC_FEATURES,       /**< what was counted in a bin */
    SF_TOPIC_FEATURES_NAMES, /**< what its numbers are of */
    SF_TOPIC_BURST,          /**< a network burst is known, or over */
    SF_TOPIC_RESPONSE,       /**< a trial around a stimulus is over */
    SF_TOPIC_CRITICALITY,    /**< the branching ratio of the last spikes */
    SF_TOPIC_COUNT
} sf_topic;

#define SF_TRIGGER_NAME_SIZE 128

/** Of a source or sink: its kind and its endpoint or its file's own name, which have at most 255 bytes. */
#define SF_STATUS_NAME_SIZE 272

typedef struct sf_episode_count {
    sf_episode episode;
    char id[SF_EPISODE_ID_SIZE];
    uint64_t count;
    double expected; /**< by rates, those of the window; NaN: not computed */
    /** Of the newest stretch of the stream that it was tested in; NaN, as the next two: there is none. */
    double p;
    double q;               /**< corrected for all that the run has looked at, over all stretches */
    double p_age_s;         /**< from the end of that stretch to that of the window */
    uint32_t tests;         /**< stretches that q is of */
    double least_q;         /**< the least that q can be after so many tests */
    const char *not_tested; /**< why there is no p, a literal; NULL: there is one */
    uint32_t standing;      /**< place among those that are told of by what stands out most, from 1 */
    /** The longer episode that with chance accounts for this one, as sf_mine folds; empty: none. */
    char folded_under[SF_EPISODE_ID_SIZE];
} sf_episode_count;

/** What is frequent and beyond the limits under significance: it is counted and not told of. */
typedef struct sf_left_out {
    double max_p, max_q; /**< the limits; 0: none */
    uint64_t count;
    uint64_t untested; /**< of these: those without a p, which no test has said anything of so far */
} sf_left_out;

/** What a rule says of a window. */
typedef struct sf_prediction {
    char rule[64]; /**< its name */
    char id[SF_EPISODE_ID_SIZE];
    uint64_t count;  /**< of its episode */
    char label[64];  /**< empty of a partial window, which says nothing */
    bool changed;    /**< the full window before had another label, */
    char before[64]; /**< this one; else empty */
} sf_prediction;

/** Windows are from <= time < to. A window that the stream began or ended inside is partial. */
typedef struct sf_episodes_message {
    uint64_t hop; /**< 0-based number of the hop */
    sf_span window;
    bool partial;
    uint64_t spikes; /**< in the window */
    size_t count;
    sf_episode_count *items;
    size_t counted; /**< episodes that are within the limits: `count` but where a sink is told fewer */
    /** Of those with a q of SF_SIGNIFICANT_Q or less, told of or not: `chains` are no part of another,
     * `parts` are folded under one of them, directly or by way of others. */
    size_t chains, parts;
    size_t rule_count;
    sf_prediction *rules; /**< in the order of the options */
    sf_left_out left_out;
    double list_age_s; /**< stream time from the end of the window that discovery found the episodes in to the
                          end of this one; NaN: discovery has found nothing yet */
} sf_episodes_message;

typedef struct sf_trigger_message {
    char id[SF_EPISODE_ID_SIZE];
    uint32_t size;
    int64_t spike_times_ns[SF_EPISODE_MAX_SIZE];
    uint64_t occurrence; /**< 1-based number of this completion of the episode in the run */
    double p, q;         /**< as in sf_episode_count, as of now: the test is of stretches before */
    double p_age_s;      /**< from the end of the stretch to the last spike */
    uint32_t tests;
    double least_q; /**< as in sf_episode_count */
    const char *not_tested;
    char name[SF_TRIGGER_NAME_SIZE]; /**< of an episode that is only watched: as configured, cut to fit */
    int64_t decided_ns; /**< monotonic clock when it was decided to send it; on a virtual clock stream time */
    int64_t expires_ns; /**< monotonic clock from which it is too old to act on; INT64_MAX: never */
    bool is_named;      /**< it is that of a trigger with a name, not of an episode that is only watched */
} sf_trigger_message;

/** What a sink did with a trigger that has a name. Its time_ns is that of the last spike. */
typedef struct sf_delivery_message {
    char name[SF_TRIGGER_NAME_SIZE]; /**< of the trigger */
    char sink[SF_STATUS_NAME_SIZE];
    uint64_t trigger_seq;
    const char *outcome; /**< a literal: "sent"; "failed"; "too old": it was kept, and the trigger disarmed */
    int64_t sent_ns;     /**< monotonic clock, when it was handed to the socket or line */
    double latency_ms;   /**< since its last spike was due */
} sf_delivery_message;

/** What became of a completion. Its time_ns is that of the last spike. */
typedef struct sf_decision_message {
    char name[SF_TRIGGER_NAME_SIZE]; /**< of the trigger */
    char id[SF_EPISODE_ID_SIZE];
    uint64_t occurrence;  /**< as of the trigger's message */
    const char *outcome;  /**< a literal: "sent"; "sham": as if it were sent; "withheld" */
    const char *reason;   /**< a literal, why it was withheld: "disarmed", "refractory", ...; else NULL */
    uint64_t trigger_seq; /**< of the trigger's message; 0: there is none */
    int64_t decided_ns;   /**< monotonic clock; on a virtual clock stream time */
    double wait_ms;       /**< from when its last spike was due to the decision */
} sf_decision_message;

typedef struct sf_density_message {
    sf_span window;
    char quantity[64]; /**< "isi", "delay <id> <link>", ... */
    double h;          /**< bandwidth, in the unit of the axis */
    bool log_axis;     /**< the axis is that of the quantity's natural logarithm, not of the quantity */
    double outside;    /**< the share of the samples' density that lies outside the grid */
    double grid_start, grid_step; /**< of the axis: middle of the first bin, width of each */
    size_t rows;                  /**< of a density over a plane: values are row after row; 0: over a line */
    double row_start, row_step;
    size_t count;   /**< of values */
    double *values; /**< averages over the bins: their sum times the step is 1 - outside */
} sf_density_message;

typedef struct sf_edge_change {
    uint32_t from, to;
    sf_delay delay;
    uint64_t count; /**< of an edge by tiling: 0 */
    double expected, p;
    double weight;          /**< count - expected, which is by rates; or the tiling coefficient */
    bool removed;           /**< the edge was in the last snapshot and is not in this one */
    double q, p_age_s;      /**< as in sf_episode_count; of a tiling p_age_s is NaN, as the next */
    double least_q;         /**< as in sf_episode_count */
    const char *not_tested; /**< why there is no p, a literal; or NULL */
} sf_edge_change;

/**
 * Result of a configured breadth-first query: units reached within the asked number of hops. The parent of a
 * unit is, of those that lead there in the fewest hops, the one whose path has the smallest delay: the sum of
 * the upper bounds of its edges' delays, then of the lower ones, then the smallest index.
 */
typedef struct sf_reach_result {
    uint32_t source;
    size_t count;
    uint32_t *units;
    uint32_t *levels;
    uint32_t *parents; /**< UINT32_MAX for the source */
    sf_delay *delays;  /**< from the source along the parents: sums of lower and of upper bounds */
} sf_reach_result;

/** How many units each unit reaches, itself included, and how many hops away the farthest of them is. */
typedef struct sf_reach_counts {
    uint32_t *reached, *depth; /**< by unit; NULL: not asked for */
} sf_reach_counts;

/** Units joined by edges in whatever direction. */
typedef struct sf_components_result {
    uint32_t count, largest; /**< components, a unit alone being one, and units of the largest */
    uint32_t *of_unit;       /**< by unit: the smallest unit of its component; NULL: not asked for */
} sf_components_result;

/** A count beside those in rewired graphs. They may be of an earlier window: making them takes time. */
typedef struct sf_motif_spread {
    uint32_t graphs; /**< 0: none yet */
    sf_span window;
    uint64_t count; /**< of this window's graph itself */
    double mean, sd, z;
} sf_motif_spread;

/** Result of a configured pattern. */
typedef struct sf_motif_result {
    char *pattern; /**< as the configuration has it */
    uint64_t count;
    bool truncated; /**< the search ran out of time: count is a lower bound */
    uint32_t size;  /**< units of an embedding */
    size_t kept;
    uint32_t *embeddings; /**< kept * size */
    sf_motif_spread spread;
} sf_motif_result;

/** How many sets of three units are joined in one of the 16 ways, as `synfire match` names them. */
typedef struct sf_triad_result {
    char name[8]; /**< "003" to "300" */
    uint64_t count;
    sf_motif_spread spread;
} sf_triad_result;

/** What a unit with an edge is like in the network, as in the table `network_units`. */
typedef struct sf_unit_measures {
    uint32_t unit;
    uint64_t degree;
    double strength;
    uint64_t module; /**< by weights; of this window alone */
} sf_unit_measures;

typedef struct sf_graph_message {
    sf_span window;
    bool is_tiling;    /**< edges are spike-time tiling coefficients, undirected, and have no counts */
    size_t unit_count; /**< of arrays by unit */
    double threshold;  /**< count from which a pair is an edge; NaN for a tiling */
    size_t edges;      /**< in the whole snapshot */
    size_t change_count;
    sf_edge_change *changes;
    size_t reach_count;
    sf_reach_result *reach;
    sf_reach_counts reach_all;
    sf_components_result components;
    size_t motif_count;
    sf_motif_result *motifs;
    size_t triad_count; /**< 0: the census was not asked for */
    sf_triad_result *triads;
    sf_left_out left_out;   /**< of edges: neither counted in `edges` nor searched */
    size_t pairs_tested;    /**< as in sf_graph_columns */
    double pairs_by_chance; /**< likewise */
    bool measured;          /**< measures of units came since the last message */
    double modularity;      /**< of their modules; NaN where no unit has an edge, or none was measured */
    size_t measure_count;
    sf_unit_measures *measures;
    sf_span measured_in; /**< the window that they are of: this one, or one before */
} sf_graph_message;

typedef enum sf_source_state {
    SF_SOURCE_LIVE,    /**< heard within the last second; of a recording, or in the end: not ended */
    SF_SOURCE_STALLED, /**< silent for longer */
    SF_SOURCE_LOST,    /**< silent for longer than its timeout */
    SF_SOURCE_ENDED,
    SF_SOURCE_FAILED /**< ended with an error */
} sf_source_state;

/** All spikes that came are, but for `ring_fill` and what waits for older ones, gone through or in one of
 * `held` to `leaps`; those of a unit's repeated instant are only where duplicates are dropped. */
typedef struct sf_source_status {
    char name[SF_STATUS_NAME_SIZE];
    sf_source_state state;
    int64_t silent_ns; /**< by wall clock, of a live source; else 0 */
    int64_t behind_ns; /**< its newest spikes came so long after they were due; -1: not known, as of a
                          recording */
    uint64_t spikes;   /**< that came */
    uint64_t held;     /**< spikes of times that are in doubt now */
    uint64_t late, duplicate, out_of_range, dropped; /**< spikes that did not enter, by cause */
    uint64_t leaps;                                  /**< spikes with a time that was not believed */
    int64_t missing_spikes; /**< that the sender says it sent and that did not come; -1: not known (yet) */
    uint64_t markers;       /**< that went through */
    uint64_t markers_late, markers_dropped, markers_left_out; /**< that did not; the last: not believed */
    int64_t missing_markers;                                  /**< as of spikes */
    uint64_t gaps;          /**< breaks in the source's own sequence numbers */
    uint64_t gap_lost;      /**< batches lost in them */
    uint64_t malformed;     /**< frames with a fault */
    uint64_t other_streams; /**< of other streams of its sender than the one that is read, left out */
    uint64_t restarts;      /**< new runs of its sender */
    uint64_t undone;        /**< times that were doubted, and that the stream did not go on from */
    uint64_t steps;         /**< of its clock ahead, that it went on from */
    uint64_t epochs;        /**< times that its clock began anew and was joined on */
    int64_t shift_ns;       /**< stream time less the source's own, in this epoch */
    uint32_t ring_fill, ring_size;
    int64_t lateness_max_ns;
    bool ended;
    const char *pulses; /**< of pulses that sources share, a literal: "reference" the others go by its clock;
                           else "searching", "ambiguous", "locked", "lost"; NULL: it shares none */
    int64_t pulse_ns;   /**< on the reference's clock: the newest that both have; INT64_MIN: none yet */
    int64_t offset_ns;  /**< the reference's clock less the source's own there */
    double drift_ppm;   /**< how much faster the reference's clock is; NaN before a lock, as the next */
    double residual_us; /**< root mean square of the pulses about this line */
    /** A literal: "curve": sender and receiver have shown their keys to each other; "none": whoever is at
     * that address is believed; NULL: it does not come over a network. */
    const char *authentication;
} sf_source_status;

/** How long something took that was done again and again, since the start. */
typedef struct sf_took {
    uint64_t count;                /**< times that it was done */
    double busy_ms;                /**< all of them together */
    double p50_ms, p99_ms, max_ms; /**< the first two at most 2 % off; NaN: it never was done */
} sf_took;

typedef struct sf_sink_status {
    char name[SF_STATUS_NAME_SIZE];
    uint64_t published, dropped, failed;
    uint32_t ring_fill, ring_size;
    uint64_t spikes, markers;           /**< raw, that a recorder has written; 0 of other sinks */
    uint64_t spikes_lost, markers_lost; /**< raw, that it could not */
    char state[16];                     /**< "ok", "failed": something could not be written or sent */
    char note[256];                     /**< what failed first; or empty */
    sf_took took;                       /**< publishing a message, without its time in the ring */
    uint64_t journal_bytes, syncs;      /**< of a recorder's journals, all together */
    double sync_max_ms;                 /**< the longest of these; NaN: there was none */
    double disk_left_s; /**< until the disk is full at the present rate; NaN: not known, or no recorder */
    int64_t refused;    /**< connections without a key that is let in; -1: nobody is asked for one */
} sf_sink_status;

typedef struct sf_stage_status {
    /** A literal: "count", "discover", "test", "pairs", "graph", "density", "publish"; "hop", all of them; of
     * "graph" "reach", "patterns" and "census"; beside the hops "mine" and "rewire", in the background;
     * "watch", which is done as spikes come: merging, watching, deciding on triggers, handing on. */
    const char *name;
    double last_ms, max_ms;
    double share;    /**< last_ms as a share of a hop; NaN of "watch" */
    char device[32]; /**< where it was done last: "cpu", "cuda:0"; empty: not yet, or in several places */
    uint64_t missed; /**< hops that took longer than a hop */
    sf_took took;    /**< by hop, without the newest */
} sf_stage_status;

/** completed = sent + sham + withheld + waiting */
typedef struct sf_trigger_status {
    char name[SF_TRIGGER_NAME_SIZE];
    const char *not_armed; /**< a literal, why; NULL: it is armed */
    double armed_s;        /**< how long it stays so; NaN: to the end, or it is not */
    const char *armed_by; /**< a literal, who armed it: "configuration", "control", "page"; NULL: it is not */
    double armed_at_s;    /**< when, in stream time; NaN: before the first spike, or it is not */
    uint64_t completed, sent, sham, withheld;
    uint32_t waiting; /**< for their delay */
    /** Completions a minute that are expected by rates: of its episode by units that fire independently at
     * their rates in the stream so far. Of one that follows another: how often that one would be sent then,
     * armed and with its q passed. NaN: not known, as before the first hop, and of rules. */
    double chance_per_min;
} sf_trigger_status;

#define SF_STATUS_STAGES 14

typedef struct sf_status_message {
    uint64_t spikes; /**< since the start */
    double rate_hz;  /**< all units, over what was observed of the window; NaN: nothing was */
    size_t unit_count;
    double *unit_rates_hz; /**< likewise, over what was observed of the unit */
    size_t source_count;
    sf_source_status *sources;
    size_t sink_count;
    sf_sink_status *sinks;
    size_t stage_count;
    sf_stage_status stages[SF_STATUS_STAGES];
    size_t tracked, watched, edges;
    double list_age_s;     /**< of the tracked episodes, as in sf_episodes_message */
    double list_every_s;   /**< stream time from the window of the list before to that of this one; NaN: there
                              was none */
    uint64_t lists_missed; /**< windows that mine.every asks for and that were not mined */
    uint64_t window_dropped;      /**< spikes that the window path had no room for */
    uint64_t watch_overflows;     /**< watched partial occurrences given up for want of room */
    char device[64];              /**< of the run: "cpu", "cuda:0" */
    char device_state[32];        /**< "ok", "sick": the CPU does its work */
    char device_note[256];        /**< how it failed, or why it refused the newest discovery; or empty */
    uint64_t device_memory;       /**< bytes that its jobs took at most */
    char counting_device[32];     /**< where the tracked episodes were counted */
    char discovery_device[32];    /**< where the newest discovery ran; empty before the first */
    double discovery_ms;          /**< how long it took; NaN before the first */
    char test_device[32];         /**< where the surrogates of the newest test were counted; empty before */
    bool last;                    /**< the run ends with this message */
    size_t tested;                /**< episodes and edges that the newest stretch gave a p */
    uint64_t tests, tests_missed; /**< stretches tested, and those that came while the last test went on */
    double test_ms, test_share;   /**< of the newest: how long it took, and that by the length of its stretch;
                                     NaN   before the first */
    double test_length_s;         /**< of a stretch; NaN: nothing is tested */
    const char *not_tested;       /**< why the newest stretch gave no p, a literal; or NULL */
    size_t trigger_count;         /**< those with a name, in the order of the options */
    sf_trigger_status *triggers;
    uint64_t decisions_lost; /**< that no message tells, for want of room */
    uint64_t features_lost;  /**< bins that no message tells, for want of room */
    /** Spikes that are recorded and not analysed: repeats, blanked after a marker, blanked after a trigger.
     */
    uint64_t dedup_dropped, blank_dropped, trigger_dropped;
    double run_s;                      /**< monotonic clock, since the pipeline was opened */
    double hop_ms;                     /**< how long a hop lasts */
    uint64_t window_fill, window_size; /**< spikes between watching and the windows, and room for them */
    sf_took latency; /**< from when a spike was due until it had been watched: of the oldest that come
                        together */
    int64_t
        control_refused; /**< as `refused` of a sink, of the control socket; -1 where there is none, too */
    /** Of the newest message of the topic criticality; NaN: there was none, or it is not known there. */
    double branching_ratio, branching_low, branching_high;
    double branching_at_s;        /**< end of the window that they are of */
    char branching_cautions[128]; /**< why they may not be believed, in words, as "drift, long"; or empty */
    uint64_t branching_missed;    /**< as `missed` of such a message, by now */
} sf_status_message;

/** One bin; every number from 0 on comes once, but where one is lost or a silence is passed over. */
typedef struct sf_features_message {
    uint64_t bin;
    sf_span window;
    bool partial; /**< the last one, which the stream ended in */
    bool lost; /**< a source lost something in it, fell silent, or its recording pauses: spikes may be missing
                */
    size_t count;
    uint32_t *values; /**< spikes of units, then completions of episodes, then those of edges */
} sf_features_message;

typedef struct sf_features_names_message {
    int64_t bin_ns;
    size_t units, episodes, edges; /**< so many of the names are of each, in this order */
    size_t count;
    char **names;
} sf_features_names_message;

/** Its time_ns is that of the spike by which it is known, or the last time at which a spike could have been
 * of it. */
typedef struct sf_burst_message {
    const char *event; /**< "begin", "end" */
    uint64_t burst;    /**< number in the run, from 0 */
    int64_t first_ns;
    int64_t last_ns; /**< its last spike, of one that begins so far, as the next two */
    uint64_t spikes;
    uint64_t units; /**< that fire in it */
} sf_burst_message;

/** Of a unit, in all trials so far. */
typedef struct sf_response_unit {
    uint32_t unit;
    uint64_t spikes;             /**< in response windows */
    uint64_t baseline_spikes;    /**< in all windows before markers */
    double reliability;          /**< share of trials with a spike in the response window */
    double baseline_reliability; /**< share of the windows before with one */
    double latency_ms;           /**< first spike after the marker, median; NaN: there is none */
    double jitter_ms;            /**< standard deviation of these; NaN of fewer than two */
    size_t bin_count;
    uint64_t *bins; /**< its histogram around the marker; in the block of its message */
} sf_response_unit;

/** Of an episode that is watched: its occurrences, by their first spikes. */
typedef struct sf_response_chain {
    char id[SF_EPISODE_ID_SIZE];
    char name[SF_TRIGGER_NAME_SIZE]; /**< of its trigger, or the episode as configured, cut to fit */
    sf_response_unit counts;         /**< as of a unit, which there is none of */
} sf_response_chain;

/** Its time_ns is when the windows and the histogram of the trial are over, and what is watched can no longer
 * complete that began in them. */
typedef struct sf_response_message {
    char marker[SF_MARKER_TEXT_SIZE]; /**< the stimulus, as the options have it */
    int64_t marker_ns;                /**< of this trial */
    uint64_t trials,
        markers;    /**< so far: of these markers, those whose windows were recorded at some offset */
    double exposed; /**< share of the windows of this trial that was recorded and not blanked */
    uint64_t spikes, baseline_spikes; /**< of all units in this trial */
    uint64_t answers;                 /**< units with a spike in its response window */
    int64_t exposed_ns;               /**< of all response windows so far */
    uint64_t baseline_windows;        /**< before each marker */
    int64_t first_ns, bin_ns;         /**< where the first bin begins, after the marker, and its length */
    size_t bin_count;
    int64_t *bin_exposed_ns; /**< of each bin, in all trials so far */
    size_t unit_count;
    sf_response_unit *units;
    size_t chain_count;
    sf_response_chain *chains; /**< of all that is watched */
    uint64_t *bins;            /**< the histograms of units and chains, one block */
} sf_response_message;

/** Why a number may not be believed. */
typedef struct sf_live_caution {
    const char *caution; /**< in a word, a literal */
    char text[200];      /**< in a sentence */
} sf_live_caution;

/** As the tables `criticality` and `criticality_cautions` of that part of a recording. What is not known is
 * NaN. */
typedef struct sf_criticality_message {
    sf_span window;
    bool partial; /**< the stream began in the window */
    uint64_t spikes;
    double duration_s; /**< of the window, what was recorded and not blanked */
    double branching_ratio, branching_low, branching_high;
    double branching_ratio_conventional;
    double timescale_s, timescale_low_s, timescale_high_s;
    double own_share;
    uint64_t lags, blocks; /**< that the ratio was fitted to, and that the interval was drawn from */
    uint64_t missed;       /**< windows that were due while the one before was still looked at, so far */
    size_t caution_count;
    sf_live_caution *cautions;
} sf_criticality_message;

struct sf_message {
    sf_topic topic;
    uint64_t seq;       /**< per topic, from 1 without holes */
    int64_t time_ns;    /**< stream clock: the end of the window, or the time of the trigger's last spike */
    int64_t arrival_ns; /**< monotonic clock when the newest spike in it was due: of a live stream by its own
                           time, else when it arrived; 0: no spike yet */
    int references;     /**< the library's own */
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
 * A run of analyses, with threads of its own. sf_live_push and sf_live_mark may be called for each source by
 * one thread at a time, sf_live_next by one thread, which may be the same; all else by one thread while no
 * other call runs.
 */
typedef struct sf_live sf_live;

/** Starts. SF_CONFIG with the option that is wrong, as "watch.0", for its place. */
SF_API int sf_live_open(sf_live **live, const sf_live_options *options, sf_error *error);

/**
 * Hands spikes of one source over, in time order, with its own unit numbers; watermark_ns: nothing before it
 * will follow, INT64_MIN: nothing is promised, INT64_MAX: the source has ended. A window is told once the
 * watermarks of all sources have passed it. Real-time safe. SF_AGAIN where a ring that blocks has no room:
 * nothing was taken; call sf_live_next, or wait a little, and push the same again. SF_END where the run has
 * ended. SF_USAGE for more spikes at once than a ring that blocks holds, or no such source.
 */
SF_API int sf_live_push(sf_live *live, uint32_t source, const sf_spike *spikes, size_t count,
                        int64_t watermark_ns, sf_error *error);

/** The same with markers, which recorders get; not older than the spikes that were pushed. */
SF_API int sf_live_mark(sf_live *live, uint32_t source, const sf_marker *markers, size_t count,
                        sf_error *error);

/**
 * The next message, which is the caller's until sf_message_release; waits timeout_ms for one. SF_AGAIN where
 * none came, SF_END after the last. Messages of a topic are in order, triggers may overtake others; what a
 * full queue dropped shows as a hole in `seq`. A run that fails ends; sf_live_close says why.
 */
SF_API int sf_live_next(sf_live *live, sf_message **message, int timeout_ms, sf_error *error);

/**
 * sf_live_push, and then of the triggers that wait the oldest `most`, as sf_live_next gives them, in one call
 * that allocates nothing: for loops that answer within their tick. `triggers` is the caller's memory, which
 * is not released; *taken: how many came, 0 where the push was not taken. Returns what sf_live_push does. By
 * the thread that calls sf_live_next, for which other messages wait. With watch_at_once what these spikes
 * complete is among the triggers, unless another thread was just watching: then it comes with a later call,
 * which may push no spikes.
 */
SF_API int sf_live_tick(sf_live *live, uint32_t source, const sf_spike *spikes, size_t count,
                        int64_t watermark_ns, sf_message *triggers, size_t most, size_t *taken,
                        sf_error *error);

/** Frees with the last reference. NULL is allowed. Any thread. */
SF_API void sf_message_release(sf_message *message);

/** A message of this run as one JSON object (docs/messages.md), to be released by sf_release. Any thread. */
SF_API int sf_live_json(const sf_live *live, const sf_message *message, char **json, sf_error *error);

/** The name of a unit in the run's own numbering; NULL beyond the last. Any thread. */
SF_API const char *sf_live_unit_name(const sf_live *live, uint32_t unit);

/** Writes an episode of this run as people write it into `size` bytes, cut to fit and NUL-terminated where
 * size is not 0. Returns its whole length without the NUL; 0: no memory. Any thread. */
SF_API size_t sf_live_print_episode(const sf_live *live, const sf_episode *episode, char *text, size_t size);

/** No source goes on: what was pushed is worked off, and sf_live_next gives what comes of it and then SF_END.
 */
SF_API void sf_live_finish(sf_live *live);

/** Finishes, drops the messages that nobody took, and frees. The first failure of the run, if any. NULL is
 * allowed. */
SF_API int sf_live_close(sf_live *live, sf_error *error);

/* ---- decoding: the bytes of a live system's stream become spikes, without a socket ---- */

/**
 * Makes spikes of what a live system sends; how its bytes come is the caller's: ZeroMQ, WebSockets, TCP, a
 * file. Feed, then take until SF_AGAIN, then feed again; sf_live_push takes what was taken. One thread at a
 * time.
 */
typedef struct sf_decoder sf_decoder;

/** Set `size`; a field that is zero stands for what its comment says. All is copied. */
typedef struct sf_decoder_options {
    size_t size;
    const char *protocol; /**< "synfire" (docs/wire.md), or one of docs/rigs.md; NULL: "synfire" */
    const char *name;     /**< of the stream in sentences and in the log; NULL: "the stream" */
    /* Of a rig, what its stream does not tell itself. */
    double sample_rate_hz; /**< 0: as the stream tells, or as such rigs have it */
    const sf_unit *units;  /**< its electrodes; NULL: those of which is heard within learn_s */
    size_t unit_count;
    const int32_t *channels; /**< of each of these the number the rig has for it; NULL: only names tell */
    double learn_s;          /**< of stream time; 0: 5 s */
    const char *stream;      /**< of a sender of several streams: which; NULL: the first that is heard of */
    const char *layout;      /**< of a rig that has several, as docs/rigs.md names them; NULL: found out */
} sf_decoder_options;

/** options NULL: synfire's own protocol. SF_USAGE for an unknown one. */
SF_API int sf_decoder_open(sf_decoder **out, const sf_decoder_options *options, sf_error *error);

/** What ends with the bytes that are fed. A decoder is fed with messages or with a stream of bytes. */
typedef enum sf_feed {
    SF_FEED_MESSAGE, /**< a message, as ZeroMQ and WebSockets hand them over */
    SF_FEED_PART,    /**< a part of a message; the next one follows */
    SF_FEED_BYTES    /**< nothing: they are of a stream of bytes (TCP, a file), cut wherever it was */
} sf_feed;

/**
 * Hands bytes over, which are copied. SF_AGAIN where what was fed before is not all taken: nothing was
 * accepted; call sf_decoder_take, and feed the same again. SF_END after the stream's end. SF_USAGE for a
 * stream of bytes of a protocol that comes in messages, or for the one after the other. A stream of bytes is
 * found again after what is no frame; messages tell more surely what is damaged.
 */
SF_API int sf_decoder_feed(sf_decoder *decoder, const void *bytes, size_t size, sf_feed how, sf_error *error);

/** What a stream tells in one go. Set `size` before sf_decoder_take; arrays and strings live until it is
 * called again, what is of the stream as long as the decoder. */
typedef struct sf_decoded {
    size_t size;
    const sf_spike *spikes; /**< in time order, with units of the table */
    size_t spike_count;
    const sf_marker *markers; /**< in time order */
    size_t marker_count;
    int64_t watermark_ns; /**< nothing before it will follow; INT64_MIN: nothing is promised */
    /* What happened since the last batch. */
    uint64_t malformed;      /**< frames that could not be read and were left out */
    const char *fault;       /**< what was wrong with the last of them, or NULL */
    uint64_t out_of_range;   /**< spikes of units that are not in the table, left out */
    uint64_t gaps, gap_lost; /**< breaks in the stream's own numbering, and frames lost in them */
    uint64_t restarts;       /**< new runs of the sender, with the same units: times may begin anew */
    int64_t missing_spikes;  /**< that the sender says it sent and that did not come; -1: not known (yet) */
    int64_t missing_markers; /**< likewise */
    /* The stream, once its sender has told of it; there are no spikes before. */
    bool is_known;
    const char *name;
    size_t unit_count;
    const sf_unit *units;
    size_t metadata_count;
    const sf_metadata_entry *metadata;
    bool virtual_clock;     /**< its time is not real time: as fast as possible */
    uint64_t other_streams; /**< what came, since the last batch, of streams that are not read */
} sf_decoded;

/**
 * The next of what was fed; the first one makes the stream known. SF_AGAIN: more must be fed. SF_END: the
 * stream has ended in order. A frame that cannot be read is left out and counted. SF_DATA for a stream that
 * nothing can be made of: another version of the protocol, or a sender that starts again with other units;
 * close the decoder then.
 */
SF_API int sf_decoder_take(sf_decoder *decoder, sf_decoded *decoded, sf_error *error);

SF_API void sf_decoder_close(sf_decoder *decoder); /**< NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
