/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/truth.h"

#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/apart.h"
#include "io/hdf_about.h"
#include "io/layout.h"

#include <string.h>

#define CHUNK 1024

/* Writes a whole column and closes it. */
static int write_column(hid_t group, const char *name, hid_t type, hsize_t columns, const void *rows,
                        size_t count, sf_error *error)
{
    hid_t column = sf_layout_column(group, name, type, CHUNK, columns, error);
    if (column < 0) return SF_CANNOT_CREATE;
    int status = sf_layout_column_append(column, type, rows, count, error);
    sf_hdf_close(column);
    return status;
}

static int write_occurrences(hid_t group, const sf_truth *truth, sf_error *error)
{
    size_t count = truth->occurrence_count;
    uint32_t *chains = sf_resize(NULL, count, sizeof *chains);
    int64_t(*times)[SF_EPISODE_MAX_SIZE] = sf_resize(NULL, count, sizeof *times);
    int status = chains != NULL && times != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        chains[i] = truth->occurrences[i].chain;
        memcpy(times[i], truth->occurrences[i].times_ns, sizeof times[i]);
    }
    if (status == SF_OK)
        status = write_column(group, "occurrence_chain", H5T_NATIVE_UINT32, 1, chains, count, error);
    if (status == SF_OK)
        status = write_column(group, "occurrence_times_ns", H5T_NATIVE_INT64, SF_EPISODE_MAX_SIZE, times,
                              count, error);
    sf_free(chains);
    sf_free(times);
    return status;
}

/* The chains as text, all padded with NUL to the longest. */
static int write_episodes(hid_t group, const sf_truth *truth, const sf_units *units, sf_error *error)
{
    sf_text line = {0};
    size_t width = 1;
    for (size_t i = 0; i < truth->chain_count; i++) {
        sf_text_clear(&line);
        sf_episode_print(&line, &truth->chains[i], units);
        width = line.length + 1 > width ? line.length + 1 : width;
    }
    char *rows = line.failed ? NULL : sf_alloc(truth->chain_count, width);
    for (size_t i = 0; rows != NULL && i < truth->chain_count; i++) {
        sf_text_clear(&line);
        sf_episode_print(&line, &truth->chains[i], units);
        memcpy(rows + i * width, line.data, line.length);
    }
    sf_text_free(&line);
    if (rows == NULL) return sf_fail_memory(error);
    hid_t type = sf_hdf_string_type(width);
    int status = write_column(group, "episodes", type, 1, rows, truth->chain_count, error);
    sf_hdf_close(type);
    sf_free(rows);
    return status;
}

int sf_truth_write(const sf_layout *layout, const sf_truth *truth, const sf_units *units, sf_error *error)
{
    sf_hdf_begin();
    hid_t group = H5Gcreate2(sf_layout_file(layout), "truth", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return sf_hdf_fail(error, SF_IO, "/truth", "cannot create this group");
    int status = write_episodes(group, truth, units, error);
    if (status == SF_OK) status = write_occurrences(group, truth, error);
    sf_hdf_close(group);
    return status;
}

/* ---- reading ---- */

bool sf_truth_in_file(const char *path)
{
    sf_hdf_about about;
    return sf_hdf_about_read(&about, path) && about.truth;
}

int sf_truth_put(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error)
{
    hid_t file = input->file;
    const char *path = input->path;
    if (!sf_hdf_is_group(file, "truth"))
        return sf_fail(error, SF_DATA, path, "holds no /truth: `synfire simulate` did not make it");
    int status = sf_hdf_put_strings(parcel, file, "truth/episodes", path, error);
    if (status == SF_OK)
        status = sf_hdf_put(parcel, file, "truth/occurrence_chain", path, H5T_NATIVE_UINT32, sizeof(uint32_t),
                            error);
    if (status == SF_OK)
        status = sf_hdf_put(parcel, file, "truth/occurrence_times_ns", path, H5T_NATIVE_INT64,
                            sizeof(int64_t), error);
    return status;
}

static int take_episodes(sf_truth *truth, sf_parcel *parcel, const char *path, const sf_units *units,
                         sf_error *error)
{
    uint64_t count = sf_parcel_take_number(parcel);
    size_t capacity = 0;
    sf_error reason;
    for (uint64_t i = 0; i < count; i++) {
        const char *line = sf_parcel_take_text(parcel);
        if (line == NULL) return sf_parcel_refuse(path, error);
        if (sf_reserve(&truth->chains, &capacity, truth->chain_count + 1, sizeof *truth->chains) != 0)
            return sf_fail_memory(error);
        if (sf_episode_parse(&truth->chains[truth->chain_count], line, units, &reason) != SF_OK)
            return sf_fail(error, SF_DATA, path, "/truth/episodes, row %llu: %s", (unsigned long long)i,
                           reason.text);
        truth->chain_count++;
    }
    return SF_OK;
}

/* Joins the two columns; each row must name a chain. */
static int take_occurrences(sf_truth *truth, sf_parcel *parcel, const char *path, sf_error *error)
{
    size_t count, time_count;
    const uint32_t *chains = sf_parcel_take(parcel, sizeof *chains, &count);
    const int64_t *times = sf_parcel_take(parcel, sizeof *times, &time_count);
    if (parcel->damaged) return sf_parcel_refuse(path, error);
    if (time_count / SF_EPISODE_MAX_SIZE != count || time_count % SF_EPISODE_MAX_SIZE != 0)
        return sf_fail(error, SF_DATA, path, "/truth: %zu occurrences but %zu times, expected %d each", count,
                       time_count, SF_EPISODE_MAX_SIZE);
    truth->occurrences = sf_alloc(count, sizeof *truth->occurrences);
    if (truth->occurrences == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        if (chains[i] >= truth->chain_count)
            return sf_fail(error, SF_DATA, path, "/truth/occurrence_chain, row %zu: found chain %u of %zu", i,
                           chains[i], truth->chain_count);
        truth->occurrences[i].chain = chains[i];
        memcpy(truth->occurrences[i].times_ns, times + i * SF_EPISODE_MAX_SIZE,
               sizeof truth->occurrences[i].times_ns);
    }
    truth->occurrence_count = count;
    return SF_OK;
}

int sf_truth_take(sf_truth *truth, sf_parcel *parcel, const char *path, const sf_units *units,
                  sf_error *error)
{
    *truth = (sf_truth){0};
    int status = take_episodes(truth, parcel, path, units, error);
    if (status == SF_OK) status = take_occurrences(truth, parcel, path, error);
    if (status != SF_OK) sf_truth_free(truth);
    return status;
}

int sf_truth_read(sf_truth *truth, const char *path, const sf_units *units, sf_error *error)
{
    *truth = (sf_truth){0};
    sf_parcel parcel;
    int status = sf_apart_read(&parcel, "truth", path, NULL, NULL, error);
    if (status != SF_OK) return status;
    status = sf_truth_take(truth, &parcel, path, units, error);
    sf_parcel_close(&parcel);
    return status;
}
