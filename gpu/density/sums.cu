/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over all pairs of samples. Pairs are cut into square tiles on and below the diagonal; the blocks that
 * fit on the device take them in turn, each adds up its own, and one warp adds up the blocks: a fixed order,
 * so the same job gives the same bits. What counts is double arithmetic, nearly all of it in the exponential:
 * 20 operations a pair for a functional, 19 a pair and bandwidth for scores.
 */
#include "gpu/density/power.cuh"
#include "gpu/device.cuh"
#include "gpu/families.cuh"

extern "C" {
#include "core/backend/density.h"
#include "core/progress.h"
}

#include <stdint.h>

namespace
{

enum {
    WARP = 32,
    ROWS = 128, /* of a functional's tile, one a thread */
    EDGE = 64,  /* of a score's tile: its distances fill 32 KB of shared memory */
    TOGETHER = 4,
    SUMS = 4, /* of a bandwidth */
    MOST_THREADS = 640
};

} // namespace

/* The program may stop the job between launches; this many exponentials take 20 ms on an H200. */
#define EXPONENTIALS_A_LAUNCH ((uint64_t)1 << 34)

struct sf_backend_samples {
    sf_backend_device *device;
    sf_gpu_array columns; /* double: d columns of n */
    uint32_t n, d;
};

/* ---- arithmetic ---- */

namespace
{

/* The tile of this number, counted row by row: row >= column. */
__device__ void find_tile(uint64_t tile, uint32_t *row, uint32_t *column)
{
    uint64_t r = (uint64_t)((sqrt(8.0 * (double)tile + 1) - 1) / 2);
    while (r * (r + 1) / 2 > tile)
        r--;
    while ((r + 1) * (r + 2) / 2 <= tile)
        r++;
    *row = (uint32_t)r;
    *column = (uint32_t)(tile - r * (r + 1) / 2);
}

/* Which tiles a launch takes, and where each block of it adds what it found. */
typedef struct span_of_tiles {
    uint64_t first, last;
    double *partial;
} span_of_tiles;

/* ---- functionals ---- */

typedef struct functional_view {
    const double *x;
    uint32_t n;
    double scale;          /* sqrt(log2(e) / 2) / g: exp(-u/2) = 2^-w^2 for w = scale (xi - xj) */
    double c0, c1, c2, c3; /* of powers of w^2 */
} functional_view;

__device__ __forceinline__ double functional_term(const functional_view *v, double w)
{
    double square = w * w;
    return fma(fma(fma(v->c3, square, v->c2), square, v->c1), square, v->c0) * power_of_two(-w, w);
}

/* The sum over the block, in thread 0. */
__device__ double add_up_block(double sum)
{
    __shared__ double of_warps[ROWS / WARP];
    for (int step = WARP / 2; step > 0; step /= 2)
        sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % WARP == 0) of_warps[threadIdx.x / WARP] = sum;
    __syncthreads();
    double total = 0;
    for (int w = 0; w < ROWS / WARP; w++)
        total += of_warps[w];
    return total;
}

__global__ void __launch_bounds__(ROWS) add_functional(functional_view v, span_of_tiles tiles)
{
    __shared__ double others[ROWS];
    double total = 0;
    for (uint64_t tile = tiles.first + blockIdx.x; tile < tiles.last; tile += gridDim.x) {
        uint32_t row, column;
        find_tile(tile, &row, &column);
        uint32_t i = row * ROWS + threadIdx.x, j = column * ROWS + threadIdx.x;
        __syncthreads(); /* the tile before has been read */
        others[threadIdx.x] = j < v.n ? v.scale * v.x[j] : 0;
        __syncthreads();
        uint32_t count = i >= v.n ? 0 : row == column ? threadIdx.x : ROWS;
        double own = i < v.n ? v.scale * v.x[i] : 0, sum = 0;
#pragma unroll 4
        for (uint32_t k = 0; k < count; k++)
            sum += functional_term(&v, own - others[k]);
        total += sum;
    }
    total = add_up_block(total);
    if (threadIdx.x == 0) tiles.partial[blockIdx.x] += total;
}

/* ---- scores ---- */

typedef struct score_view {
    const double *columns;
    uint32_t n, d;
    uint32_t count;        /* of bandwidths */
    const double *factors; /* -log2(e) / 4h^2 */
} score_view;

