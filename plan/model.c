/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/model.h"

#include "core/error.h"
#include "core/memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* What was done to a number of a copy; what several kinds were done to counts as assigned, since nobody else
 * may then have changed it. */
enum { BY_SUM = 1, BY_MINIMUM = 2, BY_MAXIMUM = 4, BY_ASSIGNMENT = 8 };

typedef struct number {
    _Atomic int64_t value;
    int64_t base; /* of a copy: what it was */
    atomic_uint changes;
} number;

typedef struct cell cell;

/* Children lie where they are for as long as somebody may look at them: lists that were outgrown, and
 * children that were removed while others worked on the model, are kept until it is freed. */
typedef struct list {
    struct list *next; /* retired */
    uint32_t owned;    /* retired: so many cells go with it */
    uint32_t capacity;
    cell *items[]; /* NULL: the copy does not have this one */
} list;

struct cell {
    number own;
    _Atomic(list *) children;
    _Atomic uint32_t count;
    uint32_t copied; /* of a copy: the number of leading elements that belong to the copied model; the others
                        are new */
    bool removed;    /* of a copy: those that the model has were taken away */
    number parameters[];
};

struct sf_plan_model {
    uint32_t tree_count, parameter_count;
    _Atomic(list *) retired;
    cell *trees[]; /* NULL: the copy does not have it */
};

/* ---- cells ---- */

static int64_t value_of(const number *of)
{
    return atomic_load_explicit(&of->value, memory_order_relaxed);
}

static void set(number *to, int64_t value)
{
    atomic_store_explicit(&to->value, value, memory_order_relaxed);
}

static uint32_t count_of(const cell *of)
{
    return atomic_load_explicit(&of->count, memory_order_acquire);
}

static list *children_of(const cell *of)
{
    return atomic_load_explicit(&of->children, memory_order_acquire);
}

/* NULL: there is none. Others may add at this moment, or take all away. */
static cell *child_of(const cell *of, uint32_t index)
{
    const list *children = children_of(of);
    return children != NULL && index < count_of(of) && index < children->capacity ? children->items[index]
                                                                                  : NULL;
}

static cell *new_cell(uint32_t parameters)
{
    return sf_alloc(1, sizeof(cell) + parameters * sizeof(number));
}

static void free_cell(cell *which)
{
    if (which == NULL) return;
    list *children = children_of(which);
    for (uint32_t i = 0; i < count_of(which); i++)
        free_cell(children->items[i]);
    sf_free(children);
    sf_free(which);
}

static void free_list(list *which)
{
    for (uint32_t i = 0; i < which->owned; i++)
        free_cell(which->items[i]);
    sf_free(which);
}

/* Frees a list, or keeps it while others may look at it. */
static void retire(sf_plan_model *model, list *which, uint32_t owned, bool shared)
{
    if (which == NULL) return;
    which->owned = owned;
    if (!shared) {
        free_list(which);
        return;
    }
    which->next = atomic_load(&model->retired);
    while (!atomic_compare_exchange_weak(&model->retired, &which->next, which))
        continue;
}

/* One writer at a time, as the plan has it: adding commutes with nothing. */
static int append(sf_plan_model *model, cell *to, cell *child, bool shared)
{
    list *children = children_of(to);
    uint32_t count = count_of(to);
    if (children == NULL || count == children->capacity) {
        uint32_t capacity = count == 0 ? 4 : 2 * count;
        list *larger = sf_alloc(1, sizeof *larger + capacity * sizeof *larger->items);
        if (larger == NULL) return -1;
        larger->capacity = capacity;
        if (count > 0) memcpy(larger->items, children->items, count * sizeof *larger->items);
        atomic_store_explicit(&to->children, larger, memory_order_release);
        retire(model, children, 0, shared);
        children = larger;
    }
    children->items[count] = child;
    atomic_store_explicit(&to->count, count + 1, memory_order_release);
    return 0;
}

static void remove_children(sf_plan_model *model, cell *of, bool shared)
{
    list *children = children_of(of);
    uint32_t count = count_of(of);
    atomic_store_explicit(&of->count, 0, memory_order_release);
    atomic_store_explicit(&of->children, NULL, memory_order_release);
    retire(model, children, count, shared);
    of->copied = 0;
    of->removed = true;
}

