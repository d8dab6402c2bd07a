/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/sharpness.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/progress.h"
#include "core/reals.h"
#include "core/thread.h"
#include "mine/surrogate_scatter.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MOST_UNITS 64u
#define MOST_SPIKE_PAIRS UINT64_C(20000000)
#define LEAST_COUNT 5     /* of a pair: fewer have no square root to speak of */
#define LEAST_DIVISOR 4.0 /* where more is taken off, too little is left of a link */
#define LEAST_FALL 4      /* of c(0) - c(3 w), in its standard errors: less tells no shape */
#define UNSURE 0.2 /* of what is taken off: counts of occurrences that do not overlap fall off otherwise */
#define ROUNDS 4   /* of finding the middle half with what is taken off, and that of the middle half */

/* One pair: as counted, weighted and not. */
typedef struct cell {
    uint64_t shifted; /* sum of weights: the mean over shifts, times ONE */
    uint32_t here, far;
} cell;

#define ONE 1048576.0

#define SEEN_TWICE_NS (SF_MILLISECOND / 2)

/* The spikes of the busiest units. */
typedef struct survey {
    int64_t *times; /* since the first spike */
    uint32_t *slots;
    size_t count, units;
    cell *cells;   /* [worker][first * units + second]; those of worker 0 are the sums in the end */
    size_t stride; /* every so many-th spike is a first one */
    unsigned threads;
    sf_delay delay;
    int64_t width_ns, seen_twice_ns;
    const sf_progress *progress;
    _Atomic uint64_t near; /* pairs of spikes that are near or far to either side */
    _Atomic size_t done;   /* pieces */
    size_t pieces;         /* of both passes together */
} survey;

/* c(0), m and c(3 w) of a pair, and its z. */
typedef struct pair {
    double here, shifted, far, z;
} pair;

/* ---- the busiest units ---- */

/* slots[unit]: its place among the busiest, or UINT32_MAX. */
static int rank_units(survey *s, uint32_t *slots, const sf_spike *spikes, size_t count, size_t unit_count)
{
    sf_rank *ranked = sf_alloc(unit_count, sizeof *ranked);
    if (ranked == NULL)
        return SF_NO_MEMORY;
    for (size_t u = 0; u < unit_count; u++) {
        ranked[u].index = u;
        slots[u] = UINT32_MAX;
    }
    for (size_t i = 0; i < count; i++)
        ranked[spikes[i].unit].amount--; /* most spikes first */
    sf_ranks_sort(ranked, unit_count);
    s->units = unit_count < MOST_UNITS ? unit_count : MOST_UNITS;
    for (size_t u = 0; u < s->units; u++)
        slots[ranked[u].index] = (uint32_t)u;
    sf_free(ranked);
    return SF_OK;
}

static int choose_spikes(survey *s, const sf_spike *spikes, size_t count, size_t unit_count)
{
    uint32_t *slots = sf_resize(NULL, unit_count, sizeof *slots);
    s->times = sf_resize(NULL, count, sizeof *s->times);
    s->slots = sf_resize(NULL, count, sizeof *s->slots);
    int status = slots != NULL && s->times != NULL && s->slots != NULL ? SF_OK : SF_NO_MEMORY;
    if (status == SF_OK)
        status = rank_units(s, slots, spikes, count, unit_count);
    for (size_t i = 0; i < count && status == SF_OK; i++)
        if (slots[spikes[i].unit] != UINT32_MAX) {
            s->times[s->count] = spikes[i].time_ns - spikes[0].time_ns;
            s->slots[s->count++] = slots[spikes[i].unit];
        }
    sf_free(slots);
    return status;
}

/* ---- counting ---- */

/* The spikes with low < time <= high, for bounds that ascend. */
typedef struct sliding {
    size_t first, last;
} sliding;

static void slide(sliding *w, const survey *s, int64_t low_ns, int64_t high_ns)
{
    while (w->first < s->count && s->times[w->first] <= low_ns)
        w->first++;
    w->last = w->last < w->first ? w->first : w->last;
    while (w->last < s->count && s->times[w->last] <= high_ns)
        w->last++;
}

/* How likely a shift brings this lag into the delay. Where two electrodes see one spike, a shift would bring
 * it in: lags of such are left out, and those up to twice as long stand for them. */
static uint64_t weigh(const survey *s, int64_t lag_ns)
{
    int64_t apart_ns = lag_ns < 0 ? -lag_ns : lag_ns;
    double times = apart_ns <= s->seen_twice_ns ? 0 : apart_ns <= 2 * s->seen_twice_ns ? 2 : 1;
    return (uint64_t)(times * sf_surrogate_reach(s->delay, s->width_ns, (double)lag_ns) * ONE + 0.5);
}

/* The windows around a first spike: as recorded and shifted, and far to either side. */
enum { NEAR, BEFORE, AFTER, WINDOWS };

