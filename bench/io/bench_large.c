/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_large [--device D] [--rate N] [--window S] [--tracked N] [--sigma X] [--seconds S] [--speed X]
 *             [--threads N] [--no-graph]
 *
 * What a hop of a whole run takes on a large array: 4,096 units that fire at random, a million spikes a
 * second
 * (--rate), a window of 10 s, a hop of 100 ms; a discovery of (0,1] ms each second, with fewer than 500,000
 * spikes a second of (0,5] ms, to size 3, `sigma` standard deviations above chance, the most remarkable of
 * which are tracked; the graph of all pairs. In real time, or faster; over the hops of `seconds` after the
 * window is full and its episodes are tracked.
 */
#include "core/clock.h"
#include "core/memory.h"
#include "core/reals.h"
#include "core/thread.h"
#include "live/config.h"
#include "mine/mine.h"
#include "pipeline/pipeline.h"
#include "pipeline/times.h"
#include "replay/player.h"

#include <Random123/philox.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNITS 4096
#define MOST_HOPS 2048

typedef struct asked {
    const char *device, *graph;
    double rate, window_s, sigma, seconds, speed;
    unsigned tracked, threads;
} asked;

typedef struct step {
    const char *name;
    char device[32];
    double ms[MOST_HOPS];
    size_t count;
} step;

typedef struct figures {
    double begin_s; /* hops before are not looked at */
    step steps[SF_STATUS_STAGES];
    size_t step_count, hops;
    double before_ms[SF_STATUS_STAGES];                 /* steps of the hop before */
    double slowest_ms, of_slowest_ms[SF_STATUS_STAGES]; /* a hop, and its steps */
    double mined_ms[MOST_HOPS], age_ms[MOST_HOPS];
    size_t mined, tracked, edges, frequent;
    char device[64], discovery[64];
    uint64_t memory;
} figures;

static uint32_t draw(uint32_t index)
{
    philox4x32_ctr_t counter = {{index, 1, 0, 0}};
    philox4x32_key_t key = {{5, 0}};
    return philox4x32(counter, key).v[0];
}

static double delay_ms(const asked *of)
{
    return of->rate > 500000 ? 1 : 5;
}

static double threshold_of(const asked *of)
{
    const double rates[] = {of->rate / UNITS, of->rate / UNITS};
    const sf_delay delay = {0, (int64_t)(delay_ms(of) * 1e6)};
    double expected = sf_expected_count(2, rates, &delay, of->window_s);
    return ceil(expected + of->sigma * sqrt(expected));
}

/* When the window is full and episodes have been summarised for all of it. */
static double looked_at_from(const asked *of)
{
    return of->window_s + fmin(of->window_s, 20);
}

static double stream_seconds(const asked *of)
{
    return looked_at_from(of) + of->seconds;
}

static int make_recording(sf_recording *recording, const asked *of, sf_error *error)
{
    *recording = (sf_recording){.spike_count = (size_t)(stream_seconds(of) * of->rate),
                                .recorded = {0, (int64_t)(stream_seconds(of) * 1e9)}};
    recording->spikes = sf_resize(NULL, recording->spike_count, sizeof *recording->spikes);
    int status = recording->spikes != NULL ? SF_OK : SF_NO_MEMORY;
    for (uint32_t u = 0; u < UNITS && status == SF_OK; u++)
        status = sf_units_add(&recording->units, &(sf_unit){.electrode = -1}, error);
    if (status == SF_OK) status = sf_units_finish(&recording->units, error);
    for (size_t i = 0; i < recording->spike_count && status == SF_OK; i++)
        recording->spikes[i] =
            (sf_spike){.time_ns = (int64_t)((double)i / of->rate * 1e9), .unit = draw((uint32_t)i) % UNITS};
    return status;
}

/* ---- what hops take ---- */

static void note_steps(figures *into, const sf_status_message *status)
{
    into->step_count = status->stage_count;
    for (size_t i = 0; i < status->stage_count; i++) {
        step *own = &into->steps[i];
        own->name = status->stages[i].name;
        snprintf(own->device, sizeof own->device, "%s", status->stages[i].device);
        if (status->stages[i].last_ms > 0 && own->count < MOST_HOPS)
            own->ms[own->count++] = status->stages[i].last_ms;
    }
}

/* A status tells the steps of the hop that it is of, and how long the one before took, since that is over. */
static void note_slowest(figures *into, const sf_status_message *status)
{
    double hop_ms = 0;
    for (size_t i = 0; i < status->stage_count; i++)
        if (strcmp(status->stages[i].name, "hop") == 0) hop_ms = status->stages[i].last_ms;
    if (hop_ms > into->slowest_ms) {
        into->slowest_ms = hop_ms;
        memcpy(into->of_slowest_ms, into->before_ms, sizeof into->before_ms);
    }
    for (size_t i = 0; i < status->stage_count; i++)
        into->before_ms[i] = status->stages[i].last_ms;
}

