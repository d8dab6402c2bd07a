/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A hop as an algorithm: stages that work on one model. Each stage is in pipeline/stages/ and declares at its
 * top what it reads (In) and changes (Out), in the terms of plan/; pipeline/schedule.h derives the possible
 * orders from that. A stage gets only this call and reaches the elements of the model only through it, so
 * that a test sees every access.
 */
#ifndef SF_PIPELINE_HOP_H
#define SF_PIPELINE_HOP_H

#include "analysis/quantity.h"
#include "core/message.h"
#include "core/thread.h"
#include "pipeline/times.h"
#include "plan/operation.h"

/** Merged spikes in stream order, not yet fed. */
typedef struct sf_hop_batch {
    const sf_spike *spikes;
    size_t count;
} sf_hop_batch;

/** Rates of every unit, in the newest window and in the stream so far. */
typedef struct sf_hop_rates {
    uint64_t *spikes;
    double *hz;                  /**< over what was observed of the unit in the window; NaN if nothing was */
    int64_t observed_ns;         /**< the time in the window during which all units were observed */
    uint64_t *so_far;            /**< spikes in the stream so far, each counted once ... */
    int64_t so_far_ns;           /**< ... and the time so far during which all units were observed */
    const sf_observed *observed; /**< as in sf_hops_options */
    size_t observed_count;
} sf_hop_rates;

/** What the window path asks of the threads before it. */
typedef struct sf_hop_sources {
    /** Returns a number that grows with everything that makes the stream leap or lose spikes; or NULL. */
    uint64_t (*breaks)(void *user);
    /** Adds sources, watched episodes and triggers to a status. */
    int (*complete_status)(void *user, const sf_hop_rates *rates, sf_status_message *status, sf_error *error);
    void *user;
} sf_hop_sources;

/** Named triggers, on which the front thread decides. */
typedef struct sf_hop_triggers {
    /** Reports the event that trigger `index` waits for. Any thread; false if the queue to the front is full.
     */
    bool (*fire)(void *user, uint32_t index, int64_t time_ns, int64_t arrival_ns);
    void *user;
} sf_hop_triggers;

/** The newest window: positions begin .. end - 1 of the history. */
typedef struct sf_hop_window {
    sf_span span;
    uint64_t begin, end;
} sf_hop_window;

/** Counts of the tracked episodes, in the newest window. */
typedef struct sf_hop_counts {
    uint64_t *items;
    size_t capacity;
} sf_hop_counts;

/** The model: what the window path keeps from one hop to the next. */
#define SF_HOP_MODEL(ELEMENT)                                                                                \
    ELEMENT(QUEUE, queue, struct sf_hop_batch)            /* spikes that the merge has put in order */       \
    ELEMENT(SOURCES, sources, struct sf_hop_sources)      /* how they are */                                 \
    ELEMENT(HISTORY, history, struct sf_history)          /* the spikes that windows still need */           \
    ELEMENT(DEVICE, device, struct sf_accelerator)        /* the window on the device */                     \
    ELEMENT(SUMMARIES, summaries, struct sf_counting)     /* of segments, for each tracked episode */        \
    ELEMENT(WINDOW, window, struct sf_hop_window)         /* where the newest is */                          \
    ELEMENT(RATES, rates, struct sf_hop_rates)            /* spikes of each unit in it */                    \
    ELEMENT(PAIRS, pairs, struct sf_pairing)              /* counts of all, in it */                         \
    ELEMENT(TRACKED, tracked, struct sf_tracked_episodes) /* the table of tracked episodes */                \
    ELEMENT(COUNTS, counts, struct sf_hop_counts)         /* of each, in the window */                       \
    ELEMENT(FOUND, found, struct sf_discovery)            /* what mining found */                            \
    ELEMENT(TESTS, tests, struct sf_testing)              /* stretches, and what tests of them say */        \
    ELEMENT(RULES, rules, struct sf_predictions)          /* what rules said last */                         \
    ELEMENT(GRAPH, graph, struct sf_connections)          /* the newest, queries on it */                    \
    ELEMENT(DENSITIES, densities, struct sf_densities)    /* one state for each that is configured */        \
    ELEMENT(TRIGGERS, triggers, struct sf_hop_triggers)   /* what they are told to decide on */              \
    ELEMENT(SINKS, sinks, struct sf_publisher)            /* what was published */

