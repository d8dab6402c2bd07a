/* SPDX-License-Identifier: Apache-2.0 */
/* What compare writes of one recording. */
#include "app/bursts.h"
#include "app/compare_rows.h"
#include "app/connect.h"
#include "app/load.h"
#include "app/responses.h"
#include "app/significance.h"

#include "core/clock.h"
#include "core/describe/table.h"
#include "core/memory.h"
#include "io/file.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const app_compared_names[APP_COMPARED_FILES] = {
    "recordings.csv", "units.csv", "bursts.csv", "edges.csv", "chains.csv", "responses.csv", "sequences.csv"};

/* Graphs that small-worldness is by. */
#define REWIRED 20

/* ---- columns ---- */

typedef struct unit_row {
    uint32_t unit;
    const char *name;
    double x_um, y_um;
    uint64_t electrode, spikes;
    double rate_hz;
    bool active;
    double isi_cv;
    uint64_t bursts, burst_spikes, out_degree, in_degree;
} unit_row;

#define ROW unit_row
static const sf_column_row unit_rows[] = {
    SF_MEMBER_IS(UNIT, unit, "0-based index of the unit"),
    SF_MEMBER_IS(TEXT, name, "its name"),
    SF_MEMBER_IS(REAL, x_um, "where it is on the array", .unit = "um", .null = "its position is not known"),
    SF_MEMBER_IS(REAL, y_um, "where it is on the array", .unit = "um", .null = "its position is not known"),
    SF_MEMBER_IS(COUNT, electrode, "number of its electrode", .null = "it is not known"),
    SF_MEMBER_IS(COUNT, spikes, "number of its spikes"),
    SF_MEMBER_IS(REAL, rate_hz, "spikes over the recorded duration", .unit = "Hz", .null = "that is 0"),
    SF_MEMBER_IS(FLAG, active, "it fires at the rate of --active or more"),
    SF_MEMBER_IS(REAL, isi_cv, "coefficient of variation of its inter-spike intervals",
                 .null = "it has too few"),
    SF_MEMBER_IS(COUNT, bursts, "bursts of it alone"),
    SF_MEMBER_IS(COUNT, burst_spikes, "spikes in these"),
    SF_MEMBER_IS(COUNT, out_degree, "edges from it", .null = "with --without graph"),
    SF_MEMBER_IS(COUNT, in_degree, "edges to it", .null = "with --without graph"),
};
#undef ROW

const sf_table app_compared_units = {.name = "compared_units",
                                     .row = "compared_unit",
                                     .about = "what units are like that compare looked at",
                                     SF_TABLE_OF(unit_rows)};

/* A recording or a well of it. */
typedef struct recording_row {
    uint64_t spikes, units, active_electrodes, edges, edges_found, chains_found;
    double duration_s;
    bool declared;
    const char *edges_not_tested, *chains_not_tested;
    double values[SF_MEASURES], chance[SF_MEASURES];
} recording_row;

SF_SHARED_GETTER(app_compared_get)
{
    sf_value_set_real(value,
                      ((const double *)(const void *)((const char *)of + column->within))[column->member]);
}

#define NO_GRAPH "with --without graph"
#define ROW recording_row
static const sf_column_row recording_rows[] = {
    SF_MEMBER_IS(COUNT, spikes, "its spikes"),
    SF_MEMBER_IS(REAL, duration_s, "recorded", .unit = "s"),
    SF_MEMBER_IS(FLAG, declared,
                 "the file or the table says how long; else it is from the first to the last spike"),
    SF_MEMBER_IS(COUNT, units, "units that were looked at"),
    SF_MEMBER_IS(COUNT, active_electrodes, "electrodes with a unit that is active",
                 .null = "electrodes are not known"),
    APP_MEASURES_ARE SF_MEMBER_IS(COUNT, edges, "significant edges", .null = NO_GRAPH ", or not tested"),
    SF_MEMBER_IS(COUNT, edges_found, "edges that were counted", .null = NO_GRAPH),
    SF_MEMBER_IS(TEXT, edges_not_tested, "why no edge was tested", .null = "they were, or " NO_GRAPH),
    SF_MEMBER_IS(COUNT, chains_found, "chains that were counted", .null = "with --without chains"),
    SF_MEMBER_IS(TEXT, chains_not_tested, "why no chain was tested",
                 .null = "they were, or with --without chains"),
    APP_NAMED_CHANCE_ARE};
