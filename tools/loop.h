/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The round trip of a rig: pulses go out as triggers do, and come back as TTL edges or markers in the stream.
 * One pulse is under way at a time; their distances are drawn at random, so that they fall anywhere in the
 * blocks that an amplifier sends. Times are by one monotonic clock: when it was decided to send, and when the
 * bytes with the edge arrived.
 */
#ifndef SF_TOOLS_LOOP_H
#define SF_TOOLS_LOOP_H

#include "core/outlet.h"
#include "live/run.h"
#include "window/source.h"

typedef struct sf_run_loop_options {
    const sf_config *config;
    uint32_t source;     /**< index: its stream brings the pulses back */
    uint32_t sink;       /**< index; UINT32_MAX: the first of those that somebody may act on */
    const char *trigger; /**< NULL: the name of the configuration's first, or "loop" */
    const char *marker;  /**< what comes back: ttl0, or the text of a marker */
    uint32_t pulses;
    double apart_ms, wait_ms;
    uint64_t seed;
    const sf_progress *progress; /**< may end it; or NULL */
} sf_run_loop_options;

/** pulses = answered + lost + failed. Free with sf_run_trips_free. */
typedef struct sf_run_trips {
    uint32_t pulses;                   /**< that were sent */
    uint32_t answered;                 /**< in time */
    uint32_t lost;                     /**< no answer in time */
    uint32_t failed;                   /**< the sink could not send them */
    uint32_t unexpected;               /**< answers when no pulse was under way: late ones, or others' */
    double *ms;                        /**< of each that was answered, ascending */
    double median_ms, p99_ms, most_ms; /**< NaN: none was answered */
    char source[SF_STATUS_NAME_SIZE], sink[SF_STATUS_NAME_SIZE];
    char authentication[8]; /**< of the source, as in a status; empty: it does not come over a network
                             */         /**< where */
} sf_run_trips;

/**
 * Sends pulses by a sink of the configuration and waits for each in the stream of a source; no pipeline runs.
 * SF_CONFIG; SF_USAGE for an index or sink that will not do; SF_UNAVAILABLE where the source ends;
 * SF_CANCELLED, with what there was until then.
 */
int sf_run_loop(sf_run_trips *trips, const sf_run_loop_options *options, sf_error *error);
void sf_run_trips_free(sf_run_trips *trips);

/* ---- its parts ---- */

typedef struct sf_loop_setup {
    sf_source *source;   /**< read by the calling thread; borrowed, as all here */
    sf_outlet outlet;    /**< gets the triggers; its kind has `trigger` */
    const char *trigger; /**< their name */
    const char *marker;  /**< what comes back, as under `blank`: ttl3, or the text of a marker */
    uint32_t pulses;
    int64_t apart_ns; /**< on average, from an answer to the next pulse */
    int64_t wait_ns;  /**< an answer that takes longer is lost */
    uint64_t seed;
    const sf_progress *progress;   /**< may end it; or NULL */
    int64_t (*now_ns)(void *user); /**< NULL: the monotonic clock */
    void *user;                    /**< of now_ns */
} sf_loop_setup;

/** Fills in `trips`, room for `pulses`, and the rest. SF_CANCELLED; SF_UNAVAILABLE where the source ends. */
int sf_loop_run(sf_run_trips *trips, const sf_loop_setup *setup, sf_error *error);

#endif
