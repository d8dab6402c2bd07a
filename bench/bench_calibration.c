/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are the tests of significance calibrated? Simulated recordings in which it is known who leads whom: the
 * share of unlinked episodes with p < 0.05, how many recordings have a corrected finding among them, the
 * share of false findings by --fdr, and whether a planted chain is found. Prints the table of
 * docs/episodes.md. bench_calibration [SEEDS [SURROGATES [SECONDS [SIZE [RECORDING [KIND [WIDTH_MS [DEVICE
 * [FIRST [ALWAYS]]]]]]]]]] By default 20 1000 1800 2 0 segment-shift 0 auto 1 0; SIZE is 2 or 3, RECORDING
 * one of the kinds below, or 0 for all, width 0 the usual one, FIRST the first seed, and ALWAYS 1 gives p and
 * q also where the recording is not testable.
 *
 * 24 units on a grid; dead time 2 ms; delays (0.5,20] ms, and no pairs of neighbours, which see each other's
 * spikes again. Alone every unit fires at 5 Hz. With bursts it fires at 4 Hz and has 5 more spikes in each
 * burst that all units share (sigma 100 ms, short ones 50 ms; one in 10 s on average); strong bursts have 10
 * more spikes at 2 Hz otherwise. With duplicates 15 % of all spikes are detected again by a neighbour. One
 * chain of three units is planted, so often that its links count 1.4 times what they would without it.
 *
 * Other shapes of the rate that all units share are made by leaving out spikes of recordings without bursts:
 * bursts of 5 spikes that rise within 5 ms and decay with 150 ms; a rhythm of half the rate; a rate that
 * triples over the recording. Fast units have 15 to 50 Hz each, regular ones 10 to 30 Hz with intervals of a
 * gamma distribution of shape 10; of doublets 30 % of spikes are followed by another 4 to 6 ms later.
 *
 * An episode is unlinked where no two of its units lie within a neighbour of two units of the chain. A
 * by-product is a link of the chain and, before or after it, a unit that lies near none of the chain's. False
 * findings are unlinked episodes with q < 0.05 as a share of those and the found parts of the chain; what is
 * neither is left out, which makes the share larger.
 */
#include "core/clock.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/text.h"
#include "mine/significance.h"
#include "replay/simulation.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNITS 24u
#define COLUMNS 5u
#define RATIO 1.4
#define SIZES 4 /* sizes below it are looked at */

#define LOW_NS 500000 /* of the delay */
#define HIGH_MS 20
static const uint32_t chain_units[] = {0, 12, 22}; /* none a neighbour of another */

typedef enum shape { AS_SIMULATED, ONSET, RHYTHM, DRIFT, FAST, REGULAR, DOUBLETS } shape;

typedef struct setting {
    const char *name;
    double rate_hz, burst_rate_hz, burst_spikes, duplicates;
    int64_t sigma_ms;
    bool chain;
    shape shape;
    double rhythm_hz;
    int64_t high_ms; /* of the delay; 0: 20 */
} setting;

