/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sttc.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/ranks.h"
#include "core/reals.h"
#include "core/thread.h"

#include <Random123/philox.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* ---- recorded time ---- */

static size_t span_count(const sf_sttc_options *options)
{
    return options->observed_count > 0 ? options->observed_count : 1;
}

/* Span k of the recorded time. */
static sf_span span_at(const sf_sttc_options *options, size_t k)
{
    sf_recorded all = options->recorded;
    sf_span span = options->observed_count > 0 ? options->observed[k] : (sf_span){all.start_ns, all.stop_ns};
    return (sf_span){span.start_ns > all.start_ns ? span.start_ns : all.start_ns,
                     span.stop_ns < all.stop_ns ? span.stop_ns : all.stop_ns};
}

static int64_t recorded_ns(const sf_sttc_options *options)
{
    int64_t total = 0;
    for (size_t k = 0; k < span_count(options); k++) {
        sf_span span = span_at(options, k);
        total += span.stop_ns > span.start_ns ? span.stop_ns - span.start_ns : 0;
    }
    return total;
}

/* End index of span k's spikes, which begin at `first`. A spike at the end of a span and the start of the
 * next belongs to the next. */
static size_t end_of_span(sf_train train, size_t first, const sf_sttc_options *options, size_t k)
{
    if (k + 1 >= span_count(options)) return train.count;
    size_t end = first;
    while (end < train.count && train.times_ns[end] < options->observed[k + 1].start_ns)
        end++;
    return end;
}

/* ---- the coefficient ---- */

/* Tiled time of a span: the length of the union of [t - dt, t + dt] over its own spikes first .. end - 1,
 * clipped to the span. */
static int64_t tiled_in(sf_span span, sf_train train, size_t first, size_t end, int64_t dt)
{
    int64_t tiled = 0,
            covered = span.start_ns; /* covered: everything before is either counted or not tiled */
    for (size_t i = first; i < end; i++) {
        int64_t from = train.times_ns[i] - dt > covered ? train.times_ns[i] - dt : covered;
        int64_t to = train.times_ns[i] + dt < span.stop_ns ? train.times_ns[i] + dt : span.stop_ns;
        if (to <= from) continue;
        tiled += to - from;
        covered = to;
    }
    return tiled;
}

static double tiled_share(sf_train train, const sf_sttc_options *options)
{
    int64_t tiled = 0;
    for (size_t k = 0, first = 0; k < span_count(options) && first < train.count; k++) {
        size_t end = end_of_span(train, first, options, k);
        tiled += tiled_in(span_at(options, k), train, first, end, options->dt_ns);
        first = end;
    }
    return (double)tiled / (double)recorded_ns(options);
}

static double term(double close, double tiled)
{
    double room = 1 - close * tiled;
    return fabs(room) < 1e-12 ? 1 : (close - tiled) / room;
}

/* Coefficient from the fractions of spikes that are close to the other train, and the fractions of time that
 * each train tiles. */
static double coefficient(double close_a, double close_b, double tiled_a, double tiled_b)
{
    return (term(close_a, tiled_b) + term(close_b, tiled_a)) / 2;
}

/* ---- trains ---- */

int sf_trains_split(sf_unit_trains *trains, const sf_spike *spikes, size_t spike_count, size_t unit_count,
                    sf_error *error)
{
    *trains = (sf_unit_trains){.count = unit_count,
                               .items = sf_alloc(unit_count, sizeof *trains->items),
                               .times_ns = sf_resize(NULL, spike_count, sizeof *trains->times_ns)};
    if (trains->items == NULL || trains->times_ns == NULL) {
        sf_trains_free(trains);
        return sf_fail_memory(error);
    }
    for (size_t i = 0; i < spike_count; i++)
        trains->items[spikes[i].unit].count++;
    int64_t *next = trains->times_ns;
    for (size_t u = 0; u < unit_count; u++) {
        trains->items[u].times_ns = next;
        next += trains->items[u].count;
        trains->items[u].count = 0;
    }
    for (size_t i = 0; i < spike_count; i++) {
        sf_train *train = &trains->items[spikes[i].unit];
        trains->times_ns[(train->times_ns - trains->times_ns) + (ptrdiff_t)train->count++] =
            spikes[i].time_ns;
    }
    return SF_OK;
}

