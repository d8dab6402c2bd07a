/* SPDX-License-Identifier: Apache-2.0 */
/** The keys of a configuration: those of the pipeline's options, and the lists of sources and sinks. */
#ifndef SF_LIVE_CONFIG_KEYS_H
#define SF_LIVE_CONFIG_KEYS_H

#include "live/config.h"

/** All keys, of an sf_config. */
extern const sf_key_table sf_config_table;

/** What a configuration without a key has; nothing in it is to be freed. */
sf_config sf_config_defaults(void);

/** Bytes of an item of a list. */
size_t sf_config_item_size(const sf_key *list);

/** Appends the value of a key that holds a single one. */
void sf_config_print_value(sf_text *text, const sf_key *key, const sf_key_kind *kind, const void *object);

/** Frees the texts and lists of a struct that was filled by these keys. */
void sf_config_free_values(const sf_key_table *table, const sf_key_kind *kind, void *object);

#endif
