/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Markers of Lab Streaming Layer: an outlet of one text at irregular times, which stimulus programs and
 * LabRecorder take like any other; a text for each trigger, at the time of sending on LSL's clock.
 */
#include "io/lsl.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/row_macros.h"
#include "sinks/output.h"

#include <stdio.h>

typedef struct lsl_settings {
    sf_output_settings output;
    const char *name;
} lsl_settings;

typedef struct lsl_sink {
    sf_output output; /* first */
    const sf_lsl *lsl;
    sf_lsl_outlet outlet;
    char address[256];
} lsl_sink;

static int close_lsl(void *self, sf_error *error)
{
    (void)error;
    lsl_sink *sink = self;
    if (sink->outlet != NULL) sink->lsl->destroy_outlet(sink->outlet);
    sf_output_close(&sink->output);
    sf_free(sink);
    return SF_OK;
}

static int examine_lsl(const sf_sink_settings *settings, sf_error *error)
{
    const lsl_settings *wanted = (const lsl_settings *)settings;
    sf_error reason = {0};
    if (!wanted->output.sink.insecure) {
        sf_lsl_refuse(wanted->name, "`insecure: true`", &reason);
        return sf_fail(error, SF_CONFIG, "name", "%s", reason.text);
    }
    return sf_output_check(&wanted->output, error);
}

static int open_lsl(void **self, const sf_sink_settings *settings, const sf_stream_info *stream,
                    sf_error *error)
{
    (void)stream;
    const lsl_settings *wanted = (const lsl_settings *)settings;
    const sf_lsl *lsl;
    int status = sf_lsl_load(&lsl, error);
    if (status != SF_OK) return status;
    lsl_sink *sink = sf_alloc(1, sizeof *sink);
    if (sink == NULL) return sf_fail_memory(error);
    sink->lsl = lsl;
    snprintf(sink->address, sizeof sink->address, "lsl://name=%s", wanted->name);
    status = sf_output_open(&sink->output, &wanted->output, error);
    if (status == SF_OK)
        sink->outlet = sf_lsl_open_outlet(lsl, wanted->name, "Markers", SF_LSL_STRING, NULL, NULL);
    if (status == SF_OK && sink->outlet == NULL)
        status = sf_fail(error, SF_UNAVAILABLE, sink->address, "liblsl cannot open an outlet");
    if (status != SF_OK) {
        close_lsl(sink, NULL);
        return status;
    }
    *self = sink;
    return SF_OK;
}

static int publish_lsl(void *self, const sf_message *message, sf_error *error)
{
    lsl_sink *sink = self;
    if (!sf_output_takes(&sink->output, message)) return SF_PUBLISH_PASSED;
    const sf_text *text = sf_output_text(&sink->output, message, error);
    if (text == NULL) return SF_NO_MEMORY;
    const char *marker = text->data;
    int32_t failure = sink->lsl->push_sample_strtp(sink->outlet, &marker, sink->lsl->local_clock(), 1);
    return failure == 0
               ? SF_PUBLISH_TAKEN
               : sf_fail(error, SF_IO, sink->address, "liblsl refused the marker (%d)", (int)failure);
}

static const char *address_lsl(void *self)
{
    return ((lsl_sink *)self)->address;
}

static const lsl_settings defaults = {.output = {SF_OUTPUT_DEFAULTS, .send = "{name}"},
                                      .name = "synfire triggers"};

#define ROW lsl_settings
static const sf_key keys[] = {
    SWITCH("insecure", output.sink.insecure,
           .what = "true, without which it is refused: every machine of the network can hear"),
    TEXT("name", name, .use = SF_KEY_WRITES, .what = "of the outlet"),
    TEXT("trigger", output.trigger, .what = "the name of the one that is sent; \"*\": all"),
    TEXT("send", output.send, .what = "{name}, {occurrence}, ...: docs/closed-loop.md"),
    {0},
};
#undef ROW

const sf_sink_kind sf_sink_lsl = {
    .settings = {"lsl", keys, sizeof(lsl_settings), &defaults,
                 "a marker of Lab Streaming Layer for each trigger with a name"},
    .descriptors = SF_LSL_DESCRIPTORS,
    .acts = true,
    .open = open_lsl,
    .examine = examine_lsl,
    .publish = publish_lsl,
    .close = close_lsl,
    .address = address_lsl,
};
