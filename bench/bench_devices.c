/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mining on the CPU and on every device, in one run.
 *   bench_devices file FILE LOW_MS HIGH_MS THRESHOLD      lines of name,seconds; all sizes up to 16
 *   bench_devices table FILE LOW_MS HIGH_MS 1             counting random episodes by each engine
 *   bench_devices array UNITS SECONDS THRESHOLD           simulated: 10 Hz a unit, ten planted chains of
 * four; (0,5] ms, up to size 4 Each line of output is one device: the job as a whole, laying out the spikes,
 * and the other sizes, as the median of several runs where one takes less than a second, after one that is
 * not counted. The first line is the CPU, and every other must find the same.
 */
#include "core/backend.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/thread.h"
#include "mine/engine.h"
#include "mine/mine.h"
#include "replay/csv.h"
#include "replay/simulation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define CHAINS 10
#define MOST_RUNS 11

typedef struct job {
    sf_recording recording;
    sf_truth truth;
    sf_delay delay;
    sf_mine_options options;
} job;

/* ---- jobs ---- */

static int read_job(job *j, char **arguments, sf_error *error)
{
    j->options.max_size = SF_EPISODE_MAX_SIZE;
    if (!sf_parse_scaled(arguments[1], 6, &j->delay.low_ns) ||
        !sf_parse_scaled(arguments[2], 6, &j->delay.high_ns) ||
        !sf_parse_real(arguments[3], &j->options.threshold))
        return SF_USAGE;
    return sf_csv_read(&j->recording, arguments[0], NULL, error);
}

/* Chains occur often enough that four in a row meet the threshold by themselves. */
static int simulate_job(job *j, char **arguments, sf_error *error)
{
    uint64_t units, seconds;
    if (!sf_parse_uint(arguments[0], 65535, &units) || !sf_parse_uint(arguments[1], 86400, &seconds) ||
        !sf_parse_real(arguments[2], &j->options.threshold) || units < 4 * CHAINS)
        return SF_USAGE;
    j->delay = (sf_delay){0, 5 * SF_MILLISECOND};
    j->options.max_size = 4;
    sf_simulation_chain chains[CHAINS];
    for (uint32_t c = 0; c < CHAINS; c++) {
        chains[c] = (sf_simulation_chain){.episode = {.size = 4},
                                          .rate_hz = 1.3 * j->options.threshold / (double)seconds};
        for (uint32_t n = 0; n < 4; n++)
            chains[c].episode.units[n] = (uint32_t)(units / (4 * CHAINS)) * (4 * c + n);
        for (uint32_t n = 0; n < 3; n++)
            chains[c].episode.delays[n] = j->delay;
    }
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.unit_count = (uint32_t)units;
    settings.rate_hz = 10;
    settings.duration_ns = (int64_t)seconds * SF_SECOND;
    settings.chains = chains;
    settings.chain_count = CHAINS;
    return sf_simulate(&j->recording, &j->truth, &settings, NULL, error);
}

/* ---- measuring ---- */

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static uint32_t chains_found(const job *j, const sf_mine_result *result)
{
    uint32_t found = 0;
    for (size_t c = 0; c < j->truth.chain_count; c++) {
        for (size_t i = 0; i < result->count; i++) {
            sf_episode episode;
            if (result->items[i].size != j->truth.chains[c].size)
                continue;
            sf_mine_result_episode(result, i, &episode);
            if (memcmp(episode.units, j->truth.chains[c].units, sizeof episode.units) == 0) {
                found++;
                break;
            }
        }
    }
    return found;
}

/* A number that two results share only if they are the same. */
static uint64_t fingerprint(const sf_mine_result *result)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < result->count; i++) {
        hash = (hash ^ result->items[i].node) * UINT64_C(1099511628211);
        hash = (hash ^ result->items[i].count) * UINT64_C(1099511628211);
    }
    return hash;
}

