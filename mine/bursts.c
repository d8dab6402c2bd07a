/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/bursts.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "mine/interval_limits.h"
#include "mine/isi_n.h"

#include <math.h>

#define BIN_NS (100 * SF_MILLISECOND)
#define AROUND_NS (30 * SF_SECOND) /* on either side of a bin lies what its mean is of */
#define SCALES 3
#define LONGEST 4 /* bins of the longest window */
static const int64_t scales[SCALES] = {1, 2, LONGEST};

#define LEAST_SPIKES 10
#define LEAST_RATIO 1.5
/* Standard deviations above the mean, and what Cornish and Fisher add for the skewness of a Poisson count:
 * some three windows of each length in ten hours hold as many spikes by chance. */
#define DEVIATIONS 4.5
#define SKEWNESS ((DEVIATIONS * DEVIATIONS - 1) / 6)

const char *const sf_network_method_names[] = {"rate", "isi-n", NULL};

const char *sf_network_method_word(const void *method)
{
    return sf_network_method_names[*(const sf_network_method *)method];
}

/* ---- what trains hold by themselves ---- */

typedef struct train {
    uint64_t spikes;
    uint64_t window[SCALES], in_window[SCALES]; /* the last one of each length that it fired in, from 1 */
    size_t run; /* the last one that stands out and that it fired in, from 1 */
    bool active;
} train;

typedef struct finder {
    const sf_recording *recording;
    const sf_network_rule *rule;
    sf_bursts *bursts;
    size_t capacity;
    int64_t origin_ns;
    train *trains;
    size_t active_units, runs; /* runs that stand out so far */
    double clumping[SCALES];
} finder;

static int64_t bin_of(const finder *f, size_t spike)
{
    return (f->recording->spikes[spike].time_ns - f->origin_ns) / BIN_NS;
}

static void find_active(finder *f, double duration_ns)
{
    for (size_t i = 0; i < f->recording->spike_count; i++)
        f->trains[f->recording->spikes[i].unit].spikes++;
    for (size_t u = 0; u < f->recording->units.count; u++) {
        train *t = &f->trains[u];
        t->active = (double)t->spikes >= f->rule->active_hz * duration_ns / (double)SF_SECOND;
        f->active_units += t->active;
    }
}

/* Independent trains that keep their own bursts and their own regularity: the variance of the spikes in a
 * window is the sum of theirs, here as a multiple of the mean, which of Poisson trains is 1 and never taken
 * for less. */
static void measure_clumping(finder *f, double duration_ns)
{
    const sf_recording *recording = f->recording;
    uint64_t squares[SCALES] = {0}, window[SCALES] = {0}; /* the windows of the bin */
    double means = 0, count = (double)recording->spike_count;
    int64_t bin = -1;
    for (size_t i = 0; i < recording->spike_count; i++) {
        train *t = &f->trains[recording->spikes[i].unit];
        if (bin_of(f, i) != bin) {
            bin = bin_of(f, i);
            for (int k = 0; k < SCALES; k++)
                window[k] = (uint64_t)(bin / scales[k]) + 1;
        }
        for (int k = 0; k < SCALES; k++) {
            t->in_window[k] = window[k] == t->window[k] ? t->in_window[k] + 1 : 1;
            t->window[k] = window[k];
            squares[k] += 2 * t->in_window[k] - 1;
        }
    }
    for (size_t u = 0; u < recording->units.count; u++)
        means += (double)f->trains[u].spikes * (double)f->trains[u].spikes;
    for (int k = 0; k < SCALES; k++)
        f->clumping[k] =
            fmax(1, ((double)squares[k] - means * (double)(scales[k] * BIN_NS) / duration_ns) / count);
}

/* ---- the mean of the minute around ---- */

/* Recorded time before a time that only grows. */
typedef struct recorded {
    size_t span;
    int64_t before_ns; /* of the spans before it */
} recorded;

static int64_t recorded_before(recorded *c, const sf_recording *recording, int64_t time_ns)
{
    const sf_span *spans = recording->observed_count > 0 ? recording->observed : &recording->recorded;
    size_t count = recording->observed_count > 0 ? recording->observed_count : 1;
    while (c->span < count && spans[c->span].stop_ns <= time_ns) {
        c->before_ns += spans[c->span].stop_ns - spans[c->span].start_ns;
        c->span++;
    }
    bool within = c->span < count && spans[c->span].start_ns < time_ns;
    return c->before_ns + (within ? time_ns - spans[c->span].start_ns : 0);
}

