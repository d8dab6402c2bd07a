/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/burst_places.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/reals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Drawings stop after this many that are as good; p is then their fraction (Besag and Clifford 1991). */
#define EXCEEDANCES 20

/* ---- the window that most bursts have an event in ---- */

typedef struct grid {
    int64_t low_ns, step_ns, width_ns; /* window k begins at low + k step */
    size_t cells;
} grid;

static int64_t step_of(const sf_burst_frame *frame)
{
    int64_t step = frame->window_ns / SF_PLACE_CELLS;
    return step > 0 ? step : 1;
}

/* Grid over all windows that contain any time of any burst. */
static grid grid_of(const sf_burst_frame *frame, const int64_t *zero_ns)
{
    grid g = {.step_ns = step_of(frame), .width_ns = frame->window_ns};
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (size_t b = 0; b < frame->burst_count; b++) {
        const sf_sequence_burst *burst = &frame->bursts[b];
        if (burst->spikes == 0) continue;
        int64_t first = frame->spikes[burst->first_spike].time_ns - zero_ns[b];
        int64_t last = frame->spikes[burst->first_spike + burst->spikes - 1].time_ns - zero_ns[b];
        low = first < low ? first : low;
        high = last > high ? last : high;
    }
    if (low > high) return g;
    g.low_ns = low - g.width_ns;
    g.cells = (size_t)((high - g.low_ns) / g.step_ns) + 1;
    return g;
}

/* Time of an event, relative to the burst's zero, after rotating it by a number of ranks. */
static int64_t event_ns(const sf_burst_frame *frame, const sf_burst_train *train, size_t event,
                        int64_t zero_ns, uint32_t moved)
{
    const sf_sequence_burst *burst = &frame->bursts[train->bursts[event]];
    size_t rank = (train->ranks[event] + (size_t)moved) % burst->spikes;
    return frame->spikes[burst->first_spike + rank].time_ns - zero_ns;
}

/* Marks the windows that hold one of the burst's events [from, to), each once. */
static void mark(int32_t *steps, const grid *g, const sf_burst_frame *frame, const sf_burst_train *train,
                 size_t from, size_t to, int64_t zero_ns, uint32_t moved)
{
    size_t spikes = frame->bursts[train->bursts[from]].spikes, turn = from;
    int64_t done = -1; /* the last window that is marked */
    while (turn < to && train->ranks[turn] + (size_t)moved < spikes)
        turn++;
    for (size_t i = 0; i < to - from;
         i++) { /* in the order after rotation: from `turn` on, then from the start */
        size_t event = turn + i < to ? turn + i : turn + i - (to - from);
        int64_t at = event_ns(frame, train, event, zero_ns, moved) - g->low_ns;
        int64_t first = (at - g->width_ns) / g->step_ns + 1, last = at / g->step_ns;
        if (first <= done) first = done + 1;
        if (first > last) continue;
        steps[first]++;
        steps[last + 1]--;
        done = last;
    }
}

int sf_burst_place_find(sf_best_place *best, sf_place_scan *scan, const sf_burst_frame *frame,
                        const sf_burst_train *train, const int64_t *zero_ns, const uint32_t *moved,
                        sf_error *error)
{
    const grid g = grid_of(frame, zero_ns);
    *best = (sf_best_place){0};
    if (train->count == 0) return SF_OK;
    if (sf_reserve(&scan->steps, &scan->capacity, g.cells + 1, sizeof *scan->steps) != 0)
        return sf_fail_memory(error);
    memset(scan->steps, 0, (g.cells + 1) * sizeof *scan->steps);
    for (size_t from = 0, to; from < train->count; from = to) {
        uint32_t b = train->bursts[from];
        for (to = from + 1; to < train->count && train->bursts[to] == b;)
            to++;
        mark(scan->steps, &g, frame, train, from, to, zero_ns[b], moved != NULL ? moved[b] : 0);
    }
    uint64_t holding = 0;
    size_t first = 0, last = 0;
    for (size_t k = 0; k < g.cells; k++) {
        holding = (uint64_t)((int64_t)holding + scan->steps[k]);
        if (holding > best->kept) {
            best->kept = holding;
            first = last = k;
        } else if (holding == best->kept && last + 1 == k)
            last = k;
    }
    best->middle_ns = g.low_ns + (int64_t)(first + last) * g.step_ns / 2 + g.width_ns / 2;
    return SF_OK;
}

