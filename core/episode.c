/* SPDX-License-Identifier: Apache-2.0 */
#include "core/episode.h"

#include "core/error.h"
#include "core/hash.h"
#include "core/memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '+' || (c & 0x80) != 0;
}

typedef struct reader {
    const char *start;
    const char *at;
    const sf_units *units;
    sf_units *learnt; /**< where not NULL the same units: a name that is not among them is added */
    sf_error *error;
} reader;

static int refuse(reader *in, const char *expected)
{
    char found[24] = "the end";
    if (*in->at != '\0') snprintf(found, sizeof found, "'%.16s'", in->at);
    return sf_fail(in->error, SF_USAGE, in->start, "column %td: expected %s, found %s",
                   in->at - in->start + 1, expected, found);
}

static void skip_spaces(reader *in)
{
    while (isspace((unsigned char)*in->at))
        in->at++;
}

/* The unit whose name goes on from `begin` with odd characters, and is not quoted; NULL where there is none.
 */
static const char *name_with_odd_characters(const reader *in, const char *begin)
{
    char name[256];
    for (size_t length = strcspn(begin, " \t\n"); begin + length > in->at; length--) {
        if (length >= sizeof name || isalnum((unsigned char)begin[length])) continue; /* it goes on */
        memcpy(name, begin, length);
        name[length] = '\0';
        uint32_t unit = sf_units_find(in->units, name);
        if (unit != SF_NO_UNIT) return in->units->items[unit].name;
    }
    return NULL;
}

static int refuse_unit(reader *in, const char *begin, const sf_error *reason)
{
    const char *name = name_with_odd_characters(in, begin);
    if (name != NULL) {
        sf_text quoted = {0};
        sf_episode_print_name(&quoted, name);
        int status =
            sf_fail(in->error, SF_USAGE, in->start, "column %td: the name %s takes double quotes here: %s",
                    begin - in->start + 1, name, quoted.failed ? name : quoted.data);
        sf_text_free(&quoted);
        return status;
    }
    return sf_fail(in->error, SF_USAGE, in->start, "column %td: %s", begin - in->start + 1, reason->text);
}

static int read_unit(reader *in, uint32_t *unit)
{
    skip_spaces(in);
    const char *begin = in->at;
    char word[256];
    size_t length = 0;
    if (*in->at == '"') {
        in->at++;
        while (*in->at != '"') {
            if (*in->at == '\\' && in->at[1] != '\0') in->at++;
            if (*in->at == '\0') return refuse(in, "a closing double quote");
            if (length == sizeof word - 1) return refuse(in, "a name of at most 255 bytes");
            word[length++] = *in->at++;
        }
        in->at++;
        word[length] = '\0';
        if (in->learnt != NULL) return sf_units_intern(in->learnt, word, unit, in->error);
        *unit = sf_units_find(in->units, word);
        if (*unit == SF_NO_UNIT)
            return sf_fail(in->error, SF_USAGE, in->start, "column %td: no unit is named \"%s\"",
                           begin - in->start + 1, word);
        return SF_OK;
    }
    if (*in->at == '#') word[length++] = *in->at++;
    while (is_word(*in->at)) {
        if (length == sizeof word - 1) return refuse(in, "a name of at most 255 bytes");
        word[length++] = *in->at++;
    }
    word[length] = '\0';
    if (length == 0) return refuse(in, "a unit name (odd characters need double quotes) or #index");
    if (in->learnt != NULL) return sf_units_learn(in->learnt, word, unit, in->error);
    sf_error reason;
    if (sf_units_resolve(in->units, word, unit, &reason) != SF_OK) return refuse_unit(in, begin, &reason);
    return SF_OK;
}

/* A bound in milliseconds that ends before `stop`. */
static int read_bound(reader *in, char stop, int64_t *value)
{
    skip_spaces(in);
    char word[48];
    size_t length = 0;
    const char *begin = in->at;
    while (*in->at != '\0' && *in->at != stop && !isspace((unsigned char)*in->at) && length < sizeof word - 1)
        word[length++] = *in->at++;
    word[length] = '\0';
    skip_spaces(in);
    if (!sf_parse_scaled(word, 6, value) || *in->at != stop) {
        in->at = begin;
        return refuse(in, "a delay in ms, as in -(0,5]->");
    }
    in->at++;
    return SF_OK;
}

static int check_delay(sf_delay delay, const char **problem)
{
    if (delay.low_ns < 0)
        *problem = "the lower bound of a delay is negative; order the units the other way round";
    else if (delay.low_ns >= delay.high_ns)
        *problem = "the delay interval is empty: its lower bound must be less than its upper bound";
    else if (delay.high_ns > INT64_MAX / (2 * SF_EPISODE_MAX_SIZE))
        *problem = "the upper bound of a delay is too large";
    else
        return SF_OK;
    return SF_DATA;
}