void sf_trains_free(sf_unit_trains *trains)
{
    sf_free(trains->items);
    sf_free(trains->times_ns);
    *trains = (sf_unit_trains){0};
}

/* ---- all pairs ---- */

/* Per pair, the observed value and the statistics of its surrogates. Triangles hold the pairs (a, b) with b >
 * a by rows. */
typedef struct verdicts {
    const sf_sttc_options *options;
    double *tiled;     /* per train */
    size_t *span_ends; /* per span: number of spikes up to its end, the same for recording and surrogates */
    double *observed;  /* triangle; NaN for pairs that are not tested */
    uint32_t *as_high; /* triangle: number of surrogates with at least the observed value */
    uint64_t *sums;    /* triangle: sums of rises, and of their squares, over the surrogates */
    struct scale *scales;
    double *maxima;      /* per surrogate: maximum score of any pair */
    uint32_t surrogates; /* that were compared with */
    size_t pairs;        /* that are looked at */
    bool stopped;
} verdicts;

/* One pass over all pairs of the recording or of a surrogate: visits all spikes in time order, and counts,
 * for each pair of trains, the spikes of one with a spike of the other at most dt away. */
typedef struct pass {
    const sf_unit_trains *trains;
    const sf_sttc_options *options;
    verdicts *of;
    int (*judge)(void *pass, unsigned worker, size_t row); /* what becomes of the counts */
    size_t spike_count;
    sf_spike *spikes;
    uint32_t *close;    /* trains x trains: spikes of the row's train */
    uint32_t *as_high;  /* as in verdicts, of the surrogates of this pass */
    uint64_t *sums;     /* likewise */
    double *row_maxima; /* of the surrogate */
    uint32_t surrogates;
    bool divided;       /* each rank visits its part of the spikes, and the counts are summed */
    sf_ranks_part part; /* the part of the spikes that this rank visits */
    struct near *near;  /* per worker */
    unsigned workers;
} pass;

/* The trains with a spike between two moving times. */
typedef struct near {
    uint32_t *spikes; /* per train, in that time */
    uint32_t *trains; /* those with any, in any order ... */
    uint32_t *places; /* ... and where in it a train stands */
    size_t count;
} near;

static void enter(near *n, uint32_t train)
{
    if (n->spikes[train]++ > 0) return;
    n->places[train] = (uint32_t)n->count;
    n->trains[n->count++] = train;
}

static void leave(near *n, uint32_t train)
{
    if (--n->spikes[train] > 0) return;
    uint32_t last = n->trains[--n->count];
    n->trains[n->places[train]] = last;
    n->places[last] = n->places[train];
}

static size_t count_spikes(const sf_unit_trains *trains)
{
    size_t spikes = 0;
    for (size_t a = 0; a < trains->count; a++)
        spikes += trains->items[a].count;
    return spikes;
}

static size_t pair_count(size_t trains)
{
    return trains * (trains - (trains > 0)) / 2;
}

/* Place of (a, a + 1) in a triangle. */
static size_t row_start(size_t trains, size_t a)
{
    return a * (trains - 1) - a * (a - (a > 0)) / 2;
}

static int tile_train(void *context, unsigned worker, size_t a)
{
    (void)worker;
    const pass *p = context;
    p->of->tiled[a] = tiled_share(p->trains->items[a], p->options);
    return 0;
}

static void find_span_ends(const pass *p)
{
    size_t spans = span_count(p->options);
    for (size_t k = 0; k < spans; k++)
        p->of->span_ends[k] = k + 1 < spans ? sf_spikes_lower_bound(p->spikes, p->spike_count,
                                                                    p->options->observed[k + 1].start_ns)
                                            : p->spike_count;
}

