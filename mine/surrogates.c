/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Surrogates counted as the interval engine counts, by lists of the ends of prefixes. Where spikes move
 * little, all surrogates of a batch are counted at once, train by train, against all spikes and lists around
 * (surrogate_lanes.h). Where they move far, each surrogate is sorted into an image: the list of a prefix is
 * made once for a batch, and one walk over the windows that its ends own in a surrogate counts all its
 * candidates of one delay together; where the windows hold more spikes than the candidates' own trains, each
 * train is merged with the windows instead.
 */
#include "mine/surrogates.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/progress.h"
#include "core/thread.h"
#include "mine/hits.h"
#include "mine/surrogate_image.h"
#include "mine/surrogate_lanes.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define MOST_BATCH 32u
#define BATCH_BYTES ((size_t)64 << 20)
#define AHEAD 16
#define KEPT_BYTES ((uint64_t)1 << 30) /* all pairs of 1,600 units in 200 surrogates */
#define MOST_LISTED ((size_t)8 << 20)  /* entries of lists that are held together, about */

typedef struct worker {
    uint32_t *slots;        /* by unit: 1 + its place among the candidates at hand, or 0 */
    sf_greedy_count *cells; /* by slot; cell 0 takes what nobody asked for */
    sf_list_entry *arena;
    size_t arena_count, arena_capacity;
    uint32_t unit; /* that the prefixes at hand begin with */
    sf_window *windows;
    size_t window_capacity;
    sf_hit *hits;
    size_t hit_capacity;
    size_t *ends; /* where the lists of the prefixes end that are gone through, level below level */
    size_t end_count, end_capacity;
    double *maxima; /* [level][surrogate of the batch] */
    sf_image_room room;
    sf_lane_train train; /* in lanes, and what each unit before it counts */
    sf_lane_count *lane_counts;
} worker;

/* A candidate by its last unit. */
typedef struct wanted {
    uint64_t index; /* in its level */
    uint32_t prefix;
    uint16_t level, delay;
} wanted;

/* The lists of all prefixes that begin with a unit. */
typedef struct unit_lists {
    sf_list_entry *entries;
    size_t count, capacity;
    bool held, counted; /* in the batch at hand */
} unit_lists;

/* Where the list of a prefix lies. */
typedef struct held_list {
    size_t offset, length;
    uint32_t unit;
} held_list;

struct sf_surrogate_counter {
    const sf_events *events;
    const sf_surrogate_plan *plan;
    unsigned threads;
    sf_mover mover;
    bool in_lanes;
    sf_shift_lanes lanes;
    wanted *asked; /* by last unit: asked_first[unit] .. asked_first[unit + 1] - 1, by level */
    uint64_t *asked_first;
    unit_lists *lists; /* by unit */
    held_list **held;  /* [level][prefix]: in lists */
    size_t most_listed;
    atomic_size_t listed;   /* entries */
    uint32_t batch;         /* surrogates at a time at most */
    sf_image *images;       /* batch */
    sf_followers **reaches; /* [delay][recorded position]: recorded positions; NULL if there are only pairs */
    bool **leads;           /* [level][prefix]: it or what it grows into has candidates */
    uint64_t base[SF_EPISODE_MAX_SIZE + 1]; /* by level: candidates of the levels before */
    worker *workers;
    void *kept;      /* [surrogate - kept_first][candidate], uint16_t or uint32_t, or NULL */
    bool kept_small; /* no unit has more spikes than 16 bits can count */
    uint32_t kept_first, kept_count;
    /* Of the call at hand. */
    uint32_t first, count;             /* its surrogates */
    uint32_t batch_first, batch_count; /* those that are counted together */
    bool pairs_counted;                /* of the batch, in lanes */
    sf_surrogate_tally *tallies;       /* or NULL: counts are compared */
    const sf_surrogate_scale *scales;
    sf_surrogate_reached *reached;
    uint32_t least;
    double told; /* when it was last said how far that is */
    atomic_size_t units_done;
    atomic_int failure;
};

uint64_t sf_surrogate_candidates(const sf_surrogate_plan *plan)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < plan->level_count; k++)
        sum += plan->levels[k].first[plan->levels[k].prefix_count];
    return sum;
}

static struct {
    bool moves_far;
    size_t listed;
} limits = {false, SIZE_MAX};

void sf_surrogate_counter_limit(bool moves_far, size_t listed)
{
    limits.moves_far = moves_far;
    limits.listed = listed;
}

/* ---- open and close ---- */