/*
 * |zi - zj|^2 for `rows` rows of the left samples and EDGE right ones. A thread takes one right sample and
 * TOGETHER left ones, which a warp reads at once, so that loads do not outweigh the arithmetic.
 */
__device__ void fill_square(double *distances, const score_view *v, const double *left, const double *right,
                            uint32_t rows)
{
    const uint32_t apart = EDGE / TOGETHER;
    for (uint32_t q = threadIdx.x; q < apart * EDGE; q += blockDim.x) {
        uint32_t first = q / EDGE, j = q % EDGE;
        double sums[TOGETHER] = {};
        for (uint32_t c = 0; c < v->d; c++) {
            const double *column = left + (size_t)c * v->n;
            double other = right[(size_t)c * v->n + j];
#pragma unroll
            for (uint32_t k = 0; k < TOGETHER; k++) {
                double step = column[min(first + k * apart, rows - 1)] - other;
                sums[k] = fma(step, step, sums[k]);
            }
        }
#pragma unroll
        for (uint32_t k = 0; k < TOGETHER; k++)
            if (first + k * apart < rows) distances[(first + k * apart) * EDGE + j] = sums[k];
    }
}

/* The same for the pairs i > j among `rows` samples. */
__device__ void fill_triangle(double *distances, const score_view *v, const double *samples, uint32_t rows)
{
    for (uint32_t p = threadIdx.x; p < rows * (rows - 1) / 2; p += blockDim.x) {
        uint32_t i = (uint32_t)((1 + sqrtf((float)(1 + 8 * p))) / 2); /* exact enough for 64 rows */
        uint32_t j = p - i * (i - 1) / 2;
        double sum = 0;
        for (uint32_t c = 0; c < v->d; c++) {
            double step = samples[(size_t)c * v->n + i] - samples[(size_t)c * v->n + j];
            sum = fma(step, step, sum);
        }
        distances[p] = sum;
    }
}

/* Fills in the distances of the tile's pairs and returns how many there are. */
__device__ uint32_t fill_tile(double *distances, const score_view *v, uint64_t tile)
{
    uint32_t row, column;
    find_tile(tile, &row, &column);
    uint32_t rows = min((uint32_t)EDGE, v->n - row * EDGE);
    const double *left = v->columns + (size_t)row * EDGE, *right = v->columns + (size_t)column * EDGE;
    if (row == column)
        fill_triangle(distances, v, left, rows);
    else
        fill_square(distances, v, left, right, rows);
    return row == column ? rows * (rows - 1) / 2 : rows * EDGE;
}

/* What a thread adds up in one launch, at most 2^34 terms over all threads: rounding stays under 1e-12. */
typedef struct score_sums {
    double e, square, e_moment, square_moment;
} score_sums;

__device__ __forceinline__ void add_distances(score_sums *sums, const double *distances, uint32_t count,
                                              double factor)
{
#pragma unroll 4
    for (uint32_t p = 0; p < count; p++) {
        double y = distances[p], e = power_of_two(factor, y), square = e * e;
        sums->e += e;
        sums->square += square;
        sums->e_moment = fma(e, y, sums->e_moment);
        sums->square_moment = fma(square, y, sums->square_moment);
    }
}

/*
 * A thread is one bandwidth and one slice of each tile's pairs: it keeps its four sums in registers, and a
 * distance is read by all bandwidths of a warp at once.
 */
__global__ void __launch_bounds__(MOST_THREADS) add_scores(score_view v, span_of_tiles tiles)
{
    __shared__ double shared[EDGE * EDGE]; /* distances; in the end the sums of slices */
    uint32_t bandwidth = threadIdx.x % v.count, slice = threadIdx.x / v.count, slices = blockDim.x / v.count;
    double factor = v.factors[bandwidth];
    score_sums sums = {};
    for (uint64_t tile = tiles.first + blockIdx.x; tile < tiles.last; tile += gridDim.x) {
        uint32_t pairs = fill_tile(shared, &v, tile);
        __syncthreads();
        uint32_t begin = pairs * slice / slices, end = pairs * (slice + 1) / slices;
        if (slice < slices) add_distances(&sums, shared + begin, end - begin, factor);
        __syncthreads();
    }
    double *own = shared + threadIdx.x * SUMS;
    own[0] = sums.e;
    own[1] = sums.square;
    own[2] = sums.e_moment;
    own[3] = sums.square_moment;
    __syncthreads();
    uint32_t width = v.count * SUMS; /* numbers of a slice */
    for (uint32_t k = threadIdx.x; k < width; k += blockDim.x) {
        double sum = 0;
        for (uint32_t s = 0; s < slices; s++)
            sum += shared[s * width + k];
        tiles.partial[(size_t)blockIdx.x * width + k] += sum;
    }
}

