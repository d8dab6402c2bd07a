/* SPDX-License-Identifier: Apache-2.0 */
/** Reading a text in memory line by line and word by word, with errors that name the file and the line. */
#ifndef SF_IO_GRAPH_SCAN_H
#define SF_IO_GRAPH_SCAN_H

#include <synfire/error.h>

#define SF_SCAN_WORD 64

typedef struct sf_scan {
    const char *path; /**< for messages */
    const char *next; /**< start of the line after this one */
    const char *end;
    const char *at, *line_end; /**< rest of the current line, without a trailing CR */
    size_t line;               /**< 1-based; 0 before the first */
    char word[SF_SCAN_WORD];   /**< the last word read, cut to fit */
    bool cut;                  /**< the last word did not fit */
    bool commas;               /**< commas separate words as white space does; set by the caller */
} sf_scan;

/** Borrows the text, which need not end in NUL. */
sf_scan sf_scan_start(const char *path, const char *text, size_t size);

bool sf_scan_line(sf_scan *scan); /**< advances to the next line; false at the end of the text */
bool sf_scan_word(sf_scan *scan); /**< advances to the next word of the line; false at its end */

/** Parses the next word as an integer in [least, most] or as a finite number; `what` names it in the message.
 */
int sf_scan_uint(sf_scan *scan, const char *what, uint64_t least, uint64_t most, uint64_t *value,
                 sf_error *error);
int sf_scan_real(sf_scan *scan, const char *what, double *value, sf_error *error);

/** Fails if the line has further words; `what` says what the line should hold. */
int sf_scan_end(sf_scan *scan, const char *what, sf_error *error);

/** SF_DATA if the line declares more vertices than a file of this size may (io/graph/file.h). */
int sf_scan_check_vertices(const sf_scan *scan, uint64_t vertices, uint64_t file_bytes, sf_error *error);

/** Fails with SF_DATA at `path:line`, or `path` before the first line. */
int sf_scan_fail(const sf_scan *scan, sf_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
