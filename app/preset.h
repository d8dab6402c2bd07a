/* SPDX-License-Identifier: Apache-2.0 */
/** Presets: defaults for a kind of preparation, under one name. */
#ifndef SF_APP_PRESET_H
#define SF_APP_PRESET_H

#include "app/command.h"

typedef struct app_preset {
    const char *name;
    const char *delays;        /**< as --delay takes them: LO:HI[/PARTS][,LO:HI...] in ms */
    int64_t window_ns, hop_ns; /**< hop: interval of discovery; 0: the trial is the window */
    int64_t dedup_ns;          /**< 0: off */
    double dedup_um;
    int64_t sttc_ns; /**< half-width of the spike-time tiling coefficient; 0: no recommendation */
} app_preset;

#define APP_PRESET_OPTION                                                                                    \
    {                                                                                                        \
        "preset", "culture-60|retina-waves|retina-adult|cortex|hd-mea",                                      \
            "defaults for a kind of preparation, printed when used"                                          \
    }

/** The preset that --preset names, NULL if it was not given; SF_USAGE lists the names. */
int app_preset_get(const app_call *call, const app_preset **preset, sf_error *error);

/** Prints its settings in one line on stderr, unless --quiet; app_load calls it. */
void app_preset_print(const app_call *call, const app_preset *preset);

#endif
