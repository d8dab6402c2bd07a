/* SPDX-License-Identifier: Apache-2.0 */
#include "app/load.h"
#include "app/mining.h"
#include "app/samples.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/thread.h"

#include <math.h>

static const app_option options[] = {
    {"method", "NAME",
     "isj: improved Sheather-Jones (default); plugin: two-stage plug-in; lscv: least-squares "
     "cross-validation "
     "over a wide range; lscv-paper: from h0/4 to 4 h0 only; silverman, scott: rules for a normal density"},
    {"exact", NULL,
     "direct sums over all pairs instead of the characteristic function: plugin, lscv, lscv-paper"},
    {"curve", NULL, "prints the scores that lscv and lscv-paper looked at, as h,score lines"},
    {"device", "NAME",
     "where direct sums run: cpu, cuda, cuda:1 (the second GPU) or auto (default: a GPU for large jobs)"},
    {NULL, NULL, NULL},
};

/* A bandwidth, or why there is none. */
typedef struct series_result {
    const app_series *series;
    sf_bandwidth bandwidth;
    double seconds;
    int status;
    sf_error error;
} series_result;

/* Of each epoch alone; too few samples, or none that have one, leave it NaN. */
static int select_epochs(app_series_list *list, const sf_selector *selector, const sf_bandwidth_options *how,
                         sf_error *error)
{
    app_epochs *epochs = &list->epochs;
    for (size_t place = 0; place < epochs->count * list->count; place++) {
        const sf_samples *samples = &list->items[place % list->count].epochs[place / list->count];
        sf_bandwidth found = {0};
        sf_error reason = {0};
        int status = samples->n > 0 ? sf_bandwidth_select(&found, selector, samples, how, &reason) : SF_DATA;
        if (status == SF_OK)
            epochs->values[place] = found.h;
        sf_bandwidth_free(&found);
        if (status != SF_OK && status != SF_DATA)
            return sf_fail(error, reason.code, reason.place, "%s", reason.text);
    }
    return SF_OK;
}

static int select_all(const app_call *call, app_series_list *list, const sf_selector *selector,
                      series_result *results, sf_error *error)
{
    const char *device;
    sf_domain domain = SF_DOMAIN_LINE;
    int status = app_device(&device, call, error);
    if (status == SF_OK)
        status = app_domain(call, SF_DOMAIN_LINE, &domain, error);
    if (status != SF_OK)
        return status;
    list->domain = domain;
    sf_progress progress = app_progress(call);
    sf_bandwidth_options how = {.domain = domain,
                                .threads = sf_thread_cores(),
                                .progress = &progress,
                                .device = device,
                                .exact = app_has(call, "exact"),
                                .curve = app_has(call, "curve")};
    for (size_t i = 0; i < list->count; i++) {
        series_result *result = &results[i];
        result->series = &list->items[i];
        double start = sf_clock_seconds();
        result->status =
            sf_bandwidth_select(&result->bandwidth, selector, &result->series->samples, &how, &result->error);
        result->seconds = sf_clock_seconds() - start;
        if (result->status == SF_OK)
            app_device_warn(call, "done", result->bandwidth.ran.device, result->bandwidth.ran.note);
        if (result->status == SF_OK && result->bandwidth.note != NULL)
            app_warn(call, "%s%s%s", result->series->name, result->series->name[0] != '\0' ? ": " : "",
                     result->bandwidth.note);
        if (result->status != SF_OK && (result->status != SF_DATA || list->count == 1)) {
            if (result->error.place[0] == '\0')
                return sf_fail(error, result->status, call->arguments[0], "%s", result->error.text);
            *error = result->error;
            return result->status;
        }
    }
    how.curve = false;
    return select_epochs(list, selector, &how, error);
}

/* Points have a relative h; users see h as in the field of that name. */
static double unit_of(const sf_bandwidth *found)
{
    return found->h / found->h_relative;
}

