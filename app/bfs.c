/* SPDX-License-Identifier: Apache-2.0 */
/* synfire bfs: levels and parents of everything that a source reaches, in a graph or a recording's graph. */
#include "app/connect.h"
#include "app/csv.h"
#include "app/document.h"
#include "app/load.h"
#include "app/mining.h"
#include "app/significance.h"

#include "core/describe/table.h"
#include "core/memory.h"
#include "core/row_macros.h"
#include "io/file.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const app_option options[] = {
    {"csv", NULL, "print every vertex reached as CSV; docs/formats.md has the columns"},
    {"source", "V",
     "where to start: the name of a unit or vertex, or #2 for index 2, counted from 0 (must be given); given "
     "again, one search from each, all at once"},
    {"directed", NULL,
     "follow edges in their direction only (default, but for Matrix Market: by its symmetry)"},
    {"undirected", NULL, "follow edges both ways"},
    {.name = "kronecker"},
    {.name = "direction"},
    {.name = "features"},
    {.name = "repeat"},
    {"target", "V",
     "tell the path to this unit or vertex; given again, to each (default: --json has the paths to all, of "
     "graphs of up to 10,000 vertices)"},
    {"out", "FILE", "write a line `vertex level parent` for each vertex; -1 where no path leads"},
    {0},
};

typedef struct reaching {
    const app_call *call;
    const char *kronecker; /**< NULL: a graph is named */
    sf_graph *graph;
    uint32_t *sources; /**< as given */
    size_t source_count;
    uint32_t *targets; /**< as given, or all of a small graph */
    size_t target_count;
    sf_search_options options;
    sf_searches *searches;
    bool stopped;
    app_stop stop;
    sf_graph_columns g; /**< of the graph, and of what was found in it */
    sf_searches_columns found;
} reaching;

static const reaching nothing;

#define ROW reaching
static const sf_key reaching_rows[] = {
    TEXT("kronecker", kronecker, .argument = "SCALE:EDGEFACTOR:SEED[:A,B,C]", .zero = "none",
         .what =
             "search a Kronecker graph with Graph500's parameters instead of G, or with the chances A,B,C of "
             "R-MAT"),
    {0},
};
#undef ROW

static const sf_key_table reaching_table = SF_KEY_TABLE(reaching_rows, nothing);

/* ---- the graph ---- */

static int read_graph(reaching *r, const sf_graph_options *as, sf_error *error)
{
    static const char *const own[] = {"device", "threads", "max-p", "max-q", NULL};
    const app_call *call = r->call;
    int status = app_refuse_recording_options(call, own, error);
    if (status == SF_OK) status = app_options_read(call, &reaching_table, r, error);
    if (status != SF_OK) return status;
    const char *kronecker = r->kronecker;
    if ((kronecker != NULL) == (call->argument_count > 0))
        return sf_fail(error, SF_USAGE, NULL, "takes a graph or --kronecker, and was given %s",
                       kronecker != NULL ? "both" : "neither");
    const sf_progress progress = app_progress(call);
    sf_graph_options how = *as;
    status = app_options_read(call, &sf_graph_table, &how, error);
    if (status == SF_OK && kronecker == NULL)
        status = sf_graph_open(&r->graph, call->arguments[0], &how, &progress, error);
    else if (status == SF_OK)
        status = sf_graph_kronecker(&r->graph, kronecker, &how, &progress, error);
    if (status == SF_USAGE && kronecker != NULL && how.max_p <= 0 && how.max_q <= 0)
        snprintf(error->place, sizeof error->place, "--kronecker");
    if (status == SF_OK) app_limits_warn(call);
    if (status == SF_OK && kronecker == NULL) app_tell_pairs(call, call->arguments[0]);
    return app_name_option(call, status, error);
}

