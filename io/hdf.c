/* SPDX-License-Identifier: Apache-2.0 */
#include "io/hdf.h"

#include "core/error.h"
#include "core/memory.h"
#include "io/compression.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Otherwise HDF5 retries, and prints, at exit if a file could not be closed (disk full). */
static void leave_exit_alone(void)
{
    H5dont_atexit();
}

/* Reason of the last HDF5 failure on this thread. HDF5 forgets it at the next call, so it is recorded where
 * HDF5 would print it. */
static _Thread_local char reason[256];

#define LOCKED "another program has this file open to write"

static herr_t keep_deepest(unsigned depth, const H5E_error2_t *record, void *user)
{
    (void)user;
    if (depth == 0 && record->desc != NULL) snprintf(reason, sizeof reason, "%s", record->desc);
    return 0;
}

/* The operating system's message if HDF5 quotes it, else HDF5's innermost one. */
static herr_t note_reason(hid_t stack, void *user)
{
    (void)user;
    H5Ewalk2(stack, H5E_WALK_UPWARD, keep_deepest, NULL);
    const char *message = strstr(reason, "error message = '");
    unsigned long long end, base, stored;
    if (strstr(reason, "unable to lock file") != NULL) {
        snprintf(reason, sizeof reason, LOCKED);
    } else if (message != NULL) {
        message += strlen("error message = '");
        size_t length = strcspn(message, "'");
        memmove(reason, message, length);
        reason[length] = '\0';
    } else if (sscanf(reason, "truncated file: eof = %llu, sblock->base_addr = %llu, stored_eof = %llu", &end,
                      &base, &stored) == 3) {
        snprintf(reason, sizeof reason, "it is cut off: it has %llu bytes of %llu", end, base + stored);
    }
    return 0;
}

void sf_hdf_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, leave_exit_alone);
    H5Eset_auto2(H5E_DEFAULT, note_reason, NULL);
    reason[0] = '\0';
}

int sf_hdf_fail(sf_error *error, sf_status code, const char *place, const char *format, ...)
{
    if (error == NULL) return code;
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return sf_fail(error, code, place, "%s%s%s%s", sentence, reason[0] != '\0' ? " (" : "", reason,
                   reason[0] != '\0' ? ")" : "");
}

/* ---- files ---- */

bool sf_hdf_has_signature(const char *path)
{
    static const unsigned char signature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char found[sizeof signature];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    /* A user block moves the signature to 512, 1024, ...; a partial signature is a file cut off very early.
     */
    bool begins = false;
    ssize_t length = sizeof found;
    for (off_t at = 0; !begins && length == sizeof found; at = at == 0 ? 512 : 2 * at) {
        length = pread(file, found, sizeof found, at);
        begins =
            length >= (at == 0 ? 4 : (ssize_t)sizeof found) && memcmp(found, signature, (size_t)length) == 0;
    }
    close(file);
    return begins;
}

/* A concurrent reader retries metadata with a wrong checksum, waiting longer each time. This number of
 * attempts takes 2 ms; the default of 100 takes minutes if the file is actually damaged. */
#define LIVE_READ_ATTEMPTS 20

static hid_t open_live(const char *path)
{
    hid_t file = H5I_INVALID_HID;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && H5Pset_metadata_read_attempts(access, LIVE_READ_ATTEMPTS) >= 0)
        file = H5Fopen(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access);
    sf_hdf_close(access);
    return file;
}

int sf_hdf_open_file(sf_hdf_input *input, sf_error *error)
{
    const char *path = input->path;
    sf_hdf_begin();
    input->file = H5I_INVALID_HID;
    input->live = false;
    if (access(path, R_OK) != 0) return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
    input->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    input->live = input->file < 0 && strstr(reason, "already open") != NULL;
    if (input->live) input->file = open_live(path);
    if (input->file >= 0) return SF_OK;
    if (strcmp(reason, LOCKED) == 0) return sf_fail(error, SF_NO_INPUT, path, LOCKED);
    return sf_fail(error, SF_DATA, path, "this HDF5 file is damaged: %s", reason);
}

/* ---- objects ---- */

#define LONGEST_NAME 255

static herr_t refuse_external_link(const char *parent_file, const char *parent_group, const char *child_file,
                                   const char *child_object, unsigned *flags, hid_t access, void *user)
{
    (void)parent_file, (void)parent_group, (void)child_file, (void)child_object;
    (void)flags, (void)access, (void)user;
    return -1;
}

hid_t sf_hdf_open(hid_t at, const char *path)
{
    hid_t access = H5Pcreate(H5P_LINK_ACCESS);
    hid_t object = H5I_INVALID_HID;
    if (access >= 0 && H5Pset_elink_cb(access, refuse_external_link, NULL) >= 0)
        object = H5Oopen(at, path, access);
    sf_hdf_close(access);
    reason[0] = '\0'; /* a missing object is no failure here */
    return object;
}