bool sf_burst_place_nearest(int64_t *off_ns, const sf_burst_frame *frame, const sf_burst_train *train,
                            size_t *next, size_t burst, int64_t zero_ns, int64_t middle_ns)
{
    bool found = false;
    for (; *next < train->count && train->bursts[*next] == burst; ++*next) {
        int64_t off = event_ns(frame, train, *next, zero_ns, 0) - middle_ns;
        if (!found || llabs(off) < llabs(*off_ns)) *off_ns = off;
        found = true;
    }
    return found && llabs(*off_ns) <= frame->window_ns / 2 + step_of(frame);
}

/* ---- comparison with trains rotated within the burst ---- */

static void measure_events(sf_sequence_place *place, const sf_burst_frame *frame, const sf_burst_train *train,
                           const int64_t *zero_ns, int64_t middle_ns)
{
    double count = 0, mean = 0, squares = 0;
    for (size_t b = 0, next = 0; b < frame->burst_count; b++) {
        int64_t off;
        if (!sf_burst_place_nearest(&off, frame, train, &next, b, zero_ns[b], middle_ns)) continue;
        double value = (double)off * 1e-6, before = value - mean;
        mean += before / ++count;
        squares += before * (value - mean);
    }
    place->place_ms = (double)middle_ns * 1e-6 + mean;
    place->jitter_ms = count > 1 ? sqrt(squares / (count - 1)) : NAN;
}

static void draw_moves(uint32_t *moved, const sf_burst_frame *frame, uint64_t stream, uint64_t drawing)
{
    sf_random random = sf_random_start(frame->seed, stream << 32 | drawing);
    for (size_t b = 0; b < frame->burst_count; b++)
        moved[b] =
            frame->bursts[b].spikes > 0 ? (uint32_t)sf_random_below(&random, frame->bursts[b].spikes) : 0;
}

int sf_burst_place_test(sf_sequence_place *place, const sf_burst_frame *frame, const sf_burst_train *train,
                        const int64_t *zero_ns, uint64_t stream, sf_error *error)
{
    sf_place_scan scan = {0};
    sf_best_place best, drawn;
    uint64_t as_good = 0, drawings = 0, all = frame->surrogates;
    double sum = 0;
    *place = (sf_sequence_place){NAN, NAN, 0, NAN, NAN, NAN};
    uint32_t *moved = sf_alloc(frame->burst_count, sizeof *moved);
    int status = moved == NULL ? sf_fail_memory(error)
                               : sf_burst_place_find(&best, &scan, frame, train, zero_ns, NULL, error);
    while (status == SF_OK && train->count > 0 && drawings < all && as_good < EXCEEDANCES) {
        draw_moves(moved, frame, stream, drawings++);
        status = sf_burst_place_find(&drawn, &scan, frame, train, zero_ns, moved, error);
        as_good += drawn.kept >= best.kept;
        sum += (double)drawn.kept;
    }
    if (status == SF_OK && train->count > 0) {
        place->kept = best.kept;
        place->kept_chance = sum / (double)drawings;
        place->p = as_good == EXCEEDANCES ? (double)as_good / (double)drawings
                                          : (1 + (double)as_good) / (1 + (double)drawings);
        measure_events(place, frame, train, zero_ns, best.middle_ns);
    }
    sf_free(moved);
    sf_free(scan.steps);
    return status;
}

/* ---- similarity of time courses ---- */

typedef struct course {
    sf_rank *events; /* ordered by time (ns from the burst's zero); the index is the burst */
    double *weights; /* by burst */
} course;

/* Sum over all pairs of events, each with itself included, of their weights times exp(-distance / width). */
static double sum_of_pairs(const course *c, size_t from, size_t end, double width_ns)
{
    double sum = 0, before = 0; /* before: weights of earlier events, decayed to this one */
    for (size_t i = from; i < end; i++) {
        double weight = c->weights[c->events[i].index];
        if (i > from) before *= exp(-(c->events[i].amount - c->events[i - 1].amount) / width_ns);
        sum += weight * (weight + 2 * before);
        before += weight;
    }
    return sum;
}

