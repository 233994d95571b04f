"""MqttSource: subscribes to topics of MQTT servers; each message becomes a record, with the topic as its key.

At least once: a message is acknowledged when it is in Kafka (`inbox.py`). The subscription is made with QoS 1 at most:
with QoS 2 the server hands a message over before it is in Kafka, and a task that is killed then would lose it.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any, Final

from paho.mqtt.client import MQTTMessage, topic_matches_sub

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import NON_EMPTY
from moldau.core.settings.key import Importance, integer, string, strings
from moldau.pipeline.connect.api import SourceConnector, SourceContext, SourceTask
from moldau.pipeline.connect.connectors.mqtt.connection import Connection
from moldau.pipeline.connect.connectors.mqtt.inbox import Inbox, Received, now_ms
from moldau.pipeline.connect.connectors.mqtt.settings import CONNECTION, ConnectionSettings
from moldau.pipeline.connect.data.records import Header, SourceRecord
from moldau.pipeline.connect.data.schema import BOOLEAN, BYTES, INT32, STRING
from moldau.pipeline.connect.declarations import ConfigValue, Declaration, Texts, values_of

OF: Final = "MqttSource"
TASK: Final = "mqtt.task"
SHARED: Final = "$share/"
"""The server gives each message of such a subscription to one of its subscribers."""
MESSAGES = "Messages"

DECLARATIONS: Final = (
    *CONNECTION,
    Declaration(
        strings(
            "mqtt.topics",
            (),
            "The topics to subscribe to. + stands for one level, # at the end for all further ones.",
            check=NON_EMPTY,
            importance=Importance.HIGH,
        ),
        is_required=True,
        group=MESSAGES,
        width="LONG",
        display_name="Topics of MQTT",
    ),
    Declaration(
        string(
            "kafka.topic",
            "mqtt",
            "The topic to write to.",
            check=NON_EMPTY,
            importance=Importance.HIGH,
        ),
        group=MESSAGES,
        display_name="Topic",
    ),
    Declaration(
        integer(
            "mqtt.qos",
            0,
            "The quality of service. 0: messages can be lost. 1: at least once. 2 is subscribed to as 1.",
            at_least=0,
            at_most=2,
            importance=Importance.LOW,
        ),
        group=MESSAGES,
        display_name="Quality of service",
        recommends=lambda _: ["0", "1", "2"],
    ),
    Declaration(
        integer(
            "records.buffer.queue.size",
            50_000,
            "The largest number of messages that wait for Kafka. Then the server has to wait.",
            at_least=1,
            importance=Importance.LOW,
        ),
        group=MESSAGES,
        display_name="Waiting messages",
    ),
    Declaration(
        integer(
            "records.buffer.queue.max.batch.size",
            4_096,
            "The largest number of messages that are taken at once.",
            at_least=1,
            importance=Importance.LOW,
        ),
        group=MESSAGES,
        display_name="Batch size",
    ),
    Declaration(
        integer(
            "records.buffer.queue.empty.timeout",
            100,
            "How long the task waits for a message in milliseconds before it looks whether it should stop.",
            at_least=1,
            at_most=10_000,
            importance=Importance.LOW,
        ),
        group=MESSAGES,
        display_name="Wait (ms)",
    ),
)

log = logging.getLogger(__name__)


class MqttSourceTask(SourceTask):
    def start(self, config: Texts, context: SourceContext) -> None:
        values = values_of(DECLARATIONS, config, of=OF)
        task = int(config.get(TASK, "0"))
        settings = ConnectionSettings.of(values, name=config.get("name", ""), task=task)
        self._filters = filters_of(values["mqtt.topics"])
        self._plain_filters = [plain_filter(one) for one in self._filters]
        self._topic: str = values["kafka.topic"]
        self._qos: int = min(values["mqtt.qos"], 1)
        self._count_max: int = values["records.buffer.queue.max.batch.size"]
        self._wait_s: float = values["records.buffer.queue.empty.timeout"] / 1000
        size_max: int = values["records.buffer.queue.size"]
        self._inbox = Inbox(size_max)
        self._unwanted: set[str] = set()
        self._connection = Connection(
            settings,
            receive_max=size_max,
            on_session=lambda is_resumed: self._inbox.begin_session(is_resumed=is_resumed),
            on_message=self._received,
            on_end=self._inbox.wake,
        )

    def poll(self) -> Sequence[SourceRecord]:
        if not self._connection.is_open:
            return self._reconnected()
        found = self._inbox.take(self._count_max, self._wait_s)
        return [self._record(one) for one in found]

    def next_poll_ms(self) -> int:
        return 1

    def committed(self) -> None:
        self._inbox.committed()
        while self._connection.is_open and (mid := self._inbox.next_to_acknowledge()) is not None:
            self._connection.acknowledge(mid)

    def stop(self) -> None:
        if hasattr(self, "_connection"):
            self._inbox.close()
            self._connection.close()

    def _reconnected(self) -> Sequence[SourceRecord]:
        """What came before the connection ended is written before a new one is made."""
        found = self._inbox.take(self._count_max, 0)
        if found:
            return [self._record(one) for one in found]
        self._inbox.close()
        self._connection.close()
        try:
            self._connection.open()
            self._connection.subscribe(self._filters, self._qos)
        except BaseException:
            self._inbox.close()
            self._connection.close()
            raise
        log.info("subscribed to %s at %s", ", ".join(self._filters), self._connection.server)
        return ()

    def _received(self, message: MQTTMessage) -> None:
        """In the network's thread."""
        if not any(topic_matches_sub(one, message.topic) for one in self._plain_filters):
            # The session remembers topics that the connector was configured with before.
            if message.topic not in self._unwanted and len(self._unwanted) < 100:
                self._unwanted.add(message.topic)
                log.info("messages to %s are skipped: mqtt.topics does not name it any more", message.topic)
            if message.qos:
                self._connection.acknowledge(message.mid)
            return
        received = Received(
            message.topic,
            bytes(message.payload),
            message.mid,
            message.qos,
            message.retain,
            message.dup,
            at_ms=now_ms(),
        )
        if self._inbox.add(received):
            self._connection.acknowledge(message.mid)

    def _record(self, message: Received) -> SourceRecord:
        return SourceRecord(
            self._topic,
            key=message.topic,
            key_schema=STRING,
            value=message.payload,
            value_schema=BYTES,
            timestamp_ms=message.at_ms,
            headers=(
                Header("mqtt.message.id", message.mid, INT32),
                Header("mqtt.qos", message.qos, INT32),
                Header("mqtt.retained", message.is_retained, BOOLEAN),
                Header("mqtt.duplicate", message.is_duplicate, BOOLEAN),
                Header("mqtt.topic", message.topic, STRING),
            ),
        )


