/* SPDX-License-Identifier: Apache-2.0 */
#include "window/pair_counts.h"

#include "core/clock.h"
#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"
#include "window/tally.h"
#include "window/trains.h"

#include <string.h>

#define MOST_SPIKES (UINT64_C(1) << 31)

/* Where marks begin: so that they come to their end at once, and not only where nobody tests it. */
#define FIRST_MARK (UINT32_MAX - 20000)

/* The end of the newest occurrence taken of a pair. */
typedef struct carried {
    uint32_t unit; /* which the pair leads to */
    uint64_t end;
} carried;

/* By the unit that the pair begins with: those of a share's unit number u are items[first[u]] ..
 * items[first[u + 1] - 1], with the latest of a pair last. */
typedef struct carry {
    carried *items;
    size_t count, capacity;
    size_t *first;
} carry;

/* Shares of the units that pairs begin with, which threads take: each has what is carried of its own. */
#define SHARES_OF_THREAD 4

typedef struct share {
    uint32_t begin, end;   /* units */
    carry *carried, *next; /* by delay */
    sf_pair_count *found;
    size_t found_count, found_room;
} share;

/* Consecutive spikes, and which of them follow each at a delay: spike i is followed by near[i] .. far[i] - 1.
 */
typedef struct stretch {
    uint64_t position; /* of spike 0 */
    uint32_t count;
    uint32_t *unit, *near, *far;
    size_t unit_room, near_room, far_room;
} stretch;

/* All pairs of one delay. */
typedef struct table {
    sf_delay delay;
    sf_tally *counts; /* by the unit that a pair begins with */
} table;

/* What a thread works with. */
typedef struct worker {
    const struct sf_pair_counts *pairs;
    /* By unit B, for the unit A at hand: `mark` plus one plus the place of the end of the last occurrence
     * taken in the stretch. What units before A have left there is at most `mark`, and means none. */
    uint32_t *taken;
    uint32_t mark;
    uint32_t *hits; /* the Bs of occurrences taken, in order */
    size_t hit_room;
    sf_tally_entry *entries;
} worker;

struct sf_pair_counts {
    size_t unit_count;
    bool self;
    uint64_t begin, end; /* the window */
    sf_trains trains;
    table *tables;
    size_t table_count;
    stretch entering, leaving; /* of the table at hand */
    worker *workers;
    unsigned threads;
    share *shares;
    size_t share_count;
    sf_pair_count *found;
    size_t found_count, found_room, most;
};

/* ---- opening and closing ---- */

static void close_table(table *closed, size_t unit_count)
{
    for (size_t u = 0; closed->counts != NULL && u < unit_count; u++)
        sf_tally_free(&closed->counts[u]);
    sf_free(closed->counts);
}

static void close_carries(carry *closed, size_t count)
{
    for (size_t i = 0; closed != NULL && i < count; i++) {
        sf_free(closed[i].items);
        sf_free(closed[i].first);
    }
    sf_free(closed);
}

static void close_share(share *closed, size_t table_count)
{
    close_carries(closed->carried, table_count);
    close_carries(closed->next, table_count);
    sf_free(closed->found);
}

static void close_worker(worker *closed)
{
    sf_free(closed->taken);
    sf_free(closed->hits);
    sf_free(closed->entries);
}

static void close_stretch(stretch *closed)
{
    sf_free(closed->unit);
    sf_free(closed->near);
    sf_free(closed->far);
}

void sf_pair_counts_close(sf_pair_counts *pairs)
{
    if (pairs == NULL) return;
    for (size_t i = 0; pairs->shares != NULL && i < pairs->share_count; i++)
        close_share(&pairs->shares[i], pairs->table_count);
    for (unsigned i = 0; pairs->workers != NULL && i < pairs->threads; i++)
        close_worker(&pairs->workers[i]);
    for (size_t i = 0; pairs->tables != NULL && i < pairs->table_count; i++)
        close_table(&pairs->tables[i], pairs->unit_count);
    sf_free(pairs->shares);
    sf_free(pairs->workers);
    sf_free(pairs->tables);
    close_stretch(&pairs->entering);
    close_stretch(&pairs->leaving);
    sf_trains_close(&pairs->trains);
    sf_free(pairs->found);
    sf_free(pairs);
}

