/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ranks.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <string.h>

/* What each rank tells before anything is joined: which call it is at, and how its share went. */
typedef struct told {
    uint64_t step, size;
    int64_t status;
} told;

enum { STEP_AGREE = 1, STEP_GATHER, STEP_JOIN, STEP_END };

/* Of this thread: tests run ranks as threads. */
static _Thread_local const sf_ranks_way *here;
static _Thread_local told *heard;      /* by rank */
static _Thread_local size_t *sizes;    /* by rank, of what each has */
static _Thread_local uint32_t place;   /* among those of the machine */
static _Thread_local sf_error failure; /* what some rank has failed at: from then on nobody waits */

int sf_ranks_use(const sf_ranks_way *way, sf_error *error)
{
    sf_free(heard);
    sf_free(sizes);
    here = NULL;
    heard = NULL;
    sizes = NULL;
    place = way != NULL ? way->place : 0;
    failure = (sf_error){0};
    sf_thread_allot(way != NULL ? way->cores : 0);
    if (way == NULL) return SF_OK;
    heard = sf_resize(NULL, way->count, sizeof *heard);
    sizes = sf_resize(NULL, way->count, sizeof *sizes);
    if (heard == NULL || sizes == NULL) return sf_fail_memory(error);
    here = way;
    return SF_OK;
}

void sf_ranks_leave(void)
{
    uint32_t own = place;
    sf_ranks_use(NULL, NULL);
    place = own;
}

uint32_t sf_ranks_count(void)
{
    return here != NULL ? here->count : 1;
}

uint32_t sf_ranks_rank(void)
{
    return here != NULL ? here->rank : 0;
}

uint32_t sf_ranks_place(void)
{
    return place;
}

static size_t begin_of(size_t count, uint32_t rank)
{
    return (size_t)((unsigned __int128)count * rank / sf_ranks_count());
}

sf_ranks_part sf_ranks_share(size_t count)
{
    return (sf_ranks_part){begin_of(count, sf_ranks_rank()), begin_of(count, sf_ranks_rank() + 1)};
}

/* ---- agreeing ---- */

/* Whoever has a sentence of its own for a failure that was told without one keeps it. */
static int fail_all(const sf_error *reason, sf_error *error)
{
    failure = *reason;
    if (error != NULL && (failure.text[0] != '\0' || error->code != failure.code)) *error = failure;
    return (int)failure.code;
}

/* The sentence of the rank `first`, which all then have. */
static int hear_failure(uint32_t first, sf_error *error)
{
    sf_error reason = {0}, own = error != NULL ? *error : (sf_error){0};
    own.code = (sf_status)heard[first].status;
    for (uint32_t r = 0; r < here->count; r++)
        sizes[r] = r == first ? sizeof reason : 0;
    here->gather(here, &own, &reason, sizes);
    return fail_all(&reason, error);
}

/* What a call that joins begins with: all tell how they are, and how much each has. */
static int meet(uint64_t step, size_t size, int status, sf_error *error)
{
    if (failure.code != SF_OK) return fail_all(&failure, error);
    told own = {.step = step, .size = size, .status = status};
    for (uint32_t r = 0; r < here->count; r++)
        sizes[r] = sizeof own;
    here->gather(here, &own, heard, sizes);
    for (uint32_t r = 0; r < here->count; r++)
        if (heard[r].status != SF_OK) return hear_failure(r, error);
    for (uint32_t r = 0; r < here->count; r++) {
        if (heard[r].step != step || (step == STEP_JOIN && heard[r].size != size)) {
            sf_error reason = {0};
            sf_fail(&reason, SF_INTERNAL, NULL, "ranks %u and %u are at different steps of the work",
                    here->rank, r);
            return fail_all(&reason, error);
        }
        sizes[r] = (size_t)heard[r].size;
    }
    return SF_OK;
}

int sf_ranks_agree(int status, sf_error *error)
{
    return here != NULL ? meet(STEP_AGREE, 0, status, error) : status;
}

