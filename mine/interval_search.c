/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Finding all frequent episodes with the lists of interval.c, on positions alone.
 *
 * For each spike and delay interval the range of positions that follow it is found once. A spike reached from
 * several ends of a list belongs to the last of them, which gives the latest start; so end k owns the range
 * [from(k), min(to(k), from(k + 1))), and one walk over these ranges meets every spike at most once and
 * extends the list's episode by all units together.
 *
 * Pairs are counted that way for all units, unless they are in the tree already. Beyond them the search goes
 * depth first, one first unit after the other, with lists only along the current path. Two bounds spare most
 * walks. An extension must end in a frequent pair. And each spike has a signature, 64 bits for the units
 * (modulo 64) that may usefully follow it: a unit cannot occur more often after an episode than there are
 * ends with its bit set, and bit-sliced counters find all bits set often enough in one pass over the list.
 *
 * Of several ranks each takes the first units whose number has its remainder, so that busy ones, which often
 * have neighbouring numbers, are spread; what was found is then joined, size by size, in the order of units.
 */
#include "mine/interval_search.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/ranks.h"
#include "core/thread.h"
#include "mine/hits.h"
#include "mine/lanes.h"
#include "mine/positions.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

/* An episode to be extended; its list lies in the arena of the thread that found it. */
typedef struct branch {
    uint32_t size, last_unit;
    uint32_t node; /* sizes 1 and 2: in the tree; beyond: in the thread's own level */
    size_t offset, length;
} branch;

/* A unit looked for after the branch at hand. */
typedef struct extension {
    uint32_t unit;
    uint32_t pair; /* node of level 2: the branch's last unit, then this one */
} extension;

/* What one thread works with. */
typedef struct miner {
    /* found[size - 1]; a parent of size 3 and up is in found[size - 2] */
    sf_level found[SF_EPISODE_MAX_SIZE];
    sf_greedy_count *cells; /* by unit */
    uint32_t *slots;        /* by unit: 1 + its place in extensions, or 0 */
    extension *extensions;
    size_t *ends; /* by extension: where its list ends, from the first one's begin on */
    uint32_t extension_count;
    sf_list_entry *arena;
    size_t arena_count, arena_capacity;
    branch *branches;
    size_t branch_count, branch_capacity;
    sf_window *windows;
    size_t window_capacity;
    sf_hit *hits;
    size_t hit_capacity;
    double seconds[SF_EPISODE_MAX_SIZE + 1], stamp;
    sf_mine_tally tally;
    _Atomic double within; /* how much of the weight of its unit is done: far below 1 of a deep search */
} miner;

/* What was found below one first unit: begin[size - 1] .. end[size - 1] - 1 of the levels of its thread. */
typedef struct part {
    unsigned worker;
    size_t begin[SF_EPISODE_MAX_SIZE], end[SF_EPISODE_MAX_SIZE];
    size_t base[SF_EPISODE_MAX_SIZE]; /* where they come to lie in the tree */
} part;

typedef struct search {
    const sf_mine_job *job;
    const sf_events *events;
    sf_tree *tree;
    sf_followers **reaches; /* [delay][position] */
    uint64_t **signatures;  /* [delay][position] */
    uint64_t *masks;        /* [delay][unit]: what its signatures may hold */
    sf_node_range *links;   /* [unit * delay_count + delay]: the frequent pairs, in the tree's level 2 */
    miner *miners;
    unsigned threads;
    part *parts;          /* by first unit */
    uint32_t ranks, rank; /* among which first units are divided, and this one */
    atomic_size_t found_count;
    atomic_int failure; /* of the first thread that failed: the others leave early */
    /* For progress, told of by the calling thread. */
    const char *what;
    uint64_t (*weigh)(const struct search *s, uint32_t unit); /* the work of a first unit, roughly */
    uint64_t weight;                                          /* of all */
    atomic_ullong weight_done;                                /* of the units that are done */
    double told;                                              /* when; 0: not yet */
} search;

/* ---- what is prepared once ---- */

/* Positions that a thread prepares at a time. */
#define RANGE (1u << 16)

