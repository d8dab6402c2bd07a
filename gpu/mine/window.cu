/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Laying spikes out on the device, and the spikes of a sliding window there.
 *
 * Spikes are appended and kept apart on a stream of their own, in the order of the calls, through pinned
 * pieces: nothing waits for the jobs on the work stream, and these wait for a snapshot by an event. Spikes,
 * of a snapshot or just copied, are laid out like a stream that the CPU has laid out: kept ones close up by a
 * prefix sum, and a stable sort by unit deals the positions out, so that each unit's ascend.
 *
 * Cost of a layout: about 100 bytes of device memory traffic a spike, and 10 to 18 bytes beside spikes and
 * stream.
 */
#include "gpu/families.cuh"
#include "gpu/mine/stream.cuh"

extern "C" {
#include "core/backend/window.h"
}

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <string.h>

#define PIECES 4
#define PIECE_SPIKES ((size_t)1 << 16)

struct sf_backend_window {
    sf_backend_device *device;
    cudaStream_t copies;
    cudaEvent_t sent[PIECES]; /* a pinned piece may be filled again */
    cudaEvent_t kept;         /* on `copies`: the snapshot is complete */
    cudaEvent_t laid_out;     /* on the work stream: the snapshot has been read */
    cudaEvent_t ordered;      /* hands memory from one stream to the other */
    sf_spike *pinned;         /* PIECES of PIECE_SPIKES */
    uint32_t next;            /* piece */
    sf_spike *ring, *snapshot;
    uint64_t capacity; /* of either */
    size_t count;      /* in the snapshot */
};

/* ---- memory ---- */

/* What the stream of copies does from now on comes after all that the work stream was asked for, or the
 * reverse. */
static int follow(sf_backend_window *window, cudaStream_t later, cudaStream_t earlier, sf_error *error)
{
    SF_GPU_TRY(cudaEventRecord(window->ordered, earlier));
    SF_GPU_TRY(cudaStreamWaitEvent(later, window->ordered, 0));
    return SF_OK;
}

static void release_room(sf_backend_window *window)
{
    size_t bytes = window->capacity * sizeof(sf_spike);
    follow(window, window->device->work, window->copies, NULL);
    sf_gpu_free(window->device, window->ring, bytes);
    sf_gpu_free(window->device, window->snapshot, bytes);
    window->ring = window->snapshot = NULL;
    window->capacity = 0;
}

static int reserve(sf_backend_window *window, uint64_t capacity, sf_error *error)
{
    sf_backend_device *device = window->device;
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    release_room(window);
    size_t bytes = capacity * sizeof(sf_spike);
    int status = sf_gpu_alloc(device, (void **)&window->ring, bytes, error);
    if (status != SF_OK)
        return status;
    status = sf_gpu_alloc(device, (void **)&window->snapshot, bytes, error);
    if (status != SF_OK) {
        sf_gpu_free(device, window->ring, bytes);
        window->ring = NULL;
        return status;
    }
    window->capacity = capacity;
    return follow(window, window->copies, device->work, error);
}

static uint64_t capacity(const sf_backend_window *window)
{
    return window->capacity;
}

static void close_window(sf_backend_window *window)
{
    if (window == NULL)
        return;
    cudaSetDevice(window->device->ordinal);
    if (window->copies != NULL)
        cudaStreamSynchronize(window->copies);
    if (window->ring != NULL)
        release_room(window);
    cudaEvent_t events[] = {window->kept, window->laid_out, window->ordered};
    for (int i = 0; i < 3; i++)
        if (events[i] != NULL)
            cudaEventDestroy(events[i]);
    for (int i = 0; i < PIECES; i++)
        if (window->sent[i] != NULL)
            cudaEventDestroy(window->sent[i]);
    if (window->pinned != NULL)
        cudaFreeHost(window->pinned);
    if (window->copies != NULL)
        cudaStreamDestroy(window->copies);
    sf_free(window);
}

static int prepare(sf_backend_window *window, sf_error *error)
{
    SF_GPU_TRY(cudaSetDevice(window->device->ordinal));
    SF_GPU_TRY(cudaStreamCreateWithFlags(&window->copies, cudaStreamNonBlocking));
    cudaEvent_t *events[] = {&window->kept, &window->laid_out, &window->ordered};
    for (int i = 0; i < 3; i++)
        SF_GPU_TRY(cudaEventCreateWithFlags(events[i], cudaEventDisableTiming));
    for (int i = 0; i < PIECES; i++)
        SF_GPU_TRY(cudaEventCreateWithFlags(&window->sent[i], cudaEventDisableTiming));
    SF_GPU_TRY(cudaMallocHost((void **)&window->pinned, PIECES * PIECE_SPIKES * sizeof(sf_spike)));
    return SF_OK;
}

