/* SPDX-License-Identifier: Apache-2.0 */
#include "io/apart.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/place.h"
#include "io/apart_process.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* ---- limits ---- */

#define MEBIBYTE ((uint64_t)1 << 20)

/* Maximum memory per byte of a file: deflate 10 : 1, and a time of 8 bytes becomes 40, as seconds, spikes and
 * room to sort them. */
#define BYTES_PER_BYTE 100

uint64_t sf_apart_memory(uint64_t length)
{
    const uint64_t longest = (uint64_t)1 << 40; /* beyond, nothing is gained by a limit */
    return 128 * MEBIBYTE + BYTES_PER_BYTE * (length < longest ? length : longest);
}

/* Real recordings take under 0.1 s of processor time per mebibyte; threads that share a core, or a virtual
 * machine short of processor time, several times that. */
uint64_t sf_apart_seconds(uint64_t length)
{
    return 5 + length / MEBIBYTE;
}

/* ---- starting the program ---- */

typedef struct apart {
    const char *path;
    uint64_t length; /* of the file */
    sf_apart_process process;
} apart;

static int start(apart *it, const char *kind, const char *stream, sf_error *error)
{
    char program[SF_PLACE_SIZE];
    if (!sf_place_program(program, "reader", sf_apart_program))
        return sf_fail(
            error, SF_UNAVAILABLE, it->path,
            "cannot be read: the program %s, which reads HDF5 files, is not installed beside synfire",
            sf_apart_program);
    int failed = sf_apart_start(&it->process, program, kind, it->path, stream, sf_apart_memory(it->length));
    if (failed == 0) return SF_OK;
    return sf_fail(error, failed == ENOMEM ? SF_NO_MEMORY : SF_UNAVAILABLE, it->path,
                   "cannot be read: cannot start %s: %s", program, strerror(failed));
}

/* ---- waiting for its end ---- */

#define LOOK_EVERY_MS 20

static int refuse_endless(const apart *it, sf_error *error)
{
    return sf_fail(error, SF_DATA, it->path,
                   "this HDF5 file is damaged: reading it does not end (a file of %llu bytes may take %llu s "
                   "of processor time)",
                   (unsigned long long)it->length, (unsigned long long)sf_apart_seconds(it->length));
}

/* Says nothing against the file. */
static int refuse_silent(const apart *it, double patience, sf_error *error)
{
    return sf_fail(error, SF_IO, it->path,
                   "cannot be read now: its disk has given nothing for %.0f s; try again when it answers",
                   patience);
}

/* How long the process has used no processor time. */
typedef struct silence {
    double patience; /* seconds */
    double taken, since;
} silence;

static bool silence_lasts(silence *it, double taken)
{
    double now = sf_clock_seconds();
    if (taken > it->taken) *it = (silence){it->patience, taken, now};
    return now - it->since > it->patience;
}

/* The program limits itself; one that does not is killed by this process. */
static bool is_endless(const apart *it, double taken)
{
    return taken > (double)sf_apart_seconds(it->length) + 1;
}

static int wait_for_end(const apart *it, int *how, double patience, const sf_progress *progress,
                        sf_error *error)
{
    silence quiet = {.patience = patience, .since = sf_clock_seconds()};
    *how = 0;
    for (;;) {
        if (sf_apart_has_ended(&it->process, how)) return SF_OK;
        double taken = sf_apart_processor_seconds(&it->process);
        bool go_on = sf_progress_update(progress, "reading", 0, 1), endless = is_endless(it, taken);
        if (go_on && !endless && !silence_lasts(&quiet, taken)) {
            sf_apart_nap(&it->process, LOOK_EVERY_MS);
            continue;
        }
        sf_apart_kill(&it->process);
        if (!go_on) return sf_fail(error, SF_CANCELLED, it->path, "stopped while reading");
        return endless ? refuse_endless(it, error) : refuse_silent(it, patience, error);
    }
}

static int judge_end(const apart *it, int how, sf_error *error)
{
    int code;
    const char *name = "";
    switch (sf_apart_judge(how, &code, &name)) {
    case SF_APART_ANSWERED:
        return SF_OK;
    case SF_APART_LEFT:
        return sf_fail(error, SF_UNAVAILABLE, it->path,
                       "cannot be read: the program %s ended without an answer, with exit code %d",
                       sf_apart_program, code);
    case SF_APART_ENDLESS:
        return refuse_endless(it, error);
    case SF_APART_CRASHED:
        return sf_fail(error, SF_DATA, it->path,
                       "this HDF5 file is damaged: the HDF5 library crashes on it (%s)", name);
    default:
        return sf_fail(error, SF_IO, it->path, "reading it was ended from outside (%s)", name);
    }
}

int sf_apart_read_within(sf_parcel *parcel, const char *kind, const char *path, const char *stream,
                         double patience, const sf_progress *progress, sf_error *error)
{
    *parcel = (sf_parcel){0};
    struct stat about;
    apart it = {.path = path, .process = {.parcel = -1, .lifeline = -1}};
    if (stat(path, &about) != 0) return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
    it.length = (uint64_t)about.st_size;
    if (!sf_progress_update(progress, "reading", 0, 1))
        return sf_fail(error, SF_CANCELLED, path, "stopped while reading");
    int status = start(&it, kind, stream, error), how = 0;
    if (status == SF_OK) status = wait_for_end(&it, &how, patience, progress, error);
    if (status == SF_OK) status = judge_end(&it, how, error);
    if (status == SF_OK && !sf_apart_seal(it.process.parcel)) status = sf_parcel_refuse(path, error);
    if (status == SF_OK) status = sf_parcel_map(parcel, it.process.parcel, path, error);
    if (status == SF_OK) sf_progress_update(progress, "reading", 1, 1);
    sf_apart_close(&it.process);
    return status;
}

int sf_apart_read(sf_parcel *parcel, const char *kind, const char *path, const char *stream,
                  const sf_progress *progress, sf_error *error)
{
    return sf_apart_read_within(parcel, kind, path, stream, SF_APART_PATIENCE_S, progress, error);
}
