/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matching on devices: with a plugin that needs none, what it is asked and what happens where it fails; and
 * on every device that is there, the same counts and embeddings as on the CPU and in the oracle.
 */
#include "core/backend/find.h"
#include "core/backend/match.h"
#include "core/clock.h"
#include "graph/match/candidates.h"
#include "graph/match/device.h"
#include "graph/match/made_space.h"
#include "graph/match/terms.h"
#include "oracle/match_cases.h"
#include "oracle/match_oracle.h"
#include "support/plugin_work.h"

static sf_match_result run(sf_match_index *index, const sf_pattern *pattern, const sf_match_options *options)
{
    sf_match_result result;
    sf_error error;
    if (sf_match_run(index, pattern, options, &result, NULL, &error) != SF_OK)
        fail_msg("on %s: %s", options->device, error.text);
    return result;
}

/* A device says what it does not do; nothing else may send a job back to the CPU. */
static bool was_done_there(const sf_match_result *result)
{
    if (result->ran.note[0] == '\0') return true;
    if (strstr(result->ran.note, "compares attributes of vertices that no edge joins") == NULL)
        fail_msg("refused: %s", result->ran.note);
    return false;
}

/* Both list the same embeddings in the same order, all of them or the first. */
/* Returns whether the device has listed them. */
static bool compare_lists(sf_match_index *index, const sf_pattern *pattern, sf_match_options options,
                          size_t keep)
{
    options.keep = keep;
    sf_match_result found = run(index, pattern, &options);
    bool there = strcmp(found.ran.device, options.device) == 0;
    options.device = "cpu";
    sf_match_result expected = run(index, pattern, &options);
    assert_int_equal(found.count, expected.count);
    assert_int_equal(found.truncated, expected.truncated);
    assert_int_equal(found.kept, expected.kept);
    assert_memory_equal(found.embeddings, expected.embeddings,
                        found.kept * pattern->vertex_count * sizeof *found.embeddings);
    sf_match_result_free(&found);
    sf_match_result_free(&expected);
    return there;
}

static void check_limit(sf_match_index *index, const sf_pattern *pattern, sf_match_options options,
                        uint64_t count)
{
    options.limit = count - 1;
    sf_match_result result = run(index, pattern, &options);
    assert_int_equal(result.count, count - 1);
    assert_true(result.truncated);
    sf_match_result_free(&result);
    options.limit = count;
    result = run(index, pattern, &options);
    assert_int_equal(result.count, count);
    assert_false(result.truncated);
    sf_match_result_free(&result);
}

/* Returns whether the device did it. */
static bool check_case(sf_match_index *index, const sf_csr *data, const sf_pattern *pattern,
                       sf_semantics semantics, const char *device)
{
    sf_match_options options = {.semantics = semantics, .device = device, .threads = 1};
    uint64_t expected = match_oracle(data, pattern, semantics);
    sf_match_result result = run(index, pattern, &options);
    if (result.count != expected)
        fail_msg("%s found %llu embeddings, expected %llu (semantics %d, %u vertices)", device,
                 (unsigned long long)result.count, (unsigned long long)expected, semantics,
                 pattern->vertex_count);
    assert_false(result.truncated);
    bool done = was_done_there(&result);
    if (done && result.candidates[0] > 0 && result.blacklisted < data->vertex_count)
        assert_string_equal(result.ran.device, device);
    sf_match_result_free(&result);
    compare_lists(index, pattern, options, 1 + expected / 2);
    compare_lists(index, pattern, options, expected + 3);
    if (semantics != SF_HOMOMORPHISM && pattern->exchange_count == 0) {
        options.distinct = true;
        compare_lists(index, pattern, options, expected + 3);
        options.distinct = false;
    }
    if (expected > 1) check_limit(index, pattern, options, expected);
    return done;
}

/* What the engine gvsm did on devices over a whole test. */
static struct {
    uint64_t implied, pieces, stayed, twigs, kernels;
} done_by;

enum { ALL_TECHNIQUES = 2 * SF_GVSM_PAIRS - 1 };

/* Attributes of edges, or of two vertices: layers of what compares them go back and forth. */
static bool compares_pairs(const sf_pattern *pattern)
{
    bool any = pattern->relation_count > 0;
    for (size_t e = 0; e < pattern->edge_count; e++)
        any |= pattern->edges[e].term_count > 0 && pattern->edges[e].from != pattern->edges[e].to;
    return any;
}

/* The engine gvsm, whose layers the device expands. Returns whether the device did. */
static bool check_twigs(sf_match_index *index, const sf_csr *data, const sf_pattern *pattern,
                        sf_semantics semantics, const char *device, sf_match_options options)
{
    unsigned without = options.without;
    options.engine = "gvsm";
    options.semantics = semantics;
    options.device = device;
    options.threads = 2;
    sf_match_result result = run(index, pattern, &options);
    uint64_t expected = match_oracle(data, pattern, semantics);
    if (result.count != expected)
        fail_msg("gvsm on %s without %#x, %u slots, threshold %llu, found %llu embeddings, expected %llu "
                 "(semantics %d)",
                 device, without, options.slots, (unsigned long long)options.threshold,
                 (unsigned long long)result.count, (unsigned long long)expected, semantics);
    done_by.implied += result.implied;
    done_by.pieces += result.pieces;
    done_by.stayed += result.stayed;
    done_by.twigs += result.twigs;
    done_by.kernels += result.kernels;
    if ((without & SF_GVSM_STAY) != 0 || compares_pairs(pattern))
        assert_int_equal(result.stayed, 0);
    else if (options.threshold == 0)
        assert_int_equal(result.pieces, 0);
    if ((without & SF_GVSM_PAIRS) != 0) assert_int_equal(result.twigs, result.kernels);
    if (result.ran.note[0] != '\0' && strstr(result.ran.note, "in several parts") == NULL)
        fail_msg("refused: %s", result.ran.note);
    if (expected > 1) check_limit(index, pattern, options, expected);
    return strcmp(result.ran.device, device) == 0;
}

/* ---- candidate spaces ---- */

static void compare_links(const sf_links *made, const sf_links *expected, uint32_t rows)
{
    assert_int_equal(made->count, expected->count);
    assert_int_equal(made->from, expected->from);
    assert_int_equal(made->to, expected->to);
    assert_memory_equal(made->offsets, expected->offsets, ((size_t)rows + 1) * sizeof *made->offsets);
    assert_memory_equal(made->places, expected->places, made->count * sizeof *made->places);
}

static void compare_spaces(const sf_space *made, const sf_space *expected)
{
    assert_int_equal(made->is_empty, expected->is_empty);
    assert_int_equal(made->useless, expected->useless);
    assert_memory_equal(made->counts, expected->counts, sizeof made->counts);
    assert_memory_equal(made->labelled, expected->labelled, sizeof made->labelled);
    if (made->is_empty) return;
    assert_memory_equal(made->twin, expected->twin, sizeof made->twin);
    assert_int_equal(made->links_count, expected->links_count);
    for (uint32_t u = 0; u < made->query->count; u++) {
        assert_memory_equal(made->candidates[u], expected->candidates[u],
                            made->counts[u] * sizeof *made->candidates[u]);
        assert_memory_equal(made->links_of[u], expected->links_of[u],
                            made->query->count * sizeof *made->links_of[u]);
    }
    for (size_t i = 0; i < made->links_count; i++)
        compare_links(&made->links[i], &expected->links[i], made->counts[made->links[i].from]);
}

