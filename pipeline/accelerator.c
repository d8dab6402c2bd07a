/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/accelerator.h"

#include "core/backend/crew.h"
#include "core/error.h"
#include "core/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <synfire/device.h>

/* A run goes on for so long that starting a device always pays. */
static double run_seconds(const void *config)
{
    (void)config;
    return INFINITY;
}

static int choose(sf_device **device, const sf_live_options *config, sf_error *error)
{
    sf_crew crew;
    const sf_crew_request request = {.device = config->device, .most = 1, .seconds = run_seconds};
    int status = sf_crew_open(&crew, &request, error);
    *device = crew.count > 0 ? crew.members[0].device : NULL;
    return status;
}

/* The CPU does what a device refuses or fails at: only lack of host memory ends the run. */
static int forgive(int status, const sf_error *reason, sf_error *error)
{
    if (status == SF_OK || status == SF_UNAVAILABLE) return SF_OK;
    if (error != NULL) *error = *reason;
    return status;
}

int sf_accelerator_open(sf_accelerator *accelerator, const sf_live_options *config, sf_error *error)
{
    *accelerator = (sf_accelerator){0};
    uint64_t bytes;
    if (sf_parse_bytes(config->device_memory, &bytes)) /* else auto: as the program's environment has it */
        sf_device_set_memory_limit(bytes);
    int status = choose(&accelerator->device, config, error);
    if (status != SF_OK || accelerator->device == NULL) return status;
    sf_error reason;
    status = sf_resident_open(&accelerator->resident, accelerator->device, &reason);
    if (status == SF_UNAVAILABLE)
        sf_log(SF_LOG_INFO, "windows are copied to %s when they are mined: %s",
               sf_device_name(accelerator->device), reason.text);
    return forgive(status, &reason, error);
}

void sf_accelerator_close(sf_accelerator *accelerator)
{
    sf_resident_close(accelerator->resident);
    *accelerator = (sf_accelerator){0};
}

int sf_accelerator_append(sf_accelerator *accelerator, const sf_history *history, sf_error *error)
{
    if (accelerator->resident == NULL) return SF_OK;
    sf_error reason;
    return forgive(sf_resident_append(accelerator->resident, history, &reason), &reason, error);
}

int sf_accelerator_hold(sf_accelerator *accelerator, const sf_history *history, uint64_t first, uint64_t last,
                        sf_resident **resident, sf_error *error)
{
    *resident = NULL;
    if (accelerator->resident == NULL) return SF_OK;
    sf_error reason;
    int status = sf_resident_hold(accelerator->resident, history, first, last, &reason);
    if (status == SF_OK) *resident = accelerator->resident;
    return forgive(status, &reason, error);
}

void sf_accelerator_status(const sf_accelerator *accelerator, sf_status_message *status)
{
    sf_error failure;
    bool sick = sf_device_sick(accelerator->device, &failure);
    snprintf(status->device, sizeof status->device, "%s", sf_device_name(accelerator->device));
    snprintf(status->device_state, sizeof status->device_state, sick ? "sick" : "ok");
    if (sick) snprintf(status->device_note, sizeof status->device_note, "%.255s", failure.text);
    status->device_memory = sf_device_memory(accelerator->device);
}
