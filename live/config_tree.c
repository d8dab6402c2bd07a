/* SPDX-License-Identifier: Apache-2.0 */
#include "live/config_tree.h"

#include "core/error.h"
#include "core/memory.h"
#include "live/config_keys.h"

#include <stdio.h>
#include <string.h>

#define UNKNOWN_KEY "there is no key '%.60s' here, only %s"

/* What a node of the tree is to be: the value of a key, or a mapping of the keys of a table. */
typedef struct schema {
    sf_key_type type;
    const sf_key *key;         /* NULL of the top and of an item */
    const sf_key_table *table; /* of a mapping */
} schema;

/* Of a list of texts. */
static const sf_key *item_of(const sf_key *list)
{
    static const sf_key text = {.name = "", .type = SF_KEY_TEXT};
    return list->item != NULL ? list->item : &text;
}

static schema schema_of(const sf_key *key)
{
    return (schema){key->type, key, key->table};
}

static schema schema_of_top(void)
{
    return (schema){SF_KEY_GROUP, NULL, &sf_config_table};
}

static schema schema_of_item(const sf_key *list)
{
    return list->table != NULL ? (schema){SF_KEY_GROUP, NULL, list->table} : schema_of(item_of(list));
}

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
    if (node == 0) return false;
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

static yaml_node_type_t node_type_of(sf_key_type type)
{
    return type == SF_KEY_GROUP  ? YAML_MAPPING_NODE
           : type == SF_KEY_LIST ? YAML_SEQUENCE_NODE
                                 : YAML_SCALAR_NODE;
}

static yaml_node_pair_t *find_pair(sf_config_tree *tree, int mapping, const char *key)
{
    yaml_node_t *node = at(tree, mapping);
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++)
        if (is_scalar(tree, pair->key) && strcmp(text_of(tree, pair->key), key) == 0) return pair;
    return NULL;
}

static bool is_named(const sf_key *key, const char *name)
{
    return strcmp(key->name, name) == 0 || (key->old != NULL && strcmp(key->old, name) == 0);
}

/* By its name or by that of the release before. */
static yaml_node_pair_t *find_pair_of(sf_config_tree *tree, int mapping, const sf_key *key)
{
    yaml_node_pair_t *pair = find_pair(tree, mapping, key->name);
    return pair == NULL && key->old != NULL ? find_pair(tree, mapping, key->old) : pair;
}

static const sf_key *find_key(const sf_key_table *table, const char *name)
{
    const sf_key *keys[SF_KEYS_MOST];
    size_t count = sf_keys_of(table, NULL, keys);
    for (size_t i = 0; i < count; i++)
        if (is_named(keys[i], name)) return keys[i];
    return NULL;
}

