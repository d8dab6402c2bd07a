/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/census_oracle.h"

#include <stdio.h>
#include <string.h>

/* Letters as Holland and Leinhardt give them: Down and Up are where one-way edges point from or to one
 * vertex, Transitive and Cyclic the rest. */
static char letter(int mutual, int one_way, const int out[3], const int in[3])
{
    bool down = false, up = false;
    for (int v = 0; v < 3; v++) {
        down = down || out[v] == 2;
        up = up || in[v] == 2;
    }
    if (mutual == 0 && one_way == 3) return down ? 'T' : 'C';
    return down ? 'D' : up ? 'U' : 'C';
}

static void name_triad(char name[40], const sf_csr *graph, const uint32_t v[3])
{
    int mutual = 0, one_way = 0, out[3] = {0}, in[3] = {0}, in_pair[3] = {0};
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        bool there = sf_csr_find(graph, v[i], v[j]) != UINT64_MAX;
        bool back = sf_csr_find(graph, v[j], v[i]) != UINT64_MAX;
        mutual += there && back;
        one_way += there != back;
        in_pair[i] += there && back;
        in_pair[j] += there && back;
        if (there != back) {
            out[there ? i : j]++;
            in[there ? j : i]++;
        }
    }
    char last = '\0';
    if (one_way >= 2) last = letter(mutual, one_way, out, in);
    for (int i = 0; i < 3 && mutual == 1 && one_way == 1; i++)
        if (in[i] == 1) last = in_pair[i] ? 'D' : 'U'; /* down into the mutual pair, or up out of it */
    snprintf(name, 40, "%d%d%d%c", mutual, one_way, 3 - mutual - one_way, last);
}

void census_oracle(uint64_t census[SF_TRIADS], const sf_csr *graph)
{
    memset(census, 0, SF_TRIADS * sizeof *census);
    uint32_t n = graph->vertex_count, v[3];
    for (v[0] = 0; v[0] < n; v[0]++)
        for (v[1] = v[0] + 1; v[1] < n; v[1]++)
            for (v[2] = v[1] + 1; v[2] < n; v[2]++) {
                char name[40];
                int t = 0;
                name_triad(name, graph, v);
                while (strcmp(sf_triads[t].name, name) != 0)
                    t++;
                census[t]++;
            }
}
