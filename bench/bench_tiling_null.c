/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are edges by spike-time tiling calibrated where the recording is cut? Simulated recordings of 40 units that
 * have nothing to do with each other: the share of their 780 pairs that become edges, the mean coefficient,
 * and how many recordings have a pair with q <= 0.05. Beside it, in recordings of the same kind, how many of
 * 5 coupled pairs are found. Prints the table of docs/connectivity.md.
 *   bench_tiling_null [RECORDINGS [SURROGATES [SECONDS [KIND [FIRST [HALF_WIDTH_MS [THREADS]]]]]]]
 * By default 20 200 600 0 1 50 0: KIND is one of the kinds below, 0 all; FIRST the first seed.
 *
 * Units are Poisson, with rates of 0.05 to 60 Hz (log-normal, median 2 Hz); slow ones have a fiftieth of
 * that, at least 0.02 Hz; bursting ones fire five spikes within 100 ms, each by itself. Where rates differ,
 * all units have those of each twentieth of the recording multiplied by the same factor, 0.3 to 6. Of a
 * coupled pair a tenth of the first one's spikes are followed by one of the second within 20 ms.
 */
#include "core/memory.h"
#include "core/random.h"
#include "core/text.h"

#include <synfire/graph.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = 40, COUPLED = 5, EPOCHS = 20, SPANS = 4096 };

#define SECOND INT64_C(1000000000)

typedef enum cut { WHOLE, BY_EPOCHS, SHORT_EPOCHS, BLANKED, PAUSED } cut;
typedef enum firing { POISSON, SLOW, BURSTING } firing;

static const struct {
    const char *name;
    cut cut;
    bool undeclared; /* the spikes set the recorded time */
    firing firing;
    bool rates_differ;
} kinds[] = {
    {"whole", WHOLE, false, POISSON, false},
    {"whole, from the first spike to the last", WHOLE, true, POISSON, false},
    {"whole, slow units", WHOLE, false, SLOW, false},
    {"whole, bursting units", WHOLE, false, BURSTING, false},
    {"`--epochs`, a third of the time", BY_EPOCHS, false, POISSON, false},
    {"`--epochs`, 1 s of every 5", SHORT_EPOCHS, false, POISSON, false},
    {"`--epochs`, slow units", BY_EPOCHS, false, SLOW, false},
    {"`--epochs`, bursting units", BY_EPOCHS, false, BURSTING, false},
    {"`--epochs`, rates that differ by epoch", BY_EPOCHS, false, POISSON, true},
    {"`--epochs`, slow units, rates that differ", BY_EPOCHS, false, SLOW, true},
    {"`--blank`, 100 ms of each second", BLANKED, false, POISSON, false},
    {"`--blank`, slow units", BLANKED, false, SLOW, false},
    {"`/observed`, a third of the time", PAUSED, false, POISSON, false},
    {"`/observed`, rates that differ by span", PAUSED, false, POISSON, true},
    {"rates that differ, without `--epochs`", WHOLE, false, POISSON, true},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

typedef struct setting {
    size_t kind;
    uint64_t seed;
    int64_t length_ns;
    bool coupled;
} setting;

typedef struct stream {
    sf_spike *items;
    size_t count, capacity;
} stream;

/* ---- recordings ---- */

static void add(stream *s, double at_s, uint32_t unit, const setting *of)
{
    void *items = s->items;
    int64_t time_ns = (int64_t)(at_s * 1e9);
    if (time_ns < 0 || time_ns >= of->length_ns) return;
    if (sf_reserve(&items, &s->capacity, s->count + 1, sizeof *s->items) != 0) exit(71);
    s->items = items;
    s->items[s->count++] = (sf_spike){.time_ns = time_ns, .unit = unit, .amplitude = NAN};
}

static double rate_of(firing how, sf_random *random)
{
    double rate = fmin(fmax(exp(0.7 + sf_random_normal(random)), 0.05), 60);
    return how == SLOW ? fmax(rate / 50, 0.02) : how == BURSTING ? rate / 5 : rate;
}

static void fire(stream *s, const setting *of, uint32_t unit, double at_s, sf_random *random)
{
    int spikes = kinds[of->kind].firing == BURSTING ? 5 : 1;
    for (int i = 0; i < spikes; i++) {
        double time_s = at_s + (spikes > 1 ? 0.1 * sf_random_uniform(random) : 0);
        add(s, time_s, unit, of);
        if (of->coupled && unit % 2 == 0 && unit < 2 * COUPLED && sf_random_uniform(random) < 0.1)
            add(s, time_s + 0.02 * sf_random_uniform(random), unit + 1, of);
    }
}

static void draw_unit(stream *s, const setting *of, uint32_t unit, const double *factors, sf_random *random)
{
    double rate = rate_of(kinds[of->kind].firing, random), each_s = (double)of->length_ns * 1e-9 / EPOCHS;
    for (int k = 0; k < EPOCHS; k++) {
        double at_s = 0, own = rate * factors[k];
        while ((at_s += sf_random_exponential(random) / own) < each_s)
            fire(s, of, unit, k * each_s + at_s, random);
    }
}

static stream draw_spikes(const setting *of)
{
    stream s = {0};
    double factors[EPOCHS];
    sf_random random = sf_random_start(of->seed, 2 * of->kind + of->coupled);
    for (int k = 0; k < EPOCHS; k++)
        factors[k] = kinds[of->kind].rates_differ ? 0.3 * pow(20, sf_random_uniform(&random)) : 1;
    for (uint32_t u = 0; u < UNITS; u++)
        draw_unit(&s, of, u, factors, &random);
    return s;
}

/* The spans that are recorded or chosen, within those of one rate. */
static size_t list_spans(sf_span *spans, const setting *of)
{
    int64_t each = kinds[of->kind].cut == SHORT_EPOCHS ? 5 * SECOND : of->length_ns / EPOCHS;
    int64_t take = kinds[of->kind].cut == SHORT_EPOCHS ? SECOND : each / 3;
    size_t count = 0;
    for (int64_t at = 0; at + each <= of->length_ns && count < SPANS; at += each)
        spans[count++] = (sf_span){at + each / 4, at + each / 4 + take};
    return count;
}

static void keep_observed(stream *s, const sf_span *spans, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < count; k++)
            if (s->items[i].time_ns >= spans[k].start_ns && s->items[i].time_ns < spans[k].stop_ns)
                s->items[kept++] = s->items[i];
    s->count = kept;
}

