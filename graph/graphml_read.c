/* SPDX-License-Identifier: Apache-2.0 */
/* GraphML: reading, over libexpat. One graph, no hyperedges, ports or nested graphs, and one direction rule
 * for all edges. Keys become columns; a node's text key "name" becomes its name, else its id is. */
#include "graph/graphml.h"

#include "core/error.h"
#include "core/memory.h"

#include <expat.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef enum owner { OF_OTHER, OF_NODES, OF_EDGES, OF_BOTH } owner;

typedef struct key {
    char *id, *name;
    owner owner;
    bool is_text, is_name;
    size_t column, edge_column; /* edge_column: the second one of a key for all */
    char *otherwise;            /* <default>, or NULL */
} key;

typedef struct reader {
    XML_Parser parser;
    const char *path;
    sf_edge_list *list;
    sf_error *error;
    int status;
    key *keys;
    size_t key_count, key_capacity;
    sf_words ids;  /* of nodes, numbered as vertices */
    size_t *lines; /* where an edge named a node first; 0 once the node was declared */
    size_t line_capacity;
    bool in_graph, seen_graph;
    owner element; /* what data belongs to */
    size_t row;
    key *data; /* the key of the <data> or <default> that is open, else NULL */
    bool is_default;
    sf_text text;
} reader;

static void fail(reader *r, int status)
{
    r->status = status;
    XML_StopParser(r->parser, XML_FALSE);
}

static void fail_memory(reader *r)
{
    fail(r, sf_fail_memory(r->error));
}

static void refuse(reader *r, size_t line, const char *sentence, const char *found)
{
    char place[256];
    snprintf(place, sizeof place, "%s:%zu", r->path, line);
    fail(r, sf_fail(r->error, SF_DATA, place, sentence, found));
}

static size_t current_line(reader *r)
{
    return XML_GetCurrentLineNumber(r->parser);
}

static const char *attribute(const char **attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

/* ---- nodes */

/* The vertex of an id, made where it is new; SF_NO_VERTEX after a failure. */
static uint32_t intern(reader *r, const char *id)
{
    uint32_t vertex, count = r->list->vertex_count;
    void *lines = r->lines;
    if (sf_reserve(&lines, &r->line_capacity, (size_t)count + 1, sizeof *r->lines) != 0) {
        fail_memory(r);
        return SF_NO_VERTEX;
    }
    r->lines = lines;
    int status = sf_words_add(&r->ids, id, &vertex, r->error);
    if (status == SF_OK && vertex == count) {
        r->lines[vertex] = current_line(r);
        status = sf_edge_list_add_named(r->list, id, r->error);
    }
    if (status == SF_OK)
        return vertex;
    fail(r, status);
    return SF_NO_VERTEX;
}

static void start_node(reader *r, const char **attributes)
{
    const char *id = attribute(attributes, "id");
    if (id == NULL) {
        refuse(r, current_line(r), "a node without an id%s", "");
        return;
    }
    uint32_t before = r->list->vertex_count, vertex = intern(r, id);
    if (vertex == SF_NO_VERTEX)
        return;
    if (vertex < before && r->lines[vertex] == 0) {
        refuse(r, current_line(r), "a second node with the id '%s'", id);
        return;
    }
    r->lines[vertex] = 0;
    r->element = OF_NODES;
    r->row = vertex;
}

static void start_edge(reader *r, const char **attributes)
{
    const char *from = attribute(attributes, "source"), *to = attribute(attributes, "target");
    const char *directed = attribute(attributes, "directed");
    if (from == NULL || to == NULL) {
        refuse(r, current_line(r), "an edge without a %s", from == NULL ? "source" : "target");
        return;
    }
    if (directed != NULL && (strcmp(directed, "true") == 0) != r->list->directed) {
        refuse(r, current_line(r),
               "an edge with directed=\"%s\" in a graph whose edgedefault says otherwise; expected edges of "
               "one kind",
               directed);
        return;
    }
    uint32_t tail = intern(r, from);
    uint32_t head = tail != SF_NO_VERTEX ? intern(r, to) : SF_NO_VERTEX;
    if (head == SF_NO_VERTEX)
        return;
    r->row = r->list->edge_count;
    r->element = OF_EDGES;
    if (sf_edge_list_add(r->list, tail, head, r->error) != SF_OK)
        fail_memory(r);
}

/* ---- keys and data */

static key *find_key(reader *r, const char *id)
{
    for (size_t i = 0; id != NULL && i < r->key_count; i++)
        if (strcmp(r->keys[i].id, id) == 0)
            return &r->keys[i];
    return NULL;
}

static owner owner_of(const char *kind)
{
    if (kind == NULL || strcmp(kind, "all") == 0)
        return OF_BOTH;
    return strcmp(kind, "node") == 0 ? OF_NODES : strcmp(kind, "edge") == 0 ? OF_EDGES : OF_OTHER;
}

static void start_key(reader *r, const char **attributes)
{
    const char *id = attribute(attributes, "id"), *name = attribute(attributes, "attr.name");
    const char *type = attribute(attributes, "attr.type");
    const char *wrong = r->seen_graph || r->data != NULL
                            ? "the key '%s' is declared too late: keys stand before the graph"
                        : id == NULL              ? "a key without an id%s"
                        : find_key(r, id) != NULL ? "a second key with the id '%s'"
                                                  : NULL;
    if (wrong != NULL) {
        refuse(r, current_line(r), wrong, id != NULL ? id : "");
        return;
    }
    void *keys = r->keys;
    if (sf_reserve(&keys, &r->key_capacity, r->key_count + 1, sizeof *r->keys) != 0) {
        fail_memory(r);
        return;
    }
    r->keys = keys;
    key *added = &r->keys[r->key_count];
    *added = (key){.id = sf_copy_string(id),
                   .name = sf_copy_string(name != NULL ? name : id),
                   .owner = owner_of(attribute(attributes, "for")),
                   .is_text = type == NULL || strcmp(type, "string") == 0};
    r->key_count++;
    if (added->id == NULL || added->name == NULL) {
        fail_memory(r);
        return;
    }
    added->is_name = added->is_text && added->owner == OF_NODES && strcmp(added->name, "name") == 0;
    int status = SF_OK;
    if ((added->owner & OF_NODES) != 0 && !added->is_name)
        status = sf_columns_add(&r->list->vertex_columns, added->name, &added->column, r->error);
    if (status == SF_OK && (added->owner & OF_EDGES) != 0)
        status = sf_columns_add(&r->list->edge_columns, added->name, &added->edge_column, r->error);
    if (status != SF_OK)
        fail_memory(r);
}

static void start_data(reader *r, const char **attributes)
{
    const char *id = attribute(attributes, "key");
    r->data = find_key(r, id);
    if (r->element == OF_OTHER)
        r->data = NULL; /* data of the graph itself */
    else if (r->data == NULL)
        refuse(r, current_line(r), "data of the key '%s', which no <key> declares", id != NULL ? id : "");
    else if ((r->data->owner & r->element) == 0)
        refuse(r, current_line(r), "data of the key '%s', which is declared for other elements", id);
    r->is_default = false;
    sf_text_clear(&r->text);
}

/* As XML has numbers and truth values, and Python writes them; NaN is no value. */
static bool read_number(const char *text, double *value)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"true", 1}, {"false", 0}, {"nan", NAN}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(text, words[i].word) == 0) {
            *value = words[i].value;
            return true;
        }
    }
    return sf_parse_real(text, value);
}

