/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings put into conditions by their replicates, and conditions compared. */
#include "app/compare.h"

#include "core/memory.h"
#include "core/row_macros.h"

#include <math.h>
#include <string.h>

/* ---- options ---- */

const char *const app_compared_tests[] = {"permutation", "mann-whitney", "welch", NULL};
static const app_grouping usual_grouping = {
    .replicate = SIZE_MAX, .block = SIZE_MAX, .factor = SIZE_MAX, .permutations = 100000, .seed = 1};

#define ROW app_grouping
static const sf_key grouping_rows[] = {
    TEXT("control", control, .zero = "all pairs", .argument = "NAME",
         .what = "compare the others with this one alone"),
    CHOICE("test", test, app_compared_tests, .what = "how groups are compared"),
    COUNT("permutations", permutations, 20, 1e8, .argument = "N",
          .what = "all of them where they are no more, else so many at random"),
    {SF_ROW_SEED, AT(seed), .what = "of what is drawn at random"},
    {0},
};
#undef ROW

const sf_key_table app_grouping_table = SF_KEY_TABLE(grouping_rows, usual_grouping);

static int find_column(size_t *column, const app_call *call, const char *option, const char *otherwise,
                       const sf_delimited *table, sf_error *error)
{
    const char *name = app_value(call, option, otherwise);
    char place[256], names[256] = "";
    *column = sf_delimited_column(table, name);
    if (*column != SIZE_MAX) return SF_OK;
    for (size_t c = 0, at = 0; c < table->column_count && at < sizeof names; c++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", c > 0 ? ", " : "",
                               sf_delimited_name(table, c));
    if (app_has(call, option)) {
        snprintf(place, sizeof place, "--%s", option);
        return sf_fail(error, SF_USAGE, place, "found '%s', expected a column of the table: %s", name, names);
    }
    return sf_fail(error, SF_DATA, call->arguments[0],
                   "has no column '%s', and --%s names no other; its columns are %s", name, option, names);
}

static bool is_of_responses(int measure)
{
    return measure >= SF_MEASURE_RESPONDING && measure <= SF_MEASURE_LATENCY;
}

static bool is_of_sequences(int measure)
{
    return measure == SF_MEASURE_SIMILARITY || measure == SF_MEASURE_PLACED;
}

/* Whether it is not looked for. */
static bool is_without(const app_comparing *how, int measure)
{
    return (!how->sequences && is_of_sequences(measure)) ||
           (how->response.marker == NULL && is_of_responses(measure)) ||
           ((how->without & APP_PART_GRAPH) != 0 && measure >= SF_MEASURE_DENSITY &&
            measure <= SF_MEASURE_SMALL_WORLD) ||
           ((how->without & APP_PART_CHAINS) != 0 && measure == SF_MEASURE_CHAINS);
}

static int parse_measures(app_grouping *grouping, const app_comparing *how, const app_call *call,
                          sf_error *error)
{
    const char *list = app_value(call, "measures", NULL);
    char *copy = list != NULL ? sf_copy_string(list) : NULL, *rest = copy;
    int status = list != NULL && copy == NULL ? sf_fail_memory(error) : SF_OK;
    for (int m = 0; m < SF_MEASURES && list == NULL; m++)
        if (!is_without(how, m)) grouping->measures[grouping->measure_count++] = (sf_measured)m;
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
            status = sf_fail(error, SF_USAGE, "--measures",
                             is_of_responses(m)   ? "'%s' is of responses: give --marker"
                             : is_of_sequences(m) ? "'%s' is of sequences: give --sequences"
                                                  : "'%s' is of what --without leaves out",
                             name);
        else if (again)
            status = sf_fail(error, SF_USAGE, "--measures", "'%s' is there twice", name);
        else
            grouping->measures[grouping->measure_count++] = (sf_measured)m;
    }
    sf_free(copy);
    return status;
}

