/* SPDX-License-Identifier: Apache-2.0 */
#include "app/csv.h"
#include "app/document.h"
#include "app/load.h"
#include "app/mining.h"
#include "app/samples.h"

#include "core/describe/table.h"
#include "core/memory.h"

#include <math.h>

static const app_option own_options[] = {
    {"csv", NULL, "print CSV; docs/formats.md has the columns"},
    {.name = "method"},
    {.name = "exact"},
    {.name = "curve"},
    {"device", NULL,
     "where direct sums run: cpu, cuda, cuda:1 (the second GPU) or auto (default: a GPU for large jobs)"},
    {NULL, NULL, NULL},
};

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

/* Bandwidths for each epoch alone; NaN if it has too few samples, or none that yield a bandwidth. */
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

/* With several series, one of them may have no bandwidth: that is no failure of the command. */
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
    if (result->status == SF_DATA && report->samples->all.count > 1) return SF_OK;
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
    if (status == SF_OK) status = app_domain(call, SF_DOMAIN_LINE, &report->domain, error);
    if (status != SF_OK) return status;
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
    if (done > 0) status = stop_after(report, done, status, error);
    return status;
}

/* ---- columns ---- */

/* What is told of a series. */
typedef struct told {
    uint32_t unit;
    const char *name, *method;
    uint64_t n, d;
    const sf_density_columns *found; /* NULL: no bandwidth */
    const char *device, *error;
    const app_samples *samples;
    size_t series;
} told;

SF_LENGTH(count_points)
{
    const sf_density_columns *found = ((const told *)of + row)->found;
    *length = found == NULL ? 0 : column->item == 0 ? found->minimum_count : found->curve_count;
    return column->item == 0 || (found != NULL && found->curve_h != NULL);
}

SF_GETTER(get_point)
{
    sf_value_set_record(value, ((const told *)of + row)->found, item);
}

SF_LENGTH(count_epochs)
{
    const app_epochs *epochs = &((const told *)of + row)->samples->epochs;
    *length = epochs->count;
    return epochs->items != NULL;
}

SF_GETTER(get_epoch_n)
{
    const told *t = (const told *)of + row;
    sf_value_set_count(value, app_samples_epoch_n(t->samples, item, t->series));
}

SF_GETTER(get_epoch_h)
{
    const told *t = (const told *)of + row;
    sf_value_set_real(value, t->samples->epochs.values[item * t->samples->all.count + t->series]);
}

/* A score that was looked at. */
#define ROW sf_density_columns
static const sf_column_row minimum_rows[] = {SF_ARRAY_IS(REAL, "h", minimum_h, "bandwidth"),
                                             SF_ARRAY_IS(REAL, "objective", minimum_score, "its score")};
static const sf_column_row curve_rows[] = {SF_ARRAY_IS(REAL, "h", curve_h, "bandwidth"),
                                           SF_ARRAY_IS(REAL, "objective", curve_score, "its score")};
#undef ROW

#define POINTS(column, number, phrase, means, rows)                                                          \
    {                                                                                                        \
        .is = SF_IS(column, phrase, NULL, means, SF_COLUMN_RECORD, .list = true), .get = get_point,          \
        .length = count_points, .item = (number), .record = (rows), .record_count = 2                        \
    }
#define ROW told
#define NO_EPOCHS "without --epochs"
#define NONE "there is no bandwidth: `error` says why"
#define FOUND(kind, of, ...) SF_INSIDE_IS(kind, #of, found, sf_density_columns, of, __VA_ARGS__, .null = NONE)
static const sf_column_row rows[] = {
    SF_MEMBER_IS(UNIT, unit, "the unit whose samples they are",
                 .null = "of a link, of positions and of numbers"),
    SF_MEMBER_IS(TEXT, name, "of the unit or link", .null = "of positions and of numbers"),
    SF_MEMBER_IS(TEXT, method, "how: isj, plugin, lscv, lscv-paper, silverman or scott"),
    SF_MEMBER_IS(COUNT, n, "number of samples"),
    FOUND(REAL, h,
          "bandwidth in the unit of the samples, with --log of their natural logarithm; of several columns "
          "the factor of the covariance root"),
    FOUND(REAL, h_relative, "h over the standard deviation"),
    FOUND(REAL, h0, "where the search began, relative"),
    FOUND(REAL, objective, "score at h"),
    FOUND(FLAG, at_edge, "h is at the edge of the range that was searched"),
    SF_MEMBER_IS(TEXT, error, "why there is no bandwidth", .null = "there is one"),
    POINTS("minima", 0, "other minima of the score", NULL, minimum_rows),
    POINTS("curve", 1, "scores that were looked at", "without --curve", curve_rows),
    SF_INSIDE_IS(REAL, "seconds", found, sf_density_columns, ran.seconds, "that the work itself took",
                 .unit = "s", .null = NONE),
    SF_MEMBER_IS(TEXT, device, "where: cpu, or a GPU, as cuda:0", .null = NONE),
    SF_MEMBER_IS(COUNT, d, "number of columns of the samples"),
    SF_LIST_BY(COUNT, "epoch_n", get_epoch_n, count_epochs, "number of samples in each epoch alone",
               .null = NO_EPOCHS),
    SF_LIST_BY(REAL, "epoch_h", get_epoch_h, count_epochs, "bandwidth in each epoch alone", .null = NO_EPOCHS,
               .item_null = "it has too few samples"),
};
#undef ROW