class MqttSourceConnector(SourceConnector):
    declarations = DECLARATIONS
    task_class = MqttSourceTask
    aliases = ("MqttSource", "io.confluent.connect.mqtt.MqttSourceConnector")

    def start(self, config: Texts) -> None:
        for check in _checks(config):
            check()
        super().start(config)

    def task_configs(self, tasks_max: int) -> Sequence[Texts]:
        """The topics are spread over the tasks; every task gets those that the server shares out."""
        topics = filters_of(values_of(DECLARATIONS, self.config, of=OF)["mqtt.topics"])
        shared = [one for one in topics if one.startswith(SHARED)]
        own = [one for one in topics if not one.startswith(SHARED)]
        count = tasks_max if shared else min(tasks_max, len(own))
        return [
            {**self.config, "mqtt.topics": ",".join([*own[task::count], *shared]), TASK: str(task)}
            for task in range(count)
        ]

    @classmethod
    def is_exactly_once(cls, config: Texts) -> bool:
        """MQTT has no positions that could be kept with the records."""
        return False

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
                name = min(names, key=str(wrong).index, default="mqtt.server.uri")
                found[name] = ConfigValue(name, config.get(name), errors=[str(wrong)])
        return list(found.values())


def _checks(config: Texts) -> Sequence[Callable[[], object]]:
    """Each raises ConfigError."""
    values: dict[str, Any] = values_of(DECLARATIONS, config, of=OF)
    return (
        lambda: ConnectionSettings.of(values, name=config.get("name", ""), task=0),
        lambda: filters_of(values["mqtt.topics"]),
    )


def filters_of(topics: Sequence[str]) -> list[str]:
    """Raises ConfigError for one that no server would accept."""
    for one in topics:
        levels = plain_filter(one).split("/")
        if (
            "#" in levels[:-1]
            or any(("#" in level or "+" in level) and len(level) > 1 for level in levels)
            or not plain_filter(one)
        ):
            raise ConfigError(
                f"mqtt.topics={one} is not a filter of topics: + and # stand for whole levels, and # is the last "
                "one, for example sensors/+/temperature or sensors/#"
            )
    return list(dict.fromkeys(topics))


def plain_filter(topic: str) -> str:
    """Without the name of the group that shares it."""
    return topic.split("/", 2)[2] if topic.startswith(SHARED) and topic.count("/") >= 2 else topic
