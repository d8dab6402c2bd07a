/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/shared_groups.h"

#include <math.h>
#include <string.h>

#define MOST_UNITS 64
#define PI 3.14159265358979323846
#define MARGIN 1.0
#define MOST_WORTH 4.0 /* so that a few pairs make no group */
#define JOINS 3.0      /* standard deviations, with all members together */

double sf_shared_worth(double z, double z_of_reverse)
{
    return fmin(MOST_WORTH, (fmin(z, z_of_reverse) + 1 / sqrt(PI)) / sqrt(1 - 1 / PI));
}

double sf_shared_together(double z, double z_of_reverse)
{
    return fmin(MOST_WORTH, (z + z_of_reverse) / sqrt(2));
}

/* A group that grows. */
typedef struct growth {
    const double *worth, *together;
    size_t units;
    const uint32_t *groups; /* units in one are not free */
    size_t free_count;
    double with[MOST_UNITS]; /* by unit: its worth with all members together; -INFINITY: not free, or one */
    size_t members[MOST_UNITS], count;
    double sum;
} growth;

static void add(growth *g, size_t unit)
{
    for (size_t u = 0; u < g->units; u++)
        g->with[u] += g->worth[u * g->units + unit];
    g->with[unit] = -INFINITY;
    g->members[g->count++] = unit;
}

/* The best pair; false where none is worth anything. */
static bool begin(growth *g)
{
    size_t first = 0, second = 0;
    double best = 0;
    for (size_t a = 0; a < g->units; a++) {
        g->with[a] = g->groups[a] == 0 ? 0 : -INFINITY;
        g->free_count += g->groups[a] == 0;
        for (size_t b = a + 1; b < g->units; b++)
            if (g->groups[a] == 0 && g->groups[b] == 0 && g->worth[a * g->units + b] > best) {
                best = g->worth[a * g->units + b];
                first = a;
                second = b;
            }
    }
    if (best > 0) {
        add(g, first);
        add(g, second);
        g->sum = best;
    }
    return best > 0;
}

static bool grow(growth *g)
{
    size_t next = 0;
    for (size_t u = 1; u < g->units; u++)
        if (g->with[u] > g->with[next]) next = u;
    if (!(g->with[next] > 0)) return false;
    g->sum += g->with[next];
    add(g, next);
    return true;
}

/* By how much the group exceeds the best of sets of the same number of units that share nothing. */
static double beyond_chance(const growth *g)
{
    double k = (double)g->count, n = (double)g->free_count;
    return g->sum / sqrt(k * (k - 1) / 2) - sqrt(2 * k * (1 + log(n / k)));
}

/* How many members the best one has, from the first on; 0: there is none. */
static size_t find_one(growth *g)
{
    double best = MARGIN;
    size_t size = 0;
    if (!begin(g)) return 0;
    while (grow(g))
        if (beyond_chance(g) > best) {
            best = beyond_chance(g);
            size = g->count;
        }
    return size;
}

/* The first `size` members make a group, and units that stand out with them together. */
static void take(uint32_t *groups, uint32_t number, const growth *g, size_t size)
{
    double sums[MOST_UNITS] = {0};
    for (size_t u = 0; u < g->units; u++)
        for (size_t i = 0; i < size; i++)
            sums[u] += g->together[u * g->units + g->members[i]];
    for (size_t i = 0; i < size; i++)
        groups[g->members[i]] = number;
    for (size_t u = 0; u < g->units; u++)
        if (groups[u] == 0 && sums[u] > JOINS * sqrt((double)size)) groups[u] = number;
}

size_t sf_shared_groups_find(uint32_t *groups, const double *worth, const double *together, size_t units)
{
    memset(groups, 0, units * sizeof *groups);
    for (uint32_t number = 1;; number++) {
        growth g = {.worth = worth, .together = together, .units = units, .groups = groups};
        size_t size = find_one(&g);
        if (size == 0) return number - 1;
        take(groups, number, &g, size);
    }
}
