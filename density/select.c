/* SPDX-License-Identifier: Apache-2.0 */
#include "density/select.h"

#include "core/error.h"
#include "core/memory.h"
#include "density/pairs.h"
#include "density/plane.h"
#include "density/samples.h"
#include "density/spectral.h"
#include "density/spectrum.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- all samples of one column at once, as a spectrum ---- */

typedef struct sf_score_batch {
    size_t n;
    sf_moments moments;     /* of the samples as they came */
    double *z;              /* (x - mean) / sigma; x / sigma where reflected */
    double tick;            /* of the clock that rounded the samples, in z; 0: not known */
    bool reflect;           /* the spectrum is that of the samples and their mirror images about 0 */
    sf_spectrum spectrum;   /* of z */
    double b_least, b_most; /* bandwidths of z that it serves */
    bool ticking;           /* b_least is the tick of the clock that rounded the samples */
} sf_score_batch;

static int find_spectrum(sf_score_batch *batch, sf_error *error)
{
    double shift = batch->reflect ? 0 : batch->moments.mean;
    double least = (batch->moments.least - shift) / batch->moments.sigma;
    double most = (batch->moments.most - shift) / batch->moments.sigma;
    sf_frame frame = sf_frame_for(batch->reflect ? -most : least, most, batch->b_least, batch->b_most);
    sf_characteristic state;
    int status = sf_characteristic_open(&state, &frame, error);
    if (status == SF_OK) status = sf_spectrum_open(&batch->spectrum, &frame, error);
    if (status == SF_OK) {
        sf_characteristic_add(&state, batch->z, batch->n, 1);
        status = sf_spectrum_update(&batch->spectrum, &state, error);
    }
    if (status == SF_OK && batch->reflect) sf_spectrum_reflect(&batch->spectrum);
    batch->b_least = fmax(batch->b_least, sf_frame_least_bandwidth(&frame));
    sf_characteristic_close(&state);
    return status;
}

static void batch_close(sf_score_batch *batch)
{
    sf_free(batch->z);
    sf_spectrum_close(&batch->spectrum);
    *batch = (sf_score_batch){0};
}

/* Of one column. SF_DATA as sf_moments_find; SF_NO_MEMORY. */
static int batch_open(sf_score_batch *batch, const sf_samples *samples, bool reflect, double b_least,
                      double b_most, sf_error *error)
{
    size_t n = samples->n;
    *batch = (sf_score_batch){.n = n, .reflect = reflect, .b_least = b_least, .b_most = b_most};
    int status = sf_samples_standardise(&batch->z, &batch->moments, samples->values, n, error);
    for (size_t i = 0; status == SF_OK && reflect && i < n; i++)
        batch->z[i] = samples->values[i] / batch->moments.sigma;
    if (status == SF_OK) {
        batch->tick = samples->tick / batch->moments.sigma;
        status = find_spectrum(batch, error);
    }
    if (status != SF_OK) batch_close(batch);
    return status;
}

/*
 * Raises b_least to the tick of the clock where that is known, or samples are tied: under it a density shows
 * the clock. Never above b_most.
 */
static int batch_hold_at_tick(sf_score_batch *batch, sf_error *error)
{
    double tick = batch->tick, multiplicity;
    if (!(tick > 0)) {
        if (sf_spectral_ties(&batch->spectrum) < SF_SAMPLES_TIED) return SF_OK;
        if (sf_samples_find_tick(&tick, &multiplicity, batch->z, batch->n, batch->b_least / 1000) != SF_OK)
            return sf_fail_memory(error);
    }
    batch->ticking = tick > batch->b_least;
    batch->b_least = fmin(fmax(batch->b_least, tick), batch->b_most);
    return SF_OK;
}

/* Makes the spectrum again for a b_least a quarter as large. False where ticks or memory forbid it. */
static bool batch_can_widen(const sf_score_batch *batch)
{
    return !batch->ticking && batch->spectrum.frame.modes < SF_FRAME_MOST_MODES;
}

static int batch_widen(sf_score_batch *batch, sf_error *error)
{
    sf_spectrum_close(&batch->spectrum);
    batch->b_least /= 4;
    return find_spectrum(batch, error);
}

/* ---- selectors ---- */

enum { PAPER_POINTS = 150, WIDE_POINTS = 200, MOST_H0 = 4, MOST_WIDER = 5, PLANE_FROM = 3000 };

