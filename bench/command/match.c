/* SPDX-License-Identifier: Apache-2.0 */
/* bench match: sets of patterns on several graphs, by one core, all cores, every device, what is chosen by
 * the work, and the engine gvsm without each of its techniques in turn; ever more labels, and all orders that
 * gvsm could take. Complete counts of a set must agree.
 */
#include "bench/command/bench.h"

#include "core/backend/find.h"
#include "core/file.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/reals.h"
#include "core/thread.h"
#include "graph/match/made_space.h"
#include "graph/match/match.h"
#include "graph/motif/motif.h"
#include "graph/store/kronecker.h"
#include "graph/store/power_law.h"
#include "io/graph/file.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST_PATTERNS = 40, SHORT_RUNS = 3 };

#define LIMIT_S 1.0       /* of one search: beyond it the count is a lower bound */
#define LONG_LIMIT_S 30.0 /* where all searches end on one core; terms get half of it */
#define SHORT_SECONDS 0.2 /* a search this short is repeated, and the best time counts */

/* A graph and patterns to look for. */
typedef struct workload {
    const char *name;
    sf_csr data;
    sf_match_index *index;
    sf_pattern patterns[MOST_PATTERNS];
    size_t count;
    double limit_s;      /* 0: LIMIT_S */
    uint64_t embeddings; /* of the first row that was complete; UINT64_MAX until there is one */
    double here[MOST_PATTERNS], there[MOST_PATTERNS]; /* seconds of the CPU, and of devices the best */
} workload;

typedef struct benchmark {
    const app_call *call;
    app_bench_rows *rows;
    unsigned threads;
    workload work;
} benchmark;

static void close_workload(workload *w)
{
    for (size_t i = 0; i < w->count; i++)
        sf_pattern_free(&w->patterns[i]);
    sf_match_close(w->index);
    sf_csr_free(&w->data);
    *w = (workload){0};
}

/* ---- one row ---- */

/* What the searches of a row come to. */
typedef struct total {
    double seconds, space_seconds, device_seconds, all[MOST_PATTERNS];
    double tried, expected_here, expected_there;
    uint64_t embeddings;
    bool truncated;
    size_t on_device, made_there;
} total;

static int search_best(benchmark *b, size_t i, const sf_match_options *options, total *t, sf_error *error)
{
    double best = 0, space = 0, on_device = 0;
    sf_match_result result = {0};
    for (int run = 0; run < SHORT_RUNS && (run == 0 || best < SHORT_SECONDS); run++) {
        sf_match_result_free(&result);
        int status = sf_match_run(b->work.index, &b->work.patterns[i], options, &result, NULL, error);
        if (status != SF_OK) return status;
        best = run == 0 || result.ran.seconds < best ? result.ran.seconds : best;
        space = run == 0 || result.space_s < space ? result.space_s : space;
        on_device = run == 0 || result.device_s < on_device ? result.device_s : on_device;
    }
    t->all[i] = best;
    t->seconds += best;
    t->space_seconds += space;
    t->device_seconds += on_device;
    t->tried += (double)result.steps;
    t->expected_here += result.estimate_s;
    t->expected_there += result.there_s;
    t->embeddings += result.count;
    t->truncated |= result.truncated;
    t->on_device += strcmp(result.ran.device, "cpu") != 0;
    t->made_there += result.made_there;
    sf_match_result_free(&result);
    return SF_OK;
}

static bool is_auto(const sf_match_options *options)
{
    return strcmp(options->device, "auto") == 0;
}

/* What the choice is held against: the CPU on as many threads, and devices. */
static void note_seconds(workload *w, const sf_match_options *options, const total *t)
{
    bool is_here = strcmp(options->device, "cpu") == 0, is_first = w->there[0] == 0;
    for (size_t i = 0; i < w->count && !is_auto(options); i++) {
        if (is_here)
            w->here[i] = t->all[i];
        else
            w->there[i] = is_first || t->all[i] < w->there[i] ? t->all[i] : w->there[i];
    }
}

/* Of auto: what it expected, what it took beside the better of CPU and devices, of the pattern where that is
 * most, and how many patterns took more than 1.3 times as long. */
