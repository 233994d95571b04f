"""DatagenSource: records that an Avro schema describes, at a pace. The same seed gives the same records."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from moldau.core.settings.checks import one_of
from moldau.core.settings.key import Importance, integer, long, string
from moldau.pipeline.connect.api import (
    ANY_PATH,
    ConnectError,
    Offset,
    SourceConnector,
    SourceContext,
    SourceTask,
)
from moldau.pipeline.connect.connectors.datagen.quickstarts import NAMES, quickstart
from moldau.pipeline.connect.connectors.datagen.samples import Sampler, option_files, sampler_of
from moldau.pipeline.connect.data.records import Header, SourceRecord
from moldau.pipeline.connect.data.schema import INT64
from moldau.pipeline.connect.declarations import ConfigValue, Declaration, Texts, values_of

OF: Final = "DatagenSource"
TASK_ID: Final = "task.id"
GENERATION: Final = "task.generation"
ITERATION: Final = "current.iteration"
SEED: Final = "random.seed"
BATCH_MAX: Final = 500
REST_MS_MAX: Final = 10_000
_SCHEMA_FROM: Final = ("schema.string", "schema.filename", "quickstart")

DECLARATIONS: Final = (
    Declaration(
        string("kafka.topic", "", "The topic to write to.", importance=Importance.HIGH),
        is_required=True,
        group="Output",
        display_name="Topic",
    ),
    Declaration(
        long(
            "max.interval",
            500,
            "The longest pause between two records in milliseconds; pauses are random. 0: as fast as possible.",
            importance=Importance.HIGH,
        ),
        group="Output",
        display_name="Longest pause (ms)",
    ),
    Declaration(
        integer(
            "iterations",
            -1,
            "How many records each task makes. Less than 1: no end. A task that has made them goes on running, idle.",
            importance=Importance.HIGH,
        ),
        group="Output",
        display_name="Records",
    ),
    Declaration(
        string(
            "quickstart",
            "",
            "A well-known schema by its name.",
            importance=Importance.HIGH,
            check=one_of(*NAMES, ignore_case=True),
        ),
        group="Schema",
        display_name="Quickstart",
        recommends=lambda _: NAMES,
    ),
    Declaration(
        string(
            "schema.string", "", "An Avro schema as JSON, with arg.properties.", importance=Importance.HIGH
        ),
        group="Schema",
        width="LONG",
        display_name="Schema",
    ),
    Declaration(
        string(
            "schema.filename",
            "",
            "A file with an Avro schema, readable on every worker.",
            importance=Importance.HIGH,
        ),
        group="Schema",
        display_name="Schema file",
    ),
    Declaration(
        string(
            "schema.keyfield",
            "",
            "The field that becomes the key. Empty: the one of the quickstart, or no key.",
            importance=Importance.HIGH,
        ),
        group="Schema",
        display_name="Key field",
    ),
    Declaration(
        long(
            "random.seed",
            None,
            "Connectors with the same seed make the same records; the tasks of one connector make different ones.",
            importance=Importance.LOW,
        ),
        group="Schema",
        display_name="Seed",
    ),
)


class _Source(NamedTuple):
    sampler: Sampler
    key_field: str


class DatagenSourceTask(SourceTask):
    def start(self, config: Texts, context: SourceContext) -> None:
        values = values_of(DECLARATIONS, config, of=OF)
        self._topic: str = values["kafka.topic"]
        self._pause_max: float = max(values["max.interval"], 0) / 1_000
        self._end: int = values["iterations"]
        self._sampler, self._key_field = _source_of(values)
        self._task = int(config.get(TASK_ID, "0"))
        self._partition = {TASK_ID: self._task}
        stored = context.offset(self._partition) or {}
        self._next: int = stored.get(ITERATION, 0)
        self._generation: int = stored.get(GENERATION, 0)
        given = values["random.seed"]
        fresh = Random().getrandbits(48) if given is None else given
        self._seed: int = stored.get(SEED, fresh)
        self._pauses = Random()
        self._due = time.monotonic()

    def poll(self) -> Sequence[SourceRecord]:
        count = BATCH_MAX if self._end < 1 else min(BATCH_MAX, self._end - self._next)
        first, self._next = self._next, self._next + self._count_due(count)
        return [self._record(number) for number in range(first, self._next)]

    def next_poll_ms(self) -> int:
        if 0 < self._end <= self._next:
            return REST_MS_MAX
        return max(1, min(REST_MS_MAX, int((self._due - time.monotonic()) * 1_000)))

    def _count_due(self, count_max: int) -> int:
        if not self._pause_max:
            return count_max
        now, count = time.monotonic(), 0
        while self._due <= now and count < count_max:
            self._due += self._pauses.random() * self._pause_max
            count += 1
        return count

    def _record(self, number: int) -> SourceRecord:
        value = self._sampler.draw(Random(f"{self._seed}/{self._task}/{number}"), number)
        schema = self._sampler.schema
        field = schema.field(self._key_field)
        return SourceRecord(
            self._topic,
            key=None if field is None else value[self._key_field],
            key_schema=None if field is None else field.schema,
            value=value,
            value_schema=schema,
            headers=(
                Header(GENERATION, self._generation, INT64),
                Header(TASK_ID, self._task, INT64),
                Header(ITERATION, number, INT64),
            ),
            source_partition=self._partition,
            source_offset={GENERATION: self._generation + 1, ITERATION: number + 1, SEED: self._seed},
        )


class DatagenSourceConnector(SourceConnector):
    declarations = DECLARATIONS
    task_class = DatagenSourceTask
    aliases = ("DatagenSource", "Datagen", "io.confluent.kafka.connect.datagen.DatagenConnector")

    def start(self, config: Texts) -> None:
        _source_of(values_of(DECLARATIONS, config, of=OF))
        super().start(config)

    def task_configs(self, tasks_max: int) -> Sequence[Texts]:
        return [{**self.config, TASK_ID: str(task)} for task in range(tasks_max)]

    @classmethod
    def local_paths(cls, config: Texts) -> Sequence[tuple[str, str]]:
        """A schema in a file may name more files."""
        named = [("schema.filename", ANY_PATH)] if config.get("schema.filename") else []
        return named + [("schema.string", path) for path in option_files(config.get("schema.string", ""))]

    @classmethod
    def check(cls, config: Texts) -> Sequence[ConfigValue]:
        given = [name for name in _SCHEMA_FROM if config.get(name)]
        if len(given) == 1:
            return ()
        error = f"Set exactly one of {', '.join(_SCHEMA_FROM)}; {' and '.join(given) or 'none'} is set"
        return [ConfigValue(name, config.get(name), errors=[error]) for name in given or ("quickstart",)]

    @classmethod
    def check_offsets(cls, config: Texts, offsets: Sequence[tuple[Offset, Offset | None]]) -> None:
        for partition, offset in offsets:
            if not _is_whole(partition, TASK_ID):
                raise ConnectError(f"A source partition is {{'{TASK_ID}': n}} here, not {dict(partition)}")
            if offset is not None and not all(_is_whole(offset, name) for name in (ITERATION, SEED)):
                raise ConnectError(
                    f"A source offset has whole numbers as '{ITERATION}' and '{SEED}' here, not {dict(offset)}"
                )


def _is_whole(given: Mapping[str, Any], name: str) -> bool:
    return type(given.get(name)) is int


def _source_of(values: Mapping[str, Any]) -> _Source:
    """Raises ConnectError if there is no schema to use."""
    given = [name for name in _SCHEMA_FROM if values[name]]
    if len(given) != 1:
        raise ConnectError(f"{OF}: set exactly one of {', '.join(_SCHEMA_FROM)}")
    key_field: str = values["schema.keyfield"]
    match given[0]:
        case "quickstart":
            found = quickstart(values["quickstart"])
            text, key_field = found.schema, key_field or found.key_field
        case "schema.filename":
            path = values["schema.filename"]
            try:
                text = Path(path).read_text()
            except OSError as failure:
                raise ConnectError(f"The schema file {path} cannot be read: {failure.strerror}") from failure
        case _:
            text = values["schema.string"]
    sampler = sampler_of(text)
    if key_field and sampler.schema.field(key_field) is None:
        raise ConnectError(
            f"schema.keyfield={key_field}: the schema has no such field. It has "
            f"{', '.join(one.name for one in sampler.schema.fields)}"
        )
    return _Source(sampler, key_field)
