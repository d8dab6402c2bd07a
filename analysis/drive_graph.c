/* SPDX-License-Identifier: Apache-2.0 */
/* Edges of a graph of drive: pairs that stand out from most other pairs, and from their surrogates. */
#include "analysis/drive.h"
#include "analysis/links.h"

#include "core/backend/surrogate.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"
#include "mine/significance.h"

#include <math.h>
#include <string.h>

#define DEFAULT_FALSE 0.05
#define WIDTH_OF_DELAY 1.5 /* of the shifts, in greatest delays */

static const char too_few[] = "too few for a trough";

typedef struct drive {
    const sf_recording *recording;
    const sf_drive_options *how;
    sf_drive_job job;
    sf_binned trains;
    sf_span whole; /* used if the recording has no observed spans */
    sf_drive_pairs pairs;
    size_t count;   /* pairs that are compared */
    size_t *places; /* of these in `pairs` */
    double *scores, *confidence;
    uint32_t *as_far;         /* number of surrogates at least as extreme on the side of the score */
    double *highest, *lowest; /* extreme statistics of any pair in each surrogate */
} drive;

static int choose_lags(sf_drive_job *job, const sf_drive_options *how, sf_error *error)
{
    bool given = how->low_ns != 0 || how->high_ns != 0;
    int64_t low_ns = given ? how->low_ns : SF_DRIVE_LOW_NS, high_ns = given ? how->high_ns : SF_DRIVE_HIGH_NS;
    if (low_ns < 0 || high_ns / SF_LAG_BIN_NS <= low_ns / SF_LAG_BIN_NS ||
        high_ns > (int64_t)SF_DRIVE_MOST_LAG * SF_LAG_BIN_NS)
        return sf_fail(error, SF_USAGE, "delays",
                       "found (%g,%g] ms, expected a millisecond or more from 0 to %d ms",
                       (double)low_ns * 1e-6, (double)high_ns * 1e-6, SF_DRIVE_MOST_LAG);
    job->first_lag = (uint32_t)(low_ns / SF_LAG_BIN_NS) + 1;
    job->last_lag = (uint32_t)(high_ns / SF_LAG_BIN_NS);
    return SF_OK;
}

static int bin(sf_binned *trains, const drive *d, const sf_spike *spikes, sf_error *error)
{
    const sf_recording *r = d->recording;
    bool spans = r->observed_count > 0;
    return sf_binned_open(trains, spikes, r->spike_count, r->units.count, spans ? r->observed : &d->whole,
                          spans ? r->observed_count : 1, error);
}

static bool are_compared(const drive *d, size_t from, size_t to)
{
    const sf_unit *a = &d->recording->units.items[from], *b = &d->recording->units.items[to];
    double least_um = d->how->min_distance_um;
    if (from == to || !(sf_binned_spikes(&d->trains, from) > 0 && sf_binned_spikes(&d->trains, to) > 0))
        return false;
    return !(least_um > 0 && hypot(a->x_um - b->x_um, a->y_um - b->y_um) < least_um);
}

static void list_pairs(drive *d)
{
    size_t units = d->pairs.unit_count;
    for (size_t from = 0; from < units; from++)
        for (size_t to = 0; to < units; to++)
            if (are_compared(d, from, to)) d->places[d->count++] = from * units + to;
}

/* Estimates the null from all pairs. If most pairs have no coincidence, their spread is smaller than the
 * counting noise of a pair, whose standard deviation is 1, and a single coincidence would stand out; so the
 * spread is at least 1. */
static sf_drive_null find_null(drive *d)
{
    for (size_t i = 0; i < d->count; i++)
        d->scores[i] = d->pairs.statistic[d->places[i]];
    sf_drive_null null = sf_drive_null_of(d->scores, d->count);
    null.below = fmax(null.below, 1);
    null.above = fmax(null.above, 1);
    return null;
}

/* Scores pairs against the null; a pair with few coincidences scores at most sf_drive_most_score. */
static int score_pairs(drive *d, sf_error *error)
{
    const sf_drive_null null = find_null(d);
    const size_t units = d->pairs.unit_count;
    for (size_t i = 0; i < d->count; i++) {
        size_t place = d->places[i];
        d->scores[i] = sf_drive_standardise(&null, d->pairs.statistic[place]);
        if (d->scores[i] > 0)
            d->scores[i] =
                fmin(d->scores[i], sf_drive_most_score(&d->pairs, &d->job, place / units, place % units));
    }
    return sf_drive_confidence(d->confidence, d->scores, d->count, error);
}

/* ---- surrogates ---- */

