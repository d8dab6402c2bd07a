/* SPDX-License-Identifier: Apache-2.0 */
/** For functions of headers that are the same on the CPU and on GPUs. */
#ifndef SF_CORE_ANYWHERE_H
#define SF_CORE_ANYWHERE_H

#ifdef __CUDACC__
#define SF_ANYWHERE __host__ __device__
#else
#define SF_ANYWHERE
#endif

#endif
