/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of given episodes: in the whole recording, in windows and spans, and their correlograms. */
#include "analysis/episodes.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/options.h"
#include "mine/correlogram.h"
#include "mine/engine.h"

#include <stdio.h>
#include <string.h>

/* ---- options ---- */

void sf_counting_options_init(void *options, size_t size)
{
    static const sf_counting_options defaults = {.from_ns = INT64_MIN, .to_ns = INT64_MAX};
    sf_options_init(options, size, &defaults, sizeof defaults);
}

int sf_check_engine(const char *engine, const char *device, sf_error *error)
{
    const sf_engine *found;
    sf_error reason;
    int status = sf_engine_find(&found, engine, &reason);
    if (status != SF_OK)
        return sf_fail(error, status, "engine", "%s", reason.text);
    status = sf_device_check(device, true, &reason);
    return status == SF_OK ? SF_OK : sf_fail(error, status, "device", "%s", reason.text);
}

static int check(const sf_counting_options *asked, sf_error *error)
{
    if (asked->window_ns < 0 || (asked->window_ns == 0 && asked->hop_ns != 0))
        return sf_fail(error, SF_USAGE, "window_ns", "is %lld ns, expected more than 0",
                       (long long)asked->window_ns);
    if (asked->hop_ns < 0)
        return sf_fail(error, SF_USAGE, "hop_ns", "is %lld ns, expected more than 0",
                       (long long)asked->hop_ns);
    return sf_check_engine(asked->engine, asked->device, error);
}

/* ---- the parts ---- */

static int copy_episodes(sf_episodes *e, const sf_episode *episodes, size_t count, sf_error *error)
{
    int status = sf_episodes_reserve(e, count, error);
    if (status != SF_OK)
        return status;
    if (count > 0)
        memcpy(e->episodes, episodes, count * sizeof *episodes);
    return SF_OK;
}

static int list_windows(sf_episodes *e, const sf_counting_options *asked, sf_error *error)
{
    if (asked->window_ns == 0)
        return SF_OK;
    const sf_windows_rule rule = {.length_ns = asked->window_ns,
                                  .hop_ns = asked->hop_ns > 0 ? asked->hop_ns : asked->window_ns,
                                  .from_ns = asked->from_ns,
                                  .to_ns = asked->to_ns};
    return sf_windows_list(&e->windows, e->recording, &rule, error);
}

static int count_all(sf_episodes *e, sf_counter *counter, const sf_progress *progress, sf_error *error)
{
    double start = sf_clock_seconds();
    sf_counter_tell(counter, progress);
    int status = sf_counter_count(counter, NULL, e->counts, error);
    size_t counted = e->windows.count;
    if (status == SF_OK && e->windows.items != NULL) {
        status = sf_spans_count(&e->window_counts, &counted, counter, e->count, e->windows.items,
                                e->windows.count, "counting windows", progress, error);
        if (!sf_episodes_keep(e, status, SF_STOPPED_TELLING))
            return status;
    } else if (status != SF_OK) {
        return status;
    }
    e->windows.last_is_partial = e->windows.last_is_partial && counted == e->windows.count;
    e->windows.count = counted;
    const char *note, *device = sf_counter_device(counter, &note);
    e->ran = (sf_ran){.engine = sf_counter_engine(counter), .seconds = sf_clock_seconds() - start};
    snprintf(e->ran.device, sizeof e->ran.device, "%s", device);
    snprintf(e->ran.note, sizeof e->ran.note, "%s", note);
    for (size_t i = 0; i < e->count; i++) {
        e->expected[i] = sf_episodes_expect(e, &e->episodes[i]);
        sf_ratio_interval interval = sf_ratio_interval_of(e->counts[i], e->expected[i]);
        e->ratio_low[i] = interval.low;
        e->ratio_high[i] = interval.high;
    }
    return status;
}

