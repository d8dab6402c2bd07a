/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spikes that are sent to the device to be laid out there. They cross the bus packed, half as many bytes as
 * they have, and threads pack some while others are on their way: what the CPU's memory gives sets the time.
 * What each unit fires is counted here: the CPU then reads them but once.
 */
#include "gpu/mine/sent.cuh"

#include "gpu/mine/layout.cuh"

struct sf_backend_spikes {
    sf_backend_device *device;
    sf_gpu_array packed; /* uint64_t */
    sf_packing packing;
    size_t count;
};

/* Units up to this number are counted in the shared memory of each block. */
#define SHARED_UNITS 8192u

namespace
{

/* In order of time and unit packed spikes ascend. */
__global__ void count_units(unsigned long long *unit_spikes, unsigned long long *wrong,
                            const uint64_t *packed, uint64_t count, sf_packing packing, uint32_t unit_count)
{
    extern __shared__ uint32_t of_block[];
    const bool shared = unit_count <= SHARED_UNITS;
    for (uint32_t u = threadIdx.x; shared && u < unit_count; u += blockDim.x)
        of_block[u] = 0;
    __syncthreads();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        uint64_t own = packed[i];
        uint32_t unit = sf_packed_unit(own, packing);
        if (unit >= unit_count || (i > 0 && own < packed[i - 1]))
            atomicMin(wrong, (unsigned long long)i);
        else if (shared)
            atomicAdd(&of_block[unit], 1u);
        else
            atomicAdd(&unit_spikes[unit], 1ull);
    }
    __syncthreads();
    for (uint32_t u = threadIdx.x; shared && u < unit_count; u += blockDim.x)
        if (of_block[u] > 0) atomicAdd(&unit_spikes[u], (unsigned long long)of_block[u]);
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
    count_units<<<device->properties.multiProcessorCount * 2, 1024, bytes, device->work>>>(
        unit_spikes, unit_spikes + unit_count, (const uint64_t *)sent->packed.data, sent->count,
        sent->packing, unit_count);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

static int count_on_device(const sf_backend_spikes *sent, uint64_t *unit_spikes, uint32_t unit_count,
                           size_t *wrong, sf_error *error)
{
    sf_gpu_array counts = {};
    uint64_t first_wrong = 0;
    int status = sf_gpu_array_open(sent->device, &counts, ((size_t)unit_count + 1) * sizeof(uint64_t), error);
    if (status == SF_OK) status = count_sent(sent, &counts, unit_count, error);
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

void sf_gpu_forget_spikes(sf_backend_spikes *sent)
{
    if (sent == NULL) return;
    cudaSetDevice(sent->device->ordinal);
    sf_gpu_array_close(sent->device, &sent->packed);
    sf_free(sent);
}

namespace
{

typedef struct packing_job {
    const sf_spike *spikes;
    sf_packing packing;
} packing_job;

} // namespace

static bool pack_piece(void *context, void *piece, size_t begin, size_t length)
{
    const packing_job *job = (const packing_job *)context;
    return sf_spikes_pack((uint64_t *)piece, job->spikes + begin / sizeof(uint64_t),
                          length / sizeof(uint64_t), job->packing);
}

/* SF_DATA: they cannot be packed. */
static int upload(sf_backend_spikes *sent, const sf_spike *spikes, uint32_t unit_count, sf_error *error)
{
    size_t bytes = sent->count * sizeof(uint64_t);
    if (!sf_packing_find(&sent->packing, spikes, sent->count, unit_count))
        return sf_fail(error, SF_DATA, NULL, "the spikes last too long to be packed");
    packing_job job = {spikes, sent->packing};
    int status = sf_gpu_array_open(sent->device, &sent->packed, bytes, error);
    return status == SF_OK ? sf_gpu_upload_made(sent->device, sent->packed.data, bytes, SF_GPU_PIECE, 0,
                                                pack_piece, &job, error)
                           : status;
}

int sf_gpu_send_spikes(sf_backend_spikes **made, sf_backend_device *device, const sf_spike *spikes,
                       size_t count, uint64_t *unit_spikes, uint32_t unit_count, size_t *wrong,
                       sf_error *error)
{
    *made = NULL;
    *wrong = count;
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    sf_backend_spikes *sent = (sf_backend_spikes *)sf_alloc(1, sizeof *sent);
    if (sent == NULL) return sf_fail_memory(error);
    sent->device = device;
    sent->count = count;
    int status = upload(sent, spikes, unit_count, error);
    if (status == SF_DATA && (*wrong = sf_spikes_first_wrong(spikes, count, unit_count)) == count)
        status = sf_fail(error, SF_UNAVAILABLE, NULL, "the spikes last too long to be packed for the device");
    else if (status == SF_DATA)
        status = SF_OK; /* which nobody may lay out */
    else if (status == SF_OK && unit_spikes != NULL)
        status = count_on_device(sent, unit_spikes, unit_count, wrong, error);
    if (status == SF_OK)
        *made = sent;
    else
        sf_gpu_forget_spikes(sent);
    return status;
}

int sf_gpu_lay_out_sent(sf_backend_stream **made, sf_backend_spikes *sent, const sf_backend_layout *layout,
                        sf_error *error)
{
    *made = NULL;
    SF_GPU_TRY(cudaSetDevice(sent->device->ordinal));
    const sf_gpu_spikes spikes = {
        .packed = (const uint64_t *)sent->packed.data, .packing = sent->packing, .count = sent->count};
    return sf_gpu_lay_out(made, sent->device, &spikes, layout, error);
}
