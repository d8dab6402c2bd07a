/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/simulation.h"

#include "core/clock.h"
#include "core/episode.h"
#include "core/error.h"
#include "core/keys.h"
#include "core/memory.h"
#include "core/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICE_SPIKES 524288.0
#define LONGEST_SLICE_NS (10 * SF_SECOND)
#define BURST_REACH 6.0 /* sigmas after which a bump is nothing */
#define BINS_PER_SIGMA 8
#define PULSE_NS (SF_SIMULATION_APART_NS / 2)

/* Purpose of a stream of random numbers; the low half of its number is the unit or the chain. */
typedef enum purpose { FOR_UNIT, FOR_TRAIN, FOR_DUPLICATES, FOR_CHAIN, FOR_BURSTS } purpose;

typedef struct planted_spike {
    uint32_t unit;
    int64_t time_ns;
    size_t occurrence;
} planted_spike;

/* State of a unit during the simulation. */
typedef struct train {
    sf_random random, duplicate_random;
    double amplitude;            /* mean, in microvolts */
    double left;                 /* accumulated hazard at which it next fires */
    int64_t resume_ns;           /* its hazard counts from here on */
    size_t planted, planted_end; /* its planted spikes still to come */
} train;

struct sf_simulation {
    sf_simulation_settings settings;
    int64_t dead_ns; /* refractory time, at least one tick, so that no unit fires twice at once */
    double hazard;   /* a second */
    uint32_t columns;
    sf_recording about;
    sf_truth truth;
    planted_spike *planted; /* ordered by unit, then time */
    size_t planted_count;
    int64_t *bursts; /* in time order */
    size_t burst_count;
    train *trains;
    /* The slice being made: */
    int64_t slice_ns, slice_start, slice_stop;
    size_t bins;
    double bin_ns;
    double *accumulated; /* hazard accumulated from the start of the slice to each bin edge: bins + 1 */
    sf_spike *spikes;
    size_t spike_count, spike_capacity;
    sf_spike *later; /* duplicates that belong to a later slice */
    size_t later_count, later_capacity;
    uint64_t duplicates;
};

static sf_random stream_for(const sf_simulation *simulation, purpose what, size_t index)
{
    return sf_random_start(simulation->settings.seed, (uint64_t)what << 32 | index);
}

/* ---- the plan: units, markers, bursts, occurrences ---- */

static int check_settings(const sf_simulation_settings *settings, sf_error *error)
{
    int status = sf_keys_check(&sf_simulation_table, settings, SF_USAGE, error);
    if (status != SF_OK) return status;
    if (settings->rate_hz * (double)settings->refractory_ns * 1e-9 >= 1)
        return sf_fail(
            error, SF_USAGE, NULL,
            "a rate of %g Hz does not fit a refractory time of %g ms: their product must be under 1",
            settings->rate_hz, (double)settings->refractory_ns * 1e-6);
    if (settings->duplicates > 0 && settings->unit_count < 2)
        return sf_fail(error, SF_USAGE, NULL, "duplicates need a neighbour: at least 2 units");
    for (size_t i = 0; i < settings->chain_count; i++) {
        status = sf_episode_check(&settings->chains[i].episode, settings->unit_count, error);
        if (status != SF_OK) return status;
        if (!(settings->chains[i].rate_hz >= 0))
            return sf_fail(error, SF_USAGE, NULL, "the rate of a chain must not be negative");
    }
    return SF_OK;
}

static uint32_t grid_columns(uint32_t unit_count)
{
    return (uint32_t)ceil(sqrt(unit_count));
}

int sf_simulation_units(sf_units *units, const sf_simulation_settings *settings, sf_error *error)
{
    *units = (sf_units){0};
    uint32_t columns = grid_columns(settings->unit_count);
    int status = SF_OK;
    for (uint32_t i = 0; status == SF_OK && i < settings->unit_count; i++) {
        char name[16];
        if (i < 26)
            snprintf(name, sizeof name, "%c", 'A' + (int)i);
        else
            snprintf(name, sizeof name, "u%u", i);
        status = sf_units_add(units,
                              &(sf_unit){.name = name,
                                         .x_um = i % columns * settings->pitch_um,
                                         .y_um = i / columns * settings->pitch_um,
                                         .kind = SF_UNIT_SORTED,
                                         .electrode = (int32_t)i},
                              error);
    }
    if (status == SF_OK) status = sf_units_finish(units, error);
    if (status != SF_OK) sf_units_free(units);
    return status;
}

