/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From YAML to sf_config: config_tree.c reads, overrides, checks and completes the text, libcyaml loads what
 * it then says into the struct, and what keys mean together is checked there.
 */
#include "core/config.h"

#include "core/backend/find.h"
#include "core/config_keys.h"
#include "core/config_tree.h"
#include "core/episode.h"
#include "core/error.h"
#include "core/file.h"
#include "core/memory.h"

#include <stdio.h>
#include <string.h>

#define MOST_BYTES (16u << 20)
#define MOST_DELAYS 64

/* libcyaml's allocation. `keep` is the sf_config that the caller owns: cyaml_free frees all but that. */
static void *resize_or_free(void *keep, void *memory, size_t size)
{
    if (size != 0)
        return sf_resize(memory, size, 1);
    if (memory != keep)
        sf_free(memory);
    return NULL;
}

static cyaml_config_t cyaml_settings(void *keep)
{
    return (cyaml_config_t){.mem_fn = resize_or_free, .mem_ctx = keep};
}

int sf_config_refuse(const sf_config *config, const char *key, sf_error *error, const char *format, ...)
{
    const sf_config_place *nearest = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < config->place_count; i++) {
        const char *given = config->places[i].key;
        size_t length = strlen(given);
        bool around = strncmp(key, given, length) == 0 && (key[length] == '\0' || key[length] == '.');
        if (around && length >= longest) {
            nearest = &config->places[i];
            longest = length;
        }
    }
    va_list arguments;
    va_start(arguments, format);
    int status = sf_config_refuse_at(config, nearest, key, error, format, arguments);
    va_end(arguments);
    return status;
}

/* ---- what keys mean together ---- */

static int check_source(const sf_config *config, uint32_t index, sf_error *error)
{
    const sf_config_source *source = &config->sources[index];
    char key[SF_CONFIG_KEY_SIZE];
    double speed;
    snprintf(key, sizeof key, "sources.%u.speed", index);
    if (source->type == SF_CONFIG_REPLAY && strcmp(source->speed, "max") != 0 &&
        (!sf_parse_real(source->speed, &speed) || speed < 1e-3 || speed > 1e6))
        return sf_config_refuse(config, key, error,
                                "found '%.60s', expected max or a factor from 0.001 to 1e6", source->speed);
    return SF_OK;
}

static int check_window(const sf_config *config, sf_error *error)
{
    int64_t length = sf_seconds_to_ns(config->window.length_s), hop = sf_seconds_to_ns(config->window.hop_s);
    if (length % hop == 0)
        return SF_OK;
    return sf_config_refuse(config, "window.length_s", error,
                            "found %g s, expected a whole number of hops of %g s", config->window.length_s,
                            config->window.hop_s);
}

static int check_device(const sf_config *config, sf_error *error)
{
    uint64_t bytes = 0;
    if (!sf_device_may_be(config->device))
        return sf_config_refuse(config, "device", error,
                                "found '%.60s', expected auto, cpu, cuda, cuda:N or cuda:all",
                                config->device);
    if (strcmp(config->device_memory, "auto") != 0 &&
        (!sf_parse_bytes(config->device_memory, &bytes) || bytes == 0))
        return sf_config_refuse(config, "device_memory", error,
                                "found '%.60s', expected auto or a size such as 8G or 512M",
                                config->device_memory);
    return SF_OK;
}

static int check_mining(sf_config *config, sf_error *error)
{
    sf_config_mine *mine = &config->mine;
    int positive = (mine->min_count > 0) + (mine->min_rate_hz > 0) + (mine->min_fraction > 0);
    if (positive > 1)
        return sf_config_refuse(
            config, "mine", error,
            "found more than one of min_count, min_rate_hz and min_fraction, expected one");
    if (positive == 0)
        mine->min_rate_hz = 0.5;
    sf_delay delays[MOST_DELAYS];
    size_t count;
    sf_error problem;
    if (sf_delays_parse(delays, MOST_DELAYS, &count, mine->delays_ms, &problem) != SF_OK)
        return sf_config_refuse(config, "mine.delays_ms", error, "%s", problem.text);
    int64_t length = sf_seconds_to_ns(config->window.length_s);
    for (size_t i = 0; i < count; i++)
        if (delays[i].high_ns >= length)
            return sf_config_refuse(config, "mine.delays_ms", error,
                                    "found a delay of up to %g ms, expected less than the window of %g s",
                                    (double)delays[i].high_ns / 1e6, config->window.length_s);
    return SF_OK;
}

static int check_graph(const sf_config *config, sf_error *error)
{
    if (config->graph.rewired == 1)
        return sf_config_refuse(config, "graph.rewired", error,
                                "found 1, expected 0 or at least 2: one graph has no spread");
    if (config->graph.metric == SF_CONFIG_STTC && config->graph.dt_ms >= config->window.length_s * 1e3)
        return sf_config_refuse(config, "graph.dt_ms", error,
                                "found %g ms, expected less than the window of %g s", config->graph.dt_ms,
                                config->window.length_s);
    return SF_OK;
}

static const char *target_of(const sf_config_sink *sink)
{
    return sink->path != NULL ? sink->path : sink->endpoint;
}

static int check_sink(const sf_config *config, uint32_t index, sf_error *error)
{
    const sf_config_sink *sink = &config->sinks[index];
    char key[SF_CONFIG_KEY_SIZE];
    snprintf(key, sizeof key, "sinks.%u.%s", index, sink->path != NULL ? "path" : "endpoint");
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(target_of(sink), target_of(&config->sinks[i])) == 0)
            return sf_config_refuse(config, key, error, "found '%.200s', to which sinks.%u writes already",
                                    target_of(sink), i);
    return SF_OK;
}

