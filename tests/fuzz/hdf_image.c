/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/hdf_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* HDF5 loses memory of its own when it refuses what it is asked; LeakSanitizer looks for this function. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

hid_t fuzz_open_image(const uint8_t *data, size_t size)
{
    hid_t file = H5I_INVALID_HID, access = H5Pcreate(H5P_FILE_ACCESS);
    if (H5Pset_fapl_core(access, 1 << 16, 0) >= 0 &&
        (size == 0 || H5Pset_file_image(access, (void *)(uintptr_t)data, size) >= 0))
        file = size == 0 ? H5Fcreate("fuzz", H5F_ACC_TRUNC, H5P_DEFAULT, access)
                         : H5Fopen("fuzz", H5F_ACC_RDWR, access);
    sf_hdf_close(access);
    return file;
}

/* ---- the input as a row of choices ---- */

typedef struct choices {
    const uint8_t *at, *end;
} choices;

static unsigned take(choices *from)
{
    return from->at < from->end ? *from->at++ : 0;
}

static const char *take_name(choices *from, const char *const *names)
{
    size_t count = 0;
    while (names[count] != NULL)
        count++;
    return names[take(from) % count];
}

/* ---- values ---- */

enum { MOST_ROWS = 64, STRING_SIZE = 24 };

/* Numbers of the kinds that tell readers apart: small ones, ends that ascend, seconds, anything. */
static void take_numbers(choices *from, double values[MOST_ROWS], size_t count)
{
    static const double odd[] = {-1,     0.5,  1e300,      -1e300, 4294967295.0, 4294967296.0,
                                 9.2e18, 1e-9, 2147483648, 4.6e9,  65536,        256};
    unsigned kind = take(from) % 4;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned byte = take(from);
        sum += byte % 8;
        values[i] = kind == 0   ? byte
                    : kind == 1 ? sum
                    : kind == 2 ? (double)byte / 16
                                : odd[byte % (sizeof odd / sizeof odd[0])];
        if (kind == 3 && byte >= 250) values[i] = 0.0 / 0.0;
    }
}

static hid_t take_space(choices *from, size_t *count)
{
    unsigned rank = take(from) % 5;
    hsize_t size[3] = {take(from) % 16, take(from) % 4, 2};
    *count = rank == 4 ? 1 : 0;
    if (rank == 4) return H5Screate(H5S_SCALAR);
    if (rank == 3) return H5Screate(H5S_NULL);
    *count = (size_t)(size[0] * (rank > 0 ? size[1] : 1) * (rank > 1 ? size[2] : 1));
    if (*count > MOST_ROWS) {
        size[0] = 2;
        *count = (size_t)(size[0] * (rank > 0 ? size[1] : 1) * (rank > 1 ? size[2] : 1));
    }
    return H5Screate_simple((int)rank + 1, size, NULL);
}

static hid_t take_type(choices *from)
{
    const hid_t types[] = {H5T_IEEE_F64LE, H5T_IEEE_F32LE, H5T_STD_I64LE, H5T_STD_I32BE,   H5T_STD_U32LE,
                           H5T_STD_U16LE,  H5T_STD_U8LE,   H5T_STD_U64LE, H5T_STD_REF_OBJ, H5T_C_S1};
    unsigned kind = take(from) % 12;
    hid_t type = H5Tcopy(types[kind < 10 ? kind : 9]);
    if (kind == 9)
        H5Tset_size(type, 1 + take(from) % STRING_SIZE);
    else if (kind >= 10)
        H5Tset_size(type, H5T_VARIABLE);
    return type;
}

