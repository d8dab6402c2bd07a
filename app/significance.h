/* SPDX-License-Identifier: Apache-2.0 */
/** Options and output of tests of significance, which `mine` and `graph` share. */
#ifndef SF_APP_SIGNIFICANCE_H
#define SF_APP_SIGNIFICANCE_H

#include "app/mining.h"

#include "core/describe/column.h"
#include "graph/rows.h"

#include <synfire/graph.h>

/** --significance --fdr --max-p --max-q */
extern const app_option app_significance_options[];

/** --surrogates --seed, for commands in which nothing else has them. */
extern const app_option app_surrogate_options[];

/** What the options ask for. Zeroed: no test. */
typedef struct app_test {
    bool asked;
    bool by_rate; /**< --fdr */
    sf_significance_options options;
} app_test;

/** --fdr. */
extern const sf_key_table app_test_table;

/**
 * Reads the options where --significance was given; refuses those that need it without it. Warns of kinds,
 * and of limits, that say little. SF_USAGE.
 */
int app_test_parse(app_test *test, const app_call *call, sf_error *error);

/** As the library takes them: NULL without a test. */
static inline const sf_significance_options *app_test_options(const app_test *test)
{
    return test->asked ? &test->options : NULL;
}

/** Warns of what --max-p without --max-q is worth: once the options are accepted, so that a refusal stands
 * alone. app_test_parse does it itself. */
void app_limits_warn(const app_call *call);

/** The heading of a table of counts that no test was made of: why their expectation, and the intervals that
 * a table has beside it, say little, and what to type. */
void app_untested_print(sf_text *text, size_t bursts, bool intervals);

/** The heading of a table of counts that surrogates tested, where units share several bursts: what its
 * expectation by rates and its intervals then are worth. */
void app_tested_print(sf_text *text, const sf_significance *test, size_t bursts);

/** The line under a graph's heading, of what tests say of its edges; nothing where there is nothing to test.
 * Where edges are not listed below, with their intervals, it tells how many a test left. */
void app_edges_print(sf_text *text, const sf_graph_columns *graph, bool listed);

/** The same within a line that tells of what edges make: " (...)", or "". */
const char *app_edges_remark(const sf_graph_columns *graph);

/** Warns of what a device did not do, and of episodes that the analytic test says nothing of. */
void app_significance_warn(const app_call *call, const sf_episodes_columns *told);

/** What the test says of episode i: four cells. */
void app_verdict_heads(app_table *table);
void app_verdict_cells(app_table *table, const sf_episodes_columns *told, size_t i);

/** What pairs would have had to count on this recording for a low q; nothing where none was tested, or where
 * chance gives none a count. */
void app_power_print(sf_text *text, const sf_significance *told);

/** What app_methods appends, as a text of a document. */
void app_methods_value(sf_value *value, const sf_episodes *episodes, const app_call *call);

/** Appends what was done as a paper prints it. SF_NO_MEMORY. */
int app_methods(sf_text *text, const sf_episodes *episodes, const app_call *call, sf_error *error);

/** Where no episode could be tested: appends why, and what to do instead; or warns of it. */
void app_not_tested_print(sf_text *text, const sf_significance *told);
void app_not_tested_warn(const app_call *call, const sf_significance *told);

#endif
