/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sortings that SpikeInterface saved: format='numpy_folder' (spikes.npy of sample, unit and segment;
 * numpysorting_info.json), or as it was before 0.99 format='npz_folder' (sorting_cached.npz: an archive of
 * arrays, of which those are read that are not compressed, as NumPy's savez writes them). A segment is a
 * recording of its own.
 */
#include "replay/folder.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/units.h"
#include "io/npy.h"
#include "replay/ids.h"
#include "replay/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INFO "numpysorting_info.json"
#define ARCHIVE "sorting_cached.npz"
#define UNIT_IDS "unit_ids.npy"
#define MOST_SEGMENTS 65536

static bool recognises(const char *path)
{
    char inside[SF_FOLDER_PATH];
    return (sf_folder_has(inside, path, "spikes.npy") && sf_folder_has(inside, path, INFO)) ||
           sf_folder_has(inside, path, ARCHIVE);
}

static bool is_archive(const char *path)
{
    char inside[SF_FOLDER_PATH];
    return !sf_folder_has(inside, path, INFO);
}

/* ---- archives ---- */

static uint64_t number_at(const unsigned char *at, size_t bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++)
        number |= (uint64_t)at[i] << 8 * i;
    return number;
}

#define LONGEST_END (22 + 65535)
#define MOST_DIRECTORY (1 << 20)

/* The archive's list of members, which its end points to. */
static int read_directory(unsigned char **directory, size_t *size, int file, const char *path,
                          sf_error *error)
{
    struct stat about;
    *directory = NULL;
    if (fstat(file, &about) != 0)
        return sf_fail(error, SF_IO, path, "cannot read: %s", strerror(errno));
    size_t length = about.st_size < LONGEST_END ? (size_t)about.st_size : LONGEST_END, at = 0;
    unsigned char *tail = sf_resize(NULL, length, 1);
    int status = tail != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK && pread(file, tail, length, about.st_size - (off_t)length) == (ssize_t)length)
        for (at = length >= 22 ? length - 21 : 0; at > 0 && memcmp(tail + at - 1, "PK\5\6", 4) != 0;)
            at--;
    uint64_t start = 0;
    *size = 0;
    if (at > 0) {
        *size = (size_t)number_at(tail + at - 1 + 12, 4);
        start = number_at(tail + at - 1 + 16, 4);
    }
    sf_free(tail);
    if (status == SF_OK && (at == 0 || *size > MOST_DIRECTORY || start + *size > (uint64_t)about.st_size))
        status = sf_fail(error, SF_DATA, path, "damaged: this is no whole archive of arrays (.npz)");
    if (status == SF_OK && (*directory = sf_resize(NULL, *size, 1)) == NULL)
        status = sf_fail_memory(error);
    if (status == SF_OK && pread(file, *directory, *size, (off_t)start) != (ssize_t)*size)
        status = sf_fail(error, SF_IO, path, "cannot read the end of it");
    return status;
}

/* Where the bytes of a member are. */
static int find_member(uint64_t *offset, uint64_t *length, const char *path, const char *name,
                       sf_error *error)
{
    unsigned char *directory = NULL, head[30];
    size_t size = 0, at = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
    int status = read_directory(&directory, &size, file, path, error);
    bool found = false, stored = false;
    while (status == SF_OK && !found && at + 46 <= size && memcmp(directory + at, "PK\1\2", 4) == 0) {
        const unsigned char *entry = directory + at;
        size_t name_length = number_at(entry + 28, 2);
        at += 46 + name_length + number_at(entry + 30, 2) + number_at(entry + 32, 2);
        found = at <= size && strlen(name) == name_length && memcmp(entry + 46, name, name_length) == 0;
        if (found) {
            stored = number_at(entry + 10, 2) == 0;
            *length = number_at(entry + 24, 4);
            *offset = number_at(entry + 42, 4);
        }
    }
    if (status == SF_OK && !found)
        status = sf_fail(error, SF_DATA, path, "damaged: it holds no array %s", name);
    else if (status == SF_OK && (!stored || *length == UINT32_MAX || *length == 0))
        status = sf_fail(
            error, SF_DATA, path,
            "holds %s compressed, or more than 4 GiB; expected what numpy.savez writes: save the sorting "
            "again with format='numpy_folder'",
            name);
    if (status == SF_OK &&
        (pread(file, head, sizeof head, (off_t)*offset) != sizeof head || memcmp(head, "PK\3\4", 4) != 0))
        status = sf_fail(error, SF_DATA, path, "damaged: %s is not where the archive says", name);
    if (status == SF_OK)
        *offset += sizeof head + number_at(head + 26, 2) + number_at(head + 28, 2);
    sf_free(directory);
    close(file);
    return status;
}

