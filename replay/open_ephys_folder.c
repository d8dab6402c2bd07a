/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Record node of the Open Ephys GUI in its binary format: structure.oebin (JSON) lists folders of spikes and
 * of events, each with .npy files. GUI 0.6 and later have sample_numbers.npy; before, spike_times.npy holds
 * samples, too. An electrode is a unit, and so is each cluster sorted on it. TTL lines become markers.
 */
#include "replay/folder.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/units.h"
#include "io/npy.h"
#include "replay/reader.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRUCTURE "structure.oebin"

static bool recognises(const char *path)
{
    char inside[SF_FOLDER_PATH];
    return sf_folder_has(inside, path, STRUCTURE);
}

static int open_structure(json_t **structure, const char *path, sf_error *error)
{
    char inside[SF_FOLDER_PATH];
    json_error_t reason;
    sf_folder_has(inside, path, STRUCTURE);
    *structure = json_load_file(inside, 0, &reason);
    if (*structure == NULL) return sf_fail(error, SF_DATA, inside, "line %d: %s", reason.line, reason.text);
    return SF_OK;
}

static const char *text_of(const json_t *entry, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(entry, key));
    return text != NULL && text[0] != '\0' ? text : otherwise;
}

static const char *stream_of(const json_t *entry)
{
    return text_of(entry, "stream_name", "spikes");
}

/* The folder of an entry; a name that leads out of the recording is refused. */
static bool folder_of(char path[SF_FOLDER_PATH], const char *base, const char *kind, const json_t *entry)
{
    const char *name = text_of(entry, "folder", text_of(entry, "folder_name", NULL));
    return name != NULL && name[0] != '/' && strstr(name, "..") == NULL &&
           snprintf(path, SF_FOLDER_PATH, "%s/%s/%s", base, kind, name) < SF_FOLDER_PATH;
}

/* Newer name of a file, if it exists under that name. */
static const char *file_of(const char *folder, const char *newer, const char *older)
{
    char path[SF_FOLDER_PATH];
    return sf_folder_has(path, folder, newer) ? newer : older;
}

/* ---- streams ---- */

static int count_spikes(size_t *count, const char *base, const json_t *entry, sf_error *error)
{
    char folder[SF_FOLDER_PATH], path[SF_FOLDER_PATH];
    sf_npy npy;
    if (!folder_of(folder, base, "spikes", entry))
        return sf_fail(error, SF_DATA, base, "damaged: structure.oebin lists spikes without a folder");
    sf_folder_has(path, folder, file_of(folder, "sample_numbers.npy", "spike_times.npy"));
    int status = sf_npy_open(&npy, path, 0, 0, error);
    *count = status == SF_OK ? npy.count : 0;
    sf_npy_close(&npy);
    return status;
}

static int list_streams(sf_streams *streams, const char *path, sf_error *error)
{
    json_t *structure, *entry;
    size_t i, count;
    streams->what = "stream";
    int status = open_structure(&structure, path, error);
    json_array_foreach(json_object_get(structure, "spikes"), i, entry)
    {
        size_t k = 0;
        if (status == SF_OK) status = count_spikes(&count, path, entry, error);
        while (k < streams->count && strcmp(streams->items[k].name, stream_of(entry)) != 0)
            k++;
        if (status == SF_OK && k == streams->count)
            status = sf_streams_add(streams, stream_of(entry), 0, error);
        if (status == SF_OK) streams->items[k].spikes += count;
    }
    json_decref(structure);
    return status;
}

/* ---- spikes ---- */

#define ELECTRODES 65536
#define CLUSTERS 65536

/* Combines an entry, one of its electrodes and a cluster into one number. */
static int64_t key_of(size_t entry, int64_t electrode, int64_t cluster)
{
    return ((int64_t)entry * ELECTRODES + electrode) * CLUSTERS + cluster;
}

typedef struct spikes {
    const json_t *list; /* of the file */
    const char *path, *stream;
    bool *several; /* per entry: whether it has more than one electrode */
    bool *silent;  /* per entry: no spikes; its key is added after those of spikes, so that it is a unit */
    int64_t *samples, *keys;
    size_t count, capacity, key_capacity;
    double rate_hz;
} spikes;

