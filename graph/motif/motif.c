/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/motif/motif.h"

#include "graph/motif/census.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- words ---- */

typedef enum kind {
    END,
    BREAK, /* a new line or ; */
    NAME,
    NUMBER,
    TRIAD,
    STRING,
    SYMBOL
} kind;

/* Macros that call macros can write out more than any pattern needs, and more than memory holds. */
enum { MOST_WORD = 64, MOST_PARAMETERS = 16, MOST_MACROS = 64, MOST_DEPTH = 16, MOST_STATEMENTS = 10000 };

typedef struct token {
    kind kind;
    char text[MOST_WORD]; /* of a string: without quotes */
    size_t line, column;
} token;

typedef struct macro {
    const token *name;
    const token *parameters[MOST_PARAMETERS];
    size_t parameter_count;
    size_t body; /* its first token; it ends with the } that matches */
} macro;

/* What the names in a macro's body stand for. */
typedef struct scope {
    const macro *macro; /* NULL: the text itself, where a name is a vertex */
    uint32_t vertices[MOST_PARAMETERS];
    int depth;
} scope;

typedef struct parser {
    sf_pattern *pattern;
    const char *path;
    sf_error *error;
    token *tokens;
    size_t count, capacity;
    size_t at;
    macro macros[MOST_MACROS];
    size_t macro_count;
    size_t statements; /* so far, with those of macros written out */
} parser;

static int fail_at(const parser *p, const token *at, const char *format, const char *found)
{
    char place[256];
    snprintf(place, sizeof place, "%s:%zu:%zu", p->path, at->line, at->column);
    return sf_fail(p->error, SF_DATA, place, format, found);
}

/* How a token reads in a message. */
static const char *shown(const token *t)
{
    return t->kind == END ? "the end" : t->kind == BREAK ? "the end of the line" : t->text;
}

static bool is_name_character(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

typedef struct cursor {
    const char *at, *end;
    size_t line, column;
} cursor;

static char peek(const cursor *c, size_t ahead)
{
    return c->at + ahead < c->end ? c->at[ahead] : '\0';
}

static void step(cursor *c)
{
    if (*c->at == '\n') {
        c->line++;
        c->column = 0;
    }
    c->column++;
    c->at++;
}

static int append_character(const parser *p, token *t, size_t *length, char c)
{
    if (*length + 1 == sizeof t->text) return fail_at(p, t, "'%s...' is longer than 63 characters", t->text);
    t->text[(*length)++] = c;
    return SF_OK;
}

static int read_string(const parser *p, cursor *c, token *t)
{
    size_t length = 0;
    step(c);
    while (c->at < c->end && *c->at != '"' && *c->at != '\n') {
        if (*c->at == '\\' && (peek(c, 1) == '"' || peek(c, 1) == '\\')) step(c);
        if (append_character(p, t, &length, *c->at) != SF_OK) return SF_DATA;
        step(c);
    }
    if (peek(c, 0) != '"') return fail_at(p, t, "the text \"%s is not closed on its line", t->text);
    step(c);
    return SF_OK;
}

static bool is_triad(const char *text)
{
    for (size_t i = SF_FIRST_CONNECTED; i < SF_TRIADS; i++)
        if (strcmp(sf_triads[i].name, text) == 0) return true;
    return false;
}

/* A name, a number, or a triad, which is both: letters, digits, and what belongs to numbers. */
static int read_word(const parser *p, cursor *c, token *t)
{
    size_t length = 0;
    bool is_number = !isalpha((unsigned char)*c->at) && *c->at != '_';
    for (; c->at < c->end; step(c)) {
        char before = length > 0 ? t->text[length - 1] : '\0';
        bool exponent_sign =
            (*c->at == '-' || *c->at == '+') && (length == 0 || before == 'e' || before == 'E');
        if (!is_name_character(*c->at) && !(is_number && (*c->at == '.' || exponent_sign))) break;
        if (append_character(p, t, &length, *c->at) != SF_OK) return SF_DATA;
    }
    double ignored;
    t->kind = !is_number ? NAME : is_triad(t->text) ? TRIAD : NUMBER;
    if (t->kind == NUMBER && !sf_parse_real(t->text, &ignored))
        return fail_at(p, t, "'%s' is neither a name nor a number nor a triad", t->text);
    return SF_OK;
}

/* The longest symbol that the text begins with, or NULL. */
static const char *match_symbol(const cursor *c)
{
    static const char *const symbols[] = {"===", "->", "!>", "~>", "!=", "<=", ">=", "==", "=", "<",
                                          ">",   "(",  ")",  "{",  "}",  "[",  "]",  ",",  "."};
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        size_t length = strlen(symbols[i]);
        if ((size_t)(c->end - c->at) >= length && memcmp(c->at, symbols[i], length) == 0) return symbols[i];
    }
    return NULL;
}

