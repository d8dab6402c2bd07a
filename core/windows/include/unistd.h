/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SF_WINDOWS_UNISTD_H
#define SF_WINDOWS_UNISTD_H
#include_next <unistd.h>

#include <stddef.h>
#include <sys/types.h>

ssize_t pread(int fd, void *to, size_t size, off_t offset);
ssize_t pwrite(int fd, const void *from, size_t size, off_t offset);
int fsync(int fd);
int fdatasync(int fd);
int link(const char *old, const char *new_name);
ssize_t readlink(const char *path, char *target, size_t size); /* there is none to read */

enum { _SC_NPROCESSORS_ONLN };
long sysconf(int what);

#endif
