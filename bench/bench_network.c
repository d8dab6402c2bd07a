/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network whose synapses are known, to judge connectivity by: in the style of the simulations of Donner et
 * al. (PLoS Comput Biol 20, 2024, doi:10.1371/journal.pcbi.1011964), with parameters of our own, which stand
 * below. 300 leaky integrate-and-fire neurons, 240 excitatory (E) and 60 inhibitory (I), joined at random;
 * conductances that decay exponentially, lognormal strengths, delays of 1 to 4 ms, excitatory synapses that
 * depress (Tsodyks and Markram 1997), an independent noise current for each. How strong excitation is makes
 * three regimes of network bursts. A hundred of them are recorded, 80 E and 20 I; whoever else drives them is
 * not seen.
 *
 *     bench_network SPIKES.csv TRUTH.csv [REGIME [MINUTES [SEED]]]
 *
 * REGIME is low, medium or high (default medium), MINUTES 60, SEED 1. SPIKES has a line `unit,time_s` for
 * each spike, units being E0 to E239 and I0 to I59; TRUTH a line `from,to,sign,weight,delay_ms` for each
 * synapse between two recorded units, the weight in units of the leak. Prints rates, and how many bursts
 * there are: bins of 50 ms with at least half as many spikes as neurons.
 */
#include "core/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEURONS = 300, EXCITATORY = 240, RECORDED_E = 80, RECORDED_I = 20, SLOTS = 16, BURST_BIN_MS = 50 };

#define STEP_MS 0.5f
#define REST_MV (-65.0f)
#define RESET_MV (-62.0f)
#define THRESHOLD_MV (-50.0f)
#define TO_E_MV 0.0f
#define TO_I_MV (-80.0f)
#define DECAY_E_MS 3.0f
#define DECAY_I_MS 8.0f
#define DEAD_MS 3.0f
#define NOISE_MV 3.2f    /* standard deviation of the potential that noise alone makes */
#define DRIVE_MV 5.5f    /* mean depolarisation by the drive, */
#define DRIVE_SD_MV 1.5f /* which differs from neuron to neuron */
#define JOINED 0.08      /* probability of a synapse */
#define STRENGTH_E 0.16f /* median, of the leak conductance; times that of the regime */
#define STRENGTH_I 0.35f
#define STRENGTH_SIGMA 0.6 /* of its logarithm */
#define RELEASE 0.12f      /* share of its resources that a spike takes of an excitatory synapse */
#define RECOVERY_MS 1500.0f

typedef struct regime {
    const char *name;
    float strength;
} regime;

static const regime regimes[] = {{"low", 1.5f}, {"medium", 2.1f}, {"high", 2.9f}};

typedef struct synapse {
    uint16_t to;
    uint16_t steps;
    float strength;
} synapse;

typedef struct network {
    synapse synapses[NEURONS][NEURONS];
    size_t synapse_count[NEURONS];
    float drive[NEURONS], leak_ms[NEURONS], potential[NEURONS], g_e[NEURONS], g_i[NEURONS];
    float resource[NEURONS], dead[NEURONS];
    float arriving_e[SLOTS][NEURONS], arriving_i[SLOTS][NEURONS]; /* by the step at which they arrive */
    int64_t last_spike[NEURONS];
    uint64_t spikes[NEURONS];
    bool recorded[NEURONS];
    uint64_t random;
} network;

