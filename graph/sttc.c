/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/sttc.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <Random123/philox.h>
#include <math.h>
#include <string.h>

/* ---- the coefficient
 * ----------------------------------------------------------------------------------------- */

/* Share of the recorded time within dt of a spike: the length of the union of [t - dt, t + dt], cut at the
 * ends.
 */
static double tiled_share(sf_train train, int64_t dt, sf_recorded recorded)
{
    int64_t tiled = 0, covered = recorded.start_ns; /* up to here all is counted or known to be free */
    for (size_t i = 0; i < train.count; i++) {
        int64_t from = train.times_ns[i] - dt > covered ? train.times_ns[i] - dt : covered;
        int64_t to = train.times_ns[i] + dt < recorded.stop_ns ? train.times_ns[i] + dt : recorded.stop_ns;
        if (to <= from)
            continue;
        tiled += to - from;
        covered = to;
    }
    return (double)tiled / (double)(recorded.stop_ns - recorded.start_ns);
}

/* Share of A's spikes with a spike of B at most dt away. */
static double close_share(sf_train a, sf_train b, int64_t dt)
{
    size_t close = 0, j = 0;
    for (size_t i = 0; i < a.count; i++) {
        while (j < b.count && b.times_ns[j] < a.times_ns[i] - dt)
            j++;
        close += j < b.count && b.times_ns[j] <= a.times_ns[i] + dt;
    }
    return (double)close / (double)a.count;
}

static double term(double close, double tiled)
{
    double room = 1 - close * tiled;
    return fabs(room) < 1e-12 ? 1 : (close - tiled) / room;
}

static double coefficient(sf_train a, sf_train b, double tiled_a, double tiled_b, int64_t dt)
{
    if (a.count == 0 || b.count == 0)
        return NAN;
    return (term(close_share(a, b, dt), tiled_b) + term(close_share(b, a, dt), tiled_a)) / 2;
}

/* ---- trains
 * -------------------------------------------------------------------------------------------------- */

