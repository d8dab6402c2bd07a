/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Densities that follow a sliding window: samples are added as they come and removed as they leave, and the
 * bandwidth is selected again only when enough of them have changed. Many densities of the same kind (the
 * intervals of every unit) share one plan: its frame, method and working space.
 *
 * On a logarithmic axis samples of few ticks of a clock are kept as counts, since where they lie depends on
 * the bandwidth: each is spread over its tick, by a kernel no narrower than that (kernels.h has the rule).
 */
#ifndef SF_DENSITY_LIVE_H
#define SF_DENSITY_LIVE_H

#include "core/backend/moving.h"
#include "density/evaluate.h"
#include "density/spectrum.h"

/** The methods of live densities, and the rules of those in two columns; NULL-terminated. */
extern const char *const sf_moving_methods[], *const sf_moving_plane_methods[];

/** False where a live density has no method of this name ("isj", ...). */
bool sf_moving_method_find(sf_moving_method *method, const char *name);

const char *sf_moving_method_name(sf_moving_method method);

/** The bandwidth that a method, not SF_MOVING_FIXED, chooses from a spectrum, b_least or above; that where it
 * finds none. SF_DATA where all samples are equal. */
int sf_moving_choose(double *h, sf_moving_method method, const sf_spectrum *spectrum, double b_least,
                     sf_error *error);

typedef struct sf_moving_options {
    double least,
        most;       /**< where samples lie; others are counted and left out. SF_DOMAIN_LOG: both above 0 */
    double b_least; /**< the smallest bandwidth of interest (SF_DOMAIN_LOG: of log x), the tick or above */
    sf_domain domain;
    double tick; /**< the step of the clock, in the unit of the samples; 0: not known */
    sf_moving_method method;
    double h; /**< SF_MOVING_FIXED */
    /** select again once samples added and removed reach this share of those held, as 0.2 */
    double reselect;
} sf_moving_options;

/** One thread at a time, with all densities that use it. */
typedef struct sf_moving_plan {
    sf_moving_options options;
    sf_frame frame; /**< of the states; that of the spectrum moves where it is reflected */
    sf_spectrum spectrum;
    sf_characteristic all;                     /**< SF_DOMAIN_LOG: scratch, a state with its counts spread */
    uint32_t tick_points[SF_MOVING_TICKS + 1]; /**< the number of points per tick at which no bandwidth can
                                                  tell them from an even spread */
} sf_moving_plan;

typedef struct sf_moving_density {
    sf_characteristic state;
    uint32_t *ticks;   /**< SF_MOVING_TICKS + 1 counts, that of k ticks at k; NULL but with SF_DOMAIN_LOG */
    uint64_t ticking;  /**< samples in them */
    double h;          /**< selected last; 0: never */
    uint64_t changed;  /**< samples added and removed since then */
    uint64_t left_out; /**< samples held that lie outside the range; none of the others counts for them */
} sf_moving_density;

/** Chooses the frame. SF_USAGE where the options make no sense, SF_NO_MEMORY. */
int sf_moving_plan_open(sf_moving_plan *plan, const sf_moving_options *options, sf_error *error);
void sf_moving_plan_close(sf_moving_plan *plan);

/** An empty density of this plan. SF_NO_MEMORY. */
int sf_moving_open(sf_moving_density *live, const sf_moving_plan *plan, sf_error *error);
void sf_moving_close(sf_moving_density *live);

/** Makes an empty density of a plan with the same frame and tick a copy of another. Allocates nothing. */
void sf_moving_copy(sf_moving_density *copy, const sf_moving_density *live);

/** Real-time safe. What is removed must have been added. */
void sf_moving_add(sf_moving_density *live, const sf_moving_plan *plan, const double *samples, size_t n);
void sf_moving_remove(sf_moving_density *live, const sf_moving_plan *plan, const double *samples, size_t n);

/** Removes all samples; `h` and `changed` stay. */
void sf_moving_clear(sf_moving_density *live);

/** Samples held inside the range. */
uint64_t sf_moving_count(const sf_moving_density *live);

/** Whether there are SF_SAMPLES_LEAST samples, and enough of them have changed for sf_moving_select to select
 * again. */
bool sf_moving_due(const sf_moving_density *live, const sf_moving_plan *plan);

/** Under which no bandwidth is chosen: b_least, or a tick where samples are told on its axis. */
double sf_moving_least_bandwidth(const sf_moving_options *options);

/** Over which none is tried in a frame: wider kernels would say nothing of a shape. */
double sf_moving_most_bandwidth(const sf_frame *frame);

/** Transforms the samples as they are, not reflected, into plan->spectrum. SF_DATA for fewer than two. */
int sf_moving_transform(const sf_moving_density *live, sf_moving_plan *plan, sf_error *error);

/**
 * Transforms the samples into plan->spectrum and selects live->h again where it is due. Allocates nothing.
 * SF_DATA with fewer than SF_SAMPLES_LEAST samples, or where all are equal.
 */
int sf_moving_select(sf_moving_density *live, sf_moving_plan *plan, sf_error *error);

/**
 * The density of what sf_moving_select was called with last, per unit of the axis (SF_DOMAIN_LOG: of ln x),
 * at `count` points of that axis, averaged over `width` around each (0: at the point). With SF_DOMAIN_REFLECT
 * no point is nearer to 0 than half the width. values may not be points.
 */
void sf_moving_density_at(const sf_moving_density *live, sf_moving_plan *plan, double width,
                          const double *points, size_t count, double *values);

#endif
