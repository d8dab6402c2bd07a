/* SPDX-License-Identifier: Apache-2.0 */
#include "window/pair_counts.h"

#include "core/clock.h"
#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
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

/* By the unit that the pair begins with: those of unit u are items[first[u]] .. items[first[u + 1] - 1], with
 * the latest of a pair last. */
typedef struct carry {
    carried *items;
    size_t count, capacity;
    size_t *first;
} carry;

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
    carry carried, next;
} table;

struct sf_pair_counts {
    size_t unit_count;
    bool self;
    uint64_t begin, end; /* the window */
    sf_trains trains;
    table *tables;
    size_t table_count;
    stretch entering, leaving; /* of the table at hand */
    /* By unit B, for the unit A at hand: `mark` plus one plus the place of the end of the last occurrence
     * taken in the stretch. What units before A have left there is at most `mark`, and means none. */
    uint32_t *taken;
    uint32_t mark;
    uint32_t *hits; /* the Bs of occurrences taken, in order */
    size_t hit_room;
    sf_tally_entry *entries;
    sf_pair_count *found;
    size_t found_count, found_room, most;
};

/* ---- opening and closing ---- */

static void close_table(table *closed, size_t unit_count)
{
    for (size_t u = 0; closed->counts != NULL && u < unit_count; u++)
        sf_tally_free(&closed->counts[u]);
    sf_free(closed->counts);
    sf_free(closed->carried.items);
    sf_free(closed->carried.first);
    sf_free(closed->next.items);
    sf_free(closed->next.first);
}

static void close_stretch(stretch *closed)
{
    sf_free(closed->unit);
    sf_free(closed->near);
    sf_free(closed->far);
}

void sf_pair_counts_close(sf_pair_counts *pairs)
{
    if (pairs == NULL)
        return;
    for (size_t i = 0; i < pairs->table_count; i++)
        close_table(&pairs->tables[i], pairs->unit_count);
    sf_free(pairs->tables);
    close_stretch(&pairs->entering);
    close_stretch(&pairs->leaving);
    sf_trains_close(&pairs->trains);
    sf_free(pairs->taken);
    sf_free(pairs->hits);
    sf_free(pairs->entries);
    sf_free(pairs->found);
    sf_free(pairs);
}

static int open_table(table *opened, sf_delay delay, size_t unit_count, sf_error *error)
{
    opened->delay = delay;
    opened->counts = sf_alloc(unit_count, sizeof *opened->counts);
    opened->carried.first = sf_alloc(unit_count + 1, sizeof *opened->carried.first);
    opened->next.first = sf_alloc(unit_count + 1, sizeof *opened->next.first);
    return opened->counts != NULL && opened->carried.first != NULL && opened->next.first != NULL
               ? SF_OK
               : sf_fail_memory(error);
}