static int check_factor(const app_grouping *grouping, const sf_delimited *table, sf_error *error)
{
    const char *name = sf_delimited_name(table, grouping->factor);
    size_t same = 0;
    if (grouping->factor == grouping->by)
        return sf_fail(error, SF_USAGE, "--factor", "found '%s', which is the first factor, that of --by",
                       name);
    if (grouping->factor == grouping->replicate)
        return sf_fail(error, SF_USAGE, "--factor", "found '%s', which says what a replicate is", name);
    if (grouping->test != SF_COMPARED_PERMUTATION)
        return sf_fail(error, SF_USAGE, "--factor", "goes with --test permutation");
    for (size_t row = 0; row < table->row_count; row++)
        same += strcmp(sf_delimited_cell(table, row, grouping->factor),
                       sf_delimited_cell(table, 0, grouping->factor)) == 0;
    return same < table->row_count
               ? SF_OK
               : sf_fail(error, SF_USAGE, "--factor", "found '%s', which has one value alone", name);
}

int app_grouping_parse(app_grouping *grouping, const app_comparing *how, const app_call *call,
                       const sf_delimited *table, sf_error *error)
{
    static const char *const usual[] = {"animal", "culture", "subject", NULL};
    *grouping = usual_grouping;
    int status = find_column(&grouping->by, call, "by", "condition", table, error);
    if (status == SF_OK && app_has(call, "replicate"))
        status = find_column(&grouping->replicate, call, "replicate", "", table, error);
    if (status == SF_OK && app_has(call, "block"))
        status = find_column(&grouping->block, call, "block", "", table, error);
    if (status == SF_OK && app_has(call, "factor"))
        status = find_column(&grouping->factor, call, "factor", "", table, error);
    for (size_t i = 0; usual[i] != NULL && !app_has(call, "replicate") && grouping->replicate == SIZE_MAX;
         i++)
        grouping->replicate = sf_delimited_column(table, usual[i]);
    if (status == SF_OK) status = parse_measures(grouping, how, call, error);
    if (status == SF_OK) status = app_options_read(call, &app_grouping_table, grouping, error);
    if (status == SF_OK && (grouping->block == grouping->by ||
                            (grouping->block != SIZE_MAX && grouping->block == grouping->factor)))
        status = sf_fail(error, SF_USAGE, "--block", "found '%s', whose values are what is compared",
                         sf_delimited_name(table, grouping->block));
    if (status == SF_OK && grouping->factor != SIZE_MAX) status = check_factor(grouping, table, error);
    if (status == SF_OK && grouping->test == SF_COMPARED_WELCH && app_has(call, "permutations"))
        status =
            sf_fail(error, SF_USAGE, "--permutations", "does not go with --test welch, which makes none");
    return status;
}

/* ---- replicates ---- */

static const char *replicate_of(const app_grouping *grouping, const sf_delimited *table, size_t row)
{
    size_t column =
        grouping->replicate != SIZE_MAX ? grouping->replicate : sf_delimited_column(table, "file");
    return sf_delimited_cell(table, row, column);
}

static size_t find_replicate(const app_condition *condition, app_replicate wanted)
{
    size_t r = 0;
    while (r < condition->count && (condition->replicates[r].block != wanted.block ||
                                    strcmp(condition->replicates[r].name, wanted.name) != 0))
        r++;
    return r;
}

/* The number of a name, which is added where it is a new one. */
static size_t find_name(const char **names, size_t *count, const char *name)
{
    size_t i = 0;
    while (i < *count && strcmp(names[i], name) != 0)
        i++;
    if (i == *count) names[(*count)++] = name;
    return i;
}

static const char *cell_of(const sf_delimited *table, size_t row, size_t column)
{
    return column != SIZE_MAX ? sf_delimited_cell(table, row, column) : "";
}

