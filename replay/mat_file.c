/* SPDX-License-Identifier: Apache-2.0 */
/* MATLAB files of v5 to v7, by libmatio; only in the reading program, because damaged files may break
 * libmatio. */
#include "replay/mat.h"

#include "core/error.h"
#include "core/memory.h"
#include "io/file.h"
#include "replay/binary.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 116 bytes of text, then at 124 the version and byte order. */
bool sf_mat_has_signature(const char *path)
{
    char found[128];
    return sf_binary_begin(path, found, sizeof found) && strncmp(found, "MATLAB 5", 8) == 0 &&
           (memcmp(found + 126, "IM", 2) == 0 || memcmp(found + 126, "MI", 2) == 0);
}

#ifdef SYNFIRE_HAVE_MATIO

#include <matio.h>

static int take(sf_mat_value *to, matvar_t *from, int depth, sf_error *error);

static double number_at(const matvar_t *from, size_t i)
{
    switch (from->data_type) {
    case MAT_T_DOUBLE:
        return ((const double *)from->data)[i];
    case MAT_T_SINGLE:
        return (double)((const float *)from->data)[i];
    case MAT_T_INT64:
        return (double)((const int64_t *)from->data)[i];
    case MAT_T_UINT64:
        return (double)((const uint64_t *)from->data)[i];
    case MAT_T_INT32:
        return (double)((const int32_t *)from->data)[i];
    case MAT_T_UINT32:
        return (double)((const uint32_t *)from->data)[i];
    case MAT_T_INT16:
        return (double)((const int16_t *)from->data)[i];
    case MAT_T_UINT16:
        return (double)((const uint16_t *)from->data)[i];
    case MAT_T_INT8:
        return (double)((const int8_t *)from->data)[i];
    default:
        return (double)((const uint8_t *)from->data)[i];
    }
}

/* Number of elements; SIZE_MAX if it overflows. */
static size_t count_of(const matvar_t *from)
{
    size_t count = 1;
    for (int i = 0; i < from->rank; i++)
        if (__builtin_mul_overflow(count, from->dims[i], &count)) return SIZE_MAX;
    return from->rank > 0 ? count : 0;
}

static int take_numbers(sf_mat_value *to, const matvar_t *from, sf_error *error)
{
    size_t count = count_of(from), width = Mat_SizeOf(from->data_type);
    if (from->isComplex || width == 0 || (count > 0 && from->data == NULL) || count > from->nbytes / width)
        return SF_OK;
    to->numbers = sf_resize(NULL, count, sizeof *to->numbers);
    if (to->numbers == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        to->numbers[i] = number_at(from, i);
    to->kind = SF_MAT_NUMBERS;
    to->count = count;
    to->is_matrix = from->rank != 2 || (from->dims[0] > 1 && from->dims[1] > 1);
    return SF_OK;
}

static int take_text(sf_mat_value *to, const matvar_t *from, sf_error *error)
{
    char text[256] = "";
    size_t count = count_of(from), width = Mat_SizeOf(from->data_type);
    if (width == 0 || from->data == NULL || count > from->nbytes / width || count >= sizeof text)
        return SF_OK;
    for (size_t i = 0; i < count; i++)
        text[i] = (char)number_at(from, i);
    to->kind = SF_MAT_TEXT;
    to->text = sf_copy_string(text);
    return to->text != NULL ? SF_OK : sf_fail_memory(error);
}

static int take_fields(sf_mat_value *to, matvar_t *from, size_t element, int depth, sf_error *error)
{
    size_t fields = Mat_VarGetNumberOfFields(from);
    char *const *names = Mat_VarGetStructFieldnames(from);
    int status = SF_OK;
    to->kind = SF_MAT_STRUCT;
    for (size_t i = 0; status == SF_OK && names != NULL && i < fields; i++) {
        sf_mat_value *item = sf_mat_add(to, names[i]);
        status = item != NULL ? take(item, Mat_VarGetStructFieldByIndex(from, i, element), depth + 1, error)
                              : sf_fail_memory(error);
    }
    return status;
}

static int take_elements(sf_mat_value *to, matvar_t *from, int depth, sf_error *error)
{
    size_t count = count_of(from), fields = Mat_VarGetNumberOfFields(from);
    bool is_cell = from->class_type == MAT_C_CELL;
    int status = SF_OK;
    if (from->data == NULL ||
        count > from->nbytes / sizeof(matvar_t *) / (is_cell || fields == 0 ? 1 : fields))
        return SF_OK;
    if (!is_cell && count == 1) return take_fields(to, from, 0, depth, error);
    to->kind = SF_MAT_CELL;
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        sf_mat_value *item = sf_mat_add(to, NULL);
        if (item == NULL)
            status = sf_fail_memory(error);
        else
            status = is_cell ? take(item, ((matvar_t **)from->data)[i], depth + 1, error)
                             : take_fields(item, from, i, depth + 1, error);
    }
    return status;
}

