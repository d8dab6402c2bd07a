/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/nex.h"

#include "core/error.h"
#include "core/memory.h"
#include "io/file.h"
#include "replay/binary.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEADER_SIZE = 544,
    HEADER5_SIZE = 356,
    VARIABLE_SIZE = 208,
    VARIABLE5_SIZE = 244,
    NAME_SIZE = 64,
    COMMENT_SIZE = 256
};

#define MOST_JSON (UINT64_C(64) << 20)
#define LONGEST_VALUE 65536
#define AGAIN "export it from NeuroExplorer again"

/* ---- bytes ---- */

static int32_t i32(const unsigned char *from)
{
    return (int32_t)sf_little_32(from);
}

int sf_nex_read(void *bytes, const sf_nex *nex, uint64_t offset, size_t size, sf_error *error)
{
    return sf_file_read_all_at(nex->file, bytes, size, offset, nex->path, error);
}

int sf_nex_read_times(int64_t *times, const sf_nex *nex, uint64_t offset, uint32_t width, size_t count,
                      sf_error *error)
{
    unsigned char block[32768];
    int status = SF_OK;
    for (size_t done = 0, size; status == SF_OK && done < count; done += size) {
        size = count - done < sizeof block / width ? count - done : sizeof block / width;
        status = sf_nex_read(block, nex, offset + done * width, size * width, error);
        for (size_t i = 0; status == SF_OK && i < size; i++)
            times[done + i] = width == 4 ? i32(block + 4 * i) : (int64_t)sf_little_64(block + 8 * i);
    }
    return status;
}

/* Copies text without trailing blanks; `to` has room for two bytes per byte of `size`. */
static void take_text(char *to, const unsigned char *from, size_t size)
{
    sf_binary_text(to, 2 * size + 1, from, size);
    sf_binary_trim_end(to);
}

/* ---- the file's header ---- */

/* The version is a small number, whose upper bytes are 0, as in no text. */
bool sf_nex_has_signature(const char *path)
{
    char found[8];
    return sf_binary_begin(path, found, sizeof found) &&
           (memcmp(found, "NEX1", 4) == 0 || memcmp(found, "NEX5", 4) == 0) && found[6] == 0 && found[7] == 0;
}

/* 102 and 103 were beta versions, which NeuroExplorer's own readers refuse. */
static bool is_known(const sf_nex *nex)
{
    if (nex->is_nex5) return nex->version >= 500 && nex->version < 600;
    return nex->version >= 100 && nex->version <= 106 && nex->version != 102 && nex->version != 103;
}

static int read_header(sf_nex *nex, size_t *variables_at, uint64_t *json_at, sf_error *error)
{
    unsigned char header[HEADER_SIZE];
    if (nex->size < 8)
        return sf_fail(error, SF_DATA, nex->path, "damaged: it is cut off after %" PRIu64 " bytes",
                       nex->size);
    int status = sf_nex_read(header, nex, 0, 8, error);
    if (status != SF_OK) return status;
    nex->is_nex5 = header[3] == '5';
    nex->version = i32(header + 4);
    size_t size = nex->is_nex5 ? HEADER5_SIZE : HEADER_SIZE;
    if (!is_known(nex))
        return sf_fail(error, SF_DATA, nex->path,
                       "this is a NeuroExplorer file of version %" PRId32 ", expected %s: " AGAIN,
                       nex->version, nex->is_nex5 ? "500 or later" : "100, 101, 104, 105 or 106");
    if (nex->size < size)
        return sf_fail(error, SF_DATA, nex->path,
                       "damaged: it is cut off in its header, after %" PRIu64 " of %zu bytes: " AGAIN,
                       nex->size, size);
    status = sf_nex_read(header, nex, 0, size, error);
    if (status != SF_OK) return status;
    take_text(nex->comment, header + 8, COMMENT_SIZE);
    nex->rate_hz = sf_little_real(header + 264);
    nex->begin = nex->is_nex5 ? (int64_t)sf_little_64(header + 272) : i32(header + 272);
    nex->end = nex->is_nex5 ? (int64_t)sf_little_64(header + 292) : i32(header + 276);
    nex->has_span = (!nex->is_nex5 || nex->version > 500) && (nex->begin != 0 || nex->end != 0);
    *json_at = nex->is_nex5 ? sf_little_64(header + 284) : 0;
    *variables_at = size;
    int32_t count = i32(header + 280);
    size_t each = nex->is_nex5 ? VARIABLE5_SIZE : VARIABLE_SIZE;
    if (count < 0 || (uint64_t)count > (nex->size - size) / each)
        return sf_fail(error, SF_DATA, nex->path,
                       "damaged: it says that it has %" PRId32 " variables, and its %" PRIu64
                       " bytes hold the headers of %" PRIu64
                       " at most: it was cut off, or its header is wrong; " AGAIN,
                       count, nex->size, (nex->size - size) / each);
    nex->count = (size_t)count;
    return SF_OK;
}

