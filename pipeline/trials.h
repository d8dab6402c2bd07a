/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Responses to stimuli as trials come: each is published once its windows and its histogram are over, with
 * all trials so far, and equals what `synfire responses` finds for the same trials (analysis/responses.h).
 * Trials are counted in the background, one after another; further finished trials wait. Window thread.
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

/** A watched episode: start times of its occurrences that a trial may still need. */
typedef struct sf_trial_chain {
    char id[SF_EPISODE_ID_SIZE];
    int64_t *begins_ns;
    size_t count, room;
} sf_trial_chain;

/** A finished trial, with what lies around its marker. The worker's while it is busy. */
typedef struct sf_trial_job {
    int64_t marker_ns, arrival_ns;
    sf_recorded_time recorded;
    sf_spike *spikes;
    size_t spike_count, spike_room;
    sf_trial_chain *chains; /**< only `begins_ns` is used */
    sf_message *message;    /**< the message to publish; NULL: none */
    int status;
    sf_error error;
} sf_trial_job;

/** Must not move while open. */
typedef struct sf_trials {
    const sf_inputs *inputs;  /**< NULL: not configured, and the rest is unused */
    uint32_t every;           /**< trials between messages */
    int64_t lead_ns, tail_ns; /**< a trial lasts from lead_ns before its marker to tail_ns after it */
    /** Time of the first spike, analysed or not, and just after the last; INT64_MAX: not yet. Not used for
     * sources that say when they were observed. */
    int64_t began_ns, ended_ns;
    sf_spike *spikes; /**< that a trial may still need, in order */
    size_t spike_count, spike_room;
    int64_t *markers; /**< markers whose trials are not over, in order */
    size_t marker_count, marker_room;
    sf_blanked blanked; /**< spans that a trial may still need */
    sf_watch *watch;    /**< for the chains; NULL: none are watched */
    sf_watched *watched;
    sf_trial_chain *chains;
    size_t chain_count;
    int64_t chain_ns; /**< maximum time from first to last spike over all chains */
    sf_background background;
    sf_trial_job job;
    /* The worker's. */
    sf_responses found, chains_found;
    int64_t *times_ns; /**< of the trial's spikes, by unit */
    size_t time_room;
    size_t *first;          /**< by unit: index of its first spike */
    sf_event_train *trains; /**< by unit */
} sf_trials;

/** Whether the options ask for responses. */
bool sf_trials_wanted(const sf_live_options *config);

/** On a virtual clock trials are counted within the call that reaches their end. SF_NO_MEMORY; call close
 * whatever is returned. */
int sf_trials_open(sf_trials *trials, const sf_live_options *config, const sf_inputs *inputs,
                   sf_error *error);
void sf_trials_close(sf_trials *trials);

/** Adds a stimulus, a span that is not analysed, or spikes. Each in time order, and before the time next
 * reached. */
int sf_trials_mark(sf_trials *trials, int64_t time_ns, sf_error *error);
int sf_trials_blank(sf_trials *trials, sf_span span, sf_error *error);
int sf_trials_feed(sf_trials *trials, const sf_spike *spikes, size_t count, sf_error *error);

/** No spike before this time will follow: starts to count finished trials, and publishes counted ones. */
int sf_trials_reach(sf_trials *trials, int64_t time_ns, int64_t arrival_ns, sf_publisher *publisher,
                    sf_error *error);

/** The stream has ended at ended_ns: does the same for trials that the end cuts off. */
int sf_trials_finish(sf_trials *trials, int64_t ended_ns, int64_t arrival_ns, sf_publisher *publisher,
                     sf_error *error);

#endif
