/* SPDX-License-Identifier: Apache-2.0 */
#include "core/backend/find.h"

#include "core/error.h"
#include "core/ranks.h"
#include "core/text.h"
#include "core/thread.h"

#include <inttypes.h>
#include <string.h>

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
    sf_error why = {0};
    sf_device_none(&why);
    return sf_fail(error, SF_UNAVAILABLE, NULL, "there is no device %s: %s%s%s", name, why.place,
                   why.place[0] != '\0' ? " " : "", why.text);
}

/* The name of the one backend that is loaded, or of the one that might be. */
static const char *backend_name(uint32_t count)
{
    return count > 0 ? sf_device_backend(sf_device_at(0))->name : "cuda";
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
    if (strcmp(name, "auto") == 0 || strcmp(name, "cpu") == 0) return true;
    uint32_t index;
    const char *backend = backend_name(sf_devices_loaded());
    return names_all(name, backend) || parse_name(&index, name, backend, NULL) == SF_OK;
}

/* Ranks of one machine have a device each, as far as they go. */
static uint32_t own_device(uint32_t count)
{
    return sf_ranks_place() % count;
}

int sf_device_find(sf_device **found, const char *name, sf_error *error)
{
    *found = NULL;
    if (name == NULL || strcmp(name, "cpu") == 0) return SF_OK;
    uint32_t index = 0, count = sf_device_count();
    if (names_all(name, backend_name(count)))
        return sf_fail(error, SF_USAGE, NULL,
                       "'%s' is for work that is divided: expected cpu, cuda or cuda:N", name);
    int status = parse_name(&index, name, backend_name(count), error);
    if (status != SF_OK) return status;
    if (index == 0 && count > 0 && strchr(name, ':') == NULL) index = own_device(count);
    if (count == 0) return fail_absent(name, error);
    if (index >= count)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "there is no device %s: there %s %" PRIu32 " of %s", name,
                       count == 1 ? "is" : "are", count, sf_device_backend(sf_device_at(0))->name);
    sf_device *device = sf_device_at(index);
    /* One that failed at its work is still the device asked for: jobs on it say what is wrong with it. */
    status = sf_device_ready(device) ? SF_OK : sf_device_start(device, error);
    if (status == SF_OK) *found = device;
    return status;
}

static int start(void *context, unsigned worker, size_t item)
{
    (void)context, (void)worker;
    sf_device_start(sf_device_at((uint32_t)item), NULL);
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
    if (count == 0) return fail_absent(name, error);
    int status = SF_OK;
    if (sf_ranks_count() > 1) {
        devices[0] = sf_device_at(own_device(count));
        status = sf_device_start(devices[0], error);
        *found = status == SF_OK;
        return status;
    }
    most = most < SF_MOST_DEVICES ? most : SF_MOST_DEVICES;
    uint32_t first = count < most ? count : most; /* those that would do, if all start */
    sf_parallel_for(first, first, start, NULL);
    for (uint32_t i = 0; i < count && *found < most; i++) {
        devices[*found] = sf_device_at(i);
        int own = sf_device_start(devices[*found], error);
        if (own == SF_OK)
            ++*found;
        else
            status = own;
    }
    return *found > 0 ? SF_OK : status;
}

/* A driver takes a few tenths of a second to start. */
#define STARTING_SECONDS 0.5

/* What many short jobs lose together pays for a start as what one long job would. The CPU goes on. */
static void lose(double seconds)
{
    if (sf_devices_lose(seconds) < STARTING_SECONDS) return;
    uint32_t count = sf_device_count(), i = 0;
    while (i < count && sf_device_sick(sf_device_at((own_device(count) + i) % count), NULL))
        i++;
    if (i < count) sf_device_start_beside(sf_device_at((own_device(count) + i) % count));
}

sf_device *sf_device_auto(double here, double there, sf_error *why)
{
    if (here <= there) return NULL;
    bool may_start = here - there >= STARTING_SECONDS;
    uint32_t count = may_start ? sf_device_count() : sf_devices_loaded();
    for (uint32_t i = 0; i < count; i++) {
        sf_device *device = sf_device_at((own_device(count) + i) % count);
        if (sf_device_sick(device, why) || (!may_start && !sf_device_ready(device))) continue;
        if (sf_device_start(device, why) == SF_OK) return device;
    }
    if (!may_start) lose(here - there);
    return NULL;
}