bool sf_hdf_external_link(hid_t at, const char *path, sf_text *file)
{
    H5L_info_t info;
    char value[4096];
    const char *name, *object;
    bool found = H5Lget_info(at, path, &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_EXTERNAL &&
                 info.u.val_size <= sizeof value &&
                 H5Lget_val(at, path, value, sizeof value, H5P_DEFAULT) >= 0 &&
                 H5Lunpack_elink_val(value, info.u.val_size, NULL, &name, &object) >= 0;
    reason[0] = '\0';
    if (found) sf_text_printf(file, "%s", name);
    return found && !file->failed;
}

void sf_hdf_close(hid_t object)
{
    if (object < 0) return;
    switch (H5Iget_type(object)) {
    case H5I_FILE:
        H5Fclose(object);
        break;
    case H5I_ATTR:
        H5Aclose(object);
        break;
    case H5I_DATASPACE:
        H5Sclose(object);
        break;
    case H5I_GENPROP_LST:
        H5Pclose(object);
        break;
    case H5I_DATATYPE:
        H5Tclose(object);
        break;
    default:
        H5Oclose(object);
    }
}

static bool has_type(hid_t at, const char *path, H5I_type_t type)
{
    hid_t object = sf_hdf_open(at, path);
    bool matches = object >= 0 && H5Iget_type(object) == type;
    sf_hdf_close(object);
    return matches;
}

bool sf_hdf_is_dataset(hid_t at, const char *path)
{
    return has_type(at, path, H5I_DATASET);
}

bool sf_hdf_is_group(hid_t at, const char *path)
{
    return has_type(at, path, H5I_GROUP);
}

typedef struct member_visit {
    int (*visit)(void *context, hid_t group, const char *name);
    void *context;
    int result;
} member_visit;

static herr_t visit_member(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    (void)info;
    member_visit *to = user;
    if (strlen(name) <= LONGEST_NAME) to->result = to->visit(to->context, group, name);
    return to->result != 0;
}

/* One pass, because looking up names by index scans all of them each time. */
int sf_hdf_each_member(hid_t group, int (*visit)(void *, hid_t, const char *), void *context)
{
    member_visit to = {.visit = visit, .context = context};
    H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_member, &to);
    return to.result;
}

/* ---- text ---- */

#define LONGEST_STRING 65536

/* Common part of reading attributes and datasets. */
typedef struct source {
    hid_t object, type, space;
    bool is_attribute;
} source;

static void source_close(source *from)
{
    sf_hdf_close(from->type);
    sf_hdf_close(from->space);
    sf_hdf_close(from->object);
}

static bool source_open(source *from, hid_t object, bool is_attribute)
{
    *from = (source){.object = object, .type = -1, .space = -1, .is_attribute = is_attribute};
    if (object >= 0) {
        from->type = is_attribute ? H5Aget_type(object) : H5Dget_type(object);
        from->space = is_attribute ? H5Aget_space(object) : H5Dget_space(object);
    }
    if (from->type >= 0 && from->space >= 0) return true;
    source_close(from);
    return false;
}

/* Refuses values out of range, which HDF5 would clip, for example a unit of -1 to unit 0. */
static H5T_conv_ret_t refuse_other_integers(H5T_conv_except_t why, hid_t from, hid_t to, void *value,
                                            void *into, void *user)
{
    (void)why, (void)from, (void)value, (void)into;
    bool *is_refused = user;
    *is_refused = H5Tget_class(to) == H5T_INTEGER;
    return *is_refused ? H5T_CONV_ABORT : H5T_CONV_UNHANDLED;
}

/* H5Dread, except that integers are either exact or the read fails. */
static herr_t read_values(hid_t dataset, hid_t type, hid_t memory_space, hid_t file_space, void *values)
{
    bool is_refused = false;
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    herr_t result = transfer >= 0 && H5Pset_type_conv_cb(transfer, refuse_other_integers, &is_refused) >= 0
                        ? H5Dread(dataset, type, memory_space, file_space, transfer, values)
                        : -1;
    sf_hdf_close(transfer);
    if (is_refused)
        snprintf(reason, sizeof reason,
                 "a value is negative, too large or no whole number, where none of these can be");
    return result;
}

static herr_t source_read(const source *from, hid_t type, hid_t memory_space, hid_t file_space, void *values)
{
    return from->is_attribute ? H5Aread(from->object, type, values)
                              : read_values(from->object, type, memory_space, file_space, values);
}

/* Trailing spaces, line ends and NULs are padding of fixed-length strings. */
static size_t text_length(const char *text, size_t size)
{
    size_t length = strnlen(text, size);
    while (length > 0 && strchr(" \r\n", text[length - 1]) != NULL)
        length--;
    return length;
}

