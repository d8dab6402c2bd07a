/* SPDX-License-Identifier: Apache-2.0 */
/* Occurrences of episodes to a file and back. */
#include "mine/occurrences.h"
#include "analysis/episode_columns.h"
#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/ranks.h"
#include "io/hdf_table.h"
#include "io/layout.h"
#include "io/occurrence_file.h"

#include <string.h>

#define CHUNK 1024

/* ---- writing ---- */

/* The rows of /episodes. */
typedef struct episode_rows {
    const sf_recording *recording;
    const sf_episode *episodes;
    const double *expected;
    const uint64_t *counts;
    uint64_t *first;
} episode_rows;

SF_LENGTH(count_links)
{
    *length = ((const episode_rows *)of)->episodes[row].size - 1;
    return true;
}

SF_GETTER(get_low)
{
    value->known = true;
    value->integer = ((const episode_rows *)of)->episodes[row].delays[item].low_ns;
}

SF_GETTER(get_high)
{
    value->known = true;
    value->integer = ((const episode_rows *)of)->episodes[row].delays[item].high_ns;
}

#define ROW episode_rows
static const sf_column_row columns[] = {
    SF_EPISODE_IS(TEXT, "text", sf_episode_get_words, episodes, recording, "A -(low,high]-> B"),
    SF_EPISODE_IS(TEXT, "id", sf_episode_get_id, episodes, recording, "16 digits",
                  .bytes = SF_EPISODE_ID_SIZE - 1),
    {.is = SF_WHAT_IS(COUNT, "size", "how many units it has"),
     .get = sf_column_value,
     .form = SF_FORM_WHOLE,
     .member = offsetof(ROW, episodes),
     .element = sizeof(sf_episode),
     .within = offsetof(sf_episode, size)},
    SF_EPISODE_HAS(UNIT, "units", sf_episode_get_unit, episodes, recording, "indices of its units",
                   .most = SF_EPISODE_MAX_SIZE),
    SF_LIST_BY(INTEGER, "delay_low_ns", get_low, count_links, "above which each delay is",
               .most = SF_EPISODE_MAX_SIZE - 1),
    SF_LIST_BY(INTEGER, "delay_high_ns", get_high, count_links, "what it is at most",
               .most = SF_EPISODE_MAX_SIZE - 1),
    SF_ARRAY_IS(COUNT, "count", counts, "occurrences"),
    SF_ARRAY_IS(REAL, "expected", expected, "how many there were by rates alone"),
    SF_ARRAY_IS(COUNT, "first", first, "the first row in /occurrences"),
};
#undef ROW

static int write_episodes(hid_t group, const sf_occurrences *o, sf_error *error)
{
    const episode_rows rows = {.recording = o->recording,
                               .episodes = o->episodes,
                               .expected = o->expected,
                               .counts = o->counts,
                               .first = sf_alloc(o->count, sizeof *rows.first)};
    const sf_table table = {.row_count = o->count, .of = &rows, SF_TABLE_OF(columns)};
    for (size_t i = 1; i < o->count && rows.first != NULL; i++)
        rows.first[i] = rows.first[i - 1] + o->counts[i - 1];
    int status = rows.first != NULL ? sf_hdf_table_write(group, &table, error) : sf_fail_memory(error);
    sf_free(rows.first);
    return status;
}

static int append_occurrences(hid_t owners_to, hid_t times_to, const sf_occurrences *o, size_t episode,
                              sf_error *error)
{
    const uint32_t size = o->episodes[episode].size;
    const int64_t *times = o->times_ns[episode];
    uint32_t owners[CHUNK];
    int64_t rows[CHUNK][SF_EPISODE_MAX_SIZE];
    int status = SF_OK;
    for (size_t done = 0, part; done < o->counts[episode] && status == SF_OK; done += part) {
        part = o->counts[episode] - done < CHUNK ? o->counts[episode] - done : CHUNK;
        for (size_t i = 0; i < part; i++) {
            owners[i] = (uint32_t)episode;
            for (uint32_t node = 0; node < SF_EPISODE_MAX_SIZE; node++)
                rows[i][node] = node < size ? times[(done + i) * size + node] : INT64_MIN;
        }
        status = sf_layout_column_append(owners_to, H5T_NATIVE_UINT32, owners, part, error);
        if (status == SF_OK) status = sf_layout_column_append(times_to, H5T_NATIVE_INT64, rows, part, error);
    }
    return status;
}

