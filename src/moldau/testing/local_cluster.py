"""Real brokers inside the test's own process: free ports, a temporary directory, gone at the end.

    with LocalCluster() as cluster:
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})

    with LocalCluster(brokers=3) as cluster:
        cluster.create_topic("orders", replication_factor=3)
        cluster.kill(cluster.leader("orders"))

Each broker runs on a thread with its own event loop, so synchronous and asynchronous tests use it alike. Several
brokers coordinate through a tree in memory instead of ZooKeeper.
"""

import asyncio
import logging
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from moldau.broker.broker import Broker
from moldau.broker.topics.catalog import PartitionEntry
from moldau.broker.topics.topic_rules import NewTopic
from moldau.coordination.memory import MemoryTree
from moldau.core.ports import Result
from moldau.testing.faults import Faults
from moldau.testing.local_broker import LocalBroker
from moldau.testing.moved_clock import MovedClock

if TYPE_CHECKING:
    from moldau.testing.local_registry import LocalRegistry

TEST_SETTINGS: Final[Mapping[str, str]] = {
    # The first member of a group need not wait for others to come.
    "group.initial.rebalance.delay.ms": "0",
    # Clients that live by another clock have not been idle for as long as ours may say.
    "connections.max.idle.ms": str(2**63 - 1),
    # What a test's clock has made old is gone a second later.
    "log.retention.check.interval.ms": "1000",
    # Fifty logs each, made when a test first commits an offset, are forty-nine too many.
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}
REPLICATION_MAX: Final = 3
WAIT_S_MAX: Final = 60.0
LOOK_AGAIN_S: Final = 0.005

# What the broker says goes to whoever listens to the log, not to the terminal of somebody's tests.
logging.getLogger("moldau").addHandler(logging.NullHandler())


