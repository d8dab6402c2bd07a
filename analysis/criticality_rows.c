/* SPDX-License-Identifier: Apache-2.0 */
/* The options and the columns of criticality. */
#include "analysis/criticality.h"
#include "analysis/tables.h"

#include "core/describe/column.h"
#include "core/row_macros.h"

/* ---- options ---- */

static const sf_criticality_options usual = {
    .branching_bin_ns = 4000000, .lags = 500, .rounds = 100, .seed = 1};

#define ROW sf_criticality_options
static const sf_key option_rows[] = {
    TIME("avalanche_bin_ns", avalanche_bin_ns, 0, 1e15, .zero = "the mean interval of the population",
         .unit = "ms", .argument = "MS", .what = "bin of avalanches"),
    TIME("branching_bin_ns", branching_bin_ns, 1, 1e15, .unit = "ms", .argument = "MS",
         .what = "bin of the branching ratio"),
    COUNT("lags", lags, 3, 100000, .argument = "N",
          .what = "the branching ratio is fitted to so many of these bins"),
    COUNT("rounds", rounds, 0, 100000, .argument = "N",
          .what = "drawings that p of a power law is of; 0: no p and no interval of exponents"),
    {SF_ROW_SEED, AT(seed), .what = "of all drawings"},
    {0},
};
#undef ROW

const sf_key_table sf_criticality_options_table = SF_KEY_TABLE(option_rows, usual);

/* ---- measures ---- */

#define ROW sf_criticality_measure
static const sf_column_row measure_rows[] = {
    SF_MEMBER_IS(TEXT, measure, "its name"),
    SF_MEMBER_IS(REAL, value, "of this recording", .null = "it is not known"),
    SF_MEMBER_IS(REAL, low, "lower end of its 95 % interval", .null = "it has none"),
    SF_MEMBER_IS(REAL, high, "upper end of its 95 % interval", .null = "it has none"),
    SF_MEMBER_IS(REAL, chance, "of the trains shifted against each other: the mean of 5 drawings",
                 .null = "not drawn, or not known of every drawing"),
    SF_MEMBER_IS(TEXT, unit, "of all of these, empty of a plain number"),
    SF_MEMBER_IS(TEXT, what, "what it is"),
};
#undef ROW

const sf_table sf_criticality_measures_table = {.name = "criticality",
                                                .row = "criticality_measure",
                                                .about = "how near the network is to criticality",
                                                SF_TABLE_OF(measure_rows)};

/* ---- power laws ---- */

#define NO_FIT .null = "there is no fit"
#define ROW sf_avalanche_fit
static const sf_column_row fit_rows[] = {
    SF_MEMBER_IS(TEXT, of, "size in spikes, or duration in bins"),
    SF_FIELD_IS(COUNT, "avalanches", law.count, "number of avalanches"),
    SF_FIELD_IS(COUNT, "xmin", law.xmin, "the power law is fitted from here on; 0: there is no fit"),
    SF_FIELD_IS(COUNT, "tail", law.tail, "avalanches from there on"),
    SF_FIELD_IS(COUNT, "most", law.most, "the greatest"),
    SF_FIELD_IS(REAL, "exponent", law.exponent, "of maximum likelihood", NO_FIT),
    SF_FIELD_IS(REAL, "error", law.error, "its standard error at this xmin", NO_FIT),
    SF_FIELD_IS(REAL, "low", law.low, "lower end of its 95 % interval, xmin being unknown",
                .null = "there is no fit, or no drawings"),
    SF_FIELD_IS(REAL, "high", law.high, "upper end of its 95 % interval",
                .null = "there is no fit, or no drawings"),
    SF_FIELD_IS(REAL, "distance", law.distance, "of Kolmogorov and Smirnov between data and fit", NO_FIT),
    SF_FIELD_IS(
        REAL, "p", law.p,
        "drawings from the fit that lie as far from their own, and one more: 0.1 or less rules it out",
        .unit = "probability", .null = "there is no fit, or no drawings"),
    SF_FIELD_IS(REAL, "lognormal_ratio", law.lognormal.ratio,
                "Vuong's ratio of likelihoods: below 0 the lognormal fits better", NO_FIT),
    SF_FIELD_IS(REAL, "lognormal_p", law.lognormal.p, "that it is as far from 0 by chance",
                .unit = "probability", NO_FIT),
    SF_FIELD_IS(REAL, "exponential_ratio", law.exponential.ratio,
                "the same with the exponential: below 0 that fits better", NO_FIT),
    SF_FIELD_IS(REAL, "exponential_p", law.exponential.p, "that it is as far from 0 by chance",
                .unit = "probability", NO_FIT),
};
#undef ROW

const sf_table sf_avalanche_fits_table = {.name = "avalanche_fits",
                                          .row = "avalanche_fit",
                                          .about = "power laws of the sizes and the durations of avalanches",
                                          SF_TABLE_OF(fit_rows)};

/* ---- avalanches ---- */

