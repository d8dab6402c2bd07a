/* SPDX-License-Identifier: Apache-2.0 */
/* Subgraph matching, engine auto: a job is copied to the device, searched (match_search.cu) and watched. */
#include "gpu/blocks.cuh"
#include "gpu/families.cuh"
#include "gpu/match/gvsm/gvsm.cuh"
#include "gpu/match/match.cuh"
#include "gpu/match/space.cuh"

extern "C" {
#include "core/clock.h"
#include "core/progress.h"
}

#include <math.h>
#include <time.h>

namespace
{

enum { MOST = SF_BACKEND_MATCH_MOST };

#define MOST_CANDIDATES (1u << 26) /* 32 lists of them are counted in 32 bits */

typedef sf_gpu_match_step step;
typedef sf_gpu_match_control control;
typedef sf_gpu_match_search search;

/* ---- copies ---- */

__global__ void narrow_offsets(uint32_t *narrow, const uint64_t *offsets, uint32_t count, uint32_t base)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        narrow[i] = base + (uint32_t)offsets[i];
}

/* How much a job's arrays hold together. */
struct extent {
    uint64_t candidates, offsets, values;
    uint32_t most_rows;
};

} // namespace

static int measure(extent *x, const sf_backend_match_job *job, sf_error *error)
{
    *x = {};
    for (uint32_t i = 0; i < job->set_count; i++) {
        x->candidates += job->set_sizes[i];
        if (job->set_sizes[i] > MOST_CANDIDATES)
            return sf_fail(error, SF_UNAVAILABLE, NULL,
                           "%u data vertices can stand for one of the pattern, a device takes up to %u",
                           job->set_sizes[i], MOST_CANDIDATES);
    }
    for (uint32_t i = 0; i < job->list_count && job->space == NULL; i++) {
        x->offsets += (uint64_t)job->lists[i].rows + 1;
        x->values += job->lists[i].offsets[job->lists[i].rows];
        x->most_rows = job->lists[i].rows > x->most_rows ? job->lists[i].rows : x->most_rows;
    }
    if (x->values > UINT32_MAX || x->offsets > UINT32_MAX || x->candidates > UINT32_MAX)
        return sf_fail(error, SF_UNAVAILABLE, NULL,
                       "the candidates have %llu pairs of neighbours, a device takes up to %u",
                       (unsigned long long)x->values, UINT32_MAX);
    return SF_OK;
}

/* Copies candidates and lists, and notes where those of each begin. */
static int upload_all(sf_backend_device *device, const sf_backend_match_job *job, const search *s,
                      uint64_t *raw, uint32_t *set_begin, uint32_t *list_begin, sf_error *error)
{
    uint32_t candidates = 0, offsets = 0, values = 0;
    int status = SF_OK, blocks = device->properties.multiProcessorCount * 8;
    for (uint32_t i = 0; i < job->set_count && status == SF_OK; i++) {
        set_begin[i] = candidates;
        status = sf_gpu_upload(device, (uint32_t *)s->candidates + candidates, job->sets[i],
                               job->set_sizes[i] * sizeof(uint32_t), error);
        candidates += job->set_sizes[i];
    }
    for (uint32_t i = 0; i < job->list_count && status == SF_OK; i++) {
        const sf_backend_match_lists *lists = &job->lists[i];
        list_begin[i] = offsets;
        status = sf_gpu_upload(device, raw, lists->offsets, ((size_t)lists->rows + 1) * sizeof *raw, error);
        if (status != SF_OK) return status;
        narrow_offsets<<<blocks, 256, 0, device->work>>>((uint32_t *)s->offsets + offsets, raw,
                                                         lists->rows + 1, values);
        SF_GPU_LAUNCHED();
        status = sf_gpu_upload(device, (uint32_t *)s->values + values, lists->values,
                               lists->offsets[lists->rows] * sizeof(uint32_t), error);
        offsets += lists->rows + 1;
        values += (uint32_t)lists->offsets[lists->rows];
    }
    return status;
}