static int for_ranges(search *s, int (*body)(void *, unsigned, size_t))
{
    return sf_parallel_for(s->threads, ((size_t)s->events->count + RANGE - 1) / RANGE, body, s);
}

static uint32_t range_end(const search *s, size_t item)
{
    size_t end = (item + 1) * RANGE;
    return end < s->events->count ? (uint32_t)end : s->events->count;
}

static int find_reaches(void *context, unsigned worker, size_t item)
{
    (void)worker;
    search *s = context;
    const sf_events *events = s->events;
    uint32_t begin = (uint32_t)(item * RANGE), end = range_end(s, item);
    for (uint32_t d = 0; d < s->tree->delay_count; d++)
        sf_followers_find(s->reaches[d], events->times, begin, end, events->times, events->count,
                          s->job->delays[d]);
    return SF_OK;
}

/* Which units, modulo 64, lie in each spike's reach and make a frequent pair with its own: counted by bucket
 * while the reach slides on. */
static void find_signatures_of(uint64_t *signatures, const search *s, uint32_t delay, uint32_t begin,
                               uint32_t end)
{
    const sf_events *events = s->events;
    const sf_followers *reaches = s->reaches[delay];
    const uint64_t *masks = s->masks + (size_t)delay * s->tree->unit_count;
    uint32_t inside[64] = {0}, from = reaches[begin].from, to = from;
    uint64_t present = 0;
    for (uint32_t p = begin; p < end; p++) {
        for (; to < reaches[p].to; to++) {
            uint32_t bucket = events->owner[to] & 63;
            inside[bucket]++;
            present |= UINT64_C(1) << bucket;
        }
        for (; from < reaches[p].from; from++) {
            uint32_t bucket = events->owner[from] & 63;
            present &= ~((uint64_t)(--inside[bucket] == 0) << bucket);
        }
        signatures[p] = present & masks[events->owner[p]];
    }
}

static int find_signatures(void *context, unsigned worker, size_t item)
{
    (void)worker;
    search *s = context;
    for (uint32_t d = 0; d < s->tree->delay_count; d++)
        find_signatures_of(s->signatures[d], s, d, (uint32_t)(item * RANGE), range_end(s, item));
    return SF_OK;
}

/* By delay and unit: the bits of the units that make a frequent pair with it. */
static int find_masks(search *s)
{
    uint32_t units = s->tree->unit_count;
    s->masks = sf_alloc((size_t)s->tree->delay_count * units, sizeof *s->masks);
    if (s->masks == NULL) return SF_NO_MEMORY;
    for (uint32_t u = 0; u < units; u++)
        for (uint32_t d = 0; d < s->tree->delay_count; d++) {
            sf_node_range links = s->links[u * s->tree->delay_count + d];
            for (size_t i = links.begin; i < links.end; i++)
                s->masks[d * units + u] |= UINT64_C(1) << (s->tree->levels[1].nodes[i].step % units & 63);
        }
    return SF_OK;
}

static int prepare_pairs(search *s)
{
    uint32_t delays = s->tree->delay_count, units = s->tree->unit_count;
    s->reaches = sf_alloc(delays, sizeof *s->reaches);
    s->signatures = sf_alloc(delays, sizeof *s->signatures);
    s->links = sf_alloc((size_t)units * delays, sizeof *s->links);
    s->parts = sf_alloc(units, sizeof *s->parts);
    s->miners = sf_alloc(s->threads, sizeof *s->miners);
    if (s->reaches == NULL || s->signatures == NULL || s->links == NULL || s->parts == NULL ||
        s->miners == NULL)
        return SF_NO_MEMORY;
    for (uint32_t d = 0; d < delays; d++) {
        s->reaches[d] = sf_resize(NULL, s->events->count, sizeof **s->reaches);
        if (s->reaches[d] == NULL) return SF_NO_MEMORY;
    }
    for_ranges(s, find_reaches);
    for (unsigned t = 0; t < s->threads; t++) {
        miner *m = &s->miners[t];
        m->cells = sf_alloc(units, sizeof *m->cells);
        m->slots = sf_alloc(units, sizeof *m->slots);
        m->extensions = sf_alloc(units, sizeof *m->extensions);
        m->ends = sf_alloc(units, sizeof *m->ends);
        if (m->cells == NULL || m->slots == NULL || m->extensions == NULL || m->ends == NULL)
            return SF_NO_MEMORY;
    }
    return SF_OK;
}

