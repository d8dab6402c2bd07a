/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings put into conditions by their replicates, and conditions compared. */
#include "app/compare.h"

#include "core/memory.h"

#include <math.h>
#include <string.h>

/* ---- options ---- */

static int find_column(size_t *column, const app_call *call, const char *option, const char *otherwise,
                       const sf_table *table, sf_error *error)
{
    const char *name = app_value(call, option, otherwise);
    char place[256], names[256] = "";
    *column = sf_table_column(table, name);
    if (*column != SIZE_MAX)
        return SF_OK;
    for (size_t c = 0, at = 0; c < table->column_count && at < sizeof names; c++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", c > 0 ? ", " : "",
                               sf_table_name(table, c));
    if (app_has(call, option)) {
        snprintf(place, sizeof place, "--%s", option);
        return sf_fail(error, SF_USAGE, place, "found '%s', expected a column of the table: %s", name, names);
    }
    return sf_fail(error, SF_DATA, call->arguments[0],
                   "has no column '%s', and --%s names no other; its columns are %s", name, option, names);
}

/* Whether --without leaves it out. */
static bool is_without(const app_comparing *how, int measure)
{
    return (!how->graph && measure >= SF_MEASURE_DENSITY && measure <= SF_MEASURE_RECIPROCITY) ||
           (!how->chains && measure == SF_MEASURE_CHAINS);
}

static int parse_measures(app_grouping *grouping, const app_comparing *how, const app_call *call,
                          sf_error *error)
{
    const char *list = app_value(call, "measures", NULL);
    char *copy = list != NULL ? sf_copy_string(list) : NULL, *rest = copy;
    int status = list != NULL && copy == NULL ? sf_fail_memory(error) : SF_OK;
    for (int m = 0; m < SF_MEASURES && list == NULL; m++)
        if (!is_without(how, m))
            grouping->measures[grouping->measure_count++] = (sf_measured)m;
    while (rest != NULL && status == SF_OK) {
        const char *name = sf_text_field(&rest, ',');
        sf_nearest nearest = {.word = name};
        int m = 0;
        while (m < SF_MEASURES && strcmp(sf_measure_about((sf_measured)m)->name, name) != 0)
            sf_nearest_offer(&nearest, sf_measure_about((sf_measured)m++)->name);
        bool again = false;
        for (size_t i = 0; i < grouping->measure_count; i++)
            again = again || (int)grouping->measures[i] == m;
        if (m == SF_MEASURES)
            status = sf_fail(error, SF_USAGE, "--measures",
                             "found '%s'%s%s%s; `synfire compare --help` lists the measures", name,
                             nearest.best != NULL ? ": did you mean " : "",
                             nearest.best != NULL ? nearest.best : "", nearest.best != NULL ? "?" : "");
        else if (is_without(how, m))
            status = sf_fail(error, SF_USAGE, "--measures", "'%s' is of what --without leaves out", name);
        else if (again)
            status = sf_fail(error, SF_USAGE, "--measures", "'%s' is there twice", name);
        else
            grouping->measures[grouping->measure_count++] = (sf_measured)m;
    }
    sf_free(copy);
    return status;
}

int app_grouping_parse(app_grouping *grouping, const app_comparing *how, const app_call *call,
                       const sf_table *table, sf_error *error)
{
    static const char *const tests[] = {"permutation", "mann-whitney", "welch", NULL}; /* as sf_compared_by */
    static const char *const usual[] = {"animal", "culture", "subject", NULL};
    *grouping = (app_grouping){.replicate = SIZE_MAX,
                               .control = app_value(call, "control", NULL),
                               .permutations = 100000,
                               .seed = 1};
    size_t test = 0;
    int status = find_column(&grouping->by, call, "by", "condition", table, error);
    if (status == SF_OK && app_has(call, "replicate"))
        status = find_column(&grouping->replicate, call, "replicate", "", table, error);
    for (size_t i = 0; usual[i] != NULL && !app_has(call, "replicate") && grouping->replicate == SIZE_MAX;
         i++)
        grouping->replicate = sf_table_column(table, usual[i]);
    if (status == SF_OK)
        status = parse_measures(grouping, how, call, error);
    if (status == SF_OK)
        status = app_word(call, "test", tests, &test, error);
    if (status == SF_OK)
        status = app_uint(call, "permutations", 20, 100000000, &grouping->permutations, error);
    if (status == SF_OK)
        status = app_uint(call, "seed", 0, UINT64_MAX, &grouping->seed, error);
    grouping->test = (sf_compared_by)test;
    if (status == SF_OK && test == SF_COMPARED_WELCH && app_has(call, "permutations"))
        status =
            sf_fail(error, SF_USAGE, "--permutations", "does not go with --test welch, which makes none");
    return status;
}

