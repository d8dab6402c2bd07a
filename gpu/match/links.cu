/* SPDX-License-Identifier: Apache-2.0 */
/* Candidate spaces on a device: the candidates next to candidates.
 *
 * The rows of all links that are made at once, a row for each candidate of the vertex that a link leads from,
 * are one long sequence of slots, a slot for each neighbour with the label wanted. Slots are tested 32 to a
 * word of bits, so that hubs cost no more than their neighbours; the sums of the bits say where each row
 * begins, and how much room is needed. Then the places of those that passed are written in their order. */
#include "gpu/keys.cuh"
#include "gpu/match/space.cuh"

namespace
{

enum { LANES = 32, THREADS = 256, PER_SM = 8 };

#define ALL_LANES 0xffffffffu

typedef sf_gpu_sieve sieve;

/* A link, on the device. */
struct link {
    uint32_t from, to, label;
    bool excluded, along, plain, out, in, no_out, no_in;
    uint32_t first_edge, edge_count;
};

struct linking {
    sieve s;
    const uint32_t *candidates, *edge_labels;
    const link *links;
    const sf_backend_link_edge *edges;
    const uint32_t *link_rows; /* count + 1: of each link its first row */
    uint32_t count, rows, slots, words;
    bool directed;
    uint32_t *begins; /* rows + 1: of each row its first slot */
    unsigned long long *total;
    uint32_t *bits, *sums, *owners; /* of words: sums are of the bits before; owners rows of first slots */
};

struct row {
    const link *l;
    uint32_t v; /* the candidate */
};

__device__ row row_at(const linking &j, uint32_t r)
{
    uint32_t k = sf_gpu_first_from(0u, j.count, r + 1, [&](uint32_t i) { return j.link_rows[i + 1]; });
    const link *l = &j.links[k];
    return {l, j.candidates[j.s.begins[l->from] + r - j.link_rows[k]]};
}

/* ---- slots ---- */

/* The neighbours that a row has slots for: of what is excluded, in both directions. */
struct around {
    sf_gpu_near a, b;
};

__device__ around around_of(const linking &j, const row &r)
{
    const link &l = *r.l;
    bool out = l.excluded || l.along;
    around n = {sf_gpu_near_of(out ? j.s.out : j.s.in, r.v, l.label), {}};
    if (l.excluded && j.directed) n.b = sf_gpu_near_of(j.s.in, r.v, l.label);
    return n;
}

/* Neighbour i of both lists as if they were merged, and whether the one before is the same. */
__device__ uint32_t neighbour_at(const around &n, uint32_t i, bool *is_repeated)
{
    const uint32_t *a = n.a.targets + n.a.begin, *b = n.b.targets + n.b.begin;
    uint32_t as = (uint32_t)(n.a.end - n.a.begin), bs = (uint32_t)(n.b.end - n.b.begin);
    if (bs == 0) {
        *is_repeated = i > 0 && a[i] == a[i - 1];
        return a[i];
    }
    /* So many of the first i are from a: the least x for which a[x] is not among them. */
    uint32_t x = sf_gpu_first_from(i > bs ? i - bs : 0, min(i, as), 1u,
                                   [&](uint32_t k) { return (uint32_t)(a[k] > b[i - 1 - k]); });
    uint32_t y = i - x;
    bool takes_a = y == bs || (x < as && a[x] <= b[y]);
    uint32_t v = takes_a ? a[x] : b[y];
    *is_repeated = (x > 0 && a[x - 1] == v) || (y > 0 && b[y - 1] == v);
    return v;
}

/* ---- what must hold of two data vertices ---- */

/* The first edge from v to x, or where it would be. */
__device__ uint64_t first_edge(const sf_gpu_neighbours_of &n, uint32_t v, uint32_t x)
{
    return sf_gpu_first_from(n.offsets[v] - n.base, n.offsets[v + 1] - n.base, x,
                             [&](uint64_t e) { return n.targets[e]; });
}

__device__ bool has_edge(const sf_gpu_neighbours_of &n, uint32_t v, uint32_t x)
{
    uint64_t e = first_edge(n, v, x);
    return e < n.offsets[v + 1] - n.base && n.targets[e] == x;
}

__device__ bool has_such_edge(const linking &j, uint32_t label, uint32_t v, uint32_t x)
{
    const sf_gpu_neighbours_of &n = j.s.out;
    uint64_t end = n.offsets[v + 1] - n.base;
    for (uint64_t e = first_edge(n, v, x); e < end && n.targets[e] == x; e++)
        if (label == UINT32_MAX || j.edge_labels[e] == label) return true;
    return false;
}

__device__ bool fits(const linking &j, const link &l, uint32_t v, uint32_t x)
{
    if (((l.out || l.no_out) && has_edge(j.s.out, v, x) != l.out) ||
        ((l.in || l.no_in) && has_edge(j.s.out, x, v) != l.in))
        return false;
    for (uint32_t i = l.first_edge; i < l.first_edge + l.edge_count; i++) {
        const sf_backend_link_edge edge = j.edges[i];
        if (has_such_edge(j, edge.label, edge.out ? v : x, edge.out ? x : v) == edge.absent) return false;
    }
    return true;
}

/* ---- the steps ---- */

__global__ void count_slots(const __grid_constant__ linking j)
{
    unsigned long long own = 0;
    for (uint64_t r = blockIdx.x * blockDim.x + threadIdx.x; r < j.rows; r += gridDim.x * blockDim.x) {
        around n = around_of(j, row_at(j, (uint32_t)r));
        uint64_t slots = n.a.end - n.a.begin + (n.b.end - n.b.begin);
        j.begins[r] = (uint32_t)slots; /* where that does not do, nothing is made of it */
        own += slots;
    }
    for (unsigned k = LANES / 2; k > 0; k /= 2)
        own += __shfl_down_sync(ALL_LANES, own, k);
    if (threadIdx.x % LANES == 0 && own > 0) atomicAdd(j.total, own);
}

/* The row of a slot, from row `low` on. */
__device__ uint32_t owner_of(const linking &j, uint32_t low, uint32_t slot)
{
    uint32_t near = min(low + LANES, j.rows), high = j.begins[near] > slot ? near : j.rows;
    return sf_gpu_first_from(low, high, slot + 1, [&](uint32_t i) { return j.begins[i]; }) - 1;
}

struct slot {
    row r;
    uint32_t x; /* the neighbour */
    bool is_repeated;
};

__device__ slot slot_at(const linking &j, uint32_t low, uint32_t at)
{
    slot t = {};
    uint32_t owner = owner_of(j, low, at);
    t.r = row_at(j, owner);
    t.x = neighbour_at(around_of(j, t.r), at - j.begins[owner], &t.is_repeated);
    return t;
}

__device__ bool keeps(const linking &j, const slot &t)
{
    const link &l = *t.r.l;
    if (t.is_repeated || !sf_gpu_is_in(j.s.bits + (size_t)l.to * j.s.words, t.x)) return false;
    return l.excluded ? !fits(j, l, t.r.v, t.x) : l.plain || fits(j, l, t.r.v, t.x);
}

__global__ void __launch_bounds__(THREADS) test_slots(const __grid_constant__ linking j)
{
    uint32_t lane = threadIdx.x % LANES, stride = gridDim.x * (THREADS / LANES);
    for (uint32_t w = (blockIdx.x * THREADS + threadIdx.x) / LANES; w < j.words; w += stride) {
        uint32_t first = w * LANES;
        uint32_t low = sf_gpu_first_from(0u, j.rows, first + 1, [&](uint32_t i) { return j.begins[i]; }) - 1;
        bool stays = first + lane < j.slots && keeps(j, slot_at(j, low, first + lane));
        uint32_t bits = __ballot_sync(ALL_LANES, stays);
        if (lane == 0) {
            j.bits[w] = bits;
            j.sums[w] = __popc(bits);
            j.owners[w] = low;
        }
    }
}

/* How many bits are before the first slot of a row. */
__device__ uint32_t bits_before_row(const linking &j, uint32_t r)
{
    uint32_t begin = j.begins[r];
    return j.sums[begin / LANES] + sf_gpu_bits_before(j.bits[begin / LANES], begin % LANES);
}

__global__ void find_ends(const __grid_constant__ linking j, uint32_t *ends)
{
    for (uint32_t i = threadIdx.x; i <= j.count; i += blockDim.x)
        ends[i] = bits_before_row(j, j.link_rows[i]);
}

__global__ void write_offsets(const __grid_constant__ linking j, uint32_t *offsets, uint32_t base)
{
    for (uint64_t r = blockIdx.x * blockDim.x + threadIdx.x; r <= j.rows; r += gridDim.x * blockDim.x)
        offsets[r] = base + bits_before_row(j, (uint32_t)r);
}

__global__ void __launch_bounds__(THREADS) write_places(const __grid_constant__ linking j, uint32_t *values)
{
    uint32_t lane = threadIdx.x % LANES, stride = gridDim.x * (THREADS / LANES);
    for (uint32_t w = (blockIdx.x * THREADS + threadIdx.x) / LANES; w < j.words; w += stride) {
        uint32_t bits = j.bits[w];
        if ((bits >> lane & 1) == 0) continue;
        slot t = slot_at(j, j.owners[w], w * LANES + lane);
        uint32_t to = t.r.l->to;
        size_t word = (size_t)to * j.s.words + t.x / LANES;
        values[j.sums[w] + sf_gpu_bits_before(bits, lane)] =
            j.s.ranks[word] + sf_gpu_bits_before(j.s.bits[word], t.x % LANES) - j.s.begins[to];
    }
}

} // namespace