/* Writes values of the type to a dataset or an attribute. */
static void write_values(choices *from, hid_t object, bool is_attribute, hid_t type, size_t count)
{
    char text[MOST_ROWS][STRING_SIZE + 1] = {{0}}, flat[MOST_ROWS * STRING_SIZE];
    const char *pointers[MOST_ROWS];
    double numbers[MOST_ROWS] = {0};
    const void *values = numbers;
    hid_t memory = H5T_NATIVE_DOUBLE;
    H5T_class_t class = H5Tget_class(type);
    if (class == H5T_STRING) {
        bool variable = H5Tis_variable_str(type) > 0;
        size_t size = variable ? STRING_SIZE : H5Tget_size(type);
        for (size_t i = 0; i < count; i++) {
            size_t length = take(from) % (size + 1);
            for (size_t k = 0; k < length; k++)
                text[i][k] = (char)take(from);
            pointers[i] = length > 0 ? text[i] : NULL;
            memcpy(flat + i * size, text[i], size);
        }
        values = variable ? (const void *)pointers : flat;
        memory = type;
    } else if (class == H5T_REFERENCE) {
        return; /* references to nothing */
    } else {
        take_numbers(from, numbers, count);
    }
    if (is_attribute)
        H5Awrite(object, memory, values);
    else
        H5Dwrite(object, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
}

/* ---- steps ---- */

static void put_dataset(choices *from, hid_t file, const char *path)
{
    size_t count;
    hid_t type = take_type(from), space = take_space(from, &count), links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    H5Ldelete(file, path, H5P_DEFAULT);
    hid_t dataset = H5Dcreate2(file, path, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    if (dataset >= 0) write_values(from, dataset, false, type, count);
    sf_hdf_close(dataset);
    sf_hdf_close(links);
    sf_hdf_close(space);
    sf_hdf_close(type);
}

/* A dataset whose shape says a lot, of which nothing is stored. */
static void put_hollow(choices *from, hid_t file, const char *path)
{
    hid_t type = take_type(from), links = H5Pcreate(H5P_LINK_CREATE),
          creation = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t rows = (hsize_t)1 << take(from) % 62, chunk = (hsize_t)1 << take(from) % 32, most = H5S_UNLIMITED;
    hid_t space = H5Screate_simple(1, &rows, &most);
    H5Pset_create_intermediate_group(links, 1);
    H5Pset_chunk(creation, 1, &chunk);
    H5Ldelete(file, path, H5P_DEFAULT);
    sf_hdf_close(H5Dcreate2(file, path, type, space, links, creation, H5P_DEFAULT));
    sf_hdf_close(creation);
    sf_hdf_close(links);
    sf_hdf_close(space);
    sf_hdf_close(type);
}

static void put_attribute(choices *from, hid_t file, const char *path, const char *name)
{
    hid_t object = H5Oopen(file, path, H5P_DEFAULT);
    if (object < 0) return;
    size_t count;
    hid_t type = take_type(from), space = take_space(from, &count);
    H5Adelete(object, name);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) write_values(from, attribute, true, type, count);
    sf_hdf_close(attribute);
    sf_hdf_close(space);
    sf_hdf_close(type);
    sf_hdf_close(object);
}

static void make_group(hid_t file, const char *path)
{
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    H5Ldelete(file, path, H5P_DEFAULT);
    sf_hdf_close(H5Gcreate2(file, path, links, H5P_DEFAULT, H5P_DEFAULT));
    sf_hdf_close(links);
}

static void take_step(choices *from, const fuzz_layout *layout, hid_t file)
{
    unsigned kind = take(from) % 12;
    const char *path = take_name(from, layout->objects);
    if (kind < 5) {
        put_dataset(from, file, path);
    } else if (kind < 8) {
        const char *name = take_name(from, layout->attributes);
        put_attribute(from, file, take(from) % 2 == 0 ? "/" : path, name);
    } else if (kind == 8) {
        H5Ldelete(file, path, H5P_DEFAULT);
    } else if (kind == 9) {
        make_group(file, path);
    } else if (kind == 10) {
        const char *other = take_name(from, layout->objects);
        H5Ldelete(file, path, H5P_DEFAULT);
        if (take(from) % 2 == 0)
            H5Lcreate_soft(other, file, path, H5P_DEFAULT, H5P_DEFAULT);
        else
            H5Lcreate_hard(file, other, file, path, H5P_DEFAULT, H5P_DEFAULT);
    } else {
        put_hollow(from, file, path);
    }
}

/* Images are read once. */
static hid_t open_known(const char *name)
{
    enum { IMAGES = 32 };
    static struct known {
        const char *name;
        uint8_t *bytes;
        size_t size;
    } all[IMAGES];
    size_t i = 0;
    while (i < IMAGES && all[i].name != NULL && all[i].name != name)
        i++;
    if (i == IMAGES) abort();
    if (all[i].name == NULL) {
        char path[4096];
        snprintf(path, sizeof path, "%s/tests/fuzz/images/%s", SYNFIRE_SOURCE, name);
        FILE *file = fopen(path, "rb");
        enum { MOST = 1 << 20 };
        all[i] = (struct known){.name = name, .bytes = malloc(MOST)};
        if (file == NULL || all[i].bytes == NULL || (all[i].size = fread(all[i].bytes, 1, MOST, file)) == 0)
            abort();
        fclose(file);
    }
    return fuzz_open_image(all[i].bytes, all[i].size);
}

hid_t fuzz_make_file(const fuzz_layout *layout, const uint8_t *data, size_t size)
{
    enum { MOST_STEPS = 32 };
    choices from = {data, data + size};
    size_t images = 0;
    while (layout->images[images] != NULL)
        images++;
    unsigned start = take(&from) % (unsigned)(images + 1);
    sf_hdf_begin();
    hid_t file = start < images ? open_known(layout->images[start]) : fuzz_open_image(NULL, 0);
    if (file < 0) abort(); /* an image is damaged */
    for (int step = 0; step < MOST_STEPS && from.at < from.end; step++)
        take_step(&from, layout, file);
    return file;
}
