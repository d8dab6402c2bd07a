/* SPDX-License-Identifier: Apache-2.0 */
/** Definition of a quantity: one struct of functions, in one file each. Private to analysis/. */
#ifndef SF_ANALYSIS_QUANTITY_KIND_H
#define SF_ANALYSIS_QUANTITY_KIND_H

#include "analysis/quantity.h"
#include "window/watch.h"

typedef struct sf_quantity_kind {
    sf_domain domain; /**< where its density best lies */
    /** Sets `states` and allocates the members of its kind. */
    int (*open)(sf_quantity_state *state, const sf_quantity_setup *setup, sf_error *error);
    void (*close)(sf_quantity_state *state);
    /** Takes consecutive spikes without a gap between them, and adds the samples that they complete. */
    int (*enter)(sf_quantity_state *state, const sf_spike *spikes, size_t count);
    /** States first .. first + count - 1 were not observed in `span`. NULL: gaps change nothing. */
    int (*gap)(sf_quantity_state *state, size_t first, size_t count, sf_span span);
    /** No later spike is before stop_ns. NULL: this completes no sample. */
    int (*advance)(sf_quantity_state *state, int64_t stop_ns);
} sf_quantity_kind;

extern const sf_quantity_kind sf_interval_kind, sf_link_kind, sf_rate_kind, sf_position_kind;

struct sf_quantity_state {
    const sf_quantity_kind *kind;
    size_t states;
    uint32_t first_unit; /* isi, rate */

    sf_sample *samples; /* held are `oldest` .. newest - 1 */
    size_t oldest, newest, capacity;
    size_t told;    /* samples from this index on entered with the last call */
    size_t leaving; /* samples from this index to `oldest` left since then */

    sf_observed *observed;
    size_t *next_gap; /* of each */
    size_t observed_count;

    int64_t *last_ns; /* isi: the spike before, or INT64_MIN */
    uint64_t coincident;

    sf_watch *watch; /* delay */
    bool every_link;

    int64_t bin_ns;   /* rate */
    int64_t *from_ns; /* start of the state's current bin; INT64_MIN: nothing observed yet */
    uint64_t *spikes; /* in it */
    int64_t next_ns;  /* the first end of a bin */

    uint32_t *place; /* position: the unit's state, or UINT32_MAX */
    double *xy;      /* x and y of each state */
    size_t unit_count;
};

/** Appends a sample, which is held from now on. SF_NO_MEMORY. */
int sf_quantity_put(sf_quantity_state *state, int64_t time_ns, size_t of, double value);

#endif
