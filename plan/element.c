/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/element.h"

#include "core/memory.h"

#include <ctype.h>
#include <string.h>

uint32_t sf_plan_name(sf_plan_names *names, const char *text, size_t length)
{
    for (size_t i = 0; i < names->count; i++)
        if (strlen(names->items[i]) == length && memcmp(names->items[i], text, length) == 0)
            return (uint32_t)i;
    if (sf_reserve(&names->items, &names->capacity, names->count + 1, sizeof *names->items) != 0)
        return SF_PLAN_NONE;
    char *copy = sf_alloc(length + 1, 1);
    if (copy == NULL) return SF_PLAN_NONE;
    memcpy(copy, text, length);
    names->items[names->count] = copy;
    return (uint32_t)names->count++;
}

void sf_plan_names_free(sf_plan_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        sf_free(names->items[i]);
    sf_free(names->items);
    *names = (sf_plan_names){0};
}

/* ---- reading ---- */

const char sf_plan_no_memory[] = "memory is out";

static size_t word_length(const char *text)
{
    size_t length = 0;
    if (isalpha((unsigned char)text[0]) || text[0] == '_')
        while (isalnum((unsigned char)text[length]) || text[length] == '_')
            length++;
    return length;
}

static bool read_number(const char **text, uint32_t *number)
{
    if (!isdigit((unsigned char)**text)) return false;
    uint64_t value = 0;
    for (; isdigit((unsigned char)**text); (*text)++) {
        value = value * 10 + (uint64_t)(**text - '0');
        if (value >= SF_PLAN_NONE) return false;
    }
    *number = (uint32_t)value;
    return true;
}

static const char *read_index(sf_plan_index *index, const char **text, sf_plan_names *variables)
{
    static const char expected[] = "an index is a number, a variable such as k or k', or * for all";
    *index = (sf_plan_index){0};
    if (**text == '*') {
        index->kind = SF_PLAN_ANY;
        (*text)++;
        return NULL;
    }
    if (isdigit((unsigned char)**text)) return read_number(text, &index->number) ? NULL : expected;
    size_t length = word_length(*text);
    if (length == 0) return expected;
    index->kind = SF_PLAN_VARIABLE;
    index->number = sf_plan_name(variables, *text, length);
    *text += length;
    if (**text == '\'') {
        index->primed = true;
        (*text)++;
    }
    return index->number != SF_PLAN_NONE ? NULL : sf_plan_no_memory;
}

/* "counts" of "counts[k]", or "m[3" of "m[3,k]"; *separator is what comes before the first index. */
static const char *read_tree(uint32_t *tree, const char **text, const sf_plan_names *trees, char *separator)
{
    size_t length = word_length(*text);
    *separator = '[';
    for (*tree = 0; *tree < trees->count; ++*tree)
        if (strlen(trees->items[*tree]) == length && memcmp(trees->items[*tree], *text, length) == 0) {
            *text += length;
            return NULL;
        }
    if (strncmp(*text, "m[", 2) != 0)
        return trees->count > 0 ? "an element begins with the name of its tree"
                                : "an element begins with m[ and the number of its tree, as m[2] or m[3,k].n";
    *text += 2;
    *separator = ',';
    return read_number(text, tree) ? NULL : "the number of a tree is expected after m[";
}

