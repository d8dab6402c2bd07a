/* SPDX-License-Identifier: Apache-2.0 */
/* Analyses of a recording by their names, as synfire/recording.h offers them. */
#include "analysis/criticality.h"

#include "core/describe/table.h"
#include "core/error.h"
#include "core/recording.h"

#include <stdio.h>
#include <string.h>

/* ---- options in words ---- */

static const sf_key *find_key(const sf_key_table *table, const char *name)
{
    const sf_key *keys[SF_KEYS_MOST];
    size_t count = sf_keys_of(table, NULL, keys);
    for (size_t k = 0; k < count; k++)
        if (sf_key_is_option(keys[k], name))
            return keys[k];
    return NULL;
}

/* "branching-bin=4": an option as the command has it. */
static int read_option(void *of, const sf_key_table *table, const char *option, sf_error *error)
{
    char name[64];
    const char *equals = strchr(option, '=');
    snprintf(name, sizeof name, "%.*s", equals != NULL ? (int)(equals - option) : 0, option);
    const sf_key *key = find_key(table, name);
    if (key == NULL)
        return sf_fail(error, SF_USAGE, option, "is no option of this analysis");
    if (sf_key_parse(key, of, equals + 1))
        return SF_OK;
    sf_text expected = {0};
    sf_key_expected(&expected, key, table);
    int status = expected.failed
                     ? sf_fail_memory(error)
                     : sf_fail(error, SF_USAGE, name, "found '%s', expected %s", equals + 1, expected.data);
    sf_text_free(&expected);
    return status;
}

/* ---- analyses ---- */

static int find_criticality(sf_json *json, const sf_recording *recording, const char *const *options,
                            const sf_progress *progress, sf_error *error)
{
    sf_criticality_options how = SF_CRITICALITY_OPTIONS;
    sf_criticality found = {0};
    int status = SF_OK;
    for (; options != NULL && *options != NULL && status == SF_OK; options++)
        status = read_option(&how, &sf_criticality_options_table, *options, error);
    if (status == SF_OK)
        status = sf_criticality_find(&found, recording, &how, progress, error);
    for (size_t i = 0; i < SF_CRITICALITY_TABLES && status == SF_OK; i++) {
        const sf_table table = sf_criticality_table(&found, i);
        sf_table_json_rows(json, table.name, &table);
    }
    sf_criticality_free(&found);
    return status;
}

int sf_recording_analyse(char **text, const sf_recording *recording, const char *analysis,
                         const char *const *options, const sf_progress *progress, sf_error *error)
{
    sf_text written = {0};
    sf_json json = sf_json_start(&written);
    *text = NULL;
    int status = sf_recording_check_held(recording, error);
    if (status == SF_OK && strcmp(analysis, "criticality") != 0)
        status = sf_fail(error, SF_USAGE, "analysis", "found '%s', expected criticality", analysis);
    sf_json_object(&json, NULL);
    if (status == SF_OK)
        status = find_criticality(&json, recording, options, progress, error);
    sf_json_end_object(&json);
    if (status == SF_OK && written.failed)
        status = sf_fail_memory(error);
    if (status == SF_OK)
        *text = written.data;
    else
        sf_text_free(&written);
    return status;
}
