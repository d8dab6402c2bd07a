/* SPDX-License-Identifier: Apache-2.0 */
/* Random compositions of functions that do just what they declare, run in order and by the derived form: on
 * one model and on copies, with one thread and several, the models are equal. A declaration that leaves
 * something out is noticed by those who record what is touched. */
#include "support/declared.h"

#include "core/memory.h"

/* Trees: 0 with what loops run over, 1 and 2 numbers in two levels, 3 and 4 lists. */
enum { RANGES, NUMBERS, MORE_NUMBERS, LIST, MORE_LISTS, TREES, CHILDREN = 3, GRANDCHILDREN = 2, VECTORS = 7 };
enum { K, Q, J, VARIABLES, PARAMETER_N = 0, PARAMETERS = 1 };
enum { MOST_FUNCTIONS = 24, MOST_ACCESSES = 4 };

typedef struct access_text {
    char text[48];
    sf_plan_operation operation;
} access_text;

typedef struct random_step {
    char name[8], in[256], out[256], body[64];
    sf_plan_access reads[MOST_ACCESSES], writes[MOST_ACCESSES];
    size_t read_count, write_count;
} random_step;

typedef struct composed {
    sf_plan_declared table[MOST_FUNCTIONS + 1];
    random_step steps[MOST_FUNCTIONS];
    size_t count;
    char composition[64];
} composed;

static composed made;

/* ---- functions that do what they say ---- */

static const char *const variable_names[] = {"k", "q", "j"};

static sf_plan_element random_element(test_random *random, const bool *scope, bool list)
{
    sf_plan_element element = {.parameter = SF_PLAN_NONE};
    if (list) {
        element.tree = (uint32_t)(LIST + test_random_below(random, 2));
        return element;
    }
    element.tree = (uint32_t)(NUMBERS + test_random_below(random, 2));
    element.depth = (uint32_t)test_random_below(random, 3);
    for (uint32_t level = 0; level < element.depth; level++) {
        uint32_t variable = level == 0 ? (scope[J] && test_random_below(random, 2) ? J : K) : Q;
        if (scope[variable] && variable != J && test_random_below(random, 4) > 0)
            element.at[level] = (sf_plan_index){SF_PLAN_VARIABLE, variable, false};
        else
            element.at[level].number =
                (uint32_t)test_random_below(random, level == 0 ? CHILDREN : GRANDCHILDREN);
    }
    if (test_random_below(random, 3) == 0) element.parameter = PARAMETER_N;
    return element;
}

static void write_access(char *into, size_t size, const sf_plan_access *access)
{
    size_t length = strlen(into);
    length += (size_t)snprintf(into + length, size - length, "m[%u", access->element.tree);
    for (uint32_t level = 0; level < access->element.depth; level++) {
        const sf_plan_index *index = &access->element.at[level];
        length += index->kind == SF_PLAN_NUMBER
                      ? (size_t)snprintf(into + length, size - length, ",%u", index->number)
                      : (size_t)snprintf(into + length, size - length, ",%s", variable_names[index->number]);
    }
    snprintf(into + length, size - length, "]%s %s; ", access->element.parameter == SF_PLAN_NONE ? "" : ".n",
             sf_plan_operation_name(access->operation));
}

typedef struct visit {
    sf_plan_call *call;
    sf_plan_operation operation;
    uint64_t digest;
    int64_t amount;
} visit;

static void touch(visit *at, sf_plan_place place)
{
    if (at->operation == SF_PLAN_EXTRACT || at->operation == SF_PLAN_COMPARE)
        at->digest =
            (at->digest ^ (uint64_t)sf_plan_call_read(at->call, place, at->operation)) * 0x9e3779b97f4a7c15u;
    else if (at->operation == SF_PLAN_ADD)
        sf_plan_call_add(at->call, place, at->amount);
    else if (at->operation == SF_PLAN_REMOVE)
        sf_plan_call_remove(at->call, place);
    else
        sf_plan_call_change(at->call, place, at->operation, at->amount);
}

