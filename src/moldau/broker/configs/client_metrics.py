"""Which client metrics to request from a client (KIP-714): those of the client metrics resources it matches.

Keeps no state per client. The subscription id is a checksum of the client and the subscription, so a push
with another id belongs to a subscription that has changed.
"""

import zlib
from typing import Final, NamedTuple

from moldau.broker.configs.config_rules import client_patterns
from moldau.broker.configs.config_store import ConfigStore
from moldau.broker.request.client_session import Client
from moldau.core.ids import TopicId, topic_id_text
from moldau.core.settings.resource_keys import ClientMetricsSettings

UNCOMPRESSED: Final = 0
ACCEPTED_COMPRESSION: Final = (4, 3, 1, 2)
"""Codec numbers as in record batches, in order of preference."""
ALL_METRICS: Final = "*"


class Subscription(NamedTuple):
    subscription_id: int
    interval_ms: int
    metrics: tuple[str, ...]


def subscription_for(configs: ConfigStore, client: Client, instance_id: bytes) -> Subscription:
    """The union of all matching resources: all their metrics, at the shortest interval."""
    matching = [
        ClientMetricsSettings.parse(texts)
        for _, texts in sorted(configs.client_metrics.items())
        if _matches(client, instance_id, texts.get("match", ""))
    ]
    metrics: tuple[str, ...] = tuple(dict.fromkeys(name for each in matching for name in each.metrics))
    if ALL_METRICS in metrics:
        metrics = (ALL_METRICS,)
    interval_ms = min(
        (each.interval_ms for each in matching), default=ClientMetricsSettings.interval_ms.default
    )
    digest = zlib.crc32(instance_id + repr((interval_ms, metrics)).encode())
    return Subscription(digest - (1 << 31), interval_ms, metrics)


def _matches(client: Client, instance_id: bytes, match: str) -> bool:
    address, _, port = client.connection.peer.rpartition(":")
    properties = {
        "client_id": client.client_id or "",
        "client_instance_id": topic_id_text(TopicId(instance_id)),
        "client_software_name": client.software_name,
        "client_software_version": client.software_version,
        "client_source_address": address.strip("[]"),
        "client_source_port": port,
    }
    return all(pattern.fullmatch(properties[name]) for name, pattern in client_patterns(match).items())
