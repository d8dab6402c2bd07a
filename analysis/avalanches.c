/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/avalanches.h"

#include "core/error.h"
#include "core/memory.h"

/* ---- intervals of observation ---- */

static size_t interval_count(const sf_recording *recording)
{
    return recording->observed_count > 0 ? recording->observed_count : 1;
}

static sf_span interval_at(const sf_recording *recording, size_t i)
{
    return recording->observed_count > 0 ? recording->observed[i] : recording->recorded;
}

/* Number of spikes in an observed interval; *from is the index of its first, and advances past it. */
static size_t spikes_of(const sf_recording *recording, sf_span span, size_t *from)
{
    while (*from < recording->spike_count && recording->spikes[*from].time_ns < span.start_ns)
        ++*from;
    size_t end = *from;
    while (end < recording->spike_count && recording->spikes[end].time_ns < span.stop_ns)
        end++;
    return end;
}

int64_t sf_population_interval_ns(const sf_recording *recording)
{
    int64_t sum_ns = 0;
    size_t intervals = 0, from = 0;
    for (size_t i = 0; i < interval_count(recording); i++) {
        size_t end = spikes_of(recording, interval_at(recording, i), &from);
        if (end > from + 1) {
            sum_ns += recording->spikes[end - 1].time_ns - recording->spikes[from].time_ns;
            intervals += end - from - 1;
        }
        from = end;
    }
    if (intervals == 0) return 0;
    return sum_ns / (int64_t)intervals > 0 ? sum_ns / (int64_t)intervals : 1;
}

/* ---- counts ---- */

#define MOST_BINS (INT64_C(1) << 31)

static int open_population(sf_population *population, const sf_recording *recording, int64_t bin_ns,
                           sf_error *error)
{
    int64_t bins = 0;
    *population = (sf_population){.bin_ns = bin_ns, .interval_count = interval_count(recording)};
    population->first = sf_alloc(population->interval_count + 1, sizeof *population->first);
    if (population->first == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < population->interval_count; i++) {
        const sf_span span = interval_at(recording, i);
        bins += (span.stop_ns - span.start_ns) / bin_ns;
        if (bins > MOST_BINS)
            return sf_fail(error, SF_USAGE, NULL, "bins of %.4g ms are more than 2^31 of this recording",
                           (double)bin_ns * 1e-6);
        population->first[i + 1] = (size_t)bins;
    }
    population->bins = (size_t)bins;
    population->counts = sf_alloc(population->bins, sizeof *population->counts);
    return population->counts == NULL ? sf_fail_memory(error) : SF_OK;
}

int sf_population_count(sf_population *population, const sf_recording *recording, int64_t bin_ns,
                        sf_error *error)
{
    int status = open_population(population, recording, bin_ns, error);
    size_t from = 0;
    for (size_t i = 0; i < population->interval_count && status == SF_OK; i++) {
        const sf_span span = interval_at(recording, i);
        size_t end = spikes_of(recording, span, &from),
               bins = population->first[i + 1] - population->first[i];
        for (; from < end; from++) {
            size_t bin = (size_t)((recording->spikes[from].time_ns - span.start_ns) / bin_ns);
            if (bin < bins) {
                population->counts[population->first[i] + bin]++;
                population->spikes++;
            }
        }
    }
    return status;
}

void sf_population_free(sf_population *population)
{
    sf_free(population->counts);
    sf_free(population->first);
    *population = (sf_population){0};
}

/* ---- avalanches ---- */

typedef struct finder {
    sf_avalanches *avalanches;
    const sf_recording *recording;
    uint64_t *seen; /* per unit: 1 + index of the last avalanche in which it fired */
    uint64_t number;
} finder;

static int take(finder *f, sf_span span, size_t from, size_t to, int64_t first_bin, int64_t bins,
                sf_error *error)
{
    sf_avalanches *all = f->avalanches;
    if (sf_reserve(&all->items, &all->capacity, all->count + 1, sizeof *all->items) != 0)
        return sf_fail_memory(error);
    sf_avalanche *taken = &all->items[all->count++];
    *taken = (sf_avalanche){.start_ns = span.start_ns + first_bin * all->bin_ns,
                            .stop_ns = span.start_ns + (first_bin + bins) * all->bin_ns,
                            .spikes = to - from,
                            .bins = (uint64_t)bins,
                            .first = from};
    f->number++;
    for (size_t i = from; i < to; i++) {
        uint64_t *seen = &f->seen[f->recording->spikes[i].unit];
        taken->units += *seen != f->number;
        *seen = f->number;
    }
    return SF_OK;
}

/* Finds the avalanches in an observed interval, whose spikes are from .. end - 1. */
static int find_within(finder *f, sf_span span, size_t from, size_t end, sf_error *error)
{
    const sf_spike *spikes = f->recording->spikes;
    int64_t bin_ns = f->avalanches->bin_ns, whole_bins = (span.stop_ns - span.start_ns) / bin_ns;
    int status = SF_OK;
    for (size_t next = from; from < end && status == SF_OK; from = next) {
        int64_t first = (spikes[from].time_ns - span.start_ns) / bin_ns, last = first;
        for (next = from + 1; next < end; next++) {
            int64_t bin = (spikes[next].time_ns - span.start_ns) / bin_ns;
            if (bin > last + 1) break;
            last = bin;
        }
        if (first > 0 && last + 1 < whole_bins)
            status = take(f, span, from, next, first, last + 1 - first, error);
    }
    return status;
}

int sf_avalanches_find(sf_avalanches *avalanches, const sf_recording *recording, int64_t bin_ns,
                       sf_error *error)
{
    avalanches->bin_ns = bin_ns;
    avalanches->count = 0;
    finder f = {.avalanches = avalanches,
                .recording = recording,
                .seen = sf_alloc(recording->units.count, sizeof *f.seen)};
    int status = f.seen == NULL ? sf_fail_memory(error) : SF_OK;
    size_t from = 0;
    for (size_t i = 0; i < interval_count(recording) && status == SF_OK; i++) {
        const sf_span span = interval_at(recording, i);
        size_t end = spikes_of(recording, span, &from);
        status = find_within(&f, span, from, end, error);
        from = end;
    }
    sf_free(f.seen);
    return status;
}

void sf_avalanches_free(sf_avalanches *avalanches)
{
    sf_free(avalanches->items);
    *avalanches = (sf_avalanches){0};
}
