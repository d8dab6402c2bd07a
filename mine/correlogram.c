/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/correlogram.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/reals.h"
#include "mine/dither.h"

#include <math.h>

/* The times of one unit's spikes. */
static size_t pick(int64_t *times, const sf_spike *spikes, size_t count, uint32_t unit)
{
    size_t picked = 0;
    for (size_t i = 0; i < count; i++)
        if (spikes[i].unit == unit) times[picked++] = spikes[i].time_ns;
    return picked;
}

/* k with k * bin < lag <= (k + 1) * bin, counted from the first bin. */
static size_t bin_of(const sf_correlogram *c, int64_t lag)
{
    return (size_t)((lag + (int64_t)c->half * c->bin_ns - 1) / c->bin_ns);
}

static void count_lags(uint64_t *counts, const sf_correlogram *c, const int64_t *from, size_t from_count,
                       const int64_t *to, size_t to_count)
{
    int64_t reach = (int64_t)c->half * c->bin_ns;
    size_t first = 0;
    for (size_t i = 0; i < from_count; i++) {
        while (first < to_count && to[first] - from[i] <= -reach)
            first++;
        for (size_t k = first; k < to_count && to[k] - from[i] <= reach; k++)
            if (c->from != c->to || i != k) counts[bin_of(c, to[k] - from[i])]++;
    }
}

/* How long it is observed both at t and at t + lag, over all t. */
static double exposure_ns(const sf_span *spans, size_t count, int64_t lag)
{
    double sum = 0;
    for (size_t i = 0, k = 0; i < count && k < count;) {
        int64_t start = spans[i].start_ns + lag, stop = spans[i].stop_ns + lag; /* the one span, moved */
        int64_t first = start > spans[k].start_ns ? start : spans[k].start_ns;
        int64_t last = stop < spans[k].stop_ns ? stop : spans[k].stop_ns;
        sum += last > first ? (double)(last - first) : 0;
        if (stop < spans[k].stop_ns)
            i++;
        else
            k++;
    }
    return sum;
}

/* Pairs at constant rates: those of one unit with itself without each spike with itself. */
static void expect(sf_correlogram *c, size_t from_count, size_t to_count, const sf_span *spans, size_t count)
{
    double duration = exposure_ns(spans, count, 0);
    double pairs = (double)from_count * ((double)to_count - (c->from == c->to && to_count > 0));
    c->mean = duration > 0 ? pairs * (double)c->bin_ns / duration : NAN;
    for (uint32_t k = 0; k < 2 * c->half; k++) {
        int64_t middle = ((int64_t)k - (int64_t)c->half) * c->bin_ns + c->bin_ns / 2;
        c->expected[k] = c->mean * exposure_ns(spans, count, middle) / duration;
    }
}

int sf_correlogram_make(sf_correlogram *correlogram, const sf_spike *spikes, size_t count, uint32_t from,
                        uint32_t to, int64_t bin_ns, uint32_t half, const sf_span *observed,
                        size_t observed_count, sf_error *error)
{
    *correlogram = (sf_correlogram){.from = from, .to = to, .bin_ns = bin_ns, .half = half};
    correlogram->counts = sf_alloc(2 * (size_t)half, sizeof *correlogram->counts);
    correlogram->expected = sf_alloc(2 * (size_t)half, sizeof *correlogram->expected);
    int64_t *times = sf_resize(NULL, 2 * count, sizeof *times);
    if (correlogram->counts == NULL || correlogram->expected == NULL || times == NULL) {
        sf_free(times);
        sf_correlogram_free(correlogram);
        return sf_fail_memory(error);
    }
    size_t from_count = pick(times, spikes, count, from);
    size_t to_count = pick(times + count, spikes, count, to);
    count_lags(correlogram->counts, correlogram, times, from_count, times + count, to_count);
    expect(correlogram, from_count, to_count, observed, observed_count);
    sf_free(times);
    return SF_OK;
}

/* ---- surrogates ---- */

/* Summarises what all surrogates counted in one bin; sorts `counted`. */
static void summarise(sf_correlogram *c, size_t bin, uint64_t *counted, uint32_t surrogates)
{
    uint32_t cut = surrogates / 40; /* 2.5 % on either side */
    double sum = 0;
    sf_counts_sort(counted, surrogates);
    for (uint32_t s = 0; s < surrogates; s++)
        sum += (double)counted[s];
    c->surrogate_mean[bin] = sum / surrogates;
    c->surrogate_low[bin] = (double)counted[cut];
    c->surrogate_high[bin] = (double)counted[surrogates - 1 - cut];
}

