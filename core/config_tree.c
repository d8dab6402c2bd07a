/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config_tree.h"

#include "core/config_keys.h"
#include "core/error.h"
#include "core/json.h"
#include "core/memory.h"

#include <stdio.h>
#include <string.h>

#define UNKNOWN_KEY "there is no key '%.60s' here, only %s"

int sf_config_refuse_at(const sf_config *config, const sf_config_place *place, const char *key,
                        sf_error *error, const char *format, va_list arguments)
{
    char sentence[sizeof error->text], where[sizeof error->place];
    const char *dots = "";
    vsnprintf(sentence, sizeof sentence, format, arguments);
    const char *name = config->name;
    if (strlen(name) > 120) { /* a long path keeps its end */
        name += strlen(name) - 120;
        dots = "...";
    }
    const char *separator = key[0] != '\0' ? ": " : "";
    if (place == NULL)
        snprintf(where, sizeof where, "%s%s%s%s", dots, name, separator, key);
    else if (place->line == 0)
        snprintf(where, sizeof where, "--set %s", key);
    else
        snprintf(where, sizeof where, "%s%s:%zu:%zu%s%s", dots, name, place->line, place->column, separator,
                 key);
    return sf_fail(error, SF_CONFIG, where, "%s", sentence);
}

static bool find_place(const sf_config_tree *tree, int node, sf_config_place *place)
{
    *place = (sf_config_place){0};
    if (node > tree->setting_nodes)
        return false;
    const yaml_node_t *at = tree->document.nodes.start + node - 1;
    if (node <= tree->file_nodes)
        *place = (sf_config_place){.line = at->start_mark.line + 1, .column = at->start_mark.column + 1};
    return true;
}

/* Refuses a node of the tree; `tree->path` is its key. */
__attribute__((format(printf, 3, 4))) static int refuse(sf_config_tree *tree, int node, const char *format,
                                                        ...)
{
    sf_config_place place;
    bool given = find_place(tree, node, &place);
    va_list arguments;
    va_start(arguments, format);
    int status =
        sf_config_refuse_at(tree->config, given ? &place : NULL, tree->path, tree->error, format, arguments);
    va_end(arguments);
    return status;
}

/* ---- the tree ---- */

static yaml_node_t *at(sf_config_tree *tree, int node)
{
    return tree->document.nodes.start + node - 1;
}

static const char *text_of(sf_config_tree *tree, int node)
{
    return (const char *)at(tree, node)->data.scalar.value;
}

static bool is_scalar(sf_config_tree *tree, int node)
{
    return at(tree, node)->type == YAML_SCALAR_NODE;
}

static bool is_empty(sf_config_tree *tree, int node)
{
    return is_scalar(tree, node) && at(tree, node)->data.scalar.length == 0;
}

static yaml_node_type_t node_type_of(const cyaml_schema_value_t *schema)
{
    return schema->type == CYAML_MAPPING    ? YAML_MAPPING_NODE
           : schema->type == CYAML_SEQUENCE ? YAML_SEQUENCE_NODE
                                            : YAML_SCALAR_NODE;
}

static yaml_node_pair_t *find_pair(sf_config_tree *tree, int mapping, const char *key)
{
    yaml_node_t *node = at(tree, mapping);
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++)
        if (is_scalar(tree, pair->key) && strcmp(text_of(tree, pair->key), key) == 0)
            return pair;
    return NULL;
}

static const cyaml_schema_field_t *find_field(const cyaml_schema_value_t *schema, const char *key)
{
    for (const cyaml_schema_field_t *field = schema->mapping.fields; field->key != NULL; field++)
        if (strcmp(field->key, key) == 0)
            return field;
    return NULL;
}

