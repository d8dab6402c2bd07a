/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spikes on the device, of a window or just sent, are laid out like a stream that the CPU has laid out: kept
 * ones close up by a prefix sum, and a stable sort by unit deals the positions out, so that each unit's
 * ascend.
 *
 * Cost: about 100 bytes of device memory traffic a spike, and 10 to 18 bytes beside spikes and stream.
 */
#include "gpu/mine/layout.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

namespace
{

typedef struct moment {
    int64_t time_ns;
    uint32_t unit;
} moment;

__device__ moment moment_of(const sf_gpu_spikes *spikes, uint32_t i)
{
    if (spikes->plain != NULL) return moment{spikes->plain[i].time_ns, spikes->plain[i].unit};
    uint64_t packed = spikes->packed[i];
    return moment{sf_packed_time_ns(packed, spikes->packing), sf_packed_unit(packed, spikes->packing)};
}

__global__ void mark_kept(uint32_t *marks, sf_gpu_spikes spikes, const uint32_t *numbers)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < spikes.count; i += gridDim.x * blockDim.x)
        marks[i] = numbers[moment_of(&spikes, i).unit] != SF_LEFT_OUT;
}

/* places[i] is how many kept spikes come before spike i; NULL: all are kept. */
__global__ void close_up(int64_t *times, uint16_t *owner, uint32_t *positions, sf_gpu_spikes spikes,
                         const uint32_t *numbers, const uint32_t *places, int64_t origin_ns)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < spikes.count; i += gridDim.x * blockDim.x) {
        moment own = moment_of(&spikes, i);
        uint32_t number = numbers[own.unit], place = places != NULL ? places[i] : i;
        if (number == SF_LEFT_OUT) continue;
        times[place] = own.time_ns - origin_ns;
        owner[place] = (uint16_t)number;
        positions[place] = place;
    }
}

/* Memory that a layout needs beside the stream it makes. */
typedef struct scratch {
    sf_backend_device *device;
    sf_gpu_array numbers, positions, by_unit, owners, work;
    sf_gpu_array marks, places; /* empty where all spikes are kept */
} scratch;

} // namespace

static void release_scratch(scratch *s)
{
    sf_gpu_array *arrays[] = {&s->numbers, &s->positions, &s->by_unit, &s->owners,
                              &s->work,    &s->marks,     &s->places};
    for (sf_gpu_array *array : arrays)
        sf_gpu_array_close(s->device, array);
}

static int bits_of(uint32_t units)
{
    int bits = 1;
    while (bits < 16 && (1u << bits) < units)
        bits++;
    return bits;
}

/* What two steps of the library need to work with, the larger of them. Counts of 31 bits let it count in 32.
 */
static int measure_work(size_t *bytes, const sf_backend_stream *stream, size_t spikes, sf_error *error)
{
    size_t scan = 0, sort = 0;
    cudaStream_t work = stream->device->work;
    SF_GPU_TRY(
        cub::DeviceScan::ExclusiveSum(NULL, scan, (uint32_t *)NULL, (uint32_t *)NULL, (int)spikes, work));
    SF_GPU_TRY(cub::DeviceRadixSort::SortPairs(NULL, sort, (uint16_t *)NULL, (uint16_t *)NULL,
                                               (uint32_t *)NULL, (uint32_t *)NULL, (int)stream->count, 0,
                                               bits_of(stream->unit_count), work));
    *bytes = scan > sort ? scan : sort;
    return SF_OK;
}

static int reserve_scratch(scratch *s, const sf_backend_stream *stream, size_t spikes, sf_error *error)
{
    size_t work_bytes = 0, kept_bytes = (size_t)stream->count * sizeof(uint32_t);
    size_t bytes = stream->count < spikes ? spikes * sizeof(uint32_t) : 0;
    int status = measure_work(&work_bytes, stream, spikes, error);
    struct {
        sf_gpu_array *array;
        size_t bytes;
    } wanted[] = {{&s->positions, kept_bytes},
                  {&s->by_unit, kept_bytes},
                  {&s->owners, (size_t)stream->count * sizeof(uint16_t)},
                  {&s->work, work_bytes},
                  {&s->marks, bytes},
                  {&s->places, bytes}};
    for (auto &want : wanted)
        if (status == SF_OK && want.bytes > 0)
            status = sf_gpu_array_open(s->device, want.array, want.bytes, error);
    return status;
}

/* Where the kept spikes close up to, or NULL where all are kept. */
static int find_places(const uint32_t **places, scratch *s, const sf_gpu_spikes *spikes, int blocks,
                       sf_error *error)
{
    cudaStream_t work = s->device->work;
    uint32_t *marks = (uint32_t *)s->marks.data;
    *places = (const uint32_t *)s->places.data;
    if (*places == NULL) return SF_OK;
    mark_kept<<<blocks, 256, 0, work>>>(marks, *spikes, (const uint32_t *)s->numbers.data);
    SF_GPU_LAUNCHED();
    SF_GPU_TRY(cub::DeviceScan::ExclusiveSum(s->work.data, s->work.bytes, marks, (uint32_t *)s->places.data,
                                             (int)spikes->count, work));
    return SF_OK;
}

static int launch(sf_backend_stream *stream, scratch *s, const sf_gpu_spikes *spikes, int64_t origin_ns,
                  sf_error *error)
{
    sf_backend_device *device = stream->device;
    int blocks = device->properties.multiProcessorCount * 8;
    const uint32_t *places;
    uint32_t *positions = (uint32_t *)s->positions.data, *by_unit = (uint32_t *)s->by_unit.data;
    int status = find_places(&places, s, spikes, blocks, error);
    if (status != SF_OK) return status;
    close_up<<<blocks, 256, 0, device->work>>>(stream->times, stream->owner, positions, *spikes,
                                               (const uint32_t *)s->numbers.data, places, origin_ns);
    SF_GPU_LAUNCHED();
    SF_GPU_TRY(cub::DeviceRadixSort::SortPairs(
        s->work.data, s->work.bytes, stream->owner, (uint16_t *)s->owners.data, positions, by_unit,
        (int)stream->count, 0, bits_of(stream->unit_count), device->work));
    return sf_gpu_stream_set_ends(stream, by_unit, error);
}

static int lay_out(sf_backend_stream *stream, const sf_gpu_spikes *spikes, const sf_backend_layout *layout,
                   sf_error *error)
{
    sf_backend_device *device = stream->device;
    scratch s = {.device = device};
    int status = reserve_scratch(&s, stream, spikes->count, error);
    if (status == SF_OK)
        status = sf_gpu_array_send(device, &s.numbers, layout->numbers,
                                   layout->window_units * sizeof(uint32_t), error);
    if (status == SF_OK)
        status = sf_gpu_upload(device, stream->first, layout->first, stream->bytes[SF_GPU_FIRST], error);
    if (status == SF_OK) status = launch(stream, &s, spikes, layout->origin_ns, error);
    release_scratch(&s);
    return status;
}

int sf_gpu_lay_out(sf_backend_stream **made, sf_backend_device *device, const sf_gpu_spikes *spikes,
                   const sf_backend_layout *layout, sf_error *error)
{
    *made = NULL;
    if (spikes->count > INT32_MAX)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%zu spikes are more than the device lays out",
                       spikes->count);
    sf_backend_stream *stream;
    int status = sf_gpu_stream_new(&stream, device, layout->unit_count, layout->count, layout->first, error);
    if (status != SF_OK) return status;
    if (stream->count > 0) status = lay_out(stream, spikes, layout, error);
    if (status == SF_OK)
        *made = stream;
    else
        sf_gpu_stream_close(stream);
    return status;
}
