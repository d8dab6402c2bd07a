/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/plan_oracle.h"

enum { CELLS = ORACLE_TREES * (1 + ORACLE_CHILDREN) * 2, MOST_LIST = 256, MOST_ACTIONS = 1024 };

typedef struct cell {
    int64_t value;
    int64_t list[MOST_LIST]; /* elements added below it */
    size_t count;
} cell;

typedef struct model {
    cell cells[CELLS];
} model;

typedef struct action {
    sf_plan_operation operation;
    size_t cell;
    int64_t amount; /* by which function and where: no two are alike */
} action;

typedef struct program {
    action actions[MOST_ACTIONS];
    size_t count;
} program;

/* Cells are numbered tree by tree: the root, its children; then the same again for parameters. */
static size_t cell_of(uint32_t tree, uint32_t place, bool parameter)
{
    return ((parameter ? ORACLE_TREES : 0) + tree) * (1 + ORACLE_CHILDREN) + place;
}

static void add_action(program *into, const sf_plan_access *access, uint32_t tree, uint32_t place,
                       int64_t salt)
{
    into->actions[into->count] =
        (action){access->operation, cell_of(tree, place, access->element.parameter != SF_PLAN_NONE),
                 salt + (int64_t)into->count};
    into->count++;
}

/* The cells that a name means: a parameter is one, an element without one has all below it. */
static void add_access(program *into, const sf_plan_access *access, const uint32_t *values, int64_t salt)
{
    const sf_plan_element *element = &access->element;
    bool all = element->depth == 0 ? element->parameter == SF_PLAN_NONE : element->at[0].kind == SF_PLAN_ANY;
    if (element->depth == 0) add_action(into, access, element->tree, 0, salt);
    for (uint32_t child = 0; child < ORACLE_CHILDREN; child++) {
        bool named =
            element->depth > 0 && (element->at[0].kind == SF_PLAN_VARIABLE ? values[element->at[0].number]
                                                                           : element->at[0].number) == child;
        if (all || named) add_action(into, access, element->tree, 1 + child, salt);
    }
}

static bool reads(sf_plan_operation operation)
{
    return operation == SF_PLAN_EXTRACT || operation == SF_PLAN_COMPARE;
}

/* What is read comes first. An increment that stands under In reads nothing that could be told. */
static void compile_call(program *into, const oracle_call *call, int64_t salt)
{
    for (size_t i = 0; i < call->in->count; i++)
        if (reads(call->in->items[i].operation)) add_access(into, &call->in->items[i], call->values, salt);
    for (size_t i = 0; i < call->out->count; i++)
        add_access(into, &call->out->items[i], call->values, salt);
}

static void compile(program *into, const oracle_function *function, int64_t salt)
{
    into->count = 0;
    for (size_t i = 0; i < function->count; i++)
        compile_call(into, &function->calls[i], salt);
    assert_true(into->count <= MOST_ACTIONS);
}

/* What a function has come to know: `seen` by what it reads, `removed` by what it takes away. */
typedef struct knowledge {
    uint64_t seen, removed;
} knowledge;

static void learn(uint64_t *digest, int64_t value)
{
    *digest = (*digest ^ (uint64_t)value) * 0x9e3779b97f4a7c15u + 1;
}

static int64_t changed(sf_plan_operation operation, int64_t value, int64_t amount)
{
    switch (operation) {
    case SF_PLAN_ASSIGN:
        return amount;
    case SF_PLAN_MINIMUM:
        return value < amount ? value : amount;
    case SF_PLAN_MAXIMUM:
        return value > amount ? value : amount;
    default:
        return value + amount;
    }
}

/* Every number that changes an element is of this range, so that a greatest or least one may come from either
 * side. */
static int64_t small(int64_t amount)
{
    return (amount & INT64_MAX) % 97 - 48;
}

/* Does one action. An element is changed with all that was added below it, and by what is taken away. */
static void act(model *on, const action *what, knowledge *own)
{
    cell *at = &on->cells[what->cell];
    bool assigned = what->operation == SF_PLAN_ASSIGN;
    int64_t amount = small(assigned ? what->amount ^ (int64_t)(own->seen >> 8) : what->amount);
    if (reads(what->operation)) {
        learn(&own->seen, at->value);
        for (size_t i = 0; i < at->count; i++)
            learn(&own->seen, at->list[i]);
    } else if (what->operation == SF_PLAN_ADD) {
        at->list[at->count++] = amount;
    } else if (what->operation == SF_PLAN_REMOVE) {
        for (; at->count > 0; at->count--) {
            learn(&own->removed, at->list[at->count - 1]);
            at->value ^= at->list[at->count - 1];
        }
    } else {
        at->value = changed(what->operation, at->value, amount);
        for (size_t i = 0; i < at->count; i++)
            at->list[i] = changed(what->operation, at->list[i], amount);
    }
}

