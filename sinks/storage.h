/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The storage thread: the only one that calls HDF5 while a pipeline runs. It runs calls of those who open and
 * close files, and polls recorders.
 */
#ifndef SF_SINKS_STORAGE_H
#define SF_SINKS_STORAGE_H

#include <synfire/error.h>

typedef struct sf_storage sf_storage;

int sf_storage_open(sf_storage **storage, sf_error *error);
void sf_storage_close(sf_storage *storage); /**< after the last recorder was removed */

/** Runs work(argument) on the storage thread and returns its result. Any other thread. */
int sf_storage_call(sf_storage *storage, int (*work)(void *argument), void *argument);

/**
 * Registers `poll`. The storage thread calls it whenever it was woken and at least every 100 ms; it returns
 * true while it has more work to do at once.
 */
int sf_storage_add(sf_storage *storage, bool (*poll)(void *argument), void *argument, sf_error *error);
void sf_storage_remove(sf_storage *storage, bool (*poll)(void *argument), void *argument);
void sf_storage_wake(sf_storage *storage); /**< real-time safe */

#endif
