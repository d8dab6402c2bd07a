/* SPDX-License-Identifier: Apache-2.0 */
#include "io/npy.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHARACTER = 4, MOST_CHARACTERS = 1024 }; /* of a text: bytes of one, and how many */

/* ---- the header ---- */

/* Text after `'key':` in the header, without blanks, or NULL. */
static const char *find_key(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    if (at == NULL) return NULL;
    at += strlen(key);
    return at + strspn(at, " ");
}

/* Parses a type such as '<f8' and returns the text after it; NULL for an unsupported type. */
static const char *read_type(sf_npy_field *field, const char *at)
{
    if (at == NULL || at[0] != '\'' || at[1] == '\0' || strchr("<>|=", at[1]) == NULL || at[2] == '\0')
        return NULL;
    char order = at[1];
    char *end = NULL;
    field->kind = at[2];
    if (strspn(at + 3, "0123456789") == 0) return NULL;
    size_t width = strtoul(at + 3, &end, 10);
    bool text = field->kind == 'U' && width <= MOST_CHARACTERS;
    width *= text ? CHARACTER : 1;
    bool integer =
        (field->kind == 'i' || field->kind == 'u') && (width == 1 || width == 2 || width == 4 || width == 8);
    bool real = field->kind == 'f' && (width == 4 || width == 8);
    if ((!integer && !real && !text) || *end != '\'') return NULL;
    field->width = width;
    field->swapped = order == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<');
    return end + 1;
}

/* [('name', '<i8'), ...] */
static bool read_record(sf_npy *npy, const char *at)
{
    at += strspn(at, "[ ");
    while (*at == '(' && npy->field_count < SF_NPY_MOST_FIELDS) {
        sf_npy_field *field = &npy->fields[npy->field_count];
        size_t length = at[1] == '\'' ? strcspn(at + 2, "'") : 0;
        if (length == 0 || length >= sizeof field->name || at[2 + length] != '\'') return false;
        memcpy(field->name, at + 2, length);
        at += 3 + length;
        if (*at != ',') return false;
        at = read_type(field, at + 1 + strspn(at + 1, " "));
        if (at == NULL || *at != ')') return false;
        field->offset = npy->item;
        npy->item += field->width;
        npy->field_count++;
        at += 1 + strspn(at + 1, ", ");
    }
    return npy->field_count > 0 && *at == ']';
}

static bool read_types(sf_npy *npy, const char *at)
{
    if (at != NULL && *at == '[') return read_record(npy, at);
    npy->field_count = 1;
    bool good = read_type(&npy->fields[0], at) != NULL;
    npy->item = npy->fields[0].width;
    return good;
}

static int refuse_type(const char *path, sf_error *error)
{
    return sf_fail(error, SF_DATA, path, "holds no plain integers or floating-point numbers");
}

/* "()", "(n,)", "(n, d)", ... */
static bool read_shape(sf_npy *npy, const char *at)
{
    if (at == NULL || at[0] != '(') return false;
    npy->count = 1;
    for (at++; strspn(at, "0123456789") > 0; at += strspn(at, ", ")) {
        char *end;
        if (npy->dimensions == SF_NPY_MOST_DIMENSIONS) return false;
        errno = 0;
        size_t size = strtoul(at, &end, 10);
        if (errno != 0) return false;
        if (__builtin_mul_overflow(npy->count, size, &npy->count))
            npy->count = SIZE_MAX; /* more than any file has */
        npy->shape[npy->dimensions++] = size;
        at = end;
    }
    return *at == ')';
}

static int parse_header(sf_npy *npy, const char *path, const char *data, size_t size, uint64_t length,
                        sf_error *error)
{
    const unsigned char *bytes = (const unsigned char *)data;
    *npy = (sf_npy){.path = path, .file = -1};
    size_t prefix = size > 6 && bytes[6] == 1 ? 10 : 12, header_length = 0;
    if (size >= prefix) {
        header_length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
        if (prefix == 12) header_length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    }
    if (size < prefix || memcmp(data, SF_NPY_MAGIC, 6) != 0 || header_length > size - prefix)
        return sf_fail(error, SF_DATA, path, "is a damaged .npy file: its header does not end within it");
    char *header = sf_resize(NULL, header_length + 1, 1);
    if (header == NULL) return sf_fail_memory(error);
    memcpy(header, data + prefix, header_length);
    header[header_length] = '\0';
    npy->start = prefix + header_length;
    const char *order = find_key(header, "'fortran_order':");
    npy->by_column = order != NULL && strncmp(order, "True", 4) == 0;
    bool typed = read_types(npy, find_key(header, "'descr':"));
    bool shaped = read_shape(npy, find_key(header, "'shape':"));
    sf_free(header);
    if (!typed) return refuse_type(path, error);
    if (!shaped)
        return sf_fail(error, SF_DATA, path, "is no array of one or two dimensions, or of a few more");
    uint64_t have = length - npy->start;
    if (npy->item > 0 ? have / npy->item != npy->count || have % npy->item != 0 : have > 0)
        return sf_fail(error, SF_DATA, path, "holds %llu bytes of data, expected %zu x %zu numbers of %zu",
                       (unsigned long long)have, npy->dimensions > 0 ? npy->shape[0] : 1,
                       npy->dimensions > 0 && npy->shape[0] > 0 ? npy->count / npy->shape[0] : npy->count,
                       npy->item);
    return SF_OK;
}

