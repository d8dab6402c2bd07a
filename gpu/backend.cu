/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA backend: its table, its devices, their memory. */
#include "gpu/device.cuh"
#include "gpu/families.cuh"

extern "C" {
#include "core/backend/plugin.h"
#include "core/thread.h"
}

#include <stdio.h>
#include <string.h>

int sf_gpu_check(cudaError_t result, const char *call, sf_error *error)
{
    if (result == cudaSuccess) return SF_OK;
    cudaGetLastError(); /* told here; this thread's next launch, on another device, is not to tell it again */
    int length = (int)strcspn(call, "(");
    if (result == cudaErrorMemoryAllocation)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "device memory is out");
    return sf_fail(error, SF_IO, NULL, "%.*s: %s", length, call, cudaGetErrorString(result));
}

void sf_gpu_keep(sf_backend_device *device, sf_gpu_kept *kept)
{
    sf_gpu_kept **last = &device->kept;
    while (*last != NULL)
        last = &(*last)->next;
    *last = kept;
    kept->next = NULL;
    device->memory_used -= kept->bytes;
    device->memory_idle += kept->bytes;
}

void sf_gpu_need(sf_backend_device *device, sf_gpu_kept *kept)
{
    sf_gpu_kept **at = &device->kept;
    while (*at != kept)
        at = &(*at)->next;
    *at = kept->next;
    device->memory_used += kept->bytes;
    device->memory_idle -= kept->bytes;
}

/* What has been of no use for longest. */
static bool give_back(sf_backend_device *device)
{
    sf_gpu_kept *kept = device->kept;
    if (kept == NULL) return false;
    sf_gpu_need(device, kept);
    kept->give_back(kept);
    return true;
}

int sf_gpu_alloc(sf_backend_device *device, void **memory, size_t bytes, sf_error *error)
{
    *memory = NULL;
    while (bytes > device->memory_limit - device->memory_used - device->memory_idle)
        if (!give_back(device))
            return sf_fail(error, SF_UNAVAILABLE, NULL,
                           "the job needs more than the %llu MiB of device memory it may take",
                           (unsigned long long)(device->memory_limit >> 20));
    cudaError_t result;
    do {
        result = cudaMallocFromPoolAsync(memory, bytes > 0 ? bytes : 1, device->pool, device->work);
    } while (result == cudaErrorMemoryAllocation && give_back(device));
    if (result != cudaSuccess) return sf_gpu_check(result, "cudaMallocFromPoolAsync", error);
    cudaGetLastError(); /* of an attempt before */
    device->memory_used += bytes;
    if (device->memory_used + device->memory_idle > device->memory_peak)
        device->memory_peak = device->memory_used + device->memory_idle;
    return SF_OK;
}

void sf_gpu_free(sf_backend_device *device, void *memory, size_t bytes)
{
    if (memory == NULL) return;
    cudaFreeAsync(memory, device->work);
    device->memory_used -= bytes;
}

int sf_gpu_array_open(sf_backend_device *device, sf_gpu_array *array, size_t bytes, sf_error *error)
{
    sf_gpu_array_close(device, array);
    int status = sf_gpu_alloc(device, &array->data, bytes, error);
    if (status == SF_OK) array->bytes = bytes;
    return status;
}

void sf_gpu_array_close(sf_backend_device *device, sf_gpu_array *array)
{
    sf_gpu_free(device, array->data, array->bytes);
    *array = sf_gpu_array{};
}

int sf_gpu_array_reserve(sf_backend_device *device, sf_gpu_array *array, size_t bytes, sf_error *error)
{
    bool fits = array->data != NULL && array->bytes >= bytes;
    return fits ? SF_OK : sf_gpu_array_open(device, array, bytes, error);
}

int sf_gpu_array_send(sf_backend_device *device, sf_gpu_array *array, const void *from, size_t bytes,
                      sf_error *error)
{
    int status = sf_gpu_array_reserve(device, array, bytes, error);
    return status == SF_OK ? sf_gpu_upload(device, array->data, from, bytes, error) : status;
}

/* ---- copies ---- */

namespace
{

/* A block on its way to the device. */
typedef struct sending {
    sf_backend_device *device;
    char *to;
    size_t bytes, piece; /* of all, and of each piece but the last */
    sf_gpu_make *make;
    void *context;
    uint32_t own;                 /* pinned pieces that a thread has */
    uint32_t made[SF_GPU_PIECES]; /* by thread: how many it has */
} sending;

} // namespace

/* Makes a piece in pinned memory and lets it go; the thread, which takes turns with its own, waits for that
 * where it is to make another there. */
