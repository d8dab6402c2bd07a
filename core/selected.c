/* SPDX-License-Identifier: Apache-2.0 */
#include "core/error.h"
#include "core/memory.h"
#include "core/recording.h"

#include <string.h>

void sf_selected_free(sf_selected *selected)
{
    const char *const texts[] = {selected->recording,   selected->format, selected->stream,
                                 selected->epochs_path, selected->marker, selected->kinds};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        sf_free((char *)texts[i]);
    for (size_t i = 0; selected->names != NULL && i < selected->unit_count; i++)
        sf_free((char *)selected->names[i]);
    sf_free((void *)selected->names);
    sf_free((uint32_t *)selected->units);
    sf_free((sf_epoch *)selected->epochs);
    *selected = (sf_selected){0};
}

/* A copy of what is there; false where memory is out. */
static bool copy_text(const char **to, const char *from)
{
    *to = from != NULL ? sf_copy_string(from) : NULL;
    return (*to != NULL) == (from != NULL);
}

static bool copy_items(void *to_at, const void *from, size_t count, size_t size)
{
    void *copy = from != NULL ? sf_alloc(count, size) : NULL;
    if (copy != NULL) memcpy(copy, from, count * size);
    memcpy(to_at, &copy, sizeof copy);
    return (copy != NULL) == (from != NULL);
}

static bool copy_names(sf_selected *to, const sf_selected *from)
{
    const char **names = from->names != NULL ? sf_alloc(from->unit_count, sizeof *names) : NULL;
    bool whole = (names != NULL) == (from->names != NULL);
    for (size_t i = 0; names != NULL && whole && i < from->unit_count; i++)
        whole = copy_text(&names[i], from->names[i]);
    to->names = names;
    return whole;
}

int sf_selected_copy(sf_selected *to, const sf_selected *from, sf_error *error)
{
    *to = *from;
    to->names = NULL; /* all texts and arrays before anything fails */
    bool whole = copy_text(&to->recording, from->recording);
    whole = copy_text(&to->format, from->format) && whole;
    whole = copy_text(&to->stream, from->stream) && whole;
    whole = copy_text(&to->epochs_path, from->epochs_path) && whole;
    whole = copy_text(&to->marker, from->marker) && whole;
    whole = copy_text(&to->kinds, from->kinds) && whole;
    whole = copy_items(&to->units, from->units, from->unit_count, sizeof *from->units) && whole;
    whole = copy_items(&to->epochs, from->epochs, from->epoch_count, sizeof *from->epochs) && whole;
    whole = copy_names(to, from) && whole;
    if (whole) return SF_OK;
    sf_selected_free(to);
    return sf_fail_memory(error);
}
