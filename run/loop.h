/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The round trip of a rig: pulses go out as triggers do, and come back as TTL edges or markers in the stream.
 * One pulse is under way at a time; their distances are drawn at random, so that they fall anywhere in the
 * blocks that an amplifier sends. Times are by one monotonic clock: when it was decided to send, and when the
 * bytes with the edge arrived.
 */
#ifndef SF_RUN_LOOP_H
#define SF_RUN_LOOP_H

#include "core/outlet.h"
#include "run/run.h"
#include "window/source.h"

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