static char *copy_text(const char *text, size_t size)
{
    size_t length = text_length(text, size);
    char *copy = sf_resize(NULL, length + 1, 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

static hsize_t times(hsize_t bytes, hsize_t factor)
{
    return bytes < SIZE_MAX / factor ? bytes * factor : SIZE_MAX;
}

/* Maximum memory in bytes for data read from a file. */
static hsize_t most_of_file(hid_t object)
{
    hsize_t file_bytes = 0;
    hid_t file = H5Iget_file_id(object);
    H5Fget_filesize(file, &file_bytes);
    sf_hdf_close(file);
    return times(file_bytes, SF_COMPRESSION_MOST_OF_FILE);
}

/* Maximum memory in bytes for the values of a dataset. */
static hsize_t most_bytes(hid_t dataset)
{
    hsize_t most = most_of_file(dataset), stored = times(H5Dget_storage_size(dataset), SF_COMPRESSION_MOST);
    most = most < stored ? most : stored;
    return most > SF_COMPRESSION_ALWAYS_TAKEN ? most : SF_COMPRESSION_ALWAYS_TAKEN;
}

bool sf_hdf_fits(hid_t object, uint64_t bytes)
{
    return bytes <= SF_COMPRESSION_ALWAYS_TAKEN || bytes <= most_of_file(object);
}

/* Size of a chunk, which must be allocated even for one of its values; 0 if not chunked. */
static hsize_t chunk_bytes(hid_t dataset, size_t size)
{
    hsize_t sizes[H5S_MAX_RANK], bytes = size;
    hid_t creation = H5Dget_create_plist(dataset);
    int rank = creation >= 0 && H5Pget_layout(creation) == H5D_CHUNKED
                   ? H5Pget_chunk(creation, H5S_MAX_RANK, sizes)
                   : 0;
    sf_hdf_close(creation);
    for (int i = 0; i < rank; i++)
        bytes = times(bytes, sizes[i] > 0 ? sizes[i] : 1);
    return rank > 0 ? bytes : 0;
}

/* True if the file can hold the number of values that the shape claims. */
static bool is_stored(hid_t dataset, hsize_t count, size_t size)
{
    hsize_t most = most_bytes(dataset);
    return size > 0 && count <= most / size;
}

/* False if values were declared but none, or not all of their chunks, were written: they would read as zeros.
 * A user-defined fill value makes that intentional; and a writer that is still at work, or was killed, had
 * not finished. */
static bool is_written(const source *from, hsize_t count)
{
    unsigned intent = 0;
    hid_t file = H5Iget_file_id(from->object);
    bool is_live = H5Fget_intent(file, &intent) >= 0 && (intent & H5F_ACC_SWMR_READ) != 0;
    sf_hdf_close(file);
    hsize_t sizes[H5S_MAX_RANK], chunk[H5S_MAX_RANK], chunks = 1, stored = 0;
    int rank = H5Sget_simple_extent_dims(from->space, sizes, NULL);
    hid_t creation = H5Dget_create_plist(from->object);
    H5D_fill_value_t fill = H5D_FILL_VALUE_ERROR;
    bool is_chosen = H5Pfill_value_defined(creation, &fill) >= 0 && fill == H5D_FILL_VALUE_USER_DEFINED;
    bool is_chunked = H5Pget_layout(creation) == H5D_CHUNKED && H5Pget_chunk(creation, rank, chunk) == rank;
    sf_hdf_close(creation);
    if (count == 0 || is_live || is_chosen) return true;
    if (!is_chunked) return H5Dget_storage_size(from->object) > 0;
    for (int i = 0; i < rank; i++)
        chunks = times(chunks, (sizes[i] + chunk[i] - 1) / (chunk[i] > 0 ? chunk[i] : 1));
    return H5Dget_num_chunks(from->object, from->space, &stored) < 0 || stored >= chunks;
}

/* True if the raw data are in this file, not in an external or virtual one. */
static bool is_inside(hid_t dataset)
{
    hid_t creation = H5Dget_create_plist(dataset);
    bool inside =
        creation >= 0 && H5Pget_layout(creation) != H5D_VIRTUAL && H5Pget_external_count(creation) <= 0;
    sf_hdf_close(creation);
    return inside;
}

/* A copy of `type`, or rows that have only this field of it; closed by sf_hdf_close. */
static hid_t memory_type(const char *field, hid_t type)
{
    if (field == NULL) return H5Tcopy(type);
    hid_t row = H5Tcreate(H5T_COMPOUND, H5Tget_size(type));
    if (row >= 0 && H5Tinsert(row, field, 0, type) >= 0) return row;
    sf_hdf_close(row);
    return H5I_INVALID_HID;
}

/* Reads `count` strings; each becomes a block of its own. SF_OK, SF_NO_MEMORY or SF_DATA. */
static int read_strings(const source *from, const char *field, hsize_t count, char **strings)
{
    hid_t type = field == NULL
                     ? H5Tcopy(from->type)
                     : H5Tget_member_type(from->type, (unsigned)H5Tget_member_index(from->type, field));
    bool variable = type >= 0 && H5Tis_variable_str(type) > 0;
    size_t size = variable ? sizeof(char *) : type >= 0 ? H5Tget_size(type) : 0;
    if (size == 0 || size > LONGEST_STRING) {
        sf_hdf_close(type);
        return SF_DATA;
    }
    char *block = sf_alloc(count, size);
    hid_t memory = memory_type(field, type);
    sf_hdf_close(type);
    int status = block == NULL ? SF_NO_MEMORY : SF_OK;
    if (status == SF_OK && (memory < 0 || source_read(from, memory, H5S_ALL, H5S_ALL, block) < 0))
        status = SF_DATA;
    bool was_read = status == SF_OK;
    for (hsize_t i = 0; status == SF_OK && i < count; i++) {
        const char *text = block + i * size;
        if (variable) memcpy(&text, block + i * size, sizeof text);
        strings[i] = text != NULL ? copy_text(text, variable ? LONGEST_STRING : size) : sf_copy_string("");
        if (strings[i] == NULL) status = SF_NO_MEMORY;
    }
    if (variable && was_read) H5Dvlen_reclaim(memory, from->space, H5P_DEFAULT, block);
    sf_hdf_close(memory);
    sf_free(block);
    return status;
}

/* The first element as text. */
static bool first_text(source *from, sf_text *text)
{
    hssize_t count = H5Sget_simple_extent_npoints(from->space);
    H5T_class_t class = H5Tget_class(from->type);
    if (count <= 0 || (class != H5T_STRING && class != H5T_INTEGER && class != H5T_FLOAT) || count > 1024 ||
        (!from->is_attribute && !is_inside(from->object)))
        return false;
    bool found = false;
    if (class == H5T_STRING) {
        char **strings = sf_alloc((size_t)count, sizeof *strings);
        int status = strings != NULL ? read_strings(from, NULL, (hsize_t)count, strings) : SF_NO_MEMORY;
        text->failed = text->failed || status == SF_NO_MEMORY;
        found = status == SF_OK;
        if (found) sf_text_append(text, strings[0], strlen(strings[0]));
        sf_hdf_free_strings(strings, strings != NULL ? (size_t)count : 0);
        return found;
    }
    double *numbers = sf_alloc((size_t)count, sizeof *numbers);
    text->failed = text->failed || numbers == NULL;
    found = numbers != NULL && source_read(from, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, numbers) >= 0;
    if (found) sf_text_printf(text, "%.15g", numbers[0]);
    sf_free(numbers);
    return found;
}

bool sf_hdf_attribute_text(hid_t object, const char *name, sf_text *text)
{
    source from;
    if (H5Aexists(object, name) <= 0 || !source_open(&from, H5Aopen(object, name, H5P_DEFAULT), true))
        return false;
    bool found = first_text(&from, text) && !text->failed;
    source_close(&from);
    return found;
}

/* Whether the source is one text with this beginning; closes it. */
static bool text_begins(source *from, const char *beginning)
{
    char fixed[256] = "", *variable = NULL;
    bool begins = false;
    if (H5Tget_class(from->type) == H5T_STRING && H5Sget_simple_extent_npoints(from->space) == 1 &&
        (from->is_attribute || is_inside(from->object))) {
        bool is_variable = H5Tis_variable_str(from->type) > 0;
        if (is_variable && source_read(from, from->type, H5S_ALL, H5S_ALL, &variable) >= 0 &&
            variable != NULL)
            begins = strncmp(variable, beginning, strlen(beginning)) == 0;
        else if (!is_variable && H5Tget_size(from->type) < sizeof fixed &&
                 source_read(from, from->type, H5S_ALL, H5S_ALL, fixed) >= 0)
            begins = strncmp(fixed, beginning, strlen(beginning)) == 0;
        if (variable != NULL) H5free_memory(variable);
    }
    source_close(from);
    return begins;
}

bool sf_hdf_attribute_begins(hid_t object, const char *name, const char *beginning)
{
    source from;
    return H5Aexists(object, name) > 0 && source_open(&from, H5Aopen(object, name, H5P_DEFAULT), true) &&
           text_begins(&from, beginning);
}

typedef struct attribute_visit {
    int (*visit)(void *context, const char *name, const char *text);
    void *context;
    int result;
} attribute_visit;

static herr_t visit_attribute(hid_t object, const char *name, const H5A_info_t *info, void *user)
{
    (void)info;
    attribute_visit *to = user;
    source from;
    if (!source_open(&from, H5Aopen(object, name, H5P_DEFAULT), true)) return 0;
    sf_text text = {0};
    sf_text_append(&text, "", 0);
    if (first_text(&from, &text) && !text.failed)
        to->result = to->visit(to->context, name, text.data);
    else if (text.failed)
        to->result = SF_NO_MEMORY;
    sf_text_free(&text);
    source_close(&from);
    return to->result != 0;
}

/* One pass, because opening attributes by index sorts all of them each time. */
int sf_hdf_each_attribute(hid_t object, int (*visit)(void *, const char *, const char *), void *context)
{
    attribute_visit to = {.visit = visit, .context = context};
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_attribute, &to);
    return to.result;
}

/* Opens a dataset; anything else at that path counts as missing. */
static hid_t open_dataset(hid_t at, const char *path)
{
    hid_t object = sf_hdf_open(at, path);
    if (object >= 0 && H5Iget_type(object) == H5I_DATASET) return object;
    sf_hdf_close(object);
    return H5I_INVALID_HID;
}

bool sf_hdf_dataset_text(hid_t at, const char *path, sf_text *text)
{
    source from;
    if (!source_open(&from, open_dataset(at, path), false)) return false;
    bool found = first_text(&from, text) && !text->failed;
    source_close(&from);
    return found;
}

bool sf_hdf_dataset_begins(hid_t at, const char *path, const char *beginning)
{
    source from;
    return source_open(&from, open_dataset(at, path), false) && text_begins(&from, beginning);
}

/* ---- datasets ---- */

/* If the library lacks the code of a filter, that is the reason why values cannot be read. */
static bool note_filter(hid_t dataset)
{
    hid_t creation = H5Dget_create_plist(dataset);
    int filters = creation >= 0 ? H5Pget_nfilters(creation) : 0;
    bool missing = false;
    for (int i = 0; i < filters && !missing; i++) {
        unsigned flags, config;
        size_t values = 0;
        H5Z_filter_t filter = H5Pget_filter2(creation, (unsigned)i, &flags, &values, NULL, 0, NULL, &config);
        missing = filter > 0 && H5Zfilter_avail(filter) <= 0;
        if (missing)
            snprintf(reason, sizeof reason,
                     "it is packed by HDF5 filter %d, which is not installed here; where it is, `h5repack -f "
                     "NONE` unpacks it",
                     (int)filter);
    }
    sf_hdf_close(creation);
    return missing;
}

static int check_length(const source *from, const char *path, const char *place, size_t *length,
                        sf_error *error)
{
    hssize_t count = H5Sget_simple_extent_npoints(from->space);
    if (!is_inside(from->object))
        return sf_fail(error, SF_DATA, place, "%s refers to another file, which is not followed", path);
    if (count < 0 || !is_stored(from->object, (hsize_t)count, H5Tget_size(from->type)))
        return sf_fail(error, SF_DATA, place,
                       "%s is damaged: its shape says %lld values and it stores %llu bytes", path,
                       (long long)count, (unsigned long long)H5Dget_storage_size(from->object));
    if (!is_written(from, (hsize_t)count))
        return sf_fail(error, SF_DATA, place, "%s is damaged: it was never written, or not all of it", path);
    hsize_t chunk = chunk_bytes(from->object, H5Tget_size(from->type));
    if (count > 0 && chunk > most_bytes(from->object))
        return sf_fail(error, SF_DATA, place,
                       "%s is damaged: it is in chunks of %llu bytes and stores %llu bytes", path,
                       (unsigned long long)chunk, (unsigned long long)H5Dget_storage_size(from->object));
    *length = (size_t)count;
    return SF_OK;
}

static int open_source(source *from, hid_t at, const char *path, const char *place, sf_error *error)
{
    if (source_open(from, open_dataset(at, path), false)) return SF_OK;
    return sf_fail(error, SF_DATA, place, "there is no dataset %s", path);
}

int sf_hdf_length(hid_t at, const char *path, const char *place, size_t *length, sf_error *error)
{
    *length = 0;
    source from;
    int status = open_source(&from, at, path, place, error);
    if (status != SF_OK) return status;
    status = check_length(&from, path, place, length, error);
    source_close(&from);
    return status;
}

int sf_hdf_shape(hid_t at, const char *path, size_t size[2])
{
    source from;
    hsize_t sizes[H5S_MAX_RANK] = {0};
    if (!source_open(&from, open_dataset(at, path), false)) return -1;
    int rank = H5Sget_simple_extent_dims(from.space, sizes, NULL);
    size[0] = rank > 0 ? sizes[0] : 1;
    size[1] = rank > 1 ? sizes[1] : 1;
    source_close(&from);
    return rank;
}

H5T_class_t sf_hdf_class(hid_t at, const char *path)
{
    source from;
    if (!source_open(&from, open_dataset(at, path), false)) return H5T_NO_CLASS;
    H5T_class_t class = H5Tget_class(from.type);
    source_close(&from);
    return class;
}

/* Type class of what is read: of a field of a table, or of all if `field` is NULL; H5T_NO_CLASS if there is
 * none. */
static H5T_class_t class_of(hid_t type, const char *field)
{
    if (field == NULL) return H5Tget_class(type);
    int member = H5Tget_class(type) == H5T_COMPOUND ? H5Tget_member_index(type, field) : -1;
    return member >= 0 ? H5Tget_member_class(type, (unsigned)member) : H5T_NO_CLASS;
}

static int check_class(const source *from, const char *path, const char *field, bool text, const char *place,
                       sf_error *error)
{
    H5T_class_t class = class_of(from->type, field);
    if (field != NULL && class == H5T_NO_CLASS)
        return sf_fail(error, SF_DATA, place, "%s has no field %s", path, field);
    if (text ? class == H5T_STRING : class == H5T_INTEGER || class == H5T_FLOAT) return SF_OK;
    return sf_fail(error, SF_DATA, place, "%s%s%s does not hold %s", path, field != NULL ? "." : "",
                   field != NULL ? field : "", text ? "text" : "numbers");
}

int sf_hdf_read_field(hid_t at, const char *path, const char *field, const char *place, hid_t type,
                      size_t size, void **values, size_t *length, sf_error *error)
{
    *values = NULL;
    *length = 0;
    source from;
    int status = open_source(&from, at, path, place, error);
    if (status != SF_OK) return status;
    size_t count = 0;
    status = check_length(&from, path, place, &count, error);
    if (status == SF_OK) status = check_class(&from, path, field, false, place, error);
    void *block = status == SF_OK ? sf_resize(NULL, count, size) : NULL;
    if (status == SF_OK && block == NULL) status = sf_fail_memory(error);
    hid_t memory = status == SF_OK ? memory_type(field, type) : H5I_INVALID_HID;
    if (status == SF_OK && count > 0 &&
        (memory < 0 || source_read(&from, memory, H5S_ALL, H5S_ALL, block) < 0))
        status = sf_hdf_fail(error, SF_DATA, place,
                             note_filter(from.object) ? "%s cannot be read" : "%s is damaged", path);
    sf_hdf_close(memory);
    source_close(&from);
    if (status != SF_OK) {
        sf_free(block);
        return status;
    }
    *values = block;
    *length = count;
    return SF_OK;
}

int sf_hdf_read(hid_t at, const char *path, const char *place, hid_t type, size_t size, void **values,
                size_t *length, sf_error *error)
{
    return sf_hdf_read_field(at, path, NULL, place, type, size, values, length, error);
}

static int read_references(hobj_ref_t **references, size_t *count, hid_t at, const char *path,
                           const char *place, sf_error *error)
{
    source from;
    *count = 0;
    int status = open_source(&from, at, path, place, error);
    if (status != SF_OK) return status;
    status = check_length(&from, path, place, count, error);
    if (status == SF_OK && H5Tequal(from.type, H5T_STD_REF_OBJ) <= 0)
        status = sf_fail(error, SF_DATA, place, "%s does not hold references", path);
    if (status == SF_OK && (*references = sf_resize(NULL, *count, sizeof **references)) == NULL)
        status = sf_fail_memory(error);
    if (status == SF_OK && *count > 0 &&
        source_read(&from, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, *references) < 0)
        status = sf_hdf_fail(error, SF_DATA, place, "%s is damaged", path);
    source_close(&from);
    return status;
}

int sf_hdf_each_reference(hid_t at, const char *path, const char *place,
                          int (*visit)(void *context, size_t i, hid_t object), void *context, sf_error *error)
{
    hobj_ref_t *references = NULL;
    size_t count;
    int status = read_references(&references, &count, at, path, place, error);
    bool goes_on = status == SF_OK;
    for (size_t i = 0; goes_on && i < count; i++) {
        hid_t object = references[i] != 0 ? H5Rdereference2(at, H5P_DEFAULT, H5R_OBJECT, &references[i])
                                          : H5I_INVALID_HID;
        goes_on = object < 0 || visit(context, i, object) == 0;
        sf_hdf_close(object);
    }
    reason[0] = '\0';
    sf_free(references);
    return status;
}

#if H5_VERSION_GE(1, 12, 0)
static bool is_one(hid_t one, hid_t other)
{
    H5O_info2_t a, b;
    int order = 1;
    return H5Oget_info3(one, &a, H5O_INFO_BASIC) >= 0 && H5Oget_info3(other, &b, H5O_INFO_BASIC) >= 0 &&
           a.fileno == b.fileno && H5Otoken_cmp(one, &a.token, &b.token, &order) >= 0 && order == 0;
}
#else
static bool is_one(hid_t one, hid_t other)
{
    H5O_info_t a, b;
    return H5Oget_info(one, &a) >= 0 && H5Oget_info(other, &b) >= 0 && a.fileno == b.fileno &&
           a.addr == b.addr;
}
#endif

bool sf_hdf_is_same(hid_t at, const char *one, const char *other)
{
    hid_t first = sf_hdf_open(at, one), second = sf_hdf_open(at, other);
    bool same = first >= 0 && second >= 0 && is_one(first, second);
    sf_hdf_close(first);
    sf_hdf_close(second);
    return same;
}

bool sf_hdf_has_field(hid_t at, const char *path, const char *field)
{
    source from;
    if (!source_open(&from, open_dataset(at, path), false)) return false;
    bool found = class_of(from.type, field) != H5T_NO_CLASS;
    source_close(&from);
    return found;
}

/* Reads one number without allocating memory, so that a failure never means out of memory. */
static bool one_number(source *from, double *number)
{
    H5T_class_t class = H5Tget_class(from->type);
    double found;
    bool good = (class == H5T_INTEGER || class == H5T_FLOAT) &&
                H5Sget_simple_extent_npoints(from->space) == 1 &&
                (from->is_attribute || is_inside(from->object)) &&
                source_read(from, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, &found) >= 0;
    if (good) *number = found;
    source_close(from);
    return good;
}

bool sf_hdf_number(hid_t at, const char *path, double *number)
{
    source from;
    size_t count;
    if (!source_open(&from, open_dataset(at, path), false)) return false;
    if (check_length(&from, path, NULL, &count, NULL) == SF_OK) return one_number(&from, number);
    source_close(&from);
    return false;
}

bool sf_hdf_attribute_number(hid_t object, const char *name, double *number)
{
    source from;
    return H5Aexists(object, name) > 0 && source_open(&from, H5Aopen(object, name, H5P_DEFAULT), true) &&
           one_number(&from, number);
}

bool sf_hdf_read_cells(hid_t at, const char *path, size_t row, size_t column, int64_t values[2])
{
    source from;
    size_t count;
    if (!source_open(&from, open_dataset(at, path), false)) return false;
    hsize_t size[H5S_MAX_RANK], start[2] = {row, column}, cells[2] = {2, 1}, two = 2;
    bool good = H5Sget_simple_extent_ndims(from.space) == 2 &&
                H5Sget_simple_extent_dims(from.space, size, NULL) == 2 && row + 2 <= size[0] &&
                column < size[1] && H5Tget_class(from.type) == H5T_INTEGER &&
                check_length(&from, path, NULL, &count, NULL) == SF_OK;
    hid_t memory = good ? H5Screate_simple(1, &two, NULL) : H5I_INVALID_HID;
    good = good && memory >= 0 &&
           H5Sselect_hyperslab(from.space, H5S_SELECT_SET, start, NULL, cells, NULL) >= 0 &&
           source_read(&from, H5T_NATIVE_INT64, memory, from.space, values) >= 0;
    sf_hdf_close(memory);
    source_close(&from);
    return good;
}

/* Maximum size of unpacked chunks kept per column, so that alternating reads of its chunks unpack each once.
 */
#define COLUMN_CACHE (16u << 20)

/* Opens a dataset with a chunk cache for all chunks, at most COLUMN_CACHE, but at least one chunk. By default
 * libhdf5 caches no chunk above 1 MiB, and unpacks it again at every read. */
static hid_t open_cached(hid_t at, const char *path, hsize_t chunk, size_t length, size_t size)
{
    hsize_t cached = times(length, size) < COLUMN_CACHE ? times(length, size) : COLUMN_CACHE;
    cached = cached > chunk ? cached : chunk;
    size_t slots = 521 + (size_t)(cached / (chunk > 4096 ? chunk : 4096)); /* 521: as by default */
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS), dataset = H5I_INVALID_HID;
    if (access >= 0 && H5Pset_elink_cb(access, refuse_external_link, NULL) >= 0 &&
        H5Pset_chunk_cache(access, slots, cached, H5D_CHUNK_CACHE_W0_DEFAULT) >= 0)
        dataset = H5Dopen2(at, path, access);
    sf_hdf_close(access);
    return dataset;
}

