/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which electrodes a rig has and where they are: a probeinterface JSON file, the .cfg file that MaxLab Live
 * writes of an array's routing, the .cmp map of one of Blackrock's, or a table of name, x and y. A unit is
 * named by the file's contact id, its electrode number, the map's label or the table's name.
 */
#ifndef SF_IO_ELECTRODES_H
#define SF_IO_ELECTRODES_H

#include "core/units.h"

typedef struct sf_electrodes {
    sf_units units;
    int32_t *channels; /**< the channel each is read by; -1: none */
    bool is_routing;   /**< of MaxLab Live: units are named by the numbers of electrodes */
    bool has_indices;  /**< of a table that numbers units by their place: channels are indices */
    bool is_map; /**< of Blackrock: 400 um apart, as it does not say; channels are numbers of electrodes */
    bool is_table;
    bool names_length; /**< the table says in what x and y are; else they are um */
    size_t shared;     /**< of a routing: left out, as their channel or electrode has another one */
} sf_electrodes;

/** SF_NO_INPUT; SF_DATA, with what was expected. Zeroed on failure. */
int sf_electrodes_read(sf_electrodes *electrodes, const char *path, sf_error *error);

void sf_electrodes_free(sf_electrodes *electrodes);

#endif