#undef ROW

const sf_table app_compared_recordings = {.name = "compared_recordings",
                                          .row = "compared_recording",
                                          .about = "recordings, or wells of them, that compare looked at",
                                          SF_TABLE_OF(recording_rows)};

void app_compared_columns(sf_text *text, app_compared_file file)
{
    const sf_table *const tables[APP_COMPARED_FILES] = {[APP_COMPARED_RECORDINGS] = &app_compared_recordings,
                                                        [APP_COMPARED_UNITS] = &app_compared_units,
                                                        [APP_COMPARED_BURSTS] = sf_table_find("bursts"),
                                                        [APP_COMPARED_EDGES] = sf_table_find("edges"),
                                                        [APP_COMPARED_CHAINS] = sf_table_find("episodes"),
                                                        [APP_COMPARED_RESPONSES] = sf_table_find("responses"),
                                                        [APP_COMPARED_SEQUENCES] =
                                                            sf_table_find("sequence_units")};
    sf_text_printf(text, "well,");
    app_csv_heads(text, tables[file]);
}

/* The analysis of one well; `files` collect the rows of all wells. */
typedef struct analysis {
    const app_comparing *how;
    const sf_recording *recording; /* of the well */
    sf_recording_columns of;
    const char *well, *stream; /* stream: of those that the file holds, or NULL */
    const bool *takes_part;    /* units of the well */
    sf_activity activity;
    sf_graph *graph;
    sf_graph_columns g;
    sf_episodes *chains;
    sf_episodes_columns c;
    sf_response_report responses; /* of no items where none are looked for */
    sf_sequence_report sequences; /* likewise */
    app_csv files[APP_COMPARED_FILES];
} analysis;

/* ---- rows ---- */

static app_csv *begin_row(analysis *a, app_compared_file file)
{
    app_csv_row(&a->files[file]);
    app_csv_string(&a->files[file], a->well);
    return &a->files[file];
}

static void write_row(analysis *a, app_compared_file file, const sf_table *table, const void *row)
{
    sf_table one = *table;
    one.of = row;
    app_csv_cells(begin_row(a, file), &one, 0);
}

/* Units of the well but those that are left out as noise. */
static bool is_looked_at(const analysis *a, size_t u)
{
    bool left_out = a->of.units[u].kind == SF_UNIT_NOISE && a->of.selected != NULL &&
                    a->of.selected->noise_units > 0 && a->activity.units[u].spikes == 0;
    return a->takes_part[u] && !left_out;
}

static void write_units(analysis *a)
{
    uint64_t *degrees = a->graph != NULL ? sf_alloc(2 * (a->of.unit_count + 1), sizeof *degrees) : NULL;
    for (size_t i = 0; degrees != NULL && i < a->g.link_count; i++) {
        degrees[2 * a->g.from[i]]++;
        degrees[2 * a->g.to[i] + 1]++;
    }
    for (size_t u = 0; u < a->of.unit_count; u++) {
        const sf_unit *unit = &a->of.units[u];
        const sf_unit_activity *told = &a->activity.units[u];
        if (!is_looked_at(a, u)) continue;
        write_row(a, APP_COMPARED_UNITS, &app_compared_units,
                  &(unit_row){.unit = (uint32_t)u,
                              .name = unit->name,
                              .x_um = unit->x_um,
                              .y_um = unit->y_um,
                              .electrode = unit->electrode >= 0 ? (uint64_t)unit->electrode : SF_NO_COUNT,
                              .spikes = told->spikes,
                              .rate_hz = told->rate_hz,
                              .active = told->active,
                              .isi_cv = told->isi_cv,
                              .bursts = told->bursts,
                              .burst_spikes = told->in_bursts,
                              .out_degree = degrees != NULL ? degrees[2 * u] : SF_NO_COUNT,
                              .in_degree = degrees != NULL ? degrees[2 * u + 1] : SF_NO_COUNT});
    }
    sf_free(degrees);
}