static void print_line(const job *j, const sf_mine_result *result, unsigned threads, double median,
                       size_t runs)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double deeper = 0;
    for (uint32_t i = 2; i < result->level_count; i++)
        deeper += result->levels[i].seconds;
    char where[48];
    snprintf(where, sizeof where, "%.31s", result->device);
    if (strcmp(result->device, "cpu") == 0)
        snprintf(where, sizeof where, "cpu, %u threads", threads);
    printf("%-16s %9.2f ms in %2zu runs; last: layout %8.2f, pairs %8.2f, longer %8.2f ms; host %5.0f MiB, "
           "device "
           "%6.0f MiB; frequent",
           where, median * 1e3, runs, result->levels[0].seconds * 1e3, result->levels[1].seconds * 1e3,
           deeper * 1e3, (double)usage.ru_maxrss / 1024, (double)result->device_memory / 1048576);
    for (uint32_t i = 0; i < result->level_count; i++)
        printf(" %" PRIu64, result->levels[i].frequent);
    if (j->truth.chain_count > 0)
        printf("; %" PRIu32 " of %zu chains", chains_found(j, result), j->truth.chain_count);
    printf("; %016" PRIx64 "%s%s\n", fingerprint(result), result->device_note[0] != '\0' ? "; " : "",
           result->device_note);
}

static int measure(job *j, const char *device, unsigned threads, sf_error *error)
{
    sf_mine_input input = {j->recording.spikes, j->recording.spike_count, &j->recording.units,
                           sf_recording_duration_ns(&j->recording)};
    double seconds[MOST_RUNS];
    size_t runs = 0;
    bool warm = strcmp(device, "cpu") == 0; /* a device's first job starts it */
    j->options.device = device;
    j->options.threads = threads;
    while (runs < MOST_RUNS) {
        sf_mine_result *result;
        int status = sf_mine(&result, &input, &j->options, NULL, error);
        if (status != SF_OK)
            return status;
        seconds[runs] = result->seconds;
        bool last = warm && (runs + 1 == MOST_RUNS || result->seconds > 1);
        runs += warm;
        warm = true;
        if (last) {
            qsort(seconds, runs, sizeof *seconds, compare);
            print_line(j, result, threads, seconds[runs / 2], runs);
        }
        sf_mine_result_free(result);
        if (last)
            break;
    }
    return SF_OK;
}

/* The engines of the paper on the same job, on each device. */
static int measure_engines(job *j, sf_error *error)
{
    int status = SF_OK;
    for (uint32_t d = 0; d < sf_device_count(); d++)
        for (size_t e = 0; sf_engines[e] != NULL && status == SF_OK; e++) {
            j->options.engine = sf_engines[e]->name;
            if (!sf_device_supports(sf_device_at(d), SF_OPERATION_COUNT, j->options.engine) ||
                sf_engines[e]->mine != NULL)
                continue;
            printf("%-9s ", j->options.engine);
            status = measure(j, sf_device_name(sf_device_at(d)), 1, error);
        }
    j->options.engine = NULL;
    return status;
}

static int measure_all(job *j, sf_error *error)
{
    double seconds = (double)sf_recording_duration_ns(&j->recording) * 1e-9;
    double spikes = (double)j->recording.spike_count;
    double pairs = spikes * spikes / seconds * (double)(j->delay.high_ns - j->delay.low_ns) * 1e-9;
    printf("%zu units, %zu spikes, %.1f s, (%g,%g] ms, threshold %g: about %.3g pairs of spikes\n",
           j->recording.units.count, j->recording.spike_count, seconds, (double)j->delay.low_ns * 1e-6,
           (double)j->delay.high_ns * 1e-6, j->options.threshold, pairs);
    int status = pairs < 1e9 ? measure(j, "cpu", 1, error) : SF_OK;
    if (status == SF_OK && sf_thread_cores() > 1)
        status = measure(j, "cpu", sf_thread_cores(), error);
    for (uint32_t i = 0; i < sf_device_count() && status == SF_OK; i++)
        status = measure(j, sf_device_name(sf_device_at(i)), 1, error);
    return status == SF_OK && j->options.max_size > 4 ? measure_engines(j, error) : status;
}

/* ---- counting ---- */

