/* SPDX-License-Identifier: Apache-2.0 */
/* A new option is a member of its struct, its default and its row here. */
#include "density/rows.h"

#include "core/row_macros.h"
#include "density/select.h"

enum { MOST_POINTS = 200000 };

static const sf_density_options density = {.device = "auto", .most_points = MOST_POINTS};

#define WORD(name, columns, select) name,
static const char *const methods[] = {SF_SELECTORS(WORD) NULL};
static const char *const domains[] = {"line", "log", "reflect", NULL}; /* as sf_domain */

#define ROW sf_density_options
static const sf_key density_rows[] = {
    TEXT("method", method, .words = methods,
         .what =
             "isj: improved Sheather-Jones; plugin: two-stage plug-in; lscv: least-squares cross-validation "
             "over a wide range; lscv-paper: from h0/4 to 4 h0 only; silverman, scott: rules for a normal "
             "density"),
    REAL("h", h, 0, 1e300, .zero = "as the method finds it", .option = ""),
    CHOICE("domain", domain, domains, .option = ""),
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
