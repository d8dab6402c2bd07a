/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/response_test.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/reals.h"
#include "core/thread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what there is to permute ---- */

int sf_response_rows_begin(sf_response_rows *rows, sf_error *error)
{
    if (sf_reserve(&rows->first, &rows->item_room, rows->item_count + 2, sizeof *rows->first) != 0)
        return sf_fail_memory(error);
    rows->first[rows->item_count++] = rows->count;
    rows->first[rows->item_count] = rows->count;
    return SF_OK;
}

int sf_response_rows_add(sf_response_rows *rows, uint32_t block, const uint64_t *counts, sf_error *error)
{
    size_t windows = rows->windows;
    uint64_t sum = 0, same = counts[0];
    bool differ = false;
    for (size_t j = 0; j < windows; j++) {
        sum += counts[j];
        differ = differ || counts[j] != same;
    }
    if (!differ) return SF_OK;
    if (sf_reserve(&rows->blocks, &rows->block_room, rows->count + 1, sizeof *rows->blocks) != 0 ||
        sf_reserve(&rows->deviations, &rows->deviation_room, (rows->count + 1) * windows,
                   sizeof *rows->deviations) != 0)
        return sf_fail_memory(error);
    for (size_t j = 0; j < windows; j++)
        rows->deviations[rows->count * windows + j] = (int64_t)(windows * counts[j]) - (int64_t)sum;
    rows->blocks[rows->count] = block;
    rows->first[rows->item_count] = ++rows->count;
    return SF_OK;
}

void sf_response_rows_free(sf_response_rows *rows)
{
    sf_free(rows->first);
    sf_free(rows->blocks);
    sf_free(rows->deviations);
}

/* Merges pairs of blocks by adding their deviations. */
static void merge_blocks(sf_response_rows *rows)
{
    size_t kept = 0, windows = rows->windows;
    for (size_t i = 0; i < rows->item_count; i++) {
        size_t from = rows->first[i], to = rows->first[i + 1];
        rows->first[i] = kept;
        for (size_t r = from; r < to; r++) {
            uint32_t block = rows->blocks[r] / 2;
            const int64_t *deviations = rows->deviations + r * windows;
            bool joins = kept > rows->first[i] && rows->blocks[kept - 1] == block;
            int64_t *into = rows->deviations + (joins ? kept - 1 : kept) * windows;
            for (size_t j = 0; j < windows; j++)
                into[j] = (joins ? into[j] : 0) + deviations[j];
            rows->blocks[kept - !!joins] = block;
            kept += !joins;
        }
    }
    rows->first[rows->item_count] = kept;
    rows->count = kept;
}

/* ---- blocks of one length ---- */

typedef struct permuting {
    const sf_response_rows *rows;
    size_t blocks;
    int level; /* blocks are of 2^level trials */
    bool exact;
    uint64_t permutations, seed;
    int64_t *found;     /* per item: sum of the response windows' deviations */
    double *squares;    /* per item: sum of squares of all its deviations; 0: no permutation can change it */
    uint64_t *as_great; /* by worker and item */
    uint32_t *choices;  /* by worker: of each block the window */
    double *greatest;   /* by permutation: the greatest statistic */
} permuting;

/* Sum of the deviations of the chosen windows. */
static int64_t sum_of(const sf_response_rows *rows, size_t item, const uint32_t *choices)
{
    int64_t sum = 0;
    for (size_t r = rows->first[item]; r < rows->first[item + 1]; r++)
        sum += rows->deviations[r * rows->windows + choices[rows->blocks[r]]];
    return sum;
}

/* Square of the sum over its variance, except for a factor common to all items. */
static double statistic(int64_t sum, double squares)
{
    return squares > 0 ? (double)sum * (double)sum / squares : 0;
}

/* Permutation number `permutation` of a complete enumeration, of which number 0 is the observed one; or a
 * random one. */
static void choose(uint32_t *choices, const permuting *p, uint64_t permutation)
{
    sf_random random = sf_random_start(p->seed, (uint64_t)p->level << 48 | permutation);
    for (size_t b = 0; b < p->blocks; b++)
        if (p->exact) {
            choices[b] = (uint32_t)(permutation % p->rows->windows);
            permutation /= p->rows->windows;
        } else {
            choices[b] = (uint32_t)sf_random_below(&random, p->rows->windows);
        }
}

/* Permutations per pass over the deviations, which exceed the cache. */
#define AT_ONCE 16

