/* SPDX-License-Identifier: Apache-2.0 */
/* GraphML: reading, over libexpat. One graph, no hyperedges or nested graphs, and one direction rule for all
 * edges, whatever ports they join. Keys become columns; a node's text key "name" becomes its name, else its
 * key "label", as Gephi has it, or the first label that yEd draws, else its id is. */
#include "io/graph/graphml.h"

#include "core/error.h"
#include "core/memory.h"

#include <expat.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef enum owner { OF_OTHER, OF_NODES, OF_EDGES, OF_BOTH } owner;

/* Position of the reader in the file. A GraphML element that is not allowed at a position is refused; any
 * other element is skipped with all its content, so that elements inside <data> cannot change what the data
 * belong to. */
typedef enum where {
    BEFORE, /* nothing is open */
    IN_FILE,
    IN_KEY,
    IN_DEFAULT,
    IN_GRAPH,
    IN_NODE,
    IN_EDGE,
    IN_DATA,
    DEEPEST = 8 /* more than can be open at once */
} where;

typedef struct key {
    char *name;
    owner owner;
    bool is_text, is_name;
    bool is_label;              /* node labels: a name if there is no key "name" */
    bool is_drawn;              /* yEd's drawing: its labels for a node, nothing of use for others */
    size_t column, edge_column; /* edge_column: the second column of a key for both nodes and edges */
    char *otherwise;            /* <default>, or NULL */
} key;

typedef struct reader {
    XML_Parser parser;
    const char *path;
    sf_edge_list *list;
    sf_error *error;
    int status;
    size_t most_cells; /* maximum cells of all columns for a file of this length */
    key *keys;
    size_t key_capacity;
    sf_words key_ids; /* numbered as keys */
    sf_words ids;     /* of nodes, numbered as vertices */
    size_t *lines;    /* line at which an edge first named a node; 0 once the node is declared */
    size_t line_capacity;
    where open[DEEPEST]; /* the open elements, from BEFORE on */
    size_t depth;
    size_t passed; /* number of open, skipped elements within the innermost position */
    bool seen_graph;
    bool has_names;     /* a key for names was declared */
    size_t label_from;  /* value of `passed` at yEd's open label; 0: none is open */
    bool label_is_read; /* of the node that is open */
    size_t row;         /* of the node or edge that is open */
    key *data;          /* key of the open <data>; NULL: data of the graph itself */
    sf_text text;
} reader;

/* A cell is one value of one key for one node or edge. The shortest node, <node id=""/>, with fifty keys, and
 * small files with many keys of which each node gives few. */
#define CELLS_OF_A_BYTE 4
#define ALWAYS_CELLS (1 << 22)

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
        if (strcmp(attributes[0], name) == 0) return attributes[1];
    return NULL;
}

static where here(const reader *r)
{
    return r->open[r->depth];
}

static where outside(const reader *r)
{
    return r->open[r->depth - 1];
}

/* ---- nodes */

/* Every node key has a cell for every node, given or not. */
static bool cells_fit(reader *r)
{
    const sf_edge_list *list = r->list;
    double cells = (double)list->vertex_columns.count * list->vertex_count +
                   (double)list->edge_columns.count * (double)list->edge_count;
    if (cells <= (double)r->most_cells) return true;
    char found[128];
    snprintf(found, sizeof found, "%zu keys of nodes and %zu of edges for %u nodes and %zu edges",
             list->vertex_columns.count, list->edge_columns.count, list->vertex_count, list->edge_count);
    refuse(r, current_line(r), "found %s, expected a table that a file of this length can fill: fewer keys",
           found);
    return false;
}

/* Vertex of an id, created if new; SF_NO_VERTEX after a failure. */
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
        if (!cells_fit(r)) return SF_NO_VERTEX;
        status = sf_edge_list_add_named(r->list, id, r->error);
    }
    if (status == SF_OK) return vertex;
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
    if (vertex == SF_NO_VERTEX) return;
    if (vertex < before && r->lines[vertex] == 0) {
        refuse(r, current_line(r), "a second node with the id '%s'", id);
        return;
    }
    r->lines[vertex] = 0;
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
    if (head == SF_NO_VERTEX) return;
    if (!cells_fit(r)) return;
    r->row = r->list->edge_count;
    int status = sf_edge_list_add(r->list, tail, head, r->error);
    if (status != SF_OK) fail(r, status);
}

