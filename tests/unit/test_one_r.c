/* SPDX-License-Identifier: Apache-2.0 */
/* 1R as a program: the published form from what its functions declare, what it touches, and the rule that it
 * learns beside the obvious way of learning it, in order and by the form. */
#include "plan/one_r.h"
#include "support/declared.h"

#include "core/memory.h"

typedef struct made_data {
    sf_one_r_data data;
    uint16_t *columns[8], *labels;
    uint32_t value_counts[8];
} made_data;

/* Attribute 2 tells the class in 7 of 10 vectors; the others tell nothing. */
static made_data make_data(test_random *random, size_t vectors, uint32_t attributes, uint32_t classes)
{
    made_data made = {.labels = malloc((vectors + 1) * sizeof(uint16_t))};
    for (size_t j = 0; j < vectors; j++)
        made.labels[j] = (uint16_t)test_random_below(random, classes);
    for (uint32_t k = 0; k < attributes; k++) {
        made.value_counts[k] = 2 + (uint32_t)test_random_below(random, 6);
        if (k == 2 && made.value_counts[k] < classes) made.value_counts[k] = classes;
        made.columns[k] = malloc((vectors + 1) * sizeof(uint16_t));
        for (size_t j = 0; j < vectors; j++)
            made.columns[k][j] = k == 2 && test_random_below(random, 10) < 7
                                     ? made.labels[j]
                                     : (uint16_t)test_random_below(random, made.value_counts[k]);
    }
    made.data = (sf_one_r_data){
        .vectors = vectors, .attributes = attributes, .classes = classes, .labels = made.labels};
    return made;
}

static sf_one_r_data view(const made_data *made)
{
    sf_one_r_data data = made->data;
    data.value_counts = made->value_counts;
    data.values = (const uint16_t *const *)made->columns;
    return data;
}

static void free_data(made_data *made)
{
    for (uint32_t k = 0; k < made->data.attributes; k++)
        free(made->columns[k]);
    free(made->labels);
}

/* The obvious way: count again for every value and class. */
static size_t with(const sf_one_r_data *data, uint32_t k, uint32_t value, uint32_t class)
{
    size_t count = 0;
    for (size_t j = 0; j < data->vectors; j++)
        count += data->values[k][j] == value && data->labels[j] == class;
    return count;
}

static sf_one_r_rule learn_slowly(const sf_one_r_data *data, uint16_t *predicted)
{
    sf_one_r_rule best = {.attribute = SF_PLAN_NONE};
    for (uint32_t k = 0; k < data->attributes; k++) {
        uint16_t classes[16];
        uint64_t correct = 0;
        for (uint32_t q = 0; q < data->value_counts[k]; q++) {
            size_t most = 0;
            classes[q] = SF_ONE_R_NO_CLASS;
            for (uint32_t p = 0; p < data->classes; p++)
                if (with(data, k, q, p) > most) {
                    most = with(data, k, q, p);
                    classes[q] = (uint16_t)p;
                }
            correct += most;
        }
        if (correct > best.correct) {
            best = (sf_one_r_rule){k, correct, data->value_counts[k], predicted};
            memcpy(predicted, classes, sizeof *predicted * data->value_counts[k]);
        }
    }
    return best;
}

static sf_one_r_plan make_plan(void)
{
    sf_one_r_plan plan;
    sf_error error;
    if (sf_one_r_plan_make(&plan, &error) != SF_OK) fail_msg("%s", error.text);
    return plan;
}

static sf_plan_model *train(const sf_one_r_plan *plan, const sf_one_r_data *data, sf_one_r_how how,
                            sf_plan_ran *ran)
{
    sf_plan_model *model;
    sf_error error;
    if (sf_one_r_train(&model, plan, data, &how, ran, &error) != SF_OK) fail_msg("%s", error.text);
    return model;
}

static void what_it_declares_gives_the_published_form(void **state)
{
    (void)state;
    sf_one_r_plan plan = make_plan();
    sf_text form = {0};
    sf_plan_write_form(&form, &plan.algorithm, &plan.analysis);
    assert_string_equal(form.data,
                        "1RPar = (loope [0,1] [0,p] paralleld [f10,f11] ∘ (paralleld [loope [0,k,1] "
                        "[0,k,u] (parallels [f8 f9]) ∘ (loope [0,t,1] [0,t,y] f6)]) ∘ (parallels "
                        "[loopd [0] [z] f3])) ∘ f0");
    sf_text_free(&form);
    sf_one_r_plan_free(&plan);
}

