/* SPDX-License-Identifier: Apache-2.0 */
/* synfire match: labelled subgraph matching. */
#include "app/connect.h"
#include "app/csv.h"
#include "app/document.h"
#include "app/load.h"
#include "app/mining.h"
#include "app/rewired.h"
#include "app/significance.h"

#include "core/describe/column.h"
#include "core/row_macros.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LISTED = 1000, TABLE_TOP = 20 };

static const app_option options[] = {
    {"csv", NULL,
     "print what is listed as CSV, a row for each vertex of an embedding; or the census; docs/formats.md has "
     "the columns"},
    {"count", NULL, "count only, which is faster (default: list embeddings, the first 1,000, and count all)"},
    {.name = "distinct"},
    {.name = "limit"},
    {.name = "time-limit"},
    {.name = "semantics"},
    {"induced", NULL, "the same as --semantics induced"},
    {"directed", NULL,
     "take the lines of .graph patterns and data as directed edges (the motif language always is)"},
    {.name = "engine"},
    {.name = "features"},
    {.name = "slots"},
    {.name = "threshold"},
    {"rewired", NULL,
     "hold the count against N graphs rewired at random, every vertex with its degrees: mean, spread, "
     "z-score"},
    {"device", "NAME",
     "where: cpu, cuda, cuda:1 (the second GPU) or auto (default: a GPU for long searches)"},
    {"explain", NULL,
     "show where it ran and why, the order of matching and what pruning left (on stderr with --json)"},
    {NULL, NULL, NULL},
};

typedef struct matching {
    const app_call *call;
    sf_motif *motif;
    sf_graph *graph;
    sf_match_options options;
    unsigned features; /**< of sf_gvsm_feature */
    sf_matches *matches;
    bool stopped; /**< before all was searched */
    app_stop stop;
    app_rewired rewired;
    sf_spread spread;         /**< of the count, where --rewired was given */
    sf_graph_columns g;       /**< of the graph, */
    sf_matches_columns found; /**< and of what was found in it */
    sf_ran ran;               /**< a copy of its */
} matching;

/* ---- options ---- */

static const char census[] = "census"; /* stands for a pattern */

static bool is_census(const app_call *call)
{
    return strcmp(call->arguments[1], census) == 0;
}

/* Refuses options of pattern search that the census does not take. */
static int refuse_pattern_options(const app_call *call, sf_error *error)
{
    static const char *const others[] = {"count",  "distinct", "limit", "time-limit", "semantics", "induced",
                                         "engine", "features", "slots", "threshold",  "explain",   NULL};
    static const char *const of_device[] = {"device", NULL};
    if (!is_census(call)) return SF_OK;
    int status = app_refuse(call, others, "does not go with census, which counts all triads", error);
    if (status == SF_OK && !app_has(call, "rewired"))
        status =
            app_refuse(call, of_device, "goes with census --rewired: the census itself is the CPU's", error);
    return status;
}

/* A limit leaves a lower bound, which says nothing beside other counts. */
static int refuse_limits(const matching *m, sf_error *error)
{
    if (!m->rewired.asked || (m->options.limit == 0 && m->options.time_limit_s <= 0)) return SF_OK;
    return sf_fail(error, SF_USAGE, "--rewired", "needs the whole count: leave --limit and --time-limit out");
}

#define EVERY_FEATURE (SF_GVSM_PAIRS * 2 - 1)

static const char *const techniques[] = {"blacklist", "implication", "twins", "order", "twigs", "pipeline",
                                         "stay",      "pairs",       "none",  NULL}; /* as their bits */
static const matching usual = {.features = EVERY_FEATURE};

#define ROW matching
static const sf_key rows[] = {
    SET("features", features, techniques, .argument = "LIST", .zero = "all",
        .what = "of --engine gvsm: with these of its techniques alone, as blacklist,order: blacklist, "
                "implication, twins, order, twigs, pipeline, stay, pairs, or none"),
    {0},
};
#undef ROW

static const sf_key_table features_table = SF_KEY_TABLE(rows, usual);

