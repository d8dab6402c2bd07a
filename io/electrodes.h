/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Electrode names and positions of a rig, from a probeinterface JSON file, a .cfg file of an array's routing
 * by MaxLab Live, a .cmp map of a Blackrock array, or a table of name, x and y. Units are identified by the
 * file's contact id, its electrode number, the map's label or the table's name.
 */
#ifndef SF_IO_ELECTRODES_H
#define SF_IO_ELECTRODES_H

#include "core/units.h"

typedef struct sf_electrodes {
    sf_units units;
    int32_t *channels; /**< amplifier channel of each; -1: none */
    bool is_routing;   /**< MaxLab Live: units are named by electrode numbers */
    bool has_indices;  /**< table that numbers units by index: channels are indices */
    bool is_map; /**< Blackrock map: channels are electrode numbers; 400 um pitch, since the file states none
                  */
    bool is_table;
    bool names_length; /**< the table names the unit of x and y; else um */
    size_t shared;     /**< routing: number of entries ignored because another one has the same channel or
                          electrode */
} sf_electrodes;

/** Reads such a file. SF_NO_INPUT; SF_DATA, saying what was expected. Zeroed on failure. */
int sf_electrodes_read(sf_electrodes *electrodes, const char *path, sf_error *error);

void sf_electrodes_free(sf_electrodes *electrodes);

#endif
