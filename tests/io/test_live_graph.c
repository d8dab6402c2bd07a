/* SPDX-License-Identifier: Apache-2.0 */
/* The connectivity graph of a run and the answers to its queries are those of the same window taken alone. */
#include "support/runs.h"

#include "analysis/links.h"
#include "analysis/sttc.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/message.h"
#include "graph/measure/measure.h"
#include "graph/measure/modules.h"
#include "graph/motif/census.h"
#include "graph/motif/spread.h"
#include "graph/rows.h"
#include "graph/search/bfs.h"
#include "io/graph/pattern.h"
#include "mine/mine.h"
#include "pipeline/connections.h"
#include "pipeline/discovery.h"
#include "pipeline/pairing.h"

#include <math.h>

enum { UNITS = 6, MOST_UNITS = 16, MOST_LINKS = MOST_UNITS * MOST_UNITS * 3 };

/* Counts the window's pairs for it. */
static int pair_up(sf_connections_window *window, sf_pairing *pairs, const sf_delay *delay, size_t unit_count)
{
    const sf_pairing_setup setup = {.unit_count = unit_count,
                                    .delays = delay,
                                    .delay_count = 1,
                                    .most = SF_PAIRING_MOST,
                                    .threads = 1,
                                    .position = window->first};
    int status = sf_pairing_open(pairs, &setup, NULL);
    if (status == SF_OK)
        status = sf_pairing_slide(pairs, window->history, window->first, window->last,
                                  sf_threshold_least(window->threshold), NULL);
    if (status == SF_OK) window->pairs = sf_pairing_found(pairs, &window->pair_count);
    return status;
}

/* ---- the graph that a subscriber holds ---- */

typedef struct held {
    sf_link links[MOST_LINKS];
    size_t count;
} held;

static void apply(held *graph, const sf_graph_message *message)
{
    for (size_t c = 0; c < message->change_count; c++) {
        const sf_edge_change *change = &message->changes[c];
        size_t i = 0;
        while (i < graph->count &&
               (graph->links[i].from != change->from || graph->links[i].to != change->to ||
                graph->links[i].delay.low_ns != change->delay.low_ns))
            i++;
        sf_link link = {.from = change->from,
                        .to = change->to,
                        .delay = change->delay,
                        .count = change->count,
                        .expected = change->expected,
                        .p = change->p,
                        .coefficient = message->is_tiling ? change->weight : 0};
        if (change->removed)
            graph->links[i] = graph->links[--graph->count];
        else
            graph->links[i] = link;
        graph->count += !change->removed && i == graph->count;
        if (!message->is_tiling) test_assert_same(change->weight, (double)change->count - change->expected);
    }
    assert_int_equal(graph->count, message->edges);
}

static void assert_same_graph(const sf_connectivity *found, const sf_connectivity *expected)
{
    assert_int_equal(found->count, expected->count);
    for (size_t i = 0; i < found->count; i++) {
        const sf_link *a = &found->links[i], *b = &expected->links[i];
        assert_int_equal(a->from, b->from);
        assert_int_equal(a->to, b->to);
        assert_int_equal(a->delay.low_ns, b->delay.low_ns);
        assert_int_equal(a->delay.high_ns, b->delay.high_ns);
        assert_int_equal(a->count, b->count);
        test_assert_same(a->p, b->p);
        if (expected->is_tiling)
            test_assert_same(a->coefficient, b->coefficient);
        else
            test_assert_same(a->expected, b->expected);
    }
}

/* ---- the same offline ---- */

/* What `synfire graph` makes of the window with the threshold as it is configured; the message has it as a
 * count. */
static sf_connectivity mine_window(const sf_recording *recording, const sf_spike *spikes, size_t count,
                                   const sf_graph_message *message, const sf_config *config)
{
    sf_delay delays[8];
    sf_mining_options options;
    options = sf_mining_options_default();
    options.delays = delays;
    assert_int_equal(sf_delays_parse(delays, 8, &options.delay_count, config->live.mine.delays_ms, NULL),
                     SF_OK);
    const sf_live_mine *mine = &config->live.mine;
    options.threshold_kind = mine->min_rate_hz > 0    ? SF_THRESHOLD_RATE
                             : mine->min_fraction > 0 ? SF_THRESHOLD_FRACTION
                                                      : SF_THRESHOLD_COUNT;
    options.threshold = mine->min_rate_hz + mine->min_fraction + mine->min_count;
    options.repeats = mine->repeats;
    options.max_size = 2;
    options.threads = 1;
    sf_mine_input input = {.spikes = spikes,
                           .spike_count = count,
                           .units = &recording->units,
                           .duration_ns = message->window.stop_ns - message->window.start_ns};
    sf_mine_result *result;
    assert_int_equal(sf_mine_spikes(&result, &input, &options, NULL, NULL), SF_OK);
    if (options.threshold_kind != SF_THRESHOLD_COUNT && result->threshold < SF_DISCOVERY_LEAST) {
        sf_mine_result_free(result);
        options.threshold_kind = SF_THRESHOLD_COUNT;
        options.threshold = SF_DISCOVERY_LEAST;
        assert_int_equal(sf_mine_spikes(&result, &input, &options, NULL, NULL), SF_OK);
    }
    test_assert_same(message->threshold, result->threshold);
    sf_link links[MOST_LINKS];
    size_t pairs = 0;
    for (size_t i = 0; i < result->count; i++) {
        sf_episode episode;
        sf_mine_result_episode(result, i, &episode);
        if (episode.size == 2)
            links[pairs++] = (sf_link){.from = episode.units[0],
                                       .to = episode.units[1],
                                       .delay = episode.delays[0],
                                       .count = result->items[i].count,
                                       .expected = result->items[i].expected,
                                       .p = NAN};
    }
    sf_mine_result_free(result);
    sf_connectivity graph;
    uint32_t units = (uint32_t)recording->units.count;
    assert_int_equal(sf_connectivity_build(&graph, units, links, pairs, NULL), SF_OK);
    return graph;
}