/* Every value of the option: a unit of the recording, or a vertex of the graph. */
static int read_vertices(uint32_t **vertices, size_t *count, const reaching *r, const char *option,
                         const sf_recording *recording, sf_error *error)
{
    size_t from = 0, capacity = 0;
    int status = SF_OK;
    for (const char *given; status == SF_OK && (given = app_next_value(r->call, option, &from)) != NULL;) {
        void *room = *vertices;
        if (sf_reserve(&room, &capacity, *count + 1, sizeof **vertices) != 0) return sf_fail_memory(error);
        *vertices = room;
        uint32_t *next = &(*vertices)[(*count)++];
        status = recording != NULL ? sf_recording_find_unit(recording, given, next, error)
                                   : sf_graph_find(r->graph, given, next, error);
    }
    if (status != SF_OK) snprintf(error->place, sizeof error->place, "--%s", option);
    return status;
}

static int read_ends(reaching *r, const sf_recording *recording, sf_error *error)
{
    int status = read_vertices(&r->sources, &r->source_count, r, "source", recording, error);
    return status == SF_OK ? read_vertices(&r->targets, &r->target_count, r, "target", recording, error)
                           : status;
}

static int connect_recording(reaching *r, const sf_graph_options *as, sf_error *error)
{
    sf_recording *recording;
    int status = app_load(r->call, r->call->arguments[0], &recording, error);
    if (status != SF_OK) return status;
    status = read_ends(r, recording, error);
    if (status == SF_OK) status = app_connect(&r->graph, r->call, recording, as, NULL, error);
    sf_recording_free(recording);
    return status;
}

static int load(reaching *r, sf_error *error)
{
    const app_call *call = r->call;
    sf_graph_options as = sf_graph_options_default();
    as.undirected = app_has(call, "undirected");
    as.drop_loops = true;
    as.parallel = SF_PARALLEL_DROP;
    if (app_has(call, "directed") && as.undirected)
        return sf_fail(error, SF_USAGE, "--undirected", "excludes --directed");
    if (!app_has(call, "source"))
        return sf_fail(error, SF_USAGE, "--source", "is missing: say which vertex or unit to start at");
    if (call->argument_count > 0 && !app_has(call, "kronecker") && app_is_recording(call, call->arguments[0]))
        return connect_recording(r, &as, error);
    int status = read_graph(r, &as, error);
    return status == SF_OK ? read_ends(r, NULL, error) : status;
}

/* ---- the search ---- */

static int read_options(reaching *r, sf_error *error)
{
    static const char *const of_one[] = {"direction", "features", "repeat", "out", NULL};
    const app_call *call = r->call;
    r->options = sf_search_options_default();
    int status = r->source_count > 1 ? app_refuse(call, of_one, "goes with one --source", error) : SF_OK;
    if (status == SF_OK) status = app_options_read(call, &sf_search_table, &r->options, error);
    r->options.enterprise = app_has(call, "features");
    return status;
}

static int search(reaching *r, sf_error *error)
{
    int status = read_options(r, error);
    if (status != SF_OK) return status;
    const sf_progress progress = app_progress(r->call);
    r->options.stopped = &r->stopped;
    status =
        sf_graph_search(&r->searches, r->graph, r->sources, r->source_count, &r->options, &progress, error);
    if (r->searches == NULL) return app_name_option(r->call, status, error);
    app_stop_take(&r->stop, status, "searching", error);
    r->g.size = sizeof r->g;
    r->found.size = sizeof r->found;
    sf_graph_get_columns(r->graph, &r->g);
    sf_searches_get_columns(r->searches, &r->found);
    app_device_warn(r->call, "searched", r->found.ran->device, r->found.ran->note);
    return SF_OK;
}

/* ---- output ---- */

static const uint64_t *sizes_of(const reaching *r, size_t i)
{
    return r->found.level_sizes + r->found.first_size[i];
}

static const char *name_of(const reaching *r, uint32_t v)
{
    return r->g.names != NULL ? r->g.names[v] : NULL;
}

/* ---- columns ---- */

