/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What overlapping the stages of a hop gains: the same simulated stream is run by the derived schedule and
 * one stage after the other, in pairs, with every stage at work: counting, mining, the test, the graph with
 * reach, patterns and the census, densities of every unit, a rule. On a virtual clock discovery and tests are
 * inside the hop; in real time (`--real`) they are in the background, and the stream comes at ten times its
 * speed. Told are the medians over hops of both, of their sums of stages, and what deriving the schedule
 * costs.
 *
 *   bench_hop [--real] [--threads N] [--units N] [--pairs N]
 */
#include "core/clock.h"
#include "core/memory.h"
#include "core/reals.h"
#include "core/thread.h"
#include "live/config.h"
#include "pipeline/pipeline.h"
#include "pipeline/schedule.h"
#include "replay/player.h"
#include "replay/simulation.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS 60
#define MOST_HOPS 4096
#define DERIVATIONS 200
#define LATER 20 /* hops that are left out: windows are not full yet */

static const char configuration[] =
    "window: {length_s: 5, hop_s: 0.5}\n"
    "device: cpu\n"
    "mine: {every: 1, delays_ms: '0:5', min_rate_hz: 2.6, max_size: 3, track_most: 200, threads: %u}\n"
    "significance: {length_s: 5, surrogates: 20, most: 200}\n"
    "graph: {reach: [{from: '#0', hops: 3}], reach_all: 4, components: true, census: true,\n"
    "        patterns: [{pattern: feed-forward-loop}, {pattern: chain-3}]}\n"
    "density: [{quantity: isi, unit: '*'}, {quantity: rate, unit: '*'}]\n"
    "schedule: %s\n";

/* ---- what hops take ---- */

typedef struct figures {
    double hop_ms[MOST_HOPS], stages_ms[MOST_HOPS];
    size_t count;
} figures;

/* Of those that make a hop; others are parts of them, or go on beside it. */
static bool is_step(const char *name)
{
    static const char *const steps[] = {"count", "discover", "test", "pairs", "graph", "density", "publish"};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (strcmp(name, steps[i]) == 0) return true;
    return false;
}

static void note(void *user, sf_message *message)
{
    figures *into = user;
    if (message->topic != SF_TOPIC_STATUS || message->status.last || into->count == MOST_HOPS) return;
    double sum = 0;
    for (size_t i = 0; i < message->status.stage_count; i++)
        if (strcmp(message->status.stages[i].name, "hop") == 0)
            into->hop_ms[into->count] = message->status.stages[i].last_ms; /* of the hop before */
        else if (is_step(message->status.stages[i].name))
            sum += message->status.stages[i].last_ms;
    into->stages_ms[into->count++] = sum;
}

static double median(double *values, size_t count)
{
    sf_reals_sort(values, count);
    return count > 0 ? values[count / 2] : 0;
}

/* ---- one run ---- */

static int run(figures *into, const sf_recording *recording, double speed, unsigned threads,
               const char *schedule, sf_error *error)
{
    static const char *const labels[] = {"quiet", "busy"};
    static const double thresholds[] = {14};
    const sf_live_rule rule = {.name = "rule",
                               .episode = "#0 -(0,5]-> #1",
                               .window_s = 5,
                               .labels = labels,
                               .thresholds = thresholds,
                               .label_count = 2};
    static const sf_outlet_kind kind = {.publish = note};
    char yaml[1024];
    sf_config config;
    sf_pipeline *pipeline = NULL;
    sf_input input = {.ring = SF_PLAYER_RING, .policy = SF_RING_BLOCK};
    snprintf(yaml, sizeof yaml, configuration, threads, schedule);
    int status = sf_config_parse(&config, yaml, strlen(yaml), "bench", NULL, 0, error);
    if (status != SF_OK) return status;
    config.live.rules = &rule;
    config.live.rule_count = 1;
    status = sf_player_open(&input.source, recording, speed, error);
    const sf_pipeline_options options = {.live = &config.live, .sources = &input, .source_count = 1};
    if (status == SF_OK) status = sf_pipeline_open(&pipeline, &options, error);
    if (status == SF_OK) status = sf_pipeline_attach(pipeline, (sf_outlet){&kind, into}, error);
    if (status == SF_OK) status = sf_pipeline_start(pipeline, error);
    while (status == SF_OK && !sf_pipeline_wait(pipeline, 1000))
        ;
    int closed = sf_pipeline_close(pipeline, status == SF_OK ? error : NULL);
    sf_config_free(&config);
    return status == SF_OK ? closed : status;
}

