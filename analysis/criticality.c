/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/criticality.h"

#include "analysis/activity.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- avalanches ---- */

/* Sizes, or durations. */
static int fit_avalanches(sf_power_fit *law, const sf_avalanches *avalanches, bool durations,
                          const sf_power_options *options, sf_error *error)
{
    uint64_t *values = sf_alloc(avalanches->count, sizeof *values);
    if (values == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < avalanches->count; i++)
        values[i] = durations ? avalanches->items[i].bins : avalanches->items[i].spikes;
    int status = sf_power_fit_find(law, values, avalanches->count, options, error);
    sf_free(values);
    return status;
}

/* How the mean size grows with the duration. */
typedef struct growth {
    double exponent, error;
} growth;

/* Weighted least squares of ln mean size by ln duration. */
static growth fit_growth(const double *sizes, const double *counts, size_t from, size_t count)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0, places = 0;
    for (size_t bins = from; bins < count; bins++) {
        if (counts[bins] == 0) continue;
        double w = counts[bins], at = log((double)bins), size = log(sizes[bins] / w);
        places++;
        n += w;
        x += w * at;
        y += w * size;
        xx += w * at * at;
        xy += w * at * size;
        yy += w * size * size;
    }
    double spread = xx - x * x / n, slope = (xy - x * y / n) / spread,
           rest = yy - y * y / n - slope * (xy - x * y / n);
    if (places < 3) return (growth){NAN, NAN};
    return (growth){slope, sqrt(fmax(0, rest) / (places - 2) / spread)};
}

static int find_growth(growth *found, const sf_avalanches *avalanches, uint64_t from_bins, sf_error *error)
{
    uint64_t most = 0;
    for (size_t i = 0; i < avalanches->count; i++)
        most = avalanches->items[i].bins > most ? avalanches->items[i].bins : most;
    double *sizes = sf_alloc(2 * ((size_t)most + 1), sizeof *sizes);
    if (sizes == NULL) return sf_fail_memory(error);
    double *counts = sizes + most + 1;
    for (size_t i = 0; i < avalanches->count; i++) {
        sizes[avalanches->items[i].bins] += (double)avalanches->items[i].spikes;
        counts[avalanches->items[i].bins]++;
    }
    *found = fit_growth(sizes, counts, (size_t)(from_bins > 0 ? from_bins : 1), (size_t)most + 1);
    sf_free(sizes);
    return SF_OK;
}

/* ---- shapes ---- */

/* Adds the spikes of an avalanche to its duration's mean shape; a bin is spread over the points that it
 * covers. */
static void add_shape(double *points, const sf_avalanche *a, const sf_recording *recording, int64_t bin_ns)
{
    double share = (double)SF_SHAPE_POINTS / (double)a->bins;
    for (size_t i = a->first; i < a->first + a->spikes; i++) {
        int64_t bin = (recording->spikes[i].time_ns - a->start_ns) / bin_ns;
        double from = (double)bin * share, to = from + share;
        for (size_t p = (size_t)from; p < SF_SHAPE_POINTS && (double)p < to; p++)
            points[p] += fmin(to, (double)p + 1) - fmax(from, (double)p);
    }
}

static void put_shape(sf_criticality *found, const double *points, uint64_t from_bins, uint64_t avalanches)
{
    double sum = 0;
    for (size_t p = 0; p < SF_SHAPE_POINTS; p++)
        sum += points[p];
    for (size_t p = 0; p < SF_SHAPE_POINTS && avalanches >= SF_SHAPE_LEAST; p++)
        found->shapes[found->shape_count++] =
            (sf_shape_point){.from_bins = from_bins,
                             .to_bins = 2 * from_bins - 1,
                             .avalanches = avalanches,
                             .position = ((double)p + 0.5) / SF_SHAPE_POINTS,
                             .spikes = points[p] / (double)avalanches,
                             .relative = points[p] * SF_SHAPE_POINTS / sum};
}

enum { GROUPS = 40, FIRST_GROUP = 4 };