/* The samples of one selection and what the method makes of them. */
typedef struct selection {
    const sf_samples *samples;
    const sf_bandwidth_options *options;
    sf_bandwidth *result;
    sf_error *error;
    double sigma;         /* d = 1 */
    sf_score_batch batch; /* open with the characteristic function */
    sf_pairs pairs;       /* open with direct sums */
    sf_plane_spectrum plane;
    double plane_least;      /* the smallest bandwidth it serves */
    sf_score_function score; /* of the one in use */
    void *score_context;
    double score_unit; /* scores are those of standardised samples: divide by this */
} selection;

struct sf_selector {
    const char *name;
    size_t most_columns;
    int (*select)(selection *s);
};

/* ---- the ways to the samples ---- */

/* d = 1: the spectrum of x / sigma for bandwidths from h0/60 to 4 h0. */
static int open_batch(selection *s)
{
    double h0 = s->result->h0;
    int status = batch_open(&s->batch, s->samples, s->options->domain == SF_DOMAIN_REFLECT, h0 / 60,
                            h0 * MOST_H0, s->error);
    s->sigma = s->score_unit = s->batch.moments.sigma;
    s->score = sf_spectral_lscv;
    s->score_context = &s->batch.spectrum;
    return status;
}

static int open_pairs(selection *s)
{
    s->score = sf_pairs_lscv;
    s->score_context = &s->pairs;
    s->score_unit = 1;
    int status = sf_pairs_open(&s->pairs, s->samples, s->options->threads, s->options->progress, s->error);
    s->sigma = s->pairs.sigma;
    return status;
}

/* Opens the pairs that `sums` sums over all of them will be computed from. */
static int open_pairs_for(selection *s, size_t sums)
{
    int status = open_pairs(s);
    return status == SF_OK ? sf_pairs_use(&s->pairs, s->options->device, sums, s->error) : status;
}

/*
 * d = 2: the whitened samples' plane, where it has room for bandwidths down to h0/4. Fewer samples, and those
 * spread wider, stay pairs, which are faster for them.
 */
static int open_plane(selection *s, double h_least, size_t scores)
{
    int status = open_pairs(s);
    if (status != SF_OK) return status;
    size_t n = s->samples->n;
    if (n < PLANE_FROM) return sf_pairs_use(&s->pairs, s->options->device, scores, s->error);
    double h0 = s->result->h0, least[2] = {0}, most[2] = {0};
    const double *columns[2] = {s->pairs.columns, s->pairs.columns + n};
    for (int c = 0; c < 2; c++)
        for (size_t i = 0; i < n; i++) {
            least[c] = fmin(least[c], columns[c][i]);
            most[c] = fmax(most[c], columns[c][i]);
        }
    sf_plane_frame frame = sf_plane_frame_for(least, most, h_least, h0 * MOST_H0);
    if (sf_plane_least_bandwidth(&frame) > h0 / 4)
        return sf_pairs_use(&s->pairs, s->options->device, scores, s->error);
    sf_plane plane;
    status = sf_plane_open(&plane, &frame, s->error);
    if (status == SF_OK) {
        sf_plane_add(&plane, columns[0], columns[1], n, 1);
        status = sf_plane_spectrum_open(&s->plane, &plane, s->error);
    }
    sf_plane_close(&plane);
    s->plane_least = sf_plane_least_bandwidth(&frame);
    s->score = sf_plane_lscv;
    s->score_context = &s->plane;
    s->score_unit = exp(s->pairs.log_root_det);
    return status;
}

static int open_either(selection *s, double h_least, size_t scores)
{
    if (s->options->exact || s->samples->d > 2) return open_pairs_for(s, scores);
    return s->samples->d == 2 ? open_plane(s, h_least, scores) : open_batch(s);
}

/* ---- the methods ---- */

static void set_relative(selection *s, double h)
{
    s->result->h_relative = h;
    s->result->h = s->samples->d == 1 ? h * s->sigma : h;
}

/* The factors n^(-1/(d+4)) (Scott) and (4/((d+2) n))^(1/(d+4)) (Silverman): right for a normal density. */
static int select_rule(selection *s, double numerator)
{
    double d = (double)s->samples->d;
    int status = open_pairs(s); /* refuses what has no covariance */
    if (status == SF_OK) set_relative(s, pow(numerator / (double)s->samples->n, 1 / (d + 4)));
    return status;
}

static int select_scott(selection *s)
{
    return select_rule(s, 1);
}

static int select_silverman(selection *s)
{
    return select_rule(s, 4 / ((double)s->samples->d + 2));
}