static const setting settings[] = {
    {"independent", 5, 0, 0, 0, 100, true, AS_SIMULATED, 0, 0},
    {"bursts, duplicates", 4, 0.1, 5, 0.15, 100, true, AS_SIMULATED, 0, 0},
    {"strong bursts, duplicates", 2, 0.1, 10, 0.15, 100, true, AS_SIMULATED, 0, 0},
    {"short bursts, duplicates", 4, 0.1, 5, 0.15, 50, true, AS_SIMULATED, 0, 0},
    {"independent, no chain", 5, 0, 0, 0, 100, false, AS_SIMULATED, 0, 0},
    {"bursts, duplicates, no chain", 4, 0.1, 5, 0.15, 100, false, AS_SIMULATED, 0, 0},
    {"bursts of 10 ms, no chain", 4, 0.1, 5, 0, 10, false, AS_SIMULATED, 0, 0},
    {"bursts of 20 ms, no chain", 4, 0.1, 5, 0, 20, false, AS_SIMULATED, 0, 0},
    {"bursts of 30 ms, no chain", 4, 0.1, 5, 0, 30, false, AS_SIMULATED, 0, 0},
    {"bursts of 50 ms, no chain", 4, 0.1, 5, 0, 50, false, AS_SIMULATED, 0, 0},
    {"bursts of 100 ms, no chain", 4, 0.1, 5, 0, 100, false, AS_SIMULATED, 0, 0},
    {"sharp onset, no chain", 4, 0.1, 5, 0, 100, false, ONSET, 0, 0},
    {"8 Hz rhythm, no chain", 5, 0, 0, 0, 100, false, RHYTHM, 8, 0},
    {"4 Hz rhythm, no chain", 5, 0, 0, 0, 100, false, RHYTHM, 4, 0},
    {"drift, no chain", 5, 0, 0, 0, 100, false, DRIFT, 0, 0},
    {"fast units, no chain", 50, 0, 0, 0, 100, false, FAST, 0, 0},
    {"bursts of 30 ms", 4, 0.1, 5, 0, 30, true, AS_SIMULATED, 0, 0},
    {"bursts of 50 ms", 4, 0.1, 5, 0, 50, true, AS_SIMULATED, 0, 0},
    {"sharp onset", 4, 0.1, 5, 0, 100, true, ONSET, 0, 0},
    {"8 Hz rhythm", 5, 0, 0, 0, 100, true, RHYTHM, 8, 0},
    {"regular units, no chain", 20, 0, 0, 0, 100, false, REGULAR, 0, 0},
    {"doublets, no chain", 5, 0, 0, 0, 100, false, DOUBLETS, 0, 0},
    {"bursts of 20 ms", 4, 0.1, 5, 0, 20, true, AS_SIMULATED, 0, 0},
    {"4 Hz rhythm", 5, 0, 0, 0, 100, true, RHYTHM, 4, 0},
    {"fast units", 50, 0, 0, 0, 100, true, FAST, 0, 0},
    {"slow units, no chain", 1.5, 0, 0, 0, 100, false, AS_SIMULATED, 0, 0},
    {"slow units", 1.5, 0, 0, 0, 100, true, AS_SIMULATED, 0, 0},
    {"units of 20 Hz, delays up to 50 ms, no chain", 20, 0, 0, 0, 100, false, AS_SIMULATED, 0, 50},
    {"units of 40 Hz, delays up to 50 ms, no chain", 40, 0, 0, 0, 100, false, AS_SIMULATED, 0, 50},
    {"units of 20 Hz, delays up to 50 ms", 20, 0, 0, 0, 100, true, AS_SIMULATED, 0, 50},
};

typedef struct plan {
    uint64_t seeds, seconds, max_size;
    uint64_t only;  /* 1-based setting; 0: all */
    uint64_t first; /* seed */
    sf_significance_options options;
} plan;

/* Of one size in the recordings of a setting, or in one of them. */
typedef struct tally {
    uint64_t unlinked, low, low_last; /* p < 0.05, and that of the last unit alone */
    uint64_t by_products, by_products_low;
    uint64_t findings[2], chain[2]; /* by correction: of unlinked ones and of the chain's parts */
    uint64_t runs_with_findings, runs_with_chain[2], runs_without_verdict;
    double least, most;                  /* share with p < 0.05 of a run */
    double false_share;                  /* of findings by the rate, sum over runs */
    double width_ms, divisor, sharpness; /* sums over runs, tested or not */
} tally;

static bool are_neighbours(uint32_t a, uint32_t b)
{
    int rows = (int)(a / COLUMNS) - (int)(b / COLUMNS), columns = (int)(a % COLUMNS) - (int)(b % COLUMNS);
    return abs(rows) <= 1 && abs(columns) <= 1;
}

