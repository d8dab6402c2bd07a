/* SPDX-License-Identifier: Apache-2.0 */
/** Options and output of tests of significance, which `mine` and `graph` share. */
#ifndef SF_APP_SIGNIFICANCE_H
#define SF_APP_SIGNIFICANCE_H

#include "app/mining.h"
#include "mine/significance.h"

/** --significance --fdr */
extern const app_option app_significance_options[];

/** --surrogates --seed, for commands in which nothing else has them. */
extern const app_option app_surrogate_options[];

typedef struct app_significance {
    bool asked;                      /**< --significance was given */
    sf_significance_options options; /**< what is asked for */
    sf_significance told;            /**< what was done */
} app_significance;

/** Reads the options; refuses those that need --significance without it. SF_USAGE. */
int app_significance_parse(app_significance *significance, const app_call *call, sf_error *error);

/** Tests the result, where that was asked for, with a progress bar and warnings. */
int app_significance_run(app_significance *significance, sf_mine_result *result, const app_mining *mining,
                         const app_call *call, const sf_recording *recording, sf_error *error);

/** The field `significance`: the device that the surrogates were counted on, and as device_note why one asked
 * for or chosen did not do it, or null; nothing without --significance. */
void app_significance_json(sf_json *json, const app_significance *significance);

/**
 * Appends what was done as a paper prints it: version, settings, what was selected (core/provenance.h), seed.
 */
void app_methods(sf_text *text, const app_significance *significance, const sf_mine_result *result,
                 const app_mining *mining, const app_call *call);

/** Where no episode could be tested: appends why, and what to do instead; or warns of it. */
void app_not_testable_print(sf_text *text, const app_significance *significance,
                            const sf_recording *recording);
void app_not_testable_warn(const app_call *call, const app_significance *significance,
                           const sf_recording *recording);

/** Whether item i is worth a closer look: a count of 20 or more and 1.2 times what is expected, q below 0.05,
 * units over 0.1 Hz. */
bool app_worth_showing(const sf_mine_result *result, size_t i, int64_t duration_ns);

#endif
