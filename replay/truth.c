/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/truth.h"

#include "analysis/episode_columns.h"
#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/apart.h"
#include "io/hdf_about.h"
#include "io/hdf_table.h"
#include "io/layout.h"

#include <string.h>

/* ---- writing ---- */

typedef struct chain_rows {
    const sf_recording *recording; /* its units */
    const sf_episode *chains;
} chain_rows;

#define ROW chain_rows
static const sf_column_row chain_columns[] = {
    SF_EPISODE_IS(TEXT, "episodes", sf_episode_get_words, chains, recording, "A -(low,high]-> B"),
};
#undef ROW

SF_LENGTH(count_times)
{
    *length = SF_EPISODE_MAX_SIZE;
    return true;
}

SF_GETTER(get_time)
{
    value->known = true;
    value->integer = ((const sf_occurrence *)of)[row].times_ns[item];
}

#define ROW sf_occurrence
static const sf_column_row occurrence_columns[] = {
    SF_FIELD_IS(COUNT, "occurrence_chain", chain, "which was planted"),
    SF_LIST_BY(INTEGER, "occurrence_times_ns", get_time, count_times, "when its spikes were",
               .most = SF_EPISODE_MAX_SIZE),
};
#undef ROW

int sf_truth_write(const sf_layout *layout, const sf_truth *truth, const sf_units *units, sf_error *error)
{
    const sf_recording recording = {.units = *units};
    const chain_rows rows = {.recording = &recording, .chains = truth->chains};
    const sf_table chains = {.row_count = truth->chain_count, .of = &rows, SF_TABLE_OF(chain_columns)};
    const sf_table occurrences = {
        .row_count = truth->occurrence_count, .of = truth->occurrences, SF_TABLE_OF(occurrence_columns)};
    sf_hdf_begin();
    hid_t group = H5Gcreate2(sf_layout_file(layout), "truth", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return sf_hdf_fail(error, SF_IO, "/truth", "cannot create this group");
    int status = sf_hdf_table_write(group, &chains, error);
    if (status == SF_OK) status = sf_hdf_table_write(group, &occurrences, error);
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

/* Joins the two columns; each row must name an existing chain. */
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
