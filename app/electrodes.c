/* SPDX-License-Identifier: Apache-2.0 */
#include "app/electrodes.h"

void app_electrodes_see(app_electrodes *electrodes, uint32_t from, uint32_t to, const char *from_name,
                        const char *to_name)
{
    const char *low = from < to ? from_name : to_name, *high = from < to ? to_name : from_name;
    electrodes->links++;
    for (size_t i = 0; i < electrodes->kept; i++)
        if (electrodes->pairs[i][0] == low && electrodes->pairs[i][1] == high) return;
    if (electrodes->kept == sizeof electrodes->pairs / sizeof *electrodes->pairs) return;
    electrodes->pairs[electrodes->kept][0] = low;
    electrodes->pairs[electrodes->kept++][1] = high;
}

void app_electrodes_print(sf_text *text, const app_electrodes *electrodes)
{
    if (electrodes->links == 0) return;
    sf_text_printf(
        text,
        "links between units of one electrode, or whose spikes look like one neuron's, where sorters "
        "miss and split spikes: %zu, as ",
        electrodes->links);
    for (size_t i = 0; i < electrodes->kept; i++)
        sf_text_printf(text, "%s%s - %s", i > 0 ? ", " : "", electrodes->pairs[i][0],
                       electrodes->pairs[i][1]);
    sf_text_printf(text, "\n");
}
