/* SPDX-License-Identifier: Apache-2.0 */
#include "core/clock.h"
#include "core/memory.h"
#include "core/place.h"
#include "core/reals.h"
#include "tools/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PIECE ((size_t)1 << 20)
#define MOST_PIECES 64
#define WRITE_NS (400 * SF_MILLISECOND)
#define SYNCS 20
#define SPIKE_BYTES 24                /* of one in a recorder's file, before it is compressed */
#define BAD_BYTES (UINT64_C(1) << 30) /* free */
#define SLOW_MB 20.0
#define TOO_SLOW_MB 2.4 /* 100,000 spikes a second */
#define SLOW_SYNC_MS                                                                                         \
    100.0 /* a recorder synchronises every second, and its ring holds what comes meanwhile                   \
           */
#define WORST_SYNC_MS 1000.0

/* Opens a new file in the folder and removes its name; -1 with errno. */
static int open_nameless(const char *folder)
{
    char path[SF_PLACE_SIZE];
    if ((size_t)snprintf(path, sizeof path, "%s/.synfire-doctor-XXXXXX", folder) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) unlink(path);
    return file;
}

/* ---- locks ---- */

static bool can_flock(int file)
{
    bool can = flock(file, LOCK_EX | LOCK_NB) == 0;
    if (can) flock(file, LOCK_UN);
    return can;
}

/* Locks like an output file (io/output_file.h). */
static bool can_lock_description(int file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    bool can = fcntl(file, F_OFD_SETLK, &lock) == 0;
    lock.l_type = F_UNLCK;
    if (can) fcntl(file, F_OFD_SETLK, &lock);
    return can;
}

static void check_locks(sf_findings *checks, int file)
{
    const char *setting = getenv("HDF5_USE_FILE_LOCKING");
    bool off = setting != NULL && (strcasecmp(setting, "FALSE") == 0 || strcmp(setting, "0") == 0);
    bool flocks = can_flock(file), own = can_lock_description(file);
    const char *is = setting != NULL ? setting : "not set";
    if (!flocks && !off) {
        sf_doctor_find(
            checks, "locks", SF_FINDING_BAD,
            "the folder's file system has no locks as HDF5 takes them (HDF5_USE_FILE_LOCKING: %s): "
            "HDF5 would open no file there",
            is);
        sf_doctor_advise(checks, "export HDF5_USE_FILE_LOCKING=FALSE, or record to a local disk");
        return;
    }
    sf_doctor_find(checks, "locks", own ? SF_FINDING_GOOD : SF_FINDING_ADVICE,
                   "HDF5's locks %s%s "
                   "(HDF5_USE_FILE_LOCKING: %s), synfire's own %s",
                   flocks ? "work" : "do not work", off ? " and are off" : "", is,
                   own ? "work" : "do not work");
    sf_doctor_advise(checks, "see that no two runs write one file: nothing there keeps them apart");
}

/* ---- speed ---- */

typedef struct disk_speed {
    double mb_per_second, sync_median_ms, sync_most_ms;
} disk_speed;

/* Pieces that do not compress, until time is over, and the disk has them. */
static bool measure_writing(disk_speed *speed, int file)
{
    unsigned char *piece = sf_alloc(PIECE, 1);
    if (piece == NULL) {
        errno = ENOMEM;
        return false;
    }
    uint32_t state = 1;
    for (size_t i = 0; i < PIECE; i++)
        piece[i] = (unsigned char)((state = state * 1664525 + 1013904223) >> 24);
    int64_t begin_ns = sf_clock_monotonic_ns();
    size_t pieces = 0;
    bool whole = true;
    while (whole && pieces < MOST_PIECES && sf_clock_monotonic_ns() - begin_ns < WRITE_NS) {
        whole = write(file, piece, PIECE) == (ssize_t)PIECE;
        pieces++;
    }
    whole = whole && fdatasync(file) == 0;
    speed->mb_per_second =
        (double)(pieces * PIECE) * 1e-6 / ((double)(sf_clock_monotonic_ns() - begin_ns) * 1e-9);
    sf_free(piece);
    return whole;
}

/* Measures how long it takes to write and sync a little more, as a recorder does. */
static bool measure_syncs(disk_speed *speed, int file)
{
    double taken_ms[SYNCS];
    char some[4096] = {0};
    size_t count = 0;
    int64_t begin_ns = sf_clock_monotonic_ns();
    while (count < SYNCS && (count == 0 || sf_clock_monotonic_ns() - begin_ns < WRITE_NS)) {
        int64_t before_ns = sf_clock_monotonic_ns();
        if (write(file, some, sizeof some) != (ssize_t)sizeof some || fsync(file) != 0) return false;
        taken_ms[count++] = (double)(sf_clock_monotonic_ns() - before_ns) * 1e-6;
    }
    sf_reals_sort(taken_ms, count);
    speed->sync_median_ms = taken_ms[count / 2];
    speed->sync_most_ms = taken_ms[count - 1];
    return true;
}

static void check_disk(sf_findings *checks, const char *folder, int file)
{
    disk_speed speed = {0};
    struct statvfs about = {0};
    if (!measure_writing(&speed, file) || !measure_syncs(&speed, file)) {
        sf_doctor_find(checks, "disk", SF_FINDING_BAD, "writing to %s failed: %s", folder, strerror(errno));
        sf_doctor_advise(checks, "record to another folder: --folder DIR tries one");
        return;
    }
    uint64_t free_bytes =
        fstatvfs(file, &about) == 0 ? (uint64_t)about.f_bavail * about.f_frsize : UINT64_MAX;
    bool bad =
        speed.mb_per_second < TOO_SLOW_MB || speed.sync_most_ms > WORST_SYNC_MS || free_bytes < BAD_BYTES;
    bool slow = speed.mb_per_second < SLOW_MB || speed.sync_median_ms > SLOW_SYNC_MS;
    sf_doctor_find(checks, "disk",
                   bad    ? SF_FINDING_BAD
                   : slow ? SF_FINDING_ADVICE
                          : SF_FINDING_GOOD,
                   "%s takes %.0f MB/s, synchronises in %.1f ms (at most %.1f ms), %.1f GB are free: "
                   "%.1f hours of 100,000 spikes/s",
                   folder, speed.mb_per_second, speed.sync_median_ms, speed.sync_most_ms,
                   (double)free_bytes * 1e-9, (double)free_bytes / (1e5 * SPIKE_BYTES * 3600));
    sf_doctor_advise(checks,
                     free_bytes < BAD_BYTES
                         ? "make room, or record to another folder: --folder DIR tries one"
                         : "record to a local SSD that nothing else writes to: --folder DIR tries one");
}

void sf_doctor_folder(sf_findings *checks, const char *folder)
{
    int file = open_nameless(folder);
    if (file < 0) {
        sf_doctor_find(checks, "disk", SF_FINDING_BAD, "no file can be made in %s: %s", folder,
                       strerror(errno));
        sf_doctor_advise(checks, "record to a folder of yours that is there: --folder DIR tries one");
        return;
    }
    check_locks(checks, file);
    check_disk(checks, folder, file);
    close(file);
}