static int write_bursts(analysis *a, sf_error *error)
{
    sf_burst_row *rows;
    size_t count;
    const sf_table *table = sf_table_find("bursts");
    int status = sf_burst_rows_list(&rows, &count, &a->activity, a->of.units, error);
    for (size_t i = 0; i < count; i++)
        write_row(a, APP_COMPARED_BURSTS, table, &rows[i]);
    sf_free(rows);
    return status;
}

static void write_edges(analysis *a)
{
    sf_table edges = {0};
    if (a->graph != NULL) sf_graph_get_table(a->graph, &edges);
    for (size_t i = 0; i < edges.row_count; i++)
        app_csv_cells(begin_row(a, APP_COMPARED_EDGES), &edges, i);
}

static size_t write_chains(analysis *a)
{
    size_t count = 0;
    sf_table episodes = {0};
    if (a->chains != NULL) sf_episodes_get_table(a->chains, &episodes);
    for (size_t i = 0; i < episodes.row_count; i++)
        if (a->c.episodes[i].size > 2) {
            app_csv_cells(begin_row(a, APP_COMPARED_CHAINS), &episodes, i);
            count++;
        }
    return count;
}

/* Units that are not of the well, and noise, have no row. */
static void write_responses(analysis *a)
{
    const sf_table *table = sf_table_find("responses");
    for (size_t i = 0; i < sf_response_report_count(&a->responses); i++) {
        const sf_response_row row = sf_response_report_row(&a->responses, i);
        if (is_looked_at(a, row.unit)) write_row(a, APP_COMPARED_RESPONSES, table, &row);
    }
}

static void write_sequences(analysis *a)
{
    const sf_table *table = sf_table_find("sequence_units");
    for (size_t u = 0; u < a->sequences.found.unit_count; u++)
        if (is_looked_at(a, u)) write_row(a, APP_COMPARED_SEQUENCES, table, &a->sequences.units[u]);
}

/* Why a test said nothing of anything, or NULL. */
static const char *not_tested(const sf_significance *test)
{
    return test != NULL ? sf_not_tested_text(test->not_tested) : NULL;
}

static size_t count_chains_found(const sf_episodes_columns *c)
{
    size_t count = 0;
    for (size_t l = 0; l < c->level_count; l++)
        count += c->levels[l].size > 2 ? (size_t)c->levels[l].frequent : 0;
    return count;
}

static int measure_criticality(const analysis *a, double values[SF_MEASURES], sf_error *error)
{
    sf_criticality found;
    int status = sf_criticality_find(&found, a->recording, &a->how->criticality, NULL, error);
    values[SF_MEASURE_BRANCHING] = found.measures[SF_CRITICAL_BRANCHING].value;
    values[SF_MEASURE_AVALANCHE_SIZE] = found.measures[SF_CRITICAL_SIZE].value;
    values[SF_MEASURE_AVALANCHE_DURATION] = found.measures[SF_CRITICAL_DURATION].value;
    sf_criticality_free(&found);
    return status;
}

