/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/device.h"

#include "graph/match/made_space.h"
#include "graph/match/tuned.h"

#include "core/backend/match.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/platform.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = SF_BACKEND_MATCH_MOST, NO_LIST = UINT16_MAX };
enum {
    MOST_ROWS = 1 << 20,  /* embeddings listed by a device, which makes room for all at once */
    LEAST_ROOM = 1 << 12, /* rows of ranges of candidates, of which the first are listed */
    FIRST_RANGE = 32,     /* candidates of a step */
    SAMPLES = 1 << 16
};

/* A job of a device while it is put together: everything in the order of steps. */
typedef struct device_job {
    const sf_query *query;
    const sf_space *space;
    const sf_plan *plan;
    uint32_t step_of[SF_PATTERN_MOST]; /* of a pattern vertex */
    uint32_t set_of[SF_PATTERN_MOST];
    sf_backend_match_step steps[MOST];
    sf_backend_match_group groups[MOST];
    const uint32_t *sets[MOST];
    uint32_t set_sizes[MOST], set_first[MOST];
    sf_backend_match_lists lists[MOST * MOST];
    uint16_t list_of_links[MOST * MOST]; /* of links of the space; NO_LIST: not used so far */
    sf_links excluded[MOST * MOST];
    uint32_t excluded_count;
    sf_backend_match_job request;
    sf_backend_match_answer answer; /* of the last of its runs; and of all of them: */
    uint64_t tried;
    double seconds;
    uint32_t *rows; /* in the order of the search */
    size_t room, listed;
    bool has_more; /* embeddings than are listed */
} device_job;

/* ---- steps ---- */

static uint32_t steps_of(const device_job *d, uint64_t vertices)
{
    uint32_t steps = 0;
    for (; vertices != 0; vertices &= vertices - 1)
        steps |= UINT32_C(1) << d->step_of[__builtin_ctzll(vertices)];
    return steps;
}

/* Earlier steps whose data vertex this one could take: those it is joined with are others by themselves
 * where no vertex is its own neighbour, and those that must be smaller are others anyway. */
static uint32_t must_differ(const device_job *d, uint32_t i, const sf_backend_match_step *step)
{
    const sf_query *q = d->query;
    uint32_t different = 0;
    for (uint32_t s = 0; s < i && s < d->plan->core && q->semantics != SF_HOMOMORPHISM; s++)
        if (sf_query_can_share(q, d->plan->steps[i].vertex, d->plan->steps[s].vertex))
            different |= UINT32_C(1) << s;
    return different & ~step->greater & ~(q->index->has_loops ? 0 : step->joined);
}

static void add_sets(device_job *d)
{
    for (uint32_t u = 0; u < d->query->count; u++) {
        bool is_first = d->space->twin[u] == u;
        d->set_of[u] = is_first ? d->request.set_count : d->set_of[d->space->twin[u]];
        if (!is_first) continue;
        d->sets[d->request.set_count] = d->space->candidates[u];
        d->set_first[d->request.set_count] = u;
        d->set_sizes[d->request.set_count++] = d->space->counts[u];
    }
}

/* `made` is its number where the device has made it. */
static uint16_t add_list(device_job *d, const sf_links *links, uint32_t rows, uint32_t made)
{
    d->lists[d->request.list_count] = (sf_backend_match_lists){links->offsets, links->places, rows, made};
    return (uint16_t)d->request.list_count++;
}

static uint16_t list_of(device_job *d, uint32_t w, uint32_t u)
{
    uint16_t links = d->space->links_of[w][u];
    if (d->list_of_links[links] == NO_LIST)
        d->list_of_links[links] = add_list(d, &d->space->links[links], d->space->counts[w], links);
    return d->list_of_links[links];
}

/* ---- what must be absent ---- */

static bool is_bare(const sf_pair *pair)
{
    return pair->edge_count == 0;
}

static bool excludes_out(const sf_pair *pair, uint32_t w)
{
    return w == pair->a ? pair->no_forward : pair->no_backward;
}

