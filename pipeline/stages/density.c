/* SPDX-License-Identifier: Apache-2.0 */
/* The densities follow the window. */
#include "pipeline/densities.h"
#include "pipeline/hop.h"
#include "window/segment.h"

#include "core/clock.h"

static int run(sf_hop *hop, sf_error *error);

const sf_stage sf_stage_density = {
    .name = "density",
    .in = "history extract; window extract",
    .out = "densities assign; sinks add",
    .rounds = {.loop = "states",
               .round = "follow_d",
               .variable = "d",
               .from = "densities[1]",
               .to = "densities[n]",
               .in = "history extract; window extract",
               .out = "densities[d] assign; sinks add"},
    .part = SF_PART_DENSITY,
    .run = run,
};

static void publish(void *user, sf_message *message)
{
    sf_hop *hop = user;
    message->time_ns = hop->segment->window.stop_ns;
    sf_hop_publish(hop, message);
}

static int run(sf_hop *hop, sf_error *error)
{
    const sf_history *history = sf_read_history(hop);
    const sf_hop_window *window = sf_read_window(hop);
    sf_densities *densities = sf_change_densities(hop, SF_PLAN_ASSIGN);
    int64_t since_ns = hop->segment->hop > 0 ? densities->shown_stop_ns : window->span.start_ns;
    const sf_window_change change = {.entered = sf_history_view(history, densities->shown_end),
                                     .entered_count = window->end - densities->shown_end,
                                     .hop = {since_ns, window->span.stop_ns},
                                     .hop_ns = sf_seconds_to_ns(hop->config->window.hop_s),
                                     .window_start_ns = window->span.start_ns};
    densities->shown_end = window->end;
    densities->shown_stop_ns = window->span.stop_ns;
    int status = sf_densities_slide(densities, &change, error);
    return status == SF_OK ? sf_densities_tell(densities, window->span, publish, hop, error) : status;
}