/* Builds a condition from the rows of its name and level; a condition without rows is dropped. */
static int list_condition(app_groups *groups, const app_grouping *grouping, const sf_delimited *table,
                          app_compared_row *rows, size_t count, sf_error *error)
{
    app_condition *condition = &groups->conditions[groups->condition_count];
    for (size_t i = 0; i < count; i++) {
        const size_t row = rows[i].table_row;
        if (strcmp(sf_delimited_cell(table, row, grouping->by), groups->names[condition->first]) != 0 ||
            strcmp(cell_of(table, row, grouping->factor), groups->levels[condition->level]) != 0)
            continue;
        if (condition->replicates == NULL)
            condition->replicates = sf_alloc(count, sizeof *condition->replicates);
        if (condition->replicates == NULL) return sf_fail_memory(error);
        const app_replicate replicate = {
            replicate_of(grouping, table, row),
            find_name(groups->blocks, &groups->block_count, cell_of(table, row, grouping->block))};
        rows[i].condition = groups->condition_count;
        rows[i].replicate = find_replicate(condition, replicate);
        if (rows[i].replicate == condition->count) condition->replicates[condition->count++] = replicate;
        condition->rows++;
    }
    groups->condition_count += condition->rows > 0;
    return SF_OK;
}

static int list_groups(app_groups *groups, const app_grouping *grouping, const sf_delimited *table,
                       app_compared_row *rows, size_t count, sf_error *error)
{
    int status = SF_OK;
    for (size_t i = 0; i < count; i++) {
        find_name(groups->names, &groups->name_count,
                  sf_delimited_cell(table, rows[i].table_row, grouping->by));
        find_name(groups->levels, &groups->level_count, cell_of(table, rows[i].table_row, grouping->factor));
        find_name(groups->blocks, &groups->block_count, cell_of(table, rows[i].table_row, grouping->block));
    }
    for (size_t l = 0; l < groups->level_count; l++)
        for (size_t n = 0; n < groups->name_count && status == SF_OK; n++) {
            groups->conditions[groups->condition_count] =
                (app_condition){.name = groups->names[n], .first = n, .level = l};
            status = list_condition(groups, grouping, table, rows, count, error);
        }
    return status;
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
    if (!isfinite(value)) return;
    m->sum += value;
    m->count++;
}

/* Mean of a replicate: over its recordings, of the mean over their wells. */
static double average(const app_compared_row *rows, const bool *own, size_t count, sf_measured measure,
                      bool chance)
{
    mean all = {0};
    for (size_t i = 0; i < count; i++) {
        mean wells = {0};
        bool first = own[i];
        for (size_t k = 0; k < i && first; k++)
            first = !own[k] || rows[k].file != rows[i].file;
        for (size_t k = i; k < count && first; k++)
            if (own[k] && rows[k].file == rows[i].file)
                add_to_mean(&wells, chance ? rows[k].chance[measure] : rows[k].values[measure]);
        add_to_mean(&all, mean_of(wells));
    }
    return mean_of(all);
}

static int average_replicates(app_groups *groups, const app_compared_row *rows, size_t count, sf_error *error)
{
    bool *own = sf_alloc(count, sizeof *own);
    if (own == NULL) return sf_fail_memory(error);
    int status = SF_OK;
    for (size_t c = 0; c < groups->condition_count && status == SF_OK; c++) {
        app_condition *condition = &groups->conditions[c];
        condition->values = sf_alloc(condition->count * SF_MEASURES, sizeof *condition->values);
        condition->chance = sf_alloc(condition->count * SF_MEASURES, sizeof *condition->chance);
        if (condition->values == NULL || condition->chance == NULL) status = sf_fail_memory(error);
        for (size_t r = 0; r < condition->count && status == SF_OK; r++) {
            for (size_t i = 0; i < count; i++)
                own[i] = rows[i].condition == c && rows[i].replicate == r;
            for (size_t m = 0; m < SF_MEASURES; m++) {
                condition->values[r * SF_MEASURES + m] = average(rows, own, count, (sf_measured)m, false);
                condition->chance[r * SF_MEASURES + m] = average(rows, own, count, (sf_measured)m, true);
            }
        }
    }
    sf_free(own);
    return status;
}

