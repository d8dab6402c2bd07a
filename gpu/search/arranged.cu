/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/keys.cuh"
#include "gpu/search/arranged.cuh"

#define WARP 32u
#define FULL 0xffffffffu
#define BLOCK 256
#define SORTED_AT_ONCE ((uint64_t)1 << 28) /* edges whose keys are sorted together: 4 GiB */
#define MOST_SORTS 4096

namespace
{

/* The ordinary vertices of part i, from first[i] on, have the number add[i] + the ordinary ones before. */
typedef struct numbering {
    uint32_t parts, first[SF_MOST_DEVICES], add[SF_MOST_DEVICES];
} numbering;

typedef struct arranging {
    sf_gpu_arrangement *to;
    const sf_backend_graph *graph;
    const sf_backend_cut *cut;
    uint32_t index; /* of the part */
    sf_backend_device *device;
    sf_gpu_array by_rank;       /* vertices by falling out-degree */
    sf_gpu_array rank;          /* by vertex */
    sf_gpu_array inner_by_rank; /* inner numbers by falling out-degree */
    sf_gpu_array work[2];
    sf_gpu_array keys[2];
    int rank_bits;
    int grid;
} arranging;

#define FOR_EACH(i, count)                                                                                   \
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < (count); i += gridDim.x * blockDim.x)

/* ---- numbering ---- */

/* How many of the sorted keys are of vertices with an out-edge. */
__global__ void count_with_edges(uint32_t *result, const uint32_t *keys, uint32_t count)
{
    *result = (uint32_t)sf_gpu_lower_bound(keys, count, FULL);
}

__global__ void invert(uint32_t *rank, const uint32_t *by_rank, uint32_t count)
{
    FOR_EACH(r, count)
    rank[by_rank[r]] = r;
}

__global__ void flag_ordinary(uint32_t *flags, const uint32_t *rank, sf_gpu_lists out, sf_gpu_lists in,
                              uint32_t count, uint32_t hubs)
{
    FOR_EACH(v, count + 1)
    flags[v] = v < count && rank[v] >= hubs && sf_gpu_degree(out, v) + sf_gpu_degree(in, v) > 0;
}

/* before[v]: ordinary vertices before v. */
__global__ void number(uint32_t *inner, uint32_t *inner_by_rank, uint32_t *original, sf_gpu_place *places,
                       const uint32_t *before, const uint32_t *rank, uint32_t count, uint32_t hubs,
                       numbering numbers)
{
    uint32_t lane = threadIdx.x % WARP, rounded = (count + WARP - 1) / WARP * WARP;
    FOR_EACH(v, rounded)
    { /* whole warps */
        bool there = v < count, ordinary = there && before[v + 1] > before[v];
        bool hub = there && rank[v] < hubs;
        uint32_t part = 0;
        while (part + 1 < numbers.parts && v >= numbers.first[part + 1])
            part++;
        uint32_t next = there ? numbers.add[part] + before[v] : 0;
        uint32_t own = hub ? rank[v] : ordinary ? next : SF_GPU_OUTSIDE;
        uint32_t ordinaries = __ballot_sync(FULL, ordinary), hub_bits = __ballot_sync(FULL, hub);
        if (lane == 0) places[v / WARP] = sf_gpu_place{ordinaries, hub_bits, next, 0};
        if (!there) continue;
        inner[v] = own;
        inner_by_rank[rank[v]] = own;
        if (own != SF_GPU_OUTSIDE) original[own] = v;
    }
}

int sort_vertices(arranging *a, uint32_t *with_edges, sf_error *error)
{
    sf_backend_device *device = a->device;
    uint32_t n = a->graph->vertex_count;
    size_t bytes = ((size_t)n + 1) * sizeof(uint32_t);
    sf_gpu_array sorted = {};
    int status = sf_gpu_sort_by_degree(device, &sorted, &a->by_rank, a->graph->out.offsets, n, error);
    sf_gpu_array *arrays[] = {&a->work[0], &a->work[1], &a->rank, &a->inner_by_rank};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && status == SF_OK; i++)
        status = sf_gpu_array_open(device, arrays[i], bytes, error);
    if (status == SF_OK) {
        uint32_t *result = (uint32_t *)a->work[0].data;
        count_with_edges<<<1, 1, 0, device->work>>>(result, (const uint32_t *)sorted.data, n);
        status = sf_gpu_check(cudaGetLastError(), "count_with_edges", error);
        if (status == SF_OK) status = sf_gpu_download(device, with_edges, result, sizeof *with_edges, error);
    }
    sf_gpu_array_close(device, &sorted);
    return status;
}

