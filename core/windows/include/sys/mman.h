/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SF_WINDOWS_MMAN_H
#define SF_WINDOWS_MMAN_H

#include <stddef.h>
#include <sys/types.h>

enum { PROT_READ = 1, PROT_WRITE = 2 };
enum { MAP_PRIVATE = 2 };
#define MAP_FAILED ((void *)-1)

/** Maps a whole file from its beginning; writes stay private to the process. */
void *mmap(void *at, size_t size, int rights, int flags, int fd, off_t offset);
int munmap(void *mapping, size_t size);

#endif
