/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SF_WINDOWS_FCNTL_H
#define SF_WINDOWS_FCNTL_H
#include_next <fcntl.h>

#include <io.h>
#include <sys/types.h>

#define O_CLOEXEC O_NOINHERIT
#define O_NOCTTY 0
#define O_NONBLOCK 0
#define O_DIRECTORY 0

/** Locks of files: between programs that ask for them, as on Linux. */
struct flock {
    short l_type, l_whence;
    off_t l_start, l_len;
};
enum { F_OFD_GETLK = 36, F_OFD_SETLK = 37 };
enum { F_WRLCK = 1, F_UNLCK = 2 };
int fcntl(int fd, int what, struct flock *lock);

/** Binary always, and another program may rename or remove the file meanwhile. */
int sf_windows_open(const char *path, int flags, ...);
#define open sf_windows_open

#endif
