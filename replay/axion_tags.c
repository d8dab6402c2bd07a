/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tags of a file of AxIS: notes on the time axis, stimuli, what is in the wells, names and values. Each has a
 * number (GUID) and revisions, of which the latest counts; one that was deleted is a revision of type 0. A
 * stimulus names two other tags: one whose blocks say which groups of electrodes were used, and one that has
 * these groups, or those of LEDs. Thus it is known in which wells it was.
 */
#include "replay/axion.h"

#include "core/error.h"
#include "core/memory.h"
#include "replay/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Types of tags; others are not read. */
enum {
    DELETED = 0,
    WELL = 1,
    USER_NOTE = 2,
    SYSTEM_NOTE = 3,
    STIMULUS = 5,
    ELECTRODES = 6,
    WAVEFORM = 7,
    LEDS = 9,
    NAMED_VALUE = 11
};

enum {
    MOST_TAG_BYTES = 1 << 20,
    MOST_VALUES = 64, /* names and values that become metadata */
    WHOLE_WELL = 0    /* as a column or row: all of them */
};

typedef struct tags {
    sf_recording *recording;
    const sf_axion *file;
    uint8_t well_column, well_row;
    sf_axion_tag *heads; /* latest revision of each tag, by its GUID */
    size_t count;
    size_t marker_capacity;
    size_t damaged, unplaced, values; /* damaged: skipped tags; unplaced: stimuli of unknown well */
    sf_error *error;
} tags;

/* ---- revisions ---- */

static int compare_tags(const void *a, const void *b)
{
    const sf_axion_tag *left = a, *right = b;
    int order = memcmp(left->guid, right->guid, sizeof left->guid);
    if (order != 0) return order;
    if (left->revision != right->revision) return left->revision < right->revision ? -1 : 1;
    return (left->at > right->at) - (left->at < right->at);
}

static int compare_numbers(const void *a, const void *b)
{
    return memcmp(((const sf_axion_tag *)a)->guid, ((const sf_axion_tag *)b)->guid, 16);
}

static int find_heads(tags *in)
{
    const sf_axion *file = in->file;
    in->heads = sf_resize(NULL, file->tag_count, sizeof *in->heads);
    if (in->heads == NULL) return sf_fail_memory(in->error);
    if (file->tag_count > 0) {
        memcpy(in->heads, file->tags, file->tag_count * sizeof *in->heads);
        qsort(in->heads, file->tag_count, sizeof *in->heads, compare_tags);
    }
    for (size_t i = 0; i < file->tag_count; i++)
        if (i + 1 == file->tag_count || compare_numbers(&in->heads[i], &in->heads[i + 1]) != 0)
            in->heads[in->count++] = in->heads[i];
    return SF_OK;
}

/* The tag with this GUID, of one of two types; NULL if there is none. */
static const sf_axion_tag *find_tag(const tags *in, const unsigned char *guid, unsigned type, unsigned other)
{
    sf_axion_tag wanted;
    memcpy(wanted.guid, guid, sizeof wanted.guid);
    const sf_axion_tag *found = bsearch(&wanted, in->heads, in->count, sizeof *in->heads, compare_numbers);
    return found != NULL && (found->type == type || found->type == other) ? found : NULL;
}

/* Reads the bytes after a tag's head into a new block; free *bytes with sf_free. */
static int load_tag(sf_axion_cursor *from, unsigned char **bytes, const tags *in, const sf_axion_tag *tag)
{
    size_t size = tag->length < MOST_TAG_BYTES ? (size_t)tag->length : MOST_TAG_BYTES;
    *bytes = sf_resize(NULL, size + 1, 1);
    if (*bytes == NULL) return sf_fail_memory(in->error);
    *from = (sf_axion_cursor){*bytes, size, false};
    return sf_axion_read(*bytes, in->file, tag->at, size, in->error);
}

/* ---- events ---- */

typedef struct event {
    int64_t begin_ns, end_ns;
} event;

/* A time in samples of a rate of its own; false if it is invalid. */
static bool take_event(sf_axion_cursor *from, event *to)
{
    double rate_hz = sf_axion_take_real(from);
    int64_t begin = (int64_t)sf_axion_take_64(from), length = (int64_t)sf_axion_take_64(from), end;
    return !from->failed && rate_hz >= SF_LEAST_RATE_HZ && rate_hz <= SF_MOST_RATE_HZ && length >= 0 &&
           !__builtin_add_overflow(begin, length, &end) && sf_samples_to_ns(begin, rate_hz, &to->begin_ns) &&
           sf_samples_to_ns(end, rate_hz, &to->end_ns);
}

static bool is_here(const tags *in, uint8_t column, uint8_t row)
{
    return (column == WHOLE_WELL && row == WHOLE_WELL) || (column == in->well_column && row == in->well_row);
}