/* An element without a parameter means all below it too; a list is looked at where it may be. */
static void touch_all(visit *at, const sf_plan_element *element)
{
    sf_plan_place place = sf_plan_tree(element->tree);
    for (uint32_t level = 0; level < element->depth; level++) {
        const sf_plan_index *index = &element->at[level];
        uint32_t value = index->kind == SF_PLAN_NUMBER ? index->number : at->call->values[index->number];
        place = sf_plan_child(place, value % (level == 0 ? CHILDREN : GRANDCHILDREN));
    }
    place.parameter = element->parameter;
    touch(at, place);
    bool reads = at->operation == SF_PLAN_EXTRACT || at->operation == SF_PLAN_COMPARE;
    if (element->parameter != SF_PLAN_NONE || (element->tree >= LIST && !reads)) return;
    uint32_t below = element->depth == 0 ? CHILDREN : element->depth == 1 ? GRANDCHILDREN : 0;
    if (element->tree >= LIST)
        below = at->operation == SF_PLAN_EXTRACT ? sf_plan_call_children(at->call, place) : 0;
    for (uint32_t i = 0; i < below; i++) {
        sf_plan_element child = *element;
        child.at[child.depth++] = (sf_plan_index){.number = i};
        if (element->tree >= LIST)
            touch(at, sf_plan_child(place, i));
        else
            touch_all(at, &child);
    }
}

/* Reads, then changes by amounts that depend on what it read, who it is and where. */
static void work(sf_plan_call *call)
{
    const random_step *step = &made.steps[call->step];
    visit at = {.call = call, .digest = call->step};
    for (size_t i = 0; i < step->read_count; i++) {
        at.operation = step->reads[i].operation;
        touch_all(&at, &step->reads[i].element);
    }
    for (uint32_t v = 0; v < VARIABLES; v++)
        at.digest = (at.digest ^ call->values[v]) * 0x9e3779b97f4a7c15u;
    at.amount = (int64_t)(at.digest >> 40) % 1000 - 500;
    for (size_t i = 0; i < step->write_count; i++) {
        at.operation = step->writes[i].operation;
        touch_all(&at, &step->writes[i].element);
    }
}

/* ---- compositions ---- */

static const char *add_function(test_random *random, const bool *scope)
{
    size_t number = made.count++;
    random_step *step = &made.steps[number];
    *step = (random_step){0};
    snprintf(step->name, sizeof step->name, "f%zu", number);
    step->read_count = test_random_below(random, 3);
    for (size_t i = 0; i < step->read_count; i++) {
        step->reads[i] = (sf_plan_access){random_element(random, scope, test_random_below(random, 5) == 0),
                                          test_random_below(random, 2) ? SF_PLAN_EXTRACT : SF_PLAN_COMPARE};
        write_access(step->in, sizeof step->in, &step->reads[i]);
    }
    step->write_count = 1 + test_random_below(random, 2);
    for (size_t i = 0; i < step->write_count; i++) {
        bool list = test_random_below(random, 3) == 0;
        static const sf_plan_operation on_numbers[] = {SF_PLAN_INCREMENT, SF_PLAN_SUM,    SF_PLAN_MINIMUM,
                                                       SF_PLAN_MAXIMUM,   SF_PLAN_ASSIGN, SF_PLAN_INCREMENT};
        sf_plan_operation operation = list ? (test_random_below(random, 4) ? SF_PLAN_ADD : SF_PLAN_REMOVE)
                                           : on_numbers[test_random_below(random, 6)];
        step->writes[i] = (sf_plan_access){random_element(random, scope, list), operation};
        write_access(step->out, sizeof step->out, &step->writes[i]);
    }
    made.table[number] =
        (sf_plan_declared){.name = step->name, .in = step->in, .out = step->out, .run = work};
    return step->name;
}

