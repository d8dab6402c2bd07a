/* SPDX-License-Identifier: Apache-2.0 */
/** Twigs of the test plugin's matching. */
#ifndef SF_TESTS_PLUGIN_TWIGS_H
#define SF_TESTS_PLUGIN_TWIGS_H

#include "core/backend/match.h"

int test_twigs_open(sf_backend_twigs **opened, sf_backend_data *data, const sf_backend_twig_job *job,
                    bool *lost, sf_error *error);
void test_twigs_close(sf_backend_twigs *twigs, uint64_t *implied);
int test_twigs_expand(sf_backend_twigs *twigs, uint32_t slot, uint32_t layer, const uint32_t *roots,
                      const uint32_t *ends, uint32_t count, sf_error *error);
int test_twigs_collect(sf_backend_twigs *twigs, uint32_t slot, const sf_backend_node **entries,
                       uint32_t *count, sf_error *error);
int test_twigs_descend(sf_backend_twigs *twigs, sf_backend_descent *descent, sf_error *error);

#endif
