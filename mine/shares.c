/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/shares.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "mine/cao/crossover.h"
#include "mine/resident.h"

#include <stdatomic.h>
#include <string.h>

/* ---- events on a crew ---- */

static int open_stream(sf_crew_events *on, sf_member *member, sf_error *error)
{
    sf_device_stream *opened = NULL;
    sf_stream spikes = sf_events_stream(on->events);
    int status = on->raw.spikes != NULL
                     ? sf_events_raw_stream(&opened, on->events, &on->raw,
                                            &on->sent[member - on->crew->members], member->device, error)
                     : sf_device_stream_open(&opened, member->device, &spikes, error);
    member->part = opened;
    return status;
}

/* The events go to a member with its first share. */
static int send_events(sf_crew_events *on, sf_member *member, sf_error *error)
{
    if (member->part != NULL) return SF_OK;
    double begin = sf_clock_seconds();
    int status = open_stream(on, member, error);
    on->sending[member - on->crew->members] += sf_clock_seconds() - begin;
    return status;
}

void sf_crew_events_leave(sf_member *member)
{
    sf_device_stream_close(member->part);
}

/* ---- counting ---- */

typedef struct counting {
    sf_crew_events *on;
    const sf_backend_count *job;
    size_t shares;
    sf_count_tally tallies[SF_MOST_DEVICES]; /* by share */
} counting;

static bool needs_crossover(const char *engine)
{
    return strcmp(engine, sf_engine_hybrid.name) == 0 || strcmp(engine, sf_engine_two_pass.name) == 0;
}

/* Neighbours stay together, since they may share prefixes. */
static int count_share(void *context, sf_member *member, size_t item, sf_error *error)
{
    counting *c = context;
    const sf_candidates *all = c->job->candidates;
    size_t begin = all->count * item / c->shares, end = all->count * (item + 1) / c->shares;
    sf_candidates own = *all;
    own.count = end - begin;
    own.units += begin * all->size;
    own.delays += begin * (all->size - 1);
    sf_backend_count job = *c->job;
    job.candidates = &own;
    job.counts += begin;
    job.tally = &c->tallies[item];
    c->tallies[item] = (sf_count_tally){0};
    int status = send_events(c->on, member, error);
    if (status == SF_OK && needs_crossover(job.engine))
        status = sf_crossover_for(&job.crossover, member->device, 1, own.size, job.last - job.first, error);
    return status == SF_OK ? sf_device_count_episodes(member->part, &job, error) : status;
}

int sf_crew_count(sf_crew_events *on, const sf_engine *engine, uint32_t *counts, const sf_count_job *job,
                  sf_error *error)
{
    sf_backend_count request = {.engine = engine->name,
                                .first = job->first,
                                .last = job->last,
                                .candidates = job->candidates,
                                .least = job->least,
                                .counts = counts,
                                .tally = job->tally};
    size_t members = sf_crew_left(on->crew), most = job->candidates->count;
    counting c = {.on = on, .job = &request, .shares = members < most ? members : most};
    if (c.shares == 0) c.shares = 1;
    int status = sf_crew_divide(on->crew, c.shares, count_share, &c, error);
    for (size_t i = 0; i < c.shares && status == SF_OK; i++) {
        job->tally->culled += c.tallies[i].culled;
        job->tally->segmented += c.tallies[i].segmented;
        job->tally->recounted += c.tallies[i].recounted;
        job->tally->shared += c.tallies[i].shared;
    }
    return status;
}

/* ---- mining ---- */

/* The episodes that begin with some of the units. */
typedef struct share {
    uint32_t first, last; /* units */
    sf_level *levels;     /* by size - 1; from size 3 on parents are numbered within the share */
    sf_level own[SF_EPISODE_MAX_SIZE];
    double seconds[SF_EPISODE_MAX_SIZE + 1];
} share;

typedef struct mining {
    sf_crew_events *on;
    const sf_engine *engine;
    const sf_mine_job *job;
    sf_tree *tree;
    uint32_t *forbidden;
    /* Of a job that is paired: all of level 2, and by unit, and one more, the work of what units before it
     * begin. */
    sf_found *pairs;
    uint64_t *work;
    share *shares;
    size_t share_count;
    atomic_size_t total;
} mining;

