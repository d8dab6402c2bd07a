/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Responses to stimuli as trials come: each is told once its windows and its histogram are over, with all
 * trials so far, and equals what `synfire responses` finds of the same trials (analysis/responses.h). Trials
 * are counted beside the hops, one after the other; those that are over meanwhile wait. Window thread.
 */
#ifndef SF_PIPELINE_TRIALS_H
#define SF_PIPELINE_TRIALS_H

#include "analysis/responses.h"
#include "pipeline/background.h"
#include "pipeline/inputs.h"
#include "pipeline/options.h"
#include "pipeline/publisher.h"
#include "pipeline/recorded.h"
#include "pipeline/watched.h"
#include "window/watch.h"

/** Of a watched episode: when its occurrences began that a trial may still need. */
typedef struct sf_trial_chain {
    char id[SF_EPISODE_ID_SIZE];
    int64_t *begins_ns;
    size_t count, room;
} sf_trial_chain;

/** A trial that is over, with what lies around its marker. The worker's while it is busy. */
typedef struct sf_trial_job {
    int64_t marker_ns, arrival_ns;
    sf_recorded_time recorded;
    sf_spike *spikes;
    size_t spike_count, spike_room;
    sf_trial_chain *chains; /**< `begins_ns` alone */
    sf_message *message;    /**< what is to be told; NULL: nothing */
    int status;
    sf_error error;
} sf_trial_job;

/** Stays where it is while open. */
typedef struct sf_trials {
    const sf_inputs *inputs;  /**< NULL: none are asked for, and nothing below is there */
    uint32_t every;           /**< trials between messages */
    int64_t lead_ns, tail_ns; /**< of a trial: from lead_ns before its marker to tail_ns after it */
    /** The first spike of all, analysed or not, and just after the last; INT64_MAX: not yet. Where sources
     * say when they were observed, that counts. */
    int64_t began_ns, ended_ns;
    sf_spike *spikes; /**< that a trial may still need, in order */
    size_t spike_count, spike_room;
    int64_t *markers; /**< whose trials are not over, in order */
    size_t marker_count, marker_room;
    sf_blanked blanked; /**< that a trial may still need */
    sf_watch *watch;    /**< of the chains; NULL: none are watched */
    sf_watched *watched;
    sf_trial_chain *chains;
    size_t chain_count;
    int64_t chain_ns; /**< from the first spike of the longest of them to its last, at most */
    sf_background background;
    sf_trial_job job;
    /* The worker's. */
    sf_responses found, chains_found;
    int64_t *times_ns; /**< of the trial's spikes, by unit */
    size_t time_room;
    size_t *first;          /**< by unit: where its own begin */
    sf_event_train *trains; /**< by unit */
} sf_trials;

/** Whether the run looks for any. */
bool sf_trials_wanted(const sf_live_options *config);

/** On a virtual clock trials are counted within the call that reaches their end. SF_NO_MEMORY; close it
 * whatever happened. */
int sf_trials_open(sf_trials *trials, const sf_live_options *config, const sf_inputs *inputs,
                   sf_error *error);
void sf_trials_close(sf_trials *trials);

/** A stimulus; a span that is not analysed; spikes. Each in order of time, and all before what is reached. */
int sf_trials_mark(sf_trials *trials, int64_t time_ns, sf_error *error);
int sf_trials_blank(sf_trials *trials, sf_span span, sf_error *error);
int sf_trials_feed(sf_trials *trials, const sf_spike *spikes, size_t count, sf_error *error);

/** No spike before this time is to come: has trials counted that are over, and tells those that were. */
int sf_trials_reach(sf_trials *trials, int64_t time_ns, int64_t arrival_ns, sf_publisher *publisher,
                    sf_error *error);

/** The stream has ended there: the same of trials that are cut by the end. */
int sf_trials_finish(sf_trials *trials, int64_t ended_ns, int64_t arrival_ns, sf_publisher *publisher,
                     sf_error *error);

#endif
