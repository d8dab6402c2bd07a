/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/positions.h"

void sf_followers_find(sf_followers *followers, const int64_t *from, uint32_t begin, uint32_t end,
                       const int64_t *to, uint32_t count, sf_delay delay)
{
    uint32_t first = begin < end ? sf_times_from(to, 0, count, from[begin] + delay.low_ns) : 0, last = first;
    for (uint32_t p = begin; p < end; p++) {
        first = sf_times_until(to, count, first, from[p] + delay.low_ns);
        last = sf_times_until(to, count, last, from[p] + delay.high_ns);
        followers[p] = (sf_followers){first, last};
    }
}