/* A level on its way from a device to its share. */
typedef struct receiver {
    mining *all;
    share *to;
    sf_error error; /* of what the device does not know; code 0: none */
} receiver;

/* Every member refuses a share that does not fit: then shares are halved, this often. */
#define MOST_HALVINGS 5

/* The first size that devices find. */
static uint32_t first_size(const mining *m)
{
    return m->job->paired ? 3 : 2;
}

/* Occurrences of the pairs that a unit begins, each as often as its pair may go on. */
static uint64_t work_of(const sf_tree *tree, uint32_t unit)
{
    sf_node_range own = sf_tree_children(tree, 1, unit);
    uint64_t work = 0;
    for (size_t i = own.begin; i < own.end; i++) {
        const sf_node *pair = &tree->levels[1].nodes[i];
        sf_node_range next = sf_tree_children(tree, 1, pair->suffix);
        work += pair->count * (1 + (uint64_t)(next.end - next.begin));
    }
    return work;
}

/* Pairs that are known, as devices take them. */
static int list_pairs(mining *m, sf_error *error)
{
    const sf_level *level = &m->tree->levels[1];
    if (!m->job->paired) return SF_OK;
    m->work = sf_alloc((size_t)m->tree->unit_count + 1, sizeof *m->work);
    for (uint32_t u = 0; m->work != NULL && u < m->tree->unit_count; u++)
        m->work[u + 1] = m->work[u] + work_of(m->tree, u);
    m->pairs = sf_resize(NULL, level->count, sizeof *m->pairs);
    for (size_t i = 0; m->pairs != NULL && i < level->count; i++)
        m->pairs[i] = (sf_found){level->nodes[i].parent, level->nodes[i].step, level->nodes[i].count};
    atomic_store(&m->total, level->count);
    return m->pairs != NULL && m->work != NULL ? SF_OK : sf_fail_memory(error);
}

/* The first pair that a unit, or one after it, begins. */
static size_t pair_of(const mining *m, uint32_t unit)
{
    return unit < m->tree->unit_count ? sf_tree_children(m->tree, 1, unit).begin : m->tree->levels[1].count;
}

/* Before this unit: pairs that are known cost what grows from them, others the spikes. */
static uint64_t work_before(const mining *m, uint32_t unit)
{
    return m->job->paired ? m->work[unit] : m->on->events->first[unit];
}

/* The pairs that are too close to each other, as bits; NULL in *bits: none is. */
static int forbid(uint32_t **bits, const sf_pair_rule *rule, uint32_t units, sf_error *error)
{
    *bits = NULL;
    if (rule->min_distance_um <= 0) return SF_OK;
    size_t words = (units + 31) / 32;
    sf_pair_rule near = *rule;
    near.self = true; /* the backend knows that rule itself */
    *bits = sf_alloc(words * units, sizeof **bits);
    if (*bits == NULL) return sf_fail_memory(error);
    for (uint32_t from = 0; from < units; from++)
        for (uint32_t to = 0; to < units; to++)
            if (!sf_pair_allowed(&near, from, to))
                (*bits)[from * words + to / 32] |= UINT32_C(1) << (to & 31);
    return SF_OK;
}

static int take_level(void *user, uint32_t size, const sf_found *found, size_t count, double seconds)
{
    receiver *r = user;
    sf_level *level = &r->to->levels[size - 1];
    r->to->seconds[size] = seconds;
    if (atomic_fetch_add(&r->all->total, count) + count > r->all->job->most)
        return sf_mine_fail_most(r->all->job->most, &r->error);
    for (size_t i = 0; i < count; i++)
        if (sf_level_append(level, found[i].parent, found[i].step, found[i].count) != SF_OK)
            return sf_fail_memory(&r->error);
    bool only = r->all->share_count == 1; /* then it is the tree's own level */
    return only ? sf_tree_link(r->all->tree, size, &r->error) : SF_OK;
}

static void forget_levels(mining *m, share *own)
{
    for (uint32_t size = first_size(m); size <= SF_EPISODE_MAX_SIZE; size++) {
        atomic_fetch_sub(&m->total, own->levels[size - 1].count);
        sf_free(own->levels[size - 1].nodes);
        own->levels[size - 1] = (sf_level){0};
    }
}

