/* SPDX-License-Identifier: Apache-2.0 */
/* Spikes as layouts store them: trains in seconds, one after the other, or samples with the unit of each. */
#include "replay/reader.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

#include <inttypes.h>
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

/* ---- samples ---- */

/* 64 bits of mantissa hold a product of samples and 1e9 up to 9e12 samples without loss. */
bool sf_samples_to_ns(int64_t samples, double rate_hz, int64_t *time_ns)
{
    long double ns = roundl((long double)samples * 1e9L / (long double)rate_hz);
    bool fits = fabsl(ns) < (long double)MOST_SECONDS * 1e9L;
    *time_ns = fits ? (int64_t)ns : 0;
    return fits;
}

int sf_samples_take(sf_recording *recording, const sf_spikes_in_samples *spikes, const char *path,
                    sf_error *error)
{
    recording->spikes = sf_resize(NULL, spikes->count, sizeof *recording->spikes);
    if (recording->spikes == NULL)
        return sf_fail_memory(error);
    uint64_t unmapped = 0, early = 0;
    for (size_t i = 0; i < spikes->count; i++) {
        sf_spike *spike = &recording->spikes[recording->spike_count];
        int64_t sample;
        *spike = (sf_spike){.unit = spikes->units[i],
                            .amplitude = spikes->amplitudes != NULL ? spikes->amplitudes[i] : NAN};
        if (__builtin_sub_overflow(spikes->samples[i], spikes->first, &sample) ||
            !sf_samples_to_ns(sample, spikes->rate_hz, &spike->time_ns))
            return sf_fail(error, SF_DATA, path,
                           "damaged: spike %zu is at sample %" PRId64 ", which at %g Hz is beyond 146 years",
                           i, spikes->samples[i], spikes->rate_hz);
        if (spikes->from_first && sample < 0)
            early++;
        else if (spike->unit == SF_NO_UNIT)
            unmapped++;
        else
            recording->spike_count++;
    }
    if (early > 0)
        sf_recording_drop(recording, "before the first recorded sample", early);
    if (unmapped > 0)
        sf_recording_drop(recording, "on channels that are not in the map", unmapped);
    return SF_OK;
}
