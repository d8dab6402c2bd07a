/* SPDX-License-Identifier: Apache-2.0 */
#include "app/details.h"

#include "app/electrodes.h"
#include "app/mining.h"
#include "core/episode.h"
#include "core/memory.h"
#include "core/thread.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>

/* ---- occurrences ---- */

typedef struct looking {
    app_details *details;
    const sf_counter *counter;
    sf_error *errors; /* by worker */
    sf_progress progress;
    atomic_size_t done;
} looking;

static int look_at(void *context, unsigned worker, size_t i)
{
    looking *l = context;
    app_details *d = l->details;
    int64_t *times;
    size_t count, done = atomic_fetch_add(&l->done, 1);
    if (worker == 0 &&
        !sf_progress_update(&l->progress, "looking at occurrences", (double)done, (double)d->count))
        return sf_fail(&l->errors[0], SF_CANCELLED, NULL, "stopped while looking at occurrences");
    int status = sf_counter_occurrences(l->counter, i, &times, &count, &l->errors[worker]);
    if (status == SF_OK)
        status = sf_details_make(&d->items[i], &d->episodes[i], times, count, &d->bursts, &l->errors[worker]);
    sf_free(times);
    return status;
}

static int look_at_all(app_details *d, const app_call *call, const sf_counter *counter, sf_error *error)
{
    unsigned threads = sf_thread_cores();
    looking l = {.details = d,
                 .counter = counter,
                 .errors = sf_alloc(threads, sizeof *l.errors),
                 .progress = app_progress(call)};
    d->items = sf_alloc(d->count, sizeof *d->items);
    int status = d->items != NULL && l.errors != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK)
        status = sf_parallel_for(threads, d->count, look_at, &l);
    for (unsigned worker = 0; status != SF_OK && l.errors != NULL && worker < threads; worker++)
        if ((int)l.errors[worker].code == status && error != NULL)
            *error = l.errors[worker];
    sf_free(l.errors);
    return status;
}

/* ---- the other way round ---- */

/* Longer ones have none, and A -> A is its own. */
static bool has_reverse(const sf_episode *episode)
{
    return episode->size == 2 && episode->units[0] != episode->units[1];
}

static int count_reverse(app_details *d, sf_error *error)
{
    sf_episode *pairs = sf_resize(NULL, d->count, sizeof *pairs);
    size_t *places = sf_resize(NULL, d->count, sizeof *places), pair_count = 0;
    uint64_t *counts = sf_resize(NULL, d->count, sizeof *counts);
    d->reverse = sf_alloc(d->count, sizeof *d->reverse);
    int status = SF_OK;
    if (pairs == NULL || places == NULL || counts == NULL || d->reverse == NULL)
        status = sf_fail_memory(error);
    for (size_t i = 0; i < d->count && status == SF_OK; i++) {
        const sf_episode *episode = &d->episodes[i];
        if (!has_reverse(episode))
            continue;
        places[pair_count] = i;
        pairs[pair_count++] = (sf_episode){
            .size = 2, .units = {episode->units[1], episode->units[0]}, .delays = {episode->delays[0]}};
    }
    sf_counter *counter = NULL;
    if (status == SF_OK)
        status = sf_counter_open(&counter, d->recording->spikes, d->recording->spike_count,
                                 d->recording->units.count, pairs, pair_count, NULL, 0, error);
    if (status == SF_OK)
        status = sf_counter_count(counter, NULL, counts, error);
    for (size_t k = 0; k < pair_count && status == SF_OK; k++)
        d->reverse[places[k]] = counts[k];
    sf_counter_close(counter);
    sf_free(pairs);
    sf_free(places);
    sf_free(counts);
    return status;
}

double app_asymmetry(uint64_t forth, uint64_t back)
{
    double sum = (double)forth + (double)back;
    return sum > 0 ? ((double)forth - (double)back) / sum : NAN;
}

/* ---- together ---- */

int app_details_make(app_details *details, const app_call *call, const sf_recording *recording,
                     const sf_episode *episodes, const uint64_t *counts, const double *expected, size_t count,
                     sf_error *error)
{
    *details = (app_details){
        .recording = recording, .episodes = episodes, .counts = counts, .expected = expected, .count = count};
    app_details *d = details;
    sf_counter *counter = NULL;
    d->parents = sf_resize(NULL, count, sizeof *d->parents);
    int status = d->parents != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK)
        status = sf_bursts_find(&d->bursts, recording->spikes, recording->spike_count,
                                sf_recording_duration_ns(recording), error);
    if (status == SF_OK)
        status = sf_fold(d->parents, episodes, counts, expected, count, error);
    if (status == SF_OK)
        status = count_reverse(d, error);
    if (status == SF_OK)
        status = sf_counter_open(&counter, recording->spikes, recording->spike_count, recording->units.count,
                                 episodes, count, NULL, 0, error);
    if (status == SF_OK && count <= APP_MOST_DETAILED)
        status = look_at_all(d, call, counter, error);
    if (status == SF_OK)
        status = app_epochs_count(&d->epochs, call, recording, counter, count, error);
    sf_counter_close(counter);
    if (count > APP_MOST_DETAILED)
        app_warn(call,
                 "%zu episodes are too many to look at every occurrence: bursts and delays are told of up "
                 "to %d",
                 count, APP_MOST_DETAILED);
    return status;
}

