/* SPDX-License-Identifier: Apache-2.0 */
#include "core/backend/device.h"

#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/place.h"
#include "core/platform.h"
#include "core/thread.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <synfire/device.h>

#define PLUGIN "libsynfire-cuda.so"

struct sf_device {
    char name[32];
    const sf_backend *backend;
    uint32_t index;
    struct turn {
        pthread_mutex_t lock;
        pthread_cond_t changed;
        uint64_t next; /* of who comes */
        uint64_t now;  /* whose call into the backend it is; `next`: nobody's */
        uint32_t reservations;
        uint64_t ended; /* reservations, so far */
    } turn;
    sf_backend_device *opened;
    atomic_bool ready; /* opened, so that work need not wait for it to start */
    atomic_bool sick;
    sf_error failure; /* where sick: written once, before it is */
    atomic_uint_fast64_t memory;
};

/* All devices of this process. Written under the lock, when the first caller looks for a device. */
static struct registry {
    pthread_mutex_t lock;
    bool searched;
    void *plugin;
    sf_device *devices;
    uint32_t count;
    sf_error why_none;
    atomic_uint_fast64_t memory_limit;
    double lost; /* seconds, of sf_devices_lose */
    struct starter {
        sf_thread thread;
        bool begun; /* which it is once */
    } starter;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- taking turns ---- */

static _Thread_local bool is_patient;

void sf_device_be_patient(void)
{
    is_patient = true;
}

static bool is_put_off(const struct turn *turn)
{
    return is_patient && turn->reservations > 0;
}

/* In the order of coming, so that who comes often does not keep others waiting. Who is patient lets a
 * reservation end before, but not one after the other. Under the lock. */
static void await_turn(struct turn *turn)
{
    for (uint64_t ended = turn->ended; is_put_off(turn) && turn->ended == ended;)
        pthread_cond_wait(&turn->changed, &turn->lock);
    uint64_t own = turn->next++;
    while (turn->now != own)
        pthread_cond_wait(&turn->changed, &turn->lock);
}

static void end_turn(struct turn *turn)
{
    turn->now++;
    pthread_cond_broadcast(&turn->changed);
}

static void take(sf_device *device)
{
    pthread_mutex_lock(&device->turn.lock);
    await_turn(&device->turn);
    pthread_mutex_unlock(&device->turn.lock);
}

static void leave(sf_device *device)
{
    pthread_mutex_lock(&device->turn.lock);
    end_turn(&device->turn);
    pthread_mutex_unlock(&device->turn.lock);
}

void sf_device_give_way(sf_device *device)
{
    struct turn *turn = &device->turn;
    pthread_mutex_lock(&turn->lock);
    if (turn->next > turn->now + 1 || is_put_off(turn)) {
        end_turn(turn);
        await_turn(turn);
    }
    pthread_mutex_unlock(&turn->lock);
}

void sf_device_reserve(sf_device *device)
{
    if (device == NULL) return;
    pthread_mutex_lock(&device->turn.lock);
    device->turn.reservations++;
    pthread_mutex_unlock(&device->turn.lock);
}

void sf_device_unreserve(sf_device *device)
{
    if (device == NULL) return;
    struct turn *turn = &device->turn;
    pthread_mutex_lock(&turn->lock);
    turn->reservations--;
    turn->ended++;
    pthread_cond_broadcast(&turn->changed);
    pthread_mutex_unlock(&turn->lock);
}

/* ---- loading a plugin ---- */

static int list_devices(const sf_backend *backend, const char *path, sf_error *error)
{
    char why[256] = "";
    uint32_t count = backend->device_count(why, sizeof why);
    if (count == 0)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "there are no devices of %s: %s", backend->name, why);
    registry.devices = sf_alloc(count, sizeof *registry.devices);
    if (registry.devices == NULL) return sf_fail_memory(error);
    registry.count = count;
    for (uint32_t i = 0; i < count; i++) {
        sf_device *device = &registry.devices[i];
        device->backend = backend;
        device->index = i;
        snprintf(device->name, sizeof device->name, "%.16s:%" PRIu32, backend->name, i);
        pthread_mutex_init(&device->turn.lock, NULL);
        pthread_cond_init(&device->turn.changed, NULL);
    }
    sf_log(SF_LOG_DEBUG, "%" PRIu32 " devices of %s from %s", count, backend->name, path);
    return SF_OK;
}

