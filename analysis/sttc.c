/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sttc.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/ranks.h"
#include "core/thread.h"

#include <Random123/philox.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* ---- the coefficient ---- */

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

static double term(double close, double tiled)
{
    double room = 1 - close * tiled;
    return fabs(room) < 1e-12 ? 1 : (close - tiled) / room;
}

/* Shares of the spikes of each with a spike of the other close by, and of the time that each tiles. */
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

/* One pass over all pairs: all spikes in time order, and of each train how many of its spikes have one of
 * each other train at most dt away. Triangles hold the pairs (a, b) with b > a by rows. */
typedef struct pass {
    const sf_unit_trains *trains;
    const sf_sttc_options *options;
    size_t spike_count;
    sf_spike *spikes;
    double *tiled;     /* per train */
    uint32_t *close;   /* trains x trains: spikes of the row's train */
    double *observed;  /* triangle; of a surrogate's pass another's */
    uint32_t *as_high; /* triangle: surrogates with at least the observed value */
    bool is_surrogate;
    uint32_t surrogates; /* that were compared with */
    bool divided;        /* each rank goes through its part of the spikes, and the counts are added up */
    sf_ranks_part part;  /* of the spikes, which this one goes through */
    struct near *near;   /* per worker */
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
    if (n->spikes[train]++ > 0)
        return;
    n->places[train] = (uint32_t)n->count;
    n->trains[n->count++] = train;
}

static void leave(near *n, uint32_t train)
{
    if (--n->spikes[train] > 0)
        return;
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
    p->tiled[a] = tiled_share(p->trains->items[a], p->options->dt_ns, p->options->recorded);
    return 0;
}

/* Every share goes through all spikes, and counts for its own trains: those with its remainder. The work is
 * the number of trains near each spike, which is small where the array is not in a burst. */
static int count_close(void *context, unsigned worker, size_t share)
{
    const pass *p = context;
    near here = p->near[worker], *n = &here; /* whose count shares no cache line with other workers' */
    sf_ranks_part part = p->part;
    if (part.first == part.last)
        return 0;
    int64_t dt = p->options->dt_ns;
    size_t trains = p->trains->count;
    size_t in = sf_spikes_lower_bound(p->spikes, p->spike_count, p->spikes[part.first].time_ns - dt),
           out = in;
    for (size_t i = part.first; i < part.last; i++) {
        const sf_spike *spike = &p->spikes[i];
        while (in < p->spike_count && p->spikes[in].time_ns <= spike->time_ns + dt)
            enter(n, p->spikes[in++].unit);
        while (p->spikes[out].time_ns < spike->time_ns - dt)
            leave(n, p->spikes[out++].unit);
        if (spike->unit % p->workers != share)
            continue;
        uint32_t *row = p->close + spike->unit * trains;
        for (size_t k = 0; k < n->count; k++)
            row[n->trains[k]]++;
    }
    while (out < in)
        leave(n, p->spikes[out++].unit);
    return 0;
}

static int judge_row(void *context, unsigned worker, size_t a)
{
    (void)worker;
    const pass *p = context;
    const sf_train *trains = p->trains->items;
    size_t count = p->trains->count, place = row_start(count, a);
    for (size_t b = a + 1; b < count; b++, place++) {
        bool silent = trains[a].count == 0 || trains[b].count == 0;
        double value = silent ? NAN
                              : coefficient((double)p->close[a * count + b] / (double)trains[a].count,
                                            (double)p->close[b * count + a] / (double)trains[b].count,
                                            p->tiled[a], p->tiled[b]);
        if (!p->is_surrogate)
            p->observed[place] = value;
        else
            p->as_high[place] += value >= p->observed[place];
    }
    return 0;
}

static int visit_pairs(pass *p, sf_error *error)
{
    size_t trains = p->trains->count, next = 0;
    for (uint32_t a = 0; a < trains; a++)
        for (size_t i = 0; i < p->trains->items[a].count; i++)
            p->spikes[next++] = (sf_spike){.time_ns = p->trains->items[a].times_ns[i], .unit = a};
    int status = sf_spikes_sort(p->spikes, p->spike_count, error);
    if (status != SF_OK)
        return status;
    p->part = p->divided ? sf_ranks_share(p->spike_count) : (sf_ranks_part){0, p->spike_count};
    memset(p->close, 0, trains * trains * sizeof *p->close);
    sf_parallel_for(p->workers, trains, tile_train, p);
    sf_parallel_for(p->workers, p->workers, count_close, p);
    if (p->divided)
        status = sf_ranks_add_counts(p->close, trains * trains, SF_OK, error);
    if (status == SF_OK)
        sf_parallel_for(p->workers, trains, judge_row, p);
    return status;
}