#define SF_HOP_ENUMERATOR(NUMBER, name, type) SF_HOP_##NUMBER,
typedef enum sf_hop_element { SF_HOP_MODEL(SF_HOP_ENUMERATOR) SF_HOP_ELEMENTS } sf_hop_element;

/** The rounds of a stage whose work is a loop: what the round for one element reads and changes. Rounds that
 * may run on copies may be divided: a device, or a rank, does its share alone. */
typedef struct sf_stage_rounds {
    const char *loop, *round;         /**< their names; NULL: the work is no loop */
    const char *variable, *from, *to; /**< as in sf_plan_declared, like the next two */
    const char *in, *out;             /**< of one round: part of what the stage reads and changes */
} sf_stage_rounds;

typedef struct sf_hop sf_hop;

typedef struct sf_stage {
    const char *name;
    const char *in, *out; /**< as in sf_plan_declared; NULL: nothing */
    sf_stage_rounds rounds;
    sf_hop_part part; /**< the part of a status that shows its time */
    int (*run)(sf_hop *hop, sf_error *error);
} sf_stage;

/** The messages of one stage, held until they are published in the order of the stages. */
typedef struct sf_outbox {
    sf_message **items;
    size_t count, capacity;
    bool failed; /**< memory was out: a message is missing */
} sf_outbox;

/** Called at every access, from any thread. */
typedef struct sf_hop_recorder {
    void (*seen)(void *user, const sf_stage *stage, sf_hop_element element, sf_plan_operation operation);
    void *user;
} sf_hop_recorder;

/** The argument of a stage. Everything except the model is constant throughout a run, or a hop. */
struct sf_hop {
    const sf_live_options *config;
    const sf_units *units;
    bool virtual_clock;               /**< discovery and tests run inside their hop */
    const struct sf_segment *segment; /**< the segment that ends now; NULL between two hops */
    int64_t arrival_ns;               /**< monotonic clock when the newest spike arrived */
    bool last;                        /**< the stream has ended */
    const sf_times *times;            /**< of the stages before this one */
    int64_t *parts_ns; /**< SF_PARTS entries: the stage adds the durations of its parts, if any */
    const sf_stage *stage;
    void *const *model; /**< the elements, by number */
    sf_outbox *outbox;
    const sf_hop_recorder *recorder; /**< or NULL */
    sf_team *team; /**< team for the stage that publishes all tracked episodes; NULL: they are few */
};

/** Returns an element for an operation, and records the access. */
static inline void *sf_hop_reach(const sf_hop *hop, sf_hop_element element, sf_plan_operation operation)
{
    if (hop->recorder != NULL) hop->recorder->seen(hop->recorder->user, hop->stage, element, operation);
    return hop->model[element];
}

/* sf_read_NAME returns an element for extraction, sf_change_NAME for one of the other operations. */
#define SF_HOP_ACCESS(NUMBER, name, type)                                                                    \
    static inline const type *sf_read_##name(const sf_hop *hop)                                              \
    {                                                                                                        \
        return sf_hop_reach(hop, SF_HOP_##NUMBER, SF_PLAN_EXTRACT);                                          \
    }                                                                                                        \
    static inline type *sf_change_##name(const sf_hop *hop, sf_plan_operation operation)                     \
    {                                                                                                        \
        return sf_hop_reach(hop, SF_HOP_##NUMBER, operation);                                                \
    }
SF_HOP_MODEL(SF_HOP_ACCESS)

/** Publishes a message to the sinks, when it is the stage's turn. Takes ownership of the message; NULL is
 * ignored. If memory is out the stage has failed. */
void sf_hop_publish(sf_hop *hop, sf_message *message);

/** The names of the elements separated by spaces: trees of the plan. */
extern const char sf_hop_trees[];

/* The stages. */
extern const sf_stage sf_stage_feed, sf_stage_take, sf_stage_slide, sf_stage_drop; /* spikes.c */
extern const sf_stage sf_stage_count;                                              /* count.c */
extern const sf_stage sf_stage_pairs;                                              /* pairs.c */
extern const sf_stage sf_stage_mine, sf_stage_track;                               /* discover.c */
extern const sf_stage sf_stage_test, sf_stage_begin;                               /* test.c */
extern const sf_stage sf_stage_tell, sf_stage_report;                              /* tell.c */
extern const sf_stage sf_stage_graph;                                              /* graph.c */
extern const sf_stage sf_stage_density;                                            /* density.c */

#endif
