/* SPDX-License-Identifier: Apache-2.0 */
#include "core/backend/backend.h"

#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/place.h"
#include "core/text.h"
#include "core/thread.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define PLUGIN "libsynfire-cuda.so"

struct sf_device {
    char name[32];
    const sf_backend *backend;
    uint32_t index;
    pthread_mutex_t busy; /* held for the length of a call into the backend */
    sf_backend_device *opened;
    atomic_bool ready; /* opened, so that work need not wait for it to start */
    atomic_bool sick;
    sf_error failure; /* where sick: written once, before it is */
    atomic_uint_fast64_t memory;
};

struct sf_device_stream {
    sf_device *device;
    sf_backend_stream *stream;
};

/* All devices of this process. Written under the lock, when the first caller looks for a device. */
static struct registry {
    pthread_mutex_t lock;
    bool searched;
    void *library;
    sf_device *devices;
    uint32_t count;
    sf_error why_none;
    atomic_uint_fast64_t memory_limit;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- loading a plugin ---- */

static int list_devices(const sf_backend *backend, const char *path, sf_error *error)
{
    char why[256] = "";
    uint32_t count = backend->device_count(why, sizeof why);
    if (count == 0)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "there are no devices of %s: %s", backend->name, why);
    registry.devices = sf_alloc(count, sizeof *registry.devices);
    if (registry.devices == NULL)
        return sf_fail_memory(error);
    registry.count = count;
    for (uint32_t i = 0; i < count; i++) {
        sf_device *device = &registry.devices[i];
        device->backend = backend;
        device->index = i;
        snprintf(device->name, sizeof device->name, "%.16s:%" PRIu32, backend->name, i);
        pthread_mutex_init(&device->busy, NULL);
    }
    sf_log(SF_LOG_DEBUG, "%" PRIu32 " devices of %s from %s", count, backend->name, path);
    return SF_OK;
}

static int load(const char *path, sf_error *error)
{
    registry.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (registry.library == NULL)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "cannot load a plugin: %s", dlerror());
    sf_backend_entry entry;
    *(void **)&entry = dlsym(registry.library, SF_BACKEND_SYMBOL);
    if (entry == NULL)
        return sf_fail(error, SF_UNAVAILABLE, path, "is no plugin: it has no %s", SF_BACKEND_SYMBOL);
    const sf_backend *backend = entry();
    if (backend->version != SF_BACKEND_VERSION)
        return sf_fail(error, SF_UNAVAILABLE, path,
                       "is a plugin of interface version %" PRIu32 ", this program needs version %u",
                       backend->version, SF_BACKEND_VERSION);
    return list_devices(backend, path, error);
}

/* Under the lock. */
static void search(void)
{
    if (registry.searched)
        return;
    registry.searched = true;
    static const char *const installed[] = {"synfire/" PLUGIN, SYNFIRE_BIN_TO_LIB "/synfire/" PLUGIN, NULL};
    char path[SF_PLACE_SIZE];
    if (!sf_place_find(path, "gpu/" PLUGIN, installed)) {
        sf_fail(&registry.why_none, SF_UNAVAILABLE, NULL, "the plugin " PLUGIN " is not installed");
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
        pthread_mutex_destroy(&device->busy);
    }
    sf_free(registry.devices);
    registry.devices = NULL;
    registry.count = 0;
    if (registry.library != NULL)
        dlclose(registry.library);
    registry.library = NULL;
    registry.searched = false;
    registry.why_none = (sf_error){0};
}

void sf_devices_close(void)
{
    pthread_mutex_lock(&registry.lock);
    forget();
    pthread_mutex_unlock(&registry.lock);
}

int sf_devices_use(const char *path, sf_error *error)
{
    pthread_mutex_lock(&registry.lock);
    forget();
    registry.searched = true;
    int status = load(path, &registry.why_none);
    if (status != SF_OK && error != NULL)
        *error = registry.why_none;
    pthread_mutex_unlock(&registry.lock);
    return status;
}

/* ---- finding a device ---- */

uint32_t sf_device_count(void)
{
    pthread_mutex_lock(&registry.lock);
    search();
    uint32_t count = registry.count;
    pthread_mutex_unlock(&registry.lock);
    return count;
}

sf_device *sf_device_at(uint32_t index)
{
    return index < sf_device_count() ? &registry.devices[index] : NULL;
}