static int write_recording(analysis *a, size_t chains, sf_error *error)
{
    recording_row row = {.spikes = a->activity.spikes,
                         .duration_s = a->activity.duration_s,
                         .declared = a->of.declared || a->of.observed_count > 0,
                         .active_electrodes = a->activity.active_electrodes, /* SIZE_MAX: null */
                         .edges_not_tested = a->graph != NULL ? not_tested(a->g.significance) : NULL,
                         .chains_not_tested = a->chains != NULL ? not_tested(a->c.significance) : NULL,
                         .edges_found = a->graph != NULL ? a->g.links_found : SF_NO_COUNT,
                         .chains_found = a->chains != NULL ? count_chains_found(&a->c) : SF_NO_COUNT};
    double *values = row.values, *chance = row.chance;
    sf_network_measures measures = {0};
    const sf_network *network = &measures.network;
    bool *active = sf_alloc(a->of.unit_count, sizeof *active);
    if (active == NULL) return sf_fail_memory(error);
    for (size_t u = 0; u < a->of.unit_count; u++) {
        active[u] = a->activity.units[u].active;
        row.units += is_looked_at(a, u);
    }
    const bool connected = a->graph != NULL && row.edges_not_tested == NULL;
    int status = connected ? sf_network_measure(&measures, a->graph, active, REWIRED, error) : SF_OK;
    sf_free(active);
    if (status == SF_OK)
        status = sf_activity_chance(chance, NULL, a->recording, &a->how->activity, a->how->seed, error);
    if (status != SF_OK) {
        sf_network_measures_free(&measures);
        return status;
    }
    sf_activity_measure(&a->activity, values);
    status = measure_criticality(a, values, error);
    if (status != SF_OK) {
        sf_network_measures_free(&measures);
        return status;
    }
    const double of_graph[] = {network->density,          network->degree,      network->clustering,
                               network->reciprocity,      network->path_length, network->efficiency,
                               network->local_efficiency, network->modularity,  network->participation,
                               network->small_world}; /* in the order of sf_measured */
    for (int m = SF_MEASURE_DENSITY; m <= SF_MEASURE_SMALL_WORLD; m++)
        values[m] = connected ? of_graph[m - SF_MEASURE_DENSITY] : NAN;
    sf_network_measures_free(&measures);
    values[SF_MEASURE_CHAINS] = a->chains != NULL && row.chains_not_tested == NULL ? (double)chains : NAN;
    for (int m = SF_MEASURE_RESPONDING; m <= SF_MEASURE_LATENCY; m++)
        values[m] = NAN;
    if (a->how->response.marker != NULL) app_responses_measure(&a->responses, &a->activity, values, chance);
    const sf_sequences *sequences = &a->sequences.found;
    bool ordered = a->how->sequences && sequences->ordered > 1;
    values[SF_MEASURE_SIMILARITY] = ordered ? sequences->mean_similarity : NAN;
    values[SF_MEASURE_PLACED] = ordered ? (double)sequences->placed / (double)sequences->backbone : NAN;
    row.edges = connected ? a->g.link_count : SF_NO_COUNT;
    write_row(a, APP_COMPARED_RECORDINGS, &app_compared_recordings, &row);
    return SF_OK;
}

/* ---- one well ---- */

/* The graph by its own options: those of episodes are not for tiling. */
static int connect_units(analysis *a, sf_error *error)
{
    static const char *const of_episodes[] = {
        "min-count", "min-rate", "min-fraction", "repeats", "significance", "fdr", "engine", "device", NULL};
    app_call call = *a->how->call;
    bool tiling = strcmp(app_value(&call, "metric", "episodes"), "sttc") == 0;
    size_t kept = 0;
    call.given = sf_alloc(call.given_count, sizeof *call.given);
    if (call.given == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < call.given_count; i++) {
        const char *const *name = of_episodes;
        while (*name != NULL && strcmp(*name, a->how->call->given[i].name) != 0)
            name++;
        if (!tiling || *name == NULL) call.given[kept++] = a->how->call->given[i];
    }
    call.given_count = kept;
    const sf_graph_options as = sf_graph_options_default();
    int status = app_connect(&a->graph, &call, a->recording, &as, NULL, error);
    sf_free(call.given);
    if (status == SF_OK) {
        a->g.size = sizeof a->g;
        sf_graph_get_columns(a->graph, &a->g);
    }
    return status;
}

static int find_chains(analysis *a, sf_error *error)
{
    const app_call *call = a->how->call;
    app_mining mining;
    app_test test;
    int status = app_mining_parse(&mining, call, error);
    if (status == SF_OK) status = app_test_parse(&test, call, error);
    if (status != SF_OK) return status;
    mining.options.significance = app_test_options(&test);
    status = app_mining_run(&a->chains, &mining, call, a->recording, error);
    if (status == SF_OK) {
        a->c.size = sizeof a->c;
        sf_episodes_get_columns(a->chains, &a->c);
    }
    return status;
}