/* Levels that a stopped search of one share has handed over are whole. */
static bool is_kept(const mining *m, int status)
{
    return status == SF_CANCELLED && m->job->keep_stopped && m->share_count == 1;
}

static int mine_share(void *context, sf_member *member, size_t item, sf_error *error)
{
    mining *m = context;
    share *own = &m->shares[item];
    receiver r = {.all = m, .to = own};
    sf_backend_mine request = {.engine = m->engine->name,
                               .delays = m->job->delays,
                               .delay_count = m->tree->delay_count,
                               .least = m->job->least,
                               .max_size = m->job->max_size,
                               .first_unit = own->first,
                               .last_unit = own->last,
                               .most = m->job->most,
                               .self = m->job->pairs.self,
                               .forbidden = m->forbidden,
                               .pairs = m->pairs,
                               .pair_count = m->tree->levels[1].count,
                               .take = take_level,
                               .user = &r};
    if (m->job->paired && pair_of(m, own->first) == pair_of(m, own->last)) return SF_OK;
    if (member->leads) request.progress = m->job->progress;
    int status = send_events(m->on, member, error);
    if (status == SF_OK) status = sf_device_mine(member->part, &request, error);
    if (r.error.code != SF_OK && status == (int)r.error.code) *error = r.error;
    if (status != SF_OK && !is_kept(m, status)) forget_levels(m, own);
    return status;
}

/* Shares of about as much work, and at least one unit, each. */
static int cut(mining *m, size_t count)
{
    const sf_events *events = m->on->events;
    uint32_t shares = count < events->unit_count ? (uint32_t)count : events->unit_count, unit = 0;
    m->shares = sf_alloc(shares, sizeof *m->shares);
    if (m->shares == NULL) return SF_NO_MEMORY;
    m->share_count = shares;
    for (uint32_t i = 0; i < shares; i++) {
        share *own = &m->shares[i];
        own->levels = shares == 1 ? m->tree->levels : own->own;
        own->first = unit++;
        uint32_t others = shares - 1 - i; /* they need a unit each */
        double until = (double)work_before(m, events->unit_count) * (i + 1) / shares;
        while (unit < events->unit_count - others && (others == 0 || (double)work_before(m, unit) < until))
            unit++;
        own->last = unit;
    }
    return SF_OK;
}

/* Appends the shares' episodes to the tree, in the order of first units. */
static int gather(mining *m, sf_error *error)
{
    size_t *base = sf_alloc(m->share_count, sizeof *base); /* where the level before of each share lies */
    int status = base != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && m->job->paired && i < m->share_count; i++)
        base[i] = pair_of(m, m->shares[i].first);
    for (uint32_t size = first_size(m); size <= m->job->max_size && status == SF_OK; size++) {
        sf_level *level = &m->tree->levels[size - 1];
        for (size_t i = 0; i < m->share_count && status == SF_OK; i++) {
            const sf_level *own = &m->shares[i].own[size - 1];
            size_t begin = level->count;
            for (size_t k = 0; k < own->count && status == SF_OK; k++) {
                uint32_t parent = own->nodes[k].parent + (uint32_t)base[i];
                if (sf_level_append(level, parent, own->nodes[k].step, own->nodes[k].count) != SF_OK)
                    status = sf_fail_memory(error);
            }
            base[i] = begin;
        }
        if (status == SF_OK) status = sf_tree_link(m->tree, size, error);
    }
    sf_free(base);
    return status;
}

/* Shares are worked on side by side: each size gets its part of the time that passed after the slowest member
 * had the events. */
static void share_time(const mining *m, double *seconds, double passed)
{
    double total = 0, sending = 0;
    for (uint32_t i = 0; i < m->on->crew->count; i++) {
        sending = m->on->sending[i] > sending ? m->on->sending[i] : sending;
        m->on->sending[i] = 0;
    }
    sending = sending < passed ? sending : passed;
    seconds[1] += sending;
    passed -= sending;
    for (uint32_t size = first_size(m); size <= m->job->max_size; size++) {
        seconds[size] = 0;
        for (size_t i = 0; i < m->share_count; i++)
            seconds[size] += m->shares[i].seconds[size];
        total += seconds[size];
    }
    for (uint32_t size = first_size(m); size <= m->job->max_size && total > 0; size++)
        seconds[size] *= passed / total;
}

