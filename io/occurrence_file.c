/* SPDX-License-Identifier: Apache-2.0 */
#include "io/occurrence_file.h"

#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/apart.h"
#include "io/hdf.h"
#include "io/hdf_about.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CHUNK 1024
#define MOST_LINKS (SF_EPISODE_MAX_SIZE - 1)

/* An episode as its row will be. */
typedef struct episode_row {
    sf_episode episode;
    double expected;
    uint64_t count, first;
} episode_row;

struct sf_occurrence_file {
    sf_layout *layout;
    const sf_recording *about;
    char *path;
    hid_t owners, times; /* columns of /occurrences */
    episode_row *rows;
    size_t count, capacity;
    uint64_t total; /* occurrences */
};

/* ---- writing ---- */

static int create_columns(sf_occurrence_file *file, sf_error *error)
{
    hid_t root = sf_layout_file(file->layout);
    hid_t group = H5Gcreate2(root, "occurrences", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return sf_hdf_fail(error, SF_CANNOT_CREATE, file->path, "cannot create /occurrences");
    file->owners = sf_layout_column(group, "episode", H5T_NATIVE_UINT32, CHUNK, 1, error);
    if (file->owners >= 0)
        file->times =
            sf_layout_column(group, "times_ns", H5T_NATIVE_INT64, CHUNK, SF_EPISODE_MAX_SIZE, error);
    sf_hdf_close(group);
    return file->times >= 0 ? SF_OK : SF_CANNOT_CREATE;
}

int sf_occurrence_file_create(sf_occurrence_file **created, const char *path, const sf_recording *about,
                              const char *configuration, const char *provenance, sf_error *error)
{
    *created = NULL;
    sf_occurrence_file *file = sf_alloc(1, sizeof *file);
    if (file == NULL) return sf_fail_memory(error);
    file->about = about;
    file->owners = file->times = H5I_INVALID_HID;
    sf_layout_options options = {.kind = SF_OCCURRENCES_KIND,
                                 .configuration = configuration,
                                 .provenance = provenance,
                                 .recording = about->path,
                                 .without_streams = true,
                                 .overwrite = true};
    file->path = sf_copy_string(path);
    int status = file->path != NULL ? sf_layout_create(&file->layout, path, about, &options, error)
                                    : sf_fail_memory(error);
    if (status == SF_OK) status = create_columns(file, error);
    if (status == SF_OK)
        *created = file;
    else
        sf_occurrence_file_close(file, false, NULL);
    return status;
}

static int append_occurrences(sf_occurrence_file *file, uint32_t owner, uint32_t size, const int64_t *times,
                              size_t count, sf_error *error)
{
    uint32_t owners[CHUNK];
    int64_t rows[CHUNK][SF_EPISODE_MAX_SIZE];
    int status = SF_OK;
    for (size_t done = 0, part; done < count && status == SF_OK; done += part) {
        part = count - done < CHUNK ? count - done : CHUNK;
        for (size_t i = 0; i < part; i++) {
            owners[i] = owner;
            for (uint32_t node = 0; node < SF_EPISODE_MAX_SIZE; node++)
                rows[i][node] = node < size ? times[(done + i) * size + node] : INT64_MIN;
        }
        status = sf_layout_column_append(file->owners, H5T_NATIVE_UINT32, owners, part, error);
        if (status == SF_OK)
            status = sf_layout_column_append(file->times, H5T_NATIVE_INT64, rows, part, error);
    }
    return status;
}

int sf_occurrence_file_add(sf_occurrence_file *file, const sf_episode *episode, double expected,
                           const int64_t *times, size_t count, sf_error *error)
{
    void *rows = file->rows;
    if (sf_reserve(&rows, &file->capacity, file->count + 1, sizeof *file->rows) != 0)
        return sf_fail_memory(error);
    file->rows = rows;
    file->rows[file->count] = (episode_row){*episode, expected, count, file->total};
    file->total += count;
    sf_hdf_begin();
    return append_occurrences(file, (uint32_t)file->count++, episode->size, times, count, error);
}

/* Where a column's value of a row comes from. */
typedef void (*fill_row)(const sf_occurrence_file *file, size_t row, void *to, size_t size);

static void fill_text(const sf_occurrence_file *file, size_t row, void *to, size_t size)
{
    sf_text text = {0};
    sf_episode_print(&text, &file->rows[row].episode, &file->about->units);
    snprintf(to, size, "%s", text.failed ? "" : text.data);
    sf_text_free(&text);
}

static void fill_id(const sf_occurrence_file *file, size_t row, void *to, size_t size)
{
    char id[SF_EPISODE_ID_SIZE];
    sf_episode_id(id, &file->rows[row].episode, &file->about->units);
    snprintf(to, size, "%s", id);
}

static void fill_size(const sf_occurrence_file *file, size_t row, void *to, size_t size)
{
    memcpy(to, &file->rows[row].episode.size, size);
}

static void fill_units(const sf_occurrence_file *file, size_t row, void *to, size_t size)
{
    const sf_episode *episode = &file->rows[row].episode;
    (void)size;
    for (uint32_t node = 0; node < SF_EPISODE_MAX_SIZE; node++)
        ((uint32_t *)to)[node] = node < episode->size ? episode->units[node] : SF_NO_UNIT;
}

static void fill_low(const sf_occurrence_file *file, size_t row, void *to, size_t size)
{
    const sf_episode *episode = &file->rows[row].episode;
    (void)size;
    for (uint32_t link = 0; link < MOST_LINKS; link++)
        ((int64_t *)to)[link] = link + 1 < episode->size ? episode->delays[link].low_ns : INT64_MIN;
}

static void fill_high(const sf_occurrence_file *file, size_t row, void *to, size_t size)
{
    const sf_episode *episode = &file->rows[row].episode;
    (void)size;
    for (uint32_t link = 0; link < MOST_LINKS; link++)
        ((int64_t *)to)[link] = link + 1 < episode->size ? episode->delays[link].high_ns : INT64_MIN;
}

static void fill_count(const sf_occurrence_file *file, size_t row, void *to, size_t size)
{
    memcpy(to, &file->rows[row].count, size);
}

static void fill_expected(const sf_occurrence_file *file, size_t row, void *to, size_t size)
{
    memcpy(to, &file->rows[row].expected, size);
}

static void fill_first(const sf_occurrence_file *file, size_t row, void *to, size_t size)
{
    memcpy(to, &file->rows[row].first, size);
}

/* Writes one column of /episodes; `size` is that of a row in bytes. */
static int write_column(const sf_occurrence_file *file, hid_t group, const char *name, hid_t type,
                        hsize_t columns, size_t size, fill_row fill, sf_error *error)
{
    char *rows = sf_alloc(file->count, size);
    if (rows == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < file->count; i++)
        fill(file, i, rows + i * size, size);
    hid_t column = sf_layout_column(group, name, type, CHUNK, columns, error);
    int status =
        column >= 0 ? sf_layout_column_append(column, type, rows, file->count, error) : SF_CANNOT_CREATE;
    sf_hdf_close(column);
    sf_free(rows);
    return status;
}

static int write_columns(const sf_occurrence_file *file, hid_t group, hid_t text, size_t text_size, hid_t id,
                         sf_error *error)
{
    const struct {
        const char *name;
        hid_t type;
        hsize_t columns;
        size_t size;
        fill_row fill;
    } columns[] = {
        {"text", text, 1, text_size, fill_text},
        {"id", id, 1, SF_EPISODE_ID_SIZE, fill_id},
        {"size", H5T_NATIVE_UINT32, 1, sizeof(uint32_t), fill_size},
        {"units", H5T_NATIVE_UINT32, SF_EPISODE_MAX_SIZE, SF_EPISODE_MAX_SIZE * sizeof(uint32_t), fill_units},
        {"delay_low_ns", H5T_NATIVE_INT64, MOST_LINKS, MOST_LINKS * sizeof(int64_t), fill_low},
        {"delay_high_ns", H5T_NATIVE_INT64, MOST_LINKS, MOST_LINKS * sizeof(int64_t), fill_high},
        {"count", H5T_NATIVE_UINT64, 1, sizeof(uint64_t), fill_count},
        {"expected", H5T_NATIVE_DOUBLE, 1, sizeof(double), fill_expected},
        {"first", H5T_NATIVE_UINT64, 1, sizeof(uint64_t), fill_first},
    };
    int status = SF_OK;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0] && status == SF_OK; i++)
        status = write_column(file, group, columns[i].name, columns[i].type, columns[i].columns,
                              columns[i].size, columns[i].fill, error);
    return status;
}