static int send_piece(sending *s, size_t item, uint32_t thread, sf_error *error)
{
    sf_backend_device *device = s->device;
    uint32_t slot = thread * s->own + s->made[thread]++ % s->own;
    size_t begin = item * s->piece, left = s->bytes - begin, length = left < s->piece ? left : s->piece;
    char *pinned = device->staging + slot * SF_GPU_PIECE;
    SF_GPU_TRY(cudaEventSynchronize(device->staged[slot]));
    if (!s->make(s->context, pinned, begin, length))
        return sf_fail(error, SF_DATA, NULL, "what is to be copied cannot be made");
    SF_GPU_TRY(cudaMemcpyAsync(s->to + begin, pinned, length, cudaMemcpyHostToDevice, device->work));
    SF_GPU_TRY(cudaEventRecord(device->staged[slot], device->work));
    return SF_OK;
}

static int send_in_parallel(void *context, unsigned thread, size_t item)
{
    sending *s = (sending *)context;
    sf_error *error = NULL; /* the calling thread says what has failed */
    SF_GPU_TRY(cudaSetDevice(s->device->ordinal));
    return send_piece(s, item, thread, NULL);
}

/* One more thread pays from this many pieces on, and needs as many: it builds one while the other is being
 * copied. */
#define PIECES_A_THREAD 2u

static unsigned threads_for(size_t pieces, unsigned wanted)
{
    size_t threads = pieces / PIECES_A_THREAD, most = SF_GPU_PIECES / PIECES_A_THREAD;
    wanted = wanted > 0 ? wanted : sf_thread_cores();
    most = wanted < most ? wanted : most;
    return threads < 1 ? 1 : (unsigned)(threads < most ? threads : most);
}

int sf_gpu_upload_made(sf_backend_device *device, void *to, size_t bytes, size_t piece, unsigned wanted,
                       sf_gpu_make *make, void *context, sf_error *error)
{
    size_t pieces = (bytes + piece - 1) / piece;
    unsigned threads = threads_for(pieces, wanted);
    sending s = {.device = device,
                 .to = (char *)to,
                 .bytes = bytes,
                 .piece = piece,
                 .make = make,
                 .context = context,
                 .own = SF_GPU_PIECES / threads};
    int status = SF_OK;
    if (threads > 1) {
        status = sf_parallel_for(threads, pieces, send_in_parallel, &s);
        return status == SF_OK ? SF_OK
                               : sf_fail(error, (sf_status)status, NULL, "copying to the device failed");
    }
    for (size_t i = 0; i < pieces && status == SF_OK; i++)
        status = send_piece(&s, i, 0, error);
    return status;
}

static bool copy_piece(void *context, void *piece, size_t begin, size_t length)
{
    memcpy(piece, (const char *)context + begin, length);
    return true;
}

int sf_gpu_upload(sf_backend_device *device, void *to, const void *from, size_t bytes, sf_error *error)
{
    return sf_gpu_upload_made(device, to, bytes, SF_GPU_PIECE, 0, copy_piece, (void *)from, error);
}

int sf_gpu_download(sf_backend_device *device, void *to, const void *from, size_t bytes, sf_error *error)
{
    for (size_t done = 0; done < bytes;) {
        size_t length =
            bytes - done < SF_GPU_PIECES * SF_GPU_PIECE ? bytes - done : SF_GPU_PIECES * SF_GPU_PIECE;
        SF_GPU_TRY(cudaMemcpyAsync(device->staging, (const char *)from + done, length, cudaMemcpyDeviceToHost,
                                   device->work));
        SF_GPU_TRY(cudaStreamSynchronize(device->work));
        memcpy((char *)to + done, device->staging, length);
        done += length;
    }
    return SF_OK;
}

int sf_gpu_landing(sf_backend_device *device, size_t bytes, sf_error *error)
{
    if (device->landing_bytes >= bytes) return SF_OK;
    if (device->landing != NULL) SF_GPU_TRY(cudaFreeHost(device->landing));
    device->landing = NULL;
    device->landing_bytes = 0;
    size_t room =
        bytes < ((size_t)1 << 20) ? (size_t)1 << 20 : 2 * bytes; /* pinning memory takes long: seldom */
    SF_GPU_TRY(cudaMallocHost(&device->landing, room));
    device->landing_bytes = room;
    return SF_OK;
}

int sf_gpu_let_read(bool *joined, sf_backend_device *owner, sf_backend_device *reader, sf_error *error)
{
    int can = 0;
    *joined = owner == reader;
    if (*joined) return SF_OK;
    SF_GPU_TRY(cudaDeviceCanAccessPeer(&can, reader->ordinal, owner->ordinal));
    if (!can) return SF_OK;
    cudaMemAccessDesc access = {};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = reader->ordinal;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    SF_GPU_TRY(cudaMemPoolSetAccess(owner->pool, &access, 1));
    *joined = true;
    return SF_OK;
}

/* ---- devices ---- */

static uint32_t device_count(char *why, size_t size)
{
    int count = 0;
    cudaError_t result = cudaGetDeviceCount(&count);
    if (result != cudaSuccess) {
        snprintf(why, size, "%s", cudaGetErrorString(result));
        return 0;
    }
    if (count == 0) snprintf(why, size, "the driver lists none");
    return (uint32_t)count;
}

