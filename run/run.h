/* SPDX-License-Identifier: Apache-2.0 */
/** A live run as a configuration describes it: its sources and sinks opened, around the pipeline. */
#ifndef SF_RUN_RUN_H
#define SF_RUN_RUN_H

#include "pipeline/live.h"
#include "run/config.h"

typedef struct sf_run_options {
    const sf_config *config; /**< borrowed until close */
    /** Where not NULL: replayed in place of the configured sources; borrowed until close. */
    const sf_recording *recording;
    double speed;                    /**< of `recording`; 0: max */
    int64_t duration_ns;             /**< of stream time, from the first spike; 0: to the end */
    uint64_t handoff_room;           /**< as of sf_pipeline_options */
    const sf_provenance *provenance; /**< of the results; borrowed until close; or NULL */
    const sf_progress *progress;     /**< may end the wait for live sources; or NULL */
    /** Where not NULL: told of each sink that was opened, and where it is bound. */
    void (*opened)(void *user, const char *name, const char *address);
    void *user; /**< of opened */
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

/** Opens the pipeline as the run would and closes it again, without sources and sinks: what is refused there
 * is refused here. `recording`: the one that is to be replayed; NULL: the units are those that the
 * configuration names. SF_CONFIG, and as sf_pipeline_open. */
int sf_run_check(const sf_config *config, const sf_recording *recording, sf_error *error);

/* ---- a rig ---- */

struct sf_tool_checks; /* run/tool.h */

typedef struct sf_run_rig_options {
    const sf_config *config; /**< its first source is the rig, of a protocol of ingest/protocol.h */
    double listen_s;
    const char *ask; /**< of Intan RHX: its command socket, which is asked for the sampling rate; or NULL */
    const sf_progress *progress; /**< may end it; or NULL */
} sf_run_rig_options;

/**
 * Listens to a rig as a run would, and says what was found of it; `checks` is begun anew. Where nothing came
 * of a server that takes several clients, it is connected to once more, to see whether anybody answers;
 * nothing is sent by that. It takes listen_s, and 3 s more at most beside what names take to look up.
 * With `ask` one question is sent there, and an answer waited for 3 s at most. SF_USAGE where the source is
 * no rig or cannot be asked; SF_CONFIG; SF_CANCELLED.
 */
int sf_run_doctor_rig(struct sf_tool_checks *checks, const sf_run_rig_options *options, sf_error *error);

/** The kind of source of a rig by its name in a configuration. SF_USAGE with all names. */
int sf_run_rig_find(const sf_source_kind **kind, const char *name, sf_error *error);

/* ---- round trips ---- */

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

#endif
