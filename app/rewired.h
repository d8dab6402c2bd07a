/* SPDX-License-Identifier: Apache-2.0 */
/** What `match` holds counts against, and the triad census, which it prints where a pattern would stand. */
#ifndef SF_APP_REWIRED_H
#define SF_APP_REWIRED_H

#include "app/command.h"
#include "graph/spread.h"

/** --rewired, with --seed and --threads, which other lists have; graphs is 0 where it was not given. */
int app_rewired_parse(sf_spread_options *options, const app_call *call, sf_error *error);

/** The field `rewired` of an object. */
void app_rewired_json(sf_json *json, const sf_spread *spread, uint32_t graphs);

/** Counts, holds against rewired graphs where options ask for it, and prints. */
int app_census(const app_call *call, const sf_csr *graph, const sf_spread_options *options, sf_error *error);

#endif
