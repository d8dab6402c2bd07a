/* SPDX-License-Identifier: Apache-2.0 */
#include "app/csv.h"
#include "app/load.h"
#include "app/samples.h"

#include <math.h>
#include <string.h>

#define COLUMNS "op,n,h,estimate,exact,relative_error,sampling_error,smoothing_error"

static const app_option options[] = {
    {"csv", NULL, "print CSV; docs/formats.md has the columns"},
    {"range", "A:B",
     "values above A and below B; for several columns a box, A:B,C:D,..., or of two columns the first one's "
     "range"},
    {"op", "count|sum|avg|var", "what to ask for (default count); with several columns of the last one"},
    {"bandwidth", "H|METHOD",
     "a number, or how to find one, as bandwidth --method (default isj; for several columns silverman)"},
    {"exact", NULL, "answers from the samples too, and prints the relative error"},
    {0},
};

static const char *const op_names[] = {
    [SF_AGGREGATE_COUNT] = "count",
    [SF_AGGREGATE_SUM] = "sum",
    [SF_AGGREGATE_AVERAGE] = "avg",
    [SF_AGGREGATE_VARIANCE] = "var",
};

enum { OPS = sizeof op_names / sizeof op_names[0], MOST_COLUMNS = 16 };

typedef struct aggregate_request {
    sf_aggregate_kind op;
    double from[MOST_COLUMNS], to[MOST_COLUMNS];
    size_t ranges;
    sf_density_options options;
} aggregate_request;

static int parse_range(const app_call *call, aggregate_request *request, sf_error *error)
{
    const char *text = app_value(call, "range", NULL);
    if (text == NULL)
        return sf_fail(error, SF_USAGE, "--range", "is needed: expected A:B");
    for (const char *at = text; *at != '\0' && request->ranges < MOST_COLUMNS;) {
        char from[64] = "", to[64] = "";
        int length = 0;
        size_t c = request->ranges++;
        if (sscanf(at, "%63[^:,]:%63[^:,]%n", from, to, &length) != 2 ||
            !sf_parse_real(from, &request->from[c]) || !sf_parse_real(to, &request->to[c]) ||
            request->from[c] >= request->to[c])
            break;
        at += length;
        if (*at == '\0')
            return SF_OK;
        if (*at++ != ',')
            break;
    }
    return sf_fail(error, SF_USAGE, "--range",
                   "found '%s', expected A:B with A < B, up to %d of them with commas", text, MOST_COLUMNS);
}

static int parse_request(const app_call *call, aggregate_request *request, sf_error *error)
{
    *request = (aggregate_request){.options = sf_density_options_default()};
    const char *op = app_value(call, "op", "count");
    size_t found = 0;
    while (found < OPS && strcmp(op_names[found], op) != 0)
        found++;
    if (found == OPS)
        return sf_fail(error, SF_USAGE, "--op", "found '%s', expected count, sum, avg or var", op);
    request->op = (sf_aggregate_kind)found;
    int status = parse_range(call, request, error);
    if (status == SF_OK)
        status = app_domain(call, SF_DOMAIN_LINE, &request->options.domain, error);
    return status == SF_OK ? app_bandwidth(call, &request->options, error) : status;
}

static int check_columns(const aggregate_request *request, const sf_series_columns *samples, sf_error *error)
{
    if (samples->d > 1 && request->options.domain != SF_DOMAIN_LINE)
        return sf_fail(error, SF_USAGE, "--range", "several columns go without --log and --reflect");
    if (samples->d == request->ranges || (samples->d == 2 && request->ranges == 1))
        return SF_OK;
    return sf_fail(error, SF_USAGE, "--range", "found %zu range%s for %zu column%s", request->ranges,
                   request->ranges == 1 ? "" : "s", samples->d, samples->d == 1 ? "" : "s");
}

static int print_answer(const app_call *call, const app_samples *samples, const aggregate_request *request,
                        const sf_density_columns *density, const sf_aggregate *answer, sf_error *error)
{
    bool asked = app_has(call, "exact");
    double exact = asked ? answer->exact : NAN;
    double relative = fabs(answer->estimate - exact) / fabs(exact);
    sf_text text = {0};
    if (call->json) {
        sf_json json = sf_json_start(&text);
        sf_json_object(&json, NULL);
        sf_json_string(&json, "op", op_names[request->op]);
        sf_json_uint(&json, "n", density->n);
        sf_json_real(&json, "h", density->h);
        sf_json_real(&json, "estimate", answer->estimate);
        sf_json_real(&json, "exact", exact);
        sf_json_real(&json, "relative_error", relative);
        sf_json_real(&json, "sampling_error", answer->sampling_error);
        sf_json_real(&json, "smoothing_error", answer->smoothing_error);
        sf_json_string(&json, "quantity", app_value(call, "quantity", NULL));
        app_samples_name_json(&json, samples, 0);
        app_provenance_json(&json, call);
        sf_json_end_object(&json);
    } else if (app_has(call, "csv")) {
        const double reals[] = {density->h, answer->estimate,       exact,
                                relative,   answer->sampling_error, answer->smoothing_error};
        app_csv csv = app_csv_start(&text, COLUMNS);
        app_csv_row(&csv);
        app_csv_string(&csv, op_names[request->op]);
        app_csv_uint(&csv, density->n);
        for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
            app_csv_real(&csv, reals[i]);
    } else {
        sf_text_printf(&text,
                       "%s  %.8g  (error bar: %.3g by sampling, %.3g by smoothing; h %.5g, %zu samples)",
                       op_names[request->op], answer->estimate, answer->sampling_error,
                       answer->smoothing_error, density->h, density->n);
        if (asked)
            sf_text_printf(&text, "\nexact  %.8g  (relative error %.3g)", exact, relative);
    }
    return app_print(&text, error);
}

static int answer_series(const app_call *call, const app_samples *samples, void *context, sf_error *error)
{
    aggregate_request *request = context;
    sf_progress progress = app_progress(call);
    sf_density *density = NULL;
    sf_density_columns columns = {.size = sizeof columns};
    sf_aggregate answer = {.size = sizeof answer};
    request->options.progress = &progress;
    int status = check_columns(request, &samples->all, error);
    if (status == SF_OK)
        status = app_density_find(call, &density, samples->series, &request->options, error);
    if (status == SF_OK)
        status = sf_density_aggregate(density, request->op, request->from, request->to, request->ranges,
                                      &answer, &progress, error);
    if (status == SF_OK) {
        sf_density_get_columns(density, &columns);
        status = print_answer(call, samples, request, &columns, &answer, error);
    }
    sf_density_free(density);
    return status;
}

static int run(app_call *call, sf_error *error)
{
    aggregate_request request;
    int status = parse_request(call, &request, error);
    return status == SF_OK ? app_samples_run(call, answer_series, &request, error) : status;
}

const app_command app_command_aggregate = {
    .name = "aggregate",
    .group = "timing",
    .summary = "approximate COUNT, SUM, AVG and VAR over a range, from the density",
    .arguments = "SAMPLES|REC...",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes_several = true,
    .example = "synfire aggregate demo.h5 --quantity isi --units A --range 0.002:0.01 --op avg --exact",
    .notes =
        "SAMPLES is a file of numbers: text or CSV with one row a line, or NumPy .npy. With --quantity it "
        "is a recording of which --units selects one unit. The error bar has two parts: what the number of "
        "samples leaves open, and how much the answer changes with a bandwidth smaller by sqrt 2.",
    .options = {options, app_axis_options, app_quantity_options, app_selection_options},
    .run = run,
};