static int analyse_well(analysis *a, sf_error *error)
{
    a->of = (sf_recording_columns){.size = sizeof a->of};
    sf_recording_get_columns(a->recording, &a->of);
    int status = sf_activity_find(&a->activity, a->recording, &a->how->activity, error);
    if (status == SF_OK) app_bursts_warn(a->how->call, &a->activity.network, a->how->activity.network.spikes);
    if (status == SF_OK && (a->how->without & APP_PART_GRAPH) == 0) status = connect_units(a, error);
    if (status == SF_OK && (a->how->without & APP_PART_CHAINS) == 0) status = find_chains(a, error);
    if (status == SF_OK && a->how->response.marker != NULL)
        status =
            app_responses_find(&a->responses, a->how->call, a->recording, &a->how->response, NULL, error);
    if (status == SF_OK && a->how->sequences)
        status = sf_sequence_report_find(&a->sequences, a->recording, &a->how->activity, &a->how->sequence,
                                         NULL, 0, NULL, error);
    if (status == SF_OK) {
        write_units(a);
        write_responses(a);
        write_sequences(a);
        write_edges(a);
        status = write_bursts(a, error);
        if (status == SF_OK) status = write_recording(a, write_chains(a), error);
    }
    sf_activity_free(&a->activity);
    sf_graph_free(a->graph);
    sf_episodes_free(a->chains);
    sf_response_report_free(&a->responses);
    a->responses = (sf_response_report){0};
    sf_sequence_report_free(&a->sequences);
    a->graph = NULL;
    a->chains = NULL;
    a->g = (sf_graph_columns){0};
    a->c = (sf_episodes_columns){0};
    return status;
}

/* ---- wells ---- */

static const char *well_of(const sf_unit *unit)
{
    return unit->well != NULL ? unit->well : "";
}

/* The units of one well, as a selection names them. */
static int analyse_one_of_wells(analysis *a, const sf_recording *whole, const bool *units, size_t count,
                                sf_error *error)
{
    sf_text list = {0};
    sf_recording *part = NULL;
    for (size_t u = 0; u < count; u++)
        if (units[u]) sf_text_printf(&list, "%s#%zu", list.length > 0 ? "," : "", u);
    sf_selection selection = sf_selection_default();
    selection.units = list.data;
    int status = list.failed ? sf_fail_memory(error) : sf_recording_select(&part, whole, &selection, error);
    a->recording = part;
    if (status == SF_OK) status = analyse_well(a, error);
    sf_recording_free(part);
    sf_text_free(&list);
    return status;
}

static int analyse_wells(analysis *a, const sf_recording *whole, sf_error *error)
{
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(whole, &of);
    bool *seen = sf_alloc(of.unit_count, sizeof *seen), *here = sf_alloc(of.unit_count, sizeof *here);
    int status = seen == NULL || here == NULL ? sf_fail_memory(error) : SF_OK;
    if (status == SF_OK && of.unit_count == 0) status = sf_fail(error, SF_DATA, NULL, "there are no units");
    a->takes_part = here;
    for (size_t u = 0; status == SF_OK && u < of.unit_count; u++) {
        size_t units = 0;
        if (seen[u]) continue;
        const char *well = well_of(&of.units[u]);
        for (size_t k = 0; k < of.unit_count; k++) {
            here[k] = strcmp(well_of(&of.units[k]), well) == 0;
            seen[k] = seen[k] || here[k];
            units += here[k];
        }
        a->well = a->stream != NULL && units == of.unit_count ? a->stream : well;
        a->recording = whole;
        status = units == of.unit_count ? analyse_well(a, error)
                                        : analyse_one_of_wells(a, whole, here, of.unit_count, error);
    }
    sf_free(seen);
    sf_free(here);
    return status;
}

/* ---- the part ---- */

bool app_is_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
}

