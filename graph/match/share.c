/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/share.h"

#include "core/error.h"
#include "core/memory.h"

#include <pthread.h>
#include <string.h>

struct sf_share {
    atomic_uint wanted; /* waiting threads less parts that wait for them */
    bool has_lock, has_change;
    pthread_mutex_t lock; /* for all that follows */
    pthread_cond_t change;
    unsigned searching, waiting, count;
    uint64_t handed, given;
    sf_share_part parts[];
};

static void note_wanted(sf_share *s)
{
    atomic_store_explicit(&s->wanted, s->waiting > s->count ? s->waiting - s->count : 0,
                          memory_order_relaxed);
}

int sf_share_open(sf_share **share, unsigned threads, sf_error *error)
{
    unsigned room = threads + SF_PATTERN_MOST;
    sf_share *s = *share = sf_resize(NULL, 1, sizeof *s + room * sizeof *s->parts);
    if (s == NULL)
        return sf_fail_memory(error);
    memset(s, 0, sizeof *s); /* parts are written before they are read */
    s->has_lock = pthread_mutex_init(&s->lock, NULL) == 0;
    s->has_change = pthread_cond_init(&s->change, NULL) == 0;
    return s->has_lock && s->has_change ? SF_OK : sf_fail_memory(error);
}

void sf_share_close(sf_share *s)
{
    if (s == NULL)
        return;
    if (s->has_lock)
        pthread_mutex_destroy(&s->lock);
    if (s->has_change)
        pthread_cond_destroy(&s->change);
    sf_free(s);
}

unsigned sf_share_wanted(const sf_share *s)
{
    return atomic_load_explicit(&s->wanted, memory_order_relaxed);
}

void sf_share_enter(sf_share *s)
{
    pthread_mutex_lock(&s->lock);
    s->searching++;
    pthread_mutex_unlock(&s->lock);
}

void sf_share_leave(sf_share *s, const sf_share_part *part)
{
    s->parts[s->count++] = *part;
    s->handed++;
}

bool sf_share_give(sf_share *s, const sf_share_part *part)
{
    pthread_mutex_lock(&s->lock);
    bool is_wanted = s->waiting > s->count;
    if (is_wanted) {
        s->parts[s->count++] = *part;
        s->handed++;
        s->given++;
        note_wanted(s);
        pthread_cond_signal(&s->change);
    }
    pthread_mutex_unlock(&s->lock);
    return is_wanted;
}

bool sf_share_take(sf_share *s, sf_share_part *part)
{
    pthread_mutex_lock(&s->lock);
    s->searching--;
    s->waiting++;
    note_wanted(s);
    while (s->count == 0 && s->searching > 0)
        pthread_cond_wait(&s->change, &s->lock);
    bool has_part = s->count > 0;
    if (has_part) {
        *part = s->parts[--s->count];
        s->searching++;
    } else {
        pthread_cond_broadcast(&s->change); /* nobody searches: all go */
    }
    s->waiting--;
    note_wanted(s);
    pthread_mutex_unlock(&s->lock);
    return has_part;
}

uint64_t sf_share_count(const sf_share *s)
{
    return s->handed;
}

uint64_t sf_share_given(const sf_share *s)
{
    return s->given;
}
