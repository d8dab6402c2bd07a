/* SPDX-License-Identifier: Apache-2.0 */
/* Breadth-first search of a graph in one kernel. */
#include "gpu/search/alone.cuh"
#include "gpu/search/last.cuh"

namespace
{

/* The level of the source, whose neighbours the next one takes from its list. */
__device__ void mark(const state *s, uint32_t *visited, uint32_t root)
{
    if (blockIdx.x != 0 || threadIdx.x != 0 || root == SF_GPU_OUTSIDE) return;
    atomicOr(visited + root / WARP, 1u << root % WARP);
    keep_other(s, root, 0, __ldg(s->graph.original + root));
}

/* The neighbours of the source; blocks need not have met. */
__device__ uint32_t search_first(const state *s, tally *t, uint32_t *visited, uint32_t root,
                                 unsigned long long *edges)
{
    uint32_t found = 0, step = gridDim.x * WARPS * PIECES_AN_ITEM;
    uint32_t first = __ldg(s->graph.out.starts + root), last = __ldg(s->graph.out.starts + root + 1);
    for (uint32_t piece = first + warp_of() * PIECES_AN_ITEM; piece < last; piece += step)
        found += look_along<false>(s, t, visited, 1, root, piece, last, edges);
    return found;
}

/* Bottom-up: returns what this thread found. */
__device__ uint32_t search_all_up(const state *s, room *r, uint32_t current, uint32_t level)
{
    uint32_t *next = s->visited[current ^ 1];
    uint32_t found =
        search_up(s, r, s->visited[current], level,
                  [=](uint32_t word, uint32_t before, uint32_t bits) { next[word] = before | bits; });
    if (threadIdx.x == 0) r->hub_visited = r->hubs[0] & 1;
    return found;
}

/* The bitmap whose turn it is lies clear, so that the first level waits for nobody; the other is written
 * whole by the first level bottom-up. Returns which one holds what was visited. */
__device__ uint32_t search_levels(const state *s, room *r, uint32_t root, progress *p)
{
    uint32_t current = __ldcg(&s->meeting->turn);
    bool up = s->direction == SF_BFS_BOTTOM_UP;
    p->component = __ldcg(&s->meeting->component);
    mark(s, s->visited[current], root);
    if (up) meet(s, r, s->tallies, 0, 0, false);
    for (uint32_t round = 1; root != SF_GPU_OUTSIDE; round++) { /* of a level, or of several by one block */
        bool was_up = up;
        uint32_t level = p->level + 1;
        if (level > 1) up = choose_up(s, &r->last, up, p->left);
        tally *before = s->tallies + (round - 1) % RING, *t = s->tallies + round % RING;
        if (was_up && !up) {
            enqueue_difference<false>(s, before, level - 1, s->visited[current ^ 1], s->visited[current]);
            meet(s, r, before, 0, 0, true);
        }
        if (blockIdx.x == 0 && threadIdx.x == 0) s->tallies[(round + 1) % RING] = tally{0, 0, 0, 0, 0};
        unsigned long long edges = 0;
        if (up) {
            meet(s, r, t, search_all_up(s, r, current, level), 0, false);
            current ^= 1;
        } else if (level == 1) {
            uint32_t found = search_first(s, t, s->visited[current], root, &edges);
            meet(s, r, t, found, edges, true);
        } else if (is_small(&r->last)) {
            search_alone(s, r, t, s->visited[current], p);
            if (is_over(s, r, &r->last, p)) break;
            continue;
        } else {
            uint32_t found = search_down<false>(s, &r->last, t, s->visited[current], level, warp_of(),
                                                gridDim.x * WARPS, &edges);
            meet(s, r, t, found, edges, true);
        }
        p->level = level;
        p->total += r->last.found;
        if (r->last.found > 0 && blockIdx.x == 0 && threadIdx.x == 0) record(s, &r->last, level, up);
        if (is_over(s, r, &r->last, p)) break;
    }
    return current;
}

/* From the source, or, without one, from hub 0, to learn how many it reaches. */
__global__ void __launch_bounds__(BLOCK, 1) search(const __grid_constant__ state all, uint32_t source)
{
    __shared__ room r;
    const state *s = &all;
    uint32_t root = source != NONE ? __ldg(s->graph.inner + source) : 0;
    progress p = {0, 1, 0, 0, false};
    enter(&r);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        s->summary->begin = now();
        record(s, &r.last, 0, false);
    }
    uint32_t current = search_levels(s, &r, root, &p), crew = p.few ? CREW : 0;
    if (blockIdx.x < crew) search_last(s, &r, current, p.level + 1, p.left);
    for (uint32_t i = blockIdx.x * BLOCK + threadIdx.x; crew == 0 && i < s->words; i += gridDim.x * BLOCK)
        s->visited[current ^ 1][i] = 0;
    if (s->levels != NULL && blockIdx.x >= crew)
        write_out<false>(s, s->visited[current], source, blockIdx.x - crew, gridDim.x - crew, crew == 0);
    __syncthreads(); /* a source without edges meets nobody: all of a block are to have read the turn by now
                      */
    if (!go_home(s)) return;
    s->meeting->turn = current ^ 1;
    if (source == NONE) s->meeting->component = p.total;
    for (uint32_t i = 0; i < RING; i++)
        s->tallies[i] = tally{0, 0, 0, 0, 0};
}

} // namespace

