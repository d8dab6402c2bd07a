/* SPDX-License-Identifier: Apache-2.0 */
#include "density/select.h"

#include "core/error.h"
#include "core/memory.h"
#include "density/pairs.h"
#include "density/spectral.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAPER_POINTS = 150, WIDE_POINTS = 200, MOST_H0 = 4 };

/* The samples of one selection, ready for the method: as a spectrum of x / sigma, or as whitened pairs. */
typedef struct selection {
    const sf_samples *samples;
    const sf_bandwidth_options *options;
    sf_bandwidth *result;
    sf_error *error;
    sf_moments moments; /* d = 1 */
    double *z;          /* d = 1: (x - mean) / sigma; x / sigma where reflected */
    sf_spectrum spectrum;
    sf_pairs pairs;
    double h_least; /* relative: h0/60, or the clock's tick where it is coarser */
    bool ticking;   /* h_least is the tick */
    sf_score_function score;
    void *score_context;
    double score_unit; /* scores of the spectrum are those of x / sigma: divide by sigma */
} selection;

struct sf_selector {
    const char *name;
    size_t most_columns;
    int (*select)(selection *s);
};

/* ---- the ways to the samples ---- */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The smallest step between neighbours that is no rounding noise: the tick of the clock that made the ties.
 */
static int find_tick(const double *z, size_t n, double noise, double *tick)
{
    double *sorted = sf_resize(NULL, n, sizeof *sorted);
    if (sorted == NULL)
        return SF_NO_MEMORY;
    memcpy(sorted, z, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_numbers);
    *tick = INFINITY;
    for (size_t i = 1; i < n; i++)
        if (sorted[i] - sorted[i - 1] > noise)
            *tick = fmin(*tick, sorted[i] - sorted[i - 1]);
    sf_free(sorted);
    return SF_OK;
}

static int find_spectrum(selection *s, double least, double most, double b_least)
{
    bool reflect = s->options->domain == SF_DOMAIN_REFLECT;
    sf_frame frame = sf_frame_for(reflect ? -most : least, most, b_least, s->result->h0 * MOST_H0);
    sf_characteristic state;
    int status = sf_characteristic_open(&state, &frame, s->error);
    if (status == SF_OK)
        status = sf_spectrum_open(&s->spectrum, &frame, s->error);
    if (status == SF_OK) {
        sf_characteristic_add(&state, s->z, s->samples->n, 1);
        status = sf_spectrum_update(&s->spectrum, &state, s->error);
    }
    if (status == SF_OK && reflect)
        sf_spectrum_reflect(&s->spectrum);
    sf_characteristic_close(&state);
    return status;
}

/* d = 1: the spectrum of x / sigma for bandwidths from h_least to 4 h0. */
static int open_spectrum(selection *s)
{
    int status = sf_samples_standardise(&s->z, &s->moments, s->samples->values, s->samples->n, s->error);
    if (status != SF_OK)
        return status;
    double shift = s->options->domain == SF_DOMAIN_REFLECT ? s->moments.mean / s->moments.sigma : 0;
    for (size_t i = 0; shift != 0 && i < s->samples->n; i++)
        s->z[i] = s->samples->values[i] / s->moments.sigma;
    double least = (s->moments.least - s->moments.mean) / s->moments.sigma + shift;
    double most = (s->moments.most - s->moments.mean) / s->moments.sigma + shift;
    s->h_least = s->result->h0 / 60;
    status = find_spectrum(s, least, most, s->h_least);
    if (status != SF_OK)
        return status;
    s->h_least = fmax(s->h_least, sf_frame_least_bandwidth(&s->spectrum.frame));
    s->score = sf_spectral_lscv;
    s->score_context = &s->spectrum;
    s->score_unit = s->moments.sigma;
    return SF_OK;
}

/* Raises h_least to the tick of the clock where samples are tied: under it a density shows the clock. */
static int hold_at_tick(selection *s)
{
    if (s->score != sf_spectral_lscv || sf_spectral_ties(&s->spectrum) < 1.5)
        return SF_OK;
    double tick;
    if (find_tick(s->z, s->samples->n, s->h_least / 1000, &tick) != SF_OK)
        return sf_fail_memory(s->error);
    s->ticking = tick > s->h_least;
    s->h_least = fmin(fmax(s->h_least, tick), s->result->h0 * MOST_H0);
    return SF_OK;
}