/* The unit of the chain that this one may carry spikes of, as a bit set: itself and its neighbours. */
static unsigned carries(uint32_t unit)
{
    unsigned set = 0;
    for (unsigned i = 0; i < 3; i++)
        set |= (unsigned)are_neighbours(unit, chain_units[i]) << i;
    return set;
}

static bool is_unlinked(const sf_episode *episode)
{
    for (uint32_t a = 0; a < episode->size; a++)
        for (uint32_t b = 0; b < a; b++) {
            unsigned one = carries(episode->units[a]), other = carries(episode->units[b]);
            if ((one != 0 && other != 0) || are_neighbours(episode->units[a], episode->units[b]))
                return false;
        }
    return true;
}

/* ---- rates of other shapes ---- */

#define BIN_NS (SF_MILLISECOND / 2)
#define RISE_S 0.005
#define DECAY_S 0.15

static void add_onsets(float *rates, size_t bins, const setting *s, uint64_t seed)
{
    sf_random random = sf_random_start(seed, UINT64_C(1) << 62);
    double bin_s = (double)BIN_NS * 1e-9;
    for (double at = 0; (at += sf_random_exponential(&random) / s->burst_rate_hz) < (double)bins * bin_s;)
        for (size_t i = (size_t)(at / bin_s); i < bins && (double)i * bin_s < at + 10 * DECAY_S; i++) {
            double since = fmax(0, ((double)i + 0.5) * bin_s - at);
            double density = (exp(-since / DECAY_S) - exp(-since / RISE_S)) / (DECAY_S - RISE_S);
            rates[i] += (float)(s->burst_spikes * density);
        }
}

/* By bins of half a millisecond. Free with sf_free. */
static float *shape_rates(const setting *s, size_t bins, uint64_t seed)
{
    float *rates = sf_alloc(bins, sizeof *rates);
    for (size_t i = 0; rates != NULL && i < bins; i++) {
        double at_s = (double)i * (double)BIN_NS * 1e-9, rate = s->rate_hz;
        if (s->shape == RHYTHM)
            rate *= 1 + 0.5 * cos(2 * 3.14159265358979 * s->rhythm_hz * at_s);
        else if (s->shape == DRIFT)
            rate *= 0.5 + (double)i / (double)bins;
        rates[i] = (float)rate;
    }
    if (rates != NULL && s->shape == ONSET) add_onsets(rates, bins, s, seed);
    return rates;
}

static float highest(const float *rates, size_t bins)
{
    float most = 0; /* in double, gcc 12 for aarch64 ends here by an error of its own */
    for (size_t i = 0; i < bins; i++)
        most = fmaxf(most, rates[i]);
    return most;
}

/* For spikes in order; *next is where to look from on. */
static bool is_planted(const sf_truth *truth, size_t *next, const sf_spike *spike)
{
    const sf_occurrence *planted = truth->occurrences;
    while (*next < truth->occurrence_count && planted[*next].times_ns[0] < spike->time_ns - SF_SECOND)
        ++*next;
    for (size_t k = *next; k < truth->occurrence_count && planted[k].times_ns[0] <= spike->time_ns; k++)
        for (unsigned node = 0; node < 3; node++)
            if (planted[k].times_ns[node] == spike->time_ns && chain_units[node] == spike->unit) return true;
    return false;
}

/* Leaves out spikes of a recording at the highest of the rates, but planted ones. */
static void thin(sf_recording *recording, const sf_truth *truth, const setting *s, const float *rates,
                 size_t bins, uint64_t seed)
{
    sf_random random = sf_random_start(seed, (UINT64_C(1) << 62) + 1);
    double most = highest(rates, bins), part[UNITS];
    size_t kept = 0, next = 0;
    for (uint32_t u = 0; u < UNITS; u++)
        part[u] = s->shape == FAST ? 0.3 + 0.7 * sf_random_uniform(&random) : 1;
    for (size_t i = 0; i < recording->spike_count; i++) {
        sf_spike spike = recording->spikes[i];
        size_t bin = (size_t)(spike.time_ns / BIN_NS);
        double likely = part[spike.unit] * rates[bin < bins ? bin : bins - 1] / most;
        if (sf_random_uniform(&random) < likely || is_planted(truth, &next, &spike))
            recording->spikes[kept++] = spike;
    }
    recording->spike_count = kept;
}