static void set_rates(sf_connectivity *graph, const sf_spike *spikes, size_t count, sf_span window)
{
    uint64_t unit_spikes[MOST_UNITS] = {0};
    for (size_t i = 0; i < count; i++)
        unit_spikes[spikes[i].unit]++;
    assert_int_equal(sf_connectivity_set_rates(graph, unit_spikes, window.stop_ns - window.start_ns, NULL),
                     SF_OK);
}

static sf_connectivity tile_window(const sf_spike *spikes, size_t count, sf_span window,
                                   const sf_config *config)
{
    sf_unit_trains trains;
    sf_connectivity graph;
    sf_sttc_options options = {.dt_ns = (int64_t)(config->live.graph.dt_ms * 1e6),
                               .recorded = {window.start_ns, window.stop_ns},
                               .surrogates = config->live.graph.surrogates,
                               .percentile = SF_STTC_PERCENTILE,
                               .seed = config->live.graph.seed,
                               .threads = 1};
    assert_int_equal(sf_trains_split(&trains, spikes, count, UNITS, NULL), SF_OK);
    assert_int_equal(sf_sttc_graph(&graph, &trains, &options, NULL), SF_OK);
    sf_trains_free(&trains);
    return graph;
}

static void check_spread(const sf_motif_spread *found, uint64_t count, const sf_spread *expected,
                         const sf_graph_message *message, const sf_config *config)
{
    assert_int_equal(found->graphs, config->live.graph.rewired);
    assert_int_equal(found->window.start_ns, message->window.start_ns);
    assert_int_equal(found->window.stop_ns, message->window.stop_ns);
    assert_int_equal(found->count, count);
    test_assert_same(found->mean, expected->mean);
    test_assert_same(found->sd, expected->sd);
    test_assert_same(found->z, expected->z);
}

static void check_census(const sf_csr *csr, const sf_graph_message *message, const sf_config *config)
{
    uint64_t census[SF_TRIADS];
    double counts[SF_TRIADS];
    sf_spread spreads[SF_TRIADS];
    sf_measure measure = sf_measure_census();
    sf_rewired_options how = {
        .graphs = config->live.graph.rewired, .seed = config->live.graph.seed, .threads = 2};
    assert_int_equal(sf_triad_census(census, csr, 1, NULL, NULL), SF_OK);
    for (int t = 0; t < SF_TRIADS; t++)
        counts[t] = (double)census[t];
    assert_int_equal(sf_spread_find(spreads, counts, csr, &measure, &how, NULL, NULL, NULL), SF_OK);
    assert_int_equal(message->triad_count, SF_TRIADS);
    for (int t = 0; t < SF_TRIADS; t++) {
        assert_string_equal(message->triads[t].name, sf_triads[t].name);
        assert_int_equal(message->triads[t].count, census[t]);
        check_spread(&message->triads[t].spread, census[t], &spreads[t], message, config);
    }
}

static void check_motif(const sf_motif_result *motif, const sf_csr *csr, const sf_graph_message *message,
                        const sf_config *config)
{
    sf_pattern pattern;
    sf_match_index *index;
    sf_match_result result;
    sf_match_options options = {.threads = 1, .keep = 1000};
    assert_int_equal(sf_motif_read(&pattern, motif->pattern, true, NULL), SF_OK);
    assert_int_equal(sf_match_open(&index, csr, NULL), SF_OK);
    assert_int_equal(sf_match_run(index, &pattern, &options, &result, NULL, NULL), SF_OK);
    assert_int_equal(motif->count, result.count);
    assert_false(motif->truncated);
    assert_int_equal(motif->size, pattern.vertex_count);
    assert_int_equal(motif->kept, result.count < 3 ? result.count : 3);
    if (motif->kept > 0)
        assert_memory_equal(motif->embeddings, result.embeddings,
                            motif->kept * motif->size * sizeof *motif->embeddings);

    sf_spread spread;
    const sf_pattern_set set = {&pattern, &options, 1};
    sf_measure measure = sf_measure_patterns(&set);
    sf_rewired_options how = {
        .graphs = config->live.graph.rewired, .seed = config->live.graph.seed, .threads = 2};
    double count = (double)result.count;
    assert_int_equal(sf_spread_find(&spread, &count, csr, &measure, &how, NULL, NULL, NULL), SF_OK);
    check_spread(&motif->spread, motif->count, &spread, message, config);
    sf_match_result_free(&result);
    sf_match_close(index);
    sf_pattern_free(&pattern);
}

static void check_reach(const sf_reach_result *found, const sf_connectivity *graph, const sf_csr *csr,
                        const sf_live_reach *query)
{
    sf_reach_result expected;
    uint32_t source = (uint32_t)(query->from[1] - '1');
    assert_int_equal(sf_connectivity_reach(&expected, graph, csr, source, query->hops, NULL), SF_OK);
    assert_int_equal(found->count, expected.count);
    assert_memory_equal(found->units, expected.units, found->count * sizeof(uint32_t));
    assert_memory_equal(found->parents, expected.parents, found->count * sizeof(uint32_t));
    assert_memory_equal(found->delays, expected.delays, found->count * sizeof(sf_delay));
    sf_reach_result_free(&expected);
}

