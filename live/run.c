/* SPDX-License-Identifier: Apache-2.0 */
#include "live/run.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "ingest/protocol.h"
#include "io/curve.h"
#include "io/descriptors.h"
#include "io/file.h"
#include "io/output_file.h"
#include "live/orders.h"
#include "live/rule_file.h"
#include "live/service.h"
#include "pipeline/rehearsal.h"
#include "replay/player.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_CORE 1023

struct sf_run {
    const sf_config *config;
    sf_live_options live; /**< the configuration's, with its rules read */
    sf_live_rule *rules;
    sf_text configuration;
    sf_storage *storage; /**< the thread that HDF5 recorders share; NULL without one */
    sf_pipeline *pipeline;
    sf_sink **sinks; /**< the pipeline's, once there is one */
    size_t sink_count;
    sf_control_socket *control; /**< the pipeline's; NULL without one */
    sf_page_orders orders;      /**< what pages may order, where there is a control socket */
    int (*configure)(void *user, sf_config *next, sf_error *error);
    void *configure_user;
    sf_config *reloaded; /**< what holds now in place of `config`; NULL: `config` */
};

/* What a run opens at most; libzmq would abort where they run out. */
static int check_descriptors(const sf_config *config, sf_error *error)
{
    unsigned needed = 12;
    for (uint32_t i = 0; i < config->source_count; i++)
        needed += sf_config_source_kind(config, i)->descriptors;
    for (uint32_t i = 0; i < config->sink_count; i++)
        needed += sf_config_sink_kind(config, i)->descriptors;
    needed += config->control_count * (SF_ZMQ_DESCRIPTORS + SF_CURVE_DESCRIPTORS);
    return sf_descriptors_check(needed, "this run", error);
}

/* ---- sources ---- */

static int open_source(sf_input *input, const sf_config *config, uint32_t index, const sf_progress *progress,
                       sf_error *error)
{
    const sf_source_settings *wanted = sf_config_source(config, index);
    char list[32];
    sf_error reason = {0};
    snprintf(list, sizeof list, "sources.%u.", index);
    *input = (sf_input){.ring = wanted->ring, .policy = wanted->policy, .pulses = wanted->pulses};
    const sf_source_kind *kind = sf_config_source_kind(config, index);
    int status = kind->open(&input->source, kind, wanted, progress, &reason);
    if (status == SF_OK && wanted->policy == SF_RING_BLOCK && !input->source->can_wait)
        status = sf_fail(&reason, SF_CONFIG, "policy",
                         "found block, but this sender cannot wait: expected drop-oldest or drop-newest");
    if (status == SF_OK && wanted->pulses != 0 && input->source->virtual_clock)
        status =
            sf_fail(&reason, SF_CONFIG, "pulses",
                    "found shared pulses, but this source is on a virtual clock: expected one in real time");
    if (status != SF_OK && error != NULL) *error = reason;
    return sf_config_locate(config, status, list, error);
}

static int open_sources(sf_input *inputs, size_t *count, const sf_run_options *options, sf_error *error)
{
    const sf_config *config = options->config;
    *count = 0;
    if (options->recording != NULL) {
        inputs[0] = (sf_input){.ring = SF_PLAYER_RING, .policy = SF_RING_BLOCK};
        *count = 1;
        return sf_player_open(&inputs[0].source, options->recording, options->speed, error);
    }
    if (config->source_count == 0)
        return sf_fail(error, SF_CONFIG, config->name,
                       "there are no sources: expected a list `sources`, or --replay");
    int status = SF_OK;
    for (uint32_t i = 0; i < config->source_count && status == SF_OK; i++) {
        status = open_source(&inputs[i], config, i, options->progress, error);
        *count = i + 1;
    }
    return status;
}

/* ---- rules ---- */

static int read_rules(sf_live_rule **rules, const sf_config *config, sf_error *error)
{
    uint32_t failed = 0;
    sf_error reason = {0};
    char key[32];
    int status =
        sf_rule_files_read(rules, (const char *const *)config->rules, config->rule_count, &failed, &reason);
    if (status == SF_OK || status == SF_NO_MEMORY) return status == SF_OK ? SF_OK : sf_fail_memory(error);
    snprintf(key, sizeof key, "rules.%u", failed);
    return sf_config_refuse(config, key, error, "%s: %s", reason.place, reason.text);
}

