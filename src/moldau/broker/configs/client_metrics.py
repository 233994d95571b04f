"""Which client metrics are wanted from a client (KIP-714), from the client metrics resources it matches.

Keeps nothing per client: the subscription's id is a checksum of client and content, so a push that carries another
id was made for a subscription that has changed since.
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
"""Codecs as record batches number them, the one we like best first."""
ALL_METRICS: Final = "*"


class Subscription(NamedTuple):
    subscription_id: int
    interval_ms: int
    metrics: tuple[str, ...]


def subscription_for(configs: ConfigStore, client: Client, instance_id: bytes) -> Subscription:
    """All matching resources as one: every metric any of them asks for, as often as the most eager wants."""
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