const char *sf_device_name(const sf_device *device)
{
    return device != NULL ? device->name : "cpu";
}

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
    if (!known)
        sf_log(level, "%s has failed and is not used again: %s", device->name, failure->text);
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
    if (sick)
        sf_fail(error, SF_UNAVAILABLE, NULL, "%s has failed: %s", device->name, device->failure.text);
    return sick;
}

int sf_device_hold(sf_device *device, sf_error *error)
{
    pthread_mutex_lock(&device->busy);
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
    if (status != SF_OK)
        pthread_mutex_unlock(&device->busy);
    return status;
}

int sf_device_answer(sf_device *device, int status, const sf_error *failure, sf_error *error)
{
    if (status != SF_OK && error != NULL)
        *error = *failure;
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
    pthread_mutex_unlock(&device->busy);
    return status;
}

void sf_device_discard(sf_device *device, void (*close)(void *object), void *object)
{
    pthread_mutex_lock(&device->busy);
    close(object);
    pthread_mutex_unlock(&device->busy);
}

const sf_backend *sf_device_backend(const sf_device *device)
{
    return device->backend;
}

sf_backend_device *sf_device_opened(const sf_device *device)
{
    return device->opened;
}

static int fail_name(const char *name, sf_error *error)
{
    return sf_fail(error, SF_USAGE, NULL,
                   "there is no device '%s': expected auto, cpu, cuda, cuda:N or cuda:all", name);
}

static bool names_all(const char *name, const char *backend)
{
    size_t length = strlen(backend);
    return strncmp(name, backend, length) == 0 && strcmp(name + length, SF_ALL_DEVICES) == 0;
}

static int fail_absent(const char *name, sf_error *error)
{
    return sf_fail(error, SF_UNAVAILABLE, NULL, "there is no device %s: %s%s%s", name,
                   registry.why_none.place, registry.why_none.place[0] != '\0' ? " " : "",
                   registry.why_none.text);
}

/* The name of the one backend that is loaded, or of the one that might be. */
static const char *backend_name(uint32_t count)
{
    return count > 0 ? registry.devices[0].backend->name : "cuda";
}

/* "cuda" or "cuda:N": the place in the list, for the name of a backend. */
static int parse_name(uint32_t *index, const char *name, const char *backend, sf_error *error)
{
    uint64_t number = 0;
    size_t length = strlen(backend);
    if (strncmp(name, backend, length) != 0 ||
        (name[length] != '\0' &&
         (name[length] != ':' || !sf_parse_uint(name + length + 1, UINT32_MAX, &number))))
        return fail_name(name, error);
    *index = (uint32_t)number;
    return SF_OK;
}

bool sf_device_may_be(const char *name)
{
    if (strcmp(name, "auto") == 0 || strcmp(name, "cpu") == 0)
        return true;
    pthread_mutex_lock(&registry.lock);
    const char *backend = backend_name(registry.count);
    pthread_mutex_unlock(&registry.lock);
    uint32_t index;
    return names_all(name, backend) || parse_name(&index, name, backend, NULL) == SF_OK;
}

int sf_device_find(sf_device **found, const char *name, sf_error *error)
{
    *found = NULL;
    if (name == NULL || strcmp(name, "cpu") == 0)
        return SF_OK;
    uint32_t index = 0, count = sf_device_count();
    if (names_all(name, backend_name(count)))
        return sf_fail(error, SF_USAGE, NULL,
                       "'%s' is for work that is divided: expected cpu, cuda or cuda:N", name);
    int status = parse_name(&index, name, backend_name(count), error);
    if (status != SF_OK)
        return status;
    if (count == 0)
        return fail_absent(name, error);
    if (index >= count)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "there is no device %s: there %s %" PRIu32 " of %s", name,
                       count == 1 ? "is" : "are", count, registry.devices[0].backend->name);
    sf_device *device = &registry.devices[index];
    /* One that failed at its work is still the device asked for: jobs on it say what is wrong with it. */
    if (!atomic_load(&device->ready)) {
        status = sf_device_hold(device, error);
        if (status != SF_OK)
            return status;
        pthread_mutex_unlock(&device->busy);
    }
    *found = device;
    return SF_OK;
}

static int start(void *context, unsigned worker, size_t item)
{
    (void)context, (void)worker;
    sf_device *device;
    sf_device_find(&device, registry.devices[item].name, NULL);
    return SF_OK;
}