static int prepare_deeper(search *s)
{
    uint32_t delays = s->tree->delay_count;
    const sf_node *pairs = s->tree->levels[1].nodes;
    for (uint32_t u = 0; u < s->tree->unit_count; u++) {
        sf_node_range children = sf_tree_children(s->tree, 1, u);
        size_t at = children.begin;
        for (uint32_t d = 0; d < delays; d++) {
            sf_node_range *links = &s->links[u * delays + d];
            links->begin = at;
            while (at < children.end && pairs[at].step / s->tree->unit_count == d)
                at++;
            links->end = at;
        }
    }
    for (uint32_t d = 0; d < delays; d++) {
        s->signatures[d] = sf_resize(NULL, s->events->count, sizeof **s->signatures);
        if (s->signatures[d] == NULL) return SF_NO_MEMORY;
    }
    if (find_masks(s) != SF_OK) return SF_NO_MEMORY;
    return for_ranges(s, find_signatures);
}

static void add_tallies(const search *s, sf_mine_tally *sum)
{
    for (unsigned t = 0; s->miners != NULL && sum != NULL && t < s->threads; t++) {
        sum->bounded += s->miners[t].tally.bounded;
        sum->walked += s->miners[t].tally.walked;
        sum->merged += s->miners[t].tally.merged;
    }
}

static void close_search(search *s)
{
    for (uint32_t d = 0; d < s->tree->delay_count; d++) {
        if (s->reaches != NULL) sf_free(s->reaches[d]);
        if (s->signatures != NULL) sf_free(s->signatures[d]);
    }
    for (unsigned t = 0; s->miners != NULL && t < s->threads; t++) {
        miner *m = &s->miners[t];
        for (uint32_t i = 0; i < SF_EPISODE_MAX_SIZE; i++)
            sf_free(m->found[i].nodes);
        sf_free(m->cells);
        sf_free(m->slots);
        sf_free(m->extensions);
        sf_free(m->ends);
        sf_free(m->arena);
        sf_free(m->branches);
        sf_free(m->windows);
        sf_free(m->hits);
    }
    sf_free(s->reaches);
    sf_free(s->signatures);
    sf_free(s->masks);
    sf_free(s->links);
    sf_free(s->parts);
    sf_free(s->miners);
}

/* ---- progress and the limits of a search ---- */

#define TELL_SECONDS 0.005

static void fail_all(search *s, int status)
{
    int none = SF_OK;
    if (status != SF_OK) atomic_compare_exchange_strong(&s->failure, &none, status);
}

/* Called by every thread often; only the calling thread of the search reports, and not that often. */
static int go_on(search *s, unsigned worker)
{
    int failure = atomic_load_explicit(&s->failure, memory_order_relaxed);
    double now = failure == SF_OK && worker == 0 ? sf_clock_seconds() : 0;
    if (now == 0 || now - s->told < TELL_SECONDS) return failure;
    s->told = now;
    double done = (double)atomic_load_explicit(&s->weight_done, memory_order_relaxed);
    for (unsigned t = 0; t < s->threads; t++)
        done += atomic_load_explicit(&s->miners[t].within, memory_order_relaxed);
    double units = s->tree->unit_count, share = s->weight > 0 ? done / (double)s->weight : 0;
    return sf_progress_update(s->job->progress, s->what, share * units, units) ? SF_OK : SF_CANCELLED;
}

static void watch(void *context)
{
    search *s = context;
    fail_all(s, go_on(s, 0));
}

/* Pairs are found in one walk over a unit's spikes, ... */
static uint64_t weigh_spikes(const search *s, uint32_t unit)
{
    return s->events->first[unit + 1] - s->events->first[unit];
}

/* How many frequent pairs begin with a unit. */
static uint64_t count_links(const search *s, uint32_t unit)
{
    sf_node_range pairs = sf_tree_children(s->tree, 1, unit);
    return pairs.end - pairs.begin;
}

