/* SPDX-License-Identifier: Apache-2.0 */
#include "io/occurrence_file.h"

#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/apart.h"
#include "io/hdf.h"
#include "io/hdf_about.h"

#include <math.h>
#include <string.h>

void sf_occurrence_set_free(sf_occurrence_set *set)
{
    sf_free(set->recording);
    sf_units_free(&set->units);
    sf_free(set->episodes);
    sf_free(set->expected);
    sf_free(set->first);
    sf_free(set->times_ns);
    *set = (sf_occurrence_set){0};
}

bool sf_occurrence_file_is(const char *path)
{
    sf_hdf_about about;
    return sf_hdf_about_read(&about, path) && strcmp(about.kind, SF_OCCURRENCES_KIND) == 0;
}

static int put_columns(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error)
{
    hid_t file = input->file;
    const char *path = input->path;
    int status = sf_hdf_put_strings(parcel, file, "units/name", path, error);
    if (status == SF_OK) status = sf_hdf_put_strings(parcel, file, "episodes/text", path, error);
    if (status == SF_OK)
        status = sf_hdf_put(parcel, file, "episodes/count", path, H5T_NATIVE_UINT64, sizeof(uint64_t), error);
    if (status == SF_OK)
        status =
            sf_hdf_put(parcel, file, "episodes/expected", path, H5T_NATIVE_DOUBLE, sizeof(double), error);
    if (status == SF_OK)
        status =
            sf_hdf_put(parcel, file, "occurrences/times_ns", path, H5T_NATIVE_INT64, sizeof(int64_t), error);
    return status;
}

int sf_occurrence_set_put(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error)
{
    if (!sf_hdf_attribute_begins(input->file, "synfire", SF_OCCURRENCES_KIND))
        return sf_fail(error, SF_DATA, input->path,
                       "holds no occurrences of episodes: expected a file of mine --occurrences");
    sf_text recording = {0};
    sf_hdf_attribute_text(input->file, "recording", &recording);
    sf_parcel_put_text(parcel, recording.data);
    int status = recording.failed ? sf_fail_memory(error) : put_columns(parcel, input, error);
    sf_text_free(&recording);
    return status;
}

static int take_units(sf_occurrence_set *set, sf_parcel *parcel, sf_error *error)
{
    uint64_t count = sf_parcel_take_number(parcel);
    int status = SF_OK;
    for (uint64_t i = 0; i < count && !parcel->damaged && status == SF_OK; i++) {
        const char *name = sf_parcel_take_text(parcel);
        sf_unit unit = {.name = name, .x_um = NAN, .y_um = NAN, .electrode = -1};
        status = sf_units_add(&set->units, &unit, error);
    }
    return status == SF_OK ? sf_units_finish(&set->units, error) : status;
}

static int take_texts(sf_occurrence_set *set, sf_parcel *parcel, const char *path, sf_error *error)
{
    uint64_t count = sf_parcel_take_number(parcel);
    size_t capacity = 0;
    int status = SF_OK;
    sf_error reason;
    for (uint64_t i = 0; i < count && status == SF_OK; i++) {
        const char *line = sf_parcel_take_text(parcel);
        if (line == NULL) return sf_parcel_refuse(path, error);
        if (sf_reserve(&set->episodes, &capacity, set->count + 1, sizeof *set->episodes) != 0)
            return sf_fail_memory(error);
        if (sf_episode_parse(&set->episodes[set->count++], line, &set->units, &reason) != SF_OK)
            status = sf_fail(error, SF_DATA, path, "damaged: /episodes/text, row %llu: %s",
                             (unsigned long long)i, reason.text);
    }
    return status;
}

/* A column that must have `expected` values. */
static int take_column(sf_parcel *parcel, const char *name, const char *path, size_t size, size_t expected,
                       const void **values, sf_error *error)
{
    size_t length;
    *values = sf_parcel_take(parcel, size, &length);
    if (parcel->damaged) return sf_parcel_refuse(path, error);
    if (length != expected)
        return sf_fail(error, SF_DATA, path, "damaged: %s holds %zu values, expected %zu", name, length,
                       expected);
    return SF_OK;
}