/* Visits this rank's part of the spikes first .. end - 1, all of one span. */
static void count_in_span(const pass *p, near *n, size_t share, size_t first, size_t end)
{
    int64_t dt = p->options->dt_ns;
    size_t from = p->part.first > first ? p->part.first : first, to = p->part.last < end ? p->part.last : end;
    if (from >= to) return;
    size_t in = first + sf_spikes_lower_bound(p->spikes + first, end - first, p->spikes[from].time_ns - dt);
    size_t out = in;
    for (size_t i = from; i < to; i++) {
        const sf_spike *spike = &p->spikes[i];
        while (in < end && p->spikes[in].time_ns <= spike->time_ns + dt)
            enter(n, p->spikes[in++].unit);
        while (p->spikes[out].time_ns < spike->time_ns - dt)
            leave(n, p->spikes[out++].unit);
        if (spike->unit % p->workers != share) continue;
        uint32_t *row = p->close + spike->unit * p->trains->count;
        for (size_t k = 0; k < n->count; k++)
            row[n->trains[k]]++;
    }
    while (out < in)
        leave(n, p->spikes[out++].unit);
}

/* Each worker visits all spikes, but counts only for trains whose number modulo the number of workers is its
 * share. The work per spike is the number of trains near it, which is small outside bursts of the array. */
static int count_close(void *context, unsigned worker, size_t share)
{
    const pass *p = context;
    near here =
        p->near[worker]; /* on the stack, so that its count shares no cache line with other workers' */
    for (size_t k = 0, first = 0; k < span_count(p->options); k++) {
        count_in_span(p, &here, share, first, p->of->span_ends[k]);
        first = p->of->span_ends[k];
    }
    return 0;
}

/* Surrogates use the tiles of the recording, so that tiles cut at the ends of recorded time do not make a
 * difference between a pair and its surrogates. */
static double value_of(const pass *p, size_t a, size_t b)
{
    const sf_train *trains = p->trains->items;
    size_t count = p->trains->count;
    return coefficient((double)p->close[a * count + b] / (double)trains[a].count,
                       (double)p->close[b * count + a] / (double)trains[b].count, p->of->tiled[a],
                       p->of->tiled[b]);
}

static bool are_looked_at(const pass *p, size_t a, size_t b)
{
    const sf_sttc_options *options = p->options;
    if (p->trains->items[a].count == 0 || p->trains->items[b].count == 0) return false;
    if (!(options->least_um > 0)) return true;
    const sf_unit *one = &options->units->items[a], *other = &options->units->items[b];
    return !(hypot(one->x_um - other->x_um, one->y_um - other->y_um) < options->least_um);
}

static int observe_row(void *context, unsigned worker, size_t a)
{
    (void)worker;
    const pass *p = context;
    size_t count = p->trains->count, place = row_start(count, a);
    for (size_t b = a + 1; b < count; b++, place++)
        p->of->observed[place] = are_looked_at(p, a, b) ? value_of(p, a, b) : NAN;
    return 0;
}

static int visit_pairs(pass *p, sf_error *error)
{
    size_t trains = p->trains->count, next = 0;
    for (uint32_t a = 0; a < trains; a++)
        for (size_t i = 0; i < p->trains->items[a].count; i++)
            p->spikes[next++] = (sf_spike){.time_ns = p->trains->items[a].times_ns[i], .unit = a};
    int status = sf_spikes_sort(p->spikes, p->spike_count, error);
    if (status != SF_OK) return status;
    p->part = p->divided ? sf_ranks_share(p->spike_count) : (sf_ranks_part){0, p->spike_count};
    memset(p->close, 0, trains * trains * sizeof *p->close);
    if (p->judge == observe_row) {
        sf_parallel_for(p->workers, trains, tile_train, p);
        find_span_ends(p);
    }
    sf_parallel_for(p->workers, p->workers, count_close, p);
    if (p->divided) status = sf_ranks_add_counts(p->close, trains * trains, SF_OK, error);
    if (status == SF_OK) sf_parallel_for(p->workers, trains, p->judge, p);
    return status;
}