static const sf_backend_watch nobody_waits;

/* What samples say that a device tries along the plan that nothing was sampled for, on a test device as many
 * as it does; 0: there is no candidate. */
static double usual_tries(const sf_match_index *index, const sf_pattern *pattern, const char *device)
{
    sf_query query;
    sf_space space;
    sf_symmetry symmetry;
    sf_plan plan;
    double tried = 0;
    sf_device *where;
    const sf_match_job job = {.query = &query, .most = UINT64_MAX};
    assert_int_equal(sf_device_find(&where, device, NULL), SF_OK);
    assert_int_equal(sf_query_open(&query, index, pattern, SF_ISOMORPHISM, NULL), SF_OK);
    assert_int_equal(sf_made_open(&space, &query, where, 1, &nobody_waits, NULL), SF_OK);
    assert_int_equal(sf_symmetry_open(&symmetry, pattern, NULL), SF_OK);
    if (!space.is_empty) {
        sf_match_device_plan(&plan, &space, &symmetry, true);
        assert_int_equal(sf_match_sample_on_device(where, &job, &space, &plan, &tried, NULL), SF_OK);
    }
    sf_symmetry_close(&symmetry);
    sf_space_close(&space);
    sf_query_close(&query);
    return tried;
}

/* List by list what a device makes is what the CPU makes that filters all. Returns whether it makes it. */
static bool check_space(const sf_match_index *index, const sf_pattern *pattern, sf_semantics semantics,
                        const char *device)
{
    sf_query query;
    sf_space made, expected;
    sf_error error;
    assert_int_equal(sf_query_open(&query, index, pattern, semantics, NULL), SF_OK);
    sf_device *where = sf_made_device(&query, device, 1, 0);
    if (where != NULL) {
        sf_candidates_when(SF_CANDIDATES_FILTERED);
        assert_int_equal(sf_space_open(&expected, &query, 2, NULL), SF_OK);
        sf_candidates_when(SF_CANDIDATES_WORTH);
        if (sf_made_open(&made, &query, where, 2, &nobody_waits, &error) != SF_OK) fail_msg("%s", error.text);
        if (!made.is_empty && sf_made_fetch(&made, &nobody_waits, &error) != SF_OK)
            fail_msg("%s", error.text);
        compare_spaces(&made, &expected);
        sf_space_close(&made);
        sf_space_close(&expected);
    }
    sf_query_close(&query);
    return where != NULL;
}

/* Along a path, what the end of a shorter one rules out is known one vertex further after each round. */
static void check_rounds(const char *device)
{
    sf_edge_list list = {.directed = true};
    sf_csr data;
    sf_match_index *index;
    sf_pattern path = {.directed = true};
    assert_int_equal(sf_edge_list_set_vertices(&list, 24, NULL), SF_OK);
    for (uint32_t v = 0; v + 1 < 24; v++)
        assert_int_equal(sf_edge_list_add(&list, v, v + 1, NULL), SF_OK);
    assert_int_equal(sf_csr_build(&data, &list, 0, NULL), SF_OK);
    sf_edge_list_free(&list);
    assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
    for (uint32_t u = 0; u < 12; u++)
        assert_int_equal(sf_pattern_add_vertex(&path, NULL, SF_ANY_LABEL, NULL), SF_OK);
    for (uint32_t u = 0; u < 11; u++)
        assert_int_equal(sf_pattern_add_edge(&path, u, u + 1, SF_ANY_LABEL, false, NULL), SF_OK);
    sf_made_when(SF_MADE_ALWAYS);
    assert_true(check_space(index, &path, SF_ISOMORPHISM, device));
    sf_pattern_free(&path);
    sf_match_close(index);
    sf_csr_free(&data);
}

/* With labels of edges, parallel ones and loops among them; the graph stays there from pattern to pattern. */
static void check_edge_labels(const char *device, int rounds)
{
    test_random random = test_random_start("edge labels", 78);
    uint64_t stayed = 0;
    for (int round = 0; round < rounds; round++) {
        match_kind k = match_draw_kind(&random);
        k.edge_labelled = true;
        k.attributed = round % 8 == 0;
        sf_csr data = match_draw_graph(&random, &k);
        sf_match_index *index;
        assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
        done_by.stayed = 0;
        for (int p = 0; p < 3; p++) {
            sf_pattern pattern = match_draw_pattern(&random, &k, 5);
            sf_semantics any = (sf_semantics)test_random_below(&random, 3);
            check_twigs(index, &data, &pattern, any, device, (sf_match_options){0});
            for (unsigned technique = 1; technique <= SF_GVSM_PAIRS; technique *= 2) {
                unsigned others = (unsigned)test_random_below(&random, ALL_TECHNIQUES + 1);
                check_twigs(index, &data, &pattern, any, device, (sf_match_options){.without = technique});
                check_twigs(index, &data, &pattern, any, device,
                            (sf_match_options){.without = technique | others,
                                               .threshold = test_random_below(&random, 40)});
            }
            sf_pattern_free(&pattern);
        }
        stayed += done_by.stayed;
        sf_match_close(index);
        sf_csr_free(&data);
    }
    assert_true(rounds < 10 || stayed > 0);
}

static void check_device(const char *device, int rounds)
{
    check_rounds(device);
    check_edge_labels(device, (rounds + 9) / 10);
    test_random random = test_random_start(device, 77);
    int done = 0, expanded = 0, made = 0;
    for (int round = 0; round < rounds; round++) {
        sf_made_when(round % 2 == 0 ? SF_MADE_ALWAYS : SF_MADE_NEVER);
        match_kind k = match_draw_kind(&random);
        sf_csr data = match_draw_graph(&random, &k);
        sf_match_index *index;
        assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
        sf_pattern pattern = match_draw_pattern(&random, &k, data.vertex_count > 8 ? 4 : 6);
        for (int semantics = SF_ISOMORPHISM; semantics <= SF_HOMOMORPHISM; semantics++)
            made += check_space(index, &pattern, (sf_semantics)semantics, device);
        for (int semantics = SF_ISOMORPHISM; semantics <= SF_HOMOMORPHISM; semantics++)
            done += check_case(index, &data, &pattern, (sf_semantics)semantics, device);
        sf_semantics any = (sf_semantics)test_random_below(&random, 3);
        expanded += check_twigs(index, &data, &pattern, any, device, (sf_match_options){0});
        sf_match_options drawn = {.without = (unsigned)test_random_below(&random, ALL_TECHNIQUES + 1),
                                  .slots = (uint32_t)test_random_below(&random, SF_BACKEND_SLOTS + 1),
                                  .threshold = test_random_below(&random, 40)};
        check_twigs(index, &data, &pattern, any, device, drawn);
        sf_pattern_free(&pattern);
        sf_match_close(index);
        sf_csr_free(&data);
    }
    sf_made_when(SF_MADE_WORTH);
    if (rounds < 100) return;
    assert_true(made > rounds / 2); /* of three semantics, each other round */
    assert_true(done > 2 * rounds); /* of three semantics */
    assert_true(expanded > rounds / 2);
    assert_true(done_by.implied > 0 && done_by.pieces > 0);
    assert_true(done_by.stayed > 0 && done_by.kernels < done_by.twigs);
}