int sf_trains_split(sf_trains *trains, const sf_spike *spikes, size_t spike_count, size_t unit_count,
                    sf_error *error)
{
    *trains = (sf_trains){.count = unit_count,
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

void sf_trains_free(sf_trains *trains)
{
    sf_free(trains->items);
    sf_free(trains->times_ns);
    *trains = (sf_trains){0};
}

/* ---- all pairs
 * ----------------------------------------------------------------------------------------------- */

/* One pass over all pairs: row a holds the pairs (a, b) with b > a. */
typedef struct pass {
    const sf_trains *trains;
    const sf_sttc_options *options;
    double *tiled;     /* per train */
    double *observed;  /* upper triangle by rows, without the diagonal */
    uint32_t *as_high; /* the same: surrogates with at least the observed value; NULL while observing */
} pass;

static size_t pair_count(size_t trains)
{
    return trains * (trains - (trains > 0)) / 2;
}

/* Place of (a, a + 1) in a triangle by rows. */
static size_t row_start(size_t trains, size_t a)
{
    return a * (trains - 1) - a * (a - (a > 0)) / 2;
}

static int tile_train(void *context, unsigned worker, size_t a)
{
    (void)worker;
    const pass *p = context;
    p->tiled[a] = tiled_share(p->trains->items[a], p->options->dt_ns, p->options->recorded);
    return 0;
}

static int visit_row(void *context, unsigned worker, size_t a)
{
    (void)worker;
    const pass *p = context;
    size_t place = row_start(p->trains->count, a);
    for (size_t b = a + 1; b < p->trains->count; b++, place++) {
        double value = coefficient(p->trains->items[a], p->trains->items[b], p->tiled[a], p->tiled[b],
                                   p->options->dt_ns);
        if (p->as_high == NULL)
            p->observed[place] = value;
        else
            p->as_high[place] += value >= p->observed[place];
    }
    return 0;
}

static void visit_pairs(pass *p)
{
    sf_parallel_for(p->options->threads, p->trains->count, tile_train, p);
    sf_parallel_for(p->options->threads, p->trains->count, visit_row, p);
}

static int check_options(const sf_trains *trains, const sf_sttc_options *options, sf_error *error)
{
    const sf_recorded *recorded = &options->recorded;
    if (options->dt_ns < 0)
        return sf_fail(error, SF_USAGE, NULL, "the width of the tiles is negative");
    if (recorded->stop_ns <= recorded->start_ns)
        return sf_fail(error, SF_DATA, NULL,
                       "the recorded time is empty, and the coefficient is a share of it");
    for (size_t a = 0; a < trains->count; a++) {
        sf_train train = trains->items[a];
        if (train.count > 0 &&
            (train.times_ns[0] < recorded->start_ns || train.times_ns[train.count - 1] > recorded->stop_ns))
            return sf_fail(error, SF_DATA, NULL, "unit #%zu has spikes outside the recorded time", a);
    }
    return SF_OK;
}

int sf_sttc_of_links(double *coefficients, const sf_connectivity *graph, const sf_trains *trains,
                     const sf_sttc_options *options, sf_error *error)
{
    int status = check_options(trains, options, error);
    if (status != SF_OK)
        return status;
    pass p = {.trains = trains, .options = options, .tiled = sf_resize(NULL, trains->count, sizeof *p.tiled)};
    if (p.tiled == NULL)
        return sf_fail_memory(error);
    sf_parallel_for(options->threads, trains->count, tile_train, &p);
    for (size_t i = 0; i < graph->count; i++) {
        uint32_t a = graph->links[i].from, b = graph->links[i].to;
        coefficients[i] =
            coefficient(trains->items[a], trains->items[b], p.tiled[a], p.tiled[b], options->dt_ns);
    }
    sf_free(p.tiled);
    return SF_OK;
}

/* ---- surrogates
 * ---------------------------------------------------------------------------------------------- */

/* Shifts a train round the recorded time, which is half open here: its last nanosecond is its first. What
 * passes the end comes first, so a rotation keeps the order. */
static void shift_train(int64_t *shifted, sf_train train, sf_recorded recorded, uint64_t by)
{
    int64_t length = recorded.stop_ns - recorded.start_ns, shift = (int64_t)(by % (uint64_t)length);
    size_t passed = 0;
    while (passed < train.count && train.times_ns[train.count - 1 - passed] + shift >= recorded.stop_ns)
        passed++;
    size_t kept = train.count - passed;
    for (size_t i = 0; i < train.count; i++)
        shifted[i] =
            i < passed ? train.times_ns[kept + i] + shift - length : train.times_ns[i - passed] + shift;
}

static void shift_all(sf_trains *shifted, const sf_trains *trains, const sf_sttc_options *options,
                      uint32_t surrogate)
{
    philox4x32_key_t key = {{(uint32_t)options->seed, (uint32_t)(options->seed >> 32)}};
    for (size_t a = 0; a < trains->count; a++) {
        philox4x32_ctr_t counter = {{(uint32_t)a, surrogate, 0, 0}};
        philox4x32_ctr_t random = philox4x32(counter, key);
        ptrdiff_t first = shifted->items[a].times_ns - shifted->times_ns;
        shift_train(shifted->times_ns + first, trains->items[a], options->recorded,
                    (uint64_t)random.v[0] << 32 | random.v[1]);
    }
}

static int copy_shape(sf_trains *copy, const sf_trains *trains, sf_error *error)
{
    size_t spikes = 0;
    for (size_t a = 0; a < trains->count; a++)
        spikes += trains->items[a].count;
    *copy = (sf_trains){.count = trains->count,
                        .items = sf_resize(NULL, trains->count, sizeof *copy->items),
                        .times_ns = sf_resize(NULL, spikes, sizeof *copy->times_ns)};
    if (copy->items == NULL || copy->times_ns == NULL)
        return sf_fail_memory(error);
    const int64_t *next = copy->times_ns;
    for (size_t a = 0; a < trains->count; a++) {
        copy->items[a] = (sf_train){next, trains->items[a].count};
        next += trains->items[a].count;
    }
    return SF_OK;
}

static int run_surrogates(pass *p, sf_trains *shifted, sf_error *error)
{
    const sf_trains *trains = p->trains;
    p->trains = shifted;
    for (uint32_t s = 0; s < p->options->surrogates; s++) {
        if (!sf_progress_update(p->options->progress, "surrogates", s, p->options->surrogates))
            return sf_fail(error, SF_CANCELLED, NULL, "was stopped after %u surrogates", s);
        shift_all(shifted, trains, p->options, s);
        visit_pairs(p);
    }
    return SF_OK;
}

/* Above the nearest-rank percentile: fewer than this many surrogates may be as high. */
static uint32_t most_as_high(const sf_sttc_options *options)
{
    return options->surrogates - (uint32_t)ceil(options->percentile * options->surrogates);
}

static int collect_edges(sf_connectivity *graph, const pass *p, size_t units, sf_error *error)
{
    const sf_sttc_options *options = p->options;
    size_t kept = 0, place = 0;
    sf_link *links = sf_resize(NULL, pair_count(units), sizeof *links);
    if (links == NULL)
        return sf_fail_memory(error);
    for (uint32_t a = 0; a < units; a++) {
        for (uint32_t b = a + 1; b < units; b++, place++) {
            if (isnan(p->observed[place]) ||
                (options->surrogates > 0 && p->as_high[place] > most_as_high(options)))
                continue;
            double p_value =
                options->surrogates > 0 ? (1.0 + p->as_high[place]) / (1.0 + options->surrogates) : NAN;
            links[kept++] = (sf_link){.from = a,
                                      .to = b,
                                      .delay = {0, options->dt_ns},
                                      .expected = NAN,
                                      .p = p_value,
                                      .coefficient = p->observed[place]};
        }
    }
    int status = sf_connectivity_build(graph, (uint32_t)units, links, kept, error);
    graph->is_tiling = true;
    sf_free(links);
    return status;
}

int sf_sttc_graph(sf_connectivity *graph, const sf_trains *trains, const sf_sttc_options *options,
                  sf_error *error)
{
    *graph = (sf_connectivity){0};
    int status = check_options(trains, options, error);
    if (status != SF_OK)
        return status;
    size_t pairs = pair_count(trains->count);
    sf_trains shifted = {0};
    pass p = {.trains = trains,
              .options = options,
              .tiled = sf_resize(NULL, trains->count, sizeof *p.tiled),
              .observed = sf_resize(NULL, pairs, sizeof *p.observed)};
    uint32_t *as_high = sf_alloc(pairs, sizeof *as_high);
    status = p.tiled != NULL && p.observed != NULL && as_high != NULL ? copy_shape(&shifted, trains, error)
                                                                      : sf_fail_memory(error);
    if (status == SF_OK) {
        visit_pairs(&p);
        p.as_high = as_high;
        status = run_surrogates(&p, &shifted, error);
    }
    if (status == SF_OK)
        status = collect_edges(graph, &p, trains->count, error);
    sf_trains_free(&shifted);
    sf_free(p.tiled);
    sf_free(p.observed);
    sf_free(as_high);
    return status;
}
