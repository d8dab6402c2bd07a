/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/versions.h"

#include "ingest/redis.h"
#include "sinks/web_server.h"

#include <lo/lo.h>
#include <msgpack.h>
#include <yaml.h>
#include <zmq.h>

void sf_live_library_versions(sf_text *text)
{
    int zmq[3];
    zmq_version(&zmq[0], &zmq[1], &zmq[2]);
    char lo[32];
    lo_version(lo, sizeof lo, NULL, NULL, NULL, 0, NULL, NULL, NULL);
    sf_text_printf(text, ", ZeroMQ %d.%d.%d, liblo %s, MessagePack %s, libyaml %s", zmq[0], zmq[1], zmq[2],
                   lo, msgpack_version(), yaml_get_version_string());
    if (sf_redis_version() != NULL) sf_text_printf(text, ", hiredis %s", sf_redis_version());
    if (sf_web_library() != NULL) sf_text_printf(text, ", %s", sf_web_library());
}
