/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth-first search on several devices by 1-D partition: each has the lists of as many vertices, and the
 * bitmap of all. A kernel runs on each for the whole search, and reaches the memory of the others.
 *
 * Bottom-up, a device looks for parents of its own vertices, and its warps write the words of the bitmap that
 * their ballots make to all devices as they come: an eighth of a byte a vertex crosses to each. Top-down, few
 * are found, anywhere: each device writes what it found, with the parents, into its outbox and the others
 * read that; the one that has the vertex keeps the first parent it hears of. So level, parent and list of a
 * vertex are in one place.
 *
 * After a level every device posts to all what it found, two words that are also the sign that its words of
 * the bitmap have come and its outbox may be read. That is two meetings of the devices top-down and one
 * bottom-up.
 */
#include "gpu/families.cuh"
#include "gpu/search/bottom_up.cuh"
#include "gpu/search/top_down.cuh"

#include <cuda/atomic>

#define MOST_HERE 8u   /* parts on one device */
#define MARK_SHIFT 48u /* of a post: the bits above say of which meeting it is */

namespace
{

typedef struct post {
    unsigned long long found, edges;
} post;

/* A part as the others see it. */
typedef struct peer {
    uint32_t *visited[2];
    const uint2 *outbox;
    post *posts;
} peer;

typedef struct part {
    state own;
    uint32_t index, count;
    const peer *peers; /* of all parts, this one too; on this device */
    post *posts;       /* two rows of SF_MOST_DEVICES: what each part has posted at even and odd meetings */
} part;

typedef struct parts_here {
    part part[MOST_HERE]; /* searched by blocks with this blockIdx.y */
} parts_here;

typedef struct shared_room {
    room own;
    uint32_t posted[SF_MOST_DEVICES]; /* at the last meeting: vertices found, or sent */
} shared_room;

/* Where a thread is in the order of meetings. */
typedef struct meetings {
    uint32_t round; /* of blocks */
    uint32_t mark;  /* of devices */
} meetings;

typedef cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> posted_word;

/* ---- meeting ---- */

/* By one thread, when all blocks of this part have come. */
__device__ void tell_all(const part *p, const tally *t, uint32_t mark, bool sent)
{
    unsigned long long found = __ldcg(sent ? &t->sent : &t->found), edges = __ldcg(&t->edges);
    unsigned long long sign = (unsigned long long)(mark & 0xffff) << MARK_SHIFT;
    __threadfence_system();
    for (uint32_t i = 0; i < p->count; i++) {
        post *to = p->peers[i].posts + mark % 2 * SF_MOST_DEVICES + p->index;
        posted_word(to->found).store(sign | found, cuda::memory_order_relaxed);
        posted_word(to->edges).store(sign | edges, cuda::memory_order_relaxed);
    }
}

__device__ unsigned long long wait_for(unsigned long long *word, uint32_t mark)
{
    posted_word posted(*word);
    unsigned long long value;
    do
        value = posted.load(cuda::memory_order_acquire);
    while (value >> MARK_SHIFT != (mark & 0xffff));
    return value & (((unsigned long long)1 << MARK_SHIFT) - 1);
}

/* By a warp: waits for the posts of all parts and leaves their sums in r->own.last. */
__device__ void hear_all(const part *p, shared_room *r, const tally *t, uint32_t mark)
{
    uint32_t lane = lane_of();
    unsigned long long found = 0, edges = 0;
    if (lane < p->count) {
        post *from = p->posts + mark % 2 * SF_MOST_DEVICES + lane;
        found = wait_for(&from->found, mark);
        edges = wait_for(&from->edges, mark);
        r->posted[lane] = (uint32_t)found;
    }
    __syncwarp();
    for (int distance = 16; distance > 0; distance /= 2) {
        found += __shfl_xor_sync(FULL, found, distance);
        edges += __shfl_xor_sync(FULL, edges, distance);
    }
    if (lane == 0) r->own.last = tally{edges, (uint32_t)found, __ldcg(&t->items), __ldcg(&t->large), 0};
}

/* As meet, with the blocks of all parts. With `sent`, what the outboxes hold is posted for what was found. */
__device__ void meet_all(const part *p, shared_room *r, meetings *m, tally *t, uint32_t found,
                         unsigned long long edges, bool sent)
{
    sum_of_block(&r->own, &found, &edges);
    m->mark++;
    m->round += gridDim.x;
    if (threadIdx.x == 0) {
        if (found > 0) atomicAdd(&t->found, found);
        if (edges > 0) atomicAdd(&t->edges, edges);
        __threadfence_system();
        if (atomicAdd(&p->own.meeting->parted, 1) == m->round - 1) tell_all(p, t, m->mark, sent);
    }
    if (threadIdx.x < WARP) {
        __syncwarp();
        hear_all(p, r, t, m->mark);
    }
    __syncthreads();
}

/* ---- what one found and the others must know ---- */

/* The outboxes of the others: their vertices become visited here too; those that are this part's get their
 * level and parent, and are queued. */
__device__ uint32_t read_outboxes(const part *p, const shared_room *r, tally *t, uint32_t *visited,
                                  uint32_t level, unsigned long long *edges)
{
    const state *s = &p->own;
    uint32_t found = 0, warps = gridDim.x * WARPS;
    for (uint32_t k = 1; k < p->count; k++) {
        uint32_t from = (p->index + k) % p->count, count = r->posted[from];
        const uint2 *outbox = p->peers[from].outbox;
        for (uint32_t base = warp_of() * WARP; base < count; base += warps * WARP) {
            uint32_t i = base + lane_of();
            uint2 one = i < count ? __ldcv(outbox + i) : make_uint2(0, 0);
            uint32_t seen = i < count ? __ldcg(visited + one.x / WARP) : FULL;
            bool mine = claim(visited, one.x, seen) && is_here<true>(s, one.x);
            if (mine) keep_other(s, local_of<true>(s, one.x), level, one.y);
            if (__any_sync(FULL, mine)) *edges += enqueue_one<true>(s, t, level, mine, one.x);
            found += mine;
        }
    }
    return found;
}

/* A word of the next bitmap, by the part that has its vertices, to all. The hubs in a word may be of several
 * parts: each has the rest of it from the level before, and adds the bits. */
__device__ void put_word(const part *p, uint32_t next, uint32_t word, uint32_t before, uint32_t bits)
{
    bool ours = word >= p->own.graph.hub_room / WARP;
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t *to = p->peers[i].visited[next] + word;
        if (ours)
            __stcg(to, before | bits);
        else if (i == p->index)
            atomicOr(to, before | bits);
        else if (bits != 0)
            atomicOr_system(to, bits);
    }
}