/* ... and what grows from them is looked for after each of their occurrences. */
static uint64_t weigh_pairs(const search *s, uint32_t unit)
{
    sf_node_range pairs = sf_tree_children(s->tree, 1, unit);
    const sf_node *nodes = s->tree->levels[1].nodes;
    uint64_t sum = 0;
    for (size_t i = pairs.begin; i < pairs.end; i++)
        sum += nodes[i].count * count_links(s, nodes[i].step % s->tree->unit_count);
    return sum;
}

/* The same of what a branch grows into. */
static double weigh_branch(const search *s, const branch *from)
{
    return (double)from->length * (double)count_links(s, from->last_unit);
}

static int keep(search *s, miner *m, uint32_t size, uint32_t parent, uint32_t step, uint32_t count)
{
    if (atomic_fetch_add_explicit(&s->found_count, 1, memory_order_relaxed) >= s->job->most) return SF_DATA;
    return sf_level_append(&m->found[size - 1], parent, step, count);
}

static void begin_part(search *s, unsigned worker, uint32_t unit)
{
    part *own = &s->parts[unit];
    own->worker = worker;
    for (uint32_t i = 0; i < SF_EPISODE_MAX_SIZE; i++)
        own->begin[i] = s->miners[worker].found[i].count;
}

static int end_part(search *s, uint32_t unit, int status)
{
    part *own = &s->parts[unit];
    for (uint32_t i = 0; i < SF_EPISODE_MAX_SIZE; i++)
        own->end[i] = s->miners[own->worker].found[i].count;
    atomic_store_explicit(&s->miners[own->worker].within, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->weight_done, s->weigh(s, unit), memory_order_relaxed);
    fail_all(s, status);
    return status;
}

static uint32_t unit_of(const search *s, size_t item)
{
    return (uint32_t)item * s->ranks + s->rank;
}

/* Calls body for every first unit of this rank; the sentence for what stopped it. */
static int for_units(search *s, const char *what, int (*body)(void *, unsigned, size_t),
                     uint64_t (*weigh)(const search *, uint32_t), sf_error *error)
{
    s->what = what;
    s->weigh = weigh;
    s->weight = 0;
    s->told = 0;
    atomic_store(&s->weight_done, 0);
    size_t own = 0;
    for (; unit_of(s, own) < s->tree->unit_count; own++)
        s->weight += weigh(s, unit_of(s, own));
    int status = sf_parallel_watched(s->threads, own, body, watch, s);
    double units = s->tree->unit_count;
    if (status == SF_OK && !sf_progress_update(s->job->progress, what, units, units)) status = SF_CANCELLED;
    if (status == SF_NO_MEMORY) return sf_fail_memory(error);
    if (status == SF_CANCELLED) return sf_fail(error, SF_CANCELLED, NULL, "stopped while %s", what);
    return status == SF_DATA ? sf_mine_fail_most(s->job->most, error) : status;
}

/* ---- pairs ---- */

static void count_pairs(sf_greedy_count *cells, const sf_events *events, sf_unit_events unit,
                        const sf_followers *reaches)
{
    for (size_t k = 0; k < unit.count; k++) {
        /* A unit's spikes lie far apart in the stream: ask for their surroundings ahead of time. */
        if (k + 16 < unit.count) __builtin_prefetch(&reaches[unit.positions[k + 16]]);
        if (k + 8 < unit.count) __builtin_prefetch(&events->owner[reaches[unit.positions[k + 8]].from]);
        uint32_t start = unit.positions[k];
        uint32_t to = reaches[start].to;
        if (k + 1 < unit.count && reaches[unit.positions[k + 1]].from < to)
            to = reaches[unit.positions[k + 1]].from;
        for (uint32_t p = reaches[start].from; p < to; p++)
            sf_greedy_take(&cells[events->owner[p]], start, p + 1);
    }
}

