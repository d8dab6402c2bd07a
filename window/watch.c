/* SPDX-License-Identifier: Apache-2.0 */
#include "window/watch.h"

#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"

#include <stdatomic.h>
#include <string.h>

/* A node that is not the last one: ends of partial occurrences up to it, in time order, oldest first. */
typedef struct node {
    sf_delay delay;      /* to the next node */
    int64_t *times;      /* room entries of `length` times each: those of the partial occurrence */
    uint32_t length;     /* 1 for the first node */
    uint32_t begin, end; /* of the entries, as they come: entry i is at i & (room - 1) */
} node;

typedef struct machine {
    node *nodes; /* size - 1 */
    uint32_t size;
    uint64_t completed;
} machine;

/* A place where a unit stands in an episode. */
typedef struct use {
    uint32_t machine;
    uint32_t node;
} use;

struct sf_watch {
    machine *machines;
    node *nodes;    /* of all machines */
    int64_t *times; /* of all nodes */
    size_t count;
    uint32_t room;   /* a power of two */
    size_t *offsets; /* uses of unit u: offsets[u] .. offsets[u + 1] - 1 */
    use *uses;       /* by machine, and of one machine from its last node to its first */
    sf_completion *completions;
    _Atomic uint64_t overflows;
};

static uint32_t round_up(uint32_t room)
{
    uint32_t rounded = 1;
    while (rounded < room && rounded < UINT32_C(1) << 31)
        rounded *= 2;
    return rounded;
}

static void place_nodes(sf_watch *watch, const sf_episode *episodes)
{
    node *next = watch->nodes;
    int64_t *times = watch->times;
    for (size_t i = 0; i < watch->count; i++) {
        watch->machines[i] = (machine){.nodes = next, .size = episodes[i].size};
        for (uint32_t n = 0; n + 1 < episodes[i].size; n++) {
            *next++ = (node){.delay = episodes[i].delays[n], .times = times, .length = n + 1};
            times += (size_t)watch->room * (n + 1);
        }
    }
}

static void place_uses(sf_watch *watch, const sf_episode *episodes, size_t unit_count)
{
    size_t *offsets = watch->offsets;
    for (size_t i = 0; i < watch->count; i++)
        for (uint32_t n = 0; n < episodes[i].size; n++)
            offsets[episodes[i].units[n] + 2]++;
    for (size_t u = 0; u < unit_count; u++)
        offsets[u + 2] += offsets[u + 1];
    /* offsets[u + 1] is where the uses of u begin, and moves to where they end. */
    for (size_t i = 0; i < watch->count; i++)
        for (uint32_t n = episodes[i].size; n-- > 0;)
            watch->uses[offsets[episodes[i].units[n] + 1]++] = (use){(uint32_t)i, n};
}

int sf_watch_open(sf_watch **watch, const sf_episode *episodes, size_t count, size_t unit_count,
                  uint32_t room, sf_error *error)
{
    *watch = NULL;
    size_t uses = 0, times = 0;
    for (size_t i = 0; i < count; i++) {
        int status = sf_episode_check(&episodes[i], unit_count, error);
        if (status != SF_OK) return status;
        uses += episodes[i].size;
        times += (size_t)episodes[i].size * (episodes[i].size - 1) / 2;
    }
    sf_watch *made = sf_alloc(1, sizeof *made);
    if (made == NULL) return sf_fail_memory(error);
    made->count = count;
    made->room = round_up(room != 0 ? room : SF_WATCH_ROOM);
    made->machines = sf_alloc(count, sizeof *made->machines);
    made->nodes = sf_alloc(uses, sizeof *made->nodes);
    made->times = sf_alloc(times, made->room * sizeof *made->times);
    made->offsets = sf_alloc(unit_count + 2, sizeof *made->offsets);
    made->uses = sf_alloc(uses, sizeof *made->uses);
    made->completions = sf_alloc(count, sizeof *made->completions);
    if (made->machines == NULL || made->nodes == NULL || made->times == NULL || made->offsets == NULL ||
        made->uses == NULL || made->completions == NULL) {
        sf_watch_close(made);
        return sf_fail_memory(error);
    }
    place_nodes(made, episodes);
    place_uses(made, episodes, unit_count);
    *watch = made;
    return SF_OK;
}