void app_details_free(app_details *details)
{
    sf_bursts_free(&details->bursts);
    sf_free(details->items);
    sf_free(details->reverse);
    sf_free(details->parents);
    app_epochs_free(&details->epochs);
    *details = (app_details){0};
}

/* ---- JSON ---- */

static void see_links(app_electrodes *electrodes, const sf_units *units, const sf_episode *episode)
{
    for (uint32_t link = 0; link + 1 < episode->size; link++) {
        uint32_t from = episode->units[link], to = episode->units[link + 1];
        if (sf_units_share_electrode(units, from, to))
            app_electrodes_see(electrodes, from, to, units->items[from].name, units->items[to].name);
    }
}

void app_details_json(sf_json *json, const app_details *d)
{
    sf_json_uint(json, "bursts", d->bursts.count);
    app_epochs_json(json, &d->epochs);
}

static void add_links(sf_json *json, const sf_details *item, uint32_t links)
{
    static const char *const names[] = {"least_ms", "lower_quarter_ms", "median_ms", "upper_quarter_ms",
                                        "greatest_ms"};
    sf_json_array(json, "links");
    for (uint32_t link = 0; link < links; link++) {
        sf_json_object(json, NULL);
        for (size_t q = 0; q < 5; q++) {
            if (item->occurrences > 0)
                sf_json_milliseconds(json, names[q], item->links[link].quantiles_ns[q]);
            else
                sf_json_null(json, names[q]);
        }
        sf_json_array(json, "histogram");
        for (size_t bin = 0; bin < SF_DELAY_BINS; bin++)
            sf_json_uint(json, NULL, item->links[link].histogram[bin]);
        sf_json_end_array(json);
        sf_json_end_object(json);
    }
    sf_json_end_array(json);
}

void app_details_episode_json(sf_json *json, const app_details *d, size_t i)
{
    if (d->items != NULL) {
        sf_json_uint(json, "bursts", d->items[i].bursts);
        sf_json_uint(json, "in_bursts", d->items[i].in_bursts);
        add_links(json, &d->items[i], d->episodes[i].size - 1);
    } else {
        sf_json_null(json, "bursts");
        sf_json_null(json, "in_bursts");
        sf_json_null(json, "links");
    }
    if (has_reverse(&d->episodes[i])) {
        sf_json_uint(json, "reverse_count", d->reverse[i]);
        sf_json_real(json, "asymmetry", app_asymmetry(d->counts[i], d->reverse[i]));
    } else {
        sf_json_null(json, "reverse_count");
        sf_json_null(json, "asymmetry");
    }
    app_electrodes electrodes = {0};
    see_links(&electrodes, &d->recording->units, &d->episodes[i]);
    sf_json_bool(json, "one_electrode", electrodes.links > 0);
    if (d->parents[i] != SIZE_MAX) {
        char id[SF_EPISODE_ID_SIZE];
        sf_episode_id(id, &d->episodes[d->parents[i]], &d->recording->units);
        sf_json_string(json, "folded_under", id);
    } else {
        sf_json_null(json, "folded_under");
    }
    app_epochs_item_json(json, &d->epochs, i);
}

/* ---- bursts or epochs ---- */

static bool know_bursts(const app_details *d)
{
    return d->items != NULL && d->bursts.count > 0;
}

bool app_details_know_stretches(const app_details *d)
{
    return know_bursts(d) || d->epochs.count > 0;
}

uint64_t app_details_stretches(const app_details *d, size_t i)
{
    uint64_t bursts = know_bursts(d) ? d->items[i].bursts : 0, epochs = app_epochs_with(&d->epochs, i);
    return bursts > epochs ? bursts : epochs;
}

/* ---- tables ---- */

void app_details_cells(app_table *table, const app_details *d, size_t i)
{
    if (know_bursts(d))
        app_table_cell(table, "%" PRIu64, d->items[i].bursts);
    else
        app_table_cell(table, "-");
    if (has_reverse(&d->episodes[i]))
        app_table_cell(table, "%" PRIu64, d->reverse[i]);
    else
        app_table_cell(table, "-");
    sf_text medians = {0};
    for (uint32_t link = 0; d->items != NULL && link + 1 < d->episodes[i].size; link++)
        sf_text_printf(&medians, "%s%.3g", link > 0 ? " " : "",
                       (double)d->items[i].links[link].quantiles_ns[2] * 1e-6);
    app_table_cell(table, "%s", medians.data != NULL && d->items[i].occurrences > 0 ? medians.data : "-");
    sf_text_free(&medians);
}

static sf_text name_episode(const void *context, size_t i)
{
    const app_details *d = context;
    return app_episode_text(&d->episodes[i], &d->recording->units);
}

void app_details_print_below(sf_text *text, const app_details *d, const size_t *shown, size_t shown_count)
{
    app_electrodes electrodes = {0};
    for (size_t i = 0; i < shown_count; i++)
        see_links(&electrodes, &d->recording->units, &d->episodes[shown[i]]);
    app_electrodes_print(text, &electrodes);
    app_epochs_print(text, &d->epochs, name_episode, d, shown, shown_count);
}
