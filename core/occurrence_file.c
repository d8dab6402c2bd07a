/* SPDX-License-Identifier: Apache-2.0 */
#include "core/occurrence_file.h"

#include "core/episode.h"
#include "core/error.h"
#include "core/hdf.h"
#include "core/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
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
    if (group < 0)
        return sf_hdf_fail(error, SF_CANNOT_CREATE, file->path, "cannot create /occurrences");
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
    if (file == NULL)
        return sf_fail_memory(error);
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
    if (status == SF_OK)
        status = create_columns(file, error);
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
    if (rows == NULL)
        return sf_fail_memory(error);
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
    if (failed)
        return sf_fail_memory(error);
    hid_t group = H5Gcreate2(sf_layout_file(file->layout), "episodes", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t text = sf_hdf_string_type(width), id = sf_hdf_string_type(SF_EPISODE_ID_SIZE);
    int status = SF_OK;
    if (group < 0 || text < 0 || id < 0)
        status = sf_hdf_fail(error, SF_IO, file->path, "cannot create /episodes");
    if (status == SF_OK)
        status = write_columns(file, group, text, width, id, error);
    sf_hdf_close(text);
    sf_hdf_close(id);
    sf_hdf_close(group);
    return status;
}

int sf_occurrence_file_close(sf_occurrence_file *file, bool keep, sf_error *error)
{
    if (file == NULL)
        return SF_OK;
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
    hid_t file;
    bool live;
    struct stat about;
    sf_hdf_begin();
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) /* what is read from a pipe is gone */
        return false;
    if (!sf_hdf_has_signature(path) || sf_hdf_open_file(&file, &live, path, NULL) != SF_OK)
        return false;
    bool found = sf_hdf_attribute_begins(file, "synfire", SF_OCCURRENCES_KIND);
    sf_hdf_close(file);
    return found;
}

static int read_units(sf_occurrence_set *set, hid_t file, const char *path, sf_error *error)
{
    char **names;
    size_t count;
    int status = sf_hdf_read_strings(file, "units/name", path, &names, &count, error);
    if (status != SF_OK)
        return status;
    for (size_t i = 0; i < count && status == SF_OK; i++) {
        sf_unit unit = {.name = names[i], .x_um = NAN, .y_um = NAN, .electrode = -1};
        status = sf_units_add(&set->units, &unit, error);
    }
    sf_hdf_free_strings(names, count);
    return status == SF_OK ? sf_units_finish(&set->units, error) : status;
}

/* A column that must have `expected` values. */
static int read_column(hid_t file, const char *name, const char *path, hid_t type, size_t size,
                       size_t expected, void **values, sf_error *error)
{
    size_t length = 0;
    int status = sf_hdf_read(file, name, path, type, size, values, &length, error);
    if (status == SF_OK && length != expected)
        status = sf_fail(error, SF_DATA, path, "damaged: %s holds %zu values, expected %zu", name, length,
                         expected);
    return status;
}

static int read_texts(sf_occurrence_set *set, hid_t file, const char *path, sf_error *error)
{
    char **lines;
    sf_error reason;
    int status = sf_hdf_read_strings(file, "episodes/text", path, &lines, &set->count, error);
    if (status != SF_OK)
        return status;
    set->episodes = sf_alloc(set->count, sizeof *set->episodes);
    if (set->episodes == NULL)
        status = sf_fail_memory(error);
    for (size_t i = 0; i < set->count && status == SF_OK; i++)
        if (sf_episode_parse(&set->episodes[i], lines[i], &set->units, &reason) != SF_OK)
            status = sf_fail(error, SF_DATA, path, "damaged: /episodes/text, row %zu: %s", i, reason.text);
    sf_hdf_free_strings(lines, set->count);
    return status;
}

/* Where each episode's occurrences begin; they lie one after the other. */
static int read_counts(sf_occurrence_set *set, hid_t file, const char *path, sf_error *error)
{
    void *counts = NULL, *expected = NULL;
    set->first = sf_alloc(set->count + 1, sizeof *set->first);
    int status = set->first != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK)
        status = read_column(file, "episodes/count", path, H5T_NATIVE_UINT64, sizeof(uint64_t), set->count,
                             &counts, error);
    if (status == SF_OK)
        status = read_column(file, "episodes/expected", path, H5T_NATIVE_DOUBLE, sizeof(double), set->count,
                             &expected, error);
    for (size_t i = 0; i < set->count && status == SF_OK; i++) {
        uint64_t count = ((uint64_t *)counts)[i];
        if (count > UINT32_MAX) /* a count of spikes is none */
            status = sf_fail(error, SF_DATA, path, "damaged: /episodes/count, row %zu", i);
        set->first[i + 1] = set->first[i] + count;
    }
    set->expected = expected;
    sf_free(counts);
    return status;
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

static int read_parts(sf_occurrence_set *set, hid_t file, const char *path, sf_error *error)
{
    sf_text text = {0};
    void *times = NULL;
    if (!sf_hdf_attribute_begins(file, "synfire", SF_OCCURRENCES_KIND))
        return sf_fail(error, SF_DATA, path,
                       "holds no occurrences of episodes: expected a file of mine --occurrences");
    if (sf_hdf_attribute_text(file, "recording", &text))
        set->recording = text.data;
    else
        sf_text_free(&text);
    int status = text.failed ? sf_fail_memory(error) : SF_OK;
    if (status == SF_OK)
        status = read_units(set, file, path, error);
    if (status == SF_OK)
        status = read_texts(set, file, path, error);
    if (status == SF_OK)
        status = read_counts(set, file, path, error);
    if (status == SF_OK)
        status = read_column(file, "occurrences/times_ns", path, H5T_NATIVE_INT64, sizeof(int64_t),
                             set->first[set->count] * SF_EPISODE_MAX_SIZE, &times, error);
    set->times_ns = times;
    return status == SF_OK ? check_times(set, path, error) : status;
}

int sf_occurrence_set_read(sf_occurrence_set *set, hid_t file, const char *path, sf_error *error)
{
    *set = (sf_occurrence_set){0};
    int status = read_parts(set, file, path, error);
    if (status != SF_OK)
        sf_occurrence_set_free(set);
    return status;
}

int sf_occurrence_file_read(sf_occurrence_set *set, const char *path, sf_error *error)
{
    *set = (sf_occurrence_set){0};
    hid_t file;
    bool live;
    sf_hdf_begin();
    int status = sf_hdf_open_file(&file, &live, path, error);
    if (status != SF_OK)
        return status;
    status = sf_occurrence_set_read(set, file, path, error);
    sf_hdf_close(file);
    return status;
}
