/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the timing and the places of spikes are distributed: samples, bandwidths, densities, and answers that
 * densities give instead of the data.
 *
 * Samples come from memory, from a file of numbers, or from a recording as one of four quantities. They lie
 * in an sf_series: one or more series of them, each of one unit or link, which are never pooled.
 * sf_density_find chooses the bandwidth of one series; the density that it gives can then be evaluated and
 * asked.
 */
#ifndef SYNFIRE_DENSITY_H
#define SYNFIRE_DENSITY_H

#include <synfire/device.h>
#include <synfire/mine.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- samples ---- */

/** What is told of spikes as samples of a distribution. */
typedef enum sf_quantity {
    SF_QUANTITY_ISI,     /**< s between two spikes of a unit that follow each other; none across a gap */
    SF_QUANTITY_DELAY,   /**< s between the spikes of a link in each counted occurrence of an episode */
    SF_QUANTITY_RATE,    /**< Hz, of a unit in each bin that lies wholly in a stretch of observation */
    SF_QUANTITY_POSITION /**< um, two columns: where on the array each spike was seen */
} sf_quantity;

/** Where samples can lie, and so which density is estimated. */
typedef enum sf_domain {
    SF_DOMAIN_LINE,   /**< anywhere */
    SF_DOMAIN_LOG,    /**< above 0: the density of ln x, per unit of ln x; bandwidths are of ln x */
    SF_DOMAIN_REFLECT /**< at or above 0: what the kernels put under 0 is reflected, f(x) + f(-x) */
} sf_domain;

/** One or more series of samples; read-only, so threads may share it. */
typedef struct sf_series sf_series;

/** Set `size` before sf_series_get_columns; arrays live as long as the series. */
typedef struct sf_series_columns {
    size_t size;
    size_t count;             /**< series; one unless they are of a recording */
    const char *const *names; /**< of each: its unit or link; "" of numbers */
    const int64_t *units;     /**< of each: the unit's index, or -1 */
    const size_t *first;      /**< count + 1: series s is the rows first[s] .. first[s + 1] - 1 */
    size_t d;                 /**< columns of numbers */
    const double *values;     /**< rows of d numbers, row after row */
    double tick;         /**< the step of the clock that rounded them, in their unit; 0: not known, or none */
    sf_domain domain;    /**< where a density of the quantity best lies; SF_DOMAIN_LINE of numbers */
    uint64_t coincident; /**< intervals of length 0, left out: a unit had two spikes at one time */
} sf_series_columns;

/** One series of n rows of d numbers, which are copied. With ties in one column the step of a clock is found.
 * SF_DATA for a number that is not finite, SF_USAGE for none, SF_NO_MEMORY. */
SF_API int sf_series_new(sf_series **series, const double *values, size_t n, size_t d, sf_error *error);

/**
 * Reads a file of numbers as one series; the format is found by content. Text: one row a line, columns
 * separated by a comma, a semicolon or blanks; lines that begin with # are passed over, and so is a first row
 * of names. NumPy .npy: one or two dimensions. SF_NO_INPUT, SF_IO, SF_NO_MEMORY; SF_DATA (`path:line`).
 */
SF_API int sf_series_open(sf_series **series, const char *path, sf_error *error);

/**
 * A quantity of a recording: a series for every unit that has spikes in it (isi, rate), for every link of
 * `episode` (delay; else NULL), or one of all spikes (position). bin_ns > 0 is the bin of a rate. `within`:
 * only the spikes in this span, as if they were all there is, with the same series; NULL: all. SF_DATA where
 * there are no spikes or positions, SF_USAGE, SF_NO_MEMORY.
 */
SF_API int sf_series_of_recording(sf_series **series, const sf_recording *recording, sf_quantity quantity,
                                  const sf_episode *episode, int64_t bin_ns, const sf_span *within,
                                  sf_error *error);

SF_API void sf_series_get_columns(const sf_series *series, sf_series_columns *columns);
SF_API void sf_series_free(sf_series *series); /**< NULL is allowed */

/* ---- densities ---- */

typedef struct sf_density_options {
    size_t size;
    /** How the bandwidth is chosen: isj (improved Sheather-Jones), plugin (two stages), lscv (least-squares
     * cross-validation over a wide range), lscv-paper (from h0/4 to 4 h0 only), silverman, scott; NULL: isj,
     * or silverman of several columns. */
    const char *method;
    double h; /**< > 0: this bandwidth, and no method */
    sf_domain domain;
    bool exact;       /**< direct sums over all pairs: plugin, lscv, lscv-paper; not with SF_DOMAIN_REFLECT */
    bool curve;       /**< keep the scores that lscv and lscv-paper look at */
    unsigned threads; /**< 0: all cores; results do not depend on it */
    const char *device;          /**< for direct sums, as synfire/device.h has it; "auto" */
    const sf_progress *progress; /**< or NULL */
    /** Where it is evaluated: axis_count 0 is wherever there are samples, at most_points points at most;
     * else for each column point_count points evenly from `from` to `to` on the domain's axis. */
    size_t most_points; /**< 200,000 */
    size_t axis_count;
    double from[2], to[2];
    size_t point_count[2];
} sf_density_options;