/* ---- trains of other shapes ---- */

static double gamma_interval(sf_random *random, double mean_s, int order)
{
    double sum = 0;
    for (int i = 0; i < order; i++)
        sum += sf_random_exponential(random);
    return sum * mean_s / order;
}

/* Room for so many spikes and one more. */
static int append(sf_recording *recording, size_t *capacity, int64_t time_ns, uint32_t unit)
{
    if (sf_reserve(&recording->spikes, capacity, recording->spike_count + 1, sizeof *recording->spikes) != 0)
        return SF_NO_MEMORY;
    recording->spikes[recording->spike_count++] = (sf_spike){.time_ns = time_ns, .unit = unit};
    return SF_OK;
}

static int append_train(sf_recording *recording, size_t *capacity, const setting *s, uint32_t unit,
                        double seconds, sf_random *random)
{
    int status = SF_OK;
    double hz = s->shape == REGULAR ? 10 + 20 * sf_random_uniform(random) : s->rate_hz, at_s = 0;
    while (status == SF_OK &&
           (at_s += gamma_interval(random, 1 / hz, s->shape == REGULAR ? 10 : 1)) < seconds) {
        status = append(recording, capacity, (int64_t)(at_s * 1e9), unit);
        if (status == SF_OK && s->shape == DOUBLETS && sf_random_uniform(random) < 0.3) {
            at_s += 0.004 + 0.002 * sf_random_uniform(random);
            status = append(recording, capacity, (int64_t)(at_s * 1e9), unit);
        }
    }
    return status;
}

/* Puts trains in place of those of the recording. */
static int replace_trains(sf_recording *recording, const setting *s, double seconds, uint64_t seed)
{
    sf_random random = sf_random_start(seed, (UINT64_C(1) << 62) + 2);
    size_t capacity = recording->spike_count;
    int status = SF_OK;
    recording->spike_count = 0;
    for (uint32_t u = 0; u < UNITS && status == SF_OK; u++)
        status = append_train(recording, &capacity, s, u, seconds, &random);
    return status == SF_OK ? sf_spikes_sort(recording->spikes, recording->spike_count, NULL) : status;
}

/* ---- one recording ---- */

static int simulate_shape(sf_recording *recording, sf_simulation_settings *made, const setting *s,
                          sf_error *error)
{
    size_t bins = (size_t)(made->duration_ns / BIN_NS);
    float *rates = shape_rates(s, bins, made->seed);
    if (rates == NULL) return SF_NO_MEMORY;
    made->rate_hz = highest(rates, bins);
    made->burst_rate_hz = 0;
    sf_truth truth;
    int status = sf_simulate(recording, &truth, made, NULL, error);
    if (status == SF_OK) {
        thin(recording, &truth, s, rates, bins, made->seed);
        sf_truth_free(&truth);
    }
    sf_free(rates);
    return status;
}

static int simulate(sf_recording *recording, const plan *p, const setting *s, uint64_t seed, double chain_hz,
                    sf_error *error)
{
    sf_simulation_chain chain = {.episode = {.size = 3}, .rate_hz = chain_hz};
    for (uint32_t i = 0; i < 3; i++) {
        chain.episode.units[i] = chain_units[i];
        chain.episode.delays[i] = (sf_delay){8 * SF_MILLISECOND, 12 * SF_MILLISECOND};
    }
    sf_simulation_settings made;
    sf_simulation_settings_default(&made);
    made.seed = seed;
    made.unit_count = UNITS;
    made.rate_hz = s->rate_hz;
    made.duration_ns = (int64_t)p->seconds * SF_SECOND;
    made.burst_rate_hz = s->burst_rate_hz;
    made.burst_sigma_ns = s->sigma_ms * SF_MILLISECOND;
    made.burst_spikes = s->burst_spikes;
    made.duplicates = s->duplicates;
    made.chains = &chain;
    made.chain_count = chain_hz > 0;
    if (s->shape != AS_SIMULATED && s->shape < REGULAR) return simulate_shape(recording, &made, s, error);
    int status = sf_simulate(recording, NULL, &made, NULL, error);
    return status == SF_OK && s->shape >= REGULAR ? replace_trains(recording, s, (double)p->seconds, seed)
                                                  : status;
}

