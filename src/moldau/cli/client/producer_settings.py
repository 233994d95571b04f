"""Producer settings that `produce` and `perf produce` share."""

from collections.abc import Mapping

from moldau.cli.client.connection import Cluster

# Bounds the client's queue, so that a slow broker slows down reading the input, and records do not reach their
# delivery timeout in the queue.
QUEUE_KIB_MAX = 32 * 1024


def producer_settings(cluster: Cluster, compression: str, acks: str) -> Mapping[str, object]:
    return {
        "acks": acks,
        "compression.type": compression,
        # Enabled by default in Java's producer since KIP-679. Requires acks=all.
        "enable.idempotence": acks == "all",
        # Same partition as Java's producer, or a key would be in two partitions.
        "partitioner": "murmur2_random",
        "message.timeout.ms": int(cluster.timeout_s * 1000),
        "queue.buffering.max.kbytes": QUEUE_KIB_MAX,
    }
