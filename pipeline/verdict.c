/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/verdict.h"

#include "core/error.h"
#include "core/memory.h"

#define TRIES 3

const sf_verdict sf_verdict_untested = {
    .p = NAN, .q = NAN, .least_q = NAN, .not_tested = "waits for its first test"};
const char sf_verdict_by_the_end[] = "not tested by the end";

int sf_board_open(sf_board *board, size_t count, sf_error *error)
{
    *board = (sf_board){.posts = sf_alloc(count, sizeof *board->posts)};
    if (board->posts == NULL) return sf_fail_memory(error);
    board->count = count;
    for (size_t i = 0; i < count; i++)
        sf_board_post(board, i, &sf_verdict_untested);
    return SF_OK;
}

void sf_board_close(sf_board *board)
{
    sf_free(board->posts);
    *board = (sf_board){0};
}

/* Stores and loads are ordered so that a reader that saw any new value sees that the version has changed. */
void sf_board_post(sf_board *board, size_t index, const sf_verdict *verdict)
{
    sf_posted *post = &board->posts[index];
    unsigned version = atomic_load_explicit(&post->version, memory_order_relaxed);
    atomic_store_explicit(&post->version, version + 1, memory_order_relaxed);
    atomic_store_explicit(&post->p, verdict->p, memory_order_release);
    atomic_store_explicit(&post->q, verdict->q, memory_order_release);
    atomic_store_explicit(&post->least_q, verdict->least_q, memory_order_release);
    atomic_store_explicit(&post->tested_ns, verdict->tested_ns, memory_order_release);
    atomic_store_explicit(&post->tests, verdict->tests, memory_order_release);
    atomic_store_explicit(&post->not_tested, verdict->not_tested, memory_order_release);
    atomic_store_explicit(&post->version, version + 2, memory_order_release);
}

sf_verdict sf_board_read(const sf_board *board, size_t index)
{
    const sf_posted *post = &board->posts[index];
    for (int i = 0; i < TRIES; i++) {
        unsigned version = atomic_load_explicit(&post->version, memory_order_acquire);
        sf_verdict read = {.p = atomic_load_explicit(&post->p, memory_order_acquire),
                           .q = atomic_load_explicit(&post->q, memory_order_acquire),
                           .least_q = atomic_load_explicit(&post->least_q, memory_order_acquire),
                           .tested_ns = atomic_load_explicit(&post->tested_ns, memory_order_acquire),
                           .tests = atomic_load_explicit(&post->tests, memory_order_acquire),
                           .not_tested = atomic_load_explicit(&post->not_tested, memory_order_acquire)};
        if (version % 2 == 0 && version == atomic_load_explicit(&post->version, memory_order_relaxed))
            return read;
    }
    return sf_verdict_untested;
}
