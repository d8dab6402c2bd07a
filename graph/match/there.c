/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/there.h"

#include "core/backend/match.h"

static void close_data(void *object)
{
    const sf_match_there *there = object;
    sf_device_backend(there->device)->match->data_close(there->data);
}

void sf_match_there_close(sf_match_there *there)
{
    if (there->data != NULL) sf_device_discard(there->device, close_data, there);
    there->data = NULL;
}

typedef struct closing {
    sf_device *device;
    sf_backend_space *space;
} closing;

static void close_space(void *object)
{
    const closing *c = object;
    sf_device_backend(c->device)->match->space_close(c->space);
}

void sf_match_there_close_space(sf_device *device, sf_backend_space *space)
{
    closing c = {device, space};
    if (space != NULL) sf_device_discard(device, close_space, &c);
}
