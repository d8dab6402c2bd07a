/* SPDX-License-Identifier: Apache-2.0 */
/** The options of densities, a row each (core/keys.h), and the words of what they choose among. */
#ifndef SF_DENSITY_ROWS_H
#define SF_DENSITY_ROWS_H

#include "core/keys.h"

#include <synfire/density.h>

extern const sf_key_table sf_density_table;

/** By the value of sf_quantity, sf_domain and sf_aggregate_kind; NULL behind the last. */
extern const char *const sf_quantity_words[], *const sf_domain_words[], *const sf_aggregate_words[];

/** The domain of this word, or one more than the last, which sf_domain_check refuses. */
sf_domain sf_domain_of_word(const char *word);

#endif
