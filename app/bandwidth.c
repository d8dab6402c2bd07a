/* SPDX-License-Identifier: Apache-2.0 */
#include "app/csv.h"
#include "app/load.h"
#include "app/mining.h"
#include "app/samples.h"

#include "core/memory.h"

#include <math.h>

#define COLUMNS "unit,name,method,n,h,h_relative,h0,objective,at_edge,error"

static const app_option own_options[] = {
    {"csv", NULL, "print CSV; docs/formats.md has the columns"},
    {.name = "method"},
    {.name = "exact"},
    {.name = "curve"},
    {"device", NULL,
     "where direct sums run: cpu, cuda, cuda:1 (the second GPU) or auto (default: a GPU for large jobs)"},
    {NULL, NULL, NULL},
};

/* In place of the number of a series. */
#define NO_SERIES SIZE_MAX

/* A bandwidth, or why there is none. */
typedef struct series_result {
    sf_density *density;
    sf_density_columns found;
    int status;
    sf_error error;
} series_result;

typedef struct bandwidth_report {
    const app_samples *samples;
    const char *method;
    sf_density_options asked;
    sf_domain domain;
    series_result *results; /* of each series */
    app_stop stop;
} bandwidth_report;

/* Of each epoch alone; too few samples, or none that have one, leave it NaN. */
static int select_epochs(app_samples *samples, const sf_density_options *options, sf_error *error)
{
    app_epochs *epochs = &samples->epochs;
    size_t count = samples->all.count;
    for (size_t place = 0; place < epochs->count * count; place++) {
        sf_density *density = NULL;
        sf_density_columns found = {.size = sizeof found};
        sf_error reason = {0};
        size_t k = place / count, s = place % count;
        int status = app_samples_epoch_n(samples, k, s) > 0
                         ? sf_density_find(&density, samples->of_epochs[k], s, options, &reason)
                         : SF_DATA;
        if (status == SF_OK) {
            sf_density_get_columns(density, &found);
            epochs->values[place] = found.h;
        }
        sf_density_free(density);
        if (status != SF_OK && status != SF_DATA)
            return sf_fail(error, reason.code, reason.place, "%s", reason.text);
    }
    return SF_OK;
}

/* Of several series one may have no bandwidth. */
static int select_series(const app_call *call, const bandwidth_report *report, size_t s,
                         const sf_density_options *options, sf_error *error)
{
    series_result *result = &report->results[s];
    const char *name = report->samples->all.names[s];
    result->found.size = sizeof result->found;
    result->status = sf_density_find(&result->density, report->samples->series, s, options, &result->error);
    if (result->status == SF_OK) {
        sf_density_get_columns(result->density, &result->found);
        app_device_warn(call, "done", result->found.ran.device, result->found.ran.note);
        if (result->found.note != NULL)
            app_warn(call, "%s%s%s", name, name[0] != '\0' ? ": " : "", result->found.note);
        return SF_OK;
    }
    if (result->status == SF_DATA && report->samples->all.count > 1)
        return SF_OK;
    const char *place = result->error.place[0] != '\0' ? result->error.place : call->arguments[0];
    return sf_fail(error, result->status, place, "%s", result->error.text);
}

/* Those that are done are told. */
static int stop_after(bandwidth_report *report, size_t done, int status, sf_error *error)
{
    size_t count = report->samples->all.count;
    if (status == SF_CANCELLED)
        sf_fail(error, status, NULL, "stopped: %zu of %zu bandwidths are here", done, count);
    for (size_t s = done; status == SF_CANCELLED && s < count; s++)
        report->results[s] = (series_result){.status = status, .error = {.text = "stopped before"}};
    return app_stop_take(&report->stop, status, "searching", error);
}

static int select_all(const app_call *call, app_samples *samples, bandwidth_report *report, sf_error *error)
{
    sf_density_options options = report->asked;
    int status = app_device(&options.device, call, error);
    if (status == SF_OK)
        status = app_domain(call, SF_DOMAIN_LINE, &report->domain, error);
    if (status != SF_OK)
        return status;
    sf_progress progress = app_progress(call);
    options.domain = report->domain;
    options.progress = &progress;
    size_t done = 0;
    while (status == SF_OK && done < samples->all.count) {
        status = app_stop_requested() ? sf_fail(error, SF_CANCELLED, NULL, "stopped before the first")
                                      : select_series(call, report, done, &options, error);
        done += status == SF_OK;
    }
    options.curve = false;
    if (status == SF_OK)
        return app_stop_take(&report->stop, select_epochs(samples, &options, error), "telling", error);
    if (done > 0)
        status = stop_after(report, done, status, error);
    return status;
}

static void print_points(sf_json *json, const char *key, const double *h, const double *scores, size_t count)
{
    sf_json_array(json, key);
    for (size_t m = 0; m < count; m++) {
        sf_json_object(json, NULL);
        sf_json_real(json, "h", h[m]);
        sf_json_real(json, "objective", scores[m]);
        sf_json_end_object(json);
    }
    sf_json_end_array(json);
}

