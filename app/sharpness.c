/* SPDX-License-Identifier: Apache-2.0 */
#include "app/sharpness.h"

#include "core/clock.h"

#include <math.h>

static const int64_t highest_ms[APP_SHARPNESS_DELAYS] = {2, 5, 10, 20, 50};

int app_sharpness_measure(app_sharpness *sharpness, const sf_recording *recording,
                          const sf_progress *progress, sf_error *error)
{
    sf_delay delays[APP_SHARPNESS_DELAYS];
    for (size_t i = 0; i < APP_SHARPNESS_DELAYS; i++)
        delays[i] = (sf_delay){SF_MILLISECOND / 2, highest_ms[i] * SF_MILLISECOND};
    return sf_recording_sharpness(recording, delays, APP_SHARPNESS_DELAYS, sharpness->delays, progress,
                                  error);
}

static bool is_measured(const sf_sharpness *at)
{
    return !isnan(at->low_share);
}

static bool knows_something(const app_sharpness *sharpness)
{
    for (size_t i = 0; i < APP_SHARPNESS_DELAYS; i++)
        if (sharpness->delays[i].pairs > 0)
            return true;
    return false;
}

void app_sharpness_print(sf_text *text, const app_sharpness *sharpness)
{
    if (!knows_something(sharpness))
        return;
    bool few = false;
    sf_text_printf(text, "  sharpness   of what units share, at delays up to");
    for (size_t i = 0; i < APP_SHARPNESS_DELAYS; i++) {
        const sf_sharpness *at = &sharpness->delays[i];
        sf_text_printf(text, "%s %g ms: ", i > 0 ? ";" : "", (double)at->delay.high_ns * 1e-6);
        sf_text_printf(text, is_measured(at) ? "%.2f%s" : "-", at->sharpness, at->testable ? "" : " !");
        few = few || !is_measured(at);
    }
    sf_text_printf(text, "%s\n", few ? " (-: too few pairs to tell)" : "");
}

void app_sharpness_warn(sf_text *text, const app_sharpness *sharpness)
{
    bool any = false;
    for (size_t i = 0; i < APP_SHARPNESS_DELAYS; i++) {
        if (sharpness->delays[i].testable)
            continue;
        sf_text_printf(text, any ? ", %g" : "  ! bursts are too sharp for --significance at delays up to %g",
                       (double)highest_ms[i]);
        any = true;
    }
    if (any)
        sf_text_printf(text, " ms: no p or q will be given\n");
}

void app_sharpness_json(sf_json *json, const app_sharpness *sharpness)
{
    sf_json_array(json, "sharpness");
    for (size_t i = 0; i < APP_SHARPNESS_DELAYS; i++) {
        const sf_sharpness *at = &sharpness->delays[i];
        sf_json_object(json, NULL);
        sf_json_milliseconds(json, "delay_ms", at->delay.high_ns);
        sf_json_milliseconds(json, "width_ms", at->width_ns);
        sf_json_uint(json, "pairs", at->pairs);
        sf_json_real(json, "sharpness", is_measured(at) ? at->sharpness : NAN);
        sf_json_real(json, "shared", is_measured(at) ? at->shared : NAN);
        sf_json_real(json, "spread", is_measured(at) ? at->spread : NAN);
        sf_json_real(json, "low_share", is_measured(at) ? at->low_share : NAN);
        sf_json_uint(json, "grouped_units", at->grouped);
        sf_json_bool(json, "testable", at->testable);
        sf_json_end_object(json);
    }
    sf_json_end_array(json);
}
