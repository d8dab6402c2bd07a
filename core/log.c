/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded queue of many producers and one consumer: each slot carries the turn that may use it next
 * (D. Vyukov's bounded MPMC queue, reduced to one consumer). */
#include "core/log.h"

#include "core/text.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define SLOTS 256u
#define LINE_SIZE 240

typedef struct log_slot {
    atomic_size_t turn; /* == position: free for that producer; == position + 1: holds its line. Counted from
                           slot 0, stored less the slot's index so that zeroed memory is a valid start. */
    sf_log_level level;
    char line[LINE_SIZE];
} log_slot;

static log_slot slots[SLOTS];
static atomic_size_t head;
static size_t tail;
static atomic_uint_fast64_t lost;
static atomic_int most_level = SF_LOG_INFO;

void sf_log_set_level(sf_log_level most)
{
    atomic_store(&most_level, (int)most);
}

static log_slot *claim(size_t *position)
{
    *position = atomic_load_explicit(&head, memory_order_relaxed);
    for (;;) {
        log_slot *slot = &slots[*position % SLOTS];
        size_t turn = atomic_load_explicit(&slot->turn, memory_order_acquire) + *position % SLOTS;
        if (turn == *position) {
            if (atomic_compare_exchange_weak(&head, position, *position + 1)) return slot;
        } else if ((ptrdiff_t)(turn - *position) < 0) {
            return NULL;
        } else {
            *position = atomic_load_explicit(&head, memory_order_relaxed);
        }
    }
}

void sf_log(sf_log_level level, const char *format, ...)
{
    if ((int)level > atomic_load_explicit(&most_level, memory_order_relaxed)) return;
    size_t position;
    log_slot *slot = claim(&position);
    if (slot == NULL) {
        atomic_fetch_add(&lost, 1);
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    sf_visible_vprintf(slot->line, sizeof slot->line, format, arguments);
    va_end(arguments);
    slot->level = level;
    atomic_store_explicit(&slot->turn, position + 1 - position % SLOTS, memory_order_release);
}

uint64_t sf_log_drain(sf_log_handler *handler, void *user)
{
    for (;;) {
        log_slot *slot = &slots[tail % SLOTS];
        size_t turn = atomic_load_explicit(&slot->turn, memory_order_acquire) + tail % SLOTS;
        if (turn != tail + 1) break;
        handler(user, slot->level, slot->line);
        atomic_store_explicit(&slot->turn, tail + SLOTS - tail % SLOTS, memory_order_release);
        tail++;
    }
    return atomic_exchange(&lost, 0);
}
