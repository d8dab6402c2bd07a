/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The process of the reading program (io/apart.h), as implemented per operating system: apart_linux.c or
 * apart_windows.c. An object is used by one thread.
 */
#ifndef SF_IO_APART_PROCESS_H
#define SF_IO_APART_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/** What its file is called. */
extern const char sf_apart_program[];

typedef struct sf_apart_process {
    intptr_t process;
    intptr_t lifeline; /**< pipe that reports its end, or (Windows) the job that ends it with this process */
    int parcel;        /**< a file in memory */
    double begun_s;    /**< its processor time as the system reported it at the start */
} sf_apart_process;

typedef enum sf_apart_end {
    SF_APART_ANSWERED,
    SF_APART_LEFT,    /**< with another exit code than 0 */
    SF_APART_CRASHED, /**< by what it did itself */
    SF_APART_ENDLESS, /**< exceeded its processor time */
    SF_APART_STOPPED  /**< from outside */
} sf_apart_end;

/** Starts the program with the arguments KIND PATH [STREAM]; it may use `memory` bytes beyond its own.
 * Returns 0 or an errno; close `it` in both cases. */
int sf_apart_start(sf_apart_process *it, const char *program, const char *kind, const char *path,
                   const char *stream, uint64_t memory);

/** Whether the process has ended; then *how is the system's status, for sf_apart_judge. */
bool sf_apart_has_ended(const sf_apart_process *it, int *how);

/** Interprets the status: *code is the exit code of a process that exited, *name the system's name of what
 * killed another. */
sf_apart_end sf_apart_judge(int how, int *code, const char **name);

/** Processor seconds used so far; constant while the process waits for the disk or is suspended. */
double sf_apart_processor_seconds(const sf_apart_process *it);

/** Sleeps until the process may have ended, at most `ms` milliseconds. */
void sf_apart_nap(const sf_apart_process *it, int ms);

/** Kills the process and any children it started. */
void sf_apart_kill(const sf_apart_process *it);

/** Makes the parcel immutable, so that a surviving process cannot change it while it is read. */
bool sf_apart_seal(int parcel);
bool sf_apart_is_sealed(int parcel);

void sf_apart_close(sf_apart_process *it);

#endif