static int read_arrow(reader *in, sf_delay *delay)
{
    const char *begin = in->at;
    if (strncmp(in->at, "-(", 2) != 0) return refuse(in, "an arrow as in -(0,5]->");
    in->at += 2;
    int status = read_bound(in, ',', &delay->low_ns);
    if (status == SF_OK) status = read_bound(in, ']', &delay->high_ns);
    if (status != SF_OK) return status;
    if (strncmp(in->at, "->", 2) != 0) return refuse(in, "'->' after the delay");
    in->at += 2;
    const char *problem;
    if (check_delay(*delay, &problem) != SF_OK)
        return sf_fail(in->error, SF_USAGE, in->start, "column %td: %s", begin - in->start + 1, problem);
    return SF_OK;
}

static int read_episode(sf_episode *episode, reader in)
{
    *episode = (sf_episode){0};
    for (;;) {
        if (episode->size == SF_EPISODE_MAX_SIZE)
            return sf_fail(in.error, SF_USAGE, in.start, "an episode has at most %d units",
                           SF_EPISODE_MAX_SIZE);
        int status = read_unit(&in, &episode->units[episode->size]);
        if (status != SF_OK) return status;
        episode->size++;
        skip_spaces(&in);
        if (*in.at == '\0') return SF_OK;
        if (episode->size == SF_EPISODE_MAX_SIZE) continue;
        status = read_arrow(&in, &episode->delays[episode->size - 1]);
        if (status != SF_OK) return status;
    }
}

int sf_episode_parse(sf_episode *episode, const char *text, const sf_units *units, sf_error *error)
{
    return read_episode(episode, (reader){.start = text, .at = text, .units = units, .error = error});
}

int sf_episode_learn(sf_units *units, const char *text, sf_error *error)
{
    sf_episode episode;
    return read_episode(&episode,
                        (reader){.start = text, .at = text, .units = units, .learnt = units, .error = error});
}