/* ---- headers of variables ---- */

/* Header fields of a variable that are not kept. */
typedef struct stated {
    uint64_t points;          /* points of a waveform, or of a whole continuous variable */
    uint32_t value_width;     /* bytes of one */
    uint32_t index_width;     /* bytes of the index at which a fragment begins */
    int32_t fields, length;   /* of a marker, as they stand */
    int32_t times_kind, kind; /* of timestamps and of markers: 0 or 1 */
} stated;

static void take_variable(sf_nex_variable *to, stated *of, const unsigned char *header)
{
    int32_t version = i32(header + 4);
    to->offset = sf_little_32(header + 72); /* offsets are unsigned in files up to 4 GiB */
    to->count = i32(header + 76) < 0 ? UINT64_MAX : sf_little_32(header + 76);
    to->wire = i32(header + 80);
    to->unit = i32(header + 84);
    to->has_numbers = version == 101 || to->wire != 0 || to->unit != 0; /* 102 is of all that some write */
    to->x = sf_little_real(header + 96);
    to->y = sf_little_real(header + 104);
    *of = (stated){.points = i32(header + 128) < 0 ? UINT64_MAX : sf_little_32(header + 128),
                   .value_width = 2,
                   .index_width = 4,
                   .fields = i32(header + 132),
                   .length = i32(header + 136)};
}

static void take_variable5(sf_nex_variable *to, stated *of, const unsigned char *header)
{
    to->offset = sf_little_64(header + 72);
    to->count = sf_little_64(header + 80);
    to->x = to->y = NAN;
    *of = (stated){.points = sf_little_64(header + 152),
                   .value_width = i32(header + 92) == 1 ? 4 : 2,
                   .index_width = i32(header + 180) == 1 ? 8 : 4,
                   .fields = i32(header + 172),
                   .length = i32(header + 176),
                   .times_kind = i32(header + 88),
                   .kind = i32(header + 168)};
}

/* Bytes of a variable that are read, and its total; at least 2^64 - 1 on overflow. */
static unsigned __int128 bytes_read(const sf_nex_variable *of)
{
    unsigned __int128 count = of->count;
    switch (of->type) {
    case SF_NEX_NEURON:
    case SF_NEX_EVENT:
    case SF_NEX_WAVEFORM:
        return count * of->width;
    case SF_NEX_INTERVAL:
        return count * of->width * 2;
    case SF_NEX_MARKER:
        return count * of->width + of->fields * (SF_NEX_FIELD_NAME + count * of->length);
    default:
        return 0;
    }
}

static unsigned __int128 bytes_of(const sf_nex_variable *of, const stated *what)
{
    unsigned __int128 count = of->count, points = what->points;
    if (count > UINT32_MAX || points > UINT64_MAX >> 8)
        return of->type == SF_NEX_POPULATION_VECTOR ? count * 8 : UINT64_MAX;
    switch (of->type) {
    case SF_NEX_WAVEFORM:
        return count * of->width + count * points * what->value_width;
    case SF_NEX_CONTINUOUS:
        return count * (of->width + what->index_width) + points * what->value_width;
    case SF_NEX_POPULATION_VECTOR:
        return count * 8;
    default:
        return bytes_read(of);
    }
}