/* Marks the prefixes with candidates, from the longest down, and the prefixes that these grow from. */
static int find_leads(sf_surrogate_counter *c)
{
    const sf_surrogate_plan *plan = c->plan;
    c->leads = sf_alloc(plan->level_count, sizeof *c->leads);
    if (c->leads == NULL) return SF_NO_MEMORY;
    for (uint32_t k = plan->level_count; k-- > 0;) {
        const sf_surrogate_level *level = &plan->levels[k];
        c->leads[k] = sf_alloc(level->prefix_count, sizeof **c->leads);
        if (c->leads[k] == NULL) return SF_NO_MEMORY;
        for (uint32_t i = 0; i < level->prefix_count; i++)
            c->leads[k][i] = level->first[i + 1] > level->first[i];
        for (uint32_t i = 0; k + 1 < plan->level_count && i < level[1].prefix_count; i++)
            if (c->leads[k + 1][i]) c->leads[k][level[1].parents[i]] = true;
    }
    return SF_OK;
}

static int open_workers(sf_surrogate_counter *c)
{
    c->workers = sf_alloc(c->threads, sizeof *c->workers);
    if (c->workers == NULL) return SF_NO_MEMORY;
    for (unsigned t = 0; t < c->threads; t++) {
        worker *w = &c->workers[t];
        w->slots = sf_alloc(c->events->unit_count, sizeof *w->slots);
        w->cells = sf_alloc((size_t)c->events->unit_count + 1, sizeof *w->cells);
        w->maxima = sf_alloc((size_t)c->plan->level_count * c->batch, sizeof *w->maxima);
        if (w->slots == NULL || w->cells == NULL || w->maxima == NULL) return SF_NO_MEMORY;
        if (c->in_lanes) {
            w->lane_counts = sf_resize(NULL, c->events->unit_count, sizeof *w->lane_counts);
            if (w->lane_counts == NULL || sf_lane_train_open(&w->train, &c->mover) != SF_OK)
                return SF_NO_MEMORY;
        } else if (sf_image_room_open(&w->room, &c->mover) != SF_OK) {
            return SF_NO_MEMORY;
        }
    }
    return SF_OK;
}

/* The candidates by their last units. */
static int list_asked(sf_surrogate_counter *c)
{
    const sf_surrogate_plan *plan = c->plan;
    uint32_t units = c->events->unit_count;
    c->asked_first = sf_alloc((size_t)units + 1, sizeof *c->asked_first);
    c->asked = sf_resize(NULL, c->base[plan->level_count], sizeof *c->asked);
    if (c->asked_first == NULL || c->asked == NULL) return SF_NO_MEMORY;
    for (uint32_t k = 0; k < plan->level_count; k++)
        for (uint64_t i = 0; i < c->base[k + 1] - c->base[k]; i++)
            c->asked_first[plan->levels[k].candidates[i] % units + 1]++;
    for (uint32_t u = 0; u < units; u++)
        c->asked_first[u + 1] += c->asked_first[u];
    for (uint32_t k = 0; k < plan->level_count; k++)
        for (uint32_t p = 0; p < plan->levels[k].prefix_count; p++)
            for (uint64_t i = plan->levels[k].first[p]; i < plan->levels[k].first[p + 1]; i++) {
                uint32_t step = plan->levels[k].candidates[i];
                c->asked[c->asked_first[step % units]++] =
                    (wanted){i, p, (uint16_t)k, (uint16_t)(step / units)};
            }
    for (uint32_t u = units; u > 0; u--) /* each has come to where the next begins */
        c->asked_first[u] = c->asked_first[u - 1];
    c->asked_first[0] = 0;
    return SF_OK;
}

static int open_lanes(sf_surrogate_counter *c)
{
    const sf_surrogate_plan *plan = c->plan;
    c->batch = SF_SHIFT_LANES;
    c->lists = sf_alloc(c->events->unit_count, sizeof *c->lists);
    c->held = sf_alloc(plan->level_count, sizeof *c->held);
    if (c->lists == NULL || c->held == NULL) return SF_NO_MEMORY;
    for (uint32_t k = 0; k < plan->level_count; k++)
        if ((c->held[k] = sf_alloc(plan->levels[k].prefix_count, sizeof **c->held)) == NULL)
            return SF_NO_MEMORY;
    return list_asked(c) == SF_OK ? sf_shift_lanes_open(&c->lanes, &c->mover) : SF_NO_MEMORY;
}

static int open_images(sf_surrogate_counter *c)
{
    size_t fit = BATCH_BYTES / (sf_image_bytes(c->events, c->plan->delay_count) + 1);
    size_t least =
        sf_mover_keeps_order(c->plan) ? 1 : c->threads; /* each makes one, unless that is little work */
    fit = fit < least ? least : fit;
    c->batch = fit > MOST_BATCH ? MOST_BATCH : (uint32_t)fit;
    c->images = sf_alloc(c->batch, sizeof *c->images);
    if (c->images == NULL) return SF_NO_MEMORY;
    for (uint32_t b = 0; b < c->batch; b++)
        if (sf_image_open(&c->images[b], &c->mover) != SF_OK) return SF_NO_MEMORY;
    return SF_OK;
}

