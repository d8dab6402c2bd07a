/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/recorded.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int add(sf_recorded_time *r, int64_t start_ns, int64_t stop_ns, sf_error *error)
{
    if (start_ns >= stop_ns) return SF_OK;
    if (sf_reserve(&r->spans, &r->room, r->count + 1, sizeof *r->spans) != 0) return sf_fail_memory(error);
    r->spans[r->count++] = (sf_span){start_ns, stop_ns};
    return SF_OK;
}

/* Removes entries from .. to - 1, which those after them replace. */
static void replace(sf_recorded_time *r, size_t from, size_t to)
{
    memmove(r->spans + from, r->spans + to, (r->count - to) * sizeof *r->spans);
    r->count -= to - from;
}

/* Leaves what lies in these spans, too. */
static int keep_observed(sf_recorded_time *r, const sf_observed *observed, sf_error *error)
{
    size_t before = r->count;
    int status = SF_OK;
    for (size_t i = 0; i < before; i++)
        for (size_t k = 0; status == SF_OK && k < observed->count; k++) {
            const sf_span *span = &observed->spans[k];
            status = add(r, later(r->spans[i].start_ns, span->start_ns),
                         earlier(r->spans[i].stop_ns, span->stop_ns), error);
        }
    replace(r, 0, before);
    return status;
}

/* Those that end before it stay as they are: of spans that come in order, all but the last. */
static int leave_out(sf_recorded_time *r, const sf_span *span, sf_error *error)
{
    size_t before = r->count, from = before;
    int status = SF_OK;
    while (from > 0 && r->spans[from - 1].stop_ns > span->start_ns)
        from--;
    for (size_t i = from; status == SF_OK && i < before; i++) {
        const sf_span of = r->spans[i];
        status = add(r, of.start_ns, earlier(of.stop_ns, span->start_ns), error);
        if (status == SF_OK) status = add(r, later(of.start_ns, span->stop_ns), of.stop_ns, error);
    }
    replace(r, from, before);
    return status;
}

int sf_recorded_time_list(sf_recorded_time *r, sf_span span, sf_span all, const sf_inputs *inputs,
                          const sf_blanked *blanked, sf_error *error)
{
    r->count = 0;
    if (inputs->observed_count == 0)
        span = (sf_span){later(span.start_ns, all.start_ns), earlier(span.stop_ns, all.stop_ns)};
    int status = add(r, span.start_ns, span.stop_ns, error);
    for (size_t i = 0; status == SF_OK && i < inputs->observed_count; i++)
        status = keep_observed(r, &inputs->observed[i], error);
    for (size_t i = 0; status == SF_OK && i < blanked->count; i++)
        status = leave_out(r, &blanked->spans[i], error);
    return status;
}

void sf_recorded_time_free(sf_recorded_time *r)
{
    sf_free(r->spans);
    *r = (sf_recorded_time){0};
}

int sf_blanked_add(sf_blanked *b, sf_span span, sf_error *error)
{
    if (sf_reserve(&b->spans, &b->room, b->count + 1, sizeof *b->spans) != 0) return sf_fail_memory(error);
    b->spans[b->count++] = span;
    return SF_OK;
}

void sf_blanked_forget(sf_blanked *b, int64_t time_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < b->count; i++)
        if (b->spans[i].stop_ns > time_ns) b->spans[kept++] = b->spans[i];
    b->count = kept;
}

void sf_blanked_free(sf_blanked *b)
{
    sf_free(b->spans);
    *b = (sf_blanked){0};
}
