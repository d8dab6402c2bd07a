/* SPDX-License-Identifier: Apache-2.0 */
/* What recordings are compared by: on a recording whose numbers are plain, and graphs beside the obvious way.
 */
#include "analysis/activity.h"
#include "support/support.h"

#include "core/recording.h"

#include <math.h>

#define MS 1000000LL
#define S 1000000000LL

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fmax(1, fabs(expected))))
        fail_msg("found %.12g, expected %.12g", found, expected);
}

/* Two units that fire 20 spikes 20 ms apart together every 10 s, one that fires alone every second, and one
 * silent; 100 s. `pause`: of which seconds 45 to 48 were not recorded. */
static sf_recording *make_recording(bool pause)
{
    static const sf_unit units[] = {{.name = "a", .x_um = 0, .y_um = 0, .electrode = -1},
                                    {.name = "b", .x_um = 0, .y_um = 0, .electrode = -1},
                                    {.name = "c", .x_um = 50, .y_um = 0, .electrode = -1},
                                    {.name = "d", .x_um = 90, .y_um = 0, .electrode = -1}};
    static const sf_span observed[] = {{0, 45 * S}, {48 * S, 100 * S}};
    sf_spike spikes[600];
    size_t count = 0;
    for (int burst = 0; burst < 10; burst++)
        for (int i = 0; i < 20; i++)
            for (uint32_t u = 0; u < 2; u++)
                spikes[count++] = (sf_spike){burst * 10 * S + 2 * S + i * 20 * MS, u, NAN};
    for (int i = 0; i < 100; i++)
        if (!pause || i < 45 || i >= 48) spikes[count++] = (sf_spike){i * S + S / 2 + 30 * MS, 2, NAN};
    sf_recording_input input = sf_recording_input_default();
    input.unit_count = 4;
    input.units = units;
    input.spikes = spikes;
    input.spike_count = count;
    input.recorded = &(sf_span){0, 100 * S};
    input.observed = observed;
    input.observed_count = pause ? 2 : 0;
    sf_recording *recording;
    sf_error error;
    if (sf_recording_new(&recording, &input, &error) != SF_OK) fail_msg("%s", error.text);
    return recording;
}

/* What help calls the default is what a command takes. */
static void defaults_of_options_are_the_rules(void **state)
{
    (void)state;
    const sf_network_rule network = SF_NETWORK_RULE, *taken = &SF_ACTIVITY_OPTIONS.network;
    assert_true(taken->active_hz == network.active_hz && taken->share == network.share);
    assert_true(taken->method == network.method && taken->spikes == network.spikes);
    assert_true(taken->within_ns == network.within_ns);
    const sf_burst_rule bursts = SF_BURST_RULE, *of_units = &SF_ACTIVITY_OPTIONS.bursts;
    assert_true(of_units->begin_ns == bursts.begin_ns && of_units->within_ns == bursts.within_ns);
    assert_true(of_units->apart_ns == bursts.apart_ns && of_units->least_ns == bursts.least_ns);
    assert_true(of_units->least_spikes == bursts.least_spikes && of_units->method == bursts.method);
    assert_true(of_units->least_surprise == bursts.least_surprise);
}