/* Lists of an earlier pair that says the same of the same candidates. */
static uint16_t find_excluded(const device_job *d, uint32_t i, uint32_t w, uint32_t u)
{
    const sf_query *q = d->query;
    const sf_pair *pair = sf_query_pair(q, w, u);
    for (uint32_t t = 0; t < i && is_bare(pair); t++) {
        uint32_t y = d->plan->steps[t].vertex;
        for (uint32_t left = d->steps[t].excluded; left != 0; left &= left - 1) {
            uint32_t s = (uint32_t)__builtin_ctz(left), x = d->plan->steps[s].vertex;
            const sf_pair *other = sf_query_pair(q, x, y);
            if (d->space->twin[x] == d->space->twin[w] && d->space->twin[y] == d->space->twin[u] &&
                q->labels[y] == q->labels[u] && is_bare(other) &&
                excludes_out(other, x) == excludes_out(pair, w) &&
                excludes_out(other, y) == excludes_out(pair, u))
                return d->steps[t].lists[s];
        }
    }
    return NO_LIST;
}

static int exclude(device_job *d, uint32_t i, uint32_t w, sf_error *error)
{
    uint32_t u = d->plan->steps[i].vertex;
    if (sf_query_pair(d->query, w, u)->relation_count > 0)
        return sf_fail(error, SF_UNAVAILABLE, NULL,
                       "the pattern compares attributes of vertices that no edge joins, which a device does "
                       "not");
    uint16_t list = find_excluded(d, i, w, u);
    if (list == NO_LIST) {
        sf_links *links = &d->excluded[d->excluded_count++];
        uint32_t made = 0;
        int status = d->space->made != NULL ? sf_made_exclude(d->space, w, u, &made, error)
                                            : sf_space_exclude(d->space, links, w, u);
        if (status != SF_OK) return status == SF_NO_MEMORY ? sf_fail_memory(error) : status;
        list = add_list(d, links, d->space->counts[w], made);
    }
    d->steps[i].lists[d->step_of[w]] = list;
    d->steps[i].excluded |= UINT32_C(1) << d->step_of[w];
    return SF_OK;
}

static int add_step(device_job *d, uint32_t i, sf_error *error)
{
    const sf_order_step *step = &d->plan->steps[i];
    sf_backend_match_step *out = &d->steps[i];
    *out = (sf_backend_match_step){.set = d->set_of[step->vertex],
                                   .joined = steps_of(d, step->joined),
                                   .greater = steps_of(d, step->greater)};
    for (uint64_t left = step->joined; left != 0; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left);
        out->lists[d->step_of[w]] = list_of(d, w, step->vertex);
    }
    out->different = must_differ(d, i, out);
    int status = SF_OK;
    for (uint64_t left = step->checked; left != 0 && status == SF_OK; left &= left - 1)
        status = exclude(d, i, (uint32_t)__builtin_ctzll(left), error);
    return status;
}

/* ---- groups ---- */

/* Whatever the core is matched to, both have the same candidates. */
static bool are_alike(const sf_plan *plan, const sf_space *space, uint32_t u, uint32_t x)
{
    const sf_order_step *a = sf_plan_step(plan, u), *b = sf_plan_step(plan, x);
    if (space->twin[u] != space->twin[x] || a->joined != b->joined || (a->checked | b->checked) != 0 ||
        a->greater != b->greater)
        return false;
    for (uint64_t left = a->joined; left != 0; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left);
        if (space->links_of[w][u] != space->links_of[w][x]) return false;
    }
    return true;
}

static bool is_alike(const sf_plan *plan, const sf_space *space, uint64_t group)
{
    uint32_t first = (uint32_t)__builtin_ctzll(group);
    for (uint64_t left = group & (group - 1); left != 0; left &= left - 1)
        if (!are_alike(plan, space, first, (uint32_t)__builtin_ctzll(left))) return false;
    return true;
}