typedef struct search_row {
    uint32_t source;
    const char *source_name;
    uint64_t reached, depth;
    sf_column_list level_sizes;
} search_row;

#define NO_NAMES "the graph has no names"
#define ROW search_row
static const sf_column_row search_rows[] = {
    SF_MEMBER_IS(UNIT, source, "0-based index of the unit or vertex that it began at"),
    SF_MEMBER_IS(TEXT, source_name, "its name", .null = NO_NAMES),
    SF_MEMBER_IS(COUNT, reached, "vertices, the source included"),
    SF_MEMBER_IS(COUNT, depth, "the most steps that one of them takes"),
    SF_LIST_IS(COUNT, level_sizes, "vertices at each level, from 0"),
};
#undef ROW

static const sf_table searches_table = {
    .name = "searches", .row = "search", .about = "breadth-first searches", SF_TABLE_OF(search_rows)};

typedef struct path_row {
    uint32_t source, vertex, parent;
    const char *source_name, *name, *parent_name;
    uint64_t level;
    sf_column_list path, names;
    double delay_ms[2];
} path_row;

#define ROW path_row
#define NOT_REACHED "no path leads there"
static const sf_column_row path_rows[] = {
    SF_MEMBER_IS(UNIT, source, "0-based index of the unit or vertex that the path begins at"),
    SF_MEMBER_IS(TEXT, source_name, "its name", .null = NO_NAMES),
    SF_MEMBER_IS(UNIT, vertex, "0-based index of the unit or vertex that it leads to"),
    SF_MEMBER_IS(TEXT, name, "its name", .null = NO_NAMES),
    SF_MEMBER_IS(COUNT, level, "steps to it", .null = NOT_REACHED),
    SF_MEMBER_IS(UNIT, parent, "the vertex before it", .null = "it is the source, or " NOT_REACHED),
    SF_MEMBER_IS(TEXT, parent_name, "its name", .null = "likewise, or " NO_NAMES),
    SF_LIST_IS(UNIT, path, "from the source to it, both included", .null = NOT_REACHED),
    SF_LIST_IS(TEXT, names, "of these", .null = NOT_REACHED ", or " NO_NAMES),
    SF_MEMBER_IS(PAIR, delay_ms, "of the path: the sums of its edges' bounds", .unit = "ms",
                 .null = NOT_REACHED ", or edges have no delays", .first_name = "delay_low_ms",
                 .second_name = "delay_high_ms"),
};
#undef ROW

static const sf_table paths_table = {.name = "paths",
                                     .row = "path",
                                     .about = "paths from a source to what it reaches",
                                     SF_TABLE_OF(path_rows)};

/* ---- JSON ---- */

/* Beyond this number of vertices, JSON has only the requested paths. */
#define MOST_WITH_PATHS 10000

/* True if some levels of the only search, or some of several searches, are incomplete. */
static bool is_partial(const reaching *r)
{
    return r->stopped && r->found.repeated == 0;
}

/* A search was stopped before it began. */
static bool is_missing(const reaching *r, size_t i)
{
    return r->found.reached[i] == 0;
}

static double teps(const sf_searches_columns *found)
{
    return found->ran->seconds > 0 ? (double)found->edges / found->ran->seconds : 0;
}

/* The path to v along the parents, both ends included: how many vertices. */
static uint32_t take_path(uint32_t *path, const sf_searches_columns *found, uint32_t v)
{
    uint32_t length = found->levels[v] + 1;
    for (uint32_t i = length, at = v; i-- > 0; at = found->parents[at])
        path[i] = at;
    return length;
}

/* Several searches at once tell no paths, and of several that are as short a device or many threads find now
 * one and now another: in order one finds the same every time. A search that was stopped is not begun again.
 */