hid_t sf_hdf_open_column(hid_t at, const char *path, const char *place, size_t *length, sf_error *error)
{
    *length = 0;
    source from;
    if (open_source(&from, at, path, place, error) != SF_OK) return H5I_INVALID_HID;
    H5T_class_t class = H5Tget_class(from.type);
    int status = check_length(&from, path, place, length, error);
    if (status == SF_OK && H5Sget_simple_extent_ndims(from.space) != 1)
        status = sf_fail(error, SF_DATA, place, "%s is no vector", path);
    else if (status == SF_OK && class != H5T_INTEGER && class != H5T_FLOAT)
        status = sf_fail(error, SF_DATA, place, "%s does not hold numbers", path);
    size_t size = H5Tget_size(from.type);
    hsize_t chunk = chunk_bytes(from.object, size);
    source_close(&from); /* because the first handle of a dataset determines its cache */
    if (status != SF_OK) return H5I_INVALID_HID;
    hid_t column = open_cached(at, path, chunk, *length, size);
    if (column < 0) sf_hdf_fail(error, SF_DATA, place, "%s is damaged", path);
    return column;
}

bool sf_hdf_read_rows(hid_t column, hid_t type, size_t start, size_t count, void *values)
{
    hsize_t first = start, rows = count;
    hid_t space = H5Dget_space(column), memory = H5Screate_simple(1, &rows, NULL);
    bool good = space >= 0 && memory >= 0 &&
                H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &rows, NULL) >= 0 &&
                read_values(column, type, memory, space, values) >= 0;
    sf_hdf_close(memory);
    sf_hdf_close(space);
    return good || (note_filter(column), false);
}

