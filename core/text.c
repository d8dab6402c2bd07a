/* SPDX-License-Identifier: Apache-2.0 */
#include "core/text.h"

#include "core/memory.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <synfire/mine.h>

static bool make_room(sf_text *text, size_t more)
{
    void *data = text->data;
    if (!text->failed && more < text->capacity - text->length) return true;
    if (text->failed || more >= SIZE_MAX - text->length ||
        sf_reserve(&data, &text->capacity, text->length + more + 1, 1) != 0) {
        text->failed = true;
        return false;
    }
    text->data = data;
    return true;
}

void sf_text_append(sf_text *text, const char *data, size_t length)
{
    if (!make_room(text, length)) return;
    memcpy(text->data + text->length, data, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void sf_text_vprintf(sf_text *text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    size_t room = text->failed ? 0 : text->capacity - text->length;
    int length = vsnprintf(room > 0 ? text->data + text->length : NULL, room, format, arguments);
    bool is_whole = length >= 0 && (size_t)length < room;
    if (length >= 0 && !is_whole && make_room(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        is_whole = true;
    }
    text->failed = text->failed || !is_whole;
    text->length += is_whole ? (size_t)length : 0;
    va_end(again);
}

void sf_text_printf(sf_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    sf_text_vprintf(text, format, arguments);
    va_end(arguments);
}

/* Most numbers are decimals of a few digits, which %.15g would write alike, but slowly. */
static bool put_short_decimal(sf_text *text, double value)
{
    if (!(fabs(value) >= 1e-4 && fabs(value) < 1e9)) return false;
    long long millionths = llround(value * 1e6); /* 15 digits, which a double keeps */
    if ((double)millionths / 1e6 != value) return false;
    sf_text_scaled(text, millionths, 6);
    return true;
}

void sf_text_real(sf_text *text, double value)
{
    char number[32];
    if (put_short_decimal(text, value)) return;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(number, sizeof number, "%.*g", digits, value);
        if (strtod(number, NULL) == value) break;
    }
    sf_text_printf(text, "%s", number);
}

/* Writes the digits before `end`, at least `least` of them. */
static char *digits_before(char *end, uint64_t value, int least)
{
    for (; value > 0 || least > 0; value /= 10, least--)
        *--end = (char)('0' + value % 10);
    return end;
}

void sf_text_natural(sf_text *text, uint64_t value)
{
    char number[24], *end = number + sizeof number, *begin = digits_before(end, value, 1);
    sf_text_append(text, begin, (size_t)(end - begin));
}

void sf_text_scaled(sf_text *text, int64_t value, int digits)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value, scale = 1;
    for (int i = 0; i < digits; i++)
        scale *= 10;
    char number[48], *end = number + sizeof number, *begin = digits_before(end, magnitude % scale, digits);
    while (end > begin && end[-1] == '0')
        end--;
    if (end > begin) *--begin = '.';
    begin = digits_before(begin, magnitude / scale, 1);
    if (value < 0) *--begin = '-';
    sf_text_append(text, begin, (size_t)(end - begin));
}

void sf_text_delays(sf_text *text, const sf_delay *delays, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sf_text_printf(text, i > 0 ? " (" : "(");
        sf_text_scaled(text, delays[i].low_ns, 6);
        sf_text_append(text, ",", 1);
        sf_text_scaled(text, delays[i].high_ns, 6);
        sf_text_append(text, "]", 1);
    }
}

void sf_text_free(sf_text *text)
{
    sf_free(text->data);
    *text = (sf_text){0};
}

size_t sf_utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
        size_t length;
    } forms[] = {{0x80, 0x00, 0, 1}, {0xe0, 0xc0, 0x80, 2}, {0xf0, 0xe0, 0x800, 3}, {0xf8, 0xf0, 0x10000, 4}};
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        if ((s[0] & forms[f].mask) != forms[f].lead) continue;
        uint32_t code = s[0] & (unsigned char)~forms[f].mask;
        for (size_t i = 1; i < forms[f].length; i++) {
            if ((s[i] & 0xc0) != 0x80) return 0;
            code = code << 6 | (s[i] & 0x3f);
        }
        bool surrogate = code >= 0xd800 && code < 0xe000;
        return code >= forms[f].least && code <= 0x10ffff && !surrogate ? forms[f].length : 0;
    }
    return 0;
}

/* ---- what a person reads ---- */

size_t sf_utf8_encode(char to[4], uint32_t code)
{
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
    size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char marks[] = {0, 0xc0, 0xe0, 0xf0};
    to[0] = (char)(marks[more] | code >> 6 * more);
    for (size_t i = 1; i <= more; i++)
        to[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3f));
    return 1 + more;
}

uint32_t sf_utf8_code(const char *sequence, size_t length)
{
    uint32_t code = (unsigned char)sequence[0] & (length == 1 ? 0x7fu : 0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++)
        code = code << 6 | ((unsigned char)sequence[i] & 0x3f);
    return code;
}

