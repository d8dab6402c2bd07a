/* SPDX-License-Identifier: Apache-2.0 */
/** Links between units of one electrode or neuron, which sorting errors create and destroy: a note below a
 * table. */
#ifndef SF_APP_ELECTRODES_H
#define SF_APP_ELECTRODES_H

#include "core/text.h"

/** Zero-initialise. */
typedef struct app_electrodes {
    size_t links;            /**< number of links seen within one electrode */
    const char *pairs[3][2]; /**< names of the first few different pairs */
    size_t kept;
} app_electrodes;

/** Adds a link within one electrode; the names of its units are borrowed. */
void app_electrodes_see(app_electrodes *electrodes, uint32_t from, uint32_t to, const char *from_name,
                        const char *to_name);

/** Appends a line that names the links added; nothing if there are none. */
void app_electrodes_print(sf_text *text, const app_electrodes *electrodes);

#endif
