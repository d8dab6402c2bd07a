/* SPDX-License-Identifier: Apache-2.0 */
#include "core/clock.h"

#include "core/platform.h"

#include <time.h>

int64_t sf_clock_monotonic_ns(void)
{
    return sf_platform_monotonic_ns();
}

int64_t sf_clock_wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * SF_SECOND + now.tv_nsec;
}

void sf_clock_sleep_until(int64_t deadline_ns)
{
    sf_platform_sleep_until(deadline_ns);
}
