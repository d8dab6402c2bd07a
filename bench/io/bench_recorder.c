/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the journal costs a recorder: spikes come in batches at a rate, as from the merge, and go into the
 * journal and the HDF5 file, or the file alone.
 *
 *     bench_recorder FOLDER [SECONDS]
 */
#include "core/clock.h"
#include "core/text.h"
#include "sinks/recorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define UNITS 1000
#define BATCH 8192

typedef struct measured {
    double took_s; /* less than that of the stream: it keeps up */
    double processor_s;
    double worst_s; /* that one batch took */
    sf_sink_status status;
} measured;

static double processor_seconds(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

static int once_a_second(sf_recorder *recorder, sf_error *error)
{
    int status = sf_recorder_flush(recorder, error);
    return status == SF_OK ? sf_recorder_check(recorder, error) : status;
}

/* rate 0: as fast as it goes. */
static int feed(sf_recorder *recorder, double rate, uint64_t spikes, measured *cost, sf_error *error)
{
    static sf_spike batch[BATCH];
    const sf_raw_batch raw = {.spikes = batch, .spike_count = BATCH};
    int64_t start = sf_clock_monotonic_ns(), due = start + SF_SECOND;
    double processor = processor_seconds();
    int status = SF_OK;
    for (uint64_t done = 0; status == SF_OK && done < spikes; done += BATCH) {
        for (uint32_t i = 0; i < BATCH; i++)
            batch[i] = (sf_spike){(int64_t)(done + i) * 100, (uint32_t)((done + i) * 7919 % UNITS), 1};
        if (rate > 0) sf_clock_sleep_until(start + (int64_t)((double)done / rate * 1e9));
        int64_t since = sf_clock_monotonic_ns();
        status = sf_recorder_raw(recorder, &raw, error);
        if (status == SF_OK && since >= due) {
            status = once_a_second(recorder, error);
            due = since + SF_SECOND;
        }
        double batch_s = (double)(sf_clock_monotonic_ns() - since) * 1e-9;
        cost->worst_s = batch_s > cost->worst_s ? batch_s : cost->worst_s;
    }
    cost->took_s = (double)(sf_clock_monotonic_ns() - start) * 1e-9;
    cost->processor_s = processor_seconds() - processor;
    sf_recorder_check(recorder, NULL);
    sf_recorder_account(recorder, &cost->status);
    return status;
}

static int measure(const char *folder, bool journal, double rate, double seconds, sf_error *error)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/bench_recorder.h5", folder);
    sf_recorder_settings settings = {SF_RECORDER_DEFAULTS};
    settings.sink.path = path;
    settings.sink.overwrite = true;
    settings.journal = journal;
    sf_units units = {0};
    const sf_unit unnamed = {0};
    for (int i = 0; i < UNITS; i++)
        sf_units_add(&units, &unnamed, NULL);
    const sf_stream_info stream = {.name = "bench", .units = &units};
    sf_recorder *recorder = NULL;
    measured cost = {0};
    int status = sf_recorder_open(&recorder, &settings, &stream, error);
    if (status == SF_OK) status = sf_recorder_begin(recorder, error);
    uint64_t spikes = (uint64_t)((rate > 0 ? rate : 1e7) * seconds);
    if (status == SF_OK) status = feed(recorder, rate, spikes, &cost, error);
    int64_t closing = sf_clock_monotonic_ns();
    int closed = recorder != NULL ? sf_recorder_close(recorder, status == SF_OK ? error : NULL) : SF_OK;
    double closing_s = (double)(sf_clock_monotonic_ns() - closing) * 1e-9;
    sf_units_free(&units);
    unlink(path);
    if (status != SF_OK || closed != SF_OK) return status != SF_OK ? status : closed;
    printf("%10.0f  %-7s %9.2f %10.1f %12.1f %12.1f %7" PRIu64 " %12.1f %9.2f\n", rate,
           journal ? "yes" : "no", (double)spikes / cost.took_s / 1e6,
           cost.processor_s / (double)spikes * 1e9, 100 * cost.processor_s / cost.took_s, cost.worst_s * 1e3,
           cost.status.syncs, cost.status.sync_max_ms, closing_s);
    return SF_OK;
}

int main(int count, char **arguments)
{
    double seconds = 5;
    if (count < 2 || (count > 2 && !sf_parse_real(arguments[2], &seconds))) {
        fputs("usage: bench_recorder FOLDER [SECONDS]\n", stderr);
        return 64;
    }
    puts("  spikes/s  journal  million/s   ns/spike   % of a core  worst batch   syncs   worst sync     "
         "close");
    puts("                                                                  ms                      ms       "
         "  s");
    const double rates[] = {1e6, 1e7, 0};
    for (size_t i = 0; i < 3; i++)
        for (int journal = 0; journal <= 1; journal++) {
            sf_error error;
            if (measure(arguments[1], journal, rates[i], seconds, &error) != SF_OK) {
                fprintf(stderr, "bench_recorder: %s: %s\n", error.place, error.text);
                return 1;
            }
        }
    return 0;
}
