/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/sttc_oracle.h"

#include <math.h>

/* The interval between two nanoseconds is tiled where one spike's tile holds both ends. */
static double tiled(sf_train train, int64_t dt, sf_recorded recorded)
{
    int64_t count = 0;
    for (int64_t t = recorded.start_ns; t < recorded.stop_ns; t++) {
        bool is_tiled = false;
        for (size_t i = 0; i < train.count; i++)
            is_tiled |= train.times_ns[i] - dt <= t && t + 1 <= train.times_ns[i] + dt;
        count += is_tiled;
    }
    return (double)count / (double)(recorded.stop_ns - recorded.start_ns);
}

static double close(sf_train a, sf_train b, int64_t dt)
{
    size_t count = 0;
    for (size_t i = 0; i < a.count; i++) {
        bool is_close = false;
        for (size_t j = 0; j < b.count; j++)
            is_close |= a.times_ns[i] - b.times_ns[j] <= dt && b.times_ns[j] - a.times_ns[i] <= dt;
        count += is_close;
    }
    return (double)count / (double)a.count;
}

double sttc_oracle(sf_train a, sf_train b, int64_t dt_ns, sf_recorded recorded)
{
    if (a.count == 0 || b.count == 0)
        return NAN;
    double pa = close(a, b, dt_ns), pb = close(b, a, dt_ns);
    double ta = tiled(a, dt_ns, recorded), tb = tiled(b, dt_ns, recorded);
    double first = pa * tb == 1 ? 1 : (pa - tb) / (1 - pa * tb);
    double second = pb * ta == 1 ? 1 : (pb - ta) / (1 - pb * ta);
    return (first + second) / 2;
}