static int open_member(sf_npy *npy, const char *path, const char *name, sf_error *error)
{
    uint64_t offset = 0, length = 0;
    npy->file = -1;
    int status = find_member(&offset, &length, path, name, error);
    return status == SF_OK ? sf_npy_open(npy, path, offset, length, error) : status;
}

static int add_name(void *context, const char *name, sf_error *error)
{
    uint32_t unit;
    return sf_units_intern(context, name, &unit, error);
}

/* The names of units, where these are no numbers. */
static int load_names(sf_units *names, const char *path, sf_error *error)
{
    sf_npy npy;
    int status = open_member(&npy, path, UNIT_IDS, error);
    if (status == SF_OK && sf_npy_is_text(&npy))
        status = sf_npy_read_texts(&npy, add_name, names, error);
    sf_npy_close(&npy);
    return status;
}

typedef struct look_up {
    const sf_units *names;
    int64_t *values;
    size_t count;
} look_up;

static int find_name(void *context, const char *name, sf_error *error)
{
    (void)error;
    look_up *to = context;
    uint32_t unit = sf_units_find(to->names, name);
    to->values[to->count++] = unit != SF_NO_UNIT ? (int64_t)unit : -1;
    return SF_OK;
}

/* Numbers; of names, which of those they are, or -1. */
static int load_member(int64_t **values, size_t *count, const char *path, const char *name,
                       const sf_units *names, sf_error *error)
{
    sf_npy npy;
    *values = NULL;
    int status = open_member(&npy, path, name, error);
    if (status == SF_OK && (*values = sf_resize(NULL, npy.count, sizeof **values)) == NULL)
        status = sf_fail_memory(error);
    look_up labels = {.names = names, .values = *values};
    if (status == SF_OK && names != NULL && sf_npy_is_text(&npy))
        status = sf_npy_read_texts(&npy, find_name, &labels, error);
    else if (status == SF_OK)
        status = sf_npy_read_integers(&npy, NULL, 0, npy.count, *values, error);
    *count = status == SF_OK ? npy.count : 0;
    sf_npy_close(&npy);
    return status;
}

/* ---- what a sorting is ---- */

typedef struct sorting {
    double rate_hz;
    int64_t segments;
    json_t *info;              /* of a folder; NULL: of an archive, */
    sf_units names;            /* whose units may have names */
    char file[SF_FOLDER_PATH]; /* of the spikes, or the archive */
} sorting;

static int open_folder(sorting *it, const char *path, sf_error *error)
{
    char inside[SF_FOLDER_PATH];
    json_error_t reason;
    sf_folder_has(inside, path, INFO);
    sf_folder_has(it->file, path, "spikes.npy");
    it->info = json_load_file(inside, 0, &reason);
    if (it->info == NULL)
        return sf_fail(error, SF_DATA, inside, "line %d: %s", reason.line, reason.text);
    const json_t *segments = json_object_get(it->info, "num_segments");
    it->rate_hz = json_number_value(json_object_get(it->info, "sampling_frequency"));
    it->segments = json_is_integer(segments) ? json_integer_value(segments) : 1;
    if (!json_is_array(json_object_get(it->info, "unit_ids")))
        return sf_fail(error, SF_DATA, inside, "damaged: it holds no list unit_ids");
    return SF_OK;
}