static int open_carries(carry **opened, size_t count, size_t units)
{
    *opened = sf_alloc(count, sizeof **opened);
    for (size_t i = 0; *opened != NULL && i < count; i++) {
        (*opened)[i].first = sf_alloc(units + 1, sizeof *(*opened)->first);
        if ((*opened)[i].first == NULL) return SF_NO_MEMORY;
    }
    return *opened != NULL ? SF_OK : SF_NO_MEMORY;
}

static int open_shares(sf_pair_counts *pairs)
{
    size_t most = pairs->threads > 1 ? SHARES_OF_THREAD * (size_t)pairs->threads : 1;
    pairs->share_count = most < pairs->unit_count ? most : pairs->unit_count;
    pairs->shares = sf_alloc(pairs->share_count, sizeof *pairs->shares);
    int status = pairs->shares != NULL ? SF_OK : SF_NO_MEMORY;
    for (size_t i = 0; i < pairs->share_count && status == SF_OK; i++) {
        share *own = &pairs->shares[i];
        own->begin = (uint32_t)(pairs->unit_count * i / pairs->share_count);
        own->end = (uint32_t)(pairs->unit_count * (i + 1) / pairs->share_count);
        status = open_carries(&own->carried, pairs->table_count, own->end - own->begin);
        if (status == SF_OK) status = open_carries(&own->next, pairs->table_count, own->end - own->begin);
    }
    return status;
}

static int open_workers(sf_pair_counts *pairs)
{
    pairs->workers = sf_alloc(pairs->threads, sizeof *pairs->workers);
    for (unsigned i = 0; pairs->workers != NULL && i < pairs->threads; i++) {
        worker *w = &pairs->workers[i];
        *w = (worker){.pairs = pairs,
                      .mark = FIRST_MARK,
                      .taken = sf_alloc(pairs->unit_count, sizeof *w->taken),
                      .entries = sf_alloc(pairs->unit_count, sizeof *w->entries)};
        if (w->taken == NULL || w->entries == NULL) return SF_NO_MEMORY;
    }
    return pairs->workers != NULL ? SF_OK : SF_NO_MEMORY;
}

static int open_tables(sf_pair_counts *pairs, const sf_delay *delays)
{
    pairs->tables = sf_alloc(pairs->table_count, sizeof *pairs->tables);
    for (size_t i = 0; pairs->tables != NULL && i < pairs->table_count; i++) {
        pairs->tables[i].delay = delays[i];
        pairs->tables[i].counts = sf_alloc(pairs->unit_count, sizeof *pairs->tables->counts);
        if (pairs->tables[i].counts == NULL) return SF_NO_MEMORY;
    }
    return pairs->tables != NULL ? SF_OK : SF_NO_MEMORY;
}

int sf_pair_counts_open(sf_pair_counts **opened, size_t unit_count, const sf_delay *delays,
                        size_t delay_count, bool self, size_t most, unsigned threads, uint64_t position,
                        sf_error *error)
{
    *opened = NULL;
    sf_pair_counts *pairs = sf_alloc(1, sizeof *pairs);
    if (pairs == NULL) return sf_fail_memory(error);
    *pairs = (sf_pair_counts){.unit_count = unit_count,
                              .self = self,
                              .most = most,
                              .begin = position,
                              .end = position,
                              .table_count = delay_count,
                              .threads = threads};
    int status = open_tables(pairs, delays);
    if (status == SF_OK) status = open_shares(pairs);
    if (status == SF_OK) status = open_workers(pairs);
    status = status == SF_OK ? sf_trains_open(&pairs->trains, unit_count, error) : sf_fail_memory(error);
    if (status == SF_OK)
        *opened = pairs;
    else
        sf_pair_counts_close(pairs);
    return status;
}

/* ---- stretches ---- */

static int reserve_stretch(stretch *s, size_t count, sf_error *error)
{
    if (sf_reserve(&s->unit, &s->unit_room, count, sizeof *s->unit) != 0 ||
        sf_reserve(&s->near, &s->near_room, count, sizeof *s->near) != 0 ||
        sf_reserve(&s->far, &s->far_room, count, sizeof *s->far) != 0)
        return sf_fail_memory(error);
    return SF_OK;
}