static void add_choice(benchmark *b, const total *t, const sf_match_options *options)
{
    const workload *w = &b->work;
    double here = 0, there = 0, worst = 0, over = 0;
    for (size_t i = 0; i < w->count; i++) {
        double better = w->here[i] < w->there[i] ? w->here[i] : w->there[i];
        here += w->here[i];
        there += w->there[i];
        worst = t->all[i] / better > worst ? t->all[i] / better : worst;
        over += t->all[i] > 1.3 * better;
    }
    bool is_known = is_auto(options) && w->there[0] > 0;
    app_bench_number(b->rows, "expected_here", is_auto(options) ? t->expected_here : NAN);
    app_bench_number(b->rows, "expected_there", is_auto(options) ? t->expected_there : NAN);
    app_bench_number(b->rows, "over_better", is_known ? t->seconds / (here < there ? here : there) : NAN);
    app_bench_number(b->rows, "worst_over_better", is_known ? worst : NAN);
    app_bench_number(b->rows, "patterns_over_1.3", is_known ? over : NAN);
}

static void add_row(benchmark *b, total *t, const sf_match_options *options, const char *variant)
{
    note_seconds(&b->work, options, t);
    app_bench_row(b->rows, options->device);
    app_bench_text(b->rows, "work", b->work.name);
    app_bench_text(b->rows, "engine", variant);
    app_bench_number(b->rows, "threads", options->threads);
    app_bench_number(b->rows, "patterns", (double)b->work.count);
    app_bench_number(b->rows, "on_device", (double)t->on_device);
    app_bench_number(b->rows, "embeddings", (double)t->embeddings);
    app_bench_number(b->rows, "complete", !t->truncated);
    app_bench_number(b->rows, "tried", t->tried);
    app_bench_number(b->rows, "seconds", t->seconds);
    app_bench_number(b->rows, "spaces_on_device", (double)t->made_there);
    app_bench_number(b->rows, "space_seconds", t->space_seconds);
    app_bench_number(b->rows, "device_seconds", t->device_seconds);
    add_choice(b, t, options);
    sf_reals_sort(t->all, b->work.count);
    app_bench_number(b->rows, "median_seconds", t->all[b->work.count / 2]);
    app_bench_number(b->rows, "embeddings_per_second", (double)t->embeddings / t->seconds);
}

static int measure(benchmark *b, const sf_match_options *given, const char *variant, sf_error *error)
{
    total t = {0};
    sf_match_options options = *given;
    options.time_limit_s = b->work.limit_s > 0 ? b->work.limit_s : LIMIT_S;
    int status = SF_OK;
    for (size_t i = 0; i < b->work.count && status == SF_OK; i++)
        status = search_best(b, i, &options, &t, error);
    if (status != SF_OK) return status;
    add_row(b, &t, &options, variant);
    if (t.truncated) return SF_OK;
    if (b->work.embeddings == UINT64_MAX) b->work.embeddings = t.embeddings;
    return t.embeddings == b->work.embeddings
               ? SF_OK
               : sf_fail(error, SF_INTERNAL, b->work.name,
                         "%s on %s found %" PRIu64 " embeddings, expected %" PRIu64, variant, options.device,
                         t.embeddings, b->work.embeddings);
}

/* On a device, whichever makes the candidates; then by those of the CPU alone, and by its own alone. */
static int measure_there(benchmark *b, const char *device, sf_error *error)
{
    const sf_match_options options = {.device = device, .threads = b->threads};
    int status = measure(b, &options, "auto", error);
    sf_made_when(SF_MADE_NEVER);
    if (status == SF_OK) status = measure(b, &options, "auto, candidates of the CPU", error);
    sf_made_when(SF_MADE_ALWAYS);
    if (status == SF_OK) status = measure(b, &options, "auto, candidates of the device", error);
    sf_made_when(SF_MADE_WORTH);
    return status;
}

/* The CPU and, where there are devices, the choice beside it: on so many threads. */
static int measure_choice(benchmark *b, unsigned threads, sf_error *error)
{
    int status = measure(b, &(sf_match_options){.device = "cpu", .threads = threads}, "auto", error);
    if (status == SF_OK && sf_device_count() > 0)
        status = measure(b, &(sf_match_options){.device = "auto", .threads = threads}, "auto", error);
    return status;
}

