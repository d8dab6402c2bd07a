/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/command/stream.h"

#include "core/backend/find.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/random.h"
#include "replay/simulation.h"

#include <inttypes.h>
#include <string.h>

static int simulate(sf_recording *stream, double seconds, sf_error *error)
{
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.unit_count = BENCH_UNITS;
    settings.rate_hz = (double)BENCH_RATE_HZ / BENCH_UNITS;
    settings.duration_ns = sf_seconds_to_ns(seconds);
    return sf_simulate(stream, NULL, &settings, NULL, error);
}

void bench_stream_episodes(sf_text *yaml, const char *key)
{
    sf_random random = sf_random_start(7, 0);
    sf_text_printf(yaml, "%s:\n", key);
    for (uint32_t e = 0; e < BENCH_TRACKED; e++) {
        sf_text_printf(yaml, "- '");
        for (uint32_t node = 0; node < 2 + e % 3; node++)
            sf_text_printf(yaml, "%s#%" PRIu64, node > 0 ? " -(0,5]-> " : "",
                           sf_random_below(&random, BENCH_UNITS));
        sf_text_printf(yaml, "'\n");
    }
}

static int run(const sf_run_options *options, double *seconds, sf_error *error)
{
    sf_run *running;
    int status = sf_run_open(&running, options, error);
    if (status != SF_OK) return status;
    sf_pipeline *pipeline = sf_run_pipeline(running);
    double begin = sf_clock_seconds();
    status = sf_pipeline_start(pipeline, error);
    while (status == SF_OK && !sf_pipeline_wait(pipeline, 100))
        if (app_stop_requested()) sf_pipeline_stop(pipeline);
    *seconds = sf_clock_seconds() - begin;
    int closed = sf_run_close(running, status == SF_OK ? error : NULL);
    if (status == SF_OK && closed == SF_OK && app_stop_requested())
        return sf_fail(error, SF_CANCELLED, NULL, "stopped");
    return status == SF_OK ? closed : status;
}

int bench_stream_run(const char *yaml, const sf_recording *stream, double speed, sf_outlet outlet,
                     double *seconds, sf_error *error)
{
    sf_config config;
    int status = sf_config_parse(&config, yaml, strlen(yaml), "bench", NULL, 0, error);
    if (status != SF_OK) return status;
    sf_run_options options = {.config = &config, .recording = stream, .speed = speed, .outlet = outlet};
    status = run(&options, seconds, error);
    sf_config_free(&config);
    return status;
}

int bench_stream_on_devices(const app_call *call, double seconds, bench_stream_measure *measure,
                            app_bench_rows *rows, sf_error *error)
{
    const char *devices[] = {app_value(call, "device", "cpu"), "auto"};
    size_t count = !app_has(call, "device") && sf_device_count() > 0 ? 2 : 1;
    if (!sf_device_may_be(devices[0]))
        return sf_fail(error, SF_USAGE, "--device",
                       "found '%s', expected auto, cpu, cuda, cuda:N or cuda:all", devices[0]);
    sf_recording stream;
    int status = simulate(&stream, seconds, error);
    if (status != SF_OK) return status;
    for (size_t i = 0; i < count && status == SF_OK; i++)
        status = measure(call, &stream, devices[i], rows, error);
    sf_recording_clear(&stream);
    return status;
}