static void measures_are_what_they_say(void **state)
{
    (void)state;
    sf_recording *recording = make_recording(false);
    sf_activity activity;
    double values[SF_MEASURES];
    assert_int_equal(sf_activity_find(&activity, recording, &SF_ACTIVITY_OPTIONS, NULL), SF_OK);
    sf_activity_measure(&activity, values);
    assert_int_equal(activity.active_units, 3);
    assert_int_equal(activity.active_electrodes, 2);
    assert_int_equal(activity.units[0].bursts, 10);
    assert_int_equal(activity.units[2].bursts, 0);
    assert_int_equal(activity.unit_bursts.items[10].first, 0); /* of b: counted from its own first spike */
    assert_int_equal(activity.unit_bursts.items[11].first, 20);
    assert_near(values[SF_MEASURE_RATE], (2 + 2 + 1) / 3.0);
    assert_near(values[SF_MEASURE_ACTIVE], 3);
    assert_near(values[SF_MEASURE_BURST_RATE], (6 + 6 + 0) / 3.0);
    assert_near(values[SF_MEASURE_BURST_SHARE], (1 + 1 + 0) / 3.0);
    assert_near(values[SF_MEASURE_BURST_DURATION], 0.38);
    assert_near(values[SF_MEASURE_BURST_SPIKES], 20);
    assert_near(activity.units[2].isi_cv, 0);
    double mean = (190 * 0.02 + 9 * 9.62) / 199,
           squares = 190 * (0.02 - mean) * (0.02 - mean) + 9 * (9.62 - mean) * (9.62 - mean);
    assert_near(activity.units[0].isi_cv, sqrt(squares / 198) / mean);
    assert_near(values[SF_MEASURE_ISI_CV], activity.units[0].isi_cv);
    /* 10 spikes a bin are 20 times the mean, from bins that the first spike, at 0.53 s, begins. */
    assert_near(values[SF_MEASURE_NETWORK_RATE], 6);
    assert_near(values[SF_MEASURE_NETWORK_UNITS], 2 / 3.0);
    assert_near(values[SF_MEASURE_NETWORK_DURATION], 0.5);
    assert_near(values[SF_MEASURE_NETWORK_SHARE], (double)activity.network.members[0].spikes * 10 / 500);
    sf_activity_free(&activity);
    sf_activity_options many = SF_ACTIVITY_OPTIONS;
    many.network.share = 0.7; /* two of three are fewer */
    many.network.active_hz = 0.5;
    assert_int_equal(sf_activity_find(&activity, recording, &many, NULL), SF_OK);
    sf_activity_measure(&activity, values);
    assert_int_equal(activity.network.count, 0);
    assert_near(values[SF_MEASURE_NETWORK_RATE], 0);
    assert_true(isnan(values[SF_MEASURE_NETWORK_DURATION]));
    sf_activity_free(&activity);
    many.network.active_hz = 100; /* nobody is */
    assert_int_equal(sf_activity_find(&activity, recording, &many, NULL), SF_OK);
    sf_activity_measure(&activity, values);
    assert_near(values[SF_MEASURE_ACTIVE], 0);
    assert_true(isnan(values[SF_MEASURE_RATE]) && isnan(values[SF_MEASURE_ISI_CV]));
    sf_activity_free(&activity);
    sf_recording_free(recording);
}

static void nothing_is_known_across_a_pause(void **state)
{
    (void)state;
    sf_recording *recording = make_recording(true);
    sf_activity activity;
    sf_activity_options wide = SF_ACTIVITY_OPTIONS;
    wide.bursts = (sf_burst_rule){.begin_ns = 1500 * MS,
                                  .within_ns = 20 * S,
                                  .least_spikes = 2}; /* all of c is a burst, but for the pause */
    assert_int_equal(sf_activity_find(&activity, recording, &wide, NULL), SF_OK);
    assert_near(activity.duration_s, 97);
    assert_int_equal(activity.units[2].intervals, 44 + 51);
    assert_near(activity.units[2].isi_cv, 0);
    assert_int_equal(activity.units[2].bursts, 2);
    const sf_unit_burst *second = &activity.unit_bursts.items[activity.units[2].first_burst + 1];
    assert_int_equal(second->first, 45);
    assert_int_equal(second->spikes, 52);
    sf_activity_free(&activity);
    sf_recording_free(recording);
}

/* ---- by chance ---- */

/* Trains of `times` as a recording; with `gap` seconds 40 to 60 of 100 were not recorded. */
static void measure_trains(double values[SF_MEASURES], double chance[SF_MEASURES], sf_spike *spikes,
                           size_t count, size_t units, bool gap)
{
    sf_unit *about = calloc(units, sizeof *about);
    sf_span observed[] = {{0, 40 * S}, {60 * S, 100 * S}};
    sf_recording recording = {.units = {.items = about, .count = units},
                              .spikes = spikes,
                              .spike_count = count,
                              .recorded = {0, 100 * S},
                              .observed = observed,
                              .observed_count = gap ? 2 : 0};
    sf_activity activity;
    assert_int_equal(sf_spikes_sort(spikes, count, NULL), SF_OK);
    assert_int_equal(sf_activity_find(&activity, &recording, &SF_ACTIVITY_OPTIONS, NULL), SF_OK);
    assert_int_equal(sf_activity_chance(chance, NULL, &recording, &SF_ACTIVITY_OPTIONS, 1, NULL), SF_OK);
    sf_activity_measure(&activity, values);
    sf_activity_free(&activity);
    free(about);
}

/* Of Poisson trains, at rates that change by 10 s, the measures are those of chance. */
static void poisson_trains_are_chance(void **state)
{
    (void)state;
    static const double rates[] = {0.5, 12, 1, 6, 0.2, 9, 3, 15, 0.4, 7};
    test_random random = test_random_start("Poisson trains", 28);
    for (int gap = 0; gap < 2; gap++) {
        enum { UNITS = 30 };
        double values[SF_MEASURES], chance[SF_MEASURES];
        size_t count = 0, room = UNITS * 100 * 16 * 2;
        sf_spike *spikes = malloc(room * sizeof *spikes);
        for (uint32_t u = 0; u < UNITS; u++)
            for (int slot = 0; slot < 10; slot++)
                for (double at = 10 * slot; !(gap && (slot == 4 || slot == 5)) && count < room;) {
                    at -= log(1 - test_random_unit(&random)) / rates[slot];
                    if (at >= 10 * (slot + 1)) break;
                    spikes[count++] = (sf_spike){(int64_t)(at * 1e9), u, NAN};
                }
        measure_trains(values, chance, spikes, count, UNITS, gap);
        for (int m = SF_MEASURE_BURST_RATE; m <= SF_MEASURE_BURST_SPIKES; m++)
            if (!(fabs(values[m] - chance[m]) < 0.08 * chance[m]))
                fail_msg("%s: found %g, by chance %g", sf_measure_about((sf_measured)m)->name, values[m],
                         chance[m]);
        assert_true(isnan(chance[SF_MEASURE_RATE]) && isnan(chance[SF_MEASURE_ISI_CV]));
        free(spikes);
    }
}

