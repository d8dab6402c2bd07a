/* SPDX-License-Identifier: Apache-2.0 */
/** Files in parts, and whole ones out of memory. Any thread. */
#ifndef SF_IO_FILE_H
#define SF_IO_FILE_H

#include "core/text.h"

#include <synfire/error.h>

/** Refuses a file that others than its owner may read, where `what` in it, as "the token", is a secret.
 * SF_CONFIG. */
int sf_file_check_secret(const char *path, const char *what, sf_error *error);

/** Reads `size` bytes of a file from `offset` on, or fewer where it ends, however often it is interrupted.
 * How many; SIZE_MAX with errno. */
size_t sf_file_read_at(int fd, void *to, size_t size, uint64_t offset);

/** The same of bytes that are there. SF_IO. */
int sf_file_read_all_at(int fd, void *to, size_t size, uint64_t offset, const char *path, sf_error *error);

/** Writes all of it, however often it is interrupted. Returns 0, or errno. */
int sf_file_write_all(int fd, const void *data, size_t length);

/** Appends all that a file holds, from its beginning on; the text has failed where that cannot be read. */
void sf_file_append_to(sf_text *text, int fd);

/** Writes a text to a file, whole or not at all, in place of one that is there (io/output_file.h).
 * Of several ranks the first writes it, once none of them has failed (core/ranks.h).
 * SF_CANNOT_CREATE, SF_IO; SF_NO_MEMORY if the text failed. */
int sf_file_write(const sf_text *text, const char *path, sf_error *error);

#endif
