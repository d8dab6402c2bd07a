/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Densities of every unit of every recording, as the command prints them and as a run publishes them: what
 * lies under a curve is 1, or it says what lies outside.
 */
#include "support/recordings.h"
#include "support/runs.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/thread.h"
#include "density/kernels.h"
#include "density/select.h"
#include "pipeline/densities.h"
#include "replay/recording_file.h"

#include <math.h>

static const char *const names[] = {
    "recordings/Demas2003_P9_CTRL_MY1_1A.h5",
    "recordings/Hennig2011_spikes_P5_Bic_10uM_16_Mar_2010_bic_day2.h5",
    "recordings/Kirkby2013_02_B2KO_P5.h5",
    "recordings/Maccione2014_P9_m1r2_bursts_filtered.h5",
    "recordings/Stafford2009_WT_37C_Dorsal_2008-02-08-0.h5",
    "recordings/Stafford2009_WT_37C_Dorsal_2008-10-11-0.h5",
    "recordings/Torborg2004_2001-10-22-0.h5",
    "recordings/Wong1993_P0.h5",
    "recordings/pynapple_A8604-211122.nwb",
};

enum { NAMES = sizeof names / sizeof names[0] };

/* Intervals between successive spikes of each unit, those of length 0 left out. Free with free_intervals. */
static sf_samples *intervals_of(const sf_recording *recording)
{
    size_t units = recording->units.count;
    sf_samples *all = calloc(units, sizeof *all);
    int64_t *before = malloc(units * sizeof *before);
    size_t *spikes = calloc(units, sizeof *spikes);
    for (size_t i = 0; i < recording->spike_count; i++)
        spikes[recording->spikes[i].unit]++;
    for (size_t u = 0; u < units; u++) {
        all[u] = (sf_samples){.d = 1, .tick = (double)recording->tick_ns * 1e-9};
        all[u].values = malloc((spikes[u] + 1) * sizeof *all[u].values);
        before[u] = INT64_MIN;
    }
    for (size_t i = 0; i < recording->spike_count; i++) {
        const sf_spike *spike = &recording->spikes[i];
        sf_samples *own = &all[spike->unit];
        if (before[spike->unit] != INT64_MIN && spike->time_ns > before[spike->unit])
            own->values[own->n++] = (double)(spike->time_ns - before[spike->unit]) * 1e-9;
        before[spike->unit] = spike->time_ns;
    }
    free(before);
    free(spikes);
    return all;
}

static void free_intervals(sf_samples *all, size_t units)
{
    for (size_t u = 0; u < units; u++)
        free(all[u].values);
    free(all);
}

static void the_clocks_step_is_found(void **state)
{
    (void)state;
    static const int64_t ticks[NAMES] = {50000, 100000, 10000000, 129836, 50000, 50000, 50000, 50000, 33000};
    size_t loaded = 0;
    for (size_t i = 0; i < NAMES; i++) {
        sf_recording recording;
        if (!test_load_recording(&recording, names[i])) continue;
        loaded++;
        if (llabs(recording.tick_ns - ticks[i]) > 1000)
            fail_msg("%s: a step of %lld ns, expected %lld", names[i], (long long)recording.tick_ns,
                     (long long)ticks[i]);
        sf_recording_clear(&recording);
    }
    if (loaded == 0) skip();
}

/*
 * Clocks of 20,000, 7,702 and, in whole microseconds, 30,000 Hz. The spikes of one unit are never one tick
 * apart: then the step found may be a few of them, and never less than one.
 */
static void the_step_is_found_in_rounded_times(void **state)
{
    (void)state;
    test_random random = test_random_start("tick", 3);
    static const double ticks[] = {50000, 129836.4, 33333.3}, roundings[] = {1, 1, 1000};
    for (int i = 0; i < 6; i++) {
        int c = i % 3, least = i < 3 ? 1 : 21;
        sf_tick tick = {0};
        int64_t before = 0;
        for (int64_t at = 0, k = 0; k < 2000; k++) {
            at += least + (int64_t)test_random_below(&random, 400);
            int64_t time = (int64_t)(round((double)at * ticks[c] / roundings[c]) * roundings[c]);
            sf_tick_add(&tick, time - before);
            before = time;
        }
        int64_t found = sf_tick_find(&tick);
        if (!((double)found > 0.9 * ticks[c] && (double)found < (least == 1 ? 1.1 : 5) * ticks[c]))
            fail_msg("clock %d from steps of %d ticks on: %lld ns", c, least, (long long)found);
    }
    /* What was drawn, and no clock stamped, has no step but that of its digits. */
    static const int64_t digits[] = {1, 1000, 1000000};
    for (int i = 0; i < 3; i++) {
        sf_tick drawn = {0};
        int64_t before = 0;
        for (double at = 0, k = 0; k < 500; k++) {
            at -= log(1 - test_random_unit(&random)) * 1e8;
            int64_t time = (int64_t)round(at / (double)digits[i]) * digits[i];
            sf_tick_add(&drawn, time - before);
            before = time;
        }
        assert_int_equal(sf_tick_find(&drawn), i > 0 ? digits[i] : 0);
    }
    /* A regular unit beside a clock of 1 us is no clock of 100 ms. */
    sf_tick paced = {0};
    for (int64_t k = 0; k < 16; k++)
        sf_tick_add(&paced, 100000000 + 1000 * (k % 4 - 2) + 100000000 * (k / 4));
    assert_int_equal(sf_tick_find(&paced), 1000);
    sf_tick tick = {0};
    assert_int_equal(sf_tick_find(&tick), 0);
    sf_tick_add(&tick, 0);
    assert_int_equal(sf_tick_find(&tick), 0);
    sf_tick_add(&tick, 700);
    sf_tick_add(&tick, 700);
    assert_true(sf_tick_find(&tick) == 700 && tick.count == 1);
    sf_tick_add(&tick, 500);
    assert_int_equal(sf_tick_find(&tick), 100);
    for (int64_t i = 0; i < 100; i++)
        sf_tick_add(&tick, 10000 - 100 * i);
    assert_true(tick.count == SF_TICK_STEPS && tick.steps[0] == 100 && tick.steps[15] == 1600);
}