int sf_ranks_end(int status, sf_error *error)
{
    return here != NULL ? meet(STEP_END, 0, status, error) : status;
}

/* ---- joining ---- */

int sf_ranks_collect(void *items, size_t count, size_t size, int status, sf_error *error)
{
    if (here == NULL) return status;
    sf_ranks_part own = sf_ranks_share(count);
    void *all = sf_resize(NULL, count, size);
    if (all == NULL && status == SF_OK) status = sf_fail_memory(error);
    status = meet(STEP_GATHER, (own.last - own.first) * size, status, error);
    if (status == SF_OK && count > 0) {
        here->gather(here, (char *)items + own.first * size, all, sizes);
        memcpy(items, all, count * size);
    }
    sf_free(all);
    return status;
}

/* Where there is one rank: a copy of what it has. */
static int copy_own(void **all, const void *own, size_t size, sf_error *error)
{
    *all = sf_resize(NULL, size, 1);
    if (*all == NULL) return sf_fail_memory(error);
    if (size > 0) memcpy(*all, own, size);
    return SF_OK;
}

int sf_ranks_append(void **all, size_t *size, const void *own, size_t own_size, int status, sf_error *error)
{
    *all = NULL;
    *size = here == NULL ? own_size : 0;
    if (here == NULL) return status == SF_OK ? copy_own(all, own, own_size, error) : status;
    status = meet(STEP_AGREE, own_size, status, error); /* how much it is; then that all have room */
    for (uint32_t r = 0; status == SF_OK && r < here->count; r++)
        *size += sizes[r];
    if (status == SF_OK && (*all = sf_resize(NULL, *size, 1)) == NULL) status = sf_fail_memory(error);
    status = meet(STEP_GATHER, own_size, status, error);
    if (status == SF_OK) {
        here->gather(here, own, *all, sizes);
    } else {
        sf_free(*all);
        *all = NULL;
    }
    return status;
}

static void add(void *context, const void *left, void *right)
{
    const uint64_t *from = left;
    uint64_t *to = right;
    for (size_t i = 0; i < *(const size_t *)context; i++)
        to[i] += from[i];
}

int sf_ranks_join(void *data, size_t size, sf_ranks_joining *joining, void *context, int status,
                  sf_error *error)
{
    if (here == NULL) return status;
    status = meet(STEP_JOIN, size, status, error);
    if (status == SF_OK && size > 0) here->join(here, data, size, joining, context);
    return status;
}

int sf_ranks_add(uint64_t *sums, size_t count, int status, sf_error *error)
{
    return sf_ranks_join(sums, count * sizeof *sums, add, &count, status, error);
}

/* They travel as wide as any sum does. */
int sf_ranks_add_counts(uint32_t *sums, size_t count, int status, sf_error *error)
{
    if (here == NULL) return status;
    uint64_t *wide = sf_resize(NULL, count, sizeof *wide);
    if (wide == NULL && status == SF_OK) status = sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        wide[i] = sums[i];
    status = sf_ranks_add(wide, count, status, error);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        sums[i] = (uint32_t)wide[i];
    sf_free(wide);
    return status;
}

typedef struct shared_loop {
    int (*body)(void *context, unsigned worker, size_t item);
    void *context;
    size_t first;
} shared_loop;

static int do_item(void *context, unsigned worker, size_t item)
{
    const shared_loop *loop = context;
    return loop->body(loop->context, worker, loop->first + item);
}

int sf_ranks_for(unsigned threads, size_t count, int (*body)(void *context, unsigned worker, size_t item),
                 void *context, void *results, size_t size, sf_error *error)
{
    sf_ranks_part own = sf_ranks_share(count);
    shared_loop loop = {.body = body, .context = context, .first = own.first};
    int status = sf_parallel_for(threads, own.last - own.first, do_item, &loop);
    if (status == SF_NO_MEMORY) sf_fail_memory(error);
    return sf_ranks_collect(results, count, size, status, error);
}
