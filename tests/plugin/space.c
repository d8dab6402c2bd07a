/* SPDX-License-Identifier: Apache-2.0 */
/* Candidate spaces on a test device: every data vertex is looked at for every question. */
#include "plugin/space.h"

#include "core/backend/watch.h"
#include "core/error.h"
#include "core/memory.h"
#include "plugin/plugin.h"

#include <string.h>
#include <time.h>

enum { MOST = SF_BACKEND_MATCH_MOST, MOST_LINKS = 2 * MOST * MOST };

struct sf_backend_data {
    sf_backend_device *device;
    sf_backend_data_job job;
    uint32_t uses;
};

typedef struct made_links {
    uint64_t *offsets;
    uint32_t *places, rows;
} made_links;

struct sf_backend_space {
    const sf_backend_data *data;
    const sf_backend_watch *watch;
    uint32_t vertices, count;
    uint8_t *is[MOST]; /* of a pattern vertex: which data vertices are candidates */
    uint32_t *candidates[MOST], counts[MOST];
    made_links links[MOST_LINKS];
    uint32_t link_count;
};

/* As long as the test says, with a look at who waits between two milliseconds. */
static bool copies(const sf_backend_watch *watch, uint32_t long_ms)
{
    for (uint32_t ms = 0; ms < long_ms; ms++) {
        const struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
        if (sf_backend_watch_stops(watch, "copying")) return false;
    }
    return true;
}

int test_data_open(sf_backend_data **opened, sf_backend_device *device, const sf_backend_data_job *job,
                   sf_error *error)
{
    *opened = NULL;
    test_plugin_work_done.graphs_asked++;
    if (test_plugin_work_done.has_no_room)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "the graph is too large for a test device");
    if (!copies(job->watch, test_plugin_work_done.copy_ms))
        return sf_fail(error, SF_CANCELLED, NULL, "was stopped while the graph was sent");
    *opened = sf_alloc(1, sizeof **opened);
    if (*opened == NULL) return sf_fail_memory(error);
    **opened = (sf_backend_data){.device = device, .job = *job};
    test_plugin_work_done.graphs_sent++;
    return SF_OK;
}

void test_data_close(sf_backend_data *data)
{
    sf_free(data);
}

bool test_data_is_lost(sf_backend_data *data)
{
    return data->uses++ > 0 && test_plugin_work_done.lacks_memory;
}

const sf_backend_data_job *test_data_job(const sf_backend_data *data)
{
    return &data->job;
}

sf_backend_device *test_data_device(const sf_backend_data *data)
{
    return data->device;
}

static const sf_backend_neighbours *lists_of(const sf_backend_data *data, bool out)
{
    return out || !data->job.directed ? &data->job.out : &data->job.in;
}

static bool has_edge(const sf_backend_data *data, uint32_t v, uint32_t x)
{
    const sf_backend_neighbours *l = &data->job.out;
    for (uint64_t e = l->offsets[v]; e < l->offsets[v + 1]; e++)
        if (l->targets[e] == x) return true;
    return false;
}

static bool has_such_edge(const sf_backend_data *data, uint32_t v, uint32_t x, uint32_t label)
{
    const sf_backend_neighbours *l = &data->job.out;
    for (uint64_t e = l->offsets[v]; e < l->offsets[v + 1]; e++)
        if (l->targets[e] == x && (label == UINT32_MAX || data->job.edge_labels[e - l->offsets[0]] == label))
            return true;
    return false;
}

/* ---- candidates ---- */

static bool fits_alone(const sf_backend_data *data, const sf_backend_space_vertex *t, uint32_t v)
{
    const sf_backend_neighbours *out = lists_of(data, true), *in = lists_of(data, false);
    if ((t->label != UINT32_MAX && data->job.labels[v] != t->label) ||
        out->offsets[v + 1] - out->offsets[v] < t->out_degree ||
        in->offsets[v + 1] - in->offsets[v] < t->in_degree ||
        (t->allowed != NULL && (t->allowed[v / 32] >> v % 32 & 1) == 0))
        return false;
    for (uint32_t i = 0; i < t->need_count; i++) {
        const sf_backend_neighbours *l = t->needs[i].out ? out : in;
        uint32_t found = 0;
        for (uint64_t e = l->offsets[v]; e < l->offsets[v + 1]; e++)
            found += data->job.labels[l->targets[e]] == t->needs[i].label;
        if (found < t->needs[i].count) return false;
    }
    return true;
}

