/* SPDX-License-Identifier: Apache-2.0 */
#include "support/ways.h"

#include "analysis/graph.h"
#include "density/pairs.h"
#include "graph/match/engine.h"
#include "graph/motif/spread.h"
#include "mine/surrogate_run.h"
#include "mine/ways.h"

#include <math.h>

/* ---- what they work on ---- */

enum { UNITS = 12, EPISODES = 60 };

static const sf_delay delay = {500000, 5000000};

static void must(int status, const sf_error *error)
{
    if (status != SF_OK) fail_msg("%s %s", error->place, error->text);
}

/* A spike a millisecond. */
static sf_recording *make_recording(test_random *random, size_t size)
{
    sf_recording_input input = sf_recording_input_default();
    sf_spike *spikes = malloc(size * sizeof *spikes);
    sf_recording *recording;
    sf_error error;
    for (size_t i = 0; i < size; i++)
        spikes[i] = (sf_spike){.time_ns = (int64_t)test_random_below(random, size * 1000000),
                               .unit = (uint32_t)test_random_below(random, UNITS),
                               .amplitude = NAN};
    input.unit_count = UNITS;
    input.spikes = spikes;
    input.spike_count = size;
    must(sf_recording_new(&recording, &input, &error), &error);
    free(spikes);
    return recording;
}

/* Eight edges from each vertex on average, some of them twice. */
static sf_graph *make_graph(test_random *random, size_t size)
{
    sf_graph_edges edges = {
        .size = sizeof edges, .vertex_count = (uint32_t)(size / 8 + 4), .directed = true, .count = size};
    sf_graph_options options = sf_graph_options_default();
    options.parallel = SF_PARALLEL_DROP;
    options.drop_loops = true;
    uint32_t *ends = malloc(2 * size * sizeof *ends);
    for (size_t i = 0; i < 2 * size; i++)
        ends[i] = (uint32_t)test_random_below(random, edges.vertex_count);
    edges.from = ends;
    edges.to = ends + size;
    sf_graph *graph;
    sf_error error;
    must(sf_graph_new(&graph, &edges, &options, &error), &error);
    free(ends);
    return graph;
}

