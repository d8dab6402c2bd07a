/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Text files of fields, line by line, with the line's number in every refusal. Fields are separated by
 * commas, or as spreadsheets write them where the comma is the decimal mark, by semicolons or tabs, or where
 * the line has none of these by blanks; the first line that is not blank tells which.
 */
#ifndef SF_REPLAY_LINES_H
#define SF_REPLAY_LINES_H

#include <stdbool.h>
#include <synfire/error.h>

typedef struct sf_lines {
    const char *path;
    size_t number;         /**< of the line last returned, from 1 */
    char separator;        /**< ',', ';', a tab or a blank, of which any number is one */
    char *text, *at, *end; /**< the whole text, the next line, the NUL after the last one */
} sf_lines;

/** Reads the file into memory; sf_lines_close frees it. SF_NO_INPUT, SF_IO, SF_DATA where it is empty or no
 * text. */
int sf_lines_open(sf_lines *lines, const char *path, sf_error *error);
void sf_lines_close(sf_lines *lines);

/** Lines over text[0..size), which is changed in the course and stays the caller's; text[size] is NUL. */
sf_lines sf_lines_over(const char *path, char *text, size_t size);

/** What separates is told by the next line that is not blank: the ones before were no fields. */
void sf_lines_separate_anew(sf_lines *lines);

/** The next line without its end, or NULL. A byte order mark is skipped. */
char *sf_lines_next(sf_lines *lines);

/** Cuts the first field off *rest, as sf_text_field. */
char *sf_lines_field(const sf_lines *lines, char **rest);

/** As sf_parse_scaled; where no comma separates, one is the decimal mark. Changes the field. */
bool sf_lines_scaled(const sf_lines *lines, char *field, int exponent, int64_t *value);

/** Refuses with SF_DATA: "line N: expected ..., found '...'". What was found is cut and made safe to print.
 */
int sf_lines_refuse(const sf_lines *lines, const char *expected, const char *found, sf_error *error);

#endif
