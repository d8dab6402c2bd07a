/* SPDX-License-Identifier: Apache-2.0 */
/* Analyses of a recording by name, as synfire/recording.h offers them. */
#include "analysis/burst_report.h"
#include "analysis/criticality.h"
#include "analysis/response_report.h"
#include "analysis/sequence_report.h"

#include "core/describe/table.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/recording.h"

#include <stdio.h>
#include <string.h>

/* ---- options in words ---- */

/* What options may refer to: option rows, each table with its struct, and chains if the analysis takes any.
 */
typedef struct options_of {
    struct {
        const sf_key_table *table;
        void *of;
    } rows[2];
    bool takes_episodes;
    const sf_recording *recording;
    sf_episode *episodes;
    size_t episode_count;
} options_of;

static const sf_key *find_key(const sf_key_table *table, const char *name)
{
    const sf_key *keys[SF_KEYS_MOST];
    size_t count = sf_keys_of(table, NULL, keys);
    for (size_t k = 0; k < count; k++)
        if (sf_key_is_option(keys[k], name)) return keys[k];
    return NULL;
}

static int read_episode(options_of *options, const char *text, sf_error *error)
{
    sf_episode *more = sf_resize(options->episodes, options->episode_count + 1, sizeof *more);
    if (more == NULL) return sf_fail_memory(error);
    options->episodes = more;
    int status = sf_recording_parse_episode(options->recording, text, &more[options->episode_count], error);
    if (status == SF_OK)
        status = sf_recording_check_episode(options->recording, &more[options->episode_count], error);
    options->episode_count += status == SF_OK;
    return status;
}

static int read_row(const sf_key *key, const sf_key_table *table, void *of, const char *name,
                    const char *value, sf_error *error)
{
    if (key->type == SF_KEY_FORM) {
        sf_error reason = {0};
        int status = key->read(of, value, &reason);
        return status == SF_OK ? SF_OK : sf_fail(error, (sf_status)status, name, "%s", reason.text);
    }
    if (sf_key_parse(key, of, value)) {
        if (key->type == SF_KEY_TEXT) /* rows do not store texts, which they do not own */
            *(const char **)sf_key_at(key, of) = value;
        return SF_OK;
    }
    sf_text expected = {0};
    sf_key_expected(&expected, key, table);
    int status = expected.failed
                     ? sf_fail_memory(error)
                     : sf_fail(error, SF_USAGE, name, "found '%s', expected %s", value, expected.data);
    sf_text_free(&expected);
    return status;
}

/* Reads an option in the form of the command, such as "branching-bin=4". */
static int read_option(options_of *options, const char *option, sf_error *error)
{
    char name[64];
    const char *equals = strchr(option, '=');
    snprintf(name, sizeof name, "%.*s", equals != NULL ? (int)(equals - option) : 0, option);
    if (options->takes_episodes && strcmp(name, "episodes") == 0)
        return read_episode(options, equals + 1, error);
    for (size_t t = 0; t < 2 && options->rows[t].table != NULL; t++) {
        const sf_key *key = find_key(options->rows[t].table, name);
        if (key != NULL)
            return read_row(key, options->rows[t].table, options->rows[t].of, name, equals + 1, error);
    }
    return sf_fail(error, SF_USAGE, option, "is no option of this analysis");
}

static int read_options(options_of *options, const char *const *given, sf_error *error)
{
    int status = SF_OK;
    for (; given != NULL && *given != NULL && status == SF_OK; given++)
        status = read_option(options, *given, error);
    return status;
}

/* ---- analyses ---- */

typedef struct asked {
    const sf_recording *recording;
    const char *const *options;
    const sf_progress *progress;
} asked;

