/* SPDX-License-Identifier: Apache-2.0 */
#include "app/samples.h"

#include "app/load.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/row_macros.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const app_option app_quantity_options[] = {
    {"quantity", NULL,
     "what to take from a recording: isi (intervals between spikes, s) or rate (spikes per window, Hz) of "
     "each "
     "unit, delay (s) of each link of --episode, or position of all spikes on the array (x and y, um)"},
    {"episode", "E", "delay: the episode, as 'A -(0,5]-> B -(5,10]-> C', bounds in ms"},
    {.name = "window"},
    {0},
};

/* ---- a recording ---- */

typedef struct quantity_words {
    const char *title, *label, *measure, *of; /* as in app_samples */
} quantity_words;

const char *const app_axis_words[] = {"linear", "log", NULL};
static const quantity_words quantities[] = {
    {"Intervals", "interval", "s", "unit"},
    {"Delays", "delay", "s", "link"},
    {"Rates", "rate", "Hz", "unit"},
    {"Positions", "position", "um", ""},
};

/* What is asked of a recording. */
typedef struct quantity_request {
    sf_quantity quantity;
    sf_episode episode;
    int64_t window_ns;
} quantity_request;

static const quantity_request usual = {.window_ns = SF_SECOND};

#define ROW quantity_request
static const sf_key rows[] = {
    CHOICE("quantity", quantity, sf_quantity_words),
    TIME("window_ns", window_ns, 1, INFINITY, .unit = "s", .argument = "S", .what = "rate: the window"),
    {0},
};
#undef ROW

const sf_key_table app_quantity_table = SF_KEY_TABLE(rows, usual);

static int parse_quantity(const app_call *call, quantity_request *request, app_samples *samples,
                          sf_error *error)
{
    *request = usual;
    int status = app_options_read(call, &app_quantity_table, request, error);
    const quantity_words *words = &quantities[request->quantity];
    samples->title = words->title;
    samples->quantity = words->label;
    samples->measure = words->measure;
    samples->of = words->of;
    return status;
}

static int parse_episode(const app_call *call, const sf_recording *recording, quantity_request *request,
                         sf_error *error)
{
    const char *text = app_value(call, "episode", NULL);
    if (request->quantity != SF_QUANTITY_DELAY) return SF_OK;
    if (text == NULL) return sf_fail(error, SF_USAGE, "--quantity", "delay needs --episode");
    int status = sf_recording_parse_episode(recording, text, &request->episode, error);
    if (status == SF_OK && request->episode.size < 2)
        status = sf_fail(error, SF_USAGE, "--episode", "found one unit, expected a link 'A -(0,5]-> B'");
    return status;
}

static int gather(const sf_recording *recording, const quantity_request *request, const sf_span *within,
                  sf_series **series, sf_error *error)
{
    return sf_series_of_recording(series, recording, request->quantity, &request->episode, request->window_ns,
                                  within, error);
}

/* Each epoch as if it were all there is; one without samples stays NULL. */
static int gather_epochs(const app_call *call, const sf_recording *recording, const quantity_request *request,
                         app_samples *samples, sf_error *error)
{
    app_epochs *epochs = &samples->epochs;
    int status = app_epochs_open(epochs, call, recording, samples->all.count, error);
    samples->of_epochs = sf_alloc(epochs->count, sizeof(sf_series *));
    if (status == SF_OK && samples->of_epochs == NULL) status = sf_fail_memory(error);
    for (size_t k = 0; status == SF_OK && k < epochs->count; k++) {
        status = gather(recording, request, &epochs->items[k].epoch.span, &samples->of_epochs[k], error);
        status = status == SF_DATA ? SF_OK : status;
    }
    return status;
}

static int load_recording(const app_call *call, app_samples *samples, sf_error *error)
{
    quantity_request request;
    sf_recording *recording = NULL;
    int status = parse_quantity(call, &request, samples, error);
    if (status == SF_OK) status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK) return status;
    samples->recording = recording;
    status = parse_episode(call, recording, &request, error);
    if (status == SF_OK) status = gather(recording, &request, NULL, &samples->series, error);
    if (status == SF_OK) sf_series_get_columns(samples->series, &samples->all);
    if (status == SF_OK && samples->all.coincident > 0)
        app_warn(call, "%s: left out %" PRIu64 " intervals of length 0: a unit has two spikes at one time",
                 call->arguments[0], samples->all.coincident);
    if (status == SF_OK) status = gather_epochs(call, recording, &request, samples, error);
    return status;
}

/* ---- numbers ---- */

/* Selections mean something for a recording only: they are not silently passed over. */
static int load_numbers(const app_call *call, app_samples *samples, sf_error *error)
{
    const app_option *const lists[] = {app_selection_options, app_quantity_options};
    for (size_t i = 0; i < 2; i++)
        for (const app_option *option = lists[i]; option->name != NULL; option++)
            if (app_has(call, option->name)) {
                char place[64];
                snprintf(place, sizeof place, "--%s", option->name);
                return sf_fail(error, SF_USAGE, place, "is for recordings: give --quantity too");
            }
    int status = sf_series_open(&samples->series, call->arguments[0], error);
    if (status == SF_OK) sf_series_get_columns(samples->series, &samples->all);
    return status;
}

