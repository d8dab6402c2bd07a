/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/events.h"

#include "core/backend/window.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <inttypes.h>

#define LEAST_PIECE ((size_t)1 << 16) /* spikes below which another thread does not pay */

/*
 * Dealing spikes out by unit is a counting sort, which is stable, so the stream can be cut into pieces: each
 * piece counts its spikes by unit, sums over the pieces before say where its spikes of each unit go, and all
 * pieces are dealt out at once.
 */
typedef struct piece {
    size_t begin, end;
    size_t wrong;      /* the first spike that is out of order or of no unit; `end`: none is */
    uint32_t position; /* of its first kept spike */
    uint32_t *places;  /* by unit of the recording: how many spikes; then, where the next one goes */
} piece;

typedef struct layout {
    sf_events *events;
    const sf_spike *spikes;
    size_t count, unit_count;
    uint32_t stretches;    /* of as many pieces each; 0 is 1 */
    uint64_t *unit_spikes; /* by stretch and unit of the recording */
    uint32_t *number;      /* by unit of the recording: its number among those kept, or SF_LEFT_OUT */
    uint32_t *places;      /* those of all pieces */
    const bool *silent;    /* as in sf_events_choice */
    piece *pieces;
    size_t piece_count;
} layout;

static int cut(layout *l, unsigned threads)
{
    size_t least = l->unit_count > LEAST_PIECE ? l->unit_count : LEAST_PIECE;
    size_t wanted = l->count / least < 2 * threads ? l->count / least : 2 * threads;
    uint32_t stretches = l->stretches > 0 ? l->stretches : 1;
    l->piece_count = wanted + 1 + (l->count >> 31); /* what a piece counts fits into 32 bits */
    l->piece_count = (l->piece_count + stretches - 1) / stretches * stretches;
    l->pieces = sf_resize(NULL, l->piece_count, sizeof *l->pieces);
    l->places = sf_alloc(l->piece_count * l->unit_count, sizeof *l->places);
    l->unit_spikes = sf_alloc(stretches * l->unit_count, sizeof *l->unit_spikes);
    if (l->pieces == NULL || l->places == NULL || l->unit_spikes == NULL) return SF_NO_MEMORY;
    size_t length = l->count / l->piece_count + 1;
    for (size_t i = 0; i < l->piece_count; i++) {
        size_t begin = i * length < l->count ? i * length : l->count;
        size_t end = l->count - begin < length ? l->count : begin + length;
        l->pieces[i] = (piece){begin, end, end, 0, l->places + i * l->unit_count};
    }
    return SF_OK;
}

static bool in_order(const layout *l, size_t i)
{
    const sf_spike *own = &l->spikes[i], *before = i > 0 ? own - 1 : own;
    return own->unit < l->unit_count &&
           (own->time_ns > before->time_ns || (own->time_ns == before->time_ns && own->unit >= before->unit));
}

static int count_piece(void *context, unsigned worker, size_t item)
{
    (void)worker;
    const layout *l = context;
    piece *own = &l->pieces[item];
    for (size_t i = own->begin; i < own->end; i++) {
        if (!in_order(l, i)) {
            own->wrong = i;
            break;
        }
        own->places[l->spikes[i].unit]++;
    }
    return SF_OK;
}

static int check_order(const layout *l, sf_error *error)
{
    for (size_t p = 0; p < l->piece_count; p++) {
        size_t i = l->pieces[p].wrong;
        if (i == l->pieces[p].end) continue;
        if (l->spikes[i].unit >= l->unit_count)
            return sf_fail(error, SF_DATA, NULL, "spike %zu is of unit #%" PRIu32 ", but there are %zu units",
                           i, l->spikes[i].unit, l->unit_count);
        return sf_fail(error, SF_DATA, NULL, "spike %zu is out of order: expected order by time, then unit",
                       i);
    }
    int64_t span;
    if (l->count > 0 && __builtin_sub_overflow(l->spikes[l->count - 1].time_ns, l->spikes[0].time_ns, &span))
        return sf_fail(error, SF_DATA, NULL, "the spikes span more than 292 years");
    return SF_OK;
}

static void sum_pieces(const layout *l)
{
    size_t pieces = l->piece_count / (l->stretches > 0 ? l->stretches : 1); /* of a stretch */
    for (size_t p = 0; p < l->piece_count; p++)
        for (size_t u = 0; u < l->unit_count; u++)
            l->unit_spikes[p / pieces * l->unit_count + u] += l->pieces[p].places[u];
}

static void close_layout(layout *l)
{
    sf_free(l->pieces);
    sf_free(l->places);
    sf_free(l->number);
    sf_free(l->unit_spikes);
}