static int open_paths(sf_searches **alone, sf_searches_columns *found, const reaching *r, size_t i)
{
    sf_search_options how = sf_search_options_default();
    *alone = NULL;
    if (is_partial(r)) {
        *found = r->found;
        return SF_OK;
    }
    how.device = "cpu";
    how.direction = SF_BFS_TOP_DOWN;
    how.threads = 1;
    int status = sf_graph_search(alone, r->graph, &r->sources[i], 1, &how, NULL, NULL);
    if (status == SF_OK) sf_searches_get_columns(*alone, found);
    return status;
}

/* Why paths are not printed; NULL: they are. */
static const char *no_paths(const reaching *r)
{
    if (is_partial(r) && r->source_count > 1)
        return "stopped: several searches at once that were not all complete tell no paths";
    if (r->target_count == 0 && r->g.vertex_count > MOST_WITH_PATHS)
        return "more than 10,000 vertices: --target V asks for the path to V, --out FILE for the parents of "
               "all";
    return NULL;
}

/* Iterates over the paths of one search: buffers for the longest path, and one row at a time. */
typedef struct paths {
    const reaching *r;
    sf_searches *alone; /* or NULL */
    sf_searches_columns found;
    uint32_t *path;
    const char **names;
    uint32_t *vertices; /* that paths lead to */
    size_t count;
    bool failed; /* for want of memory */
    path_row row;
} paths;

static void close_paths_of(paths *p)
{
    sf_searches_free(p->alone);
    sf_free(p->path);
    sf_free(p->names);
    sf_free(p->vertices);
}

/* Opens the paths of search i. Call close_paths_of whatever is returned. */
static int open_paths_of(paths *p, const reaching *r, size_t i)
{
    *p = (paths){.r = r, .found.size = sizeof p->found};
    p->row = (path_row){.source = r->sources[i], .source_name = name_of(r, r->sources[i])};
    p->path = sf_alloc(r->g.vertex_count, sizeof *p->path);
    p->names = sf_alloc(r->g.vertex_count, sizeof *p->names);
    return p->path != NULL && p->names != NULL ? open_paths(&p->alone, &p->found, r, i) : SF_NO_MEMORY;
}

/* The row becomes that of v. */
static void take_row(paths *p, uint32_t v)
{
    const sf_searches_columns *found = &p->found;
    bool reached = found->levels[v] != SF_UNREACHED, named = p->r->g.names != NULL;
    size_t length = reached ? take_path(p->path, found, v) : 0;
    for (size_t i = 0; i < length; i++)
        p->names[i] = name_of(p->r, p->path[i]);
    path_row *row = &p->row;
    row->vertex = v;
    row->name = name_of(p->r, v);
    row->level = reached ? found->levels[v] : SF_NO_COUNT;
    row->parent = length > 1 ? p->path[length - 2] : UINT32_MAX;
    row->parent_name = length > 1 ? p->names[length - 2] : NULL;
    row->path = (sf_column_list){reached ? p->path : NULL, length};
    row->names = (sf_column_list){reached && named ? p->names : NULL, length};
    row->delay_ms[0] = row->delay_ms[1] = NAN;
    if (reached && found->path_low_ns != NULL) {
        row->delay_ms[0] = (double)found->path_low_ns[v] / 1e6;
        row->delay_ms[1] = (double)found->path_high_ns[v] / 1e6;
    }
}

static search_row tell_search(const reaching *r, size_t i)
{
    return (search_row){.source = r->sources[i],
                        .source_name = name_of(r, r->sources[i]),
                        .reached = r->found.reached[i],
                        .depth = r->found.depth[i],
                        .level_sizes = {sizes_of(r, i), (size_t)r->found.depth[i] + 1}};
}

/* With a single source its fields are at the top; several are in `searches`. */
typedef struct document_of {
    const reaching *r;
    sf_graph_columns g;
    sf_table only;
    double teps;
    sf_ran ran;
    app_stop stop;
    search_row *row; /* that is read, and its paths */
    paths *paths;
} document_of;

