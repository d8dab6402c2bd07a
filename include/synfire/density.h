/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Distributions of spike timing and spike positions: samples, bandwidths, densities, and aggregates answered
 * from a density instead of the data.
 *
 * Samples come from memory, from a file of numbers, or from a recording as one of four quantities. They lie
 * in an sf_series: one or more series, each of one unit or link, which are never pooled. sf_density_find
 * chooses the bandwidth of one series; the resulting density can then be evaluated and queried.
 */
#ifndef SYNFIRE_DENSITY_H
#define SYNFIRE_DENSITY_H

#include <synfire/device.h>
#include <synfire/mine.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- samples ---- */

/** The quantity of spikes that is sampled. */
typedef enum sf_quantity {
    SF_QUANTITY_ISI,     /**< s between consecutive spikes of a unit; none across a gap */
    SF_QUANTITY_DELAY,   /**< s between the spikes of a link in each counted occurrence of an episode */
    SF_QUANTITY_RATE,    /**< Hz, of a unit in each bin that lies wholly within an observed interval */
    SF_QUANTITY_POSITION /**< um, two columns: where on the array each spike was seen */
} sf_quantity;

/** The range of the samples, which decides what density is estimated. */
typedef enum sf_domain {
    SF_DOMAIN_LINE,   /**< anywhere */
    SF_DOMAIN_LOG,    /**< above 0: the density of ln x, per unit of ln x; bandwidths refer to ln x */
    SF_DOMAIN_REFLECT /**< at or above 0: kernel mass below 0 is reflected, f(x) + f(-x) */
} sf_domain;

/** One or more series of samples; read-only, so threads may share it. */
typedef struct sf_series sf_series;

/** Set `size` before sf_series_get_columns; arrays live as long as the series. */
typedef struct sf_series_columns {
    size_t size;
    size_t count;             /**< number of series; one unless they are from a recording */
    const char *const *names; /**< unit or link of each series; "" for numbers */
    const int64_t *units;     /**< unit index of each series, or -1 */
    const size_t *first;      /**< count + 1 entries: series s is the rows first[s] .. first[s + 1] - 1 */
    size_t d;                 /**< columns of numbers */
    const double *values;     /**< rows of d numbers, row after row */
    double tick;      /**< step of the clock that rounded the samples, in their unit; 0: not known, or none */
    sf_domain domain; /**< the domain that suits the quantity; SF_DOMAIN_LINE for numbers */
    uint64_t coincident; /**< intervals of length 0, left out: a unit had two spikes at one time */
} sf_series_columns;

/** Copies one series of n rows of d numbers. If one column has ties, the step of a clock is detected. SF_DATA
 * for a number that is not finite, SF_USAGE for no numbers, SF_NO_MEMORY. */
SF_API int sf_series_new(sf_series **series, const double *values, size_t n, size_t d, sf_error *error);

/**
 * Reads a file of numbers as one series; recognises the format by content. Text: one row per line, columns
 * separated by a comma, a semicolon or blanks; lines that begin with # are skipped, and so is a first row of
 * names. NumPy .npy: one or two dimensions. SF_NO_INPUT, SF_IO, SF_NO_MEMORY; SF_DATA (`path:line`).
 */
SF_API int sf_series_open(sf_series **series, const char *path, sf_error *error);

/**
 * Samples a quantity of a recording: one series per unit with spikes (isi, rate), one per link of `episode`
 * (delay; else NULL), or one for all spikes (position). bin_ns > 0 is the bin of a rate. `within`: use only
 * the spikes in this span, as if there were no others, with the same series; NULL: all. SF_DATA if there are
 * no spikes or positions, SF_USAGE, SF_NO_MEMORY.
 */
SF_API int sf_series_of_recording(sf_series **series, const sf_recording *recording, sf_quantity quantity,
                                  const sf_episode *episode, int64_t bin_ns, const sf_span *within,
                                  sf_error *error);

SF_API void sf_series_get_columns(const sf_series *series, sf_series_columns *columns);
SF_API void sf_series_free(sf_series *series); /**< NULL is allowed */

/* ---- densities ---- */

