/* SPDX-License-Identifier: Apache-2.0 */
/* Kwik, of klusta and of Open Ephys: a group of channels is a shank, whose spikes have a sample, 256ths of
 * one, and a cluster; /recordings have the sampling rate. Samples count from the beginning of the experiment.
 */
#include "replay/reader.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 256 /* of a sample */

static bool recognises(hid_t file)
{
    return H5Aexists(file, "kwik_version") > 0;
}

/* ---- shanks ---- */

typedef struct listing {
    sf_streams *streams;
    int status;
    sf_error *error;
} listing;

static int visit_shank(void *context, hid_t group, const char *name)
{
    listing *list = context;
    size_t size[2];
    hid_t shank = sf_hdf_open(group, name);
    if (shank >= 0 && H5Iget_type(shank) == H5I_GROUP && sf_hdf_is_dataset(shank, "spikes/time_samples"))
        list->status =
            sf_streams_add(list->streams, name,
                           sf_hdf_shape(shank, "spikes/time_samples", size) >= 1 ? size[0] : 0, list->error);
    sf_hdf_close(shank);
    return list->status != SF_OK;
}

static int list_shanks(sf_streams *streams, const sf_hdf_input *input, sf_error *error)
{
    listing list = {.streams = streams, .error = error};
    hid_t groups = sf_hdf_open(input->file, "/channel_groups");
    streams->what = "channel group";
    if (groups >= 0 && H5Iget_type(groups) == H5I_GROUP) sf_hdf_each_member(groups, visit_shank, &list);
    sf_hdf_close(groups);
    return list.status;
}

/* ---- sampling rate: the first recording's ---- */

static int visit_recording(void *context, hid_t group, const char *name)
{
    hid_t recording = sf_hdf_open(group, name);
    bool found = recording >= 0 && sf_hdf_attribute_number(recording, "sample_rate", context);
    sf_hdf_close(recording);
    return found;
}

static void find_rate(double *rate_hz, hid_t file)
{
    hid_t recordings = sf_hdf_open(file, "/recordings");
    if (recordings >= 0 && H5Iget_type(recordings) == H5I_GROUP)
        sf_hdf_each_member(recordings, visit_recording, rate_hz);
    sf_hdf_close(recordings);
}

/* ---- clusters ---- */

typedef struct clusters {
    hid_t shank;
    const char *name; /* name of the clustering: main (manual), else original */
} clusters;

static int describe(void *context, int64_t id, sf_unit *unit, char name[64])
{
    static const sf_unit_kind kinds[] = {SF_UNIT_NOISE, SF_UNIT_MULTI_UNIT, SF_UNIT_SORTED, SF_UNIT_UNKNOWN};
    (void)name;
    const clusters *all = context;
    char path[64];
    double group;
    snprintf(path, sizeof path, "clusters/%s/%" PRId64, all->name, id);
    hid_t cluster = sf_hdf_open(all->shank, path);
    if (cluster >= 0 && sf_hdf_attribute_number(cluster, "cluster_group", &group) && group >= 0 && group <= 3)
        unit->kind = kinds[(int)group];
    sf_hdf_close(cluster);
    return SF_OK;
}

/* Combines samples and their fractions to 256ths of samples; false if the number is too large for any
 * recording. */
static int read_times(int64_t **times, size_t *count, hid_t shank, const char *path, sf_error *error)
{
    void *samples = NULL, *parts = NULL;
    size_t part_count;
    int status = sf_hdf_read(shank, "spikes/time_samples", path, H5T_NATIVE_INT64, sizeof **times, &samples,
                             count, error);
    part_count = *count;
    if (status == SF_OK && sf_hdf_is_dataset(shank, "spikes/time_fractional"))
        status = sf_hdf_read(shank, "spikes/time_fractional", path, H5T_NATIVE_UINT8, 1, &parts, &part_count,
                             error);
    if (status == SF_OK && part_count != *count)
        status =
            sf_fail(error, SF_DATA, path, "damaged: time_samples has %zu rows and time_fractional has %zu",
                    *count, part_count);
    *times = samples;
    for (size_t i = 0; status == SF_OK && i < *count; i++) {
        int64_t part = parts != NULL ? ((uint8_t *)parts)[i] : 0;
        if ((*times)[i] > INT64_MAX / PARTS - 1 || (*times)[i] < -(INT64_MAX / PARTS))
            status =
                sf_fail(error, SF_DATA, path, "damaged: spike %zu is at sample %" PRId64, i, (*times)[i]);
        else
            (*times)[i] = (*times)[i] * PARTS + part;
    }
    sf_free(parts);
    return status;
}

static int read_shank(sf_recording *recording, hid_t shank, double rate_hz, const char *path, sf_error *error)
{
    int64_t *times = NULL;
    void *ids = NULL;
    uint32_t *units = NULL;
    size_t count = 0, id_count = 0;
    clusters all = {.shank = shank,
                    .name = sf_hdf_is_dataset(shank, "spikes/clusters/main") ? "main" : "original"};
    char clustering[64];
    snprintf(clustering, sizeof clustering, "spikes/clusters/%s", all.name);
    int status = read_times(&times, &count, shank, path, error);
    if (status == SF_OK)
        status =
            sf_hdf_read(shank, clustering, path, H5T_NATIVE_INT64, sizeof(int64_t), &ids, &id_count, error);
    if (status == SF_OK && id_count != count)
        status = sf_fail(error, SF_DATA, path, "damaged: time_samples has %zu rows and %s has %zu", count,
                         clustering, id_count);
    if (status == SF_OK)
        status = sf_reader_number_units(recording, &units, ids, count, describe, &all, error);
    const sf_spikes_in_samples spikes = {
        .samples = times, .units = units, .count = count, .rate_hz = rate_hz * PARTS, .finer = true};
    if (status == SF_OK) status = sf_samples_take(recording, &spikes, path, error);
    sf_free(times);
    sf_free(ids);
    sf_free(units);
    return status;
}

static int read_recording(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    char path[600];
    double rate_hz = 0;
    if (input->stream == NULL)
        return sf_fail(
            error, SF_DATA, input->path,
            "no spike times: this is a Kwik file without /channel_groups/*/spikes/time_samples; voltages "
            "are beside it in .kwd files: sort them and open the .kwik file of the result");
    find_rate(&rate_hz, input->file);
    snprintf(path, sizeof path, "/channel_groups/%s", input->stream);
    int status = sf_reader_set_format(recording, error, "Kwik");
    if (status == SF_OK)
        status = sf_reader_check_rate(&rate_hz, input->rate_hz, input->path,
                                      "the attribute sample_rate in /recordings", error);
    hid_t shank = status == SF_OK ? sf_hdf_open(input->file, path) : H5I_INVALID_HID;
    if (status == SF_OK) status = read_shank(recording, shank, rate_hz, input->path, error);
    if (status == SF_OK) status = sf_reader_metadata_real(recording, "sampling_rate", rate_hz, error);
    sf_hdf_close(shank);
    return status;
}

const sf_reader sf_reader_kwik = {
    .counts_samples = true, .recognises = recognises, .list = list_shanks, .read = read_recording};
