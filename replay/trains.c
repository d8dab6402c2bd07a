/* SPDX-License-Identifier: Apache-2.0 */
/* Spike trains in seconds, one after the other, as CARMEN and NWB store them. */
#include "replay/reader.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

#include <math.h>

#define MOST_SECONDS 4.6e9 /* within SF_TIME_LIMIT_NS */

static int refuse_time(const sf_recording *recording, const sf_trains_in_seconds *trains, size_t train,
                       size_t at, const char *path, sf_error *error)
{
    size_t begin = train > 0 ? trains->ends[train - 1] : 0;
    double seconds = trains->seconds[at];
    const char *problem = isnan(seconds)                    ? "not a number"
                          : !(fabs(seconds) < MOST_SECONDS) ? "out of range (146 years)"
                                                            : /* the remaining reason */ "negative";
    return sf_fail(error, SF_DATA, path, "damaged: spike %zu of unit '%s' (#%zu) is at %g s, which is %s",
                   at - begin, recording->units.items[train].name, train, seconds, problem);
}

int sf_trains_take(sf_recording *recording, const sf_trains_in_seconds *trains, const char *path,
                   sf_error *error)
{
    size_t count = trains->count > 0 ? trains->ends[trains->count - 1] : 0;
    recording->spikes = sf_resize(NULL, count, sizeof *recording->spikes);
    if (recording->spikes == NULL)
        return sf_fail_memory(error);
    double least = trains->negative_times ? -MOST_SECONDS : 0;
    for (size_t train = 0, i = 0; train < trains->count; train++) {
        for (; i < trains->ends[train]; i++) {
            double seconds = trains->seconds[i];
            if (!(seconds >= least && seconds < MOST_SECONDS)) /* so that NaN is refused */
                return refuse_time(recording, trains, train, i, path, error);
            recording->spikes[i] =
                (sf_spike){.time_ns = sf_seconds_to_ns(seconds), .unit = (uint32_t)train, .amplitude = NAN};
        }
    }
    recording->spike_count = count;
    return SF_OK;
}
