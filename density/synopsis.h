/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A density without its samples: so many values of their characteristic function phi as its bandwidth lets
 * through, and what they add up to. It answers what sf_density_aggregate answers, in a time that depends on
 * neither samples nor file, and is small enough to be kept for every unit of every recording.
 *
 * phi(t) is a mean over samples, so that of two sets of samples is their weighted mean where the frequencies
 * are the same. A period is therefore a power of two, and phi is told about a whole multiple of it: most
 * states of one quantity add up. The bandwidth is then chosen again, from the sum.
 */
#ifndef SF_DENSITY_SYNOPSIS_H
#define SF_DENSITY_SYNOPSIS_H

#include "density/aggregate.h"
#include "density/live.h"

#include <synfire/density.h>

/** On the axis of the domain: of ln x with SF_DOMAIN_LOG. */
typedef struct sf_synopsis_axis {
    double least, most;    /**< no sample lies outside */
    double mean, variance; /**< of the samples; divisor n - 1 */
    double period;         /**< t_k = 2 pi k / period */
    uint64_t modes;        /**< phi is known up to t_modes */
} sf_synopsis_axis;

typedef struct sf_synopsis {
    uint64_t n;
    size_t d; /**< 1 or 2 columns */
    sf_domain domain;
    double h; /**< d = 1: on the axis; d = 2: the kernel's covariance is h^2 times that of the samples */
    double h_least;    /**< the clock's step, under which h does not go; or 0 */
    char method[16];   /**< by which h was chosen */
    double covariance; /**< of two columns */
    sf_synopsis_axis axes[2];
    /** Real and imaginary parts. One column: of t_0, t_1, ... t_modes. Two: a row for each of the second's
     * frequencies t_0, t_1, ..., of the first's t_-modes ... t_modes. */
    float *phi;
} sf_synopsis;

#define SF_SYNOPSIS_MOST_MODES ((uint64_t)1 << 21)

/** A kernel is cut off this many widths away, where 1e-9 of it remains. A period has room for twice that
 * beside the samples. */
#define SF_SYNOPSIS_REACH 6.0

/** The width of kernels along column c. */
double sf_synopsis_width(const sf_synopsis *synopsis, size_t c);

/** The multiple of the period that phi is told about: the same for every set of samples, but for whole turns.
 */
double sf_synopsis_anchor(const sf_synopsis_axis *axis);

/** Values of phi: sf_synopsis_size of them, two numbers each. 0 where axes or d are none. */
size_t sf_synopsis_size(const sf_synopsis *synopsis);

/** The synopsis of a density and its bandwidth. SF_USAGE for three and more columns; SF_DATA for fewer than
 * two samples or equal ones; SF_NO_MEMORY. */
int sf_synopsis_of(sf_synopsis *synopsis, const sf_density *density, sf_error *error);

/**
 * Of a density that follows a window, whose bandwidth is chosen where it is due. `least` and `most` are those
 * of all that the plan has room for, and the period is its frame's: states of one plan always add up, and
 * with those of sf_synopsis_of they answer together. SF_DATA as sf_moving_select; SF_NO_MEMORY.
 */
int sf_synopsis_of_moving(sf_synopsis *synopsis, sf_moving_density *live, sf_moving_plan *plan,
                          sf_error *error);
void sf_synopsis_close(sf_synopsis *synopsis);

/** Checks a synopsis from outside, whose phi has the size that it declares: SF_DATA with what is impossible.
 */
int sf_synopsis_check(const sf_synopsis *synopsis, sf_error *error);

/** Whether two add up: frequencies, columns and domain are the same, and all samples fit into a period. */
bool sf_synopsis_fits(const sf_synopsis *synopsis, const sf_synopsis *other);

/** Adds one that fits, and chooses the bandwidth again, where the method can by phi alone; else h falls as
 * n^(-1/(d + 4)), as the best one does. SF_NO_MEMORY. */
int sf_synopsis_add(sf_synopsis *synopsis, const sf_synopsis *other, sf_error *error);

/**
 * What all of `count` together answer, each by its own bandwidth: as sf_density_aggregate, `exact` being NaN.
 * Within 1e-6 of the answer of the density with the same kernels; those of single ticks of a clock, on a
 * logarithmic axis, are as wide as the others here. SF_USAGE as there, also where columns or domains differ.
 */
int sf_synopsis_aggregate(const sf_synopsis *synopses, size_t count, sf_aggregate_kind kind,
                          const double *from, const double *to, size_t ranges, sf_aggregate *answer,
                          sf_error *error);

#endif