/* The engine auto on every device, on one core and on all, and where the work puts it. */
static int measure_everywhere(benchmark *b, sf_error *error)
{
    int status = SF_OK;
    memset(b->work.there, 0, sizeof b->work.there);
    for (uint32_t d = 0; d < sf_device_count() && status == SF_OK; d++) {
        const char *name = sf_device_name(sf_device_at(d));
        if (app_bench_device(d) == NULL) continue;
        status = measure_there(b, name, error);
    }
    if (status == SF_OK) status = measure_choice(b, 1, error);
    if (status == SF_OK && b->threads > 1) status = measure_choice(b, b->threads, error);
    return status;
}

/* The first thousand embeddings, on all cores and on every device. */
static int measure_first(benchmark *b, sf_error *error)
{
    sf_match_options options = {.device = "cpu", .threads = b->threads, .limit = 1000, .keep = 1000};
    int status = measure(b, &options, "auto, the first 1,000", error);
    for (uint32_t d = 0; d < sf_device_count() && status == SF_OK; d++) {
        options.device = sf_device_name(sf_device_at(d));
        if (app_bench_device(d) != NULL) status = measure(b, &options, "auto, the first 1,000", error);
    }
    return status;
}

/* The engine gvsm beside it, on every device. */
static int measure_both(benchmark *b, sf_error *error)
{
    int status = measure_everywhere(b, error);
    if (status == SF_OK) status = measure_first(b, error);
    for (uint32_t d = 0; d < sf_device_count() && status == SF_OK; d++) {
        const char *name = sf_device_name(sf_device_at(d));
        sf_match_options options = {.engine = "gvsm", .device = name, .threads = b->threads};
        if (app_bench_device(d) == NULL) continue;
        status = measure(b, &options, "gvsm", error);
        options.without = SF_GVSM_STAY;
        if (status == SF_OK) status = measure(b, &options, "gvsm, no layers stay", error);
    }
    return status;
}

/* The engine gvsm, and what each of its techniques is worth. */
static int measure_gvsm(benchmark *b, sf_error *error)
{
    static const struct {
        sf_match_options how;
        const char *name;
    } variants[] = {{{.without = 0}, "gvsm"},
                    {{.without = SF_GVSM_BLACKLIST}, "gvsm, no blacklist"},
                    {{.without = SF_GVSM_IMPLICATION}, "gvsm, no implication"},
                    {{.without = SF_GVSM_TWINS}, "gvsm, no twins"},
                    {{.without = SF_GVSM_ORDER}, "gvsm, no order"},
                    {{.without = SF_GVSM_TWIGS}, "gvsm, no twigs"},
                    {{.without = SF_GVSM_STAY}, "gvsm, no layers stay"},
                    {{.without = SF_GVSM_STAY, .slots = 2}, "gvsm, no layers stay, two slots"},
                    {{.without = SF_GVSM_STAY | SF_GVSM_PIPELINE}, "gvsm, no layers stay, no pipeline"},
                    {{.threshold = 4096}, "gvsm, layers up to 4096 stay"},
                    {{.threshold = 65536}, "gvsm, layers up to 65536 stay"},
                    {{.without = SF_GVSM_PAIRS}, "gvsm, one twig a kernel"}};
    enum { OF_DEVICES = 6 }; /* the last, which the CPU does not have */
    int status = SF_OK;
    for (uint32_t d = 0; d <= sf_device_count() && status == SF_OK; d++) {
        size_t count = sizeof variants / sizeof variants[0] - (d > 0 ? 0 : OF_DEVICES);
        if (d > 0 && app_bench_device(d - 1) == NULL) continue;
        for (size_t v = 0; v < count && status == SF_OK; v++) {
            sf_match_options options = variants[v].how;
            options.engine = "gvsm";
            options.device = d > 0 ? sf_device_name(sf_device_at(d - 1)) : "cpu";
            options.threads = b->threads;
            status = measure(b, &options, variants[v].name, error);
        }
    }
    return status;
}

/* ---- patterns ---- */

