/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tables.h"

#include "core/describe/table.h"

#include <string.h>

static const sf_table *const tables[] = {&sf_episodes_columns_table, &sf_edges_columns_table};

const sf_table *sf_table_at(size_t index)
{
    return index < sizeof tables / sizeof *tables ? tables[index] : NULL;
}

const sf_table *sf_table_find(const char *name)
{
    size_t i = 0;
    while (sf_table_at(i) != NULL && strcmp(sf_table_at(i)->name, name) != 0)
        i++;
    return sf_table_at(i);
}
