/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A table (core/describe/table.h) in an HDF5 file. Its rows are those of one dataset, packed, as the recorder
 * appends them; or each column is a dataset, as packed (occurrences, what was planted) or as NWB has it.
 *
 * Threads: as of io/hdf.h.
 */
#ifndef SF_IO_HDF_TABLE_H
#define SF_IO_HDF_TABLE_H

#include "core/describe/pack.h"

#include <hdf5.h>

/** The type of packed rows of `size` bytes, or of their one field where that has no name: sf_hdf_close takes
 * it, or it is negative. */
hid_t sf_hdf_row_type(const sf_packed_field *fields, size_t count, size_t size);

/**
 * Writes each column as a dataset of the group that grows (io/layout.h), of the type that it is packed as: of
 * pairs and of lists that say how many items they have at most a matrix. Texts end with NUL, and have the
 * bytes that they may have or that the longest has. For columns of single values and such lists alone.
 * SF_CANNOT_CREATE, SF_IO, SF_NO_MEMORY.
 */
int sf_hdf_table_write(hid_t group, const sf_table *table, sf_error *error);

/**
 * Writes the values of all rows of a column as one dataset, as NWB has it: integers where none is null, else
 * reals with NaN; texts of the type `text`, empty where null; of pairs a matrix. *ends is NULL but of a list,
 * which may be of any length and has no items where it is null: the ends of the rows, for sf_free. False: it
 * failed.
 */
bool sf_hdf_table_write_column(hid_t group, const char *name, const sf_table *table, size_t column,
                               hid_t text, size_t **ends);

#endif
