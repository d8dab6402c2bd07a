/* SPDX-License-Identifier: Apache-2.0 */
/* Candidate spaces on a device: the graph, which stays there, and the candidates next to candidates.
 *
 * The rows of all links that are made at once, a row for each candidate of the vertex that a link leads from,
 * are one long sequence of slots, a slot for each neighbour with the label wanted. Slots are tested 32 to a
 * word of bits, so that hubs cost no more than their neighbours; the sums of the bits say where each row
 * begins, and how much room is needed. Then the places of those that passed are written in their order. */
#include "gpu/keys.cuh"
#include "gpu/match/space.cuh"

enum { MOST = SF_BACKEND_MATCH_MOST };

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
    if (l.excluded && j.directed)
        n.b = sf_gpu_near_of(j.s.in, r.v, l.label);
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
        if (label == UINT32_MAX || j.edge_labels[e] == label)
            return true;
    return false;
}

__device__ bool fits(const linking &j, const link &l, uint32_t v, uint32_t x)
{
    if (((l.out || l.no_out) && has_edge(j.s.out, v, x) != l.out) ||
        ((l.in || l.no_in) && has_edge(j.s.out, x, v) != l.in))
        return false;
    for (uint32_t i = l.first_edge; i < l.first_edge + l.edge_count; i++) {
        const sf_backend_link_edge edge = j.edges[i];
        if (has_such_edge(j, edge.label, edge.out ? v : x, edge.out ? x : v) == edge.absent)
            return false;
    }
    return true;
}

/* ---- the steps ---- */

__global__ void count_slots(const __grid_constant__ linking j)
{
    unsigned long long own = 0;
    for (uint32_t r = blockIdx.x * blockDim.x + threadIdx.x; r < j.rows; r += gridDim.x * blockDim.x) {
        around n = around_of(j, row_at(j, r));
        uint64_t slots = n.a.end - n.a.begin + (n.b.end - n.b.begin);
        j.begins[r] = (uint32_t)slots; /* where that does not do, nothing is made of it */
        own += slots;
    }
    for (unsigned k = LANES / 2; k > 0; k /= 2)
        own += __shfl_down_sync(ALL_LANES, own, k);
    if (threadIdx.x % LANES == 0 && own > 0)
        atomicAdd(j.total, own);
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
    if (t.is_repeated || !sf_gpu_is_in(j.s.bits + (size_t)l.to * j.s.words, t.x))
        return false;
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
    for (uint32_t r = blockIdx.x * blockDim.x + threadIdx.x; r <= j.rows; r += gridDim.x * blockDim.x)
        offsets[r] = base + bits_before_row(j, r);
}

__global__ void __launch_bounds__(THREADS) write_places(const __grid_constant__ linking j, uint32_t *values)
{
    uint32_t lane = threadIdx.x % LANES, stride = gridDim.x * (THREADS / LANES);
    for (uint32_t w = (blockIdx.x * THREADS + threadIdx.x) / LANES; w < j.words; w += stride) {
        uint32_t bits = j.bits[w];
        if ((bits >> lane & 1) == 0)
            continue;
        slot t = slot_at(j, j.owners[w], w * LANES + lane);
        uint32_t to = t.r.l->to;
        size_t word = (size_t)to * j.s.words + t.x / LANES;
        values[j.sums[w] + sf_gpu_bits_before(bits, lane)] =
            j.s.ranks[word] + sf_gpu_bits_before(j.s.bits[word], t.x % LANES) - j.s.begins[to];
    }
}

} // namespace

/* ---- the graph ---- */

static int open_offsets(sf_backend_data *d, sf_gpu_neighbours_of *to, const sf_backend_neighbours *from,
                        sf_error *error)
{
    to->base = from->offsets[0];
    return sf_gpu_blocks_add(&d->blocks, (uint64_t **)&to->offsets, from->offsets,
                             (size_t)d->job.vertex_count + 1, error);
}

static int open_direction(sf_backend_data *d, sf_gpu_neighbours_of *to, const sf_backend_neighbours *from,
                          const sf_backend_labelled *labelled, sf_error *error)
{
    int status = open_offsets(d, to, from, error);
    if (status == SF_OK && d->job.labels != NULL)
        status = sf_gpu_labelled_open(&d->blocks, &to->labelled, labelled, d->job.vertex_count, error);
    return status;
}

/* Neighbours whatever their labels, for queries that ask for them. */
static int open_targets(sf_backend_data *d, sf_gpu_neighbours_of *to, const sf_backend_neighbours *from,
                        sf_error *error)
{
    if (to->targets != NULL)
        return SF_OK;
    return sf_gpu_blocks_add(&d->blocks, (uint32_t **)&to->targets, from->targets + from->offsets[0],
                             from->offsets[d->job.vertex_count] - from->offsets[0], error);
}

