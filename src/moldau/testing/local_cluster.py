"""Real brokers inside the test's own process, on free ports and in a temporary directory that is removed at the end.

    with LocalCluster() as cluster:
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})

    with LocalCluster(brokers=3) as cluster:
        cluster.create_topic("orders", replication_factor=3)
        cluster.kill(cluster.leader("orders"))

Each broker runs on a thread with its own event loop, so it works in synchronous and asynchronous tests. Several
Several
"""

import asyncio
import logging
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from moldau.broker.broker import Broker
from moldau.broker.topics.catalog import PartitionEntry
from moldau.broker.topics.topic_rules import NewTopic
from moldau.coordination.memory import MemoryTree
from moldau.core.ports import Result
from moldau.testing.faults import Faults
from moldau.testing.local_broker import LocalBroker
from moldau.testing.moved_clock import MovedClock

if TYPE_CHECKING:
    from moldau.security.certificates.certificate_folder import CertificateFolder
    from moldau.testing.cluster_security import SecuredCluster, Security
    from moldau.testing.local_registry import LocalRegistry

TEST_SETTINGS: Final[Mapping[str, str]] = {
    # The first member of a group does not wait for others to join.
    "group.initial.rebalance.delay.ms": "0",
    # A test may move the broker's clock; that must not make a client's connection look idle.
    "connections.max.idle.ms": str(2**63 - 1),
    # What expires when a test moves the clock is removed within a second.
    "log.retention.check.interval.ms": "1000",
    # The default is fifty partitions each, created when a test first commits an offset.
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}
REPLICATION_MAX: Final = 3
WAIT_S_MAX: Final = 60.0
LOOK_AGAIN_S: Final = 0.005

# The broker's log goes to handlers a test installs, not to the terminal.
logging.getLogger("moldau").addHandler(logging.NullHandler())


