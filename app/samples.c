/* SPDX-License-Identifier: Apache-2.0 */
#include "app/samples.h"

#include "core/memory.h"
#include "density/samples_file.h"

static app_series *add_series(app_series_list *list, sf_error *error)
{
    void *items = list->items;
    if (sf_reserve(&items, &list->capacity, list->count + 1, sizeof *list->items) != 0) {
        sf_fail_memory(error);
        return NULL;
    }
    list->items = items;
    app_series *series = &list->items[list->count++];
    *series = (app_series){.unit = -1};
    return series;
}

int app_samples_load(const app_call *call, app_series_list *list, sf_error *error)
{
    *list = (app_series_list){.quantity = "samples", .measure = ""};
    app_series *series = add_series(list, error);
    if (series == NULL)
        return SF_NO_MEMORY;
    return sf_samples_read(&series->samples, call->arguments[0], error);
}

void app_samples_free(app_series_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        sf_free(list->items[i].name);
        sf_samples_free(&list->items[i].samples);
    }
    sf_free(list->items);
    *list = (app_series_list){0};
}

int app_selector(const char *text, const char *option, const sf_selector **selector, sf_error *error)
{
    *selector = sf_selector_find(text != NULL ? text : sf_selector_name(0));
    if (*selector != NULL)
        return SF_OK;
    sf_text names = {0};
    for (size_t i = 0; sf_selector_name(i) != NULL; i++)
        sf_text_printf(&names, "%s%s", i > 0 ? ", " : "", sf_selector_name(i));
    int status = sf_fail(error, SF_USAGE, option, "found '%s', expected %s", text,
                         names.failed ? "a method" : names.data);
    sf_text_free(&names);
    return status;
}