static void slide_all(sliding *windows, const survey *s, int64_t time_ns)
{
    int64_t low = time_ns + s->delay.low_ns, high = time_ns + s->delay.high_ns,
            far = SF_DISPLACED_WIDTHS * s->width_ns;
    slide(&windows[NEAR], s, low - s->width_ns, high + s->width_ns);
    slide(&windows[BEFORE], s, low - far, high - far);
    slide(&windows[AFTER], s, low + far, high + far);
}

static void count_spike(const survey *s, cell *cells, const sliding *windows, size_t i)
{
    cell *row = cells + s->slots[i] * s->units;
    for (size_t j = windows[NEAR].first; j < windows[NEAR].last; j++) {
        int64_t lag_ns = s->times[j] - s->times[i];
        row[s->slots[j]].shifted += weigh(s, lag_ns);
        row[s->slots[j]].here += lag_ns > s->delay.low_ns && lag_ns <= s->delay.high_ns;
    }
    for (int w = BEFORE; w <= AFTER; w++)
        for (size_t j = windows[w].first; j < windows[w].last; j++)
            row[s->slots[j]].far++;
}

/* The first spike after a time. */
static size_t first_after(const survey *s, int64_t time_ns)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->times[middle] <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Around the first spike of a piece. */
static void open_windows(sliding *windows, const survey *s, int64_t time_ns)
{
    int64_t low = time_ns + s->delay.low_ns, far = SF_DISPLACED_WIDTHS * s->width_ns;
    const int64_t begins[WINDOWS] = {[NEAR] = low - s->width_ns, [BEFORE] = low - far, [AFTER] = low + far};
    for (int w = 0; w < WINDOWS; w++)
        windows[w].first = windows[w].last = first_after(s, begins[w]);
}

/* Of the spikes that are first ones, so many make a piece. */
enum { PIECE = 4096 };

static size_t pieces_of(const survey *s)
{
    size_t length = PIECE * s->stride;
    return (s->count + length - 1) / length;
}

/* Only the caller's thread tells how far it is, and asks. */
static int end_piece(survey *s, unsigned worker)
{
    double done = (double)(atomic_fetch_add(&s->done, 1) + 1);
    return worker != 0 || sf_progress_update(s->progress, "looking at bursts", done, (double)s->pieces)
               ? SF_OK
               : SF_CANCELLED;
}

static int size_piece(void *context, unsigned worker, size_t item)
{
    survey *s = context;
    sliding windows[WINDOWS];
    size_t begin = item * PIECE;
    uint64_t sum = 0;
    open_windows(windows, s, s->times[begin]);
    for (size_t i = begin; i < s->count && i - begin < PIECE; i++) {
        slide_all(windows, s, s->times[i]);
        for (int w = 0; w < WINDOWS; w++)
            sum += windows[w].last - windows[w].first;
    }
    atomic_fetch_add(&s->near, sum);
    return end_piece(s, worker);
}

static int count_piece(void *context, unsigned worker, size_t item)
{
    survey *s = context;
    sliding windows[WINDOWS];
    size_t length = PIECE * s->stride, begin = item * length;
    open_windows(windows, s, s->times[begin]);
    for (size_t i = begin; i < s->count && i - begin < length; i += s->stride) {
        slide_all(windows, s, s->times[i]);
        count_spike(s, s->cells + worker * s->units * s->units, windows, i);
    }
    return end_piece(s, worker);
}

static void add_workers(const survey *s)
{
    const size_t cells = s->units * s->units;
    for (unsigned w = 1; w < s->threads; w++)
        for (size_t c = 0; c < cells; c++) {
            s->cells[c].shifted += s->cells[w * cells + c].shifted;
            s->cells[c].here += s->cells[w * cells + c].here;
            s->cells[c].far += s->cells[w * cells + c].far;
        }
}

static int count_pairs(survey *s)
{
    s->pieces = 2 * pieces_of(s);
    int status = sf_parallel_for(s->threads, pieces_of(s), size_piece, s);
    if (status != SF_OK)
        return status;
    s->stride = (size_t)(s->near / MOST_SPIKE_PAIRS) + 1;
    s->pieces = s->done + pieces_of(s);
    s->cells = sf_alloc(s->threads * s->units * s->units, sizeof *s->cells);
    if (s->cells == NULL)
        return SF_NO_MEMORY;
    status = sf_parallel_for(s->threads, pieces_of(s), count_piece, s);
    if (status == SF_OK)
        add_workers(s);
    return status;
}

/* ---- the middle half ---- */

static int by_z(const void *a, const void *b)
{
    const pair *left = a, *right = b;
    return (left->z > right->z) - (left->z < right->z);
}

/* Pairs of different units with spikes enough. */
static size_t list_pairs(pair *pairs, const survey *s)
{
    size_t count = 0;
    for (size_t a = 0; a < s->units; a++)
        for (size_t b = 0; b < s->units; b++) {
            const cell *c = &s->cells[a * s->units + b];
            pair p = {c->here, (double)c->shifted / ONE, c->far / 2.0, 0};
            if (a != b && p.shifted >= LEAST_COUNT)
                pairs[count++] = p;
        }
    return count;
}

