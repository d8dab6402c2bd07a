/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/inputs.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

/* Outside a recording's observation intervals it tells nothing of its units. */
static void add_observed(sf_inputs *inputs, const sf_source *source, uint32_t first_unit)
{
    const sf_recording *recording = source->origin;
    if (recording == NULL || recording->observed_count == 0) return;
    inputs->observed[inputs->observed_count++] = (sf_observed){.first_unit = first_unit,
                                                               .unit_count = source->units.count,
                                                               .spans = recording->observed,
                                                               .count = recording->observed_count};
}

/* One source keeps its names; several put the source's name before each. */
static int add_units(sf_inputs *inputs, const sf_input *input, sf_error *error)
{
    const sf_units *units = &input->source->units;
    uint32_t first = (uint32_t)inputs->units.count;
    for (size_t i = 0; i < units->count; i++) {
        sf_unit unit = units->items[i];
        sf_text name = {0};
        sf_text_printf(&name, inputs->count > 1 ? "%s/%s" : "%.0s%s", input->source->name, unit.name);
        unit.name = name.data;
        int status = name.failed ? sf_fail_memory(error) : sf_units_add(&inputs->units, &unit, error);
        sf_text_free(&name);
        if (status != SF_OK) return status;
    }
    add_observed(inputs, input->source, first);
    return SF_OK;
}

int sf_inputs_open(sf_inputs *inputs, const sf_input *sources, size_t count, sf_error *error)
{
    *inputs = (sf_inputs){.virtual_clock = true, .items = sf_alloc(count, sizeof *inputs->items)};
    if (inputs->items == NULL) {
        sf_sources_close(sources, count);
        return sf_fail_memory(error);
    }
    memcpy(inputs->items, sources, count * sizeof *sources);
    inputs->count = count;
    inputs->observed = sf_alloc(count, sizeof *inputs->observed);
    int status = inputs->observed != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; i < count && status == SF_OK; i++) {
        inputs->virtual_clock = inputs->virtual_clock && sources[i].source->virtual_clock;
        status = add_units(inputs, &inputs->items[i], error);
    }
    inputs->origin = count == 1 ? sources[0].source->origin : NULL;
    if (status == SF_OK) status = sf_units_finish(&inputs->units, error);
    if (status != SF_OK) sf_inputs_close(inputs);
    return status;
}

void sf_sources_close(const sf_input *sources, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (sources[i].source != NULL) sources[i].source->kind->close(sources[i].source);
}

void sf_inputs_close(sf_inputs *inputs)
{
    sf_sources_close(inputs->items, inputs->count);
    sf_free(inputs->items);
    sf_free(inputs->observed);
    sf_units_free(&inputs->units);
    *inputs = (sf_inputs){0};
}
