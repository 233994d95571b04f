"""FileStreamSource: each line of a file becomes a record. Its offsets are those of Kafka's connector."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from moldau.core.settings.key import Importance, integer, string
from moldau.pipeline.connect.api import ConnectError, Offset, SourceConnector, SourceContext, SourceTask
from moldau.pipeline.connect.connectors.file_stream.text_file import LineTooLong, TextFile
from moldau.pipeline.connect.data.records import SourceRecord, SourceTexts
from moldau.pipeline.connect.declarations import Declaration, Texts, values_of

FILENAME: Final = "filename"
POSITION: Final = "position"
REST_MS: Final = 1_000
"""Between two looks at a file that has nothing new, as in Kafka."""
TAIL_MS: Final = 100
"""The same while the file grows."""
TAILED_LOOKS: Final = 50

DECLARATIONS: Final = (
    Declaration(
        string(
            "file",
            "",
            "The file to read. Tasks on Spark have no standard input: name a file, or a pipe made with mkfifo.",
            importance=Importance.HIGH,
        ),
        is_required=True,
        group="File",
        display_name="File",
    ),
    Declaration(
        string("topic", "", "The topic to write to.", importance=Importance.HIGH),
        is_required=True,
        group="File",
        display_name="Topic",
    ),
    Declaration(
        integer(
            "batch.size",
            2_000,
            "The largest number of records that the task reads from the file at once.",
            at_least=1,
            importance=Importance.LOW,
        ),
        group="File",
        display_name="Batch size",
    ),
)


class FileStreamSourceTask(SourceTask):
    def start(self, config: Texts, context: SourceContext) -> None:
        values = values_of(DECLARATIONS, config, of="FileStreamSource")
        self._topic: str = values["topic"]
        self._count_max: int = values["batch.size"]
        self._partition = {FILENAME: values["file"]}
        stored = context.offset(self._partition)
        self._file = TextFile(values["file"], position_in(stored) if stored is not None else 0)
        self._is_missing = False
        self._idle_looks = TAILED_LOOKS

    def poll(self) -> Sequence[SourceRecord]:
        file = self._file
        try:
            lines = file.lines(self._count_max)
        except FileNotFoundError:
            self._is_missing = True
            return ()
        except (OSError, LineTooLong) as failure:
            raise ConnectError(f"{file.path} cannot be read: {failure}") from failure
        self._is_missing = False
        self._idle_looks = 0 if lines else self._idle_looks + 1
        if not lines:
            return ()
        if file.is_pipe:
            return SourceTexts(self._topic, lines, None, None)
        return SourceTexts(self._topic, lines, self._partition, {POSITION: file.position})

    def next_poll_ms(self) -> int:
        return TAIL_MS if self._idle_looks < TAILED_LOOKS else REST_MS

    def waits_for(self) -> str | None:
        return f"{self._file.path} does not exist yet" if self._is_missing else None

    def stop(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


class FileStreamSourceConnector(SourceConnector):
    declarations = DECLARATIONS
    task_class = FileStreamSourceTask
    aliases = (
        "FileStreamSource",
        "org.apache.kafka.connect.file.FileStreamSourceConnector",
    )

    def start(self, config: Texts) -> None:
        values_of(DECLARATIONS, config, of="FileStreamSource")
        super().start(config)

    @classmethod
    def local_paths(cls, config: Texts) -> Sequence[tuple[str, str]]:
        return [("file", config.get("file", ""))]

    def task_configs(self, tasks_max: int) -> Sequence[Texts]:
        return [self.config]

    @classmethod
    def check_offsets(cls, config: Texts, offsets: Sequence[tuple[Offset, Offset | None]]) -> None:
        for partition, offset in offsets:
            if FILENAME not in partition:
                raise ConnectError(f"Partition objects should contain the key '{FILENAME}'")
            if offset is not None:
                position_in(offset)


def position_in(offset: Mapping[str, Any]) -> int:
    """Raises ConnectError for an offset that is not one of this connector."""
    position = offset.get(POSITION)
    if position is None:
        raise ConnectError(f"Offset objects should either be null or contain the key '{POSITION}'")
    if isinstance(position, bool) or not isinstance(position, int):
        raise ConnectError(f"The value for the '{POSITION}' key in the offset is expected to be a Long value")
    if position < 0:
        raise ConnectError(f"The value for the '{POSITION}' key in the offset should be a non-negative value")
    return position