static int open_all(sf_surrogate_counter *c)
{
    const sf_surrogate_plan *plan = c->plan;
    for (uint32_t k = 0; k < plan->level_count; k++)
        c->base[k + 1] = c->base[k] + plan->levels[k].first[plan->levels[k].prefix_count];
    c->reaches = sf_alloc(plan->delay_count, sizeof *c->reaches);
    if (c->reaches == NULL || sf_mover_open(&c->mover, c->events, plan) != SF_OK) return SF_NO_MEMORY;
    for (uint32_t d = 0; plan->level_count > 1 && d < plan->delay_count; d++) {
        c->reaches[d] = sf_resize(NULL, c->events->count, sizeof **c->reaches);
        if (c->reaches[d] == NULL) return SF_NO_MEMORY;
        sf_followers_find(c->reaches[d], c->events->times, 0, c->events->count, c->events->times,
                          c->events->count, plan->delays[d]);
    }
    c->kept_small = true;
    for (uint32_t u = 0; u < c->events->unit_count; u++)
        c->kept_small = c->kept_small && c->events->first[u + 1] - c->events->first[u] <= UINT16_MAX;
    c->most_listed = limits.listed < MOST_LISTED ? limits.listed : MOST_LISTED;
    /* Where there are more chains than spikes, an image takes less than merging each chain's list. */
    uint64_t chains = plan->level_count > 1 ? c->base[plan->level_count] - c->base[1] : 0;
    bool few = chains <= c->events->count || limits.listed < SIZE_MAX;
    c->in_lanes = !limits.moves_far && few && !sf_mover_keeps_order(plan) && sf_shift_lanes_pay(&c->mover);
    bool whole = find_leads(c) == SF_OK && (c->in_lanes ? open_lanes(c) : open_images(c)) == SF_OK;
    return whole ? open_workers(c) : SF_NO_MEMORY;
}

int sf_surrogate_counter_open(sf_surrogate_counter **counter, const sf_events *events,
                              const sf_surrogate_plan *plan, unsigned threads, sf_error *error)
{
    sf_surrogate_counter *c = sf_alloc(1, sizeof *c);
    *counter = NULL;
    if (c == NULL) return sf_fail_memory(error);
    c->events = events;
    c->plan = plan;
    c->threads = threads > 0 ? threads : 1;
    if (open_all(c) != SF_OK) {
        sf_surrogate_counter_close(c);
        return sf_fail_memory(error);
    }
    *counter = c;
    return SF_OK;
}

void sf_surrogate_counter_close(sf_surrogate_counter *c)
{
    if (c == NULL) return;
    for (uint32_t b = 0; c->images != NULL && b < c->batch; b++)
        sf_image_close(&c->images[b], c->plan->delay_count);
    for (uint32_t d = 0; c->reaches != NULL && d < c->plan->delay_count; d++)
        sf_free(c->reaches[d]);
    for (uint32_t k = 0; c->leads != NULL && k < c->plan->level_count; k++)
        sf_free(c->leads[k]);
    for (unsigned t = 0; c->workers != NULL && t < c->threads; t++) {
        worker *w = &c->workers[t];
        sf_free(w->slots);
        sf_free(w->cells);
        sf_free(w->lane_counts);
        sf_lane_train_close(&w->train);
        sf_free(w->arena);
        sf_free(w->windows);
        sf_free(w->hits);
        sf_free(w->ends);
        sf_free(w->maxima);
        sf_image_room_close(&w->room);
    }
    for (uint32_t u = 0; c->lists != NULL && u < c->events->unit_count; u++)
        sf_free(c->lists[u].entries);
    for (uint32_t k = 0; c->held != NULL && k < c->plan->level_count; k++)
        sf_free(c->held[k]);
    sf_free(c->lists);
    sf_free(c->held);
    sf_free(c->asked);
    sf_free(c->asked_first);
    sf_shift_lanes_close(&c->lanes);
    sf_mover_close(&c->mover);
    sf_free(c->images);
    sf_free(c->reaches);
    sf_free(c->leads);
    sf_free(c->workers);
    sf_free(c->kept);
    sf_free(c);
}

/* ---- what becomes of a count ---- */

static void reach(sf_surrogate_reached *reached, uint32_t count, uint32_t recorded)
{
    reached->as_much += count >= recorded;
    reached->more += count > recorded;
}

static void raise_maximum(double *maximum, const sf_surrogate_scale *scale, uint32_t count)
{
    double standardised = ((double)count - scale->mean) * scale->scale;
    if (standardised > *maximum) *maximum = standardised;
}

/* ---- counts that are kept ---- */

static uint64_t kept_place(const sf_surrogate_counter *c, uint32_t surrogate, uint64_t candidate)
{
    return (surrogate - c->kept_first) * c->base[c->plan->level_count] + candidate;
}