void sf_episode_print_name(sf_text *text, const char *name)
{
    bool plain = name[0] != '\0';
    for (const char *c = name; *c != '\0'; c++)
        plain = plain && is_word(*c);
    if (plain) {
        sf_text_printf(text, "%s", name);
        return;
    }
    sf_text_append(text, "\"", 1);
    for (const char *c = name; *c != '\0'; c++)
        sf_text_printf(text, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    sf_text_append(text, "\"", 1);
}

void sf_episode_print(sf_text *text, const sf_episode *episode, const sf_units *units)
{
    for (uint32_t i = 0; i < episode->size; i++) {
        if (i > 0) {
            sf_text_append(text, " -", 2);
            sf_text_delays(text, &episode->delays[i - 1], 1);
            sf_text_append(text, "-> ", 3);
        }
        sf_episode_print_name(text, units->items[episode->units[i]].name);
    }
}

int sf_episode_check(const sf_episode *episode, size_t unit_count, sf_error *error)
{
    if (episode->size < 1 || episode->size > SF_EPISODE_MAX_SIZE)
        return sf_fail(error, SF_DATA, NULL, "an episode has 1 to %d units, this one has %" PRIu32,
                       SF_EPISODE_MAX_SIZE, episode->size);
    for (uint32_t i = 0; i < episode->size; i++)
        if (episode->units[i] >= unit_count)
            return sf_fail(error, SF_DATA, NULL, "unit #%" PRIu32 " does not exist: there are %zu units",
                           episode->units[i], unit_count);
    const char *problem;
    for (uint32_t i = 0; i + 1 < episode->size; i++)
        if (check_delay(episode->delays[i], &problem) != SF_OK)
            return sf_fail(error, SF_DATA, NULL, "%s", problem);
    return SF_OK;
}

static int compare_delays(const void *a, const void *b)
{
    const sf_delay *left = a, *right = b;
    if (left->low_ns != right->low_ns) return left->low_ns < right->low_ns ? -1 : 1;
    return left->high_ns < right->high_ns ? -1 : left->high_ns > right->high_ns;
}

size_t sf_episodes_delays(sf_delay *delays, const sf_episode *episodes, size_t count)
{
    size_t links = 0, distinct = 0;
    for (size_t i = 0; i < count; i++)
        for (uint32_t link = 0; link + 1 < episodes[i].size; link++)
            delays[links++] = episodes[i].delays[link];
    if (links > 0) qsort(delays, links, sizeof *delays, compare_delays);
    for (size_t i = 0; i < links; i++)
        if (i == 0 || compare_delays(&delays[i], &delays[distinct - 1]) != 0) delays[distinct++] = delays[i];
    return distinct;
}

uint32_t sf_delays_find(const sf_delay *delays, size_t count, const sf_delay *delay)
{
    const sf_delay *found = bsearch(delay, delays, count, sizeof *delays, compare_delays);
    return (uint32_t)(found - delays);
}

#define MOST_PARTS 16 /* of an interval that is searched */

/* Delays as they are read. */
typedef struct delay_reader {
    sf_delay *delays;
    size_t most, count;
    const char *text; /* all of it */
    const char *item; /* what lies between two commas, */
    int length;       /* and how long it is */
    sf_error *error;
} delay_reader;

static int refuse_delay(const delay_reader *in)
{
    return sf_fail(
        in->error, SF_USAGE, in->text,
        "'%.*s' is not a delay interval: expected LO:HI in ms, as 0:5, or with /2, /4, /8 or /16 to search "
        "its parts",
        in->length, in->item);
}

static int add_delay(delay_reader *in, sf_delay delay)
{
    const char *problem;
    if (in->count == in->most)
        return sf_fail(in->error, SF_USAGE, in->text, "at most %zu delay intervals are taken", in->most);
    if (check_delay(delay, &problem) != SF_OK)
        return sf_fail(in->error, SF_USAGE, in->text, "'%.*s': %s", in->length, in->item, problem);
    for (size_t i = 0; i < in->count; i++)
        if (in->delays[i].low_ns == delay.low_ns && in->delays[i].high_ns == delay.high_ns)
            return sf_fail(in->error, SF_USAGE, in->text, "the interval '%.*s' is given twice", in->length,
                           in->item);
    in->delays[in->count++] = delay;
    return SF_OK;
}

/* The halves, their halves and so on, down to so many parts. */
static int add_parts(delay_reader *in, sf_delay whole, int64_t parts)
{
    int64_t width = whole.high_ns - whole.low_ns;
    int status = SF_OK;
    for (int64_t of = 2; of <= parts && status == SF_OK; of *= 2)
        for (int64_t i = 0; i < of && status == SF_OK; i++)
            status =
                add_delay(in, (sf_delay){whole.low_ns + width / of * i + width % of * i / of,
                                         whole.low_ns + width / of * (i + 1) + width % of * (i + 1) / of});
    return status;
}

/* LO:HI or LO:HI/PARTS. */
static int read_delays(delay_reader *in)
{
    char item[112];
    if ((size_t)in->length >= sizeof item) return refuse_delay(in);
    snprintf(item, sizeof item, "%.*s", in->length, in->item);
    char *high = strchr(item, ':');
    if (high == NULL) return refuse_delay(in);
    *high++ = '\0';
    char *cut = strchr(high, '/');
    uint64_t parts = 1;
    if (cut != NULL) {
        *cut++ = '\0';
        if (!sf_parse_uint(cut, MOST_PARTS, &parts) || parts < 2 || (parts & (parts - 1)) != 0)
            return refuse_delay(in);
    }
    sf_delay whole;
    if (!sf_parse_scaled(item, 6, &whole.low_ns) || !sf_parse_scaled(high, 6, &whole.high_ns))
        return refuse_delay(in);
    int status = add_delay(in, whole);
    return status == SF_OK ? add_parts(in, whole, (int64_t)parts) : status;
}

int sf_delays_parse(sf_delay *delays, size_t most, size_t *count, const char *text, sf_error *error)
{
    delay_reader in = {.delays = delays, .most = most, .text = text, .error = error};
    int status = SF_OK;
    for (const char *at = text; status == SF_OK; at += in.length + 1) {
        in.item = at;
        in.length = (int)strcspn(at, ",");
        status = read_delays(&in);
        if (at[in.length] == '\0') break;
    }
    *count = in.count;
    return status;
}

void sf_episode_id(char id[SF_EPISODE_ID_SIZE], const sf_episode *episode, const sf_units *units)
{
    uint64_t hash = SF_HASH_START;
    for (uint32_t i = 0; i < episode->size; i++) {
        const char *name = units->items[episode->units[i]].name;
        hash = sf_hash_integer(hash, episode->units[i]);
        hash = sf_hash_bytes(hash, name, strlen(name) + 1);
        if (i + 1 < episode->size) {
            hash = sf_hash_integer(hash, (uint64_t)episode->delays[i].low_ns);
            hash = sf_hash_integer(hash, (uint64_t)episode->delays[i].high_ns);
        }
    }
    snprintf(id, SF_EPISODE_ID_SIZE, "%016" PRIx64, hash);
}

int sf_episode_compare(const sf_episode *a, const sf_episode *b)
{
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    for (uint32_t i = 0; i < a->size; i++)
        if (a->units[i] != b->units[i]) return a->units[i] < b->units[i] ? -1 : 1;
    for (uint32_t i = 0; i + 1 < a->size; i++) {
        if (a->delays[i].low_ns != b->delays[i].low_ns)
            return a->delays[i].low_ns < b->delays[i].low_ns ? -1 : 1;
        if (a->delays[i].high_ns != b->delays[i].high_ns)
            return a->delays[i].high_ns < b->delays[i].high_ns ? -1 : 1;
    }
    return 0;
}

int64_t sf_episode_span_ns(const sf_episode *episode)
{
    int64_t span = 0;
    for (uint32_t i = 0; i + 1 < episode->size; i++)
        span += episode->delays[i].high_ns;
    return span;
}