static int select_plugin(selection *s)
{
    sf_plugin plugin;
    if (s->options->exact) {
        int status = open_pairs_for(s, 2);
        if (status == SF_OK) status = sf_pairs_plugin(&plugin, &s->pairs, s->error);
        if (status == SF_OK) set_relative(s, plugin.h / plugin.sigma);
        return status;
    }
    int status = open_batch(s);
    if (status == SF_OK) status = sf_spectral_plugin(&plugin, &s->batch.spectrum, s->error);
    if (status == SF_OK) set_relative(s, plugin.h);
    return status;
}

/* One sample a million times further out than the others are wide takes all the frequencies there are. */
static const char too_wide[] =
    "the samples reach so far that no smaller bandwidth could be looked at: is one of them an outlier?";

/* The smallest bandwidth allowed, where a method would go on below it. */
static void set_floor(selection *s, const char *otherwise)
{
    set_relative(s, s->batch.b_least);
    s->result->at_edge = true;
    s->result->note = s->batch.ticking
                          ? "the samples lie on the steps of a clock: the bandwidth is held at one step"
                          : otherwise;
}

/* Long tails make sigma large and the bandwidth a tiny part of it: the range goes down until ISJ is inside.
 */
static int find_isj(selection *s, double *b)
{
    int status = batch_hold_at_tick(&s->batch, s->error);
    *b = sf_spectral_isj(&s->batch.spectrum, s->batch.b_least, s->batch.b_most);
    while (status == SF_OK && isnan(*b) && batch_can_widen(&s->batch)) {
        status = batch_widen(&s->batch, s->error);
        if (status == SF_OK) status = batch_hold_at_tick(&s->batch, s->error);
        if (status == SF_OK) *b = sf_spectral_isj(&s->batch.spectrum, s->batch.b_least, s->batch.b_most);
    }
    return status;
}

static int select_isj(selection *s)
{
    double b;
    int status = open_batch(s);
    if (status == SF_OK) status = find_isj(s, &b);
    if (status != SF_OK) return status;
    if (isnan(b))
        set_floor(s, too_wide);
    else
        set_relative(s, b);
    return SF_OK;
}

static int keep_points(sf_score_point **kept, size_t *kept_count, const sf_score_point *points, size_t count,
                       double unit)
{
    *kept = sf_resize(NULL, count, sizeof **kept);
    if (*kept == NULL) return SF_NO_MEMORY;
    *kept_count = count;
    for (size_t i = 0; i < count; i++)
        (*kept)[i] = (sf_score_point){points[i].h, points[i].score / unit};
    return SF_OK;
}

static int run_search(selection *s, sf_search *search)
{
    int status = sf_search_run(search, s->score, s->score_context);
    if (status == SF_NO_MEMORY) return sf_fail_memory(s->error);
    if (status == SF_CANCELLED)
        sf_fail(s->error, SF_CANCELLED, NULL, "stopped before the pair sums were complete");
    return status;
}

/* The result's lists, from a finished search. */
static int keep_search(selection *s, const sf_search *search)
{
    int status = keep_points(&s->result->minima, &s->result->minimum_count, search->minima,
                             search->minimum_count, s->score_unit);
    if (status == SF_OK && s->options->curve)
        status = keep_points(&s->result->curve, &s->result->curve_count, search->curve, search->count,
                             s->score_unit);
    return status == SF_OK ? SF_OK : sf_fail_memory(s->error);
}

/* The paper's search: 150 equidistant points from h0/4 to 4 h0; a minimum at the edge is reported as such. */
static int select_lscv_paper(selection *s)
{
    sf_search search;
    double h0 = s->result->h0;
    int status = open_either(s, h0 / 4, PAPER_POINTS);
    if (status != SF_OK) return status;
    sf_search_range(&search, PAPER_POINTS, h0 / 4, h0 * MOST_H0, false);
    status = run_search(s, &search);
    if (status == SF_OK) status = keep_search(s, &search);
    if (status != SF_OK) return status;
    const sf_score_point *minimum = sf_search_lowest_minimum(&search);
    s->result->at_edge = search.lowest == 0 || search.lowest == search.count - 1;
    if (s->result->at_edge || minimum == NULL) {
        minimum = &search.curve[search.lowest];
        s->result->note =
            "the lowest score lies at the edge of the paper's range: this is no minimum; try lscv";
    }
    set_relative(s, minimum->h);
    s->result->objective = minimum->score / s->score_unit;
    return SF_OK;
}