static int describe(void *context, int64_t id, sf_unit *unit, char name[64])
{
    const spikes *all = context;
    int64_t cluster = id % CLUSTERS, electrode = id / CLUSTERS % ELECTRODES;
    size_t entry = (size_t)(id / CLUSTERS / ELECTRODES);
    const char *base = text_of(json_array_get(all->list, entry), "name", "electrode");
    int length = snprintf(name, 40, "%s", base);
    length = length < 39 ? length : 39;
    if (all->several[entry]) length += snprintf(name + length, (size_t)(64 - length), " %" PRId64, electrode);
    if (cluster > 0) snprintf(name + length, (size_t)(64 - length), ":%" PRId64, cluster);
    unit->kind = cluster > 0 ? SF_UNIT_SORTED : SF_UNIT_MULTI_UNIT;
    return SF_OK;
}

static int take_rate(spikes *all, const json_t *entry, sf_error *error)
{
    double rate = json_number_value(json_object_get(entry, "sample_rate"));
    if (all->rate_hz != 0 && rate != all->rate_hz)
        return sf_fail(error, SF_DATA, all->path, "damaged: its stream '%s' has samples at %g and at %g Hz",
                       all->stream, all->rate_hz, rate);
    all->rate_hz = rate;
    return SF_OK;
}

static int add_entry(spikes *all, size_t index, const json_t *entry, sf_error *error)
{
    char folder[SF_FOLDER_PATH], path[SF_FOLDER_PATH];
    int64_t *samples = NULL, *electrodes = NULL, *clusters = NULL;
    size_t count = 0;
    folder_of(folder, all->path, "spikes", entry); /* list_streams has looked */
    const char *sorted = file_of(folder, "clusters.npy", "spike_clusters.npy");
    int status = take_rate(all, entry, error);
    sf_folder_has(path, folder, file_of(folder, "sample_numbers.npy", "spike_times.npy"));
    if (status == SF_OK) status = sf_npy_load_integers(path, &samples, &count, error);
    if (status == SF_OK)
        status = sf_folder_integers(&electrodes, folder,
                                    file_of(folder, "electrode_indices.npy", "spike_electrode_indices.npy"),
                                    count, error);
    if (status == SF_OK && sf_folder_has(path, folder, sorted))
        status = sf_folder_integers(&clusters, folder, sorted, count, error);
    if (status == SF_OK &&
        (sf_reserve(&all->samples, &all->capacity, all->count + count, sizeof *samples) != 0 ||
         sf_reserve(&all->keys, &all->key_capacity, all->count + count, sizeof *samples) != 0))
        status = sf_fail_memory(error);
    all->silent[index] = count == 0;
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        int64_t cluster = clusters != NULL ? clusters[i] : 0;
        if (electrodes[i] < 0 || electrodes[i] >= ELECTRODES || cluster < 0 || cluster >= CLUSTERS)
            status = sf_fail(error, SF_DATA, folder,
                             "damaged: spike %zu is of electrode %" PRId64 " and cluster %" PRId64, i,
                             electrodes[i], cluster);
        all->several[index] = all->several[index] || electrodes[i] != electrodes[0];
        all->samples[all->count] = samples[i];
        all->keys[all->count++] = key_of(index, electrodes[i], cluster);
    }
    sf_free(samples);
    sf_free(electrodes);
    sf_free(clusters);
    return status;
}

/* Adds keys of electrodes without spikes after those of spikes. */
static int add_silent(spikes *all, size_t *keys, sf_error *error)
{
    *keys = all->count;
    for (size_t i = 0; i < json_array_size(all->list); i++) {
        if (!all->silent[i]) continue;
        if (sf_reserve(&all->keys, &all->key_capacity, *keys + 1, sizeof *all->keys) != 0)
            return sf_fail_memory(error);
        all->keys[(*keys)++] = key_of(i, 0, 0);
    }
    return SF_OK;
}

/* ---- lines of TTL ---- */