/* A new node for a value of this type, not yet anywhere in the tree; 0 where memory is out. */
static int new_node(sf_config_tree *tree, sf_key_type type, const char *text)
{
    yaml_document_t *document = &tree->document;
    switch (node_type_of(type)) {
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

/* Puts a node at an index of a list: replaces that item, or appends after the last one. */
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

/* The column of the tab that indents this line, from 0; or SIZE_MAX. libyaml calls one anything but a tab. */
static size_t find_tab(const yaml_parser_t *parser, size_t line)
{
    const char *at = (const char *)parser->input.string.start, *end = (const char *)parser->input.string.end;
    for (; line > 0 && at < end; line--) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline != NULL ? newline + 1 : end;
    }
    size_t column = 0;
    while (at + column < end && at[column] == ' ')
        column++;
    return at + column < end && at[column] == '\t' ? column : SIZE_MAX;
}

static int refuse_syntax(sf_config_tree *tree, const yaml_parser_t *parser)
{
    if (parser->error == YAML_MEMORY_ERROR) return sf_fail_memory(tree->error);
    yaml_mark_t tab = {.line = parser->problem_mark.line};
    tab.column = parser->error != YAML_READER_ERROR ? find_tab(parser, tab.line) : SIZE_MAX;
    if (tab.column != SIZE_MAX)
        return refuse_place(tree, &tab, "a tab indents this line: YAML takes spaces only%s", "");
    if (parser->error != YAML_READER_ERROR)
        return refuse_place(tree, &parser->problem_mark, "is not YAML: %s", parser->problem);
    char where[sizeof tree->error->place];
    snprintf(where, sizeof where, "%.200s: byte %zu", tree->config->name, parser->problem_offset);
    return sf_fail(tree->error, SF_CONFIG, where, "is no UTF-8 text: %s", parser->problem);
}

static int refuse_second_document(sf_config_tree *tree, yaml_parser_t *parser)
{
    yaml_document_t second;
    if (!yaml_parser_load(parser, &second)) return refuse_syntax(tree, parser);
    const yaml_node_t *root = yaml_document_get_root_node(&second);
    int status = SF_OK;
    if (root != NULL)
        status = refuse_place(tree, &root->start_mark, "a second document begins; expected one%s", "");
    yaml_document_delete(&second);
    return status;
}

static bool start_parser(yaml_parser_t *parser, const char *yaml, size_t length)
{
    if (!yaml_parser_initialize(parser)) return false;
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
    if (!start_parser(&parser, yaml, length)) return sf_fail_memory(tree->error);
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
    if (status != SF_OK) return status;
    if (!start_parser(&parser, yaml, length)) return sf_fail_memory(tree->error);
    if (!yaml_parser_load(&parser, &tree->document))
        status = refuse_syntax(tree, &parser);
    else if (yaml_document_get_root_node(&tree->document) != NULL)
        status = refuse_second_document(tree, &parser);
    else if (new_node(tree, SF_KEY_GROUP, "") == 0) /* an empty file */
        status = sf_fail_memory(tree->error);
    yaml_parser_delete(&parser);
    if (status != SF_OK) return status;
    tree->file_nodes = (int)(tree->document.nodes.top - tree->document.nodes.start);
    tree->visited = sf_alloc((size_t)tree->file_nodes, sizeof *tree->visited);
    return tree->visited != NULL ? SF_OK : sf_fail_memory(tree->error);
}

/* ---- what was found and what was expected, in words ---- */

static void describe_expected(sf_text *text, schema wanted, const sf_key_table *among)
{
    const sf_key mapping = {.type = SF_KEY_GROUP, .table = wanted.table};
    sf_key_expected(text, wanted.key != NULL ? wanted.key : &mapping, among);
}

static int refuse_value(sf_config_tree *tree, int node, schema wanted, const sf_key_table *among)
{
    sf_text expected = {0};
    describe_expected(&expected, wanted, among);
    int status;
    if (expected.failed)
        status = sf_fail_memory(tree->error);
    else if (is_scalar(tree, node))
        status = refuse(tree, node, "found %s%.60s%s, expected %s", is_empty(tree, node) ? "nothing" : "'",
                        text_of(tree, node), is_empty(tree, node) ? "" : "'", expected.data);
    else if (at(tree, node)->type == YAML_MAPPING_NODE)
        status = refuse(tree, node, "found keys below it, expected %s", expected.data);
    else if (wanted.type == SF_KEY_LIST)
        status = refuse(tree, node, "found a longer list, expected %s", expected.data);
    else
        status = refuse(tree, node, "found a list, expected %s", expected.data);
    sf_text_free(&expected);
    return status;
}

static int refuse_key(sf_config_tree *tree, int node, const char *key, const sf_key_table *table)
{
    sf_text known = {0};
    sf_keys_list(&known, table);
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
                              const sf_key_table *table)
{
    sf_text known = {0};
    sf_keys_list(&known, table);
    int status = known.failed ? sf_fail_memory(tree->error)
                              : refuse_setting(tree, setting, UNKNOWN_KEY, key, known.data);
    sf_text_free(&known);
    return status;
}

/* One step of a setting's path: finds what the next segment is to be and the node under it (0: none yet). The
 * segment becomes the key as the file has it, or as it is called now. */
static int step_down(sf_config_tree *tree, const char *setting, char segment[SF_CONFIG_KEY_SIZE], int node,
                     schema *wanted, int *child, size_t *index)
{
    *child = 0;
    if (wanted->type == SF_KEY_GROUP) {
        const sf_key *key = find_key(wanted->table, segment);
        if (key == NULL) return refuse_setting_key(tree, setting, segment, wanted->table);
        const yaml_node_pair_t *pair = find_pair_of(tree, node, key);
        snprintf(segment, SF_CONFIG_KEY_SIZE, "%s", pair != NULL ? text_of(tree, pair->key) : key->name);
        *child = pair != NULL ? pair->value : 0;
        *wanted = schema_of(key);
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
    *wanted = schema_of_item(wanted->key);
    return SF_OK;
}

static int apply_setting(sf_config_tree *tree, const char *setting)
{
    const char *equals = strchr(setting, '=');
    if (equals == NULL || equals == setting)
        return sf_fail(tree->error, SF_USAGE, "--set", "found '%s', expected KEY=VALUE, as window.length_s=5",
                       setting);
    schema wanted = schema_of_top();
    int node = 1;
    for (const char *from = setting; from < equals;) {
        size_t length = strcspn(from, ".=");
        char segment[SF_CONFIG_KEY_SIZE];
        if (node_type_of(wanted.type) == YAML_SCALAR_NODE || length >= sizeof segment)
            return refuse_setting(tree, setting, "the key goes on below a single value");
        if (at(tree, node)->type != node_type_of(wanted.type))
            return SF_OK; /* the file is wrong here: the check that follows says so */
        snprintf(segment, sizeof segment, "%.*s", (int)length, from);
        int parent = node;
        bool in_mapping = wanted.type == SF_KEY_GROUP, last = from[length] == '=';
        size_t index = 0;
        int status = step_down(tree, setting, segment, parent, &wanted, &node, &index);
        if (status != SF_OK) return status;
        if (last && node_type_of(wanted.type) != YAML_SCALAR_NODE)
            return refuse_setting(tree, setting,
                                  "the key holds more than one value: name one inside it, as "
                                  "window.length_s, sources.0.speed or track.0");
        if (last || node == 0) {
            node = new_node(tree, wanted.type, equals + 1);
            status = in_mapping ? put_under_key(tree, parent, segment, node)
                                : put_at_index(tree, parent, index, node);
            if (status != SF_OK) return status;
        }
        from += length + 1;
    }
    return SF_OK;
}

int sf_config_tree_set(sf_config_tree *tree, const char *const *settings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int status = apply_setting(tree, settings[i]);
        if (status != SF_OK) return status;
    }
    return SF_OK;
}

/* ---- from the tree into the struct ---- */

static int keep_place(sf_config_tree *tree, int node)
{
    sf_config *config = tree->config;
    sf_config_place place;
    if (!find_place(tree, node, &place)) return SF_OK;
    void *places = config->places;
    if (sf_reserve(&places, &tree->place_capacity, config->place_count + 1, sizeof place) != 0)
        return sf_fail_memory(tree->error);
    config->places = places;
    place.key = sf_copy_string(tree->path);
    if (place.key == NULL) return sf_fail_memory(tree->error);
    config->places[config->place_count++] = place;
    return SF_OK;
}

/* What holds of every node, whatever it is to be. */
static int visit(sf_config_tree *tree, int node, schema wanted, const sf_key_table *among)
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
    if (at(tree, node)->type != node_type_of(wanted.type)) return refuse_value(tree, node, wanted, among);
    return keep_place(tree, node);
}