static sf_live_options live_options(const sf_config *config, const sf_live_rule *rules)
{
    sf_live_options live = config->live;
    live.rules = rules;
    live.rule_count = config->rule_count;
    return live;
}

/* ---- the pipeline ---- */

/* The pipeline takes the sources over. */
static int open_pipeline(sf_run *run, const sf_run_options *options, sf_error *error)
{
    const sf_config *config = options->config;
    size_t count = 0;
    sf_input *inputs = sf_alloc((size_t)config->source_count + 1, sizeof *inputs);
    int status = inputs != NULL ? open_sources(inputs, &count, options, error) : sf_fail_memory(error);
    if (status != SF_OK) {
        sf_sources_close(inputs, count);
        sf_free(inputs);
        return status;
    }
    const sf_pipeline_options pipeline = {.live = &run->live,
                                          .sources = inputs,
                                          .source_count = count,
                                          .duration_ns = options->duration_ns,
                                          .handoff_room = options->handoff_room,
                                          .configuration = run->configuration.data,
                                          .provenance = options->provenance};
    sf_error reason = {0};
    status = sf_pipeline_open(&run->pipeline, &pipeline, &reason);
    sf_free(inputs);
    if (status != SF_OK && error != NULL) *error = reason;
    return sf_config_locate(config, status, "", error);
}

/* ---- sinks ---- */

static int open_sink(sf_run *run, uint32_t index, sf_error *error)
{
    const sf_sink_kind *kind = sf_config_sink_kind(run->config, index);
    sf_sink_settings *settings = run->config->sinks[index].settings;
    settings->hold = true;
    settings->orders = run->config->control_count > 0 ? &run->orders.orders : NULL;
    if (kind->on_storage_thread && run->storage == NULL) {
        int status = sf_storage_open(&run->storage, error);
        if (status != SF_OK) return status;
    }
    sf_sink *sink;
    int status =
        sf_sink_open_kind(&sink, kind, settings, sf_pipeline_stream(run->pipeline), run->storage, error);
    if (status == SF_OK) status = sf_pipeline_attach(run->pipeline, sf_sink_outlet(sink), error);
    if (status == SF_OK) run->sinks[run->sink_count++] = sink;
    return status;
}

static int open_orders(sf_run *run, sf_error *error)
{
    sf_error reason = {0};
    int status = sf_page_orders_open(&run->orders, run->config->control[0].token_file, &run->live,
                                     run->pipeline, &reason);
    return status == SF_OK ? SF_OK
                           : sf_config_refuse(run->config, "control.0.token_file", error, "%s: %s",
                                              reason.place, reason.text);
}

static int open_sinks(sf_run *run, sf_error *error)
{
    const sf_config *config = run->config;
    int status = SF_OK;
    run->sinks = sf_alloc(config->sink_count, sizeof(sf_sink *));
    if (run->sinks == NULL) status = sf_fail_memory(error);
    if (status == SF_OK && config->control_count > 0) status = open_orders(run, error);
    for (uint32_t i = 0; i < config->sink_count && status == SF_OK; i++)
        status = open_sink(run, i, error);
    for (size_t i = 0; i < run->sink_count && status == SF_OK; i++)
        status = sf_sink_begin(run->sinks[i], error); /* now that none of them refuses */
    return status;
}

/* A file that another program writes, or that cannot be made; a pipe is opened once, for whoever reads it. */
static int try_file(const sf_sink_settings *settings, sf_error *error)
{
    struct stat about;
    sf_output_file file = {0};
    sf_existing existing = settings->overwrite ? SF_EXISTING_REPLACE : SF_EXISTING_NUMBER;
    if (strcmp(settings->path, "-") == 0 || (stat(settings->path, &about) == 0 && !S_ISREG(about.st_mode)))
        return SF_OK;
    int status = sf_output_file_open(&file, settings->path, existing, error);
    if (status == SF_OK) sf_output_file_close(&file, false);
    return status;
}

/* Before the sources are waited for, which learn their electrodes for seconds: what would be refused only
 * behind them, since another program has it or it is not there. */