static void use_test_plugin(void)
{
    sf_error error;
    if (sf_devices_use(TEST_PLUGIN, &error) != SF_OK) fail_msg("%s", error.text);
}

/* ---- a graph and a pattern for the rest ---- */

/* Labels of the edges of a list: 0, 1, ... in turn. */
static void label_edges(sf_edge_list *list, uint32_t labels)
{
    size_t column;
    assert_int_equal(sf_columns_grow(&list->edge_columns, list->edge_count, NULL), SF_OK);
    assert_int_equal(sf_columns_add(&list->edge_columns, SF_LABEL_COLUMN, &column, NULL), SF_OK);
    for (size_t e = 0; e < list->edge_count; e++)
        list->edge_columns.items[column].values[e] = (double)(e % labels);
}

/* Each vertex with the 10 before it, unlabelled, the edges with so many labels (0: none); and paths of 4
 * vertices to look for. */
static void open_labelled_ring(sf_csr *data, sf_match_index **index, sf_pattern *path, uint32_t vertices,
                               uint32_t labels)
{
    sf_edge_list list = {0};
    assert_int_equal(sf_edge_list_set_vertices(&list, vertices, NULL), SF_OK);
    for (uint32_t v = 0; v < vertices; v++)
        for (uint32_t k = 1; k <= 10; k++)
            assert_int_equal(sf_edge_list_add(&list, v, (v + k) % vertices, NULL), SF_OK);
    if (labels > 0) label_edges(&list, labels);
    assert_int_equal(sf_csr_build(data, &list, 0, NULL), SF_OK);
    sf_edge_list_free(&list);
    assert_int_equal(sf_match_open(index, data, NULL), SF_OK);
    *path = (sf_pattern){0};
    for (uint32_t u = 0; u < 4; u++)
        assert_int_equal(sf_pattern_add_vertex(path, NULL, SF_ANY_LABEL, NULL), SF_OK);
    for (uint32_t u = 0; u < 3; u++)
        assert_int_equal(
            sf_pattern_add_edge(path, u, u + 1, labels > 0 ? u % labels : SF_ANY_LABEL, false, NULL), SF_OK);
}

static void open_ring(sf_csr *data, sf_match_index **index, sf_pattern *path, uint32_t vertices)
{
    open_labelled_ring(data, index, path, vertices, 0);
}

/* Of two vertices or three, which a test device, that tries all for all, is done with soon. */
static void shorten(sf_pattern *path, uint32_t vertices, uint32_t labels)
{
    sf_pattern_free(path);
    *path = (sf_pattern){0};
    for (uint32_t u = 0; u < vertices; u++)
        assert_int_equal(sf_pattern_add_vertex(path, NULL, SF_ANY_LABEL, NULL), SF_OK);
    for (uint32_t u = 0; u + 1 < vertices; u++)
        assert_int_equal(
            sf_pattern_add_edge(path, u, u + 1, labels > 0 ? u % labels : SF_ANY_LABEL, false, NULL), SF_OK);
}

/* As large as a device must have it to make the space of such a path; returns how many there are. */
static uint64_t open_large_ring(sf_csr *data, sf_match_index **index, sf_pattern *path)
{
    const sf_match_options options = {.device = "cpu", .threads = 1};
    open_ring(data, index, path, 2500);
    shorten(path, 2, 0);
    return run(*index, path, &options).count;
}

static void close_ring(sf_csr *data, sf_match_index *index, sf_pattern *path)
{
    sf_pattern_free(path);
    sf_match_close(index);
    sf_csr_free(data);
}

static void a_device_is_asked_for_what_the_cpu_does(void **state)
{
    (void)state;
    use_test_plugin();
    check_device("test:0", test_rounds(400));
}

/* Layers that go back and forth: three pieces are under way at once, and each is as long as what the last one
 * left suggests. The ring has 20 neighbours a vertex; on the way to paths of three vertices all of them are
 * expanded. */
static void pieces_of_layers_overlap_and_grow(void **state)
{
    (void)state;
    enum { VERTICES = 1000, NEIGHBOURS = VERTICES * (20 + 20 * 20), LEAST_PIECE = 1 << 13 };
    use_test_plugin();
    sf_csr data;
    sf_match_index *index;
    sf_pattern path;
    open_ring(&data, &index, &path, VERTICES);
    shorten(&path, 3, 0);
    sf_match_options options = {.engine = "gvsm", .device = "test:0", .threads = 1, .without = SF_GVSM_STAY};
    for (int alone = 0; alone < 2; alone++) {
        options.without |= alone ? SF_GVSM_PIPELINE : 0;
        sf_match_result result = run(index, &path, &options);
        test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
        assert_int_equal(result.count, VERTICES * 20 * 19);
        assert_string_equal(result.ran.device, "test:0");
        assert_int_equal(result.stayed, 0);
        assert_int_equal(work->most_slots, alone ? 1 : SF_BACKEND_SLOTS);
        assert_true(result.pieces > 3 && result.pieces < NEIGHBOURS / LEAST_PIECE / 2);
        work->most_slots = 0;
    }
    options.without = SF_GVSM_STAY;
    options.slots = 2;
    assert_int_equal(run(index, &path, &options).count, VERTICES * 20 * 19);
    assert_int_equal(test_plugin_work_of(TEST_PLUGIN)->most_slots, 2);
    test_plugin_work_of(TEST_PLUGIN)->most_slots = 0;
    options.without = 0;
    assert_true(run(index, &path, &options).stayed > 0);
    assert_int_equal(test_plugin_work_of(TEST_PLUGIN)->most_slots, 0);
    close_ring(&data, index, &path);
}

/* As in the paper: layers stay while they are small, and a search of which one outgrows the threshold is the
 * pipeline's. A pair whose labels few have begins small, and its second layer has 20 entries. */