int sf_devices_find(sf_device *devices[SF_MOST_DEVICES], uint32_t most, uint32_t *found, const char *name,
                    sf_error *error)
{
    *found = 0;
    uint32_t count = name != NULL && strcmp(name, "cpu") != 0 ? sf_device_count() : 0;
    if (name == NULL || !names_all(name, backend_name(count))) {
        int status = sf_device_find(&devices[0], name, error);
        *found = status == SF_OK && devices[0] != NULL;
        return status;
    }
    if (count == 0)
        return fail_absent(name, error);
    int status = SF_OK;
    most = most < SF_MOST_DEVICES ? most : SF_MOST_DEVICES;
    uint32_t first = count < most ? count : most; /* those that would do, if all start */
    sf_parallel_for(first, first, start, NULL);
    for (uint32_t i = 0; i < count && *found < most; i++) {
        sf_device *device = &registry.devices[i];
        int own = sf_device_find(&devices[*found], device->name, error);
        if (own == SF_OK && sf_device_sick(device, error))
            own = SF_UNAVAILABLE;
        if (own == SF_OK)
            ++*found;
        else
            status = own;
    }
    return *found > 0 ? SF_OK : status;
}

/* A driver takes a few tenths of a second to start; copying and reading back a job costs a millisecond. */
#define STARTING_SECONDS 0.5
#define READY_SECONDS 0.002

sf_device *sf_device_auto(double seconds)
{
    if (seconds < READY_SECONDS)
        return NULL;
    pthread_mutex_lock(&registry.lock);
    if (seconds >= STARTING_SECONDS)
        search();
    sf_device *device = NULL;
    for (uint32_t i = 0; i < registry.count && device == NULL; i++) {
        sf_device *candidate = &registry.devices[i];
        if (!atomic_load(&candidate->sick) && (seconds >= STARTING_SECONDS || atomic_load(&candidate->ready)))
            device = candidate;
    }
    pthread_mutex_unlock(&registry.lock);
    if (device == NULL || sf_device_hold(device, NULL) != SF_OK)
        return NULL;
    pthread_mutex_unlock(&device->busy);
    return device;
}

bool sf_device_supports(const sf_device *device, sf_operation operation, const char *engine)
{
    return device != NULL && device->opened != NULL &&
           device->backend->supports(device->opened, operation, engine);
}

void sf_device_facts(sf_device *device, sf_backend_facts *facts)
{
    *facts = (sf_backend_facts){0};
    if (sf_device_hold(device, NULL) != SF_OK)
        return;
    device->backend->facts(device->opened, facts);
    pthread_mutex_unlock(&device->busy);
}

void sf_device_set_memory_limit(uint64_t bytes)
{
    atomic_store(&registry.memory_limit, bytes);
}

/* ---- jobs ---- */

int sf_device_stream_open(sf_device_stream **opened, sf_device *device, const sf_stream *spikes,
                          sf_error *error)
{
    *opened = NULL;
    sf_device_stream *stream = sf_alloc(1, sizeof *stream);
    if (stream == NULL)
        return sf_fail_memory(error);
    stream->device = device;
    int status = sf_device_hold(device, error);
    if (status == SF_OK) {
        sf_error failure = {0};
        status = device->backend->stream_open(&stream->stream, device->opened, spikes, &failure);
        status = sf_device_release(device, status, &failure, error);
    }
    if (status == SF_OK)
        *opened = stream;
    else
        sf_free(stream);
    return status;
}

int sf_device_stream_adopt(sf_device_stream **stream, sf_device *device, sf_backend_stream *made,
                           sf_error *error)
{
    *stream = sf_alloc(1, sizeof **stream);
    if (*stream == NULL) {
        device->backend->stream_close(made);
        return sf_fail_memory(error);
    }
    **stream = (sf_device_stream){device, made};
    return SF_OK;
}

void sf_device_stream_close(sf_device_stream *stream)
{
    if (stream == NULL)
        return;
    pthread_mutex_lock(&stream->device->busy);
    stream->device->backend->stream_close(stream->stream);
    pthread_mutex_unlock(&stream->device->busy);
    sf_free(stream);
}

int sf_device_count_episodes(sf_device_stream *stream, const sf_backend_count *job, sf_error *error)
{
    sf_error failure = {0};
    int status = sf_device_hold(stream->device, error);
    if (status != SF_OK)
        return status;
    status = stream->device->backend->count(stream->stream, job, &failure);
    return sf_device_release(stream->device, status, &failure, error);
}

int sf_device_mine(sf_device_stream *stream, const sf_backend_mine *job, sf_error *error)
{
    sf_error failure = {0};
    int status = sf_device_hold(stream->device, error);
    if (status != SF_OK)
        return status;
    status = stream->device->backend->mine(stream->stream, job, &failure);
    return sf_device_release(stream->device, status, &failure, error);
}
