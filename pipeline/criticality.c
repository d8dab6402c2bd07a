/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/criticality.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/message.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the worker's side ---- */

/* The spikes of the window, in one block that the caller frees. */
static int gather(sf_spike **spikes, size_t *from, size_t *to, const sf_criticality_job *job, sf_error *error)
{
    size_t count = 0, most = job->chunk_count * SF_CRITICALITY_CHUNK;
    *spikes = sf_resize(NULL, most, sizeof **spikes);
    if (*spikes == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < job->chunk_count; i++) {
        size_t own = i + 1 < job->chunk_count ? SF_CRITICALITY_CHUNK : job->last_count;
        memcpy(*spikes + count, job->chunks[i]->spikes, own * sizeof **spikes);
        count += own;
    }
    *from = sf_spikes_lower_bound(*spikes, count, job->window.start_ns);
    *to = sf_spikes_lower_bound(*spikes, count, job->window.stop_ns);
    return SF_OK;
}

/* The recording as it would be with the window selected. */
static sf_recording recording_of(const sf_criticality_run *run, sf_spike *spikes, size_t count)
{
    const sf_recorded_time *recorded = &run->job.recorded;
    sf_recording recording = {.units = run->inputs->units, .spikes = spikes, .spike_count = count};
    recording.recorded = (sf_span){run->job.window.start_ns, run->job.window.start_ns};
    if (recorded->count > 0)
        recording.recorded =
            (sf_span){recorded->spans[0].start_ns, recorded->spans[recorded->count - 1].stop_ns};
    if (recorded->count > 1) {
        recording.observed = recorded->spans;
        recording.observed_count = recorded->count;
    }
    return recording;
}

static void work(void *of)
{
    sf_criticality_run *run = of;
    sf_criticality_job *job = &run->job;
    const sf_progress progress = sf_background_progress(&run->background);
    sf_spike *spikes = NULL;
    size_t from = 0, to = 0;
    job->status = gather(&spikes, &from, &to, job, &job->error);
    if (job->status == SF_OK) {
        const sf_recording recording = recording_of(run, spikes + from, to - from);
        job->status =
            sf_criticality_find_branching(&job->found, &recording, &run->options, &progress, &job->error);
    }
    sf_free(spikes);
}

/* ---- telling ---- */

static int fill_cautions(sf_criticality_message *message, const sf_criticality *found, sf_error *error)
{
    message->cautions = sf_alloc(found->caution_count, sizeof *message->cautions);
    if (message->cautions == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < found->caution_count; i++) {
        sf_live_caution *caution = &message->cautions[message->caution_count++];
        caution->caution = found->cautions[i].caution;
        snprintf(caution->text, sizeof caution->text, "%s", found->cautions[i].text);
    }
    return SF_OK;
}

static int tell(sf_criticality_run *run, sf_publisher *publisher, sf_error *error)
{
    const sf_criticality_job *job = &run->job;
    const sf_criticality_measure *measures = job->found.measures, *ratio = &measures[SF_CRITICAL_BRANCHING],
                                 *timescale = &measures[SF_CRITICAL_TIMESCALE];
    sf_message *message = sf_message_new(SF_TOPIC_CRITICALITY);
    if (message == NULL) return sf_fail_memory(error);
    message->time_ns = job->window.stop_ns;
    message->arrival_ns = job->arrival_ns;
    message->criticality =
        (sf_criticality_message){.window = job->window,
                                 .partial = job->partial,
                                 .spikes = job->found.spikes,
                                 .duration_s = job->found.duration_s,
                                 .branching_ratio = ratio->value,
                                 .branching_low = ratio->low,
                                 .branching_high = ratio->high,
                                 .branching_ratio_conventional = measures[SF_CRITICAL_CONVENTIONAL].value,
                                 .timescale_s = timescale->value,
                                 .timescale_low_s = timescale->low,
                                 .timescale_high_s = timescale->high,
                                 .own_share = measures[SF_CRITICAL_OWN_SHARE].value,
                                 .lags = job->found.branching.lags,
                                 .blocks = job->found.branching.blocks,
                                 .missed = run->missed};
    int status = fill_cautions(&message->criticality, &job->found, error);
    if (status == SF_OK) {
        sf_message_release(run->newest);
        sf_message_keep(message);
        run->newest = message;
        sf_publish(publisher, message);
    } else
        sf_message_release(message);
    return status;
}

