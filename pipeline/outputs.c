/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/outputs.h"

#include "core/error.h"
#include "core/file.h"
#include "core/memory.h"

#include <stdio.h>

static sf_sink_settings settings_of(const sf_config_sink *wanted)
{
    static const char *const types[] = {"jsonl", "zmq", "osc", "hdf5"};
    sf_sink_settings settings = {.type = types[wanted->type],
                                 .path = wanted->path,
                                 .endpoint = wanted->endpoint,
                                 .ring = wanted->ring,
                                 .policy = wanted->policy,
                                 .insecure = wanted->insecure,
                                 .wait_subscribers = wanted->wait_subscribers,
                                 .hold = true,
                                 .overwrite = wanted->overwrite};
    if (wanted->type == SF_CONFIG_ZMQ)
        settings.encoding = wanted->encoding == SF_CONFIG_JSON ? SF_ENCODE_JSON : SF_ENCODE_MSGPACK;
    return settings;
}

static int refuse_path(const sf_config *config, uint32_t sink, const char *what, sf_error *error)
{
    char key[32];
    snprintf(key, sizeof key, "sinks.%u.path", sink);
    return sf_config_refuse(config, key, error, "%s is %s", config->sinks[sink].path, what);
}

/* A sink that may overwrite must not take the recording that is replayed, nor the run's own configuration. */
static int check_paths(const sf_config *config, sf_error *error)
{
    for (uint32_t i = 0; i < config->sink_count; i++) {
        const char *path = config->sinks[i].path;
        if (path == NULL)
            continue;
        if (config->name != NULL && sf_file_same(path, config->name))
            return refuse_path(config, i, "the configuration of this run", error);
        for (uint32_t s = 0; s < config->source_count; s++)
            if (config->sources[s].recording != NULL && sf_file_same(path, config->sources[s].recording))
                return refuse_path(config, i, "the recording that is replayed", error);
    }
    return SF_OK;
}

int sf_outputs_open(sf_outputs *outputs, const sf_config *config, const sf_stream_info *stream,
                    sf_error *error)
{
    *outputs = (sf_outputs){0};
    bool records = false;
    for (uint32_t i = 0; i < config->sink_count; i++)
        records = records || config->sinks[i].type == SF_CONFIG_HDF5;
    int status = check_paths(config, error);
    if (status == SF_OK && records)
        status = sf_storage_open(&outputs->storage, error);
    if (status == SF_OK) {
        outputs->sinks = sf_alloc(config->sink_count, sizeof(sf_sink *));
        status = outputs->sinks != NULL ? SF_OK : sf_fail_memory(error);
    }
    for (uint32_t i = 0; i < config->sink_count && status == SF_OK; i++) {
        sf_sink_settings settings = settings_of(&config->sinks[i]);
        status = sf_sink_open(&outputs->sinks[i], &settings, stream, outputs->storage, error);
        outputs->count += status == SF_OK;
    }
    for (size_t i = 0; i < outputs->count && status == SF_OK; i++)
        status = sf_sink_begin(outputs->sinks[i], error); /* now that none of them refuses */
    if (status != SF_OK)
        sf_outputs_close(outputs, NULL);
    return status;
}

bool sf_outputs_ready(const sf_outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (!sf_sink_ready(outputs->sinks[i]))
            return false;
    return true;
}

void sf_outputs_ending(const sf_outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        sf_sink_ending(outputs->sinks[i]);
}

int sf_outputs_close(sf_outputs *outputs, sf_error *error)
{
    int first = SF_OK;
    for (size_t i = 0; i < outputs->count; i++) {
        int status = sf_sink_close(outputs->sinks[i], first == SF_OK ? error : NULL);
        if (first == SF_OK)
            first = status;
    }
    sf_free(outputs->sinks);
    sf_storage_close(outputs->storage);
    *outputs = (sf_outputs){0};
    return first;
}
