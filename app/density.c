/* SPDX-License-Identifier: Apache-2.0 */
#include "app/csv.h"
#include "app/document.h"
#include "app/load.h"
#include "app/nwb.h"
#include "app/pictures.h"
#include "app/samples.h"

#include "core/memory.h"
#include "core/row_macros.h"

#include <math.h>
#include <string.h>

static const app_option own_options[] = {
    {"bandwidth", "H|METHOD",
     "a number in the unit of the samples (with --log: of their natural logarithm), or how to "
     "find one, as bandwidth --method (default isj); of two columns the factor of the covariance root "
     "(default "
     "silverman)"},
    {.name = "grid"},
    {"plot", "FILE", "draws the density, by the ending as SVG, PDF or PNG: a curve, or of two columns a map"},
    APP_NWB_OPTION,
    {"csv", NULL, "print CSV, of every unit or link; docs/formats.md has the columns"},
    {NULL, NULL, NULL},
};

enum { MOST_POINTS = 1000000 };

/* A share outside the picture that its caption tells. */
#define OUTSIDE_WORTH_TELLING 1e-3

typedef struct density_result {
    const app_samples *samples;
    size_t series; /* which of them */
    sf_domain domain;
    sf_density *density;
    sf_density_columns of; /* its columns; h as it was evaluated with */
    sf_density **epochs;   /* of each epoch of --epochs alone; NULL where it has too few samples */
    sf_density_columns *of_epochs;
} density_result;

/* ---- what was asked for ---- */

static int parse_axis(sf_density_options *options, size_t axis, const char *text, size_t *length)
{
    char words[3][64] = {"", "", ""};
    int used = 0;
    uint64_t points = 0;
    if (sscanf(text, "%63[^:,]:%63[^:,]:%63[^:,]%n", words[0], words[1], words[2], &used) != 3 ||
        !sf_parse_real(words[0], &options->from[axis]) || !sf_parse_real(words[1], &options->to[axis]) ||
        !sf_parse_uint(words[2], MOST_POINTS, &points) || points < 2 ||
        options->from[axis] >= options->to[axis])
        return SF_USAGE;
    options->point_count[axis] = (size_t)points;
    *length = (size_t)used;
    return SF_OK;
}

