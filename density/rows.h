/* SPDX-License-Identifier: Apache-2.0 */
/** The options of densities, a row each (core/keys.h). */
#ifndef SF_DENSITY_ROWS_H
#define SF_DENSITY_ROWS_H

#include "core/keys.h"

#include <synfire/density.h>

extern const sf_key_table sf_density_table;

#endif
