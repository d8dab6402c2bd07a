/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is found of links that are there? Simulated recordings with planted chains of 3, 5 and 8 units,
 * searched with a wide delay, with narrow ones, with delays that are searched (`0.5:20/4`), and, as the
 * anchor that people know, by correlograms of 1 ms. Prints the table of docs/episodes.md.
 *
 *   bench_power [RECORDINGS [SURROGATES [SECONDS [THREADS [FIRST [CELL [SIZE]]]]]]]
 *
 * By default 20 1000 600 0 1 0 8: recordings of each cell, seeds from FIRST, on all cores; CELL is one of
 * those below, or 0 for all; SIZE is the longest chain that is mined, 2 for links alone.
 *
 * 24 Poisson trains of 3 to 8 Hz. The units of a chain fire alike, at a rate that is drawn for the chain; the
 * others have each their own. An occurrence of a chain is one spike of each of its units; the delay of a link
 * is drawn once, between 2 and 15 ms, and scatters around it with the jitter as its standard deviation, drawn
 * again until it lies in (0.5,20] ms. Times chance: the pairs of spikes of a link that lie in (0.5,20] ms are
 * so many times those that the rates of both units, planted spikes included, give: a chain occurs (times - 1)
 * * rate^2 * 19.5 ms * duration times in the mean. A cell is a number of times and a jitter; in the last one
 * nothing is planted.
 *
 * A link is found where the pair has a q below 0.05, in any interval, of all pairs of units and intervals
 * that the method looked at (size 2 alone); all links of a chain are found, or the chain is found whole,
 * where chains of up to SIZE units are mined and it is among those with a q below 0.05. Frequent is a count
 * of 20 or more. A false link is a pair with a q below 0.05 of units that share no chain; other pairs of a
 * chain's units than its links count neither way. Average precision: pairs are ranked by q and those of the
 * same q by p; pairs that are alike in both, or not told of at all, come in together, so that ties help
 * nobody.
 *
 * Correlograms are counts of all pairs of spikes by lag from 0.5 to 20 ms, of the recorded train of the one
 * unit and the shifted one of the other, by the same surrogates as those of the test, shifted by 60 ms. Each
 * bin is standardised by its surrogates; a pair has the highest of its bins, p is the share of surrogates
 * whose own highest is as high, and q that of surrogates in which any pair's is.
 */
#include "core/backend/surrogate.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/text.h"
#include "core/thread.h"
#include "mine/significance.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNITS 24u
#define CHAINS 3u
#define LINKS 13u /* of all chains */
#define LEAST_COUNT 20
#define LOW_NS 500000
#define HIGH_NS (20 * SF_MILLISECOND)
#define WIDE_S 0.0195

static const uint32_t chain_sizes[CHAINS] = {3, 5, 8}; /* units 0 to 2, 3 to 7, 8 to 15 */

typedef struct cell {
    double times, jitter_ms;
} cell;

static const cell cells[] = {{1.2, 0.5}, {1.2, 2}, {1.2, 5}, {1.4, 0.5}, {1.4, 2}, {1.4, 5}, {2, 0.5},
                             {2, 2},     {2, 5},   {4, 0.5}, {4, 2},     {4, 5},   {1, 0}};

#define CELLS (sizeof cells / sizeof *cells)

typedef struct method {
    const char *name, *delays; /* NULL: correlograms */
} method;

static const method methods[] = {{"(0.5,20]", "0.5:20"},
                                 {"four narrow", "0.5:5,5:10,10:15,15:20"},
                                 {"searched /4", "0.5:20/4"},
                                 {"searched /8", "0.5:20/8"},
                                 {"correlogram", NULL}};

#define METHODS (sizeof methods / sizeof *methods)

/* Of one recording and method. */
typedef struct outcome {
    uint32_t links;                        /* found, of LINKS */
    bool all_links[CHAINS], whole[CHAINS]; /* by chain */
    double precision;
    bool has_false;
    double seconds;
} outcome;

typedef struct plan {
    uint64_t recordings, surrogates, seconds, threads, first, only, size;
    size_t cell_count;
    const cell *cells;
    outcome *outcomes; /* [cell][method][recording] */
} plan;