/* The middle half of all pairs in the order of z, with one in `divisor` parts taken off. */
typedef struct middle {
    const pair *pairs;
    size_t kept;
    double mean, spread;
} middle;

/* Linked pairs stand out: a quarter of all, rounded up, is left out above, and as many, rounded down, below.
 * Of a normal distribution the quartiles are 1.35 deviations apart. */
static middle find_middle(pair *pairs, size_t count, const survey *s, double divisor)
{
    double variance = sf_surrogate_scatter_of(s->delay, s->width_ns, 1 / divisor).recorded;
    for (size_t i = 0; i < count; i++) {
        pair *p = &pairs[i];
        p->z = (p->here - p->shifted - (p->here - p->far) / divisor) / sqrt(p->shifted * variance);
    }
    qsort(pairs, count, sizeof *pairs, by_z);
    size_t first = count / 4;
    middle m = {.pairs = pairs + first, .kept = count - (count + 3) / 4 - first};
    for (size_t i = 0; i < m.kept; i++)
        m.mean += m.pairs[i].z / (double)m.kept;
    m.spread = (m.pairs[m.kept - 1].z - m.pairs[0].z) / 1.35;
    return m;
}

/* What shifting takes off these pairs, as one in so many parts of c(0) - c(3 w). */
static double find_divisor(const middle *m)
{
    double off = 0, fall = 0, scatters = 0;
    for (size_t i = 0; i < m->kept; i++) {
        off += m->pairs[i].here - m->pairs[i].shifted;
        fall += m->pairs[i].here - m->pairs[i].far;
        scatters += 1.5 * m->pairs[i].shifted;
    }
    bool known = off > 0 && fall > LEAST_FALL * sqrt(scatters);
    return known ? fmax(LEAST_DIVISOR, fmin(fall / off, SF_SMOOTH_DIVISOR)) : SF_SMOOTH_DIVISOR;
}

/* The mean of the middle half of a normal distribution scatters 1.1 times as much as that of all. Of `stride`
 * times as many spikes z is larger by the root of that, and its chance is not. */
static void judge(sf_sharpness *told, const survey *s, pair *pairs, size_t count)
{
    if (count - (count + 3) / 4 <= count / 4)
        return;
    double root = sqrt((double)s->stride), margin = 1.1 / sqrt((double)count);
    middle m = find_middle(pairs, count, s, SF_SMOOTH_DIVISOR);
    told->pairs = count;
    told->shared = root * m.mean;
    told->error = root * margin * m.spread;
    for (int i = 0; i < ROUNDS && told->shared > told->error; i++) {
        told->divisor = find_divisor(&m);
        m = find_middle(pairs, count, s, told->divisor);
    }
    double own = fmax(0, m.spread * (1 - 2.3 / sqrt((double)count)));
    told->left = root * m.mean;
    told->spread = m.spread;
    double common = hypot(fmax(0, fabs(told->left) - 2 * told->error),
                          UNSURE * fmax(0, told->shared - told->left - 2 * told->error));
    told->sharpness = hypot(common, root * sqrt(fmax(0, own * own - 1)));
}

/* ---- the whole ---- */

static int measure(sf_sharpness *told, survey *s, const sf_spike *spikes, size_t count, size_t unit_count)
{
    int status = choose_spikes(s, spikes, count, unit_count);
    if (status == SF_OK)
        status = count_pairs(s);
    if (status != SF_OK)
        return status;
    pair *pairs = sf_resize(NULL, s->units * s->units, sizeof *pairs);
    if (pairs == NULL)
        return SF_NO_MEMORY;
    judge(told, s, pairs, list_pairs(pairs, s));
    sf_free(pairs);
    return SF_OK;
}

int sf_sharpness_measure(sf_sharpness *sharpness, const sf_spike *spikes, size_t count, size_t unit_count,
                         sf_delay delay, int64_t width_ns, unsigned threads, const sf_progress *progress,
                         sf_error *error)
{
    *sharpness =
        (sf_sharpness){.delay = delay, .width_ns = width_ns, .divisor = SF_SMOOTH_DIVISOR, .testable = true};
    if (count == 0)
        return SF_OK;
    survey s = {.delay = delay,
                .width_ns = width_ns,
                .seen_twice_ns = SEEN_TWICE_NS,
                .stride = 1,
                .threads = threads > 0 ? threads : sf_thread_cores(),
                .progress = progress};
    if (delay.low_ns < SEEN_TWICE_NS) /* then such spikes are within the delay */
        s.seen_twice_ns = 0;
    int status = measure(sharpness, &s, spikes, count, unit_count);
    sharpness->testable = sharpness->sharpness <= SF_SHARPNESS_MOST;
    sf_free(s.times);
    sf_free(s.slots);
    sf_free(s.cells);
    if (status == SF_CANCELLED)
        return sf_fail(error, SF_CANCELLED, NULL, "was stopped while bursts were looked at");
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}
