/* SPDX-License-Identifier: Apache-2.0 */
/** A live run as a configuration describes it: its sources and sinks opened, around the pipeline. */
#ifndef SF_LIVE_RUN_H
#define SF_LIVE_RUN_H

#include "live/config.h"
#include "pipeline/live.h"

typedef struct sf_run_options {
    const sf_config *config; /**< borrowed until close */
    /** Where not NULL: replayed in place of the configured sources; borrowed until close. */
    const sf_recording *recording;
    bool without_sources;            /**< of sf_run_check: what they read is to be made before the run */
    double speed;                    /**< of `recording`; 0: max */
    int64_t duration_ns;             /**< of stream time, from the first spike; 0: to the end */
    uint64_t handoff_room;           /**< as of sf_pipeline_options */
    const sf_provenance *provenance; /**< of the results; borrowed until close; or NULL */
    const sf_progress *progress;     /**< may end the wait for live sources; or NULL */
    /** Where not NULL: told before live sources are waited for, once all that was refused without them was.
     */
    void (*waits)(void *user);
    /** Where not NULL: told of each sink that was opened, and where it is bound. */
    void (*opened)(void *user, const char *name, const char *address);
    void *user; /**< of waits and opened */
    /** Where not NULL: makes the configuration anew, as `config` was made, for the command `reload`; freed by
     * the run. On the thread of the control socket. */
    int (*configure)(void *user, sf_config *next, sf_error *error);
    void *configure_user;
    sf_outlet outlet; /**< gets all messages too, and is closed with the run; its kind may be NULL */
} sf_run_options;

/**
 * Opens sources (waiting for the unit table of live ones), resolves units and episodes, opens sinks, and
 * starts. Sources are read from the first sf_live_next on; the configuration's `live` says what that gives.
 */
int sf_run_live(sf_live **live, const sf_run_options *options, sf_error *error);

/** A run whose pipeline the caller follows itself. */
typedef struct sf_run sf_run;

/** As sf_run_live, but nothing runs yet. */
int sf_run_open(sf_run **out, const sf_run_options *options, sf_error *error);

/** To start, wait for and stop; the run closes it. */
sf_pipeline *sf_run_pipeline(const sf_run *run);

/** Closes the pipeline with all its sinks, and frees. The first failure of the run, if any. NULL is allowed.
 */
int sf_run_close(sf_run *run, sf_error *error);

/** Opens a run as far as nobody has to be met for it, which is what sf_run_open begins with, and closes it
 * again: recordings, keys, tokens, electrodes and rules are read, addresses looked at, and the pipeline is
 * opened; nothing is bound, connected or written. Without sources, or with live ones, any unit that is named
 * may be. Fails as sf_run_open. */
int sf_run_check(const sf_run_options *options, sf_error *error);

#endif
