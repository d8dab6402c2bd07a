/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sortings saved by SpikeInterface: format='numpy_folder' (spikes.npy of sample, unit and segment;
 * numpysorting_info.json) or, before 0.99, format='npz_folder' (sorting_cached.npz: an archive of arrays).
 * Each segment is a separate recording.
 */
#include "replay/folder.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/units.h"
#include "io/npz.h"
#include "replay/ids.h"
#include "replay/reader.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INFO "numpysorting_info.json"
#define ARCHIVE "sorting_cached.npz"
#define UNIT_IDS "unit_ids.npy"
#define MOST_SEGMENTS 65536

static bool is_archive(const char *path)
{
    char inside[SF_FOLDER_PATH];
    return !sf_folder_has(inside, path, INFO);
}

/* ---- archives ---- */

/* A single archive, as NpzSortingExtractor writes it under any name. */
static bool is_lone_archive(const char *path)
{
    const char *suffix = strrchr(path, '.');
    return suffix != NULL && strcmp(suffix, ".npz") == 0 && sf_npz_has(path, UNIT_IDS);
}

static bool recognises(const char *path)
{
    char inside[SF_FOLDER_PATH];
    return (sf_folder_has(inside, path, "spikes.npy") && sf_folder_has(inside, path, INFO)) ||
           sf_folder_has(inside, path, ARCHIVE) || is_lone_archive(path);
}

static int add_name(void *context, const char *name, sf_error *error)
{
    uint32_t unit;
    return sf_units_intern(context, name, &unit, error);
}

/* Reads the names of units, unless these are numbers. */
static int load_names(sf_units *names, const char *path, sf_error *error)
{
    sf_npy npy;
    int status = sf_npz_open(&npy, path, UNIT_IDS, error);
    if (status == SF_OK && sf_npy_is_text(&npy)) status = sf_npy_read_texts(&npy, add_name, names, error);
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

/* Reads numbers; for names, the index of each in the list of names, or -1. */
static int load_member(int64_t **values, size_t *count, const char *path, const char *name,
                       const sf_units *names, sf_error *error)
{
    sf_npy npy;
    *values = NULL;
    int status = sf_npz_open(&npy, path, name, error);
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
    bool is_one;               /* an archive of one segment, whose arrays have no segment number */
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
    if (it->info == NULL) return sf_fail(error, SF_DATA, inside, "line %d: %s", reason.line, reason.text);
    const json_t *segments = json_object_get(it->info, "num_segments");
    it->rate_hz = json_number_value(json_object_get(it->info, "sampling_frequency"));
    it->segments = json_is_integer(segments) ? json_integer_value(segments) : 1;
    if (!json_is_array(json_object_get(it->info, "unit_ids")))
        return sf_fail(error, SF_DATA, inside, "damaged: it holds no list unit_ids");
    return SF_OK;
}

/* Archives of spikeextractors have one segment, whose arrays have no number. */
static void member_of(char name[64], const sorting *it, const char *what, int64_t segment)
{
    if (it->is_one)
        snprintf(name, 64, "spike_%s.npy", what);
    else
        snprintf(name, 64, "spike_%s_seg%" PRId64 ".npy", what, segment);
}

static int open_archive(sorting *it, const char *path, sf_error *error)
{
    sf_npy rate = {.file = -1};
    int64_t *segments = NULL;
    size_t count = 0;
    if (!sf_folder_has(it->file, path, ARCHIVE)) snprintf(it->file, sizeof it->file, "%s", path);
    int status = sf_npz_open(&rate, it->file, "sampling_frequency.npy", error);
    if (status == SF_OK && rate.count > 0) status = sf_npy_read_reals(&rate, 0, 1, &it->rate_hz, error);
    sf_npy_close(&rate);
    it->is_one = status == SF_OK && sf_npz_has(it->file, "spike_indexes.npy");
    if (status == SF_OK && !it->is_one)
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
            member_of(name, &it, "indexes", k);
            status = sf_npz_open(&npy, it.file, name, error);
            spikes = status == SF_OK ? npy.count : 0;
            sf_npy_close(&npy);
        }
        for (size_t i = 0; segments != NULL && i < npy.count; i++)
            spikes += segments[i] == k;
        snprintf(name, sizeof name, "segment%" PRId64, k);
        if (status == SF_OK) status = sf_streams_add(streams, name, spikes, error);
    }
    sf_free(segments);
    sf_npy_close(&npy);
    close_sorting(&it);
    return status;
}

/* ---- spikes ---- */

typedef struct columns {
    int64_t *samples, *labels; /* labels: indices of units, or their ids if these are numbers */
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
    if (status == SF_OK) status = sf_npy_read_integers(&npy, "sample_index", 0, count, to->samples, error);
    if (status == SF_OK) status = sf_npy_read_integers(&npy, "unit_index", 0, count, to->labels, error);
    if (status == SF_OK) status = sf_npy_read_integers(&npy, "segment_index", 0, count, segments, error);
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
    member_of(name, it, "indexes", segment);
    int status = load_member(&to->samples, &to->count, it->file, name, NULL, error);
    member_of(name, it, "labels", segment);
    if (status == SF_OK) status = load_member(&to->labels, &labels, it->file, name, &it->names, error);
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
    if (status == SF_OK) status = add_units(recording, &ids, &it, error);
    if (status == SF_OK && (units = sf_resize(NULL, all.count, sizeof *units)) == NULL)
        status = sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < all.count; i++)
        units[i] = sf_ids_find(&ids, all.labels[i]);
    const sf_spikes_in_samples spikes = {
        .samples = all.samples, .units = units, .count = all.count, .rate_hz = it.rate_hz};
    if (status == SF_OK) status = sf_samples_take(recording, &spikes, path, error);
    if (status == SF_OK) status = sf_reader_metadata_real(recording, "sampling_rate", it.rate_hz, error);
    sf_free(all.samples);
    sf_free(all.labels);
    sf_free(units);
    sf_ids_free(&ids);
    close_sorting(&it);
    return status;
}

const sf_folder_reader sf_folder_spikeinterface = {
    .recognises = recognises, .list = list_segments, .read = read_folder};
