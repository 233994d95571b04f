"""A coordination tree with brokers and topics in it, for tests."""

import asyncio
import uuid
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from moldau.cluster.registration import Registration
from moldau.coordination import tree_layout as layout
from moldau.coordination.image import ClusterImage, load_image
from moldau.coordination.memory import MemoryStore, MemoryTree
from moldau.coordination.tree_layout import Endpoint, TopicNode
from moldau.coordination.tree_setup import create_folders
from moldau.core.ids import TopicId
from moldau.testing.simulation.sim_clock import SimClock

NOW_MS = 1_700_000_000_000


class TreeKit:
    """One session per broker, and one for the test."""

    def __init__(self) -> None:
        self.tree = MemoryTree()
        self.store = self.tree.connect()
        create_folders(self.store)
        self.sessions: dict[int, MemoryStore] = {}

    def start(
        self, *brokers: int, racks: Mapping[int, str] | None = None, intact_since: int | None = 0
    ) -> None:
        for broker_id in brokers:
            session = self.sessions[broker_id] = self.tree.connect()
            registration(session, broker_id, rack=(racks or {}).get(broker_id)).register(intact_since)

    def stop(self, *brokers: int) -> None:
        for broker_id in brokers:
            self.sessions.pop(broker_id).close()

    def topic(self, name: str, replicas: Sequence[Sequence[int]], **configs: str) -> None:
        node = TopicNode(TopicId(uuid.uuid4().bytes), tuple(tuple(each) for each in replicas))
        self.store.create(layout.topic_path(name), layout.encode_topic(node))
        if configs:
            texts = {key.replace("_", "."): value for key, value in configs.items()}
            self.store.create(f"{layout.CONFIGS}/topics/{name}", layout.encode_configs(texts))

    def image(self) -> ClusterImage:
        return load_image(self.store)


def registration(
    store: MemoryStore, broker_id: int, *, rack: str | None = None, wait_ms: int = 0, directory_id: str = ""
) -> Registration:
    return Registration(
        store,
        broker_id,
        directory_id or f"directory of {broker_id}",
        (Endpoint("PLAINTEXT", "127.0.0.1", 9000 + broker_id),),
        {"PLAINTEXT": "PLAINTEXT"},
        rack,
        wait_ms,
        lambda: NOW_MS,
    )


class TurnClock(SimClock):
    """A `SimClock` that runs each coroutine in its own turn, so that one may start another."""

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.call_soon(lambda: asyncio.run(work))