static void keep(sf_surrogate_counter *c, uint32_t surrogate, uint64_t candidate, uint32_t count)
{
    uint64_t place = kept_place(c, surrogate, candidate);
    if (c->kept_small)
        ((uint16_t *)c->kept)[place] = (uint16_t)count;
    else
        ((uint32_t *)c->kept)[place] = count;
}

static uint32_t kept_count(const sf_surrogate_counter *c, uint32_t surrogate, uint64_t candidate)
{
    uint64_t place = kept_place(c, surrogate, candidate);
    return c->kept_small ? ((const uint16_t *)c->kept)[place] : ((const uint32_t *)c->kept)[place];
}

/* Candidate `index` of a level has this count in surrogate `b` of the batch. */
static void record(sf_surrogate_counter *c, worker *w, uint32_t level, uint64_t index, uint32_t b,
                   uint32_t count)
{
    uint64_t candidate = c->base[level] + index;
    if (c->tallies == NULL) {
        reach(&c->reached[candidate], count, c->scales[candidate].recorded);
        if (count >= c->least && c->scales[candidate].scale > 0)
            raise_maximum(&w->maxima[(size_t)level * c->batch + b], &c->scales[candidate], count);
        return;
    }
    sf_surrogate_tally *tally = &c->tallies[candidate];
    tally->sum += count;
    tally->sum_squares += (uint64_t)count * count;
    if (c->kept != NULL) keep(c, c->batch_first + b, candidate, count);
}

/* ---- counting the candidates of a prefix ---- */

/* The windows of a list's ends, those that hold spikes; *positions is their length together. */
static size_t own_windows(sf_window *windows, const sf_followers *reaches, const sf_list_entry *list,
                          size_t length, size_t *positions)
{
    size_t count = 0, sum = 0;
    for (size_t k = 0; k < length; k++) {
        /* Ends lie far apart in the stream: ask for their surroundings ahead of time. */
        if (k + AHEAD < length) __builtin_prefetch(&reaches[list[k + AHEAD].end]);
        sf_followers own = reaches[list[k].end];
        if (k + 1 < length && reaches[list[k + 1].end].from < own.to) own.to = reaches[list[k + 1].end].from;
        windows[count] = (sf_window){own.from, own.to, list[k].start};
        count += own.to > own.from;
        sum += own.to > own.from ? own.to - own.from : 0;
    }
    *positions = sum;
    return count;
}

/* Counts all units with a slot. */
static void walk(sf_greedy_count *cells, const sf_window *windows, size_t count, const sf_image *image,
                 const uint32_t *slots)
{
    const sf_image_spike *spikes = image->spikes;
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) __builtin_prefetch(&spikes[windows[i + AHEAD].from]);
        for (uint32_t q = windows[i].from; q < windows[i].to; q++)
            sf_greedy_take(&cells[slots[spikes[q].owner]], windows[i].start, spikes[q].after);
    }
}

/* Counts one unit, whose spikes lie at these image positions. */
static void merge(sf_greedy_count *into, const sf_window *windows, size_t count, const sf_image *image,
                  const uint32_t *positions, uint32_t spikes)
{
    size_t k = 0;
    for (uint32_t i = 0; i < spikes && k < count; i++) {
        uint32_t q = positions[i];
        while (k < count && windows[k].to <= q)
            k++;
        if (k < count && q >= windows[k].from) sf_greedy_take(into, windows[k].start, image->spikes[q].after);
    }
}

/* Candidates begin .. end - 1 of a level: the prefix's list extended by one delay. */
typedef struct group {
    uint32_t level, delay;
    uint64_t begin, end;
    size_t train_spikes; /* of the candidates' last units together */
} group;

static void count_group(sf_surrogate_counter *c, worker *w, const group *g, const sf_list_entry *list,
                        size_t length, uint32_t b)
{
    const sf_events *events = c->events;
    const sf_image *image = &c->images[b];
    const uint32_t *steps = c->plan->levels[g->level].candidates;
    size_t to_walk, windows = own_windows(w->windows, image->reaches[g->delay], list, length, &to_walk);
    uint64_t candidates = g->end - g->begin;
    memset(w->cells, 0, (candidates + 1) * sizeof *w->cells);
    if (to_walk <= g->train_spikes + candidates * windows)
        walk(w->cells, w->windows, windows, image, w->slots);
    else
        for (uint64_t i = 0; i < candidates; i++) {
            uint32_t unit = steps[g->begin + i] % events->unit_count;
            merge(&w->cells[i + 1], w->windows, windows, image, image->positions + events->first[unit],
                  events->first[unit + 1] - events->first[unit]);
        }
    for (uint64_t i = 0; i < candidates; i++)
        record(c, w, g->level, g->begin + i, b, w->cells[i + 1].count);
}

