"""Copiers at work while they, and the broker, are killed and frozen at random.

Owns the processes and the two topics. A copier reads from the one, writes to the other and commits both in one
transaction; when it is gone another takes over its transactional id.
"""

import itertools
import random
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from compat.client import wait_for_topic
from compat.confluent_client import ConfluentClient
from compat.groups.client_process import ClientProcess, program_command
from compat.groups.confluent_admin import ConfluentAdmin
from compat.groups.member import CLASSIC, for_protocol
from compat.groups.waiting import wait_until
from compat.server_process import ServerProcess

SOURCE, TARGET, GROUP = "source", "target", "copiers"
PARTITIONS = 4
COPIERS = 2
FED_RECORDS = 200
ABORT_SHARE = 0.2
FROZEN_MAX = 1
TIMEOUT_S = 120
RECONNECT = {"reconnect.backoff.ms": "50", "reconnect.backoff.max.ms": "200", "retry.backoff.ms": "50"}
CONSUMER = {
    "group.id": GROUP,
    "isolation.level": "read_committed",
    "auto.offset.reset": "earliest",
    "enable.auto.commit": "false",
    "session.timeout.ms": "2000",
    "heartbeat.interval.ms": "200",
    **RECONNECT,
}
PRODUCER = {"transaction.timeout.ms": "20000", **RECONNECT}
ONLY_JAVA = {"consumer": {"max.poll.records": "10"}, "producer": {"linger.ms": "0"}}
"""librdkafka's copier says itself how many it takes at a time."""


class Copying:
    def __init__(
        self, library: str, server: ServerProcess, folder: Path, seed: str, protocol: str = CLASSIC
    ) -> None:
        self.server = server
        self.dice = random.Random(seed)
        self.fed = 0
        self.kills: list[str] = []
        self._library = library
        self.protocol = protocol
        self._folder = folder
        self._serial = itertools.count()
        client = ConfluentClient(server.bootstrap)
        for topic in (SOURCE, TARGET):
            client.create_topic(topic, PARTITIONS)
            wait_for_topic(client, topic, PARTITIONS)
        settings = {"bootstrap.servers": server.bootstrap, "log_level": 0, **RECONNECT}
        self._feeder = Producer({**settings, "enable.idempotence": True})
        self._watcher = Consumer({**settings, "group.id": "watcher"})
        self._spares = [self._start(slot) for slot in range(COPIERS)]
        self._copiers = [self._start(slot) for slot in range(COPIERS)]
        self._frozen: list[ClientProcess] = []
        self._thawed: list[ClientProcess] = []
        for copier in self._copiers:
            copier.begin()

    def feed(self) -> None:
        """More to copy; returns when it is all in the log."""
        for number in range(self.fed, self.fed + FED_RECORDS):
            self._feeder.produce(SOURCE, value=str(number), partition=number % PARTITIONS)
        self.fed += FED_RECORDS
        assert self._feeder.flush(TIMEOUT_S) == 0

    def disturb(self) -> None:
        """Kills or freezes somebody once the copiers have written a little more."""
        self._wait_for_progress(self.dice.randint(1, FED_RECORDS // 4))
        victim = self.dice.choice(["broker", "broker", "copier", "copier", "freeze"])
        self.kills.append(victim)
        if victim == "broker":
            self.server.kill9()
            self.server.start()
        else:
            self._replace(self.dice.randrange(COPIERS), freeze=victim == "freeze")
        self._tend()

    def finish(self) -> None:
        """Until everything fed is committed as read."""
        for zombie in self._frozen:
            self._thaw(zombie)
        self._frozen.clear()
        admin = ConfluentAdmin(self.server.bootstrap)
        wanted = {(SOURCE, number): self.fed // PARTITIONS for number in range(PARTITIONS)}

        def is_done() -> bool:
            self._tend()
            return {place: offset for place, (offset, _) in admin.group_offsets(GROUP).items()} == wanted

        try:
            wait_until(is_done, "everything is copied", TIMEOUT_S)
        except TimeoutError:
            raise AssertionError(f"not everything was copied:\n{self.told()}") from None

    def close(self) -> None:
        for process in (*self._copiers, *self._spares, *self._frozen, *self._thawed):
            process.kill9()
        self._watcher.close()

    def read(self, isolation: str) -> dict[int, list[bytes]]:
        """What lies in each partition of the target, in order."""
        client = ConfluentClient(self.server.bootstrap)
        settings = {"isolation.level": isolation}
        return {
            number: [record.value or b"" for record in client.consume(TARGET, number, settings=settings)]
            for number in range(PARTITIONS)
        }

    def told(self) -> str:
        """The last words of every copier."""
        logs = sorted(self._folder.glob("copier-*.log"))
        return "\n".join(f"{log.name}:\n{log.read_text(errors='replace')[-1500:]}" for log in logs[-6:])

    def _start(self, slot: int) -> ClientProcess:
        serial = next(self._serial)
        more: dict[str, Any] = ONLY_JAVA if self._library == "java" else {"consumer": {}, "producer": {}}
        address = {"bootstrap.servers": self.server.bootstrap}
        job = {
            "source": SOURCE,
            "target": TARGET,
            "seed": serial,
            "abort_share": ABORT_SHARE,
            "consumer": {**address, **for_protocol(self.protocol, {**CONSUMER, **more["consumer"]})},
            "producer": {**address, **PRODUCER, **more["producer"], "transactional.id": f"copier-{slot}"},
        }
        log_path = self._folder / f"copier-{serial:03}.log"
        return ClientProcess(program_command(self._library, "copier"), job, log_path)

    def _replace(self, slot: int, *, freeze: bool = False) -> None:
        """By the spare one of the same transactional id. A frozen one wakes up later: it is a zombie then."""
        gone, self._copiers[slot] = self._copiers[slot], self._spares[slot]
        if freeze:
            gone.freeze()
            self._frozen.append(gone)
        else:
            gone.kill9()
        self._copiers[slot].begin()
        self._spares[slot] = self._start(slot)
        if len(self._frozen) > FROZEN_MAX:
            self._thaw(self._frozen.pop(0))

    def _thaw(self, zombie: ClientProcess) -> None:
        zombie.thaw()
        self._thawed.append(zombie)

    def _tend(self) -> None:
        """A copier that gave up is replaced as one that was killed."""
        for slot, copier in enumerate(self._copiers):
            if copier.has_ended:
                self._replace(slot)

    def _wait_for_progress(self, records: int) -> None:
        start = self._written()

        def has_come_on() -> bool:
            self._tend()
            return self._written() >= start + records

        try:
            wait_until(has_come_on, "the copiers come on", TIMEOUT_S)
        except TimeoutError:
            raise AssertionError(f"nothing is copied any more:\n{self.told()}") from None

    def _written(self) -> int:
        try:
            return sum(
                self._watcher.get_watermark_offsets(TopicPartition(TARGET, number), timeout=5)[1]
                for number in range(PARTITIONS)
            )
        except KafkaException:
            return 0
