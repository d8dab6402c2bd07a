/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/cao/crossover.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/file.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/platform.h"
#include "core/random.h"
#include "core/thread.h"
#include "mine/engine.h"
#include "mine/resident.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what is known ---- */

typedef struct entry {
    char device[160];
    uint32_t size, episodes;
} entry;

#define MOST_ENTRIES 256 /* beyond them nothing is kept */

static struct {
    pthread_mutex_t lock; /* held while measuring, so that nothing is measured twice */
    entry entries[MOST_ENTRIES];
    size_t count;
    bool loaded;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const entry *look_up(const char *device, uint32_t size)
{
    for (size_t i = 0; i < table.count; i++)
        if (table.entries[i].size == size && strcmp(table.entries[i].device, device) == 0)
            return &table.entries[i];
    return NULL;
}

/* What is known stays as it is. */
static void add_entry(const entry *new)
{
    if (table.count < MOST_ENTRIES && look_up(new->device, new->size) == NULL)
        table.entries[table.count++] = *new;
}

void sf_crossover_forget(void)
{
    pthread_mutex_lock(&table.lock);
    table.count = 0;
    table.loaded = false;
    pthread_mutex_unlock(&table.lock);
}

/* ---- the file ---- */

bool sf_crossover_path(char *path, size_t size)
{
    char folder[4096];
    if (!sf_platform_cache_folder(folder, sizeof folder)) return false;
    int length = snprintf(path, size, "%s/synfire/crossover-%s", folder, sf_version());
    return length > 0 && (size_t)length < size;
}

/* Lines of size, episodes, device. A line that is none is passed over: someone else's mistake costs time
 * only. */
static void load(void)
{
    char path[4200];
    sf_text text = {0};
    table.loaded = true;
    if (!sf_crossover_path(path, sizeof path) || sf_file_read(&text, path, NULL) != SF_OK) return;
    for (char *line = text.data, *end; *line != '\0'; line = end) {
        end = line + strcspn(line, "\n");
        end += *end == '\n';
        entry read;
        if (sscanf(line, "%" SCNu32 " %" SCNu32 " %159[^\n]", &read.size, &read.episodes, read.device) == 3 &&
            read.size <= SF_EPISODE_MAX_SIZE && read.episodes > 0)
            add_entry(&read);
    }
    sf_text_free(&text);
}

static bool write_whole(const char *path, const sf_text *text)
{
    FILE *file = text->failed ? NULL : fopen(path, "wb");
    if (file == NULL) return false;
    bool is_whole = fwrite(text->data, 1, text->length, file) == text->length;
    return fclose(file) == 0 && is_whole;
}

/* Whole or not at all, also for one who reads it meanwhile. */
static bool replace_file(const char *path, const sf_text *text)
{
    char own[4300];
    snprintf(own, sizeof own, "%s.%ld", path, (long)getpid());
    bool is_replaced = write_whole(own, text) && sf_platform_replace(own, path);
    if (!is_replaced) unlink(own);
    return is_replaced;
}

static void save(void)
{
    char folder[4096], path[4200];
    if (!sf_platform_cache_folder(folder, sizeof folder) || !sf_crossover_path(path, sizeof path)) return;
    load(); /* what other processes have found meanwhile */
    sf_text text = {0};
    for (size_t i = 0; i < table.count; i++)
        sf_text_printf(&text, "%" PRIu32 " %" PRIu32 " %s\n", table.entries[i].size,
                       table.entries[i].episodes, table.entries[i].device);
    sf_platform_make_folder(folder);
    char *end = strrchr(path, '/');
    *end = '\0';
    sf_platform_make_folder(path);
    *end = '/';
    if (!replace_file(path, &text))
        sf_log(SF_LOG_INFO, "crossovers of hybrid are not kept: %s cannot be written", path);
    sf_text_free(&text);
}

/* ---- measuring ---- */

#define UNITS 64u
#define SPIKES 16000u
#define RATE_HZ 3200.0 /* of all units */
#define MOST_EPISODES (1u << 17)
#define GUESS_ON_DEVICE 4096u /* on the CPU it is 1: segments rarely pay there */
#define HALVINGS 3            /* of what is between a number that segments win and twice that */
#define ENOUGH_SECONDS 0.01   /* of runs of one engine; at least one */

typedef struct trial {
    sf_events events;
    sf_device *device; /* NULL: the CPU */
    sf_device_stream *stream;
    unsigned threads;
    uint32_t size;
    uint32_t *units, *delays, *counts;
} trial;

/* Independent units at constant rates: a stream for every machine alike. */
static int make_stream(sf_events *events, sf_error *error)
{
    sf_spike *spikes = sf_alloc(SPIKES, sizeof *spikes);
    if (spikes == NULL) return sf_fail_memory(error);
    sf_random random = sf_random_start(1, 0);
    int64_t time_ns = 0;
    for (uint32_t i = 0; i < SPIKES; i++) {
        time_ns += 1 + (int64_t)(-log(1 - sf_random_uniform(&random)) / RATE_HZ * 1e9);
        spikes[i] = (sf_spike){.time_ns = time_ns, .unit = (uint32_t)sf_random_below(&random, UNITS)};
    }
    int status = sf_events_open(events, spikes, SPIKES, UNITS, NULL, error);
    sf_free(spikes);
    return status;
}

static int open_trial(trial *t, sf_error *error)
{
    size_t nodes = (size_t)MOST_EPISODES * t->size;
    int status = make_stream(&t->events, error);
    t->units = sf_resize(NULL, nodes, sizeof *t->units);
    t->delays = sf_alloc(nodes, sizeof *t->delays);
    t->counts = sf_resize(NULL, MOST_EPISODES, sizeof *t->counts);
    if (status == SF_OK && (t->units == NULL || t->delays == NULL || t->counts == NULL))
        status = sf_fail_memory(error);
    sf_random random = sf_random_start(1, t->size);
    for (size_t i = 0; status == SF_OK && i < nodes; i++)
        t->units[i] = (uint32_t)sf_random_below(&random, UNITS);
    sf_stream spikes = sf_events_stream(&t->events);
    if (status == SF_OK && t->device != NULL)
        status = sf_device_stream_open(&t->stream, t->device, &spikes, error);
    return status;
}

static void close_trial(trial *t)
{
    sf_device_stream_close(t->stream);
    sf_events_close(&t->events);
    sf_free(t->units);
    sf_free(t->delays);
    sf_free(t->counts);
}

static int count_once(const trial *t, const sf_engine *engine, size_t count, sf_error *error)
{
    static const sf_delay delay = {4 * SF_MILLISECOND, 6 * SF_MILLISECOND};
    sf_candidates candidates = {t->size, count, t->units, t->delays, &delay, 1};
    sf_count_tally tally = {0};
    if (t->stream != NULL) {
        sf_backend_count job = {.engine = engine->name,
                                .last = t->events.count,
                                .candidates = &candidates,
                                .counts = t->counts,
                                .tally = &tally};
        return sf_device_count_episodes(t->stream, &job, error);
    }
    sf_count_job job = {&t->events, 0, t->events.count, &candidates, t->threads, 0, &tally};
    return engine->count(t->counts, &job, error);
}

/* The best of some runs: the first one on a device also prepares it. */
static int time_engine(const trial *t, const sf_engine *engine, size_t count, double *best, sf_error *error)
{
    int status = SF_OK;
    double start = sf_clock_seconds(), before = start, now = start;
    *best = INFINITY;
    for (int run = 0; run < 2 || (run < 9 && now - start < ENOUGH_SECONDS); run++) {
        status = count_once(t, engine, count, error);
        if (status != SF_OK) break;
        now = sf_clock_seconds();
        *best = fmin(*best, now - before);
        before = now;
    }
    return status;
}

static int ptpe_wins(const trial *t, uint32_t count, bool *wins, sf_error *error)
{
    double whole = 0, segments = 0;
    int status = time_engine(t, &sf_engine_ptpe, count, &whole, error);
    if (status == SF_OK) status = time_engine(t, &sf_engine_mtpe, count, &segments, error);
    *wins = whole <= segments;
    return status;
}

/* From a guess by doubling or halving, then by halving what is between. */
static int search(const trial *t, uint32_t *crossover, sf_error *error)
{
    uint32_t high = t->device != NULL ? GUESS_ON_DEVICE : 1;
    bool wins, sooner;
    int status = ptpe_wins(t, high, &wins, error);
    sooner = wins;
    while (status == SF_OK && !wins && high < MOST_EPISODES) {
        high *= 2;
        status = ptpe_wins(t, high, &wins, error);
    }
    while (status == SF_OK && sooner && high > 1) {
        status = ptpe_wins(t, high / 2, &sooner, error);
        high = sooner ? high / 2 : high;
    }
    uint32_t low = high / 2;
    for (int step = 0; step < HALVINGS && status == SF_OK && wins && high - low > 1; step++) {
        uint32_t middle = low + (high - low) / 2;
        status = ptpe_wins(t, middle, &sooner, error);
        *(sooner ? &high : &low) = middle;
    }
    *crossover = high;
    return status;
}

static int measure(uint32_t *crossover, sf_device *device, unsigned threads, uint32_t size, sf_error *error)
{
    trial t = {.device = device, .threads = threads, .size = size};
    int status = open_trial(&t, error);
    if (status == SF_OK) status = search(&t, crossover, error);
    close_trial(&t);
    return status;
}

/* ---- the two together ---- */

/* Devices of one kind share a line. */
static void describe(char *text, size_t size, sf_device *device, unsigned threads)
{
    if (device == NULL) {
        char name[128];
        sf_processor_name(name, sizeof name);
        snprintf(text, size, "%.120s, %u threads", name, threads);
        return;
    }
    sf_backend_facts facts;
    sf_device_facts(device, &facts);
    snprintf(text, size, "%s %.127s", sf_device_backend(device)->name, facts.description);
}

static int find(sf_crossover *crossover, sf_device *device, unsigned threads, entry *wanted, sf_error *error)
{
    if (!table.loaded) load();
    const entry *known = look_up(wanted->device, wanted->size);
    if (known != NULL) {
        *crossover = (sf_crossover){.episodes = known->episodes};
        return SF_OK;
    }
    double start = sf_clock_seconds();
    int status = measure(&wanted->episodes, device, threads, wanted->size, error);
    if (status != SF_OK) return status;
    *crossover = (sf_crossover){wanted->episodes, true, sf_clock_seconds() - start};
    add_entry(wanted);
    save();
    return SF_OK;
}

int sf_crossover_find(sf_crossover *crossover, sf_device *device, unsigned threads, uint32_t size,
                      sf_error *error)
{
    entry wanted = {.size = size};
    describe(wanted.device, sizeof wanted.device, device, threads);
    pthread_mutex_lock(&table.lock);
    int status = find(crossover, device, threads, &wanted, error);
    pthread_mutex_unlock(&table.lock);
    return status;
}

/* Fewer are counted by either engine before anything could be measured. */
#define LEAST_SPIKES 4000u

int sf_crossover_for(uint32_t *episodes, sf_device *device, unsigned threads, uint32_t size, uint32_t spikes,
                     sf_error *error)
{
    sf_crossover crossover = {0};
    bool parallel = device != NULL || threads > 1;
    int status = SF_OK;
    if (parallel && size > 1 && spikes >= LEAST_SPIKES)
        status = sf_crossover_find(&crossover, device, threads, size, error);
    *episodes = crossover.episodes;
    return status;
}
