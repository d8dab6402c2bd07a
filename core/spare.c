/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spare.h"

#include "core/platform.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct spare {
    void *block;
    size_t bytes;
} spare;

static atomic_uint keepers;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static spare kept[SF_SPARE_BLOCKS]; /* the oldest first */
static size_t count, sum;

static spare remove_at(size_t i)
{
    spare removed = kept[i];
    memmove(&kept[i], &kept[i + 1], (count - i - 1) * sizeof *kept);
    count--;
    sum -= removed.bytes;
    return removed;
}

static void free_oldest(void)
{
    free(remove_at(0).block);
}

void sf_spare_begin(void)
{
    atomic_fetch_add(&keepers, 1);
}

void sf_spare_end(void)
{
    pthread_mutex_lock(&lock);
    if (atomic_fetch_sub(&keepers, 1) == 1)
        while (count > 0)
            free_oldest();
    pthread_mutex_unlock(&lock);
}

bool sf_spare_is_on(void)
{
    return atomic_load_explicit(&keepers, memory_order_relaxed) > 0;
}

size_t sf_spare_room(size_t bytes)
{
    size_t step = SF_SPARE_LARGE / 8;
    while (step * 16 <= bytes)
        step *= 2;
    return bytes > SF_SPARE_BYTES ? bytes : (bytes + step - 1) / step * step;
}

void *sf_spare_take(size_t bytes)
{
    pthread_mutex_lock(&lock);
    size_t best = count;
    for (size_t i = 0; i < count; i++)
        if (kept[i].bytes >= bytes && kept[i].bytes / 2 < bytes &&
            (best == count || kept[i].bytes < kept[best].bytes))
            best = i;
    void *block = best < count ? remove_at(best).block : NULL;
    pthread_mutex_unlock(&lock);
    return block;
}

bool sf_spare_give(void *block)
{
    size_t bytes = sf_platform_block_bytes(block);
    if (bytes < SF_SPARE_LARGE || bytes > SF_SPARE_BYTES / 2) return false;
    pthread_mutex_lock(&lock);
    bool takes = atomic_load(&keepers) > 0; /* nothing is kept behind the end */
    while (takes && (count == SF_SPARE_BLOCKS || sum + bytes > SF_SPARE_BYTES))
        free_oldest();
    if (takes) kept[count++] = (spare){block, bytes};
    sum += takes ? bytes : 0;
    pthread_mutex_unlock(&lock);
    return takes;
}
