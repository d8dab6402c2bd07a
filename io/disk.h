/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What is asked of a disk by those whose files must outlive a power loss. A table of functions, so that a
 * test can note the calls in their order and replay them up to any one of them, or be a disk that is slow,
 * full or broken.
 */
#ifndef SF_IO_DISK_H
#define SF_IO_DISK_H

#include <stddef.h>
#include <stdint.h>

/** The functions return 0 or the errno of what went wrong; any thread may call them. */
typedef struct sf_disk {
    /** Appends all of it, or an unknown part and fails. */
    int (*write)(void *user, int fd, const void *data, size_t size);
    /** What was written so far, and the length of the file, are on the disk when it returns. */
    int (*sync)(void *user, int fd);
    /** So is the name of a file: the folder it is in. */
    int (*sync_name)(void *user, const char *path);
    /** How many bytes the file system of an open file has room for. */
    int (*room)(void *user, int fd, uint64_t *bytes);
    void *user;
} sf_disk;

/** The operating system's. */
extern const sf_disk sf_disk_real;

#endif