static int check_variable(const sf_nex *nex, const sf_nex_variable *of, uint64_t data_at, sf_error *error)
{
    unsigned __int128 bytes = bytes_read(of);
    if (bytes == 0 ||
        (of->offset >= data_at && bytes <= nex->size && of->offset <= nex->size - (uint64_t)bytes))
        return SF_OK;
    if (of->offset < data_at)
        return sf_fail(error, SF_DATA, nex->path,
                       "damaged: the data of variable '%.64s' would begin at byte %" PRIu64
                       ", within the headers: " AGAIN,
                       of->name, of->offset);
    return sf_fail(error, SF_DATA, nex->path,
                   "damaged: variable '%.64s' has %" PRIu64 " entries from byte %" PRIu64
                   " and the file ends at byte %" PRIu64 ": it was cut off, or its header is wrong; " AGAIN,
                   of->name, of->count, of->offset, nex->size);
}

static int check_kinds(const sf_nex *nex, const sf_nex_variable *of, const stated *what, sf_error *error)
{
    bool is_marker = of->type == SF_NEX_MARKER;
    if (what->times_kind != 0 && what->times_kind != 1)
        return sf_fail(error, SF_DATA, nex->path,
                       "damaged: timestamps of variable '%.64s' are of kind %" PRId32
                       ", expected 0 (32 bits) or 1 (64 bits): " AGAIN,
                       of->name, what->times_kind);
    if (is_marker && (what->fields < 0 || what->length < 0 || what->length > LONGEST_VALUE ||
                      (what->kind != 0 && what->kind != 1)))
        return sf_fail(error, SF_DATA, nex->path,
                       "damaged: markers '%.64s' have %" PRId32 " fields of %" PRId32
                       " bytes and of kind %" PRId32 ": " AGAIN,
                       of->name, what->fields, what->length, what->kind);
    return SF_OK;
}

static int take_header(sf_nex *nex, size_t i, const unsigned char *header, uint64_t data_at, sf_error *error)
{
    sf_nex_variable *variable = &nex->variables[i];
    stated what;
    variable->type = i32(header);
    take_text(variable->name, header + 8, NAME_SIZE);
    if (nex->is_nex5 && i32(header + 4) != 500)
        return sf_fail(error, SF_DATA, nex->path,
                       "damaged: the header of variable %zu, '%.64s', is of version %" PRId32
                       ", expected 500: " AGAIN,
                       i, variable->name, i32(header + 4));
    if (nex->is_nex5)
        take_variable5(variable, &what, header);
    else
        take_variable(variable, &what, header);
    int status = check_kinds(nex, variable, &what, error);
    if (status != SF_OK) return status;
    variable->width = what.times_kind == 1 ? 8 : 4;
    if (variable->type == SF_NEX_MARKER) {
        variable->is_numeric = what.kind == 1;
        variable->fields = (uint32_t)what.fields;
        variable->length = variable->is_numeric ? 4 : (uint32_t)what.length;
    }
    unsigned __int128 bytes = bytes_of(variable, &what);
    variable->is_whole = bytes <= nex->size && variable->offset <= nex->size - (uint64_t)bytes;
    return check_variable(nex, variable, data_at, error);
}

/* Data of two variables must not overlap; otherwise a small file could claim any amount of memory. */
static int check_overlap(const sf_nex *nex, uint64_t data_at, sf_error *error)
{
    unsigned __int128 bytes = 0;
    for (size_t i = 0; i < nex->count; i++)
        bytes += bytes_read(&nex->variables[i]);
    if (bytes <= nex->size - data_at) return SF_OK;
    return sf_fail(
        error, SF_DATA, nex->path,
        "damaged: its variables hold more bytes than the file has: several share their data; " AGAIN);
}