bool sf_npy_is_text(const sf_npy *npy)
{
    return npy->field_count == 1 && npy->fields[0].kind == 'U' && npy->fields[0].name[0] == '\0';
}

int sf_npy_parse_header(sf_npy *npy, const char *path, const char *data, size_t size, uint64_t length,
                        sf_error *error)
{
    int status = parse_header(npy, path, data, size, length, error);
    for (size_t i = 0; status == SF_OK && i < npy->field_count; i++)
        if (npy->fields[i].kind == 'U') status = refuse_type(path, error);
    return status;
}

/* ---- numbers ---- */

#define SF_NUMBER(type)                                                                                      \
    {                                                                                                        \
        type number;                                                                                         \
        memcpy(&number, bytes, sizeof number);                                                               \
        RETURN(number);                                                                                      \
    }
#define SF_ANY_NUMBER                                                                                        \
    unsigned char bytes[8] = {0};                                                                            \
    for (size_t b = 0; b < field->width; b++)                                                                \
        bytes[b] = from[field->swapped ? field->width - 1 - b : b];                                          \
    if (field->kind == 'f' && field->width == 8) SF_NUMBER(double)                                           \
    if (field->kind == 'f') SF_NUMBER(float)                                                                 \
    if (field->kind == 'i' && field->width == 8) SF_NUMBER(int64_t)                                          \
    if (field->kind == 'i' && field->width == 4) SF_NUMBER(int32_t)                                          \
    if (field->kind == 'i' && field->width == 2) SF_NUMBER(int16_t)                                          \
    if (field->kind == 'i') SF_NUMBER(int8_t)                                                                \
    if (field->width == 8) SF_NUMBER(uint64_t)                                                               \
    if (field->width == 4) SF_NUMBER(uint32_t)                                                               \
    if (field->width == 2) SF_NUMBER(uint16_t)                                                               \
    SF_NUMBER(uint8_t)

double sf_npy_real(const sf_npy_field *field, const unsigned char *from)
{
#define RETURN(number) return (double)(number)
    SF_ANY_NUMBER
#undef RETURN
}

static int64_t nearest(long double number)
{
    return !(number > -0x1p63L) ? INT64_MIN : number >= 0x1p63L ? INT64_MAX : (int64_t)llroundl(number);
}

int64_t sf_npy_integer(const sf_npy_field *field, const unsigned char *from)
{
#define RETURN(number) return nearest((long double)(number))
    SF_ANY_NUMBER
#undef RETURN
}

/* ---- files ---- */

#define MOST_HEADER 65536

int sf_npy_open(sf_npy *npy, const char *path, uint64_t offset, uint64_t length, sf_error *error)
{
    *npy = (sf_npy){.path = path, .file = -1};
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        close(file);
        return sf_fail(error, SF_NO_INPUT, path, "this is no file");
    }
    uint64_t have = (uint64_t)about.st_size > offset ? (uint64_t)about.st_size - offset : 0;
    if (length == 0 || length > have) length = have;
    size_t header = length < MOST_HEADER ? (size_t)length : MOST_HEADER;
    char *data = sf_resize(NULL, header, 1);
    int status = data == NULL ? sf_fail_memory(error) : SF_OK;
    if (status == SF_OK) status = sf_file_read_all_at(file, data, header, offset, path, error);
    if (status == SF_OK) status = parse_header(npy, path, data, header, length, error);
    sf_free(data);
    if (status != SF_OK) {
        close(file);
        npy->file = -1;
        return status;
    }
    npy->file = file;
    npy->start += offset;
    return SF_OK;
}

int sf_npy_open_source(sf_npy *npy, const char *path, sf_npy_source *source, uint64_t length, sf_error *error)
{
    *npy = (sf_npy){.path = path, .file = -1};
    size_t header = length < MOST_HEADER ? (size_t)length : MOST_HEADER;
    char *data = sf_resize(NULL, header, 1);
    int status = data != NULL ? source->read(source, data, header, 0, error) : sf_fail_memory(error);
    if (status == SF_OK) status = parse_header(npy, path, data, header, length, error);
    sf_free(data);
    if (status == SF_OK)
        npy->source = source;
    else
        source->close(source);
    return status;
}

void sf_npy_close(sf_npy *npy)
{
    if (npy->file >= 0) close(npy->file);
    npy->file = -1;
    if (npy->source != NULL) npy->source->close(npy->source);
    npy->source = NULL;
}

