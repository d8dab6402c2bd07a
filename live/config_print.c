/* SPDX-License-Identifier: Apache-2.0 */
#include "core/error.h"
#include "core/json.h"
#include "core/memory.h"
#include "live/config.h"
#include "live/config_keys.h"

#include <string.h>
#include <yaml.h>

/* Every function that makes a node returns its number, or 0 where memory is out. */
static int new_scalar(yaml_document_t *document, const char *text)
{
    return yaml_document_add_scalar(document, NULL, (const yaml_char_t *)text, (int)strlen(text),
                                    YAML_PLAIN_SCALAR_STYLE); /* quoted where it must be */
}

static int new_mapping(yaml_document_t *document, const sf_key_table *table, const sf_key_kind *kind,
                       const void *object);

static int new_item(yaml_document_t *document, const sf_key *list, const void *item)
{
    if (list->table == NULL) return new_scalar(document, *(char *const *)item);
    if (list->table->kind == NULL) return new_mapping(document, list->table, NULL, item);
    const sf_key_item *of_kind = item;
    return new_mapping(document, list->table, of_kind->kind, of_kind->settings);
}

static int new_list(yaml_document_t *document, const sf_key *key, const void *object)
{
    int list = yaml_document_add_sequence(document, NULL, YAML_BLOCK_SEQUENCE_STYLE);
    const char *items = *(void *const *)sf_key_at(key, object);
    uint32_t count = *(const uint32_t *)(const void *)((const char *)object + key->count_offset);
    for (uint32_t i = 0; list != 0 && i < count; i++) {
        int item = new_item(document, key, items + i * sf_config_item_size(key));
        if (item == 0 || !yaml_document_append_sequence_item(document, list, item)) return 0;
    }
    return list;
}

void sf_config_print_value(sf_text *text, const sf_key *key, const sf_key_kind *kind, const void *object)
{
    const void *at = sf_key_at(key, object);
    sf_json json = sf_json_start(text);
    switch (key->type) {
    case SF_KEY_KIND:
        sf_text_printf(text, "%s", kind->name);
        break;
    case SF_KEY_SWITCH:
        sf_text_printf(text, "%s", *(const bool *)at ? "true" : "false");
        break;
    case SF_KEY_CHOICE:
        sf_text_printf(text, "%s", key->words[*(const int *)at]);
        break;
    case SF_KEY_TEXT:
        sf_text_printf(text, "%s", *(char *const *)at);
        break;
    case SF_KEY_WHOLE:
        sf_json_uint(&json, NULL, *(const uint32_t *)at);
        break;
    default:
        sf_json_real(&json, NULL, *(const double *)at);
        break;
    }
}

static int new_value(yaml_document_t *document, const sf_key *key, const sf_key_kind *kind,
                     const void *object)
{
    if (key->type == SF_KEY_GROUP) return new_mapping(document, key->table, NULL, object);
    if (key->type == SF_KEY_LIST) return new_list(document, key, object);
    sf_text text = {0};
    sf_config_print_value(&text, key, kind, object);
    int node = text.failed ? 0 : new_scalar(document, text.data);
    sf_text_free(&text);
    return node;
}

static int new_mapping(yaml_document_t *document, const sf_key_table *table, const sf_key_kind *kind,
                       const void *object)
{
    int mapping = yaml_document_add_mapping(document, NULL, YAML_BLOCK_MAPPING_STYLE);
    const sf_key *keys[SF_KEYS_MOST];
    size_t count = sf_keys_of(table, kind, keys);
    for (size_t i = 0; mapping != 0 && i < count; i++) {
        if (sf_keys_find(keys, count, keys[i]->name, object) != keys[i]) continue;
        int name = new_scalar(document, keys[i]->name);
        int value = name != 0 ? new_value(document, keys[i], kind, object) : 0;
        if (value == 0 || !yaml_document_append_mapping_pair(document, mapping, name, value)) return 0;
    }
    return mapping;
}

static int append_to_text(void *text, unsigned char *buffer, size_t size)
{
    sf_text_append(text, (const char *)buffer, size);
    return !((sf_text *)text)->failed;
}

/* Consumes the document. */
static bool write_document(sf_text *text, yaml_document_t *document)
{
    yaml_emitter_t emitter;
    if (!yaml_emitter_initialize(&emitter)) {
        yaml_document_delete(document);
        return false;
    }
    yaml_emitter_set_output(&emitter, append_to_text, text);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, -1);
    bool written = yaml_emitter_dump(&emitter, document) && yaml_emitter_close(&emitter);
    yaml_emitter_delete(&emitter);
    return written;
}

int sf_config_print(sf_text *text, const sf_config *config, sf_error *error)
{
    yaml_document_t document;
    if (!yaml_document_initialize(&document, NULL, NULL, NULL, 1, 1)) return sf_fail_memory(error);
    if (new_mapping(&document, &sf_config_table, NULL, config) == 0) {
        yaml_document_delete(&document);
        return sf_fail_memory(error);
    }
    return write_document(text, &document) ? SF_OK : sf_fail_memory(error);
}
