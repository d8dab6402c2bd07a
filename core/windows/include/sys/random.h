/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SF_WINDOWS_RANDOM_H
#define SF_WINDOWS_RANDOM_H

#include <stddef.h>
#include <sys/types.h>

ssize_t getrandom(void *to, size_t size, unsigned flags);

#endif
