/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the p of `synfire rules` calibrated, and does it find what there is? Sessions in which nothing but time
 * is common to labels and spikes, and sessions in which a chain or a rate goes with the labels. Prints the
 * table of docs/rules.md. bench_rules [SESSIONS [THREADS [FIRST [SHIFTS [KIND]]]]] By default 100 0 1 99 0:
 * FIRST is the first seed, KIND the only one of the list below, or 0 for all.
 *
 * 8 units, 600 s, windows of 1 s, the 30 most frequent chains of 2 and 3 units at (0.5,10] ms. Labels are
 * "on" or "off", each drawn with the probability of its time and held for 2 s and an exponential rest of 2.2
 * s, few ones for 10 and 15 s; neighbours may be alike. Or they come by turns, each for 3 to 9 s, or in step,
 * 5 s each. Trends take each rate to 0.7 to 4 times what it was, and "on" from a probability of 0.25 to one
 * of 0.8; habituation takes rates to a fifth to three fifths, and "on" up likewise, with a time constant of
 * 120 s; what drifts has a logarithm with a standard deviation of 0.5 and an exponential autocorrelation of
 * 100 s, what waxes and wanes one of 3 s. A chain is of three units, its spikes scattered over the stretch
 * while "off".
 */
#include "analysis/labels.h"
#include "analysis/rules.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/thread.h"

#include <synfire/mine.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define UNITS 8u
#define SECONDS 600
#define STEPS 600 /* of what changes slowly */
#define MOST_STRETCHES 512
#define S 1000000000LL

typedef enum change { NOTHING, DRIFT, WAXING, TREND, HABITUATION } change;

typedef struct course {
    bool drawn;                /* each label for itself; else by turns */
    double least, even, decay; /* a label holds for `least`, evenly up to `even` more, and an exponential */
} course;

#define DRAWN                                                                                                \
    {                                                                                                        \
        true, 2, 0, 2.2                                                                                      \
    }
#define FEW                                                                                                  \
    {                                                                                                        \
        true, 10, 0, 15                                                                                      \
    }
#define BY_TURNS                                                                                             \
    {                                                                                                        \
        false, 3, 6, 0                                                                                       \
    }
#define IN_STEP                                                                                              \
    {                                                                                                        \
        false, 5, 0, 0                                                                                       \
    }

typedef struct setting {
    const char *name;
    change rates, labels; /* how either changes */
    course course;
    double chain_hz; /* of a chain of three units that is there while "on" */
    double gain;     /* of the rate of unit 3 while "on" */
} setting;

static const setting settings[] = {
    {"stationary", NOTHING, NOTHING, DRAWN, 0, 1},
    {"rates drift", DRIFT, NOTHING, DRAWN, 0, 1},
    {"rates drift, and labels for themselves", DRIFT, DRIFT, DRAWN, 0, 1},
    {"rates wax and wane", WAXING, NOTHING, DRAWN, 0, 1},
    {"trending", TREND, TREND, DRAWN, 0, 1},
    {"habituating", HABITUATION, HABITUATION, DRAWN, 0, 1},
    {"rates drift, labels by turns", DRIFT, NOTHING, BY_TURNS, 0, 1},
    {"rates drift, labels in step", DRIFT, NOTHING, IN_STEP, 0, 1},
    {"rates trend, labels in step", TREND, NOTHING, IN_STEP, 0, 1},
    {"trending, few labels", TREND, TREND, FEW, 0, 1},
    {"chain of 0.5 Hz", NOTHING, NOTHING, DRAWN, 0.5, 1},
    {"chain of 0.5 Hz, trending", TREND, TREND, DRAWN, 0.5, 1},
    {"chain of 1 Hz, habituating", HABITUATION, HABITUATION, DRAWN, 1, 1},
    {"chain of 0.5 Hz, labels by turns", NOTHING, NOTHING, BY_TURNS, 0.5, 1},
    {"chain of 0.5 Hz, labels in step", NOTHING, NOTHING, IN_STEP, 0.5, 1},
    {"chain of 1 Hz, trending, few labels", TREND, TREND, FEW, 1, 1},
    {"rate up by half, trending", TREND, TREND, DRAWN, 0, 1.5},
    {"rate doubled, trending", TREND, TREND, DRAWN, 0, 2},
};