/* ---- the search ---- */

/* The level of the source. Its number of vertices counts where its lists are. */
__device__ void start(const state *s, uint32_t root)
{
    uint32_t thread = blockIdx.x * BLOCK + threadIdx.x;
    for (uint32_t i = thread; i < s->words; i += gridDim.x * BLOCK)
        s->visited[0][i] = i == root / WARP ? 1u << root % WARP : 0;
    if (thread >= WARP) return;
    if (thread < RING) s->tallies[thread] = tally{0, 0, 0, 0, 0};
    __threadfence();
    __syncwarp();
    bool mine = thread == 0 && root != SF_GPU_OUTSIDE && is_here<true>(s, root);
    uint32_t edges = enqueue_one<true>(s, s->tallies, 0, mine, root);
    if (thread == 0) s->summary->begin = now();
    if (!mine) return;
    s->tallies[0].edges = edges;
    s->tallies[0].found = 1;
    keep_other(s, local_of<true>(s, root), 0, __ldg(s->graph.original + root));
}

/* A level top-down, to the end: found and edges of all parts are in r->own.last. */
__device__ void go_down(const part *p, shared_room *r, meetings *m, tally *t, uint32_t *visited,
                        uint32_t level)
{
    unsigned long long edges = 0;
    uint32_t found =
        search_down<true>(&p->own, &r->own.last, t, visited, level, warp_of(), gridDim.x * WARPS, &edges);
    meet_all(p, r, m, t, found, edges, true);
    edges = 0;
    found = read_outboxes(p, r, t, visited, level, &edges);
    meet_all(p, r, m, t, found, edges, false);
}

__device__ void go_up(const part *p, shared_room *r, meetings *m, tally *t, uint32_t current, uint32_t level)
{
    uint32_t found = search_up(
        &p->own, &r->own, p->own.visited[current], level,
        [=](uint32_t word, uint32_t before, uint32_t bits) { put_word(p, current ^ 1, word, before, bits); });
    meet_all(p, r, m, t, found, 0, false);
}