static int read_token(const parser *p, cursor *c, token *t)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\r'))
        step(c);
    if (peek(c, 0) == '#')
        while (c->at < c->end && *c->at != '\n')
            step(c);
    *t = (token){.kind = END, .line = c->line, .column = c->column};
    if (c->at == c->end) return SF_OK;
    bool starts_number = isdigit((unsigned char)*c->at) ||
                         (*c->at == '-' && (isdigit((unsigned char)peek(c, 1)) || peek(c, 1) == '.'));
    const char *symbol = match_symbol(c);
    if (*c->at == '\n' || *c->at == ';') {
        t->kind = BREAK;
        step(c);
    } else if (*c->at == '"') {
        t->kind = STRING;
        return read_string(p, c, t);
    } else if (starts_number || isalpha((unsigned char)*c->at) || *c->at == '_') {
        return read_word(p, c, t);
    } else if (symbol != NULL) {
        t->kind = SYMBOL;
        snprintf(t->text, sizeof t->text, "%s", symbol);
        for (size_t i = 0; i < strlen(symbol); i++)
            step(c);
    } else {
        char found[8];
        snprintf(found, sizeof found, isprint((unsigned char)*c->at) ? "'%c'" : "\\x%02x",
                 (unsigned char)*c->at);
        return fail_at(p, t, "found %s, which begins nothing", found);
    }
    return SF_OK;
}

static int read_tokens(parser *p, const char *text, size_t size)
{
    cursor c = {.at = text, .end = text + size, .line = 1, .column = 1};
    do {
        void *tokens = p->tokens;
        if (sf_reserve(&tokens, &p->capacity, p->count + 1, sizeof *p->tokens) != 0)
            return sf_fail_memory(p->error);
        p->tokens = tokens;
        int status = read_token(p, &c, &p->tokens[p->count]);
        if (status != SF_OK) return status;
    } while (p->tokens[p->count++].kind != END);
    return SF_OK;
}

/* ---- small steps ---- */

static const token *current(const parser *p)
{
    return &p->tokens[p->at];
}

static bool is_symbol(const token *t, const char *symbol)
{
    return t->kind == SYMBOL && strcmp(t->text, symbol) == 0;
}

static bool take_symbol(parser *p, const char *symbol)
{
    if (!is_symbol(current(p), symbol)) return false;
    p->at++;
    return true;
}

static int expect_symbol(parser *p, const char *symbol)
{
    if (take_symbol(p, symbol)) return SF_OK;
    char format[64];
    snprintf(format, sizeof format, "found %%s, expected %s", symbol);
    return fail_at(p, current(p), format, shown(current(p)));
}

static int expect_name(parser *p, const token **name, const char *format)
{
    *name = current(p);
    if ((*name)->kind != NAME) return fail_at(p, *name, format, shown(*name));
    p->at++;
    return SF_OK;
}

static int find_vertex(parser *p, const scope *s, const token *name, uint32_t *vertex)
{
    for (size_t i = 0; s->macro != NULL && i < s->macro->parameter_count; i++) {
        if (strcmp(s->macro->parameters[i]->text, name->text) == 0) {
            *vertex = s->vertices[i];
            return SF_OK;
        }
    }
    if (s->macro != NULL) return fail_at(p, name, "'%s' is no parameter of the macro", name->text);
    for (*vertex = 0; *vertex < p->pattern->vertex_count; ++*vertex)
        if (strcmp(p->pattern->vertices[*vertex].name, name->text) == 0) return SF_OK;
    int status = sf_pattern_add_vertex(p->pattern, name->text, SF_ANY_LABEL, p->error);
    return status == SF_DATA
               ? fail_at(p, name, "'%s' is one vertex too many: a pattern has at most 64", name->text)
               : status;
}

static int read_comparison(parser *p, sf_comparison *comparison)
{
    for (int i = 0; i < 6; i++) {
        if (take_symbol(p, sf_comparison_name((sf_comparison)i))) {
            *comparison = (sf_comparison)i;
            return SF_OK;
        }
    }
    if (take_symbol(p, "==")) {
        *comparison = SF_EQUAL;
        return SF_OK;
    }
    return fail_at(p, current(p), "found %s, expected = != < <= > or >=", shown(current(p)));
}