static int mine_in_shares(mining *m, size_t count, double *seconds, sf_error *error)
{
    double start = sf_clock_seconds();
    int status = cut(m, count) == SF_OK ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) status = sf_crew_divide(m->on->crew, m->share_count, mine_share, m, error);
    if (status == SF_OK && m->share_count > 1) status = gather(m, error);
    if (status == SF_OK) share_time(m, seconds, sf_clock_seconds() - start);
    for (size_t i = 0; m->share_count > 1 && i < m->share_count; i++)
        forget_levels(m, &m->shares[i]);
    if (status != SF_OK && !is_kept(m, status)) {
        share whole = {.levels = m->tree->levels};
        forget_levels(m, &whole);
    }
    sf_free(m->shares);
    m->shares = NULL;
    m->share_count = 0;
    return status;
}

static bool has_events(const sf_member *member)
{
    return member->part != NULL;
}

static bool has_none(const sf_member *member)
{
    return member->part == NULL;
}

bool sf_crew_laid_out(sf_crew_events *on)
{
    on->raw = (sf_raw_spikes){0};
    return sf_crew_recall(on->crew, has_none);
}

/* Each prepares the whole stream: more cost more. But what grows from known pairs is done in pieces, where
 * others are to have the devices in between. Looking for pairs is not: a warp goes through all spikes of a
 * unit, and few of them take as long as many. */
static size_t count_shares(const mining *m)
{
    size_t members = m->on->crew->count;
    bool cut = m->job->paired && m->job->piece > 0;
    size_t pieces = cut ? (size_t)((double)work_before(m, m->on->events->unit_count) / m->job->piece) + 1 : 1;
    return pieces > members ? pieces : members;
}

/* By time, where the events are cut so; else by first units. */
static int mine_divided(mining *m, double *seconds, sf_error *error)
{
    sf_crew_events *on = m->on;
    int status;
    if (on->by_time.count > 1) {
        sf_stretches_job whole = {.job = m->job,
                                  .raw = &on->raw,
                                  .sent = on->sent,
                                  .events = on->events,
                                  .forbidden = m->forbidden};
        status = sf_stretches_mine(&on->by_time, on->crew, &whole, m->tree, seconds, error);
        on->by_time.count = 0; /* whoever asks again has no stretches */
        if (status != SF_UNAVAILABLE) return status;
    }
    size_t shares = count_shares(m);
    status = mine_in_shares(m, shares, seconds, error);
    for (int halving = 0;
         halving < MOST_HALVINGS && status == SF_UNAVAILABLE && sf_crew_recall(on->crew, has_events);
         halving++) {
        shares *= 2;
        status = mine_in_shares(m, shares, seconds, error);
    }
    return status;
}

static int mine_levels(mining *m, double *seconds, sf_error *error)
{
    int status = list_pairs(m, error);
    return status == SF_OK ? mine_divided(m, seconds, error) : status;
}

/* What is found in pieces begins with all pairs. */
static int mine_pairs_first(mining *m, double *seconds, sf_error *error)
{
    const sf_mine_job *job = m->job;
    sf_mine_job pairs = *job, longer = *job;
    pairs.max_size = 2;
    longer.paired = true;
    m->job = &pairs;
    int status = mine_levels(m, seconds, error);
    m->job = &longer;
    if (status == SF_OK && m->tree->levels[1].count > 0) status = mine_levels(m, seconds, error);
    m->job = job;
    if (status != SF_OK && !(status == SF_CANCELLED && job->keep_stopped)) {
        share whole = {.levels = m->tree->levels};
        forget_levels(m, &whole);
    }
    return status;
}

int sf_crew_mine(sf_crew_events *on, const sf_engine *engine, sf_tree *tree, double *seconds,
                 const sf_mine_job *job, sf_error *error)
{
    mining m = {.on = on, .engine = engine, .job = job, .tree = tree};
    bool in_pieces = !job->paired && job->max_size > 2 && job->piece > 0 && on->by_time.count < 2;
    int status = forbid(&m.forbidden, &job->pairs, on->events->unit_count, error);
    if (status == SF_OK)
        status = in_pieces ? mine_pairs_first(&m, seconds, error) : mine_levels(&m, seconds, error);
    sf_free(m.forbidden);
    sf_free(m.pairs);
    sf_free(m.work);
    return status;
}
