"""What the tests ask of a Kafka client, in the tests' own words.

Each foreign client (`confluent_client`, `java_client`, `kcat_client`, ...) does it in its own way, so that one
test states a behaviour and every client shows it. Failures are ClientFailure with Kafka's name of the error.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from compat.server_process import wait_until

Headers = tuple[tuple[str, bytes | None], ...]
HOUR_AGO_MS = (int(time.time()) - 3600) * 1000
"""Times given to records: old enough to differ from now, too young for retention to delete."""
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
FETCH_WAIT = {"fetch.max.wait.ms": "20"}
"""The end of a log shows in an empty answer, for which clients would otherwise wait half a second each."""


class Feature(Enum):
    """What some clients cannot do. A test that needs it (`pytest.mark.needs`) runs with those that can."""

    RECORD_TIMES = "gives records times of their own"
    LOG_APPEND_TIME = "heeds that the broker set the time of a batch"
    REPEATED_HEADERS = "has several headers of one name in a record, in any order"
    ZSTD = "the codec zstd"
    MAX_TIMESTAMP = "asks for the offset of the latest time (KIP-734)"
    TIME_AFTER_END = "tells a time after the last record from the end of the log"
    INVALID_RECORD = "knows the error INVALID_RECORD (KIP-467)"
    ADMIN = "creates, describes, alters and deletes topics"
    DEFAULT_COUNTS = "leaves the numbers of partitions and replicas to the broker (KIP-464)"
    INCREMENTAL_CONFIGS = "appends to and subtracts from lists of settings (KIP-339)"
    UNKNOWN_TOPICS = "asks about a topic without creating it, and passes on that it is not there"


@dataclass(frozen=True)
class Record:
    """A record to send, or one that came back (then with its place in the log)."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    timestamp_ms: int | None = None
    partition: int = 0
    offset: int | None = None

    @property
    def content(self) -> tuple[bytes | None, bytes | None, Headers, int | None]:
        """Without the place, which the broker gives."""
        return self.key, self.value, self.headers, self.timestamp_ms


class OffsetSpec(Enum):
    EARLIEST = "earliest"
    LATEST = "latest"
    MAX_TIMESTAMP = "max_timestamp"


@dataclass(frozen=True)
class ConfigEntry:
    value: str | None
    source: str
    """Kafka's name: DYNAMIC_TOPIC_CONFIG, DEFAULT_CONFIG, STATIC_BROKER_CONFIG..."""
    is_read_only: bool
    is_sensitive: bool
    synonyms: tuple[tuple[str, str | None, str], ...] = field(default=(), compare=False)


class ClientFailure(Exception):
    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        """Kafka's name of the error, such as UNKNOWN_TOPIC_OR_PARTITION."""


def codecs_of(client: "type[Client]") -> list[str]:
    return [codec for codec in CODECS if codec != "zstd" or Feature.ZSTD not in client.lacks]


class Client(Protocol):
    """What every client can do, kcat included."""

    name: str
    lacks: frozenset[Feature]

    def partition_count(self, topic: str) -> int: ...

    def produce(
        self, topic: str, records: Sequence[Record], settings: Mapping[str, str] | None = None
    ) -> None:
        """Returns when all are acknowledged; raises the failure of the first that was not."""

    def consume(
        self,
        topic: str,
        partition: int = 0,
        *,
        start: int = 0,
        count: int | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> list[Record]:
        """Records from offset `start` on: `count` of them, or all up to where the log now ends."""

    def offset_for(self, topic: str, spec: OffsetSpec | int, partition: int = 0) -> int:
        """The offset ListOffsets names; an int asks for the first record at or after that time."""

    def read_as_group(self, topic: str, group: str, count: int) -> list[Record]:
        """Joins the group, goes on at its committed offsets or the earliest, commits `count` records and leaves."""


class AdminClient(Client, Protocol):
    """What clients with an admin interface can do besides."""

    def create_topic(
        self, topic: str, partitions: int = 1, configs: Mapping[str, str] | None = None, replicas: int = 1
    ) -> None: ...

    def list_topics(self) -> set[str]: ...

    def delete_topic(self, topic: str) -> None: ...

    def grow_topic(self, topic: str, partitions: int) -> None: ...

    def delete_records(self, topic: str, before: int, partition: int = 0) -> int:
        """The offset the log now starts at; `before` of -1 means all."""

    def topic_config(self, topic: str) -> dict[str, ConfigEntry]: ...

    def alter_topic_config(
        self,
        topic: str,
        *,
        put: Mapping[str, str] | None = None,
        remove: Sequence[str] = (),
        append: Mapping[str, str] | None = None,
        subtract: Mapping[str, str] | None = None,
    ) -> None: ...


def wait_for_topic(client: Client, topic: str, partitions: int = 1) -> None:
    """Until every partition has a leader that answers.

    Kafka's controller says that a topic is created before its broker serves it; a producer with several batches
    in flight to such a partition may see the second accepted and the first refused, and never recover.
    """

    def is_served() -> bool:
        try:
            # In this order: librdkafka remembers that a topic was not there when it was asked for offsets.
            return client.partition_count(topic) >= partitions and all(
                client.offset_for(topic, OffsetSpec.LATEST, number) >= 0 for number in range(partitions)
            )
        except ClientFailure:
            return False

    wait_until(is_served, f"{topic} is served")
