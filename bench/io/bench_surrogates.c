/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long significance takes: surrogates of one mining job, on the CPU, on every device, and divided among
 * two, four ... and all; or on the DEVICE alone, of cuda:all on one and more of them.
 *   bench_surrogates FILE LOW_MS HIGH_MS THRESHOLD [SURROGATES [DEVICE]]
 * Segment-shift surrogates of all sizes up to 16, corrected for all candidates searched, and for the frequent
 * episodes alone. Each line is the best of three runs where one takes less than 5 s.
 */
#include "core/backend/crew.h"
#include "core/backend/find.h"
#include "core/error.h"
#include "core/text.h"
#include "mine/significance.h"
#include "replay/csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct job {
    sf_recording recording;
    sf_delay delay;
    sf_mining_options mining;
    sf_significance_options options;
} job;

static int read_job(job *j, int count, char **arguments, sf_error *error)
{
    uint64_t surrogates = 1000;
    if (count < 5 || !sf_parse_scaled(arguments[2], 6, &j->delay.low_ns) ||
        !sf_parse_scaled(arguments[3], 6, &j->delay.high_ns) ||
        !sf_parse_real(arguments[4], &j->mining.threshold) ||
        (count > 5 && !sf_parse_uint(arguments[5], 1000000, &surrogates)))
        return sf_fail(error, SF_USAGE, NULL, "expected FILE LOW_MS HIGH_MS THRESHOLD [SURROGATES [DEVICE]]");
    j->options.surrogates = (uint32_t)surrogates;
    return sf_csv_read(&j->recording, arguments[1], NULL, NULL, error);
}

/* Seconds of one test, and the gist of what it found: the sums of p and q of what could be tested. */
static int time_once(const job *j, sf_significance *told, double gist[2], sf_error *error)
{
    sf_mine_input input = {.spikes = j->recording.spikes,
                           .spike_count = j->recording.spike_count,
                           .units = &j->recording.units,
                           .duration_ns = sf_recording_duration_ns(&j->recording)};
    sf_mine_result *result;
    int status = sf_mine_spikes(&result, &input, &j->mining, NULL, error);
    if (status != SF_OK) return status;
    status = sf_significance_test(told, result, &input, &j->mining, &j->options, NULL, error);
    gist[0] = gist[1] = 0;
    for (size_t i = 0; i < result->count; i++) {
        const sf_mine_item *item = &result->items[i];
        gist[0] += isnan(item->p) ? 0 : item->p;
        gist[1] += isnan(item->q) ? 0 : item->q;
    }
    sf_mine_result_free(result);
    return status;
}

static int measure(job *j, const char *device, sf_error *error)
{
    j->mining.device = j->options.device = device;
    for (int found_only = 0; found_only < 2; found_only++) {
        j->options.found_only = found_only;
        sf_significance told;
        double best = INFINITY, gist[2];
        for (int run = 0; run < 3; run++) {
            int status = time_once(j, &told, gist, error);
            if (status != SF_OK) return status;
            best = fmin(best, told.ran.seconds);
            if (told.ran.seconds > 5) break;
        }
        uint64_t candidates = 0;
        for (uint32_t size = 2; size <= SF_EPISODE_MAX_SIZE; size++)
            candidates += told.candidates[size];
        printf("| %s | %s | %" PRIu64 " | %" PRIu32 " | %.3f | %.6f %.6f |%s\n", told.ran.device,
               found_only ? "frequent" : "searched", candidates, j->options.surrogates, best, gist[0],
               gist[1], told.ran.note);
        fflush(stdout);
    }
    return SF_OK;
}

/* Divided among `from` devices, twice as many and so on, and all. */
static int measure_all_devices(job *j, uint32_t from, const char *all, sf_error *error)
{
    uint32_t count = sf_device_count();
    int status = SF_OK;
    for (uint32_t n = from; n <= count && status == SF_OK; n = n < count && 2 * n > count ? count : 2 * n) {
        sf_devices_set_worth(0, n);
        status = measure(j, all, error);
    }
    return status;
}

static int measure_everywhere(job *j, sf_error *error)
{
    uint32_t count = sf_device_count();
    int status = measure(j, "cpu", error);
    for (uint32_t i = 0; status == SF_OK && i < count; i++)
        status = measure(j, sf_device_name(sf_device_at(i)), error);
    if (status != SF_OK || count < 2) return status;
    char all[32];
    snprintf(all, sizeof all, "%.16s" SF_ALL_DEVICES, sf_device_backend(sf_device_at(0))->name);
    return measure_all_devices(j, 2, all, error);
}

int main(int count, char **arguments)
{
    job j = {0};
    sf_error error;
    j.mining = sf_mining_options_default();
    j.options = sf_significance_options_default();
    j.options.always = true; /* what takes time is to be seen, whatever the verdicts are worth */
    j.mining.delays = &j.delay;
    j.mining.delay_count = 1;
    j.mining.max_size = SF_EPISODE_MAX_SIZE;
    int status = read_job(&j, count, arguments, &error);
    if (status == SF_OK)
        printf("| device | candidates | number | surrogates | s | sums of p and q "
               "|\n|---|---|---|---|---|---|\n");
    if (status == SF_OK && count <= 6)
        status = measure_everywhere(&j, &error);
    else if (status == SF_OK && strstr(arguments[6], SF_ALL_DEVICES) != NULL)
        status = measure_all_devices(&j, 1, arguments[6], &error);
    else if (status == SF_OK)
        status = measure(&j, arguments[6], &error);
    if (status != SF_OK) fprintf(stderr, "%s\n", error.text);
    sf_recording_clear(&j.recording);
    return status == SF_OK ? 0 : 1;
}