static void print_curve(sf_text *text, const sf_density_columns *found)
{
    app_csv csv = app_csv_start(text, "h,score");
    for (size_t i = 0; i < found->curve_count; i++) {
        app_csv_row(&csv);
        app_csv_real(&csv, found->curve_h[i]);
        app_csv_real(&csv, found->curve_score[i]);
    }
}

static void print_csv(sf_text *text, const bandwidth_report *report)
{
    const app_samples *samples = report->samples;
    app_stop_print(text, &report->stop, "# ");
    app_csv csv = app_csv_start(text, COLUMNS);
    for (size_t s = 0; s < samples->all.count; s++) {
        const series_result *result = &report->results[s];
        const sf_density_columns *found = &result->found;
        bool good = result->status == SF_OK;
        int64_t unit = samples->all.units[s];
        app_csv_row(&csv);
        app_csv_real(&csv, unit >= 0 ? (double)unit : NAN);
        app_csv_string(&csv, samples->all.names[s]);
        app_csv_string(&csv, report->method);
        app_csv_uint(&csv, app_samples_n(samples, s));
        app_csv_real(&csv, good ? found->h : NAN);
        app_csv_real(&csv, good ? found->h_relative : NAN);
        app_csv_real(&csv, good ? found->h0 : NAN);
        app_csv_real(&csv, good ? found->objective : NAN);
        app_csv_string(&csv, good ? found->at_edge ? "1" : "0" : NULL);
        app_csv_string(&csv, good ? NULL : result->error.text);
    }
}

static void print_epochs(sf_json *json, const app_samples *samples, size_t s)
{
    if (s == NO_SERIES) {
        sf_json_null(json, "epoch_n");
        sf_json_null(json, "epoch_h");
        return;
    }
    app_samples_epoch_n_json(json, samples, s);
    app_epochs_values_json(json, "epoch_h", &samples->epochs, s);
}

static void print_fields(sf_json *json, const bandwidth_report *report, size_t s)
{
    static const series_result none = {.status = SF_DATA};
    const series_result *result = s != NO_SERIES ? &report->results[s] : &none;
    const sf_density_columns *found = &result->found;
    bool good = result->status == SF_OK;
    app_samples_name_json(json, report->samples, s);
    sf_json_string(json, "method", report->method);
    if (s != NO_SERIES)
        sf_json_uint(json, "n", app_samples_n(report->samples, s));
    else
        sf_json_null(json, "n");
    sf_json_uint(json, "d", report->samples->all.d);
    sf_json_real(json, "h", good ? found->h : NAN);
    sf_json_real(json, "h_relative", good ? found->h_relative : NAN);
    sf_json_real(json, "h0", good ? found->h0 : NAN);
    sf_json_real(json, "objective", good ? found->objective : NAN);
    if (good)
        sf_json_bool(json, "at_edge", found->at_edge);
    else
        sf_json_null(json, "at_edge");
    print_points(json, "minima", found->minimum_h, found->minimum_score, found->minimum_count);
    if (found->curve_h != NULL)
        print_points(json, "curve", found->curve_h, found->curve_score, found->curve_count);
    else
        sf_json_null(json, "curve");
    sf_json_real(json, "seconds", good ? found->ran.seconds : NAN);
    sf_json_string(json, "device", good ? found->ran.device : NULL);
    sf_json_string(json, "error", result->error.text[0] != '\0' ? result->error.text : NULL);
    print_epochs(json, report->samples, s);
}

/* At the top what there is of the only series; of each of several in `results`. */
static void print_json(sf_text *text, const app_call *call, const bandwidth_report *report)
{
    const app_samples *samples = report->samples;
    size_t count = samples->all.count;
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    print_fields(&json, report, count == 1 ? 0 : NO_SERIES);
    sf_json_string(&json, "quantity", app_value(call, "quantity", NULL));
    sf_json_string(&json, "axis", report->domain == SF_DOMAIN_LOG ? "log" : "linear");
    app_epochs_json(&json, &samples->epochs);
    sf_json_array(&json, "results");
    for (size_t s = 0; s < count; s++) {
        sf_json_object(&json, NULL);
        print_fields(&json, report, s);
        sf_json_end_object(&json);
    }
    sf_json_end_array(&json);
    app_stop_json(&json, &report->stop);
    app_provenance_json(&json, call);
    sf_json_end_object(&json);
}

static void number_cell(app_table *table, bool known, double value)
{
    if (known)
        app_table_cell(table, "%.6g", value);
    else
        app_table_cell(table, "-");
}

static sf_text name_series(const void *context, size_t i)
{
    const app_samples *samples = context;
    sf_text name = {0};
    sf_text_printf(&name, "%s", samples->all.names[i]);
    return name;
}

