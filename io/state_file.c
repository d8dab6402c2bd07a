/* SPDX-License-Identifier: Apache-2.0 */
#include "io/state_file.h"

#include "core/error.h"
#include "core/memory.h"
#include "density/rows.h"
#include "io/apart.h"
#include "io/output_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LAYOUT = 1, AXIS_NUMBERS = 6 };

/* ---- writing ---- */

static bool write_words(hid_t file, const sf_state *state, const char *provenance)
{
    return sf_hdf_write_text(file, "synfire", SF_STATE_KIND) &&
           sf_hdf_write_text(file, "program", "synfire " SYNFIRE_VERSION) &&
           sf_hdf_write_text(file, "provenance", provenance) &&
           sf_hdf_write_text(file, "quantity", state->quantity) &&
           sf_hdf_write_text(file, "name", state->name) &&
           sf_hdf_write_text(file, "domain", sf_domain_words[state->synopsis.domain]) &&
           sf_hdf_write_text(file, "method", state->synopsis.method);
}

static bool write_numbers(hid_t file, const sf_state *state)
{
    const sf_synopsis *s = &state->synopsis;
    uint32_t layout = LAYOUT;
    return sf_hdf_write_attribute(file, "layout", H5T_NATIVE_UINT32, &layout) &&
           sf_hdf_write_attribute(file, "unit", H5T_NATIVE_INT64, &state->unit) &&
           sf_hdf_write_attribute(file, "n", H5T_NATIVE_UINT64, &s->n) &&
           sf_hdf_write_attribute(file, "h", H5T_NATIVE_DOUBLE, &s->h) &&
           sf_hdf_write_attribute(file, "h_least", H5T_NATIVE_DOUBLE, &s->h_least) &&
           sf_hdf_write_attribute(file, "covariance", H5T_NATIVE_DOUBLE, &s->covariance);
}

static bool write_tables(hid_t file, const sf_synopsis *s)
{
    double axes[2][AXIS_NUMBERS];
    for (size_t c = 0; c < s->d; c++) {
        const sf_synopsis_axis *axis = &s->axes[c];
        const double numbers[AXIS_NUMBERS] = {axis->least,    axis->most,   axis->mean,
                                              axis->variance, axis->period, (double)axis->modes};
        memcpy(axes[c], numbers, sizeof numbers);
    }
    return sf_hdf_write_table(file, "axes", H5T_NATIVE_DOUBLE, s->d, AXIS_NUMBERS, axes) &&
           sf_hdf_write_table(file, "phi", H5T_NATIVE_FLOAT, sf_synopsis_size(s), 2, s->phi);
}

int sf_state_write(const sf_state *state, const char *path, const char *provenance, sf_error *error)
{
    sf_hdf_begin();
    sf_output_file output;
    int status = sf_output_file_open(&output, path, SF_EXISTING_REPLACE, error);
    if (status != SF_OK) return status;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS); /* the smallest heads that readers of HDF5 1.8 take */
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
    hid_t file = H5Fcreate(sf_output_file_name(&output), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    sf_hdf_close(access);
    if (file < 0)
        status = sf_hdf_fail(error, SF_CANNOT_CREATE, path, "cannot create the file");
    else if (!write_words(file, state, provenance) || !write_numbers(file, state) ||
             !write_tables(file, &state->synopsis))
        status = sf_hdf_fail(error, SF_IO, path, "cannot write the state");
    if (file >= 0 && H5Fclose(file) < 0 && status == SF_OK)
        status = sf_hdf_fail(error, SF_IO, path, "cannot close the file");
    if (status == SF_OK) status = sf_output_file_commit(&output, error);
    sf_output_file_close(&output, status == SF_OK);
    return status;
}

/* ---- reading ---- */

void sf_state_free(sf_state *state)
{
    sf_synopsis_close(&state->synopsis);
    *state = (sf_state){0};
}

static int put_words(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error)
{
    static const char *const names[] = {"quantity", "name", "domain", "method"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        sf_text text = {0};
        bool found = sf_hdf_attribute_text(input->file, names[i], &text), failed = text.failed;
        sf_parcel_put_text(parcel, found && !failed && text.data != NULL ? text.data : "");
        sf_text_free(&text);
        if (failed) return sf_fail_memory(error);
    }
    return SF_OK;
}

