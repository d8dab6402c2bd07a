/* SPDX-License-Identifier: Apache-2.0 */
/** Bursts as their definitions say it, one sentence of them after the other. */
#ifndef SF_TESTS_BURSTS_ORACLE_H
#define SF_TESTS_BURSTS_ORACLE_H

#include "mine/bursts.h"

/** The max-interval method: stretches of spikes without an interval over `within`; of each what is left from
 * its first interval of `begin` or less on; neighbours closer than `apart` joined, again and again; short and
 * small ones left out. *bursts has room for `count`. Returns how many there are. */
size_t oracle_unit_bursts(sf_unit_burst *bursts, const int64_t *times_ns, size_t count,
                          const sf_burst_rule *rule);

/** Bursts of the array from a table of all bins; *spans has room for `count`. */
size_t oracle_array_bursts(sf_span *spans, const sf_spike *spikes, size_t count, int64_t duration_ns);

#endif
