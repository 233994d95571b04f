"""FileStreamSink: appends the value of each record to a file as a line. Without a file, to standard output."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import IO, Any, Final

from moldau.core.settings.key import Importance, string
from moldau.pipeline.connect.api import (
    ConnectError,
    SinkConnector,
    SinkContext,
    SinkTask,
    TopicPartition,
)
from moldau.pipeline.connect.data.records import SinkRecord, SinkTexts
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.declarations import Declaration, Texts, values_of

BUFFER_BYTES: Final = 1 << 20

DECLARATIONS: Final = (
    Declaration(
        string(
            "file",
            "",
            "The file to append to. Empty: standard output, which goes to the log of the worker.",
            importance=Importance.HIGH,
        ),
        group="File",
        display_name="File",
    ),
)


class FileStreamSinkTask(SinkTask):
    _out: IO[bytes] | None = None

    def start(self, config: Texts, context: SinkContext) -> None:
        path: str = values_of(DECLARATIONS, config, of="FileStreamSink")["file"]
        self._name = path or "standard output"
        try:
            self._out = open(path, "ab", BUFFER_BYTES) if path else sys.stdout.buffer  # noqa: SIM115 until stop
        except OSError as failure:
            raise ConnectError(f"{path} cannot be written: {failure.strerror}") from failure

    def put(self, records: Sequence[SinkRecord]) -> None:
        assert self._out is not None
        if isinstance(records, SinkTexts):
            lines = joined(records.texts)
        else:
            lines = "".join(f"{text_of(record.value)}\n" for record in records).encode(errors="replace")
        try:
            # At once: people follow the file.
            self._out.write(lines)
            self._out.flush()
        except OSError as failure:
            raise ConnectError(f"{self._name} cannot be written: {failure.strerror}") from failure

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """To the disk, not only to the kernel: the offsets are committed next."""
        assert self._out is not None
        try:
            self._out.flush()
            if self._out is not sys.stdout.buffer:
                os.fdatasync(self._out.fileno())
        except OSError as failure:
            raise ConnectError(f"{self._name} cannot be written: {failure.strerror}") from failure

    def stop(self) -> None:
        if self._out is not None and self._out is not sys.stdout.buffer:
            self._out.close()


class FileStreamSinkConnector(SinkConnector):
    declarations = DECLARATIONS
    task_class = FileStreamSinkTask
    aliases = (
        "FileStreamSink",
        "org.apache.kafka.connect.file.FileStreamSinkConnector",
    )

    def start(self, config: Texts) -> None:
        values_of(DECLARATIONS, config, of="FileStreamSink")
        super().start(config)

    @classmethod
    def local_paths(cls, config: Texts) -> Sequence[tuple[str, str]]:
        return [("file", config.get("file", ""))]


def joined(texts: Sequence[bytes | None]) -> bytes:
    if None in texts:
        texts = [b"null" if text is None else text for text in texts]
    lines = b"\n".join((*texts, b""))  # type: ignore[arg-type]
    try:
        lines.decode()
    except UnicodeDecodeError:
        # As a converter would read them.
        return lines.decode(errors="replace").encode()
    return lines


def text_of(value: Any) -> str:
    """As Java prints a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{text_of(key)}={text_of(one)}" for key, one in value.items()) + "}"
    if isinstance(value, Struct):
        named = zip(value.schema.fields, value.values, strict=True)
        return (
            "Struct{"
            + ",".join(f"{one.name}={text_of(given)}" for one, given in named if given is not None)
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(text_of, value)) + "]"
    return str(value)
