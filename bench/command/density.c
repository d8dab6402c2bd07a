/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench density: bandwidths by direct sums on one core and on every device, and by the characteristic
 * function on one core; the same for a million samples, and over n; and the upkeep of live densities. Samples
 * are intervals of a neuron that fires in bursts: 2 ms + 4 exp(0.4 z) ms in three of ten cases, 2 ms + 50
 * exp(0.7 z) ms in the others, z normal; more columns are independent normal numbers.
 */
#include "bench/command/bench.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/units.h"
#include "core/vector.h"
#include "density/select.h"
#include "pipeline/densities.h"

#include <Random123/philox.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static double uniform(uint64_t index, uint32_t stream)
{
    philox4x32_ctr_t at = {{(uint32_t)index, (uint32_t)(index >> 32), stream, 0}};
    philox4x32_key_t key = {{0xde, 0x5117}};
    philox4x32_ctr_t bits = philox4x32(at, key);
    return ((double)((uint64_t)bits.v[0] << 21 ^ bits.v[1] >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t index)
{
    return sqrt(-2 * log(uniform(index, 0))) * cos(2 * PI * uniform(index, 1));
}

static double interval_ms(uint64_t index)
{
    return uniform(index, 2) < 0.3 ? 2 + 4 * exp(0.4 * normal(index)) : 2 + 50 * exp(0.7 * normal(index));
}

static double *make_samples(size_t n, size_t d, sf_error *error)
{
    double *values = sf_resize(NULL, n, d * sizeof *values);
    if (values == NULL) sf_fail_memory(error);
    for (size_t i = 0; values != NULL && i < n * d; i++)
        values[i] = d == 1 ? interval_ms(i) : normal(i);
    return values;
}

typedef struct selection_case {
    const char *method;
    size_t n, d;
    size_t scores; /* bandwidths that are looked at before a minimum is refined; 0: none */
    double paper;  /* times as fast as one core, as the paper has it for its GPU; NaN: not there */
} selection_case;

/* How a case is run, and what came of it. */
typedef struct selection_run {
    const char *device; /* "cpu": one core */
    bool exact;
    int rounds;
    double seconds, h; /* the best of the rounds */
} selection_run;

static int time_selection(const app_call *call, const selection_case *what, selection_run *run,
                          sf_error *error)
{
    double *values = make_samples(what->n, what->d, error);
    if (values == NULL) return SF_NO_MEMORY;
    sf_samples samples = {.values = values, .n = what->n, .d = what->d};
    sf_progress progress = app_progress(call);
    sf_bandwidth_options how = {
        .exact = run->exact, .threads = 1, .device = run->device, .progress = &progress};
    int status = SF_OK;
    run->seconds = INFINITY;
    for (int round = 0; status == SF_OK && round < run->rounds; round++) {
        sf_bandwidth found;
        double start = sf_clock_seconds();
        status = sf_bandwidth_select(&found, sf_selector_find(what->method), &samples, &how, error);
        if (status != SF_OK) break;
        run->seconds = fmin(run->seconds, sf_clock_seconds() - start);
        run->h = found.h;
        if (strcmp(found.ran.device, run->device) != 0)
            status = sf_fail(error, SF_UNAVAILABLE, NULL, "%s", found.ran.note);
        sf_bandwidth_free(&found);
    }
    sf_free(values);
    return status;
}

static const char *const level_names[] = {
    [SF_VECTOR_BASE] = "base", [SF_VECTOR_AVX2] = "avx2", [SF_VECTOR_AVX512] = "avx512"};

/* `rival` is the same by direct sums on one core, or NULL where that would take hours. */
static void add_row(app_bench_rows *rows, const selection_case *what, const selection_run *run,
                    const selection_run *rival)
{
    bool on_cpu = strcmp(run->device, "cpu") == 0;
    app_bench_row(rows, run->device);
    app_bench_text(rows, "method", what->method);
    app_bench_text(rows, "engine", run->exact ? "direct" : "characteristic");
    app_bench_text(rows, "vectors", on_cpu ? level_names[sf_vector_level()] : "");
    app_bench_number(rows, "n", (double)what->n);
    app_bench_number(rows, "d", (double)what->d);
    app_bench_number(rows, "scores", (double)what->scores);
    app_bench_number(rows, "ms", run->seconds * 1e3);
    app_bench_number(rows, "h", run->h);
    app_bench_number(rows, "relative_error", rival != NULL ? fabs(run->h / rival->h - 1) : NAN);
    app_bench_number(rows, "ratio", rival != NULL ? rival->seconds / run->seconds : NAN);
    app_bench_number(rows, "paper_ratio", on_cpu ? NAN : what->paper);
}

static int run_and_add(const app_call *call, app_bench_rows *rows, const selection_case *what,
                       selection_run run, const selection_run *rival, sf_error *error)
{
    int status = time_selection(call, what, &run, error);
    if (status == SF_OK) add_row(rows, what, &run, rival);
    return status;
}

/* The paper's two sizes: one core by direct sums is the rival of every device and of the other engine. */
static int bench_direct(const app_call *call, app_bench_rows *rows, sf_error *error)
{
    static const selection_case cases[] = {{"plugin", 30720, 1, 0, 330},
                                           {"lscv-paper", 10240, 1, 150, 370},
                                           {"lscv-paper", 10240, 16, 150, 470}};
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < sizeof cases / sizeof cases[0]; i++) {
        selection_run rival = {.device = "cpu", .exact = true, .rounds = 1};
        status = time_selection(call, &cases[i], &rival, error);
        if (status == SF_OK) add_row(rows, &cases[i], &rival, &rival);
        for (uint32_t d = 0; status == SF_OK && d < sf_device_count(); d++) {
            if (app_bench_device(d) == NULL) continue;
            selection_run run = {.device = sf_device_name(sf_device_at(d)), .exact = true, .rounds = 10};
            status = run_and_add(call, rows, &cases[i], run, &rival, error);
        }
        if (status == SF_OK && cases[i].d == 1)
            status = run_and_add(call, rows, &cases[i], (selection_run){.device = "cpu", .rounds = 10},
                                 &rival, error);
    }
    return status;
}

/* A million samples, on each set of vector instructions that the processor has. */
static int bench_million(const app_call *call, app_bench_rows *rows, sf_error *error)
{
    static const selection_case cases[] = {
        {"plugin", 1000000, 1, 0, NAN}, {"lscv", 1000000, 1, 200, NAN}, {"isj", 1000000, 1, 0, NAN}};
    int status = SF_OK, best = sf_vector_level();
    for (int level = best; status == SF_OK && level >= SF_VECTOR_BASE; level--) {
        sf_vector_limit(level);
        for (size_t i = 0; status == SF_OK && i < sizeof cases / sizeof cases[0]; i++)
            status = run_and_add(call, rows, &cases[i], (selection_run){.device = "cpu", .rounds = 5}, NULL,
                                 error);
    }
    sf_vector_limit(best);
    return status;
}

/* Both families over n, each as large as direct sums on one core, or on a device, take some seconds for. */
static int bench_series(const app_call *call, app_bench_rows *rows, sf_error *error)
{
    static const char *const methods[] = {"plugin", "lscv-paper"};
    enum { FIRST = 1 << 10, LAST = 1 << 20, MOST_HERE = 1 << 14, MOST_THERE = 1 << 16 };
    int status = SF_OK;
    for (size_t m = 0; m < 2; m++)
        for (size_t n = FIRST; status == SF_OK && n <= LAST; n *= 4) {
            const selection_case what = {methods[m], n, 1, m == 0 ? 0 : 150, NAN};
            selection_run rival = {.device = "cpu", .exact = true, .rounds = 1};
            if (n <= MOST_HERE) status = time_selection(call, &what, &rival, error);
            if (status == SF_OK && n <= MOST_HERE) add_row(rows, &what, &rival, &rival);
            for (uint32_t d = 0; status == SF_OK && d < sf_device_count() && n <= MOST_THERE; d++) {
                selection_run run = {.device = sf_device_name(sf_device_at(d)), .exact = true, .rounds = 3};
                if (app_bench_device(d) != NULL)
                    status = run_and_add(call, rows, &what, run, n <= MOST_HERE ? &rival : NULL, error);
            }
            if (status == SF_OK)
                status = run_and_add(call, rows, &what, (selection_run){.device = "cpu", .rounds = 3},
                                     n <= MOST_HERE ? &rival : NULL, error);
        }
    return status;
}

/* ---- live ---- */

enum { UNITS = 4096, RATE = 100000, WINDOW_S = 60, HOPS = 80, MEASURED = 20 };

/* Neurons that fire by the intervals above, shortened to RATE in all; what the window holds stays. */
typedef struct live_bench {
    sf_densities densities;
    int64_t *next_ns;       /* by unit: its next spike */
    uint64_t *drawn;        /* by unit: its intervals so far */
    sf_spike *spikes;       /* of every hop */
    size_t first[HOPS + 1]; /* of each hop */
    size_t capacity, messages;
} live_bench;

static int by_time(const void *a, const void *b)
{
    const sf_spike *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void count_message(void *user, sf_message *message)
{
    ((live_bench *)user)->messages++;
    sf_message_release(message);
}

static int open_densities(live_bench *b, sf_error *error)
{
    sf_live_density isi = sf_live_density_default(SF_QUANTITY_ISI);
    isi.unit = "*";
    sf_live_options options = sf_live_options_default();
    options.density = &isi;
    options.density_count = 1;
    options.window.length_s = WINDOW_S;
    sf_units units = {0};
    int status = SF_OK;
    for (int u = 0; status == SF_OK && u < UNITS; u++)
        status = sf_units_add(&units, &(sf_unit){.electrode = -1}, error);
    if (status == SF_OK) status = sf_units_finish(&units, error);
    if (status == SF_OK)
        status = sf_densities_open(&b->densities, &(sf_densities_setup){.config = &options, .units = &units},
                                   error);
    sf_units_free(&units);
    return status;
}

/* Every unit's spikes up to the end of the hop, in stream order. */
static int draw_hop(live_bench *b, size_t hop, sf_error *error)
{
    const double shorter =
        0.853; /* the mean interval is 48 ms, 4096 units are to fire 100,000 times a second */
    int64_t end_ns = (int64_t)(hop + 1) * SF_SECOND;
    size_t count = b->first[hop];
    for (size_t u = 0; u < UNITS; u++)
        while (b->next_ns[u] < end_ns) {
            void *spikes = b->spikes;
            if (sf_reserve(&spikes, &b->capacity, count + 1, sizeof *b->spikes) != 0)
                return sf_fail_memory(error);
            b->spikes = spikes;
            b->spikes[count++] = (sf_spike){.time_ns = b->next_ns[u], .unit = (uint32_t)u};
            b->next_ns[u] += (int64_t)(interval_ms(b->drawn[u]++ * UNITS + u) * shorter * 1e6);
        }
    qsort(b->spikes + b->first[hop], count - b->first[hop], sizeof *b->spikes, by_time);
    b->first[hop + 1] = count;
    return SF_OK;
}

static int run_hop(live_bench *b, size_t hop, sf_error *error)
{
    sf_window_change change = {.entered = b->spikes + b->first[hop],
                               .entered_count = b->first[hop + 1] - b->first[hop],
                               .hop = {(int64_t)hop * SF_SECOND, (int64_t)(hop + 1) * SF_SECOND},
                               .hop_ns = SF_SECOND,
                               .window_start_ns = ((int64_t)hop + 1 - WINDOW_S) * SF_SECOND};
    int status = sf_densities_slide(&b->densities, &change, error);
    return status == SF_OK ? sf_densities_tell(&b->densities, (sf_span){0}, count_message, b, error) : status;
}

static int run_hops(live_bench *b, double *seconds, sf_error *error)
{
    int status = open_densities(b, error);
    b->next_ns = sf_alloc(UNITS, sizeof *b->next_ns);
    b->drawn = sf_alloc(UNITS, sizeof *b->drawn);
    if (status == SF_OK && (b->next_ns == NULL || b->drawn == NULL)) status = sf_fail_memory(error);
    for (size_t hop = 0; status == SF_OK && hop < HOPS; hop++) {
        status = draw_hop(b, hop, error);
        if (hop == HOPS - MEASURED) b->messages = 0;
        double start = sf_clock_seconds();
        if (status == SF_OK) status = run_hop(b, hop, error);
        *seconds += hop >= HOPS - MEASURED ? sf_clock_seconds() - start : 0;
    }
    return status;
}

static int bench_live(app_bench_rows *rows, sf_error *error)
{
    live_bench b = {0};
    double seconds = 0;
    int status = run_hops(&b, &seconds, error);
    if (status == SF_OK) {
        app_bench_row(rows, "cpu");
        app_bench_text(rows, "live", "isj of intervals, every unit");
        app_bench_number(rows, "units", UNITS);
        app_bench_number(rows, "spikes_per_s", (double)(b.first[HOPS] - b.first[HOPS - MEASURED]) / MEASURED);
        app_bench_number(rows, "window_s", WINDOW_S);
        app_bench_number(rows, "hop_s", 1);
        app_bench_number(rows, "densities_per_hop", (double)b.messages / MEASURED);
        app_bench_number(rows, "ms_per_hop", seconds / MEASURED * 1e3);
        app_bench_number(rows, "core_share", seconds / MEASURED);
    }
    sf_densities_close(&b.densities);
    sf_free(b.next_ns);
    sf_free(b.drawn);
    sf_free(b.spikes);
    return status;
}

static const char *const parts[] = {"direct", "million", "live", "series", NULL};

static int run(const app_call *call, app_bench_rows *rows, sf_error *error)
{
    int status = SF_OK;
    if (app_bench_wants(call, parts[0])) status = bench_direct(call, rows, error);
    if (status == SF_OK && app_bench_wants(call, parts[1])) status = bench_million(call, rows, error);
    if (status == SF_OK && app_bench_wants(call, parts[2])) status = bench_live(rows, error);
    if (status == SF_OK && call->argument_count > 1 && app_bench_wants(call, parts[3]))
        status = bench_series(call, rows, error);
    return status;
}

const app_bench app_bench_density = {.name = "density", .parts = parts, .run = run};
