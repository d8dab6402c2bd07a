/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/one_neuron.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

#include <math.h>

#define BIN_NS (SF_MILLISECOND / 4)
#define NEAR_NS SF_MILLISECOND
#define BESIDE_NS (3 * SF_MILLISECOND)
#define AROUND_NS (5 * SF_MILLISECOND)
#define FAR_NS (10 * SF_MILLISECOND)
#define BINS 8 /* number of bins of a quarter of a millisecond, on either side */
#define TIMES 3
#define ERRORS 6
#define LEAST_EXPECTED 20
#define LEFT 0.1

int sf_neurons_lay_out(sf_neurons *trains, const sf_recording *recording, sf_error *error)
{
    size_t units = recording->units.count, count = recording->pieces == NULL ? recording->spike_count : 0;
    *trains = (sf_neurons){.recording = recording};
    trains->times = sf_resize(NULL, count, sizeof *trains->times);
    trains->first = sf_alloc(units + 2, sizeof *trains->first);
    if (trains->times == NULL || trains->first == NULL) {
        sf_neurons_free(trains);
        return sf_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++)
        trains->first[recording->spikes[i].unit + 2]++;
    for (size_t u = 2; u < units + 2; u++)
        trains->first[u] += trains->first[u - 1];
    for (size_t i = 0; i < count; i++) /* first[unit + 1] advances from the start of its train to the end */
        trains->times[trains->first[recording->spikes[i].unit + 1]++] = recording->spikes[i].time_ns;
    return SF_OK;
}

void sf_neurons_free(sf_neurons *trains)
{
    sf_free(trains->times);
    sf_free(trains->first);
    *trains = (sf_neurons){0};
}

/* Number of pairs of spikes by their distance in time. */
typedef struct lags {
    size_t bins[BINS], near, beside, around;
} lags;

static void see(lags *seen, int64_t lag_ns)
{
    int64_t apart_ns = lag_ns < 0 ? -lag_ns : lag_ns;
    if (apart_ns < NEAR_NS) {
        seen->near++;
        seen->bins[(lag_ns + NEAR_NS) / BIN_NS]++;
    } else if (apart_ns < BESIDE_NS) {
        seen->beside++;
    } else if (apart_ns >= AROUND_NS) {
        seen->around++;
    }
}

static lags count_lags(const sf_neurons *trains, uint32_t one, uint32_t other)
{
    lags seen = {0};
    size_t from = trains->first[other], end = trains->first[other + 1];
    for (size_t i = trains->first[one]; i < trains->first[one + 1]; i++) {
        while (from < end && trains->times[from] <= trains->times[i] - FAR_NS)
            from++;
        for (size_t j = from; j < end && trains->times[j] < trains->times[i] + FAR_NS; j++)
            see(&seen, trains->times[j] - trains->times[i]);
    }
    return seen;
}

static bool is_seen_again(const lags *seen)
{
    double expected = (double)seen->beside * BIN_NS / (2.0 * (BESIDE_NS - NEAR_NS));
    size_t most = 0;
    for (size_t i = 0; i < BINS; i++)
        most = seen->bins[i] > most ? seen->bins[i] : most;
    return (double)most > TIMES * expected && (double)most - expected > ERRORS * sqrt(expected + 1);
}

static bool is_split(const lags *seen)
{
    double expected = (double)seen->around * NEAR_NS / (FAR_NS - AROUND_NS);
    return expected >= LEAST_EXPECTED && (double)seen->near < LEFT * expected;
}

/* Also where it is not known. */
static bool is_near(const sf_unit *a, const sf_unit *b)
{
    return !(hypot(a->x_um - b->x_um, a->y_um - b->y_um) > SF_ONE_NEURON_UM);
}

bool sf_neurons_look_alike(const sf_neurons *trains, uint32_t one, uint32_t other)
{
    const sf_units *units = &trains->recording->units;
    if (one == other || sf_units_share_electrode(units, one, other)) return one != other;
    if (!sf_units_share_well(units, one, other) || !is_near(&units->items[one], &units->items[other]))
        return false;
    lags seen = count_lags(trains, one, other);
    bool fine = trains->recording->tick_ns <= BIN_NS; /* else no lag is always the same */
    return (fine && is_seen_again(&seen)) || is_split(&seen);
}
