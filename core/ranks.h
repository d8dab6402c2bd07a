/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One job done by several processes, its ranks: all run the same command on the same files, each does its
 * share of what is divided, and what they have is joined so that all know it. Where nobody said otherwise
 * there is one rank, its share is everything, and nothing here waits for anyone.
 *
 * How ranks talk is a struct of functions: those of MPI are in ranks/main.c, and tests run ranks as threads.
 * Calls that join are made by all ranks in the same order, from the thread that sf_ranks_use was called on.
 * Each is told how the rank's own share went: what any rank has failed at all of them have, with the sentence
 * of the first, and from then on no call waits for anyone.
 */
#ifndef SF_CORE_RANKS_H
#define SF_CORE_RANKS_H

#include <synfire/error.h>

/** Makes in `right`, a rank's data, what stands for both it and `left`, that of ranks before it. Need not be
 * commutative. */
typedef void sf_ranks_joining(void *context, const void *left, void *right);

typedef struct sf_ranks_way {
    uint32_t rank, count;
    uint32_t place; /**< among the ranks of its machine, from 0 */
    unsigned cores; /**< of the machine, that are its share; 0: not known */
    /** `all` becomes what the ranks have, sizes[rank] bytes each, one after the other. */
    void (*gather)(const struct sf_ranks_way *way, const void *own, void *all, const size_t *sizes);
    /** `data`, of `size` bytes, a multiple of 8, becomes the data of all ranks joined in their order, in any
     * bracketing. */
    void (*join)(const struct sf_ranks_way *way, void *data, size_t size, sf_ranks_joining *joining,
                 void *context);
} sf_ranks_way;

/** Makes the calling thread one of several ranks, until called with NULL. `way` is borrowed. SF_NO_MEMORY. */
int sf_ranks_use(const sf_ranks_way *way, sf_error *error);

/** In a process that a rank has made for work of its own: there are no others, and its place stays. */
void sf_ranks_leave(void);

uint32_t sf_ranks_count(void); /**< 1 where there are no others */
uint32_t sf_ranks_rank(void);
uint32_t sf_ranks_place(void); /**< among those of its machine */

/** Items first .. last - 1 of `count`: the share of this rank, those of all in order of ranks. */
typedef struct sf_ranks_part {
    size_t first, last;
} sf_ranks_part;

sf_ranks_part sf_ranks_share(size_t count);

/** How it went for all: SF_OK, or what failed first in order of ranks, and its sentence. */
int sf_ranks_agree(int status, sf_error *error);

/** The same, as the last call of all: a rank that has made more or fewer of them than the others is told. */
int sf_ranks_end(int status, sf_error *error);

/** `items` elements of `size` bytes, of which every rank has filled its own share: afterwards all ranks have
 * all of them. */
int sf_ranks_collect(void *items, size_t count, size_t size, int status, sf_error *error);

/** sums[i] becomes its sum over the ranks. */
int sf_ranks_add(uint64_t *sums, size_t count, int status, sf_error *error);

/** The same of counts whose sums are below 2^32. */
int sf_ranks_add_counts(uint32_t *sums, size_t count, int status, sf_error *error);

/** What each rank has, own_size bytes, after that of those before it: *all of *size bytes, from sf_resize. */
int sf_ranks_append(void **all, size_t *size, const void *own, size_t own_size, int status, sf_error *error);

/** `data` becomes what `joining` makes of that of all, of `size` bytes on every rank, a multiple of 8. */
int sf_ranks_join(void *data, size_t size, sf_ranks_joining *joining, void *context, int status,
                  sf_error *error);

/**
 * sf_parallel_for over this rank's share of the items; body(context, worker, item) fills item `item` of
 * `results`, of `size` bytes, and all ranks then have all of them. A body that fails has set `error`, if any.
 */
int sf_ranks_for(unsigned threads, size_t count, int (*body)(void *context, unsigned worker, size_t item),
                 void *context, void *results, size_t size, sf_error *error);

#endif