/* Makes it the positions begin .. end - 1. What follows a spike is looked for in there. */
static int lay_out(stretch *s, const sf_history *history, uint64_t begin, uint64_t end, sf_delay delay,
                   sf_error *error)
{
    uint32_t count = (uint32_t)(end - begin), near = 0, far = 0;
    s->position = begin;
    s->count = count;
    if (reserve_stretch(s, count, error) != SF_OK) return SF_NO_MEMORY;
    const sf_spike *spikes = sf_history_view(history, begin);
    const sf_delay beyond = {delay.high_ns, INT64_MAX};
    for (uint32_t i = 0; i < count; i++) {
        while (near < count && !sf_delay_over(delay, spikes[i].time_ns, spikes[near].time_ns))
            near++;
        while (far < count && !sf_delay_over(beyond, spikes[i].time_ns, spikes[far].time_ns))
            far++;
        s->unit[i] = spikes[i].unit;
        s->near[i] = near;
        s->far[i] = far;
    }
    return SF_OK;
}

/* The spikes that have come, and those before that they can follow. */
static int lay_out_entering(sf_pair_counts *pairs, const sf_history *history, uint64_t end, sf_delay delay,
                            sf_error *error)
{
    uint64_t first = pairs->end;
    if (first < end)
        first = sf_history_find(history, sf_time_plus(sf_history_time(history, first), -delay.high_ns));
    if (first < pairs->begin) first = pairs->begin;
    return lay_out(&pairs->entering, history, first, end, delay, error);
}

/* The spikes that go, and those of the window that can follow them. */
static int lay_out_leaving(sf_pair_counts *pairs, const sf_history *history, uint64_t begin, uint64_t end,
                           sf_delay delay, sf_error *error)
{
    uint64_t last = begin;
    if (begin > pairs->begin) {
        int64_t until_ns = sf_time_plus(sf_history_time(history, begin - 1), delay.high_ns);
        last = sf_history_find(history, sf_time_plus(until_ns, 1));
    }
    return lay_out(&pairs->leaving, history, pairs->begin, last < end ? last : end, delay, error);
}

/* ---- taking occurrences ---- */

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Of one A, the spikes first .. last - 1 of the stretch follow its spike `start`, and none of its spikes that
 * are later: each ends an occurrence, which is taken if the one taken before has ended. Appends the Bs of
 * those taken to the hits. */
static size_t take(worker *w, const stretch *s, uint32_t start, uint32_t first, uint32_t last, size_t hits)
{
    uint32_t *taken = w->taken, *hit = w->hits;
    const uint32_t *units = s->unit;
    uint32_t key = w->mark + 1 + start, end = w->mark + 1 + first;
    for (uint32_t i = first; i < last; i++, end++) {
        uint32_t unit = units[i], before = taken[unit];
        bool takes = key > before;
        taken[unit] = takes ? end : before;
        hit[hits] = unit;
        hits += takes;
    }
    return hits;
}

/* The spikes of the stretch that no later spike of A precedes by the delay; `next` is the one after `start`,
 * or not in the stretch. */
static uint32_t territory_end(const stretch *s, uint32_t start, uint64_t next)
{
    uint64_t place = next - s->position;
    return next >= s->position && place < s->count ? smaller(s->far[start], s->near[place]) : s->far[start];
}

/* Another A begins: the marks of the one before are worth nothing. An A does not follow itself, unless it
 * may. */
static void begin_unit(worker *w, uint32_t unit, const stretch *s)
{
    if (w->mark > UINT32_MAX - 2 - s->count) {
        memset(w->taken, 0, w->pairs->unit_count * sizeof *w->taken);
        w->mark = 0;
    }
    if (!w->pairs->self) w->taken[unit] = UINT32_MAX;
}

static void end_unit(worker *w, uint32_t unit, const stretch *s)
{
    w->taken[unit] = w->pairs->self ? w->taken[unit] : 0;
    w->mark += s->count + 1;
}

/* ---- what is carried ---- */

static int reserve_carry(carry *c, size_t more)
{
    return sf_reserve(&c->items, &c->capacity, c->count + more, sizeof *c->items) == 0 ? SF_OK : SF_NO_MEMORY;
}

/* Carries on what can still lie across an occurrence to come: what ends at `since` or later. */
static int carry_on(carry *next, const carry *before, uint32_t number, uint64_t since)
{
    size_t first = before->first[number], last = before->first[number + 1];
    if (reserve_carry(next, last - first) != SF_OK) return SF_NO_MEMORY;
    for (size_t i = first; i < last; i++)
        if (before->items[i].end >= since) next->items[next->count++] = before->items[i];
    return SF_OK;
}