int open_numbers(arranging *a, sf_error *error)
{
    size_t n = a->graph->vertex_count;
    sf_gpu_arrangement *to = a->to;
    size_t original = to->view.inner_count * sizeof(uint32_t);
    int status = sf_gpu_array_open(a->device, &to->inner, n * sizeof(uint32_t), error);
    if (status == SF_OK) status = sf_gpu_array_open(a->device, &to->original, original, error);
    if (status == SF_OK)
        status =
            sf_gpu_array_open(a->device, &to->places, (n + WARP - 1) / WARP * sizeof(sf_gpu_place), error);
    if (status == SF_OK) SF_GPU_TRY(cudaMemsetAsync(to->original.data, 0xff, original, a->device->work));
    to->view.inner = (const uint32_t *)to->inner.data;
    to->view.original = (const uint32_t *)to->original.data;
    to->view.places = (const sf_gpu_place *)to->places.data;
    return status;
}

uint32_t with_room(uint32_t count)
{
    return (count + SF_GPU_ROOM - 1) / SF_GPU_ROOM * SF_GPU_ROOM;
}

/* Where the numbers of each part begin, from the ordinary vertices before each. */
int plan_numbers(arranging *a, numbering *numbers, const uint32_t *before, sf_error *error)
{
    const sf_backend_cut *cut = a->cut;
    sf_gpu_arranged *view = &a->to->view;
    uint32_t ends[SF_MOST_DEVICES + 1];
    for (uint32_t i = 0; i <= cut->count; i++) {
        int status = sf_gpu_download(a->device, &ends[i], before + cut->first[i], sizeof ends[i], error);
        if (status != SF_OK) return status;
    }
    uint32_t next = view->hub_room = with_room(view->hub_count);
    for (uint32_t i = 0; i < cut->count; i++) {
        uint32_t own = with_room(ends[i + 1] - ends[i]);
        numbers->first[i] = cut->first[i];
        numbers->add[i] = next - ends[i];
        if (i == a->index) {
            view->shift = next - view->hub_room;
            view->local_count = view->hub_room + own;
        }
        next += own;
    }
    numbers->parts = cut->count;
    view->inner_count = next;
    view->with_edges = view->hub_count + ends[cut->count];
    return SF_OK;
}

