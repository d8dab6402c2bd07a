/* SPDX-License-Identifier: Apache-2.0 */
#include "io/descriptors.h"

#include "core/error.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>

int sf_descriptors_check(unsigned needed, const char *place, sf_error *error)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SF_OK;
    int most = limit.rlim_cur < INT_MAX ? (int)limit.rlim_cur : INT_MAX;
    unsigned available = 0;
    for (int fd = 0; fd < most && available < needed; fd++)
        available += fcntl(fd, F_GETFD) < 0;
    if (available == needed) return SF_OK;
    unsigned enough = (unsigned)most + needed - available;
    return sf_fail(
        error, SF_UNAVAILABLE, place,
        "needs %u open files and sockets, and of the %d that are allowed %u are left: allow more, as "
        "with `ulimit -n %u`",
        needed, most, available, (enough + 63) / 64 * 64);
}
