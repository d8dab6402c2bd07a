/* SPDX-License-Identifier: Apache-2.0 */
#include "window/summaries.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/ranks.h"

#include <string.h>

sf_summary *sf_summaries_new(size_t count)
{
    return sf_alloc(count, sizeof(sf_summary));
}

void sf_summaries_free(sf_summary *summaries, size_t count)
{
    for (size_t i = 0; summaries != NULL && i < count; i++)
        sf_summary_free(&summaries[i]);
    sf_free(summaries);
}

/* ---- on their way ---- */

/* What travels: this head, of every summary its number of steps, and then all the steps. */
typedef struct head {
    uint64_t begin, end;
    uint64_t failed; /* there was no memory to join them */
} head;

typedef struct joining {
    size_t count;
    sf_summary scratch;
    sf_summary_step *steps; /* of what is being joined */
    size_t capacity;
} joining;

static uint64_t *counts_in(const void *data)
{
    return (uint64_t *)(uintptr_t)((const char *)data + sizeof(head));
}

static sf_summary_step *steps_in(const void *data, size_t count)
{
    return (sf_summary_step *)(uintptr_t)(counts_in(data) + count);
}

static size_t size_of(size_t count, uint64_t steps)
{
    return sizeof(head) + count * sizeof(uint64_t) + (size_t)steps * sizeof(sf_summary_step);
}

static void pack(void *data, const sf_summary *summaries, size_t count)
{
    sf_summary_step *to = steps_in(data, count);
    head first = {.begin = count > 0 ? summaries[0].begin : 0, .end = count > 0 ? summaries[0].end : 0};
    memcpy(data, &first, sizeof first);
    for (size_t i = 0; i < count; i++) {
        counts_in(data)[i] = summaries[i].step_count;
        if (summaries[i].step_count > 0) memcpy(to, summaries[i].steps, summaries[i].step_count * sizeof *to);
        to += summaries[i].step_count;
    }
}

static sf_summary view(const void *data, size_t i, sf_summary_step *steps)
{
    head of;
    memcpy(&of, data, sizeof of);
    return (sf_summary){
        .begin = of.begin, .end = of.end, .steps = steps, .step_count = (uint32_t)counts_in(data)[i]};
}

/* Composes all summaries of two stretches: those of both have no more steps than these together. */
static int compose_all(joining *j, const void *left, void *right, size_t *used)
{
    sf_summary_step *left_steps = steps_in(left, j->count), *right_steps = steps_in(right, j->count);
    for (size_t i = 0; i < j->count; i++) {
        sf_summary one = view(left, i, left_steps), other = view(right, i, right_steps);
        left_steps += one.step_count;
        right_steps += other.step_count;
        if (sf_summary_compose(&j->scratch, &one, &other, NULL) != SF_OK ||
            sf_reserve(&j->steps, &j->capacity, *used + j->scratch.step_count, sizeof *j->steps) != 0)
            return SF_NO_MEMORY;
        if (j->scratch.step_count > 0)
            memcpy(j->steps + *used, j->scratch.steps, j->scratch.step_count * sizeof *j->steps);
        *used += j->scratch.step_count;
        counts_in(right)[i] = j->scratch.step_count;
    }
    return SF_OK;
}

static void join(void *context, const void *left, void *right)
{
    joining *j = context;
    size_t used = 0;
    head first, second;
    memcpy(&first, left, sizeof first);
    memcpy(&second, right, sizeof second);
    second.failed |= first.failed;
    if (second.failed == 0 && compose_all(j, left, right, &used) != SF_OK) second.failed = 1;
    if (second.failed == 0 && used > 0) memcpy(steps_in(right, j->count), j->steps, used * sizeof *j->steps);
    second.begin = first.begin;
    memcpy(right, &second, sizeof second);
}

/* ---- together ---- */

static int join_all(void *data, size_t size, size_t count, int status, sf_error *error)
{
    joining j = {.count = count};
    head of;
    status = sf_ranks_join(data, size, join, &j, status, error);
    sf_summary_free(&j.scratch);
    sf_free(j.steps);
    if (status != SF_OK) return status;
    memcpy(&of, data, sizeof of);
    return of.failed == 0 ? SF_OK : sf_fail_memory(error);
}

int sf_summaries_count(uint64_t *counts, const sf_summary *summaries, size_t count, int status,
                       sf_error *error)
{
    uint64_t steps = 0;
    for (size_t i = 0; status == SF_OK && i < count; i++)
        steps += summaries[i].step_count;
    status = sf_ranks_add(&steps, 1, status, error);
    void *data = status == SF_OK ? sf_alloc(size_of(count, steps), 1) : NULL;
    if (data != NULL)
        pack(data, summaries, count);
    else if (status == SF_OK)
        status = sf_fail_memory(error);
    status = join_all(data, size_of(count, steps), count, status, error);
    sf_summary_step *of = data != NULL ? steps_in(data, count) : NULL;
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        sf_summary whole = view(data, i, of);
        counts[i] = sf_summary_pass(&whole, 0).count;
        of += whole.step_count;
    }
    sf_free(data);
    return status;
}