/* Units with nothing but bursts, all at the same times: chance has few of these, and none of the network. */
static void bursts_are_not_chance(void **state)
{
    (void)state;
    enum { UNITS = 10, BURSTS = 10, EACH = 8 };
    sf_spike spikes[UNITS * BURSTS * EACH];
    double values[SF_MEASURES], chance[SF_MEASURES];
    size_t count = 0;
    for (uint32_t u = 0; u < UNITS; u++)
        for (int b = 0; b < BURSTS; b++)
            for (int i = 0; i < EACH; i++)
                spikes[count++] = (sf_spike){b * 10 * S + 3 * S + i * 40 * MS + u * MS, u, NAN};
    measure_trains(values, chance, spikes, count, UNITS, false);
    assert_near(values[SF_MEASURE_BURST_SHARE], 1);
    assert_true(chance[SF_MEASURE_BURST_SHARE] > 0 && chance[SF_MEASURE_BURST_SHARE] < 0.3);
    assert_near(values[SF_MEASURE_NETWORK_RATE], 6);
    assert_true(chance[SF_MEASURE_NETWORK_RATE] < 1);
    assert_true(chance[SF_MEASURE_NETWORK_SHARE] < 0.1);
}

/* No interval is under 180 ms, by chance neither: a burst begins with one of 170. */
static void dead_time_is_kept(void **state)
{
    (void)state;
    sf_spike spikes[450];
    double values[SF_MEASURES], chance[SF_MEASURES];
    size_t count = 0;
    for (int64_t at = 0; at < 100 * S && count < 450; at += (count % 7 == 0 ? 300 : 180) * MS)
        spikes[count++] = (sf_spike){at, 0, NAN};
    measure_trains(values, chance, spikes, count, 1, false);
    assert_near(values[SF_MEASURE_BURST_RATE], 0);
    assert_true(chance[SF_MEASURE_BURST_RATE] < 0.2); /* over the end of a slot alone */
}

/* Trains shifted each as a whole keep their own bursts. */
static void units_that_burst_alone_are_chance(void **state)
{
    (void)state;
    enum { UNITS = 3, EACH = 12 };
    test_random random = test_random_start("bursts alone", 29);
    double found = 0, expected = 0;
    for (int round = 0; round < 20; round++) {
        sf_spike spikes[UNITS * 30 * EACH];
        double values[SF_MEASURES], chance[SF_MEASURES];
        size_t count = 0;
        for (uint32_t u = 0; u < UNITS; u++)
            for (int b = 0; b < 30; b++) {
                int64_t at = (int64_t)test_random_below(&random, 99 * 1000) * MS;
                for (int i = 0; i < EACH; i++)
                    spikes[count++] = (sf_spike){at + i * 20 * MS, u, NAN};
            }
        measure_trains(values, chance, spikes, count, UNITS, false);
        found += values[SF_MEASURE_NETWORK_RATE];
        expected += chance[SF_MEASURE_NETWORK_RATE];
    }
    assert_true(expected > 1);
    assert_true(fabs(found - expected) < 0.5 * expected);
}

/* ---- networks ---- */

static void slow_network(sf_network *network, bool adjacent[][12], size_t n, const bool *in, bool directed)
{
    double both = 0, neighbours = 0, clustering = 0;
    *network = (sf_network){0};
    for (size_t v = 0; v < n; v++) {
        double degree = 0, closed = 0;
        network->vertices += in[v];
        for (size_t w = 0; w < n; w++) {
            bool edge = v != w && in[v] && in[w] && adjacent[v][w];
            bool joined = v != w && in[v] && in[w] && (adjacent[v][w] || adjacent[w][v]);
            network->edges += edge && (directed || v < w);
            both += edge && adjacent[w][v];
            degree += joined;
            for (size_t x = 0; x < n && joined; x++)
                closed += x != v && x != w && in[x] && (adjacent[v][x] || adjacent[x][v]) &&
                          (adjacent[w][x] || adjacent[x][w]);
        }
        neighbours += degree;
        clustering += degree > 1 ? closed / (degree * (degree - 1)) : 0;
    }
    double vertices = (double)network->vertices, edges = (double)network->edges;
    network->density = vertices > 1 ? edges / (vertices * (vertices - 1) / (directed ? 1 : 2)) : NAN;
    network->degree = vertices > 0 ? neighbours / vertices : NAN;
    network->clustering = vertices > 0 ? clustering / vertices : NAN;
    network->reciprocity = directed && edges > 0 ? both / edges : NAN;
}