static void only_small_layers_stay(void **state)
{
    (void)state;
    enum { VERTICES = 61 }; /* 40 at the end of the paths */
    use_test_plugin();
    sf_edge_list list = {0};
    size_t column;
    assert_int_equal(sf_edge_list_set_vertices(&list, VERTICES, NULL), SF_OK);
    assert_int_equal(sf_columns_grow(&list.vertex_columns, VERTICES, NULL), SF_OK);
    assert_int_equal(sf_columns_add(&list.vertex_columns, SF_LABEL_COLUMN, &column, NULL), SF_OK);
    for (uint32_t v = 0; v < VERTICES; v++) {
        list.vertex_columns.items[column].values[v] = v == 0 ? 0 : v <= 20 ? 1 : 2;
        assert_int_equal(v == 0 ? SF_OK : sf_edge_list_add(&list, v <= 20 ? 0 : 1 + v % 20, v, NULL), SF_OK);
    }
    sf_csr data;
    sf_match_index *index;
    sf_pattern path = {0};
    assert_int_equal(sf_csr_build(&data, &list, 0, NULL), SF_OK);
    sf_edge_list_free(&list);
    assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
    for (uint32_t u = 0; u < 3; u++)
        assert_int_equal(sf_pattern_add_vertex(&path, NULL, u, NULL), SF_OK);
    for (uint32_t u = 0; u < 2; u++)
        assert_int_equal(sf_pattern_add_edge(&path, u, u + 1, SF_ANY_LABEL, false, NULL), SF_OK);
    static const struct {
        uint64_t threshold;
        bool stays, goes_back;
    } cases[] = {{0, true, false}, {20, true, false}, {19, false, true}, {1, false, true}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        sf_match_options options = {.engine = "gvsm",
                                    .device = "test:0",
                                    .threads = 1,
                                    .without = SF_GVSM_TWINS | SF_GVSM_ORDER,
                                    .threshold = cases[c].threshold};
        sf_match_result result = run(index, &path, &options);
        assert_int_equal(result.count, VERTICES - 21);
        assert_string_equal(result.ran.device, "test:0");
        assert_true((result.stayed == 2) == cases[c].stays);
        assert_true((result.pieces > 0) == cases[c].goes_back);
    }
    close_ring(&data, index, &path);
}

/* The device is lost in its second job, and the CPU goes on. */
static void check_a_lost_device(sf_match_index *index, const sf_pattern *path,
                                const sf_match_options *options, uint64_t expected)
{
    for (int job = 1; job < 4; job++) {
        sf_match_result found = run(index, path, options);
        assert_int_equal(found.count, expected);
        assert_string_equal(found.ran.device, job == 1 ? "test:1" : "cpu");
        assert_true((strstr(found.ran.note, "fallen off the bus") != NULL) == (job > 1));
    }
}

static void the_cpu_goes_on_where_a_device_does_not(void **state)
{
    (void)state;
    use_test_plugin();
    sf_csr data;
    sf_match_index *index;
    sf_pattern path;
    open_ring(&data, &index, &path, 50);
    sf_match_options options = {.device = "cpu", .threads = 1};
    sf_match_result expected = run(index, &path, &options);
    assert_string_equal(expected.ran.device, "cpu");
    options.device = "test:2";
    sf_match_result found = run(index, &path, &options);
    assert_int_equal(found.count, expected.count);
    assert_string_equal(found.ran.device, "cpu");
    assert_string_equal(found.ran.note, "the job is too large for a test device");
    options.engine = "gvsm";
    options.device = "test:2";
    found = run(index, &path, &options);
    assert_int_equal(found.count, expected.count);
    assert_string_equal(found.ran.note, "the job is too large for a test device");
    options.engine = "auto";
    options.device = "test:1";
    check_a_lost_device(index, &path, &options, expected.count);
    close_ring(&data, index, &path); /* the graph is on a device: before those are closed */
    sf_devices_close();              /* and, begun anew, while pieces of a layer are under way */
    use_test_plugin();
    open_ring(&data, &index, &path, 50);
    options.engine = "gvsm";
    check_a_lost_device(index, &path, &options, expected.count);
    sf_error error;
    options.device = "test:9";
    assert_int_equal(sf_match_run(index, &path, &options, &found, NULL, &error), SF_UNAVAILABLE);
    options.device = "nonsense";
    assert_int_equal(sf_match_run(index, &path, &options, &found, NULL, &error), SF_USAGE);
    close_ring(&data, index, &path);
}

/* A longer search than a device needs to start: it is chosen without being asked for. */
static void a_long_search_goes_to_a_device(void **state)
{
    (void)state;
    use_test_plugin();
    sf_csr data;
    sf_match_index *index;
    sf_pattern path;
    open_ring(&data, &index, &path, 50);
    sf_match_options options = {.device = "auto", .threads = 1};
    sf_made_when(SF_MADE_NEVER);
    sf_match_result result = run(index, &path, &options);
    assert_string_equal(result.ran.device, "cpu");
    close_ring(&data, index, &path);

    open_ring(&data, &index, &path, 3000);
    for (uint32_t u = 4; u < 8; u++) { /* two more triangles along the path: nothing is left to products */
        assert_int_equal(sf_pattern_add_vertex(&path, NULL, SF_ANY_LABEL, NULL), SF_OK);
        assert_int_equal(sf_pattern_add_edge(&path, u - 1, u, SF_ANY_LABEL, false, NULL), SF_OK);
        assert_int_equal(sf_pattern_add_edge(&path, u - 2, u, SF_ANY_LABEL, false, NULL), SF_OK);
    }
    options.time_limit_s = 0.05;
    result = run(index, &path, &options);
    assert_string_equal(result.ran.device, "test:0");
    assert_true(result.truncated && result.estimate_s > 0.5);
    close_ring(&data, index, &path);
}

/* It goes there once, whichever engine sends it, for as long as the index is open; small spaces are the
 * CPU's. */
static void check_one_copy(uint32_t vertices, uint32_t labels)
{
    sf_csr data;
    sf_match_index *index;
    sf_pattern path;
    test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    open_labelled_ring(&data, &index, &path, vertices, labels);
    shorten(&path, labels > 0 ? 3 : 2, labels);
    sf_match_options options = {.device = "cpu", .threads = 1};
    uint64_t expected = run(index, &path, &options).count;
    options.device = "test:0";
    work->graphs_sent = 0;
    for (int query = 0; query < 6; query++) {
        bool is_auto = query < 3;
        options.engine = is_auto ? "auto" : "gvsm";
        sf_match_result found = run(index, &path, &options);
        assert_int_equal(found.count, expected);
        assert_string_equal(found.ran.device, "test:0");
        assert_int_equal(found.made_there, is_auto && vertices > 30);
        assert_true(is_auto || (found.stayed > 0 && found.pieces == 0));
        assert_int_equal(work->graphs_sent, !is_auto || vertices > 30);
    }
    close_ring(&data, index, &path);
}

static void a_graph_stays_on_a_device_for_queries_to_come(void **state)
{
    (void)state;
    use_test_plugin();
    for (uint32_t labels = 0; labels <= 5; labels += 5) {
        check_one_copy(20, labels);
        check_one_copy(2500, labels);
    }
}

/* One that runs is asked for less than a millisecond's work, once what it would have saved has paid for
 * sending the graph. */
