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
    app_details details; /**< with the columns of what was counted */
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

/** The field `registered` of a command that counts them beside something else, or null; with `counting` NULL
 * there are none. */
void app_registered_json(sf_json *json, const app_counting *counting);

/** Its heading, its table and its sentence of methods; nothing without --registered. */
void app_registered_print(sf_text *text, const app_counting *counting);

/** The counts of all episodes as a table with what stands above and below it; and the field `episodes`. */
void app_counting_print(sf_text *text, const app_counting *counting);
void app_counting_json(sf_json *json, const app_counting *counting);

/**
 * Draws the answer, pictures in two columns: correlograms where there are any, the counts of
 * windows where there are any, and otherwise the delays of every link. SF_USAGE where that is too much for
 * one file.
 */
int app_count_plot(const char *path, const app_counting *counting, sf_error *error);

#endif