/* Where the candidates of the group's delay end, of those before `limit`. */
static uint64_t end_of_delay(const sf_surrogate_counter *c, const group *g, uint64_t limit)
{
    const sf_surrogate_level *at = &c->plan->levels[g->level];
    uint64_t end = g->begin;
    while (end < limit && at->candidates[end] / c->events->unit_count == g->delay)
        end++;
    return end;
}

/* Tells how far the call is, and learns whether to go on. */
static int tell(const sf_surrogate_counter *c)
{
    double units = c->events->unit_count > 0 ? c->events->unit_count : 1;
    double part = (double)atomic_load_explicit(&c->units_done, memory_order_relaxed) / units;
    double done = c->batch_first - c->first + part * c->batch_count;
    return sf_progress_update(c->plan->progress, "shifting trains", done, c->count) ? SF_OK : SF_CANCELLED;
}

static void fail_all(sf_surrogate_counter *c, int status)
{
    int none = SF_OK;
    if (status != SF_OK) atomic_compare_exchange_strong(&c->failure, &none, status);
}

#define TELL_SECONDS 0.005

/* Asked often; only the calling thread of a counter tells, and not that often. */
static int go_on(sf_surrogate_counter *c, unsigned number)
{
    int failure = atomic_load_explicit(&c->failure, memory_order_relaxed);
    double now = failure == SF_OK && number == 0 ? sf_clock_seconds() : 0;
    if (now == 0 || now - c->told < TELL_SECONDS) return failure;
    c->told = now;
    return tell(c);
}

static void watch(void *context)
{
    sf_surrogate_counter *c = context;
    fail_all(c, go_on(c, 0));
}

static int count_prefix(sf_surrogate_counter *c, worker *w, uint32_t level, uint32_t prefix, size_t offset,
                        size_t length)
{
    const sf_surrogate_level *at = &c->plan->levels[level];
    uint32_t units = c->events->unit_count;
    const sf_list_entry *list = w->arena + offset;
    if (sf_reserve(&w->windows, &w->window_capacity, length, sizeof *w->windows) != 0) return SF_NO_MEMORY;
    int status = SF_OK;
    group g = {.level = level, .end = at->first[prefix]};
    while (status == SF_OK && g.end < at->first[prefix + 1]) {
        g.begin = g.end;
        g.delay = at->candidates[g.begin] / units;
        g.end = end_of_delay(c, &g, at->first[prefix + 1]);
        g.train_spikes = 0;
        for (uint64_t i = g.begin; i < g.end; i++) {
            uint32_t unit = at->candidates[i] % units;
            w->slots[unit] = (uint32_t)(i - g.begin) + 1;
            g.train_spikes += c->events->first[unit + 1] - c->events->first[unit];
        }
        for (uint32_t b = 0; b < c->batch_count && status == SF_OK; b++) {
            count_group(c, w, &g, list, length, b);
            status = go_on(c, (unsigned)(w - c->workers));
        }
        for (uint64_t i = g.begin; i < g.end; i++)
            w->slots[at->candidates[i] % units] = 0;
    }
    return status;
}

/* ---- through the prefixes ---- */

/* Prefixes first .. last - 1 of a level, which have the parent with this list, and one delay; of those that
 * lead anywhere the lists follow in the arena, and w->ends says where each ends. */
typedef struct siblings {
    uint32_t level, first, last;
    size_t offset, length; /* the parent's list */
} siblings;

static uint32_t unit_of(const sf_surrogate_counter *c, const siblings *s, uint32_t prefix)
{
    return c->plan->levels[s->level].steps[prefix] % c->events->unit_count;
}

/* Fills w->hits: all at once by a walk over the windows of the parent's ends, or one after the other. */
static int collect(const sf_surrogate_counter *c, worker *w, const siblings *s, size_t *found)
{
    const sf_events *events = c->events;
    const sf_followers *reaches = c->reaches[c->plan->levels[s->level].steps[s->first] / events->unit_count];
    const sf_list_entry *list = w->arena + s->offset;
    size_t to_walk, to_merge = 0, room = 0,
                    windows = own_windows(w->windows, reaches, list, s->length, &to_walk);
    for (uint32_t i = s->first; i < s->last; i++) {
        const uint32_t *first = &events->first[unit_of(c, s, i)];
        room += c->leads[s->level][i] ? first[1] - first[0] : 0;
        to_merge += c->leads[s->level][i] ? first[1] - first[0] + s->length : 0;
    }
    bool walks = to_walk <= to_merge;
    if (sf_reserve(&w->hits, &w->hit_capacity, walks ? to_walk + 1 : room + 1, sizeof *w->hits) != 0)
        return SF_NO_MEMORY;
    *found = walks ? sf_hits_walk(w->hits, w->windows, windows, events->owner, w->slots) : 0;
    for (uint32_t i = s->first; i < s->last && !walks; i++) {
        uint32_t unit = unit_of(c, s, i);
        const uint32_t *first = &events->first[unit];
        if (c->leads[s->level][i])
            *found += sf_hits_merge(w->hits + *found, reaches, list, s->length, events->positions + first[0],
                                    first[1] - first[0], w->slots[unit] - 1);
    }
    return SF_OK;
}

