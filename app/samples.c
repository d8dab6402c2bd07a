/* SPDX-License-Identifier: Apache-2.0 */
#include "app/samples.h"

#include "app/load.h"
#include "core/clock.h"
#include "core/episode.h"
#include "core/memory.h"
#include "core/recording.h"
#include "core/thread.h"
#include "density/evaluate.h"
#include "io/samples_file.h"
#include "mine/mine.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const app_option app_quantity_options[] = {
    {"quantity", "NAME",
     "what to take from a recording: isi (intervals between spikes, s) or rate (spikes per window, Hz) of "
     "each "
     "unit, delay (s) of each link of --episode, or position of all spikes on the array (x and y, um)"},
    {"episode", "E", "delay: the episode, as 'A -(0,5]-> B -(5,10]-> C', bounds in ms"},
    {"window", "S", "rate: the window (default 1)"},
    {NULL, NULL, NULL},
};

/* A growing column. */
typedef struct column {
    double *values;
    size_t count, capacity;
} column;

static int append(column *to, double value)
{
    void *values = to->values;
    if (sf_reserve(&values, &to->capacity, to->count + 1, sizeof value) != 0)
        return SF_NO_MEMORY;
    to->values = values;
    to->values[to->count++] = value;
    return SF_OK;
}

/* The list takes over the column's values. */
static int add_series(app_series_list *list, column *values, const char *name, int64_t unit, sf_error *error)
{
    char *copy = sf_copy_string(name);
    void *items = list->items;
    if (copy == NULL || sf_reserve(&items, &list->capacity, list->count + 1, sizeof *list->items) != 0) {
        sf_free(copy);
        return sf_fail_memory(error);
    }
    list->items = items;
    list->items[list->count++] =
        (app_series){.name = copy,
                     .unit = unit,
                     .samples = {.values = values->values, .n = values->count, .d = 1, .tick = list->tick}};
    *values = (column){0};
    return SF_OK;
}

/* What is gathered per unit while walking over the spikes in time order. */
typedef struct unit_columns {
    column *columns;
    int64_t *last_ns;  /* the unit's last spike, while `seen` */
    size_t *last_span; /* observation interval it fell into */
    uint64_t *spikes;  /* so far (isi), or in the window at hand (rate) */
    size_t units;
    uint64_t coincident; /* intervals of length 0, left out */
} unit_columns;

static void free_columns(unit_columns *all)
{
    for (size_t u = 0; all->columns != NULL && u < all->units; u++)
        sf_free(all->columns[u].values);
    sf_free(all->columns);
    sf_free(all->last_ns);
    sf_free(all->last_span);
    sf_free(all->spikes);
}

static int open_columns(unit_columns *all, size_t units)
{
    *all = (unit_columns){.units = units};
    all->columns = sf_alloc(units, sizeof *all->columns);
    all->last_ns = sf_alloc(units, sizeof *all->last_ns);
    all->last_span = sf_alloc(units, sizeof *all->last_span);
    all->spikes = sf_alloc(units, sizeof *all->spikes);
    return all->columns != NULL && all->last_ns != NULL && all->last_span != NULL && all->spikes != NULL
               ? SF_OK
               : SF_NO_MEMORY;
}

/* Intervals between successive spikes of a unit within one stretch of observation. */
static int gather_intervals(unit_columns *all, const sf_recording *recording)
{
    size_t span = 0;
    for (size_t i = 0; i < recording->spike_count; i++) {
        const sf_spike *spike = &recording->spikes[i];
        while (span < recording->observed_count && recording->observed[span].stop_ns <= spike->time_ns)
            span++;
        uint32_t u = spike->unit;
        int64_t interval = spike->time_ns - all->last_ns[u];
        bool follows = all->spikes[u] > 0 && all->last_span[u] == span;
        if (follows && interval == 0)
            all->coincident++;
        else if (follows && append(&all->columns[u], (double)interval / (double)SF_SECOND) != SF_OK)
            return SF_NO_MEMORY;
        all->last_ns[u] = spike->time_ns;
        all->last_span[u] = span;
        all->spikes[u]++;
    }
    return SF_OK;
}

/* Spikes per second in each whole window of one stretch of observation. */
static int gather_rates_of_span(unit_columns *all, const sf_recording *recording, sf_span span,
                                int64_t window)
{
    size_t i = sf_spikes_lower_bound(recording->spikes, recording->spike_count, span.start_ns);
    for (int64_t from = span.start_ns; span.stop_ns - from >= window; from += window) {
        memset(all->spikes, 0, all->units * sizeof *all->spikes);
        for (; i < recording->spike_count && recording->spikes[i].time_ns - from < window; i++)
            all->spikes[recording->spikes[i].unit]++;
        for (size_t u = 0; u < all->units; u++)
            if (append(&all->columns[u], (double)all->spikes[u] * (double)SF_SECOND / (double)window) !=
                SF_OK)
                return SF_NO_MEMORY;
    }
    return SF_OK;
}