enum { KINDS = sizeof settings / sizeof settings[0] };

/* ---- a session ---- */

typedef struct session {
    const setting *of;
    double slow[UNITS][STEPS]; /* factor of each rate */
    double on[STEPS];          /* probability of the label "on" */
    sf_epoch epochs[MOST_STRETCHES];
    size_t epoch_count;
    sf_spike *spikes;
    size_t spike_count, spike_room;
} session;

/* An Ornstein-Uhlenbeck process of unit variance. */
static void drift(double *values, double seconds, sf_random *random)
{
    double keeps = exp(-(double)SECONDS / STEPS / seconds), x = sf_random_normal(random);
    for (size_t i = 0; i < STEPS; i++) {
        values[i] = x;
        x = keeps * x + sqrt(1 - keeps * keeps) * sf_random_normal(random);
    }
}

/* How far a change has come: from 0 to 1 evenly, or soon and then no more. */
static double progress_of(change kind, size_t step)
{
    double share = ((double)step + 0.5) / STEPS;
    return kind == TREND ? share : kind == HABITUATION ? 1 - exp(-5 * share) : 0;
}

static void make_slow(session *s, sf_random *random)
{
    change rates = s->of->rates, labels = s->of->labels;
    double walk[STEPS];
    for (size_t u = 0; u < UNITS; u++) {
        double drawn = sf_random_uniform(random), end = 0.7 * pow(4 / 0.7, drawn);
        drift(walk, rates == WAXING ? 3 : 100, random);
        for (size_t i = 0; i < STEPS; i++) {
            double progress = progress_of(rates, i);
            s->slow[u][i] = rates == DRIFT || rates == WAXING ? exp(0.5 * walk[i])
                            : rates == HABITUATION            ? 1 - (0.4 + 0.4 * drawn) * progress
                                                              : pow(end, progress);
        }
    }
    drift(walk, 100, random);
    for (size_t i = 0; i < STEPS; i++)
        s->on[i] = labels == DRIFT     ? 1 / (1 + exp(-1.5 * walk[i]))
                   : labels == NOTHING ? 0.5
                                       : 0.25 + 0.55 * progress_of(labels, i);
}

static void make_labels(session *s, sf_random *random)
{
    const course *c = &s->of->course;
    double at = 0;
    bool on = false;
    while (at < SECONDS && s->epoch_count < MOST_STRETCHES) {
        double length =
            c->least + c->even * sf_random_uniform(random) + c->decay * sf_random_exponential(random);
        double until = fmin(at + length, SECONDS);
        on = c->drawn ? sf_random_uniform(random) < s->on[(size_t)(at * STEPS / SECONDS)] : !on;
        sf_epoch *epoch = &s->epochs[s->epoch_count++];
        *epoch = (sf_epoch){.span = {(int64_t)(at * 1e9), (int64_t)(until * 1e9)}};
        snprintf(epoch->label, sizeof epoch->label, "%s", on ? "on" : "off");
        at = until;
    }
}

static int add_spike(session *s, uint32_t unit, double at)
{
    int64_t tick = 50000, time = (int64_t)(at * 1e9) / tick * tick;
    if (sf_reserve(&s->spikes, &s->spike_room, s->spike_count + 1, sizeof *s->spikes) != 0) return -1;
    s->spikes[s->spike_count++] = (sf_spike){time, unit, NAN};
    return 0;
}

