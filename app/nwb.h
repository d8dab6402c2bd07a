/* SPDX-License-Identifier: Apache-2.0 */
/** Writes results as tables of an NWB 2 file, with --nwb OUT: replay/nwb_results.h says which file. */
#ifndef SF_APP_NWB_H
#define SF_APP_NWB_H

#include "app/samples.h"

#include <synfire/graph.h>

#define APP_NWB_OPTION                                                                                       \
    {                                                                                                        \
        "nwb", "OUT",                                                                                        \
            "write the result as tables into a new NWB 2 file: a copy of REC where that is one (so that "    \
            "one command "                                                                                   \
            "after the other adds its own), else one with the recording"                                     \
    }

/** Before the work: SF_CANNOT_CREATE if a file of that name exists. Does nothing without --nwb. */
int app_nwb_check(const app_call *call, sf_error *error);

/** Writes the tables `episodes` and `occurrences`; the first includes `expected` and test results. Does
 * nothing without --nwb; SF_CANCELLED. */
int app_nwb_episodes(const app_call *call, const sf_recording *recording, const sf_episodes *found,
                     const sf_episodes_columns *told, sf_error *error);

/** Writes the table `edges`, and unless NULL the table of units' network measures. Does nothing without
 * --nwb. */
int app_nwb_edges(const app_call *call, const sf_recording *recording, const sf_graph *graph,
                  const sf_table *units, sf_error *error);

/** Writes the table `densities`, one row each; of[i] belongs to series indices[i]. */
int app_nwb_densities(const app_call *call, const app_samples *samples, sf_domain domain,
                      const size_t *indices, const sf_density_columns *of, size_t count, sf_error *error);

/** Writes the tables of an analysis with the result `what`; the first is described by a sentence in this
 * format. Does nothing without --nwb. */
int app_nwb_tables(const app_call *call, const sf_recording *recording, const app_telling *telling,
                   const void *what, sf_error *error, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

#endif