SF_LENGTH(count_searches)
{
    const reaching *r = ((const document_of *)of)->r;
    *length = 0;
    for (size_t i = 0; i < r->source_count; i++)
        *length += !is_missing(r, i);
    return true;
}

SF_GETTER(get_search_place)
{
    const reaching *r = ((const document_of *)of)->r;
    size_t i = 0;
    while (is_missing(r, i) || item-- > 0)
        i++;
    sf_value_set_record(value, of, i);
}

SF_GETTER(get_search)
{
    const document_of *d = of;
    *d->row = tell_search(d->r, row);
    sf_value_set_record(value, d->row, 0);
}

/* Lists the targets, or all reached vertices. */
static int list_vertices(paths *p, size_t search)
{
    const reaching *r = p->r;
    const size_t most = r->target_count > 0 ? r->target_count : r->g.vertex_count;
    p->vertices = sf_alloc(most, sizeof *p->vertices);
    if (p->vertices == NULL) return SF_NO_MEMORY;
    for (uint32_t k = 0; k < most; k++)
        if (r->target_count > 0)
            p->vertices[p->count++] = r->targets[k];
        else if (p->found.levels[k] != SF_UNREACHED && k != r->sources[search])
            p->vertices[p->count++] = k;
    return SF_OK;
}

SF_LENGTH(count_paths)
{
    const document_of *d = of;
    if (no_paths(d->r) != NULL) return false;
    close_paths_of(d->paths);
    d->paths->failed = open_paths_of(d->paths, d->r, row) != SF_OK || list_vertices(d->paths, row) != SF_OK;
    *length = d->paths->failed ? 1 : d->paths->count;
    return true;
}

SF_GETTER(get_path)
{
    paths *p = ((const document_of *)of)->paths;
    value->failed = p->failed;
    if (p->failed) return;
    take_row(p, p->vertices[item]);
    sf_value_set_record(value, &p->row, 0);
}

SF_GETTER(get_no_paths)
{
    sf_value_set_text(value, no_paths(((const document_of *)of)->r));
}

static const sf_column_row found_rows[] = {
    SF_COLUMNS_BY(get_search, &searches_table),
    SF_TABLE_BY("paths", get_path, count_paths, &paths_table,
                "to every --target, as given; without one to each vertex reached but the source, by vertex",
                .null = "see no_paths"),
    SF_GOT_BY(TEXT, "no_paths", get_no_paths,
              "why paths are null: of graphs of more than 10,000 vertices --target has to say which",
              .null = "they are not"),
};

#define ROW document_of
static const sf_column_row document_rows[] = {
    SF_FIELD_IS(COUNT, "vertices", g.vertex_count, "of the graph"),
    SF_FIELD_IS(COUNT, "edges", g.edge_count, "directed edges"),
    SF_FIRST_ROW_IS(NULL, only, &searches_table, "the only one", .null = "there are several"),
    SF_RECORDS_BY("searches", get_search_place, count_searches, found_rows,
                  "one for each --source, in the order given; of a result that was stopped those that are "
                  "complete"),
    APP_ROW_SECONDS(ran.seconds),
    SF_MEMBER_IS(REAL, teps, "directed edges of the reached component over seconds",
                 .null = "of several sources"),
    APP_ROW_DEVICE(ran),
    APP_ROW_DEVICE_NOTE(ran),
    APP_ROW_EDGES_TESTED(g),
    APP_ROW_STOPPED(stop.where),
};
#undef ROW

static const sf_table document = {
    .name = "reached", .about = "what is reached from vertices of a graph", SF_TABLE_OF(document_rows)};

static void print_json(sf_text *text, const reaching *r)
{
    const bool one = r->source_count == 1;
    search_row only = tell_search(r, 0), read;
    paths told = {0};
    const document_of of = {.r = r,
                            .g = r->g,
                            .only = {.row_count = one, .of = &only},
                            .teps = one ? teps(&r->found) : NAN,
                            .ran = *r->found.ran,
                            .stop = r->stop,
                            .row = &read,
                            .paths = &told};
    app_document_json(text, r->call, &document, &of);
    close_paths_of(&told);
}