/* Every marker_every_ns, a 10 ms pulse on TTL line 0 and a numbered text. */
static int plan_markers(sf_simulation *simulation, sf_error *error)
{
    sf_recording *about = &simulation->about;
    int64_t every = simulation->settings.marker_every_ns;
    size_t pulses = every > 0 ? (size_t)((simulation->settings.duration_ns - 1) / every) : 0;
    about->markers = sf_alloc(pulses * 3, sizeof *about->markers);
    if (about->markers == NULL) return sf_fail_memory(error);
    for (size_t i = 1; i <= pulses; i++) {
        int64_t time = about->recorded.start_ns + (int64_t)i * every;
        about->markers[about->marker_count++] =
            (sf_marker){.time_ns = time, .kind = SF_MARKER_TTL, .state = 1};
        sf_marker *text = &about->markers[about->marker_count++];
        *text = (sf_marker){.time_ns = time, .kind = SF_MARKER_TEXT};
        snprintf(text->text, sizeof text->text, "stimulus %zu", i);
        if (time + PULSE_NS < about->recorded.stop_ns)
            about->markers[about->marker_count++] =
                (sf_marker){.time_ns = time + PULSE_NS, .kind = SF_MARKER_TTL};
    }
    return SF_OK;
}

static int plan_about(sf_simulation *simulation, sf_error *error)
{
    const sf_simulation_settings *settings = &simulation->settings;
    sf_recording *about = &simulation->about;
    about->recorded = (sf_span){settings->start_ns, settings->start_ns + settings->duration_ns};
    about->declared = true;
    about->format = sf_copy_string("simulation");
    if (about->format == NULL) return sf_fail_memory(error);
    int status = sf_simulation_units(&about->units, settings, error);
    if (status == SF_OK && settings->description != NULL)
        status = sf_recording_set_metadata(about, "simulation", settings->description, error);
    return status == SF_OK ? plan_markers(simulation, error) : status;
}

/* Next event of a Poisson process after *time_ns; false if it lies beyond stop_ns. */
static bool next_event(sf_random *random, double rate_hz, int64_t *time_ns, int64_t stop_ns)
{
    double gap_ns = sf_random_exponential(random) / rate_hz * 1e9;
    if (!(gap_ns < (double)(stop_ns - *time_ns))) return false;
    *time_ns += (int64_t)gap_ns;
    return true;
}

static int plan_bursts(sf_simulation *simulation, sf_error *error)
{
    sf_span span = simulation->about.recorded;
    sf_random random = stream_for(simulation, FOR_BURSTS, 0);
    size_t capacity = 0;
    for (int64_t time = span.start_ns;
         next_event(&random, simulation->settings.burst_rate_hz, &time, span.stop_ns);) {
        void *bursts = simulation->bursts;
        if (sf_reserve(&bursts, &capacity, simulation->burst_count + 1, sizeof *simulation->bursts) != 0)
            return sf_fail_memory(error);
        simulation->bursts = bursts;
        simulation->bursts[simulation->burst_count++] = time;
    }
    return SF_OK;
}

static int64_t draw_delay(sf_random *random, sf_delay delay, int64_t jitter_ns)
{
    int64_t middle = delay.low_ns + (delay.high_ns - delay.low_ns + 1) / 2;
    for (int attempt = 0; attempt < 64; attempt++) {
        int64_t drawn = middle + llround((double)jitter_ns * sf_random_normal(random));
        if (drawn > delay.low_ns && drawn <= delay.high_ns) return drawn;
    }
    /* A jitter much wider than the interval is practically uniform inside it. */
    return delay.low_ns + 1 + (int64_t)sf_random_below(random, (uint64_t)(delay.high_ns - delay.low_ns));
}

