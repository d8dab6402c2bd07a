/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/runner.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

#include <string.h>

/* One run. The runner's lock protects everything but `call`. */
typedef struct course {
    sf_runner *of;
    const sf_hop *call;
    size_t first, end;
    uint32_t begun, over; /* bits of stages */
    size_t told;          /* what stages before this one published has been */
    bool telling;         /* somebody is at it */
    size_t failed;        /* the first that did, or `end` */
    int status;
    sf_error error;
} course;

static bool has_bit(uint32_t bits, size_t i)
{
    return (bits >> i & 1) != 0;
}

/* ---- publishing ---- */

static void tell_outbox(course *at, sf_outbox *outbox)
{
    for (size_t i = 0; i < outbox->count; i++) {
        outbox->items[i]->arrival_ns = at->call->arrival_ns;
        sf_publish(at->of->publisher, outbox->items[i]);
    }
    outbox->count = 0;
}

static void drop_outbox(sf_outbox *outbox)
{
    for (size_t i = 0; i < outbox->count; i++)
        sf_message_release(outbox->items[i]);
    outbox->count = 0;
}

/* Joins what stages published that are over, as far as all before them are. Locked; unlocks while it does. */
static void tell(course *at)
{
    sf_runner *of = at->of;
    if (at->telling) return;
    at->telling = true;
    for (; at->told < at->failed && has_bit(at->over, at->told); at->told++) {
        pthread_mutex_unlock(&of->lock);
        int64_t began_ns = sf_clock_monotonic_ns();
        tell_outbox(at, &of->outboxes[at->told]);
        int64_t took_ns = sf_clock_monotonic_ns() - began_ns;
        pthread_mutex_lock(&of->lock);
        sf_times_add(of->times, SF_PART_PUBLISH, took_ns);
    }
    at->telling = false;
}

/* ---- stages ---- */

static bool is_ready(const course *at, size_t stage)
{
    const sf_schedule *schedule = at->of->schedule;
    uint32_t here = (uint32_t)((UINT64_C(1) << at->end) - (UINT64_C(1) << at->first));
    uint32_t waits = schedule->after[stage] & here & ~at->over;
    return waits == 0 && (!schedule->reads_sinks[stage] || at->told == stage);
}

/* The first that may begin, or `end`. */
static size_t next_stage(const course *at)
{
    size_t stage = at->first;
    while (stage < at->end && (has_bit(at->begun, stage) || !is_ready(at, stage)))
        stage++;
    return stage;
}

static void fail(course *at, size_t stage, int status, const sf_error *reason)
{
    if (stage >= at->failed) return;
    at->failed = stage;
    at->status = status;
    at->error = *reason;
}

/* Locked; unlocks while the stage runs. */
static void run_stage(course *at, size_t number)
{
    sf_runner *of = at->of;
    const sf_stage *stage = of->schedule->stages[number];
    sf_outbox *outbox = &of->outboxes[number];
    sf_hop call = *at->call;
    sf_error error = {0};
    int64_t parts_ns[SF_PARTS] = {0};
    call.stage = stage;
    call.outbox = outbox;
    call.parts_ns = parts_ns;
    at->begun |= 1u << number;
    pthread_mutex_unlock(&of->lock);
    int64_t began_ns = sf_clock_monotonic_ns();
    int status = stage->run(&call, &error);
    if (status == SF_OK && outbox->failed) status = sf_fail_memory(&error);
    outbox->failed = false;
    int64_t took_ns = sf_clock_monotonic_ns() - began_ns;
    pthread_mutex_lock(&of->lock);
    of->took_ns[number] = took_ns;
    sf_times_add(of->times, stage->part, took_ns);
    for (sf_hop_part part = 0; part < SF_PARTS; part++)
        if (parts_ns[part] > 0) sf_times_add(of->times, part, parts_ns[part]);
    at->over |= 1u << number;
    if (status != SF_OK) fail(at, number, status, &error);
    tell(at);
}

/* Takes the next stage that may begin until none is left. After a failure none begins. */
static void work(void *context, unsigned worker, size_t item)
{
    (void)worker;
    (void)item;
    course *at = context;
    sf_runner *of = at->of;
    uint32_t all = (uint32_t)((UINT64_C(1) << at->end) - (UINT64_C(1) << at->first));
    pthread_mutex_lock(&of->lock);
    while (at->failed == at->end && at->begun != all) {
        size_t stage = next_stage(at);
        if (stage == at->end) {
            pthread_cond_wait(&of->changed, &of->lock);
            continue;
        }
        run_stage(at, stage);
        pthread_cond_broadcast(&of->changed);
    }
    pthread_mutex_unlock(&of->lock);
}

/* ---- the way ---- */

/* Time that the team would save if every stage took as long as last time. */
static int64_t expected_gain_ns(const sf_runner *runner, size_t first, size_t end)
{
    int64_t over_ns[SF_SCHEDULE_MOST] = {0}, sum_ns = 0, longest_ns = 0;
    for (size_t i = first; i < end; i++) {
        for (size_t k = first; k < i; k++)
            if (has_bit(runner->schedule->after[i], k) && over_ns[k] > over_ns[i]) over_ns[i] = over_ns[k];
        over_ns[i] += runner->took_ns[i];
        sum_ns += runner->took_ns[i];
        longest_ns = over_ns[i] > longest_ns ? over_ns[i] : longest_ns;
    }
    int64_t shared_ns = sum_ns / sf_team_size(runner->team);
    return sum_ns - (longest_ns > shared_ns ? longest_ns : shared_ns);
}

int sf_runner_run(sf_runner *runner, const sf_hop *call, size_t first, size_t end, sf_error *error)
{
    course at = {.of = runner,
                 .call = call,
                 .first = first,
                 .end = end,
                 .told = first,
                 .failed = end,
                 .status = SF_OK};
    size_t threads = sf_team_size(runner->team);
    if (end - first > 1 && threads > 1 && expected_gain_ns(runner, first, end) >= runner->worth_ns) {
        runner->overlapped++;
        sf_team_run(runner->team, threads, work, &at);
    } else {
        work(&at, 0, 0);
    }
    for (size_t i = at.told; i < end; i++)
        drop_outbox(&runner->outboxes[i]);
    if (at.status != SF_OK && error != NULL) *error = at.error;
    return at.status;
}

/* ---- opening and closing ---- */

int sf_runner_open(sf_runner *runner, const sf_schedule *schedule, sf_publisher *publisher, sf_times *times,
                   unsigned threads, sf_error *error)
{
    *runner = (sf_runner){
        .schedule = schedule, .publisher = publisher, .times = times, .worth_ns = SF_RUNNER_WORTH_NS};
    runner->has_lock = pthread_mutex_init(&runner->lock, NULL) == 0;
    runner->has_changed = pthread_cond_init(&runner->changed, NULL) == 0;
    unsigned most = threads > 0 ? threads : sf_thread_cores();
    int status =
        runner->has_lock && runner->has_changed
            ? sf_team_open(&runner->team, schedule->width < most ? (unsigned)schedule->width : most, error)
            : sf_fail_memory(error);
    if (status != SF_OK) sf_runner_close(runner);
    return status;
}

void sf_runner_close(sf_runner *runner)
{
    sf_team_close(runner->team);
    for (size_t i = 0; i < SF_SCHEDULE_MOST; i++)
        sf_free(runner->outboxes[i].items);
    if (runner->has_lock) pthread_mutex_destroy(&runner->lock);
    if (runner->has_changed) pthread_cond_destroy(&runner->changed);
    *runner = (sf_runner){0};
}