int number_vertices(arranging *a, sf_error *error)
{
    sf_backend_device *device = a->device;
    const sf_backend_graph *graph = a->graph;
    sf_gpu_arranged *view = &a->to->view;
    uint32_t n = graph->vertex_count, with_edges = 0;
    int status = sort_vertices(a, &with_edges, error);
    if (status != SF_OK) return status;
    view->hub_count = with_edges < SF_GPU_MOST_HUBS ? with_edges : SF_GPU_MOST_HUBS;
    uint32_t *flags = (uint32_t *)a->work[0].data, *before = (uint32_t *)a->work[1].data;
    uint32_t *rank = (uint32_t *)a->rank.data;
    invert<<<a->grid, BLOCK, 0, device->work>>>(rank, (const uint32_t *)a->by_rank.data, n);
    flag_ordinary<<<a->grid, BLOCK, 0, device->work>>>(flags, rank, graph->out, graph->in, n,
                                                       view->hub_count);
    SF_GPU_LAUNCHED();
    numbering numbers = {};
    status = sf_gpu_sum(device, before, flags, n + 1, error);
    if (status == SF_OK) status = plan_numbers(a, &numbers, before, error);
    if (status == SF_OK) status = open_numbers(a, error);
    if (status != SF_OK) return status;
    number<<<a->grid, BLOCK, 0, device->work>>>(
        (uint32_t *)a->to->inner.data, (uint32_t *)a->inner_by_rank.data, (uint32_t *)a->to->original.data,
        (sf_gpu_place *)a->to->places.data, before, rank, n, view->hub_count, numbers);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

/* ---- lists ---- */

__global__ void count_pieces(uint32_t *pieces, sf_gpu_arranged view, sf_gpu_lists lists)
{
    FOR_EACH(i, view.local_count + 1)
    {
        uint32_t v = i < view.local_count ? view.original[i < view.hub_room ? i : i + view.shift] : 0;
        bool here = i < view.local_count && v >= view.first_vertex && v < view.last_vertex;
        pieces[i] = here ? (uint32_t)((sf_gpu_degree(lists, v) + 3) / 4) : 0;
    }
}

/* Where the lists that hold edges 0, step, 2 step, ... of the part begin, as (row, edge): each sort takes
 * about `step` edges. */
__global__ void cut_rows(uint64_t *rows, uint64_t *edges, const uint64_t *offsets, uint32_t first,
                         uint32_t last, uint64_t step, uint32_t sorts)
{
    FOR_EACH(i, sorts + 1)
    {
        uint64_t least = offsets[first] + i * step;
        rows[i] =
            i < sorts ? first + sf_gpu_lower_bound(offsets + first, (uint64_t)(last - first), least) : last;
        edges[i] = offsets[rows[i]];
    }
}

/* One tile of edges a block: their rows lie between those of its first and last edge. */
__global__ void make_keys(uint64_t *keys, sf_gpu_lists lists, const uint32_t *rank, uint32_t first_row,
                          uint32_t rows, uint64_t first_edge, uint64_t edges, int rank_bits)
{
    __shared__ uint64_t ends[2];
    const uint64_t tile = 8 * BLOCK;
    for (uint64_t begin = blockIdx.x * tile; begin < edges; begin += gridDim.x * tile) {
        uint64_t end = begin + tile < edges ? begin + tile : edges;
        if (threadIdx.x < 2) /* the list that an edge is in ends after it */
            ends[threadIdx.x] = sf_gpu_lower_bound(lists.offsets + first_row + 1, (uint64_t)rows,
                                                   first_edge + (threadIdx.x == 0 ? begin : end - 1) + 1);
        __syncthreads();
        for (uint64_t i = begin + threadIdx.x; i < end; i += BLOCK) {
            uint64_t row = ends[0] + sf_gpu_lower_bound(lists.offsets + first_row + 1 + ends[0],
                                                        ends[1] - ends[0], first_edge + i + 1);
            keys[i] = row << rank_bits | rank[lists.targets[first_edge + i]];
        }
        __syncthreads();
    }
}

__global__ void place_targets(uint32_t *targets, uint32_t *greatest, const uint64_t *keys,
                              sf_gpu_arranged view, sf_gpu_lists lists, const uint32_t *starts,
                              const uint32_t *inner_by_rank, uint32_t first_row, uint64_t first_edge,
                              uint64_t edges, int rank_bits)
{
    uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < edges; i += threads) {
        uint32_t row = first_row + (uint32_t)(keys[i] >> rank_bits);
        uint32_t target = inner_by_rank[keys[i] & (((uint64_t)1 << rank_bits) - 1)];
        uint32_t v = view.inner[row];
        v -= v < view.hub_room ? 0 : view.shift;
        uint64_t begin = (uint64_t)starts[v] * 4, place = begin + (first_edge + i - lists.offsets[row]);
        targets[place] = target;
        if (greatest != NULL && place == begin)
            greatest[v] = target | (sf_gpu_degree(lists, row) == 1 ? SF_GPU_ONLY : 0);
        if (first_edge + i + 1 == lists.offsets[row + 1])
            while (++place % 4 != 0)
                targets[place] = target;
    }
}

__global__ void copy_heads(uint4 *heads, uint32_t *vertices, sf_gpu_arranged view)
{
    FOR_EACH(i, view.local_count)
    {
        uint32_t pieces = view.in.starts[i + 1] - view.in.starts[i];
        heads[i] = pieces > 0 ? view.in.targets[view.in.starts[i]] : make_uint4(0, 0, 0, 0);
        vertices[i] = pieces > 0 ? view.original[heads[i].x] : SF_GPU_ALONE;
        heads[i].w |= pieces > 1 ? SF_GPU_MORE : 0;
    }
}

} // namespace

