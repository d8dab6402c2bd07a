/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The live table of `synfire run`: the newest counts and the state of the run, redrawn in place on a
 * terminal, one line per hop elsewhere. The pipeline's threads hand messages in; the main thread draws.
 */
#ifndef SF_APP_CONSOLE_H
#define SF_APP_CONSOLE_H

#include "core/outlet.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

typedef struct app_console {
    FILE *out;
    bool redraw; /**< out is a terminal */
    const sf_stream_info *stream;
    pthread_mutex_t lock;
    sf_message *episodes, *status; /**< newest of each, or NULL */
    sf_message *full;              /**< newest episodes of a full window, or NULL */
    atomic_ullong triggers;
    uint64_t drawn_hop;    /**< number of the last hop drawn, plus one */
    uint64_t drawn_status; /**< sequence number of the last status drawn */
    int lines;             /**< drawn by the last redraw */
} app_console;

void app_console_open(app_console *console, FILE *out, bool redraw);
void app_console_close(app_console *console);

/** What the pipeline calls. Triggers are only counted, so the watch thread is never held up. */
sf_outlet app_console_outlet(app_console *console);

/** Main thread: draws what is new. */
void app_console_draw(app_console *console);

#endif
