/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/pairing.h"

#include "core/clock.h"
#include "core/log.h"

/* ---- opening and closing ---- */

static int open_here(sf_pairing *p, uint64_t position, sf_error *error)
{
    const sf_pairing_setup *s = &p->setup;
    return sf_pair_counts_open(&p->here, s->unit_count, s->delays, s->delay_count, s->self, s->most,
                               s->threads, position, error);
}

static int open_there(sf_pairing *p, uint64_t position, sf_error *error)
{
    const sf_pairing_setup *s = &p->setup;
    return sf_pairs_there_open(&p->there, s->device, s->unit_count, s->delays, s->delay_count, s->self,
                               s->most, s->piece, position, error);
}

static void close_here(sf_pairing *p)
{
    sf_pair_counts_close(p->here);
    p->here = NULL;
}

static void close_there(sf_pairing *p)
{
    sf_pairs_there_close(p->there);
    p->there = NULL;
}

/* From now on the CPU counts alone. */
static void leave_device(sf_pairing *p)
{
    close_there(p);
    p->setup.device = NULL;
}

void sf_pairing_close(sf_pairing *pairing)
{
    leave_device(pairing);
    close_here(pairing);
    *pairing = (sf_pairing){0};
}

int sf_pairing_open(sf_pairing *pairing, const sf_pairing_setup *setup, sf_error *error)
{
    *pairing = (sf_pairing){.setup = *setup, .sure_ns = SF_PAIRING_SURE_NS};
    sf_contest_begin(&pairing->contest, SF_PAIRING_FIRST);
    int status = SF_OK;
    if (setup->device != NULL && setup->always) status = open_there(pairing, setup->position, error);
    if (status == SF_UNAVAILABLE && !setup->alone) {
        leave_device(pairing);
        status = SF_OK;
    }
    if (status == SF_OK && pairing->there == NULL) status = open_here(pairing, setup->position, error);
    if (status != SF_OK) sf_pairing_close(pairing);
    return status;
}

bool sf_pairing_counts(const sf_pairing *pairing)
{
    return pairing->here != NULL || pairing->there != NULL;
}

/* ---- the window moves ---- */

#define PAIR_NS 2.5 /* of one thread, measured */

/* Estimated CPU time of the first hop: each new spike is compared with those within a delay of it. */
static double expected_ns(const sf_pairing *p, const sf_history *history, uint64_t begin, uint64_t end)
{
    if (end == begin) return 0;
    double count = (double)(end - begin), within_ns = 0;
    double span_ns = (double)sf_history_time(history, end - 1) - (double)sf_history_time(history, begin) + 1;
    for (size_t d = 0; d < p->setup.delay_count; d++)
        within_ns += (double)(p->setup.delays[d].high_ns - p->setup.delays[d].low_ns);
    return PAIR_NS * count * count * within_ns / span_ns;
}

static int slide_here(sf_pairing *p, const sf_history *history, uint64_t begin, uint64_t end, uint32_t least,
                      sf_error *error)
{
    int64_t began_ns = sf_clock_monotonic_ns();
    int status = sf_pair_counts_slide(p->here, history, begin, end, least, error);
    p->contest.here_ns = sf_clock_monotonic_ns() - began_ns;
    return status;
}

/* The CPU takes the window up as it is now. */
static int take_over(sf_pairing *p, const sf_history *history, uint64_t begin, uint64_t end, uint32_t least,
                     sf_error *error)
{
    leave_device(p);
    int status = open_here(p, begin, error);
    return status == SF_OK ? slide_here(p, history, begin, end, least, error) : status;
}

/* The device takes the window up, or has it and is compared. */
static int try_device(sf_pairing *p, const sf_history *history, uint64_t begin, uint64_t end, uint32_t least,
                      sf_error *error)
{
    bool is_new = p->there == NULL;
    int status = is_new ? open_there(p, begin, error) : SF_OK;
    int64_t began_ns = sf_clock_monotonic_ns();
    if (status == SF_OK) status = sf_pairs_there_slide(p->there, history, begin, end, least, error);
    int64_t there_ns = sf_clock_monotonic_ns() - began_ns;
    if (status != SF_OK || is_new) return status;
    if (sf_contest_won(&p->contest, there_ns))
        close_here(p);
    else
        close_there(p);
    return SF_OK;
}

/* If the CPU would be far too slow, the device counts from the first hop on, if it can. */
static int choose_first(sf_pairing *p, const sf_history *history, uint64_t begin, uint64_t end,
                        sf_error *error)
{
    bool is_first = !p->has_slid;
    p->has_slid = true;
    if (!is_first || p->here == NULL || p->setup.device == NULL ||
        expected_ns(p, history, begin, end) <= p->sure_ns)
        return SF_OK;
    int status = open_there(p, begin, error);
    if (status == SF_OK)
        close_here(p);
    else if (status == SF_UNAVAILABLE)
        leave_device(p);
    return status == SF_UNAVAILABLE ? SF_OK : status;
}

int sf_pairing_slide(sf_pairing *p, const sf_history *history, uint64_t begin, uint64_t end, uint32_t least,
                     sf_error *error)
{
    sf_error reason;
    int status = choose_first(p, history, begin, end, error);
    if (status != SF_OK) return status;
    if (p->here == NULL) {
        status = sf_pairs_there_slide(p->there, history, begin, end, least, &reason);
        if (status == SF_UNAVAILABLE && !p->setup.alone) {
            sf_log(SF_LOG_INFO, "the CPU counts pairs from now on: %s", reason.text);
            return take_over(p, history, begin, end, least, error);
        }
    } else {
        status = slide_here(p, history, begin, end, least, &reason);
        bool is_due = sf_contest_due(&p->contest);
        if (status == SF_OK && p->setup.device != NULL && (is_due || p->there != NULL))
            status = try_device(p, history, begin, end, least, &reason);
        if (status == SF_UNAVAILABLE) {
            leave_device(p);
            status = SF_OK;
        }
    }
    if (status != SF_OK && error != NULL) *error = reason;
    return status;
}

const sf_pair_count *sf_pairing_found(const sf_pairing *pairing, size_t *count)
{
    return pairing->here != NULL ? sf_pair_counts_found(pairing->here, count)
                                 : sf_pairs_there_found(pairing->there, count);
}

const char *sf_pairing_device(const sf_pairing *pairing)
{
    return sf_device_name(pairing->here == NULL && pairing->there != NULL ? pairing->setup.device : NULL);
}