static double shape_of(const course *c, const sf_burst_frame *frame, const sf_burst_train *train,
                       const int64_t *zero_ns, const uint32_t *moved)
{
    const double width_ns = (double)frame->window_ns;
    double bursts = 0;
    for (size_t from = 0, to; from < train->count; from = to, bursts++) {
        uint32_t b = train->bursts[from];
        for (to = from; to < train->count && train->bursts[to] == b; to++) {
            int64_t at_ns = event_ns(frame, train, to, zero_ns[b], moved != NULL ? moved[b] : 0);
            c->events[to] = (sf_rank){(double)at_ns, b};
        }
        sf_ranks_sort(c->events + from, to - from);
        c->weights[b] = 1;
        c->weights[b] = 1 / sqrt(sum_of_pairs(c, from, to, width_ns));
    }
    sf_ranks_sort(c->events, train->count);
    return bursts > 1 ? (sum_of_pairs(c, 0, train->count, width_ns) - bursts) / (bursts * (bursts - 1)) : NAN;
}

int sf_burst_shape_find(sf_burst_shape *shape, const sf_burst_frame *frame, const sf_burst_train *train,
                        const int64_t *zero_ns, uint64_t stream, sf_error *error)
{
    const course c = {sf_alloc(train->count, sizeof *c.events),
                      sf_alloc(frame->burst_count, sizeof *c.weights)};
    uint32_t *moved = sf_alloc(frame->burst_count, sizeof *moved);
    bool complete = c.events != NULL && c.weights != NULL && moved != NULL;
    *shape = (sf_burst_shape){NAN, NAN};
    if (complete) {
        double sum = 0;
        shape->shape = shape_of(&c, frame, train, zero_ns, NULL);
        for (uint64_t drawing = 0; drawing < SF_SHAPE_DRAWINGS; drawing++) {
            draw_moves(moved, frame, stream, drawing);
            sum += shape_of(&c, frame, train, zero_ns, moved);
        }
        shape->chance = sum / SF_SHAPE_DRAWINGS;
    }
    sf_free(c.events);
    sf_free(c.weights);
    sf_free(moved);
    return complete ? SF_OK : sf_fail_memory(error);
}

/* ---- bursts laid above each other ---- */

typedef struct late_one {
    int64_t late_ns;
    double weight;
    size_t train;
} late_one;

static int by_lateness(const void *a, const void *b)
{
    const late_one *one = a, *other = b;
    int order = (one->late_ns > other->late_ns) - (one->late_ns < other->late_ns);
    return order != 0 ? order : (one->train > other->train) - (one->train < other->train);
}

/* Index at which the cumulative weight, excluding `without`, reaches half; sums[i] includes late[i]. */
static size_t middle_without(const double *sums, size_t count, size_t without, double weight)
{
    double half = (sums[count - 1] - weight) / 2;
    size_t low = 0, high = count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        double sum = sums[middle] - (without <= middle ? weight : 0);
        if (sum >= half)
            high = middle;
        else
            low = middle + 1;
    }
    return low == without ? (low + 1 < count ? low + 1 : low - 1) : low;
}

static void zero_of_burst(int64_t *zero_ns, int64_t *one_ns, const sf_lateness *late, size_t burst,
                          late_one *known, double *sums)
{
    size_t count = 0, all = late->burst_count;
    double sum = 0;
    for (size_t t = 0; t < late->count; t++)
        if (late->late_ns[t * all + burst] != INT64_MIN && late->weight[t] > 0)
            known[count++] = (late_one){late->late_ns[t * all + burst], late->weight[t], t};
    if (count == 0) return;
    qsort(known, count, sizeof *known, by_lateness);
    for (size_t i = 0; i < count; i++)
        sums[i] = sum += known[i].weight;
    const late_one *middle = &known[middle_without(sums, count, SIZE_MAX, 0)];
    for (size_t t = 0; t < late->count; t++)
        zero_ns[t * all + burst] = middle->late_ns;
    if (one_ns != NULL) one_ns[burst] = middle->late_ns;
    for (size_t i = 0; i < count && count > 1; i++)
        zero_ns[known[i].train * all + burst] =
            known[middle_without(sums, count, i, known[i].weight)].late_ns;
}

int sf_burst_zero(int64_t *zero_ns, int64_t *one_ns, const sf_lateness *late, sf_error *error)
{
    late_one *known = sf_alloc(late->count + 1, sizeof *known);
    double *sums = sf_alloc(late->count + 1, sizeof *sums);
    int status = known == NULL || sums == NULL ? sf_fail_memory(error) : SF_OK;
    for (size_t b = 0; status == SF_OK && b < late->burst_count; b++)
        zero_of_burst(zero_ns, one_ns, late, b, known, sums);
    sf_free(known);
    sf_free(sums);
    return status;
}