/* Nothing without --epochs. */
static int print_epoch_table(sf_text *text, const app_samples *samples, sf_error *error)
{
    size_t count = samples->all.count;
    size_t *items = sf_resize(NULL, count, sizeof *items);
    if (items == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        items[i] = i;
    app_epochs_print_values(text, &samples->epochs, "h", name_series, samples, items, count);
    sf_free(items);
    return SF_OK;
}

static int print_table(sf_text *text, const bandwidth_report *report, sf_error *error)
{
    const app_samples *samples = report->samples;
    app_table table = {0};
    app_stop_print(text, &report->stop, "");
    bool named = samples->of[0] != '\0';
    size_t columns = named ? 6 : 5;
    if (named)
        app_table_cell(&table, "%s", samples->of);
    app_table_cell(&table, "method");
    app_table_cell(&table, "samples");
    if (report->domain == SF_DOMAIN_LOG)
        app_table_cell(&table, "h of ln(%s)", samples->quantity);
    else
        app_table_cell(&table, "h%s%s", samples->measure[0] != '\0' ? ", " : "", samples->measure);
    app_table_cell(&table, "h / sigma");
    app_table_cell(&table, "note");
    for (size_t s = 0; s < samples->all.count; s++) {
        const series_result *result = &report->results[s];
        bool good = result->status == SF_OK;
        if (named)
            app_table_cell(&table, "%s", samples->all.names[s]);
        app_table_cell(&table, "%s", report->method);
        app_table_cell(&table, "%zu", app_samples_n(samples, s));
        number_cell(&table, good, result->found.h);
        number_cell(&table, good, result->found.h_relative);
        app_table_cell(&table, "%s", good ? result->found.at_edge ? "at the edge" : "" : result->error.text);
    }
    app_table_print(&table, text, columns);
    int status = print_epoch_table(text, samples, error);
    if (text->length > 0 && !text->failed)
        text->data[--text->length] = '\0'; /* app_print ends the last line */
    return status;
}

static int check_curve(const app_call *call, const bandwidth_report *report, sf_error *error)
{
    const app_samples *samples = report->samples;
    if (!app_has(call, "curve") || call->json)
        return SF_OK;
    if (app_has(call, "csv"))
        return sf_fail(error, SF_USAGE, "--csv", "is of bandwidths, and --curve prints h,score lines");
    if (samples->all.count > 1)
        return sf_fail(error, SF_USAGE, "--curve", "is of one series, found %zu: choose a %s, or --json",
                       samples->all.count, samples->of);
    return report->results[0].found.curve_h != NULL
               ? SF_OK
               : sf_fail(error, SF_USAGE, "--curve", "%s has no curve; lscv and lscv-paper have",
                         report->method);
}

static int print_report(const app_call *call, const bandwidth_report *report, sf_error *error)
{
    sf_text text = {0};
    int status = SF_OK;
    if (call->json)
        print_json(&text, call, report);
    else if (app_has(call, "csv"))
        print_csv(&text, report);
    else if (app_has(call, "curve"))
        print_curve(&text, &report->results[0].found);
    else
        status = print_table(&text, report, error);
    if (status == SF_OK)
        return app_print(&text, error);
    sf_text_free(&text);
    return status;
}

static int answer(const app_call *call, app_samples *samples, const sf_density_options *asked,
                  sf_error *error)
{
    bandwidth_report report = {.samples = samples, .asked = *asked, .method = asked->method};
    report.results = sf_alloc(samples->all.count, sizeof *report.results);
    if (report.results == NULL)
        return sf_fail_memory(error);
    int status = select_all(call, samples, &report, error);
    if (status == SF_OK)
        status = check_curve(call, &report, error);
    if (status == SF_OK)
        status = app_stop_report(&report.stop, print_report(call, &report, error), error);
    for (size_t s = 0; s < samples->all.count; s++)
        sf_density_free(report.results[s].density);
    sf_free(report.results);
    return status;
}

static int run(app_call *call, sf_error *error)
{
    sf_density_options options = sf_density_options_default();
    options.method = "isj";
    int status = app_options_read(call, &sf_density_table, &options, error);
    if (status != SF_OK)
        return status;
    app_catch_signals();
    app_samples samples;
    status = app_samples_load(call, &samples, error);
    if (status == SF_OK)
        status = answer(call, &samples, &options, error);
    app_samples_free(&samples);
    return status;
}

const app_command app_command_bandwidth = {
    .name = "bandwidth",
    .group = "timing",
    .summary = "kernel bandwidth of samples",
    .arguments = "SAMPLES|REC...",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes_several = true,
    .example = "synfire bandwidth demo.h5 --quantity isi --units A",
    .notes =
        "SAMPLES is a file of numbers: text or CSV with one row a line, or NumPy .npy. With --quantity it "
        "is a recording, and every unit in the selection gets its own bandwidth: units are never pooled. For "
        "one column h is in the unit of the samples (with --log: of their natural logarithm), else the "
        "factor "
        "of the covariance root. "
        "With fewer than 50 samples there is no bandwidth.",
    .options = {own_options, app_axis_options, app_quantity_options, app_selection_options},
    .rows = {&sf_density_table},
    .run = run,
};