/* A note by a user or by AxIS; a note with a duration becomes two markers. */
static int take_note(tags *in, sf_axion_cursor *from)
{
    event when;
    sf_text text = {0};
    bool is_time = take_event(from, &when);
    const unsigned char *place = sf_axion_take(from, 4);
    sf_axion_take_text(from, &text);
    int status = text.failed ? sf_fail_memory(in->error) : SF_OK;
    if (from->failed || !is_time)
        in->damaged++;
    else if (status == SF_OK && is_here(in, place[0], place[1])) {
        const char *label = text.length > 0 ? text.data : "note";
        status = sf_reader_mark(in->recording, &in->marker_capacity, when.begin_ns, label, "", in->error);
        if (status == SF_OK && when.end_ns > when.begin_ns)
            status =
                sf_reader_mark(in->recording, &in->marker_capacity, when.end_ns, label, " end", in->error);
    }
    sf_text_free(&text);
    return status;
}

/* ---- stimuli ---- */

typedef enum stim_place { HERE, ELSEWHERE, NOT_KNOWN } stim_place;

/* Reads the groups of a block of a waveform, at most two; 0: none. False: there is no such block. */
static bool take_groups(sf_axion_cursor *from, uint16_t block, uint16_t groups[2])
{
    unsigned version = sf_axion_take_16(from), count = sf_axion_take_16(from);
    for (unsigned i = 0; version == 0 && !from->failed && i < count; i++) {
        uint16_t id = sf_axion_take_16(from);
        sf_axion_take(from, 2 + 8 + 8); /* type and durations */
        groups[0] = sf_axion_take_16(from);
        groups[1] = sf_axion_take_16(from);
        if (!from->failed && id == block) return true;
        sf_axion_take(from, sf_axion_take_32(from));
    }
    return false;
}

/* Whether one of these groups (of electrodes, 8 bytes each, or of LEDs, 4) is in the well. `groups` NULL: any
 * group. */
static stim_place take_places(const tags *in, sf_axion_cursor *from, size_t size, const uint16_t *groups)
{
    stim_place found = NOT_KNOWN;
    unsigned version = sf_axion_take_16(from);
    sf_axion_take(from, 2);
    if (version != 0 || from->failed) return NOT_KNOWN;
    while (from->left >= 12) {
        uint32_t id = sf_axion_take_32(from);
        sf_axion_take_32(from); /* the plate's type */
        uint32_t count = sf_axion_take_32(from);
        const unsigned char *at = sf_axion_take(from, (size_t)count * size);
        if (at == NULL) return NOT_KNOWN;
        if (groups != NULL && (id == 0 || (id != groups[0] && id != groups[1]))) continue;
        found = found == NOT_KNOWN ? ELSEWHERE : found;
        for (uint32_t i = 0; i < count; i++)
            found = is_here(in, at[i * size], at[i * size + 1]) ? HERE : found;
    }
    return found;
}

static int find_place(tags *in, const unsigned char *waveform, const unsigned char *channels, uint16_t block,
                      stim_place *found)
{
    const sf_axion_tag *blocks = find_tag(in, waveform, WAVEFORM, WAVEFORM),
                       *groups = find_tag(in, channels, ELECTRODES, LEDS);
    sf_axion_cursor from;
    unsigned char *bytes = NULL;
    uint16_t chosen[2];
    *found = NOT_KNOWN;
    if (blocks == NULL || groups == NULL) return SF_OK;
    int status = load_tag(&from, &bytes, in, blocks);
    bool is_block = status == SF_OK && take_groups(&from, block, chosen);
    sf_free(bytes);
    bool is_light = groups->type == LEDS; /* without a block, all of them */
    if (status != SF_OK || (!is_block && !is_light)) return status;
    status = load_tag(&from, &bytes, in, groups);
    if (status == SF_OK) *found = take_places(in, &from, is_light ? 4 : 8, is_block ? chosen : NULL);
    sf_free(bytes);
    return status;
}

/* A stimulus is a marker of the wells that received it; of all wells if the file does not say which. */
static int take_stimulus(tags *in, sf_axion_cursor *from)
{
    event when;
    stim_place where = NOT_KNOWN;
    if (!take_event(from, &when)) {
        in->damaged++;
        return SF_OK;
    }
    unsigned version = sf_axion_take_16(from);
    sf_axion_take(from, 2);
    const unsigned char *numbers = sf_axion_take(from, 32);
    uint16_t block = sf_axion_take_16(from);
    int status = SF_OK;
    if (version == 0 && !from->failed) status = find_place(in, numbers, numbers + 16, block, &where);
    in->unplaced += where == NOT_KNOWN;
    if (status == SF_OK && where != ELSEWHERE)
        status = sf_reader_mark(in->recording, &in->marker_capacity, when.begin_ns, "stim", "", in->error);
    return status;
}

/* ---- what is in the well, and names with values ---- */

