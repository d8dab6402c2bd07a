/* SPDX-License-Identifier: Apache-2.0 */
#include "app/load.h"
#include "app/plot.h"
#include "app/samples.h"

#include "core/file.h"
#include "core/memory.h"
#include "core/thread.h"
#include "density/aggregate.h"
#include "density/kernels.h"

#include <math.h>
#include <string.h>

static const app_option options[] = {
    {"bandwidth", "H|METHOD",
     "a number in the unit of the samples (with --log: of their natural logarithm), or how to "
     "find one, as bandwidth --method (default isj); of two columns the factor of the covariance root "
     "(default "
     "silverman)"},
    {"grid", "N|A:B:N",
     "at most N points (default 200000), wherever there are samples; or N from A to B; of two columns "
     "A:B:N,C:D:M. Refused where so many are too few for the bandwidth"},
    {"plot", "FILE", "draws the density as SVG: a curve, or of two columns a map"},
    {"csv", NULL, "prints x,density lines, or x,y,density"},
    {NULL, NULL, NULL},
};

enum { DEFAULT_POINTS = 200000, LEAST_PLANE_POINTS = 128, MOST_POINTS = 1000000 };

/* A share outside the picture that its caption tells. */
#define OUTSIDE_WORTH_TELLING 1e-3

/* In a map the range reaches so many kernels beyond the samples. */
#define PLANE_MARGIN 4.0

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
    size_t most; /* points; 0: not asked for */
    density_axis axes[2];
    size_t axis_count; /* given */
} density_request;

typedef struct density_result {
    const app_series_list *list;
    const app_series *series;
    const sf_selector *selector; /* NULL: h was given */
    sf_domain domain;
    double h;
    double narrowest, widest; /* bandwidths of all curves */
    double *places;           /* of one column: the points on the domain's axis */
    density_axis axes[2];
    double *values; /* row after row of the second axis; per unit of the domain's axis */
    size_t count;
    double outside;        /* the share of the density that lies outside the points */
    double *epoch_h;       /* of each epoch of --epochs alone; NaN where it has too few samples */
    double *epoch_outside; /* of each */
    double *epoch_values;  /* count of each, at the same points */
} density_result;

/* ---- what was asked for ---- */

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
    uint64_t most = 0;
    if (text != NULL && sf_parse_uint(text, MOST_POINTS, &most) && most >= 2) {
        request->most = (size_t)most;
        return SF_OK;
    }
    while (at != NULL) {
        size_t length = 0;
        if (request->axis_count == 2 ||
            parse_axis(&request->axes[request->axis_count], at, &length) != SF_OK ||
            (at[length] != '\0' && at[length] != ','))
            return sf_fail(error, SF_USAGE, "--grid",
                           "found '%s', expected N, or A:B:N with A < B, or two of them with a comma; N from "
                           "2 to %d",
                           text, MOST_POINTS);
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
    int status = app_bandwidth(app_value(call, "bandwidth", NULL), &request->h, &request->selector, error);
    return status == SF_OK ? parse_grid(call, request, error) : status;
}

static int check_request(const density_request *request, const density_result *result, sf_error *error)
{
    size_t columns = result->series->samples.d;
    if (columns > 2)
        return sf_fail(error, SF_DATA, NULL, "found %zu columns, expected 1 or 2", columns);
    if (columns == 2 && result->domain != SF_DOMAIN_LINE)
        return sf_fail(error, SF_USAGE, result->domain == SF_DOMAIN_LOG ? "--log" : "--reflect",
                       "goes with one column");
    if (request->axis_count > 0 && request->axis_count != columns)
        return sf_fail(error, SF_USAGE, "--grid", "found %zu ax%ss for %zu column%s", request->axis_count,
                       request->axis_count == 1 ? "i" : "e", columns, columns == 1 ? "" : "s");
    if (request->axis_count > 0 && result->domain == SF_DOMAIN_LOG && request->axes[0].from <= 0)
        return sf_fail(error, SF_USAGE, "--grid",
                       "begins at %g: a logarithmic axis begins above 0 (--linear?)", request->axes[0].from);
    return SF_OK;
}

/* ---- bandwidths ---- */

/* Found or given, and no narrower than a tick where that is the same everywhere. */
static int find_bandwidth(const app_call *call, const density_result *result, const sf_samples *samples,
                          double *h, const sf_selector **selector, sf_error *error)
{
    int status = app_bandwidth_find(call, samples, result->domain, h, selector, error);
    if (status != SF_OK || result->domain == SF_DOMAIN_LOG || *h >= samples->tick)
        return status;
    app_warn(call, "the bandwidth %.4g is narrower than the clock's step: it is held at the step, %.4g", *h,
             samples->tick);
    *h = samples->tick;
    return SF_OK;
}

