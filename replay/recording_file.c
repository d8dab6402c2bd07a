/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/recording_file.h"

#include "analysis/selection.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/ranks.h"
#include "io/apart.h"
#include "io/hdf.h"
#include "io/hdf_about.h"
#include "replay/csv.h"
#include "replay/file_pieces.h"
#include "replay/folder.h"
#include "replay/mat.h"
#include "replay/positions.h"
#include "replay/reader.h"
#include "replay/recording_parcel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* By the reading program, which a damaged file may break. */
static int read_apart(sf_recording *recording, const char *path, const sf_reading *how,
                      const sf_progress *progress, sf_error *error)
{
    sf_parcel parcel;
    char kind[96];
    uint32_t parts = sf_ranks_count() > 1 && !sf_streams_may_be_session(how->stream)
                         ? sf_ranks_count()
                         : 0; /* each reads its part, where the layout allows it */
    snprintf(kind, sizeof kind, "recording:%" PRIu32 "/%" PRIu32 "@%.17g", parts > 0 ? sf_ranks_rank() : 0,
             parts, how->rate_hz);
    int status = sf_apart_read(&parcel, kind, path, how->stream, progress, error);
    return status == SF_OK ? sf_recording_take(recording, &parcel, path, true, error) : status;
}

/* What kind of a thing that can be read it is. */
typedef enum path_kind { TEXT, HDF5, MATLAB, FOLDER } path_kind;

static int check_path(const char *path, path_kind *kind, sf_error *error)
{
    struct stat about;
    *kind = TEXT;
    if (stat(path, &about) != 0 || access(path, R_OK) != 0)
        return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
    if (S_ISDIR(about.st_mode)) {
        *kind = FOLDER;
        return SF_OK;
    }
    if (!S_ISREG(about.st_mode) && !S_ISFIFO(about.st_mode))
        return sf_fail(error, SF_NO_INPUT, path, "this is a device, expected a recording file");
    if (S_ISREG(about.st_mode) && sf_hdf_has_signature(path)) /* a pipe can only be text */
        *kind = HDF5;
    else if (S_ISREG(about.st_mode) && sf_mat_has_signature(path))
        *kind = MATLAB;
    else if (S_ISREG(about.st_mode) && sf_folder_recognises(path))
        *kind = FOLDER;
    else if (S_ISREG(about.st_mode))
        return sf_folder_refuse_part(path, error);
    return SF_OK;
}

int sf_recording_read(sf_recording *recording, const char *path, const sf_reading *how,
                      const sf_progress *progress, sf_error *error)
{
    static const sf_reading as_it_says;
    path_kind kind;
    *recording = (sf_recording){0};
    how = how != NULL ? how : &as_it_says;
    int status = check_path(path, &kind, error);
    if (status != SF_OK)
        return status;
    if (kind != TEXT && how->columns != NULL)
        return sf_fail(error, SF_USAGE, "columns", "%s is no text: its layout says what is where", path);
    if (kind == FOLDER)
        return sf_folder_read(recording, path, how, error);
    if (kind == HDF5 || kind == MATLAB)
        return read_apart(recording, path, how, progress, error);
    return sf_csv_read(recording, path, how, progress, error);
}

int sf_recording_list(sf_streams *streams, const char *path, const sf_reading *how, sf_error *error)
{
    static const sf_reading as_it_says;
    path_kind kind;
    sf_parcel parcel;
    char asked[64];
    *streams = (sf_streams){0};
    how = how != NULL ? how : &as_it_says;
    int status = check_path(path, &kind, error);
    if (status != SF_OK)
        return status;
    if (kind == FOLDER)
        return sf_folder_list(streams, path, how, error);
    if (kind == TEXT)
        return sf_csv_list(streams, path, how, error);
    snprintf(asked, sizeof asked, "streams:0/0@%.17g", how->rate_hz);
    status = sf_apart_read(&parcel, asked, path, NULL, NULL, error);
    return status == SF_OK ? sf_streams_take(streams, &parcel, path, error) : status;
}

static int read_pieces(sf_recording *recording, const char *path, const sf_selection *selection,
                       const sf_progress *progress, sf_error *error)
{
    path_kind kind;
    *recording = (sf_recording){0};
    int status = check_path(path, &kind, error);
    if (status == SF_OK && kind != HDF5)
        status = sf_fail(error, SF_USAGE, path,
                         "text, folders, archives, MATLAB files and those of other systems are read as a "
                         "whole, not in pieces: "
                         "`synfire convert` writes it as HDF5 that is");
    return status == SF_OK ? sf_file_pieces_open(recording, path, selection, progress, error) : status;
}

int sf_recording_spare(const char *path, sf_error *error)
{
    struct stat found;
    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode) || found.st_size == 0)
        return SF_OK; /* creating it will tell what is wrong, if anything is */
    bool spared;
    if (sf_hdf_has_signature(path)) {
        sf_hdf_about about;
        bool known = sf_hdf_about_read(&about, path);
        spared = !known || (!about.truth && strcmp(about.kind, "graph") != 0 &&
                            strcmp(about.kind, "occurrences") != 0 && strcmp(about.kind, "state") != 0);
    } else if (sf_mat_has_signature(path) || sf_folder_recognises(path)) {
        spared = true;
    } else {
        sf_recording recording;
        spared = sf_csv_read(&recording, path, NULL, NULL, NULL) == SF_OK;
        if (spared)
            sf_recording_clear(&recording);
    }
    if (!spared)
        return SF_OK;
    return sf_fail(
        error, SF_CANNOT_CREATE, path,
        "is there and is no result or simulation of synfire's but a recording, which is not replaced: "
        "remove it or choose another name");
}

int sf_recording_open(sf_recording **out, const char *path, const sf_selection *selection,
                      const sf_progress *progress, sf_error *error)
{
    *out = NULL;
    sf_selection own;
    int status = sf_selection_read(&own, selection, error);
    if (status != SF_OK)
        return status;
    if (own.kind == NULL)
        own.kind = SF_KINDS_ANALYSED;
    sf_recording *recording = sf_alloc(1, sizeof *recording);
    if (recording == NULL)
        return sf_fail_memory(error);
    const sf_reading how = {.stream = own.stream, .rate_hz = own.rate_hz, .columns = own.columns};
    if (!(how.rate_hz == 0 || (how.rate_hz >= SF_LEAST_RATE_HZ && how.rate_hz <= SF_MOST_RATE_HZ)))
        status = sf_fail(error, SF_USAGE, "rate_hz", "found %g, expected %g to %g samples a second",
                         how.rate_hz, SF_LEAST_RATE_HZ, SF_MOST_RATE_HZ);
    if (status == SF_OK && own.memory > 0)
        status = read_pieces(recording, path, &own, progress, error);
    else if (status == SF_OK)
        status = sf_recording_read(recording, path, &how, progress, error);
    if (status == SF_OK && own.positions != NULL)
        status = sf_positions_take(recording, own.positions, error);
    if (status == SF_OK && own.memory == 0)
        status = sf_selection_apply(recording, &own, error);
    if (status == SF_OK)
        *out = recording;
    else
        sf_recording_free(recording);
    return status;
}
