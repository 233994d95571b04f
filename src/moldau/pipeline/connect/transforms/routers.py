"""Give records another topic: by a regular expression, or by the time of the record."""

from typing import Final

from moldau.core.errors import ConfigError
from moldau.core.settings.key import Importance, string
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.records import Record
from moldau.pipeline.connect.declarations import Declaration, Texts
from moldau.pipeline.connect.transforms.regexes import REGEX
from moldau.pipeline.connect.transforms.transformation import Transformation
from moldau.pipeline.java_texts.regex import replacement, to_search
from moldau.pipeline.java_texts.simple_date_format import simple_date_format

TOPICS_MAX: Final = 1_000
"""Remembered new names of topics."""


class RegexRouter(Transformation):
    doc = (
        "Gives the record another topic: where the regular expression matches the whole name, its first match is "
        "replaced. $1 is the first group."
    )
    declarations = (
        Declaration(
            string(
                "regex",
                "",
                "Regular expression to use for matching.",
                importance=Importance.HIGH,
                check=REGEX,
            ),
            is_required=True,
        ),
        Declaration(
            string("replacement", "", "Replacement string.", importance=Importance.HIGH), is_required=True
        ),
    )

    def __init__(self, texts: Texts, part: str = "", of: str = "") -> None:
        super().__init__(texts, part, of)
        self._pattern: str = self.settings["regex"]
        try:
            replacement(self.settings["replacement"])
        except ValueError as wrong:
            raise ConfigError(f"Invalid value for configuration replacement: {wrong}") from None
        self._known: dict[str, str] = {}

    def apply(self, record: Record) -> Record:
        topic = record.topic
        found = self._known.get(topic)
        if found is None:
            found = self._routed(topic)
            if len(self._known) < TOPICS_MAX:
                self._known[topic] = found
        record.topic = found
        return record

    def _routed(self, topic: str) -> str:
        regex = to_search(self._pattern, topic)
        match = regex.search(topic) if regex.fullmatch(topic) else None
        if match is None:
            return topic
        try:
            new = replacement(self.settings["replacement"])(match)
        except (IndexError, KeyError):
            raise DataError(
                f"{self.of}: the replacement {self.settings['replacement']} names a group that the regular expression "
                f"{self._pattern} does not have"
            ) from None
        return f"{topic[: match.start()]}{new}{topic[match.end() :]}"


class TimestampRouter(Transformation):
    doc = "Gives the record another topic, made out of its topic and its time: `orders-20260131`."
    declarations = (
        Declaration(
            string(
                "topic.format",
                "${topic}-${timestamp}",
                "The new topic, with ${topic} and ${timestamp} for the old one and the time.",
                importance=Importance.HIGH,
            )
        ),
        Declaration(
            string(
                "timestamp.format",
                "yyyyMMdd",
                "How the time is written: a pattern of Java's SimpleDateFormat, in UTC.",
                importance=Importance.HIGH,
            )
        ),
    )

    def __init__(self, texts: Texts, part: str = "", of: str = "") -> None:
        super().__init__(texts, part, of)
        self._format: str = self.settings["topic.format"]
        try:
            self._times = simple_date_format(self.settings["timestamp.format"])
        except ValueError as wrong:
            raise ConfigError(f"Invalid value for configuration timestamp.format: {wrong}") from None

    def apply(self, record: Record) -> Record:
        if record.timestamp_ms is None:
            raise DataError(
                f"{self.of}: Timestamp missing on record of {record.topic}: let the source set the time, or apply the "
                "transformation in a sink, where every record has one"
            )
        try:
            time = self._times.format(record.timestamp_ms)
        except ValueError as wrong:
            raise DataError(f"{self.of} cannot write the record's time: {wrong}") from None
        record.topic = self._format.replace("${topic}", record.topic).replace("${timestamp}", time)
        return record