/* Every second window, from the first on. */
static void check_measures(const sf_graph_message *message, const sf_csr *csr, size_t number)
{
    const sf_measuring how = {.rule = {.linked = true}, .resolution = 1, .seed = 1, .threads = 1};
    sf_network_measures expected;
    uint32_t module[UNITS];
    double modularity;
    sf_net net;
    assert_int_equal(message->measured, number % 2 == 0);
    if (!message->measured) {
        assert_int_equal(message->measure_count, 0);
        return;
    }
    assert_int_equal(sf_network_measures_find(&expected, csr, &how, NULL), SF_OK);
    assert_int_equal(message->measure_count, expected.vertex_count);
    for (size_t i = 0; i < message->measure_count; i++) {
        const sf_unit_measures *found = &message->measures[i];
        assert_int_equal(found->unit, expected.vertices[i].unit);
        assert_int_equal(found->degree, expected.vertices[i].degree);
        assert_true(fabs(found->strength - expected.vertices[i].strength) < 1e-9 * (1 + found->strength));
    }
    assert_int_equal(sf_net_build(&net, csr, &how.rule, NULL), SF_OK);
    assert_int_equal(sf_modules_find(module, &modularity, &net, true, 1, 1, 1, NULL), SF_OK);
    for (size_t i = 0; i < message->measure_count; i++)
        assert_int_equal(message->measures[i].module, module[i]);
    assert_true(expected.vertex_count == 0 ? isnan(message->modularity)
                                           : fabs(message->modularity - modularity) < 1e-9);
    sf_net_free(&net);
    sf_network_measures_free(&expected);
}

static void check_answers(const sf_graph_message *message, const sf_connectivity *graph,
                          const sf_config *config, size_t number)
{
    sf_csr csr;
    assert_int_equal(sf_connectivity_csr(&csr, graph, NULL, NULL), SF_OK);
    assert_int_equal(message->unit_count, UNITS);
    assert_int_equal(message->reach_count, config->live.graph.reach_count);
    for (size_t i = 0; i < message->reach_count; i++)
        check_reach(&message->reach[i], graph, &csr, &config->live.graph.reach[i]);
    for (uint32_t unit = 0; unit < UNITS; unit++) {
        sf_bfs_result search;
        assert_int_equal(sf_bfs(&search, &csr, unit, config->live.graph.reach_all, NULL), SF_OK);
        assert_int_equal(message->reach_all.reached[unit], search.reached);
        assert_int_equal(message->reach_all.depth[unit], search.depth);
        sf_bfs_result_free(&search);
    }
    uint32_t component[UNITS];
    assert_int_equal(message->components.count, sf_components(&csr, component));
    assert_memory_equal(message->components.of_unit, component, sizeof component);
    assert_int_equal(message->motif_count, config->live.graph.pattern_count);
    for (size_t i = 0; i < message->motif_count; i++)
        check_motif(&message->motifs[i], &csr, message, config);
    check_census(&csr, message, config);
    check_measures(message, &csr, number);
    sf_csr_free(&csr);
}

/* Returns how many edges were compared. */
static size_t check_run(const char *yaml, const sf_recording *recording, bool asks)
{
    uint32_t units = (uint32_t)recording->units.count;
    sf_config config = test_config(yaml);
    test_collector *all = test_collector_new();
    test_run_to_end(&config, recording, 0, all);
    held now = {.count = 0};
    size_t edges = 0, windows = 0, graphs = 0;
    for (size_t i = 0; i < all->count; i++) {
        windows += all->messages[i]->topic == SF_TOPIC_EPISODES;
        if (all->messages[i]->topic != SF_TOPIC_GRAPH) continue;
        const sf_graph_message *message = &all->messages[i]->graph;
        apply(&now, message);
        sf_connectivity held_graph, alone;
        assert_int_equal(sf_connectivity_build(&held_graph, units, now.links, now.count, NULL), SF_OK);
        size_t first =
            sf_spikes_lower_bound(recording->spikes, recording->spike_count, message->window.start_ns);
        size_t last =
            sf_spikes_lower_bound(recording->spikes, recording->spike_count, message->window.stop_ns);
        held_graph.is_tiling = message->is_tiling;
        set_rates(&held_graph, recording->spikes + first, last - first, message->window);
        if (message->is_tiling)
            alone = tile_window(recording->spikes + first, last - first, message->window, &config);
        else
            alone = mine_window(recording, recording->spikes + first, last - first, message, &config);
        assert_same_graph(&held_graph, &alone);
        if (asks) check_answers(message, &held_graph, &config, graphs);
        edges += now.count;
        graphs++;
        sf_connectivity_free(&held_graph);
        sf_connectivity_free(&alone);
    }
    assert_int_equal(graphs, windows);
    test_collector_free(all);
    sf_config_free(&config);
    return edges;
}

#define QUERIES                                                                                              \
    "reach: [{from: e1, hops: 1}, {from: e3, hops: 4}], reach_all: 2, components: true, rewired: 7, "        \
    "census: true, measures: 2, "                                                                            \
    "patterns: [{pattern: chain-3, limit: 3}, {pattern: reciprocal-pair, limit: 3}, "                        \
    "{pattern: 030T, limit: 3}, {pattern: 'A -> B [weight > 1]; C -> B; A.rate > C.rate', limit: 3}]"

static void every_snapshot_is_that_of_its_window_alone(void **state)
{
    (void)state;
    test_random random = test_random_start("live graph", 31);
    size_t edges[2] = {0};
    for (int round = 0; round < 6; round++) {
        sf_recording recording = test_random_recording(&random, 400 + test_random_below(&random, 500), UNITS,
                                                       INT64_C(4000000000), round % 2 ? 1000000 : 1);
        edges[0] += check_run("window: {length_s: 1, hop_s: 0.5}\n"
                              "mine: {every: 1, delays_ms: '0:15,15:40', min_count: 5, max_size: 2, "
                              "track_most: 3}\n"
                              "graph: {" QUERIES "}\n",
                              &recording, true);
        edges[1] += check_run("window: {length_s: 2, hop_s: 1}\nmine: {every: 0}\n"
                              "graph: {metric: sttc, dt_ms: 20, surrogates: 20, seed: 3, " QUERIES "}\n",
                              &recording, true);
        sf_recording_clear(&recording);
    }
    printf("%zu and %zu edges compared\n", edges[0], edges[1]);
    assert_true(edges[0] > 500 && edges[1] > 10);
}

