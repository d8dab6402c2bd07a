/* SPDX-License-Identifier: Apache-2.0 */
#include "core/clock.h"

#include "core/platform.h"

#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * SF_SECOND + now.tv_nsec;
}

int64_t sf_clock_monotonic_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t sf_clock_wall_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

void sf_clock_sleep_until(int64_t deadline_ns)
{
    sf_platform_sleep_until(deadline_ns);
}
