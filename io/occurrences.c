/* SPDX-License-Identifier: Apache-2.0 */
/* Occurrences of episodes to a file and back. */
#include "mine/occurrences.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/ranks.h"
#include "io/occurrence_file.h"

#include <string.h>

int sf_occurrences_write(const sf_occurrences *o, const char *path, const char *configuration,
                         const char *provenance, sf_error *error)
{
    int status = sf_ranks_agree(SF_OK, error);
    if (status != SF_OK || sf_ranks_rank() > 0) return status;
    sf_occurrence_file *file;
    status = sf_occurrence_file_create(&file, path, o->recording, configuration, provenance, error);
    for (size_t i = 0; i < o->count && status == SF_OK; i++)
        status = sf_occurrence_file_add(file, &o->episodes[i], o->expected[i], o->times_ns[i], o->counts[i],
                                        error);
    int closed = sf_occurrence_file_close(file, status == SF_OK, error);
    return status == SF_OK ? closed : status;
}

static int take_times(sf_occurrences *o, const sf_occurrence_set *set, size_t i, sf_error *error)
{
    uint32_t size = set->episodes[i].size;
    o->counts[i] = set->first[i + 1] - set->first[i];
    o->times_ns[i] = sf_resize(NULL, o->counts[i] * size, sizeof **o->times_ns);
    if (o->times_ns[i] == NULL) return sf_fail_memory(error);
    for (size_t k = 0; k < o->counts[i]; k++)
        memcpy(o->times_ns[i] + k * size, set->times_ns[set->first[i] + k], size * sizeof **o->times_ns);
    return SF_OK;
}

/* Units and path change hands. */
static int take(sf_occurrences *o, sf_occurrence_set *set, sf_error *error)
{
    int status = sf_occurrences_reserve(o, set->count, error);
    if (status != SF_OK) return status;
    if (set->count > 0) {
        memcpy(o->episodes, set->episodes, set->count * sizeof *o->episodes);
        memcpy(o->expected, set->expected, set->count * sizeof *o->expected);
    }
    for (size_t i = 0; i < set->count && status == SF_OK; i++)
        status = take_times(o, set, i, error);
    o->own.units = set->units;
    o->own.path = set->recording;
    o->recording = &o->own;
    o->counted_in = o->own.path;
    set->units = (sf_units){0};
    set->recording = NULL;
    return status;
}

int sf_occurrences_open(sf_occurrences **opened, const char *path, sf_error *error)
{
    *opened = NULL;
    sf_occurrence_set set;
    int status = sf_occurrence_file_read(&set, path, error);
    if (status != SF_OK) return status;
    sf_occurrences *o = sf_alloc(1, sizeof *o);
    status = o != NULL ? take(o, &set, error) : sf_fail_memory(error);
    sf_occurrence_set_free(&set);
    if (status == SF_OK)
        *opened = o;
    else
        sf_occurrences_free(o);
    return status;
}
