/* SPDX-License-Identifier: Apache-2.0 */
/** The caller of long work is told how far it is, and asked whether to go on. */
#ifndef SF_CORE_PROGRESS_H
#define SF_CORE_PROGRESS_H

#include <synfire/error.h>

/** True to go on; a NULL progress always goes on. */
static inline bool sf_progress_update(const sf_progress *progress, const char *what, double done,
                                      double total)
{
    return progress == NULL || progress->update == NULL ||
           progress->update(progress->user, what, done, total);
}

#endif
