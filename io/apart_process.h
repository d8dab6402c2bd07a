/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The program that reads apart (io/apart.h) as a process of this system: apart_linux.c, or apart_windows.c.
 * One object from one thread.
 */
#ifndef SF_IO_APART_PROCESS_H
#define SF_IO_APART_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/** What its file is called. */
extern const char sf_apart_program[];

typedef struct sf_apart_process {
    intptr_t process;
    intptr_t lifeline; /**< what tells of its end, or ends it with this process */
    int parcel;        /**< a file in memory */
    double begun_s;    /**< processor time that the system told of it when it began */
} sf_apart_process;

typedef enum sf_apart_end {
    SF_APART_ANSWERED,
    SF_APART_LEFT,    /**< with another exit code than 0 */
    SF_APART_CRASHED, /**< by what it did itself */
    SF_APART_ENDLESS, /**< it took more processor time than it may */
    SF_APART_STOPPED  /**< from outside */
} sf_apart_end;

/** Starts it with the words KIND PATH [STREAM]; it may take this many bytes of memory beside its own: 0, or
 * an errno, where `it` is to be closed as well. */
int sf_apart_start(sf_apart_process *it, const char *program, const char *kind, const char *path,
                   const char *stream, uint64_t memory);

/** Whether it has ended; *how, of the system, is for sf_apart_judge. */
bool sf_apart_has_ended(const sf_apart_process *it, int *how);

/** What that means: *code is the exit code of one that has left, *name the system's of what ended another. */
sf_apart_end sf_apart_judge(int how, int *code, const char **name);

/** Seconds of processor time that it has taken. It stands still while the disk lets it wait, or while
 * somebody holds it. */
double sf_apart_processor_seconds(const sf_apart_process *it);

/** Until it may have ended, this many milliseconds at most. */
void sf_apart_nap(const sf_apart_process *it, int ms);

/** Ends it, with what it might have started. */
void sf_apart_kill(const sf_apart_process *it);

/** Nothing that is still there may change the parcel under its reader any more. */
bool sf_apart_seal(int parcel);
bool sf_apart_is_sealed(int parcel);

void sf_apart_close(sf_apart_process *it);

#endif