static void set_steps(search *s, const sf_backend_match_job *job, const uint32_t *set_begin,
                      const uint32_t *list_begin)
{
    for (uint32_t i = 0; i < job->step_count; i++) {
        const sf_backend_match_step *from = &job->steps[i];
        step *to = &s->steps[i];
        uint32_t size = job->set_sizes[from->set];
        *to = {set_begin[from->set], size,           from->first,   from->count > 0 ? from->count : size,
               from->joined,         from->excluded, from->greater, from->different};
        for (uint32_t d = 0; d < i; d++)
            if (((from->joined | from->excluded) >> d & 1) != 0) to->lists[d] = list_begin[from->lists[d]];
    }
    for (uint32_t g = 0; g < job->group_count; g++) {
        const step *first = &s->steps[__builtin_ctz(job->groups[g].steps)];
        s->groups[g] = job->groups[g].steps;
        s->alike |= (uint32_t)job->groups[g].alike << g;
        s->has_classes |= !job->groups[g].alike || first->excluded != 0 || first->greater != 0 ||
                          (first->joined & (first->joined - 1)) != 0;
    }
}

/* Candidates and lists from the host. */
static int load_space(sf_gpu_blocks *m, search *s, const sf_backend_match_job *job, const extent &x,
                      uint32_t *set_begin, uint32_t *list_begin, sf_error *error)
{
    uint32_t *candidates, *offsets, *values;
    uint64_t *raw = NULL;
    int status = sf_gpu_blocks_add(m, &candidates, NULL, x.candidates, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(m, &offsets, NULL, x.offsets, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(m, &values, NULL, x.values, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(m, &raw, NULL, (size_t)x.most_rows + 1, error);
    if (status != SF_OK) return status;
    s->candidates = candidates;
    s->offsets = offsets;
    s->values = values;
    return upload_all(m->device, job, s, raw, set_begin, list_begin, error);
}

/* Those that the device has made. */
static void find_space(search *s, const sf_backend_match_job *job, uint32_t *set_begin, uint32_t *list_begin)
{
    const sf_backend_space *space = job->space;
    s->candidates = (const uint32_t *)space->candidates.data;
    s->offsets = (const uint32_t *)space->offsets.data;
    s->values = (const uint32_t *)space->values.data;
    for (uint32_t i = 0; i < job->set_count; i++)
        set_begin[i] = space->sieve.begins[job->set_first[i]];
    for (uint32_t i = 0; i < job->list_count; i++)
        list_begin[i] = space->link_rows[job->lists[i].made];
}

static int load_job(sf_gpu_blocks *m, search *s, const sf_backend_match_job *job, sf_error *error)
{
    extent x;
    uint32_t set_begin[MOST], list_begin[MOST * MOST];
    int status = measure(&x, job, error);
    if (status == SF_OK && job->space != NULL)
        find_space(s, job, set_begin, list_begin);
    else if (status == SF_OK)
        status = load_space(m, s, job, x, set_begin, list_begin, error);
    if (status == SF_OK && job->rows != NULL)
        status = sf_gpu_blocks_add(m, &s->rows, NULL, job->most * job->step_count, error);
    if (status != SF_OK) return status;
    s->most = job->most;
    s->core = job->core;
    s->step_count = job->step_count;
    s->group_count = job->group_count;
    set_steps(s, job, set_begin, list_begin);
    return SF_OK;
}

/* ---- the search ---- */

/* While the kernel runs, only the copy engine reaches it. On a busy device the zero that the search begins
 * with may not have arrived yet: this must come after it. */
static int tell_to_stop(sf_backend_device *device, control *shared, uint32_t *pinned, sf_error *error)
{
    cudaStream_t beside;
    *pinned = 1;
    SF_GPU_TRY(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking));
    cudaError_t result = cudaStreamWaitEvent(beside, device->timed[0], 0); /* right before the kernel */
    if (result == cudaSuccess)
        result = cudaMemcpyAsync(&shared->stop, pinned, sizeof *pinned, cudaMemcpyHostToDevice, beside);
    if (result == cudaSuccess) result = cudaStreamSynchronize(beside);
    cudaStreamDestroy(beside);
    return sf_gpu_check(result, "cudaMemcpyAsync(stop)", error);
}

/* Watches the clock and the caller until everything on the device's stream is done. */
static int wait_for(sf_backend_device *device, const sf_backend_match_job *job, control *shared,
                    uint32_t *pinned, bool *late, bool *cancelled, sf_error *error)
{
    const double short_wait = 2e-3;
    double start = sf_clock_seconds(), told = start;
    bool stopped = false;
    for (;;) {
        cudaError_t result = cudaStreamQuery(device->work);
        if (result != cudaErrorNotReady) return sf_gpu_check(result, "cudaStreamQuery", error);
        double now = sf_clock_seconds();
        *late |= job->watch.deadline > 0 && now > job->watch.deadline;
        if (now - told > short_wait) {
            *cancelled |= !sf_progress_update(job->watch.progress, "matching", 0, 1);
            told = now;
        }
        if ((*late || *cancelled) && !stopped) {
            stopped = true;
            int status = tell_to_stop(device, shared, pinned, error);
            if (status != SF_OK) return status;
        }
        struct timespec pause = {0, 100000};
        if (now - start > short_wait) nanosleep(&pause, NULL);
    }
}

static int launch(sf_gpu_blocks *m, search *s, uint32_t samples, sf_error *error)
{
    sf_gpu_match_shape shape;
    control begin = {};
    begin.queues[0].count[0] = s->steps[0].count;
    int status = sf_gpu_match_shape_of(&shape, m->device, s, error);
    for (int i = 0; i < 2 && status == SF_OK && samples == 0; i++)
        status = sf_gpu_blocks_add(m, &s->tasks[i], NULL, shape.task_words, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(m, &s->shared, &begin, 1, error);
    if (status == SF_OK && samples > 0) return sf_gpu_match_sample(m->device, s, samples, error);
    return status == SF_OK ? sf_gpu_match_start(m->device, &shape, s, error) : status;
}

static int run(sf_gpu_blocks *m, const sf_backend_match_job *job, sf_backend_match_answer *answer,
               sf_error *error)
{
    search s = {};
    bool late = false, cancelled = false;
    int status = load_job(m, &s, job, error);
    if (status == SF_OK) status = sf_gpu_landing(m->device, 2 * sizeof(control), error);
    if (status == SF_OK) status = launch(m, &s, job->samples, error);
    if (status != SF_OK) return status;
    control *end = (control *)m->device->landing;
    SF_GPU_TRY(cudaMemcpyAsync(end, s.shared, sizeof *end, cudaMemcpyDeviceToHost, m->device->work));
    status = wait_for(m->device, job, s.shared, (uint32_t *)(end + 1), &late, &cancelled, error);
    if (status == SF_OK && cancelled) status = sf_fail(error, SF_CANCELLED, NULL, "was stopped");
    if (status != SF_OK) return status;
    answer->count = end->overflow != 0 ? UINT64_MAX : end->found;
    answer->tried = job->samples > 0 ? (uint64_t)fmin(end->sampled, 1e19) : end->tried;
    float milliseconds = 0;
    SF_GPU_TRY(cudaEventElapsedTime(&milliseconds, m->device->timed[0], m->device->timed[1]));
    answer->seconds = milliseconds * 1e-3;
    answer->stopped = late || end->beyond != 0;
    answer->listed = job->rows == NULL ? 0 : end->listed < job->most ? end->listed : job->most;
    return sf_gpu_download(m->device, job->rows, s.rows, answer->listed * job->step_count * sizeof(uint32_t),
                           error);
}

static int match(sf_backend_device *device, const sf_backend_match_job *job, sf_backend_match_answer *answer,
                 sf_error *error)
{
    sf_gpu_blocks m = {device};
    *answer = {};
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    int status = run(&m, job, answer, error);
    sf_gpu_blocks_close(&m);
    return status;
}

const sf_backend_match sf_gpu_match = {
    .run = match,
    .data_open = sf_gpu_data_open,
    .data_close = sf_gpu_data_close,
    .space_open = sf_gpu_space_open,
    .space_close = sf_gpu_space_close,
    .space_link = sf_gpu_space_link,
    .space_read = sf_gpu_space_read,
    .twigs_open = sf_gpu_twigs_open,
    .twigs_close = sf_gpu_twigs_close,
    .twigs_expand = sf_gpu_twigs_expand,
    .twigs_collect = sf_gpu_twigs_collect,
    .twigs_descend = sf_gpu_twigs_descend,
};
