/* SPDX-License-Identifier: Apache-2.0 */
/* A new option is a member of its struct, its default and its row here. */
#include "core/clock.h"
#include "core/row_macros.h"
#include "replay/simulation_settings.h"

/* Bound at which the sum of a start, a duration and the delays of a chain does not overflow. */
#define LONGEST_NS 0x1p61

static const sf_simulation_settings usual = {
    .seed = 1,
    .unit_count = 26,
    .rate_hz = 10,
    .duration_ns = 60 * SF_SECOND,
    .refractory_ns = 2 * SF_MILLISECOND,
    .jitter_ns = SF_MILLISECOND / 2,
    .burst_sigma_ns = 100 * SF_MILLISECOND,
    .burst_spikes = 3,
    .pitch_um = 100,
    .evoked_after_ns = 10 * SF_MILLISECOND,
};

/* In the order in which a file lists the settings of its simulation. */
#define ROW sf_simulation_settings
static const sf_key rows[] = {
    WHOLE("unit_count", unit_count, 1, 1000000, .argument = "N",
          .what = "units, named A to Z, then u26, u27, ..."),
    REAL("rate_hz", rate_hz, 0, 1e6, .argument = "HZ",
         .what = "firing rate of each unit beside bursts and chains"),
    TIME("duration_ns", duration_ns, 1, LONGEST_NS, .unit = "s", .argument = "S", .what = "recorded time"),
    TIME("start_ns", start_ns, -LONGEST_NS, LONGEST_NS, .unit = "s", .argument = "S",
         .what = "clock at the beginning"),
    TIME("refractory_ns", refractory_ns, 0, INFINITY, .unit = "ms", .argument = "MS",
         .what = "shortest interval between spikes of one unit"),
    TIME("jitter_ns", jitter_ns, 0, 1e12, .unit = "ms", .argument = "MS",
         .what = "standard deviation of a planted delay, kept inside its interval"),
    REAL("burst_rate_hz", burst_rate_hz, 0, 1e6, .argument = "HZ",
         .what = "bursts shared by all units; 0: none"),
    TIME("burst_sigma_ns", burst_sigma_ns, SF_MILLISECOND, INFINITY, .unit = "ms", .argument = "MS",
         .what = "standard deviation of spike times in a burst"),
    REAL("burst_spikes", burst_spikes, 0, 1e6, .argument = "N",
         .what = "mean number of spikes that a burst adds to each unit"),
    REAL("duplicates", duplicates, 0, 1, .argument = "SHARE",
         .what = "share of spikes that a neighbour detects again within 0.25 ms"),
    REAL("pitch_um", pitch_um, 0, 1e6, .argument = "UM",
         .what = "distance of neighbours on the square grid of units"),
    {SF_ROW_SEED, AT(seed), .what = "the same seed gives the same spikes"},
    TIME("marker_every_ns", marker_every_ns, SF_SIMULATION_APART_NS, INFINITY, .zero = "no markers",
         .unit = "s", .argument = "S", .what = "a 10 ms pulse on TTL line 0 and a text every S seconds"),
    REAL("evoked", evoked, 0, 1, .argument = "SHARE",
         .what = "each chain also begins after this share of the pulses of --marker-every"),
    TIME("evoked_after_ns", evoked_after_ns, 0, 1e12, .unit = "ms", .argument = "MS",
         .what = "so long after them, give or take --jitter"),
    {0},
};
#undef ROW

const sf_key_table sf_simulation_table = SF_KEY_TABLE(rows, usual);