/* The chain of a pair of the unit at hand, whose items are those from `kept` on, starts again at another
 * place in the window that begins at `begin`. */
static int carry_instead(carry *c, size_t kept, uint32_t to, uint64_t again, uint64_t begin)
{
    for (size_t i = kept; i < c->count; i++)
        if (c->items[i].unit != to) c->items[kept++] = c->items[i];
    c->count = kept;
    if (reserve_carry(c, 1) != SF_OK) return SF_NO_MEMORY;
    if (again > begin) c->items[c->count++] = (carried){to, again - 1};
    return SF_OK;
}

/* ---- spikes that come ---- */

/* As take, and what is taken is carried. */
static int take_last(worker *w, carry *next, uint32_t start, uint32_t first, uint32_t last, size_t *hits)
{
    const stretch *s = &w->pairs->entering;
    if (first >= last) return SF_OK;
    if (reserve_carry(next, last - first) != SF_OK) return SF_NO_MEMORY;
    for (uint32_t i = first; i < last; i++) {
        size_t taken = take(w, s, start, i, i + 1, *hits);
        if (taken > *hits) next->items[next->count++] = (carried){s->unit[i], s->position + i};
        *hits = taken;
    }
    return SF_OK;
}

static void recall(worker *w, const carry *before, uint32_t number)
{
    const stretch *s = &w->pairs->entering;
    for (size_t i = before->first[number]; i < before->first[number + 1]; i++)
        if (before->items[i].end >= s->position)
            w->taken[before->items[i].unit] = w->mark + 1 + (uint32_t)(before->items[i].end - s->position);
}

/* The unit at hand of a slide, and what is carried of it: the unit's own are the last of `next`, from `own`
 * on.
 */
typedef struct turn {
    worker *w;
    table *t;
    uint32_t unit, number; /* within its share */
    const carry *before;
    carry *next;
    size_t own;
} turn;

/* Takes the occurrences of A that end with spikes that have come, those of the window from `end` on. */
static int enter(const turn *at, uint64_t keep)
{
    worker *w = at->w;
    const sf_pair_counts *pairs = w->pairs;
    const stretch *s = &pairs->entering;
    const sf_queue *train = &pairs->trains.units[at->unit];
    sf_tally *counts = &at->t->counts[at->unit];
    uint32_t fresh = (uint32_t)(pairs->end - s->position), late = (uint32_t)(keep - s->position);
    uint64_t i = train->end;
    size_t hits = 0;
    while (i > train->begin && sf_train_at(train, i - 1)->position >= s->position)
        i--;
    if (carry_on(at->next, at->before, at->number, keep) != SF_OK) return SF_NO_MEMORY;
    if (i == train->end) return SF_OK;
    if (train->end - train->begin > UINT16_MAX && !counts->is_wide &&
        sf_tally_widen(counts, pairs->unit_count) != 0)
        return SF_NO_MEMORY;
    begin_unit(w, at->unit, s);
    recall(w, at->before, at->number);
    for (; i < train->end; i++) {
        uint32_t start = (uint32_t)(sf_train_at(train, i)->position - s->position);
        uint64_t next = i + 1 < train->end ? sf_train_at(train, i + 1)->position : UINT64_MAX;
        uint32_t first = larger(s->near[start], fresh), last = territory_end(s, start, next);
        hits = take(w, s, start, first, smaller(last, late), hits);
        if (take_last(w, at->next, start, larger(first, late), last, &hits) != SF_OK) return SF_NO_MEMORY;
    }
    end_unit(w, at->unit, s);
    return sf_tally_add(counts, w->hits, hits, pairs->unit_count) == 0 ? SF_OK : SF_NO_MEMORY;
}

/* ---- spikes that go ---- */

/* Two chains of a pair, by where they start again: after the last occurrence that the old one loses, and at
 * the beginning of the new window. */
typedef struct chains {
    uint64_t old, new;
    bool new_is_longer, met;
} chains;