static int find_shapes(sf_criticality *found, const sf_recording *recording, sf_error *error)
{
    double points[GROUPS][SF_SHAPE_POINTS] = {{0}};
    uint64_t counts[GROUPS] = {0};
    const sf_avalanches *avalanches = &found->avalanches;
    found->shapes = sf_alloc((size_t)GROUPS * SF_SHAPE_POINTS, sizeof *found->shapes);
    if (found->shapes == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < avalanches->count; i++) {
        const sf_avalanche *a = &avalanches->items[i];
        if (a->bins < FIRST_GROUP) continue;
        int group = ilogb((double)a->bins / FIRST_GROUP);
        group = group < GROUPS ? group : GROUPS - 1;
        add_shape(points[group], a, recording, avalanches->bin_ns);
        counts[group]++;
    }
    for (int g = 0; g < GROUPS; g++)
        put_shape(found, points[g], (uint64_t)FIRST_GROUP << g, counts[g]);
    return SF_OK;
}

/* ---- chance ---- */

#define SHIFTED 5 /* drawings */

/* Sums over drawings of trains shifted against each other. */
typedef struct chance {
    double values[SF_CRITICAL_MEASURES];
    double covariance; /* at the lags up to the time constant */
} chance;

static size_t lags_of_memory(const sf_branching *branching)
{
    double bins = branching->tau_s * 1e9 / (double)branching->bin_ns;
    size_t lags = isfinite(bins) && bins < (double)branching->lags ? (size_t)ceil(bins) : branching->lags;
    return lags > 0 ? lags : 1;
}

static double covariance_of(const sf_branching *branching, size_t lags)
{
    double sum = 0;
    for (size_t k = 0; k < lags && k < branching->lags; k++)
        sum += branching->r[k] * branching->variance;
    return sum;
}

static int find_branching(sf_branching *found, const sf_recording *recording,
                          const sf_criticality_options *options, bool alone, sf_error *error)
{
    sf_population population;
    int status = sf_population_count(&population, recording, options->branching_bin_ns, error);
    const sf_branching_options how = {.lags = options->lags, .alone = alone, .seed = options->seed};
    if (status == SF_OK) status = sf_branching_find(found, &population, &how, error);
    sf_population_free(&population);
    return status;
}

static int add_shifted_branching(chance *sum, const sf_criticality *found, const sf_recording *shifted,
                                 sf_error *error)
{
    sf_branching branching = {0};
    int status = find_branching(&branching, shifted, &found->options, true, error);
    if (status == SF_OK) {
        sum->covariance += covariance_of(&branching, lags_of_memory(&found->branching));
        sum->values[SF_CRITICAL_CONVENTIONAL] += branching.lags > 0 ? branching.r[0] : NAN;
    }
    sf_branching_free(&branching);
    return status;
}

static int add_shifted_avalanches(chance *sum, const sf_criticality *found, const sf_recording *shifted,
                                  sf_error *error)
{
    sf_avalanches avalanches = {0};
    sf_power_fit laws[2];
    const sf_power_options plain = {0};
    int status = sf_avalanches_find(&avalanches, shifted, found->avalanches.bin_ns, error);
    for (int d = 0; d < 2 && status == SF_OK; d++)
        status = fit_avalanches(&laws[d], &avalanches, d == 1, &plain, error);
    if (status == SF_OK) {
        sum->values[SF_CRITICAL_AVALANCHES] += (double)avalanches.count;
        sum->values[SF_CRITICAL_SIZE] += laws[0].exponent;
        sum->values[SF_CRITICAL_DURATION] += laws[1].exponent;
    }
    sf_avalanches_free(&avalanches);
    return status;
}

/* Avalanches where it has their bin. */
static int find_chance(chance *by_chance, const sf_criticality *found, const sf_recording *recording,
                       const sf_progress *progress, sf_error *error)
{
    int status = SF_OK;
    *by_chance = (chance){0};
    for (uint64_t round = 0; round < SHIFTED && status == SF_OK; round++) {
        sf_recording shifted;
        status = sf_activity_shift(&shifted, recording, found->options.seed, round, error);
        if (status == SF_OK) status = add_shifted_branching(by_chance, found, &shifted, error);
        if (status == SF_OK && found->avalanches.bin_ns > 0)
            status = add_shifted_avalanches(by_chance, found, &shifted, error);
        if (status == SF_OK && !sf_progress_update(progress, "shifting trains", (double)round + 1, SHIFTED))
            status = sf_fail(error, SF_CANCELLED, NULL, "stopped");
        sf_free(shifted.spikes);
    }
    for (int m = 0; m < SF_CRITICAL_MEASURES; m++)
        by_chance->values[m] = by_chance->values[m] != 0 ? by_chance->values[m] / SHIFTED : NAN;
    by_chance->covariance /= SHIFTED;
    return status;
}

