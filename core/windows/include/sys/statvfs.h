/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SF_WINDOWS_STATVFS_H
#define SF_WINDOWS_STATVFS_H

struct statvfs {
    unsigned long long f_bavail, f_frsize;
};
int fstatvfs(int fd, struct statvfs *about);

#endif
