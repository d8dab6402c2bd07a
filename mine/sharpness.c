/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/sharpness.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/progress.h"
#include "core/reals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_UNITS 64u
#define MOST_SPIKE_PAIRS UINT64_C(20000000)
#define LEAST_COUNT 5 /* of a pair: fewer have no square root to speak of */
#define LEAST_DIVISOR 10.0
#define MOST_LEFT 0.2 /* 7 % of unlinked pairs have p < 0.05 */

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
    cell *cells;   /* [first * units + second] */
    size_t stride; /* every so many-th spike is a first one */
    sf_delay delay;
    int64_t width_ns, seen_twice_ns;
    const sf_progress *progress;
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

/* How likely a shift is below this many widths. */
static double below(double widths)
{
    double inside = fmax(-1, fmin(1, widths));
    return inside < 0 ? (1 + inside) * (1 + inside) / 2 : 1 - (1 - inside) * (1 - inside) / 2;
}

/* How likely a shift brings this lag into the delay. Where two electrodes see one spike, a shift would bring
 * it in: lags of such are left out, and those up to twice as long stand for them. */
static uint64_t weigh(const survey *s, int64_t lag_ns)
{
    int64_t apart_ns = lag_ns < 0 ? -lag_ns : lag_ns;
    double width = (double)s->width_ns, times = apart_ns <= s->seen_twice_ns       ? 0
                                                : apart_ns <= 2 * s->seen_twice_ns ? 2
                                                                                   : 1;
    double likely = below((double)(s->delay.high_ns - lag_ns) / width) -
                    below((double)(s->delay.low_ns - lag_ns) / width);
    return (uint64_t)(times * likely * ONE + 0.5);
}

/* The windows around a first spike: as recorded and shifted, and far to either side. */
enum { NEAR, BEFORE, AFTER, WINDOWS };

static void slide_all(sliding *windows, const survey *s, int64_t time_ns)
{
    int64_t low = time_ns + s->delay.low_ns, high = time_ns + s->delay.high_ns, far = 3 * s->width_ns;
    slide(&windows[NEAR], s, low - s->width_ns, high + s->width_ns);
    slide(&windows[BEFORE], s, low - far, high - far);
    slide(&windows[AFTER], s, low + far, high + far);
}

static void count_spike(survey *s, const sliding *windows, size_t i)
{
    cell *row = s->cells + s->slots[i] * s->units;
    for (size_t j = windows[NEAR].first; j < windows[NEAR].last; j++) {
        int64_t lag_ns = s->times[j] - s->times[i];
        row[s->slots[j]].shifted += weigh(s, lag_ns);
        row[s->slots[j]].here += lag_ns > s->delay.low_ns && lag_ns <= s->delay.high_ns;
    }
    for (int w = BEFORE; w <= AFTER; w++)
        for (size_t j = windows[w].first; j < windows[w].last; j++)
            row[s->slots[j]].far++;
}

/* Asked at every so many-th spike; both passes are one work. */
static bool go_on(const survey *s, size_t i, int pass)
{
    enum { SPIKES_AT_ONCE = 4096 };
    return i / s->stride % SPIKES_AT_ONCE != 0 ||
           sf_progress_update(s->progress, "looking at bursts", (double)((pass == 0 ? 0 : s->count) + i),
                              2.0 * (double)s->count);
}

static int count_pairs(survey *s)
{
    uint64_t sum = 0;
    sliding windows[WINDOWS] = {{0, 0}};
    for (size_t i = 0; i < s->count; i++) {
        if (!go_on(s, i, 0))
            return SF_CANCELLED;
        slide_all(windows, s, s->times[i]);
        for (int w = 0; w < WINDOWS; w++)
            sum += windows[w].last - windows[w].first;
    }
    s->stride = (size_t)(sum / MOST_SPIKE_PAIRS) + 1;
    s->cells = sf_alloc(s->units * s->units, sizeof *s->cells);
    if (s->cells == NULL)
        return SF_NO_MEMORY;
    memset(windows, 0, sizeof windows);
    for (size_t i = 0; i < s->count; i += s->stride) {
        if (!go_on(s, i, 1))
            return SF_CANCELLED;
        slide_all(windows, s, s->times[i]);
        count_spike(s, windows, i);
    }
    return SF_OK;
}

/* ---- the middle half ---- */

static double standing_out(const pair *p, double divisor)
{
    return (p->here - p->shifted - (p->here - p->far) / divisor) / sqrt(p->shifted);
}

static int by_z(const void *a, const void *b)
{
    const pair *left = a, *right = b;
    return (left->z > right->z) - (left->z < right->z);
}

