/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of given episodes: in the whole recording, in windows and spans, and their correlograms. */
#include "analysis/episodes.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/ranks.h"
#include "mine/correlogram.h"
#include "mine/engine.h"
#include "mine/given.h"
#include "mine/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- options ---- */

int sf_check_device(const char *device, sf_error *error)
{
    sf_error reason;
    int status = sf_device_check(device, true, &reason);
    return status == SF_OK ? SF_OK : sf_fail(error, status, "device", "%s", reason.text);
}

static int check(const sf_counting_options *asked, sf_error *error)
{
    int status = SF_OK;
    if (asked->window_ns == 0 && asked->hop_ns != 0)
        status = sf_fail(error, SF_USAGE, "window_ns", "is 0 ns, expected more than 0 with hop_ns");
    if (status == SF_OK)
        status = sf_limits_check((sf_limits){asked->max_p, asked->max_q}, asked->significance, error);
    const char *registered = asked->registered;
    if (status == SF_OK && registered != NULL &&
        (strlen(registered) != 64 || strspn(registered, "0123456789abcdef") != 64))
        status = sf_fail(error, SF_USAGE, "registered", "found '%.80s', expected 64 hexadecimal digits",
                         registered);
    return status == SF_OK ? sf_check_device(asked->device, error) : status;
}

/* ---- the parts ---- */

static int copy_episodes(sf_episodes *e, const sf_episode *episodes, size_t count, sf_error *error)
{
    int status = sf_episodes_reserve(e, count, error);
    if (status != SF_OK) return status;
    if (count > 0) memcpy(e->episodes, episodes, count * sizeof *episodes);
    e->given = e->passing = count;
    return SF_OK;
}

static int list_windows(sf_episodes *e, const sf_counting_options *asked, sf_error *error)
{
    if (asked->window_ns == 0) return SF_OK;
    const sf_windows_rule rule = {.length_ns = asked->window_ns,
                                  .hop_ns = asked->hop_ns > 0 ? asked->hop_ns : asked->window_ns,
                                  .from_ns = asked->from_ns,
                                  .to_ns = asked->to_ns};
    return sf_windows_list(&e->windows, e->recording, &rule, error);
}

/* Records where the last count ran, and why not elsewhere: a device may fail at any job. */
static void tell_where(sf_episodes *e, const sf_counter *counter, double since)
{
    const char *note, *device = sf_counter_device(counter, &note);
    e->ran.engine = sf_counter_engine(counter);
    e->ran.seconds += sf_clock_seconds() - since;
    snprintf(e->ran.device, sizeof e->ran.device, "%s", device);
    snprintf(e->ran.note, sizeof e->ran.note, "%s", note);
}

static int count_all(sf_episodes *e, sf_counter *counter, const sf_progress *progress, sf_error *error)
{
    double start = sf_clock_seconds();
    sf_counter_tell(counter, progress);
    int status = sf_counter_count(counter, NULL, e->counts, error);
    if (status != SF_OK) return status;
    tell_where(e, counter, start);
    for (size_t i = 0; i < e->count; i++) {
        e->expected[i] = sf_episodes_expect(e, &e->episodes[i]);
        sf_ratio_interval interval = sf_ratio_interval_of(e->counts[i], e->expected[i]);
        e->ratio_low[i] = interval.low;
        e->ratio_high[i] = interval.high;
    }
    return status;
}

/* Adds the test's surrogates to the newest correlogram; does nothing if the test makes none, or the link was
 * not tested. */
static int shift_link(sf_episodes *e, sf_error *error)
{
    const sf_significance_options *how = &e->significance.options;
    sf_correlogram *c = &e->correlograms[e->correlogram_count - 1];
    const sf_surrogate_rule rule = {.kind = (sf_surrogate_kind)how->kind,
                                    .width_ns = how->width_ns,
                                    .segment_ns = how->segment_ns,
                                    .seed = how->seed};
    if (how->kind == SF_SIGNIFICANCE_ANALYTIC || e->significance.not_tested != SF_TESTABLE ||
        c->from == c->to)
        return SF_OK;
    return sf_correlogram_shift(c, e->recording->spikes, e->recording->spike_count, &rule, how->surrogates,
                                error);
}

