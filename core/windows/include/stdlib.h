/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SF_WINDOWS_STDLIB_H
#define SF_WINDOWS_STDLIB_H
#include_next <stdlib.h>

int mkostemp(char *name, int flags);
char *realpath(const char *path, char *whole);

#endif
