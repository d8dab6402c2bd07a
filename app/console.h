/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The output of `synfire run` for people: on a terminal a page with the state of the run and the newest
 * counts, redrawn with each status; elsewhere one line per hop; at the end a summary.
 */
#ifndef SF_APP_CONSOLE_H
#define SF_APP_CONSOLE_H

#include "app/rate_map.h"
#include "core/text.h"

#include <stdatomic.h>
#include <stdio.h>
#include <synfire/live.h>

/** A watched episode and its triggers. */
typedef struct app_watched {
    const char *text; /**< as configured: the trigger's name, or the episode */
    atomic_ullong triggers;
    atomic_llong last_ns; /**< stream time of the newest trigger */
} app_watched;

typedef struct app_console {
    FILE *out;
    bool redraw; /**< out is a terminal */
    const sf_live_options *config;
    const sf_live *live;
    uint32_t unit_count;
    app_watched *watched; /**< by name */
    size_t watched_count;
    sf_message *episodes, *status; /**< newest of each, or NULL */
    sf_message *full;              /**< newest episodes of a full window, or NULL; may be `episodes` too */
    app_rate_map *rates;           /**< of a terminal; NULL elsewhere */
    uint64_t drawn_hop;            /**< number of the last hop drawn, plus one */
    int64_t drawn_ns;              /**< monotonic clock at the last page; 0: none yet */
    uint64_t heard_spikes;         /**< total of all sources, when it last grew */
    int64_t heard_ns;              /**< monotonic clock when it last grew */
} app_console;

void app_console_open(app_console *console, FILE *out, bool redraw, const sf_live_options *config);

/** Begins the output of a run with unit_count units; on a terminal the page is shown from now on.
 * SF_NO_MEMORY. */
int app_console_begin(app_console *console, const sf_live *live, uint32_t unit_count, sf_error *error);

/** Restores the terminal. */
void app_console_end(app_console *console);

void app_console_close(app_console *console);

/** The run's callback for triggers. Real-time safe. */
void app_console_count_trigger(void *console, const sf_message *trigger);

/** Takes ownership of a message, and keeps it while it is the newest. */
void app_console_take(app_console *console, sf_message *message);

/** Draws what is new. */
void app_console_draw(app_console *console);

/** Prints a summary: received, lost, found, triggered. */
void app_console_summarise(const app_console *console, sf_text *text);

#endif
