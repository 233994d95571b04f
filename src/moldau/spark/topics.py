"""Which topics are read, and from which offset to which: resolves the user's options by asking the brokers."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from moldau.core.errors import ConfigError
from moldau.pipeline.spark.clients import shared
from moldau.pipeline.spark.topic_offsets import TopicFacts, topic_facts

if TYPE_CHECKING:
    from moldau.spark.options import Position, SourceOptions

ANSWER_S_MAX: Final = 60.0
EARLIEST: Final = -2
LATEST: Final = -1
UNASSIGNED: Final = -1
"""The broker's answer for a time after the last record."""


PAUSE_S: Final = 0.3
PASSING: Final = (
    KafkaError._NOENT,  # no leader
    KafkaError._TIMED_OUT,
    KafkaError._TRANSPORT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
)

Client = TypeVar("Client")
Answer = TypeVar("Answer")


class Place(NamedTuple):
    topic: str
    partition: int


Offsets = dict[Place, int]


@dataclass(frozen=True)
class Subscription:
    """Exactly one of the three."""

    topics: tuple[str, ...] = ()
    pattern: str = ""
    assigned: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def named_topics(self) -> tuple[str, ...]:
        return self.topics or tuple(self.assigned)


class TopicView:
    """Asks the brokers about the topics of a source. Used in the driver only."""

    def __init__(self, source: "SourceOptions") -> None:
        self._source = source
        self._admin = admin_client(source.bootstrap_servers, source.kafka)
        uncommitted = source.kafka.get("isolation.level") == "read_uncommitted"
        self._isolation = IsolationLevel.READ_UNCOMMITTED if uncommitted else IsolationLevel.READ_COMMITTED

    def facts(self) -> dict[str, TopicFacts]:
        """The facts of existing topics. Those of a pattern are looked up each time."""
        chosen = self._source.subscription
        names = list(chosen.named_topics)
        if chosen.pattern:
            fits = re.compile(chosen.pattern).fullmatch
            listed = patiently(lambda: self._admin.list_topics(timeout=ANSWER_S_MAX)).topics
            names = [name for name in listed if fits(name) and not name.startswith("__")]
        return patiently(lambda: topic_facts(self._admin, names))

    def require_topics(self) -> dict[str, TopicFacts]:
        found = self.facts()
        for name in self._source.subscription.named_topics:
            if name not in found:
                raise ConfigError(
                    f"topic {name} does not exist at {self._source.bootstrap_servers}: create it first"
                )
        return found

    def places(self, facts: Mapping[str, TopicFacts]) -> list[Place]:
        chosen = self._source.subscription.assigned
        found = []
        for topic, one in sorted(facts.items()):
            numbers = chosen.get(topic, ()) if chosen else range(one.partitions)
            for number in numbers:
                if number >= one.partitions:
                    raise ConfigError(
                        f"assign names partition {number} of {topic}, which has {one.partitions}"
                    )
                found.append(Place(topic, number))
        return found

    def earliest(self, places: list[Place]) -> Offsets:
        return self._ask(dict.fromkeys(places, OffsetSpec.earliest()))

    def latest(self, places: list[Place]) -> Offsets:
        """The ends of committed records, unless the user reads uncommitted ones, too."""
        return self._ask(dict.fromkeys(places, OffsetSpec.latest()))

    def resolve(self, position: "Position", places: list[Place], *, unnamed: int) -> Offsets:
        """`unnamed`: the position of partitions that the user's position does not name."""
        if position.everywhere == "earliest":
            return self.earliest(places)
        if position.everywhere == "latest":
            return self.latest(places)
        if position.timestamp_ms is not None:
            return self._by_time(dict.fromkeys(places, position.timestamp_ms))
        named = {
            Place(topic, partition): wanted
            for topic, partitions in position.of_partitions.items()
            for partition, wanted in partitions.items()
        }
        strangers = sorted(named.keys() - set(places))
        if strangers:
            topic, partition = strangers[0]
            raise ConfigError(
                f"offsets are given for {topic}-{partition}, which is not among the partitions read"
            )
        if position.are_timestamps:
            rest = [place for place in places if place not in named]
            return {**self._meaning(dict.fromkeys(rest, unnamed)), **self._by_time(named)}
        return self._meaning({place: named.get(place, unnamed) for place in places})

    def _meaning(self, wanted: Offsets) -> Offsets:
        first = self.earliest([place for place, offset in wanted.items() if offset == EARLIEST])
        last = self.latest([place for place, offset in wanted.items() if offset == LATEST])
        return {**wanted, **first, **last}

    def _by_time(self, times_ms: Mapping[Place, int]) -> Offsets:
        found = self._ask({place: OffsetSpec.for_timestamp(time) for place, time in times_ms.items()})
        after_all = [place for place, offset in found.items() if offset == UNASSIGNED]
        if after_all and self._source.timestamp_strategy == "error" and self._source.ending is None:
            topic, partition = after_all[0]
            raise ConfigError(
                f"{topic}-{partition} has no record from {times_ms[after_all[0]]} ms on: start earlier, or at "
                "the end with .option('startingOffsetsByTimestampStrategy', 'latest')"
            )
        return {**found, **self.latest(after_all)}

    def _ask(self, specs: "Mapping[Place, OffsetSpec]") -> Offsets:
        if not specs:
            return {}
        asked = {TopicPartition(*place): spec for place, spec in specs.items()}

        def answers() -> Offsets:
            futures = self._admin.list_offsets(
                asked, isolation_level=self._isolation, request_timeout=ANSWER_S_MAX
            )
            return {
                Place(one.topic, one.partition): int(future.result(ANSWER_S_MAX).offset)
                for one, future in futures.items()
            }

        return patiently(answers)


def patiently(ask: Callable[[], Answer]) -> Answer:
    """Retries for a while if brokers are unavailable or a partition has no leader at the moment."""
    deadline = time.monotonic() + ANSWER_S_MAX
    while True:
        try:
            return ask()
        except KafkaException as failure:
            error = failure.args[0]
            if time.monotonic() > deadline or not (error.retriable() or error.code() in PASSING):
                raise
        time.sleep(PAUSE_S)


def admin_client(bootstrap_servers: str, kafka: Mapping[str, str]) -> AdminClient:
    return made(AdminClient, {**shared(bootstrap_servers, {}), **kafka})


def made(kind: Callable[[dict[str, Any]], Client], settings: dict[str, Any]) -> Client:
    """Creates a client. The Java clients and librdkafka share most names of settings, but not all."""
    try:
        return kind(settings)
    except KafkaException as failure:
        error = failure.args[0]
        if error.code() != KafkaError._INVALID_ARG:
            raise
        raise ConfigError(
            f"a kafka. option was refused: {error.str()}. They are librdkafka's, which differ from Java's in places: "
            "sasl.username and sasl.password for sasl.jaas.config, ssl.ca.location for ssl.truststore.location"
        ) from None