/* ---- conditions ---- */

/* Where a list of terms is kept; the label is apart. */
typedef struct condition {
    sf_term **terms;
    size_t *count;
    uint32_t *label;
} condition;

static int add_number(parser *p, const condition *c, const token *attribute, sf_comparison comparison,
                      double number)
{
    bool is_label = strcmp(attribute->text, SF_LABEL_COLUMN) == 0 && comparison == SF_EQUAL;
    if (!is_label)
        return sf_terms_add(c->terms, c->count, attribute->text, comparison, number, NULL, p->error);
    if (!(number >= 0 && number < SF_ANY_LABEL && number == floor(number)))
        return fail_at(p, attribute, "a '%s' is an integer from 0 on", attribute->text);
    if (*c->label != SF_ANY_LABEL && *c->label != (uint32_t)number)
        return fail_at(p, attribute, "a second '%s' contradicts the first", attribute->text);
    *c->label = (uint32_t)number;
    return SF_OK;
}

/* The right side of a condition: a number, or text in quotes. */
static int add_condition(parser *p, const condition *c, const token *attribute, sf_comparison comparison)
{
    const token *value = current(p);
    double number = 0;
    if (value->kind == STRING && comparison != SF_EQUAL && comparison != SF_NOT_EQUAL)
        return fail_at(p, value, "text such as \"%s\" is compared by = and != only", value->text);
    if (value->kind == STRING) {
        p->at++;
        return sf_terms_add(c->terms, c->count, attribute->text, comparison, 0, value->text, p->error);
    }
    bool is_number = (value->kind == NUMBER || value->kind == TRIAD) && sf_parse_real(value->text, &number);
    if (!is_number)
        return fail_at(p, value, "found %s, expected a number or text in double quotes", shown(value));
    p->at++;
    return add_number(p, c, attribute, comparison, number);
}

static int read_edge_terms(parser *p)
{
    if (!take_symbol(p, "[")) return SF_OK;
    sf_pattern_edge *edge = &p->pattern->edges[p->pattern->edge_count - 1];
    condition c = {&edge->terms, &edge->term_count, &edge->label};
    int status;
    do {
        const token *attribute;
        sf_comparison comparison = SF_EQUAL;
        status = expect_name(p, &attribute, "found %s, expected an attribute of the edge");
        if (status == SF_OK) status = read_comparison(p, &comparison);
        if (status == SF_OK) status = add_condition(p, &c, attribute, comparison);
    } while (status == SF_OK && take_symbol(p, ","));
    return status == SF_OK ? expect_symbol(p, "]") : status;
}

static int read_edge(parser *p, const scope *s, uint32_t from, bool absent)
{
    const token *name;
    uint32_t to;
    int status = expect_name(p, &name, "found %s, expected the vertex that the edge enters");
    if (status == SF_OK) status = find_vertex(p, s, name, &to);
    if (status == SF_OK) status = sf_pattern_add_edge(p->pattern, from, to, SF_ANY_LABEL, absent, p->error);
    return status == SF_OK ? read_edge_terms(p) : status;
}

/* vertex.attribute COMPARISON value | vertex.attribute */
static int read_vertex_condition(parser *p, const scope *s, uint32_t vertex)
{
    const token *attribute, *other, *other_attribute;
    sf_comparison comparison = SF_EQUAL;
    int status = expect_name(p, &attribute, "found %s, expected an attribute of the vertex");
    if (status == SF_OK) status = read_comparison(p, &comparison);
    if (status != SF_OK) return status;
    if (current(p)->kind != NAME) {
        sf_pattern_vertex *v = &p->pattern->vertices[vertex];
        condition c = {&v->terms, &v->term_count, &v->label};
        return add_condition(p, &c, attribute, comparison);
    }
    sf_relation relation = {.left = vertex, .comparison = comparison};
    status = expect_name(p, &other, "%s");
    if (status == SF_OK && !is_symbol(current(p), "."))
        return fail_at(p, other, "found %s, expected a number, text in double quotes, or vertex.attribute",
                       other->text);
    p->at++;
    status = expect_name(p, &other_attribute, "found %s, expected an attribute of the vertex");
    if (status == SF_OK) status = find_vertex(p, s, other, &relation.right);
    if (status != SF_OK) return status;
    if (relation.right == vertex) return fail_at(p, other, "'%s' is compared with itself", other->text);
    relation.left_attribute = (char *)(uintptr_t)attribute->text; /* copied below */
    relation.right_attribute = (char *)(uintptr_t)other_attribute->text;
    return sf_pattern_add_relation(p->pattern, &relation, p->error);
}