static int read_features(matching *m, const app_call *call, sf_error *error)
{
    static const char *const of_gvsm[] = {"features", "slots", "threshold", NULL};
    static const char *const of_pipeline[] = {"slots", NULL}, *const of_stay[] = {"threshold", NULL};
    sf_match_options *how = &m->options;
    int status = how->engine != NULL && strcmp(how->engine, "gvsm") == 0
                     ? SF_OK
                     : app_refuse(call, of_gvsm, "goes with --engine gvsm", error);
    m->features = EVERY_FEATURE;
    if (status == SF_OK) status = app_options_read(call, &features_table, m, error);
    how->without = EVERY_FEATURE & ~m->features;
    if (status == SF_OK && (m->features & SF_GVSM_PIPELINE) == 0)
        status = app_refuse(call, of_pipeline, "goes with the feature pipeline, which --features leaves out",
                            error);
    if (status == SF_OK && (m->features & SF_GVSM_STAY) == 0)
        status = app_refuse(call, of_stay, "goes with the feature stay, which --features leaves out", error);
    return status;
}

static int read_options(matching *m, const app_call *call, sf_error *error)
{
    m->options = sf_match_options_default();
    int status = app_options_read(call, &sf_match_table, &m->options, error);
    if (status == SF_OK && app_has(call, "induced") && m->options.semantics == SF_HOMOMORPHISM)
        status = sf_fail(error, SF_USAGE, "--induced", "goes with isomorphism only");
    else if (app_has(call, "induced"))
        m->options.semantics = SF_INDUCED;
    uint64_t listed = m->options.limit > 0 ? m->options.limit : LISTED;
    m->options.keep = app_has(call, "count") ? 0 : (size_t)listed;
    if (status == SF_OK) status = app_device(&m->options.device, call, error);
    if (status == SF_OK) status = app_rewired_parse(&m->rewired, call, error);
    if (status == SF_OK) status = refuse_pattern_options(call, error);
    if (status == SF_OK) status = read_features(m, call, error);
    return status == SF_OK ? refuse_limits(m, error) : status;
}

/* ---- data ---- */

/* Parallel edges are kept where they carry values that a pattern can ask for. */
static int read_data(matching *m, sf_error *error)
{
    static const char *const own[] = {"threads", "seed", "max-p", "max-q", NULL};
    const app_call *call = m->call;
    const char *path = call->arguments[0];
    const sf_progress progress = app_progress(call);
    sf_graph_options as = sf_graph_options_default();
    as.parallel = is_census(call) ? SF_PARALLEL_DROP : SF_PARALLEL_WITH_VALUES;
    as.undirected = !is_census(call) && !sf_motif_is_directed(m->motif);
    as.directed = app_has(call, "directed") && !as.undirected;
    const bool is_recording = app_is_recording(call, path);
    int status;
    if (is_recording)
        status = app_connect_file(&m->graph, call, path, &as, error);
    else if ((status = app_refuse_recording_options(call, own, error)) == SF_OK &&
             (status = app_options_read(call, &sf_graph_table, &as, error)) == SF_OK)
        status = app_name_option(call, sf_graph_open(&m->graph, path, &as, &progress, error), error);
    if (status == SF_OK && !is_recording) {
        app_limits_warn(call);
        app_tell_pairs(call, path);
    }
    m->g.size = sizeof m->g;
    if (status == SF_OK) sf_graph_get_columns(m->graph, &m->g);
    return status;
}

/* ---- output ---- */

#define ROW matching
SF_GETTER(get_order)
{
    const sf_matches_columns *found = &((const matching *)of)->found;
    value->known = true;
    value->group = found->order;
    value->group_size = found->vertex_count;
}

SF_LENGTH(count_embeddings)
{
    const matching *m = of;
    *length = m->found.kept;
    return column->is.type == SF_COLUMN_UNITS || m->g.names != NULL;
}

SF_GETTER(get_embedding)
{
    const matching *m = of;
    value->known = true;
    value->names = m->g.names;
    value->group = m->found.embeddings + item * m->found.vertex_count;
    value->group_size = m->found.vertex_count;
}

SF_LENGTH(count_vertices)
{
    *length = ((const matching *)of)->found.vertex_count;
    return true;
}

SF_GETTER(get_vertex)
{
    sf_value_set_text(value, ((const matching *)of)->found.vertex_names[item]);
}

SF_GETTER(get_rewired)
{
    sf_value_set_record(value, ((const matching *)of)->rewired.made > 0 ? of : NULL, 0);
}

static const sf_column_row rewired_rows[] = {
    APP_ROWS_REWIRED(rewired.),
    SF_FIELD_IS(REAL, "mean", spread.mean, "count in them", .null = "not known"),
    SF_FIELD_IS(REAL, "sd", spread.sd, "standard deviation of their counts", .null = "not known"),
    SF_FIELD_IS(REAL, "z", spread.z, "(count - mean) / sd", .null = "sd is 0"),
};

