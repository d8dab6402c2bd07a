/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/folder.h"

#include "core/error.h"
#include "core/memory.h"
#include "io/npy.h"
#include "replay/reader.h"
#include "replay/sessions.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const sf_folder_reader *const readers[] = {&sf_folder_phy,        &sf_folder_spikeinterface,
                                                  &sf_folder_open_ephys, &sf_folder_pynapple,
                                                  &sf_folder_blackrock,  &sf_folder_nex,
                                                  &sf_folder_plexon,     &sf_folder_axion};

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

static const sf_folder_reader *find_reader(const char *path)
{
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
        if (readers[i]->recognises(path)) return readers[i];
    return NULL;
}

bool sf_folder_recognises(const char *path)
{
    return find_reader(path) != NULL;
}

/* ---- paths above or inside a recording's folder ---- */

#define MOST_LEVELS                                                                                          \
    4 /* node, experiment and recording in a session of Open Ephys; spikes and electrodes in that */
#define MOST_LOOKED 4096
#define MOST_NAMED 2

typedef struct nearby {
    size_t looked, found;
    char names[MOST_NAMED][256];
} nearby;

static void look_below(nearby *all, const char *folder, int levels)
{
    struct dirent **list = NULL;
    int count = levels > 0 ? scandir(folder, &list, NULL, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        char inside[SF_FOLDER_PATH];
        struct stat about;
        bool is_folder = all->looked < MOST_LOOKED && list[i]->d_name[0] != '.' &&
                         sf_folder_has(inside, folder, list[i]->d_name) && stat(inside, &about) == 0 &&
                         S_ISDIR(about.st_mode);
        all->looked++;
        if (is_folder && find_reader(inside) == NULL) {
            look_below(all, inside, levels - 1);
        } else if (is_folder) {
            if (all->found < MOST_NAMED)
                snprintf(all->names[all->found], sizeof all->names[0], "%.255s", inside);
            all->found++;
        }
        free(list[i]);
    }
    free(list);
}

/* Finds the recording that contains the path, within a few levels; false if there is none. */
static bool find_above(char folder[SF_FOLDER_PATH], const char *path)
{
    if (snprintf(folder, SF_FOLDER_PATH, "%s", path) >= SF_FOLDER_PATH) return false;
    for (int level = 0; level < MOST_LEVELS; level++) {
        char *slash = strrchr(folder, '/');
        if (slash == NULL && level > 0) return false;
        if (slash != NULL)
            *slash = '\0';
        else
            snprintf(folder, SF_FOLDER_PATH, ".");
        if (find_reader(folder) != NULL) return true;
    }
    return false;
}

/* Decides by file name, so that a text of spikes beside a recording is still read as text. */
static bool may_be_part(const char *path)
{
    static const char *const endings[] = {".npy", ".npz", ".py", ".oebin", ".json"};
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path,
               *suffix = strrchr(name, '.');
    for (size_t i = 0; suffix != NULL && i < sizeof endings / sizeof endings[0]; i++)
        if (strcmp(suffix, endings[i]) == 0) return true;
    return strncmp(name, "cluster_", strlen("cluster_")) == 0; /* what Phy and Kilosort say of clusters */
}

int sf_folder_refuse_part(const char *path, sf_error *error)
{
    char folder[SF_FOLDER_PATH];
    if (!may_be_part(path) || !find_above(folder, path)) return SF_OK;
    return sf_fail(error, SF_NO_INPUT, path, "is one file of a recording that is a folder: give %s", folder);
}

/* Refuses paths that users may give by mistake. */
static int refuse(const char *path, sf_error *error)
{
    char inside[SF_FOLDER_PATH];
    nearby below = {0};
    look_below(&below, path, MOST_LEVELS);
    if (below.found == 1)
        return sf_fail(error, SF_NO_INPUT, path, "this is a directory above a recording: give %s",
                       below.names[0]);
    if (below.found > 1)
        return sf_fail(error, SF_NO_INPUT, path,
                       "this is a directory above %zu recordings: give one of them, as %s or %s", below.found,
                       below.names[0], below.names[1]);
    if (find_above(inside, path))
        return sf_fail(error, SF_NO_INPUT, path, "is a part of a recording that is a folder: give %s",
                       inside);
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
    sf_session session = SF_SESSION_ANY;
    int status = reader->list != NULL ? reader->list(&streams, path, error) : SF_OK;
    if (status == SF_OK)
        status = sf_streams_choose(&streams, how->stream, path, &own.stream, &session, error);
    if (status == SF_OK) status = reader->read(recording, path, &own, error);
    if (status == SF_OK)
        status = sf_sessions_take(recording, streams.count > 1 ? own.stream : NULL, session, error);
    sf_streams_free(&streams);
    return status;
}

typedef struct stream_source {
    const sf_folder_reader *reader;
    const char *path;
    const sf_reading *how;
} stream_source;

static int read_stream(sf_recording *recording, const char *stream, const void *context, sf_error *error)
{
    const stream_source *from = context;
    sf_reading own = *from->how;
    own.stream = stream;
    return from->reader->read(recording, from->path, &own, error);
}

int sf_folder_list(sf_streams *streams, const char *path, const sf_reading *how, sf_error *error)
{
    const stream_source from = {find_reader(path), path, how};
    if (from.reader == NULL) return refuse(path, error);
    sf_streams found = {0};
    int status = from.reader->list != NULL ? from.reader->list(&found, path, error) : SF_OK;
    if (status == SF_OK) status = sf_sessions_list_all(streams, &found, read_stream, &from, error);
    sf_streams_free(&found);
    if (status != SF_OK) sf_streams_free(streams);
    return status;
}

int sf_folder_read(sf_recording *recording, const char *path, const sf_reading *how, sf_error *error)
{
    *recording = (sf_recording){0};
    const sf_folder_reader *reader = find_reader(path);
    if (reader == NULL) return refuse(path, error);
    int status = (recording->path = sf_copy_string(path)) != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) status = read_chosen(recording, reader, path, how, error);
    if (status == SF_OK) status = sf_recording_finish(recording, error);
    if (status != SF_OK) sf_recording_clear(recording);
    return status;
}
