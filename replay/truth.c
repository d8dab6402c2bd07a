/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/truth.h"

#include "core/episode.h"
#include "core/error.h"
#include "core/hdf.h"
#include "core/memory.h"

#include <string.h>

#define CHUNK 1024

/* Writes a whole column and closes it. */
static int write_column(hid_t group, const char *name, hid_t type, hsize_t columns, const void *rows,
                        size_t count, sf_error *error)
{
    hid_t column = sf_layout_column(group, name, type, CHUNK, columns, error);
    if (column < 0)
        return SF_CANNOT_CREATE;
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
    if (rows == NULL)
        return sf_fail_memory(error);
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
    if (group < 0)
        return sf_hdf_fail(error, SF_IO, "/truth", "cannot create this group");
    int status = write_episodes(group, truth, units, error);
    if (status == SF_OK)
        status = write_occurrences(group, truth, error);
    sf_hdf_close(group);
    return status;
}

bool sf_truth_in_file(const char *path)
{
    hid_t file;
    bool live;
    if (sf_hdf_open_file(&file, &live, path, NULL) != SF_OK)
        return false;
    bool found = sf_hdf_is_group(file, "truth");
    sf_hdf_close(file);
    return found;
}

static int read_episodes(sf_truth *truth, hid_t file, const char *path, const sf_units *units,
                         sf_error *error)
{
    char **lines = NULL;
    size_t count = 0;
    int status = sf_hdf_read_strings(file, "truth/episodes", path, &lines, &count, error);
    if (status != SF_OK)
        return status;
    truth->chains = sf_alloc(count, sizeof *truth->chains);
    status = truth->chains != NULL ? SF_OK : sf_fail_memory(error);
    sf_error reason;
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        if (sf_episode_parse(&truth->chains[i], lines[i], units, &reason) != SF_OK)
            status = sf_fail(error, SF_DATA, path, "/truth/episodes, row %zu: %s", i, reason.text);
        else
            truth->chain_count++;
    }
    sf_hdf_free_strings(lines, count);
    return status;
}

/* Joins the two columns; each row must name a chain. */
static int join_occurrences(sf_truth *truth, const uint32_t *chains, size_t count, const int64_t *times,
                            size_t time_count, const char *path, sf_error *error)
{
    if (time_count != count * SF_EPISODE_MAX_SIZE)
        return sf_fail(error, SF_DATA, path, "/truth: %zu occurrences but %zu times, expected %d each", count,
                       time_count, SF_EPISODE_MAX_SIZE);
    truth->occurrences = sf_alloc(count, sizeof *truth->occurrences);
    if (truth->occurrences == NULL)
        return sf_fail_memory(error);
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

static int read_occurrences(sf_truth *truth, hid_t file, const char *path, sf_error *error)
{
    void *chains = NULL, *times = NULL;
    size_t count = 0, time_count = 0;
    int status = sf_hdf_read(file, "truth/occurrence_chain", path, H5T_NATIVE_UINT32, sizeof(uint32_t),
                             &chains, &count, error);
    if (status == SF_OK)
        status = sf_hdf_read(file, "truth/occurrence_times_ns", path, H5T_NATIVE_INT64, sizeof(int64_t),
                             &times, &time_count, error);
    if (status == SF_OK)
        status = join_occurrences(truth, chains, count, times, time_count, path, error);
    sf_free(chains);
    sf_free(times);
    return status;
}

int sf_truth_read(sf_truth *truth, const char *path, const sf_units *units, sf_error *error)
{
    *truth = (sf_truth){0};
    hid_t file;
    bool live;
    int status = sf_hdf_open_file(&file, &live, path, error);
    if (status != SF_OK)
        return status;
    if (!sf_hdf_is_group(file, "truth"))
        status = sf_fail(error, SF_DATA, path, "holds no /truth: `synfire simulate` did not make it");
    if (status == SF_OK)
        status = read_episodes(truth, file, path, units, error);
    if (status == SF_OK)
        status = read_occurrences(truth, file, path, error);
    sf_hdf_close(file);
    if (status != SF_OK)
        sf_truth_free(truth);
    return status;
}
