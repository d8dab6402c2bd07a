/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SF_WINDOWS_STRING_H
#define SF_WINDOWS_STRING_H
#include_next <string.h>

void *memmem(const void *in, size_t size, const void *what, size_t length);
void *memrchr(const void *in, int byte, size_t size);
char *strsep(char **rest, const char *separators);
const char *strsignal(int number);

#endif
