/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Densities of a live run: what follows the window by adding and removing is held against the samples of each
 * window alone.
 */
#include "support/runs.h"

#include "core/clock.h"
#include "density/aggregate.h"
#include "density/kernels.h"
#include "density/select.h"
#include "pipeline/densities.h"
#include "window/watch.h"

#include <math.h>

#define MS INT64_C(1000000)

typedef struct sample_list {
    double values[20000];
    size_t count;
    size_t left_out; /* outside the range that live densities have */
    double tick;
} sample_list;

/* Whether nothing was observed for a while after the first of two spikes and before the second. */
static bool gap_between(const sf_recording *recording, int64_t before_ns, int64_t time_ns)
{
    for (size_t i = 0; i < recording->observed_count; i++)
        if (before_ns < recording->observed[i].stop_ns && recording->observed[i].stop_ns <= time_ns)
            return true;
    return false;
}

/* Intervals of the unit whose later spike lies in the window; none across a gap, nor under 20 us. */
static void collect_intervals(sample_list *list, const sf_recording *recording, const char *unit,
                              sf_span window)
{
    int64_t before = INT64_MIN;
    for (size_t i = 0; i < recording->spike_count; i++) {
        const sf_spike *spike = &recording->spikes[i];
        if (strcmp(recording->units.items[spike->unit].name, unit) != 0) continue;
        bool inside = spike->time_ns >= window.start_ns && spike->time_ns < window.stop_ns;
        bool follows = inside && before != INT64_MIN && spike->time_ns > before &&
                       !gap_between(recording, before, spike->time_ns);
        list->left_out += follows && spike->time_ns - before < 20000;
        if (follows && spike->time_ns - before >= 20000)
            list->values[list->count++] = (double)(spike->time_ns - before) * 1e-9;
        before = spike->time_ns;
    }
}

/* Delays of the occurrences that complete in the window, as a watch of the whole stream finds them. */
static void collect_delays(sample_list *list, const sf_recording *recording, const char *text, sf_span window)
{
    sf_episode episode;
    sf_watch *watch;
    assert_int_equal(sf_episode_parse(&episode, text, &recording->units, NULL), SF_OK);
    assert_int_equal(sf_watch_open(&watch, &episode, 1, recording->units.count, 0, NULL), SF_OK);
    for (size_t i = 0; i < recording->spike_count; i++) {
        const sf_completion *completion;
        if (sf_watch_advance(watch, &recording->spikes[i], &completion) == 0) continue;
        const int64_t *times = completion->spike_times_ns + completion->size - 2;
        if (times[1] >= window.start_ns && times[1] < window.stop_ns)
            list->values[list->count++] = (double)(times[1] - times[0]) * 1e-9;
    }
    sf_watch_close(watch);
}

/* Rates of the unit in the whole hops of one stretch of the stream, up to the end of the window. */
static void collect_rates_of(sample_list *list, const sf_recording *recording, const char *unit, sf_span span,
                             int64_t hop_ns)
{
    for (int64_t from = span.start_ns; from + hop_ns <= span.stop_ns; from += hop_ns) {
        uint64_t spikes = 0;
        for (size_t i = 0; i < recording->spike_count; i++)
            spikes += strcmp(recording->units.items[recording->spikes[i].unit].name, unit) == 0 &&
                      recording->spikes[i].time_ns >= from && recording->spikes[i].time_ns < from + hop_ns;
        list->values[list->count++] = (double)spikes / ((double)hop_ns * 1e-9);
    }
}

/* From the stream's first spike on, or from where each stretch of observation begins. */
static void collect_rates(sample_list *list, const sf_recording *recording, const char *unit, sf_span window,
                          int64_t hop_ns)
{
    int64_t first_ns = recording->spikes[0].time_ns;
    if (recording->observed_count == 0)
        collect_rates_of(list, recording, unit, (sf_span){first_ns, window.stop_ns}, hop_ns);
    for (size_t i = 0; i < recording->observed_count; i++) {
        sf_span span = recording->observed[i];
        span.start_ns = span.start_ns > first_ns ? span.start_ns : first_ns;
        span.stop_ns = span.stop_ns < window.stop_ns ? span.stop_ns : window.stop_ns;
        collect_rates_of(list, recording, unit, span, hop_ns);
    }
}

