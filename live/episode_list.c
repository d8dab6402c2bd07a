/* SPDX-License-Identifier: Apache-2.0 */
/* Episodes that were written down: lines of text, JSON lines, or the document of `mine --json`. All become
 * text, so that one parser reads them. */
#include "live/episode_list.h"

#include "core/episode.h"
#include "core/error.h"
#include "core/file.h"
#include "core/memory.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <sha256.h>
#include <string.h>
#include <unistd.h>

static int add(sf_episode_list *list, sf_text *text, size_t number, sf_error *error)
{
    void *items = list->items;
    if (text->failed || sf_reserve(&items, &list->capacity, list->count + 1, sizeof *list->items) != 0) {
        sf_text_free(text);
        return sf_fail_memory(error);
    }
    list->items = items;
    list->items[list->count++] = (sf_listed_episode){.text = text->data, .number = number};
    return SF_OK;
}

/* ---- JSON ---- */

/* A bound in ms, exact to the nanosecond where it is below 104 days. */
static bool read_bound(const json_t *value, int64_t *bound_ns)
{
    if (!json_is_number(value)) return false;
    double ns = json_number_value(value) * 1e6;
    if (!(fabs(ns) < 0x1p62)) return false;
    *bound_ns = llround(ns);
    return true;
}

/* By its name where there is one: an index is of the recording that it was found in. */
static int spell_unit(sf_text *text, const json_t *names, const json_t *unit, size_t i, sf_error *error)
{
    const char *name = json_string_value(json_array_get(names, i));
    json_int_t index = json_integer_value(unit);
    if (!json_is_integer(unit) || index < 0 || index > UINT32_MAX)
        return sf_fail(error, SF_DATA, NULL, "expected \"units\" to hold 0-based indices");
    if (name != NULL)
        sf_episode_print_name(text, name);
    else
        sf_text_printf(text, "#%" PRIu32, (uint32_t)index);
    return SF_OK;
}

static int spell_link(sf_text *text, const json_t *pair, sf_error *error)
{
    sf_delay delay;
    if (json_array_size(pair) != 2 || !read_bound(json_array_get(pair, 0), &delay.low_ns) ||
        !read_bound(json_array_get(pair, 1), &delay.high_ns))
        return sf_fail(error, SF_DATA, NULL, "expected each of \"delays_ms\" to be [low, high] in ms");
    sf_text_printf(text, " -");
    sf_text_delays(text, &delay, 1);
    sf_text_printf(text, "-> ");
    return SF_OK;
}

static int check_shape(const json_t *units, const json_t *names, const json_t *delays, sf_error *error)
{
    size_t size = json_array_size(units);
    if (size < 1 || size > SF_EPISODE_MAX_SIZE)
        return sf_fail(error, SF_DATA, NULL, "expected \"units\" to be an array of 1 to %d indices",
                       SF_EPISODE_MAX_SIZE);
    bool named = names != NULL && !json_is_null(names);
    for (size_t i = 0; named && i < size; i++)
        named = json_is_string(json_array_get(names, i));
    if (names != NULL && !json_is_null(names) && (!named || json_array_size(names) != size))
        return sf_fail(error, SF_DATA, NULL, "expected \"names\" to be the names of the %zu units", size);
    if ((size > 1 || delays != NULL) && (!json_is_array(delays) || json_array_size(delays) != size - 1))
        return sf_fail(error, SF_DATA, NULL,
                       "expected \"delays_ms\" to be an array of %zu pairs, one for each link", size - 1);
    return SF_OK;
}

static int read_object(sf_episode_list *list, const json_t *object, size_t number, sf_error *error)
{
    const json_t *units = json_object_get(object, "units"), *names = json_object_get(object, "names"),
                 *delays = json_object_get(object, "delays_ms");
    sf_text text = {0};
    int status = check_shape(units, names, delays, error);
    for (size_t i = 0; status == SF_OK && i < json_array_size(units); i++) {
        if (i > 0) status = spell_link(&text, json_array_get(delays, i - 1), error);
        if (status == SF_OK) status = spell_unit(&text, names, json_array_get(units, i), i, error);
    }
    if (status == SF_OK) return add(list, &text, number, error);
    sf_text_free(&text);
    return status;
}

/* The document of a command that has episodes; `taken` is false where the text is no such thing. */
static int read_document(sf_episode_list *list, const sf_text *text, bool *taken, size_t *number,
                         sf_error *error)
{
    json_t *document = json_loadb(text->data, text->length, JSON_REJECT_DUPLICATES, NULL);
    const json_t *episodes = json_object_get(document, "episodes");
    int status = SF_OK;
    *taken = json_is_array(episodes);
    list->is_result = *taken;
    for (size_t i = 0; status == SF_OK && i < json_array_size(episodes); i++) {
        *number = i;
        status = read_object(list, json_array_get(episodes, i), i, error);
    }
    json_decref(document);
    return status;
}