/* Counts the spikes of each unit, by piece and in all. */
static int count_pieces(layout *l, unsigned threads, sf_error *error)
{
    if (cut(l, threads) != SF_OK) return sf_fail_memory(error);
    sf_parallel_for(threads, l->piece_count, count_piece, l);
    int status = check_order(l, error);
    if (status == SF_OK) sum_pieces(l);
    return status;
}

int sf_events_count_stretches(uint64_t **unit_spikes, size_t *bounds, uint32_t stretches,
                              const sf_spike *spikes, size_t count, size_t unit_count, unsigned threads,
                              sf_error *error)
{
    layout l = {.spikes = spikes, .count = count, .unit_count = unit_count, .stretches = stretches};
    int status = count_pieces(&l, threads, error);
    *unit_spikes = NULL;
    if (status == SF_OK) {
        *unit_spikes = l.unit_spikes;
        l.unit_spikes = NULL;
        for (uint32_t i = 0; i < stretches; i++)
            bounds[i] = l.pieces[l.piece_count / stretches * i].begin;
        bounds[stretches] = count;
    }
    close_layout(&l);
    return status;
}

static bool is_kept(const sf_events_choice *choice, size_t unit, const uint64_t *unit_spikes)
{
    return (choice->keep == NULL || choice->keep[unit]) && unit_spikes[unit] >= choice->least;
}

static bool is_silent(const bool *silent, size_t unit)
{
    return silent != NULL && silent[unit];
}

/* Numbers the kept units, whether or not they fire at all, and adds up their spikes. */
static int number_units(sf_events *events, const uint64_t *unit_spikes, size_t unit_count,
                        const sf_events_choice *choice, sf_error *error)
{
    uint64_t count = 0;
    for (size_t u = 0; u < unit_count; u++) {
        if (!is_kept(choice, u, unit_spikes)) continue;
        events->unit[events->unit_count++] = (uint32_t)u;
        count += is_silent(choice->silent, u) ? 0 : unit_spikes[u];
        events->first[events->unit_count] = (uint32_t)count;
    }
    if (count >= UINT32_MAX)
        return sf_fail(error, SF_DATA, NULL,
                       "%" PRIu64 " spikes are more than the %" PRIu32 " that can be mined at once", count,
                       UINT32_MAX - 1);
    events->count = (uint32_t)count;
    return SF_OK;
}

int sf_events_outline(sf_events *events, const sf_spike *spikes, size_t count, size_t unit_count,
                      const uint64_t *unit_spikes, const sf_events_choice *choice, sf_error *error)
{
    *events = (sf_events){.unit = sf_resize(NULL, unit_count, sizeof *events->unit),
                          .first = sf_alloc(unit_count + 1, sizeof *events->first)};
    int status = events->unit != NULL && events->first != NULL
                     ? number_units(events, unit_spikes, unit_count, choice, error)
                     : sf_fail_memory(error);
    size_t first = 0;
    while (first < count && (!is_kept(choice, spikes[first].unit, unit_spikes) ||
                             is_silent(choice->silent, spikes[first].unit)))
        first++;
    events->origin_ns = first < count ? spikes[first].time_ns : 0;
    if (status != SF_OK) sf_events_close(events);
    return status;
}

uint32_t *sf_events_numbers(const sf_events *events, size_t unit_count)
{
    uint32_t *numbers = sf_resize(NULL, unit_count, sizeof *numbers);
    for (size_t u = 0; numbers != NULL && u < unit_count; u++)
        numbers[u] = SF_LEFT_OUT;
    for (uint32_t u = 0; numbers != NULL && u < events->unit_count; u++)
        numbers[events->unit[u]] = u;
    return numbers;
}

/* Sums up where each piece's spikes of each unit begin. */
static void place_pieces(layout *l)
{
    sf_events *events = l->events;
    uint32_t position = 0;
    /* first[u] serves as the place of the next piece, and is shifted back afterwards. */
    for (size_t p = 0; p < l->piece_count; p++) {
        l->pieces[p].position = position;
        for (uint32_t u = 0; u < events->unit_count; u++) {
            uint32_t *place = &l->pieces[p].places[events->unit[u]];
            uint32_t own = is_silent(l->silent, events->unit[u]) ? 0 : *place;
            *place = events->first[u];
            events->first[u] += own;
            position += own;
        }
    }
    for (uint32_t u = events->unit_count; u > 0; u--)
        events->first[u] = events->first[u - 1];
    events->first[0] = 0;
}