static size_t list_markers(sf_marker *markers, const setting *of)
{
    size_t count = 0;
    for (int64_t at = SECOND / 2; at < of->length_ns && count < SPANS; at += SECOND, count++) {
        markers[count] = (sf_marker){.time_ns = at, .kind = SF_MARKER_TEXT};
        strcpy(markers[count].text, "pulse");
    }
    return count;
}

static int open_recording(sf_recording **recording, const setting *of, sf_error *error)
{
    static sf_span spans[SPANS];
    static sf_epoch epochs[SPANS];
    static sf_marker markers[SPANS];
    cut how = kinds[of->kind].cut;
    const sf_span all = {0, of->length_ns};
    size_t span_count = list_spans(spans, of);
    stream s = draw_spikes(of);
    sf_recording_input input = sf_recording_input_default();
    sf_selection selection = sf_selection_default();
    if (how == PAUSED) {
        keep_observed(&s, spans, span_count);
        input.observed = spans, input.observed_count = span_count;
    }
    if (how == BLANKED) {
        input.markers = markers, input.marker_count = list_markers(markers, of);
        selection.blank = "pulse", selection.blank_to_ns = SECOND / 10;
    }
    for (size_t k = 0; k < span_count && (how == BY_EPOCHS || how == SHORT_EPOCHS); k++) {
        epochs[k] = (sf_epoch){.span = spans[k]};
        selection.epochs = epochs, selection.epoch_count = span_count;
    }
    input.unit_count = UNITS;
    input.spikes = s.items, input.spike_count = s.count;
    input.recorded = kinds[of->kind].undeclared ? NULL : &all;
    sf_recording *whole = NULL;
    int status = sf_recording_new(&whole, &input, error);
    if (status == SF_OK) status = sf_recording_select(recording, whole, &selection, error);
    sf_recording_free(whole);
    sf_free(s.items);
    return status;
}

/* ---- what is found ---- */