/* What a method says of each ordered pair: 1 where it says nothing. */
typedef struct verdicts {
    double q[UNITS][UNITS], p[UNITS][UNITS];
} verdicts;

/* ---- recordings ---- */

/* Which chain a unit is in and where; CHAINS where it is in none. */
static uint32_t chain_of(uint32_t unit, uint32_t *place)
{
    uint32_t chain = 0;
    for (*place = unit; chain < CHAINS && *place >= chain_sizes[chain]; chain++)
        *place -= chain_sizes[chain];
    return chain;
}

static bool share_chain(uint32_t a, uint32_t b)
{
    uint32_t place, other, chain = chain_of(a, &place);
    return chain < CHAINS && chain_of(b, &other) == chain;
}

static bool is_link(uint32_t from, uint32_t to)
{
    return share_chain(from, to) && to == from + 1;
}

typedef struct spikes {
    sf_spike *items;
    size_t count, capacity;
} spikes;

static int append(spikes *all, double at_s, uint32_t unit)
{
    void *items = all->items;
    if (sf_reserve(&items, &all->capacity, all->count + 1, sizeof *all->items) != 0) return SF_NO_MEMORY;
    all->items = items;
    all->items[all->count++] = (sf_spike){.time_ns = (int64_t)(at_s * 1e9), .unit = unit, .amplitude = NAN};
    return SF_OK;
}

static int append_train(spikes *all, uint32_t unit, double rate_hz, double seconds, sf_random *random)
{
    int status = SF_OK;
    for (double at = 0; status == SF_OK && (at += sf_random_exponential(random) / rate_hz) < seconds;)
        status = append(all, at, unit);
    return status;
}

static double draw_delay(double mean_ms, double jitter_ms, sf_random *random)
{
    double delay;
    do
        delay = mean_ms + jitter_ms * sf_random_normal(random);
    while (!(delay > LOW_NS * 1e-6 && delay <= (double)HIGH_NS * 1e-6));
    return delay * 1e-3;
}

static int append_chain(spikes *all, uint32_t chain, uint32_t first_unit, double rate_hz, const cell *c,
                        double seconds, sf_random *random)
{
    double planted_hz = (c->times - 1) * rate_hz * rate_hz * WIDE_S, mean_ms[UNITS];
    int status = SF_OK;
    for (uint32_t i = 0; i < chain_sizes[chain]; i++) {
        mean_ms[i] = 2 + 13 * sf_random_uniform(random);
        status = status == SF_OK ? append_train(all, first_unit + i, rate_hz - planted_hz, seconds, random)
                                 : status;
    }
    for (double at = 0;
         status == SF_OK && planted_hz > 0 && (at += sf_random_exponential(random) / planted_hz) < seconds;) {
        double spike = at;
        for (uint32_t i = 0; i < chain_sizes[chain] && status == SF_OK; i++) {
            spike += i > 0 ? draw_delay(mean_ms[i], c->jitter_ms, random) : 0;
            status = spike < seconds ? append(all, spike, first_unit + i) : SF_OK;
        }
    }
    return status;
}

static double draw_rate(sf_random *random)
{
    return 3 + 5 * sf_random_uniform(random);
}

static int simulate(sf_recording **recording, const plan *p, const cell *c, uint64_t seed, sf_error *error)
{
    sf_random random = sf_random_start(seed, UINT64_C(1) << 61);
    spikes all = {0};
    uint32_t unit = 0;
    int status = SF_OK;
    for (uint32_t chain = 0; chain < CHAINS && status == SF_OK; unit += chain_sizes[chain++])
        status = append_chain(&all, chain, unit, draw_rate(&random), c, (double)p->seconds, &random);
    for (; unit < UNITS && status == SF_OK; unit++)
        status = append_train(&all, unit, draw_rate(&random), (double)p->seconds, &random);
    sf_span recorded = {0, (int64_t)p->seconds * SF_SECOND};
    sf_recording_input input = sf_recording_input_default();
    input.unit_count = UNITS;
    input.spikes = all.items;
    input.spike_count = all.count;
    input.recorded = &recorded;
    if (status == SF_OK) status = sf_recording_new(recording, &input, error);
    sf_free(all.items);
    return status;
}

