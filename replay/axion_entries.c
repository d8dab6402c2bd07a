/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/axion.h"

#include "core/error.h"
#include "core/memory.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MAGIC "AxionBio"
#define AGAIN "it was cut off or changed; copy it again from AxIS"

enum {
    HEADER_BYTES = 1024,
    FIRST_ENTRIES = 123,
    FIRST_SUM_AT = 1018, /* a checksum of all before it */
    MORE_ENTRIES = 126,
    MORE_SUM_AT = 1016,
    LEGACY_NOTES = 600, /* value of the length field of notes in every file */
    NOTE_BYTES = 618,
    SET_BYTES = 64,
    EXTENSION_BYTES = 84,
    CHANNEL_BYTES = 8,
    TAG_HEAD_BYTES = 36,
    MOST_ENTRY_BYTES = 1 << 24, /* of one that is read as a whole */
    MOST_SETS = 256
};

/* Types of entries; others are skipped. */
enum { END = 0, NOTES = 1, CHANNELS = 2, SET = 3, DATA = 4, EXTENSION = 5, TAG = 6, COMBINED = 7 };

enum { SPIKES = 1 }; /* a type of data */

/* ---- pieces of an entry ---- */

const unsigned char *sf_axion_take(sf_axion_cursor *from, size_t size)
{
    const unsigned char *at = from->at;
    if (from->failed || size > from->left) {
        from->failed = true;
        return NULL;
    }
    from->at += size;
    from->left -= size;
    return at;
}

uint16_t sf_axion_take_16(sf_axion_cursor *from)
{
    const unsigned char *at = sf_axion_take(from, 2);
    return at != NULL ? sf_little_16(at) : 0;
}

uint32_t sf_axion_take_32(sf_axion_cursor *from)
{
    const unsigned char *at = sf_axion_take(from, 4);
    return at != NULL ? sf_little_32(at) : 0;
}

uint64_t sf_axion_take_64(sf_axion_cursor *from)
{
    const unsigned char *at = sf_axion_take(from, 8);
    return at != NULL ? sf_little_64(at) : 0;
}

double sf_axion_take_real(sf_axion_cursor *from)
{
    const unsigned char *at = sf_axion_take(from, 8);
    return at != NULL ? sf_little_real(at) : 0;
}

static bool is_utf8(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length && sf_utf8_length(text + at) > 0)
        at += sf_utf8_length(text + at);
    return at >= length;
}

void sf_axion_append(sf_text *to, const unsigned char *from, size_t size)
{
    size_t begin = to->length, length = strnlen((const char *)from, size);
    sf_text_append(to, (const char *)from, length);
    if (to->failed) return;
    if (!is_utf8(to->data + begin, length)) {
        to->length = begin;
        for (size_t i = 0; i < length; i++) {
            char letter[4];
            sf_text_append(to, letter, sf_utf8_encode(letter, from[i]));
        }
    }
    for (size_t i = begin; !to->failed && i < to->length; i++)
        if ((unsigned char)to->data[i] < ' ' || to->data[i] == 0x7f) to->data[i] = ' ';
    while (!to->failed && to->length > begin && to->data[to->length - 1] == ' ')
        to->data[--to->length] = '\0';
}

void sf_axion_take_text(sf_axion_cursor *from, sf_text *to)
{
    uint32_t length = sf_axion_take_32(from);
    const unsigned char *at = sf_axion_take(from, length);
    if (at != NULL) sf_axion_append(to, at, length);
}

/* Year, month, day, hour, minute, second and millisecond; "" if invalid. */
static void take_date(sf_axion_cursor *from, char date[32])
{
    uint16_t parts[7];
    for (size_t i = 0; i < 7; i++)
        parts[i] = sf_axion_take_16(from);
    date[0] = '\0';
    if (parts[0] >= 1970 && parts[0] < 10000 && parts[1] >= 1 && parts[1] <= 12 && parts[2] >= 1 &&
        parts[2] <= 31 && parts[3] < 24 && parts[4] < 60 && parts[5] < 60 && parts[6] < 1000)
        snprintf(date, 32, "%04u-%02u-%02uT%02u:%02u:%02u.%03u", parts[0], parts[1], parts[2], parts[3],
                 parts[4], parts[5], parts[6]);
}

