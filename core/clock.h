/* SPDX-License-Identifier: Apache-2.0 */
/** Clocks. Monotonic time orders and measures, over a suspend too; wall time stamps; a stream has its own. */
#ifndef SF_CORE_CLOCK_H
#define SF_CORE_CLOCK_H

#include <stdint.h>

#define SF_SECOND INT64_C(1000000000)
#define SF_MILLISECOND INT64_C(1000000)

int64_t sf_clock_monotonic_ns(void); /**< real-time safe */
int64_t sf_clock_wall_ns(void);      /**< since 1970; real-time safe */

/** Monotonic seconds, for measuring. */
static inline double sf_clock_seconds(void)
{
    return (double)sf_clock_monotonic_ns() * 1e-9;
}

/** Sleeps until the monotonic clock reads deadline_ns, or a signal arrives. */
void sf_clock_sleep_until(int64_t deadline_ns);

/** Times past an end of int64 stay at that end. */
static inline int64_t sf_time_plus(int64_t time_ns, int64_t by_ns)
{
    int64_t sum;
    if (!__builtin_add_overflow(time_ns, by_ns, &sum)) return sum;
    return by_ns > 0 ? INT64_MAX : INT64_MIN;
}

#endif
