/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/memory.h"
#include "core/ring.h"
#include "core/thread.h"

#include <sched.h>

static void a_ring_has_room(void **state)
{
    (void)state;
    sf_ring ring;
    sf_error error;
    test_assert_fails(sf_ring_open(&ring, 8, 0, SF_RING_BLOCK, &error), &error, SF_USAGE, "at least one");
    test_assert_fails(sf_ring_open(&ring, 8, UINT64_MAX, SF_RING_BLOCK, &error), &error, SF_NO_MEMORY, NULL);
    sf_ring_close(&ring);
    assert_int_equal(sf_ring_open(&ring, 8, 5, SF_RING_BLOCK, &error), SF_OK);
    assert_int_equal(ring.limit, 8);
    sf_ring_close(&ring);
}

static size_t discarded_count;
static int discarded_first;

static void note_discarded(void *item)
{
    if (discarded_count++ == 0) discarded_first = *(int *)item;
}

static void each_policy_does_what_it_says(void **state)
{
    (void)state;
    static const int numbers[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    int out[12];
    sf_ring ring;
    sf_ring_open(&ring, sizeof(int), 4, SF_RING_BLOCK, NULL);
    assert_int_equal(sf_ring_push(&ring, numbers, 3), 3);
    assert_int_equal(sf_ring_push(&ring, numbers + 3, 3), 1);
    assert_int_equal(sf_ring_fill(&ring), 4);
    assert_int_equal(sf_ring_pop(&ring, out, 12, NULL), 4);
    assert_memory_equal(out, numbers, 4 * sizeof(int));
    assert_int_equal(sf_ring_dropped(&ring), 0);
    sf_ring_close(&ring);

    sf_ring_open(&ring, sizeof(int), 4, SF_RING_DROP_NEWEST, NULL);
    assert_int_equal(sf_ring_push(&ring, numbers, 12), 4);
    assert_int_equal(sf_ring_dropped(&ring), 8);
    assert_int_equal(sf_ring_pop(&ring, out, 3, NULL), 3);
    assert_int_equal(sf_ring_push(&ring, numbers + 4, 4), 3); /* across the end of the memory */
    assert_int_equal(sf_ring_pop(&ring, out, 12, NULL), 4);
    assert_memory_equal(out, numbers + 3, 4 * sizeof(int));
    sf_ring_close(&ring);

    sf_ring_open(&ring, sizeof(int), 4, SF_RING_DROP_OLDEST, NULL);
    discarded_count = 0;
    assert_int_equal(sf_ring_push(&ring, numbers, 12), 8); /* twice the limit, then the newest are refused */
    assert_int_equal(sf_ring_pop(&ring, out, 12, note_discarded), 4);
    assert_memory_equal(out, numbers + 4, 4 * sizeof(int));
    assert_int_equal(discarded_count, 4);
    assert_int_equal(discarded_first, 0);
    assert_int_equal(sf_ring_dropped(&ring), 8);
    sf_ring_close(&ring);
}

static void items_are_seen_where_they_are(void **state)
{
    (void)state;
    static const int numbers[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const void *items;
    int out[12];
    sf_ring ring;
    sf_ring_open(&ring, sizeof(int), 4, SF_RING_BLOCK, NULL);
    assert_int_equal(sf_ring_look(&ring, &items, 12, NULL), 0);
    sf_ring_push(&ring, numbers, 4);
    assert_int_equal(sf_ring_look(&ring, &items, 3, NULL), 3);
    assert_memory_equal(items, numbers, 3 * sizeof(int));
    assert_int_equal(sf_ring_push(&ring, numbers + 4, 1), 0); /* they keep their room ... */
    sf_ring_release(&ring, 3);
    assert_int_equal(sf_ring_push(&ring, numbers + 4, 4), 3);   /* ... until they are let go */
    assert_int_equal(sf_ring_look(&ring, &items, 12, NULL), 1); /* to the end of the memory */
    assert_int_equal(*(const int *)items, 3);
    sf_ring_release(&ring, 1);
    assert_int_equal(sf_ring_look(&ring, &items, 12, NULL), 3);
    assert_memory_equal(items, numbers + 4, 3 * sizeof(int));
    sf_ring_close(&ring);

    sf_ring_open(&ring, sizeof(int), 4, SF_RING_DROP_OLDEST, NULL);
    discarded_count = 0;
    sf_ring_push(&ring, numbers, 6);
    assert_int_equal(sf_ring_look(&ring, &items, 12, note_discarded), 4);
    assert_memory_equal(items, numbers + 2, 4 * sizeof(int));
    assert_int_equal(discarded_count, 2);
    assert_int_equal(sf_ring_push(&ring, numbers + 6, 6), 4); /* what is seen is not written over */
    assert_memory_equal(items, numbers + 2, 4 * sizeof(int));
    sf_ring_release(&ring, 4);
    assert_int_equal(sf_ring_pop(&ring, out, 12, NULL), 4);
    assert_memory_equal(out, numbers + 6, 4 * sizeof(int));
    sf_ring_close(&ring);
}

typedef struct stream_item {
    uint64_t number;
    uint64_t check;
} stream_item;

typedef struct exchange {
    sf_ring ring;
    uint64_t count;
    atomic_bool finished;
} exchange;

#define BATCH 37

static void *produce(void *argument)
{
    exchange *shared = argument;
    test_random random = {.state = 5};
    stream_item items[BATCH];
    for (uint64_t next = 0; next < shared->count;) {
        size_t wanted = 1 + (size_t)test_random_below(&random, BATCH);
        if (wanted > shared->count - next) wanted = (size_t)(shared->count - next);
        for (size_t i = 0; i < wanted; i++)
            items[i] = (stream_item){next + i, ~(next + i)};
        size_t taken = sf_ring_push(&shared->ring, items, wanted);
        next += shared->ring.policy == SF_RING_BLOCK ? taken : wanted;
        if (taken < wanted) sched_yield();
    }
    atomic_store(&shared->finished, true);
    return NULL;
}

/* Two threads: what arrives is ascending and whole, and pushed = popped + dropped. */
static void exchange_under(sf_ring_policy policy)
{
    exchange shared = {.count = 200000};
    assert_int_equal(sf_ring_open(&shared.ring, sizeof(stream_item), 64, policy, NULL), SF_OK);
    sf_thread producer;
    assert_int_equal(sf_thread_start(&producer, "producer", produce, &shared, NULL), SF_OK);
    sf_memory_fail_after(0); /* the ring never allocates */
    uint64_t popped = 0, least_next = 0, wrong = 0;
    test_random random = {.state = 6};
    stream_item items[2 * BATCH];
    for (;;) {
        bool last = atomic_load(&shared.finished);
        size_t taken = sf_ring_pop(&shared.ring, items, 1 + test_random_below(&random, 2 * BATCH), NULL);
        for (size_t i = 0; i < taken; i++) {
            wrong += items[i].number < least_next || items[i].check != ~items[i].number;
            least_next = items[i].number + 1;
        }
        popped += taken;
        if (taken == 0 && last) break;
        if (taken == 0) sched_yield();
        wrong += sf_ring_fill(&shared.ring) > shared.ring.capacity;
    }
    sf_memory_fail_after(-1);
    sf_thread_join(&producer);
    assert_int_equal(wrong, 0);
    assert_int_equal(popped + sf_ring_dropped(&shared.ring), shared.count);
    if (policy == SF_RING_BLOCK) assert_int_equal(popped, shared.count);
    sf_ring_close(&shared.ring);
}

static void two_threads_lose_nothing_uncounted(void **state)
{
    (void)state;
    exchange_under(SF_RING_BLOCK);
    exchange_under(SF_RING_DROP_OLDEST);
    exchange_under(SF_RING_DROP_NEWEST);
}

static int open_and_close(void *context)
{
    (void)context;
    sf_ring ring;
    int status = sf_ring_open(&ring, 16, 100, SF_RING_DROP_OLDEST, NULL);
    sf_ring_close(&ring);
    return status;
}

static void allocation_failures_leak_nothing(void **state)
{
    (void)state;
    test_fail_every_allocation(open_and_close, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_has_room),
        cmocka_unit_test(each_policy_does_what_it_says),
        cmocka_unit_test(items_are_seen_where_they_are),
        cmocka_unit_test(two_threads_lose_nothing_uncounted),
        cmocka_unit_test(allocation_failures_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
