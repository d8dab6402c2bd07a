/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/plan_file.h"

#include "core/error.h"
#include "core/file.h"
#include "core/memory.h"
#include "live/config.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

/* Names are looked up one by one, which is quick for what a person writes. */
#define MOST_BYTES 65536

/* A tree of the model: the names of its levels, and the parameters that the elements of a level have. */
typedef struct tree {
    uint32_t number;
    uint32_t depth;
    int levels, parameters; /* nodes, or 0 */
} tree;

typedef struct reader {
    yaml_document_t document;
    const char *name;
    sf_plan_algorithm *algorithm;
    tree *trees;
    size_t tree_count;
    int *nodes;        /* of each step, where it is described */
    uint32_t *callers; /* by step: the loop that calls it; SF_PLAN_NONE: the composition, or nothing yet */
    bool *called;
    sf_error *error;
} reader;

/* ---- nodes ---- */

static const yaml_node_t *at(reader *from, int node)
{
    return from->document.nodes.start + node - 1;
}

__attribute__((format(printf, 3, 4))) static int refuse(reader *from, int node, const char *format, ...)
{
    char sentence[sizeof from->error->text], place[sizeof from->error->place];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    yaml_mark_t mark = at(from, node)->start_mark;
    size_t length = strlen(from->name);
    bool is_long = length > 180; /* a long path keeps its end */
    snprintf(place, sizeof place, "%s%s:%zu:%zu", is_long ? "..." : "",
             is_long ? from->name + length - 180 : from->name, mark.line + 1, mark.column + 1);
    return sf_fail(from->error, SF_DATA, place, "%s", sentence);
}

static const char *word(reader *from, int node)
{
    const yaml_node_t *scalar = at(from, node);
    return scalar->type == YAML_SCALAR_NODE ? (const char *)scalar->data.scalar.value : "";
}

static int expect_word(reader *from, int node, const char *what)
{
    return word(from, node)[0] != '\0' ? SF_OK : refuse(from, node, "%s is expected here", what);
}

static int find(reader *from, int mapping, const char *key)
{
    const yaml_node_t *node = at(from, mapping);
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++)
        if (strcmp(word(from, pair->key), key) == 0) return pair->value;
    return 0;
}

/* Expects a mapping whose keys are all in the list, which ends with NULL; keys that begin with + are
 * required. */
static int expect_mapping(reader *from, int node, const char *what, const char *const *keys)
{
    const yaml_node_t *mapping = at(from, node);
    if (mapping->type != YAML_MAPPING_NODE)
        return refuse(from, node, "%s is a mapping of keys to values", what);
    for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top;
         pair++) {
        const char *key = word(from, pair->key);
        if (find(from, node, key) != pair->value)
            return refuse(from, pair->key, "%.60s stands here twice", key);
        size_t i = 0;
        while (keys != NULL && keys[i] != NULL && strcmp(keys[i] + (keys[i][0] == '+'), key) != 0)
            i++;
        if (keys != NULL && keys[i] == NULL)
            return refuse(from, pair->key, "%s has no key '%.60s'", what, key);
    }
    for (size_t i = 0; keys != NULL && keys[i] != NULL; i++)
        if (keys[i][0] == '+' && find(from, node, keys[i] + 1) == 0)
            return refuse(from, node, "%s needs the key '%s'", what, keys[i] + 1);
    return SF_OK;
}

static int expect_list(reader *from, int node, const char *what)
{
    return at(from, node)->type == YAML_SEQUENCE_NODE ? SF_OK : refuse(from, node, "%s is a list", what);
}