/* ---- the derivation ---- */

static double derive_us(sf_error *error)
{
    double seconds[DERIVATIONS];
    for (int i = 0; i < DERIVATIONS; i++) {
        sf_schedule schedule;
        double began = sf_clock_seconds();
        if (sf_schedule_derive(&schedule, sf_hop_stages(true), false, error) != SF_OK) return -1;
        seconds[i] = sf_clock_seconds() - began;
    }
    return median(seconds, DERIVATIONS) * 1e6;
}

/* ---- the whole ---- */

typedef struct asked {
    bool real;
    unsigned threads, units, pairs;
} asked;

static asked read_options(int argc, char **argv)
{
    static const struct option options[] = {{"real", no_argument, NULL, 'r'},
                                            {"threads", required_argument, NULL, 't'},
                                            {"units", required_argument, NULL, 'u'},
                                            {"pairs", required_argument, NULL, 'p'},
                                            {0}};
    asked of = {.units = 60, .pairs = 3};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        unsigned number = optarg != NULL ? (unsigned)strtoul(optarg, NULL, 10) : 0;
        if (option == 'r')
            of.real = true;
        else if (option == 't')
            of.threads = number;
        else if (option == 'u')
            of.units = number;
        else if (option == 'p')
            of.pairs = number;
        else
            exit(64);
    }
    return of;
}

static int compare(const asked *of, const sf_recording *recording, sf_error *error)
{
    static const char *const schedules[] = {"sequential", "derived"};
    figures *runs = sf_alloc(2, sizeof *runs);
    int status = runs != NULL ? SF_OK : SF_NO_MEMORY;
    for (unsigned pair = 0; pair < of->pairs && status == SF_OK; pair++) {
        for (int i = 0; i < 2 && status == SF_OK; i++) {
            runs[i].count = 0;
            status = run(&runs[i], recording, of->real ? 10 : 0, of->threads, schedules[i], error);
        }
        if (status != SF_OK || runs[0].count <= LATER || runs[1].count <= LATER) break;
        double hop[2], stages[2];
        for (int i = 0; i < 2; i++) {
            hop[i] = median(runs[i].hop_ms + LATER, runs[i].count - LATER);
            stages[i] = median(runs[i].stages_ms + LATER, runs[i].count - LATER);
        }
        printf("%5zu %12.2f %12.2f %12.2f %12.2f %9.2f\n", runs[0].count, hop[0], stages[0], hop[1],
               stages[1], hop[0] / hop[1]);
        fflush(stdout);
    }
    sf_free(runs);
    return status;
}

int main(int argc, char **argv)
{
    asked of = read_options(argc, argv);
    sf_error error = {0};
    sf_recording recording;
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.unit_count = of.units;
    settings.rate_hz = 20;
    settings.duration_ns = SECONDS * SF_SECOND;
    int status = sf_simulate(&recording, NULL, &settings, NULL, &error);
    if (status == SF_OK) {
        char processor[64];
        double us = derive_us(&error);
        sf_processor_name(processor, sizeof processor);
        printf("%s, %u cores, threads %u; %u units, %zu spikes, hop 0.5 s, window 5 s, %s\n", processor,
               sf_thread_cores(), of.threads, of.units, recording.spike_count,
               of.real ? "ten times real time" : "virtual clock");
        printf("the schedule is derived in %.0f us, once a run: %.4f %% of a hop of 0.5 s\n\n", us,
               us / 0.5e6 * 100);
        printf("        sequential                derived\n");
        printf(" hops       hop, ms   stages, ms      hop, ms   stages, ms  times as fast\n");
        status = compare(&of, &recording, &error);
        sf_recording_clear(&recording);
    }
    if (status != SF_OK) fprintf(stderr, "bench_hop: %s: %s\n", error.place, error.text);
    return -status;
}
