/* SPDX-License-Identifier: Apache-2.0 */
#include "window/due.h"

#include "core/clock.h"

#define MILLION 1000000
#define OLDEST_NS (INT64_C(1) << 61)

static int64_t difference(int64_t a_ns, int64_t b_ns)
{
    int64_t rest;
    if (!__builtin_sub_overflow(a_ns, b_ns, &rest)) return rest;
    return a_ns < b_ns ? INT64_MIN : INT64_MAX;
}

static int64_t drift(int64_t passed_ns, int64_t ppm)
{
    return passed_ns > 0 ? passed_ns / (MILLION / ppm) : 0;
}

/* Where the stream has run for long, its clock may have gone away from that of the origin. */
static int64_t by_origin(int64_t origin_ns, int64_t time_ns)
{
    return origin_ns == INT64_MAX ? INT64_MAX : sf_time_plus(origin_ns, drift(time_ns, SF_DUE_ORIGIN_PPM));
}

void sf_due_take(sf_due *due, int64_t time_ns, int64_t arrival_ns, int64_t origin_ns)
{
    int64_t behind_ns = difference(arrival_ns, time_ns);
    if (!due->began) {
        int64_t told_ns = by_origin(origin_ns, time_ns);
        int64_t first_ns = told_ns < behind_ns ? told_ns : behind_ns;
        *due = (sf_due){true, arrival_ns, first_ns, first_ns};
        return;
    }
    behind_ns = difference(behind_ns, drift(difference(arrival_ns, due->began_ns), SF_DUE_DRIFT_PPM));
    if (behind_ns < due->lowest_ns) {
        due->second_ns = due->lowest_ns;
        due->lowest_ns = behind_ns;
    } else if (behind_ns < due->second_ns)
        due->second_ns = behind_ns;
}

int64_t sf_due_offset_ns(const sf_due *due, int64_t now_ns)
{
    return sf_time_plus(due->second_ns, drift(difference(now_ns, due->began_ns), SF_DUE_DRIFT_PPM));
}

int64_t sf_due_at(int64_t offset_ns, int64_t time_ns, int64_t arrival_ns)
{
    int64_t due_ns = sf_time_plus(time_ns, offset_ns), oldest_ns = sf_time_plus(arrival_ns, -OLDEST_NS);
    return due_ns > arrival_ns ? arrival_ns : due_ns < oldest_ns ? oldest_ns : due_ns;
}