static bool are_recorded(sf_train train, const sf_sttc_options *options)
{
    for (size_t k = 0, first = 0; k < span_count(options) && first < train.count; k++) {
        sf_span span = span_at(options, k);
        size_t end = end_of_span(train, first, options, k);
        if (end > first && (train.times_ns[first] < span.start_ns || train.times_ns[end - 1] > span.stop_ns))
            return false;
        first = end;
    }
    return true;
}

static int check_options(const sf_unit_trains *trains, const sf_sttc_options *options, sf_error *error)
{
    if (options->dt_ns < 0) return sf_fail(error, SF_USAGE, NULL, "the width of the tiles is negative");
    if (recorded_ns(options) <= 0)
        return sf_fail(error, SF_DATA, NULL,
                       "the recorded time is empty, and the coefficient is a share of it");
    for (size_t a = 0; a < trains->count; a++)
        if (!are_recorded(trains->items[a], options))
            return sf_fail(error, SF_DATA, NULL, "unit #%zu has spikes outside the recorded time", a);
    return SF_OK;
}

static void close_pass(pass *p)
{
    for (unsigned w = 0; p->near != NULL && w < p->workers; w++)
        sf_free(p->near[w].spikes);
    sf_free(p->near);
    sf_free(p->spikes);
    sf_free(p->close);
    sf_free(p->as_high);
    sf_free(p->sums);
    sf_free(p->row_maxima);
}

static int open_pass(pass *p, const sf_unit_trains *trains, verdicts *of, unsigned workers, sf_error *error)
{
    size_t count = trains->count, spikes = count_spikes(trains);
    *p = (pass){.trains = trains,
                .options = of->options,
                .of = of,
                .judge = observe_row,
                .spike_count = spikes,
                .spikes = sf_resize(NULL, spikes, sizeof *p->spikes),
                .close = sf_resize(NULL, count, count * sizeof *p->close),
                .near = sf_alloc(workers, sizeof *p->near),
                .workers = workers};
    bool complete = p->spikes != NULL && p->close != NULL && p->near != NULL;
    for (unsigned w = 0; complete && w < p->workers; w++) {
        near *n = &p->near[w];
        n->spikes = sf_alloc(count, 3 * sizeof *n->spikes);
        complete = n->spikes != NULL;
        n->trains = complete ? n->spikes + count : NULL;
        n->places = complete ? n->trains + count : NULL;
    }
    return complete ? SF_OK : sf_fail_memory(error);
}

static unsigned workers_of(const sf_sttc_options *options)
{
    return options->threads > 0 ? options->threads : 1;
}

static void close_verdicts(verdicts *v)
{
    sf_free(v->tiled);
    sf_free(v->span_ends);
    sf_free(v->observed);
    sf_free(v->as_high);
    sf_free(v->sums);
    sf_free(v->scales);
    sf_free(v->maxima);
}

/* Computes the coefficients of all pairs of the recording. */
static int observe(verdicts *v, const sf_unit_trains *trains, const sf_sttc_options *options, bool divided,
                   sf_error *error)
{
    size_t pairs = pair_count(trains->count);
    *v = (verdicts){.options = options,
                    .tiled = sf_resize(NULL, trains->count, sizeof *v->tiled),
                    .span_ends = sf_resize(NULL, span_count(options), sizeof *v->span_ends),
                    .observed = sf_resize(NULL, pairs, sizeof *v->observed)};
    if (v->tiled == NULL || v->span_ends == NULL || v->observed == NULL) return sf_fail_memory(error);
    pass p;
    int status = open_pass(&p, trains, v, workers_of(options), error);
    p.divided = divided;
    if (status == SF_OK) status = visit_pairs(&p, error);
    close_pass(&p);
    for (size_t i = 0; status == SF_OK && i < pairs; i++)
        v->pairs += isnan(v->observed[i]) ? 0 : 1;
    return status;
}

/* ---- surrogates ---- */

/* Rotates the part of a train within its span, which is half open here: its last nanosecond equals its first.
 * Spikes shifted past the end come first, so the order is kept. */
