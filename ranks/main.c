/* SPDX-License-Identifier: Apache-2.0 */
/* synfire-mpi: the command, executed by all ranks that mpirun starts. Only the first one prints. */
#include "app/program.h"
#include "core/ranks.h"

#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- gathering ---- */

/* Messages are counted in int: longer ones go in pieces. */
#define PIECE ((size_t)1 << 30)

static void send_in_pieces(void *data, size_t size, int from)
{
    for (size_t at = 0; at < size; at += PIECE)
        MPI_Bcast((char *)data + at, (int)(size - at < PIECE ? size - at : PIECE), MPI_BYTE, from,
                  MPI_COMM_WORLD);
}

static int counts[2][4096]; /* lengths and offsets of a message, per rank */

static void gather(const sf_ranks_way *way, const void *own, void *all, const size_t *sizes)
{
    size_t total = 0;
    for (uint32_t r = 0; r < way->count; r++)
        total += sizes[r];
    if (total < PIECE && way->count <= sizeof counts[0] / sizeof counts[0][0]) {
        size_t at = 0;
        for (uint32_t r = 0; r < way->count; r++) {
            counts[0][r] = (int)sizes[r];
            counts[1][r] = (int)at;
            at += sizes[r];
        }
        MPI_Allgatherv(own, counts[0][way->rank], MPI_BYTE, all, counts[0], counts[1], MPI_BYTE,
                       MPI_COMM_WORLD);
        return;
    }
    char *at = all;
    for (uint32_t r = 0; r < way->count; r++) {
        if (r == way->rank && sizes[r] > 0) memcpy(at, own, sizes[r]);
        send_in_pieces(at, sizes[r], (int)r);
        at += sizes[r];
    }
}

/* ---- joining ---- */

/* An MPI user operation receives no context, so this is the only joining in progress. */
static sf_ranks_joining *joining_now;
static void *context_now;

static void join_one(void *left, void *right, int *length, MPI_Datatype *type)
{
    (void)length; /* the data of a rank is one element */
    (void)type;
    joining_now(context_now, left, right);
}

static void join(const sf_ranks_way *way, void *data, size_t size, sf_ranks_joining *joining, void *context)
{
    (void)way;
    MPI_Datatype whole;
    MPI_Op in_order;
    joining_now = joining;
    context_now = context;
    MPI_Type_contiguous((int)(size / 8), MPI_UINT64_T, &whole);
    MPI_Type_commit(&whole);
    MPI_Op_create(join_one, 0, &in_order); /* 0: not commutative */
    MPI_Allreduce(MPI_IN_PLACE, data, 1, whole, in_order, MPI_COMM_WORLD);
    MPI_Op_free(&in_order);
    MPI_Type_free(&whole);
}

/* ---- beginning and ending ---- */

/* Divides the cores among the ranks of this machine that may run on them. */
static unsigned find_cores(MPI_Comm machine, int place)
{
    int ranks;
    cpu_set_t own;
    CPU_ZERO(&own);
    MPI_Comm_size(machine, &ranks);
    cpu_set_t *all = malloc((size_t)ranks * sizeof *all);
    int known = all != NULL && sched_getaffinity(0, sizeof own, &own) == 0, everywhere;
    MPI_Allreduce(&known, &everywhere, 1, MPI_INT, MPI_MIN, machine);
    double share = 0;
    if (everywhere) MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, machine);
    for (size_t core = 0; everywhere && core < CPU_SETSIZE; core++) {
        int users = 0;
        for (int r = 0; r < ranks; r++)
            users += CPU_ISSET(core, &all[r]) != 0;
        if (CPU_ISSET(core, &all[place])) share += 1.0 / users;
    }
    free(all);
    return !everywhere ? 0 : share < 1 ? 1 : (unsigned)(share + 1e-6);
}

/* Starts MPI, which removes its own arguments from those of the command. Errors within MPI end the job. */
static const sf_ranks_way *mpi_begin(int *argc, char ***argv)
{
    static sf_ranks_way way;
    int threads, rank, count, place;
    MPI_Comm machine;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &threads);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &place);
    way = (sf_ranks_way){.rank = (uint32_t)rank,
                         .count = (uint32_t)count,
                         .place = (uint32_t)place,
                         .cores = find_cores(machine, place),
                         .gather = gather,
                         .join = join};
    MPI_Comm_free(&machine);
    return &way;
}

/* Waits for all ranks to come here. */
static void mpi_end(void)
{
    MPI_Finalize();
}

/* ---- the command ---- */

/* Silences all other ranks, since all would print the same. */
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
    const sf_ranks_way *way = mpi_begin(&argc, &argv);
    if (way->rank > 0) be_silent();
    int code = app_program(argc, argv, way);
    mpi_end();
    return code;
}
