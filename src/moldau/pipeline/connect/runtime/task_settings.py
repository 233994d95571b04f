"""The settings that every connector has and that its tasks obey: one declaration per key, under Kafka Connect's names.

`errors.tolerance`, `errors.retry.*` and converters belong to the record chain.
"""

import re
from collections.abc import Mapping
from typing import Final, Self

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import one_of
from moldau.core.settings.key import Importance, boolean, integer, long, short, string, strings
from moldau.core.settings.view import SettingsView

CONSUMER_OVERRIDE: Final = "consumer.override."
PRODUCER_OVERRIDE: Final = "producer.override."
ADMIN_OVERRIDE: Final = "admin.override."


class TaskSettings(SettingsView):
    """Of sources and sinks."""

    KIND = "connector"

    dead_letter_topic = string(
        "errors.deadletterqueue.topic.name",
        "",
        "The topic for records that could not be processed. Empty: they are only counted and logged.",
    )
    dead_letter_replicas = short(
        "errors.deadletterqueue.topic.replication.factor",
        3,
        "Replicas of the dead letter topic when it is created; fewer if there are not so many brokers.",
        at_least=-1,
    )
    with_context_headers = boolean(
        "errors.deadletterqueue.context.headers.enable",
        False,
        "Whether dead letters have headers that say where they come from and why they failed.",
    )
    logs_errors = boolean("errors.log.enable", False, "Whether each failed record is logged.")
    restarts_max = integer(
        "errors.restart.max",
        -1,
        "How often in a row a failed task is started again, with a growing pause. -1: until it works; 0: never, as in "
        "Kafka.",
        at_least=-1,
    )
    call_ms_max = long(
        "task.call.timeout.ms",
        300_000,
        "A task that does not return from a call within this time has failed and is replaced.",
        at_least=1_000,
    )

    @classmethod
    def of(cls, config: Mapping[str, str]) -> Self:
        """From a configuration that has other settings too. Raises ConfigError for a wrong value."""
        found = cls.parse({name: text for name, text in config.items() if name in cls.KEYS})
        found.check()
        return found

    def check(self) -> None:
        """Raises ConfigError for settings that do not fit together."""


class SinkSettings(TaskSettings):
    topics = strings("topics", (), "The topics to read.", importance=Importance.HIGH)
    topics_regex = string(
        "topics.regex", "", "A pattern for the names of the topics to read.", importance=Importance.HIGH
    )

    def check(self) -> None:
        if bool(self.topics) == bool(self.topics_regex):
            raise ConfigError("A sink connector takes either topics or topics.regex: set exactly one of them")
        if self.topics_regex:
            try:
                re.compile(self.topics_regex)
            except re.error as wrong:
                raise ConfigError(f"topics.regex {self.topics_regex!r} is not a pattern: {wrong}") from None
        if self.dead_letter_topic and self.takes(self.dead_letter_topic):
            raise ConfigError(
                f"The dead letter topic {self.dead_letter_topic} is one of the topics that the connector reads: give "
                "it another name"
            )

    def takes(self, topic: str) -> bool:
        if self.topics:
            return topic in self.topics
        return re.fullmatch(self.topics_regex, topic) is not None


class SourceSettings(TaskSettings):
    boundary = string(
        "transaction.boundary",
        "poll",
        "What one transaction contains: the records of one poll, or those of an interval.",
        check=one_of("poll", "interval", "connector", ignore_case=True),
    )
    boundary_interval_ms = long(
        "transaction.boundary.interval.ms",
        60_000,
        "How long a transaction is open when its boundary is an interval.",
        at_least=1,
    )
    support = string(
        "exactly.once.support",
        "requested",
        "Sources are exactly once wherever their offsets say exactly what has been read. `required` refuses a "
        "connector that cannot be.",
        check=one_of("requested", "required", ignore_case=True),
    )
    offsets_topic = string(
        "offsets.storage.topic", "", "The connector's own topic for offsets. Empty: the worker's."
    )
    creation_groups = strings(
        "topic.creation.groups", (), "Groups of topics that are created with settings of their own."
    )

    def check(self) -> None:
        if self.boundary.lower() == "connector":
            raise ConfigError(
                "transaction.boundary=connector is not supported: connectors cannot define transactions here. Use "
                "poll or interval"
            )