static int open_pairs(selection *s)
{
    s->h_least = s->result->h0 / 60;
    s->score = sf_pairs_lscv;
    s->score_context = &s->pairs;
    s->score_unit = 1;
    int status = sf_pairs_open(&s->pairs, s->samples, s->options->threads, s->options->progress, s->error);
    if (status == SF_OK && s->samples->d == 1)
        status = sf_moments_find(&s->moments, s->samples->values, s->samples->n, s->error);
    return status;
}

static int open_either(selection *s)
{
    return s->samples->d > 1 || s->options->exact ? open_pairs(s) : open_spectrum(s);
}

/* ---- the methods ---- */

static void set_relative(selection *s, double h)
{
    s->result->h_relative = h;
    s->result->h = s->samples->d == 1 ? h * s->moments.sigma : h;
}

/* The factors n^(-1/(d+4)) (Scott) and (4/((d+2) n))^(1/(d+4)) (Silverman): right for a normal density. */
static int select_rule(selection *s, double numerator)
{
    double d = (double)s->samples->d;
    int status = open_pairs(s); /* refuses what has no covariance */
    if (status == SF_OK)
        set_relative(s, pow(numerator / (double)s->samples->n, 1 / (d + 4)));
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
        int status = sf_bandwidth_plugin(&plugin, s->samples->values, s->samples->n, s->options->threads,
                                         s->options->progress, s->error);
        s->result->h = plugin.h;
        s->result->h_relative = plugin.h / plugin.sigma;
        return status;
    }
    int status = open_spectrum(s);
    if (status == SF_OK)
        status = sf_spectral_plugin(&plugin, &s->spectrum, s->error);
    if (status == SF_OK)
        set_relative(s, plugin.h);
    return status;
}

/* The smallest bandwidth allowed, where a method would go on below it. */
static void set_floor(selection *s, const char *otherwise)
{
    set_relative(s, s->h_least);
    s->result->at_edge = true;
    s->result->note =
        s->ticking ? "the samples lie on the steps of a clock: the bandwidth is held at one step" : otherwise;
}

static int select_isj(selection *s)
{
    int status = open_spectrum(s);
    if (status == SF_OK)
        status = hold_at_tick(s);
    if (status != SF_OK)
        return status;
    double b = sf_spectral_isj(&s->spectrum, s->h_least, s->result->h0 * MOST_H0);
    if (isnan(b))
        set_floor(s, "no bandwidth above the smallest one looked at reproduces itself: that one is given");
    else
        set_relative(s, b);
    return SF_OK;
}

static int keep_points(sf_score_point **kept, size_t *kept_count, const sf_score_point *points, size_t count,
                       double unit)
{
    *kept = sf_resize(NULL, count, sizeof **kept);
    if (*kept == NULL)
        return SF_NO_MEMORY;
    *kept_count = count;
    for (size_t i = 0; i < count; i++)
        (*kept)[i] = (sf_score_point){points[i].h, points[i].score / unit};
    return SF_OK;
}

static int run_search(selection *s, sf_search *search)
{
    int status = sf_search_run(search, s->score, s->score_context);
    if (status == SF_OK)
        status = keep_points(&s->result->minima, &s->result->minimum_count, search->minima,
                             search->minimum_count, s->score_unit);
    if (status == SF_OK && s->options->curve)
        status = keep_points(&s->result->curve, &s->result->curve_count, search->curve, search->count,
                             s->score_unit);
    if (status == SF_NO_MEMORY)
        return sf_fail_memory(s->error);
    if (status == SF_CANCELLED)
        sf_fail(s->error, SF_CANCELLED, NULL, "stopped before the pair sums were complete");
    return status;
}