/* ---- what mining says ---- */

static int mine(sf_episodes **found, const sf_recording *recording, const plan *p, const char *delays,
                uint32_t size, uint64_t seed, sf_error *error)
{
    sf_delay intervals[64];
    sf_significance_options test = sf_significance_options_default();
    test.surrogates = (uint32_t)p->surrogates;
    test.seed = seed;
    test.device = "cpu";
    test.threads = 1;
    sf_mining_options options = sf_mining_options_default();
    options.delays = intervals;
    options.threshold = LEAST_COUNT;
    options.max_size = size;
    options.device = "cpu";
    options.threads = 1;
    options.significance = &test;
    int status = sf_delays_parse(intervals, 64, &options.delay_count, delays, error);
    return status == SF_OK ? sf_mine(found, recording, &options, NULL, error) : status;
}

static int judge_pairs(verdicts *v, const sf_recording *recording, const plan *p, const char *delays,
                       uint64_t seed, sf_error *error)
{
    sf_episodes *found;
    int status = mine(&found, recording, p, delays, 2, seed, error);
    if (status != SF_OK) return status;
    sf_episodes_columns told = {.size = sizeof told};
    sf_episodes_get_columns(found, &told);
    for (size_t i = 0; i < told.count; i++) {
        uint32_t from = told.episodes[i].units[0], to = told.episodes[i].units[1];
        if (told.q[i] < v->q[from][to] || (told.q[i] == v->q[from][to] && told.p[i] < v->p[from][to])) {
            v->q[from][to] = told.q[i];
            v->p[from][to] = told.p[i];
        }
    }
    sf_episodes_free(found);
    return SF_OK;
}

static void note_whole(outcome *to, const sf_episode *episode)
{
    uint32_t first = 0;
    for (uint32_t chain = 0; chain < CHAINS; first += chain_sizes[chain++]) {
        bool same = episode->size == chain_sizes[chain];
        for (uint32_t i = 0; same && i < episode->size; i++)
            same = episode->units[i] == first + i;
        to->whole[chain] = to->whole[chain] || same;
    }
}

static int judge_chains(outcome *to, const sf_recording *recording, const plan *p, const char *delays,
                        uint64_t seed, sf_error *error)
{
    sf_episodes *found;
    int status = mine(&found, recording, p, delays, (uint32_t)p->size, seed, error);
    if (status != SF_OK) return status;
    sf_episodes_columns told = {.size = sizeof told};
    sf_episodes_get_columns(found, &told);
    for (size_t i = 0; i < told.count; i++)
        if (told.q[i] < SF_SIGNIFICANT_Q) note_whole(to, &told.episodes[i]);
    sf_episodes_free(found);
    return SF_OK;
}

/* ---- what correlograms say ---- */

#define BINS 20u
#define BIN_NS SF_MILLISECOND
#define SHIFT_NS (60 * SF_MILLISECOND)

typedef struct trains {
    int64_t *times;
    size_t first[UNITS + 1];
} trains;

typedef struct correlograms {
    trains recorded, shifted;
    uint16_t (*counts)[UNITS][UNITS][BINS]; /* of each surrogate, and of the recording behind them */
    double (*highest)[UNITS][UNITS];        /* the same, standardised: of the bins */
    double *best;                           /* by surrogate: of all pairs */
} correlograms;

