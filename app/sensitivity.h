/* SPDX-License-Identifier: Apache-2.0 */
/** How far the significant chains of a page depend on the widths that were chosen. */
#ifndef SF_APP_SENSITIVITY_H
#define SF_APP_SENSITIVITY_H

#include "app/figure.h"

/** One change, and what stays: a row of app_sensitivity_table. */
typedef struct app_sensitive {
    const char *change;
    double width_ms;              /**< of the test */
    uint64_t chains, significant; /**< SF_NO_COUNT: there is no such test */
} app_sensitive;

extern const sf_table app_sensitivity_table;

#define APP_SENSITIVITY 7 /* as it was, and six changes */

typedef struct app_sensitivity {
    app_sensitive rows[APP_SENSITIVITY];
    size_t count; /**< 0: no chain is significant */
} app_sensitivity;

/** Counts and tests the significant chains that are no parts of others, the first
 * APP_SENSITIVITY_MOST of them, as the page did: with other widths of the test, other widths of the delays
 * and other bounds. */
#define APP_SENSITIVITY_MOST 100
int app_sensitivity_find(app_sensitivity *found, app_subject *subject, sf_error *error);

/** A sentence; where no chain is significant there are no rows, and it is not to be called. */
void app_sensitivity_print(sf_text *words, const app_sensitivity *found);

/** The field `sensitivity`: a row each, or none. */
void app_sensitivity_json(sf_json *json, const app_sensitivity *found);

#endif
