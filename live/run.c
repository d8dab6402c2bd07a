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

struct sf_run {
    const sf_config *config;
    sf_live_options live; /**< the configuration's, with its rules read */
    sf_live_rule *rules;
    sf_text configuration;
    sf_storage *storage; /**< the thread that HDF5 recorders share; NULL without one */
    sf_input *inputs;    /**< until the pipeline has them */
    size_t input_count;
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

/* Before a live one has begun it may be all that its kind may be. */
static int check_input(const sf_input *input, sf_error *error)
{
    if (input->policy == SF_RING_BLOCK && !input->source->can_wait)
        return sf_fail(error, SF_CONFIG, "policy",
                       "found block, but this sender cannot wait: expected drop-oldest or drop-newest");
    if (input->pulses != 0 && input->source->virtual_clock)
        return sf_fail(
            error, SF_CONFIG, "pulses",
            "found shared pulses, but this source is on a virtual clock: expected one in real time");
    return SF_OK;
}

static int open_source(sf_input *input, const sf_config *config, uint32_t index, sf_error *error)
{
    const sf_source_settings *wanted = sf_config_source(config, index);
    const sf_source_kind *kind = sf_config_source_kind(config, index);
    sf_error reason = {0};
    *input = (sf_input){.ring = wanted->ring, .policy = wanted->policy, .pulses = wanted->pulses};
    int status = kind->open(&input->source, kind, wanted, &reason);
    if (status == SF_OK) status = check_input(input, &reason);
    return sf_config_locate_item(config, "sources", index, status, &reason, error);
}

static int begin_source(sf_input *input, const sf_config *config, uint32_t index, const sf_progress *progress,
                        sf_error *error)
{
    sf_error reason = {0};
    int status = sf_source_begin(input->source, progress, &reason);
    if (status == SF_OK) status = check_input(input, &reason);
    return sf_config_locate_item(config, "sources", index, status, &reason, error);
}

static int open_sources(sf_run *run, const sf_run_options *options, sf_error *error)
{
    const sf_config *config = options->config;
    run->inputs = sf_alloc((size_t)config->source_count + 1, sizeof *run->inputs);
    if (run->inputs == NULL) return sf_fail_memory(error);
    if (options->recording != NULL) {
        run->inputs[0] = (sf_input){.ring = SF_PLAYER_RING, .policy = SF_RING_BLOCK};
        run->input_count = 1;
        return sf_player_open(&run->inputs[0].source, options->recording, options->speed, error);
    }
    int status = SF_OK;
    for (uint32_t i = 0; i < config->source_count && status == SF_OK; i++) {
        status = open_source(&run->inputs[i], config, i, error);
        run->input_count = i + 1;
    }
    return status;
}

/* Whether somebody has to be met before all units are known, or there is nobody yet. */
static bool has_strangers(const sf_run *run)
{
    bool any = run->input_count == 0;
    for (size_t i = 0; i < run->input_count; i++)
        any = any || run->inputs[i].source->kind->begin != NULL;
    return any;
}

static int begin_sources(sf_run *run, const sf_run_options *options, sf_error *error)
{
    const sf_config *config = options->config;
    if (run->input_count == 0)
        return sf_fail(error, SF_CONFIG, config->name,
                       "there are no sources: expected a list `sources`, or --replay");
    int status = SF_OK;
    if (has_strangers(run) && options->waits != NULL) options->waits(options->user);
    for (uint32_t i = 0; i < config->source_count && options->recording == NULL && status == SF_OK; i++)
        status = begin_source(&run->inputs[i], config, i, options->progress, error);
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
    const sf_pipeline_options pipeline = {.live = &run->live,
                                          .sources = run->inputs,
                                          .source_count = run->input_count,
                                          .duration_ns = options->duration_ns,
                                          .handoff_room = options->handoff_room,
                                          .configuration = run->configuration.data,
                                          .provenance = options->provenance};
    sf_error reason = {0};
    run->input_count = 0;
    int status = sf_pipeline_open(&run->pipeline, &pipeline, &reason);
    return sf_config_locate(options->config, status, &reason, error);
}

/* What does not depend on units that nobody knows yet. */
static int rehearse(const sf_run *run, sf_error *error)
{
    sf_error reason = {0};
    int status = sf_pipeline_rehearse(&run->live, &reason);
    return sf_config_locate(run->config, status, &reason, error);
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
    sf_error reason = {0};
    int status =
        sf_sink_open_kind(&sink, kind, settings, sf_pipeline_stream(run->pipeline), run->storage, &reason);
    status = sf_config_locate_item(run->config, "sinks", index, status, &reason, error);
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

/* Receivers and files that cannot be. */
static int examine_sink(const sf_config *config, uint32_t index, sf_error *error)
{
    const sf_sink_kind *kind = sf_config_sink_kind(config, index);
    sf_error reason = {0};
    int status = kind->examine != NULL ? kind->examine(sf_config_sink(config, index), &reason) : SF_OK;
    return sf_config_locate_item(config, "sinks", index, status, &reason, error);
}

static int examine_outputs(const sf_config *config, sf_error *error)
{
    sf_error reason = {0};
    int status = SF_OK;
    for (uint32_t i = 0; i < config->sink_count && status == SF_OK; i++)
        status = examine_sink(config, i, error);
    if (status != SF_OK || config->control_count == 0) return status;
    status = sf_control_socket_examine(&config->control[0], &reason);
    return sf_config_locate_item(config, "control", 0, status, &reason, error);
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
    sf_error reason = {0};
    int status = SF_OK;
    if (kind->keeps && settings->path != NULL)
        status = try_file(settings, &reason);
    else if (kind->is_tried && (status = kind->open(&sink, settings, &nobody, &reason)) == SF_OK)
        status = kind->close(sink, &reason);
    return sf_config_locate_item(config, "sinks", index, status, &reason, error);
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
    return sf_config_locate_item(run->config, "control", 0, status, &reason, error);
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

/* All that a run refuses without meeting anybody, and what --check looks at. The units of sources that are
 * still to be met are whatever the options name. */
static int prepare(sf_run *run, const sf_run_options *options, sf_error *error)
{
    int status = check_descriptors(options->config, error);
    if (status == SF_OK) status = sf_config_print(&run->configuration, options->config, error);
    if (status == SF_OK) status = sf_config_check_files(options->config, error);
    if (status == SF_OK) status = read_rules(&run->rules, options->config, error);
    run->live = live_options(options->config, run->rules);
    if (status == SF_OK) status = examine_outputs(options->config, error);
    if (status == SF_OK && !options->without_sources) status = open_sources(run, options, error);
    return status == SF_OK && has_strangers(run) ? rehearse(run, error) : status;
}

static int open_parts(sf_run *run, const sf_run_options *options, sf_error *error)
{
    int status = prepare(run, options, error);
    if (status == SF_OK && options->recording == NULL) /* which is there, and not waited for */
        status = try_outputs(run, error);
    if (status == SF_OK) status = begin_sources(run, options, error);
    if (status == SF_OK) status = open_pipeline(run, options, error);
    return status == SF_OK ? open_sinks(run, error) : status;
}

static sf_run *new_run(const sf_run_options *options)
{
    sf_run *run = sf_alloc(1, sizeof *run);
    if (run == NULL) return NULL;
    run->config = options->config;
    run->configure = options->configure;
    run->configure_user = options->configure_user;
    return run;
}

int sf_run_open(sf_run **out, const sf_run_options *options, sf_error *error)
{
    *out = NULL;
    sf_run *run = new_run(options);
    if (run == NULL) return sf_fail_memory(error);
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
    sf_sources_close(run->inputs, run->input_count);
    sf_free(run->inputs);
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
    sf_parse_uint(wanted->core, SF_CONFIG_MOST_CORE, &core);
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

int sf_run_check(const sf_run_options *options, sf_error *error)
{
    sf_run *run = new_run(options);
    if (run == NULL) return sf_fail_memory(error);
    int status = prepare(run, options, error);
    if (status == SF_OK && !has_strangers(run)) status = open_pipeline(run, options, error);
    if (status == SF_OK) warn_of_writes(options->config);
    sf_run_close(run, NULL);
    return status;
}