/* What lies at the lower edge is never the answer, however low its score: then ISJ answers (d = 1). */
static int set_without_minimum(selection *s, const sf_search *search)
{
    sf_score_point edge = search->curve[search->lowest];
    double isj = NAN;
    int status = s->score != sf_spectral_lscv || search->lowest > 0 ? SF_OK : find_isj(s, &isj);
    s->result->at_edge = true;
    s->result->note = s->score == sf_spectral_lscv && search->lowest == 0
                          ? too_wide
                          : "the score has no minimum: the edge of the search is given";
    if (!isnan(isj)) {
        edge = (sf_score_point){isj, sf_spectrum_lscv(&s->batch.spectrum, isj, NULL)};
        s->result->note = "the score falls without end towards h = 0, as it does where samples are tied: the "
                          "isj bandwidth is given";
    }
    set_relative(s, edge.h);
    s->result->objective = edge.score / s->score_unit;
    if (isnan(isj) && s->batch.ticking && search->lowest == 0) set_floor(s, NULL);
    return status;
}

/* With direct sums: the same range, found the same way, but for ties in several columns. */
static int search_wide_directly(selection *s, sf_search *search)
{
    double h0 = s->result->h0, h = h0 / 60, tick = 0, multiplicity = 1;
    bool known = s->samples->d == 1 && s->samples->tick > 0;
    if (known)
        tick = s->samples->tick / s->sigma;
    else if (s->samples->d == 1 &&
             sf_samples_find_tick(&tick, &multiplicity, s->pairs.columns, s->samples->n, h / 1000) != SF_OK)
        return sf_fail_memory(s->error);
    bool ticking = known || multiplicity >= SF_SAMPLES_TIED;
    for (int round = 0;; round++, h /= 8) {
        sf_search_range(search, WIDE_POINTS, ticking ? fmin(fmax(h, tick), h0) : h, h0 * MOST_H0, true);
        int status = run_search(s, search);
        if (status != SF_OK || search->lowest > 0 || round == MOST_WIDER || (ticking && h < tick))
            return status;
    }
}

/* The search from the smallest bandwidth to 4 h0; goes down while the lowest score lies at the lower edge. */
static int search_wide(selection *s, sf_search *search)
{
    for (;;) {
        int status = batch_hold_at_tick(&s->batch, s->error);
        if (status != SF_OK) return status;
        sf_search_range(search, WIDE_POINTS, s->batch.b_least, s->batch.b_most, true);
        status = run_search(s, search);
        if (status != SF_OK || search->lowest > 0 || !batch_can_widen(&s->batch)) return status;
        status = batch_widen(&s->batch, s->error);
        if (status != SF_OK) return status;
    }
}

static int search_any(selection *s, sf_search *search)
{
    if (s->score == sf_spectral_lscv) return search_wide(s, search);
    if (s->score == sf_pairs_lscv) return search_wide_directly(s, search);
    double h0 = s->result->h0;
    sf_search_range(search, WIDE_POINTS, fmax(s->plane_least, h0 / 60), h0 * MOST_H0, true);
    return run_search(s, search);
}

/* Takes the lowest of several minima. Ties would make the score fall again towards h = 0. */
static int select_lscv(selection *s)
{
    sf_search search;
    int status = open_either(s, s->result->h0 / 60, WIDE_POINTS);
    if (status == SF_OK) status = search_any(s, &search);
    if (status == SF_OK) status = keep_search(s, &search);
    if (status != SF_OK) return status;
    const sf_score_point *minimum = sf_search_lowest_minimum(&search);
    if (minimum == NULL) return set_without_minimum(s, &search);
    set_relative(s, minimum->h);
    s->result->objective = minimum->score / s->score_unit;
    if (search.curve[search.lowest].score < minimum->score)
        s->result->note =
            "the score falls again towards h = 0, as it does where samples are tied: the lowest "
            "minimum between the edges is given";
    return SF_OK;
}

#define SELECTOR(name, columns, select) {name, columns, select},
static const sf_selector selectors[] = {SF_SELECTORS(SELECTOR)};

enum { SELECTORS = sizeof selectors / sizeof selectors[0] };

const sf_selector *sf_selector_at(size_t index)
{
    return index < SELECTORS ? &selectors[index] : NULL;
}

const char *sf_selector_name(const sf_selector *selector)
{
    return selector->name;
}

const sf_selector *sf_selector_find(const char *name)
{
    for (size_t i = 0; i < SELECTORS; i++)
        if (strcmp(selectors[i].name, name) == 0) return &selectors[i];
    return NULL;
}