typedef struct surroundings {
    size_t from, to; /* spikes */
    recorded start, stop;
} surroundings;

/* Spikes a bin in the recorded time around this one. */
static double mean_around(surroundings *s, const finder *f, int64_t bin)
{
    const sf_recording *recording = f->recording;
    int64_t middle_ns = f->origin_ns + bin * BIN_NS + BIN_NS / 2;
    while (s->from < recording->spike_count && recording->spikes[s->from].time_ns < middle_ns - AROUND_NS)
        s->from++;
    while (s->to < recording->spike_count && recording->spikes[s->to].time_ns < middle_ns + AROUND_NS)
        s->to++;
    int64_t recorded_ns = recorded_before(&s->stop, recording, middle_ns + AROUND_NS) -
                          recorded_before(&s->start, recording, middle_ns - AROUND_NS);
    return (double)(s->to - s->from) * (double)BIN_NS / (double)(recorded_ns > BIN_NS ? recorded_ns : BIN_NS);
}

/* ---- runs ---- */

/* A run of bins at or above the mean; no bins: none is going on. */
typedef struct run {
    int64_t first, bins;
    size_t from, to;                     /* spikes */
    double held[LONGEST], mean[LONGEST]; /* of its last bins, the last one first */
    bool stands_out;
} run;

/* Whether one of the windows that end with its last bin holds more than trains without anything in common. */
static bool stands_out(const finder *f, const run *r)
{
    double held = 0, mean = 0;
    for (int k = 0, i = 0; k < SCALES && r->bins >= scales[k]; k++) {
        for (; i < scales[k]; i++) {
            held += r->held[i];
            mean += r->mean[i];
        }
        if (held >= LEAST_SPIKES && held >= LEAST_RATIO * mean &&
            held >= mean + DEVIATIONS * sqrt(f->clumping[k] * mean) + SKEWNESS)
            return true;
    }
    return false;
}

/* The active units that fire in these spikes. */
static size_t count_units(finder *f, size_t from, size_t to)
{
    size_t units = 0;
    f->runs++;
    for (size_t i = from; i < to; i++) {
        train *t = &f->trains[f->recording->spikes[i].unit];
        units += t->active && t->run != f->runs;
        t->run = f->runs;
    }
    return units;
}

static int add_burst(finder *f, sf_span span, sf_burst_members members, sf_error *error)
{
    sf_bursts *bursts = f->bursts;
    size_t capacity = f->capacity; /* the same of both */
    if (sf_reserve(&bursts->items, &capacity, bursts->count + 1, sizeof *bursts->items) != 0 ||
        sf_reserve(&bursts->members, &f->capacity, bursts->count + 1, sizeof *bursts->members) != 0)
        return sf_fail_memory(error);
    bursts->items[bursts->count] = span;
    bursts->members[bursts->count++] = members;
    return SF_OK;
}

static int end_run(finder *f, run *r, sf_error *error)
{
    const run ended = *r;
    const sf_span span = {f->origin_ns + ended.first * BIN_NS,
                          f->origin_ns + (ended.first + ended.bins) * BIN_NS};
    *r = (run){0};
    if (!ended.stands_out) return SF_OK;
    size_t units = count_units(f, ended.from, ended.to);
    if (units < 2 || (double)units < f->rule->share * (double)f->active_units) return SF_OK;
    return add_burst(f, span, (sf_burst_members){ended.to - ended.from, units}, error);
}

/* One bin that holds spikes; those between it and the one before hold none. */
static int add_bin(finder *f, run *r, int64_t bin, size_t from, size_t to, double mean, sf_error *error)
{
    int status = SF_OK;
    double held = (double)(to - from);
    if (held < mean || bin != r->first + r->bins) status = end_run(f, r, error);
    if (held < mean) return status;
    if (r->bins == 0) *r = (run){.first = bin, .from = from};
    for (int i = LONGEST - 1; i > 0; i--) {
        r->held[i] = r->held[i - 1];
        r->mean[i] = r->mean[i - 1];
    }
    r->held[0] = held;
    r->mean[0] = mean;
    r->bins++;
    r->to = to;
    r->stands_out = r->stands_out || stands_out(f, r);
    return status;
}