/* Half-width is twice the longest delay of the link, at least 50 ms; at most 200 bins per side. */
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
    return status == SF_OK && e->is_tested ? shift_link(e, error) : status;
}

static int correlate(sf_episodes *e, const sf_progress *progress, sf_error *error)
{
    size_t links = 0;
    for (size_t i = 0; i < e->count; i++)
        links += e->episodes[i].size - 1;
    e->correlograms = sf_alloc(links, sizeof *e->correlograms);
    if (e->correlograms == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < e->count; i++) {
        const sf_episode *episode = &e->episodes[i];
        for (uint32_t link = 0; link + 1 < episode->size; link++) {
            if (!sf_progress_update(progress, "correlating", (double)e->correlogram_count, (double)links)) {
                sf_episodes_keep(e, SF_CANCELLED, SF_STOPPED_TELLING);
                return sf_fail(error, SF_CANCELLED, NULL, "stopped while correlating");
            }
            int status = correlate_link(e, episode->units[link], episode->units[link + 1],
                                        episode->delays[link], error);
            if (status != SF_OK) return status;
        }
    }
    return SF_OK;
}

/* ---- testing ---- */

static void take_verdict(sf_episodes *e, size_t i, const sf_mine_result *tested)
{
    const sf_mine_item *item = &tested->items[i];
    sf_episodes_take_verdict(e, i, item);
    e->returning += item->not_tested == SF_UNIT_RETURNS;
    if (e->significance.options.kind == SF_SIGNIFICANCE_ANALYTIC) return;
    e->worth_showing[i] =
        item->size > 1 && sf_worth_showing(tested, i, sf_recording_duration_ns(e->recording));
    e->worth += e->worth_showing[i];
}

int sf_episodes_test_given(sf_episodes *e, const sf_significance_options *options,
                           const sf_progress *progress, sf_error *error)
{
    const sf_recording *recording = e->recording;
    const sf_mine_input input = {.spikes = recording->spikes,
                                 .spike_count = recording->spike_count,
                                 .units = &recording->units,
                                 .duration_ns = sf_recording_duration_ns(recording),
                                 .others = recording->others,
                                 .other_count = recording->other_count};
    sf_significance_options how;
    sf_mine_result *given = NULL;
    sf_mining_options mining;
    int status = sf_keys_read(&sf_significance_table, &how, options, "significance", error);
    how.found_only = true;
    if (status == SF_OK) status = sf_episodes_reserve_verdicts(e, error);
    if (status == SF_OK)
        status = sf_mine_given(&given, &mining, &input, e->episodes, e->count, how.threads, NULL, error);
    if (status != SF_OK) return status;
    e->worth = e->returning = 0;
    if (mining.delay_count > 0)
        status = sf_significance_test(&e->significance, given, &input, &mining, &how, progress, error);
    if (status == SF_OK && mining.delay_count > 0) status = sf_significance_mark_reverses(given, error);
    e->is_tested = status == SF_OK && mining.delay_count > 0;
    for (size_t i = 0; e->is_tested && i < e->count; i++)
        take_verdict(e, i, given);
    sf_mine_result_free(given);
    return status == SF_OK && e->parents != NULL ? sf_episodes_fold(e, error)
                                                 : status; /* as they are now known */
}

/* Keeps the episodes within the limits, in their order. */
static void keep_within(sf_episodes *e, sf_limits limits)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->count; i++) {
        if (!sf_within_limits(limits, e->p[i], e->q[i])) continue;
        sf_episodes_move(e, i, kept++);
    }
    e->count = kept;
}

/* ---- together ---- */

