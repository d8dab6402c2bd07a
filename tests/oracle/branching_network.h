/* SPDX-License-Identifier: Apache-2.0 */
/** Branching networks whose ratio is known. */
#ifndef SF_TESTS_ORACLE_BRANCHING_NETWORK_H
#define SF_TESTS_ORACLE_BRANCHING_NETWORK_H

#include "analysis/avalanches.h"
#include "core/random.h"

/** A network that drive keeps at its rate; spikes of a share of its units are seen. */
typedef struct oracle_branching {
    double m;           /**< spikes that a spike brings about in the next bin */
    double rate;        /**< spikes of all units a bin */
    double seen;        /**< the share */
    size_t bins;        /**< of 4 ms */
    double rise, swing; /**< the drive rises by this share over all bins, and swings by this share at 5 Hz */
} oracle_branching;

/** sf_population_free gives it back; ends the program where memory is out. */
sf_population oracle_branching_draw(const oracle_branching *network, uint64_t seed);

/** A Poisson variable; above a mean of 30 a normal one, rounded. */
double oracle_poisson(sf_random *random, double mean);
/** How many of `count` there are, each with chance p. */
double oracle_binomial(sf_random *random, double count, double p);

#endif