static sf_series *make_series(test_random *random, size_t size)
{
    size_t n = (size_t)(20 * sqrt((double)size));
    double *values = malloc(n * sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = test_random_unit(random) + test_random_unit(random) + test_random_unit(random);
    sf_series *series;
    sf_error error;
    must(sf_series_new(&series, values, n, 1, &error), &error);
    free(values);
    return series;
}

void test_input_make(test_input *input, size_t size, uint64_t seed)
{
    test_random random = test_random_start("ways", seed);
    input->recording = make_recording(&random, size);
    input->graph = make_graph(&random, size / 8 + 8);
    input->series = make_series(&random, size);
}

void test_input_free(test_input *input)
{
    sf_recording_free(input->recording);
    sf_graph_free(input->graph);
    sf_series_free(input->series);
}

static void answer_with(test_answer *answer, double number)
{
    if (answer->count < TEST_MOST_ANSWERS) answer->numbers[answer->count++] = number;
}

/* ---- episodes ---- */

static void answer_with_counts(test_answer *answer, const sf_episodes *episodes)
{
    sf_episodes_columns columns = {.size = sizeof columns};
    sf_episodes_get_columns(episodes, &columns);
    answer->ran = columns.ran;
    answer_with(answer, (double)columns.count);
    for (size_t i = 0; i < columns.count; i++) {
        answer_with(answer, (double)columns.counts[i]);
        for (uint32_t node = 0; node < columns.episodes[i].size; node++)
            answer_with(answer, columns.episodes[i].units[node]);
    }
}

static sf_mining_options mining(const char *engine, const char *device)
{
    sf_mining_options options = sf_mining_options_default();
    options.delays = &delay;
    options.delay_count = 1;
    options.max_size = 3;
    options.engine = engine;
    options.device = device;
    options.threads = 1;
    return options;
}

static int mine(test_answer *answer, const test_input *input, const char *engine, const char *device,
                sf_error *error)
{
    sf_mining_options options = mining(engine, device);
    sf_episodes *episodes;
    int status = sf_mine(&episodes, input->recording, &options, NULL, error);
    if (status == SF_OK) answer_with_counts(answer, episodes);
    sf_episodes_free(episodes);
    return status;
}

static int count(test_answer *answer, const test_input *input, const char *engine, const char *device,
                 sf_error *error)
{
    sf_counting_options options = sf_counting_options_default();
    sf_episode episodes[EPISODES];
    for (uint32_t i = 0; i < EPISODES; i++)
        episodes[i] = (sf_episode){.size = 2 + i % 2,
                                   .units = {i % UNITS, i / 3 % UNITS, (i + 5) % UNITS},
                                   .delays = {delay, delay}};
    options.engine = engine;
    options.device = device;
    options.threads = 1;
    sf_episodes *counted;
    int status = sf_count(&counted, input->recording, episodes, EPISODES, &options, NULL, error);
    if (status == SF_OK) answer_with_counts(answer, counted);
    sf_episodes_free(counted);
    return status;
}

static int test_surrogates(test_answer *answer, const test_input *input, const char *engine,
                           const char *device, sf_error *error)
{
    (void)engine;
    sf_mining_options options = mining(NULL, "cpu");
    sf_significance_options how = sf_significance_options_default();
    how.surrogates = 40;
    how.always = true;
    how.device = device;
    how.threads = 1;
    options.significance = &how;
    sf_episodes *episodes;
    sf_episodes_columns columns = {.size = sizeof columns};
    int status = sf_mine(&episodes, input->recording, &options, NULL, error);
    if (status != SF_OK) return status;
    sf_episodes_get_columns(episodes, &columns);
    answer->ran = columns.significance->ran;
    for (size_t i = 0; i < columns.count; i++) {
        answer_with(answer, columns.p[i]);
        answer_with(answer, columns.expected_given_rest[i]);
    }
    sf_episodes_free(episodes);
    return SF_OK;
}

/* ---- densities ---- */

static int sum_pairs(test_answer *answer, const test_input *input, const char *engine, const char *device,
                     sf_error *error)
{
    (void)engine;
    sf_density_options options = sf_density_options_default();
    options.method = "lscv-paper";
    options.exact = true;
    options.curve = true;
    options.threads = 1;
    options.device = device;
    sf_density *density;
    sf_density_columns columns = {.size = sizeof columns};
    int status = sf_density_find(&density, input->series, 0, &options, error);
    if (status != SF_OK) return status;
    sf_density_get_columns(density, &columns);
    answer->ran = columns.ran;
    answer_with(answer, columns.h);
    for (size_t i = 0; i < columns.curve_count; i++)
        answer_with(answer, columns.curve_score[i]);
    sf_density_free(density);
    return SF_OK;
}

/* ---- graphs ---- */

static int search(test_answer *answer, const test_input *input, const char *engine, const char *device,
                  sf_error *error)
{
    sf_search_options options = sf_search_options_default();
    options.threads = 1;
    options.device = device;
    options.enterprise = strcmp(engine, "enterprise") == 0;
    options.features = 15;
    uint32_t source = 0;
    sf_searches *searches;
    sf_searches_columns columns = {.size = sizeof columns};
    int status = sf_graph_search(&searches, input->graph, &source, 1, &options, NULL, error);
    if (status != SF_OK) return status;
    sf_searches_get_columns(searches, &columns);
    answer->ran = *columns.ran;
    for (uint32_t v = 0; v < columns.vertex_count; v++)
        answer_with(answer, columns.levels[v]);
    sf_searches_free(searches);
    return SF_OK;
}

static int match(test_answer *answer, const test_input *input, const char *engine, const char *device,
                 sf_error *error)
{
    static const char *const patterns[] = {"feed-forward-loop", "chain-4", "diverging-3"};
    sf_match_options options = sf_match_options_default();
    options.engine = engine;
    options.device = device;
    options.threads = 1;
    int status = SF_OK;
    for (size_t i = 0; i < 3 && status == SF_OK; i++) {
        sf_motif *motif = NULL;
        sf_matches *matches = NULL;
        sf_matches_columns columns = {.size = sizeof columns};
        status = sf_motif_new(&motif, patterns[i], true, error);
        if (status == SF_OK) status = sf_graph_match(&matches, input->graph, motif, &options, NULL, error);
        if (status == SF_OK) {
            double seconds = answer->ran.seconds;
            sf_matches_get_columns(matches, &columns);
            answer->ran = *columns.ran;
            answer->ran.seconds += seconds;
            answer_with(answer, (double)columns.count);
        }
        sf_matches_free(matches);
        sf_motif_free(motif);
    }
    return status;
}

static int rewire(test_answer *answer, const test_input *input, const char *engine, const char *device,
                  sf_error *error)
{
    (void)engine;
    sf_rewired_options options = sf_rewired_options_default();
    uint64_t counts[SF_TRIADS];
    sf_spread spreads[SF_TRIADS];
    options.graphs = 20;
    options.threads = 1;
    options.device = device;
    int status = sf_graph_census(counts, input->graph, 1, NULL, error);
    if (status == SF_OK)
        status = sf_graph_rewire(spreads, counts, input->graph, NULL, 0, NULL, &options, &answer->ran, NULL,
                                 error);
    for (int t = 0; t < SF_TRIADS && status == SF_OK; t++) {
        answer_with(answer, spreads[t].mean);
        answer_with(answer, spreads[t].sd);
    }
    return status;
}

const test_way_case test_way_cases[] = {
    {"mine", sf_search_ways, 0, mine},
    {"count", sf_count_ways, 0, count},
    {"surrogates", sf_surrogate_ways, 0, test_surrogates},
    {"sums over pairs", sf_pairs_ways, 1e-9, sum_pairs},
    {"search", sf_bfs_ways, 0, search},
    {"match", sf_match_ways, 0, match},
    {"rewire", sf_rewire_ways, 0, rewire},
    {0},
};
