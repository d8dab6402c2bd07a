/* SPDX-License-Identifier: Apache-2.0 */
/* MATLAB files of v7.3: HDF5 in which each variable says its class in the attribute MATLAB_class; cells are
 * datasets of references to what lies in /#refs#, structs are groups, arrays of structs groups of such
 * datasets. */
#include "replay/mat.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

#define CLASS "MATLAB_class"

typedef struct walk {
    sf_mat_value *to;
    int depth;
    const char *path;
    int status;
    sf_error *error;
} walk;

static int take(sf_mat_value *to, hid_t object, int depth, const char *path, sf_error *error);

static bool is_of(hid_t object, const char *class)
{
    return sf_hdf_attribute_begins(object, CLASS, class);
}

/* ---- values ---- */

static int take_numbers(sf_mat_value *to, hid_t object, const char *path, sf_error *error)
{
    size_t size[2];
    void *values = NULL;
    double is_empty = 0;
    int rank = sf_hdf_shape(object, ".", size);
    sf_hdf_attribute_number(object, "MATLAB_empty", &is_empty);
    to->kind = SF_MAT_NUMBERS;
    if (is_empty != 0) /* holds its shape */
        return SF_OK;
    int status =
        sf_hdf_read(object, ".", path, H5T_NATIVE_DOUBLE, sizeof(double), &values, &to->count, error);
    to->numbers = values;
    to->is_matrix = rank != 2 || (size[0] > 1 && size[1] > 1);
    return status;
}

static int take_text(sf_mat_value *to, hid_t object, const char *path, sf_error *error)
{
    sf_mat_value codes = {0};
    char text[256] = "";
    int status = take_numbers(&codes, object, path, error);
    for (size_t i = 0; status == SF_OK && i < codes.count && i + 1 < sizeof text; i++)
        text[i] = codes.numbers[i] >= 1 && codes.numbers[i] < 128 ? (char)codes.numbers[i] : '?';
    sf_mat_free(&codes);
    to->kind = SF_MAT_TEXT;
    if (status == SF_OK && (to->text = sf_copy_string(text)) == NULL) status = sf_fail_memory(error);
    return status;
}

static int take_element(void *context, size_t i, hid_t object)
{
    walk *of = context;
    (void)i;
    sf_mat_value *item = sf_mat_add(of->to, NULL);
    of->status =
        item != NULL ? take(item, object, of->depth + 1, of->path, of->error) : sf_fail_memory(of->error);
    return of->status;
}

static int take_cell(sf_mat_value *to, hid_t object, int depth, const char *path, sf_error *error)
{
    walk elements = {.to = to, .depth = depth, .path = path, .error = error};
    to->kind = SF_MAT_CELL;
    int status = sf_hdf_each_reference(object, ".", path, take_element, &elements, error);
    return elements.status != SF_OK ? elements.status : status;
}

/* ---- structs ---- */

/* A field of the elements of an array of structs. */
typedef struct column {
    walk *of;
    const char *name;
} column;

static int take_field_of(void *context, size_t i, hid_t object)
{
    column *field = context;
    walk *of = field->of;
    while (of->status == SF_OK && of->to->count <= i) {
        sf_mat_value *item = sf_mat_add(of->to, NULL);
        if (item == NULL)
            of->status = sf_fail_memory(of->error);
        else
            item->kind = SF_MAT_STRUCT;
    }
    sf_mat_value *value = of->status == SF_OK ? sf_mat_add(&of->to->items[i], field->name) : NULL;
    if (value == NULL) return of->status = sf_fail_memory(of->error);
    return of->status = take(value, object, of->depth + 2, of->path, of->error);
}

/* In an array of structs, a field is a dataset of references without a class of its own. */
static int take_field(void *context, hid_t group, const char *name)
{
    walk *of = context;
    hid_t object = sf_hdf_open(group, name);
    if (object >= 0 && !is_of(object, "") && sf_hdf_class(object, ".") == H5T_REFERENCE) {
        column field = {.of = of, .name = name};
        of->to->kind = SF_MAT_CELL;
        int status = sf_hdf_each_reference(object, ".", of->path, take_field_of, &field, of->error);
        of->status = of->status != SF_OK ? of->status : status;
    } else if (object >= 0 && of->to->kind == SF_MAT_STRUCT) {
        sf_mat_value *item = sf_mat_add(of->to, name);
        of->status =
            item != NULL ? take(item, object, of->depth + 1, of->path, of->error) : sf_fail_memory(of->error);
    }
    sf_hdf_close(object);
    return of->status != SF_OK;
}

static int take_struct(sf_mat_value *to, hid_t group, int depth, const char *path, sf_error *error)
{
    walk fields = {.to = to, .depth = depth, .path = path, .error = error};
    to->kind = SF_MAT_STRUCT;
    sf_hdf_each_member(group, take_field, &fields);
    return fields.status;
}

static int take(sf_mat_value *to, hid_t object, int depth, const char *path, sf_error *error)
{
    H5T_class_t class = H5Iget_type(object) == H5I_DATASET ? sf_hdf_class(object, ".") : H5T_NO_CLASS;
    if (depth > SF_MAT_DEEPEST) return SF_OK;
    if (H5Iget_type(object) == H5I_GROUP && is_of(object, "struct"))
        return take_struct(to, object, depth, path, error);
    if (class == H5T_REFERENCE && is_of(object, "cell")) return take_cell(to, object, depth, path, error);
    if (class == H5T_INTEGER && is_of(object, "char")) return take_text(to, object, path, error);
    if (class == H5T_INTEGER || class == H5T_FLOAT) return take_numbers(to, object, path, error);
    return SF_OK;
}

/* ---- the file ---- */

static bool is_vector(hid_t object)
{
    size_t size[2];
    H5T_class_t class = H5Iget_type(object) == H5I_DATASET ? sf_hdf_class(object, ".") : H5T_NO_CLASS;
    return (class == H5T_INTEGER || class == H5T_FLOAT) && sf_hdf_shape(object, ".", size) == 2 &&
           (size[0] <= 1 || size[1] <= 1);
}

static int take_variable(void *context, hid_t root, const char *name)
{
    walk *of = context;
    if (name[0] == '#') /* what cells refer to */
        return 0;
    hid_t object = sf_hdf_open(root, name);
    sf_mat_value *item = object >= 0 ? sf_mat_add(of->to, name) : NULL;
    if (object >= 0 && item == NULL)
        of->status = sf_fail_memory(of->error);
    else if (object >= 0 && (is_vector(object) || sf_mat_is_wanted(name)))
        of->status = take(item, object, 0, of->path, of->error);
    sf_hdf_close(object);
    return of->status != SF_OK;
}

int sf_mat_load_hdf5(sf_mat_value *file, const sf_hdf_input *input, sf_error *error)
{
    *file = (sf_mat_value){.kind = SF_MAT_STRUCT};
    walk variables = {.to = file, .path = input->path, .error = error};
    sf_hdf_each_member(input->file, take_variable, &variables);
    return variables.status;
}