static size_t list_count(reader *from, int node)
{
    const yaml_node_t *list = at(from, node);
    return node == 0 ? 0 : (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
}

static int item(reader *from, int node, size_t i)
{
    return at(from, node)->data.sequence.items.start[i];
}

static char *copy_of(reader *from, int node, int *status)
{
    char *copy = sf_copy_string(word(from, node));
    if (copy == NULL) *status = sf_fail_memory(from->error);
    return copy;
}

/* ---- the model ---- */

static int read_tree(reader *from, int node, tree *into)
{
    static const char *const keys[] = {"+tree", "holds", "levels", "parameters", NULL};
    int status = expect_mapping(from, node, "a tree of the model", keys);
    if (status != SF_OK) return status;
    uint64_t number;
    int number_node = find(from, node, "tree");
    if (!sf_parse_uint(word(from, number_node), SF_PLAN_NONE - 1, &number))
        return refuse(from, number_node, "the number of a tree is expected, as 0");
    *into = (tree){.number = (uint32_t)number,
                   .levels = find(from, node, "levels"),
                   .parameters = find(from, node, "parameters")};
    if (into->levels != 0) status = expect_list(from, into->levels, "levels");
    if (status == SF_OK && into->parameters != 0) status = expect_list(from, into->parameters, "parameters");
    if (status != SF_OK) return status;
    into->depth = (uint32_t)list_count(from, into->levels);
    if (into->depth > SF_PLAN_LEVELS)
        return refuse(from, into->levels, "a tree has at most %d levels below its root", SF_PLAN_LEVELS);
    for (size_t i = 0; i < from->tree_count; i++)
        if (from->trees[i].number == into->number)
            return refuse(from, number_node, "tree %u stands here twice", into->number);
    from->tree_count++;
    return SF_OK;
}

static int read_model(reader *from, int node)
{
    int status = expect_list(from, node, "model");
    if (status != SF_OK) return status;
    from->trees = sf_alloc(list_count(from, node), sizeof *from->trees);
    if (from->trees == NULL) return sf_fail_memory(from->error);
    for (size_t i = 0; i < list_count(from, node) && status == SF_OK; i++)
        status = read_tree(from, item(from, node, i), &from->trees[i]);
    return status;
}

/* Whether elements at this depth have the parameter: "n" belongs to the root, "value.mi" to the level
 * `value`. */
static bool has_parameter(reader *from, const tree *of, uint32_t depth, const char *parameter)
{
    const char *level = depth > 0 ? word(from, item(from, of->levels, depth - 1)) : "";
    size_t length = strlen(level);
    for (size_t i = 0; i < list_count(from, of->parameters); i++) {
        const char *known = word(from, item(from, of->parameters, i));
        if (depth == 0 ? strcmp(known, parameter) == 0
                       : strncmp(known, level, length) == 0 && known[length] == '.' &&
                             strcmp(known + length + 1, parameter) == 0)
            return true;
    }
    return false;
}

static int check_element(reader *from, int node, const sf_plan_element *element)
{
    const tree *of = NULL;
    for (size_t i = 0; i < from->tree_count; i++)
        if (from->trees[i].number == element->tree) of = &from->trees[i];
    if (of == NULL)
        return refuse(from, node, "%.60s: the model has no tree %u", word(from, node), element->tree);
    if (element->depth > of->depth)
        return refuse(from, node, "%.60s has %u indices below its tree, which has %u levels",
                      word(from, node), element->depth, of->depth);
    if (element->parameter != SF_PLAN_NONE) {
        const char *parameter = from->algorithm->parameters.items[element->parameter];
        if (!has_parameter(from, of, element->depth, parameter))
            return refuse(from, node, "%.60s: elements of this level have no parameter %.60s",
                          word(from, node), parameter);
    }
    return SF_OK;
}

/* ---- functions ---- */

static int read_element(reader *from, int node, sf_plan_element *element)
{
    size_t place;
    const char *expected =
        sf_plan_element_read(element, word(from, node), &from->algorithm->trees, &from->algorithm->variables,
                             &from->algorithm->parameters, &place);
    if (expected == sf_plan_no_memory) return sf_fail_memory(from->error);
    if (expected != NULL)
        return refuse(from, node, "'%.60s', character %zu: %s", word(from, node), place + 1, expected);
    return check_element(from, node, element);
}

static int read_operation(reader *from, int node, const sf_plan_element *element, sf_plan_accesses *into)
{
    sf_plan_access access = {*element, sf_plan_operation_find(word(from, node))};
    if (access.operation != SF_PLAN_OPERATIONS) return sf_plan_accesses_add(into, &access, from->error);
    sf_text known = {0};
    for (int i = 0; i < SF_PLAN_OPERATIONS; i++)
        sf_text_printf(&known, "%s%s", i > 0 ? ", " : "", sf_plan_operation_name((sf_plan_operation)i));
    int status = refuse(from, node, "an operation is expected, one of %s; found '%.60s'",
                        known.data != NULL ? known.data : "", word(from, node));
    sf_text_free(&known);
    return status;
}

/* in or out: a mapping of elements to an operation, or to a list of them. */
static int read_accesses(reader *from, int node, sf_plan_accesses *into)
{
    int status = node != 0 ? expect_mapping(from, node, "what a function does", NULL) : SF_OK;
    if (node == 0 || status != SF_OK) return status;
    const yaml_node_t *mapping = at(from, node);
    for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top && status == SF_OK; pair++) {
        sf_plan_element element;
        status = read_element(from, pair->key, &element);
        bool many = at(from, pair->value)->type == YAML_SEQUENCE_NODE;
        size_t count = many ? list_count(from, pair->value) : 1;
        if (status == SF_OK && count == 0)
            status = refuse(from, pair->value, "%.60s needs an operation", word(from, pair->key));
        for (size_t i = 0; i < count && status == SF_OK; i++)
            status = read_operation(from, many ? item(from, pair->value, i) : pair->value, &element, into);
    }
    return status;
}

