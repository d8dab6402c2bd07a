/* SPDX-License-Identifier: Apache-2.0 */
#include "window/track_list.h"

#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/platform.h"

void sf_track_list_free(sf_track_list *list)
{
    sf_free(list->spelt.units);
    sf_free(list->spelt.lows);
    sf_free(list->spelt.highs);
    sf_free(list->order);
    *list = (sf_track_list){0};
}

/* By size; then by the units from the last to the first, so that threads side by side look at the same
 * spikes. */
static int compare(const sf_episode *a, const sf_episode *b)
{
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    for (uint32_t n = a->size; n-- > 0;)
        if (a->units[n] != b->units[n]) return a->units[n] < b->units[n] ? -1 : 1;
    return sf_episode_compare(a, b);
}

static int compare_numbered(const void *a, const void *b, void *episodes)
{
    const sf_episode *of = episodes;
    const size_t i = *(const size_t *)a, j = *(const size_t *)b;
    int order = compare(&of[i], &of[j]);
    return order != 0 ? order : (i > j) - (i < j);
}

static void spell_out(sf_track_list *list, const sf_episode *episodes)
{
    sf_backend_track_list *to = &list->spelt;
    for (uint32_t e = 0; e < to->count; e++) {
        const sf_episode *own = &episodes[list->order[e]];
        for (uint32_t n = 0; n < own->size; n++) {
            size_t at = (size_t)n * to->count + e;
            to->units[at] = own->units[n];
            to->lows[at] = n + 1 < own->size ? own->delays[n].low_ns : 0;
            to->highs[at] = n + 1 < own->size ? own->delays[n].high_ns : 0;
        }
        to->of_size[own->size + 1] = e + 1;
        int64_t span_ns = sf_episode_span_ns(own);
        list->reach_ns = span_ns > list->reach_ns ? span_ns : list->reach_ns;
    }
    for (uint32_t size = 1; size <= SF_EPISODE_MAX_SIZE + 1; size++)
        if (to->of_size[size] < to->of_size[size - 1]) to->of_size[size] = to->of_size[size - 1];
}

static int make(sf_track_list *list, const sf_episode *episodes, size_t count)
{
    list->order = sf_resize(NULL, count, sizeof *list->order);
    if (list->order == NULL) return SF_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        list->order[i] = i;
    sf_platform_sort(list->order, count, sizeof *list->order, compare_numbered, (void *)(uintptr_t)episodes);
    sf_backend_track_list *to = &list->spelt;
    size_t nodes = count > 0 ? count * episodes[list->order[count - 1]].size : 0;
    to->count = (uint32_t)count;
    to->units = sf_resize(NULL, nodes, sizeof *to->units);
    to->lows = sf_resize(NULL, nodes, sizeof *to->lows);
    to->highs = sf_resize(NULL, nodes, sizeof *to->highs);
    if (to->units == NULL || to->lows == NULL || to->highs == NULL) return SF_NO_MEMORY;
    spell_out(list, episodes);
    return SF_OK;
}

int sf_track_list_make(sf_track_list *list, const sf_episode *episodes, size_t count, sf_error *error)
{
    *list = (sf_track_list){0};
    if (count >= SF_TRACK_NEW / SF_EPISODE_MAX_SIZE)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%zu episodes are more than a device tracks", count);
    if (make(list, episodes, count) == SF_OK) return SF_OK;
    sf_track_list_free(list);
    return sf_fail_memory(error);
}

/* Episode i of one list and j of another, both of this size. */
static int compare_spelt(const sf_backend_track_list *a, uint32_t i, const sf_backend_track_list *b,
                         uint32_t j, uint32_t size)
{
    for (uint32_t n = size; n-- > 0;) {
        uint32_t left = a->units[(size_t)n * a->count + i], right = b->units[(size_t)n * b->count + j];
        if (left != right) return left < right ? -1 : 1;
    }
    for (uint32_t n = 0; n + 1 < size; n++) {
        size_t left = (size_t)n * a->count + i, right = (size_t)n * b->count + j;
        if (a->lows[left] != b->lows[right]) return a->lows[left] < b->lows[right] ? -1 : 1;
        if (a->highs[left] != b->highs[right]) return a->highs[left] < b->highs[right] ? -1 : 1;
    }
    return 0;
}

/* Both are sorted. */
void sf_track_list_find_known(uint32_t *known, const sf_track_list *next, const sf_track_list *before)
{
    const sf_backend_track_list *a = &next->spelt, *b = &before->spelt;
    for (uint32_t size = 1; size <= SF_EPISODE_MAX_SIZE; size++)
        for (uint32_t i = a->of_size[size], j = b->of_size[size]; i < a->of_size[size + 1]; i++) {
            int order = 1;
            while (j < b->of_size[size + 1] && (order = compare_spelt(b, j, a, i, size)) < 0)
                j++;
            known[i] = j < b->of_size[size + 1] && order == 0 ? j : SF_TRACK_NEW;
        }
}