/* ---- contrasts ---- */

/* One side of a contrast. */
typedef struct side {
    double *values, *chance; /* rows of the asked measures */
    size_t *blocks;
    size_t count;
} side;

static bool is_in(const app_condition *condition, app_replicate replicate)
{
    return find_replicate(condition, replicate) < condition->count;
}

static bool has_block(const app_condition *condition, size_t block)
{
    size_t r = 0;
    while (r < condition->count && condition->replicates[r].block != block)
        r++;
    return r < condition->count;
}

static int open_side(side *s, size_t replicates, size_t measures, sf_error *error)
{
    s->values = sf_alloc(replicates * measures, sizeof *s->values);
    s->chance = sf_alloc(replicates * measures, sizeof *s->chance);
    s->blocks = sf_alloc(replicates, sizeof *s->blocks);
    return s->values == NULL || s->chance == NULL || s->blocks == NULL ? sf_fail_memory(error) : SF_OK;
}

static void close_side(side *s)
{
    sf_free(s->values);
    sf_free(s->chance);
    sf_free(s->blocks);
}

/* The replicates of a condition that can be compared with those of the other: of pairs those that are in
 * both, in the order of `order`; else those whose block has some of the other. */
static void gather(side *s, const app_groups *groups, const app_condition *of, const app_condition *order,
                   const app_condition *other, bool paired)
{
    for (size_t i = 0; i < order->count; i++) {
        size_t r = find_replicate(of, order->replicates[i]);
        if (r == of->count || (paired && !is_in(other, order->replicates[i])) ||
            (groups->block != NULL && !has_block(other, order->replicates[i].block)))
            continue;
        for (size_t m = 0; m < groups->measure_count; m++) {
            size_t at = s->count * groups->measure_count + m, from = r * SF_MEASURES + groups->measures[m];
            s->values[at] = of->values[from];
            s->chance[at] = of->chance[from];
        }
        s->blocks[s->count++] = of->replicates[r].block;
    }
}

static int contrast(app_contrast *c, const app_groups *groups, const app_grouping *grouping, sf_error *error)
{
    const app_condition *first = &groups->conditions[c->first], *second = &groups->conditions[c->second];
    side sides[2] = {{0}, {0}};
    for (size_t r = 0; r < first->count && !c->paired; r++)
        c->paired = is_in(second, first->replicates[r]);
    int status = open_side(&sides[0], first->count, groups->measure_count, error);
    if (status == SF_OK) status = open_side(&sides[1], second->count, groups->measure_count, error);
    if (status == SF_OK) {
        gather(&sides[0], groups, first, first, second, c->paired);
        gather(&sides[1], groups, second, c->paired ? first : second, first, c->paired);
        c->left_out = first->count + second->count - sides[0].count - sides[1].count;
        const sf_contrast_input input = {.measure_count = groups->measure_count,
                                         .counts = {sides[0].count, sides[1].count},
                                         .values = {sides[0].values, sides[1].values},
                                         .chance = {sides[0].chance, sides[1].chance},
                                         .paired = c->paired,
                                         .blocks = {sides[0].blocks, sides[1].blocks},
                                         .block_count = groups->block_count,
                                         .by = grouping->test,
                                         .most = grouping->permutations,
                                         .seed = grouping->seed};
        status = sf_contrast_find(&c->told, &input, error);
    }
    close_side(&sides[0]);
    close_side(&sides[1]);
    return status;
}