bool sf_utf8_is_hidden(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
           code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

enum { PIECE = 8 };

/* The next character of `text`, which ends in NUL, as it may be shown: how many bytes of it that is. */
static size_t take_piece(const char *text, bool lines, char piece[PIECE])
{
    size_t length = sf_utf8_length(text);
    if (length == 0)
        snprintf(piece, PIECE, "\\x%02x", (unsigned char)*text);
    else if (!sf_utf8_is_hidden(sf_utf8_code(text, length)) || (lines && *text == '\n'))
        snprintf(piece, PIECE, "%.*s", (int)length, text);
    else
        snprintf(piece, PIECE, length == 1 ? "\\x%02x" : "\\u%04x", sf_utf8_code(text, length));
    return length > 0 ? length : 1;
}

/* Cuts the beginning of a character that a full buffer left at its end. */
static void drop_part(char *text)
{
    size_t length = strlen(text), from = length;
    while (from > 0 && length - from < 3 && ((unsigned char)text[from - 1] & 0xc0) == 0x80)
        from--;
    if (from > 0 && ((unsigned char)text[from - 1] & 0xc0) == 0xc0 && sf_utf8_length(text + from - 1) == 0)
        text[from - 1] = '\0';
}

void sf_visible_vprintf(char *to, size_t size, const char *format, va_list arguments)
{
    char plain[1024], piece[PIECE];
    size_t most = size < sizeof plain ? size : sizeof plain, used = 0;
    int wanted = vsnprintf(plain, most, format, arguments);
    if (wanted < 0) plain[0] = '\0';
    if (wanted >= (int)most) drop_part(plain);
    for (const char *s = plain; *s != '\0';) {
        s += take_piece(s, false, piece);
        size_t length = strlen(piece);
        if (length >= size - used) break;
        memcpy(to + used, piece, length);
        used += length;
    }
    to[used] = '\0';
}

void sf_visible_printf(char *to, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    sf_visible_vprintf(to, size, format, arguments);
    va_end(arguments);
}

/* How many bytes at the beginning need no escape. */
static size_t plain_length(const sf_text *text, bool lines)
{
    char piece[PIECE];
    size_t at = 0;
    while (at < text->length) {
        const char *s = text->data + at;
        bool ordinary = (*s >= ' ' && *s < 0x7f) || (lines && *s == '\n');
        size_t taken = ordinary ? 1 : take_piece(s, lines, piece);
        if (!ordinary && memcmp(piece, s, taken) != 0) break;
        at += taken;
    }
    return at;
}

void sf_text_make_visible(sf_text *text, bool lines)
{
    sf_text visible = {0};
    char piece[PIECE];
    size_t at = text->failed ? 0 : plain_length(text, lines);
    if (text->failed || at == text->length) return;
    sf_text_append(&visible, text->data, at);
    while (at < text->length) {
        at += take_piece(text->data + at, lines, piece);
        sf_text_append(&visible, piece, strlen(piece));
    }
    sf_text_free(text);
    *text = visible;
}

size_t sf_utf8_mark(const char *text, size_t size)
{
    return size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

bool sf_parse_scaled(const char *text, int exponent, int64_t *value)
{
    const char *p = text;
    bool negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    /* Collect the digits, then move the decimal point: no binary floating point is involved. */
    char digits[64];
    int count = 0, point = 0;
    bool seen_point = false, seen_digit = false;
    for (; isdigit((unsigned char)*p) || (*p == '.' && !seen_point); p++) {
        if (*p == '.') {
            seen_point = true;
            continue;
        }
        seen_digit = true;
        bool leading_zero = *p == '0' && count == 0;
        if (!leading_zero && count < (int)sizeof digits)
            digits[count++] = *p;
        else if (!leading_zero && !seen_point)
            return false; /* 64 integer digits never fit */
        else if (!leading_zero)
            continue; /* beyond any effect on the rounding at 64 digits */
        if (seen_point) point--;
    }
    if (!seen_digit) return false;
    if (*p == 'e' || *p == 'E') {
        char *end;
        errno = 0;
        long e = strtol(p + 1, &end, 10);
        if (end == p + 1 || errno != 0 || e < -400 || e > 400) return false;
        exponent += (int)e;
        p = end;
    }
    if (*p != '\0') return false;
    int shift = exponent + point; /* value = digits * 10^shift */
    uint64_t magnitude = 0;
    int kept = shift < 0 ? count + shift : count;
    for (int i = 0; i < kept; i++) {
        uint64_t digit = (uint64_t)(digits[i] - '0');
        if (magnitude > (INT64_MAX - digit) / 10) return false;
        magnitude = magnitude * 10 + digit;
    }
    for (int i = 0; i < shift && magnitude != 0; i++) {
        if (magnitude > INT64_MAX / 10) return false;
        magnitude *= 10;
    }
    if (shift < 0 && kept >= 0 && kept < count && digits[kept] >= '5') magnitude++;
    if (magnitude > INT64_MAX) return false;
    *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/* The longer of two runs of digits is the larger number, once leading zeros are skipped. Afterwards both
 * texts are behind their runs. */
static int compare_runs(const char **left, const char **right)
{
    while (**left == '0')
        ++*left;
    while (**right == '0')
        ++*right;
    size_t of_left = strspn(*left, "0123456789"), of_right = strspn(*right, "0123456789");
    int order =
        of_left != of_right ? (of_left > of_right) - (of_left < of_right) : memcmp(*left, *right, of_left);
    *left += of_left;
    *right += of_right;
    return order;
}

int sf_text_compare(const char *left, const char *right)
{
    const char *a = left, *b = right;
    while (*a != '\0' && *b != '\0') {
        int order = 0;
        if (is_digit(*a) && is_digit(*b))
            order = compare_runs(&a, &b);
        else
            order = (unsigned char)*a++ - (unsigned char)*b++;
        if (order != 0) return order;
    }
    int order = (unsigned char)*a - (unsigned char)*b;
    return order != 0 ? order : strcmp(left, right);
}

bool sf_parse_uint(const char *text, uint64_t most, uint64_t *value)
{
    if (!isdigit((unsigned char)text[0])) return false;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (*end != '\0' || errno != 0 || number > most) return false;
    *value = number;
    return true;
}

bool sf_parse_bytes(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    char digits[24];
    size_t length = strlen(text);
    if (length == 0 || length >= sizeof digits) return false;
    memcpy(digits, text, length + 1);
    const char *unit = strchr(units, text[length - 1]);
    int shift = unit != NULL ? 10 * (int)(unit - units + 1) : 0;
    if (unit != NULL) digits[length - 1] = '\0';
    uint64_t number;
    if (!sf_parse_uint(digits, UINT64_MAX >> shift, &number)) return false;
    *bytes = number << shift;
    return true;
}

bool sf_parse_real_until(const char *text, const char *after, double *value, const char **rest)
{
    if (text[0] == '\0' || isspace((unsigned char)text[0])) return false;
    char *end;
    double number = strtod(text, &end);
    if (end == text || (*end != '\0' && strchr(after, *end) == NULL) || !isfinite(number)) return false;
    *value = number;
    *rest = end;
    return true;
}

bool sf_parse_real(const char *text, double *value)
{
    const char *rest;
    return sf_parse_real_until(text, "", value, &rest);
}

char *sf_text_field(char **rest, char separator)
{
    char *field = *rest, *end;
    while ((*field == ' ' || *field == '\t') && *field != separator)
        field++;
    if (*field == '"') {
        char *from = ++field;
        for (end = field; *from != '\0' && (*from != '"' || from[1] == '"'); from++) {
            from += *from == '"'; /* "" is a quote */
            *end++ = *from;
        }
        *rest = strchr(from, separator);
    } else {
        *rest = strchr(field, separator);
        end = *rest != NULL ? *rest : field + strlen(field);
        while (end > field && isspace((unsigned char)end[-1]))
            end--;
    }
    if (*rest != NULL) *(*rest)++ = '\0';
    *end = '\0';
    return field;
}

/* ---- the word that was meant ---- */

#define LONGEST_WORD 48

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters left out, put in, mistaken or swapped with a neighbour: optimal string alignment. */
static size_t distance_of(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][LONGEST_WORD + 1];
    for (size_t k = 0; k <= b_length; k++)
        rows[0][k] = k;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3], *before = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t k = 1; k <= b_length; k++) {
            row[k] = least_of(before[k - 1] + (a[i - 1] != b[k - 1]), least_of(before[k], row[k - 1]) + 1);
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                row[k] = least_of(row[k], second[k - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

void sf_nearest_offer(sf_nearest *nearest, const char *candidate)
{
    size_t length = strlen(nearest->word), other = strlen(candidate);
    if (length == 0 || length > LONGEST_WORD || other > LONGEST_WORD) return;
    bool goes_on = length >= 2 && strncmp(nearest->word, candidate, length) == 0;
    size_t distance = goes_on ? 1 : distance_of(nearest->word, length, candidate, other);
    if (distance > (other + 1) / 3 || (nearest->best != NULL && distance >= nearest->distance)) return;
    nearest->best = candidate;
    nearest->distance = distance;
}

/* ---- cells of CSV ---- */

bool sf_text_is_formula(const char *cell)
{
    cell += strspn(cell, "'"); /* so that what has an apostrophe of its own can be told from what got one */
    double number;
    return cell[0] != '\0' && strchr("=+-@\t\r", cell[0]) != NULL && !sf_parse_real(cell, &number);
}

void sf_text_cell(sf_text *text, const char *cell)
{
    sf_text_printf(text, sf_text_is_formula(cell) ? "\"'" : "\"");
    for (; *cell != '\0'; cell++)
        sf_text_append(text, *cell == '"' ? "\"\"" : cell, *cell == '"' ? 2 : 1);
    sf_text_append(text, "\"", 1);
}

const char *sf_text_of_cell(const char *cell)
{
    return cell[0] == '\'' && sf_text_is_formula(cell) ? cell + 1 : cell;
}