/* ---- numbers ---- */

static void note(number *of, unsigned change)
{
    if ((atomic_load_explicit(&of->changes, memory_order_relaxed) & change) == 0)
        atomic_fetch_or_explicit(&of->changes, change, memory_order_relaxed);
}

static void add_to(number *to, int64_t amount, bool shared)
{
    note(to, BY_SUM);
    if (shared)
        atomic_fetch_add_explicit(&to->value, amount, memory_order_relaxed);
    else
        set(to, value_of(to) + amount);
}

/* Keeps the smaller, or the greater. */
static void keep(number *to, int64_t amount, bool greater)
{
    note(to, greater ? BY_MAXIMUM : BY_MINIMUM);
    int64_t known = value_of(to);
    while ((greater ? amount > known : amount < known) &&
           !atomic_compare_exchange_weak_explicit(&to->value, &known, amount, memory_order_relaxed,
                                                  memory_order_relaxed))
        continue;
}

static void assign(number *to, int64_t value)
{
    note(to, BY_ASSIGNMENT);
    set(to, value);
}

static void change(number *to, sf_plan_operation operation, int64_t amount, bool shared)
{
    if (operation == SF_PLAN_ASSIGN)
        assign(to, amount);
    else if (operation == SF_PLAN_MINIMUM || operation == SF_PLAN_MAXIMUM)
        keep(to, amount, operation == SF_PLAN_MAXIMUM);
    else
        add_to(to, amount, shared);
}

static void copy_number(number *to, const number *from)
{
    to->base = value_of(from);
    set(to, to->base);
}

static void join_number(number *onto, const number *copy, bool shared)
{
    int64_t value = value_of(copy);
    switch (atomic_load_explicit(&copy->changes, memory_order_relaxed)) {
    case 0:
        return;
    case BY_SUM:
        add_to(onto, value - copy->base, shared);
        return;
    case BY_MINIMUM:
    case BY_MAXIMUM:
        keep(onto, value, atomic_load_explicit(&copy->changes, memory_order_relaxed) == BY_MAXIMUM);
        return;
    default:
        assign(onto, value);
    }
}

/* ---- models ---- */

static sf_plan_model *empty_model(uint32_t trees, uint32_t parameters)
{
    sf_plan_model *model = sf_alloc(1, sizeof *model + trees * sizeof(cell *));
    if (model != NULL) {
        model->tree_count = trees;
        model->parameter_count = parameters;
    }
    return model;
}

int sf_plan_model_new(sf_plan_model **model, uint32_t trees, uint32_t parameters, sf_error *error)
{
    *model = empty_model(trees, parameters);
    for (uint32_t t = 0; *model != NULL && t < trees; t++) {
        (*model)->trees[t] = new_cell(parameters);
        if ((*model)->trees[t] == NULL) {
            sf_plan_model_free(*model);
            *model = NULL;
        }
    }
    return *model != NULL ? SF_OK : sf_fail_memory(error);
}

void sf_plan_model_free(sf_plan_model *model)
{
    if (model == NULL) return;
    for (uint32_t t = 0; t < model->tree_count; t++)
        free_cell(model->trees[t]);
    for (list *next, *each = atomic_load(&model->retired); each != NULL; each = next) {
        next = each->next;
        free_list(each);
    }
    sf_free(model);
}

static bool same_cell(const cell *one, const cell *other, uint32_t parameters)
{
    if (one == NULL || other == NULL) return one == other;
    bool same = value_of(&one->own) == value_of(&other->own) && count_of(one) == count_of(other);
    for (uint32_t p = 0; p < parameters && same; p++)
        same = value_of(&one->parameters[p]) == value_of(&other->parameters[p]);
    for (uint32_t i = 0; same && i < count_of(one); i++)
        same = same_cell(child_of(one, i), child_of(other, i), parameters);
    return same;
}