static const sf_column_row document_rows[] = {
    SF_FIELD_IS(COUNT, "count", found.count, "embeddings"),
    SF_FIELD_IS(FLAG, "truncated", found.truncated, "a limit stopped the search: count is a lower bound"),
    APP_ROW_SECONDS(ran.seconds),
    SF_GOT_BY(UNITS, "order", get_order, "in which vertices of the pattern were matched"),
    SF_FIELD_IS(COUNT, "blacklisted", found.blacklisted, "data vertices that can match nothing"),
    SF_LIST_BY(UNITS, "embeddings", get_embedding, count_embeddings,
               "the first of them: the data vertex of every vertex of the pattern"),
    SF_FIELD_IS(COUNT, "listed", found.kept, "how many these are"),
    SF_LIST_BY(NAMES, "names", get_embedding, count_embeddings, "of the vertices in embeddings",
               .null = "vertices have none"),
    SF_LIST_BY(TEXT, "vertices", get_vertex, count_vertices,
               "names of the pattern's vertices, in the order of embeddings", .item_null = "it has none"),
    APP_ROW_ENGINE(ran),
    APP_ROW_DEVICE(ran),
    APP_ROW_DEVICE_NOTE(ran),
    SF_RECORD_BY("rewired", get_rewired, rewired_rows, "of --rewired", APP_NO_REWIRED),
    APP_ROW_EDGES_TESTED(g),
    APP_ROW_STOPPED(stop.where),
};
#undef ROW

static const sf_table document = {
    .name = "matches", .about = "where a pattern is in a graph", SF_TABLE_OF(document_rows)};

/* ---- CSV ---- */

/* A vertex of the pattern in an embedding. */
typedef struct embedded {
    uint64_t embedding, vertex;
    const char *vertex_name;
    uint32_t unit;
    const char *unit_name;
} embedded;

#define ROW embedded
static const sf_column_row embedded_rows[] = {
    SF_MEMBER_IS(COUNT, embedding, "its number, from 0"),
    SF_MEMBER_IS(COUNT, vertex, "0-based index of the pattern's vertex"),
    SF_MEMBER_IS(TEXT, vertex_name, "its name", .null = "it has none"),
    SF_MEMBER_IS(UNIT, unit, "0-based index of the unit, or vertex of the graph, that is in its place"),
    SF_MEMBER_IS(TEXT, unit_name, "its name", .null = "the graph has no names"),
};
#undef ROW

static const sf_table embeddings_table = {.name = "embeddings",
                                          .row = "embedded",
                                          .about = "vertices of the pattern in each embedding that is listed",
                                          SF_TABLE_OF(embedded_rows)};

static void print_csv(sf_text *text, const matching *m)
{
    const sf_matches_columns *found = &m->found;
    app_stop_print(text, &m->stop, "# ");
    app_csv csv = app_csv_start_table(text, &embeddings_table);
    for (size_t i = 0; i < found->kept * found->vertex_count; i++) {
        uint32_t vertex = (uint32_t)(i % found->vertex_count), unit = found->embeddings[i];
        const embedded row = {i / found->vertex_count, vertex, found->vertex_names[vertex], unit,
                              m->g.names != NULL ? m->g.names[unit] : NULL};
        app_csv_struct(&csv, &embeddings_table, &row);
    }
}

static void name_cell(app_table *table, const sf_matches_columns *found, uint32_t u)
{
    if (found->vertex_names[u] != NULL)
        app_table_cell(table, "%s", found->vertex_names[u]);
    else
        app_table_cell(table, "%u", u);
}

static void print_embeddings(sf_text *text, const matching *m)
{
    const sf_matches_columns *found = &m->found;
    size_t shown = found->kept < TABLE_TOP ? found->kept : TABLE_TOP;
    app_table table = {0};
    for (uint32_t u = 0; u < found->vertex_count; u++)
        name_cell(&table, found, u);
    for (size_t i = 0; i < shown * found->vertex_count; i++) {
        uint32_t v = found->embeddings[i];
        if (m->g.names != NULL)
            app_table_cell(&table, "%s", m->g.names[v]);
        else
            app_table_cell(&table, "#%u", v);
    }
    sf_text_printf(text, "\n");
    app_table_print(&table, text, found->vertex_count);
    if (shown < found->kept)
        sf_text_printf(text, "... %zu more of those listed: --json has all %zu\n", found->kept - shown,
                       found->kept);
    if (found->kept < found->count)
        sf_text_printf(text, "%zu of %" PRIu64 " embeddings are listed: --limit N lists N\n", found->kept,
                       found->count);
}