static bool is_supported(const sf_backend_space *s, const sf_backend_space_vertex *t, uint32_t v)
{
    for (uint32_t x = 0; x < s->count; x++) {
        const sf_backend_neighbours *l = lists_of(s->data, (t->out >> x & 1) != 0);
        bool found = (t->required >> x & 1) == 0;
        for (uint64_t e = l->offsets[v]; e < l->offsets[v + 1] && !found; e++)
            found = s->is[x][l->targets[e]] != 0;
        if (!found) return false;
    }
    return true;
}

static void prune(sf_backend_space *s, const sf_backend_space_job *job, sf_backend_space_answer *answer)
{
    uint32_t stale = (UINT32_C(1) << s->count) - 1;
    for (uint32_t round = 0; round < job->rounds && stale != 0 && !answer->is_empty; round++) {
        uint32_t now = stale;
        stale = 0;
        for (uint32_t u = 0; u < s->count; u++) {
            uint32_t before = s->counts[u];
            for (uint32_t v = 0; v < s->vertices && (now >> u & 1) != 0; v++) {
                bool goes = s->is[u][v] != 0 && !is_supported(s, &job->vertices[u], v);
                s->is[u][v] = s->is[u][v] != 0 && !goes;
                s->counts[u] -= goes;
            }
            stale |= s->counts[u] != before ? job->vertices[u].required : 0;
            answer->is_empty |= s->counts[u] == 0;
        }
    }
}

static int list_candidates(sf_backend_space *s, sf_backend_space_answer *answer)
{
    for (uint32_t u = 0; u < s->count; u++) {
        s->candidates[u] = sf_resize(NULL, s->vertices, sizeof *s->candidates[u]);
        if (s->candidates[u] == NULL) return SF_NO_MEMORY;
        uint32_t count = 0, x = 0;
        for (uint32_t v = 0; v < s->vertices; v++)
            if (s->is[u][v]) s->candidates[u][count++] = v;
        while (memcmp(s->is[x], s->is[u], s->vertices) != 0)
            x++;
        answer->twin[u] = x;
        answer->counts[u] = s->counts[u];
    }
    for (uint32_t v = 0; v < s->vertices; v++) {
        bool any = false;
        for (uint32_t u = 0; u < s->count; u++)
            any |= s->is[u][v] != 0;
        answer->useful += any;
    }
    return SF_OK;
}

static int sift(sf_backend_space *s, const sf_backend_space_job *job, sf_backend_space_answer *answer)
{
    for (uint32_t u = 0; u < s->count; u++) {
        s->is[u] = sf_alloc(s->vertices, 1);
        if (s->is[u] == NULL) return SF_NO_MEMORY;
        for (uint32_t v = 0; v < s->vertices && !answer->is_empty; v++)
            s->counts[u] += s->is[u][v] = fits_alone(s->data, &job->vertices[u], v);
        answer->filtered += !answer->is_empty;
        answer->is_empty |= s->counts[u] == 0;
    }
    prune(s, job, answer);
    return list_candidates(s, answer);
}

int test_space_open(sf_backend_space **opened, sf_backend_data *data, const sf_backend_space_job *job,
                    sf_backend_space_answer *answer, sf_error *error)
{
    *opened = NULL;
    *answer = (sf_backend_space_answer){.lost = test_data_is_lost(data)};
    if (answer->lost) return SF_OK;
    int status = test_begin_job(data->device, error);
    if (status != SF_OK) return status;
    sf_backend_space *s = sf_alloc(1, sizeof *s);
    if (s == NULL) return sf_fail_memory(error);
    s->data = data;
    s->watch = job->watch;
    s->vertices = data->job.vertex_count;
    s->count = job->count;
    if (sift(s, job, answer) != SF_OK)
        status = sf_fail_memory(error);
    else if (test_is_lost(data->device))
        status = sf_fail(error, SF_IO, NULL, "the device has fallen off the bus");
    if (status == SF_OK)
        *opened = s;
    else
        test_space_close(s);
    return status;
}

void test_space_close(sf_backend_space *s)
{
    for (uint32_t u = 0; s != NULL && u < MOST; u++) {
        sf_free(s->is[u]);
        sf_free(s->candidates[u]);
    }
    for (uint32_t i = 0; s != NULL && i < s->link_count; i++) {
        sf_free(s->links[i].offsets);
        sf_free(s->links[i].places);
    }
    sf_free(s);
}

/* ---- links ---- */

