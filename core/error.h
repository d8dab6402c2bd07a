/* SPDX-License-Identifier: Apache-2.0 */
/** Filling in `sf_error`, and the exit code that a status means. */
#ifndef SF_CORE_ERROR_H
#define SF_CORE_ERROR_H

#include <stdarg.h>
#include <synfire/error.h>

/**
 * Records a failure and returns its code, so that `return sf_fail(error, SF_DATA, path, "...")` reads as one
 * step. place and error may be NULL. The text is one sentence without a final full stop, and as
 * it may be shown to a person (core/text.h).
 */
int sf_fail(sf_error *error, sf_status code, const char *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** The common case: an allocation failed. */
int sf_fail_memory(sf_error *error);

/** sysexits code of a status: 0, 64..78; SF_NO_MEMORY is 70, SF_CANCELLED 130. */
int sf_exit_code(int status);

#endif