static int hash_file(uint64_t *hash, const char *path, sf_error *error)
{
    static char block[1 << 16];
    size_t bytes;
    FILE *file = fopen(path, "rb");
    if (file == NULL) return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
    while ((bytes = fread(block, 1, sizeof block, file)) > 0)
        *hash = sf_hash_bytes(*hash, block, bytes);
    int status = ferror(file) ? sf_fail(error, SF_IO, path, "cannot read: %s", strerror(errno)) : SF_OK;
    fclose(file);
    return status;
}

/* Voltages may be many gigabytes. */
static bool is_raw(const char *name)
{
    const char *suffix = strrchr(name, '.');
    return suffix != NULL &&
           (strcmp(suffix, ".dat") == 0 || strcmp(suffix, ".bin") == 0 || strcmp(suffix, ".raw") == 0);
}

static int hash_folder(uint64_t *hash, const char *path, sf_error *error)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort), status = SF_OK;
    if (count < 0) return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        struct stat about;
        sf_text inside = {0};
        sf_text_printf(&inside, "%s/%s", path, name);
        if (status == SF_OK && inside.failed) status = sf_fail_memory(error);
        if (status == SF_OK && name[0] != '.' && stat(inside.data, &about) == 0) {
            *hash = sf_hash_bytes(*hash, name, strlen(name) + 1);
            if (S_ISREG(about.st_mode) && is_raw(name))
                *hash = sf_hash_integer(sf_hash_integer(*hash, (uint64_t)about.st_size),
                                        (uint64_t)about.st_mtime);
            else if (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))
                status = app_hash_input(hash, inside.data, error);
        }
        sf_text_free(&inside);
        free(entries[i]);
    }
    free(entries);
    return status;
}

int app_hash_input(uint64_t *hash, const char *path, sf_error *error)
{
    struct stat about;
    bool folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    return folder ? hash_folder(hash, path, error) : hash_file(hash, path, error);
}

/* Written under another name and renamed when complete, so that nobody sees a partial result. */
static int write_part(sf_text *texts, const char *folder, const char *key, sf_error *error)
{
    sf_text building = {0}, path = {0};
    sf_text_printf(&building, "%s/%s.%ld", folder, key, (long)getpid());
    int status = building.failed ? sf_fail_memory(error) : SF_OK;
    if (status == SF_OK && mkdir(building.data, 0777) != 0)
        status =
            sf_fail(error, SF_CANNOT_CREATE, building.data, "cannot make this folder: %s", strerror(errno));
    for (size_t f = 0; f < APP_COMPARED_FILES && status == SF_OK; f++) {
        sf_text_clear(&path);
        sf_text_printf(&path, "%s/%s", building.data, app_compared_names[f]);
        status = path.failed ? sf_fail_memory(error) : sf_file_write(&texts[f], path.data, error);
    }
    if (status == SF_OK) {
        sf_text_clear(&path);
        sf_text_printf(&path, "%s/%s", folder, key);
        if (path.failed)
            status = sf_fail_memory(error);
        else if (rename(building.data, path.data) != 0 && errno != EEXIST && errno != ENOTEMPTY)
            status =
                sf_fail(error, SF_CANNOT_CREATE, path.data, "cannot make this folder: %s", strerror(errno));
    }
    for (size_t f = 0; f < APP_COMPARED_FILES && building.data != NULL; f++) { /* what is left of it */
        sf_text_clear(&path);
        sf_text_printf(&path, "%s/%s", building.data, app_compared_names[f]);
        if (!path.failed) unlink(path.data);
    }
    if (building.data != NULL) rmdir(building.data);
    sf_text_free(&building);
    sf_text_free(&path);
    return status;
}

/* The call with another stream, unless that is NULL, and with what the table says of the recording. */
static int call_with(app_call *to, const app_call *call, const char *stream, const app_compared_input *input,
                     sf_error *error)
{
    *to = *call;
    to->given = sf_alloc(call->given_count + 3, sizeof *to->given);
    if (to->given == NULL) return sf_fail_memory(error);
    memcpy(to->given, call->given, call->given_count * sizeof *to->given);
    if (stream != NULL) to->given[to->given_count++] = (app_given){"stream", stream};
    if (input->recorded != NULL) to->given[to->given_count++] = (app_given){"recorded", input->recorded};
    if (input->positions != NULL) to->given[to->given_count++] = (app_given){"positions", input->positions};
    return SF_OK;
}