static void shift_in_span(int64_t *shifted, sf_train part, sf_span span, uint64_t by)
{
    int64_t length = span.stop_ns - span.start_ns;
    int64_t shift = length > 0 ? (int64_t)(by % (uint64_t)length) : 0;
    size_t passed = 0;
    while (passed < part.count && part.times_ns[part.count - 1 - passed] + shift >= span.stop_ns)
        passed++;
    size_t kept = part.count - passed;
    for (size_t i = 0; i < part.count; i++)
        shifted[i] =
            i < passed ? part.times_ns[kept + i] + shift - length : part.times_ns[i - passed] + shift;
}

/* Shifts each span by an amount of its own. A shift over all of recorded time would separate epochs of high
 * rates of different units, which would then look coupled. */
static void shift_train(int64_t *shifted, sf_train train, const sf_sttc_options *options, uint32_t number,
                        uint32_t surrogate)
{
    philox4x32_key_t key = {{(uint32_t)options->seed, (uint32_t)(options->seed >> 32)}};
    for (size_t k = 0, first = 0; k < span_count(options) && first < train.count; k++) {
        size_t end = end_of_span(train, first, options, k);
        philox4x32_ctr_t counter = {{number, surrogate, (uint32_t)k, 0}};
        philox4x32_ctr_t random = philox4x32(counter, key);
        shift_in_span(shifted + first, (sf_train){train.times_ns + first, end - first}, span_at(options, k),
                      (uint64_t)random.v[0] << 32 | random.v[1]);
        first = end;
    }
}

static void shift_all(sf_unit_trains *shifted, const sf_unit_trains *trains, const sf_sttc_options *options,
                      uint32_t surrogate)
{
    for (size_t a = 0; a < trains->count; a++)
        shift_train(shifted->times_ns + (shifted->items[a].times_ns - shifted->times_ns), trains->items[a],
                    options, (uint32_t)a, surrogate);
}

static int copy_shape(sf_unit_trains *copy, const sf_unit_trains *trains, sf_error *error)
{
    *copy = (sf_unit_trains){.count = trains->count,
                             .items = sf_resize(NULL, trains->count, sizeof *copy->items),
                             .times_ns = sf_resize(NULL, count_spikes(trains), sizeof *copy->times_ns)};
    if (copy->items == NULL || copy->times_ns == NULL) return sf_fail_memory(error);
    const int64_t *next = copy->times_ns;
    for (size_t a = 0; a < trains->count; a++) {
        copy->items[a] = (sf_train){next, trains->items[a].count};
        next += trains->items[a].count;
    }
    return SF_OK;
}

/* Rise: the coefficient minus that of two trains that never coincide, -(TA + TB) / 2. */
static double rise_of(const pass *p, size_t a, size_t b, double value)
{
    return value + (p->of->tiled[a] + p->of->tiled[b]) / 2;
}

/* Rises are summed as integers, so that the sum does not depend on the order. A rise is at most 2, so the
 * squares of a million sum to less than 2^62. */
#define PARTS_OF_RISE (1 << 20)

static uint64_t in_parts(double rise)
{
    return (uint64_t)llround(fmax(rise, 0) * PARTS_OF_RISE);
}

static int tally_row(void *context, unsigned worker, size_t a)
{
    (void)worker;
    const pass *p = context;
    size_t count = p->trains->count, place = row_start(count, a);
    for (size_t b = a + 1; b < count; b++, place++) {
        if (isnan(p->of->observed[place])) continue;
        double value = value_of(p, a, b);
        uint64_t rise = in_parts(rise_of(p, a, b, value));
        p->as_high[place] += value >= p->of->observed[place];
        p->sums[2 * place] += rise;
        p->sums[2 * place + 1] += rise * rise;
    }
    return 0;
}

/* Distribution of a pair's rises: their mean, and (sd / mean)^2 / 9. */
typedef struct scale {
    double mean, spread;
} scale;