void sf_watch_close(sf_watch *watch)
{
    if (watch == NULL) return;
    sf_free(watch->machines);
    sf_free(watch->nodes);
    sf_free(watch->times);
    sf_free(watch->offsets);
    sf_free(watch->uses);
    sf_free(watch->completions);
    sf_free(watch);
}

/* The times of an entry; the last of them is when the partial occurrence ended. */
static int64_t *entry(const sf_watch *watch, const node *list, uint32_t index)
{
    return list->times + (size_t)(index & (watch->room - 1)) * list->length;
}

static int64_t end_time(const sf_watch *watch, const node *list, uint32_t index)
{
    return entry(watch, list, index)[list->length - 1];
}

/* Forgets the entries that a later one makes useless: it can be followed at time_ns and ever after, too. */
static void prune(const sf_watch *watch, node *list, int64_t time_ns)
{
    while (list->end - list->begin > 1 &&
           sf_delay_over(list->delay, end_time(watch, list, list->begin + 1), time_ns))
        list->begin++;
}

/* The times of the partial occurrence that a spike at time_ns extends by the node after this list, or NULL.
 */
static const int64_t *find_partial(const sf_watch *watch, node *list, int64_t time_ns)
{
    prune(watch, list, time_ns);
    if (list->begin == list->end || !sf_delay_holds(list->delay, end_time(watch, list, list->begin), time_ns))
        return NULL;
    return entry(watch, list, list->begin);
}

/* Keeps a partial occurrence: the times before, and the spike's. */
static void keep_partial(sf_watch *watch, node *list, const int64_t *before, int64_t time_ns)
{
    prune(watch, list, time_ns);
    bool same_end = list->begin != list->end && end_time(watch, list, list->end - 1) == time_ns;
    if (!same_end && list->end - list->begin == watch->room) {
        atomic_fetch_add_explicit(&watch->overflows, 1, memory_order_relaxed);
        return;
    }
    /* Of two partial occurrences with the same end, the one that began later is as good or better. */
    int64_t *times = entry(watch, list, same_end ? list->end - 1 : list->end++);
    if (list->length > 1) memcpy(times, before, (list->length - 1) * sizeof *times);
    times[list->length - 1] = time_ns;
}

static void complete(machine *episode, sf_completion *completion, const int64_t *before, int64_t time_ns)
{
    for (uint32_t n = 0; n + 1 < episode->size; n++) {
        completion->spike_times_ns[n] = before[n];
        episode->nodes[n].begin = episode->nodes[n].end; /* nothing that started before counts any more */
    }
    completion->spike_times_ns[episode->size - 1] = time_ns;
    completion->size = episode->size;
    completion->occurrence = ++episode->completed;
}

/* A machine's nodes come from the last to the first, so that no spike stands for two nodes. */
size_t sf_watch_advance(sf_watch *watch, const sf_spike *spike, const sf_completion **completions)
{
    size_t count = 0;
    *completions = watch->completions;
    for (size_t i = watch->offsets[spike->unit]; i < watch->offsets[spike->unit + 1]; i++) {
        use place = watch->uses[i];
        machine *episode = &watch->machines[place.machine];
        if (count > 0 && watch->completions[count - 1].episode == place.machine)
            continue; /* this spike completed it: it starts nothing */
        const int64_t *before = NULL;
        if (place.node > 0) {
            before = find_partial(watch, &episode->nodes[place.node - 1], spike->time_ns);
            if (before == NULL) continue;
        }
        if (place.node + 1 < episode->size) {
            keep_partial(watch, &episode->nodes[place.node], before, spike->time_ns);
            continue;
        }
        watch->completions[count].episode = place.machine;
        complete(episode, &watch->completions[count++], before, spike->time_ns);
    }
    return count;
}

uint64_t sf_watch_overflows(const sf_watch *watch)
{
    return atomic_load_explicit(&watch->overflows, memory_order_relaxed);
}