static int read_variables(sf_nex *nex, size_t at, sf_error *error)
{
    size_t each = nex->is_nex5 ? VARIABLE5_SIZE : VARIABLE_SIZE;
    uint64_t data_at = at + (uint64_t)nex->count * each;
    nex->variables = sf_alloc(nex->count, sizeof *nex->variables);
    int status = nex->variables != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < nex->count; i++) {
        unsigned char header[VARIABLE5_SIZE];
        status = sf_nex_read(header, nex, at + (uint64_t)i * each, each, error);
        if (status == SF_OK) status = take_header(nex, i, header, data_at, error);
    }
    return status == SF_OK ? check_overlap(nex, data_at, error) : status;
}

/* ---- JSON of .nex5 ---- */

static double number_of(const json_t *of, const char *key)
{
    const json_t *value = json_object_get(of, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static int32_t whole_of(const json_t *of, const char *key)
{
    double value = number_of(of, key);
    return value >= 0 && value < INT32_MAX ? (int32_t)value : 0;
}

/* Programs write 0 if they know neither wire nor unit. */
static void take_entry(sf_nex_variable *to, const json_t *entry)
{
    const json_t *probe = json_object_get(entry, "probe"), *position = json_object_get(probe, "position");
    to->unit = whole_of(entry, "unitNumber");
    to->wire = whole_of(probe, "wireNumber");
    to->has_numbers = to->unit != 0 || to->wire != 0;
    to->x = number_of(position, "x");
    to->y = number_of(position, "y");
}

/* Finds entries by name, because their order need not be that of the headers. */
static int take_entries(sf_nex *nex, const json_t *root, sf_error *error)
{
    json_t *by_name = json_object(), *entry;
    size_t i;
    int status = by_name != NULL ? SF_OK : sf_fail_memory(error);
    json_array_foreach(json_object_get(root, "variables"), i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        if (status == SF_OK && name != NULL && json_object_set(by_name, name, entry) != 0)
            status = sf_fail_memory(error);
    }
    for (i = 0; status == SF_OK && i < nex->count; i++) {
        entry = json_object_get(by_name, nex->variables[i].name);
        if (entry != NULL) take_entry(&nex->variables[i], entry);
    }
    json_decref(by_name);
    return status;
}

/* Unreadable JSON costs the positions of units, but no spike. */
static int read_json(sf_nex *nex, uint64_t at, sf_error *error)
{
    if (at == 0) return SF_OK;
    if (at > nex->size) {
        snprintf(nex->trouble, sizeof nex->trouble,
                 "it would begin at byte %" PRIu64 " and the file ends at byte %" PRIu64
                 ", so it was cut off",
                 at, nex->size);
        return SF_OK;
    }
    if (nex->size - at > MOST_JSON) {
        snprintf(nex->trouble, sizeof nex->trouble, "it has more than 64 MiB");
        return SF_OK;
    }
    size_t length = (size_t)(nex->size - at);
    char *text = sf_alloc(length + 1, 1);
    int status = text != NULL ? sf_nex_read(text, nex, at, length, error) : sf_fail_memory(error);
    while (status == SF_OK && length > 0 && text[length - 1] == '\0')
        length--;
    json_error_t reason;
    json_t *root = status == SF_OK && length > 0 ? json_loadb(text, length, 0, &reason) : NULL;
    if (root != NULL)
        status = take_entries(nex, root, error);
    else if (status == SF_OK && length > 0)
        snprintf(nex->trouble, sizeof nex->trouble, "line %d: %.120s", reason.line, reason.text);
    json_decref(root);
    sf_free(text);
    return status;
}

/* ---- the whole ---- */

int sf_nex_open(sf_nex *nex, const char *path, sf_error *error)
{
    struct stat about;
    size_t at = 0;
    uint64_t json_at = 0;
    *nex = (sf_nex){.path = path, .file = open(path, O_RDONLY | O_CLOEXEC)};
    if (nex->file < 0 || fstat(nex->file, &about) != 0)
        return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
    nex->size = (uint64_t)about.st_size;
    int status = read_header(nex, &at, &json_at, error);
    if (status == SF_OK) status = read_variables(nex, at, error);
    return status == SF_OK ? read_json(nex, json_at, error) : status;
}

void sf_nex_close(sf_nex *nex)
{
    if (nex->file >= 0) close(nex->file);
    sf_free(nex->variables);
    *nex = (sf_nex){.file = -1};
}