int sf_hdf_read_field_strings(hid_t at, const char *path, const char *field, const char *place,
                              char ***strings, size_t *count, sf_error *error)
{
    *strings = NULL;
    *count = 0;
    source from;
    int status = open_source(&from, at, path, place, error);
    if (status != SF_OK) return status;
    size_t length = 0;
    char **list = NULL;
    status = check_length(&from, path, place, &length, error);
    if (status == SF_OK) status = check_class(&from, path, field, true, place, error);
    if (status == SF_OK) {
        list = sf_alloc(length, sizeof *list);
        status = list == NULL ? SF_NO_MEMORY : length > 0 ? read_strings(&from, field, length, list) : SF_OK;
        if (status == SF_NO_MEMORY)
            sf_fail_memory(error);
        else if (status != SF_OK)
            sf_hdf_fail(error, SF_DATA, place, "%s is damaged", path);
    }
    source_close(&from);
    if (status != SF_OK) {
        sf_hdf_free_strings(list, length);
        return status;
    }
    *strings = list;
    *count = length;
    return SF_OK;
}

int sf_hdf_read_strings(hid_t at, const char *path, const char *place, char ***strings, size_t *count,
                        sf_error *error)
{
    return sf_hdf_read_field_strings(at, path, NULL, place, strings, count, error);
}

