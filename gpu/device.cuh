/* SPDX-License-Identifier: Apache-2.0 */
/** What the files of the CUDA backend share: a device, its memory, copies, and checked calls. */
#ifndef SF_GPU_DEVICE_CUH
#define SF_GPU_DEVICE_CUH

extern "C" {
#include "core/error.h"
#include "core/memory.h"
}

#include <cuda_runtime.h>

/** Pinned memory that all copies pass through, in pieces, so that filling some overlaps sending others. */
#define SF_GPU_PIECE ((size_t)1 << 20)
#define SF_GPU_PIECES 32u

struct sf_backend_device {
    int ordinal;
    cudaDeviceProp properties;
    cudaStream_t work;  /* everything is in order on it */
    cudaMemPool_t pool; /* keeps what it freed, so that a warm job allocates nothing */
    uint64_t memory_limit, memory_used, memory_peak;
    uint64_t memory_idle; /* besides what is used: of what is kept */
    struct sf_gpu_kept *kept;
    char *staging; /* pinned, all pieces */
    void *landing; /* pinned: results on their way to the caller; kept for the next job */
    size_t landing_bytes;
    cudaEvent_t staged[SF_GPU_PIECES], landed;
    cudaEvent_t timed[2];
};

/** Records what a call of the runtime returned: SF_OK, SF_UNAVAILABLE where device memory is out, else SF_IO.
 */
int sf_gpu_check(cudaError_t result, const char *call, sf_error *error);

/** Leaves the function with the status of a call that failed; `error` is in scope. */
#define SF_GPU_TRY(call)                                                                                     \
    do {                                                                                                     \
        cudaError_t try_result = (call);                                                                     \
        if (try_result != cudaSuccess) return sf_gpu_check(try_result, #call, error);                        \
    } while (0)

/** After a kernel's launch. */
#define SF_GPU_LAUNCHED() SF_GPU_TRY(cudaGetLastError())

/** Device memory, in the order of the device's stream; bytes == 0 gives a valid pointer. SF_UNAVAILABLE where
 * it would exceed the limit. */
int sf_gpu_alloc(sf_backend_device *device, void **memory, size_t bytes, sf_error *error);
void sf_gpu_free(sf_backend_device *device, void *memory, size_t bytes); /**< NULL is allowed */

/** What lies on a device for jobs that may come, until one that has come lacks the memory. */
struct sf_gpu_kept {
    uint64_t bytes;
    void (*give_back)(sf_gpu_kept *kept); /**< frees it, once it is no longer kept */
    sf_gpu_kept *next;
};

/** From now on jobs may take its memory; and no longer, as long as a job needs it. */
void sf_gpu_keep(sf_backend_device *device, sf_gpu_kept *kept);
void sf_gpu_need(sf_backend_device *device, sf_gpu_kept *kept);

/** A device array and its size in bytes. Zero-initialise. */
typedef struct sf_gpu_array {
    void *data;
    size_t bytes;
} sf_gpu_array;

/** Room of `bytes`, of unknown content; what the array held is given back. SF_UNAVAILABLE. */
int sf_gpu_array_open(sf_backend_device *device, sf_gpu_array *array, size_t bytes, sf_error *error);
/** The same, but an array with room enough stays as it is. */
int sf_gpu_array_reserve(sf_backend_device *device, sf_gpu_array *array, size_t bytes, sf_error *error);
/** The same, and copies `from` into it, as sf_gpu_upload. */
int sf_gpu_array_send(sf_backend_device *device, sf_gpu_array *array, const void *from, size_t bytes,
                      sf_error *error);
void sf_gpu_array_close(sf_backend_device *device, sf_gpu_array *array);

/** Copies to the device, large blocks on several threads; `from` may be changed on return. */
int sf_gpu_upload(sf_backend_device *device, void *to, const void *from, size_t bytes, sf_error *error);

/** Writes bytes begin .. begin + length - 1 of a block to `piece`; begin is a multiple of a piece's length.
 * False: it cannot be made. Called on several threads. */
typedef bool sf_gpu_make(void *context, void *piece, size_t begin, size_t length);

/** Copies a block that is built on the way, straight into pinned memory: in pieces of `piece` bytes (at most
 * SF_GPU_PIECE) on up to `threads` threads (0: all that pay). SF_DATA where it cannot be built. */
int sf_gpu_upload_made(sf_backend_device *device, void *to, size_t bytes, size_t piece, unsigned threads,
                       sf_gpu_make *make, void *context, sf_error *error);

/** Copies from the device and waits. */
int sf_gpu_download(sf_backend_device *device, void *to, const void *from, size_t bytes, sf_error *error);

/** Room for at least `bytes` in device->landing; what was there is lost. */
int sf_gpu_landing(sf_backend_device *device, size_t bytes, sf_error *error);

/** Lets `reader` reach what `owner` has of memory, where the devices are joined. */
int sf_gpu_let_read(bool *joined, sf_backend_device *owner, sf_backend_device *reader, sf_error *error);

#endif
