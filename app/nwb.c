/* SPDX-License-Identifier: Apache-2.0 */
#include "app/nwb.h"

#include "app/mining.h"
#include "app/significance.h"

#include "core/memory.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* ---- tables ---- */

typedef struct sheet {
    sf_result_table table;
    bool failed; /* for want of memory */
} sheet;

/* Appends a column and returns where its values go, or NULL: of a ragged one, whose ends become its own, as
 * many as the last of them says. */
static void *add(sheet *to, sf_result_kind kind, const char *name, size_t width, size_t *ends,
                 const char *about)
{
    static const size_t sizes[] = {[SF_RESULT_TEXT] = sizeof(char *),
                                   [SF_RESULT_INTEGER] = sizeof(int64_t),
                                   [SF_RESULT_REAL] = sizeof(double),
                                   [SF_RESULT_UNIT] = sizeof(int64_t),
                                   [SF_RESULT_ROW] = sizeof(int64_t)};
    size_t rows = to->table.row_count, count = rows;
    if (ends != NULL)
        count = rows > 0 ? ends[rows - 1] : 0;
    void *values = sf_alloc(count * width, sizes[kind]);
    to->table.columns[to->table.column_count++] = (sf_result_column){
        .name = name, .about = about, .kind = kind, .width = width, .values = values, .ends = ends};
    to->failed = to->failed || values == NULL;
    return values;
}

static size_t *make_ends(sheet *to)
{
    size_t *ends = sf_alloc(to->table.row_count, sizeof *ends);
    to->failed = to->failed || ends == NULL;
    return ends;
}

static const char expected_words[] =
    "by rates: the count that independent units with constant rates would give";
static const char given_rest_words[] =
    "given the rest of the chain: the mean count in surrogates; NaN where it was not tested";

/* values NULL: not known */
static void add_reals(sheet *to, const char *name, const double *values, const char *about)
{
    double *copy = add(to, SF_RESULT_REAL, name, 1, NULL, about);
    for (size_t i = 0; copy != NULL && i < to->table.row_count; i++)
        copy[i] = values != NULL ? values[i] : NAN;
}

static void add_counts(sheet *to, const char *name, const uint64_t *values, const char *about)
{
    int64_t *copy = add(to, SF_RESULT_INTEGER, name, 1, NULL, about);
    for (size_t i = 0; copy != NULL && i < to->table.row_count; i++)
        copy[i] = (int64_t)values[i];
}

static void add_bounds(sheet *to, const char *name, const double *low, const double *high, const char *about)
{
    double *bounds = add(to, SF_RESULT_REAL, name, 2, NULL, about);
    for (size_t i = 0; bounds != NULL && i < to->table.row_count; i++) {
        bounds[2 * i] = low[i];
        bounds[2 * i + 1] = high[i];
    }
}

static void set_text(sheet *to, char **texts, size_t row, const char *text)
{
    if (texts != NULL)
        texts[row] = sf_copy_string(text != NULL ? text : "");
    to->failed = to->failed || texts == NULL || texts[row] == NULL;
}

static void clear(sheet *of)
{
    for (size_t c = 0; c < of->table.column_count; c++) {
        sf_result_column *column = &of->table.columns[c];
        for (size_t i = 0;
             column->kind == SF_RESULT_TEXT && column->values != NULL && i < of->table.row_count; i++)
            sf_free(((char **)column->values)[i]);
        sf_free(column->values);
        sf_free(column->ends);
    }
}

/* ---- the file ---- */

int app_nwb_check(const app_call *call, sf_error *error)
{
    const char *path = app_value(call, "nwb", NULL);
    struct stat there;
    return path != NULL && lstat(path, &there) == 0
               ? sf_fail(error, SF_CANNOT_CREATE, path,
                         "there is a file of this name already, and --nwb replaces none")
               : SF_OK;
}

/* Takes the sheets. `what` is what the first table tells; what made it follows. */
static int write_sheets(const app_call *call, const sf_recording *recording, sheet *sheets, size_t count,
                        const char *what, sf_error *error)
{
    enum { MOST = 2 };
    sf_result_table tables[MOST];
    sf_text provenance = app_provenance_text(call), about = {0};
    sf_text_printf(&about, "%s Made by %s", what, provenance.failed ? "" : provenance.data);
    bool failed = provenance.failed || about.failed;
    sheets[0].table.about = about.data;
    for (size_t i = 0; i < count; i++) {
        tables[i] = sheets[i].table;
        failed = failed || sheets[i].failed;
    }
    int status =
        failed ? sf_fail_memory(error)
               : sf_tool_nwb(recording, app_value(call, "nwb", ""), tables, count, provenance.data, error);
    for (size_t i = 0; i < count; i++)
        clear(&sheets[i]);
    sf_text_free(&provenance);
    sf_text_free(&about);
    return status;
}

