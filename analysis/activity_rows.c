/* SPDX-License-Identifier: Apache-2.0 */
/* Options of bursts and of active units. */
#include "analysis/activity.h"

#include "core/error.h"
#include "core/row_macros.h"
#include "mine/isi_n.h"

static const sf_activity_options usual = {
    .network = {.active_hz = 0.1, .share = 0.25, .method = SF_NETWORK_RATE, .spikes = 10},
    .bursts = {.begin_ns = 170000000,
               .within_ns = 300000000,
               .apart_ns = 200000000,
               .least_ns = 10000000,
               .least_spikes = 3,
               .least_surprise = 5}};

#define ROW sf_activity_options
static const sf_key rows[] = {
    CHOICE("burst_method", bursts.method, sf_burst_method_names,
           .what = "definition of a unit's bursts: maximum interval, logISI, cumulative moving average or "
                   "Poisson surprise"),
    TIME("burst_begin_ns", bursts.begin_ns, 1, 1e15, .unit = "ms", .argument = "MS",
         .what = "max-interval: an interval of at most this begins a burst"),
    TIME("burst_within_ns", bursts.within_ns, 1, 1e15, .unit = "ms", .argument = "MS",
         .what = "max-interval: it goes on while intervals are of at most this, no less than the former"),
    TIME("burst_apart_ns", bursts.apart_ns, 0, 1e15, .unit = "ms", .argument = "MS",
         .what = "max-interval: bursts less than this apart are one"),
    TIME("burst_least_ns", bursts.least_ns, 0, 1e15, .unit = "ms", .argument = "MS",
         .what = "max-interval: no burst is shorter"),
    COUNT("burst_spikes", bursts.least_spikes, 2, 1000000, .argument = "N",
          .what = "no burst of a unit has fewer spikes; of logISI and CMA, its core has so many"),
    REAL("burst_surprise", bursts.least_surprise, 0, 1e6, .argument = "S",
         .what = "surprise: no burst has a lower one, -ln P"),
    CHOICE("network_method", network.method, sf_network_method_names,
           .what = "definition of network bursts: a rate above what is usual around it, or ISI_N"),
    REAL("active", network.active_hz, 0, 1e6, .argument = "HZ", .what = "a unit is active from this rate on"),
    REAL("network_share", network.share, 0, 1, .argument = "F",
         .what = "rate: share of the active units that must fire in a network burst"),
    COUNT("network_spikes", network.spikes, 2, SF_ISI_N_MOST, .argument = "N",
          .what = "isi-n: N spikes of any units in a row"),
    TIME("network_within_ns", network.within_ns, 0, 1e15, .zero = "the valley of its histogram", .unit = "ms",
         .argument = "MS", .what = "isi-n: they last at most this in a network burst"),
    {0},
};
#undef ROW

const sf_key_table sf_activity_table = SF_KEY_TABLE(rows, usual);

int sf_activity_check(const sf_activity_options *options, sf_error *error)
{
    if (options->bursts.begin_ns <= options->bursts.within_ns) return SF_OK;
    return sf_fail(error, SF_USAGE, "--burst-begin",
                   "found %.15g ms, expected no more than --burst-within, %.15g",
                   (double)options->bursts.begin_ns * 1e-6, (double)options->bursts.within_ns * 1e-6);
}
