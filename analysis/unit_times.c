/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/unit_times.h"

#include "core/error.h"
#include "core/memory.h"

int sf_unit_times_take(sf_unit_times *times, const sf_recording *recording, sf_error *error)
{
    size_t units = recording->units.count, *first = times->first = sf_alloc(units + 2, sizeof *first);
    times->times_ns = sf_resize(NULL, recording->spike_count, sizeof *times->times_ns);
    if (first == NULL || times->times_ns == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < recording->spike_count; i++)
        first[recording->spikes[i].unit + 2]++;
    for (size_t u = 0; u < units; u++)
        first[u + 2] += first[u + 1];
    for (size_t i = 0; i < recording->spike_count; i++)
        times->times_ns[first[recording->spikes[i].unit + 1]++] = recording->spikes[i].time_ns;
    return SF_OK;
}

void sf_unit_times_free(sf_unit_times *times)
{
    sf_free(times->times_ns);
    sf_free(times->first);
}
