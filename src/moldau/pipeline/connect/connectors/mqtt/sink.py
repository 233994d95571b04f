"""MqttSink: publishes each record at an MQTT server, by default to the topic with the name of the record's topic.

With QoS 1 or 2 a `put` returns when the server has acknowledged every message, so nothing is kept back for `flush`.
What a `put` has published is not published again when the same `put` is repeated; after a restart it is.
"""

import logging
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from paho.mqtt.reasoncodes import ReasonCode

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import NON_EMPTY
from moldau.core.settings.key import Importance, boolean, integer, string
from moldau.pipeline.connect.api import ConnectError, RetriableError, SinkConnector, SinkContext, SinkTask
from moldau.pipeline.connect.connectors.mqtt.connection import Connection
from moldau.pipeline.connect.connectors.mqtt.settings import CONNECTION, ConnectionSettings
from moldau.pipeline.connect.data.records import SinkRecord
from moldau.pipeline.connect.declarations import ConfigValue, Declaration, Texts, values_of

OF: Final = "MqttSink"
TASK: Final = "mqtt.task"
SILENT_S_MAX: Final = 60.0
"""How long the server may take to acknowledge anything."""
TOPIC_BYTES_MAX: Final = 65_535
HEADER_BYTES: Final = 16
"""Of a packet besides its topic and payload."""
_PLACEHOLDER: Final = re.compile(r"\$\{([^}]*)\}")
_PARTS: Final = ("topic", "key", "partition")
MESSAGES = "Messages"

DECLARATIONS: Final = (
    *CONNECTION,
    Declaration(
        string(
            "mqtt.topic",
            "${topic}",
            "The topic to publish to. ${topic}, ${key} and ${partition} are replaced by those of the record.",
            check=NON_EMPTY,
            importance=Importance.HIGH,
        ),
        group=MESSAGES,
        width="LONG",
        display_name="Topic of MQTT",
    ),
    Declaration(
        integer(
            "mqtt.qos",
            1,
            "The quality of service. 0: messages can be lost. 1: at least once. 2: the server takes a message that "
            "is sent again on the same connection once.",
            at_least=0,
            at_most=2,
            importance=Importance.HIGH,
        ),
        group=MESSAGES,
        display_name="Quality of service",
        recommends=lambda _: ["0", "1", "2"],
    ),
    Declaration(
        boolean(
            "mqtt.retained.enabled",
            False,
            "Whether the server keeps the last message of each topic for those who subscribe later. A record without "
            "a value deletes it.",
        ),
        group=MESSAGES,
        display_name="Retain",
    ),
)

log = logging.getLogger(__name__)

Place = tuple[str, int, int]


class MqttSinkTask(SinkTask):
    def start(self, config: Texts, context: SinkContext) -> None:
        values = values_of(DECLARATIONS, config, of=OF)
        task = int(config.get(TASK, "0"))
        settings = ConnectionSettings.of(values, name=config.get("name", ""), task=task)
        self._template = template_of(values["mqtt.topic"])
        self._qos: int = values["mqtt.qos"]
        self._is_retained: bool = values["mqtt.retained.enabled"]
        self._context = context
        self._changed = threading.Condition()
        self._answers: dict[int, ReasonCode] = {}
        self._done: set[Place] = set()
        """Records of the current `put` that are published or reported: they are not when it is repeated."""
        self._connection = Connection(settings, on_published=self._published, on_end=self._wake)

    def put(self, records: Sequence[SinkRecord]) -> None:
        todo = [one for one in records if _place(one) not in self._done]
        if todo and not self._connection.is_open:
            self._connection.close()
            self._answers.clear()
            try:
                self._connection.open()
            except BaseException:
                self._connection.close()
                raise
        sent: dict[int, SinkRecord] = {}
        for record in todo:
            mid = self._send(record)
            if mid is not None:
                sent[mid] = record
            # A number comes again after 65,535 messages.
            if len(sent) >= TOPIC_BYTES_MAX // 2:
                self._wait(sent)
        self._wait(sent)
        self._done.clear()

    def stop(self) -> None:
        if hasattr(self, "_connection"):
            self._connection.close()

    def _send(self, record: SinkRecord) -> int | None:
        """The number of the message, or None for a record that cannot be published."""
        try:
            topic, payload = topic_of(self._template, record), payload_of(record)
            size = len(topic.encode()) + len(payload) + HEADER_BYTES
            if size > self._connection.packet_bytes_max:
                raise ConnectError(
                    f"the message has {size} bytes, and {self._connection.server} takes at most "
                    f"{self._connection.packet_bytes_max}: raise its limit, or make the record smaller"
                )
        except ConnectError as unfit:
            self._report(record, unfit)
            return None
        if not payload and not self._is_retained and record.value is None:
            # It would delete what is retained, and nothing is.
            self._done.add(_place(record))
            return None
        return self._connection.publish(topic, payload, self._qos, is_retained=self._is_retained)

    def _wait(self, sent: dict[int, SinkRecord]) -> None:
        """Until each message has its answer."""
        silent_since = time.monotonic()
        while sent:
            with self._changed:
                if not self._answers and self._connection.is_open:
                    self._changed.wait(1.0)
                answers, self._answers = self._answers, {}
            for mid, reason in answers.items():
                record = sent.pop(mid, None)
                if record is not None:
                    self._take_answer(record, reason)
            if answers:
                silent_since = time.monotonic()
            elif not self._connection.is_open:
                raise RetriableError(self._connection.why_ended)
            elif time.monotonic() - silent_since > SILENT_S_MAX:
                self._connection.close()
                raise RetriableError(
                    f"{self._connection.server} has not acknowledged a message for {SILENT_S_MAX:.0f} s: the "
                    "connection is made again"
                )

    def _take_answer(self, record: SinkRecord, reason: ReasonCode) -> None:
        if not reason.is_failure:
            self._done.add(_place(record))
            return
        text = f"{self._connection.server} refuses a message to {topic_of(self._template, record)}"
        name = reason.getName()
        if name == "Quota exceeded":
            raise RetriableError(f"{text}: {name}")
        self._report(record, ConnectError(f"{text}: {name}. Let the user write to this topic, or change it"))

    def _report(self, record: SinkRecord, error: Exception) -> None:
        self._context.report(record, error)
        self._done.add(_place(record))

    def _published(self, mid: int, reason: ReasonCode) -> None:
        """In the network's thread."""
        with self._changed:
            self._answers[mid] = reason
            self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