static int gather_rates(unit_columns *all, const sf_recording *recording, int64_t window)
{
    if (recording->observed_count == 0)
        return gather_rates_of_span(all, recording, recording->recorded, window);
    int status = SF_OK;
    for (size_t s = 0; status == SF_OK && s < recording->observed_count; s++)
        status = gather_rates_of_span(all, recording, recording->observed[s], window);
    return status;
}

/* One series for every unit that has spikes in the selection. */
static int add_units(app_series_list *list, unit_columns *all, const sf_recording *recording, sf_error *error)
{
    memset(all->spikes, 0, all->units * sizeof *all->spikes);
    for (size_t i = 0; i < recording->spike_count; i++)
        all->spikes[recording->spikes[i].unit]++;
    int status = SF_OK;
    for (size_t u = 0; status == SF_OK && u < all->units; u++)
        if (all->spikes[u] > 0)
            status = add_series(list, &all->columns[u], recording->units.items[u].name, (int64_t)u, error);
    if (status == SF_OK && list->count == 0)
        status = sf_fail(error, SF_DATA, recording->path, "no spikes in the selection");
    return status;
}

static int gather_units(const app_call *call, const sf_recording *recording, bool rates, int64_t window,
                        bool again, app_series_list *list, sf_error *error)
{
    unit_columns all;
    int status = open_columns(&all, recording->units.count);
    if (status == SF_OK)
        status = rates ? gather_rates(&all, recording, window) : gather_intervals(&all, recording);
    if (status != SF_OK)
        sf_fail_memory(error);
    else
        status = add_units(list, &all, recording, error);
    if (status == SF_OK && all.coincident > 0 && !again)
        app_warn(call, "%s: left out %" PRIu64 " intervals of length 0: a unit has two spikes at one time",
                 recording->path, all.coincident);
    free_columns(&all);
    return status;
}

/* One series for every link: the time from its first spike to its second in each counted occurrence. */
static int gather_links(const sf_recording *recording, const sf_episode *episode, const int64_t *times,
                        size_t count, app_series_list *list, sf_error *error)
{
    int status = SF_OK;
    for (uint32_t link = 0; status == SF_OK && link + 1 < episode->size; link++) {
        column delays = {0};
        for (size_t i = 0; status == SF_OK && i < count; i++) {
            const int64_t *occurrence = times + i * episode->size;
            status = append(&delays, (double)(occurrence[link + 1] - occurrence[link]) / (double)SF_SECOND);
        }
        sf_episode pair = {.size = 2,
                           .units = {episode->units[link], episode->units[link + 1]},
                           .delays = {episode->delays[link]}};
        sf_text name = {0};
        sf_episode_print(&name, &pair, &recording->units);
        status = status != SF_OK || name.failed ? sf_fail_memory(error)
                                                : add_series(list, &delays, name.data, -1, error);
        sf_text_free(&name);
        sf_free(delays.values);
    }
    return status;
}

static int gather_delays(const app_call *call, const sf_recording *recording, app_series_list *list,
                         sf_error *error)
{
    sf_episode episode;
    int64_t *times = NULL;
    size_t count = 0;
    const char *text = app_value(call, "episode", NULL);
    if (text == NULL)
        return sf_fail(error, SF_USAGE, "--quantity", "delay needs --episode");
    int status = sf_episode_parse(&episode, text, &recording->units, error);
    if (status == SF_OK && episode.size < 2)
        status = sf_fail(error, SF_USAGE, "--episode", "found one unit, expected a link 'A -(0,5]-> B'");
    if (status == SF_OK)
        status = sf_occurrences_find(&times, &count, recording->spikes, recording->spike_count,
                                     recording->units.count, &episode, error);
    if (status == SF_OK)
        status = gather_links(recording, &episode, times, count, list, error);
    sf_free(times);
    return status;
}

/* Two columns: where on the array each spike was seen. Spikes of units without a position have none. */
static int gather_positions(const sf_recording *recording, app_series_list *list, sf_error *error)
{
    column positions = {0};
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < recording->spike_count; i++) {
        const sf_unit *unit = &recording->units.items[recording->spikes[i].unit];
        if (!isfinite(unit->x_um) || !isfinite(unit->y_um))
            continue;
        status = append(&positions, unit->x_um);
        if (status == SF_OK)
            status = append(&positions, unit->y_um);
    }
    if (status != SF_OK)
        sf_fail_memory(error);
    else if (positions.count == 0)
        status = sf_fail(error, SF_DATA, recording->path, "its units have no positions on an array");
    else
        status = add_series(list, &positions, "all spikes", -1, error);
    if (status == SF_OK) {
        list->items[0].samples.n /= 2;
        list->items[0].samples.d = 2;
    }
    sf_free(positions.values);
    return status;
}