/* ---- links ---- */

namespace
{

/* What the host knows of links while they are made. */
struct maker {
    sf_backend_space *space;
    sf_gpu_blocks blocks;
    linking j;
    link links[SF_GPU_MOST_LINKS];
    uint32_t rows[SF_GPU_MOST_LINKS + 1], ends[SF_GPU_MOST_LINKS + 1];
};

} // namespace

/* Room for `more` items after `kept`, which stay. */
static int append(sf_backend_device *device, sf_gpu_array *array, uint64_t kept, uint64_t more,
                  sf_error *error)
{
    sf_gpu_array longer = {};
    int status = sf_gpu_array_open(device, &longer, (kept + more) * sizeof(uint32_t), error);
    if (status == SF_OK && kept > 0)
        status = sf_gpu_check(cudaMemcpyAsync(longer.data, array->data, kept * sizeof(uint32_t),
                                              cudaMemcpyDeviceToDevice, device->work),
                              "cudaMemcpyAsync", error);
    sf_gpu_array_close(device, status == SF_OK ? array : &longer);
    if (status == SF_OK) *array = longer;
    return status;
}

/* The links, and in which rows each is. */
static int load_links(maker *m, const sf_backend_link *links, uint32_t count, sf_error *error)
{
    sf_backend_space *p = m->space;
    linking *j = &m->j;
    uint32_t edges = 0;
    bool plain = true;
    uint64_t rows = 0;
    for (uint32_t i = 0; i < count; i++) {
        const sf_backend_link *l = &links[i];
        m->links[i] = {l->from,     l->to,    p->sieve.vertices[l->to].label,
                       l->excluded, l->along, l->plain,
                       l->out,      l->in,    l->no_out,
                       l->no_in,    edges,    l->edge_count};
        m->rows[i] = (uint32_t)rows;
        rows += p->sieve.begins[l->from + 1] - p->sieve.begins[l->from];
        edges += l->edge_count;
        plain &= l->plain && !l->excluded;
    }
    m->rows[count] = j->rows = (uint32_t)rows;
    j->count = count;
    if (rows + p->link_rows[p->link_count] >= UINT32_MAX - LANES)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "there are too many candidates for a device to link");
    int status = plain ? SF_OK : sf_gpu_need_targets(p->data, error);
    if (status == SF_OK && edges > 0) status = sf_gpu_need_edge_labels(p->data, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(&m->blocks, (link **)&j->links, m->links, count, error);
    if (status == SF_OK)
        status = sf_gpu_blocks_add(&m->blocks, (uint32_t **)&j->link_rows, m->rows, (size_t)count + 1, error);
    if (status == SF_OK)
        status = sf_gpu_blocks_add(&m->blocks, (sf_backend_link_edge **)&j->edges, NULL, edges, error);
    for (uint32_t i = 0; i < count && status == SF_OK; i++)
        if (links[i].edge_count > 0)
            status = sf_gpu_upload(p->data->device, (void *)(j->edges + m->links[i].first_edge),
                                   links[i].edges, links[i].edge_count * sizeof *links[i].edges, error);
    j->s = p->sieve;
    j->s.out = p->data->out;
    j->s.in = p->data->in;
    j->candidates = (const uint32_t *)p->candidates.data;
    j->edge_labels = p->data->edge_labels;
    j->directed = p->data->job.directed;
    return status;
}

