/* SPDX-License-Identifier: Apache-2.0 */
/** Whole files into and out of memory. */
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

/** Refuses a file that others than its owner may read, where `what` in it, as "the token", is a secret; not
 * on Windows. SF_CONFIG. */
int sf_file_check_secret(const char *path, const char *what, sf_error *error);

/** Reads `size` bytes of a file from `offset` on, or fewer where it ends, however often it is interrupted;
 * not on Windows. How many; SIZE_MAX with errno. */
size_t sf_file_read_at(int fd, void *to, size_t size, uint64_t offset);

/** The same of bytes that are there. SF_IO. */
int sf_file_read_all_at(int fd, void *to, size_t size, uint64_t offset, const char *path, sf_error *error);

/** Writes all of it, however often it is interrupted; not on Windows. Returns 0, or errno. */
int sf_file_write_all(int fd, const void *data, size_t length);

/** Writes a text to a file, whole or not at all, in place of one that is there (core/output_file.h); not on
 * Windows. Of several ranks the first writes it, once none of them has failed (core/ranks.h).
 * SF_CANNOT_CREATE, SF_IO; SF_NO_MEMORY if the text failed. */
int sf_file_write(const sf_text *text, const char *path, sf_error *error);

/** Whether both paths lead to one regular file that is there: what is written to one would destroy the other.
 */
bool sf_file_same(const char *path, const char *other);

#endif