static bool fits(const sf_backend_data *data, const sf_backend_link *l, uint32_t v, uint32_t x)
{
    bool out = has_edge(data, v, x), in = has_edge(data, x, v);
    if ((l->out && !out) || (l->no_out && out) || (l->in && !in) || (l->no_in && in)) return false;
    for (uint32_t i = 0; i < l->edge_count; i++) {
        const sf_backend_link_edge *edge = &l->edges[i];
        if (has_such_edge(data, edge->out ? v : x, edge->out ? x : v, edge->label) == edge->absent)
            return false;
    }
    return true;
}

/* Of two with an edge between them. */
static bool goes_with(const sf_backend_data *data, const sf_backend_link *l, uint32_t v, uint32_t x)
{
    if (l->excluded) return !fits(data, l, v, x);
    return l->along ? has_edge(data, v, x) && fits(data, l, v, x)
                    : has_edge(data, x, v) && fits(data, l, v, x);
}

/* Those that a vertex has an edge with, either way: links have no others. */
static void mark_neighbours(const sf_backend_data *data, uint32_t v, uint8_t *is_near, uint8_t mark)
{
    for (int out = 0; out < 2; out++) {
        const sf_backend_neighbours *l = lists_of(data, out != 0);
        for (uint64_t e = l->offsets[v]; e < l->offsets[v + 1]; e++)
            is_near[l->targets[e]] = mark;
    }
}

static void link_rows(sf_backend_space *s, made_links *to, const sf_backend_link *l, uint8_t *is_near)
{
    uint64_t count = 0;
    for (uint32_t r = 0; r < to->rows; r++) {
        uint32_t v = s->candidates[l->from][r];
        mark_neighbours(s->data, v, is_near, 1);
        for (uint32_t place = 0; place < s->counts[l->to]; place++) {
            uint32_t x = s->candidates[l->to][place];
            if (is_near[x] != 0 && goes_with(s->data, l, v, x)) to->places[count++] = place;
        }
        mark_neighbours(s->data, v, is_near, 0);
        to->offsets[r + 1] = count;
    }
}

static int link(sf_backend_space *s, made_links *to, const sf_backend_link *l)
{
    const sf_backend_data_job *graph = &s->data->job;
    size_t rows = s->counts[l->from],
           most = 2 * graph->out.offsets[s->vertices] - 2 * graph->out.offsets[0]; /* each edge, both ways */
    uint8_t *is_near = sf_alloc(s->vertices, sizeof *is_near);
    to->offsets = sf_alloc(rows + 1, sizeof *to->offsets);
    to->places = sf_resize(NULL, most + 1, sizeof *to->places);
    to->rows = (uint32_t)rows;
    int status = is_near != NULL && to->offsets != NULL && to->places != NULL ? SF_OK : SF_NO_MEMORY;
    if (status == SF_OK) link_rows(s, to, l, is_near);
    sf_free(is_near);
    return status;
}

int test_space_link(sf_backend_space *s, const sf_backend_link *links, uint32_t count, uint32_t *number,
                    uint64_t *totals, sf_error *error)
{
    *number = s->link_count;
    for (uint32_t i = 0; i < count; i++) {
        made_links *to = &s->links[s->link_count++];
        if (links[i].excluded && !copies(s->watch, test_plugin_work_done.link_ms))
            return sf_fail(error, SF_CANCELLED, NULL, "was stopped while links were made");
        if (link(s, to, &links[i]) != SF_OK) return sf_fail_memory(error);
        totals[i] = to->offsets[to->rows];
    }
    return SF_OK;
}

/* ---- what was made ---- */

const uint32_t *test_space_candidates(const sf_backend_space *s, uint32_t vertex)
{
    return s->candidates[vertex];
}

sf_backend_match_lists test_space_links(const sf_backend_space *s, uint32_t number)
{
    const made_links *made = &s->links[number];
    return (sf_backend_match_lists){.offsets = made->offsets, .values = made->places, .rows = made->rows};
}

int test_space_read(sf_backend_space *s, uint32_t vertex, uint32_t *candidates, uint32_t link,
                    uint64_t *offsets, uint32_t *places, sf_error *error)
{
    (void)error;
    const made_links *made = &s->links[link];
    if (candidates != NULL) memcpy(candidates, s->candidates[vertex], s->counts[vertex] * sizeof *candidates);
    if (offsets != NULL) memcpy(offsets, made->offsets, ((size_t)made->rows + 1) * sizeof *offsets);
    if (places != NULL) memcpy(places, made->places, made->offsets[made->rows] * sizeof *places);
    return SF_OK;
}
