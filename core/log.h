/* SPDX-License-Identifier: Apache-2.0 */
/** Writing into the log, which synfire/error.h describes. */
#ifndef SF_CORE_LOG_H
#define SF_CORE_LOG_H

#include <synfire/error.h>

/** Real-time safe as far as vsnprintf of integers and strings is. Cut at 240 bytes, escaped as core/text.h
 * says. */
void sf_log(sf_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