/* CRC-32 as of zip and PNG. */
static uint32_t sum_of(const unsigned char *bytes, size_t size)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, size);
}

/* ---- the file ---- */

int sf_axion_read(void *bytes, const sf_axion *axion, uint64_t at, size_t size, sf_error *error)
{
    return sf_file_read_all_at(axion->file, bytes, size, at, axion->path, error);
}

/* The upper bytes of the type and of the versions are 0, which no text file has. */
bool sf_axion_has_signature(const char *path)
{
    unsigned char found[14];
    return sf_binary_begin(path, found, sizeof found) && memcmp(found, MAGIC, 8) == 0 && found[9] == 0 &&
           found[11] == 0 && found[13] == 0;
}

static int refuse_sum(const sf_axion *axion, const char *what, sf_error *error)
{
    return sf_fail(error, SF_DATA, axion->path, "damaged: the checksum of %s is wrong: " AGAIN, what);
}

/* Reads the entries of the first header, and the offset of their data. */
static int read_first_header(const sf_axion *axion, unsigned char header[HEADER_BYTES], uint64_t *begin,
                             sf_error *error)
{
    if (axion->size < HEADER_BYTES)
        return sf_fail(error, SF_DATA, axion->path, "damaged: it ends in its header: " AGAIN);
    int status = sf_axion_read(header, axion, 0, HEADER_BYTES, error);
    if (status != SF_OK) return status;
    unsigned major = sf_little_16(header + 10), minor = sf_little_16(header + 12);
    if (major != 1)
        return sf_fail(
            error, SF_DATA, axion->path,
            "this file of AxIS is of version %u.%u, and 1.x is read: export its spike list (CSV) in "
            "AxIS",
            major, minor);
    if (sf_little_32(header + 22) != LEGACY_NOTES ||
        sum_of(header, FIRST_SUM_AT) != sf_little_32(header + FIRST_SUM_AT))
        return refuse_sum(axion, "its header", error);
    *begin = sf_little_64(header + 26);
    return SF_OK;
}

/* ---- entries ---- */

/* What is known while they are read. */
typedef struct walk {
    sf_axion *axion;
    size_t map_room, set_room, tag_room;
    size_t last_set; /* older files: set to which the next data, map and extension belong */
    uint64_t at, length;
    unsigned char *bytes; /* bytes of an entry that is read as a whole */
    sf_error *error;
} walk;

static int refuse_entry(const walk *in, const char *what)
{
    return sf_fail(in->error, SF_DATA, in->axion->path,
                   "damaged: %s at byte %" PRIu64 " has %" PRIu64 " bytes and needs others: " AGAIN, what,
                   in->at, in->length);
}

static int add_set(walk *in, const sf_axion_set *set)
{
    sf_axion *axion = in->axion;
    if (axion->set_count == MOST_SETS)
        return sf_fail(in->error, SF_DATA, axion->path, "damaged: it has more than %d sets of data",
                       MOST_SETS);
    if (sf_reserve(&axion->sets, &in->set_room, axion->set_count + 1, sizeof *axion->sets) != 0)
        return sf_fail_memory(in->error);
    axion->sets[axion->set_count++] = *set;
    return SF_OK;
}

static int add_map(walk *in, uint32_t plate, sf_axion_channel *channels, size_t count)
{
    sf_axion *axion = in->axion;
    if (sf_reserve(&axion->maps, &in->map_room, axion->map_count + 1, sizeof *axion->maps) != 0) {
        sf_free(channels);
        return sf_fail_memory(in->error);
    }
    axion->maps[axion->map_count++] = (sf_axion_map){plate, channels, count};
    return SF_OK;
}

