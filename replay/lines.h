/* SPDX-License-Identifier: Apache-2.0 */
/** Text files of comma-separated fields, line by line, with the line's number in every refusal. */
#ifndef SF_REPLAY_LINES_H
#define SF_REPLAY_LINES_H

#include <synfire/error.h>

typedef struct sf_lines {
    const char *path;
    size_t number;         /**< of the line last returned, from 1 */
    char *text, *at, *end; /**< the whole text, the next line, the NUL after the last one */
} sf_lines;

/** Reads the file into memory; sf_lines_close frees it. SF_NO_INPUT, SF_IO, SF_DATA where it is empty or no
 * text. */
int sf_lines_open(sf_lines *lines, const char *path, sf_error *error);
void sf_lines_close(sf_lines *lines);

/** Lines over text[0..size), which is changed in the course and stays the caller's; text[size] is NUL. */
sf_lines sf_lines_over(const char *path, char *text, size_t size);

/** The next line without its end, or NULL. A byte order mark is skipped. */
char *sf_lines_next(sf_lines *lines);

/** Refuses with SF_DATA: "line N: expected ..., found '...'". What was found is cut and made safe to print.
 */
int sf_lines_refuse(const sf_lines *lines, const char *expected, const char *found, sf_error *error);

#endif