typedef struct sf_density_options {
    size_t size;
    /** How to choose the bandwidth: isj (improved Sheather-Jones), plugin (two stages), lscv (least-squares
     * cross-validation over a wide range), lscv-paper (from h0/4 to 4 h0 only), silverman, scott; NULL: isj,
     * or silverman for several columns. */
    const char *method;
    double h; /**< > 0: use this bandwidth; no method is applied */
    sf_domain domain;
    bool exact;       /**< direct sums over all pairs: plugin, lscv, lscv-paper; not with SF_DOMAIN_REFLECT */
    bool curve;       /**< keep the scores that lscv and lscv-paper compute */
    unsigned threads; /**< 0: all cores; results do not depend on it */
    const char *device;          /**< for direct sums, as synfire/device.h has it; "auto" */
    const sf_progress *progress; /**< or NULL */
    /** Where to evaluate. axis_count 0: wherever there are samples, on at most most_points points; else, for
     * each column, point_count evenly spaced points from `from` to `to` on the domain's axis. */
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

/** A density of one series with Gaussian kernels; one thread at a time. */
typedef struct sf_density sf_density;

/**
 * Chooses the bandwidth of series number `of`, unless options->h gives one; that needs at least 50 samples.
 * `series` must outlive the density. options NULL: the defaults. series NULL: only checks the options, and
 * *density is NULL. SF_DATA for samples that are too few, degenerate, outside the domain or have more columns
 * than the method takes; SF_USAGE, with the option as place, for options that are wrong or exclude each
 * other; SF_UNAVAILABLE for a device that does not exist; SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_density_find(sf_density **density, const sf_series *series, size_t of,
                           const sf_density_options *options, sf_error *error);

/**
 * Evaluates densities of one or two columns at the same points: those of the options, or wherever the first
 * has samples, spaced for the narrowest of all. Their columns have points and values from then on. SF_USAGE,
 * place "grid", if the points are too few for the bandwidth or would be too many; SF_DATA for more than two
 * columns; SF_CANCELLED, SF_NO_MEMORY: then columns have no values.
 */
SF_API int sf_density_evaluate(sf_density *const *densities, size_t count, const sf_density_options *options,
                               sf_error *error);

/** Set `size` before sf_density_get_columns; arrays live until the next evaluation. */
typedef struct sf_density_columns {
    size_t size;
    size_t n, d;        /**< samples, columns */
    const char *method; /**< the method that chose h, a literal; "given" if the caller gave h */
    double h;           /**< d = 1: in the unit of the samples (SF_DOMAIN_LOG: of ln x); d > 1: h_relative */
    double h_least;     /**< minimum bandwidth for evaluation: the clock's step, if it is the same everywhere;
                           else 0 */
    double h_relative; /**< the kernel's covariance is h_relative^2 times that of the samples; NaN if given */
    double h0;         /**< (4/(d^2 (d+2) n))^(1/(d+4)), relative: the scale that searches start from */
    double objective;  /**< value that the method minimised, at h; NaN if it minimises nothing */
    bool at_edge;      /**< the minimum lies at the edge of the range that the method searches */
    const char *note;  /**< one sentence that users of this bandwidth must know; or NULL */
    size_t minimum_count; /**< local minima found, h ascending, in the unit of h */
    const double *minimum_h, *minimum_score;
    size_t curve_count; /**< points at which the method computed scores, if requested; in the same order and
                           unit */
    const double *curve_h, *curve_score;
    sf_ran ran; /**< where sums over pairs ran, if there were any; its seconds are the whole choice of h */

    size_t x_count, y_count; /**< number of points; y_count 0 for one column */
    const double *x, *y;     /**< ascending; NULL before sf_density_evaluate */
    /** at x, or values[r * x_count + c] at (x[c], y[r]); per unit of the domain's axis */
    const double *values;
    double outside; /**< share of the density outside the points */
} sf_density_columns;

SF_API void sf_density_get_columns(const sf_density *density, sf_density_columns *columns);
SF_API void sf_density_free(sf_density *density); /**< NULL is allowed */

/* ---- answers ---- */

/** What is computed from the values in a range; with several columns, from those of the last. */
typedef enum sf_aggregate_kind {
    SF_AGGREGATE_COUNT,
    SF_AGGREGATE_SUM,
    SF_AGGREGATE_AVERAGE,
    SF_AGGREGATE_VARIANCE
} sf_aggregate_kind;

typedef struct sf_aggregate {
    size_t size;
    double estimate;        /**< from the density */
    double sampling_error;  /**< standard error of the estimate, for n independent samples */
    double smoothing_error; /**< change of the estimate if the bandwidth is divided by sqrt 2 */
    double exact;           /**< computed from the samples */
    double share;           /**< share of the density that lies in the range */
} sf_aggregate;

/**
 * Computes an aggregate of the rows with from[c] < x_c < to[c] (bounds may be infinite) from the density: in
 * closed form, or for three and more columns by a lattice rule within 1e-4. range_count is the number of
 * columns; a density of two columns also takes one range, that of the first column. Set answer->size first.
 * SF_USAGE; SF_DATA for a singular covariance; SF_CANCELLED (progress may be NULL), SF_NO_MEMORY.
 */
SF_API int sf_density_aggregate(const sf_density *density, sf_aggregate_kind kind, const double *from,
                                const double *to, size_t range_count, sf_aggregate *answer,
                                const sf_progress *progress, sf_error *error);

#ifdef __cplusplus
}
#endif
#endif