/* Analyses one stream of the file, or everything in it. */
static int analyse_stream(analysis *a, const app_compared_input *input, const char *stream, sf_error *error)
{
    const app_comparing *how = a->how;
    app_comparing own = *how;
    app_call call;
    sf_recording *recording = NULL;
    int status = call_with(&call, how->call, stream, input, error);
    own.call = &call;
    a->how = &own;
    a->stream = stream;
    if (status == SF_OK) status = app_load(&call, input->path, &recording, error);
    if (status == SF_OK) status = analyse_wells(a, recording, error);
    sf_recording_free(recording);
    sf_free(call.given);
    a->how = how;
    return status;
}

/* Analyses the streams with spikes that --stream selects; all without it. */
static int analyse_streams(analysis *a, const app_compared_input *input, sf_error *error)
{
    const app_call *call = a->how->call;
    const char *asked = app_value(call, "stream", NULL), *pattern = asked != NULL ? asked : "*";
    sf_streams streams = {0};
    if (asked != NULL && strchr(asked, '*') == NULL) return analyse_stream(a, input, asked, error);
    int status = app_streams_of(&streams, call, input->path, error);
    size_t taken = 0, empty = 0;
    for (size_t i = 0; status == SF_OK && i < streams.count; i++) {
        if (fnmatch(pattern, streams.items[i].name, 0) != 0) continue;
        if (streams.items[i].spikes > 0) status = analyse_stream(a, input, streams.items[i].name, error);
        taken += streams.items[i].spikes > 0;
        empty += streams.items[i].spikes == 0;
    }
    if (status == SF_OK && streams.count == 0)
        status = analyse_stream(a, input, NULL, error);
    else if (status == SF_OK && taken == 0)
        status = app_refuse_streams(empty, input->path, pattern, error);
    sf_streams_free(&streams);
    return status;
}

static int analyse(const app_comparing *how, const app_compared_input *input, const char *folder,
                   const char *key, sf_error *error)
{
    sf_text texts[APP_COMPARED_FILES] = {{0}};
    analysis a = {.how = how};
    for (size_t f = 0; f < APP_COMPARED_FILES; f++) {
        a.files[f] = app_csv_start(&texts[f], "");
        app_compared_columns(&texts[f], (app_compared_file)f);
    }
    int status = analyse_streams(&a, input, error);
    for (size_t f = 0; f < APP_COMPARED_FILES; f++)
        sf_text_append(&texts[f], "\n", 1);
    if (status == SF_OK) status = write_part(texts, folder, key, error);
    for (size_t f = 0; f < APP_COMPARED_FILES; f++)
        sf_text_free(&texts[f]);
    return status;
}

void app_compare_recording(app_compared *result, const app_comparing *how, const app_compared_input *input,
                           const char *folder)
{
    int64_t began = sf_clock_monotonic_ns();
    uint64_t hash = sf_hash_integer(SF_HASH_START, how->options);
    sf_text place = {0};
    *result = (app_compared){0};
    result->status = app_hash_input(&hash, input->path, &result->error);
    if (input->recorded != NULL) hash = sf_hash_bytes(hash, input->recorded, strlen(input->recorded) + 1);
    if (result->status == SF_OK && input->positions != NULL) /* whatever is in it now */
        result->status = app_hash_input(&hash, input->positions, &result->error);
    if (result->status == SF_OK) {
        snprintf(result->key, sizeof result->key, "%016" PRIx64, hash);
        sf_text_printf(&place, "%s/%s", folder, result->key);
        result->kept = !place.failed && access(place.data, F_OK) == 0;
        if (!result->kept) result->status = analyse(how, input, folder, result->key, &result->error);
    }
    sf_text_free(&place);
    result->seconds = (double)(sf_clock_monotonic_ns() - began) * 1e-9;
}