/* Every key of the mapping is known, a plain word, and given once. */
static int check_keys(sf_config_tree *tree, int node, const sf_key_table *table)
{
    const yaml_node_t *mapping = at(tree, node);
    for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++) {
        if (!is_scalar(tree, pair->key))
            return refuse(tree, pair->key, "found a list or a mapping as a key, expected a word");
        const char *name = text_of(tree, pair->key);
        const sf_key *key = find_key(table, name);
        if (key == NULL) return refuse_key(tree, pair->key, name, table);
        if (find_pair_of(tree, node, key) != pair)
            return refuse(tree, pair->key, "the key '%s' is given twice", name);
    }
    return SF_OK;
}

static int put_text(sf_config_tree *tree, const sf_key *key, void *object, const char *text)
{
    char **at = sf_key_at(key, object);
    *at = sf_copy_string(text);
    return *at != NULL ? SF_OK : sf_fail_memory(tree->error);
}

/* False where the text is no value of this key. 010 is eight to some. */
static bool take_scalar(const sf_key *key, void *object, const char *text, size_t length)
{
    return length > 0 && strlen(text) == length &&
           !(key->type == SF_KEY_WHOLE && text[0] == '0' && length > 1) && sf_key_parse(key, object, text);
}

static int read_scalar(sf_config_tree *tree, int node, const sf_key *key, void *object)
{
    const char *text = text_of(tree, node);
    if (!take_scalar(key, object, text, at(tree, node)->data.scalar.length))
        return refuse_value(tree, node, schema_of(key), NULL);
    return key->type == SF_KEY_TEXT ? put_text(tree, key, object, text) : SF_OK;
}

