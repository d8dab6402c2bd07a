/* SPDX-License-Identifier: Apache-2.0 */
/* Delays: from the first spike of a link to its second, in s, in each occurrence that counting the episode
 * from the start of the stream finds. Counting continues across gaps, and so do delays. */
#include "analysis/quantity_kind.h"

#include "core/clock.h"

static int open_delays(sf_quantity_state *q, const sf_quantity_setup *setup, sf_error *error)
{
    q->every_link = setup->every_link;
    q->states = setup->every_link ? setup->episodes[0].size - 1 : setup->episode_count;
    return sf_watch_open(&q->watch, setup->episodes, setup->every_link ? 1 : setup->episode_count,
                         setup->units->count, setup->room, error);
}

static void close_delays(sf_quantity_state *q)
{
    sf_watch_close(q->watch);
}

static int put_link(sf_quantity_state *q, const sf_completion *completion, uint32_t link, size_t state)
{
    const int64_t *times = completion->spike_times_ns;
    return sf_quantity_put(q, times[completion->size - 1], state,
                           (double)(times[link + 1] - times[link]) / (double)SF_SECOND);
}

static int put_delays(sf_quantity_state *q, const sf_completion *completion)
{
    int status = SF_OK;
    for (uint32_t link = 0; q->every_link && status == SF_OK && link + 1 < completion->size; link++)
        status = put_link(q, completion, link, link);
    return q->every_link ? status : put_link(q, completion, completion->size - 2, completion->episode);
}

static int enter(sf_quantity_state *q, const sf_spike *spikes, size_t count)
{
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        const sf_completion *completions;
        size_t completed = sf_watch_advance(q->watch, &spikes[i], &completions);
        for (size_t c = 0; status == SF_OK && c < completed; c++)
            status = put_delays(q, &completions[c]);
    }
    return status;
}

const sf_quantity_kind sf_link_kind = {
    .domain = SF_DOMAIN_REFLECT, .open = open_delays, .close = close_delays, .enter = enter};
