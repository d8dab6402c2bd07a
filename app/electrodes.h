/* SPDX-License-Identifier: Apache-2.0 */
/** Links between units of one electrode or neuron, which a sorter's mistakes make and unmake: a note under a
 * table. */
#ifndef SF_APP_ELECTRODES_H
#define SF_APP_ELECTRODES_H

#include "core/text.h"

/** Zero-initialise. */
typedef struct app_electrodes {
    size_t links;            /**< that are within one electrode, of those seen */
    const char *pairs[3][2]; /**< the first few different ones, by name */
    size_t kept;
} app_electrodes;

/** A link within one electrode; the names of its units are borrowed. */
void app_electrodes_see(app_electrodes *electrodes, uint32_t from, uint32_t to, const char *from_name,
                        const char *to_name);

/** A line that names what was seen; nothing where nothing was. */
void app_electrodes_print(sf_text *text, const app_electrodes *electrodes);

#endif
