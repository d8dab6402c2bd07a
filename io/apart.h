/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Files from outside that libhdf5 reads are read apart: by the program synfire-read, in a process of its own
 * with limits on memory and time, which hands over what it found as a parcel in shared memory
 * (io/parcel.h). A damaged file that makes the library crash or go round for ever costs that process and is
 * one sentence here.
 *
 * The process is started by posix_spawn, so any thread may call this while others run. It inherits the parcel
 * and one end of a pipe, which tells of its death, and is killed when the thread that started it dies.
 */
#ifndef SF_IO_APART_H
#define SF_IO_APART_H

#include "core/progress.h"
#include "io/parcel.h"

/** What the reading program has at these descriptors, beside nothing to read at 0 and nowhere to print at 1
 * and 2. */
enum { SF_APART_PARCEL = 3, SF_APART_LIFELINE = 4 };

/** What reading a file of this length may take: bytes of memory, beside the program itself, and of the
 * parcel; and seconds of processor time. */
uint64_t sf_apart_memory(uint64_t length);
uint64_t sf_apart_seconds(uint64_t length);

/** Seconds that the reader may go on without taking any processor time: a disk that sleeps, or a file server
 * that is away for a while, is no damage. */
#define SF_APART_PATIENCE_S 120.0

/**
 * Reads what `kind` asks for (reader/main.c lists the kinds; `stream` may be NULL) of the file at `path`.
 * While it waits, `progress` is told of "reading", and may end the wait: SF_CANCELLED. Errors of the reader
 * come through as they are. SF_DATA where it crashed, took more processor time than it may or answers
 * nonsense, SF_IO where it came to nothing for SF_APART_PATIENCE_S or somebody else killed it,
 * SF_UNAVAILABLE where the program is missing or of another version. On success close the parcel.
 */
int sf_apart_read(sf_parcel *parcel, const char *kind, const char *path, const char *stream,
                  const sf_progress *progress, sf_error *error);

/** The same with another patience, in seconds. */
int sf_apart_read_within(sf_parcel *parcel, const char *kind, const char *path, const char *stream,
                         double patience, const sf_progress *progress, sf_error *error);

#endif