/* A new node for a value of this schema, not yet anywhere in the tree; 0 where memory is out. */
static int new_node(sf_config_tree *tree, const cyaml_schema_value_t *schema, const char *text)
{
    yaml_document_t *document = &tree->document;
    switch (node_type_of(schema)) {
    case YAML_MAPPING_NODE:
        return yaml_document_add_mapping(document, NULL, YAML_BLOCK_MAPPING_STYLE);
    case YAML_SEQUENCE_NODE:
        return yaml_document_add_sequence(document, NULL, YAML_ANY_SEQUENCE_STYLE);
    default:
        return yaml_document_add_scalar(document, NULL, (const yaml_char_t *)text, (int)strlen(text),
                                        YAML_ANY_SCALAR_STYLE);
    }
}

/* Puts a node under a key of a mapping, in place of what was there. */
static int put_under_key(sf_config_tree *tree, int mapping, const char *key, int value)
{
    yaml_node_pair_t *pair = value != 0 ? find_pair(tree, mapping, key) : NULL;
    if (pair != NULL) {
        pair->value = value;
        return SF_OK;
    }
    int name = value == 0 ? 0
                          : yaml_document_add_scalar(&tree->document, NULL, (const yaml_char_t *)key,
                                                     (int)strlen(key), YAML_ANY_SCALAR_STYLE);
    if (name == 0 || !yaml_document_append_mapping_pair(&tree->document, mapping, name, value))
        return sf_fail_memory(tree->error);
    return SF_OK;
}

/* Puts a node at an index of a list, in place of what was there, or after its last item. */
static int put_at_index(sf_config_tree *tree, int list, size_t index, int value)
{
    yaml_node_item_t *start = at(tree, list)->data.sequence.items.start;
    size_t count = (size_t)(at(tree, list)->data.sequence.items.top - start);
    if (value != 0 && index < count)
        start[index] = value;
    else if (value == 0 || !yaml_document_append_sequence_item(&tree->document, list, value))
        return sf_fail_memory(tree->error);
    return SF_OK;
}

/* ---- reading ---- */

/* Refuses what stands at a place of the file; the sentence takes `found`. */
static int refuse_place(sf_config_tree *tree, const yaml_mark_t *mark, const char *sentence,
                        const char *found)
{
    char where[sizeof tree->error->place];
    snprintf(where, sizeof where, "%.200s:%zu:%zu", tree->config->name, mark->line + 1, mark->column + 1);
    return sf_fail(tree->error, SF_CONFIG, where, sentence, found);
}

static int refuse_syntax(sf_config_tree *tree, const yaml_parser_t *parser)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return sf_fail_memory(tree->error);
    if (parser->error != YAML_READER_ERROR)
        return refuse_place(tree, &parser->problem_mark, "is not YAML: %s", parser->problem);
    char where[sizeof tree->error->place];
    snprintf(where, sizeof where, "%.200s: byte %zu", tree->config->name, parser->problem_offset);
    return sf_fail(tree->error, SF_CONFIG, where, "is no UTF-8 text: %s", parser->problem);
}

static int refuse_second_document(sf_config_tree *tree, yaml_parser_t *parser)
{
    yaml_document_t second;
    if (!yaml_parser_load(parser, &second))
        return refuse_syntax(tree, parser);
    const yaml_node_t *root = yaml_document_get_root_node(&second);
    int status = SF_OK;
    if (root != NULL)
        status = refuse_place(tree, &root->start_mark, "a second document begins; expected one%s", "");
    yaml_document_delete(&second);
    return status;
}

static bool start_parser(yaml_parser_t *parser, const char *yaml, size_t length)
{
    if (!yaml_parser_initialize(parser))
        return false;
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(parser, (const unsigned char *)yaml, length);
    return true;
}

/* libyaml takes time in the square of the depth and of the number of anchors, so both are counted before it
 * makes a document: no key is deeper than a few levels, and what an anchor is for, an alias, is refused. */
enum { DEEPEST = 32, MOST_ANCHORS = 32 };

typedef struct nesting {
    unsigned depth, anchors;
} nesting;

