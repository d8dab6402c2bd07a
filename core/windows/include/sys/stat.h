/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SF_WINDOWS_STAT_H
#define SF_WINDOWS_STAT_H
#include_next <sys/stat.h>

#include <stdint.h>
#include <time.h>

#define S_IFLNK 0120000
#define S_IFSOCK 0140000
#define S_ISLNK(mode) (((mode)&S_IFMT) == S_IFLNK)
#define S_ISSOCK(mode) (((mode)&S_IFMT) == S_IFSOCK)

/** With the number of the file, by which two names are known to be of one; Microsoft's has none. */
struct sf_windows_stat {
    uint64_t st_dev, st_ino;
    unsigned st_mode, st_nlink;
    off_t st_size;
    time_t st_mtime;
};
int sf_windows_stat(const char *path, struct sf_windows_stat *about);
int sf_windows_fstat(int fd, struct sf_windows_stat *about);
int sf_windows_mkdir(const char *path, mode_t mode);
#define mkdir sf_windows_mkdir
int fchmod(int fd, mode_t mode); /* Windows has no such rights */

#undef stat
#undef fstat
#define stat sf_windows_stat
#define fstat sf_windows_fstat
#define lstat sf_windows_stat

#endif
