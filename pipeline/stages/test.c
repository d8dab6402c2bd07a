/* SPDX-License-Identifier: Apache-2.0 */
/* Significance: gathers a stretch's spikes, adopts the tests of the previous one, and fixes what is tested in
 * the next. In real time tests run in the background. */
#include "pipeline/connections.h"
#include "pipeline/hop.h"
#include "pipeline/testing.h"
#include "pipeline/tracking.h"

static int test(sf_hop *hop, sf_error *error);
static int begin(sf_hop *hop, sf_error *error);

const sf_stage sf_stage_test = {
    .name = "test",
    .in = "history extract; sources extract",
    .out = "tests assign",
    .rounds = {.loop = "tested",
               .round = "surrogates_e",
               .variable = "e",
               .from = "tests[1]",
               .to = "tests[n]",
               .in = "tests.stretch extract",
               .out = "tests[e] assign"},
    .part = SF_PART_TEST,
    .run = test,
};

/* Only if a stretch begins with the end of the window. */
const sf_stage sf_stage_begin = {
    .name = "begin",
    .in = "tracked extract; graph extract",
    .out = "tests assign",
    .part = SF_PART_TEST,
    .run = begin,
};

static int test(sf_hop *hop, sf_error *error)
{
    const sf_hop_sources *sources = sf_read_sources(hop);
    uint64_t breaks = sources->breaks != NULL ? sources->breaks(sources->user) : 0;
    return sf_testing_advance(sf_change_tests(hop, SF_PLAN_ASSIGN), hop->segment, sf_read_history(hop),
                              breaks, error);
}

static int begin(sf_hop *hop, sf_error *error)
{
    return sf_testing_begin(sf_change_tests(hop, SF_PLAN_ASSIGN), hop->segment, &sf_read_tracked(hop)->now,
                            &sf_read_graph(hop)->snapshot, error);
}
