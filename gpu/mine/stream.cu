/* SPDX-License-Identifier: Apache-2.0 */
/* Spikes on the device: 22 bytes each, copied once for any number of jobs. */
#include "gpu/mine/stream.cuh"

#include "gpu/families.cuh"

#include <string.h>

namespace
{

__global__ void narrow_owners(uint16_t *narrow, const uint32_t *owner, uint32_t count)
{
    for (uint32_t p = blockIdx.x * blockDim.x + threadIdx.x; p < count; p += gridDim.x * blockDim.x)
        narrow[p] = (uint16_t)owner[p];
}

__global__ void pair_up(uint2 *ends, const uint32_t *positions, uint32_t count)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        ends[i] = make_uint2(positions[i], positions[i]);
}

} // namespace

int sf_gpu_candidates_send(sf_gpu_candidates *to, sf_backend_device *device, const sf_candidates *from,
                           sf_error *error)
{
    size_t units = from->count * from->size, delays = from->count * (from->size - 1);
    int status = sf_gpu_array_send(device, &to->units, from->units, units * sizeof *from->units, error);
    if (status == SF_OK)
        status = sf_gpu_array_send(device, &to->delays, from->delays, delays * sizeof *from->delays, error);
    if (status == SF_OK)
        status = sf_gpu_array_send(device, &to->intervals, from->intervals,
                                   from->interval_count * sizeof *from->intervals, error);
    if (status == SF_OK)
        status = sf_gpu_array_reserve(device, &to->counts, from->count * sizeof(uint32_t), error);
    return status;
}

void sf_gpu_candidates_close(sf_backend_device *device, sf_gpu_candidates *candidates)
{
    sf_gpu_array *arrays[] = {&candidates->units, &candidates->delays, &candidates->intervals,
                              &candidates->counts};
    for (sf_gpu_array *array : arrays)
        sf_gpu_array_close(device, array);
}

void sf_gpu_stream_close(sf_backend_stream *stream)
{
    if (stream == NULL) return;
    cudaSetDevice(stream->device->ordinal);
    sf_gpu_free(stream->device, stream->times, stream->bytes[SF_GPU_TIMES]);
    sf_gpu_free(stream->device, stream->owner, stream->bytes[SF_GPU_OWNER]);
    sf_gpu_free(stream->device, stream->first, stream->bytes[SF_GPU_FIRST]);
    sf_gpu_free(stream->device, stream->ends, stream->bytes[SF_GPU_ENDS]);
    sf_free(stream);
}

static int allocate(sf_backend_stream *stream, sf_error *error)
{
    size_t count = stream->count;
    size_t whole = (count + 7) / 8 * 8; /* eight owners are read at once */
    size_t bytes[] = {count * sizeof *stream->times, whole * sizeof *stream->owner,
                      ((size_t)stream->unit_count + 1) * sizeof *stream->first, count * sizeof *stream->ends};
    void **arrays[] = {(void **)&stream->times, (void **)&stream->owner, (void **)&stream->first,
                       (void **)&stream->ends};
    for (int i = 0; i < 4; i++) {
        int status = sf_gpu_alloc(stream->device, arrays[i], bytes[i], error);
        if (status != SF_OK) return status;
        stream->bytes[i] = bytes[i];
    }
    return SF_OK;
}

int sf_gpu_stream_set_ends(sf_backend_stream *stream, const uint32_t *positions, sf_error *error)
{
    sf_backend_device *device = stream->device;
    pair_up<<<device->properties.multiProcessorCount * 8, 256, 0, device->work>>>(stream->ends, positions,
                                                                                  stream->count);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

/* `raw` has room for one 32-bit array of the stream's length: owners pass through it, then positions. */
static int fill(sf_backend_stream *stream, const sf_stream *spikes, uint32_t *raw, sf_error *error)
{
    sf_backend_device *device = stream->device;
    size_t bytes = (size_t)spikes->count * sizeof *raw;
    int blocks = device->properties.multiProcessorCount * 8;
    int status = sf_gpu_upload(device, stream->times, spikes->times, stream->bytes[SF_GPU_TIMES], error);
    if (status == SF_OK)
        status = sf_gpu_upload(device, stream->first, spikes->first, stream->bytes[SF_GPU_FIRST], error);
    if (status == SF_OK) status = sf_gpu_upload(device, raw, spikes->owner, bytes, error);
    if (status != SF_OK) return status;
    narrow_owners<<<blocks, 256, 0, device->work>>>(stream->owner, raw, spikes->count);
    SF_GPU_LAUNCHED();
    status = sf_gpu_upload(device, raw, spikes->positions, bytes, error);
    return status == SF_OK ? sf_gpu_stream_set_ends(stream, raw, error) : status;
}

int sf_gpu_stream_new(sf_backend_stream **made, sf_backend_device *device, uint32_t unit_count,
                      uint32_t count, const uint32_t *first, sf_error *error)
{
    *made = NULL;
    if (unit_count > UINT16_MAX)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%u units are more than the %d that the device mines",
                       unit_count, UINT16_MAX);
    sf_backend_stream *stream = (sf_backend_stream *)sf_alloc(1, sizeof *stream);
    if (stream == NULL) return sf_fail_memory(error);
    stream->device = device;
    stream->unit_count = unit_count;
    stream->count = count;
    for (uint32_t u = 0; u < unit_count; u++)
        if (first[u + 1] - first[u] > stream->longest_train) stream->longest_train = first[u + 1] - first[u];
    int status = allocate(stream, error);
    if (status == SF_OK)
        *made = stream;
    else
        sf_gpu_stream_close(stream);
    return status;
}

static int open_stream(sf_backend_stream **opened, sf_backend_device *device, const sf_stream *spikes,
                       sf_error *error)
{
    *opened = NULL;
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    sf_backend_stream *stream;
    void *raw = NULL;
    size_t raw_bytes = (size_t)spikes->count * sizeof(uint32_t);
    int status = sf_gpu_stream_new(&stream, device, spikes->unit_count, spikes->count, spikes->first, error);
    if (status == SF_OK) status = sf_gpu_alloc(device, &raw, raw_bytes, error);
    if (status == SF_OK) status = fill(stream, spikes, (uint32_t *)raw, error);
    sf_gpu_free(device, raw, raw_bytes);
    if (status == SF_OK)
        *opened = stream;
    else
        sf_gpu_stream_close(stream);
    return status;
}

static bool supports(const sf_backend_device *device, sf_operation operation, const char *engine)
{
    (void)device;
    static const char *const counting[] = {"interval", "ptpe", "mtpe", "hybrid", "two-pass"};
    for (size_t i = 0; i < sizeof counting / sizeof counting[0]; i++)
        if (operation == SF_OPERATION_COUNT && strcmp(engine, counting[i]) == 0) return true;
    return operation == SF_OPERATION_MINE && strcmp(engine, "interval") == 0;
}

const sf_backend_episodes sf_gpu_episodes = {
    .supports = supports,
    .stream_open = open_stream,
    .stream_close = sf_gpu_stream_close,
    .count = sf_gpu_count,
    .mine = sf_gpu_mine,
};