static test_collector *run_measures(const char *asked, const sf_recording *recording)
{
    char yaml[256];
    snprintf(yaml, sizeof yaml,
             "window: {length_s: 1, hop_s: 0.5}\nmine: {every: 1, delays_ms: '0:15,15:40', min_count: 5, "
             "max_size: 2}\ngraph: {%s}\n",
             asked);
    sf_config config = test_config(yaml);
    test_collector *all = test_collector_new();
    test_run_to_end(&config, recording, 0, all);
    sf_config_free(&config);
    return all;
}

/* Whatever else is asked of the graph, measures are those of its weights; where nothing is, none is told. */
static void measures_do_not_depend_on_what_else_is_asked(void **state)
{
    (void)state;
    test_random random = test_random_start("measures alone", 53);
    sf_recording recording = test_random_recording(&random, 800, UNITS, INT64_C(4000000000), 1);
    test_collector *alone = run_measures("measures: 1", &recording),
                   *beside =
                       run_measures("measures: 1, components: true, patterns: [{pattern: 'A -> B [weight > "
                                    "1]', limit: 1}]",
                                    &recording),
                   *none = run_measures("measures: 0", &recording);
    size_t measured = 0;
    bool unlike = false; /* where weights are not those of edges alike */
    assert_int_equal(alone->count, beside->count);
    for (size_t i = 0; i < alone->count; i++) {
        if (alone->messages[i]->topic != SF_TOPIC_GRAPH) continue;
        const sf_graph_message *a = &alone->messages[i]->graph, *b = &beside->messages[i]->graph;
        assert_true(a->measured && b->measured);
        assert_int_equal(a->measure_count, b->measure_count);
        for (size_t u = 0; u < a->measure_count; u++) {
            const sf_unit_measures *one = &a->measures[u], *other = &b->measures[u];
            assert_true(one->unit == other->unit && one->degree == other->degree &&
                        one->strength == other->strength && one->module == other->module);
            unlike = unlike || one->strength != (double)one->degree;
        }
        assert_true(a->modularity == b->modularity || (isnan(a->modularity) && isnan(b->modularity)));
        measured += a->measure_count;
    }
    assert_true(measured > 20 && unlike);
    for (size_t i = 0; i < none->count; i++)
        if (none->messages[i]->topic == SF_TOPIC_GRAPH)
            assert_true(!none->messages[i]->graph.measured && isnan(none->messages[i]->graph.modularity));
    test_collector_free(alone);
    test_collector_free(beside);
    test_collector_free(none);
    sf_recording_clear(&recording);
}

/* Spikes in bursts with long silences between them; the clock may be coarse, so that many are at one instant,
 * and a unit may spike twice in it. */
static sf_recording burst_recording(test_random *random, size_t units)
{
    sf_recording recording =
        test_random_recording(random, 300 + test_random_below(random, 1500), units, INT64_C(6000000000), 1);
    int64_t tick_ns = test_random_below(random, 2) == 0 ? 4000000 : 1000;
    for (size_t i = 0; i < recording.spike_count; i++) {
        int64_t into_ns = (recording.spikes[i].time_ns - recording.recorded.start_ns) % 500000000;
        recording.spikes[i].time_ns -= into_ns - into_ns / (1 + (int64_t)i % 5) / tick_ns * tick_ns;
    }
    assert_int_equal(sf_spikes_sort(recording.spikes, recording.spike_count, NULL), SF_OK);
    recording.recorded =
        (sf_span){recording.spikes[0].time_ns, recording.spikes[recording.spike_count - 1].time_ns + 1};
    return recording;
}

/* Whatever is mined, how seldom, and however little of it is tracked: also with windows not yet full, hops
 * without a spike and hops shorter than the delays. */
static void the_graph_is_complete_between_discoveries(void **state)
{
    (void)state;
    test_random random = test_random_start("live graph between discoveries", 34);
    static const char *const thresholds[] = {"min_count: 2", "min_count: 4.5", "min_rate_hz: 3",
                                             "min_fraction: 0.02"};
    static const char *const delays[] = {"0:15", "0.5:5,5:40", "0:1,3:9,20:60", "25:26"};
    size_t edges = 0, of_delays[4] = {0}, of_threshold[4] = {0};
    for (int round = 0; round < 48; round++) {
        sf_recording recording = burst_recording(&random, 1 + test_random_below(&random, MOST_UNITS));
        unsigned hop_ms = 10 + (unsigned)test_random_below(&random, 400);
        char yaml[512];
        snprintf(yaml, sizeof yaml,
                 "window: {length_s: %g, hop_s: %g}\n"
                 "mine: {every: %d, delays_ms: '%s', %s, max_size: %d, track_most: %d, self: %s}\n"
                 "track: ['#0 -(0,7]-> #0 -(0,9]-> #0']\n",
                 (double)(hop_ms * (1 + 60 / hop_ms + (unsigned)test_random_below(&random, 9))) / 1e3,
                 (double)hop_ms / 1e3, round % 5 == 4 ? 0 : 5, delays[round % 4], thresholds[round / 4 % 4],
                 2 + round % 2, 1 + (int)test_random_below(&random, 3), round % 3 ? "true" : "false");
        size_t compared = check_run(yaml, &recording, false);
        of_delays[round % 4] += compared;
        of_threshold[round / 4 % 4] += compared;
        edges += compared;
        sf_recording_clear(&recording);
    }
    printf("%zu edges compared\n", edges);
    for (int i = 0; i < 4; i++)
        assert_true(of_delays[i] > 100 && of_threshold[i] > 100);
    assert_true(edges > 20000);
}

/* ---- in real time: comparisons and tilings are made in the background ---- */

static sf_config live_config(bool is_tiling)
{
    char yaml[1024];
    snprintf(yaml, sizeof yaml,
             "window: {length_s: 1, hop_s: 0.5}\nmine: {every: 1, delays_ms: '0:15', min_count: 4}\n"
             "graph: {%srewired: 20, patterns: [{pattern: chain-3}]}\n",
             is_tiling ? "metric: sttc, dt_ms: 20, surrogates: 20, " : "");
    return test_config(yaml);
}