static sf_plan_step *new_step(reader *from, int key, int node, int *status)
{
    sf_plan_algorithm *algorithm = from->algorithm;
    for (size_t i = 0; i < algorithm->step_count && *status == SF_OK; i++)
        if (strcmp(algorithm->steps[i].name, word(from, key)) == 0)
            *status = refuse(from, key, "%.60s is described twice", word(from, key));
    if (*status == SF_OK) *status = expect_word(from, key, "the name of a function");
    if (*status != SF_OK) return NULL;
    char *name = copy_of(from, key, status);
    if (name == NULL) return NULL;
    sf_plan_step *step = &algorithm->steps[algorithm->step_count]; /* there is room for all */
    *step = (sf_plan_step){.name = name};
    from->nodes[algorithm->step_count++] = node;
    return step;
}

static int read_function(reader *from, int key, int node)
{
    static const char *const keys[] = {"does", "in", "out", "chooses", NULL};
    int status = expect_mapping(from, node, "a function", keys);
    sf_plan_step *step = status == SF_OK ? new_step(from, key, node, &status) : NULL;
    if (status == SF_OK) status = read_accesses(from, find(from, node, "in"), &step->in);
    if (status == SF_OK) status = read_accesses(from, find(from, node, "out"), &step->out);
    int chooses = find(from, node, "chooses");
    if (status == SF_OK && chooses != 0) status = expect_list(from, chooses, "chooses");
    return status;
}

/* ---- loops ---- */

static int read_variable(reader *from, int node, uint32_t *variable)
{
    int status = expect_word(from, node, "the name of a variable");
    if (status != SF_OK) return status;
    *variable = sf_plan_name(&from->algorithm->variables, word(from, node), strlen(word(from, node)));
    return *variable != SF_PLAN_NONE ? SF_OK : sf_fail_memory(from->error);
}

/* A loop over elements reads them: m[0,k,*] for one from [0,k,1]. */
static int read_range(reader *from, int node, sf_plan_step *step)
{
    sf_text text = {0};
    sf_text_printf(&text, "m%s", word(from, node));
    sf_plan_access access = {.operation = SF_PLAN_EXTRACT};
    size_t place;
    const char *expected =
        text.failed ? sf_plan_no_memory
                    : sf_plan_element_read(&access.element, text.data, &from->algorithm->trees,
                                           &from->algorithm->variables, &from->algorithm->parameters, &place);
    sf_text_free(&text);
    if (expected == sf_plan_no_memory) return sf_fail_memory(from->error);
    sf_plan_element *element = &access.element;
    if (expected != NULL || element->depth == 0 || element->parameter != SF_PLAN_NONE)
        return refuse(from, node, "a loop over elements begins at one, as \"[0,1]\": found '%.60s'",
                      word(from, node));
    sf_plan_index *last = &element->at[element->depth - 1];
    step->first = last->kind == SF_PLAN_NUMBER ? last->number : 0;
    *last = (sf_plan_index){.kind = SF_PLAN_ANY};
    int status = check_element(from, node, element);
    return status == SF_OK ? sf_plan_accesses_add(&step->in, &access, from->error) : status;
}