typedef struct findings {
    double pairs, edges, coefficient, recordings, with_false_q;
    double coupled, found_by_p, found_by_q;
} findings;

static bool is_coupled(const setting *of, uint32_t from, uint32_t to)
{
    return of->coupled && from % 2 == 0 && to == from + 1 && from < 2 * COUPLED;
}

static void see(findings *f, const setting *of, const sf_graph_columns *tested, const sf_graph_columns *all)
{
    bool false_q = false;
    for (size_t i = 0; i < tested->link_count; i++) {
        bool coupled = is_coupled(of, tested->from[i], tested->to[i]), significant = tested->q[i] <= 0.05;
        f->edges += !coupled && !of->coupled;
        f->found_by_p += coupled;
        f->found_by_q += coupled && significant;
        false_q = false_q || (!coupled && significant);
    }
    if (of->coupled) {
        f->coupled += COUPLED;
        return;
    }
    f->recordings++;
    f->with_false_q += false_q;
    f->pairs += (double)tested->pairs_tested;
    for (size_t i = 0; i < all->link_count; i++)
        f->coefficient += all->weight[i];
}

static int look(findings *f, const setting *of, sf_tiling_options tiling, sf_error *error)
{
    sf_recording *recording = NULL;
    sf_graph *tested = NULL, *all = NULL;
    int status = open_recording(&recording, of, error);
    if (status == SF_OK) status = sf_graph_of_tiling(&tested, recording, &tiling, NULL, NULL, error);
    tiling.surrogates = 0;
    if (status == SF_OK) status = sf_graph_of_tiling(&all, recording, &tiling, NULL, NULL, error);
    if (status == SF_OK) {
        sf_graph_columns columns = {.size = sizeof columns}, every = {.size = sizeof every};
        sf_graph_get_columns(tested, &columns);
        sf_graph_get_columns(all, &every);
        see(f, of, &columns, &every);
    }
    sf_graph_free(tested);
    sf_graph_free(all);
    sf_recording_free(recording);
    return status;
}

static int print_row(setting of, uint64_t recordings, const sf_tiling_options *tiling, sf_error *error)
{
    findings f = {0};
    int status = SF_OK;
    uint64_t first = of.seed;
    for (uint64_t i = 0; i < 2 * recordings && status == SF_OK; i++) {
        of.seed = first + i / 2;
        of.coupled = i % 2 == 1;
        status = look(&f, &of, *tiling, error);
    }
    if (status == SF_OK)
        printf("| %s | %.2f %% | %+.4f | %.0f of %.0f | %.0f %% | %.0f %% |\n", kinds[of.kind].name,
               100 * f.edges / f.pairs, f.coefficient / f.pairs, f.with_false_q, f.recordings,
               100 * f.found_by_p / f.coupled, 100 * f.found_by_q / f.coupled);
    fflush(stdout);
    return status;
}

static uint64_t argument(int count, char **arguments, int i, uint64_t otherwise)
{
    uint64_t value;
    if (i < count && sf_parse_uint(arguments[i], UINT32_MAX, &value)) return value;
    return otherwise;
}

int main(int count, char **arguments)
{
    sf_error error;
    int status = SF_OK;
    uint64_t recordings = argument(count, arguments, 1, 20), kind = argument(count, arguments, 4, 0);
    setting of = {.length_ns = (int64_t)argument(count, arguments, 3, 600) * SECOND,
                  .seed = argument(count, arguments, 5, 1)};
    sf_tiling_options tiling = sf_tiling_options_default();
    tiling.surrogates = (uint32_t)argument(count, arguments, 2, tiling.surrogates);
    tiling.half_width_ns = (int64_t)argument(count, arguments, 6, 50) * 1000000;
    tiling.threads = (unsigned)argument(count, arguments, 7, 0);
    if (kind > KINDS) return 64;
    printf("| recordings | unrelated pairs that are edges | mean coefficient | recordings with q <= 0.05 "
           "| coupled pairs found | by q <= 0.05 |\n|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < KINDS && status == SF_OK; k++) {
        of.kind = k;
        if (kind == 0 || kind == k + 1) status = print_row(of, recordings, &tiling, &error);
    }
    if (status != SF_OK) fprintf(stderr, "%s %s\n", error.place, error.text);
    return status == SF_OK ? 0 : 70;
}