/* Cuts white space around a value in place. */
static char *trimmed(char *text)
{
    static const char space[] = " \t\r\n";
    text += strspn(text, space);
    size_t length = strlen(text);
    while (length > 0 && strchr(space, text[length - 1]) != NULL)
        text[--length] = '\0';
    return text;
}

static void set_value(reader *r, const key *k, sf_columns *columns, size_t index, size_t row, char *text)
{
    sf_column *column = &columns->items[index];
    if (k->is_text) {
        if (sf_column_word(column, text, &column->values[row], r->error) != SF_OK)
            fail_memory(r);
    } else if (!read_number(trimmed(text), &column->values[row])) {
        refuse(r, current_line(r), "found '%s', expected a finite number as the key declares", text);
    }
}

static void rename_vertex(reader *r, size_t vertex, const char *name)
{
    char *copy = sf_copy_string(name);
    if (copy == NULL) {
        fail_memory(r);
        return;
    }
    sf_free(r->list->names[vertex]);
    r->list->names[vertex] = copy;
}

static void end_data(reader *r)
{
    key *k = r->data;
    r->data = NULL;
    if (k == NULL || r->status != SF_OK)
        return;
    sf_text_append(&r->text, "", 0);
    if (r->text.failed) {
        fail_memory(r);
        return;
    }
    char *text = r->text.data;
    if (r->is_default) {
        sf_free(k->otherwise);
        k->otherwise = sf_copy_string(text);
        if (k->otherwise == NULL)
            fail_memory(r);
    } else if (r->element == OF_NODES && k->is_name) {
        rename_vertex(r, r->row, text);
    } else if (r->element == OF_NODES) {
        set_value(r, k, &r->list->vertex_columns, k->column, r->row, text);
    } else {
        set_value(r, k, &r->list->edge_columns, k->edge_column, r->row, text);
    }
}

static void fill_column(reader *r, const key *k, sf_columns *columns, size_t index)
{
    for (size_t row = 0; row < columns->rows && r->status == SF_OK; row++)
        if (isnan(columns->items[index].values[row]))
            set_value(r, k, columns, index, row, k->otherwise);
}

static void fill_defaults(reader *r)
{
    for (size_t i = 0; i < r->key_count && r->status == SF_OK; i++) {
        const key *k = &r->keys[i];
        if (k->otherwise != NULL && (k->owner & OF_NODES) != 0 && !k->is_name)
            fill_column(r, k, &r->list->vertex_columns, k->column);
        if (k->otherwise != NULL && (k->owner & OF_EDGES) != 0)
            fill_column(r, k, &r->list->edge_columns, k->edge_column);
    }
}