bool sf_plan_model_same(const sf_plan_model *one, const sf_plan_model *other)
{
    bool same = one->tree_count == other->tree_count && one->parameter_count == other->parameter_count;
    for (uint32_t t = 0; t < one->tree_count && same; t++)
        same = same_cell(one->trees[t], other->trees[t], one->parameter_count);
    return same;
}

/* ---- copies ---- */

/* What is copied: all of it where there are no accesses. */
typedef struct wanted {
    const sf_plan_accesses *accesses; /* access_count of them, or NULL */
    size_t access_count;
    const uint32_t *values;
    const bool *scope;
    uint32_t parameters;
    sf_plan_place at;
} wanted;

/* Whether an access names this place, what is above it, or what is below it. */
static bool concerns(const sf_plan_element *element, const wanted *what)
{
    if (element->tree != what->at.tree) return false;
    for (uint32_t level = 0; level < element->depth && level < what->at.depth; level++) {
        const sf_plan_index *index = &element->at[level];
        bool known =
            index->kind == SF_PLAN_NUMBER || (index->kind == SF_PLAN_VARIABLE && what->scope[index->number]);
        uint32_t value =
            index->kind == SF_PLAN_NUMBER || !known ? index->number : what->values[index->number];
        if (known && value != what->at.at[level]) return false;
    }
    return true;
}

static bool is_wanted(const wanted *what)
{
    for (size_t i = 0; i < what->access_count; i++)
        for (size_t k = 0; k < what->accesses[i].count; k++)
            if (concerns(&what->accesses[i].items[k].element, what)) return true;
    return what->accesses == NULL;
}

static cell *copy_cell(sf_plan_model *into, const cell *of, wanted *what);

static int copy_children(sf_plan_model *into, cell *copy, const cell *of, wanted *what)
{
    uint32_t count = count_of(of);
    for (uint32_t i = 0; i < count; i++) {
        const cell *original = child_of(of, i);
        cell *child = NULL;
        what->at = sf_plan_child(what->at, i);
        if (original != NULL && is_wanted(what)) {
            child = copy_cell(into, original, what);
            if (child == NULL) return -1;
        }
        what->at.depth--;
        if (append(into, copy, child, false) != 0) {
            free_cell(child);
            return -1;
        }
    }
    copy->copied = count;
    return 0;
}

static cell *copy_cell(sf_plan_model *into, const cell *of, wanted *what)
{
    cell *copy = new_cell(what->parameters);
    if (copy == NULL) return NULL;
    copy_number(&copy->own, &of->own);
    for (uint32_t p = 0; p < what->parameters; p++)
        copy_number(&copy->parameters[p], &of->parameters[p]);
    if (copy_children(into, copy, of, what) != 0) {
        free_cell(copy);
        return NULL;
    }
    return copy;
}

int sf_plan_model_clone(sf_plan_model **copy, const sf_plan_model *of, const sf_plan_accesses *accesses,
                        size_t access_count, const uint32_t *values, const bool *scope, sf_error *error)
{
    *copy = empty_model(of->tree_count, of->parameter_count);
    wanted what = {accesses, access_count, values, scope, of->parameter_count, {0}};
    for (uint32_t t = 0; *copy != NULL && t < of->tree_count; t++) {
        what.at = sf_plan_tree(t);
        if (of->trees[t] == NULL || !is_wanted(&what)) continue;
        (*copy)->trees[t] = copy_cell(*copy, of->trees[t], &what);
        if ((*copy)->trees[t] == NULL) {
            sf_plan_model_free(*copy);
            *copy = NULL;
        }
    }
    return *copy != NULL ? SF_OK : sf_fail_memory(error);
}

static int join_cell(sf_plan_model *model, cell *onto, cell *copy, bool shared, sf_error *error)
{
    join_number(&onto->own, &copy->own, shared);
    for (uint32_t p = 0; p < model->parameter_count; p++)
        join_number(&onto->parameters[p], &copy->parameters[p], shared);
    if (copy->removed) remove_children(model, onto, shared);
    list *children = children_of(copy);
    for (uint32_t i = 0; i < count_of(copy); i++) {
        cell *child = children->items[i];
        int status = SF_OK;
        if (i >= copy->copied) {
            if (append(model, onto, child, shared) != 0) return sf_fail_memory(error);
            children->items[i] = NULL;
        } else if (child != NULL && child_of(onto, i) != NULL) {
            status = join_cell(model, child_of(onto, i), child, shared, error);
        }
        if (status != SF_OK) return status;
    }
    return SF_OK;
}

