/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/bursts_oracle.h"

#include <stdlib.h>
#include <string.h>

/* Spikes from..to, both included, that no interval over `within` parts. */
static sf_unit_burst from_first_short(const int64_t *times_ns, size_t from, size_t to,
                                      const sf_burst_rule *rule)
{
    for (size_t i = from; i < to; i++)
        if (times_ns[i + 1] - times_ns[i] <= rule->begin_ns)
            return (sf_unit_burst){i, to - i + 1, times_ns[i], times_ns[to]};
    return (sf_unit_burst){.spikes = 0};
}

static size_t remove_at(sf_unit_burst *bursts, size_t count, size_t i)
{
    memmove(bursts + i, bursts + i + 1, (count - i - 1) * sizeof *bursts);
    return count - 1;
}

size_t oracle_unit_bursts(sf_unit_burst *bursts, const int64_t *times_ns, size_t count,
                          const sf_burst_rule *rule)
{
    size_t found = 0, i = 0;
    for (size_t from = 0; from < count;) {
        size_t to = from;
        while (to + 1 < count && times_ns[to + 1] - times_ns[to] <= rule->within_ns)
            to++;
        sf_unit_burst burst = from_first_short(times_ns, from, to, rule);
        if (burst.spikes > 0)
            bursts[found++] = burst;
        from = to + 1;
    }
    while (i + 1 < found) {
        if (bursts[i + 1].first_ns - bursts[i].last_ns >= rule->apart_ns) {
            i++;
            continue;
        }
        bursts[i].last_ns = bursts[i + 1].last_ns;
        bursts[i].spikes = bursts[i + 1].first - bursts[i].first + bursts[i + 1].spikes;
        found = remove_at(bursts, found, i + 1);
        i = 0;
    }
    for (i = 0; i < found;)
        if (bursts[i].last_ns - bursts[i].first_ns < rule->least_ns || bursts[i].spikes < rule->least_spikes)
            found = remove_at(bursts, found, i);
        else
            i++;
    return found;
}

size_t oracle_array_bursts(sf_span *spans, const sf_spike *spikes, size_t count, int64_t duration_ns)
{
    const int64_t bin = 100000000;
    size_t found = 0;
    if (count == 0)
        return 0;
    int64_t origin = spikes[0].time_ns, bins = (spikes[count - 1].time_ns - origin) / bin + 1;
    size_t *held = calloc((size_t)bins + 1, sizeof *held); /* the last holds none */
    for (size_t i = 0; i < count; i++)
        held[(spikes[i].time_ns - origin) / bin]++;
    double mean = (double)count / ((double)duration_ns / (double)bin);
    for (int64_t from = 0; from < bins; from++) {
        int64_t to = from;
        size_t most = 0;
        if (held[from] == 0 || (double)held[from] < mean)
            continue;
        for (; to < bins && held[to] > 0 && (double)held[to] >= mean; to++)
            most = held[to] > most ? held[to] : most;
        if (most >= 10 && (double)most >= 3 * mean)
            spans[found++] = (sf_span){origin + from * bin, origin + to * bin};
        from = to;
    }
    free(held);
    return found;
}