static int take_notes(walk *in, sf_axion_cursor from)
{
    sf_axion *axion = in->axion;
    for (; from.left >= NOTE_BYTES;) {
        const unsigned char *at = sf_axion_take(&from, NOTE_BYTES);
        uint32_t revision = sf_little_32(at + 600);
        if (axion->has_notes && revision < axion->note_revision) continue;
        axion->has_notes = true;
        axion->note_revision = revision;
        sf_text_clear(&axion->investigator);
        sf_text_clear(&axion->recording);
        sf_text_clear(&axion->description);
        sf_axion_append(&axion->investigator, at, 50);
        sf_axion_append(&axion->recording, at + 50, 50);
        sf_axion_append(&axion->description, at + 100, 500);
    }
    bool failed = axion->investigator.failed || axion->recording.failed || axion->description.failed;
    return failed ? sf_fail_memory(in->error) : SF_OK;
}

static int take_channels(walk *in, sf_axion_cursor from)
{
    uint32_t plate = sf_axion_take_32(&from), count = sf_axion_take_32(&from);
    if (from.failed || count > SF_AXION_CHANNELS || from.left != (uint64_t)count * CHANNEL_BYTES)
        return refuse_entry(in, "the map of channels");
    sf_axion_channel *channels = sf_alloc(count, sizeof *channels);
    if (channels == NULL) return sf_fail_memory(in->error);
    for (uint32_t i = 0; i < count; i++) {
        const unsigned char *at = sf_axion_take(&from, CHANNEL_BYTES);
        channels[i] = (sf_axion_channel){at[0], at[1], at[2], at[3], at[4], at[5]};
    }
    sf_axion_set *last = in->last_set != SF_AXION_NONE ? &in->axion->sets[in->last_set] : NULL;
    if (last != NULL && last->map == SF_AXION_NONE) last->map = in->axion->map_count;
    return add_map(in, plate, channels, count);
}

/* Reads the data header of older files; the extension, or else the file, gives its type. */
static int take_set(walk *in, sf_axion_cursor from, bool holds_spikes)
{
    sf_axion_set set = {.duration_s = NAN, .map = SF_AXION_NONE, .sample_bytes = 2, .data_sets = 1};
    char began[32];
    set.rate_hz = sf_axion_take_real(&from);
    sf_axion_take(&from, 8); /* volts per step */
    take_date(&from, set.started);
    take_date(&from, began);
    set.at = sf_axion_take_64(&from);
    set.channels = sf_axion_take_32(&from);
    set.samples = sf_axion_take_32(&from);
    set.header_bytes = sf_axion_take_32(&from);
    set.is_spikes = holds_spikes;
    if (from.failed || in->length != SET_BYTES) return refuse_entry(in, "the header of data");
    in->last_set = in->axion->set_count;
    return add_set(in, &set);
}

static int take_extension(walk *in, sf_axion_cursor from)
{
    if (from.left < EXTENSION_BYTES) return refuse_entry(in, "the extension of a header");
    if (in->last_set != SF_AXION_NONE)
        in->axion->sets[in->last_set].is_spikes = sf_little_16(from.at + 4) == SPIKES;
    return SF_OK;
}

/* Data follow their header, which states where they begin. */
static void find_data(walk *in, bool to_end)
{
    for (size_t i = 0; i < in->axion->set_count; i++) {
        sf_axion_set *set = &in->axion->sets[i];
        if (set->at != in->at || set->is_combined || set->has_data) continue;
        set->has_data = true;
        set->length = to_end ? SF_AXION_TO_END : in->length;
    }
}

/* Selects the set's channels from the map of the file; `found` has room for all possible channels, and gives
 * the index of each in the map. */
