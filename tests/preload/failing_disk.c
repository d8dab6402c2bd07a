/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk that fails: preloaded, it lets every write to files whose path contains $FAILING_FILES end in EIO
 * once there is a file $FAILING_ONCE.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static bool fails(int fd)
{
    const char *files = getenv("FAILING_FILES"), *once = getenv("FAILING_ONCE");
    char link[64], path[4096];
    if (files == NULL || once == NULL || access(once, F_OK) != 0) return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    if (strstr(path, files) == NULL) return false;
    errno = EIO;
    return true;
}

/* The function that this one stands before; kept, since it may not change. */
#define ORIGINAL(result, name, ...)                                                                          \
    static result (*original)(__VA_ARGS__);                                                                  \
    if (original == NULL) *(void **)&original = dlsym(RTLD_NEXT, name)

EXPORT ssize_t write(int fd, const void *data, size_t size)
{
    ORIGINAL(ssize_t, "write", int, const void *, size_t);
    return fails(fd) ? -1 : original(fd, data, size);
}

EXPORT ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    ORIGINAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
    return fails(fd) ? -1 : original(fd, data, size, at);
}

EXPORT ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
    ORIGINAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    return fails(fd) ? -1 : original(fd, data, size, at);
}

EXPORT int fsync(int fd)
{
    ORIGINAL(int, "fsync", int);
    return fails(fd) ? -1 : original(fd);
}

EXPORT int fdatasync(int fd)
{
    ORIGINAL(int, "fdatasync", int);
    return fails(fd) ? -1 : original(fd);
}

EXPORT int ftruncate(int fd, off_t size)
{
    ORIGINAL(int, "ftruncate", int, off_t);
    return fails(fd) ? -1 : original(fd, size);
}

EXPORT int ftruncate64(int fd, off64_t size)
{
    ORIGINAL(int, "ftruncate64", int, off64_t);
    return fails(fd) ? -1 : original(fd, size);
}