/* sums[blockIdx.x] = what the blocks of the launches before found for it. */
__global__ void __launch_bounds__(WARP) add_up_blocks(double *sums, const double *partial, uint32_t blocks)
{
    double sum = 0;
    for (uint32_t b = threadIdx.x; b < blocks; b += WARP)
        sum += partial[(size_t)b * gridDim.x + blockIdx.x];
    for (int step = WARP / 2; step > 0; step /= 2)
        sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/* ---- a job ---- */

/* Tiles of one kind added up over as many launches as they need. */
typedef struct pair_job {
    sf_backend_samples *samples;
    const sf_progress *progress;
    uint32_t edge, width; /* of a tile; numbers that a block adds up */
    uint32_t threads, blocks;
    uint64_t tiles, tiles_a_launch;
    double *partial, *sums; /* on the device: blocks * width, width */
} pair_job;

int open_job(pair_job *job, const void *kernel, size_t exponentials_a_pair, sf_error *error)
{
    sf_backend_device *device = job->samples->device;
    uint64_t edges = (job->samples->n + job->edge - 1) / job->edge;
    int fit = 0; /* blocks that run at once on a multiprocessor */
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    SF_GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, (int)job->threads, 0));
    job->tiles = edges * (edges + 1) / 2;
    job->tiles_a_launch = EXPONENTIALS_A_LAUNCH / ((uint64_t)job->edge * job->edge * exponentials_a_pair) + 1;
    uint64_t most = (uint64_t)device->properties.multiProcessorCount * (uint32_t)(fit > 0 ? fit : 1);
    job->blocks = (uint32_t)(job->tiles < most ? job->tiles : most);
    size_t bytes = ((size_t)job->blocks + 1) * job->width * sizeof(double);
    int status = sf_gpu_alloc(device, (void **)&job->partial, bytes, error);
    if (status != SF_OK) return status;
    job->sums = job->partial + (size_t)job->blocks * job->width;
    SF_GPU_TRY(cudaMemsetAsync(job->partial, 0, bytes, device->work));
    return SF_OK;
}

void close_job(pair_job *job)
{
    sf_gpu_free(job->samples->device, job->partial, ((size_t)job->blocks + 1) * job->width * sizeof(double));
}

int run_job(pair_job *job, int (*launch)(pair_job *job, span_of_tiles tiles, sf_error *error), double *sums,
            sf_error *error)
{
    sf_backend_device *device = job->samples->device;
    for (uint64_t first = 0; first < job->tiles; first += job->tiles_a_launch) {
        if (first > 0) {
            SF_GPU_TRY(cudaStreamSynchronize(device->work));
            if (!sf_progress_update(job->progress, "pair sums", (double)first, (double)job->tiles))
                return sf_fail(error, SF_CANCELLED, NULL, "stopped before the pair sums were complete");
        }
        uint64_t last = first + job->tiles_a_launch;
        int status =
            launch(job, (span_of_tiles){first, last < job->tiles ? last : job->tiles, job->partial}, error);
        if (status != SF_OK) return status;
    }
    add_up_blocks<<<job->width, WARP, 0, device->work>>>(job->sums, job->partial, job->blocks);
    SF_GPU_LAUNCHED();
    return sf_gpu_download(device, sums, job->sums, job->width * sizeof *sums, error);
}

/* ---- the operations ---- */

void close_samples(sf_backend_samples *samples)
{
    if (samples != NULL) sf_gpu_array_close(samples->device, &samples->columns);
    sf_free(samples);
}

