/* SPDX-License-Identifier: Apache-2.0 */
/* The spikes of each counted occurrence: the lists of the interval engine, with the way back. */
#include "mine/occurrences.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/options.h"
#include "core/reals.h"

/* A spike that an occurrence of the nodes so far can end with. */
typedef struct stop {
    int64_t time;
    uint32_t position, start; /* start: the latest position that such an occurrence can start at */
    uint32_t previous;        /* the spike before it in that occurrence: index in the node before's list */
} stop;

typedef struct stops {
    stop *items;
    size_t count;
} stops;

static int list_node(stops *to, const stops *from, sf_unit_events unit, const sf_delay *delay)
{
    to->items = sf_resize(NULL, unit.count, sizeof *to->items);
    if (to->items == NULL) return SF_NO_MEMORY;
    size_t k = 0;
    for (size_t i = 0; i < unit.count; i++) {
        stop next = {unit.times[i], unit.positions[i], unit.positions[i], 0};
        if (from != NULL) {
            while (k < from->count && next.time - from->items[k].time > delay->low_ns)
                k++;
            if (k == 0 || next.time - from->items[k - 1].time > delay->high_ns) continue;
            next.start = from->items[k - 1].start;
            next.previous = (uint32_t)(k - 1);
        }
        to->items[to->count++] = next;
    }
    return SF_OK;
}

/* Follows one occurrence back from its last spike. */
static void trace(int64_t *times, const stops *nodes, uint32_t size, const stop *last, int64_t origin_ns)
{
    for (uint32_t node = size; node-- > 0;) {
        times[node] = last->time + origin_ns;
        if (node > 0) last = &nodes[node - 1].items[last->previous];
    }
}

static int take_greedily(int64_t **times, size_t *count, const stops *nodes, uint32_t size, int64_t origin_ns)
{
    const stops *last = &nodes[size - 1];
    *times = sf_resize(NULL, last->count * size, sizeof **times);
    if (*times == NULL) return SF_NO_MEMORY;
    uint32_t restart = 0;
    for (size_t i = 0; i < last->count; i++) {
        if (last->items[i].start < restart) continue;
        restart = last->items[i].position + 1;
        trace(*times + *count * size, nodes, size, &last->items[i], origin_ns);
        ++*count;
    }
    return SF_OK;
}

static int find(int64_t **times, size_t *count, stops *nodes, const sf_events *events, const uint32_t *units,
                const sf_episode *episode)
{
    for (uint32_t node = 0; node < episode->size; node++) {
        sf_unit_events unit = sf_events_unit(events, units[node], 0, UINT32_MAX);
        int status = node == 0 ? list_node(&nodes[0], NULL, unit, NULL)
                               : list_node(&nodes[node], &nodes[node - 1], unit, &episode->delays[node - 1]);
        if (status != SF_OK) return status;
    }
    return take_greedily(times, count, nodes, episode->size, events->origin_ns);
}

int sf_events_occurrences(int64_t **times, size_t *count, const sf_events *events, const uint32_t *units,
                          const sf_episode *episode, sf_error *error)
{
    *times = NULL;
    *count = 0;
    stops nodes[SF_EPISODE_MAX_SIZE] = {0};
    int status = find(times, count, nodes, events, units, episode);
    for (uint32_t node = 0; node < episode->size; node++)
        sf_free(nodes[node].items);
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

/* ---- those of many episodes ---- */

int sf_occurrences_reserve(sf_occurrences *o, size_t count, sf_error *error)
{
    o->episodes = sf_alloc(count, sizeof *o->episodes);
    o->expected = sf_alloc(count, sizeof *o->expected);
    o->counts = sf_alloc(count, sizeof *o->counts);
    o->times_ns = sf_alloc(count, sizeof *o->times_ns);
    if (o->episodes == NULL || o->expected == NULL || o->counts == NULL || o->times_ns == NULL)
        return sf_fail_memory(error);
    o->count = count;
    return SF_OK;
}

void sf_occurrences_get_columns(const sf_occurrences *o, sf_occurrences_columns *columns)
{
    const sf_occurrences_columns told = {.recording = o->recording,
                                         .counted_in = o->counted_in,
                                         .count = o->count,
                                         .episodes = o->episodes,
                                         .expected = o->expected,
                                         .counts = o->counts,
                                         .times_ns = (const int64_t *const *)o->times_ns};
    sf_columns_fill(columns, &told, sizeof told);
}

int64_t *sf_occurrences_begins(const sf_occurrences_columns *listed, size_t i)
{
    size_t count = (size_t)listed->counts[i], size = listed->episodes[i].size;
    int64_t *begins_ns = sf_alloc(count, sizeof *begins_ns);
    for (size_t n = 0; begins_ns != NULL && n < count; n++)
        begins_ns[n] = listed->times_ns[i][n * size];
    if (begins_ns != NULL) sf_times_sort(begins_ns, count);
    return begins_ns;
}

void sf_occurrences_free(sf_occurrences *o)
{
    if (o == NULL) return;
    for (size_t i = 0; i < o->count; i++)
        sf_free(o->times_ns[i]);
    sf_free(o->episodes);
    sf_free(o->expected);
    sf_free(o->counts);
    sf_free(o->times_ns);
    sf_recording_clear(&o->own);
    sf_free(o);
}