static int open_archive(sorting *it, const char *path, sf_error *error)
{
    sf_npy rate = {.file = -1};
    int64_t *segments = NULL;
    size_t count = 0;
    sf_folder_has(it->file, path, ARCHIVE);
    int status = open_member(&rate, it->file, "sampling_frequency.npy", error);
    if (status == SF_OK && rate.count > 0)
        status = sf_npy_read_reals(&rate, 0, 1, &it->rate_hz, error);
    sf_npy_close(&rate);
    if (status == SF_OK)
        status = load_member(&segments, &count, it->file, "num_segment.npy", NULL, error);
    it->segments = count > 0 ? segments[0] : 1;
    sf_free(segments);
    return status == SF_OK ? load_names(&it->names, it->file, error) : status;
}

static int open_sorting(sorting *it, const char *path, sf_error *error)
{
    *it = (sorting){0};
    int status = is_archive(path) ? open_archive(it, path, error) : open_folder(it, path, error);
    if (status == SF_OK && (it->segments < 1 || it->segments > MOST_SEGMENTS))
        status = sf_fail(error, SF_DATA, path, "damaged: it has %" PRId64 " segments", it->segments);
    return status;
}

static void close_sorting(sorting *it)
{
    json_decref(it->info);
    sf_units_free(&it->names);
}

/* ---- segments ---- */

static int list_segments(sf_streams *streams, const char *path, sf_error *error)
{
    sorting it;
    sf_npy npy = {.file = -1};
    int64_t *segments = NULL;
    streams->what = "segment";
    int status = open_sorting(&it, path, error);
    if (status == SF_OK && it.info != NULL) {
        status = sf_npy_open(&npy, it.file, 0, 0, error);
        if (status == SF_OK && (segments = sf_resize(NULL, npy.count, sizeof *segments)) == NULL)
            status = sf_fail_memory(error);
        if (status == SF_OK)
            status = sf_npy_read_integers(&npy, "segment_index", 0, npy.count, segments, error);
    }
    for (int64_t k = 0; status == SF_OK && k < it.segments; k++) {
        char name[64];
        uint64_t spikes = 0;
        if (it.info == NULL) {
            snprintf(name, sizeof name, "spike_indexes_seg%" PRId64 ".npy", k);
            status = open_member(&npy, it.file, name, error);
            spikes = status == SF_OK ? npy.count : 0;
            sf_npy_close(&npy);
        }
        for (size_t i = 0; segments != NULL && i < npy.count; i++)
            spikes += segments[i] == k;
        snprintf(name, sizeof name, "segment%" PRId64, k);
        if (status == SF_OK)
            status = sf_streams_add(streams, name, spikes, error);
    }
    sf_free(segments);
    sf_npy_close(&npy);
    close_sorting(&it);
    return status;
}

/* ---- spikes ---- */

typedef struct columns {
    int64_t *samples, *labels; /* labels: indices of units, or their ids where these are numbers */
    size_t count;
} columns;

static int read_folder_spikes(columns *to, const sorting *it, int64_t segment, sf_error *error)
{
    sf_npy npy;
    int64_t *segments = NULL;
    int status = sf_npy_open(&npy, it->file, 0, 0, error);
    size_t count = status == SF_OK ? npy.count : 0;
    if (status == SF_OK && ((to->samples = sf_resize(NULL, count, sizeof *segments)) == NULL ||
                            (to->labels = sf_resize(NULL, count, sizeof *segments)) == NULL ||
                            (segments = sf_resize(NULL, count, sizeof *segments)) == NULL))
        status = sf_fail_memory(error);
    if (status == SF_OK)
        status = sf_npy_read_integers(&npy, "sample_index", 0, count, to->samples, error);
    if (status == SF_OK)
        status = sf_npy_read_integers(&npy, "unit_index", 0, count, to->labels, error);
    if (status == SF_OK)
        status = sf_npy_read_integers(&npy, "segment_index", 0, count, segments, error);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        to->samples[to->count] = to->samples[i];
        to->labels[to->count] = to->labels[i];
        to->count += segments[i] == segment;
    }
    sf_free(segments);
    sf_npy_close(&npy);
    return status;
}

