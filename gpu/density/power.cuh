/* SPDX-License-Identifier: Apache-2.0 */
/** An exponential for sums of millions. */
#ifndef SF_GPU_DENSITY_POWER_CUH
#define SF_GPU_DENSITY_POWER_CUH

#define LOG2_E 1.4426950408889634074

namespace
{

/* 2^f for |f| <= 1/2 within 2e-17: interpolated at the zeros of a Chebyshev polynomial. */
__constant__ double powers[12] = {
    1,
    0x1.62e42fefa39efp-1,
    0x1.ebfbdff82c5aep-3,
    0x1.c6b08d704a0c6p-5,
    0x1.3b2ab6fb9f1a5p-7,
    0x1.5d87fe78a3f9cp-10,
    0x1.430913112c61bp-13,
    0x1.ffcbfc6da6ed1p-17,
    0x1.62bfc2c86d700p-20,
    0x1.b524ebd13a55fp-24,
    0x1.e6228acd1c6e5p-28,
    0x1.e9ec1fcb69a7fp-32,
};

/*
 * 2^(x y) for x y <= 0, and 0 under 2^-1021. Half as many operations as the library's, because the argument
 * needs no reduction by ln 2 and no number but these. Whole numbers ride in the low bits of `shifted`.
 */
__device__ __forceinline__ double power_of_two(double x, double y)
{
    const double to_whole = 0x1.8p52;
    double shifted = fma(x, y, to_whole);
    long long bits = __double_as_longlong(shifted);
    double f = fma(x, y, to_whole - shifted);
    double p = powers[11];
#pragma unroll
    for (int k = 10; k >= 0; k--)
        p = fma(p, f, powers[k]);
    bool gone = bits < __double_as_longlong(to_whole) - 1021;
    double scaled = __hiloint2double(__double2hiint(p) + ((int)bits << 20), __double2loint(p));
    return gone ? 0 : scaled;
}

} // namespace

#endif
