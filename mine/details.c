/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/details.h"

#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/platform.h"
#include "core/reals.h"

#include <math.h>
#include <string.h>

/* ---- occurrences ---- */

/* Bin k holds what is above low + width k / bins and at most low + width (k + 1) / bins. */
static size_t bin_of(sf_delay interval, int64_t delay_ns)
{
    __extension__ typedef __int128 wide;
    int64_t width = interval.high_ns - interval.low_ns, above = delay_ns - interval.low_ns;
    return (size_t)(((wide)above * SF_DELAY_BINS - 1) / width);
}

static void describe_link(sf_link_delays *link, sf_delay interval, int64_t *delays, size_t count)
{
    sf_times_sort(delays, count);
    for (size_t q = 0; q < 5 && count > 0; q++)
        link->quantiles_ns[q] = delays[((count - 1) * q + 2) / 4]; /* the nearest rank */
    for (size_t i = 0; i < count; i++)
        link->histogram[bin_of(interval, delays[i])]++;
}

int sf_details_make(sf_details *details, const sf_episode *episode, const int64_t *times, size_t count,
                    const sf_bursts *bursts, sf_error *error)
{
    *details = (sf_details){.occurrences = count};
    int64_t *delays = sf_resize(NULL, count, sizeof *delays);
    if (delays == NULL) return sf_fail_memory(error);
    for (uint32_t link = 0; link + 1 < episode->size; link++) {
        for (size_t i = 0; i < count; i++)
            delays[i] = times[i * episode->size + link + 1] - times[i * episode->size + link];
        describe_link(&details->links[link], episode->delays[link], delays, count);
    }
    sf_free(delays);
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        size_t burst = sf_bursts_at(bursts, times[i * episode->size]);
        details->in_bursts += burst != SIZE_MAX;
        details->bursts += burst != SIZE_MAX && burst != last;
        last = burst != SIZE_MAX ? burst : last;
    }
    return SF_OK;
}

void sf_delay_chance(double shares[SF_DELAY_BINS], sf_delay interval, double rate_hz)
{
    double bin = rate_hz * (double)(interval.high_ns - interval.low_ns) * 1e-9 / SF_DELAY_BINS;
    for (size_t k = 0; k < SF_DELAY_BINS; k++)
        shares[k] =
            bin > 0 ? exp(-bin * (double)k) * expm1(-bin) / expm1(-bin * SF_DELAY_BINS) : 1.0 / SF_DELAY_BINS;
}