static int make_spikes(session *s, sf_random *random)
{
    for (size_t e = 0; e < s->epoch_count; e++) {
        bool on = s->epochs[e].label[1] == 'n';
        double from = (double)s->epochs[e].span.start_ns * 1e-9,
               to = (double)s->epochs[e].span.stop_ns * 1e-9;
        for (uint32_t u = 0; u < UNITS; u++) {
            double base = 3 + 7.0 * u / UNITS, most = base * 8 * s->of->gain; /* thinned from here */
            for (double at = from; (at += sf_random_exponential(random) / most) < to;) {
                double rate = base * s->slow[u][(size_t)(at * STEPS / SECONDS)];
                rate *= u == 3 && on ? s->of->gain : 1;
                if (sf_random_uniform(random) * most < rate && add_spike(s, u, at) != 0) return -1;
            }
        }
        for (double at = from;
             s->of->chain_hz > 0 && (at += sf_random_exponential(random) / s->of->chain_hz) < to - 0.02;)
            for (uint32_t k = 0; k < 3; k++) {
                double place = on ? at + 0.005 * k : from + (to - from) * sf_random_uniform(random);
                if (add_spike(s, 2 * k, place) != 0) return -1;
            }
    }
    return 0;
}

/* ---- what the command does ---- */

typedef struct labelled_counts {
    sf_labelled labelled;
    sf_span *windows;
    uint16_t *labels;
    const uint64_t **counts;
    size_t count;
} labelled_counts;

static void free_counts(labelled_counts *of)
{
    sf_labelled_free(&of->labelled);
    sf_free(of->windows);
    sf_free(of->labels);
    sf_free(of->counts);
}

static int take_counts(labelled_counts *of, const sf_recording *recording, const sf_episodes_columns *told,
                       const session *s, sf_error *error)
{
    size_t count = told->window_count - told->last_is_partial;
    *of = (labelled_counts){.windows = sf_alloc(count, sizeof *of->windows),
                            .labels = sf_alloc(count, sizeof *of->labels),
                            .counts = sf_alloc(count, sizeof *of->counts)};
    if (of->windows == NULL || of->labels == NULL || of->counts == NULL) return sf_fail_memory(error);
    int status =
        sf_label_windows(&of->labelled, recording, told->windows, count, s->epochs, s->epoch_count, error);
    for (size_t w = 0; status == SF_OK && w < count; w++) {
        if (of->labelled.labels[w] == SF_NO_LABEL) continue;
        of->windows[of->count] = told->windows[w];
        of->labels[of->count] = of->labelled.labels[w];
        of->counts[of->count++] = &told->window_counts[w * told->count];
    }
    return status;
}

static int learn(sf_rules *rules, const sf_recording *recording, const session *s, uint64_t seed,
                 uint64_t shifts, sf_error *error)
{
    const sf_delay delay = {500000, 10000000};
    sf_mining_options mining = sf_mining_options_default();
    sf_counting_options counting = sf_counting_options_default();
    sf_episodes *found = NULL, *counted = NULL;
    sf_episodes_columns told = {.size = sizeof told};
    labelled_counts of = {.count = 0};
    mining.delays = &delay;
    mining.delay_count = mining.threads = counting.threads = 1;
    mining.max_size = 3;
    mining.top = 30;
    mining.device = counting.device = "cpu";
    counting.window_ns = S;
    counting.from_ns = 0;
    int status = sf_mine(&found, recording, &mining, NULL, error);
    if (status == SF_OK) {
        sf_episodes_get_columns(found, &told);
        status = sf_count(&counted, recording, told.episodes, told.count, &counting, NULL, error);
    }
    if (status == SF_OK) {
        sf_episodes_get_columns(counted, &told);
        status = take_counts(&of, recording, &told, s, error);
    }
    sf_rules_input input = {.window_count = of.count,
                            .windows = of.windows,
                            .labels = of.labels,
                            .label_count = of.labelled.name_count,
                            .attribute_count = told.count,
                            .counts = of.counts,
                            .least = 6,
                            .folds = 10,
                            .shifts = (size_t)shifts,
                            .seed = seed,
                            .threads = 1};
    if (status == SF_OK) status = sf_rules_learn(rules, &input, error);
    free_counts(&of);
    sf_episodes_free(counted);
    sf_episodes_free(found);
    return status;
}