static int load(const char *path, sf_error *error)
{
    char why[256];
    registry.plugin = sf_platform_load(path, why, sizeof why);
    if (registry.plugin == NULL) return sf_fail(error, SF_UNAVAILABLE, NULL, "cannot load a plugin: %s", why);
    sf_backend_entry entry;
    *(void **)&entry = sf_platform_symbol(registry.plugin, SF_BACKEND_SYMBOL);
    if (entry == NULL)
        return sf_fail(error, SF_UNAVAILABLE, path, "is no plugin: it has no %s", SF_BACKEND_SYMBOL);
    const sf_backend *backend = entry();
    if (backend->version != SF_BACKEND_VERSION)
        return sf_fail(error, SF_UNAVAILABLE, path,
                       "is a plugin of interface version %" PRIu32 ", this program needs version %u",
                       backend->version, SF_BACKEND_VERSION);
    if (strcmp(backend->release, SYNFIRE_VERSION) != 0)
        return sf_fail(error, SF_UNAVAILABLE, path, "is the plugin of synfire %s, this is %s",
                       backend->release, SYNFIRE_VERSION);
    return list_devices(backend, path, error);
}

/* Under the lock. */
static void search(void)
{
    if (registry.searched) return;
    registry.searched = true;
    static const char *const installed[] = {"synfire/" PLUGIN, SYNFIRE_BIN_TO_LIB "/synfire/" PLUGIN,
                                            SYNFIRE_LIBEXEC_TO_LIB "/synfire/" PLUGIN, NULL};
    char path[SF_PLACE_SIZE];
    if (!sf_place_find(path, "gpu/" PLUGIN, installed)) {
        sf_fail(&registry.why_none, SF_UNAVAILABLE, NULL,
                "the CUDA plugin is not installed: install synfire-cuda");
        return;
    }
    if (load(path, &registry.why_none) != SF_OK)
        sf_log(SF_LOG_INFO, "running on the CPU: %s%s%s", registry.why_none.place,
               registry.why_none.place[0] != '\0' ? " " : "", registry.why_none.text);
}

/* Under the lock. */
static void forget(void)
{
    for (uint32_t i = 0; i < registry.count; i++) {
        sf_device *device = &registry.devices[i];
        device->backend->close(device->opened);
        pthread_mutex_destroy(&device->turn.lock);
        pthread_cond_destroy(&device->turn.changed);
    }
    sf_free(registry.devices);
    registry.devices = NULL;
    registry.count = 0;
    if (registry.plugin != NULL) sf_platform_unload(registry.plugin);
    registry.plugin = NULL;
    registry.searched = false;
    registry.why_none = (sf_error){0};
    registry.lost = 0;
    registry.starter.begun = false;
}

/* Not under the lock, which a device that does not start takes. */
static void await_starter(void)
{
    pthread_mutex_lock(&registry.lock);
    sf_thread thread = registry.starter.thread;
    registry.starter.thread = (sf_thread){0};
    pthread_mutex_unlock(&registry.lock);
    if (thread.running) sf_thread_join(&thread);
}

void sf_devices_close(void)
{
    await_starter();
    pthread_mutex_lock(&registry.lock);
    forget();
    pthread_mutex_unlock(&registry.lock);
}

int sf_devices_use(const char *path, sf_error *error)
{
    await_starter();
    pthread_mutex_lock(&registry.lock);
    forget();
    registry.searched = true;
    int status = load(path, &registry.why_none);
    if (status != SF_OK && error != NULL) *error = registry.why_none;
    pthread_mutex_unlock(&registry.lock);
    return status;
}

/* ---- what there is ---- */

static uint32_t count_devices(bool look)
{
    pthread_mutex_lock(&registry.lock);
    if (look) search();
    uint32_t count = registry.count;
    pthread_mutex_unlock(&registry.lock);
    return count;
}

uint32_t sf_device_count(void)
{
    return count_devices(true);
}

uint32_t sf_devices_loaded(void)
{
    return count_devices(false);
}

sf_device *sf_device_at(uint32_t index)
{
    return index < sf_device_count() ? &registry.devices[index] : NULL;
}

const char *sf_device_name(const sf_device *device)
{
    return device != NULL ? device->name : "cpu";
}

int sf_device_none(sf_error *error)
{
    return sf_device_count() > 0
               ? SF_OK
               : sf_fail(error, SF_UNAVAILABLE, registry.why_none.place, "%s", registry.why_none.text);
}

void sf_device_facts(sf_device *device, sf_backend_facts *facts)
{
    *facts = (sf_backend_facts){0};
    if (sf_device_hold(device, NULL) != SF_OK) return;
    device->backend->facts(device->opened, facts);
    leave(device);
}

void sf_device_set_memory_limit(uint64_t bytes)
{
    atomic_store(&registry.memory_limit, bytes);
}

bool sf_device_ready(const sf_device *device)
{
    return atomic_load(&device->ready);
}

