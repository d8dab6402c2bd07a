/* SPDX-License-Identifier: Apache-2.0 */
#include "app/sharpness.h"

#include "core/clock.h"
#include "core/describe/column.h"

#include <math.h>

static const int64_t highest_ms[APP_SHARPNESS_DELAYS] = {2, 5, 10, 20, 50};

int app_sharpness_measure(app_sharpness *sharpness, const sf_recording *recording,
                          const sf_progress *progress, sf_error *error)
{
    sf_delay delays[APP_SHARPNESS_DELAYS];
    for (size_t i = 0; i < APP_SHARPNESS_DELAYS; i++)
        delays[i] = (sf_delay){SF_MILLISECOND / 2, highest_ms[i] * SF_MILLISECOND};
    int status =
        sf_recording_sharpness(recording, delays, APP_SHARPNESS_DELAYS, sharpness->delays, progress, error);
    for (size_t i = 0; i < APP_SHARPNESS_DELAYS; i++)
        if (isnan(sharpness->delays[i].low_share)) {
            sf_sharpness *at = &sharpness->delays[i];
            at->sharpness = at->shared = at->spread = NAN;
        }
    return status;
}

static bool knows_something(const app_sharpness *sharpness)
{
    for (size_t i = 0; i < APP_SHARPNESS_DELAYS; i++)
        if (sharpness->delays[i].pairs > 0) return true;
    return false;
}

void app_sharpness_print(sf_text *text, const app_sharpness *sharpness)
{
    if (!knows_something(sharpness)) return;
    bool few = false;
    sf_text_printf(text, "  sharpness   of what units share, at delays up to");
    for (size_t i = 0; i < APP_SHARPNESS_DELAYS; i++) {
        const sf_sharpness *at = &sharpness->delays[i];
        sf_text_printf(text, "%s %g ms: ", i > 0 ? ";" : "", (double)at->delay.high_ns * 1e-6);
        sf_text_printf(text, isnan(at->sharpness) ? "-" : "%.2f%s", at->sharpness, at->testable ? "" : " !");
        few = few || isnan(at->sharpness);
    }
    sf_text_printf(text, "%s\n", few ? " (-: too few pairs to tell)" : "");
}

static void warn_of(sf_text *text, const app_sharpness *sharpness, sf_not_tested why, const char *words)
{
    bool any = false;
    for (size_t i = 0; i < APP_SHARPNESS_DELAYS; i++) {
        if (sf_sharpness_verdict(&sharpness->delays[i]) != why) continue;
        if (!any) sf_text_printf(text, "  ! %s for --significance at delays up to", words);
        sf_text_printf(text, "%s %g", any ? "," : "", (double)highest_ms[i]);
        any = true;
    }
    if (any) sf_text_printf(text, " ms: no p or q will be given\n");
}

void app_sharpness_warn(sf_text *text, const app_sharpness *sharpness)
{
    warn_of(text, sharpness, SF_BURSTS_TOO_SHARP, "bursts are too sharp");
    warn_of(text, sharpness, SF_PAIRS_TOO_UNLIKE, "pairs are too unlike");
}

#define ROW sf_sharpness
#define FEW "too few pairs to tell"
static const sf_column_row rows[] = {
    SF_FIELD_IS(TIME, "delay_high_ms", delay.high_ns, "delays up to this", .unit = "ms"),
    SF_FIELD_IS(TIME, "width_ms", width_ns, "by which surrogates shift", .unit = "ms"),
    SF_MEMBER_IS(COUNT, pairs, "pairs of units that were looked at"),
    SF_MEMBER_IS(REAL, sharpness, "how sharp the bursts are that units share", .null = FEW),
    SF_MEMBER_IS(REAL, shared, "part of the correlation that units share", .null = FEW),
    SF_MEMBER_IS(REAL, spread, "how much that scatters between pairs", .null = FEW),
    SF_MEMBER_IS(REAL, low_share, "of unlinked pairs that will have p < 0.05, as measured of most pairs",
                 .null = FEW),
    SF_FIELD_IS(COUNT, "grouped_units", grouped, "units in groups that share events which the others do not"),
    SF_MEMBER_IS(FLAG, testable, "--significance works at these delays"),
};

const sf_table app_sharpness_table = {.name = "sharpness",
                                      .row = "sharpness_at",
                                      .about = "delays at which bursts of a recording are looked at",
                                      .row_count = APP_SHARPNESS_DELAYS,
                                      SF_TABLE_OF(rows)};
