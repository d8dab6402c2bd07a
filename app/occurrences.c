/* SPDX-License-Identifier: Apache-2.0 */
#include "app/occurrences.h"

#include "app/mining.h"
#include "core/episode.h"
#include "core/file.h"
#include "core/memory.h"
#include "io/occurrence_file.h"

#include <inttypes.h>
#include <string.h>

typedef struct request {
    const char *path;
    const sf_recording *recording;
    const sf_episode *episodes;
    const double *expected;
    size_t count;
    const sf_counter *counter;
} request;

/* ---- CSV ---- */

static void print_occurrence(sf_text *text, const char *id, const char *quoted, size_t number,
                             const int64_t *times, uint32_t size, uint32_t columns)
{
    sf_text_printf(text, "\n%s,%s,%zu", id, quoted, number);
    for (uint32_t node = 0; node < columns; node++) {
        sf_text_printf(text, ",");
        if (node < size)
            sf_text_scaled(text, times[node], 9);
    }
}

static int print_episode(sf_text *text, const request *r, size_t i, uint32_t columns, sf_error *error)
{
    const sf_episode *episode = &r->episodes[i];
    int64_t *times;
    size_t count;
    int status = sf_counter_occurrences(r->counter, i, &times, &count, error);
    if (status != SF_OK)
        return status;
    char id[SF_EPISODE_ID_SIZE];
    sf_episode_id(id, episode, &r->recording->units);
    sf_text spelt = app_episode_text(episode, &r->recording->units), quoted = {0};
    app_csv_quote(&quoted, spelt.data != NULL ? spelt.data : "");
    for (size_t k = 0; k < count && quoted.data != NULL; k++)
        print_occurrence(text, id, quoted.data, k + 1, times + k * episode->size, episode->size, columns);
    text->failed = text->failed || spelt.data == NULL || quoted.failed;
    sf_text_free(&spelt);
    sf_text_free(&quoted);
    sf_free(times);
    return SF_OK;
}

static int write_csv(const request *r, sf_error *error)
{
    sf_text text = {0};
    uint32_t columns = 2;
    for (size_t i = 0; i < r->count; i++)
        columns = r->episodes[i].size > columns ? r->episodes[i].size : columns;
    sf_text_printf(&text, "id,episode,occurrence");
    for (uint32_t node = 0; node < columns; node++)
        sf_text_printf(&text, ",spike_%" PRIu32 "_s", node + 1);
    int status = SF_OK;
    for (size_t i = 0; i < r->count && status == SF_OK; i++)
        status = print_episode(&text, r, i, columns, error);
    sf_text_printf(&text, "\n");
    if (status == SF_OK)
        status = sf_file_write(&text, r->path, error);
    sf_text_free(&text);
    return status;
}

/* ---- HDF5 ---- */

static int write_hdf5(const request *r, const char *configuration, const char *provenance, sf_error *error)
{
    sf_occurrence_file *file;
    int status = sf_occurrence_file_create(&file, r->path, r->recording, configuration, provenance, error);
    for (size_t i = 0; i < r->count && status == SF_OK; i++) {
        int64_t *times;
        size_t count;
        status = sf_counter_occurrences(r->counter, i, &times, &count, error);
        if (status != SF_OK)
            break;
        status = sf_occurrence_file_add(file, &r->episodes[i], r->expected[i], times, count, error);
        sf_free(times);
    }
    int closed = sf_occurrence_file_close(file, status == SF_OK, error);
    return status == SF_OK ? closed : status;
}

int app_occurrences_write(const char *path, const sf_recording *recording, const sf_episode *episodes,
                          const double *expected, size_t count, const char *configuration,
                          const char *provenance, sf_error *error)
{
    sf_counter *counter;
    int status = sf_counter_open(&counter, recording->spikes, recording->spike_count, recording->units.count,
                                 episodes, count, NULL, 1, error);
    if (status != SF_OK)
        return status;
    request r = {path, recording, episodes, expected, count, counter};
    size_t length = strlen(path);
    bool hdf5 = length > 3 && strcmp(path + length - 3, ".h5") == 0;
    status = hdf5 ? write_hdf5(&r, configuration, provenance, error) : write_csv(&r, error);
    sf_counter_close(counter);
    return status;
}

/* ---- info ---- */

static void describe_json(sf_text *text, const app_call *call, const sf_occurrence_set *set)
{
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "format", "synfire occurrences 1");
    if (set->recording != NULL)
        sf_json_string(&json, "recording", set->recording);
    else
        sf_json_null(&json, "recording");
    sf_json_uint(&json, "units", set->units.count);
    sf_json_uint(&json, "occurrences", set->first[set->count]);
    sf_json_array(&json, "episodes");
    for (size_t i = 0; i < set->count; i++) {
        sf_json_object(&json, NULL);
        app_episode_json(&json, &set->episodes[i], &set->units);
        sf_json_uint(&json, "count", set->first[i + 1] - set->first[i]);
        sf_json_real(&json, "expected", set->expected[i]);
        sf_json_end_object(&json);
    }
    sf_json_end_array(&json);
    app_provenance_json(&json, call);
    sf_json_end_object(&json);
}

#define MOST_LISTED 20

static void describe_text(sf_text *text, const char *path, const sf_occurrence_set *set)
{
    size_t listed = set->count < MOST_LISTED ? set->count : MOST_LISTED;
    sf_text_printf(text, "%s: synfire occurrences 1\n", path);
    sf_text_printf(text, "  recording   %s, %zu units\n",
                   set->recording != NULL ? set->recording : "not known", set->units.count);
    sf_text_printf(text, "  episodes    %zu\n  occurrences %" PRIu64 ", every spike time of each\n",
                   set->count, set->first[set->count]);
    if (set->count > 0) {
        app_table table = {0};
        sf_text_printf(text, "\n");
        app_table_cell(&table, "episode");
        app_table_cell(&table, "occurrences");
        for (size_t i = 0; i < listed; i++) {
            sf_text spelt = app_episode_text(&set->episodes[i], &set->units);
            app_table_cell(&table, "%s", spelt.data != NULL ? spelt.data : "");
            app_table_cell(&table, "%" PRIu64, set->first[i + 1] - set->first[i]);
            sf_text_free(&spelt);
        }
        app_table_print(&table, text, 2);
    }
    if (listed < set->count)
        sf_text_printf(text, "the first %zu of %zu episodes; --json lists all\n", listed, set->count);
    if (!text->failed)
        text->data[--text->length] = '\0'; /* app_print ends the last line */
}

int app_occurrences_describe(sf_text *text, const app_call *call, const char *path, sf_error *error)
{
    sf_occurrence_set set;
    int status = sf_occurrence_file_read(&set, path, error);
    if (status != SF_OK)
        return status;
    if (call->json)
        describe_json(text, call, &set);
    else
        describe_text(text, path, &set);
    sf_occurrence_set_free(&set);
    return SF_OK;
}