static void make_plan(sf_plan *plan, const sf_space *space, const sf_symmetry *symmetry, int products,
                      uint32_t first)
{
    sf_plan_make_from(plan, space, symmetry, products, first);
    bool is_small = true;
    for (uint32_t g = 0; g < plan->group_count && space->query->semantics != SF_HOMOMORPHISM; g++)
        is_small &= __builtin_popcountll(plan->groups[g]) <= (int)SF_BACKEND_MATCH_GROUP ||
                    is_alike(plan, space, plan->groups[g]);
    if (!is_small) sf_plan_make_from(plan, space, symmetry, SF_BACKEND_MATCH_GROUP, first);
}

void sf_match_device_plan(sf_plan *plan, const sf_space *space, const sf_symmetry *symmetry, bool products)
{
    make_plan(plan, space, symmetry, products ? SF_PLAN_GROUP : 0, SF_NO_VERTEX);
}

static void add_group(device_job *d, uint64_t vertices)
{
    d->groups[d->request.group_count++] =
        (sf_backend_match_group){steps_of(d, vertices), is_alike(d->plan, d->space, vertices)};
}

/* Where vertices may share a data vertex each is a group of its own. */
static void add_groups(device_job *d)
{
    for (uint32_t g = 0; g < d->plan->group_count; g++) {
        uint64_t left = d->plan->groups[g];
        if (d->query->semantics != SF_HOMOMORPHISM)
            add_group(d, left);
        else
            for (; left != 0; left &= left - 1)
                add_group(d, left & -left);
    }
}

/* ---- the job ---- */

static int put_together(device_job *d, const sf_match_job *job, sf_error *error)
{
    if (d->plan->count > MOST)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "a device matches patterns of up to %d vertices", MOST);
    memset(d->list_of_links, 0xff, sizeof d->list_of_links);
    for (uint32_t i = 0; i < d->plan->count; i++)
        d->step_of[d->plan->steps[i].vertex] = i;
    add_sets(d);
    int status = SF_OK;
    for (uint32_t i = 0; i < d->plan->count && status == SF_OK; i++)
        status = add_step(d, i, error);
    add_groups(d);
    d->request.step_count = d->plan->count;
    d->request.core = d->plan->core;
    d->request.steps = d->steps;
    d->request.groups = d->groups;
    d->request.sets = d->space->made != NULL ? NULL : d->sets;
    d->request.space = d->space->made;
    d->request.set_first = d->set_first;
    d->request.set_sizes = d->set_sizes;
    d->request.lists = d->lists;
    d->request.most = job->most != UINT64_MAX ? job->most / d->plan->factor : UINT64_MAX;
    d->request.watch = sf_match_who_waits(job);
    return status;
}

int sf_match_supports(const void *job, const sf_device *device, sf_error *why)
{
    (void)job;
    return sf_device_backend(device)->match != NULL
               ? SF_OK
               : sf_fail(why, SF_UNAVAILABLE, NULL, "%s matches no patterns", sf_device_name(device));
}

static int run_held(void *context, sf_device *device, sf_error *failure)
{
    device_job *d = context;
    int status =
        sf_device_backend(device)->match->run(sf_device_opened(device), &d->request, &d->answer, failure);
    d->tried += status == SF_OK ? d->answer.tried : 0;
    d->seconds += status == SF_OK ? d->answer.seconds : 0;
    return status;
}

static int compare_rows(const void *first, const void *second, void *size)
{
    const uint32_t *a = first, *b = second;
    uint32_t i = 0, last = *(const uint32_t *)size - 1;
    while (i < last && a[i] == b[i])
        i++;
    return (a[i] > b[i]) - (a[i] < b[i]);
}

/* Rows of the last run, in any order, are put in the order of the search after those before. */
static void add_rows(device_job *d)
{
    uint32_t size = d->plan->count;
    sf_platform_sort(d->request.rows, d->answer.listed, size * sizeof *d->request.rows, compare_rows, &size);
    d->listed += d->answer.listed;
}

/* Rows by step become embeddings by pattern vertex. */
static int take_rows(const device_job *d, size_t keep, sf_match_result *result)
{
    uint32_t size = d->plan->count;
    size_t count = d->listed < keep ? d->listed : keep;
    result->embeddings = sf_resize(result->embeddings, count, size * sizeof *result->embeddings);
    if (result->embeddings == NULL) return SF_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        for (uint32_t s = 0; s < size; s++)
            result->embeddings[i * size + d->plan->steps[s].vertex] = d->rows[i * size + s];
    result->kept = count;
    return SF_OK;
}