static void close_device(sf_backend_device *device)
{
    if (device == NULL) return;
    cudaSetDevice(device->ordinal);
    if (device->work != NULL) cudaStreamSynchronize(device->work);
    for (cudaEvent_t event : device->staged)
        if (event != NULL) cudaEventDestroy(event);
    for (cudaEvent_t event : device->timed)
        if (event != NULL) cudaEventDestroy(event);
    if (device->landed != NULL) cudaEventDestroy(device->landed);
    if (device->staging != NULL) cudaFreeHost(device->staging);
    if (device->landing != NULL) cudaFreeHost(device->landing);
    if (device->pool != NULL) cudaMemPoolDestroy(device->pool);
    if (device->work != NULL) cudaStreamDestroy(device->work);
    sf_free(device);
}

/* The default limit leaves a tenth of what is free to others. */
static int prepare_memory(sf_backend_device *device, uint64_t memory_limit, sf_error *error)
{
    size_t free_bytes, total_bytes;
    SF_GPU_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
    device->memory_limit = memory_limit > 0 ? memory_limit : free_bytes - free_bytes / 10;
    cudaMemPoolProps shape = {};
    shape.allocType = cudaMemAllocationTypePinned;
    shape.location.type = cudaMemLocationTypeDevice;
    shape.location.id = device->ordinal;
    SF_GPU_TRY(cudaMemPoolCreate(&device->pool, &shape));
    uint64_t keep = device->memory_limit;
    SF_GPU_TRY(cudaMemPoolSetAttribute(device->pool, cudaMemPoolAttrReleaseThreshold, &keep));
    SF_GPU_TRY(cudaMallocHost((void **)&device->staging, SF_GPU_PIECES * SF_GPU_PIECE));
    return SF_OK;
}

namespace
{

__global__ void probe()
{
}

} // namespace

/* A card for which nothing was compiled, and which portable code does not fit either, is told of at once. */
static int check_code(const sf_backend_device *device, sf_error *error)
{
    cudaFuncAttributes attributes;
    cudaError_t result = cudaFuncGetAttributes(&attributes, probe);
    if (result != cudaErrorNoKernelImageForDevice && result != cudaErrorUnsupportedPtxVersion &&
        result != cudaErrorInvalidDeviceFunction)
        return sf_gpu_check(result, "cudaFuncGetAttributes", error);
    cudaGetLastError();
    return sf_fail(error, SF_UNAVAILABLE, NULL,
                   "%s (compute capability %d.%d): this build has no code for it%s; build with "
                   "-DSYNFIRE_CUDA_ARCHITECTURES=native on this machine, or =release",
                   device->properties.name, device->properties.major, device->properties.minor,
                   result == cudaErrorUnsupportedPtxVersion ? " that this driver can translate" : "");
}

static int prepare_device(sf_backend_device *device, uint64_t memory_limit, sf_error *error)
{
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    SF_GPU_TRY(cudaGetDeviceProperties(&device->properties, device->ordinal));
    int status = check_code(device, error);
    if (status != SF_OK) return status;
    SF_GPU_TRY(cudaStreamCreateWithFlags(&device->work, cudaStreamNonBlocking));
    for (cudaEvent_t &event : device->staged)
        SF_GPU_TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (cudaEvent_t &event : device->timed)
        SF_GPU_TRY(cudaEventCreate(&event));
    SF_GPU_TRY(cudaEventCreateWithFlags(&device->landed, cudaEventDisableTiming));
    return prepare_memory(device, memory_limit, error);
}

static int open_device(sf_backend_device **opened, uint32_t index, uint64_t memory_limit, sf_error *error)
{
    *opened = NULL;
    sf_backend_device *device = (sf_backend_device *)sf_alloc(1, sizeof *device);
    if (device == NULL) return sf_fail_memory(error);
    device->ordinal = (int)index;
    int status = prepare_device(device, memory_limit, error);
    if (status == SF_OK)
        *opened = device;
    else
        close_device(device);
    return status;
}

static void facts(const sf_backend_device *device, sf_backend_facts *facts)
{
    snprintf(facts->description, sizeof facts->description, "%.127s", device->properties.name);
    facts->memory = device->properties.totalGlobalMem;
    facts->memory_limit = device->memory_limit;
    facts->memory_peak = device->memory_peak;
}

extern "C" SF_API const sf_backend *synfire_backend(void)
{
    static const sf_backend backend = {
        .version = SF_BACKEND_VERSION,
        .release = SYNFIRE_VERSION,
        .name = "cuda",
        .device_count = device_count,
        .open = open_device,
        .close = close_device,
        .facts = facts,
        .episodes = &sf_gpu_episodes,
        .surrogates = &sf_gpu_surrogates,
        .density = &sf_gpu_density,
        .graphs = &sf_gpu_graphs,
        .bfs = &sf_gpu_bfs,
        .match = &sf_gpu_match,
        .windows = &sf_gpu_windows,
        .rewire = &sf_gpu_rewire,
        .tracking = &sf_gpu_tracking,
        .pairs = &sf_gpu_pair_counting,
        .moving = &sf_gpu_moving,
    };
    return &backend;
}