/* The bandwidth that the commands choose for these samples. */
static double select_h(const sample_list *list, sf_domain domain)
{
    sf_bandwidth found;
    sf_samples samples = {
        .values = (double *)(uintptr_t)list->values, .n = list->count, .d = 1, .tick = list->tick};
    sf_bandwidth_options how = {.domain = domain, .threads = 1};
    sf_error error;
    if (sf_bandwidth_select(&found, sf_selector_find("isj"), &samples, &how, &error) != SF_OK)
        fail_msg("%s", error.text);
    double h = found.h;
    sf_bandwidth_free(&found);
    return h;
}

/* Averages over bins of the density of these samples, in closed form. */
static void assert_density(const sf_density_message *density, const sample_list *list, sf_domain domain)
{
    sf_samples samples = {
        .values = (double *)(uintptr_t)list->values, .n = list->count, .d = 1, .tick = list->tick};
    sf_kernels kernels;
    double step = density->grid_step, sum = 0, held = (double)list->count;
    held /= held + (double)list->left_out;
    /* beyond 100 ticks live samples that are tied stay where they are */
    double tolerance = domain == SF_DOMAIN_LOG ? 2e-4 : 1e-11;
    assert_int_equal(sf_kernels_open(&kernels, &samples, density->h, domain, NULL), SF_OK);
    assert_true(density->log_axis == (domain == SF_DOMAIN_LOG));
    for (size_t k = 0; k < density->count; k++) {
        double at = density->grid_start + step * (double)k;
        double share = held * sf_kernels_share(&kernels, at - step / 2, at + step / 2);
        sum += density->values[k] * step;
        if (!(fabs(density->values[k] * step - share) < tolerance))
            fail_msg("%s at %g: %.17g, expected %.17g", density->quantity, at, density->values[k] * step,
                     share);
    }
    double from = density->grid_start - step / 2, to = from + step * (double)density->count;
    assert_true(fabs(density->outside - 1 + held * sf_kernels_share(&kernels, from, to)) < tolerance);
    assert_true(fabs(sum + density->outside - 1) < 1e-12);
    assert_true(density->outside < 1 - held + 2e-3 || domain == SF_DOMAIN_REFLECT);
    sf_kernels_close(&kernels);
}

/* Observed: from the first spike. */
static void check_live(sf_span *observed, size_t observed_count)
{
    test_random random = test_random_start("live densities", 41);
    sf_recording recording = test_random_recording(&random, 9000, 3, INT64_C(30000000000), 1000);
    for (size_t i = 0; i < observed_count; i++) {
        observed[i].start_ns += recording.spikes[0].time_ns;
        observed[i].stop_ns += recording.spikes[0].time_ns;
    }
    recording.observed = observed;
    recording.observed_count = observed_count;
    sf_config config = test_config("window: {length_s: 7, hop_s: 0.5}\n"
                                   "mine: {every: 0}\n"
                                   "density: [{quantity: isi, unit: e1, grid: 100, reselect: 0},"
                                   " {quantity: delay, episode: 'e2 -(0,40]-> e1', grid: 100, reselect: 0},"
                                   " {quantity: rate, unit: e3, grid: 100, reselect: 0}]\n");
    test_collector *all = test_collector_new();
    test_run_to_end(&config, &recording, 0, all);
    size_t seen[3] = {0};
    for (size_t i = 0; i < all->count; i++) {
        if (all->messages[i]->topic != SF_TOPIC_DENSITY) continue;
        const sf_density_message *density = &all->messages[i]->density;
        static sample_list list;
        list = (sample_list){.tick = 1e-6};
        if (strcmp(density->quantity, "isi e1") == 0) {
            collect_intervals(&list, &recording, "e1", density->window);
            assert_density(density, &list, SF_DOMAIN_LOG);
            assert_true(fabs(density->h / select_h(&list, SF_DOMAIN_LOG) - 1) < 1e-2);
            seen[0]++;
        } else if (strncmp(density->quantity, "delay ", 6) == 0) {
            collect_delays(&list, &recording, "e2 -(0,40]-> e1", density->window);
            assert_density(density, &list, SF_DOMAIN_REFLECT);
            assert_true(fabs(density->h / select_h(&list, SF_DOMAIN_REFLECT) - 1) < 1e-7);
            seen[1]++;
        } else {
            assert_string_equal(density->quantity, "rate e3");
            list.tick = 2; /* one spike a hop */
            collect_rates(&list, &recording, "e3", density->window, 500 * MS);
            assert_density(density, &list, SF_DOMAIN_REFLECT);
            assert_true(density->h > 1.999); /* one spike a hop is 2 Hz */
            seen[2]++;
        }
    }
    assert_true(seen[0] > 50 && seen[1] > 50 && seen[2] > 2); /* 50 hops make the first rates */
    test_collector_free(all);
    sf_config_free(&config);
    recording.observed = NULL;
    sf_recording_clear(&recording);
}