static sf_mine_input input_of(const sf_recording *recording)
{
    return (sf_mine_input){.spikes = recording->spikes,
                           .spike_count = recording->spike_count,
                           .units = &recording->units,
                           .duration_ns = sf_recording_duration_ns(recording)};
}

static void mining_options(sf_mining_options *options, sf_delay *delay, const setting *s, uint32_t max_size)
{
    *options = sf_mining_options_default();
    *delay = (sf_delay){LOW_NS, (s->high_ms > 0 ? s->high_ms : HIGH_MS) * SF_MILLISECOND};
    options->delays = delay;
    options->delay_count = 1;
    options->max_size = max_size;
    options->threshold = 20;
    options->min_distance_um = 150; /* neighbours are 100 or 141 um apart */
}

/* The mean count of pairs that are not neighbours, in a recording without a chain: what chance makes. */
static int chance_count(double *mean, const plan *p, const setting *s, sf_error *error)
{
    sf_recording recording;
    int status = simulate(&recording, p, s, 1000, 0, error);
    if (status != SF_OK) return status;
    sf_mine_input input = input_of(&recording);
    sf_mining_options options;
    sf_mine_result *result;
    sf_delay delay;
    mining_options(&options, &delay, s, 2);
    status = sf_mine_spikes(&result, &input, &options, NULL, error);
    *mean = 0;
    for (size_t i = 0; status == SF_OK && i < result->count; i++)
        *mean += result->items[i].count / (double)result->count;
    if (status == SF_OK) sf_mine_result_free(result);
    sf_recording_clear(&recording);
    return status;
}

/* ---- what a run tells ---- */

static bool is_of_chain(const sf_episode *episode)
{
    for (uint32_t from = 0; from + episode->size <= 3; from++)
        if (memcmp(episode->units, chain_units + from, episode->size * sizeof *chain_units) == 0) return true;
    return false;
}

static bool is_by_product(const sf_episode *episode)
{
    for (uint32_t from = 0; from < 2 && episode->size == 3; from++)
        if (memcmp(episode->units + from, chain_units, 2 * sizeof *chain_units) == 0 ||
            memcmp(episode->units + from, chain_units + 1, 2 * sizeof *chain_units) == 0)
            return carries(episode->units[from == 0 ? 2 : 0]) == 0;
    return false;
}

/* p and unlinked episodes are counted with the first correction, the second changes q alone. */
static void add_items(tally *run, const sf_mine_result *result, sf_correction correction)
{
    for (size_t i = 0; i < result->count; i++) {
        const sf_mine_item *item = &result->items[i];
        if (item->not_tested != SF_TESTABLE) continue;
        tally *of = &run[item->size];
        bool first = correction == SF_CORRECTION_MAXIMUM, finding = item->q < 0.05;
        sf_episode episode;
        sf_mine_result_episode(result, i, &episode);
        if (is_of_chain(&episode)) {
            of->chain[correction] += finding;
        } else if (is_unlinked(&episode)) {
            of->findings[correction] += finding;
            of->unlinked += first;
            of->low += first && item->p < 0.05;
            of->low_last += first && item->p_last < 0.05;
        } else if (is_by_product(&episode)) {
            of->by_products += first;
            of->by_products_low += first && item->p < 0.05;
        }
    }
}

