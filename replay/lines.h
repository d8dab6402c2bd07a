/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads text files of fields line by line, with the line number in every error. Fields are separated by
 * commas, by semicolons or tabs (as spreadsheets do if the comma is the decimal mark), or by blanks if the
 * line has none of these; the first non-blank line decides.
 */
#ifndef SF_REPLAY_LINES_H
#define SF_REPLAY_LINES_H

#include <stdbool.h>
#include <synfire/error.h>

typedef struct sf_lines {
    const char *path;
    size_t number;         /**< of the line last returned, from 1 */
    char separator;        /**< ',', ';', a tab or a blank (any number of blanks is one separator) */
    char *text, *at, *end; /**< the whole text; the next line; the NUL after the last line */
} sf_lines;

/** Reads the file into memory; sf_lines_close frees it. SF_NO_INPUT, SF_IO, SF_DATA if it is empty or not
 * text. */
int sf_lines_open(sf_lines *lines, const char *path, sf_error *error);
void sf_lines_close(sf_lines *lines);

/** Reads lines from text[0..size), which the caller keeps and this modifies; text[size] must be NUL. */
sf_lines sf_lines_over(const char *path, char *text, size_t size);

/** Detects the separator again from the next non-blank line, since the lines before were no fields. */
void sf_lines_separate_anew(sf_lines *lines);

/** Returns the next line without its line end, or NULL. Skips a byte order mark. */
char *sf_lines_next(sf_lines *lines);

/** Cuts the first field off *rest, like sf_text_field. */
char *sf_lines_field(const sf_lines *lines, char **rest);

/** As sf_parse_scaled; a comma is the decimal mark unless it is the separator. Modifies the field. */
bool sf_lines_scaled(const sf_lines *lines, char *field, int exponent, int64_t *value);

/** Fails with SF_DATA: "line N: expected ..., found '...'"; `found` is shortened and made printable. */
int sf_lines_refuse(const sf_lines *lines, const char *expected, const char *found, sf_error *error);

#endif