/* Returns which bitmap holds what was visited. */
__device__ uint32_t search_levels(const part *p, shared_room *r, meetings *m, uint32_t root)
{
    const state *s = &p->own;
    uint32_t left = s->graph.with_edges - (root != SF_GPU_OUTSIDE), current = 0;
    bool up = false;
    for (uint32_t level = 1;; level++) {
        if (p->index == 0 && blockIdx.x == 0 && threadIdx.x == 0) record(s, &r->own.last, level - 1, up);
        if (left == 0 || root == SF_GPU_OUTSIDE) return current;
        bool was_up = up;
        up = choose_up(s, &r->own.last, up, left);
        tally *before = s->tallies + (level - 1) % RING, *t = s->tallies + level % RING;
        if (was_up && !up) {
            enqueue_difference<true>(s, before, level - 1, s->visited[current ^ 1], s->visited[current]);
            meet(s, &r->own, before, 0, 0, true);
        }
        if (blockIdx.x == 0 && threadIdx.x == 0) s->tallies[(level + 1) % RING] = tally{0, 0, 0, 0, 0};
        if (up) {
            go_up(p, r, m, t, current, level);
            current ^= 1;
        } else {
            go_down(p, r, m, t, s->visited[current], level);
        }
        left -= r->own.last.found;
        if (r->own.last.found == 0) return current;
    }
}

__global__ void __launch_bounds__(BLOCK, 1)
    search_parts(const __grid_constant__ parts_here here, uint32_t source)
{
    __shared__ shared_room r;
    const part *p = here.part + blockIdx.y;
    const state *s = &p->own;
    uint32_t root = __ldg(s->graph.inner + source);
    meetings m = {0, 0};
    enter(&r.own);
    start(s, root);
    for (uint32_t i = blockIdx.x * BLOCK + threadIdx.x; i < s->graph.hub_room / WARP; i += gridDim.x * BLOCK)
        s->visited[1][i] = 0; /* its bits are only ever added to */
    meet_all(p, &r, &m, s->tallies, 0, 0, false);
    uint32_t current = search_levels(p, &r, &m, root);
    write_out<true>(s, s->visited[current], source, blockIdx.x, gridDim.x, true);
    if (go_home(s))
        for (uint32_t i = 0; i < 2 * SF_MOST_DEVICES; i++)
            p->posts[i] = post{0, 0};
}

} // namespace

/* ---- a part ---- */

struct sf_backend_part {
    sf_backend_device *device;
    sf_gpu_enterprise_part *enterprise; /* or NULL: it is searched by this file's kernel */
    part view;
    sf_gpu_arrangement arrangement;
    sf_gpu_search_memory memory;
    sf_gpu_array offsets; /* of the out-lists of this part's vertices */
    sf_gpu_array levels, parents, log, summary, posts, peers;
    int blocks;      /* of its kernel, which parts on the same device share */
    bool acquainted; /* the peers are set, and may read its memory */
};

void sf_gpu_part_close(sf_backend_part *part)
{
    if (part == NULL) return;
    sf_backend_device *device = part->device;
    cudaSetDevice(device->ordinal);
    cudaStreamSynchronize(device->work);
    sf_gpu_enterprise_part_close(part->enterprise);
    sf_gpu_array *arrays[] = {&part->offsets, &part->levels, &part->parents, &part->log,
                              &part->summary, &part->posts,  &part->peers};
    for (sf_gpu_array *array : arrays)
        sf_gpu_array_close(device, array);
    sf_gpu_search_memory_close(&part->memory, device);
    sf_gpu_arrangement_close(device, &part->arrangement);
    sf_free(part);
}

static int open_arrays(sf_backend_part *part, const sf_backend_graph *graph, sf_error *error)
{
    sf_backend_device *device = part->device;
    uint32_t first = part->arrangement.view.first_vertex;
    size_t own = part->arrangement.view.last_vertex - first;
    struct {
        sf_gpu_array *array;
        size_t bytes;
    } wanted[] = {
        {&part->offsets, (own + 1) * sizeof(uint64_t)}, {&part->levels, own * sizeof(uint32_t)},
        {&part->parents, own * sizeof(uint32_t)},       {&part->log, SF_GPU_LOG * sizeof(sf_gpu_level)},
        {&part->summary, sizeof(sf_gpu_summary)},       {&part->posts, 2 * SF_MOST_DEVICES * sizeof(post)},
        {&part->peers, SF_MOST_DEVICES * sizeof(peer)}};
    for (auto &want : wanted) {
        int status = sf_gpu_array_open(device, want.array, want.bytes, error);
        if (status != SF_OK) return status;
    }
    SF_GPU_TRY(cudaMemsetAsync(part->posts.data, 0, part->posts.bytes, device->work));
    SF_GPU_TRY(cudaMemcpyAsync(part->offsets.data, graph->out.offsets + first, part->offsets.bytes,
                               cudaMemcpyDeviceToDevice, device->work));
    part->view.own.levels = (uint32_t *)part->levels.data;
    part->view.own.parents = (uint32_t *)part->parents.data;
    part->view.own.log = (sf_gpu_level *)part->log.data;
    part->view.own.summary = (sf_gpu_summary *)part->summary.data;
    part->view.posts = (post *)part->posts.data;
    part->view.peers = (const peer *)part->peers.data;
    return SF_OK;
}