static void short_searches_go_to_a_device_that_runs(void **state)
{
    (void)state;
    use_test_plugin();
    sf_csr data;
    sf_match_index *index;
    sf_pattern path;
    sf_device *device;
    const sf_match_options options = {.device = "auto", .threads = 1};
    open_ring(&data, &index, &path, 700);
    assert_string_equal(run(index, &path, &options).ran.device, "cpu"); /* none runs */
    assert_int_equal(sf_device_find(&device, "test:0", NULL), SF_OK);
    for (int query = 0; query < 4; query++) {
        test_plugin_work_of(TEST_PLUGIN)->late_after = 1; /* what it finds is not what this is about */
        sf_match_result result = run(index, &path, &options);
        assert_int_equal(result.made_there, query > 0);
        assert_string_equal(result.ran.device, "test:0");
    }
    close_ring(&data, index, &path);
    open_ring(&data, &index, &path, 30);
    for (int query = 0; query < 4; query++)
        assert_string_equal(run(index, &path, &options).ran.device, "cpu");
    close_ring(&data, index, &path);
}

/* A search in a space that a device has made is sampled there where a sum of terms could be sooner. */
static void terms_are_held_against_samples_of_the_search(void **state)
{
    (void)state;
    use_test_plugin();
    sf_csr data;
    sf_match_index *index;
    sf_pattern path;
    sf_device *device;
    test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    sf_match_options options = {.device = "cpu", .threads = 1};
    open_ring(&data, &index, &path, 1000);
    uint64_t expected = run(index, &path, &options).count;
    options.device = "auto";
    assert_int_equal(sf_device_find(&device, "test:0", NULL), SF_OK);
    sf_terms_when(SF_TERMS_ALWAYS);
    work->sampled = 0;
    work->sample_says = UINT64_C(1) << 50;
    sf_match_result result = run(index, &path, &options);
    assert_true(result.made_there && result.terms > 0);
    assert_string_equal(result.ran.device, "cpu");
    assert_int_equal(result.count, expected);
    assert_true(result.there_s > result.estimate_s);
    work->sample_says = 1;
    work->late_after = 1; /* which is soon enough */
    result = run(index, &path, &options);
    assert_true(result.made_there && result.terms == 0);
    assert_string_equal(result.ran.device, "test:0");
    assert_int_equal(work->sampled, 4 + 1); /* from each vertex, and of a short search one */
    close_ring(&data, index, &path);
}

/* Is not sent with every query: what a device has no room for once stays here, as long as the index is open.
 */
static void a_graph_that_is_refused_is_not_sent_again(void **state)
{
    (void)state;
    use_test_plugin();
    sf_csr data;
    sf_match_index *index;
    sf_pattern path;
    test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    const sf_match_options options = {.device = "test:0", .threads = 1};
    uint64_t expected = open_large_ring(&data, &index, &path);
    work->has_no_room = true;
    work->graphs_asked = 0;
    for (int query = 0; query < 5; query++) {
        sf_match_result found = run(index, &path, &options);
        assert_int_equal(found.count, expected);
        assert_string_equal(found.ran.device, "test:0");
        assert_false(found.made_there);
        assert_int_equal(work->graphs_asked, 1);
    }
    work->has_no_room = false;
    close_ring(&data, index, &path);
}

/* And is sent again once that pays again. */
static void a_graph_is_given_back_to_jobs_that_lack_memory(void **state)
{
    (void)state;
    use_test_plugin();
    sf_csr data;
    sf_match_index *index;
    sf_pattern path;
    test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    sf_match_options options = {.device = "test:0", .threads = 1};
    uint64_t expected = open_large_ring(&data, &index, &path);
    work->graphs_sent = 0;
    for (int query = 0; query < 4; query++) {
        work->lacks_memory = query == 1;
        sf_match_result found = run(index, &path, &options);
        assert_int_equal(found.count, expected);
        assert_int_equal(found.made_there, query != 1);
        assert_int_equal(work->graphs_sent, query < 2 ? 1 : 2);
    }
    options.engine = "gvsm"; /* which asks for a device and has it sent at once */
    for (int query = 0; query < 3; query++) {
        work->lacks_memory = query == 1;
        sf_match_result found = run(index, &path, &options);
        assert_int_equal(found.count, expected);
        assert_string_equal(found.ran.device, "test:0");
        assert_int_equal(work->graphs_sent, query < 1 ? 2 : 3);
    }
    work->lacks_memory = false;
    close_ring(&data, index, &path);
}

static bool never(void *user, const char *what, double done, double total)
{
    (void)user, (void)what, (void)done, (void)total;
    return false;
}

/* Ten seconds of it. */
static void sending_a_graph_stops_in_time(void **state)
{
    (void)state;
    use_test_plugin();
    sf_csr data;
    sf_match_index *index;
    sf_pattern path;
    test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    open_large_ring(&data, &index, &path);
    work->copy_ms = 10000;
    double start = sf_clock_seconds();
    static const char *const engines[] = {"auto", "gvsm"};
    for (int i = 0; i < 2; i++) {
        sf_match_options options = {
            .engine = engines[i], .device = "test:0", .threads = 1, .time_limit_s = 0.1};
        sf_match_result found = run(index, &path, &options);
        assert_true(found.truncated);
        assert_int_equal(found.count, 0);
        sf_match_result_free(&found);
        options.time_limit_s = 0;
        const sf_progress refusing = {.update = never};
        assert_int_equal(sf_match_run(index, &path, &options, &found, &refusing, NULL), SF_CANCELLED);
    }
    sf_match_options options = {.device = "test:0", .threads = 1, .time_limit_s = 1e-5};
    work->graphs_asked = 0; /* no graph is sent in that */
    sf_match_result found;
    assert_int_equal(sf_match_run(index, &path, &options, &found, NULL, NULL), SF_OK);
    sf_match_result_free(&found);
    assert_int_equal(work->graphs_asked, 0);
    assert_true(sf_clock_seconds() - start < 5);
    work->copy_ms = 0;
    close_ring(&data, index, &path);
}

/* Ten seconds for one link of what must be absent: once time is up nothing was found, whoever gave it. */
static void making_links_stops_in_time(void **state)
{
    (void)state;
    use_test_plugin();
    sf_csr data;
    sf_match_index *index;
    sf_pattern path;
    test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    sf_match_options options = {
        .semantics = SF_INDUCED, .device = "test:0", .threads = 1, .time_limit_s = 0.1};
    const sf_progress refusing = {.update = never};
    open_ring(&data, &index, &path, 100);
    shorten(&path, 3, 0);
    sf_made_when(SF_MADE_ALWAYS);
    work->link_ms = 10000;
    double start = sf_clock_seconds();
    sf_match_result found = run(index, &path, &options);
    assert_true(found.truncated && found.made_there);
    assert_int_equal(found.count, 0);
    sf_match_result_free(&found);
    options.time_limit_s = 0;
    assert_int_equal(sf_match_run(index, &path, &options, &found, &refusing, NULL), SF_CANCELLED);
    assert_true(sf_clock_seconds() - start < 5);
    work->link_ms = 0;
    close_ring(&data, index, &path);
}

/* Says no where that is told of, and counts how often it is asked from then on. */
typedef struct refusal {
    const char *what;
    int asked;
} refusal;

static bool refuse(void *user, const char *what, double done, double total)
{
    (void)done, (void)total;
    refusal *r = user;
    r->asked += r->asked > 0 || strcmp(what, r->what) == 0;
    return r->asked == 0;
}