typedef struct outcome {
    model after;
    knowledge known[2];
} outcome;

/* Runs both, taking the next action of the one or of the other as `choose` says. */
static void run_mixed(outcome *into, const model *before, const program *first, const program *second,
                      int (*choose)(void *context), void *context)
{
    const program *programs[] = {first, second};
    size_t done[2] = {0, 0};
    *into = (outcome){.after = *before};
    while (done[0] < first->count || done[1] < second->count) {
        int which = choose(context);
        if (done[which] == programs[which]->count) which = 1 - which;
        act(&into->after, &programs[which]->actions[done[which]++], &into->known[which]);
    }
}

static int choose_one(void *context)
{
    return *(const int *)context;
}

static int choose_any(void *context)
{
    return (int)test_random_below(context, 2);
}

static int by_value(const void *left, const void *right)
{
    int64_t one = *(const int64_t *)left, other = *(const int64_t *)right;
    return one < other ? -1 : one > other;
}

static bool same(const outcome *one, const outcome *other, bool as_sets)
{
    if (memcmp(one->known, other->known, sizeof one->known) != 0) return false;
    for (size_t i = 0; i < CELLS; i++) {
        cell left = one->after.cells[i], right = other->after.cells[i];
        if (left.value != right.value || left.count != right.count) return false;
        if (as_sets) {
            qsort(left.list, left.count, sizeof *left.list, by_value);
            qsort(right.list, right.count, sizeof *right.list, by_value);
        }
        if (memcmp(left.list, right.list, left.count * sizeof *left.list) != 0) return false;
    }
    return true;
}

/* What a program had read when it came to each of its actions. */
typedef struct history {
    uint64_t seen[MOST_ACTIONS];
} history;

/* Repeats on `onto` the changes that a program made on its copy, knowing what it had read there. */
static void join(model *onto, const program *changes, const history *known)
{
    for (size_t i = 0; i < changes->count; i++)
        if (!reads(changes->actions[i].operation))
            act(onto, &changes->actions[i], &(knowledge){.seen = known->seen[i]});
}

/* Each on its copy, the changes joined in the order given. */
static void run_copies(outcome *into, const model *before, const program *first, const program *second,
                       bool turned)
{
    static history known[2];
    const program *programs[] = {first, second};
    *into = (outcome){.after = *before};
    for (int which = 0; which < 2; which++) {
        model copy = *before;
        for (size_t i = 0; i < programs[which]->count; i++) {
            known[which].seen[i] = into->known[which].seen;
            act(&copy, &programs[which]->actions[i], &into->known[which]);
        }
    }
    join(&into->after, programs[turned], &known[turned]);
    join(&into->after, programs[!turned], &known[!turned]);
}

static void fill(model *into, test_random *random)
{
    *into = (model){0};
    for (size_t i = 0; i < CELLS; i++) {
        into->cells[i].value = (int64_t)test_random_below(random, 97) - 48;
        into->cells[i].count = 2 + test_random_below(random, 4);
        for (size_t k = 0; k < into->cells[i].count; k++)
            into->cells[i].list[k] = (int64_t)test_random_below(random, 97) - 48;
    }
}

oracle_answer oracle_run(test_random *random, const oracle_function *first, const oracle_function *second)
{
    static program one, other;
    static model before;
    static outcome expected, found;
    fill(&before, random);
    compile(&one, first, 1000000 + (int64_t)test_random_below(random, 1000000));
    compile(&other, second, 3000000 + (int64_t)test_random_below(random, 1000000));
    run_mixed(&expected, &before, &one, &other, choose_one, &(int){0});
    run_mixed(&found, &before, &one, &other, choose_one, &(int){1});
    oracle_answer answer = {same(&expected, &found, false), true};
    for (int round = 0; round < 8 && answer.shared; round++) {
        run_mixed(&found, &before, &one, &other, choose_any, random);
        answer.shared = same(&expected, &found, false);
    }
    for (int turned = 0; turned < 2 && answer.distributed; turned++) {
        run_copies(&found, &before, &one, &other, turned != 0);
        answer.distributed = same(&expected, &found, true);
    }
    return answer;
}