double sf_bandwidth_h0(size_t n, size_t d)
{
    double columns = (double)d;
    return pow(4 / (columns * columns * (columns + 2) * (double)n), 1 / (columns + 4));
}

/* ---- the call ---- */

/* Where sums over pairs ran; a device that was named and had none to do is told of. */
static void tell_device(const selection *s)
{
    sf_bandwidth *result = s->result;
    const char *asked = s->options->device;
    if (s->pairs.on.here != NULL)
        sf_choice_tell(&s->pairs.on, &result->ran);
    else
        snprintf(result->ran.device, sizeof result->ran.device, "cpu");
    bool named = asked != NULL && strcmp(asked, "auto") != 0 && strcmp(asked, "cpu") != 0;
    if (named && sf_crew_left(&s->pairs.on.crew) == 0 && result->ran.note[0] == '\0')
        snprintf(result->ran.note, sizeof result->ran.note, "devices do nothing but direct sums");
}

static int select_plain(sf_bandwidth *bandwidth, const sf_selector *selector, const sf_samples *samples,
                        const sf_bandwidth_options *options, sf_error *error)
{
    selection s = {.samples = samples, .options = options, .result = bandwidth, .error = error};
    int status = selector->select(&s);
    tell_device(&s);
    batch_close(&s.batch);
    sf_pairs_close(&s.pairs);
    sf_plane_spectrum_close(&s.plane);
    return status;
}

/* On the logarithms, of samples spread over their ticks; the caller has checked that they exist. */
static int select_log(sf_bandwidth *bandwidth, const sf_selector *selector, const sf_samples *samples,
                      const sf_bandwidth_options *options, sf_error *error)
{
    sf_samples clocked = *samples, logs = {.n = samples->n, .d = 1};
    int status = clocked.tick > 0 ? SF_OK : sf_samples_find_clock(&clocked, error);
    if (status == SF_OK) status = sf_samples_sorted(&logs.values, &clocked, true, error);
    for (size_t i = 0; status == SF_OK && i < logs.n; i++)
        logs.values[i] = log(logs.values[i]);
    if (status == SF_OK) status = select_plain(bandwidth, selector, &logs, options, error);
    sf_samples_free(&logs);
    return status;
}

static int check_request(const sf_selector *selector, const sf_samples *samples,
                         const sf_bandwidth_options *options, sf_error *error)
{
    if (samples->d > selector->most_columns)
        return sf_fail(error, SF_DATA, NULL, "found %zu columns; the method %s takes %s%zu", samples->d,
                       selector->name, selector->most_columns > 1 ? "at most " : "", selector->most_columns);
    if (options->domain == SF_DOMAIN_REFLECT && (options->exact || samples->d > 1))
        return sf_fail(error, SF_USAGE, NULL, "reflection goes with one column and without direct sums");
    if (options->domain == SF_DOMAIN_LOG && samples->d > 1)
        return sf_fail(error, SF_USAGE, NULL, "the logarithm goes with one column");
    if (options->exact && selector->select == select_isj)
        return sf_fail(error, SF_USAGE, NULL,
                       "isj has no form by direct sums; plugin, lscv and lscv-paper do");
    int status = sf_samples_check_enough(samples->n, error);
    if (status == SF_OK)
        status = sf_domain_check(options->domain, samples->values, samples->n * samples->d, error);
    return status;
}

int sf_bandwidth_select(sf_bandwidth *bandwidth, const sf_selector *selector, const sf_samples *samples,
                        const sf_bandwidth_options *options, sf_error *error)
{
    *bandwidth = (sf_bandwidth){.method = selector->name,
                                .n = samples->n,
                                .d = samples->d,
                                .h0 = sf_bandwidth_h0(samples->n, samples->d),
                                .objective = NAN};
    int status = check_request(selector, samples, options, error);
    if (status == SF_OK && options->domain == SF_DOMAIN_LOG)
        status = select_log(bandwidth, selector, samples, options, error);
    else if (status == SF_OK)
        status = select_plain(bandwidth, selector, samples, options, error);
    if (status != SF_OK) sf_bandwidth_free(bandwidth);
    return status;
}

void sf_bandwidth_free(sf_bandwidth *bandwidth)
{
    sf_free(bandwidth->minima);
    sf_free(bandwidth->curve);
    bandwidth->minima = bandwidth->curve = NULL;
    bandwidth->minimum_count = bandwidth->curve_count = 0;
}
