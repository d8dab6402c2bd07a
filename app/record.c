/* SPDX-License-Identifier: Apache-2.0 */
#include "app/live.h"

#include "core/text.h"

/* The same sources and merge, one recorder that waits rather than drops, and no analysis. */
static int turn_into_recorder(sf_config *config, const char *path, bool overwrite, sf_error *error)
{
    sf_text target = {0};
    sf_text_printf(&target, "sinks.0.path=%s", path);
    const char *const settings[] = {"sinks.0.type=hdf5", target.data,           "sinks.0.policy=block",
                                    "mine.every=0",      "graph.enabled=false", "sinks.0.overwrite=true"};
    size_t count = sizeof settings / sizeof settings[0] - (overwrite ? 0 : 1);
    sf_config recorder;
    int status = target.failed ? sf_fail_memory(error)
                               : sf_config_parse(&recorder, "", 0, config->name, settings, count, error);
    sf_text_free(&target);
    if (status != SF_OK)
        return status;
    sf_config old = *config;
    *config = recorder;
    config->stream = old.stream;
    config->sources = old.sources;
    config->source_count = old.source_count;
    config->merge = old.merge;
    old.stream = recorder.stream;
    old.sources = recorder.sources;
    old.source_count = recorder.source_count;
    sf_config_free(&old);
    return SF_OK;
}

static int run(app_call *call, sf_error *error)
{
    sf_config config;
    int status = app_live_configure(call, call->arguments[0], &config, error);
    if (status != SF_OK)
        return status;
    status = turn_into_recorder(&config, call->arguments[1], app_has(call, "overwrite"), error);
    if (status == SF_OK)
        status = app_live_run(call, &config, NULL, 0, error);
    sf_config_free(&config);
    return status;
}

static const app_option record_options[] = {
    {"duration", "S", "stop after S seconds of the stream (default: at its end)"},
    {"set", "KEY=VALUE", "override a key of the configuration, as sources.0.endpoint=tcp://127.0.0.1:7700"},
    {"overwrite", NULL, "replace OUT.h5 where it exists (default: record into OUT-2.h5, and say so)"},
    {NULL, NULL, NULL},
};

const app_command app_command_record = {
    .name = "record",
    .group = "live",
    .summary = "records a live stream into a file that info, mine and run --replay read",
    .arguments = "CONFIG OUT.h5",
    .least_arguments = 2,
    .most_arguments = 2,
    .example = "synfire record configs/monitoring.yaml session.h5 --duration 600",
    .notes =
        "Takes the sources and the merge of the configuration; its sinks and analyses are left out. What was "
        "received survives a crash up to the last second.",
    .options = {record_options},
    .run = run,
};