static void add_run(tally *sum, const tally *run, uint32_t size)
{
    sum->width_ms += run->width_ms;
    sum->divisor += run->divisor;
    sum->sharpness += run->sharpness;
    if (run->unlinked == 0) {
        sum->runs_without_verdict++;
        return;
    }
    double share = (double)run->low / (double)run->unlinked;
    uint64_t found = run->findings[SF_CORRECTION_RATE] + run->chain[SF_CORRECTION_RATE];
    sum->unlinked += run->unlinked;
    sum->low += run->low;
    sum->low_last += run->low_last;
    sum->by_products += run->by_products;
    sum->by_products_low += run->by_products_low;
    sum->least = fmin(sum->least, share);
    sum->most = fmax(sum->most, share);
    sum->runs_with_findings += run->findings[SF_CORRECTION_MAXIMUM] > 0;
    for (int c = 0; c < 2; c++)
        sum->runs_with_chain[c] += run->chain[c] == 4 - size;
    sum->false_share += found > 0 ? (double)run->findings[SF_CORRECTION_RATE] / (double)found : 0;
}

static int test_run(tally *sum, const plan *p, const setting *s, const sf_recording *recording, uint64_t seed,
                    sf_error *error)
{
    int corrections = s->chain ? 2 : 1; /* without a chain every finding is false */
    sf_mine_input input = input_of(recording);
    sf_mining_options options;
    sf_mine_result *result;
    sf_delay delay;
    mining_options(&options, &delay, s, (uint32_t)p->max_size);
    int status = sf_mine_spikes(&result, &input, &options, NULL, error);
    if (status != SF_OK) return status;
    tally run[SIZES] = {{0}};
    for (int correction = 0; correction < corrections && status == SF_OK; correction++) {
        sf_significance told;
        sf_significance_options test = p->options;
        test.seed = seed;
        test.correction = (sf_correction)correction;
        status = sf_significance_test(&told, result, &input, &options, &test, NULL, error);
        for (int size = 0; size < SIZES && status == SF_OK; size++) {
            run[size].width_ms = (double)told.options.width_ns * 1e-6;
            run[size].divisor = told.sharpness.divisor;
            run[size].sharpness = told.sharpness.sharpness;
        }
        if (status == SF_OK) add_items(run, result, test.correction);
    }
    for (uint32_t size = 2; size <= p->max_size && status == SF_OK; size++)
        add_run(&sum[size], &run[size], size);
    sf_mine_result_free(result);
    return status;
}

static int run_seed(tally *sum, const plan *p, const setting *s, uint64_t seed, double chance,
                    sf_error *error)
{
    sf_recording recording;
    double chain_hz = s->chain ? (RATIO - 1) * chance / (double)p->seconds : 0;
    int status = simulate(&recording, p, s, seed, chain_hz, error);
    if (status != SF_OK) return status;
    status = test_run(sum, p, s, &recording, seed, error);
    sf_recording_clear(&recording);
    return status;
}

static double percent(uint64_t part, uint64_t whole)
{
    return 100.0 * (double)part / (double)whole;
}

static void print_row(const setting *s, const tally *sum, uint32_t size, uint64_t seeds)
{
    uint64_t judged = seeds - sum->runs_without_verdict;
    printf("| %s | %" PRIu32 " | %.0f ms | 1/%.3g | %.2f | %" PRIu64 " | ", s->name, size,
           sum->width_ms / (double)seeds, sum->divisor / (double)seeds, sum->sharpness / (double)seeds,
           sum->runs_without_verdict);
    if (judged == 0) {
        printf("| | | | | | | |\n");
        fflush(stdout);
        return;
    }
    printf("%" PRIu64 " | %.2f %% (%.1f to %.1f) | %.2f %% | ", sum->unlinked / judged,
           percent(sum->low, sum->unlinked), 100 * sum->least, 100 * sum->most,
           percent(sum->low_last, sum->unlinked));
    if (sum->by_products > 0)
        printf("%.2f %% of %" PRIu64, percent(sum->by_products_low, sum->by_products),
               sum->by_products / judged);
    printf(" | %" PRIu64 " | ", sum->runs_with_findings);
    if (s->chain) printf("%" PRIu64, sum->runs_with_chain[SF_CORRECTION_MAXIMUM]);
    printf(" | ");
    if (s->chain) printf("%.1f %%", 100 * sum->false_share / (double)judged);
    printf(" | ");
    if (s->chain) printf("%" PRIu64, sum->runs_with_chain[SF_CORRECTION_RATE]);
    printf(" |\n");
    fflush(stdout);
}

