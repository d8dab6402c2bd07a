/* SPDX-License-Identifier: Apache-2.0 */
#include "app/load.h"
#include "app/plot.h"
#include "app/samples.h"

#include "core/file.h"
#include "core/memory.h"
#include "core/thread.h"
#include "density/evaluate.h"

#include <math.h>
#include <string.h>

static const app_option options[] = {
    {"bandwidth", "H|METHOD",
     "a number in the unit of the samples (with --log: of their logarithm), or how to "
     "find one, as bandwidth --method (default isj); of two columns the factor of the covariance root "
     "(default "
     "silverman)"},
    {"grid", "A:B:N",
     "N points from A to B (default: 512 points, three bandwidths beyond the samples); of two columns "
     "A:B:N,C:D:M "
     "(default 64 each)"},
    {"log", NULL, "samples are above 0: estimates the density of their logarithm and carries it back"},
    {"reflect", NULL, "samples are not under 0: reflects there what the kernels put below"},
    {"plot", "FILE", "draws the density as SVG: a curve, or of two columns a map"},
    {"csv", NULL, "prints x,density lines, or x,y,density"},
    {NULL, NULL, NULL},
};

enum { DEFAULT_POINTS = 512, DEFAULT_PLANE_POINTS = 64, MOST_POINTS = 1000000 };

/* Points along one column. */
typedef struct density_axis {
    double from, to;
    size_t count; /* 0: not asked for */
    double *at;
} density_axis;

/* What was asked for. */
typedef struct density_request {
    const sf_selector *selector; /* NULL: h was given */
    double h;
    sf_domain domain;
    density_axis axes[2];
    size_t axis_count; /* given */
} density_request;

typedef struct density_result {
    const app_series_list *list;
    const app_series *series;
    const sf_selector *selector; /* NULL: h was given */
    double h;
    density_axis axes[2];
    double *values; /* row after row of the second axis */
    size_t count;
    double *epoch_h;      /* of each epoch of --epochs alone; NaN where it has too few samples */
    double *epoch_values; /* count of each, at the same points */
} density_result;

static int parse_axis(density_axis *axis, const char *text, size_t *length)
{
    char words[3][64] = {"", "", ""};
    int used = 0;
    uint64_t points = 0;
    if (sscanf(text, "%63[^:,]:%63[^:,]:%63[^:,]%n", words[0], words[1], words[2], &used) != 3 ||
        !sf_parse_real(words[0], &axis->from) || !sf_parse_real(words[1], &axis->to) ||
        !sf_parse_uint(words[2], MOST_POINTS, &points) || points < 2 || axis->from >= axis->to)
        return SF_USAGE;
    axis->count = (size_t)points;
    *length = (size_t)used;
    return SF_OK;
}