static sf_graph *make_graph(bool adjacent[][12], uint32_t n, bool directed)
{
    uint32_t from[400], to[400];
    size_t count = 0;
    for (uint32_t v = 0; v < n; v++)
        for (uint32_t w = directed ? 0 : v; w < n; w++)
            for (uint32_t twice = 0; twice < (adjacent[v][w] ? 1 + (v + w) % 2 : 0); twice++) {
                from[count] = v;
                to[count++] = w;
            }
    sf_graph_edges edges = {.size = sizeof edges,
                            .vertex_count = n,
                            .directed = directed,
                            .count = count,
                            .from = from,
                            .to = to};
    sf_graph_options as = sf_graph_options_default();
    sf_graph *graph;
    sf_error error;
    if (sf_graph_new(&graph, &edges, &as, &error) != SF_OK) fail_msg("%s", error.text);
    return graph;
}

static void same_or_nan(double found, double expected)
{
    if (isnan(expected))
        assert_true(isnan(found));
    else
        assert_near(found, expected);
}

static void networks_are_as_the_obvious_way_has_them(void **state)
{
    (void)state;
    test_random random = test_random_start("networks", 20);
    for (int round = 0; round < 300; round++) {
        bool adjacent[12][12] = {{false}}, in[12], directed = round % 2 == 0;
        uint32_t n = 1 + (uint32_t)test_random_below(&random, 12), dense = 1 + (uint32_t)round % 9;
        for (uint32_t v = 0; v < n; v++) {
            in[v] = test_random_below(&random, 5) > 0;
            for (uint32_t w = 0; w < n; w++)
                adjacent[v][w] = !directed && w < v ? adjacent[w][v] : test_random_below(&random, 10) < dense;
        }
        sf_graph *graph = make_graph(adjacent, n, directed);
        sf_network_measures measures;
        sf_network expected;
        assert_int_equal(sf_network_measure(&measures, graph, in, 0, NULL), SF_OK);
        const sf_network found = measures.network;
        slow_network(&expected, adjacent, n, in, directed);
        assert_int_equal(found.vertices, expected.vertices);
        assert_int_equal(found.edges, expected.edges);
        same_or_nan(found.density, expected.density);
        same_or_nan(found.degree, expected.degree);
        same_or_nan(found.clustering, expected.clustering);
        same_or_nan(found.reciprocity, expected.reciprocity);
        sf_network_measures_free(&measures);
        sf_graph_free(graph);
    }
}

/* Zachary's karate club, of which NetworkX's average_clustering gives 0.5706384782076823. */
static void the_karate_club_is_as_networkx_has_it(void **state)
{
    (void)state;
    sf_graph *graph;
    sf_error error;
    if (sf_graph_open(&graph, SYNFIRE_SOURCE "/tests/data/karate.mtx", NULL, NULL, &error) != SF_OK)
        fail_msg("%s", error.text);
    sf_network_measures measures;
    assert_int_equal(sf_network_measure(&measures, graph, NULL, 0, NULL), SF_OK);
    const sf_network found = measures.network;
    assert_int_equal(found.edges, 78);
    assert_near(found.clustering, 0.5706384782076823);
    assert_near(found.density, 78 / 561.0);
    assert_near(found.degree, 156 / 34.0);
    assert_true(isnan(found.reciprocity));
    sf_network_measures_free(&measures);
    sf_graph_free(graph);
}

static int scenario(void *context)
{
    sf_activity activity;
    sf_activity_options options = SF_ACTIVITY_OPTIONS;
    double chance[SF_MEASURES];
    int status = sf_activity_find(&activity, context, &options, NULL);
    sf_activity_free(&activity);
    return status == SF_OK ? sf_activity_chance(chance, NULL, context, &options, 1, NULL) : status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    sf_recording *recording = make_recording(false);
    test_fail_every_allocation(scenario, recording);
    sf_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_of_options_are_the_rules),
        cmocka_unit_test(measures_are_what_they_say),
        cmocka_unit_test(nothing_is_known_across_a_pause),
        cmocka_unit_test(poisson_trains_are_chance),
        cmocka_unit_test(bursts_are_not_chance),
        cmocka_unit_test(dead_time_is_kept),
        cmocka_unit_test(units_that_burst_alone_are_chance),
        cmocka_unit_test(networks_are_as_the_obvious_way_has_them),
        cmocka_unit_test(the_karate_club_is_as_networkx_has_it),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
