/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which electrodes a rig has and where they are: a probeinterface JSON file, or the .cfg file that MaxLab
 * Live writes of an array's routing. A unit is named by the file's contact id, or its electrode number.
 */
#ifndef SF_IO_ELECTRODES_H
#define SF_IO_ELECTRODES_H

#include "core/units.h"

typedef struct sf_electrodes {
    sf_units units;
    int32_t *channels; /**< the channel each is read by; -1: none */
    bool is_routing;   /**< of MaxLab Live: units are named by the numbers of electrodes */
} sf_electrodes;

/** SF_NO_INPUT; SF_DATA, with what was expected. Zeroed on failure. */
int sf_electrodes_read(sf_electrodes *electrodes, const char *path, sf_error *error);

void sf_electrodes_free(sf_electrodes *electrodes);

#endif
