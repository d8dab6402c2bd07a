/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/times.h"

#include <string.h>

void sf_times_open(sf_times *times, int64_t hop_ns)
{
    static const char *const names[SF_PARTS] = {"count",   "discover", "test", "graph",
                                                "density", "publish",  "hop"};
    *times = (sf_times){.hop_ns = hop_ns};
    for (int i = 0; i < SF_PARTS; i++)
        times->status[i].name = names[i];
}

void sf_times_begin(sf_times *times)
{
    memset(times->ns, 0, sizeof times->ns);
}

void sf_times_add(sf_times *times, sf_hop_part part, int64_t took_ns)
{
    if (part == SF_PART_NONE)
        return;
    sf_stage_status *status = &times->status[part];
    bool had_missed = times->ns[part] > times->hop_ns;
    times->ns[part] += took_ns;
    status->last_ms = (double)times->ns[part] * 1e-6;
    if (status->last_ms > status->max_ms)
        status->max_ms = status->last_ms;
    status->missed += times->ns[part] > times->hop_ns && !had_missed;
}
