/* SPDX-License-Identifier: Apache-2.0 */
/* Counting the tracked episodes: each segment is summarised for every episode, and a window's counts are
 * computed from the summaries of its segments. */
#include "core/error.h"
#include "core/memory.h"
#include "pipeline/accelerator.h"
#include "pipeline/counting.h"
#include "pipeline/hop.h"
#include "pipeline/tracking.h"

static int take(sf_hop *hop, sf_error *error);
static int count(sf_hop *hop, sf_error *error);

/* Also of a segment that no window closes with. */
const sf_stage sf_stage_take = {
    .name = "take",
    .in = "history extract",
    .out = "device assign; summaries assign",
    .rounds = {.loop = "segments",
               .round = "summarise_e",
               .variable = "e",
               .from = "summaries[1]",
               .to = "summaries[n]",
               .in = "history extract",
               .out = "summaries[e] assign"},
    .part = SF_PART_COUNT,
    .run = take,
};

/* What a device refuses or fails at is summarised anew. */
const sf_stage sf_stage_count = {
    .name = "count",
    .in = "history extract; tracked extract",
    .out = "summaries assign; counts assign",
    .rounds = {.loop = "episodes",
               .round = "compose_e",
               .variable = "e",
               .from = "tracked[1]",
               .to = "tracked[n]",
               .in = "history extract; summaries[e] extract",
               .out = "counts[e] assign"},
    .part = SF_PART_COUNT,
    .run = count,
};

static int take(sf_hop *hop, sf_error *error)
{
    const sf_history *history = sf_read_history(hop);
    int status = sf_accelerator_append(sf_change_device(hop, SF_PLAN_ASSIGN), history, error);
    return status == SF_OK
               ? sf_counting_push(sf_change_summaries(hop, SF_PLAN_ASSIGN), hop->segment, history, error)
               : status;
}

static int count(sf_hop *hop, sf_error *error)
{
    sf_hop_counts *counts = sf_change_counts(hop, SF_PLAN_ASSIGN);
    if (sf_reserve(&counts->items, &counts->capacity, sf_read_tracked(hop)->now.count,
                   sizeof *counts->items) != 0)
        return sf_fail_memory(error);
    return sf_counting_counts(sf_change_summaries(hop, SF_PLAN_ASSIGN), sf_read_history(hop), counts->items,
                              error);
}