static const char *find_excess(nesting *so_far, const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL;
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = event->data.sequence_start.anchor;
        so_far->depth++;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = event->data.mapping_start.anchor;
        so_far->depth++;
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        so_far->depth--;
        break;
    default:
        break;
    }
    so_far->anchors += anchor != NULL;
    return so_far->depth > DEEPEST          ? "lists and keys more than 32 levels deep"
           : so_far->anchors > MOST_ANCHORS ? "more than 32 anchors (&name)"
                                            : NULL;
}

/* Leaves what is no YAML to the reading that follows, which says why. */
static int check_nesting(sf_config_tree *tree, const char *yaml, size_t length)
{
    yaml_parser_t parser;
    yaml_event_t event;
    nesting so_far = {0};
    int status = SF_OK;
    if (!start_parser(&parser, yaml, length))
        return sf_fail_memory(tree->error);
    for (bool more = true; more && status == SF_OK && yaml_parser_parse(&parser, &event);) {
        const char *excess = find_excess(&so_far, &event);
        if (excess != NULL)
            status =
                refuse_place(tree, &event.start_mark, "found %s, expected keys as in the reference", excess);
        more = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return status;
}

int sf_config_tree_read(sf_config_tree *tree, const char *yaml, size_t length)
{
    yaml_parser_t parser;
    int status = check_nesting(tree, yaml, length);
    if (status != SF_OK)
        return status;
    if (!start_parser(&parser, yaml, length))
        return sf_fail_memory(tree->error);
    if (!yaml_parser_load(&parser, &tree->document))
        status = refuse_syntax(tree, &parser);
    else if (yaml_document_get_root_node(&tree->document) != NULL)
        status = refuse_second_document(tree, &parser);
    else if (new_node(tree, &sf_config_schema, "") == 0) /* an empty file */
        status = sf_fail_memory(tree->error);
    yaml_parser_delete(&parser);
    if (status != SF_OK)
        return status;
    tree->file_nodes = (int)(tree->document.nodes.top - tree->document.nodes.start);
    tree->setting_nodes = tree->file_nodes;
    tree->visited = sf_alloc((size_t)tree->file_nodes, sizeof *tree->visited);
    return tree->visited != NULL ? SF_OK : sf_fail_memory(tree->error);
}

/* ---- what was found and what was expected, in words ---- */

static void list_keys(sf_text *text, const cyaml_schema_value_t *schema)
{
    for (const cyaml_schema_field_t *field = schema->mapping.fields; field->key != NULL; field++)
        sf_text_printf(text, "%s%s", field == schema->mapping.fields ? "" : ", ", field->key);
}

static void describe_expected(sf_text *text, const cyaml_schema_value_t *schema, const sf_config_rule *rule)
{
    switch (schema->type) {
    case CYAML_UINT:
        sf_text_printf(text, "a whole number from %.0f to %.0f", rule->least, rule->most);
        break;
    case CYAML_FLOAT:
        sf_text_printf(text, "a number from %.10g to %.10g", rule->least, rule->most);
        break;
    case CYAML_BOOL:
        sf_text_printf(text, "true or false");
        break;
    case CYAML_ENUM:
        for (uint32_t i = 0; i < schema->enumeration.count; i++)
            sf_text_printf(text, "%s%s", i == 0 ? "one of " : ", ", schema->enumeration.strings[i].str);
        break;
    case CYAML_MAPPING:
        sf_text_printf(text, "keys below it, of ");
        list_keys(text, schema);
        break;
    case CYAML_SEQUENCE:
        sf_text_printf(text, "a list of at most %u items ([] is an empty one)", schema->sequence.max);
        break;
    default:
        sf_text_printf(text, "a text of 1 to %u bytes", schema->string.max);
        break;
    }
}

static int refuse_value(sf_config_tree *tree, int node, const cyaml_schema_value_t *schema,
                        const sf_config_rule *rule)
{
    sf_text expected = {0};
    describe_expected(&expected, schema, rule);
    int status;
    if (expected.failed)
        status = sf_fail_memory(tree->error);
    else if (is_scalar(tree, node))
        status = refuse(tree, node, "found %s%.60s%s, expected %s", is_empty(tree, node) ? "nothing" : "'",
                        text_of(tree, node), is_empty(tree, node) ? "" : "'", expected.data);
    else if (at(tree, node)->type == YAML_MAPPING_NODE)
        status = refuse(tree, node, "found keys below it, expected %s", expected.data);
    else if (schema->type == CYAML_SEQUENCE)
        status = refuse(tree, node, "found a longer list, expected %s", expected.data);
    else
        status = refuse(tree, node, "found a list, expected %s", expected.data);
    sf_text_free(&expected);
    return status;
}

static int refuse_key(sf_config_tree *tree, int node, const char *key, const cyaml_schema_value_t *schema)
{
    sf_text known = {0};
    list_keys(&known, schema);
    int status =
        known.failed ? sf_fail_memory(tree->error) : refuse(tree, node, UNKNOWN_KEY, key, known.data);
    sf_text_free(&known);
    return status;
}

/* ---- settings ---- */

__attribute__((format(printf, 3, 4))) static int refuse_setting(sf_config_tree *tree, const char *setting,
                                                                const char *format, ...)
{
    char where[sizeof tree->error->place], sentence[sizeof tree->error->text];
    snprintf(where, sizeof where, "--set %.*s", (int)strcspn(setting, "="), setting);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return sf_fail(tree->error, SF_CONFIG, where, "%s", sentence);
}

static int refuse_setting_key(sf_config_tree *tree, const char *setting, const char *key,
                              const cyaml_schema_value_t *schema)
{
    sf_text known = {0};
    list_keys(&known, schema);
    int status = known.failed ? sf_fail_memory(tree->error)
                              : refuse_setting(tree, setting, UNKNOWN_KEY, key, known.data);
    sf_text_free(&known);
    return status;
}

/*
 * One step of a setting's path: finds the schema of the next segment and the node under it (0: none yet).
 */
static int step_down(sf_config_tree *tree, const char *setting, const char *segment, int node,
                     const cyaml_schema_value_t **schema, int *child, size_t *index)
{
    *child = 0;
    if ((*schema)->type == CYAML_MAPPING) {
        const cyaml_schema_field_t *field = find_field(*schema, segment);
        if (field == NULL)
            return refuse_setting_key(tree, setting, segment, *schema);
        yaml_node_pair_t *pair = find_pair(tree, node, segment);
        *child = pair != NULL ? pair->value : 0;
        *schema = &field->value;
        return SF_OK;
    }
    uint64_t number;
    yaml_node_item_t *items = at(tree, node)->data.sequence.items.start;
    size_t count = (size_t)(at(tree, node)->data.sequence.items.top - items);
    if (!sf_parse_uint(segment, count, &number))
        return refuse_setting(tree, setting,
                              "found no index of the list, expected one of its items from 0 "
                              "or the one after its last");
    *index = (size_t)number;
    *child = number < count ? items[number] : 0;
    *schema = (*schema)->sequence.entry;
    return SF_OK;
}

static int apply_setting(sf_config_tree *tree, const char *setting)
{
    const char *equals = strchr(setting, '=');
    if (equals == NULL || equals == setting)
        return sf_fail(tree->error, SF_USAGE, "--set", "found '%s', expected KEY=VALUE, as window.length_s=5",
                       setting);
    const cyaml_schema_value_t *schema = &sf_config_schema;
    int node = 1;
    for (const char *from = setting; from < equals;) {
        size_t length = strcspn(from, ".=");
        char segment[SF_CONFIG_KEY_SIZE];
        if (node_type_of(schema) == YAML_SCALAR_NODE || length >= sizeof segment)
            return refuse_setting(tree, setting, "the key goes on below a single value");
        if (at(tree, node)->type != node_type_of(schema))
            return SF_OK; /* the file is wrong here: the check that follows says so */
        snprintf(segment, sizeof segment, "%.*s", (int)length, from);
        int parent = node;
        bool in_mapping = schema->type == CYAML_MAPPING, last = from[length] == '=';
        size_t index = 0;
        int status = step_down(tree, setting, segment, parent, &schema, &node, &index);
        if (status != SF_OK)
            return status;
        if (last && node_type_of(schema) != YAML_SCALAR_NODE)
            return refuse_setting(tree, setting,
                                  "the key holds more than one value: name one inside it, as "
                                  "window.length_s, sources.0.speed or track.0");
        if (last || node == 0) {
            node = new_node(tree, schema, equals + 1);
            status = in_mapping ? put_under_key(tree, parent, segment, node)
                                : put_at_index(tree, parent, index, node);
            if (status != SF_OK)
                return status;
        }
        from += length + 1;
    }
    return SF_OK;
}

int sf_config_tree_set(sf_config_tree *tree, const char *const *settings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int status = apply_setting(tree, settings[i]);
        if (status != SF_OK)
            return status;
    }
    tree->setting_nodes = (int)(tree->document.nodes.top - tree->document.nodes.start);
    return SF_OK;
}

