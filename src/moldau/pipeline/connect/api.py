"""What the author of a connector writes: a connector class that spreads the work over tasks, and a task class.

    class NumbersTask(SourceTask):
        def start(self, config, context):
            self.next = (context.offset({"range": "all"}) or {"next": 0})["next"]

        def poll(self):
            self.next += 1
            return [SourceRecord("numbers", value=self.next, source_partition={"range": "all"},
                                 source_offset={"next": self.next})]

    class NumbersSource(SourceConnector):
        task_class = NumbersTask

A package registers its classes under the entry point group `moldau.connectors`. Tasks run in Spark's Python workers:
one call at a time, never two calls of one task at once.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple, Protocol

from moldau.core.errors import MoldauError
from moldau.pipeline.connect.data.records import SinkRecord, SourceRecord
from moldau.pipeline.connect.declarations import ConfigValue, Declaration, Texts

Offset = Mapping[str, Any]
Offsets = dict["TopicPartition", int]

ANY_PATH: Final = "/"
"""Of a connector of which it cannot be told which files it uses."""


class TopicPartition(NamedTuple):
    topic: str
    partition: int


class ConnectError(MoldauError):
    """The connector cannot go on: its task fails. The message says what happened, to which thing, and what to do."""


class RetriableError(ConnectError):
    """It may work later: the same call is made again, as `errors.retry.timeout` and the back-off say."""


class SourceContext(Protocol):
    """What a source task may ask of its worker."""

    def offset(self, source_partition: Mapping[str, Any]) -> Offset | None:
        """The last committed offset of a partition of the source."""

    def stopping(self) -> bool:
        """True when the task should return from `poll` soon."""


class SinkContext(Protocol):
    """What a sink task may ask of its worker."""

    def report(self, record: SinkRecord, error: Exception) -> None:
        """This record could not be written: it goes to the dead letter topic, or fails the task, as configured."""

    def rewind(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Deliver again from these offsets: the target knows better what it has (exactly once)."""


class SourceTask:
    def start(self, config: Texts, context: SourceContext) -> None:
        """`config` is one of `task_configs`."""

    def poll(self) -> Sequence[SourceRecord]:
        """What there is now. Returns soon, with nothing if there is nothing: the worker decides when to ask again."""
        raise NotImplementedError

    def next_poll_ms(self) -> int:
        """How long the worker should wait before the next poll, after a poll without records."""
        return 100

    def waits_for(self) -> str | None:
        """What keeps the task from reading, if it waits for that: `orders.csv does not exist yet`. The worker asks
        after a poll without records, and shows it in the task's status and in the log."""
        return None

    def committed(self) -> None:
        """What the last polls returned is in Kafka, with its offsets. A source that must confirm does so here."""

    def stop(self) -> None:
        """Releases connections and files."""


class SinkTask:
    def start(self, config: Texts, context: SinkContext) -> None:
        """`config` is one of `task_configs`."""

    def put(self, records: Sequence[SinkRecord]) -> None:
        """A batch, in the order of each partition. May buffer."""
        raise NotImplementedError

    def flush(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int] | None:
        """Everything up to these end offsets must be in the target when this returns. A task that keeps records back,
        for instance to write larger files, answers up to where the target has everything: only that is committed.
        Called every few seconds, also when there are no records."""
        return None

    def opened(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        """The task has these partitions now. Answers the offsets from which it wants records, if the target knows."""
        return {}

    def closed(self, partitions: Sequence[TopicPartition]) -> None:
        """The task no longer has these partitions."""

    def stop(self) -> None:
        """Releases connections and files."""


class Connector:
    """`config` is complete: secrets are resolved, defaults are left out."""

    declarations: ClassVar[Sequence[Declaration]] = ()
    """Its own settings. Those of all connectors are added by the worker."""
    version: ClassVar[str] = ""
    aliases: ClassVar[Sequence[str]] = ()
    """Names under which `connector.class` may ask for it, besides the class's own: for instance those of the Java
    connector whose settings it takes."""

    def start(self, config: Texts) -> None:
        """May look at the source or target. Raises ConnectError if it cannot be used."""
        self.config = config

    def task_configs(self, tasks_max: int) -> Sequence[Texts]:
        """At most `tasks_max` configurations, one for each task."""
        return [self.config]

    def changed(self) -> bool:
        """True when the work should be spread anew, for instance when a table has been added. Asked now and then."""
        return False

    def waits_for(self) -> str | None:
        """What is missing, if the connector runs without it until it comes: shown in its status. Asked after
        `task_configs` and `changed`."""
        return None

    def stop(self) -> None:
        """Releases connections."""

    @classmethod
    def check(cls, config: Texts) -> Sequence[ConfigValue]:
        """Errors that need more than one setting, or a look at the other system."""
        return ()

    @classmethod
    def local_paths(cls, config: Texts) -> Sequence[tuple[str, str]]:
        """The files and folders of the worker's machine that it reads or writes with these settings, each after the
        name of the setting that says so. `ANY_PATH` where that cannot be told. The worker may allow some folders
        only. Stores, keys and certificates of TLS and logins are known by the names of their settings."""
        return ()

    @classmethod
    def open_declarations(cls, config: Texts) -> Sequence[Declaration]:
        """Of settings whose names are not known in advance, such as those with the name of a table in them."""
        return ()


class SourceConnector(Connector):
    task_class: ClassVar[type[SourceTask]]

    @classmethod
    def is_exactly_once(cls, config: Texts) -> bool:
        """A source whose offsets say exactly what has been read can be; this is true of most."""
        return True

    @classmethod
    def check_offsets(cls, config: Texts, offsets: Sequence[tuple[Offset, Offset | None]]) -> None:
        """Before offsets are altered through the REST API. Raises ConnectError for offsets it cannot use."""


class SinkConnector(Connector):
    task_class: ClassVar[type[SinkTask]]

    @classmethod
    def alter_offsets(
        cls, config: Texts, offsets: Mapping[TopicPartition, int | None], *, is_reset: bool
    ) -> None:
        """Before the offsets of its group are altered through the REST API, or all of them are reset; None deletes one.
        A target that keeps offsets of its own changes them here. Raises ConnectError if it cannot: altering those of
        the group alone would have no effect."""

    def task_configs(self, tasks_max: int) -> Sequence[Texts]:
        return [self.config] * tasks_max
