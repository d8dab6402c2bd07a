/* SPDX-License-Identifier: Apache-2.0 */
/** What the program and kernels call alike. */
#ifndef SF_CORE_ANYWHERE_H
#define SF_CORE_ANYWHERE_H

#ifdef __CUDACC__
#define SF_ANYWHERE __host__ __device__
#else
#define SF_ANYWHERE
#endif

#endif