SF_API void sf_density_options_init(void *options, size_t size);

static inline sf_density_options sf_density_options_default(void)
{
    sf_density_options options;
    sf_density_options_init(&options, sizeof options);
    return options;
}

/** The density of one series of samples with Gaussian kernels; one thread at a time. */
typedef struct sf_density sf_density;

/**
 * Chooses the bandwidth of series number `of`, which must outlive the density, unless options->h is one. At
 * least 50 samples are needed to choose. options NULL: the defaults. series NULL: only looks at the options,
 * and *density is NULL. SF_DATA for samples that are too few, degenerate, outside the domain or of more
 * columns than the method takes; SF_USAGE, with the option as place, for options that are wrong or exclude
 * each other; SF_UNAVAILABLE for a device that is not there; SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_density_find(sf_density **density, const sf_series *series, size_t of,
                           const sf_density_options *options, sf_error *error);

/**
 * Evaluates densities, of one or two columns, at the same points: those of the options, or wherever the first
 * has samples, close enough for the narrowest of all. Their columns have points and values from then on.
 * SF_USAGE, place "grid", where points are too few for the bandwidth or would be too many; SF_DATA for more
 * columns; SF_CANCELLED, SF_NO_MEMORY: then columns have no values.
 */
SF_API int sf_density_evaluate(sf_density *const *densities, size_t count, const sf_density_options *options,
                               sf_error *error);

/** Set `size` before sf_density_get_columns; arrays live until the next evaluation. */
typedef struct sf_density_columns {
    size_t size;
    size_t n, d;        /**< samples, columns */
    const char *method; /**< by which h was found, a literal; "given" */
    double h;           /**< d = 1: in the unit of the samples (SF_DOMAIN_LOG: of ln x); else h_relative */
    double h_least; /**< evaluated with no less: the clock's step, where that is the same everywhere; or 0 */
    double h_relative; /**< the kernel's covariance is h_relative^2 times that of the samples; NaN if given */
    double h0;         /**< (4/(d^2 (d+2) n))^(1/(d+4)), relative: the scale that searches start from */
    double objective;  /**< what the method minimised, at h; NaN where it minimises nothing */
    bool at_edge;      /**< the lowest score lies at the edge of the range that the method searches */
    const char *note;  /**< what a user must know of this bandwidth, a sentence; or NULL */
    size_t minimum_count; /**< local minima found, h ascending, in the unit of h */
    const double *minimum_h, *minimum_score;
    size_t curve_count; /**< points that the method looked at, if asked for; the same */
    const double *curve_h, *curve_score;
    sf_ran ran; /**< where sums over pairs ran, where there were any; seconds: choosing h, in all */

    size_t x_count, y_count; /**< points; y_count 0 where there is one column */
    const double *x, *y;     /**< ascending; NULL before sf_density_evaluate */
    const double
        *values;    /**< at x, or values[r * x_count + c] at (x[c], y[r]); per unit of the domain's axis */
    double outside; /**< the share of the density that lies outside the points */
} sf_density_columns;

SF_API void sf_density_get_columns(const sf_density *density, sf_density_columns *columns);
SF_API void sf_density_free(sf_density *density); /**< NULL is allowed */

/* ---- answers ---- */

/** Of the values in a range; of several columns of the last one. */
typedef enum sf_aggregate_kind {
    SF_AGGREGATE_COUNT,
    SF_AGGREGATE_SUM,
    SF_AGGREGATE_AVERAGE,
    SF_AGGREGATE_VARIANCE
} sf_aggregate_kind;

typedef struct sf_aggregate {
    size_t size;
    double estimate;        /**< from the density */
    double sampling_error;  /**< its standard error, as n independent samples have it */
    double smoothing_error; /**< how much it changes with a bandwidth smaller by sqrt 2 */
    double exact;           /**< from the samples */
    double share;           /**< of the density that lies in the range */
} sf_aggregate;

/**
 * An aggregate of the rows with from[c] < x_c < to[c], which may be infinite, answered from the density:
 * closed forms, of three and more columns by a lattice within 1e-4. range_count is the number of columns; of
 * two columns one range is that of the first. Set answer->size first. SF_USAGE; SF_DATA for a singular
 * covariance; SF_CANCELLED (progress or NULL), SF_NO_MEMORY.
 */
SF_API int sf_density_aggregate(const sf_density *density, sf_aggregate_kind kind, const double *from,
                                const double *to, size_t range_count, sf_aggregate *answer,
                                const sf_progress *progress, sf_error *error);

#ifdef __cplusplus
}
#endif
#endif