static int try_sink(const sf_config *config, uint32_t index, sf_error *error)
{
    static const sf_units no_units = {0};
    const sf_sink_kind *kind = sf_config_sink_kind(config, index);
    const sf_sink_settings *settings = sf_config_sink(config, index);
    const sf_stream_info nobody = {.name = config->live.stream, .units = &no_units};
    void *sink = NULL;
    if (kind->keeps && settings->path != NULL) return try_file(settings, error);
    if (!kind->is_tried) return SF_OK;
    int status = kind->open(&sink, settings, &nobody, error);
    return status == SF_OK ? kind->close(sink, error) : status;
}

/* ---- control ---- */

/* The keys that take a new run. */
typedef struct fixed_keys {
    char first[160];
    size_t fixed, live;
} fixed_keys;

static void take_difference(void *user, const char *key, bool live)
{
    fixed_keys *keys = user;
    if (!live && keys->fixed++ == 0) snprintf(keys->first, sizeof keys->first, "%s", key);
    keys->live += live;
}

static int refuse_fixed(const fixed_keys *keys, sf_error *error)
{
    char others[48] = "";
    if (keys->fixed > 1) snprintf(others, sizeof others, " (and %zu more)", keys->fixed - 1);
    return sf_fail(
        error, SF_CONFIG, keys->first,
        "has changed%s, which takes a new run: nothing was reloaded. Set it back, or stop the run and start "
        "it again",
        others);
}

/* All or nothing. */
static int change(sf_run *run, const sf_config *next, sf_error *error)
{
    fixed_keys keys = {0};
    sf_config_compare(run->reloaded != NULL ? run->reloaded : run->config, next, take_difference, &keys);
    if (keys.fixed > 0) return refuse_fixed(&keys, error);
    int status = keys.live > 0 ? sf_pipeline_change(run->pipeline, &next->live, error) : SF_OK;
    if (status == SF_OK) sf_log(SF_LOG_INFO, "reloaded: %zu keys have changed", keys.live);
    return status;
}

static int read_again(sf_run *run, sf_error *error)
{
    sf_config *next = sf_alloc(1, sizeof *next);
    int status = next != NULL ? run->configure(run->configure_user, next, error) : sf_fail_memory(error);
    if (status != SF_OK) {
        sf_free(next);
        return status;
    }
    status = change(run, next, error);
    sf_config *old = status == SF_OK ? run->reloaded : next;
    if (status == SF_OK) run->reloaded = next;
    if (old != NULL) sf_config_free(old);
    sf_free(old);
    return status;
}

/* A manager of services waits for the end of it. */
static int reload(void *user, sf_error *error)
{
    sf_service_notify("RELOADING=1\nMONOTONIC_USEC=%" PRId64, sf_clock_monotonic_ns() / 1000);
    int status = read_again(user, error);
    sf_service_notify("READY=1");
    return status;
}

static int bind_control(sf_run *run, sf_error *error)
{
    sf_error reason = {0};
    const sf_control_calls calls = {.reload = run->configure != NULL ? reload : NULL, .user = run};
    int status = sf_control_socket_open(&run->control, &run->config->control[0], &run->live, run->pipeline,
                                        &calls, &reason);
    if (status != SF_OK && error != NULL) *error = reason;
    return sf_config_locate(run->config, status, "control.0.", error);
}

static int open_control(sf_run *run, sf_error *error)
{
    int status = run->config->control_count > 0 ? bind_control(run, error) : SF_OK;
    if (status != SF_OK || run->control == NULL) return status;
    status = sf_pipeline_attach(run->pipeline, sf_control_socket_outlet(run->control), error);
    return status == SF_OK ? sf_control_socket_start(run->control, error) : status;
}

static int try_control(sf_run *run, sf_error *error)
{
    int status = run->config->control_count > 0 ? bind_control(run, error) : SF_OK;
    if (run->control != NULL) {
        sf_outlet outlet = sf_control_socket_outlet(run->control);
        outlet.kind->close(outlet.self, NULL);
        run->control = NULL;
    }
    return status;
}

static int try_outputs(sf_run *run, sf_error *error)
{
    int status = SF_OK;
    for (uint32_t i = 0; i < run->config->sink_count && status == SF_OK; i++)
        status = try_sink(run->config, i, error);
    return status == SF_OK ? try_control(run, error) : status;
}