/* Cuts the lists for sorting; the arrays hold MOST_SORTS + 1. */
static int cut_lists(arranging *a, sf_gpu_lists lists, uint32_t sorts, uint64_t *rows, uint64_t *edges,
                     sf_error *error)
{
    size_t bytes = (sorts + 1) * sizeof *rows;
    sf_gpu_array cuts[2] = {};
    int status = sf_gpu_array_open(a->device, &cuts[0], bytes, error);
    if (status == SF_OK) status = sf_gpu_array_open(a->device, &cuts[1], bytes, error);
    if (status == SF_OK) {
        cut_rows<<<1, BLOCK, 0, a->device->work>>>((uint64_t *)cuts[0].data, (uint64_t *)cuts[1].data,
                                                   lists.offsets, a->to->view.first_vertex,
                                                   a->to->view.last_vertex, SORTED_AT_ONCE, sorts);
        status = sf_gpu_check(cudaGetLastError(), "cut_rows", error);
    }
    if (status == SF_OK) status = sf_gpu_download(a->device, rows, cuts[0].data, bytes, error);
    if (status == SF_OK) status = sf_gpu_download(a->device, edges, cuts[1].data, bytes, error);
    for (sf_gpu_array &array : cuts)
        sf_gpu_array_close(a->device, &array);
    return status;
}

int sf_gpu_bits_for(uint64_t count)
{
    int bits = 1;
    while (bits < 64 && (count - 1) >> bits > 0)
        bits++;
    return bits;
}

static int sort_some(arranging *a, sf_gpu_lists lists, uint32_t *greatest, const sf_gpu_pieces *pieces,
                     const uint64_t rows[2], const uint64_t edges[2], sf_error *error)
{
    sf_backend_device *device = a->device;
    uint64_t count = edges[1] - edges[0];
    int row_bits = sf_gpu_bits_for(rows[1] - rows[0]);
    int status = SF_OK;
    for (int i = 0; i < 2 && status == SF_OK; i++)
        if (a->keys[i].bytes < count * sizeof(uint64_t))
            status = sf_gpu_array_open(device, &a->keys[i], count * sizeof(uint64_t), error);
    if (status != SF_OK || count == 0) return status;
    make_keys<<<a->grid, BLOCK, 0, device->work>>>(
        (uint64_t *)a->keys[0].data, lists, (const uint32_t *)a->rank.data, (uint32_t)rows[0],
        (uint32_t)(rows[1] - rows[0]), edges[0], count, a->rank_bits);
    SF_GPU_LAUNCHED();
    status = sf_gpu_sort_keys(device, a->keys, count, a->rank_bits + row_bits, error);
    if (status != SF_OK) return status;
    place_targets<<<a->grid, BLOCK, 0, device->work>>>(
        (uint32_t *)pieces->targets, greatest, (const uint64_t *)a->keys[0].data, a->to->view, lists,
        pieces->starts, (const uint32_t *)a->inner_by_rank.data, (uint32_t)rows[0], edges[0], count,
        a->rank_bits);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

/* How many edges the part has in these lists. */
static int count_edges(const arranging *a, sf_gpu_lists lists, uint64_t *count, sf_error *error)
{
    uint64_t begin = 0, end = 0;
    const sf_gpu_arranged *view = &a->to->view;
    int status = sf_gpu_download(a->device, &begin, lists.offsets + view->first_vertex, sizeof begin, error);
    if (status == SF_OK)
        status = sf_gpu_download(a->device, &end, lists.offsets + view->last_vertex, sizeof end, error);
    *count = end - begin;
    return status;
}

/* Room for the lists in pieces, and where each begins. */
static int open_pieces(arranging *a, sf_gpu_pieces *pieces, sf_gpu_array *starts, sf_gpu_array *targets,
                       sf_gpu_lists lists, sf_error *error)
{
    uint32_t count = a->to->view.local_count, total = 0;
    int status = sf_gpu_array_open(a->device, starts, ((size_t)count + 1) * sizeof(uint32_t), error);
    if (status != SF_OK) return status;
    uint32_t *sums = (uint32_t *)starts->data;
    count_pieces<<<a->grid, BLOCK, 0, a->device->work>>>(sums, a->to->view, lists);
    SF_GPU_LAUNCHED();
    status = sf_gpu_sum(a->device, sums, sums, count + 1, error);
    if (status == SF_OK) status = sf_gpu_download(a->device, &total, sums + count, sizeof total, error);
    if (status == SF_OK) status = sf_gpu_array_open(a->device, targets, (size_t)total * sizeof(uint4), error);
    *pieces = sf_gpu_pieces{sums, (const uint4 *)targets->data};
    return status;
}

/* The lists in pieces; `greatest` may be NULL. */
static int arrange_lists(arranging *a, sf_gpu_pieces *pieces, sf_gpu_array *starts, sf_gpu_array *targets,
                         sf_gpu_lists lists, uint32_t *greatest, sf_error *error)
{
    uint64_t rows[MOST_SORTS + 1], edges[MOST_SORTS + 1], count = 0;
    int status = count_edges(a, lists, &count, error);
    uint32_t sorts = (uint32_t)(count / SORTED_AT_ONCE) + 1;
    if (status == SF_OK && (sorts > MOST_SORTS || count / 4 + a->to->view.local_count > UINT32_MAX))
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%llu edges are more than the device can search",
                       (unsigned long long)count);
    if (status == SF_OK) status = open_pieces(a, pieces, starts, targets, lists, error);
    if (status == SF_OK) status = cut_lists(a, lists, sorts, rows, edges, error);
    for (uint32_t i = 0; i < sorts && status == SF_OK; i++)
        status = sort_some(a, lists, greatest, pieces, rows + i, edges + i, error);
    return status;
}