/* ---- CSV ---- */

/* The vertices on the paths to the targets; without any all that is reached. */
static bool *choose_rows(const reaching *r, const sf_searches_columns *found)
{
    bool *chosen = sf_alloc(r->g.vertex_count, sizeof *chosen);
    for (uint32_t v = 0; chosen != NULL && v < r->g.vertex_count && r->target_count == 0; v++)
        chosen[v] = found->levels[v] != SF_UNREACHED;
    for (size_t k = 0; chosen != NULL && k < r->target_count; k++) {
        uint32_t v = r->targets[k];
        for (; found->levels[v] != SF_UNREACHED && found->levels[v] > 0; v = found->parents[v])
            chosen[v] = true;
        chosen[v] = found->levels[v] == 0;
    }
    return chosen;
}

static void print_csv(sf_text *text, const reaching *r)
{
    app_stop_print(text, &r->stop, "# ");
    app_csv csv = app_csv_start_table(text, &paths_table);
    for (size_t i = 0; i < r->source_count && !text->failed && !(is_partial(r) && r->source_count > 1); i++) {
        paths p;
        bool *chosen = open_paths_of(&p, r, i) == SF_OK ? choose_rows(r, &p.found) : NULL;
        text->failed = chosen == NULL;
        for (uint32_t v = 0; v < r->g.vertex_count && !text->failed; v++)
            if (chosen[v]) {
                take_row(&p, v);
                app_csv_struct(&csv, &paths_table, &p.row);
            }
        sf_free(chosen);
        close_paths_of(&p);
    }
}

/* ---- paths in words ---- */

static void name_vertex(sf_text *text, const reaching *r, uint32_t v)
{
    if (r->g.names != NULL)
        sf_text_printf(text, "%s", r->g.names[v]);
    else
        sf_text_printf(text, "#%u", v);
}

static void spell_path(sf_text *text, const reaching *r, const sf_searches_columns *found, uint32_t *path,
                       uint32_t v)
{
    if (found->levels[v] == SF_UNREACHED) {
        sf_text_printf(text, is_partial(r) ? "no path found so far to " : "no path leads to ");
        name_vertex(text, r, v);
        sf_text_printf(text, "\n");
        return;
    }
    uint32_t length = take_path(path, found, v);
    for (uint32_t k = 0; k < length; k++) {
        sf_text_printf(text, k > 0 ? " -> " : "");
        name_vertex(text, r, path[k]);
    }
    sf_text_printf(text, ": %u hop%s", length - 1, length == 2 ? "" : "s");
    if (found->path_low_ns != NULL && length > 1)
        sf_text_printf(text, ", after (%g,%g] ms", (double)found->path_low_ns[v] * 1e-6,
                       (double)found->path_high_ns[v] * 1e-6);
    sf_text_printf(text, "\n");
}

static void spell_paths(sf_text *text, const reaching *r)
{
    if (r->target_count == 0) return;
    sf_text_printf(text, "\n");
    if (no_paths(r) != NULL) {
        sf_text_printf(text, "%s\n", no_paths(r));
        return;
    }
    for (size_t i = 0; i < r->source_count && !text->failed; i++) {
        paths p;
        text->failed = open_paths_of(&p, r, i) != SF_OK;
        for (size_t k = 0; k < r->target_count && !text->failed; k++) {
            if (r->source_count > 1) {
                sf_text_printf(text, "from ");
                name_vertex(text, r, r->sources[i]);
                sf_text_printf(text, ": ");
            }
            spell_path(text, r, &p.found, p.path, r->targets[k]);
        }
        close_paths_of(&p);
    }
}

/* ---- several sources at once ---- */