/* Of pairs of different units with spikes enough, in ascending order of z. */
static size_t list_pairs(pair *pairs, const survey *s)
{
    size_t count = 0;
    for (size_t a = 0; a < s->units; a++)
        for (size_t b = 0; b < s->units; b++) {
            const cell *c = &s->cells[a * s->units + b];
            pair p = {c->here, (double)c->shifted / ONE, c->far / 2.0, 0};
            if (a == b || p.shifted < LEAST_COUNT)
                continue;
            p.z = standing_out(&p, SF_SMOOTH_DIVISOR);
            pairs[count++] = p;
        }
    if (count > 0)
        qsort(pairs, count, sizeof *pairs, by_z);
    return count;
}

static double mean_z(const pair *pairs, size_t count, double divisor)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += standing_out(&pairs[i], divisor);
    return sum / (double)count;
}

/* The standard deviation of z where spikes of a pair lie to each other at random: each lag counts by itself,
 * with 1 - its weight within the delay and - its weight beyond. */
static double unrelated_spread(const survey *s)
{
    enum { STEPS = 2000 };
    int64_t first = s->delay.low_ns - s->width_ns, last = s->delay.high_ns + s->width_ns;
    double sum = 0, step = (double)(last - first) / STEPS;
    for (int i = 0; i < STEPS; i++) {
        int64_t lag_ns = first + (int64_t)((i + 0.5) * step);
        bool inside = lag_ns > s->delay.low_ns && lag_ns <= s->delay.high_ns;
        double deviates = inside - (double)weigh(s, lag_ns) / ONE;
        sum += deviates * deviates;
    }
    return sqrt(sum * step / (double)(s->delay.high_ns - s->delay.low_ns));
}

/* Linked pairs stand out: a quarter of all, rounded up, is left out above, and as many, rounded down, below.
 * Of a normal distribution the quartiles are 1.35 deviations apart, and the mean of its middle half
 * scatters 1.1 times as much as that of all. Of `stride` times as many spikes z is larger by the root of
 * that, and its chance is not. */
static void judge_middle(sf_sharpness *told, const pair *middle, size_t kept, size_t count, size_t stride)
{
    double off = 0, fall = 0, root = sqrt((double)stride), own;
    for (size_t i = 0; i < kept; i++) {
        off += middle[i].here - middle[i].shifted;
        fall += middle[i].here - middle[i].far;
    }
    told->shared = told->left = root * mean_z(middle, kept, SF_SMOOTH_DIVISOR);
    told->spread = (middle[kept - 1].z - middle[0].z) / 1.35;
    told->error = root * 1.1 * told->spread / sqrt((double)count);
    own = fmax(0, told->spread * (1 - 2.3 / sqrt((double)count)));
    own = root * sqrt(fmax(0, own * own - told->unrelated * told->unrelated));
    told->sharpness = hypot(fmax(0, told->shared - 2 * told->error), own);
    /* Where more than a tenth is taken off, a link loses as much, and the shape tells little of the blur. */
    if (told->shared <= 2 * told->error || off <= 0 || fall / off < LEAST_DIVISOR)
        return;
    told->divisor = fmin(fall / off, SF_SMOOTH_DIVISOR);
    told->left = root * mean_z(middle, kept, told->divisor);
}

static void judge(sf_sharpness *told, const survey *s, const pair *pairs, size_t count)
{
    size_t first = count / 4, after = count - (count + 3) / 4;
    told->unrelated = unrelated_spread(s);
    if (after <= first)
        return;
    told->pairs = count;
    judge_middle(told, pairs + first, after - first, count, s->stride);
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
                         sf_delay delay, int64_t width_ns, const sf_progress *progress, sf_error *error)
{
    *sharpness =
        (sf_sharpness){.delay = delay, .width_ns = width_ns, .divisor = SF_SMOOTH_DIVISOR, .testable = true};
    if (count == 0)
        return SF_OK;
    survey s = {.delay = delay,
                .width_ns = width_ns,
                .seen_twice_ns = SEEN_TWICE_NS,
                .stride = 1,
                .progress = progress};
    if (delay.low_ns < SEEN_TWICE_NS) /* then such spikes are within the delay */
        s.seen_twice_ns = 0;
    int status = measure(sharpness, &s, spikes, count, unit_count);
    sharpness->testable =
        sharpness->sharpness <= SF_SHARPNESS_MOST && sharpness->left - 2 * sharpness->error <= MOST_LEFT;
    sf_free(s.times);
    sf_free(s.slots);
    sf_free(s.cells);
    if (status == SF_CANCELLED)
        return sf_fail(error, SF_CANCELLED, NULL, "was stopped while bursts were looked at");
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}
