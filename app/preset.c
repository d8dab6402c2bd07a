/* SPDX-License-Identifier: Apache-2.0 */
#include "app/preset.h"

#include "core/clock.h"

static const app_preset presets[] = {
    /* as APP_PRESET_OPTION */
    {.name = "culture-60",
     .delays = "1:5,5:10,10:20",
     .window_ns = 300 * SF_SECOND,
     .hop_ns = 10 * SF_SECOND},
    {.name = "retina-waves",
     .delays = "50:1000",
     .window_ns = 600 * SF_SECOND,
     .hop_ns = 30 * SF_SECOND,
     .sttc_ns = 50 * SF_MILLISECOND},
    {.name = "retina-adult", .delays = "0.5:3,3:25"},
    {.name = "cortex", .delays = "0.8:4,4:10,10:25", .window_ns = 60 * SF_SECOND, .hop_ns = 5 * SF_SECOND},
    {.name = "hd-mea",
     .delays = "1:5,5:15",
     .window_ns = 300 * SF_SECOND,
     .hop_ns = 5 * SF_SECOND,
     .dedup_ns = 400000,
     .dedup_um = 100},
};

int app_preset_get(const app_call *call, const app_preset **preset, sf_error *error)
{
    int index = 0;
    int status = app_word(call, "preset", &index, error);
    *preset = status == SF_OK && app_has(call, "preset") ? &presets[index] : NULL;
    return status;
}

void app_preset_print(const app_call *call, const app_preset *preset)
{
    sf_text line = {0};
    sf_text_printf(&line, "preset %s: delays %s ms", preset->name, preset->delays);
    if (preset->window_ns > 0)
        sf_text_printf(&line, ", window %g s, discovery every %g s", (double)preset->window_ns * 1e-9,
                       (double)preset->hop_ns * 1e-9);
    else
        sf_text_printf(&line, ", each trial a window");
    if (preset->dedup_ns > 0)
        sf_text_printf(&line, ", dedup %g ms within %g um", (double)preset->dedup_ns * 1e-6,
                       preset->dedup_um);
    else
        sf_text_printf(&line, ", no dedup");
    if (preset->sttc_ns > 0)
        sf_text_printf(&line, ", spike-time tiling at %g ms", (double)preset->sttc_ns * 1e-6);
    if (!line.failed) app_warn(call, "%s", line.data);
    sf_text_free(&line);
}