static int choose_channels(walk *in, const unsigned char *ids, size_t count, const sf_axion_map *all,
                           uint32_t found[SF_AXION_CHANNELS])
{
    sf_axion_channel *channels = sf_alloc(count, sizeof *channels);
    if (channels == NULL) return sf_fail_memory(in->error);
    for (uint32_t i = 0; i < all->count; i++)
        found[sf_axion_id(&all->channels[i])] = i + 1;
    for (size_t i = 0; i < count; i++) {
        uint16_t id = sf_little_16(ids + i * 2);
        if (found[id] == 0) {
            sf_free(channels);
            return sf_fail(in->error, SF_DATA, in->axion->path,
                           "damaged: the header of data at byte %" PRIu64
                           " names channel %u of chip %u, which the map of channels has not",
                           in->at, id & 0xffu, id >> 8);
        }
        channels[i] = all->channels[found[id] - 1];
    }
    return add_map(in, all->plate, channels, count);
}

static int take_set_channels(walk *in, sf_axion_cursor *from, sf_axion_set *set)
{
    uint32_t count = sf_axion_take_32(from);
    const unsigned char *ids = sf_axion_take(from, (size_t)count * 2);
    const sf_axion_map *all = in->axion->map_count > 0 ? &in->axion->maps[in->axion->map_count - 1] : NULL;
    if (ids == NULL) return refuse_entry(in, "the header of data");
    if (all == NULL)
        return sf_fail(in->error, SF_DATA, in->axion->path,
                       "damaged: there is no map of channels before the header of data at byte %" PRIu64,
                       in->at);
    uint32_t *found = sf_alloc(SF_AXION_CHANNELS, sizeof *found);
    if (found == NULL) return sf_fail_memory(in->error);
    set->map = in->axion->map_count;
    int status = choose_channels(in, ids, count, all, found);
    sf_free(found);
    return status;
}

static bool has_sum(sf_axion_cursor *from, const unsigned char *begin)
{
    size_t size = (size_t)(from->at - begin);
    uint32_t sum = sf_axion_take_32(from);
    return !from->failed && sum == sum_of(begin, size);
}

/* Reads the data header of newer files: set, checksum, channels and name, and another checksum. */
static int take_combined(walk *in, sf_axion_cursor from)
{
    static const uint32_t widths[] = {2, 4, 4, 8};
    sf_axion_set set = {.duration_s = NAN, .map = SF_AXION_NONE, .is_combined = true, .has_data = true};
    const unsigned char *begin = from.at;
    char unused[32];
    unsigned major = sf_axion_take_16(&from), minor = sf_axion_take_16(&from);
    unsigned kind = sf_axion_take_16(&from), width = sf_axion_take_16(&from);
    set.rate_hz = sf_axion_take_real(&from);
    sf_axion_take(&from, 8); /* volts per step */
    set.channels = sf_axion_take_32(&from);
    set.data_sets = sf_axion_take_32(&from);
    set.samples = sf_axion_take_32(&from);
    sf_axion_take(&from, 4); /* bytes before the blocks that are not data */
    set.header_bytes = sf_axion_take_32(&from);
    take_date(&from, set.started);
    for (int i = 0; i < 3; i++) /* name of the experiment, and times of its creation and last change */
        take_date(&from, unused);
    if (major > 1 || minor >= 1) set.duration_s = sf_axion_take_real(&from);
    for (int i = 0; i < 2; i++) /* name and description */
        sf_axion_take(&from, sf_axion_take_32(&from));
    set.at = sf_axion_take_64(&from);
    set.length = sf_axion_take_64(&from);
    set.is_spikes = kind == SPIKES;
    set.sample_bytes = width < 4 ? widths[width] : 0;
    if (from.failed) return refuse_entry(in, "the header of data");
    if (!has_sum(&from, begin)) return refuse_sum(in->axion, "a header of data", in->error);
    if (!set.is_spikes) return add_set(in, &set);
    begin = from.at;
    int status = take_set_channels(in, &from, &set);
    if (status != SF_OK) return status;
    sf_axion_take(&from, sf_axion_take_32(&from)); /* the name of the data */
    if (from.failed) return refuse_entry(in, "the header of data");
    return has_sum(&from, begin) ? add_set(in, &set) : refuse_sum(in->axion, "a header of data", in->error);
}