static int check_together(sf_config *config, sf_error *error)
{
    int status = check_window(config, error);
    if (status == SF_OK)
        status = check_device(config, error);
    if (status == SF_OK)
        status = check_mining(config, error);
    if (status == SF_OK)
        status = check_graph(config, error);
    for (uint32_t i = 0; status == SF_OK && i < config->source_count; i++)
        status = check_source(config, i, error);
    for (uint32_t i = 0; status == SF_OK && i < config->sink_count; i++)
        status = check_sink(config, i, error);
    return status;
}

/* ---- the interface ---- */

static int fill_struct(sf_config_tree *tree)
{
    sf_text yaml = {0};
    int status = sf_config_tree_write(tree, &yaml);
    if (status == SF_OK) {
        sf_config *loaded = NULL;
        cyaml_config_t settings = cyaml_settings(NULL);
        cyaml_err_t failure = cyaml_load_data((const uint8_t *)yaml.data, yaml.length, &settings,
                                              &sf_config_schema, (cyaml_data_t **)&loaded, NULL);
        if (failure == CYAML_ERR_OOM)
            status = sf_fail_memory(tree->error);
        else if (failure != CYAML_OK)
            status = sf_fail(tree->error, SF_INTERNAL, tree->config->name,
                             "libcyaml refuses a checked configuration: %s", cyaml_strerror(failure));
        else {
            loaded->name = tree->config->name;
            loaded->places = tree->config->places;
            loaded->place_count = tree->config->place_count;
            *tree->config = *loaded;
            sf_free(loaded);
        }
    }
    sf_text_free(&yaml);
    return status;
}

int sf_config_parse(sf_config *config, const char *yaml, size_t length, const char *name,
                    const char *const *settings, size_t setting_count, sf_error *error)
{
    *config = (sf_config){0};
    if (length > MOST_BYTES)
        return sf_fail(error, SF_CONFIG, name, "is over %u MiB, expected a configuration", MOST_BYTES >> 20);
    config->name = sf_copy_string(name);
    sf_config_tree tree = {.config = config, .error = error};
    int status = config->name != NULL ? sf_config_tree_read(&tree, yaml, length) : sf_fail_memory(error);
    if (status == SF_OK)
        status = sf_config_tree_set(&tree, settings, setting_count);
    if (status == SF_OK)
        status = sf_config_tree_check(&tree);
    if (status == SF_OK)
        status = fill_struct(&tree);
    if (status == SF_OK)
        status = check_together(config, error);
    sf_config_tree_free(&tree);
    if (status != SF_OK)
        sf_config_free(config);
    return status;
}

int sf_config_default(sf_config *config, sf_error *error)
{
    return sf_config_parse(config, "", 0, "defaults", NULL, 0, error);
}

int sf_config_load(sf_config *config, const char *path, const char *const *settings, size_t setting_count,
                   sf_error *error)
{
    *config = (sf_config){0};
    sf_text text = {0};
    int status = sf_file_read(&text, path, error);
    if (status == SF_OK)
        status = sf_config_parse(config, text.data != NULL ? text.data : "", text.length, path, settings,
                                 setting_count, error);
    sf_text_free(&text);
    return status;
}

int sf_config_replay(sf_config *config, const char *recording, const char *speed, sf_error *error)
{
    static const uint32_t ring = 65536;
    sf_config_source source = {.type = SF_CONFIG_REPLAY, .ring = ring, .policy = SF_RING_BLOCK};
    sf_config_source *sources = sf_alloc(1, sizeof *sources);
    source.recording = sf_copy_string(recording);
    source.speed = sf_copy_string(speed);
    if (sources == NULL || source.recording == NULL || source.speed == NULL) {
        sf_free(sources);
        sf_free(source.recording);
        sf_free(source.speed);
        return sf_fail_memory(error);
    }
    for (uint32_t i = 0; i < config->source_count; i++) {
        sf_free(config->sources[i].recording);
        sf_free(config->sources[i].endpoint);
        sf_free(config->sources[i].speed);
    }
    sf_free(config->sources);
    *sources = source;
    config->sources = sources;
    config->source_count = 1;
    return SF_OK;
}

int sf_config_print(sf_text *text, const sf_config *config, sf_error *error)
{
    char *saved = NULL;
    size_t length = 0;
    cyaml_config_t settings = cyaml_settings(NULL);
    settings.flags = CYAML_CFG_STYLE_BLOCK;
    cyaml_err_t failure = cyaml_save_data(&saved, &length, &settings, &sf_config_schema, config, 0);
    if (failure != CYAML_OK)
        return failure == CYAML_ERR_OOM
                   ? sf_fail_memory(error)
                   : sf_fail(error, SF_INTERNAL, "configuration", "libcyaml: %s", cyaml_strerror(failure));
    sf_config scratch = {.name = config->name};
    sf_config_tree tree = {.config = &scratch, .error = error, .printing = true};
    int status = sf_config_tree_read(&tree, saved, length);
    if (status == SF_OK)
        status = sf_config_tree_check(&tree);
    if (status == SF_OK)
        status = sf_config_tree_write(&tree, text);
    sf_config_tree_free(&tree);
    sf_free(saved);
    return status;
}

void sf_config_free(sf_config *config)
{
    cyaml_config_t settings = cyaml_settings(config);
    cyaml_free(&settings, &sf_config_schema, config, 0);
    for (size_t i = 0; i < config->place_count; i++)
        sf_free(config->places[i].key);
    sf_free(config->places);
    sf_free(config->name);
    *config = (sf_config){0};
}