typedef struct quantity {
    const char *name, *title, *label, *measure, *of; /* as in app_series_list */
    sf_domain domain;
} quantity;

static const quantity quantities[] = {
    {"isi", "Intervals", "interval", "s", "unit", SF_DOMAIN_LOG},
    {"rate", "Rates", "rate", "Hz", "unit", SF_DOMAIN_REFLECT},
    {"delay", "Delays", "delay", "s", "link", SF_DOMAIN_REFLECT},
    {"position", "Positions", "position", "um", "", SF_DOMAIN_LINE},
};

/* Times are those of a clock; rates are whole multiples of one spike a window; positions have no steps. */
static double tick_of(const char *name, const sf_recording *recording, int64_t window)
{
    if (strcmp(name, "rate") == 0)
        return (double)SF_SECOND / (double)window;
    return strcmp(name, "position") == 0 ? 0 : (double)recording->tick_ns / (double)SF_SECOND;
}

/* `again`: of a part of what was gathered before; what there is to warn of was said then. */
static int gather(const app_call *call, const char *name, const sf_recording *recording, int64_t window,
                  bool again, app_series_list *list, sf_error *error)
{
    list->tick = tick_of(name, recording, window);
    if (strcmp(name, "delay") == 0)
        return gather_delays(call, recording, list, error);
    if (strcmp(name, "position") == 0)
        return gather_positions(recording, list, error);
    return gather_units(call, recording, strcmp(name, "rate") == 0, window, again, list, error);
}

/* ---- epochs ---- */

/* Series are of units, of which a part of the recording may have fewer, or always the same. */
static app_series *find_series(app_series_list *list, const app_series *part, size_t place)
{
    if (part->unit < 0)
        return &list->items[place];
    app_series *series = list->items;
    while (series->unit != part->unit)
        series++;
    return series;
}

static int gather_epoch(const app_call *call, const char *name, const sf_recording *recording, int64_t window,
                        app_series_list *list, size_t k, sf_error *error)
{
    sf_recording view;
    app_series_list parts = {0};
    int status = app_epoch_view(&view, recording, &list->epochs.items[k], error);
    if (status != SF_OK)
        return status;
    if (view.spike_count > 0)
        status = gather(call, name, &view, window, true, &parts, error);
    status = status == SF_DATA ? SF_OK : status; /* an epoch without samples */
    for (size_t i = 0; status == SF_OK && i < parts.count; i++) {
        find_series(list, &parts.items[i], i)->epochs[k] = parts.items[i].samples;
        parts.items[i].samples = (sf_samples){0};
    }
    app_samples_free(&parts);
    sf_free(view.observed);
    return status;
}

static int gather_epochs(const app_call *call, const char *name, const sf_recording *recording,
                         int64_t window, app_series_list *list, sf_error *error)
{
    int status = app_epochs_open(&list->epochs, call, recording, list->count, error);
    for (size_t i = 0; status == SF_OK && list->epochs.items != NULL && i < list->count; i++) {
        list->items[i].epochs = sf_alloc(list->epochs.count, sizeof *list->items[i].epochs);
        status = list->items[i].epochs != NULL ? SF_OK : sf_fail_memory(error);
    }
    for (size_t k = 0; status == SF_OK && k < list->epochs.count; k++)
        status = gather_epoch(call, name, recording, window, list, k, error);
    return status;
}

static int load_recording(const app_call *call, const char *name, app_series_list *list, sf_error *error)
{
    const quantity *found = NULL;
    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++)
        if (strcmp(quantities[i].name, name) == 0)
            found = &quantities[i];
    if (found == NULL)
        return sf_fail(error, SF_USAGE, "--quantity", "found '%s', expected isi, rate, delay or position",
                       name);
    int64_t window = SF_SECOND;
    int status = app_scaled(call, "window", 9, &window, error);
    if (status == SF_OK && window <= 0)
        status = sf_fail(error, SF_USAGE, "--window", "expected a time above 0");
    list->title = found->title;
    list->quantity = found->label;
    list->domain = found->domain;
    list->measure = found->measure;
    list->of = found->of;
    sf_recording recording;
    if (status == SF_OK)
        status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK)
        return status;
    status = gather(call, name, &recording, window, false, list, error);
    if (status == SF_OK)
        status = gather_epochs(call, name, &recording, window, list, error);
    sf_recording_free(&recording);
    return status;
}