static int take_tag(walk *in)
{
    sf_axion *axion = in->axion;
    unsigned char head[TAG_HEAD_BYTES];
    if (in->length < sizeof head) return refuse_entry(in, "a tag");
    int status = sf_axion_read(head, axion, in->at, sizeof head, in->error);
    if (status == SF_OK &&
        sf_reserve(&axion->tags, &in->tag_room, axion->tag_count + 1, sizeof *axion->tags) != 0)
        status = sf_fail_memory(in->error);
    if (status != SF_OK) return status;
    sf_axion_tag *tag = &axion->tags[axion->tag_count++];
    *tag = (sf_axion_tag){.type = sf_little_16(head),
                          .revision = sf_little_32(head + 32),
                          .at = in->at + sizeof head,
                          .length = in->length - sizeof head};
    memcpy(tag->guid, head + 16, sizeof tag->guid);
    return SF_OK;
}

static int take_whole(walk *in, unsigned type, bool holds_spikes)
{
    if (in->length > MOST_ENTRY_BYTES) return refuse_entry(in, "an entry");
    in->bytes = sf_alloc(1, (size_t)in->length + 1);
    if (in->bytes == NULL) return sf_fail_memory(in->error);
    const sf_axion_cursor from = {in->bytes, (size_t)in->length, false};
    int status = sf_axion_read(in->bytes, in->axion, in->at, (size_t)in->length, in->error);
    if (status == SF_OK)
        status = type == NOTES       ? take_notes(in, from)
                 : type == CHANNELS  ? take_channels(in, from)
                 : type == SET       ? take_set(in, from, holds_spikes)
                 : type == EXTENSION ? take_extension(in, from)
                                     : take_combined(in, from);
    sf_free(in->bytes);
    in->bytes = NULL;
    return status;
}

/* Reads an entry of a list; the type is in the upper byte, and a length of all ones means to the end of the
 * file. */
static int take_entry(walk *in, uint64_t entry, bool holds_spikes)
{
    static const uint64_t to_end = (UINT64_C(1) << 56) - 1;
    unsigned type = (unsigned)(entry >> 56);
    uint64_t left = in->axion->size - in->at;
    in->length = (entry & to_end) == to_end ? left : entry & to_end;
    if (in->length > left)
        return sf_fail(in->error, SF_DATA, in->axion->path,
                       "damaged: an entry of type %u at byte %" PRIu64 " has %" PRIu64
                       " bytes, and the file ends after %" PRIu64 ": " AGAIN,
                       type, in->at, in->length, left);
    int status = SF_OK;
    if (type == DATA)
        find_data(in, (entry & to_end) == to_end);
    else if (type == TAG)
        status = take_tag(in);
    else if (type >= NOTES && type <= COMBINED)
        status = take_whole(in, type, holds_spikes);
    in->at += in->length;
    return status;
}

/* False in *goes_on where the list ends. */
static int take_list(walk *in, const unsigned char *list, size_t count, bool holds_spikes, bool *goes_on)
{
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && *goes_on && i < count; i++) {
        uint64_t entry = sf_little_64(list + 8 * i);
        *goes_on = entry >> 56 != END;
        if (*goes_on) status = take_entry(in, entry, holds_spikes);
    }
    return status;
}

