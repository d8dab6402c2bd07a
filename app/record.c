/* SPDX-License-Identifier: Apache-2.0 */
#include "app/live.h"

static int run(app_call *call, sf_error *error)
{
    sf_config config;
    int status = app_live_configure(call, call->arguments[0], &config, error);
    if (status != SF_OK) return status;
    status = sf_config_record(&config, call->arguments[1], app_has(call, "overwrite"), error);
    if (status == SF_OK) status = app_live_run(call, &config, NULL, 0, NULL, error);
    sf_config_free(&config);
    return status;
}

static const app_option record_options[] = {
    {.name = "duration"},
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
    .rows = {&app_live_table},
    .run = run,
};