static int refuse_missing(sf_config_tree *tree, int mapping, const sf_key *key, const sf_key_table *table)
{
    sf_text expected = {0};
    sf_key_expected(&expected, key, table);
    int status = expected.failed ? sf_fail_memory(tree->error)
                                 : refuse(tree, mapping, "is missing: expected %s", expected.data);
    sf_text_free(&expected);
    return status;
}

/* A key that is missing has its default; a list is empty. */
static int take_default(sf_config_tree *tree, int mapping, const sf_key *key, void *object,
                        const void *defaults)
{
    void *at = sf_key_at(key, object);
    const void *from = sf_key_at(key, defaults);
    switch (key->type) {
    case SF_KEY_WHOLE:
        *(uint32_t *)at = *(const uint32_t *)from;
        return SF_OK;
    case SF_KEY_REAL:
        *(double *)at = *(const double *)from;
        return SF_OK;
    case SF_KEY_SWITCH:
        *(bool *)at = *(const bool *)from;
        return SF_OK;
    case SF_KEY_CHOICE:
        *(int *)at = *(const int *)from;
        return SF_OK;
    case SF_KEY_TEXT:
        return key->needed || *(const char *const *)from == NULL
                   ? refuse_missing(tree, mapping, key, NULL)
                   : put_text(tree, key, object, *(const char *const *)from);
    default:
        return SF_OK;
    }
}

/* Where a key has a meaning, as "type=jsonl,hdf5". */
static void describe_where(sf_text *text, const sf_key_table *table, const char *name)
{
    const sf_key *keys[SF_KEYS_MOST];
    size_t count = sf_keys_of(table, NULL, keys);
    for (size_t i = 0; table->kind == NULL && i < count; i++)
        if (strcmp(keys[i]->name, name) == 0) {
            sf_text_clear(text);
            sf_text_printf(text, "%s", keys[i]->where);
        }
    if (table->kind == NULL) return;
    sf_text_printf(text, "%s", keys[0]->name);
    char before = '=';
    for (size_t i = 0; table->kind(i) != NULL; i++)
        for (const sf_key *key = table->kind(i)->keys; key->name != NULL; key++)
            if (strcmp(key->name, name) == 0) {
                sf_text_printf(text, "%c%s", before, table->kind(i)->name);
                before = ',';
            }
}

static int refuse_meaning(sf_config_tree *tree, int node, const sf_key_table *table, const char *name)
{
    sf_text where = {0};
    describe_where(&where, table, name);
    int status = where.failed ? sf_fail_memory(tree->error)
                              : refuse(tree, node, "has no meaning here: it is for %s", where.data);
    sf_text_free(&where);
    return status;
}

static int read_keys(sf_config_tree *tree, int node, const sf_key_table *table, const sf_key_kind *kind,
                     void *object, const void *defaults);

/* A mapping, into a struct of which it sets some members. */
static int read_mapping(sf_config_tree *tree, int node, const sf_key_table *table, void *object,
                        const void *defaults)
{
    int status = check_keys(tree, node, table);
    return status == SF_OK ? read_keys(tree, node, table, NULL, object, defaults) : status;
}

/* The first key of an item tells its kind, and so what the others may be. */
static int read_kind(sf_config_tree *tree, int node, const sf_key_table *table, const sf_key_kind **kind)
{
    const sf_key *key = table->parts[0];
    const yaml_node_pair_t *pair = find_pair(tree, node, key->name);
    size_t end = strlen(tree->path);
    snprintf(tree->path + end, sizeof tree->path - end, ".%s", key->name);
    int status = pair != NULL ? visit(tree, pair->value, schema_of(key), table)
                              : refuse_missing(tree, node, key, table);
    for (size_t i = 0; status == SF_OK && *kind == NULL; i++) {
        const sf_key_kind *known = table->kind(i);
        if (known == NULL)
            status = refuse_value(tree, pair->value, schema_of(key), table);
        else if (strcmp(known->name, text_of(tree, pair->value)) == 0 &&
                 strlen(known->name) == at(tree, pair->value)->data.scalar.length)
            *kind = known;
    }
    tree->path[end] = '\0';
    return status;
}

static int read_item_of_kind(sf_config_tree *tree, int node, const sf_key_table *table, sf_key_item *item)
{
    const sf_key_kind *kind = NULL;
    int status = check_keys(tree, node, table);
    if (status == SF_OK) status = read_kind(tree, node, table, &kind);
    if (status != SF_OK) return status;
    *item = (sf_key_item){kind, sf_alloc(1, kind->size)};
    if (item->settings == NULL) return sf_fail_memory(tree->error);
    return read_keys(tree, node, table, kind, item->settings, kind->defaults);
}