static void tell_sinks(const sf_run *run, const sf_run_options *options)
{
    for (size_t i = 0; options->opened != NULL && i < run->sink_count; i++) {
        sf_sink_status status;
        sf_sink_status_get(run->sinks[i], &status);
        options->opened(options->user, status.name, sf_sink_address(run->sinks[i]));
    }
    if (options->opened != NULL && run->control != NULL)
        options->opened(options->user, "control", sf_control_socket_address(run->control));
}

/* ---- the interface ---- */

static int check_core(const sf_config *config, sf_error *error)
{
    uint64_t core;
    if (strcmp(config->realtime.core, "any") == 0 || sf_parse_uint(config->realtime.core, MOST_CORE, &core))
        return SF_OK;
    return sf_config_refuse(config, "realtime.core", error,
                            "found '%.40s', expected any, or a number from 0 to %d", config->realtime.core,
                            MOST_CORE);
}

static int open_parts(sf_run *run, const sf_run_options *options, sf_error *error)
{
    int status = check_descriptors(options->config, error);
    if (status == SF_OK) status = check_core(options->config, error);
    if (status == SF_OK) status = sf_config_print(&run->configuration, options->config, error);
    if (status == SF_OK) status = read_rules(&run->rules, options->config, error);
    run->live = live_options(options->config, run->rules);
    if (status == SF_OK) status = sf_config_check_files(options->config, error);
    if (status == SF_OK && options->recording == NULL) /* which is there, and not waited for */
        status = try_outputs(run, error);
    if (status == SF_OK) status = open_pipeline(run, options, error);
    return status == SF_OK ? open_sinks(run, error) : status;
}

int sf_run_open(sf_run **out, const sf_run_options *options, sf_error *error)
{
    *out = NULL;
    sf_run *run = sf_alloc(1, sizeof *run);
    if (run == NULL) return sf_fail_memory(error);
    run->config = options->config;
    run->configure = options->configure;
    run->configure_user = options->configure_user;
    int status = open_parts(run, options, error);
    if (status == SF_OK) status = open_control(run, error);
    if (status == SF_OK && options->outlet.kind != NULL)
        status = sf_pipeline_attach(run->pipeline, options->outlet, error);
    if (status != SF_OK) {
        sf_run_close(run, NULL);
        return status;
    }
    tell_sinks(run, options);
    *out = run;
    return SF_OK;
}

sf_pipeline *sf_run_pipeline(const sf_run *run)
{
    return run->pipeline;
}

static void free_run(void *argument)
{
    sf_run *run = argument;
    sf_storage_close(run->storage);
    sf_rule_files_free(run->rules, run->config->rule_count);
    if (run->reloaded != NULL) sf_config_free(run->reloaded);
    sf_free(run->reloaded);
    sf_free(run->sinks);
    sf_text_free(&run->configuration);
    sf_free(run);
}

int sf_run_close(sf_run *run, sf_error *error)
{
    if (run == NULL) return SF_OK;
    int status = sf_pipeline_close(run->pipeline, error);
    free_run(run);
    return status;
}

/* Now that all is there that threads and memory are of. */
static void hurry(sf_run *run)
{
    const sf_config_realtime *wanted = &run->config->realtime;
    uint64_t core = SF_REALTIME_ANY_CORE;
    sf_parse_uint(wanted->core, MOST_CORE, &core);
    if (wanted->lock_memory) sf_realtime_lock();
    sf_pipeline_hurry(run->pipeline, &(sf_realtime){.priority = wanted->priority, .core = (uint32_t)core});
}

int sf_run_live(sf_live **live, const sf_run_options *options, sf_error *error)
{
    sf_run *run;
    *live = NULL;
    int status = sf_run_open(&run, options, error);
    if (status != SF_OK) return status;
    status =
        sf_live_start(live, run->pipeline, &options->config->live, (sf_live_owner){free_run, run}, error);
    if (status == SF_OK) hurry(run);
    return status;
}

/* What is there; what is not yet may come before the run. */
static int check_secret(const sf_config *config, const char *list, uint32_t index, const char *key,
                        const char *path, sf_error *error)
{
    sf_error reason = {0};
    char place[64];
    if (path == NULL || strcmp(path, SF_CURVE_NONE) == 0 || access(path, F_OK) != 0 ||
        sf_file_check_secret(path, "the secret", &reason) == SF_OK)
        return SF_OK;
    snprintf(place, sizeof place, "%s.%u.%s", list, index, key);
    return sf_config_refuse(config, place, error, "%s: %s", reason.place, reason.text);
}