/* SplitMix64 (Steele et al. 2014): noise takes two thousand million numbers an hour. */
static uint64_t draw(network *n)
{
    uint64_t x = n->random += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static double uniform(network *n)
{
    return ((double)(draw(n) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(network *n)
{
    double radius = sqrt(-2 * log(uniform(n)));
    return radius * cos(6.283185307179586 * uniform(n));
}

/* Of 64 coins, close enough to a normal variable for a noise that the membrane sums over 40 steps. */
static float coin_noise(network *n)
{
    return ((float)__builtin_popcountll(draw(n)) - 32) / 4;
}

static void join(network *n, const regime *of)
{
    for (size_t from = 0; from < NEURONS; from++)
        for (size_t to = 0; to < NEURONS; to++) {
            if (from == to || uniform(n) >= JOINED) continue;
            float median = from < EXCITATORY ? STRENGTH_E * of->strength : STRENGTH_I;
            double delay_ms = 1 + 3 * uniform(n);
            n->synapses[from][n->synapse_count[from]++] =
                (synapse){.to = (uint16_t)to,
                          .steps = (uint16_t)lround(delay_ms / (double)STEP_MS),
                          .strength = median * (float)exp(STRENGTH_SIGMA * normal(n))};
        }
}

/* So many of the neurons first .. end - 1. */
static void record(network *n, size_t first, size_t end, size_t wanted)
{
    while (wanted > 0) {
        size_t i = first + (size_t)(uniform(n) * (double)(end - first));
        wanted -= !n->recorded[i];
        n->recorded[i] = true;
    }
}

static network *build(const regime *of, uint64_t seed)
{
    network *n = calloc(1, sizeof *n);
    if (n == NULL) return NULL;
    n->random = seed * 0x632be59bd9b4e019u;
    join(n, of);
    for (size_t i = 0; i < NEURONS; i++) {
        n->drive[i] = DRIVE_MV + DRIVE_SD_MV * (float)normal(n);
        n->leak_ms[i] = i < EXCITATORY ? 20 : 12;
        n->potential[i] = REST_MV + 10 * (float)uniform(n);
        n->resource[i] = 1;
    }
    record(n, 0, EXCITATORY, RECORDED_E);
    record(n, EXCITATORY, NEURONS, RECORDED_I);
    return n;
}

static void name(char text[24], size_t neuron)
{
    snprintf(text, 24, "%c%zu", neuron < EXCITATORY ? 'E' : 'I',
             neuron < EXCITATORY ? neuron : neuron - EXCITATORY);
}

static void write_truth(const network *n, FILE *file)
{
    fprintf(file, "from,to,sign,weight,delay_ms\n");
    for (size_t from = 0; from < NEURONS; from++)
        for (size_t k = 0; n->recorded[from] && k < n->synapse_count[from]; k++) {
            const synapse *s = &n->synapses[from][k];
            char a[24], b[24];
            name(a, from), name(b, s->to);
            if (n->recorded[s->to])
                fprintf(file, "%s,%s,%d,%.4f,%.1f\n", a, b, from < EXCITATORY ? 1 : -1, (double)s->strength,
                        (double)((float)s->steps * STEP_MS));
        }
}

/* An excitatory spike takes a share of what its synapses have by now. */
static void send(network *n, size_t from, int64_t step)
{
    float part = 1;
    if (from < EXCITATORY) {
        float rest = 1 - n->resource[from], ms = (float)(step - n->last_spike[from]) * STEP_MS;
        n->resource[from] = 1 - rest * expf(-ms / RECOVERY_MS);
        part = n->resource[from];
        n->resource[from] *= 1 - RELEASE;
    }
    n->last_spike[from] = step;
    n->spikes[from]++;
    for (size_t k = 0; k < n->synapse_count[from]; k++) {
        const synapse *s = &n->synapses[from][k];
        float(*arriving)[NEURONS] = from < EXCITATORY ? n->arriving_e : n->arriving_i;
        arriving[(step + s->steps) % SLOTS][s->to] += s->strength * part;
    }
}

/* One step of all potentials, by Euler's method. */
static void advance(network *n, int64_t step)
{
    float *in_e = n->arriving_e[step % SLOTS], *in_i = n->arriving_i[step % SLOTS];
    const float keep_e = expf(-STEP_MS / DECAY_E_MS), keep_i = expf(-STEP_MS / DECAY_I_MS);
    for (size_t i = 0; i < NEURONS; i++) {
        n->g_e[i] = n->g_e[i] * keep_e + in_e[i];
        n->g_i[i] = n->g_i[i] * keep_i + in_i[i];
        in_e[i] = in_i[i] = 0;
        float v = n->potential[i], share = STEP_MS / n->leak_ms[i];
        float noise = NOISE_MV * sqrtf(2 * share) * coin_noise(n);
        v += share * (REST_MV + n->drive[i] - v + n->g_e[i] * (TO_E_MV - v) + n->g_i[i] * (TO_I_MV - v)) +
             noise;
        n->dead[i] -= STEP_MS;
        n->potential[i] = n->dead[i] > 0 ? RESET_MV : v;
    }
}

/* Steps in which a neuron fires; returns the number of them. */
static size_t fire(network *n, int64_t step, FILE *file)
{
    size_t fired = 0;
    for (size_t i = 0; i < NEURONS; i++) {
        if (n->potential[i] < THRESHOLD_MV) continue;
        char unit[24];
        name(unit, i);
        n->potential[i] = RESET_MV;
        n->dead[i] = DEAD_MS;
        send(n, i, step);
        fired++;
        if (n->recorded[i])
            fprintf(file, "%s,%.6f\n", unit, ((double)step + uniform(n)) * (double)STEP_MS / 1000);
    }
    return fired;
}

static void simulate(network *n, double minutes, FILE *file)
{
    const int64_t steps = (int64_t)(minutes * 60000 / (double)STEP_MS),
                  bin = (int64_t)(BURST_BIN_MS / (double)STEP_MS);
    size_t fired = 0, full = 0;
    uint64_t in_full = 0, all = 0;
    fprintf(file, "unit,time_s\n");
    for (int64_t step = 0; step < steps; step++) {
        advance(n, step);
        fired += fire(n, step, file);
        if ((step + 1) % bin != 0) continue;
        full += fired >= NEURONS / 2;
        in_full += fired >= NEURONS / 2 ? fired : 0;
        all += fired;
        fired = 0;
    }
    double rates[2] = {0}, seconds = minutes * 60;
    for (size_t i = 0; i < NEURONS; i++)
        rates[i >= EXCITATORY] += (double)n->spikes[i] / seconds;
    printf("E %.2f Hz, I %.2f Hz; half as many spikes as neurons or more in %.2f bins of %d ms a minute, "
           "which hold %.0f %% of spikes\n",
           rates[0] / EXCITATORY, rates[1] / (NEURONS - EXCITATORY), (double)full / minutes, BURST_BIN_MS,
           100 * (double)in_full / (double)(all + (all == 0)));
}

static const regime *find_regime(const char *text)
{
    for (size_t i = 0; i < sizeof regimes / sizeof *regimes; i++)
        if (strcmp(regimes[i].name, text) == 0) return &regimes[i];
    return NULL;
}

int main(int count, char **arguments)
{
    uint64_t minutes = 60, seed = 1;
    const regime *of = find_regime(count > 3 ? arguments[3] : "medium");
    bool right = count >= 3 && count <= 6 && of != NULL;
    right = right && (count <= 4 || sf_parse_uint(arguments[4], 100000, &minutes));
    right = right && (count <= 5 || sf_parse_uint(arguments[5], UINT32_MAX, &seed));
    if (!right) {
        fprintf(stderr, "expected SPIKES.csv TRUTH.csv [low|medium|high [MINUTES [SEED]]]\n");
        return 64;
    }
    network *n = build(of, seed);
    FILE *spikes = fopen(arguments[1], "w"), *truth = fopen(arguments[2], "w");
    bool opened = n != NULL && spikes != NULL && truth != NULL;
    if (opened) {
        printf("%s, %" PRIu64 " min, seed %" PRIu64 ": ", of->name, minutes, seed);
        write_truth(n, truth);
        simulate(n, (double)minutes, spikes);
    }
    bool written = opened && fclose(spikes) == 0 && fclose(truth) == 0;
    free(n);
    if (!written) fprintf(stderr, "cannot write %s and %s\n", arguments[1], arguments[2]);
    return written ? 0 : 74;
}