class LocalCluster:
    """A cluster of real brokers. The methods mirror what an operator does to a cluster, so there are many.

    `settings` are Kafka's keys as in server.properties; they take precedence over `TEST_SETTINGS`.

    With a `data_directory` the cluster opens the data in it and keeps it at the end. The addresses stay the same
    however often brokers are killed and restarted. The brokers of a cluster of several have the ids 1, 2, 3... With
    `registry` there is a schema registry, too: it starts and stops with the cluster, and survives `kill` and
    `restart` as a registry elsewhere would. With `security` clients connect with `client_settings`;
    the registry is the first user.
    """

    def __init__(
        self,
        *,
        brokers: int = 1,
        settings: Mapping[str, str] | None = None,
        data_directory: str | None = None,
        registry: bool = False,
        racks: Mapping[int, str] | None = None,
        security: "Security | None" = None,
    ) -> None:
        self._security = security
        self._secured: SecuredCluster | None = None
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
        """The value for a client's `bootstrap.servers`."""
        self._any()
        return ",".join(broker.address for broker in self._brokers.values())

    def client_settings(self, user: str | None = None, *, mechanism: str | None = None) -> dict[str, Any]:
        """All that a client of confluent-kafka needs to connect as one of the users of `security`, the first one unless
        named. Without `security` that is `bootstrap.servers` alone."""
        settings: dict[str, Any] = {"bootstrap.servers": self.bootstrap_servers}
        if self._secured is not None:
            settings |= self._secured.client_settings(user, mechanism)
        return settings

    @property
    def certificates(self) -> "CertificateFolder":
        """The certificates of a cluster with `security`: the brokers', the users', and the authority's."""
        if self._secured is None:
            raise RuntimeError(
                "the cluster has no certificates: start it as LocalCluster(security=Security())"
            )
        return self._secured.certificates

    @property
    def registry_url(self) -> str:
        """The value for a serializer's `schema.registry.url` or `url`."""
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
        """Returns when the cluster serves clients. After `kill` it starts with the data the killed brokers left."""
        if self._brokers and all(each.is_running for each in self._brokers.values()):
            raise RuntimeError(f"the cluster is already running, on {self.bootstrap_servers}")
        if self._given_directory is None and self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="moldau-", ignore_cleanup_errors=True)
        try:
            self._prepare()
            for broker in self._brokers.values():
                if not broker.is_running:
                    broker.start()
            self._add_users()
            if self._wants_registry and self._registry is None:
                self._registry = self._start_registry()
        except BaseException:
            self.stop()
            raise
        if self._count > 1:
            self.wait_until(self._is_whole, "every broker knows of every other")
        return self

    def stop(self) -> None:
        """Stops everything. A second call does nothing."""
        registry, self._registry = self._registry, None
        try:
            if registry is not None:
                registry.stop()
            for broker in self._brokers.values():
                # Temporary data is not opened again, so it is not worth waiting for the disk.
                broker.end(clean=self._given_directory is not None)
        finally:
            for broker in self._brokers.values():
                broker.release()
            self._brokers.clear()
            self._tree = None
            if self._temporary is not None:
                self._temporary.cleanup()
                self._temporary = None
            if self._secured is not None:
                self._secured.close()
                self._secured = None

    def kill(self, broker_id: int | None = None) -> None:
        """Ends one broker, or all, as `kill -9` would: connections break, nothing is flushed, and the next start
        recovers. The other brokers of the cluster learn of it at once."""
        self._end(broker_id, clean=False)

    def restart(self, broker_id: int | None = None, *, clean: bool = True) -> None:
        """Restarts one broker, or all, at the same address with the same data. With `clean=False` it ends as by
        `kill`."""
        self._end(broker_id, clean=clean)
        for each in self._chosen(broker_id):
            each.start()

    def pause(self, broker_id: int) -> None:
        """Stops a broker's thread until `resume`, as SIGSTOP would, and ends its session."""
        self._brokers[broker_id].pause()

    def resume(self, broker_id: int) -> None:
        self._brokers[broker_id].resume()

    def isolate(self, broker_id: int) -> None:
        """Isolates a broker from clients, from the other brokers and from the coordination store."""
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
        """Creates a topic and returns its name. -1 partitions means `num.partitions`. Returns when every partition
        has a leader that serves it, and all running brokers know it."""
        thread = self._any().thread
        wanted = NewTopic(name, partitions, replication_factor, configs=[*(configs or {}).items()])
        thread.call(thread.node.broker.topics.create(wanted))
        if self._count > 1:
            self.wait_until(lambda: self._is_led(name), f"all partitions of {name} are led")
            self.wait_until(lambda: self._is_hosted(name), f"all replicas of {name} are there")
        return name

    def partition(self, topic: str, partition: int = 0) -> PartitionEntry:
        """Leader, replicas and in-sync replicas, as known by the running broker with the latest state."""
        running = [each.thread.node.broker for each in self._brokers.values() if each.is_running]
        entries = [found for broker in running if (found := broker.catalog.find(topic)) is not None]
        if not entries:
            raise LookupError(f"there is no topic {topic}")
        return max((entry.partitions[partition] for entry in entries), key=lambda each: each.leader_epoch)

    def leader(self, topic: str, partition: int = 0, *, beside: int | None = None) -> int:
        """Returns the leader of a partition; waits for one if there is none. `beside` is a broker that may believe it
        leads and is not asked, because it is paused or isolated."""
        self.wait_until(
            lambda: self._leads(topic, partition, beside) is not None, f"{topic}-{partition} is led"
        )
        found = self._leads(topic, partition, beside)
        assert found is not None
        return found

    def broker(self, broker_id: int) -> Broker:
        """The parts of a running broker, for inspection."""
        return self._brokers[broker_id].thread.node.broker

    def call(self, broker_id: int, job: Callable[[], Result]) -> Result:
        """Runs a function on a broker's own thread and returns its result."""
        return self._brokers[broker_id].thread.call_now(job)

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + WAIT_S_MAX
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"timed out after {WAIT_S_MAX:.0f} s waiting until {what}")
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
        listener, common = "PLAINTEXT", self.settings
        if self._security is not None:
            from moldau.testing.cluster_security import SecuredCluster  # Most tests need no certificates.

            self._secured = SecuredCluster(self._security)
            common = {**self._secured.broker_settings(), **common}
            listener = self._security.protocol
        directory = self.data_directory
        if self._count == 1:
            self._brokers[1] = LocalBroker(common, directory, self.clock, self.faults, listener=listener)
            return
        self._tree = MemoryTree()
        for number in range(1, self._count + 1):
            settings = {**common, "broker.id": str(number), "node.id": str(number)}
            if number in self._racks:
                settings["broker.rack"] = self._racks[number]
            own = str(Path(directory) / f"broker-{number}")
            self._brokers[number] = LocalBroker(settings, own, self.clock, self.faults, self._tree, listener)

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
            raise RuntimeError("the cluster has stopped: call start() to open its data again")
        return found

    def _is_whole(self) -> bool:
        running = [each.thread.node.broker for each in self._brokers.values() if each.is_running]
        return all(len(broker.members.alive) == len(running) for broker in running) and all(
            broker.members.controller_id >= 0 for broker in running
        )

    def _add_users(self) -> None:
        """The users' SCRAM credentials, which are kept in the cluster."""
        if self._secured is not None:
            thread = self._any().thread
            thread.call(self._secured.add_users(thread.node.broker))

    def _start_registry(self) -> "LocalRegistry":
        # Imported here: most tests need no registry, nor the HTTP server it brings.
        from moldau.testing.local_registry import LocalRegistry

        client = self.client_settings()
        servers = client.pop("bootstrap.servers")
        return LocalRegistry(servers, {f"kafkastore.{name}": text for name, text in client.items()})

    def _is_led(self, topic: str) -> bool:
        entry = self._any().thread.node.broker.catalog.find(topic)
        return entry is not None and all(
            self._leads(topic, index) is not None for index in range(len(entry.partitions))
        )

    def _is_hosted(self, topic: str) -> bool:
        """Whether every reachable broker knows the topic and hosts the replicas it should."""
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
        """The broker that acts as leader in the epoch the cluster knows."""
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
    """Replication settings, as high as the number of brokers allows."""
    if brokers == 1:
        return {}
    factor = min(REPLICATION_MAX, brokers)
    return {
        "default.replication.factor": str(factor),
        "offsets.topic.replication.factor": str(factor),
        "transaction.state.log.replication.factor": str(factor),
        "transaction.state.log.min.isr": str(min(2, factor)),
    }