static int find_runs(finder *f, sf_error *error)
{
    surroundings around = {0};
    run r = {0};
    int status = SF_OK;
    size_t count = f->recording->spike_count;
    for (size_t begin = 0, end; begin < count && status == SF_OK; begin = end) {
        int64_t bin = bin_of(f, begin);
        end = begin + 1;
        while (end < count && bin_of(f, end) == bin)
            end++;
        status = add_bin(f, &r, bin, begin, end, mean_around(&around, f, bin), error);
    }
    return status == SF_OK ? end_run(f, &r, error) : status;
}

/* ---- ISI_N ---- */

/* The valley of the histogram of the times that N spikes take; 0: there is none. */
static int find_within(int64_t *within_ns, const finder *f, sf_error *error)
{
    size_t needed = (size_t)f->rule->spikes, count = f->recording->spike_count;
    size_t windows = count >= needed ? count - needed + 1 : 0;
    int64_t *lengths_ns = sf_resize(NULL, windows, sizeof *lengths_ns);
    if (lengths_ns == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < windows; i++)
        lengths_ns[i] = f->recording->spikes[i + needed - 1].time_ns - f->recording->spikes[i].time_ns;
    *within_ns = sf_interval_valley_of_peaks(lengths_ns, windows);
    sf_free(lengths_ns);
    return SF_OK;
}

/* What comes next starts where the burst ended. */
static int take_burst(finder *f, const sf_isi_n *found, sf_error *error)
{
    const sf_network_burst *burst = &found->burst;
    size_t to = (size_t)found->start, from = to - (size_t)burst->spikes;
    return add_burst(f, (sf_span){burst->first_ns, burst->last_ns + 1},
                     (sf_burst_members){burst->spikes, count_units(f, from, to)}, error);
}

static bool parts_silence(const sf_bursts *bursts, size_t spikes)
{
    uint64_t within = 0;
    for (size_t b = 0; b < bursts->count; b++)
        within += bursts->members[b].spikes;
    return bursts->within_ns >= SF_SECOND && (double)within >= SF_BURSTS_ALL * (double)spikes;
}

static int find_isi_n(finder *f, sf_error *error)
{
    int64_t within_ns = f->rule->within_ns;
    int status = within_ns > 0 ? SF_OK : find_within(&within_ns, f, error);
    f->bursts->within_ns = within_ns;
    if (status != SF_OK || within_ns == 0) return status;
    sf_isi_n found;
    status = sf_isi_n_open(&found, f->rule->spikes, within_ns, f->recording->units.count, error);
    for (size_t i = 0; i < f->recording->spike_count && status == SF_OK; i++) {
        const sf_spike *spike = &f->recording->spikes[i];
        if ((sf_isi_n_take(&found, spike->time_ns, spike->unit) & SF_BURST_ENDED) != 0)
            status = take_burst(f, &found, error);
    }
    if (status == SF_OK && sf_isi_n_finish(&found) != 0) status = take_burst(f, &found, error);
    f->bursts->from_silence = f->rule->within_ns == 0 && parts_silence(f->bursts, f->recording->spike_count);
    sf_isi_n_close(&found);
    return status;
}

/* ---- either ---- */

int sf_bursts_find(sf_bursts *bursts, const sf_recording *recording, const sf_network_rule *rule,
                   sf_error *error)
{
    int64_t duration_ns = sf_recording_duration_ns(recording);
    *bursts = (sf_bursts){0};
    if (recording->spike_count == 0 || duration_ns <= 0) return SF_OK;
    finder f = {.recording = recording,
                .rule = rule,
                .bursts = bursts,
                .origin_ns = recording->spikes[0].time_ns,
                .trains = sf_alloc(recording->units.count, sizeof *f.trains)};
    if (f.trains == NULL) return sf_fail_memory(error);
    find_active(&f, (double)duration_ns);
    if (rule->method == SF_NETWORK_RATE) measure_clumping(&f, (double)duration_ns);
    int status = rule->method == SF_NETWORK_RATE ? find_runs(&f, error) : find_isi_n(&f, error);
    sf_free(f.trains);
    if (status != SF_OK) sf_bursts_free(bursts);
    return status;
}

void sf_bursts_free(sf_bursts *bursts)
{
    sf_free(bursts->items);
    sf_free(bursts->members);
    *bursts = (sf_bursts){0};
}

size_t sf_bursts_at(const sf_bursts *bursts, int64_t time_ns)
{
    size_t low = 0, high = bursts->count; /* the first that ends after it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bursts->items[middle].stop_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < bursts->count && bursts->items[low].start_ns <= time_ns ? low : SIZE_MAX;
}