static int read_item(sf_config_tree *tree, int node, const sf_key *list, void *item)
{
    const sf_key_table *table = list->table;
    int status = visit(tree, node, schema_of_item(list), NULL);
    if (status != SF_OK) return status;
    if (table == NULL) return read_scalar(tree, node, item_of(list), item);
    if (table->kind != NULL) return read_item_of_kind(tree, node, table, item);
    return read_mapping(tree, node, table, item, sf_keys_defaults(table, 0));
}

static int read_list(sf_config_tree *tree, int node, const sf_key *key, void *object)
{
    size_t count =
        (size_t)(at(tree, node)->data.sequence.items.top - at(tree, node)->data.sequence.items.start);
    if (count > (size_t)key->most) return refuse_value(tree, node, schema_of(key), NULL);
    if (count == 0) return SF_OK;
    size_t size = sf_config_item_size(key), path_end = strlen(tree->path);
    char *items = sf_alloc(count, size);
    *(void **)sf_key_at(key, object) = items;
    if (items == NULL) return sf_fail_memory(tree->error);
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        snprintf(tree->path + path_end, sizeof tree->path - path_end, ".%zu", i);
        ++*(uint32_t *)(void *)((char *)object + key->count_offset);
        status = read_item(tree, at(tree, node)->data.sequence.items.start[i], key, items + i * size);
        tree->path[path_end] = '\0';
    }
    return status;
}

static int read_value(sf_config_tree *tree, int node, const sf_key *key, void *object, const void *defaults)
{
    int status = visit(tree, node, schema_of(key), NULL);
    if (status != SF_OK) return status;
    if (key->type == SF_KEY_GROUP) return read_mapping(tree, node, key->table, object, defaults);
    return key->type == SF_KEY_LIST ? read_list(tree, node, key, object)
                                    : read_scalar(tree, node, key, object);
}

/* One name of the mapping, which may be 0: there is none. `named` is the first row of that name, `key` the
 * one that has a meaning here, or NULL. */
static int read_key(sf_config_tree *tree, int node, const sf_key_table *table, const sf_key *named,
                    const sf_key *key, void *object, const void *defaults)
{
    const yaml_node_pair_t *pair = node != 0 ? find_pair_of(tree, node, named) : NULL;
    if (key == NULL) return pair != NULL ? refuse_meaning(tree, pair->value, table, named->name) : SF_OK;
    if (key->type == SF_KEY_KIND) return SF_OK; /* read before */
    if (pair != NULL) return read_value(tree, pair->value, key, object, defaults);
    if (key->type == SF_KEY_GROUP) return read_keys(tree, 0, key->table, NULL, object, defaults);
    return take_default(tree, node, key, object, defaults);
}

static int read_keys(sf_config_tree *tree, int node, const sf_key_table *table, const sf_key_kind *kind,
                     void *object, const void *defaults)
{
    const sf_key *all[SF_KEYS_MOST], *own[SF_KEYS_MOST];
    size_t count = sf_keys_of(table, NULL, all), own_count = sf_keys_of(table, kind, own);
    size_t path_end = strlen(tree->path);
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        if (sf_keys_named_before(all, i)) continue;
        snprintf(tree->path + path_end, sizeof tree->path - path_end, "%s%s", path_end > 0 ? "." : "",
                 all[i]->name);
        const sf_key *key = sf_keys_find(own, own_count, all[i]->name, object);
        status = read_key(tree, node, table, all[i], key, object, defaults);
        tree->path[path_end] = '\0';
        if (i == 0 && key->type == SF_KEY_CHOICE && table->defaults != NULL)
            defaults = sf_keys_defaults(table, *(const int *)sf_key_at(key, object));
    }
    return status;
}

int sf_config_tree_take(sf_config_tree *tree)
{
    const sf_config defaults = sf_config_defaults();
    int status = visit(tree, 1, schema_of_top(), NULL);
    return status == SF_OK ? read_mapping(tree, 1, &sf_config_table, tree->config, &defaults) : status;
}

void sf_config_tree_free(sf_config_tree *tree)
{
    yaml_document_delete(&tree->document);
    sf_free(tree->visited);
}