/* ---- memory ---- */

static uint32_t pieces_of(const sf_gpu_array *targets)
{
    return (uint32_t)(targets->bytes / sizeof(uint4));
}

static int open_arrays(sf_gpu_search_memory *m, sf_backend_device *device,
                       const sf_gpu_arrangement *arrangement, bool parted, sf_error *error)
{
    const sf_gpu_arranged *g = &arrangement->view;
    uint32_t pieces = pieces_of(arrangement->out_targets.data != NULL ? &arrangement->out_targets
                                                                      : &arrangement->in_targets);
    size_t bitmap = g->inner_count / WARP * sizeof(uint32_t), numbers = g->local_count * sizeof(uint32_t);
    size_t items = ((size_t)g->local_count + pieces / PIECES_AN_ITEM + 1) * sizeof(item);
    size_t large = ((size_t)pieces / (PIECES_AN_ITEM * MOST_ITEMS) + 1) * sizeof(item);
    struct {
        sf_gpu_array *array;
        size_t bytes;
    } wanted[] = {{&m->visited[0], bitmap},
                  {&m->visited[1], bitmap},
                  {&m->marks, g->local_count},
                  {&m->parent, numbers},
                  {&m->deep, numbers},
                  {&m->queue[0], items},
                  {&m->queue[1], items},
                  {&m->large[0], large},
                  {&m->large[1], large},
                  {&m->outbox, parted ? g->inner_count * sizeof(uint2) : 0},
                  {&m->tallies, RING * sizeof(tally)},
                  {&m->meeting, sizeof(sf_gpu_search_meeting)}};
    for (auto &want : wanted) {
        int status = sf_gpu_array_open(device, want.array, want.bytes, error);
        if (status != SF_OK) return status;
    }
    return SF_OK;
}

int sf_gpu_search_memory_open(sf_gpu_search_memory *m, state *s, sf_backend_device *device,
                              const sf_gpu_arrangement *arrangement, sf_bfs_direction direction, bool parted,
                              sf_error *error)
{
    int status = open_arrays(m, device, arrangement, parted, error);
    if (status != SF_OK) return status;
    for (sf_gpu_array *array : {&m->visited[0], &m->visited[1], &m->tallies, &m->meeting})
        SF_GPU_TRY(cudaMemsetAsync(array->data, 0, array->bytes, device->work));
    for (int i = 0; i < 2; i++) {
        s->visited[i] = (uint32_t *)m->visited[i].data;
        s->queue[i] = (item *)m->queue[i].data;
        s->large[i] = (item *)m->large[i].data;
    }
    s->graph = arrangement->view;
    s->words = s->graph.inner_count / WARP;
    s->direction = direction;
    s->marks = (uint8_t *)m->marks.data;
    s->parent = (uint32_t *)m->parent.data;
    s->deep = (uint32_t *)m->deep.data;
    s->outbox = (uint2 *)m->outbox.data;
    s->tallies = (tally *)m->tallies.data;
    s->meeting = (sf_gpu_search_meeting *)m->meeting.data;
    return SF_OK;
}

