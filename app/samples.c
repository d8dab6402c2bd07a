/* SPDX-License-Identifier: Apache-2.0 */
#include "app/samples.h"

#include "app/load.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/recording.h"
#include "density/samples_file.h"

#include <inttypes.h>
#include <string.h>

const app_option app_quantity_options[] = {
    {"quantity", "NAME",
     "what to take from a recording: isi (intervals between spikes, s) or rate (spikes per window, Hz), each "
     "per unit"},
    {"window", "S", "window of --quantity rate (default 1)"},
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
    list->items[list->count++] = (app_series){
        .name = copy, .unit = unit, .samples = {.values = values->values, .n = values->count, .d = 1}};
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
                        app_series_list *list, sf_error *error)
{
    unit_columns all;
    int status = open_columns(&all, recording->units.count);
    if (status == SF_OK)
        status = rates ? gather_rates(&all, recording, window) : gather_intervals(&all, recording);
    if (status != SF_OK)
        sf_fail_memory(error);
    else
        status = add_units(list, &all, recording, error);
    if (status == SF_OK && all.coincident > 0)
        app_warn(call, "%s: left out %" PRIu64 " intervals of length 0: a unit has two spikes at one time",
                 recording->path, all.coincident);
    free_columns(&all);
    return status;
}

static int load_recording(const app_call *call, const char *quantity, app_series_list *list, sf_error *error)
{
    bool rates = strcmp(quantity, "rate") == 0;
    if (!rates && strcmp(quantity, "isi") != 0)
        return sf_fail(error, SF_USAGE, "--quantity", "found '%s', expected isi or rate", quantity);
    int64_t window = SF_SECOND;
    int status = app_scaled(call, "window", 9, &window, error);
    if (status == SF_OK && window <= 0)
        status = sf_fail(error, SF_USAGE, "--window", "expected a time above 0");
    list->quantity = rates ? "rate" : "interval";
    list->measure = rates ? "Hz" : "s";
    sf_recording recording;
    if (status == SF_OK)
        status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK)
        return status;
    status = gather_units(call, &recording, rates, window, list, error);
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
    return status == SF_OK ? sf_samples_read(&list->items[0].samples, call->arguments[0], error) : status;
}

int app_samples_load(const app_call *call, app_series_list *list, sf_error *error)
{
    *list = (app_series_list){.quantity = "samples", .measure = ""};
    const char *quantity = app_value(call, "quantity", NULL);
    return quantity != NULL ? load_recording(call, quantity, list, error) : load_numbers(call, list, error);
}

void app_samples_free(app_series_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        sf_free(list->items[i].name);
        sf_samples_free(&list->items[i].samples);
    }
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