int sf_plan_model_join(sf_plan_model *onto, sf_plan_model *copy, bool shared, sf_error *error)
{
    int status = SF_OK;
    for (uint32_t t = 0; t < copy->tree_count && status == SF_OK; t++)
        if (copy->trees[t] != NULL) status = join_cell(onto, onto->trees[t], copy->trees[t], shared, error);
    return status;
}

/* ---- one element ---- */

static cell *find(const sf_plan_model *model, const sf_plan_place *place)
{
    cell *at = place->tree < model->tree_count ? model->trees[place->tree] : NULL;
    for (uint32_t level = 0; at != NULL && level < place->depth; level++)
        at = child_of(at, place->at[level]);
    bool parameter = place->parameter == SF_PLAN_NONE || place->parameter < model->parameter_count;
    return parameter ? at : NULL;
}

static int fail_place(const sf_plan_place *place, sf_error *error)
{
    sf_text text = {0};
    sf_text_printf(&text, "m[%u", place->tree);
    for (uint32_t level = 0; level < place->depth; level++)
        sf_text_printf(&text, ",%u", place->at[level]);
    sf_text_printf(&text, "]");
    int status = sf_fail(error, SF_INTERNAL, NULL, "the model has no element %s here",
                         text.data != NULL ? text.data : "");
    sf_text_free(&text);
    return status;
}

static number *number_at(cell *at, const sf_plan_place *place)
{
    return place->parameter == SF_PLAN_NONE ? &at->own : &at->parameters[place->parameter];
}

int sf_plan_model_read(const sf_plan_model *model, sf_plan_place place, int64_t *value, sf_error *error)
{
    cell *at = find(model, &place);
    if (at == NULL) return fail_place(&place, error);
    *value = value_of(number_at(at, &place));
    return SF_OK;
}

int sf_plan_model_count(const sf_plan_model *model, sf_plan_place place, uint32_t *children, sf_error *error)
{
    const cell *at = find(model, &place);
    if (at == NULL) return fail_place(&place, error);
    *children = count_of(at);
    return SF_OK;
}

int sf_plan_model_change(sf_plan_model *model, sf_plan_place place, sf_plan_operation operation,
                         int64_t amount, bool shared, sf_error *error)
{
    cell *at = find(model, &place);
    if (at == NULL) return fail_place(&place, error);
    change(number_at(at, &place), operation, amount, shared);
    return SF_OK;
}

int sf_plan_model_add(sf_plan_model *model, sf_plan_place place, int64_t value, bool shared, sf_error *error)
{
    cell *at = find(model, &place);
    if (at == NULL) return fail_place(&place, error);
    cell *child = new_cell(model->parameter_count);
    if (child == NULL || append(model, at, child, shared) != 0) {
        sf_free(child);
        return sf_fail_memory(error);
    }
    set(&child->own, value);
    return SF_OK;
}

int sf_plan_model_remove(sf_plan_model *model, sf_plan_place place, bool shared, sf_error *error)
{
    cell *at = find(model, &place);
    if (at == NULL) return fail_place(&place, error);
    remove_children(model, at, shared);
    return SF_OK;
}

int sf_plan_model_assign(sf_plan_model *model, sf_plan_place to, sf_plan_place from, bool shared,
                         sf_error *error)
{
    cell *target = find(model, &to);
    const cell *source = find(model, &from);
    if (target == NULL || source == NULL) return fail_place(target == NULL ? &to : &from, error);
    assign(&target->own, value_of(&source->own));
    remove_children(model, target, shared);
    for (uint32_t i = 0; i < count_of(source); i++) {
        wanted all = {.parameters = model->parameter_count, .at = sf_plan_tree(0)};
        cell *child = copy_cell(model, child_of(source, i), &all);
        if (child == NULL || append(model, target, child, shared) != 0) {
            free_cell(child);
            return sf_fail_memory(error);
        }
    }
    return SF_OK;
}