void sf_gpu_search_memory_close(sf_gpu_search_memory *m, sf_backend_device *device)
{
    sf_gpu_array *arrays[] = {&m->visited[0], &m->visited[1], &m->marks,    &m->parent,
                              &m->deep,       &m->queue[0],   &m->queue[1], &m->large[0],
                              &m->large[1],   &m->outbox,     &m->tallies,  &m->meeting};
    for (sf_gpu_array *array : arrays)
        sf_gpu_array_close(device, array);
}

int sf_gpu_search_blocks(int *blocks, sf_backend_device *device, const state *s, const void *kernel,
                         uint32_t sharing, sf_error *error)
{
    int each = 0;
    SF_GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, BLOCK, 0));
    uint32_t here = s->graph.local_count < s->graph.with_edges ? s->graph.local_count : s->graph.with_edges;
    int needed = (int)(here / (WARP * WARPS)) + 1;
    int most = each * device->properties.multiProcessorCount / (int)sharing;
    *blocks = needed < most ? needed : most;
    return SF_OK;
}

/* ---- searches ---- */

struct sf_gpu_persistent {
    sf_backend_device *device;
    sf_gpu_arrangement arrangement;
    sf_gpu_search_memory memory;
    state state;
    int blocks;
};

/* How many vertices the greatest hub reaches: a search without directions that had visited it before a level
 * bottom-up, and has found as many, is done and need not look for more. */
static int learn(sf_gpu_persistent *p, sf_error *error)
{
    sf_gpu_array log = {}, summary = {};
    int status = sf_gpu_array_open(p->device, &log, SF_GPU_LOG * sizeof(sf_gpu_level), error);
    if (status == SF_OK) status = sf_gpu_array_open(p->device, &summary, sizeof(sf_gpu_summary), error);
    if (status == SF_OK)
        status = sf_gpu_persistent_run(p, NONE, NULL, NULL, (sf_gpu_level *)log.data,
                                       (sf_gpu_summary *)summary.data, error);
    sf_gpu_array_close(p->device, &log);
    sf_gpu_array_close(p->device, &summary);
    return status;
}

int sf_gpu_persistent_open(sf_gpu_persistent **opened, const sf_backend_graph *graph,
                           sf_bfs_direction direction, sf_error *error)
{
    *opened = NULL;
    sf_gpu_persistent *p = (sf_gpu_persistent *)sf_alloc(1, sizeof *p);
    if (p == NULL) return sf_fail_memory(error);
    p->device = graph->device;
    sf_backend_cut whole = {1, {0, graph->vertex_count}};
    int status = sf_gpu_arrange(&p->arrangement, graph, &whole, 0, error);
    if (status == SF_OK)
        status = sf_gpu_search_memory_open(&p->memory, &p->state, p->device, &p->arrangement, direction,
                                           false, error);
    if (status == SF_OK)
        status = sf_gpu_search_blocks(&p->blocks, p->device, &p->state, (const void *)search, 1, error);
    if (status == SF_OK && !graph->directed && direction != SF_BFS_TOP_DOWN && p->state.graph.with_edges > 0)
        status = learn(p, error);
    if (status == SF_OK)
        *opened = p;
    else
        sf_gpu_persistent_close(p);
    return status;
}

void sf_gpu_persistent_close(sf_gpu_persistent *p)
{
    if (p == NULL) return;
    sf_gpu_search_memory_close(&p->memory, p->device);
    sf_gpu_arrangement_close(p->device, &p->arrangement);
    sf_free(p);
}

int sf_gpu_persistent_run(sf_gpu_persistent *p, uint32_t source, uint32_t *levels, uint32_t *parents,
                          sf_gpu_level *log, sf_gpu_summary *summary, sf_error *error)
{
    p->state.levels = levels;
    p->state.parents = parents;
    p->state.log = log;
    p->state.summary = summary;
    void *arguments[] = {&p->state, &source};
    SF_GPU_TRY(cudaLaunchCooperativeKernel((const void *)search, dim3((unsigned)p->blocks), dim3(BLOCK),
                                           arguments, 0, p->device->work));
    return SF_OK;
}
