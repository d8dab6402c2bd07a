/* SPDX-License-Identifier: Apache-2.0 */
#include "window/pace.h"

#include <math.h>

static void begin_span(sf_pace *pace, int64_t time_ns, int64_t arrival_ns)
{
    pace->began = true;
    pace->time_ns = time_ns;
    pace->arrival_ns = arrival_ns;
}

double sf_pace_take(sf_pace *pace, int64_t time_ns, int64_t arrival_ns)
{
    if (!pace->began) begin_span(pace, time_ns, arrival_ns);
    if (!pace->settled && arrival_ns - pace->arrival_ns >= SF_PACE_SETTLES_NS) {
        pace->settled = true;
        begin_span(pace, time_ns, arrival_ns);
    }
    if (!pace->settled || arrival_ns - pace->arrival_ns < SF_PACE_NS) return 0;
    double now = ((double)time_ns - (double)pace->time_ns) / ((double)arrival_ns - (double)pace->arrival_ns);
    bool agrees = pace->last != 0 && fabs(now - pace->last) <= SF_PACE_ALIKE * pace->last;
    pace->last = now > 0 ? now : 0;
    begin_span(pace, time_ns, arrival_ns);
    return agrees && fabs(now - 1) > SF_PACE_WRONG ? now : 0;
}