/* Each epoch as if it were all there is, with a bandwidth of its own unless one was given. */
static int find_epoch_bandwidths(const app_call *call, const density_request *request, density_result *result,
                                 sf_error *error)
{
    size_t epochs = result->list->epochs.items != NULL ? result->list->epochs.count : 0;
    if (epochs == 0)
        return SF_OK;
    result->epoch_h = sf_resize(NULL, epochs, 2 * sizeof *result->epoch_h);
    if (result->epoch_h == NULL)
        return sf_fail_memory(error);
    result->epoch_outside = result->epoch_h + epochs;
    for (size_t k = 0; k < epochs; k++) {
        const sf_samples *samples = &result->series->epochs[k];
        const sf_selector *selector = request->selector;
        double h = request->h;
        int status = samples->n > 0 ? find_bandwidth(call, result, samples, &h, &selector, error) : SF_DATA;
        result->epoch_h[k] = status == SF_OK ? h : NAN;
        result->epoch_outside[k] = NAN;
        if (status == SF_OK) {
            result->narrowest = fmin(result->narrowest, h);
            result->widest = fmax(result->widest, h);
        } else if (status != SF_DATA) {
            return status;
        }
    }
    return SF_OK;
}

/* ---- points ---- */

/* `count` of them, evenly apart on the domain's axis. */
static int fill_axis(double **places, const density_axis *axis, sf_domain domain, sf_error *error)
{
    double from = sf_axis_of(domain, axis->from), to = sf_axis_of(domain, axis->to);
    *places = sf_resize(NULL, axis->count, sizeof **places);
    if (*places == NULL)
        return sf_fail_memory(error);
    for (size_t k = 0; k < axis->count; k++) {
        double share = (double)k / (double)(axis->count - 1);
        (*places)[k] = from * (1 - share) + to * share;
    }
    return SF_OK;
}

static int check_step(const density_axis *axis, const density_result *result, sf_error *error)
{
    double length = sf_axis_of(result->domain, axis->to) - sf_axis_of(result->domain, axis->from);
    double needed = ceil(length / sf_kernels_step(result->narrowest)) + 1;
    if ((double)axis->count >= needed)
        return SF_OK;
    return sf_fail(error, SF_USAGE, "--grid",
                   "%zu points from %g to %g are too few for the bandwidth %.4g%s: %.0f are needed, or a "
                   "smaller range, or no --grid",
                   axis->count, axis->from, axis->to, result->narrowest,
                   result->domain == SF_DOMAIN_LOG ? " of the logarithm" : "", needed);
}

/* Without --grid: wherever there are kernels. */
static int make_line(density_result *result, const density_request *request, const sf_kernels *kernels,
                     sf_error *error)
{
    density_axis *axis = &result->axes[0];
    int status = SF_OK;
    if (request->axis_count > 0) {
        *axis = request->axes[0];
        status = check_step(axis, result, error);
        if (status == SF_OK)
            status = fill_axis(&result->places, axis, result->domain, error);
    } else {
        sf_error reason = {0};
        size_t most = request->most > 0 ? request->most : DEFAULT_POINTS;
        status = sf_kernels_points(kernels, result->narrowest, result->widest, most, &result->places,
                                   &axis->count, &reason);
        if (status == SF_USAGE)
            sf_fail(error, SF_USAGE, "--grid", "%s%s", reason.text,
                    result->domain == SF_DOMAIN_LOG ? "" : ": allow more, choose a range, or take --log");
        else if (status != SF_OK)
            *error = reason;
    }
    if (status != SF_OK)
        return status;
    axis->at = sf_resize(NULL, axis->count, sizeof *axis->at);
    if (axis->at == NULL)
        return sf_fail_memory(error);
    for (size_t k = 0; k < axis->count; k++)
        axis->at[k] = sf_axis_value(result->domain, result->places[k]);
    return SF_OK;
}

/* From the least to the most value of column c, and as far as kernels reach. */
static void find_range(density_axis *axis, const sf_samples *samples, size_t c, double margin)
{
    axis->from = INFINITY;
    axis->to = -INFINITY;
    for (size_t i = 0; i < samples->n; i++) {
        axis->from = fmin(axis->from, samples->values[i * samples->d + c] - margin);
        axis->to = fmax(axis->to, samples->values[i * samples->d + c] + margin);
    }
}