static int parse_grid(const app_call *call, density_request *request, sf_error *error)
{
    const char *text = app_value(call, "grid", NULL), *at = text;
    while (at != NULL) {
        size_t length = 0;
        if (request->axis_count == 2 ||
            parse_axis(&request->axes[request->axis_count], at, &length) != SF_OK ||
            (at[length] != '\0' && at[length] != ','))
            return sf_fail(
                error, SF_USAGE, "--grid",
                "found '%s', expected A:B:N with A < B and N from 2 to %d, or two of them with a comma", text,
                MOST_POINTS);
        request->axis_count++;
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    if (request->axis_count == 2 && request->axes[0].count > MOST_POINTS / request->axes[1].count)
        return sf_fail(error, SF_USAGE, "--grid", "found %zu times %zu points, expected at most %d in all",
                       request->axes[0].count, request->axes[1].count, MOST_POINTS);
    return SF_OK;
}

static int parse_request(const app_call *call, density_request *request, sf_error *error)
{
    *request = (density_request){0};
    int status = app_domain(call, &request->domain, error);
    if (status == SF_OK)
        status = app_bandwidth(app_value(call, "bandwidth", NULL), &request->h, &request->selector, error);
    if (status != SF_OK)
        return status;
    return parse_grid(call, request, error);
}

static int fill_axis(density_axis *axis, bool geometric, sf_error *error)
{
    axis->at = sf_resize(NULL, axis->count, sizeof *axis->at);
    if (axis->at == NULL)
        return sf_fail_memory(error);
    for (size_t k = 0; k < axis->count; k++) {
        double share = (double)k / (double)(axis->count - 1), x = axis->from * (1 - share) + axis->to * share;
        axis->at[k] = geometric ? exp(x) : x;
    }
    return SF_OK;
}

/* From the least to the most value of column c. */
static void find_range(density_axis *axis, const sf_samples *samples, size_t c)
{
    axis->from = axis->to = samples->values[c];
    for (size_t i = 0; i < samples->n; i++) {
        axis->from = fmin(axis->from, samples->values[i * samples->d + c]);
        axis->to = fmax(axis->to, samples->values[i * samples->d + c]);
    }
}

/* Without --grid: as far as the kernels reach; geometric steps where the density of the logarithm is meant.
 */
static int make_line(density_result *result, const density_request *request, sf_error *error)
{
    density_axis *axis = &result->axes[0];
    if (request->axis_count > 0) {
        *axis = request->axes[0];
        return fill_axis(axis, false, error);
    }
    bool geometric = request->domain == SF_DOMAIN_LOG;
    find_range(axis, &result->series->samples, 0);
    axis->count = DEFAULT_POINTS;
    axis->from = geometric ? log(axis->from) : axis->from;
    axis->to = (geometric ? log(axis->to) : axis->to) + 3 * result->h;
    axis->from = request->domain == SF_DOMAIN_REFLECT ? 0 : axis->from - 3 * result->h;
    return fill_axis(axis, geometric, error);
}

/* The same of two columns, whose kernels are wider than h by each column's spread: a twentieth of its range.
 */
static int make_plane(density_result *result, const density_request *request, sf_error *error)
{
    int status = SF_OK;
    for (size_t c = 0; status == SF_OK && c < 2; c++) {
        density_axis *axis = &result->axes[c];
        *axis = request->axes[c];
        if (axis->count == 0) {
            find_range(axis, &result->series->samples, c);
            double margin = (axis->to - axis->from) / 20;
            *axis = (density_axis){axis->from - margin, axis->to + margin, DEFAULT_PLANE_POINTS, NULL};
        }
        status = fill_axis(axis, false, error);
    }
    return status;
}

static int check_columns(const density_request *request, const sf_samples *samples, sf_error *error)
{
    if (samples->d > 2)
        return sf_fail(error, SF_DATA, NULL, "found %zu columns, expected 1 or 2", samples->d);
    if (samples->d == 2 && request->domain != SF_DOMAIN_LINE)
        return sf_fail(error, SF_USAGE, request->domain == SF_DOMAIN_LOG ? "--log" : "--reflect",
                       "goes with one column");
    if (request->axis_count > 0 && request->axis_count != samples->d)
        return sf_fail(error, SF_USAGE, "--grid", "found %zu axes for %zu columns", request->axis_count,
                       samples->d);
    return SF_OK;
}

/* The density of samples at the result's points. */
static int evaluate(double *values, const density_request *request, const density_result *result,
                    const sf_samples *samples, double h, sf_error *error)
{
    const density_axis *x = &result->axes[0], *y = &result->axes[1];
    if (samples->d == 2)
        return sf_density_evaluate_plane(values, x->at, x->count, y->at, y->count, samples->values, NULL,
                                         samples->n, h, sf_thread_cores(), error);
    return sf_density_evaluate(values, x->at, x->count, samples->values, samples->n, h, request->domain,
                               sf_thread_cores(), error);
}

static int estimate(const app_call *call, const density_request *request, density_result *result,
                    sf_error *error)
{
    const sf_samples *samples = &result->series->samples;
    bool plane = samples->d == 2;
    int status = check_columns(request, samples, error);
    if (status == SF_OK)
        status = app_bandwidth_find(call, samples, request->domain, &result->h, &result->selector, error);
    if (status == SF_OK)
        status = plane ? make_plane(result, request, error) : make_line(result, request, error);
    if (status != SF_OK)
        return status;
    const density_axis *x = &result->axes[0], *y = &result->axes[1];
    result->count = x->count * (plane ? y->count : 1);
    result->values = sf_resize(NULL, result->count, sizeof *result->values);
    if (result->values == NULL)
        return sf_fail_memory(error);
    return evaluate(result->values, request, result, samples, result->h, error);
}

/* Each epoch as if it were all there is, with a bandwidth of its own unless one was given. */
static int estimate_epochs(const app_call *call, const density_request *request, density_result *result,
                           sf_error *error)
{
    size_t epochs = result->list->epochs.count;
    result->epoch_h = sf_resize(NULL, epochs, sizeof *result->epoch_h);
    result->epoch_values = sf_resize(NULL, epochs, result->count * sizeof *result->epoch_values);
    if (result->epoch_h == NULL || result->epoch_values == NULL)
        return sf_fail_memory(error);
    int status = SF_OK;
    for (size_t k = 0; k < epochs && status == SF_OK; k++) {
        const sf_samples *samples = &result->series->epochs[k];
        double *values = result->epoch_values + k * result->count;
        const sf_selector *selector = request->selector;
        result->epoch_h[k] = request->h;
        status = SF_DATA;
        if (samples->n > 0)
            status =
                app_bandwidth_find(call, samples, request->domain, &result->epoch_h[k], &selector, error);
        if (status == SF_OK)
            status = evaluate(values, request, result, samples, result->epoch_h[k], error);
        if (status != SF_DATA)
            continue;
        result->epoch_h[k] = NAN;
        for (size_t i = 0; i < result->count; i++)
            values[i] = NAN;
        status = SF_OK;
    }
    return status;
}

static void print_curve(sf_text *svg, const app_plot_words *words, const density_request *request,
                        const density_result *result)
{
    app_plot plot = {.words = *words,
                     .log_x = request->domain == SF_DOMAIN_LOG && result->axes[0].at[0] > 0,
                     .x = result->axes[0].at,
                     .y = result->values,
                     .count = result->count,
                     .rug = result->series->samples.values,
                     .rug_count = result->series->samples.n};
    app_plot_print(svg, &plot);
}

static void print_map(sf_text *svg, const app_plot_words *words, const density_result *result)
{
    app_plot_map map = {.words = *words,
                        .x = result->axes[0].at,
                        .y = result->axes[1].at,
                        .columns = result->axes[0].count,
                        .rows = result->axes[1].count,
                        .values = result->values};
    app_plot_map_print(svg, &map);
}

static int write_plot(const char *path, const density_request *request, const density_result *result,
                      const char *source, sf_error *error)
{
    const app_series_list *list = result->list;
    bool plane = result->series->samples.d == 2, relative = plane || request->domain == SF_DOMAIN_LOG;
    const char *slash = strrchr(source, '/');
    const char *file = slash != NULL ? slash + 1 : source;
    const char *name = result->series->name[0] != '\0' ? result->series->name : file;
    const char *comma = list->measure[0] != '\0' ? ", " : "";
    char title[160], caption[160], x_label[64], y_label[64];
    snprintf(title, sizeof title, "Density of %s: %s", list->quantity, name);
    snprintf(caption, sizeof caption, "%zu samples, bandwidth %.4g%s%s (%s)", result->series->samples.n,
             result->h, relative || list->measure[0] == '\0' ? "" : " ",
             plane      ? " of the covariance root"
             : relative ? " of the logarithm"
                        : list->measure,
             result->selector != NULL ? sf_selector_name(result->selector) : "given");
    snprintf(x_label, sizeof x_label, "%s%s%s%s", plane ? "x of " : "", list->quantity, comma, list->measure);
    if (plane)
        snprintf(y_label, sizeof y_label, "y of %s%s%s", list->quantity, comma, list->measure);
    else
        snprintf(y_label, sizeof y_label, "density%s%s", list->measure[0] != '\0' ? ", 1/" : "",
                 list->measure);
    if (plane) {
        double most = 0;
        for (size_t k = 0; k < result->count; k++)
            most = fmax(most, result->values[k]);
        size_t used = strlen(caption);
        snprintf(caption + used, sizeof caption - used, ", darkest %.3g", most);
    }
    app_plot_words words = {.title = title, .caption = caption, .x_label = x_label, .y_label = y_label};
    sf_text svg = {0};
    if (plane)
        print_map(&svg, &words, result);
    else
        print_curve(&svg, &words, request, result);
    int status = sf_file_write(&svg, path, error);
    sf_text_free(&svg);
    return status;
}

static void print_reals(sf_json *json, const char *key, const double *values, size_t count)
{
    sf_json_array(json, key);
    for (size_t k = 0; k < count; k++)
        sf_json_real(json, NULL, values[k]);
    sf_json_end_array(json);
}

/* A list, or of two columns a list of rows, one for each y. */
static void print_values(sf_json *json, const char *key, const density_result *result, const double *values)
{
    const density_axis *x = &result->axes[0], *y = &result->axes[1];
    if (y->at == NULL) {
        print_reals(json, key, values, x->count);
        return;
    }
    sf_json_array(json, key);
    for (size_t r = 0; r < y->count; r++)
        print_reals(json, NULL, values + r * x->count, x->count);
    sf_json_end_array(json);
}

static void print_epochs(sf_json *json, const density_result *result)
{
    const app_epochs *epochs = &result->list->epochs;
    if (epochs->items == NULL)
        return;
    app_epochs_json(json, epochs);
    sf_json_array(json, "epoch_n");
    for (size_t k = 0; k < epochs->count; k++)
        sf_json_uint(json, NULL, result->series->epochs[k].n);
    sf_json_end_array(json);
    print_reals(json, "epoch_h", result->epoch_h, epochs->count);
    sf_json_array(json, "epoch_density");
    for (size_t k = 0; k < epochs->count; k++)
        print_values(json, NULL, result, result->epoch_values + k * result->count);
    sf_json_end_array(json);
}

/* Of two columns `grid` is the points of each. */
static void print_json(sf_text *text, const app_call *call, const density_result *result)
{
    sf_json json = sf_json_start(text);
    const density_axis *x = &result->axes[0], *y = &result->axes[1];
    sf_json_object(&json, NULL);
    sf_json_real(&json, "h", result->h);
    if (y->at == NULL) {
        print_reals(&json, "grid", x->at, x->count);
    } else {
        sf_json_array(&json, "grid");
        print_reals(&json, NULL, x->at, x->count);
        print_reals(&json, NULL, y->at, y->count);
        sf_json_end_array(&json);
    }
    print_values(&json, "density", result, result->values);
    print_epochs(&json, result);
    app_provenance_json(&json, call);
    sf_json_end_object(&json);
}

/* By its number, from 0, in the order of the epochs. */
static void print_epoch_heads(sf_text *text, const density_result *result, bool csv)
{
    for (size_t k = 0; k < result->list->epochs.count; k++) {
        char head[32];
        snprintf(head, sizeof head, "epoch %zu", k);
        sf_text_printf(text, csv ? ",%s" : "  %14s", head);
    }
}

static void print_cell(sf_text *text, double value, bool csv)
{
    if (isnan(value))
        sf_text_printf(text, csv ? ",%s" : "  %14s", csv ? "" : "-");
    else
        sf_text_printf(text, csv ? ",%.17g" : "  %14.7g", value);
}

static void print_table(sf_text *text, const density_result *result, bool csv)
{
    const density_axis *x = &result->axes[0], *y = &result->axes[1];
    bool plane = y->at != NULL;
    if (csv)
        sf_text_printf(text, plane ? "x,y,density" : "x,density");
    else if (plane)
        sf_text_printf(text, "%14s  %14s  %14s", "x", "y", "density");
    else
        sf_text_printf(text, "%14s  %14s", "x", "density");
    print_epoch_heads(text, result, csv);
    for (size_t k = 0; k < result->count; k++) {
        sf_text_printf(text, csv ? "\n%.17g" : "\n%14.7g", x->at[k % x->count]);
        if (plane)
            sf_text_printf(text, csv ? ",%.17g" : "  %14.7g", y->at[k / x->count]);
        print_cell(text, result->values[k], csv);
        for (size_t e = 0; e < result->list->epochs.count; e++)
            print_cell(text, result->epoch_values[e * result->count + k], csv);
    }
}

static int answer_series(const app_call *call, const app_series_list *list, void *context, sf_error *error)
{
    const density_request *request = context;
    density_result result = {
        .list = list, .series = &list->items[0], .h = request->h, .selector = request->selector};
    int status = estimate(call, request, &result, error);
    if (status == SF_OK && list->epochs.items != NULL)
        status = estimate_epochs(call, request, &result, error);
    const char *plot = app_value(call, "plot", NULL);
    if (status == SF_OK && plot != NULL)
        status = write_plot(plot, request, &result, call->arguments[0], error);
    if (status == SF_OK) {
        sf_text text = {0};
        if (call->json)
            print_json(&text, call, &result);
        else
            print_table(&text, &result, app_has(call, "csv"));
        status = app_print(&text, error);
    }
    sf_free(result.axes[0].at);
    sf_free(result.axes[1].at);
    sf_free(result.values);
    sf_free(result.epoch_h);
    sf_free(result.epoch_values);
    return status;
}

static int run(app_call *call, sf_error *error)
{
    density_request request;
    int status = parse_request(call, &request, error);
    return status == SF_OK ? app_samples_run(call, answer_series, &request, error) : status;
}

const app_command app_command_density = {
    .name = "density",
    .group = "timing",
    .summary = "kernel density of samples on a grid",
    .arguments = "SAMPLES|REC",
    .least_arguments = 1,
    .most_arguments = 1,
    .example = "synfire density demo.h5 --quantity isi --units A --log --plot intervals.svg",
    .notes = "SAMPLES is a file of numbers: text or CSV with one row a line, or NumPy .npy, one or two "
             "columns. With "
             "--quantity it is a recording of which --units selects one unit.",
    .options = {options, app_quantity_options, app_selection_options},
    .run = run,
};