/* Plans an occurrence, unless it would end after the recording. */
static int plan_occurrence(sf_simulation *simulation, size_t chain, int64_t start, sf_random *random,
                           size_t *capacity, sf_error *error)
{
    sf_truth *truth = &simulation->truth;
    const sf_episode *episode = &truth->chains[chain];
    sf_occurrence occurrence = {.chain = (uint32_t)chain, .times_ns = {start}};
    for (uint32_t i = 1; i < episode->size; i++)
        occurrence.times_ns[i] = occurrence.times_ns[i - 1] +
                                 draw_delay(random, episode->delays[i - 1], simulation->settings.jitter_ns);
    if (occurrence.times_ns[episode->size - 1] >= simulation->about.recorded.stop_ns) return SF_OK;
    void *occurrences = truth->occurrences;
    if (sf_reserve(&occurrences, capacity, truth->occurrence_count + 1, sizeof *truth->occurrences) != 0)
        return sf_fail_memory(error);
    truth->occurrences = occurrences;
    truth->occurrences[truth->occurrence_count++] = occurrence;
    return SF_OK;
}

/* Plans occurrences at random times, and after some of the pulses. */
static int plan_chain(sf_simulation *simulation, size_t chain, double rate_hz, size_t *capacity,
                      sf_error *error)
{
    const sf_simulation_settings *settings = &simulation->settings;
    const sf_recording *about = &simulation->about;
    sf_random random = stream_for(simulation, FOR_CHAIN, chain);
    int status = SF_OK;
    for (int64_t start = about->recorded.start_ns;
         status == SF_OK && next_event(&random, rate_hz, &start, about->recorded.stop_ns);)
        status = plan_occurrence(simulation, chain, start, &random, capacity, error);
    for (size_t i = 0; status == SF_OK && settings->evoked > 0 && i < about->marker_count; i++) {
        if (about->markers[i].kind != SF_MARKER_TTL || about->markers[i].state == 0 ||
            sf_random_uniform(&random) >= settings->evoked)
            continue;
        int64_t after =
            settings->evoked_after_ns + llround((double)settings->jitter_ns * sf_random_normal(&random));
        status = plan_occurrence(simulation, chain, about->markers[i].time_ns + (after > 0 ? after : 0),
                                 &random, capacity, error);
    }
    return status;
}

static int compare_occurrences(const void *a, const void *b)
{
    const sf_occurrence *x = a, *y = b;
    if (x->times_ns[0] != y->times_ns[0]) return x->times_ns[0] < y->times_ns[0] ? -1 : 1;
    return (x->chain > y->chain) - (x->chain < y->chain);
}

static int compare_planted(const void *a, const void *b)
{
    const planted_spike *x = a, *y = b;
    if (x->unit != y->unit) return x->unit < y->unit ? -1 : 1;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
    return (x->occurrence > y->occurrence) - (x->occurrence < y->occurrence);
}

/* Lists the spikes of all occurrences by unit and time. */
static int list_planted(sf_simulation *simulation, sf_error *error)
{
    const sf_truth *truth = &simulation->truth;
    size_t count = 0;
    for (size_t i = 0; i < truth->occurrence_count; i++)
        count += truth->chains[truth->occurrences[i].chain].size;
    simulation->planted = sf_resize(NULL, count, sizeof *simulation->planted);
    if (simulation->planted == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < truth->occurrence_count; i++) {
        const sf_episode *episode = &truth->chains[truth->occurrences[i].chain];
        for (uint32_t k = 0; k < episode->size; k++)
            simulation->planted[simulation->planted_count++] =
                (planted_spike){episode->units[k], truth->occurrences[i].times_ns[k], i};
    }
    qsort(simulation->planted, count, sizeof *simulation->planted, compare_planted);
    return SF_OK;
}

