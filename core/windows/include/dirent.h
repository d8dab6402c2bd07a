/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SF_WINDOWS_DIRENT_H
#define SF_WINDOWS_DIRENT_H
#include_next <dirent.h>

int alphasort(const struct dirent **a, const struct dirent **b);
int scandir(const char *folder, struct dirent ***list, int (*keep)(const struct dirent *),
            int (*compare)(const struct dirent **a, const struct dirent **b));

#endif
