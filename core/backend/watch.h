/* SPDX-License-Identifier: Apache-2.0 */
/** A look at who waits for a job. */
#ifndef SF_CORE_BACKEND_WATCH_H
#define SF_CORE_BACKEND_WATCH_H

#include "core/backend/job.h"
#include "core/clock.h"
#include "core/progress.h"

/** Whether to stop: time is up, or the caller, told `what` is going on, says so. NULL: nobody waits. */
static inline bool sf_backend_watch_stops(const sf_backend_watch *watch, const char *what)
{
    return watch != NULL && ((watch->deadline > 0 && sf_clock_seconds() > watch->deadline) ||
                             !sf_progress_update(watch->progress, what, 0, 1));
}

#endif
