/* SPDX-License-Identifier: Apache-2.0 */
/* NWB 2 without a Units table, as recorded by the Open Ephys GUI: each SpikeEventSeries of /acquisition holds
 * what one electrode, stereotrode or tetrode detected, with `timestamps` in seconds. TTL lines and messages
 * (annotations) become markers. */
#include "replay/nwb_parts.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_events(hid_t group, const char *name)
{
    hid_t series = sf_hdf_open(group, name);
    bool found = series >= 0 && sf_hdf_attribute_begins(series, "neurodata_type", "SpikeEventSeries") &&
                 sf_hdf_is_dataset(series, "timestamps");
    sf_hdf_close(series);
    return found;
}

static int visit_any(void *context, hid_t group, const char *name)
{
    (void)context;
    return is_events(group, name);
}

typedef struct processed {
    hid_t file;
    bool found;
} processed;

static int visit_table(void *context, const char *path)
{
    processed *all = context;
    char times[700];
    snprintf(times, sizeof times, "%s/spike_times", path);
    all->found = sf_hdf_is_dataset(all->file, times);
    return all->found;
}

static bool recognises(hid_t file)
{
    processed tables = {.file = file};
    hid_t acquisition = sf_hdf_open(file, "/acquisition");
    bool events = sf_nwb_is_2(file) && acquisition >= 0 && H5Iget_type(acquisition) == H5I_GROUP &&
                  sf_hdf_each_member(acquisition, visit_any, NULL) != 0 &&
                  !sf_hdf_is_dataset(file, "/units/spike_times");
    sf_hdf_close(acquisition);
    if (events) sf_nwb_each_processed(file, visit_table, &tables);
    return events && !tables.found;
}

/* ---- units and spikes ---- */

typedef struct trains {
    sf_recording *recording;
    const sf_hdf_input *input;
    double *seconds;
    size_t *ends, count, spikes, capacity, ends_capacity;
    sf_nwb_electrodes places;
    size_t markers_capacity;
    int status;
    sf_error *error;
} trains;

/* The electrodes of a series are rows of the table; without them nothing is known about it. */
static int add_unit(trains *to, hid_t series, const char *name)
{
    sf_unit unit = {.name = name, .x_um = NAN, .y_um = NAN, .kind = SF_UNIT_MULTI_UNIT, .electrode = -1};
    sf_nwb_electrodes own = to->places;
    void *rows = NULL;
    size_t count = 0;
    int status = SF_OK;
    if (to->places.x != NULL && sf_hdf_is_dataset(series, "electrodes"))
        status = sf_hdf_read(series, "electrodes", to->input->path, H5T_NATIVE_INT64, sizeof(int64_t), &rows,
                             &count, to->error);
    own.rows = rows;
    for (size_t i = 0; status == SF_OK && i < count; i++)
        if (own.rows[i] < 0 || (uint64_t)own.rows[i] >= own.count)
            status =
                sf_fail(to->error, SF_DATA, to->input->path, "damaged: %s is at electrode row %lld of %zu",
                        name, (long long)own.rows[i], own.count);
    own.ends = &count;
    if (status == SF_OK && rows != NULL) sf_nwb_place_unit(&unit, &own, 0);
    sf_free(rows);
    return status == SF_OK ? sf_units_add(&to->recording->units, &unit, to->error) : status;
}

static int add_train(trains *to, hid_t series, const char *name)
{
    void *values = NULL;
    size_t count = 0;
    const char *path = to->input->path;
    int status = sf_hdf_read(series, "timestamps", path, H5T_NATIVE_DOUBLE, sizeof *to->seconds, &values,
                             &count, to->error);
    if (status == SF_OK && !sf_hdf_fits(series, (to->spikes + count) * sizeof *to->seconds))
        status = sf_fail(to->error, SF_DATA, path,
                         "damaged: up to '%s' there are %zu spikes, more than the file can hold", name,
                         to->spikes + count);
    if (status == SF_OK &&
        (sf_reserve(&to->seconds, &to->capacity, to->spikes + count, sizeof *to->seconds) != 0 ||
         sf_reserve(&to->ends, &to->ends_capacity, to->count + 1, sizeof *to->ends) != 0))
        status = sf_fail_memory(to->error);
    if (status == SF_OK) {
        if (count > 0) memcpy(to->seconds + to->spikes, values, count * sizeof *to->seconds);
        to->spikes += count;
        to->ends[to->count++] = to->spikes;
    }
    sf_free(values);
    return status;
}

/* ---- markers ---- */

