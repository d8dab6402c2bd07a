/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_densities
 *
 * What densities of the intervals of every unit cost a hop on the CPU: independent spikes, 100,000 a second,
 * a window of 10 s, a hop of 100 ms. `slide` changes the states by what came and went; `tell` transforms
 * those that are due, chooses their bandwidths and fills in their grids.
 */
#include "core/clock.h"
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

typedef struct told {
    size_t messages;
} told;

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

static void count_message(void *user, sf_message *message)
{
    ((told *)user)->messages++;
    sf_message_release(message);
}

static int open(sf_densities *densities, const job *j, sf_error *error)
{
    sf_live_density isi = sf_live_density_default(SF_QUANTITY_ISI);
    isi.unit = "*";
    sf_live_options options = sf_live_options_default();
    options.density = &isi;
    options.density_count = 1;
    options.mine.threads = j->threads;
    options.window.length_s = WINDOW_HOPS * HOP_NS * 1e-9;
    options.window.hop_s = HOP_NS * 1e-9;
    sf_units units = {0};
    int status = SF_OK;
    for (unsigned u = 0; status == SF_OK && u < j->units; u++)
        status = sf_units_add(&units, &(sf_unit){.electrode = -1}, error);
    if (status == SF_OK)
        status = sf_units_finish(&units, error);
    if (status == SF_OK)
        status = sf_densities_open(densities, &options, &units, NULL, 0, error);
    sf_units_free(&units);
    return status;
}

static void tell(const job *j, double *slides, double *tells, const told *t, size_t modes)
{
    sf_reals_sort(slides, MEASURED);
    sf_reals_sort(tells, MEASURED);
    printf("%5u units, %2u threads, %zu modes: slide %.2f ms, worst %.2f; tell %.2f, worst %.2f, of %.0f "
           "densities\n",
           j->units, j->threads, modes, slides[MEASURED / 2], slides[MEASURED - 1], tells[MEASURED / 2],
           tells[MEASURED - 1], (double)t->messages / MEASURED);
}

static int run(const job *j, sf_error *error)
{
    static sf_spike spikes[PER_HOP];
    static double slides[HOPS], tells[HOPS];
    sf_densities densities;
    told t = {0};
    int status = open(&densities, j, error);
    if (status != SF_OK)
        return status;
    for (uint32_t hop = 0; hop < HOPS && status == SF_OK; hop++) {
        int64_t start_ns = (int64_t)hop * HOP_NS, stop_ns = start_ns + HOP_NS;
        const sf_window_change change = {.entered = spikes,
                                         .entered_count = PER_HOP,
                                         .hop = {start_ns, stop_ns},
                                         .hop_ns = HOP_NS,
                                         .window_start_ns = stop_ns - WINDOW_HOPS * HOP_NS};
        draw_hop(spikes, hop, j->units);
        t.messages = hop == HOPS - MEASURED ? 0 : t.messages;
        double start = sf_clock_seconds();
        status = sf_densities_slide(&densities, &change, error);
        double slid = sf_clock_seconds();
        if (status == SF_OK)
            status = sf_densities_tell(&densities, (sf_span){0, stop_ns}, count_message, &t, error);
        slides[hop] = (slid - start) * 1e3;
        tells[hop] = (sf_clock_seconds() - slid) * 1e3;
    }
    if (status == SF_OK)
        tell(j, slides + HOPS - MEASURED, tells + HOPS - MEASURED, &t,
             densities.plans[0].live.spectrum.frame.modes);
    sf_densities_close(&densities);
    return status;
}

int main(void)
{
    const job jobs[] = {{60, 1}, {1240, 1}, {1240, 2}, {1240, 16}, {4096, 1}, {4096, 2}, {4096, 16}};
    sf_error error;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        if (run(&jobs[i], &error) != SF_OK) {
            fprintf(stderr, "bench_densities: %s\n", error.text);
            return 1;
        }
    return 0;
}