class LocalCluster:
    """`settings` are Kafka's keys as in server.properties; they go before `TEST_SETTINGS`.

    With a `data_directory` the cluster opens what is there, and leaves it there at the end. The addresses stay the
    same however often brokers are killed and restarted. Brokers of a cluster of several have the numbers 1, 2, 3...
    With `registry` there is a schema registry, too; it comes and goes with the cluster, and lives through `kill` and
    `restart` as a registry elsewhere would.
    """

    def __init__(
        self,
        *,
        brokers: int = 1,
        settings: Mapping[str, str] | None = None,
        data_directory: str | None = None,
        registry: bool = False,
        racks: Mapping[int, str] | None = None,
    ) -> None:
        self.settings: Mapping[str, str] = {**TEST_SETTINGS, **_replicated(brokers), **(settings or {})}
        self._wants_registry = registry
        self._registry: LocalRegistry | None = None
        self.clock = MovedClock()
        self.faults = Faults()
        self._count = brokers
        self._racks = racks or {}
        self._given_directory = data_directory
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._tree: MemoryTree | None = None
        self._brokers: dict[int, LocalBroker] = {}

    @property
    def bootstrap_servers(self) -> str:
        """What a client needs to know."""
        self._any()
        return ",".join(broker.address for broker in self._brokers.values())

    @property
    def registry_url(self) -> str:
        """What a serializer takes for `schema.registry.url` or `url`."""
        if self._registry is None:
            raise RuntimeError("the cluster has no registry: start it as LocalCluster(registry=True)")
        return self._registry.url

    @property
    def data_directory(self) -> str:
        if self._given_directory is not None:
            return self._given_directory
        if self._temporary is None:
            raise RuntimeError("the cluster has no data directory until it is started")
        return self._temporary.name

    def start(self) -> Self:
        """Returns when clients are served. After `kill`, finds what the killed brokers left."""
        if self._brokers and all(each.is_running for each in self._brokers.values()):
            raise RuntimeError(f"the cluster runs already, on {self.bootstrap_servers}")
        if self._given_directory is None and self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="moldau-", ignore_cleanup_errors=True)
        try:
            self._prepare()
            for broker in self._brokers.values():
                if not broker.is_running:
                    broker.start()
            if self._wants_registry and self._registry is None:
                self._registry = self._start_registry()
        except BaseException:
            self.stop()
            raise
        if self._count > 1:
            self.wait_until(self._is_whole, "every broker knows of every other")
        return self

    def stop(self) -> None:
        """Takes everything down. A second call does nothing."""
        registry, self._registry = self._registry, None
        try:
            if registry is not None:
                registry.stop()
            for broker in self._brokers.values():
                # Nobody will open temporary data again: it is not worth the wait for a disk.
                broker.end(clean=self._given_directory is not None)
        finally:
            for broker in self._brokers.values():
                broker.release()
            self._brokers.clear()
            self._tree = None
            if self._temporary is not None:
                self._temporary.cleanup()
                self._temporary = None

    def kill(self, broker_id: int | None = None) -> None:
        """Ends a broker, or all, as `kill -9` would: connections break, nothing is flushed, no clean mark is left.
        The others of a cluster learn of it at once."""
        self._end(broker_id, clean=False)

    def restart(self, broker_id: int | None = None, *, clean: bool = True) -> None:
        """The same broker again, or all, at the same address with the same data; not clean is after a `kill`."""
        self._end(broker_id, clean=clean)
        for each in self._chosen(broker_id):
            each.start()

    def pause(self, broker_id: int) -> None:
        """Stops a broker's thread as SIGSTOP would, for longer than its session lasts."""
        self._brokers[broker_id].pause()

    def resume(self, broker_id: int) -> None:
        self._brokers[broker_id].resume()

    def isolate(self, broker_id: int) -> None:
        """Cuts a broker off from clients, from the other brokers and from the coordination store."""
        self._brokers[broker_id].isolate()

    def rejoin(self, broker_id: int) -> None:
        """Ends the isolation."""
        self._brokers[broker_id].rejoin()

    def create_topic(
        self,
        name: str,
        *,
        partitions: int = -1,
        replication_factor: int = -1,
        configs: Mapping[str, str] | None = None,
    ) -> str:
        """The name. -1 partitions are as many as `num.partitions` says. Returns when all partitions have a leader
        that serves them, and all brokers that are there know of it."""
        thread = self._any().thread
        wanted = NewTopic(name, partitions, replication_factor, configs=[*(configs or {}).items()])
        thread.call(thread.node.broker.topics.create(wanted))
        if self._count > 1:
            self.wait_until(lambda: self._is_led(name), f"all partitions of {name} are led")
            self.wait_until(lambda: self._is_hosted(name), f"all replicas of {name} are there")
        return name

    def partition(self, topic: str, partition: int = 0) -> PartitionEntry:
        """Leader, replicas and who is in sync, as the running broker knows them that heard of it last."""
        running = [each.thread.node.broker for each in self._brokers.values() if each.is_running]
        entries = [found for broker in running if (found := broker.catalog.find(topic)) is not None]
        if not entries:
            raise LookupError(f"there is no topic {topic}")
        return max((entry.partitions[partition] for entry in entries), key=lambda each: each.leader_epoch)

    def leader(self, topic: str, partition: int = 0, *, beside: int | None = None) -> int:
        """The broker that leads a partition; waits for one where there is none at present. `beside` is one that may
        think it does and is not asked: paused, or cut off."""
        self.wait_until(
            lambda: self._leads(topic, partition, beside) is not None, f"{topic}-{partition} is led"
        )
        found = self._leads(topic, partition, beside)
        assert found is not None
        return found

    def broker(self, broker_id: int) -> Broker:
        """The parts of a running broker, to look at."""
        return self._brokers[broker_id].thread.node.broker

    def call(self, broker_id: int, job: Callable[[], Result]) -> Result:
        """The result of a call made on a broker's own thread."""
        return self._brokers[broker_id].thread.call_now(job)

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + WAIT_S_MAX
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"not within {WAIT_S_MAX:.0f} s: {what}")
            time.sleep(LOOK_AGAIN_S)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.start)

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.stop)

    def _prepare(self) -> None:
        if self._brokers:
            return
        directory = self.data_directory
        if self._count == 1:
            self._brokers[1] = LocalBroker(self.settings, directory, self.clock, self.faults)
            return
        self._tree = MemoryTree()
        for number in range(1, self._count + 1):
            settings = {**self.settings, "broker.id": str(number), "node.id": str(number)}
            if number in self._racks:
                settings["broker.rack"] = self._racks[number]
            own = str(Path(directory) / f"broker-{number}")
            self._brokers[number] = LocalBroker(settings, own, self.clock, self.faults, self._tree)

    def _chosen(self, broker_id: int | None) -> list[LocalBroker]:
        return list(self._brokers.values()) if broker_id is None else [self._brokers[broker_id]]

    def _end(self, broker_id: int | None, *, clean: bool) -> None:
        self._check_running()
        for broker in self._chosen(broker_id):
            broker.end(clean=clean)

    def _check_running(self) -> None:
        if not self._brokers:
            raise RuntimeError("the cluster is not running: call start(), or use it in a with statement")

    def _any(self) -> LocalBroker:
        self._check_running()
        found = next((each for each in self._brokers.values() if each.is_running), None)
        if found is None:
            raise RuntimeError("the cluster is not running any more: call start() to find what is left of it")
        return found

    def _is_whole(self) -> bool:
        running = [each.thread.node.broker for each in self._brokers.values() if each.is_running]
        return all(len(broker.members.alive) == len(running) for broker in running) and all(
            broker.members.controller_id >= 0 for broker in running
        )

    def _start_registry(self) -> "LocalRegistry":
        # Not above: most tests need no registry, nor the HTTP server it brings.
        from moldau.testing.local_registry import LocalRegistry

        return LocalRegistry(self.bootstrap_servers)

    def _is_led(self, topic: str) -> bool:
        entry = self._any().thread.node.broker.catalog.find(topic)
        return entry is not None and all(
            self._leads(topic, index) is not None for index in range(len(entry.partitions))
        )

    def _is_hosted(self, topic: str) -> bool:
        """Whether every broker that is heard of knows the topic, and has what it should have of it."""
        for number, each in self._brokers.items():
            if not each.is_running or not each.is_heard:
                continue
            broker = each.thread.node.broker
            entry = broker.catalog.find(topic)
            if entry is None or any(
                number in partition.replicas and broker.partitions.find(topic, index) is None
                for index, partition in enumerate(entry.partitions)
            ):
                return False
        return True

    def _leads(self, topic: str, index: int, beside: int | None = None) -> int | None:
        """The broker that acts as leader, in the epoch the cluster knows."""
        for number, each in self._brokers.items():
            if not each.is_running or number == beside:
                continue
            partition = each.thread.node.broker.partitions.find(topic, index)
            if partition is not None and partition.is_leader:
                known = each.thread.node.broker.catalog.find(topic)
                if known is not None and known.partitions[index].leader_epoch == partition.leader_epoch:
                    return number
        return None


def _replicated(brokers: int) -> dict[str, str]:
    """How often things are kept, as far as there are brokers for it."""
    if brokers == 1:
        return {}
    factor = min(REPLICATION_MAX, brokers)
    return {
        "default.replication.factor": str(factor),
        "offsets.topic.replication.factor": str(factor),
        "transaction.state.log.replication.factor": str(factor),
        "transaction.state.log.min.isr": str(min(2, factor)),
    }
