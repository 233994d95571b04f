"""Producer settings that `produce` and `perf produce` share."""

from collections.abc import Mapping

from moldau.cli.client.connection import Cluster

# What waits in the client is bounded, so that a slow broker slows the reading of the input down and a record
# does not outlive its timeout in the queue.
QUEUE_KIB_MAX = 32 * 1024


def producer_settings(cluster: Cluster, compression: str, acks: str) -> Mapping[str, object]:
    return {
        "acks": acks,
        "compression.type": compression,
        # Java's producer has it on by default since KIP-679; it is only possible with all replicas asked.
        "enable.idempotence": acks == "all",
        # Where Java's producer would put the key, or joins and compaction would see it in two partitions.
        "partitioner": "murmur2_random",
        "message.timeout.ms": int(cluster.timeout_s * 1000),
        "queue.buffering.max.kbytes": QUEUE_KIB_MAX,
    }
