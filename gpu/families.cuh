/* SPDX-License-Identifier: Apache-2.0 */
/** What the backend offers (backend.cu): a table of each family, in the file that fills it. */
#ifndef SF_GPU_FAMILIES_CUH
#define SF_GPU_FAMILIES_CUH

extern const struct sf_backend_episodes sf_gpu_episodes;           /**< mine/stream.cu */
extern const struct sf_backend_windows sf_gpu_windows;             /**< mine/window.cu */
extern const struct sf_backend_surrogates sf_gpu_surrogates;       /**< mine/surrogates.cu */
extern const struct sf_backend_density sf_gpu_density;             /**< density/sums.cu */
extern const struct sf_backend_graphs sf_gpu_graphs;               /**< graph.cu */
extern const struct sf_backend_bfs sf_gpu_bfs;                     /**< search/search.cu */
extern const struct sf_backend_match sf_gpu_match;                 /**< match/match.cu */
extern const struct sf_backend_rewire sf_gpu_rewire;               /**< match/rewire.cu */
extern const struct sf_backend_tracking sf_gpu_tracking;           /**< mine/tracks.cu */
extern const struct sf_backend_pair_counting sf_gpu_pair_counting; /**< mine/pairs.cu */
extern const struct sf_backend_moving sf_gpu_moving;               /**< density/moving.cu */

#endif
