/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/lags.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

static int64_t bins_of(sf_span span)
{
    return span.stop_ns > span.start_ns ? (span.stop_ns - span.start_ns + SF_LAG_BIN_NS - 1) / SF_LAG_BIN_NS
                                        : 0;
}

/* Bins the spikes of one span, which begins at bin `offset`. A unit's second spike in a bin is ignored. */
static void bin_span(sf_binned *trains, uint32_t *last_bin, const sf_spike *spikes, size_t count,
                     sf_span span, uint32_t offset)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bin = offset + (uint32_t)((spikes[i].time_ns - span.start_ns) / SF_LAG_BIN_NS);
        if (last_bin[spikes[i].unit] == bin + 1) continue;
        last_bin[spikes[i].unit] = bin + 1;
        trains->spikes[trains->count++] = (sf_binned_spike){bin, spikes[i].unit};
    }
}

/* Spikes within a bin are ordered by time; ordering by unit makes the result comparable in tests. */
static void order_bins(sf_binned *trains)
{
    for (size_t i = 1; i < trains->count; i++)
        for (size_t k = i; k > 0 && trains->spikes[k - 1].bin == trains->spikes[k].bin &&
                           trains->spikes[k - 1].unit > trains->spikes[k].unit;
             k--) {
            sf_binned_spike moved = trains->spikes[k];
            trains->spikes[k] = trains->spikes[k - 1];
            trains->spikes[k - 1] = moved;
        }
}

static void index_units(sf_binned *trains)
{
    memset(trains->first, 0, (trains->unit_count + 2) * sizeof *trains->first);
    for (size_t i = 0; i < trains->count; i++)
        trains->first[trains->spikes[i].unit + 2]++;
    for (size_t u = 0; u < trains->unit_count; u++)
        trains->first[u + 2] += trains->first[u + 1];
    for (size_t i = 0; i < trains->count; i++)
        trains->places[trains->first[trains->spikes[i].unit + 1]++] = (uint32_t)i;
}

static bool take_room(sf_binned *trains, size_t count, size_t unit_count)
{
    *trains = (sf_binned){.unit_count = unit_count,
                          .spikes = sf_resize(NULL, count + 1, sizeof *trains->spikes),
                          .places = sf_resize(NULL, count + 1, sizeof *trains->places),
                          .first = sf_resize(NULL, unit_count + 2, sizeof *trains->first)};
    return trains->spikes != NULL && trains->places != NULL && trains->first != NULL;
}

int sf_binned_open(sf_binned *trains, const sf_spike *spikes, size_t count, size_t unit_count,
                   const sf_span *observed, size_t observed_count, sf_error *error)
{
    int64_t end = 0;
    bool has_room = take_room(trains, count, unit_count);
    uint32_t *last_bin = sf_alloc(unit_count, sizeof *last_bin);
    int status = has_room && last_bin != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t s = 0; s < observed_count && status == SF_OK; s++) {
        size_t from = sf_spikes_lower_bound(spikes, count, observed[s].start_ns),
               to = sf_spikes_lower_bound(spikes, count, observed[s].stop_ns);
        int64_t bins = bins_of(observed[s]);
        if (bins > INT32_MAX - SF_LAG_MOST - end)
            status = sf_fail(error, SF_DATA, NULL, "more than 2^31 bins of a millisecond are recorded");
        else if (to > from)
            bin_span(trains, last_bin, spikes + from, to - from, observed[s], (uint32_t)end);
        end += bins + SF_LAG_MOST;
        trains->bins += (double)bins;
    }
    if (status == SF_OK && !(trains->bins > 0))
        status = sf_fail(error, SF_DATA, NULL, "the recorded time is empty");
    if (status == SF_OK) {
        order_bins(trains);
        index_units(trains);
    } else {
        sf_binned_close(trains);
    }
    sf_free(last_bin);
    return status;
}

void sf_binned_close(sf_binned *trains)
{
    sf_free(trains->spikes);
    sf_free(trains->places);
    sf_free(trains->first);
    *trains = (sf_binned){0};
}

int sf_binned_repeats(sf_binned *repeats, const sf_binned *trains, sf_error *error)
{
    if (!take_room(repeats, trains->count, trains->unit_count)) {
        sf_binned_close(repeats);
        return sf_fail_memory(error);
    }
    size_t before = 0; /* before: the first spike that is at most one bin back */
    repeats->bins = trains->bins;
    for (size_t i = 0; i < trains->count; i++) {
        sf_binned_spike spike = trains->spikes[i];
        while (trains->spikes[before].bin + 1 < spike.bin)
            before++;
        for (size_t k = before; trains->spikes[k].bin < spike.bin; k++)
            if (trains->spikes[k].unit == spike.unit) repeats->spikes[repeats->count++] = spike;
    }
    index_units(repeats);
    return SF_OK;
}

void sf_lags_count_of(uint32_t *counts, const sf_binned *trains, uint32_t unit, const sf_binned *others,
                      uint32_t reach)
{
    const sf_binned_spike *spikes = others->spikes;
    const size_t lags = 2 * (size_t)reach + 1;
    size_t from = 0;
    memset(counts, 0, others->unit_count * lags * sizeof *counts);
    for (size_t i = trains->first[unit]; i < trains->first[unit + 1]; i++) {
        uint32_t bin = trains->spikes[trains->places[i]].bin;
        while (from < others->count && spikes[from].bin + reach < bin)
            from++;
        for (size_t k = from; k < others->count && spikes[k].bin <= bin + reach; k++)
            counts[spikes[k].unit * lags + (spikes[k].bin + reach - bin)]++;
    }
}

void sf_lags_count(uint32_t *counts, const sf_binned *trains, uint32_t unit, uint32_t reach)
{
    sf_lags_count_of(counts, trains, unit, trains, reach);
}