/* ---- episodes ---- */

static void add_names(sheet *to, const sf_recording *recording, const sf_episodes_columns *told)
{
    char **ids =
        add(to, SF_RESULT_TEXT, "episode_id", 1, NULL, "hash of names and delays: the same everywhere");
    for (size_t i = 0; i < told->count; i++) {
        char id[SF_EPISODE_ID_SIZE];
        sf_recording_episode_id(recording, &told->episodes[i], id);
        set_text(to, ids, i, id);
    }
    char **texts = add(to, SF_RESULT_TEXT, "episode", 1, NULL, "A -(low,high]-> B: names, and delays in ms");
    for (size_t i = 0; i < told->count; i++) {
        sf_text text = app_episode_text(recording, &told->episodes[i]);
        set_text(to, texts, i, text.data);
        to->failed = to->failed || text.data == NULL;
        sf_text_free(&text);
    }
}

static void add_links(sheet *to, const sf_episodes_columns *told)
{
    int64_t *sizes = add(to, SF_RESULT_INTEGER, "size", 1, NULL, "how many units");
    size_t *unit_ends = make_ends(to), *link_ends = make_ends(to), units = 0;
    if (to->failed) {
        sf_free(unit_ends);
        sf_free(link_ends);
        return;
    }
    for (size_t i = 0; i < told->count; i++) {
        sizes[i] = told->episodes[i].size;
        unit_ends[i] = units += told->episodes[i].size;
        link_ends[i] = units - i - 1;
    }
    int64_t *unit = add(to, SF_RESULT_UNIT, "units", 1, unit_ends, "in the order in which they fire");
    double *delay = add(to, SF_RESULT_REAL, "delays_ms", 2, link_ends,
                        "of each link, in ms: more than the first and at most the second");
    for (size_t i = 0; !to->failed && i < told->count; i++) {
        const sf_episode *episode = &told->episodes[i];
        for (uint32_t k = 0; k < episode->size; k++)
            *unit++ = episode->units[k];
        for (uint32_t k = 0; k + 1 < episode->size; k++) {
            *delay++ = (double)episode->delays[k].low_ns / 1e6;
            *delay++ = (double)episode->delays[k].high_ns / 1e6;
        }
    }
}

static void add_numbers(sheet *to, const sf_episodes_columns *told)
{
    add_counts(to, "count", told->counts, "occurrences of which no two overlap");
    add_reals(to, "expected", told->expected, expected_words);
    add_reals(to, "expected_given_rest", told->expected_given_rest, given_rest_words);
    add_bounds(to, "ratio_interval", told->ratio_low, told->ratio_high,
               "95 % confidence interval of count / expected");
    add_reals(to, "strength", told->strength,
              "the probability of a link at which the count would be expected");
    add_reals(to, "p", told->p, "of a count so high by chance; NaN where it was not tested");
    add_reals(to, "q", told->q, "p, corrected for all that was looked at");
    char **reasons = add(to, SF_RESULT_TEXT, "not_testable", 1, NULL, "why a test gave no p, or empty");
    for (size_t i = 0; i < told->count; i++)
        set_text(to, reasons, i,
                 told->not_testable != NULL ? sf_not_testable_text(told->not_testable[i]) : NULL);
    double *needed = add(to, SF_RESULT_REAL, "needed", 1, NULL,
                         "the least count that would have had a q below 0.05; NaN: not known");
    for (size_t i = 0; needed != NULL && i < told->count; i++)
        needed[i] = told->needed != NULL && told->needed[i] != SF_NO_COUNT ? (double)told->needed[i] : NAN;
    if (told->span_count == 0)
        return;
    int64_t *counts = add(to, SF_RESULT_INTEGER, "epoch_counts", told->span_count, NULL,
                          "in each of the epochs as if it were all there is, in their order");
    for (size_t i = 0; counts != NULL && i < told->count; i++)
        for (size_t k = 0; k < told->span_count; k++)
            counts[i * told->span_count + k] = (int64_t)told->span_counts[k * told->count + i];
}