static void the_live_density_is_that_of_the_windows_samples(void **state)
{
    (void)state;
    check_live(NULL, 0);
}

/* As the commands have it: none of what lies across a gap in the observation is a sample. */
static void gaps_in_the_observation_are_no_silences(void **state)
{
    (void)state;
    sf_span observed[] = {{100 * MS, 9300 * MS}, {9700 * MS, 20000 * MS}, {20250 * MS, 29999 * MS}};
    check_live(observed, 3);
}

/* ---- without a run ---- */

typedef struct told {
    size_t count;
    char last[64];
    double h;
} told;

static void keep(void *user, sf_message *message)
{
    told *all = user;
    all->count++;
    memcpy(all->last, message->density.quantity, sizeof all->last);
    all->h = message->density.h;
    sf_message_release(message);
}

static void make_units(sf_units *units, size_t count)
{
    *units = (sf_units){0};
    for (size_t i = 0; i < count; i++)
        assert_int_equal(sf_units_add(units, &(sf_unit){.x_um = NAN, .y_um = NAN, .electrode = -1}, NULL),
                         SF_OK);
    assert_int_equal(sf_units_finish(units, NULL), SF_OK);
}

static void open_densities(sf_densities *densities, const sf_config *config, const sf_units *units)
{
    const sf_densities_setup setup = {.config = &config->live, .units = units};
    assert_int_equal(sf_densities_open(densities, &setup, NULL), SF_OK);
}

/* One hop of a second with `count` spikes of the unit, unevenly apart. */
static void hop(sf_densities *densities, size_t number, uint32_t unit, size_t count, told *all)
{
    static sf_spike spikes[1000];
    for (size_t i = 0; i < count; i++) {
        double share = ((double)i + 0.3 * sin((double)(i * i))) / (double)count;
        spikes[i] = (sf_spike){.time_ns = (int64_t)(((double)number + share) * 1e9) + 1, .unit = unit};
    }
    int64_t start_ns = (int64_t)number * SF_SECOND;
    sf_window_change change = {.entered = spikes,
                               .entered_count = count,
                               .hop = {start_ns, start_ns + SF_SECOND},
                               .hop_ns = SF_SECOND,
                               .window_start_ns = 0}; /* nothing leaves */
    assert_int_equal(sf_densities_slide(densities, &change, NULL), SF_OK);
    assert_int_equal(sf_densities_tell(densities, (sf_span){0, 1}, keep, all, NULL), SF_OK);
}

static void of_every_unit_those_are_told_that_changed(void **state)
{
    (void)state;
    sf_units units;
    make_units(&units, 3);
    sf_config config = test_config("density: [{quantity: isi, unit: '*', reselect: 0.5}]\n");
    sf_densities densities;
    open_densities(&densities, &config, &units);
    told all = {0};
    hop(&densities, 0, 1, 40, &all); /* 39 intervals: not enough */
    assert_int_equal(all.count, 0);
    hop(&densities, 1, 1, 60, &all); /* 99 */
    assert_int_equal(all.count, 1);
    assert_non_null(strstr(all.last, "isi "));
    hop(&densities, 2, 1, 80, &all); /* 80 more are not half of 179 */
    assert_int_equal(all.count, 1);
    hop(&densities, 3, 1, 60, &all); /* 140 of 239 are */
    assert_int_equal(all.count, 2);
    hop(&densities, 4, 0, 60, &all);
    assert_int_equal(all.count, 3);
    sf_densities_close(&densities);
    sf_config_free(&config);
    sf_units_free(&units);
}

