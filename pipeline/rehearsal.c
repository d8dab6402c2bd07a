/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/rehearsal.h"

#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "pipeline/pipeline.h"
#include "pipeline/pushed.h"

#include <string.h>

#define PITCH_UM 100.0

/* ---- the units that options name ---- */

static bool is_named(const char *text)
{
    return text != NULL && strcmp(text, "*") != 0;
}

/* What is no episode is refused where it is opened. */
static int add_episode(sf_units *units, const char *text, sf_error *error)
{
    sf_error reason;
    int status = is_named(text) ? sf_episode_learn(units, text, &reason) : SF_OK;
    return status == SF_NO_MEMORY ? sf_fail_memory(error) : SF_OK;
}

static int add_unit(sf_units *units, const char *name, sf_error *error)
{
    uint32_t index;
    return is_named(name) ? sf_units_learn(units, name, &index, error) : SF_OK;
}

static int add_each(sf_units *units, const char *const *texts, uint32_t count,
                    int (*add)(sf_units *units, const char *text, sf_error *error), sf_error *error)
{
    int status = SF_OK;
    for (uint32_t i = 0; i < count && status == SF_OK; i++)
        status = add(units, texts[i], error);
    return status;
}

static int add_features(sf_units *units, const sf_live_options *options, sf_error *error)
{
    const sf_live_features *features = &options->features;
    int status = add_each(units, features->units, features->unit_count, add_unit, error);
    for (uint32_t i = 0; i < features->episode_count && status == SF_OK; i++)
        if (sf_live_find_trigger(options, features->episodes[i]) == options->trigger_count)
            status = add_episode(units, features->episodes[i], error);
    return status == SF_OK ? add_each(units, features->edges, features->edge_count, add_episode, error)
                           : status;
}

static int add_all(sf_units *units, const sf_live_options *options, sf_error *error)
{
    int status = add_each(units, options->track, options->track_count, add_episode, error);
    if (status == SF_OK) status = add_each(units, options->watch, options->watch_count, add_episode, error);
    for (uint32_t i = 0; i < options->trigger_count && status == SF_OK; i++)
        if (options->triggers[i].on == SF_LIVE_ON_EPISODE)
            status = add_episode(units, options->triggers[i].episode, error);
    if (status == SF_OK) status = add_features(units, options, error);
    for (uint32_t i = 0; i < options->density_count && status == SF_OK; i++) {
        status = add_unit(units, options->density[i].unit, error);
        if (status == SF_OK) status = add_episode(units, options->density[i].episode, error);
    }
    for (uint32_t i = 0; i < options->graph.reach_count && status == SF_OK; i++)
        status = add_unit(units, options->graph.reach[i].from, error);
    for (uint32_t i = 0; i < options->rule_count && status == SF_OK; i++)
        status = add_episode(units, options->rules[i].episode, error);
    return status;
}

/* At least two units, along a diagonal, so that either side of the array has an extent. */
static int learn_units(sf_units *units, const sf_live_options *options, sf_error *error)
{
    uint32_t index;
    int status = add_all(units, options, error);
    if (status == SF_OK) status = sf_units_learn(units, "#1", &index, error);
    for (size_t i = 0; i < units->count; i++) {
        units->items[i].x_um = PITCH_UM * (double)i;
        units->items[i].y_um = PITCH_UM * (double)i;
    }
    return status;
}

/* ---- opening ---- */

static int open_and_close(const sf_live_options *options, const sf_units *units, sf_error *error)
{
    sf_input input = {0};
    sf_pipeline *pipeline = NULL;
    int status = sf_pushed_open(&input, &(sf_live_source){0}, error);
    if (status == SF_OK) {
        sf_units_free(&input.source->units); /* the look-up of none */
        status = sf_units_copy(&input.source->units, units, error);
    }
    if (status != SF_OK) {
        sf_sources_close(&input, 1);
        return status;
    }
    status = sf_pipeline_open(
        &pipeline, &(sf_pipeline_options){.live = options, .sources = &input, .source_count = 1}, error);
    sf_pipeline_close(pipeline, NULL);
    return status;
}

int sf_pipeline_rehearse(const sf_live_options *options, sf_error *error)
{
    sf_units named = {0};
    int status = learn_units(&named, options, error);
    if (status == SF_OK) status = open_and_close(options, &named, error);
    sf_units_free(&named);
    return status;
}
