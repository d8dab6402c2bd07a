/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The live table of `synfire run`: the newest counts and the state of the run, redrawn in place on a
 * terminal, one line per hop elsewhere.
 */
#ifndef SF_APP_CONSOLE_H
#define SF_APP_CONSOLE_H

#include <stdatomic.h>
#include <stdio.h>
#include <synfire/live.h>

typedef struct app_console {
    FILE *out;
    bool redraw; /**< out is a terminal */
    const char *stream;
    const sf_live *live;
    sf_message *episodes, *status; /**< newest of each, or NULL */
    sf_message *full;              /**< newest episodes of a full window, or NULL; may be `episodes` too */
    atomic_ullong triggers;        /**< counted where they are found */
    uint64_t drawn_hop;            /**< number of the last hop drawn, plus one */
    uint64_t drawn_status;         /**< sequence number of the last status drawn */
    int lines;                     /**< drawn by the last redraw */
} app_console;

void app_console_open(app_console *console, FILE *out, bool redraw, const char *stream);
void app_console_close(app_console *console);

/** What the run calls for a trigger. Real-time safe. */
void app_console_count_trigger(void *console, const sf_message *trigger);

/** Takes a message over, and keeps it while it is the newest. */
void app_console_take(app_console *console, sf_message *message);

/** Draws what is new. */
void app_console_draw(app_console *console);

#endif
