/* SPDX-License-Identifier: Apache-2.0 */
#include "support/disk.h"

#include <fcntl.h>
#include <unistd.h>

#define SECTOR 512 /* what a disk writes whole or not at all */

static test_write *note(test_disk *disk)
{
    if (disk->count == disk->capacity) {
        disk->capacity = disk->capacity * 2 + 64;
        disk->calls = realloc(disk->calls, disk->capacity * sizeof *disk->calls);
    }
    disk->calls[disk->count] = (test_write){0};
    return &disk->calls[disk->count++];
}

static int write_noted(void *user, int fd, const void *data, size_t size)
{
    test_disk *disk = user;
    pthread_mutex_lock(&disk->lock);
    int reason = disk->write_fails;
    if (reason == 0) {
        test_write *call = note(disk);
        *call = (test_write){.data = malloc(size), .size = size, .at = disk->length};
        memcpy(call->data, data, size);
        disk->length += size;
    }
    pthread_mutex_unlock(&disk->lock);
    return reason == 0 ? sf_disk_real.write(NULL, fd, data, size) : reason;
}

static int sync_noted(void *user, int fd)
{
    test_disk *disk = user;
    (void)fd;
    pthread_mutex_lock(&disk->lock);
    int reason = disk->sync_fails;
    if (reason == 0) note(disk)->is_sync = true;
    pthread_mutex_unlock(&disk->lock);
    return reason;
}

static int sync_no_name(void *user, const char *path)
{
    (void)user;
    (void)path;
    return 0;
}

static int tell_room(void *user, int fd, uint64_t *bytes)
{
    test_disk *disk = user;
    pthread_mutex_lock(&disk->lock);
    *bytes = disk->room;
    pthread_mutex_unlock(&disk->lock);
    return *bytes == UINT64_MAX ? sf_disk_real.room(NULL, fd, bytes) : 0;
}

void test_disk_make(test_disk *disk)
{
    *disk = (test_disk){.disk = {write_noted, sync_noted, sync_no_name, tell_room, disk}, .room = UINT64_MAX};
    pthread_mutex_init(&disk->lock, NULL);
}

void test_disk_free(test_disk *disk)
{
    for (size_t i = 0; i < disk->count; i++)
        free(disk->calls[i].data);
    free(disk->calls);
    pthread_mutex_destroy(&disk->lock);
}

size_t test_disk_cut(const test_disk *disk, size_t calls, test_loss loss, test_random *random,
                     const char *path)
{
    size_t synced = 0, writes = 0, sure = 0, last = 0;
    for (size_t i = 0; i < calls; i++) {
        if (disk->calls[i].is_sync) {
            synced = i;
            sure = writes;
        } else {
            writes++;
            last = i;
        }
    }
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (size_t i = 0; i < calls; i++) {
        const test_write *call = &disk->calls[i];
        if (call->is_sync || (i >= synced && loss == TEST_UNSYNCED_LOST)) continue;
        bool torn = i >= synced && loss == TEST_LAST_TORN && i == last;
        size_t size = torn ? (size_t)test_random_below(random, call->size) : call->size;
        for (size_t done = 0, part; done < size; done += part) {
            uint64_t at = call->at + done;
            part = SECTOR - at % SECTOR < size - done ? (size_t)(SECTOR - at % SECTOR) : size - done;
            if (i >= synced && loss == TEST_UNSYNCED_MIXED && test_random_below(random, 2) == 0) continue;
            assert_int_equal(pwrite(fd, call->data + done, part, (off_t)at), part);
        }
    }
    close(fd);
    return sure;
}