/* ---- checking and completing ---- */

static int check_node(sf_config_tree *tree, int node, const cyaml_schema_value_t *schema,
                      const sf_config_rule *rule);

static int keep_place(sf_config_tree *tree, int node)
{
    sf_config *config = tree->config;
    sf_config_place place;
    if (tree->printing || !find_place(tree, node, &place))
        return SF_OK;
    void *places = config->places;
    if (sf_reserve(&places, &tree->place_capacity, config->place_count + 1, sizeof place) != 0)
        return sf_fail_memory(tree->error);
    config->places = places;
    place.key = sf_copy_string(tree->path);
    if (place.key == NULL)
        return sf_fail_memory(tree->error);
    config->places[config->place_count++] = place;
    return SF_OK;
}

/* Does `where`, as "type=jsonl,hdf5", hold in this mapping? */
static bool holds(sf_config_tree *tree, int mapping, const char *where)
{
    char key[SF_CONFIG_KEY_SIZE];
    size_t length = strcspn(where, "=");
    snprintf(key, sizeof key, "%.*s", (int)length, where);
    const yaml_node_pair_t *pair = find_pair(tree, mapping, key);
    if (pair == NULL || !is_scalar(tree, pair->value))
        return false;
    const char *found = text_of(tree, pair->value);
    for (const char *word = where + length; *word != '\0'; word += length) {
        word++; /* = or , */
        length = strcspn(word, ",");
        if (strlen(found) == length && strncmp(found, word, length) == 0)
            return true;
    }
    return false;
}

