/* SPDX-License-Identifier: Apache-2.0 */
/* Candidate spaces on a device: the graph, which stays there for the spaces to come, and what a space holds.
 */
#include "gpu/match/space.cuh"

enum { LANES = 32 };

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
    if (to->targets != NULL) return SF_OK;
    return sf_gpu_blocks_add(&d->blocks, (uint32_t **)&to->targets, from->targets + from->offsets[0],
                             from->offsets[d->job.vertex_count] - from->offsets[0], error);
}

int sf_gpu_need_targets(sf_backend_data *d, sf_error *error)
{
    int status = open_targets(d, &d->out, &d->job.out, error);
    if (status == SF_OK && d->job.directed)
        status = open_targets(d, &d->in, &d->job.in, error);
    else if (status == SF_OK)
        d->in = d->out;
    return status;
}

int sf_gpu_need_edge_labels(sf_backend_data *d, sf_error *error)
{
    if (d->edge_labels != NULL || d->job.edge_labels == NULL) return SF_OK;
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
    return status == SF_OK && d->job.labels == NULL ? sf_gpu_need_targets(d, error) : status;
}

/* ---- it stays while nobody lacks the memory ---- */

static void give_back(sf_gpu_kept *kept)
{
    sf_backend_data *d = (sf_backend_data *)kept;
    sf_gpu_blocks_close(&d->blocks);
    d->is_lost = true;
}

static void keep_data(sf_backend_data *d)
{
    d->blocks.watch = NULL;
    d->kept.bytes = sf_gpu_blocks_bytes(&d->blocks);
    sf_gpu_keep(d->device, &d->kept);
}

void sf_gpu_data_begin(sf_backend_data *d, const sf_backend_watch *watch)
{
    if (d->users++ == 0) sf_gpu_need(d->device, &d->kept);
    d->blocks.watch = watch;
}

void sf_gpu_data_end(sf_backend_data *d)
{
    if (--d->users == 0) keep_data(d);
}

static void free_data(sf_backend_data *d)
{
    sf_gpu_blocks_close(&d->blocks);
    sf_free(d);
}

int sf_gpu_data_open(sf_backend_data **opened, sf_backend_device *device, const sf_backend_data_job *job,
                     sf_error *error)
{
    *opened = NULL;
    sf_backend_data *d = (sf_backend_data *)sf_alloc(1, sizeof *d);
    if (d == NULL) return sf_fail_memory(error);
    d->device = d->blocks.device = device;
    d->blocks.watch = job->watch;
    d->kept.give_back = give_back;
    d->job = *job;
    int status = load_data(d, error);
    if (status == SF_OK)
        keep_data(d);
    else
        free_data(d);
    *opened = status == SF_OK ? d : NULL;
    return status;
}

void sf_gpu_data_close(sf_backend_data *data)
{
    if (data == NULL) return;
    cudaSetDevice(data->device->ordinal);
    if (!data->is_lost) sf_gpu_need(data->device, &data->kept);
    free_data(data);
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
    sf_gpu_sieve *s = &p->sieve;
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
    if (status == SF_OK && any_label) status = sf_gpu_need_targets(d, error);
    s->out = d->out;
    s->in = d->in;
    s->labels = d->labels;
    return status;
}

int sf_gpu_space_open(sf_backend_space **opened, sf_backend_data *data, const sf_backend_space_job *job,
                      sf_backend_space_answer *answer, sf_error *error)
{
    *opened = NULL;
    *answer = {};
    answer->lost = data->is_lost;
    if (data->is_lost) return SF_OK;
    sf_backend_space *p = (sf_backend_space *)sf_alloc(1, sizeof *p);
    if (p == NULL) return sf_fail_memory(error);
    p->data = data;
    p->blocks.device = data->device;
    sf_gpu_data_begin(data, job->watch);
    int status = load_query(p, job, error);
    if (status == SF_OK) status = sf_gpu_sift(p, answer, error);
    if (status == SF_OK)
        *opened = p;
    else
        sf_gpu_space_close(p);
    return status;
}

void sf_gpu_space_close(sf_backend_space *space)
{
    if (space == NULL) return;
    sf_backend_device *device = space->data->device;
    cudaSetDevice(device->ordinal);
    sf_gpu_array_close(device, &space->candidates);
    sf_gpu_array_close(device, &space->offsets);
    sf_gpu_array_close(device, &space->values);
    sf_gpu_blocks_close(&space->blocks);
    sf_gpu_data_end(space->data);
    sf_free(space);
}

/* ---- to the host ---- */

static int read_offsets(sf_backend_space *p, uint32_t link, uint64_t *offsets, uint32_t *first,
                        sf_error *error)
{
    uint32_t begin = p->link_rows[link], rows = p->link_rows[link + 1] - begin;
    uint32_t *narrow = (uint32_t *)sf_resize(NULL, (size_t)rows + 1, sizeof *narrow);
    if (narrow == NULL) return sf_fail_memory(error);
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
    if (status != SF_OK || offsets == NULL) return status;
    rows = p->link_rows[link + 1] - p->link_rows[link];
    status = read_offsets(p, link, offsets, &first, error);
    if (status == SF_OK)
        status = sf_gpu_download(device, places, (const uint32_t *)p->values.data + first,
                                 offsets[rows] * sizeof *places, error);
    return status;
}