static int find_criticality(sf_json *json, const asked *a, sf_error *error)
{
    sf_criticality_options how = SF_CRITICALITY_OPTIONS;
    sf_criticality found = {0};
    options_of options = {.rows = {{&sf_criticality_options_table, &how}}};
    int status = read_options(&options, a->options, error);
    if (status == SF_OK) status = sf_criticality_find(&found, a->recording, &how, a->progress, error);
    if (status == SF_OK) sf_table_json_fields(json, &sf_criticality_document, &found);
    sf_criticality_free(&found);
    return status;
}

static int find_bursts(sf_json *json, const asked *a, sf_error *error)
{
    sf_burst_report_options how = SF_BURST_REPORT_OPTIONS;
    sf_burst_report found = {0};
    options_of options = {
        .rows = {{&sf_activity_table, &how.activity}, {&sf_burst_report_options_table, &how}}};
    int status = read_options(&options, a->options, error);
    if (status == SF_OK) status = sf_activity_check(&how.activity, error);
    if (status == SF_OK) status = sf_burst_report_find(&found, a->recording, &how, error);
    if (status == SF_OK) sf_table_json_fields(json, &sf_burst_report_document, &found);
    sf_burst_report_free(&found);
    return status;
}

static int find_responses(sf_json *json, const asked *a, sf_error *error)
{
    sf_response_options how = SF_RESPONSE_OPTIONS;
    sf_response_report found = {0};
    options_of options = {
        .rows = {{&sf_response_table, &how}}, .takes_episodes = true, .recording = a->recording};
    int status = read_options(&options, a->options, error);
    if (status == SF_OK) status = sf_response_check(&how, error);
    if (status == SF_OK)
        status = sf_response_report_find(&found, a->recording, &how, options.episodes, options.episode_count,
                                         a->progress, error);
    if (status == SF_OK) sf_table_json_fields(json, &sf_response_report_document, &found);
    sf_response_report_free(&found);
    sf_free(options.episodes);
    return status;
}

static int find_sequences(sf_json *json, const asked *a, sf_error *error)
{
    sf_activity_options activity = SF_ACTIVITY_OPTIONS;
    sf_sequence_options how = SF_SEQUENCE_OPTIONS;
    sf_sequence_report found = {0};
    options_of options = {.rows = {{&sf_sequence_table, &how}, {&sf_activity_table, &activity}},
                          .takes_episodes = true,
                          .recording = a->recording};
    int status = read_options(&options, a->options, error);
    if (status == SF_OK)
        status = sf_sequence_report_find(&found, a->recording, &activity, &how, options.episodes,
                                         options.episode_count, a->progress, error);
    if (status == SF_OK) sf_table_json_fields(json, &sf_sequence_report_document, &found);
    sf_sequence_report_free(&found);
    sf_free(options.episodes);
    return status;
}

static const struct {
    const char *name;
    int (*find)(sf_json *json, const asked *a, sf_error *error);
} analyses[] = {{"bursts", find_bursts},
                {"responses", find_responses},
                {"sequences", find_sequences},
                {"criticality", find_criticality}};

int sf_recording_analyse(char **text, const sf_recording *recording, const char *analysis,
                         const char *const *options, const sf_progress *progress, sf_error *error)
{
    const asked a = {recording, options, progress};
    size_t which = 0, count = sizeof analyses / sizeof *analyses;
    sf_text written = {0};
    sf_json json = sf_json_start(&written);
    *text = NULL;
    while (which < count && strcmp(analysis, analyses[which].name) != 0)
        which++;
    int status = sf_recording_check_held(recording, error);
    if (status == SF_OK && which == count)
        status = sf_fail(error, SF_USAGE, "analysis",
                         "found '%s', expected bursts, responses, sequences or criticality", analysis);
    sf_json_object(&json, NULL);
    if (status == SF_OK) status = analyses[which].find(&json, &a, error);
    sf_json_end_object(&json);
    if (status == SF_OK && written.failed) status = sf_fail_memory(error);
    if (status == SF_OK)
        *text = written.data;
    else
        sf_text_free(&written);
    return status;
}