/* What chose the device, or the CPU. */
static void print_place(sf_text *text, const matching *m)
{
    const sf_matches_columns *found = &m->found;
    bool by_work = m->options.device == NULL || strcmp(m->options.device, "auto") == 0;
    sf_text_printf(text, "on %s: ", found->ran->device);
    if (found->ran->note[0] != '\0')
        sf_text_printf(text, "%s", found->ran->note);
    else if (!by_work)
        sf_text_printf(text, "as asked for");
    else if (found->estimate_s > 0)
        sf_text_printf(text, "the CPU was expected to take %.2g s", found->estimate_s);
    else
        sf_text_printf(text, "too short for a device");
    if (found->device_s > 0) sf_text_printf(text, "; %.3g s of searching there", found->device_s);
    sf_text_printf(text, "\n");
}

/* Prints the effect of the techniques that save or share work. */
static void print_techniques(sf_text *text, const sf_matches_columns *found)
{
    if (found->merged > 0 || found->implied > 0)
        sf_text_printf(
            text, "%" PRIu64 " data vertices share the branch of a twin, %" PRIu64 " tests were implied\n",
            found->merged, found->implied);
    if (found->shared > 0)
        sf_text_printf(text, "%" PRIu64 " parts of the search went from thread to thread\n", found->shared);
    if (found->pieces > 0)
        sf_text_printf(text, "%" PRIu64 " pieces of layers were expanded on the device and joined here\n",
                       found->pieces);
    if (found->stayed > 0)
        sf_text_printf(text,
                       "%" PRIu64 " layers stayed on the device: %" PRIu64 " twigs in %" PRIu64 " kernels\n",
                       found->stayed, found->twigs, found->kernels);
}

static void print_explanation(sf_text *text, const matching *m)
{
    const sf_matches_columns *found = &m->found;
    print_place(text, m);
    sf_text_printf(text,
                   "engine %s: %" PRIu64 " of %u data vertices can match nothing, %" PRIu64
                   " tried; every embedding found stands for %" PRIu64 "\n",
                   found->ran->engine, found->blacklisted, m->g.vertex_count, found->steps,
                   found->automorphisms);
    print_techniques(text, found);
    app_table table = {0};
    app_table_cell(&table, "order");
    app_table_cell(&table, "vertex");
    app_table_cell(&table, "with its label");
    app_table_cell(&table, "after pruning");
    for (uint32_t i = 0; i < found->vertex_count; i++) {
        uint32_t u = found->order[i];
        app_table_cell(&table, "%u", i + 1);
        name_cell(&table, found, u);
        app_table_cell(&table, "%" PRIu64, found->labelled[u]);
        app_table_cell(&table, "%" PRIu64, found->candidates[u]);
    }
    app_table_print(&table, text, 4);
}

static void print_spread(sf_text *text, const matching *m)
{
    if (m->rewired.made == 0) return;
    sf_text_printf(text, "in %u graphs rewired on %s %.6g on average, standard deviation %.3g",
                   m->rewired.made, m->rewired.ran.device, m->spread.mean, m->spread.sd);
    if (isnan(m->spread.z))
        sf_text_printf(text, ": no z\n");
    else
        sf_text_printf(text, ", z = %.3g%s\n", m->spread.z, app_edges_remark(&m->g));
}

static void print_text(sf_text *text, const app_call *call, const matching *m, bool explain)
{
    const sf_matches_columns *found = &m->found;
    app_stop_print(text, &m->stop, "");
    sf_text_printf(text, "%s%" PRIu64 " %sembeddings of %u vertices in %u, %.3g s\n",
                   found->truncated ? "at least " : "", found->count, m->options.distinct ? "distinct " : "",
                   found->vertex_count, m->g.vertex_count, found->ran->seconds);
    if (found->count == UINT64_MAX) sf_text_printf(text, "(more than 2^64 - 1)\n");
    app_edges_print(text, &m->g, false);
    if (m->rewired.asked) print_spread(text, m);
    if (found->kept > 0) print_embeddings(text, m);
    if (explain) {
        sf_text_printf(text, "\n");
        print_explanation(text, m);
    }
    app_doubts_print(text, call);
    while (text->length > 0 && text->data[text->length - 1] == '\n')
        text->length--; /* app_print ends the last line */
}