static void print_source(app_table *table, const reaching *r, size_t i)
{
    sf_text name = {0};
    name_vertex(&name, r, r->sources[i]);
    app_table_cell(table, "%s", name.data != NULL ? name.data : "");
    sf_text_free(&name);
}

static void print_many_table(sf_text *text, const reaching *r)
{
    app_table table = {0};
    static const char *const head[] = {"source", "reached", "depth", "vertices at each level"};
    app_stop_print(text, &r->stop, "");
    sf_text_printf(text, "%u vertices, %" PRIu64 " directed edges, %zu searches at once in %.3g s on %s\n",
                   r->g.vertex_count, r->g.edge_count, r->source_count, r->found.ran->seconds,
                   r->found.ran->device);
    app_edges_print(text, &r->g, false);
    sf_text_printf(text, "\n");
    for (size_t c = 0; c < 4; c++)
        app_table_cell(&table, "%s", head[c]);
    for (size_t i = 0; i < r->source_count; i++) {
        if (is_missing(r, i)) continue;
        sf_text levels = {0};
        for (uint32_t level = 0; level <= r->found.depth[i] && levels.length < 72; level++)
            sf_text_printf(&levels, level > 0 ? " %" PRIu64 : "%" PRIu64, sizes_of(r, i)[level]);
        print_source(&table, r, i);
        app_table_cell(&table, "%" PRIu64, r->found.reached[i]);
        app_table_cell(&table, "%u", r->found.depth[i]);
        app_table_cell(&table, "%s", levels.data != NULL ? levels.data : "");
        sf_text_free(&levels);
    }
    app_table_print(&table, text, 4);
}

/* ---- one source ---- */

static int64_t or_none(uint32_t value)
{
    return value == UINT32_MAX ? -1 : (int64_t)value;
}

static int write_out(const reaching *r, const char *path, sf_error *error)
{
    sf_text text = {0};
    for (uint32_t v = 0; v < r->g.vertex_count; v++)
        sf_text_printf(&text, "%u %" PRId64 " %" PRId64 "\n", v, or_none(r->found.levels[v]),
                       or_none(r->found.parents[v]));
    int status = sf_file_write(&text, path, error);
    sf_text_free(&text);
    return status;
}

/* Names of the vertices of a level, as far as they fit on a line. */
static void name_level(sf_text *text, const reaching *r, uint32_t level)
{
    enum { WIDTH = 72 };
    sf_text_clear(text);
    for (uint32_t v = 0; v < r->g.vertex_count; v++) {
        if (r->found.levels[v] != level) continue;
        if (text->length + strlen(r->g.names[v]) > WIDTH) {
            sf_text_printf(text, " ...");
            return;
        }
        sf_text_printf(text, "%s%s", text->length > 0 ? " " : "", r->g.names[v]);
    }
}

/* The least and the most that paths to a level take. */
static void delay_cell(app_table *table, const reaching *r, uint32_t level)
{
    int64_t low_ns = INT64_MAX, high_ns = 0;
    for (uint32_t v = 0; v < r->g.vertex_count; v++) {
        if (r->found.levels[v] != level) continue;
        low_ns = r->found.path_low_ns[v] < low_ns ? r->found.path_low_ns[v] : low_ns;
        high_ns = r->found.path_high_ns[v] > high_ns ? r->found.path_high_ns[v] : high_ns;
    }
    if (level == 0)
        app_table_cell(table, "0");
    else
        app_table_cell(table, "(%g,%g]", (double)low_ns * 1e-6, (double)high_ns * 1e-6);
}

#define WORTH_TIMING 100000 /* directed edges; what is smaller is searched before a clock can tell */