static int find_pairs(void *context, unsigned worker, size_t item)
{
    search *s = context;
    miner *m = &s->miners[worker];
    uint32_t unit = unit_of(s, item), units = s->tree->unit_count;
    sf_unit_events own = sf_events_unit(s->events, unit, 0, UINT32_MAX);
    begin_part(s, worker, unit);
    int status = go_on(s, worker);
    for (uint32_t d = 0; d < s->tree->delay_count && status == SF_OK; d++) {
        memset(m->cells, 0, units * sizeof *m->cells);
        count_pairs(m->cells, s->events, own, s->reaches[d]);
        for (uint32_t u = 0; u < units && status == SF_OK; u++)
            if (m->cells[u].count >= s->job->least && sf_pair_allowed(&s->job->pairs, unit, u))
                status = keep(s, m, 2, unit, d * units + u, m->cells[u].count);
    }
    return end_part(s, unit, status);
}

/* ---- beyond pairs ---- */

/* Signature bits of the units that can reach the threshold after this list. */
static uint64_t promising(const uint64_t *signatures, const sf_list_entry *list, size_t length,
                          uint32_t least)
{
    sf_lanes lanes = {0};
    size_t k = 0;
    for (; k + 8 <= length; k += 8) {
        uint64_t words[8];
        for (int i = 0; i < 8; i++)
            words[i] = signatures[list[k + (size_t)i].end];
        sf_lanes_add_8(&lanes, words);
    }
    for (; k < length; k++)
        sf_lanes_add(&lanes, signatures[list[k].end]);
    return sf_lanes_at_least(&lanes, least);
}

/* The ranges owned by the ends whose signature has a bit of `wanted`; *positions is their length together. */
static size_t own_windows(sf_window *windows, const sf_followers *reaches, const uint64_t *signatures,
                          uint64_t wanted, const sf_list_entry *list, size_t length, size_t *positions)
{
    size_t count = 0, sum = 0;
    sf_followers next = length > 0 ? reaches[list[0].end] : (sf_followers){0, 0};
    for (size_t k = 0; k < length; k++) {
        sf_followers own = next;
        if (k + 1 < length) {
            next = reaches[list[k + 1].end];
            own.to = next.from < own.to ? next.from : own.to;
        }
        windows[count] = (sf_window){own.from, own.to, list[k].start};
        bool used = (signatures[list[k].end] & wanted) != 0 && own.to > own.from;
        count += used;
        sum += used ? own.to - own.from : 0;
    }
    *positions = sum;
    return count;
}

/* Looks for the units that make a frequent pair with the branch's last one, as the bound allows. */
static uint64_t choose(const search *s, miner *m, sf_node_range links, uint64_t allowed)
{
    uint64_t wanted = 0;
    m->extension_count = 0;
    for (size_t i = links.begin; i < links.end; i++) {
        uint32_t unit = s->tree->levels[1].nodes[i].step % s->tree->unit_count;
        uint64_t bit = UINT64_C(1) << (unit & 63);
        if ((allowed & bit) == 0) {
            m->tally.bounded++;
            continue;
        }
        wanted |= bit;
        m->extensions[m->extension_count++] = (extension){.unit = unit, .pair = (uint32_t)i};
        m->slots[unit] = m->extension_count;
    }
    return wanted;
}

/* Fills m->hits with all ends of the extensions looked for; *found is their number. */
static int collect(search *s, miner *m, branch from, uint32_t delay, uint64_t wanted, size_t *found)
{
    const sf_list_entry *list = from.length > 0 ? m->arena + from.offset : NULL;
    const sf_followers *reaches = s->reaches[delay];
    if (sf_reserve(&m->windows, &m->window_capacity, from.length, sizeof *m->windows) != 0)
        return SF_NO_MEMORY;
    size_t to_walk, to_merge = 0, room = 0;
    size_t windows =
        own_windows(m->windows, reaches, s->signatures[delay], wanted, list, from.length, &to_walk);
    for (uint32_t i = 0; i < m->extension_count && to_merge < to_walk; i++) {
        const uint32_t *first = &s->events->first[m->extensions[i].unit];
        room += first[1] - first[0];
        to_merge += first[1] - first[0] + from.length;
    }
    bool walks = to_walk <= to_merge;
    m->tally.walked += walks;
    m->tally.merged += !walks;
    /* A walk writes every position before it knows whether to keep it. */
    if (sf_reserve(&m->hits, &m->hit_capacity, walks ? to_walk + 1 : room, sizeof *m->hits) != 0)
        return SF_NO_MEMORY;
    *found = walks ? sf_hits_walk(m->hits, m->windows, windows, s->events->owner, m->slots) : 0;
    for (uint32_t i = 0; i < m->extension_count && !walks; i++)
        *found += sf_hits_merge(
            m->hits + *found, reaches, list, from.length,
            s->events->positions + s->events->first[m->extensions[i].unit],
            s->events->first[m->extensions[i].unit + 1] - s->events->first[m->extensions[i].unit], i);
    return SF_OK;
}