/* Edges between vertices of a set of the graph, and their labels, as a pattern. */
static int pattern_of(sf_pattern *pattern, const sf_csr *data, const uint32_t *vertices, uint32_t count,
                      sf_error *error)
{
    int status = SF_OK;
    for (uint32_t i = 0; i < count && status == SF_OK; i++)
        status = sf_pattern_add_vertex(
            pattern, NULL, data->vertex_labels != NULL ? data->vertex_labels[vertices[i]] : SF_ANY_LABEL,
            error);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i && status == SF_OK; j++)
            if (sf_csr_find(data, vertices[j], vertices[i]) != UINT64_MAX)
                status = sf_pattern_add_edge(pattern, j, i, SF_ANY_LABEL, false, error);
    return status;
}

static bool is_among(const uint32_t *vertices, uint32_t count, uint32_t v)
{
    for (uint32_t i = 0; i < count; i++)
        if (vertices[i] == v) return true;
    return false;
}

/* Grows a connected part of the graph from a random vertex, by a random neighbour of a random member. */
static void draw_vertices(uint32_t *vertices, const sf_csr *data, sf_random *random, uint32_t size)
{
    uint32_t count = 1;
    do
        vertices[0] = (uint32_t)sf_random_below(random, data->vertex_count);
    while (sf_csr_degree(data, vertices[0]) < size);
    while (count < size) {
        uint32_t v = vertices[sf_random_below(random, count)];
        uint32_t x = data->targets[data->offsets[v] + sf_random_below(random, sf_csr_degree(data, v))];
        if (!is_among(vertices, count, x)) vertices[count++] = x;
    }
}

static int draw_pattern(workload *w, sf_random *random, uint32_t size, sf_error *error)
{
    uint32_t vertices[SF_PATTERN_MOST];
    draw_vertices(vertices, &w->data, random, size);
    return pattern_of(&w->patterns[w->count++], &w->data, vertices, size, error);
}

/* How many labels the vertices and edges of a graph have; 0: none. */
typedef struct labelling {
    uint32_t vertices, edges;
} labelling;

/* Vertices and edges labelled 0, 1, ... in turn; edges as pairs of letters. */
static int add_shape(workload *w, uint32_t size, const char *edges, labelling labels, sf_error *error)
{
    sf_pattern *pattern = &w->patterns[w->count++];
    int status = SF_OK;
    for (uint32_t u = 0; u < size && status == SF_OK; u++)
        status = sf_pattern_add_vertex(pattern, NULL,
                                       labels.vertices > 0 ? u % labels.vertices : SF_ANY_LABEL, error);
    for (uint32_t e = 0; edges[2 * e] != '\0' && status == SF_OK; e++)
        status =
            sf_pattern_add_edge(pattern, (uint32_t)(edges[2 * e] - 'a'), (uint32_t)(edges[2 * e + 1] - 'a'),
                                labels.edges > 0 ? e % labels.edges : SF_ANY_LABEL, false, error);
    return status;
}

/* ---- graphs ---- */

static int build(workload *w, sf_edge_list *list, sf_error *error)
{
    w->embeddings = UINT64_MAX;
    int status = sf_csr_build(&w->data, list, SF_CSR_SIMPLE, error);
    sf_edge_list_free(list);
    return status == SF_OK ? sf_match_open(&w->index, &w->data, error) : status;
}

static int read_data(benchmark *b, const char *name, const char *path, sf_error *error)
{
    sf_edge_list list;
    b->work.name = name;
    int status = sf_graph_read(&list, path, NULL, error);
    return status == SF_OK ? build(&b->work, &list, error) : status;
}

static int draw_data(benchmark *b, const char *name, const sf_power_law *kind, sf_error *error)
{
    sf_edge_list list;
    b->work.name = name;
    int status = sf_power_law_edges(&list, kind, error);
    return status == SF_OK ? build(&b->work, &list, error) : status;
}

/* ---- the works ---- */

