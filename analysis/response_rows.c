/* SPDX-License-Identifier: Apache-2.0 */
/* The options of responses. */
#include "analysis/responses.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/row_macros.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

static const sf_response_options usual = {.to_ns = 100 * SF_MILLISECOND,
                                          .baseline = 3,
                                          .bin_ns = 5 * SF_MILLISECOND,
                                          .permutations = 2000,
                                          .seed = 1};

/* `0:100`, with or without ms behind each. */
static bool parse_window(const char *text, int64_t *from_ns, int64_t *to_ns)
{
    char from[48] = "", to[48] = "";
    const char *colon = strchr(text, ':');
    if (colon == NULL || (size_t)(colon - text) >= sizeof from || strlen(colon + 1) >= sizeof to)
        return false;
    snprintf(from, sizeof from, "%.*s", (int)(colon - text), text);
    snprintf(to, sizeof to, "%s", colon + 1);
    for (size_t i = 0; i < 2; i++) {
        char *own = i == 0 ? from : to, *unit = strstr(own, "ms");
        if (unit != NULL && unit[2] == '\0') *unit = '\0';
    }
    return sf_parse_scaled(from, 6, from_ns) && sf_parse_scaled(to, 6, to_ns) && *from_ns < *to_ns;
}

static int read_response(void *options, const char *text, sf_error *error)
{
    sf_response_options *own = options;
    if (parse_window(text, &own->from_ns, &own->to_ns) && own->from_ns >= 0) return SF_OK;
    return sf_fail(error, SF_USAGE, NULL,
                   "found '%s', expected A:B with A before B in ms after the marker, as 5:100", text);
}

static int read_around(void *options, const char *text, sf_error *error)
{
    sf_response_options *own = options;
    if (parse_window(text, &own->before_ns, &own->after_ns)) return SF_OK;
    return sf_fail(error, SF_USAGE, NULL,
                   "found '%s', expected A:B with A before B in ms around the marker, as -100:300", text);
}

#define ROW sf_response_options
static const sf_key rows[] = {
    TEXT("marker", marker, .argument = "MARKER", .zero = "the one that comes most often; compare: none",
         .what = "the stimulus: a marker's text, or ttl3 for a rising edge of line 3"),
    FORM("response", read_response, .argument = "A:B",
         .what = "the response window, from A to B ms after the marker (default 0:100)"),
    COUNT("baseline", baseline, 1, SF_MOST_BASELINE, .argument = "N",
          .what = "windows of the same length before the marker that the response is held against"),
    FORM("around", read_around, .argument = "A:B",
         .what =
             "the histogram, from A to B ms around the marker (default from the first window before it to a "
             "window's length after the response)"),
    TIME("bin_ns", bin_ns, 1000, 1e15, .unit = "ms", .argument = "MS", .what = "bins of the histogram"),
    COUNT("permutations", permutations, 1, 1000000, .argument = "N",
          .what = "permutations of the test at most; all there are where these are no more"),
    {SF_ROW_SEED, AT(seed), .what = "of random permutations"},
    {0},
};
#undef ROW

const sf_key_table sf_response_table = SF_KEY_TABLE(rows, usual);

int sf_response_check(const sf_response_options *options, sf_error *error)
{
    int64_t length = options->to_ns - options->from_ns;
    if (length > INT64_C(1000000000000000) || options->to_ns > INT64_C(1000000000000000))
        return sf_fail(error, SF_USAGE, "--response",
                       "found a window that ends after %g s, expected 1e6 at most",
                       (double)options->to_ns * 1e-9);
    bool given = options->before_ns != 0 || options->after_ns != 0;
    double from = given ? (double)options->before_ns : -(double)options->baseline * (double)length,
           to = given ? (double)options->after_ns : (double)(options->to_ns + length);
    if ((to - from) / (double)options->bin_ns <= SF_MOST_RESPONSE_BINS) return SF_OK;
    return sf_fail(error, SF_USAGE, "--bin", "makes %.6g bins of a histogram of %.6g ms, expected %d at most",
                   (to - from) / (double)options->bin_ns, (to - from) * 1e-6, SF_MOST_RESPONSE_BINS);
}