static int set_text(tags *in, const char *key, sf_text *text)
{
    if (text->failed) return sf_fail_memory(in->error);
    return sf_reader_metadata_text(in->recording, key, text->data, in->error);
}

/* An amount such as `30 uM`: the value is scaled by 10^exponent, which the prefix of the unit reverses. */
static void take_amount(sf_axion_cursor *from, sf_text *to)
{
    static const struct {
        int exponent;
        const char *prefix;
    } prefixes[] = {{12, "p"}, {9, "n"}, {6, "u"}, {3, "m"}, {0, ""}, {-3, "k"}, {-6, "M"}};
    double amount = sf_axion_take_real(from);
    const unsigned char *byte = sf_axion_take(from, 1);
    sf_text unit = {0};
    sf_axion_take_text(from, &unit);
    for (size_t i = 0; !from->failed && isfinite(amount) && i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (prefixes[i].exponent == (signed char)*byte && unit.length > 0)
            sf_text_printf(to, "%s%.6g %s%s", to->length > 0 ? " " : "",
                           amount * pow(10, prefixes[i].exponent), prefixes[i].prefix, unit.data);
    to->failed = to->failed || unit.failed;
    sf_text_free(&unit);
}

static int take_well(tags *in, sf_axion_cursor *from)
{
    enum { IS_ON = 1, IS_CONTROL = 2 };
    sf_text treatment = {0}, comment = {0};
    const unsigned char *place = sf_axion_take(from, 5);
    int status = SF_OK;
    if (place == NULL || place[0] == WHOLE_WELL || place[1] == WHOLE_WELL) {
        in->damaged++;
        return SF_OK;
    }
    if (place[0] != in->well_column || place[1] != in->well_row) return SF_OK;
    if (from->left >= 12) {     /* files of old have no more */
        sf_axion_take(from, 3); /* its colour */
        sf_axion_take_text(from, &treatment);
        sf_axion_take_text(from, &comment);
        if (from->left > 9) take_amount(from, &treatment);
    }
    status = set_text(in, "treatment", &treatment);
    if (status == SF_OK) status = set_text(in, "well_comment", &comment);
    if (status == SF_OK && (place[4] & IS_CONTROL) != 0)
        status = sf_recording_set_metadata(in->recording, "control", "yes", in->error);
    if (status == SF_OK && (place[4] & IS_ON) == 0)
        status = sf_recording_set_metadata(in->recording, "well_active", "no", in->error);
    sf_text_free(&treatment);
    sf_text_free(&comment);
    return status;
}

static int take_value(tags *in, sf_axion_cursor *from)
{
    sf_text key = {0}, value = {0};
    sf_axion_take_text(from, &key);
    sf_axion_take_text(from, &value);
    int status = key.failed || value.failed ? sf_fail_memory(in->error) : SF_OK;
    if (from->failed)
        in->damaged++;
    else if (status == SF_OK && key.length > 0 && in->values++ < MOST_VALUES)
        status = set_text(in, key.data, &value);
    sf_text_free(&key);
    sf_text_free(&value);
    return status;
}

/* ---- the whole ---- */

static int take_tag(tags *in, const sf_axion_tag *tag)
{
    static const struct {
        unsigned type;
        int (*take)(tags *in, sf_axion_cursor *from);
    } kinds[] = {{WELL, take_well},
                 {USER_NOTE, take_note},
                 {SYSTEM_NOTE, take_note},
                 {STIMULUS, take_stimulus},
                 {NAMED_VALUE, take_value}};
    sf_axion_cursor from;
    unsigned char *bytes = NULL;
    int status = SF_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].type != tag->type) continue;
        status = load_tag(&from, &bytes, in, tag);
        if (status == SF_OK) status = kinds[i].take(in, &from);
        sf_free(bytes);
    }
    return status;
}

static int tell_left_out(tags *in)
{
    char told[128];
    int status = SF_OK;
    snprintf(told, sizeof told, "%zu %s damaged and left out", in->damaged, in->damaged > 1 ? "are" : "is");
    if (in->damaged > 0) status = sf_recording_set_metadata(in->recording, "tags", told, in->error);
    snprintf(told, sizeof told, "of %zu the file does not say in which wells: every well has them",
             in->unplaced);
    if (status == SF_OK && in->unplaced > 0)
        status = sf_recording_set_metadata(in->recording, "stimuli", told, in->error);
    return status;
}

int sf_axion_take_tags(sf_recording *recording, const sf_axion *axion, uint8_t well_column, uint8_t well_row,
                       sf_error *error)
{
    tags in = {.recording = recording,
               .file = axion,
               .well_column = well_column,
               .well_row = well_row,
               .error = error};
    int status = find_heads(&in);
    for (size_t i = 0; status == SF_OK && i < in.count; i++)
        status = take_tag(&in, &in.heads[i]);
    if (status == SF_OK) status = tell_left_out(&in);
    sf_free(in.heads);
    return status;
}