/* 40 dense patterns of 8 to 32 vertices in the human protein network. */
static int bench_proteins(benchmark *b, sf_error *error)
{
    char path[4096];
    if (!app_bench_data(b->call, "subgraph/hprd/HPRD.graph", path, sizeof path)) {
        app_warn(b->call, "there is no %s: hprd is left out", path);
        return SF_OK;
    }
    int status = read_data(b, "hprd", path, error);
    static const int sizes[] = {8, 16, 24, 32};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (int q = 1; q <= 200 && b->work.count < MOST_PATTERNS && status == SF_OK; q++) {
            char file[128];
            sf_edge_list list;
            snprintf(file, sizeof file, "subgraph/hprd/query/query_dense_%d_%d.graph", sizes[s], q);
            if (!app_bench_data(b->call, file, path, sizeof path)) continue;
            status = sf_graph_read(&list, path, NULL, error);
            if (status != SF_OK) break;
            list.directed = false;
            status = sf_pattern_of_graph(&b->work.patterns[b->work.count++], &list, error);
            sf_edge_list_free(&list);
        }
    }
    return status == SF_OK ? measure_everywhere(b, error) : status;
}

static int bench_worm(benchmark *b, sf_error *error)
{
    static const char loop[] = "A -> B; B -> C; A -> C";
    char path[4096];
    if (!app_bench_data(b->call, "subgraph/celegans/celegans_chem.edges", path, sizeof path)) {
        app_warn(b->call, "there is no %s: celegans is left out", path);
        return SF_OK;
    }
    sf_edge_list list;
    int status = sf_graph_read(&list, path, NULL, error);
    if (status == SF_OK) {
        list.directed = true;
        b->work.name = "celegans feed-forward loop";
        status = build(&b->work, &list, error);
    }
    if (status == SF_OK)
        status = sf_motif_parse(&b->work.patterns[b->work.count++], "pattern", loop, strlen(loop), error);
    return status == SF_OK ? measure_everywhere(b, error) : status;
}

/* A generated graph of the size of wiki-Vote, and 24 connected patterns of 4 to 8 vertices from it. */
static int bench_votes(benchmark *b, const char *name, uint32_t labels, bool gvsm, sf_error *error)
{
    const sf_power_law kind = {7115, 103500, 0.72, 12, labels, 1}; /* repeated edges count once */
    int status = draw_data(b, name, &kind, error);
    sf_random random = sf_random_start(kind.seed, 2);
    for (uint32_t i = 0; i < 24 && status == SF_OK; i++)
        status = draw_pattern(&b->work, &random, 4 + i % 5, error);
    if (status == SF_OK) status = gvsm ? measure_gvsm(b, error) : measure_everywhere(b, error);
    return status;
}

static int bench_four_labels(benchmark *b, sf_error *error)
{
    b->work.limit_s = LONG_LIMIT_S;
    return bench_votes(b, "votes, 4 labels", 4, false, error);
}

static int bench_ten_labels(benchmark *b, sf_error *error)
{
    return bench_votes(b, "votes, 10 labels", 10, false, error);
}

/* A graph of the size of Gowalla's, and 12 connected patterns each of 8 and of 12 vertices from it: what
 * newer papers measure, with 16 labels. */
static int bench_power_law(benchmark *b, sf_error *error)
{
    const sf_power_law kind = {196591, 950327, 0.72, 12, 16, 1};
    static const uint32_t sizes[] = {8, 12};
    int status = SF_OK;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0] && status == SF_OK; s++) {
        char name[48];
        snprintf(name, sizeof name, "power law, 16 labels, %u vertices", sizes[s]);
        status = draw_data(b, name, &kind, error);
        sf_random random = sf_random_start(kind.seed, 4);
        for (uint32_t i = 0; i < 12 && status == SF_OK; i++)
            status = draw_pattern(&b->work, &random, sizes[s], error);
        if (status == SF_OK) status = measure_everywhere(b, error);
        close_workload(&b->work);
    }
    return status;
}

/* Many small searches, and one of which each layer is larger than the one before. */
static int bench_techniques(benchmark *b, sf_error *error)
{
    const sf_power_law kind = {7115, 103500, 0.72, 12, 4, 1};
    int status = bench_votes(b, "votes, 40 labels", 40, true, error);
    close_workload(&b->work);
    if (status == SF_OK) status = draw_data(b, "votes, 4 labels, house", &kind, error);
    if (status == SF_OK)
        status = add_shape(&b->work, 5, "abbccddaeaeb", (labelling){.vertices = kind.labels}, error);
    return status == SF_OK ? measure_gvsm(b, error) : status;
}