/* The rule that holds for tree->key in this mapping. Without one, `*other` is one that holds elsewhere. */
static const sf_config_rule *find_rule(sf_config_tree *tree, int mapping, const sf_config_rule **other)
{
    *other = NULL;
    for (size_t i = 0; i < sf_config_rule_count; i++) {
        const sf_config_rule *rule = &sf_config_rules[i];
        if (strcmp(rule->key, tree->key) != 0)
            continue;
        if (rule->where == NULL || holds(tree, mapping, rule->where))
            return rule;
        *other = rule;
    }
    return NULL;
}

static bool scalar_is_right(sf_config_tree *tree, int node, const cyaml_schema_value_t *schema,
                            const sf_config_rule *rule)
{
    const char *text = text_of(tree, node);
    size_t length = at(tree, node)->data.scalar.length;
    if (length == 0 || strlen(text) != length)
        return false;
    uint64_t whole;
    double real;
    switch (schema->type) {
    case CYAML_UINT: /* libcyaml would read 010 as eight */
        return sf_parse_uint(text, (uint64_t)rule->most, &whole) && whole >= (uint64_t)rule->least &&
               (text[0] != '0' || length == 1);
    case CYAML_FLOAT:
        return sf_parse_real(text, &real) && real >= rule->least && real <= rule->most;
    case CYAML_BOOL:
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    case CYAML_ENUM:
        for (uint32_t i = 0; i < schema->enumeration.count; i++)
            if (strcmp(text, schema->enumeration.strings[i].str) == 0)
                return true;
        return false;
    default:
        return length <= schema->string.max;
    }
}

