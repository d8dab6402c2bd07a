/* SPDX-License-Identifier: Apache-2.0 */
/** Counts that stop at 2^64 - 1. */
#ifndef SF_GPU_SATURATED_CUH
#define SF_GPU_SATURATED_CUH

static __device__ inline unsigned long long sf_gpu_add(unsigned long long a, unsigned long long b)
{
    return a + b < a ? ~0ull : a + b;
}

static __device__ inline unsigned long long sf_gpu_multiply(unsigned long long a, unsigned long long b)
{
    return __umul64hi(a, b) != 0 ? ~0ull : a * b;
}

#endif
