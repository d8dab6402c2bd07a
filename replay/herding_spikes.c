/* SPDX-License-Identifier: Apache-2.0 */
/* HerdingSpikes 2: /times in frames, /cluster_id of each spike, /centres of the clusters, /Sampling. Spikes
 * without a cluster have a negative number and are noise. Hilgen et al. 2017, Cell Reports 18:2521. */
#include "replay/reader.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/units.h"

#include <stdio.h>

static bool recognises(hid_t file)
{
    return sf_hdf_is_dataset(file, "/times") && sf_hdf_is_dataset(file, "/cluster_id") &&
           sf_hdf_is_dataset(file, "/centres");
}

typedef struct clusters {
    const double *centres; /* x and y of each */
    size_t count;
} clusters;

static int describe(void *context, int64_t id, sf_unit *unit, char name[64])
{
    (void)name;
    const clusters *all = context;
    unit->kind = id >= 0 ? SF_UNIT_SORTED : SF_UNIT_NOISE;
    if (id >= 0 && (uint64_t)id < all->count) {
        unit->x_um = all->centres[2 * id];
        unit->y_um = all->centres[2 * id + 1];
    }
    return SF_OK;
}

static int read_centres(clusters *all, void **values, const sf_hdf_input *input, sf_error *error)
{
    size_t size[2], length;
    *values = NULL;
    if (sf_hdf_shape(input->file, "/centres", size) != 2 || size[1] != 2)
        return sf_fail(error, SF_DATA, input->path, "damaged: /centres are not an x and a y of each cluster");
    int status = sf_hdf_read(input->file, "/centres", input->path, H5T_NATIVE_DOUBLE, sizeof(double), values,
                             &length, error);
    *all = (clusters){.centres = *values, .count = length / 2};
    return status;
}

static int read_recording(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    void *frames = NULL, *ids = NULL, *centres = NULL;
    uint32_t *units = NULL;
    size_t count = 0, id_count = 0;
    clusters all = {0};
    double rate_hz = 0;
    sf_hdf_number(input->file, "/Sampling", &rate_hz);
    int status = sf_reader_set_format(recording, error, "HerdingSpikes 2");
    if (status == SF_OK)
        status = sf_reader_check_rate(&rate_hz, input->rate_hz, input->path, "/Sampling", error);
    if (status == SF_OK)
        status = sf_hdf_read(input->file, "/times", input->path, H5T_NATIVE_INT64, sizeof(int64_t), &frames,
                             &count, error);
    if (status == SF_OK)
        status = sf_hdf_read(input->file, "/cluster_id", input->path, H5T_NATIVE_INT64, sizeof(int64_t), &ids,
                             &id_count, error);
    if (status == SF_OK && count != id_count)
        status = sf_fail(error, SF_DATA, input->path, "damaged: /times has %zu rows and /cluster_id has %zu",
                         count, id_count);
    if (status == SF_OK) status = read_centres(&all, &centres, input, error);
    if (status == SF_OK)
        status = sf_reader_number_units(recording, &units, ids, count, describe, &all, error);
    const sf_spikes_in_samples spikes = {
        .samples = frames, .units = units, .count = count, .rate_hz = rate_hz};
    if (status == SF_OK) status = sf_samples_take(recording, &spikes, input->path, error);
    if (status == SF_OK) status = sf_reader_metadata_real(recording, "sampling_rate", rate_hz, error);
    sf_free(frames);
    sf_free(ids);
    sf_free(centres);
    sf_free(units);
    return status;
}

const sf_reader sf_reader_herding_spikes = {
    .counts_samples = true, .recognises = recognises, .read = read_recording};