/* Every key of the mapping is known, a plain word, and given once. */
static int check_keys(sf_config_tree *tree, int node, const cyaml_schema_value_t *schema)
{
    const yaml_node_t *mapping = at(tree, node);
    for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++) {
        if (!is_scalar(tree, pair->key))
            return refuse(tree, pair->key, "found a list or a mapping as a key, expected a word");
        const char *key = text_of(tree, pair->key);
        if (find_field(schema, key) == NULL)
            return refuse_key(tree, pair->key, key, schema);
        if (find_pair(tree, node, key) != pair)
            return refuse(tree, pair->key, "the key '%s' is given twice", key);
    }
    return SF_OK;
}

static void remove_pair(sf_config_tree *tree, int mapping, yaml_node_pair_t *pair)
{
    yaml_node_t *node = at(tree, mapping);
    size_t after = (size_t)(node->data.mapping.pairs.top - pair) - 1;
    memmove(pair, pair + 1, after * sizeof *pair);
    node->data.mapping.pairs.top--;
}

/* A key that is missing: its default, an empty list, a mapping of defaults, or a refusal. */
static int complete_field(sf_config_tree *tree, int mapping, const cyaml_schema_field_t *field,
                          const sf_config_rule *rule)
{
    bool single = node_type_of(&field->value) == YAML_SCALAR_NODE;
    if (single && rule->needed) {
        sf_text expected = {0};
        describe_expected(&expected, &field->value, rule);
        int status = expected.failed ? sf_fail_memory(tree->error)
                                     : refuse(tree, mapping, "is missing: expected %s", expected.data);
        sf_text_free(&expected);
        return status;
    }
    int node = new_node(tree, &field->value, rule->otherwise);
    return put_under_key(tree, mapping, field->key, node);
}

static int check_field(sf_config_tree *tree, int mapping, const cyaml_schema_field_t *field)
{
    const sf_config_rule *other, *rule = find_rule(tree, mapping, &other);
    yaml_node_pair_t *pair = find_pair(tree, mapping, field->key);
    if (rule == NULL && other != NULL) {
        if (pair != NULL && !tree->printing)
            return refuse(tree, pair->value, "has no meaning here: it is for %s", other->where);
        if (pair != NULL)
            remove_pair(tree, mapping, pair);
        return SF_OK;
    }
    static const sf_config_rule none = {.otherwise = ""}; /* of lists and mappings */
    if (rule == NULL)
        rule = &none;
    if (pair == NULL) {
        int status = complete_field(tree, mapping, field, rule);
        if (status != SF_OK)
            return status;
        pair = find_pair(tree, mapping, field->key);
    }
    return check_node(tree, pair->value, &field->value, rule);
}

static int check_mapping(sf_config_tree *tree, int node, const cyaml_schema_value_t *schema)
{
    int status = check_keys(tree, node, schema);
    size_t path_end = strlen(tree->path), key_end = strlen(tree->key);
    for (const cyaml_schema_field_t *field = schema->mapping.fields; status == SF_OK && field->key != NULL;
         field++) {
        const char *dot = path_end > 0 ? "." : "";
        snprintf(tree->path + path_end, sizeof tree->path - path_end, "%s%s", dot, field->key);
        snprintf(tree->key + key_end, sizeof tree->key - key_end, "%s%s", dot, field->key);
        status = check_field(tree, node, field);
        tree->path[path_end] = tree->key[key_end] = '\0';
    }
    return status;
}

