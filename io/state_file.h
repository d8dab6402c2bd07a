/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What is left of a density without its samples (density/synopsis.h) as a small HDF5 file (docs/formats.md),
 * which says by itself of what it is. HDF5 is called from one thread only, as in io/layout.h.
 *
 *   /      attributes: synfire = "state", layout = 1, program, provenance (JSON), quantity, name and unit (of
 *          the series; "" and -1 where there is none), domain ("line", "log", "reflect"), n (u64), h,
 * h_least, method, covariance (of two columns) /axes  a row a column, f64: least, most, mean, variance,
 * period, modes /phi   a row a value, f32: real and imaginary part
 */
#ifndef SF_IO_STATE_FILE_H
#define SF_IO_STATE_FILE_H

#include "density/synopsis.h"
#include "io/hdf.h"

#define SF_STATE_KIND "state"

typedef struct sf_state {
    sf_synopsis synopsis;
    char quantity[16]; /**< "isi", ...; "" of numbers */
    char name[64];     /**< of the unit or link; "" where there is none */
    int64_t unit;      /**< its index, or -1 */
} sf_state;

/** Writes it, replacing a file that is there; `provenance` is JSON. On failure no file is left.
 * SF_CANNOT_CREATE, SF_IO. */
int sf_state_write(const sf_state *state, const char *path, const char *provenance, sf_error *error);

/** Asks the reading program (io/apart.h). SF_NO_INPUT; SF_DATA where it is another kind of file, or damaged.
 */
int sf_state_read(sf_state *state, const char *path, sf_error *error);
void sf_state_free(sf_state *state);

/** What the reading program does: hands over what the file holds. */
int sf_state_put(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error);

/** And what its answer holds, which is not believed: SF_DATA. */
int sf_state_take(sf_state *state, sf_parcel *parcel, const char *path, sf_error *error);

#endif