/* ---- as the command prints them ---- */

/*
 * Every unit with enough samples: what is under the curve's straight lines, and whether a kernel is narrower
 * than the clock allows. `h` stands in for the bandwidth of isj where that takes long for a thousand units,
 * which is where the axis holds a million of them; 0: isj.
 */
typedef struct offline {
    const sf_samples *samples; /* by unit */
    sf_domain domain;
    double h;
    double worst[16]; /* by worker: the largest difference from 1 */
    size_t curves[16], points[16];
    char reason[16][1024];
} offline;

static void check_width(offline *all, unsigned worker, const sf_kernels *kernels, double tick)
{
    for (size_t i = 0; i < kernels->count; i++) {
        double least = all->domain == SF_DOMAIN_LOG ? fmin(tick / exp(kernels->at[i]), 1) : tick;
        if (kernels->width[i] < least * (1 - 1e-12))
            snprintf(all->reason[worker], sizeof all->reason[worker], "a kernel is narrower than a tick");
    }
}

static int check_unit(void *context, unsigned worker, size_t unit)
{
    offline *all = context;
    sf_samples samples = all->samples[unit];
    sf_bandwidth found = {0};
    sf_kernels kernels = {0};
    double *points = NULL, *values = NULL, mass = 0, outside;
    size_t count = 0;
    sf_error error = {0};
    sf_bandwidth_options how = {.domain = all->domain, .threads = 1};
    int status = SF_OK;
    if (samples.n < SF_SAMPLES_LEAST) goto done;
    found.h = all->h;
    if (all->h == 0) status = sf_bandwidth_select(&found, sf_selector_find("isj"), &samples, &how, &error);
    if (status == SF_DATA) { /* all equal */
        status = SF_OK;
        goto done;
    }
    if (status == SF_OK) status = sf_kernels_open(&kernels, &samples, found.h, all->domain, &error);
    if (status == SF_OK)
        status = sf_kernels_points(&kernels, found.h, found.h, 200000, &points, &count, &error);
    if (status != SF_OK) goto done;
    values = malloc(count * sizeof *values);
    sf_kernels_density(&kernels, values, points, count, 1, NULL, NULL);
    for (size_t k = 0; k + 1 < count; k++)
        mass += (values[k] + values[k + 1]) / 2 * (points[k + 1] - points[k]);
    outside = 1 - sf_kernels_share(&kernels, points[0], points[count - 1]);
    check_width(all, worker, &kernels, samples.tick);
    if (outside > 1e-3)
        snprintf(all->reason[worker], sizeof all->reason[worker], "unit %zu: %g outside", unit, outside);
    all->worst[worker] = fmax(all->worst[worker], fabs(mass - 1));
    all->curves[worker]++;
    all->points[worker] = count > all->points[worker] ? count : all->points[worker];
done:
    if (status != SF_OK)
        snprintf(all->reason[worker], sizeof all->reason[worker], "unit %zu: %s", unit, error.text);
    sf_bandwidth_free(&found);
    sf_kernels_close(&kernels);
    sf_free(points);
    free(values);
    return SF_OK;
}

static void check_curves(sf_domain domain, double ticks)
{
    size_t curves = 0, points = 0;
    double worst = 0;
    for (size_t i = 0; i < NAMES; i++) {
        sf_recording recording;
        if (!test_load_recording(&recording, names[i])) continue;
        sf_samples *samples = intervals_of(&recording);
        offline all = {.samples = samples, .domain = domain, .h = ticks * (double)recording.tick_ns * 1e-9};
        sf_parallel_for(sf_thread_cores() < 16 ? sf_thread_cores() : 16, recording.units.count, check_unit,
                        &all);
        for (int w = 0; w < 16; w++) {
            if (all.reason[w][0] != '\0') fail_msg("%s: %s", names[i], all.reason[w]);
            worst = fmax(worst, all.worst[w]);
            curves += all.curves[w];
            points = all.points[w] > points ? all.points[w] : points;
        }
        free_intervals(samples, recording.units.count);
        sf_recording_clear(&recording);
    }
    if (curves == 0) skip();
    printf("%zu curves, of %zu points at most: their integrals differ from 1 by at most %.2g\n", curves,
           points, worst);
    assert_true(curves > 1000 && worst < 0.01);
}

