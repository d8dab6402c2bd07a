/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/sequences_oracle.h"

#include <math.h>
#include <stdlib.h>

static bool lies_in(const sf_spike *spike, const sf_span *burst, uint32_t unit)
{
    return spike->unit == unit && spike->time_ns >= burst->start_ns && spike->time_ns < burst->stop_ns;
}

static bool ends_of(const sf_recording *r, const sf_span *burst, uint32_t unit, uint64_t least,
                    int64_t ends[2])
{
    uint64_t count = 0;
    for (size_t i = 0; i < r->spike_count; i++)
        if (lies_in(&r->spikes[i], burst, unit)) {
            ends[0] = count++ == 0 ? r->spikes[i].time_ns : ends[0];
            ends[1] = r->spikes[i].time_ns;
        }
    return count >= least;
}

double oracle_position(const sf_recording *recording, const sf_span *burst, const bool *listed,
                       uint64_t least, uint32_t unit)
{
    int64_t own[2] = {0}, other[2] = {0};
    double before = 0, others = 0;
    if (!listed[unit] || !ends_of(recording, burst, unit, least, own))
        return NAN;
    for (uint32_t v = 0; v < recording->units.count; v++) {
        if (v == unit || !listed[v] || !ends_of(recording, burst, v, least, other))
            continue;
        others++;
        for (int end = 0; end < 2; end++)
            before += other[end] < own[end] ? 1 : other[end] == own[end] ? 0.5 : 0;
    }
    return others > 0 ? before / others - 1 : 0;
}

double oracle_similarity(const sf_recording *recording, const sf_span *one, const sf_span *other,
                         const bool *listed, uint64_t least)
{
    double both = 0, first = 0, second = 0;
    for (uint32_t u = 0; u < recording->units.count; u++) {
        double a = oracle_position(recording, one, listed, least, u);
        double b = oracle_position(recording, other, listed, least, u);
        both += isnan(a) || isnan(b) ? 0 : a * b;
        first += isnan(a) ? 0 : a * a;
        second += isnan(b) ? 0 : b * b;
    }
    return first > 0 && second > 0 ? both / sqrt(first * second) : NAN;
}

static double mean_of_signs(const double *similarity, size_t count, unsigned signs)
{
    double sum = 0, pairs = 0;
    for (size_t b = 0; b < count; b++)
        for (size_t c = b + 1; c < count; c++)
            if (!isnan(similarity[b * count + c])) {
                sum += similarity[b * count + c] * ((signs >> b & 1) == (signs >> c & 1) ? 1 : -1);
                pairs++;
            }
    return pairs > 0 ? sum / pairs : NAN;
}

double oracle_order_p(const double *similarity, size_t count, double *mean)
{
    double as_similar = 0;
    *mean = mean_of_signs(similarity, count, 0);
    for (unsigned signs = 0; signs < 1u << count; signs++)
        as_similar += mean_of_signs(similarity, count, signs) >= *mean - 1e-9;
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
