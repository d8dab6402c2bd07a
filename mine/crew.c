/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/crew.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/thread.h"
#include "mine/cao/crossover.h"
#include "mine/device.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* ---- who takes part ---- */

static uint32_t members_left(const sf_crew *crew)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < crew->count; i++)
        left += !crew->members[i].out;
    return left;
}

static void rename_crew(sf_crew *crew)
{
    uint32_t left = members_left(crew), i = 0;
    while (i < crew->count && crew->members[i].out)
        i++;
    if (left > 1)
        snprintf(crew->name, sizeof crew->name, "%s (%" PRIu32 ")", crew->all, left);
    else
        snprintf(crew->name, sizeof crew->name, "%s",
                 sf_device_name(left > 0 ? crew->members[i].device : NULL));
}

static void note(sf_crew *crew, const sf_error *reason)
{
    snprintf(crew->note, sizeof crew->note, "%.255s", reason->text);
}

/* A device of all that does not start, or has failed before, is no member, but the note tells. */
static void note_sick(sf_crew *crew)
{
    crew->note[0] = '\0';
    for (uint32_t i = 0; crew->all[0] != '\0' && i < sf_device_count(); i++) {
        sf_error reason;
        if (sf_device_sick(sf_device_at(i), &reason))
            note(crew, &reason);
    }
}

static int choose_all(sf_crew *crew, const sf_crew_job *job, sf_error *error)
{
    sf_device *devices[SF_MOST_DEVICES];
    /* Half the work is pairs, which divide; the copy of the spikes and the longer sizes do not. */
    uint32_t most = sf_devices_worth(job->core_seconds / 2);
    int status = sf_devices_find(devices, most, &crew->count, job->device, error);
    if (status != SF_OK)
        return status;
    snprintf(crew->all, sizeof crew->all, "%.15s", job->device);
    for (uint32_t i = 0; i < crew->count; i++)
        crew->members[i].device = devices[i];
    note_sick(crew);
    return SF_OK;
}

int sf_crew_open(sf_crew *crew, const sf_events *events, const sf_crew_job *job, sf_error *error)
{
    *crew = (sf_crew){.events = events};
    const char *name = job->device;
    size_t length = name != NULL ? strlen(name) : 0, ending = strlen(SF_ALL_DEVICES);
    bool all = length > ending && strcmp(name + length - ending, SF_ALL_DEVICES) == 0;
    sf_device *one = NULL;
    int status = all ? choose_all(crew, job, error)
                     : sf_device_choose(&one, name, job->operation, job->engine,
                                        job->core_seconds / job->threads, error);
    if (one != NULL)
        crew->members[crew->count++].device = one;
    for (uint32_t i = 0; i < crew->count && status == SF_OK; i++)
        status = sf_engine_check(crew->members[i].device, job->operation, job->engine, error);
    if (status != SF_OK)
        crew->count = 0;
    rename_crew(crew);
    return status;
}

void sf_crew_dismiss(sf_crew *crew, sf_member *member)
{
    member->out = true;
    note(crew, &member->reason);
    rename_crew(crew);
}

void sf_crew_close(sf_crew *crew)
{
    for (uint32_t i = 0; i < crew->count; i++)
        sf_device_stream_close(crew->members[i].stream);
    *crew = (sf_crew){.name = "cpu"};
}

uint64_t sf_crew_memory(const sf_crew *crew)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < crew->count; i++) {
        sf_backend_facts facts = {0};
        if (crew->members[i].out)
            continue;
        sf_device_facts(crew->members[i].device, &facts);
        sf_log(SF_LOG_DEBUG, "%s: jobs have taken %" PRIu64 " MiB of memory at most, and may take %" PRIu64,
               sf_device_name(crew->members[i].device), facts.memory_peak >> 20, facts.memory_limit >> 20);
        most = facts.memory_peak > most ? facts.memory_peak : most;
    }
    return most;
}

/* ---- dividing a job ---- */

