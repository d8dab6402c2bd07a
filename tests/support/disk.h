/* SPDX-License-Identifier: Apache-2.0 */
/** A disk (io/disk.h) that notes what it is asked for, can fail, and can be cut off at any call. */
#ifndef SF_TESTS_DISK_H
#define SF_TESTS_DISK_H

#include "support/support.h"

#include "io/disk.h"

#include <pthread.h>

typedef struct test_write {
    char *data;
    size_t size;
    uint64_t at; /* in the file */
    bool is_sync;
} test_write;

/** Everything reaches the real disk too. Zero-initialise, then test_disk_make. */
typedef struct test_disk {
    sf_disk disk;
    pthread_mutex_t lock;
    test_write *calls;
    size_t count, capacity;
    uint64_t length;
    int write_fails, sync_fails; /* errno from now on */
    uint64_t room;               /* UINT64_MAX: what the real one has */
} test_disk;

void test_disk_make(test_disk *disk);
void test_disk_free(test_disk *disk);

/** What is left of the one file after a power loss behind `calls` calls. */
typedef enum test_loss {
    TEST_NOTHING_LOST,   /* the system wrote in time what was not synced */
    TEST_UNSYNCED_LOST,  /* none of it */
    TEST_UNSYNCED_MIXED, /* some of its sectors, in any order: what is missing reads as zeros */
    TEST_LAST_TORN,      /* the last write in part */
    TEST_LOSSES
} test_loss;

/** Writes it to a file; returns how many of the writes are surely there. */
size_t test_disk_cut(const test_disk *disk, size_t calls, test_loss loss, test_random *random,
                     const char *path);

#endif