static const sf_table bandwidths = {.name = "bandwidths",
                                    .row = "bandwidth",
                                    .about = "bandwidths of the samples of units, links or numbers",
                                    SF_TABLE_OF(rows)};

static void print_curve(sf_text *text, const sf_density_columns *found)
{
    const sf_table curve = {.of = found, .row_count = found->curve_count, SF_TABLE_OF(curve_rows)};
    app_csv_table(text, &curve);
}

static told tell(const bandwidth_report *report, size_t s)
{
    const series_result *result = &report->results[s];
    bool good = result->status == SF_OK;
    return (told){.unit = app_samples_unit(report->samples, s),
                  .name = app_samples_name(report->samples, s),
                  .method = report->method,
                  .n = app_samples_n(report->samples, s),
                  .d = report->samples->all.d,
                  .found = good ? &result->found : NULL,
                  .device = good ? result->found.ran.device : NULL,
                  .error = result->error.text[0] != '\0' ? result->error.text : NULL,
                  .samples = report->samples,
                  .series = s};
}

static void print_csv(sf_text *text, const bandwidth_report *report)
{
    app_stop_print(text, &report->stop, "# ");
    app_csv csv = app_csv_start_table(text, &bandwidths);
    for (size_t s = 0; s < report->samples->all.count; s++) {
        const told row = tell(report, s);
        app_csv_struct(&csv, &bandwidths, &row);
    }
}

/* With a single series its columns are at the top; several are in `results`. */
typedef struct document_of {
    const bandwidth_report *report;
    const char *quantity, *axis;
    sf_table only; /* its row, or none where there are several */
    app_epochs epochs;
    app_stop stop;
    told *row; /* that is read */
} document_of;

SF_LENGTH(count_results)
{
    *length = ((const document_of *)of)->report->samples->all.count;
    return true;
}

SF_GETTER(get_result)
{
    const document_of *d = of;
    *d->row = tell(d->report, item);
    sf_value_set_record(value, d->row, 0);
}

#define ROW document_of
static const sf_column_row document_rows[] = {
    SF_FIRST_ROW_IS(NULL, only, &bandwidths, "the only one", .null = "there are several"),
    SF_MEMBER_IS(TEXT, quantity, "--quantity", .null = "of numbers", .words = sf_quantity_words),
    SF_MEMBER_IS(TEXT, axis, "what h is of: the samples, or their natural logarithm",
                 .words = app_axis_words),
    APP_ROW_EPOCHS(epochs),
    SF_TABLE_BY("results", get_result, count_results, &bandwidths,
                "one for each unit or link, or of the samples"),
    APP_ROW_STOPPED(stop.where),
};
#undef ROW

static const sf_table document = {
    .name = "found", .about = "bandwidths of samples", SF_TABLE_OF(document_rows)};

static void print_json(sf_text *text, const app_call *call, const bandwidth_report *report)
{
    told first = tell(report, 0);
    document_of of = {.report = report,
                      .quantity = app_value(call, "quantity", NULL),
                      .axis = app_axis_words[report->domain == SF_DOMAIN_LOG],
                      .only = {.row_count = report->samples->all.count == 1, .of = &first},
                      .epochs = report->samples->epochs,
                      .stop = report->stop,
                      .row = &(told){0}};
    app_document_json(text, call, &document, &of);
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
    if (items == NULL) return sf_fail_memory(error);
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
    if (named) app_table_cell(&table, "%s", samples->of);
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
        if (named) app_table_cell(&table, "%s", samples->all.names[s]);
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
    if (!app_has(call, "curve") || call->json) return SF_OK;
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
    if (status == SF_OK) return app_print(&text, error);
    sf_text_free(&text);
    return status;
}

static int answer(const app_call *call, app_samples *samples, const sf_density_options *asked,
                  sf_error *error)
{
    bandwidth_report report = {.samples = samples, .asked = *asked, .method = asked->method};
    report.results = sf_alloc(samples->all.count, sizeof *report.results);
    if (report.results == NULL) return sf_fail_memory(error);
    int status = select_all(call, samples, &report, error);
    if (status == SF_OK) status = check_curve(call, &report, error);
    if (status == SF_OK) status = app_stop_report(&report.stop, print_report(call, &report, error), error);
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
    if (status != SF_OK) return status;
    app_catch_signals();
    app_samples samples;
    status = app_samples_load(call, &samples, error);
    if (status == SF_OK) status = answer(call, &samples, &options, error);
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
    .rows = {&sf_density_table, &app_quantity_table},
    .tables = {&bandwidths},
    .documents = {&document},
    .run = run,
};
