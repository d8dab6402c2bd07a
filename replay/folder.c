/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/folder.h"

#include "core/error.h"
#include "core/memory.h"
#include "io/npy.h"
#include "replay/reader.h"

#include <stdio.h>
#include <unistd.h>

static const sf_folder_reader *const readers[] = {&sf_folder_phy, &sf_folder_spikeinterface,
                                                  &sf_folder_open_ephys};

bool sf_folder_has(char path[SF_FOLDER_PATH], const char *folder, const char *name)
{
    return snprintf(path, SF_FOLDER_PATH, "%s/%s", folder, name) < SF_FOLDER_PATH && access(path, F_OK) == 0;
}

int sf_folder_integers(int64_t **values, const char *folder, const char *name, size_t count, sf_error *error)
{
    char path[SF_FOLDER_PATH];
    size_t found;
    sf_folder_has(path, folder, name);
    int status = sf_npy_load_integers(path, values, &found, error);
    if (status != SF_OK || found == count)
        return status == SF_NO_INPUT ? sf_fail(error, SF_DATA, folder, "damaged: there is no file %s", name)
                                     : status;
    sf_free(*values);
    *values = NULL;
    return sf_fail(error, SF_DATA, path, "damaged: it holds %zu numbers and there are %zu spikes", found,
                   count);
}

/* Two that people may point at, and that are something else. */
static int refuse(const char *path, sf_error *error)
{
    char inside[SF_FOLDER_PATH];
    if (sf_folder_has(inside, path, ".zgroup") || sf_folder_has(inside, path, "zarr.json"))
        return sf_fail(error, SF_DATA, path,
                       "this is a zarr folder, which is not read; in Python, sorting.save(folder=..., "
                       "format='numpy_folder') writes one that is");
    return sf_fail(
        error, SF_NO_INPUT, path,
        "this is a directory, expected a recording file or a folder of Phy, Kilosort, SpikeInterface or Open "
        "Ephys (looked for spike_times.npy, numpysorting_info.json, sorting_cached.npz, structure.oebin)");
}

static int read_chosen(sf_recording *recording, const sf_folder_reader *reader, const char *path,
                       const sf_reading *how, sf_error *error)
{
    sf_streams streams = {0};
    sf_reading own = *how;
    int status = reader->list != NULL ? reader->list(&streams, path, error) : SF_OK;
    if (status == SF_OK && reader->list != NULL)
        status = sf_streams_choose(&streams, how->stream, path, &own.stream, error);
    if (status == SF_OK)
        status = reader->read(recording, path, &own, error);
    sf_streams_free(&streams);
    return status;
}

static const sf_folder_reader *find_reader(const char *path)
{
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
        if (readers[i]->recognises(path))
            return readers[i];
    return NULL;
}

int sf_folder_list(sf_streams *streams, const char *path, sf_error *error)
{
    const sf_folder_reader *reader = find_reader(path);
    if (reader == NULL)
        return refuse(path, error);
    int status = reader->list != NULL ? reader->list(streams, path, error) : SF_OK;
    if (status != SF_OK)
        sf_streams_free(streams);
    return status;
}

int sf_folder_read(sf_recording *recording, const char *path, const sf_reading *how, sf_error *error)
{
    *recording = (sf_recording){0};
    const sf_folder_reader *reader = find_reader(path);
    if (reader == NULL)
        return refuse(path, error);
    if (how->stream != NULL && reader->list == NULL)
        return sf_refuse_stream(path, how->stream, error);
    int status = (recording->path = sf_copy_string(path)) != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK)
        status = read_chosen(recording, reader, path, how, error);
    if (status == SF_OK)
        status = sf_recording_finish(recording, error);
    if (status != SF_OK)
        sf_recording_clear(recording);
    return status;
}
