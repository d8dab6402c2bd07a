/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/storage.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <pthread.h>
#include <stdatomic.h>

#define POLL_EVERY_MS 100

/* A call waits on its caller's stack until the storage thread has run it. */
typedef struct storage_call {
    int (*work)(void *argument);
    void *argument;
    int result;
    bool done;
    struct storage_call *next;
} storage_call;

typedef struct recorder {
    bool (*poll)(void *argument);
    void *argument;
} recorder;

struct sf_storage {
    sf_thread thread;
    sf_bell bell;
    atomic_bool stop;
    pthread_mutex_t lock; /* first, last and the fields of waiting calls */
    pthread_cond_t done;
    storage_call *first, *last;
    recorder *recorders; /* touched by the storage thread alone */
    size_t recorder_count, recorder_capacity;
};

static storage_call *take_call(sf_storage *storage)
{
    pthread_mutex_lock(&storage->lock);
    storage_call *call = storage->first;
    if (call != NULL) storage->first = call->next;
    pthread_mutex_unlock(&storage->lock);
    return call;
}

static void run_calls(sf_storage *storage)
{
    for (storage_call *call; (call = take_call(storage)) != NULL;) {
        int result = call->work(call->argument);
        pthread_mutex_lock(&storage->lock);
        call->result = result;
        call->done = true;
        pthread_cond_broadcast(&storage->done);
        pthread_mutex_unlock(&storage->lock);
    }
}

static void *serve(void *argument)
{
    sf_storage *storage = argument;
    for (;;) {
        bool stopping = atomic_load(&storage->stop);
        run_calls(storage);
        bool more = false;
        for (size_t i = 0; i < storage->recorder_count; i++)
            more = storage->recorders[i].poll(storage->recorders[i].argument) || more;
        if (stopping) return NULL;
        if (!more) sf_bell_wait(&storage->bell, POLL_EVERY_MS);
    }
}

int sf_storage_open(sf_storage **out, sf_error *error)
{
    *out = NULL;
    sf_storage *storage = sf_alloc(1, sizeof *storage);
    if (storage == NULL) return sf_fail_memory(error);
    atomic_init(&storage->stop, false);
    pthread_mutex_init(&storage->lock, NULL);
    pthread_cond_init(&storage->done, NULL);
    int status = sf_bell_open(&storage->bell, error);
    if (status == SF_OK) status = sf_thread_start(&storage->thread, "synfire-storage", serve, storage, error);
    if (status != SF_OK) {
        sf_storage_close(storage);
        return status;
    }
    *out = storage;
    return SF_OK;
}

void sf_storage_close(sf_storage *storage)
{
    if (storage == NULL) return;
    atomic_store(&storage->stop, true);
    if (storage->thread.running) sf_bell_ring(&storage->bell);
    sf_thread_join(&storage->thread);
    sf_bell_close(&storage->bell);
    pthread_cond_destroy(&storage->done);
    pthread_mutex_destroy(&storage->lock);
    sf_free(storage->recorders);
    sf_free(storage);
}

int sf_storage_call(sf_storage *storage, int (*work)(void *argument), void *argument)
{
    storage_call call = {.work = work, .argument = argument};
    pthread_mutex_lock(&storage->lock);
    if (storage->first == NULL)
        storage->first = &call;
    else
        storage->last->next = &call;
    storage->last = &call;
    sf_bell_ring(&storage->bell);
    while (!call.done)
        pthread_cond_wait(&storage->done, &storage->lock);
    pthread_mutex_unlock(&storage->lock);
    return call.result;
}

/* The list of recorders is changed by calls, so that nothing polls while it changes. */
typedef struct list_change {
    sf_storage *storage;
    recorder which;
    sf_error *error;
} list_change;

static int add_recorder(void *argument)
{
    list_change *change = argument;
    sf_storage *storage = change->storage;
    void *recorders = storage->recorders;
    if (sf_reserve(&recorders, &storage->recorder_capacity, storage->recorder_count + 1,
                   sizeof *storage->recorders) != 0)
        return sf_fail_memory(change->error);
    storage->recorders = recorders;
    storage->recorders[storage->recorder_count++] = change->which;
    return SF_OK;
}

static int remove_recorder(void *argument)
{
    list_change *change = argument;
    sf_storage *storage = change->storage;
    for (size_t i = 0; i < storage->recorder_count; i++) {
        if (storage->recorders[i].poll == change->which.poll &&
            storage->recorders[i].argument == change->which.argument) {
            storage->recorders[i] = storage->recorders[--storage->recorder_count];
            break;
        }
    }
    return SF_OK;
}

int sf_storage_add(sf_storage *storage, bool (*poll)(void *argument), void *argument, sf_error *error)
{
    list_change change = {.storage = storage, .which = {poll, argument}, .error = error};
    return sf_storage_call(storage, add_recorder, &change);
}

void sf_storage_remove(sf_storage *storage, bool (*poll)(void *argument), void *argument)
{
    list_change change = {.storage = storage, .which = {poll, argument}};
    sf_storage_call(storage, remove_recorder, &change);
}

void sf_storage_wake(sf_storage *storage)
{
    sf_bell_ring(&storage->bell);
}
