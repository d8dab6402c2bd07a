/* SPDX-License-Identifier: Apache-2.0 */
/** Candidate spaces of the test plugin's matching. */
#ifndef SF_TESTS_PLUGIN_SPACE_H
#define SF_TESTS_PLUGIN_SPACE_H

#include "core/backend/match.h"

int test_data_open(sf_backend_data **opened, sf_backend_device *device, const sf_backend_data_job *job,
                   sf_error *error);
void test_data_close(sf_backend_data *data);
/** Whether the test says so of graphs that were of use before. A use of it. */
bool test_data_is_lost(sf_backend_data *data);
const sf_backend_data_job *test_data_job(const sf_backend_data *data); /**< borrowed */
sf_backend_device *test_data_device(const sf_backend_data *data);
int test_space_open(sf_backend_space **opened, sf_backend_data *data, const sf_backend_space_job *job,
                    sf_backend_space_answer *answer, sf_error *error);
void test_space_close(sf_backend_space *space);
int test_space_link(sf_backend_space *space, const sf_backend_link *links, uint32_t count, uint32_t *number,
                    uint64_t *totals, sf_error *error);
int test_space_read(sf_backend_space *space, uint32_t vertex, uint32_t *candidates, uint32_t link,
                    uint64_t *offsets, uint32_t *places, sf_error *error);

/** Of the search: candidates of a pattern vertex, and links by their number. Borrowed. */
const uint32_t *test_space_candidates(const sf_backend_space *space, uint32_t vertex);
sf_backend_match_lists test_space_links(const sf_backend_space *space, uint32_t number);

#endif