/* Lists at the end of the arena. */
static int deal_out(miner *m, size_t found)
{
    if (sf_reserve(&m->arena, &m->arena_capacity, m->arena_count + found, sizeof *m->arena) != 0)
        return SF_NO_MEMORY;
    sf_hits_deal(found > 0 ? m->arena + m->arena_count : NULL, m->ends, m->extension_count, m->hits, found);
    m->arena_count += found;
    return SF_OK;
}

static uint32_t count_list(const sf_list_entry *list, size_t length)
{
    sf_greedy_count found = {0};
    for (size_t k = 0; k < length; k++)
        sf_greedy_take(&found, list[k].start, list[k].end + 1);
    return found.count;
}

/* Makes a branch of each frequent extension, whose lists begin at `first` in the arena. The pairs themselves
 * are known to be frequent and are in the tree. */
static int harvest(search *s, miner *m, branch from, uint32_t delay, size_t first)
{
    size_t begin = first;
    for (uint32_t i = 0; i < m->extension_count; i++) {
        extension e = m->extensions[i];
        size_t end = first + m->ends[i];
        branch grown = {.size = from.size + 1,
                        .last_unit = e.unit,
                        .node = e.pair,
                        .offset = begin,
                        .length = end - begin};
        begin = end;
        if (grown.size > 2) {
            uint32_t count = count_list(m->arena + grown.offset, grown.length);
            if (count < s->job->least) continue;
            grown.node = (uint32_t)m->found[grown.size - 1].count;
            int status = keep(s, m, grown.size, from.node, delay * s->tree->unit_count + e.unit, count);
            if (status != SF_OK) return status;
        }
        if (sf_reserve(&m->branches, &m->branch_capacity, m->branch_count + 1, sizeof *m->branches) != 0)
            return SF_NO_MEMORY;
        m->branches[m->branch_count++] = grown;
    }
    return SF_OK;
}

/* Adds the frequent extensions of a branch by one delay interval to the branches. */
static int extend(search *s, miner *m, branch from, uint32_t delay)
{
    sf_node_range links = s->links[from.last_unit * s->tree->delay_count + delay];
    uint64_t allowed = UINT64_MAX;
    if (from.size > 1)
        allowed = promising(s->signatures[delay], m->arena + from.offset, from.length, s->job->least);
    uint64_t wanted = choose(s, m, links, allowed);
    if (wanted == 0) return SF_OK;
    size_t found, begin = m->arena_count;
    int status = collect(s, m, from, delay, wanted, &found);
    for (uint32_t i = 0; i < m->extension_count; i++)
        m->slots[m->extensions[i].unit] = 0;
    if (status == SF_OK) status = deal_out(m, found);
    return status == SF_OK ? harvest(s, m, from, delay, begin) : status;
}

/* Everything below a branch, depth first. What was added to the arena and the branches is gone afterwards.
 * For progress it is `weight` of its unit's, of which `before` is done. */
