/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The log: any thread writes a line into a fixed ring without locking or allocating; the main thread prints.
 * A full ring drops the line and counts it. Levels under the one set are dropped at the call.
 */
#ifndef SF_CORE_LOG_H
#define SF_CORE_LOG_H

#include <stdint.h>

typedef enum sf_log_level {
    SF_LOG_ERROR = 0,
    SF_LOG_WARNING = 1,
    SF_LOG_INFO = 2,
    SF_LOG_DEBUG = 3
} sf_log_level;

void sf_log_set_level(sf_log_level most);

/** Real-time safe as far as vsnprintf of integers and strings is. Cut at 240 bytes, escaped as core/text.h
 * says. */
void sf_log(sf_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Main thread: hands each waiting line to `print`; returns how many were lost since the last call. */
uint64_t sf_log_drain(void (*print)(void *user, sf_log_level level, const char *line), void *user);

#endif
