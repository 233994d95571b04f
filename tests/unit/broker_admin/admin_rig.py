"""A broker without sockets: every part is the real one, the disk is in memory and time stands still."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, TypeVar

from moldau.broker import store_layout as layout
from moldau.broker.answer_cache import AnswerCache
from moldau.broker.api_table import ApiSpec, ApiTable
from moldau.broker.configs import ConfigStore
from moldau.broker.disks import Disks
from moldau.broker.fetch_sessions import FetchSessions
from moldau.broker.flusher import Flusher
from moldau.broker.listeners import AdvertisedListeners
from moldau.broker.log_host import HostedLogs
from moldau.broker.parked_fetches import ParkedFetches
from moldau.broker.partitions import HostedPartitions
from moldau.broker.parts import Broker
from moldau.broker.producer_ids import ProducerIds
from moldau.broker.session import Client, RequestContext
from moldau.broker.topic_admin import TopicAdmin
from moldau.broker.topic_records import load_catalog
from moldau.coordination.sqlite import SqliteStore
from moldau.core.chunks import Chunk
from moldau.core.ids import BrokerId
from moldau.core.settings.static_layer import static_layer
from moldau.protocol import codec
from moldau.storage.log_config import LogConfig
from moldau.storage.log_dir import LogDirectory
from moldau.testing.crash_disk import CrashDisk
from moldau.testing.sim_clock import SimClock

Result = TypeVar("Result")
BROKER_ID = BrokerId(1)
DATA = "/data"


class Connection:
    """The client's end, as far as an admin handler sees it."""

    peer = "192.0.2.7:40000"
    local_host = "192.0.2.1"
    local_port = 19092
    listener = "PLAINTEXT"

    def reply(self, chunks: list[Chunk]) -> None:
        raise AssertionError("handlers answer by returning")

    def abort(self, reason: str) -> None:
        raise AssertionError(reason)


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
    layout.prepare(store)
    catalog = load_catalog(store)
    directory = LogDirectory.open(
        disk,
        DATA,
        cluster_id="cluster",
        node_id=BROKER_ID,
        config_for=lambda topic: LogConfig(),
        now_ms=clock.now_ms(),
    )
    disks = Disks([directory], {"/broken": "it does not open"})
    partitions = HostedPartitions()
    parked = ParkedFetches(clock)
    logs = HostedLogs(BROKER_ID, clock, disks, partitions, parked)
    configs = ConfigStore(store, catalog, static_layer(properties), BROKER_ID, clock.run_in_worker, logs)
    for entry in catalog.topics():
        logs.serve(entry, 0)
    broker = Broker(
        broker_id=BROKER_ID,
        cluster_id="cluster",
        rack="r1",
        clock=clock,
        scheduler=clock,
        table=ApiTable([]),
        answers=AnswerCache(lambda: catalog.epoch),
        listeners=AdvertisedListeners({}),
        catalog=catalog,
        configs=configs,
        topics=TopicAdmin(store, catalog, configs, logs, clock.run_in_worker, lambda: [BROKER_ID]),
        partitions=partitions,
        disks=disks,
        flusher=Flusher(clock, clock, disks),
        parked_fetches=parked,
        fetch_sessions=FetchSessions(slots_max=10, eviction_ms_min=0, new_id=lambda: 1),
        producer_ids=ProducerIds(store, clock, BROKER_ID),
    )
    return Rig(broker, store, disk, clock, Client(Connection(), client_id="tester"))