/* Room for a surrogate's train and for what all of them counted. */
typedef struct shift_room {
    int64_t *times, *moved;    /**< spikes of both trains; those of the train that is shifted */
    uint64_t *counts, *of_bin; /**< a row of bins for each surrogate; one bin over all surrogates */
    sf_dither dither;
} shift_room;

static bool open_room(shift_room *room, sf_correlogram *c, size_t count, uint32_t surrogates)
{
    size_t bins = 2 * (size_t)c->half;
    *room = (shift_room){.times = sf_resize(NULL, 2 * count + 1, sizeof *room->times),
                         .moved = sf_resize(NULL, count + 1, sizeof *room->moved),
                         .counts = sf_alloc(bins * surrogates, sizeof *room->counts),
                         .of_bin = sf_alloc(surrogates, sizeof *room->of_bin)};
    c->surrogate_mean = sf_alloc(bins, sizeof *c->surrogate_mean);
    c->surrogate_low = sf_alloc(bins, sizeof *c->surrogate_low);
    c->surrogate_high = sf_alloc(bins, sizeof *c->surrogate_high);
    return room->times != NULL && room->moved != NULL && room->counts != NULL && room->of_bin != NULL &&
           c->surrogate_mean != NULL && c->surrogate_low != NULL && c->surrogate_high != NULL;
}

static void close_room(shift_room *room)
{
    sf_free(room->times);
    sf_free(room->moved);
    sf_free(room->counts);
    sf_free(room->of_bin);
    sf_dither_close(&room->dither);
}

/* The train of `to`, whose times count from the first spike. */
static void move_train(shift_room *room, const sf_surrogate_rule *rule, uint32_t surrogate, uint32_t unit,
                       const int64_t *times, size_t count)
{
    if (sf_is_dither(rule->kind))
        sf_dither_train(room->moved, &room->dither, rule, surrogate, unit, times, count);
    for (size_t i = 0; !sf_is_dither(rule->kind) && i < count; i++)
        room->moved[i] = sf_surrogate_time(rule, surrogate, unit, (uint32_t)i, times[i]);
    sf_times_sort(room->moved, count);
}

int sf_correlogram_shift(sf_correlogram *c, const sf_spike *spikes, size_t count,
                         const sf_surrogate_rule *rule, uint32_t surrogates, sf_error *error)
{
    shift_room room;
    size_t bins = 2 * (size_t)c->half;
    surrogates = surrogates < SF_CORRELOGRAM_SURROGATES ? surrogates : SF_CORRELOGRAM_SURROGATES;
    bool opened = open_room(&room, c, count, surrogates);
    size_t from_count = opened ? pick(room.times, spikes, count, c->from) : 0;
    int64_t *to = room.times + from_count;
    size_t to_count = opened ? pick(to, spikes, count, c->to) : 0;
    for (size_t i = 0; i < from_count + to_count; i++)
        room.times[i] -= spikes[0].time_ns;
    opened = opened && sf_dither_open(&room.dither, rule->kind, to, to_count) == SF_OK;
    if (opened) {
        for (uint32_t s = 0; s < surrogates; s++) {
            move_train(&room, rule, s, c->to, to, to_count);
            count_lags(room.counts + s * bins, c, room.times, from_count, room.moved, to_count);
        }
        for (size_t bin = 0; bin < bins; bin++) {
            for (uint32_t s = 0; s < surrogates; s++)
                room.of_bin[s] = room.counts[s * bins + bin];
            summarise(c, bin, room.of_bin, surrogates);
        }
    }
    close_room(&room);
    return opened ? SF_OK : sf_fail_memory(error);
}

void sf_correlogram_free(sf_correlogram *correlogram)
{
    sf_free(correlogram->counts);
    sf_free(correlogram->expected);
    sf_free(correlogram->surrogate_mean);
    sf_free(correlogram->surrogate_low);
    sf_free(correlogram->surrogate_high);
    *correlogram = (sf_correlogram){0};
}
