/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/rules.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/progress.h"
#include "core/random.h"
#include "core/reals.h"
#include "core/thread.h"
#include "plan/one_r.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is learnt from ---- */

/* An attribute prepared for counting: its distinct values, ascending, and the value of each window. */
typedef struct value_column {
    uint64_t *values;
    size_t value_count;
    uint32_t *at; /* of each window */
} value_column;

/* Windows begin .. end - 1 are the test set; gap_begin .. gap_end - 1 overlap them and are excluded from
 * learning. */
typedef struct block {
    size_t begin, end, gap_begin, gap_end;
} block;

typedef struct table {
    const sf_rules_input *input;
    value_column *columns;
    block *blocks;
    size_t most_values;
} table;

static uint32_t find_value(const value_column *of, uint64_t value)
{
    size_t low = 0, high = of->value_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (of->values[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

static int make_column(value_column *into, const sf_rules_input *input, size_t attribute)
{
    into->values = sf_resize(NULL, input->window_count, sizeof *into->values);
    into->at = sf_resize(NULL, input->window_count, sizeof *into->at);
    if (into->values == NULL || into->at == NULL) return -1;
    for (size_t w = 0; w < input->window_count; w++)
        into->values[w] = input->counts[w][attribute];
    sf_counts_sort(into->values, input->window_count);
    for (size_t w = 0; w < input->window_count; w++)
        if (w == 0 || into->values[w] != into->values[into->value_count - 1])
            into->values[into->value_count++] = into->values[w];
    for (size_t w = 0; w < input->window_count; w++)
        into->at[w] = find_value(into, input->counts[w][attribute]);
    return 0;
}

static void make_blocks(table *of)
{
    const sf_rules_input *input = of->input;
    for (size_t f = 0; f < input->folds; f++) {
        block *each = &of->blocks[f];
        each->begin = each->gap_begin = input->window_count * f / input->folds;
        each->end = each->gap_end = input->window_count * (f + 1) / input->folds;
        while (each->gap_begin > 0 &&
               input->windows[each->gap_begin - 1].stop_ns > input->windows[each->begin].start_ns)
            each->gap_begin--;
        while (each->gap_end < input->window_count &&
               input->windows[each->gap_end].start_ns < input->windows[each->end - 1].stop_ns)
            each->gap_end++;
    }
}

static int open_table(table *of, const sf_rules_input *input, sf_error *error)
{
    *of = (table){.input = input,
                  .columns = sf_alloc(input->attribute_count, sizeof *of->columns),
                  .blocks = sf_alloc(input->folds, sizeof *of->blocks)};
    if (of->columns == NULL || of->blocks == NULL) return sf_fail_memory(error);
    for (size_t k = 0; k < input->attribute_count; k++) {
        if (make_column(&of->columns[k], input, k) != 0) return sf_fail_memory(error);
        if (of->columns[k].value_count > of->most_values) of->most_values = of->columns[k].value_count;
    }
    make_blocks(of);
    if (of->most_values > UINT16_MAX)
        return sf_fail(error, SF_DATA, NULL, "there are more than %d different counts", UINT16_MAX);
    return SF_OK;
}

static void close_table(table *of)
{
    for (size_t k = 0; of->columns != NULL && k < of->input->attribute_count; k++) {
        sf_free(of->columns[k].values);
        sf_free(of->columns[k].at);
    }
    sf_free(of->columns);
    sf_free(of->blocks);
}

/* ---- intervals ---- */

/* Distinct values first .. last, and the label they predict. */
typedef struct interval {
    uint32_t first, last;
    uint16_t label;
} interval;

/* The most frequent label; the first among equals. */
static uint16_t most_frequent(const uint32_t *counts, uint16_t labels)
{
    uint16_t most = 0;
    for (uint16_t c = 1; c < labels; c++)
        most = counts[c] > counts[most] ? c : most;
    return most;
}

typedef struct cutting {
    interval *into;
    size_t count;
    uint32_t *open; /* label counts of the open interval */
    uint64_t correct;
} cutting;

/* Closes the open interval; merges it with its neighbour if both predict the same. */
static void close_interval(cutting *at, const interval *range, uint16_t labels)
{
    uint16_t label = most_frequent(at->open, labels);
    at->correct += at->open[label];
    if (at->count > 0 && at->into[at->count - 1].label == label)
        at->into[at->count - 1].last = range->last;
    else
        at->into[at->count++] = (interval){range->first, range->last, label};
    memset(at->open, 0, labels * sizeof *at->open);
}

/* Cuts values into intervals; `counts` has a row of label counts for each value. Returns the number of
 * correctly predicted windows. */
static uint64_t cut(interval *into, size_t *count, const uint32_t *counts, size_t values, uint16_t labels,
                    uint64_t least, uint32_t *open)
{
    cutting at = {into, 0, open, 0};
    interval range = {0};
    bool is_open = false;
    memset(open, 0, labels * sizeof *open);
    for (uint32_t v = 0; v < values; v++) {
        const uint32_t *row = &counts[v * (size_t)labels];
        uint16_t label = most_frequent(row, labels);
        if (row[label] == 0) continue; /* no training window has this value */
        uint16_t so_far = most_frequent(open, labels);
        if (is_open && open[so_far] >= least && label != so_far) {
            close_interval(&at, &range, labels);
            is_open = false;
        }
        if (!is_open) range.first = v;
        range.last = v;
        is_open = true;
        for (uint16_t c = 0; c < labels; c++)
            open[c] += row[c];
    }
    if (is_open) close_interval(&at, &range, labels);
    *count = at.count;
    return at.correct;
}

static double threshold(const value_column *of, const interval *before, const interval *after)
{
    return 0.5 * ((double)of->values[before->last] + (double)of->values[after->first]);
}

size_t sf_rule_interval(const double *thresholds, size_t interval_count, uint64_t count)
{
    size_t i = 0;
    while (i + 1 < interval_count && (double)count > thresholds[i])
        i++;
    return i;
}

/* ---- one sequence of labels, block by block ---- */

/* Scratch memory of a thread; `best` holds the intervals chosen with each block left out. */
typedef struct scratch {
    uint32_t *total, *counts, *open;
    interval *tried, *best; /* most_values each; folds times as many */
    size_t *best_count, *best_attribute;
    uint64_t *best_correct;
    uint16_t *labels; /* shifted */
} scratch;

static void close_scratch(scratch *own)
{
    sf_free(own->total);
    sf_free(own->counts);
    sf_free(own->open);
    sf_free(own->tried);
    sf_free(own->best);
    sf_free(own->best_count);
    sf_free(own->best_attribute);
    sf_free(own->best_correct);
    sf_free(own->labels);
}

static int open_scratch(scratch *own, const table *of)
{
    const sf_rules_input *input = of->input;
    size_t cells = of->most_values * input->label_count;
    *own = (scratch){.total = sf_alloc(cells, sizeof *own->total),
                     .counts = sf_alloc(cells, sizeof *own->counts),
                     .open = sf_alloc(input->label_count, sizeof *own->open),
                     .tried = sf_alloc(of->most_values, sizeof *own->tried),
                     .best = sf_alloc(input->folds * of->most_values, sizeof *own->best),
                     .best_count = sf_alloc(input->folds, sizeof *own->best_count),
                     .best_attribute = sf_alloc(input->folds, sizeof *own->best_attribute),
                     .best_correct = sf_alloc(input->folds, sizeof *own->best_correct),
                     .labels = sf_alloc(input->window_count, sizeof *own->labels)};
    return own->total != NULL && own->counts != NULL && own->open != NULL && own->tried != NULL &&
                   own->best != NULL && own->best_count != NULL && own->best_attribute != NULL &&
                   own->best_correct != NULL && own->labels != NULL
               ? 0
               : -1;
}

/* Tries one attribute, leaving out each block in turn. */
static void try_attribute(scratch *own, const table *of, size_t attribute, const uint16_t *labels)
{
    const sf_rules_input *input = of->input;
    const value_column *column = &of->columns[attribute];
    uint16_t classes = input->label_count;
    size_t bytes = column->value_count * classes * sizeof *own->total;
    memset(own->total, 0, bytes);
    for (size_t w = 0; w < input->window_count; w++)
        own->total[column->at[w] * (size_t)classes + labels[w]]++;
    for (size_t f = 0; f < input->folds; f++) {
        memcpy(own->counts, own->total, bytes);
        for (size_t w = of->blocks[f].gap_begin; w < of->blocks[f].gap_end; w++)
            own->counts[column->at[w] * (size_t)classes + labels[w]]--;
        size_t count;
        uint64_t correct =
            cut(own->tried, &count, own->counts, column->value_count, classes, input->least, own->open);
        if (correct <= own->best_correct[f]) continue;
        own->best_correct[f] = correct;
        own->best_attribute[f] = attribute;
        own->best_count[f] = count;
        memcpy(&own->best[f * of->most_values], own->tried, count * sizeof *own->tried);
    }
}

/* Prediction for a window in block f by the rule learnt without f; the first label if nothing was learnt. */
static uint16_t predict(const scratch *own, const table *of, size_t f, size_t window)
{
    const interval *intervals = &own->best[f * of->most_values];
    const value_column *column = &of->columns[own->best_attribute[f]];
    double value = (double)column->values[column->at[window]];
    size_t i = 0;
    while (i + 1 < own->best_count[f] && value > threshold(column, &intervals[i], &intervals[i + 1]))
        i++;
    return own->best_count[f] > 0 ? intervals[i].label : 0;
}

/* Learns without each block and predicts it; `confusion` and `fold_accuracy` may be NULL. Returns the
 * accuracy. */
static double cross_validate(scratch *own, const table *of, const uint16_t *labels, uint64_t *confusion,
                             double *fold_accuracy)
{
    const sf_rules_input *input = of->input;
    uint64_t correct = 0;
    memset(own->best_correct, 0, input->folds * sizeof *own->best_correct);
    memset(own->best_count, 0, input->folds * sizeof *own->best_count);
    memset(own->best_attribute, 0, input->folds * sizeof *own->best_attribute);
    for (size_t k = 0; k < input->attribute_count; k++)
        try_attribute(own, of, k, labels);
    for (size_t f = 0; f < input->folds; f++) {
        uint64_t before = correct;
        for (size_t w = of->blocks[f].begin; w < of->blocks[f].end; w++) {
            uint16_t predicted = predict(own, of, f, w);
            correct += predicted == labels[w];
            if (confusion != NULL) confusion[labels[w] * (size_t)input->label_count + predicted]++;
        }
        if (fold_accuracy != NULL)
            fold_accuracy[f] = (double)(correct - before) / (double)(of->blocks[f].end - of->blocks[f].begin);
    }
    return (double)correct / (double)input->window_count;
}

/* ---- chance ---- */

typedef struct shifting {
    const table *of;
    scratch *scratches;
    double *accuracies;
    size_t count, segments;
    atomic_size_t done;
} shifting;

/* Circularly shifts the labels within each segment by an independent offset. */
static void shift_labels(uint16_t *shifted, const sf_rules_input *input, size_t segments, size_t shift)
{
    sf_random random = sf_random_start(input->seed, shift);
    for (size_t s = 0; s < segments; s++) {
        size_t begin = input->window_count * s / segments, end = input->window_count * (s + 1) / segments;
        size_t length = end - begin, offset = (size_t)sf_random_below(&random, length);
        for (size_t w = 0; w < length; w++)
            shifted[begin + w] = input->labels[begin + (w + offset) % length];
    }
}

static int try_shift(void *context, unsigned worker, size_t item)
{
    shifting *all = context;
    const sf_rules_input *input = all->of->input;
    scratch *own = &all->scratches[worker];
    shift_labels(own->labels, input, all->segments, item);
    all->accuracies[item] = cross_validate(own, all->of, own->labels, NULL, NULL);
    size_t done = atomic_fetch_add(&all->done, 1) + 1;
    bool goes_on =
        worker != 0 || sf_progress_update(input->progress, "shifts", (double)done, (double)all->count);
    return goes_on || done == all->count ? SF_OK : SF_CANCELLED;
}

/* A segment is as long as two runs of one label on average. */
static size_t count_segments(const sf_rules_input *input)
{
    size_t stretches = 1;
    for (size_t w = 1; w < input->window_count; w++)
        stretches += input->labels[w] != input->labels[w - 1];
    return stretches >= SF_RULES_LEAST_STRETCHES ? stretches / 2 : 0;
}

static void sum_up_chance(sf_rules *rules, double *accuracies)
{
    rules->chance_mean = rules->chance_most = rules->chance_p = NAN;
    if (rules->shifts < SF_RULES_LEAST_SHIFTS) return;
    double sum = 0;
    size_t as_good = 0;
    for (size_t i = 0; i < rules->shifts; i++) {
        sum += accuracies[i];
        as_good += accuracies[i] >= rules->accuracy;
    }
    sf_reals_sort(accuracies, rules->shifts);
    rules->chance_mean = sum / (double)rules->shifts;
    rules->chance_most = accuracies[(rules->shifts * 95 + 99) / 100 - 1];
    rules->chance_p = (double)(1 + as_good) / (double)(1 + rules->shifts);
}

/* Moves the accuracies of the shifts that were tried to the front; returns their number. */
static size_t keep_tried(double *accuracies, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(accuracies[i])) accuracies[kept++] = accuracies[i];
    return kept;
}

static int try_shifts(sf_rules *rules, const table *of, scratch *scratches, unsigned threads, sf_error *error)
{
    const sf_rules_input *input = of->input;
    rules->segments = count_segments(input);
    rules->shifts = rules->segments > 0 ? input->shifts : 0;
    shifting all = {.of = of, .scratches = scratches, .count = rules->shifts, .segments = rules->segments};
    all.accuracies = sf_resize(NULL, all.count, sizeof *all.accuracies);
    if (all.accuracies == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < all.count; i++)
        all.accuracies[i] = NAN; /* until it is tried */
    int status = sf_parallel_for(threads, all.count, try_shift, &all);
    if (status == SF_CANCELLED) {
        rules->shifts = keep_tried(all.accuracies, all.count);
        sf_fail(error, SF_CANCELLED, NULL, "stopped after %zu of %zu shifts of the labels", rules->shifts,
                all.count);
    }
    sum_up_chance(rules, all.accuracies);
    sf_free(all.accuracies);
    return status;
}

/* ---- the rule of all windows ---- */

/* Every attribute cut into intervals, as 1R takes them. */
typedef struct cut_columns {
    uint16_t **values;
    uint32_t *counts;
    interval **intervals;
} cut_columns;

static void free_cut(cut_columns *cuts, size_t attributes)
{
    for (size_t k = 0; k < attributes; k++) {
        if (cuts->values != NULL) sf_free(cuts->values[k]);
        if (cuts->intervals != NULL) sf_free(cuts->intervals[k]);
    }
    sf_free(cuts->values);
    sf_free(cuts->intervals);
    sf_free(cuts->counts);
}

static int cut_attribute(cut_columns *cuts, scratch *own, const table *of, size_t k)
{
    const sf_rules_input *input = of->input;
    const value_column *column = &of->columns[k];
    size_t count;
    memset(own->counts, 0, column->value_count * input->label_count * sizeof *own->counts);
    for (size_t w = 0; w < input->window_count; w++)
        own->counts[column->at[w] * (size_t)input->label_count + input->labels[w]]++;
    cut(own->tried, &count, own->counts, column->value_count, input->label_count, input->least, own->open);
    cuts->values[k] = sf_resize(NULL, input->window_count, sizeof **cuts->values);
    cuts->intervals[k] = sf_resize(NULL, count, sizeof **cuts->intervals);
    if (cuts->values[k] == NULL || cuts->intervals[k] == NULL) return -1;
    memcpy(cuts->intervals[k], own->tried, count * sizeof *own->tried);
    cuts->counts[k] = (uint32_t)count;
    for (size_t w = 0; w < input->window_count; w++) {
        uint16_t i = 0;
        while (column->at[w] > own->tried[i].last)
            i++;
        cuts->values[k][w] = i;
    }
    return 0;
}

static int take_rule(sf_rule *rule, const table *of, const cut_columns *cuts, const sf_one_r_rule *found,
                     sf_error *error)
{
    size_t k = found->attribute, count = found->value_count;
    *rule = (sf_rule){.attribute = k,
                      .interval_count = count,
                      .thresholds = sf_resize(NULL, count, sizeof *rule->thresholds),
                      .labels = found->predicted,
                      .correct = found->correct};
    if (rule->thresholds == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i + 1 < count; i++)
        rule->thresholds[i] = threshold(&of->columns[k], &cuts->intervals[k][i], &cuts->intervals[k][i + 1]);
    return SF_OK;
}

static int learn_all(sf_rule *rule, const table *of, scratch *own, sf_error *error)
{
    const sf_rules_input *input = of->input;
    size_t attributes = input->attribute_count;
    cut_columns cuts = {.values = sf_alloc(attributes, sizeof *cuts.values),
                        .counts = sf_alloc(attributes, sizeof *cuts.counts),
                        .intervals = sf_alloc(attributes, sizeof *cuts.intervals)};
    bool failed = cuts.values == NULL || cuts.counts == NULL || cuts.intervals == NULL;
    for (size_t k = 0; k < attributes && !failed; k++)
        failed = cut_attribute(&cuts, own, of, k) != 0;
    sf_one_r_data data = {.vectors = input->window_count,
                          .attributes = (uint32_t)attributes,
                          .classes = input->label_count,
                          .value_counts = cuts.counts,
                          .values = (const uint16_t *const *)cuts.values,
                          .labels = input->labels};
    sf_one_r_how how = {.threads = input->threads, .least_calls = SF_ONE_R_LEAST_CALLS, .copies = true};
    sf_one_r_plan plan = {.functions = NULL};
    sf_plan_model *model = NULL;
    sf_one_r_rule found = {.predicted = NULL};
    int status = failed ? sf_fail_memory(error) : sf_one_r_plan_make(&plan, error);
    if (status == SF_OK) status = sf_one_r_train(&model, &plan, &data, &how, NULL, error);
    if (status == SF_OK) status = sf_one_r_read(&found, model, &data, error);
    if (status == SF_OK)
        status = take_rule(rule, of, &cuts, &found, error);
    else
        sf_free(found.predicted);
    sf_plan_model_free(model);
    sf_one_r_plan_free(&plan);
    free_cut(&cuts, attributes);
    return status;
}

/* ---- the whole ---- */

/* Accuracy per label, averaged over labels that occur. */
static double balance(const uint64_t *confusion, uint16_t labels)
{
    double sum = 0;
    size_t known = 0;
    for (size_t c = 0; c < labels; c++) {
        uint64_t all = 0;
        for (size_t p = 0; p < labels; p++)
            all += confusion[c * labels + p];
        known += all > 0;
        sum += all > 0 ? (double)confusion[c * labels + c] / (double)all : 0;
    }
    return sum / (double)known;
}

static int learn(sf_rules *rules, const table *of, scratch *scratches, unsigned threads, sf_error *error)
{
    const sf_rules_input *input = of->input;
    size_t labels = input->label_count, most = 0;
    rules->confusion = sf_alloc(labels * labels, sizeof *rules->confusion);
    rules->fold_accuracy = sf_alloc(input->folds, sizeof *rules->fold_accuracy);
    rules->fold_attribute = sf_alloc(input->folds, sizeof *rules->fold_attribute);
    if (rules->confusion == NULL || rules->fold_accuracy == NULL || rules->fold_attribute == NULL)
        return sf_fail_memory(error);
    int status = learn_all(&rules->rule, of, &scratches[0], error);
    if (status != SF_OK) return status;
    rules->accuracy =
        cross_validate(&scratches[0], of, input->labels, rules->confusion, rules->fold_accuracy);
    memcpy(rules->fold_attribute, scratches[0].best_attribute, input->folds * sizeof *rules->fold_attribute);
    rules->balanced = balance(rules->confusion, input->label_count);
    for (size_t w = 0; w < input->window_count; w++)
        most += input->labels[w] == 0;
    rules->majority = (double)most / (double)input->window_count;
    return try_shifts(rules, of, scratches, threads, error);
}

int sf_rules_learn(sf_rules *rules, const sf_rules_input *input, sf_error *error)
{
    *rules = (sf_rules){.accuracy = NAN};
    unsigned threads = input->threads > 0 ? input->threads : sf_thread_cores();
    scratch *scratches = sf_alloc(threads, sizeof *scratches);
    table of;
    int status = open_table(&of, input, error);
    if (status == SF_OK && scratches == NULL) status = sf_fail_memory(error);
    for (unsigned i = 0; i < threads && status == SF_OK; i++)
        if (open_scratch(&scratches[i], &of) != 0) status = sf_fail_memory(error);
    if (status == SF_OK) status = learn(rules, &of, scratches, threads, error);
    for (unsigned i = 0; scratches != NULL && i < threads; i++)
        close_scratch(&scratches[i]);
    sf_free(scratches);
    close_table(&of);
    return status;
}

void sf_rules_free(sf_rules *rules)
{
    sf_free(rules->rule.thresholds);
    sf_free(rules->rule.labels);
    sf_free(rules->confusion);
    sf_free(rules->fold_accuracy);
    sf_free(rules->fold_attribute);
    *rules = (sf_rules){0};
}
