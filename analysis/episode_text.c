/* SPDX-License-Identifier: Apache-2.0 */
/* Episodes of a recording as text, and other functions of <synfire/mine.h> on recordings. */
#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/recording.h"
#include "core/thread.h"
#include "mine/significance.h"

#include <stdio.h>

int sf_recording_parse_episode(const sf_recording *recording, const char *text, sf_episode *episode,
                               sf_error *error)
{
    return sf_episode_parse(episode, text, &recording->units, error);
}

int sf_recording_check_episode(const sf_recording *recording, const sf_episode *episode, sf_error *error)
{
    return sf_episode_check(episode, recording->units.count, error);
}

size_t sf_recording_print_episode(const sf_recording *recording, const sf_episode *episode, char *text,
                                  size_t size)
{
    sf_text spelt = {0};
    sf_episode_print(&spelt, episode, &recording->units);
    size_t length = spelt.failed ? 0 : spelt.length;
    if (size > 0) snprintf(text, size, "%s", length > 0 ? spelt.data : "");
    sf_text_free(&spelt);
    return length;
}

void sf_recording_episode_id(const sf_recording *recording, const sf_episode *episode,
                             char id[SF_EPISODE_ID_SIZE])
{
    sf_episode_id(id, episode, &recording->units);
}

static int check_delay(sf_delay delay, sf_error *error)
{
    const sf_episode pair = {.size = 2, .delays = {delay}};
    sf_error reason;
    if (sf_episode_check(&pair, 1, &reason) != SF_OK)
        return sf_fail(error, SF_USAGE, "delay", "%s", reason.text);
    if (delay.high_ns > SF_SHARPNESS_WIDEST / 2)
        return sf_fail(error, SF_USAGE, "delay", "is longer than any recording");
    return SF_OK;
}

int sf_recording_sharpness(const sf_recording *recording, const sf_delay *delays, size_t count,
                           sf_sharpness *sharpness, const sf_progress *progress, sf_error *error)
{
    int status = SF_OK;
    for (size_t i = 0; i < count && status == SF_OK; i++)
        status = check_delay(delays[i], error);
    size_t spikes = recording->spike_count;
    if (status == SF_OK) status = sf_recording_check_held(recording, error);
    if (status != SF_OK) return status;
    int64_t span_ns = spikes > 0 ? recording->spikes[spikes - 1].time_ns - recording->spikes[0].time_ns : 0;
    sf_survey_spikes chosen;
    sf_survey_job job = {.spikes = recording->spikes,
                         .count = spikes,
                         .others = recording->others,
                         .other_count = recording->other_count,
                         .unit_count = recording->units.count,
                         .threads = sf_spikes_threads(spikes),
                         .progress = progress};
    if (sf_survey_spikes_open(&chosen, &job) != SF_OK) return sf_fail_memory(error);
    job.chosen = &chosen;
    for (size_t i = 0; i < count && status == SF_OK; i++) {
        job.delay = delays[i];
        job.segment_ns = sf_significance_segment(span_ns, (uint32_t)chosen.busiest, delays[i].high_ns);
        status = sf_significance_choose_width(&sharpness[i], NULL, &job, sf_significance_widest(0), error);
    }
    sf_survey_spikes_close(&chosen);
    return status;
}
