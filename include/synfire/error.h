/* SPDX-License-Identifier: Apache-2.0 */
/** What every function of the library uses: errors, progress, the log, the version. */
#ifndef SYNFIRE_ERROR_H
#define SYNFIRE_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SF_API __attribute__((visibility("default")))

/** Version of the library as "MAJOR.MINOR.PATCH". */
SF_API const char *sf_version(void);

/** Negated sysexits where one fits, so that a command's exit code follows from its status. Positive values
 * are not failures. */
typedef enum sf_status {
    SF_OK = 0,
    SF_AGAIN = 1,           /**< not now: nothing was accepted or returned; try again later */
    SF_END = 2,             /**< the stream has ended: nothing follows */
    SF_NO_MEMORY = -1,      /**< an allocation failed */
    SF_CANCELLED = -2,      /**< the caller asked to stop (progress callback, signal) */
    SF_USAGE = -64,         /**< an argument or option is wrong */
    SF_DATA = -65,          /**< input is damaged, or not what it should be */
    SF_NO_INPUT = -66,      /**< input cannot be opened */
    SF_UNAVAILABLE = -69,   /**< a needed service or device is missing */
    SF_INTERNAL = -70,      /**< a defect of synfire */
    SF_CANNOT_CREATE = -73, /**< output cannot be created */
    SF_IO = -74,            /**< reading or writing failed */
    SF_CONFIG = -78         /**< the configuration is wrong */
} sf_status;

typedef struct sf_error {
    sf_status code;
    char place[256]; /**< file, key or option, with the line or position where known; may be empty */
    char text[768];  /**< one sentence: what was found and what was expected */
} sf_error;

/**
 * How long-running work reports its progress and learns that it should stop. It calls `update` from one
 * thread, now and then; if that returns false, the work fails with SF_CANCELLED. `what` is a short word for
 * the step ("reading", "counting"); `done` of `total` is its progress, in units of the step's own. Every
 * function that takes an sf_progress accepts NULL.
 */
typedef struct sf_progress {
    bool (*update)(void *user, const char *what, double done, double total);
    void *user;
} sf_progress;

/* ---- the log ---- */

/**
 * Threads of the library write lines into a fixed ring without locking or allocating; the program drains it
 * when it likes. A full ring drops the line and counts it. Lines above the set level are dropped where they
 * are written; the default level is SF_LOG_INFO.
 */
typedef enum sf_log_level {
    SF_LOG_ERROR = 0,
    SF_LOG_WARNING = 1,
    SF_LOG_INFO = 2,
    SF_LOG_DEBUG = 3
} sf_log_level;

/** Sets the maximum level that is kept. Any thread. */
SF_API void sf_log_set_level(sf_log_level most);

/** Receives one line, without its newline; `line` is valid until the handler returns. */
typedef void sf_log_handler(void *user, sf_log_level level, const char *line);

/** Passes each waiting line to the handler, on this thread; returns the number of lines lost since the last
 * call. One thread at a time. */
SF_API uint64_t sf_log_drain(sf_log_handler *handler, void *user);

/** Releases an array that a function of the library handed over; NULL is allowed. */
SF_API void sf_release(void *memory);

#ifdef __cplusplus
}
#endif
#endif
