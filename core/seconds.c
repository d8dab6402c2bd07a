/* SPDX-License-Identifier: Apache-2.0 */
#include "core/seconds.h"

#include <math.h>
#include <stdio.h>

sf_seconds sf_seconds_of(int64_t ns)
{
    sf_seconds seconds;
    double value = (double)ns * 1e-9, size = fabs(value);
    int before_point = size < 1 ? 1 : (int)floor(log10(size)) + 1;
    snprintf(seconds.text, sizeof seconds.text, "%.*g", before_point + 6 > 9 ? before_point + 6 : 9, value);
    return seconds;
}
