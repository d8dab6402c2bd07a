/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A family of jobs of backends: densities that follow a window (density/live.h), many of which are
 * transformed, given a bandwidth and drawn at once. Their states stay with the program and come with each
 * job: what a state is, and what is made of it, is told there. density/moving_there.h is the caller's side.
 */
#ifndef SF_CORE_BACKEND_MOVING_H
#define SF_CORE_BACKEND_MOVING_H

#include "core/anywhere.h"
#include "core/backend/job.h"

#include <synfire/density.h>

/** How the bandwidth of a density that follows a window is chosen. */
typedef enum sf_moving_method {
    SF_MOVING_ISJ,
    SF_MOVING_PLUGIN,
    SF_MOVING_LSCV,
    SF_MOVING_SILVERMAN,
    SF_MOVING_SCOTT,
    SF_MOVING_FIXED
} sf_moving_method;

/** SF_DOMAIN_LOG: samples of up to this many ticks are counted per tick; beyond it a tick is under 1 % of a
 * sample. */
#define SF_MOVING_TICKS 100

/** An end of a picture that may be cut leaves out no more than this share. */
#define SF_MOVING_LEFT_OUT 5e-4

/** What a picture may show: bins side by side, from one place of the axis to another, and where ends may be
 * cut as many over those of them that hold nearly all. */
typedef struct sf_moving_view {
    double from, to;
    uint32_t bins;
    bool cut_below, cut_above;
} sf_moving_view;

/** A density as it is drawn; its averages over the bins lie elsewhere. */
typedef struct sf_moving_picture {
    double h;          /**< 0: all samples are equal, and there is none */
    double from, step; /**< of the bins */
} sf_moving_picture;

/** From bins over all of the view, and the averages over them, to those bins that hold nearly all. */
static inline SF_ANYWHERE void sf_moving_cut(sf_moving_picture *bins, const sf_moving_view *view,
                                             const double *values)
{
    uint32_t first = 0, end = view->bins;
    double below = 0, above = 0;
    while (view->cut_below && first + 1 < end && below + values[first] * bins->step < SF_MOVING_LEFT_OUT)
        below += values[first++] * bins->step;
    while (view->cut_above && end > first + 1 && above + values[end - 1] * bins->step < SF_MOVING_LEFT_OUT)
        above += values[--end] * bins->step;
    bins->from += bins->step * first;
    bins->step = bins->step * (end - first) / view->bins;
}

/** What densities of a plan have in common. Arrays are borrowed for the call. */
typedef struct sf_backend_moving_shape {
    double origin, period; /**< sf_frame */
    size_t modes;
    sf_domain domain;
    sf_moving_method method;
    double h;      /**< SF_MOVING_FIXED */
    double b_most; /**< no bandwidth above it is tried */
    sf_moving_view view;
    const double *correction;    /**< modes + 1: by mode, one over the transform of the spreading kernel */
    const double *coefficients;  /**< of the spreading kernel (density/spread.h) */
    const double *cosine, *sine; /**< of pi j / (2 modes), j = 0 .. 2 modes - 1 */
    const uint32_t *tick_points; /**< SF_MOVING_TICKS + 1: the most points that a tick is spread over */
} sf_backend_moving_shape;

/** A density with as many samples as a bandwidth needs. */
typedef struct sf_backend_moving_state {
    const double *grid; /**< 4 modes cells and SF_SPREAD_WIDTH more */
    double weight, squares, first, second;
    const uint32_t *ticks; /**< SF_MOVING_TICKS + 1 counts; NULL: none are counts */
} sf_backend_moving_state;

typedef struct sf_backend_moving_job {
    const sf_backend_moving_state *states;
    size_t count;
    double tick;      /**< of the clock */
    double b_least;   /**< no bandwidth under it is chosen */
    unsigned threads; /**< of the CPU, that may copy states */
} sf_backend_moving_job;

typedef struct sf_backend_frame sf_backend_frame; /**< a shape on a device */

struct sf_backend_moving {
    /** SF_UNAVAILABLE for a shape that is too large. */
    int (*open)(sf_backend_frame **frame, sf_backend_device *device, const sf_backend_moving_shape *shape,
                sf_error *error);
    void (*close)(sf_backend_frame *frame); /**< NULL is allowed */
    /** pictures[i] of state i, and the averages over its bins from values[i * bins] on, none below 0. The
     * same job on the same device gives the same bits. */
    int (*draw)(sf_backend_frame *frame, const sf_backend_moving_job *job, sf_moving_picture *pictures,
                double *values, sf_error *error);
};

#endif
