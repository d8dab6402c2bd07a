/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/sequences_oracle.h"

#include <math.h>
#include <stdlib.h>

static bool lies_in(const sf_spike *spike, const sf_span *burst, uint32_t unit)
{
    return spike->unit == unit && spike->time_ns >= burst->start_ns && spike->time_ns < burst->stop_ns;
}

/* The place around which places are densest, by all pairs; twice it, of several the first and the last. */
static int64_t twice_the_peak(const int64_t *places, size_t count, double deviation)
{
    double sums[500], most = 0;
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        sums[i] = 0;
        for (size_t k = 0; k < count; k++) {
            double off = (double)(places[k] - places[i]) / deviation;
            sums[i] += fabs(off) <= 4 ? exp(-off * off / 2) : 0;
        }
        most = fmax(most, sums[i]);
    }
    for (size_t i = 0; i < count; i++)
        if (sums[i] > most - 1e-9) {
            first = places[i] < first ? places[i] : first;
            last = places[i] > last ? places[i] : last;
        }
    return first + last;
}

/* Two times that the unit stands in the order by. */
static bool stands_at(const sf_recording *r, oracle_burst burst, const oracle_order *order, uint32_t unit,
                      int64_t at[2])
{
    int64_t times_ns[500], places[500], first = INT64_MAX, last = INT64_MIN, all = 0;
    size_t count = 0;
    for (size_t i = 0; i < r->spike_count; i++) {
        if (lies_in(&r->spikes[i], burst.span, unit)) {
            places[count] = burst.backwards ? -all : all;
            times_ns[count++] = burst.backwards ? -r->spikes[i].time_ns : r->spikes[i].time_ns;
        }
        all += lies_in(&r->spikes[i], burst.span, r->spikes[i].unit);
    }
    double deviation =
        (double)all * (double)order->window_ns / 2 / (double)(burst.span->stop_ns - burst.span->start_ns);
    for (size_t i = 0; i < count; i++) {
        first = times_ns[i] < first ? times_ns[i] : first;
        last = times_ns[i] > last ? times_ns[i] : last;
    }
    at[0] = first;
    at[1] = order->by == SF_ORDER_FIRST_LAST ? last : first;
    if (order->by == SF_ORDER_RATE_PEAK) at[0] = at[1] = twice_the_peak(places, count, fmax(1, deviation));
    return order->listed[unit] && count > 0 && count >= order->least;
}

double oracle_position(const sf_recording *recording, oracle_burst burst, const oracle_order *order,
                       uint32_t unit)
{
    int64_t own[2], other[2];
    double before = 0, others = 0;
    if (!stands_at(recording, burst, order, unit, own)) return NAN;
    for (uint32_t v = 0; v < recording->units.count; v++) {
        if (v == unit || !stands_at(recording, burst, order, v, other)) continue;
        others++;
        for (int end = 0; end < 2; end++)
            before += other[end] < own[end] ? 1 : other[end] == own[end] ? 0.5 : 0;
    }
    return others > 0 ? before / others - 1 : 0;
}

static double position_of_others(const sf_recording *recording, oracle_burst burst, const oracle_order *order,
                                 uint32_t unit)
{
    double own = oracle_position(recording, burst, order, unit), sum = 0, count = 0;
    if (!order->leaves_out || unit == order->without) return order->leaves_out ? NAN : own;
    for (uint32_t v = 0; v < recording->units.count; v++) {
        double d = oracle_position(recording, burst, order, v);
        sum += isnan(d) || v == order->without ? 0 : d;
        count += !isnan(d) && v != order->without;
    }
    return own - sum / count;
}

static double squares(const sf_recording *recording, oracle_burst burst, const oracle_order *order)
{
    double sum = 0;
    for (uint32_t u = 0; u < recording->units.count; u++) {
        double d = position_of_others(recording, burst, order, u);
        sum += isnan(d) ? 0 : d * d;
    }
    return sum > 1e-20 ? sum : 0;
}

double oracle_similarity(const sf_recording *recording, oracle_burst one, oracle_burst other,
                         const oracle_order *order)
{
    double both = 0, first = squares(recording, one, order), second = squares(recording, other, order);
    bool ordered = first > 0 && second > 0 &&
                   squares(recording, (oracle_burst){one.span, !one.backwards}, order) > 0 &&
                   squares(recording, (oracle_burst){other.span, !other.backwards}, order) > 0;
    for (uint32_t u = 0; u < recording->units.count; u++) {
        double a = position_of_others(recording, one, order, u);
        double b = position_of_others(recording, other, order, u);
        both += isnan(a) || isnan(b) ? 0 : a * b;
    }
    return ordered ? both / sqrt(first * second) : NAN;
}

