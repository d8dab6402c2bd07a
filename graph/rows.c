/* SPDX-License-Identifier: Apache-2.0 */
/* A new option is a member of its struct, its default and its row here. */
#include "graph/rows.h"

#include "core/rows.h"

#define AT(member) .offset = offsetof(ROW, member)

/* ---- making graphs ---- */

#define ROW sf_graph_options
static const sf_key graph_rows[] = {
    {SF_ROW_THREADS, AT(threads)},
    {SF_ROW_MAX_Q, AT(max_q)},
    {SF_ROW_MAX_P, AT(max_p)},
    {0},
};
#undef ROW

static const void *graph_defaults(int choice)
{
    static const sf_graph_options defaults = {.size = sizeof defaults};
    (void)choice;
    return &defaults;
}

const sf_key_table sf_graph_table = {{graph_rows}, sizeof(sf_graph_options), graph_defaults, NULL};