static int walk_entries(walk *in)
{
    unsigned char header[HEADER_BYTES];
    bool goes_on = true;
    int status = read_first_header(in->axion, header, &in->at, in->error);
    if (status != SF_OK) return status;
    bool holds_spikes = sf_little_16(header + 8) == SPIKES;
    in->axion->version = sf_little_16(header + 12);
    if (in->at > in->axion->size)
        return sf_fail(in->error, SF_DATA, in->axion->path,
                       "damaged: its entries begin at byte %" PRIu64 ", and the file has %" PRIu64 ": " AGAIN,
                       in->at, in->axion->size);
    status = take_list(in, header + 34, FIRST_ENTRIES, holds_spikes, &goes_on);
    while (status == SF_OK && goes_on) {
        if (in->axion->size - in->at < HEADER_BYTES)
            return sf_fail(in->error, SF_DATA, in->axion->path,
                           "damaged: it ends where its next header is: " AGAIN);
        status = sf_axion_read(header, in->axion, in->at, HEADER_BYTES, in->error);
        if (status == SF_OK && (memcmp(header, MAGIC, 8) != 0 ||
                                sum_of(header, MORE_SUM_AT) != sf_little_32(header + MORE_SUM_AT)))
            return refuse_sum(in->axion, "its next header", in->error);
        in->at += HEADER_BYTES;
        if (status == SF_OK) status = take_list(in, header + 8, MORE_ENTRIES, holds_spikes, &goes_on);
    }
    return status;
}

/* Two headers with the same data are one set: newer files may also have a header of the old kind. */
static void drop_doubles(sf_axion *axion)
{
    for (size_t i = 0; i < axion->set_count; i++)
        for (size_t k = 0; axion->sets[i].is_spikes && k < axion->set_count; k++)
            if (k != i && axion->sets[k].is_spikes && axion->sets[k].at == axion->sets[i].at &&
                axion->sets[k].is_combined <= axion->sets[i].is_combined)
                axion->sets[k].is_spikes = false;
}

/* A set without a map uses that of the file; the data of a spike set must lie within the file. */
static int check_sets(sf_axion *axion, sf_error *error)
{
    for (size_t i = 0; i < axion->set_count; i++) {
        sf_axion_set *set = &axion->sets[i];
        if (!set->is_spikes) continue;
        if (set->map == SF_AXION_NONE) set->map = axion->map_count - 1;
        if (axion->map_count == 0)
            return sf_fail(error, SF_DATA, axion->path,
                           "damaged: it has spikes and no map of the channels that they are on");
        if (!set->has_data)
            return sf_fail(error, SF_DATA, axion->path,
                           "damaged: its spikes should begin at byte %" PRIu64 ", where no data do: " AGAIN,
                           set->at);
        if (set->at > axion->size || (set->length != SF_AXION_TO_END && set->length > axion->size - set->at))
            return sf_fail(error, SF_DATA, axion->path,
                           "damaged: its spikes take %" PRIu64 " bytes from byte %" PRIu64
                           " on, and the file has %" PRIu64 ": " AGAIN,
                           set->length, set->at, axion->size);
    }
    return SF_OK;
}

int sf_axion_open(sf_axion *axion, const char *path, sf_error *error)
{
    struct stat about;
    *axion = (sf_axion){.path = path, .file = open(path, O_RDONLY | O_CLOEXEC)};
    if (axion->file < 0 || fstat(axion->file, &about) != 0)
        return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
    axion->size = (uint64_t)about.st_size;
    walk in = {.axion = axion, .last_set = SF_AXION_NONE, .error = error};
    int status = walk_entries(&in);
    drop_doubles(axion);
    return status == SF_OK ? check_sets(axion, error) : status;
}

void sf_axion_close(sf_axion *axion)
{
    for (size_t i = 0; i < axion->map_count; i++)
        sf_free(axion->maps[i].channels);
    sf_free(axion->maps);
    sf_free(axion->sets);
    sf_free(axion->tags);
    sf_text_free(&axion->investigator);
    sf_text_free(&axion->recording);
    sf_text_free(&axion->description);
    if (axion->file >= 0) close(axion->file);
    *axion = (sf_axion){.file = -1};
}