static int read_bytes(const sf_npy *npy, void *to, size_t size, uint64_t offset, sf_error *error)
{
    if (npy->source != NULL) return npy->source->read(npy->source, to, size, offset, error);
    return sf_file_read_all_at(npy->file, to, size, offset, npy->path, error);
}

static const sf_npy_field *find_number(const sf_npy *npy, const char *name)
{
    for (size_t i = 0; i < npy->field_count; i++)
        if (npy->fields[i].kind != 'U' && strcmp(npy->fields[i].name, name != NULL ? name : "") == 0)
            return &npy->fields[i];
    return NULL;
}

/* Passes each element's bytes of the field to `take`, reading the file in blocks. */
static int each_element(const sf_npy *npy, const sf_npy_field *field, size_t first, size_t count,
                        void (*take)(void *context, size_t i, const unsigned char *from), void *context,
                        sf_error *error)
{
    unsigned char block[65536];
    if (npy->item == 0 || npy->item > sizeof block || first > npy->count || count > npy->count - first)
        return sf_fail(error, SF_DATA, npy->path,
                       "holds %zu elements of %zu bytes, expected %zu that can be read", npy->count,
                       npy->item, first + count);
    size_t per_block = sizeof block / npy->item;
    for (size_t done = 0; done < count;) {
        size_t some = count - done < per_block ? count - done : per_block;
        int status = read_bytes(npy, block, some * npy->item, npy->start + (first + done) * npy->item, error);
        if (status != SF_OK) return status;
        for (size_t i = 0; i < some; i++)
            take(context, done + i, block + i * npy->item + field->offset);
        done += some;
    }
    return SF_OK;
}

typedef struct taking {
    const sf_npy_field *field;
    int64_t *integers;
    double *reals;
} taking;

static void take_integer(void *context, size_t i, const unsigned char *from)
{
    const taking *to = context;
    to->integers[i] = sf_npy_integer(to->field, from);
}

static void take_real(void *context, size_t i, const unsigned char *from)
{
    const taking *to = context;
    to->reals[i] = sf_npy_real(to->field, from);
}

static int refuse_field(const sf_npy *npy, const char *name, sf_error *error)
{
    return sf_fail(error, SF_DATA, npy->path, "holds no numbers%s%s", name != NULL ? " named " : "",
                   name != NULL ? name : "");
}

int sf_npy_read_integers(const sf_npy *npy, const char *field, size_t first, size_t count, int64_t *values,
                         sf_error *error)
{
    taking to = {.field = find_number(npy, field), .integers = values};
    return to.field != NULL ? each_element(npy, to.field, first, count, take_integer, &to, error)
                            : refuse_field(npy, field, error);
}

int sf_npy_read_reals(const sf_npy *npy, size_t first, size_t count, double *values, sf_error *error)
{
    taking to = {.field = find_number(npy, NULL), .reals = values};
    return to.field != NULL ? each_element(npy, to.field, first, count, take_real, &to, error)
                            : refuse_field(npy, NULL, error);
}

typedef struct telling {
    const sf_npy_field *field;
    int (*take)(void *context, const char *text, sf_error *error);
    void *context;
    sf_error *error;
    int status;
} telling;

static void take_text(void *context, size_t i, const unsigned char *from)
{
    (void)i;
    telling *to = context;
    const sf_npy_field character = {.kind = 'u', .width = CHARACTER, .swapped = to->field->swapped};
    char text[4 * MOST_CHARACTERS + 1];
    size_t length = 0;
    for (size_t at = 0; at < to->field->width; at += CHARACTER) {
        uint32_t code = (uint32_t)sf_npy_integer(&character, from + at);
        if (code == 0) break;
        length += sf_utf8_encode(text + length, code);
    }
    text[length] = '\0';
    if (to->status == SF_OK) to->status = to->take(to->context, text, to->error);
}

int sf_npy_read_texts(const sf_npy *npy, int (*take)(void *context, const char *text, sf_error *error),
                      void *context, sf_error *error)
{
    telling to = {.field = npy->fields, .take = take, .context = context, .error = error};
    if (!sf_npy_is_text(npy)) return sf_fail(error, SF_DATA, npy->path, "holds no texts");
    int status = each_element(npy, npy->fields, 0, npy->count, take_text, &to, error);
    return status == SF_OK ? to.status : status;
}

int sf_npy_load_integers(const char *path, int64_t **values, size_t *count, sf_error *error)
{
    sf_npy npy;
    *values = NULL;
    *count = 0;
    int status = sf_npy_open(&npy, path, 0, 0, error);
    if (status == SF_OK && (*values = sf_resize(NULL, npy.count, sizeof **values)) == NULL)
        status = sf_fail_memory(error);
    if (status == SF_OK) status = sf_npy_read_integers(&npy, NULL, 0, npy.count, *values, error);
    if (status == SF_OK) {
        *count = npy.count;
    } else {
        sf_free(*values);
        *values = NULL;
    }
    sf_npy_close(&npy);
    return status;
}
