/* SPDX-License-Identifier: Apache-2.0 */
/* include/synfire/device.h: the devices as a program sees them. */
#include "core/backend/find.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/options.h"

#include <string.h>
#include <synfire/device.h>

typedef struct listed {
    sf_backend_facts facts;
    sf_error why_not; /* code 0: usable */
} listed;

struct sf_devices {
    sf_error why_none;
    listed *listed;
    const char **names, **descriptions, **why_not;
    uint64_t *memory, *memory_limit, *memory_peak;
    sf_devices_columns columns;
};

static void describe(sf_devices *list, size_t i)
{
    sf_device *device = sf_device_at((uint32_t)i);
    listed *entry = &list->listed[i];
    sf_device_facts(device, &entry->facts);
    bool failed = sf_device_sick(device, &entry->why_not);
    list->names[i] = sf_device_name(device);
    list->descriptions[i] = entry->facts.description;
    list->why_not[i] = failed ? entry->why_not.text : NULL;
    list->memory[i] = entry->facts.memory;
    list->memory_limit[i] = entry->facts.memory_limit;
    list->memory_peak[i] = entry->facts.memory_peak;
}

static bool make_room(sf_devices *list, size_t count)
{
    list->listed = sf_alloc(count, sizeof *list->listed);
    list->names = sf_alloc(count, sizeof *list->names);
    list->descriptions = sf_alloc(count, sizeof *list->descriptions);
    list->why_not = sf_alloc(count, sizeof *list->why_not);
    list->memory = sf_alloc(count, sizeof *list->memory);
    list->memory_limit = sf_alloc(count, sizeof *list->memory_limit);
    list->memory_peak = sf_alloc(count, sizeof *list->memory_peak);
    return list->listed != NULL && list->names != NULL && list->descriptions != NULL &&
           list->why_not != NULL && list->memory != NULL && list->memory_limit != NULL &&
           list->memory_peak != NULL;
}

int sf_devices_list(sf_devices **devices, sf_error *error)
{
    *devices = NULL;
    size_t count = sf_device_count();
    sf_devices *list = sf_alloc(1, sizeof *list);
    if (list == NULL || !make_room(list, count)) {
        sf_devices_free(list);
        return sf_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++)
        describe(list, i);
    bool none = sf_device_none(&list->why_none);
    list->columns = (sf_devices_columns){.size = sizeof list->columns,
                                         .count = count,
                                         .names = list->names,
                                         .descriptions = list->descriptions,
                                         .memory = list->memory,
                                         .memory_limit = list->memory_limit,
                                         .memory_peak = list->memory_peak,
                                         .why_not = list->why_not,
                                         .why_none = none ? list->why_none.text : NULL};
    *devices = list;
    return SF_OK;
}

void sf_devices_get_columns(const sf_devices *devices, sf_devices_columns *columns)
{
    sf_columns_fill(columns, &devices->columns, sizeof devices->columns);
}

void sf_devices_free(sf_devices *devices)
{
    if (devices == NULL) return;
    sf_free(devices->listed);
    sf_free(devices->names);
    sf_free(devices->descriptions);
    sf_free(devices->why_not);
    sf_free(devices->memory);
    sf_free(devices->memory_limit);
    sf_free(devices->memory_peak);
    sf_free(devices);
}

int sf_device_check(const char *name, bool divides, sf_error *error)
{
    sf_device *devices[SF_MOST_DEVICES];
    uint32_t count;
    if (name == NULL || strcmp(name, "auto") == 0) return SF_OK;
    return divides ? sf_devices_find(devices, 1, &count, name, error)
                   : sf_device_find(&devices[0], name, error);
}