/* ---- measures ---- */

static void put(sf_criticality *found, int which, double value, double low, double high)
{
    found->measures[which].value = value;
    found->measures[which].low = low;
    found->measures[which].high = high;
}

static void begin_measures(sf_criticality *found)
{
    static const sf_criticality_measure about[SF_CRITICAL_MEASURES] = {
        [SF_CRITICAL_BRANCHING] = {.measure = "branching_ratio",
                                   .unit = "",
                                   .what = "spikes that a spike brings about in the next bin, by multistep "
                                           "regression"},
        [SF_CRITICAL_CONVENTIONAL] = {.measure = "branching_ratio_conventional",
                                      .unit = "",
                                      .what =
                                          "the same by one step: too small, as not all units are recorded"},
        [SF_CRITICAL_TIMESCALE] = {.measure = "timescale",
                                   .unit = "s",
                                   .what = "time constant of the autocorrelation, -bin / ln branching ratio"},
        [SF_CRITICAL_OWN_SHARE] = {.measure = "own_share",
                                   .unit = "",
                                   .what = "share of the covariance up to the time constant that units have "
                                           "each by itself"},
        [SF_CRITICAL_AVALANCHES] = {.measure = "avalanches", .unit = "", .what = "number of avalanches"},
        [SF_CRITICAL_SIZE] = {.measure = "size_exponent",
                              .unit = "",
                              .what = "exponent of the power law of avalanche sizes in spikes"},
        [SF_CRITICAL_DURATION] = {.measure = "duration_exponent",
                                  .unit = "",
                                  .what = "exponent of the power law of avalanche durations in bins"},
        [SF_CRITICAL_GROWTH] = {.measure = "growth_exponent",
                                .unit = "",
                                .what = "exponent by which the mean size grows with the duration"},
        [SF_CRITICAL_PREDICTED] = {.measure = "growth_predicted",
                                   .unit = "",
                                   .what = "the same as crackling noise has it: (duration_exponent - 1) / "
                                           "(size_exponent - 1)"},
        [SF_CRITICAL_DEVIATION] = {.measure = "crackling_deviation",
                                   .unit = "",
                                   .what = "how far growth_exponent and growth_predicted are apart"},
    };
    for (int m = 0; m < SF_CRITICAL_MEASURES; m++) {
        found->measures[m] = about[m];
        found->measures[m].chance = NAN;
        put(found, m, NAN, NAN, NAN);
    }
}

static void measure_branching(sf_criticality *found, const chance *by_chance)
{
    const sf_branching *b = &found->branching;
    double own = by_chance->covariance / covariance_of(b, lags_of_memory(b));
    put(found, SF_CRITICAL_BRANCHING, b->m, b->low, b->high);
    put(found, SF_CRITICAL_CONVENTIONAL, b->lags > 0 ? b->r[0] : NAN, NAN, NAN);
    put(found, SF_CRITICAL_TIMESCALE, b->tau_s, b->tau_low, b->tau_high);
    put(found, SF_CRITICAL_OWN_SHARE, isfinite(b->m) ? fmin(fmax(own, 0), 1) : NAN, NAN, NAN);
    for (int m = 0; m < SF_CRITICAL_MEASURES; m++)
        found->measures[m].chance = by_chance->values[m];
}

static void measure_avalanches(sf_criticality *found, const growth *grown)
{
    const sf_power_fit *size = &found->fits[0].law, *duration = &found->fits[1].law;
    double a_s = size->exponent - 1, a_d = duration->exponent - 1, predicted = a_d / a_s;
    double error = predicted * hypot(size->error / a_s, duration->error / a_d);
    put(found, SF_CRITICAL_AVALANCHES, (double)found->avalanches.count, NAN, NAN);
    put(found, SF_CRITICAL_SIZE, size->exponent, size->low, size->high);
    put(found, SF_CRITICAL_DURATION, duration->exponent, duration->low, duration->high);
    put(found, SF_CRITICAL_GROWTH, grown->exponent, grown->exponent - 1.96 * grown->error,
        grown->exponent + 1.96 * grown->error);
    put(found, SF_CRITICAL_PREDICTED, predicted, predicted - 1.96 * error, predicted + 1.96 * error);
    put(found, SF_CRITICAL_DEVIATION, fabs(grown->exponent - predicted), NAN, NAN);
}