/* Drops the later of two occurrences that have spikes of one unit within the refractory time. */
static int reject_collisions(sf_simulation *simulation, sf_error *error)
{
    sf_truth *truth = &simulation->truth;
    planted_spike *planted = simulation->planted;
    bool *rejected = sf_alloc(truth->occurrence_count, sizeof *rejected);
    if (rejected == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < simulation->planted_count; i++)
        for (size_t k = i + 1; k < simulation->planted_count && planted[k].unit == planted[i].unit &&
                               planted[k].time_ns - planted[i].time_ns < simulation->dead_ns;
             k++) {
            size_t a = planted[i].occurrence, b = planted[k].occurrence;
            if (!rejected[a] && !rejected[b]) rejected[a > b ? a : b] = true;
        }
    size_t kept = 0;
    for (size_t i = 0; i < simulation->planted_count; i++)
        if (!rejected[planted[i].occurrence]) planted[kept++] = planted[i];
    simulation->planted_count = kept;
    kept = 0;
    for (size_t i = 0; i < truth->occurrence_count; i++)
        if (!rejected[i]) truth->occurrences[kept++] = truth->occurrences[i];
    truth->occurrence_count = kept;
    sf_free(rejected);
    return SF_OK;
}

static int plan_chains(sf_simulation *simulation, sf_error *error)
{
    const sf_simulation_settings *settings = &simulation->settings;
    sf_truth *truth = &simulation->truth;
    truth->chains = sf_alloc(settings->chain_count, sizeof *truth->chains);
    if (truth->chains == NULL) return sf_fail_memory(error);
    size_t capacity = 0;
    for (size_t i = 0; i < settings->chain_count; i++) {
        truth->chains[truth->chain_count++] = settings->chains[i].episode;
        int status = plan_chain(simulation, i, settings->chains[i].rate_hz, &capacity, error);
        if (status != SF_OK) return status;
    }
    if (truth->occurrence_count > 1)
        qsort(truth->occurrences, truth->occurrence_count, sizeof *truth->occurrences, compare_occurrences);
    int status = list_planted(simulation, error);
    return status == SF_OK ? reject_collisions(simulation, error) : status;
}

static int plan_trains(sf_simulation *simulation, sf_error *error)
{
    uint32_t unit_count = simulation->settings.unit_count;
    simulation->trains = sf_alloc(unit_count, sizeof *simulation->trains);
    if (simulation->trains == NULL) return sf_fail_memory(error);
    size_t planted = 0;
    for (uint32_t unit = 0; unit < unit_count; unit++) {
        train *it = &simulation->trains[unit];
        sf_random about_unit = stream_for(simulation, FOR_UNIT, unit);
        it->amplitude = -30 - 60 * sf_random_uniform(&about_unit);
        it->random = stream_for(simulation, FOR_TRAIN, unit);
        it->duplicate_random = stream_for(simulation, FOR_DUPLICATES, unit);
        it->left = sf_random_exponential(&it->random);
        it->resume_ns = simulation->settings.start_ns;
        it->planted = planted;
        while (planted < simulation->planted_count && simulation->planted[planted].unit == unit)
            planted++;
        it->planted_end = planted;
    }
    return SF_OK;
}

/* Plans slices of about SLICE_SPIKES spikes, with bins so narrow that a bump is nearly linear within one. */
static int plan_slices(sf_simulation *simulation, sf_error *error)
{
    const sf_simulation_settings *settings = &simulation->settings;
    double rate =
        settings->unit_count * (settings->rate_hz + settings->burst_rate_hz * settings->burst_spikes);
    double slice_ns = SLICE_SPIKES / rate * 1e9;
    simulation->slice_ns = slice_ns < (double)LONGEST_SLICE_NS ? (int64_t)slice_ns + 1 : LONGEST_SLICE_NS;
    simulation->slice_start = simulation->slice_stop = settings->start_ns;
    simulation->bins = 1;
    if (simulation->burst_count > 0)
        simulation->bins = (size_t)(simulation->slice_ns * BINS_PER_SIGMA / settings->burst_sigma_ns) + 1;
    simulation->bin_ns = (double)simulation->slice_ns / (double)simulation->bins;
    simulation->accumulated = sf_alloc(simulation->bins + 1, sizeof *simulation->accumulated);
    return simulation->accumulated != NULL ? SF_OK : sf_fail_memory(error);
}

