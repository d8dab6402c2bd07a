/* SPDX-License-Identifier: Apache-2.0 */
/* Long work of graphs and of recordings asks its caller whether to go on, and stops where it is told to. */
#include "core/backend/find.h"
#include "support/support.h"

#include "graph/search/bfs.h"

enum { VERTICES = 5000, MANY = 1200000, FEW = 600000 };

static uint32_t *ends; /* of random edges */

static int draw_ends(void **state)
{
    (void)state;
    test_random random = test_random_start("stopping", 1);
    ends = malloc(2 * MANY * sizeof *ends);
    for (size_t i = 0; ends != NULL && i < 2 * MANY; i++)
        ends[i] = (uint32_t)test_random_below(&random, VERTICES);
    return ends != NULL ? 0 : -1;
}

static int free_ends(void **state)
{
    (void)state;
    free(ends);
    return 0;
}

static sf_graph_edges edges_of(size_t count)
{
    return (sf_graph_edges){.size = sizeof(sf_graph_edges),
                            .vertex_count = VERTICES,
                            .directed = true,
                            .count = count,
                            .from = ends,
                            .to = ends + MANY};
}

static int make_graph(void *context, const sf_progress *progress)
{
    const size_t *count = context;
    const sf_graph_edges edges = edges_of(*count);
    sf_graph_options options = sf_graph_options_default();
    options.progress = progress;
    sf_graph *graph;
    int status = sf_graph_new(&graph, &edges, &options, NULL);
    assert_true((graph != NULL) == (status == SF_OK));
    sf_graph_free(graph);
    return status;
}

/* One thread makes the small one, all cores the large one; the latter are told by the first of them. */
static void building_of_a_graph_stops(void **state)
{
    (void)state;
    size_t few = FEW, many = MANY;
    assert_int_equal(test_stop_at_every_call(make_graph, &few), 4 * 3);
    assert_true(test_stop_at_every_call(make_graph, &many) >= 4 * 5);
}

typedef struct job {
    const sf_graph *graph;
    sf_search_options options;
    size_t sources;
} job;

static int search(void *context, const sf_progress *progress)
{
    const job *it = context;
    static const uint32_t sources[100];
    sf_searches *searches;
    int status = sf_graph_search(&searches, it->graph, sources, it->sources, &it->options, progress, NULL);
    sf_searches_free(searches);
    return status;
}

static sf_graph *random_graph(void)
{
    sf_graph *graph;
    const sf_graph_edges edges = edges_of(FEW);
    assert_int_equal(sf_graph_new(&graph, &edges, NULL, NULL), SF_OK);
    return graph;
}

/* While the graph is turned round, while hubs are looked for, before every level, after every repetition. */
static void searches_stop(void **state)
{
    (void)state;
    sf_graph *graph = random_graph();
    job it = {graph, sf_search_options_default(), 1};
    it.options.device = "cpu";
    it.options.threads = 1;
    long levels = test_stop_at_every_call(search, &it) - 2 * 3 - 2 - 1;
    assert_in_range(levels, 3, 6);
    it.options.repeat = 3;
    assert_int_equal(test_stop_at_every_call(search, &it), 2 * 3 + 2 + 3 * (levels + 1));
    it.options.repeat = 0;
    it.sources = 100;
    long looks = test_stop_at_every_call(search, &it); /* 64 and 36 at once: at every level that a word has */
    assert_in_range(looks, 2 * levels, 2 * (levels + 1));
    sf_graph_free(graph);
}

/* The same of a device: the host turns the graph round, and asks before a search and after it. */
static void searches_on_a_device_stop(void **state)
{
    (void)state;
    assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
    sf_graph *graph = random_graph();
    job it = {graph, sf_search_options_default(), 1};
    it.options.device = "test:0";
    it.options.repeat = 2;
    assert_int_equal(test_stop_at_every_call(search, &it), 2 * 3 + 2 * 2);
    it.options.repeat = 0;
    it.sources = 100;
    assert_in_range(test_stop_at_every_call(search, &it), 2 * 3 + 2 * 3, 2 * 3 + 2 * 7); /* as the CPU does */
    sf_graph_free(graph);
    sf_devices_close();
}

static int look_at_bursts(void *context, const sf_progress *progress)
{
    sf_sharpness told;
    return sf_recording_sharpness(context, &(sf_delay){1000000, 5000000}, 1, &told, progress, NULL);
}

static void looking_at_bursts_stops(void **state)
{
    (void)state;
    test_random random = test_random_start("stopping bursts", 2);
    sf_recording_input input = sf_recording_input_default();
    sf_spike *spikes;
    input.unit_count = 20;
    input.spike_count = test_random_stream(&random, &spikes, 10000, 20, INT64_C(100000000000));
    input.spikes = spikes;
    sf_recording *recording;
    assert_int_equal(sf_recording_new(&recording, &input, NULL), SF_OK);
    assert_int_equal(test_stop_at_every_call(look_at_bursts, recording), 2 * 100); /* segments of a second */
    sf_recording_free(recording);
    free(spikes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(building_of_a_graph_stops),
        cmocka_unit_test(searches_stop),
        cmocka_unit_test(searches_on_a_device_stop),
        cmocka_unit_test(looking_at_bursts_stops),
    };
    return cmocka_run_group_tests(tests, draw_ends, free_ends);
}