/* Selections mean something for a recording only: they are not silently passed over. */
static int load_numbers(const app_call *call, app_series_list *list, sf_error *error)
{
    const app_option *const lists[] = {app_selection_options, app_quantity_options};
    for (size_t i = 0; i < 2; i++)
        for (const app_option *option = lists[i]; option->name != NULL; option++)
            if (app_has(call, option->name)) {
                char place[64];
                snprintf(place, sizeof place, "--%s", option->name);
                return sf_fail(error, SF_USAGE, place, "is for recordings: give --quantity too");
            }
    column none = {0};
    int status = add_series(list, &none, "", -1, error);
    sf_samples *samples = status == SF_OK ? &list->items[0].samples : NULL;
    if (status == SF_OK)
        status = sf_samples_read(samples, call->arguments[0], error);
    return status == SF_OK ? sf_samples_find_clock(samples, error) : status;
}

int app_samples_load(const app_call *call, app_series_list *list, sf_error *error)
{
    *list = (app_series_list){.title = "Samples", .quantity = "samples", .measure = "", .of = ""};
    const char *name = app_value(call, "quantity", NULL);
    return name != NULL ? load_recording(call, name, list, error) : load_numbers(call, list, error);
}

void app_samples_free(app_series_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        sf_free(list->items[i].name);
        sf_samples_free(&list->items[i].samples);
        for (size_t k = 0; list->items[i].epochs != NULL && k < list->epochs.count; k++)
            sf_samples_free(&list->items[i].epochs[k]);
        sf_free(list->items[i].epochs);
    }
    app_epochs_free(&list->epochs);
    sf_free(list->items);
    *list = (app_series_list){0};
}

int app_selector(const char *text, const char *option, const sf_selector **selector, sf_error *error)
{
    *selector = text != NULL ? sf_selector_find(text) : sf_selector_at(0);
    if (*selector != NULL)
        return SF_OK;
    sf_text names = {0};
    for (size_t i = 0; sf_selector_at(i) != NULL; i++)
        sf_text_printf(&names, "%s%s", i > 0 ? ", " : "", sf_selector_name(sf_selector_at(i)));
    int status = sf_fail(error, SF_USAGE, option, "found '%s', expected %s", text,
                         names.failed ? "a method" : names.data);
    sf_text_free(&names);
    return status;
}

static int check_one(const app_call *call, const app_series_list *list, sf_error *error)
{
    if (list->count == 1)
        return SF_OK;
    return sf_fail(error, SF_USAGE, call->arguments[0], "holds %zu %ss: choose one%s", list->count, list->of,
                   strcmp(list->of, "unit") == 0 ? " with --units" : " as an episode of two");
}

int app_samples_run(const app_call *call,
                    int (*work)(const app_call *call, const app_series_list *list, void *context,
                                sf_error *error),
                    void *context, sf_error *error)
{
    app_series_list list;
    app_catch_signals();
    int status = app_samples_load(call, &list, error);
    if (status == SF_OK)
        status = check_one(call, &list, error);
    if (status == SF_OK)
        status = work(call, &list, context, error);
    if (status != SF_OK && error->place[0] == '\0')
        snprintf(error->place, sizeof error->place, "%s", call->arguments[0]);
    app_samples_free(&list);
    return status;
}

int app_bandwidth(const char *text, double *h, const sf_selector **selector, sf_error *error)
{
    *selector = NULL;
    if (text == NULL || !sf_parse_real(text, h))
        return app_selector(text, "--bandwidth", selector, error);
    return *h > 0 ? SF_OK
                  : sf_fail(error, SF_USAGE, "--bandwidth",
                            "found '%s', expected a number above 0 or a method", text);
}

int app_bandwidth_find(const app_call *call, const sf_samples *samples, sf_domain domain, double *h,
                       const sf_selector **selector, sf_error *error)
{
    if (*selector == NULL)
        return sf_domain_check(domain, samples->values, samples->n * samples->d, error);
    if (samples->d > 1 && !app_has(call, "bandwidth"))
        *selector = sf_selector_find("silverman");
    sf_progress progress = app_progress(call);
    sf_bandwidth_options how = {
        .domain = domain, .threads = sf_thread_cores(), .device = "auto", .progress = &progress};
    sf_bandwidth bandwidth;
    int status = sf_bandwidth_select(&bandwidth, *selector, samples, &how, error);
    if (status != SF_OK)
        return status;
    if (bandwidth.note != NULL)
        app_warn(call, "%s", bandwidth.note);
    *h = bandwidth.h;
    sf_bandwidth_free(&bandwidth);
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
        if (!app_has(call, name))
            continue;
        if (given != NULL)
            return sf_fail(error, SF_USAGE, given, "does not go with --%s: choose one", name);
        given = i == 0 ? "--log" : "--linear";
        *domain = domains[i];
    }
    return SF_OK;
}
