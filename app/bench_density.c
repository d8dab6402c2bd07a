/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench density: bandwidths by direct sums and by the characteristic function, on one core, and the upkeep of
 * live densities. Samples are intervals of a neuron that fires in bursts: 2 ms + 4 exp(0.4 z) ms in three of
 * ten cases, 2 ms + 50 exp(0.7 z) ms in the others, z normal; more columns are independent normal numbers.
 */
#include "app/bench.h"

#include "core/clock.h"
#include "core/memory.h"
#include "density/live.h"
#include "density/select.h"

#include <Random123/philox.h>
#include <math.h>
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
    if (values == NULL)
        sf_fail_memory(error);
    for (size_t i = 0; values != NULL && i < n * d; i++)
        values[i] = d == 1 ? interval_ms(i) : normal(i);
    return values;
}

typedef struct selection_case {
    const char *method;
    bool exact;
    size_t n, d;
    size_t scores; /* bandwidths that are looked at before a minimum is refined; 0: none */
} selection_case;

/* The best of `rounds` runs on one core; h is the last one's. */
static int time_selection(const app_call *call, const selection_case *what, int rounds, double *seconds,
                          double *h, sf_error *error)
{
    double *values = make_samples(what->n, what->d, error);
    if (values == NULL)
        return SF_NO_MEMORY;
    sf_samples samples = {.values = values, .n = what->n, .d = what->d};
    sf_progress progress = app_progress(call);
    sf_bandwidth_options how = {.exact = what->exact, .threads = 1, .progress = &progress};
    int status = SF_OK;
    *seconds = INFINITY;
    for (int round = 0; status == SF_OK && round < rounds; round++) {
        sf_bandwidth found;
        double start = sf_clock_seconds();
        status = sf_bandwidth_select(&found, sf_selector_find(what->method), &samples, &how, error);
        if (status != SF_OK)
            break;
        *seconds = fmin(*seconds, sf_clock_seconds() - start);
        *h = found.h;
        sf_bandwidth_free(&found);
    }
    sf_free(values);
    return status;
}

static void add_row(app_bench_rows *rows, const char *what, const char *engine, size_t n, size_t d,
                    size_t scores, double seconds, double h, double error_of_h, double share)
{
    app_bench_row(rows, "cpu");
    app_bench_text(rows, "what", what);
    app_bench_text(rows, "engine", engine);
    app_bench_number(rows, "n", (double)n);
    app_bench_number(rows, "d", (double)d);
    app_bench_number(rows, "scores", (double)scores);
    app_bench_number(rows, "threads", 1);
    app_bench_number(rows, "ms", seconds * 1e3);
    app_bench_number(rows, "h", h);
    app_bench_number(rows, "relative_error", error_of_h); /* of h, against direct sums */
    app_bench_number(rows, "core_share", share);          /* of one core, at the stream's own speed */
}

static int bench_selections(const app_call *call, app_bench_rows *rows, sf_error *error)
{
    static const selection_case cases[] = {
        {"plugin", true, 30720, 1, 0},        {"plugin", false, 30720, 1, 0},
        {"plugin", false, 1000000, 1, 0},     {"lscv", false, 1000000, 1, 200},
        {"isj", false, 1000000, 1, 0},        {"lscv-paper", true, 10240, 1, 150},
        {"lscv-paper", false, 10240, 1, 150}, {"lscv-paper", true, 10240, 16, 150},
    };
    double direct = NAN;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const selection_case *what = &cases[i];
        double seconds, h;
        int status = time_selection(call, what, what->exact ? 1 : 5, &seconds, &h, error);
        if (status != SF_OK)
            return status;
        bool twin = !what->exact && i > 0 && cases[i - 1].exact && cases[i - 1].n == what->n;
        add_row(rows, what->method, what->exact ? "direct" : "characteristic", what->n, what->d, what->scores,
                seconds, h, twin ? fabs(h / direct - 1) : NAN, NAN);
        direct = h;
    }
    return SF_OK;
}

/* ---- live ---- */

enum { UNITS = 4096, RATE = 100000, WINDOW_S = 60, HOP_S = 10, HOPS = 6, GRID = 64 };

typedef struct live_bench {
    sf_live_plan plan;
    sf_live_density *units;
    double *samples; /* of one unit and then the next, enough for the window and every hop */
    size_t per_window, per_hop, per_unit;
} live_bench;

static int open_live(live_bench *b, sf_error *error)
{
    /* Logarithms of intervals from 1 ms to 100 s; all units share the plan. */
    sf_live_options options = {
        .least = 1, .most = 1e5, .b_least = 0.04, .domain = SF_DOMAIN_LOG, .reselect = 0.2};
    b->per_hop = (size_t)RATE * HOP_S / UNITS;
    b->per_window = (size_t)RATE * WINDOW_S / UNITS;
    b->per_unit = b->per_window + b->per_hop * HOPS;
    b->units = sf_alloc(UNITS, sizeof *b->units);
    b->samples = make_samples(b->per_unit * UNITS, 1, error);
    if (b->units == NULL || b->samples == NULL)
        return sf_fail_memory(error);
    int status = sf_live_plan_open(&b->plan, &options, error);
    for (size_t u = 0; status == SF_OK && u < UNITS; u++) {
        status = sf_live_open(&b->units[u], &b->plan, error);
        if (status == SF_OK)
            sf_live_add(&b->units[u], &b->plan, b->samples + u * b->per_unit, b->per_window);
    }
    return status;
}

static void close_live(live_bench *b)
{
    for (size_t u = 0; b->units != NULL && u < UNITS; u++)
        sf_live_close(&b->units[u]);
    sf_live_plan_close(&b->plan);
    sf_free(b->units);
    sf_free(b->samples);
}

/* Every unit: the intervals of one hop leave and enter, the bandwidth follows, 64 points are evaluated. */
static int run_hop(live_bench *b, size_t hop, double *h, sf_error *error)
{
    double points[GRID], values[GRID];
    for (int k = 0; k < GRID; k++)
        points[k] = pow(10, 5.0 * k / (GRID - 1));
    for (size_t u = 0; u < UNITS; u++) {
        const double *unit = b->samples + u * b->per_unit + hop * b->per_hop;
        sf_live_remove(&b->units[u], &b->plan, unit, b->per_hop);
        sf_live_add(&b->units[u], &b->plan, unit + b->per_window, b->per_hop);
        int status = sf_live_evaluate(&b->units[u], &b->plan, points, GRID, values, error);
        if (status != SF_OK)
            return status;
    }
    *h = b->units[0].h;
    return SF_OK;
}

static int bench_live(app_bench_rows *rows, sf_error *error)
{
    live_bench b = {0};
    double h = NAN, start = 0;
    int status = open_live(&b, error);
    for (size_t hop = 0; status == SF_OK && hop < HOPS; hop++) {
        if (hop == 1) /* the first one selects every bandwidth from nothing */
            start = sf_clock_seconds();
        status = run_hop(&b, hop, &h, error);
    }
    double seconds = (sf_clock_seconds() - start) / (HOPS - 1);
    if (status == SF_OK)
        add_row(rows, "live isj of 4096 units, 100,000 intervals/s, a 10 s hop", "characteristic",
                b.per_window * UNITS, 1, 0, seconds, h, NAN, seconds / HOP_S);
    close_live(&b);
    return status;
}

static int run(const app_call *call, app_bench_rows *rows, sf_error *error)
{
    int status = bench_selections(call, rows, error);
    return status == SF_OK ? bench_live(rows, error) : status;
}

const app_bench app_bench_density = {.name = "density", .run = run};
