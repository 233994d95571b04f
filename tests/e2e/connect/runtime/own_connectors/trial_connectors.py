"""Connectors of a user, for the tests: they fail while a file exists, and are well again when it is gone."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from moldau.core.settings.key import string
from moldau.pipeline.connect.api import (
    ConnectError,
    RetriableError,
    SinkConnector,
    SinkContext,
    SinkTask,
    SourceConnector,
    SourceContext,
    SourceTask,
    TopicPartition,
)
from moldau.pipeline.connect.data.records import SinkRecord, SourceRecord
from moldau.pipeline.connect.data.schema import STRING
from moldau.pipeline.connect.declarations import Declaration, Texts

TOPIC = Declaration(string("topic", "", "The topic to write to."))
OBSTACLE = Declaration(string("obstacle", "", "The file that must not exist."))


class NumbersTask(SourceTask):
    """Counts to a hundred, one number in each poll."""

    def start(self, config: Texts, context: SourceContext) -> None:
        self._config = config
        if Path(config["obstacle"]).exists():
            raise ConnectError(f"cannot log in with the password {config['login.password']}")
        self._next = (context.offset({"range": "all"}) or {"next": 0})["next"]

    def poll(self) -> Sequence[SourceRecord]:
        if self._next >= 100:
            return ()
        self._next += 1
        return [
            SourceRecord(
                self._config["topic"],
                value=f"{self._next - 1}",
                value_schema=STRING,
                source_partition={"range": "all"},
                source_offset={"next": self._next},
            )
        ]


class NumbersSource(SourceConnector):
    declarations = (TOPIC, OBSTACLE)
    task_class = NumbersTask


class PickyTask(SinkTask):
    """Appends values to a file. Reports those that say `bad`; asks to wait while the obstacle is there."""

    def start(self, config: Texts, context: SinkContext) -> None:
        self._config, self._context = config, context

    def put(self, records: Sequence[SinkRecord]) -> None:
        if Path(self._config["obstacle"]).exists():
            raise RetriableError("the target is down")
        with Path(self._config["file"]).open("a") as out:
            for one in records:
                if one.value == "bad":
                    self._context.report(one, ValueError("it says bad"))
                else:
                    out.write(f"{one.value}\n")

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """`put` has closed the file."""


class PickySink(SinkConnector):
    declarations = (OBSTACLE,)
    task_class = PickyTask


class SleepyTask(SourceTask):
    """Never returns."""

    def poll(self) -> Sequence[SourceRecord]:
        while True:
            time.sleep(0.1)


class SleepySource(SourceConnector):
    task_class = SleepyTask


class RewindingTask(SinkTask):
    """Appends values to a file. When it has the tenth, it wants the seventh again, once."""

    def start(self, config: Texts, context: SinkContext) -> None:
        self._config, self._context = config, context
        self._has_rewound = False

    def put(self, records: Sequence[SinkRecord]) -> None:
        with Path(self._config["file"]).open("a") as out:
            for one in records:
                out.write(f"{one.value}\n")
                if one.value == "9" and not self._has_rewound:
                    self._has_rewound = True
                    self._context.rewind({TopicPartition(one.original_topic, one.original_partition): 6})


class RewindingSink(SinkConnector):
    task_class = RewindingTask
