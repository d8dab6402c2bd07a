/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/count_oracle.h"

#include "mine/mine.h"

#include <stdlib.h>

#define NO_START (-1)

/* lo < dt <= hi, in unsigned arithmetic because times may be anywhere in int64. */
static bool linked(const sf_spike *from, const sf_spike *to, sf_delay delay)
{
    if (to->time_ns <= from->time_ns) return false;
    uint64_t elapsed = (uint64_t)to->time_ns - (uint64_t)from->time_ns;
    return elapsed > (uint64_t)delay.low_ns && elapsed <= (uint64_t)delay.high_ns;
}

/* The latest start of an occurrence of the first node + 1 nodes that ends at spike `end`. */
static long latest_start(const sf_spike *spikes, size_t end, const sf_episode *episode, uint32_t node,
                         const long *shorter)
{
    if (spikes[end].unit != episode->units[node]) return NO_START;
    if (node == 0) return (long)end;
    long latest = NO_START;
    for (size_t before = 0; before < end; before++)
        if (shorter[before] > latest && linked(&spikes[before], &spikes[end], episode->delays[node - 1]))
            latest = shorter[before];
    return latest;
}

uint64_t oracle_pass(const sf_spike *spikes, size_t count, const sf_episode *episode, size_t begin,
                     size_t end, uint64_t entry, uint64_t *exit)
{
    long *starts = malloc((count + 1) * sizeof *starts);
    long *shorter = malloc((count + 1) * sizeof *shorter);
    for (uint32_t node = 0; node < episode->size; node++) {
        for (size_t i = 0; i < count; i++)
            starts[i] = latest_start(spikes, i, episode, node, shorter);
        long *swap = shorter;
        shorter = starts;
        starts = swap;
    }
    uint64_t total = 0;
    for (size_t i = begin; i < end; i++) {
        if (shorter[i] >= (long)entry) {
            total++;
            entry = i + 1;
        }
    }
    *exit = entry;
    free(starts);
    free(shorter);
    return total;
}

uint64_t oracle_count(const sf_spike *spikes, size_t count, const sf_episode *episode)
{
    uint64_t exit;
    return oracle_pass(spikes, count, episode, 0, count, 0, &exit);
}

typedef struct enumeration {
    const sf_spike *spikes;
    size_t count;
    const sf_episode *episode;
    size_t start;         /* of the occurrence being extended */
    const uint64_t *best; /* best[p]: largest disjoint set among the first p spikes */
    size_t end;           /* occurrences must end here */
    uint64_t most;        /* the largest set that has an occurrence ending at `end` */
} enumeration;

static void extend(enumeration *all, size_t at, uint32_t nodes)
{
    if (nodes == all->episode->size) {
        if (at == all->end && all->best[all->start] + 1 > all->most) all->most = all->best[all->start] + 1;
        return;
    }
    for (size_t next = at + 1; next < all->count; next++)
        if (all->spikes[next].unit == all->episode->units[nodes] &&
            linked(&all->spikes[at], &all->spikes[next], all->episode->delays[nodes - 1]))
            extend(all, next, nodes + 1);
}

uint64_t oracle_count_brute(const sf_spike *spikes, size_t count, const sf_episode *episode)
{
    uint64_t *best = calloc(count + 1, sizeof *best);
    for (size_t end = 0; end < count; end++) {
        enumeration all = {.spikes = spikes, .count = count, .episode = episode, .best = best, .end = end};
        for (all.start = 0; all.start <= end; all.start++)
            if (spikes[all.start].unit == episode->units[0]) extend(&all, all.start, 1);
        best[end + 1] = all.most > best[end] ? all.most : best[end];
    }
    uint64_t total = best[count];
    free(best);
    return total;
}

int check_occurrences(int64_t **times, size_t *count, const sf_spike *spikes, size_t spike_count,
                      size_t unit_count, const sf_episode *episode, sf_error *error)
{
    *times = NULL;
    *count = 0;
    sf_counter *counter;
    int status = sf_counter_open(&counter, spikes, spike_count, unit_count, episode, 1, NULL, 1, error);
    if (status == SF_OK) status = sf_counter_occurrences(counter, 0, times, count, error);
    sf_counter_close(counter);
    return status;
}
