"""Why a known key has no effect here. The reason is appended to the key's documentation."""

from typing import Final

KRAFT: Final = "Moldau keeps what a controller quorum would keep in its coordination store"
ZOOKEEPER: Final = "what is kept in ZooKeeper is not protected, and one request waits for the other"
JVM: Final = "it configures the Java process or a Java class"
ONE_LOOP: Final = "one event loop serves all connections"
NO_FOLLOWERS: Final = "replication between brokers goes without it"
NO_QUOTAS: Final = "quotas are not there yet"
NO_SECURITY: Final = "authentication, encryption and authorization are not there yet"
NO_TIERS: Final = "there is no tiered storage"
ONE_COORDINATOR: Final = "the coordinators of this broker work without it"
NO_SHARE_GROUPS: Final = "share groups are not there yet"
NO_STREAMS_GROUPS: Final = "streams groups are not there yet"
NO_PREALLOCATION: Final = "files grow as they are written"
RETIRED: Final = "Apache Kafka dropped it; files that still carry it go on starting"
NO_MOVES: Final = "replicas do not move between directories yet"
ONE_OPENER: Final = "one thread opens each directory"
ONE_CHECKPOINT: Final = (
    "all checkpoints are written together, every `log.flush.offset.checkpoint.interval.ms`"
)
ONE_CLEANER: Final = "one compaction runs at a time"
SYSTEM_SOCKETS: Final = "the operating system fits each socket's receive buffer to its traffic"
ONE_LIMIT_PER_ADDRESS: Final = "`max.connections.per.ip` holds for every address"