static int bench_clique(benchmark *b, sf_error *error)
{
    const sf_power_law kind = {7115, 103500, 0.72, 12, 0, 1};
    int status = draw_data(b, "votes, 5-clique", &kind, error);
    if (status == SF_OK) status = add_shape(&b->work, 5, "abacadaebcbdbecdcede", (labelling){0}, error);
    return status == SF_OK ? measure_everywhere(b, error) : status;
}

typedef struct shape {
    const char *name, *edges;
    uint32_t size;
} shape;

/* Each shape by itself. */
static int bench_shapes(benchmark *b, const shape *shapes, size_t count, labelling labels,
                        int (*measure_shape)(benchmark *b, sf_error *error), sf_error *error)
{
    int status = SF_OK;
    for (size_t s = 0; s < count && status == SF_OK; s++) {
        b->work.name = shapes[s].name;
        b->work.embeddings = UINT64_MAX;
        status = add_shape(&b->work, shapes[s].size, shapes[s].edges, labels, error);
        if (status == SF_OK) status = measure_shape(b, error);
        sf_pattern_free(&b->work.patterns[0]);
        b->work.patterns[0] = (sf_pattern){0};
        b->work.count = 0;
    }
    return status;
}

/* Square, house, ladder of three rungs, ladder with a tail: little of them is left to products. */
static int bench_large(benchmark *b, sf_error *error)
{
    static const shape shapes[] = {{"10 M edges, square", "abbccdda", 4},
                                   {"10 M edges, house", "abbccddaeaeb", 5},
                                   {"10 M edges, ladder", "abbccdaddeeffc", 6},
                                   {"10 M edges, ladder with tail", "abbccdaddeeffcfg", 7}};
    const sf_power_law kind = {1000000, 10000000, 0.6, 50, 4, 1};
    int status = draw_data(b, NULL, &kind, error);
    return status == SF_OK ? bench_shapes(b, shapes, sizeof shapes / sizeof shapes[0],
                                          (labelling){.vertices = kind.labels}, measure_both, error)
                           : status;
}

/* Labels of vertices or edges, by chance. */
static int draw_labels(sf_columns *columns, size_t rows, uint32_t labels, sf_error *error)
{
    size_t column;
    sf_random random = sf_random_start(1, 4);
    int status = sf_columns_grow(columns, rows, error);
    if (status == SF_OK) status = sf_columns_add(columns, SF_LABEL_COLUMN, &column, error);
    for (size_t row = 0; row < rows && status == SF_OK; row++)
        columns->items[column].values[row] = (double)sf_random_below(&random, labels);
    return status;
}

/* The engines beside each other where edges have labels too. */
static int measure_edge_labels(benchmark *b, sf_error *error)
{
    int status = measure_everywhere(b, error);
    return status == SF_OK ? measure_gvsm(b, error) : status;
}

static int bench_edge_labels(benchmark *b, sf_error *error)
{
    static const shape shapes[] = {{"edge labels, square", "abbccdda", 4},
                                   {"edge labels, house", "abbccddaeaeb", 5},
                                   {"edge labels, ladder", "abbccdaddeeffc", 6}};
    const sf_power_law kind = {20000, 1000000, 0.6, 50, 4, 1};
    const labelling labels = {.vertices = kind.labels, .edges = 4};
    sf_edge_list list;
    int status = sf_power_law_edges(&list, &kind, error);
    if (status == SF_OK) status = draw_labels(&list.edge_columns, list.edge_count, labels.edges, error);
    if (status == SF_OK) status = build(&b->work, &list, error);
    return status == SF_OK
               ? bench_shapes(b, shapes, sizeof shapes / sizeof shapes[0], labels, measure_edge_labels, error)
               : status;
}

/* A graph with hubs, whose candidates take long to make. */
static int bench_kronecker(benchmark *b, unsigned scale, const shape shapes[3], sf_error *error)
{
    enum { LABELS = 64 };
    const sf_kronecker kind = {.scale = scale, .edge_factor = 16, .seed = 1};
    sf_edge_list list;
    int status = sf_kronecker_edges(&list, &kind, b->threads, NULL, error);
    if (status == SF_OK) status = draw_labels(&list.vertex_columns, list.vertex_count, LABELS, error);
    if (status == SF_OK) status = build(&b->work, &list, error);
    return status == SF_OK
               ? bench_shapes(b, shapes, 3, (labelling){.vertices = LABELS}, measure_everywhere, error)
               : status;
}