static int read_loop(reader *from, int key, int node)
{
    static const char *const keys[] = {"does", "+over", "+variable", "+from", "+to", "+do", NULL};
    int status = expect_mapping(from, node, "a loop", keys);
    sf_plan_step *step = status == SF_OK ? new_step(from, key, node, &status) : NULL;
    if (status != SF_OK) return status;
    int over = find(from, node, "over");
    bool data = strcmp(word(from, over), "data") == 0;
    if (!data && strcmp(word(from, over), "elements") != 0)
        return refuse(from, over, "a loop is over data or over elements, found '%.60s'", word(from, over));
    step->kind = data ? SF_PLAN_LOOP_DATA : SF_PLAN_LOOP_ELEMENTS;
    step->from = copy_of(from, find(from, node, "from"), &status);
    if (status == SF_OK) step->to = copy_of(from, find(from, node, "to"), &status);
    if (status == SF_OK) status = read_variable(from, find(from, node, "variable"), &step->variable);
    if (status == SF_OK && !data) status = read_range(from, find(from, node, "from"), step);
    return status;
}

static int read_steps(reader *from, int functions, int loops)
{
    int status = expect_mapping(from, functions, "functions", NULL);
    if (status == SF_OK && loops != 0) status = expect_mapping(from, loops, "loops", NULL);
    for (int pass = 0; pass < 2 && status == SF_OK; pass++) {
        if (pass == 1 && loops == 0) break;
        const yaml_node_t *mapping = at(from, pass == 0 ? functions : loops);
        for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
             pair < mapping->data.mapping.pairs.top && status == SF_OK; pair++)
            status = (pass == 0 ? read_function : read_loop)(from, pair->key, pair->value);
    }
    return status;
}

static size_t pair_count(reader *from, int node)
{
    const yaml_node_t *mapping = at(from, node);
    return node == 0 || mapping->type != YAML_MAPPING_NODE
               ? 0
               : (size_t)(mapping->data.mapping.pairs.top - mapping->data.mapping.pairs.start);
}

/* ---- who calls whom ---- */

/* The steps that a list names, in order; `caller` is the loop, or SF_PLAN_NONE. */
static int read_calls(reader *from, int node, uint32_t caller, uint32_t **steps, size_t *count)
{
    int status = expect_list(from, node, "what is done");
    if (status != SF_OK) return status;
    if (list_count(from, node) == 0)
        return refuse(from, node,
                      "the names of functions and loops are expected, in the order in which they run");
    *steps = sf_alloc(list_count(from, node), sizeof **steps);
    if (*steps == NULL) return sf_fail_memory(from->error);
    for (*count = 0; *count < list_count(from, node); (*count)++) {
        int name = item(from, node, *count);
        uint32_t step = 0;
        while (step < from->algorithm->step_count &&
               strcmp(from->algorithm->steps[step].name, word(from, name)) != 0)
            step++;
        if (step == from->algorithm->step_count)
            return refuse(from, name, "there is no function or loop '%.60s'", word(from, name));
        if (from->called[step])
            return refuse(from, name, "%.60s is called twice: give the second call a name of its own",
                          word(from, name));
        from->called[step] = true;
        from->callers[step] = caller;
        (*steps)[*count] = step;
    }
    return SF_OK;
}

static int check_callers(reader *from)
{
    const sf_plan_algorithm *algorithm = from->algorithm;
    for (uint32_t i = 0; i < algorithm->step_count; i++) {
        uint32_t top = i;
        for (size_t hops = 0; top != SF_PLAN_NONE && from->called[top]; hops++) {
            if (hops > algorithm->step_count)
                return refuse(from, from->nodes[i], "%.60s calls itself, by way of what it does",
                              algorithm->steps[top].name);
            top = from->callers[top];
        }
        if (top != SF_PLAN_NONE)
            return refuse(from, from->nodes[top], "%.60s is called by nobody", algorithm->steps[top].name);
    }
    return SF_OK;
}

