"""The offsets of connectors (KIP-875): looks them up, and changes them while a connector is stopped."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from confluent_kafka import KafkaException

from moldau.core.errors import ConfigError, MoldauError
from moldau.pipeline.connect.api import (
    ConnectError,
    RetriableError,
    SinkConnector,
    SourceConnector,
    TopicPartition,
)
from moldau.pipeline.connect.plugins import ConnectorPlugin, UnknownPlugin, find_connector
from moldau.pipeline.connect.runtime.secrets import resolve, sensitive_names
from moldau.pipeline.connect.server.connector_view import ConnectorView
from moldau.pipeline.connect.server.failures import BAD_REQUEST, SERVER_ERROR, RequestFailure, bad_request
from moldau.pipeline.connect.server.member import Member
from moldau.pipeline.connect.server.requests import Json, OffsetChange
from moldau.pipeline.connect.server.state.cluster_state import ConnectorEntry
from moldau.pipeline.connect.server.state.config_records import TargetState
from moldau.pipeline.connect.server.topics.offsets_admin import (
    Change,
    NoSuchOffset,
    OffsetsAdmin,
    OffsetsBusy,
    SinkPlace,
)

TOPIC: Final = "kafka_topic"
PARTITION: Final = "kafka_partition"
OFFSET: Final = "kafka_offset"
OFFSET_MAX: Final = (1 << 63) - 1
T = TypeVar("T")


class ConnectorOffsets:
    def __init__(self, member: Member, view: ConnectorView) -> None:
        self._member = member
        self._view = view
        self._admin = OffsetsAdmin(member.configuration.client, member.settings.group_id)

    def get(self, name: str) -> Json:
        entry = self._view.entry(name)
        if self._plugin(entry).kind == "sink":
            places = self._asking(name, lambda: self._admin.of_sink(name))
            return {"offsets": [_sink_json(place, offset) for place, offset in sorted(places.items())]}
        found = self._asking(name, lambda: self._admin.of_source(self._topic(entry), name))
        return {"offsets": [{"partition": partition, "offset": offset} for partition, offset in found]}

    def alter(self, name: str, changes: Sequence[OffsetChange]) -> Json:
        entry = self._view.entry(name)
        if not changes:
            raise bad_request("Partitions / offsets need to be provided for an alter offsets request")
        self._require_stopped(entry)
        plugin = self._plugin(entry)
        if plugin.kind == "sink":
            places = sink_changes(changes)
            self._alter_in_target(plugin, entry, places, is_reset=False)
            self._changing(name, "sink", lambda: self._admin.change_sink(name, places))
        else:
            found = source_changes(changes)
            self._check(plugin, entry, found)
            self._changing(
                name,
                "source",
                lambda: self._admin.change_source(self._topic(entry), name, found, self._tasks_max(entry)),
            )
        return {"message": "The offsets for this connector have been altered successfully"}

    def reset(self, name: str) -> Json:
        entry = self._view.entry(name)
        self._require_stopped(entry)
        plugin = self._plugin(entry)
        if plugin.kind == "sink":
            places = dict.fromkeys(self._asking(name, lambda: self._admin.of_sink(name)))
            self._alter_in_target(plugin, entry, places, is_reset=True)
            self._changing(name, "sink", lambda: self._admin.reset_sink(name))
        else:
            self._changing(
                name,
                "source",
                lambda: self._admin.reset_source(self._topic(entry), name, self._tasks_max(entry)),
            )
        return {"message": "The offsets for this connector have been reset successfully"}

    def _plugin(self, entry: ConnectorEntry) -> ConnectorPlugin:
        try:
            return find_connector(entry.config.get("connector.class", ""))
        except UnknownPlugin as unknown:
            raise RequestFailure(SERVER_ERROR, str(unknown)) from None

    def _topic(self, entry: ConnectorEntry) -> str:
        return entry.config.get("offsets.storage.topic", "").strip() or self._member.settings.offset_topic

    def _tasks_max(self, entry: ConnectorEntry) -> int:
        """How many tasks of a source are fenced before its offsets are changed."""
        text = entry.config.get("tasks.max", "1").strip()
        return min(int(text), self._member.settings.tasks_limit) if text.isdecimal() else 1

    def _require_stopped(self, entry: ConnectorEntry) -> None:
        if entry.target is not TargetState.STOPPED:
            raise bad_request(
                "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for "
                f"the specified connector by issuing a 'PUT' request to the '/connectors/{entry.name}/stop' endpoint"
            )

    def _check(self, plugin: ConnectorPlugin, entry: ConnectorEntry, changes: Sequence[Change]) -> None:
        """By the connector: offsets that it cannot use are rejected."""
        connector = plugin.connector
        assert issubclass(connector, SourceConnector)
        try:
            config = resolve(entry.config, self._member.configuration.providers).config
            connector.check_offsets(config, changes)
        except (ConnectError, ConfigError) as wrong:
            raise bad_request(str(wrong)) from None

    def _alter_in_target(
        self,
        plugin: ConnectorPlugin,
        entry: ConnectorEntry,
        places: Mapping[SinkPlace, int | None],
        *,
        is_reset: bool,
    ) -> None:
        """By the connector, if its target keeps offsets."""
        connector = plugin.connector
        assert issubclass(connector, SinkConnector)
        offsets = {TopicPartition(*place): offset for place, offset in places.items()}
        try:
            sensitive = sensitive_names(connector, entry.config)
            resolved = resolve(entry.config, self._member.configuration.providers, sensitive)
        except ConfigError as wrong:
            raise bad_request(str(wrong)) from None
        try:
            connector.alter_offsets(resolved.config, offsets, is_reset=is_reset)
        except (ConnectError, ConfigError) as wrong:
            text = f"The offsets of connector {entry.name} were not changed: {resolved.mask(str(wrong))}"
            status = SERVER_ERROR if isinstance(wrong, RetriableError) else BAD_REQUEST
            raise RequestFailure(status, text) from None

    def _asking(self, name: str, ask: Callable[[], T]) -> T:
        try:
            return ask()
        except (MoldauError, KafkaException, TimeoutError) as failure:
            raise RequestFailure(
                SERVER_ERROR, f"Failed to retrieve offsets for connector {name}: {_text(failure)}"
            ) from failure

    def _changing(self, name: str, kind: str, change: Callable[[], None]) -> None:
        try:
            change()
        except OffsetsBusy as busy:
            raise RequestFailure(
                SERVER_ERROR,
                f"Failed to alter consumer group offsets for connector {name} either because its tasks haven't "
                "stopped completely yet or the connector was resumed before the request to alter its offsets could "
                "be successfully completed. If the connector is in a stopped state, this operation can be safely "
                f"retried. {busy}",
            ) from busy
        except NoSuchOffset as wrong:
            raise bad_request(f"The offsets of connector {name} were not changed: {wrong}") from None
        except (MoldauError, KafkaException, TimeoutError) as failure:
            raise RequestFailure(
                SERVER_ERROR, f"Failed to modify offsets for {kind} connector {name}: {_text(failure)}"
            ) from failure


def source_changes(changes: Sequence[OffsetChange]) -> list[Change]:
    found: list[Change] = []
    for partition, offset in changes:
        if partition is None:
            raise bad_request("The partition for a source connector offset cannot be null or missing")
        found.append((partition, offset))
    return found


def sink_changes(changes: Sequence[OffsetChange]) -> dict[SinkPlace, int | None]:
    """Raises RequestFailure for what is no partition or offset of a topic."""
    return {_place(change.partition): _sink_offset(change.offset) for change in changes}


def _place(partition: Json | None) -> SinkPlace:
    if partition is None:
        raise bad_request("The partition for a sink connector offset cannot be null or missing")
    if TOPIC not in partition or PARTITION not in partition:
        raise bad_request(
            "The partition for a sink connector offset must contain the keys 'kafka_topic' and 'kafka_partition'"
        )
    topic, number = partition[TOPIC], partition[PARTITION]
    if topic is None:
        raise bad_request("Kafka topic names must be valid strings and may not be null")
    parsed = _whole(number)
    if parsed is None:
        raise bad_request(
            f"Failed to parse the following Kafka partition value in the provided offsets: '{number}'. Partition "
            "values for sink connectors need to be integers."
        )
    return SinkPlace(str(topic), parsed)


def _sink_offset(offset: Json | None) -> int | None:
    if offset is None:
        return None
    if OFFSET not in offset:
        raise bad_request(
            "The offset for a sink connector should either be null or contain the key 'kafka_offset'"
        )
    parsed = _whole(offset[OFFSET])
    if parsed is None or not 0 <= parsed <= OFFSET_MAX:
        raise bad_request(
            f"Failed to parse the following Kafka offset value in the provided offsets: '{offset[OFFSET]}'. Offset "
            "values for sink connectors need to be integers of at least 0."
        )
    return parsed


def _whole(value: Any) -> int | None:
    """A number, or its text, as Kafka Connect takes it."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value)
    return int(text) if text.removeprefix("-").isdecimal() and len(text) <= 20 else None


def _sink_json(place: SinkPlace, offset: int) -> Json:
    return {"partition": {PARTITION: place.partition, TOPIC: place.topic}, "offset": {OFFSET: offset}}


def _text(failure: BaseException) -> str:
    return failure.args[0].str() if isinstance(failure, KafkaException) else str(failure)