int sf_simulation_open(sf_simulation **out, const sf_simulation_settings *settings, sf_error *error)
{
    *out = NULL;
    int status = check_settings(settings, error);
    if (status != SF_OK) return status;
    sf_simulation *simulation = sf_alloc(1, sizeof *simulation);
    if (simulation == NULL) return sf_fail_memory(error);
    simulation->settings = *settings;
    simulation->dead_ns = settings->refractory_ns > 0 ? settings->refractory_ns : 1;
    simulation->hazard = settings->rate_hz / (1 - settings->rate_hz * (double)settings->refractory_ns * 1e-9);
    simulation->columns = grid_columns(settings->unit_count);
    status = plan_about(simulation, error);
    if (status == SF_OK) status = plan_bursts(simulation, error);
    if (status == SF_OK) status = plan_chains(simulation, error);
    if (status == SF_OK) status = plan_trains(simulation, error);
    if (status == SF_OK) status = plan_slices(simulation, error);
    if (status != SF_OK) {
        sf_simulation_close(simulation);
        return status;
    }
    simulation->settings.chains = NULL; /* borrowed until here */
    simulation->settings.description = NULL;
    *out = simulation;
    return SF_OK;
}

void sf_simulation_close(sf_simulation *simulation)
{
    if (simulation == NULL) return;
    sf_recording_clear(&simulation->about);
    sf_truth_free(&simulation->truth);
    sf_free(simulation->planted);
    sf_free(simulation->bursts);
    sf_free(simulation->trains);
    sf_free(simulation->accumulated);
    sf_free(simulation->spikes);
    sf_free(simulation->later);
    sf_free(simulation);
}

const sf_recording *sf_simulation_about(const sf_simulation *simulation)
{
    return &simulation->about;
}

const sf_truth *sf_simulation_truth(const sf_simulation *simulation)
{
    return &simulation->truth;
}

int64_t sf_simulation_done_ns(const sf_simulation *simulation)
{
    return simulation->slice_stop;
}

uint64_t sf_simulation_duplicates(const sf_simulation *simulation)
{
    return simulation->duplicates;
}

/* ---- one slice of time ---- */

static double normal_distribution(double z)
{
    return 0.5 * erfc(-z * M_SQRT1_2);
}

/* Accumulates the hazard from the start of the slice to each bin edge. */
static void accumulate_hazard(sf_simulation *simulation)
{
    double sigma = (double)simulation->settings.burst_sigma_ns;
    for (size_t edge = 0; edge <= simulation->bins; edge++)
        simulation->accumulated[edge] = simulation->hazard * 1e-9 * simulation->bin_ns * (double)edge;
    for (size_t i = 0; i < simulation->burst_count; i++) {
        double centre = (double)(simulation->bursts[i] - simulation->slice_start);
        if (centre < -BURST_REACH * sigma) continue;
        if (centre > BURST_REACH * sigma + (double)simulation->slice_ns) break;
        double before = normal_distribution(-centre / sigma);
        for (size_t edge = 1; edge <= simulation->bins; edge++) {
            double z = (simulation->bin_ns * (double)edge - centre) / sigma;
            simulation->accumulated[edge] +=
                simulation->settings.burst_spikes * (normal_distribution(z) - before);
        }
    }
}

static double accumulated_at(const sf_simulation *simulation, int64_t time_ns)
{
    double place = (double)(time_ns - simulation->slice_start) / simulation->bin_ns;
    size_t bin = (size_t)place < simulation->bins ? (size_t)place : simulation->bins - 1;
    const double *edge = &simulation->accumulated[bin];
    return edge[0] + (place - (double)bin) * (edge[1] - edge[0]);
}

