/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Isolation of libhdf5 and libmatio: untrusted files are read by the program synfire-read, in a separate
 * process with limits on memory and time, which returns what it read as a parcel in shared memory
 * (io/parcel.h). If a damaged file makes the library crash or loop forever, only that process ends, and this
 * program reports one error.
 *
 * The process is started with posix_spawn, so any thread may call this while others run. It inherits the
 * parcel and one end of a pipe by which this process notices its end, and is killed when the thread that
 * started it ends.
 */
#ifndef SF_IO_APART_H
#define SF_IO_APART_H

#include "core/progress.h"
#include "io/parcel.h"

/** File descriptors of the reading program: the parcel and the lifeline pipe. Its standard input is empty,
 * and its standard output and error lead nowhere. */
enum { SF_APART_PARCEL = 3, SF_APART_LIFELINE = 4 };

/** Limits for reading a file of `length` bytes: bytes of memory beyond those of the program itself; bytes of
 * the parcel; seconds of processor time. */
uint64_t sf_apart_memory(uint64_t length);
uint64_t sf_apart_seconds(uint64_t length);

/** Seconds that the reader may wait without using processor time: a sleeping disk, or a file server that is
 * briefly unreachable, is not damage. */
#define SF_APART_PATIENCE_S 120.0

/**
 * Reads `kind` (one of those listed in reader/main.c) from the file at `path`; `stream` may be NULL. While
 * waiting, calls `progress` with "reading", which may cancel: SF_CANCELLED. Returns the reader's own errors
 * unchanged; also SF_DATA if it crashed, exceeded its processor time or returned nonsense, SF_IO if it made
 * no progress for SF_APART_PATIENCE_S or was killed from outside, SF_UNAVAILABLE if the program is missing or
 * of another version. On success the caller closes the parcel.
 */
int sf_apart_read(sf_parcel *parcel, const char *kind, const char *path, const char *stream,
                  const sf_progress *progress, sf_error *error);

/** The same with a given patience, in seconds. */
int sf_apart_read_within(sf_parcel *parcel, const char *kind, const char *path, const char *stream,
                         double patience, const sf_progress *progress, sf_error *error);

#endif
