/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions, each a few lines over what the folders below offer. */
#include "core/error.h"
#include "core/memory.h"
#include "replay/recording_file.h"

int sf_recording_load(sf_recording **out, const char *path, sf_error *error)
{
    *out = NULL;
    sf_recording *recording = sf_alloc(1, sizeof *recording);
    if (recording == NULL)
        return sf_fail_memory(error);
    int status = sf_recording_read(recording, path, NULL, NULL, error);
    if (status == SF_OK)
        *out = recording;
    else
        sf_free(recording);
    return status;
}

void sf_recording_unload(sf_recording *recording)
{
    sf_recording_free(recording);
    sf_free(recording);
}

uint32_t sf_recording_unit_count(const sf_recording *recording)
{
    return (uint32_t)recording->units.count;
}

const char *sf_recording_unit_name(const sf_recording *recording, uint32_t unit)
{
    return unit < recording->units.count ? recording->units.items[unit].name : NULL;
}

const sf_spike *sf_recording_spikes(const sf_recording *recording, size_t *count)
{
    *count = recording->spike_count;
    return recording->spikes;
}

int64_t sf_recording_length_ns(const sf_recording *recording)
{
    return sf_recording_duration_ns(recording);
}