static int open_window(sf_backend_window **opened, sf_backend_device *device, sf_error *error)
{
    *opened = NULL;
    sf_backend_window *window = (sf_backend_window *)sf_alloc(1, sizeof *window);
    if (window == NULL)
        return sf_fail_memory(error);
    window->device = device;
    int status = prepare(window, error);
    if (status == SF_OK)
        *opened = window;
    else
        close_window(window);
    return status;
}

/* ---- copies ---- */

static int append(sf_backend_window *window, uint64_t position, const sf_spike *spikes, size_t count,
                  sf_error *error)
{
    SF_GPU_TRY(cudaSetDevice(window->device->ordinal));
    while (count > 0) {
        uint64_t slot = position % window->capacity;
        size_t length = count < PIECE_SPIKES ? count : PIECE_SPIKES;
        if (length > window->capacity - slot)
            length = (size_t)(window->capacity - slot);
        sf_spike *piece = window->pinned + window->next * PIECE_SPIKES;
        SF_GPU_TRY(cudaEventSynchronize(window->sent[window->next]));
        memcpy(piece, spikes, length * sizeof *spikes);
        SF_GPU_TRY(cudaMemcpyAsync(window->ring + slot, piece, length * sizeof *spikes,
                                   cudaMemcpyHostToDevice, window->copies));
        SF_GPU_TRY(cudaEventRecord(window->sent[window->next], window->copies));
        window->next = (window->next + 1) % PIECES;
        position += length;
        spikes += length;
        count -= length;
    }
    return SF_OK;
}

static int take_snapshot(sf_backend_window *window, uint64_t first, size_t count, sf_error *error)
{
    SF_GPU_TRY(cudaSetDevice(window->device->ordinal));
    SF_GPU_TRY(cudaStreamWaitEvent(window->copies, window->laid_out, 0));
    for (size_t done = 0; done < count;) {
        uint64_t slot = (first + done) % window->capacity;
        size_t length = count - done;
        if (length > window->capacity - slot)
            length = (size_t)(window->capacity - slot);
        SF_GPU_TRY(cudaMemcpyAsync(window->snapshot + done, window->ring + slot, length * sizeof(sf_spike),
                                   cudaMemcpyDeviceToDevice, window->copies));
        done += length;
    }
    window->count = count;
    SF_GPU_TRY(cudaEventRecord(window->kept, window->copies));
    return SF_OK;
}

/* ---- laying out ---- */

namespace
{

__global__ void mark_kept(uint32_t *marks, const sf_spike *spikes, uint32_t count, const uint32_t *numbers)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        marks[i] = numbers[spikes[i].unit] != SF_LEFT_OUT;
}

/* places[i] is how many kept spikes come before spike i; NULL: all are kept. */
__global__ void close_up(int64_t *times, uint16_t *owner, uint32_t *positions, const sf_spike *spikes,
                         uint32_t count, const uint32_t *numbers, const uint32_t *places, int64_t origin_ns)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        sf_spike spike = spikes[i];
        uint32_t number = numbers[spike.unit], place = places != NULL ? places[i] : i;
        if (number == SF_LEFT_OUT)
            continue;
        times[place] = spike.time_ns - origin_ns;
        owner[place] = (uint16_t)number;
        positions[place] = place;
    }
}

__global__ void pair_up(uint2 *ends, const uint32_t *positions, uint32_t count)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        ends[i] = make_uint2(positions[i], positions[i]);
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

/* What two steps of the library need to work with, the larger of them. */
static int measure_work(size_t *bytes, const sf_backend_stream *stream, uint32_t spikes, sf_error *error)
{
    size_t scan = 0, sort = 0;
    cudaStream_t work = stream->device->work;
    SF_GPU_TRY(
        cub::DeviceScan::ExclusiveSum(NULL, scan, (uint32_t *)NULL, (uint32_t *)NULL, (int64_t)spikes, work));
    SF_GPU_TRY(cub::DeviceRadixSort::SortPairs(NULL, sort, (uint16_t *)NULL, (uint16_t *)NULL,
                                               (uint32_t *)NULL, (uint32_t *)NULL, (int64_t)stream->count, 0,
                                               bits_of(stream->unit_count), work));
    *bytes = scan > sort ? scan : sort;
    return SF_OK;
}

