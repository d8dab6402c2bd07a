/* SPDX-License-Identifier: Apache-2.0 */
/* A new option is a member of its struct, its default and its row here. */
#include "density/rows.h"

#include "core/row_macros.h"
#include "density/select.h"

#include <string.h>

enum { MOST_POINTS = 200000 };

static const sf_density_options density = {.device = "auto", .most_points = MOST_POINTS};

#define WORD(name, columns, select) name,
static const char *const methods[] = {SF_SELECTORS(WORD) NULL};
const char *const sf_quantity_words[] = {[SF_QUANTITY_ISI] = "isi",
                                         [SF_QUANTITY_DELAY] = "delay",
                                         [SF_QUANTITY_RATE] = "rate",
                                         [SF_QUANTITY_POSITION] = "position",
                                         NULL};
const char *const sf_domain_words[] = {
    [SF_DOMAIN_LINE] = "line", [SF_DOMAIN_LOG] = "log", [SF_DOMAIN_REFLECT] = "reflect", NULL};
const char *const sf_aggregate_words[] = {[SF_AGGREGATE_COUNT] = "count",
                                          [SF_AGGREGATE_SUM] = "sum",
                                          [SF_AGGREGATE_AVERAGE] = "avg",
                                          [SF_AGGREGATE_VARIANCE] = "var",
                                          NULL};

sf_domain sf_domain_of_word(const char *word)
{
    size_t found = 0;
    while (sf_domain_words[found] != NULL && strcmp(word, sf_domain_words[found]) != 0)
        found++;
    return (sf_domain)found;
}

#define ROW sf_density_options
static const sf_key density_rows[] = {
    TEXT("method", method, .words = methods,
         .what =
             "isj: improved Sheather-Jones; plugin: two-stage plug-in; lscv: least-squares cross-validation "
             "over a wide range; lscv-paper: from h0/4 to 4 h0 only; silverman, scott: rules for a normal "
             "density"),
    REAL("h", h, 0, 1e300, .zero = "as the method finds it", .option = ""),
    CHOICE("domain", domain, sf_domain_words, .option = ""),
    SWITCH("exact", exact,
           .what =
               "direct sums over all pairs instead of the characteristic function: plugin, lscv, lscv-paper"),
    SWITCH("curve", curve, .what = "prints the scores that lscv and lscv-paper looked at, as h,score lines"),
    {SF_ROW_DEVICE, AT(device)},
    {SF_ROW_THREADS, AT(threads)},
    {0},
};
#undef ROW

const sf_key_table sf_density_table = SF_KEY_TABLE(density_rows, density);

void sf_density_options_init(void *options, size_t size)
{
    sf_keys_init(&sf_density_table, options, size);
}