/* The points of each column, given or as many as they take. */
static int make_plane(density_result *result, const density_request *request, sf_error *error)
{
    const sf_samples *samples = &result->series->samples;
    size_t most = request->most > 0 ? request->most : DEFAULT_POINTS, needed[2];
    bool given = request->axis_count > 0;
    sf_covariance covariance;
    int status = sf_covariance_find(&covariance, samples->values, NULL, samples->n, error);
    if (status != SF_OK)
        return status;
    for (size_t c = 0; c < 2; c++) {
        density_axis *axis = &result->axes[c];
        *axis = request->axes[c];
        if (!given)
            find_range(axis, samples, c,
                       PLANE_MARGIN * result->widest * sqrt(c == 0 ? covariance.xx : covariance.yy));
        needed[c] = (size_t)fmin(
            ceil((axis->to - axis->from) / sf_plane_step(&covariance, result->narrowest, c)) + 1, 1e9);
        if (!given)
            axis->count = needed[c] > LEAST_PLANE_POINTS ? needed[c] : LEAST_PLANE_POINTS;
    }
    if (given ? result->axes[0].count < needed[0] || result->axes[1].count < needed[1]
              : result->axes[0].count > most / result->axes[1].count)
        return sf_fail(error, SF_USAGE, "--grid", "the bandwidth %.4g needs %zu times %zu points%s",
                       result->narrowest, given ? needed[0] : result->axes[0].count,
                       given ? needed[1] : result->axes[1].count,
                       given ? ", or a smaller range" : ": allow more, or choose a range");
    for (size_t c = 0; status == SF_OK && c < 2; c++)
        status = fill_axis(&result->axes[c].at, &result->axes[c], SF_DOMAIN_LINE, error);
    return status;
}

/* ---- densities ---- */

/* The density of samples at the result's points, and what share of it lies outside them. */
static int evaluate_line(const density_result *result, const sf_kernels *kernels, double *values,
                         double *outside)
{
    const double *places = result->places;
    sf_kernels_density(kernels, values, places, result->count, sf_thread_cores());
    *outside = fmax(1 - sf_kernels_share(kernels, places[0], places[result->count - 1]), 0);
    return SF_OK;
}

static int evaluate_plane(const density_result *result, const sf_samples *samples, double h, double *values,
                          double *outside, sf_error *error)
{
    const density_axis *x = &result->axes[0], *y = &result->axes[1];
    double from[2] = {x->from, y->from}, to[2] = {x->to, y->to};
    sf_range_moments inside;
    int status = sf_box_moments(&inside, samples->values, samples->n, 2, h, from, to, error);
    *outside = status == SF_OK ? fmax(1 - inside.share, 0) : NAN;
    return status == SF_OK
               ? sf_density_evaluate_plane(values, x->at, x->count, y->at, y->count, samples->values, NULL,
                                           samples->n, h, sf_thread_cores(), error)
               : status;
}

static int evaluate_epoch(density_result *result, size_t k, sf_error *error)
{
    const sf_samples *samples = &result->series->epochs[k];
    double *values = result->epoch_values + k * result->count, h = result->epoch_h[k];
    for (size_t i = 0; isnan(h) && i < result->count; i++)
        values[i] = NAN;
    if (isnan(h))
        return SF_OK;
    if (samples->d == 2)
        return evaluate_plane(result, samples, h, values, &result->epoch_outside[k], error);
    sf_kernels kernels;
    int status = sf_kernels_open(&kernels, samples, h, result->domain, error);
    if (status == SF_OK)
        status = evaluate_line(result, &kernels, values, &result->epoch_outside[k]);
    sf_kernels_close(&kernels);
    return status;
}

static int evaluate_epochs(density_result *result, sf_error *error)
{
    if (result->epoch_h == NULL)
        return SF_OK;
    size_t epochs = result->list->epochs.count;
    result->epoch_values = sf_resize(NULL, epochs, result->count * sizeof *result->epoch_values);
    int status = result->epoch_values != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t k = 0; k < epochs && status == SF_OK; k++)
        status = evaluate_epoch(result, k, error);
    return status;
}

static int make_room(density_result *result, sf_error *error)
{
    result->count = result->axes[0].count * (result->series->samples.d == 2 ? result->axes[1].count : 1);
    result->values = sf_resize(NULL, result->count, sizeof *result->values);
    return result->values != NULL ? SF_OK : sf_fail_memory(error);
}