static int run_setting(const plan *p, const setting *s, sf_error *error)
{
    tally sum[SIZES] = {{0}};
    double chance = 0, start = sf_clock_seconds();
    for (uint32_t size = 0; size < SIZES; size++)
        sum[size].least = INFINITY;
    int status = chance_count(&chance, p, s, error);
    for (uint64_t seed = p->first; seed < p->first + p->seeds && status == SF_OK; seed++)
        status = run_seed(sum, p, s, seed, chance, error);
    for (uint32_t size = 2; size <= p->max_size && status == SF_OK; size++)
        print_row(s, &sum[size], size, p->seeds);
    if (status == SF_OK)
        fprintf(stderr, "%s: chance makes %.0f of a pair; %.1f s\n", s->name, chance,
                sf_clock_seconds() - start);
    return status;
}

static int read_arguments(plan *p, int count, char **arguments, sf_error *error)
{
    uint64_t numbers[] = {20, 1000, 1800, 2, 0}, width_ms = 0;
    for (int i = 1; i < count && i <= 5; i++)
        if (!sf_parse_uint(arguments[i], 1000000, &numbers[i - 1]) || (numbers[i - 1] == 0 && i < 5))
            return SF_USAGE;
    p->options = sf_significance_options_default();
    p->seeds = numbers[0];
    p->options.surrogates = (uint32_t)numbers[1];
    p->seconds = numbers[2];
    p->max_size = numbers[3] > 2 ? 3 : 2;
    p->only = numbers[4];
    if (count > 7 && !sf_parse_uint(arguments[7], 1000, &width_ms)) return SF_USAGE;
    p->options.width_ns = (int64_t)width_ms * SF_MILLISECOND;
    p->options.device = count > 8 ? arguments[8] : NULL;
    p->first = 1;
    if (count > 9 && !sf_parse_uint(arguments[9], 1000000, &p->first)) return SF_USAGE;
    p->options.always = count > 10 && strcmp(arguments[10], "1") == 0;
    return count > 6 ? sf_significance_find(&p->options.kind, arguments[6], error) : SF_OK;
}

int main(int count, char **arguments)
{
    plan p = {0};
    sf_error error = {.text = "expected [SEEDS [SURROGATES [SECONDS [SIZE [RECORDING [KIND [WIDTH_MS [DEVICE "
                              "[FIRST [ALWAYS]]]]]]]]]]"};
    int status = read_arguments(&p, count, arguments, &error);
    if (status == SF_OK)
        printf("Of %" PRIu64 " recordings each:\n\n| recording | size | shifts | taken off | sharpness | "
               "without a verdict | unlinked | p < "
               "0.05 (least to most of a "
               "recording) | by the last unit alone | by-products with p < 0.05 | with q < 0.05 among the "
               "unlinked | with the chain found | --fdr: false among the found | with the chain found "
               "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
               p.seeds);
    for (size_t i = 0; i < sizeof settings / sizeof *settings && status == SF_OK; i++)
        if (p.only == 0 || p.only == i + 1) status = run_setting(&p, &settings[i], &error);
    if (status != SF_OK) fprintf(stderr, "%s\n", error.text);
    return status == SF_OK ? 0 : 1;
}
