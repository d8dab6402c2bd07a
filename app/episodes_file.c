/* SPDX-License-Identifier: Apache-2.0 */
/* A file of episodes: text or JSON, one a line. */
#include "app/mining.h"

#include "core/file.h"
#include "core/memory.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* A bound in ms, exact to the nanosecond where it is below 104 days. */
static bool read_bound(const json_t *value, int64_t *bound_ns)
{
    if (!json_is_number(value))
        return false;
    double ns = json_number_value(value) * 1e6;
    if (!(fabs(ns) < 0x1p62))
        return false;
    *bound_ns = llround(ns);
    return true;
}

static int read_units(sf_episode *episode, const json_t *units, sf_error *error)
{
    if (!json_is_array(units) || json_array_size(units) < 1 || json_array_size(units) > SF_EPISODE_MAX_SIZE)
        return sf_fail(error, SF_DATA, NULL, "expected \"units\" to be an array of 1 to %d indices",
                       SF_EPISODE_MAX_SIZE);
    episode->size = (uint32_t)json_array_size(units);
    for (uint32_t i = 0; i < episode->size; i++) {
        const json_t *unit = json_array_get(units, i);
        json_int_t index = json_integer_value(unit);
        if (!json_is_integer(unit) || index < 0 || index > UINT32_MAX)
            return sf_fail(error, SF_DATA, NULL, "expected \"units\" to hold 0-based indices");
        episode->units[i] = (uint32_t)index;
    }
    return SF_OK;
}

static int read_delays(sf_episode *episode, const json_t *delays, sf_error *error)
{
    if (episode->size == 1 && delays == NULL)
        return SF_OK;
    if (!json_is_array(delays) || json_array_size(delays) != episode->size - 1)
        return sf_fail(error, SF_DATA, NULL,
                       "expected \"delays_ms\" to be an array of %" PRIu32 " pairs, one for each link",
                       episode->size - 1);
    for (uint32_t i = 0; i + 1 < episode->size; i++) {
        const json_t *pair = json_array_get(delays, i);
        if (json_array_size(pair) != 2 || !read_bound(json_array_get(pair, 0), &episode->delays[i].low_ns) ||
            !read_bound(json_array_get(pair, 1), &episode->delays[i].high_ns))
            return sf_fail(error, SF_DATA, NULL, "expected each of \"delays_ms\" to be [low, high] in ms");
    }
    return SF_OK;
}

static int read_json(sf_episode *episode, const char *line, sf_error *error)
{
    *episode = (sf_episode){0};
    json_error_t problem;
    json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &problem);
    if (object == NULL)
        return sf_fail(error, SF_DATA, NULL, "column %d: %s", problem.column, problem.text);
    int status = read_units(episode, json_object_get(object, "units"), error);
    if (status == SF_OK)
        status = read_delays(episode, json_object_get(object, "delays_ms"), error);
    json_decref(object);
    return status;
}

static int read_line(sf_episode *episode, const char *line, const char *path, size_t number,
                     const sf_recording *recording, sf_error *error)
{
    sf_error reason;
    int status = *line == '{' ? read_json(episode, line, &reason)
                              : sf_recording_parse_episode(recording, line, episode, &reason);
    if (status == SF_OK)
        status = sf_recording_check_episode(recording, episode, &reason);
    if (status == SF_OK)
        return SF_OK;
    char place[256];
    snprintf(place, sizeof place, "%.200s:%zu", path, number);
    return sf_fail(error, status == SF_USAGE ? SF_DATA : (sf_status)status, place, "%s", reason.text);
}

int app_episodes_read(sf_episode **episodes, size_t *count, const char *path, const sf_recording *recording,
                      sf_error *error)
{
    *episodes = NULL;
    *count = 0;
    sf_text text = {0};
    int status;
    if (strstr(path, "]->") != NULL &&
        access(path, F_OK) != 0) { /* not a file of them but an episode itself */
        sf_text_printf(&text, "%s", path);
        path = "--episodes";
        status = text.failed ? sf_fail_memory(error) : SF_OK;
    } else {
        status = sf_file_read(&text, path, error);
    }
    size_t capacity = 0, number = 0;
    char *rest = text.data;
    while (status == SF_OK && rest != NULL && *rest != '\0') {
        char *line = rest + strspn(rest, " \t"), *end = rest + strcspn(rest, "\n");
        rest = *end == '\n' ? end + 1 : end;
        while (end > line && strchr(" \t\r\n", end[-1]) != NULL)
            end--;
        *end = '\0';
        number++;
        if (line >= end)
            continue;
        void *items = *episodes;
        if (sf_reserve(&items, &capacity, *count + 1, sizeof **episodes) != 0) {
            status = sf_fail_memory(error);
            break;
        }
        *episodes = items;
        status = read_line(&(*episodes)[(*count)++], line, path, number, recording, error);
    }
    if (status == SF_OK && rest != NULL && (size_t)(rest - text.data) < text.length)
        status = sf_fail(error, SF_DATA, path, "line %zu holds a NUL byte: expected text", number);
    if (status == SF_OK && *count == 0)
        status = sf_fail(error, SF_DATA, path, "holds no episode: expected one a line, as A -(0,5]-> B");
    sf_text_free(&text);
    if (status != SF_OK) {
        sf_free(*episodes);
        *episodes = NULL;
        *count = 0;
    }
    return status;
}