/* Segments are chosen as in a test of episodes. */
static sf_surrogate_rule rule_of(const drive *d)
{
    const sf_recording *r = d->recording;
    int64_t longest_ns = (int64_t)d->job.last_lag * SF_LAG_BIN_NS,
            span_ns = r->spikes[r->spike_count - 1].time_ns - r->spikes[0].time_ns;
    size_t most = 0;
    for (size_t u = 0; u < d->trains.unit_count; u++) {
        size_t spikes = d->trains.first[u + 1] - d->trains.first[u];
        most = spikes > most ? spikes : most;
    }
    return (sf_surrogate_rule){.kind = SF_SURROGATE_SEGMENT_SHIFT,
                               .width_ns = (int64_t)(WIDTH_OF_DELAY * (double)longest_ns),
                               .segment_ns = sf_significance_segment(span_ns, (uint32_t)most, longest_ns),
                               .seed = d->how->seed > 0 ? d->how->seed : 1};
}

static void compare_with(drive *d, const sf_drive_pairs *surrogate, uint32_t number)
{
    d->highest[number] = -INFINITY, d->lowest[number] = INFINITY;
    for (size_t i = 0; i < d->count; i++) {
        double statistic = surrogate->statistic[d->places[i]], recorded = d->pairs.statistic[d->places[i]];
        d->as_far[i] += d->scores[i] < 0 ? statistic <= recorded : statistic >= recorded;
        d->highest[number] = fmax(d->highest[number], statistic);
        d->lowest[number] = fmin(d->lowest[number], statistic);
    }
}

/* Lets `progress` also stop the work within one surrogate. */
typedef struct surrogate_progress {
    const drive *d;
    uint32_t number;
} surrogate_progress;

static bool update_surrogates(void *user, const char *what, double done, double total)
{
    (void)what, (void)done, (void)total;
    const surrogate_progress *at = user;
    return sf_progress_update(at->d->job.progress, "surrogates", at->number, at->d->how->surrogates);
}

static int make_surrogate(drive *d, sf_spike *shifted, uint32_t number, sf_error *error)
{
    const sf_recording *r = d->recording;
    const sf_surrogate_rule rule = rule_of(d);
    sf_drive_job job = d->job;
    sf_binned trains = {0};
    sf_drive_pairs pairs;
    for (size_t i = 0; i < r->spike_count; i++) {
        shifted[i] = r->spikes[i];
        int64_t time_ns = shifted[i].time_ns - r->spikes[0].time_ns;
        shifted[i].time_ns =
            r->spikes[0].time_ns + sf_surrogate_time(&rule, number, shifted[i].unit, 0, time_ns);
    }
    int status = sf_spikes_sort(shifted, r->spike_count, error);
    if (status == SF_OK) status = bin(&trains, d, shifted, error);
    surrogate_progress at = {d, number};
    const sf_progress progress = {update_surrogates, &at};
    job.trains = &trains;
    job.progress = &progress;
    if (status == SF_OK) status = sf_drive_pairs_open(&pairs, &job, error);
    if (status == SF_OK) {
        compare_with(d, &pairs, number);
        sf_drive_pairs_close(&pairs);
    }
    sf_binned_close(&trains);
    return status;
}

static int make_surrogates(drive *d, sf_error *error)
{
    uint32_t surrogates = d->count > 0 ? d->how->surrogates : 0;
    sf_spike *shifted = sf_resize(NULL, d->recording->spike_count, sizeof *shifted);
    int status = shifted != NULL ? SF_OK : sf_fail_memory(error);
    for (uint32_t s = 0; s < surrogates && status == SF_OK; s++)
        status = make_surrogate(d, shifted, s, error);
    sf_free(shifted);
    return status;
}

static double p_of(const drive *d, size_t i)
{
    uint32_t surrogates = d->how->surrogates;
    return surrogates > 0 ? (1.0 + d->as_far[i]) / (1.0 + surrogates) : NAN;
}

/* Fraction of surrogates in which any pair is as extreme on its side. */
static double q_of(const drive *d, size_t i)
{
    uint32_t surrogates = d->how->surrogates, as_far = 0;
    double statistic = d->pairs.statistic[d->places[i]];
    for (uint32_t s = 0; s < surrogates; s++)
        as_far += d->scores[i] < 0 ? d->lowest[s] <= statistic : d->highest[s] >= statistic;
    return surrogates > 0 ? (1.0 + as_far) / (1.0 + surrogates) : NAN;
}

/* ---- edges ---- */

/* Whether even the smallest possible number of coincidences would not stand out. */
static bool hides_troughs(const drive *d, size_t place)
{
    size_t units = d->pairs.unit_count;
    return sf_drive_expected(&d->job, place / units, place % units) < SF_DRIVE_LEAST_EXPECTED;
}

static bool is_edge(const drive *d, size_t i)
{
    double most = d->how->max_false > 0 ? d->how->max_false : DEFAULT_FALSE;
    if (most >= 1) return true;
    return d->confidence[i] >= 1 - most && !(d->scores[i] < 0 && hides_troughs(d, d->places[i]));
}