static int take(sf_criticality_run *run, sf_publisher *publisher, sf_error *error)
{
    sf_criticality_job *job = &run->job;
    if (!sf_background_take(&run->background)) return SF_OK;
    int status = job->status;
    if (status == SF_OK)
        status = tell(run, publisher, error);
    else if (status == SF_CANCELLED) /* halted: nobody waits for it */
        status = SF_OK;
    else if (error != NULL)
        *error = job->error;
    sf_criticality_free(&job->found);
    return status;
}

void sf_criticality_run_tell(const sf_criticality_run *run, sf_status_message *status)
{
    const sf_criticality_message *newest = run->newest != NULL ? &run->newest->criticality : NULL;
    size_t used = 0;
    status->branching_ratio = newest != NULL ? newest->branching_ratio : NAN;
    status->branching_low = newest != NULL ? newest->branching_low : NAN;
    status->branching_high = newest != NULL ? newest->branching_high : NAN;
    status->branching_at_s = newest != NULL ? (double)newest->window.stop_ns * 1e-9 : NAN;
    status->branching_missed = run->missed;
    for (size_t i = 0;
         newest != NULL && i < newest->caution_count && used < sizeof status->branching_cautions; i++)
        used += (size_t)snprintf(status->branching_cautions + used, sizeof status->branching_cautions - used,
                                 "%s%s", i > 0 ? ", " : "", newest->cautions[i].caution);
}

/* ---- what comes ---- */

int sf_criticality_run_blank(sf_criticality_run *run, sf_span span, sf_error *error)
{
    return run->inputs != NULL ? sf_blanked_add(&run->blanked, span, error) : SF_OK;
}

static int add_chunk(sf_criticality_run *run, sf_error *error)
{
    if (sf_reserve(&run->chunks, &run->chunk_room, run->chunk_count + 1, sizeof *run->chunks) != 0)
        return sf_fail_memory(error);
    sf_criticality_chunk *chunk = sf_resize(NULL, 1, sizeof *chunk);
    if (chunk == NULL) return sf_fail_memory(error);
    chunk->count = 0;
    run->chunks[run->chunk_count++] = chunk;
    return SF_OK;
}

int sf_criticality_run_feed(sf_criticality_run *run, const sf_spike *spikes, size_t count, sf_error *error)
{
    for (size_t done = 0; run->inputs != NULL && done < count;) {
        sf_criticality_chunk *last = run->chunk_count > 0 ? run->chunks[run->chunk_count - 1] : NULL;
        if (last == NULL || last->count == SF_CRITICALITY_CHUNK) {
            int status = add_chunk(run, error);
            if (status != SF_OK) return status;
            continue;
        }
        size_t room = SF_CRITICALITY_CHUNK - last->count, part = count - done < room ? count - done : room;
        memcpy(last->spikes + last->count, spikes + done, part * sizeof *spikes);
        last->count += part;
        done += part;
    }
    return SF_OK;
}

/* ---- windows ---- */

/* The first spike from this time on, or INT64_MAX. */
static int64_t next_spike_ns(const sf_criticality_run *run, int64_t time_ns)
{
    for (size_t i = 0; i < run->chunk_count; i++) {
        const sf_criticality_chunk *chunk = run->chunks[i];
        if (chunk->count > 0 && chunk->spikes[chunk->count - 1].time_ns >= time_ns)
            return chunk->spikes[sf_spikes_lower_bound(chunk->spikes, chunk->count, time_ns)].time_ns;
    }
    return INT64_MAX;
}

/* Only while no worker reads them. */
static void forget(sf_criticality_run *run)
{
    int64_t needed_ns = sf_time_plus(run->due_ns, -run->length_ns);
    size_t gone = 0;
    while (gone < run->chunk_count && run->chunks[gone]->count == SF_CRITICALITY_CHUNK &&
           run->chunks[gone]->spikes[SF_CRITICALITY_CHUNK - 1].time_ns < needed_ns)
        sf_free(run->chunks[gone++]);
    run->chunk_count -= gone;
    if (gone > 0) memmove(run->chunks, run->chunks + gone, run->chunk_count * sizeof *run->chunks);
    sf_blanked_forget(&run->blanked, needed_ns);
}

