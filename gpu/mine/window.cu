/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spikes of a sliding window on the device.
 *
 * Spikes are appended and kept apart on a stream of their own, in the order of the calls, through pinned
 * pieces: nothing waits for the jobs on the work stream, and these wait for a snapshot by an event.
 */
#include "gpu/families.cuh"
#include "gpu/mine/layout.cuh"
#include "gpu/mine/sent.cuh"

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
    if (status != SF_OK) return status;
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
    if (window == NULL) return;
    cudaSetDevice(window->device->ordinal);
    if (window->copies != NULL) cudaStreamSynchronize(window->copies);
    if (window->ring != NULL) release_room(window);
    cudaEvent_t events[] = {window->kept, window->laid_out, window->ordered};
    for (int i = 0; i < 3; i++)
        if (events[i] != NULL) cudaEventDestroy(events[i]);
    for (int i = 0; i < PIECES; i++)
        if (window->sent[i] != NULL) cudaEventDestroy(window->sent[i]);
    if (window->pinned != NULL) cudaFreeHost(window->pinned);
    if (window->copies != NULL) cudaStreamDestroy(window->copies);
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
    if (window == NULL) return sf_fail_memory(error);
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
        if (length > window->capacity - slot) length = (size_t)(window->capacity - slot);
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
        if (length > window->capacity - slot) length = (size_t)(window->capacity - slot);
        SF_GPU_TRY(cudaMemcpyAsync(window->snapshot + done, window->ring + slot, length * sizeof(sf_spike),
                                   cudaMemcpyDeviceToDevice, window->copies));
        done += length;
    }
    window->count = count;
    SF_GPU_TRY(cudaEventRecord(window->kept, window->copies));
    return SF_OK;
}

/* ---- a stream of it ---- */

static int make_stream_of_window(sf_backend_stream **made, sf_backend_window *window,
                                 const sf_backend_layout *layout, sf_error *error)
{
    sf_backend_device *device = window->device;
    *made = NULL;
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    SF_GPU_TRY(cudaStreamWaitEvent(device->work, window->kept, 0));
    const sf_gpu_spikes snapshot = {.plain = window->snapshot, .count = window->count};
    int status = sf_gpu_lay_out(made, device, &snapshot, layout, error);
    if (status == SF_OK)
        status = sf_gpu_check(cudaEventRecord(window->laid_out, device->work), "cudaEventRecord(", error);
    if (status != SF_OK) {
        sf_gpu_stream_close(*made);
        *made = NULL;
    }
    return status;
}

const struct sf_backend_windows sf_gpu_windows = {
    .open = open_window,
    .close = close_window,
    .reserve = reserve,
    .capacity = capacity,
    .append = append,
    .snapshot = take_snapshot,
    .stream = make_stream_of_window,
    .send = sf_gpu_send_spikes,
    .forget = sf_gpu_forget_spikes,
    .lay_out = sf_gpu_lay_out_sent,
};