/* A search in a space that a device has made, which is sampled there and then, since that seems long, brought
 * to the CPU: nothing goes on that was cancelled. */
static void who_cancels_is_not_asked_again(void **state)
{
    (void)state;
    use_test_plugin();
    sf_csr data;
    sf_match_index *index;
    sf_pattern path;
    sf_device *device;
    static const char *const places[] = {"sampling", "copying from the device"};
    test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    const sf_match_options options = {.device = "auto", .threads = 1};
    open_ring(&data, &index, &path, 1000);
    assert_int_equal(sf_device_find(&device, "test:0", NULL), SF_OK);
    sf_terms_when(SF_TERMS_ALWAYS);
    work->sample_says = UINT64_C(1) << 50;
    for (size_t i = 0; i < 2; i++) {
        refusal r = {.what = places[i]};
        const sf_progress progress = {.update = refuse, .user = &r};
        sf_match_result found;
        assert_int_equal(sf_match_run(index, &path, &options, &found, &progress, NULL), SF_CANCELLED);
        assert_int_equal(r.asked, 1);
    }
    close_ring(&data, index, &path);
}

/* Of plans from every vertex the one is taken that samples try least along. */
static void a_device_searches_along_the_best_plan(void **state)
{
    (void)state;
    use_test_plugin();
    test_random random = test_random_start("plans", 11);
    test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    int better = 0;
    sf_made_when(SF_MADE_ALWAYS);
    sf_match_compare_plans(SF_PLANS_ALWAYS);
    work->sample_says = UINT64_MAX;
    for (int round = 0; round < 40; round++) {
        match_kind k = {.directed = round % 2 != 0, .labelled = true, .labels = 1 + (uint32_t)round % 3};
        sf_csr data = match_draw_hubs(&random, &k, 25, 80);
        sf_match_index *index;
        assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
        sf_pattern pattern = match_draw_pattern(&random, &k, 4);
        const sf_match_options options = {.device = "test:0", .threads = 1};
        double usual = usual_tries(index, &pattern, "test:0");
        sf_match_result found = run(index, &pattern, &options);
        assert_int_equal(found.count, match_oracle(&data, &pattern, SF_ISOMORPHISM));
        assert_true((double)found.steps <= usual);
        better += (double)found.steps < usual;
        sf_pattern_free(&pattern);
        sf_match_close(index);
        sf_csr_free(&data);
    }
    assert_true(better > 2);
}

/* Embeddings of the ranges of candidates that a device was done with before. */
static void what_was_listed_in_time_is_kept(void **state)
{
    (void)state;
    use_test_plugin();
    sf_csr data;
    sf_match_index *index;
    sf_pattern path;
    open_ring(&data, &index, &path, 100);
    shorten(&path, 3, 0);
    sf_made_when(SF_MADE_ALWAYS);
    sf_match_options options = {.device = "test:0", .threads = 1, .keep = 20000, .limit = 20000};
    test_plugin_work_of(TEST_PLUGIN)->late_after = 3; /* all are too many; 32 candidates; the rest */
    sf_match_result found = run(index, &path, &options);
    assert_string_equal(found.ran.device, "test:0");
    assert_true(found.truncated);
    assert_int_equal(found.kept, 32 * 20 * 19);
    options.device = "cpu";
    sf_match_result expected = run(index, &path, &options);
    assert_memory_equal(found.embeddings, expected.embeddings,
                        found.kept * path.vertex_count * sizeof *found.embeddings);
    sf_match_result_free(&found);
    sf_match_result_free(&expected);
    close_ring(&data, index, &path);
}

/* 20 neighbours a vertex: the first candidates have 7,220 paths each. */
static void check_first(const char *device, uint32_t vertices)
{
    sf_csr data;
    sf_match_index *index;
    sf_pattern path;
    open_ring(&data, &index, &path, vertices);
    static const size_t keeps[] = {1, 1000, 7219, 7220, 7221, 60000, 80000};
    sf_match_options options = {.device = device, .threads = 1};
    sf_made_when(SF_MADE_ALWAYS);
    for (size_t k = 0; k < sizeof keeps / sizeof keeps[0]; k++) {
        options.limit = keeps[k];
        assert_true(compare_lists(index, &path, options, keeps[k]));
    }
    for (uint32_t u = 4; u < 8;
         u++) { /* more paths of one candidate, and of two, than a device lists at once */
        assert_int_equal(sf_pattern_add_vertex(&path, NULL, SF_ANY_LABEL, NULL), SF_OK);
        assert_int_equal(sf_pattern_add_edge(&path, u - 1, u, SF_ANY_LABEL, false, NULL), SF_OK);
    }
    static const size_t long_keeps[] = {100, 70000};
    for (size_t k = 0; k < sizeof long_keeps / sizeof long_keeps[0]; k++) {
        options.limit = long_keeps[k];
        assert_true(compare_lists(index, &path, options, long_keeps[k]));
    }
    close_ring(&data, index, &path);
}

/* Of a listing that takes many ranges of candidates. */
static void every_range_is_told_of(void **state)
{
    (void)state;
    use_test_plugin();
    sf_csr data;
    sf_match_index *index;
    sf_pattern path;
    test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    open_ring(&data, &index, &path, 300);
    sf_made_when(SF_MADE_ALWAYS);
    sf_match_options options = {.device = "test:0", .threads = 1, .keep = 60000, .limit = 60000};
    work->tried = 0;
    sf_match_result found = run(index, &path, &options);
    assert_int_equal(found.kept, 60000);
    assert_int_equal(found.steps, work->tried);
    sf_match_result_free(&found);
    close_ring(&data, index, &path);
}

static void the_first_embeddings_are_those_of_the_first_candidates(void **state)
{
    (void)state;
    use_test_plugin();
    check_first("test:0", 100);
}

/* Lost in the search of a space that it has made: the CPU makes it again. */
static void a_space_that_is_lost_is_made_again(void **state)
{
    (void)state;
    use_test_plugin();
    sf_csr data;
    sf_match_index *index;
    sf_pattern path;
    open_ring(&data, &index, &path, 50);
    sf_match_options options = {.device = "cpu", .threads = 1};
    uint64_t expected = run(index, &path, &options).count;
    sf_made_when(SF_MADE_ALWAYS);
    options.device = "test:1";
    sf_match_result found = run(index, &path, &options);
    assert_int_equal(found.count, expected);
    assert_true(found.made_there);
    assert_string_equal(found.ran.device, "cpu");
    assert_non_null(strstr(found.ran.note, "fallen off the bus"));
    options.device = "test:2"; /* which refuses everything */
    found = run(index, &path, &options);
    assert_int_equal(found.count, expected);
    assert_false(found.made_there);
    close_ring(&data, index, &path);
}

typedef struct memory_case {
    sf_csr data;
    const char *engine;
} memory_case;