static int check_options(const sf_unit_trains *trains, const sf_sttc_options *options, sf_error *error)
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

static void close_pass(pass *p)
{
    for (unsigned w = 0; p->near != NULL && w < p->workers; w++)
        sf_free(p->near[w].spikes);
    sf_free(p->near);
    sf_free(p->spikes);
    sf_free(p->tiled);
    sf_free(p->close);
    if (!p->is_surrogate)
        sf_free(p->observed);
    sf_free(p->as_high);
}

/* For surrogates with what was observed, else with NULL. */
static int open_pass(pass *p, const sf_unit_trains *trains, const sf_sttc_options *options, unsigned workers,
                     double *observed, sf_error *error)
{
    size_t count = trains->count, pairs = pair_count(count), spikes = count_spikes(trains);
    *p = (pass){.trains = trains,
                .options = options,
                .spike_count = spikes,
                .spikes = sf_resize(NULL, spikes, sizeof *p->spikes),
                .tiled = sf_resize(NULL, count, sizeof *p->tiled),
                .close = sf_resize(NULL, count, count * sizeof *p->close),
                .is_surrogate = observed != NULL,
                .observed = observed != NULL ? observed : sf_resize(NULL, pairs, sizeof *p->observed),
                .as_high = sf_alloc(pairs, sizeof *p->as_high),
                .near = sf_alloc(workers, sizeof *p->near),
                .workers = workers};
    bool complete = p->spikes != NULL && p->tiled != NULL && p->close != NULL && p->observed != NULL &&
                    p->as_high != NULL && p->near != NULL;
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

/* ---- surrogates ---- */

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

static void shift_all(sf_unit_trains *shifted, const sf_unit_trains *trains, const sf_sttc_options *options,
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

static int copy_shape(sf_unit_trains *copy, const sf_unit_trains *trains, sf_error *error)
{
    *copy = (sf_unit_trains){.count = trains->count,
                             .items = sf_resize(NULL, trains->count, sizeof *copy->items),
                             .times_ns = sf_resize(NULL, count_spikes(trains), sizeof *copy->times_ns)};
    if (copy->items == NULL || copy->times_ns == NULL)
        return sf_fail_memory(error);
    const int64_t *next = copy->times_ns;
    for (size_t a = 0; a < trains->count; a++) {
        copy->items[a] = (sf_train){next, trains->items[a].count};
        next += trains->items[a].count;
    }
    return SF_OK;
}

/* A pass and room for a surrogate's trains: of each thread that makes surrogates. */
typedef struct maker {
    pass pass;
    sf_unit_trains shifted;
} maker;

typedef struct makers {
    maker *items;
    unsigned count;
    const sf_unit_trains *trains;
    const sf_sttc_options *options;
    sf_ranks_part own; /* the surrogates of this rank */
    atomic_uint done;
} makers;

/* What makers may hold together. Going through the spikes is no less work for a thread that counts for some
 * trains only, so each thread makes surrogates of its own, until a table of all pairs is too large for that.
 */
#define MOST_BYTES ((size_t)1 << 30)

static unsigned count_makers(const sf_unit_trains *trains, size_t surrogates, unsigned threads)
{
    size_t own = trains->count * trains->count * 6 + count_spikes(trains) * (sizeof(sf_spike) + 8) + 1;
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

static int open_makers(makers *m, const pass *p, sf_error *error)
{
    *m = (makers){.trains = p->trains, .options = p->options, .own = sf_ranks_share(p->options->surrogates)};
    m->count = count_makers(p->trains, m->own.last - m->own.first, p->workers);
    m->items = sf_alloc(m->count, sizeof *m->items);
    int status = m->items != NULL ? SF_OK : sf_fail_memory(error);
    for (unsigned i = 0; status == SF_OK && i < m->count; i++) {
        maker *own = &m->items[i];
        status =
            open_pass(&own->pass, p->trains, p->options, m->count > 1 ? 1 : p->workers, p->observed, error);
        if (status == SF_OK)
            status = copy_shape(&own->shifted, p->trains, error);
        own->pass.trains = &own->shifted;
    }
    return status;
}

static int make(void *context, unsigned worker, size_t item)
{
    makers *m = context;
    maker *own = &m->items[worker];
    if (worker == 0 && !sf_progress_update(m->options->progress, "surrogates", atomic_load(&m->done),
                                           (double)(m->own.last - m->own.first)))
        return SF_CANCELLED;
    shift_all(&own->shifted, m->trains, m->options, (uint32_t)(m->own.first + item));
    int status = visit_pairs(&own->pass, NULL);
    own->pass.surrogates += status == SF_OK;
    atomic_fetch_add(&m->done, 1);
    return status;
}

/* Those of this rank; of several ranks all compare with theirs or none does. */
static int run_own(pass *p, makers *m, sf_error *error)
{
    size_t pairs = pair_count(p->trains->count);
    int status = sf_parallel_for(m->count, m->own.last - m->own.first, make, m);
    for (unsigned i = 0; i < m->count; i++) {
        const pass *own = &m->items[i].pass;
        p->surrogates += own->surrogates;
        for (size_t k = 0; k < pairs; k++)
            p->as_high[k] += own->as_high[k];
    }
    if (status == SF_CANCELLED && p->options->made != NULL && sf_ranks_count() == 1)
        return SF_OK;
    if (status == SF_CANCELLED)
        return sf_fail(error, SF_CANCELLED, NULL, "stopped after %u surrogates", p->surrogates);
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

static int run_surrogates(pass *p, sf_error *error)
{
    makers m;
    sf_free(p->close); /* which nobody asks for any more */
    sf_free(p->spikes);
    p->close = NULL;
    p->spikes = NULL;
    int status = open_makers(&m, p, error);
    if (status == SF_OK)
        status = run_own(p, &m, error);
    close_makers(&m);
    status = sf_ranks_add_counts(p->as_high, pair_count(p->trains->count), status, error);
    return sf_ranks_add_counts(&p->surrogates, 1, status, error);
}

/* Above the nearest-rank percentile: fewer than this many surrogates may be as high. */
static uint32_t most_as_high(const pass *p)
{
    return p->surrogates - (uint32_t)ceil(p->options->percentile * p->surrogates);
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
            if (isnan(p->observed[place]) || (p->surrogates > 0 && p->as_high[place] > most_as_high(p)))
                continue;
            double p_value = p->surrogates > 0 ? (1.0 + p->as_high[place]) / (1.0 + p->surrogates) : NAN;
            links[kept++] = (sf_link){.from = a,
                                      .to = b,
                                      .delay = {0, options->dt_ns},
                                      .expected = NAN,
                                      .expected_given_rest = NAN,
                                      .p = p_value,
                                      .q = NAN,
                                      .coefficient = p->observed[place]};
        }
    }
    int status = sf_connectivity_build(graph, (uint32_t)units, links, kept, error);
    graph->is_tiling = true;
    sf_free(links);
    return status;
}

int sf_sttc_graph(sf_connectivity *graph, const sf_unit_trains *trains, const sf_sttc_options *options,
                  sf_error *error)
{
    *graph = (sf_connectivity){0};
    int status = check_options(trains, options, error);
    if (status != SF_OK)
        return status;
    pass p;
    status = open_pass(&p, trains, options, workers_of(options), NULL, error);
    p.divided = true;
    if (status == SF_OK)
        status = visit_pairs(&p, error);
    if (status == SF_OK && options->surrogates > 0)
        status = run_surrogates(&p, error);
    if (status == SF_OK)
        status = collect_edges(graph, &p, trains->count, error);
    if (options->made != NULL)
        *options->made = p.surrogates;
    close_pass(&p);
    return status;
}

int sf_sttc_of_links(double *coefficients, const sf_connectivity *graph, const sf_unit_trains *trains,
                     const sf_sttc_options *options, sf_error *error)
{
    int status = check_options(trains, options, error);
    if (status != SF_OK)
        return status;
    pass p;
    status = open_pass(&p, trains, options, workers_of(options), NULL, error);
    if (status == SF_OK)
        status = visit_pairs(&p, error);
    for (size_t i = 0; i < graph->count && status == SF_OK; i++) {
        const sf_link *link = &graph->links[i];
        coefficients[i] = p.observed[row_start(trains->count, link->from) + (link->to - link->from - 1)];
    }
    close_pass(&p);
    return status;
}