/* The inverse: time at which `value` has accumulated, which is less than at the last edge. */
static int64_t time_of_accumulated(const sf_simulation *simulation, double value)
{
    size_t low = 0, high = simulation->bins; /* accumulated[low] <= value < accumulated[high] */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (simulation->accumulated[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    const double *edge = &simulation->accumulated[low];
    double place = (double)low + (value - edge[0]) / (edge[1] - edge[0]);
    return simulation->slice_start + (int64_t)(place * simulation->bin_ns);
}

static int add_spike(sf_spike **items, size_t *count, size_t *capacity, sf_spike spike, sf_error *error)
{
    void *grown = *items;
    if (sf_reserve(&grown, capacity, *count + 1, sizeof spike) != 0) return sf_fail_memory(error);
    *items = grown;
    (*items)[(*count)++] = spike;
    return SF_OK;
}

static int fire(sf_simulation *simulation, uint32_t unit, int64_t time_ns, sf_error *error)
{
    train *it = &simulation->trains[unit];
    it->resume_ns = time_ns + simulation->dead_ns;
    double amplitude = it->amplitude + 4 * sf_random_normal(&it->random);
    return add_spike(&simulation->spikes, &simulation->spike_count, &simulation->spike_capacity,
                     (sf_spike){time_ns, unit, (float)amplitude}, error);
}

/* Simulates one unit through the slice: it fires when its accumulated hazard reaches the drawn value, and at
 * its planted spikes. */
static int make_train(sf_simulation *simulation, uint32_t unit, sf_error *error)
{
    train *it = &simulation->trains[unit];
    int status = SF_OK;
    while (status == SF_OK) {
        bool has_planted = it->planted < it->planted_end;
        int64_t planted = has_planted ? simulation->planted[it->planted].time_ns : INT64_MAX;
        int64_t until = planted - simulation->dead_ns;
        if (until > simulation->slice_stop) until = simulation->slice_stop;
        if (it->resume_ns < until) {
            double from = accumulated_at(simulation, it->resume_ns), to = accumulated_at(simulation, until);
            if (from + it->left < to) {
                int64_t time = time_of_accumulated(simulation, from + it->left);
                it->left = sf_random_exponential(&it->random);
                status = fire(simulation, unit, time > it->resume_ns ? time : it->resume_ns, error);
                continue;
            }
            it->left -= to - from;
            it->resume_ns = until;
        }
        if (planted >= simulation->slice_stop) break;
        it->planted++;
        status = fire(simulation, unit, planted, error);
    }
    return status;
}

/* One of the up to eight units around this one on the grid. */
static uint32_t draw_neighbour(const sf_simulation *simulation, uint32_t unit, sf_random *random)
{
    uint32_t columns = simulation->columns, found[8];
    size_t count = 0;
    for (uint32_t row = unit / columns, y = row > 0 ? row - 1 : 0; y <= row + 1; y++)
        for (uint32_t column = unit % columns, x = column > 0 ? column - 1 : 0; x <= column + 1; x++) {
            uint32_t neighbour = y * columns + x;
            if (x < columns && neighbour < simulation->settings.unit_count && neighbour != unit)
                found[count++] = neighbour;
        }
    return found[sf_random_below(random, count)];
}

/* Draws second detections of this slice's spikes by neighbours, then adds every duplicate that falls into the
 * slice. */
static int add_duplicates(sf_simulation *simulation, sf_error *error)
{
    int status = SF_OK;
    size_t originals = simulation->spike_count;
    for (size_t i = 0; status == SF_OK && i < originals; i++) {
        sf_spike spike = simulation->spikes[i];
        sf_random *random = &simulation->trains[spike.unit].duplicate_random;
        if (sf_random_uniform(random) >= simulation->settings.duplicates) continue;
        spike.unit = draw_neighbour(simulation, spike.unit, random);
        spike.time_ns += 1 + (int64_t)sf_random_below(random, SF_SIMULATION_DUPLICATE_NS);
        spike.amplitude *= (float)(0.4 + 0.4 * sf_random_uniform(random));
        if (spike.time_ns < simulation->about.recorded.stop_ns)
            status = add_spike(&simulation->later, &simulation->later_count, &simulation->later_capacity,
                               spike, error);
    }
    size_t kept = 0;
    for (size_t i = 0; status == SF_OK && i < simulation->later_count; i++) {
        if (simulation->later[i].time_ns >= simulation->slice_stop) {
            simulation->later[kept++] = simulation->later[i];
            continue;
        }
        simulation->duplicates++;
        status = add_spike(&simulation->spikes, &simulation->spike_count, &simulation->spike_capacity,
                           simulation->later[i], error);
    }
    simulation->later_count = kept;
    return status;
}

/* A unit fires once at a time, so a duplicate at the same nanosecond as another spike of its unit is removed.
 */
static void remove_repeats(sf_simulation *simulation)
{
    sf_spike *spikes = simulation->spikes;
    size_t kept = 0;
    for (size_t i = 0; i < simulation->spike_count; i++) {
        if (kept > 0 && spikes[kept - 1].time_ns == spikes[i].time_ns &&
            spikes[kept - 1].unit == spikes[i].unit)
            simulation->duplicates--;
        else
            spikes[kept++] = spikes[i];
    }
    simulation->spike_count = kept;
}

static int make_slice(sf_simulation *simulation, sf_error *error)
{
    int64_t stop = simulation->about.recorded.stop_ns;
    simulation->slice_start = simulation->slice_stop;
    simulation->slice_stop = stop - simulation->slice_start > simulation->slice_ns
                                 ? simulation->slice_start + simulation->slice_ns
                                 : stop;
    simulation->spike_count = 0;
    accumulate_hazard(simulation);
    int status = SF_OK;
    for (uint32_t unit = 0; status == SF_OK && unit < simulation->settings.unit_count; unit++)
        status = make_train(simulation, unit, error);
    if (status == SF_OK && simulation->settings.duplicates > 0) status = add_duplicates(simulation, error);
    if (status == SF_OK) status = sf_spikes_sort(simulation->spikes, simulation->spike_count, error);
    if (status == SF_OK && simulation->settings.duplicates > 0) remove_repeats(simulation);
    return status;
}

int sf_simulation_next(sf_simulation *simulation, const sf_spike **spikes, size_t *count, sf_error *error)
{
    *spikes = NULL;
    *count = 0;
    simulation->spike_count = 0;
    while (simulation->slice_stop < simulation->about.recorded.stop_ns) {
        int status = make_slice(simulation, error);
        if (status != SF_OK) return status;
        if (simulation->spike_count > 0) break;
    }
    *spikes = simulation->spikes;
    *count = simulation->spike_count;
    return SF_OK;
}

int sf_simulate(sf_recording *recording, sf_truth *truth, const sf_simulation_settings *settings,
                const sf_progress *progress, sf_error *error)
{
    *recording = (sf_recording){0};
    if (truth != NULL) *truth = (sf_truth){0};
    sf_simulation *simulation;
    int status = sf_simulation_open(&simulation, settings, error);
    if (status != SF_OK) return status;
    sf_recording *about = &simulation->about;
    size_t count = 0, capacity = 0;
    do {
        const sf_spike *spikes;
        status = sf_simulation_next(simulation, &spikes, &count, error);
        void *grown = about->spikes;
        if (status == SF_OK && sf_reserve(&grown, &capacity, about->spike_count + count, sizeof *spikes) != 0)
            status = sf_fail_memory(error);
        if (status != SF_OK) break;
        about->spikes = grown;
        if (count > 0) memcpy(about->spikes + about->spike_count, spikes, count * sizeof *spikes);
        about->spike_count += count;
        if (!sf_progress_update(progress, "simulating", (double)(simulation->slice_stop - settings->start_ns),
                                (double)settings->duration_ns))
            status = sf_fail(error, SF_CANCELLED, NULL, "stopped");
    } while (status == SF_OK && count > 0);
    if (status == SF_OK) {
        *recording = *about;
        *about = (sf_recording){0};
        if (truth != NULL) {
            *truth = simulation->truth;
            simulation->truth = (sf_truth){0};
        }
    }
    sf_simulation_close(simulation);
    return status;
}
