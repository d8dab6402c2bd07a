/* SPDX-License-Identifier: Apache-2.0 */
/** Files in parts, and whole ones out of memory. Any thread. */
#ifndef SF_IO_FILE_H
#define SF_IO_FILE_H

#include "core/text.h"

#include <synfire/error.h>

/** Refuses a file that users other than its owner may read, since it holds a secret, `what` (such as "the
 * token"). SF_CONFIG. */
int sf_file_check_secret(const char *path, const char *what, sf_error *error);

/** Reads `size` bytes from `offset`, or fewer at the end of the file; continues after interruptions. Returns
 * the number of bytes read; SIZE_MAX with errno on failure. */
size_t sf_file_read_at(int fd, void *to, size_t size, uint64_t offset);

/** The same, but a file that ends before is an error. SF_IO. */
int sf_file_read_all_at(int fd, void *to, size_t size, uint64_t offset, const char *path, sf_error *error);

/** Writes all bytes; continues after interruptions. Returns 0 or an errno. */
int sf_file_write_all(int fd, const void *data, size_t length);

/** Appends the whole content of an open file; the text is marked failed if the file cannot be read. */
void sf_file_append_to(sf_text *text, int fd);

/** Writes a text to a file atomically, replacing an existing one (io/output_file.h). With several ranks only
 * the first writes, and only if no rank has failed (core/ranks.h). SF_CANNOT_CREATE, SF_IO; SF_NO_MEMORY if
 * the text failed. */
int sf_file_write(const sf_text *text, const char *path, sf_error *error);

#endif
