/* SPDX-License-Identifier: Apache-2.0 */
/** Rows that documents of several commands have; ROW is the struct of the document (core/describe/column.h).
 */
#ifndef SF_APP_DOCUMENT_H
#define SF_APP_DOCUMENT_H

#include "app/epochs.h"
#include "app/mining.h"

#include "core/describe/column.h"

/* ---- of the member `ran`, an sf_ran ---- */

#define APP_ROW_ENGINE(ran) SF_FIELD_IS(TEXT, "engine", ran.engine, "what counted")
#define APP_ROW_DEVICE(ran) SF_FIELD_IS(TEXT, "device", ran.device, "where: cpu, or a GPU, as cuda:0")
#define APP_ROW_DEVICE_NOTE(ran)                                                                             \
    SF_FIELD_IS(TEXT, "device_note", ran.note, "why a device that was asked for or chosen did not do it",    \
                .null = "it did")
#define APP_ROW_SECONDS(of) SF_FIELD_IS(REAL, "seconds", of, "that the work itself took", .unit = "s")

/* ---- of what was found ---- */

/** `of`: a const char *, as from app_stopped_name. */
#define APP_ROW_STOPPED(of)                                                                                  \
    SF_FIELD_IS(TEXT, "stopped", of,                                                                         \
                "where a signal cut the work short: not all was found; what it is tested by (surrogates, "   \
                "rewired graphs, shifted labels) is missing or fewer than asked for; or what is told "       \
                "beside it is missing",                                                                      \
                .null = "nothing is", .words = app_stopped_words)

#define APP_ROW_THRESHOLD(of)                                                                                \
    SF_FIELD_IS(REAL, "threshold", of, "the count from which an episode is frequent",                        \
                .null = "none was looked for")
#define APP_ROW_THRESHOLD_WHY(of)                                                                            \
    SF_FIELD_IS(TEXT, "threshold_why", of, "of which rule the threshold is", .null = "one was asked for")

/** `epochs`: an app_epochs. */
#define APP_ROW_EPOCHS(epochs)                                                                               \
    SF_STRUCTS_ARE("epochs", epochs.items, epochs.count, &app_epochs_table,                                  \
                   "of --epochs, each of which was taken alone too", .null = "without --epochs")

/** `of`: a const sf_significance *. Columns where surrogates were counted, and why a requested or chosen
 * device did not do it. */
extern const sf_table app_significance_document;
#define APP_ROW_SIGNIFICANCE(of)                                                                             \
    SF_POINTED_IS("significance", of, &app_significance_document, "the test",                                \
                  .null = "without --significance")

/** `graph`: an sf_graph_columns. Whether its edges were tested; NULL for SF_EDGES_NOT_COUNTED. */
extern const char *const app_tested_words[];
const char *app_tested_word(const void *tested);
#define APP_ROW_EDGES_TESTED(graph)                                                                          \
    SF_WORD_IS("edges_tested", graph.tested, app_tested_word,                                                \
               "of all edges: no test was made; one was, and chance is among them; all have a q "            \
               "of 0.05 or less",                                                                            \
               .null = "they are neither counts nor coefficients", .words = app_tested_words)

#endif
