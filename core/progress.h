/* SPDX-License-Identifier: Apache-2.0 */
/** How long work tells its caller how far it is, and learns that it should stop. */
#ifndef SF_CORE_PROGRESS_H
#define SF_CORE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/** update is called from one thread, now and then; false means stop: the work then fails with SF_CANCELLED.
 */
typedef struct sf_progress {
    bool (*update)(void *user, const char *what, double done, double total);
    void *user;
} sf_progress;

/** True to go on; a NULL progress always goes on. */
static inline bool sf_progress_update(const sf_progress *progress, const char *what, double done,
                                      double total)
{
    return progress == NULL || progress->update == NULL ||
           progress->update(progress->user, what, done, total);
}

#endif