static const char *add_loop(test_random *random, uint32_t variable, bool *scope)
{
    static const struct {
        const char *from, *to;
    } ranges[] = {[K] = {"[0,0]", "[0,y]"}, [Q] = {"[0,k,0]", "[0,k,z]"}, [J] = {"[0]", "[z]"}};
    size_t number = made.count++;
    random_step *step = &made.steps[number];
    *step = (random_step){0};
    snprintf(step->name, sizeof step->name, "f%zu", number);
    scope[variable] = true;
    size_t items = 1 + test_random_below(random, 2);
    for (size_t i = 0; i < items; i++) {
        bool inner = variable == K && made.count < 6 && test_random_below(random, 2) == 0;
        const char *name = inner ? add_loop(random, test_random_below(random, 2) ? Q : J, scope)
                                 : add_function(random, scope);
        strcat(strcat(step->body, name), " ");
    }
    scope[variable] = false;
    made.table[number] = (sf_plan_declared){.name = step->name,
                                            .over_data = variable == J,
                                            .variable = variable_names[variable],
                                            .from = ranges[variable].from,
                                            .to = ranges[variable].to,
                                            .body = step->body};
    return step->name;
}

static const sf_plan_declaration made_declaration = {
    .name = "made", .functions = made.table, .constants = "k q j", .composition = made.composition};

/* Declares what was made. The names of variables come in the order in which they are numbered here. */
static void compose(test_random *random, sf_plan_algorithm *algorithm)
{
    bool scope[VARIABLES] = {false};
    made.count = 0;
    made.composition[0] = '\0';
    for (int i = 0; i < 3; i++) {
        const char *name = test_random_below(random, 3) == 0 ? add_function(random, scope)
                                                             : add_loop(random, i == 1 ? J : K, scope);
        strcat(strcat(made.composition, name), " ");
    }
    made.table[made.count] = (sf_plan_declared){.name = NULL};
    sf_error error;
    if (sf_plan_declare(algorithm, &made_declaration, &error) != SF_OK) fail_msg("%s", error.text);
    algorithm->constant_count = 0; /* they were named first for their numbers alone */
}

static sf_plan_model *make_model(void)
{
    sf_plan_model *model;
    assert_int_equal(sf_plan_model_new(&model, TREES, PARAMETERS, NULL), SF_OK);
    for (uint32_t t = RANGES; t <= MORE_NUMBERS; t++)
        for (uint32_t i = 0; i < CHILDREN; i++) {
            assert_int_equal(sf_plan_model_add(model, sf_plan_tree(t), 10 * i + t, false, NULL), SF_OK);
            for (uint32_t k = 0; k < GRANDCHILDREN; k++)
                assert_int_equal(
                    sf_plan_model_add(model, sf_plan_child(sf_plan_tree(t), i), 7 * k + i, false, NULL),
                    SF_OK);
        }
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(sf_plan_model_add(model, sf_plan_tree(LIST), i, false, NULL), SF_OK);
    return model;
}

static sf_plan_model *execute(sf_plan_program program, sf_plan_ran *ran)
{
    sf_plan_model *model = make_model();
    sf_error error;
    program.functions = made.table;
    program.vectors = VECTORS;
    if (sf_plan_execute(&program, model, ran, &error) != SF_OK) fail_msg("%s", error.text);
    return model;
}