int open_samples(sf_backend_samples **opened, sf_backend_device *device, const double *columns, size_t n,
                 size_t d, sf_error *error)
{
    *opened = NULL;
    if (n > INT32_MAX || d < 1 || d > SF_BACKEND_MOST_COLUMNS)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%zu samples of %zu columns are too many for the device",
                       n, d);
    sf_backend_samples *samples = (sf_backend_samples *)sf_alloc(1, sizeof *samples);
    if (samples == NULL) return sf_fail_memory(error);
    samples->device = device;
    samples->n = (uint32_t)n;
    samples->d = (uint32_t)d;
    int status = sf_gpu_check(cudaSetDevice(device->ordinal), "cudaSetDevice", error);
    if (status == SF_OK)
        status = sf_gpu_array_send(device, &samples->columns, columns, n * d * sizeof *columns, error);
    if (status == SF_OK)
        *opened = samples;
    else
        close_samples(samples);
    return status;
}

typedef struct functional_job {
    pair_job job; /* first: a launch finds the rest behind it */
    functional_view view;
} functional_job;

int launch_functional(pair_job *job, span_of_tiles tiles, sf_error *error)
{
    const functional_job *f = (const functional_job *)job;
    add_functional<<<job->blocks, job->threads, 0, job->samples->device->work>>>(f->view, tiles);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

int find_functional(sf_backend_samples *samples, const double c[4], double g, const sf_progress *progress,
                    double *sum, sf_error *error)
{
    const double u = 2 / LOG2_E; /* u is w^2 times this */
    functional_job f = {};
    f.job.samples = samples;
    f.job.progress = progress;
    f.job.edge = f.job.threads = ROWS;
    f.job.width = 1;
    f.view = (functional_view){(const double *)samples->columns.data,
                               samples->n,
                               sqrt(LOG2_E / 2) / g,
                               c[0],
                               c[1] * u,
                               c[2] * u * u,
                               c[3] * u * u * u};
    int status = open_job(&f.job, (const void *)add_functional, 1, error);
    if (status == SF_OK) status = run_job(&f.job, launch_functional, sum, error);
    close_job(&f.job);
    return status;
}

typedef struct score_job {
    pair_job job; /* first, as above */
    score_view view;
    sf_gpu_array factors; /* double */
} score_job;

} // namespace

static int launch_scores(pair_job *job, span_of_tiles tiles, sf_error *error)
{
    const score_job *s = (const score_job *)job;
    add_scores<<<job->blocks, job->threads, 0, job->samples->device->work>>>(s->view, tiles);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

/* Whole warps of which the fewest threads are left without a bandwidth. */
static uint32_t choose_threads(uint32_t count)
{
    uint32_t best = MOST_THREADS;
    for (uint32_t threads = MOST_THREADS; threads >= MOST_THREADS / 4 && threads >= count; threads -= WARP)
        if ((uint64_t)(threads % count) * best < (uint64_t)(best % count) * threads) best = threads;
    return best;
}

static int find_scores(sf_backend_samples *samples, const double *h, size_t count,
                       const sf_progress *progress, double *sums, sf_error *error)
{
    if (count < 1 || count > SF_BACKEND_MOST_BANDWIDTHS)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "found %zu bandwidths, the device takes 1 to %d at once",
                       count, SF_BACKEND_MOST_BANDWIDTHS);
    double factors[SF_BACKEND_MOST_BANDWIDTHS];
    for (size_t m = 0; m < count; m++)
        factors[m] = -LOG2_E / (4 * h[m] * h[m]);
    score_job s = {};
    s.job.samples = samples;
    s.job.progress = progress;
    s.job.edge = EDGE;
    s.job.width = (uint32_t)count * SUMS;
    s.job.threads = choose_threads((uint32_t)count);
    int status = open_job(&s.job, (const void *)add_scores, count, error);
    if (status == SF_OK)
        status = sf_gpu_array_send(samples->device, &s.factors, factors, count * sizeof *factors, error);
    s.view = (score_view){(const double *)samples->columns.data, samples->n, samples->d, (uint32_t)count,
                          (const double *)s.factors.data};
    if (status == SF_OK) status = run_job(&s.job, launch_scores, sums, error);
    sf_gpu_array_close(samples->device, &s.factors);
    close_job(&s.job);
    return status;
}

const sf_backend_density sf_gpu_density = {
    .open = open_samples,
    .close = close_samples,
    .functional = find_functional,
    .scores = find_scores,
};
