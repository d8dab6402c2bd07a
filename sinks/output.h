/* SPDX-License-Identifier: Apache-2.0 */
/** What the sinks that send named triggers to machines, and nothing else, have in common. */
#ifndef SF_SINKS_OUTPUT_H
#define SF_SINKS_OUTPUT_H

#include "sinks/sink.h"
#include "sinks/template.h"

#include <stddef.h>

typedef struct sf_output_settings {
    sf_sink_settings sink; /**< first */
    const char *trigger;   /**< name of the trigger to send; "*": all */
    const char *send;      /**< sf_template_fill */
    double pulse_ms;       /**< `then` follows after this time; 0: never */
    const char *then;      /**< sf_template_fill */
} sf_output_settings;

#define SF_OUTPUT_DEFAULTS .sink = {SF_SINK_DEFAULTS}, .trigger = "*"

/** Keys of sinks whose triggers start pulses, for a ROW (core/row_macros.h) with its settings in `output`. */
#define SF_OUTPUT_PULSE_KEYS                                                                                 \
    REAL("pulse_ms", output.pulse_ms, 0, 1000, .what = "`then` follows after so long; 0: it does not"),      \
        TEXT("then", output.then, .what = "what ends the pulse, as '\\x00' or 'TTL Line=3 State=0'")

typedef struct sf_output {
    char *trigger, *send, *then;
    double pulse_ms;
    sf_text text, after; /**< the bytes of `send` and of `then` */
} sf_output;

/** SF_CONFIG for a text that is no template. */
int sf_output_check(const sf_output_settings *settings, sf_error *error);

/** SF_CONFIG likewise. After a failure, close with sf_output_close. */
int sf_output_open(sf_output *output, const sf_output_settings *settings, sf_error *error);
void sf_output_close(sf_output *output);

/** Whether the message is for this sink: a named trigger, and the configured one. */
bool sf_output_takes(const sf_output *output, const sf_message *message);

/** As in sf_sink_kind, for a sink that begins with its sf_output. */
double sf_output_pulse_ms(void *self);

/** The bytes of `send` for this trigger, until the next call; those of `then` are in `after`. NULL if memory
 * is out. */
const sf_text *sf_output_text(sf_output *output, const sf_message *message, sf_error *error);

#endif