/* A line and its state: 3 is line 2 going high, -3 the same going low. */
static int add_ttl(trains *to, double seconds, int64_t state)
{
    sf_recording *recording = to->recording;
    if (!sf_seconds_fit(seconds) || state == 0 || state > UINT16_MAX || state < -UINT16_MAX)
        return sf_fail(to->error, SF_DATA, to->input->path, "damaged: a TTL edge %lld at %g s",
                       (long long)state, seconds);
    if (sf_reserve(&recording->markers, &to->markers_capacity, recording->marker_count + 1,
                   sizeof *recording->markers) != 0)
        return sf_fail_memory(to->error);
    recording->markers[recording->marker_count++] =
        (sf_marker){.time_ns = sf_seconds_to_ns(seconds),
                    .kind = SF_MARKER_TTL,
                    .state = state > 0,
                    .line = (uint16_t)((state > 0 ? state : -state) - 1)};
    return SF_OK;
}

static int add_markers(trains *to, hid_t series)
{
    void *times = NULL, *states = NULL;
    char **texts = NULL;
    size_t count = 0, others = 0;
    const char *path = to->input->path;
    bool messages = sf_hdf_class(series, "data") == H5T_STRING;
    int status =
        sf_hdf_read(series, "timestamps", path, H5T_NATIVE_DOUBLE, sizeof(double), &times, &count, to->error);
    if (status == SF_OK)
        status = messages ? sf_hdf_read_strings(series, "data", path, &texts, &others, to->error)
                          : sf_hdf_read(series, "data", path, H5T_NATIVE_INT64, sizeof(int64_t), &states,
                                        &others, to->error);
    if (status == SF_OK && others != count)
        status = sf_fail(to->error, SF_DATA, path, "damaged: there are %zu events and %zu times of them",
                         others, count);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        double seconds = ((double *)times)[i];
        if (!messages)
            status = add_ttl(to, seconds, ((int64_t *)states)[i]);
        else if (!sf_seconds_fit(seconds))
            status = sf_fail(to->error, SF_DATA, path, "damaged: an annotation is at %g s", seconds);
        else
            status = sf_reader_mark(to->recording, &to->markers_capacity, sf_seconds_to_ns(seconds), texts[i],
                                    "", to->error);
    }
    sf_hdf_free_strings(texts, others);
    sf_free(states);
    sf_free(times);
    return status;
}

static bool is_markers(hid_t series, const char *name)
{
    size_t length = strlen(name);
    bool ttl = length > 4 && strcmp(name + length - 4, ".TTL") == 0;
    return sf_hdf_is_dataset(series, "timestamps") && sf_hdf_is_dataset(series, "data") &&
           (ttl || (sf_hdf_attribute_begins(series, "neurodata_type", "AnnotationSeries") &&
                    sf_hdf_class(series, "data") == H5T_STRING));
}

/* ---- the whole ---- */

static int visit_series(void *context, hid_t group, const char *name)
{
    trains *to = context;
    hid_t series = sf_hdf_open(group, name);
    if (is_events(group, name)) {
        to->status = add_unit(to, series, name);
        if (to->status == SF_OK) to->status = add_train(to, series, name);
    } else if (series >= 0 && H5Iget_type(series) == H5I_GROUP && is_markers(series, name)) {
        to->status = add_markers(to, series);
    }
    sf_hdf_close(series);
    return to->status != SF_OK;
}

static int read_recording(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    trains all = {.recording = recording, .input = input, .error = error};
    sf_text version = {0};
    sf_hdf_attribute_text(input->file, "nwb_version", &version);
    int status = version.failed ? sf_fail_memory(error)
                                : sf_reader_set_format(recording, error, "NWB %s spike events",
                                                       version.data != NULL ? version.data : "2");
    sf_text_free(&version);
    if (status == SF_OK) status = sf_nwb_open_electrodes(&all.places, input, error);
    if (status == SF_OK) status = sf_nwb_tell_positions(recording, &all.places, error);
    if (status == SF_OK) {
        hid_t acquisition = sf_hdf_open(input->file, "/acquisition");
        sf_hdf_each_member(acquisition, visit_series, &all);
        sf_hdf_close(acquisition);
        status = all.status;
    }
    const sf_trains_in_seconds taken = {.seconds = all.seconds,
                                        .ends = all.ends,
                                        .count = all.count,
                                        .negative_times = true,
                                        .units = &recording->units,
                                        .path = input->path};
    if (status == SF_OK) status = sf_trains_take(recording, &taken, error);
    if (status == SF_OK) status = sf_nwb_read_metadata(recording, input->file, error);
    sf_nwb_free_electrodes(&all.places);
    sf_free(all.seconds);
    sf_free(all.ends);
    return status;
}

const sf_reader sf_reader_nwb_events = {.recognises = recognises, .read = read_recording};
