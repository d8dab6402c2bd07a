/* SPDX-License-Identifier: Apache-2.0 */
/** An exponential for loops of core/vector.h. */
#ifndef SF_DENSITY_EXPONENTIAL_H
#define SF_DENSITY_EXPONENTIAL_H

#include "core/vector.h"

#include <string.h>

/**
 * exp(y) for y <= 0, within 2 units in the last place; under -708 it stays at exp(-708), which is 0 to every
 * sum here. y = k ln 2 + r with |r| <= ln 2 / 2, the Taylor series of exp(r) to r^13 (next term 4e-18), and k
 * put into the exponent's bits. Branch-free, so that loops over it become vector code.
 */
SF_VECTOR_BODY double sf_exp(double y)
{
    const double to_integer = 0x1.8p52; /* adding it leaves the rounded integer in the low bits */
    y = y < -708 ? -708 : y;
    double shifted = y * 0x1.71547652b82fep0 + to_integer;
    double k = shifted - to_integer;
    double r = y - k * 0x1.62e42fefa38p-1; /* ln 2 in two parts: the first product is exact */
    r = r - k * 0x1.ef35793c7673p-45;
    double p = 1.0 / 6227020800;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1;
    p = p * r + 1;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

#endif