static void print_points(sf_json *json, const char *key, const sf_score_point *points, size_t count,
                         double unit)
{
    sf_json_array(json, key);
    for (size_t m = 0; m < count; m++) {
        sf_json_object(json, NULL);
        sf_json_real(json, "h", points[m].h * unit);
        sf_json_real(json, "objective", points[m].score);
        sf_json_end_object(json);
    }
    sf_json_end_array(json);
}

static void print_curve(sf_text *text, const sf_bandwidth *found)
{
    sf_text_printf(text, "h,score");
    for (size_t i = 0; i < found->curve_count; i++)
        sf_text_printf(text, "\n%.17g,%.17g", found->curve[i].h * unit_of(found), found->curve[i].score);
}

static void print_epochs(sf_json *json, const app_series_list *list, size_t i)
{
    if (list->epochs.items == NULL)
        return;
    sf_json_array(json, "epoch_n");
    for (size_t k = 0; k < list->epochs.count; k++)
        sf_json_uint(json, NULL, list->items[i].epochs[k].n);
    sf_json_end_array(json);
    app_epochs_values_json(json, "epoch_h", &list->epochs, i);
}

static void print_fields(sf_json *json, const series_result *result)
{
    const sf_bandwidth *found = &result->bandwidth;
    bool good = result->status == SF_OK;
    sf_json_string(json, "method", found->method);
    sf_json_uint(json, "n", result->series->samples.n);
    sf_json_uint(json, "d", result->series->samples.d);
    sf_json_real(json, "h", good ? found->h : NAN);
    sf_json_real(json, "h_relative", good ? found->h_relative : NAN);
    sf_json_real(json, "h0", good ? found->h0 : NAN);
    sf_json_real(json, "objective", found->objective);
    sf_json_bool(json, "at_edge", found->at_edge);
    print_points(json, "minima", found->minima, found->minimum_count, unit_of(found));
    if (found->curve != NULL)
        print_points(json, "curve", found->curve, found->curve_count, unit_of(found));
    sf_json_real(json, "seconds", result->seconds);
    sf_json_string(json, "device", good ? found->ran.device : "cpu");
    if (!good)
        sf_json_string(json, "error", result->error.text);
}

/* One series is one object; several are `results`, each with the same fields and the unit it belongs to. */
static void print_json(sf_text *text, const app_call *call, const app_series_list *list,
                       const series_result *results)
{
    size_t count = list->count;
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    app_epochs_json(&json, &list->epochs);
    if (count == 1) {
        print_fields(&json, &results[0]);
        print_epochs(&json, list, 0);
    } else {
        sf_json_array(&json, "results");
    }
    for (size_t i = 0; count > 1 && i < count; i++) {
        sf_json_object(&json, NULL);
        if (results[i].series->unit >= 0)
            sf_json_int(&json, "unit", results[i].series->unit);
        sf_json_string(&json, "name", results[i].series->name);
        print_fields(&json, &results[i]);
        print_epochs(&json, list, i);
        sf_json_end_object(&json);
    }
    if (count > 1)
        sf_json_end_array(&json);
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
    const app_series_list *list = context;
    sf_text name = {0};
    sf_text_printf(&name, "%s", list->items[i].name);
    return name;
}

/* Nothing without --epochs. */
static int print_epoch_table(sf_text *text, const app_series_list *list, sf_error *error)
{
    size_t *items = sf_resize(NULL, list->count, sizeof *items);
    if (items == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < list->count; i++)
        items[i] = i;
    app_epochs_print_values(text, &list->epochs, "h", name_series, list, items, list->count);
    sf_free(items);
    return SF_OK;
}