static int read_compositions(reader *from, int composition)
{
    sf_plan_algorithm *algorithm = from->algorithm;
    int status =
        read_calls(from, composition, SF_PLAN_NONE, &algorithm->composition, &algorithm->composition_count);
    for (uint32_t i = 0; i < algorithm->step_count && status == SF_OK; i++) {
        sf_plan_step *step = &algorithm->steps[i];
        if (step->kind != SF_PLAN_FUNCTION)
            status = read_calls(from, find(from, from->nodes[i], "do"), i, &step->body, &step->body_count);
    }
    return status == SF_OK ? check_callers(from) : status;
}

/* ---- variables ---- */

static bool is_chosen(reader *from, uint32_t step, const char *variable)
{
    int chooses =
        from->algorithm->steps[step].kind == SF_PLAN_FUNCTION ? find(from, from->nodes[step], "chooses") : 0;
    for (size_t i = 0; i < list_count(from, chooses); i++)
        if (strcmp(word(from, item(from, chooses, i)), variable) == 0) return true;
    return false;
}

/* The loop around a step that has this variable, or SF_PLAN_NONE. */
static uint32_t loop_over(reader *from, uint32_t step, uint32_t variable)
{
    uint32_t loop = from->callers[step];
    while (loop != SF_PLAN_NONE && from->algorithm->steps[loop].variable != variable)
        loop = from->callers[loop];
    return loop;
}

static bool is_known(reader *from, uint32_t step, uint32_t variable)
{
    const sf_plan_algorithm *algorithm = from->algorithm;
    if (variable < algorithm->constant_count || is_chosen(from, step, algorithm->variables.items[variable]))
        return true;
    return loop_over(from, step, variable) != SF_PLAN_NONE;
}

/* A variable has one meaning at one place: that of one loop, of the data, or of the whole. */
static int check_meaning(reader *from, uint32_t number)
{
    const sf_plan_step *step = &from->algorithm->steps[number];
    const sf_plan_names *variables = &from->algorithm->variables;
    bool loop = step->kind != SF_PLAN_FUNCTION;
    if (loop && step->variable < from->algorithm->constant_count)
        return refuse(from, from->nodes[number], "%.60s: its variable %.60s is a constant", step->name,
                      variables->items[step->variable]);
    for (uint32_t v = 0; v < variables->count; v++) {
        uint32_t around = loop_over(from, number, v);
        if (around == SF_PLAN_NONE) continue;
        if (loop && step->variable == v)
            return refuse(from, from->nodes[number], "%.60s: its variable %.60s is that of %.60s around it",
                          step->name, variables->items[v], from->algorithm->steps[around].name);
        if (!loop && is_chosen(from, number, variables->items[v]))
            return refuse(from, from->nodes[number],
                          "%.60s: what the data choose, %.60s, is the variable of %.60s around it",
                          step->name, variables->items[v], from->algorithm->steps[around].name);
    }
    return SF_OK;
}

static int check_variables(reader *from, uint32_t step, const sf_plan_accesses *accesses)
{
    for (size_t i = 0; i < accesses->count; i++)
        for (uint32_t level = 0; level < accesses->items[i].element.depth; level++) {
            const sf_plan_index *index = &accesses->items[i].element.at[level];
            if (index->kind == SF_PLAN_VARIABLE && !is_known(from, step, index->number))
                return refuse(
                    from, from->nodes[step],
                    "%.60s: the index %.60s is the variable of no loop around it, no constant, and not "
                    "among what it chooses by the data",
                    from->algorithm->steps[step].name, from->algorithm->variables.items[index->number]);
        }
    return SF_OK;
}

static int read_constants(reader *from, int node)
{
    int status = node != 0 ? expect_list(from, node, "constants") : SF_OK;
    sf_plan_algorithm *algorithm = from->algorithm;
    for (size_t i = 0; i < list_count(from, node) && status == SF_OK; i++) {
        uint32_t variable;
        status = read_variable(from, item(from, node, i), &variable);
    }
    algorithm->constant_count = algorithm->variables.count; /* they are named first */
    return status;
}

/* ---- the file ---- */

