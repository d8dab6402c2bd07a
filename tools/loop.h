/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The round trip of a rig: pulses are sent like triggers, and return as TTL edges or markers in the stream.
 * One pulse is in flight at a time; intervals are random, so that pulses fall anywhere in the blocks that an
 * amplifier sends. Both times are on one monotonic clock: when sending was decided, and when the bytes with
 * the edge arrived.
 */
#ifndef SF_TOOLS_LOOP_H
#define SF_TOOLS_LOOP_H

#include "core/outlet.h"
#include "live/run.h"
#include "window/source.h"

typedef struct sf_run_loop_options {
    const sf_config *config;
    uint32_t source;     /**< index of the source whose stream returns the pulses */
    uint32_t sink;       /**< index; UINT32_MAX: the first sink on which somebody may act */
    const char *trigger; /**< NULL: the name of the configuration's first, or "loop" */
    const char *marker;  /**< what returns: ttl0, or the text of a marker */
    uint32_t pulses;
    double apart_ms, wait_ms;
    uint64_t seed;
    const sf_progress *progress; /**< may stop it; or NULL */
} sf_run_loop_options;

/** pulses = answered + lost + failed. Free with sf_run_trips_free. */
typedef struct sf_run_trips {
    uint32_t pulses;                   /**< sent */
    uint32_t answered;                 /**< in time */
    uint32_t lost;                     /**< no answer in time */
    uint32_t failed;                   /**< the sink could not send them */
    uint32_t unexpected;               /**< answers while no pulse was in flight: late ones, or others' */
    double *ms;                        /**< of each answered pulse, ascending */
    double median_ms, p99_ms, most_ms; /**< NaN: none was answered */
    char source[SF_STATUS_NAME_SIZE], sink[SF_STATUS_NAME_SIZE];
    char authentication[8]; /**< of the source, as in a status; empty: it does not come over a network
                             */
} sf_run_trips;

/**
 * Sends pulses by a sink of the configuration and waits for each in the stream of a source; no pipeline runs.
 * SF_CONFIG; SF_USAGE for an unsuitable index or sink; SF_UNAVAILABLE if the source ends; SF_CANCELLED, with
 * the results so far.
 */
int sf_run_loop(sf_run_trips *trips, const sf_run_loop_options *options, sf_error *error);
void sf_run_trips_free(sf_run_trips *trips);

/* ---- its parts ---- */

typedef struct sf_loop_setup {
    sf_source *source;   /**< read by the calling thread; borrowed, like everything here */
    sf_outlet outlet;    /**< receives the triggers; its kind has `trigger` */
    const char *trigger; /**< their name */
    const char *marker;  /**< what returns, as under `blank`: ttl3, or the text of a marker */
    uint32_t pulses;
    int64_t apart_ns; /**< mean time from an answer to the next pulse */
    int64_t wait_ns;  /**< a later answer counts as lost */
    uint64_t seed;
    const sf_progress *progress;   /**< may stop it; or NULL */
    int64_t (*now_ns)(void *user); /**< NULL: the monotonic clock */
    void *user;                    /**< passed to now_ns */
} sf_loop_setup;

/** Runs the round trips; `trips` has room for `pulses`. SF_CANCELLED; SF_UNAVAILABLE if the source ends. */
int sf_loop_run(sf_run_trips *trips, const sf_loop_setup *setup, sf_error *error);

#endif