static int open_counter(sf_counter **counter, const sf_episodes *e, const sf_counting_options *asked,
                        sf_error *error)
{
    const sf_recording *recording = e->recording;
    int status = sf_counter_open(counter, recording->spikes, recording->spike_count, recording->units.count,
                                 e->episodes, e->count, asked->engine, asked->threads, error);
    return status == SF_OK ? sf_counter_use(*counter, asked->device, error) : status;
}

/* Tests, and removes what is not within the limits. */
static int test(sf_episodes *e, const sf_counting_options *asked, sf_counter **counter,
                const sf_progress *progress, sf_error *error)
{
    const sf_limits limits = {asked->max_p, asked->max_q};
    int status = sf_episodes_test_given(e, asked->significance, progress, error);
    if (status != SF_OK && sf_episodes_keep(e, status, SF_STOPPED_TESTING)) e->windows.count = 0;
    if (status != SF_OK || (limits.max_p <= 0 && limits.max_q <= 0)) return status;
    keep_within(e, limits);
    e->passing = e->count;
    sf_counter_close(*counter);
    *counter = NULL;
    return open_counter(counter, e, asked, error);
}

static int count_windows(sf_episodes *e, sf_counter *counter, const sf_progress *progress, sf_error *error)
{
    double start = sf_clock_seconds();
    size_t counted = e->windows.count;
    int status = sf_spans_count(&e->window_counts, &counted, counter, e->count, e->windows.items,
                                e->windows.count, "counting windows", progress, error);
    if (!sf_episodes_keep(e, status, SF_STOPPED_TELLING)) return status;
    e->windows.last_is_partial = e->windows.last_is_partial && counted == e->windows.count;
    e->windows.count = counted;
    tell_where(e, counter, start);
    return status;
}

static int count(sf_episodes *e, const sf_counting_options *asked, const sf_progress *progress,
                 sf_error *error)
{
    sf_counter *counter = NULL;
    int status = open_counter(&counter, e, asked, error);
    if (status == SF_OK) status = count_all(e, counter, progress, error);
    if (status == SF_OK && asked->significance != NULL) status = test(e, asked, &counter, progress, error);
    if (status == SF_OK && e->windows.items != NULL) status = count_windows(e, counter, progress, error);
    if (status == SF_OK || e->stopped != SF_NOT_STOPPED) {
        int told = sf_episodes_fold(e, error);
        if (told == SF_OK) told = sf_episodes_detail(e, counter, progress, error);
        status = status == SF_OK ? told : status;
    }
    if (status == SF_OK && asked->correlograms) status = correlate(e, progress, error);
    sf_counter_close(counter);
    return status;
}

int sf_count(sf_episodes **counted, const sf_recording *recording, const sf_episode *episodes,
             size_t episode_count, const sf_counting_options *options, const sf_progress *progress,
             sf_error *error)
{
    *counted = NULL;
    sf_counting_options asked;
    sf_episodes *e = NULL;
    int status = sf_keys_read(&sf_counting_table, &asked, options, "counting", error);
    if (status == SF_OK) status = check(&asked, error);
    if (status == SF_OK) status = sf_recording_check_held(recording, error);
    if (status == SF_OK) status = sf_episodes_new(&e, recording, asked.spans, asked.span_count, error);
    if (status == SF_OK) {
        e->wants_details = asked.details;
        snprintf(e->registered, sizeof e->registered, "%s", asked.registered != NULL ? asked.registered : "");
        e->keeps_stopped = asked.keep_stopped && sf_ranks_count() == 1;
        status = copy_episodes(e, episodes, episode_count, error);
    }
    if (status == SF_OK) status = list_windows(e, &asked, error);
    if (status == SF_OK) status = count(e, &asked, progress, error);
    if (status == SF_OK || (status == SF_CANCELLED && e->stopped != SF_NOT_STOPPED))
        *counted = e;
    else
        sf_episodes_free(e);
    return status;
}
