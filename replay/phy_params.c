/* SPDX-License-Identifier: Apache-2.0 */
/* params.py of a Phy folder: the sampling rate, and the recorded duration as the number of samples in the raw
 * data that it describes. Its lines are parsed and never executed. */
#include "replay/folder.h"

#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "replay/reader.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Text after the last line `key =`, which is the valid one; NULL: there is none. */
static const char *value_of(const char *text, const char *key)
{
    size_t length = strlen(key);
    const char *value = NULL;
    for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
        at += strspn(at, " \t\r\n");
        const char *after = at + length;
        if (strncmp(at, key, length) == 0 && after[strspn(after, " \t")] == '=') {
            value = after + strspn(after, " \t") + 1;
            value += strspn(value, " \t");
        }
    }
    return value;
}

/* A Python number, which may have underscores between digits. */
static bool take_number(const char **at, double *number)
{
    char digits[64];
    size_t length = 0;
    const char *from = *at + strspn(*at, " \t"), *rest;
    for (; *from != '\0' && strchr(" \t\r\n*/#", *from) == NULL; from++) {
        bool joins =
            *from == '_' && length > 0 && isdigit((unsigned char)from[-1]) && isdigit((unsigned char)from[1]);
        if (length + 1 == sizeof digits) return false;
        digits[length] = *from;
        length += !joins;
    }
    digits[length] = '\0';
    *at = from + strspn(from, " \t\r");
    return sf_parse_real_until(digits, "", number, &rest);
}

/* Parses the whole value of a line: a number, or numbers multiplied and divided. */
static bool parse_product(const char *at, double *number)
{
    double next;
    if (!take_number(&at, number)) return false;
    while (*at == '*' || *at == '/') {
        bool divides = *at++ == '/';
        if (*at == '*' || *at == '/' || !take_number(&at, &next)) /* powers and whole parts are others */
            return false;
        *number = divides ? *number / next : *number * next;
    }
    return *at == '\0' || *at == '\n' || *at == '#';
}

static bool number_of(const char *text, const char *key, double *number)
{
    double parsed;
    const char *value = value_of(text, key);
    if (value == NULL || !parse_product(value, &parsed)) return false;
    *number = parsed;
    return true;
}

static size_t bytes_of_sample(const char *text)
{
    static const struct {
        const char *name;
        size_t bytes;
    } types[] = {{"int16", 2},   {"uint16", 2}, {"int32", 4}, {"uint32", 4}, {"float32", 4},
                 {"float64", 8}, {"int8", 1},   {"uint8", 1}, {"single", 4}, {"double", 8}};
    const char *value = value_of(text, "dtype");
    char line[64];
    snprintf(line, sizeof line, "%.*s", (int)(value != NULL ? strcspn(value, "\r\n#") % sizeof line : 0),
             value != NULL ? value : "");
    char *name = line + strcspn(line, "'\"");
    if (*name == '\0') return 0;
    name++;
    name[strcspn(name, "'\"")] = '\0';
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(name, types[i].name) == 0) return types[i].bytes;
    return 0;
}

/* Total size of the files that a value names (one, or a list); 0 if one is missing. */
static uint64_t bytes_of_files(const char *value, const char *folder)
{
    const char *end =
        value + (value[strspn(value, " \t")] == '[' ? strcspn(value, "]") : strcspn(value, "\r\n"));
    uint64_t bytes = 0;
    for (const char *at = value; at < end;) {
        char name[1024], path[SF_FOLDER_PATH];
        struct stat about;
        const char *open = at + strcspn(at, "'\"");
        if (open >= end) break;
        const char *close = strchr(open + 1, *open);
        if (close == NULL || close >= end || (size_t)(close - open) > sizeof name) return 0;
        snprintf(name, sizeof name, "%.*s", (int)(close - open - 1), open + 1);
        if (name[0] == '/')
            snprintf(path, sizeof path, "%s", name);
        else
            sf_folder_has(path, folder, name);
        if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return 0;
        bytes += (uint64_t)about.st_size;
        at = close + 1;
    }
    return bytes;
}

int sf_phy_rate(double *rate_hz, const char *folder, bool is_given, sf_error *error)
{
    char path[SF_FOLDER_PATH];
    sf_text text = {0};
    if (is_given || !sf_folder_has(path, folder, "params.py")) return SF_OK;
    int status = sf_file_read(&text, path, error);
    const char *value = status == SF_OK && text.length > 0 ? value_of(text.data, "sample_rate") : NULL;
    if (value != NULL && !parse_product(value, rate_hz))
        status = sf_fail(error, SF_DATA, path,
                         "found sample_rate = %.*s, expected a number, or a product of numbers: write "
                         "it as one, or give --rate HZ",
                         (int)strcspn(value, "\r\n"), value);
    sf_text_free(&text);
    return status;
}

int sf_phy_recorded(sf_recording *recording, const char *folder, double rate_hz, sf_error *error)
{
    char path[SF_FOLDER_PATH];
    sf_text text = {0};
    if (!sf_folder_has(path, folder, "params.py")) return SF_OK;
    int status = sf_file_read(&text, path, error);
    const char *files = status == SF_OK && text.length > 0 ? value_of(text.data, "dat_path") : NULL;
    double channels = 0, offset = 0;
    uint64_t bytes = files != NULL ? bytes_of_files(files, folder) : 0;
    size_t wide = files != NULL ? bytes_of_sample(text.data) : 0;
    bool known = files != NULL && number_of(text.data, "n_channels_dat", &channels) && channels >= 1 &&
                 channels <= 1e6 && wide > 0;
    if (known) number_of(text.data, "offset", &offset);
    known = known && offset >= 0 && (double)bytes > offset;
    int64_t stop_ns = 0;
    if (known)
        known = sf_samples_to_ns((int64_t)((double)bytes - offset) / (int64_t)(channels * (double)wide),
                                 rate_hz, &stop_ns);
    if (known && stop_ns > sf_reader_last_ns(recording)) {
        recording->recorded = (sf_span){0, stop_ns};
        recording->declared = true;
    }
    sf_text_free(&text);
    return status;
}