/* All messages, one after the other. */
typedef struct told_bytes {
    char *bytes;
    size_t size, count;
} told_bytes;

static void append(void *user, sf_message *message)
{
    told_bytes *all = user;
    const sf_density_message *d = &message->density;
    size_t values = d->count * sizeof *d->values, more = sizeof d->quantity + values + 4 * sizeof(double);
    const double numbers[4] = {d->h, d->grid_start, d->grid_step, d->outside};
    all->bytes = realloc(all->bytes, all->size + more);
    memcpy(all->bytes + all->size, d->quantity, sizeof d->quantity);
    memcpy(all->bytes + all->size + sizeof d->quantity, numbers, sizeof numbers);
    memcpy(all->bytes + all->size + sizeof d->quantity + sizeof numbers, d->values, values);
    all->size += more;
    all->count++;
    sf_message_release(message);
}

static void follow_many(told_bytes *all, unsigned threads, sf_units *units)
{
    char yaml[200];
    snprintf(yaml, sizeof yaml,
             "mine: {threads: %u}\ndensity: [{quantity: isi, unit: '*'}, {quantity: rate, unit: '*'}]\n",
             threads);
    sf_config config = test_config(yaml);
    sf_densities densities;
    test_random random = test_random_start("densities on threads", 3);
    open_densities(&densities, &config, units);
    for (int64_t i = 0; i < 60; i++) {
        enum { HOP_SPIKES = 2000 };
        static sf_spike spikes[HOP_SPIKES];
        for (int64_t s = 0; s < HOP_SPIKES; s++)
            spikes[s] = (sf_spike){.time_ns = i * SF_SECOND + s * (SF_SECOND / HOP_SPIKES),
                                   .unit = (uint32_t)test_random_below(&random, units->count)};
        sf_window_change change = {.entered = spikes,
                                   .entered_count = HOP_SPIKES,
                                   .hop = {i * SF_SECOND, (i + 1) * SF_SECOND},
                                   .hop_ns = SF_SECOND,
                                   .window_start_ns = (i - 40) * SF_SECOND};
        assert_int_equal(sf_densities_slide(&densities, &change, NULL), SF_OK);
        assert_int_equal(sf_densities_tell(&densities, (sf_span){0, 1}, append, all, NULL), SF_OK);
    }
    unsigned expected = threads < 6 ? threads : 6; /* of 100 units */
    assert_int_equal(densities.plans[0].worker_count, expected);
    sf_densities_close(&densities);
    sf_config_free(&config);
}

/* The same messages in the same order. */
static void threads_change_nothing(void **state)
{
    (void)state;
    sf_units units;
    make_units(&units, 100);
    told_bytes one = {0}, several = {0};
    follow_many(&one, 1, &units);
    follow_many(&several, 5, &units);
    assert_true(one.count > 300);
    assert_int_equal(one.count, several.count);
    assert_int_equal(one.size, several.size);
    assert_memory_equal(one.bytes, several.bytes, one.size);
    free(one.bytes);
    free(several.bytes);
    sf_units_free(&units);
}