static int permute(void *context, unsigned worker, size_t batch)
{
    permuting *p = context;
    uint64_t first = batch * AT_ONCE, count = p->permutations - first;
    uint32_t *choices = p->choices + worker * AT_ONCE * p->blocks;
    uint64_t *as_great = p->as_great + worker * p->rows->item_count;
    double greatest[AT_ONCE] = {0};
    count = count < AT_ONCE ? count : AT_ONCE;
    for (uint64_t k = 0; k < count; k++)
        choose(choices + k * p->blocks, p, first + k);
    for (size_t i = 0; i < p->rows->item_count; i++)
        for (uint64_t k = 0; k < count; k++) {
            int64_t sum = sum_of(p->rows, i, choices + k * p->blocks);
            double size = statistic(sum, p->squares[i]);
            as_great[i] += llabs(sum) >= llabs(p->found[i]);
            greatest[k] = size > greatest[k] ? size : greatest[k];
        }
    for (uint64_t k = 0; k < count; k++)
        p->greatest[first + k] = greatest[k];
    return SF_OK;
}

static void take_found(permuting *p)
{
    const sf_response_rows *rows = p->rows;
    for (size_t i = 0; i < rows->item_count; i++) {
        p->found[i] = 0;
        p->squares[i] = 0;
        for (size_t r = rows->first[i]; r < rows->first[i + 1]; r++) {
            const int64_t *deviations = rows->deviations + r * rows->windows;
            p->found[i] += deviations[0];
            for (size_t j = 0; j < rows->windows; j++)
                p->squares[i] += (double)deviations[j] * (double)deviations[j];
        }
    }
}

/* Fraction of permutations; with random ones, the observed one counts among them. */
static double share(const permuting *p, uint64_t as_great)
{
    return p->exact ? (double)as_great / (double)p->permutations
                    : (double)(as_great + 1) / (double)(p->permutations + 1);
}

static void take_larger(double *to, double value)
{
    *to = value > *to ? value : *to;
}

/* Number of permutations of `blocks` blocks; infinity if beyond the limit of enumeration. */
static double ways_of(size_t windows, size_t blocks)
{
    return pow((double)windows, (double)blocks);
}

static void permute_all(permuting *p, sf_response_tested *tested, uint64_t most, unsigned threads)
{
    size_t items = p->rows->item_count;
    double ways = ways_of(p->rows->windows, p->blocks);
    p->exact = ways < (double)most + 0.5;
    p->permutations = p->exact ? (uint64_t)(ways + 0.5) : most;
    take_found(p);
    memset(p->as_great, 0, threads * items * sizeof *p->as_great);
    (void)sf_parallel_for(threads, (size_t)(p->permutations + AT_ONCE - 1) / AT_ONCE, permute, p);
    sf_reals_sort(p->greatest, (size_t)p->permutations);
    for (size_t i = 0; i < items; i++) {
        uint64_t as_great = 0, reached = p->permutations;
        for (unsigned w = 0; w < threads; w++)
            as_great += p->as_great[w * items + i];
        reached -=
            sf_reals_lower_bound(p->greatest, (size_t)p->permutations, statistic(p->found[i], p->squares[i]));
        take_larger(&tested[i].p, share(p, as_great));
        take_larger(&tested[i].q, share(p, reached));
    }
}

static int open_permuting(permuting *p, size_t trials, uint64_t most, unsigned threads, sf_error *error)
{
    size_t items = p->rows->item_count;
    p->found = sf_alloc(items, sizeof *p->found);
    p->squares = sf_alloc(items, sizeof *p->squares);
    p->as_great = sf_alloc(threads * items, sizeof *p->as_great);
    p->choices = sf_alloc(threads * AT_ONCE * trials, sizeof *p->choices);
    p->greatest = sf_alloc((size_t)most, sizeof *p->greatest);
    bool whole = p->found != NULL && p->squares != NULL && p->as_great != NULL && p->choices != NULL &&
                 p->greatest != NULL;
    return whole ? SF_OK : sf_fail_memory(error);
}

static void close_permuting(permuting *p)
{
    sf_free(p->found);
    sf_free(p->squares);
    sf_free(p->as_great);
    sf_free(p->choices);
    sf_free(p->greatest);
}

int sf_response_test(sf_response_tested *tested, uint64_t *longest_block, double *least_p,
                     sf_response_rows *rows, size_t trials, uint64_t permutations, uint64_t seed,
                     unsigned threads, sf_error *error)
{
    threads = threads > 0 ? threads : sf_thread_cores();
    permuting p = {.rows = rows, .seed = seed};
    int status = open_permuting(&p, trials, permutations, threads, error);
    *least_p = 0;
    for (size_t i = 0; status == SF_OK && i < rows->item_count; i++) {
        bool any = rows->first[i + 1] > rows->first[i];
        tested[i] = (sf_response_tested){any ? 0 : NAN, any ? 0 : NAN};
    }
    for (size_t length = 1; status == SF_OK; length *= 2, p.level++) {
        p.blocks = (trials + length - 1) / length;
        permute_all(&p, tested, permutations, threads);
        double least = (rows->windows == 2 ? 2 : 1) / ways_of(rows->windows, p.blocks);
        take_larger(least_p, fmax(least, share(&p, p.exact ? 1 : 0)));
        *longest_block = length;
        if (trials / (2 * length) < SF_LEAST_BLOCKS) break;
        merge_blocks(rows);
    }
    close_permuting(&p);
    return status;
}
