/* SPDX-License-Identifier: Apache-2.0 */
/** Redis streams, read and written through hiredis: redis://HOST:PORT. */
#ifndef SF_INGEST_REDIS_H
#define SF_INGEST_REDIS_H

#include "ingest/sending.h"
#include "ingest/transport.h"

/** A message is an entry of the stream `topic`: its id, and the values of the fields `time_field`,
 * `sample_field` and `field`, empty where it has none. It begins after what is there when it first connects,
 * and goes on where it was. */
extern const sf_transport_kind sf_transport_redis;

/** A message of pairs, names and values, becomes an entry of the stream `topic`. Who waits for any stream of
 * that server counts as a listener. */
extern const sf_sending_kind sf_sending_redis;

/** Of hiredis; NULL where synfire was built without it: both then refuse to open. */
const char *sf_redis_version(void);

#endif
