/* SPDX-License-Identifier: Apache-2.0 */
/* Multi Channel Systems CMOS-MEA (.cmcr, .cmtr): tables SpikeData of a sensor, a time in microseconds and
 * what was cut out around it. Which table is where is the program's choice, so all are looked for. Sensors
 * have no positions in the file. */
#include "replay/reader.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/units.h"

#include <stdio.h>
#include <string.h>

#define MICROSECONDS 1e6 /* in a second, as a sampling rate */
#define DEEPEST 4

static bool recognises(hid_t file)
{
    return sf_hdf_attribute_begins(file, "ID.Type", "McsData");
}

typedef struct listing {
    sf_streams *streams;
    char path[600];
    int depth, status;
    sf_error *error;
} listing;

static int visit(void *context, hid_t group, const char *name)
{
    listing *list = context;
    size_t before = strlen(list->path), size[2];
    if (before + strlen(name) + 2 > sizeof list->path) return 0;
    snprintf(list->path + before, sizeof list->path - before, "%s%s", before > 0 ? "/" : "", name);
    hid_t member = sf_hdf_open(group, name);
    if (member >= 0 && H5Iget_type(member) == H5I_GROUP && list->depth < DEEPEST) {
        list->depth++;
        sf_hdf_each_member(member, visit, list);
        list->depth--;
    } else if (strcmp(name, "SpikeData") == 0 && sf_hdf_has_field(group, name, "SensorID") &&
               sf_hdf_has_field(group, name, "Timestamp")) {
        list->status = sf_streams_add(list->streams, list->path,
                                      sf_hdf_shape(group, name, size) == 1 ? size[0] : 0, list->error);
    }
    sf_hdf_close(member);
    list->path[before] = '\0';
    return list->status != SF_OK;
}

static int list_tables(sf_streams *streams, const sf_hdf_input *input, sf_error *error)
{
    listing list = {.streams = streams, .error = error};
    streams->what = "spike table";
    sf_hdf_each_member(input->file, visit, &list);
    return list.status;
}

static int describe(void *context, int64_t id, sf_unit *unit, char name[64])
{
    (void)context, (void)name;
    unit->kind = SF_UNIT_MULTI_UNIT;
    unit->electrode = id >= 0 && id <= INT32_MAX ? (int32_t)id : -1;
    return SF_OK;
}

static int read_recording(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    void *times = NULL, *sensors = NULL;
    uint32_t *units = NULL;
    size_t count = 0;
    if (input->stream == NULL)
        return sf_fail(
            error, SF_DATA, input->path,
            "no spike times: this is a Multi Channel Systems CMOS-MEA file without a table SpikeData; detect "
            "spikes with CMOS-MEA-Tools and open the .cmtr file that it writes");
    int status = sf_reader_set_format(recording, error, "MCS CMOS-MEA");
    if (status == SF_OK)
        status = sf_hdf_read_field(input->file, input->stream, "Timestamp", input->path, H5T_NATIVE_INT64,
                                   sizeof(int64_t), &times, &count, error);
    if (status == SF_OK)
        status = sf_hdf_read_field(input->file, input->stream, "SensorID", input->path, H5T_NATIVE_INT64,
                                   sizeof(int64_t), &sensors, &count, error);
    if (status == SF_OK)
        status = sf_reader_number_units(recording, &units, sensors, count, describe, NULL, error);
    const sf_spikes_in_samples spikes = {
        .samples = times, .units = units, .count = count, .rate_hz = MICROSECONDS, .finer = true};
    if (status == SF_OK) status = sf_samples_take(recording, &spikes, input->path, error);
    sf_free(times);
    sf_free(sensors);
    sf_free(units);
    return status;
}

const sf_reader sf_reader_mcs_cmos = {.recognises = recognises, .list = list_tables, .read = read_recording};