static void rates_find_room_as_they_rise(void **state)
{
    (void)state;
    sf_units units;
    make_units(&units, 1);
    sf_config config = test_config("window: {length_s: 10, hop_s: 1}\n"
                                   "density: [{quantity: rate, unit: '#0', method: silverman}]\n");
    sf_densities densities;
    open_densities(&densities, &config, &units);
    told all = {0};
    double sum = 0, squares = 0;
    size_t hops = SF_DENSITY_RATES + 200;
    for (size_t i = 0; i < hops; i++) {
        size_t spikes = i < 100 ? 5 + i % 11 : 300 + (i * i) % 97;
        hop(&densities, i, 0, spikes, &all);
        if (i + SF_DENSITY_RATES >= hops) { /* the rates that are kept */
            sum += (double)spikes;
            squares += (double)spikes * (double)spikes;
        }
    }
    assert_int_equal(all.count, hops - 49);
    double n = SF_DENSITY_RATES, sigma = sqrt((squares - sum * sum / n) / (n - 1));
    assert_true(densities.plans[0].live.options.most >= 396);
    assert_int_equal(densities.plans[0].states[0].left_out, 0);
    sf_spectrum *spectrum = &densities.plans[0].live.spectrum;
    assert_int_equal(sf_spectrum_update(spectrum, &densities.plans[0].states[0].state, NULL), SF_OK);
    assert_true(fabs(spectrum->mean - sum / n) < 1e-9);
    assert_true(fabs(spectrum->sigma / sigma - 1) < 1e-9);
    sf_densities_close(&densities);
    sf_config_free(&config);
    sf_units_free(&units);
}

static sf_message *kept;

static void keep_message(void *user, sf_message *message)
{
    (void)user;
    sf_message_release(kept);
    kept = message;
}

/* Two hops come and the first goes: the map is that of the positions of the spikes that are left. */
static void positions_are_those_of_the_windows_spikes(void **state)
{
    (void)state;
    static const double xy[6][2] = {{0, 0}, {100, 30}, {40, 200}, {NAN, NAN}, {160, 90}, {20, 110}};
    sf_units units = {0};
    for (int u = 0; u < 6; u++)
        assert_int_equal(
            sf_units_add(&units, &(sf_unit){.x_um = xy[u][0], .y_um = xy[u][1], .electrode = -1}, NULL),
            SF_OK);
    assert_int_equal(sf_units_finish(&units, NULL), SF_OK);
    sf_config config = test_config("density: [{quantity: position, grid: 20, reselect: 0}]\n");
    sf_densities densities;
    open_densities(&densities, &config, &units);
    sf_spike spikes[300];
    for (int i = 0; i < 300; i++)
        spikes[i] = (sf_spike){.time_ns = i, .unit = (uint32_t)(i * i % 11 + i % 3) % 6};
    for (int i = 0; i < 3; i++) {
        sf_window_change change = {.entered = spikes + 100 * i,
                                   .entered_count = 100,
                                   .hop = {100 * i, 100 * i + 100},
                                   .hop_ns = 100,
                                   .window_start_ns = 50 * i};
        assert_int_equal(sf_densities_slide(&densities, &change, NULL), SF_OK);
        assert_int_equal(sf_densities_tell(&densities, (sf_span){0, 1}, keep_message, NULL, NULL), SF_OK);
    }
    double samples[600], x[20], y[20], values[400];
    size_t n = 0;
    for (int i = 100; i < 300; i++)
        if (isfinite(xy[spikes[i].unit][0]))
            memcpy(&samples[2 * n++], xy[spikes[i].unit], 2 * sizeof *samples);
    assert_non_null(kept);
    const sf_density_message *density = &kept->density;
    assert_string_equal(density->quantity, "position");
    assert_int_equal(density->rows, 20);
    assert_int_equal(density->count, 400);
    assert_true(fabs(density->h - pow((double)n, -1.0 / 6)) < 1e-15);
    enum { FINE = 16 };
    double dx = density->grid_step, dy = density->row_step, sum = 0;
    assert_true(fabs(density->grid_start - dx / 2 + 8) < 1e-9 &&
                fabs(density->row_start - dy / 2 + 10) < 1e-9);
    assert_true(fabs(20 * dx - 176) < 1e-9 && fabs(20 * dy - 220) < 1e-9);
    for (int k = 0; k < 400; k++) { /* the average over a cell */
        for (int i = 0; i < FINE; i++) {
            x[i] = density->grid_start + dx * (k % 20 + (i + 0.5) / FINE - 0.5);
            y[i] = density->row_start + dy * (k / 20 + (i + 0.5) / FINE - 0.5);
        }
        assert_int_equal(
            sf_density_evaluate_plane(values, x, FINE, y, FINE, samples, NULL, n, density->h, 1, NULL, NULL),
            SF_OK);
        double average = 0;
        for (int i = 0; i < FINE * FINE; i++)
            average += values[i] / (FINE * FINE);
        assert_true(fabs(density->values[k] - average) < 0.15 / (176 * 220)); /* of an even density */
        sum += density->values[k] * dx * dy;
    }
    const double from[2] = {-8, -10}, to[2] = {168, 210};
    sf_range_moments inside;
    assert_int_equal(sf_box_moments(&inside, samples, n, 2, density->h, from, to, NULL, NULL), SF_OK);
    assert_true(fabs(sum + density->outside - 1) < 1e-9 && fabs(sum - inside.share) < 0.01);
    sf_message_release(kept);
    kept = NULL;
    sf_densities_close(&densities);
    sf_config_free(&config);
    sf_units_free(&units);
}