/* However late an answer is, it is that of a window that was: it ends on a hop, and not after this one. */
static void assert_was_a_window(sf_span window, int64_t first_stop_ns, int64_t newest_stop_ns)
{
    assert_true(window.stop_ns >= first_stop_ns && window.stop_ns <= newest_stop_ns);
    assert_int_equal((window.stop_ns - first_stop_ns) % 500000000, 0);
}

/* Shows the window again and again until it is answered; until then answers are those of windows before. */
static void show_until_answered(sf_connections *connections, const sf_connections_window *window,
                                bool is_tiling, int64_t first_stop_ns)
{
    for (bool answered = false; !answered;) {
        sf_message *message;
        assert_int_equal(sf_connections_update(connections, window, &message, NULL), SF_OK);
        if (message != NULL) {
            const sf_graph_message *graph = &message->graph;
            const sf_motif_spread *spread = &graph->motifs[0].spread;
            assert_int_equal(graph->is_tiling, is_tiling);
            assert_was_a_window(graph->window, first_stop_ns, window->span.stop_ns);
            if (spread->graphs > 0) {
                assert_int_equal(spread->graphs, 20);
                assert_was_a_window(spread->window, first_stop_ns, graph->window.stop_ns);
                answered = spread->window.stop_ns == window->span.stop_ns;
            }
        }
        sf_message_release(message);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 1000000);
    }
}

static void in_real_time_every_window_that_stays_is_answered(void **state)
{
    (void)state;
    test_random random = test_random_start("live graph in time", 32);
    sf_recording recording = test_random_recording(&random, 1000, UNITS, INT64_C(4000000000), 1000);
    const sf_delay delay = {0, 15000000};
    static const uint64_t unit_spikes[UNITS] = {40, 41, 42, 43, 44, 45};
    sf_history history = {0};
    assert_int_equal(sf_history_append(&history, recording.spikes, recording.spike_count, NULL), SF_OK);
    for (int m = 0; m < 2; m++) {
        sf_config config = live_config(m == 1);
        sf_connections connections;
        assert_int_equal(
            sf_connections_open(&connections, &config.live, &recording.units, &delay, NULL, false, NULL),
            SF_OK);
        int64_t start_ns = recording.recorded.start_ns;
        for (int hop = 0; hop < 5; hop++) {
            sf_span span = {start_ns + hop * 500000000LL, start_ns + (hop + 2) * 500000000LL};
            sf_connections_window window = {.span = span,
                                            .history = &history,
                                            .first = sf_history_find(&history, span.start_ns),
                                            .last = sf_history_find(&history, span.stop_ns),
                                            .unit_spikes = unit_spikes,
                                            .threshold = 4};
            sf_pairing pairs;
            assert_int_equal(pair_up(&window, &pairs, &delay, UNITS), SF_OK);
            show_until_answered(&connections, &window, m == 1, start_ns + 1000000000);
            sf_pairing_close(&pairs);
        }
        sf_connections_close(&connections);
        sf_config_free(&config);
    }
    sf_history_free(&history);
    sf_recording_clear(&recording);
}

/* How many answers a run has depends on how busy the machine is; what they name does not. */
static void in_real_time_answers_name_their_window(void **state)
{
    (void)state;
    test_random random = test_random_start("live graph run in time", 33);
    sf_recording recording = test_random_recording(&random, 3000, UNITS, INT64_C(12000000000), 1000);
    for (int m = 0; m < 2; m++) {
        sf_config config = live_config(m == 1);
        test_collector *all = test_collector_new();
        test_run_to_end(&config, &recording, 20, all);
        size_t windows = 0, graphs = 0;
        for (size_t i = 0; i < all->count; i++) {
            windows += all->messages[i]->topic == SF_TOPIC_EPISODES;
            if (all->messages[i]->topic != SF_TOPIC_GRAPH) continue;
            const sf_graph_message *message = &all->messages[i]->graph;
            const sf_motif_spread *spread = &message->motifs[0].spread;
            assert_int_equal(message->is_tiling, m);
            assert_int_equal(all->messages[i]->time_ns, message->window.stop_ns);
            assert_true(spread->graphs == 0 || spread->graphs == 20);
            assert_true(spread->graphs == 0 || spread->window.stop_ns <= message->window.stop_ns);
            graphs++;
        }
        assert_true(m == 1 ? graphs <= windows : graphs == windows);
        test_collector_free(all);
        sf_config_free(&config);
    }
    sf_recording_clear(&recording);
}

/* The configuration of a run reads files; a program reads what it links for. */
static void a_pattern_may_lie_in_a_file(void **state)
{
    (void)state;
    char *path = test_temporary_path(".motif"), text[512];
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "A -> B\nB -> C [count >= 2]\n");
    fclose(file);
    snprintf(text, sizeof text, "graph: {patterns: [{pattern: '%s'}]}\n", path);
    sf_config config = test_config(text);
    sf_error error;
    assert_int_equal(sf_run_check(&(sf_run_options){.config = &config}, &error), SF_OK);
    config.live.motif_new = NULL;
    test_assert_fails(sf_run_check(&(sf_run_options){.config = &config}, &error), &error, SF_CONFIG,
                      "is no pattern");
    sf_config_free(&config);
    config = test_config("graph: {patterns: [{pattern: chain-3}, {pattern: 'A -> B; B -> A'}]}\n");
    config.live.motif_new = NULL;
    assert_int_equal(sf_run_check(&(sf_run_options){.config = &config}, &error), SF_OK);
    sf_config_free(&config);
    remove(path);
    free(path);
}