/* Follows both until no occurrence to come tells them apart. */
static void follow(chains *c, const sf_queue *from, uint64_t early, const sf_queue *to, sf_delay delay)
{
    uint64_t old_count = 0, new_count = 0;
    for (uint64_t i = sf_train_find_position(to, c->old); i < to->end && !c->met; i++) {
        const sf_train_event *end = sf_train_at(to, i), *start = NULL;
        while (early < from->end && sf_delay_over(delay, sf_train_at(from, early)->time_ns, end->time_ns))
            early++;
        if (early > from->begin && sf_delay_holds(delay, sf_train_at(from, early - 1)->time_ns, end->time_ns))
            start = sf_train_at(from, early - 1);
        uint64_t next = start != NULL       ? start->position
                        : early < from->end ? sf_train_at(from, early)->position
                                            : UINT64_MAX; /* no occurrence to come starts before */
        c->met = next >= c->old && next >= c->new;
        if (c->met || start == NULL) continue;
        if (start->position >= c->old) {
            c->old = end->position + 1;
            old_count++;
        }
        if (start->position >= c->new) {
            c->new = end->position + 1;
            new_count++;
        }
    }
    c->new_is_longer = new_count > old_count;
}

/*
 * An occurrence of the pair A..to that the chain loses ends with the spike at position `end` of the window
 * that begins at `begin`; the first spike of A in there, number `first` of its train, lies before it. *gains:
 * the chain of the new window makes good for it.
 */
static int lose_across(const turn *at, uint32_t to, uint64_t begin, uint64_t first, uint64_t end, bool *gains)
{
    const sf_queue *trains = at->w->pairs->trains.units;
    chains c = {.old = end + 1, .new = begin};
    follow(&c, &trains[at->unit], first, &trains[to], at->t->delay);
    *gains = c.new_is_longer;
    return c.met ? SF_OK : carry_instead(at->next, at->own, to, c.new, begin);
}

/* Gives the occurrences of A back that start with spikes before `begin`. */
static int leave(const turn *at, uint64_t begin)
{
    worker *w = at->w;
    const stretch *s = &w->pairs->leaving;
    const sf_queue *train = &w->pairs->trains.units[at->unit];
    sf_tally *counts = &at->t->counts[at->unit];
    uint64_t stays = train->begin;
    size_t hits = 0;
    while (stays < train->end && sf_train_at(train, stays)->position < begin)
        stays++;
    if (stays == train->begin) return SF_OK;
    /* From here on an occurrence lies across the next spike of A. */
    uint64_t second = stays < train->end ? sf_train_at(train, stays)->position - s->position : UINT64_MAX;
    uint32_t across = second < s->count ? (uint32_t)second : s->count;
    begin_unit(w, at->unit, s);
    for (uint64_t i = train->begin; i < stays; i++) {
        uint32_t start = (uint32_t)(sf_train_at(train, i)->position - s->position);
        uint64_t next = i + 1 < train->end ? sf_train_at(train, i + 1)->position : UINT64_MAX;
        uint32_t first = s->near[start], last = territory_end(s, start, next);
        hits = take(w, s, start, first, smaller(last, across), hits);
        for (uint32_t end = larger(first, across); end < last; end++) {
            size_t taken = take(w, s, start, end, end + 1, hits);
            bool gains = false;
            if (taken > hits &&
                lose_across(at, s->unit[end], begin, stays, s->position + end, &gains) != SF_OK)
                return SF_NO_MEMORY;
            hits = gains ? hits : taken;
        }
    }
    end_unit(w, at->unit, s);
    sf_tally_subtract(counts, w->hits, hits);
    if (stays == train->end) sf_tally_free(counts);
    return SF_OK;
}

/* ---- what reaches the threshold ---- */

static int find(const turn *at, share *own, uint64_t begin, uint32_t least)
{
    const sf_pair_counts *pairs = at->w->pairs;
    const sf_queue *train = &pairs->trains.units[at->unit];
    uint64_t first = sf_train_find_position(train, begin);
    if (train->end - first < least || own->found_count > pairs->most)
        return SF_OK; /* it begins no more occurrences than it has spikes */
    const sf_tally_entry *entries = at->w->entries;
    size_t count = sf_tally_reaching(&at->t->counts[at->unit], pairs->unit_count, least, at->w->entries);
    if (sf_reserve(&own->found, &own->found_room, own->found_count + count, sizeof *own->found) != 0)
        return SF_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        own->found[own->found_count++] =
            (sf_pair_count){at->unit, entries[i].unit, (uint32_t)(at->t - pairs->tables), entries[i].count};
    return SF_OK;
}

