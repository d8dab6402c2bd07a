/* SPDX-License-Identifier: Apache-2.0 */
/** Bursts as their definitions say it, one sentence of them after the other. */
#ifndef SF_TESTS_BURSTS_ORACLE_H
#define SF_TESTS_BURSTS_ORACLE_H

#include "mine/bursts.h"
#include "mine/unit_bursts.h"

/** The max-interval method: stretches of spikes without an interval over `within`; of each what is left from
 * its first interval of `begin` or less on; neighbours closer than `apart` joined, again and again; short and
 * small ones left out. *bursts has room for `count`. Returns how many there are. */
size_t oracle_unit_bursts(sf_unit_burst *bursts, const int64_t *times_ns, size_t count,
                          const sf_burst_rule *rule);

/** logISI, CMA and Poisson surprise, from the papers and with everything computed anew where it is asked for.
 * The train is one segment; *bursts has room for `count`. */
size_t oracle_log_isi(sf_unit_burst *bursts, const int64_t *times_ns, size_t count, uint64_t least_spikes);
size_t oracle_cma(sf_unit_burst *bursts, const int64_t *times_ns, size_t count, uint64_t least_spikes);
size_t oracle_surprise(sf_unit_burst *bursts, const int64_t *times_ns, size_t count,
                       const sf_burst_rule *rule);

/** ISI_N in two passes over all spikes: which meet the criterion, and which burst each is of. Indices of
 * first spikes and numbers of spikes; both have room for `count`. */
size_t oracle_isi_n(size_t *first, size_t *spikes, const int64_t *times_ns, size_t count, size_t needed,
                    int64_t within_ns);

/** Network bursts from a table of all bins, each clause looked up anew; *spans has room for a span a spike.
 */
size_t oracle_network_bursts(sf_span *spans, const sf_recording *recording, const sf_network_rule *rule);

#endif