static int list_contrasts(app_groups *groups, const app_grouping *grouping, sf_error *error)
{
    size_t n = groups->condition_count, control = 0;
    while (grouping->control != NULL && control < groups->name_count &&
           strcmp(groups->names[control], grouping->control) != 0)
        control++;
    if (control == groups->name_count && n > 0)
        return sf_fail(error, SF_USAGE, "--control", "found '%s', which no recording is of",
                       grouping->control);
    groups->contrasts = sf_alloc(n * (n + 1) / 2, sizeof *groups->contrasts);
    if (groups->contrasts == NULL) return sf_fail_memory(error);
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n && groups->conditions[b].level == groups->conditions[a].level; b++) {
            const bool swapped = grouping->control != NULL && groups->conditions[b].first == control;
            if (grouping->control == NULL || swapped || groups->conditions[a].first == control)
                groups->contrasts[groups->contrast_count++] =
                    (app_contrast){.first = swapped ? b : a, .second = swapped ? a : b};
        }
    return SF_OK;
}

/* ---- two factors ---- */

/* Observations of two factors; those of one replicate have one number. */
typedef struct observations {
    size_t count, *levels[2], *replicates, *blocks;
    app_replicate *known;
    size_t known_count;
    double *values, *chance;
} observations;

static int open_observations(observations *o, size_t count, size_t measures, sf_error *error)
{
    *o = (observations){.levels = {sf_alloc(count, sizeof(size_t)), sf_alloc(count, sizeof(size_t))},
                        .replicates = sf_alloc(count, sizeof(size_t)),
                        .blocks = sf_alloc(count, sizeof(size_t)),
                        .known = sf_alloc(count, sizeof(app_replicate)),
                        .values = sf_alloc(count * measures, sizeof(double)),
                        .chance = sf_alloc(count * measures, sizeof(double))};
    return o->levels[0] == NULL || o->levels[1] == NULL || o->replicates == NULL || o->blocks == NULL ||
                   o->known == NULL || o->values == NULL || o->chance == NULL
               ? sf_fail_memory(error)
               : SF_OK;
}

static void close_observations(observations *o)
{
    sf_free(o->levels[0]);
    sf_free(o->levels[1]);
    sf_free(o->replicates);
    sf_free(o->blocks);
    sf_free(o->known);
    sf_free(o->values);
    sf_free(o->chance);
}

static void add_observation(observations *o, const app_groups *groups, const app_condition *condition,
                            size_t r)
{
    const app_condition known = {.replicates = o->known, .count = o->known_count};
    const size_t replicate = find_replicate(&known, condition->replicates[r]);
    if (replicate == o->known_count) o->known[o->known_count++] = condition->replicates[r];
    o->levels[0][o->count] = condition->first;
    o->levels[1][o->count] = condition->level;
    o->replicates[o->count] = replicate;
    o->blocks[o->count] = condition->replicates[r].block;
    for (size_t m = 0; m < groups->measure_count; m++) {
        const size_t at = o->count * groups->measure_count + m, from = r * SF_MEASURES + groups->measures[m];
        o->values[at] = condition->values[from];
        o->chance[at] = condition->chance[from];
    }
    o->count++;
}

static int test_factors(app_groups *groups, const app_grouping *grouping, sf_error *error)
{
    size_t count = 0;
    observations o;
    for (size_t c = 0; c < groups->condition_count; c++)
        count += groups->conditions[c].count;
    int status = open_observations(&o, count, groups->measure_count, error);
    for (size_t c = 0; c < groups->condition_count && status == SF_OK; c++)
        for (size_t r = 0; r < groups->conditions[c].count; r++)
            add_observation(&o, groups, &groups->conditions[c], r);
    const sf_factors_input input = {.count = o.count,
                                    .measure_count = groups->measure_count,
                                    .values = o.values,
                                    .chance = o.chance,
                                    .levels = {o.levels[0], o.levels[1]},
                                    .level_counts = {groups->name_count, groups->level_count},
                                    .replicates = o.replicates,
                                    .replicate_count = o.known_count,
                                    .blocks = o.blocks,
                                    .most = grouping->permutations,
                                    .seed = grouping->seed};
    if (status == SF_OK) status = sf_factors_find(&groups->factors, &input, error);
    for (int e = 0; e < SF_FACTOR_EFFECTS && status == SF_OK; e++) {
        bool tested = false;
        for (size_t m = 0; m < groups->measure_count; m++)
            tested = tested || !isnan(groups->factors.effects[e][m].p);
        groups->effects_tested += tested;
    }
    for (int e = 0; e < SF_FACTOR_EFFECTS && status == SF_OK; e++)
        for (size_t m = 0; m < groups->measure_count; m++) {
            double *q = &groups->factors.effects[e][m].q;
            *q = isnan(*q) ? NAN : fmin(1, *q * (double)groups->effects_tested);
        }
    close_observations(&o);
    return status;
}