/* Arranges the part for this file's kernel. */
static int prepare(sf_backend_part *part, const sf_backend_graph *graph, const sf_backend_cut *cut,
                   sf_bfs_direction direction, sf_error *error)
{
    int status = sf_gpu_arrange(&part->arrangement, graph, cut, part->view.index, error);
    if (status == SF_OK)
        status = sf_gpu_search_memory_open(&part->memory, &part->view.own, part->device, &part->arrangement,
                                           direction, true, error);
    return status == SF_OK ? open_arrays(part, graph, error) : status;
}

int sf_gpu_part_take(sf_backend_part **opened, const sf_backend_graph *graph, const sf_backend_cut *cut,
                     uint32_t index, const sf_backend_search_options *options, sf_error *error)
{
    *opened = NULL;
    SF_GPU_TRY(cudaSetDevice(graph->device->ordinal));
    sf_backend_part *part = (sf_backend_part *)sf_alloc(1, sizeof *part);
    if (part == NULL) return sf_fail_memory(error);
    part->device = graph->device;
    part->view.index = index;
    part->view.count = cut->count;
    int status = options->enterprise
                     ? sf_gpu_enterprise_part_open(&part->enterprise, graph, cut, index, options, error)
                     : prepare(part, graph, cut, options->direction, error);
    if (status == SF_OK)
        status = sf_gpu_check(cudaStreamSynchronize(part->device->work), "cudaStreamSynchronize", error);
    if (status == SF_OK)
        *opened = part;
    else
        sf_gpu_part_close(part);
    return status;
}

int sf_gpu_part_open(sf_backend_part **opened, sf_backend_device *device, const sf_backend_arrays *arrays,
                     const sf_backend_cut *cut, uint32_t index, const sf_backend_search_options *options,
                     sf_error *error)
{
    sf_backend_graph *graph;
    *opened = NULL;
    int status = sf_gpu_graph_open(&graph, device, arrays, cut->first[index], cut->first[index + 1], error);
    if (status == SF_OK) status = sf_gpu_part_take(opened, graph, cut, index, options, error);
    sf_gpu_graphs.close(graph);
    return status;
}

/* ---- several parts ---- */

/* Lets the device of `other` read this part's memory. */
static int open_memory(const sf_backend_part *part, const sf_backend_part *other, sf_error *error)
{
    bool joined = false;
    int status = sf_gpu_let_read(&joined, part->device, other->device, error);
    if (status == SF_OK && !joined)
        return sf_fail(error, SF_UNAVAILABLE, NULL,
                       "device %d cannot read the memory of device %d, as a search on both needs",
                       other->device->ordinal, part->device->ordinal);
    return status;
}

/* How many of the parts are on the device of this one. */
static uint32_t count_here(const sf_backend_part *part, sf_backend_part *const *parts, uint32_t count)
{
    uint32_t here = 0;
    for (uint32_t i = 0; i < count; i++)
        here += parts[i]->device == part->device;
    return here;
}

/* Once for each part: it learns where the others are. */
static int acquaint(sf_backend_part *part, sf_backend_part *const *parts, uint32_t count, sf_error *error)
{
    peer peers[SF_MOST_DEVICES];
    uint32_t here = count_here(part, parts, count);
    if (here > MOST_HERE)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%u parts are on one device, which takes %u", here,
                       MOST_HERE);
    SF_GPU_TRY(cudaSetDevice(part->device->ordinal));
    for (uint32_t i = 0; i < count; i++) {
        int status = open_memory(part, parts[i], error);
        if (status != SF_OK) return status;
        const state *s = &parts[i]->view.own;
        peers[i] = peer{{s->visited[0], s->visited[1]}, s->outbox, parts[i]->view.posts};
    }
    int status = sf_gpu_upload(part->device, part->peers.data, peers, count * sizeof *peers, error);
    if (status == SF_OK)
        status = sf_gpu_search_blocks(&part->blocks, part->device, &part->view.own,
                                      (const void *)search_parts, here, error);
    part->acquainted = status == SF_OK;
    return status;
}

/* The parts on the device of parts[at], if that is the first of them; else none. */
static uint32_t collect_here(parts_here *here, int *blocks, sf_backend_part *const *parts, uint32_t count,
                             uint32_t at)
{
    uint32_t many = 0;
    *blocks = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (parts[i]->device != parts[at]->device) continue;
        if (i < at) return 0;
        here->part[many++] = parts[i]->view;
        *blocks = parts[i]->blocks > *blocks ? parts[i]->blocks : *blocks;
    }
    return many;
}