static int report(const app_call *call, const matching *m, sf_error *error)
{
    sf_text text = {0};
    bool explain = app_has(call, "explain");
    if (call->json && explain) {
        print_explanation(&text, m);
        app_write(stderr, &text);
        sf_text_clear(&text);
    }
    if (call->json)
        app_document_json(&text, call, &document, m);
    else if (app_has(call, "csv"))
        print_csv(&text, m);
    else
        print_text(&text, call, m, explain);
    return app_print(&text, error);
}

/* ---- the command ---- */

static void add_patterns(sf_text *text)
{
    sf_text_printf(text, " %s feed-forward-loop reciprocal-pair chain-3 diverging-3 converging-3", census);
    for (int t = 3; t < SF_TRIADS; t++) /* the first three are not connected */
        sf_text_printf(text, " %s", sf_triad_list()[t].name);
}

static int match(matching *m, const app_call *call, sf_error *error)
{
    const sf_progress progress = app_progress(call);
    m->options.stopped = &m->stopped;
    int status = sf_graph_match(&m->matches, m->graph, m->motif, &m->options, &progress, error);
    if (m->matches == NULL) return status;
    app_stop_take(&m->stop, status, "searching", error);
    status = SF_OK;
    m->found.size = sizeof m->found;
    sf_matches_get_columns(m->matches, &m->found);
    m->ran = *m->found.ran;
    app_device_warn(call, "matched", m->found.ran->device, m->found.ran->note);
    if (m->rewired.asked && !m->stopped)
        status = app_rewired_find(&m->spread, &m->found.count, m->graph, m->motif, &m->options, &m->rewired,
                                  &m->stop, call, error);
    return status == SF_OK ? app_stop_report(&m->stop, report(call, m, error), error) : status;
}

static int run(app_call *call, sf_error *error)
{
    matching m = {.call = call, .spread = {NAN, NAN, NAN}};
    app_catch_signals();
    int status = read_options(&m, call, error);
    if (status == SF_OK && !is_census(call))
        status = sf_motif_new(&m.motif, call->arguments[1], app_has(call, "directed"), error);
    if (status == SF_OK) status = read_data(&m, error);
    if (status == SF_OK)
        status = is_census(call) ? app_census(call, m.graph, &m.rewired, error) : match(&m, call, error);
    sf_matches_free(m.matches);
    sf_graph_free(m.graph);
    sf_motif_free(m.motif);
    return status;
}

const app_command app_command_match = {
    .name = "match",
    .alias = "motif",
    .group = "connect",
    .summary = "where a small pattern of connections occurs, and how often",
    .arguments = "DATA... PATTERN",
    .least_arguments = 2,
    .most_arguments = 2,
    .takes_several = true,
    .words = add_patterns,
    .words_at = 2,
    .example = "synfire match demo.graphml 'A -> B; B -> C; A -> C; C !> A'",
    .notes =
        "DATA is a graph file, such as `synfire graph --out` writes, or a recording, whose connectivity "
        "graph is taken.\n"
        "PATTERN is feed-forward-loop, reciprocal-pair, chain-N, diverging-N or converging-N (N from 2 to "
        "16), a .graph file, a pattern in the motif language, in a file or as it is, or census: all sets of "
        "three vertices by how they are joined.\n"
        "  A -> B [count >= 10, delay < 8]    an edge and what its attributes must be\n"
        "  C !> A                             an edge that must be absent\n"
        "  A.class = \"excitatory\"             of a vertex; operators = != < <= > >=\n"
        "  A.rate > C.rate                    of two vertices\n"
        "  B === C                            the two are interchangeable: the pair counts once\n"
        "  ffl(x, y, z) { x -> y; y -> z }    a macro, used as ffl(A, B, C)\n"
        "  030T(A, B, C)                      one of the 13 connected triads, induced; alone: 030T",
    .options = {options, app_match_connect_options, app_mining_options, app_significance_options,
                app_selection_options},
    .rows = {&features_table, &sf_match_table, &sf_mining_table, &sf_significance_table, &sf_rewired_table,
             &sf_drive_table},
    .tables = {&embeddings_table, &app_triads_table},
    .documents = {&document, &app_census_document},
    .run = run,
};