static int read_grid(void *density, const char *text, sf_error *error)
{
    sf_density_options *options = density;
    const char *at = text;
    uint64_t most = 0;
    if (sf_parse_uint(text, MOST_POINTS, &most) && most >= 2) {
        options->most_points = (size_t)most;
        return SF_OK;
    }
    while (at != NULL) {
        size_t length = 0;
        if (options->axis_count == 2 || parse_axis(options, options->axis_count, at, &length) != SF_OK ||
            (at[length] != '\0' && at[length] != ','))
            return sf_fail(error, SF_USAGE, NULL,
                           "found '%s', expected N, or A:B:N with A < B, or two of them with a comma; N from "
                           "2 to %d",
                           text, MOST_POINTS);
        options->axis_count++;
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    const size_t *count = options->point_count;
    if (options->axis_count == 2 && count[0] > MOST_POINTS / count[1])
        return sf_fail(error, SF_USAGE, NULL, "found %zu times %zu points, expected at most %d in all",
                       count[0], count[1], MOST_POINTS);
    return SF_OK;
}

static const sf_density_options usual;

#define ROW sf_density_options
static const sf_key grid_rows[] = {
    FORM(
        "grid", read_grid, .argument = "N|A:B:N",
        .what =
            "at most N points (default 200000), wherever there are samples; or N from A to B; of two columns "
            "A:B:N,C:D:M. Refused where so many are too few for the bandwidth"),
    {0},
};
#undef ROW

static const sf_key_table grid_table = SF_KEY_TABLE(grid_rows, usual);

static int check_request(const sf_density_options *options, size_t columns, sf_error *error)
{
    size_t axes = options->axis_count;
    if (columns > 2) return sf_fail(error, SF_DATA, NULL, "found %zu columns, expected 1 or 2", columns);
    if (columns == 2 && options->domain != SF_DOMAIN_LINE)
        return sf_fail(error, SF_USAGE, options->domain == SF_DOMAIN_LOG ? "--log" : "--reflect",
                       "goes with one column");
    if (axes > 0 && axes != columns)
        return sf_fail(error, SF_USAGE, "--grid", "found %zu ax%ss for %zu column%s", axes,
                       axes == 1 ? "i" : "e", columns, columns == 1 ? "" : "s");
    if (axes > 0 && options->domain == SF_DOMAIN_LOG && options->from[0] <= 0)
        return sf_fail(error, SF_USAGE, "--grid",
                       "begins at %g: a logarithmic axis begins above 0 (--linear?)", options->from[0]);
    return SF_OK;
}

/* ---- densities ---- */

/* Found or given, and no narrower than a tick where that is the same everywhere. */
static int find_density(const app_call *call, sf_density **density, const sf_series *series, size_t s,
                        const sf_density_options *options, sf_error *error)
{
    sf_density_columns found = {.size = sizeof found};
    int status = app_density_find(call, density, series, s, options, error);
    if (status != SF_OK) return status;
    sf_density_get_columns(*density, &found);
    if (found.h < found.h_least)
        app_warn(call, "the bandwidth %.4g is narrower than the clock's step: it is held at the step, %.4g",
                 found.h, found.h_least);
    return SF_OK;
}

/* Each epoch as if it were the whole recording, with its own bandwidth unless one was given. */
static int find_epochs(const app_call *call, const sf_density_options *options, density_result *result,
                       sf_error *error)
{
    size_t count = result->samples->epochs.count;
    result->epochs = sf_alloc(count, sizeof(sf_density *));
    result->of_epochs = sf_alloc(count, sizeof *result->of_epochs);
    if (result->epochs == NULL || result->of_epochs == NULL) return sf_fail_memory(error);
    for (size_t k = 0; k < count; k++) {
        int status = app_samples_epoch_n(result->samples, k, result->series) > 0
                         ? find_density(call, &result->epochs[k], result->samples->of_epochs[k],
                                        result->series, options, error)
                         : SF_DATA;
        if (status != SF_OK && status != SF_DATA) return status;
    }
    return SF_OK;
}

/* The library's refusals of a grid, in the command's words. */
static int refuse_grid(const sf_density_options *options, size_t columns, sf_error *error)
{
    const char *hint = columns == 2                       ? ""
                       : options->axis_count > 0          ? ", or no --grid"
                       : options->domain == SF_DOMAIN_LOG ? ""
                                                          : ": allow more, choose a range, or take --log";
    sf_error found = *error;
    return sf_fail(error, SF_USAGE, "--grid", "%s%s", found.text, hint);
}

/* All at the same points. */
static int evaluate(const sf_density_options *options, density_result *result, sf_error *error)
{
    size_t count = 1;
    sf_density **all = sf_alloc(result->samples->epochs.count + 1, sizeof(sf_density *));
    if (all == NULL) return sf_fail_memory(error);
    all[0] = result->density;
    for (size_t k = 0; k < result->samples->epochs.count; k++)
        if (result->epochs[k] != NULL) all[count++] = result->epochs[k];
    int status = sf_density_evaluate(all, count, options, error);
    if (status == SF_USAGE && strcmp(error->place, "grid") == 0)
        status = refuse_grid(options, result->samples->all.d, error);
    sf_free(all);
    return status;
}

static void read_columns(const sf_density *density, sf_density_columns *columns)
{
    *columns = (sf_density_columns){.size = sizeof *columns, .h = NAN, .outside = NAN};
    if (density == NULL) return;
    sf_density_get_columns(density, columns);
    columns->h = fmax(columns->h, columns->h_least);
}

static int estimate(const app_call *call, sf_density_options *options, density_result *result,
                    sf_error *error)
{
    const app_samples *samples = result->samples;
    sf_progress progress = app_progress(call);
    options->progress = &progress;
    int status = app_domain(call, samples->all.domain, &options->domain, error);
    if (status == SF_OK) status = check_request(options, samples->all.d, error);
    if (status == SF_OK)
        status = find_density(call, &result->density, samples->series, result->series, options, error);
    if (status == SF_OK) status = find_epochs(call, options, result, error);
    if (status == SF_OK) status = evaluate(options, result, error);
    if (status != SF_OK) return status;
    result->domain = options->domain;
    read_columns(result->density, &result->of);
    for (size_t k = 0; k < samples->epochs.count; k++)
        read_columns(result->epochs[k], &result->of_epochs[k]);
    return SF_OK;
}

/* ---- pictures ---- */

/* Beyond both ends of a picture lies so much of the density, so that no single sample squeezes it. */
#define BEYOND 5e-4

/* The points first .. last that hold the rest, by straight lines between them. */
static void find_middle(const density_result *result, size_t *first, size_t *last)
{
    const double *x = result->of.x, *y = result->of.values;
    bool log_x = result->domain == SF_DOMAIN_LOG;
    double mass = result->of.outside / 2;
    *first = 0;
    *last = result->of.x_count - 1;
    for (size_t k = 0; k + 2 < result->of.x_count; k++) {
        mass += (y[k] + y[k + 1]) / 2 * (log_x ? log(x[k + 1] / x[k]) : x[k + 1] - x[k]);
        *first = mass < BEYOND ? k + 1 : *first;
        if (mass > 1 - BEYOND) {
            *last = k + 1;
            return;
        }
    }
}

static void draw_curve(sf_figure *figure, const sf_panel_form *form, const density_result *result,
                       size_t first, size_t last)
{
    app_curve curve = {.form = *form,
                       .x = result->of.x + first,
                       .y = result->of.values + first,
                       .count = last - first + 1,
                       .rug = result->samples->all.values,
                       .rug_count = result->of.n};
    curve.form.x.log = result->domain == SF_DOMAIN_LOG;
    app_curve_draw(figure, &curve);
}

static void draw_map(sf_figure *figure, const sf_panel_form *form, const density_result *result)
{
    app_map map = {.form = *form,
                   .x = result->of.x,
                   .y = result->of.y,
                   .columns = result->of.x_count,
                   .rows = result->of.y_count,
                   .values = result->of.values};
    map.form.colours.label = "density";
    app_map_draw(figure, &map);
}

/* The unit that a density is per: "ln(interval)", "s", or "" if there is no unit. */
static void name_unit(char *name, size_t size, const density_result *result)
{
    if (result->domain == SF_DOMAIN_LOG)
        snprintf(name, size, "ln(%s)", result->samples->quantity);
    else
        snprintf(name, size, "%s", result->samples->measure);
}

static void describe(sf_text *text, const density_result *result)
{
    bool plane = result->of.d == 2;
    char unit[64];
    name_unit(unit, sizeof unit, result);
    sf_text_printf(text, "%zu samples, bandwidth %.4g%s%s (%s)", result->of.n, result->of.h,
                   plane                             ? " of the covariance root"
                   : result->domain == SF_DOMAIN_LOG ? " of "
                   : unit[0] != '\0'                 ? " "
                                                     : "",
                   plane ? "" : unit, result->of.method);
}

static int find_outside(double *outside, const density_result *result, size_t first, size_t last,
                        sf_error *error)
{
    sf_aggregate inside = {.size = sizeof inside};
    int status = sf_density_aggregate(result->density, SF_AGGREGATE_COUNT, &result->of.x[first],
                                      &result->of.x[last], 1, &inside, NULL, error);
    *outside = fmax(1 - inside.share, 0);
    return status;
}

static int write_plot(const char *path, const density_result *result, const char *source, sf_error *error)
{
    const app_samples *samples = result->samples;
    bool plane = result->of.d == 2;
    const char *slash = strrchr(source, '/');
    const char *file = slash != NULL ? slash + 1 : source;
    const char *comma = samples->measure[0] != '\0' ? ", " : "";
    char x_label[96], y_label[96], unit[64];
    sf_text title = {0}, caption = {0};
    int status = SF_OK;
    name_unit(unit, sizeof unit, result);
    if (samples->all.names[0][0] != '\0')
        sf_text_printf(&title, "%s of %s, %s", samples->title, samples->all.names[0], file);
    else
        sf_text_printf(&title, "%s of %s", samples->title, file);
    describe(&caption, result);
    size_t first = 0, last = 0;
    double outside = result->of.outside;
    if (!plane) {
        find_middle(result, &first, &last);
        status = find_outside(&outside, result, first, last, error);
    }
    if (outside >= OUTSIDE_WORTH_TELLING)
        sf_text_printf(&caption, ", %.2g %% outside the picture", 100 * outside);
    snprintf(x_label, sizeof x_label, "%s%s%s%s", plane ? "x of " : "", samples->quantity, comma,
             samples->measure);
    if (plane)
        snprintf(y_label, sizeof y_label, "y of %s%s%s", samples->quantity, comma, samples->measure);
    else
        snprintf(y_label, sizeof y_label, "density%s%s", unit[0] != '\0' ? " per " : "", unit);
    if (title.failed || caption.failed) status = sf_fail_memory(error);
    if (status == SF_OK) {
        sf_figure figure = sf_figure_begin("density", SF_COLUMN_MM, 1);
        const sf_panel_form form = {.title = title.data, .x.label = x_label, .y.label = y_label};
        if (plane)
            draw_map(&figure, &form, result);
        else
            draw_curve(&figure, &form, result, first, last);
        sf_figure_end(&figure, caption.data);
        status = sf_scene_write(&figure.scene, path, error);
        sf_scene_free(&figure.scene);
    }
    sf_text_free(&title);
    sf_text_free(&caption);
    return status;
}

/* ---- text ---- */

/* The document. */
typedef struct content {
    density_result result;
    app_epochs epochs;
    const char *quantity, *name;
    uint32_t unit;
    double tick;
    bool reflected;
} content;

static const char *axis_word(const void *domain)
{
    return app_axis_words[*(const sf_domain *)domain == SF_DOMAIN_LOG];
}

static bool is_plane(const content *c)
{
    return c->result.of.y != NULL;
}

/* With one column, the number of its points; with two, two lists of points. */
SF_LENGTH(count_grid)
{
    const content *c = of;
    *length = is_plane(c) ? 2 : c->result.of.x_count;
    return true;
}

SF_GETTER(get_grid)
{
    const sf_density_columns *at = &((const content *)of)->result.of;
    if (!is_plane(of))
        sf_value_set_real(value, at->x[item]);
    else
        sf_value_set_numbers(value, item == 0 ? at->x : at->y, item == 0 ? at->x_count : at->y_count, 0);
}

/* With one column, one number per point; with two, one row per y. */
SF_LENGTH(count_values)
{
    const content *c = of;
    *length = is_plane(c) ? c->result.of.y_count : c->result.of.x_count;
    return true;
}

SF_GETTER(get_value)
{
    const sf_density_columns *at = &((const content *)of)->result.of;
    if (!is_plane(of))
        sf_value_set_real(value, at->values[item]);
    else
        sf_value_set_numbers(value, at->values + item * at->x_count, at->x_count, 0);
}

SF_LENGTH(count_epochs)
{
    const app_epochs *epochs = &((const content *)of)->epochs;
    *length = epochs->count;
    return epochs->items != NULL;
}

SF_GETTER(get_epoch_n)
{
    sf_value_set_count(value, app_samples_epoch_n(((const content *)of)->result.samples, item, 0));
}

SF_GETTER(get_epoch_h)
{
    sf_value_set_real(value, ((const content *)of)->result.of_epochs[item].h);
}

SF_GETTER(get_epoch_outside)
{
    sf_value_set_real(value, ((const content *)of)->result.of_epochs[item].outside);
}

SF_GETTER(get_epoch_values)
{
    const density_result *r = &((const content *)of)->result;
    size_t rows = is_plane(of) ? r->of.y_count : 1;
    sf_value_set_numbers(value, r->of_epochs[item].values, r->of.x_count * rows,
                         is_plane(of) ? r->of.x_count : 0);
}

#define ROW content
#define NO_EPOCHS .null = "without --epochs"
#define TOO_FEW .item_null = "it has too few samples"
static const sf_column_row document_rows[] = {
    SF_FIELD_IS(COUNT, "n", result.of.n, "samples"),
    SF_FIELD_IS(REAL, "h", result.of.h, "bandwidth", .null = "there is none"),
    SF_FIELD_IS(TEXT, "method", result.of.method, "how it was found, or given"),
    SF_WORD_IS("axis", result.domain, axis_word,
               "what density is per unit of: the samples, or their natural logarithm",
               .words = app_axis_words),
    SF_MEMBER_IS(FLAG, reflected, "at 0"),
    SF_MEMBER_IS(REAL, tick, "step of the samples' clock", .null = "there is none"),
    SF_FIELD_IS(REAL, "outside", result.of.outside, "share of the density outside the grid",
                .null = "not known"),
    SF_LIST_BY(NUMBERS, "grid", get_grid, count_grid, "points; of two columns a list of each one's"),
    SF_LIST_BY(NUMBERS, "density", get_value, count_values,
               "at these points; of two columns rows, one for each point of the second"),
    SF_MEMBER_IS(TEXT, quantity, "--quantity", .null = "of numbers", .words = sf_quantity_words),
    SF_MEMBER_IS(UNIT, unit, "whose samples they are", .null = "of a link, of positions and of numbers"),
    SF_MEMBER_IS(TEXT, name, "of the unit or link", .null = "of positions and of numbers"),
    APP_ROW_EPOCHS(epochs),
    SF_LIST_BY(COUNT, "epoch_n", get_epoch_n, count_epochs, "samples in each epoch", NO_EPOCHS),
    SF_LIST_BY(REAL, "epoch_h", get_epoch_h, count_epochs, "bandwidth in each", NO_EPOCHS, TOO_FEW),
    SF_LIST_BY(REAL, "epoch_outside", get_epoch_outside, count_epochs, "outside in each", NO_EPOCHS, TOO_FEW),
    SF_LIST_BY(NUMBERS, "epoch_density", get_epoch_values, count_epochs,
               "as density, of each epoch alone; of one with too few samples all null", NO_EPOCHS),
};
#undef ROW

static const sf_table document = {
    .name = "density", .about = "a density on a grid", SF_TABLE_OF(document_rows)};

static void print_json(sf_text *text, const app_call *call, const density_result *result)
{
    const app_samples *samples = result->samples;
    const content of = {.result = *result,
                        .epochs = samples->epochs,
                        .quantity = app_value(call, "quantity", NULL),
                        .name = app_samples_name(samples, 0),
                        .unit = app_samples_unit(samples, 0),
                        .tick = samples->all.tick > 0 ? samples->all.tick : NAN,
                        .reflected = result->domain == SF_DOMAIN_REFLECT};
    app_document_json(text, call, &document, &of);
}

/* The density is named by what it is per: s, or ln s on a logarithmic axis. Epochs by their numbers, from 0,
 * in their order. */
static app_csv start_csv(sf_text *text, const app_samples *samples, sf_domain domain)
{
    char columns[96];
    bool is_log = domain == SF_DOMAIN_LOG, has_unit = samples->measure[0] != '\0' && samples->all.d == 1;
    snprintf(columns, sizeof columns, "%sx,%sdensity%s%s%s", samples->all.count > 1 ? "unit,name," : "",
             samples->all.d == 2 ? "y," : "",
             is_log     ? "_per_ln"
             : has_unit ? "_per"
                        : "",
             has_unit ? "_" : "", has_unit ? samples->measure : "");
    app_csv csv = app_csv_start(text, columns);
    for (size_t e = 0; e < samples->epochs.count; e++)
        sf_text_printf(text, ",epoch %zu", e);
    return csv;
}

static void print_csv(app_csv *csv, const density_result *result)
{
    const sf_density_columns *of = &result->of;
    const sf_series_columns *all = &result->samples->all;
    size_t rows = of->y != NULL ? of->y_count : 1;
    for (size_t k = 0; k < of->x_count * rows; k++) {
        app_csv_row(csv);
        if (all->count > 1 && all->units[result->series] >= 0)
            app_csv_uint(csv, (uint64_t)all->units[result->series]);
        else if (all->count > 1)
            app_csv_real(csv, NAN);
        if (all->count > 1) app_csv_string(csv, all->names[result->series]);
        app_csv_real(csv, of->x[k % of->x_count]);
        if (of->y != NULL) app_csv_real(csv, of->y[k / of->x_count]);
        app_csv_real(csv, of->values[k]);
        for (size_t e = 0; e < result->samples->epochs.count; e++)
            app_csv_real(csv, result->epochs[e] != NULL ? result->of_epochs[e].values[k] : NAN);
    }
}

static void print_cell(sf_text *text, double value)
{
    if (isnan(value))
        sf_text_printf(text, "  %14s", "-");
    else
        sf_text_printf(text, "  %14.7g", value);
}

static void print_table(sf_text *text, const density_result *result)
{
    const sf_density_columns *of = &result->of;
    bool plane = of->y != NULL;
    double last = of->x_count > 0 ? of->x[of->x_count - 1] : 0;
    int digits = app_digits(fmax(fabs(of->x[0]), fabs(last)), plane ? 0 : of->h, 7);
    sf_text_printf(text, "%*s", digits + 7, "x");
    if (plane) sf_text_printf(text, "  %14s", "y");
    sf_text_printf(text, "  %14s", "density");
    for (size_t e = 0; e < result->samples->epochs.count; e++) {
        char head[32];
        snprintf(head, sizeof head, "epoch %zu", e);
        sf_text_printf(text, "  %14s", head);
    }
    for (size_t k = 0; k < of->x_count * (plane ? of->y_count : 1); k++) {
        sf_text_printf(text, "\n%*.*g", digits + 7, digits, of->x[k % of->x_count]);
        if (plane) sf_text_printf(text, "  %14.7g", of->y[k / of->x_count]);
        print_cell(text, of->values[k]);
        for (size_t e = 0; e < result->samples->epochs.count; e++)
            print_cell(text, result->epochs[e] != NULL ? result->of_epochs[e].values[k] : NAN);
    }
    char unit[64];
    name_unit(unit, sizeof unit, result);
    sf_text_printf(text, "\n");
    describe(text, result);
    if (unit[0] != '\0') sf_text_printf(text, "; per %s%s", unit, plane ? "^2" : "");
    sf_text_printf(text, "; %.2f %% of the density lies outside the points", 100 * of->outside);
}

/* ---- tables of an NWB file ---- */

typedef struct all_series {
    const app_samples *samples;
    sf_density **densities; /* of those that have samples enough; */
    sf_density_columns *of; /* their columns, */
    size_t *indices;        /* and which series they are */
    size_t count;
} all_series;

static int find_one(const app_call *call, all_series *all, size_t s, const sf_density_options *options,
                    sf_error *error)
{
    sf_density **density = &all->densities[all->count];
    int status = sf_density_find(density, all->samples->series, s, options, error);
    if (status == SF_OK) status = sf_density_evaluate(density, 1, options, error);
    if (status == SF_OK) {
        read_columns(*density, &all->of[all->count]);
        all->indices[all->count++] = s;
        return SF_OK;
    }
    sf_density_free(*density);
    if (status != SF_DATA || all->samples->all.count == 1) return status;
    app_warn(call, "%s is left out: %s", all->samples->all.names[s], error->text);
    return SF_OK;
}

static int print_all(const app_call *call, const all_series *all, sf_error *error)
{
    sf_text text = {0};
    app_table table = {0};
    static const char *const heads[] = {"series", "samples", "bandwidth", "method"};
    app_table_heads(&table, heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < all->count; i++) {
        app_table_cell(&table, "%s", all->samples->all.names[all->indices[i]]);
        app_table_cell(&table, "%zu", all->of[i].n);
        app_table_cell(&table, "%.4g", all->of[i].h);
        app_table_cell(&table, "%s", all->of[i].method);
    }
    app_table_print(&table, &text, sizeof heads / sizeof *heads);
    sf_text_printf(&text, "%zu densities are in %s", all->count, app_value(call, "nwb", ""));
    return app_print(&text, error);
}

static int write_all(const app_call *call, const app_samples *samples, sf_density_options *options,
                     sf_error *error)
{
    size_t count = samples->all.count;
    sf_progress progress = app_progress(call);
    all_series all = {.samples = samples,
                      .densities = sf_alloc(count, sizeof(sf_density *)),
                      .of = sf_alloc(count, sizeof *all.of),
                      .indices = sf_alloc(count, sizeof *all.indices)};
    int status =
        all.densities != NULL && all.of != NULL && all.indices != NULL ? SF_OK : sf_fail_memory(error);
    options->progress = &progress;
    if (status == SF_OK) status = app_domain(call, samples->all.domain, &options->domain, error);
    if (status == SF_OK) status = check_request(options, samples->all.d, error);
    for (size_t s = 0; s < count && status == SF_OK; s++)
        status = find_one(call, &all, s, options, error);
    if (status == SF_OK && all.count == 0)
        status = sf_fail(error, SF_DATA, NULL, "none of %zu %ss has samples enough", count, samples->of);
    if (status == SF_OK)
        status = app_nwb_densities(call, samples, options->domain, all.indices, all.of, all.count, error);
    if (status == SF_OK && count > 1 && !app_has(call, "csv")) status = print_all(call, &all, error);
    for (size_t i = 0; i < all.count; i++)
        sf_density_free(all.densities[i]);
    sf_free(all.densities);
    sf_free(all.of);
    sf_free(all.indices);
    return status;
}

static void free_result(density_result *result)
{
    for (size_t k = 0; result->epochs != NULL && k < result->samples->epochs.count; k++)
        sf_density_free(result->epochs[k]);
    sf_free(result->epochs);
    sf_free(result->of_epochs);
    sf_density_free(result->density);
}

static int answer_one(const app_call *call, const app_samples *samples, sf_density_options *options,
                      sf_error *error)
{
    density_result result = {.samples = samples};
    int status = estimate(call, options, &result, error);
    const char *plot = app_value(call, "plot", NULL);
    if (status == SF_OK && plot != NULL) status = write_plot(plot, &result, call->arguments[0], error);
    if (status == SF_OK) {
        sf_text text = {0};
        if (call->json) {
            print_json(&text, call, &result);
        } else if (app_has(call, "csv")) {
            app_csv csv = start_csv(&text, samples, result.domain);
            print_csv(&csv, &result);
        } else {
            print_table(&text, &result);
        }
        status = app_print(&text, error);
    }
    free_result(&result);
    return status;
}

/* Series with too few samples are left out. */
static int print_several(const app_call *call, const app_samples *samples, sf_density_options *options,
                         sf_error *error)
{
    sf_text text = {0};
    sf_domain domain = samples->all.domain;
    int status = app_domain(call, samples->all.domain, &domain, error);
    app_csv csv = start_csv(&text, samples, domain);
    size_t told = 0;
    for (size_t s = 0; status == SF_OK && s < samples->all.count; s++) {
        density_result result = {.samples = samples, .series = s};
        status = estimate(call, options, &result, error);
        if (status == SF_OK) {
            print_csv(&csv, &result);
            told++;
        } else if (status == SF_DATA) {
            app_warn(call, "%s is left out: %s", samples->all.names[s], error->text);
            status = SF_OK;
        }
        free_result(&result);
    }
    if (status == SF_OK && told == 0)
        status = sf_fail(error, SF_DATA, NULL, "none of %zu %ss has samples enough", samples->all.count,
                         samples->of);
    int printed = status == SF_OK ? app_print(&text, error) : status;
    if (status != SF_OK) sf_text_free(&text);
    return printed;
}

static int answer_series(const app_call *call, const app_samples *samples, void *context, sf_error *error)
{
    int status = app_has(call, "nwb") ? write_all(call, samples, context, error) : SF_OK;
    if (status != SF_OK || (samples->all.count > 1 && !app_has(call, "csv"))) return status;
    return samples->all.count > 1 ? print_several(call, samples, context, error)
                                  : answer_one(call, samples, context, error);
}

/* Tables of a file and rows of CSV have room for several, a document, a picture and what people read for one.
 */
static bool takes_several(const app_call *call)
{
    return (app_has(call, "nwb") || app_has(call, "csv")) && !call->json && !app_has(call, "plot");
}

static int run(app_call *call, sf_error *error)
{
    sf_density_options wanted = sf_density_options_default();
    int status = app_nwb_check(call, error);
    if (status == SF_OK && app_has(call, "nwb") && (!app_has(call, "quantity") || app_has(call, "epochs")))
        status = sf_fail(error, SF_USAGE, "--nwb",
                         "goes with --quantity of a recording, and has no room for what single epochs have");
    if (status == SF_OK) status = app_bandwidth(call, &wanted, error);
    if (status == SF_OK) status = app_options_read(call, &grid_table, &wanted, error);
    return status == SF_OK
               ? app_samples_run(call, takes_several(call), ", or take --csv", answer_series, &wanted, error)
               : status;
}

const app_command app_command_density = {
    .name = "density",
    .group = "timing",
    .summary = "kernel density of samples on a grid",
    .arguments = "SAMPLES|REC...",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes_several = true,
    .example = "synfire density demo.h5 --quantity isi --units A --plot intervals.svg",
    .notes =
        "SAMPLES is a file of numbers: text or CSV with one row a line, or NumPy .npy, one or two "
        "columns. With "
        "--quantity it is a recording of which --units selects one unit. Intervals are drawn by their "
        "logarithm, delays and rates reflected at 0, unless --log, --linear or --reflect says otherwise.",
    .options = {own_options, app_axis_options, app_quantity_options, app_selection_options},
    .rows = {&app_quantity_table, &grid_table},
    .documents = {&document},
    .run = run,
};