static int read_document(reader *from)
{
    static const char *const keys[] = {"+algorithm", "constants",    "+model", "+functions",
                                       "loops",      "+composition", NULL};
    sf_plan_algorithm *algorithm = from->algorithm;
    if (from->document.nodes.top == from->document.nodes.start)
        return sf_fail(from->error, SF_DATA, from->name,
                       "is empty; configs/plans/1r.yaml shows what is expected");
    int status = expect_mapping(from, 1, "an algorithm", keys);
    if (status != SF_OK) return status;
    int functions = find(from, 1, "functions"), loops = find(from, 1, "loops");
    size_t most = pair_count(from, functions) + pair_count(from, loops);
    algorithm->steps = sf_alloc(most, sizeof *algorithm->steps);
    from->nodes = sf_alloc(most, sizeof *from->nodes);
    from->callers = sf_alloc(most, sizeof *from->callers);
    from->called = sf_alloc(most, sizeof *from->called);
    if (algorithm->steps == NULL || from->nodes == NULL || from->callers == NULL || from->called == NULL)
        return sf_fail_memory(from->error);
    status = expect_word(from, find(from, 1, "algorithm"), "the name of the algorithm");
    if (status == SF_OK) algorithm->name = copy_of(from, find(from, 1, "algorithm"), &status);
    if (status == SF_OK) status = read_constants(from, find(from, 1, "constants"));
    if (status == SF_OK) status = read_model(from, find(from, 1, "model"));
    if (status == SF_OK) status = read_steps(from, functions, loops);
    if (status == SF_OK) status = read_compositions(from, find(from, 1, "composition"));
    for (uint32_t i = 0; i < algorithm->step_count && status == SF_OK; i++) {
        status = check_meaning(from, i);
        if (status == SF_OK) status = check_variables(from, i, &algorithm->steps[i].in);
        if (status == SF_OK) status = check_variables(from, i, &algorithm->steps[i].out);
    }
    return status;
}

static int load_document(reader *from, const char *yaml, size_t length)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) return sf_fail_memory(from->error);
    yaml_parser_set_input_string(&parser, (const unsigned char *)yaml, length);
    int status = SF_OK;
    if (!yaml_parser_load(&parser, &from->document)) {
        char place[sizeof from->error->place];
        snprintf(place, sizeof place, "%.180s:%zu:%zu", from->name, parser.problem_mark.line + 1,
                 parser.problem_mark.column + 1);
        status = parser.error == YAML_MEMORY_ERROR
                     ? sf_fail_memory(from->error)
                     : sf_fail(from->error, SF_DATA, place, "no YAML: %s", parser.problem);
        from->document = (yaml_document_t){0};
    }
    yaml_parser_delete(&parser);
    return status;
}

int sf_plan_parse(sf_plan_algorithm *algorithm, const char *yaml, size_t length, const char *name,
                  sf_error *error)
{
    *algorithm = (sf_plan_algorithm){0};
    sf_error own;
    reader from = {.name = name, .algorithm = algorithm, .error = error != NULL ? error : &own};
    int status = load_document(&from, yaml, length);
    if (status == SF_OK) {
        status = read_document(&from);
        yaml_document_delete(&from.document);
    }
    sf_free(from.trees);
    sf_free(from.nodes);
    sf_free(from.callers);
    sf_free(from.called);
    if (status != SF_OK) sf_plan_algorithm_free(algorithm);
    return status;
}

int sf_plan_read(sf_plan_algorithm *algorithm, const char *path, sf_error *error)
{
    sf_text yaml = {0};
    *algorithm = (sf_plan_algorithm){0};
    char room[SF_PLACE_SIZE];
    path = sf_config_find(room, path);
    int status = sf_file_read(&yaml, path, error);
    if (status == SF_OK && yaml.length > MOST_BYTES)
        status =
            sf_fail(error, SF_DATA, path, "has %zu bytes: the description of an algorithm has at most %d",
                    yaml.length, MOST_BYTES);
    if (status == SF_OK)
        status = sf_plan_parse(algorithm, yaml.data != NULL ? yaml.data : "", yaml.length, path, error);
    sf_text_free(&yaml);
    return status;
}
