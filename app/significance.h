/* SPDX-License-Identifier: Apache-2.0 */
/** Options and output of significance tests, shared by `mine` and `graph`. */
#ifndef SF_APP_SIGNIFICANCE_H
#define SF_APP_SIGNIFICANCE_H

#include "app/mining.h"

#include "core/describe/column.h"
#include "graph/rows.h"

#include <synfire/graph.h>

/** --significance --fdr --max-p --max-q */
extern const app_option app_significance_options[];

/** --surrogates --seed, for commands without other options of these names. */
extern const app_option app_surrogate_options[];

/** The test that the options request. Zeroed: no test. */
typedef struct app_test {
    bool asked;
    bool by_rate; /**< --fdr */
    sf_significance_options options;
} app_test;

/** --fdr. */
extern const sf_key_table app_test_table;

/**
 * Reads the options if --significance was given; without it, refuses those that need it. Warns of kinds and
 * limits that say little. SF_USAGE.
 */
int app_test_parse(app_test *test, const app_call *call, sf_error *error);

/** The options for the library: NULL without a test. */
static inline const sf_significance_options *app_test_options(const app_test *test)
{
    return test->asked ? &test->options : NULL;
}

/** Warns how little --max-p without --max-q says. Call it once the options are accepted, so that a refusal
 * stands alone; app_test_parse calls it itself. */
void app_limits_warn(const app_call *call);

/** The heading of a table of untested counts: why their expectation, and the intervals in the table, say
 * little, and what to type instead. */
void app_untested_print(sf_text *text, size_t bursts, bool intervals);

/** The heading of a table of counts tested by surrogates, if units share several bursts: how to read its
 * expectation by rates and its intervals. */
void app_tested_print(sf_text *text, const sf_significance *test, size_t bursts);

/** The line under a graph's heading about the tests of its edges; nothing if there is nothing to test. If
 * edges are not listed below, with their intervals, it gives the number that a test left. */
void app_edges_print(sf_text *text, const sf_graph_columns *graph, bool listed);

/** The same inside a line about something derived from edges: " (...)", or "". */
const char *app_edges_remark(const sf_graph_columns *graph);

/** Warns of what a device did not do, and of episodes that the analytic test cannot judge. */
void app_significance_warn(const app_call *call, const sf_episodes_columns *told);

/** Appends four cells with the test results of episode i. */
void app_verdict_heads(app_table *table);
void app_verdict_cells(app_table *table, const sf_episodes_columns *told, size_t i);

/** Appends the counts that pairs need on this recording for a low q; nothing if no pair was tested, or chance
 * gives none a count. */
void app_power_print(sf_text *text, const sf_significance *told);

/** The text of app_methods as a field of a document. */
void app_methods_value(sf_value *value, const sf_episodes *episodes, const app_call *call);

/** Appends the methods paragraph for a paper. SF_NO_MEMORY. */
int app_methods(sf_text *text, const sf_episodes *episodes, const app_call *call, sf_error *error);

/** If no episode could be tested: appends why, and what to do instead; or warns of it. */
void app_not_tested_print(sf_text *text, const sf_significance *told);
void app_not_tested_warn(const app_call *call, const sf_significance *told);

#endif
