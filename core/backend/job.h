/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the families of jobs share. Each has a header, included by those alone that have to do with it: a
 * change of one, or of what a plugin is (plugin.h), compiles the kernels of no other.
 *
 * Functions of a family return SF_OK or
 *   SF_UNAVAILABLE  the job is not for this device (too large, unknown engine): another may do it;
 *   SF_CANCELLED, SF_NO_MEMORY, SF_DATA: stopped, out of the program's memory, or what a job's `take`
 * returned; anything else   the device has failed: it is not used again. The text says what was found. One
 * device is used by one thread at a time.
 *
 * Everything that crosses the border is plain arrays and numbers: a plugin shares no allocator with the
 * program. Arrays of a job are borrowed for the call.
 */
#ifndef SF_CORE_BACKEND_JOB_H
#define SF_CORE_BACKEND_JOB_H

#include <synfire/error.h>

#define SF_MOST_DEVICES 16 /**< that work is divided among */

typedef struct sf_backend_device sf_backend_device; /**< that a plugin has opened */

/** Who waits for a job that may take long: it looks at this now and then. */
typedef struct sf_backend_watch {
    double deadline;             /**< sf_clock_seconds at which to stop; 0: never */
    const sf_progress *progress; /**< that may cancel it, or NULL */
} sf_backend_watch;

#endif