static int read_archive_spikes(columns *to, const sorting *it, int64_t segment, sf_error *error)
{
    char name[64];
    size_t labels = 0;
    snprintf(name, sizeof name, "spike_indexes_seg%" PRId64 ".npy", segment);
    int status = load_member(&to->samples, &to->count, it->file, name, NULL, error);
    snprintf(name, sizeof name, "spike_labels_seg%" PRId64 ".npy", segment);
    if (status == SF_OK)
        status = load_member(&to->labels, &labels, it->file, name, &it->names, error);
    if (status == SF_OK && labels != to->count)
        status =
            sf_fail(error, SF_DATA, it->file, "damaged: segment %" PRId64 " has %zu times and %zu labels",
                    segment, to->count, labels);
    return status;
}

static int add_unit(sf_recording *recording, sf_ids *ids, int64_t label, const char *name, sf_error *error)
{
    const sf_unit unit = {.name = name, .x_um = NAN, .y_um = NAN, .kind = SF_UNIT_SORTED, .electrode = -1};
    int status = sf_ids_set(ids, label, (uint32_t)recording->units.count, error);
    return status == SF_OK ? sf_units_add(&recording->units, &unit, error) : status;
}

static int add_units(sf_recording *recording, sf_ids *ids, const sorting *it, sf_error *error)
{
    const json_t *list = json_object_get(it->info, "unit_ids");
    int64_t *numbers = NULL;
    size_t count = json_array_size(list);
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < it->names.count; i++)
        status = add_unit(recording, ids, (int64_t)i, it->names.items[i].name, error);
    if (it->info == NULL && it->names.count == 0)
        status = load_member(&numbers, &count, it->file, UNIT_IDS, NULL, error);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        const json_t *id = json_array_get(list, i);
        char number[24];
        snprintf(number, sizeof number, "%" PRId64,
                 numbers != NULL ? numbers[i] : (int64_t)json_integer_value(id));
        status = add_unit(recording, ids, numbers != NULL ? numbers[i] : (int64_t)i,
                          json_is_string(id) ? json_string_value(id) : number, error);
    }
    sf_free(numbers);
    return status;
}

static int read_folder(sf_recording *recording, const char *path, const sf_reading *how, sf_error *error)
{
    sorting it;
    columns all = {0};
    sf_ids ids = {0};
    uint32_t *units = NULL;
    int64_t segment = how->stream != NULL ? strtoll(how->stream + strlen("segment"), NULL, 10) : 0;
    int status = open_sorting(&it, path, error);
    if (status == SF_OK)
        status =
            sf_reader_set_format(recording, error, "SpikeInterface %s", it.info != NULL ? "folder" : "npz");
    if (status == SF_OK)
        status = sf_reader_check_rate(&it.rate_hz, how->rate_hz, path, "sampling_frequency", error);
    if (status == SF_OK)
        status = it.info != NULL ? read_folder_spikes(&all, &it, segment, error)
                                 : read_archive_spikes(&all, &it, segment, error);
    if (status == SF_OK)
        status = add_units(recording, &ids, &it, error);
    if (status == SF_OK && (units = sf_resize(NULL, all.count, sizeof *units)) == NULL)
        status = sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < all.count; i++)
        units[i] = sf_ids_find(&ids, all.labels[i]);
    const sf_spikes_in_samples spikes = {
        .samples = all.samples, .units = units, .count = all.count, .rate_hz = it.rate_hz};
    if (status == SF_OK)
        status = sf_samples_take(recording, &spikes, path, error);
    if (status == SF_OK)
        status = sf_reader_metadata_real(recording, "sampling_rate", it.rate_hz, error);
    sf_free(all.samples);
    sf_free(all.labels);
    sf_free(units);
    sf_ids_free(&ids);
    close_sorting(&it);
    return status;
}

const sf_folder_reader sf_folder_spikeinterface = {
    .recognises = recognises, .list = list_segments, .read = read_folder};