/* ---- replicates ---- */

static const char *replicate_of(const app_grouping *grouping, const sf_table *table, size_t row)
{
    size_t column = grouping->replicate != SIZE_MAX ? grouping->replicate : sf_table_column(table, "file");
    return sf_table_cell(table, row, column);
}

static size_t find_condition(const app_groups *groups, const char *name)
{
    size_t c = 0;
    while (c < groups->condition_count && strcmp(groups->conditions[c].name, name) != 0)
        c++;
    return c;
}

static size_t find_replicate(const app_condition *condition, const char *name)
{
    size_t r = 0;
    while (r < condition->count && strcmp(condition->replicates[r], name) != 0)
        r++;
    return r;
}

static int list_groups(app_groups *groups, const app_grouping *grouping, const sf_table *table,
                       app_compared_row *rows, size_t count, sf_error *error)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = find_condition(groups, sf_table_cell(table, rows[i].table_row, grouping->by));
        app_condition *condition = &groups->conditions[at];
        if (at == groups->condition_count) {
            condition->name = sf_table_cell(table, rows[i].table_row, grouping->by);
            condition->replicates = sf_alloc(count, sizeof *condition->replicates);
            if (condition->replicates == NULL)
                return sf_fail_memory(error);
            groups->condition_count++;
        }
        const char *name = replicate_of(grouping, table, rows[i].table_row);
        rows[i].condition = at;
        rows[i].replicate = find_replicate(condition, name);
        if (rows[i].replicate == condition->count)
            condition->replicates[condition->count++] = name;
        condition->rows++;
    }
    return SF_OK;
}

typedef struct mean {
    double sum, count;
} mean;

static double mean_of(mean m)
{
    return m.count > 0 ? m.sum / m.count : NAN;
}

static void add_to_mean(mean *m, double value)
{
    if (!isfinite(value))
        return;
    m->sum += value;
    m->count++;
}

/* Of one replicate: over its recordings the mean over their wells. */
static double average(const app_compared_row *rows, const bool *own, size_t count, sf_measured measure)
{
    mean all = {0};
    for (size_t i = 0; i < count; i++) {
        mean wells = {0};
        bool first = own[i];
        for (size_t k = 0; k < i && first; k++)
            first = !own[k] || rows[k].file != rows[i].file;
        for (size_t k = i; k < count && first; k++)
            if (own[k] && rows[k].file == rows[i].file)
                add_to_mean(&wells, rows[k].values[measure]);
        add_to_mean(&all, mean_of(wells));
    }
    return mean_of(all);
}

static int average_replicates(app_groups *groups, const app_compared_row *rows, size_t count, sf_error *error)
{
    bool *own = sf_alloc(count, sizeof *own);
    if (own == NULL)
        return sf_fail_memory(error);
    int status = SF_OK;
    for (size_t c = 0; c < groups->condition_count && status == SF_OK; c++) {
        app_condition *condition = &groups->conditions[c];
        condition->values = sf_alloc(condition->count * SF_MEASURES, sizeof *condition->values);
        if (condition->values == NULL)
            status = sf_fail_memory(error);
        for (size_t r = 0; r < condition->count && status == SF_OK; r++) {
            for (size_t i = 0; i < count; i++)
                own[i] = rows[i].condition == c && rows[i].replicate == r;
            for (int m = 0; m < SF_MEASURES; m++)
                condition->values[r * SF_MEASURES + (size_t)m] = average(rows, own, count, (sf_measured)m);
        }
    }
    sf_free(own);
    return status;
}

/* ---- contrasts ---- */

/* Rows of the asked measures: all of the condition's, or those of replicates that the other has, in the order
 * of `order`. Returns how many. */
static size_t gather(double *values, const app_groups *groups, const app_condition *of,
                     const app_condition *order, const app_condition *other)
{
    size_t count = 0;
    for (size_t i = 0; i < order->count; i++) {
        size_t r = find_replicate(of, order->replicates[i]);
        if (r == of->count || (other != NULL && find_replicate(other, order->replicates[i]) == other->count))
            continue;
        for (size_t m = 0; m < groups->measure_count; m++)
            values[count * groups->measure_count + m] = of->values[r * SF_MEASURES + groups->measures[m]];
        count++;
    }
    return count;
}

