"""Which folder a record belongs to, and the time that decides this: Confluent's partitioners and timestamp extractors.

Folders and times depend on the record alone, except with the wallclock extractor.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.connectors.files.archive_names import HIVE_NULL, folder_text
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.logical import DAY_MS, ms_of
from moldau.pipeline.connect.data.records import SinkRecord
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.data.validation import shown
from moldau.pipeline.java_texts.simple_date_format import simple_date_format

Folder = Callable[[SinkRecord], str]
"""Relative to the folder of the topic. Raises DataError for a record that has none."""
Time = Callable[[SinkRecord], int]
"""In milliseconds."""

PARTITIONERS: Final = (
    "DefaultPartitioner",
    "FieldPartitioner",
    "TimeBasedPartitioner",
    "DailyPartitioner",
    "HourlyPartitioner",
)
EXTRACTORS: Final = ("Wallclock", "Record", "RecordField")
DAILY: Final = "'year'=YYYY/'month'=MM/'day'=dd"
HOURLY: Final = f"{DAILY}/'hour'=HH"
HOUR_MS: Final = 3_600_000
_QUOTED: Final = re.compile(r"('[^']*')")
_NAMES_OF_DAYS: Final = re.compile(r"MMM|E|a")


def short_name(name: str, kinds: Sequence[str], setting: str) -> str:
    """A class name of Java, with or without its package and its suffix, to one of `kinds`."""
    asked = name.strip().rpartition(".")[2].rpartition("$")[2].lower()
    for kind in kinds:
        full = kind.lower()
        if asked in (full, full.removesuffix("partitioner"), f"{full}timestampextractor", f"{full}format"):
            return kind
    raise ConfigError(f"Invalid value {name} for configuration {setting}: it takes one of {', '.join(kinds)}")


def time_of_records(values: Mapping[str, Any]) -> Time:
    field = values["timestamp.field"]
    match short_name(values["timestamp.extractor"], EXTRACTORS, "timestamp.extractor"):
        case "Wallclock":
            return lambda record: time.time_ns() // 1_000_000
        case "RecordField":
            return lambda record: _field_ms(record, field)
    return _record_ms


def folder_of_records(values: Mapping[str, Any], time_of: Time) -> Folder:
    """Raises ConfigError for settings that do not fit together."""
    kind = short_name(values["partitioner.class"], PARTITIONERS, "partitioner.class")
    delimiter: str = values["directory.delim"]
    match kind:
        case "DefaultPartitioner":
            return lambda record: f"partition={record.partition}"
        case "FieldPartitioner":
            names: Sequence[str] = values["partition.field.name"]
            if not names:
                raise ConfigError(
                    "partitioner.class=FieldPartitioner needs partition.field.name: name the fields of the value "
                    "that make the folders"
                )
            return lambda record: delimiter.join(f"{name}={_field_text(record, name)}" for name in names)
        case "DailyPartitioner":
            return TimeFolders(DAILY, DAY_MS, values, time_of)
        case "HourlyPartitioner":
            return TimeFolders(HOURLY, HOUR_MS, values, time_of)
    pattern, duration_ms = values["path.format"], values["partition.duration.ms"]
    if not pattern or duration_ms is None or duration_ms < 1:
        raise ConfigError(
            f"partitioner.class={kind} needs path.format, such as {HOURLY}, and a partition.duration.ms above 0, such "
            f"as {HOUR_MS}"
        )
    return TimeFolders(pattern, duration_ms, values, time_of)


class TimeFolders:
    """One folder for each span of time."""

    def __init__(self, pattern: str, duration_ms: int, values: Mapping[str, Any], time_of: Time) -> None:
        self._duration_ms = duration_ms
        self._zone = zone_of(values["timezone"])
        self._time_of = time_of
        self._last = (-1, "")
        _check_locale(values["locale"], pattern)
        try:
            self._format = simple_date_format(_as_simple_date_format(pattern))
            self._format.format(0)
        except ValueError as wrong:
            raise ConfigError(f"Invalid value {pattern} for configuration path.format: {wrong}") from None

    def __call__(self, record: SinkRecord) -> str:
        local = self._time_of(record)
        if self._zone is not UTC:
            local += offset_ms(self._zone, local)
        span = local // self._duration_ms
        last_span, last_folder = self._last
        if span != last_span or not last_folder:
            last_folder = self._format.format(span * self._duration_ms)
            self._last = (span, last_folder)
        return last_folder


def zone_of(name: str) -> Any:
    if name.upper() in ("UTC", "GMT", "Z", ""):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise ConfigError(
            f"Invalid value {name} for configuration timezone: it takes the name of a time zone, for example "
            "timezone=Europe/Prague"
        ) from None


def offset_ms(zone: Any, ms: int) -> int:
    offset = datetime.fromtimestamp(ms / 1_000, zone).utcoffset()
    return 0 if offset is None else int(offset.total_seconds() * 1_000)


def _check_locale(locale: str, pattern: str) -> None:
    plain = _QUOTED.sub("", pattern)
    if locale and not locale.lower().startswith("en") and _NAMES_OF_DAYS.search(plain):
        raise ConfigError(
            f"Invalid value {locale} for configuration locale: names of months and days are written in English only. "
            "Use numbers in path.format, or locale=en-US"
        )


def _as_simple_date_format(pattern: str) -> str:
    """Java's connectors read Joda's patterns, where Y is a year and not that of a week."""
    return "".join(
        part if part.startswith("'") else part.replace("Y", "y") for part in _QUOTED.split(pattern)
    )


def _record_ms(record: SinkRecord) -> int:
    if record.timestamp_ms is None:
        raise DataError(
            "it has no timestamp, and timestamp.extractor=Record takes the folder or file from it: use RecordField, "
            "or let producers set timestamps"
        )
    return record.timestamp_ms


def field_of(record: SinkRecord, path: str) -> Any:
    """A field of the value by its name, or by names with dots in between. Raises DataError if there is none."""
    value = record.value
    for name in (path,) if _has(value, path) else path.split("."):
        if not _has(value, name):
            raise DataError(f"its value has no field {path}, which decides where the record is written")
        value = value[name]
    return value


def _has(value: Any, name: str) -> bool:
    if isinstance(value, Struct):
        return name in value.schema.index
    return isinstance(value, dict) and name in value


def _field_ms(record: SinkRecord, path: str) -> int:
    value = field_of(record, path)
    match value:
        case bool() | None:
            pass
        case int():
            return value
        case datetime():
            return ms_of(value)
        case date():
            return ms_of(datetime(value.year, value.month, value.day, tzinfo=UTC))
        case str():
            try:
                return ms_of(datetime.fromisoformat(value))
            except ValueError:
                pass
    raise DataError(
        f"field {path} is {shown(value)}, which is no time: it takes milliseconds since 1970, a Timestamp, or a text "
        "such as 2026-01-31T12:00:00Z"
    )


def _field_text(record: SinkRecord, path: str) -> str:
    value = field_of(record, path)
    match value:
        case None:
            return HIVE_NULL
        case bool():
            return "true" if value else "false"
        case str():
            return folder_text(value)
        case int() | date():
            return folder_text(str(value))
    raise DataError(
        f"field {path} is {shown(value)}, and folders are named after texts, whole numbers, booleans and dates only"
    )