static int read_exchange(parser *p, const scope *s, uint32_t left)
{
    const token *name;
    uint32_t right;
    int status = expect_name(p, &name, "found %s, expected a vertex");
    if (status == SF_OK) status = find_vertex(p, s, name, &right);
    if (status == SF_OK && left == right)
        return fail_at(p, name, "'%s' is exchanged with itself", name->text);
    return status == SF_OK ? sf_pattern_add_exchange(p->pattern, left, right, p->error) : status;
}

/* ---- macros and triads ---- */

static int read_statements(parser *p, const scope *s, bool in_body);

static int read_arguments(parser *p, const scope *s, uint32_t *vertices, size_t expected, const token *name)
{
    size_t count = 0;
    int status = expect_symbol(p, "(");
    do {
        const token *argument;
        if (status == SF_OK) status = expect_name(p, &argument, "found %s, expected a vertex");
        if (status == SF_OK && count == expected)
            status = fail_at(p, argument, "'%s' is one vertex too many", argument->text);
        if (status == SF_OK) status = find_vertex(p, s, argument, &vertices[count++]);
    } while (status == SF_OK && take_symbol(p, ","));
    if (status == SF_OK) status = expect_symbol(p, ")");
    if (status == SF_OK && count < expected)
        status = fail_at(p, name, "'%s' takes more vertices than it was given", name->text);
    return status;
}

static int add_triad(parser *p, const token *name, const uint32_t *vertices)
{
    static const uint8_t ends[6][2] = {{0, 1}, {1, 0}, {1, 2}, {2, 1}, {0, 2}, {2, 0}};
    size_t t = 0;
    while (strcmp(sf_triads[t].name, name->text) != 0)
        t++;
    int status = SF_OK;
    for (int e = 0; e < 6 && status == SF_OK; e++)
        status = sf_pattern_add_edge(p->pattern, vertices[ends[e][0]], vertices[ends[e][1]], SF_ANY_LABEL,
                                     (sf_triads[t].edges >> e & 1) == 0, p->error);
    return status;
}

static int read_triad(parser *p, const scope *s)
{
    const token *name = current(p);
    uint32_t vertices[3];
    p->at++;
    if (is_symbol(current(p), "(")) {
        int status = read_arguments(p, s, vertices, 3, name);
        if (status != SF_OK) return status;
        if (vertices[0] == vertices[1] || vertices[1] == vertices[2] || vertices[0] == vertices[2])
            return fail_at(p, name, "'%s' takes three different vertices", name->text);
        return add_triad(p, name, vertices);
    }
    if (p->pattern->vertex_count > 0 || s->macro != NULL)
        return fail_at(p, name, "'%s' without vertices stands alone; here, name three", name->text);
    static const char *const names[] = {"A", "B", "C"};
    int status = SF_OK;
    for (uint32_t v = 0; v < 3 && status == SF_OK; v++) {
        status = sf_pattern_add_vertex(p->pattern, names[v], SF_ANY_LABEL, p->error);
        vertices[v] = v;
    }
    return status == SF_OK ? add_triad(p, name, vertices) : status;
}

static const macro *find_macro(const parser *p, const token *name)
{
    for (size_t i = 0; i < p->macro_count; i++)
        if (strcmp(p->macros[i].name->text, name->text) == 0) return &p->macros[i];
    return NULL;
}

static int call_macro(parser *p, const scope *s, const token *name)
{
    const macro *called = find_macro(p, name);
    if (called == NULL) return fail_at(p, name, "there is no macro '%s' before this", name->text);
    if (s->depth == MOST_DEPTH)
        return fail_at(p, name, "macros call each other more than 16 deep at '%s'", name->text);
    scope inner = {.macro = called, .depth = s->depth + 1};
    int status = read_arguments(p, s, inner.vertices, called->parameter_count, name);
    if (status != SF_OK) return status;
    size_t after = p->at;
    p->at = called->body;
    status = read_statements(p, &inner, true);
    p->at = after;
    return status;
}

static int skip_body(parser *p, const token *name)
{
    for (; !is_symbol(current(p), "}"); p->at++)
        if (current(p)->kind == END || is_symbol(current(p), "{"))
            return fail_at(p, name, "the macro '%s' has no } of its own", name->text);
    p->at++;
    return SF_OK;
}

