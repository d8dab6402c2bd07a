/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SF_WINDOWS_FILE_H
#define SF_WINDOWS_FILE_H
#include <fcntl.h>

enum { LOCK_SH = 1, LOCK_NB = 4, LOCK_UN = 8 };
int flock(int fd, int how); /* nobody locks so here */

#endif
