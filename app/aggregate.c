/* SPDX-License-Identifier: Apache-2.0 */
#include "app/load.h"
#include "app/samples.h"

#include "density/aggregate.h"
#include "density/pairs.h"

#include <math.h>
#include <string.h>

static const app_option options[] = {
    {"range", "A:B",
     "values above A and below B; for several columns a box, A:B,C:D,..., or of two columns the first one's "
     "range"},
    {"op", "NAME", "count (default), sum, avg or var; with several columns of the last one"},
    {"bandwidth", "H|METHOD",
     "a number, or how to find one, as bandwidth --method (default isj; for several columns silverman)"},
    {"exact", NULL, "answers from the samples too, and prints the relative error"},
    {0},
};

typedef enum aggregate_op { OP_COUNT, OP_SUM, OP_AVG, OP_VAR } aggregate_op;
static const char *const op_names[] = {"count", "sum", "avg", "var"};

typedef struct aggregate_request {
    aggregate_op op;
    double from[SF_PAIRS_MOST_COLUMNS], to[SF_PAIRS_MOST_COLUMNS];
    size_t ranges;
    const sf_selector *selector; /* NULL: h was given */
    double h;
    sf_domain domain;
    bool exact;
} aggregate_request;

/* NaN: not computed. */
typedef struct aggregate_answer {
    size_t n;
    double h, estimate, exact;
    double sampling, smoothing; /* error bars: of n samples, and of the choice of h */
} aggregate_answer;

static int parse_range(const app_call *call, aggregate_request *request, sf_error *error)
{
    const char *text = app_value(call, "range", NULL);
    if (text == NULL)
        return sf_fail(error, SF_USAGE, "--range", "is needed: expected A:B");
    for (const char *at = text; *at != '\0' && request->ranges < SF_PAIRS_MOST_COLUMNS;) {
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
                   "found '%s', expected A:B with A < B, up to %d of them with commas", text,
                   SF_PAIRS_MOST_COLUMNS);
}

static int parse_request(const app_call *call, aggregate_request *request, sf_error *error)
{
    *request = (aggregate_request){.exact = app_has(call, "exact")};
    const char *op = app_value(call, "op", "count");
    while (request->op <= OP_VAR && strcmp(op_names[request->op], op) != 0)
        request->op++;
    if (request->op > OP_VAR)
        return sf_fail(error, SF_USAGE, "--op", "found '%s', expected count, sum, avg or var", op);
    int status = parse_range(call, request, error);
    if (status == SF_OK)
        status = app_domain(call, SF_DOMAIN_LINE, &request->domain, error);
    if (status == SF_OK)
        status = app_bandwidth(app_value(call, "bandwidth", NULL), &request->h, &request->selector, error);
    return status;
}

static double answer_of(aggregate_op op, const sf_range_moments *moments, size_t n)
{
    switch (op) {
    case OP_COUNT:
        return moments->share * (double)n;
    case OP_SUM:
        return sf_range_total(moments) * (double)n;
    case OP_AVG:
        return sf_range_average(moments);
    default:
        return sf_range_variance(moments);
    }
}

/* The standard error that n independent samples leave; that of the variance is right for normal values. */
static double sampling_error(aggregate_op op, const sf_range_moments *moments, size_t samples)
{
    double n = (double)samples, p = fmin(moments->share, 1), inside = n * p;
    double variance = sf_range_variance(moments), average = sf_range_average(moments);
    switch (op) {
    case OP_COUNT:
        return sqrt(n * p * (1 - p));
    case OP_SUM:
        return sqrt(n * p * (variance + (1 - p) * average * average));
    case OP_AVG:
        return sqrt(variance / inside);
    default:
        return variance * sqrt(2 / inside);
    }
}

static int find_moments(sf_range_moments *moments, const aggregate_request *request,
                        const sf_samples *samples, double h, sf_error *error)
{
    if (samples->d == 1)
        return sf_range_moments_direct(moments, samples, h, request->domain, request->from[0], request->to[0],
                                       error);
    if (request->ranges == 1)
        return sf_linked_moments(moments, samples->values, samples->n, h, request->from[0], request->to[0],
                                 error);
    return sf_box_moments(moments, samples->values, samples->n, samples->d, h, request->from, request->to,
                          error);
}

