/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Responses to stimuli as trials come: each is told once its windows and its histogram are over, with all
 * trials so far, and equals what `synfire responses` finds of the same trials (analysis/responses.h). Window
 * thread.
 */
#ifndef SF_PIPELINE_TRIALS_H
#define SF_PIPELINE_TRIALS_H

#include "analysis/responses.h"
#include "pipeline/inputs.h"
#include "pipeline/options.h"
#include "pipeline/publisher.h"
#include "pipeline/watched.h"
#include "window/watch.h"

/** Of a watched episode: when its occurrences began that a trial may still need. */
typedef struct sf_trial_chain {
    char id[SF_EPISODE_ID_SIZE];
    int64_t *begins_ns;
    size_t count, room;
} sf_trial_chain;

typedef struct sf_trials {
    const sf_inputs *inputs; /**< NULL: none are asked for, and nothing below is there */
    uint32_t every;          /**< trials between messages */
    sf_responses found;
    int64_t lead_ns, tail_ns; /**< of a trial: from lead_ns before its marker to tail_ns after it */
    /** The first spike of all, analysed or not, and just after the last; INT64_MAX: not yet. Where sources
     * say when they were observed, that counts. */
    int64_t began_ns, ended_ns;
    sf_spike *spikes; /**< that a trial may still need, in order */
    size_t spike_count, spike_room;
    int64_t *markers; /**< whose trials are not over, in order */
    size_t marker_count, marker_room;
    sf_span *blanked; /**< that a trial may still need */
    size_t blanked_count, blanked_room;
    sf_span *recorded; /**< of the trial that is looked at */
    size_t recorded_count, recorded_room;
    int64_t *times_ns; /**< of its spikes, by unit */
    size_t time_room;
    size_t *first;          /**< by unit: where its own begin */
    sf_event_train *trains; /**< by unit */
    sf_watch *watch;        /**< of the chains; NULL: none are watched */
    sf_watched *watched;
    sf_trial_chain *chains;
    size_t chain_count;
    sf_responses chains_found;
    int64_t chain_ns; /**< from the first spike of the longest of them to its last, at most */
} sf_trials;

/** Whether the run looks for any. */
bool sf_trials_wanted(const sf_live_options *config);

/** SF_NO_MEMORY; close it whatever happened. */
int sf_trials_open(sf_trials *trials, const sf_live_options *config, const sf_inputs *inputs,
                   sf_error *error);
void sf_trials_close(sf_trials *trials);

/** A stimulus; a span that is not analysed; spikes. Each in order of time, and all before what is reached. */
int sf_trials_mark(sf_trials *trials, int64_t time_ns, sf_error *error);
int sf_trials_blank(sf_trials *trials, sf_span span, sf_error *error);
int sf_trials_feed(sf_trials *trials, const sf_spike *spikes, size_t count, sf_error *error);

/** No spike before this time is to come: tells the trials that are over. */
int sf_trials_reach(sf_trials *trials, int64_t time_ns, int64_t arrival_ns, sf_publisher *publisher,
                    sf_error *error);

/** The stream has ended there: the same of trials that are cut by the end. */
int sf_trials_finish(sf_trials *trials, int64_t ended_ns, int64_t arrival_ns, sf_publisher *publisher,
                     sf_error *error);

#endif
