"""A broker without sockets: every part is the real one, the disk is in memory and time stands still."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, TypeVar

from moldau.broker.broker import Broker
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import Client, RequestContext
from moldau.broker.topics.topic_records import load_catalog
from moldau.coordination.sqlite import SqliteStore
from moldau.coordination.tree_setup import create_folders
from moldau.core.chunks import Chunk
from moldau.core.ids import BrokerId
from moldau.core.settings.listeners import SecurityProtocol
from moldau.core.settings.static_layer import static_layer
from moldau.node.assembly import assemble
from moldau.node.opening import OpenedData
from moldau.protocol import codec
from moldau.storage.directory.log_dir import LogDirectory
from moldau.storage.log_config import LogConfig
from moldau.testing.simulation.crash_disk import CrashDisk
from moldau.testing.simulation.sim_clock import SimClock

Result = TypeVar("Result")
BROKER_ID = BrokerId(1)
DATA = "/data"


class Connection:
    """The client's end, as far as an admin handler sees it."""

    peer = "192.0.2.7:40000"
    local_host = "192.0.2.1"
    local_port = 19092
    listener = "PLAINTEXT"
    protocol = SecurityProtocol.PLAINTEXT
    tls_principal: str | None = None

    def reply(self, chunks: list[Chunk]) -> None:
        raise AssertionError("handlers answer by returning")

    def abort(self, reason: str) -> None:
        raise AssertionError(reason)

    def portion_bytes(self) -> int:
        return 1 << 20

    def rest(self, seconds: float) -> None:
        raise AssertionError("nobody has a quota")

    def limit_frames(self, bytes_max: int, setting: str) -> None:
        raise AssertionError("nobody logs in")


@dataclass
class Rig:
    broker: Broker
    store: SqliteStore
    disk: CrashDisk
    clock: SimClock
    client: Client

    def ask(self, api: ApiSpec, request: Any, version: int | None = None) -> Any:
        """The answer as a client would decode it, so that what is not on the wire is not in it."""
        version = api.max_version if version is None else version
        sent, _ = codec.decode(api.request, version, codec.encode(request, version), 0)
        assert api.handle is not None
        answer = api.handle(RequestContext(self.broker, self.client, version), sent)
        if isinstance(answer, Awaitable):
            answer = asyncio.run(_await(answer))
        return codec.decode(api.request.RESPONSE, version, codec.encode(answer, version), 0)[0]


async def _await(answer: Awaitable[Result]) -> Result:
    return await answer


def make_rig(properties: str = "", *, store: SqliteStore | None = None, disk: CrashDisk | None = None) -> Rig:
    clock = SimClock()
    disk = disk or CrashDisk()
    store = store or SqliteStore(":memory:")
    create_folders(store)
    catalog = load_catalog(store)
    directory = LogDirectory.open(
        disk,
        DATA,
        cluster_id="cluster",
        node_id=BROKER_ID,
        config_for=lambda topic: LogConfig(),
        now_ms=clock.now_ms(),
    )
    data = OpenedData("cluster", store, catalog, [directory], {"/broken": "it does not open"})
    broker = assemble(static_layer(properties, overrides=["broker.rack=r1"]), data, clock, clock, clock)
    return Rig(broker, store, disk, clock, Client(Connection(), client_id="tester"))