static int match_once(void *context)
{
    memory_case *c = context;
    sf_csr *data = &c->data;
    sf_match_index *index = NULL;
    sf_pattern path = {0};
    sf_match_result result = {0};
    bool lists = strcmp(c->engine, "auto") == 0;
    sf_match_options options = {.engine = c->engine,
                                .semantics = SF_INDUCED,
                                .device = "test:0",
                                .threads = 1,
                                .keep = lists ? 20 : 0,
                                .distinct = true};
    int status = sf_match_open(&index, data, NULL);
    for (uint32_t u = 0; u < 4 && status == SF_OK; u++)
        status = sf_pattern_add_vertex(&path, NULL, SF_ANY_LABEL, NULL);
    for (uint32_t u = 0; u < 3 && status == SF_OK; u++)
        status =
            sf_pattern_add_edge(&path, u, u + 1, data->edge_labels != NULL ? 0 : SF_ANY_LABEL, false, NULL);
    if (status == SF_OK) status = sf_match_run(index, &path, &options, &result, NULL, NULL);
    if (status == SF_OK) assert_string_equal(result.ran.device, "test:0");
    sf_match_result_free(&result);
    sf_pattern_free(&path);
    sf_match_close(index);
    return status;
}

static void no_memory_is_no_crash(void **state)
{
    (void)state;
    use_test_plugin();
    memory_case c;
    sf_match_index *index;
    sf_pattern path;
    sf_device *device;
    assert_int_equal(sf_device_find(&device, "test:0", NULL), SF_OK);
    static const struct {
        const char *engine;
        int made;
        uint32_t labels;
    } cases[] = {{"auto", SF_MADE_NEVER, 0},
                 {"gvsm", SF_MADE_NEVER, 0},
                 {"gvsm", SF_MADE_NEVER, 2},
                 {"auto", SF_MADE_ALWAYS, 0}};
    for (size_t e = 0; e < sizeof cases / sizeof cases[0]; e++) {
        open_labelled_ring(&c.data, &index, &path, 22, cases[e].labels);
        sf_made_when(cases[e].made);
        c.engine = cases[e].engine;
        test_fail_every_allocation(match_once, &c);
        close_ring(&c.data, index, &path);
    }
}

/* ---- devices that are there ---- */

static void every_device_counts_as_the_oracle(void **state)
{
    (void)state;
    if (test_no_device()) skip();
    for (uint32_t i = 0; i < sf_device_count(); i++)
        check_device(sf_device_name(sf_device_at(i)), test_rounds(300));
}

/* Long enough for tasks to be handed from warp to warp many times. */
static void every_device_counts_large_graphs_as_the_cpu(void **state)
{
    (void)state;
    if (test_no_device()) skip();
    test_random random = test_random_start("large", 5);
    for (int round = 0; round < 12 && round < test_rounds(12); round++) {
        sf_csr data;
        match_kind k = {.directed = round % 2 != 0,
                        .labelled = round % 3 != 0,
                        .edge_labelled = round % 4 > 1,
                        .labels = 2};
        data = match_draw_hubs(&random, &k, 2000, 12000);
        sf_match_index *index;
        assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
        sf_pattern pattern = match_draw_pattern(&random, &k, 5);
        sf_match_options options = {
            .semantics = (sf_semantics)(round % 3), .device = "cpu", .time_limit_s = 1};
        sf_match_result expected = run(index, &pattern, &options);
        options.device = sf_device_name(sf_device_at(0));
        sf_made_when(SF_MADE_ALWAYS);
        check_space(index, &pattern, options.semantics, options.device);
        sf_match_result found = run(index, &pattern, &options);
        if (!expected.truncated && !found.truncated) /* a checker can make a search that long */
            assert_int_equal(found.count, expected.count);
        was_done_there(&found);
        options.engine = "gvsm";
        found = run(index, &pattern, &options);
        if (!expected.truncated && !found.truncated) assert_int_equal(found.count, expected.count);
        sf_made_when(SF_MADE_WORTH);
        sf_pattern_free(&pattern);
        sf_match_close(index);
        sf_csr_free(&data);
    }
}

static void every_device_lists_the_first_embeddings(void **state)
{
    (void)state;
    if (test_no_device()) skip();
    check_first(sf_device_name(sf_device_at(0)), test_is_short() ? 300 : 20000);
}

/* Hubs whose neighbours many warps go through, loops and parallel edges among them. */
static void every_device_makes_large_spaces_as_the_cpu(void **state)
{
    (void)state;
    if (test_no_device()) skip();
    test_random random = test_random_start("spaces", 7);
    int made = 0;
    sf_made_when(SF_MADE_ALWAYS);
    for (int round = 0; round < 24 && round < test_rounds(24); round++) {
        uint32_t vertices = 1000u << round % 5;
        match_kind k = {
            .directed = round % 2 != 0, .labelled = round % 3 != 0, .labels = 1u + (uint32_t)round % 7};
        sf_csr data = match_draw_hubs(&random, &k, vertices, 12 * vertices);
        sf_match_index *index;
        assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
        for (int p = 0; p < 3; p++) {
            sf_pattern pattern = match_draw_pattern(&random, &k, 4 + (uint32_t)p);
            made += check_space(index, &pattern, (sf_semantics)(round % 3), sf_device_name(sf_device_at(0)));
            sf_pattern_free(&pattern);
        }
        sf_match_close(index);
        sf_csr_free(&data);
    }
    assert_true(made > 0);
}

/* A search that is sampled first tries about as many candidates as was told. */
static void every_device_samples_what_it_searches(void **state)
{
    (void)state;
    if (test_no_device()) skip();
    test_random random = test_random_start("samples", 9);
    sf_device *device;
    int compared = 0;
    assert_int_equal(sf_device_find(&device, sf_device_name(sf_device_at(0)), NULL), SF_OK);
    sf_made_when(SF_MADE_ALWAYS);
    for (int round = 0; round < 24 && round < test_rounds(24); round++) {
        match_kind k = {.directed = round % 2 != 0, .labelled = true, .labels = 2 + (uint32_t)round % 3};
        sf_csr data = match_draw_hubs(&random, &k, 2000, 12000);
        sf_match_index *index;
        assert_int_equal(sf_match_open(&index, &data, NULL), SF_OK);
        sf_pattern pattern = match_draw_pattern(&random, &k, 4 + (uint32_t)round % 2);
        sf_match_options options = {.device = sf_device_name(device), .time_limit_s = 2};
        sf_match_result found = run(index, &pattern, &options);
        if (!found.truncated && found.made_there && found.steps > 10000) {
            double tried = usual_tries(index, &pattern, options.device);
            if (tried < 0.6 * (double)found.steps || tried > 1.7 * (double)found.steps)
                fail_msg("a sample says %g candidates, tried were %g", tried, (double)found.steps);
            compared++;
        }
        sf_pattern_free(&pattern);
        sf_match_close(index);
        sf_csr_free(&data);
    }
    assert_true(compared > 0 || test_rounds(24) < 24);
}

