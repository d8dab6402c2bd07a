/* SPDX-License-Identifier: Apache-2.0 */
#include "app/details.h"

#include "app/mining.h"
#include "core/episode.h"
#include "core/memory.h"
#include "core/thread.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- occurrences ---- */

typedef struct looking {
    app_details *details;
    const sf_counter *counter;
    sf_error *errors; /* by worker */
} looking;

static int look_at(void *context, unsigned worker, size_t i)
{
    const looking *l = context;
    app_details *d = l->details;
    int64_t *times;
    size_t count;
    int status = sf_counter_occurrences(l->counter, i, &times, &count, &l->errors[worker]);
    if (status == SF_OK)
        status = sf_details_make(&d->items[i], &d->episodes[i], times, count, &d->bursts, &l->errors[worker]);
    sf_free(times);
    return status;
}

static int look_at_all(app_details *d, const sf_counter *counter, sf_error *error)
{
    unsigned threads = sf_thread_cores();
    looking l = {.details = d, .counter = counter, .errors = sf_alloc(threads, sizeof *l.errors)};
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
        if (episode->size != 2)
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

/* ---- epochs ---- */

static int64_t overlap(sf_span a, sf_span b)
{
    int64_t start = a.start_ns > b.start_ns ? a.start_ns : b.start_ns;
    int64_t stop = a.stop_ns < b.stop_ns ? a.stop_ns : b.stop_ns;
    return stop > start ? stop - start : 0;
}

static app_epoch describe_epoch(const sf_recording *recording, const sf_epoch *epoch)
{
    app_epoch known = {.epoch = *epoch};
    if (recording->observed_count == 0)
        known.duration_ns = overlap(recording->recorded, epoch->span);
    for (size_t i = 0; i < recording->observed_count; i++)
        known.duration_ns += overlap(recording->observed[i], epoch->span);
    known.spikes = sf_spikes_lower_bound(recording->spikes, recording->spike_count, epoch->span.stop_ns) -
                   sf_spikes_lower_bound(recording->spikes, recording->spike_count, epoch->span.start_ns);
    return known;
}

static int count_epochs(app_details *d, const char *path, sf_counter *counter, sf_error *error)
{
    sf_epoch *epochs;
    int status = sf_epochs_read(&epochs, &d->epoch_count, path, error);
    if (status != SF_OK)
        return status;
    d->epochs = sf_resize(NULL, d->epoch_count, sizeof *d->epochs);
    d->epoch_counts = sf_resize(NULL, d->epoch_count * d->count, sizeof *d->epoch_counts);
    if (d->epochs == NULL || d->epoch_counts == NULL)
        status = sf_fail_memory(error);
    for (size_t k = 0; k < d->epoch_count && status == SF_OK; k++) {
        d->epochs[k] = describe_epoch(d->recording, &epochs[k]);
        status = sf_counter_count(counter, &epochs[k].span, d->epoch_counts + k * d->count, error);
    }
    sf_free(epochs);
    return status;
}

/* ---- together ---- */

int app_details_make(app_details *details, const app_call *call, const sf_recording *recording,
                     const sf_episode *episodes, const uint64_t *counts, const double *expected, size_t count,
                     sf_error *error)
{
    *details = (app_details){
        .recording = recording, .episodes = episodes, .counts = counts, .expected = expected, .count = count};
    app_details *d = details;
    const char *epochs = app_value(call, "epochs", NULL);
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
        status = look_at_all(d, counter, error);
    if (status == SF_OK && epochs != NULL)
        status = count_epochs(d, epochs, counter, error);
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
    sf_free(details->epochs);
    sf_free(details->epoch_counts);
    *details = (app_details){0};
}

/* ---- JSON ---- */

void app_details_json(sf_json *json, const app_details *d)
{
    sf_json_uint(json, "bursts", d->bursts.count);
    if (d->epochs == NULL)
        return;
    sf_json_array(json, "epochs");
    for (size_t k = 0; k < d->epoch_count; k++) {
        const app_epoch *known = &d->epochs[k];
        sf_json_object(json, NULL);
        sf_json_string(json, "label", known->epoch.label);
        sf_json_seconds(json, "from_s", known->epoch.span.start_ns);
        sf_json_seconds(json, "to_s", known->epoch.span.stop_ns);
        sf_json_seconds(json, "duration_s", known->duration_ns);
        sf_json_uint(json, "spikes", known->spikes);
        sf_json_end_object(json);
    }
    sf_json_end_array(json);
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

static void add_epochs(sf_json *json, const app_details *d, size_t i)
{
    uint64_t epochs = 0;
    for (size_t k = 0; k < d->epoch_count; k++)
        epochs += d->epoch_counts[k * d->count + i] > 0;
    sf_json_uint(json, "epochs", epochs);
    sf_json_array(json, "epoch_counts");
    for (size_t k = 0; k < d->epoch_count; k++)
        sf_json_uint(json, NULL, d->epoch_counts[k * d->count + i]);
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
    if (d->episodes[i].size == 2) {
        sf_json_uint(json, "reverse_count", d->reverse[i]);
        sf_json_real(json, "asymmetry", app_asymmetry(d->counts[i], d->reverse[i]));
    } else {
        sf_json_null(json, "reverse_count");
        sf_json_null(json, "asymmetry");
    }
    if (d->parents[i] != SIZE_MAX) {
        char id[SF_EPISODE_ID_SIZE];
        sf_episode_id(id, &d->episodes[d->parents[i]], &d->recording->units);
        sf_json_string(json, "folded_under", id);
    } else {
        sf_json_null(json, "folded_under");
    }
    if (d->epochs != NULL)
        add_epochs(json, d, i);
}

/* ---- tables ---- */

void app_details_cells(app_table *table, const app_details *d, size_t i)
{
    if (d->items != NULL && d->bursts.count > 0)
        app_table_cell(table, "%" PRIu64, d->items[i].bursts);
    else
        app_table_cell(table, "-");
    if (d->episodes[i].size == 2)
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

#define MOST_LABELS 6

/* Labels in the order of their first epochs; returns how many there are. */
static size_t list_labels(const app_details *d, const char *labels[MOST_LABELS])
{
    size_t count = 0;
    for (size_t k = 0; k < d->epoch_count; k++) {
        size_t known = 0;
        while (known < count && known < MOST_LABELS && strcmp(labels[known], d->epochs[k].epoch.label) != 0)
            known++;
        if (known < count && known < MOST_LABELS)
            continue;
        if (count < MOST_LABELS)
            labels[count] = d->epochs[k].epoch.label;
        count++;
    }
    return count;
}

/* The counts of all epochs with this label, and how often a second of them that is. */
static void print_label_cells(app_table *table, const app_details *d, const char *label, size_t i)
{
    uint64_t count = 0;
    double seconds = 0;
    for (size_t k = 0; k < d->epoch_count; k++) {
        if (strcmp(d->epochs[k].epoch.label, label) != 0)
            continue;
        count += d->epoch_counts[k * d->count + i];
        seconds += (double)d->epochs[k].duration_ns * 1e-9;
    }
    app_table_cell(table, "%" PRIu64, count);
    app_table_cell(table, seconds > 0 ? "%.3g" : "-", (double)count / seconds);
}

void app_details_print_epochs(sf_text *text, const app_details *d, const size_t *shown, size_t shown_count)
{
    if (d->epochs == NULL || shown_count == 0)
        return;
    const char *labels[MOST_LABELS];
    size_t label_count = list_labels(d, labels),
           columns = label_count < MOST_LABELS ? label_count : MOST_LABELS;
    app_table table = {0};
    sf_text_printf(text, "\neach of %zu epochs taken alone, summed by label\n", d->epoch_count);
    app_table_cell(&table, "episode");
    for (size_t l = 0; l < columns; l++) {
        app_table_cell(&table, "%s", labels[l][0] != '\0' ? labels[l] : "no label");
        app_table_cell(&table, "per s");
    }
    for (size_t i = 0; i < shown_count; i++) {
        sf_text spelt = app_episode_text(&d->episodes[shown[i]], &d->recording->units);
        app_table_cell(&table, "%s", spelt.data != NULL ? spelt.data : "");
        for (size_t l = 0; l < columns; l++)
            print_label_cells(&table, d, labels[l], shown[i]);
        sf_text_free(&spelt);
    }
    app_table_print(&table, text, 1 + 2 * columns);
    if (columns < label_count)
        sf_text_printf(text, "and more labels: --json has every epoch\n");
}