static int estimate_line(density_result *result, const density_request *request, sf_error *error)
{
    sf_kernels kernels;
    int status = sf_kernels_open(&kernels, &result->series->samples, result->h, result->domain, error);
    if (status == SF_OK)
        status = make_line(result, request, &kernels, error);
    if (status == SF_OK)
        status = make_room(result, error);
    if (status == SF_OK)
        status = evaluate_line(result, &kernels, result->values, &result->outside);
    sf_kernels_close(&kernels);
    return status;
}

static int estimate_plane(density_result *result, const density_request *request, sf_error *error)
{
    int status = make_plane(result, request, error);
    if (status == SF_OK)
        status = make_room(result, error);
    return status == SF_OK ? evaluate_plane(result, &result->series->samples, result->h, result->values,
                                            &result->outside, error)
                           : status;
}

static int estimate(const app_call *call, const density_request *request, density_result *result,
                    sf_error *error)
{
    const sf_samples *samples = &result->series->samples;
    int status = app_domain(call, result->list->domain, &result->domain, error);
    if (status == SF_OK)
        status = check_request(request, result, error);
    if (status == SF_OK)
        status = find_bandwidth(call, result, samples, &result->h, &result->selector, error);
    result->narrowest = result->widest = result->h;
    if (status == SF_OK)
        status = find_epoch_bandwidths(call, request, result, error);
    if (status == SF_OK)
        status =
            samples->d == 2 ? estimate_plane(result, request, error) : estimate_line(result, request, error);
    return status == SF_OK ? evaluate_epochs(result, error) : status;
}

/* ---- pictures ---- */

/* Beyond both ends of a picture lies so much of the density, so that no single sample squeezes it. */
#define BEYOND 5e-4

/* The points first .. last that hold the rest, by straight lines between them. */
static void find_middle(const density_result *result, size_t *first, size_t *last)
{
    const double *x = result->places, *y = result->values;
    double mass = result->outside / 2;
    *first = 0;
    *last = result->count - 1;
    for (size_t k = 0; k + 2 < result->count; k++) {
        mass += (y[k] + y[k + 1]) / 2 * (x[k + 1] - x[k]);
        *first = mass < BEYOND ? k + 1 : *first;
        if (mass > 1 - BEYOND) {
            *last = k + 1;
            return;
        }
    }
}

