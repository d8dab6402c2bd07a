/* SPDX-License-Identifier: Apache-2.0 */
/* synfire-read PARENT KIND PATH [STREAM]: reads an HDF5 or MATLAB file from outside for the process PARENT
 * and leaves what it found, or why there is nothing, as a parcel (io/parcel.h) at SF_APART_PARCEL. KIND may
 * name a part of a recording's spikes. */
#include "core/error.h"
#include "io/apart.h"
#include "io/graph/hdf5_file.h"
#include "io/hdf.h"
#include "io/hdf_about.h"
#include "io/occurrence_file.h"
#include "io/state_file.h"
#include "reader/limits.h"
#include "replay/mat.h"
#include "replay/recording_parcel.h"
#include "replay/truth.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct kind {
    const char *name;
    int (*put)(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error);
    bool takes_mat; /* also reads MATLAB files that are not HDF5, which are not open then */
} kind;

static const kind kinds[] = {
    {"about", sf_hdf_about_put, false},      {"recording", sf_recording_put, true},
    {"piece", sf_recording_put_piece, true}, {"streams", sf_recording_put_streams, true},
    {"truth", sf_truth_put, false},          {"occurrences", sf_occurrence_set_put, false},
    {"graph", sf_graph_hdf5_put, false},     {"state", sf_state_put, false},
};

/* ---- reading ---- */

/* The caller's limit on file sizes also applies to the parcel. */
static int refuse_memory(const char *path, uint64_t length, sf_error *error)
{
    if (reader_file_limit() < sf_apart_memory(length))
        return sf_fail(error, SF_UNAVAILABLE, path,
                       "the limit on the size of files, %" PRIu64
                       " KiB, leaves no room for what is read of it: "
                       "raise it (ulimit -f)",
                       reader_file_limit() >> 10);
    return sf_fail(error, SF_DATA, path,
                   "damaged, or too large: reading this file of %" PRIu64 " bytes takes more than %" PRIu64
                   " MiB, expected no more of one of its length",
                   length, sf_apart_memory(length) >> 20);
}

/* "recording", or "recording:1/4@20000": of its spikes the second of four parts (0/0: all), at 20,000 samples
 * a second (0: as the file says). "piece:1/4@0": that part, or nothing. */
static const kind *find_kind(const char *asked, sf_hdf_input *input)
{
    size_t length = strcspn(asked, ":");
    if (asked[length] != '\0' && (sscanf(asked + length, ":%" SCNu32 "/%" SCNu32 "@%lf", &input->part,
                                         &input->parts, &input->rate_hz) != 3 ||
                                  (input->part > 0 && input->part >= input->parts)))
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strlen(kinds[i].name) == length && strncmp(kinds[i].name, asked, length) == 0) return &kinds[i];
    return NULL;
}

int main(int argc, char **argv)
{
    sf_hdf_input input = {.stream = argc == 5 ? argv[4] : NULL};
    const kind *asked = argc == 4 || argc == 5 ? find_kind(argv[2], &input) : NULL;
    int file = asked != NULL ? reader_parcel() : -1;
    if (file < 0) {
        fputs("synfire-read: synfire starts this program to read HDF5 files\n", stderr);
        return 64;
    }
    const char *path = argv[3];
    struct stat about;
    uint64_t length = stat(path, &about) == 0 ? (uint64_t)about.st_size : 0;
    if (!reader_stay_with(argv[1])) return 1;
    reader_keep_limits(length);
    static sf_parcel_writer parcel;
    parcel.fd = file;
    sf_error error = {0};
    input.path = path;
    input.file = H5I_INVALID_HID;
    int status = asked->takes_mat && sf_mat_has_signature(path) ? SF_OK : sf_hdf_open_file(&input, &error);
    if (status == SF_OK) status = asked->put(&parcel, &input, &error);
    if (status == SF_NO_MEMORY) status = refuse_memory(path, length, &error);
    if (!sf_parcel_finish(&parcel, status, &error) &&
        !sf_parcel_finish(&parcel, refuse_memory(path, length, &error), &error))
        return 1;
    reader_leave();
}
