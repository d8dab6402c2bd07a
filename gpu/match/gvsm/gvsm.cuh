/* SPDX-License-Identifier: Apache-2.0 */
/** Engine gvsm on a device: what its table (match.cu) takes from twigs.cu and descent.cu. */
#ifndef SF_GPU_MATCH_GVSM_GVSM_CUH
#define SF_GPU_MATCH_GVSM_GVSM_CUH

extern "C" {
#include "core/backend/match.h"
}

int sf_gpu_twigs_open(sf_backend_twigs **opened, sf_backend_data *data, const sf_backend_twig_job *job,
                      bool *lost, sf_error *error);
void sf_gpu_twigs_close(sf_backend_twigs *twigs, uint64_t *implied);
int sf_gpu_twigs_expand(sf_backend_twigs *twigs, uint32_t slot, uint32_t layer, const uint32_t *roots,
                        const uint32_t *ends, uint32_t count, sf_error *error);
int sf_gpu_twigs_collect(sf_backend_twigs *twigs, uint32_t slot, const sf_backend_node **entries,
                         uint32_t *count, sf_error *error);
int sf_gpu_twigs_descend(sf_backend_twigs *twigs, sf_backend_descent *descent, sf_error *error);

#endif