static void fill_occurrences(sheet *to, const sf_occurrences_columns *found)
{
    size_t *ends = make_ends(to), row = 0, sum = 0;
    for (size_t i = 0; ends != NULL && i < found->count; i++)
        for (uint64_t k = 0; k < found->counts[i]; k++)
            ends[row++] = sum += found->episodes[i].size;
    double *start = add(to, SF_RESULT_REAL, "start_time", 1, NULL, "its first spike, in s");
    double *stop = add(to, SF_RESULT_REAL, "stop_time", 1, NULL, "its last spike, in s");
    int64_t *episode = add(to, SF_RESULT_ROW, "episode", 1, NULL, "which episode occurs");
    if (to->failed) {
        sf_free(ends);
        return;
    }
    double *times = add(to, SF_RESULT_REAL, "times", 1, ends, "of all its spikes in order, in s");
    row = 0;
    for (size_t i = 0; times != NULL && i < found->count; i++) {
        size_t size = found->episodes[i].size;
        for (uint64_t k = 0; k < found->counts[i]; k++, row++, times += size) {
            for (size_t node = 0; node < size; node++)
                times[node] = (double)found->times_ns[i][k * size + node] / 1e9;
            start[row] = times[0];
            stop[row] = times[size - 1];
            episode[row] = (int64_t)i;
        }
    }
}

static int add_occurrences(sheet *to, const app_call *call, const sf_recording *recording,
                           const sf_episodes_columns *told, sf_error *error)
{
    sf_occurrences *listed;
    sf_progress progress = app_progress(call);
    int status = sf_occurrences_list(&listed, recording, told->episodes, told->expected, told->count,
                                     &progress, error);
    if (status != SF_OK)
        return status;
    sf_occurrences_columns found = {.size = sizeof found};
    sf_occurrences_get_columns(listed, &found);
    for (size_t i = 0; i < found.count; i++)
        to->table.row_count += found.counts[i];
    fill_occurrences(to, &found);
    sf_occurrences_free(listed);
    return SF_OK;
}

int app_nwb_episodes(const app_call *call, const sf_recording *recording, const sf_episodes *found,
                     const sf_episodes_columns *told, sf_error *error)
{
    if (!app_has(call, "nwb"))
        return SF_OK;
    sheet sheets[2] = {{.table = {.name = "episodes", .row_count = told->count}},
                       {.table = {.name = "occurrences",
                                  .about = "the occurrences that the counts of the episodes count",
                                  .intervals = true}}};
    int status = add_occurrences(&sheets[1], call, recording, told, error);
    sf_text methods = {0};
    if (status == SF_OK)
        status = app_methods(&methods, found, call, error);
    if (status == SF_OK) {
        add_names(&sheets[0], recording, told);
        add_links(&sheets[0], told);
        add_numbers(&sheets[0], told);
        status = write_sheets(call, recording, sheets, 2, methods.data, error);
    } else {
        clear(&sheets[1]);
    }
    sf_text_free(&methods);
    return status;
}

/* ---- edges ---- */

static void add_ends(sheet *to, const sf_graph_columns *g)
{
    int64_t *from = add(to, SF_RESULT_UNIT, "from_unit", 1, NULL, "who fires first");
    int64_t *onto = add(to, SF_RESULT_UNIT, "to_unit", 1, NULL, "who follows");
    double *delays =
        add(to, SF_RESULT_REAL, "delay_ms", 2, NULL, "in ms: more than the first and at most the second");
    for (size_t i = 0; !to->failed && i < g->link_count; i++) {
        from[i] = g->from[i];
        onto[i] = g->to[i];
        delays[2 * i] = (double)g->low_ns[i] / 1e6;
        delays[2 * i + 1] = (double)g->high_ns[i] / 1e6;
    }
}

int app_nwb_edges(const app_call *call, const sf_recording *recording, const sf_graph_columns *g,
                  sf_error *error)
{
    if (!app_has(call, "nwb"))
        return SF_OK;
    sheet edges = {.table = {.name = "edges", .row_count = g->link_count}};
    add_ends(&edges, g);
    add_reals(&edges, "weight", g->weight,
              g->is_tiling ? "spike-time tiling coefficient" : "count - expected, which is by rates");
    if (!g->is_tiling) {
        add_counts(&edges, "count", g->count, "occurrences of which no two overlap");
        add_reals(&edges, "expected", g->expected, expected_words);
        add_reals(&edges, "expected_given_rest", g->expected_given_rest, given_rest_words);
        add_bounds(&edges, "ratio_interval", g->ratio_low, g->ratio_high,
                   "95 % confidence interval of count / expected");
        add_reals(&edges, "asymmetry", g->asymmetry,
                  "(count - reverse) / (count + reverse); NaN without an edge back");
    }
    add_reals(&edges, "p", g->p, "of so much by chance; NaN where it was not tested");
    add_reals(&edges, "q", g->q, "p, corrected for all that was looked at");
    char **reasons = add(&edges, SF_RESULT_TEXT, "not_testable", 1, NULL, "why a test gave no p, or empty");
    for (size_t i = 0; i < g->link_count; i++)
        set_text(&edges, reasons, i, g->not_testable[i]);
    return write_sheets(call, recording, &edges, 1,
                        g->is_tiling
                            ? "Pairs of units by their spike-time tiling coefficients, without direction."
                            : "Functional connections: pairs of units that fire in this order.",
                        error);
}