/* ---- keys and data */

static key *find_key(reader *r, const char *id)
{
    uint32_t number = id != NULL ? sf_words_find(&r->key_ids, id) : SF_NO_WORD;
    return number != SF_NO_WORD ? &r->keys[number] : NULL;
}

static owner owner_of(const char *kind)
{
    if (kind == NULL || strcmp(kind, "all") == 0) return OF_BOTH;
    return strcmp(kind, "node") == 0 ? OF_NODES : strcmp(kind, "edge") == 0 ? OF_EDGES : OF_OTHER;
}

static void start_key(reader *r, const char **attributes)
{
    const char *id = attribute(attributes, "id"), *name = attribute(attributes, "attr.name");
    const char *type = attribute(attributes, "attr.type");
    const char *wrong = r->seen_graph ? "the key '%s' is declared too late: keys stand before the graph"
                        : id == NULL  ? "a key without an id%s"
                        : find_key(r, id) != NULL ? "a second key with the id '%s'"
                                                  : NULL;
    if (wrong != NULL) {
        refuse(r, current_line(r), wrong, id != NULL ? id : "");
        return;
    }
    void *keys = r->keys;
    uint32_t number;
    if (sf_reserve(&keys, &r->key_capacity, r->key_ids.count + 1, sizeof *r->keys) != 0) {
        fail_memory(r);
        return;
    }
    r->keys = keys;
    key *added = &r->keys[r->key_ids.count];
    *added = (key){.owner = owner_of(attribute(attributes, "for")),
                   .is_text = type == NULL || strcmp(type, "string") == 0,
                   .is_drawn = attribute(attributes, "yfiles.type") != NULL};
    if (sf_words_add(&r->key_ids, id, &number, r->error) != SF_OK ||
        (added->name = sf_copy_string(name != NULL ? name : id)) == NULL) {
        fail_memory(r);
        return;
    }
    added->is_name = added->is_text && added->owner == OF_NODES && strcmp(added->name, "name") == 0;
    added->is_label = added->is_text && (added->owner & OF_NODES) != 0 &&
                      (added->is_drawn || strcasecmp(added->name, "label") == 0);
    r->has_names = r->has_names || added->is_name;
    int status = SF_OK;
    if (added->is_drawn) return;
    if ((added->owner & OF_NODES) != 0 && !added->is_name)
        status = sf_columns_add(&r->list->vertex_columns, added->name, &added->column, r->error);
    if (status == SF_OK && (added->owner & OF_EDGES) != 0)
        status = sf_columns_add(&r->list->edge_columns, added->name, &added->edge_column, r->error);
    if (status != SF_OK) fail_memory(r);
}

static void start_data(reader *r, const char **attributes)
{
    const char *id = attribute(attributes, "key");
    owner element = outside(r) == IN_NODE ? OF_NODES : outside(r) == IN_EDGE ? OF_EDGES : OF_OTHER;
    r->data = element != OF_OTHER ? find_key(r, id) : NULL;
    sf_text_clear(&r->text);
    r->label_is_read = false;
    if (element == OF_OTHER) return; /* data of the graph or the file itself */
    if (r->data == NULL)
        refuse(r, current_line(r), "data of the key '%s', which no <key> declares", id != NULL ? id : "");
    else if ((r->data->owner & element) == 0)
        refuse(r, current_line(r), "data of the key '%s', which is declared for other elements", id);
}

