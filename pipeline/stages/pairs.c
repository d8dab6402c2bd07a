/* SPDX-License-Identifier: Apache-2.0 */
/* The counts of all pairs follow the window, if the graph is built from them; a discovery that starts in this
 * hop starts from the frequent ones. */
#include "mine/mine.h"
#include "pipeline/discovery.h"
#include "pipeline/hop.h"
#include "pipeline/pairing.h"

static int run(sf_hop *hop, sf_error *error);

const sf_stage sf_stage_pairs = {
    .name = "pairs",
    .in = "history extract; window extract",
    .out = "pairs assign",
    .rounds = {.loop = "followers",
               .round = "follow_u",
               .variable = "u",
               .from = "pairs[1]",
               .to = "pairs[n]",
               .in = "history extract; window extract",
               .out = "pairs[u] assign"},
    .part = SF_PART_PAIRS,
    .run = run,
};

static int run(sf_hop *hop, sf_error *error)
{
    const sf_history *history = sf_read_history(hop);
    const sf_hop_window *window = sf_read_window(hop);
    sf_pairing *pairs = sf_change_pairs(hop, SF_PLAN_ASSIGN);
    if (!sf_pairing_counts(pairs)) return SF_OK;
    double threshold = sf_discovery_threshold(hop->config, window->span, window->end - window->begin);
    return sf_pairing_slide(pairs, history, window->begin, window->end, sf_threshold_least(threshold), error);
}
