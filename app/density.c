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
     "find one, as bandwidth --method (default isj)"},
    {"grid", "A:B:N", "N points from A to B (default: 512 points, three bandwidths beyond the samples)"},
    {"log", NULL, "samples are above 0: estimates the density of their logarithm and carries it back"},
    {"reflect", NULL, "samples are not under 0: reflects there what the kernels put below"},
    {"plot", "FILE", "draws the density as SVG"},
    {"csv", NULL, "prints x,density lines"},
    {NULL, NULL, NULL},
};

enum { DEFAULT_POINTS = 512, MOST_POINTS = 1000000 };

/* What was asked for. */
typedef struct density_request {
    const sf_selector *selector; /* NULL: h was given */
    double h;
    sf_domain domain;
    bool has_grid;
    double from, to;
    size_t points;
} density_request;

typedef struct density_result {
    const app_series_list *list;
    const app_series *series;
    double h;
    double *x, *values;
    size_t count;
} density_result;

static int parse_grid(const app_call *call, density_request *request, sf_error *error)
{
    const char *text = app_value(call, "grid", NULL);
    request->points = DEFAULT_POINTS;
    if (text == NULL)
        return SF_OK;
    char words[3][64] = {"", "", ""};
    int fields = sscanf(text, "%63[^:]:%63[^:]:%63s", words[0], words[1], words[2]);
    uint64_t points = 0;
    if (fields != 3 || !sf_parse_real(words[0], &request->from) || !sf_parse_real(words[1], &request->to) ||
        !sf_parse_uint(words[2], MOST_POINTS, &points) || points < 2 || request->from >= request->to)
        return sf_fail(error, SF_USAGE, "--grid", "found '%s', expected A:B:N with A < B and N from 2 to %d",
                       text, MOST_POINTS);
    request->has_grid = true;
    request->points = (size_t)points;
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

/* Without --grid: as far as the kernels reach; geometric steps where the density of the logarithm is meant.
 */
static int make_grid(density_result *result, const density_request *request, sf_error *error)
{
    result->count = request->points;
    result->x = sf_resize(NULL, result->count, sizeof *result->x);
    result->values = sf_resize(NULL, result->count, sizeof *result->values);
    if (result->x == NULL || result->values == NULL)
        return sf_fail_memory(error);
    const sf_samples *samples = &result->series->samples;
    double from = samples->values[0], to = samples->values[0];
    for (size_t i = 0; i < samples->n; i++) {
        from = fmin(from, samples->values[i]);
        to = fmax(to, samples->values[i]);
    }
    bool geometric = request->domain == SF_DOMAIN_LOG && !request->has_grid;
    from = geometric ? log(from) : from;
    to = (geometric ? log(to) : to) + 3 * result->h;
    from = request->domain == SF_DOMAIN_REFLECT ? 0 : from - 3 * result->h;
    if (request->has_grid) {
        from = request->from;
        to = request->to;
    }
    for (size_t k = 0; k < result->count; k++) {
        double share = (double)k / (double)(result->count - 1);
        double x = from * (1 - share) + to * share;
        result->x[k] = geometric ? exp(x) : x;
    }
    return SF_OK;
}

static int estimate(const app_call *call, const density_request *request, density_result *result,
                    sf_error *error)
{
    sf_progress progress = app_progress(call);
    const sf_samples *samples = &result->series->samples;
    result->h = request->h;
    int status = samples->d == 1 ? sf_domain_check(request->domain, samples->values, samples->n, error)
                                 : sf_fail(error, SF_DATA, NULL, "found %zu columns, expected 1", samples->d);
    if (status == SF_OK && request->selector != NULL) {
        sf_bandwidth_options how = {
            .domain = request->domain, .threads = sf_thread_cores(), .device = "auto", .progress = &progress};
        sf_bandwidth bandwidth;
        status = sf_bandwidth_select(&bandwidth, request->selector, samples, &how, error);
        result->h = bandwidth.h;
        sf_bandwidth_free(&bandwidth);
    }
    if (status == SF_OK)
        status = make_grid(result, request, error);
    if (status == SF_OK)
        status = sf_density_evaluate(result->values, result->x, result->count, samples->values, samples->n,
                                     result->h, request->domain, sf_thread_cores(), error);
    return status;
}

static int write_plot(const char *path, const density_request *request, const density_result *result,
                      const char *source, sf_error *error)
{
    const app_series_list *list = result->list;
    const char *slash = strrchr(source, '/');
    const char *file = slash != NULL ? slash + 1 : source;
    const char *name = result->series->name[0] != '\0' ? result->series->name : file;
    char title[160], caption[160], x_label[64], y_label[64];
    snprintf(title, sizeof title, "Density of %s: %s", list->quantity, name);
    snprintf(caption, sizeof caption, "%zu samples, bandwidth %.4g%s%s (%s)", result->series->samples.n,
             result->h, request->domain == SF_DOMAIN_LOG || list->measure[0] == '\0' ? "" : " ",
             request->domain == SF_DOMAIN_LOG ? " of the logarithm" : list->measure,
             request->selector != NULL ? sf_selector_name(request->selector) : "given");
    snprintf(x_label, sizeof x_label, "%s%s%s", list->quantity, list->measure[0] != '\0' ? ", " : "",
             list->measure);
    snprintf(y_label, sizeof y_label, "density%s%s", list->measure[0] != '\0' ? ", 1/" : "", list->measure);
    app_plot plot = {.title = title,
                     .caption = caption,
                     .x_label = x_label,
                     .y_label = y_label,
                     .log_x = request->domain == SF_DOMAIN_LOG && result->x[0] > 0,
                     .x = result->x,
                     .y = result->values,
                     .count = result->count,
                     .rug = result->series->samples.values,
                     .rug_count = result->series->samples.n};
    sf_text svg = {0};
    app_plot_print(&svg, &plot);
    int status = sf_file_write(&svg, path, error);
    sf_text_free(&svg);
    return status;
}

static void print_json(sf_text *text, const density_result *result)
{
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    sf_json_real(&json, "h", result->h);
    sf_json_array(&json, "grid");
    for (size_t k = 0; k < result->count; k++)
        sf_json_real(&json, NULL, result->x[k]);
    sf_json_end_array(&json);
    sf_json_array(&json, "density");
    for (size_t k = 0; k < result->count; k++)
        sf_json_real(&json, NULL, result->values[k]);
    sf_json_end_array(&json);
    sf_json_end_object(&json);
}

static void print_table(sf_text *text, const density_result *result, bool csv)
{
    sf_text_printf(text, csv ? "x,density" : "%14s  %14s", "x", "density");
    for (size_t k = 0; k < result->count; k++)
        sf_text_printf(text, csv ? "\n%.17g,%.17g" : "\n%14.7g  %14.7g", result->x[k], result->values[k]);
}

static int run_on(const app_call *call, const density_request *request, const app_series_list *list,
                  sf_error *error)
{
    int status = app_samples_one(call, list, error);
    if (status != SF_OK)
        return status;
    density_result result = {.list = list, .series = &list->items[0]};
    status = estimate(call, request, &result, error);
    if (status != SF_OK && error->place[0] == '\0')
        snprintf(error->place, sizeof error->place, "%s", call->arguments[0]);
    const char *plot = app_value(call, "plot", NULL);
    if (status == SF_OK && plot != NULL)
        status = write_plot(plot, request, &result, call->arguments[0], error);
    if (status == SF_OK) {
        sf_text text = {0};
        if (call->json)
            print_json(&text, &result);
        else
            print_table(&text, &result, app_has(call, "csv"));
        status = app_print(&text, error);
    }
    sf_free(result.x);
    sf_free(result.values);
    return status;
}

static int run(app_call *call, sf_error *error)
{
    density_request request;
    int status = parse_request(call, &request, error);
    if (status != SF_OK)
        return status;
    app_catch_signals();
    app_series_list list;
    status = app_samples_load(call, &list, error);
    if (status == SF_OK)
        status = run_on(call, &request, &list, error);
    app_samples_free(&list);
    return status;
}

const app_command app_command_density = {
    .name = "density",
    .group = "timing",
    .summary = "kernel density of samples on a grid",
    .arguments = "SAMPLES|REC",
    .least_arguments = 1,
    .most_arguments = 1,
    .example = "synfire density demo.h5 --quantity isi --units A --log --plot intervals.svg",
    .notes =
        "SAMPLES is a file of numbers: text or CSV with one row a line, or NumPy .npy. With --quantity it "
        "is a recording of which --units selects one unit.",
    .options = {options, app_quantity_options, app_selection_options},
    .run = run,
};