static int take_answer(const device_job *d, const sf_match_job *job, sf_error *error)
{
    sf_match_result *result = job->result;
    if (job->list && take_rows(d, job->keep, result) != SF_OK) return sf_fail_memory(error);
    result->count = sf_saturated_multiply(job->list ? d->listed : d->answer.count, d->plan->factor);
    result->truncated = d->answer.stopped || d->has_more || result->count > job->most;
    if (result->count > job->most) result->count = job->most;
    result->automorphisms = d->plan->factor;
    result->steps += d->tried;
    result->device_s += d->seconds;
    return SF_OK;
}

static int reserve_rows(device_job *d, size_t room, sf_error *error)
{
    sf_free(d->rows);
    d->room = room;
    d->rows = sf_resize(NULL, room, d->plan->count * sizeof *d->rows);
    return d->rows != NULL ? SF_OK : sf_fail_memory(error);
}

/* After the rows that are there already; *is_beyond: there are more than room is left for. */
static int list_range(device_job *d, sf_device *device, bool *is_beyond, sf_error *error)
{
    d->request.most = d->room - d->listed;
    d->request.rows = d->rows + d->listed * d->plan->count;
    int status = sf_device_do(device, run_held, d, error);
    *is_beyond = d->answer.count > d->request.most;
    return status;
}

static uint32_t candidates_of(const device_job *d, uint32_t step)
{
    return d->set_sizes[d->steps[step].set];
}

/* After a range that was listed: the next, wider, or where the step has none left, one of the steps before.
 */
static void go_on(device_job *d, uint32_t *step, uint32_t *wide)
{
    d->steps[*step].first += d->steps[*step].count;
    *wide = *wide > UINT32_MAX / 4 ? UINT32_MAX : 4 * *wide;
    for (; *step > 0 && d->steps[*step].first == candidates_of(d, *step); *wide = 1) {
        d->steps[*step].first = d->steps[*step].count = 0;
        d->steps[--*step].first++;
    }
}

/* After one that has too many: half of it, or where it is one candidate, ranges of the next step with it. */
static void narrow(const device_job *d, uint32_t *step, uint32_t *wide)
{
    bool is_one = d->steps[*step].count == 1;
    *wide = is_one ? FIRST_RANGE : d->steps[*step].count / 2;
    *step += is_one;
}

/* There are more embeddings than are to be listed: those of the first candidates of the first step come
 * first, and of one candidate those of the first of the next step. Ranges begin small, since the first
 * candidates may be hubs. Where time is up, those that were listed until then. */
static int list_first(device_job *d, sf_device *device, size_t keep, bool *done, sf_error *error)
{
    uint32_t step = 0, wide = FIRST_RANGE;
    int status = reserve_rows(d, 2 * keep > LEAST_ROOM ? 2 * keep : LEAST_ROOM, error);
    d->has_more = true;
    while (status == SF_OK && d->listed < keep) {
        uint32_t left = candidates_of(d, step) - d->steps[step].first;
        bool is_beyond;
        d->steps[step].count = left < wide ? left : wide;
        status = list_range(d, device, &is_beyond, error);
        if (status != SF_OK) return status;
        if (is_beyond) {
            narrow(d, &step, &wide);
            continue;
        }
        add_rows(d);
        if (d->answer.stopped) break;
        go_on(d, &step, &wide);
    }
    *done = status == SF_OK;
    return status;
}

/* All, where these are not more than are to be listed. */
static int list(device_job *d, sf_device *device, const sf_match_job *job, bool *done, sf_error *error)
{
    bool is_beyond;
    int status = reserve_rows(d, job->keep, error);
    if (status == SF_OK) status = list_range(d, device, &is_beyond, error);
    *done = status == SF_OK && !is_beyond;
    if (*done)
        add_rows(d);
    else if (status == SF_OK && d->space->made != NULL) /* else the CPU has it at hand */
        status = list_first(d, device, job->keep, done, error);
    return status;
}