void sf_hdf_free_strings(char **strings, size_t count)
{
    for (size_t i = 0; strings != NULL && i < count; i++)
        sf_free(strings[i]);
    sf_free(strings);
}

/* ---- handing over ---- */

int sf_hdf_put(sf_parcel_writer *parcel, hid_t at, const char *path, const char *place, hid_t type,
               size_t size, sf_error *error)
{
    void *values;
    size_t count;
    int status = sf_hdf_read(at, path, place, type, size, &values, &count, error);
    if (status == SF_OK) sf_parcel_put(parcel, values, count, size);
    sf_free(values);
    return status;
}

int sf_hdf_put_strings(sf_parcel_writer *parcel, hid_t at, const char *path, const char *place,
                       sf_error *error)
{
    char **strings;
    size_t count;
    int status = sf_hdf_read_strings(at, path, place, &strings, &count, error);
    if (status != SF_OK) return status;
    sf_parcel_put_number(parcel, count);
    for (size_t i = 0; i < count; i++)
        sf_parcel_put_text(parcel, strings[i]);
    sf_hdf_free_strings(strings, count);
    return SF_OK;
}

/* ---- writing ---- */

hid_t sf_hdf_string_type(size_t size)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && H5Tset_size(type, size) < 0) {
        sf_hdf_close(type);
        return H5I_INVALID_HID;
    }
    return type;
}

bool sf_hdf_write_attribute(hid_t object, const char *name, hid_t type, const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute =
        space >= 0 ? H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT) : H5I_INVALID_HID;
    bool written = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    sf_hdf_close(attribute);
    sf_hdf_close(space);
    return written;
}

bool sf_hdf_write_text(hid_t object, const char *name, const char *text)
{
    hid_t type = sf_hdf_string_type(strlen(text) + 1);
    bool written = type >= 0 && sf_hdf_write_attribute(object, name, type, text);
    sf_hdf_close(type);
    return written;
}

bool sf_hdf_write_table(hid_t parent, const char *name, hid_t type, hsize_t rows, hsize_t columns,
                        const void *values)
{
    hsize_t size[2] = {rows, columns};
    hid_t space = H5Screate_simple(columns == 1 ? 1 : 2, size, NULL);
    hid_t table = space >= 0 ? H5Dcreate2(parent, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                             : H5I_INVALID_HID;
    bool written =
        table >= 0 && (rows == 0 || H5Dwrite(table, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    sf_hdf_close(table);
    sf_hdf_close(space);
    return written;
}
