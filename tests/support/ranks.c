/* SPDX-License-Identifier: Apache-2.0 */
#include "support/ranks.h"

#include <pthread.h>

/* What the ranks of one run have in common. */
typedef struct crowd {
    pthread_barrier_t all_here;
    const void *data[TEST_MOST_RANKS]; /* of each, while they join */
    uint64_t seed;
    void (*body)(void *context, uint32_t rank);
    void *context;
} crowd;

typedef struct member {
    sf_ranks_way way; /* first: what a way's functions are given */
    crowd *all;
} member;

static crowd *publish(const sf_ranks_way *way, const void *data)
{
    crowd *all = ((const member *)way)->all;
    all->data[way->rank] = data;
    pthread_barrier_wait(&all->all_here);
    return all;
}

static void gather(const sf_ranks_way *way, const void *own, void *to, const size_t *sizes)
{
    crowd *all = publish(way, own);
    char *at = to;
    for (uint32_t r = 0; r < way->count; r++) {
        if (sizes[r] > 0) memcpy(at, all->data[r], sizes[r]);
        at += sizes[r];
    }
    pthread_barrier_wait(&all->all_here);
}

typedef struct joint {
    const crowd *all;
    size_t size;
    sf_ranks_joining *joining;
    void *context;
    test_random random;
} joint;

/* What ranks first .. last have, cut in two anywhere. Free with free(). */
static void *join_between(joint *j, uint32_t first, uint32_t last)
{
    if (first == last) {
        void *copy = malloc(j->size);
        memcpy(copy, j->all->data[first], j->size);
        return copy;
    }
    uint32_t middle = first + (uint32_t)test_random_below(&j->random, last - first);
    void *left = join_between(j, first, middle), *right = join_between(j, middle + 1, last);
    j->joining(j->context, left, right);
    free(left);
    return right;
}

static void join(const sf_ranks_way *way, void *data, size_t size, sf_ranks_joining *joining, void *context)
{
    crowd *all = publish(way, data);
    joint j = {all, size, joining, context, {all->seed}};
    void *joined = join_between(&j, 0, way->count - 1);
    pthread_barrier_wait(&all->all_here); /* now nobody reads data any more */
    memcpy(data, joined, size);
    free(joined);
}

static void *run_rank(void *argument)
{
    member *own = argument;
    if (sf_ranks_use(&own->way, NULL) == SF_OK) own->all->body(own->all->context, own->way.rank);
    sf_ranks_use(NULL, NULL);
    return NULL;
}

void test_ranks_run(uint32_t count, uint64_t seed, void (*body)(void *context, uint32_t rank), void *context)
{
    crowd all = {.seed = seed, .body = body, .context = context};
    member members[TEST_MOST_RANKS];
    pthread_t threads[TEST_MOST_RANKS];
    pthread_barrier_init(&all.all_here, NULL, count);
    for (uint32_t r = 0; r < count; r++) {
        members[r] = (member){
            {.rank = r, .count = count, .place = r, .cores = 1, .gather = gather, .join = join}, &all};
        pthread_create(&threads[r], NULL, run_rank, &members[r]);
    }
    for (uint32_t r = 0; r < count; r++)
        pthread_join(threads[r], NULL);
    pthread_barrier_destroy(&all.all_here);
}