static void it_touches_what_it_declares(void **state)
{
    (void)state;
    test_random random = test_random_start("1R accesses", 1993);
    sf_one_r_plan plan = make_plan();
    made_data made = make_data(&random, 60, 4, 3);
    sf_one_r_data data = view(&made);
    test_recorder recorder = {0};
    sf_plan_model *model;
    assert_int_equal(sf_plan_model_new(&model, 4, 2, NULL), SF_OK);
    sf_plan_program program = {.algorithm = &plan.algorithm,
                               .functions = plan.functions,
                               .context = &data,
                               .vectors = data.vectors,
                               .constants = (const uint32_t[]){0},
                               .threads = 1,
                               .seen = test_record_access,
                               .recorder = &recorder};
    assert_int_equal(sf_plan_execute(&program, model, NULL, NULL), SF_OK);
    assert_true(recorder.accesses > 60 * 4);
    if (recorder.undeclared > 0) fail_msg("%s is not declared", recorder.first);
    sf_plan_model_free(model);
    free_data(&made);
    sf_one_r_plan_free(&plan);
}

static void it_learns_what_counting_gives(void **state)
{
    (void)state;
    test_random random = test_random_start("1R", 63);
    sf_one_r_plan plan = make_plan();
    size_t second = 0;
    for (int round = 0; round < 40; round++) {
        made_data made =
            make_data(&random, test_random_below(&random, 200), 1 + (uint32_t)test_random_below(&random, 6),
                      1 + (uint32_t)test_random_below(&random, 4));
        sf_one_r_data data = view(&made);
        uint16_t classes[16];
        sf_one_r_rule expected = learn_slowly(&data, classes), found;
        sf_plan_model *model = train(&plan, &data, (sf_one_r_how){.threads = 2}, NULL);
        assert_int_equal(sf_one_r_read(&found, model, &data, NULL), SF_OK);
        assert_int_equal(found.attribute, expected.attribute);
        assert_int_equal(found.correct, expected.correct);
        assert_int_equal(found.value_count, expected.value_count);
        for (uint32_t q = 0; q < found.value_count; q++)
            assert_int_equal(found.predicted[q], classes[q]);
        second += found.attribute == 2;
        sf_free(found.predicted);
        sf_plan_model_free(model);
        free_data(&made);
    }
    assert_true(second > 10);
    sf_one_r_plan_free(&plan);
}

static void order_and_form_end_with_equal_models(void **state)
{
    (void)state;
    test_random random = test_random_start("1R at once", 64);
    sf_one_r_plan plan = make_plan();
    static const size_t sizes[] = {0, 1, 7, 1000, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        made_data made = make_data(&random, sizes[i], 6, 3);
        sf_one_r_data data = view(&made);
        sf_plan_model *expected = train(&plan, &data, (sf_one_r_how){.sequential = true, .threads = 1}, NULL);
        for (unsigned threads = 1; threads <= 4; threads++)
            for (int copies = 0; copies < 2; copies++)
                for (uint64_t least = 0; least <= SF_ONE_R_LEAST_CALLS; least += SF_ONE_R_LEAST_CALLS) {
                    sf_one_r_how how = {.threads = threads, .least_calls = least, .copies = copies != 0};
                    sf_plan_ran ran;
                    sf_plan_model *found = train(&plan, &data, how, &ran);
                    assert_true(sf_plan_model_same(expected, found));
                    if (least == 0) /* f10 and f11 of every attribute, and what the sizes allow */
                        assert_true(ran.copied >= 6);
                    if (sizes[i] == 100000 && threads > 1 && !copies) assert_true(ran.shared >= 6);
                    sf_plan_model_free(found);
                }
        sf_plan_model_free(expected);
        free_data(&made);
    }
    sf_one_r_plan_free(&plan);
}

static int learn_all(void *context)
{
    sf_one_r_plan plan;
    sf_plan_model *model = NULL;
    sf_one_r_rule rule = {0};
    sf_error error;
    int status = sf_one_r_plan_make(&plan, &error);
    if (status != SF_OK) return status;
    status = sf_one_r_train(&model, &plan, context, &(sf_one_r_how){.threads = 1}, NULL, &error);
    if (status == SF_OK) status = sf_one_r_read(&rule, model, context, &error);
    sf_free(rule.predicted);
    sf_plan_model_free(model);
    sf_one_r_plan_free(&plan);
    return status;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    test_random random = test_random_start("1R memory", 65);
    made_data made = make_data(&random, 5, 2, 2);
    sf_one_r_data data = view(&made);
    test_fail_every_allocation(learn_all, &data);
    free_data(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_it_declares_gives_the_published_form),
                                       cmocka_unit_test(it_touches_what_it_declares),
                                       cmocka_unit_test(it_learns_what_counting_gives),
                                       cmocka_unit_test(order_and_form_end_with_equal_models),
                                       cmocka_unit_test(memory_may_run_out_anywhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