static int need_targets(sf_backend_data *d, sf_error *error)
{
    int status = open_targets(d, &d->out, &d->job.out, error);
    if (status == SF_OK && d->job.directed)
        status = open_targets(d, &d->in, &d->job.in, error);
    else if (status == SF_OK)
        d->in = d->out;
    return status;
}

static int need_edge_labels(sf_backend_data *d, sf_error *error)
{
    if (d->edge_labels != NULL || d->job.edge_labels == NULL)
        return SF_OK;
    const uint64_t *offsets = d->job.out.offsets;
    return sf_gpu_blocks_add(&d->blocks, (uint32_t **)&d->edge_labels, d->job.edge_labels,
                             offsets[d->job.vertex_count] - offsets[0], error);
}

static int load_data(sf_backend_data *d, sf_error *error)
{
    SF_GPU_TRY(cudaSetDevice(d->device->ordinal));
    int status = open_direction(d, &d->out, &d->job.out, &d->job.out_labelled, error);
    d->in = d->out;
    if (status == SF_OK && d->job.directed)
        status = open_direction(d, &d->in, &d->job.in, &d->job.in_labelled, error);
    if (status == SF_OK && d->job.labels != NULL)
        status =
            sf_gpu_blocks_add(&d->blocks, (uint32_t **)&d->labels, d->job.labels, d->job.vertex_count, error);
    return status == SF_OK && d->job.labels == NULL ? need_targets(d, error) : status;
}

int sf_gpu_data_open(sf_backend_data **opened, sf_backend_device *device, const sf_backend_data_job *job,
                     sf_error *error)
{
    *opened = NULL;
    sf_backend_data *d = (sf_backend_data *)sf_alloc(1, sizeof *d);
    if (d == NULL)
        return sf_fail_memory(error);
    d->device = d->blocks.device = device;
    d->job = *job;
    int status = load_data(d, error);
    if (status == SF_OK)
        *opened = d;
    else
        sf_gpu_data_close(d);
    return status;
}

void sf_gpu_data_close(sf_backend_data *data)
{
    if (data == NULL)
        return;
    cudaSetDevice(data->device->ordinal);
    sf_gpu_blocks_close(&data->blocks);
    sf_free(data);
}

/* ---- candidates ---- */

static int load_vertex(sf_backend_space *p, sf_gpu_space_vertex *to, const sf_backend_space_vertex *from,
                       sf_error *error)
{
    *to = {from->label, from->required, from->out, from->need_count, from->out_degree, from->in_degree};
    int status = SF_OK;
    if (from->need_count > 0)
        status = sf_gpu_blocks_add(&p->blocks, (sf_backend_need **)&to->needs, from->needs, from->need_count,
                                   error);
    if (status == SF_OK && from->allowed != NULL)
        status =
            sf_gpu_blocks_add(&p->blocks, (uint32_t **)&to->allowed, from->allowed, p->sieve.words, error);
    return status;
}

static int load_query(sf_backend_space *p, const sf_backend_space_job *job, sf_error *error)
{
    sf_backend_data *d = p->data;
    sieve *s = &p->sieve;
    bool any_label = false;
    int status = SF_OK;
    SF_GPU_TRY(cudaSetDevice(d->device->ordinal));
    s->vertex_count = d->job.vertex_count;
    s->words = (s->vertex_count + LANES - 1) / LANES;
    s->count = job->count;
    s->rounds = job->rounds;
    for (uint32_t u = 0; u < job->count && status == SF_OK; u++) {
        status = load_vertex(p, &s->vertices[u], &job->vertices[u], error);
        any_label |= job->vertices[u].label == UINT32_MAX;
    }
    if (status == SF_OK && any_label)
        status = need_targets(d, error);
    s->out = d->out;
    s->in = d->in;
    s->labels = d->labels;
    return status;
}

int sf_gpu_space_open(sf_backend_space **opened, sf_backend_data *data, const sf_backend_space_job *job,
                      sf_backend_space_answer *answer, sf_error *error)
{
    *opened = NULL;
    sf_backend_space *p = (sf_backend_space *)sf_alloc(1, sizeof *p);
    if (p == NULL)
        return sf_fail_memory(error);
    p->data = data;
    p->blocks.device = data->device;
    int status = load_query(p, job, error);
    if (status == SF_OK)
        status = sf_gpu_sift(p, answer, error);
    if (status == SF_OK)
        *opened = p;
    else
        sf_gpu_space_close(p);
    return status;
}