/* Where each episode's occurrences begin; they lie one after the other. */
static int take_counts(sf_occurrence_set *set, sf_parcel *parcel, const char *path, sf_error *error)
{
    const void *counts, *expected;
    int status = take_column(parcel, "episodes/count", path, sizeof(uint64_t), set->count, &counts, error);
    if (status == SF_OK)
        status = take_column(parcel, "episodes/expected", path, sizeof(double), set->count, &expected, error);
    if (status != SF_OK) return status;
    set->first = sf_alloc(set->count + 1, sizeof *set->first);
    set->expected = sf_alloc(set->count, sizeof *set->expected);
    if (set->first == NULL || set->expected == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < set->count; i++) {
        uint64_t count = ((const uint64_t *)counts)[i];
        if (count > UINT32_MAX) /* a count of spikes is none */
            return sf_fail(error, SF_DATA, path, "damaged: /episodes/count, row %zu", i);
        set->first[i + 1] = set->first[i] + count;
        set->expected[i] = ((const double *)expected)[i];
    }
    return SF_OK;
}

/* Each occurrence has as many times as its episode has units, in order. */
static int check_times(const sf_occurrence_set *set, const char *path, sf_error *error)
{
    for (size_t i = 0; i < set->count; i++)
        for (uint64_t row = set->first[i]; row < set->first[i + 1]; row++)
            for (uint32_t node = 0; node + 1 < set->episodes[i].size; node++)
                if (!sf_delay_holds(set->episodes[i].delays[node], set->times_ns[row][node],
                                    set->times_ns[row][node + 1]))
                    return sf_fail(error, SF_DATA, path,
                                   "damaged: /occurrences/times_ns, row %llu: no occurrence of its episode",
                                   (unsigned long long)row);
    return SF_OK;
}

static int take_times(sf_occurrence_set *set, sf_parcel *parcel, const char *path, sf_error *error)
{
    const void *times;
    uint64_t rows = set->first[set->count];
    size_t expected = rows < SIZE_MAX / SF_EPISODE_MAX_SIZE ? rows * SF_EPISODE_MAX_SIZE : SIZE_MAX;
    int status = take_column(parcel, "occurrences/times_ns", path, sizeof(int64_t), expected, &times, error);
    if (status != SF_OK) return status;
    set->times_ns = sf_resize(NULL, rows, sizeof *set->times_ns);
    if (set->times_ns == NULL) return sf_fail_memory(error);
    if (rows > 0) memcpy(set->times_ns, times, rows * sizeof *set->times_ns);
    return check_times(set, path, error);
}

int sf_occurrence_set_take(sf_occurrence_set *set, sf_parcel *parcel, const char *path, sf_error *error)
{
    *set = (sf_occurrence_set){0};
    const char *recording = sf_parcel_take_text(parcel);
    int status = SF_OK;
    if (recording != NULL && (set->recording = sf_copy_string(recording)) == NULL)
        status = sf_fail_memory(error);
    if (status == SF_OK) status = take_units(set, parcel, error);
    if (status == SF_OK) status = take_texts(set, parcel, path, error);
    if (status == SF_OK) status = take_counts(set, parcel, path, error);
    if (status == SF_OK) status = take_times(set, parcel, path, error);
    if (status != SF_OK) sf_occurrence_set_free(set);
    return status;
}

int sf_occurrence_file_read(sf_occurrence_set *set, const char *path, sf_error *error)
{
    *set = (sf_occurrence_set){0};
    sf_parcel parcel;
    int status = sf_apart_read(&parcel, "occurrences", path, NULL, NULL, error);
    if (status != SF_OK) return status;
    status = sf_occurrence_set_take(set, &parcel, path, error);
    sf_parcel_close(&parcel);
    return status;
}
