"""Creates what every cluster's tree has: its folders and the cluster ID. Blocks: runs on a worker thread."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import orjson

from moldau.coordination import tree_layout as layout
from moldau.coordination.store import Create, NodeExists, NoNode, Store

_FOLDERS: Final = (
    "/cluster",
    "/brokers",
    layout.BROKER_IDS,
    layout.TOPICS,
    layout.CONFIGS,
    layout.TOPIC_CONFIGS,
    layout.BROKER_CONFIGS,
    layout.GROUP_CONFIGS,
    layout.CLIENT_METRICS_CONFIGS,
    "/admin",
    layout.DELETIONS,
    layout.SHUTDOWNS,
)


def create_folders(store: Store) -> None:
    """Creates the folders that are missing."""
    while missing := [Create(path) for path in _FOLDERS if not store.exists(path)]:
        with suppress(NodeExists):  # Another broker starts at the same time.
            store.multi(missing)


def claim_cluster_id(store: Store, wanted: str, broker_defaults: Mapping[str, str]) -> str:
    """Returns the cluster ID of the store, or sets it to `wanted` if there is none. A new cluster also gets
    `broker_defaults` as the settings of all brokers."""
    defaults_path = f"{layout.BROKER_CONFIGS}/{layout.ALL_BROKERS}"
    while True:
        try:
            return str(orjson.loads(store.get(layout.CLUSTER_ID).data)["id"])
        except NoNode:
            claim = [Create(layout.CLUSTER_ID, orjson.dumps({"version": "1", "id": wanted}))]
        if broker_defaults and not store.exists(defaults_path):
            claim.append(Create(defaults_path, layout.encode_configs(broker_defaults)))
        with suppress(NodeExists):  # Another broker starts at the same time.
            store.multi(claim)