/* Numbers and booleans in the notation of XML, and of Python; NaN counts as missing. */
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
    sf_attribute *column = &columns->items[index];
    if (k->is_text) {
        if (sf_attribute_word(column, text, &column->values[row], r->error) != SF_OK) fail_memory(r);
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

/* Text of the <data> or <default> that ends here; NULL after a failure. */
static char *whole_text(reader *r)
{
    sf_text_append(&r->text, "", 0);
    if (r->text.failed) fail_memory(r);
    return r->text.failed ? NULL : r->text.data;
}

static void end_data(reader *r)
{
    char *text = r->data != NULL ? whole_text(r) : NULL;
    if (text == NULL) return;
    if (r->data->is_label && outside(r) == IN_NODE && !r->has_names && trimmed(text)[0] != '\0')
        rename_vertex(r, r->row, trimmed(text));
    if (r->data->is_drawn || r->status != SF_OK) return;
    if (outside(r) == IN_EDGE)
        set_value(r, r->data, &r->list->edge_columns, r->data->edge_column, r->row, text);
    else if (r->data->is_name)
        rename_vertex(r, r->row, text);
    else
        set_value(r, r->data, &r->list->vertex_columns, r->data->column, r->row, text);
}

static void end_default(reader *r)
{
    key *k = &r->keys[r->key_ids.count - 1];
    const char *text = whole_text(r);
    if (text == NULL) return;
    sf_free(k->otherwise);
    k->otherwise = sf_copy_string(text);
    if (k->otherwise == NULL) fail_memory(r);
}

static void fill_column(reader *r, const key *k, sf_columns *columns, size_t index)
{
    for (size_t row = 0; row < columns->rows && r->status == SF_OK; row++)
        if (isnan(columns->items[index].values[row])) set_value(r, k, columns, index, row, k->otherwise);
}

static void fill_defaults(reader *r)
{
    for (size_t i = 0; i < r->key_ids.count && r->status == SF_OK; i++) {
        const key *k = &r->keys[i];
        if (k->is_drawn) continue;
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
    if (r->seen_graph)
        refuse(r, current_line(r), "found a%s graph, expected one graph without graphs inside",
               outside(r) == IN_FILE ? " second" : " nested");
    else if (kind == NULL || (strcmp(kind, "directed") != 0 && strcmp(kind, "undirected") != 0))
        refuse(r, current_line(r), "the graph has edgedefault=\"%s\", expected directed or undirected",
               kind != NULL ? kind : "");
    else
        r->list->directed = strcmp(kind, "directed") == 0;
    r->seen_graph = true;
}

static void start_default(reader *r, const char **attributes)
{
    (void)attributes;
    sf_text_clear(&r->text);
}

static void start_file(reader *r, const char **attributes)
{
    (void)r, (void)attributes;
}

static void refuse_element(reader *r, const char **attributes)
{
    (void)attributes;
    refuse(r, current_line(r), "found a <hyperedge>%s, expected nodes and plain edges", "");
}

/* Where each element may occur, and the handlers of its start and end; `start` NULL: it is skipped. */
static const struct element {
    const char *name;
    where within, place;
    void (*start)(reader *r, const char **attributes);
    void (*end)(reader *r);
} elements[] = {
    {"graphml", BEFORE, IN_FILE, start_file, NULL},
    {"key", IN_FILE, IN_KEY, start_key, NULL},
    {"default", IN_KEY, IN_DEFAULT, start_default, end_default},
    {"graph", IN_FILE, IN_GRAPH, start_graph, NULL},
    {"graph", IN_NODE, IN_GRAPH, start_graph, NULL},
    {"graph", IN_EDGE, IN_GRAPH, start_graph, NULL},
    {"graph", IN_GRAPH, IN_GRAPH, start_graph, NULL},
    {"key", IN_GRAPH, IN_KEY, start_key, NULL},
    {"node", IN_GRAPH, IN_NODE, start_node, NULL},
    {"edge", IN_GRAPH, IN_EDGE, start_edge, NULL},
    {"data", IN_FILE, IN_DATA, start_data, end_data},
    {"data", IN_GRAPH, IN_DATA, start_data, end_data},
    {"data", IN_NODE, IN_DATA, start_data, end_data},
    {"data", IN_EDGE, IN_DATA, start_data, end_data},
    {"hyperedge", IN_GRAPH, IN_GRAPH, refuse_element, NULL},
    {"port", IN_NODE, IN_NODE, NULL, NULL},
};

enum { ELEMENTS = sizeof elements / sizeof elements[0] };

static const char *const place_names[] = {
    [IN_FILE] = "<graphml>", [IN_KEY] = "<key>",   [IN_DEFAULT] = "<default>", [IN_GRAPH] = "<graph>",
    [IN_NODE] = "<node>",    [IN_EDGE] = "<edge>", [IN_DATA] = "<data>",       [BEFORE] = "nothing"};

/* Local name of a GraphML element; NULL for elements that editors add in their own namespace. */
static const char *own_name(const char *qualified)
{
    const char *bar = strrchr(qualified, '|');
    if (bar == NULL) return qualified;
    const char *found = strstr(qualified, "graphml");
    return found != NULL && found < bar ? bar + 1 : NULL;
}

static void on_start(void *user, const char *qualified, const char **attributes)
{
    reader *r = user;
    const char *name = own_name(qualified);
    bool known = false;
    if (r->status != SF_OK) return;
    for (size_t i = 0; r->passed == 0 && name != NULL && i < ELEMENTS; i++) {
        const struct element *e = &elements[i];
        bool same = strcmp(name, e->name) == 0, fits = same && e->within == here(r);
        known = known || same;
        if (fits && e->start == NULL) { /* with all that is in it */
            r->passed++;
            return;
        }
        if (fits) {
            r->open[++r->depth] = e->place;
            e->start(r, attributes);
            return;
        }
    }
    r->passed++;
    const char *bar = strrchr(qualified, '|');
    if (here(r) == IN_DATA && r->label_from == 0 && bar != NULL && strcmp(bar + 1, "NodeLabel") == 0)
        r->label_from = r->passed;
    if (known) {
        char found[64];
        snprintf(found, sizeof found, "<%s> inside %s", name, place_names[here(r)]);
        refuse(r, current_line(r), "found %s, where GraphML has none", found);
    }
}

static void on_end(void *user, const char *qualified)
{
    (void)qualified;
    reader *r = user;
    if (r->status != SF_OK) return;
    if (r->passed > 0) {
        r->label_is_read = r->label_is_read || (r->label_from > 0 && r->passed == r->label_from);
        r->label_from = r->passed == r->label_from ? 0 : r->label_from;
        r->passed--;
        return;
    }
    for (size_t i = 0; i < ELEMENTS; i++)
        if (elements[i].place == here(r) && elements[i].end != NULL) {
            elements[i].end(r);
            break;
        }
    r->depth--;
}

/* Text of elements inside <data> counts, because some editors wrap labels in elements. */
static void on_text(void *user, const char *text, int length)
{
    reader *r = user;
    bool is_aside = r->data != NULL && r->data->is_drawn &&
                    (r->label_from == 0 || r->passed != r->label_from || r->label_is_read);
    if (((here(r) == IN_DATA && !is_aside) || here(r) == IN_DEFAULT) && r->status == SF_OK)
        sf_text_append(&r->text, text, (size_t)length);
}

/* Refused: entities can expand a short file to a very long text, and no graph needs them. */
static void on_entity(void *user, const char *name, int is_parameter, const char *value, int length,
                      const char *base, const char *system, const char *public, const char *notation)
{
    (void)is_parameter, (void)value, (void)length, (void)base, (void)system, (void)public, (void)notation;
    reader *r = user;
    if (r->status == SF_OK)
        refuse(r, current_line(r), "declares the entity '%s', expected the text of a graph itself", name);
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
            if (r->status != SF_OK) return r->status;
            if (reason == XML_ERROR_NO_MEMORY) return sf_fail_memory(r->error);
            refuse(r, current_line(r), "is not well-formed XML: %s", XML_ErrorString(reason));
            return r->status;
        }
        done += (size_t)length;
        if (last) return r->status;
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
    for (size_t i = 0; i < r->key_ids.count; i++) {
        sf_free(r->keys[i].name);
        sf_free(r->keys[i].otherwise);
    }
    sf_free(r->keys);
    sf_words_free(&r->key_ids);
    sf_text_free(&r->text);
    if (r->parser != NULL) XML_ParserFree(r->parser);
}

int sf_graphml_parse(sf_edge_list *list, const char *path, const char *text, size_t size, sf_error *error)
{
    static const XML_Memory_Handling_Suite memory = {allocate, reallocate, sf_free};
    reader r = {.path = path, .list = list, .error = error, .open = {BEFORE}};
    r.most_cells = size < ALWAYS_CELLS / CELLS_OF_A_BYTE ? ALWAYS_CELLS : size * CELLS_OF_A_BYTE;
    r.parser = XML_ParserCreate_MM(NULL, &memory, "|");
    if (r.parser == NULL) return sf_fail_memory(error);
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_start, on_end);
    XML_SetCharacterDataHandler(r.parser, on_text);
    XML_SetEntityDeclHandler(r.parser, on_entity);
    if (feed(&r, text, size) == SF_OK) {
        if (!r.seen_graph) refuse(&r, current_line(&r), "there is no <graph>%s", "");
        check_nodes(&r);
        fill_defaults(&r);
    }
    free_reader(&r);
    return r.status;
}
