/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Disk operations of files that must survive a power loss. A table of functions, so that a test can record
 * the calls and replay them up to any one, or imitate a slow, full or broken disk.
 */
#ifndef SF_IO_DISK_H
#define SF_IO_DISK_H

#include <stddef.h>
#include <stdint.h>

/** Functions return 0 or an errno, and may be called by any thread. */
typedef struct sf_disk {
    /** Appends all bytes; after an error an unknown part of them was written. */
    int (*write)(void *user, int fd, const void *data, size_t size);
    /** Returns once everything written so far, and the length of the file, are on the disk. */
    int (*sync)(void *user, int fd);
    /** Returns once the file's name (its folder's entry) is on the disk. */
    int (*sync_name)(void *user, const char *path);
    /** Number of bytes free in the file system of an open file. */
    int (*room)(void *user, int fd, uint64_t *bytes);
    void *user;
} sf_disk;

/** The operating system's. */
extern const sf_disk sf_disk_real;

#endif
