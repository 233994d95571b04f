"""The options of the data source, with the names of Spark's Kafka connector where it has the same option."""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import orjson

from moldau.core.errors import ConfigError
from moldau.spark.topics import Subscription

Settings = Mapping[str, str]

SHARED: Final = ("bootstrap.servers", "includeHeaders", "mode", "path", "checkpointLocation")
SOURCE: Final = (
    "subscribe",
    "subscribePattern",
    "assign",
    "startingOffsets",
    "endingOffsets",
    "startingTimestamp",
    "endingTimestamp",
    "startingOffsetsByTimestamp",
    "endingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
    "maxOffsetsPerTrigger",
    "minPartitions",
    "maxRecordsPerPartition",
    "failOnDataLoss",
)
WITHOUT_EFFECT: Final = (
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "groupIdPrefix",
    "kafkaConsumer.pollTimeoutMs",
    "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs",
)
"""Options that tune how Spark's connector waits. Ignored here."""
SINK: Final = ("topic", "staging", "queryName")
OF_COLUMNS: Final = tuple(
    f"{side}.{what}" for side in ("key", "value") for what in ("format", "schema", "message")
)
PREFIXES: Final = ("kafka.", "schema.registry.")

ONE_TOPIC: Final = re.compile(r"[^,\s]+")


@dataclass(frozen=True)
class ColumnOptions:
    """`format` empty: bytes as they are. `message` is the generated class of a Protobuf format: `module:Class`."""

    format: str = ""
    schema: str = ""
    message: str = ""


@dataclass(frozen=True)
class SharedOptions:
    bootstrap_servers: str
    kafka: Settings
    """Settings of librdkafka, without the prefix."""
    registry: Settings
    """Settings of the schema registry client, with `url`."""
    key: ColumnOptions
    value: ColumnOptions


@dataclass(frozen=True)
class SourceOptions(SharedOptions):
    """Has the positions as the user wrote them. The brokers are asked for the offsets when a query starts."""

    subscription: Subscription
    starting: "Position | None" = None
    ending: "Position | None" = None
    timestamp_strategy: Literal["error", "latest"] = "error"
    offsets_per_trigger_max: int | None = None
    partitions_min: int | None = None
    records_per_partition_max: int | None = None
    fail_on_data_loss: bool = True
    include_headers: bool = False
    permissive: bool = False

    @classmethod
    def parse(cls, given: Settings) -> "SourceOptions":
        options = _Options(given, SHARED + SOURCE + WITHOUT_EFFECT + OF_COLUMNS)
        strategy = options.one_of("startingOffsetsByTimestampStrategy", ("error", "latest"), "error")
        return cls(
            **options.shared(),
            subscription=_subscription(options),
            starting=_position(options, "starting"),
            ending=_position(options, "ending"),
            timestamp_strategy="latest" if strategy == "latest" else "error",
            offsets_per_trigger_max=options.number("maxOffsetsPerTrigger"),
            partitions_min=options.number("minPartitions"),
            records_per_partition_max=options.number("maxRecordsPerPartition"),
            fail_on_data_loss=options.flag("failOnDataLoss", default=True),
            include_headers=options.flag("includeHeaders", default=False),
            permissive=options.one_of("mode", ("failfast", "permissive"), "failfast") == "permissive",
        )


@dataclass(frozen=True)
class SinkOptions(SharedOptions):
    topic: str | None = None
    staging: str | None = None
    """The folder for rows between the tasks and the driver."""
    checkpoint: str | None = None

    @classmethod
    def parse(cls, given: Settings) -> "SinkOptions":
        options = _Options(given, SHARED + SINK + OF_COLUMNS)
        return cls(
            **options.shared(),
            topic=options.get("topic") or options.get("path"),
            staging=options.get("staging"),
            checkpoint=options.get("checkpointLocation"),
        )


@dataclass(frozen=True)
class Position:
    """Where to start or to end. `of_partitions`: topic, partition, and an offset (-2 earliest, -1 latest) or a
    time in milliseconds."""

    everywhere: Literal["earliest", "latest"] | None = None
    timestamp_ms: int | None = None
    of_partitions: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    are_timestamps: bool = False