static int check_list(sf_config_tree *tree, int node, const cyaml_schema_value_t *schema)
{
    size_t count =
        (size_t)(at(tree, node)->data.sequence.items.top - at(tree, node)->data.sequence.items.start);
    if (count > schema->sequence.max)
        return refuse_value(tree, node, schema, NULL);
    int status = SF_OK;
    size_t path_end = strlen(tree->path);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        snprintf(tree->path + path_end, sizeof tree->path - path_end, ".%zu", i);
        status = check_node(tree, at(tree, node)->data.sequence.items.start[i], schema->sequence.entry, NULL);
        tree->path[path_end] = '\0';
    }
    return status;
}

/* libcyaml prints 10 as 1.0000000000000000e+01. */
static int shorten_real(sf_config_tree *tree, int node)
{
    double value = 0;
    sf_text text = {0};
    sf_json json = sf_json_start(&text);
    sf_parse_real(text_of(tree, node), &value);
    sf_json_real(&json, NULL, value);
    yaml_node_t *scalar = at(tree, node);
    if (!text.failed && text.length <= scalar->data.scalar.length) {
        memcpy(scalar->data.scalar.value, text.data, text.length + 1);
        scalar->data.scalar.length = text.length;
    }
    bool failed = text.failed;
    sf_text_free(&text);
    return failed ? sf_fail_memory(tree->error) : SF_OK;
}

static int check_node(sf_config_tree *tree, int node, const cyaml_schema_value_t *schema,
                      const sf_config_rule *rule)
{
    const char *tag = (const char *)at(tree, node)->tag;
    if (strcmp(tag, YAML_DEFAULT_SCALAR_TAG) != 0 && strcmp(tag, YAML_DEFAULT_MAPPING_TAG) != 0 &&
        strcmp(tag, YAML_DEFAULT_SEQUENCE_TAG) != 0)
        return refuse(tree, node, "found the tag %.60s, expected a value without a tag", tag);
    if (node <= tree->file_nodes) {
        if (tree->visited[node - 1])
            return refuse(tree, node, "found an alias (*name), expected the value written out");
        tree->visited[node - 1] = true;
    }
    if (at(tree, node)->type != node_type_of(schema))
        return refuse_value(tree, node, schema, rule);
    int status = keep_place(tree, node);
    if (status != SF_OK)
        return status;
    if (schema->type == CYAML_MAPPING)
        return check_mapping(tree, node, schema);
    if (schema->type == CYAML_SEQUENCE)
        return check_list(tree, node, schema);
    if (tree->printing)
        return schema->type == CYAML_FLOAT ? shorten_real(tree, node) : SF_OK;
    return scalar_is_right(tree, node, schema, rule) ? SF_OK : refuse_value(tree, node, schema, rule);
}

int sf_config_tree_check(sf_config_tree *tree)
{
    return check_node(tree, 1, &sf_config_schema, NULL);
}

/* ---- writing ---- */

static int append_to_text(void *text, unsigned char *buffer, size_t size)
{
    sf_text_append(text, (const char *)buffer, size);
    return !((sf_text *)text)->failed;
}

/* Appends the tree as YAML, which consumes its document. */
int sf_config_tree_write(sf_config_tree *tree, sf_text *text)
{
    yaml_emitter_t emitter;
    if (!yaml_emitter_initialize(&emitter))
        return sf_fail_memory(tree->error);
    yaml_emitter_set_output(&emitter, append_to_text, text);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, -1);
    tree->document.start_implicit = tree->document.end_implicit = 1;
    int written = yaml_emitter_dump(&emitter, &tree->document) && yaml_emitter_close(&emitter);
    yaml_emitter_delete(&emitter);
    return written ? SF_OK : sf_fail_memory(tree->error);
}

void sf_config_tree_free(sf_config_tree *tree)
{
    yaml_document_delete(&tree->document);
    sf_free(tree->visited);
}