static double mean_of_ways(const double *similarity, size_t count, unsigned ways)
{
    double sum = 0, pairs = 0;
    for (size_t b = 0; b < count; b++)
        for (size_t c = b + 1; c < count; c++) {
            double one = similarity[(2 * b + (ways >> b & 1)) * 2 * count + 2 * c + (ways >> c & 1)];
            sum += isnan(one) ? 0 : one;
            pairs += !isnan(one);
        }
    return pairs > 0 ? sum / pairs : NAN;
}

double oracle_order_p(const double *similarity, size_t count, double *mean)
{
    double as_similar = 0;
    *mean = mean_of_ways(similarity, count, 0);
    for (unsigned ways = 0; ways < 1u << count; ways++)
        as_similar += mean_of_ways(similarity, count, ways) >= *mean - 1e-9;
    return isnan(*mean) ? NAN : as_similar / (double)(1u << count);
}

static int64_t time_of(const sf_burst_frame *frame, const sf_burst_train *train, size_t event,
                       const int64_t *zero_ns, const uint32_t *moved)
{
    uint32_t b = train->bursts[event];
    size_t rank = train->ranks[event];
    for (uint32_t i = 0; moved != NULL && i < moved[b]; i++)
        rank = rank + 1 < frame->bursts[b].spikes ? rank + 1 : 0;
    return frame->spikes[frame->bursts[b].first_spike + rank].time_ns - zero_ns[b];
}

static uint64_t kept_in(const sf_burst_frame *frame, const sf_burst_train *train, const int64_t *zero_ns,
                        const uint32_t *moved, int64_t from_ns, int64_t to_ns)
{
    uint64_t kept = 0;
    for (size_t b = 0; b < frame->burst_count; b++) {
        bool any = false;
        for (size_t i = 0; i < train->count; i++) {
            int64_t at = time_of(frame, train, i, zero_ns, moved);
            any = any || (train->bursts[i] == b && at >= from_ns && at < to_ns);
        }
        kept += any;
    }
    return kept;
}

static double product(const sf_burst_frame *frame, const sf_burst_train *train, const int64_t *zero_ns,
                      const uint32_t *moved, size_t one, size_t other)
{
    double sum = 0;
    for (size_t i = 0; i < train->count; i++)
        for (size_t k = 0; k < train->count; k++)
            if (train->bursts[i] == one && train->bursts[k] == other) {
                int64_t apart_ns =
                    time_of(frame, train, i, zero_ns, moved) - time_of(frame, train, k, zero_ns, moved);
                sum += exp(-fabs((double)apart_ns) / (double)frame->window_ns);
            }
    return sum;
}

double oracle_shape(const sf_burst_frame *frame, const sf_burst_train *train, const int64_t *zero_ns,
                    const uint32_t *moved)
{
    double sum = 0, pairs = 0;
    for (size_t b = 0; b < frame->burst_count; b++)
        for (size_t d = b + 1; d < frame->burst_count; d++) {
            double squares =
                product(frame, train, zero_ns, moved, b, b) * product(frame, train, zero_ns, moved, d, d);
            sum += squares > 0 ? product(frame, train, zero_ns, moved, b, d) / sqrt(squares) : 0;
            pairs += squares > 0;
        }
    return pairs > 0 ? sum / pairs : NAN;
}

uint64_t oracle_kept(const sf_burst_frame *frame, const sf_burst_train *train, const int64_t *zero_ns,
                     const uint32_t *moved)
{
    int64_t width = frame->window_ns, low = INT64_MAX, high = INT64_MIN;
    uint64_t most = 0;
    for (size_t b = 0; b < frame->burst_count; b++)
        for (size_t i = 0; i < frame->bursts[b].spikes; i++) {
            int64_t at = frame->spikes[frame->bursts[b].first_spike + i].time_ns - zero_ns[b];
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
    for (int64_t from = low - width; from <= high; from += width / SF_PLACE_CELLS) {
        uint64_t kept = kept_in(frame, train, zero_ns, moved, from, from + width);
        most = kept > most ? kept : most;
    }
    return most;
}

uint64_t oracle_kept_at(const sf_burst_frame *frame, const sf_burst_train *train, const int64_t *zero_ns,
                        const uint32_t *moved, int64_t middle_ns)
{
    int64_t half = frame->window_ns / 2 + frame->window_ns / SF_PLACE_CELLS;
    return kept_in(frame, train, zero_ns, moved, middle_ns - half, middle_ns + half);
}