int sf_pair_counts_open(sf_pair_counts **pairs, size_t unit_count, const sf_delay *delays, size_t delay_count,
                        bool self, size_t most, uint64_t position, sf_error *error)
{
    *pairs = NULL;
    sf_pair_counts *made = sf_alloc(1, sizeof *made);
    if (made == NULL)
        return sf_fail_memory(error);
    made->unit_count = unit_count;
    made->self = self;
    made->most = most;
    made->begin = made->end = position;
    made->mark = FIRST_MARK;
    made->taken = sf_alloc(unit_count, sizeof *made->taken);
    made->entries = sf_alloc(unit_count, sizeof *made->entries);
    made->tables = sf_alloc(delay_count, sizeof *made->tables);
    int status =
        made->taken != NULL && made->entries != NULL && made->tables != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK)
        status = sf_trains_open(&made->trains, unit_count, error);
    for (size_t i = 0; i < delay_count && status == SF_OK; i++)
        status = open_table(&made->tables[made->table_count++], delays[i], unit_count, error);
    if (status == SF_OK)
        *pairs = made;
    else
        sf_pair_counts_close(made);
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
    if (reserve_stretch(s, count, error) != SF_OK)
        return SF_NO_MEMORY;
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
    if (first < pairs->begin)
        first = pairs->begin;
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
static size_t take(sf_pair_counts *pairs, const stretch *s, uint32_t start, uint32_t first, uint32_t last,
                   size_t hits)
{
    uint32_t *taken = pairs->taken, *hit = pairs->hits;
    const uint32_t *units = s->unit;
    uint32_t key = pairs->mark + 1 + start, end = pairs->mark + 1 + first;
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
static void begin_unit(sf_pair_counts *pairs, uint32_t unit, const stretch *s)
{
    if (pairs->mark > UINT32_MAX - 2 - s->count) {
        memset(pairs->taken, 0, pairs->unit_count * sizeof *pairs->taken);
        pairs->mark = 0;
    }
    if (!pairs->self)
        pairs->taken[unit] = UINT32_MAX;
}

static void end_unit(sf_pair_counts *pairs, uint32_t unit, const stretch *s)
{
    pairs->taken[unit] = pairs->self ? pairs->taken[unit] : 0;
    pairs->mark += s->count + 1;
}

/* ---- what is carried ---- */

static int reserve_carry(carry *c, size_t more, sf_error *error)
{
    return sf_reserve(&c->items, &c->capacity, c->count + more, sizeof *c->items) == 0
               ? SF_OK
               : sf_fail_memory(error);
}

/* Carries on what can still lie across an occurrence to come: what ends at `since` or later. */
static int carry_on(table *t, uint32_t unit, uint64_t since, sf_error *error)
{
    size_t first = t->carried.first[unit], last = t->carried.first[unit + 1];
    if (reserve_carry(&t->next, last - first, error) != SF_OK)
        return SF_NO_MEMORY;
    for (size_t i = first; i < last; i++)
        if (t->carried.items[i].end >= since)
            t->next.items[t->next.count++] = t->carried.items[i];
    return SF_OK;
}

/* The chain of a pair of the unit at hand, whose items are the last, starts again at another place in the
 * window that begins at `begin`. */
static int carry_instead(table *t, uint32_t from, uint32_t to, uint64_t again, uint64_t begin,
                         sf_error *error)
{
    carry *c = &t->next;
    size_t kept = c->first[from];
    for (size_t i = kept; i < c->count; i++)
        if (c->items[i].unit != to)
            c->items[kept++] = c->items[i];
    c->count = kept;
    if (reserve_carry(c, 1, error) != SF_OK)
        return SF_NO_MEMORY;
    if (again > begin)
        c->items[c->count++] = (carried){to, again - 1};
    return SF_OK;
}

/* ---- spikes that come ---- */

/* As take, and what is taken is carried. */
static int take_last(sf_pair_counts *pairs, table *t, uint32_t start, uint32_t first, uint32_t last,
                     size_t *hits, sf_error *error)
{
    const stretch *s = &pairs->entering;
    if (first >= last)
        return SF_OK;
    if (reserve_carry(&t->next, last - first, error) != SF_OK)
        return SF_NO_MEMORY;
    for (uint32_t i = first; i < last; i++) {
        size_t taken = take(pairs, s, start, i, i + 1, *hits);
        if (taken > *hits)
            t->next.items[t->next.count++] = (carried){s->unit[i], s->position + i};
        *hits = taken;
    }
    return SF_OK;
}

static void recall(sf_pair_counts *pairs, const table *t, uint32_t unit)
{
    const stretch *s = &pairs->entering;
    for (size_t i = t->carried.first[unit]; i < t->carried.first[unit + 1]; i++)
        if (t->carried.items[i].end >= s->position)
            pairs->taken[t->carried.items[i].unit] =
                pairs->mark + 1 + (uint32_t)(t->carried.items[i].end - s->position);
}

/* Takes the occurrences of A that end with spikes that have come, those of the window from `end` on. */
static int enter(sf_pair_counts *pairs, table *t, uint32_t unit, uint64_t keep, sf_error *error)
{
    const stretch *s = &pairs->entering;
    const sf_queue *train = &pairs->trains.units[unit];
    uint32_t fresh = (uint32_t)(pairs->end - s->position), late = (uint32_t)(keep - s->position);
    uint64_t i = train->end;
    size_t hits = 0;
    while (i > train->begin && sf_train_at(train, i - 1)->position >= s->position)
        i--;
    if (carry_on(t, unit, keep, error) != SF_OK)
        return SF_NO_MEMORY;
    if (i == train->end)
        return SF_OK;
    if (train->end - train->begin > UINT16_MAX && !t->counts[unit].is_wide &&
        sf_tally_widen(&t->counts[unit], pairs->unit_count) != 0)
        return sf_fail_memory(error);
    begin_unit(pairs, unit, s);
    recall(pairs, t, unit);
    for (; i < train->end; i++) {
        uint32_t start = (uint32_t)(sf_train_at(train, i)->position - s->position);
        uint64_t next = i + 1 < train->end ? sf_train_at(train, i + 1)->position : UINT64_MAX;
        uint32_t first = larger(s->near[start], fresh), last = territory_end(s, start, next);
        hits = take(pairs, s, start, first, smaller(last, late), hits);
        if (take_last(pairs, t, start, larger(first, late), last, &hits, error) != SF_OK)
            return SF_NO_MEMORY;
    }
    end_unit(pairs, unit, s);
    return sf_tally_add(&t->counts[unit], pairs->hits, hits, pairs->unit_count) == 0 ? SF_OK
                                                                                     : sf_fail_memory(error);
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
        if (c->met || start == NULL)
            continue;
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
 * An occurrence of the pair from..to that the chain loses ends with the spike at position `end` of the window
 * that begins at `begin`; the first spike of `from` in there, number `first` of its train, lies before it.
 * *gains: the chain of the new window makes good for it.
 */
static int lose_across(sf_pair_counts *pairs, table *t, uint32_t from, uint32_t to, uint64_t begin,
                       uint64_t first, uint64_t end, bool *gains, sf_error *error)
{
    chains c = {.old = end + 1, .new = begin};
    follow(&c, &pairs->trains.units[from], first, &pairs->trains.units[to], t->delay);
    *gains = c.new_is_longer;
    return c.met ? SF_OK : carry_instead(t, from, to, c.new, begin, error);
}

/* Gives the occurrences of A back that start with spikes before `begin`. */
static int leave(sf_pair_counts *pairs, table *t, uint32_t unit, uint64_t begin, sf_error *error)
{
    const stretch *s = &pairs->leaving;
    const sf_queue *train = &pairs->trains.units[unit];
    uint64_t stays = train->begin;
    size_t hits = 0;
    while (stays < train->end && sf_train_at(train, stays)->position < begin)
        stays++;
    if (stays == train->begin)
        return SF_OK;
    /* From here on an occurrence lies across the next spike of A. */
    uint64_t second = stays < train->end ? sf_train_at(train, stays)->position - s->position : UINT64_MAX;
    uint32_t across = second < s->count ? (uint32_t)second : s->count;
    begin_unit(pairs, unit, s);
    for (uint64_t i = train->begin; i < stays; i++) {
        uint32_t start = (uint32_t)(sf_train_at(train, i)->position - s->position);
        uint64_t next = i + 1 < train->end ? sf_train_at(train, i + 1)->position : UINT64_MAX;
        uint32_t first = s->near[start], last = territory_end(s, start, next);
        hits = take(pairs, s, start, first, smaller(last, across), hits);
        for (uint32_t end = larger(first, across); end < last; end++) {
            size_t taken = take(pairs, s, start, end, end + 1, hits);
            bool gains = false;
            if (taken > hits && lose_across(pairs, t, unit, s->unit[end], begin, stays, s->position + end,
                                            &gains, error) != SF_OK)
                return SF_NO_MEMORY;
            hits = gains ? hits : taken;
        }
    }
    end_unit(pairs, unit, s);
    sf_tally_subtract(&t->counts[unit], pairs->hits, hits);
    if (stays == train->end)
        sf_tally_free(&t->counts[unit]);
    return SF_OK;
}

/* ---- what reaches the threshold ---- */

static int find(sf_pair_counts *pairs, const table *t, uint32_t from, uint64_t begin, uint32_t least,
                sf_error *error)
{
    const sf_queue *train = &pairs->trains.units[from];
    uint64_t first = sf_train_find_position(train, begin);
    if (train->end - first < least || pairs->found_count > pairs->most)
        return SF_OK; /* it begins no more occurrences than it has spikes */
    size_t entries = sf_tally_reaching(&t->counts[from], pairs->unit_count, least, pairs->entries);
    if (sf_reserve(&pairs->found, &pairs->found_room, pairs->found_count + entries, sizeof *pairs->found) !=
        0)
        return sf_fail_memory(error);
    for (size_t i = 0; i < entries; i++)
        pairs->found[pairs->found_count++] = (sf_pair_count){
            from, pairs->entries[i].unit, (uint32_t)(t - pairs->tables), pairs->entries[i].count};
    return SF_OK;
}

/* ---- the window moves ---- */

/* The first position that an occurrence to come can start at, as far as is known. */
static uint64_t keep_from(const sf_pair_counts *pairs, const sf_history *history, uint64_t end,
                          sf_delay delay)
{
    if (end == pairs->end)
        return pairs->begin;
    uint64_t first =
        sf_history_find(history, sf_time_plus(sf_history_time(history, end - 1), -delay.high_ns));
    return first > pairs->begin ? first : pairs->begin;
}

static int slide_table(sf_pair_counts *pairs, table *t, const sf_history *history, uint64_t begin,
                       uint64_t end, uint32_t least, sf_error *error)
{
    int status = lay_out_entering(pairs, history, end, t->delay, error);
    if (status == SF_OK)
        status = lay_out_leaving(pairs, history, begin, end, t->delay, error);
    size_t most = pairs->entering.count > pairs->leaving.count ? pairs->entering.count : pairs->leaving.count;
    if (status == SF_OK && sf_reserve(&pairs->hits, &pairs->hit_room, most + 1, sizeof *pairs->hits) != 0)
        status = sf_fail_memory(error);
    uint64_t keep = keep_from(pairs, history, end, t->delay);
    t->next.count = 0;
    for (uint32_t unit = 0; unit < pairs->unit_count && status == SF_OK; unit++) {
        t->next.first[unit] = t->next.count;
        status = enter(pairs, t, unit, keep, error);
        if (status == SF_OK)
            status = leave(pairs, t, unit, begin, error);
        if (status == SF_OK)
            status = find(pairs, t, unit, begin, least, error);
    }
    t->next.first[pairs->unit_count] = t->next.count;
    carry old = t->carried;
    t->carried = t->next;
    t->next = old;
    return status;
}

int sf_pair_counts_slide(sf_pair_counts *pairs, const sf_history *history, uint64_t begin, uint64_t end,
                         uint32_t least, sf_error *error)
{
    pairs->found_count = 0;
    if (end == 0)
        return SF_OK;
    if (end - pairs->begin >= MOST_SPIKES)
        return sf_fail(error, SF_DATA, NULL, "a window of 2^31 spikes is too long for a graph of its pairs");
    int status = sf_trains_append(&pairs->trains, sf_history_view(history, pairs->end),
                                  (size_t)(end - pairs->end), pairs->end, error);
    for (size_t i = 0; i < pairs->table_count && status == SF_OK; i++)
        status = slide_table(pairs, &pairs->tables[i], history, begin, end, least, error);
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
