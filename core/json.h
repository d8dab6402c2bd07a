/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writing JSON, one value after the other, into a text. `key` is NULL inside arrays and at the top. Numbers
 * that are not finite become null. Strings are escaped; bytes that are not UTF-8 are replaced by U+FFFD.
 */
#ifndef SF_CORE_JSON_H
#define SF_CORE_JSON_H

#include "core/text.h"

#include <synfire/mine.h>

#define SF_JSON_DEPTH 32

typedef struct sf_json {
    sf_text *out;
    int depth;
    bool has_items[SF_JSON_DEPTH];
} sf_json;

sf_json sf_json_start(sf_text *out);
void sf_json_object(sf_json *json, const char *key); /**< opens an object */
void sf_json_array(sf_json *json, const char *key);  /**< opens an array */
void sf_json_end_object(sf_json *json);
void sf_json_end_array(sf_json *json);
void sf_json_string(sf_json *json, const char *key, const char *value); /**< NULL gives null */
/** An array of the texts up to NULL; null where there are none. */
void sf_json_strings(sf_json *json, const char *key, const char *const *values);
void sf_json_int(sf_json *json, const char *key, int64_t value);
void sf_json_uint(sf_json *json, const char *key, uint64_t value);
void sf_json_real(sf_json *json, const char *key,
                  double value); /**< shortest text that reads back the same */
void sf_json_bool(sf_json *json, const char *key, bool value);
void sf_json_null(sf_json *json, const char *key);
/** Nanoseconds as seconds, exact to the last digit, as a JSON number: 1500000000 gives 1.5. */
void sf_json_seconds(sf_json *json, const char *key, int64_t time_ns);
/** Nanoseconds as milliseconds, likewise. */
void sf_json_milliseconds(sf_json *json, const char *key, int64_t time_ns);
/** An array of pairs of milliseconds: [[4,6],[0,5]]. */
void sf_json_delays(sf_json *json, const char *key, const sf_delay *delays, size_t count);

#endif
