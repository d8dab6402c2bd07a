/* SPDX-License-Identifier: Apache-2.0 */
/** A growing string, and strict parsing of the numbers that people write on command lines and in files. */
#ifndef SF_CORE_TEXT_H
#define SF_CORE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Zero-initialise before use. After an allocation failure `failed` is set and further appends do nothing. */
typedef struct sf_text {
    char *data; /**< NUL-terminated once anything was appended; NULL before */
    size_t length;
    size_t capacity;
    bool failed;
} sf_text;

void sf_text_append(sf_text *text, const char *data, size_t length);
void sf_text_printf(sf_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sf_text_vprintf(sf_text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
/** Appends a number in decimal digits. */
void sf_text_natural(sf_text *text, uint64_t value);

/** value / 10^digits in decimal, exact and without trailing zeros: 1500000000 with 9 digits gives 1.5. */
void sf_text_scaled(sf_text *text, int64_t value, int digits);
/** A finite number, the shortest that reads back the same. */
void sf_text_real(sf_text *text, double value);
/** Delays as people write them, in ms: `(0.5,5] (5,10]`. */
struct sf_delay;
void sf_text_delays(sf_text *text, const struct sf_delay *delays, size_t count);
void sf_text_free(sf_text *text);

/** Length 0, memory kept. */
static inline void sf_text_clear(sf_text *text)
{
    text->length = 0;
    if (text->data != NULL) text->data[0] = '\0';
}

/** Length of the valid UTF-8 sequence that text begins with, or 0. */
size_t sf_utf8_length(const char *text);

/**
 * What comes from outside (names, files, frames, arguments) may hold bytes that command a terminal, turn text
 * round or are no text. Whatever a person reads passes through here, at the few places through which text
 * reaches a terminal or a log: sf_fail, sf_log, app_write. A control character (C0, DEL, C1), a mark of
 * direction, a separator of lines and a byte that is no UTF-8 become \\x1b or \\u202e; all else stays.
 */

/** As snprintf, escaped; cut at a whole character. */
void sf_visible_printf(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
void sf_visible_vprintf(char *to, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/** Escapes a text in place; lines (\\n) stay as they are where `lines`. */
void sf_text_make_visible(sf_text *text, bool lines);

/** Writes a character in UTF-8: how many bytes. What is no character becomes U+FFFD. */
size_t sf_utf8_encode(char to[4], uint32_t code);

/** The code point of a valid UTF-8 sequence, and whether it is one to escape. */
uint32_t sf_utf8_code(const char *sequence, size_t length);
bool sf_utf8_is_hidden(uint32_t code);

/** Length of the byte order mark that text begins with, as some programs put it before UTF-8, or 0. */
size_t sf_utf8_mark(const char *text, size_t size);

/**
 * Cuts the first field off `*rest`, which is NULL after the last one; blanks and double quotes around it are
 * stripped, and quotes may hold separators. *rest must not be NULL.
 */
char *sf_text_field(char **rest, char separator);

/**
 * Parses a decimal number times 10^exponent exactly into an integer, rounded to nearest (half away from
 * zero): exponent 9 turns seconds into nanoseconds, 6 turns milliseconds into nanoseconds. Accepts a sign, a
 * fraction and an e-exponent; the whole string must be used. Returns false on anything else or where the
 * result leaves int64.
 */
bool sf_parse_scaled(const char *text, int exponent, int64_t *value);

/** Orders names as people do, for qsort: runs of digits by their value, so that unit_2 is before unit_10. 0
 * for equal bytes only. */
int sf_text_compare(const char *left, const char *right);

/** The whole string as an unsigned integer no greater than `most`. */
bool sf_parse_uint(const char *text, uint64_t most, uint64_t *value);

/** The whole string as a number of bytes: a whole number, with K, M, G or T after it for 1024, 1024^2, ... */
bool sf_parse_bytes(const char *text, uint64_t *bytes);

/** The whole string as a finite number. */
bool sf_parse_real(const char *text, double *value);

/**
 * The finite number that the text begins with, where the text ends behind it or goes on with one of the
 * characters of `after`: *rest is there. False where anything else follows, so that no number is read in
 * half.
 */
bool sf_parse_real_until(const char *text, const char *after, double *value, const char **rest);

/**
 * What a person may have meant by a word that is none: offer each word that is one, and `best` is the nearest
 * of those that are near, or NULL. A word is near where about a third of its letters or fewer were left out,
 * put in, mistaken or swapped with a neighbour, or where it goes on from what was typed.
 */
typedef struct sf_nearest {
    const char *word;
    const char *best; /**< as it was offered */
    size_t distance;
} sf_nearest;

void sf_nearest_offer(sf_nearest *nearest, const char *candidate);

/**
 * Seconds to nanoseconds, rounded to nearest (half away from zero). The caller has checked that the result
 * fits
 * (|seconds| < 9.2e9). Splitting keeps the product exact where seconds * 1e9 would round twice.
 */
static inline int64_t sf_seconds_to_ns(double seconds)
{
    int64_t whole = (int64_t)seconds;
    double part = (seconds - (double)whole) * 1e9;
    return whole * 1000000000 + (int64_t)(part < 0 ? part - 0.5 : part + 0.5);
}

/** True where seconds is finite and fits into int64 nanoseconds. */
static inline bool sf_seconds_fit(double seconds)
{
    return seconds > -9.2e9 && seconds < 9.2e9;
}

/** Whether a spreadsheet would compute this text: it begins with =, +, -, @, a tab or CR, and is no number.
 */
bool sf_text_is_formula(const char *cell);

/** Writes a cell of CSV in quotes, with an apostrophe before a formula: names come from outside. */
void sf_text_cell(sf_text *text, const char *cell);

/** A cell without the apostrophe that sf_text_cell wrote before it. */
const char *sf_text_of_cell(const char *cell);

#endif