static int add_edges(sf_recording *recording, size_t *capacity, const char *folder, double rate_hz,
                     sf_error *error)
{
    const char *states_name = file_of(folder, "states.npy", "channel_states.npy");
    const char *samples_name = file_of(folder, "sample_numbers.npy", "timestamps.npy");
    char path[SF_FOLDER_PATH];
    int64_t *states = NULL, *samples = NULL;
    size_t count;
    if (!sf_folder_has(path, folder, states_name)) return SF_OK; /* messages, or something else */
    int status = sf_npy_load_integers(path, &states, &count, error);
    if (status == SF_OK) status = sf_folder_integers(&samples, folder, samples_name, count, error);
    if (status == SF_OK && sf_reserve(&recording->markers, capacity, recording->marker_count + count,
                                      sizeof *recording->markers) != 0)
        status = sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        sf_marker *marker = &recording->markers[recording->marker_count++];
        int64_t state = states[i];
        *marker = (sf_marker){.kind = SF_MARKER_TTL, .state = state > 0};
        if (state == 0 || state > UINT16_MAX || state < -UINT16_MAX ||
            !sf_samples_to_ns(samples[i], rate_hz, &marker->time_ns))
            status =
                sf_fail(error, SF_DATA, folder, "damaged: event %zu is state %" PRId64 " at sample %" PRId64,
                        i, state, samples[i]);
        else
            marker->line = (uint16_t)((state > 0 ? state : -state) - 1);
    }
    sf_free(states);
    sf_free(samples);
    return status;
}

static int read_events(sf_recording *recording, const json_t *structure, const char *path, const char *stream,
                       double rate_hz, sf_error *error)
{
    json_t *entry;
    size_t i, capacity = 0;
    int status = SF_OK;
    json_array_foreach(json_object_get(structure, "events"), i, entry)
    {
        char folder[SF_FOLDER_PATH];
        if (status == SF_OK && strcmp(text_of(entry, "stream_name", stream), stream) == 0 &&
            folder_of(folder, path, "events", entry))
            status = add_edges(recording, &capacity, folder, rate_hz, error);
    }
    return status;
}

/* ---- how long ---- */

#define MOST_PAUSES 4096

typedef struct sampled {
    sf_npy numbers; /* of the samples, ascending */
    double rate_hz;
    sf_span *spans; /* between pauses */
    size_t count, capacity;
} sampled;

static int number_at(int64_t *number, const sampled *s, size_t at, sf_error *error)
{
    return sf_npy_read_integers(&s->numbers, NULL, at, 1, number, error);
}

/* Finds the first sample at or after `from` that is not followed by the next number; the last sample if there
 * is none. Numbers minus their index never decrease, so bisection works. */
static int find_pause(size_t *last, const sampled *s, size_t from, sf_error *error)
{
    size_t low = from, high = s->numbers.count - 1;
    int64_t first, number;
    int status = number_at(&first, s, from, error);
    while (status == SF_OK && low < high) {
        size_t middle = low + (high - low + 1) / 2;
        status = number_at(&number, s, middle, error);
        if (status == SF_OK && number - first == (int64_t)(middle - from))
            low = middle;
        else
            high = middle - 1;
    }
    *last = low;
    return status;
}

static int add_spans(sampled *s, sf_error *error)
{
    int status = SF_OK;
    for (size_t from = 0, last; status == SF_OK && from < s->numbers.count && s->count < MOST_PAUSES;
         from = last + 1) {
        int64_t first = 0, end = 0;
        sf_span span;
        status = find_pause(&last, s, from, error);
        if (status == SF_OK) status = number_at(&first, s, from, error);
        if (status == SF_OK) status = number_at(&end, s, last, error);
        if (status != SF_OK || !sf_samples_to_ns(first, s->rate_hz, &span.start_ns) ||
            !sf_samples_to_ns(end + 1, s->rate_hz, &span.stop_ns) || span.start_ns >= span.stop_ns ||
            (s->count > 0 && span.start_ns < s->spans[s->count - 1].stop_ns))
            break; /* numbers that run back tell nothing */
        if (sf_reserve(&s->spans, &s->capacity, s->count + 1, sizeof *s->spans) != 0)
            return sf_fail_memory(error);
        s->spans[s->count++] = span;
    }
    return status;
}