static int open_heads(arranging *a, sf_error *error)
{
    sf_gpu_arrangement *to = a->to;
    uint32_t count = to->view.local_count;
    int status = sf_gpu_array_open(a->device, &to->heads, count * sizeof(uint4), error);
    if (status == SF_OK)
        status = sf_gpu_array_open(a->device, &to->greatest_vertex, count * sizeof(uint32_t), error);
    if (status != SF_OK) return status;
    copy_heads<<<a->grid, BLOCK, 0, a->device->work>>>((uint4 *)to->heads.data,
                                                       (uint32_t *)to->greatest_vertex.data, to->view);
    SF_GPU_LAUNCHED();
    to->view.heads = (const uint4 *)to->heads.data;
    to->view.greatest_vertex = (const uint32_t *)to->greatest_vertex.data;
    return SF_OK;
}

static int arrange_both(arranging *a, sf_error *error)
{
    sf_gpu_arrangement *to = a->to;
    int status = number_vertices(a, error);
    if (status == SF_OK)
        status = sf_gpu_array_open(a->device, &to->greatest, to->view.local_count * sizeof(uint32_t), error);
    if (status != SF_OK) return status;
    uint32_t *greatest = (uint32_t *)to->greatest.data;
    SF_GPU_TRY(cudaMemsetAsync(greatest, 0xff, to->greatest.bytes, a->device->work)); /* SF_GPU_ALONE */
    to->view.greatest = greatest;
    status = arrange_lists(a, &to->view.in, &to->in_starts, &to->in_targets, a->graph->in, greatest, error);
    to->view.out = to->view.in;
    if (status == SF_OK) status = open_heads(a, error);
    if (status == SF_OK && a->graph->directed)
        status =
            arrange_lists(a, &to->view.out, &to->out_starts, &to->out_targets, a->graph->out, NULL, error);
    return status;
}

int sf_gpu_arrange(sf_gpu_arrangement *arrangement, const sf_backend_graph *graph, const sf_backend_cut *cut,
                   uint32_t index, sf_error *error)
{
    arranging a = {};
    a.to = arrangement;
    a.graph = graph;
    a.cut = cut;
    a.index = index;
    arrangement->view.first_vertex = cut->first[index];
    arrangement->view.last_vertex = cut->first[index + 1];
    a.device = graph->device;
    a.rank_bits = sf_gpu_bits_for(graph->vertex_count);
    a.grid = graph->device->properties.multiProcessorCount * 8;
    int status = arrange_both(&a, error);
    sf_gpu_array *arrays[] = {&a.by_rank, &a.rank,    &a.inner_by_rank, &a.work[0],
                              &a.work[1], &a.keys[0], &a.keys[1]};
    for (sf_gpu_array *array : arrays)
        sf_gpu_array_close(a.device, array);
    if (status != SF_OK) sf_gpu_arrangement_close(a.device, arrangement);
    return status;
}

void sf_gpu_arrangement_close(sf_backend_device *device, sf_gpu_arrangement *arrangement)
{
    sf_gpu_array *arrays[] = {&arrangement->original,   &arrangement->inner,
                              &arrangement->places,     &arrangement->greatest,
                              &arrangement->heads,      &arrangement->greatest_vertex,
                              &arrangement->in_starts,  &arrangement->in_targets,
                              &arrangement->out_starts, &arrangement->out_targets};
    for (sf_gpu_array *array : arrays)
        sf_gpu_array_close(device, array);
    *arrangement = sf_gpu_arrangement{};
}
