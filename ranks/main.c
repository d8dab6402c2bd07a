/* SPDX-License-Identifier: Apache-2.0 */
/* synfire-mpi: the command, done by all ranks that mpirun starts. The first one speaks for all. */
#include "app/program.h"
#include "ranks/mpi.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* What the others print, all of them would. */
static void be_silent(void)
{
    int nowhere = open("/dev/null", O_RDWR);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        close(nowhere);
    }
}

int main(int argc, char **argv)
{
    const sf_ranks_way *way = ranks_mpi_begin(&argc, &argv);
    if (way->rank > 0)
        be_silent();
    int code = app_program(argc, argv, way);
    ranks_mpi_end();
    return code;
}
