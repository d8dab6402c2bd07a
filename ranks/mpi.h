/* SPDX-License-Identifier: Apache-2.0 */
/** Ranks that talk by MPI: the one place that knows it. */
#ifndef SF_RANKS_MPI_H
#define SF_RANKS_MPI_H

#include "core/ranks.h"

/** Begins MPI: takes its words from those of the command. What goes wrong within MPI ends the job. */
const sf_ranks_way *ranks_mpi_begin(int *argc, char ***argv);

/** Waits for all ranks to come here. */
void ranks_mpi_end(void);

#endif