static int write_occurrences(hid_t group, const sf_occurrences *o, sf_error *error)
{
    hid_t owners = sf_layout_column(group, "episode", H5T_NATIVE_UINT32, CHUNK, 1, error);
    hid_t times =
        owners >= 0 ? sf_layout_column(group, "times_ns", H5T_NATIVE_INT64, CHUNK, SF_EPISODE_MAX_SIZE, error)
                    : H5I_INVALID_HID;
    int status = times >= 0 ? SF_OK : SF_CANNOT_CREATE;
    for (size_t i = 0; i < o->count && status == SF_OK; i++)
        status = append_occurrences(owners, times, o, i, error);
    sf_hdf_close(owners);
    sf_hdf_close(times);
    return status;
}

static int write_group(const sf_layout *layout, const char *name,
                       int (*write)(hid_t group, const sf_occurrences *o, sf_error *error),
                       const sf_occurrences *o, sf_error *error)
{
    hid_t group = H5Gcreate2(sf_layout_file(layout), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int status =
        group >= 0 ? write(group, o, error)
                   : sf_hdf_fail(error, SF_CANNOT_CREATE, sf_layout_path(layout), "cannot create /%s", name);
    sf_hdf_close(group);
    return status;
}

int sf_occurrences_write(const sf_occurrences *o, const char *path, const char *configuration,
                         const char *provenance, sf_error *error)
{
    int status = sf_ranks_agree(SF_OK, error);
    if (status != SF_OK || sf_ranks_rank() > 0) return status;
    const sf_layout_options options = {.kind = SF_OCCURRENCES_KIND,
                                       .configuration = configuration,
                                       .provenance = provenance,
                                       .recording = o->recording->path,
                                       .without_streams = true,
                                       .overwrite = true};
    sf_layout *layout;
    status = sf_layout_create(&layout, path, o->recording, &options, error);
    if (status != SF_OK) return status;
    status = write_group(layout, "occurrences", write_occurrences, o, error);
    if (status == SF_OK) status = write_group(layout, "episodes", write_episodes, o, error);
    if (status == SF_OK) return sf_layout_close(layout, &o->recording->recorded, error);
    sf_layout_discard(layout);
    return status;
}

/* ---- reading ---- */

static int take_times(sf_occurrences *o, const sf_occurrence_set *set, size_t i, sf_error *error)
{
    uint32_t size = set->episodes[i].size;
    o->counts[i] = set->first[i + 1] - set->first[i];
    o->times_ns[i] = sf_resize(NULL, o->counts[i] * size, sizeof **o->times_ns);
    if (o->times_ns[i] == NULL) return sf_fail_memory(error);
    for (size_t k = 0; k < o->counts[i]; k++)
        memcpy(o->times_ns[i] + k * size, set->times_ns[set->first[i] + k], size * sizeof **o->times_ns);
    return SF_OK;
}

/* Units and path change hands. */
static int take(sf_occurrences *o, sf_occurrence_set *set, sf_error *error)
{
    int status = sf_occurrences_reserve(o, set->count, error);
    if (status != SF_OK) return status;
    if (set->count > 0) {
        memcpy(o->episodes, set->episodes, set->count * sizeof *o->episodes);
        memcpy(o->expected, set->expected, set->count * sizeof *o->expected);
    }
    for (size_t i = 0; i < set->count && status == SF_OK; i++)
        status = take_times(o, set, i, error);
    o->own.units = set->units;
    o->own.path = set->recording;
    o->recording = &o->own;
    o->counted_in = o->own.path;
    set->units = (sf_units){0};
    set->recording = NULL;
    return status;
}

int sf_occurrences_open(sf_occurrences **opened, const char *path, sf_error *error)
{
    *opened = NULL;
    sf_occurrence_set set;
    int status = sf_occurrence_file_read(&set, path, error);
    if (status != SF_OK) return status;
    sf_occurrences *o = sf_alloc(1, sizeof *o);
    status = o != NULL ? take(o, &set, error) : sf_fail_memory(error);
    sf_occurrence_set_free(&set);
    if (status == SF_OK)
        *opened = o;
    else
        sf_occurrences_free(o);
    return status;
}
