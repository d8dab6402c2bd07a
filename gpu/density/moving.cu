/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Densities that follow a window: a block transforms a state, chooses its bandwidth and draws it, all in
 * shared memory. Cost of a state with 1,024 modes and ISJ: 33 KB that are copied, and some 200 sums over the
 * modes, one after the other; what counts is the arithmetic in doubles of the exponentials.
 */
#include "gpu/density/moving_picture.cuh"
#include "gpu/density/moving_transform.cuh"
#include "gpu/device.cuh"
#include "gpu/families.cuh"

#include <string.h>

namespace
{

/* bytes of states that one thread copies at a time */
const size_t PIECE = (size_t)1 << 20;

__device__ void load_grid(drawing *d, double *grid)
{
    const double *from = (const double *)(d->head + 1);
    for (uint32_t c = threadIdx.x; c < d->v->cells + SF_SPREAD_WIDTH; c += THREADS)
        grid[c] = from[c];
    __syncthreads();
}

__global__ void __launch_bounds__(THREADS, 3) draw_states(moving_view v)
{
    extern __shared__ double arrays[]; /* two of as many cells, and the margin of the second */
    __shared__ block_memory shared;
    double *own = arrays, *grid = arrays + v.cells;
    drawing d = {&v, &shared, (const state_head *)(v.states + blockIdx.x * v.stride)};
    d.weight = d.head->weight;
    d.squares = d.head->squares;
    d.first = d.head->first;
    d.second = d.head->second;
    d.origin = v.origin;
    load_grid(&d, grid);
    count_points(&d);
    add_ticks(&d, grid);
    find_moments(&d);
    sf_moving_picture *picture = &v.pictures[blockIdx.x];
    if (!(d.sigma > 1e-7 * v.period)) { /* all samples are equal, but for rounding */
        if (threadIdx.x == 0) *picture = sf_moving_picture{};
        return;
    }
    find_modes(&d, own, grid);
    if (v.domain == SF_DOMAIN_REFLECT) reflect(&d);
    double h = choose_bandwidth(&d);
    draw_picture(&d, h, picture, v.values + (size_t)blockIdx.x * v.picture.bins);
}

} // namespace

struct sf_backend_frame {
    sf_backend_device *device;
    moving_view view; /* but for what belongs to a job */
    size_t shared_bytes;
    sf_gpu_array correction, coefficients, cosine, sine, tick_points;
    sf_gpu_array states, pictures, values;
};

/* ---- opening and closing ---- */

static void close_frame(sf_backend_frame *frame)
{
    if (frame == NULL) return;
    cudaSetDevice(frame->device->ordinal);
    sf_gpu_array *arrays[] = {&frame->correction,  &frame->coefficients, &frame->cosine,   &frame->sine,
                              &frame->tick_points, &frame->states,       &frame->pictures, &frame->values};
    for (sf_gpu_array *array : arrays)
        sf_gpu_array_close(frame->device, array);
    sf_free(frame);
}

/* Whether a block has room. */
static int check_room(sf_backend_frame *frame, sf_error *error)
{
    size_t cells = frame->view.cells;
    frame->shared_bytes = (2 * cells + SF_SPREAD_WIDTH) * sizeof(double);
    cudaFuncAttributes kernel;
    SF_GPU_TRY(cudaFuncGetAttributes(&kernel, draw_states));
    if (kernel.sharedSizeBytes + frame->shared_bytes > frame->device->properties.sharedMemPerBlockOptin)
        return sf_fail(error, SF_UNAVAILABLE, NULL,
                       "a density of %u modes does not fit the memory of a multiprocessor",
                       frame->view.modes);
    return SF_OK;
}

static int send_tables(sf_backend_frame *frame, const sf_backend_moving_shape *shape, sf_error *error)
{
    size_t modes = frame->view.modes, length = 2 * modes;
    const struct {
        sf_gpu_array *array;
        const void *from;
        size_t bytes;
    } tables[] = {{&frame->correction, shape->correction, (modes + 1) * sizeof(double)},
                  {&frame->coefficients, shape->coefficients,
                   (SF_SPREAD_DEGREE + 1) * SF_SPREAD_WIDTH * sizeof(double)},
                  {&frame->cosine, shape->cosine, length * sizeof(double)},
                  {&frame->sine, shape->sine, length * sizeof(double)},
                  {&frame->tick_points, shape->tick_points, (SF_MOVING_TICKS + 1) * sizeof(uint32_t)}};
    int status = SF_OK;
    for (const auto &table : tables)
        if (status == SF_OK)
            status = sf_gpu_array_send(frame->device, table.array, table.from, table.bytes, error);
    frame->view.correction = (const double *)frame->correction.data;
    frame->view.coefficients = (const double *)frame->coefficients.data;
    frame->view.cosine = (const double *)frame->cosine.data;
    frame->view.sine = (const double *)frame->sine.data;
    frame->view.tick_points = (const uint32_t *)frame->tick_points.data;
    return status;
}