/* ---- lines ---- */

static int read_json_line(sf_episode_list *list, const char *line, size_t number, sf_error *error)
{
    json_error_t problem;
    json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &problem);
    if (object == NULL) return sf_fail(error, SF_DATA, NULL, "column %d: %s", problem.column, problem.text);
    int status = read_object(list, object, number, error);
    json_decref(object);
    return status;
}

static int read_line(sf_episode_list *list, const char *line, size_t number, sf_error *error)
{
    if (line[0] == '#' && (line[1] == '\0' || line[1] == ' ' || line[1] == '\t')) /* #2 is a unit */
        return SF_OK;
    if (*line == '{') return read_json_line(list, line, number, error);
    sf_text text = {0};
    sf_text_printf(&text, "%s", line);
    return add(list, &text, number, error);
}

/* `text` is cut up. */
static int read_lines(sf_episode_list *list, sf_text *text, size_t *number, sf_error *error)
{
    char *rest = text->data;
    int status = SF_OK;
    while (status == SF_OK && rest != NULL && *rest != '\0') {
        char *line = rest + strspn(rest, " \t"), *end = rest + strcspn(rest, "\n");
        rest = *end == '\n' ? end + 1 : end;
        while (end > line && strchr(" \t\r\n", end[-1]) != NULL)
            end--;
        *end = '\0';
        ++*number;
        if (line < end) status = read_line(list, line, *number, error);
    }
    if (status == SF_OK && rest != NULL && (size_t)(rest - text->data) < text->length)
        status = sf_fail(error, SF_DATA, NULL, "holds a NUL byte: expected text");
    return status;
}

/* ---- either ---- */

static void say_place(char *place, size_t size, const sf_episode_list *list, size_t number)
{
    if (list->is_result)
        snprintf(place, size, "%.200s: episodes[%zu]", list->path, number);
    else
        snprintf(place, size, "%.200s:%zu", list->path, number);
}

static int load(sf_text *text, sf_episode_list *list, sf_error *error)
{
    if (access(list->path, F_OK) != 0 && strstr(list->path, "->") != NULL &&
        strstr(list->path, "]->") == NULL)
        return sf_fail(error, SF_NO_INPUT, list->path,
                       "is no file, and an episode has its delays in ms between units: A -(0,5]-> B");
    if (strstr(list->path, "]->") == NULL || access(list->path, F_OK) == 0) {
        int status = sf_file_read(text, list->path, error);
        if (status == SF_OK) SHA256Data((const uint8_t *)text->data, text->length, list->sha256);
        return status;
    }
    sf_text_printf(text, "%s", list->path); /* not a file of them but an episode itself */
    list->path = "--episodes";
    return text->failed ? sf_fail_memory(error) : SF_OK;
}

int sf_episode_list_read(sf_episode_list *list, const char *path, sf_error *error)
{
    *list = (sf_episode_list){.path = path};
    sf_text text = {0};
    sf_error reason = {0};
    bool taken = false;
    size_t number = 0;
    int status = load(&text, list, error);
    if (status != SF_OK) {
        sf_text_free(&text);
        return status;
    }
    if (text.length > 0 && text.data[strspn(text.data, " \t\r\n")] == '{')
        status = read_document(list, &text, &taken, &number, &reason);
    if (!taken) status = read_lines(list, &text, &number, &reason);
    sf_text_free(&text);
    char place[256];
    say_place(place, sizeof place, list, number);
    if (status != SF_OK)
        status = sf_fail(error, reason.code, place, "%s", reason.text);
    else if (list->count == 0)
        status = sf_fail(error, SF_DATA, path, "holds no episode: expected one a line, as A -(0,5]-> B");
    if (status != SF_OK) sf_episode_list_free(list);
    return status;
}

int sf_episode_list_refuse(const sf_episode_list *list, size_t i, const sf_error *reason, sf_error *error)
{
    char place[256];
    sf_error found = *reason;
    say_place(place, sizeof place, list, list->items[i].number);
    return sf_fail(error, found.code == SF_USAGE ? SF_DATA : found.code, place, "%s", found.text);
}

void sf_episode_list_free(sf_episode_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        sf_free(list->items[i].text);
    sf_free(list->items);
    *list = (sf_episode_list){0};
}
