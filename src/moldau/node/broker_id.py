"""The number of a broker of a cluster: the one it was given, the one its directories keep, or a new one.

New numbers are counted in the coordination store, above those that people may give, as Kafka does with ZooKeeper.
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
    """The same settings with a number in them. ConfigError when there is none to be had."""
    settings = layers.settings()
    if "node.id" in layers.static:
        _check_given(settings)
        return layers
    number = str(_kept_number(settings, disk) or _new_number(settings, store))
    return layers._replace(static={**layers.static, "node.id": number, "broker.id": number})


def _check_given(settings: BrokerSettings) -> None:
    if settings.broker_id_generation_enable and settings.node_id > settings.reserved_broker_max_id:
        raise ConfigError(
            f"broker.id={settings.node_id} is above reserved.broker.max.id={settings.reserved_broker_max_id}, where "
            "the numbers are that brokers without one are given; choose a lower number, raise "
            "reserved.broker.max.id in all brokers, or set broker.id.generation.enable=false in all of them"
        )


def _kept_number(settings: BrokerSettings, disk: Disk) -> str | None:
    found: dict[str, str] = {}
    for directory in settings.data_directories:
        path = f"{os.path.abspath(directory)}/{META_PROPERTIES}"
        with suppress(OSError):
            properties = parse_properties(disk.read_bytes(path).decode(errors="replace"))
            number = properties.get("node.id", properties.get("broker.id"))
            if number is not None:
                found.setdefault(number, path)
    if len(found) > 1:
        told = ", ".join(f"{path} says {number}" for number, path in found.items())
        raise ConfigError(
            f"the log directories belong to different brokers: {told}. Set broker.id, and leave only the "
            "directories of that broker in log.dirs"
        )
    return next(iter(found), None)


def _new_number(settings: BrokerSettings, store: Store) -> int:
    if not settings.broker_id_generation_enable:
        raise ConfigError(
            "this broker has no number: broker.id is not set, its log directories keep none, and "
            "broker.id.generation.enable=false; set broker.id to a number no other broker of the cluster has"
        )
    create_folders(store)
    with suppress(NodeExists):
        store.create(layout.BROKER_ID_SEQUENCE)
    return settings.reserved_broker_max_id + store.set(layout.BROKER_ID_SEQUENCE, b"")