/* The recording counts as one of its surrogates. */
static scale find_scale(const uint64_t *sums, uint64_t recorded, uint32_t surrogates)
{
    unsigned __int128 n = (unsigned __int128)surrogates + 1, sum = sums[0] + recorded,
                      squares = sums[1] + recorded * recorded;
    return sum == 0 ? (scale){0}
                    : (scale){(double)sum / (double)n / PARTS_OF_RISE,
                              (double)(n * squares - sum * sum) / ((double)sum * (double)sum) / 9};
}

/* Standardised rise, in standard deviations, so that slow and fast pairs are comparable. Rises behave like
 * counts, skewed if there are few: Wilson and Hilferty's cube root (PNAS 17, 1931) makes a gamma variable of
 * the same mean and variance normal. */
static double score_of(scale of, double rise)
{
    return of.spread > 0 ? (cbrt(rise / of.mean) - (1 - of.spread)) / sqrt(of.spread) : -INFINITY;
}

static int compare_row(void *context, unsigned worker, size_t a)
{
    (void)worker;
    const pass *p = context;
    size_t count = p->trains->count, place = row_start(count, a);
    double maximum = -INFINITY;
    for (size_t b = a + 1; b < count; b++, place++)
        if (!isnan(p->of->observed[place]))
            maximum = fmax(maximum, score_of(p->of->scales[place], rise_of(p, a, b, value_of(p, a, b))));
    p->row_maxima[a] = maximum;
    return 0;
}

/* Per thread that makes surrogates: a pass, and room for the trains of a surrogate. */
typedef struct maker {
    pass pass;
    sf_unit_trains shifted;
} maker;

typedef struct makers {
    maker *items;
    unsigned count;
    const sf_unit_trains *trains;
    verdicts *of;
    sf_ranks_part own; /* the surrogates of this rank */
    atomic_uint done;  /* passes */
} makers;

/* Maximum memory of all makers together. Visiting the spikes costs a thread the same even if it counts for
 * some trains only, so each thread makes surrogates of its own, unless the tables of all pairs become too
 * large. */
#define MOST_BYTES ((size_t)1 << 30)

static unsigned count_makers(const sf_unit_trains *trains, size_t surrogates, unsigned threads)
{
    size_t own = trains->count * trains->count * 14 + count_spikes(trains) * (sizeof(sf_spike) + 8) + 1;
    size_t most = MOST_BYTES / own < surrogates ? MOST_BYTES / own : surrogates;
    return most < 1 ? 1 : most < threads ? (unsigned)most : threads;
}

static void close_makers(makers *m)
{
    for (unsigned i = 0; m->items != NULL && i < m->count; i++) {
        close_pass(&m->items[i].pass);
        sf_trains_free(&m->items[i].shifted);
    }
    sf_free(m->items);
}

static int open_maker(maker *own, const sf_unit_trains *trains, verdicts *of, unsigned workers,
                      sf_error *error)
{
    size_t pairs = pair_count(trains->count);
    int status = open_pass(&own->pass, trains, of, workers, error);
    own->pass.as_high = sf_alloc(pairs, sizeof *own->pass.as_high);
    own->pass.sums = sf_alloc(pairs, 2 * sizeof *own->pass.sums);
    own->pass.row_maxima = sf_alloc(trains->count, sizeof *own->pass.row_maxima);
    if (status == SF_OK &&
        (own->pass.as_high == NULL || own->pass.sums == NULL || own->pass.row_maxima == NULL))
        status = sf_fail_memory(error);
    if (status == SF_OK) status = copy_shape(&own->shifted, trains, error);
    own->pass.trains = &own->shifted;
    return status;
}

static int open_makers(makers *m, const sf_unit_trains *trains, verdicts *of, sf_error *error)
{
    unsigned threads = workers_of(of->options);
    *m = (makers){.trains = trains, .of = of, .own = sf_ranks_share(of->options->surrogates)};
    m->count = count_makers(trains, m->own.last - m->own.first, threads);
    m->items = sf_alloc(m->count, sizeof *m->items);
    int status = m->items != NULL ? SF_OK : sf_fail_memory(error);
    for (unsigned i = 0; status == SF_OK && i < m->count; i++)
        status = open_maker(&m->items[i], trains, of, m->count > 1 ? 1 : threads, error);
    return status;
}