static void free_job(device_job *d)
{
    for (uint32_t i = 0; i < d->excluded_count; i++)
        sf_links_free(&d->excluded[i]);
    sf_free(d->rows);
    sf_free(d);
}

int sf_match_sample_on_device(sf_device *device, const sf_match_job *job, const sf_space *space,
                              const sf_plan *plan, double *tried, sf_error *error)
{
    device_job *d = sf_alloc(1, sizeof *d);
    if (d == NULL) return sf_fail_memory(error);
    *d = (device_job){.query = job->query, .space = space, .plan = plan};
    int status = put_together(d, job, error);
    d->request.samples = SAMPLES;
    if (status == SF_OK) status = sf_device_do(device, run_held, d, error);
    *tried = (double)d->tried;
    free_job(d);
    return status;
}

/* ---- the best of several plans ---- */

static atomic_int compared = SF_PLANS_WORTH;

void sf_match_compare_plans(int when)
{
    atomic_store(&compared, when);
}

/* Each sample makes the links again of what must be absent. */
static bool checks_anything(const sf_plan *plan)
{
    bool any = false;
    for (uint32_t i = 0; i < plan->count; i++)
        any |= plan->steps[i].checked != 0;
    return any;
}

/* Whether comparing plans pays for a search that is known to try `tried` candidates. */
static bool is_worth_comparing(const sf_match_job *job, double tried)
{
    double worth = atomic_load(&compared) == SF_PLANS_ALWAYS ? 0 : WORTH_COMPARING;
    return tried > worth && !sf_match_is_late(job);
}

static int sample_others(sf_plan *plan, const sf_match_job *job, const sf_space *space,
                         const sf_symmetry *symmetry, double *tried, sf_error *error)
{
    uint32_t usual = plan->steps[0].vertex;
    int status = SF_OK;
    for (uint32_t u = 0; u < plan->count && status == SF_OK && is_worth_comparing(job, *tried); u++) {
        sf_plan other;
        double by_other;
        if (u == usual) continue;
        make_plan(&other, space, symmetry, SF_PLAN_GROUP, u);
        status = sf_match_sample_on_device(space->device, job, space, &other, &by_other, error);
        if (status == SF_OK && by_other < *tried) {
            *plan = other;
            *tried = by_other;
        }
    }
    return status;
}

int sf_match_best_plan(sf_plan *plan, const sf_match_job *job, const sf_space *space,
                       const sf_symmetry *symmetry, bool is_asked, double *tried, sf_error *error)
{
    *tried = NAN;
    sf_match_device_plan(plan, space, symmetry, true);
    bool is_long = plan->work > WORTH_A_SAMPLE || atomic_load(&compared) == SF_PLANS_ALWAYS;
    bool compares = is_long && !checks_anything(plan);
    if (space->made == NULL || (!compares && !is_asked)) return SF_OK;
    int status = sf_match_sample_on_device(space->device, job, space, plan, tried, error);
    *tried = status == SF_OK ? *tried : NAN;
    if (status == SF_OK && compares) status = sample_others(plan, job, space, symmetry, tried, error);
    return status == SF_UNAVAILABLE ? SF_OK : status; /* the search there tells of it */
}

/* ---- searching ---- */

int sf_match_on_device(sf_device *device, const sf_match_job *job, const sf_space *space, const sf_plan *plan,
                       bool *done, sf_error *error)
{
    *done = false;
    if (job->list && job->keep > MOST_ROWS)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "lists of more than %d embeddings are the CPU's",
                       MOST_ROWS);
    device_job *d = sf_alloc(1, sizeof *d);
    if (d == NULL) return sf_fail_memory(error);
    *d = (device_job){.query = job->query, .space = space, .plan = plan};
    int status = put_together(d, job, error);
    if (status == SF_OK && job->list)
        status = list(d, device, job, done, error);
    else if (status == SF_OK)
        status = sf_device_do(device, run_held, d, error);
    *done = status == SF_OK && (*done || !job->list);
    if (*done) status = take_answer(d, job, error);
    free_job(d);
    return status;
}
