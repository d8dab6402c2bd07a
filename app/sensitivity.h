/* SPDX-License-Identifier: Apache-2.0 */
/** How much a page's significant chains depend on the chosen widths. */
#ifndef SF_APP_SENSITIVITY_H
#define SF_APP_SENSITIVITY_H

#include "app/figure.h"

/** One change, and the chains that remain: a row of app_sensitivity_table. */
typedef struct app_sensitive {
    const char *change;
    double width_ms;              /**< of the test */
    uint64_t chains, significant; /**< SF_NO_COUNT: this test does not exist */
} app_sensitive;

extern const sf_table app_sensitivity_table;

#define APP_SENSITIVITY 7 /* as it was, and six changes */

typedef struct app_sensitivity {
    app_sensitive rows[APP_SENSITIVITY];
    size_t count; /**< 0: no chain is significant */
} app_sensitivity;

/** Counts and tests the page's significant chains that are no parts, the first APP_SENSITIVITY_MOST of them,
 * in the same way but with other widths of the test, and other widths and bounds of the delays. */
#define APP_SENSITIVITY_MOST 100
int app_sensitivity_find(app_sensitivity *found, app_subject *subject, sf_error *error);

/** Appends a sentence; do not call it without rows, that is if no chain is significant. */
void app_sensitivity_print(sf_text *words, const app_sensitivity *found);

/** The field `sensitivity`: one row per change, or none. */
void app_sensitivity_json(sf_json *json, const app_sensitivity *found);

#endif