/* ---- many sessions ---- */

typedef struct outcome {
    double accuracy, chance, p;
} outcome;

typedef struct plan {
    uint64_t sessions, threads, first, shifts, only;
    const setting *of;
    outcome *outcomes;
} plan;

static int run_session(void *context, unsigned worker, size_t item)
{
    (void)worker;
    const plan *p = context;
    session *s = sf_alloc(1, sizeof *s);
    sf_error error = {.text = ""};
    sf_recording_input input = sf_recording_input_default();
    sf_recording *recording = NULL;
    sf_rules rules = {.accuracy = NAN};
    sf_random random = sf_random_start(p->first + item, (uint64_t)(p->of - settings));
    if (s == NULL) return SF_NO_MEMORY;
    s->of = p->of;
    make_slow(s, &random);
    make_labels(s, &random);
    int status = make_spikes(s, &random) == 0 ? SF_OK : sf_fail_memory(&error);
    input.unit_count = UNITS;
    input.spikes = s->spikes;
    input.spike_count = s->spike_count;
    input.recorded = &(sf_span){0, SECONDS * S};
    if (status == SF_OK) status = sf_recording_new(&recording, &input, &error);
    if (status == SF_OK) status = learn(&rules, recording, s, p->first + item, p->shifts, &error);
    if (status == SF_OK)
        p->outcomes[item] = (outcome){rules.accuracy, rules.chance_mean, rules.chance_p};
    else
        fprintf(stderr, "%s, session %zu: %s\n", p->of->name, item, error.text);
    sf_rules_free(&rules);
    sf_recording_free(recording);
    sf_free(s->spikes);
    sf_free(s);
    return status;
}

static int run_kind(plan *p)
{
    p->outcomes = sf_alloc((size_t)p->sessions, sizeof *p->outcomes);
    if (p->outcomes == NULL) return SF_NO_MEMORY;
    int status = sf_parallel_for(p->threads > 0 ? (unsigned)p->threads : sf_thread_cores(),
                                 (size_t)p->sessions, run_session, p);
    double n = (double)p->sessions, accuracy = 0, chance = 0, low = 0, lowest = 0, told = 0;
    for (size_t i = 0; i < p->sessions; i++) {
        const outcome *o = &p->outcomes[i];
        accuracy += o->accuracy / n;
        chance += isfinite(o->p) ? o->chance : 0;
        told += isfinite(o->p);
        low += (o->p < 0.05) / n;
        lowest += (o->p <= 0.01) / n;
    }
    if (status == SF_OK)
        printf("| %s | %.3f | %.3f | %.0f | %.1f | %.1f |\n", p->of->name, accuracy, chance / told,
               100 * told / n, 100 * low, 100 * lowest);
    fflush(stdout);
    sf_free(p->outcomes);
    return status;
}

int main(int argc, char **argv)
{
    uint64_t asked[] = {100, 0, 1, 99, 0};
    for (int i = 1; i < argc && i <= 5; i++)
        asked[i - 1] = strtoull(argv[i], NULL, 10);
    plan p = {asked[0], asked[1], asked[2], asked[3], asked[4], NULL, NULL};
    printf("%" PRIu64 " sessions of each kind, seeds from %" PRIu64 ", %" PRIu64 " shifts\n\n", p.sessions,
           p.first, p.shifts);
    printf("| sessions | accuracy | by chance | %% with a p | %% with p < 0.05 | %% with p <= 0.01 |\n");
    printf("|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < KINDS; k++) {
        p.of = &settings[k];
        if ((p.only == 0 || p.only == k + 1) && run_kind(&p) != SF_OK) return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
