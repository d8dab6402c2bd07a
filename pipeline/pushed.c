/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/pushed.h"

#include "core/error.h"
#include "core/memory.h"

#include <stdio.h>

#define DEFAULT_RING 65536

static void close_pushed(sf_source *source)
{
    sf_units_free(&source->units);
    sf_free(source);
}

static const sf_source_kind kind = {.settings = {.name = "push"}, .close = close_pushed};

static int add_units(sf_units *units, const sf_live_source *settings, sf_error *error)
{
    int status = SF_OK;
    for (uint32_t i = 0; i < settings->unit_count && status == SF_OK; i++) {
        const sf_live_unit *wanted = &settings->units[i];
        const sf_unit unit = {
            .name = (char *)(uintptr_t)wanted->name, /* copied */
            .x_um = wanted->x_um,
            .y_um = wanted->y_um,
            .electrode = -1,
        };
        status = sf_units_add(units, &unit, error);
    }
    return status == SF_OK ? sf_units_finish(units, error) : status;
}

int sf_pushed_open(sf_input *input, const sf_live_source *settings, sf_error *error)
{
    *input =
        (sf_input){.ring = settings->ring != 0 ? settings->ring : DEFAULT_RING, .policy = settings->policy};
    sf_source *source = sf_alloc(1, sizeof *source);
    if (source == NULL) return sf_fail_memory(error);
    *source = (sf_source){.kind = &kind, .can_wait = true, .virtual_clock = settings->virtual_clock};
    snprintf(source->name, sizeof source->name, "%s", settings->name != NULL ? settings->name : "push");
    input->source = source; /* which closes it where units fail */
    return add_units(&source->units, settings, error);
}
