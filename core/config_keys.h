/* SPDX-License-Identifier: Apache-2.0 */
/** The keys of a configuration: their types and places in sf_config, defaults and bounds. Private to
 * config.c. */
#ifndef SF_CORE_CONFIG_KEYS_H
#define SF_CORE_CONFIG_KEYS_H

#include <cyaml/cyaml.h>
#include <stdbool.h>
#include <stddef.h>

/** Type and place of every key, as libcyaml takes them; the top is a mapping onto sf_config. */
extern const cyaml_schema_value_t sf_config_schema;

/**
 * What libcyaml's schema cannot say of a key. A key may have several rules that differ in `where`; a key
 * with rules of which none holds has no meaning in that place and is refused there.
 */
typedef struct sf_config_rule {
    const char *key;       /**< dotted, without list indices: "sources.ring" */
    const char *where;     /**< the neighbour it depends on, "type=jsonl,hdf5"; NULL: always */
    const char *otherwise; /**< default, as text; NULL: none */
    bool needed;           /**< there is no default and it may not be missing */
    double least, most;    /**< bounds of a number, both included */
} sf_config_rule;

extern const sf_config_rule sf_config_rules[];
extern const size_t sf_config_rule_count;

#endif
