"""A client in another language, in a process of its own: one JSON request a line, one JSON answer a line.

Owns the pipe and the words. What runs at its other end is the business of `java_client` and `node_clients`.
"""

import base64
import json
import select
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from compat.client import FETCH_WAIT, ClientFailure, ConfigEntry, Feature, OffsetSpec, Record

CONSUME_TIMEOUT_MS = 60_000
ANSWER_TIMEOUT_S = 180
PATIENCE = {"delivery.timeout.ms": "60000", "request.timeout.ms": "40000", "max.block.ms": "60000"}
"""Much less than the defaults, so that what does not work shows soon."""


class PipedDriver:
    """The child process and its pipe. One request at a time; `send` and `receive` may be apart."""

    def __init__(self, command: Sequence[str], log_path: Path) -> None:
        self._log_path = log_path
        self._answer_due = False
        with log_path.open("wb") as log:
            self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)

    def call(self, operation: str, **arguments: Any) -> Any:
        self.send(operation, **arguments)
        return self.receive()

    def send(self, operation: str, **arguments: Any) -> None:
        if self._answer_due:
            # Left behind by a test that failed between sending and receiving.
            self._pipe(self._child.stdout).readline()
        self._answer_due = True
        stdin = self._pipe(self._child.stdin)
        stdin.write(json.dumps({"operation": operation, **arguments}).encode() + b"\n")
        stdin.flush()

    def receive(self) -> Any:
        answers = self._pipe(self._child.stdout)
        ready, _, _ = select.select([answers], [], [], ANSWER_TIMEOUT_S)
        assert ready, f"no answer within {ANSWER_TIMEOUT_S} s:\n{self.log_text()[-4000:]}"
        line = answers.readline()
        self._answer_due = False
        if not line:
            raise AssertionError(f"the driver ended:\n{self.log_text()[-4000:]}")
        answer = json.loads(line)
        if "error" in answer:
            raise ClientFailure(answer["error"], answer["message"])
        return answer["result"]

    def log_text(self) -> str:
        return self._log_path.read_text(errors="replace")

    def close(self) -> None:
        self._pipe(self._child.stdin).close()
        self._child.wait(30)
        self._pipe(self._child.stdout).close()

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe


class PipedClient:
    """Asks the driver in the words of `java/src/compat/Driver.java`, which every driver understands."""

    name: str
    lacks: frozenset[Feature] = frozenset()

    def __init__(self, driver: PipedDriver, bootstrap: str) -> None:
        self.driver = driver
        self.bootstrap = bootstrap

    def call(self, operation: str, **arguments: Any) -> Any:
        return self.driver.call(operation, bootstrap=self.bootstrap, **arguments)

    def partition_count(self, topic: str) -> int:
        return len(self.call("describe_topic", topic=topic)["partitions"])

    def produce(
        self, topic: str, records: Sequence[Record], settings: Mapping[str, str] | None = None
    ) -> None:
        described = [encoded(record) for record in records]
        self.call("produce", topic=topic, records=described, settings=PATIENCE | dict(settings or {}))

    def consume(
        self,
        topic: str,
        partition: int = 0,
        *,
        start: int = 0,
        count: int | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> list[Record]:
        self.send_consume(topic, {partition: start}, count=count, settings=settings)
        return self.receive_records()

    def send_consume(
        self,
        topic: str,
        starts: Mapping[int, int],
        *,
        count: int | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Begins to consume several partitions; the caller goes on and takes the outcome later."""
        partitions = [{"topic": topic, "partition": number, "start": at} for number, at in starts.items()]
        self.driver.send(
            "consume",
            bootstrap=self.bootstrap,
            partitions=partitions,
            count=count,
            settings=FETCH_WAIT | dict(settings or {}),
            timeout_ms=CONSUME_TIMEOUT_MS,
        )

    def receive_records(self) -> list[Record]:
        return [decoded(record) for record in self.driver.receive()]

    def offset_for(self, topic: str, spec: OffsetSpec | int, partition: int = 0) -> int:
        return self.list_offset(topic, spec, partition)["offset"]

    def list_offset(self, topic: str, spec: OffsetSpec | int, partition: int = 0) -> dict[str, int]:
        wanted = spec.value if isinstance(spec, OffsetSpec) else spec
        found: dict[str, int] = self.call("list_offset", topic=topic, partition=partition, spec=wanted)
        return found

    def read_as_group(self, topic: str, group: str, count: int) -> list[Record]:
        settings = {**FETCH_WAIT, "group.id": group, "auto.offset.reset": "earliest"}
        read = self.call(
            "read_as_group", topic=topic, count=count, settings=settings, timeout_ms=CONSUME_TIMEOUT_MS
        )
        return [decoded(record) for record in read]

    def create_topic(
        self, topic: str, partitions: int = 1, configs: Mapping[str, str] | None = None, replicas: int = 1
    ) -> None:
        described = dict(configs or {})
        self.call("create_topic", topic=topic, partitions=partitions, replicas=replicas, configs=described)

    def list_topics(self) -> set[str]:
        return set(self.call("list_topics"))

    def delete_topic(self, topic: str) -> None:
        self.call("delete_topic", topic=topic)

    def grow_topic(self, topic: str, partitions: int) -> None:
        self.call("grow_topic", topic=topic, partitions=partitions)

    def delete_records(self, topic: str, before: int, partition: int = 0) -> int:
        start: int = self.call("delete_records", topic=topic, partition=partition, before=before)
        return start

    def topic_config(self, topic: str) -> dict[str, ConfigEntry]:
        return {
            name: ConfigEntry(
                value=entry["value"],
                source=entry["source"],
                is_read_only=entry["read_only"],
                is_sensitive=entry["sensitive"],
                synonyms=tuple((synonym[0], synonym[1], synonym[2]) for synonym in entry["synonyms"]),
            )
            for name, entry in self.call("describe_configs", type="TOPIC", name=topic).items()
        }

    def alter_topic_config(
        self,
        topic: str,
        *,
        put: Mapping[str, str] | None = None,
        remove: Sequence[str] = (),
        append: Mapping[str, str] | None = None,
        subtract: Mapping[str, str] | None = None,
    ) -> None:
        changes: list[tuple[str, str, str | None]] = [("DELETE", key, None) for key in remove]
        for kind, values in (("SET", put), ("APPEND", append), ("SUBTRACT", subtract)):
            changes += [(kind, key, value) for key, value in (values or {}).items()]
        self.call("alter_configs", type="TOPIC", name=topic, changes=changes)


def encoded(record: Record) -> dict[str, Any]:
    return {
        "key": _base64(record.key),
        "value": _base64(record.value),
        "headers": [[name, _base64(value)] for name, value in record.headers],
        "timestamp_ms": record.timestamp_ms,
        "partition": record.partition,
    }


def decoded(described: dict[str, Any]) -> Record:
    return Record(
        value=_raw(described["value"]),
        key=_raw(described["key"]),
        headers=tuple((name, _raw(value)) for name, value in described["headers"]),
        timestamp_ms=described["timestamp_ms"],
        partition=described["partition"],
        offset=described["offset"],
    )


def _base64(raw: bytes | None) -> str | None:
    return None if raw is None else base64.b64encode(raw).decode()


def _raw(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
