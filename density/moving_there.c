/* SPDX-License-Identifier: Apache-2.0 */
#include "density/moving_there.h"

#include "core/error.h"
#include "core/memory.h"
#include "density/spread.h"

#include <math.h>

struct sf_moving_there {
    sf_device *device;
    const struct sf_backend_moving *backend;
    sf_backend_frame *frame;
    uint32_t bins;
    sf_backend_moving_state *states;
    sf_moving_picture *pictures;
    double *values; /* bins of each */
    size_t state_room, picture_room, value_room;
};

static void close_frame(void *context)
{
    sf_moving_there *there = context;
    there->backend->close(there->frame);
}

void sf_moving_there_close(sf_moving_there *there)
{
    if (there == NULL) return;
    if (there->frame != NULL) sf_device_discard(there->device, close_frame, there);
    sf_free(there->states);
    sf_free(there->pictures);
    sf_free(there->values);
    sf_free(there);
}

typedef struct opening {
    sf_moving_there *there;
    sf_backend_moving_shape shape;
} opening;

static int open_frame(void *context, sf_device *device, sf_error *failure)
{
    const opening *o = context;
    return o->there->backend->open(&o->there->frame, sf_device_opened(device), &o->shape, failure);
}

int sf_moving_there_open(sf_moving_there **opened, sf_device *device, const sf_moving_plan *plan,
                         const sf_moving_view *view, sf_error *error)
{
    *opened = NULL;
    const struct sf_backend_moving *backend = sf_device_backend(device)->moving;
    if (backend == NULL)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%s draws no densities", sf_device_name(device));
    sf_moving_there *there = sf_alloc(1, sizeof *there);
    if (there == NULL) return sf_fail_memory(error);
    *there = (sf_moving_there){.device = device, .backend = backend, .bins = view->bins};
    const sf_frame *frame = &plan->frame;
    opening o = {there,
                 {.origin = frame->origin,
                  .period = frame->period,
                  .modes = frame->modes,
                  .domain = plan->options.domain,
                  .method = plan->options.method,
                  .h = plan->options.h,
                  .b_most = sf_moving_most_bandwidth(frame),
                  .view = *view,
                  .correction = plan->spectrum.correction,
                  .coefficients = sf_spread_coefficients(),
                  .tick_points = plan->tick_points}};
    sf_fft_turns(plan->spectrum.fft, &o.shape.cosine, &o.shape.sine);
    int status = sf_device_do(device, open_frame, &o, error);
    if (status == SF_OK)
        *opened = there;
    else
        sf_moving_there_close(there);
    return status;
}

static int make_room(sf_moving_there *there, size_t count, sf_error *error)
{
    bool made =
        sf_reserve(&there->states, &there->state_room, count, sizeof *there->states) == 0 &&
        sf_reserve(&there->pictures, &there->picture_room, count, sizeof *there->pictures) == 0 &&
        sf_reserve(&there->values, &there->value_room, count * there->bins, sizeof *there->values) == 0;
    return made ? SF_OK : sf_fail_memory(error);
}

typedef struct drawing {
    sf_moving_there *there;
    sf_backend_moving_job job;
} drawing;

static int draw(void *context, sf_device *device, sf_error *failure)
{
    (void)device;
    const drawing *d = context;
    sf_moving_there *there = d->there;
    return there->backend->draw(there->frame, &d->job, there->pictures, there->values, failure);
}

int sf_moving_there_draw(sf_moving_there *there, const sf_moving_plan *plan, const sf_moving_density *states,
                         const size_t *which, size_t count, unsigned threads, sf_error *error)
{
    int status = make_room(there, count, error);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        const sf_moving_density *live = &states[which[i]];
        there->states[i] = (sf_backend_moving_state){.grid = live->state.grid,
                                                     .weight = live->state.weight,
                                                     .squares = live->state.squares,
                                                     .first = live->state.first,
                                                     .second = live->state.second,
                                                     .ticks = live->ticking > 0 ? live->ticks : NULL};
    }
    drawing d = {
        there,
        {.states = there->states,
         .count = count,
         .tick = plan->options.tick,
         .b_least = fmax(sf_moving_least_bandwidth(&plan->options), sf_frame_least_bandwidth(&plan->frame)),
         .threads = threads}};
    return status == SF_OK ? sf_device_do(there->device, draw, &d, error) : status;
}

const sf_moving_picture *sf_moving_there_picture(const sf_moving_there *there, size_t i,
                                                 const double **values)
{
    *values = there->values + i * there->bins;
    return &there->pictures[i];
}