/* ---- the call ---- */

int app_samples_load(const app_call *call, app_samples *samples, sf_error *error)
{
    *samples = (app_samples){.title = "Samples",
                             .quantity = "samples",
                             .measure = "",
                             .of = "",
                             .all = {.size = sizeof samples->all}};
    const char *name = app_value(call, "quantity", NULL);
    return name != NULL ? load_recording(call, samples, error) : load_numbers(call, samples, error);
}

void app_samples_free(app_samples *samples)
{
    for (size_t k = 0; samples->of_epochs != NULL && k < samples->epochs.count; k++)
        sf_series_free(samples->of_epochs[k]);
    sf_free(samples->of_epochs);
    sf_series_free(samples->series);
    sf_recording_free(samples->recording);
    app_epochs_free(&samples->epochs);
    *samples = (app_samples){0};
}

size_t app_samples_n(const app_samples *samples, size_t s)
{
    return samples->all.first[s + 1] - samples->all.first[s];
}

size_t app_samples_epoch_n(const app_samples *samples, size_t k, size_t s)
{
    if (samples->of_epochs[k] == NULL) return 0;
    sf_series_columns columns = {.size = sizeof columns};
    sf_series_get_columns(samples->of_epochs[k], &columns);
    return columns.first[s + 1] - columns.first[s];
}

uint32_t app_samples_unit(const app_samples *samples, size_t s)
{
    return samples->all.units[s] >= 0 ? (uint32_t)samples->all.units[s] : UINT32_MAX;
}

const char *app_samples_name(const app_samples *samples, size_t s)
{
    return samples->all.names[s][0] != '\0' ? samples->all.names[s] : NULL;
}

static int refuse_several(const app_call *call, const app_samples *samples, const char *several,
                          sf_error *error)
{
    return sf_fail(error, SF_USAGE, call->arguments[0], "holds %zu %ss: choose one%s%s", samples->all.count,
                   samples->of, strcmp(samples->of, "unit") == 0 ? " with --units" : " as an episode of two",
                   several);
}

int app_samples_run(const app_call *call, bool takes_several, const char *several,
                    int (*work)(const app_call *call, const app_samples *samples, void *context,
                                sf_error *error),
                    void *context, sf_error *error)
{
    app_samples samples;
    app_catch_signals();
    int status = app_samples_load(call, &samples, error);
    if (status == SF_OK && samples.all.count > 1 && !takes_several)
        status = refuse_several(call, &samples, several, error);
    if (status == SF_OK) status = work(call, &samples, context, error);
    if (status != SF_OK && error->place[0] == '\0')
        snprintf(error->place, sizeof error->place, "%s", call->arguments[0]);
    app_samples_free(&samples);
    return status;
}

/* ---- bandwidths ---- */

int app_density_check(const sf_density_options *options, const char *option, sf_error *error)
{
    sf_density *none;
    int status = sf_density_find(&none, NULL, 0, options, error);
    if (status != SF_OK) snprintf(error->place, sizeof error->place, "%s", option);
    return status;
}

int app_bandwidth(const app_call *call, sf_density_options *options, sf_error *error)
{
    const char *text = app_value(call, "bandwidth", NULL);
    options->method = NULL;
    if (text == NULL) return SF_OK;
    if (!sf_parse_real(text, &options->h)) {
        options->method = text;
        return app_density_check(options, "--bandwidth", error);
    }
    return options->h > 0 ? SF_OK
                          : sf_fail(error, SF_USAGE, "--bandwidth",
                                    "found '%s', expected a number above 0 or a method", text);
}

int app_density_find(const app_call *call, sf_density **density, const sf_series *series, size_t s,
                     const sf_density_options *options, sf_error *error)
{
    sf_density_columns found = {.size = sizeof found};
    int status = sf_density_find(density, series, s, options, error);
    if (status != SF_OK) return status;
    sf_density_get_columns(*density, &found);
    if (found.note != NULL) app_warn(call, "%s", found.note);
    return SF_OK;
}

const app_option app_axis_options[] = {
    {"log", NULL, "samples are above 0: the density of their natural logarithm, per unit of it"},
    {"linear", NULL, "the axis of the samples themselves"},
    {"reflect", NULL, "samples are not under 0: reflects there what the kernels put below"},
    {NULL, NULL, NULL},
};

int app_domain(const app_call *call, sf_domain otherwise, sf_domain *domain, sf_error *error)
{
    static const sf_domain domains[] = {SF_DOMAIN_LOG, SF_DOMAIN_LINE, SF_DOMAIN_REFLECT};
    const char *given = NULL;
    *domain = otherwise;
    for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++) {
        const char *name = app_axis_options[i].name;
        if (!app_has(call, name)) continue;
        if (given != NULL) return sf_fail(error, SF_USAGE, given, "does not go with --%s: choose one", name);
        given = i == 0 ? "--log" : "--linear";
        *domain = domains[i];
    }
    return SF_OK;
}

int app_digits(double value, double step, int least)
{
    double digits = step > 0 && isfinite(value) ? ceil(log10(fabs(value) / step)) + 3 : least;
    return (int)fmin(fmax(digits, least), 17);
}
