/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An image of the stream for each surrogate, those of a batch at once:
 *   draw     moves every spike; a radix sort of (image, time, unit) in one 64-bit key makes the images' order
 *   settle   gives each spike of an image its unit, and where in the recorded stream an occurrence may start
 *            after it
 *   reach    gives each recorded spike the positions of the image that follow it by each delay
 */
#include "gpu/mine/surrogate_images.cuh"

#include <cub/device/device_radix_sort.cuh>

#define THREADS 256u

namespace
{

/* The recorded stream and the rule, for kernels. */
typedef struct draw_view {
    sf_surrogate_rule rule;
    int64_t origin;
    bool mirrored;
    sf_gpu_key_form form;
    uint32_t count;
    const int64_t *times;
    const uint16_t *owner;
    const uint32_t *first, *trains;
    const uint2 *ends;
} draw_view;

/* Every row of blocks makes an image of its own. */
__device__ uint32_t image_number(void)
{
    return blockIdx.y;
}

__device__ uint32_t thread_number(void)
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

/* Of a key, whatever image it is of. */
__device__ uint64_t biased_time(const sf_gpu_key_form *form, uint64_t key)
{
    return key >> form->unit_bits & form->most;
}

__global__ void draw(uint64_t *all_keys, draw_view v, uint32_t first)
{
    const uint32_t image = image_number(), surrogate = first + image;
    uint64_t *keys = all_keys + (uint64_t)image * v.count;
    for (uint32_t i = thread_number(); i < v.count; i += gridDim.x * blockDim.x) {
        uint32_t position = v.ends[i].x, unit = v.owner[position], number = i - v.first[unit];
        if (v.mirrored) number = v.first[unit + 1] - v.first[unit] - 1 - number;
        int64_t fired = v.mirrored ? v.origin - v.times[position] : v.origin + v.times[position];
        int64_t moved = sf_surrogate_time(&v.rule, surrogate, v.trains[unit], number, fired);
        int64_t time = v.mirrored ? v.origin - moved : moved - v.origin;
        keys[i] = (uint64_t)image << v.form.bits | (uint64_t)(time + v.form.bias) << v.form.unit_bits | unit;
    }
}

/* How many recorded spikes are not after (time, unit). */
__device__ uint32_t count_until(const draw_view *v, int64_t time, uint32_t unit)
{
    uint32_t low = 0, high = v->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int64_t there = v->times[middle];
        if (there < time || (there == time && v->owner[middle] <= unit))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__global__ void settle(uint16_t *owner, uint32_t *after, const uint64_t *keys, draw_view v)
{
    const uint64_t begin = (uint64_t)image_number() * v.count;
    for (uint32_t i = thread_number(); i < v.count; i += gridDim.x * blockDim.x) {
        uint64_t key = keys[begin + i];
        uint32_t unit = (uint32_t)(key & ((UINT64_C(1) << v.form.unit_bits) - 1));
        owner[begin + i] = (uint16_t)unit;
        after[begin + i] = count_until(&v, (int64_t)biased_time(&v.form, key) - v.form.bias, unit);
    }
}

/* The first key of an image that is not below (time, any unit). */
__device__ uint32_t first_key_from(const sf_gpu_key_form *form, const uint64_t *keys, uint32_t low,
                                   uint32_t count, uint64_t time)
{
    uint32_t high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (biased_time(form, keys[middle]) < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__global__ void reach(uint2 *all_reaches, const uint64_t *all_keys, draw_view v, const sf_delay *delays,
                      uint32_t delay_count)
{
    const uint64_t total = (uint64_t)v.count * delay_count;
    const uint64_t *keys = all_keys + (uint64_t)image_number() * v.count;
    uint2 *reaches = all_reaches + image_number() * total;
    for (uint64_t i = thread_number(); i < total; i += (uint64_t)gridDim.x * blockDim.x) {
        sf_delay delay = delays[i / v.count];
        uint64_t time = (uint64_t)(v.times[i % v.count] + v.form.bias);
        /* Saturated: no key is that late. */
        uint64_t low = time + min((uint64_t)delay.low_ns, v.form.most) + 1;
        uint64_t high = time + min((uint64_t)delay.high_ns, v.form.most) + 1;
        uint32_t from = first_key_from(&v.form, keys, 0, v.count, low);
        reaches[i] = make_uint2(from, first_key_from(&v.form, keys, from, v.count, high));
    }
}

} // namespace

/* ---- the host's side ---- */

/* 0 takes none. */
static int bits_of(uint64_t value)
{
    int bits = 0;
    for (; value > 0; value >>= 1)
        bits++;
    return bits;
}

/* By the rules a spike moves by less than twice the width. */
static int form_keys(sf_gpu_images *m, sf_error *error)
{
    int64_t last = 0;
    const sf_backend_stream *stream = m->stream;
    if (stream->count > 0) {
        int status =
            sf_gpu_download(m->stream->device, &last, stream->times + stream->count - 1, sizeof last, error);
        if (status != SF_OK) return status;
    }
    sf_gpu_key_form *form = &m->form;
    form->unit_bits = bits_of(stream->unit_count > 0 ? stream->unit_count - 1 : 0);
    int time_bits = bits_of((uint64_t)last) + 1, width_bits = bits_of((uint64_t)m->plan->rule.width_ns) + 3;
    form->bits = (time_bits > width_bits ? time_bits : width_bits) + 1 + form->unit_bits;
    if (form->bits > 63)
        return sf_fail(error, SF_UNAVAILABLE, NULL,
                       "the recording is too long for surrogates of %u units on the device",
                       stream->unit_count);
    form->bias = 2 * m->plan->rule.width_ns;
    form->most = (UINT64_C(1) << (form->bits - form->unit_bits)) - 1;
    return SF_OK;
}

/* Images take a quarter of the memory that is left at most, and no more of them are made at once than their
 * numbers fit into the keys. */
static uint32_t images_that_fit(const sf_gpu_images *m, uint64_t bytes, uint32_t most)
{
    const sf_backend_device *device = m->stream->device;
    uint64_t fit = (device->memory_limit - device->memory_used) / 4 / (bytes + 1);
    int free_bits = 64 - m->form.bits;
    if (free_bits < 32 && fit > UINT64_C(1) << free_bits) fit = UINT64_C(1) << free_bits;
    return fit < 1 ? 1 : fit < most ? (uint32_t)fit : most;
}

static int reserve(sf_gpu_images *m, uint32_t most, sf_error *error)
{
    sf_backend_device *device = m->stream->device;
    uint64_t n = m->stream->count, owners = n * sizeof(uint16_t), afters = n * sizeof(uint32_t);
    uint64_t reaches = n * m->plan->delay_count * sizeof(uint2), keys = n * sizeof(uint64_t);
    m->batch = images_that_fit(m, owners + afters + reaches + 2 * keys, most);
    size_t bytes = 0;
    cub::DoubleBuffer<uint64_t> none(NULL, NULL);
    SF_GPU_TRY(cub::DeviceRadixSort::SortKeys(NULL, bytes, none, (int64_t)(m->batch * n), 0,
                                              m->form.bits + bits_of(m->batch - 1), device->work));
    int status = sf_gpu_array_open(device, &m->scratch, bytes, error);
    for (int i = 0; i < 2 && status == SF_OK; i++)
        status = sf_gpu_array_open(device, &m->keys[i], m->batch * keys, error);
    if (status == SF_OK) status = sf_gpu_array_open(device, &m->owner, m->batch * owners, error);
    if (status == SF_OK) status = sf_gpu_array_open(device, &m->after, m->batch * afters, error);
    return status == SF_OK ? sf_gpu_array_open(device, &m->reaches, m->batch * reaches, error) : status;
}

int sf_gpu_images_open(sf_gpu_images *m, sf_backend_stream *stream, const sf_surrogate_plan *plan,
                       uint32_t most, sf_error *error)
{
    m->stream = stream;
    m->plan = plan;
    int status = form_keys(m, error);
    if (status == SF_OK)
        status = sf_gpu_array_send(stream->device, &m->trains, plan->trains,
                                   stream->unit_count * sizeof *plan->trains, error);
    if (status == SF_OK)
        status = sf_gpu_array_send(stream->device, &m->delays, plan->delays,
                                   plan->delay_count * sizeof *plan->delays, error);
    return status == SF_OK ? reserve(m, most, error) : status;
}

void sf_gpu_images_close(sf_gpu_images *m)
{
    sf_gpu_array *arrays[] = {&m->trains,  &m->delays, &m->keys[0], &m->keys[1],
                              &m->scratch, &m->owner,  &m->after,   &m->reaches};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && m->stream != NULL; i++)
        sf_gpu_array_close(m->stream->device, arrays[i]);
}

/* A row of blocks for each image. */
static dim3 grid(const sf_gpu_images *m, uint64_t threads, uint32_t images)
{
    uint64_t blocks = (threads + THREADS - 1) / THREADS;
    uint64_t most = (uint64_t)m->stream->device->properties.multiProcessorCount * 8;
    return dim3((unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most), images);
}

int sf_gpu_images_make(sf_gpu_images *m, uint32_t first, uint32_t surrogates, sf_error *error)
{
    const sf_backend_stream *s = m->stream;
    const uint32_t delay_count = m->plan->delay_count;
    cudaStream_t work = s->device->work;
    draw_view v = {.rule = m->plan->rule,
                   .origin = m->plan->origin_ns,
                   .mirrored = m->plan->mirrored,
                   .form = m->form,
                   .count = s->count,
                   .times = s->times,
                   .owner = s->owner,
                   .first = s->first,
                   .trains = (const uint32_t *)m->trains.data,
                   .ends = s->ends};
    size_t bytes = m->scratch.bytes;
    dim3 blocks = grid(m, s->count, surrogates);
    cub::DoubleBuffer<uint64_t> keys((uint64_t *)m->keys[0].data, (uint64_t *)m->keys[1].data);
    draw<<<blocks, THREADS, 0, work>>>(keys.Current(), v, first);
    SF_GPU_LAUNCHED();
    SF_GPU_TRY(cub::DeviceRadixSort::SortKeys(m->scratch.data, bytes, keys, (int64_t)s->count * surrogates, 0,
                                              m->form.bits + bits_of(surrogates - 1), work));
    settle<<<blocks, THREADS, 0, work>>>((uint16_t *)m->owner.data, (uint32_t *)m->after.data, keys.Current(),
                                         v);
    SF_GPU_LAUNCHED();
    reach<<<grid(m, (uint64_t)s->count * delay_count, surrogates), THREADS, 0, work>>>(
        (uint2 *)m->reaches.data, keys.Current(), v, (const sf_delay *)m->delays.data, delay_count);
    SF_GPU_LAUNCHED();
    return SF_OK;
}
