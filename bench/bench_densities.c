/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_densities [DEVICE]   cuda, or none: the CPU alone
 *
 * What densities of the intervals of every unit cost a hop: independent spikes, 100,000 a second, a window of
 * 10 s, a hop of 100 ms. `slide` changes the states by what came and went; `tell` transforms those that are
 * due, chooses their bandwidths and fills in their grids, hop by hop on the CPU and on the device, whose
 * densities are compared.
 */
#include "core/backend/find.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/reals.h"
#include "core/units.h"
#include "pipeline/densities.h"

#include <Random123/philox.h>
#include <math.h>
#include <stdio.h>

#define HOP_NS INT64_C(100000000)
#define PER_HOP 10000
#define WINDOW_HOPS 100
#define MEASURED 60
#define HOPS (WINDOW_HOPS + 40 + MEASURED)

typedef struct job {
    unsigned units, threads;
} job;

/* Densities in one place, and what they cost and told. */
typedef struct side {
    sf_device *device; /* NULL: the CPU */
    sf_densities densities;
    double slides[HOPS], tells[HOPS];
    sf_message **messages; /* of a hop, by unit */
    size_t count, all;     /* of the hop, and of those that are measured */
} side;

static uint32_t draw(uint32_t index)
{
    philox4x32_ctr_t counter = {{index, 1, 0, 0}};
    philox4x32_key_t key = {{3, 0}};
    return philox4x32(counter, key).v[0];
}

static void draw_hop(sf_spike *spikes, uint32_t hop, unsigned units)
{
    for (uint32_t i = 0; i < PER_HOP; i++)
        spikes[i] = (sf_spike){.time_ns = (int64_t)hop * HOP_NS + (int64_t)i * (HOP_NS / PER_HOP),
                               .unit = draw(hop * PER_HOP + i) % units};
}

static void keep_message(void *user, sf_message *message)
{
    side *own = user;
    own->messages[own->count++] = message;
}

static int open(side *own, const job *j, sf_device *device, sf_error *error)
{
    sf_live_density isi = sf_live_density_default(SF_QUANTITY_ISI);
    isi.unit = "*";
    sf_live_options options = sf_live_options_default();
    options.density = &isi;
    options.density_count = 1;
    options.mine.threads = j->threads;
    options.window.length_s = WINDOW_HOPS * HOP_NS * 1e-9;
    options.window.hop_s = HOP_NS * 1e-9;
    *own = (side){.device = device, .messages = sf_alloc(j->units, sizeof(sf_message *))};
    sf_units units = {0};
    int status = own->messages != NULL ? SF_OK : sf_fail_memory(error);
    for (unsigned u = 0; status == SF_OK && u < j->units; u++)
        status = sf_units_add(&units, &(sf_unit){.electrode = -1}, error);
    if (status == SF_OK) status = sf_units_finish(&units, error);
    const sf_densities_setup setup = {
        .config = &options, .units = &units, .device = device, .always = device != NULL};
    if (status == SF_OK) status = sf_densities_open(&own->densities, &setup, error);
    sf_units_free(&units);
    return status;
}

static void forget(side *own)
{
    for (size_t i = 0; i < own->count; i++)
        sf_message_release(own->messages[i]);
    own->count = 0;
}

static void close(side *own)
{
    forget(own);
    sf_free(own->messages);
    own->messages = NULL;
    sf_densities_close(&own->densities);
}

static int follow(side *own, const sf_window_change *change, uint32_t hop, sf_error *error)
{
    forget(own);
    double start = sf_clock_seconds();
    int status = sf_densities_slide(&own->densities, change, error);
    double slid = sf_clock_seconds();
    if (status == SF_OK) status = sf_densities_tell(&own->densities, change->hop, keep_message, own, error);
    own->slides[hop] = (slid - start) * 1e3;
    own->tells[hop] = (sf_clock_seconds() - slid) * 1e3;
    own->all += hop >= HOPS - MEASURED ? own->count : 0;
    return status;
}

/* The most that bandwidths differ by, or averages of the highest. */
static double difference(const side *a, const side *b)
{
    double most = a->count == b->count ? 0 : INFINITY;
    for (size_t i = 0; most < INFINITY && i < a->count; i++) {
        const sf_density_message *x = &a->messages[i]->density, *y = &b->messages[i]->density;
        double highest = 0, apart = 0;
        for (size_t k = 0; k < x->count; k++) {
            highest = fmax(highest, x->values[k]);
            apart = fmax(apart, fabs(x->values[k] - y->values[k]));
        }
        most = fmax(most, fmax(fabs(x->h / y->h - 1), apart / highest));
    }
    return most;
}

static void tell(const job *j, side *own, double apart)
{
    double *slides = own->slides + HOPS - MEASURED, *tells = own->tells + HOPS - MEASURED;
    sf_reals_sort(slides, MEASURED);
    sf_reals_sort(tells, MEASURED);
    printf(
        "%5u units, %2u threads, %s: slide %.2f ms, worst %.2f; tell %.2f, least %.2f, worst %.2f, of %.0f "
        "densities",
        j->units, j->threads, own->device != NULL ? sf_densities_device(&own->densities) : "cpu",
        slides[MEASURED / 2], slides[MEASURED - 1], tells[MEASURED / 2], tells[0], tells[MEASURED - 1],
        (double)own->all / MEASURED);
    if (own->device != NULL) printf(", which differ by %.1g at most", apart);
    printf("\n");
}

static int run(const job *j, sf_device *device, sf_error *error)
{
    static sf_spike spikes[PER_HOP];
    static side sides[2];
    double apart = 0;
    int count = device != NULL ? 2 : 1, status = SF_OK;
    for (int s = 0; s < count && status == SF_OK; s++)
        status = open(&sides[s], j, s == 0 ? NULL : device, error);
    for (uint32_t hop = 0; hop < HOPS && status == SF_OK; hop++) {
        int64_t start_ns = (int64_t)hop * HOP_NS, stop_ns = start_ns + HOP_NS;
        const sf_window_change change = {.entered = spikes,
                                         .entered_count = PER_HOP,
                                         .hop = {start_ns, stop_ns},
                                         .hop_ns = HOP_NS,
                                         .window_start_ns = stop_ns - WINDOW_HOPS * HOP_NS};
        draw_hop(spikes, hop, j->units);
        for (int s = 0; s < count && status == SF_OK; s++)
            status = follow(&sides[s], &change, hop, error);
        if (status == SF_OK && count > 1) apart = fmax(apart, difference(&sides[0], &sides[1]));
    }
    for (int s = 0; s < count; s++) {
        if (status == SF_OK) tell(j, &sides[s], apart);
        close(&sides[s]);
    }
    return status;
}

int main(int argc, char **argv)
{
    const job jobs[] = {{60, 1},    {60, 2},   {60, 16},  {1240, 1}, {1240, 2},
                        {1240, 16}, {4096, 1}, {4096, 2}, {4096, 16}};
    sf_error error = {0};
    sf_device *device = NULL;
    int status = argc > 1 ? sf_device_find(&device, argv[1], &error) : SF_OK;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs && status == SF_OK; i++)
        status = run(&jobs[i], device, &error);
    if (status != SF_OK) fprintf(stderr, "bench_densities: %s\n", error.text);
    return status == SF_OK ? 0 : 1;
}