/* Does one item on a member. SF_UNAVAILABLE: the member leaves, and another is to do it. Items are few. */
typedef int (*crew_body)(void *context, sf_member *member, size_t item, sf_error *error);

typedef struct division {
    sf_crew *crew;
    crew_body body;
    void *context;
    size_t *left; /* items to do in this round, */
    bool *done;   /* and which of them are */
    size_t count;
    uint32_t active[SF_MOST_DEVICES]; /* the members of this round */
    atomic_size_t next;               /* of `left`, beyond the first of each member */
    atomic_bool stopped;
} division;

/* A member begins with an item of its own, however late its thread is, and takes others as long as it can. */
static int work_round(void *context, unsigned worker, size_t item)
{
    division *d = context;
    sf_member *member = &d->crew->members[d->active[item]];
    int status = SF_OK;
    member->leads = worker == 0;
    for (size_t i = item; i < d->count && status == SF_OK && !atomic_load(&d->stopped);
         i = atomic_fetch_add(&d->next, 1)) {
        status = d->body(d->context, member, d->left[i], &member->reason);
        d->done[i] = status == SF_OK;
    }
    member->out = status == SF_UNAVAILABLE;
    if (status != SF_OK && !member->out)
        atomic_store(&d->stopped, true);
    return member->out ? SF_OK : status;
}

static void forget_done(division *d)
{
    size_t left = 0;
    for (size_t i = 0; i < d->count; i++)
        if (!d->done[i])
            d->left[left++] = d->left[i];
    d->count = left;
}

/* Everything that is left to do, on the members that are left. */
static int do_round(division *d, sf_error *error)
{
    sf_crew *crew = d->crew;
    uint32_t members = 0;
    for (uint32_t i = 0; i < crew->count; i++)
        if (!crew->members[i].out)
            d->active[members++] = i;
    uint32_t busy = members < d->count ? members : (uint32_t)d->count;
    atomic_store(&d->next, busy);
    memset(d->done, 0, d->count * sizeof *d->done);
    int status = sf_parallel_for(busy, busy, work_round, d);
    for (uint32_t i = 0; i < busy; i++) {
        const sf_member *member = &crew->members[d->active[i]];
        if (member->out)
            note(crew, &member->reason);
        else if (status != SF_OK && (int)member->reason.code == status && error != NULL)
            *error = member->reason;
    }
    rename_crew(crew);
    forget_done(d);
    return status;
}

static int divide(sf_crew *crew, size_t count, crew_body body, void *context, sf_error *error)
{
    division d = {.crew = crew, .body = body, .context = context, .count = count};
    d.left = sf_resize(NULL, count, sizeof *d.left);
    d.done = sf_resize(NULL, count, sizeof *d.done);
    int status = d.left != NULL && d.done != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; i < count && status == SF_OK; i++)
        d.left[i] = i;
    while (d.count > 0 && status == SF_OK)
        status = members_left(crew) > 0 ? do_round(&d, error)
                                        : sf_fail(error, SF_UNAVAILABLE, NULL, "%s", crew->note);
    sf_free(d.left);
    sf_free(d.done);
    return status;
}

static int open_stream(const sf_crew *crew, sf_member *member, sf_error *error)
{
    if (crew->raw.spikes != NULL)
        return sf_events_raw_stream(&member->stream, crew->events, &crew->raw, member->device, error);
    sf_stream spikes = sf_events_stream(crew->events);
    return sf_device_stream_open(&member->stream, member->device, &spikes, error);
}

/* The events go to a member with its first share. */
static int send_events(const sf_crew *crew, sf_member *member, sf_error *error)
{
    if (member->stream != NULL)
        return SF_OK;
    double begin = sf_clock_seconds();
    int status = open_stream(crew, member, error);
    member->sending += sf_clock_seconds() - begin;
    return status;
}

/* ---- counting ---- */