int sf_state_put(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error)
{
    static const char *const numbers[] = {"layout", "unit", "n", "h", "h_least", "covariance"};
    if (!sf_hdf_attribute_begins(input->file, "synfire", SF_STATE_KIND))
        return sf_fail(error, SF_DATA, input->path,
                       "holds no state of a density: expected a file of aggregate --save");
    int status = put_words(parcel, input, error);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        double number = NAN;
        sf_hdf_attribute_number(input->file, numbers[i], &number);
        sf_parcel_put(parcel, &number, 1, sizeof number);
    }
    if (status == SF_OK)
        status =
            sf_hdf_put(parcel, input->file, "axes", input->path, H5T_NATIVE_DOUBLE, sizeof(double), error);
    if (status == SF_OK)
        status = sf_hdf_put(parcel, input->file, "phi", input->path, H5T_NATIVE_FLOAT, sizeof(float), error);
    return status;
}

static double take_real(sf_parcel *parcel)
{
    const double *number = sf_parcel_take_exactly(parcel, sizeof *number, 1);
    return number != NULL ? *number : NAN;
}

/* `otherwise` where it is no whole number from 0 to most. */
static uint64_t whole(double number, double most, uint64_t otherwise)
{
    return number >= 0 && number <= most && number == floor(number) ? (uint64_t)number : otherwise;
}

static void take_text(char *to, size_t size, sf_parcel *parcel)
{
    const char *text = sf_parcel_take_text(parcel);
    snprintf(to, size, "%s", text != NULL ? text : "");
}

static int take_head(sf_state *state, sf_parcel *parcel, const char *path, sf_error *error)
{
    sf_synopsis *s = &state->synopsis;
    char domain[16];
    take_text(state->quantity, sizeof state->quantity, parcel);
    take_text(state->name, sizeof state->name, parcel);
    take_text(domain, sizeof domain, parcel);
    take_text(s->method, sizeof s->method, parcel);
    double layout = take_real(parcel), unit = take_real(parcel);
    if (parcel->damaged) return sf_parcel_refuse(path, error);
    if (layout != LAYOUT)
        return sf_fail(error, SF_DATA, path, "has layout %g of a state, expected %d", layout, LAYOUT);
    state->unit = unit >= 0 && unit < UINT32_MAX ? (int64_t)unit : -1;
    s->domain = sf_domain_of_word(domain);
    s->n = whole(take_real(parcel), 0x1p53, 0);
    s->h = take_real(parcel);
    s->h_least = take_real(parcel);
    s->covariance = take_real(parcel);
    return SF_OK;
}

static int take_tables(sf_synopsis *s, sf_parcel *parcel, const char *path, sf_error *error)
{
    size_t count, length;
    const double *axes = sf_parcel_take(parcel, sizeof *axes, &count);
    const float *phi = sf_parcel_take(parcel, sizeof *phi, &length);
    if (parcel->damaged) return sf_parcel_refuse(path, error);
    s->d = count % AXIS_NUMBERS == 0 && count / AXIS_NUMBERS <= 2 ? count / AXIS_NUMBERS : 0;
    for (size_t c = 0; c < s->d; c++) {
        const double *of = axes + c * AXIS_NUMBERS;
        s->axes[c] = (sf_synopsis_axis){of[0], of[1], of[2], of[3], of[4], 0};
        s->axes[c].modes = whole(of[5], (double)SF_SYNOPSIS_MOST_MODES, 0);
    }
    size_t size = sf_synopsis_size(s);
    if (size == 0 || size != length / 2 || length % 2 != 0)
        return sf_fail(error, SF_DATA, path,
                       "damaged: /phi has %zu numbers, expected two for each of %zu values", length, size);
    s->phi = sf_resize(NULL, length, sizeof *s->phi);
    if (s->phi == NULL) return sf_fail_memory(error);
    memcpy(s->phi, phi, length * sizeof *s->phi);
    return SF_OK;
}

int sf_state_take(sf_state *state, sf_parcel *parcel, const char *path, sf_error *error)
{
    *state = (sf_state){0};
    sf_error reason = {0};
    int status = take_head(state, parcel, path, error);
    if (status == SF_OK) status = take_tables(&state->synopsis, parcel, path, error);
    if (status == SF_OK && sf_synopsis_check(&state->synopsis, &reason) != SF_OK)
        status = sf_fail(error, SF_DATA, path, "damaged: %s", reason.text);
    if (status != SF_OK) sf_state_free(state);
    return status;
}

int sf_state_read(sf_state *state, const char *path, sf_error *error)
{
    *state = (sf_state){0};
    sf_parcel parcel;
    int status = sf_apart_read(&parcel, SF_STATE_KIND, path, NULL, NULL, error);
    if (status != SF_OK) return status;
    status = sf_state_take(state, &parcel, path, error);
    sf_parcel_close(&parcel);
    return status;
}