static int print_table(sf_text *text, const app_series_list *list, const series_result *results,
                       sf_error *error)
{
    app_table table = {0};
    bool named = list->of[0] != '\0';
    size_t columns = named ? 6 : 5;
    if (named)
        app_table_cell(&table, "%s", list->of);
    app_table_cell(&table, "method");
    app_table_cell(&table, "samples");
    if (list->domain == SF_DOMAIN_LOG)
        app_table_cell(&table, "h of ln(%s)", list->quantity);
    else
        app_table_cell(&table, "h%s%s", list->measure[0] != '\0' ? ", " : "", list->measure);
    app_table_cell(&table, "h / sigma");
    app_table_cell(&table, "note");
    for (size_t i = 0; i < list->count; i++) {
        const series_result *result = &results[i];
        bool good = result->status == SF_OK;
        if (named)
            app_table_cell(&table, "%s", result->series->name);
        app_table_cell(&table, "%s", result->bandwidth.method);
        app_table_cell(&table, "%zu", result->series->samples.n);
        number_cell(&table, good, result->bandwidth.h);
        number_cell(&table, good, result->bandwidth.h_relative);
        app_table_cell(&table, "%s",
                       good ? result->bandwidth.at_edge ? "at the edge" : "" : result->error.text);
    }
    app_table_print(&table, text, columns);
    int status = print_epoch_table(text, list, error);
    if (text->length > 0 && !text->failed)
        text->data[--text->length] = '\0'; /* app_print ends the last line */
    return status;
}

static int check_curve(const app_call *call, const app_series_list *list, const series_result *results,
                       sf_error *error)
{
    if (!app_has(call, "curve") || call->json)
        return SF_OK;
    if (list->count > 1)
        return sf_fail(error, SF_USAGE, "--curve", "is of one series, found %zu: choose a %s, or --json",
                       list->count, list->of);
    return results[0].bandwidth.curve != NULL
               ? SF_OK
               : sf_fail(error, SF_USAGE, "--curve", "%s has no curve; lscv and lscv-paper have",
                         results[0].bandwidth.method);
}

static int report(const app_call *call, app_series_list *list, const sf_selector *selector, sf_error *error)
{
    series_result *results = sf_alloc(list->count, sizeof *results);
    if (results == NULL)
        return sf_fail_memory(error);
    int status = select_all(call, list, selector, results, error);
    if (status == SF_OK)
        status = check_curve(call, list, results, error);
    if (status == SF_OK) {
        sf_text text = {0};
        if (call->json)
            print_json(&text, call, list, results);
        else if (app_has(call, "curve"))
            print_curve(&text, &results[0].bandwidth);
        else
            status = print_table(&text, list, results, error);
        if (status == SF_OK)
            status = app_print(&text, error);
        else
            sf_text_free(&text);
    }
    for (size_t i = 0; i < list->count; i++)
        sf_bandwidth_free(&results[i].bandwidth);
    sf_free(results);
    return status;
}

static int run(app_call *call, sf_error *error)
{
    const sf_selector *selector;
    int status = app_selector(app_value(call, "method", NULL), "--method", &selector, error);
    if (status != SF_OK)
        return status;
    app_catch_signals();
    app_series_list list;
    status = app_samples_load(call, &list, error);
    if (status == SF_OK)
        status = report(call, &list, selector, error);
    app_samples_free(&list);
    return status;
}

const app_command app_command_bandwidth = {
    .name = "bandwidth",
    .group = "timing",
    .summary = "kernel bandwidth of samples",
    .arguments = "SAMPLES|REC",
    .least_arguments = 1,
    .most_arguments = 1,
    .example = "synfire bandwidth demo.h5 --quantity isi --units A",
    .notes =
        "SAMPLES is a file of numbers: text or CSV with one row a line, or NumPy .npy. With --quantity it "
        "is a recording, and every unit in the selection gets its own bandwidth: units are never pooled. For "
        "one column h is in the unit of the samples (with --log: of their natural logarithm), else the "
        "factor "
        "of the covariance root. "
        "With fewer than 50 samples there is no bandwidth.",
    .options = {options, app_axis_options, app_quantity_options, app_selection_options},
    .run = run,
};
