/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vector.h"

#include <stdatomic.h>

static atomic_int most_allowed = SF_VECTOR_AVX512;

static int processor_level(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return SF_VECTOR_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return SF_VECTOR_AVX2;
#endif
    return SF_VECTOR_BASE;
}

int sf_vector_level(void)
{
    int level = processor_level();
    int most = atomic_load_explicit(&most_allowed, memory_order_relaxed);
    return level < most ? level : most;
}

void sf_vector_limit(int most)
{
    atomic_store(&most_allowed, most);
}