static int answer_request(const aggregate_request *request, const sf_samples *samples,
                          aggregate_answer *answer, sf_error *error)
{
    sf_range_moments moments, sharper, exact;
    int status = find_moments(&moments, request, samples, answer->h, error);
    if (status == SF_OK)
        status = find_moments(&sharper, request, samples, answer->h * M_SQRT1_2, error);
    if (status != SF_OK)
        return status;
    answer->estimate = answer_of(request->op, &moments, samples->n);
    answer->sampling = sampling_error(request->op, &moments, samples->n);
    answer->smoothing = fabs(answer->estimate - answer_of(request->op, &sharper, samples->n));
    if (request->exact) {
        sf_box_moments_exact(&exact, samples->values, samples->n, samples->d, request->from, request->to,
                             request->ranges);
        answer->exact = answer_of(request->op, &exact, samples->n);
    }
    return SF_OK;
}

static int check_columns(const aggregate_request *request, const sf_samples *samples, sf_error *error)
{
    if (samples->d > 1 && request->domain != SF_DOMAIN_LINE)
        return sf_fail(error, SF_USAGE, "--range", "several columns go without --log and --reflect");
    if (samples->d == request->ranges || (samples->d == 2 && request->ranges == 1))
        return SF_OK;
    return sf_fail(error, SF_USAGE, "--range", "found %zu range%s for %zu column%s", request->ranges,
                   request->ranges == 1 ? "" : "s", samples->d, samples->d == 1 ? "" : "s");
}

static int print_answer(const app_call *call, const aggregate_request *request,
                        const aggregate_answer *answer, sf_error *error)
{
    double relative = fabs(answer->estimate - answer->exact) / fabs(answer->exact);
    sf_text text = {0};
    if (call->json) {
        sf_json json = sf_json_start(&text);
        sf_json_object(&json, NULL);
        sf_json_string(&json, "op", op_names[request->op]);
        sf_json_uint(&json, "n", answer->n);
        sf_json_real(&json, "h", answer->h);
        sf_json_real(&json, "estimate", answer->estimate);
        sf_json_real(&json, "exact", answer->exact);
        sf_json_real(&json, "relative_error", relative);
        sf_json_real(&json, "sampling_error", answer->sampling);
        sf_json_real(&json, "smoothing_error", answer->smoothing);
        app_provenance_json(&json, call);
        sf_json_end_object(&json);
    } else {
        sf_text_printf(&text,
                       "%s  %.8g  (error bar: %.3g by sampling, %.3g by smoothing; h %.5g, %zu samples)",
                       op_names[request->op], answer->estimate, answer->sampling, answer->smoothing,
                       answer->h, answer->n);
        if (request->exact)
            sf_text_printf(&text, "\nexact  %.8g  (relative error %.3g)", answer->exact, relative);
    }
    return app_print(&text, error);
}

static int answer_series(const app_call *call, const app_series_list *list, void *context, sf_error *error)
{
    const aggregate_request *request = context;
    const sf_samples *samples = &list->items[0].samples;
    const sf_selector *selector = request->selector;
    aggregate_answer answer = {.n = samples->n, .h = request->h, .exact = NAN};
    int status = check_columns(request, samples, error);
    if (status == SF_OK)
        status = app_bandwidth_find(call, samples, request->domain, &answer.h, &selector, error);
    if (status == SF_OK)
        status = answer_request(request, samples, &answer, error);
    return status == SF_OK ? print_answer(call, request, &answer, error) : status;
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
    .arguments = "SAMPLES|REC",
    .least_arguments = 1,
    .most_arguments = 1,
    .example = "synfire aggregate demo.h5 --quantity isi --units A --range 0.002:0.01 --op avg --exact",
    .notes =
        "SAMPLES is a file of numbers: text or CSV with one row a line, or NumPy .npy. With --quantity it "
        "is a recording of which --units selects one unit. The error bar has two parts: what the number of "
        "samples leaves open, and how much the answer changes with a bandwidth smaller by sqrt 2.",
    .options = {options, app_axis_options, app_quantity_options, app_selection_options},
    .run = run,
};
