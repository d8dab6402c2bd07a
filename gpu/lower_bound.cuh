/* SPDX-License-Identifier: Apache-2.0 */
/** Binary search. */
#ifndef SF_GPU_LOWER_BOUND_CUH
#define SF_GPU_LOWER_BOUND_CUH

/** The first place from `low` on whose key, which `key_at` tells and which ascends, is not less than `least`;
 * `high` where all are. */
template <class place, class key, class reader>
static __device__ inline place sf_gpu_first_from(place low, place high, key least, reader key_at)
{
    while (low < high) {
        place middle = low + (high - low) / 2;
        if (key_at(middle) < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