static void every_way_ends_with_the_same_model(void **state)
{
    (void)state;
    test_random random = test_random_start("executor", 20180270);
    size_t shared = 0, copied = 0;
    for (int round = 0; round < 400; round++) {
        sf_plan_algorithm algorithm;
        sf_plan_analysis analysis;
        compose(&random, &algorithm);
        assert_int_equal(sf_plan_analyse(&analysis, &algorithm, NULL), SF_OK);
        test_recorder recorder = {0};
        sf_plan_model *expected = execute(
            (sf_plan_program){
                .algorithm = &algorithm, .threads = 1, .seen = test_record_access, .recorder = &recorder},
            NULL);
        if (recorder.undeclared > 0) fail_msg("%s is not declared", recorder.first);
        for (int way = 0; way < 4; way++) {
            sf_plan_ran ran;
            sf_plan_model *found = execute((sf_plan_program){.algorithm = &algorithm,
                                                             .analysis = &analysis,
                                                             .threads = way < 2 ? 3 : 1,
                                                             .copies = way % 2 == 1},
                                           &ran);
            if (!sf_plan_model_same(expected, found)) {
                sf_text form = {0};
                sf_plan_write_form(&form, &algorithm, &analysis);
                for (size_t i = 0; i < made.count; i++)
                    printf("  %s: in %s out %s body %s\n", made.steps[i].name, made.steps[i].in,
                           made.steps[i].out, made.steps[i].body);
                fail_msg("way %d: %s", way, form.data);
            }
            shared += ran.shared;
            copied += ran.copied;
            sf_plan_model_free(found);
        }
        sf_plan_model_free(expected);
        sf_plan_analysis_free(&analysis);
        sf_plan_algorithm_free(&algorithm);
    }
    printf("  %zu times on one model, %zu on copies\n", shared, copied);
    assert_true(shared > 400 && copied > 400);
}

/* Whether another access of the same kind stands in for it. */
static bool is_needed(const random_step *step, size_t which)
{
    for (size_t i = 0; i < step->write_count; i++)
        if (i != which && step->writes[i].operation == step->writes[which].operation &&
            sf_plan_element_covers(&step->writes[i].element, &step->writes[which].element))
            return false;
    return true;
}

static void a_false_declaration_is_caught(void **state)
{
    (void)state;
    test_random random = test_random_start("false declarations", 20180271);
    size_t caught = 0;
    for (int round = 0; round < 200; round++) {
        sf_plan_algorithm algorithm;
        compose(&random, &algorithm);
        size_t which = 0;
        while (made.table[which].variable != NULL)
            which++;
        random_step *step = &made.steps[which];
        bool needed = is_needed(step, 0);
        sf_plan_algorithm_free(&algorithm);
        step->out[0] = '\0'; /* it declares all but the first */
        for (size_t i = 1; i < step->write_count; i++)
            write_access(step->out, sizeof step->out, &step->writes[i]);
        assert_int_equal(sf_plan_declare(&algorithm, &made_declaration, NULL), SF_OK);
        algorithm.constant_count = 0;
        test_recorder recorder = {0};
        sf_plan_model_free(execute(
            (sf_plan_program){
                .algorithm = &algorithm, .threads = 1, .seen = test_record_access, .recorder = &recorder},
            NULL));
        assert_int_equal(recorder.undeclared > 0, needed);
        if (needed) assert_int_equal(strncmp(recorder.first, step->name, strlen(step->name)), 0);
        caught += needed;
        sf_plan_algorithm_free(&algorithm);
    }
    assert_true(caught > 150);
}

/* ---- what a copy has, and failures ---- */

static sf_plan_place elsewhere;

static void reads_elsewhere(sf_plan_call *call)
{
    sf_plan_call_read(call, elsewhere, SF_PLAN_EXTRACT); /* not declared */
    sf_plan_call_add(call, sf_plan_tree(LIST), 1);
}

