/* SPDX-License-Identifier: Apache-2.0 */
/** Whole files into memory. */
#ifndef SF_CORE_FILE_H
#define SF_CORE_FILE_H

#include "core/text.h"

#include <synfire/error.h>

/**
 * Appends everything in the file (or pipe) to an empty `text`, but for a byte order mark; binary
 * content is kept as it is and a NUL follows it. SF_NO_INPUT where it cannot be opened, is a directory or
 * a device, SF_IO, SF_NO_MEMORY; text is then empty.
 */
int sf_file_read(sf_text *text, const char *path, sf_error *error);

/** Whether both paths lead to one regular file that is there: what is written to one would destroy the other.
 */
bool sf_file_same(const char *path, const char *other);

#endif