static void curves_of_intervals_integrate_to_one(void **state)
{
    (void)state;
    check_curves(SF_DOMAIN_LOG, 0);
}

static void curves_of_intervals_on_a_linear_axis_integrate_to_one(void **state)
{
    (void)state;
    check_curves(SF_DOMAIN_LINE, 4);
}

static void curves_of_reflected_intervals_integrate_to_one(void **state)
{
    (void)state;
    check_curves(SF_DOMAIN_REFLECT, 1);
}

/* ---- as a run publishes them ---- */

typedef struct published {
    size_t count, resolved; /* messages, and those whose bins are narrower than the bandwidth */
    double worst;           /* the largest difference of sum and outside from 1 */
    double most_outside;
    size_t bimodal; /* that show both intervals under 0.1 s and over 20 s */
    bool linear;
} published;

static void check_message(void *user, sf_message *message)
{
    published *all = user;
    const sf_density_message *density = &message->density;
    double sum = 0, step = density->grid_step, short_ones = 0, long_ones = 0;
    for (size_t k = 0; k < density->count; k++) {
        double share = density->values[k] * step, at = density->grid_start + step * (double)k;
        assert_true(density->values[k] >= 0);
        sum += share;
        short_ones += at < log(0.1) ? share : 0;
        long_ones += at > log(20) ? share : 0;
    }
    all->worst = fmax(all->worst, fabs(sum + density->outside - 1));
    all->most_outside = fmax(all->most_outside, density->outside);
    all->resolved += step < density->h;
    all->bimodal += density->log_axis && short_ones > 0.01 && long_ones > 0.01;
    all->linear = all->linear || !density->log_axis;
    all->count++;
    sf_message_release(message);
}

/* All spikes in hops of a minute through the densities of a run; the window is the recording. */
static void run_through(const sf_recording *recording, const char *yaml, published *all)
{
    sf_config config = test_config(yaml);
    sf_densities densities;
    sf_error error;
    if (sf_densities_open(&densities,
                          &(sf_densities_setup){.config = &config.live, .units = &recording->units},
                          &error) != SF_OK)
        fail_msg("%s", error.text);
    int64_t hop_ns = 60 * SF_SECOND, start_ns = recording->spikes[0].time_ns;
    for (size_t from = 0, to; from < recording->spike_count; from = to, start_ns += hop_ns) {
        to = sf_spikes_lower_bound(recording->spikes, recording->spike_count, start_ns + hop_ns);
        sf_window_change change = {.entered = recording->spikes + from,
                                   .entered_count = to - from,
                                   .hop = {start_ns, start_ns + hop_ns},
                                   .hop_ns = hop_ns,
                                   .window_start_ns = recording->spikes[0].time_ns};
        assert_int_equal(sf_densities_slide(&densities, &change, NULL), SF_OK);
    }
    assert_int_equal(sf_densities_tell(&densities, (sf_span){0, start_ns}, check_message, all, NULL), SF_OK);
    assert_true(llabs(densities.tick_ns - recording->tick_ns) <= recording->tick_ns / 4);
    sf_densities_close(&densities);
    sf_config_free(&config);
}

static void published_densities_integrate_to_one(void **state)
{
    (void)state;
    published intervals = {0}, rates = {0};
    for (size_t i = 0; i < NAMES; i++) {
        sf_recording recording;
        if (!test_load_recording(&recording, names[i])) continue;
        run_through(&recording,
                    "window: {length_s: 86400, hop_s: 60}\n"
                    "density: [{quantity: isi, unit: '*'}]\n",
                    &intervals);
        run_through(&recording,
                    "window: {length_s: 86400, hop_s: 60}\n"
                    "density: [{quantity: rate, unit: '*'}]\n",
                    &rates);
        sf_recording_clear(&recording);
    }
    if (intervals.count == 0) skip();
    printf("%zu of intervals, %zu of rates: sum and outside differ from 1 by at most %.2g, outside is at "
           "most %.2g\n",
           intervals.count, rates.count, fmax(intervals.worst, rates.worst),
           fmax(intervals.most_outside, rates.most_outside));
    assert_true(intervals.count > 1000 && rates.count > 100 && !intervals.linear);
    assert_true(intervals.worst < 1e-9 && rates.worst < 1e-9);
    assert_true(intervals.most_outside < 0.05 && rates.most_outside < 0.01); /* some pause for 1,000 s */
    assert_true(intervals.bimodal > 20); /* bursts and the pauses between waves, in one picture */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clocks_step_is_found),
        cmocka_unit_test(the_step_is_found_in_rounded_times),
        cmocka_unit_test(curves_of_intervals_integrate_to_one),
        cmocka_unit_test(curves_of_intervals_on_a_linear_axis_integrate_to_one),
        cmocka_unit_test(curves_of_reflected_intervals_integrate_to_one),
        cmocka_unit_test(published_densities_integrate_to_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