static void queries_that_cannot_be_are_refused_with_their_place(void **state)
{
    (void)state;
    test_random random = test_random_start("live graph words", 11);
    sf_recording recording = test_random_recording(&random, 100, 2, INT64_C(1000000000), 1000);
    static const char *const bad[][3] = {
        {"graph: {patterns: [{pattern: chain-2}, {pattern: 'A ->'}]}\n",
         "test.yaml:1:50: graph.patterns.1.pattern", "pattern:1:5: found the end"},
        {"graph: {patterns: [{pattern: 'A -> B [colour = 1]'}]}\n",
         "test.yaml:1:30: graph.patterns.0.pattern", "colour"},
        {"graph: {patterns: [{pattern: 'A -> B [p < 0.05]'}]}\n", "test.yaml:1:30: graph.patterns.0.pattern",
         "no attribute 'p'"}, /* live runs draw no surrogates */
        {"graph: {metric: sttc, patterns: [{pattern: 'A -> B [count = 1]'}]}\n",
         "test.yaml:1:44: graph.patterns.0.pattern", "count"},
        {"graph: {patterns: [{pattern: nowhere.graph}]}\n", "test.yaml:1:30: graph.patterns.0.pattern",
         "nowhere.graph: there is no such file"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        test_pipeline_refuses(bad[i][0], &recording, SF_CONFIG, bad[i][1], bad[i][2]);
        sf_config config = test_config(bad[i][0]);
        sf_error error;
        test_assert_fails(sf_run_check(&(sf_run_options){.config = &config}, &error), &error, SF_CONFIG,
                          bad[i][2]);
        assert_string_equal(error.place, bad[i][1]);
        sf_config_free(&config);
    }
    sf_recording_clear(&recording);
}

/* Every unit spikes twice: all ordered pairs follow each other once. Where the threshold falls to 1 there is
 * no graph, and the one before stays what is held. */
static void a_window_with_too_many_edges_has_no_graph(void **state)
{
    (void)state;
    enum { MANY = 600 };
    test_random random = test_random_start("live graph of many edges", 35);
    sf_recording recording = test_random_recording(&random, 1, MANY, INT64_C(1000000000), 1000);
    sf_config config = test_config("");
    const sf_delay delay = {0, 50000000};
    uint64_t unit_spikes[MANY];
    sf_spike spikes[2 * MANY];
    sf_history history = {0};
    sf_connections connections;
    for (uint32_t i = 0; i < 2 * MANY; i++) {
        spikes[i] = (sf_spike){.time_ns = i * INT64_C(1000), .unit = i % MANY};
        unit_spikes[i % MANY] = 2;
    }
    assert_int_equal(sf_history_append(&history, spikes, 2 * MANY, NULL), SF_OK);
    assert_int_equal(
        sf_connections_open(&connections, &config.live, &recording.units, &delay, NULL, true, NULL), SF_OK);
    for (int hop = 0; hop < 3; hop++) {
        sf_connections_window window = {.span = {0, 1000000000},
                                        .history = &history,
                                        .last = 2 * MANY,
                                        .unit_spikes = unit_spikes,
                                        .threshold = hop == 1 ? 1 : 2};
        sf_message *message;
        sf_pairing pairs;
        assert_int_equal(pair_up(&window, &pairs, &delay, MANY), SF_OK);
        assert_int_equal(sf_connections_update(&connections, &window, &message, NULL), SF_OK);
        assert_true((message == NULL) == (hop == 1));
        assert_int_equal(connections.snapshot.count, MANY * (MANY - 1) / 2);
        assert_true(message == NULL || message->graph.change_count == (hop == 0 ? MANY * (MANY - 1) / 2 : 0));
        sf_message_release(message);
        sf_pairing_close(&pairs);
    }
    sf_connections_close(&connections);
    sf_config_free(&config);
    sf_history_free(&history);
    sf_recording_clear(&recording);
}

/* ---- time that was not recorded ---- */

/* Edges of the message's tiling graph are those of the recorded spans, which the test has cut out by hand. */
static void check_spans(const sf_message *message, const sf_spike *spikes, size_t count, size_t units,
                        const sf_span *recorded, size_t span_count, const sf_config *config)
{
    uint64_t unit_spikes[MOST_UNITS] = {0};
    const sf_stretch stretch = {
        .spikes = spikes, .spike_count = count, .unit_spikes = unit_spikes, .unit_count = units};
    const sf_sttc_options options = {
        .dt_ns = (int64_t)(config->live.graph.dt_ms * 1e6),
        .recorded = {message->graph.window.start_ns, message->graph.window.stop_ns},
        .observed = recorded,
        .observed_count = span_count,
        .surrogates = config->live.graph.surrogates,
        .percentile = SF_STTC_PERCENTILE,
        .seed = config->live.graph.seed,
        .threads = 1};
    sf_connectivity graph;
    assert_int_equal(sf_links_of_tiling(&graph, &stretch, &options, NULL), SF_OK);
    assert_int_equal(message->graph.pairs_tested, graph.pairs);
    assert_int_equal(message->graph.edges, graph.count);
    assert_int_equal(message->graph.change_count, graph.count);
    assert_true(graph.count > 0);
    for (size_t i = 0; i < graph.count; i++) {
        test_assert_same(message->graph.changes[i].weight, graph.links[i].coefficient);
        test_assert_same(message->graph.changes[i].p, graph.links[i].p);
        test_assert_same(message->graph.changes[i].q, graph.links[i].q);
    }
    sf_connectivity_free(&graph);
}

/* Pauses of one source and of another, what was blanked in any order, and a cut where two spans meet. */
static void tiling_leaves_out_what_was_not_recorded(void **state)
{
    (void)state;
    enum { TILED = 6, COUNT = 600 };
    const int64_t ms = SF_MILLISECOND;
    const sf_span first[] = {{-500 * ms, 300 * ms}, {300 * ms, 700 * ms}, {750 * ms, 5000 * ms}};
    const sf_span second[] = {{100 * ms, 1000 * ms}};
    const sf_observed observed[] = {{.unit_count = 3, .spans = first, .count = 3},
                                    {.first_unit = 3, .unit_count = 3, .spans = second, .count = 1}};
    const sf_span blanked[] = {
        {800 * ms, 850 * ms}, {-20 * ms, -10 * ms}, {400 * ms, 430 * ms}, {420 * ms, 450 * ms}};
    const sf_span recorded[] = {{100 * ms, 300 * ms},
                                {300 * ms, 400 * ms},
                                {450 * ms, 700 * ms},
                                {750 * ms, 800 * ms},
                                {850 * ms, 1000 * ms}};
    test_random random = test_random_start("live tiling in spans", 36);
    sf_recording recording = test_random_recording(&random, 1, TILED, 1000 * ms, 1000);
    sf_config config = test_config("graph: {metric: sttc, dt_ms: 3, surrogates: 19, seed: 5}\n");
    const sf_delay delay = {0, 3 * ms};
    uint64_t unit_spikes[TILED] = {0};
    sf_spike spikes[COUNT];
    sf_history history = {0};
    sf_connections connections;
    sf_message *message;
    for (size_t i = 0; i < COUNT; i++) { /* half of them together with the one before */
        spikes[i] = (sf_spike){.time_ns = i % 2 == 0 ? (int64_t)test_random_below(&random, 1000000000)
                                                     : spikes[i - 1].time_ns,
                               .unit = (uint32_t)test_random_below(&random, TILED)};
        unit_spikes[spikes[i].unit]++;
    }
    assert_int_equal(sf_spikes_sort(spikes, COUNT, NULL), SF_OK);
    assert_int_equal(sf_history_append(&history, spikes, COUNT, NULL), SF_OK);
    assert_int_equal(
        sf_connections_open(&connections, &config.live, &recording.units, &delay, NULL, true, NULL), SF_OK);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(sf_connections_blank(&connections, blanked[i], NULL), SF_OK);
    sf_connections_window window = {.span = {0, 1000 * ms},
                                    .history = &history,
                                    .last = COUNT,
                                    .unit_spikes = unit_spikes,
                                    .observed = observed,
                                    .observed_count = 2};
    assert_int_equal(sf_connections_update(&connections, &window, &message, NULL), SF_OK);
    check_spans(message, spikes, COUNT, TILED, recorded, 5, &config);
    sf_message_release(message);
    /* A window in which nothing was recorded has no graph. */
    assert_int_equal(sf_connections_blank(&connections, (sf_span){-10 * ms, 1000 * ms}, NULL), SF_OK);
    assert_int_equal(sf_connections_update(&connections, &window, &message, NULL), SF_OK);
    assert_null(message);
    sf_connections_close(&connections);
    sf_config_free(&config);
    sf_history_free(&history);
    sf_recording_clear(&recording);
}

/* ---- beside the hops ---- */

/* A window of more spikes than a hop copies is tiled as it was, while the history lets go of it. */
static void a_window_is_tiled_as_it_was_while_windows_move_on(void **state)
{
    (void)state;
    enum { TILED = 4, PER_HOP = 100000, IN_WINDOW = 4 * PER_HOP, COUNT = 12 * PER_HOP };
    const int64_t hop_ns = 5000000000, step_ns = hop_ns / PER_HOP;
    test_random random = test_random_start("tiled in parts", 71);
    sf_config config = test_config("graph: {metric: sttc, dt_ms: 0.3, surrogates: 19}\n");
    sf_recording recording = test_random_recording(&random, 10, TILED, INT64_C(1000000000), 1);
    sf_spike *spikes = sf_alloc(COUNT, sizeof *spikes);
    uint64_t unit_spikes[TILED] = {0};
    const sf_span first = {0, 4 * hop_ns};
    sf_history history = {0};
    sf_connections connections;
    assert_non_null(spikes);
    for (size_t i = 0; i < COUNT; i++) { /* of the first unit half are followed by one of the second */
        uint32_t unit = (uint32_t)test_random_below(&random, TILED);
        bool follows = i > 0 && spikes[i - 1].unit == 0 && test_random_below(&random, 2) == 0;
        spikes[i] = (sf_spike){.time_ns = (int64_t)i * step_ns, .unit = follows ? 1 : unit};
    }
    for (size_t i = 0; i < IN_WINDOW; i++)
        unit_spikes[spikes[i].unit]++;
    assert_int_equal(
        sf_connections_open(&connections, &config.live, &recording.units, NULL, NULL, false, NULL), SF_OK);
    assert_int_equal(sf_history_append(&history, spikes, IN_WINDOW, NULL), SF_OK);
    int told_after = -1;
    for (int hop = 0; hop <= 8 && told_after < 0; hop++) {
        sf_connections_window window = {.span = {hop * hop_ns, (hop + 4) * hop_ns},
                                        .history = &history,
                                        .first = (uint64_t)hop * PER_HOP,
                                        .last = (uint64_t)hop * PER_HOP + IN_WINDOW,
                                        .unit_spikes = unit_spikes};
        sf_message *message;
        assert_int_equal(sf_connections_update(&connections, &window, &message, NULL), SF_OK);
        sf_background_wait(&connections.tiling);
        if (message != NULL) {
            assert_true(message->graph.window.start_ns == 0 && message->graph.window.stop_ns == 4 * hop_ns);
            check_spans(message, spikes, IN_WINDOW, TILED, &first, 1, &config);
            told_after = hop;
        }
        sf_message_release(message);
        sf_history_drop_before(&history, window.first);
        if (hop < 8)
            assert_int_equal(sf_history_append(&history, spikes + window.last, PER_HOP, NULL), SF_OK);
    }
    assert_int_equal(told_after, 5); /* what the history lets go of goes first; it is told in the hop after */
    sf_connections_close(&connections);
    sf_history_free(&history);
    sf_free(spikes);
    sf_config_free(&config);
    sf_recording_clear(&recording);
}

static void answer(sf_queries *queries, const sf_connectivity *graph, int64_t second, sf_message **message)
{
    int64_t parts_ns[SF_PARTS] = {0};
    *message = sf_message_new(SF_TOPIC_GRAPH);
    assert_non_null(*message);
    (*message)->graph.window = (sf_span){second * 1000000000, (second + 10) * 1000000000};
    assert_int_equal(sf_queries_answer(queries, graph, &(*message)->graph, parts_ns, NULL), SF_OK);
}

/* Measures are told with the next graph, and say of which window they are; no hop waits for them. */
static void measures_made_beside_the_hops_name_their_window(void **state)
{
    (void)state;
    test_random random = test_random_start("measures beside", 72);
    sf_config config = test_config("graph: {measures: 2}\n");
    sf_recording recording = test_random_recording(&random, 10, MOST_UNITS, INT64_C(1000000000), 1);
    sf_link links[MOST_UNITS - 1];
    for (uint32_t i = 0; i < MOST_UNITS - 1; i++)
        links[i] = (sf_link){.from = i,
                             .to = (uint32_t)test_random_below(&random, i + 1) == i ? i + 1 : 0,
                             .count = 10 + test_random_below(&random, 50),
                             .expected = 5};
    const sf_connectivity graph = {.unit_count = MOST_UNITS, .links = links, .count = MOST_UNITS - 1},
                          none = {.unit_count = MOST_UNITS};
    sf_queries beside, inside;
    sf_message *told, *expected;
    assert_int_equal(sf_queries_open(&beside, &config.live, &recording.units, NULL, false, NULL), SF_OK);
    assert_int_equal(sf_queries_open(&inside, &config.live, &recording.units, NULL, true, NULL), SF_OK);
    answer(&inside, &graph, 3, &expected);
    assert_true(expected->graph.measured && expected->graph.measured_in.start_ns == 3000000000);
    answer(&beside, &graph, 3, &told);
    sf_background_wait(&beside.measuring);
    if (!told->graph.measured) { /* as quick as that it may be */
        sf_message_release(told);
        answer(&beside, &none, 4, &told);
    }
    assert_true(told->graph.measured && told->graph.measured_in.start_ns == 3000000000);
    assert_int_equal(told->graph.measure_count, expected->graph.measure_count);
    assert_memory_equal(told->graph.measures, expected->graph.measures,
                        told->graph.measure_count * sizeof *told->graph.measures);
    test_assert_same(told->graph.modularity, expected->graph.modularity);
    sf_message_release(told);
    sf_message_release(expected);
    answer(&beside, &graph, 5, &told); /* the second of two: nothing new */
    sf_background_wait(&beside.measuring);
    sf_message_release(told);
    sf_queries_close(&beside);
    sf_queries_close(&inside);
    sf_config_free(&config);
    sf_recording_clear(&recording);
}

/* ---- memory ---- */

typedef struct scene {
    sf_config config;
    sf_units units;
    const sf_spike *spikes;
    size_t count;
} scene;

static int update_once(void *context)
{
    scene *s = context;
    sf_connections connections;
    sf_message *message = NULL;
    static const uint64_t unit_spikes[] = {1, 2, 3};
    const sf_delay delay = {0, 50000000};
    sf_history history = {0};
    sf_pairing pairs = {0};
    sf_connections_window window = {.span = {0, 1000000000},
                                    .history = &history,
                                    .last = s->count,
                                    .unit_spikes = unit_spikes,
                                    .threshold = 1};
    int status = sf_history_append(&history, s->spikes, s->count, NULL);
    if (status != SF_OK) return status;
    status = sf_connections_open(&connections, &s->config.live, &s->units, &delay, NULL, true, NULL);
    if (status == SF_OK) status = pair_up(&window, &pairs, &delay, s->units.count);
    if (status == SF_OK) status = sf_connections_update(&connections, &window, &message, NULL);
    sf_message_release(message);
    sf_connections_close(&connections);
    sf_pairing_close(&pairs);
    sf_history_free(&history);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    test_random random = test_random_start("live graph allocations", 12);
    sf_recording recording = test_random_recording(&random, 40, 3, INT64_C(900000000), 1000);
    for (size_t i = 0; i < recording.spike_count; i++)
        recording.spikes[i].time_ns %= 1000000000;
    assert_int_equal(sf_spikes_sort(recording.spikes, recording.spike_count, NULL), SF_OK);
    static const char *const metrics[] = {"", "metric: sttc, surrogates: 3, "};
    for (int m = 0; m < 2; m++) {
        char yaml[512];
        snprintf(yaml, sizeof yaml,
                 "mine: {threads: 1}\ngraph: {%sreach: [{from: e1}], reach_all: 2, components: true, census: "
                 "true, "
                 "patterns: [{pattern: 'A -> B; A.rate < B.rate'}], rewired: 2, measures: 1}\n",
                 metrics[m]);
        scene s = {.config = test_config(yaml),
                   .units = recording.units,
                   .spikes = recording.spikes,
                   .count = recording.spike_count};
        test_fail_every_allocation(update_once, &s);
        sf_config_free(&s.config);
    }
    sf_recording_clear(&recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_snapshot_is_that_of_its_window_alone),
        cmocka_unit_test(measures_do_not_depend_on_what_else_is_asked),
        cmocka_unit_test(a_window_is_tiled_as_it_was_while_windows_move_on),
        cmocka_unit_test(measures_made_beside_the_hops_name_their_window),
        cmocka_unit_test(the_graph_is_complete_between_discoveries),
        cmocka_unit_test(in_real_time_every_window_that_stays_is_answered),
        cmocka_unit_test(in_real_time_answers_name_their_window),
        cmocka_unit_test(a_pattern_may_lie_in_a_file),
        cmocka_unit_test(queries_that_cannot_be_are_refused_with_their_place),
        cmocka_unit_test(a_window_with_too_many_edges_has_no_graph),
        cmocka_unit_test(tiling_leaves_out_what_was_not_recorded),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