static int contrast(app_contrast *c, const app_groups *groups, const app_grouping *grouping, sf_error *error)
{
    const app_condition *first = &groups->conditions[c->first], *second = &groups->conditions[c->second];
    size_t shared = 0;
    for (size_t r = 0; r < first->count; r++)
        shared += find_replicate(second, first->replicates[r]) < second->count;
    c->paired = shared > 0;
    c->left_out = c->paired ? first->count + second->count - 2 * shared : 0;
    double *values[2] = {sf_alloc(first->count * groups->measure_count, sizeof **values),
                         sf_alloc(second->count * groups->measure_count, sizeof **values)};
    int status = SF_OK;
    if (values[0] == NULL || values[1] == NULL) {
        status = sf_fail_memory(error);
    } else {
        size_t a = gather(values[0], groups, first, first, c->paired ? second : NULL);
        size_t b = gather(values[1], groups, second, c->paired ? first : second, c->paired ? first : NULL);
        const sf_contrast_input input = {.measure_count = groups->measure_count,
                                         .counts = {a, b},
                                         .values = {values[0], values[1]},
                                         .paired = c->paired,
                                         .by = grouping->test,
                                         .most = grouping->permutations,
                                         .seed = grouping->seed};
        status = sf_contrast_find(&c->told, &input, error);
    }
    sf_free(values[0]);
    sf_free(values[1]);
    return status;
}

static int list_contrasts(app_groups *groups, const app_grouping *grouping, sf_error *error)
{
    size_t n = groups->condition_count, control = n;
    if (grouping->control != NULL) {
        control = find_condition(groups, grouping->control);
        if (control == n)
            return sf_fail(error, SF_USAGE, "--control", "found '%s', which no recording is of",
                           grouping->control);
    }
    groups->contrasts = sf_alloc(n * (n + 1) / 2, sizeof *groups->contrasts);
    if (groups->contrasts == NULL)
        return sf_fail_memory(error);
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++)
            if (control == n || a == control || b == control)
                groups->contrasts[groups->contrast_count++] =
                    (app_contrast){.first = b == control ? b : a, .second = b == control ? a : b};
    return SF_OK;
}

static bool is_tested(const app_contrast *c, size_t measure_count)
{
    for (size_t m = 0; m < measure_count; m++)
        if (!isnan(c->told.measures[m].p))
            return true;
    return false;
}

int app_groups_make(app_groups *groups, const app_grouping *grouping, const sf_table *table,
                    app_compared_row *rows, size_t count, sf_error *error)
{
    *groups = (app_groups){.conditions = sf_alloc(count, sizeof *groups->conditions),
                           .measure_count = grouping->measure_count,
                           .by = grouping->test};
    memcpy(groups->measures, grouping->measures, sizeof groups->measures);
    if (grouping->replicate != SIZE_MAX)
        groups->replicate = sf_table_name(table, grouping->replicate);
    int status = groups->conditions == NULL ? sf_fail_memory(error)
                                            : list_groups(groups, grouping, table, rows, count, error);
    if (status == SF_OK)
        status = average_replicates(groups, rows, count, error);
    if (status == SF_OK)
        status = list_contrasts(groups, grouping, error);
    for (size_t i = 0; i < groups->contrast_count && status == SF_OK; i++) {
        status = contrast(&groups->contrasts[i], groups, grouping, error);
        groups->tested += status == SF_OK && is_tested(&groups->contrasts[i], groups->measure_count);
    }
    for (size_t i = 0; i < groups->contrast_count && status == SF_OK; i++)
        for (size_t m = 0; m < groups->measure_count; m++) {
            double *q = &groups->contrasts[i].told.measures[m].q;
            *q = isnan(*q) ? NAN : fmin(1, *q * (double)groups->tested);
        }
    return status;
}

void app_groups_free(app_groups *groups)
{
    for (size_t i = 0; i < groups->contrast_count; i++)
        sf_contrast_free(&groups->contrasts[i].told);
    for (size_t c = 0; c < groups->condition_count; c++) {
        sf_free(groups->conditions[c].replicates);
        sf_free(groups->conditions[c].values);
    }
    sf_free(groups->conditions);
    sf_free(groups->contrasts);
    *groups = (app_groups){0};
}