/* Voltages recorded beside the spikes have a number for each sample. */
static int read_recorded(sf_recording *recording, const json_t *structure, const char *path,
                         const char *stream, double rate_hz, sf_error *error)
{
    json_t *entry;
    size_t i;
    int status = SF_OK;
    json_array_foreach(json_object_get(structure, "continuous"), i, entry)
    {
        char folder[SF_FOLDER_PATH], numbers[SF_FOLDER_PATH];
        sampled s = {.rate_hz = rate_hz, .numbers = {.file = -1}};
        if (status != SF_OK || recording->declared ||
            strcmp(text_of(entry, "stream_name", stream), stream) != 0 ||
            json_number_value(json_object_get(entry, "sample_rate")) != rate_hz ||
            !folder_of(folder, path, "continuous", entry) ||
            !sf_folder_has(numbers, folder, file_of(folder, "sample_numbers.npy", "timestamps.npy")))
            continue;
        status = sf_npy_open(&s.numbers, numbers, 0, 0, error);
        if (status == SF_OK) status = add_spans(&s, error);
        if (status == SF_OK && s.count > 0) {
            recording->recorded = (sf_span){s.spans[0].start_ns, s.spans[s.count - 1].stop_ns};
            recording->declared = true;
        }
        if (status == SF_OK && s.count > 1) {
            recording->observed = s.spans;
            recording->observed_count = s.count;
            s.spans = NULL;
        }
        sf_free(s.spans);
        sf_npy_close(&s.numbers);
    }
    return status;
}

/* ---- the whole ---- */

static int read_spikes(sf_recording *recording, const json_t *structure, const char *path,
                       const sf_reading *how, sf_error *error)
{
    spikes all = {.list = json_object_get(structure, "spikes"), .path = path, .stream = how->stream};
    uint32_t *units = NULL;
    json_t *entry;
    size_t i, keys = 0;
    all.several = sf_alloc(json_array_size(all.list), sizeof *all.several);
    all.silent = sf_alloc(json_array_size(all.list), sizeof *all.silent);
    int status = all.several != NULL && all.silent != NULL ? SF_OK : sf_fail_memory(error);
    json_array_foreach(all.list, i, entry)
    {
        if (status == SF_OK && strcmp(stream_of(entry), how->stream) == 0)
            status = add_entry(&all, i, entry, error);
    }
    if (status == SF_OK)
        status =
            sf_reader_check_rate(&all.rate_hz, how->rate_hz, path, "sample_rate in structure.oebin", error);
    if (status == SF_OK) status = add_silent(&all, &keys, error);
    if (status == SF_OK)
        status = sf_reader_number_units(recording, &units, all.keys, keys, describe, &all, error);
    const sf_spikes_in_samples taken = {
        .samples = all.samples, .units = units, .count = all.count, .rate_hz = all.rate_hz};
    if (status == SF_OK) status = sf_samples_take(recording, &taken, path, error);
    if (status == SF_OK) status = read_events(recording, structure, path, how->stream, all.rate_hz, error);
    if (status == SF_OK) status = read_recorded(recording, structure, path, how->stream, all.rate_hz, error);
    if (status == SF_OK) status = sf_reader_metadata_real(recording, "sampling_rate", all.rate_hz, error);
    sf_free(all.several);
    sf_free(all.silent);
    sf_free(all.samples);
    sf_free(all.keys);
    sf_free(units);
    return status;
}

static int read_folder(sf_recording *recording, const char *path, const sf_reading *how, sf_error *error)
{
    json_t *structure;
    if (how->stream == NULL)
        return sf_fail(
            error, SF_DATA, path,
            "no spike times: structure.oebin lists no spikes, so this recording of Open Ephys holds voltages "
            "alone; put a Spike Detector before the Record Node, or sort and open what the sorter writes");
    int status = open_structure(&structure, path, error);
    if (status == SF_OK)
        status = sf_reader_set_format(recording, error, "Open Ephys %.32s",
                                      text_of(structure, "GUI version", "binary"));
    if (status == SF_OK) status = read_spikes(recording, structure, path, how, error);
    json_decref(structure);
    return status;
}

const sf_folder_reader sf_folder_open_ephys = {
    .recognises = recognises, .list = list_streams, .read = read_folder};