/* Puts what the shares found side by side. */
static int gather(sf_pair_counts *pairs)
{
    size_t count = 0;
    for (size_t i = 0; i < pairs->share_count; i++)
        count += pairs->shares[i].found_count;
    if (sf_reserve(&pairs->found, &pairs->found_room, count, sizeof *pairs->found) != 0) return SF_NO_MEMORY;
    for (size_t i = 0; i < pairs->share_count; i++) {
        const share *own = &pairs->shares[i];
        if (own->found_count > 0)
            memcpy(pairs->found + pairs->found_count, own->found, own->found_count * sizeof *own->found);
        pairs->found_count += own->found_count;
    }
    return SF_OK;
}

/* ---- the window moves ---- */

/* The first position that an occurrence to come can start at, as far as is known. */
static uint64_t keep_from(const sf_pair_counts *pairs, const sf_history *history, uint64_t end,
                          sf_delay delay)
{
    if (end == pairs->end) return pairs->begin;
    uint64_t first =
        sf_history_find(history, sf_time_plus(sf_history_time(history, end - 1), -delay.high_ns));
    return first > pairs->begin ? first : pairs->begin;
}

/* A slide of the table at hand, which threads do share by share. */
typedef struct slide {
    sf_pair_counts *pairs;
    table *t;
    uint64_t begin, keep;
    uint32_t least;
} slide;

static int slide_share(void *context, unsigned worker_number, size_t number)
{
    const slide *all = context;
    sf_pair_counts *pairs = all->pairs;
    share *own = &pairs->shares[number];
    worker *w = &pairs->workers[worker_number];
    carry *before = &own->carried[all->t - pairs->tables], *next = &own->next[all->t - pairs->tables];
    size_t most = pairs->entering.count > pairs->leaving.count ? pairs->entering.count : pairs->leaving.count;
    int status = sf_reserve(&w->hits, &w->hit_room, most + 1, sizeof *w->hits) == 0 ? SF_OK : SF_NO_MEMORY;
    next->count = 0;
    for (uint32_t unit = own->begin; unit < own->end && status == SF_OK; unit++) {
        const turn at = {w, all->t, unit, unit - own->begin, before, next, next->count};
        next->first[at.number] = next->count;
        status = enter(&at, all->keep);
        if (status == SF_OK) status = leave(&at, all->begin);
        if (status == SF_OK) status = find(&at, own, all->begin, all->least);
    }
    next->first[own->end - own->begin] = next->count;
    carry old = *before;
    *before = *next;
    *next = old;
    return status;
}

static int slide_table(sf_pair_counts *pairs, table *t, const sf_history *history, uint64_t begin,
                       uint64_t end, uint32_t least, sf_error *error)
{
    slide all = {pairs, t, begin, keep_from(pairs, history, end, t->delay), least};
    int status = lay_out_entering(pairs, history, end, t->delay, error);
    if (status == SF_OK) status = lay_out_leaving(pairs, history, begin, end, t->delay, error);
    if (status != SF_OK) return status;
    status = sf_parallel_for(pairs->threads, pairs->share_count, slide_share, &all);
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

int sf_pair_counts_slide(sf_pair_counts *pairs, const sf_history *history, uint64_t begin, uint64_t end,
                         uint32_t least, sf_error *error)
{
    pairs->found_count = 0;
    for (size_t i = 0; i < pairs->share_count; i++)
        pairs->shares[i].found_count = 0;
    if (end == 0) return SF_OK;
    if (end - pairs->begin >= MOST_SPIKES)
        return sf_fail(error, SF_DATA, NULL, "a window of 2^31 spikes is too long for a graph of its pairs");
    pairs->trains.span_ns = history->span_ns;
    int status = sf_trains_append(&pairs->trains, sf_history_view(history, pairs->end),
                                  (size_t)(end - pairs->end), pairs->end, error);
    for (size_t i = 0; i < pairs->table_count && status == SF_OK; i++)
        status = slide_table(pairs, &pairs->tables[i], history, begin, end, least, error);
    if (status == SF_OK && gather(pairs) != SF_OK) status = sf_fail_memory(error);
    sf_trains_drop_before(&pairs->trains, begin);
    pairs->begin = begin;
    pairs->end = end;
    return status;
}

const sf_pair_count *sf_pair_counts_found(const sf_pair_counts *pairs, size_t *count)
{
    *count = pairs->found_count;
    return pairs->found;
}
