/* SPDX-License-Identifier: Apache-2.0 */
/** Redis streams, read and written through hiredis: redis://HOST:PORT. */
#ifndef SF_INGEST_REDIS_H
#define SF_INGEST_REDIS_H

#include "ingest/sending.h"
#include "ingest/transport.h"

/** Reader. A message is an entry of the stream `topic`: its id, and the values of the fields `time_field`,
 * `sample_field` and `field`, each empty if missing. Starts after the entries that exist at the first
 * connection, and continues from the last one read after a reconnection. */
extern const sf_transport_kind sf_transport_redis;

/** Writer. A message of name-value pairs becomes an entry of the stream `topic`. A client that waits for any
 * stream of that server counts as a listener. */
extern const sf_sending_kind sf_sending_redis;

/** Version of hiredis; NULL if synfire was built without it, when both refuse to open. */
const char *sf_redis_version(void);

#endif