static int extend(const sf_surrogate_counter *c, worker *w, const siblings *s)
{
    uint32_t slots = 0;
    size_t found = 0;
    for (uint32_t i = s->first; i < s->last; i++)
        if (c->leads[s->level][i]) w->slots[unit_of(c, s, i)] = ++slots;
    int status = sf_reserve(&w->windows, &w->window_capacity, s->length, sizeof *w->windows) == 0 &&
                         sf_reserve(&w->ends, &w->end_capacity, w->end_count + slots, sizeof *w->ends) == 0
                     ? collect(c, w, s, &found)
                     : SF_NO_MEMORY;
    for (uint32_t i = s->first; i < s->last; i++)
        w->slots[unit_of(c, s, i)] = 0;
    if (status != SF_OK ||
        sf_reserve(&w->arena, &w->arena_capacity, w->arena_count + found + 1, sizeof *w->arena) != 0)
        return SF_NO_MEMORY;
    if (slots > 0) sf_hits_deal(w->arena + w->arena_count, w->ends + w->end_count, slots, w->hits, found);
    w->end_count += slots;
    w->arena_count += found;
    return SF_OK;
}

/* The first prefix of a level whose parent is not below this one. */
static uint32_t children_of(const sf_surrogate_level *level, uint32_t parent)
{
    uint32_t low = 0, high = level->prefix_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (level->parents[middle] < parent)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int grow(sf_surrogate_counter *c, worker *w, uint32_t level, uint32_t prefix, size_t offset,
                size_t length);

/* All that grows from prefixes that have a parent and a delay in common. */
static int grow_siblings(sf_surrogate_counter *c, worker *w, const siblings *s)
{
    size_t mark = w->arena_count, next = w->end_count, begin = mark, first_end = next;
    int status = extend(c, w, s);
    for (uint32_t i = s->first; i < s->last && status == SF_OK; i++) {
        if (!c->leads[s->level][i]) continue;
        size_t end = mark + w->ends[next++];
        status = grow(c, w, s->level, i, begin, end - begin);
        begin = end;
    }
    w->arena_count = mark;
    w->end_count = first_end;
    return status;
}

/* Keeps the list of a prefix that has candidates; those of units are trains. */
static int hold_list(sf_surrogate_counter *c, worker *w, uint32_t level, uint32_t prefix, size_t offset,
                     size_t length)
{
    const uint64_t *first = c->plan->levels[level].first;
    unit_lists *lists = &c->lists[w->unit];
    if (level == 0 || first[prefix] == first[prefix + 1]) return SF_OK;
    if (sf_reserve(&lists->entries, &lists->capacity, lists->count + length + 1, sizeof *lists->entries) != 0)
        return SF_NO_MEMORY;
    if (length > 0) memcpy(lists->entries + lists->count, w->arena + offset, length * sizeof *lists->entries);
    c->held[level][prefix] = (held_list){lists->count, length, w->unit};
    lists->count += length;
    return SF_OK;
}

/* The candidates of a prefix, whose list is in the arena, and of all that grow from it. */
static int grow(sf_surrogate_counter *c, worker *w, uint32_t level, uint32_t prefix, size_t offset,
                size_t length)
{
    int status = c->in_lanes ? hold_list(c, w, level, prefix, offset, length)
                             : count_prefix(c, w, level, prefix, offset, length);
    if (level + 1 == c->plan->level_count) return status;
    const sf_surrogate_level *next = &c->plan->levels[level + 1];
    uint32_t units = c->events->unit_count, child = children_of(next, prefix);
    while (status == SF_OK && child < next->prefix_count && next->parents[child] == prefix) {
        siblings s = {.level = level + 1, .first = child, .offset = offset, .length = length};
        for (; child < next->prefix_count && next->parents[child] == prefix &&
               next->steps[child] / units == next->steps[s.first] / units;
             child++)
            s.last = child + 1;
        status = grow_siblings(c, w, &s);
    }
    return status;
}

static int grow_unit(sf_surrogate_counter *c, worker *w, uint32_t unit)
{
    const uint32_t *first = &c->events->first[unit];
    if (c->plan->level_count == 0 || !c->leads[0][unit]) return SF_OK;
    if (sf_reserve(&w->arena, &w->arena_capacity, first[1] - first[0], sizeof *w->arena) != 0)
        return SF_NO_MEMORY;
    w->unit = unit;
    w->arena_count = 0;
    for (uint32_t i = first[0]; i < first[1]; i++)
        w->arena[w->arena_count++] = (sf_list_entry){c->events->positions[i], c->events->positions[i]};
    return grow(c, w, 0, unit, 0, w->arena_count);
}

static int count_unit(void *context, unsigned number, size_t unit)
{
    sf_surrogate_counter *c = context;
    int status = go_on(c, number);
    if (status == SF_OK) status = grow_unit(c, &c->workers[number], (uint32_t)unit);
    atomic_fetch_add_explicit(&c->units_done, 1, memory_order_relaxed);
    fail_all(c, status);
    return status;
}

/* ---- in lanes ---- */

static void record_lanes(sf_surrogate_counter *c, worker *w, const wanted *of, const sf_lane_count *counts)
{
    for (uint32_t b = 0; b < c->batch_count; b++)
        record(c, w, of->level, of->index, b, (uint32_t)counts->count[b]);
}

/* Pairs of all delays that end with the train at hand: asked[0 .. count - 1]. */
static void count_pairs(sf_surrogate_counter *c, worker *w, const wanted *asked, uint64_t count)
{
    for (uint32_t d = 0; d < c->plan->delay_count; d++) {
        memset(w->lane_counts, 0, c->events->unit_count * sizeof *w->lane_counts);
        sf_shift_lanes_sweep(w->lane_counts, &c->lanes, &w->train, c->plan->delays[d]);
        for (uint64_t i = 0; i < count; i++)
            if (asked[i].delay == d) record_lanes(c, w, &asked[i], &w->lane_counts[asked[i].prefix]);
    }
}

/* Holds the lists of what begins with a unit, unless there are enough already. */
static int list_unit(void *context, unsigned number, size_t unit)
{
    sf_surrogate_counter *c = context;
    unit_lists *lists = &c->lists[unit];
    int status = go_on(c, number);
    if (status == SF_OK && !lists->held && !lists->counted && atomic_load(&c->listed) <= c->most_listed) {
        lists->count = 0;
        lists->held = true;
        status = grow_unit(c, &c->workers[number], (uint32_t)unit);
        atomic_fetch_add(&c->listed, lists->count);
    }
    fail_all(c, status);
    return status;
}

/* Counts what ends with a unit: pairs, if none of the batch was counted yet, and what the lists begin. */
static int count_train(void *context, unsigned number, size_t unit)
{
    sf_surrogate_counter *c = context;
    worker *w = &c->workers[number];
    const wanted *asked = c->asked + c->asked_first[unit];
    uint64_t count = c->asked_first[unit + 1] - c->asked_first[unit], pairs = 0;
    int status = go_on(c, number);
    if (status == SF_OK && count > 0) {
        sf_shift_lanes_move(&w->train, &c->lanes, (uint32_t)unit, c->batch_first, c->batch_count);
        while (pairs < count && asked[pairs].level == 0)
            pairs++;
        if (!c->pairs_counted && pairs > 0) count_pairs(c, w, asked, pairs);
    }
    for (uint64_t i = pairs; i < count && status == SF_OK; i++) {
        held_list list = c->held[asked[i].level][asked[i].prefix];
        const unit_lists *lists = &c->lists[list.unit];
        sf_lane_count counts = {0};
        if (!lists->held || lists->counted) continue;
        sf_shift_lanes_merge(&counts, &c->lanes, &w->train, lists->entries + list.offset, list.length,
                             c->plan->delays[asked[i].delay]);
        record_lanes(c, w, &asked[i], &counts);
        status = go_on(c, number);
    }
    atomic_fetch_add_explicit(&c->units_done, 1, memory_order_relaxed);
    fail_all(c, status);
    return status;
}

/* All lists where they fit, and they stay for the next batch; else as many at a time as do. */
static int count_in_lanes(sf_surrogate_counter *c)
{
    uint32_t units = c->events->unit_count, left = c->plan->level_count > 1 ? units : 0;
    int status = SF_OK;
    for (uint32_t u = 0; u < units; u++)
        c->lists[u].counted = false;
    c->pairs_counted = false;
    do {
        if (left > 0) status = sf_parallel_watched(c->threads, units, list_unit, watch, c);
        if (status == SF_OK) status = sf_parallel_watched(c->threads, units, count_train, watch, c);
        c->pairs_counted = true;
        uint32_t held = 0;
        for (uint32_t u = 0; u < units; u++)
            held += c->lists[u].held;
        for (uint32_t u = 0; u < units && held < units; u++)
            if (c->lists[u].held) {
                c->lists[u].held = false;
                c->lists[u].counted = true;
                left--;
            }
        if (held == units)
            left = 0;
        else
            atomic_store(&c->listed, 0);
    } while (status == SF_OK && left > 0);
    return status;
}

static int make_image(void *context, unsigned number, size_t item)
{
    sf_surrogate_counter *c = context;
    int status = go_on(c, number);
    fail_all(c, status);
    if (status != SF_OK) return status;
    sf_image_make(&c->images[item], &c->mover, c->batch_first + (uint32_t)item, &c->workers[number].room);
    return SF_OK;
}

static int count_by_images(sf_surrogate_counter *c)
{
    int status = sf_parallel_watched(c->threads, c->batch_count, make_image, watch, c);
    return status == SF_OK ? sf_parallel_watched(c->threads, c->events->unit_count, count_unit, watch, c)
                           : status;
}

/* ---- batches ---- */

/* Counts the call's surrogates, batch after batch; maxima (or NULL) as the call has it. */
static int count_batches(sf_surrogate_counter *c, double *maxima, sf_error *error)
{
    int status = SF_OK;
    atomic_store(&c->failure, SF_OK);
    for (uint32_t done = 0; done < c->count && status == SF_OK; done += c->batch_count) {
        c->batch_first = c->first + done;
        c->batch_count = c->count - done < c->batch ? c->count - done : c->batch;
        atomic_store(&c->units_done, 0);
        for (unsigned t = 0; t < c->threads; t++)
            for (size_t i = 0; i < (size_t)c->plan->level_count * c->batch; i++)
                c->workers[t].maxima[i] = -INFINITY;
        status = c->in_lanes ? count_in_lanes(c) : count_by_images(c);
        if (status == SF_OK) status = tell(c);
        for (uint32_t k = 0; maxima != NULL && k < c->plan->level_count; k++)
            for (uint32_t b = 0; b < c->batch_count; b++)
                for (unsigned t = 0; t < c->threads; t++)
                    maxima[(size_t)k * c->count + done + b] =
                        fmax(maxima[(size_t)k * c->count + done + b],
                             c->workers[t].maxima[(size_t)k * c->batch + b]);
    }
    if (status == SF_CANCELLED)
        return sf_fail(error, SF_CANCELLED, NULL, "stopped while counting in surrogates");
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

/* Room for all counts, where it is little; without it the surrogates are counted again when asked for. */
static void keep_counts(sf_surrogate_counter *c)
{
    uint64_t candidates = c->base[c->plan->level_count];
    sf_free(c->kept);
    c->kept = NULL;
    c->kept_first = c->first;
    c->kept_count = c->count;
    size_t size = c->kept_small ? sizeof(uint16_t) : sizeof(uint32_t);
    if (candidates <= KEPT_BYTES / size / (c->count > 0 ? c->count : 1))
        c->kept = sf_resize(NULL, candidates * c->count, size);
}

int sf_surrogate_counter_tally(sf_surrogate_counter *c, uint32_t first, uint32_t count,
                               sf_surrogate_tally *tallies, sf_error *error)
{
    c->first = first;
    c->count = count;
    c->tallies = tallies;
    memset(tallies, 0, c->base[c->plan->level_count] * sizeof *tallies);
    keep_counts(c);
    int status = count_batches(c, NULL, error);
    if (status != SF_OK) c->kept_count = 0;
    return status;
}

/* The call at hand, from the counts kept of surrogate first + item. */
typedef struct kept_call {
    const sf_surrogate_counter *counter;
    double *maxima;
} kept_call;

static int read_kept(void *context, unsigned number, size_t item)
{
    (void)number;
    const kept_call *call = context;
    const sf_surrogate_counter *c = call->counter;
    for (uint32_t k = 0; k < c->plan->level_count; k++)
        for (uint64_t i = c->base[k]; i < c->base[k + 1]; i++) {
            uint32_t count = kept_count(c, c->first + (uint32_t)item, i);
            if (count >= c->least && c->scales[i].scale > 0)
                raise_maximum(&call->maxima[(size_t)k * c->count + item], &c->scales[i], count);
        }
    return SF_OK;
}

/* One pass over memory: threads would wait for it. */
static void reach_kept(sf_surrogate_counter *c)
{
    for (uint32_t item = 0; item < c->count; item++)
        for (uint64_t i = 0; i < c->base[c->plan->level_count]; i++)
            reach(&c->reached[i], kept_count(c, c->first + item, i), c->scales[i].recorded);
}

int sf_surrogate_counter_compare(sf_surrogate_counter *c, uint32_t first, uint32_t count, uint32_t least,
                                 const sf_surrogate_scale *scales, sf_surrogate_reached *reached,
                                 double *maxima, sf_error *error)
{
    c->first = first;
    c->count = count;
    c->least = least;
    c->scales = scales;
    c->reached = reached;
    c->tallies = NULL;
    memset(reached, 0, c->base[c->plan->level_count] * sizeof *reached);
    for (size_t i = 0; i < (size_t)c->plan->level_count * count; i++)
        maxima[i] = -INFINITY;
    bool kept = c->kept != NULL && first >= c->kept_first && first - c->kept_first <= c->kept_count &&
                count <= c->kept_count - (first - c->kept_first);
    if (!kept) return count_batches(c, maxima, error);
    reach_kept(c);
    return sf_parallel_for(c->threads, count, read_kept, &(kept_call){c, maxima});
}