static int bench_kronecker_20(benchmark *b, sf_error *error)
{
    static const shape shapes[] = {{"Kronecker 20, triangle", "abbcca", 3},
                                   {"Kronecker 20, square", "abbccdda", 4},
                                   {"Kronecker 20, house", "abbccddaeaeb", 5}};
    return bench_kronecker(b, 20, shapes, error);
}

static int bench_kronecker_22(benchmark *b, sf_error *error)
{
    static const shape shapes[] = {{"Kronecker 22, triangle", "abbcca", 3},
                                   {"Kronecker 22, square", "abbccdda", 4},
                                   {"Kronecker 22, house", "abbccddaeaeb", 5}};
    return bench_kronecker(b, 22, shapes, error);
}

/* The same edges and shapes with ever more labels, which the generator draws apart from the edges. */
static int bench_labels(benchmark *b, sf_error *error)
{
    int status = SF_OK;
    for (uint32_t labels = 2; labels <= 64 && status == SF_OK; labels *= 2) {
        const sf_power_law kind = {7115, 103500, 0.72, 12, labels, 1};
        char name[32];
        snprintf(name, sizeof name, "votes, %u labels", labels);
        status = draw_data(b, name, &kind, error);
        sf_random random = sf_random_start(kind.seed, 2);
        for (uint32_t i = 0; i < 24 && status == SF_OK; i++)
            status = draw_pattern(&b->work, &random, 4 + i % 5, error);
        const sf_match_options ways[] = {{.device = "cpu", .threads = b->threads},
                                         {.device = "cpu", .threads = b->threads, .engine = "gvsm"}};
        for (size_t w = 0; w < 2 && status == SF_OK; w++)
            status = measure(b, &ways[w], w == 0 ? "auto" : "gvsm", error);
        close_workload(&b->work);
    }
    return status;
}

/* ---- forced orders ---- */

/* Of one pattern: neighbours tried by the order that gvsm chooses, and by the best and worst of all. */
typedef struct orders {
    double chosen, best, worst;
    uint64_t count;
    size_t numberings;
} orders;

/* The next permutation of ascending numbers, in lexicographic order; false after the last. */
static bool permute(uint32_t *items, uint32_t count)
{
    uint32_t i = count - 1, j = count - 1;
    while (i > 0 && items[i - 1] >= items[i])
        i--;
    if (i == 0) return false;
    while (items[j] <= items[i - 1])
        j--;
    uint32_t kept = items[i - 1];
    items[i - 1] = items[j];
    items[j] = kept;
    for (j = count - 1; i < j; i++, j--) {
        kept = items[i];
        items[i] = items[j];
        items[j] = kept;
    }
    return true;
}

static int try_order(benchmark *b, orders *of, const uint32_t *vertices, uint32_t size, bool chooses,
                     sf_error *error)
{
    sf_pattern pattern = {0};
    sf_match_result result;
    const sf_match_options options = {
        .engine = "gvsm", .device = "cpu", .threads = 1, .without = chooses ? 0 : SF_GVSM_ORDER};
    int status = pattern_of(&pattern, &b->work.data, vertices, size, error);
    if (status == SF_OK) status = sf_match_run(b->work.index, &pattern, &options, &result, NULL, error);
    sf_pattern_free(&pattern);
    if (status != SF_OK) return status;
    double tried = (double)result.steps;
    if (chooses) {
        of->chosen = tried;
        of->count = result.count;
        return SF_OK;
    }
    of->best = of->numberings == 0 || tried < of->best ? tried : of->best;
    of->worst = tried > of->worst ? tried : of->worst;
    of->numberings++;
    return result.count == of->count
               ? SF_OK
               : sf_fail(error, SF_INTERNAL, b->work.name,
                         "an order found %" PRIu64 " embeddings, expected %" PRIu64, result.count, of->count);
}