/* Batches of it are too short to find out by themselves that there are enough. */
static void a_search_with_a_limit_ends_soon(void **state)
{
    (void)state;
    if (test_no_device() || test_is_short()) skip();
    enum { VERTICES = 200000 };
    sf_csr data;
    sf_match_index *index;
    sf_pattern path, edge = {0};
    open_ring(&data, &index, &path, VERTICES);
    for (uint32_t u = 0; u < 2; u++)
        assert_int_equal(sf_pattern_add_vertex(&edge, NULL, SF_ANY_LABEL, NULL), SF_OK);
    assert_int_equal(sf_pattern_add_edge(&edge, 0, 1, SF_ANY_LABEL, false, NULL), SF_OK);
    sf_made_when(SF_MADE_ALWAYS);
    sf_match_options options = {.device = sf_device_name(sf_device_at(0)), .keep = 1000, .limit = 1000};
    sf_match_result found = run(index, &edge, &options);
    assert_string_equal(found.ran.device, options.device);
    assert_int_equal(found.kept, 1000);
    assert_true(found.steps < (uint64_t)VERTICES * 20 / 2);
    sf_match_result_free(&found);
    sf_pattern_free(&edge);
    close_ring(&data, index, &path);
}

/* With room for one graph and a search, and not for two graphs. */
static void every_device_gives_graphs_back(void **state)
{
    (void)state;
    if (test_no_device() || test_is_short()) skip();
    sf_csr data[2];
    sf_match_index *index[2];
    sf_pattern path[2];
    for (int i = 0; i < 2; i++)
        open_ring(&data[i], &index[i], &path[i], 200000); /* 18 MB on a device */
    const char *name = sf_device_name(sf_device_at(0));
    sf_match_options options = {.device = name, .threads = 2};
    sf_made_when(SF_MADE_ALWAYS);
    sf_match_result expected = run(index[0], &path[0], &options);
    uint64_t most = sf_device_memory(sf_device_at(0));
    assert_true(expected.made_there);
    sf_match_close(index[0]);
    sf_devices_close();
    sf_device_set_memory_limit(most + (4 << 20));
    assert_int_equal(sf_match_open(&index[0], &data[0], NULL), SF_OK);
    options.device = sf_device_name(sf_device_at(0));
    static const struct {
        int of;
        bool there;
    } queries[] = {{0, true}, {1, true}, {1, true}, {0, false}, {0, true}, {1, false}};
    for (size_t q = 0; q < sizeof queries / sizeof queries[0]; q++) {
        sf_match_result found = run(index[queries[q].of], &path[0], &options);
        assert_int_equal(found.count, expected.count);
        assert_string_equal(found.ran.device, options.device);
        assert_int_equal(found.made_there, queries[q].there);
    }
    sf_device_set_memory_limit(0);
    for (int i = 0; i < 2; i++)
        close_ring(&data[i], index[i], &path[i]);
}

/* More entries in a layer than a device keeps. */
static void layers_that_are_too_large_are_cut(void **state)
{
    (void)state;
    if (test_no_device() || test_rounds(0) > 0) skip();
    sf_csr data;
    sf_match_index *index;
    sf_pattern path;
    open_ring(&data, &index, &path, 60000);
    sf_match_options options = {.device = "cpu"};
    sf_match_result expected = run(index, &path, &options);
    options.engine = "gvsm";
    options.device = sf_device_name(sf_device_at(0));
    sf_match_result found = run(index, &path, &options);
    assert_string_equal(found.ran.device, options.device);
    assert_true(found.stayed > 3);
    assert_int_equal(found.count, expected.count);
    close_ring(&data, index, &path);
}

static void a_device_stops_in_time(void **state)
{
    (void)state;
    if (test_no_device()) skip();
    sf_csr data;
    sf_match_index *index;
    sf_pattern path;
    open_ring(&data, &index, &path, 100000);
    for (uint32_t u = 4; u < 12; u++) {
        assert_int_equal(sf_pattern_add_vertex(&path, NULL, SF_ANY_LABEL, NULL), SF_OK);
        assert_int_equal(sf_pattern_add_edge(&path, u - 1, u, SF_ANY_LABEL, false, NULL), SF_OK);
        assert_int_equal(sf_pattern_add_edge(&path, u - 2, u, SF_ANY_LABEL, false, NULL), SF_OK);
    }
    static const char *const engines[] = {"auto", "gvsm"};
    for (int e = 0; e < 2; e++) {
        sf_match_options options = {
            .engine = engines[e], .device = sf_device_name(sf_device_at(0)), .time_limit_s = 1};
        double start = sf_clock_seconds();
        sf_match_result result = run(index, &path, &options);
        assert_string_equal(result.ran.device, options.device);
        assert_true(result.truncated);
        assert_true(sf_clock_seconds() - start < 3);
    }
    close_ring(&data, index, &path);
}

/* Also after a test that failed: a plugin that stays open would be the next one's. */
static int close_devices(void **state)
{
    (void)state;
    sf_made_when(SF_MADE_WORTH);
    sf_terms_when(SF_TERMS_WORTH);
    sf_match_compare_plans(SF_PLANS_WORTH);
    sf_devices_close();
    return 0;
}

#define DEVICE_TEST(test) cmocka_unit_test_teardown(test, close_devices)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEVICE_TEST(a_device_is_asked_for_what_the_cpu_does),
        DEVICE_TEST(pieces_of_layers_overlap_and_grow),
        DEVICE_TEST(only_small_layers_stay),
        DEVICE_TEST(the_cpu_goes_on_where_a_device_does_not),
        DEVICE_TEST(a_long_search_goes_to_a_device),
        DEVICE_TEST(a_graph_stays_on_a_device_for_queries_to_come),
        DEVICE_TEST(short_searches_go_to_a_device_that_runs),
        DEVICE_TEST(terms_are_held_against_samples_of_the_search),
        DEVICE_TEST(a_graph_that_is_refused_is_not_sent_again),
        DEVICE_TEST(a_graph_is_given_back_to_jobs_that_lack_memory),
        DEVICE_TEST(sending_a_graph_stops_in_time),
        DEVICE_TEST(making_links_stops_in_time),
        DEVICE_TEST(who_cancels_is_not_asked_again),
        DEVICE_TEST(what_was_listed_in_time_is_kept),
        DEVICE_TEST(a_device_searches_along_the_best_plan),
        DEVICE_TEST(the_first_embeddings_are_those_of_the_first_candidates),
        DEVICE_TEST(every_range_is_told_of),
        DEVICE_TEST(a_space_that_is_lost_is_made_again),
        DEVICE_TEST(no_memory_is_no_crash),
        DEVICE_TEST(every_device_samples_what_it_searches),
        DEVICE_TEST(a_search_with_a_limit_ends_soon),
        DEVICE_TEST(every_device_gives_graphs_back),
        DEVICE_TEST(every_device_counts_as_the_oracle),
        DEVICE_TEST(every_device_counts_large_graphs_as_the_cpu),
        DEVICE_TEST(every_device_makes_large_spaces_as_the_cpu),
        DEVICE_TEST(every_device_lists_the_first_embeddings),
        DEVICE_TEST(layers_that_are_too_large_are_cut),
        DEVICE_TEST(a_device_stops_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