/* Texts are padded to the longest. */
static int write_episodes(const sf_occurrence_file *file, sf_error *error)
{
    sf_text line = {0};
    size_t width = 1;
    for (size_t i = 0; i < file->count; i++) {
        sf_text_clear(&line);
        sf_episode_print(&line, &file->rows[i].episode, &file->about->units);
        width = line.length + 1 > width ? line.length + 1 : width;
    }
    bool failed = line.failed;
    sf_text_free(&line);
    if (failed) return sf_fail_memory(error);
    hid_t group = H5Gcreate2(sf_layout_file(file->layout), "episodes", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t text = sf_hdf_string_type(width), id = sf_hdf_string_type(SF_EPISODE_ID_SIZE);
    int status = SF_OK;
    if (group < 0 || text < 0 || id < 0)
        status = sf_hdf_fail(error, SF_IO, file->path, "cannot create /episodes");
    if (status == SF_OK) status = write_columns(file, group, text, width, id, error);
    sf_hdf_close(text);
    sf_hdf_close(id);
    sf_hdf_close(group);
    return status;
}

int sf_occurrence_file_close(sf_occurrence_file *file, bool keep, sf_error *error)
{
    if (file == NULL) return SF_OK;
    sf_hdf_begin();
    int status = keep ? write_episodes(file, error) : SF_OK;
    sf_hdf_close(file->owners);
    sf_hdf_close(file->times);
    if (keep && status == SF_OK)
        status = sf_layout_close(file->layout, &file->about->recorded, error);
    else
        sf_layout_discard(file->layout);
    sf_free(file->path);
    sf_free(file->rows);
    sf_free(file);
    return status;
}

/* ---- reading ---- */

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