static int grow(search *s, unsigned worker, branch from, double before, double weight)
{
    miner *m = &s->miners[worker];
    size_t first_branch = m->branch_count, first_place = m->arena_count;
    atomic_store_explicit(&m->within, before, memory_order_relaxed);
    int status = go_on(s, worker);
    for (uint32_t d = 0; d < s->tree->delay_count && status == SF_OK; d++)
        status = extend(s, m, from, d);
    double now = sf_clock_seconds();
    m->seconds[from.size + 1] += now - m->stamp;
    m->stamp = now;
    size_t last_branch = m->branch_count;
    double all = 0;
    for (size_t b = first_branch; b < last_branch; b++)
        all += weigh_branch(s, &m->branches[b]);
    for (size_t b = first_branch; b < last_branch && status == SF_OK && from.size + 1 < s->job->max_size;
         b++) {
        double own = all > 0 ? weight * weigh_branch(s, &m->branches[b]) / all : 0;
        status = grow(s, worker, m->branches[b], before, own);
        before += own;
    }
    m->branch_count = first_branch;
    m->arena_count = first_place;
    return status;
}

static int grow_unit(void *context, unsigned worker, size_t item)
{
    search *s = context;
    miner *m = &s->miners[worker];
    uint32_t unit = unit_of(s, item);
    sf_unit_events own = sf_events_unit(s->events, unit, 0, UINT32_MAX);
    begin_part(s, worker, unit);
    m->stamp = sf_clock_seconds();
    int status =
        sf_reserve(&m->arena, &m->arena_capacity, own.count, sizeof *m->arena) == 0 ? SF_OK : SF_NO_MEMORY;
    if (status == SF_OK) {
        for (size_t i = 0; i < own.count; i++)
            m->arena[i] = (sf_list_entry){own.positions[i], own.positions[i]};
        m->arena_count = own.count;
        status = grow(s, worker, (branch){.size = 1, .last_unit = unit, .length = own.count}, 0,
                      (double)s->weigh(s, unit));
        m->arena_count = 0;
    }
    return end_part(s, unit, status);
}

/* ---- from the threads' levels to the tree ---- */

/* Which of the units of a part a node of this size has as its parent, as the part counts them. */
static size_t parent_within(const part *own, uint32_t size, const sf_node *node)
{
    return node->parent - (size > 3 ? own->begin[size - 2] : 0);
}

/* What this rank found of one size, its first units one after the other; lengths[unit] is how many. */
static int list_own(const search *s, uint32_t size, sf_level *list, uint64_t *lengths)
{
    for (size_t item = 0; unit_of(s, item) < s->tree->unit_count; item++) {
        const part *own = &s->parts[unit_of(s, item)];
        const sf_node *found = s->miners[own->worker].found[size - 1].nodes;
        lengths[unit_of(s, item)] = own->end[size - 1] - own->begin[size - 1];
        for (size_t i = own->begin[size - 1]; i < own->end[size - 1]; i++)
            if (sf_level_append(list, (uint32_t)parent_within(own, size, &found[i]), found[i].step,
                                found[i].count) != SF_OK)
                return SF_NO_MEMORY;
    }
    return SF_OK;
}

/* Where in the list of all ranks, one after the other, what each has begins; by rank. */
static uint64_t *find_begins(const search *s, const uint64_t *lengths)
{
    uint64_t *begins = sf_alloc((size_t)s->ranks + 1, sizeof *begins);
    for (uint32_t unit = 0; begins != NULL && unit < s->tree->unit_count; unit++)
        begins[unit % s->ranks + 1] += lengths[unit];
    for (uint32_t r = 0; begins != NULL && r < s->ranks; r++)
        begins[r + 1] += begins[r];
    return begins;
}