static bool is_tested(const app_contrast *c, size_t measure_count)
{
    for (size_t m = 0; m < measure_count; m++)
        if (!isnan(c->told.measures[m].p)) return true;
    return false;
}

int app_groups_make(app_groups *groups, const app_grouping *grouping, const sf_delimited *table,
                    app_compared_row *rows, size_t count, sf_error *error)
{
    *groups = (app_groups){.conditions = sf_alloc(count + 1, sizeof *groups->conditions),
                           .names = sf_alloc(count, sizeof *groups->names),
                           .levels = sf_alloc(count, sizeof *groups->levels),
                           .blocks = sf_alloc(count, sizeof *groups->blocks),
                           .measure_count = grouping->measure_count,
                           .by = grouping->test};
    memcpy(groups->measures, grouping->measures, sizeof groups->measures);
    if (grouping->replicate != SIZE_MAX) groups->replicate = sf_delimited_name(table, grouping->replicate);
    if (grouping->block != SIZE_MAX) groups->block = sf_delimited_name(table, grouping->block);
    if (grouping->factor != SIZE_MAX) groups->factor = sf_delimited_name(table, grouping->factor);
    int status = groups->conditions == NULL || groups->names == NULL || groups->levels == NULL ||
                         groups->blocks == NULL
                     ? sf_fail_memory(error)
                     : list_groups(groups, grouping, table, rows, count, error);
    if (status == SF_OK) status = average_replicates(groups, rows, count, error);
    if (status == SF_OK) status = list_contrasts(groups, grouping, error);
    for (size_t i = 0; i < groups->contrast_count && status == SF_OK; i++) {
        status = contrast(&groups->contrasts[i], groups, grouping, error);
        groups->tested += status == SF_OK && is_tested(&groups->contrasts[i], groups->measure_count);
    }
    for (size_t i = 0; i < groups->contrast_count && status == SF_OK; i++)
        for (size_t m = 0; m < groups->measure_count; m++) {
            double *q = &groups->contrasts[i].told.measures[m].q;
            *q = isnan(*q) ? NAN : fmin(1, *q * (double)groups->tested);
        }
    return status == SF_OK && groups->factor != NULL ? test_factors(groups, grouping, error) : status;
}

void app_condition_words(char words[APP_CONDITION_WORDS], const app_groups *groups, size_t condition)
{
    const app_condition *of = &groups->conditions[condition];
    snprintf(words, APP_CONDITION_WORDS, "%.60s%s%.60s", of->name, groups->factor != NULL ? " at " : "",
             groups->levels[of->level]);
}

void app_groups_free(app_groups *groups)
{
    for (size_t i = 0; i < groups->contrast_count; i++)
        sf_contrast_free(&groups->contrasts[i].told);
    for (size_t c = 0; c < groups->condition_count; c++) {
        sf_free(groups->conditions[c].replicates);
        sf_free(groups->conditions[c].values);
        sf_free(groups->conditions[c].chance);
    }
    sf_free(groups->conditions);
    sf_free(groups->contrasts);
    sf_free(groups->names);
    sf_free(groups->levels);
    sf_free(groups->blocks);
    sf_factors_free(&groups->factors);
    *groups = (app_groups){0};
}