/* ---- elements */

static void start_graph(reader *r, const char **attributes)
{
    const char *kind = attribute(attributes, "edgedefault");
    if (r->in_graph || r->seen_graph)
        refuse(r, current_line(r), "found a%s graph, expected one graph without graphs inside",
               r->in_graph ? " nested" : " second");
    else if (kind == NULL || (strcmp(kind, "directed") != 0 && strcmp(kind, "undirected") != 0))
        refuse(r, current_line(r), "the graph has edgedefault=\"%s\", expected directed or undirected",
               kind != NULL ? kind : "");
    else
        r->list->directed = strcmp(kind, "directed") == 0;
    r->in_graph = r->seen_graph = true;
}

static const char *local_name(const char *name)
{
    const char *bar = strrchr(name, '|');
    return bar != NULL ? bar + 1 : name;
}

static void on_start(void *user, const char *qualified, const char **attributes)
{
    reader *r = user;
    const char *name = local_name(qualified);
    if (r->status != SF_OK)
        return;
    if (strcmp(name, "key") == 0) {
        start_key(r, attributes);
    } else if (strcmp(name, "default") == 0 && r->key_count > 0 && !r->seen_graph) {
        r->data = &r->keys[r->key_count - 1];
        r->is_default = true;
        sf_text_clear(&r->text);
    } else if (strcmp(name, "graph") == 0) {
        start_graph(r, attributes);
    } else if (r->in_graph && strcmp(name, "node") == 0) {
        start_node(r, attributes);
    } else if (r->in_graph && strcmp(name, "edge") == 0) {
        start_edge(r, attributes);
    } else if (r->in_graph && strcmp(name, "data") == 0) {
        start_data(r, attributes);
    } else if (strcmp(name, "hyperedge") == 0 || strcmp(name, "port") == 0) {
        refuse(r, current_line(r), "found a <%s>, expected nodes and plain edges", name);
    }
}

static void on_end(void *user, const char *qualified)
{
    reader *r = user;
    const char *name = local_name(qualified);
    if (strcmp(name, "data") == 0 || strcmp(name, "default") == 0)
        end_data(r);
    else if (strcmp(name, "node") == 0 || strcmp(name, "edge") == 0)
        r->element = OF_OTHER;
    else if (strcmp(name, "graph") == 0)
        r->in_graph = false;
}

static void on_text(void *user, const char *text, int length)
{
    reader *r = user;
    if (r->data != NULL && r->status == SF_OK)
        sf_text_append(&r->text, text, (size_t)length);
}

/* ---- the whole */

static void *allocate(size_t size)
{
    return sf_resize(NULL, size, 1);
}

static void *reallocate(void *memory, size_t size)
{
    return sf_resize(memory, size, 1);
}

static int feed(reader *r, const char *text, size_t size)
{
    enum { CHUNK = 1 << 20 };
    for (size_t done = 0;;) {
        int length = size - done < CHUNK ? (int)(size - done) : CHUNK;
        bool last = done + (size_t)length == size;
        if (XML_Parse(r->parser, text + done, length, last) != XML_STATUS_OK) {
            enum XML_Error reason = XML_GetErrorCode(r->parser);
            if (r->status != SF_OK)
                return r->status;
            if (reason == XML_ERROR_NO_MEMORY)
                return sf_fail_memory(r->error);
            refuse(r, current_line(r), "is not well-formed XML: %s", XML_ErrorString(reason));
            return r->status;
        }
        done += (size_t)length;
        if (last)
            return r->status;
    }
}

static void check_nodes(reader *r)
{
    for (uint32_t v = 0; v < r->list->vertex_count && r->status == SF_OK; v++)
        if (r->lines[v] != 0)
            refuse(r, r->lines[v], "an edge names the node '%s', which the file does not declare",
                   r->ids.items[v]);
}

static void free_reader(reader *r)
{
    sf_words_free(&r->ids);
    sf_free(r->lines);
    for (size_t i = 0; i < r->key_count; i++) {
        sf_free(r->keys[i].id);
        sf_free(r->keys[i].name);
        sf_free(r->keys[i].otherwise);
    }
    sf_free(r->keys);
    sf_text_free(&r->text);
    if (r->parser != NULL)
        XML_ParserFree(r->parser);
}

int sf_graphml_parse(sf_edge_list *list, const char *path, const char *text, size_t size, sf_error *error)
{
    static const XML_Memory_Handling_Suite memory = {allocate, reallocate, sf_free};
    reader r = {.path = path, .list = list, .error = error, .element = OF_OTHER};
    r.parser = XML_ParserCreate_MM(NULL, &memory, "|");
    if (r.parser == NULL)
        return sf_fail_memory(error);
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_start, on_end);
    XML_SetCharacterDataHandler(r.parser, on_text);
    if (feed(&r, text, size) == SF_OK) {
        if (!r.seen_graph)
            refuse(&r, current_line(&r), "there is no <graph>%s", "");
        check_nodes(&r);
        fill_defaults(&r);
    }
    free_reader(&r);
    return r.status;
}