static void a_copy_has_what_is_declared_and_no_more(void **state)
{
    (void)state;
    static const sf_plan_declared table[] = {
        {.name = "f", .run = reads_elsewhere, .in = "m[1,2] extract", .out = "m[3] add"},
        {.name = "loop", .variable = "k", .from = "[0,1]", .to = "[0,y]", .body = "f"},
        {.name = NULL}};
    static const struct {
        uint32_t tree, child;
        const char *words; /* NULL: it is declared */
    } cases[] = {{MORE_NUMBERS, 2, "no element m[2,2] here"},
                 {NUMBERS, 1, "no element m[1,1] here"},
                 {NUMBERS, 2, NULL}};
    sf_plan_algorithm algorithm;
    sf_plan_analysis analysis;
    sf_error error;
    assert_int_equal(
        sf_plan_declare(&algorithm, &(sf_plan_declaration){"x", table, NULL, NULL, "loop"}, &error), SF_OK);
    assert_int_equal(sf_plan_analyse(&analysis, &algorithm, &error), SF_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sf_plan_model *model = make_model();
        sf_plan_program program = {
            .algorithm = &algorithm, .analysis = &analysis, .functions = table, .threads = 2};
        elsewhere = sf_plan_child(sf_plan_tree(cases[i].tree), cases[i].child);
        int status = sf_plan_execute(&program, model, NULL, &error);
        if (cases[i].words != NULL)
            test_assert_fails(status, &error, SF_INTERNAL, cases[i].words);
        else
            assert_int_equal(status, SF_OK);
        sf_plan_model_free(model);
    }
    sf_plan_analysis_free(&analysis);
    sf_plan_algorithm_free(&algorithm);
}

static void a_table_that_cannot_be_read_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *in, *body, *words;
    } cases[] = {{"m[1 extract", "f", "a comma or ]"},
                 {"m[1] multiply", "f", "an operation is expected"},
                 {"m[1]", "f", "an operation is expected"},
                 {"m[1] extract", "f g", "'g': there is no such step"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sf_plan_declared table[] = {
            {.name = "f", .run = reads_elsewhere, .in = cases[i].in},
            {.name = "loop", .variable = "k", .from = "[0,1]", .to = "[0,y]", .body = cases[i].body},
            {.name = NULL}};
        sf_plan_algorithm algorithm;
        sf_error error;
        test_assert_fails(
            sf_plan_declare(&algorithm, &(sf_plan_declaration){"x", table, NULL, NULL, "loop"}, &error),
            &error, SF_INTERNAL, cases[i].words);
        assert_null(algorithm.steps);
    }
}

/* As they are read they are written, and what has no such name is no element. */
static void trees_are_called_by_their_names(void **state)
{
    (void)state;
    static const char *const written[] = {"counts", "counts[3,k].n", "history[*]", "history.n"};
    sf_plan_declared table[] = {{.name = "f", .out = "counts add"}, {.name = NULL}};
    const sf_plan_declaration declared = {"x", table, "history counts", NULL, "f"};
    sf_plan_algorithm algorithm;
    sf_error error;
    assert_int_equal(sf_plan_declare(&algorithm, &declared, &error), SF_OK);
    assert_int_equal(algorithm.steps[0].out.items[0].element.tree, 1);
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        sf_plan_element element;
        sf_text text = {0};
        size_t at;
        assert_null(sf_plan_element_read(&element, written[i], &algorithm.trees, &algorithm.variables,
                                         &algorithm.parameters, &at));
        sf_plan_element_write(&text, &element, &algorithm.trees, &algorithm.variables, &algorithm.parameters);
        assert_string_equal(text.data, written[i]);
        sf_text_free(&text);
    }
    sf_plan_algorithm_free(&algorithm);
    table[0].out = "count add";
    test_assert_fails(sf_plan_declare(&algorithm, &declared, &error), &error, SF_INTERNAL,
                      "an element begins with the name of its tree");
    table[0].out = "counts[1 add";
    test_assert_fails(sf_plan_declare(&algorithm, &declared, &error), &error, SF_INTERNAL, "a comma or ]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_way_ends_with_the_same_model),
                                       cmocka_unit_test(a_false_declaration_is_caught),
                                       cmocka_unit_test(a_copy_has_what_is_declared_and_no_more),
                                       cmocka_unit_test(a_table_that_cannot_be_read_is_refused),
                                       cmocka_unit_test(trees_are_called_by_their_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
