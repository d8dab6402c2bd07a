/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/versions.h"

#include "ingest/redis.h"
#include "replay/mat.h"
#include "sinks/web_server.h"

#include <hdf5.h>
#include <jansson.h>
#include <lo/lo.h>
#include <msgpack.h>
#include <yaml.h>
#include <zmq.h>

void sf_library_versions(sf_text *text)
{
    unsigned hdf5[3];
    H5get_libversion(&hdf5[0], &hdf5[1], &hdf5[2]);
    int zmq[3];
    zmq_version(&zmq[0], &zmq[1], &zmq[2]);
    char lo[32];
    lo_version(lo, sizeof lo, NULL, NULL, NULL, 0, NULL, NULL, NULL);
    sf_text_printf(text, "HDF5 %u.%u.%u, ZeroMQ %d.%d.%d, liblo %s, MessagePack %s, jansson %s, libyaml %s",
                   hdf5[0], hdf5[1], hdf5[2], zmq[0], zmq[1], zmq[2], lo, msgpack_version(), JANSSON_VERSION,
                   yaml_get_version_string());
    if (sf_redis_version() != NULL)
        sf_text_printf(text, ", hiredis %s", sf_redis_version());
    if (sf_mat_library() != NULL)
        sf_text_printf(text, ", matio %s", sf_mat_library());
    if (sf_web_library() != NULL)
        sf_text_printf(text, ", %s", sf_web_library());
}