static int reserve_scratch(scratch *s, const sf_backend_stream *stream, uint32_t spikes, sf_error *error)
{
    size_t work_bytes = 0, kept_bytes = (size_t)stream->count * sizeof(uint32_t);
    size_t bytes = stream->count < spikes ? (size_t)spikes * sizeof(uint32_t) : 0;
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
static int find_places(const uint32_t **places, scratch *s, const sf_spike *spikes, uint32_t count,
                       int blocks, sf_error *error)
{
    cudaStream_t work = s->device->work;
    uint32_t *marks = (uint32_t *)s->marks.data;
    *places = (const uint32_t *)s->places.data;
    if (*places == NULL)
        return SF_OK;
    mark_kept<<<blocks, 256, 0, work>>>(marks, spikes, count, (const uint32_t *)s->numbers.data);
    SF_GPU_LAUNCHED();
    SF_GPU_TRY(cub::DeviceScan::ExclusiveSum(s->work.data, s->work.bytes, marks, (uint32_t *)s->places.data,
                                             (int64_t)count, work));
    return SF_OK;
}

static int launch_layout(sf_backend_stream *stream, scratch *s, const sf_spike *spikes, uint32_t count,
                         int64_t origin_ns, sf_error *error)
{
    sf_backend_device *device = stream->device;
    int blocks = device->properties.multiProcessorCount * 8;
    const uint32_t *places;
    uint32_t *positions = (uint32_t *)s->positions.data, *by_unit = (uint32_t *)s->by_unit.data;
    int status = find_places(&places, s, spikes, count, blocks, error);
    if (status != SF_OK)
        return status;
    close_up<<<blocks, 256, 0, device->work>>>(stream->times, stream->owner, positions, spikes, count,
                                               (const uint32_t *)s->numbers.data, places, origin_ns);
    SF_GPU_LAUNCHED();
    SF_GPU_TRY(cub::DeviceRadixSort::SortPairs(
        s->work.data, s->work.bytes, stream->owner, (uint16_t *)s->owners.data, positions, by_unit,
        (int64_t)stream->count, 0, bits_of(stream->unit_count), device->work));
    pair_up<<<blocks, 256, 0, device->work>>>(stream->ends, by_unit, stream->count);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

static int lay_out(sf_backend_stream *stream, const sf_spike *spikes, uint32_t count,
                   const sf_backend_layout *layout, sf_error *error)
{
    sf_backend_device *device = stream->device;
    scratch s = {.device = device};
    int status = reserve_scratch(&s, stream, count, error);
    if (status == SF_OK)
        status = sf_gpu_array_send(device, &s.numbers, layout->numbers,
                                   layout->window_units * sizeof(uint32_t), error);
    if (status == SF_OK)
        status = sf_gpu_upload(device, stream->first, layout->first, stream->bytes[SF_GPU_FIRST], error);
    if (status == SF_OK)
        status = launch_layout(stream, &s, spikes, count, layout->origin_ns, error);
    release_scratch(&s);
    return status;
}

/* Of spikes on the device. */
static int make_stream(sf_backend_stream **made, sf_backend_device *device, const sf_spike *spikes,
                       size_t count, const sf_backend_layout *layout, sf_error *error)
{
    *made = NULL;
    if (count > INT32_MAX)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%zu spikes are more than the device lays out", count);
    sf_backend_stream *stream;
    int status = sf_gpu_stream_new(&stream, device, layout->unit_count, layout->count, layout->first, error);
    if (status != SF_OK)
        return status;
    if (stream->count > 0)
        status = lay_out(stream, spikes, (uint32_t)count, layout, error);
    if (status == SF_OK)
        *made = stream;
    else
        sf_gpu_stream_close(stream);
    return status;
}

static int make_stream_of_window(sf_backend_stream **made, sf_backend_window *window,
                                 const sf_backend_layout *layout, sf_error *error)
{
    sf_backend_device *device = window->device;
    *made = NULL;
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    SF_GPU_TRY(cudaStreamWaitEvent(device->work, window->kept, 0));
    int status = make_stream(made, device, window->snapshot, window->count, layout, error);
    if (status == SF_OK)
        status = sf_gpu_check(cudaEventRecord(window->laid_out, device->work), "cudaEventRecord(", error);
    if (status != SF_OK) {
        sf_gpu_stream_close(*made);
        *made = NULL;
    }
    return status;
}

/* ---- spikes that are sent ---- */

struct sf_backend_spikes {
    sf_backend_device *device;
    sf_gpu_array spikes;
    size_t count;
};

/* Units up to this number are counted in the shared memory of each block. */
#define SHARED_UNITS 8192u

namespace
{

__device__ bool is_right(const sf_spike *spikes, uint64_t i, uint32_t unit_count)
{
    sf_spike own = spikes[i], before = spikes[i > 0 ? i - 1 : 0];
    return own.unit < unit_count &&
           (own.time_ns > before.time_ns || (own.time_ns == before.time_ns && own.unit >= before.unit));
}

__global__ void count_units(unsigned long long *unit_spikes, unsigned long long *wrong,
                            const sf_spike *spikes, uint64_t count, uint32_t unit_count)
{
    extern __shared__ uint32_t of_block[];
    const bool shared = unit_count <= SHARED_UNITS;
    for (uint32_t u = threadIdx.x; shared && u < unit_count; u += blockDim.x)
        of_block[u] = 0;
    __syncthreads();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        if (!is_right(spikes, i, unit_count))
            atomicMin(wrong, (unsigned long long)i);
        else if (shared)
            atomicAdd(&of_block[spikes[i].unit], 1u);
        else
            atomicAdd(&unit_spikes[spikes[i].unit], 1ull);
    }
    __syncthreads();
    for (uint32_t u = threadIdx.x; shared && u < unit_count; u += blockDim.x)
        if (of_block[u] > 0)
            atomicAdd(&unit_spikes[u], (unsigned long long)of_block[u]);
}

} // namespace

/* `counts`: by unit, and then the first wrong spike. */
static int count_sent(const sf_backend_spikes *sent, sf_gpu_array *counts, uint32_t unit_count,
                      sf_error *error)
{
    sf_backend_device *device = sent->device;
    unsigned long long *unit_spikes = (unsigned long long *)counts->data;
    size_t own = unit_count * sizeof *unit_spikes;
    SF_GPU_TRY(cudaMemsetAsync(unit_spikes, 0, own, device->work));
    SF_GPU_TRY(cudaMemsetAsync(unit_spikes + unit_count, 0xff, sizeof *unit_spikes, device->work));
    size_t bytes = unit_count <= SHARED_UNITS ? unit_count * sizeof(uint32_t) : 0;
    count_units<<<device->properties.multiProcessorCount * 2, 512, bytes, device->work>>>(
        unit_spikes, unit_spikes + unit_count, (const sf_spike *)sent->spikes.data, sent->count, unit_count);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

static int count_on_device(const sf_backend_spikes *sent, uint64_t *unit_spikes, uint32_t unit_count,
                           size_t *wrong, sf_error *error)
{
    sf_gpu_array counts = {};
    uint64_t first_wrong = 0;
    int status = sf_gpu_array_open(sent->device, &counts, ((size_t)unit_count + 1) * sizeof(uint64_t), error);
    if (status == SF_OK)
        status = count_sent(sent, &counts, unit_count, error);
    if (status == SF_OK)
        status =
            sf_gpu_download(sent->device, unit_spikes, counts.data, unit_count * sizeof *unit_spikes, error);
    if (status == SF_OK)
        status = sf_gpu_download(sent->device, &first_wrong, (const uint64_t *)counts.data + unit_count,
                                 sizeof first_wrong, error);
    *wrong = first_wrong < sent->count ? (size_t)first_wrong : sent->count;
    sf_gpu_array_close(sent->device, &counts);
    return status;
}

static void forget(sf_backend_spikes *sent)
{
    if (sent == NULL)
        return;
    cudaSetDevice(sent->device->ordinal);
    sf_gpu_array_close(sent->device, &sent->spikes);
    sf_free(sent);
}

static int send_spikes(sf_backend_spikes **made, sf_backend_device *device, const sf_spike *spikes,
                       size_t count, uint64_t *unit_spikes, uint32_t unit_count, size_t *wrong,
                       sf_error *error)
{
    *made = NULL;
    *wrong = count;
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    sf_backend_spikes *sent = (sf_backend_spikes *)sf_alloc(1, sizeof *sent);
    if (sent == NULL)
        return sf_fail_memory(error);
    sent->device = device;
    sent->count = count;
    int status = sf_gpu_array_send(device, &sent->spikes, spikes, count * sizeof *spikes, error);
    if (status == SF_OK && unit_spikes != NULL)
        status = count_on_device(sent, unit_spikes, unit_count, wrong, error);
    if (status == SF_OK)
        *made = sent;
    else
        forget(sent);
    return status;
}

static int make_stream_of_sent(sf_backend_stream **made, sf_backend_spikes *sent,
                               const sf_backend_layout *layout, sf_error *error)
{
    *made = NULL;
    SF_GPU_TRY(cudaSetDevice(sent->device->ordinal));
    return make_stream(made, sent->device, (const sf_spike *)sent->spikes.data, sent->count, layout, error);
}

const struct sf_backend_windows sf_gpu_windows = {
    .open = open_window,
    .close = close_window,
    .reserve = reserve,
    .capacity = capacity,
    .append = append,
    .snapshot = take_snapshot,
    .stream = make_stream_of_window,
    .send = send_spikes,
    .forget = forget,
    .lay_out = make_stream_of_sent,
};