/* Without its order gvsm takes the vertices as they are numbered: all numberings force all its orders. */
static int try_orders(benchmark *b, orders *of, const uint32_t *vertices, uint32_t size, sf_error *error)
{
    uint32_t places[SF_PATTERN_MOST], numbered[SF_PATTERN_MOST];
    for (uint32_t u = 0; u < size; u++)
        places[u] = u;
    int status = try_order(b, of, vertices, size, true, error);
    do {
        for (uint32_t u = 0; u < size; u++)
            numbered[u] = vertices[places[u]];
        if (status == SF_OK) status = try_order(b, of, numbered, size, false, error);
    } while (status == SF_OK && permute(places, size));
    return status;
}

static void report_orders(benchmark *b, const orders *of, double best, double within, double worse)
{
    app_bench_row(b->rows, "cpu");
    app_bench_text(b->rows, "work", b->work.name);
    app_bench_number(b->rows, "numberings", (double)of->numberings);
    app_bench_number(b->rows, "embeddings", (double)of->count);
    app_bench_number(b->rows, "tried_chosen", of->chosen);
    app_bench_number(b->rows, "tried_best", of->best);
    app_bench_number(b->rows, "tried_worst", of->worst);
    app_bench_number(b->rows, "chosen_is_best", best);
    app_bench_number(b->rows, "within_a_tenth", within);
    app_bench_number(b->rows, "worst_over_best", worse);
}

/* 24 patterns of 5 vertices: what the order of gvsm tries beside all others. The last row is of all: sums,
 * and shares of the patterns. */
static int bench_orders(benchmark *b, sf_error *error)
{
    enum { PATTERNS = 24, SIZE = 5 };
    const sf_power_law kind = {7115, 103500, 0.72, 12, 40, 1};
    double best = 0, within = 0;
    orders all = {0};
    int status = draw_data(b, "votes, 40 labels", &kind, error);
    sf_random random = sf_random_start(kind.seed, 3);
    for (uint32_t i = 0; i < PATTERNS && status == SF_OK; i++) {
        uint32_t vertices[SF_PATTERN_MOST];
        orders one = {0};
        draw_vertices(vertices, &b->work.data, &random, SIZE);
        status = try_orders(b, &one, vertices, SIZE, error);
        if (status != SF_OK) break;
        bool is_best = one.chosen <= one.best, is_near = one.chosen <= 1.1 * one.best;
        report_orders(b, &one, is_best, is_near, one.worst / one.best);
        best += is_best;
        within += is_near;
        all = (orders){all.chosen + one.chosen, all.best + one.best, all.worst + one.worst,
                       all.count + one.count, all.numberings + one.numberings};
    }
    b->work.name = "all patterns";
    if (status == SF_OK) report_orders(b, &all, best / PATTERNS, within / PATTERNS, all.worst / all.best);
    return status;
}

static const struct {
    const char *name;
    int (*run)(benchmark *b, sf_error *error);
    bool only_named;
} works[] = {{"hprd", bench_proteins, false},
             {"celegans", bench_worm, false},
             {"votes-4", bench_four_labels, false},
             {"votes-10", bench_ten_labels, false},
             {"clique", bench_clique, false},
             {"gvsm", bench_techniques, false},
             {"large", bench_large, false},
             {"edge-labels", bench_edge_labels, true},
             {"power-law", bench_power_law, true},
             {"labels", bench_labels, true},
             {"orders", bench_orders, true},
             {"kronecker-20", bench_kronecker_20, true},
             {"kronecker-22", bench_kronecker_22, true}};

static const char *const parts[] = {"hprd",   "celegans",     "votes-4",      "votes-10",  "clique",
                                    "gvsm",   "large",        "edge-labels",  "power-law", "labels",
                                    "orders", "kronecker-20", "kronecker-22", NULL};

static int run(const app_call *call, app_bench_rows *rows, sf_error *error)
{
    app_bench_options options;
    int status = app_bench_read(&options, call, error);
    benchmark b = {.call = call, .rows = rows, .threads = options.threads};
    for (size_t i = 0; i < sizeof works / sizeof works[0] && status == SF_OK; i++) {
        if (app_bench_wants(call, works[i].name) && (!works[i].only_named || call->argument_count > 1))
            status = works[i].run(&b, error);
        close_workload(&b.work);
    }
    return status;
}

static const char *const options[] = {"data", "threads", NULL};

const app_bench app_bench_match = {.name = "match", .parts = parts, .options = options, .run = run};