static int make(void *context, unsigned worker, size_t item)
{
    makers *m = context;
    maker *own = &m->items[worker];
    size_t surrogate = m->own.first + item, trains = m->trains->count;
    double passes = 2 * (double)(m->own.last - m->own.first);
    if (worker == 0 &&
        !sf_progress_update(m->of->options->progress, "surrogates", atomic_load(&m->done), passes))
        return SF_CANCELLED;
    shift_all(&own->shifted, m->trains, m->of->options, (uint32_t)surrogate);
    int status = visit_pairs(&own->pass, NULL);
    own->pass.surrogates += status == SF_OK;
    for (size_t a = 0; own->pass.judge == compare_row && a < trains; a++)
        m->of->maxima[surrogate] = fmax(m->of->maxima[surrogate], own->pass.row_maxima[a]);
    atomic_fetch_add(&m->done, 1);
    return status;
}

/* Makes this rank's surrogates; of several ranks, either all compare with theirs or none does. */
static int run_own(makers *m, int (*judge)(void *pass, unsigned worker, size_t row), sf_error *error)
{
    verdicts *v = m->of;
    for (unsigned i = 0; i < m->count; i++)
        m->items[i].pass.judge = judge;
    int status = sf_parallel_for(m->count, m->own.last - m->own.first, make, m);
    v->stopped = status == SF_CANCELLED && v->options->stopped != NULL && sf_ranks_count() == 1;
    if (v->stopped) return SF_OK;
    if (status == SF_CANCELLED) return sf_fail(error, SF_CANCELLED, NULL, "stopped in the surrogates");
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

/* First pass over the surrogates: how many are as high, and the distribution of their rises. */
static int tally(verdicts *v, makers *m, sf_error *error)
{
    size_t pairs = pair_count(m->trains->count);
    int status = run_own(m, tally_row, error);
    for (unsigned i = 0; i < m->count; i++) {
        const pass *own = &m->items[i].pass;
        v->surrogates += own->surrogates;
        for (size_t k = 0; k < pairs; k++)
            v->as_high[k] += own->as_high[k];
        for (size_t k = 0; k < 2 * pairs; k++)
            v->sums[k] += own->sums[k];
    }
    status = sf_ranks_add_counts(v->as_high, pairs, status, error);
    status = sf_ranks_add(v->sums, 2 * pairs, status, error);
    return sf_ranks_add_counts(&v->surrogates, 1, status, error);
}

static void find_scales(verdicts *v, const sf_unit_trains *trains)
{
    const pass recorded = {.of = v};
    size_t place = 0;
    for (size_t a = 0; a < trains->count; a++)
        for (size_t b = a + 1; b < trains->count; b++, place++)
            if (!isnan(v->observed[place]))
                v->scales[place] =
                    find_scale(v->sums + 2 * place, in_parts(rise_of(&recorded, a, b, v->observed[place])),
                               v->surrogates);
}

/* Second pass over the same surrogates: the maximum score in each. */
static int compare(verdicts *v, makers *m, sf_error *error)
{
    find_scales(v, m->trains);
    for (uint32_t s = 0; s < v->surrogates; s++)
        v->maxima[s] = -INFINITY;
    int status = run_own(m, compare_row, error);
    status = sf_ranks_collect(v->maxima, v->surrogates, sizeof *v->maxima, status, error);
    if (status == SF_OK && !v->stopped) sf_reals_sort(v->maxima, v->surrogates);
    return status;
}

static int run_surrogates(verdicts *v, const sf_unit_trains *trains, sf_error *error)
{
    size_t pairs = pair_count(trains->count);
    v->as_high = sf_alloc(pairs, sizeof *v->as_high);
    v->sums = sf_alloc(pairs, 2 * sizeof *v->sums);
    v->scales = sf_alloc(pairs, sizeof *v->scales);
    v->maxima = sf_alloc(v->options->surrogates, sizeof *v->maxima);
    if (v->as_high == NULL || v->sums == NULL || v->scales == NULL || v->maxima == NULL)
        return sf_fail_memory(error);
    makers m;
    int status = open_makers(&m, trains, v, error);
    if (status == SF_OK) status = tally(v, &m, error);
    if (status == SF_OK && !v->stopped) status = compare(v, &m, error);
    close_makers(&m);
    return status;
}

/* ---- edges ---- */

/* Smallest number of surrogates at or above a pair that makes its p exceed 1 - percentile. */
static uint32_t fewest_too_high(const sf_sttc_options *options, uint32_t surrogates)
{
    return (uint32_t)floor((1 - options->percentile) * (1.0 + surrogates) + 1e-9);
}

/* If the surrogates were stopped too early to exclude any pair, none is excluded. */
static bool is_edge(const verdicts *v, size_t place)
{
    uint32_t too_high = fewest_too_high(v->options, v->surrogates);
    if (isnan(v->observed[place])) return false;
    if (v->surrogates == 0 || (v->stopped && too_high == 0)) return true;
    return v->observed[place] > 0 && v->as_high[place] < too_high;
}

static double q_of(const verdicts *v, size_t place, double rise)
{
    if (v->surrogates == 0 || v->stopped) return NAN;
    size_t below = sf_reals_lower_bound(v->maxima, v->surrogates, score_of(v->scales[place], rise));
    return (1.0 + (double)(v->surrogates - below)) / (1.0 + v->surrogates);
}

static int collect_edges(sf_connectivity *graph, const verdicts *v, size_t units, sf_error *error)
{
    const pass recorded = {.of = (verdicts *)v};
    size_t kept = 0, place = 0;
    sf_link *links = sf_resize(NULL, pair_count(units), sizeof *links);
    if (links == NULL) return sf_fail_memory(error);
    for (uint32_t a = 0; a < units; a++) {
        for (uint32_t b = a + 1; b < units; b++, place++) {
            if (!is_edge(v, place)) continue;
            double value = v->observed[place];
            links[kept++] =
                (sf_link){.from = a,
                          .to = b,
                          .delay = {0, v->options->dt_ns},
                          .expected = NAN,
                          .expected_given_rest = NAN,
                          .p = v->surrogates > 0 ? (1.0 + v->as_high[place]) / (1.0 + v->surrogates) : NAN,
                          .q = q_of(v, place, rise_of(&recorded, a, b, value)),
                          .coefficient = value};
        }
    }
    int status = sf_connectivity_build(graph, (uint32_t)units, links, kept, error);
    graph->is_tiling = true;
    graph->pairs = v->pairs;
    graph->surrogates = v->surrogates;
    graph->chance_p =
        v->surrogates > 0 ? fewest_too_high(v->options, v->surrogates) / (1.0 + v->surrogates) : NAN;
    sf_free(links);
    return status;
}

int sf_sttc_graph(sf_connectivity *graph, const sf_unit_trains *trains, const sf_sttc_options *options,
                  sf_error *error)
{
    *graph = (sf_connectivity){0};
    int status = check_options(trains, options, error);
    if (status != SF_OK) return status;
    verdicts v;
    status = observe(&v, trains, options, true, error);
    if (status == SF_OK && options->surrogates > 0) status = run_surrogates(&v, trains, error);
    if (status == SF_OK) status = collect_edges(graph, &v, trains->count, error);
    if (options->made != NULL) *options->made = v.surrogates;
    if (options->stopped != NULL) *options->stopped = v.stopped;
    close_verdicts(&v);
    return status;
}

int sf_sttc_of_links(double *coefficients, const sf_connectivity *graph, const sf_unit_trains *trains,
                     const sf_sttc_options *options, sf_error *error)
{
    int status = check_options(trains, options, error);
    if (status != SF_OK) return status;
    verdicts v;
    status = observe(&v, trains, options, false, error);
    for (size_t i = 0; i < graph->count && status == SF_OK; i++) {
        const sf_link *link = &graph->links[i];
        coefficients[i] = v.observed[row_start(trains->count, link->from) + (link->to - link->from - 1)];
    }
    close_verdicts(&v);
    return status;
}
