"""Why a known key has no effect here: the last sentence of the key's documentation."""

from typing import Final

KRAFT: Final = "Moldau keeps cluster metadata in its coordination store, not in a controller quorum"
ONE_REQUEST: Final = "requests to ZooKeeper are sent one at a time"
JVM: Final = "it configures the Java process or a Java class"
ONE_LOOP: Final = "one event loop serves all connections"
NO_FOLLOWERS: Final = "replication between brokers does not need it"
TICKETS_ON_DEMAND: Final = "the Kerberos library gets tickets when a login needs them"
RETRIED_WITH_CONNECTION: Final = "a broker that gets no token tries again with its next connection"
RETRIED_AT_ONE_PACE: Final = "`sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms` is every wait"
VERSIONS_BY_LIST: Final = "`ssl.enabled.protocols` alone decides"
ZOOKEEPER_VERSIONS_BY_LIST: Final = "`zookeeper.ssl.enabled.protocols` alone decides"
NO_TIERS: Final = "there is no tiered storage"
ONE_COORDINATOR: Final = "the coordinators of this broker do not need it"
NO_SHARE_GROUPS: Final = "share groups are not supported yet"
NO_STREAMS_GROUPS: Final = "streams groups are not supported yet"
NO_PREALLOCATION: Final = "files grow as they are written"
RETIRED: Final = "Apache Kafka dropped it; it is accepted so that older files still work"
AS_WRITTEN: Final = (
    "dynamic passwords are not encrypted, nor are they in Kafka 4; `zookeeper.set.acl` hides them"
)
NO_MOVES: Final = "replicas cannot be moved between directories yet"
ONE_OPENER: Final = "one thread opens each directory"
ONE_CHECKPOINT: Final = (
    "all checkpoints are written together, every `log.flush.offset.checkpoint.interval.ms`"
)
ONE_CLEANER: Final = "one compaction runs at a time"
SYSTEM_SOCKETS: Final = "the operating system sizes each socket's receive buffer"