static int prepare(sf_backend_frame *frame, const sf_backend_moving_shape *shape, sf_error *error)
{
    SF_GPU_TRY(cudaSetDevice(frame->device->ordinal));
    int status = check_room(frame, error);
    return status == SF_OK ? send_tables(frame, shape, error) : status;
}

static int open_frame(sf_backend_frame **opened, sf_backend_device *device,
                      const sf_backend_moving_shape *shape, sf_error *error)
{
    *opened = NULL;
    if (shape->modes > UINT16_MAX)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "a density of %zu modes is too large for the device",
                       shape->modes);
    sf_backend_frame *frame = (sf_backend_frame *)sf_alloc(1, sizeof *frame);
    if (frame == NULL) return sf_fail_memory(error);
    frame->device = device;
    frame->view.origin = shape->origin;
    frame->view.period = shape->period;
    frame->view.modes = (uint32_t)shape->modes;
    frame->view.cells = 4 * frame->view.modes;
    frame->view.domain = shape->domain;
    frame->view.method = shape->method;
    frame->view.h = shape->h;
    frame->view.b_most = shape->b_most;
    frame->view.picture = shape->view;
    frame->view.stride = sizeof(state_head) + (frame->view.cells + SF_SPREAD_WIDTH) * sizeof(double);
    int status = prepare(frame, shape, error);
    if (status == SF_OK)
        *opened = frame;
    else
        close_frame(frame);
    return status;
}

/* ---- a job ---- */

namespace
{

typedef struct packing {
    const sf_backend_moving_state *states;
    size_t stride;
} packing;

} // namespace

/* States are whole in a piece. */
static bool pack(void *context, void *piece, size_t begin, size_t length)
{
    const packing *p = (const packing *)context;
    char *to = (char *)piece;
    for (size_t i = begin / p->stride; i < (begin + length) / p->stride; i++, to += p->stride) {
        const sf_backend_moving_state *state = &p->states[i];
        state_head head = {state->weight, state->squares, state->first, state->second, {}, 0};
        if (state->ticks != NULL) {
            memcpy(head.ticks, state->ticks, sizeof head.ticks);
            head.are_ticks = 1;
        }
        memcpy(to, &head, sizeof head);
        memcpy(to + sizeof head, state->grid, p->stride - sizeof head);
    }
    return true;
}

static int draw_all(sf_backend_frame *frame, const sf_backend_moving_job *job, sf_error *error)
{
    sf_backend_device *device = frame->device;
    packing p = {job->states, frame->view.stride};
    size_t each = PIECE > p.stride ? PIECE / p.stride : 1; /* states of a piece */
    int status = sf_gpu_upload_made(device, frame->states.data, job->count * p.stride, each * p.stride,
                                    job->threads, pack, &p, error);
    if (status != SF_OK) return status;
    moving_view view = frame->view;
    view.tick = job->tick;
    view.b_least = job->b_least;
    view.states = (const char *)frame->states.data;
    view.pictures = (sf_moving_picture *)frame->pictures.data;
    view.values = (double *)frame->values.data;
    SF_GPU_TRY(cudaFuncSetAttribute(draw_states, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    (int)frame->shared_bytes)); /* of the kernel, whichever frame drew last */
    draw_states<<<(unsigned)job->count, THREADS, frame->shared_bytes, device->work>>>(view);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

static int draw(sf_backend_frame *frame, const sf_backend_moving_job *job, sf_moving_picture *pictures,
                double *values, sf_error *error)
{
    sf_backend_device *device = frame->device;
    size_t picture_bytes = job->count * sizeof *pictures;
    size_t value_bytes = job->count * frame->view.picture.bins * sizeof *values;
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    int status = sf_gpu_array_reserve(device, &frame->states, job->count * frame->view.stride, error);
    if (status == SF_OK) status = sf_gpu_array_reserve(device, &frame->pictures, picture_bytes, error);
    if (status == SF_OK) status = sf_gpu_array_reserve(device, &frame->values, value_bytes, error);
    if (status == SF_OK && job->count > 0) status = draw_all(frame, job, error);
    if (status == SF_OK)
        status = sf_gpu_download(device, pictures, frame->pictures.data, picture_bytes, error);
    return status == SF_OK ? sf_gpu_download(device, values, frame->values.data, value_bytes, error) : status;
}

const struct sf_backend_moving sf_gpu_moving = {.open = open_frame, .close = close_frame, .draw = draw};