static int start(sf_criticality_run *run, int64_t arrival_ns, sf_error *error)
{
    sf_criticality_job *job = &run->job;
    int64_t start_ns = sf_time_plus(run->due_ns, -run->length_ns);
    job->partial = start_ns < run->began_ns;
    job->window = (sf_span){job->partial ? run->began_ns : start_ns, run->due_ns};
    job->arrival_ns = arrival_ns;
    job->chunk_count = run->chunk_count;
    if (sf_reserve(&job->chunks, &job->chunk_room, run->chunk_count, sizeof *job->chunks) != 0)
        return sf_fail_memory(error);
    if (run->chunk_count > 0) {
        memcpy(job->chunks, run->chunks, run->chunk_count * sizeof *job->chunks);
        job->last_count = run->chunks[run->chunk_count - 1]->count;
    }
    int status = sf_recorded_time_list(&job->recorded, job->window, (sf_span){run->began_ns, INT64_MAX},
                                       run->inputs, &run->blanked, error);
    if (status == SF_OK) sf_background_start(&run->background);
    return status;
}

/* A window is over. One that no spike has come to since the one before is passed over. */
static int end_window(sf_criticality_run *run, int64_t time_ns, int64_t arrival_ns, sf_publisher *publisher,
                      sf_error *error)
{
    int64_t next_ns = next_spike_ns(run, run->due_ns - run->every_ns);
    if (next_ns >= run->due_ns) {
        int64_t until_ns = next_ns < time_ns ? next_ns : time_ns;
        run->due_ns += (until_ns - run->due_ns) / run->every_ns * run->every_ns;
        if (next_ns >= run->due_ns) run->due_ns = sf_time_plus(run->due_ns, run->every_ns);
        return SF_OK;
    }
    if (run->waits) sf_background_wait(&run->background);
    int status = take(run, publisher, error);
    if (status == SF_OK && sf_background_is_idle(&run->background)) {
        forget(run);
        status = start(run, arrival_ns, error);
    } else
        run->missed += status == SF_OK;
    run->due_ns = sf_time_plus(run->due_ns, run->every_ns);
    return status == SF_OK ? take(run, publisher, error) : status; /* on a virtual clock it is there */
}

int sf_criticality_run_reach(sf_criticality_run *run, int64_t time_ns, int64_t arrival_ns,
                             sf_publisher *publisher, sf_error *error)
{
    if (run->inputs == NULL || run->began_ns == INT64_MAX) return SF_OK;
    if (run->due_ns == INT64_MIN) run->due_ns = sf_time_plus(run->began_ns, run->every_ns);
    int status = take(run, publisher, error);
    while (status == SF_OK && run->due_ns <= time_ns)
        status = end_window(run, time_ns, arrival_ns, publisher, error);
    return status;
}

int sf_criticality_run_finish(sf_criticality_run *run, sf_publisher *publisher, sf_error *error)
{
    if (run->inputs == NULL) return SF_OK;
    if (run->waits) sf_background_wait(&run->background);
    return take(run, publisher, error);
}

/* ---- opening and closing ---- */

int sf_criticality_run_open(sf_criticality_run *run, const sf_live_options *config, const sf_inputs *inputs,
                            bool waits, sf_error *error)
{
    const sf_live_criticality *asked = &config->criticality;
    sf_background_place beside = waits ? SF_BACKGROUND_AWAITED : SF_BACKGROUND_BESIDE;
    *run = (sf_criticality_run){.began_ns = INT64_MAX, .due_ns = INT64_MIN};
    if (asked->every_s <= 0) return SF_OK;
    run->inputs = inputs;
    run->options = SF_CRITICALITY_OPTIONS;
    run->options.branching_bin_ns = llround(asked->bin_ms * 1e6);
    run->options.lags = asked->lags;
    run->every_ns = sf_seconds_to_ns(asked->every_s);
    run->length_ns = sf_seconds_to_ns(asked->length_s);
    run->waits = waits;
    return sf_background_open(&run->background, "synfire-branch",
                              inputs->virtual_clock ? SF_BACKGROUND_INSIDE : beside, work, run, error);
}

void sf_criticality_run_close(sf_criticality_run *run)
{
    sf_background_close(&run->background);
    sf_criticality_free(&run->job.found);
    sf_recorded_time_free(&run->job.recorded);
    sf_free(run->job.chunks);
    for (size_t i = 0; i < run->chunk_count; i++)
        sf_free(run->chunks[i]);
    sf_free(run->chunks);
    sf_blanked_free(&run->blanked);
    sf_message_release(run->newest);
    *run = (sf_criticality_run){0};
}
