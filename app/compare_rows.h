/* SPDX-License-Identifier: Apache-2.0 */
/** Columns of the measures of a recording or a replicate in compare. ROW has the members `values` and
 * `chance`, SF_MEASURES numbers each (core/describe/column.h). */
#ifndef SF_APP_COMPARE_ROWS_H
#define SF_APP_COMPARE_ROWS_H

#include "app/compare.h"

#include "core/describe/column.h"

/** Reads measure column->member from the numbers at column->within. */
SF_SHARED_GETTER(app_compared_get);

#define APP_NUMBER_IS(place, name, of_unit, of, phrase)                                                      \
    {                                                                                                        \
        .is = SF_WHAT_IS(REAL, name, phrase, .unit = sizeof(of_unit) > 1 ? (of_unit) : NULL,                 \
                         .null = "there is none"),                                                           \
        .get = app_compared_get, .member = SF_MEASURE_##place, .within = offsetof(ROW, of)                   \
    }
#define APP_MEASURE_IS(place, name, unit, label, what) APP_NUMBER_IS(place, name, unit, values, what),
#define APP_CHANCE_IS(place, name, unit, label, what)                                                        \
    APP_NUMBER_IS(place, name, unit, chance, "by chance: " what),
#define APP_CHANCE_NAMED(place, name, unit, label, what)                                                     \
    APP_NUMBER_IS(place, name "_chance", unit, chance, "by chance: " what),
#define APP_NO_CHANCE(place, name, unit, label, what)

/** All measures; the chance values of those that have one, under the same names, or in CSV with `_chance`
 * appended. */
#define APP_MEASURES_ARE SF_MEASURES_ARE(APP_MEASURE_IS, APP_MEASURE_IS)
#define APP_CHANCE_ARE SF_MEASURES_ARE(APP_NO_CHANCE, APP_CHANCE_IS)
#define APP_NAMED_CHANCE_ARE SF_MEASURES_ARE(APP_NO_CHANCE, APP_CHANCE_NAMED)

#endif
