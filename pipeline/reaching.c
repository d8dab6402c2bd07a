/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/reaching.h"

#include "analysis/connectivity.h"
#include "core/clock.h"
#include "core/log.h"

void sf_reaching_open(sf_reaching *reaching, sf_device *device, bool always)
{
    *reaching = (sf_reaching){.device = device, .there = device != NULL && always};
    sf_contest_begin(&reaching->contest, 0);
}

/* Both have searched: who goes on? */
static void compare(sf_reaching *r, int64_t there_ns)
{
    r->there = sf_contest_won(&r->contest, there_ns);
    sf_log(SF_LOG_INFO, "searches from every unit: %.2f ms on the CPU, %.2f on %s, which %s on",
           (double)r->contest.here_ns * 1e-6, (double)there_ns * 1e-6, sf_device_name(r->device),
           r->there ? "goes" : "does not go");
}

/* The CPU's counts are complete: the device computes them again for comparison. */
static int try_device(sf_reaching *r, const sf_csr *csr, uint32_t most_hops, sf_error *error)
{
    sf_reach_counts again;
    int64_t began_ns = sf_clock_monotonic_ns();
    int status = sf_connectivity_reach_all(&again, csr, most_hops, r->device, error);
    if (status != SF_OK) return status;
    compare(r, sf_clock_monotonic_ns() - began_ns);
    sf_reach_counts_free(&again);
    return SF_OK;
}

/* The CPU does from now on what a device cannot. */
static int forgive(sf_reaching *r, int status, const sf_error *reason, sf_error *error)
{
    if (status == SF_UNAVAILABLE) {
        sf_log(SF_LOG_INFO, "the CPU searches from every unit from now on: %s", reason->text);
        *r = (sf_reaching){0};
        return SF_OK;
    }
    if (status != SF_OK && error != NULL) *error = *reason;
    return status;
}

int sf_reaching_search(sf_reaching *reaching, sf_reach_counts *counts, const sf_csr *csr, uint32_t most_hops,
                       sf_error *error)
{
    sf_error reason = {0};
    if (reaching->there) {
        int status = sf_connectivity_reach_all(counts, csr, most_hops, reaching->device, &reason);
        status = forgive(reaching, status, &reason, error);
        if (status != SF_OK || reaching->there) return status;
    }
    int64_t began_ns = sf_clock_monotonic_ns();
    int status = sf_connectivity_reach_all(counts, csr, most_hops, NULL, error);
    reaching->contest.here_ns = sf_clock_monotonic_ns() - began_ns;
    if (status != SF_OK || reaching->device == NULL || !sf_contest_due(&reaching->contest)) return status;
    status = forgive(reaching, try_device(reaching, csr, most_hops, &reason), &reason, error);
    if (status != SF_OK) sf_reach_counts_free(counts);
    return status;
}

const char *sf_reaching_device(const sf_reaching *reaching)
{
    return sf_device_name(reaching->there ? reaching->device : NULL);
}
