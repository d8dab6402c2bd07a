/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/times.h"

#include <string.h>

void sf_times_open(sf_times *times, int64_t hop_ns)
{
    static const char *const names[SF_PARTS] = {
        [SF_PART_COUNT] = "count",       [SF_PART_DISCOVER] = "discover", [SF_PART_TEST] = "test",
        [SF_PART_GRAPH] = "graph",       [SF_PART_DENSITY] = "density",   [SF_PART_PUBLISH] = "publish",
        [SF_PART_HOP] = "hop",           [SF_PART_PAIRS] = "pairs",       [SF_PART_REACH] = "reach",
        [SF_PART_PATTERNS] = "patterns", [SF_PART_CENSUS] = "census",     [SF_PART_MINE] = "mine",
        [SF_PART_REWIRE] = "rewire"};
    memset(times, 0, sizeof *times);
    times->hop_ns = hop_ns;
    for (int i = 0; i < SF_PARTS; i++)
        times->status[i].name = names[i];
}

void sf_times_begin(sf_times *times)
{
    for (int i = 0; i < SF_PARTS; i++)
        if (times->ns[i] > 0) sf_durations_add(&times->took[i], times->ns[i]);
    memset(times->ns, 0, sizeof times->ns);
}

bool sf_times_is_beside(sf_hop_part part)
{
    return part == SF_PART_MINE || part == SF_PART_REWIRE;
}

void sf_times_add(sf_times *times, sf_hop_part part, int64_t took_ns)
{
    if (part == SF_PART_NONE) return;
    sf_stage_status *status = &times->status[part];
    bool had_missed = times->ns[part] > times->hop_ns;
    times->ns[part] += took_ns;
    status->last_ms = (double)times->ns[part] * 1e-6;
    if (status->last_ms > status->max_ms) status->max_ms = status->last_ms;
    status->missed += !sf_times_is_beside(part) && times->ns[part] > times->hop_ns && !had_missed;
}

void sf_times_tell(const sf_times *times, sf_status_message *status)
{
    for (int i = 0; i < SF_PARTS; i++) {
        status->stages[i] = times->status[i];
        status->stages[i].took = sf_durations_tell(&times->took[i]);
        status->stages[i].share = times->status[i].last_ms * 1e6 / (double)times->hop_ns;
    }
    status->stage_count = SF_PARTS;
    status->hop_ms = (double)times->hop_ns * 1e-6;
}
