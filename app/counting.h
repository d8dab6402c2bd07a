/* SPDX-License-Identifier: Apache-2.0 */
/** What `synfire count` was asked and has found, shared by what prints it and what draws it. */
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
    app_details details;  /**< with the columns of what was counted */
    size_t *correlograms; /**< of each episode, the first of those of its links; NULL: there are none */
    const char *stopped;  /**< as app_stopped_name has it */
    bool is_whole;        /**< its document is of these alone */
} app_counting;

#define APP_REGISTERED_OPTION                                                                                \
    {                                                                                                        \
        "registered", "FILE",                                                                                \
            "chains that were written down before the recording was looked at, as --episodes of count has "  \
            "them: tested, by segment-shift where --significance says nothing else, and q corrects for "     \
            "them "                                                                                          \
            "alone; the methods sentence has the file's SHA-256"                                             \
    }

/** Reads, counts and tests the chains of --registered by the test of another command; epochs are those of the
 * call. Zeroed before; app_registered_free in any case. */
int app_registered_count(app_counting *counting, const app_call *call, const sf_recording *recording,
                         const app_test *test, sf_error *error);
void app_registered_free(app_counting *counting);

/** Of a document, from an app_counting that is its member `of`, or itself where `at` is 0. */
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

/** Its heading, its table and its sentence of methods; nothing without --registered. */
void app_registered_print(sf_text *text, const app_counting *counting);

/** The counts of all episodes as a table with what stands above and below it. */
void app_counting_print(sf_text *text, const app_counting *counting);

/**
 * Draws the answer, pictures in two columns: correlograms where there are any, the counts of
 * windows where there are any, and otherwise the delays of every link. SF_USAGE where that is too much for
 * one file.
 */
int app_count_plot(const char *path, const app_counting *counting, sf_error *error);

#endif
