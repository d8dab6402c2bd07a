/* SPDX-License-Identifier: Apache-2.0 */
/** Reader of synfire's HDF5 graph from an open file; io/graph/file.h declares the format. */
#ifndef SF_IO_GRAPH_HDF5_FILE_H
#define SF_IO_GRAPH_HDF5_FILE_H

#include "io/graph/file.h"
#include "io/hdf.h"

/** Reads into an empty list; `path` is for messages. SF_DATA. */
int sf_graph_hdf5_read(sf_edge_list *list, hid_t file, const char *path, sf_error *error);

/** In the reading program (io/apart.h): reads the file and writes its graph to the parcel. */
int sf_graph_hdf5_put(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error);

/** In the main process: reads the graph from the parcel, which is untrusted: SF_DATA. *list is empty on
 * failure. */
int sf_graph_hdf5_take(sf_edge_list *list, sf_parcel *parcel, const char *path, sf_error *error);

#endif