/* One kernel for the parts on each device. Each waits for the others: they begin as soon after one another as
 * can be. */
static int launch(sf_backend_part *const *parts, uint32_t count, uint32_t source, sf_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        SF_GPU_TRY(cudaSetDevice(parts[i]->device->ordinal));
        SF_GPU_TRY(
            cudaMemsetAsync(parts[i]->summary.data, 0, parts[i]->summary.bytes, parts[i]->device->work));
        SF_GPU_TRY(cudaStreamSynchronize(parts[i]->device->work));
    }
    for (uint32_t i = 0; i < count; i++) {
        sf_backend_device *device = parts[i]->device;
        parts_here here;
        int blocks;
        uint32_t many = collect_here(&here, &blocks, parts, count, i);
        if (many == 0) continue;
        void *arguments[] = {&here, &source};
        SF_GPU_TRY(cudaSetDevice(device->ordinal));
        SF_GPU_TRY(cudaEventRecord(device->timed[0], device->work));
        SF_GPU_TRY(cudaLaunchCooperativeKernel((const void *)search_parts, dim3((unsigned)blocks, many),
                                               dim3(BLOCK), arguments, 0, device->work));
    }
    for (uint32_t i = 0; i < count; i++) {
        SF_GPU_TRY(cudaSetDevice(parts[i]->device->ordinal));
        SF_GPU_TRY(cudaEventRecord(parts[i]->device->timed[1], parts[i]->device->work));
    }
    return SF_OK;
}

/* What the part found is counted and read; the job's seconds become the longest of its devices'. */
static int read_part(sf_backend_part *part, sf_backend_bfs_job *job, sf_error *error)
{
    sf_backend_device *device = part->device;
    uint32_t first = part->view.own.graph.first_vertex, own = part->view.own.graph.last_vertex - first;
    sf_gpu_summary summary;
    float milliseconds = 0;
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    SF_GPU_TRY(cudaStreamSynchronize(device->work));
    SF_GPU_TRY(cudaEventElapsedTime(&milliseconds, device->timed[0], device->timed[1]));
    job->seconds = milliseconds / 1e3 > job->seconds ? milliseconds / 1e3 : job->seconds;
    sf_gpu_lists lists = {(const uint64_t *)part->offsets.data, NULL};
    int status = sf_gpu_sum_reached(device, part->view.own.summary, part->view.own.levels, lists, own, error);
    if (status == SF_OK)
        status = sf_gpu_download(device, &summary, part->summary.data, sizeof summary, error);
    if (status == SF_OK && job->levels != NULL)
        status = sf_gpu_download(device, job->levels + first, part->levels.data, part->levels.bytes, error);
    if (status == SF_OK && job->parents != NULL)
        status =
            sf_gpu_download(device, job->parents + first, part->parents.data, part->parents.bytes, error);
    if (status != SF_OK) return status;
    job->reached += summary.reached;
    job->edges += summary.edges;
    if (part->view.index != 0) return SF_OK;
    job->depth = summary.depth;
    return sf_gpu_read_log(device, &part->log, &summary, job, error);
}

static int run_enterprise(sf_backend_part *const *parts, uint32_t count, sf_backend_bfs_job *job,
                          sf_error *error)
{
    sf_gpu_enterprise_part *own[SF_MOST_DEVICES];
    for (uint32_t i = 0; i < count; i++)
        own[i] = parts[i]->enterprise;
    return sf_gpu_enterprise_run_parts(own, count, job, error);
}

int sf_gpu_run_parts(sf_backend_part *const *parts, uint32_t count, sf_backend_bfs_job *job, sf_error *error)
{
    bool enterprise = count > 0 && parts[0]->enterprise != NULL;
    int status = SF_OK;
    job->reached = job->edges = 0;
    job->seconds = 0;
    for (uint32_t i = 0; i < count && status == SF_OK; i++) {
        sf_backend_part *part = parts[i];
        if (part->view.index != i || part->view.count != count || enterprise != (part->enterprise != NULL))
            status = sf_fail(error, SF_INTERNAL, NULL, "part %u of %u is run as part %u of %u",
                             part->view.index, part->view.count, i, count);
        else if (!part->acquainted && !enterprise)
            status = acquaint(part, parts, count, error);
    }
    if (status == SF_OK && enterprise) return run_enterprise(parts, count, job, error);
    if (status == SF_OK) status = launch(parts, count, job->source, error);
    for (uint32_t i = 0; i < count && status == SF_OK; i++)
        status = read_part(parts[i], job, error);
    return status;
}
