/* SPDX-License-Identifier: Apache-2.0 */
/** The request and the result of `synfire count`, shared by the code that prints and the code that draws. */
#ifndef SF_APP_COUNTING_H
#define SF_APP_COUNTING_H

#include "app/details.h"
#include "app/significance.h"

/** A request and its answer. */
typedef struct app_counting {
    const app_call *call;
    const char *registered;  /**< the file of --registered, or NULL */
    char sha256[APP_SHA256]; /**< its digest */
    const sf_recording *recording;
    sf_counting_options options;
    app_test test;
    sf_episodes *counted;
    app_details details;  /**< with the columns of the counted episodes */
    size_t *correlograms; /**< by episode: index of the first correlogram of its links; NULL: none */
    const char *stopped;  /**< as from app_stopped_name */
    bool is_whole;        /**< the document describes only these */
} app_counting;

#define APP_REGISTERED_OPTION                                                                                \
    {                                                                                                        \
        "registered", "FILE",                                                                                \
            "chains that were written down before the recording was looked at, as --episodes of count has "  \
            "them: tested, by segment-shift where --significance says nothing else, and q corrects for "     \
            "them "                                                                                          \
            "alone; the methods sentence has the file's SHA-256"                                             \
    }

/** Reads, counts and tests the chains of --registered with the test of another command; epochs are those of
 * the call. Zero-initialise before; call app_registered_free in any case. */
int app_registered_count(app_counting *counting, const app_call *call, const sf_recording *recording,
                         const app_test *test, sf_error *error);
void app_registered_free(app_counting *counting);

/** Rows of a document, from its member `of`, an app_counting, or from the document itself if `at` is 0. */
extern const sf_table app_registered_document;
void app_registered_get(const sf_column_row *column, const void *of, size_t row, size_t item,
                        sf_value *value);
#define APP_REGISTERED_AT(at)                                                                                \
    {                                                                                                        \
        .is = SF_WHAT_IS(RECORD, "registered",                                                               \
                         "--registered: chains that were written down before the recording was looked at",   \
                         .null = "without it"),                                                              \
        .get = app_registered_get, .within = (at), .table = &app_registered_document                         \
    }
#define APP_ROW_REGISTERED(of) APP_REGISTERED_AT(offsetof(ROW, of))

/** Appends its heading, table and methods sentence; nothing without --registered. */
void app_registered_print(sf_text *text, const app_counting *counting);

/** Appends the counts of all episodes as a table, with the lines above and below it. */
void app_counting_print(sf_text *text, const app_counting *counting);

/**
 * Draws the result, pictures in two columns: correlograms if there are any, else the counts of windows if
 * there are any, else the delays of every link. SF_USAGE if that is too much for one file.
 */
int app_count_plot(const char *path, const app_counting *counting, sf_error *error);

#endif