static int deal_out_piece(void *context, unsigned worker, size_t item)
{
    (void)worker;
    const layout *l = context;
    const piece *own = &l->pieces[item];
    uint32_t p = own->position;
    for (size_t i = own->begin; i < own->end; i++) {
        uint32_t unit = l->spikes[i].unit, number = l->number[unit];
        if (number == SF_LEFT_OUT || is_silent(l->silent, unit)) continue;
        l->events->times[p] = l->spikes[i].time_ns - l->events->origin_ns;
        l->events->owner[p] = number;
        l->events->positions[own->places[unit]++] = p++;
    }
    return SF_OK;
}

static int deal_out(layout *l, unsigned threads, sf_error *error)
{
    sf_events *events = l->events;
    l->number = sf_events_numbers(events, l->unit_count);
    events->times = sf_resize(NULL, events->count, sizeof *events->times);
    events->owner = sf_resize(NULL, events->count, sizeof *events->owner);
    events->positions = sf_resize(NULL, events->count, sizeof *events->positions);
    if (l->number == NULL || events->times == NULL || events->owner == NULL || events->positions == NULL)
        return sf_fail_memory(error);
    place_pieces(l);
    sf_parallel_for(threads, l->piece_count, deal_out_piece, l);
    return SF_OK;
}

int sf_events_lay_out(sf_events *events, const sf_spike *spikes, size_t count, size_t unit_count,
                      const sf_events_choice *choice, sf_error *error)
{
    *events = (sf_events){0};
    layout l = {.events = events,
                .spikes = spikes,
                .count = count,
                .unit_count = unit_count,
                .silent = choice->silent};
    int status = count_pieces(&l, choice->threads, error);
    if (status == SF_OK)
        status = sf_events_outline(events, spikes, count, unit_count, l.unit_spikes, choice, error);
    if (status == SF_OK) status = deal_out(&l, choice->threads, error);
    close_layout(&l);
    if (status != SF_OK) sf_events_close(events);
    return status;
}

static int time_piece(void *context, unsigned worker, size_t item)
{
    (void)worker;
    sf_events *events = context;
    size_t begin = item * LEAST_PIECE, end = begin + LEAST_PIECE;
    for (size_t i = begin; i < end && i < events->count; i++)
        events->unit_times[i] = events->times[events->positions[i]];
    return SF_OK;
}

int sf_events_time_units(sf_events *events, unsigned threads, sf_error *error)
{
    events->unit_times = sf_resize(NULL, events->count, sizeof *events->unit_times);
    if (events->unit_times == NULL) return sf_fail_memory(error);
    sf_parallel_for(threads, (events->count + LEAST_PIECE - 1) / LEAST_PIECE, time_piece, events);
    return SF_OK;
}

int sf_events_open(sf_events *events, const sf_spike *spikes, size_t count, size_t unit_count,
                   const bool *keep, sf_error *error)
{
    unsigned threads = sf_thread_cores();
    sf_events_choice choice = {.keep = keep, .threads = threads};
    int status = sf_events_lay_out(events, spikes, count, unit_count, &choice, error);
    if (status == SF_OK) status = sf_events_time_units(events, threads, error);
    if (status != SF_OK) sf_events_close(events);
    return status;
}

void sf_events_close(sf_events *events)
{
    sf_free(events->unit);
    sf_free(events->times);
    sf_free(events->owner);
    sf_free(events->first);
    sf_free(events->positions);
    sf_free(events->unit_times);
    *events = (sf_events){0};
}

uint32_t sf_events_position(const sf_events *events, int64_t time_ns)
{
    if (events->count == 0 || time_ns <= events->origin_ns) return 0;
    /* Unsigned, since the distance of a time far away may leave int64. */
    uint64_t time = (uint64_t)time_ns - (uint64_t)events->origin_ns;
    uint32_t low = 0, high = events->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((uint64_t)events->times[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first of the unit's places whose position is not below `position`. */
static uint32_t place_of(const sf_events *events, uint32_t unit, uint32_t position)
{
    uint32_t low = events->first[unit], high = events->first[unit + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (events->positions[middle] < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

sf_unit_events sf_events_unit(const sf_events *events, uint32_t unit, uint32_t first, uint32_t last)
{
    uint32_t begin = first == 0 ? events->first[unit] : place_of(events, unit, first);
    uint32_t end = last >= events->count ? events->first[unit + 1] : place_of(events, unit, last);
    return (sf_unit_events){.times = events->unit_times != NULL ? events->unit_times + begin : NULL,
                            .positions = events->positions + begin,
                            .count = end > begin ? end - begin : 0};
}
