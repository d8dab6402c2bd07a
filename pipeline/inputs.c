/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/inputs.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "ingest/synfire_stream.h"
#include "replay/player.h"
#include "replay/recording_file.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_RING 65536

static int open_replay(sf_input *input, const sf_config_source *wanted, sf_error *error)
{
    double speed = 0;
    if (strcmp(wanted->speed, "max") != 0 && !sf_parse_real(wanted->speed, &speed))
        return sf_fail(error, SF_CONFIG, "speed", "found '%s', expected a number or max", wanted->speed);
    int status = sf_recording_read(&input->recording, wanted->recording, NULL, NULL, error);
    return status == SF_OK ? sf_player_open(&input->source, &input->recording, speed, error) : status;
}

static int open_configured(sf_input *input, const sf_config *config, size_t index,
                           const sf_progress *progress, sf_error *error)
{
    const sf_config_source *wanted = &config->sources[index];
    input->ring = wanted->ring;
    input->policy = wanted->policy;
    if (wanted->type == SF_CONFIG_REPLAY)
        return open_replay(input, wanted, error);
    int timeout_ms = (int)(wanted->timeout_s * 1e3);
    input->patience_ns = timeout_ms * SF_MILLISECOND;
    char key[48];
    sf_error reason;
    int status = sf_stream_open(&input->source, wanted->endpoint, timeout_ms, progress, &reason);
    snprintf(key, sizeof key, "sources.%zu.%s", index, status == SF_OK ? "policy" : "endpoint");
    if (status == SF_USAGE)
        return sf_config_refuse(config, key, error, "%s %s", reason.place, reason.text);
    if (status != SF_OK)
        return sf_fail(error, status, reason.place, "%s", reason.text);
    if (wanted->policy != SF_RING_BLOCK || input->source->can_wait)
        return SF_OK;
    return sf_config_refuse(config, key, error,
                            "found block, but this sender cannot wait: expected drop-oldest or drop-newest");
}

/* Outside a recording's observation intervals it tells nothing of its units. */
static void add_observed(sf_inputs *inputs, const sf_input *input)
{
    const sf_recording *recording = input->source->origin;
    if (recording == NULL || recording->observed_count == 0)
        return;
    inputs->observed[inputs->observed_count++] = (sf_observed){.first_unit = input->unit_offset,
                                                               .unit_count = input->source->units.count,
                                                               .spans = recording->observed,
                                                               .count = recording->observed_count};
}

/* One source keeps its names; several put the source's name before each. */
static int add_units(sf_inputs *inputs, sf_input *input, sf_error *error)
{
    const sf_units *units = &input->source->units;
    input->unit_offset = (uint32_t)inputs->units.count;
    for (size_t i = 0; i < units->count; i++) {
        sf_unit unit = units->items[i];
        sf_text name = {0};
        sf_text_printf(&name, inputs->count > 1 ? "%s/%s" : "%.0s%s", input->source->name, unit.name);
        unit.name = name.data;
        int status = name.failed ? sf_fail_memory(error) : sf_units_add(&inputs->units, &unit, error);
        sf_text_free(&name);
        if (status != SF_OK)
            return status;
    }
    return SF_OK;
}

static int describe(sf_inputs *inputs, const sf_recording *recording, sf_error *error)
{
    int status = SF_OK;
    inputs->virtual_clock = true;
    inputs->observed = sf_alloc(inputs->count, sizeof *inputs->observed);
    if (inputs->observed == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < inputs->count && status == SF_OK; i++) {
        inputs->virtual_clock = inputs->virtual_clock && inputs->items[i].source->virtual_clock;
        status = add_units(inputs, &inputs->items[i], error);
        add_observed(inputs, &inputs->items[i]);
    }
    inputs->origin = recording != NULL    ? recording
                     : inputs->count == 1 ? inputs->items[0].source->origin
                                          : NULL;
    return status == SF_OK ? sf_units_finish(&inputs->units, error) : status;
}

int sf_inputs_open(sf_inputs *inputs, const sf_config *config, const sf_recording *recording, double speed,
                   const sf_progress *progress, sf_error *error)
{
    *inputs = (sf_inputs){0};
    size_t count = recording != NULL ? 1 : config->source_count;
    if (count == 0)
        return sf_fail(error, SF_CONFIG, config->name,
                       "there are no sources: expected a list `sources`, or --replay");
    inputs->items = sf_alloc(count, sizeof *inputs->items);
    int status = inputs->items != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; i < count && status == SF_OK; i++) {
        sf_input *input = &inputs->items[inputs->count++];
        if (recording != NULL) {
            input->ring = DEFAULT_RING;
            input->policy = SF_RING_BLOCK;
            status = sf_player_open(&input->source, recording, speed, error);
        } else {
            status = open_configured(input, config, i, progress, error);
        }
    }
    if (status == SF_OK)
        status = describe(inputs, recording, error);
    if (status != SF_OK)
        sf_inputs_close(inputs);
    return status;
}

void sf_inputs_close(sf_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        if (inputs->items[i].source != NULL)
            inputs->items[i].source->kind->close(inputs->items[i].source);
        sf_recording_free(&inputs->items[i].recording);
    }
    sf_free(inputs->items);
    sf_free(inputs->observed);
    sf_units_free(&inputs->units);
    *inputs = (sf_inputs){0};
}