static sf_link link_of(const drive *d, size_t i)
{
    const sf_drive_pairs *pairs = &d->pairs;
    size_t place = d->places[i], units = pairs->unit_count, from = place / units, to = place % units;
    bool hidden = d->scores[i] < 0 && hides_troughs(d, place);
    return (sf_link){.from = (uint32_t)from,
                     .to = (uint32_t)to,
                     .delay = {(int64_t)(pairs->first[place] - 1) * SF_LAG_BIN_NS,
                               (int64_t)pairs->last[place] * SF_LAG_BIN_NS},
                     .count = (uint64_t)pairs->counts[place],
                     .expected = sf_drive_expected(&d->job, from, to),
                     .expected_given_rest = NAN,
                     .p = hidden ? NAN : p_of(d, i),
                     .q = hidden ? NAN : q_of(d, i),
                     .not_tested = hidden ? too_few : NULL,
                     .coefficient = pairs->value[place],
                     .sign = (int8_t)(d->scores[i] < 0 ? -1 : 1),
                     .confidence = hidden ? 0 : d->confidence[i],
                     .score = d->scores[i]};
}

static int list_links(sf_connectivity *graph, const drive *d, sf_error *error)
{
    size_t kept = 0, hidden = 0;
    for (size_t i = 0; i < d->count; i++) {
        kept += is_edge(d, i);
        hidden += hides_troughs(d, d->places[i]);
    }
    sf_link *links = sf_alloc(kept, sizeof *links);
    if (links == NULL) return sf_fail_memory(error);
    kept = 0;
    for (size_t i = 0; i < d->count; i++)
        if (is_edge(d, i)) links[kept++] = link_of(d, i);
    int status = sf_connectivity_take(graph, (uint32_t)d->pairs.unit_count, links, kept, error);
    graph->is_signed = true;
    graph->pairs_compared = d->count;
    graph->troughs_hidden = hidden;
    return status;
}

static int set_rates(sf_connectivity *graph, const sf_recording *recording, sf_error *error)
{
    uint64_t *spikes = sf_alloc(recording->units.count, sizeof *spikes);
    if (spikes == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < recording->spike_count; i++)
        spikes[recording->spikes[i].unit]++;
    int status = sf_connectivity_set_rates(graph, spikes, sf_recording_duration_ns(recording), error);
    sf_free(spikes);
    return status;
}

static int open_drive(drive *d, sf_error *error)
{
    size_t units = d->recording->units.count, pairs = units * units;
    d->places = sf_resize(NULL, pairs, sizeof *d->places);
    d->scores = sf_resize(NULL, pairs, sizeof *d->scores);
    d->confidence = sf_alloc(pairs, sizeof *d->confidence);
    d->as_far = sf_alloc(pairs, sizeof *d->as_far);
    d->highest = sf_alloc(d->how->surrogates, sizeof *d->highest);
    d->lowest = sf_alloc(d->how->surrogates, sizeof *d->lowest);
    bool complete = d->places != NULL && d->scores != NULL && d->confidence != NULL && d->as_far != NULL &&
                    d->highest != NULL && d->lowest != NULL;
    int status = complete ? choose_lags(&d->job, d->how, error) : sf_fail_memory(error);
    if (status == SF_OK && d->how->min_distance_um > 0 && !sf_units_have_geometry(&d->recording->units))
        status = sf_fail(error, SF_USAGE, "min_distance_um",
                         "needs positions of units, which this recording does not hold");
    return status == SF_OK ? bin(&d->trains, d, d->recording->spikes, error) : status;
}

static void close_drive(drive *d)
{
    sf_binned_close(&d->trains);
    sf_drive_pairs_close(&d->pairs);
    sf_free(d->places);
    sf_free(d->scores);
    sf_free(d->confidence);
    sf_free(d->as_far);
    sf_free(d->highest);
    sf_free(d->lowest);
}

int sf_links_of_drive(sf_connectivity *graph, const sf_recording *recording, const sf_drive_options *options,
                      const sf_progress *progress, sf_error *error)
{
    *graph = (sf_connectivity){0};
    drive d = {.recording = recording, .how = options, .whole = recording->recorded};
    d.job = (sf_drive_job){.method = options->method,
                           .trains = &d.trains,
                           .threads = options->threads > 0 ? options->threads : sf_thread_cores(),
                           .progress = progress};
    int status = open_drive(&d, error);
    if (status == SF_OK) status = sf_drive_pairs_open(&d.pairs, &d.job, error);
    if (status == SF_OK) {
        list_pairs(&d);
        status = score_pairs(&d, error);
    }
    if (status == SF_OK) status = make_surrogates(&d, error);
    if (status == SF_OK) status = list_links(graph, &d, error);
    if (status == SF_OK) status = set_rates(graph, recording, error);
    if (status != SF_OK) sf_connectivity_free(graph);
    close_drive(&d);
    return status;
}
