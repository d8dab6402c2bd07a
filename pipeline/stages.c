/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/stages.h"

#include "core/clock.h"

void sf_stages_open(sf_stages *stages, int64_t hop_ns)
{
    static const char *const names[SF_STAGES] = {"count",   "discover", "test", "graph",
                                                 "density", "publish",  "hop"};
    *stages = (sf_stages){.hop_ns = hop_ns};
    for (int i = 0; i < SF_STAGES; i++)
        stages->status[i].name = names[i];
}

int64_t sf_stage_begin(void)
{
    return sf_clock_monotonic_ns();
}

void sf_stage_end(sf_stages *stages, sf_stage stage, int64_t began_ns)
{
    int64_t took_ns = sf_clock_monotonic_ns() - began_ns;
    sf_stage_status *status = &stages->status[stage];
    status->last_ms = (double)took_ns * 1e-6;
    if (status->last_ms > status->max_ms)
        status->max_ms = status->last_ms;
    status->missed += took_ns > stages->hop_ns;
}
