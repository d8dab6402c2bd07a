/* SPDX-License-Identifier: Apache-2.0 */
#include "app/sensitivity.h"

#include "core/describe/table.h"
#include "core/error.h"

#include <inttypes.h>
#include <math.h>

#define ROW app_sensitive
static const sf_column_row rows[] = {
    SF_MEMBER_IS(TEXT, change, "what was changed"),
    SF_MEMBER_IS(REAL, width_ms, "width of the surrogates' shifts", .unit = "ms",
                 .null = "the test has none"),
    SF_MEMBER_IS(COUNT, chains, "significant chains of the page that were counted and tested anew"),
    SF_MEMBER_IS(COUNT, significant, "those with a q of 0.05 or less, corrected among them",
                 .null = "there is no such test"),
};
#undef ROW

const sf_table app_sensitivity_table = {
    .name = "sensitivity",
    .row = "sensitivity_row",
    .about = "how many significant chains stay so with other widths and delays",
    SF_TABLE_OF(rows)};

/* ---- what is changed ---- */

/* Factors on the width of the test and on that of each delay, and a shift of each delay in units of its
 * width. */
typedef struct change {
    const char *name;
    double test, delay, moved;
} change;

static const change changes[APP_SENSITIVITY] = {
    {"nothing changed", 1, 1, 0},
    {"half the width of the test", 0.5, 1, 0},
    {"twice the width of the test", 2, 1, 0},
    {"half the delay interval", 1, 0.5, 0},
    {"twice the delay interval", 1, 2, 0},
    {"delays half an interval earlier", 1, 1, -0.5},
    {"delays half an interval later", 1, 1, 0.5},
};

/* About its middle; no delay is below 0. */
static sf_delay change_delay(sf_delay delay, const change *by)
{
    double middle = ((double)delay.low_ns + (double)delay.high_ns) / 2;
    double width = (double)(delay.high_ns - delay.low_ns);
    middle += by->moved * width;
    return (sf_delay){(int64_t)fmax(0, round(middle - by->delay * width / 2)),
                      (int64_t)round(middle + by->delay * width / 2)};
}

/* ---- what is tested ---- */

/* Takes the first chains that stand out; the result is ordered by that. */
static size_t choose(sf_episode *chosen, const sf_episodes_columns *told)
{
    size_t count = 0;
    for (size_t i = 0; i < told->count && count < APP_SENSITIVITY_MOST; i++)
        if (app_chain_stands(told, i)) chosen[count++] = told->episodes[i];
    return count;
}

/* False where the change leaves nothing of an interval. */
static bool change_all(sf_episode *changed, const sf_episode *chosen, size_t count, const change *by)
{
    bool right = true;
    for (size_t i = 0; i < count; i++) {
        changed[i] = chosen[i];
        for (size_t link = 0; link + 1 < chosen[i].size; link++) {
            changed[i].delays[link] = change_delay(chosen[i].delays[link], by);
            right = right && changed[i].delays[link].low_ns < changed[i].delays[link].high_ns;
        }
    }
    return right;
}

static int count_significant(uint64_t *significant, const app_subject *subject, const sf_episode *episodes,
                             size_t count, const sf_significance_options *test, sf_error *error)
{
    const sf_progress progress = app_progress(subject->call);
    sf_counting_options how = sf_counting_options_default();
    sf_episodes *counted = NULL;
    sf_episodes_columns told = {.size = sizeof told};
    how.significance = test;
    int status = sf_count(&counted, subject->recording, episodes, count, &how, &progress, error);
    if (status == SF_USAGE || status == SF_DATA) return SF_OK; /* no such test */
    if (status == SF_OK) {
        sf_episodes_get_columns(counted, &told);
        *significant = 0;
        for (size_t i = 0; i < told.count; i++)
            *significant += told.q[i] <= SF_SIGNIFICANT_Q;
    }
    sf_episodes_free(counted);
    return status;
}

int app_sensitivity_find(app_sensitivity *found, app_subject *subject, sf_error *error)
{
    sf_episode chosen[APP_SENSITIVITY_MOST], changed[APP_SENSITIVITY_MOST];
    sf_episodes_columns told;
    *found = (app_sensitivity){0};
    int status = app_subject_chains(subject, &told, error);
    size_t count = status == SF_OK && told.significance != NULL ? choose(chosen, &told) : 0;
    for (size_t k = 0; status == SF_OK && count > 0 && k < APP_SENSITIVITY; k++) {
        sf_significance_options test = subject->test;
        const sf_significance_options *used = &told.significance->options;
        app_sensitive *row = &found->rows[found->count++];
        test.segment_ns = used->segment_ns;
        test.width_ns = (int64_t)round((double)used->width_ns * changes[k].test);
        *row = (app_sensitive){changes[k].name, (double)test.width_ns * 1e-6, count, SF_NO_COUNT};
        if (change_all(changed, chosen, count, &changes[k]))
            status = count_significant(&row->significant, subject, changed, count, &test, error);
    }
    return status;
}

/* ---- telling ---- */

void app_sensitivity_print(sf_text *words, const app_sensitivity *found)
{
    const app_sensitive *as_it_was = &found->rows[0];
    sf_text_printf(words,
                   "Of %" PRIu64
                   " significant chain%s that %s no part of another, counted and tested by %s with "
                   "the same surrogates, %" PRIu64 " ha%s a q of %g or less",
                   as_it_was->chains, as_it_was->chains == 1 ? "" : "s",
                   as_it_was->chains == 1 ? "is" : "are", as_it_was->chains == 1 ? "itself" : "themselves",
                   as_it_was->significant, as_it_was->significant == 1 ? "s" : "ve", SF_SIGNIFICANT_Q);
    for (size_t k = 1; k < found->count; k++) {
        const app_sensitive *row = &found->rows[k];
        sf_text_printf(words, "%s %s: ", k == 1 ? "; with" : ", with", row->change);
        if (row->significant == SF_NO_COUNT)
            sf_text_printf(words, "not tested");
        else
            sf_text_printf(words, "%" PRIu64, row->significant);
    }
    sf_text_printf(words, ".");
}

void app_sensitivity_json(sf_json *json, const app_sensitivity *found)
{
    sf_table table = app_sensitivity_table;
    table.of = found->rows;
    table.row_count = found->count;
    sf_table_json_rows(json, "sensitivity", &table);
}