/* Slots of every row, and their sums. */
static int lay_out(maker *m, sf_error *error)
{
    linking *j = &m->j;
    sf_backend_device *device = m->blocks.device;
    unsigned long long total = 0;
    int status = sf_gpu_blocks_add(&m->blocks, &j->begins, NULL, (size_t)j->rows + 1, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(&m->blocks, &j->total, &total, 1, error);
    if (status != SF_OK) return status;
    SF_GPU_TRY(cudaMemsetAsync(j->begins + j->rows, 0, sizeof *j->begins, device->work));
    count_slots<<<device->properties.multiProcessorCount * PER_SM, THREADS, 0, device->work>>>(*j);
    SF_GPU_LAUNCHED();
    status = sf_gpu_sum(device, j->begins, j->begins, j->rows + 1, error);
    if (status == SF_OK) status = sf_gpu_download(device, &total, j->total, sizeof total, error);
    if (status == SF_OK && total > UINT32_MAX - LANES)
        status = sf_fail(error, SF_UNAVAILABLE, NULL,
                         "the candidates have %llu neighbours, a device takes up to %u", total,
                         UINT32_MAX - LANES);
    j->slots = (uint32_t)total;
    j->words = (j->slots + LANES - 1) / LANES;
    return status;
}

static int test(maker *m, sf_error *error)
{
    linking *j = &m->j;
    sf_backend_device *device = m->blocks.device;
    uint32_t *ends;
    size_t words = (size_t)j->words + 1;
    int status = sf_gpu_blocks_add(&m->blocks, &j->bits, NULL, words, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(&m->blocks, &j->sums, NULL, words, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(&m->blocks, &j->owners, NULL, words, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(&m->blocks, &ends, NULL, (size_t)j->count + 1, error);
    if (status != SF_OK) return status;
    SF_GPU_TRY(cudaMemsetAsync(j->bits + j->words, 0, sizeof *j->bits, device->work));
    SF_GPU_TRY(cudaMemsetAsync(j->sums + j->words, 0, sizeof *j->sums, device->work));
    test_slots<<<device->properties.multiProcessorCount * PER_SM, THREADS, 0, device->work>>>(*j);
    SF_GPU_LAUNCHED();
    status = sf_gpu_sum(device, j->sums, j->sums, j->words + 1, error);
    if (status != SF_OK) return status;
    find_ends<<<1, THREADS, 0, device->work>>>(*j, ends);
    SF_GPU_LAUNCHED();
    return sf_gpu_download(device, m->ends, ends, ((size_t)j->count + 1) * sizeof *ends, error);
}

/* After what was linked before. */
static int write(maker *m, sf_error *error)
{
    sf_backend_space *p = m->space;
    linking *j = &m->j;
    sf_backend_device *device = m->blocks.device;
    uint32_t rows = p->link_rows[p->link_count], more = m->ends[j->count];
    uint32_t blocks = (uint32_t)device->properties.multiProcessorCount * PER_SM;
    if (p->value_count + more > UINT32_MAX)
        return sf_fail(error, SF_UNAVAILABLE, NULL,
                       "the candidates have %llu pairs of neighbours, a device takes up to %u",
                       (unsigned long long)p->value_count + more, UINT32_MAX);
    int status = append(device, &p->values, p->value_count, more, error);
    if (status == SF_OK) /* last, since it leaves the end of the last row to be written again */
        status = append(device, &p->offsets, rows, (uint64_t)j->rows + 1, error);
    if (status != SF_OK) return status;
    write_offsets<<<blocks, THREADS, 0, device->work>>>(*j, (uint32_t *)p->offsets.data + rows,
                                                        (uint32_t)p->value_count);
    SF_GPU_LAUNCHED();
    write_places<<<blocks, THREADS, 0, device->work>>>(*j, (uint32_t *)p->values.data + p->value_count);
    SF_GPU_LAUNCHED();
    for (uint32_t i = 0; i < j->count; i++)
        p->link_rows[p->link_count + i + 1] = rows + m->rows[i + 1];
    p->link_count += j->count;
    p->value_count += more;
    return SF_OK;
}

int sf_gpu_space_link(sf_backend_space *space, const sf_backend_link *links, uint32_t count, uint32_t *number,
                      uint64_t *totals, sf_error *error)
{
    if (count > SF_GPU_MOST_LINKS - space->link_count)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "the pattern has too many edges for a device");
    SF_GPU_TRY(cudaSetDevice(space->data->device->ordinal));
    maker *m = (maker *)sf_alloc(1, sizeof *m);
    if (m == NULL) return sf_fail_memory(error);
    m->space = space;
    m->blocks.device = space->data->device;
    *number = space->link_count;
    int status = load_links(m, links, count, error);
    if (status == SF_OK) status = lay_out(m, error);
    if (status == SF_OK) status = test(m, error);
    if (status == SF_OK) status = write(m, error);
    for (uint32_t i = 0; i < count && status == SF_OK; i++)
        totals[i] = m->ends[i + 1] - m->ends[i];
    sf_gpu_blocks_close(&m->blocks);
    sf_free(m);
    return status;
}
