/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench plan: 1R on made-up vectors of 8 attributes with 8 values and 4 classes, one function after the
 * other, then by its parallel form on 1 and more threads: on one model, and with copies wherever they are
 * allowed. amdahl is how many times as fast as on one thread it could be at most: of the time that one thread
 * spends outside what the form runs at once. Every model must be equal to the first.
 */
#include "bench/command/bench.h"

#include "core/memory.h"
#include "core/random.h"
#include "core/thread.h"
#include "plan/one_r.h"

enum { ATTRIBUTES = 8, VALUES = 8, CLASSES = 4, ROUNDS = 3 };

typedef struct made_data {
    sf_one_r_data data;
    uint16_t *memory; /* of labels, then each column */
    uint32_t value_counts[ATTRIBUTES];
    const uint16_t *columns[ATTRIBUTES];
} made_data;

static int make_data(made_data *made, size_t vectors, sf_error *error)
{
    made->memory = sf_resize(NULL, vectors * (ATTRIBUTES + 1), sizeof *made->memory);
    if (made->memory == NULL) return sf_fail_memory(error);
    for (uint32_t k = 0; k <= ATTRIBUTES; k++) {
        sf_random random = sf_random_start(14, k);
        for (size_t j = 0; j < vectors; j++)
            made->memory[k * vectors + j] = (uint16_t)sf_random_below(&random, k == 0 ? CLASSES : VALUES);
        if (k > 0) {
            made->value_counts[k - 1] = VALUES;
            made->columns[k - 1] = &made->memory[k * vectors];
        }
    }
    made->data =
        (sf_one_r_data){vectors, ATTRIBUTES, CLASSES, made->value_counts, made->columns, made->memory};
    return SF_OK;
}

typedef struct timed {
    sf_plan_model *model; /* of the last round */
    sf_plan_ran best;
} timed;

static int time_training(timed *run, const sf_one_r_plan *plan, const sf_one_r_data *data,
                         const sf_one_r_how *how, sf_error *error)
{
    int status = SF_OK;
    *run = (timed){.best = {.seconds = INFINITY}};
    for (int round = 0; round < ROUNDS && status == SF_OK; round++) {
        sf_plan_ran ran;
        sf_plan_model_free(run->model);
        status = sf_one_r_train(&run->model, plan, data, how, &ran, error);
        if (status == SF_OK && ran.seconds < run->best.seconds) run->best = ran;
    }
    return status;
}

/* `serial` is the share of one thread's time that stays; NaN: not known yet. */
static void add_row(app_bench_rows *rows, size_t vectors, const char *form, unsigned threads,
                    const sf_plan_ran *ran, double one_thread, double serial)
{
    app_bench_row(rows, "cpu");
    app_bench_number(rows, "vectors", (double)vectors);
    app_bench_text(rows, "form", form);
    app_bench_number(rows, "threads", threads);
    app_bench_number(rows, "ms", ran->seconds * 1e3);
    app_bench_number(rows, "speedup", one_thread / ran->seconds);
    app_bench_number(rows, "amdahl", 1 / (serial + (1 - serial) / threads));
    app_bench_number(rows, "serial_percent", 100 * serial);
}

/* A form on 1, 2, 4, ... threads and on all. */
static int run_form(app_bench_rows *rows, const sf_one_r_plan *plan, const sf_one_r_data *data, bool copies,
                    unsigned most, const sf_plan_model *expected, sf_error *error)
{
    double one_thread = NAN, serial = NAN;
    int status = SF_OK;
    for (unsigned threads = 1; status == SF_OK; threads = 2 * threads < most ? 2 * threads : most) {
        timed run;
        sf_one_r_how how = {.threads = threads, .least_calls = SF_ONE_R_LEAST_CALLS, .copies = copies};
        status = time_training(&run, plan, data, &how, error);
        if (status == SF_OK && threads == 1) {
            one_thread = run.best.seconds;
            serial = 1 - run.best.at_once_seconds / run.best.seconds;
        }
        if (status == SF_OK && !sf_plan_model_same(expected, run.model))
            status = sf_fail(error, SF_INTERNAL, NULL, "the models differ on %u threads", threads);
        if (status == SF_OK)
            add_row(rows, data->vectors, copies ? "on copies" : "on one model", threads, &run.best,
                    one_thread, serial);
        sf_plan_model_free(run.model);
        if (threads == most) break;
    }
    return status;
}

static int run_size(const app_call *call, app_bench_rows *rows, const sf_one_r_plan *plan, size_t vectors,
                    sf_error *error)
{
    app_bench_options options;
    made_data made = {.memory = NULL};
    timed ordered = {.model = NULL};
    int status = app_bench_read(&options, call, error);
    if (status == SF_OK) status = make_data(&made, vectors, error);
    if (status == SF_OK)
        status = time_training(&ordered, plan, &made.data, &(sf_one_r_how){.sequential = true, .threads = 1},
                               error);
    if (status == SF_OK) add_row(rows, vectors, "in order", 1, &ordered.best, ordered.best.seconds, 1);
    for (int copies = 0; copies < 2 && status == SF_OK; copies++)
        status = run_form(rows, plan, &made.data, copies != 0, options.threads, ordered.model, error);
    sf_plan_model_free(ordered.model);
    sf_free(made.memory);
    return status;
}

static int run(const app_call *call, app_bench_rows *rows, sf_error *error)
{
    static const size_t sizes[] = {1000, 100000, 1000000};
    sf_one_r_plan plan;
    int status = sf_one_r_plan_make(&plan, error);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && status == SF_OK; i++)
        status = run_size(call, rows, &plan, sizes[i], error);
    sf_one_r_plan_free(&plan);
    return status;
}

const app_bench app_bench_plan = {
    .name = "plan",
    .options = (const char *const[]){"threads", NULL},
    .run = run,
};
