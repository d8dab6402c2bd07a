/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/streams.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STREAMS 65536
#define MOST_LISTED 32

int sf_streams_add(sf_streams *streams, const char *name, uint64_t spikes, sf_error *error)
{
    if (streams->count == MOST_STREAMS)
        return sf_fail(error, SF_DATA, NULL, "damaged: it holds more than %d of a %s", MOST_STREAMS,
                       streams->what);
    if (sf_reserve(&streams->items, &streams->capacity, streams->count + 1, sizeof *streams->items) != 0)
        return sf_fail_memory(error);
    sf_side_stream *added = &streams->items[streams->count];
    *added = (sf_side_stream){.name = sf_copy_string(name), .spikes = spikes};
    if (added->name == NULL) return sf_fail_memory(error);
    streams->count++;
    return SF_OK;
}

void sf_streams_free(sf_streams *streams)
{
    for (size_t i = 0; i < streams->count; i++)
        sf_free(streams->items[i].name);
    sf_free(streams->items);
    *streams = (sf_streams){0};
}

static int refuse(const sf_streams *streams, const char *asked, const char *path, sf_error *error)
{
    sf_text names = {0};
    for (size_t i = 0; i < streams->count && i < MOST_LISTED; i++)
        sf_text_printf(&names, "%s%s (%" PRIu64 " spikes)", i > 0 ? ", " : "", streams->items[i].name,
                       streams->items[i].spikes);
    if (streams->count > MOST_LISTED) sf_text_printf(&names, ", and %zu more", streams->count - MOST_LISTED);
    int status;
    if (names.failed)
        status = sf_fail_memory(error);
    else if (streams->count == 0)
        status =
            sf_fail(error, SF_USAGE, path, "there is no stream '%s' to choose: this layout holds one", asked);
    else if (asked != NULL)
        status = sf_fail(error, SF_USAGE, path, "there is no %s '%s'; there is %s", streams->what, asked,
                         names.data);
    else
        status = sf_fail(error, SF_USAGE, path, "there are %zu %ss; choose one with --stream: %s",
                         streams->count, streams->what, names.data);
    sf_text_free(&names);
    return status;
}

/* True if exactly one stream has this name or begins with it and a slash; or if there are none to choose
 * from. */
static bool find(const sf_streams *streams, const char *asked, const char **chosen)
{
    size_t length = asked != NULL ? strlen(asked) : 0, begin_so = 0;
    *chosen = NULL;
    for (size_t i = 0; i < streams->count; i++) {
        const char *name = streams->items[i].name;
        if (asked != NULL && strcmp(name, asked) == 0) {
            *chosen = name;
            return true;
        }
        if (asked == NULL || (strncmp(name, asked, length) == 0 && name[length] == '/')) {
            begin_so++;
            *chosen = name;
        }
    }
    if (begin_so != 1) *chosen = NULL;
    return begin_so == 1 || (streams->count == 0 && (asked == NULL || streams->what != NULL));
}

static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash != NULL ? slash + 1 : name;
}

/* `session2`, `joined`; else SF_SESSION_ANY. */
static sf_session session_of(const char *name)
{
    const char *digits = name + sizeof "session" - 1;
    if (strcmp(name, "joined") == 0) return SF_SESSION_JOINED;
    if (strncmp(name, "session", sizeof "session" - 1) != 0 || digits[0] < '1' || digits[0] > '9' ||
        strlen(digits) > 6 || digits[strspn(digits, "0123456789")] != '\0')
        return SF_SESSION_ANY;
    return (sf_session)strtoul(digits, NULL, 10);
}

bool sf_streams_may_be_session(const char *asked)
{
    return asked != NULL && session_of(last_part(asked)) != SF_SESSION_ANY;
}

int sf_streams_choose(const sf_streams *streams, const char *asked, const char *path, const char **chosen,
                      sf_session *session, sf_error *error)
{
    *session = SF_SESSION_ANY;
    if (sf_streams_may_be_session(asked) && !(streams->count > 0 && find(streams, asked, chosen))) {
        const char *last = last_part(asked);
        char *before = last > asked ? sf_copy_string(asked) : NULL;
        if (last > asked && before == NULL) return sf_fail_memory(error);
        if (before != NULL) before[last - asked - 1] = '\0';
        bool found = find(streams, before, chosen);
        sf_free(before);
        *session = session_of(last);
        return found ? SF_OK : refuse(streams, asked, path, error);
    }
    return find(streams, asked, chosen) ? SF_OK : refuse(streams, asked, path, error);
}

void sf_streams_put(sf_parcel_writer *parcel, const sf_streams *streams)
{
    sf_parcel_put_number(parcel, streams->count);
    for (size_t i = 0; i < streams->count; i++) {
        sf_parcel_put_text(parcel, streams->items[i].name);
        sf_parcel_put_number(parcel, streams->items[i].spikes);
    }
}

int sf_streams_take(sf_streams *streams, sf_parcel *parcel, const char *path, sf_error *error)
{
    uint64_t count = sf_parcel_take_number(parcel);
    int status = SF_OK;
    *streams = (sf_streams){0};
    for (uint64_t i = 0; status == SF_OK && i < count; i++) {
        const char *name = sf_parcel_take_text(parcel);
        uint64_t spikes = sf_parcel_take_number(parcel);
        status = parcel->damaged || name == NULL ? sf_parcel_refuse(path, error)
                                                 : sf_streams_add(streams, name, spikes, error);
    }
    if (status == SF_OK && parcel->damaged) status = sf_parcel_refuse(path, error);
    sf_parcel_close(parcel);
    if (status != SF_OK) sf_streams_free(streams);
    return status;
}
