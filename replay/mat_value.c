/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a MATLAB file as its two readers (mat_file.c, mat_hdf5.c) build them, and which variables they
 * read. */
#include "replay/mat.h"

#include "core/memory.h"
#include "core/text.h"
#include "replay/csv_form.h"

#include <string.h>

sf_mat_value *sf_mat_add(sf_mat_value *to, const char *name)
{
    char *copy = name != NULL ? sf_copy_string(name) : NULL;
    void *items = to->items;
    bool has_room = sf_reserve(&items, &to->capacity, to->count + 1, sizeof *to->items) == 0;
    to->items = items;
    if (!has_room || (name != NULL && copy == NULL)) {
        sf_free(copy);
        return NULL;
    }
    to->items[to->count] = (sf_mat_value){.name = copy};
    return &to->items[to->count++];
}

void sf_mat_free(sf_mat_value *value)
{
    for (size_t i = 0; value->items != NULL && i < value->count; i++)
        sf_mat_free(&value->items[i]);
    sf_free(value->name);
    sf_free(value->numbers);
    sf_free(value->text);
    sf_free(value->items);
    *value = (sf_mat_value){0};
}

bool sf_mat_heads_times(const char *name)
{
    static const char *const words[] = {"spikes", "spiketrain", "spiketrains", "spike_train", "spike_trains"};
    char *names[] = {(char *)(uintptr_t)name};
    bool found = sf_csv_heads_times(names, 1);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        found = found || strcasecmp(name, words[i]) == 0;
    return found;
}

bool sf_mat_is_wanted(const char *name)
{
    return sf_mat_heads_times(name) || strcmp(name, SF_MAT_DETECTION) == 0;
}