static void print_one_table(sf_text *text, const reaching *r)
{
    bool named = r->g.names != NULL, timed = r->found.path_low_ns != NULL;
    app_stop_print(text, &r->stop, "");
    sf_text_printf(text, "%u vertices, %" PRIu64 " directed edges\n", r->g.vertex_count, r->g.edge_count);
    app_edges_print(text, &r->g, false);
    sf_text_printf(text, "from ");
    name_vertex(text, r, r->sources[0]);
    sf_text_printf(text, ": %" PRIu64 " vertices within %u hop%s", r->found.reached[0], r->found.depth[0],
                   r->found.depth[0] == 1 ? "" : "s");
    if (r->g.edge_count >= WORTH_TIMING || app_has(r->call, "repeat"))
        sf_text_printf(text, ", %.3g s on %s, %.3g directed edges/s (TEPS)", r->found.ran->seconds,
                       r->found.ran->device, teps(&r->found));
    sf_text_printf(text, "\n\n");
    app_table table = {0};
    sf_text names = {0};
    app_table_cell(&table, "level");
    app_table_cell(&table, "vertices");
    if (timed) app_table_cell(&table, "delay ms");
    if (named) app_table_cell(&table, "names");
    for (uint32_t level = 0; level <= r->found.depth[0]; level++) {
        app_table_cell(&table, "%u", level);
        app_table_cell(&table, "%" PRIu64, sizes_of(r, 0)[level]);
        if (timed) delay_cell(&table, r, level);
        if (!named) continue;
        name_level(&names, r, level);
        app_table_cell(&table, "%s", names.data != NULL ? names.data : "");
    }
    app_table_print(&table, text, 2 + (size_t)timed + (size_t)named);
    text->failed |= names.failed;
    sf_text_free(&names);
}

static int report(const reaching *r, sf_error *error)
{
    bool one = r->source_count == 1;
    sf_text text = {0};
    if (r->call->json)
        print_json(&text, r);
    else if (app_has(r->call, "csv"))
        print_csv(&text, r);
    else {
        (one ? print_one_table : print_many_table)(&text, r);
        spell_paths(&text, r);
        app_doubts_print(&text, r->call);
    }
    while (text.length > 0 && text.data[text.length - 1] == '\n')
        text.data[--text.length] = '\0'; /* app_print ends the last line */
    return app_print(&text, error);
}

static int run(app_call *call, sf_error *error)
{
    reaching r = {.call = call};
    app_catch_signals();
    int status = load(&r, error);
    if (status == SF_OK) status = search(&r, error);
    const char *out = app_value(call, "out", NULL);
    if (status == SF_OK && !app_stop_spares(&r.stop, call, out) && out != NULL)
        status = write_out(&r, out, error);
    if (status == SF_OK) status = app_stop_report(&r.stop, report(&r, error), error);
    sf_free(r.sources);
    sf_free(r.targets);
    sf_searches_free(r.searches);
    sf_graph_free(r.graph);
    return status;
}

const app_command app_command_bfs = {
    .name = "bfs",
    .alias = "reach",
    .group = "connect",
    .summary = "what a unit or vertex reaches, and in how many hops",
    .arguments = "G... --source V",
    .least_arguments = 0,
    .most_arguments = 1,
    .takes_several = true,
    .example = "synfire bfs demo.h5 --source A --delay 4:6 --min-count 60",
    .notes =
        "G is a graph (Matrix Market .mtx, edge list .el: `from to [weight]` counted from 0, GraphML, .graph "
        "or "
        "synfire's .h5) or a recording, whose connectivity graph is searched. Vertices are counted from 0\n"
        "everywhere, also for .mtx. Loops and repeated edges are left out. TEPS is directed edges of the\n"
        "reached component over seconds. Of a recording the table says after what delay: bounds add up along "
        "a path.\n"
        "Ctrl-C stops it and prints what it has, with what is missing.",
    .options = {options, app_connect_options, app_mining_options, app_significance_options,
                app_engine_options, app_selection_options},
    .rows = {&sf_mining_table, &sf_significance_table, &sf_search_table, &sf_drive_table, &reaching_table},
    .tables = {&searches_table, &paths_table},
    .documents = {&document},
    .run = run,
};
