"""Carries rows from the tasks, which encode them, to the driver, which writes them in one transaction.

A small amount is sent inside the task's commit message, more in a file that driver and executors can reach. A file
belongs to one attempt of one task: files of failed or speculative attempts are never read, and are removed later.
"""

import io
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyarrow import fs
from pyspark.sql.datasource import WriterCommitMessage

from moldau.core.errors import ConfigError, MoldauError
from moldau.spark.options import SinkOptions

INLINE_BYTES_MAX: Final = 1 << 20
FOLDER: Final = "moldau-staging"
SUFFIX: Final = ".arrow"
CHECKPOINTS: Final = "spark.sql.streaming.checkpointLocation"


class StagedRowsLost(MoldauError):
    """The driver does not find what a task staged."""


@dataclass(frozen=True)
class Staged(WriterCommitMessage):
    """The rows of a task: `content`, or the file `name` in `folder`."""

    query_id: str
    rows: int
    content: bytes | None
    folder: str | None
    name: str

    def batches(self) -> Iterator[pa.RecordBatch]:
        if self.content is not None:
            yield from pa.ipc.open_stream(self.content)
            return
        assert self.folder is not None
        files, root = _open(self.folder)
        with files.open_input_stream(f"{root}/{self.name}") as file:
            yield from pa.ipc.open_stream(file)

    def remove(self) -> None:
        if self.folder is not None and self.content is None:
            files, root = _open(self.folder)
            _delete(files, f"{root}/{self.name}")


def stage(batches: Iterator[pa.RecordBatch], query_id: str, batch_id: int, folder: str | None) -> Staged:
    name = f"{batch_id}-{uuid.uuid4().hex}{SUFFIX}"
    held: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        held.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if size > INLINE_BYTES_MAX:
            return _spilled(held, batches, Staged(query_id, rows, None, _required(folder), name))
    return Staged(query_id, rows, _content(held), folder, name)


def remove_leftovers(messages: list[Staged], batch_id: int) -> None:
    """Removes the files of this batch and earlier ones, except those that are about to be written."""
    kept = {message.name for message in messages}
    for folder in {message.folder for message in messages if message.folder is not None}:
        files, root = _open(folder)
        for found in files.get_file_info(fs.FileSelector(root, allow_not_found=True)):
            number = found.base_name.partition("-")[0]
            is_old = found.base_name.endswith(SUFFIX) and number.isdigit() and int(number) <= batch_id
            if is_old and found.base_name not in kept:
                _delete(files, found.path)


def remove_folders(messages: list[Staged]) -> None:
    """Removes folders of a finished job with their content."""
    for folder in {message.folder for message in messages if message.folder is not None}:
        files, root = _open(folder)
        if files.get_file_info(root).type != fs.FileType.NotFound:
            files.delete_dir(root)


def _delete(files: fs.FileSystem, path: str) -> None:
    try:
        files.delete_file(path)
    except FileNotFoundError:
        return


def staging_folder(sink: SinkOptions, properties: Mapping[str, str], query_id: str) -> str | None:
    """Beside the checkpoint unless the user names another folder. None: driver and executors share no folder."""
    if sink.staging:
        return f"{sink.staging.rstrip('/')}/{FOLDER}-{query_id}"
    if sink.checkpoint:
        return f"{sink.checkpoint.rstrip('/')}/{FOLDER}-{query_id}"
    checkpoints = properties.get(CHECKPOINTS)
    if checkpoints:
        return f"{checkpoints.rstrip('/')}/{FOLDER}-{query_id}"
    if properties.get("spark.master", "").startswith("local"):
        return str(Path(tempfile.gettempdir(), f"{FOLDER}-{query_id}"))
    return None


def _spilled(held: list[pa.RecordBatch], rest: Iterator[pa.RecordBatch], staged: Staged) -> Staged:
    assert staged.folder is not None
    files, root = _open(staged.folder)
    files.create_dir(root, recursive=True)
    rows = staged.rows
    with (
        files.open_output_stream(f"{root}/{staged.name}") as file,
        pa.ipc.new_stream(file, held[0].schema) as out,
    ):
        for batch in held:
            out.write_batch(batch)
        held.clear()
        for batch in rest:
            out.write_batch(batch)
            rows += batch.num_rows
    return Staged(staged.query_id, rows, None, staged.folder, staged.name)


def _content(held: list[pa.RecordBatch]) -> bytes:
    if not held:
        held = [pa.RecordBatch.from_pydict({})]
    content = io.BytesIO()
    with pa.ipc.new_stream(content, held[0].schema) as out:
        for batch in held:
            out.write_batch(batch)
    return content.getvalue()


def _required(folder: str | None) -> str:
    if folder is None:
        raise ConfigError(
            "rows are kept in files between the tasks and the driver, and no folder is known to both: name one "
            "with .option('staging', 'hdfs://...')"
        )
    return folder


def _open(address: str) -> tuple[fs.FileSystem, str]:
    if "://" not in address:
        return fs.LocalFileSystem(), str(Path(address.removeprefix("file:")).absolute())
    try:
        files, root = fs.FileSystem.from_uri(address)
    except pa.ArrowInvalid as failure:
        raise ConfigError(
            f"the folder {address} cannot be used between tasks and driver ({failure}): name one that pyarrow knows "
            "(a path, s3://, gs://, hdfs://) with .option('staging', ...)"
        ) from None
    return files, root