static int check_secrets(const sf_config *config, sf_error *error)
{
    int status = SF_OK;
    for (uint32_t i = 0; i < config->source_count && status == SF_OK; i++)
        status = check_secret(config, "sources", i, "key", sf_config_text(&config->sources[i], "key"), error);
    for (uint32_t i = 0; i < config->sink_count && status == SF_OK; i++)
        status = check_secret(config, "sinks", i, "key", sf_config_text(&config->sinks[i], "key"), error);
    for (uint32_t i = 0; i < config->control_count && status == SF_OK; i++) {
        status = check_secret(config, "control", i, "key", config->control[i].key, error);
        if (status == SF_OK)
            status = check_secret(config, "control", i, "token_file", config->control[i].token_file, error);
    }
    return status;
}

/* The least that a trigger allows, and whose it is; false: none asks for an age. */
static bool least_age(const sf_config *config, double *ms, uint32_t *trigger)
{
    *ms = INFINITY;
    for (uint32_t i = 0; i < config->live.trigger_count; i++)
        if (config->live.triggers[i].max_age_ms > 0 && config->live.triggers[i].max_age_ms < *ms) {
            *ms = config->live.triggers[i].max_age_ms;
            *trigger = i;
        }
    return isfinite(*ms);
}

/* A rig that writes seldom has spikes that are too old in each of its writes. */
static void warn_of_writes(const sf_config *config)
{
    double age_ms;
    uint32_t trigger = 0;
    bool asks = least_age(config, &age_ms, &trigger);
    for (size_t i = 0; asks && i < config->source_count; i++)
        for (const sf_protocol *const *all = sf_protocols; *all != NULL; all++) {
            const sf_protocol *is = *all;
            if (is->written == 0 || &is->source != sf_config_source_kind(config, i)) continue;
            double hz = ((const sf_live_settings *)sf_config_source(config, i))->sample_rate_hz;
            double write_ms = 1e3 * is->written / hz;
            if (write_ms > age_ms)
                sf_log(SF_LOG_WARNING,
                       "sources.%zu: %s sends %.1f ms at once, by its setting %s: the oldest of them are "
                       "beyond triggers.%u.max_age_ms (%g), which does not stay armed unless it sends less",
                       i, is->system, write_ms, is->written_by, trigger, age_ms);
        }
}

/* Receivers that cannot be. */
static int examine_sinks(const sf_config *config, sf_error *error)
{
    for (uint32_t i = 0; i < config->sink_count; i++) {
        const sf_sink_kind *kind = sf_config_sink_kind(config, i);
        sf_error reason = {0};
        char place[64];
        snprintf(place, sizeof place, "sinks.%u", i);
        if (kind->examine == NULL || kind->examine(config->sinks[i].settings, &reason) == SF_OK) continue;
        return sf_config_refuse(config, place, error, "%s: %s", reason.place, reason.text);
    }
    return SF_OK;
}

/* As run opens it, with the rules that were read. */
static int rehearse(const sf_config *config, const sf_live_rule *rules, const sf_units *units,
                    sf_error *error)
{
    const sf_live_options live = live_options(config, rules);
    sf_error reason = {0};
    int status = sf_pipeline_rehearse(&live, units, &reason);
    if (status != SF_OK && error != NULL) *error = reason;
    return sf_config_locate(config, status, "", error);
}

int sf_run_check(const sf_config *config, const sf_recording *recording, sf_error *error)
{
    sf_live_rule *rules = NULL;
    int status = check_core(config, error);
    if (status == SF_OK) status = check_secrets(config, error);
    if (status == SF_OK) status = examine_sinks(config, error);
    if (status == SF_OK) status = sf_config_check_files(config, error);
    if (status == SF_OK) status = read_rules(&rules, config, error);
    if (status == SF_OK)
        status = rehearse(config, rules, recording != NULL ? &recording->units : NULL, error);
    sf_rule_files_free(rules, config->rule_count);
    if (status == SF_OK) warn_of_writes(config);
    return status;
}
