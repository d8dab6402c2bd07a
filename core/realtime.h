/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Rights that a thread may have so that it goes before others: a ladder, on which what is refused is told in
 * the log and left out. The run goes on in any case.
 */
#ifndef SF_CORE_REALTIME_H
#define SF_CORE_REALTIME_H

#include "core/thread.h"

#define SF_REALTIME_ANY_CORE UINT32_MAX

typedef struct sf_realtime {
    uint32_t priority; /**< of SCHED_FIFO, 1 to 99; 0: as all others */
    uint32_t core;     /**< SF_REALTIME_ANY_CORE: any */
    bool lock_memory;
} sf_realtime;

/** What a thread got. */
typedef struct sf_realtime_got {
    uint32_t priority; /**< 0: none */
    bool pinned;
} sf_realtime_got;

/**
 * Gives a running thread the priority, or where that is refused the highest that the process may have; and
 * the core. `name` is told in the log with what was refused.
 */
sf_realtime_got sf_realtime_thread(const sf_thread *thread, const char *name, const sf_realtime *wanted);

/** Keeps all memory that the process has now from being swapped out, and maps what was not touched yet; what
 * comes later is not locked, as devices reserve more than there is. False, and a line in the log, where that
 * is refused. */
bool sf_realtime_lock(void);

#endif
