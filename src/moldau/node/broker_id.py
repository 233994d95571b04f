"""The broker ID of a cluster's broker: the configured one, the one its log directories keep, or a generated one.

Generated IDs come from a counter in the coordination store and are above those that may be configured, as in Kafka.
Blocks: runs on a worker thread.
"""

import os
from contextlib import suppress

from moldau.coordination import tree_layout as layout
from moldau.coordination.store import NodeExists, Store
from moldau.coordination.tree_setup import create_folders
from moldau.core.errors import ConfigError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.resolve import BrokerLayers
from moldau.storage.directory.meta_properties import parse_properties
from moldau.storage.disk import Disk
from moldau.storage.names import META_PROPERTIES


def with_broker_id(layers: BrokerLayers, store: Store, disk: Disk) -> BrokerLayers:
    """The same settings with a broker ID. ConfigError if there is none and none may be generated."""
    settings = layers.settings()
    if "node.id" in layers.static:
        _check_configured(settings)
        return layers
    broker_id = str(_kept_id(settings, disk) or _generated_id(settings, store))
    return layers._replace(static={**layers.static, "node.id": broker_id, "broker.id": broker_id})


def _check_configured(settings: BrokerSettings) -> None:
    if settings.broker_id_generation_enable and settings.node_id > settings.reserved_broker_max_id:
        raise ConfigError(
            f"broker.id={settings.node_id} is above reserved.broker.max.id={settings.reserved_broker_max_id}; IDs "
            "above that are generated for brokers without one. Choose a lower ID, raise reserved.broker.max.id in "
            "all brokers, or set broker.id.generation.enable=false in all of them"
        )


def _kept_id(settings: BrokerSettings, disk: Disk) -> str | None:
    found: dict[str, str] = {}
    for directory in settings.data_directories:
        path = f"{os.path.abspath(directory)}/{META_PROPERTIES}"
        with suppress(OSError):
            properties = parse_properties(disk.read_bytes(path).decode(errors="replace"))
            broker_id = properties.get("node.id", properties.get("broker.id"))
            if broker_id is not None:
                found.setdefault(broker_id, path)
    if len(found) > 1:
        listed = ", ".join(f"{path} says {broker_id}" for broker_id, path in found.items())
        raise ConfigError(
            f"the log directories belong to different brokers: {listed}. Set broker.id, and leave only the "
            "directories of that broker in log.dirs"
        )
    return next(iter(found), None)


def _generated_id(settings: BrokerSettings, store: Store) -> int:
    if not settings.broker_id_generation_enable:
        raise ConfigError(
            "this broker has no ID: broker.id is not set, its log directories keep none, and "
            "broker.id.generation.enable=false; set broker.id to an ID that no other broker of the cluster has"
        )
    create_folders(store)
    with suppress(NodeExists):
        store.create(layout.BROKER_ID_SEQUENCE)
    return settings.reserved_broker_max_id + store.set(layout.BROKER_ID_SEQUENCE, b"")
