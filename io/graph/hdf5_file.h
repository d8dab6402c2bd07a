/* SPDX-License-Identifier: Apache-2.0 */
/** Reading synfire's HDF5 graph from a file that is open; the format is declared in io/graph/file.h. */
#ifndef SF_IO_GRAPH_HDF5_FILE_H
#define SF_IO_GRAPH_HDF5_FILE_H

#include "io/graph/file.h"
#include "io/hdf.h"

/** Into an empty list; path is for messages. SF_DATA. */
int sf_graph_hdf5_read(sf_edge_list *list, hid_t file, const char *path, sf_error *error);

/** What the reading program (io/apart.h) does: reads the file and hands its graph over. */
int sf_graph_hdf5_put(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error);

/** And what its answer holds, which is not believed: SF_DATA. *list is empty on failure. */
int sf_graph_hdf5_take(sf_edge_list *list, sf_parcel *parcel, const char *path, sf_error *error);

#endif
