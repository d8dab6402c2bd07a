/* SPDX-License-Identifier: Apache-2.0 */
/* Densities that follow a window on the test plugin's devices: one after the other, as the CPU draws them. */
#include "core/backend/moving.h"
#include "core/error.h"
#include "core/memory.h"
#include "density/picture.h"
#include "plugin/plugin.h"

#include <string.h>
#include <unistd.h>

/** More modes a test device does not take. */
#define MOST_MODES 2048

struct sf_backend_frame {
    sf_backend_device *device;
    sf_moving_plan plan;
    sf_moving_view view;
    double *points;
};

static void close_frame(sf_backend_frame *frame)
{
    if (frame == NULL) return;
    sf_moving_plan_close(&frame->plan);
    sf_free(frame->points);
    sf_free(frame);
}

static int open_frame(sf_backend_frame **opened, sf_backend_device *device,
                      const sf_backend_moving_shape *shape, sf_error *error)
{
    *opened = NULL;
    if (shape->modes > MOST_MODES)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "a density of %zu modes is too large for a test device",
                       shape->modes);
    sf_backend_frame *frame = sf_alloc(1, sizeof *frame);
    if (frame == NULL) return sf_fail_memory(error);
    frame->device = device;
    frame->view = shape->view;
    frame->plan.options =
        (sf_moving_options){.domain = shape->domain, .method = shape->method, .h = shape->h};
    frame->plan.frame = (sf_frame){shape->origin, shape->period, shape->modes};
    memcpy(frame->plan.tick_points, shape->tick_points, sizeof frame->plan.tick_points);
    frame->points = sf_alloc(shape->view.bins, sizeof *frame->points);
    int status = frame->points != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) status = sf_spectrum_open(&frame->plan.spectrum, &frame->plan.frame, error);
    if (status == SF_OK) status = sf_characteristic_open(&frame->plan.all, &frame->plan.frame, error);
    if (status == SF_OK)
        *opened = frame;
    else
        close_frame(frame);
    return status;
}

static void draw_one(sf_moving_picture *picture, double *values, sf_backend_frame *frame,
                     const sf_backend_moving_state *state)
{
    sf_moving_density live = {.state = {.frame = frame->plan.frame,
                                        .weight = state->weight,
                                        .squares = state->squares,
                                        .first = state->first,
                                        .second = state->second,
                                        .grid = (double *)(uintptr_t)state->grid},
                              .ticks = (uint32_t *)(uintptr_t)state->ticks};
    for (size_t k = 1; state->ticks != NULL && k <= SF_MOVING_TICKS; k++)
        live.ticking += state->ticks[k];
    *picture = (sf_moving_picture){0};
    if (sf_moving_select(&live, &frame->plan, NULL) == SF_OK)
        sf_moving_draw(picture, &live, &frame->plan, &frame->view, frame->points, values);
}

static int draw(sf_backend_frame *frame, const sf_backend_moving_job *job, sf_moving_picture *pictures,
                double *values, sf_error *error)
{
    int status = test_begin_job(frame->device, error);
    frame->plan.options.tick = job->tick;
    frame->plan.options.b_least = job->b_least;
    if (test_plugin_work_done.wait_ms > 0) usleep(1000 * test_plugin_work_done.wait_ms);
    for (size_t i = 0; status == SF_OK && i < job->count; i++) {
        if (i == job->count / 2 && test_is_lost(frame->device))
            return sf_fail(error, SF_IO, NULL, "the device has fallen off the bus");
        draw_one(&pictures[i], values + i * frame->view.bins, frame, &job->states[i]);
        test_plugin_work_done.drawn++;
    }
    return status;
}

const struct sf_backend_moving test_moving = {.open = open_frame, .close = close_frame, .draw = draw};
