/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discovery: mines a window for episodes to track, and adopts what was found. In real time a copy of the
 * window is mined in the background, over as many hops as that takes. If all pairs are counted in each hop,
 * mining starts from them; else it follows the pairs of the previous window.
 */
#include "core/clock.h"
#include "pipeline/accelerator.h"
#include "pipeline/discovery.h"
#include "pipeline/hop.h"
#include "window/segment.h"

static int mine(sf_hop *hop, sf_error *error);
static int track(sf_hop *hop, sf_error *error);

const sf_stage sf_stage_mine = {
    .name = "mine",
    .in = "history extract; window extract; rates extract; pairs extract",
    .out = "device assign; found assign",
    .rounds = {.loop = "candidates",
               .round = "count_c",
               .variable = "c",
               .from = "found[1]",
               .to = "found[n]",
               .in = "history extract; window extract; pairs extract; found[c].candidate extract",
               .out = "found add"},
    .part = SF_PART_DISCOVER,
    .run = mine,
};

/* Takes over what was found, unless what was found before is still being prepared. */
const sf_stage sf_stage_track = {
    .name = "track",
    .in = "history extract",
    .out = "found assign; tracked assign; summaries assign",
    .part = SF_PART_DISCOVER,
    .run = track,
};

static int mine(sf_hop *hop, sf_error *error)
{
    uint32_t every = hop->config->mine.every;
    if (every == 0) return SF_OK;
    sf_discovery *found = sf_change_found(hop, SF_PLAN_ASSIGN);
    const sf_history *history = sf_read_history(hop);
    const sf_hop_window *window = sf_read_window(hop);
    const sf_hop_rates *rates = sf_read_rates(hop);
    sf_discovery_window mined = {.span = window->span,
                                 .observed_ns = rates->observed_ns,
                                 .begin = window->begin,
                                 .end = window->end,
                                 .spikes = sf_history_view(history, window->begin),
                                 .unit_spikes = rates->spikes};
    bool is_asked_for = (hop->segment->hop + 1) % every == 0;
    if (!(is_asked_for ? sf_discovery_may_start(found) : sf_discovery_may_start_late(found)))
        return sf_discovery_see(found, &mined, error);
    const sf_pairing *pairs = sf_read_pairs(hop);
    mined.pairs_known = sf_pairing_counts(pairs);
    if (mined.pairs_known) mined.pairs = sf_pairing_found(pairs, &mined.pair_count);
    int status = sf_accelerator_hold(sf_change_device(hop, SF_PLAN_ASSIGN), history, window->begin,
                                     window->end, &mined.resident, error);
    return status == SF_OK ? sf_discovery_start(found, &mined, error) : status;
}

static int take_found(sf_hop *hop, sf_tracked_episodes *tracked, sf_counting *summaries, sf_error *error)
{
    bool ready;
    sf_discovery *found = sf_change_found(hop, SF_PLAN_ASSIGN);
    int status = sf_discovery_take(found, &ready, &tracked->next, error);
    if (status != SF_OK || !ready) return status;
    hop->parts_ns[SF_PART_MINE] = (int64_t)(found->taken.seconds * 1e9);
    return sf_tracked_prepare(tracked, summaries, sf_read_history(hop), error);
}

/* The hop spends a share of its time on the list if none of the time before it was spent, and the list is not
 * from this hop. On a virtual clock hops have all the time they need. */
static int track(sf_hop *hop, sf_error *error)
{
    if (hop->config->mine.every == 0) return SF_OK;
    sf_tracked_episodes *tracked = sf_change_tracked(hop, SF_PLAN_ASSIGN);
    sf_counting *summaries = sf_change_summaries(hop, SF_PLAN_ASSIGN);
    bool is_new = !tracked->preparing, went_on = tracked->went_on;
    int status = is_new ? take_found(hop, tracked, summaries, error) : SF_OK;
    tracked->went_on = false;
    if (status != SF_OK || !tracked->preparing || went_on || (is_new && !hop->virtual_clock)) return status;
    int64_t share_ns = sf_seconds_to_ns(hop->config->window.hop_s) / SF_PREPARING_SHARE;
    int64_t until_ns = hop->virtual_clock ? INT64_MAX : sf_clock_monotonic_ns() + share_ns;
    return sf_tracked_go_on(tracked, summaries, sf_read_history(hop), until_ns, error);
}
