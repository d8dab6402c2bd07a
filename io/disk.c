/* SPDX-License-Identifier: Apache-2.0 */
#include "io/disk.h"

#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int write_all(void *user, int fd, const void *data, size_t size)
{
    (void)user;
    return sf_file_write_all(fd, data, size);
}

/* Ignores the error of a file that cannot be synced at all, such as a pipe. */
static int sync_any(int fd, int (*how)(int fd))
{
    while (how(fd) != 0)
        if (errno != EINTR) return errno == EINVAL || errno == EROFS ? 0 : errno;
    return 0;
}

static int sync_data(void *user, int fd)
{
    (void)user;
    return sync_any(fd, fdatasync);
}

static int sync_name(void *user, const char *path)
{
    (void)user;
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int length = slash == NULL ? 1 : slash == path ? 1 : (int)(slash - path);
    snprintf(folder, sizeof folder, "%.*s", length, slash == NULL ? "." : path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno;
    int reason = sync_any(fd, fsync);
    close(fd);
    return reason;
}

static int room(void *user, int fd, uint64_t *bytes)
{
    (void)user;
    struct statvfs about;
    if (fstatvfs(fd, &about) != 0) return errno;
    *bytes = (uint64_t)about.f_bavail * about.f_frsize;
    return 0;
}

const sf_disk sf_disk_real = {write_all, sync_data, sync_name, room, NULL};