void sf_gpu_space_close(sf_backend_space *space)
{
    if (space == NULL)
        return;
    sf_backend_device *device = space->data->device;
    cudaSetDevice(device->ordinal);
    sf_gpu_array_close(device, &space->candidates);
    sf_gpu_array_close(device, &space->offsets);
    sf_gpu_array_close(device, &space->values);
    sf_gpu_blocks_close(&space->blocks);
    sf_free(space);
}

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
    if (status == SF_OK)
        *array = longer;
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
    if (rows + p->link_rows[p->link_count] >= UINT32_MAX)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "there are too many candidates for a device to link");
    int status = plain ? SF_OK : need_targets(p->data, error);
    if (status == SF_OK && edges > 0)
        status = need_edge_labels(p->data, error);
    if (status == SF_OK)
        status = sf_gpu_blocks_add(&m->blocks, (link **)&j->links, m->links, count, error);
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
    if (status == SF_OK)
        status = sf_gpu_blocks_add(&m->blocks, &j->total, &total, 1, error);
    if (status != SF_OK)
        return status;
    SF_GPU_TRY(cudaMemsetAsync(j->begins + j->rows, 0, sizeof *j->begins, device->work));
    count_slots<<<device->properties.multiProcessorCount * PER_SM, THREADS, 0, device->work>>>(*j);
    SF_GPU_LAUNCHED();
    status = sf_gpu_sum(device, j->begins, j->begins, j->rows + 1, error);
    if (status == SF_OK)
        status = sf_gpu_download(device, &total, j->total, sizeof total, error);
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
    if (status == SF_OK)
        status = sf_gpu_blocks_add(&m->blocks, &j->sums, NULL, words, error);
    if (status == SF_OK)
        status = sf_gpu_blocks_add(&m->blocks, &j->owners, NULL, words, error);
    if (status == SF_OK)
        status = sf_gpu_blocks_add(&m->blocks, &ends, NULL, (size_t)j->count + 1, error);
    if (status != SF_OK)
        return status;
    SF_GPU_TRY(cudaMemsetAsync(j->bits + j->words, 0, sizeof *j->bits, device->work));
    SF_GPU_TRY(cudaMemsetAsync(j->sums + j->words, 0, sizeof *j->sums, device->work));
    test_slots<<<device->properties.multiProcessorCount * PER_SM, THREADS, 0, device->work>>>(*j);
    SF_GPU_LAUNCHED();
    status = sf_gpu_sum(device, j->sums, j->sums, j->words + 1, error);
    if (status != SF_OK)
        return status;
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
    int status = append(device, &p->offsets, rows, (uint64_t)j->rows + 1, error);
    if (status == SF_OK)
        status = append(device, &p->values, p->value_count, more, error);
    if (status != SF_OK)
        return status;
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
    if (m == NULL)
        return sf_fail_memory(error);
    m->space = space;
    m->blocks.device = space->data->device;
    *number = space->link_count;
    int status = load_links(m, links, count, error);
    if (status == SF_OK)
        status = lay_out(m, error);
    if (status == SF_OK)
        status = test(m, error);
    if (status == SF_OK)
        status = write(m, error);
    for (uint32_t i = 0; i < count && status == SF_OK; i++)
        totals[i] = m->ends[i + 1] - m->ends[i];
    sf_gpu_blocks_close(&m->blocks);
    sf_free(m);
    return status;
}

/* ---- to the host ---- */

static int read_offsets(sf_backend_space *p, uint32_t link, uint64_t *offsets, uint32_t *first,
                        sf_error *error)
{
    uint32_t begin = p->link_rows[link], rows = p->link_rows[link + 1] - begin;
    uint32_t *narrow = (uint32_t *)sf_resize(NULL, (size_t)rows + 1, sizeof *narrow);
    if (narrow == NULL)
        return sf_fail_memory(error);
    int status = sf_gpu_download(p->data->device, narrow, (const uint32_t *)p->offsets.data + begin,
                                 ((size_t)rows + 1) * sizeof *narrow, error);
    for (uint32_t r = 0; r <= rows && status == SF_OK; r++)
        offsets[r] = narrow[r] - narrow[0];
    *first = status == SF_OK ? narrow[0] : 0;
    sf_free(narrow);
    return status;
}

int sf_gpu_space_read(sf_backend_space *p, uint32_t vertex, uint32_t *candidates, uint32_t link,
                      uint64_t *offsets, uint32_t *places, sf_error *error)
{
    sf_backend_device *device = p->data->device;
    uint32_t first = 0, rows;
    int status = SF_OK;
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    if (candidates != NULL)
        status = sf_gpu_download(
            device, candidates, (const uint32_t *)p->candidates.data + p->sieve.begins[vertex],
            (p->sieve.begins[vertex + 1] - p->sieve.begins[vertex]) * sizeof *candidates, error);
    if (status != SF_OK || offsets == NULL)
        return status;
    rows = p->link_rows[link + 1] - p->link_rows[link];
    status = read_offsets(p, link, offsets, &first, error);
    if (status == SF_OK)
        status = sf_gpu_download(device, places, (const uint32_t *)p->values.data + first,
                                 offsets[rows] * sizeof *places, error);
    return status;
}