typedef struct counting {
    sf_crew *crew;
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
    int status = send_events(c->crew, member, error);
    if (status == SF_OK && needs_crossover(job.engine))
        status = sf_crossover_for(&job.crossover, member->device, 1, own.size, job.last - job.first, error);
    return status == SF_OK ? sf_device_count_episodes(member->stream, &job, error) : status;
}

int sf_crew_count(sf_crew *crew, const sf_engine *engine, uint32_t *counts, const sf_count_job *job,
                  sf_error *error)
{
    sf_backend_count request = {.engine = engine->name,
                                .first = job->first,
                                .last = job->last,
                                .candidates = job->candidates,
                                .least = job->least,
                                .counts = counts,
                                .tally = job->tally};
    size_t members = members_left(crew), most = job->candidates->count;
    counting c = {.crew = crew, .job = &request, .shares = members < most ? members : most};
    if (c.shares == 0)
        c.shares = 1;
    int status = divide(crew, c.shares, count_share, &c, error);
    for (size_t i = 0; i < c.shares && status == SF_OK; i++) {
        job->tally->culled += c.tallies[i].culled;
        job->tally->segmented += c.tallies[i].segmented;
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
    sf_crew *crew;
    const sf_engine *engine;
    const sf_mine_job *job;
    sf_tree *tree;
    uint32_t *forbidden;
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

/* The pairs that are too close to each other, as bits; NULL in *bits: none is. */
static int forbid(uint32_t **bits, const sf_pair_rule *rule, uint32_t units, sf_error *error)
{
    *bits = NULL;
    if (rule->min_distance_um <= 0)
        return SF_OK;
    size_t words = (units + 31) / 32;
    sf_pair_rule near = *rule;
    near.self = true; /* the backend knows that rule itself */
    *bits = sf_alloc(words * units, sizeof **bits);
    if (*bits == NULL)
        return sf_fail_memory(error);
    for (uint32_t from = 0; from < units; from++)
        for (uint32_t to = 0; to < units; to++)
            if (!sf_pair_allowed(&near, from, to))
                (*bits)[from * words + to / 32] |= UINT32_C(1) << (to & 31);
    return SF_OK;
}

static int fail_most(size_t most, sf_error *error)
{
    return sf_fail(error, SF_DATA, NULL,
                   "more than %zu episodes are frequent: ask for a higher threshold, fewer or narrower "
                   "delays, or a smaller size",
                   most);
}

static int take_level(void *user, uint32_t size, const sf_found *found, size_t count, double seconds)
{
    receiver *r = user;
    sf_level *level = &r->to->levels[size - 1];
    r->to->seconds[size] = seconds;
    if (atomic_fetch_add(&r->all->total, count) + count > r->all->job->most)
        return fail_most(r->all->job->most, &r->error);
    for (size_t i = 0; i < count; i++)
        if (sf_level_append(level, found[i].parent, found[i].step, found[i].count) != SF_OK)
            return sf_fail_memory(&r->error);
    bool only = r->all->share_count == 1; /* then it is the tree's own level */
    return only ? sf_tree_link(r->all->tree, size, &r->error) : SF_OK;
}

static void forget_levels(mining *m, share *own)
{
    for (uint32_t size = 2; size <= SF_EPISODE_MAX_SIZE; size++) {
        atomic_fetch_sub(&m->total, own->levels[size - 1].count);
        sf_free(own->levels[size - 1].nodes);
        own->levels[size - 1] = (sf_level){0};
    }
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
                               .take = take_level,
                               .user = &r};
    if (member->leads)
        request.progress = m->job->progress;
    int status = send_events(m->crew, member, error);
    if (status == SF_OK)
        status = sf_device_mine(member->stream, &request, error);
    if (r.error.code != SF_OK && status == (int)r.error.code)
        *error = r.error;
    if (status != SF_OK)
        forget_levels(m, own);
    return status;
}

/* Shares of about as many spikes, and at least one unit, each. */
static int cut(mining *m, size_t count)
{
    const sf_events *events = m->crew->events;
    uint32_t shares = count < events->unit_count ? (uint32_t)count : events->unit_count, unit = 0;
    m->shares = sf_alloc(shares, sizeof *m->shares);
    if (m->shares == NULL)
        return SF_NO_MEMORY;
    m->share_count = shares;
    for (uint32_t i = 0; i < shares; i++) {
        share *own = &m->shares[i];
        own->levels = shares == 1 ? m->tree->levels : own->own;
        own->first = unit++;
        uint32_t others = shares - 1 - i; /* they need a unit each */
        uint64_t until = (uint64_t)events->count * (i + 1) / shares;
        while (unit < events->unit_count - others && (others == 0 || events->first[unit] < until))
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
    for (uint32_t size = 2; size <= m->job->max_size && status == SF_OK; size++) {
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
        if (status == SF_OK)
            status = sf_tree_link(m->tree, size, error);
    }
    sf_free(base);
    return status;
}

/* Shares are worked on side by side: each size gets its part of the time that passed after the slowest member
 * had the events. */
static void share_time(const mining *m, double *seconds, double passed)
{
    double total = 0, sending = 0;
    for (uint32_t i = 0; i < m->crew->count; i++)
        sending = m->crew->members[i].sending > sending ? m->crew->members[i].sending : sending;
    sending = sending < passed ? sending : passed;
    seconds[1] += sending;
    passed -= sending;
    for (uint32_t size = 2; size <= m->job->max_size; size++) {
        seconds[size] = 0;
        for (size_t i = 0; i < m->share_count; i++)
            seconds[size] += m->shares[i].seconds[size];
        total += seconds[size];
    }
    for (uint32_t size = 2; size <= m->job->max_size && total > 0; size++)
        seconds[size] *= passed / total;
}

static int mine_in_shares(mining *m, size_t count, double *seconds, sf_error *error)
{
    double start = sf_clock_seconds();
    int status = cut(m, count) == SF_OK ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK)
        status = divide(m->crew, m->share_count, mine_share, m, error);
    if (status == SF_OK && m->share_count > 1)
        status = gather(m, error);
    if (status == SF_OK)
        share_time(m, seconds, sf_clock_seconds() - start);
    for (size_t i = 0; m->share_count > 1 && i < m->share_count; i++)
        forget_levels(m, &m->shares[i]);
    if (status != SF_OK) {
        share whole = {.levels = m->tree->levels};
        forget_levels(m, &whole);
    }
    sf_free(m->shares);
    m->shares = NULL;
    m->share_count = 0;
    return status;
}

/* Lets members that have refused, but not failed, take part again: a job on the events, where they hold them,
 * or else the events. True where there is one. */
static bool call_back(sf_crew *crew, bool holding)
{
    uint32_t back = 0;
    for (uint32_t i = 0; i < crew->count; i++) {
        sf_member *member = &crew->members[i];
        member->out = (member->stream != NULL) != holding || sf_device_sick(member->device, NULL);
        back += !member->out;
    }
    if (back > 0)
        note_sick(crew);
    return back > 0;
}

bool sf_crew_laid_out(sf_crew *crew)
{
    crew->raw = (sf_raw_spikes){0};
    return call_back(crew, false);
}

int sf_crew_mine(sf_crew *crew, const sf_engine *engine, sf_tree *tree, double *seconds,
                 const sf_mine_job *job, sf_error *error)
{
    mining m = {.crew = crew, .engine = engine, .job = job, .tree = tree};
    int status = forbid(&m.forbidden, &job->pairs, crew->events->unit_count, error);
    if (status != SF_OK)
        return status;
    size_t shares = crew->count; /* each prepares the whole stream: more would cost more */
    status = mine_in_shares(&m, shares, seconds, error);
    for (int halving = 0; halving < MOST_HALVINGS && status == SF_UNAVAILABLE && call_back(crew, true);
         halving++) {
        shares *= 2;
        status = mine_in_shares(&m, shares, seconds, error);
    }
    rename_crew(crew);
    sf_free(m.forbidden);
    return status;
}