static int compare_times(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void set_apart(trains *to, const sf_recording_columns *of)
{
    size_t next[UNITS];
    memset(to->first, 0, sizeof to->first);
    for (size_t i = 0; i < of->spike_count; i++)
        to->first[of->spikes[i].unit + 1]++;
    for (uint32_t u = 0; u < UNITS; u++)
        to->first[u + 1] += to->first[u];
    memcpy(next, to->first, sizeof next);
    for (size_t i = 0; i < of->spike_count; i++)
        to->times[next[of->spikes[i].unit]++] = of->spikes[i].time_ns;
}

static void shift(trains *to, const trains *from, const sf_surrogate_rule *rule, uint32_t surrogate)
{
    memcpy(to->first, from->first, sizeof to->first);
    for (uint32_t u = 0; u < UNITS; u++) {
        size_t begin = from->first[u], end = from->first[u + 1];
        for (size_t i = begin; i < end; i++)
            to->times[i] = sf_surrogate_time(rule, surrogate, u, (uint32_t)(i - begin), from->times[i]);
        qsort(to->times + begin, end - begin, sizeof *to->times, compare_times);
    }
}

static void correlate(uint16_t counts[BINS], const trains *a, uint32_t from, const trains *b, uint32_t to)
{
    size_t next = b->first[to];
    for (size_t i = a->first[from]; i < a->first[from + 1]; i++) {
        while (next < b->first[to + 1] && b->times[next] - a->times[i] <= LOW_NS)
            next++;
        for (size_t k = next; k < b->first[to + 1] && b->times[k] - a->times[i] <= HIGH_NS; k++)
            counts[(b->times[k] - a->times[i] - LOW_NS - 1) / BIN_NS]++;
    }
}

static void correlate_all(uint16_t counts[UNITS][UNITS][BINS], const trains *a, const trains *b)
{
    for (uint32_t from = 0; from < UNITS; from++)
        for (uint32_t to = 0; to < UNITS; to++)
            if (from != to) correlate(counts[from][to], a, from, b, to);
}

/* Over surrogates and recording alike, so that the recorded bin may be compared with theirs. */
static void standardise(correlograms *c, size_t n, uint32_t from, uint32_t to)
{
    for (uint32_t bin = 0; bin < BINS; bin++) {
        double sum = 0, squares = 0;
        for (size_t s = 0; s <= n; s++) {
            double count = c->counts[s][from][to][bin];
            sum += count;
            squares += count * count;
        }
        double mean = sum / (double)(n + 1),
               deviation = sqrt(fmax(squares / (double)(n + 1) - mean * mean, 1e-9));
        for (size_t s = 0; s <= n; s++)
            c->highest[s][from][to] =
                fmax(c->highest[s][from][to], (c->counts[s][from][to][bin] - mean) / deviation);
    }
}

static void judge_correlograms(verdicts *v, correlograms *c, size_t n)
{
    for (size_t s = 0; s <= n; s++)
        for (uint32_t from = 0; from < UNITS; from++)
            for (uint32_t to = 0; to < UNITS; to++)
                c->highest[s][from][to] = -INFINITY;
    for (uint32_t from = 0; from < UNITS; from++)
        for (uint32_t to = 0; to < UNITS; to++)
            if (from != to) standardise(c, n, from, to);
    for (size_t s = 0; s < n; s++) {
        c->best[s] = -INFINITY;
        for (size_t i = 0; i < UNITS * UNITS; i++)
            c->best[s] = fmax(c->best[s], c->highest[s][i / UNITS][i % UNITS]);
    }
    for (size_t i = 0; i < UNITS * UNITS; i++) {
        uint32_t from = (uint32_t)(i / UNITS), to = (uint32_t)(i % UNITS);
        size_t reached = 0, exceeded = 0;
        if (from == to) continue;
        for (size_t s = 0; s < n; s++) {
            reached += c->highest[s][from][to] >= c->highest[n][from][to];
            exceeded += c->best[s] >= c->highest[n][from][to];
        }
        v->p[from][to] = (1 + (double)reached) / (1 + (double)n);
        v->q[from][to] = (1 + (double)exceeded) / (1 + (double)n);
    }
}

static int judge_by_correlograms(verdicts *v, const sf_recording *recording, const plan *p, uint64_t seed)
{
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(recording, &of);
    size_t n = p->surrogates;
    correlograms c = {.recorded.times = sf_resize(NULL, of.spike_count, sizeof(int64_t)),
                      .shifted.times = sf_resize(NULL, of.spike_count, sizeof(int64_t)),
                      .counts = sf_alloc(n + 1, sizeof *c.counts),
                      .highest = sf_resize(NULL, n + 1, sizeof *c.highest),
                      .best = sf_resize(NULL, n, sizeof *c.best)};
    bool room = c.recorded.times != NULL && c.shifted.times != NULL && c.counts != NULL &&
                c.highest != NULL && c.best != NULL;
    if (room) {
        set_apart(&c.recorded, &of);
        int64_t span_ns = (int64_t)p->seconds * SF_SECOND;
        sf_surrogate_rule rule = {SF_SURROGATE_SEGMENT_SHIFT, SHIFT_NS,
                                  sf_significance_segment(span_ns, 0, HIGH_NS), seed};
        for (uint32_t s = 0; s < n; s++) {
            shift(&c.shifted, &c.recorded, &rule, s);
            correlate_all(c.counts[s], &c.recorded, &c.shifted);
        }
        correlate_all(c.counts[n], &c.recorded, &c.recorded);
        judge_correlograms(v, &c, n);
    }
    sf_free(c.recorded.times);
    sf_free(c.shifted.times);
    sf_free(c.counts);
    sf_free(c.highest);
    sf_free(c.best);
    return room ? SF_OK : SF_NO_MEMORY;
}

/* ---- what that is worth ---- */

typedef struct ranked {
    double q, p;
    bool link;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *left = a, *right = b;
    if (left->q != right->q) return left->q < right->q ? -1 : 1;
    return (left->p > right->p) - (left->p < right->p);
}

static double average_precision(const verdicts *v)
{
    ranked all[UNITS * UNITS];
    size_t count = 0, links = 0, seen = 0;
    double sum = 0;
    for (uint32_t from = 0; from < UNITS; from++)
        for (uint32_t to = 0; to < UNITS; to++)
            if (from != to && (is_link(from, to) || !share_chain(from, to)))
                all[count++] = (ranked){v->q[from][to], v->p[from][to], is_link(from, to)};
    qsort(all, count, sizeof *all, compare_ranked);
    for (size_t i = 0; i < count; i = seen) {
        size_t before = links;
        for (; seen < count && compare_ranked(&all[seen], &all[i]) == 0; seen++)
            links += all[seen].link;
        sum += (double)(links - before) * (double)links / (double)seen;
    }
    return sum / LINKS;
}

static void weigh(outcome *to, const verdicts *v, bool planted)
{
    for (uint32_t chain = 0; chain < CHAINS; chain++)
        to->all_links[chain] = true;
    for (uint32_t from = 0; from < UNITS; from++)
        for (uint32_t other = 0; other < UNITS; other++) {
            uint32_t place, chain = chain_of(from, &place);
            bool found = v->q[from][other] < SF_SIGNIFICANT_Q;
            to->has_false = to->has_false || (found && !(planted && share_chain(from, other)));
            if (is_link(from, other)) {
                to->links += found;
                to->all_links[chain] = to->all_links[chain] && found;
            }
        }
    to->precision = average_precision(v);
}

/* ---- all of it ---- */

static int judge(outcome *to, const plan *p, const cell *c, const method *by, uint64_t seed, sf_error *error)
{
    sf_recording *recording;
    int status = simulate(&recording, p, c, seed, error);
    if (status != SF_OK) return status;
    double start = sf_clock_seconds();
    verdicts v;
    for (size_t i = 0; i < UNITS * UNITS; i++)
        v.q[i / UNITS][i % UNITS] = v.p[i / UNITS][i % UNITS] = 1;
    status = by->delays != NULL ? judge_pairs(&v, recording, p, by->delays, seed, error)
                                : judge_by_correlograms(&v, recording, p, seed);
    if (status == SF_OK) weigh(to, &v, c->times > 1);
    if (status == SF_OK && by->delays != NULL && p->size > 2 && c->times > 1)
        status = judge_chains(to, recording, p, by->delays, seed, error);
    to->seconds = sf_clock_seconds() - start;
    sf_recording_free(recording);
    return status;
}

static int do_item(void *context, unsigned worker, size_t item)
{
    (void)worker;
    plan *p = context;
    size_t recording = item % p->recordings, which = item / p->recordings % METHODS,
           place = item / p->recordings / METHODS;
    sf_error error = {.text = "no memory"};
    int status =
        judge(&p->outcomes[item], p, &p->cells[place], &methods[which], p->first + recording, &error);
    if (status != SF_OK) fprintf(stderr, "%s\n", error.text);
    return status;
}

static void print_chains(const bool by_chain[][CHAINS], uint64_t recordings)
{
    for (uint32_t chain = 0; chain < CHAINS; chain++) {
        uint64_t sum = 0;
        for (uint64_t i = 0; i < recordings; i++)
            sum += by_chain[i][chain];
        printf("%s%" PRIu64, chain > 0 ? ", " : "", sum);
    }
    printf(" | ");
}

static int print_row(const plan *p, const cell *c, const method *by, const outcome *of)
{
    double links = 0, precision = 0, seconds = 0;
    uint64_t wrong = 0;
    bool(*all)[CHAINS] = sf_resize(NULL, p->recordings, sizeof *all);
    bool(*whole)[CHAINS] = sf_resize(NULL, p->recordings, sizeof *whole);
    if (all == NULL || whole == NULL) return SF_NO_MEMORY;
    for (uint64_t i = 0; i < p->recordings; i++) {
        links += of[i].links;
        precision += of[i].precision;
        seconds += of[i].seconds;
        wrong += of[i].has_false;
        memcpy(all[i], of[i].all_links, sizeof all[i]);
        memcpy(whole[i], of[i].whole, sizeof whole[i]);
    }
    double n = (double)p->recordings;
    if (c->times > 1)
        printf("| %g | %g ms | %s | %.1f | ", c->times, c->jitter_ms, by->name, links / n);
    else
        printf("| none | | %s | | | | | ", by->name);
    if (c->times > 1) {
        print_chains((const bool(*)[CHAINS])all, p->recordings);
        if (by->delays != NULL && p->size > 2)
            print_chains((const bool(*)[CHAINS])whole, p->recordings);
        else
            printf("| ");
        printf("%.2f | ", precision / n);
    }
    printf("%" PRIu64 " |\n", wrong);
    fprintf(stderr, "%g times, %g ms, %s: %.1f s a recording\n", c->times, c->jitter_ms, by->name,
            seconds / n);
    sf_free(all);
    sf_free(whole);
    return SF_OK;
}

static int read_arguments(plan *p, int count, char **arguments)
{
    uint64_t numbers[] = {20, 1000, 600, 0, 1, 0, 8};
    for (int i = 1; i < count; i++)
        if (i > 7 || !sf_parse_uint(arguments[i], 1000000, &numbers[i - 1])) return SF_USAGE;
    *p = (plan){numbers[0], numbers[1], numbers[2], numbers[3], numbers[4],
                numbers[5], numbers[6], CELLS,      cells,      NULL};
    if (p->threads == 0) p->threads = sf_thread_cores();
    if (p->only > 0) {
        p->cells = &cells[p->only - 1];
        p->cell_count = 1;
    }
    bool right = p->recordings > 0 && p->surrogates > 0 && p->seconds > 0 && p->only <= CELLS &&
                 p->size >= 2 && p->size <= SF_EPISODE_MAX_SIZE;
    return right ? SF_OK : SF_USAGE;
}

int main(int count, char **arguments)
{
    plan p;
    if (read_arguments(&p, count, arguments) != SF_OK) {
        fprintf(stderr, "expected [RECORDINGS [SURROGATES [SECONDS [THREADS [FIRST [CELL [SIZE]]]]]]]\n");
        return 1;
    }
    size_t items = p.cell_count * METHODS * p.recordings;
    p.outcomes = sf_alloc(items, sizeof *p.outcomes);
    int status = p.outcomes != NULL ? sf_parallel_for((unsigned)p.threads, items, do_item, &p) : SF_NO_MEMORY;
    if (status == SF_OK)
        printf("Of %" PRIu64 " recordings of %" PRIu64 " s each, %" PRIu64
               " surrogates:\n\n| times chance | jitter | looked for by | links found of 13 | all links of "
               "the chain of "
               "3, 5, 8 | found whole: 3, 5, 8 | average precision | recordings with a false link "
               "|\n|---|---|---|---|---|---|---|---|\n",
               p.recordings, p.seconds, p.surrogates);
    for (size_t row = 0; row < p.cell_count * METHODS && status == SF_OK; row++)
        status =
            print_row(&p, &p.cells[row / METHODS], &methods[row % METHODS], &p.outcomes[row * p.recordings]);
    sf_free(p.outcomes);
    return status == SF_OK ? 0 : 1;
}