/* Reaches as far as the longest delay of the link twice over, and 50 ms at least; at most 200 bins a side. */
static int correlate_link(sf_episodes *e, uint32_t from, uint32_t to, sf_delay delay, sf_error *error)
{
    int64_t reach = 2 * delay.high_ns > 50 * SF_MILLISECOND ? 2 * delay.high_ns : 50 * SF_MILLISECOND;
    int64_t bin = (reach + 200 * SF_MILLISECOND - 1) / (200 * SF_MILLISECOND) * SF_MILLISECOND;
    const sf_recording *recording = e->recording;
    bool whole = recording->observed_count == 0;
    int status = sf_correlogram_make(
        &e->correlograms[e->correlogram_count], recording->spikes, recording->spike_count, from, to, bin,
        (uint32_t)((reach + bin - 1) / bin), whole ? &recording->recorded : recording->observed,
        whole ? 1 : recording->observed_count, error);
    e->correlogram_count += status == SF_OK;
    return status;
}

static int correlate(sf_episodes *e, const sf_progress *progress, sf_error *error)
{
    size_t links = 0;
    for (size_t i = 0; i < e->count; i++)
        links += e->episodes[i].size - 1;
    e->correlograms = sf_alloc(links, sizeof *e->correlograms);
    if (e->correlograms == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < e->count; i++) {
        const sf_episode *episode = &e->episodes[i];
        for (uint32_t link = 0; link + 1 < episode->size; link++) {
            if (!sf_progress_update(progress, "correlating", (double)e->correlogram_count, (double)links)) {
                sf_episodes_keep(e, SF_CANCELLED, SF_STOPPED_TELLING);
                return sf_fail(error, SF_CANCELLED, NULL, "stopped while correlating");
            }
            int status = correlate_link(e, episode->units[link], episode->units[link + 1],
                                        episode->delays[link], error);
            if (status != SF_OK)
                return status;
        }
    }
    return SF_OK;
}

/* ---- together ---- */

static int count(sf_episodes *e, const sf_counting_options *asked, const sf_progress *progress,
                 sf_error *error)
{
    const sf_recording *recording = e->recording;
    sf_counter *counter = NULL;
    int status = sf_counter_open(&counter, recording->spikes, recording->spike_count, recording->units.count,
                                 e->episodes, e->count, asked->engine, asked->threads, error);
    if (status == SF_OK)
        status = sf_counter_use(counter, asked->device, error);
    if (status == SF_OK)
        status = count_all(e, counter, progress, error);
    if (status == SF_OK || e->stopped != SF_NOT_STOPPED) {
        int told = sf_episodes_detail(e, counter, progress, error);
        status = status == SF_OK ? told : status;
    }
    if (status == SF_OK && asked->correlograms)
        status = correlate(e, progress, error);
    sf_counter_close(counter);
    return status;
}

int sf_count(sf_episodes **counted, const sf_recording *recording, const sf_episode *episodes,
             size_t episode_count, const sf_counting_options *options, const sf_progress *progress,
             sf_error *error)
{
    *counted = NULL;
    sf_counting_options asked, defaults = sf_counting_options_default();
    sf_episodes *e = NULL;
    int status = sf_options_read(&asked, &defaults, sizeof asked, options, "counting", error);
    if (status == SF_OK)
        status = check(&asked, error);
    if (status == SF_OK)
        status = sf_episodes_new(&e, recording, asked.spans, asked.span_count, error);
    if (status == SF_OK) {
        e->wants_details = asked.details;
        e->keeps_stopped = asked.keep_stopped;
        status = copy_episodes(e, episodes, episode_count, error);
    }
    if (status == SF_OK)
        status = list_windows(e, &asked, error);
    if (status == SF_OK)
        status = count(e, &asked, progress, error);
    if (status == SF_OK || (status == SF_CANCELLED && e->stopped != SF_NOT_STOPPED))
        *counted = e;
    else
        sf_episodes_free(e);
    return status;
}
