/* SPDX-License-Identifier: Apache-2.0 */
/** Reading samples from files of numbers. */
#ifndef SF_IO_SAMPLES_FILE_H
#define SF_IO_SAMPLES_FILE_H

#include "density/samples.h"

/**
 * Reads rows of numbers; the content determines the format.
 *
 * Text: one row per line, columns separated by a comma, a semicolon or blanks; empty lines, lines that begin
 * with #, and a first row of column names are skipped. NumPy .npy: one or two dimensions (rows, columns) of
 * integers or floating-point numbers in either byte order.
 *
 * SF_NO_INPUT, SF_IO, SF_NO_MEMORY; SF_DATA (`path:line`) if a field is not a finite number, rows differ in
 * length, or there is no row. *samples is empty on failure.
 */
int sf_samples_read(sf_samples *samples, const char *path, sf_error *error);

/** The same from memory: text[size] must be NUL; `path` is for messages. */
int sf_samples_parse(sf_samples *samples, const char *path, const char *text, size_t size, sf_error *error);

#endif