class _Options:
    """Spark passes option names in lower case. Messages use the documented spelling."""

    def __init__(self, given: Settings, known: Iterable[str]) -> None:
        self._given = {name.lower(): value for name, value in given.items()}
        names = {name.lower(): name for name in known}
        for name in self._given:
            if name not in names and not name.startswith(PREFIXES):
                near = difflib.get_close_matches(name, names, n=1)
                meant = f". Did you mean {names[near[0]]}?" if near else ""
                raise ConfigError(f"the format moldau has no option {name!r}{meant}")

    def get(self, name: str) -> str | None:
        return self._given.get(name.lower())

    def flag(self, name: str, *, default: bool) -> bool:
        return self.one_of(name, ("true", "false"), str(default).lower()) == "true"

    def one_of(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        value = (self.get(name) or default).lower()
        if value not in allowed:
            raise ConfigError(f"{name} is {value!r}, but must be one of {', '.join(allowed)}")
        return value

    def number(self, name: str) -> int | None:
        value = self.get(name)
        if value is None:
            return None
        if not value.isdigit() or int(value) < 1:
            raise ConfigError(f"{name} is {value!r}, but must be a whole number of at least 1")
        return int(value)

    def offsets(self, name: str) -> dict[str, dict[int, int]]:
        """`{"topic": {"0": 23}}`"""
        try:
            parsed = orjson.loads(self.get(name) or "")
            return {
                topic: {int(partition): int(offset) for partition, offset in partitions.items()}
                for topic, partitions in parsed.items()
            }
        except (ValueError, AttributeError, TypeError):
            raise ConfigError(
                f'{name} is {self.get(name)!r}, but must be JSON such as {{"orders": {{"0": 23, "1": -2}}}}'
            ) from None

    def shared(self) -> dict[str, Any]:
        kafka = self._with_prefix("kafka.")
        servers = self.get("bootstrap.servers") or kafka.pop("bootstrap.servers", None)
        kafka.pop("bootstrap.servers", None)
        if not servers:
            raise ConfigError("no brokers given: .option('kafka.bootstrap.servers', 'host:9092')")
        return {
            "bootstrap_servers": servers,
            "kafka": kafka,
            "registry": self._with_prefix("schema.registry."),
            "key": self._column("key"),
            "value": self._column("value"),
        }

    def _column(self, side: str) -> ColumnOptions:
        words = (self.get(f"{side}.{what}") or "" for what in ("format", "schema", "message"))
        return ColumnOptions(*words)

    def _with_prefix(self, prefix: str) -> dict[str, str]:
        return {
            name.removeprefix(prefix): value for name, value in self._given.items() if name.startswith(prefix)
        }


def _subscription(options: _Options) -> Subscription:
    given = [name for name in ("subscribe", "subscribePattern", "assign") if options.get(name)]
    if len(given) != 1:
        raise ConfigError(
            f"{' and '.join(given) or 'no topic'} given: name the topics with exactly one of subscribe, "
            "subscribePattern and assign"
        )
    if given[0] == "subscribe":
        return Subscription(topics=tuple(ONE_TOPIC.findall(options.get("subscribe") or "")))
    if given[0] == "subscribePattern":
        pattern = options.get("subscribePattern") or ""
        try:
            re.compile(pattern)
        except re.error as failure:
            raise ConfigError(f"subscribePattern {pattern!r} is no regular expression: {failure}") from None
        return Subscription(pattern=pattern)
    try:
        assigned = orjson.loads(options.get("assign") or "")
        return Subscription(assigned={topic: tuple(map(int, numbers)) for topic, numbers in assigned.items()})
    except (ValueError, AttributeError, TypeError):
        raise ConfigError(
            f'assign is {options.get("assign")!r}, but must be JSON such as {{"orders": [0, 1]}}'
        ) from None


def _position(options: _Options, side: Literal["starting", "ending"]) -> Position | None:
    """As in Spark's connector: a time for all partitions overrides times by partition, and these override offsets."""
    time = options.get(f"{side}Timestamp")
    if time is not None:
        if not time.isdigit():
            raise ConfigError(f"{side}Timestamp is {time!r}, but must be milliseconds since 1970")
        return Position(timestamp_ms=int(time))
    if options.get(f"{side}OffsetsByTimestamp") is not None:
        return Position(of_partitions=options.offsets(f"{side}OffsetsByTimestamp"), are_timestamps=True)
    offsets = options.get(f"{side}Offsets")
    if offsets is None:
        return None
    if offsets.lower() == "latest":
        return Position(everywhere="latest")
    if offsets.lower() == "earliest" and side == "starting":
        return Position(everywhere="earliest")
    return Position(of_partitions=options.offsets(f"{side}Offsets"))