/* ---- densities ---- */

static void add_series(sheet *to, const app_samples *samples, const size_t *indices, size_t count)
{
    bool of_units = true;
    char **names = add(to, SF_RESULT_TEXT, "series", 1, NULL, "the name of the unit or link that it is of");
    for (size_t i = 0; i < count; i++) {
        set_text(to, names, i, samples->all.names[indices[i]]);
        of_units = of_units && samples->all.units[indices[i]] >= 0;
    }
    int64_t *units = of_units ? add(to, SF_RESULT_UNIT, "unit", 1, NULL, "the unit that it is of") : NULL;
    for (size_t i = 0; units != NULL && i < count; i++)
        units[i] = samples->all.units[indices[i]];
    char **measures = add(to, SF_RESULT_TEXT, "measure", 1, NULL, "the unit of the points");
    for (size_t i = 0; i < count; i++)
        set_text(to, measures, i, samples->measure);
}

static void add_curves(sheet *to, const sf_density_columns *of, size_t count)
{
    size_t *point_ends = make_ends(to), *value_ends = make_ends(to), sum = 0, d = count > 0 ? of[0].d : 1;
    if (to->failed) {
        sf_free(point_ends);
        sf_free(value_ends);
        return;
    }
    for (size_t i = 0; i < count; i++)
        point_ends[i] = value_ends[i] = sum += of[i].x_count * (of[i].y != NULL ? of[i].y_count : 1);
    double *points = add(to, SF_RESULT_REAL, "points", d, point_ends, "where it was evaluated");
    double *values = add(to, SF_RESULT_REAL, "density", 1, value_ends, "there, per unit of the axis");
    for (size_t i = 0; !to->failed && i < count; i++) {
        size_t rows = of[i].y != NULL ? of[i].y_count : 1;
        for (size_t k = 0; k < of[i].x_count * rows; k++) {
            *points++ = of[i].x[k % of[i].x_count];
            if (of[i].y != NULL)
                *points++ = of[i].y[k / of[i].x_count];
            *values++ = of[i].values[k];
        }
    }
}

int app_nwb_densities(const app_call *call, const app_samples *samples, sf_domain domain,
                      const size_t *indices, const sf_density_columns *of, size_t count, sf_error *error)
{
    sheet rows = {.table = {.name = "densities", .row_count = count}};
    add_series(&rows, samples, indices, count);
    int64_t *sizes = add(&rows, SF_RESULT_INTEGER, "samples", 1, NULL, "how many it is of");
    double *widths = add(&rows, SF_RESULT_REAL, "bandwidth", 1, NULL,
                         domain == SF_DOMAIN_LOG ? "of the natural logarithm of the points"
                                                 : "in the unit of the points; of two columns a factor of "
                                                   "the root of the covariance");
    double *outside = add(&rows, SF_RESULT_REAL, "outside", 1, NULL, "its share beyond the points");
    char **methods = add(&rows, SF_RESULT_TEXT, "method", 1, NULL, "by which the bandwidth was found");
    for (size_t i = 0; i < count && !rows.failed; i++) {
        sizes[i] = (int64_t)of[i].n;
        widths[i] = of[i].h;
        outside[i] = of[i].outside;
        set_text(&rows, methods, i, of[i].method);
    }
    add_curves(&rows, of, count);
    sf_text what = {0};
    sf_text_printf(&what, "Kernel densities of %s, per unit of %s.", app_value(call, "quantity", "samples"),
                   domain == SF_DOMAIN_LOG ? "the points' natural logarithm" : "the points");
    int status = what.failed ? sf_fail_memory(error)
                             : write_sheets(call, samples->recording, &rows, 1, what.data, error);
    if (what.failed)
        clear(&rows);
    sf_text_free(&what);
    return status;
}