static double count_once(sf_counter *counter, uint64_t *counts)
{
    double best = 1e9;
    for (int run = 0; run < 4; run++) {
        double begin = sf_clock_seconds();
        if (sf_counter_count(counter, NULL, counts, NULL) != SF_OK)
            return 0;
        double seconds = sf_clock_seconds() - begin;
        best = seconds < best ? seconds : best;
    }
    return best;
}

/* Milliseconds to count `count` episodes of one size by each engine, on the CPU's threads and the first
 * device. */
static int count_table_row(const job *j, uint32_t size, size_t count, sf_error *error)
{
    sf_episode *episodes = sf_alloc(count, sizeof *episodes);
    uint64_t *counts = sf_alloc(count, sizeof *counts), sums[2] = {0};
    uint64_t state = size * UINT64_C(1000003) + count;
    int status = episodes != NULL && counts != NULL ? SF_OK : SF_NO_MEMORY;
    for (size_t i = 0; i < count && status == SF_OK; i++) {
        episodes[i].size = size;
        for (uint32_t n = 0; n < size; n++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
            episodes[i].units[n] = (uint32_t)((state >> 33) % j->recording.units.count);
            episodes[i].delays[n < SF_EPISODE_MAX_SIZE - 1 ? n : 0] = j->delay;
        }
    }
    printf("%" PRIu32 " %7zu ", size, count);
    for (size_t e = 0; sf_engines[e] != NULL && status == SF_OK; e++) {
        const char *engine = sf_engines[e]->name;
        if (sf_device_count() == 0 || strcmp(engine, "two-pass") == 0 ||
            !sf_device_supports(sf_device_at(0), SF_OPERATION_COUNT, engine))
            continue;
        sf_counter *counter;
        status = sf_counter_open(&counter, j->recording.spikes, j->recording.spike_count,
                                 j->recording.units.count, episodes, count, engine, 0, error);
        if (status == SF_OK)
            status = sf_counter_use(counter, sf_device_name(sf_device_at(0)), error);
        if (status != SF_OK)
            break;
        double seconds = count_once(counter, counts);
        sums[0] = 0;
        for (size_t i = 0; i < count; i++)
            sums[0] += counts[i] * (i + 1);
        printf(" %s %9.3f%s", engine, seconds * 1e3, sums[1] != 0 && sums[0] != sums[1] ? " DIFFERS" : "");
        sums[1] = sums[0];
        sf_counter_close(counter);
    }
    printf("\n");
    sf_free(episodes);
    sf_free(counts);
    return status;
}

static int count_table(const job *j, sf_error *error)
{
    sf_device *device;
    int status = sf_device_find(&device, "cuda", error);
    if (status != SF_OK)
        return status;
    printf("size, episodes, then ms to count them by each engine on %s\n", sf_device_name(sf_device_at(0)));
    for (uint32_t size = 2; size <= 8 && status == SF_OK; size += 2)
        for (size_t count = 10; count <= 100000 && status == SF_OK; count *= 10)
            status = count_table_row(j, size, count, error);
    return status;
}

int main(int count, char **arguments)
{
    job j = {0};
    sf_error error = {.text = "see the head of bench_devices.c for its arguments"};
    sf_mine_options_default(&j.options);
    j.options.delays = &j.delay;
    j.options.delay_count = 1;
    int status = SF_USAGE;
    bool table = count > 1 && strcmp(arguments[1], "table") == 0;
    if (count == 6 && (table || strcmp(arguments[1], "file") == 0))
        status = read_job(&j, arguments + 2, &error);
    else if (count == 5 && strcmp(arguments[1], "array") == 0)
        status = simulate_job(&j, arguments + 2, &error);
    if (status == SF_OK)
        status = table ? count_table(&j, &error) : measure_all(&j, &error);
    sf_recording_free(&j.recording);
    sf_truth_free(&j.truth);
    sf_devices_close();
    if (status != SF_OK)
        fprintf(stderr, "bench_devices: %s\n", error.text);
    return status == SF_OK ? 0 : 1;
}
