/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/recording_file.h"

#include "core/error.h"
#include "core/hdf.h"
#include "core/memory.h"
#include "replay/reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In the order of docs/formats.md: the first that recognises a file reads it. */
static const sf_reader *const readers[] = {
    &sf_reader_synfire,
    &sf_reader_carmen,
    &sf_reader_nwb,
    &sf_reader_foreign,
};

int sf_reader_set_format(sf_recording *recording, sf_error *error, const char *format, ...)
{
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sf_free(recording->format);
    recording->format = sf_copy_string(text);
    return recording->format != NULL ? SF_OK : sf_fail_memory(error);
}

int sf_reader_metadata(sf_recording *recording, hid_t file, const char *path, const char *key,
                       sf_error *error)
{
    sf_text text = {0};
    int status = SF_OK;
    bool found = sf_hdf_dataset_text(file, path, &text);
    if (text.failed)
        status = sf_fail_memory(error);
    else if (found && text.length > 0)
        status = sf_recording_set_metadata(recording, key, text.data, error);
    sf_text_free(&text);
    return status;
}

static int compare_markers(const void *a, const void *b)
{
    const sf_marker *left = a, *right = b;
    return (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
}

/* What every layout has in common once its data are read. */
static int finish(sf_recording *recording, sf_error *error)
{
    int status = sf_units_finish(&recording->units, error);
    if (status == SF_OK && recording->spike_count > 0)
        status = sf_spikes_sort(recording->spikes, recording->spike_count, error);
    if (status != SF_OK)
        return status;
    if (recording->marker_count > 0)
        qsort(recording->markers, recording->marker_count, sizeof *recording->markers, compare_markers);
    if (recording->spike_count == 0)
        return SF_OK;
    int64_t first = recording->spikes[0].time_ns;
    int64_t after_last = recording->spikes[recording->spike_count - 1].time_ns + 1;
    if (!recording->declared)
        recording->recorded = (sf_span){first, after_last};
    if (recording->recorded.start_ns > first)
        recording->recorded.start_ns = first;
    if (recording->recorded.stop_ns < after_last)
        recording->recorded.stop_ns = after_last;
    return SF_OK;
}

static int refuse_stream(const char *path, const char *stream, sf_error *error)
{
    return sf_fail(error, SF_USAGE, path, "there is no stream '%s' to choose: this layout holds one", stream);
}

int sf_recording_read_hdf5(sf_recording *recording, hid_t file, bool live, const char *path,
                           const char *stream, const sf_progress *progress, sf_error *error)
{
    *recording = (sf_recording){0};
    sf_hdf_begin();
    sf_input input = {.path = path, .file = file, .live = live, .stream = stream, .progress = progress};
    const sf_reader *const *reader = readers;
    while (!(*reader)->recognises(file)) /* the last one takes every file */
        reader++;
    if (stream != NULL && !(*reader)->has_streams)
        return refuse_stream(path, stream, error);
    int status = SF_OK;
    if ((recording->path = sf_copy_string(path)) == NULL)
        status = sf_fail_memory(error);
    if (status == SF_OK && !sf_progress_update(progress, "reading", 0, 1))
        status = sf_fail(error, SF_CANCELLED, path, "stopped while reading");
    if (status == SF_OK)
        status = (*reader)->read(recording, &input, error);
    if (status == SF_OK)
        status = finish(recording, error);
    if (status == SF_OK)
        sf_progress_update(progress, "reading", 1, 1);
    else
        sf_recording_free(recording);
    return status;
}

static int read_hdf5_file(sf_recording *recording, const char *path, const char *stream,
                          const sf_progress *progress, sf_error *error)
{
    hid_t file;
    bool live;
    int status = sf_hdf_open_file(&file, &live, path, error);
    if (status == SF_OK)
        status = sf_recording_read_hdf5(recording, file, live, path, stream, progress, error);
    sf_hdf_close(file);
    return status;
}

static int read_text_file(sf_recording *recording, const char *path, const sf_progress *progress,
                          sf_error *error)
{
    sf_lines lines;
    sf_error reason;
    int status = sf_lines_open(&lines, path, &reason);
    if (status == SF_DATA)
        return sf_fail(error, SF_DATA, path, "this is neither HDF5 nor lines of name,seconds: %s",
                       reason.text);
    if (status != SF_OK)
        return sf_fail(error, reason.code, reason.place, "%s", reason.text);
    recording->path = sf_copy_string(path);
    status =
        recording->path != NULL ? sf_csv_read(recording, &lines, progress, error) : sf_fail_memory(error);
    if (status == SF_OK)
        status = finish(recording, error);
    if (status != SF_OK)
        sf_recording_free(recording);
    sf_lines_close(&lines);
    return status;
}

/* Some sorters write folders; they are told by two of their files. */
static int refuse_directory(const char *path, sf_error *error)
{
    static const char *const folders[][3] = {
        {"spike_times.npy", "params.py", "Phy or Kilosort"},
        {"spikes.npy", "numpysorting_info.json", "SpikeInterface"},
        {"structure.oebin", "spikes", "Open Ephys"},
    };
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char first[4096], second[4096];
        snprintf(first, sizeof first, "%s/%s", path, folders[i][0]);
        snprintf(second, sizeof second, "%s/%s", path, folders[i][1]);
        if (access(first, F_OK) == 0 && access(second, F_OK) == 0)
            return sf_fail(
                error, SF_DATA, path,
                "this is a folder of %s, which synfire does not read yet; export its spikes as lines of "
                "name,seconds",
                folders[i][2]);
    }
    return sf_fail(error, SF_NO_INPUT, path, "this is a directory, expected a recording file");
}

int sf_recording_read(sf_recording *recording, const char *path, const char *stream,
                      const sf_progress *progress, sf_error *error)
{
    *recording = (sf_recording){0};
    struct stat about;
    if (stat(path, &about) != 0 || access(path, R_OK) != 0)
        return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
    if (S_ISDIR(about.st_mode))
        return refuse_directory(path, error);
    if (!S_ISREG(about.st_mode))
        return sf_fail(error, SF_NO_INPUT, path, "this is not a regular file, expected a recording file");
    if (sf_hdf_has_signature(path))
        return read_hdf5_file(recording, path, stream, progress, error);
    if (stream != NULL)
        return refuse_stream(path, stream, error);
    return read_text_file(recording, path, progress, error);
}