static void what_no_density_can_be_of_is_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"density: [{quantity: isi, unit: nobody}]\n", "nobody"},
        {"density: [{quantity: delay, episode: '*'}]\n", "no episode under `track`"},
        {"density: [{quantity: delay, episode: '#0'}]\n", "one unit"},
        {"density: [{quantity: position}]\n", "units at several x"},
    };
    sf_units units;
    make_units(&units, 2);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sf_config config = test_config(bad[i][0]);
        sf_densities densities;
        sf_error error;
        test_assert_fails(sf_densities_open(&densities,
                                            &(sf_densities_setup){.config = &config.live, .units = &units},
                                            &error),
                          &error, SF_CONFIG, bad[i][1]);
        sf_config_free(&config);
    }
    sf_units_free(&units);
}

typedef struct scenario {
    sf_config config;
    sf_units units;
    sf_spike spikes[200];
} scenario;

static int follow_once(void *context)
{
    scenario *what = context;
    sf_densities densities;
    told all = {0};
    int status = sf_densities_open(
        &densities, &(sf_densities_setup){.config = &what->config.live, .units = &what->units}, NULL);
    for (int i = 0; status == SF_OK && i < 2; i++) {
        sf_window_change change = {.entered = what->spikes + 100 * i,
                                   .entered_count = 100,
                                   .hop = {100 * i * MS, 100 * (i + 1) * MS},
                                   .hop_ns = 100 * MS,
                                   .window_start_ns = 50 * i * MS};
        status = sf_densities_slide(&densities, &change, NULL);
        if (status == SF_OK) status = sf_densities_tell(&densities, (sf_span){0, 1}, keep, &all, NULL);
    }
    sf_densities_close(&densities);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    scenario what = {.config =
                         test_config("window: {length_s: 1, hop_s: 0.1}\n"
                                     "track: ['#0 -(0,5]-> #1']\n"
                                     "density: [{quantity: isi, unit: '*'}, {quantity: delay, episode: '*'},"
                                     " {quantity: rate, unit: '#0'}, {quantity: position}]\n")};
    for (int u = 0; u < 3; u++)
        assert_int_equal(
            sf_units_add(&what.units, &(sf_unit){.x_um = u, .y_um = u * u, .electrode = -1}, NULL), SF_OK);
    assert_int_equal(sf_units_finish(&what.units, NULL), SF_OK);
    for (int i = 0; i < 200; i++)
        what.spikes[i] = (sf_spike){.time_ns = i * MS + i % 13 * 1000, .unit = (uint32_t)i % 3};
    test_fail_every_allocation(follow_once, &what);
    sf_config_free(&what.config);
    sf_units_free(&what.units);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_live_density_is_that_of_the_windows_samples),
        cmocka_unit_test(gaps_in_the_observation_are_no_silences),
        cmocka_unit_test(of_every_unit_those_are_told_that_changed),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(rates_find_room_as_they_rise),
        cmocka_unit_test(positions_are_those_of_the_windows_spikes),
        cmocka_unit_test(what_no_density_can_be_of_is_refused),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