/* The paper's search: 150 equidistant points from h0/4 to 4 h0; a minimum at the edge is reported as such. */
static int select_lscv_paper(selection *s)
{
    sf_search search;
    double h0 = s->result->h0;
    int status = open_either(s);
    if (status != SF_OK)
        return status;
    sf_search_range(&search, PAPER_POINTS, h0 / 4, 4 * h0, false);
    status = run_search(s, &search);
    if (status != SF_OK)
        return status;
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
static void set_without_minimum(selection *s, const sf_search *search)
{
    sf_score_point edge = search->curve[search->lowest];
    double isj = s->score == sf_spectral_lscv && search->lowest == 0
                     ? sf_spectral_isj(&s->spectrum, s->h_least, s->result->h0 * MOST_H0)
                     : NAN;
    set_relative(s, edge.h);
    s->result->at_edge = true;
    s->result->note = "the score has no minimum: the edge of the search is given";
    s->result->objective = edge.score / s->score_unit;
    if (!isnan(isj)) {
        double slope;
        s->score(s->score_context, &isj, 1, &edge.score, &slope);
        set_relative(s, isj);
        s->result->objective = edge.score / s->score_unit;
        s->result->note = "the score falls without end towards h = 0, as it does where samples are tied: the "
                          "isj bandwidth is given";
    } else if (s->ticking && search->lowest == 0) {
        set_floor(s, NULL);
    }
}

/* The wide search: of several minima the lowest. Ties make the score fall again towards h = 0. */
static int select_lscv(selection *s)
{
    sf_search search;
    int status = open_either(s);
    if (status == SF_OK)
        status = hold_at_tick(s);
    if (status != SF_OK)
        return status;
    sf_search_range(&search, WIDE_POINTS, s->h_least, s->result->h0 * MOST_H0, true);
    status = run_search(s, &search);
    if (status != SF_OK)
        return status;
    const sf_score_point *minimum = sf_search_lowest_minimum(&search);
    if (minimum == NULL) {
        set_without_minimum(s, &search);
        return SF_OK;
    }
    set_relative(s, minimum->h);
    s->result->objective = minimum->score / s->score_unit;
    if (search.curve[search.lowest].score < minimum->score)
        s->result->note =
            "the score falls again towards h = 0, as it does where samples are tied: the lowest "
            "minimum between the edges is given";
    return SF_OK;
}

static const sf_selector selectors[] = {
    {"isj", 1, select_isj},
    {"plugin", 1, select_plugin},
    {"lscv", SF_PAIRS_MOST_COLUMNS, select_lscv},
    {"lscv-paper", SF_PAIRS_MOST_COLUMNS, select_lscv_paper},
    {"silverman", SF_PAIRS_MOST_COLUMNS, select_silverman},
    {"scott", SF_PAIRS_MOST_COLUMNS, select_scott},
};

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
        if (strcmp(selectors[i].name, name) == 0)
            return &selectors[i];
    return NULL;
}

double sf_bandwidth_h0(size_t n, size_t d)
{
    double columns = (double)d;
    return pow(4 / (columns * columns * (columns + 2) * (double)n), 1 / (columns + 4));
}

/* ---- the call ---- */

static int select_plain(sf_bandwidth *bandwidth, const sf_selector *selector, const sf_samples *samples,
                        const sf_bandwidth_options *options, sf_error *error)
{
    selection s = {.samples = samples, .options = options, .result = bandwidth, .error = error};
    int status = selector->select(&s);
    sf_spectrum_close(&s.spectrum);
    sf_pairs_close(&s.pairs);
    sf_free(s.z);
    return status;
}

/* On the logarithms; the caller has checked that they exist. */
static int select_log(sf_bandwidth *bandwidth, const sf_selector *selector, const sf_samples *samples,
                      const sf_bandwidth_options *options, sf_error *error)
{
    size_t count = samples->n * samples->d;
    sf_samples logs = {
        .values = sf_resize(NULL, count, sizeof *logs.values), .n = samples->n, .d = samples->d};
    if (logs.values == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        logs.values[i] = log(samples->values[i]);
    int status = select_plain(bandwidth, selector, &logs, options, error);
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
    if (status != SF_OK)
        sf_bandwidth_free(bandwidth);
    return status;
}

void sf_bandwidth_free(sf_bandwidth *bandwidth)
{
    sf_free(bandwidth->minima);
    sf_free(bandwidth->curve);
    bandwidth->minima = bandwidth->curve = NULL;
    bandwidth->minimum_count = bandwidth->curve_count = 0;
}
