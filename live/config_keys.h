/* SPDX-License-Identifier: Apache-2.0 */
/** The keys of a configuration: those of the pipeline's options, and the lists of sources and sinks. */
#ifndef SF_LIVE_CONFIG_KEYS_H
#define SF_LIVE_CONFIG_KEYS_H

#include "pipeline/options.h"

/** All keys, of an sf_config. */
extern const sf_key_table sf_config_table;

/** Bytes of an item of a list. */
size_t sf_config_item_size(const sf_key *list);

/** Frees the texts and lists of a struct that was filled by these keys. */
void sf_config_free_values(const sf_key_table *table, const sf_key_kind *kind, void *object);

#endif