/* ---- when not to believe it ---- */

__attribute__((format(printf, 4, 5))) static void caution(sf_criticality *found, const char *of,
                                                          const char *word, const char *format, ...)
{
    if (found->caution_count == SF_CRITICALITY_CAUTIONS) return;
    sf_criticality_caution *c = &found->cautions[found->caution_count++];
    va_list values;
    c->of = of;
    c->caution = word;
    va_start(values, format);
    vsnprintf(c->text, sizeof c->text, format, values);
    va_end(values);
}

#define FEW_SPIKES 1000

static void doubt_branching(sf_criticality *found, const sf_recording *recording)
{
    static const char of[] = "branching_ratio";
    const sf_branching *b = &found->branching;
    double longest_s = (double)b->lags * (double)b->bin_ns * 1e-9;
    if (found->spikes < FEW_SPIKES)
        caution(found, of, "few-spikes", "%zu spikes are too few for any of this", (size_t)found->spikes);
    if (b->bin_ns < 2 * recording->tick_ns && b->bin_ns % recording->tick_ns != 0)
        caution(found, of, "coarse-clock",
                "bins of %.4g ms hold different numbers of the clock's steps of %.4g ms: take a multiple",
                (double)b->bin_ns * 1e-6, (double)recording->tick_ns * 1e-6);
    if ((b->cautions & SF_BRANCHING_SHORT) != 0)
        caution(found, of, "short", "%.4g s hold %zu blocks of the longest lag, expected %d: no interval",
                found->duration_s, b->blocks, SF_BRANCHING_LEAST);
    if ((b->cautions & SF_BRANCHING_NO_MEMORY) != 0)
        caution(
            found, of, "no-memory",
            "the activity of a bin says nothing of the next ones: there is no branching ratio to estimate");
    if ((b->cautions & SF_BRANCHING_DRIFT) != 0)
        caution(found, of, "drift",
                "the rate of the population changes more than these fluctuations explain (p %.2g): analyse a "
                "steady part",
                b->drift_p);
    if ((b->cautions & SF_BRANCHING_OFFSET) != 0)
        caution(found, of, "offset",
                "the autocorrelation falls to %.2g and not to 0: with that constant the ratio is %.4g",
                b->offset, b->offset_m);
    if ((b->cautions & SF_BRANCHING_OSCILLATION) != 0)
        caution(found, of, "oscillation", "the autocorrelation oscillates at %.3g Hz: it is no exponential",
                b->oscillation_hz);
    if ((b->cautions & SF_BRANCHING_MISFIT) != 0)
        caution(found, of, "misfit", "the autocorrelation is no exponential: look at it (plot avalanches)");
    if ((b->cautions & SF_BRANCHING_LONG) != 0)
        caution(found, of, "long",
                "the time constant is no shorter than half the longest lag, %.3g s: take more lags",
                longest_s);
    if (found->measures[SF_CRITICAL_OWN_SHARE].value > 0.5)
        caution(
            found, of, "own-bursts",
            "units by themselves, bursting, make %.2g of the autocorrelation: it is not for the most part "
            "activity that spreads",
            found->measures[SF_CRITICAL_OWN_SHARE].value);
}

static void doubt_law(sf_criticality *found, const sf_avalanche_fit *fit)
{
    const sf_power_fit *law = &fit->law;
    if (!isfinite(law->exponent)) {
        caution(found, fit->of, "few-avalanches",
                "%zu avalanches are too few, or all alike: no power law is fitted", (size_t)law->count);
        return;
    }
    if (law->p <= 0.1) caution(found, fit->of, "ruled-out", "a power law is ruled out (p %.2g)", law->p);
    if (law->lognormal.ratio < 0 && law->lognormal.p < 0.1)
        caution(found, fit->of, "lognormal", "a lognormal fits better (p %.2g)", law->lognormal.p);
    if (law->exponential.ratio < 0 && law->exponential.p < 0.1)
        caution(found, fit->of, "exponential", "an exponential fits better (p %.2g)", law->exponential.p);
    if (law->most < 100 * law->xmin)
        caution(found, fit->of, "narrow", "the fit spans less than two decades, from %zu to %zu",
                (size_t)law->xmin, (size_t)law->most);
}

