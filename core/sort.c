/* SPDX-License-Identifier: Apache-2.0 */
#include "core/error.h"
#include "core/memory.h"
#include "core/recording.h"

#include <string.h>

bool sf_spikes_are_sorted(const sf_spike *spikes, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (spikes[i].time_ns < spikes[i - 1].time_ns ||
            (spikes[i].time_ns == spikes[i - 1].time_ns && spikes[i].unit < spikes[i - 1].unit))
            return false;
    return true;
}

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

/* The key of one pass: the unit, or the time's distance from the earliest one. */
typedef struct radix_pass {
    bool by_time;
    int shift;
    int64_t origin;
} radix_pass;

static unsigned digit(const sf_spike *spike, radix_pass pass)
{
    uint64_t key = pass.by_time ? (uint64_t)spike->time_ns - (uint64_t)pass.origin : spike->unit;
    return (unsigned)(key >> pass.shift) & (DIGITS - 1);
}

/* One stable counting pass; false where every spike has the same digit, and nothing was moved. */
static bool scatter(sf_spike *to, const sf_spike *from, size_t count, radix_pass pass)
{
    size_t next[DIGITS] = {0};
    for (size_t i = 0; i < count; i++)
        next[digit(&from[i], pass)]++;
    if (next[digit(&from[0], pass)] == count)
        return false;
    size_t sum = 0;
    for (unsigned d = 0; d < DIGITS; d++) {
        size_t here = next[d];
        next[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        to[next[digit(&from[i], pass)]++] = from[i];
    return true;
}

const sf_spike *sf_spikes_sort_within(sf_spike *spikes, sf_spike *room, size_t count)
{
    int64_t earliest = INT64_MAX, latest = INT64_MIN;
    uint32_t last_unit = 0;
    bool units_ascend = true;
    for (size_t i = 0; i < count; i++) {
        if (spikes[i].time_ns < earliest)
            earliest = spikes[i].time_ns;
        if (spikes[i].time_ns > latest)
            latest = spikes[i].time_ns;
        units_ascend = units_ascend && spikes[i].unit >= last_unit;
        last_unit = spikes[i].unit;
    }
    radix_pass pass = {.origin = earliest};
    uint64_t widest = count > 0 ? (uint64_t)latest - (uint64_t)earliest : 0;
    /* Least significant first: unit (already in order where trains are concatenated), then time. */
    for (int round = units_ascend ? 1 : 0; round < 2; round++) {
        pass.by_time = round == 1;
        uint64_t most = pass.by_time ? widest : UINT32_MAX;
        for (pass.shift = 0; pass.shift < 64 && most >> pass.shift != 0; pass.shift += DIGIT_BITS) {
            if (!scatter(room, spikes, count, pass))
                continue;
            sf_spike *swap = spikes;
            spikes = room;
            room = swap;
        }
    }
    return spikes;
}

int sf_spikes_sort(sf_spike *spikes, size_t count, sf_error *error)
{
    if (sf_spikes_are_sorted(spikes, count))
        return SF_OK;
    sf_spike *room = sf_resize(NULL, count, sizeof *room);
    if (room == NULL)
        return sf_fail_memory(error);
    const sf_spike *sorted = sf_spikes_sort_within(spikes, room, count);
    if (sorted != spikes)
        memcpy(spikes, sorted, count * sizeof *spikes);
    sf_free(room);
    return SF_OK;
}
