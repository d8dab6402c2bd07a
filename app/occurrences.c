/* SPDX-License-Identifier: Apache-2.0 */
#include "app/occurrences.h"

#include "app/mining.h"

#include "analysis/episode_columns.h"
#include "io/file.h"

#include <inttypes.h>
#include <string.h>

/* ---- CSV ---- */

static void print_occurrences(app_csv *csv, const sf_occurrences_columns *told, size_t i, uint32_t columns)
{
    const sf_episode *episode = &told->episodes[i];
    char id[SF_EPISODE_ID_SIZE];
    sf_recording_episode_id(told->recording, episode, id);
    for (size_t k = 0; k < told->counts[i]; k++) {
        app_csv_row(csv);
        app_csv_string(csv, id);
        app_csv_episode(csv, told->recording, episode);
        app_csv_uint(csv, k + 1);
        for (uint32_t node = 0; node < columns; node++)
            if (node < episode->size)
                app_csv_seconds(csv, told->times_ns[i][k * episode->size + node]);
            else
                app_csv_string(csv, NULL);
    }
}

static int write_csv(const char *path, const sf_occurrences_columns *told, sf_error *error)
{
    sf_text text = {0};
    uint32_t columns = 2;
    for (size_t i = 0; i < told->count; i++)
        columns = told->episodes[i].size > columns ? told->episodes[i].size : columns;
    app_csv csv = app_csv_start_file(&text, "id,episode,occurrence");
    for (uint32_t node = 0; node < columns; node++)
        sf_text_printf(&text, ",spike_%" PRIu32 "_s", node + 1);
    for (size_t i = 0; i < told->count; i++)
        print_occurrences(&csv, told, i, columns);
    sf_text_printf(&text, "\n");
    int status = sf_file_write(&text, path, error);
    sf_text_free(&text);
    return status;
}

/* ---- either ---- */

static bool is_hdf5(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".h5") == 0;
}

static int write_hdf5(const app_call *call, const sf_occurrences *occurrences, const char *path,
                      const char *configuration, sf_error *error)
{
    sf_text provenance = app_provenance_text(call);
    int status = provenance.failed
                     ? sf_fail_memory(error)
                     : sf_occurrences_write(occurrences, path, configuration, provenance.data, error);
    sf_text_free(&provenance);
    return status;
}

int app_occurrences_write(const app_call *call, const char *path, const sf_recording *recording,
                          const sf_episodes_columns *told, const char *configuration, sf_error *error)
{
    sf_occurrences *occurrences;
    sf_progress progress = app_progress(call);
    int status = sf_occurrences_list(&occurrences, recording, told->episodes, told->expected, told->count,
                                     &progress, error);
    if (status != SF_OK) return status;
    sf_occurrences_columns found = {.size = sizeof found};
    sf_occurrences_get_columns(occurrences, &found);
    status = is_hdf5(path) ? write_hdf5(call, occurrences, path, configuration, error)
                           : write_csv(path, &found, error);
    sf_occurrences_free(occurrences);
    return status;
}

/* ---- info ---- */

static uint64_t count_all(const sf_occurrences_columns *told)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < told->count; i++)
        sum += told->counts[i];
    return sum;
}

static size_t count_units(const sf_occurrences_columns *told)
{
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(told->recording, &of);
    return of.unit_count;
}

/* The document, whose episodes are rows of arrays. */
typedef struct content {
    const char *format;
    sf_occurrences_columns told;
    uint64_t units, occurrences;
} content;

SF_LENGTH(count_episodes)
{
    *length = ((const content *)of)->told.count;
    return true;
}

#define ROW content
static const sf_column_row episode_rows[] = {
    SF_EPISODE_ID_IS("id", told.episodes, told.recording),
    SF_EPISODE_UNITS_ARE(told.episodes, told.recording),
    SF_ARRAY_IS(COUNT, "count", told.counts, "occurrences of which no two overlap"),
    SF_ARRAY_IS(REAL, "expected", told.expected,
                "by rates: the count that units which fire independently at their rates would give",
                .null = "not known"),
};

static const sf_column_row document_rows[] = {
    SF_MEMBER_IS(TEXT, format, "the layout: synfire occurrences 1"),
    SF_FIELD_IS(TEXT, "recording", told.counted_in, "that they were counted in", .null = "not known"),
    SF_MEMBER_IS(COUNT, units, "units of it"),
    SF_MEMBER_IS(COUNT, occurrences, "of all episodes"),
    SF_RECORDS_BY("episodes", sf_column_own_row, count_episodes, episode_rows, "episodes"),
};
#undef ROW

const sf_table app_occurrences_document = {
    .name = "occurrences", .about = "a file of mine --occurrences", SF_TABLE_OF(document_rows)};

static void describe_json(sf_text *text, const app_call *call, const sf_occurrences_columns *told)
{
    const content of = {"synfire occurrences 1", *told, count_units(told), count_all(told)};
    app_document_json(text, call, &app_occurrences_document, &of);
}

#define MOST_LISTED 20

static void describe_text(sf_text *text, const char *path, const sf_occurrences_columns *told)
{
    size_t listed = told->count < MOST_LISTED ? told->count : MOST_LISTED;
    sf_text_printf(text, "%s: synfire occurrences 1\n", path);
    sf_text_printf(text, "  recording   %s, %zu units\n",
                   told->counted_in != NULL ? told->counted_in : "not known", count_units(told));
    sf_text_printf(text, "  episodes    %zu\n  occurrences %" PRIu64 ", every spike time of each\n",
                   told->count, count_all(told));
    if (told->count > 0) {
        app_table table = {0};
        sf_text_printf(text, "\n");
        app_table_cell(&table, "episode");
        app_table_cell(&table, "occurrences");
        for (size_t i = 0; i < listed; i++) {
            sf_text spelt = app_episode_text(told->recording, &told->episodes[i]);
            app_table_cell(&table, "%s", spelt.data != NULL ? spelt.data : "");
            app_table_cell(&table, "%" PRIu64, told->counts[i]);
            sf_text_free(&spelt);
        }
        app_table_print(&table, text, 2);
    }
    if (listed < told->count)
        sf_text_printf(text, "the first %zu of %zu episodes; --json lists all\n", listed, told->count);
    if (!text->failed) text->data[--text->length] = '\0'; /* app_print ends the last line */
}

int app_occurrences_describe(sf_text *text, const app_call *call, const char *path, sf_error *error)
{
    sf_occurrences *occurrences;
    int status = sf_occurrences_open(&occurrences, path, error);
    if (status != SF_OK) return status;
    sf_occurrences_columns told = {.size = sizeof told};
    sf_occurrences_get_columns(occurrences, &told);
    if (call->json)
        describe_json(text, call, &told);
    else
        describe_text(text, path, &told);
    sf_occurrences_free(occurrences);
    return SF_OK;
}