static void doubt_avalanches(sf_criticality *found)
{
    const sf_criticality_measure *grown = &found->measures[SF_CRITICAL_GROWTH],
                                 *predicted = &found->measures[SF_CRITICAL_PREDICTED];
    doubt_law(found, &found->fits[0]);
    doubt_law(found, &found->fits[1]);
    if (grown->low > predicted->high || grown->high < predicted->low)
        caution(found, "avalanches", "no-crackling",
                "size grows with duration by %.3g, and %.3g is what both exponents would have", grown->value,
                predicted->value);
}

/* ---- all of it ---- */

static int copy_lags(sf_criticality *found, sf_error *error)
{
    const sf_branching *b = &found->branching;
    double power = 1;
    found->lags = sf_alloc(b->lags, sizeof *found->lags);
    if (found->lags == NULL) return sf_fail_memory(error);
    for (size_t k = 0; k < b->lags; k++) {
        power *= b->m;
        found->lags[k] = (sf_lag){.lag_s = (double)(k + 1) * (double)b->bin_ns * 1e-9,
                                  .r = b->r[k],
                                  .error = b->errors[k] > 0 ? b->errors[k] : NAN,
                                  .fit = b->b * power};
    }
    return SF_OK;
}

static int find_avalanches(sf_criticality *found, const sf_recording *recording, const sf_progress *progress,
                           sf_error *error)
{
    int64_t bin_ns = found->options.avalanche_bin_ns > 0 ? found->options.avalanche_bin_ns
                                                         : sf_population_interval_ns(recording);
    const sf_power_options how = {
        .rounds = (uint32_t)found->options.rounds, .seed = found->options.seed, .progress = progress};
    int status = bin_ns > 0 ? sf_avalanches_find(&found->avalanches, recording, bin_ns, error) : SF_OK;
    for (int d = 0; d < 2 && status == SF_OK; d++) {
        found->fits[d].of = d == 0 ? "size" : "duration";
        status = fit_avalanches(&found->fits[d].law, &found->avalanches, d == 1, &how, error);
    }
    return status == SF_OK && bin_ns > 0 ? find_shapes(found, recording, error) : status;
}

static int begin(sf_criticality *found, const sf_recording *recording, const sf_criticality_options *options,
                 sf_error *error)
{
    *found = (sf_criticality){.options = *options,
                              .spikes = recording->spike_count,
                              .duration_s = (double)sf_recording_duration_ns(recording) / (double)SF_SECOND};
    begin_measures(found);
    int status = find_branching(&found->branching, recording, options, false, error);
    return status == SF_OK ? copy_lags(found, error) : status;
}

int sf_criticality_find_branching(sf_criticality *found, const sf_recording *recording,
                                  const sf_criticality_options *options, const sf_progress *progress,
                                  sf_error *error)
{
    chance by_chance;
    int status = begin(found, recording, options, error);
    if (status == SF_OK && recording->spike_count > 1)
        status = find_chance(&by_chance, found, recording, progress, error);
    if (status == SF_OK && recording->spike_count > 1) measure_branching(found, &by_chance);
    if (status == SF_OK) doubt_branching(found, recording);
    return status;
}

int sf_criticality_find(sf_criticality *found, const sf_recording *recording,
                        const sf_criticality_options *options, const sf_progress *progress, sf_error *error)
{
    growth grown = {NAN, NAN};
    chance by_chance;
    int status = begin(found, recording, options, error);
    if (status == SF_OK) status = find_avalanches(found, recording, progress, error);
    if (status == SF_OK) status = find_growth(&grown, &found->avalanches, found->fits[1].law.xmin, error);
    if (status == SF_OK && recording->spike_count > 1)
        status = find_chance(&by_chance, found, recording, progress, error);
    if (status == SF_OK && recording->spike_count > 1) {
        measure_branching(found, &by_chance);
        measure_avalanches(found, &grown);
    }
    if (status == SF_OK) {
        doubt_branching(found, recording);
        doubt_avalanches(found);
    }
    return status;
}

void sf_criticality_free(sf_criticality *found)
{
    sf_avalanches_free(&found->avalanches);
    sf_branching_free(&found->branching);
    sf_free(found->shapes);
    sf_free(found->lags);
    *found = (sf_criticality){0};
}