static void print_curve(sf_text *svg, const app_plot_words *words, const density_result *result, size_t first,
                        size_t last)
{
    app_plot plot = {.words = *words,
                     .log_x = result->domain == SF_DOMAIN_LOG,
                     .x = result->axes[0].at + first,
                     .y = result->values + first,
                     .count = last - first + 1,
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

/* What a density is divided by: "ln(interval)", "s", or "" where that has no unit. */
static void name_unit(char *name, size_t size, const density_result *result)
{
    const app_series_list *list = result->list;
    if (result->domain == SF_DOMAIN_LOG)
        snprintf(name, size, "ln(%s)", list->quantity);
    else
        snprintf(name, size, "%s", list->measure);
}

static void describe(sf_text *text, const density_result *result)
{
    bool plane = result->series->samples.d == 2;
    char unit[64];
    name_unit(unit, sizeof unit, result);
    sf_text_printf(text, "%zu samples, bandwidth %.4g%s%s (%s)", result->series->samples.n, result->h,
                   plane                             ? " of the covariance root"
                   : result->domain == SF_DOMAIN_LOG ? " of "
                   : unit[0] != '\0'                 ? " "
                                                     : "",
                   plane ? "" : unit,
                   result->selector != NULL ? sf_selector_name(result->selector) : "given");
}

static int find_outside(double *outside, const density_result *result, size_t first, size_t last,
                        sf_error *error)
{
    sf_kernels kernels;
    int status = sf_kernels_open(&kernels, &result->series->samples, result->h, result->domain, error);
    if (status == SF_OK)
        *outside = fmax(1 - sf_kernels_share(&kernels, result->places[first], result->places[last]), 0);
    sf_kernels_close(&kernels);
    return status;
}

static int write_plot(const char *path, const density_result *result, const char *source, sf_error *error)
{
    const app_series_list *list = result->list;
    bool plane = result->series->samples.d == 2;
    const char *slash = strrchr(source, '/');
    const char *file = slash != NULL ? slash + 1 : source;
    const char *comma = list->measure[0] != '\0' ? ", " : "";
    char x_label[96], y_label[96], unit[64];
    sf_text title = {0}, caption = {0}, svg = {0};
    int status = SF_OK;
    name_unit(unit, sizeof unit, result);
    if (result->series->name[0] != '\0')
        sf_text_printf(&title, "%s of %s, %s", list->title, result->series->name, file);
    else
        sf_text_printf(&title, "%s of %s", list->title, file);
    describe(&caption, result);
    size_t first = 0, last = 0;
    double outside = result->outside;
    if (!plane) {
        find_middle(result, &first, &last);
        status = find_outside(&outside, result, first, last, error);
    }
    if (outside >= OUTSIDE_WORTH_TELLING)
        sf_text_printf(&caption, ", %.2g %% outside the picture", 100 * outside);
    snprintf(x_label, sizeof x_label, "%s%s%s%s", plane ? "x of " : "", list->quantity, comma, list->measure);
    if (plane)
        snprintf(y_label, sizeof y_label, "y of %s%s%s", list->quantity, comma, list->measure);
    else
        snprintf(y_label, sizeof y_label, "density%s%s", unit[0] != '\0' ? " per " : "", unit);
    if (plane) {
        double most = 0;
        for (size_t k = 0; k < result->count; k++)
            most = fmax(most, result->values[k]);
        sf_text_printf(&caption, ", darkest %.3g", most);
    }
    if (title.failed || caption.failed)
        status = sf_fail_memory(error);
    if (status == SF_OK) {
        app_plot_words words = {
            .title = title.data, .caption = caption.data, .x_label = x_label, .y_label = y_label};
        if (plane)
            print_map(&svg, &words, result);
        else
            print_curve(&svg, &words, result, first, last);
        status = sf_file_write(&svg, path, error);
    }
    sf_text_free(&title);
    sf_text_free(&caption);
    sf_text_free(&svg);
    return status;
}

/* ---- text ---- */

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
    print_reals(json, "epoch_outside", result->epoch_outside, epochs->count);
    sf_json_array(json, "epoch_density");
    for (size_t k = 0; k < epochs->count; k++)
        print_values(json, NULL, result, result->epoch_values + k * result->count);
    sf_json_end_array(json);
}

/* Of two columns `grid` is the points of each. `density` is per unit of `axis`: of the natural logarithm. */
static void print_json(sf_text *text, const app_call *call, const density_result *result)
{
    sf_json json = sf_json_start(text);
    const density_axis *x = &result->axes[0], *y = &result->axes[1];
    sf_json_object(&json, NULL);
    sf_json_uint(&json, "n", result->series->samples.n);
    sf_json_real(&json, "h", result->h);
    sf_json_string(&json, "method", result->selector != NULL ? sf_selector_name(result->selector) : "given");
    sf_json_string(&json, "axis", result->domain == SF_DOMAIN_LOG ? "log" : "linear");
    sf_json_bool(&json, "reflected", result->domain == SF_DOMAIN_REFLECT);
    sf_json_real(&json, "tick", result->series->samples.tick > 0 ? result->series->samples.tick : NAN);
    sf_json_real(&json, "outside", result->outside);
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
    if (csv)
        return;
    char unit[64];
    name_unit(unit, sizeof unit, result);
    sf_text_printf(text, "\n");
    describe(text, result);
    if (unit[0] != '\0')
        sf_text_printf(text, "; per %s%s", unit, plane ? "^2" : "");
    sf_text_printf(text, "; %.2f %% of the density lies outside the points", 100 * result->outside);
}

static int answer_series(const app_call *call, const app_series_list *list, void *context, sf_error *error)
{
    const density_request *request = context;
    density_result result = {
        .list = list, .series = &list->items[0], .h = request->h, .selector = request->selector};
    int status = estimate(call, request, &result, error);
    const char *plot = app_value(call, "plot", NULL);
    if (status == SF_OK && plot != NULL)
        status = write_plot(plot, &result, call->arguments[0], error);
    if (status == SF_OK) {
        sf_text text = {0};
        if (call->json)
            print_json(&text, call, &result);
        else
            print_table(&text, &result, app_has(call, "csv"));
        status = app_print(&text, error);
    }
    sf_free(result.places);
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
    .example = "synfire density demo.h5 --quantity isi --units A --plot intervals.svg",
    .notes =
        "SAMPLES is a file of numbers: text or CSV with one row a line, or NumPy .npy, one or two "
        "columns. With "
        "--quantity it is a recording of which --units selects one unit. Intervals are drawn by their "
        "logarithm, delays and rates reflected at 0, unless --log, --linear or --reflect says otherwise.",
    .options = {options, app_axis_options, app_quantity_options, app_selection_options},
    .run = run,
};
