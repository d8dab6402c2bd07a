/* SPDX-License-Identifier: Apache-2.0 */
/* An algorithm from a table in C: what its functions are declared to do beside the code that does it. */
#include "plan/executor.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

typedef struct declaring {
    sf_plan_algorithm *algorithm;
    const char *name; /* what is read now */
    sf_error *error;
} declaring;

static int refuse(const declaring *from, const char *text, const char *expected)
{
    if (expected == sf_plan_no_memory) return sf_fail_memory(from->error);
    return sf_fail(from->error, SF_INTERNAL, from->algorithm->name, "%s: '%s': %s", from->name, text,
                   expected);
}

/* The next word of a text, a copy; NULL at its end or without memory, which *status tells. */
static char *next_word(const declaring *from, const char **text, int *status)
{
    *text += strspn(*text, " ;");
    size_t length = strcspn(*text, " ;");
    char *word = length > 0 ? sf_alloc(length + 1, 1) : NULL;
    if (word != NULL)
        memcpy(word, *text, length);
    else if (length > 0)
        *status = sf_fail_memory(from->error);
    *text += length;
    return word;
}

static int read_element(const declaring *from, sf_plan_element *element, const char *text)
{
    size_t at;
    const char *expected =
        sf_plan_element_read(element, text, &from->algorithm->trees, &from->algorithm->variables,
                             &from->algorithm->parameters, &at);
    return expected != NULL ? refuse(from, text, expected) : SF_OK;
}

static int read_access(const declaring *from, sf_plan_accesses *into, const char *element,
                       const char *operation)
{
    sf_plan_access access;
    int status = read_element(from, &access.element, element);
    if (status != SF_OK) return status;
    access.operation = sf_plan_operation_find(operation != NULL ? operation : "");
    if (access.operation == SF_PLAN_OPERATIONS)
        return refuse(from, element, "an operation is expected after it");
    return sf_plan_accesses_add(into, &access, from->error);
}

static int read_accesses(const declaring *from, sf_plan_accesses *into, const char *text)
{
    int status = SF_OK;
    while (text != NULL && status == SF_OK) {
        char *element = next_word(from, &text, &status);
        if (element == NULL) break;
        char *operation = next_word(from, &text, &status);
        if (status == SF_OK) status = read_access(from, into, element, operation);
        sf_free(element);
        sf_free(operation);
    }
    return status;
}

static int read_loop(const declaring *from, sf_plan_step *step, const sf_plan_declared *of)
{
    step->kind = of->over_data ? SF_PLAN_LOOP_DATA : SF_PLAN_LOOP_ELEMENTS;
    step->variable = sf_plan_name(&from->algorithm->variables, of->variable, strlen(of->variable));
    step->from = sf_copy_string(of->from);
    step->to = sf_copy_string(of->to);
    if (step->variable == SF_PLAN_NONE || step->from == NULL || step->to == NULL)
        return sf_fail_memory(from->error);
    if (of->over_data) return SF_OK;
    sf_text text = {0};
    sf_plan_access access = {.operation = SF_PLAN_EXTRACT};
    sf_text_printf(&text, "%s%s", of->from[0] == '[' ? "m" : "", of->from);
    int status = text.failed ? sf_fail_memory(from->error) : read_element(from, &access.element, text.data);
    sf_text_free(&text);
    if (status == SF_OK && access.element.depth == 0)
        status = refuse(from, of->from, "a loop over elements begins at one below a tree");
    if (status != SF_OK) return status;
    sf_plan_index *last = &access.element.at[access.element.depth - 1];
    step->first = last->kind == SF_PLAN_NUMBER ? last->number : 0;
    *last = (sf_plan_index){.kind = SF_PLAN_ANY};
    return sf_plan_accesses_add(&step->in, &access, from->error);
}

static int read_step(declaring *from, const sf_plan_declared *of)
{
    sf_plan_step *step = &from->algorithm->steps[from->algorithm->step_count++];
    from->name = of->name;
    step->name = sf_copy_string(of->name);
    if (step->name == NULL) return sf_fail_memory(from->error);
    int status = of->variable != NULL ? read_loop(from, step, of) : SF_OK;
    if (status == SF_OK) status = read_accesses(from, &step->in, of->in);
    return status == SF_OK ? read_accesses(from, &step->out, of->out) : status;
}

/* The numbers of the steps that a text names. */
static int read_calls(const declaring *from, const char *text, uint32_t **steps, size_t *count)
{
    const sf_plan_algorithm *algorithm = from->algorithm;
    int status = SF_OK;
    *steps = sf_alloc(algorithm->step_count, sizeof **steps);
    if (*steps == NULL) return sf_fail_memory(from->error);
    for (char *word; (word = next_word(from, &text, &status)) != NULL; sf_free(word)) {
        uint32_t step = 0;
        while (step < algorithm->step_count && strcmp(algorithm->steps[step].name, word) != 0)
            step++;
        if (step < algorithm->step_count && *count < algorithm->step_count)
            (*steps)[(*count)++] = step;
        else
            status = refuse(from, word, "there is no such step");
    }
    return status;
}

static int read_names(const declaring *from, sf_plan_names *names, const char *text)
{
    int status = SF_OK;
    for (char *word; text != NULL && (word = next_word(from, &text, &status)) != NULL; sf_free(word))
        if (sf_plan_name(names, word, strlen(word)) == SF_PLAN_NONE) status = sf_fail_memory(from->error);
    return status;
}

static int read_table(declaring *from, const sf_plan_declared *table, const char *composition)
{
    sf_plan_algorithm *algorithm = from->algorithm;
    int status = SF_OK;
    for (size_t i = 0; table[i].name != NULL && status == SF_OK; i++)
        status = read_step(from, &table[i]);
    for (size_t i = 0; i < algorithm->step_count && status == SF_OK; i++)
        if (table[i].variable != NULL)
            status =
                read_calls(from, table[i].body, &algorithm->steps[i].body, &algorithm->steps[i].body_count);
    return status == SF_OK
               ? read_calls(from, composition, &algorithm->composition, &algorithm->composition_count)
               : status;
}

int sf_plan_declare(sf_plan_algorithm *algorithm, const sf_plan_declaration *declared, sf_error *error)
{
    *algorithm = (sf_plan_algorithm){0};
    declaring from = {algorithm, declared->name, error};
    size_t count = 0;
    while (declared->functions[count].name != NULL)
        count++;
    algorithm->name = sf_copy_string(declared->name);
    algorithm->steps = sf_alloc(count, sizeof *algorithm->steps);
    int status = algorithm->name == NULL || algorithm->steps == NULL ? sf_fail_memory(error) : SF_OK;
    if (status == SF_OK) status = read_names(&from, &algorithm->trees, declared->trees);
    if (status == SF_OK) status = read_names(&from, &algorithm->variables, declared->constants);
    algorithm->constant_count = algorithm->variables.count;
    if (status == SF_OK) status = read_table(&from, declared->functions, declared->composition);
    if (status != SF_OK) sf_plan_algorithm_free(algorithm);
    return status;
}