static void note(void *user, sf_message *message)
{
    figures *into = user;
    if ((double)message->time_ns * 1e-9 < into->begin_s) return;
    if (message->topic == SF_TOPIC_EPISODES && into->hops < MOST_HOPS)
        into->age_ms[into->hops++] = sf_message_age_ms(message);
    if (message->topic != SF_TOPIC_STATUS || message->status.last) return;
    const sf_status_message *status = &message->status;
    note_steps(into, status);
    note_slowest(into, status);
    bool is_new = into->mined == 0 || status->discovery_ms != into->mined_ms[into->mined - 1];
    if (isfinite(status->discovery_ms) && is_new && into->mined < MOST_HOPS)
        into->mined_ms[into->mined++] = status->discovery_ms;
    into->tracked = status->tracked;
    into->edges = status->edges;
    into->memory = status->device_memory;
    snprintf(into->device, sizeof into->device, "%s", status->device);
    snprintf(into->discovery, sizeof into->discovery, "%s", status->discovery_device);
}

static void tell(const char *name, const char *device, double *ms, size_t count)
{
    sf_reals_sort(ms, count);
    if (count > 0)
        printf("    %-10s %-8s %9.2f ms, 99 %% %9.2f, longest %9.2f   (%zu)\n", name, device, ms[count / 2],
               ms[count * 99 / 100], ms[count - 1], count);
}

static void tell_all(figures *found, const asked *of, double seconds)
{
    printf(
        "%.0f spikes/s, window %g s, device %s (%s), %u threads, graph %s: %zu tracked, %zu edges, threshold "
        "%g; %.0f s of the stream in %.1f s; device %llu MiB\n",
        of->rate, of->window_s, of->device, found->device, of->threads, of->graph, found->tracked,
        found->edges, threshold_of(of), stream_seconds(of), seconds, (unsigned long long)found->memory >> 20);
    for (size_t i = 0; i < found->step_count; i++)
        tell(found->steps[i].name, found->steps[i].device, found->steps[i].ms, found->steps[i].count);
    printf("    slowest hop %.2f ms, of which", found->slowest_ms);
    for (size_t i = 0; i < found->step_count; i++)
        if (found->of_slowest_ms[i] >= 0.005 && i != SF_PART_HOP && !sf_times_is_beside((sf_hop_part)i))
            printf(" %s %.2f", found->steps[i].name, found->of_slowest_ms[i]);
    printf("\n");
    tell("discovery", found->discovery, found->mined_ms, found->mined);
    tell("age", "", found->age_ms, found->hops);
    fflush(stdout);
}

/* ---- the run ---- */

static int run(figures *into, const sf_recording *recording, const asked *of, sf_error *error)
{
    static const sf_outlet_kind kind = {.publish = note};
    char yaml[1024];
    sf_config config;
    sf_pipeline *pipeline = NULL;
    sf_input input = {.ring = SF_PLAYER_RING, .policy = SF_RING_BLOCK};
    snprintf(yaml, sizeof yaml,
             "device: %s\nwindow: {length_s: %g, hop_s: 0.1}\n"
             "mine: {every: 10, delays_ms: '0:%g', min_count: %g, max_size: 3, track_most: %u, threads: %u}\n"
             "graph: {enabled: %s}\n",
             of->device, of->window_s, delay_ms(of), threshold_of(of), of->tracked, of->threads, of->graph);
    int status = sf_config_parse(&config, yaml, strlen(yaml), "bench", NULL, 0, error);
    if (status != SF_OK) return status;
    status = sf_player_open(&input.source, recording, of->speed, error);
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

static asked read_options(int argc, char **argv)
{
    static const struct option options[] = {
        {"device", required_argument, NULL, 'd'}, {"rate", required_argument, NULL, 'r'},
        {"window", required_argument, NULL, 'w'}, {"tracked", required_argument, NULL, 'k'},
        {"sigma", required_argument, NULL, 'o'},  {"seconds", required_argument, NULL, 's'},
        {"speed", required_argument, NULL, 'x'},  {"threads", required_argument, NULL, 't'},
        {"no-graph", no_argument, NULL, 'g'},     {0}};
    asked of = {.device = "auto",
                .graph = "true",
                .rate = 1e6,
                .window_s = 10,
                .sigma = 2,
                .seconds = 10,
                .speed = 1,
                .tracked = 100000};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        double number = optarg != NULL ? atof(optarg) : 0;
        switch (option) {
        case 'd':
            of.device = optarg;
            break;
        case 'r':
            of.rate = number;
            break;
        case 'w':
            of.window_s = number;
            break;
        case 'k':
            of.tracked = (unsigned)number;
            break;
        case 'o':
            of.sigma = number;
            break;
        case 's':
            of.seconds = number;
            break;
        case 'x':
            of.speed = number;
            break;
        case 't':
            of.threads = (unsigned)number;
            break;
        case 'g':
            of.graph = "false";
            break;
        default:
            exit(64);
        }
    }
    return of;
}

int main(int argc, char **argv)
{
    asked of = read_options(argc, argv);
    sf_error error = {.text = "no memory"};
    sf_recording recording;
    figures *found = sf_alloc(1, sizeof *found);
    int status = found != NULL ? make_recording(&recording, &of, &error) : SF_NO_MEMORY;
    double began = sf_clock_seconds();
    if (status == SF_OK) {
        found->begin_s = looked_at_from(&of);
        status = run(found, &recording, &of, &error);
    }
    if (status == SF_OK)
        tell_all(found, &of, sf_clock_seconds() - began);
    else
        fprintf(stderr, "bench_large: %s: %s\n", error.place, error.text);
    sf_recording_clear(&recording);
    sf_free(found);
    return -status;
}