const char *sf_plan_element_read(sf_plan_element *element, const char *text, const sf_plan_names *trees,
                                 sf_plan_names *variables, sf_plan_names *parameters, size_t *at)
{
    const char *rest = text;
    char separator;
    *element = (sf_plan_element){.parameter = SF_PLAN_NONE};
    const char *expected = read_tree(&element->tree, &rest, trees, &separator);
    bool closes = separator == ',' || *rest == '[';
    for (; expected == NULL && *rest == separator; separator = ',') {
        rest++;
        if (element->depth == SF_PLAN_LEVELS)
            expected = "an element has at most 8 indices below its tree";
        else
            expected = read_index(&element->at[element->depth++], &rest, variables);
    }
    if (expected == NULL && closes && *rest++ != ']') {
        rest--;
        expected = "a comma or ] is expected";
    }
    if (expected == NULL && *rest == '.') {
        rest++;
        size_t length = word_length(rest);
        if (length == 0)
            expected = "the name of a parameter is expected after the dot";
        else if ((element->parameter = sf_plan_name(parameters, rest, length)) == SF_PLAN_NONE)
            expected = sf_plan_no_memory;
        rest += length;
    }
    if (expected == NULL && *rest != '\0') expected = "nothing may follow an element but .PARAMETER";
    *at = (size_t)(rest - text);
    return expected;
}

void sf_plan_element_write(sf_text *text, const sf_plan_element *element, const sf_plan_names *trees,
                           const sf_plan_names *variables, const sf_plan_names *parameters)
{
    bool named = element->tree < trees->count;
    if (named)
        sf_text_printf(text, "%s", trees->items[element->tree]);
    else
        sf_text_printf(text, "m[%u", element->tree);
    for (uint32_t level = 0; level < element->depth; level++) {
        const sf_plan_index *index = &element->at[level];
        sf_text_printf(text, named && level == 0 ? "[" : ",");
        if (index->kind == SF_PLAN_NUMBER)
            sf_text_printf(text, "%u", index->number);
        else if (index->kind == SF_PLAN_ANY)
            sf_text_printf(text, "*");
        else
            sf_text_printf(text, "%s%s", variables->items[index->number], index->primed ? "'" : "");
    }
    if (!named || element->depth > 0) sf_text_printf(text, "]");
    if (element->parameter != SF_PLAN_NONE)
        sf_text_printf(text, ".%s", parameters->items[element->parameter]);
}

/* ---- comparing ---- */

bool sf_plan_element_same(const sf_plan_element *one, const sf_plan_element *other)
{
    if (one->tree != other->tree || one->depth != other->depth || one->parameter != other->parameter)
        return false;
    for (uint32_t level = 0; level < one->depth; level++)
        if (one->at[level].kind != other->at[level].kind || one->at[level].number != other->at[level].number)
            return false;
    return true;
}

bool sf_plan_element_covers(const sf_plan_element *whole, const sf_plan_element *part)
{
    if (whole->tree != part->tree || whole->parameter != part->parameter || whole->depth > part->depth ||
        (whole->parameter != SF_PLAN_NONE && whole->depth != part->depth))
        return false;
    for (uint32_t level = 0; level < whole->depth; level++) {
        const sf_plan_index *one = &whole->at[level], *other = &part->at[level];
        if (one->kind != SF_PLAN_ANY && (one->kind != other->kind || one->number != other->number))
            return false;
    }
    return true;
}

/* Whether two indices may be equal; *common is then the one that says more. */
static bool meet_index(sf_plan_index *common, const sf_plan_index *one, const sf_plan_index *other,
                       uint32_t loop)
{
    *common = one->kind == SF_PLAN_ANY || other->kind == SF_PLAN_NUMBER ? *other : *one;
    if (one->kind == SF_PLAN_ANY || other->kind == SF_PLAN_ANY || one->kind != other->kind) return true;
    bool same = one->number == other->number;
    return one->kind == SF_PLAN_NUMBER ? same : !(same && one->number == loop);
}

bool sf_plan_element_meet(sf_plan_element *common, const sf_plan_element *one, const sf_plan_element *other,
                          uint32_t loop)
{
    if (one->tree != other->tree || one->parameter != other->parameter ||
        (one->parameter != SF_PLAN_NONE && one->depth != other->depth))
        return false;
    *common = one->depth >= other->depth ? *one : *other;
    uint32_t shared = one->depth < other->depth ? one->depth : other->depth;
    for (uint32_t level = 0; level < shared; level++)
        if (!meet_index(&common->at[level], &one->at[level], &other->at[level], loop)) return false;
    return true;
}