static bool is_definition(const parser *p)
{
    size_t i = p->at;
    while (p->tokens[i].kind == NAME || is_symbol(&p->tokens[i], ",") || is_symbol(&p->tokens[i], "("))
        i++;
    if (!is_symbol(&p->tokens[i], ")")) return false;
    for (i++; p->tokens[i].kind == BREAK; i++)
        ;
    return is_symbol(&p->tokens[i], "{");
}

static int define_macro(parser *p, const token *name)
{
    if (find_macro(p, name) != NULL) return fail_at(p, name, "a second macro '%s'", name->text);
    if (p->macro_count == MOST_MACROS)
        return fail_at(p, name, "'%s' is one macro too many: 64 at most", name->text);
    macro *m = &p->macros[p->macro_count];
    *m = (macro){.name = name};
    int status = expect_symbol(p, "(");
    do {
        if (status == SF_OK && m->parameter_count == MOST_PARAMETERS)
            status = fail_at(p, current(p), "%s is one parameter too many: 16 at most", shown(current(p)));
        if (status == SF_OK)
            status = expect_name(p, &m->parameters[m->parameter_count++], "found %s, expected a parameter");
    } while (status == SF_OK && take_symbol(p, ","));
    if (status == SF_OK) status = expect_symbol(p, ")");
    while (status == SF_OK && current(p)->kind == BREAK)
        p->at++;
    if (status == SF_OK) status = expect_symbol(p, "{");
    m->body = p->at;
    if (status == SF_OK) status = skip_body(p, name);
    p->macro_count++;
    return status;
}

/* ---- statements ---- */

static int read_after_vertex(parser *p, const scope *s, const token *name)
{
    uint32_t vertex;
    int status = find_vertex(p, s, name, &vertex);
    if (status != SF_OK) return status;
    if (take_symbol(p, "->")) return read_edge(p, s, vertex, false);
    if (take_symbol(p, "!>") || take_symbol(p, "~>")) return read_edge(p, s, vertex, true);
    if (take_symbol(p, ".")) return read_vertex_condition(p, s, vertex);
    if (take_symbol(p, "===")) return read_exchange(p, s, vertex);
    return fail_at(p, current(p), "found %s, expected -> !> ~> === . or ( after the name", shown(current(p)));
}

static int read_statement(parser *p, const scope *s)
{
    const token *name;
    if (p->statements++ == MOST_STATEMENTS)
        return fail_at(p, current(p),
                       "%s begins the 10,001st statement, counting those of macros at each use",
                       shown(current(p)));
    if (current(p)->kind == TRIAD) return read_triad(p, s);
    bool defines =
        s->macro == NULL && current(p)->kind == NAME && is_symbol(current(p) + 1, "(") && is_definition(p);
    int status = expect_name(p, &name, "found %s, expected the name of a vertex, a macro or a triad");
    if (status != SF_OK) return status;
    if (defines) return define_macro(p, name);
    return is_symbol(current(p), "(") ? call_macro(p, s, name) : read_after_vertex(p, s, name);
}

static int read_statements(parser *p, const scope *s, bool in_body)
{
    for (;;) {
        while (current(p)->kind == BREAK)
            p->at++;
        if (in_body ? is_symbol(current(p), "}") : current(p)->kind == END) return SF_OK;
        int status = read_statement(p, s);
        bool ended = current(p)->kind == BREAK || current(p)->kind == END ||
                     (in_body && is_symbol(current(p), "}")) || (p->at > 0 && is_symbol(current(p) - 1, "}"));
        if (status == SF_OK && !ended)
            status = fail_at(p, current(p), "found %s after a statement, expected a new line or ;",
                             shown(current(p)));
        if (status != SF_OK) return status;
    }
}

int sf_motif_parse(sf_pattern *pattern, const char *path, const char *text, size_t size, sf_error *error)
{
    *pattern = (sf_pattern){.directed = true};
    parser p = {.pattern = pattern, .path = path, .error = error};
    scope outside = {0};
    int status = read_tokens(&p, text, size);
    if (status == SF_OK) status = read_statements(&p, &outside, false);
    if (status == SF_OK && pattern->vertex_count == 0)
        status = fail_at(&p, current(&p), "there is no vertex before %s", shown(current(&p)));
    sf_free(p.tokens);
    if (status != SF_OK) sf_pattern_free(pattern);
    return status;
}