class MqttSinkConnector(SinkConnector):
    declarations = DECLARATIONS
    task_class = MqttSinkTask
    aliases = ("MqttSink", "io.confluent.connect.mqtt.MqttSinkConnector")

    def start(self, config: Texts) -> None:
        for check in _checks(config):
            check()
        super().start(config)

    def task_configs(self, tasks_max: int) -> Sequence[Texts]:
        return [{**self.config, TASK: str(task)} for task in range(tasks_max)]

    @classmethod
    def check(cls, config: Texts) -> Sequence[ConfigValue]:
        try:
            values_of(DECLARATIONS, config, of=OF)
        except ConfigError:
            # What is wrong with a single setting is reported with it.
            return ()
        found = {}
        for check in _checks(config):
            try:
                check()
            except ConfigError as wrong:
                names = [one.name for one in DECLARATIONS if one.name in str(wrong)]
                # The first one in the text, and the longest of those that begin alike.
                name = min(names, key=partial(_order, str(wrong)), default="mqtt.server.uri")
                found[name] = ConfigValue(name, config.get(name), errors=[str(wrong)])
        return list(found.values())


def _order(text: str, name: str) -> tuple[int, int]:
    return text.index(name), -len(name)


def _checks(config: Texts) -> Sequence[Callable[[], object]]:
    """Each raises ConfigError."""
    values: Mapping[str, Any] = values_of(DECLARATIONS, config, of=OF)
    return (
        lambda: ConnectionSettings.of(values, name=config.get("name", ""), task=0),
        lambda: template_of(values["mqtt.topic"]),
    )


def template_of(text: str) -> str:
    """Raises ConfigError for a template that makes no topics."""
    for name in _PLACEHOLDER.findall(text):
        if name not in _PARTS:
            raise ConfigError(
                f"mqtt.topic={text}: ${{{name}}} is unknown; there are {', '.join(f'${{{one}}}' for one in _PARTS)}"
            )
    if "+" in text or "#" in text:
        raise ConfigError(f"mqtt.topic={text}: a message goes to one topic, which has no + and no #")
    return text


def topic_of(template: str, record: SinkRecord) -> str:
    """Raises ConnectError if the record makes no topic that MQTT allows."""

    def part(match: re.Match[str]) -> str:
        match match[1]:
            case "topic":
                return record.topic
            case "partition":
                return str(record.original_partition)
        key = record.key
        if isinstance(key, bytes):
            try:
                return key.decode()
            except UnicodeDecodeError as wrong:
                raise ConnectError(f"mqtt.topic has the key in it, which is not UTF-8: {wrong}") from None
        if isinstance(key, str | int) and key != "":
            return str(key)
        raise ConnectError(
            f"mqtt.topic has the key in it, and the record's key is {key!r}: it takes a text or a number. The "
            "transformation ValueToKey makes a key, ExtractField$Key takes a field of it"
        )

    topic = _PLACEHOLDER.sub(part, template)
    if any(one in topic for one in "+#\0") or len(topic.encode(errors="replace")) > TOPIC_BYTES_MAX:
        raise ConnectError(
            f"{topic[:100]!r} cannot be a topic of MQTT, which has no + and no #, and {TOPIC_BYTES_MAX} bytes at most"
        )
    return topic


def payload_of(record: SinkRecord) -> bytes:
    """Raises ConnectError for values that are no text and no bytes."""
    value = record.value
    if value is None:
        return b""
    if isinstance(value, str):
        return value.encode(errors="replace")
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise ConnectError(
        f"the value is a {type(value).__name__}, and a message is bytes: set value.converter to StringConverter or "
        "ByteArrayConverter, which pass on what is in the topic"
    )


def _place(record: SinkRecord) -> Place:
    return record.original_topic or record.topic, record.original_partition, record.offset
