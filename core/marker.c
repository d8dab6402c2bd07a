/* SPDX-License-Identifier: Apache-2.0 */
#include "core/marker.h"

#include "core/error.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

bool sf_marker_is(const sf_marker *marker, const char *name)
{
    uint64_t line;
    if (marker->kind == SF_MARKER_TEXT) return strcmp(marker->text, name) == 0;
    return marker->state == 1 && strncmp(name, "ttl", 3) == 0 && sf_parse_uint(name + 3, UINT16_MAX, &line) &&
           marker->line == line;
}

#define MOST_NAMED 8
#define MOST_COUNTED 64

/* What to call the marker by; empty of an edge that goes down. */
static void name_marker(char name[SF_MARKER_TEXT_SIZE], const sf_marker *marker)
{
    name[0] = '\0';
    if (marker->kind == SF_MARKER_TEXT)
        snprintf(name, SF_MARKER_TEXT_SIZE, "%s", marker->text);
    else if (marker->state == 1)
        snprintf(name, SF_MARKER_TEXT_SIZE, "ttl%u", marker->line);
}

size_t sf_marker_names(sf_marker_name *names, size_t room, const sf_marker *markers, size_t marker_count)
{
    size_t count = 0;
    for (size_t i = 0; i < marker_count; i++) {
        char name[SF_MARKER_TEXT_SIZE];
        size_t k = 0;
        name_marker(name, &markers[i]);
        while (k < count && strcmp(names[k].name, name) != 0)
            k++;
        if (name[0] == '\0' || k == room) continue;
        if (k == count) {
            names[count++] = (sf_marker_name){.count = 0};
            memcpy(names[k].name, name, sizeof name);
        }
        names[k].count++;
    }
    return count;
}

typedef struct name_list {
    char text[MOST_NAMED * (SF_MARKER_TEXT_SIZE + 4) + 8];
    size_t count;
} name_list;

static void list_names(name_list *list, const sf_marker *markers, size_t marker_count)
{
    sf_marker_name names[MOST_NAMED];
    size_t length = 0;
    list->text[0] = '\0';
    list->count = sf_marker_names(names, MOST_NAMED, markers, marker_count);
    for (size_t k = 0; k < list->count; k++)
        length += (size_t)snprintf(list->text + length, sizeof list->text - length, "%s'%s'",
                                   k > 0 ? ", " : "", names[k].name);
    if (list->count == MOST_NAMED) snprintf(list->text + length, sizeof list->text - length, ", ...");
}

int sf_marker_fail_unknown(const sf_marker *markers, size_t marker_count, const char *wanted, sf_error *error)
{
    name_list list;
    list_names(&list, markers, marker_count);
    if (list.count == 0)
        return sf_fail(error, SF_DATA, NULL, "no marker is called '%s' (of %zu)", wanted, marker_count);
    return sf_fail(error, SF_DATA, NULL, "no marker is called '%s'; found %s", wanted, list.text);
}

int sf_marker_commonest(char name[SF_MARKER_TEXT_SIZE], const sf_marker *markers, size_t marker_count,
                        sf_error *error)
{
    sf_marker_name names[MOST_COUNTED];
    name_list list;
    size_t count = sf_marker_names(names, MOST_COUNTED, markers, marker_count), most = 0;
    for (size_t k = 1; k < count; k++)
        most = names[k].count > names[most].count ? k : most;
    if (count > 0 && names[most].count > 1) {
        memcpy(name, names[most].name, SF_MARKER_TEXT_SIZE);
        return SF_OK;
    }
    list_names(&list, markers, marker_count);
    if (list.count == 0) return sf_fail(error, SF_DATA, NULL, "it has no markers, so there is no stimulus");
    return sf_fail(error, SF_DATA, NULL,
                   "no marker comes twice, as a stimulus does; found %s, and --marker takes one", list.text);
}