/* Appends what all ranks found of one size to the tree, in the order of first units. */
static int append_all(search *s, uint32_t size, const sf_node *all, const uint64_t *lengths, sf_error *error)
{
    sf_level *level = &s->tree->levels[size - 1];
    uint64_t *next = find_begins(s, lengths);
    int status = next != NULL ? SF_OK : SF_NO_MEMORY;
    for (uint32_t unit = 0; status == SF_OK && unit < s->tree->unit_count; unit++) {
        part *own = &s->parts[unit];
        uint64_t *at = &next[unit % s->ranks], end = *at + lengths[unit];
        own->base[size - 1] = level->count;
        for (; status == SF_OK && *at < end; ++*at) {
            size_t parent = all[*at].parent + (size > 3 ? own->base[size - 2] : 0);
            status = sf_level_append(level, (uint32_t)parent, all[*at].step, all[*at].count);
        }
    }
    sf_free(next);
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

static int gather(search *s, uint32_t size, sf_error *error)
{
    sf_level own = {0};
    void *all = NULL;
    size_t bytes;
    uint64_t *lengths = sf_alloc(s->tree->unit_count, sizeof *lengths);
    int status = lengths != NULL && list_own(s, size, &own, lengths) == SF_OK ? SF_OK : sf_fail_memory(error);
    for (unsigned t = 0; t < s->threads; t++) {
        sf_free(s->miners[t].found[size - 1].nodes);
        s->miners[t].found[size - 1] = (sf_level){0};
    }
    if (s->ranks > 1) {
        status = sf_ranks_add(lengths, s->tree->unit_count, status, error);
        status = sf_ranks_append(&all, &bytes, own.nodes, own.count * sizeof *own.nodes, status, error);
    }
    if (status == SF_OK) status = append_all(s, size, s->ranks > 1 ? all : own.nodes, lengths, error);
    sf_free(all);
    sf_free(own.nodes);
    sf_free(lengths);
    return status == SF_OK ? sf_tree_link(s->tree, size, error) : status;
}

/* Gathers these sizes after a search that ended so: what one that was stopped has found stays where it is
 * wanted. */
static int gather_sizes(search *s, uint32_t from, uint32_t to, int searched, sf_error *error)
{
    if (s->ranks > 1) searched = sf_ranks_agree(searched, error);
    if (searched != SF_OK && !(searched == SF_CANCELLED && s->job->keep_stopped)) return searched;
    s->tree->cut = searched != SF_OK;
    int status = SF_OK;
    size_t total = 0;
    for (uint32_t size = from; size <= to && status == SF_OK; size++)
        status = gather(s, size, error);
    for (uint32_t size = 2; size <= to; size++)
        total += s->tree->levels[size - 1].count;
    if (status == SF_OK && total > s->job->most)
        status = sf_mine_fail_most(s->job->most, error); /* no rank alone had too many */
    return status == SF_OK ? searched : status;
}

/* Sizes are searched together: each gets its share of the time that passed. */
static void share_time(const search *s, double *seconds, double passed)
{
    double sums[SF_EPISODE_MAX_SIZE + 1] = {0}, total = 0;
    for (unsigned t = 0; t < s->threads; t++)
        for (uint32_t size = 3; size <= SF_EPISODE_MAX_SIZE; size++) {
            sums[size] += s->miners[t].seconds[size];
            total += s->miners[t].seconds[size];
        }
    for (uint32_t size = 3; size <= SF_EPISODE_MAX_SIZE; size++)
        seconds[size] = total > 0 ? passed * sums[size] / total : 0;
}

int sf_interval_search(sf_tree *tree, double *seconds, const sf_mine_job *job, sf_error *error)
{
    search s = {.job = job, .events = job->events, .tree = tree, .ranks = 1};
    if (job->divided) {
        s.ranks = sf_ranks_count();
        s.rank = sf_ranks_rank();
    }
    s.threads = job->threads > 0 ? job->threads : 1;
    double start = sf_clock_seconds();
    atomic_store(&s.found_count, job->paired ? tree->levels[1].count : 0);
    int status = prepare_pairs(&s) == SF_OK ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK && !job->paired)
        status = for_units(&s, "counting pairs", find_pairs, weigh_spikes, error);
    if (!job->paired) status = gather_sizes(&s, 2, 2, status, error);
    double paired = sf_clock_seconds();
    seconds[2] = paired - start + (job->paired ? seconds[2] : 0);
    if (status == SF_OK && job->max_size > 2 && tree->levels[1].count > 0) {
        status = prepare_deeper(&s) == SF_OK ? SF_OK : sf_fail_memory(error);
        if (status == SF_OK) status = for_units(&s, "growing episodes", grow_unit, weigh_pairs, error);
        status = gather_sizes(&s, 3, job->max_size, status, error);
        share_time(&s, seconds, sf_clock_seconds() - paired);
    }
    add_tallies(&s, job->tally);
    close_search(&s);
    return status;
}
