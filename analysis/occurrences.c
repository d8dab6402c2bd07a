/* SPDX-License-Identifier: Apache-2.0 */
/* The occurrences of episodes of a recording. */
#include "mine/occurrences.h"

#include "core/error.h"
#include "core/memory.h"
#include "mine/mine.h"

#include <string.h>

static int copy(sf_occurrences *o, const sf_episode *episodes, const double *expected, size_t count,
                sf_error *error)
{
    uint64_t *unit_spikes = sf_alloc(o->recording->units.count, sizeof *unit_spikes);
    int status = unit_spikes != NULL ? sf_occurrences_reserve(o, count, error) : sf_fail_memory(error);
    for (size_t i = 0; i < o->recording->spike_count && unit_spikes != NULL; i++)
        unit_spikes[o->recording->spikes[i].unit]++;
    for (size_t i = 0; i < count && status == SF_OK; i++) {
        o->episodes[i] = episodes[i];
        o->expected[i] = expected != NULL ? expected[i]
                                          : sf_expected_episode(&episodes[i], unit_spikes,
                                                                sf_recording_duration_ns(o->recording));
    }
    sf_free(unit_spikes);
    return status;
}

static int find(sf_occurrences *o, const sf_counter *counter, const sf_progress *progress, sf_error *error)
{
    int status = SF_OK;
    for (size_t i = 0; i < o->count && status == SF_OK; i++) {
        size_t found;
        status = sf_counter_occurrences(counter, i, &o->times_ns[i], &found, error);
        o->counts[i] = found;
        if (status == SF_OK &&
            !sf_progress_update(progress, "finding occurrences", (double)i + 1, (double)o->count))
            status = sf_fail(error, SF_CANCELLED, NULL, "stopped while finding occurrences");
    }
    return status;
}

int sf_occurrences_list(sf_occurrences **listed, const sf_recording *recording, const sf_episode *episodes,
                        const double *expected, size_t count, const sf_progress *progress, sf_error *error)
{
    *listed = NULL;
    sf_counter *counter;
    int status = sf_recording_check_held(recording, error);
    if (status != SF_OK) return status;
    status = sf_counter_open(&counter, recording->spikes, recording->spike_count, recording->units.count,
                             episodes, count, NULL, 0, error);
    if (status != SF_OK) return status;
    sf_occurrences *o = sf_alloc(1, sizeof *o);
    if (o == NULL) {
        status = sf_fail_memory(error);
    } else {
        o->recording = recording;
        o->counted_in = recording->path;
        status = copy(o, episodes, expected, count, error);
    }
    if (status == SF_OK) status = find(o, counter, progress, error);
    if (status == SF_OK)
        *listed = o;
    else
        sf_occurrences_free(o);
    sf_counter_close(counter);
    return status;
}
