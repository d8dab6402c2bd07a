/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A configuration as libyaml's tree, which knows its positions, on its way into the struct: every node is
 * checked by the row of its key and taken. Private to config.c; failures are SF_CONFIG, SF_USAGE,
 * SF_NO_MEMORY.
 */
#ifndef SF_LIVE_CONFIG_TREE_H
#define SF_LIVE_CONFIG_TREE_H

#include "live/config.h"

#include <stdarg.h>
#include <yaml.h>

#define SF_CONFIG_KEY_SIZE 128

/** Zero-initialise, set config and error, and free whatever happened. Nodes are numbered from 1; 0 is none.
 */
typedef struct sf_config_tree {
    yaml_document_t document;
    int file_nodes; /**< the nodes up to this one stand in the text; later ones come from settings */
    bool *visited;  /**< of the text's nodes: a second visit comes through an alias */
    char path[SF_CONFIG_KEY_SIZE]; /**< of the node being checked: "sources.0.speed" */
    size_t place_capacity;
    sf_config *config; /**< has the name and takes the places; borrowed */
    sf_error *error;
} sf_config_tree;

int sf_config_tree_read(sf_config_tree *tree, const char *yaml, size_t length);

/** Writes settings ("key=value") into the tree. */
int sf_config_tree_set(sf_config_tree *tree, const char *const *settings, size_t count);

/** Fills the zeroed configuration, with its places; what is missing has its default. */
int sf_config_tree_take(sf_config_tree *tree);

void sf_config_tree_free(sf_config_tree *tree);

/** SF_CONFIG at a place: NULL for a default, line 0 for a setting. */
int sf_config_refuse_at(const sf_config *config, const sf_config_place *place, const char *key,
                        sf_error *error, const char *format, va_list arguments)
    __attribute__((format(printf, 5, 0)));

#endif