#define ROW sf_avalanche
static const sf_column_row avalanche_rows[] = {
    SF_FIELD_IS(TIME, "start_s", start_ns, "its first bin begins", .unit = "s"),
    SF_FIELD_IS(TIME, "stop_s", stop_ns, "its last bin ends", .unit = "s"),
    SF_MEMBER_IS(COUNT, spikes, "its size: spikes in it"),
    SF_MEMBER_IS(COUNT, bins, "its duration: bins"),
    SF_MEMBER_IS(COUNT, units, "units that fire in it"),
};
#undef ROW

const sf_table sf_avalanches_table = {
    .name = "avalanches", .row = "avalanche", .about = "avalanches, in order", SF_TABLE_OF(avalanche_rows)};

/* ---- shapes ---- */

#define ROW sf_shape_point
static const sf_column_row shape_rows[] = {
    SF_MEMBER_IS(COUNT, from_bins, "avalanches of this duration, in bins, ..."),
    SF_MEMBER_IS(COUNT, to_bins, "... to this one"),
    SF_MEMBER_IS(COUNT, avalanches, "how many there are"),
    SF_MEMBER_IS(REAL, position, "place within the avalanche, as a share of its duration"),
    SF_MEMBER_IS(REAL, spikes, "spikes a bin at this place, mean"),
    SF_MEMBER_IS(REAL, relative, "the same over the mean of all places"),
};
#undef ROW

const sf_table sf_avalanche_shapes_table = {.name = "avalanche_shapes",
                                            .row = "avalanche_shape_point",
                                            .about = "mean shapes of avalanches, by duration",
                                            SF_TABLE_OF(shape_rows)};

/* ---- the autocorrelation ---- */

#define ROW sf_lag
static const sf_column_row lag_rows[] = {
    SF_MEMBER_IS(REAL, lag_s, "time from one bin to the other", .unit = "s"),
    SF_MEMBER_IS(REAL, r, "slope of the regression of the later bin on the earlier one"),
    SF_MEMBER_IS(REAL, error, "its standard error", .null = "the recording is too short to draw blocks"),
    SF_MEMBER_IS(REAL, fit, "b m^k, the fit that the branching ratio m is of",
                 .null = "there is no branching ratio"),
};
#undef ROW

const sf_table sf_autocorrelation_table = {.name = "autocorrelation",
                                           .row = "lag",
                                           .about = "how the activity of a bin goes with that of later ones",
                                           SF_TABLE_OF(lag_rows)};

/* ---- cautions ---- */

#define ROW sf_criticality_caution
static const sf_column_row caution_rows[] = {
    SF_MEMBER_IS(TEXT, of, "what is in doubt: branching_ratio, size, duration or avalanches"),
    SF_MEMBER_IS(TEXT, caution, "why, in a word"),
    SF_MEMBER_IS(TEXT, text, "why, in a sentence"),
};
#undef ROW

const sf_table sf_criticality_cautions_table = {.name = "criticality_cautions",
                                                .row = "criticality_caution",
                                                .about = "why a number may not be believed",
                                                SF_TABLE_OF(caution_rows)};

sf_table sf_criticality_table(const sf_criticality *found, size_t which)
{
    const sf_table_rows parts[SF_CRITICALITY_TABLES] = {
        {&sf_criticality_measures_table, found->measures, SF_CRITICAL_MEASURES},
        {&sf_avalanche_fits_table, found->fits, 2},
        {&sf_avalanches_table, found->avalanches.items, found->avalanches.count},
        {&sf_avalanche_shapes_table, found->shapes, found->shape_count},
        {&sf_autocorrelation_table, found->lags, found->branching.lags},
        {&sf_criticality_cautions_table, found->cautions, found->caution_count}};
    return sf_table_with(&parts[which]);
}

/* ---- all of them ---- */

SF_LENGTH(count_part)
{
    *length = sf_criticality_table(of, column->member).row_count;
    return true;
}

SF_GETTER(get_part)
{
    sf_value_set_record(value, sf_criticality_table(of, column->member).of, item);
}

#define PART(which, name, like, phrase)                                                                      \
    {                                                                                                        \
        .is = SF_WHAT_LIST(RECORD, name, phrase), .get = get_part, .length = count_part, .member = (which),  \
        .table = (like)                                                                                      \
    }
static const sf_column_row parts[SF_CRITICALITY_TABLES] = {
    PART(0, "criticality", &sf_criticality_measures_table, "branching ratio, exponents and what they are of"),
    PART(1, "avalanche_fits", &sf_avalanche_fits_table, "power laws of the sizes and the durations"),
    PART(2, "avalanches", &sf_avalanches_table, "every avalanche, in order"),
    PART(3, "avalanche_shapes", &sf_avalanche_shapes_table, "mean shapes, by duration"),
    PART(4, "autocorrelation", &sf_autocorrelation_table, "what the branching ratio is fitted to"),
    PART(5, "criticality_cautions", &sf_criticality_cautions_table, "why a number may not be believed"),
};

const sf_table sf_criticality_document = {
    .name = "criticality", .about = "how near a network is to criticality", SF_TABLE_OF(parts)};
