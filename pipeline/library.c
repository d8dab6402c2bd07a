/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions, each a few lines over what the folders below offer. */
#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "mine/mine.h"
#include "replay/recording_file.h"

int sf_recording_load(sf_recording **out, const char *path, sf_error *error)
{
    *out = NULL;
    sf_recording *recording = sf_alloc(1, sizeof *recording);
    if (recording == NULL)
        return sf_fail_memory(error);
    int status = sf_recording_read(recording, path, NULL, NULL, error);
    if (status == SF_OK)
        *out = recording;
    else
        sf_free(recording);
    return status;
}

void sf_recording_unload(sf_recording *recording)
{
    sf_recording_free(recording);
    sf_free(recording);
}

uint32_t sf_recording_unit_count(const sf_recording *recording)
{
    return (uint32_t)recording->units.count;
}

const char *sf_recording_unit_name(const sf_recording *recording, uint32_t unit)
{
    return unit < recording->units.count ? recording->units.items[unit].name : NULL;
}

const sf_spike *sf_recording_spikes(const sf_recording *recording, size_t *count)
{
    *count = recording->spike_count;
    return recording->spikes;
}

int64_t sf_recording_length_ns(const sf_recording *recording)
{
    return sf_recording_duration_ns(recording);
}

int sf_recording_parse_episode(const sf_recording *recording, const char *text, sf_episode *episode,
                               sf_error *error)
{
    return sf_episode_parse(episode, text, &recording->units, error);
}

static int spell_out(sf_frequent_episode **episodes, size_t *count, const sf_mine_result *result,
                     sf_error *error)
{
    sf_frequent_episode *found = sf_alloc(result->count, sizeof *found);
    if (found == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < result->count; i++) {
        found[i].count = result->items[i].count;
        found[i].expected = result->items[i].expected;
        sf_mine_result_episode(result, i, &found[i].episode);
    }
    *episodes = found;
    *count = result->count;
    return SF_OK;
}

int sf_find_episodes(sf_frequent_episode **episodes, size_t *count, const sf_recording *recording,
                     const sf_mining *mining, sf_error *error)
{
    *episodes = NULL;
    *count = 0;
    sf_mine_options options;
    sf_mine_options_default(&options);
    options.delays = mining->delays;
    options.delay_count = mining->delay_count;
    options.threshold_kind = SF_THRESHOLD_COUNT;
    options.threshold = mining->min_count;
    options.self = mining->self;
    options.threads = mining->threads;
    if (mining->max_size != 0)
        options.max_size = mining->max_size;
    sf_mine_input input = {.spikes = recording->spikes,
                           .spike_count = recording->spike_count,
                           .units = &recording->units,
                           .duration_ns = sf_recording_duration_ns(recording)};
    sf_mine_result *result;
    int status = sf_mine(&result, &input, &options, NULL, error);
    if (status != SF_OK)
        return status;
    status = spell_out(episodes, count, result, error);
    sf_mine_result_free(result);
    return status;
}

int sf_count_episodes(uint64_t *counts, const sf_recording *recording, const sf_episode *episodes,
                      size_t count, int64_t start_ns, int64_t stop_ns, sf_error *error)
{
    sf_counter *counter;
    int status = sf_counter_open(&counter, recording->spikes, recording->spike_count, recording->units.count,
                                 episodes, count, NULL, 0, error);
    if (status != SF_OK)
        return status;
    sf_span span = {start_ns, stop_ns};
    status = sf_counter_count(counter, &span, counts, error);
    sf_counter_close(counter);
    return status;
}