static int take(sf_mat_value *to, matvar_t *from, int depth, sf_error *error)
{
    if (from == NULL || depth > SF_MAT_DEEPEST) return SF_OK;
    switch (from->class_type) {
    case MAT_C_CELL:
    case MAT_C_STRUCT:
        return take_elements(to, from, depth, error);
    case MAT_C_CHAR:
        return take_text(to, from, error);
    case MAT_C_DOUBLE:
    case MAT_C_SINGLE:
    case MAT_C_INT8:
    case MAT_C_UINT8:
    case MAT_C_INT16:
    case MAT_C_UINT16:
    case MAT_C_INT32:
    case MAT_C_UINT32:
    case MAT_C_INT64:
    case MAT_C_UINT64:
        return take_numbers(to, from, error);
    default:
        return SF_OK;
    }
}

static bool is_vector(const matvar_t *from)
{
    return from->class_type != MAT_C_CELL && from->class_type != MAT_C_STRUCT && from->rank == 2 &&
           (from->dims[0] <= 1 || from->dims[1] <= 1);
}

/* False if a variable has more bytes than the file: libmatio reads missing bytes as zeros. */
static bool is_whole(const char *path)
{
    enum { MATRIX = 14, COMPRESSED = 15 };
    unsigned char head[128], tag[8];
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool good =
        file >= 0 && fstat(file, &about) == 0 && sf_file_read_at(file, head, sizeof head, 0) == sizeof head;
    uint64_t at = sizeof head, size = good ? (uint64_t)about.st_size : 0;
    while (good && sf_file_read_at(file, tag, sizeof tag, at) == sizeof tag) {
        uint32_t kind = sf_little_32(tag), bytes = sf_little_32(tag + 4);
        if (head[126] == 'M') /* "MI": the other end comes first */
            kind = __builtin_bswap32(kind), bytes = __builtin_bswap32(bytes);
        if (kind != MATRIX && kind != COMPRESSED) break;
        at += sizeof tag + bytes;
        good = at <= size;
    }
    if (file >= 0) close(file);
    return good;
}

int sf_mat_load_file(sf_mat_value *file, const sf_hdf_input *input, sf_error *error)
{
    int status = SF_OK;
    *file = (sf_mat_value){.kind = SF_MAT_STRUCT};
    if (!is_whole(input->path))
        return sf_fail(error, SF_DATA, input->path, "damaged: it ends within a variable");
    mat_t *mat = Mat_Open(input->path, MAT_ACC_RDONLY);
    if (mat == NULL) return sf_fail(error, SF_DATA, input->path, "damaged: libmatio does not open it");
    for (matvar_t *next; status == SF_OK && (next = Mat_VarReadNextInfo(mat)) != NULL; Mat_VarFree(next)) {
        sf_mat_value *item = next->name != NULL ? sf_mat_add(file, next->name) : NULL;
        bool wanted = next->name != NULL && (is_vector(next) || sf_mat_is_wanted(next->name));
        if (next->name != NULL && item == NULL)
            status = sf_fail_memory(error);
        else if (wanted && Mat_VarReadDataAll(mat, next) != 0)
            status = sf_fail(error, SF_DATA, input->path, "damaged: %s cannot be read", next->name);
        else if (wanted)
            status = take(item, next, 0, error);
    }
    Mat_Close(mat);
    return status;
}

const char *sf_mat_library(void)
{
    static char version[32];
    int major, minor, release;
    Mat_GetLibraryVersion(&major, &minor, &release);
    snprintf(version, sizeof version, "%d.%d.%d", major, minor, release);
    return version;
}

#else

int sf_mat_load_file(sf_mat_value *file, const sf_hdf_input *input, sf_error *error)
{
    *file = (sf_mat_value){0};
    return sf_fail(
        error, SF_UNAVAILABLE, input->path,
        "this is a MATLAB file of v5 to v7, and this synfire was built without libmatio: in MATLAB, "
        "save(..., '-v7.3') writes one that is read");
}

const char *sf_mat_library(void)
{
    return NULL;
}

#endif