/* ---- working on one ---- */

/* Two threads may find out at once: the first to say so is believed. */
static void become_sick(sf_device *device, const sf_error *failure, sf_log_level level)
{
    pthread_mutex_lock(&registry.lock);
    bool known = atomic_load(&device->sick);
    if (!known) {
        device->failure = *failure;
        atomic_store(&device->sick, true);
    }
    pthread_mutex_unlock(&registry.lock);
    if (!known) sf_log(level, "%s has failed and is not used again: %s", device->name, failure->text);
}

static void note_memory(sf_device *device)
{
    sf_backend_facts facts = {0};
    device->backend->facts(device->opened, &facts);
    atomic_store(&device->memory, facts.memory_peak);
}

uint64_t sf_device_memory(const sf_device *device)
{
    return device != NULL ? atomic_load(&device->memory) : 0;
}

bool sf_device_sick(sf_device *device, sf_error *error)
{
    bool sick = device != NULL && atomic_load(&device->sick);
    if (sick) sf_fail(error, SF_UNAVAILABLE, NULL, "%s has failed: %s", device->name, device->failure.text);
    return sick;
}

int sf_device_hold(sf_device *device, sf_error *error)
{
    take(device);
    int status = sf_device_sick(device, error) ? SF_UNAVAILABLE : SF_OK;
    if (status == SF_OK && device->opened == NULL) {
        sf_error failure = {0};
        status = device->backend->open(&device->opened, device->index, atomic_load(&registry.memory_limit),
                                       &failure);
        if (status == SF_NO_MEMORY) {
            sf_fail_memory(error);
        } else if (status != SF_OK) {
            /* One sentence is enough: the caller's, where it takes one. */
            become_sick(device, &failure, error != NULL ? SF_LOG_DEBUG : SF_LOG_ERROR);
            sf_device_sick(device, error);
            status = SF_UNAVAILABLE;
        }
        atomic_store(&device->ready, status == SF_OK);
    }
    if (status != SF_OK) leave(device);
    return status;
}

int sf_device_start(sf_device *device, sf_error *error)
{
    if (sf_device_ready(device)) return sf_device_sick(device, error) ? SF_UNAVAILABLE : SF_OK;
    int status = sf_device_hold(device, error);
    if (status == SF_OK) leave(device);
    return status;
}

double sf_devices_lose(double seconds)
{
    pthread_mutex_lock(&registry.lock);
    double lost = registry.lost += seconds;
    pthread_mutex_unlock(&registry.lock);
    return lost;
}

static void *start_it(void *device)
{
    sf_error why = {0};
    if (sf_device_start(device, &why) != SF_OK) sf_log(SF_LOG_INFO, "running on the CPU: %s", why.text);
    return NULL;
}

/* A process does not end while a driver starts: the driver would be unloaded under the thread. */
static void await_at_exit(void)
{
    static atomic_bool registered;
    if (!atomic_exchange(&registered, true)) atexit(await_starter);
}

void sf_device_start_beside(sf_device *device)
{
    pthread_mutex_lock(&registry.lock);
    bool first = !registry.starter.begun;
    registry.starter.begun = true;
    if (first) {
        await_at_exit();
        sf_thread_start(&registry.starter.thread, "synfire-start", start_it, device, NULL);
    }
    pthread_mutex_unlock(&registry.lock);
}

int sf_device_answer(sf_device *device, int status, const sf_error *failure, sf_error *error)
{
    if (status != SF_OK && error != NULL) *error = *failure;
    bool refused =
        status == SF_UNAVAILABLE || status == SF_CANCELLED || status == SF_DATA || status == SF_NO_MEMORY;
    if (status != SF_OK && !refused) {
        become_sick(device, failure, SF_LOG_ERROR);
        sf_device_sick(device, error);
        status = SF_UNAVAILABLE;
    }
    return status;
}

int sf_device_release(sf_device *device, int status, const sf_error *failure, sf_error *error)
{
    status = sf_device_answer(device, status, failure, error);
    note_memory(device);
    leave(device);
    return status;
}

int sf_device_do(sf_device *device, sf_device_job *job, void *context, sf_error *error)
{
    sf_error failure = {0};
    int status = sf_device_hold(device, error);
    return status == SF_OK ? sf_device_release(device, job(context, device, &failure), &failure, error)
                           : status;
}

void sf_device_discard(sf_device *device, void (*close)(void *object), void *object)
{
    take(device);
    close(object);
    leave(device);
}

const sf_backend *sf_device_backend(const sf_device *device)
{
    return device->backend;
}

sf_backend_device *sf_device_opened(const sf_device *device)
{
    return device->opened;
}
